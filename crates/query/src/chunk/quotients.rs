//! Columns of quotients: their dividends and divisors stay where they are, and are taken together where they are divided.

use super::quotient::Quotient;
use std::ops::Range;
use std::sync::Arc;
use tamias_shred::Numbers as Mantissas;
use tamias_simd::numbers::{multiply, of_both, range};

/// So many quotients are divided together.
pub(super) const TOGETHER: usize = 64;

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
pub(super) fn copy(of: &[i64], places: Range<usize>, others: &mut [i64; TOGETHER]) {
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
            self.fill(places.clone(), &mut dividends, &mut divisors);
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

    /// Puts dividends and divisors of some in the place of others: by which power of ten all of them are multiplied; none where there are several.
    pub(super) fn fill(
        &self,
        places: Range<usize>,
        dividends: &mut [i64; TOGETHER],
        divisors: &mut [i64; TOGETHER],
    ) -> Option<i8> {
        self.dividends.fill(places.clone(), dividends);
        self.divisors.fill(places.clone(), divisors);
        match &self.powers {
            Powers::One(power) => Some(*power),
            Powers::Each(powers) => {
                let (first, others) = powers.get(places)?.split_first()?;
                others.iter().all(|power| power == first).then_some(*first)
            }
        }
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
