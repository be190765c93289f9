//! Keys against the equality of the language: the order of all values, in which equal ones are equal.

use super::*;
use crate::value::order;
use proptest::prelude::*;

/// Values in the spellings that are stored, many equal to another: the empty text is undefined.
const VALUES: [&str; 83] = [
    "",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "0.0",
    "0e5",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "-1",
    "-1.00",
    "123456",
    "1234560e-1",
    "-123456.0",
    "-123456",
    "999999999999999999",
    "999999999999999999.0",
    "1000000000000000000",
    "1e18",
    "1234567890123456789",
    "1234567890123456789.0",
    "-1234567890123456789",
    "-12345678901234567890e-1",
    "9223372036854775807",
    "9223372036854775808",
    "9223372036854775808.0",
    "9999999999999999999",
    "99999999999999999990e-1",
    "0.123456789012345678",
    "0.1234567890123456780",
    "12345678901234567890",
    "12345678901234567890.0",
    "1e400",
    "10e399",
    "0.1",
    "0.10",
    "1e-1",
    "-0.0",
    "-0.5",
    "-5e-1",
    "12.34",
    "12.340",
    "0.00000000000000001",
    "1e-18",
    "1.50",
    "1.5",
    "1234567890123456.5",
    "1234567890123456.50",
    r#""""#,
    r#""0123456789abcdef0123456789abcdef""#,
    r#""0123456789ABCDEF0123456789abcdef""#,
    r#""\u0030123456789abcdef0123456789abcdef""#,
    r#""01234567-89ab-cdef-0123-456789abcdef""#,
    r#""01234567-89ab-cdef-0123-456789abcdeF""#,
    r#""sixteen letters.""#,
    r#""Seventeen letters""#,
    r#""a""#,
    r#""A""#,
    r#""ä""#,
    r#""Ä""#,
    r#""ß""#,
    r#""a\nb""#,
    r#""A\nB""#,
    r#""1""#,
    r#""�""#,
    r#""\ud800""#,
    r#""\udfff""#,
    r#""\n\udfff""#,
    r#""\n�""#,
    r#""a\\\"\u001f""#,
    r#""\\""#,
    r#""\\ud800""#,
    "[]",
    "[1]",
    "[1.0]",
    "[[1],\"a\"]",
    "{}",
    r#"{"a":1,"b":2}"#,
    r#"{"b":2.0,"a":1}"#,
    r#"{"A":1,"b":2}"#,
];

/// A key of one of two owners; of the second the case of letters makes no difference.
#[derive(Clone, Copy, Debug)]
struct Key {
    owner: u32,
    json: &'static str,
}

impl Key {
    fn ci(&self) -> bool {
        self.owner == 1
    }

    fn find(&self, table: &mut KeyTable, owner: u32) -> Found {
        table.find(owner, self.json.as_bytes(), self.ci())
    }

    fn equals(&self, other: &Key) -> bool {
        let [a, b] = [self, other].map(|key| value_of(key.json.as_bytes()));
        self.owner == other.owner && order(&a, &b, self.ci()).is_eq()
    }
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    let key = (0..2u32, proptest::sample::select(&VALUES[..]));
    let key = key.prop_map(|(owner, json)| Key { owner, json });
    proptest::collection::vec(key, 0..80)
}

/// The number of each key in a table that has none yet; checks which are new.
fn numbers(table: &mut KeyTable, keys: &[Key]) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let found = key.find(table, key.owner);
        let known = keys[..at].iter().position(|earlier| earlier.equals(key)).map(|at| numbers[at]);
        let next = numbers.iter().max().map_or(0, |most| most + 1);
        assert_eq!(found, known.map_or(Found::New(next), Found::Known), "{key:?}");
        if let Found::New(_) = found {
            assert_eq!(*table.spelling(table.last_spelling()), *key.json.as_bytes());
        }
        numbers.push(found.number());
    }
    assert_eq!(table.len(), numbers.iter().max().map_or(0, |most| *most as usize + 1));
    numbers
}

/// Owners are called otherwise in the other of two tables.
const OTHERS: u32 = 100;

