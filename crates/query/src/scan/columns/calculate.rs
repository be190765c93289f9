//! Operations of two numbers over whole columns.

use super::reckoned::{
    Operand, Places, Reckoned, SCALE_MAX, Together, both, longest, plain, reciprocal, shared, some,
};
use super::roots::roots;
use super::wide::of_wide;
use crate::ast::Arithmetic;
use crate::chunk::{
    Chain, ChainOp, DecimalValues, Decimals, Mantissas, Quotient, Quotients, Terms, product, quotient,
    short_quotient,
};
use crate::expr::{binary_power, of_decimals};
use crate::value::{self, nearest, nearest_of};
use rust_decimal::Decimal;
use std::sync::Arc;
use tamias_simd::numbers::{has_zero, multiply, of_both, told};

/// What an operation comes to; none where a result is too long for any number.
pub(super) fn calculate(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let Some(reckoned) = of_mantissas(op, left, right) {
        return Some(reckoned);
    }
    if let Some(wide) = of_wide(op, left, right) {
        return Some(wide);
    }
    if let (Arithmetic::Power, Reckoned::Constant { value: 2, scale: 0 }) = (op, right) {
        return calculate(Arithmetic::Multiply, left, left);
    }
    if op == Arithmetic::Divide
        && let Some((rows, quotients)) = of_quotients(left, right)
    {
        let values = DecimalValues::Quotients(quotients);
        return Some(Reckoned::Decimals(Arc::new(Decimals { rows, values })));
    }
    if let Some(chain) = of_chain(op, left, right) {
        return Some(chain);
    }
    if let (Arithmetic::Power, Reckoned::Constant { value: 5, scale: 1 }) = (op, right)
        && let Some(roots) = roots(left)
    {
        return Some(roots);
    }
    if op == Arithmetic::Power
        && let Some(Together { rows, values }) = of_powers(left, right)
    {
        return Some(Reckoned::decimals_of(rows, values));
    }
    let together = match shortly(op, right) {
        Some((shortly, factor)) if let (Some(left), Some(right)) = (left.shorts(), right.shorts()) => {
            let of = |left: (i64, u8), right: (i64, u8)| match short(shortly, left, factor.unwrap_or(right)) {
                Some(result) => Some(Some(result)),
                None => {
                    let decimal = |(value, scale): (i64, u8)| Decimal::new(value, scale.into());
                    match op {
                        Arithmetic::Multiply => long_of(op, decimal(left), decimal(right)),
                        _ => {
                            let [left, right] = [left, right].map(|(value, scale)| plain(value, scale));
                            of_decimals(op, left, right).ok()
                        }
                    }
                }
            };
            left.with(&right, of)
        }
        Some((shortly, factor)) => {
            let of = |left, right| match short_of(shortly, left, factor, right) {
                Some(result) => Some(Some(result)),
                None if op == Arithmetic::Multiply => long_of(op, left, right),
                None => long_of(op, value::plain(left), value::plain(right)),
            };
            left.decimals(false).with(&right.decimals(false), of)
        }
        None => {
            let of = |left, right| long_of(op, left, right);
            left.decimals(true).with(&right.decimals(true), of)
        }
    };
    let Together { rows, values } = together?;
    Some(Reckoned::decimals_of(rows, values))
}

/// The operation that may be done by [`short`], and what its second operand is instead of the given one.
fn shortly(op: Arithmetic, right: &Reckoned) -> Option<(Arithmetic, Option<(i64, u8)>)> {
    match (op, right) {
        (Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply, _) => Some((op, None)),
        (Arithmetic::Divide, Reckoned::Constant { value, scale }) => {
            Some((Arithmetic::Multiply, Some(reciprocal(*value, *scale)?)))
        }
        _ => None,
    }
}

/// The exact result of an operation of two numbers of 64 bits, each with its scale, if a decimal holds it; none where it takes more to tell.
#[inline]
fn short(op: Arithmetic, (left, scale): (i64, u8), (right, other): (i64, u8)) -> Option<Decimal> {
    let (scale, other) = (u32::from(scale), u32::from(other));
    let raised = |number: i64, places: u32| {
        Some(i128::from(number) * i128::from(*value::WHOLE_POWERS.get(places as usize)?))
    };
    let (result, scale) = match op {
        Arithmetic::Multiply => (i128::from(left) * i128::from(right), scale + other),
        Arithmetic::Add | Arithmetic::Subtract => {
            let most = scale.max(other);
            let (left, right) = (raised(left, most - scale)?, raised(right, most - other)?);
            (if op == Arithmetic::Add { left + right } else { left - right }, most)
        }
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => return None,
    };
    let magnitude = result.unsigned_abs();
    let word = |nth: u32| (magnitude >> (32 * nth)) as u32;
    let fits = magnitude >> DECIMAL_BITS == 0 && scale <= Decimal::MAX_SCALE;
    fits.then(|| Decimal::from_parts(word(0), word(1), word(2), result < 0, scale))
}

