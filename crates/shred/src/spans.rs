//! The values of a column as they are put into documents: texts, whatever they are stored as.
//!
//! To make texts of a whole column at a time is quicker than one by one, and what puts documents together has but one kind of value.

use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;

use crate::encoding::dictionary::Coded;
use crate::encoding::fraction::{Decimals, Scales};
use crate::encoding::simple::Values;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::number::{self, Plain};
use crate::output::{SLACK, Sink};

/// Texts in some bytes. Documents take values of all columns in turn, so that each value is a load from another place: the less is
/// stored for it, the fewer of them miss the processor's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spans<'f> {
    bytes: Cow<'f, [u8]>,
    places: Places,
}

/// Where texts stand.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Places {
    /// One after another: where each begins, and where the last one ends.
    Bounds(Vec<u32>),
    /// One after another, so many of one length.
    Every { length: usize, count: usize },
    /// The entries likewise; and for each text which of them it is.
    Coded { bounds: Vec<u32>, codes: Vec<u32> },
    /// Nowhere: they are the texts of these numbers, made when they are taken.
    Numbers(Decimals),
    /// Nowhere: they were not read.
    Unread(Unread),
}

/// Values that were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) count: usize,
    /// How long each is, where that is asked for.
    pub(crate) length: usize,
    pub(crate) are_numbers: bool,
}

/// A number for each value. Those of different texts differ; those of equal ones are the same but where hardly any are.
pub(crate) enum Numbered<'s> {
    Codes {
        codes: Cow<'s, [u32]>,
        count: u64,
    },
    /// How much greater each number is than the least.
    Above {
        least: i64,
        decimals: &'s Decimals,
        count: u64,
    },
}

/// So many texts tell whether they repeat.
const PROBE: usize = 1024;

/// Where more of the texts are distinct, as identifiers are, each gets a number of its own.
const DISTINCT_SHARE: (usize, usize) = (15, 16);

/// There are fewer scales than this.
const SCALES: u64 = 1 << u8::BITS;

impl Numbered<'_> {
    /// All numbers are less.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Numbered::Codes { count, .. } | Numbered::Above { count, .. } => *count,
        }
    }

    /// The number of a value.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        match self {
            Numbered::Codes { codes, .. } => codes.get(index).map(|code| u64::from(*code)),
            Numbered::Above { least, decimals, .. } => {
                let above = decimals.mantissas.get(index)?.wrapping_sub(*least).cast_unsigned();
                match &decimals.scales {
                    Scales::Fixed(_) | Scales::Trimmed(_) => Some(above),
                    Scales::Each(scales) => Some(above * SCALES + u64::from(*scales.get(index)?)),
                }
            }
        }
    }

    /// Those of texts.
    fn of_texts<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Numbered<'static> {
        let mut codes = Vec::with_capacity(texts.size_hint().0);
        let mut known: Option<HashMap<&[u8], u32, RandomState>> = Some(HashMap::default());
        let mut next = 0;
        for text in texts {
            let code = match &mut known {
                Some(known) => *known.entry(text).or_insert(next),
                None => next,
            };
            next += u32::from(code == next);
            codes.push(code);
            if codes.len() == PROBE && next as usize * DISTINCT_SHARE.1 > PROBE * DISTINCT_SHARE.0 {
                known = None;
            }
        }
        Numbered::Codes { codes: Cow::Owned(codes), count: u64::from(next) }
    }
}

/// What values come to.
pub(crate) enum Mapped<'s, T> {
    Each(Vec<T>),
    /// What each entry comes to, and for each value its entry.
    Entries(Vec<T>, &'s [u32]),
}

/// Which texts of numbers are made before they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// All: a whole column at a time is quicker.
    Before,
    /// None, as few may be taken.
    WhenTaken,
}

const TOO_LONG: DecodeError = malformed("its documents are longer than it says");

