//! Rows taken into groups. They may come in any order: what depends on it remembers the event's.

use super::group_rows::{ClosedGroups, Finished, GroupRows};
use super::kept::KeptOf;
use super::shown::{Group, GroupKeys};
use super::states::States;
use crate::aggregate::{Accumulators, Groups as GroupNumbers, Known};
use crate::allocated::Pages;
use crate::chunk::{Chunk, Order};
use crate::control::Control;
use crate::error::{ExecError, Held};
use crate::expr::Scope;
use crate::key_table::Found;
use crate::keys::{Met, Taken};
use crate::memory::Holding;
use crate::outputs::{GroupOutputs, KeyColumn};
use crate::plan::{Grouping, Key, Plan};
use crate::value::{Value, write_json};
use crate::zone::Intervals;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

/// Blocks come so many places too late at most, where it is to be told quickly which groups were begun before them.
const HISTORY_MAX: usize = 64;

/// So many groups are merged before it is asked whether to go on.
const MERGED_UNCHECKED: u32 = 4096;

/// The groups of a thread.
pub(crate) struct Groups<'p> {
    grouping: &'p Grouping,
    pub(super) keys: Vec<KeyColumn>,
    arguments: Vec<usize>,
    /// From their keys to the numbers of groups.
    pub(super) tables: GroupKeys,
    groups: Pages<Group>,
    states: States,
    /// No group's first event comes later.
    pub(super) latest: Order,
    /// What was the latest when there were so many groups, of the last few times that there were more: both rise.
    history: VecDeque<(Order, u32)>,
    /// How often a group was begun, or an earlier event of it found: tells groups of one event apart.
    begun: u32,
    /// What the states take, about, in bytes.
    bytes: usize,
    holding: Holding,
    /// The group of each row of a chunk.
    numbers: Vec<u32>,
    /// For each entry of a dictionary one more than the number of its group; 0 where it was not met yet.
    pub(super) known: Vec<u32>,
}

impl<'p> Groups<'p> {
    /// No groups yet.
    pub(crate) fn new(grouping: &'p Grouping, kept: &KeptOf) -> Groups<'p> {
        let GroupOutputs { keys, arguments, .. } = GroupOutputs::of(grouping);
        let mut groups = Groups {
            grouping,
            tables: GroupKeys::new(&keys, &kept.keys),
            keys,
            states: States::new(grouping, &arguments, &kept.arguments),
            arguments,
            groups: Pages::default(),
            latest: (0, 0),
            history: VecDeque::new(),
            begun: 0,
            bytes: 0,
            holding: Holding::default(),
            numbers: Vec::new(),
            known: Vec::new(),
        };
        if grouping.keys.is_empty() {
            groups.groups.push(Group { first: (u64::MAX, u64::MAX), begun: 0, is_apart: false });
            groups.make_room();
        }
        groups
    }

    /// The groups as a part of those of a query.
    pub(super) fn into_part(mut self) -> Groups<'p> {
        self.tables.be_part();
        self
    }

    /// So many groups, the first ones, surely have no first event that comes later than a place in time.
    pub(super) fn begun_before(&self, order: Order) -> u32 {
        let before = self.history.iter().rev().find(|(latest, _)| *latest <= order);
        before.map_or(0, |(_, groups)| *groups)
    }

    /// The columns of the aggregates' arguments.
    pub(super) fn arguments(&self) -> &[usize] {
        &self.arguments
    }

