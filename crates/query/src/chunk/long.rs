//! Products and quotients of decimals, digit for digit as a decimal's own operations give them, which take several times as long.

use rust_decimal::Decimal;

/// Significands of decimals are less than this.
pub(super) const SIGNIFICAND_END: u128 = 1 << 96;

/// So many digits of a quotient are found together, by way of binary numbers: what is left of a division has 96 bits, and so many digits more have room in 128.
const DIGITS_TOGETHER: u32 = 9;

/// The powers of ten that have room in 64 bits.
pub(super) const POWERS: [u64; u64::MAX.ilog10() as usize + 1] = {
    let mut powers = [1; u64::MAX.ilog10() as usize + 1];
    let mut nth = 1;
    while nth < powers.len() {
        powers[nth] = 10 * powers[nth - 1];
        nth += 1;
    }
    powers
};

/// The greatest whole number that a decimal with so many digits after the point has before it.
pub(super) const WHOLE_MAX: [u128; Decimal::MAX_SCALE as usize + 1] = {
    let mut most = [SIGNIFICAND_END - 1; Decimal::MAX_SCALE as usize + 1];
    let mut nth = 1;
    while nth < most.len() {
        most[nth] = most[nth - 1] / 10;
        nth += 1;
    }
    most
};

/// The product of two decimals, as many of its digits as a decimal has, midpoints to the even one; none where it takes more to tell it, or there is none.
#[inline]
pub(crate) fn product(left: Decimal, right: Decimal) -> Option<Decimal> {
    let [a, b] = [left, right].map(|factor| factor.mantissa().unsigned_abs());
    let (digits, scale) = fitting(a.checked_mul(b)?, left.scale() + right.scale())?;
    Some(decimal(digits, scale, left.is_sign_negative() != right.is_sign_negative()))
}

/// The quotient of two decimals in the same way.
#[inline]
pub(crate) fn quotient(dividend: Decimal, divisor: Decimal) -> Option<Decimal> {
    let power = divisor.scale() as i32 - dividend.scale() as i32;
    let [a, b] = [dividend, divisor].map(|number| number.mantissa().unsigned_abs());
    let (digits, scale) = divided(a, b, power)?;
    Some(decimal(digits, scale, dividend.is_sign_negative() != divisor.is_sign_negative()))
}

#[inline]
fn decimal(digits: u128, scale: u32, is_negative: bool) -> Decimal {
    let word = |nth: u32| (digits >> (32 * nth)) as u32;
    Decimal::from_parts(word(0), word(1), word(2), is_negative && digits != 0, scale)
}

/// So many digits of a number and its scale as a decimal has.
#[inline]
fn fitting(number: u128, scale: u32) -> Option<(u128, u32)> {
    let mut needless = scale.saturating_sub(Decimal::MAX_SCALE);
    let long = number >> SIGNIFICAND_END.trailing_zeros();
    if long > 0 {
        // 77 / 256 is a little less than the logarithm of 2: so many digits are too many at least, and one more may be.
        let fewest = ((long.ilog2() * 77) >> 8) + 1;
        let end = SIGNIFICAND_END.checked_mul((*POWERS.get(fewest as usize)?).into());
        let more = u32::from(end.is_some_and(|end| number >= end));
        needless = needless.max(fewest + more);
    }
    if needless == 0 {
        return Some((number, scale));
    }
    let scale = scale.checked_sub(needless)?;
    let unit = *POWERS.get(needless as usize)?;
    let (digits, rest) = match u64::try_from(number) {
        Ok(short) => (u128::from(short / unit), short % unit),
        Err(_) => {
            let digits = number / u128::from(unit);
            (digits, (number as u64).wrapping_sub((digits as u64).wrapping_mul(unit)))
        }
    };
    let is_up = rest > unit / 2 || rest == unit / 2 && digits % 2 == 1;
    let digits = digits + u128::from(is_up);
    (digits < SIGNIFICAND_END).then_some((digits, scale))
}

/// The digits and the scale of a quotient times a power of ten.
#[inline]
fn divided(dividend: u128, divisor: u128, mut power: i32) -> Option<(u128, u32)> {
    if divisor == 0 {
        return None;
    }
    let division = Division::by(divisor);
    let (mut digits, mut rest) = match dividend < divisor {
        true => (0, dividend),
        false => (dividend / divisor, dividend % divisor),
    };
    while digits == 0 && power > 0 {
        let count = power.min(DIGITS_TOGETHER as i32);
        let (next, left) = division.next(rest, count as u32)?;
        (digits, rest) = (next.into(), left);
        power -= count;
    }
    let (places, scale) = digits_behind(digits, power)?;
    let mut left = places;
    while left > 0 {
        let count = left.min(DIGITS_TOGETHER);
        let (next, after) = division.next(rest, count)?;
        digits = digits * u128::from(*POWERS.get(count as usize)?) + u128::from(next);
        (rest, left) = (after, left - count);
    }
    let twice = 2 * rest;
    digits += u128::from(twice > divisor || twice == divisor && digits % 2 == 1);
    (digits < SIGNIFICAND_END).then_some((digits, scale))
}

/// How many digits of a quotient follow its whole part, and the scale that it has then: as many of them as the power of ten are before the point.
#[inline(always)]
pub(super) fn digits_behind(whole: u128, power: i32) -> Option<(u32, u32)> {
    let most = Decimal::MAX_SCALE as i32;
    let mut places = (most + 1 - digits_of(whole) as i32).min(most);
    places -= i32::from(whole > *WHOLE_MAX.get(places as usize)?);
    let places = u32::try_from(places.min(most + power)).ok()?;
    Some((places, u32::try_from(places as i32 - power).ok()?))
}

