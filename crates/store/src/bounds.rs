//! Bounds: a store keeps to its settings by itself.
//!
//! Whatever changes the list of segments takes those out, in the same manifest, that are outside of the bounds by then: so no moment shows more,
//! and it costs no manifest of its own. What only grows older is looked at now and then. A segment at the border of age is
//! written anew without what is too old by [compaction](crate::compaction).
//!
//! Segments go as a whole, so a store with a bound has [several](SEGMENTS_MIN) even if that makes them small; and on a full medium the log, which cannot go, is sealed into one. The
//! [reserve](crate::reserve) has the room for that.

use crate::error::{Failure, SealError};
use crate::event::Event;
use crate::history::Cause;
use crate::inventory::{Usage, bytes_of};
use crate::io::Directory;
use crate::manifest::{Manifest, SegmentEntry};
use crate::options::Layout;
use crate::publishing::Publishing;
use crate::removal::{Removed, Retention};
use crate::retire;
use crate::segment::Written;
use crate::settings::{self, Settings, WhenFull};
use crate::writer::{Inner, Writer};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

/// HEURISTIC: the room that a store has is worth so many full segments at least, so that not much goes at once.
const SEGMENTS_MIN: u64 = 16;

/// HEURISTIC: a full segment is not smaller than this part of what the options say, however little room there is.
const SEGMENT_PART_MIN: usize = 256;

impl Manifest {
    /// Takes the segments out that are outside of the bounds now.
    pub(crate) fn keep_bounds(&mut self, directory: &dyn Directory, now: u64) -> Result<(), Failure> {
        let outside = self.too_old(now);
        self.take_out(&outside, Cause::Age, now);
        if let Some(most) = self.settings.max_bytes {
            let usage = Usage::of(directory, self)?;
            let others = usage.bounded() - usage.segments;
            let least = Retention { before: None, file_bytes_max: Some(most.saturating_sub(others)) };
            let shown = self.shown();
            let latest = shown.iter().map(|entry| entry.last).max();
            let mut outside = least.outside(&shown);
            outside.retain(|entry| Some(entry.last) != latest);
            self.take_out(&outside, Cause::Size, now);
        }
        Ok(())
    }

    /// What these settings would take out now.
    pub(crate) fn plan_bounds(
        &self,
        directory: &dyn Directory,
        settings: Settings,
    ) -> Result<Removed, Failure> {
        let mut bounded = Manifest { settings, ..self.clone() };
        bounded.keep_bounds(directory, settings::now())?;
        let stay: BTreeSet<u64> = bounded.segments.iter().map(|entry| entry.number).collect();
        let mut outside = self.shown();
        outside.retain(|entry| !stay.contains(&entry.number));
        Ok(Removed::of(&outside, directory))
    }

    /// The segments of which all events are too old.
    fn too_old(&self, now: u64) -> Vec<SegmentEntry> {
        let before = self.settings.border(now);
        Retention { before, file_bytes_max: None }.outside(&self.shown())
    }
}

/// What came of making room.
enum Room {
    Made,
    /// A compaction that is writing has taken the room of the manifest. Once it finds no more, it gives back what it took.
    Later,
    /// No room came free: more of it would be in vain.
    None,
}

/// So often, and each time so long, it is waited for what a compaction gives back.
const WAITS_MAX: u32 = 50;
const WAIT: Duration = Duration::from_millis(20);

impl Inner {
    /// What the store keeps to by itself.
    pub(crate) fn settings(&self) -> Settings {
        self.lock().manifest.settings
    }

