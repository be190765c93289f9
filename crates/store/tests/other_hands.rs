//! What a reviewer found by other hands than the store's own: second writers, second names of files, files put back, losses remembered.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use support::{open, rows, tiny};
use tamias_store::format::FileKind;
use tamias_store::io::{Change, Directory, Medium, Simulated, write_all_at};
use tamias_store::{
    AppendError, Codec, Durability, Event, OpenError, Options, Reader, Repair, SourcePosition, Store,
    UnnamedKind,
};

fn event(instant: u64, text: &str) -> [Event<'_>; 1] {
    [Event { instant, bytes: text.as_bytes() }]
}

fn quiet() -> Options {
    Options { background: false, ..Options::default() }
}

fn on_disk(folder: &Path) -> Store {
    Store::open(folder, quiet(), support::codec()).unwrap()
}

fn source(name: &str, position: u64) -> Option<SourcePosition<'_>> {
    Some(SourcePosition { name, position, note: &[] })
}

fn names(medium: &Medium, ending: &str) -> Vec<String> {
    medium.names().filter(|name| name.ends_with(ending) && !name.contains('/')).cloned().collect()
}

fn put(medium: &mut Medium, name: &str, bytes: &[u8]) {
    medium.apply(&Change::Create(name.to_owned()));
    let file = medium.find(name).unwrap();
    medium.apply(&Change::Write(file, 0, bytes.into()));
    medium.apply(&Change::Flush(file, true));
}

/// Puts files of an earlier medium in the place of those of a later one.
fn put_back(medium: &mut Medium, from: &Medium, endings: &[&str]) {
    for ending in endings {
        for name in names(from, ending) {
            put(medium, &name, from.contents(from.find(&name).unwrap()));
        }
    }
}

fn repair(folder: &Simulated) -> Repair {
    Repair::run_on(Arc::new(folder.clone()), &tiny(), support::codec(), false, &mut |_, _| ()).unwrap()
}

/// Appends by a first writer while a second one is about to write a segment.
struct Meanwhile(Mutex<Option<Store>>);

impl Codec for Meanwhile {
    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {
        if let Some(first) = self.0.lock().unwrap().take() {
            assert!(first.append_sealed(&event(9, "first"), None).is_err());
            std::mem::forget(first);
        }
    }
}

#[test]
fn a_writer_without_its_lock_takes_no_file_of_the_next_one_away() {
    let folder = tempfile::tempdir().unwrap();
    on_disk(folder.path()).append(&event(1, "zero")).unwrap();
    let first = on_disk(folder.path());
    std::fs::remove_file(folder.path().join("lock")).unwrap();
    let meanwhile = Arc::new(Meanwhile(Mutex::default()));
    let second = Store::open(folder.path(), quiet(), meanwhile.clone()).unwrap();
    second.append(&event(2, "acknowledged by the second")).unwrap();
    *meanwhile.0.lock().unwrap() = Some(first);
    second.seal().unwrap();
    drop(second);
    let store = on_disk(folder.path());
    assert_eq!((store.snapshot().verify().unwrap(), store.snapshot().events()), (vec![], 2));
}

#[test]
fn what_stands_in_the_way_of_a_new_file_stays() {
    for unfinished in [false, true] {
        let folder = Simulated::new();
        let store = open(&folder, &tiny()).unwrap();
        store.append_sealed(&event(1, "zero"), None).unwrap();
        let numbers = folder.list().unwrap().into_iter().filter_map(|name| FileKind::parse(&name));
        let next =
            numbers.filter(|(kind, _)| *kind == FileKind::Segment).map(|(_, number)| number).max().unwrap()
                + 1;
        let name =
            if unfinished { FileKind::Segment.unfinished_name(next) } else { FileKind::Segment.name(next) };
        write_all_at(&*folder.create(&name).unwrap(), 0, b"the only copy").unwrap();
        store.append_sealed(&event(1, "one"), None).unwrap();
        store.append_sealed(&event(1, "two"), None).unwrap();
        let medium = folder.medium();
        assert_eq!(medium.contents(medium.find(&name).unwrap()), b"the only copy");
        assert_eq!(rows(&store.snapshot()).len(), 3);
    }
}

