//! Writing strings in the normalised form of stored strings.
//!
//! Only the escapes that JSON demands are written: `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, and every other control
//! character below U+0020 as `\u00xx` in lower case. Everything else is written as it is. Because all strings are normalised
//! when they are stored, a literal written by [`write_json_string`] can be searched for as bytes.

const HEX: &[u8; 16] = b"0123456789abcdef";

/// What follows the backslash where a byte must be escaped: `u` for the long form, 0 where it stands for itself.
const SHORT: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// Appends `text` to `out` as a JSON string: quoted, in the normalised form of stored strings.
///
/// ```
/// let mut out = Vec::new();
/// tamias_json::write_json_string("say \"ä/b\"\u{1}\n", &mut out);
/// assert_eq!(out, r#""say \"ä/b\"\u0001\n""#.as_bytes());
/// ```
pub fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    write_escaped(text, out);
    out.push(b'"');
}

/// Appends what stands between the quotes of `text` as a JSON string, in the normalised form of stored strings.
///
/// ```
/// let mut out = Vec::new();
/// tamias_json::write_escaped("say \"ä/b\"", &mut out);
/// assert_eq!(out, r#"say \"ä/b\""#.as_bytes());
/// ```
pub fn write_escaped(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if SHORT[usize::from(byte)] != 0 {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend_from_slice(Escaped::of(byte).as_bytes());
            copied = at + 1;
        }
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// One ASCII character as it stands inside a normalised string.
pub(crate) struct Escaped {
    bytes: [u8; 6],
    length: usize,
}

impl Escaped {
    pub(crate) fn of(ascii: u8) -> Escaped {
        match SHORT[usize::from(ascii)] {
            0 => Escaped { bytes: [ascii, 0, 0, 0, 0, 0], length: 1 },
            b'u' => Escaped { bytes: long_escape(u16::from(ascii)), length: 6 },
            short => Escaped { bytes: [b'\\', short, 0, 0, 0, 0], length: 2 },
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// A UTF-16 unit as `\uxxxx`, in lower case.
pub(crate) fn long_escape(unit: u16) -> [u8; 6] {
    let digit = |shift: u32| HEX[usize::from((unit >> shift) & 15)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_control_character_has_its_one_spelling() {
        let mut out = Vec::new();
        write_json_string(&(0..=0x20u8).map(char::from).collect::<String>(), &mut out);
        let expected = r#""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f ""#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn what_need_not_be_escaped_is_not() {
        let mut out = b"x".to_vec();
        write_json_string("/\u{7f}\u{2028}é😀", &mut out);
        assert_eq!(out, "x\"/\u{7f}\u{2028}é😀\"".as_bytes());
    }

    proptest! {
        #[test]
        fn the_spelling_is_that_of_serde_json(text in any::<String>()) {
            let mut out = Vec::new();
            write_json_string(&text, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}
