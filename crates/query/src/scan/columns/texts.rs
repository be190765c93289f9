//! Conditions on the texts of a column, told from the bytes of its dictionary as far as these tell.

use super::evaluate::{Evaluator, Mask};
use crate::ast::Comparison;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::{Dictionary, is_plain};
use crate::error::ExecError;
use crate::expr::{Expr, LikeForm};
use crate::value::{Value, json};
use memchr::memmem;
use regex::bytes::Regex;

/// What strings are asked for. The bytes are those that strings are stored with, which have one spelling each.
pub(super) enum Sought<'e> {
    Contains(&'e [u8]),
    /// In text of ASCII without escapes, whatever the case of letters.
    Folded(&'e Regex),
    /// With the quote before them.
    Prefix(Vec<u8>),
    /// With the quote behind them.
    Suffix(Vec<u8>),
    /// One of these, with their quotes.
    AnyOf(Vec<Vec<u8>>),
}

/// A string as it is stored; none where it may be stored as what is no text and reads as this.
fn spelled(text: &str) -> Option<Vec<u8>> {
    json(&Value::from(text)).filter(|_| !text.contains(char::REPLACEMENT_CHARACTER))
}

/// More constants than these are looked up one by one.
const CONSTANTS_MAX: usize = 16;

impl Sought<'_> {
    /// The expression whose strings a condition is about, what it asks for, and whether it asks for all others.
    fn of(expr: &Expr) -> Option<(&Expr, Sought<'_>, bool)> {
        match expr {
            Expr::Match { left, pattern } => Some((left, Sought::Contains(pattern.literal_bytes()?), false)),
            Expr::Like { left, pattern, negated } => {
                let sought = match (pattern.form(), pattern.folded()) {
                    (LikeForm::Contains(text), _) => Sought::Contains(text),
                    (LikeForm::Prefix(text), _) => {
                        let mut prefix = spelled(text)?;
                        prefix.pop();
                        Sought::Prefix(prefix)
                    }
                    (LikeForm::Suffix(text), _) => Sought::Suffix(spelled(text)?.split_off(1)),
                    (LikeForm::Exact(text), _) => Sought::AnyOf(vec![spelled(text)?]),
                    (LikeForm::Other, Some(folded)) => Sought::Folded(folded),
                    (LikeForm::Other, None) => return None,
                };
                Some((left, sought, *negated))
            }
            Expr::Compare { op: op @ (Comparison::Equal | Comparison::NotEqual), left, right, ci: false } => {
                let (of, constant) = match (&**left, &**right) {
                    (of, Expr::Constant(constant)) | (Expr::Constant(constant), of) => (of, constant),
                    _ => return None,
                };
                Some((of, Sought::any_of(std::slice::from_ref(constant))?, *op == Comparison::NotEqual))
            }
            Expr::InSet { left, set, negated } if !set.ci() => {
                Some((left, Sought::any_of(set.values())?, *negated))
            }
            _ => None,
        }
    }

    /// Constants, if they are a few strings.
    fn any_of<'e>(constants: &[Value<'_>]) -> Option<Sought<'e>> {
        let text = |constant: &Value<'_>| match constant {
            Value::Text(text) => spelled(&text.text()),
            Value::Undefined
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        };
        let texts = constants.iter().map(text).collect::<Option<Vec<_>>>()?;
        (texts.len() <= CONSTANTS_MAX).then_some(Sought::AnyOf(texts))
    }

    /// Marks the entries that may be what is sought: of strings of ASCII without escapes, those that are.
    pub(super) fn mark(&self, dictionary: &Dictionary, marks: &mut [bool]) {
        match self {
            Sought::Contains(needle) => {
                let finder = memmem::Finder::new(needle);
                dictionary.mark(marks, |bytes| finder.find(bytes));
            }
            Sought::Folded(folded) => {
                dictionary.mark(marks, |bytes| folded.find(bytes).map(|found| found.start()));
                // Of other text the characters are looked at one by one.
                dictionary.mark_unplain(marks);
            }
            Sought::Prefix(prefix) => dictionary.mark_each(marks, |text| text.starts_with(prefix)),
            Sought::Suffix(suffix) => {
                dictionary.mark_each(marks, |text| text.len() > suffix.len() && text.ends_with(suffix));
            }
            Sought::AnyOf(texts) => {
                texts.iter().for_each(|text| dictionary.mark_each(marks, |other| other == text));
            }
        }
    }
}

impl Evaluator<'_> {
    /// Of each row whether a condition on the strings of one column is true; none where it is another one.
    pub(super) fn test_texts(&self, expr: &Expr) -> Result<Option<Mask>, ExecError> {
        let Some((left, sought, negated)) = Sought::of(expr) else { return Ok(None) };
        let column = self.as_column(left).flatten().cloned().or_else(|| self.mapped(left));
        let (Some(column), Some(Some(slot))) = (column, self.only(expr)) else { return Ok(None) };
        let PathColumn::Coded(coded) = &*column else { return Ok(None) };
        let mut marks = vec![false; coded.dictionary.len()];
        sought.mark(&coded.dictionary, &mut marks);
        let open = settle(&coded.dictionary, &mut marks, negated);
        // What is evaluated are the stored values.
        let Some(stored) = self.column(slot).and_then(|column| column.coded()) else { return Ok(None) };
        self.evaluate_open(expr, (slot, stored), &open, &mut marks)?;
        Ok(Some(match coded.codes() {
            None => marks,
            Some(codes) => {
                codes.iter().map(|code| marks.get(*code as usize).copied().unwrap_or_default()).collect()
            }
        }))
    }

    /// Evaluates a condition for some entries. Those that are missing are evaluated once.
    fn evaluate_open(
        &self,
        expr: &Expr,
        (slot, coded): (usize, &Coded),
        open: &[u32],
        passes: &mut [bool],
    ) -> Result<(), ExecError> {
        let is_missing = |entry: &u32| coded.dictionary.get(*entry).is_empty();
        let missing = open.iter().copied().find(is_missing);
        let values = open.iter().copied().filter(|entry| !is_missing(entry)).chain(missing);
        self.each_entry(expr, slot, coded, values, |entry, value| {
            if let Some(passes) = passes.get_mut(entry) {
                *passes = value.is_true();
            }
        })?;
        if missing.is_some_and(|missing| passes.get(missing as usize) == Some(&true)) {
            for entry in open.iter().filter(|entry| is_missing(entry)) {
                if let Some(passes) = passes.get_mut(*entry as usize) {
                    *passes = true;
                }
            }
        }
        Ok(())
    }
}

/// Makes of the marks of entries whether they pass, as far as they tell: the entries of which they do not.
fn settle(dictionary: &Dictionary, marks: &mut [bool], negated: bool) -> Vec<u32> {
    let mut open = Vec::new();
    let all_plain = dictionary.is_plain();
    for (entry, mark) in (0..).zip(marks) {
        let text = dictionary.get(entry);
        let is_settled = text.first() == Some(&b'"') && (!*mark || all_plain || is_plain(text));
        if is_settled {
            *mark ^= negated;
        } else {
            *mark = false;
            open.push(entry);
        }
    }
    open
}
