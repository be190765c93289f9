//! Functions of strings over a dictionary: a text that is stored as it reads gives another such text, without an evaluation.

use super::evaluate::Evaluator;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::{Dictionary, is_plain};
use crate::expr::Expr;
use crate::value::{Number, Value, write_json};
use std::sync::Arc;

/// What a function makes of a text of ASCII.
#[derive(Clone, Copy)]
enum Mapping {
    Lower,
    Upper,
    Part { start: usize, length: usize },
}

impl Mapping {
    fn of(expr: &Expr) -> Option<(&Expr, Mapping)> {
        let Expr::Call { function, arguments, .. } = expr else { return None };
        match (function.name, arguments.as_slice()) {
            ("ToLower", [of]) => Some((of, Mapping::Lower)),
            ("ToUpper", [of]) => Some((of, Mapping::Upper)),
            ("Substring", [of, start]) => {
                Some((of, Mapping::Part { start: whole(start)?, length: usize::MAX }))
            }
            ("Substring", [of, start, length]) => {
                Some((of, Mapping::Part { start: whole(start)?, length: whole(length)? }))
            }
            _ => None,
        }
    }

    /// Appends what becomes of a text, with its quotes; nothing for undefined.
    fn write(self, text: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        let part = match self {
            Mapping::Lower | Mapping::Upper => Some(text),
            Mapping::Part { start, length } => {
                text.get(start..).map(|rest| rest.get(..length).unwrap_or(rest))
            }
        };
        let Some(part) = part else { return };
        out.push(b'"');
        out.extend_from_slice(part);
        out.push(b'"');
        match self {
            Mapping::Lower => out.get_mut(begin..).unwrap_or_default().make_ascii_lowercase(),
            Mapping::Upper => out.get_mut(begin..).unwrap_or_default().make_ascii_uppercase(),
            Mapping::Part { .. } => {}
        }
    }
}

/// A constant that counts characters.
fn whole(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Constant(Value::Number(number)) => whole_number(number),
        _ => None,
    }
}

fn whole_number(number: &Number<'_>) -> Option<usize> {
    let whole: i64 = number.text().parse().ok()?;
    usize::try_from(whole).ok()
}

impl Evaluator<'_> {
    /// The column that a function of strings makes of one of texts; none for another expression, or where it fails for an entry, which may be that
    /// of a row that does not pass.
    pub(super) fn mapped(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let (of, mapping) = Mapping::of(expr)?;
        let column = self.as_column(of)??;
        let PathColumn::Coded(coded) = &**column else { return None };
        let slot = self.only(expr)??;
        let dictionary = &coded.dictionary;
        let all_plain = dictionary.is_plain();
        let plain = |entry: u32| {
            let text = dictionary.get(entry).strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            (all_plain || is_plain(text)).then_some(text)
        };
        let entries = 0..dictionary.len() as u32;
        let others =
            entries.clone().filter(|entry| !dictionary.get(*entry).is_empty() && plain(*entry).is_none());
        let (mut other_bytes, mut other_ends) = (Vec::new(), Vec::new());
        let evaluated = self.each_entry(expr, slot, coded, others, |entry, value| {
            write_json(&value, &mut other_bytes);
            other_ends.push((entry as u32, other_bytes.len()));
        });
        evaluated.ok()?;
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(dictionary.len());
        let (mut next_other, mut begin) = (other_ends.iter().peekable(), 0);
        for entry in entries {
            if let Some((_, end)) = next_other.next_if(|(other, _)| *other == entry) {
                bytes.extend_from_slice(other_bytes.get(begin..*end).unwrap_or_default());
                begin = *end;
            } else if let Some(text) = plain(entry) {
                mapping.write(text, &mut bytes);
            }
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
        Some(Arc::new(PathColumn::Coded(Coded::mapped(coded, Dictionary::new(bytes, ends)))))
    }
}
