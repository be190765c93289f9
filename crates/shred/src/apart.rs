//! Takes the texts at a path apart, as they are stored: templates, and the values that fill their holes.

use crate::asked::Hole as Between;
use crate::column::{ColumnValues, Encoding, Written};
use crate::encoding::Window;
use crate::encoding::simple::Simple;
use crate::encoding::templates::{Hole, Template};
use crate::error::{DecodeError, NO_COLUMN};
use crate::group::{Group, GroupReader};
use crate::limits::SHAPES_MAX;
use crate::output::SLACK;
use crate::pieces::{
    MISSING_VALUE, PlacedColumn, PlacedHole, PlacedTemplate, PlacedTemplates, TOO_MANY_HOLES, TextPieces, Way,
};
use crate::shape::Leaf;
use crate::sites::{Site, Sites};
use crate::spans::{Spans, Spelling, Unread};
use crate::spared::{Everything, Spare};

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

/// A column that has a part in texts, as the directory tells of it.
struct Part {
    encoding: Encoding,
    /// If its texts have templates.
    templates: Vec<Bare>,
    /// Whether it fills a hole of what is asked about.
    is_asked: bool,
    /// Whether its values are looked at where they meet literals.
    is_met: bool,
}

/// A template of which nothing was read.
struct Bare {
    template: PlacedTemplate,
    /// Whether its literals tell what is asked, or no text has it.
    is_told: bool,
    /// Of each hole whether its values are looked at where they meet literals.
    are_met: Vec<bool>,
}

impl Bare {
    fn of(template: &Template) -> Bare {
        let (mut literals, mut pieces) = (Vec::new(), Vec::with_capacity(template.pieces.len()));
        for (literal, _) in &template.pieces {
            literals.extend_from_slice(literal);
            pieces.push((literals.len(), PlacedHole::Own(unread(template.uses, 0, false))));
        }
        literals.extend_from_slice(&template.tail);
        let end = literals.len();
        // So that short literals are copied by instructions of a fixed length.
        literals.resize(end + SLACK, 0);
        let are_met = vec![false; pieces.len()];
        Bare {
            template: PlacedTemplate { literals, pieces, end, uses: template.uses },
            is_told: false,
            are_met,
        }
    }
}

fn unread(count: usize, length: usize, are_numbers: bool) -> Spans<'static> {
    Spans::unread(Unread { count, length, are_numbers })
}

/// The columns that have a part in the texts of one, up to that.
fn parts_of(group: &Group, root: usize, spare: &impl Spare) -> Result<Vec<Option<Part>>, DecodeError> {
    let directory = group.directory();
    let mut parts: Vec<Option<Part>> = (0..=root).map(|_| None).collect();
    let mut is_part = vec![false; root + 1];
    is_part[root] = true;
    // Templates refer to columns before their own only.
    for column in (0..=root).rev() {
        if !is_part[column] {
            continue;
        }
        let encoding = directory.encoding(directory.columns.get(column).ok_or(NO_COLUMN)?)?;
        for reference in encoding.references() {
            *is_part.get_mut(reference as usize).ok_or(MISSING_VALUE)? = true;
        }
        let is_asked = column == root;
        parts[column] = Some(Part { encoding, templates: Vec::new(), is_asked, is_met: false });
    }
    for column in (0..=root).rev() {
        let (others, rest) = parts.split_at_mut(column);
        let Some(Some(Part { encoding: Encoding::Templates(of), templates, is_asked: true, .. })) =
            rest.first_mut()
        else {
            continue;
        };
        for template in &of.templates {
            let mut bare = Bare::of(template);
            bare.is_told = template.uses == 0 || column == root && spare.is_told(&bare.template);
            if !bare.is_told {
                meet(template, &mut bare, others, spare)?;
            }
            templates.push(bare);
        }
    }
    Ok(parts)
}

