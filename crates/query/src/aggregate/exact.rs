//! Sums that never round before the end, so that the order of the events does not matter.

use super::shares::{self, DIGITS};
use crate::value::{BINARY_POWERS, Long, Number, TooLarge, WHOLE_POWERS};
use rust_decimal::Decimal;

/// A sum of numbers, and how many were counted. There are as many as groups: it takes half a line of the cache.
#[derive(Clone, Default)]
pub(super) struct ExactSum {
    /// The sum of most numbers, in the greatest of their scales.
    first: i128,
    /// What the first has no room for; mostly nothing.
    others: Option<Box<Others>>,
    /// The scale of the first in the lowest byte, and the count above it.
    scale_and_count: u64,
}

/// What of a sum is not of the scale that most of its numbers have.
#[derive(Clone, Default)]
struct Others {
    /// For each scale, from 0 on, the sum of the significands that the first has no room for.
    parts: Vec<i128>,
    /// The sum of all that the parts have no room for.
    long: Option<Long>,
    /// How many numbers had digits beyond those that are reckoned with.
    too_long: u64,
}

impl ExactSum {
    #[inline]
    fn first_scale(&self) -> u32 {
        u32::from(self.scale_and_count as u8)
    }

    #[inline]
    fn set_first_scale(&mut self, scale: u8) {
        self.scale_and_count = self.scale_and_count & !u64::from(u8::MAX) | u64::from(scale);
    }

