//! Whole numbers and byte strings one after another: how a directory is written and read.
//!
//! Numbers are LEB128: seven bits a byte, the lowest first, the top bit set where more follow. Signed ones are turned so that small
//! absolute values are short: 0, -1, 1, -2, … become 0, 1, 2, 3, ….

use crate::error::{DecodeError, malformed};

/// Appends an unsigned number.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a length and so many bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what the functions above write, and never past the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'b>(pub(crate) &'b [u8]);

impl<'b> Reader<'b> {
    /// The next byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.0.split_first().ok_or(malformed("it ends too early"))?;
        self.0 = rest;
        Ok(*first)
    }

    /// An unsigned number.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Result<u64, DecodeError> {
        match self.0 {
            // As good as all have one byte, or two.
            [byte @ ..0x80, rest @ ..] => {
                self.0 = rest;
                Ok(u64::from(*byte))
            }
            [low, high @ ..0x80, rest @ ..] => {
                self.0 = rest;
                Ok(u64::from(low & 0x7f) | u64::from(*high) << 7)
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("a number of more than 64 bits"))
    }

    /// An unsigned number of at most `limit`.
    #[inline(always)]
    pub(crate) fn at_most(&mut self, limit: usize, what: &'static str) -> Result<usize, DecodeError> {
        let value = self.number()?;
        usize::try_from(value).ok().filter(|value| *value <= limit).ok_or(malformed(what))
    }

    /// How many things follow, of which each takes at least a byte: so no more than there are bytes left.
    #[inline]
    pub(crate) fn count(&mut self) -> Result<usize, DecodeError> {
        let left = self.0.len();
        self.at_most(left, "a count of more than there are bytes")
    }

    /// A signed number.
    #[inline]
    pub(crate) fn signed(&mut self) -> Result<i64, DecodeError> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The next `length` bytes.
    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], DecodeError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(malformed("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// A length and so many bytes.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Result<&'b [u8], DecodeError> {
        let length = self.count()?;
        self.take(length)
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(malformed("something follows its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_as_they_were_written(unsigned in any::<u64>(), shift in 0..64u32, signed in any::<i64>()) {
            let (unsigned, signed) = (unsigned >> shift, signed >> shift);
            let mut out = Vec::new();
            put(&mut out, unsigned);
            put_signed(&mut out, signed);
            put_bytes(&mut out, b"xyz");
            let mut reader = Reader(&out);
            prop_assert_eq!(reader.number(), Ok(unsigned));
            prop_assert_eq!(reader.signed(), Ok(signed));
            prop_assert_eq!(reader.bytes(), Ok(&b"xyz"[..]));
            prop_assert_eq!(reader.end(), Ok(()));
        }
    }

    #[test]
    fn what_ends_early_or_is_too_large_is_an_error() {
        assert!(Reader(&[]).number().is_err());
        assert!(Reader(&[0x80]).number().is_err());
        assert!(Reader(&[0xff; 10]).number().is_err());
        assert!(Reader(&[200, 1, 7]).bytes().is_err());
        assert!(Reader(&[9]).at_most(8, "nine").is_err());
        assert!(Reader(&[1]).end().is_err());
    }
}
