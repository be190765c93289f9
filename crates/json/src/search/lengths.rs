//! How many characters strings have, counted in the bytes where they stand.

use super::find::REACH;
use super::{Documents, FewDigits, Place};
use crate::access;
use crate::classify::{BLOCK, Kernel};
use crate::isa::Isa;
use crate::scan::Carry;
use crate::task::{Task, run};

/// The characters of some strings, and which others there are.
pub(super) fn all(
    isa: Isa,
    documents: Documents<'_>,
    values: &[Place],
    indices: &[u32],
    lengths: &mut Vec<FewDigits>,
    left: &mut Vec<u32>,
) {
    lengths.clear();
    left.clear();
    lengths.reserve(indices.len());
    run(isa, Lengths { bytes: documents.bytes, values, indices, lengths, left });
}

struct Lengths<'t> {
    bytes: &'t [u8],
    values: &'t [Place],
    indices: &'t [u32],
    lengths: &'t mut Vec<FewDigits>,
    left: &'t mut Vec<u32>,
}

impl Task for Lengths<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Lengths { bytes, values, indices, lengths, left } = self;
        for (at, index) in (0..).zip(indices) {
            let characters = match values.get(*index as usize) {
                Some(Place::Absent) => continue,
                Some(Place::Value(start, end)) => match bytes.get(*start as usize) {
                    Some(b'"') => characters(kernel, bytes, *start as usize, *end as usize),
                    _ => continue,
                },
                None | Some(Place::Unsure) => None,
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
#[expect(unsafe_code, reason = "vectors are read without checks in the innermost loop")]
fn characters<K: Kernel>(kernel: K, bytes: &[u8], start: usize, end: usize) -> Option<u64> {
    let (mut at, end) = (start + 1, end.checked_sub(1)?);
    if end + REACH > bytes.len() {
        return None;
    }
    let mut carry = Carry::default();
    let mut count = 0;
    while at < end {
        // SAFETY: `at < end`, behind which there are `REACH` bytes.
        let block = unsafe { access::array(bytes, at) };
        let inside = if end - at < BLOCK { (1 << (end - at)) - 1 } else { u64::MAX };
        let backslashes = kernel.equal(block, b'\\') & inside;
        let mut begun = kernel.begins(block) & inside;
        let escaped = carry.escapes(backslashes);
        if escaped != 0 {
            if escaped & inside & kernel.equal(block, b'u') != 0 {
                return None;
            }
            begun &= !escaped;
        }
        count += u64::from(begun.count_ones());
        at += BLOCK;
    }
    Some(count)
}
