//! Stored data that is not what was written: told, never shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tool::{count, events, folder, objects, tool, tool_with_input};

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

/// Makes a store of 5000 events in `s` and alters a byte of its largest file, which it gives.
pub(crate) fn damaged_store(folder: &Path) -> PathBuf {
    tool(folder, &["demo", "--events", "5000", "--keep", "s", "--segments", "text"]).well();
    let file = largest_file(&folder.join("s"));
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(16).position(|window| window == b"/api/customers/1").unwrap();
    bytes[place] ^= 1;
    fs::write(&file, bytes).unwrap();
    file
}

#[test]
fn a_damaged_block_is_named() {
    let folder = folder();
    let file = damaged_store(folder.path());

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

#[test]
fn a_query_can_go_past_damage_and_says_what_is_missing() {
    let folder = folder();
    damaged_store(folder.path());
    let arguments = &["query", "s", "select count(@Data) as n from stream", "--on-damage", "skip"];
    let run = tool(folder.path(), arguments).well();
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert!(
        run.err.starts_with("left out: ") && run.err.contains(" events are lost, from 2024-"),
        "{}",
        run.err
    );
    let counted: u64 =
        run.out.trim().strip_prefix("{\"n\":").and_then(|n| n.strip_suffix('}')).unwrap().parse().unwrap();
    let lost: u64 = run.err.split("; ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_eq!(counted + lost, 5000);
}

#[test]
fn verify_lists_what_is_damaged_and_nothing_else() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "2000", "--keep", "sound"]).well();
    assert_eq!(tool(folder.path(), &["verify", "sound"]).well().out, "sound: 2000 events in 1 segment\n");
    let file = damaged_store(folder.path());
    let run = tool(folder.path(), &["verify", "s"]).with(6);
    assert_eq!(run.out.lines().count(), 1);
    assert!(run.out.contains(file.file_name().unwrap().to_str().unwrap()), "{}", run.out);
    assert!(run.err.starts_with("error: 1 part of the store is damaged: "), "{}", run.err);
}

#[test]
fn info_lists_the_files() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "2000", "--keep", "s"]).well();
    let run = tool(folder.path(), &["info", "s"]).well();
    assert!(run.out.starts_with("store:    s\nevents:   2000\n"), "{}", run.out);
    let rows: Vec<&str> = run.out.lines().filter(|line| line.starts_with('│')).collect();
    assert_eq!(rows.len(), 2, "a head and one file: {}", run.out);
    assert!(rows[1].contains(" 2000 ") && rows[1].contains("2024-"), "{}", run.out);
    let run = tool(folder.path(), &["info", "s", "--format", "json"]).well();
    let info = &objects(&run.out)[0];
    assert_eq!((&info["events"], &info["store"]), (&2000.into(), &"s".into()));
    assert_eq!(info["segments"][0]["events"], 2000);
    assert!(info["first"].as_str().is_some_and(|time| time.starts_with("2024-05-27T")), "{}", run.out);
}

#[test]
fn repair_takes_out_what_is_damaged_and_keeps_its_bytes() {
    let folder = folder();
    let file = damaged_store(folder.path());
    let bytes = fs::read(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();

    let planned = tool(folder.path(), &["repair", "s", "--dry-run"]).with(6);
    assert!(planned.err.contains("1 file of the store would be repaired: "), "{planned:?}");
    assert!(planned.err.contains("nothing was changed"), "{planned:?}");
    assert_eq!(fs::read(&file).unwrap(), bytes);
    tool(folder.path(), &["verify", "s"]).with(6);

    // A script at night takes the exit code for all.
    let done = tool(folder.path(), &["repair", "s"]).with(6);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 3, "{done:?}");
    assert!(done.err.starts_with("error: the store is sound again, but "), "{done:?}");
    assert!(
        lines[0].starts_with(&format!("s/{name} is damaged at bytes ")) && lines[0].contains(", from 2024-")
    );
    assert!(lines[1].contains(&format!(" events kept, its bytes are in s/quarantine/{name}")), "{done:?}");
    assert_eq!(fs::read(folder.path().join("s/quarantine").join(name)).unwrap(), bytes);
    assert!(!file.exists());
    let figure = |line: &str, behind: &str| -> u64 {
        line.split(behind).next().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let (lost, stay) = (figure(lines[2], " events are lost"), figure(lines[2], " stay"));
    assert_eq!((lost + stay, figure(lines[1], " events kept")), (5000, stay));

    let sound = tool(folder.path(), &["verify", "s"]).well().out;
    assert_eq!(sound, format!("sound: {stay} events in 1 segment\n"));
    assert_eq!(count(folder.path(), "s"), stay);
    let again = tool(folder.path(), &["repair", "s"]).well().out;
    assert_eq!(again, format!("sound: {stay} events, nothing to repair\n"));
    tool(folder.path(), &["repair", "missing"]).with(5);
}

#[test]
fn ingesting_into_a_damaged_store_says_so() {
    let folder = folder();
    let event = |n: u32| format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"n\":{n}}}\n");
    // Each in a batch of its own.
    fs::write(folder.path().join("events"), (0..3).map(event).collect::<String>()).unwrap();
    tool(folder.path(), &["ingest", "s", "events", "--batch-bytes", "1"]).well();
    let log = largest_log(&folder.path().join("s"));
    let mut bytes = fs::read(&log).unwrap();
    let place = bytes.windows(5).position(|window| window == b"\"n\":1").unwrap();
    bytes[place + 4] = b'7';
    fs::write(&log, bytes).unwrap();
    fs::write(folder.path().join("more"), event(3)).unwrap();
    let run = tool(folder.path(), &["ingest", "s", "more"]).well();
    assert!(run.err.starts_with("warning: s/") && run.err.contains("; `repair` takes it out"), "{run:?}");
    assert_eq!(run.err.lines().count(), 1, "{run:?}");
    let done = tool(folder.path(), &["repair", "s"]).with(6);
    assert!(done.out.ends_with("repaired: 1 file, 1 event is lost, 3 stay\n"), "{done:?}");
    assert!(done.err.contains("1 event is lost"), "{done:?}");
    tool(folder.path(), &["verify", "s"]).well();
}

