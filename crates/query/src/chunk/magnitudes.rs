//! Between which bounds numbers are that are reckoned with, told by those of what they are made of.

use super::quotients::Quotients;
use crate::value::BINARY_POWERS;
use tamias_shred::Numbers as Mantissas;
use tamias_simd::numbers::range;

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainOp {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// How great some numbers are without their signs, if they are not zero, and which signs they have. Bounds may be off by a few roundings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Magnitudes {
    pub(super) least: f64,
    pub(super) greatest: f64,
    has_negative: bool,
    has_positive: bool,
}

impl Magnitudes {
    /// Those of whole numbers from one to another, times a power of ten.
    fn of_range((least, greatest): (i64, i64), power: f64) -> Magnitudes {
        // All that lie between two numbers of one sign are no less than one of them.
        let (has_negative, has_positive) = (least < 0, greatest > 0);
        let ends = [least, greatest].map(|end| end.unsigned_abs().max(1) as f64 * power);
        let least = if least > 0 || greatest < 0 { ends[0].min(ends[1]) } else { power };
        Magnitudes { least, greatest: ends[0].max(ends[1]), has_negative, has_positive }
    }

    pub(super) fn of_numbers(numbers: &Mantissas) -> Option<Magnitudes> {
        let power = BINARY_POWERS.get(usize::from(numbers.scale))?;
        Some(Magnitudes::of_range(range(&numbers.values)?, 1.0 / power))
    }

    pub(super) fn of_constant(constant: f64) -> Magnitudes {
        let magnitude = constant.abs();
        let (has_negative, has_positive) = (constant < 0.0, constant > 0.0);
        Magnitudes { least: magnitude, greatest: magnitude, has_negative, has_positive }
    }

    /// None where several powers of ten are among them.
    pub(super) fn of_quotients(quotients: &Quotients) -> Option<Magnitudes> {
        let ([dividends, divisors], power) = quotients.ranges()?;
        let power = BINARY_POWERS.get(usize::from(power.unsigned_abs())).map(|binary| match power < 0 {
            true => 1.0 / binary,
            false => *binary,
        })?;
        Magnitudes::of_range(dividends, power).and(ChainOp::Divide, Magnitudes::of_range(divisors, 1.0))
    }

    /// Those of what comes of two numbers; none where these may cancel each other out.
    pub(super) fn and(self, op: ChainOp, right: Magnitudes) -> Option<Magnitudes> {
        let (least, greatest) = match op {
            ChainOp::Multiply => (self.least * right.least, self.greatest * right.greatest),
            ChainOp::Divide => (self.least / right.greatest, self.greatest / right.least),
            ChainOp::Add | ChainOp::Subtract => {
                let is_negated = op == ChainOp::Subtract;
                let signs = |of: Magnitudes, is_negated: bool| match is_negated {
                    true => (of.has_positive, of.has_negative),
                    false => (of.has_negative, of.has_positive),
                };
                let (left, right_signs) = (signs(self, false), signs(right, is_negated));
                let (has_negative, has_positive) = (left.0 | right_signs.0, left.1 | right_signs.1);
                let (least, greatest) = (self.least.min(right.least), self.greatest + right.greatest);
                let is_told = !(has_negative && has_positive);
                return is_told.then_some(Magnitudes { least, greatest, has_negative, has_positive });
            }
        };
        let has_negative = self.has_negative & right.has_positive | self.has_positive & right.has_negative;
        let has_positive = self.has_positive & right.has_positive | self.has_negative & right.has_negative;
        Some(Magnitudes { least, greatest, has_negative, has_positive })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_comes_of_numbers_is_between_the_bounds(
            left in prop::collection::vec(-1000i64..1000, 1..5), right in prop::collection::vec(-50i64..1000, 1..5), shift in 0i64..3000,
            op in prop::sample::select(vec![ChainOp::Add, ChainOp::Subtract, ChainOp::Multiply, ChainOp::Divide]),
        ) {
            let left: Vec<i64> = left.iter().map(|number| number + shift - 1000).collect();
            let magnitudes = |values: &[i64]| Magnitudes::of_range(range(values).unwrap(), 0.01);
            let Some(told) = magnitudes(&left).and(op, magnitudes(&right)) else { return Ok(()) };
            for (one, other) in left.iter().flat_map(|one| right.iter().map(move |other| (*one as f64, *other as f64))) {
                let (one, other) = (one / 100.0, other / 100.0);
                let number = match op {
                    ChainOp::Add => one + other,
                    ChainOp::Subtract => one - other,
                    ChainOp::Multiply => one * other,
                    ChainOp::Divide => one / other,
                };
                if number.is_finite() && number.abs() > 1e-9 {
                    prop_assert!(number.abs() >= told.least * 0.999_999 && number.abs() <= told.greatest * 1.000_001);
                    let has_sign = if number < 0.0 { told.has_negative } else { told.has_positive };
                    prop_assert!(has_sign);
                }
            }
        }
    }
}
