//! Progress on a terminal; nothing where standard error is none.

use std::cell::{Cell, OnceCell};
use std::fmt::Write;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often something moves.
const MOVES: Duration = Duration::from_millis(200);

/// Does some work, and shows that it goes on where it takes its time.
pub(crate) fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let _sign = Sign::new(what);
    work()
}

/// Something that turns on the terminal until this is dropped, if that takes its time.
pub(crate) struct Sign {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sign {
    pub(crate) fn new(what: &str) -> Sign {
        let bar = spinner(what);
        let (done, is_done) = mpsc::channel::<()>();
        let is_seen = !bar.is_hidden();
        let tick = move || {
            let mut patience = PATIENCE;
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(patience) {
                bar.tick();
                patience = MOVES;
            }
            bar.finish_and_clear();
        };
        // Where there is no thread, or nobody to look, the work is done all the same.
        let thread = is_seen.then(|| thread::Builder::new().spawn(tick).ok()).flatten();
        Sign { done: Some(done), thread }
    }
}

impl Drop for Sign {
    /// Leaves the line empty for what is written next.
    fn drop(&mut self) {
        self.done = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A bar that counts bytes, with an end if that is known.
pub(crate) fn bytes(what: &str, total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{msg} [{bar:30}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        None => "{spinner} {msg} {decimal_bytes} {decimal_bytes_per_sec}",
    };
    bar(what, total, template)
}

/// Something that turns for as long as it is not known how long it takes.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    bar(what, None, "{spinner} {msg} {elapsed}")
}

/// A bar that counts events.
pub(crate) fn events(what: &str, total: u64) -> ProgressBar {
    bar(what, Some(total), "{msg} [{bar:30}] {human_pos}/{human_len} {rate} {eta}")
}

/// A bar of the share of some work that is done, until this is dropped, if that takes its time.
pub(crate) struct Share {
    what: &'static str,
    total: u64,
    began: Instant,
    done: Cell<u64>,
    bar: OnceCell<ProgressBar>,
}

impl Share {
    pub(crate) fn new(what: &'static str, total: u64) -> Share {
        Share { what, total, began: Instant::now(), done: Cell::new(0), bar: OnceCell::new() }
    }

    /// One more part of the work is done.
    pub(crate) fn step(&self) {
        self.done.set(self.done.get() + 1);
        if self.began.elapsed() >= PATIENCE {
            let template = "{msg} [{bar:30}] {percent} % {elapsed}";
            let bar = self.bar.get_or_init(|| bar(self.what, Some(self.total), template));
            bar.set_position(self.done.get().min(self.total));
        }
    }
}

impl Drop for Share {
    /// Leaves the line empty for what is written next.
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str, total: Option<u64>, template: &str) -> ProgressBar {
    // A bar to standard error draws nothing where that is no terminal.
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(template) {
        let rate = |state: &ProgressState, text: &mut dyn Write| _ = write!(text, "{:.0}/s", state.per_sec());
        bar.set_style(style.progress_chars("=> ").with_key("rate", rate));
    }
    bar.with_message(what.to_owned())
}