    pub(super) fn grouping(&self) -> &'p Grouping {
        self.grouping
    }

    /// Takes in the rows of a chunk.
    pub(crate) fn take(&mut self, chunk: &Chunk<'_>, control: &Control) -> Result<(), ExecError> {
        if chunk.len() == 0 {
            return Ok(());
        }
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        self.assign(chunk, &mut numbers);
        self.make_room();
        let groups = match numbers.as_slice() {
            [] => GroupNumbers::One(0),
            [first, others @ ..] if others.iter().all(|other| other == first) => GroupNumbers::One(*first),
            numbers => GroupNumbers::Each(numbers),
        };
        self.bytes += self.states.update(groups, &self.arguments, chunk);
        self.numbers = numbers;
        self.tell_memory(control)
    }

    /// Takes in so many events that are alike in what the groups read of them, of which this is the first.
    pub(super) fn add<'a>(
        &mut self,
        grouping: &'a Grouping,
        scope: &mut Scope<'a>,
        order: Order,
        times: u64,
        control: &Control,
    ) -> Result<(), ExecError> {
        let group = self.of_event(&grouping.keys, scope, order);
        self.make_room();
        for (aggregate, state) in self.states.each() {
            let Some(aggregate) = grouping.aggregates.get(aggregate) else { continue };
            let value = aggregate.argument.eval(scope);
            self.bytes += state.add(group, value, order, times);
        }
        scope.take_failure()?;
        self.tell_memory(control)
    }

    /// The group of an event, by evaluating its keys.
    fn of_event<'a>(&mut self, keys: &'a [Key], scope: &mut Scope<'a>, order: Order) -> u32 {
        let interval_of = |intervals: &Intervals| intervals.around(order.0).start;
        let values: Vec<Value<'_>> = keys
            .iter()
            .map(|key| match key {
                Key::Time(intervals) => Value::from(interval_of(intervals)),
                Key::Expr { expr, .. } => expr.eval(scope),
            })
            .collect();
        if keys.is_empty() {
            return 0;
        }
        let spelled = |value: &Value<'_>| {
            let mut json = Vec::new();
            write_json(value, &mut json);
            json
        };
        let spelled: Vec<Vec<u8>> = values.iter().map(spelled).collect();
        let found = match (keys, spelled.as_slice()) {
            ([_], [json]) => self.tables.single.find(json),
            (_, spelled) => {
                let found = self.tables.several.find(spelled.iter().map(Vec::as_slice));
                Met { found, is_told: false }
            }
        };
        self.meet(found, order, || values.into_iter().map(Value::into_static).collect());
        found.found.number()
    }

    /// Notes an event of a group, in case it is its first.
    #[inline]
    pub(super) fn meet(
        &mut self,
        Met { found, is_told }: Met,
        order: Order,
        shown: impl FnOnce() -> Box<[Value<'static>]>,
    ) {
        match found {
            Found::Known(_) if order >= self.latest => {}
            Found::Known(number) => self.begin_earlier(number, order, is_told, shown),
            Found::New(number) => self.begin(number, order, is_told, shown),
        }
    }

    /// Notes an event of a group that is earlier than its first one, if it is.
    fn begin_earlier(
        &mut self,
        number: u32,
        order: Order,
        is_told: bool,
        shown: impl FnOnce() -> Box<[Value<'static>]>,
    ) {
        if let Some(group) = self.groups.get_mut(number as usize).filter(|group| order < group.first) {
            self.begun = self.begun.saturating_add(1);
            *group = Group { first: order, begun: self.begun, is_apart: !is_told };
            if !is_told {
                self.tables.keep_apart(number, shown());
            }
        }
    }

    /// Begins a new group, whose keys are `shown` where the tables do not tell them as its event has them.
    #[inline]
    pub(super) fn begin(
        &mut self,
        number: u32,
        order: Order,
        is_told: bool,
        shown: impl FnOnce() -> Box<[Value<'static>]>,
    ) {
        self.begun = self.begun.saturating_add(1);
        self.latest = self.latest.max(order);
        self.groups.push(Group { first: order, begun: self.begun, is_apart: !is_told });
        if !is_told {
            self.tables.keep_apart(number, shown());
        }
    }

    /// Gives each group a state of each aggregate.
    fn make_room(&mut self) {
        let groups = self.groups.len();
        self.bytes += self.states.grow(groups);
        if self.history.back().is_none_or(|(_, known)| (*known as usize) < groups) {
            if self.history.len() == HISTORY_MAX {
                self.history.pop_front();
            }
            self.history.push_back((self.latest, groups as u32));
        }
    }

    /// Takes in events of a group by what is known of each aggregate's argument.
    pub(super) fn answer(
        &mut self,
        group: u32,
        known: &[Known<'_>],
        control: &Control,
    ) -> Result<(), ExecError> {
        self.make_room();
        self.bytes += self.states.answer(group, known);
        self.tell_memory(control)
    }

    /// Whether it makes a difference when the events of a block happened, all of which are taken in without keys.
    pub(super) fn need_orders(&self, known: &[Known<'_>], earliest: Order) -> bool {
        self.states.need_orders(0, known, earliest)
    }

    /// Tells the query what the groups hold. Errs if that is more than it may.
    fn tell_memory(&mut self, control: &Control) -> Result<(), ExecError> {
        let bytes = self.held_bytes();
        control.budget.hold(&mut self.holding, bytes, Held::Groups)
    }

    /// What the groups hold, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes + self.groups.bytes() + self.tables.bytes()
    }

    /// Takes in the groups of other events.
    pub(crate) fn merge(&mut self, mut other: Groups<'p>, control: &Control) -> Result<(), ExecError> {
        let mut group_of = vec![0; other.groups.len()];
        self.latest = self.latest.max(other.latest);
        let Groups { groups: others, tables: of_others, .. } = &other;
        let (mut single, mut several) =
            (std::mem::take(&mut self.tables.single), std::mem::take(&mut self.tables.several));
        let mut place = |number: u32, found: Found| {
            if let Some(place) = group_of.get_mut(number as usize) {
                *place = found.number();
            }
            others.get(number as usize)
        };
        let check = |own: &mut Self, number: u32, tables: &dyn Fn() -> usize| {
            if number.is_multiple_of(MERGED_UNCHECKED) {
                control.check()?;
                let bytes = own.held_bytes() + tables();
                control.budget.hold(&mut own.holding, bytes, Held::Groups)?;
            }
            Ok::<(), ExecError>(())
        };
        let mut take = |own: &mut Self, Taken { there, found, is_alike, bytes }: Taken<'_>| {
            if let Some(group) = place(there, found) {
                let is_apart = group.is_apart || !is_alike;
                own.take_group(found, Group { is_apart, ..*group }, || of_others.own_values(there, group));
            }
            check(own, there, bytes)
        };
        let of_one = single.try_merge(&of_others.single, |taken| take(self, taken));
        let of_several =
            of_one.and_then(|()| several.try_merge(&of_others.several, |taken| take(self, taken)));
        (self.tables.single, self.tables.several) = (single, several);
        of_several?;
        // Of the states it is not known how much is new: as if all were, and then as it is.
        let bytes = self.held_bytes() + other.bytes;
        control.budget.hold(&mut self.holding, bytes, Held::Groups)?;
        self.make_room();
        for (own, other) in self.states.with(other.states) {
            control.check()?;
            self.bytes += own.merge(other, &group_of);
        }
        control.budget.release(&mut other.holding);
        self.tell_memory(control)
    }

    /// Takes in the groups of keys that are none of these, or of values that are none of these where there are no keys. Nothing is found any more.
    pub(super) fn append(&mut self, mut other: Groups<'p>, control: &Control) -> Result<(), ExecError> {
        if self.keys.is_empty() {
            control.check()?;
            self.bytes += self.states.join(other.states);
            control.budget.release(&mut other.holding);
            return self.tell_memory(control);
        }
        let before = self.groups.len();
        if !self.tables.append(&mut other.tables, before as u32) {
            return self.merge(other, control);
        }
        control.check()?;
        self.latest = self.latest.max(other.latest);
        other.groups.into_iter().for_each(|group| self.groups.push(group));
        self.bytes += self.states.append(other.states, before, self.groups.len());
        control.budget.release(&mut other.holding);
        self.tell_memory(control)
    }

    /// Takes in a group of other events by what was found of its keys here. `values` are its keys, for the case that they are not shown by the tables.
    fn take_group(&mut self, found: Found, group: Group, values: impl FnOnce() -> Box<[Value<'static>]>) {
        let number = found.number();
        match self.groups.get_mut(number as usize) {
            Some(known) if known.place() <= group.place() => return,
            Some(known) => *known = group,
            None => self.groups.push(group),
        }
        if group.is_apart {
            self.tables.keep_apart(number, values());
        }
    }

    /// Whether no event that comes later in time can change the rows that are wanted: those of a `distinct` or `top`
    /// with nothing behind it that would have to see all values.
    pub(crate) fn is_settled(&self, plan: &Plan) -> bool {
        let Grouping { keys, having, sort, .. } = self.grouping;
        let wanted = match plan.limit {
            Some(limit) if having.is_none() && sort.is_empty() => {
                usize::try_from(limit).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        };
        keys.is_empty() && self.states.are_settled(wanted)
    }

    /// The rows of the groups, in their order: made as they are asked for, unless they are to be sorted, or all of them are looked at though few are wanted.
    pub(crate) fn finish(mut self, plan: &Plan, control: &Control) -> Result<Finished, ExecError> {
        control.profile.groups.store(self.groups.len() as u64, Relaxed);
        self.tables.close();
        let bytes = self.bytes + self.groups.bytes() + self.tables.closed_bytes();
        control.budget.hold(&mut self.holding, bytes, Held::Groups)?;
        let order = match self.best(plan, control)? {
            Some(best) => Some(best),
            None => self.order(),
        };
        let Groups { grouping, groups, states, tables, holding, .. } = self;
        let closed = ClosedGroups { groups, order, states, tables, holding };
        let gives_rows = grouping.aggregates.iter().any(|of| of.function.gives_rows());
        // Each group has a row where there is no `having`.
        let may_stop = plan.limit.is_none() || grouping.having.is_none() && !control.watch.looks_at_answers();
        if grouping.sort.is_empty() && may_stop && !gives_rows {
            let rows = GroupRows::new(closed, plan.limit, plan.columns.len());
            return Ok(Finished::Made(Box::new(rows)));
        }
        closed.sort(grouping, plan, control).map(Finished::Sorted)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether nothing was taken in: without keys, as far as the one state tells that there is.
    pub(super) fn are_untouched(&self) -> bool {
        if self.keys.is_empty() { self.states.whole(0, 0) == Some(0) } else { self.len() == 0 }
    }

    pub(super) fn states(&self) -> &States {
        &self.states
    }

    /// What a group comes in order by: its first event. Of groups by time this is the order of their intervals too.
    pub(super) fn place_of(&self, number: u32) -> (Order, u32) {
        self.groups.get(number as usize).map(Group::place).unwrap_or_default()
    }

    /// The numbers of the groups in the order of their places. None where they are in order.
    fn order(&self) -> Option<Vec<u32>> {
        // Of a single thread they mostly are.
        if self.groups.iter().is_sorted_by_key(Group::place) {
            return None;
        }
        Some(self.sorted_by_words().unwrap_or_else(|| {
            let mut order: Vec<u32> = (0..self.len() as u32).collect();
            order.sort_by_key(|number| self.place_of(*number));
            order
        }))
    }

    /// The same by words that hold an event's place in time and the group's number; none where these have no room.
    fn sorted_by_words(&self) -> Option<Vec<u32>> {
        let firsts = || self.groups.iter().map(|group| group.first);
        let ends = |part: fn(Order) -> u64| {
            let parts = firsts().map(part);
            parts.fold((u64::MAX, 0), |(least, greatest), part| (least.min(part), greatest.max(part)))
        };
        let (instants, arrivals) = (ends(|order| order.0), ends(|order| order.1));
        let bits = |number: u64| u64::BITS - number.leading_zeros();
        let of_number = bits(self.len() as u64);
        let of_arrival = bits(arrivals.1 - arrivals.0);
        if bits(instants.1 - instants.0) + of_arrival + of_number > u128::BITS {
            return None;
        }
        let word = |((instant, arrival), number): (Order, u32)| {
            let instant = u128::from(instant - instants.0) << of_arrival;
            (instant | u128::from(arrival - arrivals.0)) << of_number | u128::from(number)
        };
        let mut words: Vec<u128> = firsts().zip(0..).map(word).collect();
        // Those of several threads or parts are runs that are in order.
        words.sort();
        let mut order: Vec<u32> = words.iter().map(|word| (word & ((1 << of_number) - 1)) as u32).collect();
        let mut rest = order.as_mut_slice();
        for of_event in words.chunk_by(|one, other| one >> of_number == other >> of_number) {
            let (alike, others) = rest.split_at_mut(of_event.len());
            if alike.len() > 1 {
                alike.sort_by_key(|number| self.place_of(*number));
            }
            rest = others;
        }
        Some(order)
    }
}
