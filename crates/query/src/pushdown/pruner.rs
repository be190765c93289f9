//! What is known of a block's events before a document is read: whether none, all or some of them pass.

use super::classes::{Class, Scalar, classes};
use super::condition::{Alone, Condition, Form, Head, Place, Sought};
use super::outcomes::Outcomes;
use super::prepared::Pushdown;
use super::probe::Probe;
use super::unlisted::{between, unlisted};
use crate::chunk::Order;
use crate::error::ExecError;
use crate::interrupt::Interrupt;
use crate::source::Block;
use crate::statistics::{Key, Statistics};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Asks blocks what is known of them, and remembers what conditions came to over values met before: most blocks repeat them.
pub(crate) struct Pruner {
    pushdown: Arc<Pushdown>,
    /// For each condition on one slot, by its number.
    memos: Vec<Memo>,
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

/// What a condition came to.
#[derive(Default)]
struct Memo {
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
    let count = block.len().min(times.instants.len()).min(times.arrivals.len());
    let place = |index: usize| place(times.order(index));
    let start = partition_point(count, |index| place(index) < range.start);
    let end = partition_point(count, |index| place(index) < range.end).max(start);
    Ok(Within { events: start..end, places: (place(start), place(end.saturating_sub(1))) })
}

impl Pruner {
    /// A pruner that knows of no values yet. `now` is what `Now()` answers. Once it is interrupted it concludes nothing.
    pub(crate) fn new(pushdown: &Arc<Pushdown>, now: u64, interrupt: &Arc<Interrupt>) -> Pruner {
        let memos = (0..pushdown.alone).map(|_| Memo::default()).collect();
        Pruner { pushdown: pushdown.clone(), memos, probe: Probe::new(now, interrupt.clone()) }
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
        let Pruner { pushdown, memos, probe } = self;
        let Within { events, places } = within(block, &pushdown.places)?;
        let asks_arrivals = pushdown.condition.as_ref().is_some_and(Condition::asks_arrivals);
        let times = if asks_arrivals { block.times().map_err(ExecError::Source)? } else { None };
        let arrivals = times.and_then(|times| times.arrivals.get(events.clone())).unwrap_or_default();
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

    /// Whether events of a class of a slot's values pass; none where that is not certain, or depends on something else.
    pub(crate) fn of_class(&mut self, slot: usize, class: &Class<'_>) -> Option<bool> {
        match &self.pushdown.condition {
            None => Some(true),
            Some(Condition { alone: Some(alone), .. }) if alone.slot == slot => {
                let memo = self.memos.get_mut(alone.number)?;
                memo.outcomes(alone, class, &self.pushdown.names, &mut self.probe).passes()
            }
            Some(_) => None,
        }
    }

    /// The slot that the condition depends on alone.
    pub(crate) fn slot(&self) -> Option<usize> {
        self.pushdown.condition.as_ref()?.alone.as_ref().map(|alone| alone.slot)
    }

    /// Whether there is no condition.
    pub(crate) fn is_unconditional(&self) -> bool {
        self.pushdown.condition.is_none()
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
    /// None where they are not asked for.
    arrivals: &'p [[u8; 8]],
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
        if self.arrivals.is_empty() {
            return ((0, 0), (u64::MAX.into(), 0));
        }
        let arrivals = self.arrivals.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let (least, greatest) = arrivals
            .fold((u64::MAX, 0), |(least, greatest), arrival| (arrival.min(least), arrival.max(greatest)));
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

    /// What the values of the slot let a condition come to; none where they are not known, or nothing follows from them.
    fn alone(&mut self, alone: &Alone) -> Option<Outcomes> {
        let statistics = self.statistics?;
        let memo = self.memos.get_mut(alone.number)?;
        let key = statistics.key(self.names.get(alone.slot)?);
        let mut all = Outcomes::NONE;
        let known = classes(&key, statistics.events(), |class, tally| {
            // Once some may pass and some may not, no more is to be learnt.
            if tally.count > 0 && (all == Outcomes::NONE || all.passes().is_some()) {
                all |= memo.outcomes(alone, &class, self.names, self.probe);
            }
        });
        (known && all.passes().is_some()).then_some(all)
    }
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
    fn outcomes(
        &mut self,
        alone: &Alone,
        class: &Class<'_>,
        names: &[Box<str>],
        probe: &mut Probe,
    ) -> Outcomes {
        let evaluated = |probe: &mut Probe| {
            let outcomes = probe.with(class, alone.slot, names, (0, 0), |scope| {
                let value = Outcomes::of(&alone.expr.eval(scope));
                scope.failure.map_or(value, |_| Outcomes::ANY)
            });
            outcomes.unwrap_or(Outcomes::ANY)
        };
        match class {
            Class::Missing => match self.missing {
                Some(known) => known,
                None => *self.missing.insert(evaluated(probe)),
            },
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
                unlisted(&alone.expr, class)
            }
        }
    }
}
