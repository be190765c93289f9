//! Groups that take a block in by its statistics, without reading a document: what is pushed down of aggregates.

use super::group::Groups;
use crate::aggregate::{EachValue, Known};
use crate::chunk::{BlockOrders, Order, value_of};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::Expr;
use crate::plan::{Aggregate, Events, Key as GroupKey};
use crate::pushdown::{Class, KeyPath, Pruner, Scalar, bare_path, classes, is_absent, only_of, only_path};
use crate::source::Block;
use crate::statistics::{Key, Statistics};
use crate::stored::Times;
use crate::value::Value;
use crate::zone::Intervals;
use std::ops::Range;

/// A block of which all events are within the query's time.
#[derive(Clone, Copy)]
pub(crate) struct Answerable<'b> {
    pub(crate) block: &'b dyn Block,
    pub(crate) statistics: Option<&'b Statistics<'b>>,
    /// Whether all of its events surely pass.
    pub(crate) all_pass: bool,
    /// Whether no other block has events between its own.
    pub(crate) is_alone: bool,
}

impl<'b> Answerable<'b> {
    /// Where its events stand in time, if it is known without their times, which are large beside statistics: where no other block has events between these, they
    /// count up from its beginning.
    fn counted(&self) -> Option<Orders<'b>> {
        self.is_alone.then(|| Orders::Counted(self.block.range().0))
    }

    /// The same, read where that is not known. None where they are damaged and the block is to be skipped.
    fn orders(&self) -> Result<Option<Orders<'b>>, ExecError> {
        match self.counted() {
            Some(counted) => Ok(Some(counted)),
            None => Ok(self.block.times().map_err(ExecError::Source)?.map(Orders::Timed)),
        }
    }
}

/// Where the events of a block stand in time among all.
#[derive(Clone, Copy)]
enum Orders<'b> {
    /// One behind the other from a place on.
    Counted(Order),
    /// Where their times say.
    Timed(Times<'b>),
}

impl Orders<'_> {
    fn order(&self, event: u32) -> Order {
        match self {
            Orders::Counted(begin) => BlockOrders::Counted(*begin).order(event as usize),
            Orders::Timed(times) => times.order(event as usize),
        }
    }
}

