//! The walk over a document that checks it and writes it anew.

use super::error::{Reason, ValidateError};
use crate::unescape::{hex_escape, pair};
use crate::write::{Escaped, long_escape};
use tamias_simd::{Task, VECTOR, Vector, leading_digits};

type Result<T> = std::result::Result<T, ValidateError>;

/// How many zeros follow a document in the buffer, so that a vector can be read at each of its bytes.
pub(super) const PADDING: usize = VECTOR;

/// A document to check, and to minify in place.
pub(super) struct Minify<'b> {
    /// The document, UTF-8, and behind it [`PADDING`] zeros.
    pub(super) buffer: &'b mut [u8],
    /// The length of the document.
    pub(super) length: usize,
    pub(super) depth_max: usize,
    /// Whether the root must be an object.
    pub(super) object: bool,
}

impl Task for Minify<'_> {
    type Output = Result<usize>;

    /// Checks the document, and moves its minified form to the beginning of the buffer. Returns the length of that.
    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Result<usize> {
        let Minify { buffer, length, depth_max, object } = self;
        debug_assert_eq!(buffer.len(), length + PADDING);
        let special = buffer.first_chunk().map_or(0, |bytes| vector.special(bytes));
        let open = Open::default();
        let mut walk =
            Walk { vector, buffer, length, at: 0, looked: 0, special, kept: 0, written: 0, open, depth_max };
        walk.skip_white_space();
        if object && walk.byte() != b'{' {
            return walk.fail(Reason::ExpectedObject);
        }
        walk.document()?;
        walk.leave_out(0);
        Ok(walk.written)
    }
}

/// A pass over the document, in place.
///
/// Minifying makes nothing longer, so what is written never overtakes what is read. What may stay as it is moves in the
/// longest possible runs; in a document that is minified already nothing moves at all.
///
/// *Invariants*: `written <= kept <= at <= length`, and `looked <= at`. The padding is zeros, and no token goes on with a
/// zero, so the walk never leaves the document; were that wrong, it would fail or panic, and read nothing beyond.
struct Walk<'b, V> {
    vector: V,
    buffer: &'b mut [u8],
    length: usize,
    /// The next byte to look at.
    at: usize,
    /// From here to `at` lies a run that stays as it is, and has yet to move.
    kept: usize,
    /// The beginning of a vector, `at` or before it, and where its special bytes are (see [`Vector::special`]).
    looked: usize,
    special: u64,
    /// The end of the minified form so far.
    written: usize,
    open: Open,
    depth_max: usize,
}

