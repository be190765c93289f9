//! Quotients, which are divided only where their digits are needed: as a division of decimals gives them.

use super::long::{POWERS, SIGNIFICAND_END, WHOLE_MAX, digits_behind};
use crate::value::BINARY_POWERS;
use rust_decimal::Decimal;

/// A division that was not done yet: of two whole numbers, times a power of ten. The divisor is not zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quotient {
    dividend: i64,
    divisor: i64,
    power: i8,
}

/// Two numbers whose estimates differ by more than this share of one of them are in the order of the estimates. Those of a quotient are off by 2^-53 in its two
/// conversions, the division, the power and its product each at most, those of a chain by as much in each of its steps.
pub(crate) const ESTIMATE_ERROR: f64 = 4e-15;

/// No decimal is as great.
pub(super) const DECIMAL_END: f64 = 7e28;

/// So many digits are found together, by way of binary numbers: five roundings leave less than a tenth of the last digit uncertain.
const DIGITS_TOGETHER: u32 = 14;

/// Greater divisors leave no room for what is left when a digit is one too many, nor for twice a rest.
const DIVISOR_END: u64 = 1 << 62;

/// The most places that a quotient of whole numbers is [rounded](Quotient::rounded) to at once: with more, digits behind those of a decimal might count.
const PLACES_MAX: u8 = 7;

impl Quotient {
    /// The quotient of two numbers of one scale; none of a division by zero.
    pub(crate) fn of(dividend: i64, divisor: i64) -> Option<Quotient> {
        (divisor != 0).then_some(Quotient { dividend, divisor, power: 0 })
    }

    /// The quotient of two numbers, each with its scale; the inner one none of a division by zero, the outer one where it may be too great for a decimal.
    pub(crate) fn of_scales(
        (dividend, scale): (i64, u8),
        (divisor, other): (i64, u8),
    ) -> Option<Option<Quotient>> {
        let power = i8::try_from(i16::from(other) - i16::from(scale)).ok()?;
        if divisor == 0 {
            return Some(None);
        }
        let quotient = Quotient { dividend, divisor, power };
        (quotient.estimate().abs() < DECIMAL_END / 2.0).then_some(Some(quotient))
    }

    /// The same from its parts. The divisor is not zero.
    #[inline]
    pub(super) fn of_parts(dividend: i64, divisor: i64, power: i8) -> Quotient {
        Quotient { dividend, divisor, power }
    }

    /// The two numbers, and the power of ten that their quotient is multiplied by.
    #[inline]
    pub(super) fn parts(self) -> (i64, i64, i8) {
        (self.dividend, self.divisor, self.power)
    }

    #[inline]
    pub(super) fn is_zero(self) -> bool {
        self.dividend == 0
    }

    /// A binary64 near to it.
    #[inline]
    pub(crate) fn estimate(self) -> f64 {
        let quotient = self.dividend as f64 / self.divisor as f64;
        let power = BINARY_POWERS.get(usize::from(self.power.unsigned_abs())).copied().unwrap_or(f64::NAN);
        if self.power < 0 { quotient / power } else { quotient * power }
    }

    /// As many of its digits as a decimal has, midpoints to the even one.
    #[inline]
    pub(crate) fn decimal(self) -> Decimal {
        let (significand, scale) = self.significand();
        let word = |nth: u32| (significand.unsigned_abs() >> (32 * nth)) as u32;
        Decimal::from_parts(word(0), word(1), word(2), significand < 0, scale)
    }

    /// The significand and the scale of that.
    #[inline]
    pub(crate) fn significand(self) -> (i128, u32) {
        let Quotient { dividend, divisor, power } = self;
        let told = digits(dividend.unsigned_abs().into(), divisor.unsigned_abs(), power.into());
        match told {
            Some((digits, scale)) if (dividend < 0) != (divisor < 0) => (-(digits as i128), scale),
            Some((digits, scale)) => (digits as i128, scale),
            None => self.divided(),
        }
    }

