//! How strings read and are spelled, written as plainly as possible: the oracle where `serde_json` has no answer.

use serde::de::IgnoredAny;

/// Whether the bytes are JSON text, by RFC 8259: `serde_json`'s word, which has no limits on depth, surrogates or the
/// size of numbers as long as it builds no value, but leaves UTF-8 unchecked.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// The minified form of valid JSON text.
pub(crate) fn minified(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' => {
                let end = end_of_string(rest);
                out.push(b'"');
                for unit in read(&rest[..end]) {
                    spell(unit, &mut out);
                }
                out.push(b'"');
                rest = &rest[end + 1..];
            }
            other => out.push(other),
        }
    }
    out
}

/// How the text between the quotes of a string reads.
pub(crate) fn decoded(raw: &[u8]) -> String {
    let mut out = Vec::new();
    for unit in read(raw) {
        match unit {
            Unit::Byte(byte) => out.push(byte),
            Unit::Character(character) => out.extend(character.to_string().bytes()),
            Unit::Surrogate(_) | Unit::Broken => out.extend("\u{fffd}".bytes()),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The place of the quote that ends a string of valid JSON.
fn end_of_string(text: &[u8]) -> usize {
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate() {
        if byte == b'"' && !escaped {
            return at;
        }
        escaped = byte == b'\\' && !escaped;
    }
    panic!("valid JSON ends its strings");
}

/// A piece of a string.
#[derive(Clone, Copy)]
enum Unit {
    /// A byte that stands for itself.
    Byte(u8),
    /// An escaped character.
    Character(char),
    /// An escaped surrogate without its partner.
    Surrogate(u16),
    /// A backslash that begins no escape; what follows it stands for itself.
    Broken,
}

fn read(raw: &[u8]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        let (unit, length) = if byte == b'\\' { read_escape(after) } else { (Unit::Byte(byte), 0) };
        units.push(unit);
        rest = &after[length..];
    }
    units
}

/// What follows a backslash, and how many bytes that are.
fn read_escape(text: &[u8]) -> (Unit, usize) {
    let character = match text.first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let Some(first) = hex(&text[1..]) else { return (Unit::Broken, 0) };
            if let Some(character) = char::from_u32(u32::from(first)) {
                return (Unit::Character(character), 5);
            }
            let second = text.get(5..).and_then(|next| next.strip_prefix(b"\\u")).and_then(hex);
            return match second {
                Some(low @ 0xdc00..=0xdfff) if first < 0xdc00 => {
                    let code = 0x10000 + ((u32::from(first) - 0xd800) << 10) + (u32::from(low) - 0xdc00);
                    (Unit::Character(char::from_u32(code).expect("a pair has a character")), 11)
                }
                _ => (Unit::Surrogate(first), 5),
            };
        }
        _ => return (Unit::Broken, 0),
    };
    (Unit::Character(character), 1)
}

/// Four hexadecimal digits at the start.
fn hex(text: &[u8]) -> Option<u16> {
    let digits = std::str::from_utf8(text.get(..4)?).ok()?;
    // `from_str_radix` would take a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Appends the one spelling that the piece has in a stored string.
fn spell(unit: Unit, out: &mut Vec<u8>) {
    let character = match unit {
        Unit::Byte(byte) => return out.push(byte),
        Unit::Surrogate(unit) => return out.extend(format!("\\u{unit:04x}").bytes()),
        Unit::Broken => panic!("valid JSON has valid escapes only"),
        Unit::Character(character) => character,
    };
    match character {
        '"' => out.extend(b"\\\""),
        '\\' => out.extend(b"\\\\"),
        '\u{8}' => out.extend(b"\\b"),
        '\u{c}' => out.extend(b"\\f"),
        '\n' => out.extend(b"\\n"),
        '\r' => out.extend(b"\\r"),
        '\t' => out.extend(b"\\t"),
        '\0'..='\u{1f}' => out.extend(format!("\\u{:04x}", u32::from(character)).bytes()),
        _ => out.extend(character.to_string().bytes()),
    }
}
