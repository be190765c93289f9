//! What is asked of texts by template is asked of the pieces that they consist of, and joined event by event.

use crate::number;
use crate::pieces::{PlacedColumn, PlacedHole, PlacedTemplate, PlacedTemplates, TextPieces, Way};
use crate::spans::Spans;
use foldhash::fast::RandomState;
use std::collections::HashMap;

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
    pub(crate) fn get(&self, place: usize) -> Option<A> {
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
    /// Other holes, which come to something else in each text, by their columns.
    others: Vec<usize>,
    /// The same of holes that meet literals.
    meetings: Vec<(usize, &'p Spans<'static>, Q::Meeting)>,
}

/// So many other holes of a text are joined at once, and cursors moved on, though most texts have fewer: where a loop ends that goes round once for most of them is foretold.
const TOGETHER: usize = 4;

/// Where the answers for a column begin, and the cursor that serves it.
type Place = (usize, usize);

/// How far a cursor moves on.
type Move = (u32, u32);

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
        let (starts, mut answers) = one_after_another(answers, &self.columns, &is_read, Q::EMPTY);
        let is_open = |column: &usize| told[*column].is_some() && moving.is_read(*column);
        let gone_over: Vec<usize> = (0..told.len()).filter(is_open).collect();
        let open = Open::all(&gone_over, &self.columns, &told, &starts, &moving);
        // The last one has the texts that are asked about; what the others come to is put down for it.
        let Some((texts, others)) = open.split_last() else { return Vec::new() };
        let ways: Vec<AskedWay> = self.ways.iter().map(|way| AskedWay::of(way, others, &moving)).collect();
        let mut asking = Asking::of(question, others, self);
        // The first value that the event has of each column; and such that stay.
        let mut cursors = vec![0; self.columns.len() + TOGETHER];
        let (cursors, answers) = (cursors.as_mut_slice(), answers.as_mut_slice());
        let mut results = Vec::with_capacity(self.codes.len());
        for (event, code) in (1..).zip(&self.codes) {
            let Some(way) = ways.get(usize::from(*code)) else { continue };
            let at = At { event, cursors };
            for (number, count) in &way.asked {
                asking.answer(*number, *count, at, answers);
            }
            results.push(tell(way.text.map(|nth| {
                let text = at.place((nth as usize, texts.cursor));
                asking.of_text(texts, text, at, answers)
            })));
            way.moves.fold((), |(), (cursor, count)| cursors[cursor as usize] += count);
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
    by_template: Vec<OpenTemplate<'p, 't, Q>>,
    /// Where its answers begin, and the cursor that serves it.
    start: usize,
    cursor: usize,
    moving: &'t Moving,
}

/// A template of texts that are gone over.
struct OpenTemplate<'p, 't, Q: Question> {
    all: Q::Answer,
    others: Together<Place>,
    /// What else has a part in its texts, which most have not.
    rest: Option<Rest<'p, 't, Q>>,
}

struct Rest<'p, 't, Q: Question> {
    told: &'t Told<'p, Q>,
    /// Other holes whose columns are gone over themselves: the number among these, and the place.
    open: Vec<(usize, Place)>,
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
                let texts = templates.texts.as_slice();
                let by_template = Vec::with_capacity(told.len());
                let mut open = Open { column, texts, by_template, start, cursor, moving };
                told.iter().for_each(|told| open.add(told, gone_over, starts));
                Some(open)
            }
            // Only texts by template are gone over.
            _ => None,
        };
        gone_over.iter().filter_map(of_column).collect()
    }

    fn add(&mut self, told: &'t Told<'p, Q>, gone_over: &[usize], starts: &[usize]) {
        let place = |column: &usize| (starts[*column], self.moving.with[*column]);
        let (mut plain, mut open) = (Vec::with_capacity(told.others.len()), Vec::new());
        for column in &told.others {
            match gone_over.binary_search(column) {
                Ok(number) => open.push((number, place(column))),
                Err(_) => plain.push(place(column)),
            }
        }
        let has_rest = !open.is_empty() || !told.own.is_empty() || !told.meetings.is_empty();
        let rest = has_rest.then_some(Rest { told, open });
        // A cursor that stays, at the answer behind all, which adds nothing.
        let nothing = (starts.last().copied().unwrap_or_default(), self.moving.with.len());
        let others = Together::of(&plain, |_| nothing);
        self.by_template.push(OpenTemplate { all: told.all, others, rest });
    }
}

