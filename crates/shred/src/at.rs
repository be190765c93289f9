//! What stands at a path of keys, in every event: as numbers, by dictionary, or as JSON text. Only the columns are decoded that it
//! stands in, and those that their templates refer to.

use crate::column::{ColumnValues, Written};
use crate::encoding::dictionary::Coded;
use crate::encoding::fraction::{Decimals, Scales};
use crate::encoding::simple::{Simple, Values};
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::group::{Group, GroupReader};
use crate::number::{self, Plain};
use crate::path::{ROOT, Step};
use crate::shape::{Leaf, Token};
use std::borrow::Cow;
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
    /// For each event its value as JSON text, empty where there is none.
    Texts(Texts<'static>),
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

/// How many digits after the point the numbers of a scale are spelled with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// As many as the scale has.
    #[default]
    InFull,
    /// So many each.
    Each(Vec<u8>),
    /// As many as it takes: no zero stands at the end. No column is stored so, but what is computed is spelled like this.
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
    leaf: Option<Leaf>,
    /// Where it has a column: which, and how many values of that come before it in the shape.
    column: Option<(u32, u32)>,
}

/// Where a path leads to in a shape.
enum Found {
    Nothing,
    Site(Site),
    Unknown,
}

impl Group {
    /// The paths on the way down some keys, as documents spell them.
    pub(crate) fn path_of(&self, keys: &[&str]) -> Option<Vec<u32>> {
        let paths = &self.directory().paths;
        let mut way = Vec::with_capacity(keys.len());
        let mut at = ROOT;
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

/// The tokens of the last member with a path of the object whose tokens these are.
fn last_member(shape: &[Token], object: Range<usize>, path: u32) -> Option<Range<usize>> {
    let (mut depth, mut begun, mut last) = (0usize, None, None);
    for at in object {
        let token = shape.get(at)?;
        // Members of the object stand one below it.
        if depth == 1 && token.path() == Some(path) {
            begun = Some(at);
        }
        match token {
            Token::Open(_) => depth += 1,
            Token::Close => depth -= 1,
            Token::Leaf(..) => {}
        }
        if depth == 1
            && let Some(start) = begun.take()
        {
            last = Some(start..at + 1);
        }
        if depth == 0 {
            break;
        }
    }
    last
}

/// What an event of a shape has at a path that has two columns at most, and by how much they move on behind it.
#[derive(Clone, Copy)]
struct Stride {
    has: bool,
    /// Which of its column's values of this event it is, or what is there where it has none.
    nth: u32,
    /// Its column.
    lane: u8,
    /// By how much each cursor moves on. The two are one number, which is added to without waiting for memory.
    moves: u64,
}

/// The bits of a cursor.
const CURSOR: u8 = 32;

/// What stands in no column goes with the second one, which does not move then.
const NO_LANE: u8 = 1;

impl Stride {
    /// The place of its value, where the cursors stand.
    #[inline(always)]
    fn place(self, cursors: u64) -> u32 {
        ((cursors >> (self.lane * CURSOR)) as u32).wrapping_add(self.nth)
    }
}

/// The numbers of a column, all with the same number of digits after the point.
#[derive(Default)]
struct Aligned {
    values: Vec<i64>,
    /// How many digits each is spelled with; none where that is `scale` for all.
    scales: Vec<u8>,
    scale: u8,
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
        Ok(match self.at_or(keys, None)? {
            AtRows::All(at) => at,
            AtRows::Some(texts) => AtPath::Texts(texts),
        })
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
        let group = self.group;
        let way = group.path_of(keys).unwrap_or_default();
        let mut sites = Vec::new();
        let mut has_some = false;
        for shape in group.shapes_of(0) {
            let tokens = group.directory().shapes.get(*shape as usize).unwrap_or_default();
            sites.push(match group.find_in(tokens, &way, keys.len()) {
                Found::Nothing => None,
                Found::Unknown => return Ok(AtRows::All(AtPath::Unknown)),
                Found::Site(site) => Some(site),
            });
            has_some |= sites.last().is_some_and(Option::is_some);
        }
        if !has_some {
            return Ok(AtRows::All(AtPath::Nothing));
        }
        if let Some(numbers) = self.numbers(&sites)? {
            return Ok(AtRows::All(AtPath::Numbers(numbers)));
        }
        if let Some(coded) = self.coded(&sites)? {
            return Ok(AtRows::All(AtPath::Coded(coded)));
        }
        Ok(self.json(&sites, rows)?.map_or(AtRows::All(AtPath::Unknown), AtRows::Some))
    }

    /// The columns that sites have, each once.
    fn columns_of(sites: &[Option<Site>]) -> Vec<u32> {
        let mut columns: Vec<u32> =
            sites.iter().flatten().filter_map(|site| site.column).map(|(column, _)| column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// For each shape of the documents what it has of at most two columns: `nth` gives for a site which value of its column it is.
    fn strides(
        &self,
        sites: &[Option<Site>],
        columns: &[u32],
        nth: impl Fn(&Site) -> Option<u32>,
    ) -> Result<Vec<Stride>, DecodeError> {
        let directory = self.group.directory();
        let tokens: Vec<Token> = columns
            .iter()
            .filter_map(|column| directory.columns.get(*column as usize))
            .map(|column| Token::Leaf(column.path, column.kind))
            .collect();
        let stride = |(site, shape): (&Option<Site>, &u32)| {
            let shape = directory.shapes.get(*shape as usize).unwrap_or_default();
            let mut moves = 0;
            for (token, lane) in tokens.iter().zip(0..) {
                moves += (shape.iter().filter(|own| *own == token).count() as u64) << (lane * CURSOR);
            }
            let Some(site) = site else { return Some(Stride { has: false, nth: 0, lane: NO_LANE, moves }) };
            let lane = site.column.and_then(|(own, _)| columns.iter().position(|column| *column == own));
            Some(Stride { has: true, nth: nth(site)?, lane: lane.map_or(NO_LANE, |lane| lane as u8), moves })
        };
        let shapes = self.group.shapes_of(0);
        let strides = sites.iter().zip(shapes).map(stride).collect::<Option<_>>();
        strides.ok_or(malformed("a value without a column"))
    }

    /// The numbers, if there is nothing else, and their mantissas can be brought to one scale.
    fn numbers(&mut self, sites: &[Option<Site>]) -> Result<Option<Numbers>, DecodeError> {
        let is_number = |site: &Site| matches!(site.leaf, Some(Leaf::Whole | Leaf::Fraction));
        if !sites.iter().flatten().all(is_number) {
            return Ok(None);
        }
        let numbers = Self::columns_of(sites);
        let mut columns = Vec::with_capacity(numbers.len());
        for column in &numbers {
            columns.push(match self.column(*column as usize)? {
                ColumnValues::Simple(Values::Whole(mantissas)) => {
                    Decimals { mantissas, scales: Scales::Fixed(0) }
                }
                ColumnValues::Simple(Values::Decimals(decimals)) => decimals,
                _ => return Err(malformed("numbers that are none")),
            });
        }
        let scale = columns.iter().map(Decimals::scale_max).max().unwrap_or_default();
        let Some(columns) =
            columns.into_iter().map(|column| column.aligned(scale)).collect::<Option<Vec<_>>>()
        else {
            return Ok(None);
        };
        let strides = self.strides(sites, &numbers, |site| Some(site.column?.1))?;
        let numbers = match <[Aligned; 1]>::try_from(columns) {
            Ok([column])
                if strides.iter().all(|stride| stride.nth == 0 && stride.moves == stride.has.into()) =>
            {
                self.in_order(&strides, column, scale)?
            }
            Ok([column]) => self.gathered(&strides, &[column, Aligned::default()], scale)?,
            Err(columns) => match <[Aligned; 2]>::try_from(columns) {
                Ok(columns) => self.gathered(&strides, &columns, scale)?,
                Err(_) => return Err(malformed("numbers that are none")),
            },
        };
        Ok(Some(numbers))
    }

    /// The numbers of a column of which each event has one or none.
    fn in_order(&mut self, strides: &[Stride], column: Aligned, scale: u8) -> Result<Numbers, DecodeError> {
        let events = self.group.events();
        let Aligned { mut values, mut scales, .. } = column;
        let mut rows = Vec::new();
        let mut count = events;
        if !strides.iter().all(|stride| stride.has) {
            rows = vec![0u32; values.len().min(events)];
            count = 0;
            for (row, code) in (0..).zip(self.codes(0)?) {
                // Written always, and kept where the event has something: a branch could not be foretold.
                if let Some(row_at) = rows.get_mut(count) {
                    *row_at = row;
                }
                count += usize::from(strides.get(*code as usize).is_some_and(|stride| stride.has));
            }
            rows.truncate(count);
        }
        if values.len() < count {
            return Err(TOO_FEW);
        }
        values.truncate(count);
        scales.truncate(count);
        // They are kept: a column says how many values it has, the events how many are of use.
        values.shrink_to_fit();
        scales.shrink_to_fit();
        let rows = (count != events).then_some(rows);
        Ok(Numbers { rows, values, scale, spelled: Digits::of(scales, scale) })
    }

    /// The numbers of two columns, in the order of the events.
    fn gathered(
        &mut self,
        strides: &[Stride],
        columns: &[Aligned; 2],
        scale: u8,
    ) -> Result<Numbers, DecodeError> {
        // One column behind the other: which of them an event has is not to be guessed.
        let behind = columns[0].values.len() as u32;
        let mut strides = strides.to_vec();
        for stride in strides.iter_mut().filter(|stride| stride.lane == 1) {
            stride.nth = stride.nth.wrapping_add(behind);
        }
        let all = columns.each_ref().map(|column| column.values.as_slice()).concat();
        let codes = self.codes(0)?;
        let Walked { rows, places, cursors } = walk(codes, &strides);
        if places.iter().any(|place| *place as usize >= all.len()) || cursors as u32 > behind {
            return Err(TOO_FEW);
        }
        let value = |place: &u32| all.get(*place as usize).copied().unwrap_or_default();
        let values = places.iter().map(value).collect();
        let is_uniform =
            |column: &Aligned| column.values.is_empty() || column.scales.is_empty() && column.scale == scale;
        let spelled = match columns.iter().all(is_uniform) {
            true => Vec::new(),
            false => {
                let scales = columns.each_ref().map(Aligned::scales).concat();
                let spelled = |place: &u32| scales.get(*place as usize).copied().unwrap_or_default();
                places.iter().map(spelled).collect()
            }
        };
        let are_all = rows.len() == codes.len();
        Ok(Numbers { rows: (!are_all).then_some(rows), values, scale, spelled: Digits::of(spelled, scale) })
    }

    /// The values by dictionary, if they are constants, and texts that are few.
    fn coded(&mut self, sites: &[Option<Site>]) -> Result<Option<Coded<'static>>, DecodeError> {
        let group = self.group;
        let mut column = None;
        for site in sites.iter().flatten() {
            match (site.leaf, site.column) {
                (Some(Leaf::True | Leaf::False | Leaf::Null), _) => {}
                (Some(Leaf::Text), Some((of, _))) if column.is_none_or(|column| column == of) => {
                    column = Some(of);
                }
                _ => return Ok(None),
            }
        }
        // What is missing, the constants, then the texts.
        let mut entries: Vec<Vec<u8>> =
            ["", "true", "false", "null"].map(|text| text.as_bytes().to_vec()).into();
        const CONSTANTS: u32 = 4;
        // Every code: the constants', then those of the texts.
        let mut codes: Vec<u32> = (0..CONSTANTS).collect();
        if let Some(column) = column {
            let info = group.directory().columns.get(column as usize);
            let Some(Written::Simple(Simple::Dictionary(dictionary))) = info.map(|info| &info.encoding)
            else {
                return Ok(None);
            };
            if dictionary.size * ENTRIES_SHARE > group.events() {
                return Ok(None);
            }
            let ColumnValues::Simple(Values::Coded(coded)) = self.column(column as usize)? else {
                return Ok(None);
            };
            entries.extend(coded.entries.iter().map(|text| [b"\"", text, b"\""].concat()));
            codes.extend(coded.codes.iter().map(|code| code + CONSTANTS));
        }
        let columns: Vec<u32> = column.into_iter().collect();
        let mut strides = self.strides(sites, &columns, |site| match (site.leaf, site.column) {
            (Some(Leaf::True), _) => Some(1),
            (Some(Leaf::False), _) => Some(2),
            (Some(Leaf::Null), _) => Some(3),
            (_, Some((_, nth))) => Some(CONSTANTS.wrapping_add(nth)),
            (_, None) => None,
        })?;
        // Of what is missing the code is 0.
        strides.iter_mut().for_each(|stride| stride.has = true);
        let Walked { mut places, .. } = walk(self.codes(0)?, &strides);
        if places.iter().any(|place| *place as usize >= codes.len()) {
            return Err(TOO_FEW);
        }
        places.iter_mut().for_each(|place| *place = codes.get(*place as usize).copied().unwrap_or_default());
        Ok(Some(Coded { entries: Texts::of(&entries), codes: places }))
    }
}

/// The events that have something.
struct Walked {
    rows: Vec<u32>,
    /// For each the place of its value.
    places: Vec<u32>,
    /// Where the cursors stand in the end.
    cursors: u64,
}

/// Goes over the events, by the codes of their shapes.
fn walk(codes: &[u32], strides: &[Stride]) -> Walked {
    let (mut rows, mut places) = (vec![0u32; codes.len()], vec![0u32; codes.len()]);
    let (mut length, mut cursors) = (0, 0u64);
    for (row, code) in (0..).zip(codes) {
        let Some(stride) = strides.get(*code as usize) else { continue };
        // Written always, and kept where the event has something: a branch could not be foretold.
        if let (Some(row_at), Some(place_at)) = (rows.get_mut(length), places.get_mut(length)) {
            *row_at = row;
            *place_at = stride.place(cursors);
        }
        length += usize::from(stride.has);
        cursors = cursors.wrapping_add(stride.moves);
    }
    rows.truncate(length);
    places.truncate(length);
    Walked { rows, places, cursors }
}

impl Aligned {
    /// How many digits each is spelled with.
    fn scales(&self) -> Cow<'_, [u8]> {
        match self.scales.as_slice() {
            [] => Cow::Owned(vec![self.scale; self.values.len()]),
            scales => Cow::Borrowed(scales),
        }
    }
}

impl Decimals {
    /// The same numbers with so many digits after the point; none where one is too large for that.
    fn aligned(self, scale: u8) -> Option<Aligned> {
        let power = |own: u8| POWERS.get(usize::from(scale.checked_sub(own)?)).copied();
        let mut values = self.mantissas;
        let mut fits = true;
        let mut raise = |mantissa: &mut i64, power: i64| {
            let (raised, is_over) = mantissa.overflowing_mul(power);
            fits &= !is_over;
            *mantissa = raised;
        };
        let (scales, own) = match self.scales {
            Scales::Fixed(own) => (Vec::new(), own),
            Scales::Trimmed(own) => (values.iter().map(|mantissa| trimmed(*mantissa, own)).collect(), own),
            Scales::Each(scales) => {
                for (mantissa, own) in values.iter_mut().zip(&scales) {
                    raise(mantissa, power(*own)?);
                }
                (scales, scale)
            }
        };
        let power = power(own)?;
        if power != 1 {
            values.iter_mut().for_each(|mantissa| raise(mantissa, power));
        }
        fits.then_some(Aligned { values, scales, scale: own })
    }
}

/// How many digits after the point a mantissa of so many is spelled with, where zeros at the end are left out, but for one digit.
fn trimmed(mut mantissa: i64, mut scale: u8) -> u8 {
    while scale > 1 && mantissa % 10 == 0 {
        mantissa /= 10;
        scale -= 1;
    }
    scale
}

impl Numbers {
    /// Appends the number at a place among the values as it is spelled.
    pub fn write(&self, place: usize, out: &mut Vec<u8>) {
        let Some((mantissa, scale)) = self.get(place) else { return };
        let mut buffer: number::Buffer = [0; _];
        let (from, to) = number::spell(Plain { mantissa, scale }, &mut buffer);
        out.extend_from_slice(buffer.get(from..to).unwrap_or_default());
    }

    /// The mantissa and the scale that the number at a place is spelled with.
    #[inline]
    pub fn get(&self, place: usize) -> Option<(i64, u8)> {
        let value = *self.values.get(place)?;
        let scale = match &self.spelled {
            Digits::InFull => return Some((value, self.scale)),
            Digits::Each(digits) => *digits.get(place)?,
            Digits::Shortest => needed_digits(value, self.scale),
        };
        // Divisions by constants are multiplications.
        let mantissa = match self.scale.saturating_sub(scale) {
            0 => value,
            1 => value / 10,
            2 => value / 100,
            3 => value / 1_000,
            4 => value / 10_000,
            more => value / POWERS.get(usize::from(more)).copied().unwrap_or(1),
        };
        Some((mantissa, scale))
    }
}

/// How many digits after the point a number takes without zeros at the end.
#[inline]
fn needed_digits(mut value: i64, mut scale: u8) -> u8 {
    if value == 0 {
        return 0;
    }
    while scale > 0 && value % 10 == 0 {
        (value, scale) = (value / 10, scale - 1);
    }
    scale
}

const TOO_FEW: DecodeError = malformed("fewer values than its shapes need");

/// The powers of ten.
const POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut n = 1;
    while n < 19 {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};
