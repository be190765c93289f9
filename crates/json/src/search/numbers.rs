//! Many numbers taken from where they stand, or compared there with one.

use super::answers::{Match, Span};
use super::documents::Documents;
use super::needle::Needle;
use super::occurrences::Occurrences;
use super::places::Place;
use crate::number::Bound;
use std::cmp::Ordering;
use tamias_simd::{Isa, SEVERAL, Standing, Task, Vector, Whole, decimal, prefetch};

/// Which values are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Numbers less than the bound.
    pub less: bool,
    /// Numbers equal to it, whatever their spelling.
    pub equal: bool,
    /// Numbers greater than it.
    pub greater: bool,
    /// What is no number.
    pub others: bool,
}

impl Wanted {
    #[inline(always)]
    fn is(self, order: Option<Ordering>) -> bool {
        let Wanted { less, equal, greater, others } = self;
        // A bit for each order: which it is is not to be guessed.
        let orders = u8::from(less) | u8::from(equal) << 1 | u8::from(greater) << 2 | u8::from(others) << 3;
        let order = order.map_or(3, |order| (order as i8 + 1) as u8);
        orders >> order & 1 == 1
    }

    /// Whether the value with which the text begins is wanted.
    #[inline(never)]
    fn is_met(self, bound: &Bound, text: &[u8]) -> bool {
        self.is(bound.compare_beginning(text))
    }
}

/// A number of few digits: what [`few_digits_at`](crate::number::few_digits_at) gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewDigits {
    /// Its digits as a whole number, less than 10^16.
    pub significand: i64,
    /// How many of them stand behind the point, at most 15.
    pub scale: u32,
    /// Which of the values that were asked for it is, counted from 0.
    pub at: u32,
}

impl Documents<'_> {
    /// The numbers of few digits at some values: those at `indices`. What else stands there goes to `others`, as its place among the
    /// indices; where there is no value there is neither. They replace what the lists hold, and are in order.
    pub fn numbers(
        &self,
        isa: Isa,
        values: &[Span],
        indices: &[u32],
        numbers: &mut Vec<FewDigits>,
        others: &mut Vec<u32>,
    ) {
        numbers.clear();
        others.clear();
        numbers.reserve(indices.len());
        isa.run(Numbers { bytes: self.bytes(), values, indices, numbers, others });
    }

    /// The numbers of the occurrences of a key's needle behind which stands a value that passes the test. They replace what `kept` holds.
    pub fn keep(&self, isa: Isa, needle: &Needle, found: &Occurrences, test: &Test<'_>, kept: &mut Vec<u32>) {
        kept.resize(found.offsets.len(), 0);
        let key_bytes = needle.bytes().len();
        let count = test.judge(AtOccurrences { isa, bytes: self.bytes(), key_bytes, found, kept });
        kept.truncate(count);
    }

    /// For each document whether its value passes the test, from where all of the block have theirs. It replaces what `matches` holds.
    pub fn pass(&self, isa: Isa, places: &[Place], test: &Test<'_>, matches: &mut Vec<Match>) {
        matches.clear();
        let places = self.part_of(places);
        test.judge(AtPlaces { isa, bytes: self.bytes(), places, matches });
        matches.resize(self.len(), Match::Maybe);
    }
}

/// What is asked of values.
#[derive(Clone, Copy)]
pub enum Test<'t> {
    /// Whether they are wanted, as they stand to a bound.
    Compares(&'t Bound, Wanted),
    /// Whether they are numbers that equal one of the bounds.
    EqualsAny(&'t [Bound]),
    /// Whether this says so of the bytes from their first one on, up to the end of the block.
    Holds(&'t dyn Fn(&[u8]) -> bool),
}

/// Takes the judge of a test through values.
trait Judging {
    type Output;
    fn by(self, judge: impl Judge) -> Self::Output;
}

impl Test<'_> {
    fn judge<J: Judging>(&self, judging: J) -> J::Output {
        match *self {
            Test::Compares(bound, wanted) => match bound.whole() {
                Some(whole) => judging.by(ComparesToWhole { bound, whole, wanted }),
                None => judging.by(|text: &[u8]| wanted.is(bound.compare_beginning(text))),
            },
            Test::EqualsAny(bounds) => {
                let mut integers: Vec<u64> = bounds.iter().filter_map(Bound::integer).collect();
                if integers.len() < bounds.len() {
                    return judging.by(|text: &[u8]| equals_any(bounds, text));
                }
                integers.resize(integers.len().next_multiple_of(LANES), NONE);
                judging.by(EqualsAny { bounds, integers: &integers })
            }
            Test::Holds(holds) => judging.by(holds),
        }
    }
}

/// The values behind occurrences of a needle.
struct AtOccurrences<'t> {
    isa: Isa,
    bytes: &'t [u8],
    key_bytes: usize,
    found: &'t Occurrences,
    kept: &'t mut [u32],
}

