//! Whether a key that was found lies at its document's top level.

use super::documents::Documents;
use super::needle::REACH;
use crate::carry::Carry;
use tamias_simd::{VECTOR, Vector};

/// The most places in a document that are looked at one by one. Each takes time linear in the document.
pub(super) const SEVERAL: usize = 4;

/// Whether a key that a document has once, at `place`, lies at the document's top level; none where that takes a scan.
#[inline(always)]
pub(super) fn top_level<V: Vector>(
    vector: V,
    documents: Documents<'_>,
    index: usize,
    place: usize,
    key_bytes: usize,
) -> Option<bool> {
    let (bytes, document) = (documents.bytes(), documents.range(index));
    // No key of a valid document begins before it, or with its first byte, or reaches to its end.
    if place <= document.start || place + key_bytes >= document.end || document.end + REACH > bytes.len() {
        return None;
    }
    if documents.is_plain(index) {
        return Some(true);
    }
    // Behind a backslash it ends a longer key.
    if bytes.get(place - 1) == Some(&b'\\') {
        return None;
    }
    is_at_top(vector, bytes, document.start, place)
}

/// Whether a key at `place` is one of the top level; none where fewer than [`REACH`] bytes follow.
#[inline(always)]
fn is_at_top<V: Vector>(vector: V, bytes: &[u8], start: usize, place: usize) -> Option<bool> {
    // Every object that is not empty begins with this pair. If it comes once up to the key's quote, that is the document's own.
    let mut count = 0;
    let mut left = place.checked_sub(start)?;
    for window in bytes.get(start..place + VECTOR)?.array_windows::<{ VECTOR + 1 }>().step_by(VECTOR) {
        let (Some(curly), Some(quotes)) = (window.first_chunk(), window.last_chunk()) else { break };
        let mut pairs = vector.both(curly, b'{', quotes, b'"');
        if left < VECTOR {
            pairs &= (1 << left) - 1;
        }
        count += pairs.count_ones();
        left = left.saturating_sub(VECTOR);
    }
    Some(count == 1 || depth(vector, bytes, start, place)? == 1)
}

/// How many objects and arrays are open at `place`; none where fewer than [`REACH`] bytes follow.
#[inline(always)]
fn depth<V: Vector>(vector: V, bytes: &[u8], start: usize, place: usize) -> Option<i64> {
    let mut carry = Carry::default();
    let mut depth = 0;
    let mut at = start;
    while at < place {
        let window = bytes.get(at..)?.first_chunk()?;
        let marks = carry.marks(vector, vector.classify(window), 0);
        let mut brackets = marks.brackets & marks.delimiters;
        if place - at < VECTOR {
            brackets &= (1 << (place - at)) - 1;
        }
        // '{' 7B and '[' 5B open; without the bit 20 they are the same.
        let opening = vector.equal(window, b'{') | vector.equal(window, b'[');
        depth += i64::from((brackets & opening).count_ones()) - i64::from((brackets & !opening).count_ones());
        at += VECTOR;
    }
    Some(depth)
}
