//! The operations that a kernel does its own way, and what they mean.
#![expect(unsafe_code, reason = "entries and positions are written into claimed room")]

use crate::entry::Entry;
use crate::marks::{Marks, Masks};
use crate::room::Room;
use crate::several::{Standing, Whole};
use crate::sink::Sink;
use crate::sizes::{DIGITS, NUMBERS, SEVERAL, VECTOR};

/// The operations on vectors of 64 bytes. Holding a kernel is the proof that the CPU can run it.
///
/// Each operation comes with a plain loop, which is what [`Portable`] runs and the specification of every other kernel. In the bit sets
/// bit `n` speaks of byte `n`.
///
/// ```
/// use tamias_simd::{Portable, VECTOR, Vector};
/// let mut bytes = [b' '; VECTOR];
/// bytes[..7].copy_from_slice(br#"{"a":1}"#);
/// let masks = Portable.classify(&bytes);
/// assert_eq!((masks.brackets, masks.quotes, masks.colons), (0b1000001, 0b0001010, 0b0010000));
/// assert_eq!(Portable.prefix_xor(masks.quotes), 0b0000110, "from a quote to before the next");
/// ```
pub trait Vector: Copy {
    /// Whether searching by [`both`](Vector::both) takes longer than the vectors that every CPU of its kind has: `memchr` knows those.
    const PREFERS_MEMCHR: bool = false;

    /// Whether [`compare_several`](Vector::compare_several) is quicker than one [`Whole::compare`] after the other.
    const COMPARES_SEVERAL: bool = false;

    /// Whether [`f64::mul_add`] is an instruction. Elsewhere it is a call, which takes far longer than a product and a sum.
    const FUSES: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

    /// Sorts the bytes of a vector.
    #[inline(always)]
    fn classify(self, bytes: &[u8; VECTOR]) -> Masks {
        let mut masks = Masks::default();
        for (at, byte) in bytes.iter().enumerate() {
            let bit = 1 << at;
            match byte {
                b'"' => masks.quotes |= bit,
                b'\\' => masks.backslashes |= bit,
                b':' => masks.colons |= bit,
                b',' => masks.delimiters |= bit,
                b'{' | b'}' | b'[' | b']' => {
                    masks.delimiters |= bit;
                    masks.brackets |= bit;
                }
                _ => {}
            }
        }
        masks
    }

    /// Sorts the bytes from `at` on, fewer than a vector and at least one; bits past them are 0.
    ///
    /// # Panics
    /// If `at` lies past the bytes, or a vector and more before their end.
    #[inline(always)]
    fn classify_last(self, bytes: &[u8], at: usize) -> Masks {
        match bytes.last_chunk() {
            // The bytes before `at` are those of the vector before.
            Some(last) => self.classify(last).skip((at + VECTOR - bytes.len()) as u32),
            None => {
                let mut last = [0; VECTOR];
                let rest = &bytes[at..];
                last[..rest.len()].copy_from_slice(rest);
                self.classify(&last)
            }
        }
    }

    /// Which bytes equal `byte`.
    #[inline(always)]
    fn equal(self, bytes: &[u8; VECTOR], byte: u8) -> u64 {
        self.same(bytes, &[byte; VECTOR])
    }

    /// Which bytes of two vectors are the same.
    #[inline(always)]
    fn same(self, a: &[u8; VECTOR], b: &[u8; VECTOR]) -> u64 {
        let pairs = a.iter().zip(b).enumerate();
        pairs.fold(0, |mask, (at, (a, b))| mask | u64::from(a == b) << at)
    }

    /// Where `x` stands in one vector and `y` in the other.
    #[inline(always)]
    fn both(self, a: &[u8; VECTOR], x: u8, b: &[u8; VECTOR], y: u8) -> u64 {
        self.equal(a, x) & self.equal(b, y)
    }

