//! Many numbers compared with one, where they stand.

use super::{Documents, Needle};
use crate::number::{Bound, compare_whole, whole_number};
use std::cmp::Ordering;

/// Which values are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Numbers less than the bound.
    pub less: bool,
    /// Numbers equal to it, whatever their spelling.
    pub equal: bool,
    /// Numbers greater than it.
    pub greater: bool,
    /// What is no number.
    pub others: bool,
}

impl Wanted {
    #[inline(always)]
    fn is(self, order: Option<Ordering>) -> bool {
        match order {
            Some(Ordering::Less) => self.less,
            Some(Ordering::Equal) => self.equal,
            Some(Ordering::Greater) => self.greater,
            None => self.others,
        }
    }
}

impl Documents<'_> {
    /// For each place of a key's needle whether the value behind the key is wanted, as it stands to the bound. It replaces what
    /// `kept` holds.
    pub fn compare(
        &self,
        needle: &Needle,
        places: &[u32],
        bound: &Bound,
        wanted: Wanted,
        kept: &mut Vec<bool>,
    ) {
        let key_bytes = needle.bytes().len();
        let text = |place: &u32| self.bytes.get(*place as usize + key_bytes..).unwrap_or_default();
        let any = |text: &[u8]| wanted.is(bound.compare_any_beginning(text));
        kept.clear();
        let Some(whole) = bound.whole() else {
            kept.extend(places.iter().map(|place| any(text(place))));
            return;
        };
        let by_order = [wanted.less, wanted.equal, wanted.greater];
        kept.extend(places.iter().map(|place| {
            let text = text(place);
            match text.first_chunk().map(|start| compare_whole(start, whole)) {
                Some((order, true)) => by_order[order % 3],
                _ => any(text),
            }
        }));
    }

    /// For each place of a key's needle whether the number behind the key equals one of the bounds. It replaces what `kept` holds.
    pub fn equals_any(&self, needle: &Needle, places: &[u32], bounds: &[Bound], kept: &mut Vec<bool>) {
        let key_bytes = needle.bytes().len();
        let wholes: Vec<u64> = bounds.iter().filter_map(Bound::whole).collect();
        let all_whole = wholes.len() == bounds.len();
        kept.clear();
        kept.extend(places.iter().map(|place| {
            let text = self.bytes.get(*place as usize + key_bytes..).unwrap_or_default();
            match text.first_chunk().map(whole_number) {
                Some((number, true)) if all_whole => wholes.contains(&number),
                _ => bounds.iter().any(|bound| bound.compare_beginning(text) == Some(Ordering::Equal)),
            }
        }));
    }
}
