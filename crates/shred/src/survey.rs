//! What the documents of a group have at each path, while they stand in columns that are not encoded yet: for statistics.

use std::ops::Range;

use crate::collected::Collected;
use crate::dissect::{Dissection, RawColumn};
use crate::path::{ROOT, Step};
use crate::shape::{Leaf, Token};

/// The values of a group by path, as the encoder took the documents apart: what statistics are made from. Paths into arrays are not part of it.
///
/// Given to the function that is passed to [`Encoder::encode_surveyed`](crate::Encoder::encode_surveyed).
pub struct Survey<'d> {
    dissection: &'d Dissection<'d>,
    /// The events of each shape, one shape after the other.
    events: Vec<u32>,
    /// For each shape where its events begin, and where the last one's end.
    starts: Vec<u32>,
    /// What the shapes have at each path, one path after the other: the shape, and the token.
    places: Vec<(u32, Token)>,
    /// For each path where its places begin, and where the last one's end.
    bounds: Vec<u32>,
    /// The columns of each path, one path after the other, and where those of each begin.
    columns: (Vec<u32>, Vec<u32>),
    /// For each path whether an event may have it more than once.
    repeated: Vec<bool>,
    /// For each path how many bytes its keys have, with one between them; none where it leads into an array.
    bytes: Vec<Option<usize>>,
}

/// A path of a [`Survey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyedPath {
    number: u32,
    /// Whether it is a key of the top level.
    pub is_key: bool,
    /// How many bytes its [keys](Survey::keys) have, with one between them.
    pub bytes: usize,
    /// How many events have a value there.
    pub events: u32,
}

/// How many events have something, and the first of them if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallied {
    /// How many there are.
    pub count: u32,
    /// The first, by its place in the group.
    pub first: u32,
}

/// What the events have at one path that none has more than once.
#[derive(Debug, Default)]
pub struct Surveyed<'d> {
    /// The events that have nothing there.
    pub missing: Tallied,
    /// Those that have an object.
    pub objects: Tallied,
    /// Those that have an array.
    pub arrays: Tallied,
    /// Those that have `null`.
    pub null: Tallied,
    /// Those that have `false`.
    pub falsehood: Tallied,
    /// Those that have `true`.
    pub truth: Tallied,
    /// Strings.
    pub texts: Option<SurveyedColumn<'d>>,
    /// Whole numbers of few digits.
    pub whole: Option<SurveyedColumn<'d>>,
    /// Numbers of few digits with a fraction.
    pub fractions: Option<SurveyedColumn<'d>>,
    /// All other numbers, as texts.
    pub long: Option<SurveyedColumn<'d>>,
}

/// The values of one kind at a path, in the order of their events.
#[derive(Debug)]
pub struct SurveyedColumn<'d> {
    column: &'d RawColumn,
    /// The events that have them; none where all have.
    events: Option<Vec<u32>>,
}

