//! What stands at a path, asked of columns, is what the documents have there.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tamias_json::{Document, Map, Offsets, Value};
use tamias_shred::{
    ArraysAt, AtArrays, AtPath, AtRows, Digits, Encoded, Event, Group, GroupReader, Holds, Length, Numbers,
    SomeTexts, TextPieces, Wanted, Within, encode, group_len,
};
use tamias_testdata::{DATA_SETS, Generator, data_set, nasty_documents};

/// Keys as documents spell them.
type Path = Vec<String>;

/// Adds the paths of all members, down to a depth.
fn paths(map: Map<'_>, around: &Path, paths: &mut BTreeSet<Path>) {
    for (key, value) in map.entries() {
        let mut path = around.clone();
        path.push(String::from_utf8(key.raw().to_vec()).expect("keys are UTF-8"));
        if let (Value::Map(map), true) = (value, path.len() < 4) {
            self::paths(map, &path, paths);
        }
        paths.insert(path);
    }
}

/// The JSON text of what a document has at a path: the last member of each key counts.
fn walk<'d>(map: Map<'d>, path: &[String]) -> &'d [u8] {
    let Some((key, rest)) = path.split_first() else { return &[] };
    let last = map.entries().filter(|(own, _)| own.raw() == key.as_bytes()).last();
    match last {
        None => &[],
        Some((_, value)) if rest.is_empty() => value.raw(),
        Some((_, Value::Map(map))) => walk(map, rest),
        Some(_) => &[],
    }
}

