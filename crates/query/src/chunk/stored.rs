//! Numbers that are stored as texts.

use super::cell::value_of;
use crate::dictionary::Dictionary;
use crate::value::Value;
use std::sync::Arc;

/// Numbers that are stored as texts, each as its significand and a scale of its own, without zeros at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredNumbers {
    pub(crate) significands: Vec<i64>,
    pub(crate) scales: Vec<u8>,
    /// For each of them the entry that spells it.
    pub(crate) codes: Vec<u32>,
    pub(crate) dictionary: Arc<Dictionary>,
}

impl StoredNumbers {
    /// Each of them, with its scale.
    pub(crate) fn each(&self) -> impl Iterator<Item = (i64, u32)> {
        self.significands
            .iter()
            .zip(&self.scales)
            .map(|(significand, scale)| (*significand, u32::from(*scale)))
    }

    /// The number at a place, with its scale.
    pub(crate) fn number(&self, place: usize) -> Option<(i64, u32)> {
        Some((*self.significands.get(place)?, (*self.scales.get(place)?).into()))
    }

    /// The JSON text of the number at a place.
    fn json(&self, place: usize) -> &[u8] {
        self.codes.get(place).map_or(&[], |code| self.dictionary.get(*code))
    }

    /// The number at a place, as it is spelled.
    pub(crate) fn value(&self, place: usize) -> Value<'_> {
        value_of(self.json(place))
    }

    /// Whether the number at a place is spelled with its significand and scale, and no more.
    pub(crate) fn is_plain(&self, place: usize) -> bool {
        let json = self.json(place);
        let has_exponent = memchr::memchr2(b'e', b'E', json).is_some();
        let ends_in_zero = json.last() == Some(&b'0') && memchr::memchr(b'.', json).is_some();
        !has_exponent && !ends_in_zero && json != b"-0"
    }
}
