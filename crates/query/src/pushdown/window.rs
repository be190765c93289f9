//! A condition searched for in the documents of a window: of each event whether it passes.

use super::condition::{Condition, Form, Sought};
use super::prepared::Prefilter;
use crate::ast::Comparison;
use crate::chunk::value_of;
use tamias_json::Isa;
use tamias_json::search::{Documents, Held, Match, Needle, Occurrences, Span, Wanted};

/// What is known of a key in the present window.
#[derive(Default)]
pub(super) struct Key {
    /// In which documents of the present block it is plain, as far as is known: a bit for each.
    pub(super) plain: Vec<u8>,
    /// Whether no event of the block has it, for sure.
    pub(super) is_absent: bool,
    pub(super) is_found: bool,
    pub(super) places: Occurrences,
    pub(super) values: Vec<Span>,
}

/// Allocations that stay.
#[derive(Default)]
pub(super) struct Scratch {
    matches: Vec<Vec<Match>>,
    places: Occurrences,
    /// The numbers of those that are kept.
    kept: Vec<u32>,
}

impl Key {
    /// All places of the key in the window.
    pub(super) fn find(&mut self, isa: Isa, needle: &Needle, documents: Documents<'_>) {
        if !self.is_found {
            self.is_found = true;
            documents.find(isa, needle, &mut self.places);
        }
    }
}

/// The window that is searched.
pub(super) struct Window<'w> {
    pub(super) texts: &'w Prefilter,
    pub(super) isa: Isa,
    pub(super) documents: Documents<'w>,
    pub(super) keys: &'w mut Vec<Key>,
    pub(super) scratch: &'w mut Scratch,
}

/// Where fewer events than one in so many are left, what else must hold of them is evaluated one by one.
const FEW: usize = 16;

