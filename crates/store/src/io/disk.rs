//! A folder of a real file system.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use super::folder::{Directory, File, Lock, LockKind, Mapping, NameKind};
#[cfg(target_os = "linux")]
use super::unreadable::{ask_again, is_unreadable};

/// A folder of the operating system's file system.
#[derive(Debug)]
pub struct Disk {
    /// As it was named, for messages.
    folder: PathBuf,
    /// The same from the root, so that it stays this folder when the process goes to another one.
    root: PathBuf,
    /// Of the files that it creates.
    permissions: Mutex<Option<fs::Permissions>>,
}

impl Disk {
    /// The folder as it is; nothing is touched yet.
    pub fn new(folder: impl Into<PathBuf>) -> Disk {
        let folder = folder.into();
        let root = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        Disk { folder, root, permissions: Mutex::default() }
    }

    /// Where a file is.
    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
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
        Ok(Disk::new(folder))
    }

    /// Opens what must be a regular file, and not a link to one.
    fn open_regular(&self, name: &str, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
        let path = self.at(name);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // Without O_NONBLOCK a pipe would be waited for; a regular file does not mind it.
            options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        }
        #[cfg(not(unix))]
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(irregular());
        }
        let file = options.open(path).map_err(|error| if is_link(&error) { irregular() } else { error })?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
    }
}

/// Who owns a file may read and write it, even if those that were there were restored for reading only.
#[cfg(unix)]
const OWNER: u32 = 0o600;

fn irregular() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "it is not a regular file; a store uses no links, pipes or devices",
    )
}

/// Whether a file was not opened because its name is that of a link, or of a pipe that nobody reads.
#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENXIO))
}

#[cfg(not(unix))]
fn is_link(_: &io::Error) -> bool {
    false
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

/// What Linux calls each of its starts by.
#[cfg(target_os = "linux")]
fn boot() -> Option<u64> {
    static BOOT: OnceLock<Option<u64>> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        u64::from_str_radix(&digits, 16).ok()
    })
}

#[cfg(not(target_os = "linux"))]
fn boot() -> Option<u64> {
    None
}

impl Directory for Disk {
    fn boot(&self) -> Option<u64> {
        boot()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let permissions = self.permissions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut options = fs::OpenOptions::new();
        // `create_new` follows no link.
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        if let Some(permissions) = &permissions {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
            options.mode((permissions.mode() & 0o777) | OWNER);
        }
        let file = options.open(self.at(name))?;
        #[cfg(unix)]
        give_to_owner(&self.root, &file);
        #[cfg(unix)]
        let permissions = permissions.map(|permissions| {
            use std::os::unix::fs::PermissionsExt;
            fs::Permissions::from_mode(permissions.mode() | OWNER)
        });
        if let Some(permissions) = permissions {
            // The process may forbid more than the files that are there do; who does not own them cannot set it, and need not.
            let _ = file.set_permissions(permissions);
        }
        Ok(Arc::new(DiskFile(file)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(DiskFile(self.open_regular(name, fs::OpenOptions::new().read(true))?)))
    }

    fn open_for_writing(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(DiskFile(self.open_regular(name, fs::OpenOptions::new().read(true).write(true))?)))
    }

