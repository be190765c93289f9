//! What stands at a path as JSON text: the programs of the events' shapes are cut to it.

use crate::at::SomeTexts;
use crate::column::{ColumnValues, Written};
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, NO_COLUMN, NOT_AS_MANY};
use crate::group::GroupReader;
use crate::output::{Output, SLACK, Sink};
use crate::program::{Piece, Program};
use crate::render::{Elements, Renderer};
use crate::shape::{Leaf, Seen, Slot};
use crate::sites::{Site, Sites};
use crate::spans::{Spans, Spelling};
use crate::stride::Standing;

/// So many texts tell how long the others are, about.
const SAMPLE: usize = 256;

/// The texts of a path that all stand in one column without templates: nothing but quotes is put around them.
struct InColumn<'f> {
    columns: Vec<Column<'f>>,
    /// Where in the columns, which stand one behind the other, the value of each event stands that has one; behind all of them the place of what stands in none.
    standing: Standing<u32>,
    /// The most bytes that they may take.
    bytes_max: usize,
}

/// A column that values are taken from one by one.
struct Column<'f> {
    spans: Spans<'f>,
    /// The place of its first value.
    start: u32,
    is_text: bool,
}

impl InColumn<'_> {
    /// The texts of the rows that have one.
    fn all(self) -> Result<SomeTexts, DecodeError> {
        let Standing { rows, values } = self.standing;
        let mut writer = TextWriter::new(values.len(), self.bytes_max);
        for place in values {
            writer.write(&self.columns, place)?;
            writer.end();
        }
        Ok(SomeTexts { rows, texts: writer.finish() })
    }

    /// The texts of some rows, in ascending order; empty for one that has none.
    fn of(self, wanted: &[u32]) -> Result<Texts<'static>, DecodeError> {
        let Standing { rows, values } = self.standing;
        let mut having = (0..).zip(values).map(|(nth, place)| {
            let row = rows.as_ref().map_or(Some(nth), |rows| rows.get(nth as usize).copied());
            (row.unwrap_or(u32::MAX), place)
        });
        let mut writer = TextWriter::new(wanted.len(), self.bytes_max);
        let mut next = having.next();
        for row in wanted {
            while let Some((own, place)) = next.filter(|(own, _)| own <= row) {
                if own == *row {
                    writer.write(&self.columns, place)?;
                }
                next = having.next();
            }
            writer.end();
        }
        Ok(writer.finish())
    }
}

/// The place of a value that stands in no column, behind those of all columns.
fn place_of(constant: Leaf) -> Option<u32> {
    match constant {
        Leaf::Null => Some(u32::MAX),
        Leaf::True => Some(u32::MAX - 1),
        Leaf::False => Some(u32::MAX - 2),
        _ => None,
    }
}

/// The value of such a place.
#[inline]
fn constant_at(place: u32) -> Option<&'static [u8]> {
    match u32::MAX - place {
        0 => Some(b"null"),
        1 => Some(b"true"),
        2 => Some(b"false"),
        _ => None,
    }
}

/// Writes texts one after another.
pub(crate) struct TextWriter {
    out: Output,
    ends: Vec<u32>,
    count: usize,
}

impl TextWriter {
    /// For so many texts, of at most so many bytes together.
    pub(crate) fn new(count: usize, bytes_max: usize) -> TextWriter {
        TextWriter { out: Output::new(bytes_max), ends: Vec::with_capacity(count), count }
    }

