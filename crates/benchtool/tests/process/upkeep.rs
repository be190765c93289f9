//! Compacting a store, and removing what is old.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::tool::{command, count, ended, events, folder, objects, started, tool, tool_with_input};

fn ingest(folder: &std::path::Path, day: u32) {
    let name = format!("day-{day}");
    // Of 44 letters, in no order: they take two thirds of their bytes at least, however they are stored.
    let mut state = u64::from(day);
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (state >> 58) as u8 % 44)
    };
    let events: String = (0..10)
        .map(|n| {
            let pad: String = (0..150_000).map(|_| letter()).collect();
            format!("{{\"@t\":\"2024-05-{day:02}T10:56:{n:02}Z\",\"pad\":\"{pad}\"}}\n")
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
    let expected = " 20 events, from 2024-05-01T10:56:00Z to 2024-05-02T10:56:09Z; 30 events left\n";
    assert!(planned.starts_with("would be removed: 2 files of ") && planned.ends_with(expected), "{planned}");
    assert_eq!(count(folder.path(), "s"), 50);
    let done = tool(folder.path(), &["remove", "s", "--before", "2024-05-03"]).well().out;
    assert_eq!(done, planned.replace("would be removed", "removed"));
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (30, 3));
    let none = tool(folder.path(), &["remove", "s", "--older-than", "700000d"]).well().out;
    assert_eq!(none, "removed: 0 files of 0 bytes, 0 events; 30 events left\n");

    let done = tool(folder.path(), &["compact", "s"]).well().out;
    assert_eq!(done, "compacted: 3 files became 1, 30 events\n");
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (30, 1));
    tool(folder.path(), &["verify", "s"]).well();

    let done = tool(folder.path(), &["remove", "s", "--max-bytes", "1000", "--older-than", "1d"]).well().out;
    assert!(done.contains(" 30 events, from ") && done.ends_with("; 0 events left\n"), "{done}");
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (0, 0));
}

