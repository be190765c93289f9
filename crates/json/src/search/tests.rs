//! What is found is what is there: against plain searches, and against the documents scanned one by one.

use super::*;
use crate::number::{Bound, compare};
use crate::validate::{Limits, minify_object};
use crate::{Document, Isa, Kind, Value};
use proptest::prelude::*;
use tamias_testdata::{Generator, nasty_documents};

struct Block {
    bytes: Vec<u8>,
    ends: Vec<[u8; 4]>,
    /// A bit for each document that no shortcut can mistake.
    flat: Vec<u8>,
}

impl Block {
    /// The documents as they are stored.
    fn of<'d>(documents: impl IntoIterator<Item = &'d [u8]>) -> Block {
        let mut block = Block { bytes: Vec::new(), ends: Vec::new(), flat: Vec::new() };
        for document in documents {
            let start = block.bytes.len();
            minify_object(document, &Limits::default(), &mut block.bytes).unwrap();
            if block.ends.len().is_multiple_of(8) {
                block.flat.push(0);
            }
            *block.flat.last_mut().unwrap() |=
                u8::from(is_flat(&block.bytes[start..])) << (block.ends.len() % 8);
            block.ends.push((block.bytes.len() as u32).to_le_bytes());
            block.bytes.push(b'\n');
        }
        block
    }

    fn documents(&self) -> Documents<'_> {
        Documents::new(&self.bytes, &self.ends).unwrap()
    }
}

/// Whether a document holds no object, no key more than once, and none with a backslash.
fn is_flat(text: &[u8]) -> bool {
    fn holds_map(value: Value<'_>) -> bool {
        match value {
            Value::Map(_) => true,
            Value::Array(array) => array.iter().any(holds_map),
            _ => false,
        }
    }
    let document = Document::scan_trusted(text).unwrap();
    let keys: Vec<&[u8]> = document.root().entries().map(|(key, _)| key.raw()).collect();
    let is_repeated = keys.iter().enumerate().any(|(at, key)| keys[..at].contains(key));
    let is_escaped = keys.iter().any(|key| key.contains(&b'\\'));
    !is_repeated && !is_escaped && !document.root().entries().any(|(_, value)| holds_map(value))
}

/// Checks every answer for a key against the documents scanned; gives how many were sure.
fn check_key(block: &Block, name: &str, isa: Isa) -> usize {
    check_documents(block, block.documents().with_plain(&block.flat), name, isa);
    check_documents(block, block.documents(), name, isa)
}

/// All occurrences are found, but some of crowded documents.
fn check_places(documents: Documents<'_>, found: &Occurrences, all: &[u32]) {
    let is_there = |place: &u32| found.offsets.binary_search(place).is_ok();
    assert!(found.offsets.is_sorted() && found.offsets.iter().all(|place| all.binary_search(place).is_ok()));
    let crowded: Vec<_> = found.crowded.iter().map(|index| documents.range(*index as usize)).collect();
    for range in &crowded {
        let noted = found.offsets.iter().filter(|place| range.contains(&(**place as usize))).count();
        assert!(noted > find::CROWD, "{noted}");
    }
    for missing in all.iter().filter(|place| !is_there(place)) {
        assert!(crowded.iter().any(|range| range.contains(&(*missing as usize))), "{missing} is missing");
    }
}

fn is_not_null(text: &[u8]) -> bool {
    text.first() != Some(&b'n')
}

