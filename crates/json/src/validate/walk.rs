use super::{Reason, ValidateError};
use crate::unescape::{hex4, pair};
use crate::write::{long_escape, write_ascii};

type Result<T> = std::result::Result<T, ValidateError>;

/// Checks UTF-8 `input` and appends its minified form to `out`, which on error holds a part of it.
pub(super) fn minify(input: &[u8], depth_max: usize, object: bool, out: &mut Vec<u8>) -> Result<()> {
    let mut walk = Walk { input, at: 0, copied: 0, out, open: Open::default(), depth_max };
    walk.skip_white_space();
    if object && walk.byte().is_some_and(|byte| byte != b'{') {
        return walk.fail(Reason::ExpectedObject);
    }
    walk.document()?;
    walk.out.extend_from_slice(&input[walk.copied..]);
    Ok(())
}

/// A pass over the input. What may stay as it is is not copied at once, but in the longest possible runs: an input
/// that is minified already is copied whole.
struct Walk<'i, 'o> {
    input: &'i [u8],
    /// The next byte to look at.
    at: usize,
    /// Up to here the input has been copied or left out.
    copied: usize,
    out: &'o mut Vec<u8>,
    open: Open,
    depth_max: usize,
}

impl Walk<'_, '_> {
    /// The root and everything in it, without recursion.
    fn document(&mut self) -> Result<()> {
        loop {
            // A value begins here.
            match self.byte() {
                Some(b'{') => {
                    self.enter(Container::Object)?;
                    if self.byte() == Some(b'}') {
                        self.at += 1;
                        self.open.pop();
                    } else {
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.enter(Container::Array)?;
                    if self.byte() == Some(b']') {
                        self.at += 1;
                        self.open.pop();
                    } else {
                        continue;
                    }
                }
                Some(b'"') => self.string()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                Some(_) => return self.fail(Reason::ExpectedValue),
                None => return self.fail(Reason::UnexpectedEnd),
            }
            // A value has ended: so may the ones around it.
            loop {
                self.skip_white_space();
                match (self.open.last(), self.byte()) {
                    (None, None) => return Ok(()),
                    (None, Some(_)) => return self.fail(Reason::TrailingBytes),
                    (Some(Container::Object), Some(b',')) => {
                        self.at += 1;
                        self.skip_white_space();
                        self.key()?;
                        break;
                    }
                    (Some(Container::Array), Some(b',')) => {
                        self.at += 1;
                        self.skip_white_space();
                        break;
                    }
                    (Some(Container::Object), Some(b'}')) | (Some(Container::Array), Some(b']')) => {
                        self.at += 1;
                        self.open.pop();
                    }
                    (Some(_), None) => return self.fail(Reason::UnexpectedEnd),
                    (Some(Container::Object), Some(_)) => return self.fail(Reason::ExpectedCommaOrBrace),
                    (Some(Container::Array), Some(_)) => return self.fail(Reason::ExpectedCommaOrBracket),
                }
            }
        }
    }

    /// Steps over an opening bracket.
    fn enter(&mut self, container: Container) -> Result<()> {
        if self.open.depth() >= self.depth_max {
            return self.fail(Reason::TooDeep);
        }
        self.open.push(container);
        self.at += 1;
        self.skip_white_space();
        Ok(())
    }

    /// A key with its colon, up to the value.
    fn key(&mut self) -> Result<()> {
        match self.byte() {
            Some(b'"') => self.string()?,
            Some(_) => return self.fail(Reason::ExpectedKey),
            None => return self.fail(Reason::UnexpectedEnd),
        }
        self.skip_white_space();
        match self.byte() {
            Some(b':') => self.at += 1,
            Some(_) => return self.fail(Reason::ExpectedColon),
            None => return self.fail(Reason::UnexpectedEnd),
        }
        self.skip_white_space();
        Ok(())
    }

    fn string(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            let rest = self.input.get(self.at..).unwrap_or_default();
            self.at += rest.iter().position(|&b| b < b' ' || b == b'"' || b == b'\\').unwrap_or(rest.len());
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.fail(Reason::ControlCharacter),
                None => return self.fail(Reason::UnexpectedEnd),
            }
        }
    }

    /// An escape, brought into its one spelling.
    fn escape(&mut self) -> Result<()> {
        let escape = &self.input[self.at..];
        match escape.get(1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'/') => {
                self.leave_out(1);
                self.at += 1;
                Ok(())
            }
            Some(b'u') => match hex_escape(escape) {
                Some(unit) => {
                    self.long_escape(unit);
                    Ok(())
                }
                None => {
                    let good = escape[2..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
                    self.fail_after(2 + good, Reason::InvalidEscape)
                }
            },
            Some(_) => self.fail_after(1, Reason::InvalidEscape),
            None => self.fail_after(1, Reason::UnexpectedEnd),
        }
    }

    /// A valid `\uXXXX`, with the next one if they are a pair.
    fn long_escape(&mut self, unit: u16) {
        let mut utf8 = [0; 4];
        if let Ok(ascii @ 0..=0x7f) = u8::try_from(unit) {
            if ascii < b' ' && self.input[self.at..].starts_with(&long_escape(unit)) && !is_short(ascii) {
                self.at += 6;
            } else {
                self.leave_out(6);
                write_ascii(ascii, self.out);
            }
        } else if let Some(character) = char::from_u32(u32::from(unit)) {
            self.leave_out(6);
            self.out.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
        } else if let Some(character) =
            self.input.get(self.at + 6..).and_then(hex_escape).and_then(|low| pair(unit, low))
        {
            self.leave_out(12);
            self.out.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
        } else if self.input[self.at..].starts_with(&long_escape(unit)) {
            self.at += 6;
        } else {
            self.leave_out(6);
            self.out.extend_from_slice(&long_escape(unit));
        }
    }

    fn number(&mut self) -> Result<()> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
            if self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
                return self.fail(Reason::LeadingZero);
            }
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            let start = self.at;
            let exponent = self
                .digits()?
                .iter()
                .fold(0u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
            if exponent > EXPONENT_MAX {
                return Err(ValidateError { offset: start, reason: Reason::ExponentTooLarge });
            }
        }
        Ok(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<&[u8]> {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        if length == 0 {
            let reason = if rest.is_empty() { Reason::UnexpectedEnd } else { Reason::ExpectedDigit };
            return Err(ValidateError { offset: self.at, reason });
        }
        self.at += length;
        Ok(&rest[..length])
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        let rest = &self.input[self.at..];
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += same;
        if same == word.len() {
            Ok(())
        } else if same == rest.len() {
            self.fail(Reason::UnexpectedEnd)
        } else {
            self.fail(Reason::ExpectedValue)
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    #[inline]
    fn skip_white_space(&mut self) {
        if self.byte().is_some_and(|byte| byte <= b' ') {
            let rest = &self.input[self.at..];
            let length = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            self.leave_out(length.unwrap_or(rest.len()));
        }
    }

    /// Steps over `length` bytes that are not to be copied.
    fn leave_out(&mut self, length: usize) {
        self.out.extend_from_slice(&self.input[self.copied..self.at]);
        self.at += length;
        self.copied = self.at;
    }

    #[cold]
    fn fail<T>(&self, reason: Reason) -> Result<T> {
        self.fail_after(0, reason)
    }

    /// Fails at a byte further on; if that is the end, because something is missing there.
    #[cold]
    fn fail_after<T>(&self, length: usize, reason: Reason) -> Result<T> {
        let offset = self.at + length;
        let reason = if offset >= self.input.len() { Reason::UnexpectedEnd } else { reason };
        Err(ValidateError { offset, reason })
    }
}

/// The largest exponent of ten, of either sign.
const EXPONENT_MAX: u32 = 1_000_000_000;

/// The unit of a `\uXXXX` at the start of `text`.
fn hex_escape(text: &[u8]) -> Option<u16> {
    hex4(text.strip_prefix(b"\\u")?.get(..4)?)
}

/// Whether a control character has an escape of two bytes.
fn is_short(control: u8) -> bool {
    matches!(control, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Array,
    Object,
}

/// The containers that are open, a bit each: the innermost 64 in a word, the others on a stack of words.
#[derive(Default)]
struct Open {
    depth: usize,
    /// The innermost container is the lowest bit, 1 for an object.
    word: u64,
    outer: Vec<u64>,
}

impl Open {
    fn depth(&self) -> usize {
        self.depth
    }

    #[inline]
    fn last(&self) -> Option<Container> {
        match (self.depth, self.word & 1) {
            (0, _) => None,
            (_, 0) => Some(Container::Array),
            _ => Some(Container::Object),
        }
    }

    #[inline]
    fn push(&mut self, container: Container) {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.outer.push(self.word);
        }
        self.depth += 1;
        self.word = self.word << 1 | u64::from(container == Container::Object);
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth.is_multiple_of(64) {
            self.word = self.outer.pop().unwrap_or(0);
        }
    }
}
