//! Templates as they are found: what a text of a column is made of.
//!
//! A text is cut where words begin: a piece that equals another value of the event becomes a reference; of the rest a whole number or a
//! word with digits becomes a hole, and anything else is literal.

use std::ops::Range;

use crate::encoding::templates::HOLES_MAX;
use crate::number::DIGITS_MAX;
use crate::texts::{begins_with, same};

/// What stands between two literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Gap {
    /// Another value of the event: that of a column.
    Reference(u32),
    /// A whole number, as many digits as there are.
    Number,
    /// As many letters and digits as there are.
    Word,
    /// All up to a blank, a quote, an escape, a comma, or a bracket.
    Token,
}

/// A literal piece, never changed once it is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) head: Head,
}

impl Literal {
    fn of(bytes: Vec<u8>) -> Literal {
        Literal { head: Head::of(&bytes), bytes }
    }

    /// What follows the literal in a text that begins with it. Most are short, and told by their head alone.
    #[inline(always)]
    fn strip_from<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let Some(first) = text.first_chunk::<8>() else { return text.strip_prefix(self.bytes.as_slice()) };
        if u64::from_le_bytes(*first) & self.head.mask != self.head.bytes {
            return None;
        }
        if self.bytes.len() <= 8 {
            text.get(self.bytes.len()..)
        } else {
            begins_with(text, &self.bytes).then(|| &text[self.bytes.len()..])
        }
    }
}

/// Literals and gaps in turn, and a literal at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Pattern {
    pub(crate) pieces: Vec<(Literal, Gap)>,
    pub(crate) tail: Vec<u8>,
}

/// A value that a text may refer to.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'d> {
    pub(crate) column: u32,
    pub(crate) text: &'d [u8],
    /// Whether it has a fraction, which a message may show with more zeros.
    pub(crate) fraction: bool,
}

impl Candidate<'_> {
    fn first(&self) -> u8 {
        self.text.first().copied().unwrap_or_default()
    }
}

/// For each byte whether it is part of a word, and whether of a token.
static CLASSES: [(bool, bool); 256] = {
    let mut classes = [(false, false); 256];
    let mut byte = 0u8;
    loop {
        classes[byte as usize] = (class_word(byte), class_token(byte));
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

const fn class_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[inline(always)]
fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)].0
}

#[inline(always)]
fn is_token(byte: u8) -> bool {
    CLASSES[usize::from(byte)].1
}

const fn class_token(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\\'
            | b'"'
            | b'\''
            | b','
            | b';'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'<'
            | b'>'
            | b'='
            | b'|'
    )
}

#[inline(always)]
fn run(text: &[u8], inside: impl Fn(u8) -> bool) -> &[u8] {
    let length = text.iter().position(|byte| !inside(*byte)).unwrap_or(text.len());
    &text[..length]
}

/// A number that a column of whole numbers spells back.
fn is_number(digits: &[u8]) -> bool {
    let leading_zero = digits.len() > 1 && digits.first() == Some(&b'0');
    !digits.is_empty() && digits.len() <= DIGITS_MAX && !leading_zero && digits.iter().all(u8::is_ascii_digit)
}

impl Gap {
    /// What a text begins with, if it fits; of a reference, `value` is what it refers to.
    #[inline]
    fn fits<'t>(self, text: &'t [u8], value: Option<&'t [u8]>) -> Option<&'t [u8]> {
        match self {
            // What is empty fits everywhere, and would be put together for nothing.
            Gap::Reference(_) => value.filter(|value| !value.is_empty() && begins_with(text, value)),
            Gap::Number => Some(run(text, |byte| byte.is_ascii_digit())).filter(|digits| is_number(digits)),
            Gap::Word => Some(run(text, is_word)).filter(|word| !word.is_empty()),
            Gap::Token => Some(run(text, is_token)).filter(|token| !token.is_empty()),
        }
    }
}

/// A text that is longer teaches no template: it is seldom one.
const LESSON_BYTES_MAX: usize = 256 << 10;

/// To look for the values of an event in a text, so many bytes of them are compared for each byte of the text, and [`COMPARED_FREE`] beside that. Texts
/// that take more teach no template: where many long values begin alike, each place of a text would be compared with all of them to their ends.
const COMPARED_PER_BYTE: usize = 16;

