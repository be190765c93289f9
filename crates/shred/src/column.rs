//! A column: a path, a kind, and one of the encodings; and its values once they are read.

use std::ops::Range;

use crate::bytes::{Reader, put};
use crate::encoding::Window;
use crate::encoding::ints::Ints;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::templates::{Hole, ReadyTemplates, Templated, Templates};
use crate::error::{DecodeError, malformed};
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

    /// Appends it to a directory; where it is one by templates, these to the ones that are read late, if any are.
    pub(crate) fn write(&self, out: &mut Vec<u8>, late: Option<&mut Vec<u8>>) {
        match (self, late) {
            (Encoding::Simple(simple), _) => simple.write(out),
            (Encoding::Templates(templates), Some(late)) => {
                let start = late.len();
                templates.write(late);
                out.push(TEMPLATES);
                put(out, (late.len() - start) as u64);
            }
            (Encoding::Templates(templates), None) => {
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
    /// By templates: where these stand among all of the directory.
    Templates(Range<usize>),
}

impl Column<Written> {
    /// Whether its values stand by themselves, those of each shape together.
    pub(crate) fn is_by_shape(&self) -> bool {
        self.grouped && matches!(self.encoding, Written::Simple(Simple::Whole(_) | Simple::Dictionary(_)))
    }
}

/// What columns need of their group, to be held against what it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// How many bytes all parts have together.
    pub(crate) part_bytes: u64,
    /// How many values the holes of templates have of their own.
    pub(crate) own_holes: usize,
    /// How many they may have.
    own_holes_max: usize,
}

impl Needs {
    /// Nothing yet, of a group whose templates may have so many values of their own.
    pub(crate) fn new(own_holes_max: usize) -> Needs {
        Needs { part_bytes: 0, own_holes: 0, own_holes_max }
    }

    /// That frames have what is needed. An encoder uses no more bytes twice than it writes, and what is read of all parts has to fit in memory.
    pub(crate) fn are_met_by(&self, frames: &[FrameInfo]) -> Result<(), DecodeError> {
        if self.part_bytes > 2 * frames.iter().map(|frame| u64::from(frame.length)).sum::<u64>() {
            return Err(malformed("more parts than its frames hold"));
        }
        if self.own_holes > self.own_holes_max {
            return Err(malformed("more holes of templates than the documents could fill"));
        }
        Ok(())
    }

    /// Adds a part.
    pub(crate) fn part(&mut self, part: Part) {
        self.part_bytes += u64::from(part.length);
    }

    /// Adds the parts of numbers.
    pub(crate) fn ints<'i>(&mut self, ints: impl IntoIterator<Item = &'i Ints>) {
        ints.into_iter().filter_map(Ints::part).for_each(|part| self.part(part));
    }
}

impl Encoding {
    /// Takes the number of the encoding by templates, if that is what comes next: whether it was.
    pub(crate) fn take_templates(reader: &mut Reader<'_>) -> bool {
        match reader.0 {
            [TEMPLATES, rest @ ..] => {
                reader.0 = rest;
                true
            }
            _ => false,
        }
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
