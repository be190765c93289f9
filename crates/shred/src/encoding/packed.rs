//! Whole numbers packed from a base, in blocks of 1024 that vectors unpack.
//!
//! Each block has the least of its values as base, and every value takes as many bits as the largest difference from it. A whole
//! block has the layout of FastLanes (Afroozeh and Boncz, "The FastLanes Compression Layout: Decoding >100 Billion Integers per
//! Second with Scalar Code", VLDB 2023) over words of 32 bits, or of 64 where values take more than 32; the last block, if it is
//! not whole, has its values one after another, the lowest bit first.

use fastlanes::BitPacking;

use crate::bytes::{Reader, put_signed};
use crate::encoding::Window;
use crate::error::{DecodeError, malformed};
use tamias_simd::numbers;

/// Values of a block.
pub(crate) const BLOCK: usize = 1024;

/// Calls a function of `fastlanes` for a width that is known only now.
macro_rules! by_width {
    ($width:expr, $word:ty, $lanes:literal, [$($w:literal)*], |$w_name:ident, $size:ident| $body:expr) => {
        match $width {
            $($w => { const $w_name: usize = $w; const $size: usize = $lanes * $w; $body })*
            _ => None,
        }
    };
}

macro_rules! pack_functions {
    ($pack:ident, $unpack:ident, $word:ty, $lanes:literal, $widths:tt) => {
        fn $pack(width: usize, values: &[$word; BLOCK], out: &mut Vec<u8>) {
            let mut words = [0; BLOCK];
            let packed: Option<()> = by_width!(width, $word, $lanes, $widths, |W, SIZE| {
                words.first_chunk_mut::<SIZE>().map(|words| <$word>::pack::<W, SIZE>(values, words))
            });
            debug_assert!(packed.is_some(), "no width of {width}");
            out.extend(words.iter().take($lanes * width).flat_map(|word| word.to_le_bytes()));
        }

        fn $unpack(width: usize, bytes: &[u8], values: &mut [$word; BLOCK]) -> Option<()> {
            by_width!(width, $word, $lanes, $widths, |W, SIZE| {
                let mut words = [0; SIZE];
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                    *word = <$word>::from_le_bytes(*bytes);
                }
                Some(<$word>::unpack::<W, SIZE>(&words, values))
            })
        }
    };
}

pack_functions!(pack32, unpack32, u32, 32, [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32]);
pack_functions!(pack64, unpack64, u64, 16, [33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64]);

/// The bits that the largest of `values - base` takes.
fn width(base: i64, max: i64) -> usize {
    64 - max.wrapping_sub(base).cast_unsigned().leading_zeros() as usize
}

/// The bytes that a block of `count` values of this width takes.
fn body_bytes(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}

fn least_and_largest(values: &[i64]) -> (i64, i64) {
    values.iter().fold((i64::MAX, i64::MIN), |(min, max), value| (min.min(*value), max.max(*value)))
}

/// Bytes that [`pack`] would append, nearly.
pub(crate) fn packed_bytes(values: &[i64]) -> usize {
    let block = |values: &[i64]| {
        let (min, max) = least_and_largest(values);
        4 + body_bytes(values.len(), width(min, max))
    };
    values.chunks(BLOCK).map(block).sum()
}

/// Appends the blocks: for each its width and its base, then the bodies one after another.
pub(crate) fn pack(values: &[i64], out: &mut Vec<u8>) {
    let mut bodies = Vec::with_capacity(values.len());
    for values in values.chunks(BLOCK) {
        let (base, max) = least_and_largest(values);
        let width = width(base, max);
        out.push(width as u8);
        put_signed(out, base);
        pack_block(values, base, width, &mut bodies);
    }
    out.append(&mut bodies);
}

fn pack_block(values: &[i64], base: i64, width: usize, out: &mut Vec<u8>) {
    let offset = |value: &i64| value.wrapping_sub(base).cast_unsigned();
    match <&[i64; BLOCK]>::try_from(values) {
        _ if width == 0 => {}
        Ok(values) if width <= 32 => pack32(width, &values.each_ref().map(|value| offset(value) as u32), out),
        Ok(values) => pack64(width, &values.each_ref().map(offset), out),
        Err(_) => {
            let start = out.len();
            out.resize(start + body_bytes(values.len(), width), 0);
            for (index, value) in values.iter().enumerate() {
                let bit = index * width;
                let bits = u128::from(offset(value)) << (bit % 8);
                for (byte, part) in out[start + bit / 8..].iter_mut().zip(bits.to_le_bytes()) {
                    *byte |= part;
                }
            }
        }
    }
}

/// A block as it stands in its part: where it begins, and how it is packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'b> {
    pub(crate) base: i64,
    pub(crate) width: usize,
    pub(crate) count: usize,
    pub(crate) body: &'b [u8],
}

