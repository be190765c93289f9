//! Two numbers as one key.

use super::found::Found;
use super::words::{TOGETHER, Words};

/// Pairs of numbers, told apart: each has the number of how many came before it.
#[derive(Default)]
pub(crate) struct Pairs(Words);

/// Both numbers as one.
#[inline]
fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << u32::BITS | u64::from(second)
}

impl Pairs {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The numbers of a pair.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> (u32, u32) {
        let pair = self.0.get(number).unwrap_or_default();
        ((pair >> u32::BITS) as u32, pair as u32)
    }

    /// Adds a pair that is known to be none of these: its number.
    #[inline]
    pub(crate) fn push(&mut self, first: u32, second: u32) -> u32 {
        self.0.push(pair(first, second))
    }

    /// The number of a pair, which is added if it is new.
    pub(crate) fn find(&mut self, first: u32, second: u32) -> Found {
        self.0.find(pair(first, second))
    }

    /// The same of many, of which the first numbers stand where their own are to come. The places of those that are new are added.
    pub(crate) fn find_all(&mut self, numbers: &mut [u32], seconds: &[u32], new: &mut Vec<u32>) {
        let all = numbers.chunks_mut(TOGETHER).zip(seconds.chunks(TOGETHER));
        for ((numbers, seconds), begin) in all.zip((0..).step_by(TOGETHER)) {
            let mut words = [0; TOGETHER];
            let firsts = numbers.iter().zip(seconds);
            words.iter_mut().zip(firsts).for_each(|(word, (first, second))| *word = pair(*first, *second));
            self.0.find_some(words.get(..seconds.len()).unwrap_or_default(), |at, found| {
                if let Found::New(_) = found {
                    new.push(begin + at as u32);
                }
                if let Some(number) = numbers.get_mut(at) {
                    *number = found.number();
                }
            });
        }
    }

    /// Forgets how pairs are found: what they are is all that is asked for from now on.
    pub(crate) fn close(&mut self) {
        self.0.close();
    }

    /// What it holds once it is closed, in bytes.
    pub(crate) fn closed_bytes(&self) -> usize {
        self.0.closed_bytes()
    }

    /// What it has held in memory at most, in bytes; soon before it grows also what it will hold while it does. It never becomes less.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_pairs_and_only_they_have_a_number_in_common(
            pairs in prop::collection::vec((0u32..4, 0u32..20), 0..200),
            alone in prop::collection::vec((0u32..4, 0u32..20), 0..10),
        ) {
            let mut table = Pairs::default();
            let mut all: Vec<(u32, u32)> = Vec::new();
            let mut expected = |pair: (u32, u32)| match all.iter().position(|other| *other == pair) {
                Some(place) => Found::Known(place as u32),
                None => {
                    all.push(pair);
                    Found::New(all.len() as u32 - 1)
                }
            };
            for (a, b) in alone {
                prop_assert_eq!(table.find(a, b), expected((a, b)));
            }
            let (mut numbers, seconds): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
            let mut new = Vec::new();
            table.find_all(&mut numbers, &seconds, &mut new);
            let is_new = |at: usize| new.contains(&(at as u32));
            let found: Vec<Found> = numbers.iter().enumerate().map(|(at, number)| match is_new(at) {
                true => Found::New(*number),
                false => Found::Known(*number),
            }).collect();
            prop_assert_eq!(found, pairs.iter().map(|pair| expected(*pair)).collect::<Vec<_>>());
            prop_assert_eq!(table.len(), all.len());
            for (number, pair) in (0..).zip(&all) {
                prop_assert_eq!(table.get(number), *pair);
            }
        }
    }
}
