//! All that is pushed down, prepared once for a plan.

use super::analysis::Analysis;
use super::condition::{Condition, Place};
use super::period;
use crate::expr::Expr;
use std::ops::{Range, RangeInclusive};
use tamias_json::search::Needle;

/// What a plan's condition says about blocks, and what its rows need of events: see the [module](super) for the contract.
#[derive(Debug)]
pub(crate) struct Pushdown {
    /// The instants outside of which no event passes; perhaps more than those.
    pub(crate) period: RangeInclusive<u64>,
    /// The same, of places in the order of events.
    pub(super) places: Range<Place>,
    /// What is true of each event that passes; none where all do.
    pub(super) condition: Option<Condition>,
    /// The same, as it is evaluated.
    pub(super) filter: Option<Expr>,
    /// How many conditions in it depend on one value alone.
    pub(super) alone: usize,
    /// The keys that the slots stand for.
    pub(super) names: Vec<Box<str>>,
    pub(super) slots: Slots,
    /// What is searched for; none where every document has to be scanned in any case.
    pub(super) prefilter: Option<Prefilter>,
}

/// The slots that a query needs.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// So many of them, from the first on, are read before the condition is evaluated.
    pub(crate) condition: usize,
    /// Those that rows, or groups, are made of.
    pub(crate) output: Vec<usize>,
}

/// The texts that are searched for. They find the same whatever they are [tuned](Needle::tune) to.
#[derive(Clone, Debug)]
pub(super) struct Prefilter {
    /// For each slot its key.
    pub(super) keys: Vec<Needle>,
    /// What the condition speaks of, by number.
    pub(super) needles: Vec<Needle>,
}

/// What is to be analysed.
#[derive(Debug)]
pub(crate) struct Asked<'p> {
    pub(crate) filter: Option<&'p Expr>,
    pub(crate) names: &'p [Box<str>],
    /// So many of them are other readings of dotted paths.
    pub(crate) flat_names: usize,
    pub(crate) slots: Slots,
    /// How many collections each event is unnested by before it is filtered.
    pub(crate) unnested: usize,
    /// Whether more of an event is read than the slots.
    pub(crate) reads_whole: bool,
}

/// Where nothing is filtered, more names than these are quicker found by scanning each document once. Those of which each event has
/// one or another count once.
const NAMES_UNFILTERED: usize = 4;

impl Pushdown {
    /// Analyses a condition. Takes time linear in its size, but for constants in it of which each is prepared.
    pub(crate) fn new(asked: Asked<'_>) -> Pushdown {
        let Asked { filter, names, flat_names, slots, unnested, reads_whole } = asked;
        let mut analysis = Analysis::new(names, unnested);
        let condition = filter.map(|filter| analysis.condition(filter));
        let prefilter = match unnested {
            0 => {
                let wanted = if condition.is_some() { slots.condition } else { names.len() };
                let is_cheap = !reads_whole && wanted.saturating_sub(flat_names) <= NAMES_UNFILTERED;
                prefilter(condition.as_ref(), names, is_cheap, analysis.needles)
            }
            _ => None,
        };
        let places = condition.as_ref().map_or(period::ALL, period::of);
        Pushdown {
            period: period::instants(&places),
            places,
            condition,
            filter: filter.cloned(),
            alone: analysis.alone,
            names: names.to_vec(),
            slots,
            prefilter,
        }
    }
}

fn prefilter(
    condition: Option<&Condition>,
    names: &[Box<str>],
    is_cheap: bool,
    needles: Vec<Needle>,
) -> Option<Prefilter> {
    let keys = names.iter().map(|name| Needle::key(name)).collect::<Option<Vec<_>>>()?;
    let is_worth_it = condition.is_some_and(Condition::narrows) || is_cheap;
    (is_worth_it && !(names.is_empty() && needles.is_empty())).then_some(Prefilter { keys, needles })
}
