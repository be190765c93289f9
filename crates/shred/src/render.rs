//! Puts documents together: runs the program of each document's shape over the columns.

use crate::column::{LOST, Ready};
use crate::encoding::templates::{Filling, ReadyTemplates};
use crate::error::{DecodeError, malformed};
use crate::output::Sink;
use crate::program::Program;
use crate::shape::Slot;

/// A list that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    pub(crate) lengths: Vec<i64>,
    /// The shape of each element, by its number among all shapes.
    pub(crate) shapes: Vec<u32>,
    /// Whether it could not be read whole: [`LOST`] stands for each of its arrays that is not known to be empty.
    pub(crate) is_lost: bool,
}

/// Columns and lists, and how far each was read.
///
/// A column moves on when the value around it ends, so that all values of a scope, and of those around it, can be found by their
/// cursors in any order.
pub(crate) struct Renderer<'r, 'f> {
    programs: &'r [Program],
    columns: &'r [Ready<'f>],
    lists: &'r [Elements],
    cursors: Vec<usize>,
    /// How many arrays of each list, and how many elements.
    arrays: Vec<usize>,
    elements: Vec<usize>,
    /// How many holes of templates may still be filled: what fills one is a byte at least.
    steps: usize,
    /// For each column the text by template that was put together last.
    last: Vec<Made>,
    /// Tells what is put together now from what was before.
    round: u32,
    /// The column whose values are noted, and where they begin and end.
    noting: usize,
    noted: Vec<(u32, u32)>,
}

/// A text that was put together, and where it stands in what came out since.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    round: u32,
    index: u32,
    from: u32,
    to: u32,
}

const MISSING_VALUE: DecodeError = malformed("fewer values than its shapes need");

