//! From the places of a key's needle to the value that each document has for it.

use super::find::{Needle, REACH};
use super::{Documents, Match, Place, Places};
use crate::access;
use crate::classify::{BLOCK, Kernel};
use crate::isa::Isa;
use crate::scan::Carry;
use crate::task::{Task, run};
use std::ops::Range;

/// The values of all documents, from all places of the key.
pub(super) fn of_all(
    isa: Isa,
    needle: &Needle,
    documents: Documents<'_>,
    places: &Places,
    values: &mut Vec<Place>,
) {
    values.clear();
    values.resize(documents.len(), Place::Absent);
    run(isa, OfAll { key_bytes: needle.bytes().len(), documents, places, values });
}

struct OfAll<'t> {
    key_bytes: usize,
    documents: Documents<'t>,
    places: &'t Places,
    values: &'t mut [Place],
}

impl Task for OfAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let OfAll { key_bytes, documents, places, values } = self;
        for (index, run) in documents.runs(kernel, places) {
            let (Some(value), [place, others @ ..]) = (values.get_mut(index), &places.all[run]) else {
                continue;
            };
            *value = match others.len() {
                0 => in_document(kernel, documents, index, *place as usize, key_bytes),
                1..SEVERAL => {
                    let mut several = [*place as usize; SEVERAL];
                    several[1..].iter_mut().zip(others).for_each(|(to, place)| *to = *place as usize);
                    last_of(kernel, documents, index, &several[..=others.len()], key_bytes)
                }
                _ => Place::Unsure,
            };
        }
    }
}

/// The documents that have some of certain places, one after another. See [`Documents::runs`].
pub(super) struct Runs<'d, 'p, K> {
    pub(super) kernel: K,
    pub(super) documents: Documents<'d>,
    pub(super) places: &'p [u32],
    /// The number of the next place.
    pub(super) next: usize,
    /// The first document that may have it.
    pub(super) index: usize,
}

impl<K: Kernel> Iterator for Runs<'_, '_, K> {
    type Item = (usize, Range<usize>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let first = self.next;
        let index = self.documents.index_of(self.kernel, self.index, *self.places.get(first)?)?;
        let end = self.documents.end_as_told(index);
        let mut next = first + 1;
        while self.places.get(next).is_some_and(|place| *place < end) {
            next += 1;
        }
        (self.next, self.index) = (next, index + 1);
        Some((index, first..next))
    }
}

/// Which documents have any place.
pub(super) fn mentions(isa: Isa, documents: Documents<'_>, places: &Places, matches: &mut Vec<Match>) {
    matches.clear();
    matches.resize(documents.len(), Match::No);
    run(isa, Mentions { documents, places, matches });
}

struct Mentions<'t> {
    documents: Documents<'t>,
    places: &'t Places,
    matches: &'t mut [Match],
}

impl Task for Mentions<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        for (index, _) in self.documents.runs(kernel, self.places) {
            if let Some(found) = self.matches.get_mut(index) {
                *found = Match::Maybe;
            }
        }
    }
}

/// Which documents have the key at a place that is kept.
pub(super) fn matches(
    isa: Isa,
    needle: &Needle,
    documents: Documents<'_>,
    places: &Places,
    kept: &[u32],
    matches: &mut Vec<Match>,
) {
    matches.clear();
    matches.resize(documents.len(), Match::No);
    run(isa, Matches { key_bytes: needle.bytes().len(), documents, places: &places.all, kept, matches });
    for index in &places.crowded {
        if let Some(found) = matches.get_mut(*index as usize) {
            *found = Match::Maybe;
        }
    }
}

struct Matches<'t> {
    key_bytes: usize,
    documents: Documents<'t>,
    places: &'t [u32],
    kept: &'t [u32],
    matches: &'t mut [Match],
}

impl Task for Matches<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Matches { key_bytes, documents, places, kept, matches } = self;
        let (mut index, mut at) = (0, 0);
        // The places before this one belong to documents that are done.
        let mut done = 0;
        while let Some(number) = kept.get(at).map(|number| *number as usize) {
            let Some(place) = places.get(number) else { break };
            let Some(found) = documents.index_of(kernel, index, *place) else { break };
            let Some(answer) = matches.get_mut(found) else { break };
            index = found + 1;
            at += 1;
            if documents.is_plain(found) {
                *answer = Match::Yes;
                continue;
            }
            // All places of the document count, those that are not kept too.
            let Range { start, end } = documents.range(found);
            let before = places
                .get(done..number)
                .unwrap_or_default()
                .iter()
                .rev()
                .take_while(|place| **place as usize >= start)
                .count();
            let behind = places[number..].iter().take_while(|place| (**place as usize) < end).count();
            let all = number - before..number + behind.max(1);
            let more = kept[at..].iter().take_while(|number| (**number as usize) < all.end).count();
            let kept = &kept[at - 1..at + more];
            at += more;
            done = all.end;
            *answer = if all.len() > SEVERAL { Match::Maybe } else { Match::No };
            // The last one of the top level counts.
            for number in all.rev() {
                match top_level(kernel, documents, found, places[number] as usize, key_bytes) {
                    _ if *answer == Match::Maybe => {}
                    Some(false) => continue,
                    Some(true) if !kept.contains(&(number as u32)) => {}
                    Some(true) => *answer = Match::Yes,
                    None => *answer = Match::Maybe,
                }
                break;
            }
        }
    }
}

