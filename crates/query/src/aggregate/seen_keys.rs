//! The different values of one group, by the numbers that keys have from query to query: a bit for each.

use crate::chunk::Mantissas;
use crate::dictionary::Dictionary;
use crate::key_numbers::{KeptKeys, NumberedKeys};
use crate::keys::Keys;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

/// Values that were met, none twice.
pub(super) struct SeenKeys {
    /// The keys that outlive the query, as long as these may be used.
    kept: Option<Arc<KeptKeys>>,
    /// A bit for each of their numbers: whether it was met.
    bits: Vec<u64>,
    /// Values that were not found among them. More keys may have come to these since, and have been met there as well.
    own: Keys,
    /// How many there are, once that was asked.
    told: OnceLock<u64>,
}

/// So many keys are spelled before they are looked up together.
const SPELLED_TOGETHER: usize = 1024;

impl SeenKeys {
    pub(super) fn new(kept: Arc<KeptKeys>) -> SeenKeys {
        SeenKeys { kept: Some(kept), bits: Vec::new(), own: Keys::default(), told: OnceLock::new() }
    }

    /// Takes in entries of a dictionary, of which some may be undefined.
    pub(super) fn take_entries(&mut self, dictionary: &Arc<Dictionary>, codes: impl Iterator<Item = u32>) {
        self.change();
        let are_again = dictionary.are_keys_again();
        let numbers = self.kept.as_ref().and_then(|kept| kept.numbers_of(dictionary, are_again));
        let Some(numbers) = numbers else {
            let codes: Vec<u32> = codes.filter(|code| dictionary.first(*code).is_some()).collect();
            return self.look_up(dictionary, &codes);
        };
        for code in codes {
            if let (Some(number), Some(1..)) =
                (numbers.numbers.get(code as usize), numbers.firsts.get(code as usize))
            {
                mark(&mut self.bits, *number);
            }
        }
    }

    /// Takes in entries that have no numbers yet: by those of equal keys, as far as there are any.
    fn look_up(&mut self, dictionary: &Dictionary, codes: &[u32]) {
        let mut known = Vec::new();
        if let Some(kept) = &self.kept {
            // The table may have to spell them, which it cannot while it is read.
            dictionary.spell();
            kept.read().look_ahead(codes.iter().map(|code| dictionary.get(*code)), &mut known);
        }
        known.resize(codes.len(), 0);
        let mut unknown = Vec::new();
        for (code, known) in codes.iter().zip(known) {
            match known.checked_sub(1) {
                Some(number) => mark(&mut self.bits, number),
                None => unknown.push(dictionary.get(*code)),
            }
        }
        self.own.find_all(unknown.into_iter(), |_| {});
    }

    /// Takes in JSON texts.
    pub(super) fn take_all<'j>(&mut self, texts: impl Iterator<Item = &'j [u8]>) {
        self.change();
        self.own.find_all(texts, |_| {});
    }

    /// Takes in a JSON text.
    pub(super) fn take(&mut self, json: &[u8]) {
        self.change();
        self.own.find(json);
    }

    /// Takes in numbers.
    pub(super) fn take_numbers(&mut self, numbers: &Mantissas) {
        self.change();
        self.own.find_numbers(numbers, |_| {});
    }

    /// Takes in the values of another thread.
    pub(super) fn merge(&mut self, mut other: SeenKeys) {
        self.change();
        let are_same = match (&self.kept, &other.kept) {
            (Some(own), Some(kept)) => Arc::ptr_eq(own, kept),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if are_same {
            let words = self.bits.len().max(other.bits.len());
            self.bits.resize(words, 0);
            self.bits.iter_mut().zip(&other.bits).for_each(|(own, bits)| *own |= bits);
        } else {
            self.do_without();
            other.do_without();
        }
        let merged = self.own.try_merge(&other.own, |_| Ok::<(), Infallible>(()));
        match merged {
            Ok(()) => {}
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        *self.told.get_or_init(|| {
            let by_number: u64 = self.bits.iter().map(|word| u64::from(word.count_ones())).sum();
            match &self.kept {
                Some(kept) if by_number > 0 => by_number + self.not_met_by_number(&kept.read()),
                _ => self.own.len() as u64,
            }
        })
    }

    /// How many values without a number are none of those that were met by theirs.
    fn not_met_by_number(&self, keys: &NumberedKeys) -> u64 {
        let (mut count, mut known) = (0, Vec::new());
        let mut numbers = 0..self.own.len() as u32;
        while !numbers.is_empty() {
            let some: Vec<_> =
                numbers.by_ref().take(SPELLED_TOGETHER).map(|number| self.own.first(number)).collect();
            keys.look_ahead(some.iter().map(|text| &**text), &mut known);
            for (text, known) in some.iter().zip(&known) {
                let number = known.checked_sub(1).or_else(|| keys.known(text));
                count += u64::from(!number.is_some_and(|number| has(&self.bits, number)));
            }
        }
        count
    }

    /// Before more is taken in: what was told does not hold any more, and what is given up is done without.
    fn change(&mut self) {
        self.told = OnceLock::new();
        if self.kept.as_ref().is_some_and(|kept| kept.is_given_up()) {
            self.do_without();
        }
    }

    /// Takes all in by their texts.
    fn do_without(&mut self) {
        let (Some(kept), bits) = (self.kept.take(), std::mem::take(&mut self.bits)) else { return };
        let keys = kept.read();
        let mut met = (0..keys.len() as u32).filter(|number| has(&bits, *number));
        loop {
            let some: Vec<_> = met.by_ref().take(SPELLED_TOGETHER).map(|number| keys.first(number)).collect();
            if some.is_empty() {
                return;
            }
            self.own.find_all(some.iter().map(|text| &**text), |_| {});
        }
    }

    /// What they take in memory, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.bits.as_slice()) + self.own.bytes()
    }
}