/// The text of a number.
fn spell(numbers: &Numbers, place: usize) -> String {
    let scale = match &numbers.spelled {
        Digits::InFull => numbers.scale,
        Digits::Each(digits) => digits[place],
        Digits::Shortest => {
            let is_enough =
                |scale: &u8| numbers.values[place] % 10i64.pow(u32::from(numbers.scale - scale)) == 0;
            (0..numbers.scale).find(is_enough).unwrap_or(numbers.scale)
        }
    };
    let mantissa = numbers.values[place] / 10i64.pow(u32::from(numbers.scale - scale));
    assert_eq!(mantissa * 10i64.pow(u32::from(numbers.scale - scale)), numbers.values[place]);
    if scale == 0 {
        return mantissa.to_string();
    }
    let digits = format!("{:0width$}", mantissa.unsigned_abs(), width = usize::from(scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    format!("{}{whole}.{fraction}", if mantissa < 0 { "-" } else { "" })
}

/// Puts numbers into the rows that have one.
fn tell_numbers(numbers: &Numbers, told: &mut [Vec<u8>]) {
    let rows = numbers.rows.clone().unwrap_or_else(|| (0..told.len() as u32).collect());
    assert_eq!(rows.len(), numbers.values.len());
    assert!(rows.is_sorted());
    for (place, row) in rows.into_iter().enumerate() {
        told[row as usize] = spell(numbers, place).into_bytes();
    }
}

/// Asks pieces about texts that are known.
fn ask_pieces(pieces: &TextPieces, known: &[Vec<u8>]) {
    let rows: Vec<u32> = (0..known.len() as u32).filter(|row| row % 3 != 1).collect();
    let some = pieces.texts(Some(&rows)).expect("is what was written");
    assert!(some.iter().eq(rows.iter().map(|row| known[*row as usize].as_slice())));
    let is_escaped = |text: &[u8]| text.contains(&b'\\');
    for (length, text) in pieces.lengths().into_iter().zip(known) {
        match (length, serde_json::from_slice::<String>(text)) {
            (Length::Nothing, _) => assert!(text.is_empty()),
            (Length::Characters(length), Ok(read)) => {
                assert_eq!(usize::from(length), read.chars().count(), "{}", String::from_utf8_lossy(text));
            }
            (Length::Untold, _) if is_escaped(text) => {}
            (length, read) => panic!("{length:?} of {}: {read:?}", String::from_utf8_lossy(text)),
        }
    }
    for (part, how) in searches(known) {
        assert_searched(pieces, known, &part, how);
    }
}

/// Asserts that what is read of pieces for a question alone tells what all of them do.
fn ask_spared(reader: &mut GroupReader<'_>, keys: &[&str], pieces: &TextPieces, known: &[Vec<u8>]) {
    assert_eq!(reader.lengths_at(keys), Ok(Some(pieces.lengths())), "{keys:?}");
    for (part, (within, any_case)) in searches(known) {
        let text = if any_case { part.to_ascii_lowercase() } else { part };
        let find = |bytes: &[u8]| {
            bytes.windows(text.len()).any(|part| part == text || any_case && part.eq_ignore_ascii_case(&text))
        };
        let wanted = Wanted { text: &text, any_case, has_others: any_case, within };
        let found = reader.search_at(keys, wanted, find).expect("reads").expect("pieces");
        assert_eq!(found, pieces.search(wanted, find), "{keys:?}: {}", String::from_utf8_lossy(&text));
    }
}

/// What texts are searched for: what some of them have, and some of them do not have.
fn searches(known: &[Vec<u8>]) -> impl Iterator<Item = (Vec<u8>, (Within, bool))> {
    // Parts of the texts themselves, of all lengths and from all places.
    let parts = known.iter().enumerate().step_by(known.len() / 12 + 1).flat_map(|(row, text)| {
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        (0..4).filter_map(move |nth| {
            let from = (row * 7 + nth * 5) % inner.len().max(1);
            inner
                .get(from..(from + 1 + (row + nth * nth) % 9).min(inner.len()))
                .filter(|part| !part.is_empty())
        })
    });
    let inner = |text: &'_ [u8]| text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_vec();
    // Whole texts too, and what they begin and end with.
    let whole = known.iter().step_by(known.len() / 6 + 1).flat_map(|text| {
        let text = inner(text);
        [text.clone(), text[..text.len().min(9)].to_vec(), text[text.len().saturating_sub(9)..].to_vec()]
    });
    let parts: Vec<Vec<u8>> =
        parts.map(<[u8]>::to_vec).chain(whole.filter(|text| !text.is_empty())).collect();
    let others = [&b"no such text"[..], b"1", b"."].map(<[u8]>::to_vec);
    let ways = [Within::Anywhere, Within::Start, Within::End, Within::Whole];
    let ways = ways.into_iter().flat_map(|within| [(within, false), (within, true)]);
    parts.into_iter().chain(others).flat_map(move |part| ways.clone().map(move |way| (part.clone(), way)))
}

/// Asserts that pieces tell whether something stands in texts, or leave it open.
fn assert_searched(pieces: &TextPieces, known: &[Vec<u8>], part: &[u8], (within, any_case): (Within, bool)) {
    let holds = |text: &[u8], wanted: &[u8]| text.windows(wanted.len()).any(|part| part == wanted);
    let spelled = |text: &[u8]| if any_case { text.to_ascii_lowercase() } else { text.to_vec() };
    let wanted = spelled(part);
    let found = pieces.search(Wanted { text: &wanted, any_case, has_others: any_case, within }, |text| {
        holds(&spelled(text), &wanted)
    });
    for (found, text) in found.into_iter().zip(known) {
        let inner = spelled(text.get(1..text.len().saturating_sub(1)).unwrap_or_default());
        let is_in = match within {
            Within::Anywhere => holds(&inner, &wanted),
            Within::Start => inner.starts_with(&wanted),
            Within::End => inner.ends_with(&wanted),
            Within::Whole => inner == wanted,
        };
        let why = || {
            format!("{within:?}: {} in {}", String::from_utf8_lossy(&wanted), String::from_utf8_lossy(text))
        };
        match found {
            Holds::Nothing => assert!(text.is_empty(), "{}", why()),
            Holds::No => assert!(!text.is_empty() && !is_in, "{}", why()),
            // A part of an escape is none of a text; what begins like it, or is all of it, has its escapes too.
            Holds::Yes => {
                let is_whole = match within {
                    Within::Anywhere => characters(&inner).any(|at| inner[at..].starts_with(&wanted)),
                    Within::Start | Within::Whole => true,
                    Within::End => characters(&inner).any(|at| at + wanted.len() == inner.len()),
                };
                assert!(is_in && is_whole, "{}", why());
            }
            Holds::Untold => assert!(!text.is_empty(), "{}", why()),
        }
    }
}

/// Where the characters of a stored string begin, an escape being one.
fn characters(inner: &[u8]) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(0), |at| match inner.get(*at..)? {
        [b'\\', b'u', ..] => Some(at + r"\u0000".len()),
        [b'\\', ..] => Some(at + r"\n".len()),
        [_, ..] => Some(at + 1),
        [] => None,
    })
}