    /// The same times 10^28, for sums; none where that is long.
    #[inline]
    pub(crate) fn units(self) -> Option<i128> {
        const HALF: u128 = 10u128.pow(DIGITS_TOGETHER);
        let (dividend, divisor) = (self.dividend.unsigned_abs(), self.divisor.unsigned_abs());
        if self.power != 0 || divisor >= DIVISOR_END {
            return None;
        }
        let (whole, rest) = (dividend / divisor, dividend % divisor);
        // So many digits a decimal has fewer after the point, for those before it.
        let missing = missing_of(whole)?;
        // All ones where it is negative.
        let sign = i128::from((self.dividend ^ self.divisor) >> 63);
        if rest == 0 {
            let units = (u128::from(whole) * (HALF * HALF)) as i128;
            return Some((units ^ sign) - sign);
        }
        let division = Division::by(divisor);
        let (first, rest) = division.next(rest, DIGITS_TOGETHER)?;
        let (second, rest) = division.next(rest, DIGITS_TOGETHER - missing)?;
        let twice = 2 * rest;
        let second = second + u64::from((twice > divisor) | ((twice == divisor) & (second % 2 == 1)));
        let fraction = u128::from(first) * HALF + u128::from(second * *POWERS.get(missing as usize)?);
        let units = u128::from(whole) * (HALF * HALF) + fraction;
        // What comes next to the end of significands has a digit less.
        let is_told = units < SIGNIFICAND_END * u128::from(*POWERS.get(missing as usize)?);
        is_told.then_some((units as i128 ^ sign) - sign)
    }

    /// Rounded to so many places, midpoints away from zero, times that power of ten; none where it takes more to tell.
    ///
    /// No quotient of 64 bits comes so near to a midpoint that the digits which a decimal leaves out would matter.
    #[inline]
    pub(crate) fn rounded(self, places: u8) -> Option<i64> {
        let Quotient { dividend, divisor, power } = self;
        if power != 0 || places > PLACES_MAX {
            return None;
        }
        let power = *POWERS.get(usize::from(places))? as i64;
        let (dividend, magnitude) = (dividend.checked_mul(power)?, divisor.unsigned_abs());
        let (whole, rest) = (dividend.unsigned_abs() / magnitude, dividend.unsigned_abs() % magnitude);
        let rounded = i64::try_from(whole + u64::from(rest >= magnitude - rest)).ok()?;
        Some(if (dividend < 0) == (divisor < 0) { rounded } else { -rounded })
    }

    /// The quotient, if it is a whole number of 64 bits.
    #[inline]
    pub(crate) fn whole(self) -> Option<i64> {
        let Quotient { dividend, divisor, power } = self;
        (power == 0 && dividend.checked_rem(divisor)? == 0).then(|| dividend / divisor)
    }

    /// By a division of decimals. It is not greater than one of them has room for.
    #[cold]
    fn divided(self) -> (i128, u32) {
        let Quotient { dividend, divisor, power } = self;
        let scaled = |number: i64, scale: i8| Decimal::new(number, u32::try_from(scale).unwrap_or(0));
        let quotient =
            scaled(dividend, power.saturating_neg()).checked_div(scaled(divisor, power)).unwrap_or_default();
        (quotient.mantissa(), quotient.scale())
    }
}

/// The quotient of two decimals; none where it takes more to tell it, or there is none.
#[inline]
pub(crate) fn short_quotient(dividend: Decimal, divisor: Decimal) -> Option<Decimal> {
    let power = divisor.scale() as i32 - dividend.scale() as i32;
    let short = u64::try_from(divisor.mantissa().unsigned_abs()).ok()?;
    let (digits, scale) = digits(dividend.mantissa().unsigned_abs(), short, power)?;
    let word = |nth: u32| (digits >> (32 * nth)) as u32;
    let is_negative = dividend.is_sign_negative() != divisor.is_sign_negative();
    Some(Decimal::from_parts(word(0), word(1), word(2), is_negative, scale))
}

/// The significand and the scale of a quotient, times a power of ten, with as many digits as a decimal has, midpoints to the even one; none where it takes more to
/// tell them. Digits that are all zero are left out if that is easily told: all others take the same way, with nothing to be guessed.
#[inline(always)]
fn digits(dividend: u128, divisor: u64, mut power: i32) -> Option<(u128, u32)> {
    if divisor == 0 || divisor >= DIVISOR_END {
        return None;
    }
    let (mut whole, mut rest) = divided(dividend, divisor);
    if rest == 0 && power == 0 {
        return Some((whole, 0));
    }
    let division = Division::by(divisor);
    while whole == 0 && power > 0 {
        let count = power.min(DIGITS_TOGETHER as i32);
        let (next, left) = division.next(rest, count as u32)?;
        (whole, rest) = (next.into(), left);
        power -= count;
    }
    let (places, scale) = digits_behind(whole, power)?;
    let first = places.min(DIGITS_TOGETHER);
    let (next, rest) = division.next(rest, first)?;
    let digits = whole * u128::from(*POWERS.get(first as usize)?) + u128::from(next);
    if rest == 0 && scale >= places - first {
        return (digits < SIGNIFICAND_END).then_some((digits, scale - (places - first)));
    }
    let second = places - first;
    let (next, rest) = division.next(rest, second)?;
    let mut digits = digits * u128::from(*POWERS.get(second as usize)?) + u128::from(next);
    let twice = 2 * rest;
    digits += u128::from((twice > divisor) | ((twice == divisor) & (digits % 2 == 1)));
    (digits < SIGNIFICAND_END).then_some((digits, scale))
}

