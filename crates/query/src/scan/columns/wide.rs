//! Operations of numbers of one scale that need more than 64 bits, and no more than a decimal has.

use super::reckoned::{Reckoned, longest, reciprocal, shared, some};
use crate::ast::Arithmetic;
use crate::chunk::{DecimalValues, Decimals, Wide};
use crate::value::WHOLE_POWERS;
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::iter::repeat_n;
use std::sync::Arc;

/// The significands of one side.
enum Side<'s> {
    Constant(i64),
    Short(Cow<'s, [i64]>),
    Wide(Cow<'s, [i128]>),
}

impl<'s> Side<'s> {
    /// Those of a side, and their scale; none of numbers of many scales.
    fn of(reckoned: &'s Reckoned) -> Option<(Side<'s>, u8)> {
        Some(match reckoned {
            Reckoned::Constant { value, scale } => (Side::Constant(*value), *scale),
            Reckoned::Numbers(numbers) => (Side::Short(Cow::Borrowed(&numbers.values)), numbers.scale),
            Reckoned::Decimals(decimals) => match &decimals.values {
                DecimalValues::Wide(wide) => (Side::Wide(Cow::Borrowed(wide.significands())), wide.scale()),
                _ => return None,
            },
        })
    }

    /// The greatest of them without their signs.
    fn longest(&self) -> u128 {
        match self {
            Side::Constant(value) => value.unsigned_abs().into(),
            Side::Short(values) => longest(values).into(),
            Side::Wide(values) => values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0),
        }
    }

    /// Those at some places, which are all where none are named.
    fn at(self, places: Option<Vec<u32>>) -> Side<'s> {
        match (self, places) {
            (Side::Short(values), Some(places)) => Side::Short(Cow::Owned(some(&values, &places))),
            (Side::Wide(values), Some(places)) => Side::Wide(Cow::Owned(some(&values, &places))),
            (side, _) => side,
        }
    }
}

/// What is done with two significands of one scale, or any two that are multiplied.
#[derive(Clone, Copy)]
enum Op {
    /// With what each is multiplied by before.
    Add(i128, i128),
    Multiply,
}

/// The sums, differences and products of numbers of one scale for which mantissas have no room; none of others, or where a result has to be rounded.
pub(super) fn of_wide(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let (Arithmetic::Divide, Reckoned::Constant { value, scale }) = (op, right) {
        let (value, scale) = reciprocal(*value, *scale)?;
        return of_wide(Arithmetic::Multiply, left, &Reckoned::Constant { value, scale });
    }
    let ((one, scale), (other, other_scale)) = (Side::of(left)?, Side::of(right)?);
    let (longest, other_longest) = (one.longest(), other.longest());
    let (op, scale, most) = match op {
        Arithmetic::Multiply => {
            (Op::Multiply, scale.checked_add(other_scale)?, longest.checked_mul(other_longest)?)
        }
        Arithmetic::Add | Arithmetic::Subtract => {
            let most = scale.max(other_scale);
            let raise =
                |scale: u8| WHOLE_POWERS.get(usize::from(most - scale)).map(|power| i128::from(*power));
            let (raise, other_raise) = (raise(scale)?, raise(other_scale)?);
            let [longest, other_longest] = [(longest, raise), (other_longest, other_raise)]
                .map(|(longest, raise)| longest.checked_mul(raise.unsigned_abs()));
            let sign = if op == Arithmetic::Add { 1 } else { -1 };
            (Op::Add(raise, sign * other_raise), most, longest?.checked_add(other_longest?)?)
        }
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => return None,
    };
    if most >> DECIMAL_BITS != 0 || u32::from(scale) > Decimal::MAX_SCALE {
        return None;
    }
    let (rows, [places, others]) = match (left.rows(), right.rows()) {
        (None, None) => return None,
        (Some(rows), Some(others)) => shared(rows, others),
        (Some(rows), None) | (None, Some(rows)) => (rows.map(<[u32]>::to_vec), [None, None]),
    };
    let significands = together(op, &one.at(places), &other.at(others));
    let values = DecimalValues::Wide(Wide::of(significands, scale)?);
    Some(Reckoned::Decimals(Arc::new(Decimals { rows, values })))
}

/// The bits of a decimal's significand.
const DECIMAL_BITS: u32 = 96;

/// What two sides come to: in a loop of its own for each two kinds of them.
fn together(op: Op, left: &Side<'_>, right: &Side<'_>) -> Vec<i128> {
    let wide = |value: &i64| i128::from(*value);
    let constant = |of: &i64, len| repeat_n(i128::from(*of), len);
    match (left, right) {
        (Side::Constant(left), Side::Constant(right)) => with(op, constant(left, 1), constant(right, 1)),
        (Side::Constant(left), Side::Short(right)) => {
            with(op, constant(left, right.len()), right.iter().map(wide))
        }
        (Side::Constant(left), Side::Wide(right)) => {
            with(op, constant(left, right.len()), right.iter().copied())
        }
        (Side::Short(left), Side::Constant(right)) => {
            with(op, left.iter().map(wide), constant(right, left.len()))
        }
        (Side::Short(left), Side::Short(right)) => with(op, left.iter().map(wide), right.iter().map(wide)),
        (Side::Short(left), Side::Wide(right)) => with(op, left.iter().map(wide), right.iter().copied()),
        (Side::Wide(left), Side::Constant(right)) => {
            with(op, left.iter().copied(), constant(right, left.len()))
        }
        (Side::Wide(left), Side::Short(right)) => with(op, left.iter().copied(), right.iter().map(wide)),
        (Side::Wide(left), Side::Wide(right)) => with(op, left.iter().copied(), right.iter().copied()),
    }
}

#[inline]
fn with(op: Op, left: impl Iterator<Item = i128>, right: impl Iterator<Item = i128>) -> Vec<i128> {
    let both = left.zip(right);
    match op {
        Op::Multiply => both.map(|(left, right)| left.wrapping_mul(right)).collect(),
        Op::Add(raise, other) => both
            .map(|(left, right)| (left.wrapping_mul(raise)).wrapping_add(right.wrapping_mul(other)))
            .collect(),
    }
}
