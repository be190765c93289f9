//! A store's settings, the history of removed events, and the sizes of its files.

use tamias_query::Instant;
use tamias_store::{Cause, OpenError, Scrub, Settings, Traffic, Usage};

use crate::damage::instant;
use crate::store::Access;
use crate::{AppendError, Store};

/// The maintenance state of a store: its settings, removed events, bytes written, and file sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Housekeeping {
    /// The retention settings that the store enforces.
    pub settings: Settings,
    /// Removed events: when, why and how many, the earliest first.
    pub history: Vec<HistoryEntry>,
    /// Bytes written to disk.
    pub traffic: Traffic,
    /// File sizes.
    pub usage: Usage,
    /// The number of deleted events that are not [erased](Store::erase) yet, or erased without a receipt so far.
    pub unerased: u64,
    /// The progress of [scrubbing](Store::scrub); `None` if the store was never scrubbed.
    pub scrub: Option<Scrub>,
}

/// A removal of events, or several for the same cause within a day of one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// When the first and the last removal took place, by the system clock.
    pub times: (Instant, Instant),
    /// Why the events were removed.
    pub cause: Cause,
    /// The number of removals.
    pub removals: u32,
    /// The number of event files that were removed as a whole.
    pub files: u64,
    /// By how many bytes the event files shrank in total.
    pub file_bytes: u64,
    /// The number of events removed.
    pub events: u64,
    /// The instants of the first and the last of these events.
    pub time_range: (Instant, Instant),
}

impl Store {
    /// The store's settings, which events were removed and why, how many bytes were written to disk, and the sizes of its files.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamias::{Settings, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// let quarter = Duration::from_secs(90 * 86_400);
    /// store.set_settings(Settings { max_age: Some(quarter), max_bytes: Some(20_000_000_000), ..Settings::default() })?;
    /// let housekeeping = store.housekeeping()?;
    /// assert_eq!(housekeeping.settings.max_age, Some(quarter));
    /// for left in &housekeeping.history {
    ///     println!("{} events went for {:?}", left.events, left.cause);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read, or its folder cannot be listed.
    pub fn housekeeping(&self) -> Result<Housekeeping, OpenError> {
        let tamias_store::Housekeeping { settings, history, traffic, usage, unerased, scrub } =
            match &self.access {
                Access::Writer(store) => store.housekeeping()?,
                Access::Reader(reader) => reader.housekeeping()?,
            };
        let history = history.into_iter().map(HistoryEntry::of_store).collect();
        Ok(Housekeeping { settings, history, traffic, usage, unerased, scrub })
    }

    /// Changes the store's [`Settings`]. They are stored, and apply to every program that writes to the store. Events that exceed the new
    /// limits are removed at once. A program can also set them when it opens the store, with [`Options::settings`](crate::Options::settings).
    ///
    /// # Errors
    /// If the store is open for reading only, or cannot be written. The settings are then unchanged, unless [that is unknown](tamias_store::SealError::is_unknown).
    pub fn set_settings(&self, settings: Settings) -> Result<(), AppendError> {
        self.writer()?.set_settings(settings).map_err(AppendError::of_sealing)
    }
}

impl HistoryEntry {
    fn of_store(entry: tamias_store::HistoryEntry) -> HistoryEntry {
        let tamias_store::HistoryEntry {
            began,
            ended,
            cause,
            removals,
            segments,
            file_bytes,
            events,
            instants,
        } = entry;
        HistoryEntry {
            times: (instant(began), instant(ended)),
            cause,
            removals,
            files: segments,
            file_bytes,
            events,
            time_range: (instant(instants.0), instant(instants.1)),
        }
    }
}
