//! Values met before, found by their spelling: most events repeat one.

use tamias_json::number::few_digits_at;

/// How a stored value is spelled. Values that are spelled alike are equal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spelling<'d> {
    /// A whole number, from 0 to 65,535.
    Whole(u16),
    Other(&'d [u8]),
}

impl<'d> Spelling<'d> {
    /// That of the value from `start` up to `end`.
    #[inline]
    pub(super) fn at(bytes: &'d [u8], start: usize, end: usize) -> Spelling<'d> {
        let text = bytes.get(start..end).unwrap_or_default();
        if text.first().is_some_and(u8::is_ascii_digit)
            && let Some((number, 0)) = few_digits_at(bytes, start, end)
            && let Ok(number) = u16::try_from(number)
        {
            return Spelling::Whole(number);
        }
        Spelling::Other(text)
    }
}

/// Numbers that were given to values. It forgets some: a bounded number of spellings is kept.
#[derive(Default)]
pub(super) struct Spellings {
    /// Of each whole number one more than what it was given; 0 if it was given none.
    wholes: Vec<u32>,
    /// A place is taken over by who comes last.
    others: Vec<(Box<[u8]>, u32)>,
}

/// A power of two.
const PLACES: usize = 256;
const SPELLING_BYTES_MAX: usize = 64;

impl Spellings {
    #[inline]
    pub(super) fn get(&self, spelling: Spelling<'_>) -> Option<usize> {
        let number = match spelling {
            Spelling::Whole(number) => *self.wholes.get(usize::from(number))?,
            Spelling::Other(text) => {
                let (known, number) = self.others.get(place(text))?;
                if **known != *text {
                    return None;
                }
                *number
            }
        };
        number.checked_sub(1).map(|number| number as usize)
    }

    pub(super) fn put(&mut self, spelling: Spelling<'_>, number: usize) {
        let Ok(number) = u32::try_from(number + 1) else { return };
        match spelling {
            Spelling::Whole(whole) => {
                let whole = usize::from(whole);
                if whole >= self.wholes.len() {
                    self.wholes.resize(whole + 1, 0);
                }
                if let Some(known) = self.wholes.get_mut(whole) {
                    *known = number;
                }
            }
            Spelling::Other(text) if text.len() > SPELLING_BYTES_MAX => {}
            Spelling::Other(text) => {
                self.others.resize_with(PLACES, Default::default);
                if let Some(known) = self.others.get_mut(place(text)) {
                    *known = (text.into(), number);
                }
            }
        }
    }
}

/// From the length and the bytes at both ends: what values of a log differ in.
#[inline]
fn place(spelling: &[u8]) -> usize {
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let ends = match spelling.len() {
        0..8 => spelling.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        _ => word(spelling.first_chunk()) ^ word(spelling.last_chunk()).rotate_left(29),
    };
    let mixed = (ends ^ spelling.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(text: &str) -> Spelling<'_> {
        Spelling::at(text.as_bytes(), 0, text.len())
    }

    #[test]
    fn a_spelling_is_found_again_and_no_other() {
        let mut spellings = Spellings::default();
        let values = [
            "0",
            "7",
            "65535",
            "65536",
            "-1",
            "1.5",
            "1e2",
            "\"\"",
            "\"7\"",
            "\"a\"",
            "\"b\"",
            "null",
            "true",
            "false",
            "123456789012345678901",
        ];
        for (number, text) in values.iter().enumerate() {
            assert_eq!(spellings.get(spelling(text)), None, "{text}");
            spellings.put(spelling(text), number);
            assert_eq!(spellings.get(spelling(text)), Some(number), "{text}");
        }
        for (number, text) in values.iter().enumerate() {
            assert!([None, Some(number)].contains(&spellings.get(spelling(text))), "{text}");
        }
    }

    #[test]
    fn many_and_long_spellings_take_no_more_room() {
        let mut spellings = Spellings::default();
        let long = "\"".repeat(SPELLING_BYTES_MAX + 1);
        spellings.put(spelling(&long), 1);
        assert_eq!(spellings.get(spelling(&long)), None);
        for number in 0..100_000 {
            let text = format!("\"{number}\"");
            spellings.put(spelling(&text), number);
            assert_eq!(spellings.get(spelling(&text)), Some(number));
            spellings.put(spelling(&number.to_string()), number);
        }
        assert_eq!((spellings.others.len(), spellings.wholes.len()), (PLACES, 65_536));
    }
}