/// What a group has at a path, for each row, as JSON text; none where columns cannot tell.
fn told(at: &AtPath, events: usize) -> Option<Vec<Vec<u8>>> {
    let mut told = vec![Vec::new(); events];
    match at {
        AtPath::Unknown => return None,
        AtPath::Nothing => {}
        AtPath::Coded(coded) => {
            assert_eq!(coded.codes.len(), events);
            for (row, told) in told.iter_mut().enumerate() {
                *told = coded.get(row).expect("a code has an entry").to_vec();
            }
        }
        AtPath::Texts(SomeTexts { rows: None, texts }) => {
            assert_eq!(texts.len(), events);
            for (told, text) in told.iter_mut().zip(texts.iter()) {
                *told = text.to_vec();
            }
        }
        AtPath::Texts(SomeTexts { rows: Some(rows), texts }) => {
            assert!(rows.is_sorted() && texts.iter().all(|text| !text.is_empty()));
            assert_eq!(rows.len(), texts.len());
            for (row, text) in rows.iter().zip(texts.iter()) {
                told[*row as usize] = text.to_vec();
            }
        }
        AtPath::Pieces(pieces) => {
            assert_eq!(pieces.len(), events);
            let texts = pieces.texts(None).expect("is what was written");
            for (told, text) in told.iter_mut().zip(texts.iter()) {
                *told = text.to_vec();
            }
            if let Some(coded) = pieces.coded().expect("is what was written") {
                assert_eq!(coded.codes.len(), events);
                for (row, text) in told.iter().enumerate() {
                    assert_eq!(coded.get(row), Some(text.as_slice()));
                }
            }
            ask_pieces(pieces, &told);
        }
        AtPath::Numbers(numbers) => tell_numbers(numbers, &mut told),
        AtPath::Mixed(mixed) => {
            tell_numbers(&mixed.numbers, &mut told);
            assert!(mixed.rows.is_sorted());
            assert_eq!(mixed.rows.len(), mixed.texts.len());
            for (row, text) in mixed.rows.iter().zip(mixed.texts.iter()) {
                let told = &mut told[*row as usize];
                let is_number = text[0] == b'-' || text[0].is_ascii_digit();
                assert_eq!(is_number, !told.is_empty());
                *told = text.to_vec();
            }
        }
    }
    Some(told)
}

/// Asks for the elements of the arrays at a path, and for what they have inside: whether columns can tell.
fn ask_elements(encoded: &Encoded, group: &Group, path: &Path, scanned: &[Document<'_>]) -> bool {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let of = match group.arrays_at(&keys) {
        AtArrays::Unknown => return false,
        AtArrays::Nothing => {
            assert!(scanned.iter().all(|document| walk(document.root(), path).is_empty()), "{path:?}");
            return false;
        }
        AtArrays::Arrays(of) => of,
    };
    let values: Vec<&[u8]> = scanned.iter().map(|document| walk(document.root(), path)).collect();
    ask_arrays(encoded, group, of, &values, &format!("{path:?}"));
    true
}

