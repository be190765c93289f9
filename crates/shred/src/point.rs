//! One document of a group, or some that follow one another, without decoding the others.
//!
//! The positions of their values in their columns follow from the shapes of the documents before it: how many values of each column each shape
//! has, times how many documents have that shape; and likewise for the elements of arrays.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use crate::column::ColumnValues;
use crate::encoding::Window;
use crate::error::{DecodeError, NO_COLUMN, malformed};
use crate::group::{Documents, GroupReader};
use crate::grouping::Counts;
use crate::output::{Output, Sink};
use crate::path::Step;
use crate::program::Program;
use crate::render::{Elements, Renderer};
use crate::shape::Seen;
use crate::spans::Spelling;
use foldhash::fast::FixedState;

/// The elements of a list that belong to the documents.
#[derive(Clone, Debug)]
struct Located {
    lengths: Vec<i64>,
    /// The codes of their shapes.
    codes: Vec<u32>,
    /// How many elements before them have each shape.
    before: Vec<u32>,
    /// Their shapes, each once and in ascending order, and how many of them have it.
    inside: Vec<(u32, u32)>,
    /// How many elements there are before them.
    from: usize,
}

impl Located {
    /// Where the values of a column, or the arrays of a list, begin and end that these elements have.
    fn range(&self, counts: &Counts, others: Option<&[(u32, i32)]>) -> (usize, usize) {
        let uses = |code: &u32| self.before.get(*code as usize).copied().unwrap_or_default();
        let from = match others {
            None => counts.iter().map(|(code, count)| uses(code) as usize * *count as usize).sum(),
            Some(others) => {
                let more = others.iter().map(|(code, more)| i64::from(uses(code)) * i64::from(*more));
                self.from.saturating_add_signed(more.sum::<i64>() as isize)
            }
        };
        let inside = |(code, uses): &(u32, u32)| {
            let place = counts.binary_search_by_key(code, |(of, _)| *of).ok()?;
            Some(*uses as usize * counts.get(place)?.1 as usize)
        };
        (from, from + self.inside.iter().filter_map(inside).sum::<usize>())
    }
}

/// Documents being located.
struct Point<'p, 'g> {
    reader: &'p mut GroupReader<'g>,
    rows: Range<usize>,
    lists: HashMap<usize, Rc<Located>, FixedState>,
    columns: HashMap<usize, ColumnValues<'g>, FixedState>,
    /// The programs of shapes, by the number of their list and their code.
    programs: HashMap<(usize, u32), Program, FixedState>,
}

impl<'g> GroupReader<'g> {
    /// One document, by its row.
    ///
    /// Of each column that it has, only the chunks or the blocks are decoded that hold its values, of 64 KiB each, the first chunk of
    /// their frame, and the lengths or codes of the values before. Columns that share a chunk share its cost.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"a":1}"#, r#"{"b":[{"c":"x"},2]}"#, r#"{"a":3}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// assert_eq!(group.read(&encoded.frames).document(1)?, documents[1].as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn document(&mut self, row: usize) -> Result<Vec<u8>, DecodeError> {
        Ok(self.documents_in(row..row.saturating_add(1))?.into_parts().0)
    }

    /// The documents of rows that follow one another. Of each column the values before the first of them and behind the last one are decoded as little
    /// as those beside a single [`document`](GroupReader::document).
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"a":1}"#, r#"{"b":[{"c":"x"},2]}"#, r#"{"a":3}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let last = group.read(&encoded.frames).documents_in(1..3)?;
    /// assert!(last.iter().eq(documents[1..].iter().map(|text| text.as_bytes())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn documents_in(&mut self, rows: Range<usize>) -> Result<Documents, DecodeError> {
        if rows.start > rows.end || rows.end > self.group.events() {
            return Err(DecodeError::OutOfRange { what: "row" });
        }
        let (mut out, mut ends) = (Output::new(self.group.document_bytes()), Vec::with_capacity(rows.len()));
        let mut point = Point::new(self, rows);
        point.need()?;
        point.need_references()?;
        point.render(&mut out, &mut ends)?;
        let mut bytes = out.into_bytes();
        bytes.shrink_to_fit();
        Ok(Documents::of_parts(bytes, ends))
    }
}

impl<'p, 'g> Point<'p, 'g> {
    fn new(reader: &'p mut GroupReader<'g>, rows: Range<usize>) -> Self {
        let (lists, columns, programs) = (HashMap::default(), HashMap::default(), HashMap::default());
        Point { reader, rows, lists, columns, programs }
    }

