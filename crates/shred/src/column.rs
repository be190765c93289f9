//! A column: a path, a kind, and one of the encodings; and its values once they are read.

use crate::bytes::Reader;
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::templates::{self, Hole, ReadyTemplates, Templated, Templates, Told};
use crate::error::DecodeError;
use crate::frame::{FrameInfo, FrameReader, Part};
use crate::shape::Leaf;
use crate::spans::{Spans, Spelling};

/// How the values of a column are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// By themselves.
    Simple(Simple),
    /// By templates, which may refer to other columns.
    Templates(Templates),
}

/// What the directory says of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column<E = Encoding> {
    pub(crate) path: u32,
    pub(crate) kind: Leaf,
    pub(crate) count: usize,
    /// Whether its numbers or codes stand by shape, not in the order of the documents.
    pub(crate) grouped: bool,
    pub(crate) encoding: E,
}

/// The number of the encoding by templates.
const TEMPLATES: u8 = 6;

impl Encoding {
    /// The word for it in tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Encoding::Simple(simple) => simple.name(),
            Encoding::Templates(_) => "templates",
        }
    }

    /// All parts that it needs; others may need them too.
    pub(crate) fn parts(&self) -> Vec<Part> {
        match self {
            Encoding::Simple(simple) => simple.parts(),
            Encoding::Templates(templates) => templates.parts(),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Encoding::Simple(simple) => simple.write(out),
            Encoding::Templates(templates) => {
                out.push(TEMPLATES);
                templates.write(out);
            }
        }
    }

    /// The columns that its templates refer to; one may come several times.
    pub(crate) fn references(&self) -> impl Iterator<Item = u32> {
        let templates = match self {
            Encoding::Simple(_) => &[][..],
            Encoding::Templates(templates) => &templates.templates,
        };
        let holes = templates.iter().flat_map(|template| &template.pieces);
        holes.filter_map(|(_, hole)| match hole {
            Hole::Reference(column) => Some(*column),
            Hole::Own(_) => None,
        })
    }

    /// Whether its values stand beside the instants of the group's events.
    pub(crate) fn needs_instants(&self) -> bool {
        matches!(self, Encoding::Simple(Simple::Instants(instants)) if instants.is_relative())
    }

    /// The values of a window; `events` are the instants of the group's events if they are needed, `places` where each value stands if they stand by shape.
    pub(crate) fn decode<'f>(
        &self,
        window: Window,
        events: &[i64],
        places: Option<&[u32]>,
        frames: &mut FrameReader<'f>,
    ) -> Result<ColumnValues<'f>, DecodeError> {
        Ok(match self {
            Encoding::Simple(simple) => ColumnValues::Simple(simple.decode(window, events, places, frames)?),
            Encoding::Templates(templates) => {
                ColumnValues::Templated(templates.decode(window, places, frames)?)
            }
        })
    }
}

/// How the values of a column are stored, as its directory has it: most queries name few columns, and templates take most of a directory.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// By themselves.
    Simple(Simple),
    /// By templates, as they were written.
    Templates(Box<[u8]>),
}

impl Written {
    /// What it has in memory beside itself, in bytes, but for the few of alphabets.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Written::Simple(_) => 0,
            Written::Templates(written) => written.len(),
        }
    }
}

impl Column<Written> {
    /// Whether its values stand by themselves, those of each shape together.
    pub(crate) fn is_by_shape(&self) -> bool {
        self.grouped && matches!(self.encoding, Written::Simple(Simple::Whole(_) | Simple::Dictionary(_)))
    }
}

/// What columns need of their group, to be held against what it has.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// How many bytes all parts have together.
    pub(crate) part_bytes: u64,
    /// How many values the holes of templates have of their own.
    pub(crate) own_holes: usize,
}

impl Needs {
    /// Adds a part.
    pub(crate) fn part(&mut self, part: Part) {
        self.part_bytes += u64::from(part.length);
    }

    /// Adds the parts of numbers.
    pub(crate) fn ints<'i>(&mut self, ints: impl IntoIterator<Item = &'i Ints>) {
        ints.into_iter().filter_map(Ints::part).for_each(|part| self.part(part));
    }
}

impl Written {
    /// Goes over an encoding and keeps it; adds what it needs, and calls with each column that it refers to.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        count: usize,
        frames: &[FrameInfo],
        needs: &mut Needs,
        mut refer: impl FnMut(u32) -> Result<(), DecodeError>,
    ) -> Result<Written, DecodeError> {
        let [TEMPLATES, rest @ ..] = reader.0 else {
            let simple = Simple::read(reader, count, frames)?;
            simple.each_part(&mut |part| needs.part(part));
            return Ok(Written::Simple(simple));
        };
        reader.0 = rest;
        let codes = templates::walk(reader, count, frames, |told| {
            match told {
                Told::Hole { hole: Hole::Reference(column), .. } => refer(column)?,
                Told::Hole { hole: Hole::Own(own), uses, .. } => {
                    own.each_part(&mut |part| needs.part(part));
                    needs.own_holes = needs.own_holes.saturating_add(uses);
                }
                Told::Template { .. } | Told::Tail(_) => {}
            }
            Ok(())
        })?;
        needs.ints([&codes]);
        let written = rest.get(..rest.len() - reader.0.len()).unwrap_or_default();
        Ok(Written::Templates(written.into()))
    }

    /// The encoding of a column of so many values.
    pub(crate) fn get(&self, count: usize, frames: &[FrameInfo]) -> Result<Encoding, DecodeError> {
        Ok(match self {
            Written::Simple(simple) => Encoding::Simple(simple.clone()),
            Written::Templates(written) => {
                Encoding::Templates(Templates::read(&mut Reader(written), count, frames)?)
            }
        })
    }
}

/// The values of a column as they are put into documents.
#[derive(Clone, Debug)]
pub(crate) enum Ready<'f> {
    /// Texts that stand by themselves.
    Texts(Spans<'f>),
    /// Texts by template.
    Templated(ReadyTemplates<'f>),
    /// So many that could not be read: [`LOST`] stands for each.
    Lost(usize),
}

/// Stands in a document for what could not be read. No JSON has this character: in strings it is escaped.
pub(crate) const LOST: u8 = 1;

impl Ready<'_> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ready::Texts(spans) => spans.len(),
            Ready::Templated(templated) => templated.len(),
            Ready::Lost(values) => *values,
        }
    }
}

/// The values of a column, read but for the most part not turned into text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnValues<'f> {
    /// Values that stand by themselves.
    Simple(Values<'f>),
    /// Texts by template.
    Templated(Templated<'f>),
}

impl Default for ColumnValues<'_> {
    /// No values.
    fn default() -> Self {
        ColumnValues::Simple(Values::Whole(Vec::new()))
    }
}

impl<'f> ColumnValues<'f> {
    /// The values as they are put into documents; the bytes of texts that have to be made are taken from `left`.
    pub(crate) fn ready(self, spelling: Spelling, left: &mut usize) -> Result<Ready<'f>, DecodeError> {
        Ok(match self {
            ColumnValues::Simple(values) => Ready::Texts(Spans::of(values, spelling, left)?),
            ColumnValues::Templated(templated) => Ready::Templated(templated.ready(spelling, left)?),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::Simple(values) => values.len(),
            ColumnValues::Templated(templated) => templated.codes.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
