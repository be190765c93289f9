//! What people see: golden screens of a pseudo-terminal, 80 and 160 columns wide.

use std::fs;
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;

use rexpect::session::spawn_command;

use crate::cookbook::without_times;
use crate::terminal::{Terminal, lines};
use crate::tool::{folder, tool_with_input};

/// Events as they come, unkind ones among them.
const EVENTS: &str = r#"{"@t":"2024-05-29T10:56:01.1234567Z","@mt":"HTTP {Method} {Path} responded {Status} in {Elapsed:0.0} ms","Method":"GET","Path":"/api/customers?page=225&sort=name&filter=none","Status":200,"Elapsed":61.0921,"SourceContext":"Shop.Web"}
{"@t":"2024-05-29T10:56:02Z","@l":"Warning","@m":"Cart of Renée Dupont is empty","Cart":{"Items":[],"Owner":{"Name":"Renée","Id":4711}},"Elapsed":1808}
{"@t":"2024-05-29T10:56:03.5Z","@l":"Error","@m":"Boom","@x":"System.Exception: boom\n   at Shop.Cart.Pay()\n   at Shop.Main()","SourceContext":"Shop.Cart"}
{"@t":"2024-05-29T10:56:04Z","@l":"\u001b[2Jevil","@m":"clear \u001b[2J screen \u001b]0;title\u0007 and turn \u202e back \u2066 \u009b31m","Key\u001b[31m":"\u007f"}
{"@t":"2024-05-29T10:56:05Z","@l":"Debug","@m":"日本語のメッセージ、とても長いので端末の幅に収まりません。それでも表は崩れません。","N":1}
"#;

/// What a terminal gets of a command; an escape is `␛`.
fn screen(folder: &Path, columns: u16, lines: u16, pager: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("stty cols {columns} rows {lines} && exec \"$0\" \"$@\""));
    command.arg(env!("CARGO_BIN_EXE_benchtool")).args(arguments).current_dir(folder);
    command.env("TERM", "xterm").env_remove("NO_COLOR").env("PAGER", pager);
    let mut session = spawn_command(command, Some(20_000)).unwrap();
    // It reads each byte as a character.
    let bytes = session.exp_eof().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n").replace('\u{1b}', "␛")
}

/// Compares with the screens that are kept. To write what they are now: TAMIAS_SCREENS=write cargo test -p benchtool screens
#[track_caller]
fn check(name: &str, arguments: &[&str]) {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS.as_bytes()).well();
    for columns in [80, 160] {
        let seen = screen(folder.path(), columns, 60, "cat", arguments);
        let is_unsafe = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{2066}'));
        assert!(!seen.contains(is_unsafe), "{seen:?}");
        // Colours are the only escapes.
        let is_color = |rest: &str| {
            rest.split_once('m').is_some_and(|(color, _)| {
                color.starts_with('[') && color.chars().all(|c| matches!(c, '[' | ';') || c.is_ascii_digit())
            })
        };
        assert!(seen.split('␛').skip(1).all(is_color), "{seen}");
        compare(name, columns, &seen);
    }
}

#[track_caller]
fn compare(name: &str, columns: u16, seen: &str) {
    let screens = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/screens");
    let kept = screens.join(format!("{name}-{columns}.txt"));
    if std::env::var_os("TAMIAS_SCREENS").is_some_and(|what| what == "write") {
        fs::write(&kept, seen).unwrap();
    }
    assert_eq!(seen, fs::read_to_string(&kept).unwrap_or_default(), "{}", kept.display());
}

#[test]
fn events_are_lines_of_a_log() {
    check("log", &["query", "s", "select * from stream"]);
}

#[test]
fn an_event_is_shown_a_key_a_line() {
    check("vertical", &["query", "s", "select * from stream", "--format", "vertical"]);
}

#[test]
fn tables_fit_the_screen_and_keep_times_whole() {
    check("table", &["query", "s", "select @Timestamp, @Level, @Message, Cart, Elapsed from stream"]);
}

