//! Quotients of whole numbers: as decimals, with the digits that a division of decimals gives, or compared with a constant without a division.

use crate::ast::Arithmetic;
use crate::expr::of_decimals;
use crate::value::{Number, TooLarge};
use rust_decimal::Decimal;
use std::cmp::Ordering;

/// Significands of decimals are less than this.
const SIGNIFICAND_END: u128 = 1 << 96;

/// So many digits are found by one division of 64 bits, whose divisor has no more than 32.
const DIGITS_TOGETHER: u32 = 9;

const POWERS: [u64; DIGITS_TOGETHER as usize + 1] = {
    let mut powers = [1; DIGITS_TOGETHER as usize + 1];
    let mut nth = 1;
    while nth < powers.len() {
        powers[nth] = 10 * powers[nth - 1];
        nth += 1;
    }
    powers
};

/// The greatest whole number that a decimal with so many digits after the point has before it.
const WHOLE_MAX: [u128; Decimal::MAX_SCALE as usize + 1] = {
    let mut most = [SIGNIFICAND_END - 1; Decimal::MAX_SCALE as usize + 1];
    let mut nth = 1;
    while nth < most.len() {
        most[nth] = most[nth - 1] / 10;
        nth += 1;
    }
    most
};

/// The quotient of two numbers of one scale; none of a division by zero.
#[inline]
pub(super) fn quotient(dividend: i64, divisor: i64) -> Result<Option<Decimal>, TooLarge> {
    if divisor == 0 {
        return Ok(None);
    }
    let Some((significand, scale)) = digits(dividend.unsigned_abs(), divisor.unsigned_abs()) else {
        return of_decimals(Arithmetic::Divide, Decimal::from(dividend), Decimal::from(divisor));
    };
    let word = |nth: u32| (significand >> (32 * nth)) as u32;
    let is_negative = significand != 0 && (dividend < 0) != (divisor < 0);
    Ok(Some(Decimal::from_parts(word(0), word(1), word(2), is_negative, scale)))
}

/// The significand and the scale of a quotient, with as many digits as a decimal has, midpoints to the even one; none where it takes more to tell them.
#[inline]
fn digits(dividend: u64, divisor: u64) -> Option<(u128, u32)> {
    let (whole, mut rest) = (dividend / divisor, dividend % divisor);
    let mut digits = u128::from(whole);
    if rest == 0 {
        return Some((digits, 0));
    }
    let length = whole.checked_ilog10().map_or(0, |power| power + 1);
    let mut scale = (Decimal::MAX_SCALE + 1).saturating_sub(length).min(Decimal::MAX_SCALE);
    scale -= u32::from(digits > *WHOLE_MAX.get(scale as usize)?);
    let is_short = divisor <= u64::from(u32::MAX);
    let mut left = scale;
    while left > 0 && rest > 0 {
        let count = left.min(DIGITS_TOGETHER);
        let power = *POWERS.get(count as usize)?;
        let next;
        (next, rest) = if is_short {
            let raised = rest * power;
            (raised / divisor, raised % divisor)
        } else {
            let raised = u128::from(rest) * u128::from(power);
            // It is less than the power, and the rest less than the divisor: of their product the last 64 bits are enough.
            let next = (raised / u128::from(divisor)) as u64;
            (next, (raised as u64).wrapping_sub(next.wrapping_mul(divisor)))
        };
        digits = digits * u128::from(power) + u128::from(next);
        left -= count;
    }
    let (twice, divisor) = (2 * u128::from(rest), u128::from(divisor));
    digits += u128::from(twice > divisor || (twice == divisor && digits % 2 == 1));
    (digits < SIGNIFICAND_END).then_some((digits, scale - left))
}

/// How quotients of numbers of two scales compare with a constant: as the products of both with factors do.
#[derive(Clone, Copy)]
pub(super) struct Against {
    of_dividend: i64,
    of_divisor: i64,
}

/// Exact quotients are compared, while those of decimals are rounded: two that differ must not become equal by rounding. So the divisor, times what the constant is
/// made of, must stay below the least count of digits that a decimal has.
const PRODUCT_MAX: i128 = 10i128.pow(Decimal::MAX_SCALE);

impl Against {
    /// How quotients compare with a number. The mantissas of dividends and divisors are at most these, each of a scale. None where a quotient could be rounded to the
    /// number, or has more digits than a decimal.
    pub(super) fn of(
        number: &Number<'_>,
        (dividend_max, dividend_scale): (u64, u8),
        (divisor_max, divisor_scale): (u64, u8),
    ) -> Option<Against> {
        let (significand, scale) = crate::chunk::few_digits_of(number)?;
        let raise = |from: u8, to: u8| 10i128.checked_pow(to.saturating_sub(from).into());
        let unit = 10i128.checked_pow(scale)?;
        let dividend = raise(dividend_scale, divisor_scale)?;
        let divisor = raise(divisor_scale, dividend_scale)?;
        let greatest = dividend.checked_mul(dividend_max.into())?;
        let least = divisor.checked_mul(divisor_max.into())?;
        let distance = least.checked_mul(unit + i128::from(significand.unsigned_abs()))?;
        if greatest > PRODUCT_MAX || distance > PRODUCT_MAX {
            return None;
        }
        let of_dividend = i64::try_from(dividend.checked_mul(unit)?).ok()?;
        let of_divisor = i64::try_from(divisor.checked_mul(significand.into())?).ok()?;
        Some(Against { of_dividend, of_divisor })
    }

    /// How a quotient compares with the number; none of a division by zero.
    #[inline]
    pub(super) fn compare(self, dividend: i64, divisor: i64) -> Option<Ordering> {
        let dividend = i128::from(dividend) * i128::from(self.of_dividend);
        let bound = i128::from(divisor) * i128::from(self.of_divisor);
        match divisor.cmp(&0) {
            Ordering::Greater => Some(dividend.cmp(&bound)),
            Ordering::Less => Some(bound.cmp(&dividend)),
            Ordering::Equal => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn quotients_are_those_of_decimals(dividend in number(), divisor in number()) {
            let plain = divide(Decimal::from(dividend), Decimal::from(divisor));
            prop_assert_eq!(quotient(dividend, divisor), plain);
        }

        /// Whatever the scales of decimals.
        #[test]
        fn only_what_numbers_come_to_makes_a_difference(dividend in number(), divisor in number(), scale in 0u32..16) {
            let plain = divide(Decimal::new(dividend, scale), Decimal::new(divisor, scale));
            prop_assert_eq!(quotient(dividend, divisor), plain);
        }

        #[test]
        fn quotients_compare_as_decimals_do(
            dividend in number(),
            divisor in number(),
            scales in (0u8..6, 0u8..6),
            (constant, scale) in (number().prop_map(|number| number >> 10), 0u32..6),
            is_equal in any::<bool>(),
        ) {
            let of = |number, scale: u8| Decimal::new(number, scale.into());
            let Ok(Some(plain)) = divide(of(dividend, scales.0), of(divisor, scales.1)) else { return Ok(()) };
            let constant = if is_equal { plain.round_dp(scale) } else { Decimal::new(constant, scale) };
            let most = |number: i64| number.unsigned_abs();
            let against = Against::of(&Number::Decimal(constant), (most(dividend), scales.0), (most(divisor), scales.1));
            if let Some(against) = against {
                prop_assert_eq!(against.compare(dividend, divisor), Some(plain.cmp(&constant)));
            }
        }
    }
}
