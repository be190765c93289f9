//! What is pushed down, in words, for `explain`.

use super::condition::{Condition, Form, Sought};
use super::key_path::KeyPath;
use super::prepared::{Prefilter, Pushdown};
use crate::expr::{Expr, property, quoted};
use crate::instant::Instant;
use crate::lexer::is_name;
use std::fmt;

/// `period from … to …; prune by …; search for …`, without those that say nothing: nothing at all if all is read.
impl fmt::Display for Pushdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = |ticks: u64| {
            Instant::from_ticks(ticks).map_or_else(|| ticks.to_string(), |instant| instant.to_string())
        };
        let period = match (*self.period.start(), *self.period.end()) {
            (u64::MIN, u64::MAX) => None,
            (first, last) if first > last => Some("period without an instant".to_owned()),
            (first, u64::MAX) => Some(format!("period from {}", instant(first))),
            (u64::MIN, last) => Some(format!("period up to {}", instant(last))),
            (first, last) => Some(format!("period from {} to {}", instant(first), instant(last))),
        };
        let mut pruning = Vec::new();
        self.condition.iter().for_each(|condition| self.pruning(condition, &mut pruning));
        let mut sought = Vec::new();
        if let Some(prefilter) = &self.prefilter {
            match &self.condition {
                Some(condition) if condition.narrows() => self.sought(prefilter, condition, &mut sought),
                _ => (0..self.names.len()).for_each(|slot| add(&mut sought, self.name(slot))),
            }
        }
        let pruning = (!pruning.is_empty()).then(|| format!("prune by {}", pruning.join(", ")));
        let sought = (!sought.is_empty()).then(|| format!("search for {}", sought.join(", ")));
        let parts: Vec<String> = [period, pruning, sought].into_iter().flatten().collect();
        f.write_str(&parts.join("; "))
    }
}

fn add(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

impl Pushdown {
    fn name(&self, slot: usize) -> String {
        self.names.get(slot).map_or_else(|| "?".to_owned(), |name| property(name))
    }

    fn path(&self, path: &KeyPath) -> String {
        let inside = path.inside.iter().map(|key| match is_name(key) {
            true => format!(".{key}"),
            false => format!("[{}]", quoted(key)),
        });
        [self.name(path.slot)].into_iter().chain(inside).collect()
    }

    /// The dotted paths of an expression, by their first readings.
    fn paths(&self, expr: &Expr, keys: &mut Vec<String>) {
        match expr {
            Expr::Path(readings) => {
                let first = readings.first().and_then(KeyPath::of);
                first.iter().for_each(|path| add(keys, self.path(path)));
            }
            other => other.children().into_iter().for_each(|child| self.paths(child, keys)),
        }
    }

    /// The keys whose values, as blocks tell of them, decide a part of the condition.
    fn pruning(&self, condition: &Condition, keys: &mut Vec<String>) {
        if let Some(alone) = &condition.alone {
            return match &alone.path {
                Some(path) => add(keys, self.path(path)),
                None => self.paths(&alone.expr, keys),
            };
        }
        match &condition.form {
            Form::And(terms) | Form::Or(terms) => terms.iter().for_each(|term| self.pruning(term, keys)),
            Form::Not(of) => self.pruning(of, keys),
            Form::Constant(_) | Form::Head(..) | Form::Sought(_) | Form::Opaque => {}
        }
    }

    /// What is searched for: keys, keys with a text, or texts.
    fn sought(&self, prefilter: &Prefilter, condition: &Condition, found: &mut Vec<String>) {
        let text = |needle: &usize| {
            let bytes = prefilter.needles.get(*needle).map_or(&[][..], |needle| needle.bytes());
            String::from_utf8_lossy(bytes).into_owned()
        };
        match &condition.form {
            Form::And(terms) | Form::Or(terms) => {
                terms.iter().for_each(|term| self.sought(prefilter, term, found));
            }
            Form::Not(of) => self.sought(prefilter, of, found),
            Form::Sought(
                Sought::Number { slot, .. }
                | Sought::NumberOneOf { slot, .. }
                | Sought::Defined { slot }
                | Sought::NotNull { slot }
                | Sought::OneOf { slot, .. }
                | Sought::Length { slot, .. }
                | Sought::Among { slot, .. },
            ) => add(found, self.name(*slot)),
            Form::Sought(Sought::Value { needle, .. }) => add(found, text(needle)),
            Form::Sought(Sought::Contains { slot, needle }) => {
                add(found, format!("`{}` in {}", text(needle), self.name(*slot)));
            }
            Form::Sought(Sought::Mentions { needles }) => {
                needles.iter().for_each(|needle| add(found, format!("`{}`", text(needle))));
            }
            Form::Sought(Sought::Said { needle }) => add(found, format!("`{}` in any string", text(needle))),
            Form::Constant(_) | Form::Head(..) | Form::Opaque => {}
        }
    }
}
