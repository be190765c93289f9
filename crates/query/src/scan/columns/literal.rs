//! Arrays and objects that an expression puts together of constants and columns: what rows have stands in them as it is stored.

use super::computed::Texts;
use super::evaluate::{Evaluator, PARTS_MAX};
use crate::ast::{ArrayItem, ObjectMember};
use crate::column_block::{Coded, PathColumn};
use crate::expr::Expr;
use crate::value::{Text, VALUE_BYTES_MAX, Value, json, write_json};
use std::sync::Arc;

/// An array or an object of what rows have.
struct Literal<'e> {
    brackets: [u8; 2],
    parts: Vec<(Vec<u8>, Part<'e>)>,
}

/// The longest text of a mantissa, with its sign and its point.
const NUMBER_BYTES_MAX: usize = 32;

/// What stands behind a member's name, or in an array.
enum Part<'e> {
    /// JSON text that all rows have; empty for undefined.
    Constant(Vec<u8>),
    Column(&'e PathColumn),
}

impl Part<'_> {
    /// The bytes of all that it may give a row, or somewhat more.
    fn bytes(&self) -> usize {
        match self {
            Part::Constant(json) => json.len(),
            Part::Column(PathColumn::Numbers(column)) => column.rows().saturating_mul(NUMBER_BYTES_MAX),
            Part::Column(column) => column.coded().map_or(0, |coded| coded.dictionary.text_bytes()),
        }
    }
}

impl Literal<'_> {
    /// What one takes at most, in bytes.
    fn bytes(&self) -> usize {
        let bytes = self.parts.iter().map(|(name, part)| name.len().saturating_add(part.bytes()));
        bytes.fold(0, usize::saturating_add)
    }

    /// Appends what a row has, as JSON text. Nothing stands in it for what is undefined.
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        let [open, close] = self.brackets;
        out.push(open);
        let first = out.len();
        for (name, part) in &self.parts {
            let before = out.len();
            if before > first {
                out.push(b',');
            }
            out.extend_from_slice(name);
            let begin = out.len();
            match part {
                Part::Constant(json) => out.extend_from_slice(json),
                Part::Column(column) => out.extend_from_slice(column.json(row)),
            }
            if out.len() == begin {
                out.truncate(before);
            }
        }
        out.push(close);
    }
}

impl Evaluator<'_> {
    /// The array or object that an expression is of columns and constants; none of another one, or of one that takes elements or members from elsewhere.
    fn literal(&self, expr: &Expr) -> Option<Literal<'_>> {
        let part = |expr: &Expr| match (expr, self.as_column(expr)) {
            (Expr::Constant(value), _) => Some(Part::Constant(json(value).unwrap_or_default())),
            (_, Some(Some(column))) => Some(Part::Column(column)),
            (_, Some(None)) => Some(Part::Constant(Vec::new())),
            (_, None) => None,
        };
        match expr {
            Expr::Array(items) if items.len() <= PARTS_MAX => {
                let item = |item: &ArrayItem<Expr>| match item {
                    ArrayItem::One(expr) => Some((Vec::new(), part(expr)?)),
                    ArrayItem::Spread(_) => None,
                };
                Some(Literal { brackets: *b"[]", parts: items.iter().map(item).collect::<Option<_>>()? })
            }
            Expr::Object(members) if members.len() <= PARTS_MAX => {
                let mut parts: Vec<(Vec<u8>, Part<'_>)> = Vec::with_capacity(members.len());
                for member in members {
                    let ObjectMember::Named(name, expr) = member else { return None };
                    let mut spelled = Vec::new();
                    write_json(&Value::Text(Text::Borrowed(name)), &mut spelled);
                    spelled.push(b':');
                    // Of members of one name the last counts.
                    if parts.iter().any(|(other, _)| *other == spelled) {
                        return None;
                    }
                    parts.push((spelled, part(expr)?));
                }
                Some(Literal { brackets: *b"{}", parts })
            }
            _ => None,
        }
        .filter(|literal: &Literal<'_>| literal.bytes() <= VALUE_BYTES_MAX)
    }

    /// What is put together for some rows: joined texts, arrays or objects; none of another expression.
    pub(super) fn put_together(&self, expr: &Expr, rows: impl Iterator<Item = u32>) -> Option<Texts> {
        let mut made = Texts::default();
        match self.joining(expr) {
            Some(joining) => rows.for_each(|row| made.add_joined(joining.texts(row as usize))),
            None => {
                let literal = self.literal(expr)?;
                rows.for_each(|row| made.add_written(|out| literal.write(row as usize, out)));
            }
        }
        Some(made)
    }

    /// The same for all rows.
    pub(super) fn all_put_together(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let made = self.put_together(expr, 0..self.rows() as u32)?;
        Some(Arc::new(PathColumn::Coded(Coded::new(None, made.into_dictionary()?))))
    }
}
