//! What may mislead about an answer is told: where it is not, `delete` takes everything.

use std::path::Path;

use crate::tool::{folder, tool, tool_with_input};

/// Stores these events, a line each, twice: as they come, and sealed.
fn stored(folder: &Path, events: &[&str]) {
    let lines = events.join("\n") + "\n";
    for store in ["log", "sealed"] {
        tool_with_input(folder, &["ingest", store, "-"], lines.as_bytes()).well();
    }
    tool(folder, &["seal", "sealed"]).well();
}

/// What a query is warned of, the same of events in the log and of sealed ones.
#[track_caller]
fn warned(folder: &Path, query: &str) -> String {
    let [log, sealed] = ["log", "sealed"].map(|store| tool(folder, &["query", store, query]).well().err);
    assert_eq!(log, sealed, "{query}");
    log
}

#[track_caller]
fn check(folder: &Path, condition: &str, warning: &str) {
    let err = warned(folder, &format!("select count(*) from stream where {condition}"));
    let expected = if warning.is_empty() { String::new() } else { format!("warning: {warning}\n") };
    assert_eq!(err, expected, "{condition}");
}

/// A deletion by such a condition is refused.
#[track_caller]
fn refused(folder: &Path, condition: &str) {
    for store in ["log", "sealed"] {
        let run = tool(folder, &["delete", store, "--where", condition]).with(2);
        assert!(run.err.contains("nothing was deleted"), "{condition}: {}", run.err);
        assert!(run.err.contains("warning: "), "{condition}: {}", run.err);
    }
}

/// `delete --where "@Level <> 'Information'"` erased a store of `info` and `warn` without a word.
#[test]
fn excluded_levels_of_another_vocabulary_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    stored(
        folder,
        &[r#"{"@t":"2026-11-23T20:00:00Z","@l":"info"}"#, r#"{"@t":"2026-11-23T20:00:01Z","@l":"warn"}"#],
    );
    let unknown = |level: &str| {
        format!("no event that was read has the level '{level}'; their levels are 'info', 'warn'")
    };
    check(folder, "@Level <> 'Information'", &unknown("Information"));
    check(folder, "@Level <> 'Warning'", &unknown("Warning"));
    check(folder, "@Level <> 'inof'", &unknown("inof"));
    check(folder, "@Level <> 'info'", "");
    check(folder, "@Level not in ['info', 'error']", "");
    check(folder, "@Level <> 'notice'", "");
    for condition in [
        "@Level <> 'Information'",
        "not (@Level = 'Information')",
        "@Level not in ['Information', 'Warning', 'Debug', 'Fatal', 'Verbose']",
        "@Level not in ['info', 'Warning']",
        "@Level <> 'inof'",
    ] {
        refused(folder, condition);
    }
}

/// `not (a - b > 5)` is true of every event where `b` is a text.
#[test]
fn arithmetic_on_numbers_in_text_is_warned_of() {
    let folder = folder();
    let folder = folder.path();
    stored(
        folder,
        &[
            r#"{"@t":"2026-11-23T20:00:00Z","a":10,"b":"7","from":"2026-11-23T20:00:00Z","to":"2026-11-23T20:00:01Z"}"#,
        ],
    );
    let expected = "`b` is never a number, so `a - b` is undefined for every event; `ToNumber(b)` reads numbers in text, and \
                    `DateTime(b)` times";
    check(folder, "a - b > 5", expected);
    check(folder, "not (a - b > 5)", expected);
    let expected =
        "`b` is never a number, so `a * b` is undefined for every event; `ToNumber(b)` reads numbers in text";
    check(folder, "a * b > 5", expected);
    let expected = |sign: &str, is: &str| {
        format!(
            "`a` and `b` are never of one kind, so `a {sign} b` is {is}; `ToNumber(b)` reads numbers in text"
        )
    };
    check(folder, "not (a > b)", &expected(">", "undefined for every event"));
    check(folder, "a <> b", &expected("<>", "never false"));
    check(folder, "a = b", &expected("=", "never true"));
    check(folder, "a = a and b = b and a > ToNumber(b)", "");
    check(folder, "a - ToNumber(b) > 5", "");
    check(folder, "a - a > 5", "");
    let err = warned(folder, "select to - a from stream");
    assert!(err.contains("`DateTime(to)` times"), "{err}");
    refused(folder, "not (a - b > 5)");
}

