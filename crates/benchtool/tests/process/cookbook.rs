//! `docs/cookbook.md`: its queries are well-formed, and where the data sets are at hand its commands give its output.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use tamias_testdata::{DATA_SETS, data_set};

use crate::tool::{folder, tool};

/// A command with the output that the page shows.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) output: String,
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook.md")
}

/// The text of the page, cut into what is no command, and the commands.
pub(crate) fn parts(text: &str) -> Vec<Result<Step, String>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("```console\n$ ") {
        let (step, behind) = behind.split_once("```\n").expect("the block has an end");
        let (command, output) = step.split_once('\n').expect("the command has an end");
        parts.push(Err(before.to_owned()));
        parts.push(Ok(Step { command: command.to_owned(), output: output.to_owned() }));
        rest = behind;
    }
    parts.push(Err(rest.to_owned()));
    parts
}

/// The words of a command, as a shell parts them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in command.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[test]
fn the_queries_of_the_cookbook_are_well_formed() {
    let mut queries = 0;
    for step in parts(&fs::read_to_string(page()).unwrap()).into_iter().flatten() {
        let words = words(&step.command);
        if words[1] == "query" {
            queries += 1;
            assert!(
                tamias::Query::prepare(&words[3]).is_ok(),
                "{:?}",
                tamias::Query::prepare(&words[3]).err()
            );
        }
    }
    assert!(queries >= 3 * DATA_SETS.len(), "three useful queries for each kind of data");
}

/// Holds the commands of a page against what they give, one after another; or writes that into the page.
pub(crate) fn check_page(page: &Path, is_writing: bool, mut run: impl FnMut(&str) -> String) {
    let text = fs::read_to_string(page).unwrap();
    let mut found = String::new();
    for part in parts(&text) {
        let step = match part {
            Ok(step) => step,
            Err(text) => {
                found.push_str(&text);
                continue;
            }
        };
        let mut output = run(&step.command);
        if without_times(&output) == without_times(&step.output) {
            output = step.output;
        }
        write!(found, "```console\n$ {}\n{output}```\n", step.command).unwrap();
    }
    if is_writing {
        fs::write(page, &found).unwrap();
    } else {
        let wrong = text.lines().zip(found.lines()).find(|(shown, given)| shown != given);
        assert!(text == found, "the page shows, and the commands give: {wrong:#?}");
    }
}

/// Times differ from run to run, checksums of paths too, and what files take from version to version.
pub(crate) fn without_times(output: &str) -> String {
    let varying = [
        "would be removed: ",
        "# rejected: ",
        "erased: ",
        "  deleted at ",
        "  erased from ",
        "  checked ",
        "scrubbed: ",
        "from  ",
        "to  ",
    ];
    output
        .lines()
        .map(|line| {
            let line = line.split(", seconds: ").next().unwrap_or_default();
            match varying.iter().any(|begin| line.starts_with(begin)) || line.contains(".receipt: ") {
                true => masked(line),
                false => line.to_owned() + "\n",
            }
        })
        .collect()
}

/// With `#` for each word that has a digit, and for each checksum, which may have none: one of 2,500 is letters only.
fn masked(line: &str) -> String {
    let is_checksum = |word: &str| {
        let inner = word.trim_end_matches(':').strip_prefix('(').and_then(|word| word.strip_suffix(')'));
        inner.is_some_and(|inner| inner.len() == 8 && inner.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let word = |word: &str| {
        let varies = word.contains(|c: char| c.is_ascii_digit()) || is_checksum(word);
        if varies { "#".to_owned() } else { word.to_owned() }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n"
}

#[test]
fn a_checksum_of_letters_only_varies_as_any_other() {
    let line = |checksum: &str| {
        without_times(&format!(
            "# rejected: mixed.json, line 3, from byte 65 ({checksum}): the document ends"
        ))
    };
    assert_eq!(line("deabfbca"), line("22b0aca1"));
    assert_ne!(line("deabfbcx"), line("22b0aca1"));
}

#[test]
fn the_cookbook_shows_what_its_commands_give() {
    let folder = folder();
    for name in DATA_SETS {
        let Some(bytes) = data_set(name) else { return };
        fs::write(folder.path().join(format!("{name}.ndjson.zst")), zstd::encode_all(&bytes[..], 1).unwrap())
            .unwrap();
    }
    // To write what it gives now: TAMIAS_COOKBOOK=write cargo test -p benchtool cookbook
    let is_writing = std::env::var_os("TAMIAS_COOKBOOK").is_some_and(|what| what == "write");
    check_page(&page(), is_writing, |command| {
        let words = words(command);
        let mut arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        if matches!(arguments[0], "query" | "keys") {
            arguments.extend(["--format", "table"]);
        }
        tool(folder.path(), &arguments).well().out
    });
}
