//! Arithmetic on decimals: exact where the decimal is, undefined beyond it.

use crate::ast::Arithmetic;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

/// `a op b`; none on overflow, and for a division by zero.
pub(super) fn calculate(op: Arithmetic, a: Decimal, b: Decimal) -> Option<Decimal> {
    match op {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Remainder => remainder(a, b),
        Arithmetic::Power => power(a, b),
    }
}

/// What is left of a division to a whole number, with the sign of `a`. It is exact, which `checked_rem` is not where it
/// cannot bring both to one scale.
fn remainder(a: Decimal, b: Decimal) -> Option<Decimal> {
    let (dividend, divisor) = (a.mantissa().unsigned_abs(), b.mantissa().unsigned_abs());
    if divisor == 0 {
        return None;
    }
    let rest = if a.scale() >= b.scale() {
        // A divisor past 128 bits is greater than any dividend.
        let divisor = 10u128.pow(a.scale() - b.scale()).checked_mul(divisor);
        divisor.map_or(dividend, |divisor| dividend % divisor)
    } else {
        (a.scale()..b.scale()).fold(dividend % divisor, |rest, _| rest * 10 % divisor)
    };
    let rest =
        Decimal::try_from_i128_with_scale(i128::try_from(rest).ok()?, a.scale().max(b.scale())).ok()?;
    Some(if a.is_sign_negative() { -rest } else { rest })
}

fn power(base: Decimal, exponent: Decimal) -> Option<Decimal> {
    if exponent.is_integer() && (exponent.is_zero() || exponent.is_sign_positive()) {
        if base == Decimal::NEGATIVE_ONE {
            return Some(if (exponent % Decimal::TWO).is_zero() { Decimal::ONE } else { base });
        }
        return match exponent.to_u64() {
            Some(exponent) => whole_power(base, exponent),
            // Whatever is neither 0 nor 1 has vanished or overflowed long before.
            None if base.is_zero() || base == Decimal::ONE => Some(base),
            None if base.abs() < Decimal::ONE => Some(Decimal::ZERO),
            None => None,
        };
    }
    // By way of the text, which is read as the nearest binary number; the decimal's own conversion is not always that.
    let binary = |decimal: Decimal| decimal.to_string().parse::<f64>().ok();
    let result = binary(base)?.powf(binary(exponent)?);
    if !result.is_finite() {
        return None;
    }
    // Fifteen digits of the binary number itself, rounded once; below that many places a decimal has fewer.
    let digits = if result.abs() < 1e-13 { format!("{result:.28}") } else { format!("{result:.14e}") };
    Decimal::from_scientific(&digits).or_else(|_| digits.parse()).ok()
}

/// By squaring: at most 128 multiplications.
fn whole_power(mut base: Decimal, mut exponent: u64) -> Option<Decimal> {
    let mut result = Decimal::ONE;
    loop {
        if exponent % 2 == 1 {
            result = result.checked_mul(base)?;
        }
        exponent /= 2;
        if exponent == 0 {
            return Some(result);
        }
        base = base.checked_mul(base)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_root_begins_with_the_nearest_binary_number() {
        let base: Decimal = "199.99999999999999999999999999".parse().unwrap();
        let root = calculate(Arithmetic::Power, base, Decimal::new(5, 1)).unwrap();
        assert_eq!(root.normalize().to_string(), "14.142135623731");
    }

    fn decimal() -> impl Strategy<Value = Decimal> {
        ((-1i128 << 95)..(1i128 << 95), 0u32..=28, 0u32..=95)
            .prop_map(|(mantissa, scale, shift)| Decimal::from_i128_with_scale(mantissa >> shift, scale))
    }

    proptest! {
        #[test]
        fn a_remainder_is_smaller_than_the_divisor_and_has_the_sign_of_the_dividend(a in decimal(), b in decimal()) {
            let Some(rest) = calculate(Arithmetic::Remainder, a, b) else {
                prop_assert!(b.is_zero());
                return Ok(());
            };
            prop_assert!(rest.abs() < b.abs());
            prop_assert!(rest.is_zero() || rest.is_sign_negative() == a.is_sign_negative());
            // The same of whole numbers, where that is easily told.
            if a.scale() == b.scale() {
                prop_assert_eq!(rest.mantissa(), a.mantissa() % b.mantissa());
            }
        }

        #[test]
        fn a_whole_power_is_a_product(base in -30i64..30, scale in 0u32..3, exponent in 0u32..6) {
            let base = Decimal::new(base, scale);
            let product = (0..exponent).fold(Decimal::ONE, |product, _| product * base);
            prop_assert_eq!(calculate(Arithmetic::Power, base, exponent.into()), Some(product));
        }
    }
}
