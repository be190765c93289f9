//! All places of a needle in a stretch of bytes.

use super::{Documents, Places};
use crate::access;
use crate::classify::{BLOCK, Kernel, Swar};
use crate::isa::{Isa, Level};
use crate::task::{Task, run};
use crate::write::write_json_string;
use memchr::memmem;
use std::ops::Range;

/// What is searched for: found by two of its bytes at their distance, then compared whole.
#[derive(Clone, Debug)]
pub struct Needle {
    bytes: Box<[u8]>,
    /// The first bytes, as many as a block has, and zeros.
    head: [u8; BLOCK],
    /// A bit for each byte of the head that counts.
    mask: u64,
    /// The places of the two bytes, both in the head.
    pair: (usize, usize),
}

impl Needle {
    /// A needle of these bytes; none if they are fewer than two.
    pub fn new(bytes: &[u8]) -> Option<Needle> {
        if bytes.len() < 2 {
            return None;
        }
        let length = bytes.len().min(BLOCK);
        let mut head = [0; BLOCK];
        head[..length].copy_from_slice(&bytes[..length]);
        let mask = u64::MAX >> (BLOCK - length);
        // Bytes in the middle are as good as any as long as nothing is known of what they are searched in.
        let pair = (length / 2 - 1, length - 1 - length / 4);
        let pair = if pair.0 == pair.1 { (0, 1) } else { pair };
        Some(Needle { bytes: bytes.into(), head, mask, pair })
    }

    /// The needle of a key: `"name":` as a stored document has it. None for a name that may stand in a document in another
    /// way, or whose needle may be found where no key is: one that begins with `,` `:` `]` `}` or is empty, or that contains
    /// the replacement character, which lone surrogates read as.
    pub fn key(name: &str) -> Option<Needle> {
        if matches!(name.as_bytes().first(), None | Some(b',' | b':' | b']' | b'}'))
            || name.contains(char::REPLACEMENT_CHARACTER)
        {
            return None;
        }
        let mut bytes = Vec::with_capacity(name.len() + 3);
        write_json_string(name, &mut bytes);
        bytes.push(b':');
        Needle::new(&bytes)
    }

    /// The bytes of the needle.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Chooses the two bytes that are seldom found together in `sample`, of which the first 8 kB count. A needle finds the same
    /// whatever the sample, but faster in what resembles it.
    pub fn tune(&mut self, isa: Isa, sample: &[u8]) {
        self.pair = run(isa, Tune { needle: self, sample });
    }
}

/// Bytes of a needle among which the two are chosen.
const CANDIDATES: usize = 24;
/// Blocks of a sample.
const SAMPLE_BLOCKS: usize = 128;

struct Tune<'t> {
    needle: &'t Needle,
    sample: &'t [u8],
}

impl Task for Tune<'_> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> (usize, usize) {
        let mut best = self.needle.pair;
        let length = self.needle.bytes.len().min(CANDIDATES);
        let blocks = (self.sample.len().saturating_sub(CANDIDATES) / BLOCK).min(SAMPLE_BLOCKS);
        if blocks == 0 {
            return best;
        }
        let mut found = vec![0u64; CANDIDATES * SAMPLE_BLOCKS];
        for (at, found) in found.chunks_exact_mut(SAMPLE_BLOCKS).take(length).enumerate() {
            for (block, found) in found.iter_mut().take(blocks).enumerate() {
                if let Some(bytes) = self.sample.get(block * BLOCK + at..).and_then(|rest| rest.first_chunk())
                {
                    *found = kernel.equal(bytes, self.needle.head[at]);
                }
            }
        }
        let column = |at: usize| found.iter().skip(at * SAMPLE_BLOCKS).take(blocks);
        let mut least = u32::MAX;
        for first in 0..length {
            for second in first + 1..length {
                let both = column(first).zip(column(second)).map(|(a, b)| (a & b).count_ones()).sum();
                if both < least {
                    least = both;
                    best = (first, second);
                }
            }
        }
        best
    }
}

/// Appends the places of the needle that lie whole in the documents' bytes.
pub(super) fn all(isa: Isa, needle: &Needle, documents: Documents<'_>, places: &mut Places) {
    match isa.level() {
        Level::Swar(kernel) => all_by_memchr(kernel, needle, documents, places),
        _ => run(isa, All { needle, documents, places }),
    }
}

/// The same by `memchr`, whose vectors every CPU of its kind has: a word at a time the search would take longer than a scan does.
fn all_by_memchr(kernel: Swar, needle: &Needle, documents: Documents<'_>, places: &mut Places) {
    let Places { all: places, crowded } = places;
    let (bytes, range) = (documents.bytes, documents.all());
    let finder = memmem::Finder::new(&needle.bytes);
    let (mut index, mut at) = (0, range.start);
    while let Some(found) = bytes.get(at..range.end).and_then(|rest| finder.find(rest)) {
        at += found;
        places.push(at as u32);
        let before = places.len().checked_sub(CROWD + 1).and_then(|before| places.get(before));
        let is_crowd = before.is_some_and(|before| at - (*before as usize) < STRIDE);
        at += 1;
        if is_crowd {
            (index, at) = step_over(kernel, documents, index, places, crowded, at);
        }
    }
}

