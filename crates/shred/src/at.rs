//! What stands at a path of keys, in every event: as numbers, by dictionary, or as JSON text. Only the columns are decoded that it
//! stands in, and those that their templates refer to.

use crate::column::{ColumnValues, Encoding};
use crate::encoding::dictionary::Coded;
use crate::encoding::fraction::{Decimals, Scales};
use crate::encoding::simple::{Simple, Values};
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::group::{Group, GroupReader};
use crate::number::{self, Plain};
use crate::path::{ROOT, Step};
use crate::shape::{Leaf, Token};
use std::collections::BTreeSet;
use std::ops::Range;
use std::slice;

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

/// The numbers of some events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The rows that have one; none where all have.
    pub rows: Option<Vec<u32>>,
    /// The numbers times `10^scale`.
    pub values: Vec<i64>,
    /// How many digits after the point they have at most.
    pub scale: u8,
    /// How many digits after the point each is spelled with; none where that is `scale` for all.
    pub spelled: Option<Vec<u8>>,
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

/// A path has fewer columns than this, one for each kind. A power of two, so that a vector holds their cursors.
const PLACES: usize = 8;

/// The place of what is in no column, and never moves.
const STILL: usize = PLACES - 1;

/// What an event of a shape has at a path, and by how much each column of that path moves on behind it.
struct Stride {
    has: bool,
    /// Below [`PLACES`].
    place: usize,
    begin: u32,
    moves: [u32; PLACES],
}

/// The rows that have something at a path, and for each where its value stands.
struct Placed {
    rows: Vec<u32>,
    values: Vec<u32>,
    /// How many values each column has gone through.
    ends: [u32; PLACES],
}

/// A dictionary may have so many entries for each of its values; what has more is given as text.
const ENTRIES_SHARE: usize = 2;

