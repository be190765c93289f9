//! Whole numbers: mantissas, instants, lengths, codes. Constant, packed from a base, packed by differences, or compressed.

use crate::bytes::{Reader, put, put_signed};
use crate::encoding::packed;
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, FrameWriter, Packing, Part};
use crate::grouping;

/// Compression must save two fifths of packed numbers, else they are stored packed. HEURISTIC: where zstd saved a fifth, the time of a
/// query over them doubled.
const COMPRESSED_SHARE: (usize, usize) = (3, 5);

/// Fewer packed bytes than these are not worth compressing.
const COMPRESSED_MIN: usize = 32;

/// How a sequence of whole numbers is stored. How many there are is known from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ints {
    /// All are this one.
    Constant(i64),
    /// Packed from a base.
    Packed(Part),
    /// The first, and the differences of neighbours, packed from a base.
    Differences { first: i64, part: Part },
    /// The differences from a base in so many bytes each, all first bytes first; compressed.
    Bytes { base: i64, width: usize, part: Part },
    /// The same of the differences of neighbours, after the first value.
    DifferenceBytes { first: i64, base: i64, width: usize, part: Part },
}

impl Ints {
    /// Chooses what is smallest, and writes it.
    pub(crate) fn encode(values: &[i64], frames: &mut FrameWriter) -> Ints {
        let Some((&first, rest)) = values.split_first() else { return Ints::Constant(0) };
        if rest.iter().all(|value| *value == first) {
            return Ints::Constant(first);
        }
        let differences: Vec<i64> = values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        let by_value = packed::packed_bytes(values);
        let by_difference = packed::packed_bytes(&differences);
        let least = by_value.min(by_difference + 4);
        if least >= COMPRESSED_MIN {
            let limit = least * COMPRESSED_SHARE.0 / COMPRESSED_SHARE.1;
            let plain = Planes::of(values);
            let plain_length = frames.compressed_length(&plain.bytes);
            let planes = Planes::of(&differences);
            let length = frames.compressed_length(&planes.bytes);
            if plain_length <= limit && plain_length <= length {
                let part = frames.add(&plain.bytes, Packing::Compressed);
                return Ints::Bytes { base: plain.base, width: plain.width, part };
            }
            if length <= limit {
                let part = frames.add(&planes.bytes, Packing::Compressed);
                return Ints::DifferenceBytes { first, base: planes.base, width: planes.width, part };
            }
        }
        let mut out = Vec::with_capacity(least);
        if by_value <= by_difference + 4 {
            packed::pack(values, &mut out);
            Ints::Packed(frames.add(&out, Packing::Plain))
        } else {
            packed::pack(&differences, &mut out);
            Ints::Differences { first, part: frames.add(&out, Packing::Plain) }
        }
    }

    /// All values.
    pub(crate) fn decode(&self, count: usize, frames: &mut FrameReader<'_>) -> Result<Vec<i64>, DecodeError> {
        match *self {
            Ints::Constant(value) => Ok(vec![value; count]),
            Ints::Packed(part) => packed::unpack(&frames.part(part)?, count),
            Ints::Differences { first, part } => {
                let differences = packed::unpack(&frames.part(part)?, count.saturating_sub(1))?;
                Ok(sums(first, &differences, count))
            }
            Ints::Bytes { base, width, part } => from_planes(base, width, count, &frames.part(part)?),
            Ints::DifferenceBytes { first, base, width, part } => {
                let differences = from_planes(base, width, count.saturating_sub(1), &frames.part(part)?)?;
                Ok(sums(first, &differences, count))
            }
        }
    }

    /// All values in the order of the documents, where they may stand by shape.
    pub(crate) fn decode_in_order(
        &self,
        count: usize,
        places: Option<&[u32]>,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<i64>, DecodeError> {
        let values = self.decode(count, frames)?;
        match places {
            None => Ok(values),
            Some(places) => grouping::ungroup(&values, places)
                .ok_or(malformed("values by shape that are not as many as the shapes say")),
        }
    }

    /// Appends whether each value lies in `from..=to`; nothing is made of packed numbers but this.
    pub(crate) fn between(
        &self,
        count: usize,
        from: i64,
        to: i64,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<bool>, DecodeError> {
        match *self {
            Ints::Constant(value) => Ok(vec![(from..=to).contains(&value); count]),
            Ints::Packed(part) => {
                let bytes = frames.part(part)?;
                let blocks = packed::blocks(&bytes, count)?;
                let mut inside = Vec::with_capacity(count);
                for block in blocks {
                    block.between(from, to, &mut inside)?;
                }
                Ok(inside)
            }
            _ => Ok(self.decode(count, frames)?.iter().map(|value| (from..=to).contains(value)).collect()),
        }
    }

    /// The word for it in tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Ints::Constant(_) => "constant",
            Ints::Packed(_) => "packed",
            Ints::Differences { .. } => "differences",
            Ints::Bytes { .. } => "bytes",
            Ints::DifferenceBytes { .. } => "difference bytes",
        }
    }

