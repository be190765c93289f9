//! Where the values of a key stand in all documents of a block: found once, and small enough to be kept for whoever asks again.

use super::answers::{Match, Span};
use super::documents::Documents;
use super::needle::{Needle, REACH};
use super::occurrences::Occurrences;
use crate::offsets::Offsets;
use std::ops::Range;
use tamias_simd::{Isa, Task, VECTOR, Vector};

/// Where a key's value stands in a document, whatever it is.
///
/// ```
/// use tamias_json::Isa;
/// use tamias_json::search::{Documents, Needle, Place, Span};
///
/// let bytes = b"{\"a\":1}\n{}\n{\"a\":[2]}\n";
/// let ends = [7u32, 10, 20].map(u32::to_le_bytes);
/// let documents = Documents::new(bytes, &ends).unwrap();
/// let places = documents.places(Isa::best(), &Needle::key("a").unwrap(), "a");
/// assert_eq!(places[0].span(), Span::Value(5, 6));
/// assert_eq!(places[1], Place::ABSENT);
/// assert_eq!(places[2].span(), Span::Unsure, "it is no scalar");
/// assert_eq!(places[2].nested(), Some(16..19));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    start: u32,
    /// With [`NESTED`] for an array or object; 0 where there is no value, or none is known.
    length: u32,
}

/// More than the bytes of any document.
const NESTED: u32 = 1 << 31;

impl Place {
    /// The document has no such key at its top level.
    pub const ABSENT: Place = Place { start: 0, length: 0 };
    /// It cannot be told.
    const UNKNOWN: Place = Place { start: u32::MAX, length: 0 };

    /// Whether there is a value, and where it begins is known.
    #[inline(always)]
    pub(super) fn is_value(self) -> bool {
        self.length != 0
    }

    #[inline(always)]
    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    /// From where to where an array or object stands; none for another value.
    #[inline(always)]
    pub fn nested(self) -> Option<Range<usize>> {
        let length = self.length.checked_sub(NESTED)?;
        Some(self.start as usize..self.start.wrapping_add(length) as usize)
    }

    /// The value, if it is a scalar: an array or object takes a scan of the document.
    #[inline(always)]
    pub fn span(self) -> Span {
        let Place { start, length } = self;
        match length {
            1..NESTED => Span::Value(start, start.wrapping_add(length)),
            _ if self == Place::ABSENT => Span::Absent,
            _ => Span::Unsure,
        }
    }
}

