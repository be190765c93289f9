//! Hits taken into groups. Events may come in any order: what depends on it remembers the event's.

use super::aggregate::Aggregator;
use super::intake::Intake;
use super::project::check_row;
use super::scan::{Hit, Sink, Window};
use super::sort::{Held, held_bytes, sort_rows};
use super::spellings::{Spelling, Spellings};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Expr, Scope};
use crate::plan::{Grouping, Key, Output, Plan};
use crate::time;
use crate::value::{Value, canonical};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

/// An event's (instant, arrival): its place in time.
pub(super) type Order = (u64, u64);

pub(super) struct Groups<'p> {
    pub(super) grouping: &'p Grouping,
    /// By the canonical spelling of their keys.
    by_key: HashMap<Box<[u8]>, usize, RandomState>,
    pub(super) groups: Vec<Group>,
    /// What the groups take, about, in bytes; and how much of that is told to the query's other threads.
    pub(super) bytes: usize,
    told: usize,
    /// How often a group was begun, or an earlier event of it found: tells groups of one event apart.
    begun: u64,
    /// The key of the present event, in an allocation that stays.
    pub(super) key: Vec<u8>,
    /// Groups of a single key.
    pub(super) known: Spellings,
    /// The key before the present one, and its group.
    last: (Vec<u8>, usize),
    /// No group's first event comes later.
    latest: Order,
    /// None where hits are taken one by one.
    intake: Option<Box<Intake>>,
}

pub(super) struct Group {
    /// The first event, and when it was found to be that.
    first: (Order, u64),
    keys: Vec<Value<'static>>,
    pub(super) aggregators: Vec<Aggregator>,
}

impl Group {
    fn merge(&mut self, other: Group) {
        if other.first < self.first {
            self.first = other.first;
            self.keys = other.keys;
        }
        self.aggregators.iter_mut().zip(other.aggregators).for_each(|(own, other)| own.merge(other));
    }
}

/// What a group costs beside its values, about.
const GROUP_BYTES: usize = 160;

impl<'p> Groups<'p> {
    pub(super) fn new(grouping: &'p Grouping) -> Groups<'p> {
        let mut groups = Groups {
            grouping,
            by_key: HashMap::default(),
            groups: Vec::new(),
            bytes: 0,
            told: 0,
            begun: 0,
            key: Vec::new(),
            known: Spellings::default(),
            last: (Vec::new(), 0),
            latest: (0, 0),
            intake: Intake::of(grouping).map(Box::new),
        };
        if grouping.keys.is_empty() {
            let first = ((u64::MAX, u64::MAX), 0);
            groups.by_key.insert(Box::default(), 0);
            groups.groups.push(Group { first, keys: Vec::new(), aggregators: groups.aggregators() });
        }
        groups
    }

    fn aggregators(&self) -> Vec<Aggregator> {
        self.grouping.aggregates.iter().map(|aggregate| Aggregator::new(aggregate.function)).collect()
    }

    pub(super) fn sink<'s>(&'s mut self, control: &'s Control) -> impl Sink + use<'s, 'p> {
        GroupSink { groups: self, control }
    }

