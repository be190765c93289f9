//! Compacting a store, and removing what is old.

use std::fs;

use crate::tool::{count, folder, tool};

fn ingest(folder: &std::path::Path, day: u32) {
    let name = format!("day-{day}");
    let events: String = (0..10)
        .map(|n| {
            format!("{{\"@t\":\"2024-05-{day:02}T10:56:{n:02}Z\",\"pad\":\"{}\"}}\n", "x".repeat(150_000))
        })
        .collect();
    fs::write(folder.join(&name), events).unwrap();
    tool(folder, &["ingest", "s", &name]).well();
}

fn files(folder: &std::path::Path) -> usize {
    let files = fs::read_dir(folder.join("s")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "segment")).count()
}

#[test]
fn old_files_are_removed_and_small_ones_merged() {
    let folder = folder();
    for day in 1..=5 {
        // More than a megabyte: each ends up in a file of its own.
        ingest(folder.path(), day);
    }
    assert_eq!(files(folder.path()), 5);
    let planned = tool(folder.path(), &["remove", "s", "--before", "2024-05-03", "--dry-run"]).well().out;
    let expected = " 20 events, from 2024-05-01T10:56:00Z to 2024-05-02T10:56:09Z; 30 events stay\n";
    assert!(planned.starts_with("would be removed: 2 files of ") && planned.ends_with(expected), "{planned}");
    assert_eq!(count(folder.path(), "s"), 50);
    let done = tool(folder.path(), &["remove", "s", "--before", "2024-05-03"]).well().out;
    assert_eq!(done, planned.replace("would be removed", "removed"));
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (30, 3));
    let none = tool(folder.path(), &["remove", "s", "--older-than", "700000d"]).well().out;
    assert_eq!(none, "removed: 0 files of 0 bytes, 0 events; 30 events stay\n");

    let done = tool(folder.path(), &["compact", "s"]).well().out;
    assert_eq!(done, "compacted: 3 files became 1, 30 events\n");
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (30, 1));
    tool(folder.path(), &["verify", "s"]).well();

    let done = tool(folder.path(), &["remove", "s", "--max-bytes", "1000", "--older-than", "1d"]).well().out;
    assert!(done.contains(" 30 events, from ") && done.ends_with("; 0 events stay\n"), "{done}");
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (0, 0));
}

#[test]
fn what_to_remove_has_to_be_said() {
    let folder = folder();
    ingest(folder.path(), 1);
    tool(folder.path(), &["remove", "s"]).with(2);
    tool(folder.path(), &["remove", "s", "--before", "yesterday"]).with(2);
    tool(folder.path(), &["remove", "s", "--older-than", "soon"]).with(2);
    tool(folder.path(), &["remove", "s", "--before", "2024-01-01", "--older-than", "1d"]).with(2);
    for command in [&["compact", "missing"][..], &["remove", "missing", "--max-bytes", "1"]] {
        tool(folder.path(), command).with(5);
        assert!(!folder.path().join("missing").exists());
    }
    assert_eq!(count(folder.path(), "s"), 10);
}

#[test]
fn segments_are_text_or_columns_as_asked_and_compacting_makes_columns() {
    let folder = folder();
    let events: String = (0..10_000)
        .map(|n| {
            format!(
                "{{\"@t\":\"2024-05-29T10:{:02}:{:02}Z\",\"N\":{n},\"Kind\":\"order\"}}\n",
                n / 600,
                n / 10 % 60
            )
        })
        .collect();
    fs::write(folder.path().join("events"), events).unwrap();
    let sizes = |store: &str| {
        let info = tool(folder.path(), &["info", store]).well().out;
        let line = info.lines().find_map(|line| line.strip_prefix("files (bytes): ")).unwrap();
        let (all, columns) = line.split_once(", those with columns: ").unwrap();
        (all.parse::<u64>().unwrap(), columns.parse::<u64>().unwrap())
    };
    let ask = |store: &str| {
        let query = "select count(*), sum(N) from stream where N > 700 group by Kind";
        tool(folder.path(), &["query", store, query, "--format", "ndjson"]).well().out
    };
    tool(folder.path(), &["ingest", "text", "events", "--segments", "text"]).well();
    tool(folder.path(), &["compact", "text", "--segments", "text"]).well();
    tool(folder.path(), &["ingest", "columns", "events"]).well();
    tool(folder.path(), &["compact", "columns"]).well();
    let ((text, none), (all, columns)) = (sizes("text"), sizes("columns"));
    assert_eq!(none, 0);
    assert!(all == columns && all * 10 < text, "{text} bytes of text, {all} of columns");
    assert_eq!(ask("columns"), ask("text"));
    let done = tool(folder.path(), &["compact", "text"]).well().out;
    assert_eq!(done, "compacted: 1 files became 1, 10000 events\n");
    let (all, columns) = sizes("text");
    assert_eq!(all, columns);
    assert_eq!(ask("text"), ask("columns"));
    for store in ["text", "columns"] {
        assert_eq!(tool(folder.path(), &["verify", store]).well().out, "sound: 10000 events in 1 segments\n");
    }
}
