//! The states of a grouping's aggregates. Where one state tells several of them, as it does percentiles of one argument, they share it.

use crate::aggregate::{Accumulators, Function, Groups, Known, State};
use crate::chunk::{Chunk, Order};
use crate::key_numbers::KeptKeys;
use crate::plan::Grouping;
use crate::value::Value;
use std::sync::Arc;

/// The states, each of all groups.
pub(super) struct States {
    functions: Vec<Function>,
    all: Vec<State>,
    /// For each state the first aggregate that it is of.
    owners: Vec<usize>,
    /// For each aggregate the place of its state.
    places: Vec<usize>,
}

impl States {
    /// No values yet. `columns` are those of the arguments, `kept` their keys that outlive the query.
    pub(super) fn new(grouping: &Grouping, columns: &[usize], kept: &[Option<Arc<KeptKeys>>]) -> States {
        let Grouping { keys, aggregates, .. } = grouping;
        let functions: Vec<Function> = aggregates.iter().map(|aggregate| aggregate.function).collect();
        let mut states = States { functions, all: Vec::new(), owners: Vec::new(), places: Vec::new() };
        for (at, function) in states.functions.iter().enumerate() {
            let is_told = |owner: &usize| {
                let own = states.functions.get(*owner);
                columns.get(*owner) == columns.get(at)
                    && own.is_some_and(|own| function.shares_state_with(*own))
            };
            let place = states.owners.iter().position(is_told).unwrap_or_else(|| {
                states.owners.push(at);
                let kept = kept.get(at).cloned().flatten();
                states.all.push(function.state_with(kept, keys.is_empty()));
                states.all.len() - 1
            });
            states.places.push(place);
        }
        states
    }

    /// Makes room for so many groups: by how many bytes they grew.
    pub(super) fn grow(&mut self, groups: usize) -> usize {
        self.all.iter_mut().map(|state| state.grow(groups)).sum()
    }

    /// Takes in the rows of a chunk by the columns of the arguments: by how many bytes they grew.
    pub(super) fn update(&mut self, groups: Groups<'_>, columns: &[usize], chunk: &Chunk<'_>) -> usize {
        let each = self.all.iter_mut().zip(&self.owners);
        let columns = each.filter_map(|(state, owner)| Some((state, columns.get(*owner)?)));
        columns.map(|(state, column)| state.update(groups, chunk.column(*column), chunk)).sum()
    }

    /// Each state, with the first aggregate that it is of.
    pub(super) fn each(&mut self) -> impl Iterator<Item = (usize, &mut State)> {
        self.owners.iter().copied().zip(&mut self.all)
    }

    /// Takes in events of a group by what is known of each aggregate's argument: by how many bytes they grew.
    pub(super) fn answer(&mut self, group: u32, known: &[Known<'_>]) -> usize {
        let each = self.each().filter_map(|(owner, state)| Some((state, known.get(owner)?)));
        each.map(|(state, known)| state.answer(group, known)).sum()
    }

    /// Whether it makes a difference for a group when the events of a block happened, none of which is earlier than that place in time.
    pub(super) fn need_orders(&self, group: u32, known: &[Known<'_>], earliest: Order) -> bool {
        self.owners.iter().zip(&self.all).any(|(owner, state)| {
            let depends = self.functions.get(*owner).is_some_and(|function| function.depends_on_order());
            depends && known.get(*owner).is_none_or(|known| state.needs_orders(group, known, earliest))
        })
    }

    /// The states in their order, to be merged with those of another thread.
    pub(super) fn with(&mut self, other: States) -> impl Iterator<Item = (&mut State, State)> {
        self.all.iter_mut().zip(other.all)
    }

    /// Takes in the states of groups that follow so many, and are so many then with these: by how many bytes they grew.
    pub(super) fn append(&mut self, other: States, groups: usize, all: usize) -> usize {
        self.with(other).map(|(own, other)| own.append(other, groups, all)).sum()
    }

    /// Takes in the states of the one group there is, which have no values in common with these: by how many bytes they grew.
    pub(super) fn join(&mut self, other: States) -> usize {
        self.with(other).map(|(own, other)| own.join(other)).sum()
    }

    /// Whether no event that comes later in time can change the first so many values of the one group there is.
    pub(super) fn are_settled(&self, wanted: usize) -> bool {
        self.all.iter().all(|state| state.is_settled(wanted))
    }

    /// The value of an aggregate for a group; it is asked for once.
    pub(super) fn finish(&self, aggregate: usize, group: u32) -> Value<'_> {
        let function = self.functions.get(aggregate);
        let state = self.places.get(aggregate).and_then(|place| self.all.get(*place));
        function.zip(state).map_or(Value::Undefined, |(function, state)| function.finish(state, group))
    }

    /// The same where it is a whole number; none where it may be another one.
    pub(super) fn whole(&self, aggregate: usize, group: u32) -> Option<u64> {
        self.places.get(aggregate).and_then(|place| self.all.get(*place)).and_then(|state| state.whole(group))
    }

    /// A binary number near to the same, as [`Accumulators::estimate`] has it. It is that of the state: none of one that tells several aggregates has it.
    pub(super) fn estimate(&self, aggregate: usize, group: u32) -> Option<f64> {
        let state = self.places.get(aggregate).and_then(|place| self.all.get(*place));
        state.and_then(|state| state.estimate(group))
    }

    /// The state of an aggregate that gives several rows.
    pub(super) fn several(&self, aggregate: usize) -> Option<&State> {
        self.places.get(aggregate).and_then(|place| self.all.get(*place))
    }

    /// For each aggregate how many numbers had too many digits.
    pub(super) fn too_long(&self) -> impl Iterator<Item = u64> {
        self.places.iter().map(|place| self.all.get(*place).map_or(0, Accumulators::too_long))
    }
}
