//! Arithmetic of decimals of few digits: what the general routines give, digit for digit, in fewer steps.

use crate::ast::Arithmetic;
use crate::expr::of_decimals;
use crate::value::TooLarge;
use rust_decimal::Decimal;

/// Significands of decimals have so many bits at most.
const BITS: u32 = 96;

/// The number that a mantissa and a scale stand for, without zeros at the end of its fraction.
#[inline]
pub(super) fn plain(mut mantissa: i64, scale: u8) -> Decimal {
    let mut scale = u32::from(scale);
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    Decimal::new(mantissa, scale)
}

/// What an operation comes to; none where there is no result.
#[inline]
pub(super) fn calculate(op: Arithmetic, left: Decimal, right: Decimal) -> Result<Option<Decimal>, TooLarge> {
    let short = match op {
        Arithmetic::Multiply => product(left, right),
        Arithmetic::Add => sum(left, right),
        Arithmetic::Subtract => sum(left, -right),
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => None,
    };
    match short {
        Some(result) => Ok(Some(result)),
        None => of_decimals(op, left, right),
    }
}

/// The product of two numbers; none where it takes the general routine.
#[inline]
fn product(left: Decimal, right: Decimal) -> Option<Decimal> {
    let [a, b] = [left, right].map(|number| u64::try_from(number.mantissa().unsigned_abs()));
    let product = u128::from(a.ok()?) * u128::from(b.ok()?);
    let scale = left.scale() + right.scale();
    let bits = u128::BITS - product.leading_zeros();
    let is_negative = left.is_sign_negative() != right.is_sign_negative();
    if bits <= BITS && scale <= Decimal::MAX_SCALE && product != 0 {
        return Some(of_parts(product, scale, is_negative));
    }
    // So many digits are left out by the general routine, which tells them from the bits, and one more where that is not enough.
    let by_bits = bits.checked_sub(BITS + 1).map_or(0, |more| (more * 77 >> 8) + 1);
    let digits = by_bits.max(scale.saturating_sub(Decimal::MAX_SCALE));
    let is_enough = |digits: u32| (product / 10u128.pow(digits)) >> BITS == 0;
    let digits = if is_enough(digits) { digits } else { digits + 1 };
    if bits <= u64::BITS || digits > scale {
        return None;
    }
    let unit = 10u128.pow(digits);
    let (whole, rest) = (product / unit, product % unit);
    let whole = whole + u128::from(2 * rest > unit || (2 * rest == unit && whole % 2 == 1));
    (whole >> BITS == 0).then(|| of_parts(whole, scale - digits, is_negative))
}

/// The sum of two numbers; none where it takes the general routine.
#[inline]
fn sum(left: Decimal, right: Decimal) -> Option<Decimal> {
    if left.is_zero() || right.is_zero() {
        return None;
    }
    let scale = left.scale().max(right.scale());
    let raised = |number: Decimal| {
        let raised = number.mantissa().checked_mul(10i128.pow(scale - number.scale()))?;
        (raised.unsigned_abs() >> BITS == 0).then_some(raised)
    };
    let sum = raised(left)? + raised(right)?;
    (sum != 0 && sum.unsigned_abs() >> BITS == 0).then(|| of_parts(sum.unsigned_abs(), scale, sum < 0))
}

fn of_parts(significand: u128, scale: u32, is_negative: bool) -> Decimal {
    let word = |nth: u32| (significand >> (32 * nth)) as u32;
    Decimal::from_parts(word(0), word(1), word(2), is_negative, scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of all lengths, and such as have zeros at the end.
    fn decimal() -> impl Strategy<Value = Decimal> {
        let mantissa = prop_oneof![
            (any::<i128>(), 32u32..127).prop_map(|(number, shift)| number >> shift),
            (-1000i128..1000, 0u32..25).prop_map(|(number, power)| number * 10i128.pow(power)),
        ];
        (mantissa, 0u32..=28).prop_map(|(mantissa, scale)| Decimal::from_i128_with_scale(mantissa, scale))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn results_are_those_of_the_general_routines(a in decimal(), b in decimal()) {
            for op in [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide] {
                let parts = |of: Result<Option<Decimal>, TooLarge>| {
                    of.map(|of| of.map(|of| (of.mantissa(), of.scale())))
                };
                prop_assert_eq!(parts(calculate(op, a, b)), parts(of_decimals(op, a, b)), "{} {:?} {}", a, op, b);
            }
        }

        #[test]
        fn a_plain_number_has_no_zeros_at_the_end(mantissa: i64, power in 0u32..19, scale in 0u8..19) {
            let mantissa = mantissa / 10i64.pow(power) * 10i64.pow(power);
            let normal = Decimal::new(mantissa, scale.into()).normalize();
            let plain = plain(mantissa, scale);
            prop_assert_eq!((plain.mantissa(), plain.scale()), (normal.mantissa(), normal.scale()));
        }
    }
}