/// The values of some documents, in which the key is searched for.
pub(super) fn of_some(
    isa: Isa,
    needle: &Needle,
    documents: Documents<'_>,
    indices: &[u32],
    values: &mut [Place],
) {
    run(isa, OfSome { needle, documents, indices, values });
}

struct OfSome<'t> {
    needle: &'t Needle,
    documents: Documents<'t>,
    indices: &'t [u32],
    values: &'t mut [Place],
}

impl Task for OfSome<'_> {
    type Output = ();

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let OfSome { needle, documents, indices, values } = self;
        for &index in indices {
            if let Some(value @ Place::Unsure) = values.get_mut(index as usize) {
                *value = search(kernel, needle, documents, index as usize);
            }
        }
    }
}

/// Searches a document for a key.
#[inline(always)]
#[expect(unsafe_code, reason = "vectors are read without checks in the innermost loop")]
pub(super) fn search<K: Kernel>(kernel: K, needle: &Needle, documents: Documents<'_>, index: usize) -> Place {
    let (bytes, document) = (documents.bytes, documents.range(index));
    let key_bytes = needle.bytes().len();
    if document.end + REACH > bytes.len() {
        return Place::Unsure;
    }
    let Some(last) = document.end.checked_sub(key_bytes) else { return Place::Absent };
    let is_plain = documents.is_plain(index);
    let mut at = document.start;
    while is_plain && at <= last && at + AHEAD + REACH <= bytes.len() {
        // SAFETY: the room was just looked at.
        let place = unsafe { first_pair(kernel, needle, bytes, at) };
        if place == at + AHEAD {
            at = place;
            continue;
        }
        // SAFETY: a place lies less than `AHEAD` bytes from `at`.
        if place <= last && unsafe { needle.is_at(kernel, bytes, place) } {
            return value(kernel, bytes, place + key_bytes, document.end);
        }
        at = place;
        break;
    }
    let mut found = [0; SEVERAL];
    let mut count = 0;
    while at <= last {
        // SAFETY: `at < document.end`, behind which `REACH` bytes follow.
        let mut pairs = unsafe { needle.pairs(kernel, bytes, at) };
        while pairs != 0 {
            let place = at + pairs.trailing_zeros() as usize;
            pairs &= pairs - 1;
            // SAFETY: `place < at + BLOCK`, and from `at` on there are `REACH` bytes.
            if place <= last && unsafe { needle.is_at(kernel, bytes, place) } {
                if is_plain {
                    return value(kernel, bytes, place + key_bytes, document.end);
                }
                let Some(next) = found.get_mut(count) else { return Place::Unsure };
                *next = place;
                count += 1;
            }
        }
        at += BLOCK;
    }
    last_of(kernel, documents, index, found.get(..count).unwrap_or_default(), key_bytes)
}

/// The most places in a document that are looked at one by one. Each takes time linear in the document.
const SEVERAL: usize = 4;

/// The value of a key from all its places in a document: the last one of the top level counts.
#[inline(always)]
fn last_of<K: Kernel>(
    kernel: K,
    documents: Documents<'_>,
    index: usize,
    places: &[usize],
    key_bytes: usize,
) -> Place {
    for place in places.iter().rev() {
        match in_document(kernel, documents, index, *place, key_bytes) {
            Place::Absent => {}
            found => return found,
        }
    }
    Place::Absent
}

/// Bytes of a document that are searched in one go.
const AHEAD: usize = 6 * BLOCK;

/// The first place of the needle's pair in the next [`AHEAD`] bytes, or their end. Without a branch: where in a document a key
/// stands is not to be guessed.
///
/// # Safety
/// `at + AHEAD + REACH <= bytes.len()`
#[inline(always)]
#[expect(unsafe_code, reason = "vectors are read without checks in the innermost loop")]
unsafe fn first_pair<K: Kernel>(kernel: K, needle: &Needle, bytes: &[u8], at: usize) -> usize {
    let mut place = at + AHEAD;
    for block in (0..AHEAD / BLOCK).rev() {
        let from = at + block * BLOCK;
        // SAFETY: by the contract there are `REACH` bytes from here on.
        let pairs = unsafe { needle.pairs(kernel, bytes, from) };
        place = if pairs == 0 { place } else { from + pairs.trailing_zeros() as usize };
    }
    place
}

/// The value of a key that a document has once, at `place`, if that lies at the document's top level.
#[inline(always)]
fn in_document<K: Kernel>(
    kernel: K,
    documents: Documents<'_>,
    index: usize,
    place: usize,
    key_bytes: usize,
) -> Place {
    match top_level(kernel, documents, index, place, key_bytes) {
        Some(true) => value(kernel, documents.bytes, place + key_bytes, documents.end(index)),
        Some(false) => Place::Absent,
        None => Place::Unsure,
    }
}

