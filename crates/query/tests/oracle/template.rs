//! Message templates: what `@Message` and `@EventType` are where the event does not say.

use crate::value::Value;

/// Jenkins' one-at-a-time hash of the template's UTF-16 code units, as CLEF writers make it.
pub(crate) fn hash(template: &str) -> u32 {
    let mut hash: u32 = 0;
    for unit in template.encode_utf16() {
        hash = hash.wrapping_add(u32::from(unit));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// The template with its holes filled: strings as they are, other values as JSON. A hole without a value stays as it is
/// written. A hole with a format takes the next of the renderings, a text that is aligned already.
///
/// `show` gives a property as text, where there is one.
pub(crate) fn render(template: &str, show: impl Fn(&str) -> Option<String>, renderings: &Value) -> String {
    let characters: Vec<char> = template.chars().collect();
    let mut formatted = 0;
    let mut out = String::new();
    let mut at = 0;
    while at < characters.len() {
        let character = characters[at];
        if matches!(character, '{' | '}') && characters.get(at + 1) == Some(&character) {
            out.push(character);
            at += 2;
            continue;
        }
        let hole = if character == '{' { Hole::read(&characters[at..]) } else { None };
        let Some(hole) = hole else {
            out.push(character);
            at += 1;
            continue;
        };
        let rendering = renderings.element(&Value::integer(formatted), false);
        formatted += i64::from(hole.has_format);
        match (hole.has_format, rendering) {
            (true, Value::Text(text)) => out.push_str(&text),
            _ => {
                let text = show(&hole.name).unwrap_or_else(|| hole.source.clone());
                let missing = " ".repeat(hole.width.saturating_sub(text.chars().count()));
                out.push_str(&if hole.left {
                    format!("{text}{missing}")
                } else {
                    format!("{missing}{text}")
                });
            }
        }
        at += hole.source.chars().count();
    }
    out
}

struct Hole {
    source: String,
    name: String,
    width: usize,
    left: bool,
    has_format: bool,
}

impl Hole {
    /// `{Name}`, `{@Name}`, `{$Name}`, then perhaps `,width` or `,-width`, then perhaps `:format`.
    fn read(text: &[char]) -> Option<Hole> {
        let text: String = text.iter().collect();
        let pattern = r"^\{[@$]?([\p{Alphabetic}\p{N}_]+(?:\.[\p{Alphabetic}\p{N}_]+)*)(?:,(-?)([0-9]{1,3}))?(:[^{}]+)?\}";
        let parts = regex::Regex::new(pattern).unwrap().captures(&text)?;
        Some(Hole {
            source: parts[0].to_owned(),
            name: parts[1].to_owned(),
            width: parts.get(3).map_or(0, |digits| digits.as_str().parse().unwrap()),
            left: parts.get(2).is_some_and(|sign| sign.as_str() == "-"),
            has_format: parts.get(4).is_some(),
        })
    }
}
