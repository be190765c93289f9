//! Groups of simple regular expressions, without an automaton.
//!
//! An automaton that tells groups looks at each byte for itself. What people cut out of texts is mostly written as `/^.*ms=([0-9]+)$/`: plain
//! texts, and runs of characters between them. Such pieces are searched for as texts are, and tried again where a run took too much
//! (backtracking, as in Perl). One of several words, and a part that may be missing, are tried likewise. What takes too many trials is left to the automaton, whose time is bounded.

mod set;

use memchr::memmem::{Finder, FinderRev};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};
use set::{Set, set_of, set_of_one};
use std::ops::Range;

/// Most runs of characters and optional parts in one pattern: each can be tried again.
const CHOICES_MAX: usize = 8;

/// Most words of which one stands in a place.
const WORDS_MAX: usize = 16;

/// Most groups, that of the whole match among them.
const GROUPS_MAX: usize = 10;

/// HEURISTIC: an automaton is quicker than so many looks at each byte.
const LOOKS_MAX: usize = 8;

/// The same for a whole text, however short.
const LOOKS_MIN: usize = 256;

/// A byte of a set that has some characters beyond ASCII takes as long as so many others.
const LOOKED_UP: usize = 4;

/// HEURISTIC: a text that stands in so many places is searched for from the end.
const FOUND_MAX: usize = 4;

/// To begin a match, or to try it without an optional part, takes as long as so many.
const TRIAL: usize = 16;

/// Where each group stands. The first is the whole match.
pub(super) type Groups = [Range<usize>; GROUPS_MAX];

/// A pattern that is a sequence of plain texts, choices of words, runs of characters and optional parts.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    begins: Begins,
    /// How many groups there are, and their names.
    names: Vec<Option<Box<str>>>,
}

/// Where a match can begin.
#[derive(Clone, Debug)]
enum Begins {
    /// Where the text does.
    AtStart,
    /// With a plain text, which is searched for.
    Text(Box<Finder<'static>>),
    /// With a character of a set: with one of these bytes. There is nothing but a run of such characters.
    Set(Box<[bool; 256]>),
    /// With as many characters of a set as there are, or fewer.
    Longest(Box<Longest>),
    /// With as many characters of a set as there are, or fewer, or none of them.
    Anywhere(Box<Set>),
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Box<[u8]>),
    /// One of these, of which none begins with another: no more than one stands in a place.
    AnyOf(Box<[Box<[u8]>]>),
    Run(Box<Run>),
    /// The pieces from the next one to `past` are there, or none of them is: these groups are empty then.
    Maybe {
        past: usize,
        groups: Range<usize>,
    },
    Past,
    Open(usize),
    Close(usize),
    End,
}

impl Piece {
    /// Whether it takes no characters, and asks for none.
    fn is_mark(&self) -> bool {
        matches!(self, Piece::Open(_) | Piece::Close(_) | Piece::Past)
    }
}

/// Some characters of a set.
#[derive(Clone, Debug)]
struct Run {
    set: Set,
    least: usize,
    most: usize,
    is_greedy: bool,
    /// Whether characters have to be counted: there are some of several bytes.
    is_counted: bool,
    before: Before,
}

/// A run that takes as many characters of a set as there are, or fewer. Where it fails from one of them on, it fails from all that follow at once: it could end nowhere
/// else from these. So words are tried from their beginnings only.
#[derive(Clone, Debug)]
struct Longest {
    set: Set,
    /// The bytes that its characters begin with.
    leads: Box<[bool; 256]>,
}

/// What comes behind a run, which tells where it can end.
#[derive(Clone, Debug)]
enum Before {
    /// The end of the pattern: the first end that is tried will do.
    Nothing,
    /// The end of the text.
    End,
    /// What cannot begin with a character of the run: it ends where it has to.
    Other,
    Text(Box<(Finder<'static>, FinderRev<'static>)>),
    /// What begins with one of these bytes.
    Set(Box<[bool; 256]>),
    /// Another run, however long.
    Longest(Box<Longest>),
    /// It can end after each of its characters.
    Any,
}

/// What a match can go on with.
#[derive(Clone)]
struct Following {
    /// The bytes that it may begin with.
    firsts: [bool; 256],
    /// It may be the end of the text.
    may_be_end: bool,
    /// It may be anything, since the pattern may be at its end.
    may_be_all: bool,
}

