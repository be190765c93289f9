//! The bytes of a source, read ahead.

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

#[cfg(test)]
mod tests {
    use super::*;

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
