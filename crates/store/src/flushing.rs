//! Flushing: one of the threads that wait for it flushes for all, and what is durable is shown.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use crate::error::{AppendError, Failure, Operation, SealError};
use crate::log::LogWriter;
use crate::writer::{Inner, Pending, Writer};

impl Inner {
    /// Returns when the batch with this ticket is durable. One of the waiting threads flushes for all that have written by then.
    pub(crate) fn wait_until_durable<'w>(
        &'w self,
        mut writer: MutexGuard<'w, Writer>,
        ticket: u64,
    ) -> Result<MutexGuard<'w, Writer>, AppendError> {
        loop {
            if writer.done >= ticket {
                return Ok(writer);
            }
            writer.check()?;
            if writer.flushing {
                writer = self.flushed.wait(writer).unwrap_or_else(PoisonError::into_inner);
            } else {
                writer = self.flush_log(writer)?;
            }
        }
    }

    /// Flushes what the log has now, and shows it. Other threads can write meanwhile.
    pub(crate) fn flush_log<'w>(
        &'w self,
        mut writer: MutexGuard<'w, Writer>,
    ) -> Result<MutexGuard<'w, Writer>, SealError> {
        while writer.flushing {
            writer = self.flushed.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
        writer.check()?;
        let ticket = writer.ticket;
        let Some(log) = writer.log.as_ref().filter(|log| log.flushed < log.written) else {
            return Ok(writer);
        };
        let (file, written) = (Arc::clone(&log.file), log.written);
        let name = log.name().to_owned();
        writer.flushing = true;
        drop(writer);
        let begun = Instant::now();
        let result = file.flush().map_err(Failure::during(&*self.directory, &name, Operation::Flush));
        let mut writer = self.lock();
        writer.flushing = false;
        writer.stats.log_flushes += 1;
        writer.stats.log_time += begun.elapsed();
        self.flushed.notify_all();
        if let Err(failure) = result {
            let failure = writer.fail(failure);
            // Nobody will ever be told that these are stored.
            writer.pending.clear();
            return Err(failure.into());
        }
        if let Some(log) = &mut writer.log {
            log.flushed = written;
        }
        self.show(&mut writer, ticket);
        Ok(writer)
    }

    /// Flushes and shows everything, and leaves word in the log that it was durable.
    pub(crate) fn flush(&self) -> Result<(), SealError> {
        let writer = self.flush_log(self.lock())?;
        self.bear_witness(writer)
    }

    /// Says in the log that it is durable, if no batch was written since the last call, when `last` batches had been: if this process is killed, the next one need not write the latest batch again.
    pub(crate) fn bear_witness_at_rest(&self, last: &mut u64) {
        let writer = self.lock();
        if writer.check().is_err() {
            return;
        }
        let is_at_rest = std::mem::replace(last, writer.ticket) == writer.ticket;
        if is_at_rest && writer.log.as_ref().is_some_and(LogWriter::is_worth_a_witness) {
            // A failure that is final is reported to whoever appends next.
            let _ = self.bear_witness(writer);
        }
    }

    fn bear_witness(&self, mut writer: MutexGuard<'_, Writer>) -> Result<(), SealError> {
        self.check_hold(&mut writer)?;
        let (next_arrival, manifest) = (writer.replayed.next_arrival, writer.manifest.number);
        let Writer { log, pending, .. } = &mut *writer;
        if let Some(log) = log.as_mut().filter(|_| pending.is_empty())
            && let Err(failure) = log.bear_witness(&*self.directory, manifest, next_arrival)
            && failure.is_final()
        {
            return Err(writer.fail(failure).into());
        }
        // Without room for it nothing is lost but the word.
        Ok(())
    }

    /// Flushes and shows everything, while no other thread can write.
    pub(crate) fn settle<'w>(
        &'w self,
        mut writer: MutexGuard<'w, Writer>,
    ) -> Result<MutexGuard<'w, Writer>, SealError> {
        while writer.flushing {
            writer = self.flushed.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
        writer.check()?;
        let Writer { log, stats, .. } = &mut *writer;
        if let Some(log) = log.as_mut().filter(|log| log.flushed < log.written) {
            let begun = Instant::now();
            let result = log.flush(&*self.directory);
            stats.log_flushes += 1;
            stats.log_time += begun.elapsed();
            if let Err(failure) = result {
                writer.pending.clear();
                self.flushed.notify_all();
                return Err(writer.fail(failure).into());
            }
        }
        let ticket = writer.ticket;
        self.show(&mut writer, ticket);
        self.flushed.notify_all();
        Ok(writer)
    }

    /// Takes the batches up to a ticket into the memtable, and lets snapshots see them.
    pub(crate) fn show(&self, writer: &mut Writer, ticket: u64) {
        let time = writer.seal_time(&self.options);
        while writer.done < ticket {
            writer.done += 1;
            let Some(Pending { runs, source }) = writer.pending.pop_front() else { continue };
            for run in runs {
                writer.replayed.memtable.push(run, self.options.block_bytes);
            }
            if let Some((name, mark)) = source {
                writer.replayed.mark(&name, mark);
            }
            writer.since.get_or_insert_with(Instant::now);
        }
        if writer.seal_time(&self.options) != time {
            self.signal.wake();
        }
        let segments = Arc::clone(&self.state().segments);
        self.publish(segments, writer);
    }
}
