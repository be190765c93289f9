//! What is asked of texts by template is asked of the pieces that they consist of, and joined event by event.

use crate::number;
use crate::pieces::{PlacedColumn, PlacedHole, PlacedTemplate, PlacedTemplates, TextPieces, Way};
use crate::spans::Spans;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;

/// What is asked of texts: what it comes to for pieces, and for the text that they make.
pub(crate) trait Question {
    type Answer: Copy;
    /// What has to be looked at in each text where a hole meets literals.
    type Meeting;
    /// What a text without pieces comes to.
    const EMPTY: Self::Answer;

    fn of_values<'v>(&self, values: &'v Spans<'_>) -> Answers<'v, Self::Answer>;
    fn of_literals(&self, template: &PlacedTemplate) -> Self::Answer;

    /// What all texts of a template come to, where that is told by the literals at their start and end. It is asked of whole texts alone, as is the next.
    fn of_outside(&self, _: &PlacedTemplate) -> Option<Self::Answer> {
        None
    }

    /// The same as of values, of such that are whole texts.
    fn of_texts<'v>(&self, texts: &'v Spans<'_>) -> Answers<'v, Self::Answer> {
        self.of_values(texts)
    }

    /// What comes of a hole beside what fills it, as it stands between literals.
    fn of_hole(&self, hole: &Hole<'_>) -> Meets<Self>;
    /// The same of a text that fills the hole.
    fn of_meeting(&self, meeting: &Self::Meeting, text: &[u8]) -> Self::Answer;
    fn join(&self, a: Self::Answer, b: Self::Answer) -> Self::Answer;
}

/// A hole between literals.
pub(crate) struct Hole<'p> {
    pub(crate) before: &'p [u8],
    pub(crate) after: &'p [u8],
    /// Whether no hole comes behind.
    pub(crate) is_last: bool,
    /// What fills it; none where that consists of pieces too.
    pub(crate) values: Option<&'p Spans<'static>>,
}

/// What comes of a hole between literals.
pub(crate) enum Meets<Q: Question + ?Sized> {
    Nothing,
    /// The same in all texts.
    All(Q::Answer),
    /// What each text is to be looked at for.
    Each(Q::Meeting),
}

/// What some texts come to.
pub(crate) enum Answers<'p, A> {
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
    /// Other holes, which come to something else in each text.
    others: Vec<Other>,
    /// The same of holes that meet literals.
    meetings: Vec<(usize, &'p Spans<'static>, Q::Meeting)>,
}

/// A hole that a value of another column fills.
struct Other {
    column: usize,
    /// Where the answers of that column begin, and the cursor that serves it, once these are known.
    start: usize,
    cursor: usize,
    /// Its number among the columns that are gone over, if it is one.
    open: Option<usize>,
}

