//! Expressions over the columns of a block: once for each entry of a dictionary where they depend on one path, compared as numbers without
//! text, or else row by row.

use super::compile::{needs_event, slots_of};
use super::range::{Among, Range};
use crate::ast::Comparison;
use crate::chunk::Order;
use crate::column_block::{Coded, ColumnBlock, ColumnError, Path, PathColumn};
use crate::control::Control;
use crate::dictionary::{Dictionary, is_plain};
use crate::error::ExecError;
use crate::expr::{Event, Expr, LikeForm, Scope, Spare};
use crate::stored::Times;
use crate::value::{Value, json};
use memchr::memmem;
use regex::bytes::Regex;
use std::sync::Arc;
use tamias_json::{Offsets, Value as Stored};
use tamias_shred::Numbers;

/// The columns of a block that were asked for, and what else expressions see.
pub(super) struct Evaluator<'b> {
    block: &'b ColumnBlock,
    paths: &'b [Path],
    columns: Vec<Option<Arc<PathColumn>>>,
    times: Times<'b>,
    control: &'b Control,
    rows: usize,
}

/// What is looked for in the texts of a column.
enum Sought<'e> {
    Bytes(&'e [u8]),
    /// In text of ASCII without escapes, whatever the case of letters.
    Folded(&'e Regex),
}

/// For each row of a block whether it counts.
pub(super) type Mask = Vec<bool>;

impl<'b> Evaluator<'b> {
    pub(super) fn new(
        block: &'b ColumnBlock,
        paths: &'b [Path],
        times: Times<'b>,
        control: &'b Control,
    ) -> Evaluator<'b> {
        let columns = vec![None; paths.len()];
        Evaluator { block, paths, columns, times, control, rows: block.len() }
    }

    /// Decodes what an expression reads: whether columns can tell it.
    pub(super) fn load(&mut self, expr: &Expr) -> Result<bool, ColumnError> {
        for slot in slots_of(expr) {
            let Some(column) = self.columns.get_mut(slot) else { continue };
            if column.is_none() {
                let Some(path) = self.paths.get(slot) else { continue };
                *column = Some(self.block.at(path)?);
            }
            if matches!(column.as_deref(), Some(PathColumn::Unknown)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The column of a path that was loaded, if any event has something there.
    pub(super) fn column(&self, slot: usize) -> Option<&Arc<PathColumn>> {
        let column = self.columns.get(slot)?.as_ref()?;
        (!matches!(**column, PathColumn::Nothing)).then_some(column)
    }

    /// The path that an expression comes down to, where it is nothing else: a slot, or a dotted path that has one reading in this block.
    /// The inner one is none where no event has it.
    pub(super) fn as_column(&self, expr: &Expr) -> Option<Option<&Arc<PathColumn>>> {
        match expr {
            Expr::Slot(slot) => Some(self.column(*slot)),
            Expr::Path(readings) => {
                let mut only = None;
                for reading in readings {
                    match (self.as_column(reading)?, only) {
                        (None, _) => {}
                        (column, None) => only = column,
                        (Some(_), Some(_)) => return None,
                    }
                }
                Some(only)
            }
            _ => None,
        }
    }

    /// The numbers that an expression comes down to: those of a column, or the lengths of its strings.
    fn numbers(&self, expr: &Expr) -> Option<&Numbers> {
        if let Some(PathColumn::Numbers(column)) = self.as_column(expr).flatten().map(AsRef::as_ref) {
            return Some(&column.numbers);
        }
        match &**self.measured_column(expr)? {
            PathColumn::Coded(coded) => coded.lengths(),
            PathColumn::Numbers(_) | PathColumn::Nothing | PathColumn::Unknown => None,
        }
    }

    /// The column of which an expression tells the lengths of strings.
    pub(super) fn measured(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let column = self.measured_column(expr)?;
        matches!(&**column, PathColumn::Coded(coded) if coded.lengths().is_some()).then(|| column.clone())
    }

    fn measured_column(&self, expr: &Expr) -> Option<&Arc<PathColumn>> {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "Length" => match arguments.as_slice()
            {
                [of] => self.as_column(of)?,
                _ => None,
            },
            _ => None,
        }
    }

    /// The one path of this block that an expression depends on; the inner one none where it depends on nothing.
    pub(super) fn only(&self, expr: &Expr) -> Option<Option<usize>> {
        if needs_event(expr) {
            return None;
        }
        let mut only = None;
        for slot in slots_of(expr) {
            if self.column(slot).is_some() && only.replace(slot).is_some() {
                return None;
            }
        }
        Some(only)
    }

    /// The entries of the one path that an expression depends on, where that repeats them.
    pub(super) fn entries(&self, expr: &Expr) -> Option<(usize, &Coded)> {
        let slot = self.only(expr)??;
        let coded = self.column(slot)?.coded()?;
        coded.repeats().then_some((slot, coded))
    }

    /// Of each row whether an expression is true. Rows that are not `within` need not be told.
    pub(super) fn test(&self, expr: &Expr, within: Option<&Mask>) -> Result<Mask, ExecError> {
        self.control.check()?;
        match expr {
            Expr::And(terms) => {
                let mut mask: Option<Mask> = None;
                for term in terms {
                    let passes = self.test(term, mask.as_ref().or(within))?;
                    match &mut mask {
                        None => mask = Some(passes),
                        Some(mask) => mask.iter_mut().zip(&passes).for_each(|(mask, passes)| *mask &= passes),
                    }
                }
                return Ok(mask.unwrap_or_else(|| vec![true; self.rows]));
            }
            Expr::Or(terms) => {
                let mut mask = vec![false; self.rows];
                for term in terms {
                    let left: Mask = match within {
                        Some(within) => {
                            within.iter().zip(&mask).map(|(within, mask)| *within && !mask).collect()
                        }
                        None => mask.iter().map(|mask| !mask).collect(),
                    };
                    let passes = self.test(term, Some(&left))?;
                    mask.iter_mut().zip(&passes).for_each(|(mask, passes)| *mask |= passes);
                }
                return Ok(mask);
            }
            Expr::Not(of) if is_true_or_false(of) => {
                let mut mask = self.test(of, within)?;
                mask.iter_mut().for_each(|mask| *mask = !*mask);
                return Ok(mask);
            }
            Expr::CompareNumber { op, left, number, .. } => {
                if let Some(numbers) = self.numbers(left)
                    && let Some(range) = Range::of(*op, number, numbers.scale)
                {
                    return Ok(compare(numbers, |mantissa| range.has(mantissa), self.rows));
                }
            }
            Expr::InSet { left, set, negated } => {
                if let Some(numbers) = self.numbers(left)
                    && let Some(among) = Among::of(set.values(), numbers.scale)
                {
                    return Ok(compare(numbers, |mantissa| among.has(mantissa) != *negated, self.rows));
                }
            }
            Expr::Compare { op: Comparison::Equal, left, right, ci: false } => {
                if let Some(mask) = self.equal_texts(left, right).or_else(|| self.equal_texts(right, left)) {
                    return Ok(mask);
                }
            }
            Expr::IsNull(of, negated) => {
                if let Some(column) = self.as_column(of) {
                    return Ok(self.nulls(column.map(AsRef::as_ref), *negated));
                }
            }
            _ => {}
        }
        if self.only(expr) == Some(None) {
            let mut passes = false;
            self.each(expr, [0], |_, value| passes = value.is_true())?;
            return Ok(vec![passes; self.rows]);
        }
        if let Some((slot, coded)) = self.entries(expr) {
            let mut passes = vec![false; coded.dictionary.len()];
            let told = self.each_entry(expr, slot, coded, |entry, value| {
                if let Some(passes) = passes.get_mut(entry) {
                    *passes = value.is_true();
                }
            });
            // Where it fails, that may be of a row that another term has passed over.
            if told.is_err() {
                return self.test_rows(expr, within);
            }
            let pass = |code: &u32| passes.get(*code as usize).copied().unwrap_or_default();
            return Ok(coded.codes().unwrap_or_default().iter().map(pass).collect());
        }
        self.test_rows(expr, within)
    }

    /// The same, row by row.
    fn test_rows(&self, expr: &Expr, within: Option<&Mask>) -> Result<Mask, ExecError> {
        let (mut mask, found) = match self.candidates(expr) {
            Some((mask, dictionary)) => (mask, Some(dictionary)),
            None => (within.cloned().unwrap_or_else(|| vec![true; self.rows]), None),
        };
        if let Some(within) = within {
            mask.iter_mut().zip(within).for_each(|(mask, within)| *mask &= within);
        }
        // In a string without escapes what was found is there.
        let is_certain = |row: usize| {
            found.is_some_and(|of| {
                let text = of.get(row as u32);
                text.first() == Some(&b'"') && (of.is_plain() || is_plain(text))
            })
        };
        let is_open = |row: &usize| mask.get(*row).copied().unwrap_or_default() && !is_certain(*row);
        let rows: Vec<usize> = (0..self.rows).filter(is_open).collect();
        self.each(expr, rows, |row, value| {
            if let Some(mask) = mask.get_mut(row) {
                *mask = value.is_true();
            }
        })?;
        Ok(mask)
    }

    /// The rows whose text, of which each row has one of its own, has what an expression looks for in it; none where it looks for no text that stands
    /// as it is stored.
    fn candidates(&self, expr: &Expr) -> Option<(Mask, &Dictionary)> {
        let (left, sought) = match expr {
            Expr::Match { left, pattern } => (left, Sought::Bytes(pattern.literal_bytes()?)),
            Expr::Like { left, pattern, negated: false } => match (pattern.form(), pattern.folded()) {
                (LikeForm::Contains(text), _) => (left, Sought::Bytes(text)),
                (_, Some(folded)) => (left, Sought::Folded(folded)),
                (LikeForm::Exact(_) | LikeForm::Prefix(_) | LikeForm::Other, None) => return None,
            },
            _ => return None,
        };
        let dictionary = &self.as_column(left)??.coded().filter(|coded| coded.codes().is_none())?.dictionary;
        let mut mask = vec![false; self.rows];
        match sought {
            Sought::Bytes(needle) => {
                let finder = memmem::Finder::new(needle);
                dictionary.mark(&mut mask, |bytes| finder.find(bytes));
            }
            Sought::Folded(folded) => {
                dictionary.mark(&mut mask, |bytes| folded.find(bytes).map(|found| found.start()));
                // Of other text the characters are looked at one by one.
                dictionary.mark_unplain(&mut mask);
            }
        }
        Some((mask, dictionary))
    }

    /// The rows of a column of strings that equal a constant one. Stored strings have one spelling each, so that their bytes tell.
    fn equal_texts(&self, left: &Expr, right: &Expr) -> Option<Mask> {
        let Expr::Constant(constant @ Value::Text(_)) = right else { return None };
        let coded = self.as_column(left)??.coded().filter(|coded| coded.codes().is_none())?;
        let json = json(constant)?;
        Some((0..self.rows as u32).map(|row| coded.dictionary.get(row) == json).collect())
    }

    /// The rows that have no value or null, or those that have one.
    fn nulls(&self, column: Option<&PathColumn>, negated: bool) -> Mask {
        let is_null = |json: &[u8]| matches!(json.first(), None | Some(b'n'));
        match column {
            None | Some(PathColumn::Nothing | PathColumn::Unknown) => vec![!negated; self.rows],
            Some(PathColumn::Coded(coded)) => match coded.codes() {
                None => {
                    (0..self.rows as u32).map(|row| is_null(coded.dictionary.get(row)) != negated).collect()
                }
                Some(codes) => {
                    let entries = 0..coded.dictionary.len() as u32;
                    let of_entry: Vec<bool> =
                        entries.map(|entry| is_null(coded.dictionary.get(entry)) != negated).collect();
                    let of_code = |code: &u32| of_entry.get(*code as usize).copied().unwrap_or(!negated);
                    codes.iter().map(of_code).collect()
                }
            },
            Some(PathColumn::Numbers(column)) => match &column.numbers.rows {
                None => vec![negated; self.rows],
                Some(rows) => {
                    let mut mask = vec![!negated; self.rows];
                    for row in rows {
                        if let Some(mask) = mask.get_mut(*row as usize) {
                            *mask = negated;
                        }
                    }
                    mask
                }
            },
        }
    }

    /// An expression's value for each entry of the one path that it depends on.
    pub(super) fn each_entry(
        &self,
        expr: &Expr,
        slot: usize,
        coded: &Coded,
        mut act: impl FnMut(usize, Value<'_>),
    ) -> Result<(), ExecError> {
        let (mut offsets, mut spare) = (Offsets::new(), Spare::default());
        for entry in 0..coded.dictionary.len() {
            let mut scope = self.scope((0, 0), &mut spare);
            scope.set(slot, stored(coded.dictionary.get(entry as u32), &mut offsets));
            let value = expr.eval(&mut scope);
            scope.take_failure()?;
            act(entry, value);
            scope.end(&mut spare);
        }
        Ok(())
    }

    /// An expression's value for each of some rows.
    pub(super) fn each(
        &self,
        expr: &Expr,
        rows: impl IntoIterator<Item = usize>,
        mut act: impl FnMut(usize, Value<'_>),
    ) -> Result<(), ExecError> {
        let slots = slots_of(expr);
        let columns: Vec<(usize, &PathColumn)> =
            slots.iter().filter_map(|slot| Some((*slot, &**self.column(*slot)?))).collect();
        let mut spare = Spare::default();
        let mut offsets: Vec<Offsets> = columns.iter().map(|_| Offsets::new()).collect();
        for row in rows {
            let mut scope = self.scope(self.times.order(row), &mut spare);
            for ((slot, column), offsets) in columns.iter().zip(&mut offsets) {
                scope.set(*slot, stored(column.json(row), offsets));
            }
            let value = expr.eval(&mut scope);
            scope.take_failure()?;
            act(row, value);
            scope.end(&mut spare);
        }
        Ok(())
    }

    /// The arrival number of a row's event.
    pub(super) fn arrival(&self, row: usize) -> u64 {
        self.times.order(row).1
    }

    fn scope<'s>(&'s self, (instant, arrival): Order, spare: &mut Spare) -> Scope<'s> {
        let event = Event { document: None, instant, arrival };
        let Control { now, interrupt, .. } = self.control;
        Scope::with_slots(event, self.paths.len(), *now, Some(interrupt), spare)
    }
}

/// A value as it is stored, from its JSON text; none where there is none.
fn stored<'s>(json: &'s [u8], offsets: &'s mut Offsets) -> Option<Stored<'s>> {
    match json.first()? {
        b'[' | b'{' => Stored::scan_trusted(json, offsets).ok(),
        _ => Some(Stored::of_scalar(json)),
    }
}

/// Whether an expression's value is true, false or undefined, and nothing else.
fn is_true_or_false(expr: &Expr) -> bool {
    expr.is_comparison() || matches!(expr, Expr::And(_) | Expr::Or(_) | Expr::Not(_))
}

/// The rows that have a number, and it passes.
fn compare(numbers: &Numbers, passes: impl Fn(i64) -> bool, rows: usize) -> Mask {
    match &numbers.rows {
        None => numbers.values.iter().map(|mantissa| passes(*mantissa)).collect(),
        Some(of) => {
            let mut mask = vec![false; rows];
            for (row, mantissa) in of.iter().zip(&numbers.values) {
                if let Some(mask) = mask.get_mut(*row as usize) {
                    *mask = passes(*mantissa);
                }
            }
            mask
        }
    }
}
