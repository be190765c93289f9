//! Conditions on the texts of two columns, told from their bytes.

use super::evaluate::{Evaluator, Mask};
use super::texts::unescaped;
use crate::ast::Comparison;
use crate::column_block::Coded;
use crate::error::ExecError;
use crate::expr::Expr;
use foldhash::fast::RandomState;
use memchr::memmem;
use std::collections::HashMap;

/// Where the entries of two columns are one to so many rows, they are looked up in one another.
const LOOKED_UP_SHARE: usize = 8;

/// What is asked of a text and another one.
type Holds = fn(&[u8], &[u8]) -> bool;

impl Evaluator<'_> {
    /// Of each row whether the values of two columns are equal, or are not; none where they are asked for something else, or equal ones may be
    /// spelled in several ways.
    pub(super) fn compare_texts(&self, op: Comparison, left: &Expr, right: &Expr) -> Option<Mask> {
        let wants_equal = match op {
            Comparison::Equal => true,
            Comparison::NotEqual => false,
            _ => return None,
        };
        // Where one side is no column, the texts of the other are not put together.
        let (left, right) = (self.as_column(left)??, self.as_column(right)??);
        let (left, right) = (left.texts()?, right.texts()?);
        if !left.dictionary.has_one_spelling_each() || !right.dictionary.has_one_spelling_each() {
            return None;
        }
        // To look a text up takes as long as to compare some.
        let entries = left.dictionary.len() + right.dictionary.len();
        if entries > self.rows() / LOOKED_UP_SHARE || !left.repeats() || !right.repeats() {
            let passes = |row: usize| {
                let [left, right] = [left, right].map(|coded| coded.dictionary.get(coded.code(row)));
                !left.is_empty() && !right.is_empty() && (left == right) == wants_equal
            };
            return Some((0..self.rows()).map(passes).collect());
        }
        // Equal values have the same number in both; 0 is for what is missing, and equal to nothing.
        let mut known: HashMap<&[u8], u32, RandomState> = HashMap::default();
        let [left, right] = [left, right].map(|coded| {
            let entries = (0..coded.dictionary.len() as u32).map(|entry| coded.dictionary.get(entry));
            let numbers: Vec<u32> = entries
                .map(|text| {
                    let next = known.len() as u32 + 1;
                    if text.is_empty() { 0 } else { *known.entry(text).or_insert(next) }
                })
                .collect();
            let number = move |code: &u32| numbers.get(*code as usize).copied().unwrap_or_default();
            coded.codes().unwrap_or_default().iter().map(number)
        });
        let passes = |(left, right)| left != 0 && right != 0 && (left == right) == wants_equal;
        Some(left.zip(right).map(passes).collect())
    }

    /// Of each row whether the text of one column begins or ends with that of another, or has it anywhere; none where something else is asked. Rows that are not `within`
    /// need not be told.
    pub(super) fn test_two_texts(
        &self,
        expr: &Expr,
        within: Option<&Mask>,
    ) -> Result<Option<Mask>, ExecError> {
        let Some((left, right, holds)) = self.sides(expr) else { return Ok(None) };
        let mut mask = vec![false; self.rows()];
        let mut open = Vec::new();
        for (row, mask) in mask.iter_mut().enumerate() {
            if within.is_some_and(|within| within.get(row) != Some(&true)) {
                continue;
            }
            let texts = [left, right].map(|coded| coded.dictionary.get(coded.code(row)));
            match texts.map(unescaped) {
                [Some(text), Some(part)] => *mask = holds(text, part),
                // Nothing is told of what is missing.
                _ if texts.iter().any(|text| text.is_empty()) => {}
                _ => open.push(row as u32),
            }
        }
        self.each(expr, open, |row, value| {
            if let Some(mask) = mask.get_mut(row) {
                *mask = value.is_true();
            }
        })?;
        Ok(Some(mask))
    }

    /// The columns of two texts, and what is asked of them.
    fn sides(&self, expr: &Expr) -> Option<(&Coded, &Coded, Holds)> {
        let Expr::Call { function, arguments, ci: false } = expr else { return None };
        let [left, right] = arguments.as_slice() else { return None };
        let holds: Holds = match function.name {
            "StartsWith" => |text, part| text.starts_with(part),
            "EndsWith" => |text, part| text.ends_with(part),
            "Contains" => |text, part| memmem::find(text, part).is_some(),
            _ => return None,
        };
        let (left, right) = (self.as_column(left)??, self.as_column(right)??);
        Some((left.texts()?, right.texts()?, holds))
    }
}
