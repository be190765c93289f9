//! Searching many documents at once: keys and literals are found in the bytes of a whole block, without scanning its documents.
//!
//! In a valid minified document a key is where its spelling is: the bytes `"name":` are that key, unless a backslash stands before
//! them, for a closing quote is only ever followed by `,` `:` `]` `}` or the end, and a quote inside a string has a backslash
//! before it. What is left to find out is how deep the key lies, and whether it comes again; both are rare questions, answered
//! for the few documents where they arise, or left to who scans those ([`Span::Unsure`]).
//!
//! Everything here is done for a run of documents in one call: a call per document would cost more than the bytes that it reads.
//!
//! As with the scanner any bytes are safe, and get some answer in time linear in their length.

mod answers;
mod documents;
mod find;
mod holds;
mod lengths;
mod matches;
mod needle;
mod numbers;
mod occurrences;
mod places;
mod strings;
mod structure;
mod top_level;
mod values;

#[cfg(test)]
mod tests;

pub use answers::{Match, Span};
pub use documents::Documents;
pub use holds::Held;
pub use needle::Needle;
pub use numbers::{FewDigits, Test, Wanted};
pub use occurrences::Occurrences;
pub use places::Place;
pub use strings::string_end;
pub use structure::Structure;
