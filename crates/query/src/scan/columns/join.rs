//! Texts of several columns joined: where they read as they are stored, their bytes are.

use super::computed::Texts;
use super::evaluate::Evaluator;
use super::mapped::unquoted;
use super::texts::spelled;
use crate::column_block::{Coded, PathColumn};
use crate::expr::Expr;
use crate::value::{VALUE_BYTES_MAX, Value};
use std::sync::Arc;

/// What `Concat` joins.
pub(super) enum Joining<'e> {
    /// As strings spell it.
    Constant(Vec<u8>),
    Column(&'e Coded),
}

impl Joining<'_> {
    /// What it gives a row, as strings spell it; none where that is no string.
    pub(super) fn text(&self, row: usize) -> Option<&[u8]> {
        match self {
            Joining::Constant(text) => Some(text),
            Joining::Column(coded) => unquoted(coded.dictionary.get(coded.code(row))),
        }
    }
}

impl Evaluator<'_> {
    /// What an expression joins; none where it does something else, a text has an escape, or a result may be too long.
    pub(super) fn joining(&self, expr: &Expr) -> Option<Vec<Joining<'_>>> {
        let Expr::Concat(parts) = expr else { return None };
        let mut bytes = 0usize;
        let part = |part: &Expr| {
            if let Expr::Constant(Value::Text(text)) = part {
                let text = unquoted(&spelled(&text.text())?)?.to_vec();
                bytes = bytes.saturating_add(text.len());
                return Some(Joining::Constant(text));
            }
            let PathColumn::Coded(coded) = &**self.as_column(part)?? else { return None };
            bytes = bytes.saturating_add(coded.dictionary.text_bytes());
            coded.dictionary.is_unescaped().then_some(Joining::Column(coded))
        };
        let parts = parts.iter().map(part).collect::<Option<Vec<_>>>()?;
        (bytes <= VALUE_BYTES_MAX).then_some(parts)
    }

    /// The joined texts, one for each row.
    pub(super) fn joined(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let joining = self.joining(expr)?;
        let mut made = Texts::default();
        (0..self.rows()).for_each(|row| made.add_joined(&joining, row));
        Some(Arc::new(PathColumn::Coded(Coded::new(None, made.into_dictionary()?))))
    }
}