    /// Appends the value of a place: texts between quotes.
    #[inline]
    fn write(&mut self, columns: &[Column<'_>], place: u32) -> Result<(), DecodeError> {
        if let Some(constant) = constant_at(place) {
            return self.out.push(constant);
        }
        let column = columns.iter().rev().find(|column| column.start <= place).ok_or(NO_COLUMN)?;
        let place = (place - column.start) as usize;
        if !column.is_text {
            return column.spans.append(place, &mut self.out);
        }
        self.out.push(b"\"")?;
        column.spans.append(place, &mut self.out)?;
        self.out.push(b"\"")
    }

    /// Appends a text as it is.
    pub(crate) fn push(&mut self, text: &[u8]) -> Result<(), DecodeError> {
        self.out.push(text)
    }

    /// Ends a text.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.ends.push(self.out.len() as u32);
        if self.ends.len() == SAMPLE {
            self.out.make_room(self.out.len() / SAMPLE * self.count / 8 * 9);
        }
    }

    /// Forgets what was appended since a text ended last.
    fn forget(&mut self) {
        self.out.shorten(self.ends.last().map_or(0, |end| *end as usize));
    }

    pub(crate) fn finish(self) -> Texts<'static> {
        let mut bytes = self.out.into_bytes();
        bytes.shrink_to_fit();
        Texts::of_parts(self.ends, bytes)
    }
}

impl<'g> GroupReader<'g> {
    /// The values of a path as JSON text; none where some arrays would have to be passed over.
    pub(crate) fn texts_at(&mut self, sites: &Sites) -> Result<Option<SomeTexts>, DecodeError> {
        if let Some(in_column) = self.in_column(sites)? {
            return in_column.all().map(Some);
        }
        let texts = self.json(sites, None)?;
        Ok(texts.map(|texts| SomeTexts { rows: None, texts }))
    }

