//! The structural bytes of many documents, for whoever goes over all members of all of them.

use crate::access;
use crate::classify::{BLOCK, Kernel};
use crate::isa::Isa;
use crate::scan::{BYTES_MAX, Carry, SLACK};
use crate::task::{Task, run};
use std::mem::MaybeUninit;

/// Where `,` `:` `{` `}` `[` `]` stand outside of strings. It keeps its memory for the next documents.
///
/// Of a minified object's members, the key stands between a delimiter's quote and the quote before the colon, the value between
/// the colon and the next place; what comes at once behind the colon is a bracket. That is all that the offset list knows too, at a
/// quarter of its cost.
///
/// ```
/// use tamias_json::search::Structure;
///
/// let mut structure = Structure::new();
/// let places = structure.scan_trusted(b"{\"a\":\",\"}\n{\"b\":[1]}\n");
/// assert_eq!(places, [0, 4, 8, 10, 14, 15, 17, 18]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Structure {
    places: Vec<u32>,
}

impl Structure {
    /// Without any places.
    pub fn new() -> Structure {
        Structure::default()
    }

    /// The places in the documents, in order. None are found if they are more than [`BYTES_MAX`].
    ///
    /// The documents may be separated by line feeds; any bytes are safe. Takes time linear in the bytes, and four bytes of memory for
    /// each place.
    pub fn scan_trusted(&mut self, documents: &[u8]) -> &[u32] {
        self.scan_trusted_with(documents, Isa::best())
    }

    /// [`scan_trusted`](Structure::scan_trusted) by a given kernel.
    pub fn scan_trusted_with(&mut self, documents: &[u8], isa: Isa) -> &[u32] {
        self.places.clear();
        if documents.len() <= BYTES_MAX {
            run(isa, Scan { bytes: documents, places: &mut self.places });
        }
        &self.places
    }
}

struct Scan<'t> {
    bytes: &'t [u8],
    places: &'t mut Vec<u32>,
}

/// Bytes between two looks at the list's capacity.
const CHUNK: usize = 64 * BLOCK;

impl Task for Scan<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(unsafe_code, reason = "the list's room is managed by hand")]
    fn run<K: Kernel>(self, kernel: K) {
        let Scan { bytes, places } = self;
        let mut carry = Carry::default();
        let mut at = 0;
        while at < bytes.len() {
            let end = bytes.len().min(at + CHUNK);
            places.reserve(end - at + SLACK);
            let before = places.len();
            let room = places.spare_capacity_mut();
            let mut count = 0;
            while at + BLOCK <= end {
                // SAFETY: by the condition of the loop.
                let block = unsafe { access::array(bytes, at) };
                let marks = carry.marks(kernel, kernel.classify(block), at as u32);
                // SAFETY: the chunk has at most one place per byte, and there is room for `SLACK` more.
                count = unsafe { kernel.put_places(marks.structural, marks.base, room, count) };
                at += BLOCK;
            }
            if at < end {
                let marks = carry.marks(kernel, kernel.classify_last(bytes, at), at as u32);
                // SAFETY: as above.
                count = unsafe { kernel.put_places(marks.structural, marks.base, room, count) };
                at = end;
            }
            // SAFETY: so many were written behind the list's end.
            unsafe { places.set_len(before + count) };
        }
    }
}

/// Writes the places of the bits of a mask from `count` on, and gives the count with them.
///
/// # Safety
/// From `count` on there is room for as many as the mask has bits.
#[inline(always)]
#[expect(unsafe_code, reason = "the room was made before the chunk")]
pub(crate) unsafe fn put_places(mask: u64, base: u32, room: &mut [MaybeUninit<u32>], count: usize) -> usize {
    let (mut mask, mut count) = (mask, count);
    while mask != 0 {
        // SAFETY: the contract.
        let [place] = unsafe { access::array_mut(room, count) };
        place.write(base + mask.trailing_zeros());
        count += 1;
        mask &= mask - 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tamias_testdata::{Generator, nasty_documents};

    /// A backslash escapes the next byte wherever it stands.
    fn plain(bytes: &[u8]) -> Vec<u32> {
        let (mut places, mut in_string, mut is_escaped) = (Vec::new(), false, false);
        for (place, byte) in (0..).zip(bytes) {
            match byte {
                _ if is_escaped => {
                    is_escaped = false;
                    if !in_string && b",:{}[]".contains(byte) {
                        places.push(place);
                    }
                }
                b'\\' => is_escaped = true,
                b'"' => in_string = !in_string,
                b',' | b':' | b'{' | b'}' | b'[' | b']' if !in_string => places.push(place),
                _ => {}
            }
        }
        places
    }

    fn check(bytes: &[u8]) {
        let mut structure = Structure::new();
        for isa in Isa::available() {
            assert_eq!(structure.scan_trusted_with(bytes, isa), plain(bytes), "{}", isa.name());
        }
    }

    #[test]
    fn places_of_documents() {
        check(b"");
        let mut events = Vec::new();
        let mut generator = Generator::new(3, 200);
        while generator.write_next(&mut events) {}
        check(&events);
        for document in nasty_documents() {
            check(&document);
        }
        check(&nasty_documents().join(&b'\n'));
        check("{}[],:".repeat(3000).as_bytes());
    }

    proptest! {
        #[test]
        fn places_of_any_bytes(bytes in prop::collection::vec(prop::sample::select(&b"\"\"\"\\,:{}[]a1 \n"[..]), 0..400)) {
            check(&bytes);
        }

        #[test]
        fn places_far_apart(gaps in prop::collection::vec((0usize..200, prop::sample::select(&b"\"\\,:"[..])), 0..100)) {
            let bytes: Vec<u8> = gaps.iter().flat_map(|(gap, byte)| std::iter::repeat_n(b'x', *gap).chain([*byte])).collect();
            check(&bytes);
        }
    }
}