impl<'r, 'f> Renderer<'r, 'f> {
    pub(crate) fn new(
        programs: &'r [Program],
        columns: &'r [Ready<'f>],
        lists: &'r [Elements],
        steps: usize,
    ) -> Renderer<'r, 'f> {
        let (cursors, arrays, elements) =
            (vec![0; columns.len()], vec![0; lists.len()], vec![0; lists.len()]);
        Renderer {
            programs,
            columns,
            lists,
            cursors,
            arrays,
            elements,
            steps,
            last: vec![Made::default(); columns.len()],
            round: 0,
            noting: usize::MAX,
            noted: Vec::new(),
        }
    }

    /// Notes where the values of a column stand.
    pub(crate) fn noting(mut self, column: Option<usize>) -> Renderer<'r, 'f> {
        self.noting = column.unwrap_or(usize::MAX);
        self
    }

    /// Where the values stand that were to be noted.
    pub(crate) fn noted(self) -> Vec<(u32, u32)> {
        self.noted
    }

    /// Puts together the next element of a list: of the first, the next document.
    pub(crate) fn next(&mut self, list: usize, out: &mut impl Sink) -> Result<(), DecodeError> {
        // What came out before may be gone.
        self.round = self.round.wrapping_add(1);
        self.element(list, out)
    }

    /// The recursion is as deep as arrays nest: the path of an array is longer than that of the array around it.
    fn element(&mut self, list: usize, out: &mut impl Sink) -> Result<(), DecodeError> {
        let program = self.begin(list)?;
        if let Some(slot) = program.only {
            self.slot(slot, out)?;
            return self.end(program);
        }
        for piece in &program.pieces {
            if !piece.literal.is_empty() {
                out.push_range(&program.literals, piece.literal.start, piece.literal.end)?;
            }
            if let Some(slot) = piece.slot {
                self.slot(slot, out)?;
            }
        }
        self.end(program)
    }

    /// Puts together what stands at a slot.
    #[inline(always)]
    fn slot(&mut self, slot: Slot, out: &mut impl Sink) -> Result<(), DecodeError> {
        let (column, nth) = match slot {
            Slot::Array { list, nth } => return self.array(list as usize, nth as usize, out),
            Slot::Column { column, nth } => (column as usize, nth as usize),
        };
        let cursor = self.cursors.get(column).ok_or(MISSING_VALUE)?;
        let start = out.len();
        self.value(column, cursor + nth, out)?;
        if column == self.noting {
            self.noted.push((start as u32, out.len() as u32));
        }
        Ok(())
    }

    /// Goes past the next element of a list, none of whose shapes has an array.
    pub(crate) fn pass(&mut self, list: usize) -> Result<(), DecodeError> {
        let program = self.begin(list)?;
        self.end(program)
    }

    /// The program of the next element of a list.
    #[inline(always)]
    fn begin(&mut self, list: usize) -> Result<&'r Program, DecodeError> {
        let element = self.elements.get_mut(list).ok_or(MISSING_VALUE)?;
        let shape = *self.lists.get(list).and_then(|list| list.shapes.get(*element)).ok_or(MISSING_VALUE)?;
        *element += 1;
        self.programs.get(shape as usize).ok_or(MISSING_VALUE)
    }

    /// Columns and lists move on by what an element has.
    #[inline(always)]
    fn end(&mut self, program: &Program) -> Result<(), DecodeError> {
        for (column, count) in &program.layout.columns {
            *self.cursors.get_mut(*column as usize).ok_or(MISSING_VALUE)? += *count as usize;
        }
        for (list, count) in &program.layout.lists {
            *self.arrays.get_mut(*list as usize).ok_or(MISSING_VALUE)? += *count as usize;
        }
        Ok(())
    }

    /// Puts a value together.
    #[inline(always)]
    fn value(&mut self, column: usize, index: usize, out: &mut impl Sink) -> Result<(), DecodeError> {
        match self.columns.get(column) {
            Some(Ready::Texts(texts)) => texts.append(index, out),
            Some(Ready::Templated(templated)) => self.templated(column, templated, index, out),
            Some(Ready::Lost(_)) => out.push(&[LOST]),
            None => Err(MISSING_VALUE),
        }
    }

    /// Puts a text by template together. It refers to columns with smaller numbers only, so it comes to an end; how much is done before that is
    /// bounded by `steps`. What came out already is taken from there: of events with hundreds of addresses each shows others of them.
    fn templated(
        &mut self,
        column: usize,
        templated: &'r ReadyTemplates<'f>,
        index: usize,
        out: &mut impl Sink,
    ) -> Result<(), DecodeError> {
        let from = out.len();
        let made = self.last.get(column).copied().unwrap_or_default();
        if made.round == self.round && made.index as usize == index {
            return out.again(made.from as usize, made.to as usize);
        }
        let (template, nth) = templated.get(index).ok_or(MISSING_VALUE)?;
        self.steps =
            self.steps.checked_sub(template.pieces.len()).ok_or(malformed("templates of too many holes"))?;
        let mut start = 0;
        for (end, filling) in &template.pieces {
            if start < *end {
                out.push_range(&template.literals, start, *end)?;
            }
            start = *end;
            match filling {
                Filling::Own(values) => values.append(nth, out)?,
                Filling::Reference(other) => {
                    let cursor = *self.cursors.get(*other as usize).ok_or(MISSING_VALUE)?;
                    self.value(*other as usize, cursor, out)?;
                }
            }
        }
        if start < template.end {
            out.push_range(&template.literals, start, template.end)?;
        }
        if let Some(last) = self.last.get_mut(column) {
            *last = Made { round: self.round, index: index as u32, from: from as u32, to: out.len() as u32 };
        }
        Ok(())
    }

    fn array(&mut self, list: usize, nth: usize, out: &mut impl Sink) -> Result<(), DecodeError> {
        const MISSING: DecodeError = malformed("fewer arrays than its shapes need");
        let array = self.arrays.get(list).ok_or(MISSING)? + nth;
        let list_read = self.lists.get(list).ok_or(MISSING)?;
        let length = list_read.lengths.get(array).copied();
        if list_read.is_lost && length != Some(0) {
            return out.push(&[LOST]);
        }
        let length = length.ok_or(MISSING)?;
        out.push_byte(b'[')?;
        for element in 0..length {
            if element > 0 {
                out.push_byte(b',')?;
            }
            self.element(list, out)?;
        }
        out.push_byte(b']')
    }

    /// Whether everything was used.
    pub(crate) fn is_done(&self) -> bool {
        let columns = self.columns.iter().zip(&self.cursors).all(|(values, cursor)| values.len() == *cursor);
        let lists =
            self.lists.iter().zip(&self.elements).all(|(list, element)| list.shapes.len() == *element);
        columns && lists
    }
}
