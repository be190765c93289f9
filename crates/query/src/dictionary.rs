//! Texts by number: the different values of a column of a block, or one for each of its rows.

/// JSON texts by number; empty for undefined.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Dictionary {
    /// Texts that stand one after another, and where each ends.
    pub(crate) fn new(bytes: Vec<u8>, ends: Vec<u32>) -> Dictionary {
        Dictionary { bytes, ends }
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

    /// All texts, with nothing between.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each text ends.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}
