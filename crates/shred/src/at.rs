//! What stands at a path of keys, in every event: as numbers, by dictionary, or as JSON text. Only the columns are decoded that it
//! stands in, and those that their templates refer to.

use crate::column::{ColumnValues, Written};
use crate::encoding::dictionary::Coded;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, NO_COLUMN};
use crate::group::{Group, GroupReader};
use crate::number::{self, Plain};
use crate::path::{ROOT, Step};
use crate::pieces::TextPieces;
use crate::shape::{Leaf, Token};
use crate::stride::{Held, Lane, Strides};
use std::collections::BTreeSet;
use std::ops::Range;

/// What the events of a group have at a path. Of a key that comes twice in an object the last counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtPath {
    /// No event has anything there.
    Nothing,
    /// Few different values: each as JSON text, and for each event which one it has. The text of what is missing is empty.
    Coded(Coded<'static>),
    /// Numbers that a mantissa and a scale spell back, and nothing else.
    Numbers(Numbers),
    /// Numbers, and fewer other values.
    Mixed(Mixed),
    /// For each event its value as JSON text, empty where there is none.
    Texts(Texts<'static>),
    /// The same by template: texts that are not put together yet.
    Pieces(TextPieces),
    /// It cannot be told from columns: a value on the way is kept as text.
    Unknown,
}

/// What some events of a group have at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtRows {
    /// All events were told.
    All(AtPath),
    /// For each row that was asked for its value as JSON text, empty where there is none.
    Some(Texts<'static>),
}

impl AtRows {
    /// The same where all rows were asked for.
    pub(crate) fn whole(self) -> AtPath {
        match self {
            AtRows::All(at) => at,
            AtRows::Some(texts) => AtPath::Texts(texts),
        }
    }
}

/// The numbers of some events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The rows that have one; none where all have.
    pub rows: Option<Vec<u32>>,
    /// The numbers times `10^scale`.
    pub values: Vec<i64>,
    /// How many digits after the point they have at most.
    pub scale: u8,
    /// How many of them each is spelled with.
    pub spelled: Digits,
}

/// The numbers of some events, and what others have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    /// All values that are numbers.
    pub numbers: Numbers,
    /// The rows that have another value, or a number that is not spelled as its mantissa and scale would be.
    pub rows: Vec<u32>,
    /// For each of these rows its value as JSON text.
    pub texts: Texts<'static>,
}

/// How many digits after the point the numbers of a scale are spelled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// As many as the scale has.
    #[default]
    InFull,
    /// So many each.
    Each(Vec<u8>),
    /// As many as it takes: no zero stands at the end.
    Shortest,
}

impl Digits {
    /// So many digits each, of numbers of a scale. Takes time linear in their number.
    pub fn of(digits: Vec<u8>, scale: u8) -> Digits {
        if digits.iter().any(|own| *own != scale) { Digits::Each(digits) } else { Digits::InFull }
    }
}

/// A path has something in the shapes of some events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Its tokens in the shape.
    pub(crate) tokens: Range<usize>,
    /// The only one, if it is no object.
    pub(crate) leaf: Option<Leaf>,
    /// Where it has a column: which, and how many values of that come before it in the shape.
    pub(crate) column: Option<(u32, u32)>,
}

/// Where a path leads to in the shapes of a list: of the documents, or of the elements of arrays.
#[derive(Debug)]
pub(crate) struct Sites {
    pub(crate) list: usize,
    /// How many documents or elements there are.
    pub(crate) rows: usize,
    /// By the codes of the list's shapes; none where a shape has nothing there.
    pub(crate) by_code: Vec<Option<Site>>,
}

