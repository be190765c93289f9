//! What is put together: bytes, up to a limit that was promised.

use crate::error::{DecodeError, malformed};

/// Bytes that never become more than was announced, whatever a directory says.
#[derive(Debug)]
pub(crate) struct Output {
    /// What was appended, and room for more, into which short pieces are copied whole.
    bytes: Vec<u8>,
    length: usize,
    limit: usize,
}

/// Pieces up to this size are copied by instructions of a fixed length, of which the bytes too many are overwritten by what follows.
pub(crate) const SLACK: usize = 64;

/// Most pieces are no longer than this.
const SHORT: usize = 32;

impl Output {
    /// An empty output of at most `limit` bytes, which takes memory as it grows.
    pub(crate) fn new(limit: usize) -> Output {
        Output { bytes: Vec::new(), length: 0, limit }
    }

    /// An empty output that has room for all of its bytes at once.
    pub(crate) fn with_room(limit: usize) -> Output {
        Output { bytes: vec![0; limit + SLACK], length: 0, limit }
    }

    /// Appends bytes.
    #[inline(always)]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.push_range(bytes, 0, bytes.len())
    }

    /// Appends the bytes of `source` from `from` on up to `to`: quicker than a slice of it where they are few, and others follow.
    #[inline(always)]
    pub(crate) fn push_range(&mut self, source: &[u8], from: usize, to: usize) -> Result<(), DecodeError> {
        let length = to.wrapping_sub(from);
        if length > self.limit - self.length {
            return Err(malformed("its documents are longer than it says"));
        }
        let start = self.length;
        if length <= SHORT
            && let Some(block) = source.get(from..).and_then(|rest| rest.first_chunk::<SHORT>())
            && let Some(place) = self.bytes.get_mut(start..).and_then(|rest| rest.first_chunk_mut::<SHORT>())
        {
            *place = *block;
        } else if length <= SLACK
            && let Some(block) = source.get(from..).and_then(|rest| rest.first_chunk::<SLACK>())
            && let Some(place) = self.bytes.get_mut(start..).and_then(|rest| rest.first_chunk_mut::<SLACK>())
        {
            *place = *block;
        } else {
            let piece = source.get(from..to).ok_or(malformed("a text outside its bytes"))?;
            if self.bytes.len() < start + length {
                self.grow(start + length);
            }
            self.bytes[start..start + length].copy_from_slice(piece);
        }
        self.length += length;
        Ok(())
    }

    /// Makes room for so many bytes, and half as many again.
    #[cold]
    fn grow(&mut self, length: usize) {
        self.bytes.resize((length + length / 2).min(self.length + self.limit) + SLACK, 0);
    }

    /// Forgets what was appended; the limit is for all of it together.
    pub(crate) fn clear(&mut self) {
        self.limit -= self.length;
        self.length = 0;
    }

    /// Whether all has come that was announced.
    pub(crate) fn is_full(&self) -> bool {
        self.length == self.limit
    }

    /// What was appended.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// How many bytes there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The bytes.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.length);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_of_all_lengths_stand_one_after_another(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..20), extra in 0..40usize) {
            let whole = pieces.concat();
            let mut out = Output::new(whole.len());
            let mut from = 0;
            for piece in &pieces {
                // From within the whole, where others follow, and alone.
                if extra % 2 == 0 { out.push(piece).unwrap() } else { out.push_range(&whole, from, from + piece.len()).unwrap() }
                from += piece.len();
            }
            prop_assert!(out.push(&vec![0; extra + 1]).is_err());
            prop_assert_eq!(out.into_bytes(), whole);
        }
    }
}
