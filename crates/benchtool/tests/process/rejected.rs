//! Rejected lines are remembered: with better options they go in, once, and nothing else does again.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::resume::{bytes_below, documents, earlier, mixed};
use crate::tool::{Ended, command, count, ended, figures, folder, started, tool, tool_with_input};

const GOOD: &str = "{\"@t\":\"2024-05-29T10:56:01Z\",\"N\":1}\n";
const OTHER: &str = "{\"when\":\"2024-05-29T10:56:02Z\",\"N\":2}\n";
const BROKEN: &str = "{\"N\":\n";

/// Stored, rejected, and lines of earlier runs.
#[track_caller]
fn told(run: &Ended) -> (u64, u64, u64) {
    let (stored, rejected, ..) = figures(&run.out);
    (stored, rejected, earlier(&run.out))
}

fn ingest(folder: &Path, text: &str, options: &[&str]) -> Ended {
    fs::write(folder.join("log"), text).unwrap();
    tool(folder, &[&["ingest", "s", "log"], options].concat())
}

#[test]
fn better_options_take_the_rejected_lines_and_then_what_is_new() {
    let folder = folder();
    let path = folder.path();
    let both = ["--time-key", "@t,when"];
    let text = [GOOD, OTHER, BROKEN, GOOD, OTHER].concat();
    let run = ingest(path, &text, &[]).with(4);
    assert_eq!(told(&run), (2, 3, 0));

    let run = ingest(path, &text, &[]).well();
    assert_eq!(told(&run), (0, 0, 5), "the same options would reject the same lines");
    assert!(run.err.contains("1 file has rejected lines") && run.err.contains("--time-key"), "{}", run.err);

    let grown = text + GOOD + BROKEN + OTHER;
    let run = ingest(path, &grown, &both).with(4);
    assert_eq!(told(&run), (4, 2, 2));
    assert!(run.err.contains("log: retrying rejected lines, from line 2"), "{}", run.err);
    assert!(run.err.contains("log: continuing at line 6"), "{}", run.err);
    assert_eq!(count(path, "s"), 6);

    assert_eq!(told(&ingest(path, &grown, &both).well()), (0, 0, 8));
    assert_eq!(
        told(&ingest(path, &grown, &[]).with(4)),
        (0, 2, 6),
        "two lines are broken whatever the options"
    );
    assert_eq!(told(&ingest(path, &grown, &["--again"]).with(4)), (3, 5, 0));
    assert_eq!(
        told(&ingest(path, &grown, &both).with(4)),
        (3, 2, 3),
        "they are remembered of the last reading"
    );
    assert_eq!(count(path, "s"), 12);
}

/// Lines that were tried again used to be stored before it was seen that they are others, and then forgotten; later the others were stored
/// twice.
#[test]
fn a_file_that_has_changed_is_not_read_unless_somebody_says_so() {
    let folder = folder();
    let path = folder.path();
    ingest(path, &[GOOD, OTHER, GOOD].concat(), &[]).with(4);
    // Mended in place, and shorter: the line after it stands elsewhere.
    let mended = "{\"@t\":\"2024-05-29T10:56:02Z\"}\n";
    let text = [GOOD, mended, GOOD].concat();
    let run = ingest(path, &text, &["--time-key", "@t,when"]).with(4);
    assert!(
        run.err.contains("has changed since it was read up to byte ") && run.err.contains("--again"),
        "{}",
        run.err
    );
    assert_eq!((run.out.as_str(), count(path, "s")), ("", 2));
    assert_eq!(told(&ingest(path, &text, &["--again"]).well()), (3, 0, 0));
    assert_eq!(count(path, "s"), 5);
}