#[test]
fn a_backup_of_hard_links_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (store, backup) = (folder.path().join("store"), folder.path().join("backup"));
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../store-fixtures/v1/clean");
    std::fs::create_dir(&store).unwrap();
    std::fs::create_dir(&backup).unwrap();
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for entry in std::fs::read_dir(fixture).unwrap() {
        let (from, name) = (entry.as_ref().unwrap().path(), entry.as_ref().unwrap().file_name());
        std::fs::copy(&from, store.join(&name)).unwrap();
        std::fs::hard_link(store.join(&name), backup.join(&name)).unwrap();
        files.push((backup.join(&name), std::fs::read(from).unwrap()));
    }
    for _ in 0..3 {
        let store = on_disk(&store);
        store.append(&event(1, "new")).unwrap();
        store.seal().unwrap();
    }
    for (file, bytes) in files {
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{}", file.display());
    }
}

#[test]
fn what_is_in_quarantine_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    on_disk(folder.path()).append(&event(1, "zero")).unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let manifest =
        files.into_iter().find(|file| file.extension().is_some_and(|ending| ending == "manifest")).unwrap();
    let mut bytes = std::fs::read(&manifest).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&manifest, &bytes).unwrap();
    std::fs::remove_file(folder.path().join("spare")).unwrap();
    Repair::run(folder.path(), &quiet(), support::codec(), false, &mut |_, _| ()).unwrap();
    on_disk(folder.path()).append(&event(2, "one")).unwrap();
    let kept = folder.path().join("quarantine").join(manifest.file_name().unwrap());
    assert_eq!(std::fs::read(kept).unwrap(), bytes);
}

#[test]
fn a_flush_without_a_folder_fails() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durability: Durability::None, ..quiet() };
    let store = Store::open(&folder.path().join("store"), options, support::codec()).unwrap();
    store.append(&event(1, "zero")).unwrap();
    std::fs::remove_dir_all(folder.path().join("store")).unwrap();
    assert!(store.flush().is_err());
}

#[test]
fn a_retired_log_stays_while_its_segment_is_missing() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    store.append(&event(1, "acknowledged")).unwrap();
    store.seal().unwrap();
    std::mem::forget(store);
    let mut medium = Medium::default();
    let mut tried = 0;
    for change in folder.changes() {
        medium.apply(&change);
        let segments = [names(&medium, ".segment.tmp"), names(&medium, ".segment")].concat();
        if segments.is_empty() || names(&medium, ".log").is_empty() {
            continue;
        }
        // The log still has every event when the segment is lost.
        let mut left = medium.clone();
        segments.into_iter().for_each(|name| left.apply(&Change::Remove(name)));
        let folder = Simulated::with(left);
        for _ in 0..2 {
            drop(open(&folder, &tiny()).unwrap());
        }
        assert_eq!(repair(&folder).events, 1);
        assert_eq!(rows(&open(&folder, &tiny()).unwrap().snapshot()).len(), 1);
        tried += 1;
    }
    assert!(tried > 2, "{tried}");
}

#[test]
fn a_file_that_is_put_back_after_it_was_retired_is_not_deleted() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for n in 0..6 {
        store.append_sealed(&event(n, "event"), None).unwrap();
    }
    let before = folder.medium();
    store.compact().unwrap();
    drop(store);
    let mut medium = folder.medium();
    let gone: Vec<String> =
        names(&before, ".segment").into_iter().filter(|name| medium.find(name).is_none()).collect();
    assert!(!gone.is_empty());
    for name in &gone {
        put(&mut medium, name, before.contents(before.find(name).unwrap()));
    }
    let folder = Simulated::with(medium);
    let reader = Reader::open_on(Arc::new(folder.clone()), tiny(), support::codec()).unwrap();
    assert_eq!(
        reader.unnamed().unwrap().iter().filter(|file| file.kind == UnnamedKind::Events).count(),
        gone.len()
    );
    drop(reader);
    drop(open(&folder, &tiny()).unwrap());
    assert!(gone.iter().all(|name| folder.medium().find(name).is_some()));
    // The store has their events, so they go to quarantine.
    let done = repair(&folder);
    assert_eq!((done.events, done.unnamed.len()), (6, gone.len()));
    assert!(done.unnamed.iter().all(|file| file.regained == 0 && file.quarantined.is_some()));
}