/// Only instants of the store were kept whole.
#[test]
fn times_that_are_texts_are_kept_whole() {
    let folder = folder();
    let event = r#"{"@t":"2024-05-29T10:56:01Z","type":"PullRequestReviewEvent","login":"somebody-with-a-name","repo":"owner/repository-of-it","created_at":"2024-05-29T10:56:01Z"}"#;
    tool_with_input(folder.path(), &["ingest", "s", "-"], event.as_bytes()).well();
    for columns in [80, 160] {
        let query = "select type, login, repo, created_at from stream";
        let seen = screen(folder.path(), columns, 60, "cat", &["query", "s", query]);
        assert!(seen.contains(" 2024-05-29T10:56:01Z "), "{seen}");
        compare("times", columns, &seen);
    }
}

#[test]
fn messages_of_tracing_are_shown_as_such() {
    let folder = folder();
    let event = r#"{"timestamp":"2024-05-29T10:56:01Z","level":"ERROR","fields":{"message":"database is down","code":5},"target":"shop"}"#;
    tool_with_input(folder.path(), &["ingest", "s", "-"], event.as_bytes()).well();
    let seen = screen(folder.path(), 80, 60, "cat", &["query", "s", "select * from stream"]);
    assert!(seen.contains("database is down ") && seen.contains("fields.code="), "{seen}");
    compare("tracing", 80, &seen);
}

#[test]
fn tables_that_cannot_fit_are_written_a_key_a_line() {
    let query = "select @Timestamp, @Id, @Level, @Message, @Exception, Cart, Elapsed, Path, SourceContext \
                 from stream";
    check("wide", &["query", "s", query]);
}

#[test]
fn ndjson_on_a_terminal_commands_nothing() {
    check("ndjson", &["query", "s", "select @Data from stream", "--format", "ndjson"]);
}

#[test]
fn raw_text_on_a_terminal_commands_nothing() {
    check("raw", &["query", "s", "select @Message from stream", "--format", "raw"]);
}

#[test]
fn what_the_keys_are_commands_nothing() {
    check("keys", &["keys", "s"]);
}

#[test]
fn what_a_store_holds_fits_the_screen() {
    check("info", &["info", "s"]);
}

#[test]
fn the_tail_is_lines_of_a_log() {
    check("tail", &["tail", "s", "-n", "2", "@Level <> 'Debug'"]);
}

const RENEE: &str = "08dc7fcdee220d000000000000000001";

#[test]
fn what_is_found_is_lines_of_a_log() {
    check("search", &["search", "s", "Shop"]);
}

#[test]
fn that_nothing_is_found_is_told() {
    check("search-none", &["search", "s", "Shop", "--from", "2025-01-01"]);
    check("tail-none", &["tail", "s", "Elapsed > 99999"]);
    check("query-none", &["query", "s", "select * from stream where @Level = 'error' and elapsed > 3"]);
}

#[test]
fn an_event_and_those_around_it_fit_the_screen() {
    check("get", &["get", "s", RENEE]);
    check("around", &["around", "s", RENEE, "-B", "1", "-A", "1"]);
}

#[test]
fn charts_fit_the_screen() {
    check(
        "chart",
        &["query", "s", "select count(*) as n from stream group by time(1s)", "--format", "chart"],
    );
}

/// Each column was a chart with a scale of its own.
#[test]
fn several_columns_over_time_are_lines_on_one_scale() {
    let folder = folder();
    // Two hours with some minutes without events.
    let minutes = (0..120u32).filter(|minute| !(50..60).contains(minute));
    let event = |minute: u32, more: u32| {
        let (n, wave) = (minute * 37 % 23, minute.abs_diff(40).min(minute.abs_diff(90)));
        let (hour, minute) = (10 + minute / 60, minute % 60);
        format!("{{\"@t\":\"2024-05-29T{hour:02}:{minute:02}:00Z\",\"N\":{}}}\n", 20 + n + (3 + more) * wave)
    };
    let input: String = minutes.flat_map(|minute| [event(minute, 0), event(minute, 3)]).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], input.as_bytes()).well();
    let query =
        "select min(N) as least, percentile(N, 50) as p50, max(N) as most from stream group by time(5m)";
    for columns in [80, 160] {
        let seen = screen(folder.path(), columns, 60, "cat", &["query", "s", query, "--format", "chart"]);
        compare("lines", columns, &seen);
    }
}

