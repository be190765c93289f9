//! The documents of which a key's value has a text in it, or is one.

use super::answers::{Match, Span};
use super::documents::Documents;
use super::needle::{Needle, REACH};
use super::occurrences::Occurrences;
use super::values::{search, value};
use tamias_simd::{Isa, Task, Vector};

/// How a value shall have a text that was searched for.
#[derive(Clone, Copy, Debug)]
pub enum Held<'t> {
    /// A string has so many bytes in it, which were found as they are spelt in a string.
    Within(usize),
    /// The value begins with these bytes, which were found together with the key.
    First(&'t [u8]),
    /// The value is these bytes, which were found together with the key.
    Whole(&'t [u8]),
}

impl Documents<'_> {
    /// For each document whether the value of a key of its top level has a text, from where that was found. It replaces what `matches`
    /// holds. Values that are looked up for that are filled in, where they are unsure so far.
    pub fn holds(
        &self,
        isa: Isa,
        key: &Needle,
        held: Held<'_>,
        found: &Occurrences,
        values: &mut [Span],
        matches: &mut Vec<Match>,
    ) {
        matches.clear();
        matches.resize(self.len(), Match::No);
        isa.run(Holds { key, documents: *self, held, found, values, matches });
        found.doubt_crowded(matches);
    }
}

struct Holds<'t> {
    key: &'t Needle,
    documents: Documents<'t>,
    held: Held<'t>,
    found: &'t Occurrences,
    values: &'t mut [Span],
    matches: &'t mut [Match],
}

impl Task for Holds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Holds { key, documents, held, found, values, matches } = self;
        for (index, run) in found.runs(vector, documents) {
            let (Some(span), Some(answer)) = (values.get_mut(index), matches.get_mut(index)) else {
                continue;
            };
            let run = found.offsets.get(run).unwrap_or_default();
            let end = documents.end(index);
            let is_plain = documents.is_plain(index) && end + REACH <= documents.bytes().len();
            let begin = |place: &u32| match held {
                Held::Within(_) => begin(vector, key, documents, index, *place as usize),
                Held::First(_) | Held::Whole(_) => Some(*place as usize + key.bytes().len()),
            };
            if is_plain && let Some(start) = run.iter().find_map(begin) {
                *span = value(vector, documents.bytes(), start, end);
                *answer = Match::Yes;
                continue;
            }
            if *span == Span::Unsure {
                *span = search(vector, key, documents, index);
            }
            *answer = match *span {
                Span::Absent => Match::No,
                Span::Unsure => Match::Maybe,
                Span::Value(start, end) => held.by(documents.bytes(), start as usize, end as usize, run),
            };
        }
    }
}

/// Where the key's value begins in which the text at `place` stands: found where it does not begin long before, and nothing is escaped on
/// the way.
#[inline(always)]
fn begin<V: Vector>(
    vector: V,
    key: &Needle,
    documents: Documents<'_>,
    index: usize,
    place: usize,
) -> Option<usize> {
    let (bytes, document) = (documents.bytes(), documents.range(index));
    let before = bytes.get(..place)?.last_chunk().filter(|_| place <= document.end)?;
    let stops = vector.equal(before, b'"') | vector.equal(before, b'\\');
    let quote = place.checked_sub(stops.leading_zeros() as usize + 1)?;
    let start = quote.checked_sub(key.bytes().len())?;
    let is_key = start > document.start && bytes.get(quote) == Some(&b'"') && key.is_at(vector, bytes, start);
    is_key.then_some(quote)
}

impl Held<'_> {
    /// Whether a value, a scalar, has the text that was found at these places.
    fn by(self, bytes: &[u8], start: usize, end: usize, places: &[u32]) -> Match {
        let value = bytes.get(start..end).unwrap_or_default();
        let holds = match self {
            Held::First(text) => value.starts_with(text),
            Held::Whole(text) => value == text,
            Held::Within(text_bytes) => {
                let is_inside = |place: &u32| *place as usize > start && *place as usize + text_bytes < end;
                let is_held = value.first() == Some(&b'"') && places.iter().any(is_inside);
                if is_held && value.contains(&b'\\') {
                    // What looks like the text may be a part of an escape.
                    return Match::Maybe;
                }
                is_held
            }
        };
        if holds { Match::Yes } else { Match::No }
    }
}
