//! What a running query holds in memory, counted as its allocations take it.

use crate::error::{ExecError, Held};
use std::cmp::Ordering::{Equal, Greater, Less};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// What all parts of a query may hold together, and what they hold.
pub(crate) struct Budget {
    limit_bytes: usize,
    held_bytes: AtomicUsize,
}

/// What a part of a query holds, as far as the budget knows.
#[derive(Debug, Default)]
pub(crate) struct Holding(usize);

impl Budget {
    pub(crate) fn new(limit_bytes: usize) -> Budget {
        Budget { limit_bytes, held_bytes: AtomicUsize::new(0) }
    }

    /// Notes that a part holds so many bytes by now, more or fewer than before. Errs if all parts together hold more than they may.
    #[inline]
    pub(crate) fn hold(&self, part: &mut Holding, bytes: usize, held: Held) -> Result<(), ExecError> {
        let before = std::mem::replace(&mut part.0, bytes);
        let all = match bytes.cmp(&before) {
            Equal => self.held_bytes.load(Relaxed),
            Greater => self.held_bytes.fetch_add(bytes - before, Relaxed).saturating_add(bytes - before),
            Less => self.held_bytes.fetch_sub(before - bytes, Relaxed).saturating_sub(before - bytes),
        };
        match all <= self.limit_bytes {
            true => Ok(()),
            false => Err(ExecError::MemoryExceeded { limit_bytes: self.limit_bytes, held }),
        }
    }

    /// Notes that a part is gone.
    pub(crate) fn release(&self, part: &mut Holding) {
        self.held_bytes.fetch_sub(std::mem::take(&mut part.0), Relaxed);
    }
}

/// What a vector takes. Of one that is almost full also what it takes once it has grown: a budget is to end before that.
pub(crate) fn vec_bytes<T>(vec: &Vec<T>) -> usize {
    let bytes = vec.capacity() * size_of::<T>();
    if is_almost_full(vec.len(), vec.capacity()) { 2 * bytes } else { bytes }
}

/// Whether an allocation of so many places will soon be exchanged for one of twice as many.
pub(crate) fn is_almost_full(len: usize, capacity: usize) -> bool {
    // What is taken in between two looks is a chunk, which is much less than a quarter of what matters.
    len > capacity / 4 * 3
}

/// What the allocator takes for a small allocation beside its bytes, about.
pub(crate) const ALLOCATION_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_counts_what_all_parts_hold_at_a_time() {
        let budget = Budget::new(100);
        let (mut a, mut b) = (Holding::default(), Holding::default());
        let is_enough = |part: &mut Holding, bytes| budget.hold(part, bytes, Held::Groups).is_ok();
        assert!(is_enough(&mut a, 60) && is_enough(&mut b, 40));
        assert!(!is_enough(&mut a, 61) && is_enough(&mut b, 39) && is_enough(&mut a, 60));
        budget.release(&mut b);
        assert!(is_enough(&mut a, 100) && !is_enough(&mut b, 1));
    }

    #[test]
    fn a_vector_counts_as_grown_before_it_is() {
        let mut vec: Vec<u64> = Vec::with_capacity(16);
        assert_eq!(vec_bytes(&vec), 128);
        vec.resize(13, 0);
        assert_eq!(vec_bytes(&vec), 256);
        vec.resize(17, 0);
        assert_eq!(vec_bytes(&vec), vec.capacity() * 8);
    }
}