/// See [`COMPARED_PER_BYTE`].
const COMPARED_FREE: usize = 64 << 10;

/// How many bytes may still be compared in a lesson.
struct Budget(usize);

impl Budget {
    fn of(text: &[u8]) -> Budget {
        Budget(COMPARED_PER_BYTE * text.len() + COMPARED_FREE)
    }

    fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

impl Pattern {
    /// Whether a text fits; what its gaps hold that are no references is appended.
    pub(crate) fn fits<'v>(
        &self,
        text: &[u8],
        value: impl Fn(u32) -> Option<&'v [u8]>,
        held: &mut Vec<Range<usize>>,
    ) -> bool {
        held.clear();
        let mut rest = text;
        for (literal, gap) in &self.pieces {
            let Some(after) = literal.strip_from(rest) else { return false };
            let value = if let Gap::Reference(column) = gap { value(*column) } else { None };
            let Some(filling) = gap.fits(after, value) else { return false };
            rest = &after[filling.len()..];
            if !matches!(gap, Gap::Reference(_)) {
                let from = text.len() - after.len();
                held.push(from..from + filling.len());
            }
        }
        same(rest, &self.tail)
    }

    /// The pattern of a text of a column, given the other values of its event: those of columns before its own are referred to. Nothing
    /// where it would tell little.
    pub(crate) fn of(text: &[u8], candidates: &Candidates<'_>, column: u32) -> Option<Pattern> {
        let mut pattern = Pattern::default();
        let mut literal = Vec::new();
        let mut at = 0;
        let mut held = 0;
        // Up to here no token is an identifier.
        let mut plain = 0;
        if text.len() > LESSON_BYTES_MAX {
            return None;
        }
        let mut budget = Budget::of(text);
        while at < text.len() {
            if pattern.pieces.len() >= HOLES_MAX || budget.is_spent() {
                return None;
            }
            let rest = &text[at..];
            if rest[0] == b'\\' {
                // An escape: what follows it is no part of a word.
                let end = rest.len().min(2);
                literal.extend_from_slice(&rest[..end]);
                at += end;
                continue;
            }
            let before = text[..at].last().copied().unwrap_or(b' ');
            let begins = !is_word(before) || at == 0 || (at >= 2 && text[at - 2] == b'\\');
            let found = if begins { reference(text, at, candidates, column, &mut budget) } else { None };
            let found = found.map(|found| (Gap::Reference(found.column), found.text.len()));
            let found = found.or_else(|| if begins { own(text, at, &mut plain) } else { None });
            let Some((gap, length)) = found else {
                let end = if begins { run(rest, is_word).len().max(1) } else { 1 };
                literal.extend_from_slice(&rest[..end]);
                at += end;
                continue;
            };
            if !matches!(gap, Gap::Reference(_)) {
                held += length;
            }
            pattern.pieces.push((Literal::of(std::mem::take(&mut literal)), gap));
            at += length;
        }
        pattern.tail = literal;
        let holes = pattern.pieces.len();
        // HEURISTIC: where more than three quarters are left over, and nothing is referred to, texts are better kept as they are.
        let tells = held * 4 <= text.len() * 3 || pattern.pieces.iter().all(|(_, gap)| *gap == Gap::Number);
        // What is all literal is the matter of a dictionary.
        (tells && holes > 0 && holes < HOLES_MAX).then_some(pattern)
    }

    /// How many gaps are no references.
    pub(crate) fn gaps(&self) -> usize {
        self.pieces.iter().filter(|(_, gap)| !matches!(gap, Gap::Reference(_))).count()
    }
}

/// The gap for a number, or a word with digits, at a place in a text. Tokens that end by `plain` are known not to be identifiers: the end of
/// such a token is none either.
fn own(text: &[u8], at: usize, plain: &mut usize) -> Option<(Gap, usize)> {
    let rest = text.get(at..)?;
    let word = run(rest, is_word);
    let token = if at < *plain { word } else { run(rest, is_token) };
    let mixed = |word: &&[u8]| {
        let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
        digits > 0 && !is_number(word)
    };
    // An identifier of many parts is one token.
    if token.len() > word.len() && token.split(|byte| !is_word(*byte)).filter(mixed).count() > 2 {
        return Some((Gap::Token, token.len()));
    }
    *plain = (*plain).max(at + token.len());
    if !word.iter().any(u8::is_ascii_digit) {
        return None;
    }
    Some(if is_number(word) { (Gap::Number, word.len()) } else { (Gap::Word, word.len()) })
}

