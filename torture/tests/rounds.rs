//! A few rounds of every attack that takes no root, and every planted fault that such an attack must find. Hours of it, and what takes
//! root, are for `cargo run --release -p tamias-torture`.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::process::{Command, Output};

/// Faults that the soak must find.
const FAULTS_OF_THE_SOAK: usize = 11;

/// Runs the program in a folder of its own.
fn torture(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_torture"));
    command.args(arguments).arg("--without-root").arg("--folder").arg(folder.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_few_rounds_find_nothing() {
    let output = torture(&["--rounds", "2", "--seed", "1"]);
    assert!(output.status.success(), "{}", text(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.lines().any(|line| line.starts_with("kill ")), "{table}");
    // What was not run is named.
    assert!(table.contains("shutdown-ext4   not run: it takes root"), "{table}");
}

#[test]
fn one_store_goes_through_everything() {
    let output = torture(&["--only", "soak", "--rounds", "3", "--seed", "1"]);
    assert!(output.status.success(), "{}", text(&output));
}

/// Some tens of kills; a thousand are a hundred rounds.
#[test]
fn kills_in_deletions_leave_all_of_them_or_nothing() {
    let output = torture(&["--only", "delete", "--rounds", "4", "--seed", "1"]);
    assert!(output.status.success(), "{}", text(&output));
}

/// A round is bounded by its steps, so this is too; each fault counts as found only if the same round without it finds nothing.
#[test]
fn the_soak_finds_each_fault_that_is_planted_for_it() {
    let output = torture(&["plants", "--by", "soak", "--rounds", "8"]);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("found in round").count(), FAULTS_OF_THE_SOAK, "{text}");
}

#[test]
fn planted_faults_are_found() {
    let output = torture(&["plants", "--seconds", "60"]);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn an_unknown_attack_is_refused() {
    let output = torture(&["--only", "flood"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("no attack is called \"flood\"; give one of "), "{}", text(&output));
}
