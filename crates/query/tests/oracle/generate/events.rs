//! Random events.

use super::choose::{one_of, weighted};
use super::words::{HUGE_NUMBERS, INSTANTS, LONE, MEMBERS, NUMBERS, TEMPLATES, TEXTS};
use crate::value::quote;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// An event before it has its place: how far it stands behind the event before, its document, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) gap: u64,
    pub(crate) json: String,
    /// Orders the arrival numbers.
    pub(crate) arrival: u16,
    /// Which block of its group the event goes to.
    pub(crate) block: u8,
    /// Whether a group of blocks ends here, if the time allows it.
    pub(crate) ends_group: bool,
}

fn scalar() -> BoxedStrategy<String> {
    weighted(vec![
        (1, Just("null".to_owned()).boxed()),
        (1, Just("true".to_owned()).boxed()),
        (1, Just("false".to_owned()).boxed()),
        (5, one_of(NUMBERS).prop_map(str::to_owned).boxed()),
        (1, one_of(HUGE_NUMBERS).prop_map(str::to_owned).boxed()),
        (5, one_of(TEXTS).prop_map(quote).boxed()),
        (1, one_of(LONE).prop_map(str::to_owned).boxed()),
    ])
}

fn json(depth: u32) -> BoxedStrategy<String> {
    if depth == 0 {
        return scalar();
    }
    weighted(vec![(3, scalar()), (1, array(depth)), (1, object(depth))])
}

fn array(depth: u32) -> BoxedStrategy<String> {
    let numbers = one_of(NUMBERS).prop_map(str::to_owned).boxed();
    let texts = one_of(TEXTS).prop_map(quote).boxed();
    let elements = weighted(vec![
        (1, vec(numbers, 0..4).boxed()),
        (1, vec(texts, 0..4).boxed()),
        (1, vec(json(depth - 1), 0..4).boxed()),
        (1, vec(object(depth), 0..3).boxed()),
    ]);
    elements.prop_map(|elements| format!("[{}]", elements.join(","))).boxed()
}

fn object(depth: u32) -> BoxedStrategy<String> {
    let member = (one_of(MEMBERS), json(depth - 1));
    vec(member, 0..4)
        .prop_map(|members| {
            let members: Vec<String> =
                members.into_iter().map(|(key, value)| format!("{}:{value}", quote(key))).collect();
            format!("{{{}}}", members.join(","))
        })
        .boxed()
}

fn member() -> BoxedStrategy<(String, String)> {
    fn keyed(
        weight: u32,
        keys: &'static [&'static str],
        value: BoxedStrategy<String>,
    ) -> (u32, BoxedStrategy<(String, String)>) {
        (weight, (one_of(keys).prop_map(str::to_owned), value).boxed())
    }
    let number = weighted(vec![
        (12, one_of(NUMBERS).prop_map(str::to_owned).boxed()),
        (2, one_of(HUGE_NUMBERS).prop_map(str::to_owned).boxed()),
        (2, scalar()),
    ]);
    let text = weighted(vec![(12, one_of(TEXTS).prop_map(quote).boxed()), (2, scalar())]);
    let instant = weighted(vec![(6, one_of(INSTANTS).prop_map(quote).boxed()), (1, scalar())]);
    weighted(vec![
        keyed(6, &["a", "n", "Elapsed", "Größe"], number),
        keyed(6, &["b", "s", "Message"], text),
        keyed(
            2,
            &["f"],
            weighted(vec![(3, one_of(&["true", "false"]).prop_map(str::to_owned).boxed()), (1, scalar())]),
        ),
        keyed(
            3,
            &["c", "d", "null", "time", "@@x", "@@@t", "@version", "@", "odd name", "new\nline", "0"],
            json(2),
        ),
        keyed(4, &["o", "Actor", "p"], object(2)),
        keyed(4, &["tags", "list", "p"], array(2)),
        keyed(2, &["o.a", "o.b", "Actor.b", "Actor.a.x", "o.a.b", "p.x", "n.a", "c.a.b"], json(1)),
        keyed(3, &["@mt"], one_of(TEMPLATES).prop_map(quote).boxed()),
        keyed(1, &["@m", "@l", "@x", "@i", "@tr", "@sp", "@ps", "@sk", "@sc", "@ra"], json(1)),
        keyed(
            1,
            &["@r"],
            vec(one_of(TEXTS).prop_map(quote), 0..3).prop_map(|r| format!("[{}]", r.join(","))).boxed(),
        ),
        keyed(1, &["@r", "@mt", "@t"], scalar()),
        keyed(2, &["@st", "when"], instant),
    ])
}

pub(crate) const TICK: u64 = 1;
pub(crate) const SECOND: u64 = 10_000_000;
pub(crate) const HOUR: u64 = 3600 * SECOND;

/// Gives documents their places in time and in blocks.
pub(crate) fn placed(json: BoxedStrategy<String>) -> BoxedStrategy<Draft> {
    let gap = select(&[0, 0, TICK, SECOND / 2, SECOND, 90 * SECOND, HOUR, 30 * HOUR][..]);
    (gap, json, any::<u16>(), 0..3u8, prop::bool::weighted(0.3))
        .prop_map(|(gap, json, arrival, block, ends_group)| Draft { gap, json, arrival, block, ends_group })
        .boxed()
}

pub(crate) fn event() -> BoxedStrategy<Draft> {
    let document = vec(member(), 0..9).prop_map(|members| {
        let members: Vec<String> =
            members.into_iter().map(|(key, value)| format!("{}:{value}", quote(&key))).collect();
        format!("{{{}}}", members.join(","))
    });
    placed(document.boxed())
}