#[test]
fn another_stores_manifest_alone_takes_no_file_of_this_one() {
    let (folder, other) = (Simulated::new(), Simulated::new());
    open(&folder, &tiny()).unwrap().append(&event(1, "own")).unwrap();
    let store = open(&other, &tiny()).unwrap();
    store.append(&event(1, "other")).unwrap();
    store.seal().unwrap();
    drop(store);
    let mut medium = folder.medium();
    names(&medium, ".manifest").into_iter().for_each(|name| medium.apply(&Change::Remove(name)));
    put_back(&mut medium, &other.medium(), &[".manifest"]);
    let folder = Simulated::with(medium.clone());
    assert!(matches!(open(&folder, &tiny()), Err(OpenError::TwoStores { .. })));
    assert!(
        Repair::run_on(Arc::new(folder.clone()), &tiny(), support::codec(), false, &mut |_, _| ()).is_err()
    );
    assert!(names(&medium, ".log").iter().all(|name| folder.medium().find(name).is_some()));
}

/// They used to have to be moved by hand.
#[test]
fn repair_moves_the_files_of_another_store_out_of_an_empty_one() {
    let (folder, other) = (Simulated::new(), Simulated::new());
    drop(open(&folder, &tiny()).unwrap());
    let store = open(&other, &tiny()).unwrap();
    store.append(&event(1, "sealed")).unwrap();
    store.seal().unwrap();
    store.append(&event(2, "in the log")).unwrap();
    drop(store);
    let mut medium = folder.medium();
    put_back(&mut medium, &other.medium(), &[".segment", ".log"]);
    let foreign = [names(&other.medium(), ".segment"), names(&other.medium(), ".log")].concat();
    let folder = Simulated::with(medium);
    let refused = open(&folder, &tiny()).unwrap_err();
    assert!(matches!(refused, OpenError::ForeignFiles { .. }), "{refused}");
    assert!(refused.to_string().contains("repair moves such files to quarantine"), "{refused}");
    let done = repair(&folder);
    assert_eq!((done.events, done.unnamed.len()), (0, foreign.len()));
    let medium = folder.medium();
    for name in &foreign {
        assert!(medium.find(name).is_none(), "{name}");
        let kept = medium.contents(medium.find(&format!("quarantine/{name}")).unwrap());
        assert_eq!(kept, other.medium().contents(other.medium().find(name).unwrap()));
    }
    open(&folder, &tiny()).unwrap().append(&event(3, "own")).unwrap();
    assert_eq!(open(&folder, &tiny()).unwrap().snapshot().events(), 1);
}

#[test]
fn a_lost_position_is_not_found_again_in_an_old_batch() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    // So many sources that segments do not tell of them.
    for n in 0..20 {
        store.append_from(&[], source(&format!("{n}{}", "x".repeat(4000)), n)).unwrap();
    }
    store.append_from(&event(1, "seven hundred"), source("web", 700)).unwrap();
    drop(store);
    let backup = folder.medium();
    let store = open(&folder, &tiny()).unwrap();
    store.append_from(&event(2, "fifteen hundred"), source("web", 1500)).unwrap();
    store.seal().unwrap();
    drop(store);
    let mut medium = folder.medium();
    names(&medium, ".manifest").into_iter().for_each(|name| medium.apply(&Change::Remove(name)));
    put_back(&mut medium, &backup, &[".manifest", ".log"]);
    let folder = Simulated::with(medium);
    assert!(repair(&folder).lost_sources.contains(&"web".to_owned()));
    let store = open(&folder, &tiny()).unwrap();
    assert!(store.is_source_lost("web"));
    store.append_from(&event(3, "now it is known"), source("web", 1600)).unwrap();
    assert!(!store.is_source_lost("web"));
    store.accept_source_positions().unwrap();
    assert!(!store.is_source_lost("another"));
    drop(store);
    assert!(!open(&folder, &tiny()).unwrap().is_source_lost("another"), "it was said once and for all");
}