#[test]
fn a_store_keeps_to_its_settings_and_tells_what_went() {
    let folder = folder();
    ingest(folder.path(), 1);
    ingest(folder.path(), 2);
    let shown = |arguments: &[&str]| tool(folder.path(), arguments).well().out;
    assert_eq!(shown(&["settings", "s"]), "max-age: none, max-bytes: none, when-full: fail\n");
    let set = shown(&["settings", "s", "--max-bytes", "2500kB", "--when-full", "remove-oldest"]);
    assert_eq!(set, "max-age: none, max-bytes: 2500000B, when-full: remove-oldest\n");
    assert_eq!(shown(&["settings", "s"]), set);
    assert_eq!(count(folder.path(), "s"), 20);
    // What would go can be seen before: nothing, the older file, all.
    let planned = |bound: [&str; 2]| {
        let planned = shown(&["settings", "s", bound[0], bound[1], "--dry-run"]);
        planned.lines().next().unwrap().to_owned()
    };
    assert!(planned(["--max-age", "90000d"]).ends_with(" 0 events; 20 events left"));
    let planned_age = planned(["--max-age", "1d"]);
    assert!(planned_age.starts_with("would be removed: 2 files of "), "{planned_age}");
    assert!(planned_age.contains(" bytes, 20 events, from ") && planned_age.ends_with("; 0 events left"));
    // The latest file always stays.
    let planned_size = planned(["--max-bytes", "64kB"]);
    assert!(planned_size.starts_with("would be removed: 1 file of "), "{planned_size}");
    assert!(planned_size.ends_with("; 10 events left"), "{planned_size}");
    assert_eq!((shown(&["settings", "s"]), count(folder.path(), "s")), (set, 20));
    // Whoever writes obeys.
    ingest(folder.path(), 3);
    tool(folder.path(), &["compact", "s"]).well();
    // Files are small where there is room for a few only: the oldest events go file by file.
    assert_eq!(count(folder.path(), "s"), 20);
    assert!(files(folder.path()) > 1);
    // A unit that is wrong would take all.
    let all = ["settings", "s", "--max-age", "1d12h", "--max-bytes", "none"];
    let refused = tool(folder.path(), &all).with(2);
    assert!(
        refused.err.contains("nothing was changed") && refused.err.contains("; 0 events left"),
        "{refused:?}"
    );
    assert_eq!(count(folder.path(), "s"), 20);
    let set = tool(folder.path(), &[&all[..], &["--force"]].concat()).well();
    assert!(set.err.starts_with("removed 20 events "), "{set:?}");
    assert_eq!(set.out, "max-age: 1d12h, max-bytes: none, when-full: remove-oldest\n");
    // What takes no more than the limits before is set, whatever these take.
    tool(folder.path(), &["settings", "s", "--max-age", "2d"]).well();
    tool(folder.path(), &all).well();
    assert_eq!((count(folder.path(), "s"), files(folder.path())), (0, 0));
    let history = shown(&["info", "s", "--history"]);
    let lines: Vec<&str> = history.lines().filter(|line| line.contains('│')).skip(1).collect();
    assert!(lines.len() == 2 && lines[0].contains(" size ") && lines[1].contains(" age "), "{history}");
    let info = objects(&shown(&["info", "s", "--format", "json"])).remove(0);
    assert_eq!(info["settings"]["max_age_seconds"], 129_600.0);
    assert_eq!((&info["history"][0]["events"], &info["history"][1]["events"]), (&10.into(), &20.into()));
    assert_eq!(info["traffic"]["appended"].as_u64(), Some(30 * (150_000 + 39)));
    assert!(info["traffic"]["per_byte_appended"].as_f64().unwrap() > 1.0);
    assert_eq!(info["usage"]["segments"], 0);
    let written = info["last_written"].as_str().unwrap();
    assert!(written > "2026-11-01", "{written}");
    for wrong in [["--max-age", "0s"], ["--max-age", "soon"], ["--max-bytes", "5"], ["--when-full", "wait"]] {
        tool(folder.path(), &["settings", "s", wrong[0], wrong[1]]).with(2);
    }
    tool(folder.path(), &["settings", "missing", "--max-age", "1d"]).with(5);
}

#[test]
fn a_backup_is_taken_brought_up_to_date_and_restored() {
    let folder = folder();
    let told = |arguments: &[&str]| tool(folder.path(), arguments).well().out;
    ingest(folder.path(), 1);
    assert!(told(&["backup", "s", "b"]).starts_with("backed up: 0 files copied, 1 linked, 0 already there"));
    ingest(folder.path(), 2);
    assert!(told(&["backup", "s", "b", "--copy"]).starts_with("backed up: 1 file copied, 0 linked, 1"));
    assert_eq!(told(&["verify", "b"]), "sound: 20 events in 2 segments\n");
    ingest(folder.path(), 3);
    assert_eq!((count(folder.path(), "s"), count(folder.path(), "b")), (30, 20));
    assert!(told(&["restore", "b", "r"]).starts_with("restored: 20 events; "));
    let all = |store| tool(folder.path(), &["query", store, "select @Id, @Data from stream"]).well().out;
    assert_eq!(all("r"), all("b"));
    assert!(all("s").starts_with(all("r").trim_end()));
    tool(folder.path(), &["restore", "b", "r"]).with(5);
    // Whoever writes to a backup makes a store of it.
    tool(folder.path(), &["compact", "b"]).well();
    assert!(tool(folder.path(), &["backup", "s", "b"]).with(5).err.contains("was written to"));
    assert!(tool(folder.path(), &["backup", "r", "s"]).with(5).err.contains("was written to"));
    tool(folder.path(), &["backup", "missing", "b"]).with(5);
    assert!(!folder.path().join("missing").exists());
}