/// The bits of a decimal's significand.
const DECIMAL_BITS: u32 = 96;

/// The same of two decimals, the second of which may be another.
fn short_of(op: Arithmetic, left: Decimal, factor: Option<(i64, u8)>, right: Decimal) -> Option<Decimal> {
    let parts = |number: Decimal| Some((i64::try_from(number.mantissa()).ok()?, number.scale() as u8));
    short(op, parts(left)?, factor.or_else(|| parts(right))?)
}

/// The result of an operation of two decimals without zeros at their ends, which make no difference to a product, the inner one none of a division by zero; none where it is too long.
fn long_of(op: Arithmetic, left: Decimal, right: Decimal) -> Option<Option<Decimal>> {
    let told = match op {
        Arithmetic::Multiply => product(left, right),
        Arithmetic::Divide => short_quotient(left, right).or_else(|| quotient(left, right)),
        Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Remainder | Arithmetic::Power => None,
    };
    told.map(Some).or_else(|| of_decimals(op, left, right).ok())
}

/// What is reckoned with quotients, by the rows that have both sides, without those of which one is divided by zero; none of others, or where their estimates do
/// not tell enough.
fn of_chain(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let (Arithmetic::Divide, Reckoned::Constant { value, scale }) = (op, right)
        && let Some((value, scale)) = reciprocal(*value, *scale)
    {
        return of_chain(Arithmetic::Multiply, left, &Reckoned::Constant { value, scale });
    }
    let op = match op {
        Arithmetic::Multiply => ChainOp::Multiply,
        Arithmetic::Divide => ChainOp::Divide,
        Arithmetic::Add => ChainOp::Add,
        Arithmetic::Subtract => ChainOp::Subtract,
        Arithmetic::Remainder | Arithmetic::Power => return None,
    };
    let is_lazy = |side: &Reckoned| {
        let values = side.as_decimals().map(|decimals| &decimals.values);
        matches!(values, Some(DecimalValues::Quotients(_) | DecimalValues::Chain(_)))
    };
    if !is_lazy(left) && !is_lazy(right) {
        return None;
    }
    let has_zero = op == ChainOp::Divide && right.has_zero();
    let (rows, [left, right], count) = match (left.rows(), right.rows()) {
        (None, None) => return None,
        (Some(rows), None) if !has_zero => {
            (rows.map(<[u32]>::to_vec), [left.factor(), right.factor()], left.len())
        }
        (None, Some(rows)) if !has_zero => {
            (rows.map(<[u32]>::to_vec), [left.factor(), right.factor()], right.len())
        }
        (Some(left_rows), Some(right_rows)) if !has_zero => {
            let (rows, [places, others]) = shared(left_rows, right_rows);
            let at = |side: &Reckoned, places: Places| match places {
                Some(places) => side.factor().at(&places),
                None => side.factor(),
            };
            let count = rows.as_ref().map_or(left.len(), Vec::len);
            (rows, [at(left, places), at(right, others)], count)
        }
        (left_rows, right_rows) => {
            let (Some(left_rows), Some(right_rows)) = (left_rows, right_rows) else { return None };
            let [all, others] =
                [left.len(), right.len()].map(|count| (0..count as u32).collect::<Vec<u32>>());
            let (mut rows, mut places) = (Vec::new(), [Vec::new(), Vec::new()]);
            for (row, place, other) in both((left_rows, &all), (right_rows, &others)) {
                if has_zero && right.is_zero(other as usize) {
                    continue;
                }
                rows.push(row);
                let [left, right] = &mut places;
                left.push(place);
                right.push(other);
            }
            let count = rows.len();
            let [left_places, right_places] = places;
            (Some(rows), [left.factor().at(&left_places), right.factor().at(&right_places)], count)
        }
    };
    let values = DecimalValues::Chain(Chain::of(op, left, right, count)?);
    Some(Reckoned::Decimals(Arc::new(Decimals { rows, values })))
}