/// A number of 96 bits divided by another one: the whole part and what is left. To divide 64 bits is far quicker than 128.
#[inline]
fn divided(dividend: u128, divisor: u64) -> (u128, u64) {
    if let Ok(short) = u64::try_from(dividend) {
        return (u128::from(short / divisor), short % divisor);
    }
    const HALF: u32 = u32::BITS;
    if divisor >> HALF == 0
        && let Ok(upper) = u64::try_from(dividend >> HALF)
    {
        let lower = (upper % divisor) << HALF | dividend as u64 & u64::from(u32::MAX);
        return (u128::from(upper / divisor) << HALF | u128::from(lower / divisor), lower % divisor);
    }
    let whole = dividend / u128::from(divisor);
    (whole, (dividend as u64).wrapping_sub((whole as u64).wrapping_mul(divisor)))
}

/// Sums of numbers with more digits before the point leave 128 bits no room.
const MISSING_MAX: u32 = 9;

/// How many digits a decimal has fewer than 28 after the point where this stands before it; none where they are many.
#[inline]
fn missing_of(whole: u64) -> Option<u32> {
    let bits = u64::BITS - whole.leading_zeros();
    // 96 bits are 7.9 times as much as 28 digits come to, which is a little less than three bits; 1233 / 4096 is a little less than the logarithm of 2.
    let fewest = ((bits.saturating_sub(4) * 1233) >> 12) + u32::from(bits >= 4);
    let place = (Decimal::MAX_SCALE.checked_sub(fewest)?) as usize;
    let missing = fewest + u32::from(u128::from(whole) > *WHOLE_MAX.get(place)?);
    (missing <= MISSING_MAX).then_some(missing)
}

/// A division, digits of which are found together.
#[derive(Clone, Copy)]
struct Division {
    divisor: u64,
    /// The binary number next to one divided by that, nearly.
    inverse: f64,
}

impl Division {
    #[inline(always)]
    fn by(divisor: u64) -> Division {
        Division { divisor, inverse: 1.0 / divisor as i64 as f64 }
    }