/// Docker writes JSON in a text: `log.level` was undefined without a word.
#[test]
fn members_of_texts_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    stored(
        folder,
        &[
            r#"{"@t":"2026-11-23T20:00:00Z","@mt":"x","log":"{\"level\":\"error\"}","ok":1,"ship":{"city":"Athens"},"tags":["a"]}"#,
        ],
    );
    let within = |path: &str, meant: &str| {
        format!(
            "`log` is never an object or array, so `{path}` is undefined for every event; if it holds JSON as text, `{meant}` reads it"
        )
    };
    check(folder, "log.level = 'error'", &within("log.level", "FromJson(log).level"));
    check(folder, "not (log.level = 'error')", &within("log.level", "FromJson(log).level"));
    check(folder, "log['level'] = 'error'", &within("log['level']", "FromJson(log)['level']"));
    check(folder, "log[0] = 'error'", &within("log[0]", "FromJson(log)[0]"));
    check(
        folder,
        "ok[?] = 'error'",
        "`ok` is never an object or array, so `ok[?]` is undefined for every event; its values are numbers",
    );
    for condition in
        ["FromJson(log).level = 'error'", "ship.city = 'Athens'", "tags[0] = 'a'", "tags[?] = 'a'"]
    {
        check(folder, condition, "");
    }
    refused(folder, "not (log.level = 'error')");
}

