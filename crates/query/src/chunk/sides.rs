//! What many decimals come to with others, by the shortest way for both.

use super::magnitudes::ChainOp;
use super::parts::{Parts, Shorts};

/// Reckons with decimals and short numbers behind them; none where that is not told many at once.
pub(super) fn with_shorts(op: ChainOp, parts: &mut Parts, shorts: &Shorts) -> Option<()> {
    match op {
        ChainOp::Multiply => parts.multiply_by(shorts),
        ChainOp::Divide => parts.divide_by(shorts),
        ChainOp::Add | ChainOp::Subtract => {
            let mut others = Parts::default();
            others.widen(shorts)?;
            with_parts(op, parts, &others);
            Some(())
        }
    }
}

/// The same with short numbers before them.
pub(super) fn behind_shorts(op: ChainOp, shorts: &Shorts, parts: &mut Parts) -> Option<()> {
    if op == ChainOp::Multiply {
        return parts.multiply_by(shorts);
    }
    let mut others = Parts::default();
    others.widen(shorts)?;
    with_parts(op, &mut others, parts);
    *parts = others;
    Some(())
}

/// The same with decimals behind others.
pub(super) fn with_parts(op: ChainOp, parts: &mut Parts, others: &Parts) {
    match op {
        ChainOp::Add => parts.add(others, 1.0),
        ChainOp::Subtract => parts.add(others, -1.0),
        ChainOp::Multiply => parts.multiply(others),
        ChainOp::Divide => parts.divide_by_parts(others),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parts::TOGETHER;
    use super::super::units::{Units, each_units};
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    /// Many numbers of a chain, as decimals make them and as parts.
    #[derive(Clone, Debug)]
    enum Step {
        Numbers(Vec<i64>, u32),
        Quotients(Vec<i64>, Vec<i64>),
        Both(ChainOp, Box<Step>, Box<Step>),
    }

    impl Step {
        fn decimal(&self, nth: usize) -> Option<Decimal> {
            match self {
                Step::Numbers(numbers, scale) => Some(Decimal::new(numbers[nth], *scale)),
                Step::Quotients(of, by) => Decimal::from(of[nth]).checked_div(Decimal::from(by[nth])),
                Step::Both(op, left, right) => {
                    let (left, right) = (left.decimal(nth)?, right.decimal(nth)?);
                    match op {
                        ChainOp::Add => left.checked_add(right),
                        ChainOp::Subtract => left.checked_sub(right),
                        ChainOp::Multiply => left.checked_mul(right),
                        ChainOp::Divide => left.checked_div(right),
                    }
                }
            }
        }

        fn shorts(&self) -> Option<Shorts> {
            let Step::Numbers(numbers, scale) = self else { return None };
            Some(shorts(numbers, *scale))
        }

        fn parts(&self) -> Option<Parts> {
            let mut parts = Parts::default();
            match self {
                Step::Numbers(numbers, scale) => parts.widen(&shorts(numbers, *scale))?,
                Step::Quotients(of, by) => parts.divide(&shorts(of, 0).numbers, &shorts(by, 0).numbers),
                Step::Both(op, left, right) => match (left.shorts(), right.shorts()) {
                    (None, Some(right)) => {
                        parts = left.parts()?;
                        with_shorts(*op, &mut parts, &right)?;
                    }
                    (Some(left), None) => {
                        parts = right.parts()?;
                        behind_shorts(*op, &left, &mut parts)?;
                    }
                    _ => {
                        parts = left.parts()?;
                        with_parts(*op, &mut parts, &right.parts()?);
                    }
                },
            }
            Some(parts)
        }

        /// Each times 10^28; none of those that are not told.
        fn units(&self) -> Option<Vec<Option<i128>>> {
            let parts = self.parts()?;
            let mut told = Vec::new();
            each_units(
                TOGETHER,
                false,
                |_, of| {
                    *of = parts.clone();
                    Some(())
                },
                |places, units| {
                    let Units::Each(each) = units else { unreachable!("sums were not asked for") };
                    told.extend(places.map(|place| each.units(place)));
                },
            );
            Some(told)
        }
    }

    fn shorts(numbers: &[i64], scale: u32) -> Shorts {
        let mut shorts = Shorts { scale, ..Shorts::default() };
        shorts.set(numbers, 1);
        shorts
    }

    fn units_of(decimal: Decimal) -> i128 {
        decimal.mantissa() * 10i128.pow(Decimal::MAX_SCALE - decimal.scale())
    }

    /// Numbers as they are measured, and of all lengths.
    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            4 => -100_000i64..100_000,
            2 => (-1000i64..1000, 0u32..6).prop_map(|(number, power)| number * 10i64.pow(power)),
            1 => (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
            1 => (0u32..40, 0u32..10).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
        ]
    }

    fn step() -> impl Strategy<Value = Step> {
        let numbers = || prop::collection::vec(number(), TOGETHER);
        let leaf = prop_oneof![
            (numbers(), numbers()).prop_map(|(of, by)| Step::Quotients(of, by)),
            (numbers(), 0u32..6).prop_map(|(numbers, scale)| Step::Numbers(numbers, scale)),
        ];
        let ops = [ChainOp::Add, ChainOp::Subtract, ChainOp::Multiply, ChainOp::Divide];
        leaf.prop_recursive(3, 8, 2, move |inner| {
            (prop::sample::select(ops.to_vec()), inner.clone(), inner)
                .prop_map(|(op, left, right)| Step::Both(op, Box::new(left), Box::new(right)))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn what_parts_tell_is_what_decimals_come_to(step in step()) {
            for (nth, units) in step.units().unwrap_or_default().into_iter().enumerate() {
                if let Some(units) = units {
                    let decimal = step.decimal(nth);
                    prop_assert_eq!(decimal.map(units_of), Some(units), "{}: {:?}", nth, decimal);
                }
            }
        }

        /// As those of measured numbers.
        #[test]
        fn short_chains_are_told(
            a in prop::collection::vec(1i64..1_000_000, TOGETHER), b in prop::collection::vec(1i64..100_000, TOGETHER),
            c in prop::collection::vec(1i64..50_000, TOGETHER), is_long: bool,
            op in prop::sample::select(vec![ChainOp::Multiply, ChainOp::Divide, ChainOp::Add, ChainOp::Subtract]),
        ) {
            let right = match is_long {
                true => Step::Quotients(c, b.clone()),
                false => Step::Numbers(c, 3),
            };
            let step = Step::Both(op, Box::new(Step::Quotients(a, b)), Box::new(right));
            for (nth, units) in step.units().unwrap().into_iter().enumerate() {
                let decimal = step.decimal(nth).unwrap();
                let digits = decimal.mantissa().to_string();
                let is_edge = digits.trim_start_matches('-').starts_with("79228162514264");
                prop_assert!(units.is_some() || is_edge || decimal.abs() > Decimal::from(7_922_000_000i64), "{}", decimal);
            }
        }
    }
}
