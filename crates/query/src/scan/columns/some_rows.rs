//! Arithmetic over some rows of a block, and numbers that their texts spell: what is read of them is gathered first.

use super::compile::{makes_texts, reads_document, slots_of};
use super::computed::Texts;
use super::evaluate::{CALCULATED_SHARE, ENTRIES_SHARE, Evaluator, Mask, count, rows_of};
use super::found::Passing;
use super::mapped::TextOf;
use super::whole::{gather_decimals, gather_some};
use crate::chunk::Mantissas;
use crate::column_block::{Coded, PathColumn, TextNumbers};
use crate::dictionary::Dictionary;
use crate::error::ExecError;
use crate::expr::{Computed, Expr};
use crate::value::Value;
use std::sync::Arc;

/// Fewer rows are evaluated one by one.
const TOGETHER_MIN: usize = 8;

/// Where texts are made of texts, one row in so many, or fewer, had better have theirs made alone. HEURISTIC: to gather a text takes some 20 ns, to make one of it 50 and
/// more.
const MADE_SHARE: usize = 4;

impl<'b> Evaluator<'b> {
    /// One whose rows are some of these, with what an expression reads of them, and that expression; none where it does more than to reckon with columns, or the rows are
    /// very few or most of all.
    pub(super) fn of_some(&self, expr: &Expr, rows: &Passing) -> Option<(Expr, Evaluator<'b>)> {
        let Passing::Some(places) = rows else { return None };
        if places.len() < TOGETHER_MIN || !self.are_few(places.len()) || !only_reckons(expr) {
            return None;
        }
        // What all texts of a column tell is kept.
        if (reads_times(expr) || self.measures(expr)) && self.are_many(places.len()) {
            return None;
        }
        let (mut expr, mut lengths) = (expr.clone(), Vec::new());
        // How often a text stands in others is told by these.
        if !makes_texts(&expr) {
            self.put_lengths(&mut expr, places.len(), &mut lengths);
        }
        let mut some = self.gathered(&slots_of(&expr), places, rows);
        for numbers in lengths {
            let numbers = gather_some(&numbers, places.iter().copied(), places.len());
            some.columns.push(Some(Arc::new(PathColumn::of_numbers(numbers, places.len()))));
        }
        Some((expr, some))
    }

    /// Puts columns that come behind all others in place of lengths of texts that were counted before, or are hardly more than so many.
    fn put_lengths(&self, expr: &mut Expr, rows: usize, lengths: &mut Vec<Arc<Mantissas>>) {
        let counted = self.measured_column(expr).and_then(|column| match &**column {
            PathColumn::Coded(coded) if coded.dictionary.len() <= ENTRIES_SHARE * rows => {
                Some(coded.lengths())
            }
            other => other.known_lengths(),
        });
        match counted {
            Some(numbers) => {
                *expr = Expr::Slot(self.columns.len() + lengths.len());
                lengths.push(numbers.clone());
            }
            None => expr.children_mut().into_iter().for_each(|child| self.put_lengths(child, rows, lengths)),
        }
    }

    /// Whether an expression asks how long the texts of a column are, which is counted once.
    pub(super) fn measures(&self, expr: &Expr) -> bool {
        self.measured_column(expr).is_some() || expr.children().into_iter().any(|child| self.measures(child))
    }

    /// One whose rows are some of these, which are at these places, with the columns of some slots.
    fn gathered(&self, slots: &[usize], places: &[u32], rows: &Passing) -> Evaluator<'b> {
        let columns = self.columns.iter().enumerate().map(|(slot, column)| {
            let column = column.as_ref().filter(|_| slots.contains(&slot))?;
            Some(Arc::new(column.of_some(places, rows)))
        });
        let origins = places.iter().map(|row| self.origin(*row as usize) as u32);
        self.of_elements(columns.collect(), origins.collect())
    }

    /// One whose rows are some of these, with their texts gathered, where an expression makes texts of texts that hardly repeat; none of another one, or where it had better
    /// be told for all rows.
    pub(super) fn of_texts(&self, expr: &Expr, rows: &Passing) -> Option<Evaluator<'b>> {
        let Passing::Some(places) = rows else { return None };
        if places.len() < TOGETHER_MIN || places.len() > self.rows() / MADE_SHARE || !makes_texts(expr) {
            return None;
        }
        // What is reckoned with bytes is told of few rows without that.
        if !self.are_many(places.len()) && self.is_mapped(expr) {
            return None;
        }
        let slots = slots_of(expr);
        // Of entries that rows share there are fewer, and of what reads documents nothing is gathered.
        let are_texts = |slot: &usize| match self.column(*slot).map(|column| &**column) {
            Some(PathColumn::Coded(coded)) => coded.dictionary.len() > 2 * places.len(),
            Some(PathColumn::Pieces(_)) => true,
            _ => false,
        };
        if reads_document(expr) || expr.reads_local() || !slots.iter().any(are_texts) {
            return None;
        }
        Some(self.gathered(&slots, places, rows))
    }

    /// Of each row whether it is in a mask and a condition is true of it, where the condition makes texts of texts, and they are made for these rows alone; none where
    /// that takes as long as to test all.
    pub(super) fn test_some(&self, expr: &Expr, mask: &Mask) -> Option<Result<Mask, ExecError>> {
        if !makes_texts(expr) || count(Some(mask)) > self.rows() / MADE_SHARE {
            return None;
        }
        let rows: Arc<Vec<u32>> = Arc::new(rows_of(mask, 0));
        let inner = self.of_texts(expr, &Passing::Some(rows.clone()))?;
        let passes = match inner.test(expr, None) {
            Ok(passes) => passes,
            Err(error) => return Some(Err(error)),
        };
        // Whoever asks takes note of it before rows are given.
        if let Some(broken) = inner.take_broken() {
            *self.broken.borrow_mut() = Some(broken);
        }
        let mut all = vec![false; self.rows()];
        for (row, passes) in rows.iter().zip(passes) {
            if let Some(of_row) = all.get_mut(*row as usize) {
                *of_row = passes;
            }
        }
        Some(Ok(all))
    }

    /// What an expression that only reckons comes to for some rows, each as text; none of others, or where the rows are very few or most of all, or their texts take much
    /// memory.
    pub(super) fn texts_of_some(&self, expr: &Expr, rows: &Passing) -> Option<Arc<Dictionary>> {
        let (expr, some) = self.of_some(expr, rows)?;
        let column = some.computed(&expr)?;
        texts_of_rows(&column, rows.len())
    }
}

