//! Quotients of whole numbers, and their roots, to the digits that deviations have: in 256 bits, where numbers of any length take many times as long.

use crate::value::Number;

/// Means and deviations that do not end are rounded to so many digits, midpoints to the even one.
pub(super) const DIGITS: u32 = 28;

/// A quotient is told to so many digits at least, before it is rounded to one less.
const TOLD: u32 = DIGITS + 1;

/// The quotient of numbers with so many places, rounded to [`DIGITS`] digits, midpoints to the even one; none where 256 bits do not tell it.
pub(super) fn share(dividend: u128, scale: u32, divisor: u64) -> Option<Number<'static>> {
    let Some(power) = power_of_share(dividend, divisor) else {
        return (dividend == 0 && divisor != 0).then(|| Number::of_significand(0, 0));
    };
    let places = u32::try_from(TOLD as i32 - power).ok()?;
    let (quotient, rest) = Wide::product(dividend, 10u128.checked_pow(places)?).over(divisor)?;
    rounded(quotient.short()?, rest != 0, scale + places)
}

/// The root of such a quotient, of numbers with twice so many places.
pub(super) fn root_of_share(dividend: u128, scale: u32, divisor: u64) -> Option<Number<'static>> {
    let Some(power) = power_of_share(dividend, divisor) else {
        return (dividend == 0 && divisor != 0).then(|| Number::of_significand(0, 0));
    };
    let twice = u32::try_from(2 * TOLD as i32 - power).ok()?;
    let places = twice.div_ceil(2);
    let power = 10u128.checked_pow(places)?;
    let (square, rest) = Wide::product(dividend, power).times(power)?.over(divisor)?;
    let root = square.root()?;
    rounded(root, rest != 0 || Wide::product(root, root) != square, scale + places)
}

/// The power of ten that a quotient lies above; none of zero, and of one by zero.
fn power_of_share(dividend: u128, divisor: u64) -> Option<i32> {
    let length = |ilog: Option<u32>| ilog.map(|ilog| ilog as i32);
    Some(length(dividend.checked_ilog10())? - length(divisor.checked_ilog10())? - 1)
}

/// Digits, of which there are more than [`DIGITS`], rounded to these, where more that are not zero may go on behind them.
fn rounded(digits: u128, goes_on: bool, places: u32) -> Option<Number<'static>> {
    let needless = (digits.checked_ilog10()? + 1).checked_sub(DIGITS)?;
    let unit = 10u128.checked_pow(needless)?;
    let (kept, rest) = (digits / unit, 2 * (digits % unit));
    let is_up = rest > unit || (rest == unit && (goes_on || kept % 2 == 1));
    Some(Number::of_significand(
        i128::try_from(kept).ok()? + i128::from(is_up),
        places.checked_sub(needless)?,
    ))
}

/// A number of 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Wide {
    upper: u128,
    lower: u128,
}

const HALF: u32 = u64::BITS;

impl Wide {
    fn product(a: u128, b: u128) -> Wide {
        let halves = |number: u128| (number >> HALF, u128::from(number as u64));
        let ((a_upper, a_lower), (b_upper, b_lower)) = (halves(a), halves(b));
        // Each is less than 2^128 with two words of 64 bits more.
        let lowest = a_lower * b_lower;
        let middle = a_upper * b_lower + (lowest >> HALF);
        let other = a_lower * b_upper + u128::from(middle as u64);
        Wide {
            upper: a_upper * b_upper + (middle >> HALF) + (other >> HALF),
            lower: (other << HALF) | u128::from(lowest as u64),
        }
    }

    /// None where there is no room.
    fn times(self, by: u128) -> Option<Wide> {
        let Wide { upper, lower } = Wide::product(self.lower, by);
        Some(Wide { upper: self.upper.checked_mul(by)?.checked_add(upper)?, lower })
    }

    /// The quotient and what is left; none by zero.
    fn over(self, divisor: u64) -> Option<(Wide, u64)> {
        let mut rest = 0;
        // What is left is less than the divisor, and so is the quotient of it and 64 bits more less than 2^64.
        let mut next = |word: u64| -> Option<u128> {
            let dividend = rest << HALF | u128::from(word);
            let quotient = dividend.checked_div(divisor.into())?;
            rest = dividend - quotient * u128::from(divisor);
            Some(quotient)
        };
        let upper = (next((self.upper >> HALF) as u64)? << HALF) | next(self.upper as u64)?;
        let lower = (next((self.lower >> HALF) as u64)? << HALF) | next(self.lower as u64)?;
        Some((Wide { upper, lower }, rest as u64))
    }

