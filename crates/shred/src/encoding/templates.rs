//! Texts by template: literal pieces, other values of the same event, and what is left over in columns of its own.
//!
//! The first template is nothing but a hole for the whole text, for those that no other fits. Only columns with smaller numbers are
//! referred to, so that no reference leads in a circle.

use crate::bytes::{Reader, put, put_bytes};
use crate::encoding::ints::Ints;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::{Window, dictionary};
use crate::error::{DecodeError, malformed};
use crate::frame::{FrameInfo, FrameReader, Part};
use crate::limits::TEMPLATES_MAX;
use crate::output::SLACK;
use crate::spans::{Spans, Spelling};

/// What stands between two literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    /// The value at which the cursor of another column stands.
    Reference(u32),
    /// The next value of a column of this hole's own.
    Own(Simple),
}

/// Literals and holes in turn, and a literal at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<(Vec<u8>, Hole)>,
    pub(crate) tail: Vec<u8>,
    /// How many values have it.
    pub(crate) uses: usize,
}

/// Templates, and for each value the code of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Templates {
    pub(crate) templates: Vec<Template>,
    pub(crate) codes: Ints,
}

const OTHER_USES: DecodeError = malformed("a template that is not used as often as it says");

/// How often a template may refer to a text that is a template itself, and so on.
pub(crate) const REFERENCE_DEPTH_MAX: usize = 64;

/// A template has at most so many holes.
pub(crate) const HOLES_MAX: usize = 256;

impl Template {
    /// What the values of a window hold; nothing where there are none.
    fn decode<'f>(
        &self,
        window: Window,
        frames: &mut FrameReader<'f>,
    ) -> Result<ReadTemplate<Values<'f>>, DecodeError> {
        let mut read = ReadTemplate { literals: Vec::new(), pieces: Vec::new(), end: 0 };
        if window.len() == 0 {
            return Ok(read);
        }
        for (literal, hole) in &self.pieces {
            read.literals.extend_from_slice(literal);
            let filling = match hole {
                Hole::Reference(column) => Filling::Reference(*column),
                Hole::Own(own) => Filling::Own(own.decode(window, &[], None, frames)?),
            };
            read.pieces.push((read.literals.len(), filling));
        }
        read.literals.extend_from_slice(&self.tail);
        read.end = read.literals.len();
        // So that short literals are copied by instructions of a fixed length.
        read.literals.extend_from_slice(&[0; SLACK]);
        Ok(read)
    }
}

impl Templates {
    /// The values of a window: decodes all codes, and of each template what its values in the window hold.
    pub(crate) fn decode<'f>(
        &self,
        window: Window,
        places: Option<&[u32]>,
        frames: &mut FrameReader<'f>,
    ) -> Result<Templated<'f>, DecodeError> {
        let whole = Window::whole(window.count);
        let mut codes = dictionary::codes(&self.codes, whole, places, self.templates.len(), frames)?;
        // How often each template is used before the window, in it, and after it.
        let uses = |codes: &[u32]| {
            let mut uses = vec![0usize; self.templates.len()];
            codes.iter().for_each(|code| uses[*code as usize] += 1);
            uses
        };
        let (before, after) = (uses(&codes[..window.from]), uses(&codes[window.to..]));
        codes.truncate(window.to);
        codes.drain(..window.from);
        let mut seen = vec![0u32; self.templates.len()];
        let mut nth = Vec::with_capacity(codes.len());
        for code in &codes {
            nth.push(seen[*code as usize]);
            seen[*code as usize] += 1;
        }
        let mut read = Vec::with_capacity(self.templates.len());
        for (number, template) in self.templates.iter().enumerate() {
            let (from, used) = (before[number], seen[number] as usize);
            if template.uses != from + used + after[number] {
                return Err(OTHER_USES);
            }
            let own = Window { count: template.uses, from, to: from + used };
            read.push(template.decode(own, frames)?);
        }
        Ok(Templated { templates: read, codes, nth })
    }

    /// Of each value the number of its template, and how many values before it have the same.
    pub(crate) fn places(
        &self,
        count: usize,
        places: Option<&[u32]>,
        frames: &mut FrameReader<'_>,
    ) -> Result<Vec<(u32, u32)>, DecodeError> {
        let window = Window::whole(count);
        let codes = dictionary::codes(&self.codes, window, places, self.templates.len(), frames)?;
        // As many as there may be, so that each code is known to have its place.
        let mut seen = [0u32; TEMPLATES_MAX];
        let place = |code: u32| {
            let seen = &mut seen[code as usize % TEMPLATES_MAX];
            *seen += 1;
            (code, *seen - 1)
        };
        let texts = codes.into_iter().map(place).collect();
        let are_told = self.templates.iter().zip(seen).all(|(template, seen)| template.uses == seen as usize);
        if are_told { Ok(texts) } else { Err(OTHER_USES) }
    }

    /// All parts that it needs by itself.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let holes = self.templates.iter().flat_map(|template| &template.pieces);
        let own =
            holes.flat_map(|(_, hole)| if let Hole::Own(own) = hole { own.parts() } else { Vec::new() });
        own.chain(self.codes.part()).collect()
    }

    /// How many values all holes have of their own.
    pub(crate) fn own_holes(&self) -> usize {
        let own = |template: &Template| {
            let holes = template.pieces.iter().filter(|(_, hole)| matches!(hole, Hole::Own(_))).count();
            holes * template.uses
        };
        self.templates.iter().map(own).sum()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.codes.write(out);
        put(out, self.templates.len() as u64);
        for template in &self.templates {
            put(out, template.uses as u64);
            put(out, template.pieces.len() as u64);
            for (literal, hole) in &template.pieces {
                put_bytes(out, literal);
                match hole {
                    Hole::Reference(column) => put(out, u64::from(*column) + 1),
                    Hole::Own(own) => {
                        put(out, 0);
                        own.write(out);
                    }
                }
            }
            put_bytes(out, &template.tail);
        }
    }

    pub(crate) fn read(
        reader: &mut Reader<'_>,
        count: usize,
        frames: &[FrameInfo],
    ) -> Result<Templates, DecodeError> {
        let (mut templates, mut pieces) = (Vec::new(), Vec::new());
        let mut of = 0;
        let codes = walk(reader, count, frames, |told| {
            match told {
                Told::Template { uses, holes } => {
                    of = uses;
                    pieces = Vec::with_capacity(holes);
                }
                Told::Hole { literal, hole, .. } => pieces.push((literal.to_vec(), hole)),
                Told::Tail(tail) => {
                    let pieces = std::mem::take(&mut pieces);
                    templates.push(Template { pieces, tail: tail.to_vec(), uses: of });
                }
            }
            Ok(())
        })?;
        Ok(Templates { templates, codes })
    }
}

