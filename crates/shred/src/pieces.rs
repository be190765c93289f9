//! Texts by template, taken apart: the literals, and the values between them. How long texts are and whether something stands in them is asked of
//! the pieces, so that few texts are put together or none.

use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::number::{self, Plain};
use crate::output::{Output, Sink};
use crate::spans::{Mapped, Spans};
use std::convert::Infallible;

/// The texts at a path, by template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPieces {
    /// For each row the code of its shape.
    pub(crate) codes: Vec<u16>,
    /// By the codes of shapes.
    pub(crate) ways: Vec<Way>,
    /// The column of the texts comes last; templates refer to those before their own.
    pub(crate) columns: Vec<PlacedColumn>,
    /// The most bytes that all texts may have.
    pub(crate) bytes_max: usize,
}

/// What events of a shape have of the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// How far they move on in each.
    pub(crate) moves: Vec<(u32, u32)>,
    /// Which of the texts that they have is that at the path.
    pub(crate) text: Option<u32>,
}

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
}

/// What fills a hole of a template in each of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacedHole {
    Own(Spans<'static>),
    /// The first value that the event has of the other column of this number.
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
}

/// What is asked of texts: what it comes to for pieces, and for the text that they make.
trait Question {
    type Answer: Copy;
    /// What has to be looked at in each text where a hole meets literals.
    type Meeting;
    /// What a text without pieces comes to.
    const EMPTY: Self::Answer;

    fn of_values<'v>(&self, values: &'v Spans<'_>) -> Answers<'v, Self::Answer>;
    fn of_literals(&self, template: &PlacedTemplate) -> Self::Answer;
    /// What comes of a hole beside what fills it, as it stands between literals.
    fn of_hole(&self, hole: &Hole<'_>) -> Meets<Self>;
    /// The same of a text that fills the hole.
    fn of_meeting(&self, meeting: &Self::Meeting, text: &[u8]) -> Self::Answer;
    fn join(&self, a: Self::Answer, b: Self::Answer) -> Self::Answer;
}

/// A hole between literals.
struct Hole<'p> {
    before: &'p [u8],
    after: &'p [u8],
    /// Whether no hole comes behind.
    is_last: bool,
    /// What fills it; none where that consists of pieces too.
    values: Option<&'p Spans<'static>>,
}

/// What comes of a hole between literals.
enum Meets<Q: Question + ?Sized> {
    Nothing,
    /// The same in all texts.
    All(Q::Answer),
    /// What each text is to be looked at for.
    Each(Q::Meeting),
}

/// What some texts come to.
enum Answers<'p, A> {
    /// All the same.
    All(A),
    Each(Vec<A>),
    /// Of texts by dictionary what each entry comes to, and for each text its entry.
    Coded(Vec<A>, &'p [u32]),
}

impl<A: Copy> Answers<'_, A> {
    #[inline(always)]
    fn get(&self, place: usize) -> Option<A> {
        match self {
            Answers::All(answer) => Some(*answer),
            Answers::Each(answers) => answers.get(place).copied(),
            Answers::Coded(entries, codes) => entries.get(*codes.get(place)? as usize).copied(),
        }
    }
}

/// What is told of the texts of a template before these are gone over.
struct Told<'p, Q: Question> {
    /// What all of them come to by what they have in common.
    all: Q::Answer,
    /// What holes of their own come to, each in the order of the texts.
    own: Vec<Answers<'p, Q::Answer>>,
    /// The columns of other holes, which come to something else in each text.
    others: Vec<usize>,
    /// The same of holes that meet literals.
    meetings: Vec<(usize, &'p Spans<'static>, Q::Meeting)>,
}

