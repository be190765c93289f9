//! Lines, without their line feeds.

use crate::entries::{Carry, Entry, Unit};

/// Cuts chunks into lines, keeps no more than a line of the limit's length.
#[derive(Debug)]
pub(crate) struct Lines(Carry);

impl Lines {
    /// Lines from this number and this byte of the source on.
    pub(crate) fn new(line_bytes_max: usize, number: u64, offset: u64) -> Lines {
        Lines(Carry::new(Unit::Line, line_bytes_max, number, offset))
    }

    /// The number of the line whose end has not come yet.
    pub(crate) fn number(&self) -> u64 {
        self.0.number()
    }

    /// Hands each line that ends in the chunk to `each`.
    pub(crate) fn feed<E>(
        &mut self,
        chunk: &[u8],
        each: &mut impl FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            self.0.emit(&chunk[start..end], each)?;
            self.0.skip(1);
            start = end + 1;
        }
        self.0.keep(&chunk[start..]);
        Ok(())
    }

    /// Hands the last line to `each`, where it had no line feed.
    pub(crate) fn finish<E>(&mut self, each: &mut impl FnMut(Entry<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.0.is_empty() { Ok(()) } else { self.0.emit(b"", each) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Content;
    use std::convert::Infallible;

    /// Number, offset, and the text or the length of what is too long.
    type Seen = Vec<(u64, u64, Result<String, u64>)>;

    fn split(text: &[u8], chunk_bytes: usize, line_bytes_max: usize) -> Seen {
        let mut lines = Lines::new(line_bytes_max, 1, 0);
        let mut seen = Vec::new();
        let mut each = |entry: Entry<'_>| {
            let content = match entry.content {
                Content::Bytes(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
                Content::TooLong { bytes } => Err(bytes),
            };
            seen.push((entry.number, entry.offset, content));
            Ok::<(), Infallible>(())
        };
        for chunk in text.chunks(chunk_bytes) {
            lines.feed(chunk, &mut each).unwrap();
        }
        lines.finish(&mut each).unwrap();
        seen
    }

    #[test]
    fn lines_are_the_same_however_they_come() {
        let text = b"one\n\ntwo and a half\r\nthree\n\n\nlast";
        let whole = split(text, text.len(), 100);
        assert_eq!(whole[2], (3, 5, Ok("two and a half\r".to_owned())));
        assert_eq!(whole[6], (7, 29, Ok("last".to_owned())));
        assert_eq!(whole.len(), 7);
        for chunk_bytes in 1..text.len() {
            assert_eq!(split(text, chunk_bytes, 100), whole, "chunks of {chunk_bytes}");
        }
    }

    #[test]
    fn a_last_line_feed_begins_no_line() {
        assert_eq!(split(b"a\n", 1, 10).len(), 1);
        assert_eq!(split(b"", 1, 10).len(), 0);
        assert_eq!(split(b"\n", 1, 10).len(), 1);
    }

    #[test]
    fn lines_beyond_the_limit_are_told_not_kept() {
        let text = b"12345\n123456\n12345678901234567890\n1\n1234567";
        for chunk_bytes in 1..text.len() {
            let seen = split(text, chunk_bytes, 5);
            let contents: Vec<_> = seen.iter().map(|(_, _, content)| content.clone()).collect();
            assert_eq!(contents, [Ok("12345".to_owned()), Err(6), Err(20), Ok("1".to_owned()), Err(7)]);
            assert_eq!(seen.iter().map(|(_, offset, _)| *offset).collect::<Vec<_>>(), [0, 6, 13, 34, 36]);
        }
    }
}
