//! Requests of a process to another one that is writing to the store.
//!
//! A request is a file in the folder `requests`. The writer accepts it by renaming it, and the requester withdraws it by removing it: only one of the two
//! succeeds. The reply is a file as well. Requests are idempotent, so a writer that ends while it works
//! leaves nothing half done: the requester asks the next writer, or does it itself. None of these files is durable, because none
//! matters to any other process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::deletion::{Deleted, Erased};
use crate::error::{Failure, OpenError, Operation};
use crate::format::{Fields, Key, REQUESTS_NAME, encode_key, envelope, open_envelope};
use crate::hold;
use crate::inventory;
use crate::io::{Directory, Disk, Lock, LockKind, NameKind, write_all_at};
use crate::manifest::{decode_settings, encode_settings};
use crate::named::unfinished;
use crate::receipt::Receipt;
use crate::recovery;
use crate::removal::{Removed, Retention};
use crate::settings::{self, Settings};

/// A request to the process that is writing to a store. Each variant calls the method it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// [`Store::seal`](crate::Store::seal).
    Seal,
    /// [`Store::compact`](crate::Store::compact), after sealing.
    Compact,
    /// [`Store::remove`](crate::Store::remove), after sealing.
    Remove(Retention),
    /// [`Store::set_settings`](crate::Store::set_settings).
    Settings(Settings),
    /// [`Store::delete`](crate::Store::delete), of at most [`DELETED_MAX`] events.
    Delete(Vec<Key>),
    /// [`Store::erase`](crate::Store::erase).
    Erase,
}

impl Request {
    /// Whether it rewrites no segment, and does not mind that one is being rewritten.
    pub(crate) fn is_short(&self) -> bool {
        match self {
            Request::Seal | Request::Remove(_) | Request::Settings(_) => true,
            Request::Compact | Request::Delete(_) | Request::Erase => false,
        }
    }
}

/// The maximum number of events that one [`Request`] can delete: a megabyte of keys.
pub const DELETED_MAX: usize = 65_000;

/// The reply of the writing process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The request is done; there is nothing more to report.
    Done,
    /// What was removed.
    Removed(Removed),
    /// What was deleted.
    Deleted(Deleted),
    /// What was erased.
    Erased(Erased),
}

/// The state of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestProgress {
    /// The writing process has not accepted it yet.
    Waiting,
    /// The writing process is carrying it out.
    Running {
        /// Bytes of documents that are done.
        done: u64,
        /// The total; 0 if unknown.
        of: u64,
    },
}

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The store could not be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The operating system reported an error.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The writing process did not accept it in time. It was withdrawn.
    #[error(
        "{} is being written to by {writer}, which did not take the request: it may be of an older version, or busy; try again, or stop that process",
        .folder.display()
    )]
    NotTaken {
        /// The store.
        folder: PathBuf,
        /// The process and host that is writing, as far as known.
        writer: String,
    },
    /// The writing process could not carry it out.
    #[error("{writer}, which writes to {}, could not do it: {found}", .folder.display())]
    Refused {
        /// The store.
        folder: PathBuf,
        /// The process and host that is writing, as far as known.
        writer: String,
        /// The reason it gave.
        found: String,
    },
}

/// What the name of a request, of one that was taken, and of a reply ends with.
pub(crate) const REQUEST: &str = ".request";
pub(crate) const RUNNING: &str = ".running";
pub(crate) const REPLY: &str = ".reply";
/// And of how far a request is that was taken: two numbers.
pub(crate) const PROGRESS: &str = ".progress";

/// A newer version of requests would have another number; a writer that does not know it says so.
const VERSION: u32 = 1;
const REQUEST_MAGIC: [u8; 8] = *b"\x89TMreqst";
const REPLY_MAGIC: [u8; 8] = *b"\x89TMreply";

/// At most so many bytes of a request are read, and of a reply, which may hold a receipt.
const BYTES_MAX: u64 = 1 << 28;

/// At most so many bytes stand in a file's name, as hexadecimal digits: a name has at most 255 bytes. A removal is asked for, and answered, in 84.
const NAMED_BYTES_MAX: usize = 100;

/// So many bytes of a reason are told in a name.
const SHORT_BYTES: usize = 50;

/// How often the asker looks for a reply, and how many looks are between two for a living writer.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: u32 = 20;