impl TextPieces {
    /// How many rows there are, those without a text included.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Whether a row has a text.
    pub fn has(&self, row: usize) -> bool {
        let way = self.codes.get(row).and_then(|code| self.ways.get(usize::from(*code)));
        way.is_some_and(|way| way.text.is_some())
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
                    let pieces = size_of::<(usize, PlacedHole)>() * template.pieces.capacity();
                    let itself = size_of::<PlacedTemplate>() + template.literals.capacity();
                    itself + pieces + own.sum::<usize>()
                };
                size_of::<(u32, u32)>() * texts.capacity() + templates.iter().map(of_template).sum::<usize>()
            }
        };
        let of_way = |way: &Way| size_of::<Way>() + size_of::<(u32, u32)>() * way.moves.capacity();
        size_of::<u16>() * self.codes.capacity()
            + self.ways.iter().map(of_way).sum::<usize>()
            + self.columns.iter().map(of_column).sum::<usize>()
    }

    /// What is asked of the text of each row: none where it has none.
    fn ask<Q: Question, T>(&self, question: &Q, tell: impl Fn(Option<Q::Answer>) -> T) -> Vec<T> {
        let mut answers: Vec<Answers<'_, Q::Answer>> = Vec::with_capacity(self.columns.len());
        // The columns whose texts are gone over, event by event, since values of others fill their holes.
        let mut told: Vec<Option<Vec<Told<'_, Q>>>> = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let (known, open) = match column {
                PlacedColumn::Values(values) => (question.of_values(values), None),
                PlacedColumn::Templates(templates) => {
                    let told: Vec<Told<'_, Q>> = templates
                        .templates
                        .iter()
                        .map(|template| template.told(question, &self.columns, &answers))
                        .collect();
                    if told.iter().all(|told| told.others.is_empty() && told.meetings.is_empty()) {
                        (templates.by_template(question, &told), None)
                    } else {
                        (Answers::Each(Vec::new()), Some(told))
                    }
                }
            };
            answers.push(known);
            told.push(open);
        }
        let root = self.columns.len().saturating_sub(1);
        let mut is_read = vec![false; self.columns.len()];
        for told in told.iter().flatten().flatten() {
            let of_meetings = told.meetings.iter().map(|(column, ..)| column);
            of_meetings.chain(&told.others).for_each(|column| is_read[*column] = true);
        }
        let of_all = match answers.last() {
            Some(Answers::All(answer)) => Some(*answer),
            _ => None,
        };
        let ways: Vec<AskedWay> =
            self.ways.iter().map(|way| AskedWay::of(way, &told, &is_read, root)).collect();
        let is_read = |column: usize| is_read[column] || column == root || told[column].is_some();
        let (starts, mut answers) = one_after_another(answers, &self.columns, is_read, Q::EMPTY);
        // Where the answers stand for the first value that an event has of each column.
        let mut cursors = starts.clone();
        let mut results = Vec::with_capacity(self.codes.len());
        for code in &self.codes {
            let Some(way) = ways.get(usize::from(*code)) else { continue };
            for (column, count) in &way.open {
                let (Some(PlacedColumn::Templates(templates)), Some(Some(told))) =
                    (self.columns.get(*column), told.get(*column))
                else {
                    continue;
                };
                let (from, to) = (cursors[*column], cursors[*column] + count);
                let texts = templates.texts.get(from - starts[*column]..to - starts[*column]);
                for (place, (template, nth)) in (from..to).zip(texts.unwrap_or_default()) {
                    let Some(told) = told.get(*template as usize) else { continue };
                    let mut answer = told.with_own(question, *nth);
                    for other in &told.others {
                        answer = question.join(answer, answers[cursors[*other]]);
                    }
                    for (other, values, meeting) in &told.meetings {
                        let mut buffer: number::Buffer = [0; _];
                        let text = values.text(cursors[*other] - starts[*other], &mut buffer);
                        answer = question.join(answer, question.of_meeting(meeting, text));
                    }
                    answers[place] = answer;
                }
            }
            let answer = |nth: u32| of_all.or_else(|| answers.get(cursors[root] + nth as usize).copied());
            results.push(tell(way.text.and_then(answer)));
            for (column, count) in &way.moves {
                cursors[*column] += count;
            }
        }
        results
    }

    /// The text of each row, or of some in any order, as JSON; empty where there is none. Takes time linear in the rows, and in the texts that are made,
    /// and memory linear in these.
    ///
    /// # Errors
    /// If they are longer than the documents.
    pub fn texts(&self, rows: Option<&[u32]>) -> Result<Texts<'static>, DecodeError> {
        if let Some(rows) = rows
            && !rows.is_sorted()
        {
            return self.texts_in_order_of(rows);
        }
        let count = rows.map_or(self.len(), <[u32]>::len);
        let mut ends = Vec::with_capacity(count);
        let mut writer =
            Writer { columns: &self.columns, cursors: vec![0; self.columns.len()], steps: self.bytes_max };
        let mut out = Output::new(self.bytes_max);
        let root = self.columns.len().saturating_sub(1);
        let mut wanted = rows.map(|rows| rows.iter().copied().peekable());
        for (row, code) in (0u32..).zip(&self.codes) {
            if ends.len() == count {
                break;
            }
            let way = self.ways.get(usize::from(*code)).ok_or(MISSING_VALUE)?;
            let times = match &mut wanted {
                None => 1,
                Some(wanted) => std::iter::from_fn(|| wanted.next_if_eq(&row)).count(),
            };
            for _ in 0..times {
                if let Some(nth) = way.text {
                    let place = writer.cursors[root].saturating_add(nth);
                    out.push(b"\"")?;
                    writer.write(root, place as usize, &mut out)?;
                    out.push(b"\"")?;
                }
                ends.push(out.len() as u32);
                if ends.len() == SAMPLE {
                    out.make_room(out.len() / SAMPLE * count / 8 * 9);
                }
            }
            for (column, count) in &way.moves {
                let cursor = writer.cursors.get_mut(*column as usize).ok_or(MISSING_VALUE)?;
                *cursor = cursor.saturating_add(*count);
            }
        }
        // Rows that there are not have none.
        ends.resize(count, out.len() as u32);
        let mut bytes = out.into_bytes();
        bytes.shrink_to_fit();
        Ok(Texts::of_parts(ends, bytes))
    }

    /// The texts of rows that are not in ascending order.
    fn texts_in_order_of(&self, rows: &[u32]) -> Result<Texts<'static>, DecodeError> {
        let mut ascending = rows.to_vec();
        ascending.sort_unstable();
        ascending.dedup();
        let texts = self.texts(Some(&ascending))?;
        let text = |row: &u32| texts.get(ascending.partition_point(|other| other < row)).unwrap_or_default();
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            bytes.extend_from_slice(text(row));
            ends.push(u32::try_from(bytes.len()).map_err(|_| TOO_LONG)?);
        }
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

