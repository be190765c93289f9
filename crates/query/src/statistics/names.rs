//! The keys of a block's documents, found by their bytes.

use super::text::{Text, Words};

/// More names than this are not told apart.
const NAMES_MAX: usize = 2048;
/// So many places are looked at, whatever somebody chose the names for.
const PROBES_MAX: usize = 16;
const TABLE: usize = 2 * NAMES_MAX;

/// Distinct names, numbered in the order in which they came.
pub(super) struct Names<'d> {
    names: Vec<Text<'d>>,
    /// By the hash of a name, its number from 1.
    table: Vec<u16>,
    /// By the hash of a short name, the number of the last such name that was asked for; at first none.
    recent: Vec<u16>,
}

impl<'d> Names<'d> {
    pub(super) fn new() -> Names<'d> {
        Names { names: Vec::new(), table: vec![0; TABLE], recent: vec![u16::MAX; TABLE] }
    }

    /// The name with a number.
    pub(super) fn name(&self, number: usize) -> Option<&'d [u8]> {
        self.names.get(number).map(|name| name.bytes)
    }

    /// The number of the name from `start` up to `end`, if it is short and was asked for lately, as most are.
    #[inline(always)]
    pub(super) fn recent(&self, documents: &[u8], start: usize, end: usize) -> Option<usize> {
        let words = Words::of_short(documents, start, end)?;
        let number = usize::from(*self.recent.get(words.hash() % TABLE)?);
        self.names.get(number).is_some_and(|name| name.words == words).then_some(number)
    }

    /// The number of the name from `start` up to `end`, new or known; none where there is no room for it.
    #[inline(never)]
    pub(super) fn number(&mut self, documents: &'d [u8], start: usize, end: usize) -> Option<usize> {
        let name = Text::at(documents, start, end)?;
        let number = self.known_or_new(&name)?;
        if name.is_short()
            && let Some(recent) = self.recent.get_mut(name.words.hash() % TABLE)
        {
            *recent = number as u16;
        }
        Some(number)
    }

    fn known_or_new(&mut self, name: &Text<'d>) -> Option<usize> {
        let hash = name.words.hash();
        for probe in 0..PROBES_MAX {
            let place = self.table.get_mut(hash.wrapping_add(probe) % TABLE)?;
            match usize::from(*place).checked_sub(1) {
                Some(number) if self.names.get(number).is_some_and(|known| known.is(name)) => {
                    return Some(number);
                }
                Some(_) => {}
                None if self.names.len() >= NAMES_MAX => return None,
                None => {
                    self.names.push(*name);
                    *place = self.names.len() as u16;
                    return Some(self.names.len() - 1);
                }
            }
        }
        None
    }
}