/// A file of rejected lines used to be emptied by each run that read only new files, and so was any other that was named.
#[test]
fn a_file_of_rejected_lines_keeps_those_of_other_files() {
    let folder = folder();
    let path = folder.path();
    let run = |file: &str, text: &str| {
        fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
        fs::write(path.join(file), text).unwrap();
        let from = path.join(file);
        let bad = path.join("bad");
        let (bad, name) = (bad.to_str().unwrap(), from.file_name().unwrap().to_str().unwrap());
        tool(from.parent().unwrap(), &["ingest", "../s", name, "--rejects", bad, "--again"])
    };
    let kept = || {
        let bad = fs::read_to_string(path.join("bad")).unwrap();
        bad.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    run("x/log", &[GOOD, "one\n"].concat()).with(4);
    // The same name in another folder, and a file in its own place.
    run("y/log", &[GOOD, "two\n"].concat()).with(4);
    run("y/log", &[&GOOD.replace(":1}", ":2}"), "three\n"].concat()).with(4);
    assert_eq!(kept(), ["one", "two", "three"]);
    run("x/log", &[GOOD, "one\n"].concat()).with(4);
    assert_eq!(kept(), ["two", "three", "one"]);
    fs::write(path.join("bad"), "Dear Sirs\n").unwrap();
    let refused = run("x/log", &[GOOD, "one\n"].concat()).with(2);
    assert!(refused.err.contains("is not a file of rejected lines"), "{}", refused.err);
    assert_eq!(fs::read_to_string(path.join("bad")).unwrap(), "Dear Sirs\n");
}

#[test]
fn elements_of_an_array_are_remembered_as_lines_are() {
    let folder = folder();
    let path = folder.path();
    let array = [GOOD, OTHER, OTHER, GOOD, "3\n"].map(str::trim_end).join(",\n ");
    let array = format!("[{array}]");
    assert_eq!(told(&ingest(path, &array, &[]).with(4)), (2, 3, 0));
    assert_eq!(told(&ingest(path, &array, &["--time-key", "@t,when"]).with(4)), (2, 1, 2));
    assert_eq!(count(path, "s"), 4);
}

#[test]
fn rejected_lines_are_remembered_or_kept_in_a_file_and_never_both() {
    let folder = folder();
    let path = folder.path();
    let text = [GOOD, OTHER, GOOD, BROKEN].concat();
    assert_eq!(told(&ingest(path, &text, &[]).with(4)), (2, 2, 0));
    // The same options, but now somebody wants to see them.
    assert_eq!(told(&ingest(path, &text, &["--rejects", "bad"]).with(4)), (0, 2, 2));
    let bad = fs::read_to_string(path.join("bad")).unwrap();
    let kept: String =
        bad.lines().filter(|line| !line.starts_with('#')).fold(String::new(), |mut text, line| {
            writeln!(text, "{line}").unwrap();
            text
        });
    assert_eq!(kept, [OTHER, BROKEN].concat());
    // From there they can be ingested: the file that they came from does not give them a second time.
    let run = tool(path, &["ingest", "s", "bad", "--time-key", "when"]).with(4);
    assert_eq!(told(&run), (1, 1, 0));
    assert_eq!(told(&ingest(path, &text, &["--time-key", "@t,when"]).well()), (0, 0, 4));
    assert_eq!(count(path, "s"), 3);
}

#[test]
fn more_places_than_are_remembered_need_a_file_of_rejects() {
    let folder = folder();
    let path = folder.path();
    let text = [GOOD, BROKEN].concat().repeat(1100);
    let run = ingest(path, &text, &[]).with(4);
    assert_eq!(told(&run), (1001, 1001, 0));
    assert!(
        run.err.contains("stopped at line 2002 of log: lines were rejected in more than 1000 places")
            && run.err.contains("--rejects FILE to continue"),
        "{}",
        run.err
    );
    let run = ingest(path, &text, &["--rejects", "bad"]).with(4);
    assert_eq!(told(&run), (99, 1100, 1001));
    assert_eq!(count(path, "s"), 1100);
    assert_eq!(fs::read_to_string(path.join("bad")).unwrap().matches(BROKEN).count(), 1100);
}

#[test]
fn after_kill_9_each_rejected_line_goes_in_once() {
    let folder = folder();
    let path = folder.path();
    let (mut good, lines) = mixed(35, 6900);
    let timeless = good.len() / 7;
    fs::write(path.join("log"), lines).unwrap();
    let first = tool(path, &["ingest", "s", "log"]).with(4);
    assert_eq!(told(&first), (good.len() as u64, timeless as u64, 0));
    let again = ["ingest", "s", "log", "--time-key", "@t,no time", "--batch-bytes", "1000"];
    let mut stops = 0;
    for turn in 0..12 {
        let mut child = command(path, &again).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // By what it has written rather than by the clock, which runs differently under load.
        let enough = bytes_below(&path.join("s")) + turn % 4 * 40_000 + 20_000;
        while child.try_wait().unwrap().is_none() && bytes_below(&path.join("s")) < enough {
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        tool_with_input(path, &["ingest", "s", "-"], b"").well();
        let more = count(path, "s") as usize - good.len();
        stops += u32::from(more > 0 && more < timeless);
    }
    assert!(stops > 0, "no kill came in the middle");
    let run = tool(path, &again).well();
    assert_eq!(told(&run).0 + earlier(&run.out), (good.len() + timeless) as u64);
    let found = documents(path, "s");
    good.extend((6..good.len()).step_by(7).map(|index| format!("{{\"no time\":{index}}}")));
    assert_eq!(found.len(), good.len());
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), good.into_iter().collect::<BTreeSet<_>>());
}