impl TextPieces {
    /// What is asked of the text of each row: none where it has none.
    pub(crate) fn ask<Q: Question, T>(&self, question: &Q, tell: impl Fn(Option<Q::Answer>) -> T) -> Vec<T> {
        let mut answers: Vec<Answers<'_, Q::Answer>> = Vec::with_capacity(self.columns.len());
        // The columns whose texts are gone over, event by event, since values of others fill their holes.
        let mut told: Vec<Option<Vec<Told<'_, Q>>>> = Vec::with_capacity(self.columns.len());
        let root = self.columns.len().saturating_sub(1);
        for (number, column) in self.columns.iter().enumerate() {
            let (known, open) = match column {
                PlacedColumn::Values(values) => (question.of_values(values), None),
                PlacedColumn::Templates(templates) => {
                    let told: Vec<Told<'_, Q>> = templates
                        .templates
                        .iter()
                        .map(|template| template.told(question, &self.columns, &answers, number == root))
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
        if told.last().is_none_or(Option::is_none) {
            return answers.last().map_or_else(Vec::new, |answers| self.tell(answers, tell));
        }
        let is_read = parts_of(root, &told);
        let moving = Moving::of(&self.ways, &is_read);
        let (starts, answers) = one_after_another(answers, &self.columns, &is_read, Q::EMPTY);
        let is_open = |column: &usize| told[*column].is_some() && moving.is_read(*column);
        let gone_over: Vec<usize> = (0..told.len()).filter(is_open).collect();
        for other in told.iter_mut().flatten().flatten().flat_map(|told| &mut told.others) {
            (other.start, other.cursor) = (starts[other.column], moving.with[other.column]);
            other.open = gone_over.binary_search(&other.column).ok();
        }
        let open = Open::all(&gone_over, &self.columns, &told, &starts, &moving);
        let ways = AskedWays::of(&self.ways, &open, &moving);
        let mut asking = Asking::of(question, &open, answers, self);
        let mut results = Vec::with_capacity(self.codes.len());
        let (first, cursor) = (starts[root], moving.with[root]);
        for code in &self.codes {
            let Some(way) = ways.by_code.get(usize::from(*code)) else { continue };
            let steps = ways.steps.get(way.steps.clone()).unwrap_or_default();
            let (asked, moves) = steps.split_at(way.asked.min(steps.len()));
            asking.event += 1;
            for (open_column, count) in asked {
                asking.answer(*open_column, *count);
            }
            let first = first + asking.cursors[cursor];
            let answer = |nth: u32| asking.answers.get(first + nth as usize).copied();
            results.push(tell(way.text.and_then(answer)));
            for (column, count) in moves {
                asking.cursors[*column] += count;
            }
        }
        results
    }
}

impl TextPieces {
    /// What is asked of the text of each row, where that is known of each text.
    fn tell<A: Copy, T>(&self, answers: &Answers<'_, A>, tell: impl Fn(Option<A>) -> T) -> Vec<T> {
        let root = self.columns.len().saturating_sub(1) as u32;
        let of_way = |way: &Way| {
            let moves = way.moves.iter().filter(|(column, _)| *column == root);
            (moves.map(|(_, count)| *count as usize).sum(), way.text)
        };
        let ways: Vec<(usize, Option<u32>)> = self.ways.iter().map(of_way).collect();
        let mut first = 0;
        let of_code = |code: &u16| {
            let (count, text) = ways.get(usize::from(*code)).copied().unwrap_or_default();
            let place = first;
            first += count;
            tell(text.and_then(|nth| answers.get(place + nth as usize)))
        };
        self.codes.iter().map(of_code).collect()
    }
}

/// A column whose texts are gone over.
struct Open<'p, 't, Q: Question> {
    column: usize,
    /// For each text its template, and how many texts before it have the same.
    texts: &'p [(u32, u32)],
    told: &'t [Told<'p, Q>],
    /// Where its answers begin, and the cursor that serves it.
    start: usize,
    cursor: usize,
    moving: &'t Moving,
}

impl<'p, 't, Q: Question> Open<'p, 't, Q> {
    /// Those that are read, in their order: columns refer to those before them.
    fn all(
        gone_over: &[usize],
        columns: &'p [PlacedColumn],
        told: &'t [Option<Vec<Told<'p, Q>>>],
        starts: &[usize],
        moving: &'t Moving,
    ) -> Vec<Open<'p, 't, Q>> {
        let of_column = |column: &usize| match (&columns[*column], &told[*column]) {
            (PlacedColumn::Templates(templates), Some(told)) => {
                let (column, start, cursor) = (*column, starts[*column], moving.with[*column]);
                Some(Open { column, texts: &templates.texts, told, start, cursor, moving })
            }
            // Only texts by template are gone over.
            _ => None,
        };
        gone_over.iter().filter_map(of_column).collect()
    }
}

/// Texts are gone over, event by event.
struct Asking<'a, 'p, 't, Q: Question> {
    question: &'a Q,
    open: &'a [Open<'p, 't, Q>],
    /// Which is the first value that the event has of each column.
    cursors: Vec<usize>,
    answers: Vec<Q::Answer>,
    /// Which event it is, counted from 1, and of each column that is gone over in which one its next texts were told last.
    event: usize,
    told_in: Vec<usize>,
    /// So many texts may still be told for events that have none of their own. Each is a part of what its event shows, so documents have as many bytes at least.
    left: usize,
}

impl<'a, 'p, 't, Q: Question> Asking<'a, 'p, 't, Q> {
    fn of(
        question: &'a Q,
        open: &'a [Open<'p, 't, Q>],
        answers: Vec<Q::Answer>,
        pieces: &TextPieces,
    ) -> Asking<'a, 'p, 't, Q> {
        let (cursors, told_in) = (vec![0; pieces.columns.len()], vec![0; open.len()]);
        Asking { question, open, cursors, answers, event: 0, told_in, left: pieces.bytes_max }
    }

    /// Tells what the next texts of a column come to, with what the event has in others.
    #[inline(always)]
    fn answer(&mut self, place: usize, count: usize) {
        let (question, open) = (self.question, &self.open[place]);
        let from = self.cursors[open.cursor];
        let texts = open.texts.get(from..from + count).unwrap_or_default();
        for (at, (template, nth)) in (open.start + from..).zip(texts) {
            let Some(told) = open.told.get(*template as usize) else { continue };
            let mut answer = told.with_own(question, *nth);
            for other in &told.others {
                if let Some(place) = other.open
                    && self.told_in[place] != self.event
                {
                    self.answer_ahead(place);
                }
                answer = question.join(answer, self.answers[other.start + self.cursors[other.cursor]]);
            }
            for (other, values, meeting) in &told.meetings {
                let mut buffer: number::Buffer = [0; _];
                let text = values.text(self.cursors[open.moving.with[*other]], &mut buffer);
                answer = question.join(answer, question.of_meeting(meeting, text));
            }
            self.answers[at] = answer;
        }
        self.told_in[place] = self.event;
    }

    /// The event has no text of the column, but shows the next one, with what it has itself in others. Columns refer to those before them, so it comes to an end.
    #[cold]
    fn answer_ahead(&mut self, place: usize) {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.answer(place, 1);
        }
    }
}