    /// The part that holds them.
    pub(crate) fn part(&self) -> Option<Part> {
        match *self {
            Ints::Constant(_) => None,
            Ints::Packed(part)
            | Ints::Differences { part, .. }
            | Ints::Bytes { part, .. }
            | Ints::DifferenceBytes { part, .. } => Some(part),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Ints::Constant(value) => {
                put(out, 0);
                put_signed(out, value);
            }
            Ints::Packed(part) => {
                put(out, 1);
                part.write(out);
            }
            Ints::Differences { first, part } => {
                put(out, 2);
                put_signed(out, first);
                part.write(out);
            }
            Ints::Bytes { base, width, part } => {
                put(out, 3);
                put_signed(out, base);
                put(out, width as u64);
                part.write(out);
            }
            Ints::DifferenceBytes { first, base, width, part } => {
                put(out, 4);
                put_signed(out, first);
                put_signed(out, base);
                put(out, width as u64);
                part.write(out);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Ints, DecodeError> {
        let width = |reader: &mut Reader<'_>| reader.at_most(8, "numbers of more than eight bytes");
        Ok(match reader.number()? {
            0 => Ints::Constant(reader.signed()?),
            1 => Ints::Packed(Part::read(reader, frames)?),
            2 => Ints::Differences { first: reader.signed()?, part: Part::read(reader, frames)? },
            3 => Ints::Bytes {
                base: reader.signed()?,
                width: width(reader)?,
                part: Part::read(reader, frames)?,
            },
            4 => Ints::DifferenceBytes {
                first: reader.signed()?,
                base: reader.signed()?,
                width: width(reader)?,
                part: Part::read(reader, frames)?,
            },
            _ => return Err(malformed("numbers in an unknown encoding")),
        })
    }
}

/// The running sums of differences.
fn sums(first: i64, differences: &[i64], count: usize) -> Vec<i64> {
    let mut sum = first;
    let rest = differences.iter().map(|difference| {
        sum = sum.wrapping_add(*difference);
        sum
    });
    std::iter::once(first).chain(rest).take(count).collect()
}

/// Numbers as bytes: all first bytes, all second bytes, and so on.
struct Planes {
    base: i64,
    width: usize,
    bytes: Vec<u8>,
}

impl Planes {
    fn of(values: &[i64]) -> Planes {
        let base = values.iter().copied().min().unwrap_or(0);
        let largest = values.iter().map(|value| value.wrapping_sub(base).cast_unsigned()).max().unwrap_or(0);
        let width = (64 - largest.leading_zeros() as usize).div_ceil(8);
        let mut bytes = Vec::with_capacity(width * values.len());
        for plane in 0..width {
            bytes.extend(values.iter().map(|value| (value.wrapping_sub(base) >> (8 * plane)) as u8));
        }
        Planes { base, width, bytes }
    }
}

fn from_planes(base: i64, width: usize, count: usize, bytes: &[u8]) -> Result<Vec<i64>, DecodeError> {
    if width.checked_mul(count) != Some(bytes.len()) {
        return Err(malformed("as many bytes as numbers do not take"));
    }
    let mut values = vec![base; count];
    if count > 0 {
        for (plane, bytes) in bytes.chunks_exact(count).enumerate() {
            for (value, byte) in values.iter_mut().zip(bytes) {
                *value = value.wrapping_add(i64::from(*byte) << (8 * plane));
            }
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(values: &[i64]) -> (Ints, Vec<i64>) {
        let mut writer = FrameWriter::new().unwrap();
        let ints = Ints::encode(values, &mut writer);
        let (infos, frames) = writer.finish().unwrap();
        let mut out = Vec::new();
        ints.write(&mut out);
        let read = Ints::read(&mut Reader(&out), &infos).unwrap();
        assert_eq!(read, ints);
        let mut reader = FrameReader::new(&infos, &frames);
        (ints, read.decode(values.len(), &mut reader).unwrap())
    }

    proptest! {
        #[test]
        fn numbers_of_each_kind_come_back(
            values in prop_oneof![
                prop::collection::vec(any::<i64>(), 0..50),
                prop::collection::vec(-3..5i64, 0..3000),
                prop::collection::vec(0..i64::MAX, 1000..1100),
            ],
            running in any::<bool>(),
        ) {
            let mut values = values;
            if running {
                let mut sum = 0i64;
                values.iter_mut().for_each(|value| { sum = sum.wrapping_add(*value); *value = sum; });
            }
            prop_assert_eq!(round_trip(&values).1, values);
        }
    }

    #[test]
    fn each_encoding_is_chosen_where_it_is_the_smallest() {
        const ODD: i64 = 0x9e37_79b9_7f4a_7c15u64.cast_signed();
        let scrambled = |n: i64| (n.wrapping_mul(ODD) ^ (n.wrapping_mul(ODD) >> 29)).wrapping_mul(ODD);
        let name =
            |value: &dyn Fn(i64) -> i64| round_trip(&(0..5000).map(value).collect::<Vec<_>>()).0.name();
        assert_eq!(name(&|_| -7), "constant");
        assert_eq!(name(&|n| scrambled(n) >> 50), "packed");
        assert_eq!(name(&|n| (n << 20) + (scrambled(n) >> 50)), "differences");
        assert_eq!(name(&|n| if scrambled(n) >> 59 == 7 { scrambled(n) >> 50 & 15 } else { 0 }), "bytes");
        assert_eq!(name(&|n| (n << 10) + n / 50 * 900_000), "difference bytes");
    }
}