impl Sites {
    /// Those that are wanted, and nothing at the others.
    pub(crate) fn only(&self, wanted: impl Fn(&Site) -> bool) -> Sites {
        let by_code = self.by_code.iter().map(|site| site.clone().filter(|site| wanted(site))).collect();
        Sites { by_code, ..*self }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Site> {
        self.by_code.iter().flatten()
    }

    /// The columns that they have, each once.
    pub(crate) fn columns(&self) -> Vec<u32> {
        let mut columns: Vec<u32> =
            self.iter().filter_map(|site| site.column).map(|(column, _)| column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

/// Where a path leads to in a shape.
enum Found {
    Nothing,
    Site(Site),
    Unknown,
}

impl Group {
    /// The paths on the way down some keys, as documents spell them, from the documents themselves.
    pub(crate) fn path_of(&self, keys: &[&str]) -> Option<Vec<u32>> {
        self.path_below(ROOT, keys)
    }

    /// The same from a path on.
    pub(crate) fn path_below(&self, start: u32, keys: &[&str]) -> Option<Vec<u32>> {
        let paths = &self.directory().paths;
        let mut way = Vec::with_capacity(keys.len());
        let mut at = start;
        for key in keys {
            at = (1..paths.len() as u32).find(|child| match paths.step(*child) {
                Some((parent, Step::Key(own))) => parent == at && own.as_ref() == key.as_bytes(),
                Some((_, Step::Element)) | None => false,
            })?;
            way.push(at);
        }
        Some(way)
    }

    /// The keys of the documents' top level, as they spell them; none where a document has one twice, or is kept as text. Takes time linear in the
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let keys = |documents: &[&str]| {
    ///     let events = documents.iter().map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    ///     let encoded = encode(&events.collect::<Vec<_>>())?;
    ///     Ok::<_, Box<dyn std::error::Error>>(Group::open(&encoded.directory)?.keys())
    /// };
    /// assert_eq!(keys(&[r#"{"a":{"c":1}}"#, r#"{"b":2,"a":3}"#])?, Some(vec!["a".into(), "b".into()]));
    /// assert_eq!(keys(&[r#"{"a":1,"a":2}"#])?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keys(&self) -> Option<Vec<Box<str>>> {
        let mut keys = BTreeSet::new();
        for shape in self.shapes_of(0) {
            let (first, tokens) = self.directory().shapes.get(*shape as usize)?.split_first()?;
            let Token::Open(_) = first else { return None };
            let (mut depth, mut own) = (0usize, BTreeSet::new());
            for token in tokens {
                if depth == 0
                    && let Some(path) = token.path()
                    && !own.insert(path)
                {
                    return None;
                }
                match token {
                    Token::Open(_) => depth += 1,
                    Token::Close => depth = depth.saturating_sub(1),
                    Token::Leaf(..) => {}
                }
            }
            keys.append(&mut own);
        }
        let key = |path: u32| match self.directory().paths.step(path) {
            Some((_, Step::Key(key))) => std::str::from_utf8(key.as_ref()).ok().map(Box::from),
            Some((_, Step::Element)) | None => None,
        };
        keys.into_iter().map(key).collect()
    }

    /// The frames that are read for what stands at a path of keys, in ascending order; those of arrays are left out. Takes time linear in the tokens of all
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"ms":1,"at":7.5}"#, r#"{"ms":2}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let group = Group::open(&encode(&events)?.directory)?;
    /// assert_eq!(group.frames_at(&["ms"]), [0]);
    /// assert_eq!(group.frames_at(&["no such key"]), []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn frames_at(&self, keys: &[&str]) -> Vec<u32> {
        let Some(way) = self.path_of(keys) else { return Vec::new() };
        let directory = self.directory();
        let (mut columns, mut is_there) = (BTreeSet::new(), false);
        for shape in self.shapes_of(0) {
            let tokens = directory.shapes.get(*shape as usize).unwrap_or_default();
            let Found::Site(site) = self.find_in(tokens, &way, keys.len()) else { continue };
            is_there = true;
            for token in tokens.get(site.tokens).unwrap_or_default() {
                if let Token::Leaf(path, kind) = *token {
                    columns.extend(self.places().column(path, kind));
                }
            }
        }
        let mut frames = BTreeSet::new();
        if is_there {
            // Which event has which shape.
            frames.extend(directory.lists.first().and_then(|list| list.codes.part()).map(|part| part.frame));
        }
        // Templates refer to columns before their own only.
        while let Some(column) = columns.pop_last() {
            let info = directory.columns.get(column as usize);
            let Some(encoding) = info.and_then(|info| directory.encoding(info).ok()) else { continue };
            frames.extend(encoding.parts().iter().map(|part| part.frame));
            if encoding.needs_instants() {
                frames.extend(directory.instants.multiples.part().map(|part| part.frame));
            }
            columns.extend(encoding.references());
        }
        frames.into_iter().collect()
    }

    /// Whether each document that has something at a path of keys has something at another one, as shapes tell it. Takes time linear in the tokens of all
    /// shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"at":1,"of":2}"#, r#"{"of":2}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let group = Group::open(&encode(&events)?.directory)?;
    /// assert!(group.comes_with(&["at"], &["of"]) && !group.comes_with(&["of"], &["at"]));
    /// assert!(group.comes_with(&["no such key"], &["of"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn comes_with(&self, keys: &[&str], with: &[&str]) -> bool {
        let (Some(own), Some(with)) = (self.sites(0, keys), self.sites(0, with)) else { return false };
        own.by_code.iter().zip(&with.by_code).all(|(own, with)| own.is_none() || with.is_some())
    }

    /// Where a path of keys leads to in the shapes of a list; none where one keeps a value on the way as text.
    pub(crate) fn sites(&self, list: usize, keys: &[&str]) -> Option<Sites> {
        let info = self.directory().lists.get(list);
        let start = info.map_or(ROOT, |list| list.path);
        let way = self.path_below(start, keys).unwrap_or_default();
        let mut by_code = Vec::new();
        for shape in self.shapes_of(list) {
            let tokens = self.directory().shapes.get(*shape as usize).unwrap_or_default();
            by_code.push(match self.find_in(tokens, &way, keys.len()) {
                Found::Nothing => None,
                Found::Unknown => return None,
                Found::Site(site) => Some(site),
            });
        }
        let rows = if list == 0 { self.events() } else { info.map_or(0, |list| list.elements) };
        Some(Sites { list, rows, by_code })
    }

    /// Where a path leads to in a shape: at each level the last member of that key.
    fn find_in(&self, shape: &[Token], way: &[u32], keys: usize) -> Found {
        let mut object = 0..shape.len();
        for level in 0..keys {
            match shape.get(object.start) {
                Some(Token::Open(_)) => {}
                Some(Token::Leaf(_, Leaf::Json)) => return Found::Unknown,
                Some(Token::Leaf(..) | Token::Close) | None => return Found::Nothing,
            }
            let Some(wanted) = way.get(level) else { return Found::Nothing };
            let Some(member) = last_member(shape, object, *wanted) else { return Found::Nothing };
            object = member;
        }
        let leaf = match shape.get(object.start) {
            Some(Token::Leaf(_, leaf)) => Some(*leaf),
            Some(Token::Open(_) | Token::Close) | None => None,
        };
        let column = leaf.filter(|leaf| leaf.has_column()).and_then(|leaf| {
            let path = shape.get(object.start)?.path()?;
            let is_same = |token: &&Token| **token == Token::Leaf(path, leaf);
            let before = shape.get(..object.start)?.iter().filter(is_same).count();
            Some((self.places().column(path, leaf)?, before as u32))
        });
        Found::Site(Site { tokens: object, leaf, column })
    }
}

/// The tokens of the last member with a path of the object whose tokens these are: a path tells in which object it is.
fn last_member(shape: &[Token], object: Range<usize>, path: u32) -> Option<Range<usize>> {
    let is_member = |token: &Token| token.path() == Some(path);
    let start = object.start + shape.get(object.clone())?.iter().rposition(is_member)?;
    let mut depth = 0usize;
    for (at, token) in (start..object.end).zip(shape.get(start..)?) {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Leaf(..) => {}
        }
        if depth == 0 {
            return Some(start..at + 1);
        }
    }
    None
}