/// The blocks of `count` values.
pub(crate) fn blocks(bytes: &[u8], count: usize) -> Result<Vec<Block<'_>>, DecodeError> {
    let mut reader = Reader(bytes);
    let number = count.div_ceil(BLOCK);
    if number > bytes.len() {
        return Err(malformed("fewer packed blocks than values need"));
    }
    let mut heads = Vec::with_capacity(number);
    for _ in 0..number {
        let width = usize::from(reader.byte()?);
        if width > 64 {
            return Err(malformed("packed values of more than 64 bits"));
        }
        heads.push((width, reader.signed()?));
    }
    let mut blocks = Vec::with_capacity(number);
    for (index, (width, base)) in heads.into_iter().enumerate() {
        let count = BLOCK.min(count - index * BLOCK);
        let body = reader.take(body_bytes(count, width))?;
        blocks.push(Block { base, width, count, body });
    }
    reader.end()?;
    Ok(blocks)
}

impl Block<'_> {
    /// Appends the block's values.
    pub(crate) fn unpack(&self, out: &mut Vec<i64>) -> Result<(), DecodeError> {
        let base = self.base;
        let wrong = || malformed("a packed block of no known width");
        if self.width == 0 {
            out.resize(out.len() + self.count, base);
        } else if self.count == BLOCK && self.width <= 32 {
            let mut values = [0u32; BLOCK];
            unpack32(self.width, self.body, &mut values).ok_or_else(wrong)?;
            numbers::append_above(base, &values, out);
        } else if self.count == BLOCK {
            let mut values = [0u64; BLOCK];
            unpack64(self.width, self.body, &mut values).ok_or_else(wrong)?;
            out.extend(values.iter().map(move |value| base.wrapping_add(value.cast_signed())));
        } else {
            self.unpack_tail(out);
        }
        Ok(())
    }

    /// Appends the block's values, which have to be below a size.
    fn unpack_codes(&self, size: usize, out: &mut Vec<u32>) -> Result<(), DecodeError> {
        if let (BLOCK, 1..=32, Ok(base)) = (self.count, self.width, u32::try_from(self.base)) {
            let mut values = [0u32; BLOCK];
            unpack32(self.width, self.body, &mut values)
                .ok_or(malformed("a packed block of no known width"))?;
            let below = |most: u64| u64::from(base) + most < size as u64;
            // Mostly the width tells it.
            if !below((1 << self.width) - 1) {
                let most = values.iter().fold(0, |most, value| most.max(*value));
                if !below(most.into()) {
                    return Err(NO_CODE);
                }
            }
            out.extend(values.iter().map(move |value| base.wrapping_add(*value)));
            return Ok(());
        }
        let mut values = Vec::with_capacity(self.count);
        self.unpack(&mut values)?;
        for value in values {
            let code = u32::try_from(value).ok().filter(|code| (*code as usize) < size);
            out.push(code.ok_or(NO_CODE)?);
        }
        Ok(())
    }

    /// Appends the values of a block that is not whole.
    fn unpack_tail(&self, out: &mut Vec<i64>) {
        let base = self.base;
        if !(1..=WORD_WIDTH_MAX).contains(&self.width) {
            out.extend((0..self.count).map(|index| base.wrapping_add(self.wide(index).cast_signed())));
            return;
        }
        // Zeros behind the last one, so that each lies within a word that is there.
        let mut padded = [0; TAIL_BYTES];
        padded.iter_mut().zip(self.body).for_each(|(to, from)| *to = *from);
        let mask = u64::MAX >> (64 - self.width);
        let value = |index: usize| {
            let bit = index * self.width;
            let word = padded.get(bit / 8..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
            base.wrapping_add((u64::from_le_bytes(word) >> (bit % 8) & mask).cast_signed())
        };
        out.extend((0..self.count).map(value));
    }

    /// One value of any width of a block that is not whole, without its base.
    fn wide(&self, index: usize) -> u64 {
        let bit = index * self.width;
        let rest = self.body.get(bit / 8..).unwrap_or_default();
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(rest) {
            *to = *from;
        }
        let bits = u128::from_le_bytes(bytes) >> (bit % 8);
        (bits & ((1u128 << self.width) - 1)) as u64
    }

    /// Appends whether each value lies in `from..=to`, without making whole numbers of them: the bounds are packed instead.
    pub(crate) fn between(&self, from: i64, to: i64, out: &mut Vec<bool>) -> Result<(), DecodeError> {
        let largest = u64::MAX.checked_shr(64 - self.width as u32).unwrap_or(0);
        let low = i128::from(from) - i128::from(self.base);
        let high = i128::from(to) - i128::from(self.base);
        if high < 0 || low > i128::from(largest) || from > to {
            out.resize(out.len() + self.count, false);
            return Ok(());
        }
        let low = low.max(0) as u64;
        let high = high.min(i128::from(largest)) as u64;
        if low == 0 && high == largest {
            out.resize(out.len() + self.count, true);
        } else if self.count == BLOCK && self.width <= 32 {
            let mut values = [0u32; BLOCK];
            unpack32(self.width, self.body, &mut values)
                .ok_or(malformed("a packed block of no known width"))?;
            let (low, span) = (low as u32, (high - low) as u32);
            out.extend(values.iter().map(move |value| value.wrapping_sub(low) <= span));
        } else {
            let mut values = Vec::with_capacity(self.count);
            self.unpack(&mut values)?;
            out.extend(values.iter().map(|value| (from..=to).contains(value)));
        }
        Ok(())
    }
}

