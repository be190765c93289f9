//! What becomes of documents that are put together: they are appended, up to a limit that was promised, or compared with those that they should be.

use crate::error::{DecodeError, malformed};
use crate::texts::same;

/// Takes the pieces of documents, one after another.
pub(crate) trait Sink {
    /// Takes the bytes of `source` from `from` on up to `to`: quicker than a slice of it where they are few, and others follow.
    fn push_range(&mut self, source: &[u8], from: usize, to: usize) -> Result<(), DecodeError>;

    /// How many bytes came.
    fn len(&self) -> usize;

    /// Takes bytes that came before once more: those from `from` on up to `to`.
    fn again(&mut self, from: usize, to: usize) -> Result<(), DecodeError>;

    /// Takes a byte: what stands between the elements of arrays.
    fn push_byte(&mut self, byte: u8) -> Result<(), DecodeError>;

    /// Takes bytes.
    #[inline(always)]
    fn push(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.push_range(bytes, 0, bytes.len())
    }
}

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

    /// Makes room for so many bytes, or for all that may come.
    pub(crate) fn make_room(&mut self, length: usize) {
        let room = length.min(self.limit) + SLACK;
        if room > self.bytes.len() {
            self.bytes.resize(room, 0);
        }
    }

    /// Forgets what was appended after so many bytes; the limit is for all of it together.
    pub(crate) fn shorten(&mut self, length: usize) {
        let left = self.length.saturating_sub(length);
        self.limit -= left;
        self.length -= left;
    }

    /// Makes room for so many bytes, and half as many again.
    #[cold]
    fn grow(&mut self, length: usize) {
        self.bytes.resize((length + length / 2).min(self.length + self.limit) + SLACK, 0);
    }

    /// Forgets what was appended; the limit is for all of it together.
    pub(crate) fn clear(&mut self) {
        self.shorten(0);
    }

    /// Whether all has come that was announced.
    pub(crate) fn is_full(&self) -> bool {
        self.length == self.limit
    }

    /// What was appended.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// The bytes.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.length);
        self.bytes
    }
}

