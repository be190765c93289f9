//! Arithmetic over whole columns: exact, on mantissas of one scale.

use super::calculate::{calculate, of_mantissas};
use super::choice::Spelled;
use super::evaluate::{Evaluator, Mask, compare};
use super::found::Passing;
use super::quotient::Against;
use super::range::Range;
use super::reckoned::{Reckoned, Together};
use super::rounded::rounded;
use crate::ast::{Arithmetic, Comparison};
use crate::calendar::TICKS_PER_MILLISECOND;
use crate::chunk::{Mantissas, mantissa_of};
use crate::column_block::{Coded, MixedColumn, PathColumn, TextNumbers};
use crate::expr::{Computed, Expr};
use crate::functions::ScalarFunction;
use crate::value::{Number, Value};
use rust_decimal::Decimal;
use std::sync::Arc;

/// `Round` takes no more places.
const PLACES_MAX: u8 = Decimal::MAX_SCALE as u8;

/// HEURISTIC: where one row in fewer has other values than numbers on both sides, all are compared by themselves.
const OTHERS_SHARE: usize = 8;

impl TextNumbers {
    fn reckoned(&self) -> Reckoned {
        Reckoned::Decimals(self.decimals.clone())
    }
}

/// How two sides compare, by the rows that have both: their difference, or a number of its sign.
pub(super) fn difference(left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let Some(difference) = of_mantissas(Arithmetic::Subtract, left, right) {
        return difference.numbers().is_some().then_some(difference);
    }
    let order = |left: Decimal, right: Decimal| Some(Some(left.cmp(&right) as i64));
    let Together { rows, values } = left.decimals(false).with(&right.decimals(false), order)?;
    Some(Reckoned::computed(rows, values, 0))
}

/// Whether both are how long texts are, of which the second is one where a text is put for another.
fn are_lengths(left: &Expr, right: &Expr) -> bool {
    fn of(expr: &Expr) -> Option<&Expr> {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "Length" => arguments.first(),
            _ => None,
        }
    }
    let is_replaced = match of(right) {
        Some(Expr::ReplaceMatch { pattern, .. }) => pattern.text().is_some(),
        Some(Expr::Call { function, .. }) => function.name == "Replace",
        _ => false,
    };
    of(left).is_some() && is_replaced
}

