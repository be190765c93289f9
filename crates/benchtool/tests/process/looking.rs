//! `tail`, `search`, `get`, `around`, charts, and pages of rows.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::Value;
use tamias::{Batch, EventFormat, Store};

use crate::tool::{command, events, folder, objects, tool, tool_with_input};

/// The data of the rows of `*`.
#[track_caller]
fn data(out: &str) -> Vec<Value> {
    objects(out).into_iter().map(|row| row["@Data"].clone()).collect()
}

/// Whether a string of a value has a text in it.
fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| mentions(value, text)),
        Value::Object(members) => members.values().any(|value| mentions(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[test]
fn events_that_mention_a_text_are_those_that_a_naive_reader_finds() {
    let folder = folder();
    let input = events(5, 6000);
    for segments in ["text", "columns"] {
        let store = format!("s-{segments}");
        tool_with_input(folder.path(), &["ingest", &store, "-", "--segments", segments], &input).well();
        for text in ["/api/customers", "Zoë", "at shop.", "Elapsed", "\"", "\n", "zz-nowhere", "a", ""] {
            let found = data(&tool(folder.path(), &["search", &store, text]).well().out);
            let lines = objects(std::str::from_utf8(&input).unwrap()).into_iter().map(Value::Object);
            let expected: Vec<Value> = lines.filter(|event| mentions(event, text)).collect();
            assert_eq!(found.len(), expected.len(), "{text} in {segments}");
            assert!(found == expected, "{text} in {segments}");
        }
    }
    let search = |options: &[&str]| {
        tool(folder.path(), &[&["search", "s-text"][..], options].concat()).well().out.lines().count()
    };
    assert!(search(&["UNHANDLED"]) == 0 && search(&["UNHANDLED", "-i"]) > 0);
    assert_eq!(search(&["HTTP", "-n", "7"]), 7);
    assert!(search(&["HTTP", "--condition", "StatusCode >= 500"]) < search(&["HTTP"]));
    assert_eq!(search(&["HTTP", "--since", "1h"]), 0);
    let wrong = tool(folder.path(), &["search", "s-text", "a", "--condition", "x) or (true"]).with(3);
    assert!(wrong.err.contains("column 2"), "{}", wrong.err);
}

#[test]
fn the_tail_is_the_latest_events_in_order() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 300)).well();
    let all = data(&tool(folder.path(), &["query", "s", "select * from stream"]).well().out);
    let tail =
        |options: &[&str]| data(&tool(folder.path(), &[&["tail", "s"][..], options].concat()).well().out);
    assert_eq!(tail(&[]), all[280..]);
    assert_eq!(tail(&["-n", "3"]), all[297..]);
    assert_eq!(tail(&["-n", "1000"]), all);
    let slow: Vec<Value> =
        all.iter().filter(|event| event["Elapsed"].as_f64().is_some_and(|ms| ms > 300.0)).cloned().collect();
    assert_eq!(tail(&["-n", "2", "Elapsed > 300 -- slow"]), slow[slow.len() - 2..]);
    assert!(tool(folder.path(), &["tail", "s", "Elapsed >"]).with(3).err.contains("column"));
    tool(folder.path(), &["tail", "s", "-f", "--format", "table"]).with(2);
    tool(folder.path(), &["tail", "nowhere"]).with(5);
}

