//! Groups of several keys, found by the spellings of their values.

use super::columns::Cells;
use super::group::Groups;
use super::scan::Window;
use super::spellings::{Spelling, Spellings};
use crate::expr::Expr;
use crate::plan::Key;
use crate::value::{Value, canonical};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Finds the groups of events by several keys. What it has found it remembers by numbers: each value of a key has one, and with the
/// number of the keys before it gives the next; the last number is that of the group. Spellings of one value may have several numbers.
pub(super) struct Combined {
    parts: Vec<Part>,
    /// Groups are too many to remember them.
    is_in_vain: bool,
}

/// A key.
struct Part {
    source: Source,
    known: Spellings,
    /// How many numbers were given.
    given: usize,
    /// From the number of the keys before it and its own to that of both.
    pairs: HashMap<(usize, usize), usize, RandomState>,
}

enum Source {
    /// The interval of so many ticks.
    Time(u64),
    Slot {
        slot: usize,
        ci: bool,
    },
}

/// HEURISTIC: the most combinations that are remembered.
const PAIRS_MAX: usize = 1 << 16;

impl Combined {
    /// None where something has to be evaluated.
    pub(super) fn of(keys: &[Key]) -> Option<Combined> {
        let part = |key: &Key| {
            let source = match key {
                Key::Time(interval) => Source::Time(*interval),
                Key::Expr { expr: Expr::Slot(slot), ci } => Source::Slot { slot: *slot, ci: *ci },
                Key::Expr { .. } => return None,
            };
            Some(Part { source, known: Spellings::default(), given: 0, pairs: HashMap::default() })
        };
        Some(Combined { parts: keys.iter().map(part).collect::<Option<_>>()?, is_in_vain: false })
    }

    /// The group of an event.
    pub(super) fn group(&mut self, groups: &mut Groups<'_>, window: &Window<'_, '_>, index: u32) -> usize {
        let pair = if self.is_in_vain { None } else { self.pair(window, index) };
        let last = self.parts.last().zip(pair);
        if let Some(known) = last.and_then(|(part, pair)| part.pairs.get(&pair)) {
            return *known;
        }
        let order = window.order(index);
        groups.key.clear();
        for part in &self.parts {
            match part.source {
                Source::Time(interval) => {
                    groups.key.extend_from_slice(&(order.0 - order.0 % interval).to_le_bytes());
                }
                Source::Slot { slot, ci } => {
                    canonical(&Cells::of(window, slot).value(index), ci, &mut groups.key);
                }
            }
        }
        let group = groups.look_up(order, || self.shown(window, index));
        if let Some((part, pair)) = self.parts.last_mut().zip(pair) {
            part.pairs.insert(pair, group);
        }
        if self.parts.iter().any(|part| part.pairs.len() > PAIRS_MAX) {
            self.is_in_vain = true;
            self.parts.iter_mut().for_each(|part| part.pairs = HashMap::default());
        }
        group
    }

    /// The keys as an event shows them.
    pub(super) fn shown(&self, window: &Window<'_, '_>, index: u32) -> Vec<Value<'static>> {
        let instant = window.order(index).0;
        let shown = self.parts.iter().map(|part| match part.source {
            Source::Time(interval) => Value::from(instant - instant % interval),
            Source::Slot { slot, .. } => Cells::of(window, slot).value(index).into_static(),
        });
        shown.collect()
    }

    /// The number of all keys but the last, and that of the last.
    fn pair(&mut self, window: &Window<'_, '_>, index: u32) -> Option<(usize, usize)> {
        let (last, parts) = self.parts.split_last_mut()?;
        let mut before = 0;
        for part in parts {
            let pair = (before, part.number(window, index)?);
            let next = part.pairs.len();
            before = *part.pairs.entry(pair).or_insert(next);
        }
        Some((before, last.number(window, index)?))
    }
}

impl Part {
    /// The number of an event's value; none if it is too long to be remembered.
    fn number(&mut self, window: &Window<'_, '_>, index: u32) -> Option<usize> {
        match self.source {
            Source::Time(interval) => usize::try_from(window.order(index).0 / interval).ok(),
            Source::Slot { slot, .. } => {
                let cells = Cells::of(window, slot);
                let Some((start, end)) = cells.place(index) else { return Some(0) };
                let spelling = Spelling::at(cells.bytes, start, end);
                if let Some(known) = self.known.get(spelling) {
                    return Some(known);
                }
                self.given += 1;
                self.known.put(spelling, self.given);
                self.known.get(spelling)
            }
        }
    }
}