    /// How many numbers were counted.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.scale_and_count >> u8::BITS
    }

    /// Counts so many numbers. All that there ever are have room.
    #[inline]
    pub(super) fn count_more(&mut self, numbers: u64) {
        self.scale_and_count = self.scale_and_count.wrapping_add(numbers << u8::BITS);
    }

    /// How many numbers were noted that have too many digits.
    pub(super) fn too_long(&self) -> u64 {
        self.others.as_ref().map_or(0, |others| others.too_long)
    }

    /// Notes numbers that have too many digits: by how many bytes the sum grew, nearly.
    pub(super) fn note_too_long(&mut self, numbers: u64) -> usize {
        let (grown, others) = self.others();
        others.too_long += numbers;
        grown
    }

    /// Adds a number: by how many bytes the sum grew, nearly.
    ///
    /// # Errors
    /// If it has too many digits to be reckoned with. Nothing is added then.
    pub(super) fn add(&mut self, number: &Number<'_>) -> Result<usize, TooLarge> {
        match significand(number) {
            Some((significand, scale)) => Ok(self.add_part(scale, significand)),
            None => Ok(self.add_long(&Long::of(number)?)),
        }
    }

    /// Adds the square of a number, as [`add`](Self::add) does.
    pub(super) fn add_square(&mut self, number: &Number<'_>) -> Result<usize, TooLarge> {
        let square =
            |(significand, scale): (i128, u32)| Some((significand.checked_mul(significand)?, 2 * scale));
        match significand(number).and_then(square) {
            Some((significand, scale)) => Ok(self.add_part(scale, significand)),
            None => {
                let long = Long::of(number)?;
                Ok(self.add_long(&long.times(&long)))
            }
        }
    }

    /// Adds numbers of one scale by what their significands come to: by how many bytes the sum grew, nearly.
    #[inline]
    pub(super) fn add_part(&mut self, scale: u32, significand: i128) -> usize {
        if self.first == 0
            && let Ok(scale) = u8::try_from(scale)
        {
            self.first = significand;
            self.set_first_scale(scale);
            return 0;
        }
        if self.first_scale() == scale
            && let Some(total) = self.first.checked_add(significand)
        {
            self.first = total;
            return 0;
        }
        self.add_raised(scale, significand).unwrap_or_else(|| self.add_other(scale, significand))
    }

    /// Whether a sum of numbers of few digits and this scale is added to without a question.
    #[inline]
    pub(super) fn takes(&self, scale: u8) -> bool {
        let is_empty = self.first == 0;
        (is_empty | (self.first_scale() == u32::from(scale))) & (self.first.unsigned_abs() < 1 << 126)
    }

    /// Adds a number of a scale that it [takes](Self::takes).
    #[inline]
    pub(super) fn add_taken(&mut self, scale: u8, significand: i64) {
        self.set_first_scale(scale);
        self.first = self.first.saturating_add(significand.into());
    }

    /// Brings the first sum or a number to the scale of the other, and adds them; none where there is no room.
    #[inline]
    fn add_raised(&mut self, scale: u32, significand: i128) -> Option<usize> {
        if let Some(places) = self.first_scale().checked_sub(scale) {
            let power = i128::from(*WHOLE_POWERS.get(places as usize)?);
            // There is room for the product of 64 bits and any power, and for that of a decimal and a short one.
            let is_short = i64::try_from(significand).is_ok()
                || (power < 1 << 31 && significand.unsigned_abs() < 1 << DECIMAL_BITS);
            self.first = self.first.checked_add(is_short.then(|| significand * power)?)?;
            return Some(0);
        }
        let (power, of_first) = (10i128.checked_pow(scale - self.first_scale())?, u8::try_from(scale).ok()?);
        self.first = self.first.checked_mul(power)?.checked_add(significand)?;
        self.set_first_scale(of_first);
        Some(0)
    }

    fn add_other(&mut self, scale: u32, significand: i128) -> usize {
        let place = scale as usize;
        let (mut grown, Others { parts, .. }) = self.others();
        if place >= parts.len() {
            let before = parts.capacity();
            parts.resize(place + 1, 0);
            grown += (parts.capacity() - before) * size_of::<i128>();
        }
        let Some(sum) = parts.get_mut(place) else { return grown };
        match sum.checked_add(significand) {
            Some(total) => *sum = total,
            None => {
                let full = std::mem::replace(sum, significand);
                grown += self.add_long(&Long::new(full, scale));
            }
        }
        grown
    }

    /// The place of what the first has no room for, and how many bytes are taken for it.
    fn others(&mut self) -> (usize, &mut Others) {
        let taken = if self.others.is_none() { size_of::<Others>() } else { 0 };
        (taken, self.others.get_or_insert_default())
    }

    #[cold]
    fn add_long(&mut self, long: &Long) -> usize {
        let (grown, Others { long: own, .. }) = self.others();
        let before = own.as_ref().map_or(0, Long::weight);
        let sum = own.as_ref().map_or_else(|| long.clone(), |sum| sum.plus(long));
        grown + own.insert(sum).weight().saturating_sub(before)
    }

    /// What is longer than a part.
    fn own_long(&self) -> Option<&Long> {
        self.others.as_ref()?.long.as_ref()
    }

    /// Adds what another sum has added and counted.
    pub(super) fn merge(&mut self, other: &ExactSum) -> usize {
        self.count_more(other.count());
        let mut grown: usize =
            other.parts().map(|(scale, significand)| self.add_part(scale, significand)).sum();
        if other.too_long() > 0 {
            grown += self.note_too_long(other.too_long());
        }
        grown + other.own_long().map_or(0, |long| self.add_long(long))
    }

    /// The sums of the significands that are not zero, with their scales.
    fn parts(&self) -> impl Iterator<Item = (u32, i128)> {
        let others = self.others.iter().flat_map(|others| (0..).zip(others.parts.iter().copied()));
        let first = (self.first_scale(), self.first);
        std::iter::once(first).chain(others).filter(|(_, significand)| *significand != 0)
    }

    /// The sum's significand and its scale, where they are easily told.
    fn significand(&self) -> Option<(i128, u32)> {
        if self.own_long().is_some() {
            return None;
        }
        let scale = self.parts().map(|(scale, _)| scale).max().unwrap_or(0);
        let sum = self.parts().try_fold(0i128, |sum, (own, significand)| {
            sum.checked_add(significand.checked_mul(10i128.checked_pow(scale - own)?)?)
        })?;
        Some((sum, scale))
    }

    /// The sum, where it is easily told to be a decimal.
    fn decimal(&self) -> Option<Decimal> {
        let (sum, scale) = self.significand()?;
        Decimal::try_from_i128_with_scale(sum, scale).ok()
    }

    /// The mean of the numbers that were counted; none of no numbers.
    pub(super) fn mean(&self) -> Option<Number<'static>> {
        let count = self.count();
        let short = self.significand().and_then(|(sum, scale)| short_mean(count, sum, scale));
        short.or_else(|| mean(count, &self.long()))
    }

    /// A binary number near to the sum, where that is easily told: the sum, the power of ten and the quotient are off by 2^-53 each at most.
    pub(super) fn estimate(&self) -> Option<f64> {
        let power = BINARY_POWERS.get(self.first_scale() as usize)?;
        self.others.is_none().then(|| self.first as f64 / power)
    }

    /// The sum, to be shown.
    pub(super) fn number(&self) -> Number<'static> {
        self.decimal().map_or_else(|| self.long().number(), Number::Decimal)
    }

    /// The sum, to be reckoned with.
    pub(super) fn long(&self) -> Long {
        let parts = self.parts().map(|(scale, significand)| Long::new(significand, scale));
        let sum = parts.chain(self.own_long().cloned()).reduce(|sum, part| sum.plus(&part));
        sum.unwrap_or_default()
    }
}