impl Following {
    /// Behind the last piece.
    const ANYTHING: Following = Following { firsts: [false; 256], may_be_end: true, may_be_all: true };

    fn one_of(firsts: impl IntoIterator<Item = u8>) -> Following {
        let mut has = [false; 256];
        firsts.into_iter().for_each(|first| has[usize::from(first)] = true);
        Following { firsts: has, may_be_end: false, may_be_all: false }
    }

    fn or(mut self, other: &Following) -> Following {
        self.firsts.iter_mut().zip(&other.firsts).for_each(|(own, other)| *own |= other);
        self.may_be_end |= other.may_be_end;
        self.may_be_all |= other.may_be_all;
        self
    }
}

/// What is known of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    Match,
    NoMatch,
    /// It takes too long to tell, or the text is not of the kind that is told of.
    Unknown,
}

/// A run that can end earlier, or later where it is lazy.
#[derive(Clone, Copy, Default)]
struct Choice {
    piece: usize,
    least: usize,
    most: usize,
}

impl Pieces {
    /// The pieces of a pattern, if it is a sequence of such.
    pub(super) fn of(source: &str, ci: bool) -> Option<Pieces> {
        let hir = ParserBuilder::new().case_insensitive(ci).build().parse(source).ok()?;
        let mut made = Pieces { pieces: Vec::new(), begins: Begins::AtStart, names: vec![None] };
        let mut parts = Vec::new();
        flatten(&hir, &mut parts);
        let at_start =
            matches!(parts.first(), Some(Part::Hir(hir)) if *hir.kind() == HirKind::Look(Look::Start));
        for part in parts.iter().skip(usize::from(at_start)) {
            made.add(part)?;
        }
        if !at_start {
            let mut pieces = made.pieces.iter().filter(|piece| !piece.is_mark());
            made.begins = match (pieces.next(), pieces.next()) {
                (Some(Piece::Text(text)), _) => Begins::Text(Box::new(Finder::new(text).into_owned())),
                (Some(Piece::Run(run)), None) if run.least > 0 => Begins::Set(run.set.leads()),
                (Some(Piece::Run(run)), Some(_)) if run.least > 0 => {
                    Begins::Longest(Box::new(run.longest()?))
                }
                // A match is never empty: else it would have to be told where the next one begins.
                // Of few characters, most places would be tried for nothing.
                (Some(Piece::Run(run)), Some(Piece::Text(_)))
                    if run.most == usize::MAX && (run.set.is_all || run.set.all_but.is_some()) =>
                {
                    Begins::Anywhere(Box::new(run.set.clone()))
                }
                _ => return None,
            };
        }
        let choices =
            made.pieces.iter().filter(|piece| matches!(piece, Piece::Run(_) | Piece::Maybe { .. })).count();
        if choices > CHOICES_MAX || made.names.len() > GROUPS_MAX {
            return None;
        }
        made.look_behind();
        Some(made)
    }

