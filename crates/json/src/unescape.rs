//! Decoding the text of a JSON string: only when it is asked for, and borrowed where nothing is escaped.
//!
//! # Rules
//! - `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\uXXXX` are decoded, a surrogate pair to its one character.
//! - A surrogate without its partner reads as U+FFFD.
//! - Bytes that no validator let in are safe too: a backslash that begins none of these escapes reads as U+FFFD, and
//!   what follows it stands for itself; bytes that are no UTF-8 read as U+FFFD, as [`String::from_utf8_lossy`] has it.

use std::borrow::Cow;

/// The text between the quotes of a JSON string, decoded.
///
/// Takes any bytes, and time linear in their length. Borrowed where there is no backslash and all is UTF-8.
///
/// ```
/// use tamias_json::unescape::unescape;
/// assert_eq!(unescape(br"as it is"), "as it is");
/// assert_eq!(unescape(br"a\tb \ud83d\ude00 \ud83d"), "a\tb 😀 \u{fffd}");
/// ```
pub fn unescape(raw: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw) else {
        return match simdutf8::basic::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(raw),
        };
    };
    let mut out = Vec::with_capacity(raw.len());
    out.extend_from_slice(&raw[..first]);
    let mut rest = &raw[first..];
    while let Some((_, escaped)) = rest.split_first() {
        // `rest` begins with a backslash, `escaped` with what it escapes.
        let (text, length) = decode(escaped);
        let mut utf8 = [0; 4];
        out.extend_from_slice(text.encode_utf8(&mut utf8).as_bytes());
        rest = &escaped[length..];
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
    }
    Cow::Owned(match String::from_utf8(out) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// The character that an escape stands for, and the number of bytes after the backslash that belong to it.
fn decode(escaped: &[u8]) -> (char, usize) {
    let simple = match escaped.first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return decode_long(escaped),
        _ => return (char::REPLACEMENT_CHARACTER, 0),
    };
    (simple, 1)
}

/// As `decode`, for what begins with a `u`.
fn decode_long(escaped: &[u8]) -> (char, usize) {
    let Some(unit) = escaped.get(1..5).and_then(hex4) else { return (char::REPLACEMENT_CHARACTER, 0) };
    if let Some(character) = char::from_u32(u32::from(unit)) {
        return (character, 5);
    }
    let low = escaped.get(5..11).filter(|next| next.starts_with(b"\\u")).and_then(|next| hex4(&next[2..]));
    match low.and_then(|low| pair(unit, low)) {
        Some(character) => (character, 11),
        None => (char::REPLACEMENT_CHARACTER, 5),
    }
}

/// The character of a surrogate pair, if it is one.
pub(crate) fn pair(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok().filter(|&character| character > '\u{ffff}')
}

/// Four hexadecimal digits, in either case.
pub(crate) fn hex4(digits: &[u8]) -> Option<u16> {
    let [a, b, c, d] = *digits else { return None };
    let digit = |byte: u8| HEX[usize::from(byte)];
    // A byte that is no digit is marked above the sixteen bits.
    let value = digit(a) << 12 | digit(b) << 8 | digit(c) << 4 | digit(d);
    u16::try_from(value).ok()
}

/// The value of a hexadecimal digit; for another byte a bit that stays above 16 bits wherever the digit stands.
const HEX: [u32; 256] = {
    let mut table = [1 << 16; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u32;
        table[b"0123456789ABCDEF"[value] as usize] = value as u32;
        value += 1;
    }
    table
};
