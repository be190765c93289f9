//! Takes the texts at a path apart, as they are stored: templates, and the values that fill their holes.

use crate::at::{Site, Sites};
use crate::column::{Ready, Written};
use crate::encoding::templates::{Filling, ReadyTemplates};
use crate::error::DecodeError;
use crate::group::{Group, GroupReader};
use crate::limits::EVENTS_MAX;
use crate::output::SLACK;
use crate::pieces::{
    MISSING_VALUE, NOTHING, PlacedColumn, PlacedHole, PlacedTemplate, PlacedTemplates, TOO_MANY_HOLES,
    TextPieces,
};
use crate::shape::Leaf;
use crate::spans::Spelling;

impl Group {
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
                way.moves.push((*number, *count));
                if let Some(PlacedColumn::Templates(_)) = columns.get(*number) {
                    way.templates.push((*number, *count));
                }
            }
        }
        for (way, site) in ways.iter_mut().zip(&sites.by_code) {
            way.text = site.as_ref().and_then(|site| site.column).map(|(_, nth)| nth);
        }
        let mut pieces = TextPieces { places: Vec::new(), columns, bytes_max: directory.bytes };
        pieces.fill(self.codes(0)?, &ways)?;
        let is_known =
            |(column, place): (usize, u32)| counts.get(column).is_some_and(|count| (place as usize) < *count);
        if pieces.largest_places().all(is_known) { Ok(Some(pieces)) } else { Err(MISSING_VALUE) }
    }
}

/// What events of a shape have of the columns that are needed.
#[derive(Clone, Debug, Default)]
struct Way {
    /// How far they move on in each.
    moves: Vec<(usize, u32)>,
    /// The same of those of templates.
    templates: Vec<(usize, u32)>,
    /// Which of the texts they have at the path.
    text: Option<u32>,
}

impl TextPieces {
    /// Finds out which values fill the holes of templates, event by event, and which text each event has.
    fn fill(&mut self, codes: &[u32], ways: &[Way]) -> Result<(), DecodeError> {
        // The first value that an event has of each column.
        let mut cursors = vec![0u32; self.columns.len()];
        let root = self.columns.len() - 1;
        self.places.reserve_exact(codes.len());
        for code in codes {
            let way = ways.get(*code as usize).ok_or(MISSING_VALUE)?;
            for (column, count) in &way.templates {
                let Some(PlacedColumn::Templates(PlacedTemplates { templates, texts })) =
                    self.columns.get_mut(*column)
                else {
                    continue;
                };
                let start = cursors[*column] as usize;
                for (template, _) in texts.get(start..start + *count as usize).ok_or(MISSING_VALUE)? {
                    if let Some(PlacedTemplate { others, places, .. }) = templates.get_mut(*template as usize)
                    {
                        places.extend(others.iter().map(|other| cursors[*other]));
                    }
                }
            }
            self.places.push(way.text.map_or(NOTHING, |nth| cursors[root].saturating_add(nth)));
            for (column, count) in &way.moves {
                // Shapes may say that there are more values than there are.
                cursors[*column] = cursors[*column].saturating_add(*count);
            }
        }
        Ok(())
    }

    /// The largest place of each column that something refers to, wherever it does.
    fn largest_places(&self) -> impl Iterator<Item = (usize, u32)> {
        let of_templates = self.columns.iter().flat_map(|column| match column {
            PlacedColumn::Values(_) => &[][..],
            PlacedColumn::Templates(PlacedTemplates { templates, .. }) => templates,
        });
        let of_holes = of_templates.flat_map(|template| {
            let largest = |hole: usize| template.places_of(hole).copied().max();
            let others = template.others.iter().enumerate();
            others.filter_map(move |(hole, column)| Some((*column, largest(hole)?)))
        });
        let of_rows = self.places.iter().copied().filter(|place| *place != NOTHING).max();
        of_holes.chain(of_rows.map(|place| (self.columns.len() - 1, place)))
    }
}

impl PlacedTemplates {
    /// PlacedTemplates whose holes refer to columns by other numbers; none of the places is known yet.
    fn of(ready: ReadyTemplates<'_>, numbers: &[usize]) -> Result<PlacedTemplates, DecodeError> {
        let (read, codes, nth) = ready.into_parts();
        let mut uses = vec![0usize; read.len()];
        for code in &codes {
            *uses.get_mut(*code as usize).ok_or(MISSING_VALUE)? += 1;
        }
        let mut templates = Vec::with_capacity(read.len());
        for (read, uses) in read.into_iter().zip(uses) {
            let (mut pieces, mut others) = (Vec::with_capacity(read.pieces.len()), Vec::new());
            for (end, filling) in read.pieces {
                let hole = match filling {
                    Filling::Own(spans) => PlacedHole::Own(spans.into_owned()),
                    Filling::Reference(column) => {
                        let number = numbers.get(column as usize).filter(|number| **number != usize::MAX);
                        others.push(*number.ok_or(MISSING_VALUE)?);
                        PlacedHole::Other(others.len() - 1)
                    }
                };
                pieces.push((end, hole));
            }
            let mut literals = read.literals;
            literals.resize(read.end + SLACK, 0);
            let places = Vec::new();
            templates.push(PlacedTemplate { literals, pieces, end: read.end, uses, others, places });
        }
        for template in &mut templates {
            template.places.reserve(template.others.len().saturating_mul(template.uses).min(EVENTS_MAX));
        }
        Ok(PlacedTemplates { templates, texts: codes.into_iter().zip(nth).collect() })
    }

    /// How many holes all texts have.
    fn holes(&self) -> usize {
        let of_template = |template: &PlacedTemplate| template.pieces.len().saturating_mul(template.uses);
        self.templates.iter().map(of_template).fold(0, usize::saturating_add)
    }
}