/// A dictionary may have so many entries for each of its values; what has more is given as text.
const ENTRIES_SHARE: usize = 2;

impl<'g> GroupReader<'g> {
    /// What the events have at a path of keys, spelled as documents spell them.
    ///
    /// Takes time linear in the number of events, in what its columns hold, and in the tokens of all shapes.
    ///
    /// ```
    /// # use tamias_shred::{AtPath, Digits, Event, Group, encode};
    /// let documents = [r#"{"ms":1,"at":{"city":"Bern"}}"#, r#"{"ms":2.5}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let mut reader = group.read(&encoded.frames);
    /// let AtPath::Numbers(ms) = reader.at(&["ms"])? else { panic!("numbers") };
    /// assert_eq!((ms.values.as_slice(), ms.scale, ms.spelled), (&[10, 25][..], 1, Digits::Each(vec![0, 1])));
    /// let AtPath::Coded(city) = reader.at(&["at", "city"])? else { panic!("few texts") };
    /// assert_eq!([city.get(0), city.get(1)], [Some(&b"\"Bern\""[..]), Some(&b""[..])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn at(&mut self, keys: &[&str]) -> Result<AtPath, DecodeError> {
        Ok(self.at_or(keys, None)?.whole())
    }

    /// What some events have at a path of keys, by their rows in ascending order: where each value is a text of its own, no others are made.
    ///
    /// Takes time linear in the number of events, and in what its columns hold; little of it for the events that are not asked about.
    ///
    /// ```
    /// # use tamias_shred::{AtRows, Event, Group, encode};
    /// let documents = [r#"{"to":["x"]}"#, r#"{"to":[]}"#, r#"{"to":[7,8]}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let AtRows::Some(to) = group.read(&encoded.frames).at_rows(&["to"], &[0, 2])? else { panic!("texts") };
    /// assert_eq!(to.iter().collect::<Vec<_>>(), [&b"[\"x\"]"[..], b"[7,8]"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn at_rows(&mut self, keys: &[&str], rows: &[u32]) -> Result<AtRows, DecodeError> {
        self.at_or(keys, Some(rows))
    }

    fn at_or(&mut self, keys: &[&str], rows: Option<&[u32]>) -> Result<AtRows, DecodeError> {
        match self.group.sites(0, keys) {
            Some(sites) => self.at_sites(&sites, rows),
            None => Ok(AtRows::All(AtPath::Unknown)),
        }
    }

    /// What stands at the sites of a path.
    pub(crate) fn at_sites(&mut self, sites: &Sites, rows: Option<&[u32]>) -> Result<AtRows, DecodeError> {
        if sites.iter().next().is_none() {
            return Ok(AtRows::All(AtPath::Nothing));
        }
        if let Some(numbers) = self.numbers(sites)? {
            return Ok(AtRows::All(AtPath::Numbers(numbers)));
        }
        if let Some(coded) = self.coded(sites)? {
            return Ok(AtRows::All(AtPath::Coded(coded)));
        }
        if let Some(pieces) = self.pieces(sites)? {
            return Ok(match rows {
                None => AtRows::All(AtPath::Pieces(pieces)),
                Some(rows) => AtRows::Some(pieces.texts(Some(rows))?),
            });
        }
        if let Some(mixed) = self.mixed(sites)? {
            return Ok(AtRows::All(AtPath::Mixed(mixed)));
        }
        Ok(self.json(sites, rows)?.map_or(AtRows::All(AtPath::Unknown), AtRows::Some))
    }

    /// How the events move on in some columns, the first of which begins at a place and the others behind it; none where there are too many of them. `constant` tells the
    /// place of a value that has no column.
    pub(crate) fn strides(
        &self,
        sites: &Sites,
        columns: &[u32],
        start: usize,
        constant: impl Fn(Leaf) -> Option<u32>,
    ) -> Result<Option<Strides>, DecodeError> {
        let directory = self.group.directory();
        let mut lanes = Vec::with_capacity(columns.len());
        let mut start = start;
        for column in columns {
            let info = directory.columns.get(*column as usize).ok_or(NO_COLUMN)?;
            let (token, count) = (Token::Leaf(info.path, info.kind), info.count);
            lanes.push(Lane { token, count, start, by_shape: info.is_by_shape() });
            start += count;
        }
        let mut shapes = Vec::with_capacity(sites.by_code.len());
        for (site, shape) in sites.by_code.iter().zip(self.group.shapes_of(sites.list)) {
            let held = match site {
                None => Held::Nothing,
                Some(Site { column: Some((column, nth)), .. }) => {
                    let lane = columns.iter().position(|own| own == column).ok_or(NO_COLUMN)?;
                    Held::Value { lane, nth: *nth }
                }
                Some(Site { leaf, .. }) => Held::Constant(leaf.and_then(&constant).ok_or(NO_COLUMN)?),
            };
            shapes.push((directory.shapes.get(*shape as usize).unwrap_or_default(), held));
        }
        Ok(Strides::of(shapes.into_iter(), lanes))
    }

    /// The values of a column of a path: in the order in which its strides find them.
    pub(crate) fn values_for(
        &mut self,
        strides: &Strides,
        column: u32,
    ) -> Result<ColumnValues<'g>, DecodeError> {
        if strides.find_by_shape() {
            self.column_as_stored(column as usize)
        } else {
            self.column(column as usize)
        }
    }

    /// The values by dictionary, if they are constants, texts that are few, and whole numbers that are few.
    fn coded(&mut self, sites: &Sites) -> Result<Option<Coded<'static>>, DecodeError> {
        let group = self.group;
        let is_coded = |site: &Site| {
            matches!(site.leaf, Some(Leaf::True | Leaf::False | Leaf::Null | Leaf::Text | Leaf::Whole))
        };
        if !sites.iter().all(is_coded) {
            return Ok(None);
        }
        let columns = sites.columns();
        for column in &columns {
            let info = group.directory().columns.get(*column as usize).ok_or(NO_COLUMN)?;
            match &info.encoding {
                Written::Simple(Simple::Dictionary(dictionary))
                    if dictionary.size * ENTRIES_SHARE <= sites.rows => {}
                Written::Simple(Simple::Whole(_) | Simple::Difference(_)) if info.kind == Leaf::Whole => {}
                _ => return Ok(None),
            }
        }
        let constant =
            |leaf| CONSTANTS.iter().position(|(of, _)| *of == Some(leaf)).map(|place| place as u32);
        let Some(strides) = self.strides(sites, &columns, CONSTANTS.len(), constant)? else {
            return Ok(None);
        };
        let mut entries = Entries::default();
        CONSTANTS.iter().for_each(|(_, text)| entries.push(&[text.as_bytes()]));
        // Every code: the constants', of which the first stands for what is missing, then those of the columns.
        let mut codes: Vec<u32> = (0..CONSTANTS.len() as u32).collect();
        for column in columns {
            match self.values_for(&strides, column)? {
                ColumnValues::Simple(Values::Coded(coded)) => {
                    let before = entries.ends.len() as u32;
                    coded.entries.iter().for_each(|text| entries.push(&[b"\"", text, b"\""]));
                    codes.extend(coded.codes.iter().map(|code| code + before));
                }
                ColumnValues::Simple(Values::Whole(numbers)) => {
                    if !entries.add_numbers(&numbers, sites.rows / ENTRIES_SHARE, &mut codes) {
                        return Ok(None);
                    }
                }
                _ => return Ok(None),
            }
        }
        let codes = codes.as_slice();
        let code = move |place: u32| codes.get(place as usize).copied().unwrap_or_default();
        let is_one = |places: Range<usize>| match codes.get(places) {
            // Some at once without a branch, since mostly all are the same.
            Some([first, others @ ..]) => others
                .chunks(SAME_TOGETHER)
                .all(|others| others.iter().fold(true, |same, other| same & (other == first))),
            Some([]) | None => true,
        };
        let codes = strides.all(self.codes(sites.list)?, code, is_one)?;
        Ok(Some(Coded { entries: Texts::of_parts(entries.ends, entries.bytes), codes }))
    }
}

