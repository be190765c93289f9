//! What stands at a path of keys, in every event: as numbers, by dictionary, or as JSON text. Only the columns are decoded that it
//! stands in, and those that their templates refer to.

use crate::column::{ColumnValues, Encoding};
use crate::encoding::dictionary::Coded;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::group::{Group, GroupReader};
use crate::number::{self, Plain};
use crate::path::{ROOT, Step};
use crate::shape::{Leaf, Token};
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

    /// Calls for each event that has something with its row, its site, which of all columns that is in, and the place of its value there.
    #[inline(always)]
    fn each_site(
        &mut self,
        sites: &[Option<Site>],
        mut act: impl FnMut(usize, &Site, usize, usize) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let columns = Self::columns_of(sites);
        // By how much each of these columns moves on behind an event of each shape.
        let mut steps: Vec<Vec<(usize, usize)>> = vec![Vec::new(); sites.len()];
        for (place, column) in columns.iter().enumerate() {
            for (code, count) in self.census().columns.get(*column as usize).into_iter().flatten() {
                if let Some(steps) = steps.get_mut(*code as usize) {
                    steps.push((place, *count as usize));
                }
            }
        }
        let place_of = |column: u32| columns.binary_search(&column).unwrap_or_default();
        let places: Vec<usize> = sites
            .iter()
            .map(|site| site.as_ref().and_then(|site| site.column).map_or(0, |(column, _)| place_of(column)))
            .collect();
        let mut cursors = vec![0usize; columns.len()];
        for (row, code) in self.codes(0)?.iter().enumerate() {
            let code = *code as usize;
            if let (Some(Some(site)), Some(place)) = (sites.get(code), places.get(code)) {
                let nth = site.column.map_or(0, |(_, nth)| nth as usize);
                act(row, site, *place, cursors.get(*place).copied().unwrap_or_default() + nth)?;
            }
            for (place, count) in steps.get(code).into_iter().flatten() {
                if let Some(cursor) = cursors.get_mut(*place) {
                    *cursor += count;
                }
            }
        }
        Ok(())
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
        let room = events.min(columns.iter().map(|(_, values)| values.len()).sum());
        let (mut rows, mut values) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut scales = Vec::with_capacity(room);
        let mut is_one_scale = true;
        self.each_site(sites, |row, _, column, at| {
            let number = match columns.get(column).map(|(_, values)| values) {
                Some(ColumnValues::Simple(Values::Whole(values))) => {
                    values.get(at).map(|value| (*value, 0, 0))
                }
                Some(ColumnValues::Simple(Values::Decimals(decimals))) => decimals.counted(at),
                Some(_) | None => None,
            };
            let (mantissa, counted, spelled) =
                number.ok_or(malformed("fewer values than its shapes need"))?;
            let power = POWERS.get(usize::from(scale - counted));
            let aligned = power.and_then(|power| mantissa.checked_mul(*power));
            is_one_scale &= aligned.is_some();
            rows.push(row as u32);
            values.push(aligned.unwrap_or_default());
            scales.push(spelled);
            Ok(())
        })?;
        if !is_one_scale {
            return Ok(None);
        }
        let is_uniform = scales.iter().all(|own| *own == scale);
        Ok(Some(Numbers {
            rows: (rows.len() != events).then_some(rows),
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
        let mut codes = Vec::new();
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
            codes = coded.codes;
        }
        let mut by_row = vec![0u32; group.events()];
        self.each_site(sites, |row, site, _, at| {
            let code = match site.leaf {
                Some(Leaf::True) => 1,
                Some(Leaf::False) => 2,
                Some(Leaf::Null) => 3,
                _ => *codes.get(at).ok_or(malformed("fewer values than its shapes need"))? + CONSTANTS,
            };
            if let Some(place) = by_row.get_mut(row) {
                *place = code;
            }
            Ok(())
        })?;
        Ok(Some(Coded { entries: Texts::of(&entries), codes: by_row }))
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
