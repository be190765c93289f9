//! From the occurrences of a key's needle to the value that each document has for it.

use super::answers::Span;
use super::documents::Documents;
use super::needle::{Needle, REACH, within};
use super::occurrences::Occurrences;
use super::top_level::{SEVERAL, top_level};
use crate::carry::Carry;
use tamias_simd::{Isa, Task, VECTOR, Vector};

impl Documents<'_> {
    /// For each document where the value of a key of its top level stands, from the occurrences of that key's needle.
    /// It replaces what `values` holds.
    pub fn values(&self, isa: Isa, needle: &Needle, found: &Occurrences, values: &mut Vec<Span>) {
        values.clear();
        values.resize(self.len(), Span::Absent);
        isa.run(OfAll { key_bytes: needle.bytes().len(), documents: *self, found, values });
    }

    /// What [`values`](Documents::values) gives for single documents: of the document `index` at `index`, for each of `indices` that
    /// is unsure so far; all else is left as it is.
    pub fn values_of(&self, isa: Isa, needle: &Needle, indices: &[u32], values: &mut [Span]) {
        isa.run(OfSome { needle, documents: *self, indices, values });
    }
}

struct OfAll<'t> {
    key_bytes: usize,
    documents: Documents<'t>,
    found: &'t Occurrences,
    values: &'t mut [Span],
}

impl Task for OfAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let OfAll { key_bytes, documents, found, values } = self;
        for (index, run) in found.runs(vector, documents) {
            let (Some(value), [place, others @ ..]) = (values.get_mut(index), &found.offsets[run]) else {
                continue;
            };
            *value = match others.len() {
                0 => in_document(vector, documents, index, *place as usize, key_bytes),
                1..SEVERAL => {
                    let mut several = [*place as usize; SEVERAL];
                    several[1..].iter_mut().zip(others).for_each(|(to, place)| *to = *place as usize);
                    last_of(vector, documents, index, &several[..=others.len()], key_bytes)
                }
                _ => Span::Unsure,
            };
        }
    }
}

struct OfSome<'t> {
    needle: &'t Needle,
    documents: Documents<'t>,
    indices: &'t [u32],
    values: &'t mut [Span],
}

impl Task for OfSome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let OfSome { needle, documents, indices, values } = self;
        for &index in indices {
            if let Some(value @ Span::Unsure) = values.get_mut(index as usize) {
                *value = search(vector, needle, documents, index as usize);
            }
        }
    }
}

/// Searches a document for a key.
#[inline(always)]
pub(super) fn search<V: Vector>(vector: V, needle: &Needle, documents: Documents<'_>, index: usize) -> Span {
    let (bytes, document) = (documents.bytes(), documents.range(index));
    let key_bytes = needle.bytes().len();
    if document.end + REACH > bytes.len() {
        return Span::Unsure;
    }
    let Some(last) = document.end.checked_sub(key_bytes) else { return Span::Absent };
    let is_plain = documents.is_plain(index);
    let mut at = document.start;
    while is_plain && at <= last {
        let Some(ahead) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        let place = at + first_pair(vector, needle, ahead);
        if place == at + AHEAD {
            at = place;
            continue;
        }
        if place <= last && needle.is_at(vector, bytes, place) {
            return value(vector, bytes, place + key_bytes, document.end);
        }
        at = place;
        break;
    }
    let mut found = [0; SEVERAL];
    let mut count = 0;
    while at <= last {
        let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else { return Span::Unsure };
        let mut pairs = needle.pairs(vector, window);
        while pairs != 0 {
            let place = at + pairs.trailing_zeros() as usize;
            pairs &= pairs - 1;
            if place <= last && needle.is_at(vector, bytes, place) {
                if is_plain {
                    return value(vector, bytes, place + key_bytes, document.end);
                }
                let Some(next) = found.get_mut(count) else { return Span::Unsure };
                *next = place;
                count += 1;
            }
        }
        at += VECTOR;
    }
    last_of(vector, documents, index, found.get(..count).unwrap_or_default(), key_bytes)
}

/// The value of a key from all its places in a document: the last one of the top level counts.
#[inline(always)]
fn last_of<V: Vector>(
    vector: V,
    documents: Documents<'_>,
    index: usize,
    places: &[usize],
    key_bytes: usize,
) -> Span {
    for place in places.iter().rev() {
        match in_document(vector, documents, index, *place, key_bytes) {
            Span::Absent => {}
            found => return found,
        }
    }
    Span::Absent
}

