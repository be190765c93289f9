//! `benchtool bench` and `benchtool demo`

use std::fs;

use crate::tool::{count, events, folder, tool, tool_with_input};

/// The text with each number as `#`, each unit of time or speed as `U`, and runs of spaces and dashes as one.
fn form(text: &str) -> String {
    let mut form = String::new();
    for word in text.split_inclusive([' ', '/', '\n', '(', ')']) {
        let bare = word.trim_end_matches([' ', '/', '\n', '(', ')']);
        let signs = bare.trim_start_matches(['+', '-']);
        let (signs, more) = signs.strip_suffix('…').map_or((signs, ""), |signs| (signs, "…"));
        let shown = match signs {
            "ns" | "µs" | "ms" => "U",
            "kB" | "MB" | "GB" => "B",
            _ if !signs.is_empty() && signs.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => "#",
            _ => signs,
        };
        form.push_str(&bare[..bare.len() - signs.len() - more.len()]);
        form.push_str(shown);
        form.push_str(more);
        form.push_str(&word[bare.len()..]);
    }
    while form.contains("  ") {
        form = form.replace("  ", " ");
    }
    while form.contains("--") {
        form = form.replace("--", "-");
    }
    form
}

const CASES: &str = "\
-- The two queries.
select Message from stream where Elapsed > 200

  -- Another.
select Message from stream where match(Message, '/api/customers') -- to the end of the line, and further
select count(*) from stream where Elapsed > 200
select Message from stream where Elapsed > 200 limit 10
";

#[test]
fn prints_header_cases_and_table() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 10_000)).well();
    fs::write(folder.path().join("cases"), CASES).unwrap();
    let run =
        tool(folder.path(), &["bench", "--cases", "cases", "--percentile", "90", "--runs", "3", "s"]).well();
    assert_eq!(run.err, "");

    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "store: \"s\"");
    assert_eq!(lines[1], "events (count): 10000");
    let bytes = events(1, 10_000).len() - 10_000;
    assert_eq!(lines[2], format!("value data (bytes): {bytes}"));
    assert!(
        lines[3].starts_with("timestamp range: 2024-05-27T") && lines[3].contains("Z to 2024-"),
        "{}",
        lines[3]
    );
    let expected = "\
runs: #
percentile: p90th
(case #) select Message from stream where Elapsed > 200: # U (+#/-# U)
(case #) select Message from stream where match(Message, '/api/customers') -- to the end…: # U (+#/-# U)
(case #) select count(*) from stream where Elapsed > 200: # U (+#/-# U)
(case #) select Message from stream where Elapsed > # limit 10: # U (+#/-# U)
| case | p90th (+/-) | tp (events) | tp (hits) | hits | tp (data) | query |
|-|-|-|-|-|-|-|
| # | # U (+ # U/- # U) | #/s | #/s | 31% | # B/s | select Message from stream where Elapsed > # |
| # | # U (+ # U/- # U) | #/s | #/s | 18% | # B/s | select Message from stream where match(Message, '/api/custo… |
| # | # U (+ # U/- # U) | #/s | #/s | 31% | # B/s | select count(*) from stream where Elapsed > # |
| # | # U (+ # U/- # U) | #/s | #/s | 0.10% | # B/s | select Message from stream where Elapsed > # limit # |";
    let found = form(&lines[4..].join("\n"));
    for (found, expected) in found.lines().zip(expected.lines()) {
        let expected = expected.replace("-- to", "- to");
        assert_eq!(found, expected, "{}", run.out);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{}", run.out);
    assert!(run.out.contains("(case 001)") && run.out.contains("\n| 004 "), "{}", run.out);
}

#[test]
fn a_malformed_case_file_is_told_before_anything_runs() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 10)).well();
    let check = |cases: &[u8], code: i32, message: &str| {
        fs::write(folder.path().join("cases"), cases).unwrap();
        let run = tool(folder.path(), &["bench", "--cases", "cases", "--percentile", "90", "s"]).with(code);
        assert!(run.err.starts_with(message), "{}", run.err);
        assert_eq!(run.out, "");
    };
    check(b"select a from stream\n\n-- x\nselect from\n", 3, "error: cases, line 4, column ");
    check(b"select a from stream\nselect \xff from stream\n", 4, "error: cases, line 2: not UTF-8");
    check(b"-- nothing to do\n", 4, "error: cases contains no query");
    fs::remove_file(folder.path().join("cases")).unwrap();
    let run = tool(folder.path(), &["bench", "--cases", "cases", "s"]).with(5);
    assert!(run.err.contains("cases"), "{}", run.err);
}

/// Is this version slower than the last one? Which of two machines is faster?
#[test]
fn results_are_saved_and_compared() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 1_000)).well();
    fs::write(folder.path().join("cases"), CASES).unwrap();
    let bench = ["bench", "--cases", "cases", "--runs", "3", "s"];
    let run = tool(folder.path(), &[&bench[..], &["--save", "before.ndjson"]].concat()).well();
    assert_eq!(run.err, "");
    let saved = fs::read_to_string(folder.path().join("before.ndjson")).unwrap();
    assert_eq!(saved.lines().count(), 4, "{saved}");

    let run = tool(folder.path(), &[&bench[..], &["--compare", "before.ndjson"]].concat()).well();
    assert_eq!(run.err, "");
    let rows: Vec<Vec<&str>> =
        run.out.lines().map(|line| line.split(['│', '┆']).map(str::trim).collect()).collect();
    let header = rows.iter().position(|row| row.get(2) == Some(&"before")).expect(&run.out);
    assert_eq!(rows[header][1..7], ["case", "before", "now", "times as fast", "result", "query"]);
    for (number, row) in (1..).zip(&rows[header + 2..header + 6]) {
        assert_eq!(row[1], format!("{number:03}"), "{}", run.out);
        assert!(row[4].parse::<f64>().is_ok_and(|ratio| ratio > 0.0), "{}", run.out);
        assert!(["faster", "slower", "same"].contains(&row[5]), "{}", run.out);
    }
    assert!(run.out.contains("\ngeometric mean: "), "{}", run.out);
    // Which builds and machines these are.
    let [before, now] = ["\nbefore: ", "\nnow: "].map(|when| {
        let (_, rest) = run.out.split_once(when).expect(&run.out);
        rest.lines().next().unwrap_or_default()
    });
    assert!(before == now && before.contains(" (build ") && before.contains(") on "), "{}", run.out);

    // What differs beside the version is told, and so is what cannot be compared.
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(2, 10)).well();
    let more = format!("{CASES}select count(*) from stream\n");
    fs::write(folder.path().join("cases"), more).unwrap();
    let run = tool(folder.path(), &[&bench[..], &["--compare", "before.ndjson"]].concat()).well();
    assert!(run.err.contains("warning: case 001 was measured with 1000 events of "), "{}", run.err);
    assert!(run.err.contains("warning: case 005 is not among the results to compare with\n"), "{}", run.err);

    // They are events.
    tool(folder.path(), &["ingest", "history", "before.ndjson"]).well();
    let query = "select Hits from stream where Clock = 'wall' and Elapsed > 0";
    assert_eq!(tool(folder.path(), &["query", "history", query]).well().out.lines().count(), 4);

    // A file of something else is refused before anything runs.
    let run = tool(folder.path(), &[&bench[..], &["--compare", "cases"]].concat()).with(4);
    assert_eq!(
        (run.out.as_str(), run.err.as_str()),
        ("", "error: cases, line 1 is not a result of `bench --save`\n")
    );
    let run = tool(folder.path(), &[&bench[..], &["--compare", "missing"]].concat()).with(5);
    assert_eq!(run.out, "");
}

