//! Choices between columns, and conditions as values.

use super::arithmetic::Reckoned;
use super::computed::BYTES_MAX;
use super::evaluate::{Evaluator, Mask};
use super::made::PARTS_MAX;
use crate::chunk::Mantissas;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::value::Value;
use std::sync::Arc;

/// A choice may depend on a choice that depends on another, and no further: a condition is tried in several ways, and each of them would
/// try all ways of the conditions within it.
const CONDITIONS_MAX: usize = 3;

/// How many conditions of choices stand within each other.
fn conditions_within(expr: &Expr) -> usize {
    let children = expr.children().into_iter().enumerate();
    let is_choice = matches!(expr, Expr::If(_));
    // The condition comes first.
    children
        .map(|(nth, child)| conditions_within(child) + usize::from(is_choice && nth == 0))
        .max()
        .unwrap_or(0)
}

/// What some rows get.
enum Part {
    Undefined,
    Number(i64, u8),
    Column(Arc<PathColumn>),
}

impl Part {
    fn is_number(&self) -> bool {
        match self {
            Part::Number(..) => true,
            Part::Column(column) => matches!(**column, PathColumn::Numbers(_)),
            Part::Undefined => false,
        }
    }

    fn is_undefined(&self) -> bool {
        match self {
            Part::Undefined => true,
            Part::Number(..) => false,
            Part::Column(column) => matches!(**column, PathColumn::Nothing),
        }
    }

    /// The number of a row, with the scale that it is spelled with; `next` is the place of the first that was not looked at.
    #[inline]
    fn number(&self, row: usize, next: &mut usize) -> Option<(i64, u8)> {
        let Part::Column(column) = self else {
            return if let Part::Number(value, scale) = self { Some((*value, *scale)) } else { None };
        };
        let PathColumn::Numbers(column) = &**column else { return None };
        let numbers = &column.numbers;
        let place = match &numbers.rows {
            None => row,
            Some(rows) => {
                while rows.get(*next).is_some_and(|other| (*other as usize) < row) {
                    *next += 1;
                }
                rows.get(*next).filter(|other| **other as usize == row).map(|_| *next)?
            }
        };
        let spelled = numbers.spelled.as_ref().map_or(Some(numbers.scale), |all| all.get(place).copied());
        Some((*numbers.values.get(place)?, spelled?))
    }

    fn scale(&self) -> u8 {
        match self {
            Part::Undefined => 0,
            Part::Number(_, scale) => *scale,
            Part::Column(column) => match &**column {
                PathColumn::Numbers(column) => column.numbers.scale,
                PathColumn::Nothing | PathColumn::Coded(_) | PathColumn::Unknown => 0,
            },
        }
    }

    /// What the mantissas of a part are multiplied by to be of a scale.
    fn raise(&self, scale: u8) -> Option<i64> {
        10i64.checked_pow(scale.checked_sub(self.scale())?.into())
    }
}

