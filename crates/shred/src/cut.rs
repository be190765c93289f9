//! What stands at a path as JSON text: the programs of the events' shapes are cut to it.

use crate::column::{ColumnValues, Written};
use crate::encoding::strings::Texts;
use crate::error::DecodeError;
use crate::group::GroupReader;
use crate::output::{Output, SLACK, Sink};
use crate::program::{Piece, Program};
use crate::render::{Elements, Renderer};
use crate::shape::{Leaf, Seen, Slot};
use crate::sites::Sites;
use crate::spans::{Spans, Spelling};
use crate::stride::Standing;

/// So many texts tell how long the others are, about.
const SAMPLE: usize = 256;

impl<'g> GroupReader<'g> {
    /// The values of all rows, or of some, as JSON text; none where some arrays would have to be passed over. Rows come in ascending order.
    pub(crate) fn json(
        &mut self,
        sites: &Sites,
        wanted: Option<&[u32]>,
    ) -> Result<Option<Texts<'static>>, DecodeError> {
        if let Some(texts) = self.texts_of_column(sites, wanted)? {
            return Ok(Some(texts));
        }
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
        let out = Output::new(directory.bytes);
        let around = if sites.list == 0 { None } else { Some(self.element_rows(sites.list)?) };
        let rows = Rows { list: sites.list, count: sites.rows, around: around.as_deref(), wanted };
        put_together(renderer, out, &rows, has_arrays).map(Some)
    }

    /// The same where all values are texts of one column without templates: nothing but quotes is put around them.
    fn texts_of_column(
        &mut self,
        sites: &Sites,
        wanted: Option<&[u32]>,
    ) -> Result<Option<Texts<'static>>, DecodeError> {
        let directory = self.group.directory();
        let mut of = sites.iter().map(|site| site.column.filter(|_| site.leaf == Some(Leaf::Text)));
        let Some(Some((column, _))) = of.next() else { return Ok(None) };
        let info = directory.columns.get(column as usize);
        if !of.all(|other| other.is_some_and(|(other, _)| other == column))
            || !info.is_some_and(|info| matches!(info.encoding, Written::Simple(_)))
        {
            return Ok(None);
        }
        let Some(strides) = self.strides(sites, &[column], 0, |_| None)? else { return Ok(None) };
        let mut left = directory.bytes;
        let spans = match self.values_for(&strides, column)? {
            ColumnValues::Simple(values) => Spans::of(values, Spelling::WhenTaken, &mut left)?,
            ColumnValues::Templated(_) => return Ok(None),
        };
        let Standing { rows, values } =
            strides.standing(self.codes(sites.list)?, sites.rows, |place| place)?;
        let mut having = (0..).zip(&values).map(|(nth, place)| {
            let row = rows.as_ref().map_or(Some(nth), |rows| rows.get(nth as usize).copied());
            (row.unwrap_or(u32::MAX), *place as usize)
        });
        let count = wanted.map_or(sites.rows, <[u32]>::len);
        let mut out = Output::new(directory.bytes);
        let mut ends = Vec::with_capacity(count);
        let mut next = having.next();
        for nth in 0..count as u32 {
            let row = wanted.and_then(|wanted| wanted.get(nth as usize)).map_or(nth, |row| *row);
            while let Some((own, place)) = next.filter(|(own, _)| *own <= row) {
                if own == row {
                    out.push(b"\"")?;
                    spans.append(place, &mut out)?;
                    out.push(b"\"")?;
                }
                next = having.next();
            }
            ends.push(out.len() as u32);
            if ends.len() == SAMPLE {
                out.make_room(out.len() / SAMPLE * count / 8 * 9);
            }
        }
        let mut bytes = out.into_bytes();
        bytes.shrink_to_fit();
        Ok(Some(Texts::of_parts(ends, bytes)))
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
    mut out: Output,
    rows: &Rows<'_>,
    has_arrays: bool,
) -> Result<Texts<'static>, DecodeError> {
    let count = rows.wanted.map_or(rows.count, <[u32]>::len);
    let mut ends = Vec::with_capacity(count);
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
            renderer.next(rows.list, &mut out)?;
        } else {
            renderer.pass(rows.list)?;
        }
        if is_wanted {
            ends.push(out.len() as u32);
            if ends.len() == SAMPLE {
                out.make_room(out.len() / SAMPLE * count / 8 * 9);
            }
        } else {
            out.shorten(ends.last().map_or(0, |end| *end as usize));
        }
        if ends.len() == count {
            break;
        }
    }
    let mut bytes = out.into_bytes();
    bytes.shrink_to_fit();
    Ok(Texts::of_parts(ends, bytes))
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
