//! Keys against a table of texts: however they are found, they are the same, and told in the same way.

use super::*;
use crate::chunk::Digits;
use crate::key_numbers::KeyNumbers;
use proptest::prelude::*;

/// Some are equal to others, or spelled in several ways.
const VALUES: [&str; 15] = [
    "",
    "null",
    "1",
    "1.0",
    "1e0",
    "1.50",
    "1.5",
    "15e-1",
    r#""a""#,
    r#""A""#,
    r#""b""#,
    r#""\ud800""#,
    "[1]",
    "[1.0]",
    "{}",
];

fn dictionary(values: &[usize]) -> Arc<Dictionary> {
    Arc::new(Dictionary::of(values.iter().map(|value| VALUES[*value].as_bytes())))
}

/// What is done with keys, in this order.
#[derive(Clone, Debug)]
enum Step {
    /// Entries of a dictionary are looked up, which may have been asked for before.
    Entries {
        dictionary: usize,
        entries: Vec<u32>,
    },
    Texts(Vec<usize>),
    One(usize),
    /// Numbers of one scale, one a row.
    Numbers {
        values: Vec<i64>,
        scale: u8,
        is_shortest: bool,
    },
    GiveUp,
}

fn numbers() -> impl Strategy<Value = Step> {
    // Of which some are equal to those that are spelled.
    let values = prop::collection::vec(
        prop_oneof![Just(1), Just(10), Just(15), Just(150), -3..3i64, any::<i64>()],
        1..50,
    );
    (values, 0..3u8, any::<bool>()).prop_map(|(values, scale, is_shortest)| {
        let values = values.into_iter().map(|value| value.max(-i64::MAX)).collect();
        Step::Numbers { values, scale, is_shortest }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let values = || prop::collection::vec(0..VALUES.len(), 1..6);
    prop_oneof![
        4 => (0..6usize, prop::collection::vec(0..5u32, 1..8))
            .prop_map(|(dictionary, entries)| Step::Entries { dictionary, entries }),
        1 => values().prop_map(Step::Texts),
        1 => (0..VALUES.len()).prop_map(Step::One),
        4 => numbers(),
        1 => Just(Step::GiveUp),
    ]
}

/// Keys, and a table that says what they are to be.
struct Checked {
    ci: bool,
    keys: Keys,
    expected: KeyTable,
    /// The spelling in which each came first, and whether it is told.
    firsts: Vec<(String, bool)>,
}

impl Checked {
    fn new(ci: bool, kept: Option<Arc<KeptKeys>>) -> Checked {
        Checked { ci, keys: Keys::new(ci, kept), expected: KeyTable::default(), firsts: Vec::new() }
    }

    fn take(&mut self, step: &Step, dictionaries: &[(Vec<usize>, Arc<Dictionary>)], numbers: &KeyNumbers) {
        let (mut found, mut jsons, mut spelled) = (Vec::new(), Vec::new(), Vec::new());
        match step {
            Step::Entries { dictionary, entries } => {
                let (values, dictionary) = &dictionaries[*dictionary];
                let json = |entry: &u32| VALUES[values[*entry as usize % values.len()]];
                let entries: Vec<u32> = entries.iter().map(|entry| entry % values.len() as u32).collect();
                jsons.extend(entries.iter().map(json));
                let texts = self.keys.texts_of(dictionary);
                let mut known = Vec::new();
                self.keys.look_ahead(&texts, &mut known);
                assert_eq!(known.len(), dictionary.len());
                for (entry, known) in (0..).zip(known).filter(|(_, known)| *known > 0) {
                    assert_eq!(self.expected.known(0, json(&entry).as_bytes(), self.ci), Some(known - 1));
                }
                self.keys.find_entries(&texts, entries.iter().copied(), |met| found.push(met));
            }
            Step::Texts(values) => {
                jsons.extend(values.iter().map(|value| VALUES[*value]));
                self.keys.find_all(jsons.iter().map(|json| json.as_bytes()), |met| found.push(met));
            }
            Step::One(value) => {
                jsons.push(VALUES[*value]);
                found.push(self.keys.find(VALUES[*value].as_bytes()));
            }
            Step::Numbers { values, scale, is_shortest } => {
                let spelling = if *is_shortest { Digits::Shortest } else { Digits::InFull };
                let of = Mantissas { rows: None, values: values.clone(), scale: *scale, spelled: spelling };
                for place in 0..values.len() {
                    let mut json = Vec::new();
                    of.write(place, &mut json);
                    spelled.push(String::from_utf8(json).unwrap());
                }
                self.keys.find_numbers(&of, |met| found.push(met));
            }
            Step::GiveUp => numbers.shrink(0, 0),
        }
        jsons.extend(spelled.iter().map(String::as_str));
        // They are told one after the other, as they were found.
        for (json, met) in jsons.iter().zip(&found) {
            assert_eq!(met.found, self.expected.find(0, json.as_bytes(), self.ci), "{json}");
            if let Found::New(_) = met.found {
                self.firsts.push(((*json).to_owned(), met.is_told));
            }
        }
        assert_eq!((found.len(), self.keys.len()), (jsons.len(), self.firsts.len()));
    }

    fn check(&mut self) {
        self.keys.close();
        for (number, (first, is_told)) in (0..).zip(&self.firsts) {
            let told = self.keys.first(number).to_vec();
            assert!(!*is_told || told == first.as_bytes(), "{first}");
            assert_eq!(self.expected.known(0, &told, self.ci), Some(number), "it is told as another key");
            assert!(self.keys.is_told(number, &told));
        }
    }
}

proptest! {
    #[test]
    fn keys_are_the_same_whether_numbers_or_texts_tell_them(
        values in prop::collection::vec(prop::collection::vec(0..VALUES.len(), 1..6), 6),
        ci in any::<bool>(),
        queries in prop::collection::vec((prop::collection::vec(step(), 0..10), prop::collection::vec(step(), 0..10)), 1..5),
    ) {
        let numbers = KeyNumbers::new(1 << 20);
        let dictionaries: Vec<_> = values.iter().map(|values| (values.clone(), dictionary(values))).collect();
        for (steps, others) in queries {
            let kept = numbers.ask("path");
            let mut one = Checked::new(ci, kept.clone());
            steps.iter().for_each(|step| one.take(step, &dictionaries, &numbers));
            let mut other = Checked::new(ci, kept);
            others.iter().for_each(|step| other.take(step, &dictionaries, &numbers));
            other.check();
            let mut there = 0;
            let Checked { keys, expected, firsts, .. } = &mut one;
            let merged = keys.try_merge(&other.keys, |taken| {
                let told = other.keys.first(there);
                assert_eq!((taken.there, taken.found), (there, expected.find(0, &told, ci)));
                if let Found::New(_) = taken.found {
                    firsts.push((String::from_utf8(told.to_vec()).unwrap(), taken.is_alike));
                }
                there += 1;
                Ok::<(), ()>(())
            });
            assert!(merged.is_ok());
            assert_eq!(there as usize, other.keys.len());
            one.check();
        }
    }
}

#[test]
fn what_comes_again_is_found_without_its_text() {
    let numbers = KeyNumbers::new(1 << 20);
    let all = dictionary(&[8, 10, 2]);
    assert!(numbers.ask("path").is_none(), "a query that comes once pays nothing");
    Keys::new(false, None).texts_of(&all);
    let mut keys = Keys::new(false, numbers.ask("path"));
    let texts = keys.texts_of(&all);
    assert!(texts.are_numbered());
    keys.find_entries(&texts, 0..3, |met| assert!(met.is_told));
    assert_eq!((keys.len(), keys.firsts.len()), (3, 0));
    // A dictionary that is made for one query only is not numbered.
    assert!(!keys.texts_of(&dictionary(&[8, 10, 2])).are_numbered());
}

#[test]
fn numbers_of_one_scale_are_keys_without_text_until_others_come() {
    let of = |values: &[i64], scale: u8| Mantissas { values: values.to_vec(), scale, ..Mantissas::default() };
    let mut keys = Keys::default();
    let mut found = Vec::new();
    keys.find_numbers(&of(&[150, 7, 150], 2), |met| found.push(met.found));
    assert_eq!(found, [Found::New(0), Found::New(1), Found::Known(0)]);
    assert_eq!((keys.mantissas.len(), keys.firsts.len()), (2, 0));
    assert_eq!((&*keys.first(0), &*keys.first(1)), (&b"1.50"[..], &b"0.07"[..]));
    keys.find_numbers(&of(&[15], 1), |met| assert_eq!(met.found, Found::Known(0)));
    assert_eq!((keys.mantissas.len(), keys.firsts.len()), (0, 2));
    assert_eq!((&*keys.first(0), &*keys.first(1)), (&b"1.50"[..], &b"0.07"[..]));
}

proptest! {
    #[test]
    fn parts_of_keys_that_are_numbers_follow_one_another(
        values in prop::collection::btree_set(-999..999i64, 1..60), at in 0..60usize, scales in (0..2u8, 0..2u8),
    ) {
        let values: Vec<i64> = values.into_iter().collect();
        let (first, second) = values.split_at(at.min(values.len()));
        let part = |values: &[i64], scale: u8| {
            let mut keys = Keys::default();
            keys.find_numbers(&Mantissas { values: values.to_vec(), scale, ..Mantissas::default() }, |_| {});
            keys
        };
        // Of another scale they are other numbers by their mantissas alone.
        let (mut one, mut other) = (part(first, scales.0), part(second, scales.1));
        let expected: Vec<Vec<u8>> = [&one, &other].into_iter()
            .flat_map(|keys| (0..keys.len() as u32).map(|number| keys.first(number).to_vec()))
            .collect();
        prop_assert!(one.append(&mut other));
        let told: Vec<Vec<u8>> = (0..one.len() as u32).map(|number| one.first(number).to_vec()).collect();
        prop_assert_eq!(told, expected);
    }
}
