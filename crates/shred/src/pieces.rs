//! Texts by template, taken apart: the literals, and the values between them. How long texts are and whether something stands in them is asked of
//! the pieces, so that few texts are put together or none.

use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::number::{self, Plain};
use crate::output::{Output, Sink};
use crate::spans::Spans;

/// The texts at a path, by template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPieces {
    /// For each row the place of its text among those of the last column; [`NOTHING`] where it has none.
    pub(crate) places: Vec<u32>,
    /// The column of the texts comes last; templates refer to those before their own.
    pub(crate) columns: Vec<PlacedColumn>,
    /// The most bytes that all texts may have.
    pub(crate) bytes_max: usize,
}

/// The place of a row without a text.
pub(crate) const NOTHING: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacedColumn {
    Values(Spans<'static>),
    Templates(PlacedTemplates),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedTemplates {
    pub(crate) templates: Vec<PlacedTemplate>,
    /// For each text the number of its template, and how many texts before it have the same.
    pub(crate) texts: Vec<(u32, u32)>,
}

/// Literals and holes in turn, and a literal at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedTemplate {
    /// All literals, one after another, and bytes behind them.
    pub(crate) literals: Vec<u8>,
    /// Where the literal before a hole ends, and what fills the hole.
    pub(crate) pieces: Vec<(usize, PlacedHole)>,
    /// Where the last literal ends.
    pub(crate) end: usize,
    /// How many texts have it.
    pub(crate) uses: usize,
    /// The columns that its holes refer to, one after another.
    pub(crate) others: Vec<usize>,
    /// The places of the values of these columns, one text after another.
    pub(crate) places: Vec<u32>,
}

/// What fills a hole of a template in each of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacedHole {
    Own(Spans<'static>),
    /// Values of the other column of this number among those that its template refers to.
    Other(usize),
}

/// How many characters a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// There is no text.
    Nothing,
    /// So many.
    Characters(u32),
    /// Its pieces do not tell, as an escape may go from one to the next.
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
}

pub(crate) const MISSING_VALUE: DecodeError = malformed("fewer values than its shapes need");
pub(crate) const TOO_MANY_HOLES: DecodeError = malformed("templates of too many holes");

impl PlacedTemplate {
    /// The literal before each hole, and the last one.
    fn literals(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.pieces.iter().map(|(end, _)| *end).chain([self.end]);
        ends.scan(0, |start, end| self.literals.get(std::mem::replace(start, end)..end))
    }

    /// The places of the values that fill a hole, by the number of its column among those that are referred to.
    pub(crate) fn places_of(&self, other: usize) -> impl Iterator<Item = &u32> {
        let of_texts = self.places.chunks_exact(self.others.len().max(1));
        of_texts.filter_map(move |places| places.get(other))
    }
}

/// What is asked of texts: what it comes to for pieces, and for the text that they make.
trait Question {
    type Answer: Copy;
    /// What a text without pieces comes to.
    const EMPTY: Self::Answer;

    fn of_values(&self, values: &Spans<'_>) -> Answers<Self::Answer>;
    fn of_literals(&self, template: &PlacedTemplate) -> Self::Answer;
    /// What comes of a hole beside what fills it, as it stands between literals.
    fn of_meeting(&self, hole: &Meeting<'_>) -> Option<Answers<Self::Answer>>;
    fn join(&self, a: Self::Answer, b: Self::Answer) -> Self::Answer;
}

/// What some texts come to.
#[derive(Clone, Debug)]
enum Answers<A> {
    /// All the same.
    All(A),
    Each(Vec<A>),
}

/// A hole between literals.
struct Meeting<'p> {
    before: &'p [u8],
    after: &'p [u8],
    /// Whether no hole comes behind.
    is_last: bool,
    /// What fills it; none where that consists of pieces too.
    values: Option<&'p Spans<'static>>,
    /// The places of these values in the texts, which have their own in order.
    template: &'p PlacedTemplate,
    other: Option<usize>,
}

impl Meeting<'_> {
    /// Tells something of each value in the order of the texts.
    fn map<T>(&self, values: &Spans<'_>, tell: impl Fn(&[u8]) -> T) -> Vec<T> {
        let mut buffer: number::Buffer = [0; _];
        let mut tell = |place: usize| tell(values.text(place, &mut buffer));
        match self.other {
            None => (0..self.template.uses).map(tell).collect(),
            Some(other) => self.template.places_of(other).map(|place| tell(*place as usize)).collect(),
        }
    }
}

impl<A: Copy> Answers<A> {
    fn get(&self, index: usize) -> Option<A> {
        match self {
            Answers::All(answer) => Some(*answer),
            Answers::Each(answers) => answers.get(index).copied(),
        }
    }

