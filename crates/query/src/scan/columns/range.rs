//! A comparison with a constant number as a range of whole numbers.

use crate::ast::Comparison;
use crate::value::Number;

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
        (mantissa >= self.from && mantissa <= self.to) != self.negated
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
                prop_assert_eq!(range.has(mantissa), expected, "{:?}", op);
            }
        }
    }
}
