//! What a store tells of how it looks after itself.

use crate::error::Failure;
use crate::history::{HistoryEntry, Traffic};
use crate::inventory::Usage;
use crate::io::Directory;
use crate::manifest::Manifest;
use crate::scrub::Scrub;
use crate::settings::Settings;

/// How a store looks after itself: what it keeps to, what left it and why, what was written to the medium, and what its files take.
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
    /// What the store keeps to by itself.
    pub settings: Settings,
    /// What left it, when and why, the earliest first.
    pub history: Vec<HistoryEntry>,
    /// What was written.
    pub traffic: Traffic,
    /// What its files take.
    pub usage: Usage,
    /// So many events are deleted, and not erased yet, or not with a receipt.
    pub unerased: u64,
    /// How far scrubbing has come; nothing where it never was.
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
