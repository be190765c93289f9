//! Arithmetic over whole columns: exact, on mantissas of one scale.

use super::evaluate::Evaluator;
use crate::ast::Arithmetic;
use crate::chunk::{Mantissas, few_digits_of};
use crate::expr::Expr;
use crate::value::Value;
use std::borrow::Cow;

/// Numbers of one scale.
enum Operand<'n> {
    Constant {
        value: i64,
        scale: u8,
    },
    /// Those of the rows that have one; their spellings do not matter.
    Column(Cow<'n, Mantissas>),
}

/// No mantissa has more digits behind the point.
const SCALE_MAX: u8 = 15;

impl Evaluator<'_> {
    /// What an expression that reckons with columns of numbers and constants comes to, for all rows of the block; none where it does something
    /// else, or a result has more digits than a mantissa.
    pub(super) fn calculated(&self, expr: &Expr) -> Option<Mantissas> {
        match self.operand(expr)? {
            Operand::Constant { .. } | Operand::Column(Cow::Borrowed(_)) => None,
            Operand::Column(Cow::Owned(mut numbers)) => {
                spell(&mut numbers);
                Some(numbers)
            }
        }
    }

    /// The difference of two expressions, one of which is a column of numbers: how they compare.
    pub(super) fn difference(&self, left: &Expr, right: &Expr) -> Option<Mantissas> {
        match calculate(Arithmetic::Subtract, self.operand(left)?, self.operand(right)?)? {
            Operand::Constant { .. } => None,
            Operand::Column(numbers) => Some(numbers.into_owned()),
        }
    }

    fn operand(&self, expr: &Expr) -> Option<Operand<'_>> {
        match expr {
            Expr::Constant(Value::Number(number)) => {
                let (value, scale) = few_digits_of(number)?;
                Some(Operand::Constant { value, scale: u8::try_from(scale).ok()? })
            }
            Expr::Negate(of) => {
                let zero = Operand::Constant { value: 0, scale: 0 };
                calculate(Arithmetic::Subtract, zero, self.operand(of)?)
            }
            Expr::Arithmetic(op, left, right) => calculate(*op, self.operand(left)?, self.operand(right)?),
            other => Some(Operand::Column(Cow::Borrowed(self.numbers(other)?))),
        }
    }
}

/// What an operation comes to; none where it is of another kind, or a result is too long.
fn calculate<'n>(op: Arithmetic, left: Operand<'n>, right: Operand<'n>) -> Option<Operand<'n>> {
    let (scale, [raise_left, raise_right]) = scales(op, scale_of(&left), scale_of(&right))?;
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
    let rows = match (&left, &right) {
        (Operand::Constant { .. }, Operand::Constant { .. }) => return None,
        (Operand::Column(column), Operand::Constant { value, .. }) => {
            let right = value.checked_mul(raise_right)?;
            values = match line(op, raise_left, right) {
                Some(line) if line.fits(&column.values) => line.of(&column.values),
                _ => column.values.iter().map(|left| of(*left, *value)).collect::<Option<_>>()?,
            };
            column.rows.clone()
        }
        (Operand::Constant { value, .. }, Operand::Column(column)) => {
            values = column.values.iter().map(|right| of(*value, *right)).collect::<Option<_>>()?;
            column.rows.clone()
        }
        (Operand::Column(left), Operand::Column(right)) => {
            let mut rows = Vec::new();
            for (row, left, right) in both(left, right) {
                values.push(of(left, right)?);
                rows.push(row);
            }
            if left.rows.is_none() && right.rows.is_none() { None } else { Some(rows) }
        }
    };
    Some(Operand::Column(Cow::Owned(Mantissas { rows, values, scale, spelled: None })))
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
        values.iter().map(|value| value.wrapping_mul(factor).wrapping_add(summand)).collect()
    }
}

fn scale_of(operand: &Operand<'_>) -> u8 {
    match operand {
        Operand::Constant { scale, .. } => *scale,
        Operand::Column(numbers) => numbers.scale,
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

/// Notes how computed numbers are spelled: without zeros at the end.
fn spell(numbers: &mut Mantissas) {
    if numbers.scale == 0 {
        return;
    }
    let unit = 10i64.saturating_pow(numbers.scale.into());
    let digits = |value: &i64| {
        // Most are whole, or have all digits.
        if value % unit == 0 {
            return 0;
        }
        let (mut value, mut scale) = (*value, numbers.scale);
        while scale > 0 && value % 10 == 0 {
            value /= 10;
            scale -= 1;
        }
        scale
    };
    numbers.spelled = Some(numbers.values.iter().map(digits).collect());
}
