//! Stores batches in a thread of its own, while the next one is filled.

use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use tamias::{AppendError, Appended, Batch, SourcePosition, Store};

use crate::failure::Failure;

/// Stores one batch at a time, in the order in which they come.
pub(crate) struct Writer {
    batches: Option<SyncSender<(Batch, Option<Place>)>>,
    answers: Receiver<(Batch, Result<Appended, AppendError>)>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread has a batch.
    is_busy: bool,
    /// A batch was not stored. Those behind it must not be either: they would carry the place of the source past it.
    is_broken: bool,
    /// The memory of the batch before, for the next.
    spare: Batch,
    stored: u64,
}

/// Where a source stands behind a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) source: String,
    pub(crate) position: u64,
}

impl Writer {
    pub(crate) fn new(store: Store) -> Writer {
        let (batches, to_store) = mpsc::sync_channel::<(Batch, Option<Place>)>(1);
        let (answer, answers) = mpsc::channel();
        let thread = thread::spawn(move || {
            for (mut batch, place) in to_store {
                let appended = match &place {
                    Some(Place { source: name, position }) => {
                        store.append_batch_from(&mut batch, SourcePosition { name, position: *position })
                    }
                    None => store.append_batch(&mut batch),
                };
                if answer.send((batch, appended)).is_err() {
                    return;
                }
            }
        });
        let thread = Some(thread);
        Writer {
            batches: Some(batches),
            answers,
            thread,
            is_busy: false,
            is_broken: false,
            spare: Batch::new(),
            stored: 0,
        }
    }

    /// Takes the events of the batch, to be stored once those before are, together with the place of their source; tells what
    /// became of those before.
    pub(crate) fn store(&mut self, batch: &mut Batch, place: Option<Place>) -> Result<(), Failure> {
        self.settle()?;
        if self.is_broken {
            return Err(Failure::Io("a batch before could not be stored".to_owned()));
        }
        if batch.is_empty() && place.is_none() {
            return Ok(());
        }
        let full = std::mem::replace(batch, std::mem::take(&mut self.spare));
        let sent = self.batches.as_ref().is_some_and(|batches| batches.send((full, place)).is_ok());
        self.is_busy = sent;
        if sent { Ok(()) } else { Err(gone()) }
    }

    /// Waits until all events that were taken are on disk.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.is_busy) {
            return Ok(());
        }
        let (batch, appended) = self.answers.recv().map_err(|_| gone())?;
        self.is_broken |= appended.is_err();
        self.stored += appended?.events;
        self.spare = batch;
        Ok(())
    }

    /// How many events are known to be on disk.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }
}

/// The thread ends only with a panic, which it has told of itself.
fn gone() -> Failure {
    Failure::Io("the events can no longer be stored".to_owned())
}

impl Drop for Writer {
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
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut writer = Writer::new(store.clone());
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
        let folder = tempfile::tempdir().unwrap();
        drop(Store::open(folder.path()).unwrap());
        let mut writer = Writer::new(Store::open_read_only(folder.path()).unwrap());
        let mut batch = Batch::new();
        batch.push(b"{\"@t\":\"2024-05-29T10:56:01Z\"}", &EventFormat::clef()).unwrap();
        writer.store(&mut batch, None).unwrap();
        assert!(matches!(writer.settle(), Err(Failure::Io(_))));
        assert_eq!(writer.stored(), 0);
        batch.push(b"{\"@t\":\"2024-05-29T10:56:01Z\"}", &EventFormat::clef()).unwrap();
        assert!(writer.store(&mut batch, None).is_err(), "nothing goes past a batch that was lost");
    }
}