    fn add(&mut self, part: &Part<'_>) -> Option<()> {
        let hir = match part {
            Part::Open(index, name) => {
                // Groups are told by their numbers, which grow.
                if *index != self.names.len() {
                    return None;
                }
                self.names.push(name.map(Into::into));
                self.pieces.push(Piece::Open(*index));
                return Some(());
            }
            Part::Close(index) => {
                self.pieces.push(Piece::Close(*index));
                return Some(());
            }
            Part::Hir(hir) => hir,
        };
        match hir.kind() {
            HirKind::Look(Look::End) => self.pieces.push(Piece::End),
            HirKind::Literal(literal) => {
                std::str::from_utf8(&literal.0).ok()?;
                self.pieces.push(Piece::Text(literal.0.clone()));
            }
            HirKind::Alternation(words) => self.pieces.push(Piece::AnyOf(distinct_words(words)?)),
            HirKind::Class(class) => self.add_run(set_of(class)?, 1, Some(1), true),
            // A character that may be missing is a run.
            HirKind::Repetition(Repetition { min: 0, max: Some(1), greedy: true, sub })
                if set_of_one(sub).is_none() =>
            {
                let (at, first_group) = (self.pieces.len(), self.names.len());
                self.pieces.push(Piece::Maybe { past: at, groups: 0..0 });
                let mut parts = Vec::new();
                flatten(sub, &mut parts);
                parts.iter().try_for_each(|part| self.add(part))?;
                let (past, groups) = (self.pieces.len(), first_group..self.names.len());
                self.pieces.push(Piece::Past);
                *self.pieces.get_mut(at)? = Piece::Maybe { past, groups };
            }
            HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
                self.add_run(set_of_one(sub)?, *min, *max, *greedy);
            }
            _ => return None,
        }
        Some(())
    }

    fn add_run(&mut self, set: Set, least: u32, most: Option<u32>, is_greedy: bool) {
        // So many and so many more of the same characters, as in `\d\d`.
        if let Some(Piece::Run(last)) = self.pieces.last_mut()
            && last.least == last.most
            && most == Some(least)
            && last.set == set
            && let Some(both) = last.least.checked_add(least as usize)
        {
            last.is_counted = set.has_beyond();
            (last.least, last.most) = (both, both);
            return;
        }
        self.pieces.push(Piece::Run(Box::new(Run {
            is_counted: set.has_beyond() && (least > 1 || most.is_some()),
            set,
            least: least as usize,
            most: most.map_or(usize::MAX, |most| most as usize),
            is_greedy,
            before: Before::Any,
        })));
    }

    /// Tells each run what is behind it.
    fn look_behind(&mut self) {
        let mut behind: Option<&Piece> = None;
        let mut following = Following::ANYTHING;
        // What follows where the optional parts around are missing.
        let mut past = Vec::new();
        let mut all = Vec::new();
        for piece in self.pieces.iter().rev() {
            following = match piece {
                Piece::Run(run) => {
                    all.push(run.before(behind, &following));
                    let own = Following { firsts: *run.set.has, may_be_end: false, may_be_all: false };
                    if run.least > 0 { own } else { own.or(&following) }
                }
                Piece::Text(text) => Following::one_of(text.first().copied()),
                Piece::AnyOf(words) => {
                    Following::one_of(words.iter().filter_map(|word| word.first().copied()))
                }
                Piece::End => Following { may_be_end: true, ..Following::one_of([]) },
                Piece::Past => {
                    past.push(following.clone());
                    following
                }
                Piece::Maybe { .. } => following.or(&past.pop().unwrap_or(Following::ANYTHING)),
                Piece::Open(_) | Piece::Close(_) => following,
            };
            if !piece.is_mark() {
                behind = Some(piece);
            }
        }
        let runs = self.pieces.iter_mut().filter_map(|piece| match piece {
            Piece::Run(run) => Some(run),
            _ => None,
        });
        runs.zip(all.into_iter().rev()).for_each(|(run, before)| run.before = before);
    }

    /// The number of a named group.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.as_deref() == Some(name))
    }

    /// Whether it matches at the start of a text only.
    pub(super) fn is_at_start(&self) -> bool {
        matches!(self.begins, Begins::AtStart)
    }

    /// Whether an automaton that tells no groups is hardly quicker: a match begins where the text does, or a search finds where, and no more than one run is tried.
    pub(super) fn are_quick(&self) -> bool {
        let mut choices = self
            .pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Run(_) | Piece::AnyOf(_) | Piece::Maybe { .. }));
        let first = choices.next();
        self.is_at_start() || choices.next().is_none() && matches!(first, None | Some(Piece::Run(_)))
    }

    /// How many bytes may be looked at in a text, for all of its matches.
    pub(super) fn budget(text: &str) -> usize {
        LOOKS_MAX * text.len() + LOOKS_MIN
    }

    /// The first match from a place on: the start of the text, or the end of the match before. Once the budget of the text is spent, nothing is told of
    /// it: all matches together take linear time.
    pub(super) fn find(&self, text: &str, from: usize, groups: &mut Groups, budget: &mut usize) -> Told {
        if *budget == 0 {
            return Told::Unknown;
        }
        let next = |from: usize| -> Option<usize> {
            let rest = text.as_bytes().get(from..)?;
            match &self.begins {
                Begins::AtStart => (from == 0).then_some(0),
                Begins::Text(finder) => Some(from + finder.find(rest)?),
                Begins::Set(set) => Some(from + first_of(set, rest)?),
                Begins::Longest(run) => Some(from + first_of(&run.leads, rest)?),
                Begins::Anywhere(_) => Some(from),
            }
        };
        let mut from = from;
        while let Some(start) = next(from) {
            *budget = budget.saturating_sub(TRIAL);
            match self.match_at(text, start, groups, budget) {
                Told::NoMatch => {}
                told => return told,
            }
            from = match &self.begins {
                Begins::Longest(run) => start + run.set.extent(text.get(start..).unwrap_or_default()).max(1),
                // What fails from its first character on fails behind all of them, too.
                Begins::Anywhere(set) => {
                    let other = start + set.extent(text.get(start..).unwrap_or_default());
                    boundary_from(text, other + 1).max(other + 1)
                }
                // Behind an empty text no character begins.
                _ => boundary_from(text, start + 1).max(start + 1),
            };
        }
        Told::NoMatch
    }

    fn match_at(&self, text: &str, start: usize, groups: &mut Groups, budget: &mut usize) -> Told {
        let mut choices = [Choice::default(); CHOICES_MAX];
        let mut open = 0;
        let (mut at, mut piece) = (start, 0);
        loop {
            let Some(next) = self.pieces.get(piece) else {
                groups[0] = start..at;
                return Told::Match;
            };
            let next = match next {
                Piece::Open(group) => {
                    groups.get_mut(*group).into_iter().for_each(|group| group.start = at);
                    Some(at)
                }
                Piece::Close(group) => {
                    groups.get_mut(*group).into_iter().for_each(|group| group.end = at);
                    Some(at)
                }
                Piece::Past => Some(at),
                Piece::End => (at == text.len()).then_some(at),
                Piece::Text(wanted) => {
                    let rest = text.as_bytes().get(at..).unwrap_or_default();
                    rest.starts_with(wanted).then_some(at + wanted.len())
                }
                Piece::AnyOf(words) => {
                    let rest = text.as_bytes().get(at..).unwrap_or_default();
                    *budget = budget.saturating_sub(words.len());
                    words.iter().find(|word| rest.starts_with(word)).map(|word| at + word.len())
                }
                Piece::Maybe { .. } => {
                    put_off(Choice { piece, least: at, most: at }, &mut choices, &mut open);
                    Some(at)
                }
                Piece::Run(run) => {
                    let (least, most) = run.extent(text, at);
                    *budget = budget.saturating_sub(run.cost(most));
                    least
                        .map(|least| Choice { piece, least: at + least, most: at + most })
                        .and_then(|choice| run.end(text, choice, &mut choices, &mut open))
                }
            };
            if let Some(next) = next {
                (at, piece) = (next, piece + 1);
                continue;
            }
            // The last run that can end elsewhere is tried again.
            (at, piece) = loop {
                if *budget == 0 {
                    return Told::Unknown;
                }
                let Some(last) = open.checked_sub(1) else { return Told::NoMatch };
                open = last;
                let Some(choice) = choices.get(last).copied() else { return Told::NoMatch };
                let run = match self.pieces.get(choice.piece) {
                    Some(Piece::Run(run)) => run,
                    Some(Piece::Maybe { past, groups: missing }) => {
                        *budget = budget.saturating_sub(TRIAL);
                        groups.get_mut(missing.clone()).into_iter().flatten().for_each(|group| *group = 0..0);
                        break (choice.least, *past);
                    }
                    _ => return Told::NoMatch,
                };
                *budget = budget.saturating_sub(1 + (choice.most - choice.least) / 16);
                if let Some(end) = run.end(text, choice, &mut choices, &mut open) {
                    break (end, choice.piece + 1);
                }
            };
        }
    }
}