/// Whether a key that a document has once, at `place`, lies at the document's top level; none where that takes a scan.
#[inline(always)]
fn top_level<K: Kernel>(
    kernel: K,
    documents: Documents<'_>,
    index: usize,
    place: usize,
    key_bytes: usize,
) -> Option<bool> {
    let (bytes, document) = (documents.bytes, documents.range(index));
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
    Some(is_at_top(kernel, bytes, document.start, place))
}

/// Whether a key at `place` is one of the top level. `place + REACH <= bytes.len()`
#[inline(always)]
#[expect(unsafe_code, reason = "vectors are read without checks in the innermost loop")]
fn is_at_top<K: Kernel>(kernel: K, bytes: &[u8], start: usize, place: usize) -> bool {
    // Every object that is not empty begins with this pair. If it comes once up to the key's quote, that is the document's own.
    let mut count = 0;
    let mut at = start;
    while at < place {
        // SAFETY: `at < place`, and from there on there are `REACH` bytes.
        let (curly, quotes) = unsafe { (access::array(bytes, at), access::array(bytes, at + 1)) };
        let mut pairs = kernel.both(curly, b'{', quotes, b'"');
        if place - at < BLOCK {
            pairs &= (1 << (place - at)) - 1;
        }
        count += pairs.count_ones();
        at += BLOCK;
    }
    count == 1 || depth(kernel, bytes, start, place) == 1
}

/// How many objects and arrays are open at `place`. `place + REACH <= bytes.len()`
#[inline(always)]
#[expect(unsafe_code, reason = "vectors are read without checks")]
fn depth<K: Kernel>(kernel: K, bytes: &[u8], start: usize, place: usize) -> i64 {
    let mut carry = Carry::default();
    let mut depth = 0;
    let mut at = start;
    while at < place {
        // SAFETY: `at < place`, and from there on there are `REACH` bytes.
        let block = unsafe { access::array(bytes, at) };
        let marks = carry.marks(kernel, kernel.classify(block), 0);
        let mut brackets = marks.brackets & marks.delimiters;
        if place - at < BLOCK {
            brackets &= (1 << (place - at)) - 1;
        }
        // '{' 7B and '[' 5B open; without the bit 20 they are the same.
        let opening = kernel.equal(block, b'{') | kernel.equal(block, b'[');
        depth += i64::from((brackets & opening).count_ones()) - i64::from((brackets & !opening).count_ones());
        at += BLOCK;
    }
    depth
}

/// The value that begins at `start`, of a document up to `end`. `end + REACH <= bytes.len()`
#[inline(always)]
#[expect(unsafe_code, reason = "vectors are read without checks in the innermost loop")]
pub(super) fn value<K: Kernel>(kernel: K, bytes: &[u8], start: usize, end: usize) -> Place {
    if start >= end {
        return Place::Unsure;
    }
    // SAFETY: `start < end`, and from there on there are `REACH` bytes.
    let block: &[u8; BLOCK] = unsafe { access::array(bytes, start) };
    let stop = match block[0] {
        b'"' => {
            // SAFETY: `start < end`, behind which there are `REACH` bytes, two blocks.
            let (near, far) =
                unsafe { (access::array(bytes, start + 1), access::array(bytes, start + BLOCK)) };
            let (near_quotes, far_quotes) = (kernel.equal(near, b'"'), kernel.equal(far, b'"') & !1);
            // Most strings end in the first or the second block; in which is not to be guessed.
            let length = match near_quotes {
                0 => BLOCK - 1 + far_quotes.trailing_zeros() as usize,
                quotes => quotes.trailing_zeros() as usize,
            };
            // Only a backslash before the quote counts.
            let near_escapes = kernel.equal(near, b'\\') & below(near_quotes);
            let far_escapes = kernel.equal(far, b'\\') & below(far_quotes);
            let escapes = near_escapes | if near_quotes == 0 { far_escapes } else { 0 };
            let stop = start + length + 2;
            if near_quotes | far_quotes != 0 && escapes == 0 && stop < end {
                return Place::Value(start as u32, stop as u32);
            }
            let mut carry = Carry::default();
            let mut at = start + 1;
            loop {
                if at >= end {
                    return Place::Unsure;
                }
                // SAFETY: `at < end`, and from there on there are `REACH` bytes.
                let block = unsafe { access::array(bytes, at) };
                let quotes = kernel.equal(block, b'"') & !carry.escapes(kernel.equal(block, b'\\'));
                if quotes != 0 {
                    break at + quotes.trailing_zeros() as usize + 1;
                }
                at += BLOCK;
            }
        }
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let stops = kernel.equal(block, b',') | kernel.equal(block, b'}');
            // Numbers of so many digits are rare.
            if stops == 0 {
                return Place::Unsure;
            }
            start + stops.trailing_zeros() as usize
        }
        _ => return Place::Unsure,
    };
    // A scalar is followed by the bracket that closes the document, at the least.
    if stop < end { Place::Value(start as u32, stop as u32) } else { Place::Unsure }
}

/// The bits below the lowest one.
#[inline(always)]
fn below(bits: u64) -> u64 {
    bits.wrapping_sub(1) & !bits
}
