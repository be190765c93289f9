//! Lines out of a stream of bytes, in bounded memory.

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

/// The bytes of one read. HEURISTIC: from 64 KiB to 4 MiB made no difference.
const CHUNK_BYTES: usize = 256 << 10;

/// So many chunks wait at most.
const CHUNKS_WAITING_MAX: usize = 8;

/// Reads a source in a thread of its own, a few chunks ahead: reading overlaps with what is done with the bytes, and
/// whoever waits for them can look up from time to time.
pub(crate) struct Chunks {
    receiver: Receiver<io::Result<Vec<u8>>>,
}

/// What came of waiting for the next chunk.
pub(crate) enum Waited {
    Chunk(Vec<u8>),
    /// Nothing yet.
    Nothing,
    End,
}

impl Chunks {
    pub(crate) fn read(source: impl Read + Send + 'static) -> Chunks {
        let (sender, receiver) = mpsc::sync_channel(CHUNKS_WAITING_MAX);
        thread::spawn(move || send_chunks(source, &sender));
        Chunks { receiver }
    }

    /// The next chunk, if one comes in time.
    pub(crate) fn next(&self, timeout: Duration) -> io::Result<Waited> {
        match self.receiver.recv_timeout(timeout) {
            Ok(chunk) => chunk.map(Waited::Chunk),
            Err(RecvTimeoutError::Timeout) => Ok(Waited::Nothing),
            Err(RecvTimeoutError::Disconnected) => Ok(Waited::End),
        }
    }
}

/// Ends at the end of the source, after an error, or when nobody listens any more.
fn send_chunks(mut source: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let read = match source.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => {
                chunk.truncate(read);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        if sender.send(read).is_err() || failed {
            return;
        }
    }
}

/// A line of a source, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: u64,
    /// Of the line's first byte in the source.
    pub(crate) offset: u64,
    pub(crate) content: Content<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    Bytes(&'a [u8]),
    /// Longer than the limit; its bytes were not kept.
    TooLong {
        bytes: u64,
    },
}

/// Cuts chunks into lines, keeps no more than a line of the limit's length.
#[derive(Debug)]
pub(crate) struct Splitter {
    line_bytes_max: usize,
    /// The beginning of a line whose end has not come yet; empty where that is too long already.
    carry: Vec<u8>,
    /// The bytes of that line so far, kept or not.
    pending: u64,
    number: u64,
    offset: u64,
}

impl Splitter {
    pub(crate) fn new(line_bytes_max: usize) -> Splitter {
        Splitter { line_bytes_max, carry: Vec::new(), pending: 0, number: 1, offset: 0 }
    }

    /// The number of the line whose end has not come yet.
    pub(crate) fn next_number(&self) -> u64 {
        self.number
    }

    /// Hands each line that ends in the chunk to `each`.
    pub(crate) fn feed<E>(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', chunk) {
            let piece = &chunk[start..end];
            start = end + 1;
            if self.pending == 0 {
                // The usual case: the whole line lies in the chunk, and is not copied.
                self.pending = piece.len() as u64;
                let whole = if piece.len() <= self.line_bytes_max { Some(piece) } else { None };
                self.emit(whole, &mut each)?;
            } else {
                self.keep(piece);
                self.emit_carry(&mut each)?;
            }
            self.offset += 1;
        }
        self.keep(&chunk[start..]);
        Ok(())
    }

    /// Hands the last line to `each`, where it had no line feed.
    pub(crate) fn finish<E>(&mut self, mut each: impl FnMut(Line<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.pending > 0 { self.emit_carry(&mut each) } else { Ok(()) }
    }

    fn keep(&mut self, piece: &[u8]) {
        self.pending += piece.len() as u64;
        if self.pending <= self.line_bytes_max as u64 {
            self.carry.extend_from_slice(piece);
        } else {
            self.carry = Vec::new();
        }
    }

    fn emit_carry<E>(&mut self, each: &mut impl FnMut(Line<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut carry = std::mem::take(&mut self.carry);
        let whole = self.pending <= self.line_bytes_max as u64;
        let emitted = self.emit(whole.then_some(&carry), each);
        carry.clear();
        self.carry = carry;
        emitted
    }

    fn emit<E>(
        &mut self,
        bytes: Option<&[u8]>,
        each: &mut impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let content = match bytes {
            Some(bytes) => Content::Bytes(bytes),
            None => Content::TooLong { bytes: self.pending },
        };
        let line = Line { number: self.number, offset: self.offset, content };
        self.number += 1;
        self.offset += self.pending;
        self.pending = 0;
        each(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Number, offset, and the text or the length of what is too long.
    type Seen = Vec<(u64, u64, Result<String, u64>)>;

    fn split(text: &[u8], chunk_bytes: usize, line_bytes_max: usize) -> Seen {
        let mut splitter = Splitter::new(line_bytes_max);
        let mut seen = Vec::new();
        let mut each = |line: Line<'_>| {
            let content = match line.content {
                Content::Bytes(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
                Content::TooLong { bytes } => Err(bytes),
            };
            seen.push((line.number, line.offset, content));
            Ok::<(), Infallible>(())
        };
        for chunk in text.chunks(chunk_bytes) {
            splitter.feed(chunk, &mut each).unwrap();
            assert!(splitter.carry.len() <= line_bytes_max);
        }
        splitter.finish(&mut each).unwrap();
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

    #[test]
    fn a_failing_source_tells_its_error_after_its_bytes() {
        struct Failing(bool);
        impl Read for Failing {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("torn"));
                }
                buffer[0] = b'a';
                Ok(1)
            }
        }
        let chunks = Chunks::read(Failing(false));
        let long = Duration::from_secs(60);
        assert!(matches!(chunks.next(long), Ok(Waited::Chunk(chunk)) if chunk == b"a"));
        assert_eq!(chunks.next(long).err().unwrap().to_string(), "torn");
        assert!(matches!(chunks.next(long), Ok(Waited::End)));
    }
}
