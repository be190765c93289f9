//! What small files beside the store's own are wrapped in: requests and replies, receipts, how far scrubbing has come.

use super::fields::{Fields, checksum};

/// Magic, version, the store's identity, the body, and the plain checksum of all that.
pub(crate) fn envelope(magic: [u8; 8], version: u32, store: u128, body: &[u8]) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend_from_slice(&u64::from(version).to_le_bytes());
    bytes.extend_from_slice(&store.to_le_bytes());
    bytes.extend_from_slice(body);
    let sum = checksum(0, &[&bytes]);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// The version, the store and the body; nothing where the bytes are no file of this magic, or damaged.
pub(crate) fn open_envelope(magic: [u8; 8], bytes: &[u8]) -> Option<(u32, u128, &[u8])> {
    let (all, sum) = bytes.split_last_chunk::<4>()?;
    if checksum(0, &[all]) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut at = Fields(all);
    let found: [u8; 8] = at.take()?;
    let version = u32::try_from(at.u64()?).ok()?;
    let store = u128::from_le_bytes(at.take()?);
    (found == magic).then_some((version, store, at.0))
}