    /// The elements of a list that belong to the documents.
    fn locate(&mut self, list: usize) -> Result<Rc<Located>, DecodeError> {
        const NO_LIST: DecodeError = malformed("a list of no list");
        if let Some(located) = self.lists.get(&list) {
            return Ok(located.clone());
        }
        let directory = self.reader.group.directory();
        let info = *directory.lists.get(list).ok_or(NO_LIST)?;
        let (lengths, from, to) = if list == 0 {
            (Vec::new(), self.rows.start, self.rows.end)
        } else {
            // The list that has the arrays as values, which is nearer to the root.
            let Some((array, Step::Element)) = directory.paths.step(info.path) else { return Err(NO_LIST) };
            let parent = self.reader.group.places().list_of(array, &directory.paths).ok_or(NO_LIST)? as usize;
            let around = self.locate(parent)?;
            let counts = self.reader.group.census().arrays(list).ok_or(NO_LIST)?;
            let (first, last) = around.range(counts, None);
            let mut lengths =
                info.lengths.decode(Window::new(info.arrays, 0, last)?, &mut self.reader.frames)?;
            let sum = |lengths: &[i64]| {
                let lengths = lengths.iter().map(|length| usize::try_from(*length).unwrap_or(usize::MAX));
                lengths.fold(0, usize::saturating_add)
            };
            let own = lengths.split_off(first);
            let from = sum(&lengths);
            let to = from.saturating_add(sum(&own));
            (own, from, to)
        };
        let window = Window::new(info.elements, from, to)?;
        let shapes = self.reader.group.shapes_of(list).len();
        let codes = self.reader.codes(list)?;
        let mut before = vec![0; shapes];
        codes[..window.from].iter().for_each(|code| before[*code as usize] += 1);
        let codes = codes[window.from..window.to].to_vec();
        let mut in_order = codes.clone();
        in_order.sort_unstable();
        let inside = in_order.chunk_by(|one, next| one == next);
        let inside = inside.filter_map(|alike| Some((*alike.first()?, alike.len() as u32))).collect();
        let located = Rc::new(Located { lengths, codes, before, inside, from: window.from });
        self.lists.insert(list, located.clone());
        Ok(located)
    }

    /// Reads the values of a column that the documents have, and the one after: a template may refer to that.
    fn read(&mut self, column: usize) -> Result<(), DecodeError> {
        if self.columns.contains_key(&column) {
            return Ok(());
        }
        let group = self.reader.group;
        let info = group.directory().columns.get(column).ok_or(NO_COLUMN)?;
        let list = group.places().list_of(info.path, &group.directory().paths).ok_or(NO_COLUMN)?;
        let located = self.locate(list as usize)?;
        let counts = group.census().column(column).ok_or(NO_COLUMN)?;
        let others = group.census().others(column, group.shapes_of(list as usize).len());
        let (from, to) = located.range(counts, others);
        let window = Window::new(info.count, from, to.saturating_add(1).min(info.count.max(to)))?;
        let values = self.reader.window(column, window)?;
        self.columns.insert(column, values);
        Ok(())
    }

    /// Reads all columns that the elements of the documents' lists have, each list once: many shapes may lead to the same.
    fn need(&mut self) -> Result<(), DecodeError> {
        let group = self.reader.group;
        let directory = group.directory();
        let mut needed = BTreeSet::from([0]);
        let mut unseen = vec![0];
        // Each shape is that of a document, or of a part of one: its literals are no longer.
        let (mut left, mut seen) = (directory.bytes, Seen::default());
        while let Some(list) = unseen.pop() {
            let located = self.locate(list)?;
            for (code, _) in &located.inside {
                let shape = group.shapes_of(list).get(*code as usize);
                let shape = shape.and_then(|shape| directory.shapes.get(*shape as usize));
                let shape = shape.ok_or(malformed("a shape of no list"))?;
                let program = Program::of(shape, &directory.paths, group.places(), left, &mut seen)?;
                let rest = left.checked_sub(program.literals.len());
                left = rest.ok_or(malformed("shapes longer than the documents"))?;
                for (column, _) in &program.layout.columns {
                    self.read(*column as usize)?;
                }
                let lists = program.layout.lists.iter().map(|(list, _)| *list as usize);
                unseen.extend(lists.filter(|list| needed.insert(*list)));
                self.programs.insert((list, *code), program);
            }
        }
        Ok(())
    }

    /// Reads the columns that templates refer to, and those that they refer to.
    fn need_references(&mut self) -> Result<(), DecodeError> {
        let mut unseen: Vec<usize> = self.columns.keys().copied().collect();
        while let Some(column) = unseen.pop() {
            let Some(ColumnValues::Templated(templated)) = self.columns.get(&column) else { continue };
            let references: Vec<usize> = templated.references().map(|column| column as usize).collect();
            for reference in references {
                if !self.columns.contains_key(&reference) {
                    self.read(reference)?;
                    unseen.push(reference);
                }
            }
        }
        Ok(())
    }