impl Sink for Output {
    #[inline(always)]
    fn push_range(&mut self, source: &[u8], from: usize, to: usize) -> Result<(), DecodeError> {
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

    #[inline(always)]
    fn push_byte(&mut self, byte: u8) -> Result<(), DecodeError> {
        let is_room = self.length < self.limit;
        match self.bytes.get_mut(self.length).filter(|_| is_room) {
            Some(place) => {
                *place = byte;
                self.length += 1;
                Ok(())
            }
            None => self.push(&[byte]),
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.length
    }

    #[inline]
    fn again(&mut self, from: usize, to: usize) -> Result<(), DecodeError> {
        let length = to.wrapping_sub(from);
        if length > self.limit - self.length {
            return Err(malformed("its documents are longer than it says"));
        }
        let start = self.length;
        if length <= SLACK
            && let Some(block) = self.bytes.get(from..).and_then(|rest| rest.first_chunk::<SLACK>()).copied()
            && let Some(place) = self.bytes.get_mut(start..).and_then(|rest| rest.first_chunk_mut::<SLACK>())
        {
            *place = block;
        } else {
            if to > start {
                return Err(malformed("a text outside its bytes"));
            }
            if self.bytes.len() < start + length {
                self.grow(start + length);
            }
            self.bytes.copy_within(from..to, start);
        }
        self.length += length;
        Ok(())
    }
}

/// Compares a document that is put together with the one that it should be, piece by piece where it stands.
#[derive(Debug)]
pub(crate) struct Comparison<'d> {
    document: &'d [u8],
    /// What is to come of it.
    rest: &'d [u8],
    /// How many bytes came.
    length: usize,
    /// The bits in which what came differs.
    unequal: u128,
}

/// Pieces up to this size are compared by loads of a fixed length, of which the bytes too many are left out.
const COMPARED: usize = 16;

/// The first bytes of a load, by how many.
const FIRST: [u128; COMPARED + 1] = {
    let mut masks = [u128::MAX; COMPARED + 1];
    let mut length = 0;
    while length < COMPARED {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

impl<'d> Comparison<'d> {
    /// Nothing came yet.
    pub(crate) fn with(document: &'d [u8]) -> Comparison<'d> {
        Comparison { document, rest: document, length: 0, unequal: 0 }
    }

    /// Whether exactly the document came.
    pub(crate) fn is_equal(&self) -> bool {
        self.unequal == 0 && self.rest.is_empty()
    }
}

impl Sink for Comparison<'_> {
    #[inline(always)]
    fn push_range(&mut self, source: &[u8], from: usize, to: usize) -> Result<(), DecodeError> {
        let length = to.wrapping_sub(from);
        self.length = self.length.wrapping_add(length);
        if let Some(mask) = FIRST.get(length)
            && let Some(piece) = source.get(from..).and_then(|rest| rest.first_chunk::<COMPARED>())
            && let Some(other) = self.rest.first_chunk::<COMPARED>()
        {
            self.unequal |= (u128::from_le_bytes(*piece) ^ u128::from_le_bytes(*other)) & mask;
            self.rest = &self.rest[length..];
        } else {
            let piece = source.get(from..to).ok_or(malformed("a text outside its bytes"))?;
            // What is longer than all that is to come is not what is to come.
            let (other, rest) = self.rest.split_at_checked(length).unwrap_or_default();
            self.unequal |= u128::from(!same(piece, other));
            self.rest = rest;
        }
        Ok(())
    }

    #[inline(always)]
    fn push_byte(&mut self, byte: u8) -> Result<(), DecodeError> {
        self.length = self.length.wrapping_add(1);
        match self.rest {
            [other, rest @ ..] => {
                self.unequal |= u128::from(byte ^ other);
                self.rest = rest;
            }
            [] => self.unequal = u128::MAX,
        }
        Ok(())
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.length
    }

    /// What came is what the document has there, or it differs already.
    #[inline(always)]
    fn again(&mut self, from: usize, to: usize) -> Result<(), DecodeError> {
        match self.unequal {
            0 => self.push_range(self.document, from, to),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_of_all_lengths_stand_one_after_another(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..20), extra in 0..40usize, from in any::<prop::sample::Index>()) {
            let once = pieces.concat();
            let whole = [&once[..], &once[from.index(once.len() + 1)..]].concat();
            let mut out = Output::new(whole.len());
            let again = once.len() - (whole.len() - once.len());
            let mut from = 0;
            for piece in &pieces {
                // From within the whole, where others follow, and alone.
                if extra % 2 == 0 { out.push(piece).unwrap() } else if let [byte] = **piece { out.push_byte(byte).unwrap() } else { out.push_range(&whole, from, from + piece.len()).unwrap() }
                from += piece.len();
            }
            out.again(again, once.len()).unwrap();
            prop_assert!(out.again(0, 1).is_err() || whole.is_empty());
            prop_assert!(out.push(&vec![0; extra + 1]).is_err());
            prop_assert_eq!(out.into_bytes(), whole);
        }

        #[test]
        fn pieces_are_compared_with_what_stands_at_their_place(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..20), at in any::<prop::sample::Index>(), how in 0..4u8,
        ) {
            let once = pieces.concat();
            let again = once.len() / 3..once.len() / 2;
            let whole = [&once[..], &once[again.clone()]].concat();
            let mut other = whole.clone();
            match how {
                0 if !other.is_empty() => other[at.index(whole.len())] ^= 1,
                1 => other.truncate(at.index(whole.len() + 1)),
                2 => other.push(7),
                _ => {}
            }
            let mut comparison = Comparison::with(&other);
            let mut from = 0;
            for piece in &pieces {
                if how == 3 { comparison.push(piece).unwrap() } else if let [byte] = **piece { comparison.push_byte(byte).unwrap() } else { comparison.push_range(&whole, from, from + piece.len()).unwrap() }
                from += piece.len();
            }
            comparison.again(again.start, again.end).unwrap();
            prop_assert_eq!(comparison.is_equal(), other == whole);
            prop_assert!(comparison.push_range(&whole, whole.len(), whole.len() + 1).is_err());
        }
    }
}
