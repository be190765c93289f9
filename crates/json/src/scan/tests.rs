//! Every kernel gives the list of the specification: on documents, on what is left of them, and on no documents at all.

use proptest::prelude::*;

use super::*;

/// The list and whether it is whole, a byte at a time and with nothing clever: what every kernel has to give.
fn specified(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut list = Vec::new();
    let mut open: Vec<(usize, u8)> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let quote = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        if quote {
            in_string = !in_string;
        }
        if in_string || quote {
            continue;
        }
        match byte {
            b',' | b'{' | b'}' | b'[' | b']' => list.push(Entry::new(value, at as u32)),
            b':' => {}
            _ => continue,
        }
        value = at as u32 + 1;
        if matches!(byte, b'{' | b'[') {
            if open.is_empty() && at > 0 || open.len() == DEPTH_MAX {
                return None;
            }
            open.push((list.len() - 1, byte));
        }
        if matches!(byte, b'}' | b']') {
            let (index, opening) = open.pop()?;
            let distance = list.len() - 1 - index;
            list[index].link(distance as u32);
            if opening ^ byte != 6 || open.is_empty() && at + 1 < bytes.len() {
                return None;
            }
        }
        if byte == b',' && open.is_empty() {
            return None;
        }
    }
    (!in_string && open.is_empty()).then_some(list)
}

/// Asserts that each kernel gives the list of the specification for these bytes, at whatever address they lie.
#[track_caller]
fn check(bytes: &[u8]) {
    let expected = specified(bytes);
    for isa in Isa::available() {
        let mut list = Vec::new();
        let found = run(isa, bytes, &mut list).then_some(list);
        if found != expected {
            panic!("{isa:?} disagrees on {:?}: {found:?}, not {expected:?}", String::from_utf8_lossy(bytes));
        }
    }
    let counts: Vec<_> = Isa::available().into_iter().map(|isa| count(isa, bytes)).collect();
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{counts:?}");
    if let Some(list) = &expected {
        assert_eq!(counts[0], list.len());
    } else {
        assert_ne!(fault(bytes), ScanError::Truncated { open: 0 }, "{:?}", String::from_utf8_lossy(bytes));
    }
}

/// The same at each of 64 addresses, with other bytes around.
#[track_caller]
fn check_everywhere(document: &[u8]) {
    let mut bytes = vec![b'"'; document.len() + 128];
    for at in 0..64 {
        bytes.fill(b'"');
        bytes[at..at + document.len()].copy_from_slice(document);
        check(&bytes[at..at + document.len()]);
    }
}

const RICH: &[u8] =
    br#"{"@t":"2024-05-29T10:56:01Z","m":"say \"hi\" \\","n":-12.5e3,"o":{"a":[1,[],{},[{"b":null}]],"c":{}},"z":[true,"\\\\",""]}"#;

#[test]
fn kernels_agree_at_every_alignment() {
    check_everywhere(RICH);
    check_everywhere(b"{}");
    check_everywhere(br#"{"a":1}"#);
}

#[test]
fn kernels_agree_on_every_truncation_and_every_byte_in_every_place() {
    for end in 1..=RICH.len() {
        check(&RICH[..end]);
    }
    let mut document = RICH.to_vec();
    for at in 0..document.len() {
        let kept = document[at];
        for byte in 0..=255 {
            document[at] = byte;
            check(&document);
        }
        document[at] = kept;
    }
    for first in 0..=255 {
        check(&[first]);
        for second in 0..=255 {
            check(&[first, second]);
        }
    }
}

#[test]
fn kernels_agree_on_runs_of_backslashes_across_borders() {
    for before in 0..70 {
        for run in 0..70 {
            for tail in ["", "\",\"b\":1"] {
                let text = format!(r#"{{"a":"{}{}"{tail}}}"#, "x".repeat(before), "\\".repeat(run));
                check(text.as_bytes());
            }
        }
    }
}

#[test]
fn kernels_agree_on_documents_of_every_length() {
    let mut document = br#"{"a":["#.to_vec();
    for element in 0..400 {
        document.extend_from_slice([&b"1,"[..], b"\"x,y\",", b"[],", b"{\"k\":\"\\\"\"},"][element % 4]);
        let whole = [&document[..document.len() - 1], b"]}"].concat();
        check(&whole);
    }
    // Strings that end at each place of a vector; nothing but structure; nothing but brackets.
    for length in 0..200 {
        check(format!(r#"{{"a":"{}","b":2}}"#, "é".repeat(length)).as_bytes());
        check(format!(r#"{{"a":[{}1]}}"#, "1,".repeat(length)).as_bytes());
        check(format!(r#"{{"a":[{}1]}}"#, "[],".repeat(length)).as_bytes());
        check(format!(r#"{{"a":{}{}}}"#, "[".repeat(length), "]".repeat(length)).as_bytes());
        check(&b":".repeat(length + 1));
        check(&b",".repeat(length + 1));
        check(&[b"{".as_slice(), &b",".repeat(length), b"}"].concat());
    }
}

#[test]
fn kernels_agree_across_chunks_and_at_the_depth_limit() {
    for length in [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 17] {
        for filling in ["x", "[],", "1,", "{\"a\":[]},", "\\\\", "[", "\"\",", "]"] {
            let text =
                format!(r#"{{"a":[{}0],"b":"{}"}}"#, filling.repeat(length / filling.len()), "y,".repeat(80));
            check(text.as_bytes());
            check(&text.as_bytes()[..text.len() - 1]);
        }
    }
    for depth in [DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1, 3 * DEPTH_MAX] {
        let text = [b"[".repeat(depth), b"]".repeat(depth)].concat();
        check(&text);
        check(&text[..depth]);
        let text = [br#"{"a":"#.repeat(depth - 1), b"{}".to_vec(), b"}".repeat(depth - 1)].concat();
        check(&text);
    }
}

#[test]
fn kernels_agree_on_generated_and_nasty_and_broken_documents() {
    let documents = [
        tamias_testdata::nasty_documents(),
        tamias_testdata::spaced_documents(),
        tamias_testdata::broken_documents(),
    ];
    for document in documents.iter().flatten().filter(|document| !document.is_empty()) {
        check(document);
    }
    let mut generator = tamias_testdata::Generator::new(3, 1000);
    let mut line = Vec::new();
    while generator.write_next(&mut line) {
        check(line.trim_ascii_end());
        line.clear();
    }
}

#[test]
fn kernels_agree_on_real_events() {
    for name in tamias_testdata::DATA_SETS {
        let bytes = tamias_testdata::data_set(name).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        for line in lines.filter(|line| !line.is_empty()).take(1500) {
            check(line);
        }
    }
}

/// Text of few characters that make structure, of any length up to some vectors.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(b"\"\"\\{}[]::,,a1 \x1a\x0c\xc3\xa9".to_vec());
    prop::collection::vec(byte, 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn kernels_agree_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        check(&bytes);
    }

    #[test]
    fn kernels_agree_on_structure_without_sense(bytes in soup()) {
        check(&bytes);
        check(&[b"{", &bytes[..], b"}"].concat());
    }
}
