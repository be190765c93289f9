//! The time key of a source, detected from its first events, however they come.

use std::fs;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use crate::tool::{Ended, count, ended, figures, folder, started, tool};

const TIME: &str = "\"time\": \"2024-05-29T10:56:01Z\"";

fn ingest(text: &str, options: &[&str]) -> Ended {
    let folder = folder();
    fs::write(folder.path().join("log"), text).unwrap();
    tool(folder.path(), &[&["ingest", "s", "log"], options].concat())
}

/// The key used to be looked for in the first four bytes, and then in lines from the middle of an array.
#[test]
fn the_key_is_found_from_the_first_byte_on() {
    let many = |between: &str| vec![format!("{{{TIME}}}"); 10_000].join(between);
    for (text, stored, rejected) in [
        (format!("[\n  {{\n    {TIME},\n    \"N\": 1\n  }},\n  {{\n    {TIME}\n  }}\n]\n"), 2, 0),
        (format!("[\n{}\n]\n", many(",\n")), 10_000, 0),
        // A line in the first event that looks like an event by itself.
        (format!("[{{\n\"timestamp\": \"2024-05-29T10:56:01Z\",\n\"a\":\n{{{TIME}}}\n}}]"), 1, 0),
        (format!("[{{{TIME},\n\"a\":\n{{\"x\": 1}}\n}}]"), 1, 0),
        (format!("\n{{{TIME}}}\n"), 1, 0),
        (format!("{{}}\n{{{TIME}}}\n"), 1, 1),
        (format!("no event\n{{}}\n{{{TIME}}}"), 1, 2),
        (format!("{{{TIME},\"long\":\"{}\"}}\n{{{TIME}}}\n", "x".repeat(3 << 20)), 2, 0),
    ] {
        let run = ingest(&text, &[]);
        let figures = figures(&run.out);
        assert_eq!((figures.0, figures.1), (stored, rejected), "{run:?}");
        assert!(!run.err.contains("`timestamp`") || text.contains("timestamp"), "{}", run.err);
    }
}

#[test]
fn a_source_without_a_time_is_refused_once_enough_of_it_was_seen() {
    for (events, told) in [(1, "the first event"), (2, "the first 2 events"), (1000, "the first 100 events")]
    {
        let run = ingest(&"{\"a\":1}\n".repeat(events), &[]).with(4);
        assert!(run.err.contains(&format!("log: no usual time key in {told}, nothing")), "{}", run.err);
        assert_eq!(figures(&run.out), (0, 0, 0, 0));
        assert_eq!(figures(&ingest(&"{\"a\":1}\n".repeat(events), &["--now"]).well().out).0, events as u64);
    }
}

/// Of a pipe that rests in the first element the beginning used to be forgotten.
#[test]
fn a_pipe_may_rest_anywhere() {
    for (options, pieces) in [
        (
            &[][..],
            [
                "[\n",
                "  {\"time\":",
                "\"2024-05-29T10:56:01Z\"},\n",
                "{\"time\":\"2024-05-29T10:56:01Z\"}\n]\n",
            ],
        ),
        (&["--now"], ["{\"a\":1}\n", "{\"a\"", ":1}", "\n"]),
    ] {
        let folder = folder();
        let arguments = [&["ingest", "s", "-"], options].concat();
        let (child, mut stdin) = started(folder.path(), &arguments);
        for piece in pieces {
            stdin.write_all(piece.as_bytes()).unwrap();
            // Longer than it waits for more.
            sleep(Duration::from_millis(400));
        }
        drop(stdin);
        let run = ended(child.wait_with_output().unwrap()).well();
        assert_eq!(figures(&run.out).0, 2, "{run:?}");
        assert_eq!(count(folder.path(), "s"), 2);
    }
}
