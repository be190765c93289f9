//! `Replace` where what is replaced, or by what, stands in a column too: by the bytes of texts, which read as they are stored.

use super::characters::{Spelling, replace};
use super::computed::Texts;
use super::evaluate::Evaluator;
use super::join::Part;
use super::mapped::{CHECKED_ENTRIES, TEXT_BYTES_MAX};
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::has_escapes;
use crate::expr::Expr;
use memchr::memmem::Finder;
use std::sync::Arc;

/// What finds the parts of each row.
enum Finders<'p> {
    One(Box<Finder<'p>>),
    /// By their codes, where rows share them.
    OfEntries(&'p Coded, Vec<Finder<'p>>),
    OfRows,
}

impl<'p> Finders<'p> {
    /// None where a part has escapes.
    fn of(part: &'p Part<'_>) -> Option<Finders<'p>> {
        let coded = match part {
            Part::Constant(text) => {
                return (!has_escapes(text)).then(|| Finders::One(Box::new(Finder::new(text))));
            }
            Part::Column(coded) => *coded,
        };
        if coded.dictionary.has_escapes() {
            return None;
        }
        if coded.codes().is_none() {
            return Some(Finders::OfRows);
        }
        let entries = 0..coded.dictionary.len() as u32;
        let finder = |entry| Finder::new(part.text(|_| entry).unwrap_or_default());
        Some(Finders::OfEntries(coded, entries.map(finder).collect()))
    }
}

impl Evaluator<'_> {
    /// The texts of a column in which those of another are replaced; none where the bytes of one do not tell.
    pub(super) fn replaced(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let Expr::Call { function, arguments, ci: false } = expr else { return None };
        let ("Replace", [of, part, with]) = (function.name, arguments.as_slice()) else { return None };
        let (of, part, with) = (self.text_part(of)?, self.text_part(part)?, self.text_part(with)?);
        let finders = Finders::of(&part)?;
        let spelling = match &of {
            Part::Column(coded) => coded.dictionary.spelling(),
            Part::Constant(_) => Spelling::Any,
        };
        let mut made = Texts::default();
        for row in 0..self.rows() {
            if row.is_multiple_of(CHECKED_ENTRIES as usize) && self.check().is_err() {
                return None;
            }
            let (text, part) = (of.text(|coded| coded.code(row)), part.text(|coded| coded.code(row)));
            let (Some(text), Some(part), Some(with)) = (text, part, with.text(|coded| coded.code(row)))
            else {
                made.add_told(|_| true);
                continue;
            };
            let own;
            let finder = match &finders {
                Finders::One(finder) => Some(&**finder),
                Finders::OfEntries(coded, finders) => finders.get(coded.code(row) as usize),
                Finders::OfRows => {
                    own = Finder::new(part);
                    Some(&own)
                }
            };
            let write = |bytes: &mut Vec<u8>| {
                bytes.push(b'"');
                let is_told = match finder {
                    // An empty part is nowhere.
                    Some(finder) if !part.is_empty() => {
                        replace(text, finder, with, TEXT_BYTES_MAX, spelling.of_one(text), bytes).is_ok()
                    }
                    _ => {
                        bytes.extend_from_slice(text);
                        true
                    }
                };
                bytes.push(b'"');
                is_told
            };
            if !made.add_told(write) {
                return None;
            }
        }
        Some(Arc::new(PathColumn::Coded(Coded::new(None, made.into_dictionary()?))))
    }
}
