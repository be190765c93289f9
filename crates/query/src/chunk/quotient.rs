//! Quotients of whole numbers, which are divided only where their digits are needed: as a division of decimals gives them.

use rust_decimal::Decimal;

/// A division that was not done yet. The divisor is not zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quotient {
    dividend: i64,
    divisor: i64,
}

/// Two quotients whose estimates differ by more than this share of one of them are in the order of the estimates: a conversion of either number and
/// the division are off by 2^-53 each at most.
pub(crate) const ESTIMATE_ERROR: f64 = 1e-15;

/// Significands of decimals are less than this.
const SIGNIFICAND_END: u128 = 1 << 96;

/// So many digits are found by one division of 128 bits; by one of 64 bits as many as its divisor leaves room for.
const DIGITS_TOGETHER: u32 = 9;

const POWERS: [u64; u64::MAX.ilog10() as usize + 1] = {
    let mut powers = [1; u64::MAX.ilog10() as usize + 1];
    let mut nth = 1;
    while nth < powers.len() {
        powers[nth] = 10 * powers[nth - 1];
        nth += 1;
    }
    powers
};

/// The greatest whole number that a decimal with so many digits after the point has before it.
const WHOLE_MAX: [u128; Decimal::MAX_SCALE as usize + 1] = {
    let mut most = [SIGNIFICAND_END - 1; Decimal::MAX_SCALE as usize + 1];
    let mut nth = 1;
    while nth < most.len() {
        most[nth] = most[nth - 1] / 10;
        nth += 1;
    }
    most
};

impl Quotient {
    /// The quotient of two numbers of one scale; none of a division by zero.
    pub(crate) fn of(dividend: i64, divisor: i64) -> Option<Quotient> {
        (divisor != 0).then_some(Quotient { dividend, divisor })
    }

    /// A binary64 near to it.
    #[inline]
    pub(crate) fn estimate(self) -> f64 {
        self.dividend as f64 / self.divisor as f64
    }

    /// As many of its digits as a decimal has, midpoints to the even one.
    #[inline]
    pub(crate) fn decimal(self) -> Decimal {
        let (significand, scale) = self.significand();
        let word = |nth: u32| (significand.unsigned_abs() >> (32 * nth)) as u32;
        Decimal::from_parts(word(0), word(1), word(2), significand < 0, scale)
    }

    /// The significand and the scale of that.
    #[inline]
    pub(crate) fn significand(self) -> (i128, u32) {
        let Quotient { dividend, divisor } = self;
        match digits(dividend.unsigned_abs(), divisor.unsigned_abs()) {
            Some((significand, scale)) => {
                let magnitude = significand as i128;
                (if (dividend < 0) == (divisor < 0) { magnitude } else { -magnitude }, scale)
            }
            // It is not greater than its dividend, so that a decimal has room for it.
            None => {
                let quotient =
                    Decimal::from(dividend).checked_div(Decimal::from(divisor)).unwrap_or_default();
                (quotient.mantissa(), quotient.scale())
            }
        }
    }
}

/// The significand and the scale of a quotient, with as many digits as a decimal has, midpoints to the even one; none where it takes more to tell them.
#[inline]
fn digits(dividend: u64, divisor: u64) -> Option<(u128, u32)> {
    let (whole, mut rest) = (dividend / divisor, dividend % divisor);
    let mut digits = u128::from(whole);
    if rest == 0 {
        return Some((digits, 0));
    }
    let length = whole.checked_ilog10().map_or(0, |power| power + 1);
    let mut scale = (Decimal::MAX_SCALE + 1).saturating_sub(length).min(Decimal::MAX_SCALE);
    scale -= u32::from(digits > *WHOLE_MAX.get(scale as usize)?);
    // What is left is less than the divisor: so many digits behind it have room in 64 bits.
    let room = (1u64 << divisor.leading_zeros().min(63)).ilog10();
    let is_short = room >= DIGITS_TOGETHER;
    let together = room.max(DIGITS_TOGETHER);
    let mut left = scale;
    while left > 0 && rest > 0 {
        let count = left.min(together);
        let power = *POWERS.get(count as usize)?;
        let next;
        (next, rest) = if is_short {
            let raised = rest * power;
            (raised / divisor, raised % divisor)
        } else {
            let raised = u128::from(rest) * u128::from(power);
            // It is less than the power, and the rest less than the divisor: of their product the last 64 bits are enough.
            let next = (raised / u128::from(divisor)) as u64;
            (next, (raised as u64).wrapping_sub(next.wrapping_mul(divisor)))
        };
        digits = digits * u128::from(power) + u128::from(next);
        left -= count;
    }
    let (twice, divisor) = (2 * u128::from(rest), u128::from(divisor));
    digits += u128::from(twice > divisor || (twice == divisor && digits % 2 == 1));
    (digits < SIGNIFICAND_END).then_some((digits, scale - left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Arithmetic;
    use crate::expr::of_decimals;
    use crate::value::{Number, TooLarge};
    use proptest::prelude::*;

    fn quotient(dividend: i64, divisor: i64) -> Result<Option<Decimal>, TooLarge> {
        Ok(Quotient::of(dividend, divisor).map(Quotient::decimal))
    }

    fn divide(dividend: Decimal, divisor: Decimal) -> Result<Option<Decimal>, TooLarge> {
        of_decimals(Arithmetic::Divide, dividend, divisor)
    }

    /// Numbers of all lengths, and such as end soon.
    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
            (-1000i64..1000, 0u32..16).prop_map(|(number, power)| number * 10i64.pow(power)),
            (0u32..63, 0u32..27).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
        ]
    }

    #[test]
    fn midpoints_go_to_the_even_digit() {
        // 28 digits after the point, and a five behind them.
        let divisor = 1 << 29;
        let told = quotient(1, divisor).unwrap().unwrap();
        assert_eq!(Some(told), Decimal::ONE.checked_div(Decimal::from(divisor)));
        assert_eq!(told.to_string(), "0.0000000018626451492309570312");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn quotients_are_those_of_decimals(dividend in number(), divisor in number()) {
            let plain = divide(Decimal::from(dividend), Decimal::from(divisor));
            prop_assert_eq!(quotient(dividend, divisor), plain);
        }

        /// Whatever the scales of decimals.
        #[test]
        fn only_what_numbers_come_to_makes_a_difference(dividend in number(), divisor in number(), scale in 0u32..16) {
            let plain = divide(Decimal::new(dividend, scale), Decimal::new(divisor, scale));
            prop_assert_eq!(quotient(dividend, divisor), plain);
        }

        #[test]
        fn estimates_are_near(dividend in number(), divisor in number()) {
            let Some(quotient) = Quotient::of(dividend, divisor) else { return Ok(()) };
            let (estimate, exact) = (quotient.estimate(), Number::Decimal(quotient.decimal()).to_f64());
            // A decimal has 28 digits after the point at most.
            prop_assert!((estimate - exact).abs() <= exact.abs() * ESTIMATE_ERROR + 1e-27, "{} {}", estimate, exact);
        }
    }
}
