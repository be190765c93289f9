//! The thread that stores events.

use std::io;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use tamias::{AppendError, Batch, EventFormat, Rejection, Store};
use thiserror::Error;

/// So many events may wait to be stored; then logging waits too.
pub const QUEUE_EVENTS: usize = 10_000;

/// So many are stored at once, if they are there.
const BATCH_EVENTS: usize = 1000;

/// Or once they have so many bytes, far below what a batch may have.
const BATCH_BYTES: usize = 1 << 20;

/// Why an event was not stored.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The store does not take it: it is too large.
    #[error("an event was not stored: {0}")]
    Rejected(#[from] Rejection),
    /// The store could not be written. A full disk is an example.
    #[error("events were not stored: {0}")]
    Append(#[from] AppendError),
}

enum Message {
    Document(String),
    /// Reply when everything before is stored, with the first error since the last reply.
    Flush(SyncSender<Result<(), WriteError>>),
    End,
}

/// Where events are handed over.
#[derive(Clone, Debug)]
pub(crate) struct Sender(SyncSender<Message>);

impl Sender {
    /// Hands an event over; waits while too many are waiting.
    pub(crate) fn send(&self, document: String) {
        // After the end of the writer nobody stores it.
        let _ = self.0.send(Message::Document(document));
    }
}

/// Stores the events of a [`StoreLayer`](crate::StoreLayer).
#[derive(Debug)]
pub struct Writer {
    sender: SyncSender<Message>,
    thread: Option<JoinHandle<()>>,
}

pub(crate) fn start(store: Store) -> io::Result<(Sender, Writer)> {
    let (sender, receiver) = mpsc::sync_channel(QUEUE_EVENTS);
    let thread =
        thread::Builder::new().name("tamias-tracing".to_owned()).spawn(move || run(&store, &receiver))?;
    Ok((Sender(sender.clone()), Writer { sender, thread: Some(thread) }))
}

impl Writer {
    /// Waits until everything that was logged before is stored.
    ///
    /// # Errors
    /// The first reason since the last call why events could not be stored. They are lost; the events after them are stored if that
    /// is possible again.
    pub fn flush(&self) -> Result<(), WriteError> {
        let (reply, replied) = mpsc::sync_channel(1);
        match self.sender.send(Message::Flush(reply)) {
            Ok(()) => replied.recv().unwrap_or(Ok(())),
            // It ends only when it is dropped.
            Err(_) => Ok(()),
        }
    }
}

impl Drop for Writer {
    /// Stores what has come until now, and closes the store unless the program has it open elsewhere. To know whether that
    /// succeeded, call [`flush`](Writer::flush) before.
    fn drop(&mut self) {
        let _ = self.sender.send(Message::End);
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
                    let pushed = batch.push(document.as_bytes(), &format);
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