/// Asks for the elements of arrays, what they have inside, and the arrays within: what each row has is known.
fn ask_arrays(encoded: &Encoded, group: &Group, of: ArraysAt, values: &[&[u8]], path: &str) {
    let mut reader = group.read(&encoded.frames);
    let arrays = reader.arrays(of).expect("reads");
    let (mut offsets, mut elements) = (Offsets::new(), Vec::new());
    let (mut rows, mut lengths) = (Vec::new(), Vec::new());
    let mut known = BTreeSet::from([Path::new(), vec!["a".to_owned()], vec!["b".to_owned(), "a".to_owned()]]);
    for (row, raw) in (0..).zip(values) {
        let value =
            if raw.is_empty() { Value::Null } else { Value::scan_trusted(raw, &mut offsets).expect("scans") };
        assert!(of.has_objects || !matches!(value, Value::Map(_)), "{path}");
        assert!(of.has_texts || raw.first() != Some(&b'"'), "{path}");
        let Some(array) = value.as_array() else { continue };
        rows.push(row);
        lengths.push(array.iter().count() as i64);
        for element in array.iter() {
            elements.push(element.raw().to_vec());
            if let (Value::Map(map), true) = (element, known.len() < 40) {
                paths(map, &Path::new(), &mut known);
            }
        }
    }
    assert_eq!((arrays.rows, arrays.lengths, of.elements), (rows, lengths, elements.len()), "{path}");
    for below in &known {
        let keys: Vec<&str> = below.iter().map(String::as_str).collect();
        let values: Vec<Vec<u8>> = elements
            .iter()
            .map(|element| match Value::scan_trusted(element, &mut offsets).expect("scans") {
                _ if below.is_empty() => element.clone(),
                Value::Map(map) => walk(map, below).to_vec(),
                _ => Vec::new(),
            })
            .collect();
        match group.arrays_within(of, &keys) {
            AtArrays::Unknown => {}
            AtArrays::Nothing => assert!(values.iter().all(Vec::is_empty), "{below:?} in {path}"),
            AtArrays::Arrays(within) => {
                let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
                ask_arrays(encoded, group, within, &values, &format!("{path}[]{below:?}"));
            }
        }
        let at = reader.at_elements(of, &keys).expect("reads");
        let Some(told) = told(&at, elements.len()) else { continue };
        assert!(group.tells_elements(of, &keys));
        for (told, expected) in told.iter().zip(&values) {
            assert_eq!(
                String::from_utf8_lossy(told),
                String::from_utf8_lossy(expected),
                "{below:?} in elements of {path}"
            );
        }
    }
}

/// Asks for the elements of the arrays that some documents have at a key, which are told: the documents as they are encoded.
fn ask_elements_of(documents: &[String], key: &str) -> Encoded {
    let events = documents.iter().map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    let encoded = encode(&events.collect::<Vec<_>>()).expect("encodes");
    let group = Group::open(&encoded.directory).expect("opens");
    let scanned: Vec<Document<'_>> =
        documents.iter().map(|text| Document::scan_trusted(text.as_bytes()).expect("scans")).collect();
    assert!(ask_elements(&encoded, &group, &vec![key.to_owned()], &scanned));
    encoded
}

/// Asks for all paths of the first group of some documents, and for some that are not there: how many were told in each way.
fn ask<D: AsRef<[u8]>>(documents: &[D]) -> [usize; 7] {
    let events: Vec<Event<'_>> = (0..)
        .zip(documents)
        .map(|(n, document)| Event { instant: 1_000 * n, arrival: n, document: document.as_ref() })
        .collect();
    let events = &events[..group_len(&events)];
    let scanned: Vec<Document<'_>> =
        events.iter().map(|event| Document::scan_trusted(event.document).expect("scans")).collect();
    ask_encoded(&encode(events).expect("encodes"), &scanned)
}

