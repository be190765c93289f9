//! Aggregates: a file each, and the table of their names.
//!
//! An aggregate is an [`Aggregate`], which says all that a plan needs to know of it, and its [`Accumulators`], which hold its state for
//! all groups of a thread. To add one, write a file with both and name it in the table below; the compiler tells what is missing.
//!
//! Values may come in any order, and be spread over threads in any way: what depends on order remembers the event's.

mod any_all;
mod best;
mod count;
mod count_distinct;
mod distinct;
mod exact;
mod extreme;
mod first_last;
mod identifiers;
mod percentile;
mod ranked;
mod seen_keys;
mod shares;
mod sketch;
mod spread;
mod squares;
mod state;
mod sum;
#[cfg(test)]
mod tests;
mod top_bottom;

pub(crate) use state::{Accumulators, EachValue, Groups, Known, Parameter};

use crate::chunk::{Chunk, Column, Order};
use crate::expr::Certain;
use crate::key_numbers::KeptKeys;
use crate::value::{Kind, Value};
use state::Aggregate;
use std::sync::Arc;

/// The table: each line is the name of a variant and the type that is the aggregate. What it generates has an arm for each of them.
macro_rules! aggregates {
    ($($variant:ident: $aggregate:ty,)*) => {
        /// An aggregate function with its constant arguments.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Function {
            $($variant($aggregate),)*
        }

        /// The state of an aggregate for all groups.
        pub(crate) enum State {
            $($variant(<$aggregate as Aggregate>::State),)*
        }

        /// The names of all aggregates but of those that have no word for a name.
        pub(crate) fn names() -> impl Iterator<Item = &'static str> {
            [$(<$aggregate>::NAME,)*].into_iter().filter(|name| !name.contains(' '))
        }

        /// What constants the aggregate of a name takes after its argument; none for another name.
        pub(crate) fn parameters(name: &str) -> Option<&'static [Parameter]> {
            $(if name.eq_ignore_ascii_case(<$aggregate>::NAME) {
                return Some(<$aggregate>::PARAMETERS);
            })*
            None
        }

        /// Whether the aggregate of a name gives several rows.
        pub(crate) fn gives_rows(name: &str) -> bool {
            $((<$aggregate>::GIVES_ROWS && name.eq_ignore_ascii_case(<$aggregate>::NAME)) ||)* false
        }

        /// The aggregate of a name with its constants, or the place of one that it cannot have, and why; none for another name.
        pub(crate) fn with_constants(name: &str, constants: &[f64]) -> Option<Result<Function, (usize, String)>> {
            $(if name.eq_ignore_ascii_case(<$aggregate>::NAME) {
                return Some(<$aggregate>::with_constants(constants).map(Function::$variant));
            })*
            None
        }

        impl Function {
            /// The aggregate as the language writes it.
            pub(crate) fn text(self, argument: &str) -> String {
                match self { $(Function::$variant(of) => of.text(argument),)* }
            }

            /// Of what kind its values are, where that is certain.
            pub(crate) fn kind(self, argument: Certain) -> Certain {
                match self { $(Function::$variant(of) => of.kind(argument),)* }
            }

            /// Whether it takes values of this kind, or passes over them.
            pub(crate) fn takes(self, kind: Kind) -> bool {
                match self { $(Function::$variant(of) => of.takes(kind),)* }
            }

            /// Whether it gives several rows.
            pub(crate) fn gives_rows(self) -> bool {
                match self { $(Function::$variant(_) => <$aggregate>::GIVES_ROWS,)* }
            }

            /// Whether events with a value that came before matter no more than by their number.
            pub(crate) fn takes_repeated(self) -> bool {
                match self { $(Function::$variant(_) => <$aggregate>::TAKES_REPEATED,)* }
            }

            /// Whether it makes a difference when the events happened.
            pub(crate) fn depends_on_order(self) -> bool {
                match self { $(Function::$variant(_) => <$aggregate>::DEPENDS_ON_ORDER,)* }
            }

            /// Whether what is known of an argument's values in a block is all that it needs of them.
            pub(crate) fn is_answered(self, by: &Known<'_>) -> bool {
                match self { $(Function::$variant(of) => of.is_answered(by),)* }
            }

            /// Whether what is known of the values of one argument tells another aggregate too.
            pub(crate) fn shares_state_with(self, other: Function) -> bool {
                match (self, other) {
                    $((Function::$variant(of), Function::$variant(other)) => of.shares_state_with(other),)*
                    _ => false,
                }
            }

            /// The value of a group. It is asked for once of each aggregate.
            pub(crate) fn finish(self, state: &State, group: u32) -> Value<'_> {
                match (self, state) {
                    $((Function::$variant(of), State::$variant(state)) => of.finish(state, group),)*
                    // A state is that of its function.
                    _ => Value::Undefined,
                }
            }

            pub(crate) fn state(self) -> State {
                match self { $(Function::$variant(of) => State::$variant(of.state()),)* }
            }
        }

        impl Accumulators for State {
            fn grow(&mut self, groups: usize) -> usize {
                match self { $(State::$variant(of) => of.grow(groups),)* }
            }

            fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
                match self { $(State::$variant(of) => of.update(groups, column, chunk),)* }
            }

            fn add(&mut self, group: u32, value: Value<'_>, order: Order, times: u64) -> usize {
                match self { $(State::$variant(of) => of.add(group, value, order, times),)* }
            }

            fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
                match self { $(State::$variant(of) => of.answer(group, by),)* }
            }

            fn needs_orders(&self, group: u32, of: &Known<'_>, earliest: Order) -> bool {
                match self { $(State::$variant(state) => state.needs_orders(group, of, earliest),)* }
            }

            fn merge(&mut self, other: State, group_of: &[u32]) -> usize {
                // The states of two threads are those of one plan, aggregate by aggregate.
                match self { $(State::$variant(of) => {
                    let State::$variant(other) = other else { return 0 };
                    of.merge(other, group_of)
                })* }
            }

            fn join(&mut self, other: State) -> usize {
                match self { $(State::$variant(of) => {
                    let State::$variant(other) = other else { return 0 };
                    of.join(other)
                })* }
            }

            fn append(&mut self, other: State, groups: usize, all: usize) -> usize {
                match self { $(State::$variant(of) => {
                    let State::$variant(other) = other else { return 0 };
                    of.append(other, groups, all)
                })* }
            }

            fn is_settled(&self, wanted: usize) -> bool {
                match self { $(State::$variant(of) => of.is_settled(wanted),)* }
            }

            fn finish(&self, group: u32) -> Value<'_> {
                match self { $(State::$variant(of) => of.finish(group),)* }
            }

            fn whole(&self, group: u32) -> Option<u64> {
                match self { $(State::$variant(of) => of.whole(group),)* }
            }

            fn estimate(&self, group: u32) -> Option<f64> {
                match self { $(State::$variant(of) => of.estimate(group),)* }
            }

            fn too_long(&self) -> u64 {
                match self { $(State::$variant(of) => of.too_long(),)* }
            }

            fn rows(&self, group: u32) -> Box<dyn Iterator<Item = Value<'static>> + '_> {
                match self { $(State::$variant(of) => of.rows(group),)* }
            }
        }
    };
}

