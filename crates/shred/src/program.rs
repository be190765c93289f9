//! Shapes as programs: literal text, and between the slots whose values stand in columns.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use crate::directory::Directory;
use crate::error::{DecodeError, malformed};
use crate::grouping::Counts;
use crate::path::{Paths, Step};
use crate::shape::{Layout, Leaf, Seen, Slot, Token};

/// Literal text, and what comes after it.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its bytes, among the literals of the program.
    pub(crate) literal: Range<usize>,
    /// A value; nothing at the end.
    pub(crate) slot: Option<Slot>,
}

/// How a value of a shape is put together.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) literals: Vec<u8>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) layout: Layout,
}

/// Which columns and lists there are, by path.
#[derive(Debug)]
pub(crate) struct Places {
    columns: HashMap<(u32, Leaf), u32, FixedState>,
    /// The list of the arrays at a path, which is that of the elements' parent.
    arrays: HashMap<u32, u32, FixedState>,
    /// The list of the elements with a path.
    elements: HashMap<u32, u32, FixedState>,
}

/// How many values and arrays the shapes of a list have: by the shape's code, those that have any.
#[derive(Debug)]
pub(crate) struct Census {
    pub(crate) columns: Vec<Counts>,
    pub(crate) arrays: Vec<Counts>,
}

impl Places {
    pub(crate) fn of(directory: &Directory<Box<[u8]>>) -> Result<Places, DecodeError> {
        let mut places =
            Places { columns: HashMap::default(), arrays: HashMap::default(), elements: HashMap::default() };
        for (number, column) in (0..).zip(&directory.columns) {
            if places.columns.insert((column.path, column.kind), number).is_some() {
                return Err(malformed("two columns of one path and kind"));
            }
        }
        for (number, list) in (0..).zip(&directory.lists) {
            let parent = match directory.paths.step(list.path) {
                None => None,
                Some((parent, Step::Element)) => Some(parent),
                Some((_, Step::Key(_))) => return Err(malformed("a list that is no array")),
            };
            let known = parent.and_then(|parent| places.arrays.insert(parent, number));
            if known.is_some() || places.elements.insert(list.path, number).is_some() {
                return Err(malformed("two lists of one path"));
            }
        }
        Ok(places)
    }

    /// The list to whose elements the values of a path belong.
    pub(crate) fn list_of(&self, path: u32, paths: &Paths<Box<[u8]>>) -> Option<u32> {
        let mut at = path;
        loop {
            if let Some(list) = self.elements.get(&at) {
                return Some(*list);
            }
            at = paths.step(at)?.0;
        }
    }

    /// How many values of each column, and how many arrays of each list, each shape has.
    pub(crate) fn census(&self, directory: &Directory<Box<[u8]>>, by_code: &[Vec<u32>]) -> Census {
        let mut columns = vec![Counts::new(); directory.columns.len()];
        let mut arrays = vec![Counts::new(); directory.lists.len()];
        for (code, shape) in by_code.iter().flat_map(|shapes| (0..).zip(shapes)) {
            for token in directory.shapes.get(*shape as usize).into_iter().flatten() {
                let Token::Leaf(path, kind) = *token else { continue };
                let counts = match kind {
                    Leaf::Array => self.arrays.get(&path).and_then(|list| arrays.get_mut(*list as usize)),
                    _ => self.columns.get(&(path, kind)).and_then(|column| columns.get_mut(*column as usize)),
                };
                let Some(counts) = counts else { continue };
                match counts.last_mut() {
                    Some((last, count)) if *last == code => *count += 1,
                    _ => counts.push((code, 1)),
                }
            }
        }
        Census { columns, arrays }
    }

    /// The column of a path and kind.
    pub(crate) fn column(&self, path: u32, kind: Leaf) -> Option<u32> {
        self.columns.get(&(path, kind)).copied()
    }

    /// The list whose elements may have this shape.
    pub(crate) fn list(&self, shape: &[Token]) -> Option<u32> {
        self.elements.get(&shape.first()?.path()?).copied()
    }
}

