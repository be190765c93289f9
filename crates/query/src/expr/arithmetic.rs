//! Arithmetic on decimals: exact where the decimal is, undefined beyond it.

use crate::ast::Arithmetic;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

/// `a op b`; none on overflow, and for a division by zero.
pub(crate) fn calculate(op: Arithmetic, a: Decimal, b: Decimal) -> Option<Decimal> {
    match op {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Remainder => a.checked_rem(b),
        Arithmetic::Power => power(a, b),
    }
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
    let result = base.to_f64()?.powf(exponent.to_f64()?);
    if result.is_finite() { Decimal::from_f64(result)?.round_sf(15) } else { None }
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
