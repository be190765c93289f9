//! Walks over what was taken apart, event by event, and lets the texts of some columns be compared with the other values around them, to
//! learn their templates.

use crate::dissect::{Dissection, RawColumn};
use crate::encoding::positions::LENGTH_MAX;
use crate::frame::Effort;
use crate::learn::Learner;
use crate::pattern::{Candidate, Candidates};
use crate::shape::{Leaf, Slot};

/// Of very wide events only so many values are looked for in a text.
const CANDIDATES_MAX: usize = 512;

/// And so many are looked at to find them: those of an event with thousands of empty texts are not gone over for each text.
const LOOKED_AT_MAX: usize = 4 * CANDIDATES_MAX;

/// What was learned of each column that `wanted` names.
pub(crate) fn learn(dissection: &Dissection<'_>, wanted: &[bool], effort: Effort) -> Vec<Option<Learner>> {
    let one_length =
        |column: &RawColumn| column.values.texts.pool().length().is_some_and(|length| length <= LENGTH_MAX);
    let learners = dissection.columns.iter().zip(wanted);
    let mut learners: Vec<Option<Learner>> = learners
        .map(|(column, wanted)| {
            wanted.then(|| Learner::new(column.values.texts.len(), one_length(column), effort))
        })
        .collect();
    if !wanted.contains(&true) {
        return learners;
    }
    let keys: Vec<&[u8]> =
        dissection.columns.iter().map(|column| dissection.paths.last_key_of(column.path)).collect();
    // Those of the scope for which they were asked last.
    let mut last = (0, Candidates::of(&keys));
    tour(dissection, wanted, |stop| {
        let Some(learner) = learners[stop.column as usize].as_mut().filter(|learner| !learner.is_given_up())
        else {
            return;
        };
        let columns = &dissection.columns;
        let texts = &columns[stop.column as usize].values.texts;
        let range = texts.range(stop.index).unwrap_or_default();
        let (text, at) = (texts.pool().bytes().get(range.clone()).unwrap_or_default(), range.start);
        // What a column's cursor stands at beside an event that has nothing there is another event's, and the reader need not find it there.
        let value = |column: u32| {
            let is_around = stop.around[column as usize] > 0;
            is_around.then(|| columns[column as usize].values.texts.get(stop.cursors[column as usize]))?
        };
        let shape = stop.open.last().copied().unwrap_or_default();
        learner.text(stop.column, text, at, shape, value, || {
            if last.0 != stop.scope {
                last.0 = stop.scope;
                last.1.replace(candidates(dissection, stop));
            }
            &last.1
        });
    });
    learners
}

/// The values around a text, those nearest first.
fn candidates<'a, 't>(dissection: &'a Dissection<'_>, stop: Stop<'t>) -> impl Iterator<Item = Candidate<'a>> {
    let shapes = stop.open.iter().rev().map(|shape| &dissection.shapes[*shape as usize]);
    let around = shapes.flat_map(|shape| &shape.layout.columns);
    let candidate = move |(number, _): &(u32, u32)| {
        let column = &dissection.columns[*number as usize];
        let text = column.values.texts.get(stop.cursors[*number as usize]);
        Some(Candidate {
            column: *number,
            text: text.filter(|text| !text.is_empty() && column.kind != Leaf::Json)?,
            fraction: column.kind == Leaf::Fraction,
        })
    };
    around.take(LOOKED_AT_MAX).filter_map(candidate).take(CANDIDATES_MAX)
}

/// A text of a column, and where all columns stand then.
#[derive(Clone, Copy)]
struct Stop<'t> {
    column: u32,
    /// Its place among the texts of its column.
    index: usize,
    /// How far each column was read: what a reference to it means.
    cursors: &'t [usize],
    /// For each column how many of the values that are open have something in it.
    around: &'t [u32],
    /// The shapes of the values that are open, outermost first.
    open: &'t [u32],
    /// Tells the innermost of them from all others.
    scope: u64,
}

/// The walk: columns move on when the value around theirs ends, as they do for the reader.
struct Tour<'a, 'd> {
    dissection: &'a Dissection<'d>,
    /// For each shape its slots that are wanted.
    wanted: Vec<Vec<Slot>>,
    cursors: Vec<usize>,
    around: Vec<u32>,
    elements: Vec<usize>,
    arrays: Vec<usize>,
    open: Vec<u32>,
    scopes: u64,
}