/// Checks the places of a key that are kept, and what is told from them, against the documents scanned.
fn check_places_kept(block: &Block, documents: Documents<'_>, name: &str, needle: &Needle, isa: Isa) {
    let places = documents.places(isa, needle, name);
    let (mut passes, mut have) = (Vec::new(), Vec::new());
    documents.pass(isa, &places, &Test::Holds(&is_not_null), &mut passes);
    documents.have_within(isa, &Needle::new(b"ab").unwrap(), &places, &mut have);
    for (index, place) in places.iter().enumerate() {
        let text = &block.bytes[documents.range(index)];
        let told = || format!("{name} in {}", String::from_utf8_lossy(text));
        let document = Document::scan_trusted(text).unwrap();
        let there: Vec<_> = document.root().entries().filter(|(key, _)| key.text() == name).collect();
        let value = there.last().map(|(_, value)| *value);
        // What comes twice, or in the last document, is told by a scan.
        let is_doubtful = there.len() > 1 || documents.range(index).end + 200 > block.bytes.len();
        let expect = |found: Match, is_so: bool, is_doubtful: bool| match found {
            Match::Maybe => assert!(is_doubtful, "{}", told()),
            found => assert_eq!(found == Match::Yes, is_so, "{}", told()),
        };
        expect(passes[index], value.is_some_and(|value| value.kind() != Kind::Null), is_doubtful);
        let raw = value.and_then(|value| value.as_str()).map_or(&b""[..], |string| string.raw());
        let has_text = raw.windows(2).any(|two| two == b"ab");
        expect(have[index], has_text, is_doubtful || raw.contains(&b'\\'));
        let nested = value.map(|value| value.raw()).filter(|raw| matches!(raw[0], b'[' | b'{'));
        assert_eq!(place.nested().map(|range| &block.bytes[range]), nested, "{}", told());
        match place.span() {
            Span::Absent => assert!(value.is_none(), "{}", told()),
            Span::Unsure => assert!(nested.is_some(), "{}", told()),
            Span::Value(start, end) => {
                assert_eq!(Some(&block.bytes[start as usize..end as usize]), value.map(|value| value.raw()));
            }
        }
    }
}

fn check_documents(block: &Block, documents: Documents<'_>, name: &str, isa: Isa) -> usize {
    let Some(mut needle) = Needle::key(name) else { return 0 };
    check_places_kept(block, documents, name, &needle, isa);
    let (mut found, mut values) = (Occurrences::default(), Vec::new());
    documents.find(isa, &needle, &mut found);
    let plain: Vec<u32> = (0..block.bytes.len())
        .filter(|&at| block.bytes[at..].starts_with(needle.bytes()))
        .map(|at| at as u32)
        .collect();
    check_places(documents, &found, &plain);
    needle.tune(isa, &block.bytes);
    documents.find(isa, &needle, &mut found);
    check_places(documents, &found, &plain);
    documents.values(isa, &needle, &found, &mut values);
    let mut single = vec![Span::Unsure; documents.len()];
    let indices: Vec<u32> = (0..documents.len() as u32).collect();
    documents.values_of(isa, &needle, &indices, &mut single);
    for (index, place) in indices.iter().zip(&single) {
        let (mut lengths, mut left) = (Vec::new(), Vec::new());
        documents.lengths(isa, &single, &[*index], &mut lengths, &mut left);
        let value = match *place {
            Span::Value(start, end) => Value::of_scalar(&block.bytes[start as usize..end as usize]).as_str(),
            Span::Absent | Span::Unsure => None,
        };
        let Some(string) = value else {
            assert_eq!((lengths.as_slice(), left.is_empty()), (&[][..], *place != Span::Unsure));
            continue;
        };
        let is_near_the_end = documents.range(*index as usize).end + 200 > block.bytes.len();
        if left.is_empty() {
            let significand = string.text().chars().count() as i64;
            assert_eq!(lengths, [FewDigits { significand, scale: 0, at: 0 }], "{string:?}");
        } else {
            assert!(is_near_the_end || string.raw().windows(2).any(|two| two == b"\\u"), "{string:?}");
        }
    }
    let mut kept = Vec::new();
    documents.keep(isa, &needle, &found, &Test::Holds(&is_not_null), &mut kept);
    let mut matches = Vec::new();
    documents.matches(isa, &needle, &found, &kept, &mut matches);
    let mut sure = 0;
    for (index, place) in values.iter().enumerate() {
        let text = &block.bytes[documents.range(index)];
        let document = Document::scan_trusted(text).unwrap();
        let there: Vec<_> = document.root().entries().filter(|(key, _)| key.text() == name).collect();
        let is_kept = there.last().is_some_and(|(_, value)| value.kind() != Kind::Null);
        match matches[index] {
            Match::Maybe => {}
            found => assert_eq!(found == Match::Yes, is_kept, "{name} in {}", String::from_utf8_lossy(text)),
        }
        for place in [place, &single[index]] {
            match *place {
                Span::Absent => assert!(there.is_empty(), "{name} in {}", String::from_utf8_lossy(text)),
                Span::Unsure => {}
                Span::Value(start, end) => {
                    let value = there.last().unwrap().1;
                    assert!(!matches!(value.kind(), Kind::Array | Kind::Map));
                    assert_eq!(value.raw(), &block.bytes[start as usize..end as usize]);
                }
            }
        }
        sure += usize::from(*place != Span::Unsure && single[index] != Span::Unsure);
    }
    sure
}

