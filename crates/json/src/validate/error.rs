//! Why a document was rejected, and where.

use std::fmt;

/// Why a document was rejected, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidateError {
    /// The byte offset in the input, from 0, of the first invalid byte; the input's length if something is
    /// missing at its end.
    pub offset: usize,
    /// What is wrong there.
    pub reason: Reason,
}

/// What is wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// More bytes than [`Limits::bytes_max`](super::Limits::bytes_max).
    TooLong {
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// Arrays and objects are nested deeper than [`Limits::depth_max`](super::Limits::depth_max).
    TooDeep {
        /// The limit, including the root.
        depth_max: usize,
    },
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The text ends too early.
    UnexpectedEnd,
    /// The root is not an object, but must be one.
    ExpectedObject,
    /// No value begins here.
    ExpectedValue,
    /// An object's key, a string, is missing here.
    ExpectedKey,
    /// A colon is missing here.
    ExpectedColon,
    /// A comma or the closing brace of an object is missing here.
    ExpectedCommaOrBrace,
    /// A comma or the closing bracket of an array is missing here.
    ExpectedCommaOrBracket,
    /// There are bytes after the end of the document.
    TrailingBytes,
    /// A string has an unescaped control character.
    ControlCharacter,
    /// A backslash does not begin a valid JSON escape.
    InvalidEscape,
    /// A number lacks a digit here.
    ExpectedDigit,
    /// A number begins with a superfluous zero.
    LeadingZero,
    /// A number's exponent is outside ±10^9.
    ExponentTooLarge,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::TooLong { bytes_max } => {
                return write!(f, "the document is longer than the limit of {bytes_max} bytes");
            }
            Reason::TooDeep { depth_max } => {
                return write!(f, "arrays and objects are nested more deeply than the limit of {depth_max}");
            }
            Reason::NotUtf8 => "the bytes are not UTF-8",
            Reason::UnexpectedEnd => "the document ends too early",
            Reason::ExpectedObject => "expected an object: `{`",
            Reason::ExpectedValue => "expected a value",
            Reason::ExpectedKey => "expected a key: a string in double quotes",
            Reason::ExpectedColon => "expected `:`",
            Reason::ExpectedCommaOrBrace => "expected `,` or `}`",
            Reason::ExpectedCommaOrBracket => "expected `,` or `]`",
            Reason::TrailingBytes => "unexpected text after the end of the document",
            Reason::ControlCharacter => "a control character in a string must be escaped",
            Reason::InvalidEscape => {
                "no valid escape: expected one of `\"\\/bfnrt`, or `u` and four hexadecimal digits"
            }
            Reason::ExpectedDigit => "expected a digit",
            Reason::LeadingZero => "a number must not begin with a superfluous zero",
            Reason::ExponentTooLarge => "a number's exponent must lie within ±1000000000",
        })
    }
}

impl fmt::Display for ValidateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for ValidateError {}
