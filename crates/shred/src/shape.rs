//! Shapes: the keys of a value in their order, with the kind of each value; and which columns the values stand in.

use std::ops::Range;

/// What a value is, as far as the shape of its document says. Constants are told by that alone; the values of the others stand in
/// columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leaf {
    /// A string, without its quotes.
    Text,
    /// A whole number that its mantissa spells back.
    Whole,
    /// A number with a fraction that mantissa and scale spell back.
    Fraction,
    /// Any other number, as text.
    Long,
    /// Any JSON as text: what has too many keys or too many shapes.
    Json,
    /// An array: its elements are values of their own, with their own shapes.
    Array,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

impl Leaf {
    /// All, in the order of their numbers.
    pub(crate) const ALL: [Leaf; 9] = [
        Leaf::Text,
        Leaf::Whole,
        Leaf::Fraction,
        Leaf::Long,
        Leaf::Json,
        Leaf::Array,
        Leaf::True,
        Leaf::False,
        Leaf::Null,
    ];

    /// So many kinds have columns: those with the smallest numbers.
    pub(crate) const COLUMNS: usize = Leaf::Array as usize;

    /// Whether values of this kind stand in a column.
    pub(crate) fn has_column(self) -> bool {
        !matches!(self, Leaf::Array | Leaf::True | Leaf::False | Leaf::Null)
    }
}

/// A shape is a sequence of these, an object's members between `Open` and `Close`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Token {
    /// An object at this path.
    Open(u32),
    /// A value at this path that is no object.
    Leaf(u32, Leaf),
    /// The end of the object.
    Close,
}

impl Token {
    /// The path of the value that begins here.
    pub(crate) fn path(self) -> Option<u32> {
        match self {
            Token::Open(path) | Token::Leaf(path, _) => Some(path),
            Token::Close => None,
        }
    }
}

/// The shapes of a group, in one piece of memory: there are hundreds, of some tokens each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shapes {
    tokens: Vec<Token>,
    /// Where each shape stands; several may stand at one place.
    places: Vec<Range<u32>>,
    are_simple: bool,
}

/// Finds out whether shapes are simple: none has a path twice, or keeps a value as text.
#[derive(Default)]
pub(crate) struct Simple {
    /// For each path the number of the last shape that had it.
    last: Vec<u32>,
    shapes: u32,
    has_others: bool,
}

impl Simple {
    /// Begins one more shape.
    pub(crate) fn begin(&mut self) {
        self.shapes += 1;
    }

    /// Looks at a token of it. Takes memory in the greatest path, which must be below the number of paths.
    #[inline(always)]
    pub(crate) fn add(&mut self, token: Token) {
        let Some(path) = token.path() else { return };
        let path = path as usize;
        if path >= self.last.len() {
            self.last.resize(path + 1, 0);
        }
        let last = std::mem::replace(&mut self.last[path], self.shapes);
        self.has_others |= last == self.shapes || token == Token::Leaf(path as u32, Leaf::Json);
    }

    /// Whether all were simple.
    pub(crate) fn are_all(&self) -> bool {
        !self.has_others
    }
}

impl Shapes {
    /// Shapes that stand at some places of these tokens.
    pub(crate) fn new(tokens: Vec<Token>, places: Vec<Range<u32>>, simple: &Simple) -> Shapes {
        Shapes { tokens, places, are_simple: simple.are_all() }
    }

    /// Whether none has a path twice, or keeps a value as text.
    pub(crate) fn are_simple(&self) -> bool {
        self.are_simple
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// What they take in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        size_of::<Token>() * self.tokens.capacity() + size_of::<Range<u32>>() * self.places.capacity()
    }

    /// The tokens of a shape.
    pub(crate) fn get(&self, shape: usize) -> Option<&[Token]> {
        self.tokens.get(wide(self.places.get(shape)?))
    }

    /// All shapes in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[Token]> + Clone {
        self.places.iter().map(|place| self.tokens.get(wide(place)).unwrap_or_default())
    }
}

