//! Many quotients at once in units of the last place that a decimal has, for sums: a loop without branches that the compiler turns into vectors.

use super::quotients::{Quotients, TOGETHER};
use crate::value::{BINARY_POWERS, WHOLE_POWERS};
use rust_decimal::Decimal;
use std::ops::Range;
use tamias_simd::{Isa, Task, Vector};

/// So many digits of a fraction are found together, by way of binary numbers: five roundings leave less than a tenth of the last digit uncertain.
pub(super) const DIGITS: usize = 14;

/// Numbers of more bits leave the whole part of a quotient uncertain.
const SHORT_BITS: u32 = 50;

/// Added to a whole number, it leaves its bits at the end.
pub(super) const ONE_APART: f64 = (1u64 << 52) as f64;

/// Quotients with more digits before the point that a decimal lacks behind it are rare.
pub(super) const MISSING_MAX: usize = 5;

/// Numbers below these leave room for 28 digits behind the point, for one less, and so on.
pub(super) const ENDS: [f64; MISSING_MAX + 1] = {
    let mut ends = [0.0; MISSING_MAX + 1];
    let mut nth = 0;
    while nth < ends.len() {
        ends[nth] = (1u128 << 96) as f64 / BINARY_POWERS[Decimal::MAX_SCALE as usize - nth];
        nth += 1;
    }
    ends
};

/// An estimate that is as near to one of them does not tell on which side the number is.
const NEXT_TO_END: f64 = 1e-13;

const HALF: i128 = WHOLE_POWERS[DIGITS] as i128;

/// Quotients in three parts, whose sums have room in 64 bits each: before the point, and the digits behind it by fourteen.
pub(super) struct Parts {
    pub(super) wholes: [i64; TOGETHER],
    pub(super) firsts: [i64; TOGETHER],
    pub(super) seconds: [i64; TOGETHER],
    /// Whether that is what a quotient comes to.
    pub(super) are_told: [bool; TOGETHER],
}

impl Default for Parts {
    fn default() -> Parts {
        let [wholes, firsts, seconds] = [[0; TOGETHER]; 3];
        Parts { wholes, firsts, seconds, are_told: [false; TOGETHER] }
    }
}

/// What the numbers at some places come to, times 10^28.
pub(crate) enum Units<'q> {
    /// All of them together.
    Sum(i128),
    /// One after the other; none where it takes more to tell.
    Each(&'q [Option<i128>]),
}

/// Calls `act` for some quotients after the others, by their places, with what they come to: with their sums, where these suffice.
pub(super) fn each_units(quotients: &Quotients, are_sums: bool, act: impl FnMut(Range<usize>, Units<'_>)) {
    let isa = Isa::best();
    let (mut dividends, mut divisors) = ([0; TOGETHER], [1; TOGETHER]);
    let tell = |places: Range<usize>, parts: &mut Parts| {
        let are_whole = quotients.fill(places, &mut dividends, &mut divisors) == Some(0);
        // What is left of the quotients before is divided again, and not looked at.
        isa.run(Divide { dividends: &dividends, divisors: &divisors, parts });
        are_whole
    };
    each_of_parts(quotients.len(), are_sums, tell, act);
}

/// The same of so many numbers, with what tells the parts of those at some places, or that none of them is told.
pub(super) fn each_of_parts(
    count: usize,
    are_sums: bool,
    mut tell: impl FnMut(Range<usize>, &mut Parts) -> bool,
    mut act: impl FnMut(Range<usize>, Units<'_>),
) {
    let (mut parts, mut each) = (Parts::default(), [None; TOGETHER]);
    for start in (0..count).step_by(TOGETHER) {
        let places = start..count.min(start + TOGETHER);
        let are_some = tell(places.clone(), &mut parts);
        let Parts { wholes, firsts, seconds, are_told } = &parts;
        if are_sums && are_some && are_told.iter().take(places.len()).all(|is_told| *is_told) {
            let [whole, first, second] =
                [wholes, firsts, seconds].map(|part| part.iter().take(places.len()).sum::<i64>());
            act(places, Units::Sum(units(whole, first, second)));
            continue;
        }
        let all = wholes.iter().zip(firsts).zip(seconds).zip(are_told);
        for (place, (((whole, first), second), is_told)) in each.iter_mut().zip(all) {
            *place = (are_some && *is_told).then(|| units(*whole, *first, *second));
        }
        let each = each.get(..places.len()).unwrap_or_default();
        act(places, Units::Each(each));
    }
}

#[inline]
fn units(whole: i64, first: i64, second: i64) -> i128 {
    (i128::from(whole) * HALF + i128::from(first)) * HALF + i128::from(second)
}

struct Divide<'p> {
    dividends: &'p [i64; TOGETHER],
    divisors: &'p [i64; TOGETHER],
    parts: &'p mut Parts,
}

impl Task for Divide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Divide { dividends, divisors, parts } = self;
        let places = parts.wholes.iter_mut().zip(&mut parts.firsts).zip(&mut parts.seconds);
        let numbers = dividends.iter().zip(divisors);
        for ((((whole, first), second), is_told), (dividend, divisor)) in
            places.zip(&mut parts.are_told).zip(numbers)
        {
            (*whole, *first, *second, *is_told) = divide(*dividend, *divisor);
        }
    }
}

