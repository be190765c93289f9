//! The structural bytes of many documents, for whoever goes over all members of all of them.

use crate::carry::Carry;
use crate::limits::BYTES_MAX;
use tamias_simd::{Isa, Room, Task, VECTOR, Vector};

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

    /// [`scan_trusted`](Structure::scan_trusted) by a given vector.
    pub fn scan_trusted_with(&mut self, documents: &[u8], isa: Isa) -> &[u32] {
        self.places.clear();
        if documents.len() <= BYTES_MAX {
            isa.run(Scan { bytes: documents, places: &mut self.places });
        }
        &self.places
    }
}

struct Scan<'t> {
    bytes: &'t [u8],
    places: &'t mut Vec<u32>,
}

/// Bytes between two looks at the list's capacity.
const CHUNK: usize = 64 * VECTOR;

impl Task for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Scan { bytes, places } = self;
        let mut carry = Carry::default();
        let mut at = 0;
        for chunk in bytes.chunks(CHUNK) {
            let mut room = Room::for_bytes(places, chunk.len());
            let (vectors, rest) = chunk.as_chunks::<VECTOR>();
            for bytes in vectors {
                let marks = carry.marks(vector, vector.classify(bytes), at as u32);
                vector.put_positions(marks.structural, marks.base, &mut room);
                at += VECTOR;
            }
            if !rest.is_empty() {
                let marks = carry.marks(vector, vector.classify_last(bytes, at), at as u32);
                vector.put_positions(marks.structural, marks.base, &mut room);
                at += rest.len();
            }
            room.finish();
        }
    }
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