#[test]
fn senseless_numbers_are_refused() {
    let folder = folder();
    for arguments in [
        &["bench", "--cases", "cases", "--percentile", "101", "s"][..],
        &["bench", "--cases", "cases", "--percentile", "90", "--runs", "0", "s"],
        &["bench", "s"],
        &["demo", "--events", "0"],
    ] {
        tool(folder.path(), arguments).with(2);
    }
}

#[test]
fn an_empty_store_can_be_measured() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], b"").well();
    fs::write(folder.path().join("cases"), "select a from stream").unwrap();
    let run =
        tool(folder.path(), &["bench", "--cases", "cases", "--percentile", "50", "--runs", "1", "s"]).well();
    assert!(
        run.out.contains("events (count): 0\n") && run.out.contains("timestamp range: none\n"),
        "{}",
        run.out
    );
    assert!(run.out.contains("| 0% "), "{}", run.out);
}

#[test]
fn threads_are_told_where_there_are_several() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 10_000)).well();
    fs::write(folder.path().join("cases"), CASES).unwrap();
    let arguments = ["bench", "--cases", "cases", "--percentile", "50", "--runs", "1", "--threads", "2", "s"];
    let run = tool(folder.path(), &arguments).well();
    assert!(run.out.contains("\npercentile: p50th\nthreads: 2\n(case 001)"), "{}", run.out);
}

#[cfg(unix)]
#[test]
fn processor_time_is_told_where_it_is_measured() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 1_000)).well();
    fs::write(folder.path().join("cases"), "select Message from stream").unwrap();
    let arguments = ["bench", "--cases", "cases", "--percentile", "0", "--clock", "processor", "s"];
    let run = tool(folder.path(), &arguments).well();
    assert!(run.out.contains("\npercentile: p0th\nclock: processor\n(case 001)"), "{}", run.out);
    assert!(!run.out.contains("… 0 ns"), "{}", run.out);
}

