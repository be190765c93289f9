//! The threads of a store opened for writing: they flush at intervals, seal what is due, compact small segments, remove what is too old, and do what
//! other processes ask for.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::options::Durability;
use crate::scrub::{self, Scrub};
use crate::serving::REQUESTS_PAUSE;
use crate::settings;
use crate::signal::Signal;
use crate::snapshot::Snapshot;
use crate::writer::Inner;

/// The running threads: they end, and give the store back, when this is dropped.
#[derive(Debug)]
pub(crate) struct Threads {
    running: Vec<(Arc<Signal>, JoinHandle<()>)>,
    /// The process that they run in.
    process: u32,
}

impl Threads {
    /// Starts those that the options ask for. Where the system allows no thread, appends seal what is due themselves.
    pub(crate) fn start(inner: &Arc<Inner>) -> std::io::Result<Threads> {
        let mut threads = Threads { running: Vec::new(), process: std::process::id() };
        if let Durability::Interval(interval) = inner.options.durability {
            let signal = Arc::new(Signal::default());
            threads.spawn("flush", &signal, inner, move |inner, signal| flush(inner, signal, interval))?;
        }
        if inner.options.background {
            let started = threads.spawn("upkeep", &inner.signal, inner, keep_up);
            inner.has_upkeep.store(started.is_ok(), Relaxed);
            // Where there is no thread to be had nobody can ask for anything; all else goes on.
            let _ = threads.spawn("requests", &Arc::default(), inner, serve);
        }
        if let Some(bytes_per_second) = inner.options.scrub {
            // Nothing depends on it.
            let scrub = move |inner: &Inner, signal: &Signal| keep_scrubbing(inner, signal, bytes_per_second);
            let _ = threads.spawn("scrub", &Arc::default(), inner, scrub);
        }
        Ok(threads)
    }

    fn spawn(
        &mut self,
        name: &str,
        signal: &Arc<Signal>,
        inner: &Arc<Inner>,
        body: impl FnOnce(&Inner, &Signal) + Send + 'static,
    ) -> std::io::Result<()> {
        let (inner, own) = (Arc::clone(inner), Arc::clone(signal));
        let thread = std::thread::Builder::new().name(format!("tamias-{name}"));
        self.running.push((Arc::clone(signal), thread.spawn(move || body(&inner, &own))?));
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            // In a process forked from that one there is no such thread: it would be waited for in vain.
            return;
        }
        // All of them before any is waited for: one may have to wait for another.
        self.running.iter().for_each(|(signal, _)| signal.stop());
        for (_, thread) in self.running.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Serves the requests of other processes, and says in a log at rest that it is durable.
fn serve(inner: &Inner, signal: &Signal) {
    inner.forget_requests();
    let mut written = 0;
    while signal.wait_until(Instant::now().checked_add(REQUESTS_PAUSE)) {
        inner.serve_requests(&|| !signal.is_stopped());
        inner.bear_witness_at_rest(&mut written);
    }
}

/// How long after the last round of scrubbing began the next one does.
const SCRUB_PAUSE: Duration = Duration::from_secs(7 * 86_400);

/// Between two rounds of scrubbing there is at least so much time, however long one took.
const SCRUB_PAUSE_MIN: Duration = Duration::from_secs(3600);

/// Scrubs round after round. What cannot be read now is tried again with the next round.
fn keep_scrubbing(inner: &Inner, signal: &Signal, bytes_per_second: u64) {
    let snapshot = || Ok(Snapshot { state: inner.state() });
    let may_go_on = || !signal.is_stopped();
    let mut pause = inner.scrub_pause();
    while pause.is_zero() || signal.wait_until(Instant::now().checked_add(pause)) {
        let round = scrub::round(&*inner.directory, &snapshot, bytes_per_second, &may_go_on, &mut |_| ());
        if !may_go_on() {
            return;
        }
        // As the round tells: it may not have been possible to note it in the store.
        pause = round.map_or(SCRUB_PAUSE, |scrub| until_next(&scrub).max(SCRUB_PAUSE_MIN));
    }
}

/// How long there is to the round after this one.
fn until_next(scrub: &Scrub) -> Duration {
    SCRUB_PAUSE.saturating_sub(settings::duration(settings::now().saturating_sub(scrub.began)))
}

impl Inner {
    /// How long there is to the next round of scrubbing; nothing if one was interrupted.
    fn scrub_pause(&self) -> Duration {
        let last =
            Scrub::read(&*self.directory, self.environment.store).filter(|scrub| scrub.ended.is_some());
        last.map_or(Duration::ZERO, |scrub| until_next(&scrub))
    }
}

/// Flushes again and again. After a failure nothing is flushed any more.
fn flush(inner: &Inner, signal: &Signal, interval: Duration) {
    let next = || Instant::now().checked_add(interval);
    while signal.wait_until(next()) {
        if inner.flush().is_err() {
            return;
        }
    }
}

/// Seals what is due, compacts small segments, step by step, and removes what is too old.
fn keep_up(inner: &Inner, signal: &Signal) {
    // Whoever lives for a moment only does this much all the same. What fails without harm is tried again later.
    let may_go_on = || !signal.is_stopped();
    let _ = inner.tidy(&|| true);
    loop {
        let time = {
            let writer = inner.lock();
            if writer.check().is_err() {
                return;
            }
            let look = writer.manifest.settings.pause().and_then(|pause| Instant::now().checked_add(pause));
            writer.seal_time(&inner.options).into_iter().chain(look).min()
        };
        // What has become too old goes now, with the next sealing, or after the pause.
        while inner.cut_border(&may_go_on).is_ok_and(|found| found) {}
        let _ = inner.remove_too_old();
        if !signal.wait_until(time) {
            return;
        }
        inner.seal_if_due();
        // What cannot be compacted now is tried again after the next sealing.
        while inner.compact_tier(&may_go_on).is_ok_and(|found| found) {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Closing a store used to wait for a compaction that another process had asked for, as its thread was told last to end.
    #[test]
    fn all_threads_are_told_to_end_before_one_is_waited_for() {
        let signals = [Arc::new(Signal::default()), Arc::new(Signal::default())];
        let in_time = Arc::new(AtomicBool::new(true));
        let spawn = |number: usize| {
            let [own, other] = [&signals[number], &signals[1 - number]].map(Arc::clone);
            let (in_time, begun) = (Arc::clone(&in_time), Instant::now());
            // Each ends once the other was told to.
            let body = move || {
                while !other.is_stopped() {
                    if begun.elapsed() > Duration::from_secs(20) {
                        return in_time.store(false, Relaxed);
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            };
            (own, std::thread::spawn(body))
        };
        drop(Threads { running: vec![spawn(0), spawn(1)], process: std::process::id() });
        assert!(in_time.load(Relaxed));
    }
}