/// The bits of a decimal's significand.
const DECIMAL_BITS: u32 = 96;

/// A number as its significand and its scale, if a decimal holds it.
fn significand(number: &Number<'_>) -> Option<(i128, u32)> {
    let few = number.few_digits().map(|(significand, scale)| (significand.into(), scale));
    few.or_else(|| number.decimal().map(|decimal| (decimal.mantissa(), decimal.scale())))
}

/// The most digits of the divisors: a count has 20, two of them 39.
const DIVISOR_DIGITS: i64 = 39;

/// The quotient with so many digits that rounding it to [`DIGITS`] is rounding the quotient itself; all of them if it ends, as one by a
/// count does within 64 places.
fn quotient(dividend: &Long, divisor: &Long) -> Option<Long> {
    dividend.over(divisor, dividend.places() + DIVISOR_DIGITS + i64::from(DIGITS) + 1)
}

/// The mean of so many numbers: all of its digits where it ends, else [`DIGITS`] of them. None where that takes longer numbers to tell.
fn short_mean(count: u64, sum: i128, scale: u32) -> Option<Number<'static>> {
    let (divisor, count, dividend) = (count, u128::from(count), sum.unsigned_abs());
    let (mut digits, mut rest) = (dividend.checked_div(count)?, dividend.checked_rem(count)?);
    let signed = |digits: u128, scale: u32| {
        let digits = i128::try_from(digits).ok()?;
        Some(Number::of_significand(if sum < 0 { -digits } else { digits }, scale))
    };
    // What is left is less than the count.
    if ends(divisor, rest as u64) {
        let (digits, scale) = all_digits(count, (digits, rest), scale)?;
        return signed(digits, scale);
    }
    let length = digits.checked_ilog10()? + 1;
    let Some(mut more) = DIGITS.checked_sub(length) else {
        let needless = length - DIGITS;
        // What does not end is never half way.
        let unit = 10u128.pow(needless);
        let rounded = digits / unit + u128::from(digits % unit >= unit / 2);
        return signed(rounded, scale.checked_sub(needless)?);
    };
    let mut scale = scale;
    while more > 0 && rest != 0 {
        // What is left is less than the count: its product with so many places fits.
        let step = more.min(STEP_DIGITS);
        let power = 10u128.pow(step);
        rest *= power;
        digits = digits * power + rest / count;
        rest %= count;
        (more, scale) = (more - step, scale + step);
    }
    digits += u128::from(rest * 2 > count);
    signed(digits, scale)
}

/// All digits of a quotient that ends, from its whole part and what is left on; none where 128 bits have no room for them.
fn all_digits(count: u128, (mut digits, mut rest): (u128, u128), mut scale: u32) -> Option<(u128, u32)> {
    while rest != 0 {
        rest *= 10;
        digits = digits.checked_mul(10)?.checked_add(rest / count)?;
        rest %= count;
        scale += 1;
    }
    Some((digits, scale))
}

/// So many digits are made at once.
const STEP_DIGITS: u32 = 18;

/// Whether a quotient has an end, by what is left behind its whole part: its divisor then has no other prime factors than 2 and 5 that the dividend
/// does not have.
fn ends(divisor: u64, rest: u64) -> bool {
    let mut other = divisor.checked_shr(divisor.trailing_zeros()).unwrap_or_default();
    while other.is_multiple_of(5) && other != 0 {
        other /= 5;
    }
    rest.checked_rem(other) == Some(0)
}

/// The mean of so many numbers; none of no numbers.
fn mean(count: u64, sum: &Long) -> Option<Number<'static>> {
    let count = Long::new(count.into(), 0);
    let mean = quotient(sum, &count)?;
    let ends = mean.times(&count).minus(sum).is_zero();
    Some(if ends { mean.number() } else { mean.rounded_to_digits(DIGITS).number() })
}

