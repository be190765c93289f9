//! Hits taken into groups. Events may come in any order: what depends on it remembers the event's.

use super::aggregate::Aggregator;
use super::project::check_row;
use super::scan::{Found, Hit, Sink, Window};
use super::sort::{Held, held_bytes, sort_rows};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Expr, Scope};
use crate::plan::{Aggregate, Grouping, Key, Output, Plan};
use crate::time;
use crate::value::{Text, Value, canonical};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering::Relaxed;

/// An event's (instant, arrival): its place in time.
pub(super) type Order = (u64, u64);

pub(super) struct Groups<'p> {
    pub(super) grouping: &'p Grouping,
    /// By the canonical spelling of their keys.
    by_key: HashMap<Box<[u8]>, usize>,
    pub(super) groups: Vec<Group>,
    /// What the groups take, about, in bytes; and how much of that is told to the query's other threads.
    pub(super) bytes: usize,
    told: usize,
    /// How often a group was begun, or an earlier event of it found: tells groups of one event apart.
    begun: u64,
    /// The key of the present event, in an allocation that stays.
    pub(super) key: Vec<u8>,
    recent: Recent,
    /// The key before the present one, and its group.
    last: (Vec<u8>, usize),
    /// What groups are made of, where that is simple enough to be taken from stored values.
    inputs: Option<Inputs>,
    /// Allocations that stay.
    indices: Vec<u32>,
    lengths: Vec<Option<u32>>,
}

/// Where keys and arguments come from.
struct Inputs {
    key: KeyInput,
    arguments: Vec<Argument>,
}

enum KeyInput {
    None,
    /// The group of the events without the key is known once there is one.
    Slot {
        slot: usize,
        absent: Option<usize>,
    },
    /// The interval of the last event, and its group.
    Time {
        interval: u64,
        last: Range<u64>,
        group: usize,
    },
}

/// What an aggregate takes in.
enum Argument {
    /// True, for every event.
    Event,
    Slot(usize),
    /// The number of a string's characters.
    Length(usize),
}