/// The powers that are told by way of binary numbers; none of others, or where one is too great.
fn of_powers(left: &Reckoned, right: &Reckoned) -> Option<Together<Decimal>> {
    let Reckoned::Constant { value, scale } = right else { return None };
    let exponent = plain(*value, *scale);
    if exponent.scale() == 0 && *value >= 0 {
        return None;
    }
    let exponent = nearest_of(exponent);
    let power = |base: f64| binary_power(base, exponent).ok();
    match left {
        Reckoned::Constant { .. } => None,
        Reckoned::Numbers(numbers) => {
            let scale = numbers.scale;
            let base = |value: &i64| {
                nearest(*value, scale.into()).unwrap_or_else(|| nearest_of(plain(*value, scale)))
            };
            Together::of_rows(numbers.rows.as_deref(), numbers.values.iter().map(|value| power(base(value))))
        }
        Reckoned::Decimals(decimals) => {
            let values: Vec<Decimal> = decimals.values.each().collect();
            Together::of_rows(decimals.rows.as_deref(), values.iter().map(|value| power(nearest_of(*value))))
        }
    }
}

/// The quotients of numbers of 64 bits, with the rows that have one; none where there are others, or one may be too great.
fn of_quotients(left: &Reckoned, right: &Reckoned) -> Option<(Option<Vec<u32>>, Quotients)> {
    if let Some(quotients) = of_columns(left, right) {
        return Some(quotients);
    }
    let Together { rows, values } = of_each(left, right)?;
    Some((rows, values.into_iter().collect()))
}

/// The same where all can be raised to one scale: columns stay as they are where they have the same rows, and none is divided by zero.
fn of_columns(left: &Reckoned, right: &Reckoned) -> Option<(Option<Vec<u32>>, Quotients)> {
    let ((_, scale), (divisors, other)) = (left.mantissas()?, right.mantissas()?);
    let (mut rows, mut places) = match (left.rows(), right.rows()) {
        (Some(rows), Some(others)) => shared(rows, others),
        (Some(rows), None) | (None, Some(rows)) => (rows.map(<[u32]>::to_vec), [None, None]),
        (None, None) => return None,
    };
    match &divisors {
        Operand::Constant(divisor) => (*divisor != 0).then_some(())?,
        Operand::Column(_, divisors) if has_zero(divisors) => {
            let [_, of_divisors] = &places;
            let with_one = without_zeros(divisors, of_divisors.as_deref());
            let some_of = |of: Places| Some(of.map_or_else(|| with_one.clone(), |of| some(&of, &with_one)));
            (rows, places) = (some_of(rows), places.map(some_of));
        }
        Operand::Column(..) => {}
    }
    let raise = |from: u8, to: u8| 10i64.checked_pow(to.saturating_sub(from).into());
    let (raise_left, raise_right) = (raise(scale, other)?, raise(other, scale)?);
    let count = match (&places, left) {
        ([Some(places), _] | [_, Some(places)], _) => places.len(),
        (_, Reckoned::Constant { .. }) => right.len(),
        _ => left.len(),
    };
    let [of_left, of_right] = places;
    let (dividends, divisors) = (terms(left, raise_left, of_left)?, terms(right, raise_right, of_right)?);
    (count > 0).then(|| (rows, Quotients::of_whole(dividends, divisors, count)))
}

/// The numbers at some places, times another one; none where one may be too long, or has a scale of its own.
fn terms(of: &Reckoned, raise: i64, places: Places) -> Option<Terms> {
    match of {
        Reckoned::Constant { value, .. } => value.checked_mul(raise).map(Terms::Constant),
        Reckoned::Numbers(numbers) => {
            if raise != 1 {
                i64::try_from(longest(&numbers.values)).ok()?.checked_mul(raise)?;
            }
            Some(match places {
                None => Terms::Numbers(numbers.clone(), raise),
                Some(places) => {
                    let mut values = some(&numbers.values, &places);
                    multiply(&mut values, raise);
                    Terms::Own(values)
                }
            })
        }
        Reckoned::Decimals(_) => None,
    }
}

