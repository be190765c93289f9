//! Learns the templates of a column from its texts: one that no known template fits teaches a new one.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashTable;

use crate::frame::Effort;
use crate::limits::TEMPLATES_MAX;
use crate::pattern::{Candidates, Gap, Head, Pattern};
use crate::texts::TextList;

/// The templates of a column while they are found.
#[derive(Debug, Default)]
pub(crate) struct Learner {
    pub(crate) patterns: Vec<Learned>,
    /// The numbers of the patterns, by hash.
    known: HashTable<u32>,
    hasher: RandomState,
    /// The patterns that texts of a shape fitted, those with the fewest gaps first.
    by_shape: HashMap<u32, Vec<u32>, FixedState>,
    /// The heads of the patterns, one after another.
    heads: Vec<Head>,
    /// The pattern of each value, counted from 1; 0 where none fits.
    pub(crate) codes: Vec<i64>,
    /// The texts that none fits: where they stand in the bytes of the column, and how many bytes they have.
    rest: Vec<(u32, u32)>,
    pub(crate) rest_bytes: usize,
    /// How many texts were taken to teach a template, and how many of the first are for each.
    lessons: usize,
    texts_per_lesson: usize,
    /// How many patterns one text fitted.
    singles: usize,
    /// So many such patterns are learned at least.
    singles_free: usize,
    given_up: bool,
    /// Whether there are so few texts that all shapes share one list of patterns.
    is_short: bool,
    /// Whether all texts have one length.
    one_length: bool,
    scratch: Vec<Range<usize>>,
}

/// A pattern, and what the gaps of each text that fits it hold.
#[derive(Debug)]
pub(crate) struct Learned {
    pub(crate) pattern: Pattern,
    /// How much is left over by values that fit: the less, the sooner it is tried.
    gaps: usize,
    /// For each text that fits, what each gap holds: where that stands in the bytes of the column.
    held: Vec<(u32, u32)>,
    pub(crate) held_bytes: usize,
    pub(crate) uses: usize,
    /// Where the text that fitted it last stands in the bytes of the column.
    last: (u32, u32),
}

impl Learned {
    /// How many bytes of the text that fitted it last were told by other values.
    fn referred_bytes(&self) -> usize {
        let literals: usize = self.pattern.pieces.iter().map(|(literal, _)| literal.bytes.len()).sum();
        let own = literals + self.pattern.tail.len() + self.held_bytes;
        ((self.last.1 - self.last.0) as usize).saturating_sub(own)
    }

    /// What each gap holds, over all texts that fit.
    pub(crate) fn held(&self, column: &TextList) -> impl Iterator<Item = TextList> {
        (0..self.gaps).map(|gap| texts_at(column, self.held.iter().skip(gap).step_by(self.gaps)))
    }
}

/// What stands at some places of a column's bytes.
fn texts_at<'p>(column: &TextList, places: impl Iterator<Item = &'p (u32, u32)> + Clone) -> TextList {
    let (count, bytes) =
        places.clone().fold((0, 0), |(count, bytes), (from, to)| (count + 1, bytes + (to - from) as usize));
    let mut texts = TextList::with_room(count, bytes);
    places.for_each(|(from, to)| texts.push_range(column.bytes(), *from as usize, *to as usize));
    texts
}

/// HEURISTIC: a column is given up where, after so many texts or any power of two above, fewer than a quarter fit a template. Free text
/// is told by then.
const PROBE: usize = 128;

/// HEURISTIC: a column of few texts learns few patterns in vain: where there are hundreds of such columns, that took most of the time.
const TEXTS_PER_SINGLE: usize = 16;

/// HEURISTIC: of the first texts one in so many may teach a template.
const TEXTS_PER_LESSON: usize = 4;

/// The same at low effort. HEURISTIC: where a column has few values the first ones teach what there is to learn.
const TEXTS_PER_LESSON_LOW: usize = 32;

/// HEURISTIC: a pattern of a single text is kept where so many bytes of it are other values: less is told as well by the text itself.
const REFERRED_MIN: usize = 16;

/// In a column of so few texts one is a good part of them.
const FEW_TEXTS: usize = 4;

/// HEURISTIC: patterns are told by shape from so many texts on. Where there are fewer, half of them would be the first of their shape.
const BY_SHAPE_FROM: usize = 1024;

/// HEURISTIC: a text is held against so many templates before it teaches one of its own.
const TRIED: usize = 48;

