//! Texts of several columns joined: where they read as they are stored, their bytes are.

use super::computed::Texts;
use super::evaluate::{Evaluator, PARTS_MAX};
use super::texts::{spelled, unquoted};
use crate::column_block::{Coded, PathColumn};
use crate::expr::Expr;
use crate::value::{VALUE_BYTES_MAX, Value};
use std::sync::Arc;

/// What `Concat` joins.
pub(super) struct Joining<'e>(Vec<Part<'e>>);

/// A text that all rows have, or that each has in a column.
pub(super) enum Part<'e> {
    /// As strings spell it.
    Constant(Vec<u8>),
    Column(&'e Coded),
}

impl Part<'_> {
    /// What it gives a row of the column that has such a code, as strings spell it; none where that is no string.
    pub(super) fn text(&self, code: impl Fn(&Coded) -> u32) -> Option<&[u8]> {
        match self {
            Part::Constant(text) => Some(text),
            Part::Column(coded) => unquoted(coded.dictionary.get(code(coded))),
        }
    }

    /// The bytes of all texts.
    fn bytes(&self) -> usize {
        match self {
            Part::Constant(text) => text.len(),
            Part::Column(coded) => coded.dictionary.text_bytes(),
        }
    }
}

impl Joining<'_> {
    /// What each part gives a row, as strings spell it; none where that is no string.
    pub(super) fn texts(&self, row: usize) -> impl Iterator<Item = Option<&[u8]>> {
        self.of_codes(move |coded| coded.code(row))
    }

    /// The same of entries of the columns.
    fn of_codes(&self, code: impl Fn(&Coded) -> u32) -> impl Iterator<Item = Option<&[u8]>> {
        self.0.iter().map(move |part| part.text(&code))
    }

    /// The column that is joined with constants, if there is one alone and its rows share entries.
    fn only_shared(&self) -> Option<&Coded> {
        let mut columns = self.0.iter().filter_map(|part| match part {
            Part::Constant(_) => None,
            Part::Column(coded) => Some(*coded),
        });
        columns.next().filter(|coded| coded.codes().is_some() && columns.next().is_none())
    }
}

impl Evaluator<'_> {
    /// What an expression joins; none where it does something else, half a surrogate pair could find the other half,
    /// or a result may be too long.
    pub(super) fn joining(&self, expr: &Expr) -> Option<Joining<'_>> {
        let Expr::Concat(parts) = expr else { return None };
        if parts.len() > PARTS_MAX {
            return None;
        }
        let parts = parts.iter().map(|part| self.text_part(part)).collect::<Option<Vec<_>>>()?;
        let bytes = parts.iter().fold(0usize, |bytes, part| bytes.saturating_add(part.bytes()));
        (bytes <= VALUE_BYTES_MAX).then_some(Joining(parts))
    }

    /// The texts of a constant or a column; none where half a surrogate pair could find another half in what they are joined with.
    pub(super) fn text_part(&self, expr: &Expr) -> Option<Part<'_>> {
        if let Expr::Constant(Value::Text(text)) = expr {
            return Some(Part::Constant(unquoted(&spelled(&text.text())?)?.to_vec()));
        }
        let coded = self.as_column(expr)??.texts()?;
        coded.dictionary.has_needed_escapes_only().then_some(Part::Column(coded))
    }

    /// The joined texts, one for each row, or for each entry of the only column.
    pub(super) fn joined(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let joining = self.joining(expr)?;
        let Some(coded) = joining.only_shared() else { return self.all_put_together(expr) };
        let mut made = Texts::default();
        (0..coded.dictionary.len() as u32).for_each(|entry| made.add_joined(joining.of_codes(|_| entry)));
        Some(Arc::new(PathColumn::Coded(Coded::mapped(coded, made.into_dictionary()?))))
    }
}
