//! How long texts by template are, and whether something stands in them: what their pieces tell of it.

use crate::asked::{Answers, Hole, Meets, Question};
use crate::encoding::fraction::{Decimals, Scales};
use crate::error::DecodeError;
use crate::group::GroupReader;
use crate::number::{self, POWERS, Plain};
use crate::pieces::{PlacedTemplate, TextPieces};
use crate::spans::{Mapped, Spans};
use memchr::memmem;
use std::convert::Infallible;
use tamias_simd::numbers;

/// How many characters a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// There is no text.
    Nothing,
    /// So many.
    Characters(u16),
    /// Its pieces do not tell, as an escape may go from one to the next, or it is very long.
    Untold,
}

/// Whether something stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// There is no text.
    Nothing,
    /// It does not.
    No,
    /// It does.
    Yes,
    /// Its pieces do not tell.
    Untold,
}

/// What is looked for in texts.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The bytes as they are stored.
    pub text: &'w [u8],
    /// Whether ASCII letters may stand in either case.
    pub any_case: bool,
    /// Whether other characters may stand for its letters: texts that have such, or escapes, are not told then.
    pub has_others: bool,
    /// Where it has to stand.
    pub within: Within,
}

/// Where something has to stand in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// Anywhere in it.
    #[default]
    Anywhere,
    /// At the start.
    Start,
    /// At the end.
    End,
    /// It is all of it.
    Whole,
}

impl Within {
    fn begins(self) -> bool {
        matches!(self, Within::Start | Within::Whole)
    }

    fn ends(self) -> bool {
        matches!(self, Within::End | Within::Whole)
    }
}

impl TextPieces {
    /// How many characters the text of each row has. Takes time linear in the texts and the pieces of their templates.
    pub fn lengths(&self) -> Vec<Length> {
        let length = |characters: Option<u16>| match characters {
            None => Length::Nothing,
            Some(UNTOLD) => Length::Untold,
            Some(characters) => Length::Characters(characters),
        };
        self.ask(&Characters, length)
    }

    /// Whether something stands in the text of each row; `find` tells whether it stands in some bytes. What its pieces do not tell may be so or not:
    /// where it may stand across several, or be part of an escape. Takes time linear in the texts and the pieces of their
    /// templates.
    pub fn search(&self, wanted: Wanted<'_>, find: impl Fn(&[u8]) -> bool) -> Vec<Holds> {
        Search { wanted, find }.of(self)
    }
}

impl<F: Fn(&[u8]) -> bool> Search<'_, F> {
    /// What the pieces of each text tell.
    fn of(&self, pieces: &TextPieces) -> Vec<Holds> {
        let holds = |found: u8| match found {
            found if found & found::FOREIGN != 0 => Holds::Untold,
            found if found & found::SURE != 0 => Holds::Yes,
            found if found & (found::HELD | found::PERHAPS) == 0 => Holds::No,
            // A piece does not tell where in its text it stands.
            _ if self.wanted.within != Within::Anywhere => Holds::Untold,
            found if found & (found::HELD | found::ESCAPED) == found::HELD => Holds::Yes,
            _ => Holds::Untold,
        };
        // Looked up, since what a text comes to cannot be foretold.
        let table: [Holds; found::ALL] = std::array::from_fn(|found| holds(found as u8));
        pieces.ask(self, |found| found.map_or(Holds::Nothing, |found| table[usize::from(found) % found::ALL]))
    }
}

impl GroupReader<'_> {
    /// How many characters the text of each event at a path of keys has, where its texts come in [pieces](crate::AtPath::Pieces). No more is read of them than that takes.
    /// Takes time linear in the events, and in the values that fill the holes of templates.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn lengths_at(&mut self, keys: &[&str]) -> Result<Option<Vec<Length>>, DecodeError> {
        let Some(sites) = self.group.sites(0, keys) else { return Ok(None) };
        Ok(self.pieces_for(&sites, &Characters)?.map(|pieces| pieces.lengths()))
    }

    /// The same of whether something stands in it: see [`TextPieces::search`].
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn search_at(
        &mut self,
        keys: &[&str],
        wanted: Wanted<'_>,
        find: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Vec<Holds>>, DecodeError> {
        let Some(sites) = self.group.sites(0, keys) else { return Ok(None) };
        let search = Search { wanted, find };
        Ok(self.pieces_for(&sites, &search)?.map(|pieces| search.of(&pieces)))
    }
}

/// How many characters texts have.
pub(crate) struct Characters;