fn mark(bits: &mut Vec<u64>, number: u32) {
    let word = (number / u64::BITS) as usize;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    if let Some(word) = bits.get_mut(word) {
        *word |= 1 << (number % u64::BITS);
    }
}

fn has(bits: &[u64], number: u32) -> bool {
    bits.get((number / u64::BITS) as usize).is_some_and(|word| word >> (number % u64::BITS) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_numbers::KeyNumbers;
    use crate::key_table::KeyTable;
    use proptest::prelude::*;

    /// Some are equal to others, or spelled in several ways.
    const VALUES: [&str; 12] =
        ["", "null", "1", "1.0", "1e0", "1.50", "15e-1", r#""a""#, r#""\u0061""#, r#""b""#, "[1]", "[1.0]"];

    /// What is done with the values of a query, in this order.
    #[derive(Clone, Debug)]
    enum Step {
        /// Entries of a dictionary, which may have been taken before.
        Entries(usize),
        Texts(Vec<usize>),
        One(usize),
        Numbers(Vec<i64>),
        Ask,
        GiveUp,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0..5usize).prop_map(Step::Entries),
            1 => prop::collection::vec(1..VALUES.len(), 1..5).prop_map(Step::Texts),
            1 => (1..VALUES.len()).prop_map(Step::One),
            1 => prop::collection::vec(0..3i64, 1..5).prop_map(Step::Numbers),
            1 => Just(Step::Ask),
            1 => Just(Step::GiveUp),
        ]
    }

    proptest! {
        #[test]
        fn values_are_counted_once_however_they_are_told_apart(
            values in prop::collection::vec(prop::collection::vec(0..VALUES.len(), 1..6), 5),
            queries in prop::collection::vec((prop::collection::vec(step(), 0..10), prop::collection::vec(step(), 0..10)), 1..6),
        ) {
            let numbers = KeyNumbers::new(1 << 20);
            let json = |value: &usize| VALUES[*value].as_bytes();
            let dictionary = |values: &Vec<usize>| Arc::new(Dictionary::of(values.iter().map(json)));
            let dictionaries: Vec<_> = values.iter().map(dictionary).collect();
            for (steps, others) in queries {
                let Some(kept) = numbers.ask("path") else { continue };
                let mut expected = KeyTable::default();
                let mut of = |steps: &[Step]| {
                    let mut seen = SeenKeys::new(kept.clone());
                    for step in steps {
                        let mut texts: Vec<Vec<u8>> = Vec::new();
                        match step {
                            Step::Entries(of) => {
                                texts.extend(values[*of].iter().map(|value| json(value).to_vec()));
                                seen.take_entries(&dictionaries[*of], 0..texts.len() as u32);
                            }
                            Step::Texts(of) => {
                                texts.extend(of.iter().map(|value| json(value).to_vec()));
                                seen.take_all(of.iter().map(json));
                            }
                            Step::One(of) => {
                                texts.push(json(of).to_vec());
                                seen.take(json(of));
                            }
                            Step::Numbers(of) => {
                                texts.extend(of.iter().map(|number| number.to_string().into_bytes()));
                                seen.take_numbers(&Mantissas { values: of.clone(), ..Mantissas::default() });
                            }
                            Step::Ask => _ = seen.len(),
                            Step::GiveUp => numbers.shrink(0, 0),
                        }
                        for text in texts.iter().filter(|text| !text.is_empty()) {
                            expected.find(0, text, false);
                        }
                    }
                    seen
                };
                let (mut seen, other) = (of(&steps), of(&others));
                seen.merge(other);
                // The number of the next one is how many there are.
                let next = expected.find(0, br#""another one""#, false).number();
                prop_assert_eq!(seen.len(), u64::from(next));
            }
        }
    }

    #[test]
    fn what_comes_again_takes_a_bit() {
        let numbers = KeyNumbers::new(1 << 20);
        assert!(numbers.ask("path").is_none(), "a query that comes once pays nothing");
        let texts: Vec<String> = (0..1000).map(|number| format!("\"{number} of many\"")).collect();
        let all = Arc::new(Dictionary::of(texts.iter().map(|text| text.as_bytes())));
        let count = || {
            let mut seen = SeenKeys::new(numbers.ask("path").unwrap());
            seen.take_entries(&all, 0..1000);
            (seen.len(), seen.own.len(), seen.bits.len())
        };
        assert_eq!(count(), (1000, 1000, 0));
        assert_eq!(count(), (1000, 0, 16));
    }
}
