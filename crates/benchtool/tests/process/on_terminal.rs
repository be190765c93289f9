//! What data, damage and a pager do to a terminal.

use std::fs;
use std::num::NonZeroU16;

use crate::damage::damaged_store;
use crate::terminal::{Terminal, lines};
use crate::tool::{events, folder, tool, tool_with_input};

const COLUMNS: NonZeroU16 = NonZeroU16::new(160).unwrap();

/// They used to write the bytes of documents as they are.
#[test]
fn documents_command_no_terminal() {
    let folder = folder();
    let event = "{\"@t\":\"2024-05-29T10:56:01Z\",\"A\":\"\u{9b}2J\u{7f}\u{202e}\"}\n";
    tool_with_input(folder.path(), &["ingest", "s", "-"], event.as_bytes()).well();
    fs::write(folder.path().join("in"), "A\n").unwrap();
    let eval = format!("benchtool eval --event '{}' < in", event.trim());
    for line in ["benchtool export s", &eval] {
        let seen = lines(&Terminal::run(folder.path(), COLUMNS, line).end()).join("\n");
        assert!(seen.contains("\\u009b2J\\u007f\\u202e"), "{line}: {seen}");
    }
    assert_eq!(tool(folder.path(), &["export", "s"]).well().out, event, "a file has it as it is");
}

/// A pager that is quit used to make a query one without rows.
#[test]
fn whoever_quits_the_pager_has_seen_rows() {
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 5000)).unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    let query = "benchtool query s 'select @Data from stream limit 5000' --exit-status";
    let line = format!("PAGER=true {query}; echo code $?");
    assert_eq!(lines(&Terminal::run(folder.path(), COLUMNS, &line).end()), ["code 0"]);
}

/// It used not to open where the events were damaged whose keys it completes.
#[test]
fn the_shell_of_a_damaged_store_opens() {
    let folder = folder();
    damaged_store(folder.path());
    let query = "select @Data from stream order by time asc limit 500";
    tool(folder.path(), &["query", "s", query]).with(6);
    let mut shell = Terminal::run(folder.path(), COLUMNS, "benchtool shell s");
    shell.wait_for("keys are not completed: ");
    shell.wait_for("lists the commands");
    shell.type_line(".exit");
    shell.end();
}

/// The pager opened at the top, and the latest event was off the screen. Then the `less` of BusyBox took `+G` for a file.
#[test]
fn the_pager_begins_where_the_latest_events_are() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    fs::write(folder.path().join("events"), events(1, 5000)).unwrap();
    tool(folder.path(), &["ingest", "s", "events"]).well();
    for name in ["less", "more"] {
        let pager = folder.path().join(name);
        fs::write(&pager, "#!/bin/sh\necho options: \"$@\", LESS: \"$LESS\"; exec cat > /dev/null\n")
            .unwrap();
        fs::set_permissions(&pager, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (command, options) in [
        ("unset LESS; PAGER='./less -S' benchtool tail s -n 1000", "options: -S, LESS: FRX +G"),
        ("unset LESS; PAGER=./less benchtool search s e", "options: , LESS: FRX +G"),
        ("LESS=-R PAGER=./less benchtool search s e", "options: , LESS: -R"),
        (
            "unset LESS; PAGER=./less benchtool query s 'select @Data from stream limit 1000'",
            "options: , LESS: FRX",
        ),
        ("unset LESS; PAGER=./more benchtool tail s -n 1000", "options: , LESS: FRX"),
    ] {
        let seen = lines(&Terminal::run(folder.path(), COLUMNS, command).end());
        assert_eq!(seen.first().map(String::as_str), Some(options), "{command}: {seen:?}");
    }
}

/// It looked finished while the files were still being rewritten.
#[test]
fn a_deletion_tells_that_it_goes_on() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 100)).well();
    let line = "benchtool delete s --where 'Elapsed >= 0'";
    let seen = lines(&Terminal::run(folder.path(), COLUMNS, line).end());
    assert!(seen[0].starts_with("deleted: ") && seen[1].contains("erasing them from the files"), "{seen:?}");
    assert!(seen[2].starts_with("erased: "), "{seen:?}");
}