/// The same of an encoded group, whose documents these are.
fn ask_encoded(encoded: &Encoded, scanned: &[Document<'_>]) -> [usize; 7] {
    let mut known = BTreeSet::from([vec!["not there".to_owned()], vec!["a".to_owned(), "b".to_owned()]]);
    scanned.iter().for_each(|document| paths(document.root(), &Path::new(), &mut known));
    let group = Group::open(&encoded.directory).expect("opens");
    let mut ways = [0; 7];
    let step = known.len().div_ceil(150);
    for path in known.iter().step_by(step) {
        ask_elements(encoded, &group, path, scanned);
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let at = group.read(&encoded.frames).at(&keys).expect("reads");
        ways[match &at {
            AtPath::Nothing => 0,
            AtPath::Coded(_) => 1,
            AtPath::Numbers(_) => 2,
            AtPath::Texts(_) => 3,
            AtPath::Unknown => 4,
            AtPath::Mixed(_) => 5,
            AtPath::Pieces(_) => 6,
        }] += 1;
        if let AtPath::Coded(_) | AtPath::Numbers(_) | AtPath::Pieces(_) = &at {
            let named = group.frames_at(&keys);
            let frames =
                encoded.frames.iter().zip(0..).map(|(frame, number)| match named.contains(&number) {
                    true => frame.clone(),
                    false => Vec::new(),
                });
            let told = group.read(&frames.collect::<Vec<_>>()).at(&keys);
            assert_eq!(told.as_ref(), Ok(&at), "{path:?} takes other frames than are named");
        }
        let Some(told) = told(&at, scanned.len()) else { continue };
        if let AtPath::Pieces(pieces) = &at {
            ask_spared(&mut group.read(&encoded.frames), &keys, pieces, &told);
        }
        let rows: Vec<u32> = (0..scanned.len() as u32).filter(|row| row % 7 < 2).collect();
        match group.read(&encoded.frames).at_rows(&keys, &rows).expect("reads") {
            AtRows::All(all) => assert_eq!(all, at, "{path:?}"),
            AtRows::Some(texts) => {
                let expected: Vec<&[u8]> = rows.iter().map(|row| told[*row as usize].as_slice()).collect();
                assert_eq!(texts.iter().collect::<Vec<_>>(), expected, "{path:?}");
            }
        }
        for (row, (told, document)) in told.iter().zip(scanned).enumerate() {
            let expected = walk(document.root(), path);
            assert_eq!(
                String::from_utf8_lossy(told),
                String::from_utf8_lossy(expected),
                "{path:?} of event {row}"
            );
        }
    }
    ways
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|line| line.ends_with(b"}"))
        .collect()
}

#[test]
fn of_generated_events_each_path_is_told() {
    let mut text = Vec::new();
    let mut generator = Generator::new(11, 6_000);
    while generator.write_next(&mut text) {}
    let [_, coded, numbers, texts, unknown, _, pieces] = ask(&lines(&text));
    assert!(coded > 10 && numbers > 10 && texts > 5 && pieces > 2, "{coded} {numbers} {texts} {pieces}");
    assert_eq!(unknown, 0);
}

#[test]
fn of_real_events_each_path_is_told() {
    // Where the sets are not at hand, the generated events above stand for them.
    for name in DATA_SETS {
        let Some(bytes) = data_set(name) else { continue };
        let lines = lines(&bytes[..bytes.len().min(4 << 20)]);
        let scans = |line: &&&[u8]| Document::scan_trusted(line).is_ok();
        ask(&lines.iter().filter(scans).copied().collect::<Vec<_>>());
    }
}

#[test]
fn of_nasty_events_each_path_is_told_or_unknown() {
    let documents = nasty_documents();
    let scans = |document: &&[u8]| Document::scan_trusted(document).is_ok() && document.len() < 1 << 20;
    ask(&documents.iter().map(Vec::as_slice).filter(scans).collect::<Vec<_>>());
}

