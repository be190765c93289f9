//! Reading a group: its directory, single columns, and its documents.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;

use crate::arrivals::Arrivals;
use crate::column::{Column, ColumnValues, Encoding, Ready, Written};
use crate::directory::{Directory, List, Unread};
use crate::encoded::Event;
use crate::encoding::ints::Ints;
use crate::encoding::simple::Simple;
use crate::encoding::{Window, dictionary};
use crate::error::{DecodeError, NOT_AS_MANY, malformed};
use crate::frame::{FrameReader, Frames, Part};
use crate::grouping::{self, ByShape};
use crate::output::{Comparison, Output, SLACK, Sink};
use crate::path::ROOT;
use crate::program::{Census, Places, Program};
use crate::render::{Elements, Renderer};
use crate::shape::{Leaf, Seen};
use crate::spans::Spelling;

/// A group's directory, read and checked. Frames are read on demand.
#[derive(Debug)]
pub struct Group {
    directory: Unread,
    places: Places,
    /// For each list the shapes that its elements may have, by code.
    by_code: Vec<Vec<u32>>,
    /// Made when a column is read that is stored by shape, or a single document.
    census: OnceLock<Census>,
    /// Whether each object has its keys once, and no document is kept as text, once that was asked.
    pub(crate) keys_come_once: OnceLock<bool>,
}

impl Group {
    /// Reads a directory. Takes time and memory linear in its unpacked length, which is at most 64 MiB.
    ///
    /// # Errors
    /// [`DecodeError::DirectoryChecksum`] if the bytes are damaged, [`DecodeError::Malformed`] if they are not a directory.
    pub fn open(directory: &[u8]) -> Result<Group, DecodeError> {
        let directory = Unread::open(directory)?;
        let places = Places::of(&directory)?;
        let mut by_code = vec![Vec::new(); directory.lists.len()];
        for (shape, tokens) in (0..).zip(directory.shapes.iter()) {
            let list = places.list(tokens).ok_or(malformed("a shape of no list"))?;
            by_code.get_mut(list as usize).ok_or(malformed("a shape of no list"))?.push(shape);
        }
        Ok(Group { directory, places, by_code, census: OnceLock::new(), keys_come_once: OnceLock::new() })
    }

    /// The number of events.
    pub fn events(&self) -> usize {
        self.directory.events
    }

    /// The total size of all documents in bytes.
    pub fn document_bytes(&self) -> usize {
        self.directory.bytes
    }

    /// What the directory takes in memory, in bytes, about.
    pub fn held_bytes(&self) -> usize {
        let Directory { frames, paths, columns, lists, shapes, .. } = &*self.directory;
        let by_code: usize =
            self.by_code.iter().map(|shapes| size_of_val(shapes) + 4 * shapes.capacity()).sum();
        size_of::<Group>()
            + size_of_val(frames.as_slice())
            + paths.held_bytes()
            + size_of_val(columns.as_slice())
            + self.directory.beside_bytes()
            + size_of_val(lists.as_slice())
            + shapes.held_bytes()
            + self.places.held_bytes()
            + by_code
    }

    /// What was made of it so far, as columns were read, takes in memory, in bytes.
    pub fn made_bytes(&self) -> usize {
        self.census.get().map_or(0, Census::held_bytes) + self.directory.made_bytes()
    }

    /// Whether a frame is read for one column alone, or for the times alone, as far as is known without templates: once that is made of it, hardly anything else will be.
    pub fn is_of_one(&self, frame: u32) -> bool {
        self.directory.is_of_one(frame)
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.directory.frames.len()
    }

