//! Functions of strings over a dictionary: a text that is stored as it reads gives another such text, or a place in it, without an evaluation.

use super::evaluate::Evaluator;
use super::texts::spelled;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::{Dictionary, is_plain};
use crate::expr::Expr;
use crate::value::{Number, Value, write_json};
use memchr::memmem;
use std::sync::Arc;

/// What a function makes of a text of ASCII.
enum Mapping<'e> {
    Lower,
    Upper,
    Part { start: usize, length: usize },
    IndexOf(Box<memmem::Finder<'e>>),
}

impl Mapping<'_> {
    fn of(expr: &Expr) -> Option<(&Expr, Mapping<'_>)> {
        let Expr::Call { function, arguments, ci: false } = expr else { return None };
        match (function.name, arguments.as_slice()) {
            ("ToLower", [of]) => Some((of, Mapping::Lower)),
            ("ToUpper", [of]) => Some((of, Mapping::Upper)),
            ("Substring", [of, start]) => {
                Some((of, Mapping::Part { start: whole(start)?, length: usize::MAX }))
            }
            ("Substring", [of, start, length]) => {
                Some((of, Mapping::Part { start: whole(start)?, length: whole(length)? }))
            }
            ("IndexOf", [of, Expr::Constant(Value::Text(part))]) => {
                let part = spelled(&part.text())?;
                let finder = memmem::Finder::new(unquoted(&part).filter(|part| is_plain(part))?).into_owned();
                Some((of, Mapping::IndexOf(Box::new(finder))))
            }
            _ => None,
        }
    }

    /// Whether its bytes tell what becomes of a text as it is stored.
    fn is_direct(&self, text: &[u8]) -> bool {
        match self {
            Mapping::Lower | Mapping::Upper | Mapping::IndexOf(_) => is_plain(text),
            // What lies behind the part does not matter, and what is left as it is has any characters.
            Mapping::Part { start, length: usize::MAX } => {
                let (head, rest) = text.split_at(text.len().min(*start));
                is_plain(head) && memchr::memchr(b'\\', rest).is_none()
            }
            Mapping::Part { start, length } => {
                is_plain(text.get(..start.saturating_add(*length)).unwrap_or(text))
            }
        }
    }

    /// Appends what becomes of a text, with its quotes; nothing for undefined.
    fn write(&self, text: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        let part = match self {
            Mapping::Lower | Mapping::Upper => Some(text),
            Mapping::Part { start, length } => {
                text.get(*start..).map(|rest| rest.get(..*length).unwrap_or(rest))
            }
            Mapping::IndexOf(finder) => {
                let place = finder.find(text).and_then(|at| i64::try_from(at).ok()).unwrap_or(-1);
                return write_json(&Value::Number(Number::Decimal(place.into())), out);
            }
        };
        let Some(part) = part else { return };
        out.push(b'"');
        out.extend_from_slice(part);
        out.push(b'"');
        match self {
            Mapping::Lower => out.get_mut(begin..).unwrap_or_default().make_ascii_lowercase(),
            Mapping::Upper => out.get_mut(begin..).unwrap_or_default().make_ascii_uppercase(),
            Mapping::Part { .. } | Mapping::IndexOf(_) => {}
        }
    }
}

/// What stands between the quotes of a string.
pub(super) fn unquoted(json: &[u8]) -> Option<&[u8]> {
    json.strip_prefix(b"\"")?.strip_suffix(b"\"")
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
    /// Whether an expression makes texts of those of a column without being evaluated.
    pub(super) fn is_mapped(&self, expr: &Expr) -> bool {
        Mapping::of(expr).is_some_and(|(of, _)| self.as_column(of).is_some())
    }

    /// The column that a function of strings makes of one of texts; none for another expression, or where it fails for an entry, which may be that
    /// of a row that does not pass.
    pub(super) fn mapped(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let (of, mapping) = Mapping::of(expr)?;
        let column = self.as_column(of)??;
        let PathColumn::Coded(coded) = &**column else { return None };
        let slot = self.only(expr)??;
        let dictionary = &coded.dictionary;
        let all_plain = dictionary.is_plain();
        let entries = 0..dictionary.len() as u32;
        let is_other = |entry: &u32| match dictionary.get(*entry) {
            [] => false,
            text => unquoted(text).is_none_or(|text| !all_plain && !mapping.is_direct(text)),
        };
        let others: Vec<u32> = entries.clone().filter(is_other).collect();
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
            } else if let Some(text) = unquoted(dictionary.get(entry)) {
                mapping.write(text, &mut bytes);
            }
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
        Some(Arc::new(PathColumn::Coded(Coded::mapped(coded, Dictionary::new(bytes, ends)))))
    }
}
