//! The encodings of columns, a file each: how values are written, read, and asked without being decoded.

use crate::error::{DecodeError, malformed};

pub(crate) mod dictionary;
pub(crate) mod difference;
pub(crate) mod fraction;
pub(crate) mod instants;
pub(crate) mod ints;
pub(crate) mod packed;
pub(crate) mod positions;
pub(crate) mod simple;
pub(crate) mod strings;
pub(crate) mod templates;
pub(crate) mod ticks;

/// Which values of a column are wanted: those from `from` on up to `to`, of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) count: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Window {
    /// All of them.
    pub(crate) fn whole(count: usize) -> Window {
        Window { count, from: 0, to: count }
    }

    /// Some of them.
    pub(crate) fn new(count: usize, from: usize, to: usize) -> Result<Window, DecodeError> {
        if from <= to && to <= count {
            Ok(Window { count, from, to })
        } else {
            Err(malformed("fewer values than its shapes need"))
        }
    }

    /// How many are wanted.
    pub(crate) fn len(self) -> usize {
        self.to - self.from
    }
}
