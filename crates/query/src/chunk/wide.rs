//! Numbers of one scale with more digits than 64 bits have room for, as products of measured numbers are.

use super::long::SIGNIFICAND_END;
use crate::value::estimate_of;
use rust_decimal::Decimal;

/// Some numbers, each of which a decimal holds.
#[derive(Clone, Debug)]
pub(crate) struct Wide {
    significands: Vec<i128>,
    scale: u8,
}

impl Wide {
    /// None where a decimal has no room for one of them.
    pub(crate) fn of(significands: Vec<i128>, scale: u8) -> Option<Wide> {
        // A number without its sign is not greater than all bits of it that are one.
        let bits = significands.iter().fold(0, |bits, number| bits | (number ^ (number >> (i128::BITS - 1))));
        let fits = bits as u128 + 1 < SIGNIFICAND_END && u32::from(scale) <= Decimal::MAX_SCALE;
        fits.then_some(Wide { significands, scale })
    }

    pub(crate) fn significands(&self) -> &[i128] {
        &self.significands
    }

    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    pub(super) fn len(&self) -> usize {
        self.significands.len()
    }

    #[inline]
    fn number(&self, significand: i128) -> Decimal {
        let magnitude = significand.unsigned_abs();
        let word = |nth: u32| (magnitude >> (32 * nth)) as u32;
        Decimal::from_parts(word(0), word(1), word(2), significand < 0, self.scale.into())
    }

    /// The number at a place.
    #[inline]
    pub(super) fn decimal(&self, place: usize) -> Option<Decimal> {
        self.significands.get(place).map(|significand| self.number(*significand))
    }

    pub(super) fn estimates(&self) -> Vec<f64> {
        self.significands.iter().map(|significand| estimate_of(self.number(*significand))).collect()
    }

    /// Those at some places, each of which there is.
    pub(super) fn at(&self, places: &[u32]) -> Wide {
        let some = places.iter().filter_map(|place| self.significands.get(*place as usize).copied());
        Wide { significands: some.collect(), scale: self.scale }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.significands.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_decimals_and_no_greater() {
        let most = (1i128 << 96) - 1;
        for significand in [0, 1, -1, -5, i128::from(i64::MIN), most / 2, -(most / 2), most / 3] {
            let wide = Wide::of(vec![significand], 28).unwrap();
            let decimal = Decimal::from_i128_with_scale(significand, 28);
            assert_eq!(wide.decimal(0), Some(decimal));
            assert_eq!(wide.estimates(), [estimate_of(decimal)]);
        }
        assert!(Wide::of(vec![0, most + 1], 3).is_none() && Wide::of(vec![-most - 1], 3).is_none());
        assert!(Wide::of(vec![1], 29).is_none());
    }
}
