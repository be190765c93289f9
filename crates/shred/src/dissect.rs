//! Takes documents apart: shapes by hash, values appended to the columns that their shape names.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use foldhash::fast::FixedState;
use tamias_json::Offsets;

use crate::collected::Collected;
use crate::hash::{self, Hashing, Same};
use crate::limits::{SHAPES_MAX, TOKEN_BYTES, TOKENS_FREE, TOKENS_MAX};
use crate::path::{PathIndex, Paths, ROOT, Step};
use crate::shape::{Layout, Leaf, Seen, Slot, Token};
use crate::texts::same;
use crate::walk::{Found, FoundValue, Scanned, Visitor};

/// A column's values, one after another.
#[derive(Debug)]
pub(crate) struct RawColumn {
    pub(crate) path: u32,
    pub(crate) kind: Leaf,
    /// The hash of its path's name.
    name: u64,
    pub(crate) values: RawValues,
}

/// The values of a column, and the memory of those of the group before.
#[derive(Debug, Default)]
pub(crate) struct RawValues {
    /// The text of each value; of a string without its quotes.
    pub(crate) texts: Collected,
    /// The mantissas of numbers.
    pub(crate) mantissas: Vec<i64>,
    /// The scales of those with a fraction.
    pub(crate) scales: Vec<u8>,
}

impl RawValues {
    /// Appends a value that was found in a document.
    #[inline(always)]
    fn push(&mut self, document: &[u8], found: Found) {
        self.texts.push_range(document, found.from as usize, found.to as usize);
        if let FoundValue::Number { mantissa, scale } = found.value {
            self.mantissas.push(mantissa);
            if scale > 0 {
                self.scales.push(scale);
            }
        }
    }

    fn clear(&mut self) {
        self.texts.clear();
        self.mantissas.clear();
        self.scales.clear();
    }

    /// How much memory they hold on to.
    fn capacity_bytes(&self) -> usize {
        self.texts.capacity_bytes() + 8 * self.mantissas.capacity() + self.scales.capacity()
    }
}

/// The arrays of one path, or, as the first, the documents themselves.
#[derive(Debug)]
pub(crate) struct RawList {
    /// The path of the elements.
    pub(crate) path: u32,
    /// How many elements each array has.
    pub(crate) lengths: Vec<i64>,
    /// The shape of each element, by its place in `shapes`.
    pub(crate) codes: Vec<i64>,
    /// The shapes of the elements.
    pub(crate) shapes: Vec<u32>,
    /// Those of them that are no objects, by kind.
    leaves: [Option<LeafShape>; Leaf::ALL.len()],
}

/// What is to be known of a shape that is no object, of which arrays have millions: its code, and where the value goes, if anywhere.
#[derive(Clone, Copy, Debug)]
struct LeafShape {
    code: i64,
    slot: Option<Slot>,
}

impl RawList {
    fn at(path: u32) -> RawList {
        RawList { path, lengths: Vec::new(), codes: Vec::new(), shapes: Vec::new(), leaves: [None; _] }
    }
}

/// HEURISTIC: so much memory is kept from one group to the next: enough for any but those with a column as long as a group in each of
/// many places.
const SPARE_BYTES: usize = 64 << 20;

/// HEURISTIC: paths are looked up, and forgotten again, for so many values for which there is no room, and for one more for each [`SHAPES_PER_VAIN`]
/// shapes. Where each event has keys of its own, that took a quarter of the time.
const IN_VAIN_FREE: usize = 64;

/// See [`IN_VAIN_FREE`].
const SHAPES_PER_VAIN: usize = 4;

/// A shape, as the encoder knows it.
#[derive(Debug)]
pub(crate) struct RawShape {
    /// Its place among the shapes of its list.
    pub(crate) code: i64,
    pub(crate) tokens: Vec<Token>,
    pub(crate) layout: Layout,
}

