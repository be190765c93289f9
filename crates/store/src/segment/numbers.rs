use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The numbers of files: which comes next, and which belong to segments in the making, that nobody may take for leftovers.
#[derive(Debug)]
pub(crate) struct Numbers(Mutex<Given>);

#[derive(Debug)]
struct Given {
    next: u64,
    making: BTreeSet<u64>,
}

impl Numbers {
    pub(crate) fn new(next: u64) -> Numbers {
        Numbers(Mutex::new(Given { next, making: BTreeSet::new() }))
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All numbers given so far are below this one.
    pub(crate) fn next(&self) -> u64 {
        self.given().next
    }

    /// A number for a file.
    pub(crate) fn take(&self) -> u64 {
        let mut given = self.given();
        given.next += 1;
        given.next - 1
    }

    /// A number for a segment that is going to be written.
    pub(crate) fn make(&self) -> Making<'_> {
        let mut given = self.given();
        let number = given.next;
        given.next += 1;
        given.making.insert(number);
        Making { number, numbers: self }
    }

    /// Whether the segment of this number is being written, or written and not yet named by a manifest.
    pub(crate) fn in_the_making(&self, number: u64) -> bool {
        self.given().making.contains(&number)
    }
}

/// The number of a segment in the making, until this is dropped.
#[derive(Debug)]
pub(crate) struct Making<'a> {
    pub(crate) number: u64,
    numbers: &'a Numbers,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.numbers.given().making.remove(&self.number);
    }
}
