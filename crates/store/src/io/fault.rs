//! Which calls of a simulated folder fail, and how.

use std::io;

/// A failure to come.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// The call that fails, counted from 0: all calls count, reading ones too.
    pub at: u64,
    /// Whether all later ones of its kind fail too.
    pub forever: bool,
    /// How it fails.
    pub kind: FaultKind,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The device errs. After a flush that fails like this the bytes still read well, but are never written.
    Device,
    /// The device errs in reading, and in nothing else.
    Unreadable,
    /// There is no room: creating fails, and so does a write that would make a file longer, after its first half.
    NoSpace,
    /// A write or a read does only half of what it was asked for.
    Short,
    /// A write or a read is interrupted before it did anything.
    Interrupted,
}

/// What a call is about, as far as faults tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Look,
    Read,
    Write,
    Create,
    Rename,
    Flush,
}

pub(super) enum Verdict {
    Pass,
    Half,
    HalfThenFail(io::Error),
    Fail(io::Error),
}

/// What a device answers that cannot read a sector.
pub(super) fn unreadable() -> io::Error {
    // EIO, or ERROR_IO_DEVICE.
    io::Error::from_raw_os_error(if cfg!(windows) { 1117 } else { 5 })
}

impl Fault {
    /// What becomes of the call of this number.
    pub(super) fn verdict(self, at: u64, call: Call) -> Verdict {
        if at != self.at && !(self.forever && at > self.at) {
            return Verdict::Pass;
        }
        match (self.kind, call) {
            (FaultKind::Device | FaultKind::Unreadable, Call::Read) => Verdict::Fail(unreadable()),
            (FaultKind::Device, _) => Verdict::Fail(io::Error::other("simulated failure of the device")),
            (FaultKind::NoSpace, Call::Write) => Verdict::HalfThenFail(io::ErrorKind::StorageFull.into()),
            (FaultKind::NoSpace, Call::Create) => Verdict::Fail(io::ErrorKind::StorageFull.into()),
            (FaultKind::Short, Call::Write | Call::Read) => Verdict::Half,
            // For ever interrupted would be for ever waiting.
            (FaultKind::Interrupted, Call::Write | Call::Read) if at == self.at => {
                Verdict::Fail(io::ErrorKind::Interrupted.into())
            }
            _ => Verdict::Pass,
        }
    }
}
