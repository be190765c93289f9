//! Truth tables: each form of condition over blocks that hold one value or two, told one by one or not, against the evaluator.

use super::condition::{Form, Sought};
use super::{Finder, Pruner, Pushdown, Settled};
use crate::expr::{Event, Scope, Spare};
use crate::interrupt::Interrupt;
use crate::parameters::Parameters;
use crate::places::Places;
use crate::plan::{Input, Plan};
use crate::source::Block;
use crate::statistics::{Statistics, collect_statistics, collect_surveyed_statistics};
use crate::stored;
use crate::stored::{SourceError, Times};
use crate::{optimizer, parser, planner};
use std::sync::Arc;
use tamias_json::Offsets;
use tamias_json::search::{Documents, Match};

/// What may stand in `a` and `b` of an event: the empty text is a missing key.
const VALUES: [&str; 19] = [
    "",
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "1",
    "1.0",
    "2",
    "1e1",
    "-3.5",
    r#""""#,
    r#""x""#,
    r#""xy""#,
    r#""X""#,
    r#""abcde""#,
    r#""\ud800""#,
    "[1]",
    r#"{"a":"x"}"#,
];

/// Conditions of all forms, on `a` alone or on `a` and `b`.
const CONDITIONS: [&str; 65] = [
    "a = 1",
    "a <> 1",
    "a < 1",
    "a <= 1",
    "a > 1",
    "a >= 1",
    "not (a = 1)",
    "not (a > 1)",
    "a = 'x'",
    "a <> 'x'",
    "a = 'x' ci",
    "a = ''",
    "a = true",
    "a <> true",
    "a = null",
    "a > 'x'",
    "a = [1]",
    "not (a = 'x')",
    "not (a <> 'x')",
    "a is null",
    "a is not null",
    "not (a is null)",
    "a in [1, 2]",
    "a in ['x', 'xy']",
    "a in ['x', 'xy', 'abcde']",
    "a in ['x', 1, true, 10]",
    "a in ['x', null]",
    "a in []",
    "not (a in ['x', 1])",
    "a not in ['x', 1]",
    "a in ['X'] ci",
    "a like 'x'",
    "a like 'x%'",
    "a like '%bcd%'",
    "a like '%x'",
    "a not like 'x%'",
    "not (a like 'x%')",
    "IsMatch(a, /bcd/)",
    "IsMatch(a, /b.*d/)",
    "IsMatch(a, /(abc|xyz)+/)",
    "not (IsMatch(a, /(abc|xyz)+/))",
    "a = /x.?/",
    "a <> /x.?/",
    "a",
    "not a",
    "Length(a) > 1",
    "not (Length(a) > 1)",
    "Length(a) = 1",
    "Length(a) <> 1",
    "a.b = 'x' or a.b is null",
    "a = 1 or a = 2 or a = 'x'",
    "a > 0 and a < 2",
    "not (a > 0 and a < 2)",
    "@Level = 'Information'",
    "@Level = 'x'",
    "@Level <> 'x'",
    "a = 1 and b = 'x'",
    "a = 1 or b = 'x'",
    "a = 1 or a = 2 or b = 'x' or b = 'xy' or b = 'abcde'",
    "not (a = 1 or b = 'x')",
    "not (a = 1 and b <> 'x')",
    "a = b",
    "a = 1 and a = b",
    "(a = 1 or a = b) and not (b = 'x' and @Timestamp < 5)",
    "@Timestamp <> 5 and a is not null",
];

/// Which statistics a block has.
#[derive(Clone, Copy)]
enum Told {
    Nothing,
    OfText,
    OfColumns,
}

struct Events {
    documents: Vec<u8>,
    ends: Vec<[u8; 4]>,
    instants: Vec<[u8; 8]>,
    statistics: Vec<u8>,
}

impl Events {
    /// Events with these instants and documents.
    fn new(events: &[(u64, String)]) -> Events {
        Events::told(events, Told::OfText)
    }