/// Stands for the length of a text whose pieces do not tell it, and of one that is longer.
const UNTOLD: u16 = u16::MAX;

/// So many characters, if that can be told.
fn told(characters: usize) -> u16 {
    u16::try_from(characters).unwrap_or(UNTOLD)
}

/// How many characters a piece has; untold where it may begin or end within an escape, or has half a surrogate pair.
fn characters(text: &[u8]) -> u16 {
    // Each character begins with a byte that continues no other.
    let plain = |text: &[u8]| text.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count();
    let (mut rest, mut count) = (text, 0);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at(at);
        let length = match escape.get(1..) {
            Some([b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..]) => return UNTOLD,
            Some([b'u', digits @ ..]) if digits.len() >= 4 => 6,
            Some([b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..]) => 2,
            _ => return UNTOLD,
        };
        count += plain(before) + 1;
        rest = escape.get(length..).unwrap_or_default();
    }
    told(count + plain(rest))
}

/// How long the texts of numbers are.
fn digits_of(decimals: &Decimals) -> Answers<'static, u16> {
    let Decimals { mantissas, scales } = decimals;
    let scale = scales.max();
    let of = |mantissa| Plain { mantissa, scale }.digits();
    let one_by_one =
        || (0..mantissas.len()).filter_map(|index| Some(decimals.plain(index)?.digits())).collect();
    let (least, greatest) = match numbers::range(mantissas) {
        Some(range) if range.0 >= 0 && !matches!(scales, Scales::Each(_)) => range,
        _ => return Answers::Each(one_by_one()),
    };
    // Those of one scale are the longer, the greater they are: which powers of ten they reach tells how long.
    let (shortest, longest) = (of(least), of(greatest));
    let reached = POWERS.iter().filter_map(|power| i64::try_from(*power).ok());
    let reached = reached.filter(|power| least < *power && *power <= greatest && of(*power) > of(*power - 1));
    let mut bounds = [i64::MAX; BOUNDS];
    bounds.iter_mut().zip(reached).for_each(|(bound, reached)| *bound = reached);
    match usize::from(longest - shortest) {
        0 if let Scales::Fixed(_) = scales => return Answers::All(shortest),
        0..=BOUNDS if greatest < i64::MAX => {}
        _ => return Answers::Each(one_by_one()),
    }
    let length = |number| bounds.iter().fold(shortest, |length, bound| length + u16::from(number >= *bound));
    let mut lengths = numbers::told(mantissas, length);
    if let Scales::Trimmed(_) = scales {
        for (index, (length, mantissa)) in lengths.iter_mut().zip(mantissas).enumerate() {
            if mantissa % 10 == 0 {
                *length = decimals.plain(index).map_or(0, Plain::digits);
            }
        }
    }
    Answers::Each(lengths)
}

/// Numbers are compared with so many powers of ten.
const BOUNDS: usize = 4;

impl Question for Characters {
    type Answer = u16;
    type Meeting = Infallible;
    const EMPTY: u16 = 0;

    fn of_values<'v>(&self, values: &'v Spans<'_>) -> Answers<'v, u16> {
        let is_plain = values.is_plain();
        match (values.one_length(), values.numbers()) {
            (Some(length), _) if is_plain => Answers::All(told(length)),
            (_, Some(decimals)) => digits_of(decimals),
            _ => values.map(is_plain, told, characters, Plain::digits).into(),
        }
    }

    fn of_hole(&self, _: &Hole<'_>) -> Meets<Self> {
        Meets::Nothing
    }

    fn of_meeting(&self, meeting: &Infallible, _: &[u8]) -> u16 {
        match *meeting {}
    }

    fn of_literals(&self, template: &PlacedTemplate) -> u16 {
        template.literals().fold(0, |sum, literal| self.join(sum, characters(literal)))
    }

    #[inline(always)]
    fn join(&self, a: u16, b: u16) -> u16 {
        a.saturating_add(b)
    }
}

/// Whether something stands in texts.
pub(crate) struct Search<'w, F> {
    pub(crate) wanted: Wanted<'w>,
    pub(crate) find: F,
}

/// Whether a byte stands in the texts of numbers.
pub(crate) fn is_numeric(byte: &u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
}

