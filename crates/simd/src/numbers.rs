//! Loops over many whole numbers, compiled for each kind of CPU.

use crate::isa::{Isa, Task};
use crate::vector::Vector;

/// Appends numbers, each told by how much it is above a base, modulo 2^64.
///
/// ```
/// let mut numbers = vec![1];
/// tamias_simd::numbers::append_above(-7, &[7u8, 10], &mut numbers);
/// assert_eq!(numbers, [1, 0, 3]);
/// ```
pub fn append_above<T: Copy + Into<i64>>(base: i64, offsets: &[T], out: &mut Vec<i64>) {
    let start = out.len();
    out.resize(start + offsets.len(), base);
    add(offsets, 0, out.get_mut(start..).unwrap_or_default());
}

/// Adds to each number another one times `2^shift`, modulo 2^64. The shift is below 64.
pub fn add<T: Copy + Into<i64>>(others: &[T], shift: u32, numbers: &mut [i64]) {
    struct Add<'n, T>(&'n [T], u32, &'n mut [i64]);
    impl<T: Copy + Into<i64>> Task for Add<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self, _: V) {
            let Add(others, shift, numbers) = self;
            for (number, other) in numbers.iter_mut().zip(others) {
                *number = number.wrapping_add((*other).into() << shift);
            }
        }
    }
    Isa::best().run(Add(others, shift, numbers));
}

/// Multiplies each number, modulo 2^64.
pub fn multiply(numbers: &mut [i64], factor: i64) {
    struct Multiply<'n>(&'n mut [i64], i64);
    impl Task for Multiply<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self, _: V) {
            let Multiply(numbers, factor) = self;
            numbers.iter_mut().for_each(|number| *number = number.wrapping_mul(factor));
        }
    }
    Isa::best().run(Multiply(numbers, factor));
}

/// So many bits below the sign are enough for each of the numbers.
pub fn bits(numbers: &[i64]) -> u32 {
    struct Bits<'n>(&'n [i64]);
    impl Task for Bits<'_> {
        type Output = i64;

        #[inline(always)]
        fn run<V: Vector>(self, _: V) -> i64 {
            self.0.iter().fold(0, |bits, number| bits | (number ^ (number >> 63)))
        }
    }
    i64::BITS - Isa::best().run(Bits(numbers)).leading_zeros()
}

/// Whether one of the numbers is a multiple of `10^DIGITS`, which is at most a thousand millions.
pub fn has_multiple<const DIGITS: u32>(numbers: &[i64]) -> bool {
    struct HasMultiple<'n, const DIGITS: u32>(&'n [i64]);
    impl<const DIGITS: u32> Task for HasMultiple<'_, DIGITS> {
        type Output = bool;

        #[inline(always)]
        fn run<V: Vector>(self, _: V) -> bool {
            // A multiple of a power of five, times the inverse of that, is the quotient, and all other numbers become greater ones. So it is with the power of two, where the
            // bits that are 0 in multiples of it come first.
            let (inverse, most) = const { (inverse(5u32.pow(DIGITS)), u32::MAX / 10u32.pow(DIGITS)) };
            self.0.iter().fold(false, |has, number| {
                let magnitude = (*number as i32).unsigned_abs();
                has | (magnitude.wrapping_mul(inverse).rotate_right(DIGITS) <= most)
            })
        }
    }
    if bits(numbers) < i32::BITS {
        return Isa::best().run(HasMultiple::<DIGITS>(numbers));
    }
    numbers.iter().any(|number| number % const { 10i64.pow(DIGITS) } == 0)
}

/// The least and the greatest of the numbers.
///
/// ```
/// assert_eq!(tamias_simd::numbers::range(&[3, -8, 5]), Some((-8, 5)));
/// assert_eq!(tamias_simd::numbers::range(&[]), None);
/// ```
pub fn range(numbers: &[i64]) -> Option<(i64, i64)> {
    struct Range<'n>(&'n [i64]);
    impl Task for Range<'_> {
        type Output = (i64, i64);

        #[inline(always)]
        fn run<V: Vector>(self, _: V) -> (i64, i64) {
            let wider =
                |(least, greatest): (i64, i64), number: &i64| (least.min(*number), greatest.max(*number));
            self.0.iter().fold((i64::MAX, i64::MIN), wider)
        }
    }
    (!numbers.is_empty()).then(|| Isa::best().run(Range(numbers)))
}

/// The greatest of some binary numbers; less than all of them where there is none. What is no number does not count.
///
/// ```
/// assert_eq!(tamias_simd::numbers::greatest(&[3.5, f64::NAN, -8.0]), 3.5);
/// assert_eq!(tamias_simd::numbers::greatest(&[]), f64::NEG_INFINITY);
/// ```
pub fn greatest(numbers: &[f64]) -> f64 {
    /// So many are looked at side by side, so that none waits for the one before.
    const LANES: usize = 32;
    struct Greatest<'n>(&'n [f64]);
    impl Task for Greatest<'_> {
        type Output = f64;

        #[inline(always)]
        fn run<V: Vector>(self, _: V) -> f64 {
            let (chunks, rest) = self.0.as_chunks::<LANES>();
            let mut greatest = [f64::NEG_INFINITY; LANES];
            for chunk in chunks {
                for (greatest, number) in greatest.iter_mut().zip(chunk) {
                    *greatest = if *number > *greatest { *number } else { *greatest };
                }
            }
            greatest.iter().chain(rest).fold(f64::NEG_INFINITY, |greatest, number| greatest.max(*number))
        }
    }
    Isa::best().run(Greatest(numbers))
}

