//! What a running query holds in memory, counted as its allocations take it.

use crate::error::{ExecError, Held};
use crate::source::Cache;
use std::cmp::Ordering::{Equal, Greater, Less};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// What all parts of a query may hold together, and what they hold.
pub(crate) struct Budget {
    limit_bytes: usize,
    held_bytes: AtomicUsize,
    /// What counts as well, but gives way.
    cache: Option<Arc<dyn Cache>>,
}

/// What a part of a query holds, as far as the budget knows.
#[derive(Debug, Default)]
pub(crate) struct Holding(usize);

impl Budget {
    pub(crate) fn new(limit_bytes: usize, cache: Option<Arc<dyn Cache>>) -> Budget {
        Budget { limit_bytes, held_bytes: AtomicUsize::new(0), cache }
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
        let Some(left) = self.limit_bytes.checked_sub(all) else {
            return Err(ExecError::MemoryExceeded { limit_bytes: self.limit_bytes, held });
        };
        if let Some(cache) = &self.cache
            && cache.held_bytes() > left
        {
            // Some more than need be, so that it is not asked for each small step.
            cache.shrink(left / 8 * 7);
        }
        Ok(())
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
        let budget = Budget::new(100, None);
        let (mut a, mut b) = (Holding::default(), Holding::default());
        let is_enough = |part: &mut Holding, bytes| budget.hold(part, bytes, Held::Groups).is_ok();
        assert!(is_enough(&mut a, 60) && is_enough(&mut b, 40));
        assert!(!is_enough(&mut a, 61) && is_enough(&mut b, 39) && is_enough(&mut a, 60));
        budget.release(&mut b);
        assert!(is_enough(&mut a, 100) && !is_enough(&mut b, 1));
    }

    #[test]
    fn a_cache_gives_way() {
        struct Bytes(AtomicUsize);
        impl Cache for Bytes {
            fn held_bytes(&self) -> usize {
                self.0.load(Relaxed)
            }
            fn shrink(&self, bytes_max: usize) {
                self.0.fetch_min(bytes_max, Relaxed);
            }
        }
        let cache = Arc::new(Bytes(AtomicUsize::new(80)));
        let budget = Budget::new(100, Some(cache.clone()));
        let mut part = Holding::default();
        for (bytes, left) in [(20, 80), (60, 40), (0, 40), (100, 0)] {
            assert!(budget.hold(&mut part, bytes, Held::Groups).is_ok());
            assert!(cache.held_bytes() <= left && (left == 0 || cache.held_bytes() >= left / 8 * 7));
        }
        assert!(budget.hold(&mut part, 101, Held::Groups).is_err());
    }
}
