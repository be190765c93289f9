//! `Round` over whole columns.

use super::reckoned::{Reckoned, SCALE_MAX};
use crate::chunk::{DecimalValues, Decimals, ESTIMATE_ERROR};
use crate::value::{self, BINARY_POWERS};
use rust_decimal::{Decimal, RoundingStrategy};
use tamias_simd::numbers;

/// Numbers with so many digits behind the point at most, midpoints away from zero.
pub(super) fn rounded(of: &Reckoned, places: u8) -> Option<Reckoned> {
    let numbers = match of {
        Reckoned::Constant { .. } => return None,
        Reckoned::Numbers(numbers) => numbers,
        Reckoned::Decimals(decimals) => return rounded_decimals(decimals, places),
    };
    let Some(digits) = numbers.scale.checked_sub(places).filter(|digits| *digits > 0) else {
        return Some(Reckoned::computed(numbers.rows.clone(), numbers.values.clone(), numbers.scale));
    };
    let values = rounded_to(10i64.checked_pow(digits.into())?, &numbers.values);
    Some(Reckoned::computed(numbers.rows.clone(), values, places))
}

/// How many times numbers are a power of ten above one, rounded.
fn rounded_to(unit: i64, values: &[i64]) -> Vec<i64> {
    /// Numbers of no more bits, and what a binary number next to their quotient is off by, leave those behind the point room.
    const BITS_MAX: u32 = 50;
    /// Added to this, a whole number is in the last bits, and another one is rounded to the nearest.
    const ONE_APART: f64 = (1u64 << 52) as f64;
    if numbers::bits(values) > BITS_MAX {
        let round = |value: &i64| {
            let (whole, rest) = (value / unit, value % unit);
            // Twice the rest would be too long where a unit has nineteen digits; none has.
            whole + i64::from(2 * rest >= unit) - i64::from(2 * rest <= -unit)
        };
        return values.iter().map(round).collect();
    }
    let inverse = 1.0 / unit as f64;
    numbers::told(values, |value| {
        let sign = value >> (i64::BITS - 1);
        let signed = |magnitude: i64| (magnitude ^ sign).wrapping_sub(sign);
        let magnitude = signed(value);
        let binary = f64::from_bits(magnitude as u64 | ONE_APART.to_bits()) - ONE_APART;
        let near = (binary * inverse + ONE_APART).to_bits().wrapping_sub(ONE_APART.to_bits()) as i64;
        // It is one too many or too few where the quotient lies next to a midpoint: what it leaves tells.
        let twice = magnitude.wrapping_sub(near.wrapping_mul(unit)).wrapping_mul(2);
        signed(near.wrapping_add((twice >= unit).into()).wrapping_sub((twice < unit.wrapping_neg()).into()))
    })
}

/// The same of decimals, as mantissas if they are short enough then.
fn rounded_decimals(decimals: &Decimals, places: u8) -> Option<Reckoned> {
    if let DecimalValues::Quotients(quotients) = &decimals.values
        && let Some(values) = quotients.made(|quotient| quotient.rounded(places))
    {
        return Some(Reckoned::computed(decimals.rows.clone(), values, places));
    }
    let round = |value: Decimal| {
        let (significand, scale) = (value.mantissa(), value.scale());
        // To divide 64 bits is far quicker than 128.
        if let Ok(short) = i64::try_from(significand)
            && let Some(digits) = scale.checked_sub(places.into()).filter(|digits| (1..18).contains(digits))
            && let Some(unit) = value::WHOLE_POWERS.get(digits as usize)
        {
            let (whole, rest) = (short / unit, short % unit);
            return Some(i128::from(whole + i64::from(2 * rest >= *unit) - i64::from(2 * rest <= -unit)));
        }
        match scale.checked_sub(places.into()).map(|digits| 10i128.pow(digits)) {
            None => significand.checked_mul(10i128.checked_pow(u32::from(places) - scale)?),
            Some(unit) => {
                let (whole, rest) = (significand / unit, significand % unit);
                Some(
                    whole + i128::from(2 * rest >= unit && unit > 1)
                        - i128::from(2 * rest <= -unit && unit > 1),
                )
            }
        }
    };
    let mantissa = |value: Decimal| i64::try_from(round(value)?).ok();
    if places <= SCALE_MAX
        && let Some(values) = rounded_estimates(&decimals.values, places, mantissa)
    {
        return Some(Reckoned::computed(decimals.rows.clone(), values, places));
    }
    let strategy = RoundingStrategy::MidpointAwayFromZero;
    let values = decimals.values.each().map(|value| value.round_dp_with_strategy(places.into(), strategy));
    Some(Reckoned::decimals_of(decimals.rows.clone(), values.collect()))
}

/// What numbers come to that are rounded, times a power of ten: those whose estimates lie next to a midpoint are told by `exact`.
fn rounded_estimates(
    values: &DecimalValues,
    places: u8,
    exact: impl Fn(Decimal) -> Option<i64>,
) -> Option<Vec<i64>> {
    if let DecimalValues::Decimals(_) | DecimalValues::Stored(_) = values {
        return values.each().map(exact).collect();
    }
    /// Whole numbers up to this, and halves, are exact.
    const END: f64 = (1u64 << 51) as f64;
    let power = *BINARY_POWERS.get(usize::from(places))?;
    let round = |(place, estimate): (usize, f64)| {
        let above = estimate.abs() * power + 0.5;
        let whole = above as i64;
        let off = above - whole as f64;
        // A decimal is rounded to 28 places before.
        let slack = above * ESTIMATE_ERROR + power * 1e-27;
        if above < END && off > slack && off < 1.0 - slack {
            return Some(if estimate < 0.0 { -whole } else { whole });
        }
        exact(values.decimal(place)?)
    };
    values.estimates().into_iter().enumerate().map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn numbers_are_rounded_as_decimals(
            values in prop::collection::vec((any::<i64>(), 0u32..64, -2i64..3, any::<bool>()), 1..70), digits in 1u32..19, bits in 20u32..64
        ) {
            let unit = 10i64.pow(digits);
            let values: Vec<i64> = values
                .into_iter()
                .map(|(number, shift, off, is_midpoint)| {
                    let number = number >> shift.max(64 - bits);
                    if is_midpoint { (number / unit * unit).saturating_add(unit / 2 + off) } else { number }
                })
                .collect();
            let plain = |value: &i64| {
                let strategy = RoundingStrategy::MidpointAwayFromZero;
                i64::try_from(Decimal::new(*value, digits).round_dp_with_strategy(0, strategy).mantissa()).unwrap()
            };
            prop_assert_eq!(rounded_to(unit, &values), values.iter().map(plain).collect::<Vec<_>>());
        }
    }
}
