//! `benchtool eval`

use crate::tool::{folder, tool, tool_with_input};

/// What `ingest` rejects got a time that no stored event can have.
#[test]
fn an_event_that_ingest_rejects_is_rejected() {
    let folder = folder();
    for event in ["{\"@t\":\"nonsense\"}", "{\"@t\":\"2024-01-01\"}"] {
        let run = tool(folder.path(), &["eval", "@Timestamp", "--event", event]).with(4);
        assert!(run.err.contains("the time in '@t' is not a time"), "{}", run.err);
    }
    let run = tool(folder.path(), &["eval", "Substring('abc', 1, 9223372036854775808)"]).well();
    assert_eq!(run.out, "\"bc\"\n");
}

#[test]
fn each_line_is_answered_by_a_line() {
    let folder = folder();
    let input = b"1 + 2\nMissing\nName\n[Elapsed, null] = [200.0, null]\n1 +\n\n$limit * 2\nTypeOf($word)\n@Level\n\xff\n'last'";
    let event = r#"{"Name":"A\u0064a","Elapsed":200}"#;
    let arguments = ["eval", "--event", event, "--param", "limit=1.5", "--param", "word=abc"];
    let run = tool_with_input(folder.path(), &arguments, input).well();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 11, "{}", run.out);
    assert_eq!(lines[..4], ["3", "undefined", "\"Ada\"", "true"]);
    assert!(lines[4].starts_with("error: line 1, column 4: "), "{}", lines[4]);
    assert!(lines[5].starts_with("error: "), "{}", lines[5]);
    assert_eq!(lines[6..9], ["3", "\"string\"", "\"Information\""]);
    assert_eq!(lines[9..], ["error: the line is not UTF-8", "\"last\""]);
    assert_eq!(run.err, "");
}

/// What was beyond some kilobytes of a line was left out without a word.
#[test]
fn long_expressions_are_read_whole_or_refused() {
    let folder = folder();
    let long = |blanks: usize| format!("1{}+ 1\n", " ".repeat(blanks));
    let input = long(200_000) + &long(1 << 20);
    let run = tool_with_input(folder.path(), &["eval"], input.as_bytes()).well();
    let (whole, refused) = run.out.split_once('\n').unwrap();
    assert_eq!(whole, "2");
    assert!(refused.starts_with("error: ") && refused.contains("1048576"), "{refused}");
}

#[test]
fn an_event_that_is_none_is_told_once() {
    let folder = folder();
    let run = tool_with_input(folder.path(), &["eval", "--event", "[1]"], b"1\n2\n").with(4);
    assert_eq!(run.out, "");
    assert!(run.err.starts_with("error: the event is not a JSON object: "), "{}", run.err);
}

#[test]
fn an_expression_may_stand_on_the_command_line() {
    let folder = folder();
    assert_eq!(tool(folder.path(), &["eval", "1 + $n", "--param", "n=2"]).well().out, "3\n");
    assert_eq!(tool(folder.path(), &["eval", "Missing"]).well().out, "undefined\n");
    let run = tool(folder.path(), &["eval", "1 +"]).with(3);
    assert!(run.err.contains("\n  1 +\n     ^"), "{}", run.err);
}
