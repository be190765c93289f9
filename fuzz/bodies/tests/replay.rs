//! Replays the corpus through the fuzz bodies, and with it inputs that are made by rule.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tamias_fuzz_bodies::{TARGETS, Target};

/// Every file of a target's corpus, as name and bytes. A corpus that is missing or empty is an error.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("no corpus in {}: {error}", folder.display()));
    let mut inputs: Vec<(String, Vec<u8>)> = files
        .map(|file| {
            let path = file.expect("a readable folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read(path).expect("a readable file"))
        })
        .collect();
    assert!(!inputs.is_empty(), "the corpus in {} is empty", folder.display());
    inputs.sort();
    inputs
}

/// Runs a target on an input, and says which it was if the target finds a bug.
fn run(target: &Target, input: &[u8], origin: &str) {
    struct OnPanic<'a>(&'a Target, &'a [u8], &'a str);
    impl Drop for OnPanic<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("target {} on {}: {}", self.0.name, self.2, self.1.escape_ascii());
            }
        }
    }
    let _on_panic = OnPanic(target, input, origin);
    (target.body)(input);
}

fn targets(corpus: &str) -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().filter(move |target| target.corpus == corpus)
}

fn rich() -> &'static [u8] {
    static RICH: OnceLock<Vec<u8>> = OnceLock::new();
    RICH.get_or_init(|| {
        let rich = corpus("json").into_iter().find(|(name, _)| name == "rich");
        rich.expect("the corpus has a rich document").1
    })
}

#[test]
fn the_corpus() {
    for target in TARGETS {
        for (name, input) in corpus(target.corpus) {
            run(target, &input, &name);
        }
    }
}

#[test]
fn the_corpus_holds_what_once_broke_parsers_of_this_kind() {
    let corpus = corpus("json");
    for text in [r#"{"V":-0}"#, r#"{"a":4} 2"#, r#"{"a":"\\\u\\"}"#, "{:42e10}", r#"{"a"],42}"#] {
        assert!(corpus.iter().any(|(_, input)| input == text.as_bytes()), "{text} is missing");
    }
}

#[test]
fn every_target_has_its_shell_and_every_shell_its_target() {
    let shells = Path::new(env!("CARGO_MANIFEST_DIR")).join("../afl/src/bin");
    let mut shells: Vec<String> = fs::read_dir(shells)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut names: Vec<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    shells.sort();
    names.sort();
    assert_eq!(shells, names);
}

#[test]
fn a_rich_document_cut_at_every_byte() {
    for target in targets("json") {
        for end in 0..rich().len() {
            run(target, &rich()[..end], "the rich document, cut");
            run(target, &rich()[end..], "the rich document, its start cut off");
        }
    }
}

#[test]
fn every_byte_in_every_place_of_a_small_document() {
    let small = br#"{"a":[1,-2.5e3,"x\u00e9\n"],"b":{"c":null}}"#;
    for target in targets("json") {
        for at in 0..small.len() {
            let mut input = small.to_vec();
            for byte in 0..=255 {
                input[at] = byte;
                run(target, &input, "a small document, one byte replaced");
            }
            let mut longer = small.to_vec();
            longer.insert(at, 0);
            for byte in 0..=255 {
                longer[at] = byte;
                run(target, &longer, "a small document, one byte put in");
            }
        }
    }
}

#[test]
fn every_byte_in_every_place_of_statistics() {
    let (_, whole) =
        corpus("statistics").into_iter().find(|(name, _)| name == "whole").expect("the corpus has it");
    for target in targets("statistics") {
        for at in 0..whole.len() {
            run(target, &whole[..at], "statistics, cut");
            let mut input = whole.clone();
            for byte in [0, 1, 2, 4, 8, 16, 32, 64, 127, 128, 255] {
                input[at] = byte;
                run(target, &input, "statistics, one byte replaced");
            }
        }
    }
}