/// How many digits a number has; none of zero.
#[inline]
fn digits_of(number: u128) -> u32 {
    let Ok(number) = u64::try_from(number) else {
        const LONG: [u128; 11] = [
            10u128.pow(19),
            10u128.pow(20),
            10u128.pow(21),
            10u128.pow(22),
            10u128.pow(23),
            10u128.pow(24),
            10u128.pow(25),
            10u128.pow(26),
            10u128.pow(27),
            10u128.pow(28),
            10u128.pow(29),
        ];
        return 19 + LONG.iter().map(|power| u32::from(number >= *power)).sum::<u32>();
    };
    // 1233 / 4096 is a little less than the logarithm of 2.
    let fewest = ((u64::BITS - (number | 1).leading_zeros()) * 1233) >> 12;
    fewest + u32::from(POWERS.get(fewest as usize).is_some_and(|power| number >= *power))
}

/// A division by 96 bits, digits of which are found together.
struct Division {
    divisor: u128,
    /// So many bits at its end are not looked at to guess digits.
    shift: u32,
    /// The binary number next to one divided by the other bits, nearly.
    inverse: f64,
}

impl Division {
    #[inline]
    fn by(divisor: u128) -> Division {
        /// As many bits tell more than the digits that are found together.
        const BITS: u32 = 52;
        let shift = (u128::BITS - BITS).saturating_sub(divisor.leading_zeros());
        Division { divisor, shift, inverse: 1.0 / (divisor >> shift) as i64 as f64 }
    }

    /// The next so many digits of what is left of a division, and what is left then.
    #[inline]
    fn next(&self, rest: u128, count: u32) -> Option<(u64, u128)> {
        let power = *POWERS.get(count as usize)?;
        let guess = ((rest >> self.shift) as i64 as f64 * self.inverse * power as i64 as f64) as i64 as u64;
        // It is right, or off by one.
        let left = rest * u128::from(power);
        let of_guess = u128::from(guess) * self.divisor;
        match left.checked_sub(of_guess) {
            None => Some((guess - 1, left + self.divisor - of_guess)),
            Some(left) if left >= self.divisor => Some((guess + 1, left - self.divisor)),
            Some(left) => Some((guess, left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of all lengths, and such as end soon.
    fn decimal() -> impl Strategy<Value = Decimal> {
        let significand = prop_oneof![
            (any::<i128>(), 32u32..128).prop_map(|(number, shift)| number >> shift),
            (-1000i128..1000, 0u32..26).prop_map(|(number, power)| number * 10i128.pow(power)),
            (0u32..90, 0u32..40)
                .prop_map(|(two, five)| (1i128 << two).saturating_mul(5i128.pow(five)) % (1 << 96)),
            (0u32..28, -2i128..3)
                .prop_map(|(power, off)| (((1i128 << 96) - 1) / 10i128.pow(power) + off).min((1 << 96) - 1)),
        ];
        (significand, 0u32..29)
            .prop_map(|(significand, scale)| Decimal::from_i128_with_scale(significand, scale))
    }

    #[test]
    fn midpoints_go_to_the_even_digit() {
        let of = |text: &str| text.parse::<Decimal>().unwrap();
        let half = Decimal::new(5, 1);
        let odd = of("0.0000000000000000000000000003");
        assert_eq!(product(odd, half), Some(of("0.0000000000000000000000000002")));
        assert_eq!(product(odd, -half), odd.checked_mul(-half));
        assert_eq!(quotient(-odd, of("2")), Some(of("-0.0000000000000000000000000002")));
        assert_eq!(quotient(odd, Decimal::ZERO), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 50_000, ..ProptestConfig::default() })]

        #[test]
        fn products_and_quotients_are_those_of_decimals(left in decimal(), right in decimal()) {
            if let Some(product) = product(left, right) {
                prop_assert_eq!(Some(product), left.checked_mul(right), "{} * {}", left, right);
            }
            if let Some(quotient) = quotient(left, right) {
                prop_assert_eq!(Some(quotient), left.checked_div(right), "{} / {}", left, right);
            }
        }

        /// One divided by a divisor of a power of ten has an end.
        #[test]
        fn a_quotient_may_be_a_product(left in decimal(), two in 0u32..12, five in 0u32..12, scale in 0u32..6) {
            let whole = 2i64.pow(two) * 5i64.pow(five);
            let (divisor, factor) = (Decimal::new(whole, scale), Decimal::new(10i64.pow(12) / whole, 12));
            let (quotient, product) = match 12u32.checked_sub(scale) {
                Some(places) => (left.checked_div(divisor), left.checked_mul(Decimal::new(10i64.pow(12) / whole, places))),
                None => (left.checked_div(Decimal::from(whole)), left.checked_mul(factor)),
            };
            prop_assert_eq!(quotient, product, "{} / {}", left, divisor);
        }

        /// As those of measured numbers, which are told.
        #[test]
        fn chains_of_quotients_are_told(numbers in (1i64..10_000_000, 1i64..10_000_000, 1i64..100_000_000), scales in (0u32..6, 0u32..6)) {
            let (a, b, c) = numbers;
            let first = Decimal::new(a, scales.0).checked_div(Decimal::from(b)).unwrap();
            let c = Decimal::new(c, scales.1);
            let results = [
                (product(first, c), first.checked_mul(c)),
                (quotient(first, c), first.checked_div(c)),
                (quotient(c, first), c.checked_div(first)),
            ];
            for (told, plain) in results {
                // What comes next to the end of significands has a digit less, or not.
                let is_edge = plain.is_some_and(|plain| plain.mantissa().to_string().starts_with("79"));
                prop_assert!(told == plain || is_edge && told.is_none(), "{:?} {:?}", told, plain);
            }
        }
    }
}
