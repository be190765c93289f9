//! `benchtool query`

use std::io::Read;
use std::process::Stdio;

use serde_json::{Map, Value};

use crate::tool::{command, events, folder, objects, rows, tool, tool_with_input};

/// What one query gives, beside what its condition says of each event by itself.
#[track_caller]
fn check_select(column: &str, condition: &str, passes: impl Fn(&Map<String, Value>) -> bool) {
    let folder = folder();
    let input = events(21, 20_000);
    tool_with_input(folder.path(), &["ingest", "s", "-"], &input).well();
    let rows = rows(folder.path(), "s", &format!("select {column} from stream where {condition}"));
    let expected: Vec<Map<String, Value>> = objects(std::str::from_utf8(&input).unwrap())
        .into_iter()
        .filter(passes)
        .map(|event| event.into_iter().filter(|(key, _)| key == column).collect())
        .collect();
    assert!(!expected.is_empty());
    assert_eq!(rows.len(), expected.len(), "{condition}");
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!(row, expected, "{condition}");
    }
}

#[test]
fn slow_events_are_those_that_a_naive_reader_finds() {
    check_select("Message", "Elapsed > 200", |event| {
        event.get("Elapsed").and_then(Value::as_f64) > Some(200.0)
    });
}

#[test]
fn matching_events_are_those_that_a_naive_reader_finds() {
    check_select("Message", "match(Message, '/api/customers')", |event| {
        event["Message"].as_str().is_some_and(|text| text.contains("/api/customers"))
    });
}

#[test]
fn a_column_that_is_undefined_is_left_out() {
    check_select("Actor", "Elapsed <= 200", |event| {
        event.get("Elapsed").and_then(Value::as_f64).is_some_and(|elapsed| elapsed <= 200.0)
    });
}

const THREE: &str = r#"{"@t":"2024-05-29T10:56:01Z","Text":"tab\tand \u001b[31mred","N":1.50,"B":true}
{"@t":"2024-05-29T10:56:02Z","Text":null,"N":-0,"O":{"a":[1,"x"]}}
{"@t":"2024-05-29T10:56:03Z","Text":"Zürich"}
"#;

#[test]
fn ndjson_hands_values_on_as_they_are_stored() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let run = tool(folder.path(), &["query", "s", "select Text, N as Number, B, O from stream"]).well();
    let expected = "{\"Text\":\"tab\\tand \\u001b[31mred\",\"Number\":1.50,\"B\":true}\n\
        {\"Text\":null,\"Number\":-0,\"O\":{\"a\":[1,\"x\"]}}\n\
        {\"Text\":\"Zürich\"}\n";
    assert_eq!(run.out, expected, "NDJSON is what a pipe gets");
}

#[test]
fn a_table_shows_one_line_a_row_and_commands_no_terminal() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let query = "select Text, N as Number, O from stream";
    let run = tool(folder.path(), &["query", "s", query, "--format", "table"]).well();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 7, "{}", run.out);
    assert!(lines[1].contains("Text") && lines[1].contains("Number"), "{}", run.out);
    assert!(lines[3].contains("tab\\tand \\u001b[31mred") && lines[3].contains("1.50"), "{}", run.out);
    assert!(lines[4].contains("null") && lines[4].contains("{\"a\":[1,\"x\"]}"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'));
    let run =
        tool(folder.path(), &["query", "s", "select N from stream where false", "--format", "table"]).well();
    assert!(run.out.contains('N') && run.out.lines().count() >= 3, "{}", run.out);
}

#[test]
fn a_malformed_query_is_shown_with_its_place() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let run = tool(folder.path(), &["query", "s", "select Text from stream where N >"]).with(3);
    assert!(run.err.starts_with("error: line 1, column ") && run.err.contains('^'), "{}", run.err);
    assert_eq!(run.out, "");
}

