//! The writer's lock: what makes this process the only one that writes.

use std::fs::Permissions;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Failure, OpenError, Operation};
use crate::format::{FileKind, LOCK_NAME, WRITER_NAME};
use crate::inventory::{self, folder};
use crate::io::{Directory, Lock, LockKind, write_all_at};
use crate::manifest::Manifest;

/// What makes this process the only one that writes.
pub(crate) struct Hold {
    lock: Arc<dyn Lock>,
    process: u32,
}

impl Hold {
    pub(crate) fn new(lock: Arc<dyn Lock>) -> Hold {
        Hold { lock, process: std::process::id() }
    }

    /// Whether this is the process that opened the store, and not one forked from it.
    pub(crate) fn check_process(&self, directory: &dyn Directory) -> Result<(), Failure> {
        if std::process::id() == self.process {
            return Ok(());
        }
        let found = "this process was forked from the one that opened the store; open it again here, once that one has closed it";
        Err(Failure::during(directory, LOCK_NAME, Operation::KeepLock)(std::io::Error::other(found)))
    }

    /// Whether nobody else can have become the writer. Asked before anything is acknowledged: what is written is read by whoever opens the
    /// store after this has held.
    pub(crate) fn check(&self, directory: &dyn Directory) -> Result<(), Failure> {
        self.check_process(directory)?;
        if self.lock.holds() {
            return Ok(());
        }
        let found =
            "it was removed or replaced, so another process may be writing; this one writes nothing more";
        Err(Failure::during(directory, LOCK_NAME, Operation::KeepLock)(std::io::Error::other(found)))
    }
}

/// The permissions that the store's files have: those of the manifest, or else the strictest of any that can be opened.
fn permissions(
    directory: &dyn Directory,
    manifest: Option<&Manifest>,
) -> Result<Option<Permissions>, Failure> {
    let of = |name: &str| {
        let permissions = directory.open(name).and_then(|file| file.permissions());
        permissions.map_err(Failure::during(directory, name, Operation::Open))
    };
    if let Some(manifest) = manifest
        && let Ok(Some(permissions)) = of(&manifest.name())
    {
        return Ok(Some(permissions));
    }
    let mut strictest: Option<Permissions> = None;
    for name in inventory::list(directory)?.iter().filter(|name| FileKind::parse(name).is_some()) {
        let permissions = match of(name) {
            Err(failure) if failure.is_refused() || failure.is_missing_file() || failure.is_irregular() => {
                None
            }
            permissions => permissions?,
        };
        strictest = strictest.into_iter().chain(permissions).min_by_key(openness);
    }
    Ok(strictest)
}

/// The greater, the more others may do with a file.
fn openness(permissions: &Permissions) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.mode() & 0o777
    }
    #[cfg(not(unix))]
    {
        u32::from(!permissions.readonly())
    }
}

/// How often the writer's lock is asked for, and how long it waits between.
const LOCK_ATTEMPTS: usize = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Makes this process the writer of a store with this manifest, if it has one, until the lock is dropped. Files that are created from then on get
/// the permissions of the manifest, so that what was private stays so.
pub(crate) fn lock_writer(
    directory: &dyn Directory,
    manifest: Option<&Manifest>,
) -> Result<Arc<dyn Lock>, OpenError> {
    directory.create_with(permissions(directory, manifest)?);
    let fail = || Failure::during(directory, LOCK_NAME, Operation::Lock);
    match directory.create(LOCK_NAME) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail()(error).into()),
        _ => {}
    }
    // A process that is being started by the last writer holds the lock as well for a moment, until it runs a program of its own.
    let mut lock = None;
    for attempt in 0..LOCK_ATTEMPTS {
        lock = directory.lock(LOCK_NAME, LockKind::Exclusive).map_err(fail())?;
        if lock.is_some() {
            break;
        }
        if attempt + 1 < LOCK_ATTEMPTS {
            std::thread::sleep(LOCK_PAUSE);
        }
    }
    let Some(lock) = lock else {
        let writer = read_writer(directory).unwrap_or_else(|| "another process".to_owned());
        return Err(OpenError::Locked { folder: folder(directory), writer });
    };
    tell_writer(directory);
    Ok(Arc::from(lock))
}

/// Whether a process holds the lock, and who that is as far as it tells.
pub(crate) fn writer(directory: &dyn Directory) -> Result<Option<String>, Failure> {
    match directory.lock(LOCK_NAME, LockKind::Shared) {
        Ok(Some(_)) => Ok(None),
        Ok(None) => Ok(Some(read_writer(directory).unwrap_or_else(|| "another process".to_owned()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::during(directory, LOCK_NAME, Operation::Lock)(error)),
    }
}

/// Who holds the lock, as far as the advisory file tells.
fn read_writer(directory: &dyn Directory) -> Option<String> {
    let file = directory.open(WRITER_NAME).ok()?;
    let mut bytes = [0; 200];
    let read = file.read_full_at(0, &mut bytes).ok()?;
    let text = std::str::from_utf8(bytes.get(..read)?).ok()?.trim();
    let plain = !text.is_empty() && !text.contains(char::is_control);
    plain.then(|| text.to_owned())
}

/// Says who the writer is. Nothing depends on it, so it may fail.
fn tell_writer(directory: &dyn Directory) {
    let text = format!("process {} on host {}\n", std::process::id(), host());
    // Whatever has this name goes, a link without what it points to.
    let _ = directory.remove(WRITER_NAME);
    if let Ok(file) = directory.create(WRITER_NAME) {
        let _ = write_all_at(&*file, 0, text.as_bytes());
    }
}

#[cfg(target_os = "linux")]
fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "unknown".into(), |name| name.trim().into())
}

#[cfg(not(target_os = "linux"))]
fn host() -> String {
    let name = std::env::var("COMPUTERNAME").or_else(|_| std::env::var("HOSTNAME"));
    name.unwrap_or_else(|_| "unknown".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{LockKind, Simulated};

    #[test]
    fn a_forked_process_writes_nothing() {
        let folder = Simulated::new();
        folder.create(LOCK_NAME).unwrap();
        let lock = folder.lock(LOCK_NAME, LockKind::Exclusive).unwrap().unwrap();
        let mut hold = Hold::new(Arc::from(lock));
        hold.check(&folder).unwrap();
        // A fork shares the lock, and has a number of its own.
        hold.process ^= 1;
        let error = hold.check(&folder).unwrap_err();
        assert!(error.is_final());
        assert_eq!(
            error.to_string(),
            "cannot keep the lock on simulated/lock: this process was forked from the one that opened the store; open it \
             again here, once that one has closed it"
        );
    }
}