#[test]
fn runs_that_open_the_store_anew_find_the_same() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 10_000)).well();
    fs::write(folder.path().join("cases"), CASES).unwrap();
    let bench = |arguments: &[&str]| {
        let whole = [&["bench", "--cases", "cases", "--runs", "2"][..], arguments, &["s"]].concat();
        tool(folder.path(), &whole).well()
    };
    let hits = |out: &str| -> Vec<String> {
        let rows = out.lines().filter(|line| line.starts_with("| 0"));
        rows.map(|row| row.split('|').nth(5).unwrap().trim().to_owned()).collect()
    };
    let warm = bench(&["--save", "warm.ndjson"]);
    assert!(!warm.out.contains("from: "), "{}", warm.out);
    assert_eq!(hits(&warm.out).len(), CASES.lines().filter(|line| line.starts_with("select")).count());
    let beginnings = if cfg!(target_os = "linux") { &["opening", "disk"][..] } else { &["opening"] };
    for from in beginnings {
        let run = bench(&["--from", from]);
        assert!(run.out.contains(&format!("\npercentile: p50th\nfrom: {from}\n(case 001)")), "{}", run.out);
        assert_eq!(hits(&run.out), hits(&warm.out));
    }
    let run = bench(&["--from", "opening", "--compare", "warm.ndjson"]);
    assert!(run.err.contains("case 001 was measured with --from warm"), "{}", run.err);
}

#[test]
fn the_demo_makes_a_store_of_each_kind_and_measures_it() {
    let folder = folder();
    let run = tool(folder.path(), &["demo", "--events", "3000", "--keep", "kept"]).well();
    let sizes: Vec<&str> = run.out.lines().filter(|line| line.starts_with("segments: ")).collect();
    let [text, columns] = sizes[..] else { panic!("{sizes:?}") };
    assert!(text.starts_with("segments: text, ") && columns.starts_with("segments: columns, "), "{sizes:?}");
    assert_eq!(run.out.matches("\n| 002 ").count(), 2, "{}", run.out);
    assert!(run.out.contains("events (count): 3000\n") && run.out.contains("\n| 002 "), "{}", run.out);
    assert!(run.out.contains("benchtool query kept "), "{}", run.out);
    assert_eq!(count(folder.path(), "kept"), 3000);
    // What is there is measured, not added to.
    let run = tool(folder.path(), &["demo", "--events", "3000", "--keep", "kept"]).well();
    assert_eq!(run.out.matches("events (count): 3000\n").count(), 1, "{}", run.out);
    // One kind alone.
    let run =
        tool(folder.path(), &["demo", "--events", "3000", "--keep", "c", "--segments", "columns"]).well();
    assert!(run.out.contains("segments: columns, ") && !run.out.contains("segments: text"), "{}", run.out);
    let info = tool(folder.path(), &["info", "c"]).well();
    assert!(info.out.contains("columns"), "{}", info.out);
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let folder = folder();
    let mut command = crate::tool::command(folder.path(), &["demo", "--events", "1000"]);
    let run = command.env("TMPDIR", folder.path()).env("TMP", folder.path()).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    assert!(String::from_utf8_lossy(&run.stdout).contains("tamias-demo-"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_byte_order_mark_before_the_cases_is_passed_over() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "100", "--keep", "s"]).well();
    std::fs::write(folder.path().join("cases"), "\u{feff}select count(*) from stream\n").unwrap();
    let run =
        tool(folder.path(), &["bench", "--cases", "cases", "--percentile", "50", "--runs", "1", "s"]).well();
    assert!(run.out.contains("\n| 001 "), "{}", run.out);
}

#[test]
fn a_demo_that_was_kept_half_made_is_not_measured_as_a_whole_one() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "100", "--keep", "s"]).well();
    let run = tool(folder.path(), &["demo", "--events", "200", "--keep", "s"]).with(2);
    assert!(run.err.contains("s holds 100 events, not 200"), "{}", run.err);
}

#[test]
fn a_kept_demo_is_measured_while_another_process_writes() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "100", "--keep", "s"]).well();
    let mut writer = crate::tool::command(folder.path(), &["ingest", "s", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // It says who it is as soon as it has the store. Asking for the lock itself might keep it from the writer.
    let id = writer.id().to_string();
    let says_so = || {
        let text = fs::read_to_string(folder.path().join("s/writer")).unwrap_or_default();
        text.split_whitespace().any(|word| word.trim_matches(|c: char| !c.is_ascii_digit()) == id)
    };
    let patient_until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !says_so() {
        assert!(writer.try_wait().unwrap().is_none(), "the writer has ended");
        assert!(std::time::Instant::now() < patient_until);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    tool(folder.path(), &["demo", "--events", "100", "--keep", "s"]).well();
    drop(writer.stdin.take());
    assert!(writer.wait().unwrap().success());
}
