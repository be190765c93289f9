//! `--from`, `--to`, `--since`, `--time-zone`: the same as a condition, and instants that people can read.

use crate::tool::{events, folder, tool, tool_with_input};

/// With the options the query gives what it gives with the condition.
#[track_caller]
fn check_same(folder: &std::path::Path, query: [&str; 2], options: &[&str], condition: &str) -> usize {
    let [head, tail] = query;
    let plain = format!("{head} where StatusCode < 500 or Elapsed > 1 {tail}");
    let with = format!("{head} where (StatusCode < 500 or Elapsed > 1) and {condition} {tail}");
    let found = tool(folder, &[&["query", "s", &plain][..], options].concat()).well().out;
    assert_eq!(found, tool(folder, &["query", "s", &with]).well().out, "{options:?}");
    // The plan has it as well, so that no more is read than needed.
    let plan = |query: &str, options: &[&str]| {
        tool(folder, &[&["query", "s", &format!("explain {query}")][..], options].concat()).well().out
    };
    assert_eq!(plan(&plain, options), plan(&with, &[]));
    found.lines().count()
}

#[test]
fn a_period_is_a_condition_on_the_time() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(2, 5000)).well();
    let run = tool(
        folder.path(),
        &["query", "s", "select @Timestamp as t from stream limit 2500", "--format", "raw", "--ticks"],
    );
    let middle: u64 = run.well().out.lines().last().unwrap().parse().unwrap();
    let iso = |ticks: u64| {
        let query = "select ToIsoString($t) as iso";
        let param = format!("t={ticks}");
        tool(folder.path(), &["query", "s", query, "--format", "raw", "--param", &param])
            .well()
            .out
            .trim()
            .to_owned()
    };
    let at = iso(middle);
    let rows = ["select Message from stream", ""];
    let counts = ["select count(*) from stream", "group by @Level having true"];
    for query in [rows, counts] {
        check_same(folder.path(), query, &["--from", &at], &format!("@Timestamp >= {middle}"));
        check_same(folder.path(), query, &["--to", &at], &format!("@Timestamp < {middle}"));
    }
    let both = ["--from", &at, "--to", &iso(middle + 1)];
    let found = check_same(
        folder.path(),
        rows,
        &both,
        &format!("@Timestamp >= {middle} and @Timestamp < {}", middle + 1),
    );
    assert_eq!(found, 1, "from is within, to is not");
    // In another zone the same text is another time.
    let (text, ticks) = (at.trim_end_matches('Z'), middle - 2 * 36_000_000_000);
    let zone = ["--from", text, "--time-zone", "+02:00"];
    check_same(folder.path(), rows, &zone, &format!("@Timestamp >= {ticks}"));
    // The generated events are of 2024.
    assert_eq!(
        tool(folder.path(), &["query", "s", "select @Id from stream", "--since", "15m"]).well().out,
        ""
    );
    let all = tool(folder.path(), &["query", "s", "select @Id from stream", "--since", "36500d"]).well().out;
    assert_eq!(all.lines().count(), 5000);
    for show in [&["tail", "s", "-n", "9999"][..], &["export", "s"]] {
        let lines =
            |options: &[&str]| tool(folder.path(), &[show, options].concat()).well().out.lines().count();
        assert_eq!((lines(&both), lines(&["--since", "15m"]), lines(&["--since", "1000w"])), (1, 0, 5000));
    }
    // Without events there is nothing that a time could mean.
    assert_eq!(
        tool(folder.path(), &["query", "s", "select 1 as a", "--from", &at]).well().out,
        "{\"a\":1}\n"
    );
}

#[test]
fn what_is_no_time_is_a_mistake_of_usage() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(2, 1)).well();
    let query = |options: &[&str]| {
        tool(folder.path(), &[&["query", "s", "select @Id from stream"][..], options].concat()).with(2).err
    };
    assert!(query(&["--from", "eternity"]).contains("'eternity' is not a time: write 2024-05-29"));
    assert!(query(&["--since", "15"]).contains("'15' is not a duration: write 15m"));
    assert!(query(&["--time-zone", "Atlantis"]).contains("'Atlantis' is not a time zone"));
    query(&["--since", "15m", "--from", "2024-05-29"]);
}

