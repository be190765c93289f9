//! Texts of one length with few characters at each place: identifiers in hex, UUIDs, and their like.
//!
//! Each place has an alphabet, the bytes that were seen there. One byte takes no bits, hex digits four; the codes of a text stand one
//! after another, the lowest bit first, and the texts likewise, without a gap.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::bytes::{Reader, put, put_bytes};
use crate::encoding::Window;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::frame::{Content, FrameInfo, FrameReader, FrameWriter, Part};
use crate::texts::TextList;

/// The longest texts that are encoded so, in bytes.
pub(crate) const LENGTH_MAX: usize = 128;

/// A run of bytes that hold the same at every text, or one place with its alphabet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    /// A byte that all texts have there.
    Same(u8),
    /// Two hex digits, in lower or in upper case.
    Hex { upper: bool },
    /// A byte of an alphabet, in ascending order.
    OneOf { alphabet: SmallVec<[u8; 16]>, width: usize },
}

impl Unit {
    fn bits(&self) -> usize {
        match self {
            Unit::Same(_) => 0,
            Unit::Hex { .. } => 8,
            Unit::OneOf { width, .. } => *width,
        }
    }
}

/// Which bytes stand at each place of the texts of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    units: Vec<Unit>,
    /// Bits of a text.
    bits: usize,
}

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// The two digits of each byte.
const fn pairs(digits: &[u8; 16]) -> [[u8; 2]; 256] {
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
}

static LOWER_PAIRS: [[u8; 2]; 256] = pairs(LOWER);
static UPPER_PAIRS: [[u8; 2]; 256] = pairs(UPPER);

/// What hex digits stand for.
static HEX: [u8; 256] = {
    let mut values = [0; 256];
    let mut value = 0;
    while value < 16 {
        values[LOWER[value] as usize] = value as u8;
        values[UPPER[value] as usize] = value as u8;
        value += 1;
    }
    values
};

impl Pattern {
    /// The pattern of texts of one length; nothing where lengths differ.
    pub(crate) fn of(texts: &TextList) -> Option<Pattern> {
        let length = texts.length().filter(|length| (1..=LENGTH_MAX).contains(length))?;
        // A bit for each byte, 64 a word.
        let mut seen = vec![[0u64; 4]; length];
        for text in texts.iter() {
            for (seen, byte) in seen.iter_mut().zip(text) {
                seen[usize::from(*byte >> 6)] |= 1 << (*byte & 63);
            }
        }
        let alphabet = |seen: &[u64; 4]| {
            let mut bytes = Vec::with_capacity(seen.iter().map(|word| word.count_ones() as usize).sum());
            for (word, base) in seen.iter().zip([0u8, 64, 128, 192]) {
                let mut left = *word;
                while left != 0 {
                    bytes.push(base + left.trailing_zeros() as u8);
                    left &= left - 1;
                }
            }
            bytes
        };
        let alphabets: Vec<Vec<u8>> = seen.iter().map(alphabet).collect();
        let mut units = Vec::new();
        let mut at = 0;
        while let Some(alphabet) = alphabets.get(at) {
            let pair = alphabets.get(at..at + 2).unwrap_or_default();
            let hex = |digits: &[u8; 16]| {
                pair.len() == 2
                    && pair.iter().all(|a| a.len() > 8 && a.iter().all(|byte| digits.contains(byte)))
            };
            let unit = match alphabet.as_slice() {
                [byte] => Unit::Same(*byte),
                _ if hex(LOWER) => Unit::Hex { upper: false },
                _ if hex(UPPER) => Unit::Hex { upper: true },
                many => Unit::OneOf { alphabet: SmallVec::from_slice(many), width: bits_for(many.len()) },
            };
            at += if matches!(unit, Unit::Hex { .. }) { 2 } else { 1 };
            units.push(unit);
        }
        let bits = units.iter().map(Unit::bits).sum();
        Some(Pattern { units, bits })
    }

