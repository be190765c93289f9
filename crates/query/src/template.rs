//! Message templates, as CLEF has them: `{Name}`, `{@Name}`, `{$Name}`, alignment and format, `{{` and `}}`.
//!
//! What a hole is, the grammar of message templates says: a name, perhaps `,` and a whole number, perhaps `:` and a format
//! of at least one character and without `{`. Here a name may have any letters, and points between its parts. All else
//! is text.

use crate::interrupt::STEP_UNITS;
use crate::value::{Object, Text, Value, write_json};
use memchr::{memchr, memchr2};
use std::collections::HashMap;

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

/// Renders `template`. None if the text would be longer than `limit_bytes`, or `charge`, which is given the work that is
/// done, said to stop.
///
/// A hole shows a string as it is, any other value as JSON; a hole without a value stays as it is written, as does
/// what only looks like a hole. `{A.B}` is the property of that name, else the member `B` of `A`. Holes with a format take their
/// text from `renderings`, in their order, as far as it goes.
///
/// A template is read anew for each event: that is one search for braces, and takes no longer than finding it among those
/// read before. Time is linear in template and text, and in what is gone over to find values, which is charged.
pub(crate) fn render(
    template: &str,
    properties: &Object<'_>,
    renderings: &Value<'_>,
    limit_bytes: usize,
    charge: &mut dyn FnMut(usize) -> bool,
) -> Option<String> {
    let mut out = Vec::with_capacity(template.len() + 64);
    let mut properties = Properties { object: properties, asked: 0, by_name: None, charge };
    let mut renderings = match renderings {
        Value::Array(array) => Some(array.iter()),
        _ => None,
    };
    for part in TemplateParts::of(template) {
        let hole = match part {
            TemplatePart::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                continue;
            }
            TemplatePart::Hole(hole) => hole,
        };
        let mut rendering = Value::Undefined;
        if hole.has_format {
            let next = renderings.as_mut().and_then(Iterator::next);
            rendering = next.unwrap_or(Value::Undefined);
        }
        match rendering {
            // A rendering has its alignment already.
            Value::Text(text) => show_text(&text, &mut out),
            _ => hole.show(&hole.value(&mut properties), &mut out),
        }
        if out.len() > limit_bytes || !(properties.charge)(STEP_UNITS) {
            return None;
        }
    }
    // A damaged document may hold anything.
    Some(
        String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

/// The text and the holes of a template, in their order.
pub(crate) fn parts(template: &str) -> impl Iterator<Item = TemplatePart<'_>> {
    TemplateParts::of(template)
}

/// The properties of an event, to be asked for by name.
///
/// A name is looked for in the document, one member after the other. For the few holes that a template usually has, that is
/// quicker than anything that first goes over all members; of a template with many holes all members are gone over once.
struct Properties<'s, 'a> {
    object: &'s Object<'a>,
    asked: usize,
    by_name: Option<HashMap<String, Value<'a>>>,
    /// Counts the bytes that are gone over: whether to go on.
    charge: &'s mut dyn FnMut(usize) -> bool,
}

/// So many names are looked for in the document itself.
const ASKED_MAX: usize = 64;

impl<'a> Properties<'_, 'a> {
    fn get(&mut self, name: &str) -> Value<'a> {
        self.asked += 1;
        if self.asked <= ASKED_MAX {
            (self.charge)(self.object.weight());
            return self.object.get(name);
        }
        let by_name = self.by_name.get_or_insert_with(|| {
            self.object.iter().map(|(key, value)| (key.text().into_owned(), value)).collect()
        });
        by_name.get(name).cloned().unwrap_or(Value::Undefined)
    }
}

/// The widest alignment that a hole may ask for.
const WIDTH_MAX: usize = 1000;

/// What a template consists of.
pub(crate) enum TemplatePart<'t> {
    Text(&'t str),
    Hole(Hole<'t>),
}

/// Where a template shows a property.
pub(crate) struct Hole<'t> {
    /// The hole as it is written, with its braces.
    pub(crate) source: &'t str,
    pub(crate) name: &'t str,
    /// The least number of characters to show; 0 for as many as there are.
    pub(crate) width: usize,
    /// Whether blanks stand behind the value, and not before it.
    is_left: bool,
    pub(crate) has_format: bool,
}