/// Takes note of what the holes of a template ask of other columns, and where it meets what fills them.
fn meet(
    template: &Template,
    bare: &mut Bare,
    others: &mut [Option<Part>],
    spare: &impl Spare,
) -> Result<(), DecodeError> {
    let literals: Vec<&[u8]> = bare.template.literals().collect();
    for (nth, ((_, hole), is_met)) in template.pieces.iter().zip(&mut bare.are_met).enumerate() {
        let literal = |nth: usize| literals.get(nth).copied().unwrap_or_default();
        let (before, after) = (literal(nth), literal(nth + 1));
        let is_last = nth + 1 == template.pieces.len();
        let meets = |values: Option<&Simple>| {
            let values = values.map(|simple| unread(template.uses, 0, simple.are_numbers()));
            spare.meets(&Between { before, after, is_last, values: values.as_ref() })
        };
        *is_met = match hole {
            Hole::Own(simple) => meets(Some(simple)),
            Hole::Reference(column) => {
                let other = others.get_mut(*column as usize).and_then(Option::as_mut);
                let other = other.ok_or(MISSING_VALUE)?;
                let is_met = match &other.encoding {
                    Encoding::Simple(simple) => meets(Some(simple)),
                    Encoding::Templates(_) => meets(None),
                };
                other.is_asked = true;
                other.is_met |= is_met;
                is_met
            }
        };
    }
    Ok(())
}

/// What is read of the columns that have a part in texts.
struct Reading {
    /// The columns that are asked about have numbers of their own.
    numbers: Vec<usize>,
    /// Whether a column is not read, as what is asked is not in it.
    are_spared: Vec<bool>,
    /// How many bytes texts that are made may still have.
    left: usize,
}