/// What is known of a text, as bits.
mod found {
    /// It stands in a piece.
    pub(crate) const HELD: u8 = 1;
    /// It may stand where pieces meet.
    pub(crate) const PERHAPS: u8 = 2;
    /// There are escapes, of which it may be a part.
    pub(crate) const ESCAPED: u8 = 4;
    /// There are characters that may stand for letters in another case.
    pub(crate) const FOREIGN: u8 = 8;
    /// It stands where it has to.
    pub(crate) const SURE: u8 = 16;
    /// There are so many combinations.
    pub(crate) const ALL: usize = 32;
}

/// A text may begin in the middle of an escape, which is no longer than this.
const ESCAPE_BYTES: usize = 6;

/// Whether a byte may stand in an escape, but for its first.
fn is_of_escape(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || b"\"\\/nrtu".contains(&byte)
}

/// Whether what stands at the end of a literal surely does not begin within an escape.
fn begins_in_no_escape(literal: &[u8], end: &[u8]) -> bool {
    let before = literal.get(..literal.len() - end.len()).unwrap_or_default();
    let near = before.get(before.len().saturating_sub(ESCAPE_BYTES - 1)..).unwrap_or_default();
    // What is none of an escape keeps one before it from reaching further.
    let from = near.iter().rposition(|byte| !is_of_escape(*byte));
    let is_apart = from.is_some() || near.len() + 1 == ESCAPE_BYTES;
    let behind = near.get(from.map_or(0, |from| from + 1)..).unwrap_or_default();
    end.first().is_some_and(|first| !is_of_escape(*first)) || is_apart && !behind.contains(&b'\\')
}

impl<F: Fn(&[u8]) -> bool> Search<'_, F> {
    fn of_text(&self, text: &[u8]) -> u8 {
        let bit = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        let is_escaped = text.contains(&b'\\');
        bit((self.find)(text), found::HELD)
            | bit(is_escaped, found::ESCAPED)
            | bit(self.wanted.has_others && (is_escaped || !text.is_ascii()), found::FOREIGN)
    }

    /// What is known of a whole text.
    fn of_whole_text(&self, text: &[u8]) -> u8 {
        let Wanted { text: wanted, within, .. } = self.wanted;
        let is_there = match within {
            Within::Anywhere => return self.of_text(text),
            Within::Start => text.starts_with(wanted),
            Within::End => text.ends_with(wanted),
            Within::Whole => text == wanted,
        };
        match is_there {
            false => 0,
            // What ends like it may end with an escape.
            true if within == Within::End && text.contains(&b'\\') => found::PERHAPS,
            true => found::SURE,
        }
    }

    /// Whether it stands in no value, and none has escapes or other characters.
    fn is_in_none(&self, values: &Spans<'_>) -> bool {
        let may_be_number = || self.wanted.text.iter().all(is_numeric);
        values.is_plain() && !(self.find)(values.bytes()) && !(values.are_numbers() && may_be_number())
    }

    /// Whether it stands in a literal, and surely is no part of an escape there.
    fn is_surely_in(&self, literal: &[u8]) -> bool {
        let wanted = self.wanted.text;
        let at = memmem::find(literal, wanted).filter(|_| !wanted.is_empty());
        let until = at.and_then(|at| literal.get(..at + wanted.len()));
        until.is_some_and(|until| begins_in_no_escape(until, wanted))
    }

    /// Whether bytes alone tell what is asked.
    fn is_exact(&self) -> bool {
        !self.wanted.any_case && !self.wanted.has_others
    }

    /// Where what is wanted may go on in a hole, having begun in the literal before it: the lengths of its beginnings that the literal ends with.
    fn leaving<'l>(&'l self, literal: &'l [u8]) -> impl Iterator<Item = usize> + 'l {
        let wanted = self.wanted.text;
        let lengths = 1..wanted.len().min(literal.len() + 1);
        lengths.filter(move |length| self.is_same(&literal[literal.len() - length..], &wanted[..*length]))
    }

    /// Where what is wanted may go on in a literal, having begun in the hole before it: it ends there, or in a hole behind that.
    fn entering<'l>(&'l self, literal: &'l [u8], is_last: bool) -> impl Iterator<Item = usize> + 'l {
        let wanted = self.wanted.text;
        (1..wanted.len()).filter(move |start| {
            let rest = &wanted[*start..];
            let length = rest.len().min(literal.len());
            (rest.len() <= literal.len() || !is_last) && self.is_same(&literal[..length], &rest[..length])
        })
    }

    /// Whether it may begin in a literal and end behind it, in a hole, or the other way round.
    pub(crate) fn may_straddle(&self, before: &[u8], after: &[u8], is_last: bool) -> bool {
        self.leaving(before).next().is_some() || self.entering(after, is_last).next().is_some()
    }

    fn is_same(&self, a: &[u8], b: &[u8]) -> bool {
        if self.wanted.any_case { a.eq_ignore_ascii_case(b) } else { a == b }
    }
}