impl<'d> Survey<'d> {
    /// Nothing where a document is kept as text: what that has at its paths is not known.
    pub(crate) fn of(dissection: &'d Dissection<'d>) -> Option<Survey<'d>> {
        let Dissection { paths, shapes, lists, .. } = dissection;
        let documents = lists.first()?;
        let tokens = || documents.shapes.iter().filter_map(|shape| shapes.get(*shape as usize)).zip(0u32..);
        if tokens().any(|(shape, _)| matches!(shape.tokens.as_slice(), [Token::Leaf(..)])) {
            return None;
        }
        let codes = || documents.codes.iter().map(|code| *code as usize);
        let (starts, events) = sorted(documents.shapes.len(), codes().zip(0u32..));
        let each = tokens().flat_map(|(shape, code)| {
            let placed = shape.tokens.iter().filter_map(move |token| Some((token.path()?, (code, *token))));
            placed.map(|(path, place)| (path as usize, place))
        });
        let (bounds, places) = sorted(paths.len(), each);
        let columns = dissection.columns.iter().map(|column| column.path as usize).zip(0u32..);
        let columns = sorted(paths.len(), columns);
        let mut survey = Survey {
            dissection,
            events,
            starts,
            places,
            bounds,
            columns,
            repeated: Vec::new(),
            bytes: Vec::new(),
        };
        for path in 0..paths.len() as u32 {
            let is_twice = |pair: &[(u32, Token)]| matches!(pair, [(one, _), (next, _)] if one == next);
            let own = survey.places_of(path).windows(2).any(is_twice);
            // A parent comes before its children.
            let inherited = paths.step(path).is_some_and(|(parent, _)| survey.is_repeated(parent));
            survey.repeated.push(own || inherited);
            let bytes = match paths.step(path) {
                None => Some(0),
                Some((ROOT, Step::Key(key))) => Some(key.len()),
                Some((parent, Step::Key(key))) => {
                    survey.bytes.get(parent as usize).copied().flatten().map(|bytes| bytes + 1 + key.len())
                }
                Some((_, Step::Element)) => None,
            };
            survey.bytes.push(bytes);
        }
        Some(survey)
    }

    /// How many events the group has.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The paths at which some event has a value, in the order in which they first came.
    pub fn paths(&self) -> Vec<SurveyedPath> {
        (ROOT + 1..self.dissection.paths.len() as u32).filter_map(|path| self.path(path)).collect()
    }

    /// The keys of a path from the top level on, at least one, as the documents spell them between the quotes. Takes time linear in their number.
    pub fn keys(&self, path: &SurveyedPath) -> Vec<&'d [u8]> {
        let key = |step: &Step<&'d [u8]>| match step {
            Step::Key(key) => Some(*key),
            Step::Element => None,
        };
        let mut keys: Vec<&[u8]> = self.dissection.paths.steps_up(path.number).filter_map(key).collect();
        keys.reverse();
        keys
    }

    /// What the events have at a path; nothing where an event has it more than once. Takes time linear in the values there and the shapes
    /// of the group, and at most in its events.
    pub fn values(&self, path: &SurveyedPath) -> Option<Surveyed<'d>> {
        if self.is_repeated(path.number) {
            return None;
        }
        let places = self.places_of(path.number);
        let mut values = Surveyed { missing: self.missing(places), ..Surveyed::default() };
        for (shape, token) in places {
            let tally = match token {
                Token::Open(_) => &mut values.objects,
                Token::Leaf(_, Leaf::Array) => &mut values.arrays,
                Token::Leaf(_, Leaf::Null) => &mut values.null,
                Token::Leaf(_, Leaf::False) => &mut values.falsehood,
                Token::Leaf(_, Leaf::True) => &mut values.truth,
                Token::Leaf(..) | Token::Close => continue,
            };
            tally.add(self.events_of(*shape));
        }
        let (bounds, columns) = &self.columns;
        let columns = within(columns, bounds, path.number).iter();
        for column in columns.filter_map(|number| self.dissection.columns.get(*number as usize)) {
            let of = match column.kind {
                Leaf::Text => &mut values.texts,
                Leaf::Whole => &mut values.whole,
                Leaf::Fraction => &mut values.fractions,
                Leaf::Long => &mut values.long,
                Leaf::Json | Leaf::Array | Leaf::True | Leaf::False | Leaf::Null => continue,
            };
            *of = Some(SurveyedColumn { column, events: self.events_with(places, column.kind) });
        }
        Some(values)
    }

    /// For each event whether it is flat: it holds no object, not even in an array, no key more than once, and no key with a backslash.
    pub fn flat(&self) -> Vec<bool> {
        let Dissection { paths, lists, shapes, .. } = self.dissection;
        // Where some array at a path holds more than scalars, all there count as if they did.
        let mut nested = vec![false; paths.len()];
        let holders = lists.iter().skip(1).filter(|list| {
            let is_scalar = |shape: &u32| {
                shapes.get(*shape as usize).is_some_and(|shape| {
                    matches!(shape.tokens.as_slice(), [Token::Leaf(_, kind)] if !matches!(kind, Leaf::Array | Leaf::Json))
                })
            };
            !list.shapes.iter().all(is_scalar)
        });
        for (parent, _) in holders.filter_map(|list| paths.step(list.path)) {
            if let Some(is_nested) = nested.get_mut(parent as usize) {
                *is_nested = true;
            }
        }
        let is_escaped = |path: u32| match paths.step(path) {
            Some((_, Step::Key(key))) => key.contains(&b'\\'),
            _ => false,
        };
        let mut flat = vec![true; self.len()];
        for path in 0..paths.len() as u32 {
            let is_doubtful =
                self.is_repeated(path) || is_escaped(path) || nested.get(path as usize).is_some_and(|is| *is);
            for (shape, token) in self.places_of(path) {
                let is_object = path != ROOT && matches!(token, Token::Open(_));
                if is_doubtful || is_object {
                    self.events_of(*shape).iter().for_each(|event| flat[*event as usize] = false);
                }
            }
        }
        flat
    }

    fn path(&self, number: u32) -> Option<SurveyedPath> {
        let bytes = self.bytes.get(number as usize).copied().flatten()?;
        let places = self.places_of(number);
        if places.is_empty() {
            return None;
        }
        let is_key = self.dissection.paths.step(number).is_some_and(|(parent, _)| parent == ROOT);
        let mut events = 0;
        let mut before = None;
        for (shape, _) in places {
            if before.replace(shape) != Some(shape) {
                events += self.events_of(*shape).len() as u32;
            }
        }
        (events > 0).then_some(SurveyedPath { number, is_key, bytes, events })
    }

    fn is_repeated(&self, path: u32) -> bool {
        self.repeated.get(path as usize).is_some_and(|is| *is)
    }

    fn places_of(&self, path: u32) -> &[(u32, Token)] {
        within(&self.places, &self.bounds, path)
    }

    /// The events of a shape, in ascending order.
    fn events_of(&self, shape: u32) -> &[u32] {
        within(&self.events, &self.starts, shape)
    }

    /// The events of all shapes but these.
    fn missing(&self, places: &[(u32, Token)]) -> Tallied {
        let mut missing = Tallied::default();
        let mut next = 0;
        let shapes = self.starts.len() as u32 - 1;
        for shape in places.iter().map(|(shape, _)| *shape).chain([shapes]) {
            (next..shape).for_each(|other| missing.add(self.events_of(other)));
            next = shape + 1;
        }
        missing
    }

    /// The events that have a value of a kind; none where all have.
    fn events_with(&self, places: &[(u32, Token)], kind: Leaf) -> Option<Vec<u32>> {
        let of_kind = places.iter().filter(|(_, token)| matches!(token, Token::Leaf(_, of) if *of == kind));
        let count: usize = of_kind.clone().map(|(shape, _)| self.events_of(*shape).len()).sum();
        if count == self.len() {
            return None;
        }
        let mut events = Vec::with_capacity(count);
        of_kind.for_each(|(shape, _)| events.extend_from_slice(self.events_of(*shape)));
        // Each shape's are in order: a sort that merges what is in order is linear in the shapes' logarithm.
        events.sort();
        Some(events)
    }
}

