//! Whole numbers that are the differences of two others: what was added less what was deleted. Nothing is stored of them.

use crate::bytes::Reader;
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::error::DecodeError;
use crate::frame::{FrameInfo, FrameReader, Part};

/// The numbers of two columns, of which these are the differences. Both stand in the same order as these, that of the documents or by shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) of: Ints,
    pub(crate) less: Ints,
}

impl Difference {
    /// The values of a window, in the order of the documents.
    pub(crate) fn decode(
        &self,
        window: Window,
        places: Option<&[u32]>,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<i64>, DecodeError> {
        let mut values = self.of.decode_in_order(window, places, frames)?;
        let less = self.less.decode_in_order(window, places, frames)?;
        values.iter_mut().zip(less).for_each(|(value, less)| *value = value.wrapping_sub(less));
        Ok(values)
    }

    /// The parts that hold both.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        [self.of, self.less].into_iter().filter_map(|ints| ints.part())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.of.write(out);
        self.less.write(out);
    }

    pub(crate) fn read(reader: &mut Reader<'_>, frames: &[FrameInfo]) -> Result<Difference, DecodeError> {
        Ok(Difference { of: Ints::read(reader, frames)?, less: Ints::read(reader, frames)? })
    }
}
