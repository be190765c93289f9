//! Text that is known to be UTF-8, without being checked twice.
#![expect(unsafe_code, reason = "text that has just been checked")]

use std::str::Utf8Error;

/// The bytes as text, if they are UTF-8. Takes time linear in their length.
///
/// ```
/// assert_eq!(tamias_simd::utf8::text("é".as_bytes()), Some("é"));
/// assert_eq!(tamias_simd::utf8::text(b"\xff"), None);
/// ```
#[inline]
pub fn text(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// The same of bytes that are owned, which come back where they are none.
///
/// # Errors
/// The bytes, if they are not UTF-8.
pub fn into_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    match simdutf8::basic::from_utf8(&bytes) {
        // SAFETY: that has just been found. The check that `String` has is several times slower.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(bytes) }),
        Err(_) => Err(bytes),
    }
}

/// The bytes as text, if they are ASCII: few bytes are quicker found to be that than to be UTF-8.
///
/// ```
/// assert_eq!(tamias_simd::utf8::ascii(b"-1.5e3"), Some("-1.5e3"));
/// assert_eq!(tamias_simd::utf8::ascii("é".as_bytes()), None);
/// ```
#[inline]
pub fn ascii(bytes: &[u8]) -> Option<&str> {
    // SAFETY: ASCII is UTF-8.
    bytes.is_ascii().then(|| unsafe { str::from_utf8_unchecked(bytes) })
}

/// Where bytes stop being UTF-8: the offset of the first one that cannot be; none if all are UTF-8.
pub fn first_fault(bytes: &[u8]) -> Option<usize> {
    if text(bytes).is_some() {
        return None;
    }
    str::from_utf8(bytes).err().map(|error: Utf8Error| error.valid_up_to())
}