impl Run {
    /// What it takes to look at so many bytes: characters beyond ASCII are looked up among ranges.
    fn cost(&self, bytes: usize) -> usize {
        if self.set.beyond.is_some() { bytes.saturating_mul(LOOKED_UP) } else { bytes }
    }

    /// How many bytes from here on are of its characters: of as few as there have to be, if there are, and of all that may be.
    fn extent(&self, text: &str, at: usize) -> (Option<usize>, usize) {
        let rest = text.get(at..).unwrap_or_default();
        if self.is_counted {
            return self.counted(rest);
        }
        // If there is a most, each of its characters is one byte.
        let most = self.set.extent(rest.get(..self.most).unwrap_or(rest));
        ((most >= self.least).then_some(self.least), most)
    }

    /// The same run, where it takes one character or more, as many as there are.
    fn longest(&self) -> Option<Longest> {
        let is_longest = self.least > 0 && self.most == usize::MAX;
        is_longest.then(|| Longest { leads: self.set.leads(), set: self.set.clone() })
    }

    /// What tells where it can end, by the next piece and what may follow.
    fn before(&self, behind: Option<&Piece>, following: &Following) -> Before {
        let is_apart = || !self.set.has.iter().zip(&following.firsts).any(|(own, other)| *own && *other);
        match behind {
            None => Before::Nothing,
            Some(Piece::End) => Before::End,
            // Whatever may be missing.
            Some(_) if !following.may_be_all && is_apart() => Before::Other,
            Some(Piece::Text(text)) => {
                Before::Text(Box::new((Finder::new(text).into_owned(), FinderRev::new(text).into_owned())))
            }
            Some(Piece::Run(next)) if let Some(next) = next.longest() => Before::Longest(Box::new(next)),
            Some(_) if !following.may_be_all && !following.may_be_end => {
                Before::Set(Box::new(following.firsts))
            }
            Some(_) => Before::Any,
        }
    }