/// Documents taken apart.
#[derive(Debug)]
pub(crate) struct Dissection<'d> {
    pub(crate) paths: Paths<&'d [u8]>,
    pub(crate) shapes: Vec<RawShape>,
    pub(crate) columns: Vec<RawColumn>,
    pub(crate) lists: Vec<RawList>,
    /// Bytes of documents, or of parts of them, that stand in columns of JSON text.
    pub(crate) json_bytes: usize,
}

/// The memory of the columns of one group for those of the next, by name: what was as long there needs no more here, as a rule.
#[derive(Default)]
pub(crate) struct Spare(HashMap<(u64, Leaf), RawValues, FixedState>);

impl Spare {
    /// The memory of the column of this name.
    fn take(&mut self, name: u64, kind: Leaf) -> RawValues {
        self.0.remove(&(name, kind)).unwrap_or_default()
    }

    /// Takes the memory of a group's columns back, and forgets what that group did not need.
    pub(crate) fn keep(&mut self, dissection: Dissection<'_>) {
        self.0.clear();
        let mut left = SPARE_BYTES;
        for RawColumn { kind, name, mut values, .. } in dissection.columns {
            if let Some(rest) = left.checked_sub(values.capacity_bytes()) {
                left = rest;
                values.clear();
                self.0.insert((name, kind), values);
            }
        }
    }
}

/// Takes one document after another.
pub(crate) struct Dissector<'d, 'e> {
    out: Dissection<'d>,
    /// Memory for columns.
    spare: &'e mut Spare,
    /// What was scanned last; taken out while it is walked over.
    offsets: &'e mut Offsets,
    paths: PathIndex<'d>,
    /// From the hash of a value's structure, and of the list that it belongs to, to its shape.
    by_hash: HashMap<u64, u32, BuildHasherDefault<Same>>,
    /// For each path the column of each kind, counted from 1; 0 where there is none.
    columns: Vec<[u32; Leaf::COLUMNS]>,
    lists: HashMap<u32, u32, FixedState>,
    seen: Seen,
    /// The values of the scopes that are open, innermost last.
    found: Vec<Found>,
    /// How many tokens all shapes have, and how many bytes the documents so far.
    tokens: usize,
    bytes: usize,
    /// How many values were walked over for a shape for which there was no room.
    in_vain: usize,
    /// The document that was scanned last.
    scanned: &'d [u8],
}

impl<'d, 'e> Dissector<'d, 'e> {
    pub(crate) fn new(spare: &'e mut Spare, offsets: &'e mut Offsets) -> Dissector<'d, 'e> {
        let out = Dissection {
            paths: Paths::default(),
            shapes: Vec::new(),
            columns: Vec::new(),
            lists: vec![RawList::at(ROOT)],
            json_bytes: 0,
        };
        Dissector {
            out,
            spare,
            offsets,
            paths: PathIndex::default(),
            by_hash: HashMap::default(),
            columns: Vec::new(),
            lists: HashMap::from_iter([(ROOT, 0)]),
            seen: Seen::default(),
            in_vain: 0,
            scanned: &[],
            found: Vec::new(),
            tokens: 0,
            bytes: 0,
        }
    }

    /// Takes a document apart. What cannot be scanned, or is nothing that could be put together again, is kept as text.
    pub(crate) fn document(&mut self, bytes: &'d [u8]) {
        self.bytes += bytes.len();
        let mut offsets = std::mem::take(self.offsets);
        // One that comes again is not scanned again: of events of a few bytes that takes most of the time.
        let is_scanned = !bytes.is_empty() && same(self.scanned, bytes);
        if is_scanned || offsets.scan_trusted(bytes).is_ok() {
            self.scanned = bytes;
            self.value(0, &Scanned { bytes, entries: offsets.entries() }, 0);
        } else {
            self.scanned = &[];
            self.text(bytes);
        }
        *self.offsets = offsets;
    }

    /// Keeps a document as text.
    pub(crate) fn text(&mut self, bytes: &'d [u8]) {
        self.json(0, bytes);
    }

