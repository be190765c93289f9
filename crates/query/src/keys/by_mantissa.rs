//! Keys that are numbers of one scale, told apart by their mantissas: no text is made of them, and they take a quarter of the memory.

use crate::chunk::{Digits, Mantissas};
use crate::key_table::{Found, Spelling, Words};

/// Numbers of one scale, spelled alike, each with the number of how many came before it.
#[derive(Default)]
pub(super) struct MantissaKeys {
    words: Words,
    like: Like,
}

/// How numbers are spelled.
#[derive(Clone, Copy, Default, PartialEq)]
struct Like {
    scale: u8,
    is_shortest: bool,
}

impl Like {
    fn of(numbers: &Mantissas) -> Option<Like> {
        let is_shortest = match numbers.spelled {
            Digits::InFull => false,
            Digits::Shortest => true,
            Digits::Each(_) => return None,
        };
        numbers.rows.is_none().then_some(Like { scale: numbers.scale, is_shortest })
    }
}

impl MantissaKeys {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether numbers are spelled as these are, one a row.
    pub(super) fn takes(&self, numbers: &Mantissas) -> bool {
        Like::of(numbers).is_some_and(|like| self.is_like(like))
    }

    fn is_like(&self, like: Like) -> bool {
        self.len() == 0 || self.like == like
    }

    /// Finds numbers that it [takes](Self::takes).
    pub(super) fn find_all(&mut self, numbers: &Mantissas, each: impl FnMut(Found)) {
        self.like = Like::of(numbers).unwrap_or(self.like);
        self.words.find_all(numbers.values.iter().map(|value| value.cast_unsigned()), each);
    }

    /// Finds a whole number; none where these are spelled otherwise.
    pub(super) fn find_whole(&mut self, whole: i64) -> Option<Found> {
        if !self.is_like(Like::default()) {
            return None;
        }
        self.like = Like::default();
        Some(self.words.find(whole.cast_unsigned()))
    }

    /// Finds a number of others; none where these are spelled otherwise, or it is not there.
    pub(super) fn find_of(&mut self, other: &MantissaKeys, there: u32) -> Option<Found> {
        let word = other.words.get(there).filter(|_| self.is_like(other.like))?;
        self.like = other.like;
        Some(self.words.find(word))
    }

    /// Takes in numbers that are none of these, behind them: false, and nothing done, where they are spelled otherwise. Keys are not found any more.
    pub(super) fn append(&mut self, other: &mut MantissaKeys) -> bool {
        let is_alike = other.len() == 0 || self.is_like(other.like);
        if is_alike && other.len() > 0 {
            self.like = other.like;
            self.words.append(&std::mem::take(&mut other.words));
        }
        is_alike
    }

    /// A number as it is spelled.
    #[inline]
    pub(super) fn spelling(&self, number: u32) -> Option<Spelling<'static>> {
        self.words.get(number).map(|word| self.spelled(word))
    }

    /// All of them in their order.
    pub(super) fn spellings(&self) -> impl Iterator<Item = Spelling<'static>> {
        self.words.iter().map(|word| self.spelled(word))
    }

    fn spelled(&self, word: u64) -> Spelling<'static> {
        let Like { scale, is_shortest } = self.like;
        Spelling::of_number(word.cast_signed(), scale, is_shortest)
    }

    /// Forgets how numbers are found.
    pub(super) fn close(&mut self) {
        self.words.close();
    }

    /// What they hold once they are closed, in bytes.
    pub(super) fn closed_bytes(&self) -> usize {
        self.words.closed_bytes()
    }

    /// What they have held in memory at most, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.words.bytes()
    }
}