/// Values of so many bits lie within eight bytes, wherever they begin in the first one.
const WORD_WIDTH_MAX: usize = 64 - 7;

/// The most bytes of a block that is not whole, of such values, and another word.
const TAIL_BYTES: usize = BLOCK * WORD_WIDTH_MAX / 8 + 8;

/// Where something does not stand for what there is.
pub(crate) const NO_CODE: DecodeError = malformed("a code that stands for nothing");

/// Appends the values of a window. Only the blocks that it lies in are unpacked.
pub(crate) fn unpack(bytes: &[u8], window: Window, out: &mut Vec<i64>) -> Result<(), DecodeError> {
    unpack_with(bytes, window, out, |block, values| block.unpack(values))
}

/// The codes of a window, which have to be below a size.
pub(crate) fn unpack_codes(bytes: &[u8], window: Window, size: usize) -> Result<Vec<u32>, DecodeError> {
    let mut codes = Vec::new();
    unpack_with(bytes, window, &mut codes, |block, codes| block.unpack_codes(size, codes))?;
    Ok(codes)
}

fn unpack_with<T>(
    bytes: &[u8],
    window: Window,
    out: &mut Vec<T>,
    mut unpack: impl FnMut(&Block<'_>, &mut Vec<T>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let blocks = blocks(bytes, window.count)?;
    let (start, first) = (out.len(), window.from / BLOCK);
    out.reserve((window.to - first * BLOCK).next_multiple_of(BLOCK).min(window.count));
    for block in blocks.iter().take(window.to.div_ceil(BLOCK)).skip(first) {
        unpack(block, out)?;
    }
    out.truncate(start + window.to - first * BLOCK);
    out.drain(start..(start + window.from - first * BLOCK).min(out.len()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpacked(bytes: &[u8], window: Window) -> Result<Vec<i64>, DecodeError> {
        let mut values = vec![7];
        unpack(bytes, window, &mut values)?;
        assert_eq!(values.remove(0), 7, "what was there stays");
        Ok(values)
    }

    proptest! {
        #[test]
        fn values_of_every_width_come_back(
            seeds in prop::collection::vec(any::<i64>(), 1..40), count in 0..2600usize, shift in 0..64u32, base in any::<i64>(),
            bounds in any::<(usize, usize)>(),
        ) {
            let value = |index: usize| base.wrapping_add(seeds[index % seeds.len()].wrapping_mul(index as i64 | 1) >> shift);
            let values: Vec<i64> = (0..count).map(value).collect();
            let mut out = Vec::new();
            pack(&values, &mut out);
            prop_assert_eq!(unpacked(&out, Window::whole(count)), Ok(values.clone()));
            let (from, to) = (bounds.0 % (count + 1), bounds.1 % (count + 1));
            let (from, to) = (from.min(to), from.max(to));
            prop_assert_eq!(unpacked(&out, Window { count, from, to }).unwrap(), &values[from..to]);
            let size = bounds.0 % (1 << 20);
            let codes: Option<Vec<u32>> = values.iter().map(|value| u32::try_from(*value).ok().filter(|code| (*code as usize) < size)).collect();
            prop_assert_eq!(unpack_codes(&out, Window::whole(count), size).ok(), codes);
            prop_assert!(out.len() <= packed_bytes(&values) + 8 * count.div_ceil(BLOCK));
            let (from, to) = (value(bounds.0 % 3000), value(bounds.1 % 3000));
            let mut inside = Vec::new();
            for block in blocks(&out, count).unwrap() {
                block.between(from, to, &mut inside).unwrap();
            }
            let expected: Vec<bool> = values.iter().map(|value| (from..=to).contains(value)).collect();
            prop_assert_eq!(inside, expected);
        }

        #[test]
        fn any_bytes_end_in_an_error_or_in_as_many_values(bytes in prop::collection::vec(any::<u8>(), 0..400), count in 0..3000usize) {
            if let Ok(values) = unpacked(&bytes, Window::whole(count)) {
                prop_assert_eq!(values.len(), count);
            }
        }
    }
}
