//! The strings of a key: all distinct ones, or hashes of them for the filter.

use super::hash::hash;
use super::layout::FILTERED_BYTES_MAX;
use super::list::List;
use super::occurrence::Occurrence;
use crate::instant::Instant;

/// HEURISTIC: when the list is full, a key whose strings in it are longer than this on average holds prose.
const MEAN_BYTES_MAX: usize = 48;
/// Room for hashes at first.
const HASHES: usize = 256;

pub(super) struct Strings<'d> {
    seed: u64,
    /// False where nobody asks for them: of times not the text is looked at, but the instant; and prose is seldom asked for as a whole.
    pub(super) is_wanted: bool,
    pub(super) count: u32,
    /// None once there are too many distinct ones.
    pub(super) list: Option<List<'d>>,
    /// Then the hashes of all that are not too long for the filter, a few more than once.
    pub(super) hashes: Vec<u64>,
    /// The bytes of those that were hashed.
    pub(super) bytes: usize,
}

/// By some of their bits, hashes that were kept lately, so that a value that comes again and again is kept about once.
pub(super) struct Recent(Vec<u64>);

/// A power of two.
const RECENT: usize = 1024;

impl Recent {
    pub(super) fn new() -> Recent {
        let mut hashes = vec![0; RECENT];
        // None but the first place could hold a hash of 0.
        hashes[0] = 1;
        Recent(hashes)
    }

    /// Whether it was kept lately. It is from now on.
    #[inline(always)]
    fn knows(&mut self, hash: u64) -> bool {
        self.0.get_mut(hash as usize % RECENT).is_none_or(|place| std::mem::replace(place, hash) == hash)
    }
}

impl<'d> Strings<'d> {
    pub(super) fn new(name: &[u8]) -> Strings<'d> {
        let is_wanted = name != b"@t";
        Strings {
            seed: hash(0, name),
            is_wanted,
            count: 0,
            list: is_wanted.then(List::new),
            hashes: Vec::new(),
            bytes: 0,
        }
    }

    /// Takes in those of the values that come before the first that is no string; gives how many they are.
    pub(super) fn add(
        &mut self,
        documents: &'d [u8],
        occurrences: &[Occurrence],
        recent: &mut Recent,
    ) -> usize {
        let strings = |from: usize| {
            let rest = occurrences.get(from..).unwrap_or_default();
            rest.iter()
                .map_while(|occurrence| occurrence.inside_quotes(documents).map(|at| (at, occurrence.event)))
        };
        let mut count = 0;
        if let Some(list) = &mut self.list {
            let listed =
                strings(0).take_while(|&((start, end), event)| list.add(documents, start, end, event));
            count = listed.count();
            if strings(count).next().is_some()
                && let Some(listed) = self.list.take()
                && self.end_list(&listed)
            {
                for text in listed.entries.iter().map(|entry| entry.text.bytes) {
                    self.keep_once(text, 0, text.len(), recent);
                }
            }
        }
        if self.list.is_none() {
            count += match self.is_wanted {
                true => strings(count)
                    .map(|((start, end), _)| self.keep_once(documents, start, end, recent))
                    .count(),
                false => strings(count).count(),
            };
        }
        self.count += count as u32;
        count
    }

    /// The list is full, and let go: whether strings are kept for the filter from now on, which they are if they are worth it.
    pub(super) fn end_list(&mut self, list: &List<'_>) -> bool {
        let listed = &list.entries;
        let bytes: usize = listed.iter().map(|entry| entry.text.bytes.len()).sum();
        let is_instant = |text| std::str::from_utf8(text).is_ok_and(|text| text.parse::<Instant>().is_ok());
        let are_times = !listed.is_empty() && listed.iter().all(|entry| is_instant(entry.text.bytes));
        self.is_wanted = !are_times && bytes <= listed.len() * MEAN_BYTES_MAX;
        if self.is_wanted {
            self.hashes.reserve(HASHES);
        }
        self.is_wanted
    }

    /// Keeps a string for the filter, unless that was done lately.
    #[inline(always)]
    fn keep_once(&mut self, documents: &[u8], start: usize, end: usize, recent: &mut Recent) {
        let Some(text) = documents.get(start..end).filter(|text| text.len() <= FILTERED_BYTES_MAX) else {
            return;
        };
        let hash = hash(self.seed, text);
        if !recent.knows(hash) {
            self.hashes.push(hash);
            self.bytes += text.len();
        }
    }

    /// Keeps a string for the filter.
    #[inline(always)]
    pub(super) fn keep(&mut self, text: &[u8]) {
        if text.len() <= FILTERED_BYTES_MAX {
            self.hashes.push(hash(self.seed, text));
            self.bytes += text.len();
        }
    }
}
