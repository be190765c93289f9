//! What stands at a path of keys, in every event: as numbers, by dictionary, or as JSON text. Only the columns are decoded that it
//! stands in, and those that their templates refer to.

use crate::column::ColumnValues;
use crate::encoding::dictionary::Coded;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, NO_COLUMN};
use crate::group::GroupReader;
use crate::pieces::TextPieces;
use crate::shape::{Leaf, Token};
use crate::sites::{Site, Sites};
use crate::stride::{Held, Lane, Strides};

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
    /// Values as JSON text.
    Texts(SomeTexts),
    /// For each event its value as JSON text by template: texts that are not put together yet.
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
            AtRows::Some(texts) => AtPath::Texts(SomeTexts { rows: None, texts }),
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

impl Numbers {
    /// How many digits after the point a number is spelled with, by its place among the values; none where there is no such place. Takes constant time, or as long as
    /// there are zeros at its end.
    ///
    /// ```
    /// # use tamias_shred::{Digits, Numbers};
    /// let numbers = Numbers { rows: None, values: vec![150, 25], scale: 2, spelled: Digits::Shortest };
    /// assert_eq!([0, 1, 2].map(|place| numbers.digits(place)), [Some(1), Some(2), None]);
    /// ```
    pub fn digits(&self, place: usize) -> Option<u8> {
        let mantissa = *self.values.get(place)?;
        match &self.spelled {
            Digits::InFull => Some(self.scale),
            Digits::Each(digits) => digits.get(place).copied(),
            Digits::Shortest => Some(Digits::shortest(mantissa, self.scale)),
        }
    }
}

/// The values of some events as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SomeTexts {
    /// The rows that have one, in ascending order; none where there is a text for each row, empty for one that has nothing.
    pub rows: Option<Vec<u32>>,
    /// A text for each of these rows.
    pub texts: Texts<'static>,
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
    /// How many digits after the point it takes to spell a mantissa of a scale: as many as are left without zeros at the end. Takes time linear in their number.
    ///
    /// ```
    /// # use tamias_shred::Digits;
    /// assert_eq!((Digits::shortest(1500, 3), Digits::shortest(1500, 1), Digits::shortest(0, 4)), (1, 0, 0));
    /// ```
    pub fn shortest(mantissa: i64, scale: u8) -> u8 {
        let (mut rest, mut digits) = (mantissa, scale);
        while digits > 0 && rest % 10 == 0 {
            (rest, digits) = (rest / 10, digits - 1);
        }
        digits
    }

    /// So many digits each, of numbers of a scale. Takes time linear in their number.
    pub fn of(digits: Vec<u8>, scale: u8) -> Digits {
        if digits.iter().any(|own| *own != scale) { Digits::Each(digits) } else { Digits::InFull }
    }
}

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
            None => {
                let texts = self.texts_beside(keys)?;
                let all = texts.map(|texts| AtPath::Texts(SomeTexts { rows: None, texts }));
                Ok(AtRows::All(all.unwrap_or(AtPath::Unknown)))
            }
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
        Ok(match rows {
            None => AtRows::All(self.texts_at(sites)?.map_or(AtPath::Unknown, AtPath::Texts)),
            Some(rows) => self.texts_at_rows(sites, rows)?.map_or(AtRows::All(AtPath::Unknown), AtRows::Some),
        })
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
        Ok(Strides::of(shapes.into_iter(), lanes, directory.shapes.are_simple()))
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
}
