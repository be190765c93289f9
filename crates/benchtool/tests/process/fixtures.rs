//! The files that people are given to try things with.

use std::path::{Path, PathBuf};

use crate::tool::{events, figures, folder, rows, tool};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../store-fixtures").join(name)
}

#[test]
fn the_shop_is_what_the_generator_writes() {
    let lines = std::fs::read(fixture("shop.clef")).unwrap();
    assert!(lines == events(3, 60), "run `benchtool generate --events 60 --seed 3` again");
}

#[test]
fn the_cases_run_over_the_shop() {
    let folder = folder();
    tool(folder.path(), &["ingest", "s", fixture("shop.clef").to_str().unwrap()]).well();
    let cases = fixture("cases.txt");
    let arguments = ["bench", "--cases", cases.to_str().unwrap(), "--percentile", "90", "--runs", "2", "s"];
    let run = tool(folder.path(), &arguments).well();
    assert_eq!(run.out.lines().filter(|line| line.starts_with("| 00")).count(), 8, "{}", run.out);
}

#[test]
fn other_people_s_events_go_in_but_for_those_that_are_none() {
    let folder = folder();
    let file = fixture("other-people.ndjson");
    let run = tool(
        folder.path(),
        &["ingest", "s", "--time-key", "eventTime", "--time-zone", "UTC", file.to_str().unwrap()],
    )
    .with(4);
    assert_eq!(figures(&run.out).0, 5);
    assert_eq!(run.err.lines().filter(|line| line.contains("other-people.ndjson")).count(), 3, "{}", run.err);
    let rows = rows(folder.path(), "s", "select host, delta from stream where delta > 200");
    let deltas: Vec<String> = rows.iter().map(|row| row["delta"].to_string()).collect();
    assert_eq!(deltas, ["412", "201", "1000.0"]);
}

#[test]
fn stores_of_each_version_verify_as_on_the_first_day() {
    let folder = folder();
    for (version, lost) in [("v1", 13), ("v2", 13), ("v2-columns", 12)] {
        let store = |name: &str| fixture(&format!("{version}/{name}"));
        let verify = |name: &str| tool(folder.path(), &["verify", store(name).to_str().unwrap()]);
        assert_eq!(verify("clean").well().out, "sound: 60 events in 2 segments\n");
        // What a crash left behind is told, and is no harm.
        let torn = verify("torn").well().out;
        assert_eq!(torn.lines().filter(|line| line.starts_with("not named: ")).count(), 3, "{torn}");
        assert!(torn.ends_with("\nsound: 56 events in 2 segments\n"), "{torn}");
        for name in ["clean", "torn"] {
            tool(folder.path(), &["verify", "--deep", store(name).to_str().unwrap()]).well();
        }
        let corrupt = verify("corrupt").with(6);
        assert_eq!(corrupt.out.lines().count(), 2, "{corrupt:?}");
        assert!(
            corrupt
                .err
                .starts_with(&format!("error: 2 parts of the store are damaged: {lost} events are lost; ")),
            "{corrupt:?}"
        );
    }
}