/// Calls with each text of the columns that are wanted.
fn tour(dissection: &Dissection<'_>, wanted: &[bool], mut stop: impl FnMut(Stop<'_>)) {
    let lists = dissection.lists.len();
    let mut tour = Tour {
        dissection,
        wanted: wanted_slots(dissection, wanted),
        cursors: vec![0; dissection.columns.len()],
        around: vec![0; dissection.columns.len()],
        elements: vec![0; lists],
        arrays: vec![0; lists],
        open: Vec::new(),
        scopes: 0,
    };
    let documents = dissection.lists.first().map_or(0, |list| list.codes.len());
    for _ in 0..documents {
        tour.value(0, &mut stop);
    }
}

/// Of each shape the slots of columns that are wanted, and of arrays in which there are any.
fn wanted_slots(dissection: &Dissection<'_>, wanted: &[bool]) -> Vec<Vec<Slot>> {
    let mut slots = vec![Vec::new(); dissection.shapes.len()];
    let mut wanted_lists = vec![false; dissection.lists.len()];
    // A list in another one comes after it.
    for (number, list) in dissection.lists.iter().enumerate().rev() {
        for shape in &list.shapes {
            let is_wanted = |slot: &&Slot| match **slot {
                Slot::Column { column, .. } => wanted[column as usize],
                Slot::Array { list, .. } => wanted_lists[list as usize],
            };
            let all = &dissection.shapes[*shape as usize].layout.slots;
            let own: Vec<Slot> = all.iter().filter(is_wanted).copied().collect();
            wanted_lists[number] |= !own.is_empty();
            slots[*shape as usize] = own;
        }
    }
    slots
}

impl Tour<'_, '_> {
    /// The next element of a list.
    fn value(&mut self, list: usize, stop: &mut impl FnMut(Stop<'_>)) {
        let dissection = self.dissection;
        let code = dissection.lists[list].codes[self.elements[list]];
        self.elements[list] += 1;
        let Some(&shape) = dissection.lists[list].shapes.get(code as usize) else { return };
        let layout = &dissection.shapes[shape as usize].layout;
        for (column, _) in &layout.columns {
            self.around[*column as usize] += 1;
        }
        self.open.push(shape);
        self.scopes += 1;
        let scope = self.scopes;
        for number in 0..self.wanted[shape as usize].len() {
            match self.wanted[shape as usize][number] {
                Slot::Column { column, nth } => {
                    let index = self.cursors[column as usize] + nth as usize;
                    let Tour { cursors, around, open, .. } = &*self;
                    stop(Stop { column, index, cursors, around, open, scope });
                }
                Slot::Array { list, nth } => {
                    let list = list as usize;
                    let lengths = &dissection.lists[list].lengths;
                    let length = lengths.get(self.arrays[list] + nth as usize).copied().unwrap_or(0);
                    for _ in 0..length {
                        self.value(list, stop);
                    }
                }
            }
        }
        self.open.pop();
        for (column, count) in &layout.columns {
            self.cursors[*column as usize] += *count as usize;
            self.around[*column as usize] -= 1;
        }
        for (list, count) in &layout.lists {
            self.arrays[*list as usize] += *count as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dissect::{Dissector, Spare};
    use tamias_json::Offsets;

    #[test]
    fn a_lesson_does_not_go_over_all_empty_texts_of_its_event() {
        let found = |empty: usize| {
            let members: String = (0..empty).map(|n| format!(r#""e{n}":"","#)).collect();
            let document = format!(r#"{{{members}"a":"xyz","b":"of xyz"}}"#);
            let mut spare = Spare::default();
            let mut offsets = Offsets::new();
            let mut dissector = Dissector::new(&mut spare, &mut offsets);
            dissector.document(document.as_bytes());
            let dissection = dissector.finish();
            let cursors = vec![0; dissection.columns.len()];
            let around = vec![1; dissection.columns.len()];
            let stop = Stop { column: 0, index: 0, cursors: &cursors, around: &around, open: &[0], scope: 1 };
            let mut around = Candidates::of(&[]);
            around.replace(candidates(&dissection, stop));
            around.that_begin_with(b'x').count()
        };
        assert_eq!(found(1_000), 1);
        assert_eq!(found(LOOKED_AT_MAX), 0);
    }
}