/// Whether pairs of unsigned numbers, the lowest byte first, are in order: by the first ones, and by the second ones where these are equal.
///
/// ```
/// let pairs = |of: [u64; 3]| of.map(u64::to_le_bytes);
/// assert!(tamias_simd::numbers::are_in_order(&pairs([1, 1, 700]), &pairs([5, 5, 0])));
/// assert!(!tamias_simd::numbers::are_in_order(&pairs([1, 1, 700]), &pairs([5, 4, 0])));
/// ```
pub fn are_in_order(firsts: &[[u8; 8]], seconds: &[[u8; 8]]) -> bool {
    struct Order<'n>(&'n [[u8; 8]], &'n [[u8; 8]]);
    impl Task for Order<'_> {
        type Output = bool;

        #[inline(always)]
        fn run<V: Vector>(self, _: V) -> bool {
            let Order(firsts, seconds) = self;
            let (next, behind) = (firsts.get(1..).unwrap_or_default(), seconds.get(1..).unwrap_or_default());
            // As good as always they are: all are gone over without branches.
            let pairs = firsts.iter().zip(next).zip(seconds.iter().zip(behind));
            let against = pairs.fold(0, |against, ((first, next), (second, behind))| {
                let (first, next) = (u64::from_le_bytes(*first), u64::from_le_bytes(*next));
                let (second, behind) = (u64::from_le_bytes(*second), u64::from_le_bytes(*behind));
                against | u64::from(first > next) | (u64::from(first == next) & u64::from(second > behind))
            });
            against == 0
        }
    }
    Isa::best().run(Order(firsts, seconds))
}

/// What is told of each number by comparing it. What tells it had better be a few instructions without branches, so that it is inlined.
///
/// ```
/// assert_eq!(tamias_simd::numbers::told(&[3, 8], |number| number > 5), [false, true]);
/// ```
pub fn told<A: Copy + Default>(numbers: &[i64], tell: impl Fn(i64) -> A) -> Vec<A> {
    struct Told<'n, A, T>(&'n [i64], &'n mut [A], T);
    impl<A, T: Fn(i64) -> A> Task for Told<'_, A, T> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self, _: V) {
            let Told(numbers, told, tell) = self;
            told.iter_mut().zip(numbers).for_each(|(told, number)| *told = tell(*number));
        }
    }
    let mut all = vec![A::default(); numbers.len()];
    Isa::best().run(Told(numbers, &mut all, tell));
    all
}

/// What comes of each number and the other one at its place, as [`told`] has it of single ones.
///
/// ```
/// assert_eq!(tamias_simd::numbers::of_both(&[3, 8], &[5, 1], |one, other| one - other), [-2, 7]);
/// ```
pub fn of_both<A: Copy + Default>(ones: &[i64], others: &[i64], of: impl Fn(i64, i64) -> A) -> Vec<A> {
    struct Both<'n, A, F>(&'n [i64], &'n [i64], &'n mut [A], F);
    impl<A, F: Fn(i64, i64) -> A> Task for Both<'_, A, F> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self, _: V) {
            let Both(ones, others, all, of) = self;
            all.iter_mut().zip(ones.iter().zip(others)).for_each(|(to, (one, other))| *to = of(*one, *other));
        }
    }
    let mut all = vec![A::default(); ones.len().min(others.len())];
    Isa::best().run(Both(ones, others, &mut all, of));
    all
}

/// Replaces the numbers at places that are marked so, or not, by the others there.
///
/// ```
/// let mut numbers = [1, 2];
/// tamias_simd::numbers::replace(&mut numbers, &[false, true], false, &[8, 9]);
/// assert_eq!(numbers, [8, 2]);
/// ```
pub fn replace(numbers: &mut [i64], marks: &[bool], marked: bool, others: &[i64]) {
    struct Replace<'n>(&'n mut [i64], &'n [bool], bool, &'n [i64]);
    impl Task for Replace<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self, _: V) {
            let Replace(numbers, marks, marked, others) = self;
            for ((number, mark), other) in numbers.iter_mut().zip(marks).zip(others) {
                *number = if *mark == marked { *other } else { *number };
            }
        }
    }
    Isa::best().run(Replace(numbers, marks, marked, others));
}

/// [`replace`]s them by one number.
pub fn replace_by(numbers: &mut [i64], marks: &[bool], marked: bool, other: i64) {
    struct Replace<'n>(&'n mut [i64], &'n [bool], bool, i64);
    impl Task for Replace<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self, _: V) {
            let Replace(numbers, marks, marked, other) = self;
            for (number, mark) in numbers.iter_mut().zip(marks) {
                *number = if *mark == marked { other } else { *number };
            }
        }
    }
    Isa::best().run(Replace(numbers, marks, marked, other));
}