#[test]
fn a_process_that_writes_does_what_others_ask_for() {
    let folder = folder();
    ingest(folder.path(), 1);
    ingest(folder.path(), 2);
    let mut writer = command(folder.path(), &["ingest", "s", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let told = |arguments: &[&str]| tool(folder.path(), arguments).well().out;
    // Until it has opened the store, the settings are set without it; while it opens it, they cannot be.
    let (mut days, mut turns) = (40_000, 0);
    while !folder.path().join("s/requests").exists() {
        turns += 1;
        assert!(turns < 1000, "the writer opens the store");
        let run = tool(folder.path(), &["settings", "s", "--max-age", &format!("{}d", days + 1)]);
        match run.code {
            Some(0) => days += 1,
            _ => assert!(run.err.contains("is being written to"), "{run:?}"),
        }
    }
    told(&["settings", "s", "--max-age", &format!("{days}d")]);
    assert!(told(&["settings", "s"]).starts_with(&format!("max-age: {days}d, ")));
    assert!(
        told(&["remove", "s", "--before", "2024-05-02", "--dry-run"]).starts_with("would be removed: 1 file")
    );
    assert!(told(&["remove", "s", "--before", "2024-05-02"]).ends_with("; 10 events left\n"));
    assert_eq!(told(&["seal", "s"]), "sealed; the store has 10 events in 1 file\n");
    let compacted = tool(folder.path(), &["compact", "s", "--segments", "columns"]).well();
    assert_eq!(compacted.out, "compacted: 1 file became 1, 10 events\n");
    assert!(compacted.err.contains("another process is writing"), "{}", compacted.err);
    assert!(told(&["backup", "s", "b"]).starts_with("backed up: "));
    assert_eq!(count(folder.path(), "b"), 10);
    assert!(writer.try_wait().unwrap().is_none(), "it writes still");
    drop(writer.stdin.take());
    assert!(writer.wait().unwrap().success());
    tool(folder.path(), &["verify", "s"]).well();
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
        let info = &objects(&tool(folder.path(), &["info", store, "--format", "json"]).well().out)[0];
        ["file_bytes", "column_file_bytes"].map(|key| info[key].as_u64().unwrap()).into()
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
    assert_eq!(done, "compacted: 1 file became 1, 10000 events\n");
    let (all, columns) = sizes("text");
    assert_eq!(all, columns);
    assert_eq!(ask("text"), ask("columns"));
    for store in ["text", "columns"] {
        assert_eq!(tool(folder.path(), &["verify", store]).well().out, "sound: 10000 events in 1 segment\n");
    }
}

#[test]
fn events_are_deleted_and_erased_with_a_receipt() {
    let folder = folder();
    let events: String = (0..1000)
        .map(|n| {
            format!("{{\"@t\":\"2024-05-29T10:56:{:02}Z\",\"User\":\"user{}\",\"N\":{n}}}\n", n % 60, n % 7)
        })
        .collect();
    fs::write(folder.path().join("events"), events).unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    let run = |arguments: &[&str]| tool(folder.path(), arguments).well().out;
    let condition = ["--where", "User = 'user3'"];
    assert_eq!(
        run(&["delete", "s", condition[0], condition[1], "--dry-run"]),
        "would be deleted: 143 events\n"
    );
    assert_eq!(count(folder.path(), "s"), 1000);
    let done = run(&["delete", "s", condition[0], condition[1]]);
    let expected = "deleted: 143 events\nerased: 143 events of ";
    assert!(done.starts_with(expected) && done.contains("\n  857 events remain\n  hash "), "{done}");
    assert_eq!(count(folder.path(), "s"), 857);
    assert_eq!(run(&["delete", "s"]), "erased: nothing was left to erase\n");
    let listed = run(&["receipts", "s", "--check"]);
    assert!(listed.contains(": 143 events of ") && listed.contains("\n  valid: "), "{listed}");
    assert_eq!(run(&["receipts", "s"]).matches(".receipt: ").count(), 1);
    tool(folder.path(), &["delete", "s", "--where", "User ="]).with(3);
    tool(folder.path(), &["delete", "s", "--where", "true) limit 1 --"]).with(3);
    tool(folder.path(), &["delete", "missing", "--where", "true"]).with(5);
    tool(folder.path(), &["delete", "s", "--dry-run"]).with(2);
    assert_eq!(run(&["info", "s", "--history"]).matches("deleted").count(), 1);

    // A process that writes does it.
    let mut writer = command(folder.path(), &["ingest", "s", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    while !fs::read_to_string(folder.path().join("s/writer"))
        .is_ok_and(|text| text.contains(&writer.id().to_string()))
    {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let done = run(&["delete", "s", "--where", "User = 'user4'"]);
    assert!(done.starts_with("deleted: 143 events\nerased: 143 events of "), "{done}");
    drop(writer.stdin.take());
    assert!(writer.wait().unwrap().success());
    assert_eq!(count(folder.path(), "s"), 714);
    // A receipt of which a byte was altered is none.
    let receipt = fs::read_dir(folder.path().join("s/receipts")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&receipt).unwrap();
    bytes[40] ^= 1;
    fs::write(&receipt, bytes).unwrap();
    assert!(tool(folder.path(), &["receipts", "s"]).with(6).out.contains("it is damaged"));
    // It was no matter to `verify`.
    let verified = tool(folder.path(), &["verify", "s"]).with(6);
    assert!(
        verified.out.starts_with("unreadable: ") && verified.out.contains(".receipt is damaged"),
        "{}",
        verified.out
    );
    assert!(verified.err.contains("put it back from a backup"), "{}", verified.err);
}

#[test]
fn stores_are_exported_taken_in_again_and_merged() {
    let folder = folder();
    let line = |n: u64, what: &str| {
        format!(
            "{{\"@t\":\"2024-05-29T10:{:02}:{:02}Z\",\"What\":\"{what}\",\"N\":{n}}}\n",
            n * 7 % 60,
            n % 60
        )
    };
    for what in ["a", "b"] {
        let events: String = (0..500).map(|n| line(n, what)).collect();
        fs::write(folder.path().join("events"), events).unwrap();
        tool(folder.path(), &["ingest", what, "events"]).well();
    }
    let run = |arguments: &[&str]| tool(folder.path(), arguments).well().out;
    let exported = run(&["export", "a"]);
    assert_eq!(exported.lines().count(), 500);
    fs::write(folder.path().join("exported"), &exported).unwrap();
    tool(folder.path(), &["ingest", "again", "exported"]).well();
    assert_eq!(run(&["export", "again"]), exported);
    assert_eq!(run(&["export", "a", "--where", "N < 10"]).lines().count(), 10);
    tool(folder.path(), &["export", "a", "--where", "N <"]).with(3);

    assert_eq!(run(&["merge-stores", "a", "b", "--into", "c"]), "merged: 1000 events of 2 stores\n");
    let all = run(&["query", "c", "select What, N from stream", "--format", "csv"]);
    let mut expected: Vec<(u64, u64, &str, u64)> = Vec::new();
    for what in ["a", "b"] {
        expected.extend((0..500).map(|n| (n * 7 % 60, n % 60, what, n)));
    }
    // Of one instant those of the first store come first, in their own order.
    expected.sort_by_key(|(minute, second, ..)| (*minute, *second));
    let expected: String = expected.iter().map(|(_, _, what, n)| format!("{what},{n}\n")).collect();
    assert_eq!(all.replace('\r', ""), format!("What,N\n{expected}"));
    tool(folder.path(), &["merge-stores", "a", "--into", "b"]).with(2);
    tool(folder.path(), &["merge-stores", "missing", "--into", "d"]).with(5);
}

/// Each of its events used to be stored twice.
#[test]
fn a_store_is_merged_once() {
    let folder = folder();
    fs::write(folder.path().join("events"), crate::tool::events(1, 20)).unwrap();
    tool(folder.path(), &["ingest", "a", "events"]).well();
    let run = tool(folder.path(), &["merge-stores", "a", "./a", "--into", "m"]).with(2);
    assert!(run.err.contains("./a is named twice"), "{}", run.err);
    assert!(!folder.path().join("m").exists());
}

/// Events of long ago, few enough to stay in the log.
const OLD: &[u8] = b"{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":1}\n{\"@t\":\"2024-05-29T10:56:02Z\",\"N\":2}\n";

/// Dry runs used to look at files only, where the real ones make files of all that there is first.
#[test]
fn dry_runs_count_what_is_not_sealed_yet() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], OLD).well();
    let told = |arguments: &[&str]| tool(folder.path(), arguments).well().out;
    let all = "would be removed: 0 files of 0 bytes, 2 events (2 not sealed yet), from 2024-05-29T10:56:01Z to \
               2024-05-29T10:56:02Z; 0 events left\n";
    assert_eq!(told(&["remove", "s", "--older-than", "30d", "--dry-run"]), all);
    assert!(told(&["settings", "s", "--max-age", "30d", "--dry-run"]).starts_with(all));
    let none = "would be removed: 0 files of 0 bytes, 0 events; 2 events left\n";
    for bound in ["2024-05-29T10:56:01Z", "2024-05-29T10:56:02Z"] {
        assert_eq!(told(&["remove", "s", "--before", bound, "--dry-run"]), none);
        assert!(told(&["remove", "s", "--before", bound]).ends_with("; 2 events left\n"));
    }
    tool_with_input(folder.path(), &["ingest", "s", "-"], OLD).well();
    let run = tool(folder.path(), &["remove", "s", "--max-bytes", "64kB", "--dry-run"]).well();
    assert!(run.err.contains("not sealed yet"), "{run:?}");
    assert!(told(&["remove", "s", "--older-than", "30d"]).ends_with("; 0 events left\n"));
}

/// The dry run said that nothing would go, and then events went that share a file with younger ones.
#[test]
fn dry_runs_count_what_is_too_old_among_younger_events() {
    let folder = folder();
    let hours_ago = |hours: i64| {
        let time = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours);
        format!("{{\"@t\":\"{time}\"}}\n")
    };
    let lines: String = [240, 239, 1].into_iter().map(hours_ago).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], lines.as_bytes()).well();
    tool(folder.path(), &["seal", "s"]).well();
    let planned = tool(folder.path(), &["settings", "s", "--max-age", "2d", "--dry-run"]).well();
    let lines: Vec<&str> = planned.out.lines().collect();
    assert_eq!(lines[0], "would be removed: 0 files of 0 bytes, 0 events; 3 events left");
    assert!(
        lines[1].starts_with("older than 2d as well: 2 events in files with younger ones"),
        "{planned:?}"
    );
    tool(folder.path(), &["settings", "s", "--max-age", "2d"]).well();
    tool(folder.path(), &["compact", "s"]).well();
    assert_eq!(count(folder.path(), "s"), 1);
}

