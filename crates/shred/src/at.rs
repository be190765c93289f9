//! What stands at a path of keys, in every event: as numbers, by dictionary, or as JSON text. Only the columns are decoded that it
//! stands in, and those that their templates refer to.

use crate::column::ColumnValues;
use crate::encoding::dictionary::Coded;
use crate::encoding::fraction::{Decimals, Scales};
use crate::encoding::simple::Values;
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, NO_COLUMN, TOO_FEW, malformed};
use crate::group::GroupReader;
use crate::number::{self, Plain};
use crate::pieces::TextPieces;
use crate::shape::{Leaf, Token};
use crate::sites::{Site, Sites};
use crate::stride::{Held, Lane, Standing, Strides};
use std::borrow::Cow;

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

/// The numbers of a column, all with the same number of digits after the point.
#[derive(Default)]
struct Aligned {
    values: Vec<i64>,
    /// How many digits each is spelled with; none where that is `scale` for all.
    scales: Vec<u8>,
    scale: u8,
}

/// The columns of a path where nothing but numbers stands, and how their values are found.
struct StoredNumbers {
    strides: Strides,
    columns: Vec<Aligned>,
    scale: u8,
    are_shortest: bool,
}

/// The values of some columns, one behind the other: which of them an event has is not to be guessed.
fn all_values(columns: Vec<Aligned>) -> Vec<i64> {
    let mut columns = columns.into_iter().map(|column| column.values);
    let mut all = columns.next().unwrap_or_default();
    columns.for_each(|values| all.extend_from_slice(&values));
    all
}

/// How many digits each of them is spelled with.
fn all_scales(columns: &[Aligned]) -> Vec<u8> {
    columns.iter().map(Aligned::scales).collect::<Vec<_>>().concat()
}

