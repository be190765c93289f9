//! The documents that have a text in one of their strings, wherever that stands.

use super::answers::Match;
use super::documents::Documents;
use super::needle::Needle;
use super::occurrences::Occurrences;
use memchr::memchr2;
use tamias_simd::{Isa, Task, Vector};

impl Documents<'_> {
    /// For each document whether a string among its values, at any depth, has a needle in it, from where that was found: a text as strings spell
    /// it, without quotes. Keys do not count. It replaces what `matches` holds.
    ///
    /// Takes time linear in the bytes of the strings in which the needle was found.
    pub fn have_text(&self, isa: Isa, needle: &Needle, found: &Occurrences, matches: &mut Vec<Match>) {
        matches.clear();
        matches.resize(self.len(), Match::No);
        isa.run(HaveText { documents: *self, needle: needle.bytes(), found, matches });
        found.doubt_crowded(matches);
    }
}

struct HaveText<'t> {
    documents: Documents<'t>,
    needle: &'t [u8],
    found: &'t Occurrences,
    matches: &'t mut [Match],
}

impl Task for HaveText<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let HaveText { documents, needle, found, matches } = self;
        let is_in_strings_only = !needle.iter().all(|byte| OUTSIDE.contains(byte));
        for (index, run) in found.runs(vector, documents) {
            let Some(answer) = matches.get_mut(index) else { continue };
            *answer = match is_in_strings_only {
                true => {
                    let range = documents.range(index);
                    let document = documents.bytes().get(range.clone()).unwrap_or_default();
                    let places = found.offsets.get(run).unwrap_or_default();
                    let places = places.iter().map(|place| (*place as usize).saturating_sub(range.start));
                    has_text(document, needle.len(), places)
                }
                false => Match::Maybe,
            };
        }
    }
}

/// What stands outside of strings in a minified document.
const OUTSIDE: &[u8] = b"{}[]:,+-.0123456789eEtrufalsn";

/// Whether one of the strings, of so many bytes, that stand at some places within strings of a document is a part of a value.
fn has_text(document: &[u8], bytes: usize, places: impl Iterator<Item = usize>) -> Match {
    // What comes before this was looked at.
    let mut next = 0;
    for place in places {
        if place < next || begins_in_escape(document, place) {
            continue;
        }
        let Some(end) = string_end(document, place + bytes) else { return Match::No };
        if document.get(end + 1) != Some(&b':') {
            return Match::Yes;
        }
        next = end;
    }
    Match::No
}

/// Whether a place within a string lies behind the first byte of an escape.
fn begins_in_escape(document: &[u8], place: usize) -> bool {
    let is_escape = |at: usize| {
        let before = document.get(..at + 1).unwrap_or_default();
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
    };
    let at = |back: usize| place.checked_sub(back);
    if at(1).is_some_and(is_escape) {
        return true;
    }
    (2..6).filter_map(at).any(|start| document.get(start..start + 2) == Some(b"\\u") && is_escape(start))
}

/// Where the quote stands that ends the string in which a place lies; none where there is no such quote. Takes time linear in what lies between.
///
/// ```
/// let document = br#"{"a":"b\"c","d":1}"#;
/// assert_eq!(tamias_json::search::string_end(document, 6), Some(10));
/// ```
#[inline]
pub fn string_end(document: &[u8], mut place: usize) -> Option<usize> {
    loop {
        let found = place + memchr2(b'"', b'\\', document.get(place..)?)?;
        if document.get(found) == Some(&b'"') {
            return Some(found);
        }
        place = found + 2;
    }
}