/// Candidates by their first byte: of those that a text may show at a place, few have it. None is empty. Serve one scope after another.
pub(crate) struct Candidates<'d> {
    /// For each column the key of its values, to which a label in the text may be equal.
    keys: &'d [&'d [u8]],
    all: Vec<Candidate<'d>>,
    /// For each byte the place of the first candidate that begins with it, counted from 1; 0 where none does.
    first: [u32; 256],
    /// For each candidate the place of the next one that begins alike.
    next: Vec<u32>,
}

impl<'d> Candidates<'d> {
    /// None yet; `keys` are those of all columns.
    pub(crate) fn of(keys: &'d [&'d [u8]]) -> Candidates<'d> {
        Candidates { keys, all: Vec::new(), first: [0; 256], next: Vec::new() }
    }

    /// Others in place of those of before.
    pub(crate) fn replace(&mut self, by: impl Iterator<Item = Candidate<'d>>) {
        self.all.clear();
        self.all.extend(by);
        self.first.fill(0);
        self.next.clear();
        self.next.resize(self.all.len(), 0);
        // Those that begin alike stay in their order.
        for (at, (candidate, next)) in self.all.iter().zip(&mut self.next).enumerate().rev() {
            *next = std::mem::replace(&mut self.first[usize::from(candidate.first())], at as u32 + 1);
        }
    }

    pub(crate) fn that_begin_with(&self, byte: u8) -> impl Iterator<Item = &Candidate<'d>> {
        let mut place = self.first[usize::from(byte)];
        std::iter::from_fn(move || {
            let at = (place as usize).checked_sub(1)?;
            place = *self.next.get(at)?;
            self.all.get(at)
        })
    }

    /// The key of a column's values.
    fn key(&self, column: u32) -> &'d [u8] {
        self.keys.get(column as usize).copied().unwrap_or_default()
    }
}

/// The value of a column before the text's own that the text shows from a place on: the longest; among equal ones that whose key is the
/// label before it.
fn reference<'c, 'd>(
    text: &[u8],
    at: usize,
    candidates: &'c Candidates<'d>,
    column: u32,
    budget: &mut Budget,
) -> Option<&'c Candidate<'d>> {
    let rest = text.get(at..)?;
    let head = Head::of(rest);
    let mut fits = |candidate: &Candidate<'_>| {
        budget.spend(1);
        if candidate.column >= column || !head.may_begin_with(Head::of(candidate.text)) {
            return false;
        }
        budget.spend(candidate.text.len());
        if !begins_with(rest, candidate.text) {
            return false;
        }
        let after = &rest[candidate.text.len()..];
        let ends = candidate.text.last().is_some_and(|last| !is_word(*last));
        if ends || after.first().is_none_or(|next| !is_word(*next)) {
            return true;
        }
        let digits = if candidate.fraction { run(after, |byte| byte.is_ascii_digit()) } else { &[] };
        budget.spend(digits.len());
        candidate.fraction && digits.iter().all(|byte| *byte == b'0')
    };
    // The longest that fit, which are equal.
    let mut longest: Vec<&Candidate<'_>> = Vec::new();
    for candidate in candidates.that_begin_with(*rest.first()?) {
        let length = longest.first().map_or(0, |first| first.text.len());
        if candidate.text.len() >= length && fits(candidate) {
            if candidate.text.len() > length {
                longest.clear();
            }
            longest.push(candidate);
        }
    }
    let first = *longest.first()?;
    if longest.len() == 1 {
        return Some(first);
    }
    let before = label_before(&text[..at], budget);
    let labelled =
        longest.into_iter().find(|candidate| is_label(before, candidates.key(candidate.column), budget));
    // HEURISTIC: a short value that several keys have says nothing of which is meant; a hole of its own is as good.
    labelled.or((first.text.len() >= 4).then_some(first))
}