/// What is told of templates as they are walked over.
pub(crate) enum Told<'b> {
    /// A template begins that so many values have.
    Template { uses: usize, holes: usize },
    /// A hole of it, after a literal.
    Hole { literal: &'b [u8], hole: Hole, uses: usize },
    /// It ends, after a literal.
    Tail(&'b [u8]),
}

/// Calls with what templates consist of, in order, and gives their codes.
pub(crate) fn walk<'b>(
    reader: &mut Reader<'b>,
    count: usize,
    frames: &[FrameInfo],
    mut tell: impl FnMut(Told<'b>) -> Result<(), DecodeError>,
) -> Result<Ints, DecodeError> {
    let codes = Ints::read(reader, frames)?;
    let number = reader.at_most(TEMPLATES_MAX, "too many templates")?;
    let mut left = count;
    for _ in 0..number {
        let uses = reader.at_most(left, "templates used more often than there are values")?;
        left -= uses;
        let holes = reader.at_most(HOLES_MAX, "a template of too many holes")?;
        tell(Told::Template { uses, holes })?;
        for _ in 0..holes {
            let literal = reader.bytes()?;
            let hole = match reader.number()?.checked_sub(1) {
                Some(column) => {
                    Hole::Reference(u32::try_from(column).map_err(|_| malformed("a reference to no column"))?)
                }
                None => Hole::Own(Simple::read(reader, uses, frames)?),
            };
            tell(Told::Hole { literal, hole, uses })?;
        }
        tell(Told::Tail(reader.bytes()?))?;
    }
    Ok(codes)
}

/// What fills a hole: of its own, values as they are stored, or as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filling<V> {
    Reference(u32),
    Own(V),
}

/// A template that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadTemplate<V> {
    /// All literals, one after another.
    pub(crate) literals: Vec<u8>,
    /// Where the literal before a hole ends, and what fills the hole.
    pub(crate) pieces: Vec<(usize, Filling<V>)>,
    /// Where the last literal ends.
    pub(crate) end: usize,
}

/// Texts by template that were read. Where a template refers to other columns, a value's text needs their values too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templated<'f> {
    templates: Vec<ReadTemplate<Values<'f>>>,
    /// For each value the number of its template.
    pub codes: Vec<u32>,
    /// For each value, how many before it have the same template.
    nth: Vec<u32>,
}

impl<'f> Templated<'f> {
    /// The columns that its templates refer to.
    pub(crate) fn references(&self) -> impl Iterator<Item = u32> {
        let pieces = self.templates.iter().flat_map(|template| &template.pieces);
        pieces.filter_map(
            |(_, filling)| if let Filling::Reference(column) = filling { Some(*column) } else { None },
        )
    }

    /// The templates, as they were read: of one that no value has nothing was.
    pub(crate) fn read_templates(&self) -> &[ReadTemplate<Values<'f>>] {
        &self.templates
    }

    /// How many templates there are.
    pub fn templates(&self) -> usize {
        self.templates.len()
    }

    /// The same with texts in the holes, whose bytes are taken from `left`.
    pub(crate) fn ready(
        self,
        spelling: Spelling,
        left: &mut usize,
    ) -> Result<ReadyTemplates<'f>, DecodeError> {
        let Templated { templates, codes, nth } = self;
        let mut ready = Vec::with_capacity(templates.len());
        for ReadTemplate { literals, pieces, end } in templates {
            let mut filled = Vec::with_capacity(pieces.len());
            for (literal_end, filling) in pieces {
                let filling = match filling {
                    Filling::Reference(column) => Filling::Reference(column),
                    Filling::Own(values) => Filling::Own(Spans::of(values, spelling, left)?),
                };
                filled.push((literal_end, filling));
            }
            ready.push(ReadTemplate { literals, pieces: filled, end });
        }
        Ok(ReadyTemplates { templates: ready, codes, nth })
    }
}

/// Texts by template as they are put into documents.
#[derive(Clone, Debug)]
pub(crate) struct ReadyTemplates<'f> {
    templates: Vec<ReadTemplate<Spans<'f>>>,
    codes: Vec<u32>,
    nth: Vec<u32>,
}

impl<'f> ReadyTemplates<'f> {
    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The template of a value, and the place of its own fillings.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<(&ReadTemplate<Spans<'f>>, usize)> {
        let template = self.templates.get(*self.codes.get(index)? as usize)?;
        Some((template, *self.nth.get(index)? as usize))
    }
}
