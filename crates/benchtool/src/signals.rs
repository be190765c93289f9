//! The signals that this program answers: Ctrl-C, and that a file has reached the limit of its size.
//!
//! All that a signal does here is to set a flag. So no thread has to wait for it, and there need not be one to be had.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts;
use signal_hook::flag::{register, register_conditional_shutdown};
use signal_hook::{SigId, low_level};
use tamias::CancelHandle;

use crate::failure::Failure;

/// What asks a program to end; Ctrl-C in short.
#[cfg(unix)]
const ENDINGS: [i32; 3] = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP];
#[cfg(not(unix))]
const ENDINGS: [i32; 2] = [consts::SIGINT, consts::SIGTERM];

/// As a shell reports a process that died of SIGINT.
const INTERRUPTED: i32 = 130;

/// Whether the next Ctrl-C ends the process: there was one, or there is nothing to be ended in good order.
static NEXT_ENDS: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C only sets the flag; the second ends the process at once.
pub(crate) fn catch() -> Result<(), Failure> {
    static IS_CAUGHT: AtomicBool = AtomicBool::new(false);
    // A second time the end of the process would come behind the flag that the same signal sets.
    if IS_CAUGHT.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for signal in ENDINGS {
        // The flag is looked at before this signal sets it.
        register_conditional_shutdown(signal, INTERRUPTED, &NEXT_ENDS)
            .and_then(|_| register(signal, &NEXT_ENDS))
            .map_err(unwatched)?;
    }
    Ok(())
}

/// Whether there was a Ctrl-C.
pub(crate) fn requested() -> bool {
    NEXT_ENDS.load(Ordering::Relaxed)
}

/// Takes a Ctrl-C for meant for another program, which shares the terminal.
pub(crate) fn forget() {
    NEXT_ENDS.store(false, Ordering::Relaxed);
}

/// From now on Ctrl-C ends the process, but for the query that a [`Cancels`] names.
pub(crate) fn catch_for_queries() -> Result<(), Failure> {
    NEXT_ENDS.store(true, Ordering::Relaxed);
    catch()
}

/// While it lives the first Ctrl-C cancels a query.
pub(crate) struct Cancels(Vec<SigId>);

impl Cancels {
    pub(crate) fn query(query: &CancelHandle) -> Result<Cancels, Failure> {
        let ids = ENDINGS.iter().map(|signal| register(*signal, query.flag()));
        let ids = ids.collect::<io::Result<Vec<SigId>>>().map_err(unwatched)?;
        NEXT_ENDS.store(false, Ordering::Relaxed);
        Ok(Cancels(ids))
    }
}

impl Drop for Cancels {
    fn drop(&mut self) {
        NEXT_ENDS.store(true, Ordering::Relaxed);
        for id in self.0.drain(..) {
            low_level::unregister(id);
        }
    }
}

fn unwatched(error: io::Error) -> Failure {
    Failure::Io(format!("cannot watch for Ctrl-C: {error}"))
}

/// From now on a write beyond the size that a file may have (`ulimit -f`) fails like any other. Otherwise its signal would end the
/// process in the middle of its work, without a word.
pub(crate) fn survive_file_size_limit() {
    #[cfg(unix)]
    {
        static NOTED: AtomicBool = AtomicBool::new(false);
        // Where it cannot be done, a command that reaches no limit goes on all the same.
        let _ = register(consts::SIGXFSZ, &NOTED);
    }
}
