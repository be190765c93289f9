//! Lists of files that are lost, old, or another store's: told in plain words, and put right by `repair`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tool::{count, folder, tool};

fn manifests(store: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "manifest")).collect();
    files.sort();
    files
}

fn lines(range: std::ops::Range<u64>) -> String {
    range
        .map(|n| format!("{{\"@t\":\"2024-05-29T10:{:02}:{:02}Z\",\"n\":{n}}}\n", n / 60 % 60, n % 60))
        .collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// A store `s` of 1500 lines of `log`, and `backup`, a copy from when there were 700.
fn store_and_backup(folder: &Path) {
    let log = folder.join("log");
    fs::write(&log, lines(0..700)).unwrap();
    tool(folder, &["ingest", "s", "log"]).well();
    tool(folder, &["compact", "s"]).well();
    copy(&folder.join("s"), &folder.join("backup"));
    fs::write(&log, lines(0..1500)).unwrap();
    tool(folder, &["ingest", "s", "log"]).well();
    tool(folder, &["compact", "s"]).well();
    assert_eq!(count(folder, "s"), 1500);
}

#[test]
fn an_older_list_is_told_and_repair_takes_the_rest_in() {
    let folder = folder();
    let folder = folder.path();
    store_and_backup(folder);
    manifests(&folder.join("s")).iter().for_each(|file| fs::remove_file(file).unwrap());
    copy(&folder.join("backup"), &folder.join("s"));

    let verify = tool(folder, &["verify", "s"]).with(6);
    assert!(verify.out.starts_with("not named: s/"), "{verify:?}");
    assert!(
        verify.out.contains("holds events of this store, which a newer list of its files must have named"),
        "{verify:?}"
    );
    assert!(verify.err.contains("`repair` adds what is missing"), "{verify:?}");

    // Who asks the store, rather than checks it, is told as well, in one line.
    for args in [&["query", "s", "select count(*) from stream"][..], &["info", "s"]] {
        let asked = tool(folder, args).well();
        assert!(asked.err.starts_with("warning: s/") && asked.err.lines().count() == 1, "{asked:?}");
        assert!(asked.err.contains("`repair` adds what is missing"), "{asked:?}");
    }

    let ingest = tool(folder, &["ingest", "s", "log"]).with(4);
    assert!(ingest.err.contains("warning: s/"), "{ingest:?}");
    assert!(ingest.err.contains("log: unknown how much of it is stored"), "{ingest:?}");
    assert!(ingest.err.contains("--resume") && ingest.err.contains("--again"), "{ingest:?}");

    // Other events go in meanwhile, and take nothing away.
    fs::write(folder.join("other"), lines(5000..5001)).unwrap();
    tool(folder, &["ingest", "s", "other", "--again"]).well();

    let planned = tool(folder, &["repair", "s", "--dry-run"]).with(6);
    assert!(
        planned.out.contains("it was not named, 800 events of it would be in the store again"),
        "{planned:?}"
    );
    let repair = tool(folder, &["repair", "s"]).well();
    assert!(
        repair.out.contains("the list of the store's files was not the newest one there was"),
        "{repair:?}"
    );
    let told = "0 events are lost with damaged or missing ones, 800 came back from files that were not named, 1501 stay\n";
    assert!(repair.out.ends_with(told), "{repair:?}");
    tool(folder, &["verify", "s", "--deep"]).well();
    assert_eq!(count(folder, "s"), 1501);
    assert_eq!(tool(folder, &["info", "s"]).well().err, "");
    // Where the file stood is known again.
    let ingest = tool(folder, &["ingest", "s", "log"]).well();
    assert!(ingest.out.starts_with("stored: 0, "), "{ingest:?}");
}

#[test]
fn a_lost_list_is_made_anew() {
    let folder = folder();
    let folder = folder.path();
    store_and_backup(folder);
    manifests(&folder.join("s")).iter().for_each(|file| fs::remove_file(file).unwrap());
    for command in [&["verify", "s"][..], &["ingest", "s", "log"], &["query", "s", "select n from stream"]] {
        let run = tool(folder, command).with(6);
        assert!(
            run.err.contains("no manifest, the list of the store's files; repairing makes a new one"),
            "{run:?}"
        );
    }
    let repair = tool(folder, &["repair", "s"]).well();
    assert!(
        repair.out.contains("the list of the store's files was missing: a new one is made from the files"),
        "{repair:?}"
    );
    assert!(
        repair.out.contains("settings, which are now max-age: none, max-bytes: none, when-full: fail"),
        "{repair:?}"
    );
    assert_eq!(count(folder, "s"), 1500);
    let ingest = tool(folder, &["ingest", "s", "log"]).well();
    assert!(ingest.out.starts_with("stored: 0, "), "{ingest:?}");
}

#[test]
fn where_a_file_stood_that_nothing_tells_any_more_is_asked_for() {
    let folder = folder();
    let folder = folder.path();
    // Segments of version 1 do not tell where sources stood.
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../store-fixtures/v1/clean");
    copy(&fixture, &folder.join("s"));
    manifests(&folder.join("s")).iter().for_each(|file| fs::remove_file(file).unwrap());
    let repair = tool(folder, &["repair", "s"]).well();
    assert!(repair.out.contains("unknown how much of any other source is stored"), "{repair:?}");
    assert_eq!(count(folder, "s"), 60);
    fs::write(folder.join("log"), lines(0..10)).unwrap();
    let refused = tool(folder, &["ingest", "s", "log"]).with(4);
    assert!(refused.err.contains("Use --resume to store all of it"), "{refused:?}");
    assert_eq!(count(folder, "s"), 60);
    tool(folder, &["ingest", "s", "log", "--resume"]).well();
    assert_eq!(count(folder, "s"), 70);
    let known = tool(folder, &["ingest", "s", "log"]).well();
    assert!(known.out.starts_with("stored: 0, "), "{known:?}");
}

#[test]
fn two_stores_in_a_folder_are_named() {
    let folder = folder();
    let folder = folder.path();
    store_and_backup(folder);
    fs::write(folder.join("few"), lines(0..10)).unwrap();
    tool(folder, &["ingest", "other", "few"]).well();
    let (own, foreign) = (manifests(&folder.join("s")), manifests(&folder.join("other")));
    assert_ne!(own[0].file_name(), foreign[0].file_name());
    let listed = |folder: &Path| fs::read_dir(folder).unwrap().count();
    copy(&folder.join("other"), &folder.join("s"));
    let before = listed(&folder.join("s"));
    let run = tool(folder, &["query", "s", "select n from stream"]).with(5);
    assert!(run.err.contains("belongs to another store than"), "{run:?}");
    assert!(run.err.contains("move the files of one of the two to a folder of their own"), "{run:?}");
    tool(folder, &["ingest", "s", "few"]).with(5);
    assert_eq!(listed(&folder.join("s")), before);
}