impl Program {
    /// The program of a shape, of so many literal bytes at most. Takes time and memory linear in its tokens and keys.
    pub(crate) fn of(
        tokens: &[Token],
        paths: &Paths<Box<[u8]>>,
        places: &Places,
        most: usize,
    ) -> Result<Program, DecodeError> {
        Program::part(tokens, 0..tokens.len(), paths, places, most)
    }

    /// The program that puts together no more than the value of some tokens, a whole one; its layout is that of the whole shape.
    pub(crate) fn part(
        tokens: &[Token],
        wanted: Range<usize>,
        paths: &Paths<Box<[u8]>>,
        places: &Places,
        most: usize,
    ) -> Result<Program, DecodeError> {
        let (mut layout, mut seen) = (Layout::default(), Seen::default());
        let mut slots = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            let Token::Leaf(path, kind) = *token else { continue };
            if !kind.has_slot() {
                continue;
            }
            if kind == Leaf::Array {
                let list = places.arrays.get(&path).ok_or(malformed("an array without a list"))?;
                layout.push_list(*list, &mut seen);
            } else {
                let column =
                    places.columns.get(&(path, kind)).ok_or(malformed("a value without a column"))?;
                layout.push_column(*column, &mut seen);
            }
            if wanted.contains(&number) {
                slots.push(layout.slots.last().copied());
            }
        }
        let Literals { bytes, ends } = Literals::of(tokens, wanted, paths, most)?;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let slots = slots.into_iter().chain([None]);
        let pieces =
            starts.zip(&ends).zip(slots).map(|((start, end), slot)| Piece { literal: start..*end, slot });
        Ok(Program { pieces: pieces.collect(), literals: bytes, layout })
    }
}

/// What stands before each value of a shape that is found elsewhere, and after the last of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Literals {
    pub(crate) bytes: Vec<u8>,
    /// Where each ends.
    pub(crate) ends: Vec<usize>,
}

impl Literals {
    /// Those of the value of some tokens, a whole one.
    pub(crate) fn of<K: AsRef<[u8]>>(
        tokens: &[Token],
        wanted: Range<usize>,
        paths: &Paths<K>,
        most: usize,
    ) -> Result<Literals, DecodeError> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        // The objects that are open, and whether they have members already.
        let mut open: Vec<(u32, bool)> = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            let is_wanted = wanted.contains(&number);
            if let (Some((object, some)), Some(path)) = (open.last_mut(), token.path()) {
                let Some((parent, Step::Key(key))) = paths.step(path) else {
                    return Err(malformed("a member without a key"));
                };
                if parent != *object {
                    return Err(malformed("a member of another object"));
                }
                let comes_after = std::mem::replace(some, true);
                if is_wanted && number > wanted.start {
                    if comes_after {
                        bytes.push(b',');
                    }
                    bytes.push(b'"');
                    bytes.extend_from_slice(key.as_ref());
                    bytes.extend_from_slice(b"\":");
                }
            }
            let text = if is_wanted { literal_of(*token) } else { "" };
            bytes.extend_from_slice(text.as_bytes());
            if bytes.len() > most {
                return Err(malformed("shapes longer than the documents"));
            }
            match *token {
                Token::Open(path) => open.push((path, false)),
                Token::Close => drop(open.pop()),
                Token::Leaf(_, kind) if is_wanted && kind.has_slot() => {
                    ends.push(bytes.len());
                    // The quote behind a string is the one before it.
                    bytes.extend_from_slice(text.as_bytes());
                }
                Token::Leaf(..) => {}
            }
        }
        ends.push(bytes.len());
        Ok(Literals { bytes, ends })
    }
}

/// The literal text that a token begins with; of a string it is also what ends it.
fn literal_of(token: Token) -> &'static str {
    match token {
        Token::Open(_) => "{",
        Token::Close => "}",
        Token::Leaf(_, Leaf::True) => "true",
        Token::Leaf(_, Leaf::False) => "false",
        Token::Leaf(_, Leaf::Null) => "null",
        Token::Leaf(_, Leaf::Text) => "\"",
        Token::Leaf(_, Leaf::Whole | Leaf::Fraction | Leaf::Long | Leaf::Json | Leaf::Array) => "",
    }
}
