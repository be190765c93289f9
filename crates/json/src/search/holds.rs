//! The documents of which a key's value has a text in it, or is one.

use super::find::{Needle, REACH};
use super::places::{search, value};
use super::{Documents, Match, Place, Places};
use crate::access;
use crate::classify::{BLOCK, Kernel};
use crate::isa::Isa;
use crate::task::{Task, run};

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

/// Fills in the matches, and the values that were looked up for that.
pub(super) fn all(
    isa: Isa,
    key: &Needle,
    documents: Documents<'_>,
    held: Held<'_>,
    places: &Places,
    values: &mut [Place],
    matches: &mut Vec<Match>,
) {
    matches.clear();
    matches.resize(documents.len(), Match::No);
    run(isa, Holds { key, documents, held, places, values, matches });
    for index in &places.crowded {
        if let Some(found @ Match::No) = matches.get_mut(*index as usize) {
            *found = Match::Maybe;
        }
    }
}

struct Holds<'t> {
    key: &'t Needle,
    documents: Documents<'t>,
    held: Held<'t>,
    places: &'t Places,
    values: &'t mut [Place],
    matches: &'t mut [Match],
}

impl Task for Holds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Holds { key, documents, held, places, values, matches } = self;
        for (index, run) in documents.runs(kernel, places) {
            let (Some(place), Some(found)) = (values.get_mut(index), matches.get_mut(index)) else {
                continue;
            };
            let run = places.all.get(run).unwrap_or_default();
            let end = documents.end(index);
            let is_plain = documents.is_plain(index) && end + REACH <= documents.bytes.len();
            let begin = |place: &u32| match held {
                Held::Within(_) => begin(kernel, key, documents, index, *place as usize),
                Held::First(_) | Held::Whole(_) => Some(*place as usize + key.bytes().len()),
            };
            if is_plain && let Some(start) = run.iter().find_map(begin) {
                *place = value(kernel, documents.bytes, start, end);
                *found = Match::Yes;
                continue;
            }
            if *place == Place::Unsure {
                *place = search(kernel, key, documents, index);
            }
            *found = match *place {
                Place::Absent => Match::No,
                Place::Unsure => Match::Maybe,
                Place::Value(start, end) => held.by(documents.bytes, start as usize, end as usize, run),
            };
        }
    }
}

/// Where the key's value begins in which the text at `place` stands: found where it does not begin long before, and nothing is escaped on
/// the way.
#[inline(always)]
#[expect(unsafe_code, reason = "a vector is read without a check")]
fn begin<K: Kernel>(
    kernel: K,
    key: &Needle,
    documents: Documents<'_>,
    index: usize,
    place: usize,
) -> Option<usize> {
    let (bytes, document) = (documents.bytes, documents.range(index));
    let from = place.checked_sub(BLOCK).filter(|_| place <= document.end)?;
    // SAFETY: `from + BLOCK` is `place`, which is not behind the document's end.
    let before = unsafe { access::array(bytes, from) };
    let stops = kernel.equal(before, b'"') | kernel.equal(before, b'\\');
    let quote = (from + BLOCK).checked_sub(stops.leading_zeros() as usize + 1)?;
    let start = quote.checked_sub(key.bytes().len())?;
    let is_key = start > document.start
        && bytes.get(quote) == Some(&b'"')
        && start + BLOCK <= bytes.len()
        // SAFETY: there is a block from here on.
        && unsafe { key.is_at(kernel, bytes, start) };
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
