//! What is watched for, and what was met of it.

use super::block::Known;
use super::level::{GivenLevel, Levels};
use crate::value::Kind;
use crate::warning::Compared;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What is watched for.
#[derive(Debug)]
pub(super) enum Sought {
    /// A key, by any of the names that it may have: of a dotted path there are several.
    Key {
        text: String,
        names: Vec<Box<str>>,
        /// What was probably meant, if there is no such key.
        meant: Option<String>,
    },
    /// A value of a key that can be compared.
    Value {
        key: String,
        name: Box<str>,
        operator: &'static str,
        with: Compared,
        /// The text that it is compared with, if that is a number in quotes: then only such texts can be compared.
        quoted: Option<String>,
    },
    /// A number as the value of a key that an aggregate takes; or a text that is none, where the aggregate ranks values.
    Number { aggregate: String, key: String, name: Box<str>, ranks: bool },
    /// A key whose name is what the query subtracts, and the keys of the parts.
    Hyphens { name: Box<str>, parts: Vec<String> },
    /// A level, or those that fit a pattern; and which levels events have instead.
    Level { given: GivenLevel, is_excluded: bool, met: Mutex<Levels> },
}

#[derive(Debug)]
pub(super) struct Watched {
    pub(super) sought: Sought,
    /// It was found, or cannot be told: nothing is to be said of it.
    pub(super) is_settled: AtomicBool,
    /// Events have the key of a value that is sought.
    pub(super) is_there: AtomicBool,
    /// And such values there.
    pub(super) has_texts: AtomicBool,
    pub(super) has_booleans: AtomicBool,
    pub(super) has_numbers: AtomicBool,
    pub(super) has_arrays: AtomicBool,
    pub(super) has_objects: AtomicBool,
}

impl Watched {
    pub(super) fn note(&self, known: Known) {
        for (kind, is_there) in [
            (&self.is_there, known.is_there),
            (&self.has_texts, known.texts),
            (&self.has_booleans, known.booleans),
            (&self.has_numbers, known.numbers),
            (&self.has_arrays, known.arrays),
            (&self.has_objects, known.objects),
        ] {
            if is_there {
                kind.store(true, Relaxed);
            }
        }
    }

    /// The only kind of values that was met.
    pub(super) fn only_kind(&self) -> Option<Kind> {
        let kinds = [
            (&self.has_texts, Kind::String),
            (&self.has_booleans, Kind::Boolean),
            (&self.has_numbers, Kind::Number),
            (&self.has_arrays, Kind::Array),
            (&self.has_objects, Kind::Object),
        ];
        let mut met = kinds.into_iter().filter(|(is_there, _)| is_there.load(Relaxed));
        match (met.next(), met.next()) {
            (Some((_, kind)), None) => Some(kind),
            _ => None,
        }
    }
}
