//! The elements of a JSON array, cut out without regard to what else is wrong with them.

use crate::entries::{Carry, Entry, Unit};

/// Cuts chunks of an array, from its opening bracket on, into its elements. Keeps no more than one of the limit's length.
#[derive(Debug)]
pub(crate) struct Elements {
    carry: Carry,
    state: State,
    newlines: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the opening bracket.
    Opening,
    /// After it: an element, or the end of the array.
    First,
    /// After a comma: an element.
    Next,
    /// Inside an element: so many brackets are open.
    Inside { depth: usize },
    /// Inside a string of an element.
    String { depth: usize, escaped: bool },
    /// After the closing bracket.
    Closed,
}

impl Elements {
    /// Elements from this number and this byte of the source on.
    pub(crate) fn new(element_bytes_max: usize, number: u64, offset: u64) -> Elements {
        let carry = Carry::new(Unit::Element, element_bytes_max, number, offset);
        Elements { carry, state: State::Opening, newlines: 0 }
    }

    /// The number of the element whose end has not come yet.
    pub(crate) fn number(&self) -> u64 {
        self.carry.number()
    }

    /// Where the next byte stands.
    pub(crate) fn offset(&self) -> u64 {
        self.carry.offset()
    }

    /// The line feeds so far.
    pub(crate) fn newlines(&self) -> u64 {
        self.newlines
    }

    /// Hands each element that ends in the chunk to `each`, and tells how many bytes of it belong to the array: fewer
    /// than all where the array has ended.
    pub(crate) fn feed<E>(
        &mut self,
        chunk: &[u8],
        each: &mut impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        // Where the part of the chunk begins that has been neither kept nor skipped.
        let mut start = 0;
        for (at, &byte) in chunk.iter().enumerate() {
            if self.state == State::Closed {
                return Ok(at);
            }
            self.newlines += u64::from(byte == b'\n');
            self.state = match (self.state, byte) {
                (State::Opening, _) => State::First,
                (State::First | State::Next, b' ' | b'\t' | b'\r' | b'\n') => self.state,
                (State::First, b']') => State::Closed,
                (State::String { depth, escaped: true }, _) => State::String { depth, escaped: false },
                (State::String { depth, .. }, b'\\') => State::String { depth, escaped: true },
                (State::String { depth, .. }, b'"') => State::Inside { depth },
                (State::String { .. }, _) => self.state,
                (State::Next | State::Inside { depth: 0 }, b',' | b']') => {
                    // After a comma this is an element of no bytes, which is rejected as such.
                    self.carry.emit(&chunk[start..at], each)?;
                    start = at;
                    if byte == b',' { State::Next } else { State::Closed }
                }
                (State::First, b',') => {
                    self.carry.emit(b"", each)?;
                    State::Next
                }
                (state, _) => {
                    let depth = match state {
                        State::Inside { depth } => depth,
                        _ => {
                            self.carry.skip(at - start);
                            start = at;
                            0
                        }
                    };
                    match byte {
                        b'"' => State::String { depth, escaped: false },
                        b'{' | b'[' => State::Inside { depth: depth + 1 },
                        b'}' | b']' => State::Inside { depth: depth.saturating_sub(1) },
                        _ => State::Inside { depth },
                    }
                }
            };
            if matches!(self.state, State::First | State::Next | State::Closed) {
                self.carry.skip(at + 1 - start);
                start = at + 1;
            }
        }
        self.carry.keep(&chunk[start..]);
        Ok(chunk.len())
    }

    /// Hands on the element that has no end; tells whether the array had one.
    pub(crate) fn finish<E>(&mut self, each: &mut impl FnMut(Entry<'_>) -> Result<(), E>) -> Result<bool, E> {
        if !self.carry.is_empty() {
            self.carry.emit(b"", each)?;
        }
        Ok(self.state == State::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Content;
    use std::convert::Infallible;

    /// The elements with their offsets, how much was the array, and whether it had an end.
    fn split(text: &str, chunk_bytes: usize, element_bytes_max: usize) -> (Vec<(u64, String)>, usize, bool) {
        let mut elements = Elements::new(element_bytes_max, 1, 0);
        let mut seen = Vec::new();
        let mut each = |entry: Entry<'_>| {
            assert_eq!((entry.unit, entry.number), (Unit::Element, seen.len() as u64 + 1));
            let content = match entry.content {
                Content::Bytes(bytes) => String::from_utf8_lossy(bytes).trim_end().to_owned(),
                Content::TooLong { bytes } => format!("{bytes} bytes"),
            };
            seen.push((entry.offset, content));
            Ok::<(), Infallible>(())
        };
        let mut used = 0;
        for chunk in text.as_bytes().chunks(chunk_bytes) {
            let of_array = elements.feed(chunk, &mut each).unwrap();
            used += of_array;
            if of_array < chunk.len() {
                break;
            }
        }
        let closed = elements.finish(&mut each).unwrap();
        (seen, used, closed)
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str], used: usize, closed: bool) {
        for chunk_bytes in 1..=text.len() {
            let (seen, found_used, found_closed) = split(text, chunk_bytes, 100);
            let contents: Vec<&str> = seen.iter().map(|(_, content)| content.as_str()).collect();
            assert_eq!(contents, expected, "{text} in chunks of {chunk_bytes}");
            assert_eq!((found_used, found_closed), (used, closed), "{text} in chunks of {chunk_bytes}");
            for (offset, content) in seen {
                assert!(text[offset as usize..].starts_with(&content), "{text}: {content} at {offset}");
            }
        }
    }

    #[test]
    fn elements_are_cut_at_their_commas() {
        check("[]", &[], 2, true);
        check("[ \n ]", &[], 5, true);
        check("[{}]", &["{}"], 4, true);
        check("[{\"a\":[1,2],\"b\":{}} , {\"c\":3}\n]", &["{\"a\":[1,2],\"b\":{}}", "{\"c\":3}"], 31, true);
        check("[1,\"a,]\\\"b\",[[],{}],null]", &["1", "\"a,]\\\"b\"", "[[],{}]", "null"], 25, true);
        check("[\"\\\\\",\"]\"]", &["\"\\\\\"", "\"]\""], 10, true);
    }

    #[test]
    fn what_is_wrong_becomes_an_element_too() {
        check("[,]", &["", ""], 3, true);
        check("[1,,2]", &["1", "", "2"], 6, true);
        check("[1,]", &["1", ""], 4, true);
        check("[1", &["1"], 2, false);
        check("[{\"a\":[1,2", &["{\"a\":[1,2"], 10, false);
        check("[\"a]", &["\"a]"], 4, false);
        check("[", &[], 1, false);
        check("[}},1]", &["}}", "1"], 6, true);
        check("[1]2", &["1"], 3, true);
    }

    #[test]
    fn elements_beyond_the_limit_are_told_not_kept() {
        let text = "[12345,123456,1]";
        for chunk_bytes in 1..=text.len() {
            let (seen, ..) = split(text, chunk_bytes, 5);
            let expected = [(1, "12345"), (7, "6 bytes"), (14, "1")].map(|(at, text)| (at, text.to_owned()));
            assert_eq!(seen, expected);
        }
    }
}
