//! A condition searched for in the documents of a window: of each event whether it passes.

use super::condition::{Condition, Form, Sought};
use super::key::Key;
use super::prepared::Prefilter;
use crate::ast::Comparison;
use crate::chunk::value_of;
use crate::expr::holds;
use crate::places::Places;
use tamias_json::Isa;
use tamias_json::search::{Documents, FewDigits, Held, Match, Needle, Occurrences, Test, Wanted, string_end};

/// Allocations that stay.
#[derive(Default)]
pub(super) struct Scratch {
    matches: Vec<Vec<Match>>,
    occurrences: Occurrences,
    /// The numbers of those that are kept.
    kept: Vec<u32>,
    lengths: Vec<FewDigits>,
    indices: Vec<u32>,
    left: Vec<u32>,
}

/// The window that is searched.
pub(super) struct Window<'w> {
    pub(super) texts: &'w Prefilter,
    pub(super) isa: Isa,
    pub(super) documents: Documents<'w>,
    pub(super) keys: &'w mut Vec<Key>,
    pub(super) places: Option<&'w Places>,
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
                self.decide(*slot, &Test::Compares(bound, wanted(*op)), matches);
            }
            Sought::NumberOneOf { slot, bounds } => self.decide(*slot, &Test::EqualsAny(bounds), matches),
            Sought::Defined { slot } => self.decide(*slot, &Test::Holds(&|_| true), matches),
            Sought::NotNull { slot } => {
                self.decide(*slot, &Test::Holds(&|value| value.first() != Some(&b'n')), matches);
            }
            Sought::OneOf { slot, values } => {
                let is_any = |text: &[u8]| values.iter().any(|value| text.starts_with(value));
                self.decide(*slot, &Test::Holds(&is_any), matches);
            }
            Sought::Among { slot, set } => {
                let is_among = |text: &[u8]| set.contains(&value_of(scalar(text)));
                self.decide(*slot, &Test::Holds(&is_among), matches);
            }
            Sought::Length { slot, op, length } => self.measure(*slot, *op, *length, matches),
            // What a string is ends with its quote.
            Sought::Value { slot, value, .. } if self.is_known(*slot) => {
                self.decide(*slot, &Test::Holds(&|text| text.starts_with(value)), matches);
            }
            Sought::Value { slot, needle, value, is_whole } => {
                let held = if *is_whole { Held::Whole(value) } else { Held::First(value) };
                self.holds(*slot, *needle, |_| held, matches);
            }
            Sought::Contains { slot, needle } if self.is_known(*slot) => {
                self.within(*slot, *needle, matches);
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

    /// Whether it is known of all events where a key's value stands.
    fn is_known(&self, slot: usize) -> bool {
        self.keys.get(slot).is_some_and(|key| key.known.is_some())
    }

    /// The events of which a key's value passes a test.
    fn decide(&mut self, slot: usize, test: &Test<'_>, matches: &mut Vec<Match>) {
        let (Some(needle), Some(key)) = (self.texts.keys.get(slot), self.keys.get_mut(slot)) else {
            return self.unknown(matches);
        };
        if key.is_absent {
            return self.begin(Match::No, matches);
        }
        key.learn(self.isa, needle, self.documents, self.places);
        if let Some(places) = &key.known {
            return self.documents.pass(self.isa, places, test, matches);
        }
        key.find(self.isa, needle, self.documents);
        let kept = &mut self.scratch.kept;
        self.documents.keep(self.isa, needle, &key.occurrences, test, kept);
        self.documents.with_plain(&key.plain).matches(self.isa, needle, &key.occurrences, kept, matches);
    }

    /// The events of which a key's value is a string of a length that compares so.
    fn measure(&mut self, slot: usize, op: Comparison, length: i64, matches: &mut Vec<Match>) {
        let (Some(needle), Some(key)) = (self.texts.keys.get(slot), self.keys.get_mut(slot)) else {
            return self.unknown(matches);
        };
        key.fill_all(self.isa, needle, self.documents, self.places);
        let Scratch { lengths, indices, left, .. } = &mut *self.scratch;
        indices.clear();
        indices.extend(0..self.documents.len() as u32);
        self.documents.lengths(self.isa, &key.values, indices, lengths, left);
        matches.clear();
        matches.resize(self.documents.len(), Match::No);
        for of in lengths {
            if let Some(answer) = matches.get_mut(of.at as usize) {
                *answer = if holds(op, of.significand.cmp(&length)) { Match::Yes } else { Match::No };
            }
        }
        for at in left {
            if let Some(answer) = matches.get_mut(*at as usize) {
                *answer = Match::Maybe;
            }
        }
    }

    /// The events of which a key's value is a string with a text in it, where it is known where the value stands.
    fn within(&mut self, slot: usize, text: usize, matches: &mut Vec<Match>) {
        let known = self.keys.get(slot).and_then(|key| key.known.as_deref());
        match (known, self.texts.needles.get(text)) {
            (Some(places), Some(text)) => self.documents.have_within(self.isa, text, places, matches),
            _ => self.unknown(matches),
        }
    }

    /// The events that have the needle: maybe.
    fn mark(&mut self, needle: usize, matches: &mut Vec<Match>) {
        let Some(needle) = self.texts.needles.get(needle) else { return self.unknown(matches) };
        let occurrences = &mut self.scratch.occurrences;
        self.documents.find(self.isa, needle, occurrences);
        self.documents.mentions(self.isa, occurrences, matches);
    }

    /// The events of which any string has the needle.
    fn said(&mut self, needle: usize, matches: &mut Vec<Match>) {
        let Some(needle) = self.texts.needles.get(needle) else { return self.unknown(matches) };
        let occurrences = &mut self.scratch.occurrences;
        self.documents.find(self.isa, needle, occurrences);
        self.documents.have_text(self.isa, needle, occurrences, matches);
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
        let occurrences = &mut self.scratch.occurrences;
        self.documents.find(self.isa, text, occurrences);
        let documents = self.documents.with_plain(&key.plain);
        documents.holds(self.isa, needle, held(text), occurrences, &mut key.values, matches);
    }
}

/// The scalar that some bytes begin with; nothing for an array or object.
fn scalar(bytes: &[u8]) -> &[u8] {
    let end = match bytes.first() {
        Some(b'"') => string_end(bytes, 1).map_or(0, |end| end + 1),
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
