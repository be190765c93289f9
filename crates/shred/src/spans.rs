//! The values of a column as they are put into documents: texts, whatever they are stored as.
//!
//! To make texts of a whole column at a time is quicker than one by one, and what puts documents together has but one kind of value.

use std::borrow::Cow;

use crate::encoding::dictionary::Coded;
use crate::encoding::simple::Values;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::number::{self, Plain};
use crate::output::{Output, SLACK};

/// Texts that stand anywhere in some bytes, so that equal ones may share a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spans<'f> {
    bytes: Cow<'f, [u8]>,
    /// Where each begins and ends.
    spans: Vec<(u32, u32)>,
}

const TOO_LONG: DecodeError = malformed("its documents are longer than it says");

impl<'f> Spans<'f> {
    /// The values of a column as texts. Those that have to be made take their bytes from `left`, so that no forged directory makes
    /// more than its documents could have.
    ///
    /// # Errors
    /// Where a code stands for nothing, or too little is left.
    pub(crate) fn of(values: Values<'f>, left: &mut usize) -> Result<Spans<'f>, DecodeError> {
        let mut take = |bytes: Option<usize>| {
            *left = bytes.and_then(|bytes| left.checked_sub(bytes)).ok_or(TOO_LONG)?;
            Ok(())
        };
        Ok(match values {
            Values::Texts(texts) => Spans::of_texts(texts),
            Values::Coded(Coded { entries, codes }) => {
                let Spans { bytes, spans } = Spans::of_texts(entries);
                let span = |code: &u32| spans.get(*code as usize).copied();
                let spans = codes.iter().map(span).collect::<Option<Vec<(u32, u32)>>>();
                Spans { bytes, spans: spans.ok_or(DecodeError::OutOfRange { what: "code" })? }
            }
            Values::Spelled(spelled) => {
                take(spelled.text_length().checked_mul(spelled.len()))?;
                Spans::of_texts(spelled.texts()?)
            }
            Values::Times(times) => {
                take(times.text_length().checked_mul(times.units.len()))?;
                Spans::of_texts(times.texts())
            }
            Values::Whole(numbers) => Spans::of_numbers(
                numbers.iter().map(|mantissa| Plain { mantissa: *mantissa, scale: 0 }),
                left,
            )?,
            Values::Decimals(decimals) => Spans::of_numbers(
                (0..decimals.mantissas.len()).filter_map(|index| decimals.plain(index)),
                left,
            )?,
        })
    }

    fn of_texts(texts: Texts<'f>) -> Spans<'f> {
        let (ends, bytes) = texts.into_parts();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Spans { bytes, spans: starts.zip(ends.iter().copied()).collect() }
    }

    fn of_numbers(numbers: impl Iterator<Item = Plain>, left: &mut usize) -> Result<Spans<'f>, DecodeError> {
        let (mut bytes, mut spans) = (Vec::new(), Vec::with_capacity(numbers.size_hint().1.unwrap_or(0)));
        let mut buffer: number::Buffer = [0; _];
        for number in numbers {
            let (from, to) = number::spell(number, &mut buffer);
            let start = bytes.len();
            // A block of a fixed length, of which what is too much is taken off again.
            bytes.extend_from_slice(buffer[from..].first_chunk::<SLACK>().map_or(&[], |block| &block[..]));
            bytes.truncate(start + to - from);
            spans.push((start as u32, bytes.len() as u32));
            if bytes.len() > *left {
                return Err(TOO_LONG);
            }
        }
        *left -= bytes.len();
        // So that the last ones are copied by instructions of a fixed length too.
        bytes.extend_from_slice(&[0; SLACK]);
        Ok(Spans { bytes: Cow::Owned(bytes), spans })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text of a value.
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let (from, to) = *self.spans.get(index)?;
        self.bytes.get(from as usize..to as usize)
    }

    /// Appends the text of a value.
    #[inline(always)]
    pub(crate) fn append(&self, index: usize, out: &mut Output) -> Result<(), DecodeError> {
        let (from, to) = *self.spans.get(index).ok_or(DecodeError::OutOfRange { what: "value" })?;
        out.push_range(&self.bytes, from as usize, to as usize)
    }
}
