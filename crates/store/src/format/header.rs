//! The header that every numbered file begins with.

use super::fields::{Fields, HEADER_BYTES, VERSION, Writer, checksum};
use super::names::FileKind;

/// What a file says of itself at its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What the file is.
    pub kind: FileKind,
    /// The version of the format that it is in.
    pub version: u32,
    /// The store's own random identity.
    pub store: u128,
    /// The file's number, which its name shows too.
    pub number: u64,
}

/// Why a header was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    /// Cut short, or its magic or checksum is wrong.
    Damaged,
    /// Whole, but of a version that this library does not know.
    Version(u32),
    /// Whole, but of another file: another number, another store.
    Foreign,
}

impl Header {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let mut at = Writer { out: &mut out, at: 0 };
        at.put(&self.kind.magic());
        at.put(&self.version.to_le_bytes());
        at.put(&0u32.to_le_bytes());
        at.put(&self.store.to_le_bytes());
        at.put(&self.number.to_le_bytes());
        at.put(&0u32.to_le_bytes());
        let [fixed @ .., _, _, _, _] = &out;
        let sum = checksum(0, &[fixed]);
        if let Some(last) = out.last_chunk_mut::<4>() {
            *last = sum.to_le_bytes();
        }
        out
    }

    /// The seed of every other checksum in this file.
    pub fn seed(&self) -> u32 {
        let bytes = self.encode();
        bytes.last_chunk::<4>().map_or(0, |sum| u32::from_le_bytes(*sum))
    }

    /// Reads a header of a file that should be of this kind.
    pub fn decode(kind: FileKind, bytes: &[u8]) -> Result<Header, HeaderFault> {
        let bytes = bytes.first_chunk::<HEADER_BYTES>().ok_or(HeaderFault::Damaged)?;
        let [fixed @ .., a, b, c, d] = bytes;
        let mut at = Fields(fixed);
        let magic: [u8; 8] = at.take().ok_or(HeaderFault::Damaged)?;
        let version = at.u32().ok_or(HeaderFault::Damaged)?;
        if magic != kind.magic() || checksum(0, &[fixed]) != u32::from_le_bytes([*a, *b, *c, *d]) {
            return Err(HeaderFault::Damaged);
        }
        if version == 0 || version > VERSION {
            return Err(HeaderFault::Version(version));
        }
        let mut decode = || {
            let reserved = at.u32()?;
            let store = u128::from_le_bytes(at.take()?);
            let number = at.u64()?;
            (reserved == 0 && at.u32()? == 0).then_some(Header { kind, version, store, number })
        };
        decode().ok_or(HeaderFault::Damaged)
    }

    /// Reads a header that must be equal to this one.
    pub fn expect(&self, bytes: &[u8]) -> Result<(), HeaderFault> {
        let found = Header::decode(self.kind, bytes)?;
        if found == *self { Ok(()) } else { Err(HeaderFault::Foreign) }
    }
}
