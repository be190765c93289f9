//! The events' own instants: ticks of 100 ns, though most clocks are read in milliseconds or seconds.

use crate::bytes::{Reader, put};
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, FrameWriter};

/// A second.
const UNIT_MAX: u64 = 10_000_000;

/// Stands where the number of an encoding of [`Ints`] would: a unit and the ints follow.
const MULTIPLES: u8 = 5;

/// Instants, as multiples of the coarsest unit that all of them are multiples of: ticks times a power of ten, at most a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    unit: u64,
    pub(crate) multiples: Ints,
}

impl Ticks {
    pub(crate) fn encode(instants: &[u64], frames: &mut FrameWriter) -> Ticks {
        let mut unit = UNIT_MAX;
        for instant in instants {
            while !instant.is_multiple_of(unit) {
                unit /= 10;
            }
        }
        let multiples: Vec<i64> = instants.iter().map(|instant| (instant / unit).cast_signed()).collect();
        Ticks { unit, multiples: Ints::encode(&multiples, frames) }
    }

    /// All of them, as signed numbers of the same bits.
    pub(crate) fn decode(&self, count: usize, frames: &mut FrameReader<'_>) -> Result<Vec<i64>, DecodeError> {
        let mut ticks = self.multiples.decode(Window::whole(count), frames)?;
        if self.unit > 1 {
            ticks.iter_mut().for_each(|tick| *tick = tick.wrapping_mul(self.unit.cast_signed()));
        }
        Ok(ticks)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.unit > 1 {
            out.push(MULTIPLES);
            put(out, self.unit);
        }
        self.multiples.write(out);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Ticks, DecodeError> {
        let mut unit = 1;
        if let [MULTIPLES, rest @ ..] = reader.0 {
            reader.0 = rest;
            unit = reader.number()?;
            if !(1..=UNIT_MAX).contains(&unit) {
                return Err(malformed("instants in a unit that no clock has"));
            }
        }
        Ok(Ticks { unit, multiples: Ints::read(reader, frames)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(instants: &[u64]) -> Ticks {
        let mut writer = FrameWriter::new().unwrap();
        let ticks = Ticks::encode(instants, &mut writer);
        let (infos, frames) = writer.finish().unwrap();
        let mut out = Vec::new();
        ticks.write(&mut out);
        assert_eq!(Ticks::read(&mut Reader(&out), &infos).unwrap(), ticks);
        let decoded = ticks.decode(instants.len(), &mut FrameReader::new(&infos, &frames)).unwrap();
        assert!(decoded.iter().map(|tick| tick.cast_unsigned()).eq(instants.iter().copied()));
        ticks
    }

    proptest! {
        #[test]
        fn instants_of_any_clock_come_back(
            instants in prop::collection::vec(any::<u64>(), 0..40),
            unit in prop::sample::select(vec![1, 7, 10, 10_000, UNIT_MAX, 100 * UNIT_MAX]),
        ) {
            round_trip(&instants.iter().map(|instant| instant / unit * unit).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_unit_is_that_of_the_clock() {
        let unit = |instants: &[u64]| round_trip(instants).unit;
        assert_eq!(unit(&[30_000, 50_000]), 10_000);
        assert_eq!(unit(&[30_000, 50_001]), 1);
        assert_eq!(unit(&[0, u64::MAX / UNIT_MAX * UNIT_MAX]), UNIT_MAX);
        assert_eq!(unit(&[u64::MAX]), 1);
        assert_eq!(unit(&[]), UNIT_MAX);
    }

    #[test]
    fn a_unit_of_nothing_or_of_more_than_a_second_is_an_error() {
        for unit in [0, UNIT_MAX + 1, u64::MAX] {
            let mut out = vec![MULTIPLES];
            put(&mut out, unit);
            out.extend([0, 2]);
            assert!(Ticks::read(&mut Reader(&out), &[]).is_err(), "{unit}");
        }
        assert!(Ticks::read(&mut Reader(&[MULTIPLES, 10, MULTIPLES, 10, 0, 2]), &[]).is_err());
    }
}