impl Judging for AtOccurrences<'_> {
    /// How many are kept.
    type Output = usize;

    fn by(self, judge: impl Judge) -> usize {
        let AtOccurrences { isa, bytes, key_bytes, found, kept } = self;
        isa.run(Keep { bytes, key_bytes, offsets: &found.offsets, kept, judge })
    }
}

/// The values at places.
struct AtPlaces<'t> {
    isa: Isa,
    bytes: &'t [u8],
    places: &'t [Place],
    matches: &'t mut Vec<Match>,
}

impl Judging for AtPlaces<'_> {
    type Output = ();

    fn by(self, judge: impl Judge) {
        let AtPlaces { isa, bytes, places, matches } = self;
        isa.run(Pass { bytes, places, matches, judge });
    }
}

struct Pass<'t, J> {
    bytes: &'t [u8],
    places: &'t [Place],
    matches: &'t mut Vec<Match>,
    judge: J,
}

impl<J: Judge> Task for Pass<'_, J> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Pass { bytes, places, matches, judge } = self;
        let ahead = places.iter().skip(PREFETCHED).chain(std::iter::repeat(&Place::ABSENT));
        matches.extend(places.iter().zip(ahead).map(|(place, ahead)| {
            prefetch(bytes, ahead.start());
            if place.is_value() {
                let is_wanted = judge.holds(bytes.get(place.start()..).unwrap_or_default());
                if is_wanted { Match::Yes } else { Match::No }
            } else if *place == Place::ABSENT {
                Match::No
            } else {
                Match::Maybe
            }
        }));
    }
}

/// HEURISTIC: values of neighbouring documents stand too far apart for the processor to guess where the next one is.
const PREFETCHED: usize = 16;

/// Asks for the value that is some places further on than the one `at` a place among the indices.
#[inline(always)]
pub(super) fn prefetch_ahead(bytes: &[u8], values: &[Span], indices: &[u32], at: u32) {
    let ahead = indices.get(at as usize + PREFETCHED).and_then(|index| values.get(*index as usize));
    if let Some(Span::Value(start, _)) = ahead {
        prefetch(bytes, *start as usize);
    }
}

/// Decides by what follows a needle. A closure does, where it need not be part of the loop.
trait Judge {
    /// Whether the occurrence is kept.
    fn holds(&self, text: &[u8]) -> bool;

    /// The same of several at once, of what follows them after so many bytes: a bit for each whether that can be told at a
    /// glance, and a bit for each whether it is kept.
    #[inline(always)]
    fn glance<V: Vector>(&self, _: V, _bytes: &[u8], _offsets: &[u32; SEVERAL], _behind: usize) -> (u8, u8) {
        (0, 0)
    }
}

impl<F: Fn(&[u8]) -> bool> Judge for F {
    #[inline(always)]
    fn holds(&self, text: &[u8]) -> bool {
        self(text)
    }
}

/// Compares with a whole number.
struct ComparesToWhole<'j> {
    bound: &'j Bound,
    whole: Whole,
    wanted: Wanted,
}