#[test]
fn what_another_process_stores_follows() {
    let folder = folder();
    let event = |n: u32, time: &str| format!("{{\"@t\":\"{time}\",\"N\":{n}}}\n");
    let store = |n, time| {
        tool_with_input(folder.path(), &["ingest", "s", "-"], event(n, time).as_bytes()).well();
    };
    store(1, "2024-05-29T10:56:01Z");
    let mut child =
        command(folder.path(), &["tail", "s", "-f", "N <> 3"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || data(&lines.next().unwrap().unwrap())[0]["N"].clone();
    assert_eq!(next(), 1);
    store(2, "2024-05-29T10:56:02Z");
    assert_eq!(next(), 2);
    store(3, "2024-05-29T10:56:03Z");
    // One that happened earlier is as new.
    store(4, "2024-05-28T00:00:00Z");
    assert_eq!(next(), 4);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Large batches take their arrival numbers before those that are shown earlier.
#[test]
fn single_events_and_large_batches_of_one_writer_follow_exactly_once() {
    let folder = folder();
    let store = Store::open(folder.path().join("s")).unwrap();
    let push = |batch: &mut Batch, event: &str| batch.push(event.as_bytes(), &EventFormat::clef()).unwrap();
    let event = |kind: &str, n: u32| format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"{kind}\":{n}}}");
    let mut first = Batch::new();
    push(&mut first, &event("Single", 0));
    store.append_batch(&mut first).unwrap();
    let mut child = command(folder.path(), &["tail", "s", "-f", "Has(Single) or Has(Large)"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(data(&lines.next().unwrap())[0]["Single"], 0);

    const LARGE: u32 = 8;
    const EACH: u32 = 100;
    let is_done = AtomicBool::new(false);
    let singles = std::thread::scope(|scope| {
        let (store, is_done) = (&store, &is_done);
        let singles = scope.spawn(move || {
            let (mut n, mut batch) = (0, Batch::new());
            while !is_done.load(Relaxed) {
                n += 1;
                push(&mut batch, &event("Single", n));
                store.append_batch(&mut batch).unwrap();
            }
            n
        });
        let padding = format!("{{\"@t\":\"2024-05-29T10:56:00Z\",\"Padding\":\"{}\"}}", "x".repeat(1 << 20));
        for large in 0..LARGE {
            let mut batch = Batch::new();
            (0..33).for_each(|_| push(&mut batch, &padding));
            (0..EACH).for_each(|n| push(&mut batch, &event("Large", large * EACH + n)));
            store.append_batch(&mut batch).unwrap();
            if large % 3 == 2 {
                store.seal().unwrap();
                store.compact().unwrap();
            }
        }
        is_done.store(true, Relaxed);
        singles.join().unwrap()
    });
    push(&mut first, &event("Single", singles + 1));
    store.append_batch(&mut first).unwrap();

    let mut found: Vec<(bool, u64)> = Vec::new();
    let last = (false, u64::from(singles) + 1);
    while found.last() != Some(&last) {
        let event = data(&lines.next().unwrap()).remove(0);
        let is_large = event["Single"].is_null();
        found.push((is_large, event[if is_large { "Large" } else { "Single" }].as_u64().unwrap()));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // In the order of time a large batch may come behind the last single event of its snapshot.
    found.sort_unstable();
    let singles = (1..=last.1).map(|n| (false, n));
    let all: Vec<(bool, u64)> = singles.chain((0..u64::from(LARGE * EACH)).map(|n| (true, n))).collect();
    assert!(found == all, "{} events, of {}", found.len(), all.len());
}

#[test]
fn an_event_is_shown_alone_and_among_others() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 100)).well();
    let all = tool(folder.path(), &["query", "s", "select * from stream"]).well().out;
    let rows = objects(&all);
    let id = rows[50]["@Id"].as_str().unwrap();
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(tool(folder.path(), &["get", "s", id]).well().out, format!("{}\n", lines[50]));
    let around = tool(folder.path(), &["around", "s", id, "-B", "2", "-A", "1"]).well().out;
    assert_eq!(around.lines().collect::<Vec<&str>>(), lines[48..52]);
    assert_eq!(tool(folder.path(), &["around", "s", id]).well().out.lines().count(), 21);
    let vertical = tool(folder.path(), &["get", "s", id, "--format", "vertical"]).well().out;
    assert!(vertical.contains("@Id") && vertical.contains("\nApplication"), "{vertical}");
    let none = "00000000000000000000000000000000";
    assert!(tool(folder.path(), &["get", "s", none]).with(4).err.contains("there is no event 0000"));
    assert!(tool(folder.path(), &["get", "s", "12"]).with(2).err.contains("32 hexadecimal digits"));
}

#[test]
fn page_after_page_gives_all_rows() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 300)).well();
    for query in
        ["select Message from stream where Elapsed > 50", "select Message from stream order by time desc"]
    {
        let all = tool(folder.path(), &["query", "s", query]).well();
        assert_eq!(all.err, "");
        let (mut found, mut after) = (String::new(), None::<String>);
        loop {
            let mut arguments = vec!["query", "s", query, "--limit", "40"];
            if let Some(id) = &after {
                arguments.extend(["--after", id]);
            }
            let page = tool(folder.path(), &arguments).well();
            assert!(page.out.lines().count() <= 40);
            found.push_str(&page.out);
            let Some(id) = page.err.trim().strip_prefix("next page: --after ") else { break };
            after = Some(id.to_owned());
        }
        assert!(found == all.out, "{query}");
    }
    for other in
        ["select count(*) from stream", "select a from stream limit 3", "select a from stream order by a"]
    {
        let run = tool(folder.path(), &["query", "s", other, "--limit", "5"]).with(2);
        assert!(run.err.contains("--limit needs a query without a `limit`"), "{}", run.err);
    }
    tool(folder.path(), &["query", "s", "select a from stream", "--after", "12", "--limit", "5"]).with(2);
}