impl<'t> Hole<'t> {
    /// The hole that `text` begins with, if it does. `end` is the place of the first `}` in `text`.
    ///
    /// Reads no further than the first byte that no name and no width has, so that braces that open no hole cost nothing.
    fn read(text: &'t str, end: usize) -> Option<Hole<'t>> {
        let inner = text.get(..end)?.strip_prefix('{')?;
        let inner = inner.strip_prefix(['@', '$']).unwrap_or(inner);
        let name_end =
            inner.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(inner.len());
        let (name, mut rest) = inner.split_at(name_end);
        if name.split('.').any(str::is_empty) {
            return None;
        }
        let (mut width, mut is_left) = (0, false);
        if let Some(alignment) = rest.strip_prefix(',') {
            let digits = alignment.strip_prefix('-').unwrap_or(alignment);
            is_left = digits.len() < alignment.len();
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, after) = digits.split_at(count);
            width = digits.parse().ok().filter(|&width| width <= WIDTH_MAX)?;
            rest = after;
        }
        let has_format = match rest.strip_prefix(':') {
            Some(format) if format.is_empty() || memchr(b'{', format.as_bytes()).is_some() => return None,
            Some(_) => true,
            None if rest.is_empty() => false,
            None => return None,
        };
        Some(Hole { source: text.get(..=end)?, name, width, is_left, has_format })
    }

    /// Appends what it shows of a property, with blanks beside it.
    pub(crate) fn show(&self, value: &Value<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        match value {
            Value::Undefined => out.extend_from_slice(self.source.as_bytes()),
            Value::Text(text) => show_text(text, out),
            other => write_json(other, out),
        }
        if self.width == 0 {
            return;
        }
        let is_first_byte = |byte: &&u8| (**byte as i8) >= -0x40;
        let shown = out.get(start..).unwrap_or_default().iter().filter(is_first_byte).count();
        let blanks = std::iter::repeat_n(b' ', self.width.saturating_sub(shown));
        if self.is_left {
            out.extend(blanks);
        } else {
            out.splice(start..start, blanks);
        }
    }

    fn value<'a>(&self, properties: &mut Properties<'_, 'a>) -> Value<'a> {
        let value = properties.get(self.name);
        match self.name.split_once('.') {
            Some((first, rest)) if value.is_undefined() => {
                rest.split('.').fold(properties.get(first), |value, name| {
                    match (properties.charge)(value.weight()) {
                        true => value.member(name),
                        false => Value::Undefined,
                    }
                })
            }
            _ => value,
        }
    }
}

fn show_text(text: &Text<'_>, out: &mut Vec<u8>) {
    match text {
        Text::Stored(stored) if !stored.has_escapes() => out.extend_from_slice(stored.raw()),
        text => out.extend_from_slice(text.text().as_bytes()),
    }
}

/// Splits a template into text and holes.
struct TemplateParts<'t> {
    rest: &'t str,
    /// How many bytes of the rest there are before its first `}`, if that has been looked for.
    closing: Option<usize>,
}

impl<'t> TemplateParts<'t> {
    fn of(template: &'t str) -> TemplateParts<'t> {
        TemplateParts { rest: template, closing: None }
    }

    /// Takes so many bytes of the rest.
    fn take(&mut self, count: usize) -> TemplatePart<'t> {
        let (taken, rest) = self.rest.split_at_checked(count).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.closing = self.closing.and_then(|closing| closing.checked_sub(count));
        TemplatePart::Text(taken)
    }

    /// The place of the first `}` in the rest; beyond its end where there is none. Each is looked for once.
    fn closing(&mut self) -> usize {
        let rest = self.rest;
        *self.closing.get_or_insert_with(|| memchr(b'}', rest.as_bytes()).unwrap_or(usize::MAX))
    }
}

impl<'t> Iterator for TemplateParts<'t> {
    type Item = TemplatePart<'t>;