    /// The length of the texts.
    pub(crate) fn length(&self) -> usize {
        self.units.iter().map(|unit| if let Unit::Hex { .. } = unit { 2 } else { 1 }).sum()
    }

    /// Bits of a text.
    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// The bytes that its texts consist of.
    pub(crate) fn alphabet(&self) -> Vec<u8> {
        let of_unit = |unit: &Unit| match unit {
            Unit::Same(byte) => vec![*byte],
            Unit::Hex { upper: false } => LOWER.to_vec(),
            Unit::Hex { upper: true } => UPPER.to_vec(),
            Unit::OneOf { alphabet, .. } => alphabet.to_vec(),
        };
        self.units.iter().flat_map(of_unit).collect()
    }

    /// The pairs of digits, where texts are nothing but such of one case.
    fn pairs(&self) -> Option<&'static [[u8; 2]; 256]> {
        let Some(Unit::Hex { upper }) = self.units.first() else { return None };
        let alike =
            self.units.iter().all(|unit| matches!(unit, Unit::Hex { upper: other } if other == upper));
        alike.then_some(if *upper { &UPPER_PAIRS } else { &LOWER_PAIRS })
    }

    /// Writes the texts that the pattern was made of.
    pub(crate) fn encode(self, texts: &TextList, frames: &mut FrameWriter) -> Positions {
        if self.pairs().is_some() {
            let digit = |byte: u8| HEX[usize::from(byte)];
            let pairs = texts.bytes().as_chunks::<2>().0.iter();
            let bytes: Vec<u8> = pairs.map(|[first, second]| digit(*first) << 4 | digit(*second)).collect();
            return Positions { pattern: self, part: frames.add(&bytes, Content::Dense) };
        }
        // For each unit from the byte, or the upper digit, to its code.
        let tables: Vec<[u8; 256]> = self.units.iter().map(table).collect();
        let mut bits = BitWriter::default();
        for text in texts.iter() {
            let mut bytes = text.iter();
            for (unit, table) in self.units.iter().zip(&tables) {
                let code =
                    |byte: Option<&u8>| u64::from(table[usize::from(byte.copied().unwrap_or_default())]);
                let first = code(bytes.next());
                match unit {
                    Unit::Same(_) => {}
                    Unit::Hex { .. } => bits.push(first << 4 | code(bytes.next()), 8),
                    Unit::OneOf { width, .. } => bits.push(first, *width),
                }
            }
        }
        Positions { pattern: self, part: frames.add(&bits.finish(), Content::Dense) }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.units.len() as u64);
        for unit in &self.units {
            match unit {
                Unit::Same(byte) => out.extend([1, *byte]),
                Unit::Hex { upper } => out.push(128 + u8::from(*upper)),
                Unit::OneOf { alphabet, .. } if alphabet.len() < 128 => put_bytes(out, alphabet),
                Unit::OneOf { alphabet, .. } => {
                    out.push(130);
                    put_bytes(out, alphabet);
                }
            }
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Pattern, DecodeError> {
        let count = reader.count()?.min(LENGTH_MAX + 1);
        if count > LENGTH_MAX {
            return Err(malformed("a pattern of too many places"));
        }
        let mut units = Vec::with_capacity(count);
        for _ in 0..count {
            let unit = match reader.byte()? {
                1 => Unit::Same(reader.byte()?),
                tag @ (128 | 129) => Unit::Hex { upper: tag == 129 },
                tag => {
                    let alphabet =
                        if tag == 130 { reader.bytes()? } else { reader.take(usize::from(tag))? };
                    if alphabet.len() < 2 || alphabet.len() > 256 {
                        return Err(malformed("an alphabet of no size"));
                    }
                    Unit::OneOf { alphabet: SmallVec::from_slice(alphabet), width: bits_for(alphabet.len()) }
                }
            };
            units.push(unit);
        }
        let bits = units.iter().map(Unit::bits).sum();
        Ok(Pattern { units, bits })
    }
}

/// The bits that codes below `size` take.
fn bits_for(size: usize) -> usize {
    (usize::BITS - size.saturating_sub(1).leading_zeros()) as usize
}

