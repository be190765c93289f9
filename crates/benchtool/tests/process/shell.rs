//! `benchtool shell`: at a terminal, and fed from a pipe.

use crate::tool::{events, folder, tool, tool_with_input};

#[test]
fn queries_from_a_pipe_are_answered_one_after_another() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
    let shell = |input: &str, options: &[&str]| {
        tool_with_input(folder.path(), &[&["shell", "s"][..], options].concat(), input.as_bytes())
    };
    let run = shell(
        "select count(*) as n\n  from stream;\n-- not the end;\nselect 'a;' as b\n\nselect 3 as c",
        &[],
    );
    let run = run.well();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("{\"n\":50}\n{\"b\":\"a;\"}\n{\"c\":3}\n", ""));
    let run =
        shell(".format csv\nselect 1 as a, 2 as b;\n.format raw\nselect 3;\n.exit\nselect 4;\n", &[]).well();
    assert_eq!(run.out, "a,b\n1,2\n3\n");
    // The first error ends it, with its exit code.
    let run = shell("select 1 as a;\nselect ;\nselect 2;\n", &[]).with(3);
    assert_eq!(run.out, "{\"a\":1}\n");
    assert!(run.err.starts_with("error: line 1, column 7: "), "{}", run.err);
    assert!(shell(".dance\n", &[]).with(2).err.contains("there is no .dance; .help"));
    assert!(shell(".format paper\n", &[]).with(2).err.contains("'paper' is not a format: auto, table, log"));
    assert!(shell(".keys\n", &[]).well().out.contains("RequestPath"));
    assert!(shell("explain select Message from stream;", &[]).well().out.contains("Message"));
    assert!(shell("explain analyze select Message from stream;", &[]).well().out.contains("50"));
    assert_eq!(shell("select count(*) as n from stream", &["--since", "1m"]).well().out, "{\"n\":0}\n");
    assert!(tool(folder.path(), &["shell", "nowhere"]).with(5).out.is_empty());
}

/// Only a semicolon at the end of a line used to end a query.
#[test]
fn several_queries_may_stand_in_a_line() {
    let folder = folder();
    tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
    let shell = |input: &str| tool_with_input(folder.path(), &["shell", "s"], input.as_bytes());
    let run =
        shell("select 1 as a; select 'x;y' as b -- c; d\n; select IsMatch('p;q', /p;q/) as c;\n").well();
    assert_eq!(run.out, "{\"a\":1}\n{\"b\":\"x;y\"}\n{\"c\":true}\n");
    let run = shell("select 1 as a; -- a comment\n").well();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("{\"a\":1}\n", ""));
    let run = shell("select 1 as a;; select 2 as; select 3 as c;").with(3);
    assert_eq!(run.out, "{\"a\":1}\n");
}

#[cfg(unix)]
mod terminal {
    use std::path::Path;
    use std::process::Command;

    use rexpect::process::WaitStatus;
    use rexpect::session::{PtySession, spawn_command};

    use super::*;

    const PATIENCE_MS: u64 = 20_000;
    const CTRL_C: char = 'c';
    /// The end of the prompt `…> `, of which each byte is read as a character.
    const CONTINUATION: &str = "\u{e2}\u{80}\u{a6}> ";

    fn start(folder: &Path) -> PtySession {
        start_with(folder, "")
    }

