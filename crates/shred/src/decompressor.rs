//! The decompressor of a thread.

use std::cell::Cell;

use zstd::zstd_safe::{DCtx, find_frame_compressed_size};

use crate::error::{DecodeError, malformed};

thread_local! {
    /// Kept, since making one takes as long as decompressing some kilobytes, and a block seldom has more to decompress.
    static KEPT: Cell<Option<DCtx<'static>>> = const { Cell::new(None) };
}

/// Decompresses `bytes` behind what they refer to, and puts into `out` what was before, which had `length` bytes.
pub(crate) fn decompress(
    bytes: &[u8],
    dictionary: &[u8],
    length: usize,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    // A second frame, which may be skipped, could hold anything.
    if find_frame_compressed_size(bytes) != Ok(bytes.len()) {
        return Err(malformed("bytes behind what is compressed"));
    }
    let kept = KEPT.try_with(Cell::take).ok().flatten();
    let mut decompressor = kept.or_else(DCtx::try_create).ok_or(malformed("no memory to decompress with"))?;
    out.clear();
    out.reserve_exact(length);
    let done = decompressor.decompress_using_dict(out, bytes, dictionary);
    // A thread that ends has nowhere to keep it.
    let _ = KEPT.try_with(|kept| kept.set(Some(decompressor)));
    if done.ok() != Some(length) || out.len() != length {
        return Err(malformed("what does not decompress to as many bytes as it had"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// zstd passes over such a frame, so its bytes were never looked at, not even for a receipt of an erasure.
    #[test]
    fn behind_what_is_compressed_there_is_nothing() {
        let text = b"bob paid, bob paid, bob paid, bob paid";
        let mut bytes = zstd::bulk::compress(text, 1).unwrap();
        let mut out = Vec::new();
        decompress(&bytes, &[], text.len(), &mut out).unwrap();
        assert_eq!(out, text);
        bytes.extend_from_slice(b"\x50\x2a\x4d\x18\x03\x00\x00\x00eve");
        assert!(decompress(&bytes, &[], text.len(), &mut out).is_err());
    }
}
