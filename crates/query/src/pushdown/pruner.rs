//! What is known of a block's events before a document is read: whether none, all or some of them pass.

use super::classes::{Class, Scalar, classes};
use super::condition::{Alone, Condition, Form, Head, Place, Sought};
use super::key_path::{KeyPath, is_absent, only_path};
use super::outcomes::Outcomes;
use super::prepared::Pushdown;
use super::probe::Probe;
use super::unlisted::{between, unlisted};
use crate::chunk::Order;
use crate::error::ExecError;
use crate::expr::Expr;
use crate::interrupt::Interrupt;
use crate::source::Block;
use crate::statistics::{Key, Statistics};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Asks blocks what is known of them, and remembers what conditions came to over values met before: most blocks repeat them.
pub(crate) struct Pruner {
    pushdown: Arc<Pushdown>,
    /// For each condition on one value, by its number.
    memos: Vec<Memo>,
    /// For the whole condition.
    whole: Memo,
    probe: Probe,
}

/// What is known of a block.
pub(crate) struct Verdict {
    /// The events within the query's period, by their place in the block; none of the others passes.
    pub(crate) events: Range<usize>,
    /// Whether all, or none of them pass; none where that is not certain.
    pub(crate) passes: Option<bool>,
    pub(crate) settled: Settled,
}

/// What need not be searched for in a block, since it is known to hold of all its events within the period.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    /// The whole condition.
    pub(crate) all: bool,
    /// Of a condition that is an `and`, each of its terms.
    pub(crate) terms: Vec<bool>,
}

/// What a condition came to over the values at a path.
#[derive(Default)]
struct Memo {
    path: Option<KeyPath>,
    known: HashMap<Scalar, HashMap<Box<[u8]>, Outcomes>>,
    missing: Option<Outcomes>,
}

/// So many values are remembered.
const KNOWN_MAX: usize = 1024;

/// The events of a block within a range of places, and the places of the first and the last of them.
struct Within {
    events: Range<usize>,
    places: (Place, Place),
}

/// The times are read only where the range begins or ends within the block.
fn within(block: &dyn Block, range: &Range<Place>) -> Result<Within, ExecError> {
    let place = |(instant, arrival): Order| (u128::from(instant), arrival);
    let (first, last) = block.range();
    let (first, last) = (place(first), place(last));
    if range.contains(&first) && range.contains(&last) {
        return Ok(Within { events: 0..block.len(), places: (first, last) });
    }
    let none = Within { events: 0..0, places: (first, first) };
    if last < range.start || first >= range.end {
        return Ok(none);
    }
    let Some(times) = block.times().map_err(ExecError::Source)? else { return Ok(none) };
    let count = block.len().min(times.instants.len());
    let place = |index: usize| place(times.order(index));
    let start = partition_point(count, |index| place(index) < range.start);
    let end = partition_point(count, |index| place(index) < range.end).max(start);
    Ok(Within { events: start..end, places: (place(start), place(end.saturating_sub(1))) })
}

/// The least and the greatest of some numbers.
fn range_of(mut numbers: impl Iterator<Item = u64>) -> Option<(u64, u64)> {
    let first = numbers.next()?;
    let wider = |(least, greatest): (u64, u64), number: u64| (number.min(least), number.max(greatest));
    Some(numbers.fold((first, first), wider))
}

impl Pruner {
    /// A pruner that knows of no values yet. `now` is what `Now()` answers. Once it is interrupted it concludes nothing.
    pub(crate) fn new(pushdown: &Arc<Pushdown>, now: u64, interrupt: &Arc<Interrupt>) -> Pruner {
        let memos = (0..pushdown.alone).map(|_| Memo::default()).collect();
        Pruner {
            pushdown: pushdown.clone(),
            memos,
            whole: Memo::default(),
            probe: Probe::new(now, interrupt.clone()),
        }
    }

