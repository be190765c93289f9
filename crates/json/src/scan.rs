//! From masks to the offset list: written once, above the kernels.
//!
//! Per vector of 64 bytes: which quotes are escaped, what lies inside strings, an [`Entry`] for each delimiter outside.
//! Brackets are noted on the way and matched a chunk of vectors at a time, which gives opening entries their links.

use tamias_simd::{Brackets, CHUNK, Entry, Isa, Sink, Stack, Task, VECTOR, Vector};

use crate::carry::Carry;
use crate::error::ScanError;
use crate::limits::DEPTH_MAX;

/// The bit of a number in [`Nesting::open`] that tells `{` from `[`.
const CURLY: u32 = 1 << 31;

/// The open brackets.
struct Nesting {
    /// For each the index of the opening entry, and [`CURLY`].
    open: Stack<{ DEPTH_MAX + 1 }>,
    /// Has the bit [`CURLY`] once a bracket was closed by one of the other kind.
    mismatched: u32,
}

impl Nesting {
    /// Stands after the first byte of a document.
    #[inline(always)]
    fn after(first: u8) -> Nesting {
        let bottom = match first {
            b'{' => Some(CURLY),
            b'[' => Some(0),
            _ => None,
        };
        Nesting { open: Stack::new(bottom), mismatched: 0 }
    }

    /// Matches the brackets of a chunk and links each opening entry past its closing one. Gives false where the document
    /// cannot go on: too deep, or a bracket outside the outermost value.
    ///
    /// `first` is the index of the chunk's first entry, to which the brackets' indices are relative.
    #[inline(always)]
    fn link(&mut self, bytes: &[u8], list: &mut [Entry], first: usize, brackets: &[u16]) -> bool {
        // Kept in a register: in memory each bracket would wait for the one before.
        let mut mismatched = self.mismatched;
        for bracket in brackets {
            let index = first + usize::from(*bracket);
            let Some(byte) = list.get(index).and_then(|entry| bytes.get(entry.end())) else { return false };
            // '{' 7B, '}' 7D, '[' 5B, ']' 5D: the bit 04 says closing, the bit 20 curly.
            let curly = u32::from(byte >> 5 & 1) * CURLY;
            // An opening one meets itself, and is linked for good when its own closing one comes.
            let Some(met) = self.open.turn(index as u32 | curly, byte >> 2 & 1 == 1) else { return false };
            mismatched |= met ^ curly;
            let met = met & !CURLY;
            let Some(open) = list.get_mut(met as usize) else { return false };
            open.link(index as u32 - met);
        }
        self.mismatched = mismatched;
        true
    }

    /// Whether every bracket was closed by one of its kind.
    fn is_closed(&self) -> bool {
        self.open.depth() == 0 && self.mismatched & CURLY == 0
    }
}

/// Makes the list of a document whose outermost value is an object or an array, or the empty list of a lone scalar.
/// Gives false, and a list of no meaning, where brackets or quotes do not pair, something follows the
/// outermost value, or the nesting is too deep: [`fault`] then finds out which.
///
/// `bytes` is not empty and no longer than [`BYTES_MAX`](crate::BYTES_MAX).
#[inline]
pub(crate) fn run(isa: Isa, bytes: &[u8], list: &mut Vec<Entry>) -> bool {
    isa.run(Scan { bytes, list })
}

struct Scan<'s> {
    bytes: &'s [u8],
    list: &'s mut Vec<Entry>,
}

impl Task for Scan<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        let Scan { bytes, list } = self;
        let mut nesting = Nesting::after(bytes[0]);
        // The first bracket stands on the stack already.
        let mut known = nesting.open.depth();
        let mut carry = Carry::default();
        let mut value = 0;
        let mut memory = Brackets::new();
        list.clear();
        let mut at = 0;
        while at < bytes.len() {
            let chunk = &bytes[at..bytes.len().min(at + CHUNK)];
            let first = list.len();
            let mut sink = Sink::new(list, &mut memory, chunk.len(), value);
            let (vectors, rest) = chunk.as_chunks::<VECTOR>();
            for bytes in vectors {
                let marks = carry.marks(vector, vector.classify(bytes), at as u32);
                // Long strings fill whole vectors.
                if marks.structural != 0 {
                    vector.emit(marks, &mut sink);
                }
                at += VECTOR;
            }
            if !rest.is_empty() {
                let marks = carry.marks(vector, vector.classify_last(bytes, at), at as u32);
                if marks.structural != 0 {
                    vector.emit(marks, &mut sink);
                }
                at += rest.len();
            }
            let (next, brackets) = sink.finish();
            value = next;
            if !nesting.link(bytes, list, first, brackets.get(known..).unwrap_or_default()) {
                return false;
            }
            known = 0;
        }
        // The bracket that closes the outermost value is the last entry and the last byte.
        let is_ended = match (list.first(), list.last()) {
            (Some(first), Some(last)) => {
                first.end() == 0 && first.step() == list.len() + 1 && last.end() == bytes.len() - 1
            }
            _ => true,
        };
        !carry.is_in_string() && nesting.is_closed() && is_ended
    }
}

/// How many entries the list of these bytes would have, if they balance: classification alone, without the list.
pub(crate) fn count(isa: Isa, bytes: &[u8]) -> usize {
    isa.run(Count { bytes })
}

struct Count<'s> {
    bytes: &'s [u8],
}

impl Task for Count<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> usize {
        let bytes = self.bytes;
        let mut carry = Carry::default();
        let mut count = 0;
        let (vectors, rest) = bytes.as_chunks::<VECTOR>();
        for bytes in vectors {
            count += carry.marks(vector, vector.classify(bytes), 0).delimiters.count_ones() as usize;
        }
        if !rest.is_empty() {
            let last = vector.classify_last(bytes, bytes.len() - rest.len());
            count += carry.marks(vector, last, 0).delimiters.count_ones() as usize;
        }
        count
    }
}

/// Why [`run`] failed: the plain way, a byte at a time, the same for every kernel.
#[cold]
pub(crate) fn fault(bytes: &[u8]) -> ScanError {
    let mut open = Vec::new();
    let (mut string, mut escaped, mut ended) = (None, false, false);
    for (offset, &byte) in bytes.iter().enumerate() {
        if ended {
            return ScanError::Trailing { offset };
        }
        let plain = !std::mem::replace(&mut escaped, false);
        match byte {
            b'\\' => escaped = plain,
            b'"' if plain => string = if string.is_none() { Some(offset) } else { None },
            _ if string.is_some() => {}
            b',' if open.is_empty() => return ScanError::Trailing { offset },
            b'{' | b'[' if open.is_empty() && offset > 0 => return ScanError::Trailing { offset },
            b'{' | b'[' if open.len() == DEPTH_MAX => return ScanError::TooDeep { offset },
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                // '{' and '}', '[' and ']' differ by 06.
                if open.pop() != Some(byte ^ 6) {
                    return ScanError::Unbalanced { offset };
                }
                ended = open.is_empty();
            }
            _ => {}
        }
    }
    match string {
        Some(offset) => ScanError::OpenString { offset },
        None => ScanError::Truncated { open: open.len() },
    }
}

#[cfg(test)]
mod tests;
