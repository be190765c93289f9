//! What a store keeps to by itself, whichever program writes to it: bounds of age and size, and what a full medium leads to.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a store keeps to by itself. It lives in the store: whoever opens it for writing obeys it, and removes what is outside, whole segments
/// first.
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
    /// Events go when their instant is longer ago than this by the machine's clock: at once where a whole segment has become so old, else by a
    /// sixteenth of it later, when the segment at the border is written anew without them. Those in the memtable go once it is sealed. No bound if `None`.
    pub max_age: Option<Duration>,
    /// The oldest segments go until the store's own files, logs and unfinished ones included, have at most so many bytes. The latest segment always
    /// stays, and so does what is not sealed yet. No bound if `None`.
    pub max_bytes: Option<u64>,
    /// What happens when the medium is full.
    pub when_full: WhenFull,
}

/// What happens when the medium has no room for what is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// It is refused, and nothing is removed.
    #[default]
    Fail,
    /// The oldest segments go, one after another, until there is room; it is refused when none is left, or readers still hold what went.
    RemoveOldest,
}

/// Ticks from the year 1 to 1970-01-01T00:00:00Z.
const UNIX_TICKS: u64 = 621_355_968_000_000_000;

/// How much of the greatest age events may be older that share a segment with younger ones, as a divisor. HEURISTIC: each event is written anew at most
/// so many times for it, and only where a segment spans all of that age.
const BORDER_SHARE: u64 = 16;

/// The machine's clock, in ticks.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_TICKS.saturating_add(ticks(since))
}

/// A duration in ticks, cut to whole ones.
pub(crate) fn ticks(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}

/// So many ticks.
pub(crate) fn duration(ticks: u64) -> Duration {
    Duration::from_secs(ticks / 10_000_000) + Duration::from_nanos(ticks % 10_000_000 * 100)
}

impl Settings {
    /// Events before this instant are too old.
    pub(crate) fn border(&self, now: u64) -> Option<u64> {
        self.max_age.map(|age| now.saturating_sub(ticks(age)))
    }

    /// A segment that begins before this instant is written anew without what is too old.
    pub(crate) fn cut_before(&self, now: u64) -> Option<u64> {
        let age = ticks(self.max_age?);
        Some(now.saturating_sub(age.saturating_add(age / BORDER_SHARE)))
    }

    /// How long to wait before looking again whether something has become too old. HEURISTIC: a quarter of what the border may lag behind, within an hour.
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
