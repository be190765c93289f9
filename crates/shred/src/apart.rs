//! Takes the texts at a path apart, as they are stored: templates, and the values that fill their holes.

use crate::column::{Ready, Written};
use crate::encoding::templates::{Filling, ReadyTemplates};
use crate::error::DecodeError;
use crate::group::{Group, GroupReader};
use crate::limits::SHAPES_MAX;
use crate::output::SLACK;
use crate::pieces::{
    MISSING_VALUE, PlacedColumn, PlacedHole, PlacedTemplate, PlacedTemplates, TOO_MANY_HOLES, TextPieces, Way,
};
use crate::shape::Leaf;
use crate::sites::{Site, Sites};
use crate::spans::Spelling;

impl Group {
    /// Whether the values at a path of keys come in [pieces](crate::AtPath::Pieces), which tell how long they are without being put together. Takes time linear
    /// in the tokens of all shapes.
    pub fn is_in_pieces(&self, keys: &[&str]) -> bool {
        self.sites(0, keys).is_some_and(|sites| self.templates_of(&sites).is_some())
    }

    /// The one column of templates that has all texts of a path.
    fn templates_of(&self, sites: &Sites) -> Option<usize> {
        let text = |site: &Site| Some(site.column.filter(|_| site.leaf == Some(Leaf::Text))?.0);
        let mut of = sites.iter().map(text);
        let column = of.next()?? as usize;
        let is_only = of.all(|other| other.is_some_and(|other| other as usize == column));
        let info = self.directory().columns.get(column)?;
        let is_templated = matches!(info.encoding, Written::Templates(_));
        (sites.list == 0 && is_only && is_templated).then_some(column)
    }
}

impl GroupReader<'_> {
    /// The texts of a path, if they are those of one column of templates.
    pub(crate) fn pieces(&mut self, sites: &Sites) -> Result<Option<TextPieces>, DecodeError> {
        let group = self.group;
        let directory = group.directory();
        let Some(column) = group.templates_of(sites) else { return Ok(None) };
        let mut needed = vec![false; column];
        needed.push(true);
        let values = self.needed_columns(&mut needed)?;
        let mut left = directory.bytes;
        // The columns that are needed have numbers of their own.
        let mut numbers = vec![usize::MAX; needed.len()];
        let mut ready = Vec::new();
        for (column, values) in values.into_iter().enumerate().filter(|(column, _)| needed[*column]) {
            numbers[column] = ready.len();
            ready.push(values.ready(Spelling::WhenTaken, &mut left)?);
        }
        let counts: Vec<usize> = ready.iter().map(Ready::len).collect();
        let mut columns = Vec::with_capacity(ready.len());
        for ready in ready {
            columns.push(match ready {
                Ready::Texts(spans) => PlacedColumn::Values(spans.into_owned()),
                Ready::Templated(templated) => {
                    PlacedColumn::Templates(PlacedTemplates::of(templated, &numbers)?)
                }
                Ready::Lost(_) => return Ok(None),
            });
        }
        // What fills a hole is a byte at least.
        let holes = columns.iter().map(|column| match column {
            PlacedColumn::Values(_) => 0,
            PlacedColumn::Templates(templates) => templates.holes(),
        });
        if holes.fold(0, usize::saturating_add) > directory.bytes {
            return Err(TOO_MANY_HOLES);
        }
        let mut ways = vec![Way::default(); group.shapes_of(0).len()];
        for (column, number) in numbers.iter().enumerate().filter(|(_, number)| **number != usize::MAX) {
            let path = directory.columns.get(column).map_or(0, |column| column.path);
            if group.places().list_of(path, &directory.paths) != Some(0) {
                return Ok(None);
            }
            for (code, count) in group.census().columns.get(column).into_iter().flatten() {
                let Some(way) = ways.get_mut(*code as usize) else { continue };
                way.moves.push((*number as u32, *count));
            }
        }
        for (way, site) in ways.iter_mut().zip(&sites.by_code) {
            way.text = site.as_ref().and_then(|site| site.column).map(|(_, nth)| nth);
        }
        let codes = self.codes(0)?;
        are_enough(&counts, codes, &ways)?;
        // A shape's code is below their number.
        const { assert!(SHAPES_MAX <= 1 << u16::BITS) };
        let codes = codes.iter().map(|code| *code as u16).collect();
        Ok(Some(TextPieces { codes, ways, columns, bytes_max: directory.bytes }))
    }
}

/// Fails if columns have fewer values than events by the codes of their shapes.
fn are_enough(counts: &[usize], codes: &[u32], ways: &[Way]) -> Result<(), DecodeError> {
    let mut events = vec![0usize; ways.len()];
    for code in codes {
        *events.get_mut(*code as usize).ok_or(MISSING_VALUE)? += 1;
    }
    let mut left = counts.to_vec();
    for (way, events) in ways.iter().zip(events) {
        for (column, count) in &way.moves {
            let left = left.get_mut(*column as usize).ok_or(MISSING_VALUE)?;
            *left = left.checked_sub(events.saturating_mul(*count as usize)).ok_or(MISSING_VALUE)?;
        }
    }
    Ok(())
}

impl PlacedTemplates {
    /// Templates whose holes refer to columns by other numbers.
    fn of(ready: ReadyTemplates<'_>, numbers: &[usize]) -> Result<PlacedTemplates, DecodeError> {
        let (read, codes, nth) = ready.into_parts();
        let mut uses = vec![0usize; read.len()];
        for code in &codes {
            *uses.get_mut(*code as usize).ok_or(MISSING_VALUE)? += 1;
        }
        let mut templates = Vec::with_capacity(read.len());
        for (read, uses) in read.into_iter().zip(uses) {
            let mut pieces = Vec::with_capacity(read.pieces.len());
            for (end, filling) in read.pieces {
                let hole = match filling {
                    Filling::Own(spans) => PlacedHole::Own(spans.into_owned()),
                    Filling::Reference(column) => {
                        let number = numbers.get(column as usize).filter(|number| **number != usize::MAX);
                        PlacedHole::Other(*number.ok_or(MISSING_VALUE)?)
                    }
                };
                pieces.push((end, hole));
            }
            let mut literals = read.literals;
            literals.resize(read.end + SLACK, 0);
            templates.push(PlacedTemplate { literals, pieces, end: read.end, uses });
        }
        Ok(PlacedTemplates { templates, texts: codes.into_iter().zip(nth).collect() })
    }

    /// How many holes all texts have.
    fn holes(&self) -> usize {
        let of_template = |template: &PlacedTemplate| template.pieces.len().saturating_mul(template.uses);
        self.templates.iter().map(of_template).fold(0, usize::saturating_add)
    }
}