const TOO_LONG: DecodeError = malformed("its documents are longer than it says");

/// What a question needs to know of a way.
struct AskedWay {
    /// The columns whose texts are gone over, and how many of them.
    open: Vec<(usize, usize)>,
    moves: Vec<(usize, usize)>,
    text: Option<u32>,
}

/// The answers for all values of the columns that are read, where those of each begin. Behind the last of a column stands that of a text without pieces: events after
/// that have none.
fn one_after_another<A: Copy>(
    answers: Vec<Answers<'_, A>>,
    columns: &[PlacedColumn],
    is_read: impl Fn(usize) -> bool,
    empty: A,
) -> (Vec<usize>, Vec<A>) {
    let (mut starts, mut all) = (Vec::with_capacity(columns.len()), Vec::new());
    for (column, (answers, of)) in answers.into_iter().zip(columns).enumerate() {
        starts.push(all.len());
        if !is_read(column) {
            continue;
        }
        match answers {
            Answers::All(_) => {}
            Answers::Each(answers) => all.extend_from_slice(&answers),
            Answers::Coded(entries, codes) => {
                all.extend(codes.iter().map(|code| entries.get(*code as usize).copied().unwrap_or(empty)));
            }
        }
        let count = match of {
            PlacedColumn::Values(values) => values.len(),
            PlacedColumn::Templates(templates) => templates.texts.len(),
        };
        all.resize(starts.last().map_or(0, |start| start + count + 1), empty);
    }
    (starts, all)
}

impl AskedWay {
    fn of<T>(way: &Way, open: &[Option<T>], is_read: &[bool], root: usize) -> AskedWay {
        let moves = || way.moves.iter().map(|(column, count)| (*column as usize, *count as usize));
        let is_open = |column: usize| open.get(column).is_some_and(Option::is_some);
        AskedWay {
            open: moves().filter(|(column, _)| is_open(*column)).collect(),
            moves: moves()
                .filter(|(column, _)| {
                    is_open(*column) || is_read.get(*column) == Some(&true) || *column == root
                })
                .collect(),
            text: way.text,
        }
    }
}

