//! The columns that expressions make of columns: of numbers and conditions in whole, of texts once for each entry of a dictionary, of several
//! columns once for each combination of what they have.

use super::arithmetic::difference;
use super::compile::{is_has, needs_event, reads_document, slots_of};
use super::evaluate::{ENTRIES_SHARE, Evaluator, Mask, PARTS_MAX, is_true_or_false};
use super::reckoned::Reckoned;
use super::some_rows::only_reckons;
use super::texts::Sought;
use crate::column_block::{Coded, PathColumn};
use crate::expr::Expr;
use crate::value::Value;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

use super::computed::Texts;

/// Combinations up to so many have a place each.
const PLACES_MAX: usize = 1 << 16;

/// HEURISTIC: an expression takes so many times as long, evaluated once, as a number that is reckoned with many others.
const EVALUATED_SHARE: usize = 32;

/// So many rows are looked at to tell whether combinations repeat.
const PROBE: usize = 1024;

/// Whether an expression replaces what a pattern matches.
pub(super) fn matches_patterns(expr: &Expr) -> bool {
    matches!(expr, Expr::ReplaceMatch { pattern, .. } if pattern.text().is_none())
        || expr.children().into_iter().any(matches_patterns)
}

impl<'b> Evaluator<'b> {
    /// Whether an expression looks for patterns, and had better do so in the texts of so many rows alone.
    pub(super) fn is_dear(&self, expr: &Expr, rows: impl FnOnce() -> usize) -> bool {
        matches_patterns(expr) && !self.is_worthwhile(expr, rows())
    }

    /// Whether the values of an expression had better be told for all rows, if they are asked for of so many: few are evaluated one by one.
    pub(super) fn is_worthwhile(&self, expr: &Expr, rows: usize) -> bool {
        let are_many = self.are_many(rows);
        // Entries are never more.
        if rows >= self.rows() {
            return true;
        }
        // How long texts are that come in pieces, and what their beginnings tell, is told without putting them together; and to reckon with all numbers takes less than
        // to evaluate some.
        let matches = matches_patterns(expr);
        let is_quick = self.is_mapped(expr) && !matches;
        if is_quick || are_many && (self.numbers(expr).is_some() || self.is_reckoned(expr)) {
            return are_many;
        }
        match self.entries(expr) {
            // One entry may be that of rows that have none, and one null.
            Some((_, coded)) if matches => coded.dictionary.len() <= rows + 2,
            Some((_, coded)) => coded.dictionary.len() <= ENTRIES_SHARE * rows + 2,
            // To look for a pattern takes as long as to evaluate what else there is.
            None if matches => rows >= self.rows() / 2,
            None => are_many,
        }
    }

    /// Whether an expression is arithmetic of columns of numbers.
    fn is_reckoned(&self, expr: &Expr) -> bool {
        let are_numbers =
            |slot: usize| matches!(self.column(slot).map(|column| &**column), Some(PathColumn::Numbers(_)));
        only_reckons(expr) && slots_of(expr).into_iter().all(are_numbers)
    }

    /// The values of an expression for all rows; none where they had better be made row by row, or one of them fails, which may be that of a row
    /// that does not pass.
    pub(super) fn computed(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        if let Some(column) = self.as_column(expr) {
            return Some(column.cloned().unwrap_or_else(|| Arc::new(PathColumn::Nothing)));
        }
        if reads_document(expr) || expr.reads_local() || self.check().is_err() {
            return None;
        }
        if let Expr::Constant(value) = expr {
            return self.constant(value);
        }
        if let Expr::If(_) | Expr::Coalesce(_) = expr
            && let Some(column) = self.chosen(expr)
        {
            return Some(column);
        }
        match self.reckoned(expr) {
            Some(Reckoned::Numbers(numbers)) => {
                return Some(Arc::new(PathColumn::of_numbers(numbers, self.rows())));
            }
            Some(Reckoned::Decimals(decimals)) => {
                return match Reckoned::whole_quotients(&decimals) {
                    Some(numbers) => Some(Arc::new(PathColumn::of_numbers(numbers, self.rows()))),
                    None => Texts::of_decimals(&decimals, self.rows()),
                };
            }
            Some(Reckoned::Constant { .. }) | None => {}
        }
        self.condition(expr)
            .or_else(|| self.type_names(expr))
            .or_else(|| self.mapped_and_shared(expr))
            .or_else(|| self.of_iso_beginnings(expr))
            .or_else(|| self.iso_texts(expr))
            .or_else(|| self.of_reckoned_parts(expr))
            .or_else(|| self.by_entries(expr))
            .or_else(|| self.by_numbers(expr))
            .or_else(|| self.number_texts(expr))
            .or_else(|| self.joined_parts(expr))
            .or_else(|| self.by_combinations(expr))
            .or_else(|| self.truths_of_two_texts(expr))
            .or_else(|| self.joined(expr))
            .or_else(|| self.all_put_together(expr))
            .or_else(|| self.replaced(expr))
            .or_else(|| match expr {
                // Its parts have been tried.
                Expr::Concat(_) => None,
                _ => {
                    let (expr, inner) = self.flattened(expr)?;
                    inner.computed(&expr)
                }
            })
    }

