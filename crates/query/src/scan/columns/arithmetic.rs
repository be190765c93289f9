//! Arithmetic over whole columns: exact, on mantissas of one scale.

use super::evaluate::Evaluator;
use crate::ast::Arithmetic;
use crate::chunk::{Digits, Mantissas, few_digits_of};
use crate::column_block::PathColumn;
use crate::expr::{Computed, Expr};
use crate::functions::ScalarFunction;
use crate::value::Value;
use rust_decimal::Decimal;
use std::sync::Arc;

/// The numbers that an expression comes to.
pub(super) enum Reckoned {
    /// Of all rows.
    Constant { value: i64, scale: u8 },
    /// Those of the rows that have one.
    Numbers(Arc<Mantissas>),
}

/// No mantissa has more digits behind the point.
const SCALE_MAX: u8 = 15;

/// `Round` takes no more places.
const PLACES_MAX: u8 = Decimal::MAX_SCALE as u8;

impl Reckoned {
    fn scale(&self) -> u8 {
        match self {
            Reckoned::Constant { scale, .. } => *scale,
            Reckoned::Numbers(numbers) => numbers.scale,
        }
    }

    /// The numbers of rows; none for a constant.
    pub(super) fn numbers(&self) -> Option<&Arc<Mantissas>> {
        match self {
            Reckoned::Constant { .. } => None,
            Reckoned::Numbers(numbers) => Some(numbers),
        }
    }

    /// Numbers that were computed.
    pub(super) fn computed(rows: Option<Vec<u32>>, values: Vec<i64>, scale: u8) -> Reckoned {
        let spelled = if scale == 0 { Digits::InFull } else { Digits::Shortest };
        Reckoned::Numbers(Arc::new(Mantissas { rows, values, scale, spelled }))
    }
}

impl Evaluator<'_> {
    /// What an expression comes to that reckons with columns of numbers, instants and constants, for all rows of the block; none where it does
    /// something else, or a result has more digits than a mantissa.
    pub(super) fn reckoned(&self, expr: &Expr) -> Option<Reckoned> {
        match expr {
            Expr::Constant(Value::Number(number)) => {
                let (value, scale) = few_digits_of(number)?;
                Some(Reckoned::Constant { value, scale: u8::try_from(scale).ok()? })
            }
            Expr::Negate(of) => {
                let zero = Reckoned::Constant { value: 0, scale: 0 };
                calculate(Arithmetic::Subtract, &zero, &self.reckoned(of)?)
            }
            Expr::Arithmetic(op, left, right) => {
                calculate(*op, &self.reckoned(left)?, &self.reckoned(right)?)
            }
            Expr::BuiltIn(Computed::Timestamp) => Some(Reckoned::Numbers(Arc::new(self.instants()))),
            Expr::If(_) | Expr::Coalesce(_) => match &*self.chosen_number(expr)? {
                PathColumn::Numbers(column) => Some(Reckoned::Numbers(column.numbers.clone())),
                PathColumn::Nothing | PathColumn::Coded(_) | PathColumn::Mixed(_) | PathColumn::Unknown => {
                    None
                }
            },
            Expr::Call { function, arguments, .. } => match self.numbers(expr) {
                Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                None => self.reckoned_call(function, arguments),
            },
            other => Some(Reckoned::Numbers(match self.mixed(other) {
                Some(column) => column.numbers.clone(),
                None => self.numbers(other)?.clone(),
            })),
        }
    }

    fn reckoned_call(&self, function: &ScalarFunction, arguments: &[Expr]) -> Option<Reckoned> {
        match (function.name, arguments) {
            ("Round", [of]) => rounded(&self.reckoned(of)?, 0),
            ("Round", [of, places]) => match self.reckoned(places)? {
                Reckoned::Constant { value, scale: 0 } => {
                    let places = u8::try_from(value).ok().filter(|places| *places <= PLACES_MAX)?;
                    rounded(&self.reckoned(of)?, places)
                }
                _ => None,
            },
            ("DateTime", [of]) => match &**self.as_column(of)?? {
                PathColumn::Coded(coded) => Some(Reckoned::Numbers(coded.instants()?.clone())),
                _ => None,
            },
            ("DatePart" | "TimeOfDay", _) => self.read_clock(function.name, arguments),
            _ => None,
        }
    }

    /// The difference of two expressions, one of which is a column of numbers: how they compare.
    pub(super) fn difference(&self, left: &Expr, right: &Expr) -> Option<Reckoned> {
        let difference = calculate(Arithmetic::Subtract, &self.reckoned(left)?, &self.reckoned(right)?)?;
        difference.numbers().is_some().then_some(difference)
    }
}

