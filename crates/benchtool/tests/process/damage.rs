//! Stored data that is not what was written: told, never shown.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tool::{folder, tool};

/// The largest file of the store: the segment with the events.
fn largest_file(store: &Path) -> PathBuf {
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    let mut folders = vec![store.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            match entry.metadata().unwrap() {
                data if data.is_dir() => folders.push(entry.path()),
                data => files.push((data.len(), entry.path())),
            }
        }
    }
    files.into_iter().max().unwrap().1
}

#[test]
fn a_damaged_block_is_named() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "5000", "--keep", "s"]).well();
    let file = largest_file(&folder.path().join("s"));
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(16).position(|window| window == b"/api/customers/1").unwrap();
    bytes[place] ^= 1;
    fs::write(&file, bytes).unwrap();

    let name = file.file_name().unwrap().to_str().unwrap();
    fs::write(folder.path().join("cases"), "select Message from stream").unwrap();
    for arguments in [
        &["query", "s", "select Message from stream where match(Message, 'customers')"][..],
        &["query", "s", "select count(*) from stream where Elapsed > 200"],
        &["bench", "--cases", "cases", "--percentile", "90", "s"],
    ] {
        let run = tool(folder.path(), arguments).with(6);
        assert!(run.err.starts_with("error: ") && run.err.contains(name), "{run:?}");
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        assert!(!run.out.contains(".api/customers/1"), "{}", run.out);
    }
}