#[test]
fn an_unknown_store_is_one_clear_line() {
    let folder = folder();
    for arguments in
        [&["query", "nowhere", "select a from stream"][..], &["query", ".", "select a from stream"]]
    {
        let run = tool(folder.path(), arguments).with(5);
        assert!(run.err.starts_with("error: ") && run.err.lines().count() == 1, "{}", run.err);
        assert_eq!(run.out, "");
    }
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 20_000)).well();
    for format in ["ndjson", "table"] {
        let mut child =
            command(folder.path(), &["query", "s", "select @Data as event from stream", "--format", format])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 100]).unwrap();
        drop(out);
        let run = child.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&run.stderr), "");
    }
}

#[test]
fn rows_in_every_format() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let check = |format: &str, condition: &str, expected: &str| {
        let query = format!("select Text, N, O from stream where {condition}");
        let run = tool(folder.path(), &["query", "s", &query, "--format", format]).well();
        assert_eq!(run.out, expected, "{format}");
    };
    check(
        "json",
        "true",
        "[\n{\"Text\":\"tab\\tand \\u001b[31mred\",\"N\":1.50}\n,{\"Text\":null,\"N\":-0,\"O\":{\"a\":[1,\"x\"]}}\n,{\"Text\":\"Zürich\"}\n]\n",
    );
    check("json", "false", "[\n]\n");
    check(
        "csv",
        "true",
        "Text,N,O\ntab\tand \u{1b}[31mred,1.50,\nnull,-0,\"{\"\"a\"\":[1,\"\"x\"\"]}\"\nZürich,,\n",
    );
    check("csv", "false", "Text,N,O\n");
    check("raw", "true", "tab\tand \u{1b}[31mred\nnull\nZürich\n");
    check("raw", "false", "");
    check(
        "markdown",
        "true",
        "| Text | N | O |\n|---|---|---|\n| tab\\tand \\u001b[31mred | 1.50 |  |\n| null | -0 | {\"a\":[1,\"x\"]} |\n| Zürich |  |  |\n",
    );
}

#[test]
fn the_exit_code_tells_of_no_rows_if_asked() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    for (condition, code) in [("true", 0), ("false", 1)] {
        let query = format!("select Text from stream where {condition}");
        tool(folder.path(), &["query", "s", &query]).well();
        let run = tool(folder.path(), &["query", "s", &query, "--exit-status"]).with(code);
        assert_eq!(run.err, "");
    }
}

#[test]
fn colour_is_for_terminals_or_on_demand() {
    let folder = folder();
    let error = |arguments: &[&str]| tool(folder.path(), arguments).with(5).err;
    assert!(error(&["query", "nowhere", "select a from stream"]).starts_with("error: "));
    assert!(error(&["--color", "never", "query", "nowhere", "select a from stream"]).starts_with("error: "));
    assert!(error(&["query", "nowhere", "select a from stream", "--color", "always"]).starts_with("\u{1b}["));
}

#[test]
fn parameters_are_values_never_text_of_the_query() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let select = |condition: &str, params: &[&str]| {
        let query = format!("select Text, N from stream where {condition}");
        let mut arguments = vec!["query", "s", &query];
        params.iter().for_each(|param| arguments.extend(["--param", param]));
        tool(folder.path(), &arguments)
    };
    assert_eq!(select("Text = $name", &["name=Zürich"]).well().out, "{\"Text\":\"Zürich\"}\n");
    assert_eq!(select("Text = $name", &["name=Zürich' or true"]).well().out, "");
    assert_eq!(select("N = $n and $yes", &["$n=1.5", "yes=true"]).well().out.lines().count(), 1);
    assert_eq!(select("N = $n", &["n=\"1.5\""]).well().out, "", "a string in quotes is a string");
    assert!(select("N = $n", &[]).with(3).err.contains("$n"));
    let unused = select("N = $n", &["n=1.5", "m=2"]).with(2);
    assert!(unused.err.contains("there is no $m in the query; its parameters are $n"), "{}", unused.err);
    assert!(select("N = 1", &["m=2"]).with(2).err.contains("it has no parameters"));
    select("N = $n", &["1.5"]).with(2);
    select("N = $n", &["=1.5"]).with(2);
}

