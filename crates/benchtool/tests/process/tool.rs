//! Runs the binary.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::{Map, Value};
use tamias_testdata::Generator;

/// What a run of the tool left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// The run, which must have ended well.
    #[track_caller]
    pub(crate) fn well(self) -> Ended {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// The run, which must have ended with this exit code.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}

/// The tool with these arguments, parted at spaces; `{}` is the folder.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_benchtool"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the tool in the folder.
pub(crate) fn tool(folder: &Path, arguments: &[&str]) -> Ended {
    ended(command(folder, arguments).output().expect("the tool starts"))
}

/// Starts the tool in the folder, with pipes to and from it: the process, and its standard input.
pub(crate) fn started(folder: &Path, arguments: &[&str]) -> (Child, ChildStdin) {
    let mut child = command(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let stdin = child.stdin.take().expect("piped");
    (child, stdin)
}

/// Runs the tool in the folder with this on its standard input.
pub(crate) fn tool_with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Ended {
    let (child, mut stdin) = started(folder, arguments);
    std::thread::scope(|scope| {
        // The tool may end before it has read everything.
        scope.spawn(move || _ = stdin.write_all(input));
        ended(child.wait_with_output().expect("the tool ends"))
    })
}

pub(crate) fn ended(output: std::process::Output) -> Ended {
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("output in UTF-8"),
        err: String::from_utf8(output.stderr).expect("messages in UTF-8"),
    }
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Generated events, a line each.
pub(crate) fn events(seed: u64, count: u64) -> Vec<u8> {
    let mut generator = Generator::new(seed, count);
    let mut lines = Vec::new();
    while generator.write_next(&mut lines) {}
    lines
}

/// The lines of a text, each a JSON object.
#[track_caller]
pub(crate) fn objects(lines: &str) -> Vec<Map<String, Value>> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The rows that a query gives, as NDJSON, with instants as numbers.
#[track_caller]
pub(crate) fn rows(folder: &Path, store: &str, query: &str) -> Vec<Map<String, Value>> {
    objects(&tool(folder, &["query", store, query, "--format", "ndjson", "--ticks"]).well().out)
}

/// The number of events in a store.
#[track_caller]
pub(crate) fn count(folder: &Path, store: &str) -> u64 {
    let rows = rows(folder, store, "select count(*) as events from stream");
    assert_eq!(rows.len(), 1);
    rows[0]["events"].as_u64().expect("a number")
}

/// The figures of ingest's last line: stored, rejected, lines, bytes.
#[track_caller]
pub(crate) fn figures(out: &str) -> (u64, u64, u64, u64) {
    let line = out.lines().last().unwrap_or_default();
    let mut parts = line.split(", ").map(|part| part.split_once(": ").expect("name: number"));
    let mut figure = |name: &str| {
        let (found, number) = parts.next().expect("five figures");
        assert_eq!(found, name, "{line}");
        number
    };
    let mut number = |name: &str| figure(name).parse().expect("a number");
    let figures = (number("stored"), number("rejected"), number("lines"), number("bytes"));
    let seconds: f64 = figure("seconds").parse().expect("a number");
    assert!(seconds >= 0.0);
    assert_eq!(figures.0 + figures.1, figures.2, "stored and rejected are the lines: {line}");
    figures
}
