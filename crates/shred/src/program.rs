//! Shapes as programs: literal text, and between the slots whose values stand in columns.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use crate::directory::Unread;
use crate::error::{DecodeError, NO_COLUMN, malformed};
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

/// About so many bytes of literals come from a token.
const LITERAL_BYTES: usize = 16;

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
    pub(crate) fn of(directory: &Unread) -> Result<Places, DecodeError> {
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

    /// What they take in memory, in bytes, about.
    pub(crate) fn held_bytes(&self) -> usize {
        let Places { columns, arrays, elements } = self;
        size_of::<((u32, Leaf), u32)>() * columns.capacity()
            + size_of::<(u32, u32)>() * (arrays.capacity() + elements.capacity())
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
    pub(crate) fn census(&self, directory: &Unread, by_code: &[Vec<u32>]) -> Census {
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
        seen: &mut Seen,
    ) -> Result<Program, DecodeError> {
        Program::part(tokens, 0..tokens.len(), paths, places, most, seen)
    }

    /// The program that puts together no more than the value of some tokens, a whole one; its layout is that of the whole shape.
    pub(crate) fn part(
        tokens: &[Token],
        wanted: Range<usize>,
        paths: &Paths<Box<[u8]>>,
        places: &Places,
        most: usize,
        seen: &mut Seen,
    ) -> Result<Program, DecodeError> {
        let mut program = Program {
            literals: Vec::with_capacity(most.min(LITERAL_BYTES * wanted.len())),
            pieces: Vec::with_capacity(most.min(wanted.len()) + 1),
            layout: Layout::with_room(most.min(tokens.len())),
        };
        let mut start = 0;
        // The objects that are open, and whether they have members already.
        let mut open: Vec<(u32, bool)> = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            let is_wanted = wanted.contains(&number);
            let literals = &mut program.literals;
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
                        literals.push(b',');
                    }
                    literals.push(b'"');
                    literals.extend_from_slice(key);
                    literals.extend_from_slice(b"\":");
                }
            }
            let text = if is_wanted { literal_of(*token) } else { "" };
            literals.extend_from_slice(text.as_bytes());
            if literals.len() > most {
                return Err(malformed("shapes longer than the documents"));
            }
            match *token {
                Token::Open(path) => open.push((path, false)),
                Token::Close => drop(open.pop()),
                Token::Leaf(_, Leaf::True | Leaf::False | Leaf::Null) => {}
                Token::Leaf(path, kind) => {
                    if kind == Leaf::Array {
                        let list = places.arrays.get(&path).ok_or(malformed("an array without a list"))?;
                        program.layout.push_list(*list, seen);
                    } else {
                        let column = places.columns.get(&(path, kind)).ok_or(NO_COLUMN)?;
                        program.layout.push_column(*column, seen);
                    }
                    if is_wanted {
                        let literal = start..literals.len();
                        start = literals.len();
                        // The quote behind a string is the one before it.
                        literals.extend_from_slice(text.as_bytes());
                        program.pieces.push(Piece { literal, slot: program.layout.slots.last().copied() });
                    }
                }
            }
        }
        program.pieces.push(Piece { literal: start..program.literals.len(), slot: None });
        Ok(program)
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
