//! Keys against a table of texts: however they are found, they are the same, and told in the same way.

use super::*;
use crate::key_numbers::KeyNumbers;
use proptest::prelude::*;

/// Some are equal to others, or spelled in several ways.
const VALUES: [&str; 14] = [
    "",
    "null",
    "1",
    "1.0",
    "1e0",
    "1.50",
    "1.5",
    "15e-1",
    r#""a""#,
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
    GiveUp,
}

fn step() -> impl Strategy<Value = Step> {
    let values = || prop::collection::vec(0..VALUES.len(), 1..6);
    prop_oneof![
        4 => (0..6usize, prop::collection::vec(0..5u32, 1..8))
            .prop_map(|(dictionary, entries)| Step::Entries { dictionary, entries }),
        1 => values().prop_map(Step::Texts),
        1 => (0..VALUES.len()).prop_map(Step::One),
        1 => Just(Step::GiveUp),
    ]
}

/// Keys, and a table that says what they are to be.
struct Checked {
    keys: Keys,
    expected: KeyTable,
    /// The spelling in which each came first, and whether it is told.
    firsts: Vec<(String, bool)>,
}

impl Checked {
    fn new(kept: Option<Arc<KeptKeys>>) -> Checked {
        Checked { keys: Keys::new(false, kept), expected: KeyTable::default(), firsts: Vec::new() }
    }

    fn take(&mut self, step: &Step, dictionaries: &[(Vec<usize>, Arc<Dictionary>)], numbers: &KeyNumbers) {
        let (mut found, mut jsons) = (Vec::new(), Vec::new());
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
                    assert_eq!(self.expected.known(0, json(&entry).as_bytes(), false), Some(known - 1));
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
            Step::GiveUp => numbers.shrink(0, 0),
        }
        // They are told one after the other, as they were found.
        for (json, met) in jsons.iter().zip(&found) {
            assert_eq!(met.found, self.expected.find(0, json.as_bytes(), false), "{json}");
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
            assert_eq!(self.expected.known(0, &told, false), Some(number), "it is told as another key");
            assert!(self.keys.is_told(number, &told));
        }
    }
}

proptest! {
    #[test]
    fn keys_are_the_same_whether_numbers_or_texts_tell_them(
        values in prop::collection::vec(prop::collection::vec(0..VALUES.len(), 1..6), 6),
        queries in prop::collection::vec((prop::collection::vec(step(), 0..10), prop::collection::vec(step(), 0..10)), 1..5),
    ) {
        let numbers = KeyNumbers::new(1 << 20);
        let dictionaries: Vec<_> = values.iter().map(|values| (values.clone(), dictionary(values))).collect();
        for (steps, others) in queries {
            let kept = numbers.ask("path");
            let mut one = Checked::new(kept.clone());
            steps.iter().for_each(|step| one.take(step, &dictionaries, &numbers));
            let mut other = Checked::new(kept);
            others.iter().for_each(|step| other.take(step, &dictionaries, &numbers));
            other.check();
            let mut there = 0;
            let Checked { keys, expected, firsts } = &mut one;
            let merged = keys.try_merge(&other.keys, |taken| {
                let told = other.keys.first(there);
                assert_eq!((taken.there, taken.found), (there, expected.find(0, &told, false)));
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
    let all = dictionary(&[8, 9, 2]);
    assert!(numbers.ask("path").is_none(), "a query that comes once pays nothing");
    Keys::new(false, None).texts_of(&all);
    let mut keys = Keys::new(false, numbers.ask("path"));
    let texts = keys.texts_of(&all);
    assert!(texts.are_numbered());
    keys.find_entries(&texts, 0..3, |met| assert!(met.is_told));
    assert_eq!((keys.len(), keys.firsts.len()), (3, 0));
    // A dictionary that is made for one query only is not numbered.
    assert!(!keys.texts_of(&dictionary(&[8, 9, 2])).are_numbered());
}
