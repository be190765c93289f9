//! Operators over chunks: grouping, sorting, merging, and threads.

mod answer;
mod assign;
mod beginning;
mod cursor;
mod group;
mod group_best;
mod group_rows;
mod group_values;
mod held;
mod kept;
mod merge;
mod parallel;
mod parts;
mod read_ahead;
mod several;
mod shown;
mod sort;
mod sorted;
mod states;
mod threads;

pub(crate) use group::Groups;
pub(crate) use group_rows::{Finished, GroupRows};
pub(crate) use kept::KeptOf;
pub(crate) use merge::Merge;
pub(crate) use parallel::groups;
pub(crate) use read_ahead::ReadAhead;
pub(crate) use sort::{Sorter, single};
pub(crate) use sorted::SortedRows;
