//! A reader beside a writer that publishes manifests as fast as it can, call by call.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::fs::Permissions;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tamias_store::io::{Directory, File, Lock, LockKind, Mapping, NameKind, Simulated};
use tamias_store::{Event, Options, Reader, Store};

/// What the writer does before a call of the reader, which is told by its name and the file's.
type Writer = Box<dyn FnMut(&str, &str) + Send>;

/// The reader's view of a folder in which something happens before each of its calls.
#[derive(Clone)]
struct Busy {
    folder: Simulated,
    writer: Arc<Mutex<Writer>>,
}

impl std::fmt::Debug for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Busy")
    }
}

impl Busy {
    fn before(&self, call: &str, name: &str) -> &Simulated {
        (self.writer.lock().unwrap())(call, name);
        &self.folder
    }
}

impl Directory for Busy {
    /// A long listing is not of one moment: what comes or goes meanwhile is not in it.
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = self.before("list", "").list()?;
        let after = self.before("listed", "").list()?;
        if names.len() > 500 {
            names.retain(|name| after.contains(name));
        }
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let file = self.before("open", name).open(name)?;
        Ok(Arc::new(BusyFile { file, busy: self.clone(), name: name.to_owned() }))
    }

    fn kind(&self, name: &str) -> io::Result<Option<NameKind>> {
        self.before("kind", name).kind(name)
    }

    fn lock(&self, name: &str, kind: LockKind) -> io::Result<Option<Box<dyn Lock>>> {
        self.before("lock", name).lock(name, kind)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn has_other_names(&self, name: &str) -> bool {
        self.folder.has_other_names(name)
    }

    fn create(&self, _: &str) -> io::Result<Arc<dyn File>> {
        unreachable!("a reader writes nothing")
    }

    fn open_for_writing(&self, _: &str) -> io::Result<Arc<dyn File>> {
        unreachable!("a reader writes nothing")
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        unreachable!("a reader writes nothing")
    }

    fn link(&self, _: &str, _: &str) -> io::Result<()> {
        unreachable!("a reader writes nothing")
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        unreachable!("a reader writes nothing")
    }

    fn flush(&self) -> io::Result<()> {
        unreachable!("a reader writes nothing")
    }

    fn folder(&self, _: &str) -> io::Result<Arc<dyn Directory>> {
        unreachable!("a reader writes nothing")
    }

    fn create_with(&self, _: Option<Permissions>) {}

    fn boot(&self) -> Option<u64> {
        self.folder.boot()
    }
}

/// A file of such a folder.
#[derive(Debug)]
struct BusyFile {
    file: Arc<dyn File>,
    busy: Busy,
    name: String,
}