    /// All that was taken apart. Templates refer to earlier columns only, and a text that shows another value is no shorter: so columns
    /// come in the order of their longest values.
    pub(crate) fn finish(mut self) -> Dissection<'d> {
        self.out.paths = self.paths.paths;
        let longest = |column: &RawColumn| column.values.texts.pool().lengths().max().unwrap_or(0);
        let mut order: Vec<(usize, usize)> = self.out.columns.iter().map(longest).zip(0..).collect();
        order.sort_unstable();
        let mut places = vec![0; order.len()];
        for ((_, number), place) in order.iter().zip(0..) {
            places[*number] = place;
        }
        for shape in &mut self.out.shapes {
            shape.layout.renumber(&places);
        }
        let mut columns: Vec<Option<RawColumn>> = self.out.columns.into_iter().map(Some).collect();
        self.out.columns = order.iter().filter_map(|(_, number)| columns[*number].take()).collect();
        self.out
    }

    /// Takes the value whose text ends, or whose bracket opens, at an entry, as an element of a list.
    fn value(&mut self, list: u32, document: &Scanned<'d, '_>, index: usize) {
        let Some((kind, found)) = document.leaf(index) else {
            self.of_any_shape(list, document, index);
            return;
        };
        let Dissection { columns, lists, .. } = &mut self.out;
        let of = &mut lists[list as usize];
        let Some(LeafShape { code, slot }) = of.leaves[kind as usize] else {
            if let Some(shape) = self.of_any_shape(list, document, index) {
                let RawShape { code, layout, .. } = &self.out.shapes[shape as usize];
                let leaf = LeafShape { code: *code, slot: layout.slots.first().copied() };
                self.out.lists[list as usize].leaves[kind as usize] = Some(leaf);
            }
            return;
        };
        of.codes.push(code);
        match slot.zip(found) {
            Some((Slot::Column { column, .. }, found)) => {
                columns[column as usize].values.push(document.bytes, found);
            }
            Some((Slot::Array { list, .. }, found)) => self.array(list, document, found),
            None => {}
        }
    }

    /// Takes a value by the hash of its structure; gives its shape, if there is room for it.
    fn of_any_shape(&mut self, list: u32, document: &Scanned<'d, '_>, index: usize) -> Option<u32> {
        let base = self.found.len();
        let mut hashing = Hashing::new(list, &mut self.found);
        document.visit(index, &mut hashing);
        let hash = hashing.hash();
        let known = self.by_hash.get(&hash).copied();
        let shape = known.or_else(|| self.learn(list, document, index, hash, self.found.len() - base));
        let Some(shape) = shape else {
            self.found.truncate(base);
            self.json(list, document.whole(index));
            return None;
        };
        self.put(list, shape, document.bytes, base);
        self.arrays(shape, document, base);
        self.found.truncate(base);
        Some(shape)
    }

    /// Appends a value's code, and what was found in it to the columns of its shape.
    fn put(&mut self, list: u32, shape: u32, document: &[u8], base: usize) {
        let Dissection { shapes, columns, lists, .. } = &mut self.out;
        let shape = &shapes[shape as usize];
        lists[list as usize].codes.push(shape.code);
        for (slot, found) in shape.layout.slots.iter().zip(&self.found[base..]) {
            let Slot::Column { column, .. } = *slot else { continue };
            columns[column as usize].values.push(document, *found);
        }
    }

    /// Takes the elements of the arrays that were found in a value.
    fn arrays(&mut self, shape: u32, document: &Scanned<'d, '_>, base: usize) {
        if self.out.shapes[shape as usize].layout.lists.is_empty() {
            return;
        }
        for nth in 0..self.out.shapes[shape as usize].layout.slots.len() {
            let Slot::Array { list, .. } = self.out.shapes[shape as usize].layout.slots[nth] else {
                continue;
            };
            let Some(found) = self.found.get(base + nth).copied() else { continue };
            self.array(list, document, found);
        }
    }

    /// Takes the elements of an array.
    fn array(&mut self, list: u32, document: &Scanned<'d, '_>, found: Found) {
        let FoundValue::Array { entry: open } = found.value else { return };
        let mut length = 0;
        document.elements(open, |index| {
            length += 1;
            self.value(list, document, index);
        });
        self.out.lists[list as usize].lengths.push(length);
    }

    /// Keeps a value as text.
    fn json(&mut self, list: u32, text: &'d [u8]) {
        let path = self.out.lists[list as usize].path;
        let hash = hash::of_text(list);
        let shape = match self.by_hash.get(&hash) {
            Some(shape) => *shape,
            None => self.add_shape(list, vec![Token::Leaf(path, Leaf::Json)], hash),
        };
        self.out.json_bytes += text.len();
        let base = self.found.len();
        self.found.push(Found::text(0, text.len()));
        self.put(list, shape, text, base);
        self.found.truncate(base);
    }

    /// Makes the shape of a value in which so many values were found; nothing where a limit is reached.
    fn learn(
        &mut self,
        list: u32,
        document: &Scanned<'d, '_>,
        index: usize,
        hash: u64,
        found: usize,
    ) -> Option<u32> {
        let tokens_max = TOKENS_MAX.min(TOKENS_FREE + self.bytes / TOKEN_BYTES);
        let is_full = self.out.shapes.len() >= SHAPES_MAX || self.tokens + found > tokens_max;
        if is_full || self.in_vain > IN_VAIN_FREE + self.out.shapes.len() / SHAPES_PER_VAIN {
            return None;
        }
        let path = self.out.lists[list as usize].path;
        let paths_before = self.paths.len();
        let mut naming = Naming { paths: &mut self.paths, open: vec![path], tokens: Vec::new(), full: false };
        document.visit(index, &mut naming);
        let Naming { tokens, mut full, .. } = naming;
        for token in &tokens {
            if let Token::Leaf(path, Leaf::Array) = *token {
                full |= self.paths.child(path, Step::Element).is_none();
            }
        }
        if full || self.tokens + tokens.len() > tokens_max {
            // Its paths are nobody's: what comes after it finds room for its own.
            self.paths.truncate(paths_before);
            self.in_vain += 1;
            return None;
        }
        self.tokens += tokens.len();
        Some(self.add_shape(list, tokens, hash))
    }

    fn add_shape(&mut self, list: u32, tokens: Vec<Token>, hash: u64) -> u32 {
        let mut layout = Layout::with_room(tokens.len());
        self.columns.resize(self.paths.len() + 1, [0; _]);
        for token in &tokens {
            match *token {
                Token::Leaf(path, Leaf::Array) => {
                    // The path is there: `learn` has made it.
                    let elements = self.paths.child(path, Step::Element).unwrap_or(ROOT);
                    let lists = &mut self.out.lists;
                    let list = *self.lists.entry(elements).or_insert(lists.len() as u32);
                    if list as usize == lists.len() {
                        lists.push(RawList::at(elements));
                    }
                    layout.push_list(list, &mut self.seen);
                }
                Token::Leaf(path, kind) if kind.has_column() => {
                    let known = &mut self.columns[path as usize][kind as usize];
                    if *known == 0 {
                        let name = self.paths.name(path);
                        let mut values = self.spare.take(name, kind);
                        if matches!(kind, Leaf::Whole | Leaf::Fraction) {
                            values.texts.keep_all();
                        }
                        self.out.columns.push(RawColumn { path, kind, name, values });
                        *known = self.out.columns.len() as u32;
                    }
                    let column = *known - 1;
                    layout.push_column(column, &mut self.seen);
                }
                _ => {}
            }
        }
        let shape = self.out.shapes.len() as u32;
        let list = &mut self.out.lists[list as usize];
        let code = list.shapes.len() as i64;
        list.shapes.push(shape);
        self.out.shapes.push(RawShape { code, tokens, layout });
        self.by_hash.insert(hash, shape);
        shape
    }
}