/// A request as it lies in the folder.
pub(crate) struct Asked {
    pub(crate) store: u128,
    /// It must not be taken after this instant.
    pub(crate) deadline: u64,
    /// Nothing if this version does not know it.
    pub(crate) request: Option<Request>,
}

impl Asked {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = self.deadline.to_le_bytes().to_vec();
        let kind: u64 = match self.request {
            None => 0,
            Some(Request::Seal) => 1,
            Some(Request::Compact) => 2,
            Some(Request::Remove(_)) => 3,
            Some(Request::Settings(_)) => 4,
            Some(Request::Delete(_)) => 5,
            Some(Request::Erase) => 6,
        };
        body.extend_from_slice(&kind.to_le_bytes());
        match &self.request {
            None | Some(Request::Seal | Request::Compact | Request::Erase) => {}
            Some(Request::Delete(keys)) => keys.iter().for_each(|key| encode_key(*key, &mut body)),
            Some(Request::Remove(Retention { before, file_bytes_max })) => {
                for bound in [before, file_bytes_max] {
                    body.extend_from_slice(&u64::from(bound.is_some()).to_le_bytes());
                    body.extend_from_slice(&bound.unwrap_or(0).to_le_bytes());
                }
            }
            Some(Request::Settings(settings)) => encode_settings(settings, &mut body),
        }
        envelope(REQUEST_MAGIC, VERSION, self.store, &body)
    }

    /// Nothing where these bytes are no request.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Asked> {
        let (version, store, body) = open_envelope(REQUEST_MAGIC, bytes)?;
        let mut at = Fields(body);
        let deadline = at.u64()?;
        let known = version == VERSION;
        let request = known.then(|| decode_request(&mut at)).flatten().filter(|_| at.0.is_empty());
        Some(Asked { store, deadline, request })
    }
}

fn decode_request(at: &mut Fields<'_>) -> Option<Request> {
    match at.u64()? {
        1 => Some(Request::Seal),
        2 => Some(Request::Compact),
        3 => {
            let mut bound =
                || Some((at.u64()?, at.u64()?)).map(|(is_set, bound)| (is_set == 1).then_some(bound));
            Some(Request::Remove(Retention { before: bound()?, file_bytes_max: bound()? }))
        }
        4 => decode_settings(at).map(Request::Settings),
        5 => {
            let mut keys = Vec::with_capacity(at.0.len() / 16);
            while !at.0.is_empty() {
                keys.push(at.key()?);
            }
            Some(Request::Delete(keys))
        }
        6 => Some(Request::Erase),
        _ => None,
    }
}

/// Encodes a reply: what was done, or why it was not.
pub(crate) fn encode_reply(store: u128, reply: &Result<Reply, String>) -> Vec<u8> {
    let outcome: u64 = match reply {
        Ok(Reply::Done) => 0,
        Ok(Reply::Removed(_)) => 1,
        Err(_) => 2,
        Ok(Reply::Deleted(_)) => 3,
        Ok(Reply::Erased(_)) => 4,
    };
    let mut body = outcome.to_le_bytes().to_vec();
    match reply {
        Ok(Reply::Done) => {}
        Ok(Reply::Removed(Removed { files, file_bytes, events, instants })) => {
            let (first, last) = instants.unwrap_or_default();
            for field in [*file_bytes, *events, u64::from(instants.is_some()), first, last] {
                body.extend_from_slice(&field.to_le_bytes());
            }
            let names = files.iter().filter_map(|file| file.file_name()?.to_str());
            names.for_each(|name| body.extend_from_slice(format!("{name}\n").as_bytes()));
        }
        Ok(Reply::Deleted(Deleted { events, missed })) => {
            [events, missed].iter().for_each(|field| body.extend_from_slice(&field.to_le_bytes()));
        }
        Ok(Reply::Erased(Erased { receipt, held, damaged, unreadable })) => {
            let names = |files: &[PathBuf]| -> Vec<u8> {
                let names = files.iter().filter_map(|file| file.file_name()?.to_str());
                names.flat_map(|name| format!("{name}\n").into_bytes()).collect()
            };
            let receipt = receipt.as_ref().map_or_else(Vec::new, |receipt| receipt.encode(store));
            for part in [names(held), names(damaged), receipt, names(unreadable)] {
                body.extend_from_slice(&(part.len() as u64).to_le_bytes());
                body.extend_from_slice(&part);
            }
        }
        Err(found) => body.extend_from_slice(found.as_bytes()),
    }
    envelope(REPLY_MAGIC, VERSION, store, &body)
}

