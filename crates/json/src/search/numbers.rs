//! Many numbers compared with one, where they stand.

use super::{Documents, Needle};
use crate::number::Bound;
use std::cmp::Ordering;

impl Documents<'_> {
    /// For each place of a key's needle how the number behind the key stands to the bound; none where the value is
    /// no number. It replaces what `orders` holds.
    pub fn compare(
        &self,
        needle: &Needle,
        places: &[u32],
        bound: &Bound,
        orders: &mut Vec<Option<Ordering>>,
    ) {
        let key_bytes = needle.bytes().len();
        orders.clear();
        orders.extend(places.iter().map(|&place| {
            let value = self.bytes.get(place as usize + key_bytes..).unwrap_or_default();
            bound.compare_beginning(value)
        }));
    }
}
