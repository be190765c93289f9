//! A column: a path, a kind, and one of the encodings; and its values once they are read.

use crate::bytes::{Reader, put};
use crate::encoding::Window;
use crate::encoding::dictionary::{Coded, Dictionary};
use crate::encoding::fraction::{Decimals, Fractions};
use crate::encoding::instants::{Instants, Times};
use crate::encoding::ints::Ints;
use crate::encoding::positions::{Positions, Spelled};
use crate::encoding::strings::{Strings, Texts};
use crate::encoding::templates::{Templated, Templates};
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, Part};
use crate::number::{self, Plain};
use crate::output::Output;
use crate::shape::Leaf;

/// How the values of a column are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Strings(Strings),
    Dictionary(Dictionary),
    Positions(Positions),
    Instants(Instants),
    Whole(Ints),
    Fractions(Fractions),
    Templates(Templates),
}

/// What the directory says of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) path: u32,
    pub(crate) kind: Leaf,
    pub(crate) count: usize,
    /// Whether its numbers or codes stand by shape, not in the order of the documents.
    pub(crate) grouped: bool,
    pub(crate) encoding: Encoding,
}

impl Encoding {
    /// The word for it in tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Encoding::Strings(_) => "strings",
            Encoding::Dictionary(Dictionary { size: 1, .. }) => "constant",
            Encoding::Dictionary(_) => "dictionary",
            Encoding::Positions(_) => "positions",
            Encoding::Instants(_) => "instants",
            Encoding::Whole(ints) => ints.name(),
            Encoding::Fractions(_) => "fractions",
            Encoding::Templates(_) => "templates",
        }
    }

    /// All parts that it needs, and nothing else does.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match self {
            Encoding::Strings(strings) => strings.parts().collect(),
            Encoding::Dictionary(dictionary) => {
                dictionary.entries.parts().chain(dictionary.codes.part()).collect()
            }
            Encoding::Positions(positions) => vec![positions.part],
            Encoding::Instants(instants) => instants.ints().part().into_iter().collect(),
            Encoding::Whole(ints) => ints.part().into_iter().collect(),
            Encoding::Fractions(fractions) => fractions.parts().collect(),
            Encoding::Templates(templates) => templates.parts(),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let tag = match self {
            Encoding::Strings(_) => 0,
            Encoding::Dictionary(_) => 1,
            Encoding::Positions(_) => 2,
            Encoding::Instants(_) => 3,
            Encoding::Whole(_) => 4,
            Encoding::Fractions(_) => 5,
            Encoding::Templates(_) => 6,
        };
        put(out, tag);
        match self {
            Encoding::Strings(strings) => strings.write(out),
            Encoding::Dictionary(dictionary) => dictionary.write(out),
            Encoding::Positions(positions) => positions.write(out),
            Encoding::Instants(instants) => instants.write(out),
            Encoding::Whole(ints) => ints.write(out),
            Encoding::Fractions(fractions) => fractions.write(out),
            Encoding::Templates(templates) => templates.write(out),
        }
    }

    pub(crate) fn read(
        reader: &mut Reader<'_>,
        count: usize,
        frames: &[FrameInfo],
    ) -> Result<Encoding, DecodeError> {
        if let [6, rest @ ..] = reader.0 {
            reader.0 = rest;
            return Ok(Encoding::Templates(Templates::read(reader, count, frames)?));
        }
        Encoding::read_leaf(reader, count, frames)
    }

    /// An encoding that has none inside it.
    pub(crate) fn read_leaf(
        reader: &mut Reader<'_>,
        count: usize,
        frames: &[FrameInfo],
    ) -> Result<Encoding, DecodeError> {
        Ok(match reader.number()? {
            0 => Encoding::Strings(Strings::read(reader, frames)?),
            1 => Encoding::Dictionary(Dictionary::read(reader, count, frames)?),
            2 => Encoding::Positions(Positions::read(reader, frames)?),
            3 => Encoding::Instants(Instants::read(reader, frames)?),
            4 => Encoding::Whole(Ints::read(reader, frames)?),
            5 => Encoding::Fractions(Fractions::read(reader, frames)?),
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
            Encoding::Strings(strings) => Values::Texts(strings.decode(window, frames)?),
            Encoding::Dictionary(dictionary) => Values::Coded(dictionary.decode(window, places, frames)?),
            Encoding::Positions(positions) => Values::Spelled(positions.decode(window, frames)?),
            Encoding::Instants(instants) => Values::Times(instants.decode(window, events, frames)?),
            Encoding::Whole(ints) => Values::Whole(ints.decode_in_order(window, places, frames)?),
            Encoding::Fractions(fractions) => Values::Decimals(fractions.decode(window, frames)?),
            Encoding::Templates(templates) => Values::Templated(templates.decode(window, places, frames)?),
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
    /// Texts by template.
    Templated(Templated<'f>),
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
            Values::Templated(templated) => templated.codes.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the text of a value.
    #[inline]
    pub(crate) fn append(&self, index: usize, out: &mut Output) -> Result<(), DecodeError> {
        const MISSING: DecodeError = DecodeError::OutOfRange { what: "value" };
        match self {
            Values::Texts(texts) => texts.append(index, out),
            Values::Coded(coded) => {
                coded.entries.append(*coded.codes.get(index).ok_or(MISSING)? as usize, out)
            }
            Values::Spelled(spelled) => spelled.append(index, out),
            Values::Times(times) => times.append(index, out),
            Values::Whole(numbers) => {
                let mantissa = *numbers.get(index).ok_or(MISSING)?;
                out.push(number::spell(Plain { mantissa, scale: 0 }, &mut [0; number::SPELLED_MAX]))
            }
            Values::Decimals(decimals) => {
                let plain = decimals.plain(index).ok_or(MISSING)?;
                out.push(number::spell(plain, &mut [0; number::SPELLED_MAX]))
            }
            // The renderer fills templates, which may need other columns.
            Values::Templated(_) => Err(malformed("a template inside a template")),
        }
    }
}