#[test]
fn numbers_that_are_used_up_are_an_error() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    store.append_sealed(&event(1, "zero"), None).unwrap();
    drop(store);
    // Each opening beside such a file moves the numbers on, as nobody knows which ones it has.
    let mut medium = folder.medium();
    let segment = names(&medium, ".segment")[0].clone();
    let bytes = medium.contents(medium.find(&segment).unwrap()).to_vec();
    put(&mut medium, &FileKind::Log.name(77), &bytes);
    let folder = Simulated::with(medium);
    for _ in 0..5 {
        let store = open(&folder, &tiny()).unwrap();
        match store.append(&event(1, "more")) {
            Ok(_) => {}
            Err(error) => assert!(matches!(error, AppendError::NumbersUsedUp)),
        }
        let events = store.snapshot().events();
        drop(store);
        assert_eq!(open(&folder, &tiny()).unwrap().snapshot().events(), events);
    }
}

/// Names the folder for the process that goes to another one.
const FOLDER: &str = "TAMIAS_CHDIR_FOLDER";

/// No test of its own: it goes to another folder, which concerns all threads of a process.
#[test]
fn chdir_process() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    std::env::set_current_dir(&folder).unwrap();
    let store = Store::open(Path::new("store"), Options::default(), support::codec()).unwrap();
    let reader = Reader::open(Path::new("store"), Options::default(), support::codec()).unwrap();
    std::env::set_current_dir("/").unwrap();
    store.append(&[Event { instant: 1, bytes: b"{}" }]).unwrap();
    store.seal().unwrap();
    assert_eq!(reader.snapshot().unwrap().events(), 1);
    // Messages name it as it was named.
    assert_eq!(store.snapshot().segments()[0].file.as_ref().unwrap().parent(), Some(Path::new("store")));
    drop(store);
    assert!(!Path::new("/store").exists());
}

#[test]
fn a_process_that_goes_to_another_folder_goes_on_with_a_store_of_a_relative_path() {
    let folder = tempfile::tempdir().unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([&*support::test_name(module_path!(), "chdir_process"), "--exact"])
        .env(FOLDER, folder.path())
        .status()
        .unwrap();
    assert!(status.success());
    assert!(folder.path().join("store").join("lock").exists());
}

/// Each opening beside such a file used to forget where all sources stood, whatever had come since.
#[test]
fn a_stray_makes_positions_doubtful_that_were_told_before_its_events_and_no_later_ones() {
    let folder = Simulated::new();
    let store = open(&folder, &tiny()).unwrap();
    for (position, text) in [(10, "ten"), (20, "twenty")] {
        store.append_from(&event(position, text), source("web", position)).unwrap();
        store.seal().unwrap();
    }
    let before = folder.medium();
    let [older, newer] = &names(&before, ".segment")[..] else { panic!() };
    store.compact().unwrap();
    drop(store);
    // What is gone is forgotten.
    drop(open(&folder, &tiny()).unwrap());
    let put_back = |name: &str| {
        let bytes = before.contents(before.find(name).unwrap());
        folder.create(name).unwrap().write_at(0, bytes).unwrap();
    };
    put_back(older);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!((store.is_source_lost("web"), store.is_source_lost("another")), (false, true));
    drop(store);
    put_back(newer);
    let store = open(&folder, &tiny()).unwrap();
    assert!(store.is_source_lost("web"), "it may hold the batch that told the position");
    store.append_from(&event(30, "thirty"), source("web", 30)).unwrap();
    assert!(!store.is_source_lost("web"));
    drop(store);
    let store = open(&folder, &tiny()).unwrap();
    assert_eq!((store.is_source_lost("web"), store.is_source_lost("another")), (false, true));
}
