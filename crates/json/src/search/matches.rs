//! The documents that have a key, or a text.

use super::answers::Match;
use super::documents::Documents;
use super::needle::Needle;
use super::occurrences::Occurrences;
use super::top_level::{SEVERAL, top_level};
use std::ops::Range;
use tamias_simd::{Isa, Task, Vector};

impl Documents<'_> {
    /// For each document whether the key stands at its top level in an occurrence that is kept, from all that were found of its needle and
    /// the numbers of those that are kept, in their order. It replaces what `matches` holds.
    ///
    /// Of a key that is repeated the last one counts, which takes a scan to know: such a document is [`Match::Maybe`] one
    /// if any of its occurrences is kept.
    pub fn matches(
        &self,
        isa: Isa,
        needle: &Needle,
        found: &Occurrences,
        kept: &[u32],
        matches: &mut Vec<Match>,
    ) {
        matches.clear();
        matches.resize(self.len(), Match::No);
        let key_bytes = needle.bytes().len();
        isa.run(Matches { key_bytes, documents: *self, offsets: &found.offsets, kept, matches });
        for index in &found.crowded {
            if let Some(answer) = matches.get_mut(*index as usize) {
                *answer = Match::Maybe;
            }
        }
    }

    /// The documents that have any of some occurrences: they are a [`Match::Maybe`]. It replaces what `matches` holds.
    pub fn mentions(&self, isa: Isa, found: &Occurrences, matches: &mut Vec<Match>) {
        matches.clear();
        matches.resize(self.len(), Match::No);
        isa.run(Mentions { documents: *self, found, matches });
    }
}

struct Mentions<'t> {
    documents: Documents<'t>,
    found: &'t Occurrences,
    matches: &'t mut [Match],
}

impl Task for Mentions<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        for (index, _) in self.found.runs(vector, self.documents) {
            if let Some(answer) = self.matches.get_mut(index) {
                *answer = Match::Maybe;
            }
        }
    }
}

struct Matches<'t> {
    key_bytes: usize,
    documents: Documents<'t>,
    offsets: &'t [u32],
    kept: &'t [u32],
    matches: &'t mut [Match],
}

impl Task for Matches<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Matches { key_bytes, documents, offsets, kept, matches } = self;
        let (mut index, mut at) = (0, 0);
        // The occurrences before this one belong to documents that are done.
        let mut done = 0;
        while let Some(number) = kept.get(at).map(|number| *number as usize) {
            let Some(offset) = offsets.get(number) else { break };
            let Some(found) = documents.index_of(vector, index, *offset) else { break };
            let Some(answer) = matches.get_mut(found) else { break };
            index = found + 1;
            at += 1;
            if documents.is_plain(found) {
                *answer = Match::Yes;
                continue;
            }
            // All occurrences in the document count, those that are not kept too.
            let Range { start, end } = documents.range(found);
            let before = offsets
                .get(done..number)
                .unwrap_or_default()
                .iter()
                .rev()
                .take_while(|offset| **offset as usize >= start)
                .count();
            let behind = offsets[number..].iter().take_while(|offset| (**offset as usize) < end).count();
            let all = number - before..number + behind.max(1);
            let more = kept[at..].iter().take_while(|number| (**number as usize) < all.end).count();
            let kept = &kept[at - 1..at + more];
            at += more;
            done = all.end;
            *answer = if all.len() > SEVERAL { Match::Maybe } else { Match::No };
            // The last one of the top level counts.
            for number in all.rev() {
                match top_level(vector, documents, found, offsets[number] as usize, key_bytes) {
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
