//! Walks over what was taken apart, event by event, and lets the texts of some columns be compared with the other values around them.

use crate::dissect::{Dissection, RawColumn};
use crate::encoding::positions::LENGTH_MAX;
use crate::learn::Learner;
use crate::pattern::Candidate;
use crate::shape::{Leaf, Slot};

/// The walk: columns move on when the value around theirs ends, as they do for the reader.
pub(crate) struct Walk<'a, 'd> {
    dissection: &'a Dissection<'d>,
    /// For each column that is to be learned.
    pub(crate) learners: Vec<Option<Learner>>,
    /// For each shape that was met its slots that are wanted; nothing while a value of it is open.
    wanted: Vec<Option<Vec<Slot>>>,
    cursors: Vec<usize>,
    elements: Vec<usize>,
    arrays: Vec<usize>,
    /// The shapes of the values that are open, outermost first.
    open: Vec<u32>,
}

/// Of very wide events only so many values are looked for in a text.
const CANDIDATES_MAX: usize = 256;

impl<'a, 'd> Walk<'a, 'd> {
    /// Walks over all documents, with a learner for each column that `wanted` names.
    pub(crate) fn over(dissection: &'a Dissection<'d>, wanted: &[bool]) -> Vec<Option<Learner>> {
        let lists = dissection.lists.len();
        let one_length =
            |column: &RawColumn| column.values.texts.length().is_some_and(|length| length <= LENGTH_MAX);
        let learners = dissection.columns.iter().zip(wanted);
        let learners = learners.map(|(column, wanted)| wanted.then(|| Learner::new(one_length(column))));
        let mut walk = Walk {
            dissection,
            learners: learners.collect(),
            wanted: vec![None; dissection.shapes.len()],
            cursors: vec![0; dissection.columns.len()],
            elements: vec![0; lists],
            arrays: vec![0; lists],
            open: Vec::new(),
        };
        let documents = dissection.lists.first().map_or(0, |list| list.codes.len());
        for _ in 0..documents {
            walk.value(0);
        }
        walk.learners
    }

    /// The next element of a list.
    fn value(&mut self, list: usize) {
        let dissection = self.dissection;
        let code = dissection.lists[list].codes[self.elements[list]];
        self.elements[list] += 1;
        let shape = dissection.lists[list].shapes[code as usize];
        let layout = &dissection.shapes[shape as usize].layout;
        self.open.push(shape);
        let wanted = self.wanted[shape as usize].take();
        let wanted =
            wanted.unwrap_or_else(|| layout.slots.iter().filter(|slot| self.wants(slot)).copied().collect());
        for slot in &wanted {
            match *slot {
                Slot::Column { column, nth } => self.text(column, nth as usize, shape),
                Slot::Array { list, nth } => {
                    let list = list as usize;
                    let length = dissection.lists[list].lengths[self.arrays[list] + nth as usize];
                    for _ in 0..length {
                        self.value(list);
                    }
                }
            }
        }
        self.wanted[shape as usize] = Some(wanted);
        self.open.pop();
        for (column, count) in &layout.columns {
            self.cursors[*column as usize] += *count as usize;
        }
        for (list, count) in &layout.lists {
            self.arrays[*list as usize] += *count as usize;
        }
    }

    /// Whether there is anything to learn from a slot.
    fn wants(&self, slot: &Slot) -> bool {
        match *slot {
            Slot::Column { column, .. } => self.learners[column as usize].is_some(),
            Slot::Array { .. } => true,
        }
    }

    #[inline]
    fn text(&mut self, column: u32, nth: usize, shape: u32) {
        let Walk { dissection, learners, cursors, open, .. } = self;
        let Some(learner) = learners[column as usize].as_mut().filter(|learner| !learner.is_given_up())
        else {
            return;
        };
        let columns = &dissection.columns;
        let texts = &columns[column as usize].values.texts;
        let range = texts.range(cursors[column as usize] + nth).unwrap_or_default();
        let (text, at) = (texts.bytes().get(range.clone()).unwrap_or_default(), range.start);
        let value = |column: u32| columns[column as usize].values.texts.get(cursors[column as usize]);
        let candidates = || {
            let shapes = open.iter().rev().map(|shape| &dissection.shapes[*shape as usize]);
            let around = shapes.flat_map(|shape| &shape.layout.columns).map(|(other, _)| *other);
            let usable =
                around.filter(|other| *other < column && columns[*other as usize].kind != Leaf::Json);
            let candidate = |other: u32| {
                let text = value(other).filter(|text| !text.is_empty())?;
                let key = dissection.paths.last_key_of(columns[other as usize].path);
                Some(Candidate {
                    column: other,
                    text,
                    key,
                    fraction: columns[other as usize].kind == Leaf::Fraction,
                })
            };
            usable.filter_map(candidate).take(CANDIDATES_MAX).collect()
        };
        learner.text(text, at, shape, value, candidates);
    }
}
