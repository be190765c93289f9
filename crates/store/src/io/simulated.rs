use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::medium::{Change, Medium};
use super::{Directory, File, Lock, LockKind, Mapping};

/// A folder in memory, for tests: it records every change, can fail any call, and tells what a loss of power would leave. Clones are
/// the same folder.
#[derive(Clone, Default)]
pub struct Simulated {
    shared: Arc<Mutex<Shared>>,
    /// What the names of its files begin with: nothing, or the name of the folder within the first one.
    prefix: String,
}

#[derive(Default)]
struct Shared {
    medium: Medium,
    changes: Vec<Change>,
    calls: u64,
    fault: Option<Fault>,
    locks: HashMap<usize, Held>,
    before_flush: Option<Arc<dyn Fn() + Send + Sync>>,
}

#[derive(Default)]
struct Held {
    exclusive: bool,
    shared: usize,
}

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
    /// There is no room: writing, creating and renaming fail, a write after its first half.
    NoSpace,
    /// A write or a read does only half of what it was asked for.
    Short,
    /// A write or a read is interrupted before it did anything.
    Interrupted,
}

/// What a call is about, as far as faults tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Look,
    Read,
    Write,
    Name,
    Flush,
}

enum Verdict {
    Pass,
    Half,
    HalfThenFail(io::Error),
    Fail(io::Error),
}

impl Shared {
    /// Counts a call and says what becomes of it.
    fn verdict(&mut self, call: Call) -> Verdict {
        let at = self.calls;
        self.calls += 1;
        let Some(fault) = self.fault.filter(|fault| at == fault.at || (fault.forever && at > fault.at))
        else {
            return Verdict::Pass;
        };
        match (fault.kind, call) {
            (FaultKind::Device, _) => Verdict::Fail(io::Error::other("simulated failure of the device")),
            (FaultKind::NoSpace, Call::Write) => Verdict::HalfThenFail(io::ErrorKind::StorageFull.into()),
            (FaultKind::NoSpace, Call::Name) => Verdict::Fail(io::ErrorKind::StorageFull.into()),
            (FaultKind::Short, Call::Write | Call::Read) => Verdict::Half,
            // For ever interrupted would be for ever waiting.
            (FaultKind::Interrupted, Call::Write | Call::Read) if at == fault.at => {
                Verdict::Fail(io::ErrorKind::Interrupted.into())
            }
            _ => Verdict::Pass,
        }
    }

    fn pass(&mut self, call: Call) -> io::Result<()> {
        match self.verdict(call) {
            Verdict::Pass | Verdict::Half => Ok(()),
            Verdict::Fail(error) | Verdict::HalfThenFail(error) => Err(error),
        }
    }

    fn change(&mut self, change: Change) {
        self.medium.apply(&change);
        self.changes.push(change);
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.medium.find(name).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl std::fmt::Debug for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Simulated")
    }
}

impl Simulated {
    /// An empty folder.
    pub fn new() -> Simulated {
        Simulated::default()
    }