    /// What the block's columns and its statistics tell, if it has any.
    ///
    /// # Errors
    /// If its times are needed and cannot be read.
    pub(crate) fn of(
        &mut self,
        block: &dyn Block,
        statistics: Option<&Statistics<'_>>,
    ) -> Result<Verdict, ExecError> {
        let Pruner { pushdown, memos, probe, .. } = self;
        let Within { events, places } = within(block, &pushdown.places)?;
        let asks_arrivals = pushdown.condition.as_ref().is_some_and(Condition::asks_arrivals);
        let times = if asks_arrivals { block.times().map_err(ExecError::Source)? } else { None };
        let arrivals = times.filter(|times| times.arrivals.are_of(block.len()));
        let arrivals = arrivals.and_then(|times| range_of(times.arrivals.of(events.clone())));
        let mut terms = Vec::new();
        let passes = match (&pushdown.condition, events.is_empty()) {
            (_, true) => Some(false),
            (None, _) => Some(true),
            (Some(condition), false) => {
                let mut asked = Asking { names: &pushdown.names, statistics, places, arrivals, memos, probe };
                match condition {
                    Condition { form: Form::And(parts), alone: None } => {
                        let outcomes: Vec<Outcomes> = parts.iter().map(|part| asked.outcomes(part)).collect();
                        terms = outcomes.iter().map(|outcomes| outcomes.passes() == Some(true)).collect();
                        Outcomes::all(outcomes.into_iter()).passes()
                    }
                    condition => asked.outcomes(condition).passes(),
                }
            }
        };
        Ok(Verdict { events, passes, settled: Settled { all: passes == Some(true), terms } })
    }

    /// Whether events of a class of the values at a path pass, where the condition depends on nothing else; none where that is not certain.
    pub(crate) fn of_class(&mut self, path: &KeyPath, class: &Class<'_>) -> Option<bool> {
        let Pruner { pushdown, whole, probe, .. } = self;
        let Some(filter) = &pushdown.filter else { return Some(true) };
        whole.of(path).outcomes((path, filter), class, &pushdown.names, probe).passes()
    }

    /// The value that the condition depends on alone, the inner one none where that is constant. What is known to be in no event is not counted.
    pub(crate) fn only_path(&self, is_absent: &impl Fn(&KeyPath) -> bool) -> Option<Option<KeyPath>> {
        match &self.pushdown.filter {
            None => Some(None),
            Some(filter) => only_path(filter, is_absent),
        }
    }

    /// Whether keys of events are asked for.
    pub(crate) fn names_keys(&self) -> bool {
        !self.pushdown.names.is_empty()
    }

    /// What evaluates expressions over the values of a class.
    pub(crate) fn probe(&mut self) -> &mut Probe {
        &mut self.probe
    }
}

/// A block that is asked.
struct Asking<'p, 'b> {
    names: &'p [Box<str>],
    statistics: Option<&'p Statistics<'b>>,
    /// Of the first and of the last event.
    places: (Place, Place),
    /// The least and the greatest arrival number; none where they are not asked for.
    arrivals: Option<(u64, u64)>,
    memos: &'p mut [Memo],
    probe: &'p mut Probe,
}

impl Asking<'_, '_> {
    fn outcomes(&mut self, condition: &Condition) -> Outcomes {
        if let Some(alone) = &condition.alone
            && let Some(outcomes) = self.alone(alone)
        {
            return outcomes;
        }
        match &condition.form {
            Form::And(terms) => Outcomes::all(terms.iter().map(|term| self.outcomes(term))),
            Form::Or(terms) => Outcomes::any(terms.iter().map(|term| self.outcomes(term))),
            Form::Not(of) => self.outcomes(of).negated(),
            Form::Constant(outcomes) => *outcomes,
            Form::Head(head, any) => {
                let (first, last) = match head {
                    Head::Place => self.places,
                    Head::Arrival => self.least_and_greatest_arrival(),
                };
                let outcomes = any.iter().map(|of| between(of.op, of.order(first), of.order(last)));
                Outcomes::any(outcomes)
            }
            Form::Sought(Sought::Defined { slot }) => self.defined(*slot),
            Form::Sought(_) | Form::Opaque => Outcomes::ANY,
        }
    }