#[test]
fn a_malformed_query_is_shown_with_its_place() {
    check("error", &["query", "s", "select @Message, avg(Elapsed) from stream where @Level = 'Warning'"]);
}

#[test]
fn the_shell_fits_the_screen() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS.as_bytes()).well();
    for columns in [80, 160] {
        let mut terminal =
            Terminal::run(folder.path(), NonZeroU16::new(columns).unwrap(), "benchtool shell s");
        // The prompt, a line, and something that its answer ends with.
        for (prompt, line, answer) in [
            ("tamias> ", "select @Timestamp, @Level, @Message, Elapsed", ""),
            ("…> ", "from stream", " read"),
            ("tamias> ", "select Elapsed, elapsed from stream where N = 1", " read"),
            ("tamias> ", "select @Message from stream where", ""),
            ("…> ", "", "expected an expression"),
            ("tamias> ", ".mode vertical", ""),
            ("tamias> ", "select * from stream limit 1", " read"),
            ("tamias> ", ".dance", ".help lists"),
        ] {
            terminal.wait_for(prompt);
            terminal.type_line(line);
            terminal.wait_for(answer);
        }
        terminal.wait_for("tamias> ");
        terminal.type_line(".exit");
        let timed = |line: &str| match line.split_once(" in ") {
            Some((rows, _)) if rows.ends_with("row") || rows.ends_with("rows") => format!("{rows} in #\n"),
            _ => format!("{line}\n"),
        };
        let seen: String = lines(&terminal.end()).iter().map(|line| timed(line)).collect();
        compare("shell", columns, &seen);
    }
}

/// Messages of some thousand characters filled screens.
#[test]
fn a_long_message_is_cut_on_a_terminal() {
    let folder = folder();
    let event = format!("{{\"@t\":\"2024-05-29T10:56:01Z\",\"@m\":\"{}\"}}\n", "word ".repeat(1000));
    tool_with_input(folder.path(), &["ingest", "s", "-"], event.as_bytes()).well();
    let seen = screen(folder.path(), 80, 60, "cat", &["query", "s", "select * from stream"]);
    assert!(seen.lines().count() <= 16 && seen.contains("(--format vertical shows all)"), "{seen}");
    let vertical = ["query", "s", "select * from stream", "--format", "vertical"];
    assert_eq!(screen(folder.path(), 80, 60, "cat", &vertical).matches("word").count(), 1000);
}

#[test]
fn labels_of_a_chart_are_aligned() {
    let folder = folder();
    let event = |n: i32, level: &str| {
        format!("{{\"@t\":\"2024-05-29T1{}:56:01Z\",\"@l\":\"{level}\",\"N\":{n}}}\n", n.abs())
    };
    let events = [event(1, "Information"), event(2, "Error"), event(-3, "Error")].concat();
    tool_with_input(folder.path(), &["ingest", "s", "-"], events.as_bytes()).well();
    let query = "select sum(N) as n from stream group by @Level, time(1h)";
    let seen = screen(folder.path(), 80, 60, "cat", &["query", "s", query, "--format", "chart"]);
    let at: Vec<Option<usize>> = seen.lines().skip(1).map(|line| line.find("2024-05-29T1")).collect();
    assert_eq!(at, [Some(13); 3], "{seen}");
    assert!(seen.starts_with("n (values below zero have no bar)\n"), "{seen}");
}

/// The table was wider than the terminal, and each of its lines was broken.
#[test]
fn the_results_of_a_benchmark_fit_the_screen() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS.as_bytes()).well();
    let query =
        "select count(*) as n, max(Elapsed) as slowest from stream where Elapsed > 10 group by @Level";
    fs::write(folder.path().join("cases"), format!("{query}\n{query} limit 1\n")).unwrap();
    for columns in [80, 160] {
        let seen =
            screen(folder.path(), columns, 60, "cat", &["bench", "--cases", "cases", "--runs", "2", "s"]);
        let table: Vec<&str> = seen.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.len(), 4, "{seen}");
        assert!(table.iter().all(|line| line.chars().count() <= columns.into()), "{seen}");
        assert!(table[2].contains("select c"), "{seen}");
    }
}