    /// Texts that are joined of what is computed: of columns, and not for each combination of the entries that they are computed from.
    fn joined_parts(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let Expr::Concat(_) = expr else { return None };
        let (expr, inner) = self.flat_with(expr, |_| false)?;
        inner.computed(&expr)
    }

    /// A value that all rows have.
    pub(super) fn constant(&self, value: &Value<'_>) -> Option<Arc<PathColumn>> {
        let mut text = Texts::default();
        text.add(value);
        let codes = vec![0; self.rows()];
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), text.into_dictionary()?))))
    }

    /// The values of a condition that is tested over whole columns.
    fn condition(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let test = || -> Option<Mask> { self.test(expr, None).ok() };
        match expr {
            Expr::And(_) | Expr::Or(_) | Expr::IsNull(..) => Some(self.truths(&test()?, |_| true)),
            expr if is_has(expr) => Some(self.truths(&test()?, |_| true)),
            Expr::Not(of) if is_true_or_false(of) => Some(self.truths(&test()?, |_| true)),
            Expr::CompareNumber { left, .. } if self.mixed(left).is_none() => {
                self.truths_of_numbers(expr, self.reckoned(left)?.rows()?)
            }
            Expr::Compare { left, right, ci: false, .. }
                if self.mixed(left).is_none()
                    && self.mixed(right).is_none()
                    && let (Some(left), Some(right)) = (self.reckoned(left), self.reckoned(right))
                    && let Some(difference) = difference(&left, &right) =>
            {
                self.truths_of_numbers(expr, difference.numbers()?.rows.as_deref())
            }
            _ => {
                let (left, sought, _) = Sought::of(expr)?;
                let column = self.as_column(left)??;
                let coded = column.texts()?;
                let wants_text = sought.asks_for_texts(expr);
                let is_told: Vec<bool> = (0..coded.dictionary.len() as u32)
                    .map(|entry| match coded.dictionary.get(entry).first() {
                        Some(b'"') => true,
                        other => other.is_some() && !wants_text,
                    })
                    .collect();
                let told = |row: usize| is_told.get(coded.code(row) as usize).copied().unwrap_or_default();
                Some(self.truths(&test()?, told))
            }
        }
    }

    /// The values of a comparison of numbers, by the rows that have them.
    fn truths_of_numbers(&self, expr: &Expr, rows: Option<&[u32]>) -> Option<Arc<PathColumn>> {
        let mask = self.test(expr, None).ok()?;
        let Some(rows) = rows else { return Some(self.truths(&mask, |_| true)) };
        let mut has_one = vec![false; self.rows()];
        for row in rows {
            if let Some(has_one) = has_one.get_mut(*row as usize) {
                *has_one = true;
            }
        }
        Some(self.truths(&mask, |row| has_one.get(row).copied().unwrap_or_default()))
    }

    /// What an expression makes of a part that is reckoned, where it depends on a path of many numbers: what is rounded, as a rule, repeats more than that.
    fn of_reckoned_parts(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let (slot, coded) = self.entries(expr)?;
        let are_numbers = matches!(**self.column(slot)?, PathColumn::Numbers(_));
        if !are_numbers || coded.dictionary.len() * EVALUATED_SHARE < self.rows() {
            return None;
        }
        let is_reckoned = |child: &&Expr| !matches!(child, Expr::Constant(_) | Expr::Slot(_));
        if !expr.children().iter().any(is_reckoned) {
            return None;
        }
        let (expr, inner) = self.flat_with(expr, |_| false)?;
        inner.computed(&expr)
    }

    /// What an expression that depends on one path comes to, once for each entry.
    fn by_entries(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        if self.only(expr)?.is_none() {
            let mut text = Texts::default();
            self.each(expr, [0], |_, value| text.add(&value)).ok()?;
            return Some(Arc::new(PathColumn::Coded(Coded::new(
                Some(vec![0; self.rows()]),
                text.into_dictionary()?,
            ))));
        }
        let (slot, coded) = self.entries(expr)?;
        if let Some(of_entries) = self.of_entries(slot, coded)
            && let Some(column) = of_entries.computed(expr)
            && let Some(made) = column.coded()
        {
            return Some(Arc::new(PathColumn::Coded(made.gathered(coded.codes()?))));
        }
        let mut made = Texts::default();
        let entries = 0..coded.dictionary.len() as u32;
        self.each_entry(expr, slot, coded, entries, |_, value| made.add(&value)).ok()?;
        Some(Arc::new(PathColumn::Coded(Coded::mapped(coded, made.into_dictionary()?))))
    }

    /// What an expression that depends on several paths comes to, once for each combination of their entries.
    pub(super) fn by_combinations(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        if needs_event(expr) {
            return None;
        }
        let columns = slots_of(expr).into_iter().filter_map(|slot| self.column(slot));
        let columns = columns.map(|column| column.repeating());
        let columns = columns.collect::<Option<Vec<&Coded>>>().filter(|columns| columns.len() > 1)?;
        let (codes, firsts) = combinations(&columns, self.rows())?;
        let made = match self.put_together(expr, firsts.iter().copied()) {
            Some(made) => made,
            None => {
                let mut made = Texts::default();
                self.each(expr, firsts, |_, value| made.add(&value)).ok()?;
                made
            }
        };
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), made.into_dictionary()?))))
    }

    /// The same expression with columns in place of what in it is computed of numbers, instants or several paths; none where there is nothing
    /// of the kind.
    pub(super) fn flattened(&self, expr: &Expr) -> Option<(Expr, Evaluator<'b>)> {
        self.flat_with(expr, |child| self.entries(child).is_some())
    }

    /// The same where some parts stay as they are.
    fn flat_with(&self, expr: &Expr, stays: impl Fn(&Expr) -> bool) -> Option<(Expr, Evaluator<'b>)> {
        // The parts of a choice are columns by then, or none of them can be: to try again at each level would double the work with each.
        if let Expr::Let(..) | Expr::Quantified { .. } | Expr::If(_) | Expr::Coalesce(_) = expr {
            return None;
        }
        if self.is_flat || expr.children().len() > PARTS_MAX {
            return None;
        }
        let mut columns = self.columns.clone();
        let mut flat = expr.clone();
        for child in flat.children_mut() {
            if matches!(child, Expr::Constant(_) | Expr::Slot(_)) || stays(child) || child.reads_local() {
                continue;
            }
            if let Some(column) = self.computed(child) {
                *child = Expr::Slot(columns.len());
                columns.push(Some(column));
            }
        }
        (columns.len() > self.columns.len()).then(|| (flat, self.with_columns(columns)))
    }
}

