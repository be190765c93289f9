//! The decompressor of a thread.

use std::cell::Cell;

use zstd::zstd_safe::DCtx;

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