    /// The same of some rows, in ascending order; empty for one that has nothing.
    pub(crate) fn texts_at_rows(
        &mut self,
        sites: &Sites,
        wanted: &[u32],
    ) -> Result<Option<Texts<'static>>, DecodeError> {
        match self.in_column(sites)? {
            Some(in_column) => in_column.of(wanted).map(Some),
            None => self.json(sites, Some(wanted)),
        }
    }

    /// The same of all rows, or of some, by the programs of their shapes.
    fn json(&mut self, sites: &Sites, wanted: Option<&[u32]>) -> Result<Option<Texts<'static>>, DecodeError> {
        let group = self.group;
        let directory = group.directory();
        let (paths, places) = (&directory.paths, group.places());
        // The programs of the shapes whose values are asked for are cut to what stands at the path; those of elements inside are whole.
        let mut programs = Vec::with_capacity(directory.shapes.len());
        for shape in directory.shapes.iter() {
            programs.push((shape, 0..0));
        }
        for (shape, site) in group.shapes_of(sites.list).iter().zip(&sites.by_code) {
            if let (Some((_, range)), Some(site)) = (programs.get_mut(*shape as usize), site) {
                *range = site.tokens.clone();
            }
        }
        let mut needed = Needed::of(directory.columns.len(), directory.lists.len());
        let own = group.shapes_of(sites.list);
        let mut cut: Vec<Option<Program>> = vec![None; directory.shapes.len()];
        // All shapes together are no longer than the documents.
        let (mut literals, mut seen) = (directory.bytes, Seen::default());
        for shape in own {
            let Some((tokens, range)) = programs.get(*shape as usize) else { continue };
            let program = Program::part(tokens, range.clone(), paths, places, literals, &mut seen)?;
            literals = literals.saturating_sub(program.literals.len());
            needed.add(&program);
            if let Some(place) = cut.get_mut(*shape as usize) {
                *place = Some(program);
            }
        }
        while let Some(list) = needed.next_list() {
            for shape in group.shapes_of(list) {
                let Some((tokens, _)) = programs.get(*shape as usize) else { continue };
                let program = Program::of(tokens, paths, places, literals, &mut seen)?;
                literals = literals.saturating_sub(program.literals.len());
                needed.add(&program);
                if let Some(place) = cut.get_mut(*shape as usize) {
                    *place = Some(program);
                }
            }
        }
        let mut of_rows = own.iter().filter_map(|shape| cut.get(*shape as usize)?.as_ref());
        if of_rows.any(|program| needed.passes_over(program)) {
            return Ok(None);
        }
        if sites.list != 0 {
            // Templates of elements may refer to values of the documents around them, which move on with these.
            for shape in group.shapes_of(0) {
                let Some((tokens, _)) = programs.get(*shape as usize) else { continue };
                if let Some(place) = cut.get_mut(*shape as usize) {
                    *place = Some(Program::part(tokens, 0..0, paths, places, literals, &mut seen)?);
                }
            }
        }
        let mut empty = || Program::part(&[], 0..0, paths, places, 0, &mut seen);
        let programs = cut.into_iter().map(|program| program.map_or_else(&mut empty, Ok));
        let mut programs = programs.collect::<Result<Vec<Program>, DecodeError>>()?;
        let columns = self.needed_columns(&mut needed.columns)?;
        // What is not read need not move on.
        for program in &mut programs {
            let is_needed = |(of, _): &(u32, u32), needed: &[bool]| needed.get(*of as usize) == Some(&true);
            program.layout.columns.retain(|column| is_needed(column, &needed.columns));
            program.layout.lists.retain(|list| is_needed(list, &needed.lists));
            // So that quotes are copied by instructions of a fixed length.
            program.literals.extend_from_slice(&[0; SLACK]);
        }
        let mut left = directory.bytes;
        let columns = columns.into_iter().map(|values| values.ready(Spelling::WhenTaken, &mut left));
        let columns = columns.collect::<Result<Vec<_>, DecodeError>>()?;
        let mut lists = vec![Elements::default(); directory.lists.len()];
        for (list, place) in lists.iter_mut().enumerate() {
            if list == 0 || list == sites.list || needed.lists.get(list).is_some_and(|needed| *needed) {
                *place = self.list(list)?;
            }
        }
        // Elements of arrays are not counted without going through them.
        let has_arrays = needed.lists.contains(&true);
        let renderer = Renderer::new(&programs, &columns, &lists, directory.bytes);
        let around = if sites.list == 0 { None } else { Some(self.element_rows(sites.list)?) };
        let rows = Rows { list: sites.list, count: sites.rows, around: around.as_deref(), wanted };
        put_together(renderer, directory.bytes, &rows, has_arrays).map(Some)
    }

    /// The texts of a path, where all values are null, Booleans, or those of few columns without templates.
    fn in_column(&mut self, sites: &Sites) -> Result<Option<InColumn<'g>>, DecodeError> {
        let directory = self.group.directory();
        let is_told = |site: &Site| site.column.is_some() || site.leaf.and_then(place_of).is_some();
        let columns = sites.columns();
        let info = |column: &u32| directory.columns.get(*column as usize).ok_or(NO_COLUMN);
        for column in &columns {
            let info = info(column)?;
            if !matches!(info.encoding, Written::Simple(_)) || info.kind == Leaf::Json {
                return Ok(None);
            }
        }
        if !sites.iter().all(is_told) {
            return Ok(None);
        }
        let Some(strides) = self.strides(sites, &columns, 0, place_of)? else { return Ok(None) };
        let bytes_max = directory.bytes;
        let (mut left, mut start, mut taken) = (bytes_max, 0, Vec::with_capacity(columns.len()));
        for column in &columns {
            let info = info(column)?;
            let spans = match self.values_for(&strides, *column)? {
                ColumnValues::Simple(values) => Spans::of(values, Spelling::WhenTaken, &mut left)?,
                ColumnValues::Templated(_) => return Ok(None),
            };
            taken.push(Column { spans, start, is_text: info.kind == Leaf::Text });
            start += info.count as u32;
        }
        let standing = strides.standing(self.codes(sites.list)?, sites.rows, |place| place)?;
        if standing.rows.is_none() && standing.values.len() != sites.rows {
            return Err(NOT_AS_MANY);
        }
        Ok(Some(InColumn { columns: taken, standing, bytes_max }))
    }

    /// The values of some columns and of those that their templates refer to, which are needed too; the others are empty.
    pub(crate) fn needed_columns(
        &mut self,
        needed: &mut [bool],
    ) -> Result<Vec<ColumnValues<'g>>, DecodeError> {
        let mut columns: Vec<ColumnValues<'g>> = needed.iter().map(|_| ColumnValues::default()).collect();
        // Templates refer to columns before their own only.
        for column in (0..needed.len()).rev() {
            if !needed.get(column).is_some_and(|needed| *needed) {
                continue;
            }
            let values = self.column(column)?;
            if let ColumnValues::Templated(templated) = &values {
                for reference in templated.references() {
                    if let Some(needed) = needed.get_mut(reference as usize) {
                        *needed = true;
                    }
                }
            }
            if let Some(place) = columns.get_mut(column) {
                *place = values;
            }
        }
        Ok(columns)
    }
}