#[test]
fn nesting_of_every_depth() {
    for target in targets("json") {
        for depth in (0..=300).chain([999, 1000, 1001, 5000]) {
            run(target, &[b"[".repeat(depth), b"]".repeat(depth)].concat(), "nested arrays");
            let (open, close) = (br#"{"a":"#.repeat(depth), b"}".repeat(depth));
            run(target, &[&open[..], b"1", &close].concat(), "nested objects");
            run(target, &open, "nested objects without end");
            run(target, &[&br#"{"a":["#.repeat(depth)[..], &b"]}".repeat(depth)].concat(), "both, in turn");
            run(target, &[&open[..], &b"]".repeat(depth)].concat(), "nested objects, closed as arrays");
        }
    }
}

#[test]
fn strings_that_end_at_every_place_in_a_block() {
    for target in targets("json") {
        for before in 0..70 {
            for length in 0..70 {
                let (key, text) = ("k".repeat(before), "v".repeat(length));
                run(target, format!(r#"{{"{key}":"{text}","x":[1]}}"#).as_bytes(), "a string in a block");
            }
        }
    }
}

#[test]
fn runs_of_backslashes_across_every_border() {
    for before in 0..70 {
        for length in (0..20).chain(60..70) {
            let (plain, run_of) = ("v".repeat(before), r"\".repeat(length));
            for end in ["", "\"", "n", "u0041", "ud83d\\ude00", "/"] {
                let text = format!("{plain}{run_of}{end}");
                for target in targets("string") {
                    run(target, text.as_bytes(), "a run of backslashes");
                }
                for target in targets("json") {
                    let document = format!(r#"{{"a":"{text}","b":"{run_of}"}}"#);
                    run(target, document.as_bytes(), "a run of backslashes");
                }
            }
        }
    }
}

#[test]
fn every_hexadecimal_escape() {
    for target in targets("string") {
        for unit in 0..=0xffff_u32 {
            run(target, format!("\\u{unit:04x}").as_bytes(), "an escape");
            if unit % 61 == 0 {
                run(target, format!("\\u{unit:04X}\\udc00").as_bytes(), "an escape before a low surrogate");
                run(target, format!("\\ud800\\u{unit:04x}").as_bytes(), "an escape after a high surrogate");
            }
        }
    }
}

#[test]
fn bytes_that_are_no_plain_text() {
    let odd: [&[u8]; 12] = [
        b"\xef\xbb\xbf",
        b"\0",
        b"\x7f",
        b"\x80",
        b"\xc0\xaf",
        b"\xc3",
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",
        b"\xf0\x80\x80\xaf",
        b"\xf4\x90\x80\x80",
        b"\xff",
        "\u{2028}é😀".as_bytes(),
    ];
    for odd in odd {
        for before in [0, 1, 15, 16, 30, 31, 32, 62, 63, 64] {
            let text = [&b"x".repeat(before), odd, b"y\\n"].concat();
            for target in targets("string") {
                run(target, &text, "odd bytes");
            }
            for target in targets("json") {
                run(target, &[b"{\"a\":\"", &text[..], b"\"}"].concat(), "odd bytes in a string");
                run(target, &[odd, br#"{"a":1}"#].concat(), "odd bytes before the document");
                run(target, &[br#"{"a":1"#, odd, b"}"].concat(), "odd bytes in the document");
            }
        }
    }
}

#[test]
fn numbers_of_every_length_around_a_point() {
    for target in targets("number") {
        for integer in 1..20 {
            for fraction in 0..20 {
                let (digits, more) = ("1234567890".repeat(2), "0987654321".repeat(2));
                let a = format!("{}.{}", &digits[..integer], &more[..fraction]);
                let a = a.trim_end_matches('.');
                let texts =
                    format!("{a} -{a} {a}0 {a}1 {} {} {a}e1 0", &digits[..integer], &more[1..][..integer]);
                run(target, texts.as_bytes(), "numbers");
            }
        }
    }
}

#[test]
fn queries_cut_at_every_byte() {
    for target in targets("query") {
        for (name, input) in corpus("query") {
            for end in 0..input.len() {
                run(target, &input[..end], &name);
                run(target, &input[end..], &name);
            }
        }
    }
}

#[test]
fn choices_at_random() {
    // A generator of its own: the same choices in every run.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for target in targets("choices") {
        for length in (0..64).cycle().take(10_000) {
            let choices: Vec<u8> = (0..length).map(|_| next() as u8).collect();
            run(target, &choices, "choices at random");
        }
    }
}