fn largest_log(store: &Path) -> PathBuf {
    let files = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let logs = files.filter(|file| file.extension().is_some_and(|extension| extension == "log"));
    logs.max_by_key(|log| fs::metadata(log).unwrap().len()).unwrap()
}

/// Tells of every block that it has no events.
struct Lying;

impl tamias_store::Codec for Lying {
    fn collect(&self, _: &[u8], _: &[u32], statistics: &mut Vec<u8>) {
        statistics.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn verify_deep_finds_what_was_written_wrongly() {
    let folder = folder();
    let path = folder.path().join("s");
    let lying = tamias_store::Store::open(&path, tamias_store::Options::default(), Arc::new(Lying)).unwrap();
    lying.append(&[tamias_store::Event { instant: 0, bytes: b"{\"a\":1}" }]).unwrap();
    lying.seal().unwrap();
    drop(lying);
    // A process that another test starts has this one's files for a moment, and its log may still wait to be removed.
    let run = tool(folder.path(), &["verify", "s"]).well();
    assert!(run.out.ends_with("sound: 1 event in 1 segment\n"), "{run:?}");
    let run = tool(folder.path(), &["verify", "s", "--deep"]).with(6);
    let said = "block of 1 event from 0001-01-01T00:00:00Z to 0001-01-01T00:00:00Z: its statistics are false: \
        events: 0 in the statistics, 1 in the documents\n";
    assert!(run.out.lines().last().is_some_and(|line| line.starts_with("s/")), "{run:?}");
    assert!(run.out.ends_with(said), "{run:?}");
    assert!(run.err.starts_with("error: 1 block was written wrongly: "), "{run:?}");
}

#[test]
fn verify_deep_finds_nothing_where_nothing_is_wrong() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "5000", "--keep", "s", "--segments", "text"]).well();
    let sound = "sound: 5000 events in 1 segment, documents and statistics checked\n";
    assert_eq!(tool(folder.path(), &["verify", "s", "--deep"]).well().out, sound);
    // What is damaged is told as damage, and nothing else of it.
    let file = largest_file(&folder.path().join("s"));
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(16).position(|window| window == b"/api/customers/1").unwrap();
    bytes[place] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (deep, usual) =
        (tool(folder.path(), &["verify", "s", "--deep"]), tool(folder.path(), &["verify", "s"]));
    assert_eq!((deep.code, deep.out, deep.err), (Some(6), usual.out, usual.err));
}

#[test]
fn files_can_be_read_plainly() {
    let folder = folder();
    damaged_store(folder.path());
    let ask = |arguments: &[&str]| tool(folder.path(), arguments);
    let query = ["query", "s", "select Message from stream where Elapsed > 900", "--on-damage", "skip"];
    let mapped = ask(&[&query[..], &["--read-mode", "map"]].concat()).well();
    let plain = ask(&[&query[..], &["--read-mode", "plain"]].concat()).well();
    assert_eq!((plain.out, plain.err), (mapped.out, mapped.err));
    ask(&["keys", "s", "--read-mode", "plain"]).with(6);
    ask(&["query", "s", "select n from stream", "--read-mode", "other"]).with(2);
}

#[test]
fn a_round_of_scrubbing_that_goes_on_ends_with_what_was_found_before() {
    let folder = folder();
    for seed in 1..=2 {
        let lines = events(seed, 5000);
        tool_with_input(folder.path(), &["ingest", "s", "-"], &lines).well();
    }
    let mut files: Vec<_> =
        fs::read_dir(folder.path().join("s")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "segment"));
    files.sort();
    assert_eq!(files.len(), 2);
    let mut bytes = fs::read(&files[0]).unwrap();
    bytes[1000] ^= 1;
    fs::write(&files[0], bytes).unwrap();
    // A run that is interrupted behind the first file.
    let found = std::cell::Cell::new(0);
    let store = tamias::Store::open_read_only(folder.path().join("s")).unwrap();
    let scrub = store.scrub(u64::MAX, &|| found.get() == 0, &mut |_| found.set(1)).unwrap();
    assert_eq!((scrub.ended, scrub.damaged), (None, 1));
    drop(store);
    let ended = tool(folder.path(), &["scrub", "s"]).with(6);
    assert!(
        ended.out.starts_with("scrubbed: ") && ended.out.ends_with(", 1 damaged part\n"),
        "{}",
        ended.out
    );
    assert!(ended.err.contains("`verify` names it"), "{}", ended.err);
}

/// It told of what the process had met itself, which was nothing.
#[test]
fn damage_that_scrubbing_found_is_known() {
    let folder = folder();
    damaged_store(folder.path());
    let known = || {
        objects(&tool(folder.path(), &["info", "s", "--format", "json"]).well().out)[0]["known_damage"]
            .clone()
    };
    assert_eq!(known(), 0);
    tool(folder.path(), &["scrub", "s"]).with(6);
    assert_eq!(known(), 1);
}