    /// The next so many digits of what is left of a division, and what is left then.
    #[inline(always)]
    fn next(self, rest: u64, count: u32) -> Option<(u64, u64)> {
        let Division { divisor, inverse } = self;
        let (power, binary) = (*POWERS.get(count as usize)?, *BINARY_POWERS.get(count as usize)?);
        // Added to this, a number rounded to a whole one is in the last bits.
        const ONE_APART: f64 = (1u64 << 52) as f64;
        let guess = (rest as i64 as f64 * inverse * binary + ONE_APART).to_bits() - ONE_APART.to_bits();
        // The nearest whole number, about: it is one too many, or right, and what is left is told by its last 64 bits.
        let left = rest.wrapping_mul(power).wrapping_sub(guess.wrapping_mul(divisor)) as i64;
        let below = (left >> 63) as u64;
        Some((guess.wrapping_add(below), (left as u64).wrapping_add(divisor & below)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Arithmetic;
    use crate::expr::of_decimals;
    use crate::value::{Number, TooLarge};
    use proptest::prelude::*;
    use rust_decimal::RoundingStrategy;

    fn quotient(dividend: i64, divisor: i64) -> Result<Option<Decimal>, TooLarge> {
        Ok(Quotient::of(dividend, divisor).map(Quotient::decimal))
    }

    fn divide(dividend: Decimal, divisor: Decimal) -> Result<Option<Decimal>, TooLarge> {
        of_decimals(Arithmetic::Divide, dividend, divisor)
    }

    /// Numbers of all lengths, and such as end soon.
    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
            (-1000i64..1000, 0u32..16).prop_map(|(number, power)| number * 10i64.pow(power)),
            (0u32..63, 0u32..27).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
        ]
    }

    #[test]
    fn midpoints_go_to_the_even_digit() {
        // 28 digits after the point, and a five behind them.
        let divisor = 1 << 29;
        let told = quotient(1, divisor).unwrap().unwrap();
        assert_eq!(Some(told), Decimal::ONE.checked_div(Decimal::from(divisor)));
        assert_eq!(told.to_string(), "0.0000000018626451492309570312");
    }

    #[test]
    fn a_quotient_next_to_the_end_of_significands_has_a_digit_less() {
        let quotient = Quotient::of(15_064_592, -189_000).unwrap();
        assert_eq!(quotient.decimal().to_string(), "-79.70683597883597883597883598");
        assert_eq!(quotient.units(), None);
        assert_eq!(Quotient::of(-7, 2).unwrap().units(), Some(-35 * 10i128.pow(27)));
        assert_eq!(Quotient::of(-6, -2).unwrap().units(), Some(3 * 10i128.pow(28)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn quotients_are_those_of_decimals(dividend in number(), divisor in number()) {
            let plain = divide(Decimal::from(dividend), Decimal::from(divisor));
            prop_assert_eq!(quotient(dividend, divisor), plain);
        }

        #[test]
        fn quotients_of_any_scales_are_those_of_decimals(
            dividend in number(), divisor in number(), scale in 0u8..29, other in 0u8..29,
        ) {
            let plain = divide(Decimal::new(dividend, scale.into()), Decimal::new(divisor, other.into()));
            if let Some(told) = Quotient::of_scales((dividend, scale), (divisor, other)) {
                prop_assert_eq!(Ok(told.map(Quotient::decimal)), plain);
            }
        }

        #[test]
        fn short_quotients_are_those_of_decimals(
            dividend in (0i128..1 << 96, 0u32..96, 0u32..29), divisor in number(), scale in 0u32..29, is_negative: bool,
        ) {
            let (significand, shift, places) = dividend;
            let mut dividend = Decimal::from_i128_with_scale(significand >> shift, places).normalize();
            dividend.set_sign_negative(is_negative);
            let divisor = Decimal::new(divisor, scale).normalize();
            if let Some(told) = short_quotient(dividend, divisor) {
                prop_assert_eq!(Some(told), dividend.checked_div(divisor), "{} / {}", dividend, divisor);
            }
        }

        #[test]
        fn units_are_those_of_the_decimal(dividend in number(), divisor in number(), scales in (0u8..20, 0u8..20)) {
            let scales = if dividend % 2 == 0 { (0, 0) } else { scales };
            let Some(Some(quotient)) = Quotient::of_scales((dividend, scales.0), (divisor, scales.1)) else { return Ok(()) };
            let (significand, scale) = quotient.significand();
            if let Some(units) = quotient.units() {
                prop_assert_eq!(Some(units), 10i128.checked_pow(28 - scale).and_then(|power| significand.checked_mul(power)));
            }
        }

        #[test]
        fn rounded_quotients_are_those_of_decimals(dividend in number(), divisor in number(), places in 0u8..9, is_half in any::<bool>()) {
            let dividend = if is_half { (divisor / 2).saturating_mul(2 * (dividend >> 40) + 1) } else { dividend };
            let Some(quotient) = Quotient::of(dividend, divisor) else { return Ok(()) };
            let strategy = RoundingStrategy::MidpointAwayFromZero;
            prop_assert_eq!(quotient.whole().map(Decimal::from), Some(quotient.decimal()).filter(|_| dividend.checked_rem(divisor) == Some(0)));
            if let Some(rounded) = quotient.rounded(places) {
                let plain = quotient.decimal().round_dp_with_strategy(places.into(), strategy);
                prop_assert_eq!(Decimal::new(rounded, places.into()), plain);
            }
        }

        /// Whatever the scales of decimals.
        #[test]
        fn only_what_numbers_come_to_makes_a_difference(dividend in number(), divisor in number(), scale in 0u32..16) {
            let plain = divide(Decimal::new(dividend, scale), Decimal::new(divisor, scale));
            prop_assert_eq!(quotient(dividend, divisor), plain);
        }

        #[test]
        fn estimates_are_near(dividend in number(), divisor in number(), scales in (0u8..20, 0u8..20)) {
            let Some(Some(quotient)) = Quotient::of_scales((dividend, scales.0), (divisor, scales.1)) else { return Ok(()) };
            let (estimate, exact) = (quotient.estimate(), Number::Decimal(quotient.decimal()).to_f64());
            // A decimal has 28 digits after the point at most.
            prop_assert!((estimate - exact).abs() <= exact.abs() * ESTIMATE_ERROR + 1e-27, "{} {}", estimate, exact);
        }
    }
}