impl<'g> GroupReader<'g> {
    /// What the events have at a path of keys, spelled as documents spell them.
    ///
    /// Takes time linear in the number of events, in what its columns hold, and in the tokens of all shapes.
    ///
    /// ```
    /// # use tamias_shred::{AtPath, Event, Group, encode};
    /// let documents = [r#"{"ms":1,"at":{"city":"Bern"}}"#, r#"{"ms":2.5}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let mut reader = group.read(&encoded.frames);
    /// let AtPath::Numbers(ms) = reader.at(&["ms"])? else { panic!("numbers") };
    /// assert_eq!((ms.values.as_slice(), ms.scale, ms.spelled), (&[10, 25][..], 1, Some(vec![0, 1])));
    /// let AtPath::Coded(city) = reader.at(&["at", "city"])? else { panic!("few texts") };
    /// assert_eq!([city.get(0), city.get(1)], [Some(&b"\"Bern\""[..]), Some(&b""[..])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn at(&mut self, keys: &[&str]) -> Result<AtPath, DecodeError> {
        let group = self.group;
        let way = group.path_of(keys).unwrap_or_default();
        let mut sites = Vec::new();
        let mut has_some = false;
        for shape in group.shapes_of(0) {
            let tokens = group.directory().shapes.get(*shape as usize).map_or(&[][..], Vec::as_slice);
            sites.push(match group.find_in(tokens, &way, keys.len()) {
                Found::Nothing => None,
                Found::Unknown => return Ok(AtPath::Unknown),
                Found::Site(site) => Some(site),
            });
            has_some |= sites.last().is_some_and(Option::is_some);
        }
        if !has_some {
            return Ok(AtPath::Nothing);
        }
        if let Some(numbers) = self.numbers(&sites)? {
            return Ok(AtPath::Numbers(numbers));
        }
        if let Some(coded) = self.coded(&sites)? {
            return Ok(AtPath::Coded(coded));
        }
        Ok(self.json(&sites)?.map_or(AtPath::Unknown, AtPath::Texts))
    }

    /// The columns that sites have, each once.
    fn columns_of(sites: &[Option<Site>]) -> Vec<u32> {
        let mut columns: Vec<u32> =
            sites.iter().flatten().filter_map(|site| site.column).map(|(column, _)| column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The rows of the events that have something, and for each which value it has of all values of the path's columns, one column after
    /// another: `locate` gives for a site the place of its column in `columns_of`, if its value moves on from event to event, and a number
    /// to begin from.
    fn placed(
        &mut self,
        sites: &[Option<Site>],
        locate: impl Fn(&Site) -> (Option<usize>, u32),
    ) -> Result<Placed, DecodeError> {
        let mut strides: Vec<Stride> = sites
            .iter()
            .map(|site| {
                let (place, begin) = site.as_ref().map_or((None, 0), &locate);
                let place = place.unwrap_or(STILL) % PLACES;
                Stride { has: site.is_some(), place, begin, moves: [0; PLACES] }
            })
            .collect();
        for (place, column) in Self::columns_of(sites).into_iter().enumerate().take(STILL) {
            for (code, count) in self.census().columns.get(column as usize).into_iter().flatten() {
                if let Some(stride) = strides.get_mut(*code as usize) {
                    stride.moves[place] = *count;
                }
            }
        }
        let codes = self.codes(0)?;
        let (mut rows, mut values, mut length) = (vec![0u32; codes.len()], vec![0u32; codes.len()], 0);
        let mut cursors = [0u32; PLACES];
        for (row, code) in codes.iter().enumerate() {
            let Some(stride) = strides.get(*code as usize) else { continue };
            // Written always, and kept where the event has something: a branch could not be foretold.
            if let (Some(row_at), Some(value_at)) = (rows.get_mut(length), values.get_mut(length)) {
                *row_at = row as u32;
                *value_at = cursors[stride.place].wrapping_add(stride.begin);
            }
            length += usize::from(stride.has);
            for (cursor, count) in cursors.iter_mut().zip(stride.moves) {
                *cursor = cursor.wrapping_add(count);
            }
        }
        rows.truncate(length);
        values.truncate(length);
        Ok(Placed { rows, values, ends: cursors })
    }

    /// The numbers, if there is nothing else, and their mantissas can be brought to one scale.
    fn numbers(&mut self, sites: &[Option<Site>]) -> Result<Option<Numbers>, DecodeError> {
        let is_number = |site: &Site| matches!(site.leaf, Some(Leaf::Whole | Leaf::Fraction));
        if !sites.iter().flatten().all(is_number) {
            return Ok(None);
        }
        let events = self.group.events();
        let mut columns = Vec::new();
        for column in Self::columns_of(sites) {
            columns.push((column, self.column(column as usize)?));
        }
        if let ([(column, ColumnValues::Simple(Values::Whole(values)))], true) =
            (columns.as_mut_slice(), sites.iter().all(Option::is_some))
            && values.len() == events
            && sites.iter().flatten().all(|site| site.column == Some((*column, 0)))
        {
            let values = std::mem::take(values);
            return Ok(Some(Numbers { rows: None, values, scale: 0, spelled: None }));
        }
        let scale = columns.iter().map(|(_, values)| match values {
            ColumnValues::Simple(Values::Decimals(decimals)) => decimals.scale_max(),
            _ => 0,
        });
        let scale = scale.max().unwrap_or_default();
        // All values of the path, column after column, and where each column begins.
        let room = columns.iter().map(|(_, values)| values.len()).sum();
        let mut all: Vec<(i64, u8)> = Vec::with_capacity(room);
        let mut begins = Vec::with_capacity(columns.len());
        for (_, values) in &columns {
            begins.push(all.len() as u32);
            let is_one_scale = match values {
                ColumnValues::Simple(Values::Whole(values)) => align(values, scale, 0, &mut all),
                ColumnValues::Simple(Values::Decimals(decimals)) => decimals.align(scale, &mut all),
                _ => return Err(malformed("numbers that are none")),
            };
            if !is_one_scale {
                return Ok(None);
            }
        }
        let placed = self.placed(sites, |site| {
            let Some((column, nth)) = site.column else { return (None, u32::MAX) };
            let place = columns.iter().position(|(own, _)| *own == column).unwrap_or_default();
            (Some(place), begins.get(place).copied().unwrap_or_default().wrapping_add(nth))
        })?;
        let suffice = |((_, values), end): (&(u32, ColumnValues<'_>), u32)| values.len() >= end as usize;
        if !columns.iter().zip(placed.ends).all(suffice) {
            return Err(TOO_FEW);
        }
        let (mut values, mut scales) =
            (Vec::with_capacity(placed.rows.len()), Vec::with_capacity(placed.rows.len()));
        for at in &placed.values {
            let (value, spelled) = all.get(*at as usize).ok_or(TOO_FEW)?;
            values.push(*value);
            scales.push(*spelled);
        }
        let is_uniform = scales.iter().all(|own| *own == scale);
        Ok(Some(Numbers {
            rows: (placed.rows.len() != events).then_some(placed.rows),
            values,
            scale,
            spelled: (!is_uniform).then_some(scales),
        }))
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
            let Some(Encoding::Simple(Simple::Dictionary(dictionary))) = info.map(|info| &info.encoding)
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
        let placed = self.placed(sites, |site| match (site.leaf, site.column) {
            (Some(Leaf::True), _) => (None, 1),
            (Some(Leaf::False), _) => (None, 2),
            (Some(Leaf::Null), _) => (None, 3),
            (_, Some((_, nth))) => (Some(0), CONSTANTS.wrapping_add(nth)),
            (_, None) => (None, u32::MAX),
        })?;
        let mut by_row = vec![0u32; group.events()];
        for (row, at) in placed.rows.iter().zip(&placed.values) {
            let code = codes.get(*at as usize).ok_or(TOO_FEW)?;
            if let Some(place) = by_row.get_mut(*row as usize) {
                *place = *code;
            }
        }
        Ok(Some(Coded { entries: Texts::of(&entries), codes: by_row }))
    }
}

/// Appends values of a scale with another one, and the scale that they are spelled with; `false` where one is too large for that.
fn align(values: &[i64], scale: u8, own: u8, out: &mut Vec<(i64, u8)>) -> bool {
    let Some(power) = scale.checked_sub(own).and_then(|more| POWERS.get(usize::from(more))) else {
        return false;
    };
    let mut fits = true;
    out.extend(values.iter().map(|value| {
        let (aligned, is_over) = value.overflowing_mul(*power);
        fits &= !is_over;
        (aligned, own)
    }));
    fits
}

impl Decimals {
    /// Appends the numbers with a scale, and the scale that each is spelled with; `false` where one is too large for that.
    fn align(&self, scale: u8, out: &mut Vec<(i64, u8)>) -> bool {
        match &self.scales {
            Scales::Fixed(own) => align(&self.mantissas, scale, *own, out),
            Scales::Trimmed(own) => {
                let begin = out.len();
                let fits = align(&self.mantissas, scale, *own, out);
                let aligned = out.get_mut(begin..).unwrap_or_default();
                for (index, (_, spelled)) in aligned.iter_mut().enumerate() {
                    *spelled = self.plain(index).map_or(*own, |plain| plain.scale);
                }
                fits
            }
            Scales::Each(scales) => {
                let mut values = self.mantissas.iter().zip(scales);
                values.all(|(value, own)| align(slice::from_ref(value), scale, *own, out))
                    && self.mantissas.len() == scales.len()
            }
        }
    }
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
        let Some(spelled) = &self.spelled else { return Some((value, self.scale)) };
        let scale = *spelled.get(place)?;
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
