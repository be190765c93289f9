//! The offset list as a table for people.

use std::fmt;

use tamias_simd::Entry;

use crate::scalar::Kind;
use crate::value::{Array, Map, Value, View};

/// Longer texts are cut, in characters.
const TEXT_MAX: usize = 60;

impl fmt::Debug for Map<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.0, f)
    }
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(&self.0, f)
    }
}

/// Writes a line for each entry, under a heading; in the alternate form with the entry's two numbers.
fn write(view: &View<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut start = view.entries.first().map_or(0, Entry::end);
    let mut texts = Vec::with_capacity(view.entries.len());
    for entry in view.entries {
        texts.push(text(view.slice(start, entry.end() + 1)));
        start = entry.end() + 1;
    }
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(4);
    write!(f, "index  kind    {:width$}  next", "text")?;
    if f.alternate() {
        write!(f, "      end   value")?;
    }
    let mut start = view.entries.first().map_or(0, Entry::end);
    for (index, (entry, text)) in view.entries.iter().zip(&texts).enumerate() {
        let kind = kind(view, start, entry);
        start = entry.end() + 1;
        write!(f, "\n{index:>5}  {kind:6}  {text:width$}  {:>4}", index + entry.step())?;
        if f.alternate() {
            write!(f, "  {:>7}", entry.end())?;
            match entry.opens() {
                true => write!(f, "  +{:>5}", entry.step() - 2)?,
                false => write!(f, "  {:>6}", entry.value())?,
            }
        }
    }
    Ok(())
}

/// The kind of the value that the entry ends or opens; a dash where there is none.
fn kind(view: &View<'_>, start: usize, entry: &Entry) -> &'static str {
    if entry.opens() {
        return if view.slice(entry.end(), entry.end() + 1) == b"{" { "map" } else { "array" };
    }
    if start == entry.end() {
        return "-";
    }
    match Value::of_scalar(view.slice(entry.value(), entry.end())).kind() {
        Kind::Bool => "bool",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Null | Kind::Array | Kind::Map => "null",
    }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String =
        text.chars().take(TEXT_MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(TEXT_MAX).is_some() {
        shown.push('…');
    }
    shown
}