    fn start_with(folder: &Path, redirection: &str) -> PtySession {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec \"$0\" shell s {redirection}"));
        command.arg(env!("CARGO_BIN_EXE_benchtool")).current_dir(folder);
        command.env("HOME", folder).env("TERM", "xterm").env("PAGER", "cat").env_remove("XDG_STATE_HOME");
        let mut session = spawn_command(command, Some(PATIENCE_MS)).unwrap();
        session.exp_string("tamias> ").unwrap();
        session
    }

    #[test]
    fn somebody_asks_at_a_terminal() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
        let mut session = start(folder.path());
        session.send_line("select count(*) as n from stream;").unwrap();
        session.exp_string(" 50 ").unwrap();
        session.exp_string("1 row in ").unwrap();
        // A query of several lines; an error does not end the shell.
        session.send_line("select 6 * 7000 as").unwrap();
        session.send_line("answer;").unwrap();
        session.exp_string(" 42000 ").unwrap();
        session.send_line("select ;").unwrap();
        session.exp_string("error:").unwrap();
        session.exp_string("tamias> ").unwrap();
        // Tab completes a word of the language, and a key of the store.
        session.send("sele\t RequestPa\t from stream where false;").unwrap();
        session.send_line("").unwrap();
        session.exp_string("0 rows in ").unwrap();
        session.exp_string("tamias> ").unwrap();
        session.send_control(CTRL_C).unwrap();
        session.exp_string("(press Ctrl-D to quit)").unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
        let kept = folder.path().join(".local/state/tamias");
        let files: Vec<_> = std::fs::read_dir(&kept).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(
            files.len() == 1 && files[0].file_name().unwrap().to_str().unwrap().starts_with("history-s-")
        );
        let history = std::fs::read_to_string(&files[0]).unwrap();
        assert!(history.contains("select RequestPath from stream where false;"), "{history}");
    }

    #[test]
    fn enter_runs_what_is_complete_and_asks_for_the_rest_of_what_is_not() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
        let mut session = start(folder.path());
        session.send_line("select count(*) as n from stream").unwrap();
        session.exp_string(" 50 ").unwrap();
        session.exp_regex(r"1 row in [^,]*, [0-9.]+ k?B read").unwrap();
        // It names what events have: `from stream` has to come.
        session.send_line("select count(*) as n").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line("from stream where").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line("true").unwrap();
        session.exp_string(" 50 ").unwrap();
        session.exp_string("tamias> ").unwrap();
        // Ctrl-C leaves what is unfinished, and so does an empty line, with the error.
        session.send_line("select 'a").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_control(CTRL_C).unwrap();
        session.exp_string("tamias> ").unwrap();
        session.send_line("select (1").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line("").unwrap();
        session.exp_string("error:").unwrap();
        session.exp_string("tamias> ").unwrap();
        // A mistake that no more text can mend is told at once.
        session.send_line("select a from stream where ! b").unwrap();
        session.exp_string("error:").unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
    }

    /// `.exit` used to become part of the query.
    #[test]
    fn commands_work_in_an_incomplete_query() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 1)).well();
        let mut session = start(folder.path());
        session.send_line("select (").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line(".help").unwrap();
        session.exp_string("quit (also Ctrl-D)").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line(".mode csv").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line("6 * 7000) as answer").unwrap();
        session.exp_string("answer\r\n42000\r\n").unwrap();
        // What looks like a command continues a path.
        session.send_line("select ({modes: 43000}").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line(".modes) as answer").unwrap();
        session.exp_string("answer\r\n43000\r\n").unwrap();
        session.send_line("select (").unwrap();
        session.exp_string(CONTINUATION).unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
    }

    /// It told of the row that shows that there are more.
    #[test]
    fn the_rows_that_are_shown_are_counted() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 1500)).well();
        let mut session = start(folder.path());
        session.send_line("select Elapsed from stream").unwrap();
        session.exp_string("showing only the latest 1000 rows").unwrap();
        session.exp_string("1000 rows in ").unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
    }

    #[test]
    fn one_event_is_one() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 1)).well();
        let mut terminal = crate::terminal::Terminal::run(
            folder.path(),
            std::num::NonZeroU16::new(80).unwrap(),
            "benchtool shell s",
        );
        terminal.wait_for("tamias> ");
        terminal.type_line(".exit");
        let lines = crate::terminal::lines(&terminal.end());
        assert_eq!(lines[0], "1 event. Enter runs a query; .help lists the commands.");
    }

    #[test]
    fn commands_change_how_answers_look() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
        let mut session = start(folder.path());
        session.send_line(".timer off").unwrap();
        session.send_line(".mode csv").unwrap();
        session.send_line("select 6 * 7000 as answer").unwrap();
        session.exp_string("answer\r\n42000\r\n").unwrap();
        session.send_line(".once rows.csv").unwrap();
        session.send_line("select 6 * 8000 as answer").unwrap();
        // A chart was written into the file.
        session.send_line(".mode chart").unwrap();
        session.send_line(".once more.csv").unwrap();
        session.send_line("select 6 * 8000 as answer").unwrap();
        session.send_line(".mode auto").unwrap();
        session.send_line("select 6 * 9000 as answer").unwrap();
        session.exp_string("  54000 ").unwrap();
        session.send_line(".schema").unwrap();
        session.exp_string("RequestPath").unwrap();
        session.exp_string("read 50 events").unwrap();
        session.send_line(".timer maybe").unwrap();
        session.exp_string("write .timer on, or .timer off").unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
        for file in ["rows.csv", "more.csv"] {
            assert_eq!(std::fs::read_to_string(folder.path().join(file)).unwrap(), "answer\n48000\n");
        }
    }

    /// What came in behind the first line was lost with the prompt that had read it.
    #[test]
    fn lines_that_are_pasted_together_are_all_answered() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
        let mut session = start(folder.path());
        session.send_line("select 1000 + 1 as a;\nselect 1000 + 2 as b;\nselect 1000 + 3 as c;").unwrap();
        for answer in [" 1001 ", " 1002 ", " 1003 "] {
            session.exp_string(answer).unwrap();
        }
        session.exp_string("tamias> ").unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
    }

    #[test]
    fn ctrl_c_ends_the_query_and_not_the_shell() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 40_000)).well();
        let mut session = start(folder.path());
        // Hundreds of rows an event, each of them slow: it takes minutes.
        let unnest = "lateral unnest(Values(@Data)) as";
        let query = format!(
            "select count(*) from stream {unnest} a {unnest} b where ToJson([a, b, @Data]) = /(.*[a-f].*[0-9].*){{5}}/;"
        );
        session.send_line(&query).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(700));
        session.send_control(CTRL_C).unwrap();
        session.exp_string("cancelled").unwrap();
        session.exp_string("tamias> ").unwrap();
        session.send_line("select 6 * 7000 as answer;").unwrap();
        session.exp_string(" 42000 ").unwrap();
        session.exp_string("tamias> ").unwrap();
        session.send_control('d').unwrap();
        session.exp_eof().unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_shell_that_can_tell_nothing_still_answers() {
        let folder = folder();
        tool_with_input(folder.path(), &["ingest", "s", "-"], &events(1, 50)).well();
        let mut session = start_with(folder.path(), "2>/dev/full");
        for unheard in ["select ;", ".help"] {
            session.send_line(unheard).unwrap();
            session.exp_string("tamias> ").unwrap();
        }
        session.send_line("select count(*) as n from stream;").unwrap();
        session.exp_string(" 50 ").unwrap();
        session.exp_string("tamias> ").unwrap();
        session.send_line(".exit").unwrap();
        session.exp_eof().unwrap();
        assert!(matches!(session.process().wait().unwrap(), WaitStatus::Exited(_, 0)));
    }
}