    /// Information about each column, in the order of their numbers.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = ColumnInfo> {
        // What several columns share is the first one's.
        let mut counted = HashSet::new();
        self.directory.columns.iter().map(move |column| {
            // Of templates that cannot be read nothing is known.
            let encoding = self.directory.encoding(column).ok();
            ColumnInfo {
                path: self.directory.paths.display(column.path),
                kind: column.kind,
                encoding: encoding.as_ref().map_or("", Encoding::name),
                values: column.count,
                stored: encoding.map_or(0.0, |encoding| match encoding {
                    // What it consists of is others'.
                    Encoding::Simple(Simple::Difference(_)) => 0.0,
                    encoding => {
                        let mut parts = encoding.parts();
                        parts.retain(|part| counted.insert(*part));
                        self.stored(&parts)
                    }
                }),
            }
        })
    }

    /// The paths with at least some values in a frame, in order, including paths of texts whose templates refer to such values; not that of the
    /// documents themselves, for which see [`has_shapes_in`](Group::has_shapes_in). Takes time linear in the length of the directory.
    pub fn paths_in(&self, frame: u32) -> Vec<String> {
        let directory = &self.directory;
        let columns =
            directory.columns.iter().filter(|column| column.path != ROOT && self.is_in(column, frame));
        let own = |list: &&List| {
            let mut parts = [&list.lengths, &list.codes].into_iter().filter_map(Ints::part);
            list.path != ROOT && parts.any(|part| part.frame == frame)
        };
        let lists = directory.lists.iter().filter(own).map(|list| list.path);
        let mut paths: Vec<u32> = columns.map(|column| column.path).chain(lists).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter().map(|path| directory.paths.display(path)).collect()
    }

    /// Whether a frame holds documents that are kept as text.
    pub fn has_whole_documents_in(&self, frame: u32) -> bool {
        self.directory.columns.iter().any(|column| column.path == ROOT && self.is_in(column, frame))
    }

    /// Whether a frame holds anything of a column.
    fn is_in(&self, column: &Column<Written>, frame: u32) -> bool {
        let encoding = self.directory.encoding(column);
        encoding.is_ok_and(|encoding| encoding.parts().iter().any(|part| part.frame == frame))
    }

    /// Whether a frame holds what tells which keys each event has: without it, hardly any value finds its event.
    pub fn has_shapes_in(&self, frame: u32) -> bool {
        let documents = self.directory.lists.first();
        documents.and_then(|documents| documents.codes.part()).is_some_and(|part| part.frame == frame)
    }

    /// Whether a frame holds any of the events' instants or arrival numbers.
    pub fn has_times_in(&self, frame: u32) -> bool {
        self.frames_of_times().any(|own| own == frame)
    }

    /// The frames that hold the events' instants and arrival numbers.
    pub fn frames_of_times(&self) -> impl Iterator<Item = u32> {
        let Directory { instants, arrivals, .. } = &*self.directory;
        [&instants.multiples, arrivals].into_iter().filter_map(Ints::part).map(|part| part.frame)
    }

    /// The stored size of parts: in a compressed frame, their share of it.
    fn stored(&self, parts: &[Part]) -> f64 {
        let stored = |part: &Part| {
            let frame = self.directory.frames.get(part.frame as usize);
            frame.map_or(0.0, |frame| {
                f64::from(part.length) * f64::from(frame.stored) / f64::from(frame.length.max(1))
            })
        };
        parts.iter().map(stored).sum()
    }

    pub(crate) fn directory(&self) -> &Unread {
        &self.directory
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// The shapes that the elements of a list may have, by code.
    pub(crate) fn shapes_of(&self, list: usize) -> &[u32] {
        self.by_code.get(list).map_or(&[], Vec::as_slice)
    }

    /// How many values and arrays each shape has.
    pub(crate) fn census(&self) -> &Census {
        self.census.get_or_init(|| self.places.census(&self.directory, &self.by_code))
    }

    /// The program of each shape.
    pub(crate) fn programs(&self) -> Result<Vec<Program>, DecodeError> {
        let directory = &self.directory;
        let mut programs = Vec::with_capacity(directory.shapes.len());
        // Each shape is that of a document, or of a part of one: its literals are no longer.
        let mut left = directory.bytes;
        let mut seen = Seen::default();
        for shape in directory.shapes.iter() {
            let mut program = Program::of(shape, &directory.paths, &self.places, left, &mut seen)?;
            let rest = left.checked_sub(program.literals.len());
            left = rest.ok_or(malformed("shapes longer than the documents"))?;
            // So that short literals are copied and compared by instructions of a fixed length.
            program.literals.extend_from_slice(&[0; SLACK]);
            programs.push(program);
        }
        Ok(programs)
    }

    /// A reader of the group's columns and documents, which gets the frames from `frames`.
    pub fn read<'g>(&'g self, frames: &'g dyn Frames) -> GroupReader<'g> {
        let frames = FrameReader::new(&self.directory.frames, frames);
        let codes = ShapeCodes::default();
        GroupReader {
            group: self,
            frames,
            instants: None,
            codes,
            by_shape: HashMap::default(),
            places: HashMap::default(),
            places_left: KEPT_PLACES_MAX,
        }
    }
}