impl Judge for ComparesToWhole<'_> {
    #[inline(always)]
    fn holds(&self, text: &[u8]) -> bool {
        match text.first_chunk().and_then(|start| self.whole.compare(start)) {
            Some(order) => self.wanted.is(Some(order)),
            None => self.wanted.is_met(self.bound, text),
        }
    }

    #[inline(always)]
    fn glance<V: Vector>(
        &self,
        vector: V,
        bytes: &[u8],
        offsets: &[u32; SEVERAL],
        behind: usize,
    ) -> (u8, u8) {
        if !V::COMPARES_SEVERAL {
            return (0, 0);
        }
        let standing = vector.compare_several(bytes, offsets, behind, self.whole);
        let Some(Standing { is_told, is_equal, is_greater }) = standing else { return (0, 0) };
        let Wanted { less, equal, greater, .. } = self.wanted;
        let of = |is_wanted: bool, lanes: u8| if is_wanted { lanes } else { 0 };
        let is_less = !(is_equal | is_greater);
        (is_told, of(less, is_less) | of(equal, is_equal) | of(greater, is_greater))
    }
}

/// Compares with several whole numbers.
struct EqualsAny<'j> {
    bounds: &'j [Bound],
    /// The same, and [`NONE`] up to a multiple of the lanes.
    integers: &'j [u64],
}

impl Judge for EqualsAny<'_> {
    #[inline(always)]
    fn holds(&self, text: &[u8]) -> bool {
        let Some((is_negative, digits)) = text.first_chunk().and_then(decimal::beginning) else {
            return equals_any(self.bounds, text);
        };
        if digits.scale > 0 || is_negative {
            // Where the last digit is none, it is no whole number; and -1 is less than all of them.
            return digits.bytes & 0xff == 0 && equals_any(self.bounds, text);
        }
        let Ok(number) = u64::try_from(digits.bytes) else { return false };
        // All are compared, in vectors: which it is, if any, is not to be guessed.
        let lanes = self.integers.as_chunks::<LANES>().0.iter();
        lanes.fold(false, |found, lanes| {
            found | lanes.iter().fold(false, |found, integer| found | (*integer == number))
        })
    }
}

#[inline(never)]
fn equals_any(bounds: &[Bound], text: &[u8]) -> bool {
    matches!(text, [b'-' | b'0'..=b'9', ..])
        && bounds.iter().any(|bound| bound.compare_beginning(text) == Some(Ordering::Equal))
}

const LANES: usize = 8;
/// No number's digits.
const NONE: u64 = u64::MAX;

struct Keep<'t, J> {
    bytes: &'t [u8],
    key_bytes: usize,
    offsets: &'t [u32],
    kept: &'t mut [u32],
    judge: J,
}

impl<J: Judge> Task for Keep<'_, J> {
    /// How many are kept.
    type Output = usize;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> usize {
        let Keep { bytes, key_bytes, offsets, kept, judge } = self;
        let (mut next, mut number) = (0, 0);
        let mut note = |is_kept: bool| {
            // Which are kept is not to be guessed: each is written, and overwritten if it is not.
            if let Some(slot) = kept.get_mut(next) {
                *slot = number;
            }
            number += 1;
            next += usize::from(is_kept);
        };
        let text = |offset: u32| bytes.get(offset as usize + key_bytes..).unwrap_or_default();
        let (several, rest) = offsets.as_chunks();
        for offsets in several {
            let (is_told, is_kept) = judge.glance(vector, bytes, offsets, key_bytes);
            for (lane, offset) in offsets.iter().enumerate() {
                note(if is_told >> lane & 1 == 1 {
                    is_kept >> lane & 1 == 1
                } else {
                    judge.holds(text(*offset))
                });
            }
        }
        for offset in rest {
            note(judge.holds(text(*offset)));
        }
        next
    }
}

struct Numbers<'t> {
    bytes: &'t [u8],
    values: &'t [Span],
    indices: &'t [u32],
    numbers: &'t mut Vec<FewDigits>,
    others: &'t mut Vec<u32>,
}

impl Task for Numbers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Numbers { bytes, values, indices, numbers, others } = self;
        for (at, index) in (0..).zip(indices) {
            prefetch_ahead(bytes, values, indices, at);
            let Some(Span::Value(start, end)) = values.get(*index as usize) else { continue };
            match decimal::at(vector, bytes, *start as usize, *end as usize) {
                Some((significand, scale)) => numbers.push(FewDigits { significand, scale, at }),
                None => others.push(at),
            }
        }
    }
}
