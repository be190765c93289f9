//! The text of a key as it is spelled.

use super::packed::{Packed, SPELLED_MAX, pack_number, unpack};
use crate::chunk::value_of;
use crate::value::Value;
use std::ops::Deref;

/// JSON text that a table keeps, or puts together of what it keeps.
#[derive(Clone, Copy)]
pub(crate) enum Spelling<'t> {
    Text(&'t [u8]),
    Packed { bytes: [u8; SPELLED_MAX], len: u8 },
}

impl Spelling<'_> {
    #[inline]
    pub(super) fn of(packed: Packed, zeros: u8) -> Spelling<'static> {
        let (bytes, len) = unpack(packed, zeros);
        Spelling::Packed { bytes, len }
    }

    /// A number with so many digits behind the point, or as few of them as it takes.
    pub(crate) fn of_number(mantissa: i64, scale: u8, is_shortest: bool) -> Spelling<'static> {
        let (packed, zeros) = pack_number((mantissa, scale.into()));
        Spelling::of(packed, if is_shortest { 0 } else { zeros })
    }
}

impl<'t> Spelling<'t> {
    /// Whether the value is written as it is spelled. Of an object the keys that come twice are not, and what is no character is the replacement character.
    #[inline]
    pub(crate) fn is_shown_as_it_is(&self) -> bool {
        let is_backslash = |any: bool, byte: &u8| any | (*byte == b'\\');
        match (self.first(), self) {
            (Some(b'{' | b'['), _) => false,
            // As many bytes each time, so that they are looked at together.
            (Some(b'"'), Spelling::Packed { bytes, .. }) => !bytes.iter().fold(false, is_backslash),
            (Some(b'"'), Spelling::Text(text)) => memchr::memchr(b'\\', text).is_none(),
            _ => true,
        }
    }

    /// The value, as one that is computed with: what is no character is the replacement character.
    pub(crate) fn value(self) -> Value<'t> {
        match self {
            Spelling::Text(json) => {
                let value = value_of(json);
                let is_escaped = memchr::memchr(b'\\', json).is_some();
                if is_escaped { value.into_static() } else { value }
            }
            Spelling::Packed { .. } => value_of(&self).into_static(),
        }
    }
}

impl Deref for Spelling<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Spelling::Text(json) => json,
            Spelling::Packed { bytes, len } => bytes.get(..usize::from(*len)).unwrap_or_default(),
        }
    }
}