/// Where what is wanted may begin in a hole, or go on in it.
pub(crate) struct Straddling {
    /// From where on it goes on in the hole, having begun before it.
    leaving: Vec<usize>,
    /// How much of it stands at the end of the hole, before it goes on.
    entering: Vec<usize>,
}

impl<F: Fn(&[u8]) -> bool> Question for Search<'_, F> {
    type Answer = u8;
    type Meeting = Straddling;
    const EMPTY: u8 = 0;

    fn of_values<'v>(&self, values: &'v Spans<'_>) -> Answers<'v, u8> {
        // Most of what is looked for stands in few values, or none.
        if self.is_in_none(values) {
            return Answers::All(0);
        }
        let of_number = |number| {
            let mut buffer: number::Buffer = [0; _];
            let (from, to) = number::spell(number, &mut buffer);
            self.of_text(buffer.get(from..to).unwrap_or_default())
        };
        values.map(false, |_| 0, |text| self.of_text(text), of_number).into()
    }

    fn of_literals(&self, template: &PlacedTemplate) -> u8 {
        template.literals().fold(0, |found, literal| found | self.of_text(literal))
    }

    /// The literals at the start and at the end tell most templates apart from what has to stand there.
    fn of_outside(&self, template: &PlacedTemplate) -> Option<u8> {
        let Wanted { text: wanted, within, .. } = self.wanted;
        if !self.is_exact() {
            return None;
        }
        if within == Within::Anywhere {
            return template.literals().any(|literal| self.is_surely_in(literal)).then_some(found::SURE);
        }
        let (first, last) = (template.literals().next()?, template.literals().last()?);
        if template.pieces.is_empty() {
            return Some(self.of_whole_text(first));
        }
        let begins = first.iter().zip(wanted).all(|(own, wanted)| own == wanted);
        let ends = last.iter().rev().zip(wanted.iter().rev()).all(|(own, wanted)| own == wanted);
        let is_other = within.begins() && !begins
            || within.ends() && !ends
            || within == Within::Whole && template.end > wanted.len();
        let is_it = within == Within::Start && first.len() >= wanted.len()
            || within == Within::End && last.len() >= wanted.len() && begins_in_no_escape(last, wanted);
        match (is_other, is_it) {
            (true, _) => Some(0),
            (false, true) => Some(found::SURE),
            (false, false) => None,
        }
    }

    fn of_texts<'v>(&self, texts: &'v Spans<'_>) -> Answers<'v, u8> {
        if self.wanted.within == Within::Anywhere || !self.is_exact() || self.is_in_none(texts) {
            return self.of_values(texts);
        }
        let of_number = |number| {
            let mut buffer: number::Buffer = [0; _];
            let (from, to) = number::spell(number, &mut buffer);
            self.of_whole_text(buffer.get(from..to).unwrap_or_default())
        };
        texts.map(false, |_| 0, |text| self.of_whole_text(text), of_number).into()
    }

    /// Where it may begin in one piece and end in another, texts have to be put together.
    fn of_hole(&self, hole: &Hole<'_>) -> Meets<Self> {
        let are_numbers = hole.values.is_some_and(Spans::are_numbers);
        let may_be = |at: &usize| !are_numbers || self.wanted.text.get(*at).is_some_and(is_numeric);
        let leaving: Vec<usize> = self.leaving(hole.before).filter(may_be).collect();
        let entering = self.entering(hole.after, hole.is_last).filter(|length| may_be(&(length - 1)));
        let entering: Vec<usize> = entering.collect();
        match hole.values {
            _ if leaving.is_empty() && entering.is_empty() => Meets::Nothing,
            None => Meets::All(found::PERHAPS),
            Some(_) => Meets::Each(Straddling { leaving, entering }),
        }
    }

    fn of_meeting(&self, Straddling { leaving, entering }: &Straddling, text: &[u8]) -> u8 {
        let wanted = self.wanted.text;
        let goes_on = |from: usize| {
            let rest = &wanted[from..];
            let length = rest.len().min(text.len());
            self.is_same(&text[..length], &rest[..length])
        };
        let begins = |length: usize| {
            length <= text.len() && self.is_same(&text[text.len() - length..], &wanted[..length])
        };
        let meets =
            leaving.iter().any(|from| goes_on(*from)) || entering.iter().any(|length| begins(*length));
        if meets { found::PERHAPS } else { 0 }
    }

    #[inline(always)]
    fn join(&self, a: u8, b: u8) -> u8 {
        a | b
    }
}