impl Inputs {
    fn of(grouping: &Grouping) -> Option<Inputs> {
        let key = match grouping.keys.as_slice() {
            [] => KeyInput::None,
            [Key::Expr { expr: Expr::Slot(slot), .. }] => KeyInput::Slot { slot: *slot, absent: None },
            [Key::Time(interval)] => KeyInput::Time { interval: *interval, last: 0..0, group: 0 },
            _ => return None,
        };
        let argument = |aggregate: &Aggregate| match &aggregate.argument {
            Expr::Constant(Value::Bool(true)) => Some(Argument::Event),
            Expr::Slot(slot) => Some(Argument::Slot(*slot)),
            Expr::Call { function, arguments, .. } if function.name == "Length" => match arguments.as_slice()
            {
                [Expr::Slot(slot)] => Some(Argument::Length(*slot)),
                _ => None,
            },
            _ => None,
        };
        Some(Inputs { key, arguments: grouping.aggregates.iter().map(argument).collect::<Option<_>>()? })
    }
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
            by_key: HashMap::new(),
            groups: Vec::new(),
            bytes: 0,
            told: 0,
            begun: 0,
            key: Vec::new(),
            recent: Recent::default(),
            last: (Vec::new(), 0),
            inputs: Inputs::of(grouping),
            indices: Vec::new(),
            lengths: Vec::new(),
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
        match self.inputs.as_mut().map(|inputs| &mut inputs.key) {
            Some(KeyInput::Time { interval, last, group }) => {
                let begin = order.0 - order.0 % *interval;
                (*last, *group) = (begin..begin.saturating_add(*interval), found);
            }
            Some(KeyInput::Slot { slot, absent }) if scope.slot(*slot).is_none() => *absent = Some(found),
            _ => {}
        }
        let Some(group) = self.groups.get_mut(found) else { return };
        if order < group.first.0 {
            self.begun += 1;
            group.first = (order, self.begun);
            group.keys = shown(&grouping.keys, scope, order.0);
        }
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
        if let Some(known) = spelling.and_then(|spelling| self.recent.get(spelling)) {
            return known;
        }
        let found = self.evaluate(keys, scope, instant, order);
        if let Some(spelling) = spelling {
            self.recent.put(spelling, found);
        }
        found
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
        let found = self.look_up(keys, scope, instant, order);
        self.last.0.clone_from(&self.key);
        self.last.1 = found;
        found
    }

    /// The group of the present key; a new one if there is none yet.
    fn look_up<'a>(&mut self, keys: &'a [Key], scope: &mut Scope<'a>, instant: u64, order: Order) -> usize {
        if let Some(&known) = self.by_key.get(self.key.as_slice()) {
            return known;
        }
        self.begun += 1;
        self.groups.push(Group {
            first: (order, self.begun),
            keys: shown(keys, scope, instant),
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

/// The groups of some spellings of a single key. A place is taken over by who comes last.
struct Recent {
    places: Vec<(Box<[u8]>, usize)>,
}

/// A power of two.
const RECENT_PLACES: usize = 256;
const SPELLING_BYTES_MAX: usize = 64;

impl Default for Recent {
    fn default() -> Recent {
        Recent { places: vec![Default::default(); RECENT_PLACES] }
    }
}

impl Recent {
    /// From the length and the bytes at both ends: what keys of a log differ in.
    fn place(spelling: &[u8]) -> usize {
        let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let ends = match spelling.len() {
            0..8 => spelling.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
            _ => word(spelling.first_chunk()) ^ word(spelling.last_chunk()).rotate_left(29),
        };
        let mixed = (ends ^ spelling.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 32) as usize % RECENT_PLACES
    }

    fn get(&self, spelling: &[u8]) -> Option<usize> {
        let (known, group) = self.places.get(Recent::place(spelling))?;
        (**known == *spelling).then_some(*group)
    }

    fn put(&mut self, spelling: &[u8], group: usize) {
        if spelling.len() > SPELLING_BYTES_MAX {
            return;
        }
        if let Some(place) = self.places.get_mut(Recent::place(spelling)) {
            *place = (spelling.into(), group);
        }
    }
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
        let finder = window.finder;
        let is_known = |hit: &Hit| hit.is_certain && finder.knows_output(hit.index);
        if let Some(Inputs { key: KeyInput::None, .. }) = &self.groups.inputs {
            let indices = &mut self.groups.indices;
            indices.clear();
            hits.retain(|hit| {
                let is_taken = is_known(hit);
                if is_taken {
                    indices.push(hit.index);
                }
                !is_taken
            });
            self.groups.take_together(window);
        } else if self.groups.inputs.is_some() {
            let groups = &mut *self.groups;
            hits.retain(|hit| !(is_known(hit) && groups.take(&window.event(hit.index))));
        }
        self.groups.tell_memory(self.control)?;
        Ok((before - hits.len()) as u64)
    }
}

impl Groups<'_> {
    /// Takes in the events of the present indices: they all belong to the one group.
    fn take_together(&mut self, window: &Window<'_, '_>) {
        let Groups { inputs: Some(inputs), groups, bytes, key: scratch, indices, lengths, .. } = self else {
            return;
        };
        let Some(group) = groups.first_mut() else { return };
        for (argument, aggregator) in inputs.arguments.iter().zip(&mut group.aggregators) {
            match (argument, aggregator) {
                (Argument::Event, Aggregator::Count(count)) => *count += indices.len() as u64,
                (Argument::Length(slot), Aggregator::Sum(sum) | Aggregator::Mean(sum)) => {
                    window.finder.lengths(*slot, window.documents, indices, lengths);
                    let (mut total, mut count) = (0u64, 0);
                    for (index, length) in indices.iter().zip(&*lengths) {
                        match length {
                            Some(length) => (total, count) = (total + u64::from(*length), count + 1),
                            None => {
                                if let Value::Number(number) = argument.value(&window.event(*index)) {
                                    sum.add(&number);
                                }
                            }
                        }
                    }
                    sum.add_integers(total, count);
                }
                (argument, aggregator) => {
                    for index in &*indices {
                        let event = window.event(*index);
                        *bytes += aggregator.add(argument.value(&event), event.order, scratch);
                    }
                }
            }
        }
    }

    /// Takes in an event, if its group is known already.
    fn take(&mut self, found: &Found<'_, '_>) -> bool {
        let Groups { inputs: Some(inputs), groups, recent, bytes, key: scratch, .. } = self else {
            return false;
        };
        let group = match &inputs.key {
            KeyInput::None => Some(0),
            KeyInput::Slot { slot, absent } => match found.text(*slot) {
                [] => *absent,
                text => recent.get(text),
            },
            KeyInput::Time { last, group, .. } => last.contains(&found.order.0).then_some(*group),
        };
        let Some(group) = group.and_then(|group| groups.get_mut(group)) else { return false };
        if found.order < group.first.0 {
            return false;
        }
        for (argument, aggregator) in inputs.arguments.iter().zip(&mut group.aggregators) {
            match (argument, aggregator) {
                (Argument::Event, Aggregator::Count(count)) => *count += 1,
                (argument, aggregator) => {
                    *bytes += aggregator.add(argument.value(found), found.order, scratch);
                }
            }
        }
        true
    }
}

impl Argument {
    /// What an event gives the aggregate.
    #[inline]
    fn value<'d>(&self, found: &Found<'_, 'd>) -> Value<'d> {
        use tamias_json::Value as Stored;
        let stored = |slot| match found.text(slot) {
            [] => None,
            text => Some(Stored::of_scalar(text)),
        };
        match self {
            Argument::Event => Value::Bool(true),
            Argument::Slot(slot) => Value::maybe(stored(*slot)),
            Argument::Length(slot) => match stored(*slot) {
                Some(Stored::String(text)) => Value::from(Text::Stored(text).characters()),
                _ => Value::Undefined,
            },
        }
    }
}