    /// The same, with other statistics.
    fn told(events: &[(u64, String)], told: Told) -> Events {
        let (mut documents, mut ends) = (Vec::new(), Vec::new());
        for (_, document) in events {
            documents.extend_from_slice(document.as_bytes());
            ends.push(documents.len() as u32);
            documents.push(b'\n');
        }
        let mut statistics = Vec::new();
        match told {
            Told::Nothing => {}
            Told::OfText => collect_statistics(&documents, &ends, &mut statistics),
            Told::OfColumns => {
                let each: Vec<tamias_shred::Event<'_>> = events
                    .iter()
                    .map(|(instant, document)| tamias_shred::Event {
                        instant: *instant,
                        arrival: 0,
                        document: document.as_bytes(),
                    })
                    .collect();
                let mut survey = |survey: Option<&tamias_shred::Survey<'_>>| {
                    collect_surveyed_statistics(survey.unwrap(), documents.len(), &mut statistics);
                };
                tamias_shred::Encoder::new().unwrap().encode_surveyed(&each, &mut survey).unwrap();
            }
        }
        let instants = events.iter().map(|(instant, _)| instant.to_le_bytes()).collect();
        Events { documents, ends: ends.into_iter().map(u32::to_le_bytes).collect(), instants, statistics }
    }
}

impl Block for Events {
    fn len(&self) -> usize {
        self.ends.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        Times { instants: &self.instants, arrivals: crate::Arrivals::Each(&self.instants) }.range()
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times { instants: &self.instants, arrivals: crate::Arrivals::Each(&self.instants) }))
    }
    fn documents(&self) -> Result<Option<stored::Documents<'_>>, SourceError> {
        Ok(Some(stored::Documents { bytes: &self.documents, ends: &self.ends }))
    }
    fn statistics(&self) -> Option<&[u8]> {
        Some(&self.statistics)
    }
}

fn plan(condition: &str) -> Plan {
    plan_of(&format!("select a, b, @l from stream where {condition}"))
}

fn plan_of(text: &str) -> Plan {
    let query = parser::parse_query(text).unwrap_or_else(|flaw| panic!("{text}: {}", flaw.locate(text)));
    optimizer::optimize(planner::plan(&query, text, &Parameters::new()).unwrap())
}