/// The first ones, and all others, some at a time, with such behind them that come to nothing. Most have the first ones only.
struct Together<T> {
    first: [T; TOGETHER],
    others: Vec<[T; TOGETHER]>,
}

impl<T: Copy> Together<T> {
    fn of(all: &[T], nothing: impl Fn(usize) -> T) -> Together<T> {
        let some =
            |some: &[T]| std::array::from_fn(|nth| some.get(nth).copied().unwrap_or_else(|| nothing(nth)));
        let (first, others) = all.split_at(all.len().min(TOGETHER));
        Together { first: some(first), others: others.chunks(TOGETHER).map(some).collect() }
    }

    #[inline(always)]
    fn fold<A>(&self, start: A, mut join: impl FnMut(A, T) -> A) -> A {
        let mut all = self.first.iter().fold(start, |all, one| join(all, *one));
        if !self.others.is_empty() {
            all = self.others.as_flattened().iter().fold(all, |all, one| join(all, *one));
        }
        all
    }
}

/// Texts are gone over, event by event.
struct Asking<'a, 'p, 't, Q: Question> {
    question: &'a Q,
    open: &'a [Open<'p, 't, Q>],
    /// Of each column that is gone over in which event its next texts were told last, counted from 1.
    told_in: Vec<usize>,
    /// So many texts may still be told for events that have none of their own. Each is a part of what its event shows, so documents have as many bytes at least.
    left: usize,
}

/// An event, and the first value that it has of each column.
#[derive(Clone, Copy)]
struct At<'c> {
    event: usize,
    cursors: &'c [u32],
}

impl At<'_> {
    /// Where the answer for what the event has stands.
    #[inline(always)]
    fn place(self, (start, cursor): Place) -> usize {
        start + self.cursors[cursor] as usize
    }
}

impl<'a, 'p, 't, Q: Question> Asking<'a, 'p, 't, Q> {
    fn of(question: &'a Q, open: &'a [Open<'p, 't, Q>], pieces: &TextPieces) -> Asking<'a, 'p, 't, Q> {
        Asking { question, open, told_in: vec![0; open.len()], left: pieces.bytes_max }
    }

    /// Tells what the next texts of a column come to. The lists come beside it, so that where they lie is not read again after each answer that is written.
    fn answer(&mut self, number: usize, count: usize, at: At<'_>, answers: &mut [Q::Answer]) {
        let open = &self.open[number];
        let from = at.place((0, open.cursor));
        for text in from..from + count {
            let answer = self.of_text(open, text, at, answers);
            if let Some(own) = answers.get_mut(open.start + text) {
                *own = answer;
            }
        }
        self.told_in[number] = at.event;
    }

    /// What a text comes to, with what the event has in others.
    #[inline(always)]
    fn of_text(
        &mut self,
        open: &Open<'p, 't, Q>,
        text: usize,
        at: At<'_>,
        answers: &mut [Q::Answer],
    ) -> Q::Answer {
        let question = self.question;
        let Some((template, nth)) = open.texts.get(text) else { return Q::EMPTY };
        let Some(template) = open.by_template.get(*template as usize) else { return Q::EMPTY };
        let join = |answer, other| question.join(answer, answers[at.place(other)]);
        let mut answer = template.others.fold(template.all, join);
        if let Some(rest) = &template.rest {
            answer = question.join(answer, self.answer_rest(open, (rest, *nth), at, answers));
        }
        answer
    }

    /// Tells what else there is in a text, of which so many come before among those of its template.
    #[inline(never)]
    fn answer_rest(
        &mut self,
        open: &Open<'p, 't, Q>,
        (rest, nth): (&Rest<'p, 't, Q>, u32),
        at: At<'_>,
        answers: &mut [Q::Answer],
    ) -> Q::Answer {
        let question = self.question;
        let mut answer = rest.told.own_of(question, nth, Q::EMPTY);
        for (number, other) in &rest.open {
            if self.told_in[*number] != at.event {
                self.answer_ahead(*number, at, answers);
            }
            answer = question.join(answer, answers[at.place(*other)]);
        }
        for (other, values, meeting) in &rest.told.meetings {
            let mut buffer: number::Buffer = [0; _];
            let text = values.text(at.place((0, open.moving.with[*other])), &mut buffer);
            answer = question.join(answer, question.of_meeting(meeting, text));
        }
        answer
    }

    /// The event has no text of the column, but shows the next one, with what it has itself in others. Columns refer to those before them, so it comes to an end.
    #[cold]
    fn answer_ahead(&mut self, number: usize, at: At<'_>, answers: &mut [Q::Answer]) {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.answer(number, 1, at, answers);
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
            told.others.iter().for_each(|other| is_part[*other] = true);
            told.meetings.iter().for_each(|(other, ..)| is_part[*other] = true);
        }
    }
    is_part
}