impl Evaluator<'_> {
    /// What an expression comes to that reckons with columns of numbers, instants and constants, for all rows of the block; none where it does
    /// something else, or a result has more digits than a mantissa.
    pub(super) fn reckoned(&self, expr: &Expr) -> Option<Reckoned> {
        match expr {
            Expr::Constant(Value::Number(number)) => {
                let (value, scale) = mantissa_of(number)?;
                Some(Reckoned::Constant { value, scale: u8::try_from(scale).ok()? })
            }
            Expr::Negate(of) => {
                let zero = Reckoned::Constant { value: 0, scale: 0 };
                calculate(Arithmetic::Subtract, &zero, &self.operand(of)?)
            }
            Expr::Arithmetic(op, left, right) => {
                // How often a text stands in another one takes no lengths.
                let of_texts = if are_lengths(left, right) { self.mapped_numbers(expr) } else { None };
                of_texts.or_else(|| calculate(*op, &self.operand(left)?, &self.operand(right)?))
            }
            Expr::BuiltIn(Computed::Timestamp) => Some(Reckoned::Numbers(Arc::new(self.instants()))),
            Expr::BuiltIn(Computed::Start { start }) => self.read_instants(self.column(*start)?),
            Expr::BuiltIn(Computed::Elapsed { start }) => {
                let end = Reckoned::Numbers(Arc::new(self.instants()));
                calculate(Arithmetic::Subtract, &end, &self.read_instants(self.column(*start)?)?)
            }
            Expr::If(_) | Expr::Coalesce(_) => self.chosen_number(expr, Spelled::AsChosen),
            Expr::Call { function, arguments, .. } => match self.numbers(expr) {
                Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                None => self.reckoned_call(expr, function, arguments).or_else(|| self.mapped_numbers(expr)),
            },
            other => match self.mixed(other) {
                Some(column) => Some(Reckoned::Numbers(column.numbers.clone())),
                None => match self.numbers(other) {
                    Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                    None => self.read_decimals(other).filter(|read| read.are_all).map(|read| read.reckoned()),
                },
            },
        }
    }

    /// The same of an expression that is reckoned with: how its numbers are spelled makes no difference, and of a path what else it has beside numbers.
    pub(super) fn operand(&self, expr: &Expr) -> Option<Reckoned> {
        if let Expr::If(_) | Expr::Coalesce(_) = expr {
            return self.chosen_number(expr, Spelled::Anyhow);
        }
        if let Some(mantissas) = self.read_decimals(expr).and_then(TextNumbers::mantissas) {
            return Some(Reckoned::Numbers(mantissas.clone()));
        }
        let of_texts = || match expr {
            Expr::Call { .. } => {
                let rows = Passing::All(0..self.rows() as u32);
                let numbers = self.numbers_of_entries(&rows, expr, |of_entries| of_entries.reckoned(expr))?;
                Some(Reckoned::Numbers(numbers))
            }
            _ => Some(self.read_decimals(expr)?.reckoned()),
        };
        self.reckoned(expr).or_else(of_texts)
    }

    /// The numbers among the texts of a path, where mantissas of one scale have no room for them.
    fn read_decimals(&self, expr: &Expr) -> Option<&TextNumbers> {
        match &**self.as_column(expr)?? {
            PathColumn::Coded(coded) => coded.numbers(),
            _ => None,
        }
    }

    /// The same where rows without a number have nothing, or null.
    pub(super) fn numbers_or_null(&self, expr: &Expr) -> Option<Reckoned> {
        self.read_decimals(expr).filter(|read| read.are_null).map(TextNumbers::reckoned)
    }

    /// The instants that the texts of a path tell.
    fn read_instants(&self, of: &PathColumn) -> Option<Reckoned> {
        Some(Reckoned::Numbers(of.texts()?.instants()?.clone()))
    }

    fn reckoned_call(&self, expr: &Expr, function: &ScalarFunction, arguments: &[Expr]) -> Option<Reckoned> {
        match (function.name, arguments) {
            ("Round", [of]) => rounded(&self.operand(of)?, 0),
            ("Round", [of, places]) => match self.reckoned(places)? {
                Reckoned::Constant { value, scale: 0 } => {
                    let places = u8::try_from(value).ok().filter(|places| *places <= PLACES_MAX)?;
                    rounded(&self.operand(of)?, places)
                }
                _ => None,
            },
            ("TotalMilliseconds", [of]) => {
                let ticks = Reckoned::Constant { value: TICKS_PER_MILLISECOND as i64, scale: 0 };
                calculate(Arithmetic::Divide, &self.operand(of)?, &ticks)
            }
            ("DateTime", [of]) => self.read_instants(&*self.computed(of)?),
            ("TimeSpan", [of]) => Some(Reckoned::Numbers(self.computed(of)?.texts()?.durations()?.clone())),
            ("IndexOf", _) => self.places_of_texts(expr),
            ("OffsetIn", _) => self.offsets(expr).map(Reckoned::Numbers),
            ("DatePart" | "TimeOfDay", _) => self.read_clock(function.name, arguments),
            ("ToNumber", [of]) => match self.numbers(of) {
                Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                None => self.read_numbers(of),
            },
            _ => None,
        }
    }

    /// Of each row whether the values of two expressions of numbers compare so; none where they are others, or many rows have other values.
    pub(super) fn compare_numbers(&self, expr: &Expr, op: Comparison, sides: [&Expr; 2]) -> Option<Mask> {
        let [left, right] = sides.map(|side| self.compared(side));
        let (left, right) = (left?, right?);
        let [left_others, right_others] = sides.map(|side| self.others_than_numbers(side));
        let is_among = |rows: &[u32], row: &u32| rows.binary_search(row).is_ok();
        let of_both: Vec<u32> =
            left_others.iter().copied().filter(|row| is_among(&right_others, row)).collect();
        if of_both.len() * OTHERS_SHARE > self.rows() {
            return None;
        }
        let difference = difference(&left, &right)?;
        let difference = difference.numbers()?;
        let range = Range::of(op, &Number::Decimal(Decimal::ZERO), difference.scale)?;
        let mut mask = compare(difference, |all| range.test(all), self.rows());
        if op == Comparison::NotEqual {
            // A number is unequal to a value of another type, and neither less nor greater.
            for (others, numbers) in [(&left_others, &right), (&right_others, &left)] {
                for row in others.iter().filter(|row| numbers.has_one(**row)) {
                    if let Some(mask) = mask.get_mut(*row as usize) {
                        *mask = true;
                    }
                }
            }
        }
        let told = self.each(expr, of_both, |row, value| {
            if let Some(mask) = mask.get_mut(row) {
                *mask = value.is_true();
            }
        });
        told.is_ok().then_some(mask)
    }

    /// The numbers of one side of a comparison: how they are spelled makes no difference.
    fn compared(&self, expr: &Expr) -> Option<Reckoned> {
        match self.read_decimals(expr) {
            Some(read) => Some(read.mantissas().cloned().map_or_else(|| read.reckoned(), Reckoned::Numbers)),
            None => self.reckoned(expr),
        }
    }

    /// The rows of a path that have other values than numbers, in ascending order.
    fn others_than_numbers(&self, expr: &Expr) -> Vec<u32> {
        let is_other = |json: &[u8]| !matches!(json, [] | [b'-' | b'0'..=b'9', ..]);
        let entries_of = |coded: &Coded| -> Vec<bool> { coded.dictionary.texts().map(is_other).collect() };
        let is_one = |entries: &[bool], code: u32| entries.get(code as usize) == Some(&true);
        if let Some(MixedColumn { others, .. }) = self.mixed(expr) {
            let entries = entries_of(&others.values);
            let rows = others.rows.iter().enumerate();
            return rows
                .filter(|(nth, _)| is_one(&entries, others.values.code(*nth)))
                .map(|(_, row)| *row)
                .collect();
        }
        let has_others = self.read_decimals(expr).is_some_and(|read| !read.are_all);
        match self.as_column(expr).flatten().and_then(|column| column.texts()) {
            Some(coded) if has_others => {
                let entries = entries_of(coded);
                (0..self.rows() as u32).filter(|row| is_one(&entries, coded.code(*row as usize))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How the quotients of an expression that divides two others compare with a number, by the rows that have one: less or greater than zero as
    /// they are less or greater. None for another expression, or where it takes the quotients to tell.
    pub(super) fn orders_of_quotients(&self, expr: &Expr, number: &Number<'_>) -> Option<Mantissas> {
        let Expr::Arithmetic(Arithmetic::Divide, dividend, divisor) = expr else { return None };
        let (dividend, divisor) = (self.reckoned(dividend)?, self.reckoned(divisor)?);
        let ((dividend, scale), (divisor, other)) = (dividend.mantissas()?, divisor.mantissas()?);
        let against = Against::of(number, (dividend.longest(), scale), (divisor.longest(), other))?;
        let order = |dividend, divisor| Some(against.compare(dividend, divisor).map(|order| order as i64));
        let Together { rows, values } = dividend.with(&divisor, order)?;
        Some(Mantissas { rows, values, ..Mantissas::default() })
    }
}