impl Tallied {
    /// Adds the events of a shape, which are in ascending order.
    fn add(&mut self, events: &[u32]) {
        let Some(first) = events.first() else { return };
        self.first = if self.count == 0 { *first } else { self.first.min(*first) };
        self.count += events.len() as u32;
    }
}

impl<'d> SurveyedColumn<'d> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.texts().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The event that has a value.
    #[inline(always)]
    pub fn event(&self, index: usize) -> u32 {
        self.events.as_ref().map_or(index as u32, |events| events.get(index).copied().unwrap_or_default())
    }

    /// The text of each value, that of a string without its quotes; or of each distinct value, in the order in which they first came.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &'d [u8]> {
        let pool = self.texts().pool();
        (0..pool.len()).map(|index| pool.get(index).unwrap_or_default())
    }

    /// The texts of all entries, one after the other.
    pub fn bytes(&self) -> &'d [u8] {
        self.texts().pool().bytes()
    }

    /// Where the text of a value stands among the [bytes](Self::bytes).
    #[inline(always)]
    pub fn range(&self, index: usize) -> Range<usize> {
        self.texts().range(index).unwrap_or_default()
    }

    /// For each value which of the [entries](Self::entries) it is; none where each is its own.
    pub fn codes(&self) -> Option<&'d [i64]> {
        self.texts().codes()
    }

    /// The significands of numbers of few digits.
    pub fn significands(&self) -> &'d [i64] {
        &self.column.values.mantissas
    }

    /// How many digits behind the point those with a fraction have.
    pub fn scales(&self) -> &'d [u8] {
        &self.column.values.scales
    }

    fn texts(&self) -> &'d Collected {
        &self.column.values.texts
    }
}

/// Sorts values by small numbers, those of one number in the order in which they came: where the values of each begin, and they.
fn sorted<T: Copy>(numbers: usize, values: impl Iterator<Item = (usize, T)> + Clone) -> (Vec<u32>, Vec<T>) {
    let mut starts = vec![0u32; numbers + 1];
    for (number, _) in values.clone() {
        if let Some(count) = starts.get_mut(number + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let Some((_, first)) = values.clone().next() else { return (starts, Vec::new()) };
    let mut out = vec![first; sum as usize];
    let mut next = starts.clone();
    for (number, value) in values {
        if let Some(place) = next.get_mut(number) {
            if let Some(out) = out.get_mut(*place as usize) {
                *out = value;
            }
            *place += 1;
        }
    }
    (starts, out)
}

/// The values of a number, as [`sorted`] has them.
fn within<'v, T>(values: &'v [T], starts: &[u32], number: u32) -> &'v [T] {
    match starts.get(number as usize..) {
        Some([start, end, ..]) => values.get(*start as usize..*end as usize).unwrap_or_default(),
        _ => &[],
    }
}