impl FromIterator<Vec<Token>> for Shapes {
    fn from_iter<T: IntoIterator<Item = Vec<Token>>>(shapes: T) -> Shapes {
        let (mut all, mut simple) = (Shapes::default(), Simple::default());
        for shape in shapes {
            simple.begin();
            shape.iter().for_each(|token| simple.add(*token));
            let start = all.tokens.len() as u32;
            all.tokens.extend(shape);
            all.places.push(start..all.tokens.len() as u32);
        }
        all.are_simple = simple.are_all();
        all
    }
}

/// A range of places, as it is kept in few bytes, for a look at a slice.
pub(crate) fn wide(place: &Range<u32>) -> Range<usize> {
    place.start as usize..place.end as usize
}

/// Where a value of a shape is found, or put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// In a column: the so-and-so-many-th value of this scope (above 0 where a key comes twice).
    Column { column: u32, nth: u32 },
    /// An array: the so-and-so-many-th of this scope.
    Array { list: u32, nth: u32 },
}

/// The slots of a shape in the order of the document, and by how much each column moves on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) slots: Vec<Slot>,
    /// Each column once, and how many of its values a value of this shape has.
    pub(crate) columns: Vec<(u32, u32)>,
    /// Each array once, likewise.
    pub(crate) lists: Vec<(u32, u32)>,
}

impl Layout {
    /// That of a shape of so many tokens, which has no slots yet.
    pub(crate) fn with_room(tokens: usize) -> Layout {
        Layout { slots: Vec::with_capacity(tokens), columns: Vec::with_capacity(tokens), lists: Vec::new() }
    }

    /// Adds a value in a column.
    pub(crate) fn push_column(&mut self, column: u32, seen: &mut Seen) {
        let nth = count(&mut seen.columns, &mut self.columns, column);
        self.slots.push(Slot::Column { column, nth });
    }

    /// Gives each column another number.
    pub(crate) fn renumber(&mut self, places: &[u32]) {
        let place = |column: &mut u32| *column = places.get(*column as usize).copied().unwrap_or(*column);
        for slot in &mut self.slots {
            if let Slot::Column { column, .. } = slot {
                place(column);
            }
        }
        self.columns.iter_mut().for_each(|(column, _)| place(column));
    }

    /// Adds an array.
    pub(crate) fn push_list(&mut self, list: u32, seen: &mut Seen) {
        let nth = count(&mut seen.lists, &mut self.lists, list);
        self.slots.push(Slot::Array { list, nth });
    }
}

/// Which paths were met: in one shape, or in any. Serves one shape after another, and is not cleared in between.
pub(crate) struct Met {
    /// For each path the number of the shape in which it was met last, from 1.
    last: Vec<u32>,
    shape: u32,
}

impl Met {
    /// For so many paths.
    pub(crate) fn new(paths: usize) -> Met {
        Met { last: vec![0; paths], shape: 0 }
    }

    /// Meets paths of a shape: whether each is met once in it.
    pub(crate) fn meet(&mut self, paths: impl Iterator<Item = u32>) -> bool {
        self.shape += 1;
        for path in paths {
            match self.last.get_mut(path as usize) {
                Some(last) if *last != self.shape => *last = self.shape,
                Some(_) | None => return false,
            }
        }
        true
    }

    /// The paths that were met, in ascending order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.last).filter(|(_, last)| **last > 0).map(|(path, _)| path)
    }
}

/// What a layout holds already, while it is made: for each column and list its place there, if it has one. Serves one shape after another, and is
/// not cleared in between.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    columns: Vec<u32>,
    lists: Vec<u32>,
}

fn count(seen: &mut Vec<u32>, counts: &mut Vec<(u32, u32)>, column: u32) -> u32 {
    if seen.len() <= column as usize {
        seen.resize(column as usize + 1, 0);
    }
    let place = &mut seen[column as usize];
    match counts.get_mut(*place as usize) {
        // What an earlier shape left points at another column, or at none.
        Some((of, count)) if *of == column => {
            *count += 1;
            *count - 1
        }
        _ => {
            *place = counts.len() as u32;
            counts.push((column, 1));
            0
        }
    }
}
