//! Exporting a store, and making an equal one of that.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::tool::{count, events, folder, rows, tool, tool_with_input};

fn out(folder: &Path, arguments: &[&str]) -> String {
    tool(folder, arguments).well().out
}

/// Every event with all that it is known by, and its document.
fn all(folder: &Path, store: &str) -> Vec<serde_json::Map<String, serde_json::Value>> {
    rows(folder, store, "select @Id, @Arrived, @Timestamp, @Data from stream")
}

#[test]
fn an_export_with_ids_makes_an_equal_store() {
    for segments in ["text", "columns"] {
        let folder = folder();
        let path = folder.path();
        let lines = String::from_utf8(events(5, 6000)).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        // Those of the second half come first.
        for (name, lines) in [("first", &lines[3000..]), ("second", &lines[..3000])] {
            fs::write(path.join(name), lines.join("\n")).unwrap();
            tool(path, &["ingest", "s", name, "--segments", segments]).well();
        }
        // The time of these is nowhere in the document.
        tool_with_input(path, &["ingest", "s", "-", "--now"], b"{}\n{\"@Id\":\"mine\"}\n{\"last\":true}\n")
            .well();
        // Gaps in the arrival numbers, one of them at their end.
        let condition = "@Level = 'Error' or last = true";
        tool(path, &["delete", "s", "--where", condition, "--segments", segments]).well();
        fs::write(path.join("exported"), out(path, &["export", "s", "--ids"])).unwrap();
        let told = out(path, &["ingest", "t", "exported", "--keep-ids", "--segments", segments]);
        let before = all(path, "s");
        assert_eq!(told, format!("stored: {}, with the ids that they had\n", before.len()));
        assert_eq!(before, all(path, "t"));
        assert!(before.len() > 5000, "{}", before.len());
        for arguments in [&["export", "--ids"][..], &["export"]] {
            let export = |store| out(path, &[&[arguments[0], store], &arguments[1..]].concat());
            assert!(export("s") == export("t"));
        }
        assert!(out(path, &["verify", "t", "--deep"]).starts_with("sound: "));
        // Both go on, and never give one id to two events.
        for store in ["s", "t"] {
            tool_with_input(path, &["ingest", store, "-"], b"{\"@t\":\"2024-05-29T10:56:01Z\"}\n").well();
        }
        let ids = |store| {
            let rows = rows(path, store, "select @Id from stream");
            rows.iter().map(|row| row["@Id"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
        };
        let (one, other) = (ids("s"), ids("t"));
        assert_eq!((one.len(), other.len()), (before.len() + 1, before.len() + 1));
        assert_eq!(one.intersection(&other).count(), before.len());
        tool(path, &["compact", "t"]).well();
        assert_eq!(ids("t"), other);
    }
}

#[test]
fn what_makes_no_equal_store_is_told() {
    let folder = folder();
    let path = folder.path();
    let line = |arrival: u64| format!("{{\"@Id\":\"08dc7fc93a25fc00{arrival:016x}\",\"n\":{arrival}}}\n");
    let keep = |store: &str, lines: &str| {
        tool_with_input(path, &["ingest", store, "-", "--keep-ids"], lines.as_bytes())
    };
    let ended = keep("s", &(line(7) + &line(3))).well();
    assert_eq!(ended.out, "stored: 2, with the ids that they had\n");
    let ids = "select @Id, n from stream";
    assert_eq!(rows(path, "s", ids).iter().map(|row| row["n"].as_u64().unwrap()).collect::<Vec<_>>(), [3, 7]);
    let ended = keep("s", &line(9)).with(2);
    assert!(
        ended.err.contains("s: it has, or had, events already") && ended.err.contains("give a new folder")
    );
    assert_eq!(rows(path, "s", ids).len(), 2);
    let refused = |lines: String, expected: &str| {
        let ended = keep("t", &lines).with(4);
        assert!(ended.err.contains(expected), "{}", ended.err);
        assert!(ended.err.contains("not all is stored: delete t, and begin again"), "{}", ended.err);
        fs::remove_dir_all(path.join("t")).unwrap();
    };
    refused("{\"n\":1}\n".to_owned(), "line 1: it does not begin with an id");
    refused(line(1) + "{\"@Id\":\"08dc7fc93a25fc000000000000000007\",\"n\":}\n", "line 2: ");
    let ended = keep("t", &(line(1) + &line(2) + &line(1))).with(5);
    assert!(ended.err.contains("two events have the arrival number 1"), "{}", ended.err);
    tool(path, &["ingest", "u", "-", "--keep-ids", "--now"]).with(2);
}

/// Whoever had to forget a customer used to be told nothing of a misspelt key.
#[test]
fn export_and_delete_tell_what_may_mislead() {
    let folder = folder();
    let events = b"{\"@t\":\"2024-05-29T10:56:01Z\",\"CustomerId\":4590,\"level\":\"error\"}\n";
    tool_with_input(folder.path(), &["ingest", "s", "-"], events).well();
    let wrong = "CustomerID = 4590";
    for arguments in [
        &["delete", "s", "--where", wrong][..],
        &["delete", "s", "--where", wrong, "--dry-run"],
        &["export", "s", "--where", wrong],
    ] {
        let run = tool(folder.path(), arguments).well();
        assert!(run.err.contains("warning: ") && run.err.contains("`CustomerId`"), "{run:?}");
    }
    let run = tool(folder.path(), &["delete", "s", "--where", "@Level = 'error'"]).well();
    assert_eq!(run.out, "deleted: 0 events\nno event meets the condition\n");
    assert!(run.err.contains("@Level is 'Information'; did you mean `level`?"), "{run:?}");
    let run = tool(folder.path(), &["delete", "s", "--where", "CustomerId = 4590"]).well();
    assert!(run.out.starts_with("deleted: 1 event\nerased: 1 event") && run.err.is_empty(), "{run:?}");
}

/// A misspelt key is null in every event, and the whole store was erased without a word.
#[test]
fn a_condition_of_which_there_is_a_warning_deletes_nothing_without_consent() {
    let folder = folder();
    let path = folder.path();
    let event = |number: u32| {
        format!(
            "{{\"@t\":\"2024-05-29T10:56:01Z\",\"CustomerId\":{number},\"Actor\":{{\"Name\":\"Ada\"}}}}\n"
        )
    };
    let lines = (0..300).map(event).collect::<String>();
    tool_with_input(path, &["ingest", "s", "-"], lines.as_bytes()).well();
    for (condition, meant) in [
        ("CustomerID is null", "`CustomerId`"),
        ("not (CustomerID = 684)", "`CustomerId`"),
        ("not (Actor.Nam = 'Ada')", "`Actor.Name`"),
    ] {
        let run = tool(path, &["delete", "s", "--where", condition]).with(2);
        assert!(run.out.is_empty() && run.err.contains("nothing was deleted"), "{run:?}");
        for arguments in [
            &["delete", "s", "--where", condition][..],
            &["delete", "s", "--where", condition, "--dry-run"],
            &["export", "s", "--where", condition],
        ] {
            let run = tool(path, arguments);
            assert!(run.err.contains("warning: ") && run.err.contains(meant), "{run:?}");
        }
    }
    assert_eq!(count(path, "s"), 300);
    let run = tool(path, &["delete", "s", "--where", "CustomerID is null", "--force"]).well();
    assert!(run.out.starts_with("deleted: 300 events"), "{run:?}");
    tool(path, &["delete", "s", "--force"]).with(2);
}