proptest! {
    #[test]
    fn equal_keys_and_only_they_have_a_number_in_common(keys in keys()) {
        numbers(&mut KeyTable::default(), &keys);
    }

    #[test]
    fn many_keys_are_found_as_one_by_one(keys in keys(), at in 0..80usize) {
        let (mut one, mut all) = (KeyTable::default(), KeyTable::default());
        let of = |owner: u32| keys.iter().filter(move |key| key.owner == owner);
        for owner in 0..2 {
            // Some are known before the others are looked up.
            for key in of(owner).take(at) {
                prop_assert_eq!(key.find(&mut one, owner), key.find(&mut all, owner));
            }
            let mut found = Vec::new();
            let texts = of(owner).map(|key| key.json.as_bytes());
            all.find_all(owner, owner == 1, texts, |table, of| {
                found.push((of, table.spelling(table.last_spelling()).to_vec()));
            });
            let expected = of(owner).map(|key| {
                (key.find(&mut one, owner), one.spelling(one.last_spelling()).to_vec())
            });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn two_tables_merge_to_what_one_would_be(keys in keys(), at in 0..80usize) {
        let expected = numbers(&mut KeyTable::default(), &keys);
        let at = at.min(keys.len());
        let (mut table, mut other) = (KeyTable::default(), KeyTable::default());
        let mut found: Vec<u32> = keys[..at].iter().map(|key| key.find(&mut table, key.owner).number()).collect();
        let in_other: Vec<u32> =
            keys[at..].iter().map(|key| key.find(&mut other, key.owner + OTHERS).number()).collect();
        let mut number_of = vec![None; other.len()];
        let before = table.len();
        table.merge(&other, |owner| owner - OTHERS, |owner, number, found| {
            assert!(owner < 2);
            assert_eq!(matches!(found, Found::New(_)), found.number() as usize >= before);
            assert!(number_of[number as usize].replace(found.number()).is_none(), "each is told once");
        });
        found.extend(in_other.iter().map(|number| number_of[*number as usize].expect("each is told")));
        prop_assert_eq!(&found, &expected);
        for (key, number) in keys.iter().zip(expected) {
            prop_assert_eq!(key.find(&mut table, key.owner), Found::Known(number));
        }
    }
}

#[test]
fn each_value_beside_each_other() {
    let all = (0..2).flat_map(|owner| VALUES.into_iter().map(move |json| Key { owner, json }));
    numbers(&mut KeyTable::default(), &all.collect::<Vec<_>>());
}

#[test]
fn a_plain_number_has_one_entry() {
    for ci in [false, true] {
        let mut table = KeyTable::default();
        table.find(0, b"123456789012345678", ci);
        table.find(0, b"-1234567", ci);
        table.find(0, b"-1234567.75", ci);
        table.find(0, b"0.5", ci);
        assert_eq!(table.entries.len(), 4);
    }
}

#[test]
fn keys_that_come_together_are_told_apart_while_the_table_grows() {
    let texts: Vec<String> = (0..10_000).map(|number| format!("\"key {}\"", number % 7_000)).collect();
    let mut table = KeyTable::default();
    let mut found = Vec::new();
    table.find_all(0, false, texts.iter().map(|text| text.as_bytes()), |_, one| found.push(one));
    let expected = (0..10_000).map(|number| match number {
        0..7_000 => Found::New(number),
        _ => Found::Known(number - 7_000),
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn a_number_is_shared_out_alike_however_it_is_told(mantissa in -i64::MAX..=i64::MAX, short in -999..999i64, scale in 0u8..16, is_short: bool) {
        let mantissa = if is_short { short } else { mantissa };
        for is_shortest in [false, true] {
            let text = Spelling::of_number(mantissa, scale, is_shortest).to_vec();
            prop_assert_eq!(share(&text), share_of_number(mantissa, scale), "{}", String::from_utf8_lossy(&text));
            let with_exponent = [&text[..], b"e0"].concat();
            prop_assert_eq!(share(&with_exponent), share_of_number(mantissa, scale));
        }
    }
}
