//! The thread that stores events.

use std::io;
use std::process;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tamias::{AppendError, Batch, EventFormat, Rejection, Store};
use thiserror::Error;

/// The maximum number of events that wait to be stored; beyond it, logging waits.
pub const QUEUE_EVENTS: usize = 10_000;

/// The maximum number of bytes of events that wait to be stored; beyond it, logging waits.
pub const QUEUE_BYTES: usize = 64 << 20;

/// The maximum number of events stored at once.
const BATCH_EVENTS: usize = 1000;

/// The number of bytes at which waiting events are stored, far below the limit of a batch.
const BATCH_BYTES: usize = 1 << 20;

/// Why an event was not stored.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The store rejected it: it is too large.
    #[error("an event was not stored: {0}")]
    Rejected(#[from] Rejection),
    /// The store could not be written, for instance because the disk is full.
    #[error("events were not stored: {0}")]
    Append(#[from] AppendError),
    /// No thread stores events: this process was forked from the one with the thread, or the thread has panicked.
    #[error(
        "events were not stored: the thread that stores them is not running in this process; make the layer after forking"
    )]
    NoThread,
}

/// How many bytes wait to be stored.
#[derive(Debug, Default)]
struct Queued {
    bytes: Mutex<usize>,
    fewer: Condvar,
}

/// A document that waits to be stored, or goes unstored.
struct Document {
    text: String,
    queued: Arc<Queued>,
}

impl Document {
    /// Waits while too many bytes are waiting already.
    fn new(text: String, queued: &Arc<Queued>) -> Document {
        let bytes = queued.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let are_many = |bytes: &mut usize| *bytes >= QUEUE_BYTES;
        let mut bytes = queued.fewer.wait_while(bytes, are_many).unwrap_or_else(PoisonError::into_inner);
        *bytes += text.len();
        Document { text, queued: Arc::clone(queued) }
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        *self.queued.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= self.text.len();
        self.queued.fewer.notify_all();
    }
}

enum Message {
    Document(Document),
    /// Reply when everything before is stored, with the first error since the last reply.
    Flush(SyncSender<Result<(), WriteError>>),
    End,
}

/// Where events are handed over.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    messages: SyncSender<Message>,
    queued: Arc<Queued>,
    /// The process that the writer's thread runs in.
    process: u32,
}

impl Sender {
    /// Whether there is a thread to receive events. A forked process has none, and waiting for it would never end.
    fn is_heard(&self) -> bool {
        process::id() == self.process
    }

    /// Hands an event over; waits while too many are waiting.
    pub(crate) fn send(&self, document: String) {
        if self.is_heard() {
            // After the end of the writer nobody stores it.
            let _ = self.messages.send(Message::Document(Document::new(document, &self.queued)));
        }
    }
}

/// Stores the events of a [`StoreLayer`](crate::StoreLayer).
#[derive(Debug)]
pub struct Writer {
    sender: Sender,
    thread: Option<JoinHandle<()>>,
}

pub(crate) fn start(store: Store) -> io::Result<(Sender, Writer)> {
    let (sender, receiver) = mpsc::sync_channel(QUEUE_EVENTS);
    let thread =
        thread::Builder::new().name("tamias-tracing".to_owned()).spawn(move || run(&store, &receiver))?;
    let sender = Sender { messages: sender, queued: Arc::default(), process: process::id() };
    Ok((sender.clone(), Writer { sender, thread: Some(thread) }))
}

impl Writer {
    /// Waits until everything that was logged before is stored.
    ///
    /// # Errors
    /// The first error since the last call. The events it concerns are lost; later events are stored if that
    /// is possible again.
    pub fn flush(&self) -> Result<(), WriteError> {
        let (reply, replied) = mpsc::sync_channel(1);
        if !self.sender.is_heard() || self.sender.messages.send(Message::Flush(reply)).is_err() {
            return Err(WriteError::NoThread);
        }
        replied.recv().unwrap_or(Err(WriteError::NoThread))
    }
}

impl Drop for Writer {
    /// Stores the events logged so far, and closes the store unless the program has another handle to it. To find out whether that
    /// succeeded, call [`flush`](Writer::flush) before.
    fn drop(&mut self) {
        if !self.sender.is_heard() {
            return;
        }
        let _ = self.sender.messages.send(Message::End);
        if let Some(thread) = self.thread.take() {
            // It never panics; if it did, there is nothing left to do here.
            let _ = thread.join();
        }
    }
}

fn run(store: &Store, receiver: &Receiver<Message>) {
    let format = EventFormat::clef();
    let (mut batch, mut failed, mut goes_on) = (Batch::new(), Ok(()), true);
    while goes_on && let Ok(first) = receiver.recv() {
        let mut reply = None;
        for message in std::iter::once(first).chain(receiver.try_iter()) {
            match message {
                Message::Document(document) => {
                    let pushed = batch.push(document.text.as_bytes(), &format);
                    failed = failed.and(pushed.map_err(WriteError::from));
                }
                Message::Flush(waiting) => reply = Some(waiting),
                Message::End => goes_on = false,
            }
            if reply.is_some() || !goes_on || batch.len() >= BATCH_EVENTS || batch.bytes() >= BATCH_BYTES {
                break;
            }
        }
        if !batch.is_empty() {
            failed = failed.and(store.append_batch(&mut batch).map(drop).map_err(WriteError::from));
            batch.clear();
        }
        if let Some(reply) = reply {
            // Whoever asked may have gone.
            let _ = reply.send(std::mem::replace(&mut failed, Ok(())));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    /// Ten thousand large events used to wait, whatever memory they took.
    #[test]
    fn the_bytes_that_wait_are_bounded() {
        let (messages, receiver) = mpsc::sync_channel(QUEUE_EVENTS);
        let sender = Sender { messages, queued: Arc::default(), process: process::id() };
        let (sent, size) = (AtomicUsize::new(0), QUEUE_BYTES / 8 + 1);
        thread::scope(|scope| {
            let sending = scope.spawn(|| {
                for _ in 0..20 {
                    sender.send(" ".repeat(size));
                    sent.fetch_add(1, Relaxed);
                }
            });
            while sent.load(Relaxed) < 8 {
                thread::yield_now();
            }
            thread::sleep(std::time::Duration::from_millis(50));
            assert_eq!(sent.load(Relaxed), 8);
            // Each that is stored makes room for another; those that nobody stores make it too.
            receiver.iter().take(3).for_each(drop);
            while sent.load(Relaxed) < 11 {
                thread::yield_now();
            }
            drop(receiver);
            sending.join().expect("it does not panic");
        });
        assert_eq!(*sender.queued.bytes.lock().expect("nobody panicked"), 0);
    }

    #[test]
    fn who_has_no_thread_is_told_and_does_not_wait() {
        let (messages, receiver) = mpsc::sync_channel(1);
        // As it is in a process that was forked.
        let sender = Sender { messages, queued: Arc::default(), process: process::id() + 1 };
        let writer = Writer { sender: sender.clone(), thread: None };
        for _ in 0..3 {
            sender.send("{}".to_owned());
        }
        assert!(matches!(writer.flush(), Err(WriteError::NoThread)));
        drop((writer, receiver));
    }
}