/// Checks the answers for a text in a key's value against the documents scanned; gives how many were sure.
fn check_text(block: &Block, name: &str, text: &str, isa: Isa) -> usize {
    let Some(key) = Needle::key(name) else { return 0 };
    let mut quoted = Vec::new();
    crate::write_json_string(text, &mut quoted);
    let inner = &quoted[1..quoted.len() - 1];
    let from_key = |value: &[u8]| Needle::new(&[key.bytes(), value].concat());
    let mut sure = 0;
    for documents in [block.documents(), block.documents().with_plain(&block.flat)] {
        for (needle, held) in [
            (Needle::new(inner), Held::Within(inner.len())),
            (from_key(&quoted[..quoted.len() - 1]), Held::First(&quoted[..quoted.len() - 1])),
            (from_key(&quoted), Held::Whole(&quoted)),
        ] {
            let Some(needle) = needle else { continue };
            let (mut found, mut matches) = (Occurrences::default(), Vec::new());
            let mut values = vec![Span::Unsure; documents.len()];
            documents.find(isa, &needle, &mut found);
            documents.holds(isa, &key, held, &found, &mut values, &mut matches);
            for (index, found) in matches.iter().enumerate() {
                let bytes = &block.bytes[documents.range(index)];
                let document = Document::scan_trusted(bytes).unwrap();
                let value = document.root().entries().filter(|(key, _)| key.text() == name).last();
                let value = value.map(|(_, value)| value);
                let string = value.as_ref().and_then(Value::as_str).map(|string| string.text().into_owned());
                let is_held = string.is_some_and(|string| match held {
                    Held::Within(_) => string.contains(text),
                    Held::First(_) => string.starts_with(text),
                    Held::Whole(_) => string == text,
                });
                let shown = || format!("{text} {held:?} in {name} of {}", String::from_utf8_lossy(bytes));
                assert!(*found == Match::Maybe || (*found == Match::Yes) == is_held, "{}", shown());
                if let Span::Value(start, end) = values[index] {
                    assert_eq!(
                        value.map(|value| value.raw()),
                        Some(&block.bytes[start as usize..end as usize])
                    );
                }
                sure += usize::from(*found != Match::Maybe);
            }
        }
    }
    sure
}

/// Whether a string among the values has a text in it, those of repeated keys included.
fn has_text(value: Value<'_>, text: &str) -> bool {
    match value {
        Value::Map(map) => map.entries().any(|(_, value)| has_text(value, text)),
        Value::Array(array) => array.iter().any(|value| has_text(value, text)),
        other => other.as_str().is_some_and(|string| string.text().contains(text)),
    }
}

/// Checks of each document whether it has a text somewhere; gives how many answers were sure.
fn check_has_text(block: &Block, text: &str, isa: Isa) -> usize {
    let mut quoted = Vec::new();
    crate::write_json_string(text, &mut quoted);
    let Some(needle) = Needle::new(&quoted[1..quoted.len() - 1]) else { return 0 };
    let (documents, mut found, mut matches) = (block.documents(), Occurrences::default(), Vec::new());
    documents.find(isa, &needle, &mut found);
    documents.have_text(isa, &needle, &found, &mut matches);
    for (index, found) in matches.iter().enumerate() {
        let bytes = &block.bytes[documents.range(index)];
        let document = Document::scan_trusted(bytes).unwrap();
        let has = document.root().entries().any(|(_, value)| has_text(value, text));
        let shown = || format!("{text} in {}", String::from_utf8_lossy(bytes));
        assert!(*found == Match::Maybe || (*found == Match::Yes) == has, "{}", shown());
    }
    matches.iter().filter(|found| **found != Match::Maybe).count()
}

