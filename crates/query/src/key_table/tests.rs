//! Keys against the equality of the language: the order of all values, in which equal ones are equal.

use super::*;
use crate::value::order;
use proptest::prelude::*;

/// Values in the spellings that are stored, many equal to another: the empty text is undefined.
const VALUES: [&str; 45] = [
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
    "12345678901234567890",
    "12345678901234567890.0",
    "1e400",
    "10e399",
    "0.1",
    "1e-1",
    r#""""#,
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

/// A key of one of four owners, each of which has keys of its own form.
#[derive(Clone, Copy, Debug)]
struct Key {
    owner: u32,
    first: &'static str,
    second: &'static str,
    number: u64,
}

/// Of one value or of two, and whether the case of letters makes a difference there.
const FORMS: [&[bool]; 4] = [&[false], &[true], &[true, false], &[false, false]];

impl Key {
    fn values(&self) -> impl Iterator<Item = (&'static str, bool)> {
        [self.first, self.second].into_iter().zip(FORMS[self.owner as usize].iter().copied())
    }

    fn find(&self, table: &mut KeyTable, owner: u32) -> Found {
        let mut parts = Parts::default();
        match FORMS[self.owner as usize] {
            [ci] => table.find(owner, Spelling::Value { json: self.first.as_bytes(), ci: *ci }),
            _ => {
                parts.push_number(7);
                parts.clear();
                parts.push_number(self.number);
                self.values().for_each(|(json, ci)| parts.push_value(json.as_bytes(), ci));
                table.find(owner, Spelling::Parts(&parts))
            }
        }
    }

    fn equals(&self, other: &Key) -> bool {
        let of_parts = FORMS[self.owner as usize].len() > 1;
        let equal = |((a, ci), (b, _)): ((&str, bool), (&str, bool))| {
            order(&value_of(a.as_bytes()), &value_of(b.as_bytes()), ci).is_eq()
        };
        self.owner == other.owner
            && (!of_parts || self.number == other.number)
            && self.values().zip(other.values()).all(equal)
    }
}

fn keys() -> impl Strategy<Value = Vec<Key>> {
    let value = || proptest::sample::select(&VALUES[..]);
    let key = (0..4u32, value(), value(), 0..2u64);
    let key = key.prop_map(|(owner, first, second, number)| Key { owner, first, second, number });
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
            assert!(owner < 4);
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
    let all = (0..2)
        .flat_map(|owner| VALUES.into_iter().map(move |first| Key { owner, first, second: "", number: 0 }));
    numbers(&mut KeyTable::default(), &all.collect::<Vec<_>>());
}

#[test]
fn parts_do_not_run_into_one_another() {
    let key = |first, second| Key { owner: 3, first, second, number: 0 };
    let keys = [key("", "null"), key("null", ""), key("1", "1"), key("1.0", "1e0"), key(r#""a""#, "")];
    assert_eq!(numbers(&mut KeyTable::default(), &keys), [0, 1, 2, 2, 3]);
}