    /// The same by characters.
    fn counted(&self, rest: &str) -> (Option<usize>, usize) {
        let (mut least, mut most, mut count) = ((self.least == 0).then_some(0), 0, 0);
        for c in rest.chars().take_while(|c| self.set.has_char(*c)).take(self.most) {
            (most, count) = (most + c.len_utf8(), count + 1);
            if count == self.least {
                least = Some(most);
            }
        }
        (least, most)
    }

    /// The end to try first, of those from `least` to `most`. What is left to try comes on the stack.
    fn end(
        &self,
        text: &str,
        choice: Choice,
        choices: &mut [Choice; CHOICES_MAX],
        open: &mut usize,
    ) -> Option<usize> {
        let Choice { least, most, .. } = choice;
        let end = match (&self.before, self.is_greedy) {
            (Before::Nothing, true) | (Before::Other, _) => return Some(most),
            (Before::Nothing, false) => return Some(boundary_from(text, least)),
            (Before::End, _) => return (most == text.len()).then_some(most),
            (Before::Text(finders), true) => {
                let (finder, reversed) = &**finders;
                let within = text.as_bytes().get(least..text.len().min(most + finder.needle().len()))?;
                least + last_of(finder, reversed, within)?
            }
            (Before::Text(finders), false) => {
                let (finder, _) = &**finders;
                let within = text.as_bytes().get(least..text.len().min(most + finder.needle().len()))?;
                least + finder.find(within)?
            }
            (Before::Set(set), is_greedy) => least + one_of(set, text, least..most, is_greedy)?,
            (Before::Longest(next), is_greedy) => least + one_of(&next.leads, text, least..most, is_greedy)?,
            (Before::Any, true) => (least..=most).rev().find(|end| text.is_char_boundary(*end))?,
            (Before::Any, false) => (least..=most).find(|end| text.is_char_boundary(*end))?,
        };
        let left = match self.is_greedy {
            true => end.checked_sub(1).filter(|most| *most >= least).map(|most| Choice { most, ..choice }),
            false => {
                let step = match &self.before {
                    Before::Longest(next) => next.set.extent(text.get(end..)?).max(1),
                    _ => 1,
                };
                (end + step <= most).then_some(Choice { least: end + step, ..choice })
            }
        };
        if let Some(left) = left {
            put_off(left, choices, open);
        }
        Some(end)
    }
}

/// Leaves a choice for later.
fn put_off(choice: Choice, choices: &mut [Choice; CHOICES_MAX], open: &mut usize) {
    if let Some(place) = choices.get_mut(*open) {
        *place = choice;
        *open += 1;
    }
}

/// Where the first of these bytes stands.
fn first_of(set: &[bool; 256], bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| set[usize::from(*byte)])
}

