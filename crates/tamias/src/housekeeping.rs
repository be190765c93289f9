//! How a store looks after itself: what it keeps to, what left it, what its files take.

use tamias_query::Instant;
use tamias_store::{Cause, OpenError, Scrub, Settings, Traffic, Usage};

use crate::damage::instant;
use crate::store::Access;
use crate::{AppendError, Store};

/// How a store looks after itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Housekeeping {
    /// What it keeps to by itself.
    pub settings: Settings,
    /// What left it, when and why, the earliest first.
    pub history: Vec<HistoryEntry>,
    /// What was written to the medium.
    pub traffic: Traffic,
    /// What its files take.
    pub usage: Usage,
    /// So many events are deleted, and not [erased](Store::erase) yet, or not with a receipt.
    pub unerased: u64,
    /// How far [scrubbing](Store::scrub) has come; nothing where it never was.
    pub scrub: Option<Scrub>,
}

/// Events that left a store: one removal, or several of one cause that followed one another within a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// When the first and the last removal took place, by the machine's clock.
    pub times: (Instant, Instant),
    /// Why.
    pub cause: Cause,
    /// How many removals.
    pub removals: u32,
    /// How many files of events left whole.
    pub files: u64,
    /// Bytes that the files became less by.
    pub file_bytes: u64,
    /// How many events went.
    pub events: u64,
    /// The first and the last instant of these.
    pub time_range: (Instant, Instant),
}

impl Store {
    /// What the store keeps to, what left it and why, what was written to the medium, and what its files take.
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
    /// Where the store cannot be read, or its folder not be listed.
    pub fn housekeeping(&self) -> Result<Housekeeping, OpenError> {
        let tamias_store::Housekeeping { settings, history, traffic, usage, unerased, scrub } =
            match &self.access {
                Access::Writer(store) => store.housekeeping()?,
                Access::Reader(reader) => reader.housekeeping()?,
            };
        let history = history.into_iter().map(HistoryEntry::of_store).collect();
        Ok(Housekeeping { settings, history, traffic, usage, unerased, scrub })
    }

    /// Lets the store keep to other settings from now on, whichever program writes to it; see [`Settings`]. What is outside of their bounds by
    /// now is removed at once. Programs that open a store can set them with [`Options::settings`](crate::Options::settings) as well.
    ///
    /// # Errors
    /// Where the store is open for reading only, or it cannot be written: then the settings are as before, unless [that is unknown](tamias_store::SealError::is_unknown).
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
