//! Bounds: a store keeps to its settings by itself.
//!
//! Whatever changes the list of segments takes those out, in the same manifest, that are outside of the bounds by then: so no moment shows more,
//! and it costs no manifest of its own. What only grows older is looked at now and then. A segment at the border of age is
//! written anew without what is too old by [compaction](crate::compaction).

use crate::error::{Failure, SealError};
use crate::history::Cause;
use crate::inventory::{Usage, bytes_of};
use crate::io::Directory;
use crate::manifest::{Manifest, SegmentEntry};
use crate::publishing::Publishing;
use crate::removal::{Removed, Retention};
use crate::retire;
use crate::segment::Written;
use crate::settings::{self, Settings};
use crate::writer::Inner;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

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

impl Inner {
    /// What the store keeps to by itself.
    pub(crate) fn settings(&self) -> Settings {
        self.lock().manifest.settings
    }

    /// Keeps to other settings from now on, and to their bounds at once.
    pub(crate) fn set_settings(&self, settings: Settings) -> Result<(), SealError> {
        let writer = self.lock();
        let is_worth = settings != writer.manifest.settings && writer.is_worth_a_segment(&self.options);
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
        drop(writer);
        self.signal.wake();
        Ok(())
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
        is_full: fn(&E) -> bool,
        mut work: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let seen = self.rooms_made.load(Relaxed);
            match work() {
                Err(error) if is_full(&error) && self.make_room(seen) => {}
                done => return done,
            }
        }
    }

    /// Takes the oldest segment out, if the settings say so. False if no room came free: then more of it would be in vain. Where somebody else has made
    /// room since it was looked at, that may do.
    fn make_room(&self, seen: u64) -> bool {
        let mut writer = self.lock_manifest();
        if self.rooms_made.load(Relaxed) != seen {
            return true;
        }
        let made = self.make_room_now(&mut writer);
        self.rooms_made.fetch_add(u64::from(made), Relaxed);
        made
    }

    fn make_room_now(&self, writer: &mut Publishing<'_>) -> bool {
        let directory = &*self.directory;
        let Some(oldest) = writer.manifest.oldest_to_go() else { return false };
        // First what readers held until now, and room for the manifest that it takes.
        if retire::sweep(directory, &writer.manifest) {
            return true;
        }
        if !oldest.frees_its_room(directory, &writer.manifest) {
            return false;
        }
        let mut manifest = writer.manifest.clone();
        manifest.take_out(&[oldest], Cause::FullMedium, settings::now());
        let removed = self.replace_segments(writer, manifest, &[], Written::default(), |_| ());
        // A reader may hold it.
        removed.is_ok() && bytes_of(directory, &oldest.name()).is_ok_and(|bytes| bytes == 0)
    }
}
