//! What lies inside strings, from vector to vector: written once, above the kernels.

use tamias_simd::{Marks, Masks, Vector};

/// What one vector leaves to the next.
#[derive(Clone, Copy, Default)]
pub(crate) struct Carry {
    /// All bits set inside a string.
    in_string: u64,
    /// 1 if the next vector's first byte is escaped.
    escaped: u64,
}

impl Carry {
    /// Whether the next vector begins inside a string.
    #[inline(always)]
    pub(crate) fn is_in_string(self) -> bool {
        self.in_string != 0
    }

    /// The quotes, brackets and delimiters that count. A backslash escapes the next byte wherever it stands.
    #[inline(always)]
    pub(crate) fn marks<V: Vector>(&mut self, vector: V, masks: Masks, base: u32) -> Marks {
        let quotes = masks.quotes & !self.escapes(masks.backslashes);
        let in_string = vector.prefix_xor(quotes) ^ self.in_string;
        self.in_string = ((in_string as i64) >> 63) as u64;
        let structural = (masks.delimiters | masks.colons) & !in_string;
        Marks { base, structural, delimiters: masks.delimiters & structural, brackets: masks.brackets }
    }

    /// The bytes that a backslash escapes. In a run of backslashes every second one is itself escaped: adding the
    /// starts of runs to them tells odd ends from even ones without a branch (as simdjson does).
    #[inline(always)]
    pub(crate) fn escapes(&mut self, backslashes: u64) -> u64 {
        // Most vectors of most documents have none.
        if backslashes | self.escaped == 0 {
            return 0;
        }
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let starts = backslashes & !self.escaped;
        let codes = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
        let escaped = codes ^ (backslashes | self.escaped);
        self.escaped = (codes & backslashes) >> 63;
        escaped
    }
}
