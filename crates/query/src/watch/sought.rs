//! What is watched for, and what was met of it.

use super::block::{InText, Known, Look};
use super::level::{GivenLevel, LEVELS_MAX, Levels};
use super::place::Place;
use crate::builtin::BuiltIn;
use crate::warning::{Compared, UnixUnit};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What is watched for.
#[derive(Debug)]
pub(super) enum Sought {
    /// A key, by any of the ways in which its path may be read.
    Key {
        text: String,
        readings: Vec<Reading>,
        /// What was probably meant, if there is no such key.
        meant: Option<String>,
    },
    /// A built-in of an event, by any of the keys that it is stored under.
    BuiltIn { built_in: BuiltIn, keys: Vec<Box<str>> },
    /// A value of a key that can be compared.
    Value {
        key: String,
        place: Place,
        operator: &'static str,
        with: Compared,
        /// The text that it is compared with, if that is a number in quotes: then only such texts can be compared.
        quoted: Option<String>,
    },
    /// A text as the value of a key that has few of them; and which it has in other spellings instead.
    Text { key: String, place: Place, given: GivenLevel, otherwise: Mutex<BTreeSet<String>> },
    /// Other numbers than those of a Unix clock as the values of a key that is compared with an instant; and by which clock all are.
    Instant { key: String, place: Place, unit: Mutex<Option<UnixUnit>> },
    /// Values of one kind under two keys that are compared with each other.
    Pair { keys: [String; 2], places: [Place; 2], operator: &'static str, met: Mutex<[Known; 2]> },
    /// A number as the value of a key that arithmetic or an aggregate takes.
    Number { of: TakesNumbers, key: String, place: Place },
    /// Something else than numbers in text as the values of a key that are ranked.
    Ranked { by: Ranks, key: String, place: Place, texts: Mutex<InText> },
    /// A key whose name is what the query subtracts or divides, and the keys of the parts.
    Hyphens { name: Box<str>, parts: Vec<String> },
    /// A level, or those that fit a pattern; and which levels events have instead.
    Level { given: GivenLevel, is_excluded: bool, met: Mutex<Levels> },
}

impl Sought {
    /// Whether it is a value of some kind at a place.
    pub(super) fn is_of_kind(&self, own: &Place) -> bool {
        match self {
            Sought::Value { place, .. } | Sought::Number { place, .. } => place == own,
            Sought::Pair { places, .. } => places.contains(own),
            _ => false,
        }
    }
}

/// Takes in the texts of a key in a block. True if there is nothing more to look for: the text is there, or may be.
pub(super) fn meet_text(
    block: &impl Look,
    place: &Place,
    given: &GivenLevel,
    otherwise: &mut BTreeSet<String>,
) -> bool {
    let mut is_there = false;
    let are_all = place.texts(block, &mut |keys, text| {
        is_there |= given.is_match(text);
        let is_other = otherwise.len() < LEVELS_MAX && given.is_spelt_otherwise(text);
        if is_other && block.has_text(keys, text) {
            otherwise.insert(text.to_owned());
        }
    });
    is_there || !are_all
}

/// Takes in the numbers of a key in a block. True if they are no Unix times, or not all of one unit.
pub(super) fn meet_unit(block: &impl Look, place: &Place, unit: &mut Option<UnixUnit>) -> bool {
    if place.known(block, false).is_some_and(|known| !known.numbers) {
        return false;
    }
    let of_block = place.range(block).and_then(UnixUnit::of);
    let is_other = unit.is_some_and(|known| of_block != Some(known));
    *unit = of_block;
    of_block.is_none() || is_other
}

/// Takes in what is known of two keys that are compared. True if some values may be of one kind.
pub(super) fn meet_pair((left, right): (Known, Known), operator: &str, met: &mut [Known; 2]) -> bool {
    let [here, there] = met;
    here.add(left);
    there.add(right);
    // `null = null` is true, and `null < null` undefined.
    let are_nulls = here.nulls && there.nulls && matches!(operator, "=" | "<>");
    are_nulls || here.shares_kind(*there)
}

/// What takes numbers, as the language writes it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TakesNumbers {
    Aggregate(String),
    Arithmetic {
        expression: String,
        /// Whether it adds or subtracts, as is done with times too.
        is_sum: bool,
        /// What joins the texts, where a text is added.
        joined: Option<String>,
    },
}

/// What ranks values.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ranks {
    /// The aggregate of this number.
    Aggregate { text: String, number: usize },
    /// The order of rows.
    Order,
}

/// A way in which a path may be read: by a key of the top level.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) name: Box<str>,
    /// What is meant lies within that.
    pub(super) is_within: bool,
}

impl Reading {
    pub(super) fn is_found(&self, known: Known) -> bool {
        if self.is_within { known.objects || known.arrays } else { known.is_there }
    }
}

#[derive(Debug)]
pub(super) struct Watched {
    pub(super) sought: Sought,
    /// It was found, or cannot be told: nothing is to be said of it.
    is_settled: AtomicBool,
    /// It was found, though more may be said of it.
    is_found: AtomicBool,
    /// The values that events have there.
    met: Mutex<Known>,
    /// There may be texts of which nothing is known.
    has_untold: AtomicBool,
    /// The answer shows numbers in text.
    is_shown: AtomicBool,
}

impl Watched {
    pub(super) fn new(sought: Sought) -> Watched {
        Watched {
            sought,
            is_settled: AtomicBool::new(false),
            is_found: AtomicBool::new(false),
            met: Mutex::default(),
            has_untold: AtomicBool::new(false),
            is_shown: AtomicBool::new(false),
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Relaxed)
    }

    /// True the first time.
    pub(super) fn settle(&self) -> bool {
        !self.is_settled.swap(true, Relaxed)
    }

    pub(super) fn is_found(&self) -> bool {
        self.is_found.load(Relaxed)
    }

    pub(super) fn find(&self) {
        self.is_found.store(true, Relaxed);
    }

    /// What is known of the values that events have there.
    pub(super) fn met(&self) -> Known {
        *self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, known: Known) {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).add(known);
    }

    /// Takes in the texts of a key that is ranked. True if there is nothing more to look for.
    pub(super) fn note_ranked(&self, known: Known, texts: &Mutex<InText>) -> bool {
        if known.numbers {
            return true;
        }
        match known.in_text {
            _ if !known.texts => false,
            None => {
                self.leave_untold();
                true
            }
            Some(met) => {
                let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                texts.add(met);
                texts.others > texts.numbers
            }
        }
    }

    /// There are values of which nothing is known.
    pub(super) fn leave_untold(&self) {
        self.has_untold.store(true, Relaxed);
    }

    /// The answer shows numbers in text.
    pub(super) fn show(&self) {
        self.is_shown.store(true, Relaxed);
    }

    /// Whether numbers in text were ranked, as far as is known of them.
    pub(super) fn ranks_numbers(&self, texts: &Mutex<InText>) -> bool {
        if self.is_settled() {
            return self.has_untold.load(Relaxed) && self.is_shown.load(Relaxed);
        }
        let texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
        // Numbers of one length are in order as texts too.
        texts.numbers > texts.others && texts.shortest < texts.longest
    }
}