impl<'f> Spans<'f> {
    /// The values of a column as texts. Those that have to be made take their bytes from `left`, so that no forged directory makes
    /// more than its documents could have.
    ///
    /// # Errors
    /// If a code stands for nothing, or too little is left.
    pub(crate) fn of(
        values: Values<'f>,
        spelling: Spelling,
        left: &mut usize,
    ) -> Result<Spans<'f>, DecodeError> {
        let values = match (values, spelling) {
            (Values::Whole(mantissas), Spelling::WhenTaken) => {
                Values::Decimals(Decimals { mantissas, scales: Scales::Fixed(0) })
            }
            (values, _) => values,
        };
        let mut take = |bytes: Option<usize>| {
            *left = bytes.and_then(|bytes| left.checked_sub(bytes)).ok_or(TOO_LONG)?;
            Ok(())
        };
        Ok(match values {
            Values::Texts(texts) => {
                let (bounds, bytes) = bounds_of(texts);
                Spans { bytes, places: Places::Bounds(bounds) }
            }
            Values::Coded(Coded { entries, codes }) => {
                let (bounds, bytes) = bounds_of(entries);
                Spans { bytes, places: Places::Coded { bounds, codes } }
            }
            Values::Spelled(spelled) => {
                let (length, count) = (spelled.text_length(), spelled.len());
                take(length.checked_mul(count))?;
                Spans { bytes: spelled.texts()?.into_parts().1, places: Places::Every { length, count } }
            }
            Values::Times(times) => {
                let (length, count) = (times.text_length(), times.units.len());
                take(length.checked_mul(count))?;
                Spans { bytes: times.texts().into_parts().1, places: Places::Every { length, count } }
            }
            Values::Whole(numbers) => Spans::of_numbers(
                numbers.iter().map(|mantissa| Plain { mantissa: *mantissa, scale: 0 }),
                left,
            )?,
            Values::Decimals(decimals) if spelling == Spelling::WhenTaken => {
                Spans { bytes: Cow::Borrowed(&[]), places: Places::Numbers(decimals) }
            }
            Values::Decimals(decimals) => Spans::of_numbers(
                (0..decimals.mantissas.len()).filter_map(|index| decimals.plain(index)),
                left,
            )?,
        })
    }

    fn of_numbers(numbers: impl Iterator<Item = Plain>, left: &mut usize) -> Result<Spans<'f>, DecodeError> {
        let count = numbers.size_hint().1.unwrap_or(0);
        let (mut bytes, mut bounds) = (Vec::with_capacity(4 * count), Vec::with_capacity(count + 1));
        bounds.push(0);
        let mut buffer: number::Buffer = [0; _];
        for number in numbers {
            let (from, to) = number::spell(number, &mut buffer);
            let start = bytes.len();
            // A block of a fixed length, of which what is too much is taken off again.
            bytes.extend_from_slice(buffer[from..].first_chunk::<SLACK>().map_or(&[], |block| &block[..]));
            bytes.truncate(start + to - from);
            bounds.push(bytes.len() as u32);
            if bytes.len() > *left {
                return Err(TOO_LONG);
            }
        }
        *left -= bytes.len();
        // So that the last ones are copied by instructions of a fixed length too.
        bytes.extend_from_slice(&[0; SLACK]);
        Ok(Spans { bytes: Cow::Owned(bytes), places: Places::Bounds(bounds) })
    }

    /// Values that stand for themselves in what is asked of them: nothing of it stands in them.
    pub(crate) fn unread(unread: Unread) -> Spans<'static> {
        Spans { bytes: Cow::Borrowed(&[]), places: Places::Unread(unread) }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match &self.places {
            Places::Unread(unread) => unread.count,
            Places::Bounds(bounds) => bounds.len() - 1,
            Places::Every { count, .. } => *count,
            Places::Coded { codes, .. } => codes.len(),
            Places::Numbers(decimals) => decimals.mantissas.len(),
        }
    }

    /// Where a value's text begins and ends.
    #[inline(always)]
    fn range(&self, index: usize) -> Option<(usize, usize)> {
        let (bounds, index) = match &self.places {
            Places::Bounds(bounds) => (bounds, index),
            Places::Every { length, count } => {
                return (index < *count).then(|| (index * length, (index + 1) * length));
            }
            Places::Coded { bounds, codes } => (bounds, *codes.get(index)? as usize),
            Places::Numbers(_) | Places::Unread(_) => return None,
        };
        let [from, to, ..] = bounds.get(index..)? else { return None };
        Some((*from as usize, *to as usize))
    }

    /// The text of a value, if it was made.
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let (from, to) = self.range(index)?;
        self.bytes.get(from..to)
    }

    /// The same without borrowed bytes.
    pub(crate) fn into_owned(self) -> Spans<'static> {
        Spans { bytes: Cow::Owned(self.bytes.into_owned()), places: self.places }
    }

    /// The bytes in which texts stand that are no numbers; others may come after them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether they are numbers, whose texts are made when they are taken.
    pub(crate) fn are_numbers(&self) -> bool {
        matches!(self.places, Places::Numbers(_) | Places::Unread(Unread { are_numbers: true, .. }))
    }

    /// The numbers whose texts they are, if they are such.
    pub(crate) fn numbers(&self) -> Option<&Decimals> {
        if let Places::Numbers(decimals) = &self.places { Some(decimals) } else { None }
    }

    /// The text of a value, of a number in a buffer; empty where there is none.
    pub(crate) fn text<'t>(&'t self, index: usize, buffer: &'t mut number::Buffer) -> &'t [u8] {
        let Places::Numbers(decimals) = &self.places else { return self.get(index).unwrap_or_default() };
        let Some(number) = decimals.plain(index) else { return &[] };
        let (from, to) = number::spell(number, buffer);
        buffer.get(from..to).unwrap_or_default()
    }

    /// Whether all texts are ASCII without escapes.
    pub(crate) fn is_plain(&self) -> bool {
        self.bytes.is_ascii() && !self.bytes.contains(&b'\\')
    }

    /// How long each text is, where all are of one length.
    pub(crate) fn one_length(&self) -> Option<usize> {
        match self.places {
            Places::Every { length, .. } | Places::Unread(Unread { length, .. }) => Some(length),
            Places::Bounds(_) | Places::Coded { .. } | Places::Numbers(_) => None,
        }
    }

    /// What each value comes to: by its length alone, by its text, or as a number. Values that share a text share what it comes to.
    pub(crate) fn map<T: Copy>(
        &self,
        by_length: bool,
        of_length: impl Fn(usize) -> T,
        of_text: impl Fn(&[u8]) -> T,
        of_number: impl Fn(Plain) -> T,
    ) -> Mapped<'_, T> {
        let of = |from: usize, to: usize| match by_length {
            true => of_length(to.saturating_sub(from)),
            false => of_text(self.bytes.get(from..to).unwrap_or_default()),
        };
        let of_bounds = |bounds: &[u32]| {
            bounds.array_windows().map(|[from, to]| of(*from as usize, *to as usize)).collect()
        };
        Mapped::Each(match &self.places {
            Places::Bounds(bounds) => of_bounds(bounds),
            Places::Every { length, count } => {
                (0..*count).map(|index| of(index * length, (index + 1) * length)).collect()
            }
            Places::Coded { bounds, codes } => return Mapped::Entries(of_bounds(bounds), codes),
            Places::Unread(unread) => vec![of(0, unread.length); unread.count],
            Places::Numbers(Decimals { mantissas, scales: Scales::Fixed(scale) }) => mantissas
                .iter()
                .map(|mantissa| of_number(Plain { mantissa: *mantissa, scale: *scale }))
                .collect(),
            Places::Numbers(decimals) => (0..decimals.mantissas.len())
                .filter_map(|index| decimals.plain(index))
                .map(of_number)
                .collect(),
        })
    }

    /// Their numbers; none where they lie too far apart. Takes time linear in the values, and in their bytes where each has its own.
    pub(crate) fn numbered(&self) -> Option<Numbered<'_>> {
        Some(match &self.places {
            Places::Bounds(_) | Places::Every { .. } => {
                Numbered::of_texts((0..self.len()).map(|index| self.get(index).unwrap_or_default()))
            }
            Places::Coded { bounds, codes } => {
                Numbered::Codes { codes: Cow::Borrowed(codes), count: bounds.len() as u64 }
            }
            Places::Unread(_) => return None,
            Places::Numbers(decimals) => {
                let mantissas = || decimals.mantissas.iter().copied();
                let (least, greatest) = (mantissas().min().unwrap_or(0), mantissas().max().unwrap_or(0));
                let scales = if let Scales::Each(_) = decimals.scales { SCALES } else { 1 };
                let count = greatest.abs_diff(least).checked_add(1)?.checked_mul(scales)?;
                Numbered::Above { least, decimals, count }
            }
        })
    }

    /// What they take in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let places = match &self.places {
            Places::Bounds(bounds) => size_of::<u32>() * bounds.capacity(),
            Places::Every { .. } | Places::Unread(_) => 0,
            Places::Coded { bounds, codes } => size_of::<u32>() * (bounds.capacity() + codes.capacity()),
            Places::Numbers(decimals) => {
                let scales = if let Scales::Each(scales) = &decimals.scales { scales.capacity() } else { 0 };
                size_of::<i64>() * decimals.mantissas.capacity() + scales
            }
        };
        self.bytes.len() + places
    }

    /// Appends the text of a value.
    #[inline(always)]
    pub(crate) fn append(&self, index: usize, out: &mut impl Sink) -> Result<(), DecodeError> {
        const NO_VALUE: DecodeError = DecodeError::OutOfRange { what: "value" };
        if let Places::Numbers(decimals) = &self.places {
            let mut buffer: number::Buffer = [0; _];
            let (from, to) = number::spell(decimals.plain(index).ok_or(NO_VALUE)?, &mut buffer);
            return out.push_range(&buffer, from, to);
        }
        let (from, to) = self.range(index).ok_or(NO_VALUE)?;
        out.push_range(&self.bytes, from, to)
    }
}

/// Where texts begin, where the last one ends, and their bytes.
fn bounds_of(texts: Texts<'_>) -> (Vec<u32>, Cow<'_, [u8]>) {
    let (mut bounds, bytes) = texts.into_parts();
    bounds.insert(0, 0);
    (bounds, bytes)
}