impl Documents<'_> {
    /// For each document where the value of a key of its top level stands, the key being told by its needle and its name. Documents in which
    /// that is not found by searching are scanned.
    pub fn places(&self, isa: Isa, needle: &Needle, name: &str) -> Vec<Place> {
        let (mut found, mut values) = (Occurrences::default(), Vec::new());
        self.find(isa, needle, &mut found);
        self.values(isa, needle, &found, &mut values);
        let mut offsets = Offsets::new();
        let place = |(index, value): (usize, &Span)| self.place(index, *value, name, &mut offsets);
        values.iter().enumerate().map(place).collect()
    }

    /// The same for some of the documents, by their indices: each is searched by itself.
    ///
    /// ```
    /// use tamias_json::Isa;
    /// use tamias_json::search::{Documents, Needle, Place, Span};
    ///
    /// let bytes = b"{\"a\":1}\n{}\n{\"a\":[2]}\n";
    /// let ends = [7u32, 10, 20].map(u32::to_le_bytes);
    /// let documents = Documents::new(bytes, &ends).unwrap();
    /// let places = documents.places_of(Isa::best(), &Needle::key("a").unwrap(), "a", &[2, 1]);
    /// assert_eq!((places[0].nested(), places[1]), (Some(16..19), Place::ABSENT));
    /// ```
    pub fn places_of(&self, isa: Isa, needle: &Needle, name: &str, indices: &[u32]) -> Vec<Place> {
        let mut values = vec![Span::Unsure; self.len()];
        self.values_of(isa, needle, indices, &mut values);
        let mut offsets = Offsets::new();
        let place = |index: &u32| {
            let value = values.get(*index as usize).copied().unwrap_or(Span::Absent);
            self.place(*index as usize, value, name, &mut offsets)
        };
        indices.iter().map(place).collect()
    }

    /// The place of what a search has found in a document: a scan tells it where the search does not.
    fn place(&self, index: usize, value: Span, name: &str, offsets: &mut Offsets) -> Place {
        match value {
            Span::Absent => Place::ABSENT,
            Span::Value(start, end) => Place { start, length: end - start },
            Span::Unsure => self.scanned(index, name, offsets).unwrap_or(Place::UNKNOWN),
        }
    }

    /// The place in a document, by a scan of it.
    fn scanned(&self, index: usize, name: &str, offsets: &mut Offsets) -> Option<Place> {
        let range = self.range(index);
        let document = self.bytes().get(range.clone())?;
        let root = offsets.scan_trusted(document).ok()?;
        let found = root.entries().filter(|(key, _)| key.text() == name).last();
        let Some((key, value)) = found else { return Some(Place::ABSENT) };
        let (key, raw) = (key.raw_quoted(), value.raw());
        // A value stands behind its key and a colon. What a constant reads as are no bytes of the document.
        let at = (key.as_ptr() as usize).checked_sub(document.as_ptr() as usize)? + key.len() + 1;
        document.get(at..)?.strip_prefix(raw)?;
        let nested = if matches!(raw.first(), Some(b'[' | b'{')) { NESTED } else { 0 };
        Some(Place { start: (range.start + at) as u32, length: raw.len() as u32 | nested })
    }

    /// For each document whether its value is a string with a needle in it, a text as strings spell it, from where all of the block have
    /// theirs. It replaces what `matches` holds.
    pub fn have_within(&self, isa: Isa, needle: &Needle, places: &[Place], matches: &mut Vec<Match>) {
        matches.clear();
        let places = self.part_of(places);
        isa.run(HaveWithin { bytes: self.bytes(), needle, places, matches });
        matches.resize(self.len(), Match::Maybe);
    }
}

struct HaveWithin<'t> {
    bytes: &'t [u8],
    needle: &'t Needle,
    places: &'t [Place],
    matches: &'t mut Vec<Match>,
}

impl Task for HaveWithin<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let HaveWithin { bytes, needle, places, matches } = self;
        for place in places {
            matches.push(match place.span() {
                Span::Absent => Match::No,
                Span::Value(start, end) => match bytes.get(start as usize) {
                    Some(b'"') => within_string(vector, bytes, needle, start as usize, end as usize),
                    _ => Match::No,
                },
                // An array or object is no string.
                Span::Unsure if place.is_value() => Match::No,
                Span::Unsure => Match::Maybe,
            });
        }
    }
}

/// Whether the string from its quote up to behind the other has the needle.
#[inline(always)]
fn within_string<V: Vector>(vector: V, bytes: &[u8], needle: &Needle, start: usize, end: usize) -> Match {
    let mut at = start + 1;
    let Some(last) = end.checked_sub(1 + needle.bytes().len()).filter(|last| *last >= at) else {
        return Match::No;
    };
    while at <= last {
        let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<REACH>()) else {
            return Match::Maybe;
        };
        let mut pairs = needle.pairs(vector, window);
        while pairs != 0 {
            let place = at + pairs.trailing_zeros() as usize;
            pairs &= pairs - 1;
            if place <= last && needle.is_at(vector, bytes, place) {
                // What looks like the text may be a part of an escape.
                let is_escaped = bytes.get(start..end).is_none_or(|value| value.contains(&b'\\'));
                return if is_escaped { Match::Maybe } else { Match::Yes };
            }
        }
        at += VECTOR;
    }
    Match::No
}