/// A label stands so near to its value.
const LABEL_BYTES_MAX: usize = 256;

/// What stands before a value, up to punctuation and blanks: a label may be its end.
fn label_before<'t>(before: &'t [u8], budget: &mut Budget) -> &'t [u8] {
    let near = before.get(before.len().saturating_sub(LABEL_BYTES_MAX)..).unwrap_or_default();
    let mut label = near;
    loop {
        label = match label {
            [rest @ .., b'\\', b't' | b'r' | b'n' | b'"' | b'\\'] => rest,
            [rest @ .., last] if !is_word(*last) => rest,
            _ => break,
        };
    }
    budget.spend(near.len() - label.len());
    label
}

/// Whether the text before a value ends with its key, up to punctuation, blanks and case.
fn is_label(before: &[u8], key: &[u8], budget: &mut Budget) -> bool {
    let letters = |byte: &&u8| is_word(**byte) && **byte != b'_';
    let text = before.iter().rev().inspect(|_| budget.spend(1));
    let mut text = text.filter(|byte| **byte != b' ' && **byte != b'_');
    !key.is_empty()
        && key
            .iter()
            .rev()
            .filter(letters)
            .all(|byte| text.next().is_some_and(|t| t.eq_ignore_ascii_case(byte)))
}

/// The first bytes of a text, up to eight, in one word: nearly all patterns that do not fit are told by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Head {
    bytes: u64,
    mask: u64,
}

impl Head {
    #[inline(always)]
    pub(crate) fn of(text: &[u8]) -> Head {
        let Some(first) = text.first_chunk::<8>() else { return Head::of_short(text) };
        Head { bytes: u64::from_le_bytes(*first), mask: u64::MAX }
    }

    /// That of a text of less than eight bytes.
    fn of_short(text: &[u8]) -> Head {
        let bytes = text.iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte));
        let mask = u64::MAX.checked_shr(64 - 8 * text.len() as u32).unwrap_or(0);
        Head { bytes, mask }
    }

    /// Whether a text with this head may begin with what the other is the head of.
    #[inline(always)]
    pub(crate) fn may_begin_with(self, other: Head) -> bool {
        self.bytes & other.mask == other.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_long_values_that_begin_alike_are_not_compared_at_each_place_of_a_text() {
        let values: Vec<String> = (0..200).map(|n| format!("{}{n:04}", "!".repeat(4_000))).collect();
        let candidate = |text: &'static str| Candidate { column: 0, text: text.as_bytes(), fraction: false };
        let leaked = |text: &String| candidate(String::leak(text.clone()));
        let mut candidates = Candidates::of(&[b"k"]);
        candidates.replace(values.iter().map(leaked));
        let text = format!("n 1 {}", "!".repeat(100_000));
        let mut budget = Budget::of(text.as_bytes());
        let places = (4..text.len()).position(|at| {
            reference(text.as_bytes(), at, &candidates, 1, &mut budget);
            budget.is_spent()
        });
        assert!(places.is_some_and(|places| places < 10), "{places:?}");
        assert_eq!(Pattern::of(text.as_bytes(), &candidates, 1), None);
        // By itself it would teach one.
        assert!(Pattern::of(text.as_bytes(), &Candidates::of(&[]), 1).is_some());
    }

    #[test]
    fn among_equal_values_the_label_tells_which_is_meant() {
        let of = |column, text: &'static [u8]| Candidate { column, text, fraction: false };
        let mut candidates = Candidates::of(&[b"Order", b"User", b"Page"]);
        candidates.replace([of(0, b"7"), of(1, b"7"), of(2, b"71")].into_iter());
        let gaps = |text: &[u8]| -> Vec<Gap> {
            let pattern = Pattern::of(text, &candidates, 9).unwrap_or_default();
            pattern.pieces.iter().map(|(_, gap)| *gap).collect()
        };
        assert_eq!(gaps(b"user: 7 has order=7 on page 71"), [1, 0, 2].map(Gap::Reference));
        assert_eq!(gaps(b"user 17 has 7 and 5"), [Gap::Number; 3]);
    }
}