impl File for BusyFile {
    fn length(&self) -> io::Result<u64> {
        self.busy.before("length", &self.name);
        self.file.length()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.busy.before("read", &self.name);
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<usize> {
        unreachable!("a reader writes nothing")
    }

    fn set_length(&self, _: u64) -> io::Result<()> {
        unreachable!("a reader writes nothing")
    }

    fn flush(&self) -> io::Result<()> {
        unreachable!("a reader writes nothing")
    }

    fn map(&self, length: u64) -> io::Result<Box<dyn Mapping>> {
        self.file.map(length)
    }

    fn permissions(&self) -> io::Result<Option<Permissions>> {
        self.file.permissions()
    }
}

fn options() -> Options {
    Options {
        block_bytes: 100,
        segment_bytes: 3000,
        background: false,
        segments: support::LAYOUT,
        ..Options::default()
    }
}

/// Stores a batch, as a segment of its own: that publishes a manifest, and removes the one before.
fn publish(store: &Store, sealed: bool) -> u64 {
    let instant = store.snapshot().events();
    let event = [Event { instant, bytes: b"{}" }];
    let stored = if sealed { store.append_sealed(&event, None) } else { store.append(&event) };
    stored.unwrap().end
}

fn store(folder: &Simulated) -> Store {
    Store::open_on(Arc::new(folder.clone()), options(), support::codec()).unwrap()
}

fn reader(folder: &Simulated, writer: Writer) -> Reader {
    let busy = Busy { folder: folder.clone(), writer: Arc::new(Mutex::new(writer)) };
    Reader::open_on(Arc::new(busy), options(), support::codec()).unwrap()
}

#[test]
fn a_reader_is_not_overtaken_for_ever_by_a_writer_that_publishes_while_it_looks_at_a_folder_of_many_files() {
    let folder = Simulated::new();
    let store = store(&folder);
    for n in 0..60 {
        publish(&store, n % 2 == 0);
    }
    let (writer, mut calls, mut sealed) = (store.clone(), 0, false);
    let reader = reader(
        &folder,
        Box::new(move |call, _| {
            calls += u64::from(!["read", "length"].contains(&call));
            if calls == 20 {
                calls = 0;
                sealed = !sealed;
                publish(&writer, sealed);
            }
        }),
    );
    for _ in 0..20 {
        let acknowledged = publish(&store, false);
        let snapshot = reader.snapshot().unwrap();
        assert!(snapshot.events() >= acknowledged);
        reader.unnamed().unwrap();
    }
}

#[test]
fn a_reader_passes_over_no_manifest_that_is_replaced_between_its_listing_and_its_reading() {
    let folder = Simulated::new();
    let store = store(&folder);
    publish(&store, false);
    let armed = Arc::new(Mutex::new(false));
    let (writer, fire) = (store.clone(), Arc::clone(&armed));
    let reader = reader(
        &folder,
        Box::new(move |call, name| {
            if call == "open" && name.ends_with("manifest") && std::mem::take(&mut *fire.lock().unwrap()) {
                publish(&writer, true);
            }
        }),
    );
    assert_eq!(reader.snapshot().unwrap().events(), 1);
    let acknowledged = publish(&store, true);
    *armed.lock().unwrap() = true;
    let snapshot = reader.snapshot().unwrap();
    assert!(!*armed.lock().unwrap(), "it was replaced");
    assert!(snapshot.events() >= acknowledged, "{} of {acknowledged}", snapshot.events());
}

#[test]
fn a_snapshot_has_no_batch_of_the_log_whose_predecessor_went_into_a_segment_meanwhile() {
    let folder = Simulated::new();
    let store = store(&folder);
    publish(&store, false);
    let countdown = Arc::new(Mutex::new(None));
    let (writer, left) = (store.clone(), Arc::clone(&countdown));
    let reader = reader(
        &folder,
        Box::new(move |_, _| {
            let mut left = left.lock().unwrap();
            match *left {
                Some(0) => {
                    *left = None;
                    publish(&writer, true);
                    publish(&writer, false);
                }
                Some(calls) => *left = Some(calls - 1),
                None => {}
            }
        }),
    );
    // At each call of the reader in turn, a batch goes into a segment and the next one into the log.
    let mut overtaken = 0;
    for at in 0..60 {
        let acknowledged = publish(&store, false);
        *countdown.lock().unwrap() = Some(at);
        let snapshot = reader.snapshot().unwrap();
        overtaken += usize::from(countdown.lock().unwrap().take().is_none());
        assert!(snapshot.events() >= acknowledged, "call {at}");
        // Instants count batches, so a missing one shows.
        assert_eq!(snapshot.time_range().unwrap(), (0, snapshot.events() - 1), "call {at}");
    }
    assert!((5..60).contains(&overtaken), "each call was tried: {overtaken}");
}

/// It used to be told that the manifest is missing, and that repair makes a new one.
#[test]
fn a_reader_opens_a_long_folder_whose_manifest_is_replaced_while_it_is_listed() {
    for times in [1, 2, 7] {
        let folder = Simulated::new();
        let store = store(&folder);
        publish(&store, true);
        for number in 0..600 {
            folder.create(&format!("{number}.txt")).unwrap();
        }
        let (writer, mut left) = (store.clone(), times);
        let reader = reader(
            &folder,
            Box::new(move |call, _| {
                if call == "listed" && left > 0 {
                    left -= 1;
                    publish(&writer, true);
                }
            }),
        );
        assert_eq!(reader.snapshot().unwrap().events(), 1 + times);
    }
}
