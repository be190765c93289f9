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
}
