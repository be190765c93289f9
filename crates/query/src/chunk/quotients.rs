//! Columns of quotients: their dividends and divisors stay where they are, and are taken together where they are divided.

use super::parts::{Parts, Shorts, TOGETHER};
use super::quotient::Quotient;
use super::units::{Units, each_units};
use crate::value::WHOLE_POWERS;
use std::ops::Range;
use std::sync::Arc;
use tamias_shred::Numbers as Mantissas;
use tamias_simd::numbers::{multiply, of_both, range};

/// Quotients, none of which is divided by zero.
#[derive(Clone, Debug)]
pub(crate) struct Quotients {
    dividends: Terms,
    divisors: Terms,
    count: usize,
    powers: Powers,
}

/// The dividends or the divisors.
#[derive(Clone, Debug)]
pub(crate) enum Terms {
    Constant(i64),
    /// Mantissas, each of them times a number.
    Numbers(Arc<Mantissas>, i64),
    Own(Vec<i64>),
}

/// By which powers of ten quotients are multiplied.
#[derive(Clone, Debug)]
enum Powers {
    One(i8),
    Each(Vec<i8>),
}

impl Terms {
    #[inline]
    fn get(&self, place: usize) -> Option<i64> {
        match self {
            Terms::Constant(value) => Some(*value),
            Terms::Numbers(numbers, raise) => Some(numbers.values.get(place)?.wrapping_mul(*raise)),
            Terms::Own(values) => values.get(place).copied(),
        }
    }

    /// Puts those at some places in the place of others.
    fn fill(&self, places: Range<usize>, others: &mut [i64; TOGETHER]) {
        match self {
            Terms::Constant(value) => *others = [*value; TOGETHER],
            Terms::Numbers(numbers, raise) => {
                copy(&numbers.values, places, others);
                if *raise != 1 {
                    multiply(others, *raise);
                }
            }
            Terms::Own(values) => copy(values, places, others),
        }
    }

    /// Sets short numbers to those at some places, each times another one; none where that is too long.
    fn set(&self, places: Range<usize>, raise: i64, shorts: &mut Shorts) -> Option<()> {
        match self {
            Terms::Constant(value) => shorts.set(&[*value; TOGETHER], raise),
            Terms::Numbers(numbers, own) => shorts.set(numbers.values.get(places)?, own.checked_mul(raise)?),
            Terms::Own(values) => shorts.set(values.get(places)?, raise),
        }
        Some(())
    }

    fn at(&self, places: &[u32]) -> Terms {
        match self {
            Terms::Constant(value) => Terms::Constant(*value),
            Terms::Numbers(..) | Terms::Own(_) => {
                Terms::Own(places.iter().filter_map(|place| self.get(*place as usize)).collect())
            }
        }
    }

    /// The least and the greatest of them.
    fn range(&self) -> (i64, i64) {
        match self {
            Terms::Constant(value) => (*value, *value),
            Terms::Numbers(numbers, raise) => {
                let (least, greatest) = range(&numbers.values).unwrap_or_default();
                (least.wrapping_mul(*raise), greatest.wrapping_mul(*raise))
            }
            Terms::Own(values) => range(values).unwrap_or_default(),
        }
    }

    /// What they take in memory beside the columns that they are of, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Terms::Constant(_) => 0,
            Terms::Numbers(numbers, _) => size_of_val(numbers.values.as_slice()),
            Terms::Own(values) => size_of_val(values.as_slice()),
        }
    }
}

/// Puts some numbers in the place of the first others.
fn copy(of: &[i64], places: Range<usize>, others: &mut [i64; TOGETHER]) {
    let some = of.get(places).unwrap_or_default();
    if let Some(others) = others.get_mut(..some.len()) {
        others.copy_from_slice(some);
    }
}

