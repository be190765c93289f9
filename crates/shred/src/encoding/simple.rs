//! The encodings that hold values by themselves, and the values once they are read.

use crate::bytes::{Reader, put};
use crate::encoding::Window;
use crate::encoding::dictionary::{Coded, Dictionary};
use crate::encoding::difference::Difference;
use crate::encoding::fraction::{Decimals, Fractions};
use crate::encoding::instants::{Instants, Times};
use crate::encoding::ints::Ints;
use crate::encoding::positions::{Positions, Spelled};
use crate::encoding::strings::{Strings, Texts};
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, Part};

/// How the values of a column are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    Strings(Strings),
    Dictionary(Dictionary),
    Positions(Positions),
    Instants(Instants),
    Whole(Ints),
    Fractions(Fractions),
    Difference(Difference),
}

impl Simple {
    /// The word for it in tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Simple::Strings(_) => "strings",
            Simple::Dictionary(Dictionary { size: 1, .. }) => "constant",
            Simple::Dictionary(_) => "dictionary",
            Simple::Positions(_) => "positions",
            Simple::Instants(_) => "instants",
            Simple::Whole(ints) => ints.name(),
            Simple::Fractions(_) => "fractions",
            Simple::Difference(_) => "difference",
        }
    }

    /// Whether its values are numbers that a mantissa and a scale spell.
    pub(crate) fn are_numbers(&self) -> bool {
        matches!(self, Simple::Whole(_) | Simple::Fractions(_) | Simple::Difference(_))
    }

    /// All parts that it needs; others may need them too.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        self.each_part(&mut |part| parts.push(part));
        parts
    }

    /// Calls with each of them.
    pub(crate) fn each_part(&self, call: &mut impl FnMut(Part)) {
        match self {
            Simple::Strings(strings) => strings.parts().for_each(call),
            Simple::Dictionary(dictionary) => {
                dictionary.entries.parts().chain(dictionary.codes.part()).for_each(call);
            }
            Simple::Positions(positions) => call(positions.part),
            Simple::Instants(instants) => instants.ints().part().into_iter().for_each(call),
            Simple::Whole(ints) => ints.part().into_iter().for_each(call),
            Simple::Fractions(fractions) => fractions.parts().for_each(call),
            Simple::Difference(difference) => difference.parts().for_each(call),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let tag = match self {
            Simple::Strings(_) => 0,
            Simple::Dictionary(_) => 1,
            Simple::Positions(_) => 2,
            Simple::Instants(_) => 3,
            Simple::Whole(_) => 4,
            Simple::Fractions(_) => 5,
            // 6 are templates.
            Simple::Difference(_) => 7,
        };
        put(out, tag);
        match self {
            Simple::Strings(strings) => strings.write(out),
            Simple::Dictionary(dictionary) => dictionary.write(out),
            Simple::Positions(positions) => positions.write(out),
            Simple::Instants(instants) => instants.write(out),
            Simple::Whole(ints) => ints.write(out),
            Simple::Fractions(fractions) => fractions.write(out),
            Simple::Difference(difference) => difference.write(out),
        }
    }

    pub(crate) fn read(
        reader: &mut Reader<'_>,
        count: usize,
        frames: &[FrameInfo],
    ) -> Result<Simple, DecodeError> {
        Ok(match reader.number()? {
            0 => Simple::Strings(Strings::read(reader, frames)?),
            1 => Simple::Dictionary(Dictionary::read(reader, count, frames)?),
            2 => Simple::Positions(Positions::read(reader, frames)?),
            3 => Simple::Instants(Instants::read(reader, frames)?),
            4 => Simple::Whole(Ints::read(reader, frames)?),
            5 => Simple::Fractions(Fractions::read(reader, frames)?),
            7 => Simple::Difference(Difference::read(reader, frames)?),
            _ => return Err(malformed("a column in an unknown encoding")),
        })
    }

    /// The values of a window; `events` are the instants of the group's events, `places` where each value stands if they stand by shape.
    pub(crate) fn decode<'f>(
        &self,
        window: Window,
        events: &[i64],
        places: Option<&[u32]>,
        frames: &mut FrameReader<'f>,
    ) -> Result<Values<'f>, DecodeError> {
        Ok(match self {
            Simple::Strings(strings) => Values::Texts(strings.decode(window, frames)?),
            Simple::Dictionary(dictionary) => Values::Coded(dictionary.decode(window, places, frames)?),
            Simple::Positions(positions) => Values::Spelled(positions.decode(window, frames)?),
            Simple::Instants(instants) => Values::Times(instants.decode(window, events, frames)?),
            Simple::Whole(ints) => Values::Whole(ints.decode_in_order(window, places, frames)?),
            Simple::Fractions(fractions) => Values::Decimals(fractions.decode(window, frames)?),
            Simple::Difference(difference) => Values::Whole(difference.decode(window, places, frames)?),
        })
    }
}

/// The values of a column, read but for the most part not turned into text.
///
/// Texts are as documents spell them between the quotes, escapes and all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Values<'f> {
    /// Texts as they are.
    Texts(Texts<'f>),
    /// Texts by dictionary.
    Coded(Coded<'f>),
    /// Texts of one length, in a few bits each.
    Spelled(Spelled<'f>),
    /// Texts that are instants.
    Times(Times),
    /// Whole numbers; also texts that are whole numbers.
    Whole(Vec<i64>),
    /// Numbers with a fraction.
    Decimals(Decimals),
}

impl Values<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Texts(texts) => texts.len(),
            Values::Coded(coded) => coded.codes.len(),
            Values::Spelled(spelled) => spelled.len(),
            Values::Times(times) => times.units.len(),
            Values::Whole(numbers) => numbers.len(),
            Values::Decimals(decimals) => decimals.mantissas.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
