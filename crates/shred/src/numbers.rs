//! The numbers at a path, as mantissas of one scale: in the order in which they are stored, or in that of the events.

use crate::at::{Digits, Numbers};
use crate::column::{ColumnValues, Written};
use crate::encoding::Window;
use crate::encoding::fraction::Scales;
use crate::encoding::simple::{Simple, Values};
use crate::error::{DecodeError, NO_COLUMN, TOO_FEW, malformed};
use crate::group::GroupReader;
use crate::number::{self, POWERS, Plain};
use crate::shape::Leaf;
use crate::sites::{Site, Sites};
use crate::stride::{Standing, Strides};
use std::ops::Range;
use tamias_simd::numbers;

/// The columns of a path where nothing but numbers stands, one behind the other, and how their values are found.
struct StoredNumbers {
    strides: Strides,
    /// All times `10^scale`.
    values: Vec<i64>,
    scale: u8,
    spelled: Digits,
}

impl GroupReader<'_> {
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
        let Some(StoredNumbers { strides, values, scale, spelled }) = self.stored_numbers(&sites)? else {
            return Ok(None);
        };
        if !strides.find_by_shape() || values.len() > sites.rows {
            return Ok(None);
        }
        let rows = (values.len() != sites.rows).then(|| (0..values.len() as u32).collect());
        Ok(Some(Numbers { rows, values, scale, spelled }))
    }

    /// The numbers, if there is nothing else, and their mantissas can be brought to one scale.
    pub(crate) fn numbers(&mut self, sites: &Sites) -> Result<Option<Numbers>, DecodeError> {
        let Some(stored) = self.stored_numbers(sites)? else { return Ok(None) };
        let in_order = stored.strides.are_in_order();
        Ok(Some(if in_order { self.in_order(sites, stored) } else { self.gathered(sites, stored) }?))
    }

    /// The columns of a path where nothing but numbers stands, brought to one scale.
    fn stored_numbers(&mut self, sites: &Sites) -> Result<Option<StoredNumbers>, DecodeError> {
        let is_number = |site: &Site| matches!(site.leaf, Some(Leaf::Whole | Leaf::Fraction));
        if !sites.iter().all(is_number) {
            return Ok(None);
        }
        let own = sites.columns();
        let Some(strides) = self.strides(sites, &own, 0, |_| None)? else { return Ok(None) };
        let directory = self.group.directory();
        let count = |column: &u32| directory.columns.get(*column as usize).map_or(0, |column| column.count);
        let mut values = Vec::with_capacity(own.iter().map(count).sum());
        let mut columns = Vec::with_capacity(own.len());
        for column in own {
            let start = values.len();
            let scales = self.append_numbers(&strides, column, &mut values)?;
            columns.push((start..values.len(), scales));
        }
        let scale = columns.iter().map(|(_, scales)| scales.max()).max().unwrap_or_default();
        let own = |range: &Range<usize>| values.get(range.clone()).unwrap_or_default();
        let spelled = if columns.iter().all(|(range, scales)| scales.are_shortest(own(range))) {
            if scale > 0 { Digits::Shortest } else { Digits::InFull }
        } else if columns.iter().all(|(range, scales)| range.is_empty() || *scales == Scales::Fixed(scale)) {
            Digits::InFull
        } else {
            let mut digits = Vec::with_capacity(values.len());
            columns.iter().for_each(|(range, scales)| scales.digits(own(range), &mut digits));
            Digits::of(digits, scale)
        };
        for (range, scales) in columns {
            let own = values.get_mut(range).unwrap_or_default();
            if scales.raise(own, scale).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(StoredNumbers { strides, values, scale, spelled }))
    }

    /// Appends the mantissas of a column, in the order in which its strides find them.
    fn append_numbers(
        &mut self,
        strides: &Strides,
        column: u32,
        out: &mut Vec<i64>,
    ) -> Result<Scales, DecodeError> {
        let info = self.group.directory().columns.get(column as usize).ok_or(NO_COLUMN)?;
        let all = Window::whole(info.count);
        let is_as_stored = strides.find_by_shape() || !info.grouped;
        match &info.encoding {
            Written::Simple(Simple::Whole(numbers)) if is_as_stored => {
                numbers.append(all, &mut self.frames, out)?;
                return Ok(Scales::Fixed(0));
            }
            Written::Simple(Simple::Fractions(numbers)) => {
                numbers.mantissas.append(all, &mut self.frames, out)?;
                return numbers.scales(all, &mut self.frames);
            }
            Written::Simple(_) | Written::Templates(_) => {}
        }
        match self.values_for(strides, column)? {
            ColumnValues::Simple(Values::Whole(mantissas)) => out.extend_from_slice(&mantissas),
            _ => return Err(malformed("numbers that are none")),
        }
        Ok(Scales::Fixed(0))
    }

    /// The numbers of a column of which each event has one or none.
    fn in_order(&mut self, sites: &Sites, stored: StoredNumbers) -> Result<Numbers, DecodeError> {
        let StoredNumbers { strides, mut values, scale, mut spelled } = stored;
        let rows = if strides.are_all() { None } else { Some(strides.rows(self.codes(sites.list)?)) };
        let count = rows.as_ref().map_or(sites.rows, Vec::len);
        if values.len() < count {
            return Err(TOO_FEW);
        }
        // They are kept: a column says how many values it has, the events how many are of use.
        values.truncate(count);
        values.shrink_to_fit();
        if let Digits::Each(mut digits) = spelled {
            digits.truncate(count);
            digits.shrink_to_fit();
            spelled = Digits::of(digits, scale);
        }
        let rows = rows.filter(|_| count != sites.rows);
        Ok(Numbers { rows, values, scale, spelled })
    }

    /// The numbers of some columns, in the order of the events.
    fn gathered(&mut self, sites: &Sites, stored: StoredNumbers) -> Result<Numbers, DecodeError> {
        let StoredNumbers { strides, values: all, scale, mut spelled } = stored;
        let codes = self.codes(sites.list)?;
        if let Digits::Each(digits) = spelled {
            let digits_at = |place: u32| digits.get(place as usize).copied().unwrap_or_default();
            spelled = Digits::of(strides.standing(codes, digits.len(), digits_at)?.values, scale);
        }
        let all = all.as_slice();
        let value = move |place: u32| all.get(place as usize).copied().unwrap_or_default();
        let Standing { rows, values } = strides.standing(codes, all.len(), value)?;
        let rows = rows.filter(|rows| rows.len() != sites.rows);
        Ok(Numbers { rows, values, scale, spelled })
    }
}