struct All<'t> {
    needle: &'t Needle,
    documents: Documents<'t>,
    places: &'t mut Places,
}

/// Blocks that are searched for the pair before what was found is compared.
const STRIDE_BLOCKS: usize = 32;
/// HEURISTIC: the processor's own prefetching stops at the ends of pages of 4 KiB, and this is past the next. Measured on mapped files.
const PREFETCHED: usize = 8192;
const STRIDE: usize = STRIDE_BLOCKS * BLOCK;

/// How far past a block its search looks: a needle's head that begins in it.
pub(super) const REACH: usize = 2 * BLOCK;

impl Task for All<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        unsafe_code,
        reason = "vectors are read, and candidates written, without checks in the innermost loop"
    )]
    fn run<K: Kernel>(self, kernel: K) {
        let All { needle, documents, places: Places { all: places, crowded } } = self;
        let (bytes, range) = (documents.bytes, documents.all());
        // The document that was looked at last.
        let mut index = 0;
        let end = range.end.min(bytes.len());
        let Some(last) = end.checked_sub(needle.bytes.len()) else { return };
        let mut at = range.start;
        let mut candidates = [0u32; STRIDE + 1];
        while at <= last {
            let blocks = match (bytes.len() - at).checked_sub(REACH) {
                Some(room) => (room / BLOCK).min((last - at) / BLOCK + 1).min(STRIDE_BLOCKS),
                None => 0,
            };
            if blocks == 0 {
                break;
            }
            let mut count = 0;
            for block in 0..blocks {
                let from = at + block * BLOCK;
                access::prefetch(bytes, from + PREFETCHED);
                // SAFETY: `from + REACH <= bytes.len()`, and the pair lies in the head, a block long.
                let mut found = unsafe { needle.pairs(kernel, bytes, from) };
                // One is written in any case and mostly right: the loop for more is seldom entered.
                let mut note = |found: u64| {
                    // SAFETY: each block adds at most as many as it has bytes, and one more place is there.
                    let [place] = unsafe { access::array_mut(&mut candidates, count) };
                    *place = (from as u32).wrapping_add(found.trailing_zeros());
                    count += usize::from(found != 0);
                };
                note(found);
                found &= found.wrapping_sub(1);
                while found != 0 {
                    note(found);
                    found &= found - 1;
                }
            }
            for &candidate in candidates.get(..count).unwrap_or_default() {
                let from = candidate as usize;
                // SAFETY: a candidate begins in a block from whose beginning on `REACH` bytes are there.
                if from <= last && unsafe { needle.is_at(kernel, bytes, from) } {
                    places.push(candidate);
                }
            }
            at += blocks * BLOCK;
            if count > CROWD {
                // Who has so many places has them everywhere, and is not told by them.
                (index, at) = step_over(kernel, documents, index, places, crowded, at);
            }
        }
        // What is near the end of the bytes.
        while at <= last {
            if bytes[at..].starts_with(&needle.bytes) {
                places.push(at as u32);
            }
            at += 1;
        }
    }
}

/// Most places close together in a document that are noted.
pub(super) const CROWD: usize = 16;

/// If the last places are too many in one document, notes that, and goes on behind it: the document's index, and where to go on.
#[cold]
fn step_over<K: Kernel>(
    kernel: K,
    documents: Documents<'_>,
    index: usize,
    places: &[u32],
    crowded: &mut Vec<u32>,
    at: usize,
) -> (usize, usize) {
    let Some(index) = places.last().and_then(|last| documents.index_of(kernel, index, *last)) else {
        return (index, at);
    };
    let Range { start, end } = documents.range(index);
    let is_crowded = end > at
        && places
            .len()
            .checked_sub(CROWD + 1)
            .and_then(|before| places.get(before))
            .is_some_and(|place| *place as usize >= start);
    if is_crowded {
        crowded.push(index as u32);
        return (index + 1, end);
    }
    (index, at)
}

impl Needle {
    /// Where in a block both bytes of the pair stand.
    ///
    /// # Safety
    /// `from + REACH <= bytes.len()`
    #[inline(always)]
    #[expect(unsafe_code, reason = "two vectors are read without checks")]
    pub(super) unsafe fn pairs<K: Kernel>(&self, kernel: K, bytes: &[u8], from: usize) -> u64 {
        let (first, second) = self.pair;
        // SAFETY: both bytes lie in the head, that is `first, second < BLOCK`.
        let (a, b) = unsafe { (access::array(bytes, from + first), access::array(bytes, from + second)) };
        kernel.both(a, self.head[first % BLOCK], b, self.head[second % BLOCK])
    }

    /// Whether the needle stands at a place.
    ///
    /// # Safety
    /// `from + BLOCK <= bytes.len()`
    #[inline(always)]
    #[expect(unsafe_code, reason = "a vector is read without a check")]
    pub(super) unsafe fn is_at<K: Kernel>(&self, kernel: K, bytes: &[u8], from: usize) -> bool {
        // SAFETY: the contract.
        let block = unsafe { access::array(bytes, from) };
        kernel.same(block, &self.head) & self.mask == self.mask
            && (self.bytes.len() <= BLOCK || bytes[from..].starts_with(&self.bytes))
    }
}