    /// A folder with what a medium holds.
    pub fn with(medium: Medium) -> Simulated {
        Simulated {
            shared: Arc::new(Mutex::new(Shared { medium, ..Shared::default() })),
            prefix: String::new(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The medium as it is now.
    pub fn medium(&self) -> Medium {
        self.shared().medium.clone()
    }

    /// All changes so far, in order.
    pub fn changes(&self) -> Vec<Change> {
        self.shared().changes.clone()
    }

    /// How many changes there were so far.
    pub fn change_count(&self) -> usize {
        self.shared().changes.len()
    }

    /// How many calls there were so far.
    pub fn calls(&self) -> u64 {
        self.shared().calls
    }

    /// Makes calls fail from now on, or stops it.
    pub fn fail(&self, fault: Option<Fault>) {
        self.shared().fault = fault;
    }

    /// Calls this before each flush of a file, while nothing is locked.
    pub fn before_flush(&self, hook: impl Fn() + Send + Sync + 'static) {
        self.shared().before_flush = Some(Arc::new(hook));
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn file(&self, number: usize) -> Arc<dyn File> {
        Arc::new(SimulatedFile { folder: self.clone(), number })
    }
}

impl Directory for Simulated {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        let names = shared.medium.names().filter_map(|name| name.strip_prefix(&self.prefix));
        Ok(names.filter(|name| !name.is_empty() && !name.contains('/')).map(str::to_owned).collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let name = self.full(name);
        let mut shared = self.shared();
        shared.pass(Call::Name)?;
        shared.change(Change::Create(name.clone()));
        let number = shared.find(&name)?;
        drop(shared);
        Ok(self.file(number))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let name = self.full(name);
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        let number = shared.find(&name)?;
        drop(shared);
        Ok(self.file(number))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        Ok(shared.find(&self.full(name)).is_ok())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut shared = self.shared();
        shared.pass(Call::Name)?;
        shared.find(&self.full(from))?;
        shared.change(Change::Rename(self.full(from), self.full(to)));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        shared.find(&self.full(name))?;
        shared.change(Change::Remove(self.full(name)));
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut shared = self.shared();
        let passed = shared.pass(Call::Flush);
        shared.change(Change::FlushFolder(self.prefix.clone(), passed.is_ok()));
        passed
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        let name = self.full(name);
        if kind == LockKind::Exclusive && shared.find(&name).is_err() {
            shared.change(Change::Create(name.clone()));
        }
        let file = shared.find(&name)?;
        let held = shared.locks.entry(file).or_default();
        match kind {
            LockKind::Exclusive if held.exclusive || held.shared > 0 => return Ok(None),
            LockKind::Shared if held.exclusive => return Ok(None),
            LockKind::Exclusive => held.exclusive = true,
            LockKind::Shared => held.shared += 1,
        }
        Ok(Some(Box::new(SimulatedLock { folder: self.clone(), file, kind })))
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        let name = self.full(&format!("{name}/"));
        let mut shared = self.shared();
        shared.pass(Call::Name)?;
        if shared.find(&name).is_err() {
            shared.change(Change::Create(name.clone()));
        }
        Ok(Arc::new(Simulated { shared: Arc::clone(&self.shared), prefix: name }))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from("simulated").join(self.full(name))
    }
}

#[derive(Debug)]
struct SimulatedLock {
    folder: Simulated,
    file: usize,
    kind: LockKind,
}

impl Lock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        if let Some(held) = self.folder.shared().locks.get_mut(&self.file) {
            match self.kind {
                LockKind::Exclusive => held.exclusive = false,
                LockKind::Shared => held.shared -= 1,
            }
        }
    }
}

#[derive(Debug)]
struct SimulatedFile {
    folder: Simulated,
    number: usize,
}

impl File for SimulatedFile {
    fn length(&self) -> io::Result<u64> {
        let mut shared = self.folder.shared();
        shared.pass(Call::Look)?;
        Ok(shared.medium.contents(self.number).len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut shared = self.folder.shared();
        let wanted = match shared.verdict(Call::Read) {
            Verdict::Pass => buffer.len(),
            Verdict::Half => buffer.len().div_ceil(2),
            Verdict::Fail(error) | Verdict::HalfThenFail(error) => return Err(error),
        };
        let contents = shared.medium.contents(self.number);
        let rest = usize::try_from(offset).ok().and_then(|offset| contents.get(offset..)).unwrap_or_default();
        let read = wanted.min(rest.len());
        for (to, from) in buffer.iter_mut().zip(rest.iter().take(read)) {
            *to = *from;
        }
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut shared = self.folder.shared();
        let (written, failed) = match shared.verdict(Call::Write) {
            Verdict::Pass => (bytes.len(), None),
            Verdict::Half => (bytes.len().div_ceil(2), None),
            Verdict::HalfThenFail(error) => (bytes.len() / 2, Some(error)),
            Verdict::Fail(error) => return Err(error),
        };
        let part = bytes.get(..written).unwrap_or_default();
        shared.change(Change::Write(self.number, offset, part.into()));
        failed.map_or(Ok(written), Err)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut shared = self.folder.shared();
        shared.pass(Call::Look)?;
        shared.change(Change::SetLength(self.number, length));
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let hook = self.folder.shared().before_flush.clone();
        if let Some(hook) = hook {
            hook();
        }
        let mut shared = self.folder.shared();
        let passed = shared.pass(Call::Flush);
        shared.change(Change::Flush(self.number, passed.is_ok()));
        passed
    }

    fn map(&self, length: u64) -> io::Result<Mapping> {
        let mut shared = self.folder.shared();
        shared.pass(Call::Look)?;
        let contents = shared.medium.contents(self.number);
        match usize::try_from(length).ok().and_then(|length| contents.get(..length)) {
            Some(bytes) => Ok(Box::new(bytes.to_vec())),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