#[test]
fn the_last_of_equal_keys_counts_at_each_level() {
    let documents = [
        r#"{"a":{"b":1},"a":{"c":2}}"#,
        r#"{"a":{"b":1,"b":"x"}}"#,
        r#"{"a":[1,2],"a":[3]}"#,
        r#"{"a":{"b":7},"c":0,"a":{"b":[8]}}"#,
        r#"{"a":5,"a":{"b":null}}"#,
        r#"{"a.b":1,"":{"":2}}"#,
    ];
    ask(&documents);
}

/// Members of few keys and values of all kinds, nested.
fn member() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        (any::<i16>(), 1..9u8).prop_map(|(whole, digit)| format!("{whole}.0{digit}")),
        Just("1e5".to_owned()),
        Just("-0".to_owned()),
        "[a-c]{0,3}".prop_map(|text| format!("\"{text}\"")),
        "[a-c ]{20,40}".prop_map(|text| format!("\"{text}\"")),
    ];
    let value = scalar.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec(("[ab]", inner), 0..4).prop_map(|members| object(&members)),
        ]
    });
    prop::collection::vec(("[a-d]", value), 0..5).prop_map(|members| object(&members))
}

fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

proptest! {
    #[test]
    fn of_any_events_each_path_is_told_or_unknown(documents in prop::collection::vec(member(), 1..40)) {
        ask(&documents);
    }
}

