//! A folder in which stretches of files cannot be read, as with bad sectors.

use std::fs::Permissions;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use tamias_store::io::{Directory, File, Lock, LockKind, Mapping, NameKind};

/// The number of the error that a bad sector gives.
const EIO: i32 = 5;

/// A stretch of a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) file: String,
    pub(crate) bytes: Range<u64>,
}

impl FromStr for Unreadable {
    type Err = String;

    fn from_str(text: &str) -> Result<Unreadable, String> {
        let parse = || {
            let mut parts = text.split(':');
            let file = parts.next()?.to_owned();
            Some(Unreadable { file, bytes: parts.next()?.parse().ok()?..parts.next()?.parse().ok()? })
        };
        parse().ok_or_else(|| format!("{text:?} is no stretch; give FILE:START:END"))
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.bytes.start, self.bytes.end)
    }
}

impl Unreadable {
    /// The folder, with these stretches unreadable.
    pub(crate) fn over(inner: Arc<dyn Directory>, stretches: &[Unreadable]) -> Arc<dyn Directory> {
        Arc::new(Worn { inner, stretches: stretches.into() })
    }
}

#[derive(Debug)]
struct Worn {
    inner: Arc<dyn Directory>,
    stretches: Arc<[Unreadable]>,
}

impl Worn {
    fn file(&self, name: &str, inner: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(WornFile { inner, name: name.to_owned(), stretches: Arc::clone(&self.stretches) })
    }
}

impl Directory for Worn {
    fn list(&self) -> io::Result<Vec<String>> {
        self.inner.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.inner.create(name)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(name, self.inner.open(name)?))
    }

    fn open_for_writing(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(name, self.inner.open_for_writing(name)?))
    }

    fn kind(&self, name: &str) -> io::Result<Option<NameKind>> {
        self.inner.kind(name)
    }

    fn has_other_names(&self, name: &str) -> bool {
        self.inner.has_other_names(name)
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.link(from, to)
    }

    fn create_with(&self, permissions: Option<Permissions>) {
        self.inner.create_with(permissions);
    }

    fn boot(&self) -> Option<u64> {
        self.inner.boot()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn flush(&self) -> io::Result<()> {
        self.inner.flush()
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        self.inner.lock(name, kind)
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        self.inner.folder(name)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.inner.path(name)
    }
}

#[derive(Debug)]
struct WornFile {
    inner: Arc<dyn File>,
    name: String,
    stretches: Arc<[Unreadable]>,
}

impl WornFile {
    /// How far can be read from an offset; an error where nothing can.
    fn readable(&self, offset: u64, length: u64) -> io::Result<u64> {
        let bad = self.stretches.iter().filter(|stretch| stretch.file == self.name);
        let mut end = offset + length;
        for stretch in
            bad.filter(|stretch| stretch.bytes.end > offset && stretch.bytes.start < offset + length)
        {
            if stretch.bytes.start <= offset {
                return Err(io::Error::from_raw_os_error(EIO));
            }
            end = end.min(stretch.bytes.start);
        }
        Ok(end - offset)
    }
}

impl File for WornFile {
    fn length(&self) -> io::Result<u64> {
        self.inner.length()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // As a disk does: what lies before the bad sector is read.
        let readable = self.readable(offset, buffer.len() as u64)? as usize;
        self.inner.read_at(offset, buffer.get_mut(..readable).unwrap_or_default())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_at(offset, bytes)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.inner.set_length(length)
    }

    fn flush(&self) -> io::Result<()> {
        self.inner.flush()
    }

    fn map(&self, length: u64) -> io::Result<Box<dyn Mapping>> {
        let own = self.stretches.iter().filter(|stretch| stretch.file == self.name);
        Ok(Box::new(WornMap {
            inner: self.inner.map(length)?,
            bad: own.map(|stretch| stretch.bytes.clone()).collect(),
        }))
    }

    fn permissions(&self) -> io::Result<Option<Permissions>> {
        self.inner.permissions()
    }
}

struct WornMap {
    inner: Box<dyn Mapping>,
    bad: Vec<Range<u64>>,
}

impl Mapping for WornMap {
    fn bytes(&self) -> &[u8] {
        self.inner.bytes()
    }

    /// A real map that is touched there without asking would end the process.
    fn fetch(&self, range: Range<usize>) -> io::Result<()> {
        let touched = |bad: &Range<u64>| bad.start < range.end as u64 && (range.start as u64) < bad.end;
        match self.bad.iter().any(touched) {
            true => Err(io::Error::from_raw_os_error(EIO)),
            false => self.inner.fetch(range),
        }
    }
}