/// So many codes are looked at together for another one.
const SAME_TOGETHER: usize = 128;

/// What stands in no column, as JSON text: what is missing, and the constants.
const CONSTANTS: [(Option<Leaf>, &str); 4] =
    [(None, ""), (Some(Leaf::True), "true"), (Some(Leaf::False), "false"), (Some(Leaf::Null), "null")];

/// The entries of a dictionary.
#[derive(Default)]
struct Entries {
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Entries {
    fn push(&mut self, pieces: &[&[u8]]) {
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
        self.ends.push(self.bytes.len() as u32);
    }

    /// Adds whole numbers, and appends the code of each: whether they lie so close that there are no more than `most`.
    fn add_numbers(&mut self, numbers: &[i64], most: usize, codes: &mut Vec<u32>) -> bool {
        let (Some(least), Some(largest)) = (numbers.iter().min(), numbers.iter().max()) else { return true };
        let span = largest.checked_sub(*least).and_then(|span| usize::try_from(span).ok());
        let Some(span) = span.filter(|span| *span < most) else { return false };
        const UNKNOWN: u32 = u32::MAX;
        let mut known = vec![UNKNOWN; span + 1];
        let mut buffer: number::Buffer = [0; _];
        for number in numbers {
            let Some(code) = known.get_mut((number - least) as usize) else { return false };
            if *code == UNKNOWN {
                *code = self.ends.len() as u32;
                let (from, to) = number::spell(Plain { mantissa: *number, scale: 0 }, &mut buffer);
                self.push(&[buffer.get(from..to).unwrap_or_default()]);
            }
            codes.push(*code);
        }
        true
    }
}