#[test]
fn texts_in_strings_of_values_and_not_in_keys() {
    let documents = [
        r#"{"timeout":1,"a":"b"}"#,
        r#"{"a":{"b":["x",{"c":"a timeout"}]}}"#,
        r#"{"timeout":"timeout"}"#,
        r#"{"a":"timeout","a":1}"#,
        r#"{"a":"a\\","timeout":"\\"}"#,
        r#"{"a":"\\ntimeout","ntimeout":2}"#,
        r#"{"a":"\ntimeout"}"#,
        r#"{"a":"\u001ftimeout"}"#,
        r#"{"a":true,"b":[1e3,true]}"#,
        r#"{"a":"true"}"#,
        r#"{"a":"say \"timeout\","}"#,
        r#"{"say \"timeout\",":"timeou"}"#,
        r#"{"a":"timeou","b":"\\\\\\n"}"#,
    ];
    let block = Block::of(documents.iter().map(|document| document.as_bytes()));
    let nasty = nasty_documents();
    let nasty = Block::of(nasty.iter().map(Vec::as_slice));
    for isa in Isa::available() {
        for text in [
            "timeout",
            "ntimeout",
            "1ftimeout",
            "true",
            "e3",
            "out\"",
            "\",",
            "\\ntime",
            "\\n",
            "\\\\\\",
            ":1,",
            "abc",
        ] {
            check_has_text(&block, text, isa);
            check_has_text(&nasty, text, isa);
        }
        assert_eq!(check_has_text(&block, "timeout", isa), block.ends.len());
    }
}

const NAMES: [&str; 16] = [
    "Elapsed",
    "Message",
    "a",
    "b",
    "",
    ",",
    ":",
    "]x",
    "}",
    "@t",
    "é",
    "a\"b",
    "a\\b",
    "Application",
    "\"",
    "x\\",
];

#[test]
fn keys_of_nasty_documents() {
    let nasty = nasty_documents();
    for isa in Isa::available() {
        let valid = nasty
            .iter()
            .filter(|document| minify_object(document, &Limits::default(), &mut Vec::new()).is_ok());
        let block = Block::of(valid.map(Vec::as_slice));
        for name in NAMES {
            check_key(&block, name, isa);
            for text in ["ab", "a\"", "\\n", "\n", "n", "é", "300", "Elapsed", "\"Elapsed\":", ":", "{\""] {
                check_text(&block, name, text, isa);
            }
        }
    }
}

#[test]
fn most_generated_documents_have_a_sure_answer() {
    let mut generator = Generator::new(7, 2000);
    let mut events = Vec::new();
    while generator.write_next(&mut events) {}
    let block = Block::of(events.trim_ascii_end().split(|byte| *byte == b'\n'));
    for isa in Isa::available() {
        for name in ["Elapsed", "Message", "Application", "RequestId", "@t", "@x", "none"] {
            let sure = check_key(&block, name, isa);
            assert!(sure >= 1950, "{name}: {sure} of 2000 by {}", isa.name());
            for text in ["/api/customers", "Shop.Web", "GET", "\n", "GET /api/customers/4590/recommendations"]
            {
                let sure = check_text(&block, name, text, isa);
                assert!(sure >= 6 * 1900, "{name}, {text}: {sure} of 12000 by {}", isa.name());
            }
        }
    }
}

