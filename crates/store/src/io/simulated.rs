//! A folder in memory that can fail any call, over a [`Medium`].

use std::collections::HashMap;
use std::fs::Permissions;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fault::{Call, Fault, Verdict, unreadable};
use super::folder::{Directory, File, Lock, LockKind, Mapping, NameKind};
use super::medium::{Change, Medium};

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
    /// Files, and ranges of them, that cannot be read.
    bad: Vec<(usize, Range<u64>)>,
    refuse: Option<Refuse>,
    /// Bytes that files of any name may have altogether.
    room: Option<u64>,
}

/// Says which changes are refused, and how.
type Refuse = Arc<dyn Fn(&Change) -> Option<io::ErrorKind> + Send + Sync>;

#[derive(Default)]
struct Held {
    exclusive: bool,
    shared: usize,
}

impl Shared {
    /// Counts a call and says what becomes of it.
    fn verdict(&mut self, call: Call) -> Verdict {
        let at = self.calls;
        self.calls += 1;
        self.fault.map_or(Verdict::Pass, |fault| fault.verdict(at, call))
    }

    fn pass(&mut self, call: Call) -> io::Result<()> {
        match self.verdict(call) {
            Verdict::Pass | Verdict::Half => Ok(()),
            Verdict::Fail(error) | Verdict::HalfThenFail(error) => Err(error),
        }
    }

    /// Makes a change, unless it is refused.
    fn change(&mut self, change: Change) -> io::Result<()> {
        if let Some(error) = self.refuse.as_ref().and_then(|refuse| refuse(&change)) {
            return Err(error.into());
        }
        if self.room.is_some_and(|room| self.medium.bytes() + self.medium.growth(&change) > room) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.medium.apply(&change);
        self.changes.push(change);
        Ok(())
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

    /// Makes a range of a file unreadable, under whatever name it is. One without an end takes the whole file with it: it cannot be opened.
    pub fn spoil(&self, name: &str, range: Range<u64>) {
        let mut shared = self.shared();
        if let Some(file) = shared.medium.find(&self.full(name)) {
            shared.bad.push((file, range));
        }
    }

    /// Refuses those changes from now on of which this says with what error.
    pub fn refuse(&self, refuse: impl Fn(&Change) -> Option<io::ErrorKind> + Send + Sync + 'static) {
        self.shared().refuse = Some(Arc::new(refuse));
    }

    /// Has room for so many bytes from now on, in files of any name altogether; for any number, if it is `None`. A write for which there is none is
    /// refused whole.
    pub fn set_room(&self, bytes: Option<u64>) {
        self.shared().room = bytes;
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
        if shared.find(&name).is_ok() {
            shared.pass(Call::Look)?;
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        shared.pass(Call::Create)?;
        shared.change(Change::Create(name.clone()))?;
        let number = shared.find(&name)?;
        drop(shared);
        Ok(self.file(number))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let name = self.full(name);
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        let number = shared.find(&name)?;
        if shared.bad.iter().any(|(file, range)| *file == number && range.end == u64::MAX) {
            return Err(unreadable());
        }
        drop(shared);
        Ok(self.file(number))
    }

    fn open_for_writing(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.open(name)
    }

    fn kind(&self, name: &str) -> io::Result<Option<NameKind>> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        if shared.find(&self.full(&format!("{name}/"))).is_ok() {
            return Ok(Some(NameKind::Folder));
        }
        let file = shared.find(&self.full(name)).ok();
        Ok(file.map(|file| NameKind::File(shared.medium.contents(file).len() as u64)))
    }

    fn has_other_names(&self, name: &str) -> bool {
        let shared = self.shared();
        let file = shared.medium.find(&self.full(name));
        shared.medium.names().filter(|other| shared.medium.find(other) == file).count() > 1
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut shared = self.shared();
        shared.pass(Call::Rename)?;
        shared.find(&self.full(from))?;
        shared.change(Change::Rename(self.full(from), self.full(to)))?;
        Ok(())
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.link_into(from, &self.root(), to)
    }

    fn root(&self) -> PathBuf {
        PathBuf::from(&self.prefix)
    }

    /// The other folder is one of the same simulation.
    fn link_into(&self, from: &str, root: &Path, to: &str) -> io::Result<()> {
        let mut shared = self.shared();
        shared.pass(Call::Rename)?;
        shared.find(&self.full(from))?;
        let to = format!("{}{to}", root.display());
        if shared.find(&to).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        shared.change(Change::Link(self.full(from), to))?;
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        shared.find(&self.full(name))?;
        shared.change(Change::Remove(self.full(name)))?;
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut shared = self.shared();
        let passed = shared.pass(Call::Flush);
        shared.change(Change::FlushFolder(self.prefix.clone(), passed.is_ok()))?;
        passed
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        let mut shared = self.shared();
        shared.pass(Call::Look)?;
        let name = self.full(name);
        let file = shared.find(&name)?;
        let held = shared.locks.entry(file).or_default();
        match kind {
            LockKind::Exclusive if held.exclusive || held.shared > 0 => return Ok(None),
            LockKind::Shared if held.exclusive => return Ok(None),
            LockKind::Exclusive => held.exclusive = true,
            LockKind::Shared => held.shared += 1,
        }
        Ok(Some(Box::new(SimulatedLock { folder: self.clone(), name, file, kind })))
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        let name = self.full(&format!("{name}/"));
        let mut shared = self.shared();
        shared.pass(Call::Create)?;
        if shared.find(&name).is_err() {
            shared.change(Change::Create(name.clone()))?;
        }
        Ok(Arc::new(Simulated { shared: Arc::clone(&self.shared), prefix: name }))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from("simulated").join(self.full(name))
    }

    fn create_with(&self, _: Option<Permissions>) {}

    fn free_bytes(&self) -> Option<u64> {
        let shared = self.shared();
        shared.room.map(|room| room.saturating_sub(shared.medium.bytes()))
    }

    fn boot(&self) -> Option<u64> {
        Some(self.shared().medium.boot << 32)
    }
}

#[derive(Debug)]
struct SimulatedLock {
    folder: Simulated,
    name: String,
    file: usize,
    kind: LockKind,
}

impl Lock for SimulatedLock {
    fn holds(&self) -> bool {
        self.folder.shared().medium.find(&self.name) == Some(self.file)
    }
}

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

