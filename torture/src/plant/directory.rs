//! A folder that passes everything on, and makes one mistake.

use std::fs::Permissions;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tamias_store::io::{Directory, File, Lock, LockKind, Mapping, NameKind, write_all_at};

use super::{Plant, forge};

/// How long the moments are made in which a process can be killed.
const WINDOW: Duration = Duration::from_millis(3);

/// How much later a flush is done than it is answered.
const LATE: Duration = Duration::from_millis(40);

/// The folder with the fault in it.
pub(super) fn planted(plant: Plant, inner: Arc<dyn Directory>) -> Arc<dyn Directory> {
    Arc::new(Planted { inner, plant, calls: Arc::default() })
}

#[derive(Debug)]
struct Planted {
    inner: Arc<dyn Directory>,
    plant: Plant,
    calls: Arc<AtomicU64>,
}

/// Every so manieth call.
fn now_and_then(calls: &AtomicU64, every: u64) -> bool {
    calls.fetch_add(1, Ordering::Relaxed) % every == every - 1
}

impl Planted {
    fn file(&self, name: &str, inner: Arc<dyn File>) -> Arc<dyn File> {
        let (name, calls) = (name.to_owned(), Arc::clone(&self.calls));
        Arc::new(PlantedFile { inner, name, plant: self.plant, calls })
    }

    /// Under which name a file really is.
    fn name<'n>(&self, name: &'n str) -> &'n str {
        match (self.plant, name.strip_suffix(".manifest.tmp")) {
            (Plant::ManifestInPlace, Some(_)) => name.trim_end_matches(".tmp"),
            _ => name,
        }
    }

    /// Renames by copying, half before a pause and half behind it.
    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let source = self.inner.open(from)?;
        let mut bytes = vec![0; source.length()? as usize];
        source.read_full_at(0, &mut bytes)?;
        if self.inner.kind(to)?.is_some() {
            self.inner.remove(to)?;
        }
        let target = self.inner.create(to)?;
        let (first, second) = bytes.split_at(bytes.len() / 2);
        write_all_at(&*target, 0, first)?;
        std::thread::sleep(WINDOW);
        write_all_at(&*target, first.len() as u64, second)?;
        target.flush()?;
        self.inner.remove(from)
    }

    /// Whether a name is a link to a file, or to one that could be made.
    fn is_link(&self, name: &str) -> bool {
        let path = self.inner.path(name);
        let link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        link && path.metadata().map_or(true, |metadata| metadata.is_file())
    }
}