aggregates! {
    Count: count::Count,
    Sum: sum::Sum,
    Min: extreme::Min,
    Max: extreme::Max,
    Mean: sum::Mean,
    Percentile: percentile::Percentile,
    Median: percentile::Median,
    Variance: spread::Variance,
    Deviation: spread::Deviation,
    First: first_last::First,
    Last: first_last::Last,
    Any: any_all::Any,
    All: any_all::All,
    Distinct: distinct::Distinct,
    CountDistinct: count_distinct::CountDistinct,
    Top: top_bottom::Top,
    Bottom: top_bottom::Bottom,
}

impl Function {
    pub(crate) const COUNT: Function = Function::Count(count::Count);
    pub(crate) const COUNT_DISTINCT: Function = Function::CountDistinct(count_distinct::CountDistinct);

    /// Whether it tells values apart only to count them.
    pub(crate) fn counts_distinct(self) -> bool {
        self == Function::COUNT_DISTINCT
    }

    /// Whether numbers are added up, and none of them is shown as it is spelled.
    pub(crate) fn adds_up(self) -> bool {
        matches!(self, Function::Sum(_) | Function::Mean(_))
    }

    /// Its state, where there may be keys of its argument that outlive the query, and all events may be one group.
    pub(crate) fn state_with(self, kept: Option<Arc<KeptKeys>>, is_one_group: bool) -> State {
        match (self, kept) {
            (Function::CountDistinct(_), Some(kept)) => {
                State::CountDistinct(count_distinct::DistinctCounts::with(kept, is_one_group))
            }
            (of, _) => of.state(),
        }
    }

    /// Whether it is `count`.
    pub(crate) fn counts(self) -> bool {
        self == Function::COUNT
    }
}
