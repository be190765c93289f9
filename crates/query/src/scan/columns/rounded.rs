//! `Round` over whole columns.

use super::reckoned::{Reckoned, SCALE_MAX};
use crate::chunk::{DecimalValues, Decimals, ESTIMATE_ERROR};
use crate::value::{self, BINARY_POWERS};
use rust_decimal::{Decimal, RoundingStrategy};

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
    let unit = 10i64.checked_pow(digits.into())?;
    let round = |value: &i64| {
        let (whole, rest) = (value / unit, value % unit);
        // Twice the rest would be too long where a unit has nineteen digits; none has.
        whole + i64::from(2 * rest >= unit) - i64::from(2 * rest <= -unit)
    };
    let values = numbers.values.iter().map(round).collect();
    Some(Reckoned::computed(numbers.rows.clone(), values, places))
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
