use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Directory, File, Lock, LockKind, Mapping};

/// A folder of the operating system's file system.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// The folder as it is; nothing is touched yet.
    pub fn new(folder: impl Into<PathBuf>) -> Disk {
        Disk { folder: folder.into() }
    }

    /// The folder, created with its parents where it is missing; the entries of what was created are durable.
    pub fn create(folder: impl Into<PathBuf>) -> io::Result<Disk> {
        let folder = folder.into();
        let mut missing = Vec::new();
        let mut at = folder.as_path();
        while !at.as_os_str().is_empty() && !at.exists() {
            missing.push(at.to_path_buf());
            match at.parent() {
                Some(parent) => at = parent,
                None => break,
            }
        }
        fs::create_dir_all(&folder)?;
        for created in &missing {
            let parent = created.parent().filter(|parent| !parent.as_os_str().is_empty());
            flush_folder(parent.unwrap_or(Path::new(".")))?;
        }
        Ok(Disk { folder })
    }
}

#[cfg(unix)]
fn flush_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file: its changes are durable when the file system says so.
#[cfg(not(unix))]
fn flush_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Directory for Disk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.path(name))?;
        Ok(Arc::new(DiskFile(file)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(DiskFile(fs::File::open(self.path(name))?)))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.path(name).try_exists()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn flush(&self) -> io::Result<()> {
        flush_folder(&self.folder)
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        let (file, locked) = match kind {
            LockKind::Exclusive => {
                let path = self.path(name);
                let file =
                    fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
                let locked = file.try_lock();
                (file, locked)
            }
            LockKind::Shared => {
                let file = fs::File::open(self.path(name))?;
                let locked = file.try_lock_shared();
                (file, locked)
            }
        };
        match locked {
            Ok(()) => Ok(Some(Box::new(DiskLock(file)))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        let folder = self.path(name);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Arc::new(Disk { folder })),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The operating system gives the lock back when the file is closed.
#[derive(Debug)]
struct DiskLock(#[expect(dead_code, reason = "held for its lock")] fs::File);

impl Lock for DiskLock {}

#[derive(Debug)]
struct DiskFile(fs::File);

impl File for DiskFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn map(&self, length: u64) -> io::Result<Mapping> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if self.length()? < length as u64 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than it was"));
        }
        map_file(&self.0, length)
    }
}

/// Only sealed segments are mapped. A writer creates them under another name, flushes and renames them, and never
/// writes to them again; a removed file lives on under its maps. So the bytes stay as they are unless somebody else
/// alters or cuts the file: that is the condition which the documentation states for the mapped mode, and plain reads
/// are there for those who cannot keep it.
#[expect(unsafe_code, reason = "a memory map is only as constant as its file")]
fn map_file(file: &fs::File, length: usize) -> io::Result<Mapping> {
    // SAFETY: the file was checked to hold `length` bytes, and sealed files are neither written to nor cut, see above.
    let map = unsafe { memmap2::MmapOptions::new().len(length).map(file)? };
    Ok(Box::new(map))
}
