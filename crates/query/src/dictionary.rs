//! Texts by number: the different values of a column of a block, or one for each of its rows.

use std::sync::OnceLock;

/// JSON texts by number; empty for undefined.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Whether all is ASCII without escapes.
    is_plain: OnceLock<bool>,
}

/// Whether text is ASCII without escapes.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    bytes.is_ascii() && memchr::memchr(b'\\', bytes).is_none()
}

impl Dictionary {
    /// Texts that stand one after another, and where each ends.
    pub(crate) fn new(bytes: Vec<u8>, ends: Vec<u32>) -> Dictionary {
        Dictionary { bytes, ends, is_plain: OnceLock::new() }
    }

    /// These texts and then those of another; none where that takes more bytes than so many.
    pub(crate) fn followed_by(&self, other: &Dictionary, bytes_max: usize) -> Option<Dictionary> {
        if self.bytes.len() + other.bytes.len() > bytes_max {
            return None;
        }
        let behind = self.bytes.len() as u32;
        let ends = self.ends.iter().copied().chain(other.ends.iter().map(|end| behind + end));
        Some(Dictionary::new([&*self.bytes, &*other.bytes].concat(), ends.collect()))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A text; empty where there is none.
    #[inline]
    pub(crate) fn get(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let end = self.ends.get(code).copied().unwrap_or_default();
        let start = code.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Marks the texts in which something is found: the place of its beginning in the bytes that are given.
    pub(crate) fn mark(&self, marks: &mut [bool], find: impl Fn(&[u8]) -> Option<usize>) {
        let (mut from, mut text) = (0, 0);
        while let Some(found) = self.bytes.get(from..).and_then(&find) {
            let at = from + found;
            // The text that it lies in is not far where many have one, and else the search takes longer.
            while self.ends.get(text).is_some_and(|end| *end as usize <= at) {
                text += 1;
            }
            let (Some(mark), Some(end)) = (marks.get_mut(text), self.ends.get(text)) else { return };
            *mark = true;
            from = *end as usize;
        }
    }

    /// Marks the texts that are so.
    pub(crate) fn mark_each(&self, marks: &mut [bool], is_so: impl Fn(&[u8]) -> bool) {
        let mut start = 0;
        for (mark, end) in marks.iter_mut().zip(&self.ends) {
            let end = *end as usize;
            *mark |= self.bytes.get(start..end).is_some_and(&is_so);
            start = end;
        }
    }

    /// Whether all texts are ASCII without escapes.
    pub(crate) fn is_plain(&self) -> bool {
        *self.is_plain.get_or_init(|| is_plain(&self.bytes))
    }

    /// Whether no text has an escape.
    pub(crate) fn is_unescaped(&self) -> bool {
        memchr::memchr(b'\\', &self.bytes).is_none()
    }

    /// How many bytes all texts have.
    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Marks the texts that have an escape, or characters beyond ASCII.
    pub(crate) fn mark_unplain(&self, marks: &mut [bool]) {
        if self.is_plain() {
            return;
        }
        for (text, mark) in marks.iter_mut().enumerate() {
            *mark |= !is_plain(self.get(text as u32));
        }
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}