    /// Arrival numbers come in no order, where instants do.
    fn least_and_greatest_arrival(&self) -> (Place, Place) {
        let (least, greatest) = self.arrivals.unwrap_or((0, u64::MAX));
        ((u128::from(least), 0), (u128::from(greatest), 0))
    }

    /// Whether events have a key.
    fn defined(&self, slot: usize) -> Outcomes {
        let key = self.statistics.zip(self.names.get(slot)).map(|(statistics, name)| statistics.key(name));
        match key {
            Some(Key::Absent) => Outcomes::FALSE,
            Some(Key::Present(facts)) if Some(facts.events) == self.statistics.map(|all| all.events()) => {
                Outcomes::TRUE
            }
            Some(Key::Present(_) | Key::Unknown) | None => Outcomes::BOTH,
        }
    }

    /// What the values of one path let a condition come to; none where they are not known, or nothing follows from them.
    fn alone(&mut self, alone: &Alone) -> Option<Outcomes> {
        let statistics = self.statistics?;
        let path = match &alone.path {
            Some(path) => Some(path.clone()),
            None => only_path(&alone.expr, &is_absent(statistics, self.names))?,
        };
        let memo = self.memos.get_mut(alone.number)?;
        let Some(path) = path else {
            // No event has anything that it depends on.
            return Some(memo.of_nothing(&alone.expr, self.names, self.probe));
        };
        let memo = memo.of(&path);
        let key = path.key(statistics, self.names);
        let mut all = Outcomes::NONE;
        let known = classes(&key, statistics.events(), |class, tally| {
            // Once some may pass and some may not, no more is to be learnt.
            if tally.count > 0 && (all == Outcomes::NONE || all.passes().is_some()) {
                all |= memo.outcomes((&path, &alone.expr), &class, self.names, self.probe);
            }
        });
        (known && all.passes().is_some()).then_some(all)
    }
}

/// What an expression comes to for an event with a value of a class, and nothing else.
fn evaluated(
    (path, expr): (&KeyPath, &Expr),
    class: &Class<'_>,
    names: &[Box<str>],
    probe: &mut Probe,
) -> Outcomes {
    let outcomes = probe.with(class, path, names, (0, 0), |scope| {
        let value = Outcomes::of(&expr.eval(scope));
        scope.failure.map_or(value, |_| Outcomes::ANY)
    });
    outcomes.unwrap_or(Outcomes::ANY)
}

/// The first of so many places for which it is not so, where it is not for all that follow.
fn partition_point(count: usize, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_so(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

impl Memo {
    /// What is remembered of this path; of one at a time.
    fn of(&mut self, path: &KeyPath) -> &mut Memo {
        if self.path.as_ref() != Some(path) {
            *self = Memo { path: Some(path.clone()), ..Memo::default() };
        }
        self
    }

    /// What it came to for an event that has nothing.
    fn of_nothing(&mut self, expr: &Expr, names: &[Box<str>], probe: &mut Probe) -> Outcomes {
        match self.missing {
            Some(known) => known,
            None => {
                let path = KeyPath::default();
                *self.missing.insert(evaluated((&path, expr), &Class::Missing, names, probe))
            }
        }
    }

    fn outcomes(
        &mut self,
        (path, expr): (&KeyPath, &Expr),
        class: &Class<'_>,
        names: &[Box<str>],
        probe: &mut Probe,
    ) -> Outcomes {
        let evaluated = |probe: &mut Probe| evaluated((path, expr), class, names, probe);
        match class {
            Class::Missing => self.of_nothing(expr, names, probe),
            Class::Known(scalar, text) => {
                let known = self.known.entry(*scalar).or_default();
                if let Some(known) = known.get(*text) {
                    return *known;
                }
                let outcomes = evaluated(probe);
                if known.len() >= KNOWN_MAX {
                    known.clear();
                }
                known.insert((*text).into(), outcomes);
                outcomes
            }
            Class::Strings(_) | Class::Numbers(_) | Class::Arrays | Class::Objects => {
                unlisted(path, expr, class)
            }
        }
    }
}