/// The rows whose texts are put together.
struct Rows<'r> {
    list: usize,
    count: usize,
    /// Of each element the document around it.
    around: Option<&'r [u32]>,
    /// Those that are asked for; none where all are.
    wanted: Option<&'r [u32]>,
}

/// The texts of all rows, or of some.
fn put_together(
    mut renderer: Renderer<'_, '_>,
    bytes_max: usize,
    rows: &Rows<'_>,
    has_arrays: bool,
) -> Result<Texts<'static>, DecodeError> {
    let count = rows.wanted.map_or(rows.count, <[u32]>::len);
    let mut writer = TextWriter::new(count, bytes_max);
    let mut wanted = rows.wanted.map(|rows| rows.iter().copied().peekable());
    let mut document = 0;
    for row in 0..rows.count as u32 {
        let around = rows.around.and_then(|around| around.get(row as usize)).copied();
        while around.is_some_and(|around| document < around) {
            renderer.pass(0)?;
            document += 1;
        }
        let is_wanted = match &mut wanted {
            None => true,
            Some(wanted) => wanted.next_if_eq(&row).is_some(),
        };
        if is_wanted || has_arrays {
            renderer.next(rows.list, &mut writer.out)?;
        } else {
            renderer.pass(rows.list)?;
        }
        if is_wanted {
            writer.end();
        } else {
            writer.forget();
        }
        if writer.ends.len() == count {
            break;
        }
    }
    Ok(writer.finish())
}

/// What programs need.
struct Needed {
    columns: Vec<bool>,
    lists: Vec<bool>,
    unseen: Vec<usize>,
}

impl Needed {
    fn of(columns: usize, lists: usize) -> Needed {
        Needed { columns: vec![false; columns], lists: vec![false; lists], unseen: Vec::new() }
    }

    fn add(&mut self, program: &Program) {
        for piece in &program.pieces {
            match piece.slot {
                None => {}
                Some(Slot::Column { column, .. }) => {
                    if let Some(needed) = self.columns.get_mut(column as usize) {
                        *needed = true;
                    }
                }
                Some(Slot::Array { list, .. }) => {
                    if let Some(needed) = self.lists.get_mut(list as usize)
                        && !std::mem::replace(needed, true)
                    {
                        self.unseen.push(list as usize);
                    }
                }
            }
        }
    }

    /// Whether a program of events leaves out arrays of a list that is needed: which are found one after another.
    fn passes_over(&self, program: &Program) -> bool {
        let is_of =
            |piece: &&Piece, of: u32| matches!(piece.slot, Some(Slot::Array { list, .. }) if list == of);
        program.layout.lists.iter().any(|(list, count)| {
            let put = program.pieces.iter().filter(|piece| is_of(piece, *list)).count();
            self.lists.get(*list as usize).is_some_and(|needed| *needed) && put != *count as usize
        })
    }

    fn next_list(&mut self) -> Option<usize> {
        self.unseen.pop()
    }
}