/// The [`spread`] where short numbers tell it.
pub(super) fn short_spread(
    count: u64,
    sum: &ExactSum,
    squares: &ExactSum,
    is_root: bool,
) -> Option<Number<'static>> {
    let ((sum, of_sum), (squares, of_squares)) = (sum.significand()?, squares.significand()?);
    let scale = of_sum.max(of_squares.div_ceil(2));
    let raised = |number: i128, places: u32| number.checked_mul(10i128.checked_pow(places)?);
    let (sum, squares) = (raised(sum, scale - of_sum)?, raised(squares, 2 * scale - of_squares)?);
    let dividend = i128::from(count).checked_mul(squares)?.checked_sub(sum.checked_mul(sum)?)?;
    let (dividend, pairs) = (u128::try_from(dividend).ok()?, count.checked_mul(count.checked_sub(1)?)?);
    match is_root {
        true => shares::root_of_share(dividend, scale, pairs),
        false => shares::share(dividend, 2 * scale, pairs),
    }
}

/// The variance of a sample, by Bessel's n - 1, or its root; none of fewer than two numbers.
pub(super) fn spread(count: u64, sum: &Long, squares: &Long, is_root: bool) -> Option<Number<'static>> {
    let n = Long::new(count.into(), 0);
    let pairs = n.times(&Long::new(i128::from(count.checked_sub(1)?), 0));
    let dividend = n.times(squares).minus(&sum.times(sum));
    let spread = match is_root {
        true => dividend.root_of_share(&pairs, DIGITS)?,
        false => quotient(&dividend, &pairs)?,
    };
    Some(spread.rounded_to_digits(DIGITS).number())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum_of(numbers: &[&str]) -> ExactSum {
        let mut sum = ExactSum::default();
        for number in numbers {
            sum.add(&Number::Stored(number)).unwrap();
        }
        sum
    }

    fn sum(numbers: &[&str]) -> String {
        sum_of(numbers).number().text().into_owned()
    }

    fn mean_of(numbers: &[&str]) -> Option<String> {
        let mut sum = sum_of(numbers);
        sum.count_more(numbers.len() as u64);
        let mean = sum.mean()?;
        Some(mean.text().into_owned())
    }

    fn spread_of(numbers: &[&str], is_root: bool) -> Option<String> {
        let mut squares = ExactSum::default();
        for number in numbers {
            squares.add_square(&Number::Stored(number)).unwrap();
        }
        let (count, sum) = (numbers.len() as u64, sum_of(numbers));
        let text = |number: Number<'_>| number.text().into_owned();
        let spread = spread(count, &sum.long(), &squares.long(), is_root).map(text);
        if let Some(short) = short_spread(count, &sum, &squares, is_root).map(text) {
            assert_eq!(Some(short), spread);
        }
        spread
    }

    #[test]
    fn sums_are_exact_beyond_decimals() {
        assert_eq!(sum(&[]), "0");
        assert_eq!(sum(&["0.1", "0.2", "1e2"]), "100.3");
        assert_eq!(sum(&["79228162514264337593543950335", "1"]), "79228162514264337593543950336");
        assert_eq!(sum(&["79228162514264337593543950335", "1", "-2"]), "79228162514264337593543950334");
        assert_eq!(sum(&["79228162514264337593543950334", "0.5"]), "79228162514264337593543950334.5");
        assert_eq!(sum(&["1e30", "1", "-1e30"]), "1");
        assert_eq!(sum(&["1e308", "1e-5", "-1e308", "2"]), "2.00001");
        assert_eq!(sum(&["1.1102230246251565e-16", "1.1102230246251565e-16"]), "2.220446049250313e-16");
        assert_eq!(sum(&["1", "-1", "-0.5"]), "-0.5");
        assert_eq!(ExactSum::default().add(&Number::Stored("1e1000")), Err(TooLarge));
        assert_eq!(ExactSum::default().add(&Number::Stored("1e-1001")), Err(TooLarge));
    }

    #[test]
    fn counts_leave_the_sum_as_it_is() {
        assert_eq!(size_of::<ExactSum>(), 32);
        let (mut one, mut other) = (sum_of(&["1.5", "-0.25"]), sum_of(&["2"]));
        (0..300).for_each(|_| one.count_more(1));
        other.count_more(1 << 40);
        other.note_too_long(3);
        one.merge(&other);
        assert_eq!((one.count(), one.too_long()), (300 + (1 << 40), 3));
        assert_eq!(one.number().text(), "3.25");
        assert_eq!(
            one.add_part(300, 1),
            one.others().1.parts.capacity() * size_of::<i128>(),
            "too great a scale for the first"
        );
    }

    proptest! {
        #[test]
        fn sums_of_many_scales_are_those_of_long_numbers(
            numbers in proptest::collection::vec((any::<i128>(), 0u32..127, 0u32..57), 0..30),
        ) {
            let (mut sum, mut plain) = (ExactSum::default(), Long::default());
            for (significand, shift, scale) in numbers {
                let significand = significand >> shift;
                sum.add_part(scale, significand);
                plain = plain.plus(&Long::new(significand, scale));
            }
            let (sum, plain) = (sum.number(), plain.number());
            prop_assert_eq!(sum.text(), plain.text());
        }
    }

    #[test]
    fn more_than_a_part_holds_is_no_less_exact() {
        let (mut sum, mut plain) = (ExactSum::default(), Long::default());
        for significand in [i128::MAX, i128::MAX, i128::MIN, 5, i128::MAX] {
            sum.add_part(3, significand);
            plain = plain.plus(&Long::new(significand, 3));
        }
        assert_eq!(sum.number().text(), plain.number().text());
    }

    #[test]
    fn means_are_exact_if_they_end_or_have_28_digits() {
        assert_eq!(mean_of(&[]), None);
        assert_eq!(mean_of(&["7e28", "7e28"]).unwrap(), "70000000000000000000000000000");
        assert_eq!(mean_of(&["1", "2"]).unwrap(), "1.5");
        assert_eq!(mean_of(&["1", "1", "2"]).unwrap(), "1.333333333333333333333333333");
        assert_eq!(mean_of(&["-1e-500", "-1e-500", "0"]).unwrap(), "-6.666666666666666666666666667e-501");
        assert_eq!(mean_of(&["1e300", "1e300", "0"]).unwrap(), "6.666666666666666666666666667e299");
        assert_eq!(mean_of(&["1e300", "0"]).unwrap(), "5e299");
        let long = "-1.2345678901234567890123456789012345";
        assert_eq!(mean_of(&[long, long, long]).unwrap(), "-1.2345678901234567890123456789012345");
    }

    #[test]
    fn deviations_are_those_of_a_sample() {
        assert_eq!(spread_of(&["5"], false), None);
        assert_eq!(spread_of(&["5", "5.0"], false).unwrap(), "0");
        let numbers = ["2", "4", "4", "4", "5", "5", "7", "9"];
        assert_eq!(spread_of(&numbers, false).unwrap(), "4.571428571428571428571428571");
        assert_eq!(spread_of(&numbers, true).unwrap(), "2.138089935299395077476427847");
        assert_eq!(spread_of(&["1", "2", "3"], true).unwrap(), "1");
        assert_eq!(spread_of(&["1e300", "3e300"], true).unwrap(), "1.414213562373095048801688724e300");
    }

    proptest! {
        /// The plain one is asked as well.
        #[test]
        fn short_deviations_are_those_of_long_numbers(
            numbers in proptest::collection::vec(("-?(0|[1-9][0-9]{0,11})(\\.[0-9]{0,6}[1-9])?", 1usize..4), 0..20),
            is_root: bool,
        ) {
            let numbers: Vec<&str> =
                numbers.iter().flat_map(|(number, times)| std::iter::repeat_n(number.as_str(), *times)).collect();
            spread_of(&numbers, is_root);
        }

        #[test]
        fn short_means_are_those_of_long_numbers(
            sum in prop_oneof![any::<i64>().prop_map(i128::from), any::<i128>()],
            scale in 0u32..57,
            count in prop_oneof![1u64..200, any::<u64>(), (0u32..30, 0u32..20).prop_map(|(two, five)| 2u64.pow(two) * 5u64.pow(five % 13))],
        ) {
            let long = mean(count, &Long::new(sum, scale)).map(|mean| mean.text().into_owned());
            if let Some(short) = short_mean(count, sum, scale) {
                prop_assert_eq!(Some(short.text().into_owned()), long);
            }
        }

        #[test]
        fn small_sums_are_those_of_decimals(numbers in proptest::collection::vec((-1_000_000_000i64..1_000_000_000, 0u32..10), 0..30)) {
            let mut exact = ExactSum::default();
            let mut plain = Decimal::ZERO;
            for (significand, scale) in numbers {
                let decimal = Decimal::new(significand, scale);
                exact.add(&Number::Decimal(decimal)).unwrap();
                plain += decimal;
            }
            prop_assert_eq!(exact.number().decimal(), Some(plain));
            let mut doubled = ExactSum::default();
            doubled.merge(&exact);
            doubled.merge(&exact);
            prop_assert_eq!(doubled.number().decimal(), Some(plain + plain));
        }
    }
}
