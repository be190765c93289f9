//! What came of looking a key up.

/// The number of a key's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Known(u32),
    /// It was not there before, and is now.
    New(u32),
}

impl Found {
    pub(crate) fn number(self) -> u32 {
        match self {
            Found::Known(number) | Found::New(number) => number,
        }
    }
}