/// Of divisors, some of them or all, those that are not zero, by their places among these.
fn without_zeros(divisors: &[i64], places: Option<&[u32]>) -> Vec<u32> {
    let count = places.map_or(divisors.len(), <[u32]>::len);
    let place = |nth: usize| places.map_or(Some(nth), |places| places.get(nth).map(|place| *place as usize));
    let is_zero = |nth: usize| place(nth).and_then(|place| divisors.get(place)).is_none_or(|of| *of == 0);
    (0..count).filter(|nth| !is_zero(*nth)).map(|nth| nth as u32).collect()
}

/// The quotients one by one.
fn of_each(left: &Reckoned, right: &Reckoned) -> Option<Together<Quotient>> {
    if let (Some((left, scale)), Some((right, other))) = (left.mantissas(), right.mantissas()) {
        let raise = |from: u8, to: u8| 10i64.checked_pow(to.saturating_sub(from).into());
        if let (Some(raise_left), Some(raise_right)) = (raise(scale, other), raise(other, scale)) {
            let of = |left: i64, right: i64| {
                Some(Quotient::of(left.checked_mul(raise_left)?, right.checked_mul(raise_right)?))
            };
            if let Some(together) = left.with(&right, of) {
                return Some(together);
            }
        }
    }
    left.shorts()?.with(&right.shorts()?, Quotient::of_scales)
}

/// What an operation comes to in mantissas; none where it is of another kind, or a result is too long.
pub(super) fn of_mantissas(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let (Arithmetic::Divide, Reckoned::Constant { value, scale }) = (op, right) {
        let (value, scale) = reciprocal(*value, *scale)?;
        return of_mantissas(Arithmetic::Multiply, left, &Reckoned::Constant { value, scale });
    }
    if let (Arithmetic::Power, Reckoned::Numbers(numbers), Reckoned::Constant { value, scale: 0 }) =
        (op, left, right)
    {
        return power(numbers, *value);
    }
    let ((left, left_scale), (right, right_scale)) = (left.mantissas()?, right.mantissas()?);
    let (scale, [raise_left, raise_right]) = scales(op, left_scale, right_scale)?;
    if let (Operand::Column(rows, values), Operand::Constant(constant)) = (&left, &right)
        && let Some(line) = line(op, raise_left, constant.checked_mul(raise_right)?)
        && line.fits(values)
    {
        return Some(Reckoned::computed(rows.map(<[u32]>::to_vec), line.of(values), scale));
    }
    if let Some((rows, values)) = of_short(op, (&left, raise_left), (&right, raise_right)) {
        return Some(Reckoned::computed(rows, values, scale));
    }
    let of = |left: i64, right: i64| {
        let (left, right) = (left.checked_mul(raise_left)?, right.checked_mul(raise_right)?);
        match op {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => left.checked_mul(right),
            Arithmetic::Remainder => left.checked_rem(right),
            Arithmetic::Divide | Arithmetic::Power => None,
        }
    };
    let Together { rows, values } = left.with(&right, |left, right| of(left, right).map(Some))?;
    Some(Reckoned::computed(rows, values, scale))
}

