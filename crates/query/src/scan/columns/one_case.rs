//! Conditions on texts that are brought to one case first, as `ToLower(name) = 'ada'`: strings are sought whatever their case is, and no text is made.

use super::characters::Case;
use super::texts::{Place, Sought};
use crate::ast::Comparison;
use crate::expr::{Expr, LikeForm, is_plain};
use crate::value::Value;
use std::borrow::Cow;
use tamias_json::search::Needle;

/// Where a text stands in the strings that are sought; none for anywhere.
type Stands<'e> = (Option<Place>, Cow<'e, str>);

impl Sought<'_> {
    /// The expression whose strings a condition brings to one case, what it asks of these, and whether it asks for all others. None where the text that they are
    /// compared with has letters of the other case, or more than ASCII without escapes. Strings with other characters, of which some become letters of ASCII, are
    /// told only where the text is found in them without that.
    pub(super) fn in_one_case(expr: &Expr) -> Option<(&Expr, Sought<'_>, bool)> {
        let (cased, (place, text), negated) = stands(expr)?;
        let Expr::Call { function, arguments, .. } = cased else { return None };
        let [of] = arguments.as_slice() else { return None };
        let case = Case::of(function.name)?;
        let is_spelled_so = text.is_ascii() && is_plain(&text);
        if text.is_empty() || !is_spelled_so || text.bytes().any(|byte| case.changes(byte)) {
            return None;
        }
        let sought = match place {
            Some(place) => Sought::placed(place, &text)?,
            None => Sought::Folded(Box::new(Needle::folded(text.as_bytes())?), None),
        };
        Some((of, sought, negated))
    }
}

/// The strings that a condition is about, where they have a text, and whether it asks for all others.
fn stands(expr: &Expr) -> Option<(&Expr, Stands<'_>, bool)> {
    match expr {
        Expr::Like { left, pattern, negated } => {
            let stands = match pattern.form() {
                LikeForm::Contains(text) => (None, text.into()),
                LikeForm::Prefix(text) => (Some(Place::Start), text.into()),
                LikeForm::Suffix(text) => (Some(Place::End), text.into()),
                LikeForm::Exact(text) => (Some(Place::Whole), text.into()),
                LikeForm::Pieces(_) | LikeForm::Matched(_) | LikeForm::Other => return None,
            };
            Some((left, stands, *negated))
        }
        Expr::Match { left, pattern } => Some((left, (None, pattern.text()?.into()), false)),
        Expr::Compare { op: op @ (Comparison::Equal | Comparison::NotEqual), left, right, ci: false } => {
            let (of, text) = match (&**left, &**right) {
                (of, Expr::Constant(Value::Text(text))) | (Expr::Constant(Value::Text(text)), of) => {
                    (of, text)
                }
                _ => return None,
            };
            Some((of, (Some(Place::Whole), text.text()), *op == Comparison::NotEqual))
        }
        Expr::Call { function, arguments, ci: false } => {
            let [of, Expr::Constant(Value::Text(text))] = arguments.as_slice() else { return None };
            let place = match function.name {
                "StartsWith" => Some(Place::Start),
                "EndsWith" => Some(Place::End),
                "Contains" => None,
                _ => return None,
            };
            Some((of, (place, text.text()), false))
        }
        _ => None,
    }
}
