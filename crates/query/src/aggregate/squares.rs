//! Sums of squares of numbers that are told in units of the last place that a decimal has.

use crate::value::Long;
use rust_decimal::Decimal;

/// The squares of some numbers, added up in 256 bits and more.
#[derive(Clone, Default)]
pub(super) struct Squares {
    lower: u128,
    upper: u128,
    /// How often the other two were full.
    full: u64,
}

/// So many bits of a number leave the square of its upper half room for what is carried to it.
const BITS: u32 = 126;

const HALF: u32 = u64::BITS;

impl Squares {
    /// Adds the square of a number, times 10^28; none where that is too long.
    #[inline]
    pub(super) fn add(&mut self, units: i128) -> Option<()> {
        let units = units.unsigned_abs();
        if units >> BITS != 0 {
            return None;
        }
        let (upper, lower) = (units >> HALF, u128::from(units as u64));
        let twice = 2 * upper * lower;
        let (square, carry) = (lower * lower).overflowing_add(twice << HALF);
        self.add_words(square, upper * upper + (twice >> HALF) + u128::from(carry), 0);
        Some(())
    }

    #[inline]
    fn add_words(&mut self, lower: u128, upper: u128, full: u64) {
        let (lower, carry) = self.lower.overflowing_add(lower);
        // What is carried has room: no sum of squares is as long as that yet.
        let (upper, is_full) = self.upper.overflowing_add(upper + u128::from(carry));
        (self.lower, self.upper) = (lower, upper);
        self.full = self.full.saturating_add(full + u64::from(is_full));
    }

    /// Adds what others have added.
    pub(super) fn merge(&mut self, other: &Squares) {
        self.add_words(other.lower, 0, 0);
        self.add_words(0, other.upper, other.full);
    }

    /// The sum.
    pub(super) fn long(&self) -> Long {
        let word = |word: u64| Long::new(word.into(), 0);
        let parts = [self.full, (self.upper >> HALF) as u64, self.upper as u64, (self.lower >> HALF) as u64];
        let base = Long::new(1 << HALF, 0);
        let upper = parts.into_iter().fold(Long::default(), |sum, part| sum.plus(&word(part)).times(&base));
        upper.plus(&word(self.lower as u64)).times(&Long::new(1, 2 * Decimal::MAX_SCALE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn squares_are_those_of_long_numbers(numbers in prop::collection::vec((any::<i128>(), 2u32..128), 0..20), split in 0usize..20) {
            let (mut first, mut second, mut plain) = (Squares::default(), Squares::default(), Long::default());
            for (place, (number, shift)) in numbers.iter().enumerate() {
                let units = number >> shift;
                let squares = if place < split { &mut first } else { &mut second };
                prop_assert!(squares.add(units).is_some());
                let long = Long::new(units, Decimal::MAX_SCALE);
                plain = plain.plus(&long.times(&long));
            }
            first.merge(&second);
            let (sum, plain) = (first.long().number(), plain.number());
            prop_assert_eq!(sum.text(), plain.text());
        }
    }

    #[test]
    fn sums_longer_than_two_words_are_counted() {
        let mut squares = Squares::default();
        let most = (1 << BITS) - 1;
        (0..100).for_each(|_| squares.add(most).unwrap());
        assert!(squares.full > 0);
        let long = Long::new(most, Decimal::MAX_SCALE);
        let plain = long.times(&long).times(&Long::new(100, 0));
        assert_eq!(squares.long().number().text(), plain.number().text());
        assert!(squares.add(1 << BITS).is_none());
    }
}