/// Bytes of a document that are searched in one go.
const AHEAD: usize = 6 * VECTOR;

/// The first place of the needle's pair in the next [`AHEAD`] bytes, or their end. Without a branch: where in a document a key
/// stands is not to be guessed.
#[inline(always)]
fn first_pair<V: Vector>(vector: V, needle: &Needle, ahead: &[u8; AHEAD + REACH]) -> usize {
    let mut place = AHEAD;
    for from in (0..AHEAD).step_by(VECTOR).rev() {
        let Some(window) = ahead[from..].first_chunk() else { break };
        let pairs = needle.pairs(vector, window);
        place = if pairs == 0 { place } else { from + pairs.trailing_zeros() as usize };
    }
    place
}

/// The value of a key that a document has once, at `place`, if that lies at the document's top level.
#[inline(always)]
fn in_document<V: Vector>(
    vector: V,
    documents: Documents<'_>,
    index: usize,
    place: usize,
    key_bytes: usize,
) -> Span {
    match top_level(vector, documents, index, place, key_bytes) {
        Some(true) => value(vector, documents.bytes(), place + key_bytes, documents.end(index)),
        Some(false) => Span::Absent,
        None => Span::Unsure,
    }
}

/// The value that begins at `start`, of a document up to `end`; unsure where fewer than [`REACH`] bytes follow.
#[inline(always)]
pub(super) fn value<V: Vector>(vector: V, bytes: &[u8], start: usize, end: usize) -> Span {
    if start >= end {
        return Span::Unsure;
    }
    let Some(window) = bytes.get(start..).and_then(|rest| rest.first_chunk()) else { return Span::Unsure };
    let stop = match window[0] {
        b'"' => {
            let (near, far) = (within(window, 1), behind(window));
            let (near_quotes, far_quotes) = (vector.equal(near, b'"'), vector.equal(far, b'"') & !1);
            // Most strings end in the first or the second vector; in which is not to be guessed.
            let length = match near_quotes {
                0 => VECTOR - 1 + far_quotes.trailing_zeros() as usize,
                quotes => quotes.trailing_zeros() as usize,
            };
            // Only a backslash before the quote counts.
            let near_escapes = vector.equal(near, b'\\') & below(near_quotes);
            let far_escapes = vector.equal(far, b'\\') & below(far_quotes);
            let escapes = near_escapes | if near_quotes == 0 { far_escapes } else { 0 };
            let stop = start + length + 2;
            if near_quotes | far_quotes != 0 && escapes == 0 && stop < end {
                return Span::Value(start as u32, stop as u32);
            }
            match end_of_string(vector, bytes, start, end) {
                Some(stop) => stop,
                None => return Span::Unsure,
            }
        }
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let scalar = within(window, 0);
            let stops = vector.equal(scalar, b',') | vector.equal(scalar, b'}');
            // Numbers of so many digits are rare.
            if stops == 0 {
                return Span::Unsure;
            }
            start + stops.trailing_zeros() as usize
        }
        _ => return Span::Unsure,
    };
    // A scalar is followed by the bracket that closes the document, at the least.
    if stop < end { Span::Value(start as u32, stop as u32) } else { Span::Unsure }
}

/// Just past the quote that ends the string at `start`, if that is before `end`; at the latest a vector's length behind it.
#[inline(always)]
fn end_of_string<V: Vector>(vector: V, bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let mut carry = Carry::default();
    let mut at = start + 1;
    while at < end {
        let window = bytes.get(at..)?.first_chunk()?;
        let quotes = vector.equal(window, b'"') & !carry.escapes(vector.equal(window, b'\\'));
        if quotes != 0 {
            return Some(at + quotes.trailing_zeros() as usize + 1);
        }
        at += VECTOR;
    }
    None
}

/// The second of two vectors.
#[inline(always)]
fn behind(window: &[u8; REACH]) -> &[u8; VECTOR] {
    window.last_chunk().unwrap_or(&[0; VECTOR])
}

/// The bits below the lowest one.
#[inline(always)]
fn below(bits: u64) -> u64 {
    bits.wrapping_sub(1) & !bits
}
