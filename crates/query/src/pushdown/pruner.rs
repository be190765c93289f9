//! What is known of a block's events before a document is read: whether none, all or some of them pass.

use super::classes::{Class, Scalar, classes};
use super::condition::{Alone, Condition, Form, Sought};
use super::outcomes::Outcomes;
use super::prepared::Pushdown;
use super::probe::Probe;
use super::unlisted::{between, unlisted};
use crate::error::ExecError;
use crate::interrupt::Interrupt;
use crate::source::Block;
use crate::statistics::{Key, Statistics};
use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
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

/// The events of a block within a period, and the first and the last instant of them.
struct Within {
    events: Range<usize>,
    instants: (u64, u64),
}

/// The times are read only where the period begins or ends within the block.
fn within(block: &dyn Block, period: &RangeInclusive<u64>) -> Result<Within, ExecError> {
    let ((first, _), (last, _)) = block.range();
    if period.contains(&first) && period.contains(&last) {
        return Ok(Within { events: 0..block.len(), instants: (first, last) });
    }
    let none = Within { events: 0..0, instants: (first, first) };
    if last < *period.start() || first > *period.end() {
        return Ok(none);
    }
    let Some(times) = block.times().map_err(ExecError::Source)? else { return Ok(none) };
    let instants = times.instants.get(..block.len()).unwrap_or_default();
    let instant = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let start = instants.partition_point(|bytes| instant(bytes) < *period.start());
    let end = instants.partition_point(|bytes| instant(bytes) <= *period.end()).max(start);
    let within = instants.get(start..end).unwrap_or_default();
    let (first, last) = (within.first().map_or(first, instant), within.last().map_or(last, instant));
    Ok(Within { events: start..end, instants: (first, last) })
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
        let Within { events, instants } = within(block, &pushdown.period)?;
        let mut terms = Vec::new();
        let passes = match (&pushdown.condition, events.is_empty()) {
            (_, true) => Some(false),
            (None, _) => Some(true),
            (Some(condition), false) => {
                let mut asked = Asking { names: &pushdown.names, statistics, instants, memos, probe };
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
    /// The first and the last.
    instants: (u64, u64),
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
            Form::Time(time) => {
                let (first, last) = self.instants;
                between(time.op, time.order(first), time.order(last))
            }
            Form::Sought(Sought::Defined { slot }) => self.defined(*slot),
            Form::Sought(_) | Form::Opaque => Outcomes::ANY,
        }
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
