//! Message templates, as CLEF has them: `{Name}`, `{@Name}`, `{$Name}`, alignment and format, `{{` and `}}`.

use crate::value::{Array, Object, Text, Value, write_json};

/// The 32-bit Jenkins one-at-a-time hash over the template's UTF-16 code units: the event type that CLEF writers make.
pub(crate) fn event_type(template: &str) -> u32 {
    let mut hash = 0u32;
    for unit in template.encode_utf16() {
        hash = hash.wrapping_add(u32::from(unit));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

enum Part<'t> {
    Text(&'t str),
    Hole(Hole<'t>),
}

struct Hole<'t> {
    /// The hole as it is written, with its braces.
    source: &'t str,
    name: &'t str,
    /// `{Name,10}` or `{Name,-10}`: the width, and whether the value stands to the left.
    alignment: Option<(usize, bool)>,
    format: Option<&'t str>,
}

/// The widest alignment that a hole may ask for.
const WIDTH_MAX: usize = 1000;

/// Renders `template`. None if the text would be longer than `limit_bytes`.
///
/// A hole shows a string as it is, any other value as JSON; a hole without a value stays as it is written. Holes with a
/// format take their text from `renderings`, in their order, as far as it goes.
pub(crate) fn render(
    template: &str,
    properties: &Object<'_>,
    renderings: &Value<'_>,
    limit_bytes: usize,
) -> Option<String> {
    let mut out = String::with_capacity(template.len() + 64);
    let mut formatted = 0;
    for part in parts(template) {
        let hole = match part {
            Part::Text(text) => {
                out.push_str(text);
                continue;
            }
            Part::Hole(hole) => hole,
        };
        let mut text = None;
        if hole.format.is_some() {
            if let Value::Array(array) = renderings
                && let Value::Text(rendering) = Array::get(array, formatted)
            {
                text = Some(rendering.text().into_owned());
            }
            formatted += 1;
        }
        // A rendering has its alignment already.
        let text = match text {
            Some(text) => text,
            None => aligned(show(&properties.get(hole.name), hole.source), hole.alignment),
        };
        out.push_str(&text);
        if out.len() > limit_bytes {
            return None;
        }
    }
    Some(out)
}

fn show(value: &Value<'_>, source: &str) -> String {
    match value {
        Value::Undefined => source.to_owned(),
        Value::Text(text) => Text::text(text).into_owned(),
        other => {
            let mut json = Vec::new();
            write_json(other, &mut json);
            String::from_utf8_lossy(&json).into_owned()
        }
    }
}

fn aligned(text: String, alignment: Option<(usize, bool)>) -> String {
    match alignment {
        None => text,
        Some((width, true)) => format!("{text:<width$}"),
        Some((width, false)) => format!("{text:>width$}"),
    }
}

fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (text, from) = rest.split_at(at);
        parts.push(Part::Text(text));
        if from.starts_with("{{") || from.starts_with("}}") {
            parts.push(Part::Text(from.get(..1).unwrap_or_default()));
            rest = from.get(2..).unwrap_or_default();
        } else if let Some(hole) = hole(from) {
            rest = from.get(hole.source.len()..).unwrap_or_default();
            parts.push(Part::Hole(hole));
        } else {
            parts.push(Part::Text(from.get(..1).unwrap_or_default()));
            rest = from.get(1..).unwrap_or_default();
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// The hole at the beginning of `text`, if there is one.
fn hole(text: &str) -> Option<Hole<'_>> {
    let end = text.find('}')?;
    let inner = text.get(1..end).filter(|_| text.starts_with('{'))?;
    let (inner, format) = match inner.split_once(':') {
        Some((inner, format)) => (inner, Some(format)),
        None => (inner, None),
    };
    let (name, alignment) = match inner.split_once(',') {
        Some((name, width)) => {
            let (digits, left) = match width.trim().strip_prefix('-') {
                Some(digits) => (digits, true),
                None => (width.trim(), false),
            };
            (name, Some((digits.parse().ok().filter(|&width| width <= WIDTH_MAX)?, left)))
        }
        None => (inner, None),
    };
    let name = name.strip_prefix(['@', '$']).unwrap_or(name);
    let valid = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    valid.then(|| Hole { source: text.get(..=end).unwrap_or_default(), name, alignment, format })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str) -> String {
        let properties = Value::object(vec![
            ("Name".into(), "Ada".into()),
            ("0".into(), Value::from(7usize)),
            ("Tags".into(), Value::array(vec!["a".into(), "b".into()])),
        ]);
        let Value::Object(properties) = properties else { panic!("an object is one") };
        let renderings = Value::array(vec!["0007".into()]);
        render(template, &properties, &renderings, 1000).unwrap()
    }

    #[test]
    fn holes() {
        assert_eq!(rendered("Hello, {Name}!"), "Hello, Ada!");
        assert_eq!(rendered("{@Tags} {$Name} {0}"), r#"["a","b"] Ada 7"#);
        assert_eq!(rendered("{0:0000} {Name:x}"), "0007 Ada");
        assert_eq!(rendered("[{Name,5}] [{Name,-5}]"), "[  Ada] [Ada  ]");
        assert_eq!(rendered("{{Name}} {Missing} {odd name} { } {"), "{Name} {Missing} {odd name} { } {");
        assert_eq!(rendered("}} } {Name"), "} } {Name");
    }

    #[test]
    fn event_types_are_those_of_clef_writers() {
        // The Jenkins hash of a text that is often quoted with it.
        assert_eq!(event_type("a"), 0xca2e_9442);
        assert_eq!(event_type("The quick brown fox jumps over the lazy dog"), 0x519e_91f5);
    }
}