#[test]
fn a_chart_has_a_bar_for_each_row() {
    let folder = folder();
    let event = |n| {
        let host = n % 3;
        format!("{{\"@t\":\"2024-05-29T10:0{n}:00Z\",\"N\":{n},\"Host\":\"h{host}\"}}\n")
    };
    let input: String = (0..10).map(event).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], input.as_bytes()).well();
    let chart = |query: &str| tool(folder.path(), &["query", "s", query, "--format", "chart"]);
    let bar = |columns: usize, end: &str| format!("{}{end}", "█".repeat(columns));
    assert_eq!(
        chart("select count(*) as n, sum(N) as total from stream group by Host").well().out,
        format!(
            "n\nh0 4 {}\nh1 3 {}\nh2 3 {}\n\ntotal\nh0 18 {}\nh1 12 {}\nh2 15 {}\n",
            bar(73, ""),
            bar(54, "▊"),
            bar(54, "▊"),
            bar(72, ""),
            bar(48, ""),
            bar(60, ""),
        )
    );
    let times = chart("select count(*) as n from stream group by time(5m)").well().out;
    assert!(times.starts_with("n\n2024-05-29T10:00:00Z 5 ███"), "{times}");
    assert!(chart("select Host from stream").with(3).err.contains("a chart needs a column of numbers"));
    // Bars stood beside each other as if nothing lay between.
    let gaps = chart("select count(*) as n from stream where N <> 5 and N <> 6 group by time(1m)").well().out;
    let lines: Vec<&str> = gaps.lines().collect();
    assert!(lines[5].starts_with("2024-05-29T10:04:00Z 1 █"), "{gaps}");
    assert_eq!(lines[6], "⋮ 2 intervals without events");
    assert!(lines[7].starts_with("2024-05-29T10:07:00Z 1 █"), "{gaps}");
    // In another order none has a place of its own.
    let query = "select sum(N) % 3 as n from stream where N <> 5 group by time(1m) order by n";
    let gaps = chart(query).well().out;
    assert!(gaps.starts_with("n (1 interval without events left out)\n"), "{gaps}");
    let why = chart("select mean(Host) from stream").with(3).err;
    assert!(why.contains("warning: `mean(Host)` passes over texts"), "{why}");
}

#[test]
fn the_option_for_more_memory_is_named() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 3000)).well();
    let query = "select Message from stream order by Message";
    let run = tool(folder.path(), &["query", "s", query, "--memory", "10kB"]).with(3);
    assert!(run.err.contains("--memory 1GiB"), "{}", run.err);
}

/// It used to find nothing of what the log shows where a message is made of a template, and no numbers.
#[test]
fn messages_and_numbers_are_searched_where_that_is_asked_for() {
    let folder = folder();
    let events = br#"{"@t":"2024-05-29T10:56:01Z","@mt":"User {Name} of tenant {Tenant} logged in","Name":"Ada","Tenant":4711}
{"@t":"2024-05-29T10:56:02Z","@m":"nothing of it"}
"#;
    tool_with_input(folder.path(), &["ingest", "s", "-"], events).well();
    let found = |arguments: &[&str]| {
        let run = tool(folder.path(), &[&["search", "s"], arguments].concat()).well();
        run.out.lines().count()
    };
    for text in ["User Ada", "4711", "tenant 4711"] {
        assert_eq!((found(&[text]), found(&[text, "--all"])), (0, 1), "{text}");
    }
    assert_eq!((found(&["user ada", "-a"]), found(&["user ada", "-a", "-i"])), (0, 1));
    assert_eq!(
        (found(&["Ada"]), found(&["Ada", "--all"]), found(&["471", "--all"]), found(&["4712", "-a"])),
        (1, 1, 1, 0)
    );
    assert_eq!(found(&["4711", "--all", "--condition", "Name = 'Bob'"]), 0);
}

