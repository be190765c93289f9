//! Groups that take a block in by its statistics, without reading a document.

use super::aggregate::Aggregator;
use super::group::Groups;
use super::scan::{Run, order_of};
use crate::error::ExecError;
use crate::expr::Expr;
use crate::plan::{Aggregate, Function, Key as GroupKey};
use crate::pushdown::{Class, Pruner, classes, only_slot};
use crate::source::Block;
use crate::statistics::{Extreme, Key, Statistics, Sum, Tally, Values};
use crate::value::{Number, Value};

/// What a block adds to an aggregate.
enum Addend<'b> {
    Count(u64),
    Sum(u64, Sum<'b>),
    Extreme(Extreme<'b>),
    /// Distinct values of a slot.
    Each(usize, Vec<(Class<'b>, Tally)>),
    Nothing,
}

impl Groups<'_> {
    /// Takes in all events of a block, if its statistics tell enough: how many passed, none where nothing was taken in.
    ///
    /// All of them are within the query's time; `all` says whether they surely pass.
    pub(super) fn answer(
        &mut self,
        run: Run<'_>,
        pruner: &mut Pruner,
        block: &dyn Block,
        statistics: Option<&Statistics<'_>>,
        all: bool,
    ) -> Result<Option<u64>, ExecError> {
        if !run.events.unnest.is_empty() {
            return Ok(None);
        }
        if all && self.grouping.keys.is_empty() {
            let events = super::scan::event_count(block) as u64;
            if self.add_totals(run, pruner, block, statistics, events)? {
                return Ok(Some(events));
            }
        }
        if all && let [GroupKey::Time(interval)] = self.grouping.keys.as_slice() {
            let counted = self.grouping.aggregates.iter().map(counts_events).collect::<Option<Vec<bool>>>();
            if let Some(counted) = counted {
                self.add_intervals(block, *interval, &counted);
                self.tell_memory(run.control)?;
                return Ok(Some(super::scan::event_count(block) as u64));
            }
        }
        match statistics {
            Some(statistics) => self.add_classes(run, pruner, block, statistics),
            None => Ok(None),
        }
    }

    /// Adds what the statistics say of each aggregate's values, if they tell all of them.
    fn add_totals(
        &mut self,
        run: Run<'_>,
        pruner: &mut Pruner,
        block: &dyn Block,
        statistics: Option<&Statistics<'_>>,
        events: u64,
    ) -> Result<bool, ExecError> {
        let names = &run.events.names;
        let addends = self.grouping.aggregates.iter();
        let addends = addends.map(|aggregate| addend(aggregate, names, statistics, events));
        let Some(addends) = addends.collect::<Option<Vec<Addend<'_>>>>() else { return Ok(false) };
        let Some(group) = self.groups.first_mut() else { return Ok(false) };
        for (addend, aggregator) in addends.into_iter().zip(&mut group.aggregators) {
            match addend {
                Addend::Nothing => {}
                Addend::Count(count) => aggregator.add_count(count),
                Addend::Sum(count, sum) => aggregator.add_sum(count, sum),
                Addend::Extreme(extreme) => {
                    let value = Value::Number(Number::Stored(extreme.text));
                    let order = order_of(block, extreme.event as usize);
                    self.bytes += aggregator.add(value, order, &mut self.key);
                }
                Addend::Each(slot, classes) => {
                    for (class, tally) in classes {
                        let order = order_of(block, tally.first as usize);
                        let value = Expr::Slot(slot);
                        pruner.probe().with(&class, slot, names, order, |scope| {
                            self.bytes += aggregator.add(value.eval(scope), order, &mut self.key);
                        });
                    }
                }
            }
        }
        self.tell_memory(run.control)?;
        Ok(true)
    }

    /// Adds a block's events to those aggregates that count them, for each interval as many as it has.
    fn add_intervals(&mut self, block: &dyn Block, interval: u64, counted: &[bool]) {
        let instants = block.instants().get(..super::scan::event_count(block)).unwrap_or_default();
        let mut first = 0;
        while let Some(instant) = instants.get(first) {
            let begin = u64::from_le_bytes(*instant);
            let begin = begin - begin % interval;
            let end = begin.saturating_add(interval);
            // The events of a block come in the order of their instants.
            let later = instants.get(first..).unwrap_or_default();
            let events = later.partition_point(|instant| u64::from_le_bytes(*instant) < end).max(1);
            let group = self.at_interval(begin, order_of(block, first));
            let aggregators = self.groups.get_mut(group).map(|group| &mut group.aggregators);
            for (aggregator, _) in
                aggregators.into_iter().flatten().zip(counted).filter(|(_, counts)| **counts)
            {
                aggregator.add_count(events as u64);
            }
            first += events;
        }
    }

    /// Adds the values of the one slot that everything depends on, each with the events that have it.
    fn add_classes(
        &mut self,
        run: Run<'_>,
        pruner: &mut Pruner,
        block: &dyn Block,
        statistics: &Statistics<'_>,
    ) -> Result<Option<u64>, ExecError> {
        let Some(slot) = self.only_slot(pruner) else { return Ok(None) };
        let Some(name) = run.events.names.get(slot) else { return Ok(None) };
        let mut passing = Vec::new();
        let mut is_certain = true;
        let known = classes(&statistics.key(name), statistics.events(), |class, tally| {
            if tally.count > 0 && is_certain {
                match pruner.of_class(slot, &class) {
                    Some(true) => passing.push((class, tally)),
                    Some(false) => {}
                    None => is_certain = false,
                }
            }
        });
        let counts_only = self.counts_only(slot);
        if !known || !is_certain || !passing.iter().all(|(class, _)| class.is_known() || counts_only) {
            return Ok(None);
        }
        let grouping = self.grouping;
        let mut hits = 0;
        for (class, tally) in passing {
            let (count, order) = (u64::from(tally.count), order_of(block, tally.first as usize));
            hits += count;
            if !class.is_known() {
                // Values that are neither null nor undefined.
                let aggregators = self.groups.iter_mut().flat_map(|group| &mut group.aggregators);
                aggregators.for_each(|aggregator| aggregator.add_count(count));
                continue;
            }
            let probe = pruner.probe();
            let added = probe.with(&class, slot, &run.events.names, order, |scope| {
                self.add(grouping, scope, order, count);
                scope.take_failure()
            });
            added.unwrap_or(Ok(()))?;
            self.tell_memory(run.control)?;
        }
        Ok(Some(hits))
    }

    /// The slot that the condition, the keys and the aggregates depend on, if it is one, and many events with one value can be
    /// taken in at once.
    fn only_slot(&self, pruner: &Pruner) -> Option<usize> {
        let mut only = match (pruner.slot(), pruner.is_unconditional()) {
            (None, false) => return None,
            (slot, _) => slot,
        };
        let keys = self.grouping.keys.iter().map(|key| match key {
            GroupKey::Time(_) => None,
            GroupKey::Expr { expr, .. } => only_slot(expr),
        });
        let arguments = self.grouping.aggregates.iter().map(|Aggregate { function, argument }| {
            // Further events with the same value do not matter to these, but for their number.
            let is_apt = matches!(
                function,
                Function::Count
                    | Function::CountDistinct
                    | Function::Min
                    | Function::Max
                    | Function::First
                    | Function::Any
                    | Function::All
                    | Function::Distinct
            );
            only_slot(argument).filter(|_| is_apt)
        });
        for slot in keys.chain(arguments) {
            match (slot?, only) {
                (None, _) => {}
                (slot, None) => only = slot,
                (Some(slot), Some(other)) if slot == other => {}
                _ => return None,
            }
        }
        only
    }

    /// Whether there is one group, in which everything that has a value in the slot is counted.
    fn counts_only(&self, slot: usize) -> bool {
        let counts = |aggregate: &Aggregate| {
            aggregate.function == Function::Count
                && match &aggregate.argument {
                    Expr::Slot(counted) => *counted == slot,
                    Expr::Constant(value) => !matches!(value, Value::Null | Value::Undefined),
                    _ => false,
                }
        };
        self.grouping.keys.is_empty() && self.grouping.aggregates.iter().all(counts)
    }
}

/// Whether an aggregate counts each event, or none of them; not known where it depends on the events.
fn counts_events(aggregate: &Aggregate) -> Option<bool> {
    match &aggregate.argument {
        Expr::Constant(value) if aggregate.function == Function::Count => {
            Some(!matches!(value, Value::Null | Value::Undefined))
        }
        _ => None,
    }
}

/// What all events of a block add to an aggregate; none where the statistics do not tell.
fn addend<'b>(
    aggregate: &Aggregate,
    names: &[Box<str>],
    statistics: Option<&Statistics<'b>>,
    events: u64,
) -> Option<Addend<'b>> {
    if let Some(counts) = counts_events(aggregate) {
        return Some(Addend::Count(if counts { events } else { 0 }));
    }
    let Expr::Slot(slot) = aggregate.argument else { return None };
    let statistics = statistics?;
    let key = statistics.key(names.get(slot)?);
    let values = match &key {
        Key::Unknown => return None,
        Key::Absent => return Some(Addend::Nothing),
        Key::Present(facts) => facts.values?,
    };
    let Values { missing, null, numbers, range, sum, .. } = values;
    match aggregate.function {
        Function::Count => {
            Some(Addend::Count(events.checked_sub(u64::from(missing.count) + u64::from(null.count))?))
        }
        Function::Sum | Function::Mean | Function::Min | Function::Max if numbers == 0 => {
            Some(Addend::Nothing)
        }
        Function::Sum | Function::Mean => Some(Addend::Sum(numbers.into(), sum?)),
        Function::Min => Some(Addend::Extreme(range?.0)),
        Function::Max => Some(Addend::Extreme(range?.1)),
        Function::CountDistinct | Function::Distinct | Function::First | Function::Any | Function::All => {
            let mut each = Vec::new();
            let known = classes(&key, statistics.events(), |class, tally| {
                if tally.count > 0 {
                    each.push((class, tally));
                }
            });
            let known = known && each.iter().all(|(class, _)| class.is_known());
            known.then_some(Addend::Each(slot, each))
        }
        _ => None,
    }
}

impl Aggregator {
    /// Adds to a count.
    pub(super) fn add_count(&mut self, added: u64) {
        if let Aggregator::Count(count) = self {
            *count += added;
        }
    }

    /// Adds so many numbers, whose sum is known.
    fn add_sum(&mut self, count: u64, parts: Sum<'_>) {
        if let Aggregator::Sum(sum) | Aggregator::Mean(sum) = self {
            sum.add_parts(count, parts);
        }
    }
}