    /// Joins the answers of further pieces of so many texts.
    fn join<Q: Question<Answer = A>>(&mut self, question: &Q, texts: usize, others: Answers<A>) {
        match (&mut *self, others) {
            (Answers::All(own), Answers::All(other)) => *own = question.join(*own, other),
            (Answers::All(own), Answers::Each(mut others)) => {
                others.resize(texts, Q::EMPTY);
                others.iter_mut().for_each(|other| *other = question.join(*own, *other));
                *self = Answers::Each(others);
            }
            (Answers::Each(own), Answers::All(other)) => {
                own.iter_mut().for_each(|own| *own = question.join(*own, other));
            }
            (Answers::Each(own), Answers::Each(others)) => {
                own.iter_mut().zip(others).for_each(|(own, other)| *own = question.join(*own, other));
            }
        }
    }
}

impl TextPieces {
    /// How many rows there are, those without a text included.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a row has a text.
    pub fn has(&self, row: usize) -> bool {
        self.places.get(row).is_some_and(|place| *place != NOTHING)
    }

    /// What it takes in memory, in bytes.
    pub fn held_bytes(&self) -> usize {
        let of_column = |column: &PlacedColumn| match column {
            PlacedColumn::Values(values) => values.held_bytes(),
            PlacedColumn::Templates(PlacedTemplates { templates, texts }) => {
                let of_template = |template: &PlacedTemplate| {
                    let own = template.pieces.iter().map(|(_, hole)| match hole {
                        PlacedHole::Own(values) => values.held_bytes(),
                        PlacedHole::Other(_) => 0,
                    });
                    let places = size_of::<u32>() * template.places.capacity();
                    let others = size_of::<usize>() * template.others.capacity();
                    let pieces = size_of::<(usize, PlacedHole)>() * template.pieces.capacity();
                    let itself = size_of::<PlacedTemplate>() + template.literals.capacity();
                    itself + pieces + others + places + own.sum::<usize>()
                };
                size_of::<(u32, u32)>() * texts.capacity() + templates.iter().map(of_template).sum::<usize>()
            }
        };
        size_of::<u32>() * self.places.capacity() + self.columns.iter().map(of_column).sum::<usize>()
    }

    /// What is asked of the text of each row: none where it has none.
    fn ask<Q: Question, T>(&self, question: &Q, tell: impl Fn(Option<Q::Answer>) -> T) -> Vec<T> {
        let mut answers: Vec<Answers<Q::Answer>> = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let told = match column {
                PlacedColumn::Values(values) => question.of_values(values),
                PlacedColumn::Templates(templates) => templates.ask(question, &self.columns, &answers),
            };
            answers.push(told);
        }
        let answer = |place: &u32| match answers.last() {
            Some(answers) if *place != NOTHING => answers.get(*place as usize),
            _ => None,
        };
        self.places.iter().map(|place| tell(answer(place))).collect()
    }

    /// The text of each row, or of some, each once, as JSON; empty where there is none. Takes time and memory linear in these.
    ///
    /// # Errors
    /// If they are longer than the documents.
    pub fn texts(&self, rows: Option<&[u32]>) -> Result<Texts<'static>, DecodeError> {
        let count = rows.map_or(self.len(), <[u32]>::len);
        let mut ends = Vec::with_capacity(count);
        let mut writer = Writer { columns: &self.columns, steps: self.bytes_max };
        let mut out = Output::new(self.bytes_max);
        let root = self.columns.len().saturating_sub(1);
        for nth in 0..count {
            let row = rows.map_or(Some(nth), |rows| rows.get(nth).map(|row| *row as usize));
            let place = row.and_then(|row| self.places.get(row)).copied().unwrap_or(NOTHING);
            if place != NOTHING {
                out.push(b"\"")?;
                writer.write(root, place as usize, &mut out)?;
                out.push(b"\"")?;
            }
            ends.push(out.len() as u32);
            if ends.len() == SAMPLE {
                out.make_room(out.len() / SAMPLE * count / 8 * 9);
            }
        }
        let mut bytes = out.into_bytes();
        bytes.shrink_to_fit();
        Ok(Texts::of_parts(ends, bytes))
    }

    /// How many characters the text of each row has. Takes time linear in the texts and the pieces of their templates.
    pub fn lengths(&self) -> Vec<Length> {
        let length = |characters: Option<u32>| match characters {
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
        let holds = |found: Option<u8>| match found {
            None => Holds::Nothing,
            Some(found) if found & found::FOREIGN != 0 => Holds::Untold,
            Some(found) if found & (found::HELD | found::PERHAPS) == 0 => Holds::No,
            Some(found) if found & (found::HELD | found::ESCAPED) == found::HELD => Holds::Yes,
            Some(_) => Holds::Untold,
        };
        self.ask(&Search { wanted, find }, holds)
    }
}

