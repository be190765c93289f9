//! Numbers with a fraction: mantissas, and how their scales are told.

use crate::bytes::{Reader, put};
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, FrameWriter, Part};
use crate::number::Plain;

/// Digits after the point, as the mantissas of a column have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// All values are spelled with so many.
    Fixed(u8),
    /// All mantissas have so many, and no value is spelled with a zero at its end.
    Trimmed(u8),
    /// Each value has its own.
    Each(Ints),
}

/// The scales of an encoding go up to this.
const SCALE_MAX: usize = 18;

/// Mantissas and scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fractions {
    scale: Scale,
    pub(crate) mantissas: Ints,
}

impl Fractions {
    pub(crate) fn encode(mantissas: &[i64], scales: &[u8], frames: &mut FrameWriter) -> Fractions {
        let largest = scales.iter().copied().max().unwrap_or(1);
        if scales.iter().all(|scale| *scale == largest) {
            return Fractions { scale: Scale::Fixed(largest), mantissas: Ints::encode(mantissas, frames) };
        }
        let pairs = || mantissas.iter().zip(scales);
        let aligned = |(mantissa, scale): (&i64, &u8)| {
            let power = 10i64.checked_pow(u32::from(largest - scale))?;
            (mantissa % 10 != 0).then(|| mantissa.checked_mul(power))?
        };
        if let Some(aligned) = pairs().map(aligned).collect::<Option<Vec<i64>>>() {
            return Fractions { scale: Scale::Trimmed(largest), mantissas: Ints::encode(&aligned, frames) };
        }
        let scales: Vec<i64> = scales.iter().map(|scale| i64::from(*scale)).collect();
        Fractions {
            scale: Scale::Each(Ints::encode(&scales, frames)),
            mantissas: Ints::encode(mantissas, frames),
        }
    }

    pub(crate) fn decode(
        &self,
        window: Window,
        frames: &mut FrameReader<'_>,
    ) -> Result<Decimals, DecodeError> {
        Ok(Decimals {
            mantissas: self.mantissas.decode(window, frames)?,
            scales: self.scales(window, frames)?,
        })
    }

    /// How many digits after the point the values of a window have.
    pub(crate) fn scales(&self, window: Window, frames: &mut FrameReader<'_>) -> Result<Scales, DecodeError> {
        Ok(match self.scale {
            Scale::Fixed(scale) => Scales::Fixed(scale),
            Scale::Trimmed(scale) => Scales::Trimmed(scale),
            Scale::Each(ints) => {
                let scale =
                    |scale: &i64| u8::try_from(*scale).ok().filter(|scale| usize::from(*scale) <= SCALE_MAX);
                let scales = ints.decode(window, frames)?.iter().map(scale).collect::<Option<Vec<u8>>>();
                Scales::Each(scales.ok_or(malformed("a scale that is too large"))?)
            }
        })
    }

    /// The parts that hold them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let scales = if let Scale::Each(ints) = self.scale { ints.part() } else { None };
        scales.into_iter().chain(self.mantissas.part())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self.scale {
            Scale::Fixed(scale) => out.extend([0, scale]),
            Scale::Trimmed(scale) => out.extend([1, scale]),
            Scale::Each(ints) => {
                put(out, 2);
                ints.write(out);
            }
        }
        self.mantissas.write(out);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Fractions, DecodeError> {
        let tag = reader.byte()?;
        let one =
            |reader: &mut Reader<'_>| reader.at_most(SCALE_MAX, "a scale that is too large").map(|s| s as u8);
        let scale = match tag {
            0 => Scale::Fixed(one(reader)?),
            1 => Scale::Trimmed(one(reader)?),
            2 => Scale::Each(Ints::read(reader, frames)?),
            _ => return Err(malformed("an unknown kind of scale")),
        };
        Ok(Fractions { scale, mantissas: Ints::read(reader, frames)? })
    }
}

/// How many digits stand after the point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scales {
    /// So many in each value.
    Fixed(u8),
    /// The mantissas count so many; the spelling leaves out the zeros at the end.
    Trimmed(u8),
    /// In each value its own.
    Each(Vec<u8>),
}

impl Scales {
    /// The most digits that a value has after the point.
    pub(crate) fn max(&self) -> u8 {
        match self {
            Scales::Fixed(scale) | Scales::Trimmed(scale) => *scale,
            Scales::Each(scales) => scales.iter().copied().max().unwrap_or_default(),
        }
    }
}

/// Numbers with a fraction that were read: the value is `mantissa / 10^scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimals {
    /// The mantissas.
    pub mantissas: Vec<i64>,
    /// Their scales.
    pub scales: Scales,
}

impl Decimals {
    /// The number as it is spelled.
    #[inline]
    pub(crate) fn plain(&self, index: usize) -> Option<Plain> {
        let mut mantissa = *self.mantissas.get(index)?;
        let scale = match &self.scales {
            Scales::Fixed(scale) => *scale,
            Scales::Each(scales) => *scales.get(index)?,
            Scales::Trimmed(scale) => {
                let mut scale = *scale;
                while scale > 1 && mantissa % 10 == 0 {
                    mantissa /= 10;
                    scale -= 1;
                }
                scale
            }
        };
        Some(Plain { mantissa, scale })
    }
}