#[test]
fn a_part_of_the_documents_is_searched_alone() {
    let block = Block::of([&br#"{"a":1}"#[..], br#"{"a":2}"#, br#"{"b":3}"#, br#"{"a":4}"#]);
    let needle = Needle::key("a").unwrap();
    for isa in Isa::available() {
        let mut found = Occurrences::default();
        block.documents().part(1..3).find(isa, &needle, &mut found);
        assert_eq!(found.offsets, [9]);
        block.documents().part(3..9).find(isa, &needle, &mut found);
        assert_eq!(found.offsets, [25]);
        block.documents().part(4..9).find(isa, &needle, &mut found);
        assert!(found.offsets.is_empty());
    }
}

#[test]
fn numbers_where_they_stand() {
    let numbers = [
        "0",
        "-0",
        "0.0",
        "-0.0",
        "1",
        "9",
        "10",
        "199",
        "200",
        "200.0",
        "200.00000000000000000001",
        "201.5e-3",
        "2e2",
        "2E+2",
        "1999e-3",
        "199.9999",
        "200.5",
        "1772.452",
        "99999999",
        "100000000",
        "123456789012345678",
        "1234567.12345678",
        "12345678.1",
        "-200",
        "-200.5",
        "0.5",
        "-1e9",
        "1e-9",
        "20000e-2",
        "0e5",
    ];
    for bound in ["0", "-0", "1", "200", "200.5", "-200", "99999999", "100000000", "2e2", "0.001", "12345678"]
    {
        let prepared = Bound::new(bound);
        for number in numbers {
            for behind in [",\"next\":1}", "}", "}\n{\"Elapsed\":12345678}", ",\"b\":[1,2,3,4,5,6]}"] {
                let text = format!("{number}{behind}");
                let order = prepared.compare_beginning(text.as_bytes());
                assert_eq!(order, Some(compare(number, bound)), "{text} to {bound}");
            }
            assert_eq!(prepared.compare_beginning(number.as_bytes()), Some(compare(number, bound)));
        }
        for other in ["\"200\",", "null,\"a\":1", "true}", "[1]", "{}", "", "x"] {
            assert_eq!(prepared.compare_beginning(other.as_bytes()), None, "{other}");
        }
    }
}

#[test]
fn numbers_of_many_forms_compared_together() {
    let numbers = [
        "0",
        "-0",
        "0.0",
        "7",
        "200",
        "199",
        "201",
        "200.0",
        "200.5",
        "199.9",
        "2000",
        "1999999",
        "12345678",
        "1e3",
        "2e2",
        "-5",
        "1234567.25",
        "0.25",
        "20.00000000000001",
        "200.000000000000001",
        "1e-3",
        "99",
        "null",
        "\"200\"",
        "true",
        "[200]",
        "{}",
        "123456789012",
        "1.5e3",
    ];
    // At all distances from each other, and up to the end of the bytes.
    let objects: Vec<String> = (0..300)
        .map(|n| format!(r#"{{"x":"{}","n":{}}}"#, "y".repeat(n % 23), numbers[n * 7 % numbers.len()]))
        .collect();
    let block = Block::of(objects.iter().map(String::as_bytes));
    let needle = Needle::key("n").unwrap();
    for bound in ["0", "7", "200", "1999999", "9999999", "12345678", "0.25", "-5"] {
        for bits in 0..16 {
            let wanted = Wanted {
                less: bits & 1 != 0,
                equal: bits & 2 != 0,
                greater: bits & 4 != 0,
                others: bits & 8 != 0,
            };
            let is_wanted = |number: &str| {
                if !number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
                    return wanted.others;
                }
                match compare(number, bound) {
                    std::cmp::Ordering::Less => wanted.less,
                    std::cmp::Ordering::Equal => wanted.equal,
                    std::cmp::Ordering::Greater => wanted.greater,
                }
            };
            let expected: Vec<u32> =
                (0..300).filter(|n| is_wanted(numbers[*n as usize * 7 % numbers.len()])).collect();
            for isa in Isa::available() {
                let (mut found, mut kept) = (Occurrences::default(), Vec::new());
                block.documents().find(isa, &needle, &mut found);
                let bound = Bound::new(bound);
                let test = Test::Compares(&bound, wanted);
                block.documents().keep(isa, &needle, &found, &test, &mut kept);
                assert_eq!(kept, expected, "{wanted:?} {bound:?} by {}", isa.name());
                let places = block.documents().places(isa, &needle, "n");
                let documents = block.documents().part(1..298);
                let mut passes = Vec::new();
                documents.pass(isa, &places, &test, &mut passes);
                let passing = (1..).zip(&passes).filter(|(_, passes)| **passes != Match::No);
                let inner: Vec<u32> = expected.iter().copied().filter(|n| (1..298).contains(n)).collect();
                assert_eq!(passing.map(|(n, _)| n).collect::<Vec<u32>>(), inner, "{wanted:?} {bound:?}");
            }
        }
    }
}

#[test]
fn numbers_among_several() {
    let numbers = [
        "0",
        "-0",
        "1",
        "10",
        "1.0",
        "1.00",
        "1.50",
        "1.05",
        "2.000",
        "1e0",
        "12",
        "-1",
        "100000000",
        "99999999",
        "\"1\"",
        "null",
        "0.5",
        "2",
    ];
    let objects: Vec<String> = numbers.iter().map(|number| format!(r#"{{"n":{number}}}"#)).collect();
    let block = Block::of(objects.iter().map(String::as_bytes));
    let needle = Needle::key("n").unwrap();
    let lists = [&["1", "2"][..], &["0", "99999999"], &["100000000", "12"], &["0.5", "1"], &[]];
    for (isa, wanted) in Isa::available().into_iter().flat_map(|isa| lists.map(|wanted| (isa, wanted))) {
        let bounds: Vec<Bound> = wanted.iter().map(|text| Bound::new(text)).collect();
        let (mut found, mut kept) = (Occurrences::default(), Vec::new());
        block.documents().find(isa, &needle, &mut found);
        let test = Test::EqualsAny(&bounds);
        block.documents().keep(isa, &needle, &found, &test, &mut kept);
        let is_number = |text: &str| text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let is_wanted =
            |number: &str| is_number(number) && wanted.iter().any(|wanted| compare(number, wanted).is_eq());
        let expected: Vec<u32> =
            (0..).zip(&numbers).filter(|(_, text)| is_wanted(text)).map(|(at, _)| at).collect();
        assert_eq!(kept, expected, "{wanted:?} by {}", isa.name());
    }
}

#[test]
fn a_constant_of_the_last_document_has_its_place() {
    let block = Block::of([br#"{"a":true}"#, &br#"{"a":1,"b":{"a":null},"a":false,"c":2}"#[..]]);
    for isa in Isa::available() {
        let places = block.documents().places(isa, &Needle::key("a").unwrap(), "a");
        let read = |place: &Place| match place.span() {
            Span::Value(start, end) => String::from_utf8_lossy(&block.bytes[start as usize..end as usize]),
            other => panic!("{other:?}"),
        };
        assert_eq!(places.iter().map(read).collect::<Vec<_>>(), ["true", "false"]);
    }
}

#[test]
fn of_a_crowded_document_the_first_places_are_found() {
    let crowd = format!(r#"{{"b":[{}],"a":7}}"#, vec![r#"{"a":1}"#; 10_000].join(","));
    let block = Block::of([br#"{"a":1}"#, crowd.as_bytes(), br#"{"a":2}"#, br#"{"b":3}"#, br#"{"a":4}"#]);
    let needle = Needle::key("a").unwrap();
    for isa in Isa::available() {
        let (mut found, mut matches, mut values) = (Occurrences::default(), Vec::new(), Vec::new());
        block.documents().find(isa, &needle, &mut found);
        assert_eq!(found.crowded, [1]);
        assert!(found.offsets.len() < 1000, "{}", found.offsets.len());
        let last_two: Vec<u8> =
            found.offsets[found.offsets.len() - 2..].iter().map(|at| block.bytes[*at as usize + 4]).collect();
        assert_eq!(last_two, b"24");
        block.documents().matches(isa, &needle, &found, &[0], &mut matches);
        assert_eq!(matches, [Match::Yes, Match::Maybe, Match::No, Match::No, Match::No]);
        block.documents().values(isa, &needle, &found, &mut values);
        assert_eq!((values[1], values[3]), (Span::Unsure, Span::Absent));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_safe(
        bytes in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'a'), Just(b':'), Just(b'{'), Just(b'\\'), any::<u8>()], 0..400),
        ends in proptest::collection::vec(0u32..500, 0..8),
    ) {
        let ends: Vec<[u8; 4]> = ends.iter().map(|end| end.to_le_bytes()).collect();
        let documents = Documents::new(&bytes, &ends).unwrap();
        let needle = Needle::key("a").unwrap();
        let indices: Vec<u32> = (0..10).collect();
        let mut answers = Vec::new();
        for isa in Isa::available() {
            let (mut found, mut values, mut kept) = (Occurrences::default(), Vec::new(), Vec::new());
            let mut matches = Vec::new();
            let wanted = Wanted { less: true, equal: false, greater: false, others: true };
            documents.find(isa, &needle, &mut found);
            documents.values(isa, &needle, &found, &mut values);
            documents.values_of(isa, &needle, &indices, &mut values);
            let bound = Bound::new("2");
            documents.keep(isa, &needle, &found, &Test::Compares(&bound, wanted), &mut kept);
            documents.matches(isa, &needle, &found, &kept, &mut matches);
            let mut with_text = Vec::new();
            documents.have_text(isa, &needle, &found, &mut with_text);
            let mut held = vec![(Vec::new(), with_text)];
            for plain in [&[][..], &[u8::MAX]] {
                let documents = documents.with_plain(plain);
                let mut values = vec![Span::Unsure; documents.len()];
                for wanted in [Held::Within(needle.bytes().len()), Held::First(b"a"), Held::Whole(b"a")] {
                    let mut matches = Vec::new();
                    documents.holds(isa, &needle, wanted, &found, &mut values, &mut matches);
                    held.push((values.clone(), matches));
                }
            }
            answers.push((found, values, kept, matches, held));
        }
        prop_assert!(answers.windows(2).all(|two| two[0] == two[1]));
    }

    #[test]
    fn needles_are_found_wherever_they_stand(
        text in "[ab]{0,300}",
        needle in "[ab]{2,80}",
    ) {
        let needle = Needle::new(needle.as_bytes()).unwrap();
        let plain: Vec<u32> = (0..text.len())
            .filter(|&at| text.as_bytes()[at..].starts_with(needle.bytes()))
            .map(|at| at as u32)
            .collect();
        let ends = [(text.len() as u32).to_le_bytes()];
        for isa in Isa::available() {
            let mut found = Occurrences::default();
            let documents = Documents::new(text.as_bytes(), &ends).unwrap();
            documents.find(isa, &needle, &mut found);
            check_places(documents, &found, &plain);
        }
    }
}

proptest! {
    #[test]
    fn a_needle_in_any_case_stands_where_the_bytes_do_in_lower_case(
        bytes in "[a-cA-C1@`{]{0,300}",
        needle in "[a-cA-C1@`{]{2,4}|[ab]{70}",
    ) {
        let (lower, wanted) = (bytes.to_ascii_lowercase(), needle.to_ascii_lowercase());
        let all: Vec<u32> = (0..bytes.len()).filter(|at| lower[*at..].starts_with(&wanted)).map(|at| at as u32).collect();
        let folded = Needle::folded(needle.as_bytes()).unwrap();
        let ends = [(bytes.len() as u32).to_le_bytes()];
        for isa in Isa::available() {
            prop_assert_eq!(folded.first_in(isa, bytes.as_bytes()), all.first().map(|first| *first as usize));
            let exact = Needle::new(needle.as_bytes()).unwrap();
            prop_assert_eq!(exact.first_in(isa, bytes.as_bytes()), bytes.find(&needle));
            let mut found = Occurrences::default();
            let documents = Documents::new(bytes.as_bytes(), &ends).unwrap();
            documents.find(isa, &folded, &mut found);
            check_places(documents, &found, &all);
        }
    }
}