    /// Which bytes begin a character: all but those of the form 10xxxxxx.
    #[inline(always)]
    fn begins(self, bytes: &[u8; VECTOR]) -> u64 {
        bytes.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(byte & 0xc0 != 0x80) << at)
    }

    /// Which bytes cannot stand in a JSON string as they are: quotes, backslashes and control characters.
    #[inline(always)]
    fn special(self, bytes: &[u8; VECTOR]) -> u64 {
        let is_special = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
        bytes.iter().enumerate().fold(0, |mask, (at, byte)| mask | u64::from(is_special(*byte)) << at)
    }

    /// Bit `n` of the answer is the parity of the bits 0 to `n`: from quotes to what lies between them.
    #[inline(always)]
    fn prefix_xor(self, bits: u64) -> u64 {
        let mut bits = bits;
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    /// How many of some numbers, which are little-endian, are at most `most`.
    #[inline(always)]
    fn count_up_to(self, numbers: &[[u8; 4]; NUMBERS], most: u32) -> usize {
        numbers.iter().filter(|number| u32::from_le_bytes(**number) <= most).count()
    }

    /// The number that the last `length` of some characters spell, 1 to 16 of them: its digits as a whole number, and how many of them
    /// stand behind its point. None where there is more to it than digits and a point.
    #[inline(always)]
    fn decimal(self, text: &[u8; DIGITS], length: usize) -> Option<(u64, u32)> {
        let (mut mantissa, mut scale, mut has_point) = (0, 0, false);
        for byte in text.iter().skip(DIGITS.saturating_sub(length)) {
            match byte {
                b'0'..=b'9' => {
                    mantissa = mantissa * 10 + u64::from(byte - b'0');
                    scale += u32::from(has_point);
                }
                b'.' if !has_point => has_point = true,
                _ => return None,
            }
        }
        Some((mantissa, scale))
    }

    /// How the numbers that begin `behind` bytes after some places stand to a whole one. None where a place is near the end of the
    /// bytes.
    #[inline(always)]
    fn compare_several(
        self,
        bytes: &[u8],
        places: &[u32; SEVERAL],
        behind: usize,
        whole: Whole,
    ) -> Option<Standing> {
        let mut standing = Standing::default();
        for (lane, place) in places.iter().enumerate() {
            let start = (*place as usize).checked_add(behind)?;
            standing.set(lane, bytes.get(start..)?.first_chunk()?, whole);
        }
        Some(standing)
    }

    /// Appends an entry for each delimiter of a vector, which has at least one structural byte.
    ///
    /// # Panics
    /// If the sink is for a chunk of fewer vectors.
    #[inline(always)]
    fn emit(self, marks: Marks, sink: &mut Sink<'_, '_>) {
        sink.claim();
        let (mut structural, mut value, mut count) = (marks.structural, sink.value(), 0);
        // SAFETY: room was claimed, and a vector has at most 64 delimiters, of which each is written once, with what may be one more
        // behind them.
        unsafe {
            let brackets = sink.put_brackets_of(marks);
            // Each entry is written where the next one goes; only a delimiter moves on from there.
            while structural != 0 {
                let at = structural.trailing_zeros();
                let end = marks.base.wrapping_add(at);
                sink.put(count, Entry::new(value, end));
                count += (marks.delimiters >> at & 1) as usize;
                value = end.wrapping_add(1);
                structural &= structural - 1;
            }
            sink.moved(marks, count, brackets);
        }
    }

    /// Appends the places of a mask's bits, counted from `base`.
    ///
    /// # Panics
    /// If there is room for fewer vectors.
    #[inline(always)]
    fn put_positions(self, mask: u64, base: u32, room: &mut Room<'_, u32>) {
        room.claim();
        let (mut mask, mut count) = (mask, 0);
        // SAFETY: room was claimed, and there are at most 64 places.
        unsafe {
            while mask != 0 {
                room.put(count, base.wrapping_add(mask.trailing_zeros()));
                count += 1;
                mask &= mask - 1;
            }
            room.moved(count);
        }
    }
}

/// A byte at a time: the kernel that every machine has and every other one is tested against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portable;

impl Vector for Portable {}
