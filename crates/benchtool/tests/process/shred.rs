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