/// What `settings` would keep, `remove` removes.
#[test]
fn a_removal_of_the_latest_file_too_is_told_before() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], OLD).well();
    tool(folder.path(), &["seal", "s"]).well();
    let planned = tool(folder.path(), &["remove", "s", "--max-bytes", "1B", "--dry-run"]).well();
    assert!(planned.out.ends_with("; 0 events left\n"), "{planned:?}");
    assert!(planned.err.contains("note: the latest file goes too"), "{planned:?}");
    let kept = tool(folder.path(), &["settings", "s", "--max-bytes", "1B", "--dry-run"]).well();
    assert!(kept.out.contains("; 2 events left\n"), "{kept:?}");
}

/// It used to say how many were stored, and they were gone.
#[test]
fn whoever_stores_what_is_too_old_is_warned() {
    let folder = folder();
    let now = jiff::Timestamp::now();
    let new = format!("{{\"@t\":\"{now}\"}}\n");
    tool_with_input(folder.path(), &["ingest", "s", "-"], new.as_bytes()).well();
    tool(folder.path(), &["settings", "s", "--max-age", "90d"]).well();
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], new.as_bytes()).well();
    assert!(!run.err.contains("warning"), "{run:?}");
    tool(folder.path(), &["seal", "s"]).well();
    let few = tool_with_input(folder.path(), &["ingest", "s", "-"], OLD).well();
    assert!(
        few.err.contains("warning: 2 events are older than the store's max-age of 90d and will be removed"),
        "{few:?}"
    );
    // More are sealed, and go at once.
    fs::write(folder.path().join("old"), events(1, 5000)).unwrap();
    let many = tool(folder.path(), &["ingest", "s", "old"]).well();
    assert!(many.out.starts_with("stored: 5000"), "{many:?}");
    let warning =
        "beyond the store's limits (max-age: 90d, max-bytes: none, when-full: fail); see `info --history`";
    assert!(many.err.contains("warning: removed 500") && many.err.contains(warning), "{many:?}");
    assert_eq!(count(folder.path(), "s"), 2);
}

