//! Ingest that is stopped: by Ctrl-C in good order, by `kill -9` in none. The store opens either way.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::tool::{command, count, ended, events, figures, folder, started, tool, tool_with_input};

fn interrupt(child: &Child) {
    let status = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status().unwrap();
    assert!(status.success());
}

#[test]
fn ctrl_c_stores_what_was_read_and_says_so() {
    let folder = folder();
    let (mut child, mut stdin) = started(folder.path(), &["ingest", "s", "-"]);
    stdin.write_all(&events(1, 2000)).unwrap();
    stdin.write_all(b"{\"@t\":\"2024-05-29T10:56:01Z\",\"half\":").unwrap();
    stdin.flush().unwrap();
    // Lines that have come are stored while it waits for more, as a second process can see.
    let patient_until = Instant::now() + Duration::from_secs(20);
    let stored = || {
        folder.path().join("s").exists()
            && tool(folder.path(), &["query", "s", "select count(*) from stream"]).out.contains("2000")
    };
    while !stored() {
        assert!(Instant::now() < patient_until, "the lines are not stored");
        sleep(Duration::from_millis(50));
    }
    interrupt(&child);
    // The pipe stays open: it is the signal that ends it.
    let run = wait(&mut child);
    drop(stdin);
    assert_eq!(run.0, Some(130));
    assert_eq!(figures(&run.1).0, 2000);
    assert!(
        run.2.contains("interrupted in standard input before line 2001; everything before it is stored\n"),
        "{}",
        run.2
    );
    assert_eq!(count(folder.path(), "s"), 2000);
    // It goes on.
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(2, 10)).well();
    assert_eq!(count(folder.path(), "s"), 2010);
}

fn wait(child: &mut Child) -> (Option<i32>, String, String) {
    let code = child.wait().unwrap().code();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (code, out, err)
}