impl Window<'_> {
    pub(super) fn evaluate(&mut self, condition: &Condition, matches: &mut Vec<Match>) {
        match &condition.form {
            Form::And(terms) => self.all(terms, &[], matches),
            Form::Or(terms) => {
                self.begin(Match::No, matches);
                for term in terms {
                    self.join(matches, Match::max, |window, others| window.evaluate(term, others));
                }
            }
            Form::Not(of) => {
                self.evaluate(of, matches);
                matches.iter_mut().for_each(|found| *found = !*found);
            }
            Form::Constant(outcomes) => self.begin(Match::from(*outcomes), matches),
            Form::Sought(sought) => self.search(sought, matches),
            Form::Head(..) | Form::Opaque => self.unknown(matches),
        }
    }

    fn search(&mut self, sought: &Sought, matches: &mut Vec<Match>) {
        match sought {
            Sought::Number { slot, op, bound } => {
                self.decide(*slot, matches, |isa, documents, needle, places, kept| {
                    documents.compare(isa, needle, places, bound, wanted(*op), kept);
                });
            }
            Sought::NumberOneOf { slot, bounds } => {
                self.decide(*slot, matches, |isa, documents, needle, places, kept| {
                    documents.equals_any(isa, needle, places, bounds, kept);
                });
            }
            Sought::Defined { slot } => self.compare(*slot, |_| true, matches),
            Sought::NotNull { slot } => {
                self.compare(*slot, |value| value.first() != Some(&b'n'), matches);
            }
            Sought::OneOf { slot, values } => {
                self.compare(*slot, |text| values.iter().any(|value| text.starts_with(value)), matches);
            }
            Sought::Among { slot, set } => {
                self.compare(*slot, |text| set.contains(&value_of(scalar(text))), matches);
            }
            Sought::Value { slot, needle, value, is_whole } => {
                let held = if *is_whole { Held::Whole(value) } else { Held::First(value) };
                self.holds(*slot, *needle, |_| held, matches);
            }
            Sought::Contains { slot, needle } => {
                self.holds(*slot, *needle, |text| Held::Within(text.bytes().len()), matches);
            }
            Sought::Mentions { needles } => {
                self.begin(Match::No, matches);
                for needle in needles {
                    self.join(matches, Match::max, |window, others| window.mark(*needle, others));
                }
            }
            Sought::Said { needle } => self.said(*needle, matches),
        }
    }

    /// Begins with the same answer for all events.
    fn begin(&self, answer: Match, matches: &mut Vec<Match>) {
        matches.clear();
        matches.resize(self.documents.len(), answer);
    }

    fn unknown(&self, matches: &mut Vec<Match>) {
        self.begin(Match::Maybe, matches);
    }

    /// Joins the answers with those of `evaluate`.
    fn join(
        &mut self,
        matches: &mut [Match],
        joined: impl Fn(Match, Match) -> Match,
        evaluate: impl FnOnce(&mut Self, &mut Vec<Match>),
    ) {
        let mut others = self.scratch.matches.pop().unwrap_or_default();
        evaluate(self, &mut others);
        matches.iter_mut().zip(&others).for_each(|(own, other)| *own = joined(*own, *other));
        self.scratch.matches.push(others);
    }

    /// The events that pass each term. Those that are settled hold of all events.
    pub(super) fn all(&mut self, terms: &[Condition], settled: &[bool], matches: &mut Vec<Match>) {
        self.begin(Match::Yes, matches);
        let mut left = self.documents.len();
        let settled = settled.iter().copied().chain(std::iter::repeat(false));
        for (term, _) in terms.iter().zip(settled).filter(|(_, is_settled)| !is_settled) {
            if left == 0 {
                return;
            }
            let are_few = left * FEW < self.documents.len();
            self.join(matches, Match::min, |window, others| match are_few {
                true => window.unknown(others),
                false => window.evaluate(term, others),
            });
            left = matches.iter().filter(|found| **found != Match::No).count();
        }
    }

    /// The events that have the key at a place that is kept: `decide` tells for each of its places whether it is.
    fn decide(
        &mut self,
        slot: usize,
        matches: &mut Vec<Match>,
        decide: impl FnOnce(Isa, Documents<'_>, &Needle, &Occurrences, &mut Vec<u32>),
    ) {
        let (Some(needle), Some(key)) = (self.texts.keys.get(slot), self.keys.get_mut(slot)) else {
            return self.unknown(matches);
        };
        if key.is_absent {
            return self.begin(Match::No, matches);
        }
        key.find(self.isa, needle, self.documents);
        let kept = &mut self.scratch.kept;
        decide(self.isa, self.documents, needle, &key.places, kept);
        self.documents.with_plain(&key.plain).matches(self.isa, needle, &key.places, kept, matches);
    }

    /// The events of which a key's value begins as it should.
    fn compare(&mut self, slot: usize, holds: impl Fn(&[u8]) -> bool, matches: &mut Vec<Match>) {
        self.decide(slot, matches, |isa, documents, needle, places, kept| {
            documents.keep(isa, needle, places, kept, holds);
        });
    }

    /// The events that have the needle: maybe.
    fn mark(&mut self, needle: usize, matches: &mut Vec<Match>) {
        let Some(needle) = self.texts.needles.get(needle) else { return self.unknown(matches) };
        let places = &mut self.scratch.places;
        self.documents.find(self.isa, needle, places);
        self.documents.mentions(self.isa, places, matches);
    }

    /// The events of which any string has the needle.
    fn said(&mut self, needle: usize, matches: &mut Vec<Match>) {
        let Some(needle) = self.texts.needles.get(needle) else { return self.unknown(matches) };
        let places = &mut self.scratch.places;
        self.documents.find(self.isa, needle, places);
        self.documents.have_text(self.isa, needle, places, matches);
    }

    /// The events of which a key's value has a text.
    fn holds<'h>(
        &mut self,
        slot: usize,
        text: usize,
        held: impl FnOnce(&Needle) -> Held<'h>,
        matches: &mut Vec<Match>,
    ) {
        let key = self.texts.keys.get(slot).zip(self.keys.get_mut(slot));
        let (Some((needle, key)), Some(text)) = (key, self.texts.needles.get(text)) else {
            return self.unknown(matches);
        };
        if key.is_absent {
            return self.begin(Match::No, matches);
        }
        let places = &mut self.scratch.places;
        self.documents.find(self.isa, text, places);
        let documents = self.documents.with_plain(&key.plain);
        documents.holds(self.isa, needle, held(text), places, &mut key.values, matches);
    }
}

/// The scalar that some bytes begin with; nothing for an array or object.
fn scalar(bytes: &[u8]) -> &[u8] {
    let end = match bytes.first() {
        Some(b'"') => {
            let mut at = 1;
            loop {
                match bytes.get(at..).and_then(|rest| Some(at + memchr::memchr2(b'"', b'\\', rest)?)) {
                    Some(found) if bytes.get(found) == Some(&b'"') => break found + 1,
                    Some(found) => at = found + 2,
                    None => break 0,
                }
            }
        }
        Some(b'[' | b'{') | None => 0,
        Some(_) => bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b'\n')).unwrap_or(bytes.len()),
    };
    bytes.get(..end).unwrap_or_default()
}

/// The values that pass, as they stand to the number that they are compared with.
fn wanted(op: Comparison) -> Wanted {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    Wanted {
        less: matches!(op, Less | LessOrEqual | NotEqual),
        equal: matches!(op, Equal | LessOrEqual | GreaterOrEqual),
        greater: matches!(op, Greater | GreaterOrEqual | NotEqual),
        others: op == NotEqual,
    }
}
