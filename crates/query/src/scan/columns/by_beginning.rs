//! What functions of strings come to is told by what texts begin with, as far as they look at no more: then a beginning stands for all texts that have it.

use super::mapped::{Mapping, NumberOf, TextOf};

impl Mapping<'_> {
    /// Whether what becomes of texts is told by something of plain ASCII that they begin with.
    pub(super) fn is_told_by(&self, beginning: &[u8]) -> bool {
        match self {
            Mapping::Text(of) => of.is_told_by(beginning),
            Mapping::Number(of) => of.told_by(beginning).is_some(),
        }
    }
}

impl TextOf<'_> {
    /// Whether what comes of texts is told by something of plain ASCII that they begin with, as if it were all of them.
    fn is_told_by(&self, beginning: &[u8]) -> bool {
        match self {
            TextOf::Stored => false,
            TextOf::Constant(_) => true,
            TextOf::Cased(_, of) | TextOf::Replaced { of, .. } | TextOf::Matched { of, .. } => {
                of.is_told_by(beginning)
            }
            TextOf::Part { of, start, length } => {
                let length = length.as_ref().and_then(|length| length.told_by(beginning));
                let (Some(start), Some(length), Some(known)) =
                    (start.told_by(beginning), length, of.known_of(beginning))
                else {
                    return false;
                };
                let end = start.checked_add(length).filter(|_| start >= 0 && length >= 0);
                end.is_some_and(|end| end <= known.len() as i64)
            }
            TextOf::Joined(parts) => parts.iter().all(|part| part.is_told_by(beginning)),
            TextOf::Chosen(_) => false,
        }
    }

    /// What the text that comes of others begins with, by what they begin with; none where there may be none. It is plain ASCII, as constants that functions of
    /// strings are mapped with are: each byte is a character, so that lengths and places are those of characters.
    fn known_of<'t>(&'t self, beginning: &'t [u8]) -> Option<&'t [u8]> {
        match self {
            TextOf::Stored => Some(beginning),
            TextOf::Constant(text) => Some(text),
            TextOf::Part { of, start: NumberOf::Constant(start), length: None } => {
                of.known_of(beginning)?.get(usize::try_from(*start).ok()?..)
            }
            TextOf::Joined(parts) => {
                let mut known = parts.iter().map(|part| part.known_of(beginning));
                let first = known.next()??;
                known.all(|known| known.is_some()).then_some(first)
            }
            TextOf::Cased(_, of) | TextOf::Replaced { of, .. } | TextOf::Matched { of, .. } => {
                of.known_of(beginning).map(|_| &[][..])
            }
            TextOf::Part { .. } | TextOf::Chosen(_) => None,
        }
    }
}

impl NumberOf<'_> {
    /// The number that comes of all texts that begin with something of plain ASCII, where that tells it.
    pub(super) fn told_by(&self, beginning: &[u8]) -> Option<i64> {
        match self {
            NumberOf::Constant(number) => Some(*number),
            NumberOf::IndexOf { text, finder } => i64::try_from(finder.find(text.known_of(beginning)?)?).ok(),
            NumberOf::LastIndexOf { .. } | NumberOf::Length(_) | NumberOf::Chosen(_) => None,
            NumberOf::Sum(of) => of.0.told_by(beginning)?.checked_add(of.1.told_by(beginning)?),
            NumberOf::Difference(of) => of.0.told_by(beginning)?.checked_sub(of.1.told_by(beginning)?),
        }
    }
}
