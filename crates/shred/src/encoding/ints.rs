//! Whole numbers: mantissas, instants, lengths, codes. Constant, packed from a base, packed by differences, or compressed.

use crate::bytes::{Reader, put, put_signed};
use crate::encoding::{Window, packed};
use crate::error::{DecodeError, malformed};
use crate::frame::{Content, Effort, FrameInfo, FrameReader, FrameWriter, Part};
use crate::grouping;
use tamias_simd::numbers;

/// Compression must save two fifths of packed numbers, else they are stored packed. HEURISTIC: where zstd saved a fifth, the time of a
/// query over them doubled.
const COMPRESSED_SHARE: (usize, usize) = (3, 5);

/// HEURISTIC: compression is tried on so many values, or on up to four times as many if those are all.
const SAMPLE: usize = 1024;

/// Fewer packed bytes than these are not worth compressing.
const COMPRESSED_MIN: usize = 64;

/// The same at low effort.
const COMPRESSED_MIN_LOW: usize = 256;

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
        let compressed_min = match frames.effort() {
            Effort::Full => COMPRESSED_MIN,
            Effort::Low => COMPRESSED_MIN_LOW,
        };
        if least >= compressed_min {
            // HEURISTIC: what packs better compresses better. To try both took twice the time, and saved less than a thousandth.
            if by_value <= by_difference {
                if let Some(Planes { base, width, bytes }) = Planes::if_smaller(values, by_value, frames) {
                    return Ints::Bytes { base, width, part: frames.add(&bytes, Content::Numbers) };
                }
            } else if let Some(Planes { base, width, bytes }) =
                Planes::if_smaller(&differences, by_difference, frames)
            {
                let part = frames.add(&bytes, Content::Numbers);
                return Ints::DifferenceBytes { first, base, width, part };
            }
        }
        let mut out = Vec::with_capacity(least);
        if by_value <= by_difference + 4 {
            packed::pack(values, &mut out);
            Ints::Packed(frames.add(&out, Content::Dense))
        } else {
            packed::pack(&differences, &mut out);
            Ints::Differences { first, part: frames.add(&out, Content::Dense) }
        }
    }

    /// The values of a window.
    ///
    /// Of packed numbers only the blocks are unpacked that it lies in; differences are summed from the first on.
    pub(crate) fn decode(
        &self,
        window: Window,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<i64>, DecodeError> {
        let mut values = Vec::new();
        self.append(window, frames, &mut values)?;
        Ok(values)
    }

    /// Appends them.
    pub(crate) fn append(
        &self,
        window: Window,
        frames: &mut FrameReader<'_>,
        out: &mut Vec<i64>,
    ) -> Result<(), DecodeError> {
        // Differences follow the first value.
        let before =
            Window { count: window.count.saturating_sub(1), from: 0, to: window.to.saturating_sub(1) };
        let start = out.len();
        match *self {
            Ints::Constant(value) => out.resize(start + window.len(), value),
            Ints::Packed(part) => packed::unpack(&frames.part(part)?, window, out)?,
            Ints::Differences { first, part } => {
                out.reserve(window.to + 1);
                out.push(first);
                packed::unpack(&frames.part(part)?, before, out)?;
                sum_up(out, start, window);
            }
            Ints::Bytes { base, width, part } => append_planes(base, width, window, part, frames, out)?,
            Ints::DifferenceBytes { first, base, width, part } => {
                out.reserve(window.to + 1);
                out.push(first);
                append_planes(base, width, before, part, frames, out)?;
                sum_up(out, start, window);
            }
        }
        Ok(())
    }

    /// The values of a window in the order of the documents, where they may stand by shape.
    pub(crate) fn decode_in_order(
        &self,
        window: Window,
        places: Option<&[u32]>,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<i64>, DecodeError> {
        let Some(places) = places else { return self.decode(window, frames) };
        let values = self.decode(Window::whole(window.count), frames)?;
        in_order(&values, places, window)
    }

    /// The values of a window as codes below a size.
    pub(crate) fn codes(
        &self,
        window: Window,
        places: Option<&[u32]>,
        size: usize,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<u32>, DecodeError> {
        // Where all are the same it makes no difference where each stands.
        let Some(places) = places.filter(|_| !matches!(self, Ints::Constant(_))) else {
            return self.codes_as_stored(window, size, frames);
        };
        let codes = self.codes_as_stored(Window::whole(window.count), size, frames)?;
        in_order(&codes, places, window)
    }

    /// The same in the order in which they are stored.
    fn codes_as_stored(
        &self,
        window: Window,
        size: usize,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<u32>, DecodeError> {
        let code = |code: i64| u32::try_from(code).ok().filter(|code| (*code as usize) < size);
        match *self {
            Ints::Packed(part) => packed::unpack_codes(&frames.part(part)?, window, size),
            Ints::Constant(value) => match code(value) {
                Some(code) => Ok(vec![code; window.len()]),
                None if window.len() == 0 => Ok(Vec::new()),
                None => Err(packed::NO_CODE),
            },
            Ints::Bytes { base, width: 1, part } if part.length as usize == window.count => {
                let base = code(base).ok_or(packed::NO_CODE)?;
                let bytes = frames.range(part, window.from, window.to)?;
                // As a loop over all, which vectors take.
                let most = bytes.iter().fold(0, |most: u8, byte| most.max(*byte));
                code(i64::from(base) + i64::from(most)).ok_or(packed::NO_CODE)?;
                Ok(bytes.iter().map(move |byte| base + u32::from(*byte)).collect())
            }
            Ints::Bytes { .. } | Ints::Differences { .. } | Ints::DifferenceBytes { .. } => {
                let codes = self.decode(window, frames)?;
                codes.into_iter().map(code).collect::<Option<_>>().ok_or(packed::NO_CODE)
            }
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
            _ => Ok(self
                .decode(Window::whole(count), frames)?
                .iter()
                .map(|value| (from..=to).contains(value))
                .collect()),
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

/// The values of a window in the order of the documents, from all values as they stand by shape.
fn in_order<T: Copy>(by_shape: &[T], places: &[u32], window: Window) -> Result<Vec<T>, DecodeError> {
    let wanted = places.get(window.from..window.to).filter(|_| places.len() == by_shape.len());
    wanted
        .and_then(|places| grouping::ungroup(by_shape, places))
        .ok_or(malformed("values by shape that are not as many as the shapes say"))
}

/// Makes running sums of what stands from `start` on, a value and differences, and leaves those of a window.
fn sum_up(values: &mut Vec<i64>, start: usize, window: Window) {
    let mut sum = 0i64;
    for value in values.iter_mut().skip(start) {
        sum = sum.wrapping_add(*value);
        *value = sum;
    }
    values.truncate(start + window.to);
    values.drain(start..(start + window.from).min(values.len()));
}

/// Numbers as bytes: all first bytes, all second bytes, and so on.
struct Planes {
    base: i64,
    width: usize,
    bytes: Vec<u8>,
}

impl Planes {
    /// The bytes of values that take so many packed, if they are to be compressed. Tried on a sample from the middle.
    fn if_smaller(values: &[i64], packed_bytes: usize, frames: &mut FrameWriter) -> Option<Planes> {
        let count = if values.len() <= 4 * SAMPLE { values.len() } else { SAMPLE };
        let sample = Planes::of(&values[(values.len() - count) / 2..][..count]);
        let limit = packed_bytes * count / values.len() * COMPRESSED_SHARE.0 / COMPRESSED_SHARE.1;
        if frames.compressed_length(&sample.bytes) > limit {
            return None;
        }
        Some(if count == values.len() { sample } else { Planes::of(values) })
    }

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

/// Appends the numbers of a window.
fn append_planes(
    base: i64,
    width: usize,
    window: Window,
    part: Part,
    frames: &mut FrameReader<'_>,
    out: &mut Vec<i64>,
) -> Result<(), DecodeError> {
    let Window { count, from, to } = window;
    if width.checked_mul(count) != Some(part.length as usize) {
        return Err(malformed("as many bytes as numbers do not take"));
    }
    let start = out.len();
    if width == 0 {
        out.resize(start + window.len(), base);
        return Ok(());
    }
    let lowest = frames.range(part, from, to)?;
    numbers::append_above(base, &lowest, out);
    for plane in 1..width {
        let bytes = frames.range(part, plane * count + from, plane * count + to)?;
        numbers::add(&bytes, 8 * plane as u32, out.get_mut(start..).unwrap_or_default());
    }
    Ok(())
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
        let (from, to) = (values.len() / 3, values.len() * 2 / 3);
        let window = Window { count: values.len(), from, to };
        assert_eq!(read.decode(window, &mut reader).unwrap(), &values[from..to]);
        (ints, read.decode(Window::whole(values.len()), &mut reader).unwrap())
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