impl Quotients {
    /// Those of whole numbers, so many. No divisor is zero, and no dividend or divisor too long.
    pub(crate) fn of_whole(dividends: Terms, divisors: Terms, count: usize) -> Quotients {
        Quotients { dividends, divisors, count, powers: Powers::One(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Quotient> {
        let power = match &self.powers {
            Powers::One(power) => *power,
            Powers::Each(powers) => *powers.get(place)?,
        };
        if place >= self.count {
            return None;
        }
        Some(Quotient::of_parts(self.dividends.get(place)?, self.divisors.get(place)?, power))
    }

    /// What is made of each; none where one of them gives none.
    pub(crate) fn made<T>(&self, make: impl Fn(Quotient) -> Option<T>) -> Option<Vec<T>> {
        let Powers::One(power) = self.powers else {
            return (0..self.count).map(|place| make(self.get(place)?)).collect();
        };
        let mut made = Vec::with_capacity(self.count);
        let (mut dividends, mut divisors) = ([0; TOGETHER], [1; TOGETHER]);
        for begin in (0..self.count).step_by(TOGETHER) {
            let places = begin..self.count.min(begin + TOGETHER);
            self.dividends.fill(places.clone(), &mut dividends);
            self.divisors.fill(places.clone(), &mut divisors);
            for (dividend, divisor) in dividends.iter().zip(&divisors).take(places.len()) {
                made.push(make(Quotient::of_parts(*dividend, *divisor, power))?);
            }
        }
        Some(made)
    }

    /// Binary numbers near to them.
    pub(super) fn estimates(&self) -> Vec<f64> {
        let near = |dividend: i64, divisor: i64| dividend as f64 / divisor as f64;
        match (&self.powers, &self.dividends, &self.divisors) {
            (Powers::One(0), Terms::Numbers(dividends, raise), Terms::Numbers(divisors, other)) => {
                let (raise, other) = (*raise, *other);
                of_both(&dividends.values, &divisors.values, |dividend, divisor| {
                    near(dividend.wrapping_mul(raise), divisor.wrapping_mul(other))
                })
            }
            _ => self.made(|quotient| Some(quotient.estimate())).unwrap_or_default(),
        }
    }

    /// Sets parts to what those at some places come to; none where they are multiplied by several powers of ten.
    pub(super) fn set(&self, places: Range<usize>, parts: &mut Parts) -> Option<()> {
        let power = match &self.powers {
            Powers::One(power) => *power,
            Powers::Each(powers) => {
                let (first, others) = powers.get(places.clone())?.split_first()?;
                others.iter().all(|power| power == first).then_some(*first)?
            }
        };
        let raise = *WHOLE_POWERS.get(usize::from(power.unsigned_abs()))?;
        let [raise, other] = if power < 0 { [1, raise] } else { [raise, 1] };
        let (mut dividends, mut divisors) = (Shorts::default(), Shorts::default());
        self.dividends.set(places.clone(), raise, &mut dividends)?;
        self.divisors.set(places, other, &mut divisors)?;
        parts.divide(&dividends.numbers, &divisors.numbers);
        Some(())
    }

    /// Calls `act` for some of them after the others, by their places, with what they come to times 10^28: with their sums, where these suffice.
    pub(super) fn each_units(&self, are_sums: bool, act: impl FnMut(Range<usize>, Units<'_>)) {
        each_units(self.count, are_sums, |places, parts| self.set(places, parts), act);
    }

    pub(super) fn at(&self, places: &[u32]) -> Quotients {
        let powers = match &self.powers {
            Powers::One(power) => Powers::One(*power),
            Powers::Each(powers) => {
                Powers::Each(places.iter().filter_map(|place| powers.get(*place as usize).copied()).collect())
            }
        };
        let (dividends, divisors) = (self.dividends.at(places), self.divisors.at(places));
        Quotients { dividends, divisors, count: places.len(), powers }
    }

    /// The least and the greatest of the dividends, the same of the divisors, and the power of ten that all are multiplied by; none where there are several.
    pub(super) fn ranges(&self) -> Option<([(i64, i64); 2], i8)> {
        match &self.powers {
            Powers::One(power) => Some(([self.dividends.range(), self.divisors.range()], *power)),
            Powers::Each(_) => None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let powers = match &self.powers {
            Powers::One(_) => 0,
            Powers::Each(powers) => powers.len(),
        };
        self.dividends.bytes() + self.divisors.bytes() + powers
    }
}

impl FromIterator<Quotient> for Quotients {
    fn from_iter<Q: IntoIterator<Item = Quotient>>(quotients: Q) -> Quotients {
        let quotients = quotients.into_iter();
        let room = quotients.size_hint().0;
        let (mut dividends, mut divisors) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut powers = Vec::with_capacity(room);
        for quotient in quotients {
            let (dividend, divisor, power) = quotient.parts();
            dividends.push(dividend);
            divisors.push(divisor);
            powers.push(power);
        }
        let first = powers.first().copied().unwrap_or_default();
        let is_one = powers.iter().all(|power| *power == first);
        Quotients {
            count: dividends.len(),
            dividends: Terms::Own(dividends),
            divisors: Terms::Own(divisors),
            powers: if is_one { Powers::One(first) } else { Powers::Each(powers) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::quotient::Quotient;
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
            -1000i64..1000,
            (any::<i64>(), 10u32..16).prop_map(|(number, shift)| number >> shift),
            (0u32..63, 0u32..27).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

        #[test]
        fn units_of_many_are_those_of_each(numbers in prop::collection::vec((number(), number()), 1..200)) {
            let quotients: Vec<Quotient> =
                numbers.iter().filter_map(|(dividend, divisor)| Quotient::of(*dividend, *divisor)).collect();
            for are_sums in [false, true] {
                let mut count = 0;
                quotients.iter().copied().collect::<Quotients>().each_units(are_sums, |places, units| {
                    count += places.len();
                    let some = &quotients[places];
                    let expected = some.iter().map(|quotient| units_of_one(*quotient));
                    // Sums may have no room in 128 bits, where each has.
                    let expected = || expected.fold(0, i128::wrapping_add);
                    match units {
                        Units::Sum(sums) => assert_eq!(expected(), sum_of(sums)),
                        Units::Each(each) => {
                            for (nth, quotient) in some.iter().enumerate() {
                                let told = each.units(nth);
                                assert!(told.is_none_or(|told| told == units_of_one(*quotient)), "{told:?} {quotient:?}");
                            }
                        }
                    }
                });
                prop_assert_eq!(count, quotients.len());
            }
        }

        /// Of numbers as they are measured.
        #[test]
        fn short_quotients_are_told_together(dividend in 0i64..10_000_000, divisor in 1000i64..10_000_000) {
            let quotient = Quotient::of(dividend, divisor).unwrap();
            Quotients::from_iter([quotient]).each_units(true, |_, units| match units {
                Units::Sum(sums) => assert_eq!(sum_of(sums), units_of_one(quotient)),
                Units::Each(_) => panic!("{quotient:?}"),
            });
        }
    }

    /// Modulo 2^128.
    fn sum_of([whole, first, second]: [i64; 3]) -> i128 {
        let behind = i128::from(first) * 10i128.pow(14) + i128::from(second);
        i128::from(whole).wrapping_mul(10i128.pow(28)).wrapping_add(behind)
    }

    /// Of what has few digits before the point.
    fn units_of_one(quotient: Quotient) -> i128 {
        let (significand, scale) = quotient.significand();
        significand * 10i128.pow(Decimal::MAX_SCALE - scale)
    }
}