#[test]
fn explain_shows_the_plan_and_analyze_what_it_counted() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let plan = tool(folder.path(), &["query", "s", "explain select Text from stream where N > 1"]).well().out;
    assert!(plan.contains("filter") && !plan.contains("{\"Text\""), "{plan}");
    let run =
        tool(folder.path(), &["query", "s", "explain analyze select Text from stream where N > 1"]).well();
    // Each step as it is in the plan, and behind it what it counted and took.
    for (step, analyzed) in plan.lines().zip(run.out.lines()) {
        assert!(analyzed.starts_with(&format!("{step} [")) && analyzed.ends_with(']'), "{}", run.out);
    }
    assert!(run.out.contains("[1 row; about ") && run.out.contains("[3 events in, 1 out]"), "{}", run.out);
    assert!(run.out.contains("\nevents: 3 read, 0 skipped; blocks: 1 read, 0 skipped\n"), "{}", run.out);
    assert!(run.out.contains("\nhits found by: ") && run.out.contains("\ntime: "), "{}", run.out);
    assert!(run.out.ends_with(", hits: 1, rows: 1\n"), "{}", run.out);
}

#[test]
fn plain_looks_at_each_event() {
    let folder = folder();
    tool(folder.path(), &["demo", "--events", "2000", "--keep", "s"]).well();
    let run = |query: &str, flags: &[&str]| {
        tool(folder.path(), &[&["query", "s", query][..], flags].concat()).well().out
    };
    let analyzed = "explain analyze select Message from stream where NoSuchKey = 1";
    assert!(run(analyzed, &[]).contains("\nevents: 0 read, 2000 skipped;"));
    assert!(run(analyzed, &["--plain"]).contains("\nevents: 2000 read, 0 skipped;"));
    let analyzed = "explain analyze select count(*) from stream group by Application";
    assert!(run(analyzed, &[]).contains("\nanswered by statistics, without reading: 2000 events in "));
    assert!(!run(analyzed, &["--plain"]).contains("answered"));
    for query in
        ["select count(*) from stream group by Application", "select * from stream where StatusCode = 500"]
    {
        assert_eq!(run(query, &[]), run(query, &["--plain"]));
    }
}

#[test]
fn groups_are_analyzed_step_by_step() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let query = "explain analyze select count(*) as n from stream lateral unnest([1, N, Text]) as x \
                 where x is not null group by x having n > 1 order by n limit 5";
    let out = tool(folder.path(), &["query", "s", query]).well().out;
    for part in [
        "[1 row in, 1 out]",
        "[5 groups in, 1 out]",
        "[7 hits in, 5 groups out; about ",
        "[8 elements in, 7 out]",
        "[3 events in, 8 elements out]",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
}