impl PlacedTemplates {
    /// What is asked of each text, where no other column has a part in it.
    fn by_template<'p, Q: Question>(&'p self, question: &Q, told: &[Told<'p, Q>]) -> Answers<'p, Q::Answer> {
        let of_text = |(template, nth): &(u32, u32)| {
            told.get(*template as usize).map_or(Q::EMPTY, |told| told.with_own(question, *nth))
        };
        match told {
            [told] if told.own.is_empty() => Answers::All(told.all),
            _ => Answers::Each(self.texts.iter().map(of_text).collect()),
        }
    }
}

impl<Q: Question> Told<'_, Q> {
    /// What a text comes to by its template and the holes of its own, of which so many come before.
    #[inline(always)]
    fn with_own(&self, question: &Q, nth: u32) -> Q::Answer {
        let of_hole = |answer, own: &Answers<'_, Q::Answer>| {
            question.join(answer, own.get(nth as usize).unwrap_or(Q::EMPTY))
        };
        self.own.iter().fold(self.all, of_hole)
    }
}

impl PlacedTemplate {
    /// What is told of its texts before these are gone over.
    fn told<'p, Q: Question>(
        &'p self,
        question: &Q,
        columns: &'p [PlacedColumn],
        known: &[Answers<'p, Q::Answer>],
    ) -> Told<'p, Q> {
        let mut told = Told {
            all: question.of_literals(self),
            own: Vec::new(),
            others: Vec::new(),
            meetings: Vec::new(),
        };
        if self.uses == 0 {
            return told;
        }
        let literals: Vec<&[u8]> = self.literals().collect();
        for (nth, (_, hole)) in self.pieces.iter().enumerate() {
            let values = match hole {
                PlacedHole::Own(values) => {
                    match question.of_values(values) {
                        Answers::All(answer) => told.all = question.join(told.all, answer),
                        answers => told.own.push(answers),
                    }
                    Some(values)
                }
                PlacedHole::Other(column) => {
                    match known.get(*column) {
                        Some(Answers::All(answer)) => told.all = question.join(told.all, *answer),
                        Some(_) => told.others.push(*column),
                        None => {}
                    }
                    match columns.get(*column) {
                        Some(PlacedColumn::Values(values)) => Some(values),
                        Some(PlacedColumn::Templates(_)) | None => None,
                    }
                }
            };
            let literal = |nth: usize| literals.get(nth).copied().unwrap_or_default();
            let is_last = nth + 1 == self.pieces.len();
            let between = Hole { before: literal(nth), after: literal(nth + 1), is_last, values };
            match (question.of_hole(&between), hole, values) {
                (Meets::All(answer), ..) => told.all = question.join(told.all, answer),
                (Meets::Each(meeting), PlacedHole::Own(_), Some(values)) => {
                    let mut buffer: number::Buffer = [0; _];
                    let mut tell =
                        |place: usize| question.of_meeting(&meeting, values.text(place, &mut buffer));
                    told.own.push(Answers::Each((0..self.uses).map(&mut tell).collect()));
                }
                (Meets::Each(meeting), PlacedHole::Other(column), Some(values)) => {
                    told.meetings.push((*column, values, meeting));
                }
                (Meets::Each(_), _, None) | (Meets::Nothing, ..) => {}
            }
        }
        told
    }
}

