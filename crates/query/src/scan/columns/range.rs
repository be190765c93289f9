//! A comparison with a constant number as a range of whole numbers.

use crate::ast::Comparison;
use crate::value::{Number, Value};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use tamias_simd::numbers::told;

/// The mantissas of a scale that a comparison holds for: those in the range, or all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    from: i64,
    to: i64,
    negated: bool,
}

impl Range {
    const NONE: Range = Range { from: i64::MAX, to: i64::MIN, negated: false };

    /// The mantissas `m` for which `m / 10^scale` compares so with a number; none where that is too long to tell.
    pub(super) fn of(op: Comparison, number: &Number<'_>, scale: u8) -> Option<Range> {
        let (mantissa, of) = match (number, number.few_digits()) {
            (_, Some((significand, scale))) => (i128::from(significand), scale),
            (Number::Decimal(decimal), None) => (decimal.mantissa(), decimal.scale()),
            (Number::Stored(_) | Number::Shared(_), None) => return None,
        };
        let scale = u32::from(scale);
        // The greatest mantissa that is not greater than the number, and whether it is the number.
        let (floor, is_exact) = match of.checked_sub(scale) {
            None => (mantissa.checked_mul(10i128.checked_pow(scale - of)?)?, true),
            Some(digits) => {
                let power = 10i128.checked_pow(digits)?;
                (mantissa.div_euclid(power), mantissa.rem_euclid(power) == 0)
            }
        };
        let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let range = |from: i128, to: i128, negated: bool| {
            if from > to || from > greatest || to < least {
                return Range { negated, ..Range::NONE };
            }
            Range { from: from.max(least) as i64, to: to.min(greatest) as i64, negated }
        };
        let below = if is_exact { floor - 1 } else { floor };
        Some(match op {
            Comparison::Equal if is_exact => range(floor, floor, false),
            Comparison::NotEqual if is_exact => range(floor, floor, true),
            Comparison::Equal => Range::NONE,
            Comparison::NotEqual => Range { negated: true, ..Range::NONE },
            Comparison::Less => range(least, below, false),
            Comparison::LessOrEqual => range(least, floor, false),
            Comparison::Greater => range(floor + 1, greatest, false),
            Comparison::GreaterOrEqual => range(below + 1, greatest, false),
            Comparison::Like | Comparison::NotLike | Comparison::In | Comparison::NotIn => return None,
        })
    }

    /// The mantissa, if it is the only one.
    pub(super) fn only(self) -> Option<i64> {
        (self.from == self.to && !self.negated).then_some(self.from)
    }

    #[inline]
    pub(super) fn has(self, mantissa: i64) -> bool {
        // Which numbers lie within cannot be foretold: both are compared, without a branch.
        ((mantissa >= self.from) & (mantissa <= self.to)) != self.negated
    }

    /// Of each mantissa whether the comparison holds for it.
    pub(super) fn test(self, mantissas: &[i64]) -> Vec<bool> {
        told(mantissas, move |mantissa| self.has(mantissa))
    }
}

/// The mantissas of a scale that a set has.
pub(super) enum Among {
    /// Each is compared.
    Few([i64; FEW_MAX]),
    Many(HashSet<i64, RandomState>),
}

/// HEURISTIC: to compare with so many, eight at once, takes less than to look one up.
const FEW_MAX: usize = 16;

impl Among {
    /// The mantissas `m` for which `m / 10^scale` is one of the values; none where a number is too long to tell.
    pub(super) fn of(values: &[Value<'_>], scale: u8) -> Option<Among> {
        let mut among: HashSet<i64, RandomState> = HashSet::default();
        for value in values {
            if let Value::Number(number) = value {
                among.extend(Range::of(Comparison::Equal, number, scale)?.only());
            }
        }
        let Some(first) = among.iter().next() else { return Some(Among::Many(among)) };
        if among.len() > FEW_MAX {
            return Some(Among::Many(among));
        }
        let mut few = [*first; FEW_MAX];
        few.iter_mut().zip(&among).for_each(|(few, own)| *few = *own);
        Some(Among::Few(few))
    }

    /// Of each mantissa whether the set has it, or whether it has not.
    pub(super) fn test(&self, mantissas: &[i64], negated: bool) -> Vec<bool> {
        match self {
            Among::Few(few) => {
                let few = *few;
                told(mantissas, move |mantissa| {
                    few.iter().fold(false, |has, own| has | (mantissa == *own)) != negated
                })
            }
            Among::Many(many) => {
                mantissas.iter().map(|mantissa| many.contains(mantissa) != negated).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::holds;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    proptest! {
        #[test]
        fn a_set_has_the_mantissas_of_its_numbers_and_no_others(
            numbers in prop::collection::vec((-30i64..30, 0u32..3), 0..30),
            far in prop::option::of(prop::sample::select(&[i64::MIN + 1, -1 << 40, 1 << 16, i64::MAX])),
            scale in 0u8..3,
        ) {
            let numbers = numbers.into_iter().map(|(digits, scale)| Decimal::new(digits, scale));
            let numbers: Vec<Decimal> = numbers.chain(far.map(Decimal::from)).collect();
            let values: Vec<Value<'_>> = numbers.iter().map(|it| Value::Number(Number::Decimal(*it))).collect();
            let among = Among::of(&values, scale).unwrap();
            let probes = (-4_000..4_000).chain(far).chain([i64::MIN, i64::MAX]);
            let probes: Vec<i64> = probes.collect();
            let (told, others) = (among.test(&probes, false), among.test(&probes, true));
            for ((mantissa, told), other) in probes.into_iter().zip(told).zip(others) {
                let is_among = numbers.iter().any(|it| {
                    Decimal::try_new(mantissa, u32::from(scale)).is_ok_and(|mantissa| mantissa == *it)
                });
                prop_assert_eq!((told, other), (is_among, !is_among), "{}", mantissa);
            }
        }

        #[test]
        fn a_range_has_what_the_comparison_holds_for(
            mantissa in -2000i64..2000,
            scale in 0u8..4,
            bound in -20_000i64..20_000,
            of in 0u32..6,
            far in prop::bool::weighted(0.1),
        ) {
            let bound = Decimal::new(if far { bound.saturating_mul(i64::MAX / 20_000) } else { bound }, of);
            let number = Number::Decimal(bound);
            for op in [
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Less,
                Comparison::LessOrEqual,
                Comparison::Greater,
                Comparison::GreaterOrEqual,
            ] {
                let range = Range::of(op, &number, scale).unwrap();
                let expected = holds(op, Decimal::new(mantissa, u32::from(scale)).cmp(&bound));
                prop_assert_eq!(range.test(&[mantissa; 9]), [expected; 9], "{:?}", op);
            }
        }
    }
}
