//! Quotients compared with a constant, without a division.

use crate::value::Number;
use rust_decimal::Decimal;
use std::cmp::Ordering;

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
    use crate::ast::Arithmetic;
    use crate::expr::of_decimals;
    use proptest::prelude::*;

    /// Numbers of all lengths, and such as end soon.
    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
            (-1000i64..1000, 0u32..16).prop_map(|(number, power)| number * 10i64.pow(power)),
            (0u32..63, 0u32..27).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn quotients_compare_as_decimals_do(
            dividend in number(),
            divisor in number(),
            scales in (0u8..6, 0u8..6),
            (constant, scale) in (number().prop_map(|number| number >> 10), 0u32..6),
            is_equal in any::<bool>(),
        ) {
            let of = |number, scale: u8| Decimal::new(number, scale.into());
            let Ok(Some(plain)) = of_decimals(Arithmetic::Divide, of(dividend, scales.0), of(divisor, scales.1)) else { return Ok(()) };
            let constant = if is_equal { plain.round_dp(scale) } else { Decimal::new(constant, scale) };
            let most = |number: i64| number.unsigned_abs();
            let against = Against::of(&Number::Decimal(constant), (most(dividend), scales.0), (most(divisor), scales.1));
            if let Some(against) = against {
                prop_assert_eq!(against.compare(dividend, divisor), Some(plain.cmp(&constant)));
            }
        }
    }
}