/// An element of no bytes, behind a last comma, ends where reading goes on.
#[test]
fn an_array_that_ends_with_a_comma_goes_on() {
    let folder = folder();
    let path = folder.path();
    for end in ["]", "\n]"] {
        let (good, other) = (GOOD.trim_end(), GOOD.replace('1', "3"));
        let options: &[&str] = if end == "]" { &[] } else { &["--again"] };
        assert_eq!(told(&ingest(path, &format!("[{good},{end}"), options).with(4)), (1, 1, 0));
        let again = ingest(path, &format!("[{good},{end}"), &[]).well();
        assert_eq!(told(&again).0, 0, "{again:?}");
        let grown = ingest(path, &format!("[{good},{},{}]", other.trim_end(), other.trim_end()), &[]);
        assert!(!grown.err.contains("was replaced while"), "{grown:?}");
    }
}

/// What was rejected of a file stays where it was saved, when another takes its place.
#[test]
fn saved_lines_of_a_replaced_file_stay() {
    let folder = folder();
    let path = folder.path();
    ingest(path, &[GOOD, BROKEN, GOOD].concat(), &["--rejects", "bad"]).with(4);
    let again = ["--rejects", "bad", "--again"];
    ingest(path, &[GOOD, OTHER.replace("when", "@t").as_str()].concat(), &again).well();
    let saved = fs::read_to_string(path.join("bad")).unwrap();
    assert!(saved.contains(BROKEN), "{saved}");
}

/// A banner of many lines before the first event is rejected line by line, however its bytes come.
#[test]
fn events_behind_a_long_banner_are_stored() {
    let folder = folder();
    let path = folder.path();
    let banner: String = (0..150).map(|n| format!("line {n} of a banner\n")).collect();
    let (tool, mut stdin) = started(path, &["ingest", "s", "-"]);
    std::io::Write::write_all(&mut stdin, banner.as_bytes()).unwrap();
    sleep(Duration::from_millis(700));
    std::io::Write::write_all(&mut stdin, GOOD.repeat(3).as_bytes()).unwrap();
    drop(stdin);
    let run = ended(tool.wait_with_output().unwrap()).with(4);
    assert_eq!(count(path, "s"), 3, "{}", run.err);
}

/// Lines that were mended before others used to be stored once more with these.
#[test]
fn saved_lines_can_be_mended_some_at_a_time() {
    let folder = folder();
    let path = folder.path();
    let broken = |n: u32| format!("{{\"@t\":\"2024-05-29T10:56:0{n}Z\",\"N\":{n}\n");
    let text = [GOOD.to_owned(), broken(2), broken(3), broken(4), broken(5)].concat();
    assert_eq!(told(&ingest(path, &text, &["--rejects", "bad"]).with(4)), (1, 4, 0));
    let mend = |n: u32| {
        let bad = fs::read_to_string(path.join("bad")).unwrap();
        let line = broken(n);
        fs::write(path.join("bad"), bad.replace(&line, &format!("{}}}\n", line.trim_end()))).unwrap();
        tool(path, &["ingest", "s", "bad"])
    };
    // The last one, the first one, one in the middle, and all that are left.
    assert_eq!(told(&mend(5).with(4)), (1, 3, 0));
    assert_eq!(told(&tool(path, &["ingest", "s", "bad"]).with(4)), (0, 3, 1));
    assert_eq!(told(&mend(2).with(4)), (1, 2, 1));
    assert_eq!(told(&mend(3).with(4)), (1, 1, 2));
    assert_eq!(told(&mend(4).well()), (1, 0, 3));
    let run = tool(path, &["ingest", "s", "bad"]).well();
    assert_eq!(told(&run), (0, 0, 4));
    assert!(run.err.contains("nothing new in 1 file"), "{run:?}");
    assert_eq!(count(path, "s"), 5);
    assert_eq!(told(&tool(path, &["ingest", "s", "bad", "--again"]).well()), (4, 0, 0));
}
