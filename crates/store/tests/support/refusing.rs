//! A folder that refuses what a test tells it to.

use std::fs::Permissions;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tamias_store::io::{Directory, File, Lock, LockKind, NameKind, Simulated};

/// What is asked of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    List,
    Open,
    Look,
    Link,
    Lock,
    Unlock,
}

/// A lock that tells when it is given back.
struct Held {
    lock: Box<dyn Lock>,
    name: String,
    refuse: Refuse,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Lock for Held {
    fn holds(&self) -> bool {
        self.lock.holds()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        (self.refuse)(Ask::Unlock, &self.name);
    }
}

type Refuse = Arc<dyn Fn(Ask, &str) -> Option<io::Error> + Send + Sync>;

/// A folder that refuses what it is told to.
#[derive(Clone)]
pub(crate) struct Refusing {
    folder: Arc<dyn Directory>,
    prefix: String,
    refuse: Refuse,
}

impl std::fmt::Debug for Refusing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.folder.fmt(f)
    }
}

impl Refusing {
    pub(crate) fn new(
        folder: &Simulated,
        refuse: impl Fn(Ask, &str) -> Option<io::Error> + Send + Sync + 'static,
    ) -> Refusing {
        let folder = Arc::new(folder.clone());
        Refusing { folder, prefix: String::new(), refuse: Arc::new(refuse) }
    }

    fn ask(&self, ask: Ask, name: &str) -> io::Result<()> {
        (self.refuse)(ask, &format!("{}{name}", self.prefix)).map_or(Ok(()), Err)
    }
}

impl Directory for Refusing {
    fn list(&self) -> io::Result<Vec<String>> {
        self.ask(Ask::List, "").and_then(|()| self.folder.list())
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.create(name)
    }
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.ask(Ask::Open, name).and_then(|()| self.folder.open(name))
    }
    fn open_for_writing(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.ask(Ask::Open, name).and_then(|()| self.folder.open_for_writing(name))
    }
    fn kind(&self, name: &str) -> io::Result<Option<NameKind>> {
        self.ask(Ask::Look, name).and_then(|()| self.folder.kind(name))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.rename(from, to)
    }
    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.ask(Ask::Link, from).and_then(|()| self.folder.link(from, to))
    }
    fn has_other_names(&self, name: &str) -> bool {
        self.folder.has_other_names(name)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name)
    }
    fn flush(&self) -> io::Result<()> {
        self.folder.flush()
    }
    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        let lock = self.folder.lock(name, kind)?;
        self.ask(Ask::Lock, name)?;
        Ok(lock.map(|lock| {
            let (name, refuse) = (name.to_owned(), Arc::clone(&self.refuse));
            Box::new(Held { lock, name, refuse }) as Box<dyn Lock>
        }))
    }
    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        let folder = self.folder.folder(name)?;
        Ok(Arc::new(Refusing { folder, prefix: format!("{name}/"), refuse: Arc::clone(&self.refuse) }))
    }
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }
    fn create_with(&self, permissions: Option<Permissions>) {
        self.folder.create_with(permissions);
    }

    fn boot(&self) -> Option<u64> {
        self.folder.boot()
    }
}

/// What a device answers that cannot read.
pub(crate) fn unreadable() -> io::Error {
    io::Error::from_raw_os_error(if cfg!(windows) { 1117 } else { 5 })
}
