//! Retention settings, saved in the store: maximum age and size, and what to do when the disk is full.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Retention settings of a store. They are saved in the store: every program that writes to it enforces them, and removes events that exceed them, mostly as
/// whole segments.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use tamias_store::{Options, Settings, Store};
///
/// let folder = tempfile::tempdir()?;
/// let quarter = Settings { max_age: Some(Duration::from_secs(90 * 86_400)), ..Settings::default() };
/// drop(Store::open(folder.path(), Options { settings: Some(quarter), ..Options::default() }, Arc::new(()))?);
/// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
/// assert_eq!(store.settings(), quarter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Maximum age of events, by the system clock. A segment whose events are all older is removed at once. Older events in a segment with younger
    /// ones are removed up to a sixteenth of this age later, when the segment is rewritten without them. Events in the memtable are removed after it is sealed. No limit if `None`.
    pub max_age: Option<Duration>,
    /// Maximum size in bytes of the store's own files, including logs and unfinished files. The oldest segments are removed to reach it. The latest segment
    /// and events that are not sealed yet are always kept. No limit if `None`.
    pub max_bytes: Option<u64>,
    /// What happens when the disk is full.
    pub when_full: WhenFull,
}

/// What happens when the disk has no room for a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The write fails, and nothing is removed.
    #[default]
    Fail,
    /// The oldest segments are removed, one after another, until there is room. The write fails if none is left, or if readers still hold the removed files. Segments are made smaller where the disk
    /// has room for a few only, and a file keeps room for sealing the log: twice as much as the log takes.
    RemoveOldest,
}

/// Ticks from the year 1 to 1970-01-01T00:00:00Z.
const UNIX_TICKS: u64 = 621_355_968_000_000_000;

/// By how much events that share a segment with younger ones may exceed the maximum age: the age divided by this. HEURISTIC: each event is rewritten at most
/// this many times, and only if a segment spans the whole age.
const BORDER_SHARE: u64 = 16;

/// The time of the system clock, in ticks.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_TICKS.saturating_add(ticks(since))
}

/// A duration in ticks, cut to whole ones.
pub(crate) fn ticks(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}

/// The duration of this many ticks.
pub(crate) fn duration(ticks: u64) -> Duration {
    Duration::from_secs(ticks / 10_000_000) + Duration::from_nanos(ticks % 10_000_000 * 100)
}

impl Settings {
    /// Events before this instant are too old.
    pub(crate) fn border(&self, now: u64) -> Option<u64> {
        self.max_age.map(|age| now.saturating_sub(ticks(age)))
    }

    /// A segment that begins before this instant is rewritten without the events that are too old.
    pub(crate) fn cut_before(&self, now: u64) -> Option<u64> {
        let age = ticks(self.max_age?);
        Some(now.saturating_sub(age.saturating_add(age / BORDER_SHARE)))
    }

    /// How long to wait before checking again for events that are too old. HEURISTIC: a quarter of the allowed excess age, an hour at most.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let age = self.max_age?;
        Some((age / 64).clamp(Duration::from_secs(1), Duration::from_secs(3600)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_ages_before_now() {
        let hour = Settings { max_age: Some(Duration::from_secs(3600)), ..Settings::default() };
        assert_eq!(hour.border(40_000_000_000), Some(4_000_000_000));
        assert_eq!(hour.cut_before(40_000_000_000), Some(1_750_000_000));
        let ever = Settings { max_age: Some(Duration::MAX), ..Settings::default() };
        assert_eq!((ever.border(now()), ever.cut_before(now())), (Some(0), Some(0)));
        assert_eq!(Settings::default().border(now()), None);
    }

    #[test]
    fn ticks_are_durations() {
        for count in [0, 1, 9_999_999, 10_000_001, u64::MAX] {
            assert_eq!(ticks(duration(count)), count);
        }
    }
}