#[test]
fn stats_tell_of_what_kinds_the_values_are() {
    let folder = folder();
    let input = br#"{"@t":"2024-05-29T10:56:01Z","E":1,"A":{"N":"x"}}
{"@t":"2024-05-29T10:56:02Z","E":"2","A":{"N":null}}
{"@t":"2024-05-29T10:56:03Z","E":[3],"A":true}
{"@t":"2024-05-29T10:56:04Z","A":{"N":{}}}
{"@t":"2024-05-29T10:56:05Z","E":5,"Off":true}
"#;
    tool_with_input(folder.path(), &["ingest", "s", "-"], input).well();
    let query = "select sum(E) as s, count(A.N) from stream where not (Off = true)";
    let plain = tool(folder.path(), &["query", "s", query]).well();
    let run = tool(folder.path(), &["query", "s", query, "--stats"]).well();
    assert_eq!((run.out.as_str(), plain.err.as_str()), ("{\"s\":1,\"count(A.N)\":2}\n", ""));
    assert_eq!(run.out, plain.out);
    let lines: Vec<Vec<&str>> = run
        .err
        .lines()
        .filter(|line| line.starts_with('│'))
        .map(|line| line.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(
        lines,
        [
            vec![
                "values of",
                "in",
                "all",
                "numbers",
                "strings",
                "Booleans",
                "null",
                "missing",
                "arrays",
                "objects",
                "passed over"
            ],
            vec!["Off", "events tested", "5", "0", "0", "1", "0", "4", "0", "0"],
            vec!["E", "events that passed", "4", "1", "1", "0", "0", "1", "1", "0"],
            vec!["A.N", "events that passed", "4", "0", "1", "0", "1", "1", "0", "1"],
            vec!["sum(E)", "events that passed", "4", "1", "1", "0", "0", "1", "1", "0", "3"],
            vec!["count(A.N)", "events that passed", "4", "0", "1", "0", "1", "1", "0", "1", "2"],
        ],
        "{}",
        run.err
    );
}

#[test]
fn a_query_has_no_more_time_and_memory_than_it_is_given() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 20_000)).well();
    let query = "select RequestId, Message from stream order by Message";
    tool(folder.path(), &["query", "s", query, "--memory", "1GiB", "--deadline", "10m"]).well();
    let run = tool(folder.path(), &["query", "s", query, "--memory", "100kB"]).with(3);
    assert!(run.err.contains("more than 100000 bytes") && run.out.is_empty(), "{}", run.err);
    let run = tool(folder.path(), &["query", "s", query, "--deadline", "0.001ms"]).with(3);
    assert!(run.err.contains("deadline"), "{}", run.err);
    for wrong in [["--deadline", "5"], ["--memory", "much"]] {
        tool(folder.path(), &["query", "s", query, wrong[0], wrong[1]]).with(2);
    }
}

#[test]
fn a_query_has_the_same_rows_on_any_number_of_threads() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 20_000)).well();
    for query in [
        "select RequestId, Message from stream where Elapsed > 100",
        "select count(*), sum(Elapsed), first(Message) from stream group by Application",
        "select Elapsed, Message from stream order by Elapsed desc limit 50",
    ] {
        let of = |threads: &str| tool(folder.path(), &["query", "s", query, "--threads", threads]).well().out;
        let rows = of("1");
        assert!(!rows.is_empty());
        assert_eq!(of("2"), rows, "{query}");
        assert_eq!(of("1000000"), rows, "{query}");
        assert_eq!(tool(folder.path(), &["query", "s", query]).well().out, rows, "{query}");
    }
    tool(folder.path(), &["query", "s", "select 1", "--threads", "0"]).with(2);
}

/// A shell that finds `$n` between double quotes leaves nothing there.
#[test]
fn a_parameter_that_the_shell_has_taken_is_told_of() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let run =
        tool(folder.path(), &["query", "s", "select Text from stream where N = ", "--param", "n=1"]).with(3);
    assert!(run.err.contains("put a query with `$` into single quotes"), "{}", run.err);
}

/// A count of no events looks like any other.
#[test]
fn a_period_behind_the_last_event_is_told_of() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let query = "select count(*) as n from stream";
    let run = tool(folder.path(), &["query", "s", query, "--since", "1h"]).well();
    assert!(
        run.out == "{\"n\":0}\n" && run.err.contains("begins after the latest event, which is of "),
        "{run:?}"
    );
    let run = tool(folder.path(), &["query", "s", query, "--from", "2000-01-01"]).well();
    assert_eq!(run.err, "");
}

#[test]
fn the_query_may_come_from_the_standard_input() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], THREE.as_bytes()).well();
    let query = b"-- a comment\nselect N\nfrom stream\nwhere N > 1;\n";
    assert_eq!(tool_with_input(folder.path(), &["query", "s", "-"], query).well().out, "{\"N\":1.50}\n");
}