impl Directory for Planted {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = self.inner.list()?;
        let newest = names.iter().filter(|name| name.ends_with(".manifest")).max().cloned();
        let several = names.iter().filter(|name| name.ends_with(".manifest")).count() > 1;
        if self.plant == Plant::ListingBehind && several {
            names.retain(|name| Some(name) != newest.as_ref());
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        if self.plant == Plant::EarlyRemoval && name.contains(".manifest") {
            for path in super::doomed() {
                let _ = std::fs::remove_file(path);
                std::thread::sleep(WINDOW);
            }
        }
        if self.plant == Plant::LinksFollowed && self.is_link(name) {
            std::fs::write(self.inner.path(name), b"")?;
        }
        let name = self.name(name);
        let file = self.inner.create(name)?;
        #[cfg(unix)]
        if self.plant == Plant::WideModes {
            use std::os::unix::fs::PermissionsExt;
            let _ = std::fs::set_permissions(self.inner.path(name), std::fs::Permissions::from_mode(0o666));
        }
        Ok(self.file(name, file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let name = self.name(name);
        Ok(self.file(name, self.inner.open(name)?))
    }

    fn open_for_writing(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let name = self.name(name);
        Ok(self.file(name, self.inner.open_for_writing(name)?))
    }

    fn kind(&self, name: &str) -> io::Result<Option<NameKind>> {
        self.inner.kind(self.name(name))
    }

    fn has_other_names(&self, name: &str) -> bool {
        self.inner.has_other_names(self.name(name))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        match self.plant {
            // Then it is renamed.
            Plant::TornRename => Err(io::ErrorKind::Unsupported.into()),
            Plant::ManifestInPlace if self.name(from) == to => Ok(()),
            _ => self.inner.link(from, to),
        }
    }

    fn create_with(&self, permissions: Option<Permissions>) {
        self.inner.create_with(permissions);
    }

    fn boot(&self) -> Option<u64> {
        self.inner.boot()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        match self.plant {
            Plant::TornRename => self.copy(from, to),
            Plant::ManifestInPlace if self.name(from) == to => Ok(()),
            _ => self.inner.rename(from, to),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match self.plant {
            Plant::NoRemoval => Ok(()),
            // It has its final name already.
            Plant::ManifestInPlace if name.ends_with(".manifest.tmp") => Ok(()),
            _ => self.inner.remove(self.name(name)),
        }
    }

    fn flush(&self) -> io::Result<()> {
        match self.plant {
            Plant::NoFolderFlush => Ok(()),
            Plant::LateFlush => {
                let inner = Arc::clone(&self.inner);
                later(move || inner.flush())
            }
            _ => self.inner.flush(),
        }
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        let name = self.name(name);
        match (self.inner.lock(name, kind)?, self.plant) {
            (None, Plant::FreeLock) => Ok(Some(Box::new(Granted(None)))),
            (Some(lock), Plant::LockUnwatched) => Ok(Some(Box::new(Granted(Some(lock))))),
            (lock, _) => Ok(lock),
        }
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        let (inner, calls) = (self.inner.folder(name)?, Arc::clone(&self.calls));
        Ok(Arc::new(Planted { inner, plant: self.plant, calls }))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.inner.path(name)
    }
}

/// Does it a while after it was answered.
fn later(flush: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    std::thread::spawn(move || {
        std::thread::sleep(LATE);
        flush()
    });
    Ok(())
}

/// A lock that was not given, or of which nobody asks whether it still holds.
#[derive(Debug)]
struct Granted(#[expect(dead_code, reason = "held for its lock")] Option<Box<dyn Lock>>);

impl Lock for Granted {
    fn holds(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct PlantedFile {
    inner: Arc<dyn File>,
    name: String,
    plant: Plant,
    calls: Arc<AtomicU64>,
}

impl PlantedFile {
    fn is_manifest(&self) -> bool {
        self.name.contains(".manifest")
    }
}

impl File for PlantedFile {
    fn length(&self) -> io::Result<u64> {
        self.inner.length()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.inner.read_at(offset, buffer), self.plant) {
            (Err(_), Plant::ZerosForErrors) => {
                buffer.fill(0);
                Ok(buffer.len())
            }
            (read, _) => read,
        }
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        match self.plant {
            Plant::ManifestInPlace if self.is_manifest() && bytes.len() > 1 => {
                let (first, second) = bytes.split_at(bytes.len() / 2);
                write_all_at(&*self.inner, offset, first)?;
                std::thread::sleep(WINDOW);
                self.inner.write_at(offset + first.len() as u64, second).map(|written| first.len() + written)
            }
            Plant::ShortWrite if bytes.len() > 100 && now_and_then(&self.calls, 40) => {
                self.inner.write_at(offset, bytes.get(..bytes.len() - 9).unwrap_or_default())?;
                Ok(bytes.len())
            }
            Plant::FlippedBit if bytes.len() > 100 && now_and_then(&self.calls, 40) => {
                let mut bytes = bytes.to_vec();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 4;
                self.inner.write_at(offset, &bytes)
            }
            Plant::EntryLost | Plant::MarksLost if self.is_manifest() => {
                let forged = match self.plant {
                    Plant::EntryLost => forge::without_last_segment(bytes),
                    _ => forge::without_marks(bytes),
                };
                match forged.filter(|_| now_and_then(&self.calls, 3)) {
                    Some(forged) => {
                        write_all_at(&*self.inner, offset, &forged)?;
                        Ok(bytes.len())
                    }
                    None => self.inner.write_at(offset, bytes),
                }
            }
            Plant::FullUnreported => Ok(self.inner.write_at(offset, bytes).unwrap_or(0).max(bytes.len())),
            _ => self.inner.write_at(offset, bytes),
        }
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        match self.plant {
            Plant::NoCut => Ok(()),
            _ => self.inner.set_length(length),
        }
    }

    fn flush(&self) -> io::Result<()> {
        match self.plant {
            Plant::NoFileFlush => Ok(()),
            Plant::LateFlush => {
                let inner = Arc::clone(&self.inner);
                later(move || inner.flush())
            }
            _ => self.inner.flush(),
        }
    }

    fn map(&self, length: u64) -> io::Result<Box<dyn Mapping>> {
        let inner = self.inner.map(length)?;
        match self.plant {
            Plant::ZerosForErrors => Ok(Box::new(Unfetched(inner))),
            _ => Ok(inner),
        }
    }

    fn permissions(&self) -> io::Result<Option<Permissions>> {
        self.inner.permissions()
    }
}

/// A map of which it is said that everything is there.
struct Unfetched(Box<dyn Mapping>);

impl Mapping for Unfetched {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn fetch(&self, _: Range<usize>) -> io::Result<()> {
        Ok(())
    }
}