/// The second walk, over values of a shape that is new: its tokens.
struct Naming<'d, 'p> {
    paths: &'p mut PathIndex<'d>,
    /// The paths of the objects that are open; as the first that of the value itself.
    open: Vec<u32>,
    tokens: Vec<Token>,
    /// Whether there are too many paths.
    full: bool,
}

impl<'d> Naming<'d, '_> {
    fn path(&mut self, key: Option<&'d [u8]>) -> u32 {
        let parent = self.open.last().copied().unwrap_or(ROOT);
        let Some(key) = key else { return parent };
        let path = self.paths.child(parent, Step::Key(key));
        self.full |= path.is_none();
        path.unwrap_or(ROOT)
    }
}

impl<'d> Visitor<'d> for Naming<'d, '_> {
    fn open(&mut self, key: Option<&'d [u8]>) {
        let path = self.path(key);
        self.open.push(path);
        self.tokens.push(Token::Open(path));
    }

    fn leaf(&mut self, key: Option<&'d [u8]>, kind: Leaf, _: Option<Found>) {
        let path = self.path(key);
        self.tokens.push(Token::Leaf(path, kind));
    }

    fn close(&mut self) {
        self.open.pop();
        self.tokens.push(Token::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of some documents, as a table.
    fn columns(documents: &[&str]) -> String {
        let mut spare = Spare::default();
        let mut offsets = Offsets::new();
        let mut dissector = Dissector::new(&mut spare, &mut offsets);
        for document in documents {
            dissector.document(document.as_bytes());
        }
        let out = dissector.finish();
        let mut text = String::new();
        for list in &out.lists {
            let path = out.paths.display(list.path);
            text += &format!("{path:?} lengths {:?} shapes {:?}\n", list.lengths, list.codes);
        }
        for column in &out.columns {
            let all = column.values.texts.all();
            let values: Vec<_> = all.iter().map(|text| String::from_utf8_lossy(text)).collect();
            text += &format!("{} {:?} {}\n", out.paths.display(column.path), column.kind, values.join("|"));
        }
        text
    }

    #[test]
    fn values_stand_in_columns_by_path_and_kind() {
        let documents = [
            r#"{"a":1,"b":{"c":"x","d":[1,2.5,{"e":null}]},"f":true}"#,
            r#"{"a":2,"b":{"c":"y","d":[]},"f":true}"#,
            r#"{"a":"3","a":-0,"":{}}"#,
        ];
        let expected = "\
\"\" lengths [] shapes [0, 0, 1]
\"b.d[]\" lengths [3, 0] shapes [0, 1, 2]
a Whole 1|2
b.c Text x|y
b.d[] Whole 1
a Text 3
a Long -0
b.d[] Fraction 2.5
";
        assert_eq!(columns(&documents), expected);
    }

    #[test]
    fn a_document_with_too_many_keys_is_kept_as_text() {
        let members: Vec<String> = (0..20_000).map(|n| format!("\"k{n}\":{n}")).collect();
        let document = format!("{{{}}}", members.join(","));
        let table = columns(&[&document]);
        assert_eq!(table, format!("\"\" lengths [] shapes [0]\n Json {document}\n"));
    }

    #[test]
    fn events_of_keys_of_their_own_are_not_walked_over_again_once_there_is_no_room() {
        let long = "x".repeat(100);
        let document = |n: usize| {
            let members: Vec<String> = (0..100).map(|key| format!("\"{n} {key}\":\"{long}\"")).collect();
            format!("{{{}}}", members.join(","))
        };
        let documents: Vec<String> = (0..400).map(document).collect();
        let mut spare = Spare::default();
        let mut offsets = Offsets::new();
        let mut dissector = Dissector::new(&mut spare, &mut offsets);
        for document in &documents {
            dissector.document(document.as_bytes());
        }
        let shapes = dissector.out.shapes.len();
        assert!(dissector.in_vain <= IN_VAIN_FREE + shapes / SHAPES_PER_VAIN + 1, "{}", dissector.in_vain);
        // Those that had room are in columns.
        let text: usize = documents.iter().skip(shapes - 1).map(String::len).sum();
        assert_eq!(dissector.out.json_bytes, text);
    }
}
