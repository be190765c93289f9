//! What depends on nothing but the types of values: told by the byte that each begins with.

use super::computed::Texts;
use super::evaluate::{Evaluator, Mask};
use crate::chunk::value_of;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::value::Value;
use std::sync::Arc;
use tamias_shred::Numbers;

/// A value of each type, the missing one first.
const SAMPLES: [&[u8]; 7] = [b"", b"null", b"true", b"0", b"\"\"", b"[]", b"{}"];

/// The place among [`SAMPLES`] of a value of the same type.
fn sample_of(json: &[u8]) -> usize {
    match json.first() {
        None => 0,
        Some(b'n') => 1,
        Some(b't' | b'f') => 2,
        Some(b'"') => 4,
        Some(b'[') => 5,
        Some(b'{') => 6,
        Some(_) => 3,
    }
}

impl Evaluator<'_> {
    /// The names of the types of what a path has; none for another expression than `TypeOf`.
    pub(super) fn type_names(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let Expr::Call { function, arguments, .. } = expr else { return None };
        let [of] = arguments.as_slice() else { return None };
        if function.name != "TypeOf" {
            return None;
        }
        let samples = self.by_type(Some(self.as_column(of)??), sample_of);
        let (mut names, mut codes_of) = (Texts::default(), [None; SAMPLES.len()]);
        let mut next = 0;
        let mut codes = Vec::with_capacity(samples.len());
        for sample in samples {
            let code = codes_of.get_mut(sample)?.get_or_insert_with(|| {
                let value = value_of(SAMPLES.get(sample).copied().unwrap_or_default());
                names.add(&Value::from(value.kind().name()));
                next += 1;
                next - 1
            });
            codes.push(*code);
        }
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), names.into_dictionary()?))))
    }

    /// The rows that have no value or null, or those that have one.
    pub(super) fn nulls(&self, column: Option<&PathColumn>, negated: bool) -> Mask {
        self.by_type(column, |json| matches!(json.first(), None | Some(b'n')) != negated)
    }

    /// Of each row what is told of its value, which is asked for its first byte at most, and may be another one of its type. A missing one is empty.
    pub(super) fn by_type<T: Copy>(&self, column: Option<&PathColumn>, tell: impl Fn(&[u8]) -> T) -> Vec<T> {
        let [nothing, number, text] = [&b""[..], b"0", b"\"\""].map(&tell);
        let of_entries = |values: &Dictionary| -> Vec<T> {
            (0..values.len() as u32).map(|entry| tell(values.get(entry))).collect()
        };
        let of_numbers = |numbers: &Numbers| match &numbers.rows {
            None => vec![number; self.rows()],
            Some(rows) => {
                let mut told = vec![nothing; self.rows()];
                for row in rows {
                    if let Some(told) = told.get_mut(*row as usize) {
                        *told = number;
                    }
                }
                told
            }
        };
        match column {
            None | Some(PathColumn::Nothing | PathColumn::Unknown) => vec![nothing; self.rows()],
            Some(PathColumn::Coded(coded)) => {
                let of_entry = of_entries(&coded.dictionary);
                match coded.codes() {
                    None => of_entry,
                    Some(codes) => {
                        let of_code = |code: &u32| of_entry.get(*code as usize).copied().unwrap_or(nothing);
                        codes.iter().map(of_code).collect()
                    }
                }
            }
            Some(PathColumn::Pieces(column)) => {
                (0..self.rows()).map(|row| if column.pieces.has(row) { text } else { nothing }).collect()
            }
            Some(PathColumn::Numbers(column)) => of_numbers(&column.numbers),
            Some(PathColumn::Mixed(column)) => {
                let mut told = of_numbers(&column.numbers);
                column.others.put(&of_entries(&column.others.values.dictionary), &mut told);
                told
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_and_its_sample_are_of_one_type() {
        for json in ["null", "true", "false", "-1", "7.5e3", r#""n""#, "[1]", r#"{"n":1}"#] {
            let sample = SAMPLES[sample_of(json.as_bytes())];
            assert_eq!(value_of(json.as_bytes()).kind(), value_of(sample).kind(), "{json}");
        }
        assert_eq!(SAMPLES[sample_of(b"")], b"");
    }
}
