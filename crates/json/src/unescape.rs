//! Unescaping the text of a JSON string, borrowed if nothing is escaped.
//!
//! # Rules
//! - `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\uXXXX` are decoded, a surrogate pair to its one character.
//! - A surrogate without its partner reads as U+FFFD.
//! - Invalid input is safe too: a backslash that begins none of these escapes reads as U+FFFD, and
//!   the bytes after it are kept; invalid UTF-8 reads as U+FFFD, as in [`String::from_utf8_lossy`].

use std::borrow::Cow;
use tamias_simd::{VECTOR, equal, utf8};

/// Unescapes the text between the quotes of a JSON string.
///
/// Accepts any bytes, and takes time linear in their length. Borrowed if there is no backslash and all is UTF-8.
///
/// ```
/// use tamias_json::unescape::unescape;
/// assert_eq!(unescape(br"as it is"), "as it is");
/// assert_eq!(unescape(br"a\tb \ud83d\ude00 \ud83d"), "a\tb 😀 \u{fffd}");
/// ```
pub fn unescape(raw: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw) else {
        return utf8::text(raw).map_or_else(|| String::from_utf8_lossy(raw), Cow::Borrowed);
    };
    let text = utf8::into_text(decode(raw, first));
    Cow::Owned(text.unwrap_or_else(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Decodes the escapes, of which the first stands at `first`. Bytes that are no UTF-8 stay as they are.
fn decode(raw: &[u8], first: usize) -> Vec<u8> {
    let mut text = Text { bytes: vec![0; raw.len() + VECTOR], end: first };
    text.bytes[..first].copy_from_slice(&raw[..first]);
    let mut at = first;
    while at < raw.len() {
        let ahead = &raw[at..];
        at += match ahead.first_chunk() {
            Some(window) => piece(window, VECTOR, ahead, &mut text),
            None => {
                let length = ahead.len().min(VECTOR);
                let mut window = [0; 2 * VECTOR];
                window[..length].copy_from_slice(&ahead[..length]);
                piece(&window, length, ahead, &mut text)
            }
        };
    }
    text.bytes.truncate(text.end);
    text.bytes
}

/// Decodes `length` bytes, a vector at most, which are both in the window and ahead. Returns how many bytes were read, more
/// where an escape goes beyond them.
#[inline(always)]
fn piece(window: &[u8; 2 * VECTOR], length: usize, ahead: &[u8], text: &mut Text) -> usize {
    let mut backslashes = window.first_chunk().map_or(0, |bytes| equal(bytes, b'\\'));
    let mut at = 0;
    while backslashes != 0 {
        let place = backslashes.trailing_zeros() as usize;
        text.append_plain(window, at, place);
        at = place + text.append_escape(&ahead[place..]);
        if at >= length {
            return at;
        }
        // A backslash that was escaped begins nothing.
        backslashes &= u64::MAX << at;
    }
    text.append_plain(window, at, length);
    length
}

/// What is decoded so far. There is always room for what is left to read and a vector more, so that plain text can be
/// copied a fixed number of bytes at a time; what is too much is overwritten.
struct Text {
    bytes: Vec<u8>,
    end: usize,
}

impl Text {
    /// Appends the window's bytes `from..to`, a vector at most.
    #[inline(always)]
    fn append_plain(&mut self, window: &[u8; 2 * VECTOR], from: usize, to: usize) {
        const HALF: usize = VECTOR / 2;
        let source = &window[from..from + VECTOR];
        let target = &mut self.bytes[self.end..self.end + VECTOR];
        target[..HALF].copy_from_slice(&source[..HALF]);
        if to - from > HALF {
            target[HALF..].copy_from_slice(&source[HALF..]);
        }
        self.end += to - from;
    }

    /// Appends what the escape stands for with which `raw` begins, and those of four digits that follow it at once.
    /// Returns how many bytes that are.
    #[inline(always)]
    fn append_escape(&mut self, raw: &[u8]) -> usize {
        let short = raw.get(1).map_or(0, |&byte| SHORT[usize::from(byte)]);
        if short == 0 {
            return self.append_long_escapes(raw);
        }
        self.bytes[self.end] = short;
        self.end += 1;
        2
    }

    fn append_long_escapes(&mut self, raw: &[u8]) -> usize {
        let mut at = 0;
        while let Some(unit) = raw.get(at..).and_then(hex_escape) {
            at += 6;
            let character = char::from_u32(u32::from(unit)).or_else(|| {
                let low = raw.get(at..).and_then(hex_escape)?;
                let character = pair(unit, low)?;
                at += 6;
                Some(character)
            });
            self.append(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if at == 0 {
            // A backslash that begins no escape. The only case in which a byte becomes three.
            self.bytes.resize(self.bytes.len() + 2, 0);
            self.append(char::REPLACEMENT_CHARACTER);
            at = 1;
        }
        at
    }

    #[inline(always)]
    fn append(&mut self, character: char) {
        let Some(target) = self.bytes[self.end..].first_chunk_mut::<4>() else { return };
        let code = u32::from(character);
        let tail = |shift: u32| 0x80 | (code >> shift) as u8 & 0x3f;
        let (utf8, length) = match code {
            0..0x80 => ([code as u8, 0, 0, 0], 1),
            0x80..0x800 => ([0xc0 | (code >> 6) as u8, tail(0), 0, 0], 2),
            0x800..0x1_0000 => ([0xe0 | (code >> 12) as u8, tail(6), tail(0), 0], 3),
            _ => ([0xf0 | (code >> 18) as u8, tail(12), tail(6), tail(0)], 4),
        };
        *target = utf8;
        self.end += length;
    }
}

/// What the byte after a backslash stands for, 0 where it needs another look.
static SHORT: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 0x08;
    table[b'f' as usize] = 0x0c;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

/// The unit of a `\uXXXX` at the beginning.
#[inline(always)]
pub(crate) fn hex_escape(raw: &[u8]) -> Option<u16> {
    match raw {
        [b'\\', b'u', a, b, c, d, ..] => hex4([*a, *b, *c, *d]),
        _ => None,
    }
}

/// The character of a surrogate pair, if it is one.
pub(crate) fn pair(high: u16, low: u16) -> Option<char> {
    let (high, low) = (u32::from(high).wrapping_sub(0xd800), u32::from(low).wrapping_sub(0xdc00));
    if high < 0x400 && low < 0x400 { char::from_u32(0x1_0000 + (high << 10 | low)) } else { None }
}

/// Four hexadecimal digits, in either case.
#[inline(always)]
fn hex4([a, b, c, d]: [u8; 4]) -> Option<u16> {
    let digit = |byte: u8| HEX[usize::from(byte)];
    // A byte that is no digit is marked above the sixteen bits.
    let value = digit(a) << 12 | digit(b) << 8 | digit(c) << 4 | digit(d);
    u16::try_from(value).ok()
}

/// The value of a hexadecimal digit; for another byte a bit that stays above 16 bits wherever the digit stands.
static HEX: [u32; 256] = {
    let mut table = [1 << 16; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u32;
        table[b"0123456789ABCDEF"[value] as usize] = value as u32;
        value += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn borrowed_exactly_where_nothing_changes() {
        for text in ["", "plain", "é€😀", "/\u{7f}\u{0}\n\""] {
            assert!(matches!(unescape(text.as_bytes()), Cow::Borrowed(same) if same == text));
        }
        assert!(matches!(unescape(br"a\nb"), Cow::Owned(_)));
        assert!(matches!(unescape(b"\xff"), Cow::Owned(_)));
    }

    #[test]
    fn each_escape_reads_as_its_character() {
        assert_eq!(unescape(br#"\"\\\/\b\f\n\r\t"#), "\"\\/\u{8}\u{c}\n\r\t");
        for unit in 0..=u16::MAX {
            let expected = char::from_u32(u32::from(unit)).unwrap_or('\u{fffd}');
            for raw in [format!("\\u{unit:04x}"), format!("\\u{unit:04X}")] {
                assert_eq!(unescape(raw.as_bytes()), expected.to_string());
            }
        }
    }

    #[test]
    fn surrogates_read_as_a_pair_or_as_the_replacement_character() {
        for (raw, text) in [
            (r"\ud83d\ude00", "😀"),
            (r"\uD800\uDC00\uDBFF\uDFFF", "\u{10000}\u{10ffff}"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ude00", "\u{fffd}"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\ud83d\\ude00", "\u{fffd}\\ude00"),
            (r"\ud83d\u12", "\u{fffd}\u{fffd}u12"),
        ] {
            assert_eq!(unescape(raw.as_bytes()), text, "{raw}");
        }
    }

    #[test]
    fn what_no_validator_let_in_is_safe() {
        for (raw, text) in [
            (&br"\"[..], "\u{fffd}"),
            (br"a\", "a\u{fffd}"),
            (br"\x41", "\u{fffd}x41"),
            (br"\u", "\u{fffd}u"),
            (br"\u12", "\u{fffd}u12"),
            (br"\u12g4", "\u{fffd}u12g4"),
            (br"\u+123", "\u{fffd}u+123"),
            (br"\u\\n", "\u{fffd}u\\n"),
            (b"\\\xc3\xa9", "\u{fffd}é"),
            (b"\xff\\n\xc3", "\u{fffd}\n\u{fffd}"),
            (b"\xe2\x82\\u00ac", "\u{fffd}¬"),
        ] {
            assert_eq!(unescape(raw), text, "{}", raw.escape_ascii());
        }
        // Each becomes three times as long.
        assert_eq!(unescape(&br"\x".repeat(1000)), "\u{fffd}x".repeat(1000));
    }

    #[test]
    fn an_escape_may_stand_anywhere_and_any_number_of_them_together() {
        for before in 0..140 {
            for count in [1, 2, 3, 31, 32, 33, 64, 65] {
                for (raw, text) in [("\\\\", "\\"), ("\\n", "\n"), ("\\u00e9", "é"), ("\\ud83d\\ude00", "😀")]
                {
                    for after in [0, 1, 63, 64, 65, 130] {
                        let plain = |count: usize| "x".repeat(count);
                        let raw = format!("{}{}{}", plain(before), raw.repeat(count), plain(after));
                        let text = format!("{}{}{}", plain(before), text.repeat(count), plain(after));
                        assert_eq!(unescape(raw.as_bytes()), text);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_string_reads_as_serde_json_reads_it(pieces in prop::collection::vec(
            prop_oneof![
                any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap().trim_matches('"').to_owned()),
                "[a-z ]{0,100}",
                any::<char>().prop_map(|c| {
                    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect()
                }),
                Just("\\/".to_owned()),
            ], 0..20)
        ) {
            let raw = pieces.concat();
            if let Ok(expected) = serde_json::from_str::<String>(&format!("\"{raw}\"")) {
                prop_assert_eq!(unescape(raw.as_bytes()), expected);
            }
        }

        #[test]
        fn any_bytes_are_safe(raw: Vec<u8>) {
            let text = unescape(&raw);
            if !raw.contains(&b'\\') {
                prop_assert_eq!(text, String::from_utf8_lossy(&raw));
            }
        }
    }
}