impl Scales {
    /// Whether mantissas are spelled each with as many digits as it takes, and zero without a point: whole numbers, and others that surely are none. To tell that takes
    /// less time than to count the digits of each.
    fn are_shortest(&self, mantissas: &[i64]) -> bool {
        match self {
            Scales::Fixed(0) => true,
            Scales::Trimmed(1) => !numbers::has_multiple::<1>(mantissas),
            Scales::Trimmed(2) => !numbers::has_multiple::<2>(mantissas),
            Scales::Trimmed(3) => !numbers::has_multiple::<3>(mantissas),
            Scales::Trimmed(4) => !numbers::has_multiple::<4>(mantissas),
            Scales::Trimmed(_) | Scales::Fixed(_) | Scales::Each(_) => false,
        }
    }

    /// Appends how many digits each of the mantissas is spelled with.
    fn digits(&self, mantissas: &[i64], out: &mut Vec<u8>) {
        match self {
            Scales::Fixed(own) => out.resize(out.len() + mantissas.len(), *own),
            Scales::Trimmed(own) => out.extend(mantissas.iter().map(|mantissa| trimmed(*mantissa, *own))),
            Scales::Each(scales) => out.extend_from_slice(scales),
        }
    }

    /// Gives mantissas so many digits after the point; none where one is too large for that.
    fn raise(&self, mantissas: &mut [i64], scale: u8) -> Option<()> {
        let power = |own: u8| power_of_ten(scale.checked_sub(own)?);
        match self {
            Scales::Fixed(own) | Scales::Trimmed(own) => multiply(mantissas, power(*own)?),
            Scales::Each(scales) => {
                for (mantissa, own) in mantissas.iter_mut().zip(scales) {
                    *mantissa = mantissa.checked_mul(power(*own)?)?;
                }
                Some(())
            }
        }
    }
}

/// A power of ten; none where 63 bits do not hold it.
#[inline]
fn power_of_ten(exponent: u8) -> Option<i64> {
    i64::try_from(*POWERS.get(usize::from(exponent))?).ok()
}

/// Multiplies numbers by a power of ten; none where one becomes too large.
fn multiply(values: &mut [i64], power: i64) -> Option<()> {
    if power == 1 {
        return Some(());
    }
    if numbers::bits(values) + (i64::BITS - power.leading_zeros()) < i64::BITS {
        numbers::multiply(values, power);
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

    /// Calls with the place among the values of each number, and the mantissa and the scale that it is spelled with.
    #[inline]
    pub fn each_spelled(&self, mut call: impl FnMut(usize, i64, u8)) {
        let values = self.values.iter().enumerate();
        match &self.spelled {
            Digits::InFull => values.for_each(|(place, value)| call(place, *value, self.scale)),
            Digits::Shortest => values.for_each(|(place, value)| {
                let (mantissa, scale) = shortest(*value, self.scale);
                call(place, mantissa, scale);
            }),
            Digits::Each(_) => {
                let spelled = values.filter_map(|(place, _)| Some((place, self.get(place)?)));
                spelled.for_each(|(place, (mantissa, scale))| call(place, mantissa, scale));
            }
        }
    }

    /// The mantissa and the scale that the number at a place is spelled with.
    #[inline]
    pub fn get(&self, place: usize) -> Option<(i64, u8)> {
        let value = *self.values.get(place)?;
        let scale = match &self.spelled {
            Digits::InFull => return Some((value, self.scale)),
            Digits::Each(digits) => *digits.get(place)?,
            Digits::Shortest => return Some(shortest(value, self.scale)),
        };
        // Divisions by constants are multiplications.
        let mantissa = match self.scale.saturating_sub(scale) {
            0 => value,
            1 => value / 10,
            2 => value / 100,
            3 => value / 1_000,
            4 => value / 10_000,
            more => value / power_of_ten(more).unwrap_or(1),
        };
        Some((mantissa, scale))
    }
}

/// A number of so many digits after the point without those of them that are zeros at the end.
#[inline]
fn shortest(mut mantissa: i64, mut scale: u8) -> (i64, u8) {
    if mantissa == 0 {
        return (0, 0);
    }
    // Divisions by constants are multiplications.
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    (mantissa, scale)
}