impl Groups<'_> {
    /// Takes in all events of a block, if its statistics tell enough: how many passed, none where nothing was taken in.
    pub(crate) fn take_statistics(
        &mut self,
        events: &Events,
        pruner: &mut Pruner,
        of: Answerable<'_>,
        control: &Control,
    ) -> Result<Option<u64>, ExecError> {
        if !events.unnest.is_empty() {
            return Ok(None);
        }
        let keys = self.grouping().keys.as_slice();
        if of.all_pass && keys.is_empty() && self.take_totals(events, of, control)? {
            return Ok(Some(of.block.len() as u64));
        }
        if let [GroupKey::Time(intervals)] = keys
            && of.all_pass
            && self.take_intervals(of.block, &intervals.clone(), control)?
        {
            return Ok(Some(of.block.len() as u64));
        }
        match of.statistics {
            Some(statistics) => self.take_classes(events, pruner, of, statistics, control),
            None => Ok(None),
        }
    }

    /// Takes in what is known of each aggregate's values, if that is all that they need.
    fn take_totals(
        &mut self,
        events: &Events,
        of: Answerable<'_>,
        control: &Control,
    ) -> Result<bool, ExecError> {
        let (aggregates, names) = (&self.grouping().aggregates, &events.names);
        let counted = of.counted();
        let Some(mut all) = all_known(aggregates, names, of, counted) else { return Ok(false) };
        // Times are read only if they make a difference.
        if counted.is_none() && self.need_orders(&all, of.block.range().0) {
            let Some(orders) = of.orders()? else { return Ok(false) };
            let Some(placed) = all_known(aggregates, names, of, Some(orders)) else { return Ok(false) };
            all = placed;
        }
        self.answer(0, &all, control)?;
        Ok(true)
    }

    /// Takes in so many events for each interval, if nothing is aggregated but their number.
    fn take_intervals(
        &mut self,
        block: &dyn Block,
        intervals: &Intervals,
        control: &Control,
    ) -> Result<bool, ExecError> {
        let counted = self.grouping().aggregates.iter().map(counts_events);
        let Some(counted) = counted.collect::<Option<Vec<bool>>>() else { return Ok(false) };
        let Some(times) = block.times().map_err(ExecError::Source)? else { return Ok(false) };
        let instants = times.instants.get(..block.len()).unwrap_or_default();
        let mut first = 0;
        while let Some(instant) = instants.get(first) {
            let Range { start, end } = intervals.around(u64::from_le_bytes(*instant));
            // The events of a block come in the order of their instants.
            let later = instants.get(first..).unwrap_or_default();
            let events = begin_with(later, |instant| u64::from_le_bytes(*instant) < end).max(1);
            let group = self.of_interval(start, times.order(first));
            let known: Vec<Known<'_>> = counted
                .iter()
                .map(|counts| Known::Constant { counts: *counts, events: events as u64 })
                .collect();
            self.answer(group, &known, control)?;
            first += events;
        }
        Ok(true)
    }

    /// Takes in the values of the one path that everything depends on, each with the events that have it.
    fn take_classes(
        &mut self,
        events: &Events,
        pruner: &mut Pruner,
        of: Answerable<'_>,
        statistics: &Statistics<'_>,
        control: &Control,
    ) -> Result<Option<u64>, ExecError> {
        let names = &events.names;
        // Where a path is in no event, only its other readings count; but all of them may be.
        let path = self.only_path(pruner, &|_| false);
        let path = path.or_else(|| self.only_path(pruner, &is_absent(statistics, names)));
        let Some(path) = path else { return Ok(None) };
        let mut passing = Vec::new();
        let mut is_certain = true;
        let known = classes(&path.key(statistics, names), statistics.events(), |class, tally| {
            if tally.count > 0 && is_certain {
                match pruner.of_class(&path, &class) {
                    Some(true) => passing.push((class, tally)),
                    Some(false) => {}
                    None => is_certain = false,
                }
            }
        });
        let counts_only = self.counts_only(&path, &is_absent(statistics, names));
        if !known || !is_certain || !passing.iter().all(|(class, _)| class.is_known() || counts_only) {
            return Ok(None);
        }
        let grouping = self.grouping();
        let needs_orders = !grouping.keys.is_empty()
            || grouping.aggregates.iter().any(|aggregate| aggregate.function.depends_on_order());
        let orders = match needs_orders {
            false => Orders::Counted((0, 0)),
            true => match of.orders()? {
                Some(orders) => orders,
                None => return Ok(None),
            },
        };
        let mut hits = 0;
        for (class, tally) in passing {
            let (count, order) = (u64::from(tally.count), orders.order(tally.first));
            hits += count;
            if !class.is_known() {
                // Values that are neither null nor undefined, which are counted and nothing else.
                let counted = grouping.aggregates.iter();
                let counted: Vec<Known<'_>> =
                    counted.map(|_| Known::Constant { counts: true, events: count }).collect();
                self.answer(0, &counted, control)?;
                continue;
            }
            let added = pruner
                .probe()
                .with(&class, &path, names, order, |scope| self.add(grouping, scope, order, count, control));
            added.unwrap_or(Ok(()))?;
        }
        Ok(Some(hits))
    }

    /// The path that the condition, the keys and the aggregates depend on, if it is one, and many events with one value can be
    /// taken in at once.
    fn only_path(&self, pruner: &Pruner, is_absent: &impl Fn(&KeyPath) -> bool) -> Option<KeyPath> {
        let mut only = pruner.only_path(is_absent)?;
        let keys = self.grouping().keys.iter().map(|key| match key {
            GroupKey::Time(_) => None,
            GroupKey::Expr { expr, .. } => only_path(expr, is_absent),
        });
        let arguments = self.grouping().aggregates.iter().map(|Aggregate { function, argument }| {
            only_path(argument, is_absent).filter(|_| function.takes_repeated())
        });
        for path in keys.chain(arguments) {
            only = only_of(only, path?)?;
        }
        only
    }

    /// Whether there is one group, in which everything that has a value at the path is counted.
    fn counts_only(&self, path: &KeyPath, is_absent: &impl Fn(&KeyPath) -> bool) -> bool {
        let counts = |aggregate: &Aggregate| {
            aggregate.function.counts()
                && match &aggregate.argument {
                    Expr::Constant(value) => !matches!(value, Value::Null | Value::Undefined),
                    counted => bare_path(counted, is_absent).flatten().as_ref() == Some(path),
                }
        };
        self.grouping().keys.is_empty() && self.grouping().aggregates.iter().all(counts)
    }
}

