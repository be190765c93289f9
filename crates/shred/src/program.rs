//! Shapes as programs: literal text, and between the slots whose values stand in columns.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::OnceLock;

use crate::directory::Unread;
use crate::error::{DecodeError, NO_COLUMN, malformed};
use crate::grouping::Counts;
use crate::path::{OwnedKey, Paths, Step};
use crate::shape::{Layout, Leaf, Seen, Slot, Token, wide};

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
    /// The slot that is all there is: a number or an array, as an element of an array.
    pub(crate) only: Option<Slot>,
    pub(crate) layout: Layout,
}

/// About so many bytes of literals come from a token.
const LITERAL_BYTES: usize = 16;

/// Which columns and lists there are, by path.
#[derive(Debug)]
pub(crate) struct Places(Vec<Place>);

/// What there is at a path.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The column of each kind.
    columns: [Option<Number>; Leaf::COLUMNS],
    /// The list of the arrays at this path, which is that of the elements' parent.
    arrays: Option<Number>,
    /// The list of the elements with this path.
    elements: Option<Number>,
}

/// The number of a column or a list, and one more: so a place takes half of the memory.
type Number = NonZeroU32;

fn number(of: u32) -> Option<Number> {
    NonZeroU32::new(of.wrapping_add(1))
}

/// How many values and arrays the shapes of a list have: by the shape's code, those that have any.
#[derive(Debug)]
pub(crate) struct Census {
    columns: ManyCounts,
    arrays: ManyCounts,
    /// What [`Census::others`] tells of each column, once one was asked for.
    others: OnceLock<Box<[OnceLock<Option<Others>>]>>,
}

/// The counts of all columns, or of all lists, in one piece of memory: hundreds of blocks have them, of a hundred columns each.
#[derive(Debug, Default)]
struct ManyCounts {
    all: Vec<(u32, u32)>,
    places: Vec<Range<u32>>,
}

impl ManyCounts {
    /// Room for as many counts as each has at most: no more than the shapes of a group have tokens, which are fewer than 2^32.
    fn with_room(most: &[u32]) -> ManyCounts {
        let mut end = 0;
        let places = most.iter().map(|most| {
            let start = end;
            end += most;
            start..start
        });
        let places = places.collect();
        ManyCounts { all: vec![(0, 0); end as usize], places }
    }

    /// Counts a value more of a shape, whose code is none before the last.
    fn count(&mut self, of: usize, code: u32) {
        let Some(place) = self.places.get_mut(of) else { return };
        match self.all.get_mut(wide(place)).and_then(<[_]>::last_mut) {
            Some((last, count)) if *last == code => *count += 1,
            _ => {
                if let Some(next) = self.all.get_mut(place.end as usize) {
                    *next = (code, 1);
                    place.end += 1;
                }
            }
        }
    }

    fn get(&self, of: usize) -> Option<&Counts> {
        self.all.get(wide(self.places.get(of)?))
    }

    fn held_bytes(&self) -> usize {
        size_of_val(self.all.as_slice()) + size_of_val(self.places.as_slice())
    }
}

/// The codes of the shapes that do not have one value each of a column, and how many more they have.
pub(crate) type Others = Box<[(u32, i32)]>;

impl Census {
    /// The shapes, of so many, that have another number of a column's values than one; none where most have.
    pub(crate) fn others(&self, column: usize, shapes: usize) -> Option<&[(u32, i32)]> {
        let tell = || {
            let counts = self.column(column).filter(|counts| counts.len() > shapes / 2)?;
            let (mut others, mut next) = (Vec::new(), 0);
            for (code, count) in counts {
                others.extend((next..*code).map(|without| (without, -1)));
                if *count != 1 {
                    others.push((*code, i32::try_from(*count).ok()? - 1));
                }
                next = code + 1;
            }
            others.extend((next..shapes as u32).map(|without| (without, -1)));
            (others.len() <= shapes / 2).then(|| others.into())
        };
        let others =
            self.others.get_or_init(|| self.columns.places.iter().map(|_| OnceLock::new()).collect());
        others.get(column)?.get_or_init(tell).as_deref()
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let others = self.others.get().map_or(&[][..], |others| others);
        let told = others.iter().filter_map(|of| of.get()?.as_deref()).map(size_of_val).sum::<usize>();
        self.columns.held_bytes() + self.arrays.held_bytes() + size_of_val(others) + told
    }

    /// The values of a column.
    pub(crate) fn column(&self, column: usize) -> Option<&Counts> {
        self.columns.get(column)
    }

    /// The arrays of a list.
    pub(crate) fn arrays(&self, list: usize) -> Option<&Counts> {
        self.arrays.get(list)
    }
}