    /// So that whatever asks for bytes ahead of time does so here.
    fn is_in_memory(&self, _offset: u64) -> bool {
        false
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut shared = self.folder.shared();
        let wanted = match shared.verdict(Call::Read) {
            Verdict::Pass => buffer.len(),
            Verdict::Half => buffer.len().div_ceil(2),
            Verdict::Fail(error) | Verdict::HalfThenFail(error) => return Err(error),
        };
        let end = offset.saturating_add(wanted as u64);
        if shared.bad.iter().any(|(file, bad)| *file == self.number && bad.start < end && offset < bad.end) {
            return Err(unreadable());
        }
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
        let within = offset + bytes.len() as u64 <= shared.medium.contents(self.number).len() as u64;
        let (written, failed) = match shared.verdict(Call::Write) {
            // What has its place on the medium needs no more room.
            Verdict::HalfThenFail(_) if within => (bytes.len(), None),
            Verdict::Pass => (bytes.len(), None),
            Verdict::Half => (bytes.len().div_ceil(2), None),
            Verdict::HalfThenFail(error) => (bytes.len() / 2, Some(error)),
            Verdict::Fail(error) => return Err(error),
        };
        let part = bytes.get(..written).unwrap_or_default();
        shared.change(Change::Write(self.number, offset, part.into()))?;
        failed.map_or(Ok(written), Err)
    }

    fn keep_room(&self, length: u64) -> io::Result<()> {
        let mut shared = self.folder.shared();
        shared.pass(Call::Create)?;
        if (shared.medium.contents(self.number).len() as u64) < length {
            shared.change(Change::SetLength(self.number, length))?;
        }
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut shared = self.folder.shared();
        shared.pass(Call::Look)?;
        shared.change(Change::SetLength(self.number, length))?;
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let hook = self.folder.shared().before_flush.clone();
        if let Some(hook) = hook {
            hook();
        }
        let mut shared = self.folder.shared();
        let passed = shared.pass(Call::Flush);
        shared.change(Change::Flush(self.number, passed.is_ok()))?;
        passed
    }

    fn map(&self, length: u64) -> io::Result<Box<dyn Mapping>> {
        let mut shared = self.folder.shared();
        shared.pass(Call::Look)?;
        let contents = shared.medium.contents(self.number);
        match usize::try_from(length).ok().and_then(|length| contents.get(..length)) {
            Some(bytes) => Ok(Box::new(SimulatedMap {
                bytes: bytes.to_vec(),
                folder: self.folder.clone(),
                number: self.number,
            })),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn permissions(&self) -> io::Result<Option<Permissions>> {
        Ok(None)
    }
}

/// The bytes as they were when the file was mapped.
struct SimulatedMap {
    bytes: Vec<u8>,
    folder: Simulated,
    number: usize,
}

impl Mapping for SimulatedMap {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn fetch(&self, range: Range<usize>) -> io::Result<()> {
        let shared = self.folder.shared();
        let within = |bad: &Range<u64>| (bad.start as usize) < range.end && range.start < bad.end as usize;
        if shared.bad.iter().any(|(file, bad)| *file == self.number && within(bad)) {
            return Err(unreadable());
        }
        Ok(())
    }
}
