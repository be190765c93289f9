//! Stores batches in a thread of its own, while the next one is filled.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use tamias::{AppendError, Appended, Batch, SourcePosition, Store};

use crate::failure::Failure;

/// Stores one batch at a time, in the order in which they come.
pub(crate) struct Writer {
    store: Store,
    /// None where the system gives no thread: each batch is then stored as it comes.
    helper: Option<Helper>,
    /// Whether the helper has a batch.
    is_busy: bool,
    /// What became of a batch that was stored without help.
    answer: Option<Answer>,
    /// A batch was not stored. Those behind it must not be either: they would carry the place of the source past it.
    is_broken: bool,
    /// The memory of the batch before, for the next.
    spare: Batch,
    stored: u64,
}

/// A thread that stores batches.
struct Helper {
    batches: Option<SyncSender<(Batch, Option<Place>)>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

/// A batch, emptied if it was stored, and what became of it.
type Answer = (Batch, Result<Appended, AppendError>);

/// Where a source stands behind a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) source: String,
    pub(crate) position: u64,
    /// Which lines before it were rejected.
    pub(crate) note: Vec<u8>,
}

impl Writer {
    /// `spare` is the memory of a second batch.
    pub(crate) fn new(store: Store, spare: Batch) -> Writer {
        let helper = Helper::new(store.clone());
        Writer { helper, ..Writer::alone(store, spare) }
    }

    /// One without a thread.
    fn alone(store: Store, spare: Batch) -> Writer {
        Writer { store, helper: None, is_busy: false, answer: None, is_broken: false, spare, stored: 0 }
    }

    /// Takes the events of the batch, to be stored once those before are, together with the place of their source; tells what
    /// became of those before.
    pub(crate) fn store(&mut self, batch: &mut Batch, place: Option<Place>) -> Result<(), Failure> {
        self.settle()?;
        if self.is_broken {
            return Err(Failure::Io("an earlier batch could not be stored".to_owned()));
        }
        if batch.is_empty() && place.is_none() {
            return Ok(());
        }
        let full = std::mem::replace(batch, std::mem::take(&mut self.spare));
        match &self.helper {
            Some(helper) => {
                self.is_busy = helper.batches.as_ref().is_some_and(|to| to.send((full, place)).is_ok());
                self.is_broken = !self.is_busy;
                if self.is_busy { Ok(()) } else { Err(gone()) }
            }
            None => {
                self.answer = Some(append(&self.store, full, place));
                Ok(())
            }
        }
    }

    /// Waits until all events that were taken are on disk.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        let answer = match &self.helper {
            Some(helper) if std::mem::take(&mut self.is_busy) => {
                let answer = helper.answers.recv();
                self.is_broken = answer.is_err();
                Some(answer.map_err(|_| gone())?)
            }
            _ => self.answer.take(),
        };
        let Some((batch, appended)) = answer else { return Ok(()) };
        self.is_broken |= appended.is_err();
        self.stored += appended?.events;
        self.spare = batch;
        Ok(())
    }

    /// How many bytes a batch should have at most now, as far as the store is concerned.
    pub(crate) fn batch_bytes(&self) -> usize {
        self.store.batch_bytes_advised().unwrap_or(usize::MAX)
    }

    /// Whether a batch could not be stored, which was told.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// How many events are known to be on disk.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }
}

impl Helper {
    fn new(store: Store) -> Option<Helper> {
        let (batches, to_store) = mpsc::sync_channel(1);
        let (answer, answers) = mpsc::channel();
        let work = move || {
            for (batch, place) in to_store {
                if answer.send(append(&store, batch, place)).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("store".to_owned()).spawn(work).ok()?;
        Some(Helper { batches: Some(batches), answers, thread: Some(thread) })
    }
}

fn append(store: &Store, mut batch: Batch, place: Option<Place>) -> Answer {
    let appended = match &place {
        Some(Place { source: name, position, note }) => {
            store.append_batch_from(&mut batch, SourcePosition { name, position: *position, note })
        }
        None => store.append_batch(&mut batch),
    };
    (batch, appended)
}

/// The thread ends only with a panic, which it has told of itself.
fn gone() -> Failure {
    Failure::Io("the events can no longer be stored".to_owned())
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.batches.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been told; there is nothing to add.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamias::EventFormat;

    #[test]
    fn batches_are_stored_in_order_and_counted_once_they_are() {
        for writer in [Writer::new, Writer::alone] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path()).unwrap();
            store_a_hundred(&store, writer(store.clone(), Batch::new()));
        }
    }

    fn store_a_hundred(store: &Store, mut writer: Writer) {
        let mut batch = Batch::new();
        for number in 0..100 {
            let event = format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"n\":{number}}}");
            batch.push(event.as_bytes(), &EventFormat::clef()).unwrap();
            if number % 7 == 0 {
                writer.store(&mut batch, None).unwrap();
                assert!(batch.is_empty());
            }
        }
        writer.store(&mut batch, None).unwrap();
        writer.store(&mut batch, None).unwrap();
        writer.settle().unwrap();
        assert_eq!(writer.stored(), 100);
        assert_eq!(store.info().unwrap().events, 100);
        let rows = store.query("select n, @Arrived from stream").unwrap();
        assert!(rows.map(Result::unwrap).all(|row| row.get(0) == row.get(1)));
    }

    #[test]
    fn what_cannot_be_stored_is_told_and_not_counted() {
        for writer in [Writer::new, Writer::alone] {
            let folder = tempfile::tempdir().unwrap();
            drop(Store::open(folder.path()).unwrap());
            let mut writer = writer(Store::open_read_only(folder.path()).unwrap(), Batch::new());
            let mut batch = Batch::new();
            batch.push(b"{\"@t\":\"2024-05-29T10:56:01Z\"}", &EventFormat::clef()).unwrap();
            writer.store(&mut batch, None).unwrap();
            assert!(matches!(writer.settle(), Err(Failure::Io(_))));
            assert_eq!(writer.stored(), 0);
            batch.push(b"{\"@t\":\"2024-05-29T10:56:01Z\"}", &EventFormat::clef()).unwrap();
            assert!(writer.store(&mut batch, None).is_err(), "nothing goes past a batch that was lost");
        }
    }
}