/// In a store without any level every event is an information: `@Level <> 'Error'` is true of all.
#[test]
fn levels_of_events_that_have_none_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    stored(folder, &[r#"{"time":"2026-11-23T20:00:00Z","msg":"x"}"#]);
    let expected = "no event that was read has a level (`@l`), so `@Level` is 'Information' for each; compare the key that tells how \
                    bad an event is";
    for condition in
        ["@Level = 'Error'", "@Level = 'ERROR'", "@Level <> 'Error'", "@Level in ['Error', 'Fatal']"]
    {
        check(folder, condition, expected);
    }
    refused(folder, "@Level <> 'Error'");
    let with_key = tempfile::tempdir().unwrap();
    stored(with_key.path(), &[r#"{"time":"2026-11-23T20:00:00Z","level":"error"}"#]);
    let err = warned(with_key.path(), "select count(*) from stream where @Level = 'Error'");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("did you mean `level`?"), "{err}");
    // CLEF leaves out the usual level.
    let clef = tempfile::tempdir().unwrap();
    stored(clef.path(), &[r#"{"@t":"2026-11-23T20:00:00Z","@mt":"x"}"#]);
    check(clef.path(), "@Level = 'Error'", "");
    // Its events may have messages instead of templates.
    let rendered = tempfile::tempdir().unwrap();
    stored(rendered.path(), &[r#"{"@t":"2026-11-23T20:00:00Z","@m":"x"}"#]);
    check(rendered.path(), "@Level = 'Error'", "");
}

/// `null = null` is true.
#[test]
fn keys_that_are_both_null_are_of_one_kind() {
    let folder = folder();
    let folder = folder.path();
    stored(
        folder,
        &[
            r#"{"@t":"2026-11-23T20:00:00Z","p":null,"q":null}"#,
            r#"{"@t":"2026-11-23T20:00:01Z","p":"x"}"#,
            r#"{"@t":"2026-11-23T20:00:02Z","q":1}"#,
        ],
    );
    check(folder, "p = q", "");
    check(folder, "p <> q", "");
    let expected = "`p` and `q` are never of one kind, so `p < q` is undefined for every event; `ToNumber(p)` reads numbers in text";
    check(folder, "p < q", expected);
}

/// Whatever began with another level was taken for that one, and `delete` refused.
#[test]
fn levels_that_only_begin_alike_are_others() {
    for (levels, level) in [
        (["DEBUG", "DEBUG1"], "DEBUG"),
        (["Request", "RequestResponse"], "Request"),
        (["P1", "P10"], "P1"),
        (["Warning", "warnings-off"], "Warning"),
    ] {
        let folder = folder();
        let events = levels.map(|level| format!(r#"{{"@t":"2026-11-23T20:00:00Z","@l":"{level}"}}"#));
        stored(folder.path(), &events.each_ref().map(String::as_str));
        check(folder.path(), &format!("@Level = '{level}'"), "");
        tool(folder.path(), &["delete", "log", "--where", &format!("@Level <> '{level}'")]).well();
    }
    for [level, other] in
        [["info", "Information"], ["WARN", "Warning"], ["Fatal", "critical"], ["trace", "Verbose"]]
    {
        let folder = folder();
        let events = [level, other].map(|level| format!(r#"{{"@t":"2026-11-23T20:00:00Z","@l":"{level}"}}"#));
        stored(folder.path(), &events.each_ref().map(String::as_str));
        let expected = format!(
            "events have the level '{level}' as '{other}' too; `@Level in ['{level}', '{other}']` has all of them"
        );
        check(folder.path(), &format!("@Level = '{level}'"), &expected);
    }
}

/// The condition that was suggested could not be read.
#[test]
fn quotes_in_levels_are_doubled() {
    let folder = folder();
    let folder = folder.path();
    let event = |level: &str| format!(r#"{{"@t":"2026-11-23T20:00:00Z","@l":"{level}"}}"#);
    stored(folder, &["o'hara", "O'Hara"].map(event).each_ref().map(String::as_str));
    let suggested = "@Level in ['o''hara', 'O''Hara']";
    let expected = format!("events have the level 'o''hara' as 'O''Hara' too; `{suggested}` has all of them");
    check(folder, "@Level = 'o''hara'", &expected);
    check(folder, suggested, "");
}

/// A level in four spellings was counted in one.
#[test]
fn other_spellings_of_a_level_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    let event = |level: &str| format!(r#"{{"@t":"2026-11-23T20:00:00Z","@l":"{level}"}}"#);
    let events = ["Error", "error", "err", "ERROR", "Warning"].map(event);
    stored(folder, &events.each_ref().map(String::as_str));
    let expected = "events have the level 'Error' as 'ERROR', 'err', 'error' too; \
                    `@Level in ['Error', 'ERROR', 'err', 'error']` has all of them";
    check(folder, "@Level = 'Error'", expected);
    check(folder, "@Level <> 'Error'", expected);
    check(
        folder,
        "@Level = 'Error' ci",
        "events have the level 'Error' as 'err' too; `@Level in ['Error', 'err'] ci` has all of them",
    );
    check(folder, "@Level in ['Error', 'ERROR', 'err', 'error']", "");
    check(folder, "@Level = 'Warning'", "");
    refused(folder, "@Level <> 'Error'");
}

/// A single `-` among numbers in text switched the warning off, and sorting by them was never warned of.
#[test]
fn ranked_numbers_in_text_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    stored(
        folder,
        &[
            r#"{"@t":"2026-11-23T20:00:00Z","u":"98","name":"b","id":"12"}"#,
            r#"{"@t":"2026-11-23T20:00:01Z","u":"353","name":"a","id":"13"}"#,
            r#"{"@t":"2026-11-23T20:00:02Z","u":"-","name":"7","id":"14"}"#,
        ],
    );
    let ranked = "warning: `max(u)` ranks texts, in which '10' comes before '9', and `u` has numbers in text; `max(ToNumber(u))` reads \
                  numbers in text\n";
    let sorted = "warning: rows are sorted by texts, in which '10' comes before '9', and `u` has numbers in text; \
                  select `ToNumber(u) as x`, and `order by x`\n";
    for (query, expected) in [
        ("select max(u) from stream", ranked),
        ("select max(u) from stream where u <> '-'", ranked),
        ("select u from stream order by u desc limit 1", sorted),
        ("select count(*) from stream group by u order by u", sorted),
        ("select max(name) from stream", ""),
        ("select name from stream order by name", ""),
        ("select id from stream order by id", ""),
        ("select max(id), min(id) from stream", ""),
        ("select u, ToNumber(u) as x from stream order by x", ""),
    ] {
        assert_eq!(warned(folder, query), expected, "{query}");
    }
    // Of so many texts nothing is listed in advance: the answer shows what they are.
    let many = tempfile::tempdir().unwrap();
    let event = |n: u32| format!(r#"{{"@t":"2026-11-23T20:00:00Z","u":"{n}","id":"{}"}}"#, 1000 + n);
    let events: Vec<String> = (1..500).map(event).collect();
    stored(many.path(), &events.iter().map(String::as_str).collect::<Vec<_>>());
    for (query, expected) in [
        ("select max(u) from stream", ranked),
        ("select u from stream order by u desc limit 1", sorted),
        ("select u from stream order by u", sorted),
        ("select id from stream order by id", ""),
    ] {
        assert_eq!(warned(many.path(), query), expected, "{query}");
    }
}

/// `query` told that a period begins after the latest event; `tail` and `export` were silent.
#[test]
fn tail_and_export_tell_of_a_period_behind_all_events() {
    let folder = folder();
    let folder = folder.path();
    stored(folder, &[r#"{"@t":"2024-05-29T10:56:01Z","N":1}"#]);
    for command in ["query", "tail", "export", "search"] {
        let text = match command {
            "query" => "select N from stream",
            "search" => "x",
            _ => "N = 1",
        };
        let arguments: &[&str] = match command {
            "export" => &[command, "log", "--where", text, "--since", "1h"],
            _ => &[command, "log", text, "--since", "1h"],
        };
        let run = tool(folder, arguments).well();
        let expected = "note: the period begins after the latest event, which is of 2024-05-29T10:56:01Z\n";
        assert_eq!((run.out.as_str(), run.err.as_str()), ("", expected), "{command}");
    }
}

/// The warning showed the parenthesis that `tail` and `search` put behind a condition.
#[test]
fn a_condition_is_warned_of_as_it_is_written() {
    let folder = folder();
    let folder = folder.path();
    stored(folder, &[r#"{"@t":"2024-05-29T10:56:01Z","@m":"x","N":1}"#]);
    for arguments in [&["tail", "log", "not N = 1"][..], &["search", "log", "x", "--condition", "not N = 1"]]
    {
        let run = tool(folder, arguments).well();
        let expected = "warning: `not N = 1` is read as `(not N) = 1`; write `not (N = 1)`\n";
        assert_eq!((run.out.as_str(), run.err.as_str()), ("", expected), "{arguments:?}");
    }
}

/// `tail logs error` asked for a key `error`, and `tail logs "where x > 1"` for one called `where`.
#[test]
fn a_condition_that_is_none_is_told_of() {
    let folder = folder();
    let folder = folder.path();
    stored(folder, &[r#"{"@t":"2024-05-29T10:56:01Z","@m":"error","N":1}"#]);
    for command in [&["tail", "log"][..], &["export", "log", "--where"]] {
        let asked = |condition| tool(folder, &[command, &[condition]].concat());
        let run = asked("error").well();
        let expected = "warning: no event that was read has a key `error`; names of keys are case-sensitive\n\
                        to look for the text: benchtool search log error\n";
        assert_eq!(run.err, expected, "{command:?}");
        let run = asked("where N > 1").with(3);
        assert!(run.err.contains("leave that word out"), "{command:?}: {}", run.err);
    }
    let run = tool(folder, &["delete", "log", "--where", "WHERE N > 1"]).with(3);
    assert!(run.err.contains("leave that word out"), "{}", run.err);
}

/// To leave the word out was the remedy of a key called `where` too; and a store with a blank in its name was suggested without quotes.
#[test]
fn a_key_called_where_and_a_store_with_a_blank_are_understood() {
    let folder = folder();
    let folder = folder.path();
    let event = b"{\"@t\":\"2024-05-29T10:56:01Z\",\"@m\":\"x\",\"where\":\"here\"}";
    tool_with_input(folder, &["ingest", "my log", "-"], event).well();
    for condition in ["where = 'here'", "where like 'h%'"] {
        let run = tool(folder, &["tail", "my log", condition]).with(3);
        assert!(run.err.contains("a property of that name is @Properties['where']"), "{}", run.err);
    }
    let found = tool(folder, &["tail", "my log", "@Properties['where'] = 'here'"]).well().out;
    assert_eq!(found.lines().count(), 1);
    let run = tool(folder, &["tail", "my log", "error"]).well();
    assert!(run.err.contains("benchtool search 'my log' error\n"), "{}", run.err);
}

/// The keys `pod` and `app` were warned of, and a colon had no remedy.
#[test]
fn names_with_slashes_and_colons_are_told() {
    let folder = folder();
    let folder = folder.path();
    stored(
        folder,
        &[
            r#"{"@t":"2024-05-29T10:56:01Z","client:port":"1:2","labels":{"k8s-pod/app":"web"},"annotations":{"authorization.k8s.io/decision":"allow"},"k8s-pod/app":"x"}"#,
        ],
    );
    for (written, meant) in [
        ("labels.k8s-pod/app", "labels['k8s-pod/app']"),
        ("annotations.authorization.k8s.io/decision", "annotations['authorization.k8s.io/decision']"),
    ] {
        check(
            folder,
            &format!("{written} = 'x'"),
            &format!("`{written}` was read as arithmetic; for the key of this name write `{meant}`"),
        );
        check(folder, &format!("{meant} = 'x'"), "");
    }
    check(
        folder,
        "k8s-pod/app = 'x'",
        "`k8s-pod/app` was read as arithmetic; for the key of this name write `@Properties['k8s-pod/app']`",
    );
    let run = tool(folder, &["query", "log", "select client:port from stream"]).with(3);
    assert!(run.err.contains("@Properties['client:port']"), "{}", run.err);
    // Elsewhere that is a comparison.
    for (written, told) in [
        (
            "level:error",
            "a comparison is written `level = 'error'`; a key called `level:error` is @Properties['level:error']",
        ),
        ("host:10.0.0.1", "a comparison is written `host = '10.0.0.1'`; a key called `host:10.0.0.1` is"),
        ("@Level:Error", "a comparison is written `@Level = 'Error'`; a key called `@Level:Error` is"),
        ("status:500", "a comparison is written `status = 500`; a key called `status:500` is"),
    ] {
        let run = tool(folder, &["query", "log", &format!("select * from stream where {written}")]).with(3);
        assert!(run.err.contains(told), "{written}: {}", run.err);
    }
    let run = tool(folder, &["query", "log", "select a::int from stream"]).with(3);
    assert!(!run.err.contains("Properties"), "{}", run.err);
    assert_eq!(
        tool(folder, &["query", "log", "select @Properties['client:port'] from stream"]).well().err,
        ""
    );
}

/// `@Level` was suggested for a key `level` where no event has a level.
#[test]
fn a_builtin_is_suggested_only_where_events_have_it() {
    let folder = folder();
    let folder = folder.path();
    stored(folder, &[r#"{"@t":"2024-05-29T10:56:01Z","log":"x"}"#]);
    let expected = "no event that was read has a key `level`; names of keys are case-sensitive";
    check(folder, "level = 'error'", expected);
    let with = tempfile::tempdir().unwrap();
    stored(with.path(), &[r#"{"@t":"2024-05-29T10:56:01Z","@l":"Error"}"#]);
    let expected = "no event that was read has a key `level`; did you mean `@Level`?";
    check(with.path(), "level = 'Error'", expected);
}

/// Only `@Level` was suggested for `@level`, which is the level of no event there.
#[test]
fn a_key_called_as_a_builtin_is_told_how_to_write() {
    let folder = folder();
    let folder = folder.path();
    stored(folder, &[r#"{"@timestamp":"2024-05-29T10:56:01Z","@level":"error","@message":"x"}"#]);
    let run = tool(folder, &["query", "log", "select count(*) from stream where @level = 'error'"]).with(3);
    assert!(run.err.contains("@Properties['@level']"), "{}", run.err);
    assert!(run.err.contains("did you mean `@Level`?"), "{}", run.err);
}

/// `level <> 'Error'` was true of every event of a store that has `error`, and `delete` took all of them.
#[test]
fn texts_that_values_spell_otherwise_are_warned_of() {
    let folder = folder();
    let folder = folder.path();
    let event = |level: &str, severity: &str| {
        format!(
            r#"{{"@t":"2026-11-23T20:00:00Z","level":"{level}","Severity":"{severity}","log.level":"{level}"}}"#
        )
    };
    let events = [event("error", "INFO"), event("warn", "ERR"), event("info", "Err")];
    stored(folder, &events.each_ref().map(String::as_str));
    for operator in ["=", "<>"] {
        check(
            folder,
            &format!("level {operator} 'Error'"),
            "no `level` is 'Error', but some are 'error'; write that, or write `ci` after the comparison",
        );
        check(
            folder,
            &format!("'info' {operator} Severity"),
            "no `Severity` is 'info', but some are 'INFO'; write that, or write `ci` after the comparison",
        );
        check(
            folder,
            &format!("Severity {operator} 'Error'"),
            "no `Severity` is 'Error', but some are 'ERR', 'Err'; `Severity in ['ERR', 'Err']` has all of them",
        );
        check(
            folder,
            &format!("log.level {operator} 'Warning'"),
            "no `log.level` is 'Warning', but some are 'warn'; write that",
        );
    }
    check(
        folder,
        "level not in ['Warn', 'info']",
        "no `level` is 'Warn', but some are 'warn'; write that, or write `ci` after the comparison",
    );
    for condition in [
        "level = 'error'",
        "level = 'Error' ci",
        "level in ['Error', 'error']",
        "level = 'Error' or level = 'error'",
        "level <> 'notice'",
    ] {
        check(folder, condition, "");
    }
    for condition in
        ["level <> 'Error'", "Severity <> 'info'", "not (level in ['ERROR'])", "log.level <> 'Info'"]
    {
        refused(folder, condition);
    }
    // A nested key of that name is another one.
    let nested = tempfile::tempdir().unwrap();
    stored(nested.path(), &[r#"{"@t":"2026-11-23T20:00:00Z","log":{"level":"error"},"level":"x"}"#]);
    check(nested.path(), "level <> 'Error'", "");
    // Where a key has more texts than are listed, nobody can tell.
    let many = tempfile::tempdir().unwrap();
    let events: Vec<String> = (0..100).map(|n| event(&format!("error{n}"), "INFO")).collect();
    stored(many.path(), &events.iter().map(String::as_str).collect::<Vec<_>>());
    check(many.path(), "level = 'ERROR7'", "");
}