/// A backup in the store itself used to be taken, and was a part of no other.
#[test]
fn copies_of_a_store_are_outside_of_it() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], OLD).well();
    tool(folder.path(), &["backup", "s", "b"]).well();
    for arguments in [
        &["backup", "s", "s/sub"][..],
        &["backup", "s", "s/new/sub"],
        &["restore", "b", "b/sub"],
        &["merge-stores", "--into", "s/sub", "s", "b"],
    ] {
        let run = tool(folder.path(), arguments).with(2);
        assert!(run.err.contains("is inside the store"), "{run:?}");
    }
    assert!(!folder.path().join("s/sub").exists() && !folder.path().join("b/sub").exists());
}

/// A script took the exit code for a proof.
#[test]
fn a_check_of_no_receipts_is_no_success() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 10)).well();
    let checked = tool(folder.path(), &["receipts", "s", "--check"]).with(6);
    assert!(checked.err.contains("there are no receipts in this folder"), "{}", checked.err);
    tool(folder.path(), &["receipts", "s"]).well();
}

/// What was deleted while `ingest` ran was told as removed by the store's limits, of which there were none.
#[test]
fn what_is_deleted_beside_ingest_is_not_beyond_the_limits() {
    let folder = folder();
    let path = folder.path();
    tool_with_input(path, &["ingest", "s", "-"], &events(1, 100)).well();
    let (child, mut stdin) = started(path, &["ingest", "s", "-"]);
    stdin.write_all(&events(2, 10)).unwrap();
    while count(path, "s") < 110 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    tool(path, &["delete", "s", "--where", "true"]).well();
    drop(stdin);
    let run = ended(child.wait_with_output().unwrap()).well();
    assert!(!run.err.contains("beyond the store's limits"), "{}", run.err);
}

/// They were called files that are none of the store's.
#[test]
#[cfg(unix)]
fn files_that_a_reader_holds_wait_for_removal() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    let path = folder.path();
    tool_with_input(path, &["ingest", "s", "-", "--segments", "text"], &events(1, 1000)).well();
    tool(path, &["seal", "s"]).well();
    let mut reader = command(path, &["tail", "s", "-f"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(reader.stdout.take().unwrap()).read_line(&mut line).unwrap();
    tool(path, &["delete", "s", "--where", "Elapsed > 100"]).with(5);
    let verify = tool(path, &["verify", "s"]).well();
    assert!(
        verify.out.contains(" is no longer needed; it is removed when no process reads it any more"),
        "{}",
        verify.out
    );
    let info = tool(path, &["info", "s"]).well().out;
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert!(info.contains("\n  waiting for removal: "), "{info}");
}