/// Decodes a reply about files of this folder.
fn decode_reply(directory: &dyn Directory, bytes: &[u8]) -> Option<Result<Reply, String>> {
    let (_, store, body) = open_envelope(REPLY_MAGIC, bytes).filter(|(version, ..)| *version == VERSION)?;
    let mut at = Fields(body);
    match at.u64()? {
        0 => Some(Ok(Reply::Done)),
        1 => {
            let (file_bytes, events, is_known) = (at.u64()?, at.u64()?, at.u64()?);
            let instants = (at.u64()?, at.u64()?);
            let names = std::str::from_utf8(at.0).ok()?.lines();
            let files = names.map(|name| directory.path(name)).collect();
            let instants = (is_known == 1).then_some(instants);
            Some(Ok(Reply::Removed(Removed { files, file_bytes, events, instants })))
        }
        2 => Some(Err(String::from_utf8_lossy(at.0).into_owned())),
        3 => Some(Ok(Reply::Deleted(Deleted { events: at.u64()?, missed: at.u64()? }))),
        4 => {
            let mut part = || {
                let length = usize::try_from(at.u64()?).ok()?;
                at.bytes(length)
            };
            let (held, damaged, receipt) = (part()?, part()?, part()?);
            // A writer of before does not tell.
            let unreadable = part().unwrap_or_default();
            let files = |names: &[u8]| {
                let names = std::str::from_utf8(names).ok()?.lines();
                Some(names.map(|name| directory.path(name)).collect())
            };
            let receipt = match receipt {
                [] => None,
                bytes => Some(Receipt::decode(bytes, store)?),
            };
            let (held, damaged) = (files(held)?, files(damaged)?);
            Some(Ok(Reply::Erased(Erased { receipt, held, damaged, unreadable: files(unreadable)? })))
        }
        _ => None,
    }
}

/// The bytes of a file in the folder of requests, or those of its name.
pub(crate) fn read(requests: &dyn Directory, stem: &str, ending: &str) -> io::Result<Vec<u8>> {
    let file = requests.open(&format!("{stem}{ending}"))?;
    let bytes = file.read_range(0, file.length()?.min(BYTES_MAX) as usize)?;
    let named = stem.split_once('.').filter(|_| bytes.is_empty());
    Ok(named.and_then(|(_, digits)| decode_digits(digits)).unwrap_or(bytes))
}

/// What a name that holds bytes begins with: the rest of it is none of the request's.
pub(crate) fn id(stem: &str) -> &str {
    stem.split_once('.').map_or(stem, |(id, _)| id)
}

fn decode_digits(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// A file in the folder of requests.
pub(crate) struct Placed {
    /// Its name without the ending: the request's id, and the bytes where the file holds none.
    pub(crate) stem: String,
    /// It is locked, where the file system knows locks, as long as its maker lives and holds this.
    _lock: Option<Box<dyn Lock>>,
}

/// Puts a file into the folder of requests: whole, or not at all. Few bytes for which there is no room become part of its name: a name can still be had where
/// no byte can.
pub(crate) fn put(requests: &dyn Directory, id: &str, ending: &str, bytes: &[u8]) -> io::Result<Placed> {
    match put_as(requests, id.to_owned(), ending, bytes) {
        Err(error) if is_full(&error) && bytes.len() <= NAMED_BYTES_MAX => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            put_as(requests, format!("{id}.{digits}"), ending, &[])
        }
        placed => placed,
    }
}

