//! Parts of plain texts, whose bytes are characters: where one begins and how long it is comes of the bytes alone.

use crate::dictionary::is_plain;
use memchr::memmem::{Finder, FinderRev};

/// `Substring` of a text as it is stored.
pub(super) struct Cut<'m> {
    pub(super) start: Place<'m>,
    pub(super) length: Option<Place<'m>>,
}

/// A whole number that comes of a plain text, which always tells one.
pub(super) enum Place<'m> {
    Constant(i64),
    /// Where a byte is found first, and what is added to that.
    Byte(u8, i64),
    Text(&'m Finder<'m>),
    LastText(&'m FinderRev<'m>),
    Length,
    Sum(Box<(Place<'m>, Place<'m>)>),
    Difference(Box<(Place<'m>, Place<'m>)>),
}

/// Constants are no larger: sums of as many as an expression may have are far from the limits of 64 bits then.
const CONSTANT_MAX: u64 = 1 << 32;

/// Most separators stand among so many of the first bytes, where a search has hardly begun.
const BEGINNING: usize = 16;

impl Cut<'_> {
    /// The part of a plain text without quotes; none for undefined.
    #[inline]
    pub(super) fn part<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let behind = text.get(usize::try_from(self.start.of_text(text)).ok()?..)?;
        match &self.length {
            None => Some(behind),
            Some(length) => {
                let length = usize::try_from(length.of_text(text)).ok()?;
                Some(behind.get(..length).unwrap_or(behind))
            }
        }
    }
}

impl Cut<'_> {
    /// The part of any text that begins as a plain one does, where no more than its beginning is looked at; none where that is not so.
    #[inline]
    pub(super) fn part_of_beginning<'t>(&self, text: &'t [u8]) -> Option<Option<&'t [u8]>> {
        let (Place::Constant(start), Some(length)) = (&self.start, &self.length) else { return None };
        let looked_at = match length {
            Place::Constant(length) => start + length,
            Place::Byte(byte, added) => {
                let at = find_byte(*byte, text)? as i64;
                (at + 1).max(start + at + added)
            }
            _ => return None,
        };
        let beginning = text.get(..usize::try_from(looked_at).ok()?).unwrap_or(text);
        is_plain(beginning).then(|| self.part(text))
    }
}

impl<'m> Place<'m> {
    pub(super) fn constant(number: i64) -> Option<Place<'m>> {
        (number.unsigned_abs() <= CONSTANT_MAX).then_some(Place::Constant(number))
    }

    /// Where a text is found first.
    pub(super) fn of_first(finder: &'m Finder<'_>) -> Place<'m> {
        match finder.needle() {
            [byte] => Place::Byte(*byte, 0),
            _ => Place::Text(finder),
        }
    }

    pub(super) fn sum(self, other: Place<'m>) -> Place<'m> {
        match (self, other) {
            (Place::Byte(byte, added), Place::Constant(more))
            | (Place::Constant(more), Place::Byte(byte, added)) => Place::Byte(byte, added + more),
            both => Place::Sum(Box::new(both)),
        }
    }

    pub(super) fn difference(self, other: Place<'m>) -> Place<'m> {
        match (self, other) {
            (Place::Byte(byte, added), Place::Constant(less)) => Place::Byte(byte, added - less),
            both => Place::Difference(Box::new(both)),
        }
    }

    #[inline]
    fn of_text(&self, text: &[u8]) -> i64 {
        match self {
            Place::Constant(number) => *number,
            Place::Byte(byte, added) => place(find_byte(*byte, text)) + added,
            Place::Text(finder) => place(finder.find(text)),
            Place::LastText(finder) => place(finder.rfind(text)),
            Place::Length => text.len() as i64,
            Place::Sum(of) => of.0.of_text(text) + of.1.of_text(text),
            Place::Difference(of) => of.0.of_text(text) - of.1.of_text(text),
        }
    }
}

/// A place as functions tell it.
#[inline]
fn place(at: Option<usize>) -> i64 {
    at.map_or(-1, |at| at as i64)
}

#[inline]
fn find_byte(byte: u8, text: &[u8]) -> Option<usize> {
    let (beginning, rest) = text.split_at(text.len().min(BEGINNING));
    let at = beginning.iter().position(|own| *own == byte);
    at.or_else(|| memchr::memchr(byte, rest).map(|at| BEGINNING + at))
}