/// A change of what was promised: NDJSON, JSON, CSV and raw had ticks.
#[test]
fn instants_are_times_in_all_formats_and_numbers_on_demand() {
    let folder = folder();
    let event = b"{\"@t\":\"2024-05-29T10:56:01.1234567Z\",\"@st\":\"2024-05-29T10:56:00Z\",\"N\":638525769610000000}\n";
    tool_with_input(folder.path(), &["ingest", "s", "-"], event).well();
    let show = |query: &str, format: &str, options: &[&str]| {
        let arguments = ["query", "s", query, "--format", format];
        tool(folder.path(), &[&arguments[..], options].concat()).well().out
    };
    assert_eq!(
        show("select @t, @Start, N from stream", "markdown", &[]),
        "| @t | @Start | N |\n|---|---|---|\n| 2024-05-29T10:56:01.1234567Z | 2024-05-29T10:56:00Z | 638525769610000000 |\n"
    );
    let berlin = ["--time-zone", "Europe/Berlin"];
    let table = show("select max(@Timestamp) as m from stream group by time(1h)", "table", &berlin);
    assert!(
        table.contains("2024-05-29T12:00:00+02:00") && table.contains("2024-05-29T12:56:01.1234567+02:00"),
        "{table}"
    );
    const TIME: &str = "2024-05-29T12:56:01.1234567+02:00";
    const TICKS: &str = "638525769611234567";
    for (format, before, quote, after) in [
        ("ndjson", "{\"@t\":", "\"", "}\n"),
        ("json", "[\n{\"@t\":", "\"", "}\n]\n"),
        ("csv", "@t\n", "", "\n"),
        ("raw", "", "", "\n"),
    ] {
        assert_eq!(
            show("select @t from stream", format, &berlin),
            format!("{before}{quote}{TIME}{quote}{after}")
        );
        let in_ticks = [&berlin[..], &["--ticks"]].concat();
        assert_eq!(show("select @t from stream", format, &in_ticks), format!("{before}{TICKS}{after}"));
    }
}

#[test]
fn times_are_told_in_words() {
    let folder = folder();
    // One of now, and one of long ago.
    tool_with_input(folder.path(), &["ingest", "s", "-", "--now"], b"{\"N\":1}\n").well();
    let old = b"{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":2}\n";
    tool_with_input(folder.path(), &["ingest", "s", "-"], old).well();
    let found = |options: &[&str]| {
        let arguments = ["query", "s", "select N from stream", "--format", "raw"];
        tool(folder.path(), &[&arguments[..], options].concat()).well().out
    };
    assert_eq!(found(&["--since", "-2h"]), "1\n");
    assert_eq!(found(&["--since", "2h"]), "1\n");
    assert_eq!(found(&["--since", "yesterday"]), "1\n");
    assert_eq!(found(&["--from", "yesterday", "--to", "tomorrow"]), "1\n");
    assert_eq!(found(&["--to", "-2h"]), "2\n");
    assert_eq!(found(&["--since", "2024-05-29", "--to", "yesterday"]), "2\n");
}

/// They were taken for options.
#[test]
fn time_zones_west_of_greenwich_are_read() {
    let folder = folder();
    let event = b"{\"@t\":\"2024-05-29T05:56:01\"}\n";
    tool_with_input(folder.path(), &["ingest", "s", "-", "--time-zone", "-05:00"], event).well();
    let zoned = |arguments: &[&str]| {
        tool(folder.path(), &[arguments, &["--time-zone", "-05:00"]].concat()).well().out
    };
    let out = zoned(&["query", "s", "select @t from stream", "--format", "raw"]);
    assert!(out.starts_with("2024-05-29T05:56:01-05:00"), "{out}");
    let id = zoned(&["query", "s", "select @Id from stream", "--format", "raw"]);
    let id = id.trim_end();
    zoned(&["get", "s", id]);
    zoned(&["around", "s", id]);
    zoned(&["info", "s"]);
    zoned(&["delete", "s", "--where", "@Timestamp < '2024-05-29T05:56'"]);
}

/// Queries used to compute in UTC there, while `--from` had the zone itself.
#[cfg(unix)]
#[test]
fn a_local_time_zone_without_a_name_is_refused() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], b"{\"@t\":\"2024-05-29T10:56:01Z\"}\n").well();
    let arguments = ["query", "s", "select ToIsoString(time(1d)) as d from stream", "--time-zone", "local"];
    let run = |zone: &str| {
        let mut command = crate::tool::command(folder.path(), &arguments);
        crate::tool::ended(command.env("TZ", zone).output().unwrap())
    };
    let refused = run("CET-1CEST,M3.5.0,M10.5.0/3").with(2);
    assert!(refused.err.contains("does not tell the name of its time zone"), "{}", refused.err);
    for zone in ["Europe/Berlin", "UTC", ""] {
        assert_ne!(run(zone).code, Some(2), "{zone}");
    }
}