    /// Runs the programs of the documents' shapes over what was read; notes where each document ends.
    fn render(&mut self, out: &mut Output, ends: &mut Vec<u32>) -> Result<(), DecodeError> {
        let directory = self.reader.group.directory();
        let mut programs = Vec::new();
        let mut lists = vec![Elements::default(); directory.lists.len()];
        for (number, located) in std::mem::take(&mut self.lists) {
            let mut numbers = vec![0; located.inside.len()];
            for ((code, _), of_code) in located.inside.iter().zip(&mut numbers) {
                if let Some(program) = self.programs.remove(&(number, *code)) {
                    *of_code = programs.len() as u32;
                    programs.push(program);
                }
            }
            let place = |code: &u32| located.inside.partition_point(|(of, _)| of < code);
            let shapes = located.codes.iter().map(|code| numbers[place(code)]).collect();
            lists[number] = Elements { lengths: located.lengths.clone(), shapes, is_lost: false };
        }
        let mut columns = Vec::with_capacity(directory.columns.len());
        // Of each column the value after those of the documents is read too.
        let mut left = 2 * directory.bytes;
        for number in 0..directory.columns.len() {
            columns.push(
                self.columns.remove(&number).unwrap_or_default().ready(Spelling::WhenTaken, &mut left)?,
            );
        }
        let mut renderer = Renderer::new(&programs, &columns, &lists, directory.bytes);
        for _ in self.rows.clone() {
            renderer.next(0, out)?;
            ends.push(out.len() as u32);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{encode, group_len};
    use crate::encoded::{Encoded, Event};
    use crate::group::Group;
    use crate::limits::CHUNK_BYTES;
    use tamias_testdata::{Generator, nasty_documents};

    fn encoded(documents: &[Vec<u8>]) -> Encoded {
        let events = (0..).zip(documents);
        let events: Vec<Event<'_>> =
            events.map(|(n, document)| Event { instant: n, arrival: n, document }).collect();
        encode(&events[..group_len(&events)]).unwrap()
    }

    /// How many bytes are decompressed for the column of a document that takes most, if its reader has read no other.
    fn dearest(group: &Group, encoded: &Encoded, row: usize) -> u64 {
        let mut reader = group.read(&encoded.frames);
        let mut point = Point::new(&mut reader, row..row + 1);
        point.need().unwrap();
        point.need_references().unwrap();
        let cost = |column: &usize| {
            let mut reader = group.read(&encoded.frames);
            let mut point = Point::new(&mut reader, row..row + 1);
            let directory = group.directory();
            let list = group.places().list_of(directory.columns[*column].path, &directory.paths).unwrap();
            point.locate(list as usize).unwrap();
            let before = point.reader.frames.decompressed();
            point.read(*column).unwrap();
            reader.frames.decompressed() - before
        };
        point.columns.keys().map(cost).max().unwrap_or(0)
    }

    /// The same of twenty documents of a group.
    fn dearest_of(documents: &[Vec<u8>]) -> u64 {
        let encoded = encoded(documents);
        let group = Group::open(&encoded.directory).unwrap();
        let rows = (0..group.events()).step_by(group.events().div_ceil(20));
        rows.map(|row| dearest(&group, &encoded, row)).max().unwrap_or(0)
    }

    fn generated(events: u64) -> Vec<Vec<u8>> {
        let mut generator = Generator::new(1, events);
        let mut bytes = Vec::new();
        while generator.write_next(&mut bytes) {}
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn a_document_takes_a_chunk_of_each_column_and_a_frame_of_numbers() {
        let nasty = nasty_documents();
        let nasty: Vec<Vec<u8>> = nasty.iter().cycle().take(nasty.len() * 40).cloned().collect();
        // Of nasty documents codes and lengths stand in two frames, where they are those of other columns too.
        for (documents, frames) in [(generated(16_384), 0), (nasty, 2)] {
            let most = dearest_of(&documents);
            assert!((1..=(CHUNK_BYTES + frames * (16 << 10)) as u64).contains(&most), "{most}");
        }
    }

    #[test]
    fn a_document_of_long_texts_takes_its_chunks_and_the_first_one_of_each_column() {
        // Sentences of words, of which each document has some in common with others.
        let text =
            |n: u64| (0..60).map(|at| format!("word{} ", n * 31 % 97 * at % 1_009)).collect::<String>();
        let documents: Vec<Vec<u8>> =
            (0..8_000).map(|n| format!("{{\"n\":{n},\"text\":\"{n} {}\"}}", text(n)).into_bytes()).collect();
        let lengths = 2 * documents.len();
        let most = dearest_of(&documents);
        // The first, and two where the text crosses from one to the next.
        assert!((CHUNK_BYTES as u64..=(3 * CHUNK_BYTES + lengths) as u64).contains(&most), "{most}");
    }
}