/// A document with a member before another one, and one of so many documents without it or with it behind. Keys in another order make other shapes, by which values
/// may be stored.
fn beside_another(n: usize, of: usize, key: &str, value: &str) -> String {
    match n % of {
        0 => format!(r#"{{"other":{n}}}"#),
        1 => format!(r#"{{"other":{n},"{key}":{value}}}"#),
        _ => format!(r#"{{"{key}":{value},"other":{n}}}"#),
    }
}

#[test]
fn whole_numbers_texts_and_constants_at_one_path_share_a_dictionary() {
    let value = |n: usize| match n % 5 {
        0 => "\"OK\"".to_owned(),
        1 => "null".to_owned(),
        2 => format!("\"{}\"", n % 3),
        _ => (200 + n % 7 * 50).to_string(),
    };
    let document = |n: usize| beside_another(n, 4, "status", &value(n));
    let documents: Vec<String> = (0..2_000).map(document).collect();
    let [_, coded, numbers, texts, unknown, _, _] = ask(&documents);
    assert_eq!((coded, numbers, texts, unknown), (1, 1, 0, 0));
}

#[test]
fn numbers_too_large_for_a_common_scale_are_told_as_texts() {
    let document = |n: i64| match n % 2 {
        0 => format!(r#"{{"n":{}}}"#, i64::MAX / 10 - 50 + n),
        _ => format!(r#"{{"n":{n}.25}}"#),
    };
    let documents: Vec<String> = (0..100).map(document).collect();
    let [_, coded, numbers, texts, _, _, _] = ask(&documents);
    assert_eq!((coded, numbers, texts), (0, 0, 1));
}

#[test]
fn numbers_beside_null_texts_and_exponents_are_told_as_numbers() {
    let value = |n: usize| match n % 20 {
        3 => "null".to_owned(),
        7 => "5.2e-05".to_owned(),
        11 => "\"n/a\"".to_owned(),
        13 => "false".to_owned(),
        _ => format!("{}.{}", n * 7919 % 100_000, n % 97),
    };
    let document = |n: usize| beside_another(n, 7, "n", &value(n));
    let documents: Vec<String> = (0..2_000).map(document).collect();
    let [_, _, numbers, texts, unknown, mixed, _] = ask(&documents);
    assert_eq!((numbers, texts, unknown, mixed), (1, 0, 0, 1));
}

#[test]
fn elements_are_told_beside_other_values_and_by_what_their_documents_have() {
    let document = |n: usize| match n % 9 {
        0 => r#"{"of":null}"#.to_owned(),
        1 => r#"{"of":"text","other":[1]}"#.to_owned(),
        2 => r#"{"of":[]}"#.to_owned(),
        3 => r#"{"other":1}"#.to_owned(),
        4 => r#"{"of":[7,null,[{"a":1},[]],"x",{"a":{"b":2}}]}"#.to_owned(),
        _ => format!(
            r#"{{"id":"order-{n}","of":[{{"a":"item of order-{n}, no. 1","n":{}.5}},{{"n":{n},"a":"item of order-{n}, no. 2","n":2e5}}]}}"#,
            n % 7
        ),
    };
    let documents: Vec<String> = (0..500).map(document).collect();
    ask(&documents);
    ask_elements_of(&documents, "of");
}

#[test]
fn arrays_in_elements_are_told_unless_one_comes_twice() {
    let document = |n: u32| match n % 5 {
        0 => r#"{"of":[]}"#.to_owned(),
        1 => format!(r#"{{"of":[[{n},[1]],[],[null,"x"]]}}"#),
        2 => format!(r#"{{"of":[{{"b":{{"a":[{{"n":[{n},2]}},{{}}]}}}},{{"a":[]}}]}}"#),
        3 => r#"{"of":7}"#.to_owned(),
        _ => format!(r#"{{"of":[{{"a":[{n}.5,"y"]}},{{"a":{{"k":1}}}},8]}}"#),
    };
    let documents: Vec<String> = (0..300).map(document).collect();
    let encoded = ask_elements_of(&documents, "of");
    let group = Group::open(&encoded.directory).expect("opens");
    let AtArrays::Arrays(of) = group.arrays_at(&["of"]) else { panic!("arrays") };
    for keys in [&[][..], &["a"], &["b", "a"]] {
        assert!(matches!(group.arrays_within(of, keys), AtArrays::Arrays(_)), "{keys:?}");
    }
    assert_eq!(group.arrays_within(of, &["c"]), AtArrays::Nothing);

    let events = [Event { instant: 0, arrival: 0, document: br#"{"of":[{"a":[1],"a":[2]},{"a":[3]}]}"# }];
    let group = Group::open(&encode(&events).expect("encodes").directory).expect("opens");
    let AtArrays::Arrays(of) = group.arrays_at(&["of"]) else { panic!("arrays") };
    assert_eq!(group.arrays_within(of, &["a"]), AtArrays::Unknown);
}

#[test]
fn arrays_that_come_twice_in_a_document_are_not_told() {
    for document in [r#"{"a":[1],"a":[2]}"#, r#"{"a":[1],"a":2}"#, r#"{"b":{"a":[1]},"b":{}}"#] {
        let events = [Event { instant: 0, arrival: 0, document: document.as_bytes() }];
        let encoded = encode(&events).expect("encodes");
        let group = Group::open(&encoded.directory).expect("opens");
        let keys: &[&str] = if document.contains('b') { &["b", "a"] } else { &["a"] };
        assert_eq!(group.arrays_at(keys), AtArrays::Unknown, "{document}");
    }
}

/// Messages of two templates, of which one refers to a text that is a template itself.
fn messages() -> Vec<String> {
    (0..400u32)
        .map(|n| {
            let path = format!("/shop/{}/items/{}", n * 7919 % 1000, n * 31 % 977);
            let ms = f64::from(n * 37 % 1000) / 10.0;
            match n % 3 {
                0 => format!(r#"{{"Message":"User {n} left","User":{n}}}"#),
                1 => format!(r#"{{"Path":"{path}","ms":{ms:.1},"Message":"GET {path} took {ms:.1} ms"}}"#),
                _ => format!(r#"{{"City":"Zürich","User":{n},"Message":"User {n} came from Zürich"}}"#),
            }
        })
        .collect()
}

#[test]
fn pieces_tell_what_stands_in_texts_without_putting_them_together() {
    let documents = messages();
    let events: Vec<Event> =
        documents.iter().map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() }).collect();
    let encoded = encode(&events).unwrap();
    let group = Group::open(&encoded.directory).unwrap();
    let AtPath::Pieces(pieces) = group.read(&encoded.frames).at(&["Message"]).unwrap() else {
        panic!("messages are templates");
    };
    let search = |text: &[u8]| {
        let find = |piece: &[u8]| piece.windows(text.len()).any(|part| part == text);
        pieces.search(Wanted { text, any_case: false, has_others: false, within: Within::Anywhere }, find)
    };
    let by_kind =
        |[left, took, came]: [Holds; 3]| (0..400).map(move |n| [left, took, came][n % 3]).collect::<Vec<_>>();
    // In a literal, in a text that is a template itself, in one that many events share.
    assert_eq!(search(b" took "), by_kind([Holds::No, Holds::Yes, Holds::No]));
    assert_eq!(search(b"/items/"), by_kind([Holds::No, Holds::Yes, Holds::No]));
    assert_eq!(search("üric".as_bytes()), by_kind([Holds::No, Holds::No, Holds::Yes]));
    // In numbers.
    let in_numbers = search(b"99");
    assert!(in_numbers.contains(&Holds::Yes) && in_numbers.contains(&Holds::No));
    assert!(!in_numbers.contains(&Holds::Untold));
    // Across pieces: put together, they tell.
    assert!(search(b"T /shop/").iter().enumerate().all(|(n, holds)| (n % 3 == 1) == (*holds != Holds::No)));
    assert!(pieces.lengths().iter().all(|length| matches!(length, Length::Characters(10..))));
    let texts = pieces.texts(Some(&[5, 7])).unwrap();
    assert_eq!(texts.get(0), Some("\"User 5 came from Zürich\"".as_bytes()));
    assert_eq!(texts.get(1), Some(&b"\"GET /shop/433/items/217 took 25.9 ms\""[..]));
}

/// Every other event announces the job of the next one, which alone has it: as a text by template that refers to the number of its own event.
fn announced(others: &str) -> Vec<String> {
    let job = |n: u32| format!("job-{}/run", 1000 + n * 7);
    let document = |n: u32| match n % 2 {
        0 => format!(r#"{{"Id":{},"Job":"{}","m":"start {} now"}}"#, 1000 + n * 7, job(n), job(n)),
        _ => format!(r#"{{{others}"m":"start {} now"}}"#, job(n + 1)),
    };
    (0..60).map(document).collect()
}

/// The directory and the frames of a group in a file, each behind its length.
fn stored(mut bytes: &[u8]) -> Encoded {
    let mut parts = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (part, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        parts.push(part.to_vec());
        bytes = rest;
    }
    Encoded { directory: parts.remove(0), frames: parts, text_bytes: 0, fell_back: false }
}

/// Encoders before 28 November 2026 wrote such texts, which these groups are from.
#[test]
fn a_text_may_show_the_next_value_of_a_text_by_template_that_its_event_has_not() {
    for (others, bytes) in [
        ("", include_bytes!("groups/next_value.group").as_slice()),
        (r#""n":1,"#, include_bytes!("groups/next_value_beside.group")),
    ] {
        let documents = announced(others);
        let texts = documents.iter().map(String::as_bytes);
        let scanned: Vec<Document<'_>> = texts.map(|text| Document::scan_trusted(text).unwrap()).collect();
        let encoded = stored(bytes);
        ask_encoded(&encoded, &scanned);
        let group = Group::open(&encoded.directory).unwrap();
        let AtPath::Pieces(pieces) = group.read(&encoded.frames).at(&["m"]).unwrap() else {
            panic!("messages are templates");
        };
        assert!(pieces.lengths()[..59].iter().all(|length| *length == Length::Characters(22)));
        let text: &[u8] = b"1014";
        let find = |piece: &[u8]| piece.windows(text.len()).any(|part| part == text);
        let wanted = Wanted { text, any_case: false, has_others: false, within: Within::Anywhere };
        let found = pieces.search(wanted, find);
        let having: Vec<usize> = (0..60).filter(|row| found[*row] != Holds::No).collect();
        assert_eq!(having, [1, 2]);
    }
}