/// Whether an aggregate counts each event, or none of them; not known where it depends on the events.
fn counts_events(aggregate: &Aggregate) -> Option<bool> {
    match &aggregate.argument {
        Expr::Constant(value) if aggregate.function.counts() => {
            Some(!matches!(value, Value::Null | Value::Undefined))
        }
        _ => None,
    }
}

/// What is known of the aggregates' arguments in all events of a block, if that is all that the aggregates need of them. Where it is not known where events stand in
/// time, it is enough where that makes no difference.
fn all_known<'b>(
    aggregates: &[Aggregate],
    names: &[Box<str>],
    of: Answerable<'b>,
    orders: Option<Orders<'b>>,
) -> Option<Vec<Known<'b>>> {
    let each = aggregates.iter().map(|aggregate| {
        known(aggregate, names, of, orders).filter(|known| aggregate.function.is_answered(known))
    });
    each.collect()
}

/// What is known of an aggregate's argument in all events of a block, with where they stand in time or without.
fn known<'b>(
    aggregate: &Aggregate,
    names: &[Box<str>],
    of: Answerable<'b>,
    orders: Option<Orders<'b>>,
) -> Option<Known<'b>> {
    let events = of.block.len() as u64;
    if let Some(counts) = counts_events(aggregate) {
        return Some(Known::Constant { counts, events });
    }
    let statistics = of.statistics?;
    let path = bare_path(&aggregate.argument, &is_absent(statistics, names))?;
    let key = path.map_or(Key::Absent, |path| path.key(statistics, names));
    let values = match &key {
        Key::Unknown => return None,
        Key::Absent => return Some(Known::Absent),
        Key::Present(facts) => facts.values?,
    };
    let count = events.checked_sub(u64::from(values.missing.count) + u64::from(values.null.count))?;
    let range_orders = values
        .range
        .zip(orders)
        .map(|((least, greatest), orders)| (orders.order(least.event), orders.order(greatest.event)));
    Some(Known::Values {
        count,
        numbers: values.numbers.into(),
        sum: values.sum,
        range: values.range,
        each: Box::new(Distinct {
            key,
            events: statistics.events(),
            orders: orders.unwrap_or(Orders::Counted((0, 0))),
        }),
        range_orders,
    })
}

/// The distinct values at a path in a block.
struct Distinct<'b> {
    key: Key<'b>,
    events: u32,
    orders: Orders<'b>,
}

impl EachValue for Distinct<'_> {
    fn are_told(&self) -> bool {
        let mut are_told = true;
        classes(&self.key, self.events, |class, tally| are_told &= tally.count == 0 || class.is_known())
            && are_told
    }

    fn for_each(&self, act: &mut dyn FnMut(Value<'_>, Order)) {
        classes(&self.key, self.events, |class, tally| {
            if tally.count == 0 {
                return;
            }
            let order = self.orders.order(tally.first);
            match class {
                Class::Missing => act(Value::Undefined, order),
                Class::Known(Scalar::Bare, text) => act(value_of(text), order),
                Class::Known(Scalar::Text, text) => act(value_of(&[b"\"", text, b"\""].concat()), order),
                // They are not told one by one.
                Class::Strings(_) | Class::Numbers(_) | Class::Arrays | Class::Objects => {}
            }
        });
    }
}

/// How many of some values that begin with those that pass do: few mostly, so that the last of them is sought among twice as many each time.
fn begin_with<T>(values: &[T], passes: impl Fn(&T) -> bool) -> usize {
    let mut bound = 1;
    while values.get(bound - 1).is_some_and(&passes) {
        bound *= 2;
    }
    let known = bound / 2;
    let rest = values.get(known..values.len().min(bound)).unwrap_or_default();
    known + rest.partition_point(passes)
}