/// Numbers that are spelled with as many digits as it takes, if they are.
fn shortest(numbers: Numbers, are_shortest: bool) -> Numbers {
    match are_shortest && numbers.scale > 0 {
        true => Numbers { spelled: Digits::Shortest, ..numbers },
        false => numbers,
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

    /// The numbers at a path of keys, where nothing else stands there, and it makes no difference which event has which: they come as they are stored, and the
    /// first events seem to have them. None where they have to be found event by event.
    ///
    /// Takes time linear in the numbers, and in the tokens of all shapes.
    ///
    /// ```
    /// # use tamias_shred::{Event, Group, encode};
    /// let documents = [r#"{"no":1}"#, r#"{"ms":2}"#, r#"{"ms":1}"#];
    /// let events = documents.map(|text| Event { instant: 0, arrival: 0, document: text.as_bytes() });
    /// let encoded = encode(&events)?;
    /// let group = Group::open(&encoded.directory)?;
    /// let ms = group.read(&encoded.frames).numbers_in_any_order(&["ms"])?.unwrap();
    /// assert_eq!((ms.rows, ms.values), (Some(vec![0, 1]), vec![2, 1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn numbers_in_any_order(&mut self, keys: &[&str]) -> Result<Option<Numbers>, DecodeError> {
        let Some(sites) = self.group.sites(0, keys).filter(|sites| sites.iter().next().is_some()) else {
            return Ok(None);
        };
        let Some(StoredNumbers { strides, columns, scale, are_shortest }) = self.stored_numbers(&sites)?
        else {
            return Ok(None);
        };
        let count: usize = columns.iter().map(|column| column.values.len()).sum();
        if !strides.find_by_shape() || count > sites.rows {
            return Ok(None);
        }
        let spelled = if are_shortest { Digits::InFull } else { Digits::of(all_scales(&columns), scale) };
        let rows = (count != sites.rows).then(|| (0..count as u32).collect());
        Ok(Some(shortest(Numbers { rows, values: all_values(columns), scale, spelled }, are_shortest)))
    }

    /// The numbers, if there is nothing else, and their mantissas can be brought to one scale.
    pub(crate) fn numbers(&mut self, sites: &Sites) -> Result<Option<Numbers>, DecodeError> {
        let Some(StoredNumbers { strides, columns, scale, are_shortest }) = self.stored_numbers(sites)?
        else {
            return Ok(None);
        };
        let numbers = match <[Aligned; 1]>::try_from(columns) {
            Ok([column]) if strides.are_in_order() => self.in_order(sites, &strides, column, scale),
            Ok([column]) => self.gathered(sites, &strides, vec![column], scale, !are_shortest),
            Err(columns) => self.gathered(sites, &strides, columns, scale, !are_shortest),
        }?;
        Ok(Some(shortest(numbers, are_shortest)))
    }

    /// The columns of a path where nothing but numbers stands, brought to one scale.
    fn stored_numbers(&mut self, sites: &Sites) -> Result<Option<StoredNumbers>, DecodeError> {
        let is_number = |site: &Site| matches!(site.leaf, Some(Leaf::Whole | Leaf::Fraction));
        if !sites.iter().all(is_number) {
            return Ok(None);
        }
        let numbers = sites.columns();
        let Some(strides) = self.strides(sites, &numbers, 0, |_| None)? else { return Ok(None) };
        let mut columns = Vec::with_capacity(numbers.len());
        for column in &numbers {
            columns.push(match self.values_for(&strides, *column)? {
                ColumnValues::Simple(Values::Whole(mantissas)) => {
                    Decimals { mantissas, scales: Scales::Fixed(0) }
                }
                ColumnValues::Simple(Values::Decimals(decimals)) => decimals,
                _ => return Err(malformed("numbers that are none")),
            });
        }
        let scale = columns.iter().map(Decimals::scale_max).max().unwrap_or_default();
        let are_shortest = columns.iter().all(Decimals::are_shortest);
        let of_one = |column: Decimals| column.aligned(scale, !are_shortest);
        let aligned = columns.into_iter().map(of_one).collect::<Option<Vec<_>>>();
        Ok(aligned.map(|columns| StoredNumbers { strides, columns, scale, are_shortest }))
    }

    /// The numbers of a column of which each event has one or none.
    fn in_order(
        &mut self,
        sites: &Sites,
        strides: &Strides,
        column: Aligned,
        scale: u8,
    ) -> Result<Numbers, DecodeError> {
        let Aligned { mut values, mut scales, .. } = column;
        let rows = if strides.are_all() { None } else { Some(strides.rows(self.codes(sites.list)?)) };
        let count = rows.as_ref().map_or(sites.rows, Vec::len);
        if values.len() < count {
            return Err(TOO_FEW);
        }
        values.truncate(count);
        scales.truncate(count);
        // They are kept: a column says how many values it has, the events how many are of use.
        values.shrink_to_fit();
        scales.shrink_to_fit();
        let rows = rows.filter(|_| count != sites.rows);
        Ok(Numbers { rows, values, scale, spelled: Digits::of(scales, scale) })
    }

    /// The numbers of some columns, in the order of the events.
    fn gathered(
        &mut self,
        sites: &Sites,
        strides: &Strides,
        columns: Vec<Aligned>,
        scale: u8,
        and_digits: bool,
    ) -> Result<Numbers, DecodeError> {
        let codes = self.codes(sites.list)?;
        let is_uniform =
            |column: &Aligned| column.values.is_empty() || column.scales.is_empty() && column.scale == scale;
        let spelled = match and_digits && !columns.iter().all(is_uniform) {
            false => Vec::new(),
            true => {
                let scales = all_scales(&columns);
                let spelled = |place: u32| scales.get(place as usize).copied().unwrap_or_default();
                strides.standing(codes, scales.len(), spelled)?.values
            }
        };
        let all = all_values(columns);
        let value = |place: u32| all.get(place as usize).copied().unwrap_or_default();
        let Standing { rows, values } = strides.standing(codes, all.len(), value)?;
        let rows = rows.filter(|rows| rows.len() != sites.rows);
        Ok(Numbers { rows, values, scale, spelled: Digits::of(spelled, scale) })
    }
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
    /// Whether each is spelled with as many digits as it takes, and zero without a point: whole numbers, and others that surely are none. To tell that takes less time than
    /// to count the digits of each.
    fn are_shortest(&self) -> bool {
        /// Divisions by constants are multiplications.
        fn have_digits<const POWER: i64>(mantissas: &[i64]) -> bool {
            mantissas.iter().all(|mantissa| mantissa % POWER != 0)
        }
        let mantissas = self.mantissas.as_slice();
        match self.scales {
            Scales::Fixed(0) => true,
            Scales::Trimmed(1) => have_digits::<10>(mantissas),
            Scales::Trimmed(2) => have_digits::<100>(mantissas),
            Scales::Trimmed(3) => have_digits::<1_000>(mantissas),
            Scales::Trimmed(4) => have_digits::<10_000>(mantissas),
            Scales::Trimmed(_) | Scales::Fixed(_) | Scales::Each(_) => false,
        }
    }

    /// The same numbers with so many digits after the point; none where one is too large for that. How many digits each is spelled with is told if it is wanted.
    fn aligned(self, scale: u8, and_digits: bool) -> Option<Aligned> {
        let power = |own: u8| POWERS.get(usize::from(scale.checked_sub(own)?)).copied();
        let mut values = self.mantissas;
        let (scales, own) = match self.scales {
            Scales::Fixed(own) => (Vec::new(), own),
            Scales::Trimmed(own) if !and_digits => (Vec::new(), own),
            Scales::Trimmed(own) => (values.iter().map(|mantissa| trimmed(*mantissa, own)).collect(), own),
            Scales::Each(scales) => {
                for (mantissa, own) in values.iter_mut().zip(&scales) {
                    *mantissa = mantissa.checked_mul(power(*own)?)?;
                }
                (scales, scale)
            }
        };
        raise(&mut values, power(own)?)?;
        Some(Aligned { values, scales, scale: own })
    }
}

/// Multiplies numbers by a power of ten; none where one becomes too large.
fn raise(values: &mut [i64], power: i64) -> Option<()> {
    if power == 1 {
        return Some(());
    }
    // No number takes more bits than all of them together.
    let bits = values.iter().fold(0, |bits, value| bits | (value ^ (value >> 63)));
    if bits.leading_zeros() + power.leading_zeros() > 64 {
        values.iter_mut().for_each(|value| *value *= power);
        return Some(());
    }
    values.iter_mut().try_for_each(|value| {
        *value = value.checked_mul(power)?;
        Some(())
    })
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