    fn next(&mut self) -> Option<TemplatePart<'t>> {
        match memchr2(b'{', b'}', self.rest.as_bytes()) {
            Some(0) => {}
            Some(brace) => return Some(self.take(brace)),
            None if self.rest.is_empty() => return None,
            None => return Some(self.take(self.rest.len())),
        }
        if self.rest.starts_with("{{") || self.rest.starts_with("}}") {
            let brace = self.take(1);
            self.take(1);
            return Some(brace);
        }
        let closing = self.closing();
        match Hole::read(self.rest, closing) {
            Some(hole) => {
                self.take(hole.source.len());
                Some(TemplatePart::Hole(hole))
            }
            None => Some(self.take(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str) -> String {
        let actor = Value::object(vec![("Name".into(), "Bo".into())]);
        let properties = Value::object(vec![
            ("Name".into(), "Ada".into()),
            ("Größe".into(), "ß".into()),
            ("0".into(), Value::from(7usize)),
            ("Tags".into(), Value::array(vec!["a".into(), "b\"".into()])),
            ("Actor".into(), actor),
            ("Actor.Age".into(), Value::from(36usize)),
            ("Null".into(), Value::Null),
        ]);
        let Value::Object(properties) = properties else { panic!("an object is one") };
        let renderings = Value::array(vec!["0007".into(), Value::from(1usize), "  x".into()]);
        render(template, &properties, &renderings, 100_000, &mut |_| true).unwrap()
    }

    #[track_caller]
    fn check(template: &str, expected: &str) {
        assert_eq!(rendered(template), expected, "{template}");
    }

    #[test]
    fn holes() {
        check("", "");
        check("plain", "plain");
        check("Hello, {Name}!", "Hello, Ada!");
        check("{@Tags} {$Name} {0} {Null}", r#"["a","b\""] Ada 7 null"#);
        check("{Name}{Name}", "AdaAda");
        check("{Größe}", "ß");
        check(
            "{Actor.Name} {Actor.Age} {Actor} {Actor.Name.First}",
            r#"Bo 36 {"Name":"Bo"} {Actor.Name.First}"#,
        );
    }

    #[test]
    fn renderings_are_for_holes_with_a_format() {
        check("{0} {0:0000} {Name:x} {Name,9:x} {Name:x}", "7 0007 Ada   x Ada");
        check("{0:a:b,c}", "0007");
    }

    #[test]
    fn widths() {
        check("[{Name,5}] [{Name,-5}] [{Name,2}] [{Name,0}]", "[  Ada] [Ada  ] [Ada] [Ada]");
        check("[{Größe,3}] [{Größe,-3}]", "[  ß] [ß  ]");
        check("[{Gone,8}]", "[{Gone,8}]");
        check("[{Gone,12}]", "[   {Gone,12}]");
        check(
            "{Name,} {Name,1001} {Name, 5} {Name,+5} {Name,-}",
            "{Name,} {Name,1001} {Name, 5} {Name,+5} {Name,-}",
        );
    }

    #[test]
    fn what_is_no_hole_is_text() {
        check("{{Name}} {Missing} {odd name} { } {", "{Name} {Missing} {odd name} { } {");
        check("}} } {Name", "} } {Name");
        check("{} {@} {a-b} {.} {a.} {a..b} {@@Name}", "{} {@} {a-b} {.} {a.} {a..b} {@@Name}");
        check("{{{Name}}} {x {Name} y}", "{Ada} {x Ada y}");
        check("{a,b}} {Name}", "{a,b} Ada");
    }

    #[test]
    fn a_format_has_a_character_at_least_and_no_brace() {
        check("{0:} {0,3:} {0: }", "{0:} {0,3:} 0007");
        check("{0:x{Name}", "{0:xAda");
        check("{0:x}y}", "0007y}");
    }

    #[test]
    fn texts_beyond_the_limit_are_not_made() {
        let Value::Object(none) = Value::object(Vec::new()) else { panic!("an object is one") };
        assert_eq!(
            render("{a,100}", &none, &Value::Undefined, 100, &mut |_| true).map(|text| text.len()),
            Some(100)
        );
        assert_eq!(render("{a,100}{b}", &none, &Value::Undefined, 100, &mut |_| true), None);
    }

    #[test]
    fn unkind_templates_take_linear_time() {
        for unit in ["{", "{a", "{a:", "{a,9", "{ ", "}", "{}", "a.", "{a.b "] {
            let template = unit.repeat(30_000);
            assert!(rendered(&template).len() <= template.len());
        }
    }

    #[test]
    fn event_types_are_those_of_clef_writers() {
        // The Jenkins hash of a text that is often quoted with it.
        assert_eq!(event_type("a"), 0xca2e_9442);
        assert_eq!(event_type("The quick brown fox jumps over the lazy dog"), 0x519e_91f5);
    }
}
