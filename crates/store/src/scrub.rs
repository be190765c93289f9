//! Scrubbing: all segments are read again, slowly, so that damage is found while a backup still has the data.
//!
//! A round goes through the segments by their numbers, block by block, and records its progress in the store, so that another process can continue it.
//! Segments written after it began are left to the next round.

use std::time::{Duration, Instant};

use crate::error::{Damage, OpenError};
use crate::format::{Fields, SCRUB_NAME, envelope, open_envelope};
use crate::io::{Directory, write_all_at};
use crate::named::unfinished;
use crate::settings;
use crate::snapshot::Snapshot;

/// The progress of scrubbing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scrub {
    /// When the latest round began, in ticks.
    pub began: u64,
    /// When it ended, in ticks; `None` if it is running or was interrupted.
    pub ended: Option<u64>,
    /// Bytes of segments read in this round.
    pub bytes: u64,
    /// The number of damaged parts found in this round.
    pub damaged: u64,
    /// Segments below this number are done.
    next: u64,
    /// So many blocks of that segment are done as well.
    blocks: u64,
    /// Segments of this number and above are left to the next round.
    until: u64,
}

const MAGIC: [u8; 8] = *b"\x89TMscrub";
const VERSION: u32 = 2;

/// Bytes of the file.
const FILE_BYTES: usize = 92;

/// HEURISTIC: the minimum pause: shorter ones cost more than they help.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// The longest time without checking whether to continue.
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// How often the progress within a segment is recorded: what a killed process read since then is read again.
const RECORD_PAUSE: Duration = Duration::from_secs(1);

impl Scrub {
    fn encode(&self, store: u128) -> Vec<u8> {
        let ended = self.ended.unwrap_or(u64::MAX);
        let fields = [self.began, ended, self.bytes, self.damaged, self.next, self.blocks, self.until];
        envelope(MAGIC, VERSION, store, fields.map(u64::to_le_bytes).as_flattened())
    }

    fn decode(bytes: &[u8], store: u128) -> Option<Scrub> {
        let (version, of, body) = open_envelope(MAGIC, bytes)?;
        let mut at = Fields(body);
        let (began, ended) = (at.u64()?, at.u64()?);
        let (bytes, damaged, next) = (at.u64()?, at.u64()?, at.u64()?);
        let (blocks, until) = (at.u64()?, at.u64()?);
        let ended = (ended != u64::MAX).then_some(ended);
        ((version, of) == (VERSION, store) && at.0.is_empty()).then_some(Scrub {
            began,
            ended,
            bytes,
            damaged,
            next,
            blocks,
            until,
        })
    }

    /// The progress recorded in the store; `None` if it was never scrubbed, or the record is lost.
    pub(crate) fn read(directory: &dyn Directory, store: u128) -> Option<Scrub> {
        let file = directory.open(SCRUB_NAME).ok()?;
        let mut bytes = [0; FILE_BYTES];
        let read = file.read_full_at(0, &mut bytes).ok()?;
        Scrub::decode(bytes.get(..read)?, store)
    }

    /// Records the progress. Nothing depends on it, so it may fail, and is not flushed.
    fn write(&self, directory: &dyn Directory, store: u128) {
        let unfinished = unfinished(SCRUB_NAME);
        let _ = directory.remove(&unfinished);
        let Ok(file) = directory.create(&unfinished) else { return };
        let written = write_all_at(&*file, 0, &self.encode(store));
        if written.and_then(|()| directory.rename(&unfinished, SCRUB_NAME)).is_err() {
            let _ = directory.remove(&unfinished);
        }
    }
}

/// Limits reading to an average number of bytes per second since it was created.
struct Pace {
    bytes_per_second: u64,
    begun: Instant,
    bytes: u64,
}

impl Pace {
    /// Waits until this many more bytes may be read; false if it may not continue.
    fn take(&mut self, bytes: u64, may_go_on: &dyn Fn() -> bool) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        let due = Duration::from_secs_f64(self.bytes as f64 / self.bytes_per_second.max(1) as f64);
        while let Some(rest) = due.checked_sub(self.begun.elapsed()).filter(|rest| *rest >= PAUSE_MIN) {
            if !may_go_on() {
                return false;
            }
            std::thread::sleep(rest.min(PAUSE_MAX));
        }
        may_go_on()
    }
}

/// Continues a round of scrubbing, or begins one, and completes it unless `may_go_on` returns false.
pub(crate) fn round(
    directory: &dyn Directory,
    snapshot: &dyn Fn() -> Result<Snapshot, OpenError>,
    bytes_per_second: u64,
    may_go_on: &dyn Fn() -> bool,
    found: &mut dyn FnMut(Damage),
) -> Result<Scrub, OpenError> {
    let first = snapshot()?;
    let store = first.state.environment.store;
    let numbers = first.state.segments.list.iter().map(|segment| segment.entry.number);
    let until = numbers.max().map_or(0, |greatest| greatest + 1);
    drop(first);
    let begun = Scrub { began: settings::now(), until, ..Scrub::default() };
    let mut scrub = Scrub::read(directory, store).filter(|known| known.ended.is_none()).unwrap_or(begun);
    let mut pace = Pace { bytes_per_second, begun: Instant::now(), bytes: 0 };
    while may_go_on() {
        // Taken anew each time, so that no file is held for longer than it is read.
        let snapshot = snapshot()?;
        let left = snapshot.state.segments.list.iter();
        let left = left.filter(|segment| (scrub.next..scrub.until).contains(&segment.entry.number));
        let Some(segment) = left.min_by_key(|segment| segment.entry.number) else {
            for damage in snapshot.damage() {
                scrub.damaged += 1;
                found(damage.clone());
            }
            scrub.ended = Some(settings::now());
            scrub.write(directory, store);
            break;
        };
        // The one that was begun may be gone.
        if scrub.next != segment.entry.number {
            (scrub.next, scrub.blocks) = (segment.entry.number, 0);
        }
        let mut recorded = Instant::now();
        let is_whole = segment.verify(scrub.blocks as usize, &mut |verified| {
            scrub.blocks = verified.blocks as u64;
            scrub.bytes = scrub.bytes.saturating_add(verified.bytes);
            if let Some(damage) = verified.damage {
                scrub.damaged += 1;
                found(damage);
            }
            if recorded.elapsed() >= RECORD_PAUSE {
                scrub.write(directory, store);
                recorded = Instant::now();
            }
            pace.take(verified.bytes, may_go_on)
        });
        if matches!(is_whole, Ok(true)) {
            (scrub.next, scrub.blocks) = (segment.entry.number + 1, 0);
        }
        scrub.write(directory, store);
        is_whole?;
    }
    Ok(scrub)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        for ended in [None, Some(5)] {
            let scrub = Scrub { began: 1, ended, bytes: 2, damaged: 3, next: 4, blocks: 5, until: 9 };
            let bytes = scrub.encode(7);
            assert_eq!(bytes.len(), FILE_BYTES);
            assert_eq!(Scrub::decode(&bytes, 7), Some(scrub));
            assert_eq!(Scrub::decode(&bytes, 8), None);
            for at in 0..bytes.len() {
                let mut altered = bytes.clone();
                altered[at] ^= 4;
                assert!(Scrub::decode(&altered, 7).is_none() && Scrub::decode(&bytes[..at], 7).is_none());
            }
        }
    }
}