    fn kind(&self, name: &str) -> io::Result<Option<NameKind>> {
        match fs::symlink_metadata(self.at(name)) {
            Ok(metadata) if metadata.is_file() => Ok(Some(NameKind::File(metadata.len()))),
            Ok(metadata) if metadata.is_dir() => Ok(Some(NameKind::Folder)),
            Ok(_) => Ok(Some(NameKind::Other)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.link_into(from, &self.root, to)
    }

    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn link_into(&self, from: &str, root: &Path, to: &str) -> io::Result<()> {
        fs::hard_link(self.at(from), root.join(to)).map_err(|error| match error.kind() {
            // Some file systems say that it is forbidden (EPERM), or that there are too many already.
            io::ErrorKind::PermissionDenied | io::ErrorKind::TooManyLinks | io::ErrorKind::CrossesDevices => {
                io::ErrorKind::Unsupported.into()
            }
            _ => error,
        })
    }

    #[cfg(unix)]
    fn has_other_names(&self, name: &str) -> bool {
        use std::os::unix::fs::MetadataExt;
        fs::symlink_metadata(self.at(name)).is_ok_and(|metadata| metadata.nlink() > 1)
    }

    /// Elsewhere the standard library does not tell.
    #[cfg(not(unix))]
    fn has_other_names(&self, _: &str) -> bool {
        true
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.at(name))
    }

    fn flush(&self) -> io::Result<()> {
        flush_folder(&self.root)
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        let mut options = fs::OpenOptions::new();
        let (file, locked) = match kind {
            LockKind::Exclusive => {
                // Some systems lock only what may be written, others have files that may only be read.
                let file = match self.open_regular(name, options.read(true).write(true)) {
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        self.open_regular(name, fs::OpenOptions::new().read(true))?
                    }
                    opened => opened?,
                };
                let locked = file.try_lock();
                (file, locked)
            }
            LockKind::Shared => {
                let file = self.open_regular(name, options.read(true))?;
                let locked = file.try_lock_shared();
                (file, locked)
            }
        };
        match locked {
            Ok(()) => Ok(Some(Box::new(DiskLock { file, path: self.at(name) }))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn folder(&self, name: &str) -> io::Result<Arc<dyn Directory>> {
        let (folder, root) = (self.path(name), self.at(name));
        match fs::create_dir(&root) {
            Ok(()) => share_with(&self.root, &root),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if !fs::symlink_metadata(&root)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder, or a link to one"));
        }
        // What is made in it is as open as what is made here.
        let permissions = self.permissions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Arc::new(Disk { folder, root, permissions: Mutex::new(permissions) }))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    #[cfg(target_os = "linux")]
    fn free_bytes(&self) -> Option<u64> {
        let found = rustix::fs::statvfs(&self.root).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }

    fn create_with(&self, permissions: Option<fs::Permissions>) {
        *self.permissions.lock().unwrap_or_else(PoisonError::into_inner) = permissions;
    }
}

/// Gives a new file the owner of its folder, where another user works with the store: that one may open what it finds. Where the system refuses, the file is its maker's.
#[cfg(unix)]
fn give_to_owner(folder: &Path, file: &fs::File) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let (Ok(folder), Ok(own)) = (fs::metadata(folder), file.metadata()) else { return };
    if folder.uid() != own.uid() {
        let _ = fchown(file, Some(folder.uid()), Some(folder.gid()));
    }
}

/// Gives a new folder the owner and the permissions of the one that it is in: whoever may work with a store may work with its folders, whoever made them.
/// Where the system refuses, the folder is its maker's.
#[cfg(unix)]
fn share_with(parent: &Path, folder: &Path) {
    use std::os::unix::fs::{MetadataExt, chown};
    let (Ok(parent), Ok(own)) = (fs::metadata(parent), fs::symlink_metadata(folder)) else { return };
    if (parent.uid(), parent.gid()) != (own.uid(), own.gid()) {
        let _ = chown(folder, Some(parent.uid()), Some(parent.gid()));
    }
    // After the owner, which takes some of them away.
    let _ = fs::set_permissions(folder, parent.permissions());
}

#[cfg(not(unix))]
fn share_with(_: &Path, _: &Path) {}

/// The operating system gives the lock back when the file is closed.
#[derive(Debug)]
struct DiskLock {
    file: fs::File,
    path: PathBuf,
}

impl Lock for DiskLock {
    #[cfg(unix)]
    fn holds(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        match (self.file.metadata(), fs::symlink_metadata(&self.path)) {
            (Ok(held), Ok(named)) => identity(held) == identity(named),
            _ => false,
        }
    }

    /// Elsewhere a file that is open keeps its name.
    #[cfg(not(unix))]
    fn holds(&self) -> bool {
        self.file.metadata().is_ok() && self.path.exists()
    }
}

/// A byte that is in memory is copied within this time.
///
/// HEURISTIC: it takes less than a microsecond. Linux begins to read even where it is told not to wait, and a quick medium is done before it looks again: that takes ten.
#[cfg(target_os = "linux")]
const COPIED_WITHIN: Duration = Duration::from_micros(5);

#[derive(Debug)]
struct DiskFile(fs::File);

impl File for DiskFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(target_os = "linux")]
    fn expect_scattered_reads(&self) {
        // Whatever comes of it, the bytes are the same.
        let _ = rustix::fs::fadvise(&self.0, 0, None, rustix::fs::Advice::Random);
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }

    #[cfg(target_os = "linux")]
    fn read_range(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        // Memory that is about to be filled is not cleared before.
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let at = offset + bytes.len() as u64;
            let read = ask_again(is_unreadable, || {
                match rustix::io::pread(&self.0, rustix::buffer::spare_capacity(&mut bytes), at) {
                    Err(rustix::io::Errno::INTR) => Ok(None),
                    read => Ok::<_, io::Error>(Some(read?)),
                }
            });
            if read? == Some(0) {
                break;
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    #[cfg(target_os = "linux")]
    fn is_in_memory(&self, offset: u64) -> bool {
        let mut byte = [0];
        let mut into = [io::IoSliceMut::new(&mut byte)];
        let begun = Instant::now();
        let read = rustix::io::preadv2(&self.0, &mut into, offset, rustix::io::ReadWriteFlags::NOWAIT);
        read != Err(rustix::io::Errno::AGAIN) && begun.elapsed() < COPIED_WITHIN
    }

    #[cfg(target_os = "linux")]
    fn expect_read(&self, offset: u64, length: u64) {
        let length = std::num::NonZeroU64::new(length);
        // Whatever comes of it, the bytes are the same.
        let _ = length
            .map(|length| rustix::fs::fadvise(&self.0, offset, Some(length), rustix::fs::Advice::WillNeed));
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

    #[cfg(target_os = "linux")]
    fn keep_room(&self, length: u64) -> io::Result<()> {
        loop {
            match rustix::fs::fallocate(&self.0, rustix::fs::FallocateFlags::empty(), 0, length) {
                Err(rustix::io::Errno::INTR) => {}
                kept => return Ok(kept?),
            }
        }
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn map(&self, length: u64) -> io::Result<Box<dyn Mapping>> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if self.length()? < length as u64 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter than it was"));
        }
        map_file(&self.0, length)
    }

    fn permissions(&self) -> io::Result<Option<fs::Permissions>> {
        Ok(Some(self.0.metadata()?.permissions()))
    }
}

struct Map(memmap2::Mmap);

impl Mapping for Map {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[cfg(target_os = "linux")]
    fn fetch(&self, range: Range<usize>) -> io::Result<()> {
        // Where a page cannot be had, this fails with EFAULT instead of the signal that a touch would bring. Kernels before 5.14 do
        // not know it.
        match self.0.advise_range(memmap2::Advice::PopulateRead, range.start, range.len()) {
            Err(error) if is_unreadable(&error) => Err(error),
            _ => Ok(()),
        }
    }

    #[cfg(target_os = "linux")]
    fn expect_whole(&self) {
        // In pages of 2 MB, for which it takes an eighth of the processor time. Whatever comes of it, the bytes are the same.
        let _ = self.0.advise(memmap2::Advice::HugePage);
    }

    #[cfg(target_os = "linux")]
    fn fetch_again(&self, range: Range<usize>) -> io::Result<()> {
        if is_resident(&self.0, &range) { Ok(()) } else { self.fetch(range) }
    }

    #[cfg(not(target_os = "linux"))]
    fn fetch(&self, _: Range<usize>) -> io::Result<()> {
        Ok(())
    }
}

/// Whether all pages of a range of the map are in memory, as far as the system tells this process: to who may not write the file it says
/// so in any case.
///
/// HEURISTIC: `madvise` alone takes half as long as a scan of the same bytes, also where they are in memory (50 µs a megabyte); `mincore` takes 2 µs.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "there is no other way to ask than this call, which writes a byte for each page"
)]
fn is_resident(map: &[u8], range: &Range<usize>) -> bool {
    const PAGE_BYTES: usize = 4096;
    let mut pages = [0u8; 1024];
    let Some(bytes) = map.get(range.clone()) else { return false };
    let address = bytes.as_ptr() as usize;
    let begin = address - address % PAGE_BYTES;
    let end = address + bytes.len();
    (begin..end).step_by(pages.len() * PAGE_BYTES).all(|from| {
        let length = (end - from).min(pages.len() * PAGE_BYTES);
        let count = length.div_ceil(PAGE_BYTES);
        // SAFETY: `from` is a multiple of the page's length within the map, which begins at one, and `mincore` writes a byte for each of the
        // `count` pages of `length` bytes, for which `pages` has room. Where pages are larger than this it fails, or writes fewer.
        let asked = unsafe { libc::mincore(from as *mut libc::c_void, length, pages.as_mut_ptr()) };
        asked == 0 && pages.iter().take(count).all(|page| page & 1 != 0)
    })
}

/// Only sealed segments are mapped. A writer creates them under another name, flushes and renames them, and never
/// writes to them again; a removed file lives on under its maps. So the bytes stay as they are unless somebody else
/// alters or cuts the file: that is the condition which the documentation states for the mapped mode, and plain reads
/// are there for those who cannot keep it.
#[expect(unsafe_code, reason = "a memory map is only as constant as its file")]
fn map_file(file: &fs::File, length: usize) -> io::Result<Box<dyn Mapping>> {
    // SAFETY: the file was checked to hold `length` bytes, and sealed files are neither written to nor cut, see above.
    let map = unsafe { memmap2::MmapOptions::new().len(length).map(file)? };
    Ok(Box::new(Map(map)))
}