/// For each row the number of its combination of entries, and for each combination the first row that has it; none where most rows have one of their
/// own.
fn combinations(columns: &[&Coded], rows: usize) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut numbers = vec![0u64; rows];
    let mut size = 1usize;
    for coded in columns {
        let codes = coded.codes()?;
        let next = size.checked_mul(coded.dictionary.len())?;
        for (number, code) in numbers.iter_mut().zip(codes) {
            *number = number.wrapping_add((size as u64).wrapping_mul(u64::from(*code)));
        }
        size = next;
    }
    // Where there are no more of them, the first rows need not tell.
    let repeat = size <= rows / 2;
    let (mut codes, mut firsts) = (Vec::with_capacity(rows), Vec::new());
    let mut few = if size <= PLACES_MAX { vec![0u32; size] } else { Vec::new() };
    let mut many: HashMap<u64, u32, RandomState> = HashMap::default();
    for (row, number) in (0..).zip(numbers) {
        let place = match few.get_mut(number as usize) {
            Some(place) => place,
            None => many.entry(number).or_default(),
        };
        if *place == 0 {
            firsts.push(row);
            *place = firsts.len() as u32;
        }
        codes.push(*place - 1);
        if codes.len() == PROBE && !repeat && firsts.len() > PROBE / 2 {
            return None;
        }
    }
    (firsts.len() * 2 <= rows + 8).then_some((codes, firsts))
}