#[test]
fn ctrl_c_in_the_middle_of_a_file_leaves_whole_lines() {
    let folder = folder();
    let lines = events(4, 200_000);
    fs::write(folder.path().join("events"), &lines).unwrap();
    let mut child = command(folder.path(), &["ingest", "s", "events", "--batch-bytes", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // From when the store is there, it may be anywhere.
    while !folder.path().join("s").exists() {
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(200));
    interrupt(&child);
    let (code, out, err) = wait(&mut child);
    let (stored, rejected, ..) = figures(&out);
    assert_eq!(rejected, 0);
    assert_eq!(count(folder.path(), "s"), stored);
    match code {
        Some(130) => assert!(err.contains(&format!("before line {}; ", stored + 1)), "{err}"),
        // It may have been quicker than the signal.
        code => assert_eq!((code, stored), (Some(0), 200_000)),
    }
    // It goes on.
    let run = tool(folder.path(), &["ingest", "s", "events"]).well();
    assert_eq!(figures(&run.out).0, 200_000 - stored);
    assert_eq!(count(folder.path(), "s"), 200_000);
}

#[test]
fn ctrl_c_during_the_demo_removes_what_it_made() {
    let folder = folder();
    let mut child = command(folder.path(), &["demo", "--events", "100000000"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while fs::read_dir(folder.path()).unwrap().count() == 0 {
        sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let (code, out, err) = wait(&mut child);
    assert_eq!((code, out.as_str()), (Some(130), ""), "{err}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_scrub_that_is_interrupted_tells_what_it_has_found() {
    let folder = folder();
    for (seed, lines) in [(1, 10), (2, 5000)] {
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(seed, lines)).well();
        tool(folder.path(), &["seal", "s"]).well();
    }
    let first = fs::read_dir(folder.path().join("s")).unwrap().map(|entry| entry.unwrap().path());
    let first = first.filter(|path| path.extension().is_some_and(|end| end == "segment")).min().unwrap();
    let mut bytes = fs::read(&first).unwrap();
    bytes[100] ^= 1;
    fs::write(&first, bytes).unwrap();
    // The second file takes it minutes.
    let mut child = command(folder.path(), &["scrub", "s", "--rate", "10kB/s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path().join("s/scrub").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it has not ended");
        sleep(Duration::from_millis(5));
    }
    interrupt(&child);
    let (code, out, err) = wait(&mut child);
    assert_eq!(code, Some(6), "{out}{err}");
    assert!(out.contains(" is damaged at bytes "), "{out}");
    assert!(err.contains("scrub: interrupted; 1 damaged part so far; the next run continues there"), "{err}");
}

#[test]
fn a_second_writer_is_told_and_a_reader_is_served() {
    let folder = folder();
    let (mut child, mut stdin) = started(folder.path(), &["ingest", "s", "-"]);
    stdin.write_all(&events(1, 300)).unwrap();
    let patient_until = Instant::now() + Duration::from_secs(20);
    let stored = || tool(folder.path(), &["query", "s", "select count(*) from stream"]).out.contains("300");
    while !stored() {
        assert!(Instant::now() < patient_until, "the lines are not stored");
        sleep(Duration::from_millis(50));
    }
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], &events(2, 10)).with(5);
    assert!(run.err.starts_with("error: s is being written") && run.err.lines().count() == 1, "{}", run.err);
    assert_eq!(run.out, "");
    drop(stdin);
    let (code, out, _) = wait(&mut child);
    assert_eq!((code, figures(&out).0), (Some(0), 300));
}

/// How many stores are made, and how often the process that writes to each is killed.
const STORES: u32 = 5;
const KILLS: u32 = 10;

/// A batch is stored when its documents have come to so many bytes.
const BATCH_BYTES: usize = 1 << 20;

#[test]
fn kill_9_leaves_whole_batches() {
    let lines = events(6, 40_000);
    let documents: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut borders = vec![0];
    let mut bytes = 0;
    for (index, document) in documents.iter().enumerate() {
        bytes += document.len();
        if bytes >= BATCH_BYTES || index + 1 == documents.len() {
            borders.push(index + 1);
            bytes = 0;
        }
    }
    let mut cut = 0;
    for store in 0..STORES {
        let folder = folder();
        fs::write(folder.path().join("events"), &lines).unwrap();
        let stored = kill_again_and_again(folder.path(), store);
        assert!(stored.iter().all(|events| borders.contains(events)), "{stored:?} of {borders:?}");
        cut += stored.iter().filter(|events| (1..documents.len()).contains(events)).count();

        // Each run left a prefix of the file, and its events followed those of the runs before.
        let query = "select @Arrived as a, @Data as d from stream";
        let run = tool(folder.path(), &["query", "s", query, "--format", "ndjson"]).well();
        let mut found: Vec<(u64, &str)> = run.out.lines().map(arrival_and_document).collect();
        found.sort_unstable_by_key(|(arrived, _)| *arrived);
        let expected: Vec<&[u8]> = stored.iter().flat_map(|events| &documents[..*events]).copied().collect();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|((_, found), expected)| found.as_bytes() == expected));
    }
    assert!(cut > 0, "no kill came in the middle of a run");
}

fn arrival_and_document(row: &str) -> (u64, &str) {
    let (arrived, document) = row["{\"a\":".len()..].split_once(",\"d\":").unwrap();
    (arrived.parse().unwrap(), document.strip_suffix('}').unwrap())
}

/// How many events each of the killed runs has stored.
fn kill_again_and_again(folder: &Path, store: u32) -> Vec<usize> {
    let mut stored = Vec::new();
    let mut total = 0;
    let batch_bytes = BATCH_BYTES.to_string();
    let ingest = |store| ["ingest", store, "events", "--again", "--batch-bytes", &batch_bytes];
    let started = Instant::now();
    tool(folder, &ingest("whole")).well();
    let whole = started.elapsed();
    for turn in 0..KILLS {
        let mut child =
            command(folder, &ingest("s")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Spread over the time that a whole run takes, from the first moments on.
        sleep(whole * (turn * STORES + store) / (KILLS * STORES));
        child.kill().unwrap();
        child.wait().unwrap();
        // Opening for writing puts in order what the kill left.
        tool_with_input(folder, &["ingest", "s", "-"], b"").well();
        let now = count(folder, "s") as usize;
        assert!(now >= total, "turn {turn}: {total} events became {now}");
        stored.push(now - total);
        total = now;
    }
    stored
}

/// It died without a word, and left events marked that no query returns and every query has to pass over.
#[test]
fn a_deletion_that_is_interrupted_tells_what_is_left_to_do() {
    let folder = folder();
    for seed in 1..=6 {
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(seed, 5000)).well();
        tool(folder.path(), &["seal", "s"]).well();
    }
    let mut child = command(folder.path(), &["delete", "s", "--where", "Elapsed > 0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("deleted: "), "{line}");
    interrupt(&child);
    let ended = ended(child.wait_with_output().unwrap());
    // It may have ended before.
    if ended.code != Some(0) {
        let ended = ended.with(130);
        assert!(ended.err.contains("run this again without --where to finish"), "{ended:?}");
        // It used to say that nothing was erased, or that this is a copy.
        let listed = tool(folder.path(), &["receipts", "s"]).well().err;
        assert!(
            listed.contains("an erasure has not ended") && listed.contains("benchtool delete s"),
            "{listed}"
        );
        assert!(!listed.contains("copy"), "{listed}");
        tool(folder.path(), &["receipts", "s", "--check"]).with(6);
    }
    let finished = tool(folder.path(), &["delete", "s"]).well();
    assert!(finished.out.starts_with("erased: "), "{finished:?}");
}