fn table(unit: &Unit) -> [u8; 256] {
    let alphabet: &[u8] = match unit {
        Unit::Same(_) => &[],
        Unit::Hex { upper: false } => LOWER,
        Unit::Hex { upper: true } => UPPER,
        Unit::OneOf { alphabet, .. } => alphabet,
    };
    let mut table = [0; 256];
    for (code, byte) in (0u8..=255).zip(alphabet) {
        table[usize::from(*byte)] = code;
    }
    table
}

#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    word: u64,
    used: usize,
}

impl BitWriter {
    /// At most 8 bits.
    #[inline]
    fn push(&mut self, bits: u64, count: usize) {
        self.word |= bits << self.used;
        self.used += count;
        if self.used >= 32 {
            self.bytes.extend((self.word as u32).to_le_bytes());
            self.word >>= 32;
            self.used -= 32;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let left = self.used.div_ceil(8);
        self.bytes.extend(&self.word.to_le_bytes()[..left]);
        self.bytes
    }
}

/// Texts by pattern and bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Positions {
    pub(crate) pattern: Pattern,
    pub(crate) part: Part,
}

impl Positions {
    /// The texts of a window: the bytes that they lie in.
    pub(crate) fn decode<'f>(
        &self,
        window: Window,
        frames: &mut FrameReader<'f>,
    ) -> Result<Spelled<'f>, DecodeError> {
        let bits = self.pattern.bits;
        if bits.checked_mul(window.count).map(|bits| bits.div_ceil(8)) != Some(self.part.length as usize) {
            return Err(malformed("as many bits as texts do not take"));
        }
        let (from, to) = (window.from * bits, window.to * bits);
        let bytes = frames.range(self.part, from / 8, to.div_ceil(8))?;
        Ok(Spelled { pattern: self.pattern.clone(), bytes, first: from % 8, count: window.len() })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.pattern.write(out);
        self.part.write(out);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Positions, DecodeError> {
        Ok(Positions { pattern: Pattern::read(reader)?, part: Part::read(reader, frames)? })
    }
}

/// Texts that were read, still in bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelled<'f> {
    pattern: Pattern,
    bytes: Cow<'f, [u8]>,
    /// The bit of the first byte where the first text begins.
    first: usize,
    count: usize,
}

impl Spelled<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The length of each one's text.
    pub(crate) fn text_length(&self) -> usize {
        self.pattern.length()
    }

    /// The texts of all of them.
    pub(crate) fn texts(&self) -> Result<Texts<'static>, DecodeError> {
        let length = self.pattern.length();
        if let Some(pairs) = self.pattern.pairs()
            && 2 * self.bytes.len() == self.count * length
        {
            let bytes: Vec<[u8; 2]> = self.bytes.iter().map(|byte| pairs[usize::from(*byte)]).collect();
            return Ok(Texts::of_length(length, self.count, bytes.into_flattened()));
        }
        let mut bytes = Vec::with_capacity(self.count * length);
        let mut text = [0u8; 2 * LENGTH_MAX];
        for index in 0..self.count {
            self.spell(index, &mut text)?;
            bytes.extend_from_slice(&text[..length]);
        }
        Ok(Texts::of_length(length, self.count, bytes))
    }

    /// Whether each character that the pattern lets stand at a place is that of a text.
    pub(crate) fn is_tight(&self) -> bool {
        let mut unseen = 0;
        let mut at = self.first;
        for unit in &self.pattern.units {
            if let Unit::OneOf { alphabet, width } = unit {
                let mut seen = vec![false; alphabet.len()];
                for index in 0..self.count {
                    let code = code(&self.bytes, at + index * self.pattern.bits, *width);
                    seen.get_mut(usize::from(code)).into_iter().for_each(|seen| *seen = true);
                }
                unseen += seen.iter().filter(|seen| !**seen).count();
            }
            at += unit.bits();
        }
        unseen == 0 && (self.count > 0 || self.pattern.units.is_empty())
    }

    fn spell(&self, index: usize, text: &mut [u8; 2 * LENGTH_MAX]) -> Result<(), DecodeError> {
        spell(&self.pattern, &self.bytes, self.first + index * self.pattern.bits, text)
    }
}

