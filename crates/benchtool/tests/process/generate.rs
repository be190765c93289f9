//! `benchtool generate`

use std::io::Read;
use std::process::Stdio;

use crate::tool::{command, ended, events, folder, tool};

#[test]
fn writes_the_events_of_the_generator() {
    let folder = folder();
    let run = tool(folder.path(), &["generate", "--events", "5000", "--seed", "3"]).well();
    assert_eq!(run.out.as_bytes(), events(3, 5000));
    assert_eq!(run.err, "");
    let run = tool(folder.path(), &["generate", "--events", "10"]).well();
    assert_eq!(run.out.as_bytes(), events(1, 10));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = folder();
    let mut child = command(folder.path(), &["generate", "--events", "1000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 1000]).unwrap();
    drop(out);
    let run = child.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&run.stderr), "");
}

#[test]
fn wrong_arguments_are_explained() {
    let folder = folder();
    for arguments in
        [&["generate"][..], &["generate", "--events", "many"], &["generate", "--events", "-1"], &[]]
    {
        let run = tool(folder.path(), arguments).with(2);
        assert!(run.err.contains("--help") && run.out.is_empty(), "{run:?}");
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    let folder = folder();
    let help = tool(folder.path(), &["--help"]).well().out;
    assert!(help.contains("Exit codes:") && help.contains("First steps"), "{help}");
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        commands.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert_eq!(names.len(), 29, "{names:?}");
    for name in names {
        let help = tool(folder.path(), &[name, "--help"]).well().out;
        let examples = help.split_once("\nExample").expect("examples").1;
        assert!(examples.contains(&format!("benchtool {name}")), "{help}");
    }
}

#[test]
fn completions_and_manual_pages_are_written() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = tool(folder.path(), &["generate-completions", shell]).well().out;
        assert!(script.contains("benchtool") && script.contains("ingest"), "{script}");
    }
    assert!(tool(folder.path(), &["generate-man"]).well().out.contains(".SH NAME\nbenchtool"));
    assert_eq!(tool(folder.path(), &["generate-man", "new/man1"]).well().out, "");
    let page = std::fs::read_to_string(folder.path().join("new/man1/benchtool-ingest.1")).unwrap();
    assert!(page.contains("Examples"), "{page}");
}

#[test]
fn the_program_has_two_names_and_its_help_speaks_of_its_own() {
    let folder = folder();
    let tamias = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tamias"));
        ended(command.args(arguments).current_dir(folder.path()).output().unwrap())
    };
    assert!(tamias(&["--version"]).well().out.starts_with("tamias "));
    for arguments in [&["--help"][..], &["query", "--help"], &["generate-man", "--help"]] {
        let help = tamias(arguments).well().out;
        assert!(help.contains("tamias ") && !help.contains("benchtool"), "{help}");
    }
    assert!(tamias(&["tail", "nowhere"]).with(5).err.contains("`tamias ingest nowhere FILE` creates one"));
    assert!(tool(folder.path(), &["--version"]).well().out.starts_with("benchtool "));
    let shown = tool(folder.path(), &["query", "--help"]).well().out;
    assert!(shown.contains("benchtool query logs"), "{shown}");
}