    /// Keeps to other settings from now on, and to their bounds at once.
    pub(crate) fn set_settings(&self, settings: Settings) -> Result<(), SealError> {
        let writer = self.lock();
        let is_other = settings != writer.manifest.settings;
        let is_worth = is_other && writer.is_worth_within(&self.options, &settings);
        drop(writer);
        if is_worth {
            // A log takes more room than a segment: nothing has to go for it.
            match self.seal() {
                // The settings may be what makes room; what is not sealed yet stays for now.
                Err(error) if !error.is_lack_of_room() => return Err(error),
                _ => {}
            }
        }
        let mut writer = self.lock_manifest();
        let manifest = Manifest { settings, ..writer.manifest.clone() };
        if manifest != writer.manifest {
            self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())?;
        }
        if settings.when_full == WhenFull::Fail {
            writer.reserve.remove(&*self.directory);
        }
        drop(writer);
        self.signal.wake();
        Ok(())
    }

    /// Bytes of documents of a full segment at present.
    pub(crate) fn segment_bytes(&self) -> usize {
        self.segment_bytes.load(Relaxed)
    }

    /// Makes full segments as large as the options say, or smaller where there is little room.
    pub(crate) fn fit_segments(&self, writer: &mut Writer) {
        let is_bounded_by_medium = writer.manifest.settings.when_full == WhenFull::RemoveOldest;
        let free = if is_bounded_by_medium { self.directory.free_bytes() } else { None };
        self.fit_segments_to(writer, free);
        writer.seal_at = self.segment_bytes();
    }

    /// The same on a medium with so much room beside the store.
    fn fit_segments_to(&self, writer: &Writer, free: Option<u64>) {
        let bound = writer.manifest.settings.max_bytes.unwrap_or(u64::MAX);
        let room = bound.min(free.map_or(u64::MAX, |free| free.saturating_add(writer.bytes())));
        let most = self.options.segment_bytes;
        let least = (most / SEGMENT_PART_MIN).max(1);
        let fitting = usize::try_from(room / SEGMENTS_MIN).unwrap_or(usize::MAX);
        self.segment_bytes.store(fitting.clamp(least, most), Relaxed);
    }

    /// Whether there may be room for a batch in segments, if all others went.
    pub(crate) fn may_have_room_for(&self, events: &[Event<'_>]) -> bool {
        match self.options.segments {
            Layout::Text => {
                let bytes: u64 = events.iter().map(|event| event.bytes.len() as u64).sum();
                let free = self.directory.free_bytes();
                free.is_none_or(|free| free.saturating_add(self.lock().bytes()) >= bytes)
            }
            // Nobody knows how small they become.
            Layout::Columns => true,
        }
    }

    /// Whether a batch of so many bytes is more than the log should take, as there is little room.
    pub(crate) fn is_too_much_for_log(&self, bytes: usize) -> bool {
        let full = self.segment_bytes();
        full < self.options.segment_bytes && bytes >= full
    }

    /// Keeps room for the segment that the log becomes once so many bytes are added to it, if segments are to go when the medium is full.
    pub(crate) fn keep_reserve(&self, writer: &mut Writer, added: usize) -> Result<(), Failure> {
        match writer.manifest.settings.when_full {
            WhenFull::Fail => Ok(()),
            WhenFull::RemoveOldest => {
                let log_bytes = writer.unsealed_log_bytes().saturating_add(added as u64);
                // HEURISTIC: few calls, and little room beside that of a log.
                let step = self.segment_bytes() / 16;
                writer.reserve.keep(&*self.directory, log_bytes, step as u64)
            }
        }
    }

    /// Seals what the log holds where that is what takes the room on a full medium: it is as long as a segment should be, or no segment is left to go. False if there was nothing of the kind to do.
    pub(crate) fn seal_for_room(&self) -> Result<bool, SealError> {
        let writer = self.lock();
        writer.check()?;
        if writer.manifest.settings.when_full == WhenFull::Fail {
            return Ok(false);
        }
        if writer.reserve.is_lent() {
            // The sealing that has the reserve gives more room back than it takes.
            drop(writer);
            drop(self.sealing.lock().unwrap_or_else(PoisonError::into_inner));
            return Ok(true);
        }
        // The system may not tell of all that limits the room, as of quotas; the medium does by being full.
        self.fit_segments_to(&writer, Some(0));
        let is_long = writer.unsealed_log_bytes() >= self.segment_bytes() as u64;
        let is_last = writer.manifest.oldest_to_go().is_none();
        let is_there = writer.unsealed_bytes() > 0;
        drop(writer);
        if is_there && (is_long || is_last) {
            self.seal()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// What other settings would remove at once.
    pub(crate) fn plan_settings(&self, settings: Settings) -> Result<Removed, Failure> {
        let manifest = self.lock().manifest.clone();
        manifest.plan_bounds(&*self.directory, settings)
    }

    /// Takes the segments out that have become too old since the last change.
    pub(crate) fn remove_too_old(&self) -> Result<(), SealError> {
        let mut writer = self.lock_manifest();
        if writer.manifest.too_old(settings::now()).is_empty() {
            return Ok(());
        }
        let manifest = writer.manifest.clone();
        self.replace_segments(&mut writer, manifest, &[], Written::default(), |_| ())
    }

    /// Does some work, and does it again where the medium is full and the settings make room for it.
    pub(crate) fn with_room<T, E>(
        &self,
        is_full: impl Fn(&E) -> bool,
        mut work: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut waits = 0;
        loop {
            let seen = self.rooms_made.load(Relaxed);
            let error = match work() {
                Err(error) if is_full(&error) => error,
                done => return done,
            };
            match self.make_room(seen) {
                Room::Made => {}
                Room::Later if waits < WAITS_MAX => {
                    waits += 1;
                    std::thread::sleep(WAIT);
                }
                Room::Later | Room::None => return Err(error),
            }
        }
    }

    /// Takes the oldest segment out, if the settings say so.
    fn make_room(&self, seen: u64) -> Room {
        let mut writer = self.lock_manifest();
        // What somebody else has made since it was looked at may do.
        if self.rooms_made.load(Relaxed) != seen {
            return Room::Made;
        }
        match self.make_room_now(&mut writer) {
            Ok(true) => {
                self.rooms_made.fetch_add(1, Relaxed);
                Room::Made
            }
            // It may be the caller's own compaction, so nobody waits for its lock.
            Err(error)
                if error.is_full_medium()
                    && matches!(self.compacting.try_lock(), Err(TryLockError::WouldBlock)) =>
            {
                Room::Later
            }
            Ok(false) | Err(_) => Room::None,
        }
    }

    fn make_room_now(&self, writer: &mut Publishing<'_>) -> Result<bool, SealError> {
        if writer.manifest.oldest_to_go().is_none() {
            return Ok(false);
        }
        // A compaction of this process holds what it reads, and the manifest whose room the next one needs. Others append while it is waited for.
        let _nothing_is_read =
            writer.unlocked(|| self.reading.lock().unwrap_or_else(PoisonError::into_inner));
        self.take_out_oldest(writer)
    }

    /// Frees what readers held until now, or else takes the oldest segment out. False if no room came free.
    fn take_out_oldest(&self, writer: &mut Publishing<'_>) -> Result<bool, SealError> {
        let directory = &*self.directory;
        let Some(oldest) = writer.manifest.oldest_to_go() else { return Ok(false) };
        // That makes room for the manifest that it takes, too.
        if retire::sweep(directory, &writer.manifest) {
            return Ok(true);
        }
        if !oldest.frees_its_room(directory, &writer.manifest) {
            return Ok(false);
        }
        let mut manifest = writer.manifest.clone();
        manifest.take_out(&[oldest], Cause::FullMedium, settings::now());
        self.replace_segments(writer, manifest, &[], Written::default(), |_| ())?;
        // A reader may hold it.
        Ok(bytes_of(directory, &oldest.name()).is_ok_and(|bytes| bytes == 0))
    }
}
