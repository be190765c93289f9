//! Links, pipes and folders in the place of files, permissions, and a lock that is not the writer's any more.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tamias_store::{AppendError, Direction, Event, OpenError, Options, Reader, Repair, Store, UnnamedKind};

fn open(folder: &Path) -> Result<Store, OpenError> {
    Store::open(folder, Options::default(), Arc::new(()))
}

fn append(store: &Store, bytes: &[u8]) -> Result<(), AppendError> {
    store.append(&[Event { instant: 1, bytes }]).map(drop)
}

/// A folder with a store of one sealed event and one in the log, and a file outside of it.
fn store() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    let inside = folder.path().join("store");
    let store = open(&inside).unwrap();
    append(&store, b"sealed").unwrap();
    store.seal().unwrap();
    append(&store, b"logged").unwrap();
    drop(store);
    (folder, inside, outside)
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_str().unwrap().ends_with(ending));
    files.sort();
    files
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn repair(folder: &Path) -> Result<Repair, OpenError> {
    Repair::run(folder, &Options::default(), Arc::new(()), false, &mut |_, _| ())
}

#[test]
fn no_link_is_followed_and_no_target_touched() {
    for name in [
        "writer",
        "lock",
        "spare",
        "0000000000000063.manifest",
        "0000000000000063.manifest.tmp",
        "0000000000000063.segment.tmp",
    ] {
        for dangling in [false, true] {
            let (folder, inside, outside) = store();
            let target = if dangling { folder.path().join("nothing") } else { outside.clone() };
            let _ = fs::remove_file(inside.join(name));
            symlink(&target, inside.join(name)).unwrap();
            match open(&inside) {
                Ok(store) => {
                    append(&store, b"new").unwrap();
                    store.seal().unwrap();
                    assert_eq!(store.snapshot().events(), 3, "{name}");
                }
                Err(error) => {
                    assert_eq!(name, "lock", "{error}");
                    let text = error.to_string();
                    assert!(
                        text.ends_with(
                            "/lock: it is not a regular file; a store uses no links, pipes or devices"
                        ),
                        "{text}"
                    );
                }
            }
            let reader = Reader::open(&inside, Options::default(), Arc::new(())).unwrap();
            assert!(reader.snapshot().unwrap().events() >= 2);
            assert_eq!(fs::read_to_string(&outside).unwrap(), "precious", "{name}");
            assert!(!folder.path().join("nothing").exists(), "{name}");
        }
    }
}

#[test]
fn the_next_manifest_does_not_go_where_a_link_points() {
    let (_folder, inside, outside) = store();
    // The writer will want these names.
    for number in 0..40 {
        let _ = symlink(&outside, inside.join(format!("{number:016x}.manifest.tmp")));
    }
    let store = open(&inside).unwrap();
    append(&store, b"new").unwrap();
    drop(store);
    assert_eq!(open(&inside).unwrap().snapshot().events(), 3);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
}

#[test]
fn a_link_in_the_place_of_a_segment_or_log_is_damage() {
    for ending in [".segment", ".log"] {
        let (folder, inside, _) = store();
        let file = files(&inside, ending).pop().unwrap();
        let moved = folder.path().join("moved");
        fs::rename(&file, &moved).unwrap();
        symlink(&moved, &file).unwrap();
        let reader = Reader::open(&inside, Options::default(), Arc::new(())).unwrap();
        let damage = reader.snapshot().unwrap().verify().unwrap();
        assert_eq!(damage.len(), 1, "{ending}");
        assert_eq!(damage[0].found, "it is not a regular file");
        assert_eq!(reader.unnamed().unwrap()[0].kind, UnnamedKind::Irregular);
        drop(reader);
        repair(&inside).unwrap();
        assert!(moved.exists());
        assert_eq!(open(&inside).unwrap().snapshot().events(), 1);
    }
}

#[test]
fn a_quarantine_that_is_a_link_is_refused() {
    let (folder, inside, _) = store();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, inside.join("quarantine")).unwrap();
    let segment = files(&inside, ".segment").pop().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[50] ^= 1;
    fs::write(&segment, &bytes).unwrap();
    let error = repair(&inside).unwrap_err().to_string();
    assert!(error.ends_with("/quarantine: it is not a folder, or a link to one"), "{error}");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read(&segment).unwrap(), bytes);
}

#[test]
fn a_pipe_is_not_waited_for() {
    for name in [
        "writer",
        "lock",
        "spare",
        "0000000000000063.manifest",
        "0000000000000063.segment",
        "0000000000000063.log.tmp",
    ] {
        let (_folder, inside, _) = store();
        let _ = fs::remove_file(inside.join(name));
        pipe(&inside.join(name));
        let opened = open(&inside);
        assert!(opened.is_ok() || name == "lock", "{name}");
        drop(opened);
        assert_eq!(
            Reader::open(&inside, Options::default(), Arc::new(())).unwrap().snapshot().unwrap().events(),
            2,
            "{name}"
        );
        if name != "lock" {
            repair(&inside).unwrap();
        }
    }
    for ending in [".segment", ".log"] {
        let (_folder, inside, _) = store();
        let file = files(&inside, ending).pop().unwrap();
        fs::remove_file(&file).unwrap();
        pipe(&file);
        let damage = Reader::open(&inside, Options::default(), Arc::new(()))
            .unwrap()
            .snapshot()
            .unwrap()
            .verify()
            .unwrap();
        assert_eq!(damage.len(), 1);
        repair(&inside).unwrap();
        assert_eq!(open(&inside).unwrap().snapshot().events(), 1);
    }
}