/// The sums, differences or products of two columns, where no number is so long that a result could be too long.
fn of_short(
    op: Arithmetic,
    (left, raise_left): (&Operand<'_, i64>, i64),
    (right, raise_right): (&Operand<'_, i64>, i64),
) -> Option<(Option<Vec<u32>>, Vec<i64>)> {
    let (Operand::Column(rows, left_values), Operand::Column(others, right_values)) = (left, right) else {
        return None;
    };
    let raised = |operand: &Operand<'_, i64>, raise: i64| u128::from(operand.longest()) * raise as u128;
    let (longest_left, longest_right) = (raised(left, raise_left), raised(right, raise_right));
    let most = match op {
        Arithmetic::Add | Arithmetic::Subtract => longest_left.checked_add(longest_right)?,
        Arithmetic::Multiply => longest_left.checked_mul(longest_right)?,
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => return None,
    };
    if most > i64::MAX as u128 {
        return None;
    }
    let (rows, [of_left, of_right]) = shared(*rows, *others);
    let at = |values: &[i64], places: Places| places.map(|places| some(values, &places));
    let (own_left, own_right) = (at(left_values, of_left), at(right_values, of_right));
    let left_values = own_left.as_deref().unwrap_or(left_values);
    let right_values = own_right.as_deref().unwrap_or(right_values);
    let raised = |left: i64, right: i64| (left.wrapping_mul(raise_left), right.wrapping_mul(raise_right));
    let sum = |(left, right): (i64, i64)| left.wrapping_add(right);
    let difference = |(left, right): (i64, i64)| left.wrapping_sub(right);
    let values = match (op, raise_left == 1 && raise_right == 1) {
        (Arithmetic::Add, true) => of_both(left_values, right_values, i64::wrapping_add),
        (Arithmetic::Add, false) => {
            of_both(left_values, right_values, |left, right| sum(raised(left, right)))
        }
        (Arithmetic::Subtract, true) => of_both(left_values, right_values, i64::wrapping_sub),
        (Arithmetic::Subtract, false) => {
            of_both(left_values, right_values, |left, right| difference(raised(left, right)))
        }
        _ => of_both(left_values, right_values, i64::wrapping_mul),
    };
    Some((rows, values))
}

/// The powers of mantissas; none where one is too long.
fn power(of: &Mantissas, exponent: i64) -> Option<Reckoned> {
    let exponent = u8::try_from(exponent).ok().filter(|exponent| *exponent > 0)?;
    let scale = of.scale.checked_mul(exponent).filter(|scale| *scale <= SCALE_MAX)?;
    let values = of.values.iter().map(|value| value.checked_pow(exponent.into())).collect::<Option<_>>()?;
    Some(Reckoned::computed(of.rows.clone(), values, scale))
}

/// `factor * x + summand`.
#[derive(Clone, Copy)]
struct Line {
    factor: i64,
    summand: i64,
}

/// What an operation with a constant does to mantissas that are raised before; none where it is another thing.
fn line(op: Arithmetic, raise: i64, constant: i64) -> Option<Line> {
    match op {
        Arithmetic::Add => Some(Line { factor: raise, summand: constant }),
        Arithmetic::Subtract => Some(Line { factor: raise, summand: constant.checked_neg()? }),
        Arithmetic::Multiply => Some(Line { factor: raise.checked_mul(constant)?, summand: 0 }),
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => None,
    }
}

impl Line {
    /// Whether no result is too long.
    fn fits(self, values: &[i64]) -> bool {
        let product = i128::from(self.factor.unsigned_abs()) * i128::from(longest(values));
        product + i128::from(self.summand.unsigned_abs()) <= i128::from(i64::MAX)
    }

    /// The results, where all of them fit.
    fn of(self, values: &[i64]) -> Vec<i64> {
        let Line { factor, summand } = self;
        if factor == 1 {
            return told(values, |value| value.wrapping_add(summand));
        }
        told(values, |value| value.wrapping_mul(factor).wrapping_add(summand))
    }
}

/// The scale of a result, and what mantissas are multiplied by before.
fn scales(op: Arithmetic, left: u8, right: u8) -> Option<(u8, [i64; 2])> {
    let (scale, powers) = match op {
        Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Remainder => {
            let scale = left.max(right);
            (scale, [scale - left, scale - right])
        }
        Arithmetic::Multiply => (left.checked_add(right)?, [0, 0]),
        Arithmetic::Divide | Arithmetic::Power => return None,
    };
    let [left, right] = powers.map(|power| 10i64.checked_pow(power.into()));
    (scale <= SCALE_MAX).then_some((scale, [left?, right?]))
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_results_are_those_of_decimals(
            left: i64, right: i64, shifts in (0u32..64, 0u32..64), scales in (0u32..29, 0u32..29),
        ) {
            let left = Decimal::new(left >> shifts.0, scales.0);
            let right = Decimal::new(right >> shifts.1, scales.1);
            for op in [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply] {
                if let Some(result) = short_of(op, left, None, right) {
                    let expected = of_decimals(op, value::plain(left), value::plain(right));
                    prop_assert_eq!(expected, Ok(Some(result)), "{} {:?} {}", left, op, right);
                }
            }
        }

        #[test]
        fn short_quotients_are_those_of_decimals(
            left: i64, right: i32, shifts in (0u32..64, 0u32..31), scales in (0u8..19, 0u8..10),
        ) {
            let left = Decimal::new(left >> shifts.0, scales.0.into());
            let right = Reckoned::Constant { value: i64::from(right >> shifts.1), scale: scales.1 };
            let (Some((op, Some(factor))), Operand::Constant(divisor)) =
                (shortly(Arithmetic::Divide, &right), right.decimals(true))
            else {
                return Ok(());
            };
            if let Some(result) = short_of(op, left, Some(factor), divisor) {
                prop_assert_eq!(of_decimals(Arithmetic::Divide, value::plain(left), divisor), Ok(Some(result)));
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
