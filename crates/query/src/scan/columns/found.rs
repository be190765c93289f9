//! What a scan of columns has found in a block.

use crate::chunk::{Decimals, EventRows, Mantissas};
use crate::column_block::PathColumn;
use crate::dictionary::Dictionary;
use std::ops::Range;
use std::sync::Arc;

/// The rows of a block that pass, and their values.
#[derive(Debug)]
pub(crate) struct Found {
    pub(super) rows: Passing,
    pub(super) outputs: Vec<Values>,
    /// For each row its event in the block, where they are elements that were unnested.
    pub(super) origins: Option<Arc<[u32]>>,
    /// How many events were looked at.
    pub(super) events: usize,
    /// How many elements of theirs, where those were unnested.
    pub(super) elements: usize,
    /// How many of them passed, those included of which no row is wanted.
    pub(super) hits: usize,
}

impl Found {
    /// The place of a row's event in the block.
    pub(super) fn event(&self, row: u32) -> usize {
        let origin = self.origins.as_ref().map(|origins| origins.get(row as usize).copied());
        origin.map_or(row, Option::unwrap_or_default) as usize
    }
}

/// The rows that pass, by their places in the block.
#[derive(Debug)]
pub(super) enum Passing {
    /// So many, of which no more is asked.
    Count(usize),
    All(Range<u32>),
    /// In the order in which they are given.
    Some(Arc<Vec<u32>>),
}

impl Passing {
    pub(super) fn len(&self) -> usize {
        match self {
            Passing::Count(count) => *count,
            Passing::All(all) => all.len(),
            Passing::Some(rows) => rows.len(),
        }
    }

    /// Their places in the block.
    pub(super) fn places(&self) -> impl Iterator<Item = u32> {
        let (all, some) = match self {
            Passing::Count(_) => (0..0, &[][..]),
            Passing::All(all) => (all.clone(), &[][..]),
            Passing::Some(rows) => (0..0, rows.as_slice()),
        };
        all.chain(some.iter().copied())
    }

    /// The same, where each is an event; none where they are only counted.
    pub(super) fn events(&self) -> Option<EventRows> {
        match self {
            Passing::Count(_) => None,
            Passing::All(all) => Some(EventRows::All(all.clone())),
            Passing::Some(rows) => Some(EventRows::Some(rows.clone())),
        }
    }

    /// Those from the `first` on, so many at most.
    pub(super) fn portion(&self, first: usize, count: usize) -> Vec<u32> {
        self.places().skip(first).take(count).collect()
    }
}

/// The values of an output.
#[derive(Debug)]
pub(super) enum Values {
    Nothing,
    /// By the places of rows in the block.
    Path(Arc<PathColumn>),
    /// By the rows that pass.
    Rows(Arc<Dictionary>),
    /// Numbers, and nothing else that counts, by the rows that pass.
    Numbers(Arc<Mantissas>),
    /// The same of numbers of more digits.
    Decimals(Arc<Decimals>),
    Undefined,
}