/// Where a text stands last. To search for it from the end on takes much longer, unless it stands in many places.
fn last_of(finder: &Finder<'_>, reversed: &FinderRev<'_>, bytes: &[u8]) -> Option<usize> {
    let mut last = finder.find(bytes)?;
    for _ in 0..FOUND_MAX {
        match finder.find(bytes.get(last + 1..)?) {
            Some(next) => last += 1 + next,
            None => return Some(last),
        }
    }
    reversed.rfind(bytes)
}

/// Where in a range, its end included, a character begins with one of these bytes: the last or the first one, from the start of the range.
fn one_of(set: &[bool; 256], text: &str, range: Range<usize>, is_last: bool) -> Option<usize> {
    let within = text.as_bytes().get(range.start..text.len().min(range.end + 1))?;
    let can_begin =
        |(at, byte): &(usize, &u8)| set[usize::from(**byte)] && text.is_char_boundary(range.start + at);
    let mut within = within.iter().enumerate();
    let found = if is_last { within.rfind(can_begin) } else { within.find(can_begin) };
    found.map(|(at, _)| at)
}

fn boundary_from(text: &str, from: usize) -> usize {
    (from..=text.len()).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len())
}

/// Words of which one is to stand in a place; none where one begins with another, or they are more than words.
fn distinct_words(words: &[Hir]) -> Option<Box<[Box<[u8]>]>> {
    let text = |hir: &Hir| match hir.kind() {
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(|text| text.as_bytes().into()),
        _ => None,
    };
    let words: Vec<Box<[u8]>> = words.iter().map(text).collect::<Option<_>>()?;
    let mut sorted: Vec<_> = words.iter().collect();
    sorted.sort_unstable();
    let are_distinct = sorted.windows(2).all(|pair| !pair[1].starts_with(pair[0]));
    (words.len() <= WORDS_MAX && are_distinct).then(|| words.into())
}

