//! How many characters strings have, counted in the bytes where they stand.

use super::answers::Span;
use super::documents::Documents;
use super::needle::REACH;
use super::numbers::{FewDigits, prefetch_ahead};
use crate::carry::Carry;
use tamias_simd::{Isa, Task, VECTOR, Vector};

impl Documents<'_> {
    /// How many characters the strings at some values have: those at `indices` whose value is a string. What it cannot tell, because
    /// there are escapes like `\u00e4` in it or the value is not sure, goes to `left`, as its place among the indices. They replace what
    /// the lists hold, and are in order.
    ///
    /// A character is what begins with a byte that continues no other.
    pub fn lengths(
        &self,
        isa: Isa,
        values: &[Span],
        indices: &[u32],
        lengths: &mut Vec<FewDigits>,
        left: &mut Vec<u32>,
    ) {
        lengths.clear();
        left.clear();
        lengths.reserve(indices.len());
        isa.run(Lengths { bytes: self.bytes(), values, indices, lengths, left });
    }
}

struct Lengths<'t> {
    bytes: &'t [u8],
    values: &'t [Span],
    indices: &'t [u32],
    lengths: &'t mut Vec<FewDigits>,
    left: &'t mut Vec<u32>,
}

impl Task for Lengths<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Lengths { bytes, values, indices, lengths, left } = self;
        for (at, index) in (0..).zip(indices) {
            prefetch_ahead(bytes, values, indices, at);
            let characters = match values.get(*index as usize) {
                Some(Span::Absent) => continue,
                Some(Span::Value(start, end)) => match bytes.get(*start as usize) {
                    Some(b'"') => characters(vector, bytes, *start as usize, *end as usize),
                    _ => continue,
                },
                None | Some(Span::Unsure) => None,
            };
            match characters {
                Some(characters) => lengths.push(FewDigits { significand: characters as i64, scale: 0, at }),
                None => left.push(at),
            }
        }
    }
}

/// The characters of a string from its quote up to behind the other. None where that takes more than counting bytes: where a
/// character is given by its number, or near the end of the bytes.
#[inline(always)]
fn characters<V: Vector>(vector: V, bytes: &[u8], start: usize, end: usize) -> Option<u64> {
    let (mut at, end) = (start + 1, end.checked_sub(1)?);
    if end + REACH > bytes.len() {
        return None;
    }
    let mut carry = Carry::default();
    let mut count = 0;
    while at < end {
        let window = bytes.get(at..)?.first_chunk()?;
        let inside = if end - at < VECTOR { (1 << (end - at)) - 1 } else { u64::MAX };
        let backslashes = vector.equal(window, b'\\') & inside;
        let mut begun = vector.begins(window) & inside;
        let escaped = carry.escapes(backslashes);
        if escaped != 0 {
            if escaped & inside & vector.equal(window, b'u') != 0 {
                return None;
            }
            begun &= !escaped;
        }
        count += u64::from(begun.count_ones());
        at += VECTOR;
    }
    Some(count)
}