impl Learner {
    /// Knows no template yet, of a column of so many texts. Texts of one length that refer to nothing are best told position by position.
    pub(crate) fn new(texts: usize, one_length: bool, effort: Effort) -> Learner {
        let texts_per_lesson = match effort {
            Effort::Full => TEXTS_PER_LESSON,
            Effort::Low => TEXTS_PER_LESSON_LOW,
        };
        let singles_free = (texts / TEXTS_PER_SINGLE).clamp(4, 32);
        let codes = Vec::with_capacity(texts);
        Learner {
            is_short: texts < BY_SHAPE_FROM,
            texts_per_lesson,
            one_length,
            singles_free,
            codes,
            ..Learner::default()
        }
    }

    /// Whether any template refers to another value.
    fn refers(&self) -> bool {
        self.patterns.iter().any(|learned| learned.gaps < learned.pattern.pieces.len())
    }

    /// The columns that its templates refer to.
    pub(crate) fn references(&self) -> impl Iterator<Item = u32> {
        let pieces = self.patterns.iter().flat_map(|learned| &learned.pattern.pieces);
        pieces.filter_map(|(_, gap)| if let Gap::Reference(column) = gap { Some(*column) } else { None })
    }

    /// Whether it is worth going on.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// How many texts fit a template.
    pub(crate) fn matched(&self) -> usize {
        self.codes.len() - self.rest.len()
    }

    /// Takes back the patterns that serve a single text and say little of it: that text is kept as it is, as those are that no pattern fits.
    pub(crate) fn give_back_singles(&mut self) {
        let texts = self.codes.len();
        let gone = |learned: &Learned| {
            let serves_few = learned.uses == 1 && texts > FEW_TEXTS;
            learned.uses == 0 || (serves_few && learned.referred_bytes() < REFERRED_MIN)
        };
        if !self.patterns.iter().any(gone) {
            return;
        }
        let Learner { patterns, codes, rest, rest_bytes, .. } = self;
        let mut kept = 0;
        // The new code of each pattern, by the old one; 0 of texts that no pattern fits.
        let new_codes: Vec<i64> = std::iter::once(0)
            .chain(patterns.iter().map(|learned| {
                kept += i64::from(!gone(learned));
                if gone(learned) { 0 } else { kept }
            }))
            .collect();
        let mut before = std::mem::take(rest).into_iter();
        for code in codes.iter_mut() {
            let old = *code as usize;
            *code = new_codes[old];
            if *code == 0 {
                rest.extend(if old == 0 { before.next() } else { Some(patterns[old - 1].last) });
            }
        }
        *rest_bytes = rest.iter().map(|(from, to)| (to - from) as usize).sum();
        patterns.retain(|learned| !gone(learned));
    }

    /// The texts that none fits.
    pub(crate) fn rest(&self, column: &TextList) -> TextList {
        texts_at(column, self.rest.iter())
    }