#[test]
fn what_was_private_stays_private() {
    let (_folder, inside, _) = store();
    for mode in [0o600, 0o640] {
        for file in files(&inside, "") {
            if file.is_file() {
                fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            }
        }
        let store = open(&inside).unwrap();
        append(&store, b"more").unwrap();
        store.seal().unwrap();
        append(&store, b"still more").unwrap();
        store.compact().unwrap();
        let snapshot = store.snapshot();
        let first = snapshot.groups(0..=u64::MAX, Direction::Ascending).next().unwrap().unwrap();
        store.delete(&[first[0].key(0).unwrap().unwrap()]).unwrap();
        drop((snapshot, first));
        store.erase().unwrap().receipt.unwrap();
        drop(store);
        let receipt = files(&inside.join("receipts"), ".receipt").pop().unwrap();
        let segment = files(&inside, ".segment").pop().unwrap();
        let mut bytes = fs::read(&segment).unwrap();
        bytes[50] ^= 1;
        fs::write(&segment, &bytes).unwrap();
        repair(&inside).unwrap();
        let kept = inside.join("quarantine").join(segment.file_name().unwrap());
        for file in files(&inside, "").into_iter().chain([kept, receipt]) {
            let mode_now = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
            // The lock holds nothing, and may be as it was made.
            assert!(!file.is_file() || mode_now == mode, "{} is {mode_now:o}", file.display());
        }
    }
}

#[test]
fn a_writer_whose_lock_was_deleted_acknowledges_nothing_more() {
    let (_folder, inside, _) = store();
    let first = open(&inside).unwrap();
    append(&first, b"one").unwrap();
    fs::remove_file(inside.join("lock")).unwrap();
    let second = open(&inside).unwrap();
    append(&second, b"two").unwrap();
    let error = append(&first, b"three").unwrap_err().to_string();
    let expected =
        "/lock: it was removed or replaced, so another process may be writing; this one writes nothing more";
    assert!(error.contains(expected), "{error}");
    assert_eq!(error.lines().count(), 1);
    assert!(append(&first, b"four").is_err() && first.seal().is_err() && first.flush().is_err());
    drop(first);
    append(&second, b"five").unwrap();
    second.seal().unwrap();
    drop(second);
    assert_eq!(
        open(&inside).unwrap().snapshot().events(),
        5,
        "two from before, and those that were acknowledged"
    );
}

#[test]
fn a_writer_whose_folder_is_gone_acknowledges_nothing_more() {
    for sealed in [false, true] {
        let (folder, inside, _) = store();
        let store = open(&inside).unwrap();
        append(&store, b"one").unwrap();
        match sealed {
            true => fs::remove_dir_all(&inside).unwrap(),
            false => fs::rename(&inside, folder.path().join("moved")).unwrap(),
        }
        assert!(append(&store, b"two").is_err());
    }
}

#[test]
fn somebody_who_locks_the_manifest_does_not_stop_readers() {
    let (_folder, inside, _) = store();
    let manifest = fs::File::open(files(&inside, ".manifest").pop().unwrap()).unwrap();
    manifest.lock().unwrap();
    let reader = Reader::open(&inside, Options::default(), Arc::new(())).unwrap();
    assert_eq!(reader.snapshot().unwrap().events(), 2);
}

#[test]
fn a_writer_that_has_lost_its_lock_overwrites_nothing_of_the_next_one() {
    for sealed in [false, true] {
        let (_folder, inside, _) = store();
        // It has written nothing yet: what was closed lies before both of them.
        let first = open(&inside).unwrap();
        fs::remove_file(inside.join("lock")).unwrap();
        let second = open(&inside).unwrap();
        let one = [Event { instant: 1, bytes: b"first" }];
        let two = [Event { instant: 2, bytes: b"second" }];
        let append = |store: &Store, events: &[Event<'_>]| match sealed {
            true => store.append_sealed(events, None),
            false => store.append(events),
        };
        append(&second, &two).unwrap();
        assert!(append(&first, &one).is_err());
        append(&second, &two).unwrap();
        drop(first);
        append(&second, &two).unwrap();
        drop(second);
        let store = open(&inside).unwrap();
        assert_eq!(store.snapshot().verify().unwrap(), []);
        assert_eq!(store.snapshot().events(), 5, "two from before, and three that were acknowledged");
    }
}

/// Who looked after a service's store as root used to lock the service out of it.
#[test]
fn what_another_user_makes_in_a_store_is_the_owners_of_the_folder() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = tempfile::tempdir().unwrap();
    let own = std::fs::metadata(folder.path()).unwrap();
    // Only root may give a folder away.
    let given = chown(folder.path(), Some(12_345), Some(12_346));
    let owner = given.map_or((own.uid(), own.gid()), |()| (12_345, 12_346));
    let store = open(folder.path()).unwrap();
    append(&store, b"{}").unwrap();
    store.seal().unwrap();
    drop(store);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let found = entry.metadata().unwrap();
        assert_eq!((found.uid(), found.gid()), owner, "{:?}", entry.file_name());
    }
}