fn document(a: &str, b: &str) -> String {
    let members: Vec<String> = [("a", a), ("@l", a), ("b", b)]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Whether each event passes, by the evaluator alone.
fn evaluated(plan: &Plan, events: &[(u64, String)]) -> Vec<bool> {
    let Input::Events(of) = &plan.input else { panic!("the query reads events") };
    let passes = |(instant, document): &(u64, String)| {
        let mut offsets = Offsets::new();
        let document = Some(offsets.scan_trusted(document.as_bytes()).unwrap());
        let event = Event { document, instant: *instant, arrival: *instant };
        let mut scope = Scope::of(event, &of.names, 0, None, &mut Spare::default());
        scope.read(&of.names, 0);
        plan.filter.as_ref().is_none_or(|filter| filter.test(&mut scope))
    };
    events.iter().map(passes).collect()
}

/// How often the pruner was certain of a block, and the prefilter of its first event.
#[derive(Default)]
struct Said {
    none: usize,
    all: usize,
    no: usize,
    yes: usize,
}

/// Holds all that is said of a block against the evaluator.
fn check(plan: &Plan, condition: &str, events: &[(u64, String)], told: Told, said: &mut Said) {
    let pushdown: &Arc<Pushdown> = plan.pushdown.as_ref().unwrap();
    let passes = evaluated(plan, events);
    let shown = || format!("where {condition}: {events:?}");
    for ((instant, _), passes) in events.iter().zip(&passes) {
        assert!(!passes || pushdown.period.contains(instant), "{}", shown());
    }
    let block = Events::told(events, told);
    let statistics = Statistics::parse(&block.statistics);
    let verdict =
        Pruner::new(pushdown, 0, &Arc::new(Interrupt::new(None))).of(&block, statistics.as_ref()).unwrap();
    let within = &passes[verdict.events.clone()];
    assert_eq!(within.iter().filter(|passes| **passes).count(), passes.iter().filter(|p| **p).count());
    match verdict.passes {
        Some(false) => assert!(!within.contains(&true), "none passes: {}", shown()),
        Some(true) => assert!(!within.contains(&false), "all pass: {}", shown()),
        None => {}
    }
    said.none += usize::from(verdict.passes == Some(false));
    said.all += usize::from(verdict.passes == Some(true));
    let Some(mut finder) = Finder::new(pushdown) else { return };
    let documents = Documents::new(&block.documents, &block.ends).unwrap();
    let expect = |found: &[Match], passes: &[bool]| {
        assert_eq!(found.len(), passes.len());
        for (found, passes) in found.iter().zip(passes) {
            match found {
                Match::No => assert!(!passes, "no: {}", shown()),
                Match::Yes => assert!(passes, "yes: {}", shown()),
                Match::Maybe => {}
            }
        }
    };
    finder.begin(documents, statistics.as_ref(), &verdict.settled, None);
    expect(finder.find(documents.part(verdict.events.clone())), within);
    let places = Arc::new(Places::default());
    // Whoever asks again has the places of the keys.
    for _ in 0..3 {
        finder.begin(documents, statistics.as_ref(), &verdict.settled, Some(places.clone()));
        expect(finder.find(documents.part(verdict.events.clone())), within);
        finder.begin(documents, statistics.as_ref(), &Settled::default(), Some(places.clone()));
        expect(finder.find(documents), &passes);
    }
    finder.begin(documents, statistics.as_ref(), &Settled::default(), None);
    let found = finder.find(documents);
    expect(found, &passes);
    said.no += usize::from(found.first() == Some(&Match::No));
    said.yes += usize::from(found.first() == Some(&Match::Yes));
}

/// Events with each pair of values, of which the second ones are spread.
fn pairs() -> impl Iterator<Item = Vec<(u64, String)>> {
    VALUES.into_iter().enumerate().flat_map(|(number, first)| {
        let event = move |instant, a: &str| (instant, document(a, VALUES[(number * 7 + 5) % VALUES.len()]));
        VALUES.into_iter().map(move |second| vec![event(4, first), event(5, second)])
    })
}

#[test]
fn what_is_said_of_blocks_with_values_told_one_by_one_is_true() {
    for condition in CONDITIONS {
        let plan = plan(condition);
        for events in pairs() {
            check(&plan, condition, &events, Told::OfText, &mut Said::default());
            check(&plan, condition, &events, Told::Nothing, &mut Said::default());
        }
    }
}

/// Conditions on a value within an object, and on the key that is spelled like its path, held against events that have it in several ways.
#[test]
fn what_is_said_of_nested_paths_is_true() {
    let key = regex::Regex::new(r"\ba\b").unwrap();
    let within = |value: &str| match value {
        "" => r#"{"o":{"q":1}}"#.to_owned(),
        value => format!(r#"{{"o":{{"p":{value}}},"b":"x"}}"#),
    };
    let ways: [&dyn Fn(&str) -> String; 4] = [
        &within,
        &|value| format!(r#"{{"o":{}}}"#, if value.is_empty() { "{}" } else { value }),
        &|value| format!(r#"{{"o.p":{}}}"#, if value.is_empty() { "null" } else { value }),
        &|value| format!(r#"{{"o":[{{"p":{}}}]}}"#, if value.is_empty() { "0" } else { value }),
    ];
    let mut said = Said::default();
    for condition in CONDITIONS {
        let condition = key.replace_all(condition, "o.p");
        let plan = plan(&condition);
        for first in VALUES {
            check(&plan, &condition, &vec![(5, within(first)); 20], Told::OfColumns, &mut said);
            for (number, way) in ways.iter().enumerate() {
                for second in VALUES.iter().skip(number).step_by(3) {
                    let events = [(4, within(first)), (5, way(second))];
                    check(&plan, &condition, &events, Told::OfColumns, &mut Said::default());
                }
            }
        }
        for values in unlisted() {
            let events: Vec<(u64, String)> = (4..).zip(values.iter().map(|value| within(value))).collect();
            check(&plan, &condition, &events, Told::OfColumns, &mut Said::default());
        }
    }
    assert!(said.none > 550 && said.all > 250, "{} {}", said.none, said.all);
}

/// Values that are more than statistics list: texts, short or long, and numbers.
fn unlisted() -> [Vec<String>; 5] {
    let many = |of: &dyn Fn(usize) -> String| (0..80).map(of).collect::<Vec<String>>();
    let mixed = |n: usize| if n.is_multiple_of(2) { format!("\"x{n}\"") } else { n.to_string() };
    [
        many(&|n| format!("\"t-{n}\"")),
        many(&|n| format!("\"abcde {n} {}\"", "long ".repeat(20))),
        many(&|n| format!("{n}.5")),
        many(&|n| (2 + n).to_string()),
        many(&mixed).into_iter().chain(many(&|n| mixed(n + 80))).collect(),
    ]
}

#[test]
fn what_is_said_of_blocks_with_values_not_told_one_by_one_is_true() {
    let mut said = Said::default();
    for values in unlisted() {
        for other in VALUES {
            let events: Vec<(u64, String)> =
                (4..).zip(values.iter().map(|a| document(a, other)).chain([document(other, "1")])).collect();
            let block = Events::new(&events);
            let statistics = Statistics::parse(&block.statistics).unwrap();
            assert_eq!(statistics.events() as usize, events.len());
            for condition in CONDITIONS {
                check(&plan(condition), condition, &events, Told::OfText, &mut said);
            }
        }
    }
    assert!(said.none > 500 && said.all > 200, "{} {}", said.none, said.all);
}

/// What each form of condition can be certain of: of blocks of one value each that none, that all pass; of events no and yes.
#[test]
fn each_form_says_what_it_can() {
    let mut table = String::from("none all  no yes\n");
    for condition in CONDITIONS {
        let plan = plan(condition);
        let mut said = Said::default();
        for value in VALUES {
            // The last events of a block, which the search does not decide, are some of these.
            let events = vec![(5, document(value, r#""x""#)); 20];
            check(&plan, condition, &events, Told::OfText, &mut said);
        }
        let Said { none, all, no, yes } = said;
        table.push_str(&format!("{none:4} {all:3} {no:3} {yes:3}  {condition}\n"));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(table) });
}

#[test]
fn periods() {
    let all = u64::MIN..=u64::MAX;
    let none = std::ops::RangeInclusive::new(1, 0);
    for (condition, period) in [
        ("a = 1", all.clone()),
        ("@Timestamp = 5", 5..=5),
        ("@Timestamp = 5.5", none.clone()),
        ("@Timestamp <> 5", all.clone()),
        ("@Timestamp < 5", 0..=4),
        ("@Timestamp < 5.5", 0..=5),
        ("@Timestamp <= 5", 0..=5),
        ("@Timestamp > 5", 6..=u64::MAX),
        ("@Timestamp > 4.5", 5..=u64::MAX),
        ("5 <= @Timestamp", 5..=u64::MAX),
        ("@Timestamp < 0", none.clone()),
        ("@Timestamp < -1", none.clone()),
        ("@Timestamp >= -1", all.clone()),
        ("@Timestamp > 18446744073709551615", none.clone()),
        ("@Timestamp >= 18446744073709551615", u64::MAX..=u64::MAX),
        ("@Timestamp < 10000000000000000000000000", all.clone()),
        ("@Timestamp >= 5 and @Timestamp < 9 and a = 1", 5..=8),
        ("@Timestamp > 5 and @Timestamp < 5", none.clone()),
        ("not (@Timestamp < 5)", 5..=u64::MAX),
        ("not (@Timestamp < 5 or @Timestamp >= 9)", 5..=8),
        ("not (a = 1 and @Timestamp < 5)", all.clone()),
        ("not (a = 1 or @Timestamp < 5)", 5..=u64::MAX),
        ("(@Timestamp >= 5 and @Timestamp < 7 and a = 1) or @Timestamp = 20", 5..=20),
        ("@Timestamp = 5 or a = 1", all.clone()),
        ("not a", all.clone()),
        ("false", none),
        ("true", all),
    ] {
        assert_eq!(plan(condition).instants(), period, "{condition}");
    }
}

#[test]
fn a_period_holds_each_instant_that_passes() {
    let ops = ["=", "<>", "<", "<=", ">", ">="];
    let terms = || {
        ops.iter().flat_map(|op| ["3", "4.5"].map(|number| format!("@Timestamp {op} {number}"))).flat_map(
            |term| {
                let negated = format!("not ({term})");
                [term, negated]
            },
        )
    };
    let events: Vec<(u64, String)> = (0..8).map(|instant| (instant, "{}".to_owned())).collect();
    for first in terms() {
        for second in terms() {
            for condition in [
                format!("({first}) and ({second})"),
                format!("({first}) or ({second})"),
                format!("not (({first}) or ({second}))"),
            ] {
                let plan = plan(&condition);
                let passing: Vec<u64> = (0..)
                    .zip(evaluated(&plan, &events))
                    .filter(|(_, passes)| *passes)
                    .map(|(at, _)| at)
                    .collect();
                let period = plan.instants();
                assert!(passing.iter().all(|instant| period.contains(instant)), "{condition}: {period:?}");
                // A range around two others holds more.
                let hulls = ["<>", "not (@Timestamp =", "not (("];
                // It begins with an instant that passes, for nothing else is asked for.
                let is_tight = passing.first().is_none_or(|first| first == period.start());
                assert!(
                    is_tight || hulls.iter().any(|hull| condition.contains(hull)),
                    "{condition}: {period:?}"
                );
            }
        }
    }
}

#[test]
fn conditions_on_what_was_unnested_say_nothing_and_others_do() {
    let plan =
        plan_of("select x from stream lateral unnest(b) as x where a = 1 and x = 2 and let |y: a| y = 1");
    let pushdown = plan.pushdown.as_ref().unwrap();
    assert_eq!(pushdown.to_string(), "prune by a");
    assert!(Finder::new(pushdown).is_none());
    let verdict = |a: &str| {
        let block = Events::new(&[(5, document(a, "[2]"))]);
        Pruner::new(pushdown, 0, &Arc::new(Interrupt::new(None)))
            .of(&block, Statistics::parse(&block.statistics).as_ref())
            .unwrap()
            .passes
    };
    assert_eq!((verdict("1"), verdict("2")), (None, Some(false)));
}

#[test]
fn what_a_block_settles_is_not_searched_for() {
    let found = |condition: &str, a: [&str; 2], instants: [u64; 2]| {
        let plan = plan(condition);
        let pushdown = plan.pushdown.as_ref().unwrap();
        let event =
            |n: usize| (instants[n / 20], document(a[n / 20], if n.is_multiple_of(2) { "1" } else { "2" }));
        let block = Events::new(&(0..40).map(event).collect::<Vec<_>>());
        let statistics = Statistics::parse(&block.statistics);
        let verdict = Pruner::new(pushdown, 0, &Arc::new(Interrupt::new(None)))
            .of(&block, statistics.as_ref())
            .unwrap();
        let mut finder = Finder::new(pushdown).unwrap();
        let documents = Documents::new(&block.documents, &block.ends).unwrap();
        finder.begin(documents, statistics.as_ref(), &verdict.settled, None);
        finder.find(documents.part(verdict.events))[..2].to_vec()
    };
    let (no, maybe, yes) = (Match::No, Match::Maybe, Match::Yes);
    assert_eq!(found("@Timestamp >= 5", ["1", "1"], [4, 5]), [yes, yes]);
    assert_eq!(found("@Timestamp >= 5 and b = 1", ["1", "1"], [4, 5]), [yes, no]);
    assert_eq!(found("@Timestamp <> 5 and b = 1", ["1", "1"], [4, 5]), [maybe, no]);
    assert_eq!(found("a in [1, [2]] and b = 1", ["1", "1.0"], [4, 5]), [yes, no]);
    assert_eq!(found("a in [1, [2]] and b = 1", ["1", "2"], [4, 5]), [maybe, no]);
}

#[test]
fn values_of_one_key_are_joined_below_or() {
    let plan = plan("a = 1 or b = 'u' or a = 2 or b = 'v' or b like 'w' or Length(a) = 1 or a = 3");
    let Some(Form::Or(terms)) = plan.pushdown.as_ref().unwrap().condition.as_ref().map(|c| &c.form) else {
        panic!("it is an or")
    };
    let [a, b, other] = terms.as_slice() else { panic!("{terms:?}") };
    assert!(matches!(&a.form, Form::Sought(Sought::NumberOneOf { bounds, .. }) if bounds.len() == 3));
    assert!(matches!(&b.form, Form::Sought(Sought::OneOf { values, .. }) if values.len() == 3));
    assert!(matches!(&other.form, Form::Sought(Sought::Length { length: 1, .. })));
    assert!([a, b, other].iter().all(|term| term.alone.is_some()));
}

#[test]
fn what_is_pushed_down_is_told() {
    let texts = [
        "select a from stream",
        "select @Timestamp from stream",
        "select * from stream",
        "select a from stream where a = 'x' and b > 1 and @Level = 'Error'",
        "select a from stream where a like '%part%' and IsMatch(b, /one|two/) and c in ['u', 'v', 'w']",
        "select a from stream where Length(a) > 3",
        "select * from stream where a = b",
        "select a from stream where @Timestamp >= DateTime('2024-05-29') and @Timestamp < DateTime('2024-05-30') \
         and not (a = 1 or b is null)",
        "select a from stream where @Timestamp < DateTime('2024-05-30') or @Timestamp < DateTime('2024-05-29')",
        "select a from stream where @Timestamp > 5 and @Timestamp < 5",
        "select x from stream lateral unnest(Tags) as x where a = 1 and x = 2",
        "select 1",
    ];
    let shown = texts.map(|text| {
        let pushdown =
            plan_of(text).pushdown.as_ref().map_or("-".to_owned(), |pushdown| pushdown.to_string());
        format!("{text}\n  {pushdown}")
    });
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown.join("\n")) });
}