/// Information about a column, from the directory.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnInfo {
    /// Its path: keys separated by dots, `[]` for elements of arrays. A key that is empty, or has a dot, a bracket or a quote, is quoted.
    pub path: String,
    /// The kind of its values.
    pub kind: Leaf,
    /// The name of its encoding.
    pub encoding: &'static str,
    /// The number of its values.
    pub values: usize,
    /// Its stored size in bytes; in a frame with several columns, its share. What it has in common with a column before it is not counted again.
    pub stored: f64,
}

/// The documents of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Documents {
    /// Documents one after another, and where each ends.
    pub(crate) fn of_parts(bytes: Vec<u8>, ends: Vec<u32>) -> Documents {
        Documents { bytes, ends }
    }

    /// The bytes of all documents, and where each ends.
    pub fn into_parts(self) -> (Vec<u8>, Vec<u32>) {
        (self.bytes, self.ends)
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all documents, one after another without separators.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The document at a row, counted from 0; `None` beyond the last.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let end = *self.ends.get(row)?;
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.bytes.get(start as usize..end as usize)
    }

    /// The documents in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|row| self.get(row).unwrap_or_default())
    }
}

/// When the events of a group happened, in ticks of 100 ns since the year 1, and in which order they came. Each number has its lowest byte first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTimes {
    /// The instant of each event.
    pub instants: Vec<[u8; 8]>,
    /// The arrival numbers.
    pub arrivals: Arrivals<Vec<[u8; 8]>>,
}

/// Which shapes the events of a group have, and the elements of its arrays, as far as a reader has read it: as good as each path asks for it, so the next reader had better
/// be given it. Four bytes for each event.
#[derive(Debug, Default)]
pub struct ShapeCodes {
    /// Of each list, by code.
    lists: Vec<Option<Vec<u32>>>,
}

/// Reads columns and documents of a group. Frames are read on demand, and verified at their first use.
pub struct GroupReader<'g> {
    pub(crate) group: &'g Group,
    pub(crate) frames: FrameReader<'g>,
    instants: Option<Vec<i64>>,
    codes: ShapeCodes,
    /// The elements of lists by shape, for columns that few of them have.
    by_shape: HashMap<usize, ByShape, FixedState>,
    /// Where the values of columns stand that are stored by shape, as documents that are read one by one asked for it, and how many more are kept.
    places: HashMap<usize, Arc<[u32]>, FixedState>,
    places_left: usize,
}

/// Of so many values a reader keeps where they stand: four bytes for each.
const KEPT_PLACES_MAX: usize = 1 << 20;