/// Whether one of the numbers is zero.
///
/// ```
/// assert!(tamias_simd::numbers::has_zero(&[3, 0]) && !tamias_simd::numbers::has_zero(&[-1]));
/// ```
pub fn has_zero(numbers: &[i64]) -> bool {
    struct HasZero<'n>(&'n [i64]);
    impl Task for HasZero<'_> {
        type Output = bool;

        #[inline(always)]
        fn run<V: Vector>(self, _: V) -> bool {
            self.0.iter().fold(false, |has, number| has | (*number == 0))
        }
    }
    Isa::best().run(HasZero(numbers))
}

/// What an odd number is to be multiplied with, modulo 2^32, so that 1 comes of it.
const fn inverse(odd: u32) -> u32 {
    // Each step doubles the bits that are right, and three of the number itself are.
    let (mut inverse, mut step) = (odd, 0);
    while step < 4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<i64>> {
        let number = prop_oneof![-2_000..2_000i64, any::<i32>().prop_map(i64::from), any::<i64>()];
        prop_oneof![
            prop::collection::vec(-2_000..2_000i64, 0..70),
            prop::collection::vec(any::<i32>().prop_map(i64::from), 0..70),
            prop::collection::vec(number, 0..70),
        ]
    }

    proptest! {
        #[test]
        fn multiples_of_powers_of_ten_are_found(numbers in numbers(), power in 1..5u32) {
            let has = match power {
                1 => has_multiple::<1>(&numbers),
                2 => has_multiple::<2>(&numbers),
                3 => has_multiple::<3>(&numbers),
                _ => has_multiple::<4>(&numbers),
            };
            prop_assert_eq!(has, numbers.iter().any(|number| number % 10i64.pow(power) == 0));
        }

        #[test]
        fn ranges_and_orders_are_told_as_one_by_one(
            numbers in numbers(), pairs in prop::collection::vec((0..4u64, any::<u64>()), 0..40), sorts in any::<bool>()
        ) {
            let expected = numbers.iter().min().copied().zip(numbers.iter().max().copied());
            prop_assert_eq!(range(&numbers), expected);
            let mut pairs = pairs;
            if sorts {
                pairs.sort_unstable();
            }
            let (firsts, seconds): (Vec<_>, Vec<_>) =
                pairs.iter().map(|(first, second)| (first.to_le_bytes(), second.to_le_bytes())).unzip();
            prop_assert_eq!(are_in_order(&firsts, &seconds), pairs.is_sorted());
        }

        #[test]
        fn numbers_are_added_and_multiplied_as_one_by_one(
            numbers in numbers(), offsets in prop::collection::vec(any::<u32>(), 0..70), shift in 0..56u32, factor in any::<i64>()
        ) {
            let mut sums = numbers.clone();
            append_above(-7, &offsets, &mut sums);
            prop_assert_eq!(&sums[..numbers.len()], numbers.as_slice());
            prop_assert!(sums[numbers.len()..].iter().zip(&offsets).all(|(sum, offset)| sum + 7 == i64::from(*offset)));
            let bytes: Vec<u8> = offsets.iter().map(|offset| *offset as u8).collect();
            let before = sums.clone();
            add(&bytes, shift, &mut sums);
            for (place, (sum, before)) in sums.iter().zip(before).enumerate() {
                let more = bytes.get(place).map_or(0, |byte| i64::from(*byte) << shift);
                prop_assert_eq!(*sum, before.wrapping_add(more));
            }
            let mut products = numbers.clone();
            multiply(&mut products, factor);
            prop_assert!(products.iter().zip(&numbers).all(|(product, number)| *product == number.wrapping_mul(factor)));
        }

        #[test]
        fn marked_numbers_are_replaced(
            numbers in numbers(), others in numbers(), marks in prop::collection::vec(any::<bool>(), 0..70), marked: bool, other in any::<i64>()
        ) {
            let (mut some, mut by_one) = (numbers.clone(), numbers.clone());
            replace(&mut some, &marks, marked, &others);
            replace_by(&mut by_one, &marks, marked, other);
            for (place, number) in numbers.iter().enumerate() {
                let is_replaced = marks.get(place) == Some(&marked);
                prop_assert_eq!(some[place], if is_replaced { *others.get(place).unwrap_or(number) } else { *number });
                prop_assert_eq!(by_one[place], if is_replaced { other } else { *number });
            }
        }

        #[test]
        fn the_greatest_is_that_of_all(numbers in prop::collection::vec(prop_oneof![Just(f64::NAN), -1e9..1e9], 0..100)) {
            prop_assert_eq!(greatest(&numbers), numbers.iter().fold(f64::NEG_INFINITY, |greatest, number| greatest.max(*number)));
        }

        #[test]
        fn bits_are_enough_and_no_more(numbers in numbers()) {
            let own = |number: &i64| i64::BITS - (number ^ (number >> 63)).leading_zeros();
            prop_assert_eq!(bits(&numbers), numbers.iter().map(own).max().unwrap_or(0));
        }
    }
}