/// Only keys of the top level were warned of.
#[test]
fn misspelt_keys_in_objects_are_warned_of() {
    let folder = folder();
    let event = |n: u32| {
        let rare = if n == 450 { ",\"rare\":1" } else { "" };
        format!(
            "{{\"@t\":\"2024-05-29T10:56:01Z\",\"actor\":{{\"login\":\"ada\"{rare}}},\"Timings\":[{{\"Elapsed\":{n}}}],\"id.orig_h\":\"h\"}}\n"
        )
    };
    // The first and the last of all have neither.
    let other = |_: u32| "{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":1}\n".to_owned();
    let events: String = (0..200).map(other).chain((0..1000).map(event)).chain((0..200).map(other)).collect();
    for segments in ["text", "columns"] {
        tool_with_input(folder.path(), &["ingest", segments, "-", "--segments", segments], events.as_bytes())
            .well();
        tool(folder.path(), &["seal", segments]).well();
        let warned = |query: &str| tool(folder.path(), &["query", segments, query]).well().err;
        let misspelt =
            "warning: no event has a key `Timings[?].Elapsd`; did you mean `Timings[?].Elapsed`?\n";
        for query in [
            "select count(*) from stream where Timings[?].Elapsd > 3",
            "select count(*) from stream where Every(Timings, |t| t.Elapsd > 3)",
            "select Timings[0].Elapsd from stream limit 0",
            "select sum(t.Elapsd) from stream lateral unnest(Timings) as t where t.Elapsed > 1000000000",
            "select count(*) from stream lateral unnest(Timings) as t where t.Elapsd > 3",
        ] {
            assert_eq!(warned(query), misspelt, "{query}");
        }
        for (query, warning) in [
            (
                "select count(*) from stream where actor.logn = 'x'",
                "no event has a key `actor.logn`; did you mean `actor.login`?",
            ),
            (
                "select count(*) from stream group by actor.logn",
                "no event has a key `actor.logn`; did you mean `actor.login`?",
            ),
            (
                "select count(*) from stream where Timings.Elapsed > 1",
                "no event has a key `Timings.Elapsed`: `Timings` is an array; in a condition `Timings[?].Elapsed` is that of any of its elements, and \
                 `lateral unnest(Timings) as x` gives a row for each, with `x.Elapsed`",
            ),
            (
                "select count(*) from stream where id.orig_x = 'h'",
                "no event that was read has a key `id.orig_x`; did you mean `id.orig_h`?",
            ),
        ] {
            assert_eq!(warned(query), format!("warning: {warning}\n"), "{query}");
        }
        for query in [
            "actor.login = 'x'",
            "actor.rare = 2",
            "id.orig_h = 'x'",
            "Timings[?].Elapsed > 1",
            "Timings[0].Elapsed > 1",
        ] {
            assert_eq!(warned(&format!("select count(*) from stream where {query}")), "", "{query}");
        }
    }
}

/// The messages of tracing-subscriber lie one level down, where nothing told of them.
#[test]
fn messages_in_objects_are_told_of() {
    let folder = folder();
    let event =
        r#"{"timestamp":"2024-05-29T10:56:01Z","level":"ERROR","fields":{"message":"database is down"}}"#;
    let run = tool_with_input(folder.path(), &["ingest", "s", "-"], event.as_bytes()).well();
    assert!(run.err.contains("messages seem to be in `fields.message`, as queries name it"), "{}", run.err);
    assert!(run.err.contains("levels seem to be in `level`; with --level-key level"), "{}", run.err);
    let run = tool(folder.path(), &["query", "s", "select @Message from stream"]).well();
    assert!(
        run.err.ends_with("so that @Message is undefined; did you mean `fields.message`?\n"),
        "{}",
        run.err
    );
}