/// Which columns have a part in the texts of the last one, or in what has one. Columns refer to those before them.
fn parts_of<Q: Question>(last: usize, told: &[Option<Vec<Told<'_, Q>>>]) -> Vec<bool> {
    let mut is_part = vec![false; told.len()];
    for (column, told) in told.iter().enumerate().rev() {
        if column == last {
            is_part[column] = true;
        }
        if !is_part[column] {
            continue;
        }
        for told in told.iter().flatten() {
            told.others.iter().for_each(|other| is_part[other.column] = true);
            told.meetings.iter().for_each(|(other, ..)| is_part[*other] = true);
        }
    }
    is_part
}

/// What a question needs to know of ways.
struct AskedWays {
    by_code: Vec<AskedWay>,
    /// Of all of them, one after another: which of the columns that are gone over, and how many texts; then how far to move on in which column.
    steps: Vec<(usize, usize)>,
}

struct AskedWay {
    steps: Range<usize>,
    /// So many of them ask, the others move on.
    asked: usize,
    text: Option<u32>,
}

/// The answers for all values of the columns that are read, where those of each begin. Behind the last of a column stands that of a text without pieces: events after
/// that have none.
fn one_after_another<A: Copy>(
    answers: Vec<Answers<'_, A>>,
    columns: &[PlacedColumn],
    is_read: &[bool],
    empty: A,
) -> (Vec<usize>, Vec<A>) {
    let (mut starts, mut all) = (Vec::with_capacity(columns.len()), Vec::new());
    for (column, (answers, of)) in answers.into_iter().zip(columns).enumerate() {
        starts.push(all.len());
        if !is_read[column] {
            continue;
        }
        match answers {
            Answers::All(_) => {}
            Answers::Each(answers) => all.extend_from_slice(&answers),
            Answers::Coded(entries, codes) => {
                all.extend(codes.iter().map(|code| entries.get(*code as usize).copied().unwrap_or(empty)));
            }
        }
        all.resize(starts.last().map_or(0, |start| start + of.len() + 1), empty);
    }
    (starts, all)
}

impl AskedWays {
    fn of<Q: Question>(ways: &[Way], open: &[Open<'_, '_, Q>], moving: &Moving) -> AskedWays {
        let (mut by_code, mut steps) = (Vec::with_capacity(ways.len()), Vec::new());
        for way in ways {
            let moves = || way.moves.iter().map(|(column, count)| (*column as usize, *count as usize));
            let from = steps.len();
            let place = |column: usize| open.binary_search_by_key(&column, |open| open.column).ok();
            steps.extend(moves().filter_map(|(column, count)| Some((place(column)?, count))));
            let asked = steps.len() - from;
            steps.extend(moves().filter(|(column, _)| moving.with.get(*column) == Some(column)));
            by_code.push(AskedWay { steps: from..steps.len(), asked, text: way.text });
        }
        AskedWays { by_code, steps }
    }
}

/// Which columns events move on in alike: one cursor serves them all.
struct Moving {
    /// For each column the first one like it; of those that are not read none.
    with: Vec<usize>,
}

impl Moving {
    fn of(ways: &[Way], is_read: &[bool]) -> Moving {
        // How far events of each shape move on, by column.
        let mut moves: Vec<Vec<(u32, u32)>> = vec![Vec::new(); is_read.len()];
        for (code, way) in (0u32..).zip(ways) {
            for (column, count) in way.moves.iter().filter(|(column, _)| is_read[*column as usize]) {
                moves[*column as usize].push((code, *count));
            }
        }
        let mut first: HashMap<&[(u32, u32)], usize, RandomState> = HashMap::default();
        let with = moves.iter().enumerate().map(|(column, moves)| match is_read[column] {
            true => *first.entry(moves).or_insert(column),
            false => usize::MAX,
        });
        Moving { with: with.collect() }
    }

    fn is_read(&self, column: usize) -> bool {
        self.with.get(column).is_some_and(|first| *first != usize::MAX)
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
    /// What is told of its texts before these are gone over; `are_whole` where they are no pieces of others.
    fn told<'p, Q: Question>(
        &'p self,
        question: &Q,
        columns: &'p [PlacedColumn],
        known: &[Answers<'p, Q::Answer>],
        are_whole: bool,
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
        if let (true, Some(answer)) = (are_whole, question.of_outside(self)) {
            return Told { all: answer, ..told };
        }
        let is_bare = are_whole && self.end == 0 && self.pieces.len() == 1;
        let literals: Vec<&[u8]> = self.literals().collect();
        for (nth, (_, hole)) in self.pieces.iter().enumerate() {
            let values = match hole {
                PlacedHole::Own(values) => {
                    let answers =
                        if is_bare { question.of_texts(values) } else { question.of_values(values) };
                    match answers {
                        Answers::All(answer) => told.all = question.join(told.all, answer),
                        answers => told.own.push(answers),
                    }
                    Some(values)
                }
                PlacedHole::Other(column) => {
                    match known.get(*column) {
                        Some(Answers::All(answer)) => told.all = question.join(told.all, *answer),
                        Some(_) => {
                            told.others.push(Other { column: *column, start: 0, cursor: 0, open: None })
                        }
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
