//! Columns of numbers that are told from others, and columns whose values are those of another.

use tamias_shred::{AtPath, ColumnValues, Encoded, Event, Group, Values, encode};

fn encoded(documents: &[String]) -> Encoded {
    let events: Vec<Event<'_>> = (0..)
        .zip(documents)
        .map(|(n, document)| Event { instant: n, arrival: n, document: document.as_bytes() })
        .collect();
    let encoded = encode(&events).expect("encodes");
    let group = Group::open(&encoded.directory).expect("opens");
    let mut reader = group.read(&encoded.frames);
    assert!(reader.documents().expect("reads").iter().eq(documents.iter().map(String::as_bytes)));
    for (row, document) in documents.iter().enumerate().step_by(97) {
        assert_eq!(reader.document(row).expect("reads"), document.as_bytes());
    }
    encoded
}

fn encoding(group: &Group, path: &str) -> &'static str {
    group.columns().find(|column| column.path == path).expect("a column").encoding
}

/// What was added, and what was deleted.
fn numbers(n: i64) -> (i64, i64) {
    (n * 7_919 % 4_001 * (n % 3).min(1), n * 104_729 % 997 * (n % 2))
}

#[test]
fn what_was_added_less_what_was_deleted_is_not_stored() {
    let document = |n| {
        let (added, deleted) = numbers(n);
        format!("{{\"delta\":{},\"added\":{added},\"deleted\":{deleted}}}", added - deleted)
    };
    let documents: Vec<String> = (0..3_000).map(document).collect();
    let encoded = encoded(&documents);
    let group = Group::open(&encoded.directory).expect("opens");
    assert_eq!(encoding(&group, "delta"), "difference");
    let delta = group.find(&["delta"])[0];
    assert_eq!(group.columns().nth(delta).expect("a column").stored, 0.0);
    let expected: Vec<i64> = (0..3_000).map(numbers).map(|(added, deleted)| added - deleted).collect();
    let mut reader = group.read(&encoded.frames);
    let between: Vec<bool> = expected.iter().map(|delta| (-100..=250).contains(delta)).collect();
    assert_eq!(reader.between(delta, -100, 250).expect("reads"), between);
    let AtPath::Numbers(at) = reader.at(&["delta"]).expect("reads") else { panic!("no numbers") };
    assert_eq!((at.values, at.scale), (expected.clone(), 0));
    assert_eq!(reader.column(delta).expect("reads"), ColumnValues::Simple(Values::Whole(expected)));
    // A query that names it reads what it consists of.
    let frames = |key| group.frames_at(&[key]).into_iter().collect::<std::collections::BTreeSet<_>>();
    assert!(frames("delta").is_superset(&frames("added")) && frames("delta").is_superset(&frames("deleted")));
}

#[test]
fn differences_stand_by_shape_where_the_numbers_do() {
    let document = |n: i64| {
        let (added, deleted) = numbers(n);
        let (added, deleted) = if n % 5 == 0 { (70_000, 3) } else { (added, deleted) };
        let kind = if n % 5 == 0 { "\"robot\":true" } else { "\"name\":\"x\"" };
        format!("{{\"delta\":{},{kind},\"added\":{added},\"deleted\":{deleted}}}", added - deleted)
    };
    encoded(&(0..3_000).map(document).collect::<Vec<_>>());
}

#[test]
fn numbers_in_other_objects_are_no_difference() {
    let document = |n| {
        let (added, deleted) = numbers(n);
        format!("{{\"a\":[{{\"delta\":{}}}],\"added\":{added},\"deleted\":{deleted}}}", added - deleted)
    };
    let encoded = encoded(&(0..3_000).map(document).collect::<Vec<_>>());
    let group = Group::open(&encoded.directory).expect("opens");
    assert_ne!(encoding(&group, "a[].delta"), "difference");
}

#[test]
fn a_column_with_the_values_of_another_takes_no_bytes_of_its_own() {
    let document = |keys: usize, n: i64| {
        let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 40;
        let members: Vec<String> = (0..keys).map(|key| format!("\"k{key}\":{id}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let size = |keys: usize| {
        let documents: Vec<String> = (0..2_000).map(|n| document(keys, n)).collect();
        let encoded = encoded(&documents);
        let bytes = encoded.frames.iter().map(Vec::len).sum::<usize>();
        let group = Group::open(&encoded.directory).expect("opens");
        let of_columns: f64 = group.columns().map(|column| column.stored).sum();
        assert!(of_columns <= bytes as f64, "{of_columns} of {bytes}");
        bytes
    };
    let one = size(1);
    assert!(size(2) < one + 100, "{one}");
    // Parts may have twice the bytes of their frames, no more: a reader refuses them else.
    assert!((9 * one / 2..6 * one).contains(&size(10)), "{one} {}", size(10));
}
