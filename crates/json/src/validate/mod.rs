//! The trust boundary: strict JSON in, minified and normalised JSON out.
//!
//! Only JSON in strict accordance with RFC 8259, in UTF-8, is accepted. The output has no white space between tokens,
//! and strings are normalised: only the necessary escapes are kept (as [`write_json_string`] writes them),
//! every other escape becomes its character. An unpaired surrogate has no character: it stays an escape, in
//! lower case. The text of numbers, the order of keys and repeated keys stay as they are.
//!
//! [`write_json_string`]: crate::write_json_string

mod error;
mod walk;

use tamias_simd::{Isa, utf8};
use walk::{Minify, PADDING};

pub use error::{Reason, ValidateError};

/// The size limits of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum length of the input in bytes; default 16 MiB.
    pub bytes_max: usize,
    /// The maximum nesting depth of arrays and objects, including the root; default 1000. The scanner accepts at most
    /// [`DEPTH_MAX`](crate::DEPTH_MAX).
    pub depth_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes_max: 16 << 20, depth_max: 1000 }
    }
}

/// Checks a document whose root must be an object, and appends its minified and normalised form to `out`.
///
/// Takes linear time, whatever the input, and at most as many bytes of output as of input.
///
/// ```
/// use tamias_json::validate::{Limits, minify_object};
/// let mut out = Vec::new();
/// minify_object(br#" { "a\/b" : [ 1.0, "\u00e9\u000A" ] } "#, &Limits::default(), &mut out)?;
/// assert_eq!(out, r#"{"a/b":[1.0,"é\n"]}"#.as_bytes());
///
/// let error = minify_object(br#"{"a":01}"#, &Limits::default(), &mut out).unwrap_err();
/// assert_eq!(error.to_string(), "a number must not begin with a superfluous zero at byte 6");
/// # Ok::<(), tamias_json::validate::ValidateError>(())
/// ```
///
/// # Errors
/// What is wrong, and its byte offset; `out` is then unchanged.
pub fn minify_object(input: &[u8], limits: &Limits, out: &mut Vec<u8>) -> Result<(), ValidateError> {
    minify(Isa::best(), input, limits, true, out)
}

/// As [`minify_object`], for any value at the root.
///
/// # Errors
/// What is wrong, and its byte offset; `out` is then unchanged.
pub fn minify_value(input: &[u8], limits: &Limits, out: &mut Vec<u8>) -> Result<(), ValidateError> {
    minify_value_with(input, limits, Isa::best(), out)
}

/// [`minify_value`] by a given kernel.
///
/// # Errors
/// What is wrong, and its byte offset; `out` is then unchanged.
pub fn minify_value_with(
    input: &[u8],
    limits: &Limits,
    isa: Isa,
    out: &mut Vec<u8>,
) -> Result<(), ValidateError> {
    minify(isa, input, limits, false, out)
}

fn minify(
    isa: Isa,
    input: &[u8],
    limits: &Limits,
    object: bool,
    out: &mut Vec<u8>,
) -> Result<(), ValidateError> {
    if input.len() > limits.bytes_max {
        return Err(ValidateError {
            offset: limits.bytes_max,
            reason: Reason::TooLong { bytes_max: limits.bytes_max },
        });
    }
    if let Some(offset) = utf8::first_fault(input) {
        return Err(ValidateError { offset, reason: Reason::NotUtf8 });
    }
    let before = out.len();
    out.reserve(input.len() + PADDING);
    out.extend_from_slice(input);
    out.resize(out.len() + PADDING, 0);
    let task =
        Minify { buffer: &mut out[before..], length: input.len(), depth_max: limits.depth_max, object };
    let result = isa.run(task);
    out.truncate(before + *result.as_ref().unwrap_or(&0));
    result.map(|_| ())
}

#[cfg(test)]
mod tests;
