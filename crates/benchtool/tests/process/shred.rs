//! `benchtool shred`: what events are made of.

use crate::tool::{folder, tool, tool_with_input};

#[test]
fn each_column_is_shown_with_what_it_takes() {
    let folder = folder();
    let lines: String = (0..200)
        .map(|n| format!("{{\"Message\":\"GET /orders/{0}\", \"Path\":\"/orders/{0}\",\"N\":{1},\"odd \\u001b\":null}}\n", n * 7919 % 9973, n % 3))
        .collect();
    let input = lines + "no event\n\n{\"N\":0.5}";
    let run = tool_with_input(folder.path(), &["shred", "-"], input.as_bytes()).well();
    for text in [
        "| Message",
        "templates",
        "| Path",
        "fraction",
        "events (count): 201",
        "rejected lines: 1",
        "of them as text: 0",
    ] {
        assert!(run.out.contains(text), "{text} is missing in {}", run.out);
    }
    assert!(!run.out.contains('\u{1b}'), "{}", run.out);
    tool_with_input(folder.path(), &["shred", "-"], b"").with(4);
    tool(folder.path(), &["shred", "nowhere.clef"]).with(5);
}

/// Columns were searched for one by one, and the file was held whole.
#[test]
fn many_columns_over_many_groups_are_each_shown_once() {
    let folder = folder();
    let line = |n: usize| format!("{{\"N\":{n},\"key{}\":\"{}\"}}\n", n % 3000, "x".repeat(n % 7));
    let lines: String = (0..20_000).map(line).collect();
    let run = tool_with_input(folder.path(), &["shred", "-"], lines.as_bytes()).well();
    assert!(run.out.contains("events (count): 20000\n") && run.out.contains("\ngroups: 2, "), "{}", run.out);
    let of = |path: &str| run.out.lines().filter(|line| line.split_whitespace().nth(1) == Some(path)).count();
    assert_eq!((of("N"), of("key0"), of("key2999")), (1, 1, 1));
    let long = format!("{{\"a\":\"{}\"}}\n{{\"a\":1}}\n", "x".repeat(17 << 20));
    let run = tool_with_input(folder.path(), &["shred", "-"], long.as_bytes()).well();
    assert!(run.out.contains("events (count): 1\nrejected lines: 1\n"), "{}", run.out);
}