    fn minus(self, other: Wide) -> Wide {
        let (lower, borrow) = self.lower.overflowing_sub(other.lower);
        Wide { upper: self.upper.wrapping_sub(other.upper).wrapping_sub(borrow.into()), lower }
    }

    fn short(self) -> Option<u128> {
        (self.upper == 0).then_some(self.lower)
    }

    /// The binary number next to it, nearly.
    fn near(self) -> f64 {
        self.upper as f64 * 2f64.powi(128) + self.lower as f64
    }

    /// The whole part of the square root; none of more than 208 bits.
    ///
    /// The root of a binary number has 53 bits of it, and Newton's method twice as many from there on: one more step than it takes for 104 bits.
    fn root(self) -> Option<u128> {
        if self.upper >> (208 - u128::BITS) != 0 {
            return None;
        }
        let mut root = self.near().sqrt() as u128;
        for _ in 0..2 {
            let square = Wide::product(root, root);
            let step = |off: Wide| (off.near() / (2.0 * root as f64)) as u128;
            root = match square > self {
                true => root.checked_sub(step(square.minus(self)))?,
                false => root.checked_add(step(self.minus(square)))?,
            };
        }
        let is_root = |root: u128| {
            let square = Wide::product(root, root);
            // The next square is greater by twice the root and one.
            square <= self && self.minus(square).short().is_some_and(|off| off <= 2 * root)
        };
        [root, root.checked_sub(1)?, root + 1].into_iter().find(|root| is_root(*root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Long;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u128> {
        prop_oneof![
            (any::<u128>(), 0u32..128).prop_map(|(number, shift)| number >> shift),
            0u128..200,
            (0u32..39, -2i128..3).prop_map(|(power, off)| 10u128.pow(power).saturating_add_signed(off)),
            any::<u64>().prop_map(|root| u128::from(root) * u128::from(root)),
        ]
    }

    fn divisor() -> impl Strategy<Value = u64> {
        prop_oneof![2u64..1000, (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)]
            .prop_map(|divisor| divisor.max(1))
    }

    fn big(wide: Wide) -> BigUint {
        (BigUint::from(wide.upper) << 128) + BigUint::from(wide.lower)
    }

    fn text(number: &Number<'_>) -> String {
        number.text().into_owned()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn wide_numbers_are_those_of_any_length(a in number(), b in number(), by in number(), divisor in divisor()) {
            let wide = Wide::product(a, b);
            prop_assert_eq!(big(wide), BigUint::from(a) * b);
            let times = wide.times(by);
            prop_assert_eq!(times.is_none(), (big(wide) * by).bits() > 256);
            if let Some(times) = times {
                prop_assert_eq!(big(times), big(wide) * by);
            }
            let (quotient, rest) = wide.over(divisor).unwrap();
            prop_assert_eq!(big(quotient), big(wide) / divisor);
            prop_assert_eq!(BigUint::from(rest), big(wide) % divisor);
            if let Some(root) = wide.root() {
                prop_assert_eq!(BigUint::from(root), big(wide).sqrt());
            }
        }

        #[test]
        fn shares_and_their_roots_are_those_of_long_numbers(dividend in 0u128..1 << 127, shift in 0u32..127, scale in 0u32..20, divisor in divisor()) {
            let dividend = dividend >> shift;
            let long = Long::new(dividend as i128, scale);
            let by = Long::new(divisor.into(), 0);
            if let Some(share) = share(dividend, scale, divisor) {
                let plain = long.over(&by, 200).unwrap().rounded_to_digits(DIGITS).number();
                prop_assert_eq!(text(&share), text(&plain));
            }
            let long = Long::new(dividend as i128, 2 * scale);
            if let Some(root) = root_of_share(dividend, scale, divisor) {
                let plain = long.root_of_share(&by, DIGITS).unwrap().rounded_to_digits(DIGITS).number();
                prop_assert_eq!(text(&root), text(&plain));
            }
        }
    }

    /// What is measured is told without numbers of any length.
    #[test]
    fn shares_of_measured_numbers_are_told() {
        for (dividend, divisor) in
            [(1, 2), (4, 2), (123_456_789_012_345, 1_369_670 * 1_369_669), (10u128.pow(28), 12), (0, 6)]
        {
            assert!(share(dividend, 3, divisor).is_some(), "{dividend} / {divisor}");
            assert!(root_of_share(dividend, 3, divisor).is_some(), "{dividend} / {divisor}");
        }
        assert_eq!(text(&root_of_share(8, 1, 2).unwrap()), "0.2");
        assert!(share(1, 0, 0).is_none() && root_of_share(1, 0, 0).is_none());
    }
}