/// The next 8 bits, or as many as there are.
#[inline]
fn next(bytes: &[u8], bit: usize) -> u8 {
    let low = bytes.get(bit / 8).copied().unwrap_or_default();
    let high = bytes.get(bit / 8 + 1).copied().unwrap_or_default();
    ((u16::from(high) << 8 | u16::from(low)) >> (bit % 8)) as u8
}

/// The code of an alphabet that begins at a bit.
#[inline]
fn code(bytes: &[u8], bit: usize, width: usize) -> u8 {
    next(bytes, bit) & (0xffu16 >> (8 - width)) as u8
}

/// Writes the text whose bits begin at a bit.
#[inline]
fn spell(
    pattern: &Pattern,
    bytes: &[u8],
    bit: usize,
    text: &mut [u8; 2 * LENGTH_MAX],
) -> Result<(), DecodeError> {
    let mut bit = bit;
    let mut length = 0;
    for unit in &pattern.units {
        match unit {
            Unit::Same(byte) => {
                text[length] = *byte;
                length += 1;
            }
            Unit::Hex { upper } => {
                let pairs = if *upper { &UPPER_PAIRS } else { &LOWER_PAIRS };
                text[length..length + 2].copy_from_slice(&pairs[usize::from(next(bytes, bit))]);
                length += 2;
                bit += 8;
            }
            Unit::OneOf { alphabet, width } => {
                let code = code(bytes, bit, *width);
                text[length] =
                    *alphabet.get(usize::from(code)).ok_or(malformed("a character outside its alphabet"))?;
                length += 1;
                bit += width;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_digits_of_one_case_come_back_as_others_do() {
        let spelled = |n: u64| {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let lower = |n| format!("{:016x}{:016x}", spelled(n), spelled(n + 70));
        let upper = |n| format!("{:016X}", spelled(n));
        let both = |n| format!("{:016x}{:016X}", spelled(n), spelled(n));
        let each: [&dyn Fn(u64) -> String; 3] = [&lower, &upper, &both];
        for (text, is_quick) in each.iter().zip([true, true, false]) {
            let texts: Vec<String> = (1..70).map(text).collect();
            let texts: TextList = texts.iter().map(String::as_bytes).collect();
            let mut frames = FrameWriter::new().unwrap();
            let positions = Pattern::of(&texts).unwrap().encode(&texts, &mut frames);
            assert_eq!(positions.pattern.pairs().is_some(), is_quick);
            let (infos, frames) = frames.finish().unwrap();
            let mut reader = FrameReader::new(&infos, &frames);
            for (from, to) in [(0, 69), (3, 41), (5, 5)] {
                let read = positions.decode(Window { count: 69, from, to }, &mut reader).unwrap();
                assert!(read.texts().unwrap().iter().eq(texts.iter().take(to).skip(from)));
            }
        }
    }

    #[test]
    fn a_pattern_is_tight_where_each_character_comes() {
        let texts: TextList = [b"a-1".as_slice(), b"b-2", b"c-2", b"a-2"].into_iter().collect();
        let mut frames = FrameWriter::new().unwrap();
        let positions = Pattern::of(&texts).unwrap().encode(&texts, &mut frames);
        let (infos, frames) = frames.finish().unwrap();
        let mut reader = FrameReader::new(&infos, &frames);
        let mut is_tight = |from, to| {
            let window = Window { count: 4, from, to };
            positions.decode(window, &mut reader).unwrap().is_tight()
        };
        assert!(is_tight(0, 4));
        assert!(is_tight(0, 3));
        assert!(!is_tight(1, 4), "none has 1");
        assert!(!is_tight(0, 2), "none has c");
        assert!(!is_tight(2, 2));
    }
}