impl Evaluator<'_> {
    /// The column of a choice between numbers: `if`, or `Coalesce`. None where there is something else to choose.
    pub(super) fn chosen_number(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        self.chosen_of(expr, |part| self.number_part(part))
    }

    /// The column of a choice.
    pub(super) fn chosen(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        self.chosen_number(expr).or_else(|| self.chosen_of(expr, |part| self.part(part)))
    }

    fn chosen_of(&self, expr: &Expr, part: impl Fn(&Expr) -> Option<Part>) -> Option<Arc<PathColumn>> {
        if conditions_within(expr) > CONDITIONS_MAX {
            return None;
        }
        match expr {
            Expr::If(parts) => {
                let (condition, then, otherwise) = &**parts;
                let parts = (part(then)?, part(otherwise)?);
                let mask = self.test(condition, None).ok()?;
                self.choose(&mask, &parts.0, &parts.1)
            }
            Expr::Coalesce(parts) if parts.len() <= PARTS_MAX => {
                let mut parts = parts.iter().map(part).collect::<Option<Vec<Part>>>()?;
                let mut chosen = parts.pop()?;
                while let Some(first) = parts.pop() {
                    let has_one = match &first {
                        Part::Undefined => vec![false; self.rows()],
                        Part::Number(..) => vec![true; self.rows()],
                        Part::Column(column) => self.nulls(Some(column), true),
                    };
                    chosen = Part::Column(self.choose(&has_one, &first, &chosen)?);
                }
                if let Part::Column(column) = chosen { Some(column) } else { None }
            }
            _ => None,
        }
    }

    fn number_part(&self, expr: &Expr) -> Option<Part> {
        if let Expr::Constant(Value::Undefined) = expr {
            return Some(Part::Undefined);
        }
        if let Some(None) = self.as_column(expr) {
            return Some(Part::Undefined);
        }
        Some(match self.reckoned(expr)? {
            Reckoned::Constant { value, scale } => Part::Number(value, scale),
            numbers => Part::Column(Arc::new(PathColumn::of_numbers(numbers.told()?, self.rows()))),
        })
    }

    fn part(&self, expr: &Expr) -> Option<Part> {
        if let Some(number) = self.number_part(expr) {
            return Some(number);
        }
        self.computed(expr).map(Part::Column)
    }

    /// A column that has the value of one part where a row is marked, and else that of the other.
    fn choose(&self, mask: &Mask, then: &Part, otherwise: &Part) -> Option<Arc<PathColumn>> {
        let fits = |part: &Part| part.is_number() || part.is_undefined();
        if fits(then) && fits(otherwise) {
            return self.choose_numbers(mask, then, otherwise);
        }
        let (then, otherwise) = (self.coded_part(then)?, self.coded_part(otherwise)?);
        let (then, otherwise) = (then.coded()?, otherwise.coded()?);
        let dictionary = then.dictionary.followed_by(&otherwise.dictionary, BYTES_MAX)?;
        let behind = then.dictionary.len() as u32;
        let code = |(row, mask): (usize, &bool)| match mask {
            true => then.code(row),
            false => behind + otherwise.code(row),
        };
        let codes = mask.iter().enumerate().map(code).collect();
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary)))))
    }

    fn choose_numbers(&self, mask: &Mask, then: &Part, otherwise: &Part) -> Option<Arc<PathColumn>> {
        let scale = then.scale().max(otherwise.scale());
        let (raise_then, raise_otherwise) = (then.raise(scale)?, otherwise.raise(scale)?);
        let (mut next, mut next_other) = (0, 0);
        let mut made = Mantissas { scale, ..Mantissas::default() };
        let (mut rows, mut spelled) = (Vec::new(), Vec::new());
        for (row, mask) in mask.iter().enumerate() {
            let (number, raise) = match mask {
                true => (then.number(row, &mut next), raise_then),
                false => (otherwise.number(row, &mut next_other), raise_otherwise),
            };
            if let Some((value, scale)) = number {
                made.values.push(value.checked_mul(raise)?);
                spelled.push(scale);
                rows.push(row as u32);
            }
        }
        made.rows = (rows.len() != mask.len()).then_some(rows);
        made.spelled = spelled.iter().any(|of| *of != scale).then_some(spelled);
        Some(Arc::new(PathColumn::of_numbers(made, self.rows())))
    }

    /// The same rows by dictionary.
    fn coded_part(&self, part: &Part) -> Option<Arc<PathColumn>> {
        match part {
            Part::Column(column) if column.coded().is_some() => Some(column.clone()),
            Part::Undefined | Part::Column(_) => self.constant(&Value::Undefined),
            Part::Number(value, scale) => {
                self.constant(&Value::Number(crate::value::Number::few(*value, (*scale).into())))
            }
        }
    }

    /// A condition's values, by the rows for which it is true and those for which it is one at all.
    pub(super) fn truths(&self, mask: &Mask, is_told: impl Fn(usize) -> bool) -> Arc<PathColumn> {
        let code = |(row, mask): (usize, &bool)| match mask {
            true => 1,
            false => 2 * u32::from(is_told(row)),
        };
        let codes = mask.iter().enumerate().map(code).collect();
        let dictionary = Dictionary::new(b"truefalse".to_vec(), vec![0, 4, 9]);
        Arc::new(PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary))))
    }
}