/// Half of what was found had the digits in its time, where no log shows them; and nothing told of numbers.
#[test]
fn digits_are_not_searched_in_the_time() {
    let folder = folder();
    let events = br#"{"@t":"2024-05-29T10:56:01.2471100Z","@m":"of its time"}
{"@t":"2024-05-29T10:56:02.4711000Z","@m":"of order 4711"}
{"@t":"2024-05-29T10:56:03.4711000Z","@m":"within","Order":{"Id":"A-4711"}}
{"@t":"2024-05-29T10:56:04Z","@m":"a number","Tenant":4711}
"#;
    tool_with_input(folder.path(), &["ingest", "s", "-"], events).well();
    let found = |arguments: &[&str]| {
        let run = tool(folder.path(), &[&["search", "s", "4711"], arguments].concat()).well();
        (run.out.lines().count(), run.err.contains("add --all"))
    };
    assert_eq!((found(&[]), found(&["-i"]), found(&["--all"])), ((2, true), (2, true), (3, false)));
    assert_eq!(tool(folder.path(), &["search", "s", ":56:"]).well().out.lines().count(), 4);
}

#[test]
fn a_period_that_ends_before_it_begins_is_a_mistake() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], b"{\"@t\":\"2024-05-29T10:56:01Z\"}").well();
    let query = |more: &[&str]| {
        tool(folder.path(), &[&["query", "s", "select * from stream"], more].concat()).with(2).err
    };
    assert!(query(&["--from", "2024-05-30", "--to", "2024-05-29"]).contains("before it begins"));
    assert!(query(&["--from", "25:00"]).starts_with("error: --from: '25:00' is not a time"));
    assert!(query(&["--since", "15"]).starts_with("error: --since: '15' is not a duration"));
    assert!(query(&["--to", "soon"]).starts_with("error: --to: 'soon' is not a time"));
    let run = tool(folder.path(), &["query", "s", "select 1", "--threads", "0"]).with(2);
    assert!(run.err.contains("write a number, 1 or more"), "{}", run.err);
    let run = tool(folder.path(), &["query", "s", " "]).with(3);
    assert_eq!(run.err, "error: the query is empty\n");
    let run = tool(folder.path(), &["tail", "s", "--format", "parquet"]).with(2);
    assert!(run.err.contains("invalid value 'parquet'") && !run.err.contains("arrow"), "{}", run.err);
    assert!(tool(folder.path(), &["query", "s", "--help"]).well().out.contains("parquet"));
    assert!(tool(folder.path(), &["help", "--help"]).well().out.contains("ingest"));
    assert_eq!(tool(folder.path(), &["info", "s", "--history"]).well().out, "nothing has been removed\n");
    let run = tool(folder.path(), &["verify", "nowhere"]).with(5);
    assert_eq!(run.err, "error: there is no store in nowhere\n");
    let run = tool(folder.path(), &["tail", "nowhere"]).with(5);
    assert!(run.err.ends_with("ingest nowhere FILE` creates one\n"), "{}", run.err);
}

/// The last page named another one.
#[test]
fn the_last_page_names_no_other() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 6)).well();
    let page =
        |limit: &str| tool(folder.path(), &["query", "s", "select @Id from stream", "--limit", limit]).well();
    assert!(page("3").err.starts_with("next page: --after "));
    assert_eq!((page("3").out.lines().count(), page("6").out.lines().count()), (3, 6));
    assert_eq!((page("6").err.as_str(), page("7").err.as_str()), ("", ""));
}

/// Where every second interval is empty, that step was taken for the interval; and the edges of a period were left out.
#[test]
fn a_chart_of_time_tells_of_each_empty_interval() {
    let folder = folder();
    let event = |n| format!("{{\"@t\":\"2024-05-29T10:{:02}:00Z\"}}\n", 10 + 2 * n);
    let input: String = (0..5).map(event).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], input.as_bytes()).well();
    let query = "select count(*) as n from stream group by time(1m)";
    let period = ["--from", "2024-05-29T10:00:00Z", "--to", "2024-05-29T10:21:00Z"];
    let chart =
        tool(folder.path(), &[&["query", "s", query, "--format", "chart"][..], &period].concat()).well().out;
    let lines: Vec<&str> = chart.lines().collect();
    assert_eq!(
        (lines[1], lines[3]),
        ("⋮ 10 intervals without events", "⋮ 1 interval without events"),
        "{chart}"
    );
    assert_eq!((lines.len(), *lines.last().unwrap()), (12, "⋮ 2 intervals without events"), "{chart}");
}

/// They page as other commands do, and refused the option.
#[test]
fn info_and_keys_take_no_pager() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(5, 6)).well();
    for command in ["info", "keys"] {
        let arguments = [&[command, "s"][..], &[command, "s", "--no-pager"]];
        let [plain, unpaged] = arguments.map(|arguments| tool(folder.path(), arguments).well().out);
        assert_eq!(plain, unpaged);
    }
}
