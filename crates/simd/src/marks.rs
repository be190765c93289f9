//! What a vector of JSON text holds, as bit sets.

/// The bytes of a vector that may have a meaning; bit `n` speaks of byte `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// `"`, escaped or not.
    pub quotes: u64,
    /// `\`.
    pub backslashes: u64,
    /// `:`, inside strings too.
    pub colons: u64,
    /// `,` `{` `}` `[` `]`, inside strings too.
    pub delimiters: u64,
    /// `{` `}` `[` `]`, inside strings too.
    pub brackets: u64,
}

impl Masks {
    /// Forgets the first `count` bytes, less than 64, so that bit 0 speaks of byte `count`.
    #[inline(always)]
    pub(crate) fn skip(self, count: u32) -> Masks {
        Masks {
            quotes: self.quotes >> count,
            backslashes: self.backslashes >> count,
            colons: self.colons >> count,
            delimiters: self.delimiters >> count,
            brackets: self.brackets >> count,
        }
    }
}

/// What a vector holds outside strings; bit `n` speaks of byte `n`.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Offset of the vector's first byte in the document.
    pub base: u32,
    /// `:` `,` `{` `}` `[` `]`.
    pub structural: u64,
    /// The same without `:`.
    pub delimiters: u64,
    /// `{` `}` `[` `]`, inside strings too.
    pub brackets: u64,
}