/// A quotient in its parts, and whether that is what it comes to: any numbers where not.
#[inline(always)]
fn divide(dividend: i64, divisor: i64) -> (i64, i64, i64, bool) {
    let sign = (dividend ^ divisor) >> (i64::BITS - 1);
    let (of, by) = (magnitude(dividend), magnitude(divisor));
    let inverse = 1.0 / binary(by);
    let (whole, rest) = next(of, by, inverse, 1);
    let Lacking { power, missing, is_told } = Lacking::of(binary(of) * inverse);
    let is_told = is_told & ((of | by) >> SHORT_BITS == 0);
    let (first, rest) = next(rest, by, inverse, WHOLE_POWERS[DIGITS]);
    let (second, rest) = next(rest, by, inverse, power);
    let twice = rest.wrapping_mul(2);
    let is_up = (twice > by) | ((twice == by) & (second & 1 == 1));
    let second = second.wrapping_add(i64::from(is_up)).wrapping_mul(missing);
    (signed(whole, sign), signed(first, sign), signed(second, sign), is_told)
}

/// The digits behind the point that a decimal has no room for, since there are others before it.
pub(super) struct Lacking {
    /// The power of ten of those that there are behind the first fourteen.
    pub(super) power: i64,
    /// That of those that are missing.
    pub(super) missing: i64,
    /// Whether an estimate tells it.
    pub(super) is_told: bool,
}

impl Lacking {
    /// Of a number that is not negative, by its estimate.
    #[inline(always)]
    pub(super) fn of(estimate: f64) -> Lacking {
        let (mut power, mut missing) = (WHOLE_POWERS[DIGITS], 1);
        let mut is_told = estimate < ENDS[MISSING_MAX];
        for nth in 0..MISSING_MAX {
            let is_over = estimate > ENDS[nth];
            is_told &= (estimate - ENDS[nth]).abs() > ENDS[nth] * NEXT_TO_END;
            power = if is_over { WHOLE_POWERS[DIGITS - 1 - nth] } else { power };
            missing = if is_over { WHOLE_POWERS[nth + 1] } else { missing };
        }
        Lacking { power, missing, is_told }
    }
}

#[inline(always)]
pub(super) fn magnitude(number: i64) -> i64 {
    signed(number, number >> (i64::BITS - 1))
}

/// A number with another sign where that is all ones, not zeros.
#[inline(always)]
pub(super) fn signed(number: i64, sign: i64) -> i64 {
    (number ^ sign).wrapping_sub(sign)
}

/// The binary number of a whole one of at most 52 bits.
#[inline(always)]
pub(super) fn binary(number: i64) -> f64 {
    f64::from_bits(number as u64 | ONE_APART.to_bits()) - ONE_APART
}

/// The next digits of what is left of a division, as many as the power of ten has zeros, and what is left then.
#[inline(always)]
fn next(rest: i64, divisor: i64, inverse: f64, power: i64) -> (i64, i64) {
    let guess = binary(rest) * inverse * binary(power) + ONE_APART;
    let guess = guess.to_bits().wrapping_sub(ONE_APART.to_bits()) as i64;
    // The nearest whole number, about: it is one too many, or right, and what is left is told by its last 64 bits.
    let left = rest.wrapping_mul(power).wrapping_sub(guess.wrapping_mul(divisor));
    let below = left >> (i64::BITS - 1);
    (guess.wrapping_add(below), left.wrapping_add(divisor & below))
}

#[cfg(test)]
mod tests {
    use super::super::quotient::Quotient;
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
            -1000i64..1000,
            (any::<i64>(), 10u32..16).prop_map(|(number, shift)| number >> shift),
            (0u32..63, 0u32..27).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

        #[test]
        fn units_of_many_are_those_of_each(numbers in prop::collection::vec((number(), number()), 1..200)) {
            let quotients: Vec<Quotient> =
                numbers.iter().filter_map(|(dividend, divisor)| Quotient::of(*dividend, *divisor)).collect();
            for are_sums in [false, true] {
                let mut count = 0;
                each_units(&quotients.iter().copied().collect(), are_sums, |places, units| {
                    count += places.len();
                    let some = &quotients[places];
                    let expected = some.iter().map(|quotient| units_of(*quotient));
                    match units {
                        Units::Sum(sum) => assert_eq!(expected.sum::<i128>(), sum),
                        Units::Each(each) => {
                            assert_eq!(each.len(), some.len());
                            for (told, quotient) in each.iter().zip(some) {
                                assert!(told.is_none_or(|told| told == units_of(*quotient)), "{told:?} {quotient:?}");
                            }
                        }
                    }
                });
                prop_assert_eq!(count, quotients.len());
            }
        }

        /// Of numbers as they are measured.
        #[test]
        fn short_quotients_are_told_together(dividend in 0i64..10_000_000, divisor in 1000i64..10_000_000) {
            let quotient = Quotient::of(dividend, divisor).unwrap();
            each_units(&Quotients::from_iter([quotient]), true, |_, units| match units {
                Units::Sum(sum) => assert_eq!(sum, units_of(quotient)),
                Units::Each(_) => panic!("{quotient:?}"),
            });
        }
    }

    /// Of what has few digits before the point.
    fn units_of(quotient: Quotient) -> i128 {
        let (significand, scale) = quotient.significand();
        significand * 10i128.pow(Decimal::MAX_SCALE - scale)
    }
}