/// So many texts tell how long the others are, about.
const SAMPLE: usize = 256;

impl PlacedTemplates {
    /// What is asked of each text, where the answers for the columns before are known.
    fn ask<Q: Question>(
        &self,
        question: &Q,
        columns: &[PlacedColumn],
        known: &[Answers<Q::Answer>],
    ) -> Answers<Q::Answer> {
        let by_template: Vec<Answers<Q::Answer>> =
            self.templates.iter().map(|template| template.ask(question, columns, known)).collect();
        let of_text = |(template, nth): &(u32, u32)| {
            let of_template = by_template.get(*template as usize);
            of_template.and_then(|answers| answers.get(*nth as usize)).unwrap_or(Q::EMPTY)
        };
        Answers::Each(self.texts.iter().map(of_text).collect())
    }
}

impl PlacedTemplate {
    /// What is asked of each text that has the template.
    fn ask<Q: Question>(
        &self,
        question: &Q,
        columns: &[PlacedColumn],
        known: &[Answers<Q::Answer>],
    ) -> Answers<Q::Answer> {
        let mut answers = Answers::All(question.of_literals(self));
        if self.uses == 0 {
            return answers;
        }
        let literals: Vec<&[u8]> = self.literals().collect();
        for (nth, (_, hole)) in self.pieces.iter().enumerate() {
            let (values, other, own) = match hole {
                PlacedHole::Own(values) => (Some(values), None, question.of_values(values)),
                PlacedHole::Other(other) => {
                    let column = self.others.get(*other).copied().unwrap_or(usize::MAX);
                    let values = match columns.get(column) {
                        Some(PlacedColumn::Values(values)) => Some(values),
                        Some(PlacedColumn::Templates(_)) | None => None,
                    };
                    let own = match known.get(column) {
                        None => Answers::All(Q::EMPTY),
                        Some(Answers::All(answer)) => Answers::All(*answer),
                        Some(Answers::Each(answers)) => {
                            let answer =
                                |place: &u32| answers.get(*place as usize).copied().unwrap_or(Q::EMPTY);
                            Answers::Each(self.places_of(*other).map(answer).collect())
                        }
                    };
                    (values, Some(*other), own)
                }
            };
            answers.join(question, self.uses, own);
            let literal = |nth: usize| literals.get(nth).copied().unwrap_or_default();
            let is_last = nth + 1 == self.pieces.len();
            let (before, after) = (literal(nth), literal(nth + 1));
            let meeting = Meeting { before, after, is_last, values, template: self, other };
            if let Some(told) = question.of_meeting(&meeting) {
                answers.join(question, self.uses, told);
            }
        }
        answers
    }
}

/// Puts texts together.
struct Writer<'p> {
    columns: &'p [PlacedColumn],
    /// How many holes may still be filled.
    steps: usize,
}

impl Writer<'_> {
    /// Appends a text. It is no deeper in templates than a directory lets them be.
    fn write(&mut self, column: usize, place: usize, out: &mut Output) -> Result<(), DecodeError> {
        let columns = self.columns;
        let PlacedTemplates { templates, texts } = match columns.get(column).ok_or(MISSING_VALUE)? {
            PlacedColumn::Values(values) => return values.append(place, out),
            PlacedColumn::Templates(templates) => templates,
        };
        let (template, nth) = *texts.get(place).ok_or(MISSING_VALUE)?;
        let template = templates.get(template as usize).ok_or(MISSING_VALUE)?;
        self.steps = self.steps.checked_sub(template.pieces.len()).ok_or(TOO_MANY_HOLES)?;
        let mut start = 0;
        for (end, hole) in &template.pieces {
            out.push_range(&template.literals, start, *end)?;
            start = *end;
            match hole {
                PlacedHole::Own(values) => values.append(nth as usize, out)?,
                PlacedHole::Other(other) => {
                    let column = *template.others.get(*other).ok_or(MISSING_VALUE)?;
                    let place = template.places.get(nth as usize * template.others.len() + other);
                    self.write(column, *place.ok_or(MISSING_VALUE)? as usize, out)?;
                }
            }
        }
        out.push_range(&template.literals, start, template.end)
    }
}

/// How many characters texts have.
struct Characters;

/// Stands for the length of a text whose pieces do not tell it.
const UNTOLD: u32 = u32::MAX;