/// The values of so many rows, each as text; none where these take much memory.
pub(super) fn texts_of_rows(column: &PathColumn, rows: usize) -> Option<Arc<Dictionary>> {
    let mut made = Texts::default();
    let coded = column.coded();
    for row in 0..rows {
        made.add_told(|bytes| {
            let text = coded.map_or(&[][..], |coded| coded.dictionary.get(coded.code(row)));
            bytes.extend_from_slice(text);
            true
        });
    }
    made.into_dictionary()
}

/// Whether an expression is arithmetic of paths, constants that are no texts, instants and durations that are read from texts, numbers that these or functions of strings
/// spell, and how long they are; and of what conditions choose among them.
pub(super) fn only_reckons(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Value::Number(_) | Value::Null | Value::Undefined)
        | Expr::Slot(_)
        | Expr::BuiltIn(Computed::Timestamp) => true,
        Expr::Path(readings) => readings.iter().all(only_reckons),
        Expr::Arithmetic(..) | Expr::Negate(_) => expr.children().into_iter().all(only_reckons),
        Expr::If(parts) => {
            let (condition, then, otherwise) = &**parts;
            !reads_document(condition) && only_reckons(then) && only_reckons(otherwise)
        }
        Expr::Call { function, .. }
            if matches!(function.name, "Round" | "TotalMilliseconds" | "DateTime" | "TimeSpan") =>
        {
            expr.children().into_iter().all(only_reckons)
        }
        Expr::Call { function, arguments, .. } if matches!(function.name, "ToNumber" | "Length") => {
            let is_path = |leaf: &Expr| matches!(leaf, Expr::Slot(_) | Expr::Path(_));
            matches!(arguments.as_slice(), [of] if TextOf::of(of, &is_path).is_some())
        }
        _ => false,
    }
}

/// Whether instants or durations are read from texts.
fn reads_times(expr: &Expr) -> bool {
    matches!(expr, Expr::Call { function, .. } if matches!(function.name, "DateTime" | "TimeSpan"))
        || expr.children().into_iter().any(reads_times)
}

impl PathColumn {
    /// The values of some rows, which are at these places.
    fn of_some(&self, places: &[u32], rows: &Passing) -> PathColumn {
        let gathered = |numbers| gather_some(numbers, places.iter().copied(), places.len());
        match self {
            PathColumn::Nothing => PathColumn::Nothing,
            PathColumn::Unknown => PathColumn::Unknown,
            PathColumn::Pieces(column) => PathColumn::Coded(match self.texts_of(places) {
                Some(texts) => Coded::new(None, Arc::new(texts)),
                None => column.coded().of_some(places, rows),
            }),
            PathColumn::Coded(coded) => PathColumn::Coded(coded.of_some(places, rows)),
            PathColumn::Mixed(column) => PathColumn::Mixed(column.of_rows(gathered(&column.numbers), places)),
            PathColumn::Numbers(column) => PathColumn::of_numbers(gathered(&column.numbers), places.len()),
        }
    }
}

impl Coded {
    /// The same. Of entries that these rows do not have nothing is read.
    fn of_some(&self, places: &[u32], rows: &Passing) -> Coded {
        let are_many = places.len() >= self.dictionary.len() / CALCULATED_SHARE;
        if (self.has_numbers() || are_many)
            && let Some(TextNumbers { decimals, are_all, are_null, .. }) = self.numbers()
        {
            let decimals = Arc::new(gather_decimals(decimals, rows));
            let numbers = TextNumbers::new(decimals, *are_all, *are_null);
            return self.gathered(places).with_numbers(numbers);
        }
        // What is asked of entries that rows share is told once for each, where they are few.
        if self.codes().is_some() && self.dictionary.len() * 2 <= places.len() {
            return self.gathered(places);
        }
        let entry = |row: &u32| self.dictionary.get(self.code(*row as usize));
        Coded::new(None, Arc::new(Dictionary::of(places.iter().map(entry))))
    }
}