#[test]
fn deleting_exporting_and_scrubbing_fit_the_screen() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], EVENTS.as_bytes()).well();
    let mut seen = String::new();
    for arguments in [
        &["receipts", "s", "--check"][..],
        &["settings", "s", "--max-age", "90d", "--max-bytes", "20GB", "--dry-run"],
        &["delete", "s", "--where", "Elapsed > 1000", "--dry-run"],
        &["delete", "s", "--where", "Elapsed > 1000"],
        &["delete", "s"],
        &["receipts", "s", "--check"],
        &["info", "s", "--history"],
        &["scrub", "s"],
        &["export", "s", "--ids", "--where", "N = 1"],
        &["ingest", "s", "--keep-ids", "-"],
    ] {
        seen += &format!("$ benchtool {}\n", arguments.join(" "));
        seen += &screen(folder.path(), 80, 60, "cat", arguments);
    }
    // Times, and what files take.
    let seen = without_times(&seen);
    compare("keeping", 80, &seen);
}

#[test]
fn a_query_that_says_no_limit_shows_the_latest_rows_and_says_so() {
    let folder = folder();
    let event = |n| format!("{{\"@t\":\"2024-05-29T10:{:02}:{:02}Z\",\"N\":{n}}}\n", n / 60, n % 60);
    let events: String = (0..1500).map(event).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], events.as_bytes()).well();
    let query = |query: &str| {
        screen(folder.path(), 80, 24, "cat", &["query", "s", query, "--format", "csv", "--no-pager"])
    };
    let all = query("select N from stream");
    assert!(all.starts_with("N\n500\n501\n"), "{all}");
    assert!(all.contains("\n1499\nshowing only the latest 1000 rows;"), "{all}");
    assert_eq!(query("select N from stream where true").lines().count(), 1501);
    assert_eq!(query("select N from stream limit 1400").lines().count(), 1401);
    assert_eq!(query("select count(*) as n from stream"), "n\n1500\n");
    // Where a pager has the screen it is told there, and once more when it has ended.
    let arguments = ["query", "s", "select N from stream", "--format", "csv"];
    let paged = screen(folder.path(), 80, 24, "sed s/^/paged:/", &arguments);
    let told = "showing only the latest 1000 rows; add a condition, a limit or --since to see others\n";
    assert!(paged.starts_with(&format!("paged:{told}paged:N\npaged:500\n")), "{paged}");
    assert!(paged.contains("\npaged:1499\nshowing only the latest 1000 rows;"), "{paged}");
}

/// Who asked for two events was told to add a condition or a limit.
#[test]
fn nothing_is_told_of_what_was_left_out_on_demand() {
    let folder = folder();
    let event = |n: u32| format!("{{\"@t\":\"2024-05-29T10:00:0{n}Z\",\"@m\":\"hit {n}\"}}\n");
    let events: String = (0..5).map(event).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], events.as_bytes()).well();
    let found = screen(folder.path(), 80, 24, "cat", &["search", "s", "hit", "-n", "2", "--no-pager"]);
    assert_eq!(found.lines().count(), 2, "{found}");
    assert!(found.contains("hit 3") && found.contains("hit 4"), "{found}");
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let folder = folder();
    let event = |n| format!("{{\"@t\":\"2024-05-29T10:00:{:02}Z\",\"N\":{n}}}\n", n % 60);
    let events: String = (0..100).map(event).collect();
    tool_with_input(folder.path(), &["ingest", "s", "-"], events.as_bytes()).well();
    let query = |limit: u32, more: &[&str]| {
        let query = format!("select N from stream limit {limit}");
        let arguments = [&["query", "s", &query, "--format", "csv"][..], more].concat();
        screen(folder.path(), 80, 24, "sed s/^/paged:/", &arguments)
    };
    assert!(query(100, &[]).starts_with("paged:N\npaged:"));
    assert!(query(10, &[]).starts_with("N\n"));
    assert!(query(100, &["--no-pager"]).starts_with("N\n"));
}
