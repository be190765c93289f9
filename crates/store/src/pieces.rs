//! A batch that is larger than memory: it comes in pieces, and is kept as a whole or not at all.

use std::fmt;
use std::sync::{MutexGuard, PoisonError};

use crate::error::AppendError;
use crate::event::Event;
use crate::format::Key;
use crate::history::Traffic;
use crate::options::FlushStats;
use crate::segment::Written;
use crate::store::Store;
use crate::writer::check_numbers;

/// A batch of any size, given in pieces. No manifest names its segments before all of them are there, so that whatever interrupts it leaves the store as it was.
///
/// ```
/// # use std::sync::Arc;
/// # use tamias_store::{Event, Options, Store};
/// # let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
/// let mut pieces = store.append_in_pieces();
/// for instant in 0..3 {
///     pieces.push(&[Event { instant, bytes: b"{}" }])?;
/// }
/// assert_eq!(store.snapshot().events(), 0);
/// pieces.finish()?;
/// assert_eq!(store.snapshot().events(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pieces<'s> {
    store: &'s Store,
    /// Durable, under their unfinished names.
    written: Written,
    appended: Traffic,
    /// What comes later has this number or a higher one.
    next: u64,
    /// Whoever gives a receipt has to know of every event that has a number.
    _one_at_a_time: MutexGuard<'s, ()>,
}

impl fmt::Debug for Pieces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("segments", &self.written.entries.len()).finish_non_exhaustive()
    }
}

impl Store {
    /// Begins a batch that comes in pieces. Other threads can append meanwhile. Sealing, deleting and erasing, and another such batch, wait until it is finished or dropped, so this thread
    /// must not ask for them before.
    pub fn append_in_pieces(&self) -> Pieces<'_> {
        let (written, appended) = (Written::default(), Traffic::default());
        let one_at_a_time = self.inner.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        Pieces { store: self, written, appended, next: 0, _one_at_a_time: one_at_a_time }
    }
}

impl Pieces<'_> {
    /// Writes a piece into segments, which nobody sees yet. For pieces of some tens of megabytes, since each makes segments of its own.
    ///
    /// # Errors
    /// As for [`append_sealed`](Store::append_sealed). The pieces before can still be finished; the numbers of this one stay unused.
    pub fn push(&mut self, events: &[Event<'_>]) -> Result<(), AppendError> {
        let inner = &self.store.inner;
        inner.check(events, None)?;
        let mut writer = inner.lock();
        writer.check()?;
        let first = writer.replayed.next_arrival;
        check_numbers(first, events)?;
        self.next = first + events.len() as u64;
        writer.replayed.next_arrival = self.next;
        let sources = writer.replayed.sources.clone();
        drop(writer);
        let keys = (first..).zip(events).map(|(arrival, event)| Key { instant: event.instant, arrival });
        let mut sorted: Vec<(Key, &[u8])> = keys.zip(events.iter().map(|event| event.bytes)).collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        let Written { entries } = inner.with_room(AppendError::is_full_medium, || {
            let written = inner.write_segments(&sorted, &sources, &mut FlushStats::default());
            written.map_err(|failure| inner.lock().fail(failure).into())
        })?;
        self.written.entries.extend(entries);
        self.appended.append(events.iter().map(|event| event.bytes));
        Ok(())
    }

    /// Stores all pieces at once, durable when it returns.
    ///
    /// # Errors
    /// If the store cannot be written. None of the pieces is stored then, unless the failure is final: open the store again to find out.
    pub fn finish(mut self) -> Result<(), AppendError> {
        if self.written.entries.is_empty() {
            return Ok(());
        }
        let inner = &self.store.inner;
        // Batches with lower numbers are durable before.
        drop(inner.flush_log(inner.lock())?);
        let mut writer = inner.lock_manifest();
        let mut manifest = writer.manifest.clone();
        manifest.traffic.appended = manifest.traffic.appended.saturating_add(self.appended.appended);
        manifest.next_arrival = manifest.next_arrival.max(self.next);
        let written = std::mem::take(&mut self.written);
        inner.replace_segments(&mut writer, manifest, &[], written, |_| ())?;
        inner.check_hold(&mut writer)?;
        drop(writer);
        inner.signal.wake();
        Ok(())
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        std::mem::take(&mut self.written).remove(&*self.store.inner.directory);
    }
}