    /// Takes in so many events that are alike in what the groups read of them, of which this is the first. Of several, only counts
    /// and what takes a value once may be asked for.
    pub(super) fn add<'a>(
        &mut self,
        grouping: &'a Grouping,
        scope: &mut Scope<'a>,
        order: Order,
        count: u64,
    ) {
        let found = self.find(&grouping.keys, scope, order.0, order);
        self.meet(found, order, || shown(&grouping.keys, scope, order.0));
        let Some(group) = self.groups.get_mut(found) else { return };
        for (aggregate, aggregator) in grouping.aggregates.iter().zip(&mut group.aggregators) {
            if let (Aggregator::Count(sum), Expr::Constant(Value::Bool(true))) =
                (&mut *aggregator, &aggregate.argument)
            {
                *sum += count;
                continue;
            }
            let value = aggregate.argument.eval(scope);
            if count > 1 && !matches!(value, Value::Null | Value::Undefined) {
                aggregator.add_count(count - 1);
            }
            self.bytes += aggregator.add(value, order, &mut self.key);
        }
    }

    /// The number of the group that the event belongs to.
    fn find<'a>(&mut self, keys: &'a [Key], scope: &mut Scope<'a>, instant: u64, order: Order) -> usize {
        if keys.is_empty() {
            return 0;
        }
        // Most events repeat a key in the same spelling, and that is found without evaluating it.
        let spelling = match keys {
            [Key::Expr { expr: Expr::Slot(slot), .. }] => scope.slot(*slot).map(|value| value.raw()),
            _ => None,
        };
        let spelling = spelling.map(|text| Spelling::at(text, 0, text.len()));
        if let Some(known) = spelling.and_then(|spelling| self.known.get(spelling)) {
            return known;
        }
        let found = self.evaluate(keys, scope, instant, order);
        if let Some(spelling) = spelling {
            self.known.put(spelling, found);
        }
        found
    }

    /// The group of the interval that begins at an instant, of which an event is met.
    pub(super) fn at_interval(&mut self, begin: u64, order: Order) -> usize {
        let shown = || vec![Value::from(begin)];
        self.key.clear();
        self.key.extend_from_slice(&begin.to_le_bytes());
        let group = self.look_up(order, shown);
        self.meet(group, order, shown);
        group
    }

    /// The group of a single key's value.
    pub(super) fn of_value(&mut self, value: &Value<'_>, ci: bool, order: Order) -> usize {
        self.key.clear();
        canonical(value, ci, &mut self.key);
        self.look_up(order, || vec![value.clone().into_static()])
    }

    /// Whether an event at this place in time, or one after it, cannot be the first of a group that there is.
    pub(super) fn is_later(&self, order: Order) -> bool {
        order >= self.latest
    }

    /// Notes an event of a group, in case it is its first.
    #[inline]
    pub(super) fn meet(&mut self, group: usize, order: Order, shown: impl FnOnce() -> Vec<Value<'static>>) {
        if self.is_later(order) {
            return;
        }
        if let Some(group) = self.groups.get_mut(group).filter(|group| order < group.first.0) {
            self.begun += 1;
            group.first = (order, self.begun);
            group.keys = shown();
        }
    }

    /// The group of the event's keys.
    fn evaluate<'a>(&mut self, keys: &'a [Key], scope: &mut Scope<'a>, instant: u64, order: Order) -> usize {
        self.key.clear();
        for key in keys {
            match key {
                Key::Time(interval) => {
                    self.key.extend_from_slice(&(instant - instant % interval).to_le_bytes())
                }
                Key::Expr { expr, ci } => canonical(&expr.eval(scope), *ci, &mut self.key),
            }
        }
        if self.key == self.last.0 {
            return self.last.1;
        }
        let found = self.look_up(order, || shown(keys, scope, instant));
        self.last.0.clone_from(&self.key);
        self.last.1 = found;
        found
    }

    /// The group of the present key; a new one if there is none yet.
    pub(super) fn look_up(&mut self, order: Order, shown: impl FnOnce() -> Vec<Value<'static>>) -> usize {
        if let Some(&known) = self.by_key.get(self.key.as_slice()) {
            return known;
        }
        self.begun += 1;
        self.latest = self.latest.max(order);
        self.groups.push(Group {
            first: (order, self.begun),
            keys: shown(),
            aggregators: self.aggregators(),
        });
        self.bytes += self.key.len() + GROUP_BYTES;
        self.bytes += self
            .groups
            .last()
            .map_or(0, |group| held_bytes(&group.keys) + size_of::<Aggregator>() * group.aggregators.len());
        self.by_key.insert(self.key.as_slice().into(), self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// Adds what the groups have grown by to what the whole query holds. Errs if that is more than it may.
    pub(super) fn tell_memory(&mut self, control: &Control) -> Result<(), ExecError> {
        if self.bytes == self.told {
            return Ok(());
        }
        let grown = self.bytes - self.told;
        self.told = self.bytes;
        control.hold_groups(grown)
    }

    /// Takes in the groups of other events.
    pub(super) fn merge(&mut self, other: Groups<'p>) {
        let mut keys: Vec<Box<[u8]>> = vec![Box::default(); other.groups.len()];
        self.latest = self.latest.max(other.latest);
        for (key, number) in other.by_key {
            if let Some(place) = keys.get_mut(number) {
                *place = key;
            }
        }
        for (key, group) in keys.into_iter().zip(other.groups) {
            match self.by_key.get(&key).and_then(|known| self.groups.get_mut(*known)) {
                Some(known) => known.merge(group),
                None => {
                    self.by_key.insert(key, self.groups.len());
                    self.groups.push(group);
                }
            }
        }
    }

    /// Whether no event that comes later in time can change the rows that are wanted: those of a `distinct` or `top`
    /// with nothing behind it that would have to see all values.
    pub(super) fn is_settled(&self, plan: &Plan) -> bool {
        let Grouping { keys, having, sort, .. } = self.grouping;
        let wanted = match plan.limit {
            Some(limit) if having.is_none() && sort.is_empty() => {
                usize::try_from(limit).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        };
        match self.groups.as_slice() {
            [group] if keys.is_empty() => {
                group.aggregators.iter().all(|aggregator| aggregator.is_settled(wanted))
            }
            _ => false,
        }
    }

    /// The rows of the groups, the last one first.
    pub(super) fn finish(mut self, plan: &Plan, control: &Control) -> Result<Vec<Held>, ExecError> {
        control.watch.groups.store(self.groups.len() as u64, Relaxed);
        let has_time = self.grouping.keys.iter().position(|key| matches!(key, Key::Time(_)));
        self.groups.sort_by_key(|group| group.first);
        if let Some(time) = has_time {
            // Within an interval the groups stay in the order in which they first appear.
            let interval = |group: &Group| match group.keys.get(time) {
                Some(Value::Number(number)) => number.decimal(),
                _ => None,
            };
            self.groups.sort_by_key(interval);
        }
        let rows_of = self.grouping.aggregates.iter().position(|aggregate| aggregate.function.has_rows());
        let mut rows = Vec::new();
        let mut bytes = 0;
        for group in self.groups {
            let Group { keys, aggregators, .. } = group;
            let mut several = Vec::new();
            let mut values = keys.clone();
            for (index, aggregator) in aggregators.into_iter().enumerate() {
                if Some(index) == rows_of {
                    several = aggregator.rows();
                    values.push(Value::Undefined);
                } else {
                    values.push(aggregator.value());
                }
            }
            if rows_of.is_none() {
                several.push(Value::Undefined);
            }
            for value in several {
                if let Some(place) = rows_of.and_then(|index| values.get_mut(keys.len() + index)) {
                    *place = value;
                }
                if let Some(row) = row(self.grouping, &keys, &values)? {
                    bytes += held_bytes(&row);
                    rows.push(row);
                    control.check_memory(bytes)?;
                }
            }
        }
        control.watch.held.store(rows.len() as u64, Relaxed);
        sort_rows(&self.grouping.sort, &mut rows);
        if let Some(limit) = plan.limit.and_then(|limit| usize::try_from(limit).ok()) {
            rows.truncate(limit);
        }
        rows.reverse();
        Ok(rows)
    }
}

/// The row of a group, if it passes `having`.
fn row(
    grouping: &Grouping,
    keys: &[Value<'static>],
    values: &[Value<'static>],
) -> Result<Option<Held>, ExecError> {
    let mut scope = Scope::new(time::now());
    scope.groups = values;
    let passes = grouping.having.as_ref().is_none_or(|having| having.test(&mut scope));
    scope.take_failure()?;
    if !passes {
        return Ok(None);
    }
    let mut row = keys.to_vec();
    let mut bytes = 0;
    for cell in &grouping.cells {
        let value = cell.eval(&mut scope);
        scope.take_failure()?;
        bytes += value.weight();
        check_row(bytes, None)?;
        row.push(value.into_static());
    }
    Ok(Some(row))
}

/// The keys as the first event of a group shows them.
fn shown<'a>(keys: &'a [Key], scope: &mut Scope<'a>, instant: u64) -> Vec<Value<'static>> {
    let shown = keys.iter().map(|key| match key {
        Key::Time(interval) => Value::from(instant - instant % interval),
        Key::Expr { expr, .. } => expr.eval(scope).into_static(),
    });
    shown.collect()
}

struct GroupSink<'s, 'p> {
    groups: &'s mut Groups<'p>,
    control: &'s Control,
}

impl Sink for GroupSink<'_, '_> {
    fn hit<'a>(
        &mut self,
        plan: &'a Plan,
        scope: &mut Scope<'a>,
        _documents: &'a [u8],
    ) -> Result<ControlFlow<()>, ExecError> {
        let (Output::Groups(grouping), Some(event)) = (&plan.output, scope.event) else {
            return Ok(ControlFlow::Continue(()));
        };
        self.groups.add(grouping, scope, (event.instant, event.arrival), 1);
        self.groups.tell_memory(self.control)?;
        Ok(ControlFlow::Continue(()))
    }

    fn take_all(&mut self, window: &Window<'_, '_>, hits: &mut Vec<Hit>) -> Result<u64, ExecError> {
        let before = hits.len();
        if let Some(mut intake) = self.groups.intake.take() {
            intake.take(self.groups, window, hits);
            self.groups.intake = Some(intake);
        }
        self.groups.tell_memory(self.control)?;
        Ok((before - hits.len()) as u64)
    }
}