impl<'g> GroupReader<'g> {
    /// The same with what another reader of this very group has read of shapes.
    pub fn with_codes(self, codes: ShapeCodes) -> GroupReader<'g> {
        GroupReader { codes, ..self }
    }

    /// What was read of shapes.
    pub fn into_codes(self) -> ShapeCodes {
        self.codes
    }

    /// The instant of each event, in ticks of 100 ns since the year 1.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn instants(&mut self) -> Result<Vec<u64>, DecodeError> {
        let instants = match self.instants.take() {
            Some(known) => known,
            None => self.group.directory.instants(&mut self.frames)?,
        };
        Ok(instants.into_iter().map(i64::cast_unsigned).collect())
    }

    fn own_instants(&mut self) -> Result<&[i64], DecodeError> {
        if self.instants.is_none() {
            self.instants = Some(self.group.directory.instants(&mut self.frames)?);
        }
        Ok(self.instants.as_deref().unwrap_or_default())
    }

    /// The arrival number of each event.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn arrivals(&mut self) -> Result<Vec<u64>, DecodeError> {
        let directory = &self.group.directory;
        let arrivals = directory.arrivals.decode(Window::whole(directory.events), &mut self.frames)?;
        Ok(arrivals.into_iter().map(i64::cast_unsigned).collect())
    }

    /// The instants and the arrival numbers.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn times(&mut self) -> Result<EventTimes, DecodeError> {
        let directory = &self.group.directory;
        let arrivals = directory.arrivals.decode(Window::whole(directory.events), &mut self.frames)?;
        let arrivals = Arrivals::new(&arrivals);
        let instants = self.own_instants()?.iter().map(|instant| instant.to_le_bytes()).collect();
        Ok(EventTimes { instants, arrivals })
    }

    /// The values of a column.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn column(&mut self, column: usize) -> Result<ColumnValues<'g>, DecodeError> {
        let count = self.group.directory.columns.get(column).map_or(0, |column| column.count);
        self.window(column, Window::whole(count))
    }

    /// Some values of a column.
    pub(crate) fn window(&mut self, column: usize, window: Window) -> Result<ColumnValues<'g>, DecodeError> {
        let group = self.group;
        let info = group.directory.columns.get(column).ok_or(DecodeError::OutOfRange { what: "column" })?;
        let encoding = group.directory.encoding(info)?;
        if encoding.needs_instants() {
            self.own_instants()?;
        }
        let places = if info.grouped { Some(self.kept_places(column, info, window)?) } else { None };
        let instants = self.instants.as_deref().unwrap_or_default();
        encoding.decode(window, instants, places.as_deref(), &mut self.frames)
    }

    /// The values of a column in the order in which they are stored.
    pub(crate) fn column_as_stored(&mut self, column: usize) -> Result<ColumnValues<'g>, DecodeError> {
        let group = self.group;
        let Some(info) = group.directory.columns.get(column).filter(|info| info.is_by_shape()) else {
            return self.column(column);
        };
        let encoding = group.directory.encoding(info)?;
        encoding.decode(Window::whole(info.count), &[], None, &mut self.frames)
    }

    /// The same, kept for the next document where the window is that of one.
    fn kept_places(
        &mut self,
        column: usize,
        info: &Column<Written>,
        window: Window,
    ) -> Result<Arc<[u32]>, DecodeError> {
        if let Some(places) = self.places.get(&column) {
            return Ok(places.clone());
        }
        let places: Arc<[u32]> = self.value_places(column, info.path)?.into();
        if window != Window::whole(info.count)
            && let Some(left) = self.places_left.checked_sub(places.len())
        {
            self.places_left = left;
            self.places.insert(column, places.clone());
        }
        Ok(places)
    }

    /// Where the values of a column stand that are stored by shape.
    pub(crate) fn value_places(&mut self, column: usize, path: u32) -> Result<Vec<u32>, DecodeError> {
        const NO_LIST: DecodeError = malformed("a column of no list");
        let group = self.group;
        let list = group.places.list_of(path, &group.directory.paths).ok_or(NO_LIST)? as usize;
        let shapes = group.shapes_of(list).len();
        let counts = group.census().column(column).ok_or(NO_LIST)?;
        let total = group.directory.columns.get(column).map_or(0, |column| column.count);
        let codes = self.codes(list)?;
        if grouping::are_few(total, codes.len() + shapes) {
            let by_shape = match self.by_shape.get(&list) {
                Some(by_shape) => by_shape,
                None => {
                    let by_shape = ByShape::of(self.codes(list)?, shapes);
                    self.by_shape.entry(list).or_insert(by_shape)
                }
            };
            return by_shape.places(counts, total).ok_or(NOT_AS_MANY);
        }
        grouping::places(codes.iter().copied(), counts, shapes, total).ok_or(NOT_AS_MANY)
    }

    /// The shape of each element of a list, by code.
    pub(crate) fn codes(&mut self, list: usize) -> Result<&[u32], DecodeError> {
        let known = &mut self.codes.lists;
        if known.is_empty() {
            *known = vec![None; self.group.directory.lists.len()];
        }
        if known.get(list).is_some_and(Option::is_none) {
            let group = self.group;
            let info = group.directory.lists.get(list).ok_or(DecodeError::OutOfRange { what: "list" })?;
            let (window, shapes) = (Window::whole(info.elements), group.shapes_of(list).len());
            known[list] = Some(dictionary::codes(&info.codes, window, None, shapes, &mut self.frames)?);
        }
        known.get(list).and_then(Option::as_deref).ok_or(DecodeError::OutOfRange { what: "list" })
    }

    /// The lengths of a list's arrays.
    pub(crate) fn lengths(&mut self, list: usize) -> Result<Vec<i64>, DecodeError> {
        let list = self.group.directory.lists.get(list);
        let list = list.ok_or(DecodeError::OutOfRange { what: "list" })?;
        list.lengths.decode(Window::whole(list.arrays), &mut self.frames)
    }

    /// A list's lengths and shapes.
    pub(crate) fn list(&mut self, list: usize) -> Result<Elements, DecodeError> {
        let group = self.group;
        let lengths = self.lengths(list)?;
        let by_code = group.shapes_of(list);
        let codes = self.codes(list)?;
        let shapes =
            codes.iter().map(|code| by_code.get(*code as usize).copied().unwrap_or_default()).collect();
        Ok(Elements { lengths, shapes, is_lost: false })
    }

    /// All documents, in order.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn documents(&mut self) -> Result<Documents, DecodeError> {
        Ok(self.put_together(None)?.0)
    }

    /// All documents, and where the values of a column stand in them.
    pub(crate) fn put_together(
        &mut self,
        column: Option<usize>,
    ) -> Result<(Documents, Vec<(u32, u32)>), DecodeError> {
        let mut out = Output::with_room(self.group.directory.bytes);
        let mut ends = Vec::with_capacity(self.group.directory.events);
        let noted = self.each(&mut out, column, |out| ends.push(out.len() as u32))?;
        if !out.is_full() {
            return Err(malformed("its documents are not what it says"));
        }
        Ok((Documents { bytes: out.into_bytes(), ends }, noted))
    }

    /// The rows of the documents that differ from those of the events. No document is built: its pieces are compared in place.
    ///
    /// # Errors
    /// See [`DecodeError`]; also if the numbers of documents and events differ.
    pub(crate) fn differing(&mut self, events: &[Event<'_>]) -> Result<Vec<usize>, DecodeError> {
        if self.group.events() != events.len() {
            return Err(malformed("more documents than events, or fewer"));
        }
        let document = |row: usize| events.get(row).map_or(&[][..], |event| event.document);
        let (mut row, mut rows) = (0, Vec::new());
        let mut comparison = Comparison::with(document(0));
        self.each(&mut comparison, None, |comparison| {
            if !comparison.is_equal() {
                rows.push(row);
            }
            row += 1;
            *comparison = Comparison::with(document(row));
        })?;
        Ok(rows)
    }

    /// Puts each document together, and calls after each.
    fn each<S: Sink>(
        &mut self,
        out: &mut S,
        column: Option<usize>,
        mut after: impl FnMut(&mut S),
    ) -> Result<Vec<(u32, u32)>, DecodeError> {
        let directory = &self.group.directory;
        let programs = self.group.programs()?;
        // Twice what it says, as of the documents: the encoder is to learn which one differs.
        let mut left = 2 * directory.bytes;
        let columns: Vec<Ready<'g>> = (0..directory.columns.len())
            .map(|column| self.column(column)?.ready(Spelling::Before, &mut left))
            .collect::<Result<_, _>>()?;
        let lists: Vec<Elements> =
            (0..directory.lists.len()).map(|list| self.list(list)).collect::<Result<_, _>>()?;
        let mut renderer = Renderer::new(&programs, &columns, &lists, directory.bytes).noting(column);
        for _ in 0..directory.events {
            renderer.next(0, out)?;
            after(out);
        }
        if !renderer.is_done() {
            return Err(malformed("its documents are not what it says"));
        }
        Ok(renderer.noted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use crate::encode::encode;
    use crate::frame::FrameWriter;
    use crate::path::{OwnedKey, Step};

    /// An array of elements of two shapes with columns of 16 values, and many of no key.
    fn few_among(others: usize) -> String {
        let shape = |value: u32, more: &str| format!(r#"{{"a":{value},"b":{value}{more}}}"#);
        let elements = vec![[shape(1, ""), shape(2, r#","c":3"#)].join(","); 8].join(",");
        format!(r#"{{"x":[{elements}{}]}}"#, ",{}".repeat(others))
    }

    fn grouped(encoded: &crate::Encoded) -> usize {
        let group = Group::open(&encoded.directory).unwrap();
        group.directory.columns.iter().filter(|column| column.grouped).count()
    }

    #[test]
    fn few_values_among_many_elements_are_not_stored_by_shape() {
        for (others, by_shape) in [(16, 2), (1_000, 0)] {
            let document = few_among(others);
            let event = Event { instant: 0, arrival: 0, document: document.as_bytes() };
            assert_eq!(grouped(&encode(&[event]).unwrap()), by_shape, "{others}");
        }
    }

    #[test]
    fn few_values_by_shape_are_read_by_the_elements_alone_that_have_them() {
        let document = few_among(1_000).replace(":2", ":1");
        let event = Event { instant: 0, arrival: 0, document: document.as_bytes() };
        let encoded = encode(&[event]).unwrap();
        // What encoders did before.
        let mut directory = Directory::read(&encoded.directory).unwrap();
        directory.columns.iter_mut().for_each(|column| column.grouped = true);
        let directory = directory.write(&mut FrameWriter::new().unwrap()).unwrap();
        let group = Group::open(&directory).unwrap();
        let mut reader = group.read(&encoded.frames);
        assert_eq!(reader.documents().unwrap().get(0), Some(document.as_bytes()));
        assert_eq!(reader.by_shape.len(), 1, "the elements are put in order once, for all columns");
    }

    #[test]
    fn thousands_of_keys_are_counted_by_what_they_take() {
        let members: Vec<String> = (0..10_000).map(|n| format!(r#""key number {n}":1"#)).collect();
        let document = format!("{{{}}}", members.join(","));
        let event = Event { instant: 0, arrival: 0, document: document.as_bytes() };
        let encoded = encode(&[event]).unwrap();
        let held = Group::open(&encoded.directory).unwrap().held_bytes();
        // A column, a path with its key, and a token of each at least.
        let each = size_of::<Column<Written>>() + size_of::<(u32, Step<OwnedKey>)>() + 8;
        assert!((10_000 * each..10_000 * 3 * each).contains(&held), "{held}");
        assert!(held > 10 * encoded.directory.len());
    }
}