/// Puts bytes into a file of this very name, or into none.
pub(crate) fn put_as(
    requests: &dyn Directory,
    stem: String,
    ending: &str,
    bytes: &[u8],
) -> io::Result<Placed> {
    let name = format!("{stem}{ending}");
    let unfinished = unfinished(&name);
    let file = requests.create(&unfinished)?;
    let lock = requests.lock(&unfinished, LockKind::Exclusive).ok().flatten();
    let written = write_all_at(&*file, 0, bytes).and_then(|()| requests.rename(&unfinished, &name));
    written.inspect_err(|_| drop(requests.remove(&unfinished)))?;
    Ok(Placed { stem, _lock: lock })
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Puts a reply into the folder of requests. Where there is no room it is shorter: it names no files then, and a reason not to its end.
pub(crate) fn put_reply(
    requests: &dyn Directory,
    id: &str,
    store: u128,
    mut reply: Result<Reply, String>,
) -> io::Result<Placed> {
    put(requests, id, REPLY, &encode_reply(store, &reply)).or_else(|error| {
        match &mut reply {
            Ok(Reply::Removed(removed)) => removed.files.clear(),
            Err(found) => found.truncate(found.floor_char_boundary(SHORT_BYTES)),
            Ok(_) => return Err(error),
        }
        put(requests, id, REPLY, &encode_reply(store, &reply))
    })
}

/// Whether whoever made this file has let go of it: then nobody waits for a reply.
pub(crate) fn is_left(requests: &dyn Directory, name: &str) -> bool {
    matches!(requests.lock(name, LockKind::Exclusive), Ok(Some(_)))
}

impl Request {
    /// Sends the request to the process that is writing to the store in this folder, and waits until it is done. `None` if no process is writing: then
    /// the caller can open the store and do it. The request is withdrawn if it is not accepted within `patience`; once it is accepted, this
    /// waits until it is done or the process ends. `progress` is called every few milliseconds with the state of the request.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use tamias_store::{Event, Options, Reply, Request, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path(), Options::default(), Arc::new(()))?;
    /// store.append(&[Event { instant: 1, bytes: b"{}" }])?;
    /// // In another process:
    /// let reply = Request::Seal.ask(folder.path(), Duration::from_secs(30), &mut |_| ())?;
    /// assert_eq!(reply, Some(Reply::Done));
    /// drop(store);
    /// assert_eq!(Request::Seal.ask(folder.path(), Duration::from_secs(30), &mut |_| ())?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no store, the writing process does not accept the request or cannot do it, or the folder cannot be written.
    pub fn ask(
        &self,
        folder: &Path,
        patience: Duration,
        progress: &mut dyn FnMut(RequestProgress),
    ) -> Result<Option<Reply>, RequestError> {
        inventory::require_folder(folder)?;
        self.ask_on(&Disk::new(folder), patience, progress)
    }

    /// Sends the request to the process that is writing to a store in any implementation of a folder.
    ///
    /// # Errors
    /// As for [`ask`](Request::ask).
    pub fn ask_on(
        &self,
        directory: &dyn Directory,
        patience: Duration,
        progress: &mut dyn FnMut(RequestProgress),
    ) -> Result<Option<Reply>, RequestError> {
        let Some(manifest) = inventory::find_manifest(directory, false)? else {
            return Err(inventory::missing(directory).into());
        };
        let until = Instant::now().checked_add(patience);
        let deadline = settings::now().saturating_add(settings::ticks(patience));
        loop {
            let Some(writer) = hold::writer(directory)? else { return Ok(None) };
            if until.is_some_and(|until| until < Instant::now()) {
                return Err(RequestError::NotTaken { folder: inventory::folder(directory), writer });
            }
            let fail = |operation| Failure::during(directory, REQUESTS_NAME, operation);
            let requests = directory.folder(REQUESTS_NAME).map_err(fail(Operation::CreateFolder))?;
            let asked = Asked { store: manifest.store, deadline, request: Some(self.clone()) };
            let id = format!("{:032x}", recovery::random_identity());
            let placed = put(&*requests, &id, REQUEST, &asked.encode()).map_err(fail(Operation::Write))?;
            let waiting = Waiting { directory, requests, placed, until };
            let folder = inventory::folder(directory);
            match waiting.wait(progress)? {
                End::Replied(bytes) => match decode_reply(directory, &bytes) {
                    Some(Ok(reply)) => return Ok(Some(reply)),
                    Some(Err(found)) => return Err(RequestError::Refused { folder, writer, found }),
                    None => {
                        let found = "its reply cannot be read".to_owned();
                        return Err(RequestError::Refused { folder, writer, found });
                    }
                },
                End::Withdrawn => return Err(RequestError::NotTaken { folder, writer }),
                // Whoever writes now, if anybody does, is asked again.
                End::Ended => {}
            }
        }
    }
}

/// What a wait ends with.
enum End {
    /// These bytes.
    Replied(Vec<u8>),
    /// Nobody took it.
    Withdrawn,
    /// The writer has ended.
    Ended,
}

/// A request that waits for its reply.
struct Waiting<'a> {
    directory: &'a dyn Directory,
    requests: Arc<dyn Directory>,
    /// The request; its lock shows the writer that somebody waits, and goes with this process.
    placed: Placed,
    until: Option<Instant>,
}

