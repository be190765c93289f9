//! Numbers at a path where other values stand too: null, Booleans, some texts, and numbers that are spelled with an exponent.

use crate::at::{Digits, Mixed, Numbers};
use crate::error::DecodeError;
use crate::group::GroupReader;
use crate::number::{self, Plain};
use crate::shape::Leaf;
use crate::sites::{Site, Sites};

/// There may be one text for so many numbers: a path of many texts is one of texts.
const TEXTS_SHARE: usize = 4;

impl GroupReader<'_> {
    /// The numbers, and what else there is; none where a number has too many digits, or most values are something else.
    pub(crate) fn mixed(&mut self, sites: &Sites) -> Result<Option<Mixed>, DecodeError> {
        let is_number = |site: &Site| matches!(site.leaf, Some(Leaf::Whole | Leaf::Fraction));
        let is_other = |site: &Site| {
            matches!(site.leaf, Some(Leaf::True | Leaf::False | Leaf::Null | Leaf::Text | Leaf::Long))
        };
        if !sites.iter().all(|site| is_number(site) || is_other(site)) {
            return Ok(None);
        }
        let (mut count, mut texts) = (0usize, 0usize);
        for column in sites.columns() {
            let Some(info) = self.group.directory().columns.get(column as usize) else { continue };
            match info.kind {
                Leaf::Whole | Leaf::Fraction => count += info.count,
                _ => texts += info.count,
            }
        }
        if count == 0 || texts > count / TEXTS_SHARE {
            return Ok(None);
        }
        let Some(numbers) = self.numbers(&sites.only(is_number))? else { return Ok(None) };
        let others = sites.only(is_other);
        let is_other = |code: &u32| others.by_code.get(*code as usize).is_some_and(Option::is_some);
        let codes = (0..).zip(self.codes(sites.list)?);
        let rows: Vec<u32> = codes.filter(|(_, code)| is_other(code)).map(|(row, _)| row).collect();
        let Some(texts) = self.texts_at_rows(&others, &rows)? else { return Ok(None) };
        let mut long = Vec::new();
        for (row, text) in rows.iter().zip(texts.iter()) {
            if let Some(b'-' | b'0'..=b'9') = text.first() {
                let Some(number) = number::parse_with_exponent(text) else { return Ok(None) };
                long.push((*row, number));
            }
        }
        Ok(numbers.with(&long).map(|numbers| Mixed { numbers, rows, texts }))
    }
}

impl Numbers {
    /// The same with numbers of other rows; none where they cannot be brought to one scale.
    fn with(self, others: &[(u32, Plain)]) -> Option<Numbers> {
        let Some(largest) = others.iter().map(|(_, number)| number.scale).max() else { return Some(self) };
        let scale = self.scale.max(largest);
        let raised =
            |mantissa: i64, own: u8| mantissa.checked_mul(10i64.checked_pow(scale.checked_sub(own)?.into())?);
        let count = self.values.len() + others.len();
        let (mut rows, mut values) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut digits = Vec::with_capacity(count);
        let mut others = others.iter().peekable();
        for (place, value) in self.values.iter().enumerate() {
            let row = self.rows.as_ref().map_or(Some(place as u32), |rows| rows.get(place).copied())?;
            while let Some((other, number)) = others.next_if(|(other, _)| *other < row) {
                rows.push(*other);
                values.push(raised(number.mantissa, number.scale)?);
                digits.push(number.scale);
            }
            rows.push(row);
            values.push(raised(*value, self.scale)?);
            digits.push(self.get(place)?.1);
        }
        for (other, number) in others {
            rows.push(*other);
            values.push(raised(number.mantissa, number.scale)?);
            digits.push(number.scale);
        }
        Some(Numbers { rows: Some(rows), values, scale, spelled: Digits::of(digits, scale) })
    }
}