/// How many characters a piece has; untold where it may begin or end within an escape, or has half a surrogate pair.
fn characters(text: &[u8]) -> u32 {
    // Each character begins with a byte that continues no other.
    let plain = |text: &[u8]| text.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count() as u32;
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
    count + plain(rest)
}

impl Question for Characters {
    type Answer = u32;
    const EMPTY: u32 = 0;

    fn of_values(&self, values: &Spans<'_>) -> Answers<u32> {
        Answers::Each(values.map(values.is_plain(), |length| length as u32, characters, Plain::digits))
    }

    fn of_meeting(&self, _: &Meeting<'_>) -> Option<Answers<u32>> {
        None
    }

    fn of_literals(&self, template: &PlacedTemplate) -> u32 {
        template.literals().fold(0, |sum, literal| self.join(sum, characters(literal)))
    }

    fn join(&self, a: u32, b: u32) -> u32 {
        a.saturating_add(b)
    }
}

/// Whether something stands in texts.
struct Search<'w, F> {
    wanted: Wanted<'w>,
    find: F,
}

/// Whether a byte stands in the texts of numbers.
fn is_numeric(byte: &u8) -> bool {
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
}

impl<F: Fn(&[u8]) -> bool> Search<'_, F> {
    fn of_text(&self, text: &[u8]) -> u8 {
        let bit = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        let is_escaped = text.contains(&b'\\');
        bit((self.find)(text), found::HELD)
            | bit(is_escaped, found::ESCAPED)
            | bit(self.wanted.has_others && (is_escaped || !text.is_ascii()), found::FOREIGN)
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

    fn is_same(&self, a: &[u8], b: &[u8]) -> bool {
        if self.wanted.any_case { a.eq_ignore_ascii_case(b) } else { a == b }
    }
}

impl<F: Fn(&[u8]) -> bool> Question for Search<'_, F> {
    type Answer = u8;
    const EMPTY: u8 = 0;

    fn of_values(&self, values: &Spans<'_>) -> Answers<u8> {
        let may_be_number = self.wanted.text.iter().all(is_numeric);
        // Most of what is looked for stands in few values, or none.
        if values.is_plain() && !(self.find)(values.bytes()) && !(values.are_numbers() && may_be_number) {
            return Answers::All(0);
        }
        let of_number = |number| {
            let mut buffer: number::Buffer = [0; _];
            let (from, to) = number::spell(number, &mut buffer);
            self.of_text(buffer.get(from..to).unwrap_or_default())
        };
        Answers::Each(values.map(false, |_| 0, |text| self.of_text(text), of_number))
    }

    fn of_literals(&self, template: &PlacedTemplate) -> u8 {
        template.literals().fold(0, |found, literal| found | self.of_text(literal))
    }

    /// Where it may begin in one piece and end in another, texts have to be put together.
    fn of_meeting(&self, hole: &Meeting<'_>) -> Option<Answers<u8>> {
        let are_numbers = hole.values.is_some_and(Spans::are_numbers);
        let may_be = |at: &usize| !are_numbers || self.wanted.text.get(*at).is_some_and(is_numeric);
        let leaving: Vec<usize> = self.leaving(hole.before).filter(may_be).collect();
        let entering = self.entering(hole.after, hole.is_last).filter(|length| may_be(&(length - 1)));
        let entering: Vec<usize> = entering.collect();
        if leaving.is_empty() && entering.is_empty() {
            return None;
        }
        let Some(values) = hole.values else { return Some(Answers::All(found::PERHAPS)) };
        let wanted = self.wanted.text;
        let goes_on = |text: &[u8], from: usize| {
            let rest = &wanted[from..];
            let length = rest.len().min(text.len());
            self.is_same(&text[..length], &rest[..length])
        };
        let begins = |text: &[u8], length: usize| {
            length <= text.len() && self.is_same(&text[text.len() - length..], &wanted[..length])
        };
        let meets = |text: &[u8]| {
            leaving.iter().any(|from| goes_on(text, *from))
                || entering.iter().any(|length| begins(text, *length))
        };
        Some(Answers::Each(hole.map(values, |text| if meets(text) { found::PERHAPS } else { 0 })))
    }

    fn join(&self, a: u8, b: u8) -> u8 {
        a | b
    }
}

impl Plain {
    /// How many characters its text has.
    fn digits(self) -> u32 {
        let digits = self.mantissa.unsigned_abs().checked_ilog10().unwrap_or_default() + 1;
        let scale = u32::from(self.scale).min(18);
        let sign = u32::from(self.mantissa < 0);
        sign + if scale == 0 { digits } else { digits.max(scale + 1) + 1 }
    }
}