impl Places {
    pub(crate) fn of(directory: &Unread) -> Result<Places, DecodeError> {
        let mut places = vec![Place::default(); directory.paths.len()];
        for (column, of) in directory.columns.iter().zip(0..) {
            let place = places.get_mut(column.path as usize).ok_or(NO_COLUMN)?;
            let column = place.columns.get_mut(column.kind as usize).ok_or(NO_COLUMN)?;
            if std::mem::replace(column, number(of)).is_some() {
                return Err(malformed("two columns of one path and kind"));
            }
        }
        for (list, of) in directory.lists.iter().zip(0..) {
            let parent = match directory.paths.step(list.path) {
                None => None,
                Some((parent, Step::Element)) => Some(parent),
                Some((_, Step::Key(_))) => return Err(malformed("a list that is no array")),
            };
            let arrays =
                parent.and_then(|parent| places.get_mut(parent as usize)).map(|place| &mut place.arrays);
            let known = arrays.and_then(|arrays| std::mem::replace(arrays, number(of)));
            let elements = places.get_mut(list.path as usize).map(|place| &mut place.elements);
            if known.is_some()
                || elements.and_then(|elements| std::mem::replace(elements, number(of))).is_some()
            {
                return Err(malformed("two lists of one path"));
            }
        }
        Ok(Places(places))
    }

    /// What they take in memory, in bytes, about.
    pub(crate) fn held_bytes(&self) -> usize {
        size_of::<Place>() * self.0.capacity()
    }

    #[inline(always)]
    fn at(&self, path: u32) -> Option<&Place> {
        self.0.get(path as usize)
    }

    /// The column of a path and kind.
    #[inline(always)]
    pub(crate) fn column(&self, path: u32, kind: Leaf) -> Option<u32> {
        Some(self.at(path)?.columns.get(kind as usize).copied()??.get() - 1)
    }

    /// The list of the arrays at a path.
    #[inline(always)]
    fn arrays(&self, path: u32) -> Option<u32> {
        Some(self.at(path)?.arrays?.get() - 1)
    }

    /// The list of the elements with a path.
    fn elements(&self, path: u32) -> Option<u32> {
        Some(self.at(path)?.elements?.get() - 1)
    }

    /// The list to whose elements the values of a path belong.
    pub(crate) fn list_of(&self, path: u32, paths: &Paths<OwnedKey>) -> Option<u32> {
        let mut at = path;
        loop {
            if let Some(list) = self.elements(at) {
                return Some(list);
            }
            at = paths.step(at)?.0;
        }
    }

    /// How many values of each column, and how many arrays of each list, each shape has.
    pub(crate) fn census(&self, directory: &Unread, by_code: &[Vec<u32>]) -> Census {
        let (mut columns, mut arrays) = (vec![0; directory.columns.len()], vec![0; directory.lists.len()]);
        self.each_leaf(directory, by_code, |_, is_array, of| {
            let most = if is_array { &mut arrays } else { &mut columns };
            most.get_mut(of).into_iter().for_each(|most| *most += 1);
        });
        let (mut columns, mut arrays) = (ManyCounts::with_room(&columns), ManyCounts::with_room(&arrays));
        self.each_leaf(directory, by_code, |code, is_array, of| {
            if is_array { &mut arrays } else { &mut columns }.count(of, code);
        });
        Census { columns, arrays, others: OnceLock::new() }
    }

    /// Calls with each value of all shapes that stands in a column, and each array: the shape's code, whether it is an array, and the column's or the list's number.
    fn each_leaf(&self, directory: &Unread, by_code: &[Vec<u32>], mut call: impl FnMut(u32, bool, usize)) {
        for (code, shape) in by_code.iter().flat_map(|shapes| (0..).zip(shapes)) {
            for token in directory.shapes.get(*shape as usize).into_iter().flatten() {
                let Token::Leaf(path, kind) = *token else { continue };
                let is_array = kind == Leaf::Array;
                let of = if is_array { self.arrays(path) } else { self.column(path, kind) };
                of.into_iter().for_each(|of| call(code, is_array, of as usize));
            }
        }
    }

    /// The list whose elements may have this shape.
    pub(crate) fn list(&self, shape: &[Token]) -> Option<u32> {
        self.elements(shape.first()?.path()?)
    }
}

impl Program {
    /// The program of a shape, of so many literal bytes at most. Takes time and memory linear in its tokens and keys.
    pub(crate) fn of(
        tokens: &[Token],
        paths: &Paths<OwnedKey>,
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
        paths: &Paths<OwnedKey>,
        places: &Places,
        most: usize,
        seen: &mut Seen,
    ) -> Result<Program, DecodeError> {
        let mut program = Program {
            literals: Vec::with_capacity(most.min(LITERAL_BYTES * wanted.len())),
            pieces: Vec::with_capacity(most.min(wanted.len()) + 1),
            only: None,
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
                        let list = places.arrays(path).ok_or(malformed("an array without a list"))?;
                        program.layout.push_list(list, seen);
                    } else {
                        let column = places.column(path, kind).ok_or(NO_COLUMN)?;
                        program.layout.push_column(column, seen);
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
        if let ([Piece { slot, .. }], []) = (&*program.pieces, &*program.literals) {
            program.only = *slot;
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