impl Waiting<'_> {
    fn fail(&self, operation: Operation) -> impl FnOnce(io::Error) -> Failure + use<> {
        Failure::during(self.directory, REQUESTS_NAME, operation)
    }

    fn has(&self, ending: &str) -> Result<bool, Failure> {
        let kind = self.requests.kind(&format!("{}{ending}", self.placed.stem));
        Ok(matches!(kind.map_err(self.fail(Operation::Open))?, Some(NameKind::File(_))))
    }

    /// The name of the reply without its ending, once there is one; one that stands in its name is looked for on demand.
    fn reply(&self, also_in_names: bool) -> Result<Option<String>, Failure> {
        let id = id(&self.placed.stem);
        if self.requests.kind(&format!("{id}{REPLY}")).map_err(self.fail(Operation::Open))?.is_some() {
            return Ok(Some(id.to_owned()));
        }
        if !also_in_names {
            return Ok(None);
        }
        let named =
            |name: &String| name.strip_suffix(REPLY)?.strip_prefix(id)?.starts_with('.').then_some(());
        let names = match self.requests.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names.map_err(self.fail(Operation::List))?,
        };
        let found = names.iter().find(|name| named(name).is_some());
        Ok(found.and_then(|name| name.strip_suffix(REPLY)).map(str::to_owned))
    }

    /// How far the writer is, as far as it tells.
    fn progress(&self) -> RequestProgress {
        let bytes = read(&*self.requests, id(&self.placed.stem), PROGRESS).unwrap_or_default();
        let mut at = Fields(&bytes);
        let (done, of) = at.u64().zip(at.u64()).unwrap_or_default();
        RequestProgress::Running { done, of }
    }

    fn remove(&self, ending: &str) -> bool {
        self.requests.remove(&format!("{}{ending}", self.placed.stem)).is_ok()
    }

    fn wait(&self, progress: &mut dyn FnMut(RequestProgress)) -> Result<End, Failure> {
        let mut look = 0u32;
        let mut known = RequestProgress::Running { done: 0, of: 0 };
        loop {
            look = look.wrapping_add(1);
            // In the order in which one becomes the other, so that none is missed.
            let (is_waiting, is_running) = (self.has(REQUEST)?, self.has(RUNNING)?);
            let is_forgotten = !is_waiting && !is_running;
            let is_time = look.is_multiple_of(LOOKS);
            if let Some(reply) = self.reply(is_forgotten || is_time)? {
                let bytes = read(&*self.requests, &reply, REPLY);
                let _ = self.requests.remove(&format!("{reply}{REPLY}"));
                return bytes.map(End::Replied).map_err(self.fail(Operation::Read));
            }
            let is_late = self.until.is_some_and(|until| Instant::now() >= until);
            if is_waiting && is_late && self.remove(REQUEST) {
                return Ok(End::Withdrawn);
            }
            if is_forgotten || (is_time && hold::writer(self.directory)?.is_none()) {
                // It may have replied just before it ended.
                if self.reply(true)?.is_none() {
                    self.remove(REQUEST);
                    self.remove(RUNNING);
                    return Ok(End::Ended);
                }
            }
            if is_running && is_time {
                known = self.progress();
            }
            progress(if is_running { known } else { RequestProgress::Waiting });
            std::thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::FileKind;
    use crate::io::Simulated;
    use crate::settings::WhenFull;

    #[test]
    fn what_finds_no_room_stands_in_a_name() {
        let folder = Simulated::new();
        folder.set_room(Some(0));
        let retention = Retention { before: Some(u64::MAX), file_bytes_max: Some(u64::MAX) };
        let request = Some(Request::Remove(retention));
        let asked = Asked { store: u128::MAX, deadline: u64::MAX, request }.encode();
        let own = "f".repeat(32);
        let placed = put(&folder, &own, REQUEST, &asked).unwrap();
        assert_eq!(read(&folder, &placed.stem, REQUEST).unwrap(), asked);
        assert_eq!(id(&placed.stem), own);
        let files = vec![folder.path(&FileKind::Segment.name(1))];
        let removed = Removed { files, file_bytes: 5, events: 6, instants: Some((7, 8)) };
        let short = Removed { files: Vec::new(), ..removed.clone() };
        let long = "no room, and much more to say of it than a name is long, or ever will be".to_owned();
        for (reply, told) in [
            (Ok(Reply::Removed(removed)), Ok(Reply::Removed(short))),
            (Err(long.clone()), Err(long[..SHORT_BYTES].to_owned())),
            (Ok(Reply::Done), Ok(Reply::Done)),
        ] {
            let placed = put_reply(&folder, id(&placed.stem), 3, reply).unwrap();
            let bytes = read(&folder, &placed.stem, REPLY).unwrap();
            assert_eq!(decode_reply(&folder, &bytes), Some(told));
        }
        // A name has at most 255 bytes.
        assert!(folder.list().unwrap().iter().all(|name| name.len() + ".running.tmp".len() < 255));
        // What is too long for a name is refused, and leaves nothing.
        let before = folder.list().unwrap().len();
        let keys = vec![Key { instant: 5, arrival: 1 }; 5];
        let asked = Asked { store: 7, deadline: 9, request: Some(Request::Delete(keys)) }.encode();
        assert!(put(&folder, &own, REQUEST, &asked).is_err());
        assert_eq!(folder.list().unwrap().len(), before);
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let bounds = [None, Some(0), Some(u64::MAX)];
        let mut requests = vec![Request::Seal, Request::Compact];
        for (before, file_bytes_max) in bounds.iter().flat_map(|one| bounds.map(|other| (*one, other))) {
            requests.push(Request::Remove(Retention { before, file_bytes_max }));
        }
        let max_age = Some(Duration::from_secs(90));
        let settings = Settings { max_age, max_bytes: None, when_full: WhenFull::RemoveOldest };
        requests.push(Request::Settings(settings));
        let key = |arrival| Key { instant: 5, arrival };
        requests.extend([Request::Delete(vec![]), Request::Delete(vec![key(1), key(2)]), Request::Erase]);
        for request in requests {
            let bytes = Asked { store: 7, deadline: 9, request: Some(request.clone()) }.encode();
            let read = Asked::decode(&bytes).unwrap();
            assert_eq!((read.store, read.deadline, read.request), (7, 9, Some(request)));
            for at in 0..bytes.len() {
                let mut altered = bytes.clone();
                altered[at] ^= 4;
                assert!(Asked::decode(&altered).is_none() && Asked::decode(&bytes[..at]).is_none());
            }
        }
        let folder = Simulated::new();
        let files = vec![folder.path("1.segment"), folder.path("2.segment")];
        let removed = Removed { files, file_bytes: 5, events: 6, instants: Some((7, 8)) };
        let replies = [
            Ok(Reply::Done),
            Ok(Reply::Removed(removed)),
            Ok(Reply::Removed(Removed::default())),
            Ok(Reply::Deleted(Deleted { events: 5, missed: 6 })),
            Ok(Reply::Erased(Erased::default())),
            Ok(Reply::Erased(Erased {
                receipt: Some(Receipt::example()),
                held: vec![folder.path("1.log")],
                damaged: vec![],
                unreadable: vec![folder.path("2.log")],
            })),
            Err("no room".to_owned()),
        ];
        for reply in replies {
            assert_eq!(decode_reply(&folder, &encode_reply(3, &reply)), Some(reply));
        }
    }

    #[test]
    fn the_reply_to_an_erase_of_a_writer_of_before_is_read() {
        let folder = Simulated::new();
        let held = vec![folder.path("1.log")];
        let reply = Ok(Reply::Erased(Erased { held, ..Erased::default() }));
        let bytes = encode_reply(3, &reply);
        let (_, _, body) = open_envelope(REPLY_MAGIC, &bytes).unwrap();
        // It told of no files of which nobody can tell whose they are.
        let (before, last) = body.split_last_chunk::<8>().unwrap();
        assert_eq!(*last, [0; 8]);
        assert_eq!(decode_reply(&folder, &envelope(REPLY_MAGIC, VERSION, 3, before)), Some(reply));
    }
}
