//! Texts one after another in one buffer, as columns are collected.
//!
//! Values are copied out of their documents once, while those are in the processor's cache. All that follows goes over one column at
//! a time, whose bytes then stand together, and the buffers serve the next group again.

use std::ops::Range;

/// Texts in order. Together they have less than 4 GiB.
#[derive(Clone, Debug)]
pub(crate) struct TextList {
    bytes: Vec<u8>,
    /// Where each text begins, and where the last one ends.
    bounds: Vec<u32>,
}

/// Texts up to these sizes are copied by instructions of a fixed length, of which the bytes too many are taken off again.
const SHORT: usize = 32;
const MIDDLE: usize = 64;

impl Default for TextList {
    fn default() -> TextList {
        TextList { bytes: Vec::new(), bounds: vec![0] }
    }
}

impl TextList {
    /// An empty list with room for so many texts of so many bytes together.
    pub(crate) fn with_room(texts: usize, bytes: usize) -> TextList {
        let mut bounds = Vec::with_capacity(texts + 1);
        bounds.push(0);
        TextList { bytes: Vec::with_capacity(bytes + MIDDLE), bounds }
    }

    /// Forgets all texts, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bounds.truncate(1);
    }

    /// How much memory it holds on to.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.bounds.capacity()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// All of them, one after another with nothing between.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends a text.
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.push_range(text, 0, text.len());
    }

    /// Appends the bytes of `source` from `from` on up to `to`: quicker than a slice of it where they are few, and others follow.
    #[inline(always)]
    pub(crate) fn push_range(&mut self, source: &[u8], from: usize, to: usize) {
        let length = to.wrapping_sub(from);
        // A text that ends before it begins is none.
        let end = self.bytes.len().wrapping_add(length);
        if length <= SHORT
            && let Some(block) = source.get(from..).and_then(|rest| rest.first_chunk::<SHORT>())
        {
            self.bytes.extend_from_slice(block);
            self.bytes.truncate(end);
        } else if length <= MIDDLE
            && let Some(block) = source.get(from..).and_then(|rest| rest.first_chunk::<MIDDLE>())
        {
            self.bytes.extend_from_slice(block);
            self.bytes.truncate(end);
        } else {
            self.bytes.extend_from_slice(source.get(from..to).unwrap_or_default());
        }
        self.bounds.push(self.bytes.len() as u32);
    }

    /// A text by its index.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.range(index)?)
    }

    /// Where a text stands among all bytes.
    #[inline(always)]
    pub(crate) fn range(&self, index: usize) -> Option<Range<usize>> {
        let [from, to, ..] = self.bounds.get(index..)? else { return None };
        Some(*from as usize..*to as usize)
    }

    /// The texts in order.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bounds
            .windows(2)
            .map(|pair| self.bytes.get(pair[0] as usize..pair[1] as usize).unwrap_or_default())
    }

    /// The length of each text.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.bounds.windows(2).map(|pair| (pair[1] - pair[0]) as usize)
    }

    /// The length that all texts have; nothing where they differ, or there is none.
    pub(crate) fn length(&self) -> Option<usize> {
        let mut lengths = self.lengths();
        let first = lengths.next()?;
        lengths.all(|length| length == first).then_some(first)
    }
}

/// Whether two texts are equal. Most are short, and compared by two loads of each that may overlap, without a call.
#[inline(always)]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    #[inline(always)]
    fn ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
        a.first_chunk::<N>() == b.first_chunk::<N>() && a.last_chunk::<N>() == b.last_chunk::<N>()
    }
    a.len() == b.len()
        && match a.len() {
            0 => true,
            1 => a.first() == b.first(),
            2..=3 => ends::<2>(a, b),
            4..=7 => ends::<4>(a, b),
            8..=15 => ends::<8>(a, b),
            16..=32 => ends::<16>(a, b),
            // Most that differ do so at their ends.
            _ => ends::<16>(a, b) && a == b,
        }
}

/// Whether a text begins with another one.
#[inline(always)]
pub(crate) fn begins_with(text: &[u8], other: &[u8]) -> bool {
    text.get(..other.len()).is_some_and(|beginning| same(beginning, other))
}

impl<'t> FromIterator<&'t [u8]> for TextList {
    fn from_iter<I: IntoIterator<Item = &'t [u8]>>(texts: I) -> TextList {
        let mut list = TextList::default();
        texts.into_iter().for_each(|text| list.push(text));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_are_compared_as_slices_are(text in prop::collection::vec(0..3u8, 0..70), changed in any::<prop::sample::Index>(), length in 0..70usize) {
            let mut other = text.clone();
            prop_assert!(same(&text, &other));
            prop_assert_eq!(begins_with(&text, &other[..length.min(text.len())]), true);
            if !other.is_empty() {
                other[changed.index(text.len())] ^= 4;
                prop_assert!(!same(&text, &other));
            }
            other.truncate(length);
            prop_assert_eq!(same(&text, &other), text == other);
            prop_assert_eq!(begins_with(&text, &other), text.starts_with(&other));
        }

        #[test]
        fn texts_of_all_lengths_come_back(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..30)) {
            let whole = texts.concat();
            let mut list = TextList::default();
            list.push(b"of the group before");
            list.clear();
            let mut from = 0;
            for text in &texts {
                list.push_range(&whole, from, from + text.len());
                from += text.len();
            }
            prop_assert_eq!(list.len(), texts.len());
            prop_assert!(list.iter().eq(texts.iter().map(Vec::as_slice)));
            prop_assert!((0..texts.len()).all(|index| list.get(index) == Some(&texts[index])));
            prop_assert_eq!(list.get(texts.len()), None);
            prop_assert_eq!(list.bytes(), &whole);
            let same = texts.first().map(Vec::len).filter(|first| texts.iter().all(|text| text.len() == *first));
            prop_assert_eq!(list.length(), same);
        }
    }
}