impl<V: Vector> Walk<'_, V> {
    /// The root and everything in it, without recursion.
    #[inline(always)]
    fn document(&mut self) -> Result<()> {
        loop {
            // A value begins here.
            match self.byte() {
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'{' => {
                    self.enter(Container::Object)?;
                    if self.byte() != b'}' {
                        self.key()?;
                        continue;
                    }
                    self.leave();
                }
                b'[' => {
                    self.enter(Container::Array)?;
                    if self.byte() != b']' {
                        continue;
                    }
                    self.leave();
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => return self.fail(Reason::ExpectedValue),
            }
            // A value has ended: so may the containers around it.
            loop {
                self.skip_white_space();
                match (self.open.last(), self.byte()) {
                    (Some(Container::Object), b',') => {
                        self.at += 1;
                        self.skip_white_space();
                        self.key()?;
                        break;
                    }
                    (Some(Container::Array), b',') => {
                        self.at += 1;
                        self.skip_white_space();
                        break;
                    }
                    (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.leave(),
                    (Some(Container::Object), _) => return self.fail(Reason::ExpectedCommaOrBrace),
                    (Some(Container::Array), _) => return self.fail(Reason::ExpectedCommaOrBracket),
                    (None, _) if self.at == self.length => return Ok(()),
                    (None, _) => return self.fail(Reason::TrailingBytes),
                }
            }
        }
    }

    /// Steps over an opening bracket.
    #[inline(always)]
    fn enter(&mut self, container: Container) -> Result<()> {
        if self.open.depth() >= self.depth_max {
            return self.fail(Reason::TooDeep { depth_max: self.depth_max });
        }
        self.open.push(container);
        self.at += 1;
        self.skip_white_space();
        Ok(())
    }

    /// Steps over the closing bracket of the innermost container.
    #[inline(always)]
    fn leave(&mut self) {
        self.at += 1;
        self.open.pop();
    }

    /// A key with its colon, up to the value.
    #[inline(always)]
    fn key(&mut self) -> Result<()> {
        if self.byte() != b'"' {
            return self.fail(Reason::ExpectedKey);
        }
        self.string()?;
        self.skip_white_space();
        if self.byte() != b':' {
            return self.fail(Reason::ExpectedColon);
        }
        self.at += 1;
        self.skip_white_space();
        Ok(())
    }

    #[inline(always)]
    fn string(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            self.skip_plain();
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' if is_kept(self.byte_after(1)) => self.at += 2,
                b'\\' => self.escape()?,
                _ => return self.fail(Reason::ControlCharacter),
            }
        }
    }

    /// Steps to the next byte that cannot stand in a string as it is. The padding has some.
    #[inline(always)]
    fn skip_plain(&mut self) {
        loop {
            // The vector in hand mostly goes on for several tokens: looking at it again costs a shift, where loading
            // bytes at each token would make every token wait for the one before.
            let special = self.special.checked_shr((self.at - self.looked) as u32).unwrap_or(0);
            if special != 0 {
                self.at += special.trailing_zeros() as usize;
                return;
            }
            self.at = self.at.max(self.looked + PADDING);
            self.looked = self.at & !(PADDING - 1);
            let Some(bytes) = self.buffer.get(self.looked..).and_then(|rest| rest.first_chunk()) else {
                return;
            };
            self.special = self.vector.special(bytes);
        }
    }

    /// An escape that is not kept, or not always, brought into its one spelling.
    #[inline(never)]
    fn escape(&mut self) -> Result<()> {
        match self.byte_after(1) {
            b'/' => {
                self.leave_out(1);
                self.at += 1;
            }
            b'u' => self.long_escape()?,
            _ => return self.fail_after(1, Reason::InvalidEscape),
        }
        Ok(())
    }

    /// A `\uXXXX`, with the next one if they are a pair.
    fn long_escape(&mut self) -> Result<()> {
        let text = &self.buffer[self.at..];
        let Some(unit) = hex_escape(text) else {
            let good = text[2..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
            return self.fail_after(2 + good, Reason::InvalidEscape);
        };
        let mut utf8 = [0; 4];
        if let Ok(ascii @ 0..=0x7f) = u8::try_from(unit) {
            self.replace(6, Escaped::of(ascii).as_bytes());
        } else if let Some(character) = char::from_u32(u32::from(unit)) {
            self.replace(6, character.encode_utf8(&mut utf8).as_bytes());
        } else if let Some(character) = hex_escape(&text[6..]).and_then(|low| pair(unit, low)) {
            self.replace(12, character.encode_utf8(&mut utf8).as_bytes());
        } else {
            // A surrogate without its partner.
            self.replace(6, &long_escape(unit));
        }
        Ok(())
    }

    #[inline(always)]
    fn number(&mut self) -> Result<()> {
        if self.byte() == b'-' {
            self.at += 1;
        }
        let zero = self.byte() == b'0';
        let start = self.at;
        self.digits()?;
        if zero && self.at - start > 1 {
            self.at = start + 1;
            return self.fail(Reason::LeadingZero);
        }
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if let b'e' | b'E' = self.byte() {
            self.exponent()?;
        }
        Ok(())
    }

    #[inline(never)]
    fn exponent(&mut self) -> Result<()> {
        self.at += 1;
        if let b'+' | b'-' = self.byte() {
            self.at += 1;
        }
        let start = self.at;
        self.digits()?;
        let exponent = self.buffer[start..self.at]
            .iter()
            .fold(0u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
        if exponent > EXPONENT_MAX {
            return Err(ValidateError { offset: start, reason: Reason::ExponentTooLarge });
        }
        Ok(())
    }

    /// One digit or more.
    #[inline(always)]
    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(eight) = self.buffer.get(self.at..).and_then(|rest| rest.first_chunk()) {
            let digits = leading_digits(eight);
            self.at += digits;
            if digits < 8 {
                break;
            }
        }
        if self.at == start { self.fail(Reason::ExpectedDigit) } else { Ok(()) }
    }

    #[inline(always)]
    fn word<const N: usize>(&mut self, word: &[u8; N]) -> Result<()> {
        let rest = &self.buffer[self.at..];
        if rest.starts_with(word) {
            self.at += N;
            return Ok(());
        }
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.fail_after(same, Reason::ExpectedValue)
    }

    #[inline(always)]
    fn byte(&self) -> u8 {
        self.byte_after(0)
    }

    #[inline(always)]
    fn byte_after(&self, distance: usize) -> u8 {
        self.buffer.get(self.at + distance).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn skip_white_space(&mut self) {
        if self.byte() <= b' ' {
            self.leave_out_white_space();
        }
    }

    #[inline(never)]
    fn leave_out_white_space(&mut self) {
        let rest = &self.buffer[self.at..];
        let length = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.leave_out(length.unwrap_or(0));
    }

    /// Steps over `length` bytes that are not kept.
    #[inline]
    fn leave_out(&mut self, length: usize) {
        let run = self.at - self.kept;
        if self.written != self.kept {
            self.buffer.copy_within(self.kept..self.at, self.written);
        }
        self.written += run;
        self.at += length;
        self.kept = self.at;
    }

    /// Steps over `length` bytes, in whose place stand others, at most as many.
    fn replace(&mut self, length: usize, by: &[u8]) {
        if self.buffer[self.at..].starts_with(by) && by.len() == length {
            self.at += length;
            return;
        }
        self.leave_out(length);
        self.buffer[self.written..][..by.len()].copy_from_slice(by);
        self.written += by.len();
    }

    #[cold]
    fn fail<T>(&self, reason: Reason) -> Result<T> {
        self.fail_after(0, reason)
    }

    /// Fails at a byte further on; if that is the end, because something is missing there.
    #[cold]
    fn fail_after<T>(&self, distance: usize, reason: Reason) -> Result<T> {
        let offset = self.at + distance;
        let reason = if offset >= self.length { Reason::UnexpectedEnd } else { reason };
        Err(ValidateError { offset, reason })
    }
}

/// Whether this byte makes an escape with the backslash before it that the one spelling has too.
#[inline(always)]
fn is_kept(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')
}

/// The largest exponent of ten, of either sign.
const EXPONENT_MAX: u32 = 1_000_000_000;

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
