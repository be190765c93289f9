//! The reserve: room that is kept free, so that a log can still be sealed when the medium is full.
//!
//! Where the oldest segments are to go when the medium is full, a log must not grow until there is neither room for a segment made of it nor another segment to remove. So as the log grows, a file takes as
//! much room as sealing it may need. When that file cannot grow, the medium is as good as full, while something can still be done about it. Sealing removes the file when it finds no other room, and so does
//! opening, which may have to copy the log. The file's bytes mean nothing, and nothing depends on it.

use std::io;
use std::sync::Arc;

use crate::error::{Failure, Operation};
use crate::format::{HEADER_BYTES, RESERVE_NAME};
use crate::io::{Directory, File, NameKind};

/// So many bytes are kept for each one of the log. HEURISTIC: a segment of text has its documents, 20 bytes an event where the log has 12, and statistics.
pub(crate) const BYTES_PER_LOG_BYTE: u64 = 2;

/// The file, as far as this process has made it.
#[derive(Debug, Default)]
pub(crate) struct Reserve {
    file: Option<Arc<dyn File>>,
    /// How much room it is known to have.
    bytes: u64,
    /// A sealing under way has its room.
    is_lent: bool,
    /// The file system keeps no room for a file.
    is_unsupported: bool,
}

impl Reserve {
    /// Sees to it that there is room for the segments of so many bytes of logs. The file grows in steps.
    ///
    /// # Errors
    /// Where the medium is full, or a sealing has the room: the log must not grow now. If the file system cannot keep room there is none, and no error.
    pub(crate) fn keep(
        &mut self,
        directory: &dyn Directory,
        log_bytes: u64,
        step: u64,
    ) -> Result<(), Failure> {
        let fail = Failure::during(directory, RESERVE_NAME, Operation::Write);
        if self.is_lent {
            return Err(fail(io::ErrorKind::StorageFull.into()));
        }
        let needed = log_bytes.saturating_mul(BYTES_PER_LOG_BYTE);
        if self.is_unsupported || needed <= self.bytes {
            return Ok(());
        }
        let bytes = needed.saturating_add(step).next_multiple_of(step.max(1));
        let Err(error) = self.grow(directory, bytes) else { return Ok(()) };
        let failure = fail(error);
        if failure.is_full_medium() {
            // What it got of the room in vain.
            match &self.file {
                Some(file) if self.bytes > 0 => drop(file.set_length(self.bytes)),
                _ => drop(self.remove(directory)),
            }
            return Err(failure);
        }
        self.remove(directory);
        self.is_unsupported = true;
        Ok(())
    }

    fn grow(&mut self, directory: &dyn Directory, bytes: u64) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => {
                let file = open(directory)?;
                self.file = Some(Arc::clone(&file));
                file
            }
        };
        file.keep_room(bytes)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Gives the room to a sealing, until [`take_back`](Reserve::take_back). False if there is none.
    pub(crate) fn lend(&mut self, directory: &dyn Directory) -> bool {
        self.is_lent = self.remove(directory);
        self.is_lent
    }

    /// The sealing has ended: room may be kept again.
    pub(crate) fn take_back(&mut self) {
        self.is_lent = false;
    }

    /// How much room it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a sealing has the room.
    pub(crate) fn is_lent(&self) -> bool {
        self.is_lent
    }

    /// Removes the file, whoever made it; whether room came free.
    pub(crate) fn remove(&mut self, directory: &dyn Directory) -> bool {
        (self.file, self.bytes) = (None, 0);
        remove(directory)
    }
}

/// The file of an earlier process, or a new one.
fn open(directory: &dyn Directory) -> io::Result<Arc<dyn File>> {
    // As in a copy of the folder made of second names: it would not give its room.
    if directory.has_other_names(RESERVE_NAME) {
        remove(directory);
    }
    match directory.open_for_writing(RESERVE_NAME) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => directory.create(RESERVE_NAME),
        Ok(file) if !is_reserve(&*file) => Err(io::ErrorKind::AlreadyExists.into()),
        opened => opened,
    }
}

/// Whether a file begins with zeros only, as it has nothing else: somebody may have put another one here before stores had reserves.
fn is_reserve(file: &dyn File) -> bool {
    file.read_range(0, HEADER_BYTES).is_ok_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

/// Removes the file of any process; whether room came free.
pub(crate) fn remove(directory: &dyn Directory) -> bool {
    let there = directory.kind(RESERVE_NAME);
    let Ok(Some(NameKind::File(bytes))) = there else { return false };
    let is_own = directory.open(RESERVE_NAME).is_ok_and(|file| is_reserve(&*file));
    is_own && directory.remove(RESERVE_NAME).is_ok() && bytes > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Simulated;

    #[test]
    fn another_file_of_that_name_stays() {
        let folder = Simulated::new();
        let other = folder.create(RESERVE_NAME).unwrap();
        other.write_at(0, b"reservations").unwrap();
        let mut reserve = Reserve::default();
        reserve.keep(&folder, 100, 1000).unwrap();
        assert!(!reserve.lend(&folder) && !remove(&folder));
        assert_eq!(other.read_range(0, 100).unwrap(), b"reservations");
    }

    #[test]
    fn it_grows_in_steps_is_lent_and_is_made_again() {
        let folder = Simulated::new();
        let mut reserve = Reserve::default();
        let length = || folder.medium().bytes();
        reserve.keep(&folder, 100, 1000).unwrap();
        assert_eq!(length(), 2000);
        reserve.keep(&folder, 1000, 1000).unwrap();
        assert_eq!(length(), 2000, "that is enough");
        folder.set_room(Some(2500));
        assert!(reserve.keep(&folder, 1001, 1000).unwrap_err().is_full_medium());
        assert_eq!(length(), 2000);
        assert!(reserve.lend(&folder));
        assert_eq!(length(), 0);
        assert!(reserve.keep(&folder, 1, 10).unwrap_err().is_full_medium(), "a sealing has the room");
        assert!(!reserve.remove(&folder));
        reserve.take_back();
        reserve.keep(&folder, 1, 10).unwrap();
        assert_eq!(length(), 20);
        // The next process takes the file over.
        let mut reserve = Reserve::default();
        reserve.keep(&folder, 500, 500).unwrap();
        assert_eq!(length(), 1500);
    }
}
