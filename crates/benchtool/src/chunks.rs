//! The bytes of a source, read ahead.

use std::io::{self, Read};
use std::mem;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

/// The bytes of one read. HEURISTIC: from 64 KiB to 4 MiB made no difference.
const CHUNK_BYTES: usize = 256 << 10;

/// So many chunks wait at most.
const CHUNKS_WAITING_MAX: usize = 8;

/// Reads a source in a thread of its own, a few chunks ahead: reading overlaps with what is done with the bytes, and
/// whoever waits for them can look up from time to time.
pub(crate) enum Chunks {
    Ahead(Receiver<io::Result<Vec<u8>>>),
    /// Where the system gives no thread, each chunk is read when it is asked for.
    Here {
        source: Box<dyn Read>,
        /// A chunk was given, and whoever has it may look up before the next one lets him wait.
        has_given: bool,
    },
}

/// What came of waiting for the next chunk.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Chunk(Vec<u8>),
    /// Nothing yet.
    Nothing,
    End,
}

impl Chunks {
    pub(crate) fn read(source: impl Read + Send + 'static) -> Chunks {
        let (sender, receiver) = mpsc::sync_channel(CHUNKS_WAITING_MAX);
        // The source goes to the thread once there is one: with a thread that does not start it would be lost.
        let (hand, handed) = mpsc::channel();
        let thread = thread::Builder::new().name("read".to_owned());
        let started = thread.spawn(move || {
            if let Ok(source) = handed.recv() {
                send_chunks(source, &sender);
            }
        });
        // It goes on by itself. If there is none, nobody takes the source.
        drop(started);
        match hand.send(source) {
            Ok(()) => Chunks::Ahead(receiver),
            Err(mpsc::SendError(source)) => Chunks::here(source),
        }
    }

    fn here(source: impl Read + 'static) -> Chunks {
        Chunks::Here { source: Box::new(source), has_given: false }
    }

    /// The next chunk, if one comes in time; without a thread it is waited for.
    pub(crate) fn next(&mut self, timeout: Duration) -> io::Result<Waited> {
        match self {
            Chunks::Ahead(receiver) => match receiver.recv_timeout(timeout) {
                Ok(chunk) => chunk.map(Waited::Chunk),
                Err(RecvTimeoutError::Timeout) => Ok(Waited::Nothing),
                Err(RecvTimeoutError::Disconnected) => Ok(Waited::End),
            },
            Chunks::Here { source, has_given } => {
                if mem::take(has_given) {
                    return Ok(Waited::Nothing);
                }
                let chunk = read_chunk(source)?;
                *has_given = chunk.is_some();
                Ok(chunk.map_or(Waited::End, Waited::Chunk))
            }
        }
    }
}

/// Ends at the end of the source, after an error, or when nobody listens any more.
fn send_chunks(mut source: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    while let Some(read) = read_chunk(&mut source).transpose() {
        let failed = read.is_err();
        if sender.send(read).is_err() || failed {
            return;
        }
    }
}

/// Reads once; none at the end.
fn read_chunk(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok(None),
            Ok(read) => {
                chunk.truncate(read);
                return Ok(Some(chunk));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(bool);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if mem::replace(&mut self.0, true) {
                return Err(io::Error::other("torn"));
            }
            buffer[0] = b'a';
            Ok(1)
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_failing_source_tells_its_error_after_its_bytes() {
        let mut chunks = Chunks::read(Failing(false));
        assert!(matches!(chunks, Chunks::Ahead(_)));
        assert_eq!(chunks.next(LONG).unwrap(), Waited::Chunk(b"a".to_vec()));
        assert_eq!(chunks.next(LONG).err().unwrap().to_string(), "torn");
        assert_eq!(chunks.next(LONG).unwrap(), Waited::End);
    }

    #[test]
    fn without_a_thread_a_source_is_read_here_with_a_rest_after_each_chunk() {
        let mut chunks = Chunks::here(Failing(false));
        assert_eq!(chunks.next(LONG).unwrap(), Waited::Chunk(b"a".to_vec()));
        assert_eq!(chunks.next(LONG).unwrap(), Waited::Nothing);
        assert_eq!(chunks.next(LONG).err().unwrap().to_string(), "torn");
        let mut chunks = Chunks::here(io::Cursor::new(b"two"));
        assert_eq!(chunks.next(LONG).unwrap(), Waited::Chunk(b"two".to_vec()));
        assert_eq!(chunks.next(LONG).unwrap(), Waited::Nothing);
        assert_eq!(chunks.next(LONG).unwrap(), Waited::End);
    }
}