/// What texts by themselves come to.
impl<'v, A> From<Mapped<'v, A>> for Answers<'v, A> {
    fn from(mapped: Mapped<'v, A>) -> Answers<'v, A> {
        match mapped {
            Mapped::Each(answers) => Answers::Each(answers),
            Mapped::Entries(entries, codes) => Answers::Coded(entries, codes),
        }
    }
}

impl Plain {
    /// How many characters its text has.
    fn digits(self) -> u16 {
        let digits = decimal_digits(self.mantissa.unsigned_abs());
        let scale = u16::from(self.scale).min(18);
        let sign = u16::from(self.mantissa < 0);
        sign + if scale == 0 { digits } else { digits.max(scale + 1) + 1 }
    }
}

/// How many decimal digits a number has.
fn decimal_digits(number: u64) -> u16 {
    // 1233 / 4096 is the logarithm of 2, near enough for 64 bits: the digits are so many, or one more.
    let least = ((u64::BITS - (number | 1).leading_zeros()) * 1233) >> 12;
    least as u16 + u16::from(POWERS.get(least as usize).is_none_or(|power| (number | 1) >= *power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::tests::pieces;
    use proptest::prelude::*;

    #[test]
    fn an_end_begins_in_no_escape_where_what_stands_before_it_is_none() {
        for (literal, end, is_sure) in [
            (" ms", "ms", true),
            ("ms", "ms", true),
            ("d", "d", false),
            (" d", "d", true),
            (" abcd", "d", true),
            ("abcd", "d", false),
            ("00abcd", "d", true),
            (r" \u00e4", "4", false),
            (r"\u00e4", "00e4", false),
            (r" \n", "n", false),
            (r" \\n", "n", false),
            (r" \", r"\", true),
            (r"\\", r"\", false),
            (r"\u00e4 n", "n", true),
            ("än", "n", true),
        ] {
            assert_eq!(
                begins_in_no_escape(literal.as_bytes(), end.as_bytes()),
                is_sure,
                "{end} in {literal}"
            );
        }
    }

    proptest! {
        #[test]
        fn texts_of_numbers_are_as_long_as_they_are_spelled(
            mantissas in prop_oneof![
                prop::collection::vec(100..1_000i64, 0..40),
                prop::collection::vec(0..200_000i64, 0..40),
                prop::collection::vec(prop_oneof![-3..i64::MAX, Just(i64::MAX)], 0..40),
                prop::collection::vec((0..19u32).prop_map(|power| 10i64.pow(power) - 1), 0..40),
            ],
            scale in 0..5u8, kind in 0..3,
        ) {
            let scales = match kind {
                0 => Scales::Fixed(scale),
                1 => Scales::Trimmed(scale),
                _ => Scales::Each((0..mantissas.len()).map(|n| (n % 4) as u8).collect()),
            };
            let decimals = Decimals { mantissas, scales };
            let answers = digits_of(&decimals);
            for index in 0..decimals.mantissas.len() {
                let mut buffer: number::Buffer = [0; _];
                let (from, to) = number::spell(decimals.plain(index).unwrap(), &mut buffer);
                prop_assert_eq!(answers.get(index), Some((to - from) as u16));
            }
        }
    }

    #[test]
    fn lengths_beyond_sixteen_bits_are_untold() {
        let document = |n: usize| format!(r#"{{"n":{n},"m":"order {n} of {}"}}"#, "x".repeat(n % 3 * 40_000));
        let pieces = pieces(&(0..90).map(document).collect::<Vec<_>>(), "m").unwrap();
        let is_untold = |(n, length): (usize, &Length)| match n % 3 {
            2 => *length == Length::Untold,
            _ => matches!(length, Length::Characters(_)),
        };
        assert!(pieces.lengths().iter().enumerate().all(is_untold));
    }

    #[test]
    fn digits_are_counted_as_numbers_are_spelled() {
        let powers = (0..20).map(|n| 10u64.pow(n));
        let edges = (0..64).map(|n| 1u64 << n).chain(powers).chain([0, u64::MAX]);
        for number in edges.flat_map(|edge| [edge.saturating_sub(1), edge, edge.saturating_add(1)]) {
            assert_eq!(decimal_digits(number) as usize, number.to_string().len(), "{number}");
        }
    }
}