/// What a question needs to know of a way.
struct AskedWay {
    /// Which of the columns that are gone over for others, and how many texts.
    asked: Vec<(usize, usize)>,
    moves: Together<Move>,
    text: Option<u32>,
}

/// Where the answers for each column begin that is read, and those for all of its values. Behind the last of a column stands that of a text without pieces: events after
/// that have none. So it does behind all.
fn one_after_another<A: Copy>(
    answers: Vec<Answers<'_, A>>,
    columns: &[PlacedColumn],
    is_read: &[bool],
    empty: A,
) -> (Vec<usize>, Vec<A>) {
    let read = columns.iter().zip(is_read).filter(|(_, is_read)| **is_read);
    let count: usize = read.map(|(of, _)| of.len() + 1).sum();
    // In one piece from the start: a list that grows is copied into new memory, which the system clears first.
    let (mut starts, mut all) = (Vec::with_capacity(columns.len() + 1), Vec::with_capacity(count + 1));
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
    starts.push(all.len());
    all.push(empty);
    (starts, all)
}

impl AskedWay {
    fn of<Q: Question>(way: &Way, open: &[Open<'_, '_, Q>], moving: &Moving) -> AskedWay {
        let place = |column: u32| open.binary_search_by_key(&(column as usize), |open| open.column).ok();
        let asked = way.moves.iter().filter_map(|(column, count)| Some((place(*column)?, *count as usize)));
        let is_first = |(column, _): &&Move| moving.with.get(*column as usize) == Some(&(*column as usize));
        let moves: Vec<Move> = way.moves.iter().filter(is_first).copied().collect();
        // Each cursor that stays is read and written but once.
        let moves = Together::of(&moves, |nth| ((moving.with.len() + nth) as u32, 0));
        AskedWay { asked: asked.collect(), moves, text: way.text }
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
            told.get(*template as usize).map_or(Q::EMPTY, |told| told.own_of(question, *nth, told.all))
        };
        match told {
            [told] if told.own.is_empty() => Answers::All(told.all),
            _ => Answers::Each(self.texts.iter().map(of_text).collect()),
        }
    }
}

impl<Q: Question> Told<'_, Q> {
    /// What a text comes to by the holes of its own, of which so many come before, and by what is known of it.
    #[inline(always)]
    fn own_of(&self, question: &Q, nth: u32, known: Q::Answer) -> Q::Answer {
        let of_hole = |answer, own: &Answers<'_, Q::Answer>| {
            question.join(answer, own.get(nth as usize).unwrap_or(Q::EMPTY))
        };
        self.own.iter().fold(known, of_hole)
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