/// What an operation comes to; none where it is of another kind, or a result is too long.
fn calculate(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let (Arithmetic::Divide, Reckoned::Constant { value, scale }) = (op, right) {
        let (value, scale) = reciprocal(*value, *scale)?;
        return calculate(Arithmetic::Multiply, left, &Reckoned::Constant { value, scale });
    }
    let (scale, [raise_left, raise_right]) = scales(op, left.scale(), right.scale())?;
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
    let mut values = Vec::new();
    let rows = match (left.numbers().ok_or(left), right.numbers().ok_or(right)) {
        (Ok(column), Err(Reckoned::Constant { value, .. })) => {
            let right = value.checked_mul(raise_right)?;
            values = match line(op, raise_left, right) {
                Some(line) if line.fits(&column.values) => line.of(&column.values),
                _ => column.values.iter().map(|left| of(*left, *value)).collect::<Option<_>>()?,
            };
            column.rows.clone()
        }
        (Err(Reckoned::Constant { value, .. }), Ok(column)) => {
            values = column.values.iter().map(|right| of(*value, *right)).collect::<Option<_>>()?;
            column.rows.clone()
        }
        (Ok(left), Ok(right)) => {
            let mut rows = Vec::new();
            for (row, left, right) in both(left, right) {
                values.push(of(left, right)?);
                rows.push(row);
            }
            if left.rows.is_none() && right.rows.is_none() { None } else { Some(rows) }
        }
        _ => return None,
    };
    Some(Reckoned::computed(rows, values, scale))
}

/// One divided by a number, where that has an end.
fn reciprocal(value: i64, scale: u8) -> Option<(i64, u8)> {
    let (places, power) = (0..=SCALE_MAX)
        .map(|places| (places, 10i64.saturating_pow(places.into())))
        .find(|(_, power)| power.checked_rem(value) == Some(0))?;
    let digits = power.checked_div(value)?;
    match places.checked_sub(scale) {
        Some(places) => Some((digits, places)),
        None => Some((digits.checked_mul(10i64.checked_pow((scale - places).into())?)?, 0)),
    }
}

/// Numbers with so many digits behind the point at most, midpoints away from zero.
fn rounded(of: &Reckoned, places: u8) -> Option<Reckoned> {
    let numbers = of.numbers()?;
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
        let greatest = values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
        let product = i128::from(self.factor.unsigned_abs()) * i128::from(greatest);
        product + i128::from(self.summand.unsigned_abs()) <= i128::from(i64::MAX)
    }

    /// The results, where all of them fit.
    fn of(self, values: &[i64]) -> Vec<i64> {
        let Line { factor, summand } = self;
        if factor == 1 {
            return values.iter().map(|value| value.wrapping_add(summand)).collect();
        }
        values.iter().map(|value| value.wrapping_mul(factor).wrapping_add(summand)).collect()
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

/// The numbers of the rows that have one in both columns.
fn both(left: &Mantissas, right: &Mantissas) -> impl Iterator<Item = (u32, i64, i64)> {
    let row = |of: &Mantissas, place: usize| match &of.rows {
        None => (place < of.values.len()).then_some(place as u32),
        Some(rows) => rows.get(place).copied(),
    };
    let (mut a, mut b) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let (of_left, of_right) = (row(left, a)?, row(right, b)?);
            match of_left.cmp(&of_right) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    let both = (of_left, *left.values.get(a)?, *right.values.get(b)?);
                    (a, b) = (a + 1, b + 1);
                    return Some(both);
                }
            }
        }
    })
}
