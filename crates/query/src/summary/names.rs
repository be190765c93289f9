//! The keys of a block's documents, found by their bytes.

use super::hash::{quick, same};

/// More names than this are not told apart.
const NAMES_MAX: usize = 2048;
/// So many places are looked at, whatever somebody chose the names for.
const PROBES_MAX: usize = 16;
const TABLE: usize = 2 * NAMES_MAX;

/// Distinct names, numbered in the order in which they came.
pub(super) struct Names<'d> {
    pub(super) names: Vec<&'d [u8]>,
    /// By the hash of a name: another part of the hash, and its number from 1.
    table: Vec<(u32, u32)>,
}

impl<'d> Names<'d> {
    pub(super) fn new() -> Names<'d> {
        Names { names: Vec::new(), table: vec![(0, 0); TABLE] }
    }

    /// The number of a name, new or known; none where there is no room for it.
    #[inline]
    pub(super) fn number(&mut self, name: &'d [u8]) -> Option<usize> {
        let hash = quick(name);
        let tag = (hash >> 32) as u32;
        for probe in 0..PROBES_MAX {
            let place = self.table.get_mut((hash as usize).wrapping_add(probe) % TABLE)?;
            match *place {
                (_, 0) if self.names.len() >= NAMES_MAX => return None,
                (_, 0) => {
                    self.names.push(name);
                    *place = (tag, self.names.len() as u32);
                    return Some(self.names.len() - 1);
                }
                (known, number) if known == tag => {
                    let number = number as usize - 1;
                    if self.names.get(number).is_some_and(|known| same(known, name)) {
                        return Some(number);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
