//! Folders that cannot be opened: each gives one clear line, and is left as it was.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tamias_store::format::{self, VERSION};
use tamias_store::io::Simulated;
use tamias_store::{AppendError, Event, OpenError, Options, Reader, Store};

fn write(folder: &Path) -> Result<Store, OpenError> {
    Store::open(folder, Options::default(), Arc::new(()))
}

fn read(folder: &Path) -> Result<Reader, OpenError> {
    Reader::open(folder, Options::default(), Arc::new(()))
}

fn message<T: std::fmt::Debug>(result: Result<T, OpenError>, folder: &Path) -> String {
    let text = result.unwrap_err().to_string();
    assert_eq!(text.lines().count(), 1);
    text.replace(folder.to_str().unwrap(), "STORE")
}

fn store_of_one_event(folder: &Path) {
    write(folder).unwrap().append(&[Event { instant: 1, bytes: b"one" }]).unwrap();
}

fn manifest(folder: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.find(|file| file.extension().is_some_and(|extension| extension == "manifest")).unwrap()
}

#[test]
fn there_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let text = "STORE holds no store; open it for writing to create one";
    assert_eq!(message(read(folder.path()), folder.path()), text);
    let missing = folder.path().join("missing");
    assert_eq!(message(read(&missing), &missing), text);
    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert_eq!(message(read(&file), &file), text);
    assert_eq!(message(write(&file), &file), "cannot create the folder STORE: File exists (os error 17)");
}

#[test]
fn the_folder_is_somebody_elses() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("letter.txt"), "dear all").unwrap();
    assert_eq!(
        message(write(folder.path()), folder.path()),
        "STORE is not empty and holds no store (it has \"letter.txt\"); give an empty or a new folder"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made there");
    // In a store a foreign file does no harm, and comes to none.
    let folder = tempfile::tempdir().unwrap();
    store_of_one_event(folder.path());
    std::fs::write(folder.path().join("letter.txt"), "dear all").unwrap();
    assert_eq!(write(folder.path()).unwrap().snapshot().events(), 1);
    assert_eq!(read(folder.path()).unwrap().snapshot().unwrap().events(), 1);
    assert!(folder.path().join("letter.txt").exists());
}

#[test]
fn a_segment_of_another_store_is_not_removed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    store_of_one_event(folder.path());
    let foreign = write(other.path()).unwrap();
    foreign.append_sealed(&[Event { instant: 1, bytes: b"other" }], None).unwrap();
    let file = foreign.snapshot().segments()[0].file.clone().unwrap();
    let copy = folder.path().join("00000000000000aa.segment");
    std::fs::copy(file, &copy).unwrap();
    let store = write(folder.path()).unwrap();
    store.seal().unwrap();
    assert!(copy.exists());
    assert_eq!(store.snapshot().events(), 1);
}

#[test]
fn the_manifest_is_missing_or_damaged() {
    let folder = tempfile::tempdir().unwrap();
    store_of_one_event(folder.path());
    let manifest = manifest(folder.path());
    let bytes = std::fs::read(&manifest).unwrap();
    std::fs::write(&manifest, b"nonsense").unwrap();
    let name = manifest.file_name().unwrap().to_str().unwrap();
    let text = format!(
        "STORE/{name}, the list of the store's files, is damaged; repairing makes a new one from segments and log"
    );
    assert_eq!(message(write(folder.path()), folder.path()), text);
    assert_eq!(message(read(folder.path()), folder.path()), text);
    std::fs::remove_file(&manifest).unwrap();
    let text = message(write(folder.path()), folder.path());
    let expected = "STORE holds 0000000000000001.log but no manifest, the list of the store's files; repairing makes a new one from \
                    segments and log";
    assert_eq!(text, expected);
    assert_eq!(message(read(folder.path()), folder.path()), expected);
    std::fs::write(&manifest, bytes).unwrap();
    assert_eq!(write(folder.path()).unwrap().snapshot().events(), 1);
}

#[test]
fn a_newer_version_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    store_of_one_event(folder.path());
    let manifest = manifest(folder.path());
    let mut bytes = std::fs::read(&manifest).unwrap();
    bytes[8..12].copy_from_slice(&(VERSION + 5).to_le_bytes());
    let sum = format::checksum(0, &[&bytes[..44]]);
    bytes[44..48].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&manifest, bytes).unwrap();
    let name = manifest.file_name().unwrap().to_str().unwrap();
    let text =
        format!("STORE/{name} is of format version 7, this program reads versions up to 2; use a newer one");
    assert_eq!(message(write(folder.path()), folder.path()), text);
    assert_eq!(message(read(folder.path()), folder.path()), text);
}

#[test]
fn another_process_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = write(folder.path()).unwrap();
    let text = message(write(folder.path()), folder.path());
    let process = std::process::id();
    let expected = format!("STORE is being written to by process {process} on host ");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.ends_with("; open it read-only, or stop that process"), "{text}");
    let second = store.clone();
    drop(store);
    assert!(matches!(write(folder.path()), Err(OpenError::Locked { .. })), "a handle is left");
    drop(second);
    write(folder.path()).unwrap();
}

#[test]
fn the_folder_may_not_be_changed() {
    let folder = Simulated::new();
    let open =
        |folder: &Simulated| Store::open_on(Arc::new(folder.clone()), Options::default(), Arc::new(()));
    open(&folder).unwrap().append(&[Event { instant: 1, bytes: b"one" }]).unwrap();
    folder.refuse(|_| Some(io::ErrorKind::PermissionDenied));
    let error = open(&folder).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot create simulated/") && error.ends_with(": permission denied"),
        "{error}"
    );
    let reader = Reader::open_on(Arc::new(folder), Options::default(), Arc::new(())).unwrap();
    assert_eq!(reader.snapshot().unwrap().events(), 1, "reading needs no more than reading");
}

#[test]
fn limits_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { event_bytes_max: 10, batch_bytes_max: 25, ..Options::default() };
    let store = Store::open(folder.path(), options, Arc::new(())).unwrap();
    let event = |bytes| Event { instant: 1, bytes };
    let refused = |events: &[Event<'_>]| {
        let error = store.append(events).unwrap_err();
        assert_eq!(store.append_sealed(events, None).unwrap_err().to_string(), error.to_string());
        error.to_string()
    };
    let long: &[u8] = b"01234567890";
    assert_eq!(
        refused(&[event(b"a"), event(long)]),
        "event 1 of the batch has 11 bytes, more than event_bytes_max = 10"
    );
    assert_eq!(refused(&[event(b"")]), "event 0 of the batch is empty");
    assert_eq!(refused(&[event(b"a\nb")]), "event 0 of the batch is more than one line");
    assert_eq!(
        refused(&[event(&long[1..]), event(&long[1..]), event(b"abc")]),
        "the batch has 26 bytes, more than batch_bytes_max = 25; split it"
    );
    let source = tamias_store::SourcePosition { name: &"n".repeat(4097), position: 0, note: &[] };
    let error = store.append_from(&[event(b"a")], Some(source)).unwrap_err();
    assert_eq!(error.to_string(), "the source's name has 4097 bytes, more than 4096");
    assert!(matches!(error, AppendError::SourceNameTooLong { .. }));
    assert_eq!(store.append(&[event(&long[1..]), event(&long[1..]), event(b"ab")]).unwrap(), 0..3);
    let options = Options { block_bytes: 0, ..Options::default() };
    let error = Store::open(folder.path(), options, Arc::new(())).unwrap_err();
    assert_eq!(error.to_string(), "option block_bytes is 0, it must lie in 1 to 1073741824");
}