    /// Takes the next text of its column, which stands at `at` in its bytes. `value` gives what a column's cursor stands at, `candidates` all
    /// values around the text.
    pub(crate) fn text<'c, 'd: 'c>(
        &mut self,
        column: u32,
        text: &'d [u8],
        at: usize,
        shape: u32,
        value: impl Fn(u32) -> Option<&'d [u8]> + Copy,
        candidates: impl FnOnce() -> &'c Candidates<'d>,
    ) {
        let shape = if self.is_short { 0 } else { shape };
        let seen = self.codes.len();
        if seen >= PROBE && seen.is_power_of_two() {
            self.given_up |= self.matched() * 4 < seen || (self.one_length && !self.refers());
        }
        if self.given_up {
            return;
        }
        let found = self
            .known_for(text, shape, value)
            .or_else(|| self.new_for(column, text, shape, value, candidates));
        match found {
            Some(number) => {
                let learned = &mut self.patterns[number as usize];
                learned.uses += 1;
                learned.last = (at as u32, (at + text.len()) as u32);
                match learned.uses {
                    1 => self.singles += 1,
                    2 => self.singles -= 1,
                    _ => {}
                }
                for filling in &self.scratch {
                    learned.held.push(((at + filling.start) as u32, (at + filling.end) as u32));
                    learned.held_bytes += filling.len();
                }
                self.codes.push(i64::from(number) + 1);
            }
            None => {
                self.rest.push((at as u32, (at + text.len()) as u32));
                self.rest_bytes += text.len();
                self.codes.push(0);
            }
        }
    }

    /// A pattern that the text fits: first those of its shape, then the newest of others. What its gaps hold is left in `scratch`.
    fn known_for<'d>(
        &mut self,
        text: &[u8],
        shape: u32,
        value: impl Fn(u32) -> Option<&'d [u8]> + Copy,
    ) -> Option<u32> {
        let Learner { patterns, by_shape, heads, scratch, .. } = self;
        let head = Head::of(text);
        let begins =
            |number: u32| heads.get(number as usize).is_some_and(|other| head.may_begin_with(*other));
        let mut fits = |number: u32| patterns[number as usize].pattern.fits(text, value, scratch);
        let mut none = Vec::new();
        let own = by_shape.get_mut(&shape).unwrap_or(&mut none);
        let tried = own.iter().take(TRIED);
        if let Some(place) = tried.clone().position(|number| begins(*number) && fits(*number)) {
            let number = own[place];
            // To the front of those with as many gaps: what was met last is met next.
            let gaps = patterns[number as usize].gaps;
            let front = own[..place].iter().rposition(|other| patterns[*other as usize].gaps != gaps);
            own[front.map_or(0, |before| before + 1)..=place].rotate_right(1);
            return Some(number);
        }
        let others = (0..patterns.len() as u32).rev().take(TRIED.saturating_sub(own.len()));
        let number =
            others.filter(|number| begins(*number)).find(|number| !own.contains(number) && fits(*number))?;
        self.remember(shape, number);
        Some(number)
    }

    fn remember(&mut self, shape: u32, number: u32) {
        let patterns = &self.patterns;
        let gaps = |number: u32| patterns[number as usize].gaps;
        let own = self.by_shape.entry(shape).or_default();
        let place = own.partition_point(|other| gaps(*other) < gaps(number));
        own.insert(place, number);
    }

    fn new_for<'c, 'd: 'c>(
        &mut self,
        column: u32,
        text: &[u8],
        shape: u32,
        value: impl Fn(u32) -> Option<&'d [u8]> + Copy,
        candidates: impl FnOnce() -> &'c Candidates<'d>,
    ) -> Option<u32> {
        // HEURISTIC: each template has to serve some four texts, and but few just one, or learning costs more than it saves. The first
        // texts may teach one in four.
        let matched = self.matched();
        let full = self.patterns.len() >= TEMPLATES_MAX - 1;
        if full
            || self.lessons >= (2 + self.codes.len() / self.texts_per_lesson).min(32) + matched / 4
            || self.singles >= self.singles_free + matched / 64
        {
            return None;
        }
        self.lessons += 1;
        let pattern = Pattern::of(text, candidates(), column)?;
        // A word may run on into what its pattern took for literal; then it does not fit its own text.
        if !pattern.fits(text, value, &mut self.scratch) {
            return None;
        }
        let Learner { known, hasher, patterns, .. } = self;
        let hash = hasher.hash_one(&pattern);
        let pattern_of = |number: &u32| &patterns[*number as usize].pattern;
        let number = match known.find(hash, |number| *pattern_of(number) == pattern) {
            Some(number) => *number,
            None => {
                let number = patterns.len() as u32;
                let gaps = pattern.gaps();
                known.insert_unique(hash, number, |number| hasher.hash_one(pattern_of(number)));
                self.heads.push(
                    pattern.pieces.first().map_or(Head::of(&pattern.tail), |(literal, _)| literal.head),
                );
                self.patterns.push(Learned {
                    pattern,
                    gaps,
                    held: Vec::new(),
                    held_bytes: 0,
                    uses: 0,
                    last: (0, 0),
                });
                number
            }
        };
        if !self.by_shape.get(&shape).is_some_and(|own| own.contains(&number)) {
            self.remember(shape, number);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Candidate;

    #[test]
    fn patterns_of_a_single_text_that_show_no_other_value_are_given_back() {
        let column: TextList = ["got 1", "alone 2 x", "got 3", "plain", "got 5", "user four 4"]
            .map(str::as_bytes)
            .into_iter()
            .collect();
        let mut candidates = Candidates::of(&[b"name"]);
        candidates.replace(std::iter::once(Candidate { column: 0, text: b"user four", fraction: false }));
        let mut learner = Learner::new(column.len(), false, Effort::Full);
        for index in 0..column.len() {
            let range = column.range(index).unwrap();
            let text = &column.bytes()[range.clone()];
            learner.text(1, text, range.start, 0, |_| Some(b"user four"), || &candidates);
        }
        assert_eq!(learner.codes, [1, 2, 1, 0, 1, 3]);
        learner.give_back_singles();
        let rest = learner.rest(&column);
        assert_eq!(rest.iter().collect::<Vec<_>>(), [&b"alone 2 x"[..], b"plain", b"user four 4"]);
        assert_eq!((learner.codes.as_slice(), learner.matched()), (&[1, 0, 1, 0, 1, 0][..], 3));
        assert_eq!((learner.patterns.len(), learner.rest_bytes), (1, rest.bytes().len()));
    }
}