impl GroupReader<'_> {
    /// The texts of a path, if they are those of one column of templates.
    pub(crate) fn pieces(&mut self, sites: &Sites) -> Result<Option<TextPieces>, DecodeError> {
        self.pieces_for(sites, &Everything)
    }

    /// The same for what is asked of them and nothing else: what is spared then is not read.
    pub(crate) fn pieces_for(
        &mut self,
        sites: &Sites,
        spare: &impl Spare,
    ) -> Result<Option<TextPieces>, DecodeError> {
        let group = self.group;
        let directory = group.directory();
        let Some(root) = group.templates_of(sites) else { return Ok(None) };
        let parts = parts_of(group, root, spare)?;
        let (numbers, are_spared) = (vec![usize::MAX; parts.len()], vec![false; parts.len()]);
        let mut reading = Reading { numbers, are_spared, left: directory.bytes };
        let mut columns = Vec::new();
        let mut ways = vec![Way::default(); group.shapes_of(0).len()];
        for (column, part) in parts.into_iter().enumerate() {
            let Some(part) = part.filter(|part| part.is_asked) else { continue };
            let path = directory.columns.get(column).map_or(0, |column| column.path);
            if group.places().list_of(path, &directory.paths) != Some(0) {
                return Ok(None);
            }
            let number = columns.len();
            reading.numbers[column] = number;
            columns.push(self.placed(column, part, spare, &mut reading)?);
            if reading.are_spared[column] {
                continue;
            }
            for (code, count) in group.census().column(column).into_iter().flatten() {
                let Some(way) = ways.get_mut(*code as usize) else { continue };
                way.moves.push((number as u32, *count));
            }
        }
        // What fills a hole is a byte at least.
        let holes = columns.iter().map(|column| match column {
            PlacedColumn::Values(_) => 0,
            PlacedColumn::Templates(templates) => templates.holes(),
        });
        if holes.fold(0, usize::saturating_add) > directory.bytes {
            return Err(TOO_MANY_HOLES);
        }
        for (way, site) in ways.iter_mut().zip(&sites.by_code) {
            way.text = site.as_ref().and_then(|site| site.column).map(|(_, nth)| nth);
        }
        let codes = self.codes(0)?;
        are_enough(&columns, codes, &ways)?;
        // A shape's code is below their number.
        const { assert!(SHAPES_MAX <= 1 << u16::BITS) };
        let codes = codes.iter().map(|code| *code as u16).collect();
        Ok(Some(TextPieces { codes, ways, columns, bytes_max: directory.bytes }))
    }

    /// A column, read as far as it is not spared.
    fn placed(
        &mut self,
        column: usize,
        part: Part,
        spare: &impl Spare,
        reading: &mut Reading,
    ) -> Result<PlacedColumn, DecodeError> {
        let info = self.group.directory().columns.get(column).ok_or(NO_COLUMN)?;
        match &part.encoding {
            Encoding::Simple(simple) => {
                let length = if part.is_met { None } else { spare.spares(simple, &mut self.frames)? };
                reading.are_spared[column] = length.is_some();
                Ok(PlacedColumn::Values(match length {
                    Some(length) => unread(info.count, length, simple.are_numbers()),
                    None => match self.column(column)? {
                        ColumnValues::Simple(values) => {
                            Spans::of(values, Spelling::WhenTaken, &mut reading.left)?.into_owned()
                        }
                        ColumnValues::Templated(_) => return Err(MISSING_VALUE),
                    },
                }))
            }
            Encoding::Templates(templates) => {
                // Of each hole of a template's own how long what fills it is, if it is not read.
                let mut lengths = Vec::with_capacity(part.templates.len());
                let mut are_idle = !part.is_met;
                for (template, bare) in templates.templates.iter().zip(&part.templates) {
                    let of_holes = self.spared_holes(template, bare, spare, reading)?;
                    are_idle &= template.uses == 0
                        || !bare.is_told
                            && spare.are_idle(&bare.template)
                            && of_holes.iter().all(Option::is_some);
                    lengths.push(of_holes);
                }
                reading.are_spared[column] = are_idle;
                if are_idle {
                    return Ok(PlacedColumn::Values(unread(info.count, 0, false)));
                }
                let places = match info.grouped {
                    true => Some(self.value_places(column, info.path)?),
                    false => None,
                };
                let texts = templates.places(info.count, places.as_deref(), &mut self.frames)?;
                let mut placed = Vec::with_capacity(templates.templates.len());
                for ((template, bare), lengths) in templates.templates.iter().zip(part.templates).zip(lengths)
                {
                    placed.push(self.filled(template, bare, &lengths, reading)?);
                }
                Ok(PlacedColumn::Templates(PlacedTemplates { templates: placed, texts }))
            }
        }
    }

    /// Of each hole of a template how long what fills it is, where that is not read.
    fn spared_holes(
        &mut self,
        template: &Template,
        bare: &Bare,
        spare: &impl Spare,
        reading: &Reading,
    ) -> Result<Vec<Option<usize>>, DecodeError> {
        if bare.is_told {
            return Ok(Vec::new());
        }
        let mut lengths = Vec::with_capacity(template.pieces.len());
        for ((_, hole), is_met) in template.pieces.iter().zip(&bare.are_met) {
            lengths.push(match hole {
                _ if *is_met => None,
                Hole::Own(simple) => spare.spares(simple, &mut self.frames)?,
                Hole::Reference(column) => {
                    reading.are_spared.get(*column as usize).and_then(|is_spared| is_spared.then_some(0))
                }
            });
        }
        Ok(lengths)
    }

    /// A template whose holes are filled as far as they are not spared.
    fn filled(
        &mut self,
        template: &Template,
        bare: Bare,
        lengths: &[Option<usize>],
        reading: &mut Reading,
    ) -> Result<PlacedTemplate, DecodeError> {
        let mut placed = bare.template;
        for ((place, (_, hole)), length) in placed.pieces.iter_mut().zip(&template.pieces).zip(lengths) {
            place.1 = match (hole, length) {
                (Hole::Own(simple), Some(length)) => {
                    PlacedHole::Own(unread(template.uses, *length, simple.are_numbers()))
                }
                (Hole::Own(simple), None) => {
                    let values = simple.decode(Window::whole(template.uses), &[], None, &mut self.frames)?;
                    let spans = Spans::of(values, Spelling::WhenTaken, &mut reading.left)?;
                    PlacedHole::Own(spans.into_owned())
                }
                (Hole::Reference(column), _) => {
                    let number =
                        reading.numbers.get(*column as usize).filter(|number| **number != usize::MAX);
                    PlacedHole::Other(*number.ok_or(MISSING_VALUE)?)
                }
            };
        }
        Ok(placed)
    }
}

/// Fails if columns have fewer values than events by the codes of their shapes.
fn are_enough(columns: &[PlacedColumn], codes: &[u32], ways: &[Way]) -> Result<(), DecodeError> {
    let mut events = vec![0usize; ways.len()];
    for code in codes {
        *events.get_mut(*code as usize).ok_or(MISSING_VALUE)? += 1;
    }
    let mut left: Vec<usize> = columns.iter().map(PlacedColumn::len).collect();
    for (way, events) in ways.iter().zip(events) {
        for (column, count) in &way.moves {
            let left = left.get_mut(*column as usize).ok_or(MISSING_VALUE)?;
            *left = left.checked_sub(events.saturating_mul(*count as usize)).ok_or(MISSING_VALUE)?;
        }
    }
    Ok(())
}

impl PlacedTemplates {
    /// How many holes all texts have.
    fn holes(&self) -> usize {
        let of_template = |template: &PlacedTemplate| template.pieces.len().saturating_mul(template.uses);
        self.templates.iter().map(of_template).fold(0, usize::saturating_add)
    }
}
