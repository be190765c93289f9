//! Changing the manifest while others append: the writer is free while the medium is waited for.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::error::{Failure, Operation, SealError};
use crate::format::FileKind;
use crate::history::Traffic;
use crate::io::Lock;
use crate::log::LogWriter;
use crate::manifest::Manifest;
use crate::retire;
use crate::writer::{Inner, Writer};

/// The writer, and the right to put another manifest in the place of its own: nobody else does meanwhile, even where the writer is let go
/// for a while. Then others append, which changes nothing of the manifest but its traffic.
pub(crate) struct Publishing<'a> {
    inner: &'a Inner,
    /// None while the writer is free.
    writer: Option<MutexGuard<'a, Writer>>,
    _one_at_a_time: MutexGuard<'a, ()>,
}

/// A manifest that is on the medium, and that the writer does not keep to yet.
pub(crate) struct Published {
    pub(crate) manifest: Manifest,
    generation: Arc<dyn Lock>,
    /// What the writer had counted by then.
    traffic: Traffic,
}

impl Deref for Publishing<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        match &self.writer {
            Some(writer) => writer,
            None => unreachable!("whoever lets it go has it again afterwards"),
        }
    }
}

impl DerefMut for Publishing<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        match &mut self.writer {
            Some(writer) => writer,
            None => unreachable!("whoever lets it go has it again afterwards"),
        }
    }
}

impl Publishing<'_> {
    /// Does something that takes long, as flushes do, while others append.
    pub(crate) fn unlocked<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.writer = None;
        let done = work();
        self.writer = Some(self.inner.lock());
        done
    }

    /// Publishes a manifest under the next number. Its generation is held for the snapshots that will be taken from it.
    pub(crate) fn publish(&mut self, manifest: Manifest) -> Result<Published, Failure> {
        let inner = self.inner;
        let mut manifest = self.following(manifest, inner.numbers.next());
        let (before, traffic) = (self.manifest.clone(), self.manifest.traffic);
        let published = self.unlocked(|| {
            inner.hold.check(&*inner.directory)?;
            manifest.replaces(&before, &*inner.directory)?;
            manifest.publish(&*inner.directory)
        });
        let generation = published.map_err(|failure| self.fail(failure))?;
        Ok(Published { manifest, generation, traffic })
    }

    /// Keeps to a manifest that was published, and counts what was appended since.
    pub(crate) fn keep_to(&mut self, published: Published) {
        let Published { mut manifest, generation, traffic } = published;
        let since = |now: u64, then: u64| now.saturating_sub(then);
        let now = self.manifest.traffic;
        let sums = &mut manifest.traffic;
        sums.appended = sums.appended.saturating_add(since(now.appended, traffic.appended));
        sums.logs = sums.logs.saturating_add(since(now.logs, traffic.logs));
        self.install(manifest, generation);
    }

    /// Removes what no manifest needs any more. Where a flush has failed meanwhile everything stays: nobody knows what is on the medium.
    pub(crate) fn sweep(&mut self) {
        if self.check().is_err() {
            return;
        }
        let (inner, manifest) = (self.inner, self.manifest.clone());
        self.unlocked(|| retire::sweep(&*inner.directory, &manifest));
    }

    /// Creates a log, durable, and named by a manifest and in its folder when this returns.
    fn create_log(&mut self) -> Result<LogWriter, Failure> {
        let (inner, store) = (self.inner, self.manifest.store);
        let number = inner.numbers.take_free(&*inner.directory, FileKind::Log);
        let created = self.unlocked(|| LogWriter::create(&*inner.directory, store, number));
        let mut log = created.map_err(|failure| self.fail(failure))?;
        self.manifest.traffic.count(log.take_uncounted());
        let mut manifest = self.manifest.clone();
        manifest.next_arrival = self.replayed.next_arrival;
        manifest.logs.push(log.entry());
        let published = self.publish(manifest).inspect_err(|failure| {
            if !failure.is_final() {
                log.remove_unfinished(&*inner.directory);
            }
        })?;
        let named = self.unlocked(|| {
            log.rename(&*inner.directory)?;
            inner.directory.flush().map_err(Failure::during(&*inner.directory, "", Operation::FlushFolder))
        });
        self.keep_to(published);
        named.map_err(|failure| self.fail(failure))?;
        Ok(log)
    }
}

impl Inner {
    /// The writer, for whoever changes the manifest.
    pub(crate) fn lock_manifest(&self) -> Publishing<'_> {
        let one_at_a_time = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        Publishing { inner: self, writer: Some(self.lock()), _one_at_a_time: one_at_a_time }
    }

    /// Sees to it that there is a log to append to.
    pub(crate) fn begin_log(&self) -> Result<(), SealError> {
        let mut writer = self.lock_manifest();
        writer.check()?;
        if writer.log.is_some() {
            return Ok(());
        }
        let log = match writer.next_log.take() {
            Some(log) => log,
            None => writer.create_log()?,
        };
        writer.log = Some(log);
        self.publish(Arc::clone(&self.state().segments), &writer);
        writer.sweep();
        Ok(())
    }

    /// Sees to it that appends need not wait for another log when the present one is sealed.
    pub(crate) fn prepare_log(&self) -> Result<(), SealError> {
        let mut writer = self.lock_manifest();
        writer.check()?;
        if writer.next_log.is_none() {
            writer.next_log = Some(writer.create_log()?);
            self.publish(Arc::clone(&self.state().segments), &writer);
            writer.sweep();
        }
        Ok(())
    }

    /// Forgets that positions of sources were lost.
    pub(crate) fn accept_source_positions(&self) -> Result<(), SealError> {
        let mut writer = self.lock_manifest();
        writer.check()?;
        writer.replayed.sources_lost_before = 0;
        if writer.manifest.sources_lost_before > 0 {
            let manifest = Manifest { sources_lost_before: 0, ..writer.manifest.clone() };
            let published = writer.publish(manifest)?;
            writer.keep_to(published);
            self.publish(Arc::clone(&self.state().segments), &writer);
            writer.sweep();
        }
        Ok(())
    }
}
