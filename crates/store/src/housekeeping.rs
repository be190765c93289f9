//! The maintenance state of a store.

use crate::error::Failure;
use crate::history::{HistoryEntry, Traffic};
use crate::inventory::Usage;
use crate::io::Directory;
use crate::manifest::Manifest;
use crate::scrub::Scrub;
use crate::settings::Settings;

/// The maintenance state of a store: its settings, removed events, bytes written, and file sizes.
///
/// ```
/// use std::sync::Arc;
/// use tamias_store::{Event, Options, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
/// store.append_sealed(&[Event { instant: 1, bytes: b"{}" }], None)?;
/// let housekeeping = store.housekeeping()?;
/// assert_eq!(housekeeping.traffic.appended, 3);
/// assert_eq!(housekeeping.traffic.sealed, housekeeping.usage.segments);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Housekeeping {
    /// The retention settings that the store enforces.
    pub settings: Settings,
    /// Removed events: when, why and how many, the earliest first.
    pub history: Vec<HistoryEntry>,
    /// Bytes written to disk.
    pub traffic: Traffic,
    /// File sizes.
    pub usage: Usage,
    /// The number of deleted events that are not erased yet, or erased without a receipt so far.
    pub unerased: u64,
    /// The progress of scrubbing; `None` if the store was never scrubbed.
    pub scrub: Option<Scrub>,
}

impl Housekeeping {
    pub(crate) fn of(directory: &dyn Directory, manifest: &Manifest) -> Result<Housekeeping, Failure> {
        let usage = Usage::of_all(directory, manifest)?;
        let Manifest { settings, history, traffic, erasing, .. } = manifest;
        let scrub = Scrub::read(directory, manifest.store);
        let unerased = erasing.as_ref().map_or(0, |erasing| erasing.arrivals.len());
        Ok(Housekeeping {
            settings: *settings,
            history: history.clone(),
            traffic: *traffic,
            usage,
            unerased,
            scrub,
        })
    }
}