enum Part<'h> {
    Hir(&'h Hir),
    Open(usize, Option<&'h str>),
    Close(usize),
}

fn flatten<'h>(hir: &'h Hir, parts: &mut Vec<Part<'h>>) {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Concat(all) => all.iter().for_each(|hir| flatten(hir, parts)),
        HirKind::Capture(capture) => {
            parts.push(Part::Open(capture.index as usize, capture.name.as_deref()));
            flatten(&capture.sub, parts);
            parts.push(Part::Close(capture.index as usize));
        }
        _ => parts.push(Part::Hir(hir)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::bytes::{Regex, RegexBuilder};

    /// All that is known of matches, as the automaton tells it.
    fn by_automaton(regex: &Regex, text: &str) -> Vec<Vec<Range<usize>>> {
        let groups = |captures: regex::bytes::Captures<'_>| {
            captures.iter().map(|group| group.map(|group| group.range()).unwrap_or_default()).collect()
        };
        regex.captures_iter(text.as_bytes()).map(groups).collect()
    }

    /// The same, as pieces tell it; none where they do not tell.
    fn by_pieces(pieces: &Pieces, text: &str) -> Option<Vec<Vec<Range<usize>>>> {
        let mut all = Vec::new();
        let (mut from, mut budget) = (0, Pieces::budget(text));
        loop {
            let mut groups = Groups::default();
            match pieces.find(text, from, &mut groups, &mut budget) {
                Told::Unknown => return None,
                Told::NoMatch => return Some(all),
                Told::Match => {}
            }
            from = groups[0].end;
            all.push(groups[..pieces.names.len()].to_vec());
            if pieces.is_at_start() {
                return Some(all);
            }
        }
    }

    fn compare(source: &str, ci: bool, text: &str) -> Option<usize> {
        let pieces = Pieces::of(source, ci)?;
        let regex = RegexBuilder::new(source).case_insensitive(ci).build().unwrap();
        let told = by_pieces(&pieces, text)?;
        assert_eq!(told, by_automaton(&regex, text), "/{source}/ {ci} {text:?}");
        Some(told.len())
    }

    #[test]
    fn what_people_cut_out_of_texts_is_told_by_pieces() {
        for (source, text, matches) in [
            (r"^.*ms=([0-9]+)$", "took ms=1 or ms=22", 1),
            (r"^.*ms=([0-9]+)$", "took ms=1 or ms=", 0),
            (r"^<https:\/\/([^\/]+)\/.*$", "<https://ä.example/u/1>, <mailto:b>", 1),
            (r"^(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa$", "4.3.22.1.in-addr.arpa", 1),
            (r"^.*\[(\d+)\..*$", "mx1[1x] [198.51]", 1),
            (r"^([a-zA-Z]+).*$", "news42@em.example", 1),
            (r"^.*?id=(\w+).*$", "id=1&id=2", 1),
            (r"id=(?<id>[^&]*)", "id=1&id=2&id=", 3),
            (r"(?s)^.*line ([0-9]+)\n   at .*$", "a\nline 4\n   at x\nb", 1),
            (r"^(.+)(.)$", "abc", 1),
            (r"^(.+?)(.*)", "äöü", 1),
            (r"^(x?)", "", 1),
            // Digits are of many scripts, and characters beyond ASCII have several bytes.
            (r"^.*\|34=(\d+)\|.*$", "8=FIX|58=tel. Änderung|34=17٣|10=0|", 1),
            (r"^\d+(.*)$", "٣٤ä", 1),
            (r"^.{3}(\w{2,3})", "äöüßıxy", 1),
            (r"^(.)", "ä", 1),
            // One byte and some characters beyond ASCII are left out.
            (r"k=([^;ü]*)", "k=1ü2;x k=ä", 2),
            (r"^([^aä]*)(.*)$", "bcädaf", 1),
            (r"^.*52=\d+-\d\d:\d\d:\d\d\.(\d+)\|.*:\d\d$", "52=20251103-11:31:51.526|at 12:30", 1),
            (r"^\w{3}", "äö", 0),
            (r"^", "a", 1),
            // One of several words, and parts that may be missing.
            (r"^[\s\S]*? (LOG|ERROR|FATAL)[\s\S]*$", "at 1: LOGS\n ERROR: x", 1),
            (r"^.* (LOG|ERROR)$", "a LOG or ERROR, LOG", 1),
            (r"^.* (LOG|ERROR)$", "a LOG or ERRORS", 0),
            (r"^.*\/(\d+)(\?.*)?$", "/a/12?b=/3/x", 1),
            (r"^.*\/(\d+)(\?.*)?$", "/a/12", 1),
            (r"^.*\/(\d+)(\?.*)?$", "/a/12x", 0),
            (r"^(?:(\w+)@)?(.*?)(?::(\d+))?$", "ada@host:80", 1),
            (r"^(?:(\w+)@)?(.*?)(?::(\d+))?$", "host:x", 1),
            (r"^(?:-\d)?\d(\d)?", "-12", 1),
            (r"^b", "", 0),
            (r"^.*[?&]page=(\d+).*$", "/a?page=1&page=22&x", 1),
            (r"^.*?(LOG|ERR).*$", "a LO ERR LOG", 1),
            (r"^.*([äb])c", "äcb äc", 1),
            // It begins with a character of a set.
            (r"\d+", "1, ٣2; ä3", 3),
            (r"(\d{1,3})", "10.1 4444", 4),
            (r"[^ä]", "äbäöä", 2),
            (r"\w+", "Zürich 東京 ok", 3),
            (r"(\w+)@(\w+)\.com", "äda lovelace@x.org bob@x.com", 1),
            (r"(\d+)ms", "1s 22 m 333ms44ms", 2),
            (r"[ab]{2,}c", "abac aac ac", 2),
            (r"(.+?)(\d+)$", "a1b22c333", 1),
            // What may follow tells where a run ends, though it may be missing.
            (r"^.*?([^.]+\.[^.]+)\.?$", "www.Example.org.", 1),
            (r"^.*?([^.]+\.[^.]+)\.?$", "localhost.", 0),
            (r"([^.\/]+)(?:\.(\w+))?\/?", "a.b/c/d.é", 3),
            (r"v(\d+)(?:\.(\d+)(?:\.(\d+))?)?", "v1 v2.3 v4.5.6.", 3),
            // It begins with as many characters as there are, or with none.
            (r".* after ([0-9]+) ms$", "stalled after 3 s, after 250 ms", 1),
            (r".*=(\d+)", "a=1 b=2\nc=3\nd\n=4é", 3),
            (r"(?s).*Seq Scan on ([a-z_.]+) .*", "Seq Scan on a \n ->  Seq Scan on b.c (cost=0)\n", 1),
            (r"(?s).*?rows=(\d+) (.*)", "é rows= rows=12 rows=3 ", 1),
            (r"([^ ]*)@(\w*)", "ada@x, @y bob@", 3),
        ] {
            assert_eq!(compare(source, false, text), Some(matches), "/{source}/ {text:?}");
        }
    }

    #[test]
    fn what_is_no_sequence_is_left_to_the_automaton() {
        for source in [
            "a|bc",
            "(ab)+",
            r"\bx",
            "(?m)^a",
            "[a-z]*x",
            ".*[xy]",
            "a*b*",
            "^(ab)??",
            "^(abc|b|abcd)",
            "^(ab|c|)",
            "x(?-u:.)",
            "^(((((((((((a)))))))))))",
        ] {
            assert!(Pieces::of(source, false).is_none(), "/{source}/");
        }
    }

    #[test]
    fn what_takes_many_trials_is_left_to_the_automaton() {
        let pieces = Pieces::of("^.*a.*a.*a.*a.*b$", false).unwrap();
        let text = "a".repeat(10_000);
        let told = pieces.find(&text, 0, &mut Groups::default(), &mut Pieces::budget(&text));
        assert_eq!(told, Told::Unknown);
    }

    /// Each of many matches looked at all of the text behind it.
    #[test]
    fn many_matches_of_a_lazy_run_spend_one_budget() {
        let pieces = Pieces::of("a([a-z]*?)b", false).unwrap();
        let text = "axb".repeat(10_000);
        let (mut from, mut matches, mut budget) = (0, 0, Pieces::budget(&text));
        let mut groups = Groups::default();
        while pieces.find(&text, from, &mut groups, &mut budget) == Told::Match {
            (from, matches) = (groups[0].end, matches + 1);
        }
        assert!((1..100).contains(&matches) && budget == 0, "{matches}");
        assert_eq!(pieces.find(&text, from, &mut groups, &mut budget), Told::Unknown);
    }

    /// Pieces that are put together to patterns.
    fn piece() -> impl Strategy<Value = String> {
        let set = prop_oneof![
            Just("[ab]"),
            Just("[^a]"),
            Just("."),
            Just(r"\d"),
            Just("[a-c1]"),
            Just("[^ab]"),
            Just("[^aä]"),
            Just("[^\n\u{2028}k]"),
            Just("ä"),
            Just("a"),
            Just("(?s:.)"),
            Just(r"\w"),
            Just("[[:alpha:]]")
        ];
        let times = prop_oneof![
            Just(""),
            Just("*"),
            Just("+"),
            Just("?"),
            Just("*?"),
            Just("+?"),
            Just("{2}"),
            Just("{1,2}"),
            Just("{0,2}?"),
            Just("??")
        ];
        let run = (set, times).prop_map(|(set, times)| format!("{set}{times}"));
        let text = prop_oneof![Just("a"), Just("ab"), Just("b1"), Just("1"), Just("ä"), Just("aba")];
        let words = prop_oneof![Just("(ab|1)"), Just("(?:ab|b1|ä)"), Just("(a|bb)"), Just("(ab|1|2)?")];
        let maybe = prop_oneof![
            Just("(ab)?"),
            Just("(a(.*))?"),
            Just("(?:(.+?)b)?"),
            Just("(?:b([ab]*)1?)?"),
            Just("(a(b1)?)?"),
            Just("([^b]*)?")
        ];
        prop_oneof![
            3 => run.clone(),
            2 => text.prop_map(str::to_owned),
            2 => run.prop_map(|run| format!("({run})")),
            1 => words.prop_map(str::to_owned),
            1 => maybe.prop_map(str::to_owned),
            1 => Just("(a(.*)b)".to_owned())
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn pieces_tell_what_the_automaton_tells(
            pieces in prop::collection::vec(piece(), 1..7),
            (at_start, at_end, ci) in any::<(bool, bool, bool)>(),
            texts in prop::collection::vec("[abAB1ä2\n\u{212A}k٣]{0,12}", 8),
        ) {
            let (start, end) = (if at_start { "^" } else { "" }, if at_end { "$" } else { "" });
            let source = format!("{start}{}{end}", pieces.concat());
            for text in texts {
                compare(&source, ci, &text);
            }
        }
    }
}