/// Puts texts together.
struct Writer<'p> {
    columns: &'p [PlacedColumn],
    /// The first value that the event has of each column.
    cursors: Vec<u32>,
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
                    let place = *self.cursors.get(*other).ok_or(MISSING_VALUE)?;
                    self.write(*other, place as usize, out)?;
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
    type Meeting = Infallible;
    const EMPTY: u32 = 0;

    fn of_values<'v>(&self, values: &'v Spans<'_>) -> Answers<'v, u32> {
        let is_plain = values.is_plain();
        if let Some(length) = values.one_length().filter(|_| is_plain) {
            return Answers::All(length as u32);
        }
        values.map(is_plain, |length| length as u32, characters, Plain::digits).into()
    }

    fn of_hole(&self, _: &Hole<'_>) -> Meets<Self> {
        Meets::Nothing
    }

    fn of_meeting(&self, meeting: &Infallible, _: &[u8]) -> u32 {
        match *meeting {}
    }

    fn of_literals(&self, template: &PlacedTemplate) -> u32 {
        template.literals().fold(0, |sum, literal| self.join(sum, characters(literal)))
    }

    #[inline(always)]
    fn join(&self, a: u32, b: u32) -> u32 {
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

    /// Whether it may begin in a literal and end behind it, in a hole, or the other way round.
    pub(crate) fn may_straddle(&self, before: &[u8], after: &[u8], is_last: bool) -> bool {
        self.leaving(before).next().is_some() || self.entering(after, is_last).next().is_some()
    }

    fn is_same(&self, a: &[u8], b: &[u8]) -> bool {
        if self.wanted.any_case { a.eq_ignore_ascii_case(b) } else { a == b }
    }
}

/// Where what is wanted may begin in a hole, or go on in it.
struct Straddling {
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
        values.map(false, |_| 0, |text| self.of_text(text), of_number).into()
    }

    fn of_literals(&self, template: &PlacedTemplate) -> u8 {
        template.literals().fold(0, |found, literal| found | self.of_text(literal))
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
    fn digits(self) -> u32 {
        let digits = decimal_digits(self.mantissa.unsigned_abs());
        let scale = u32::from(self.scale).min(18);
        let sign = u32::from(self.mantissa < 0);
        sign + if scale == 0 { digits } else { digits.max(scale + 1) + 1 }
    }
}

/// How many decimal digits a number has.
fn decimal_digits(number: u64) -> u32 {
    const POWERS: [u64; 20] = {
        let mut powers = [1; 20];
        let mut n = 1;
        while n < 20 {
            powers[n] = powers[n - 1] * 10;
            n += 1;
        }
        powers
    };
    // 1233 / 4096 is the logarithm of 2, near enough for 64 bits: the digits are so many, or one more.
    let least = ((u64::BITS - (number | 1).leading_zeros()) * 1233) >> 12;
    least + u32::from(POWERS.get(least as usize).is_none_or(|power| (number | 1) >= *power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_as_numbers_are_spelled() {
        let powers = (0..20).map(|n| 10u64.pow(n));
        let edges = (0..64).map(|n| 1u64 << n).chain(powers).chain([0, u64::MAX]);
        for number in edges.flat_map(|edge| [edge.saturating_sub(1), edge, edge.saturating_add(1)]) {
            assert_eq!(decimal_digits(number) as usize, number.to_string().len(), "{number}");
        }
    }

    /// `texts` is asked about rows that are sorted by something else, too.
    #[test]
    fn texts_come_in_the_order_of_the_rows_that_are_asked_about() {
        let documents: Vec<String> = (0..500)
            .map(|n| match n % 7 {
                0 => format!(r#"{{"n":{n}}}"#),
                _ => format!(r#"{{"n":{n},"m":"order {n} of customer {} was paid and sent"}}"#, n % 13),
            })
            .collect();
        let events: Vec<crate::Event<'_>> = documents
            .iter()
            .map(|text| crate::Event { instant: 0, arrival: 0, document: text.as_bytes() })
            .collect();
        let encoded = crate::encode(&events).unwrap();
        let group = crate::Group::open(&encoded.directory).unwrap();
        let crate::AtPath::Pieces(pieces) = group.read(&encoded.frames).at(&["m"]).unwrap() else {
            panic!("texts by template");
        };
        let all = pieces.texts(None).unwrap();
        for rows in [vec![], vec![0], vec![3, 9, 9, 14], vec![499, 0, 7, 3, 3, 250], vec![5, 4, 1_000]] {
            let texts = pieces.texts(Some(&rows)).unwrap();
            let expected: Vec<&[u8]> =
                rows.iter().map(|row| all.get(*row as usize).unwrap_or_default()).collect();
            assert_eq!(texts.iter().collect::<Vec<_>>(), expected, "{rows:?}");
        }
    }
}
