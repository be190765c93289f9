//! The arrays at a path in all events of a block, and those in their elements.

use std::sync::Arc;
use tamias_shred::{Arrays, Numbers};

/// Where the elements of arrays are.
#[derive(Debug)]
pub(crate) struct ArrayColumn {
    /// For each element its event, or the element of other arrays that has its array.
    pub(crate) origins: Arc<[u32]>,
    /// How many elements the events or elements have that have an array.
    pub(crate) lengths: Arc<Numbers>,
}

impl ArrayColumn {
    pub(super) fn new(Arrays { rows, lengths }: Arrays, around: usize) -> ArrayColumn {
        let of_array = |(row, length): (&u32, &i64)| std::iter::repeat_n(*row, (*length).max(0) as usize);
        let origins = rows.iter().zip(&lengths).flat_map(of_array).collect();
        let rows = Some(rows).filter(|rows| rows.len() != around);
        ArrayColumn { origins, lengths: Arc::new(Numbers { rows, values: lengths, ..Numbers::default() }) }
    }

    /// The events or elements that have an array, and how many elements it has.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = (u32, u32)> {
        let row = |nth: u32| match &self.lengths.rows {
            None => nth,
            Some(rows) => rows.get(nth as usize).copied().unwrap_or_default(),
        };
        (0..).zip(&self.lengths.values).map(move |(nth, length)| (row(nth), *length as u32))
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.origins.len() * size_of::<u32>()
            + self.lengths.values.len() * (size_of::<i64>() + size_of::<u32>())
    }
}
