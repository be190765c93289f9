//! Lines or the elements of an array: the source's first byte tells.

use crate::elements::Elements;
use crate::entries::{Entry, Unit};
use crate::lines::Lines;

/// Cuts the chunks of a source into entries: lines, or where it begins with `[`, the elements of that array. After the
/// end of an array it looks again.
#[derive(Debug)]
pub(crate) struct Splitter {
    entry_bytes_max: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Only blank lines have come since the line with this number, and the bytes before this one.
    Blank {
        line: u64,
        offset: u64,
    },
    Lines(Lines),
    /// The array began in the line with this number.
    Elements {
        elements: Elements,
        line: u64,
    },
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Splitter {
    pub(crate) fn new(entry_bytes_max: usize) -> Splitter {
        Splitter { entry_bytes_max, state: State::Blank { line: 1, offset: 0 } }
    }

    /// The unit and the number of the entry whose end has not come yet.
    pub(crate) fn next(&self) -> (Unit, u64) {
        match &self.state {
            State::Blank { line, .. } => (Unit::Line, *line),
            State::Lines(lines) => (Unit::Line, lines.number()),
            State::Elements { elements, .. } => (Unit::Element, elements.number()),
        }
    }

    /// Hands each entry that ends in the chunk to `each`.
    pub(crate) fn feed<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while !chunk.is_empty() {
            match &mut self.state {
                State::Lines(lines) => return lines.feed(chunk, &mut each),
                State::Elements { elements, line } => {
                    let used = elements.feed(chunk, &mut each)?;
                    chunk = &chunk[used..];
                    if !chunk.is_empty() {
                        let (line, offset) = (*line + elements.newlines(), elements.offset());
                        self.state = State::Blank { line, offset };
                    }
                }
                State::Blank { line, offset } => {
                    let blank = blank_bytes(chunk, *offset);
                    // Lines begin where they begin, an array with its bracket.
                    let skipped = match chunk.get(blank) {
                        Some(b'[') | None => blank,
                        Some(_) => memchr::memrchr(b'\n', &chunk[..blank]).map_or(0, |at| at + 1),
                    };
                    let newlines = memchr::memchr_iter(b'\n', &chunk[..skipped]).count();
                    let (line, offset) = (*line + newlines as u64, *offset + skipped as u64);
                    self.state = match chunk.get(blank) {
                        Some(b'[') => {
                            State::Elements { elements: Elements::new(self.entry_bytes_max, 1, offset), line }
                        }
                        Some(_) => State::Lines(Lines::new(self.entry_bytes_max, line, offset)),
                        None => State::Blank { line, offset },
                    };
                    chunk = &chunk[skipped..];
                }
            }
        }
        Ok(())
    }

    /// Hands on what had no end; tells whether all arrays had one.
    pub(crate) fn finish<E>(&mut self, mut each: impl FnMut(Entry<'_>) -> Result<(), E>) -> Result<bool, E> {
        match &mut self.state {
            State::Blank { .. } => Ok(true),
            State::Lines(lines) => lines.finish(&mut each).map(|()| true),
            State::Elements { elements, .. } => elements.finish(&mut each),
        }
    }
}

/// How many bytes the chunk begins with that mean nothing: white space, and at the source's very start a byte order
/// mark if an array follows (a line keeps its own).
fn blank_bytes(chunk: &[u8], offset: u64) -> usize {
    let white = |bytes: &[u8]| bytes.len() - bytes.trim_ascii_start().len();
    match chunk.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) if offset == 0 && rest.get(white(rest)) == Some(&b'[') => {
            BYTE_ORDER_MARK.len() + white(rest)
        }
        _ => white(chunk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Content;
    use std::convert::Infallible;

    fn split(text: &str, chunk_bytes: usize) -> (Vec<String>, bool) {
        let mut splitter = Splitter::new(100);
        let mut seen = Vec::new();
        let mut each = |entry: Entry<'_>| {
            let Entry { unit, number, offset, content } = entry;
            let Content::Bytes(bytes) = content else { panic!("nothing is too long") };
            let text = String::from_utf8_lossy(bytes).trim().to_owned();
            if unit == Unit::Element || !text.is_empty() {
                seen.push(format!("{unit} {number} at {offset}: {text}"));
            }
            Ok::<(), Infallible>(())
        };
        for chunk in text.as_bytes().chunks(chunk_bytes) {
            splitter.feed(chunk, &mut each).unwrap();
        }
        let whole = splitter.finish(&mut each).unwrap();
        (seen, whole)
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str], whole: bool) {
        for chunk_bytes in 1..=text.len() {
            assert_eq!(split(text, chunk_bytes).0, expected, "{text} in chunks of {chunk_bytes}");
            assert_eq!(split(text, chunk_bytes).1, whole, "{text} in chunks of {chunk_bytes}");
        }
    }

    #[test]
    fn the_first_byte_tells() {
        check("{}\n{}\n", &["line 1 at 0: {}", "line 2 at 3: {}"], true);
        check("\n\n{}\n[1]\n", &["line 3 at 2: {}", "line 4 at 5: [1]"], true);
        check("\n [{},\n{}]\n", &["element 1 at 3: {}", "element 2 at 7: {}"], true);
        check(" \n", &[], true);
    }

    #[test]
    fn after_an_array_it_looks_again() {
        check("[1]\n{}", &["element 1 at 1: 1", "line 2 at 4: {}"], true);
        check("[1\n][2]", &["element 1 at 1: 1", "element 1 at 5: 2"], true);
        check("[][][]\n\n[]x\ny", &["line 3 at 10: x", "line 4 at 12: y"], true);
        check("[{}, {", &["element 1 at 1: {}", "element 2 at 5: {"], false);
    }

    #[test]
    fn a_byte_order_mark_goes_before_either() {
        assert_eq!(split("\u{feff} [1]", 100).0, ["element 1 at 5: 1"]);
        assert_eq!(split("\u{feff}{}\n", 100).0, ["line 1 at 0: \u{feff}{}"]);
    }

    #[test]
    fn a_million_empty_arrays_are_no_trouble() {
        assert_eq!(split(&"[]".repeat(1_000_000), 1 << 16).0, [""; 0]);
    }
}
