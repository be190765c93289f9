//! Arithmetic: exact on numbers of any digits that are reckoned with, and then rounded to a decimal.

use crate::ast::Arithmetic;
use crate::value::{Long, Number, TooLarge, nearest_of};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

/// `a op b`; none where there is no result, as of a division by zero.
pub(super) fn calculate(op: Arithmetic, a: &Number<'_>, b: &Number<'_>) -> Result<Option<Decimal>, TooLarge> {
    match a.decimal().zip(b.decimal()) {
        Some((a, b)) => of_decimals(op, a, b),
        None => of_long(op, a, b),
    }
}

/// `-a`.
pub(super) fn negate(a: &Number<'_>) -> Result<Decimal, TooLarge> {
    a.rounded().map(|decimal| -decimal)
}

/// The same of two decimals.
pub(crate) fn of_decimals(op: Arithmetic, a: Decimal, b: Decimal) -> Result<Option<Decimal>, TooLarge> {
    let result = match op {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide | Arithmetic::Remainder if b.is_zero() => return Ok(None),
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Remainder => remainder(a, b),
        Arithmetic::Power => return power(a, b),
    };
    result.map(Some).ok_or(TooLarge)
}

fn of_long(op: Arithmetic, a: &Number<'_>, b: &Number<'_>) -> Result<Option<Decimal>, TooLarge> {
    if op == Arithmetic::Power {
        return power(a.rounded()?, b.rounded()?);
    }
    let (a, b) = (Long::of(a)?, Long::of(b)?);
    let result = match op {
        Arithmetic::Add => Some(a.plus(&b)),
        Arithmetic::Subtract => Some(a.minus(&b)),
        Arithmetic::Multiply => Some(a.times(&b)),
        // A place more than a decimal has, behind which a digit tells that there are others.
        Arithmetic::Divide => a.over(&b, i64::from(Decimal::MAX_SCALE) + 1),
        Arithmetic::Remainder => a.remainder(&b),
        Arithmetic::Power => None,
    };
    result.map(|result| result.decimal()).transpose()
}

/// What is left of a division to a whole number, with the sign of `a`. It is exact, which `checked_rem` is not where it
/// cannot bring both to one scale.
fn remainder(a: Decimal, b: Decimal) -> Option<Decimal> {
    let (dividend, divisor) = (a.mantissa().unsigned_abs(), b.mantissa().unsigned_abs());
    if divisor == 0 {
        return None;
    }
    let rest = if a.scale() >= b.scale() {
        // A divisor past 128 bits is greater than any dividend.
        let divisor = 10u128.pow(a.scale() - b.scale()).checked_mul(divisor);
        divisor.map_or(dividend, |divisor| dividend % divisor)
    } else {
        (a.scale()..b.scale()).fold(dividend % divisor, |rest, _| rest * 10 % divisor)
    };
    let rest =
        Decimal::try_from_i128_with_scale(i128::try_from(rest).ok()?, a.scale().max(b.scale())).ok()?;
    Some(if a.is_sign_negative() { -rest } else { rest })
}

fn power(base: Decimal, exponent: Decimal) -> Result<Option<Decimal>, TooLarge> {
    if exponent.is_integer() && (exponent.is_zero() || exponent.is_sign_positive()) {
        if base == Decimal::NEGATIVE_ONE {
            return Ok(Some(if (exponent % Decimal::TWO).is_zero() { Decimal::ONE } else { base }));
        }
        let power = match exponent.to_u64() {
            Some(exponent) => whole_power(base, exponent),
            // Whatever is neither 0 nor 1 has vanished or overflowed long before.
            None if base.is_zero() || base == Decimal::ONE => Some(base),
            None if base.abs() < Decimal::ONE => Some(Decimal::ZERO),
            None => None,
        };
        return power.map(Some).ok_or(TooLarge);
    }
    // The decimal's own conversion is not always the nearest.
    binary_power(nearest_of(base), nearest_of(exponent))
}

/// A power that is told by way of binary numbers: the fifteen digits that it begins with. The exponent is no whole number from zero on.
pub(crate) fn binary_power(base: f64, exponent: f64) -> Result<Option<Decimal>, TooLarge> {
    let root = if exponent == 0.5 { root(base) } else { None };
    let result = root.unwrap_or_else(|| f64::powf(base, exponent));
    if result.is_nan() || base == 0.0 {
        return Ok(Some(Decimal::ZERO).filter(|_| result == 0.0));
    }
    if let Some(digits) = fifteen_digits(result) {
        return Ok(Some(digits));
    }
    // Fifteen digits of the binary number itself, rounded once; below that many places a decimal has fewer.
    let digits = if result.abs() < 1e-13 { format!("{result:.28}") } else { format!("{result:.14e}") };
    Decimal::from_scientific(&digits).or_else(|_| digits.parse()).map(Some).map_err(|_| TooLarge)
}

/// The square root of a binary number, where a power with the exponent 0.5 is it too: that is off by a little more than half of the last bit at most, so that
/// it is the nearest binary number wherever the root does not lie almost half way between two. None there, and of numbers that are not normal.
#[inline]
fn root(of: f64) -> Option<f64> {
    let parts = |number: f64| {
        let bits = number.to_bits();
        (i128::from(bits & ((1 << 52) - 1) | 1 << 52), (bits >> 52) as i32)
    };
    if !(of.is_normal() && of > 0.0) {
        return None;
    }
    let root = of.sqrt();
    let ((significand, exponent), (short, half)) = (parts(of), parts(root));
    // What the square of the nearest is off by, in units of its last bit; 1075 stands for the exponent of a whole significand.
    let rest = (significand << (exponent - 1075 - 2 * (half - 1075))) - short * short;
    // Of twice the significand, half is a tie.
    (10 * rest.abs() < 9 * short).then_some(root)
}

/// The first fifteen digits of a binary number, rounded to the nearest, midpoints to the even one; none of one so small or so great that it takes more than 128 bits to tell.
fn fifteen_digits(number: f64) -> Option<Decimal> {
    /// More places, times a significand of 53 bits, would be too long.
    const PLACES_MAX: i32 = 22;
    const LEAST: u128 = 10u128.pow(14);
    const POWERS: [u128; PLACES_MAX as usize + 1] = {
        let mut powers = [1; PLACES_MAX as usize + 1];
        let mut nth = 1;
        while nth < powers.len() {
            powers[nth] = 10 * powers[nth - 1];
            nth += 1;
        }
        powers
    };
    let bits = number.to_bits();
    let significand = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    // 1233 / 4096 is the logarithm of 2, nearly: the number may have one digit more before the point.
    let mut places = 14 - (((exponent + 52) * 1233) >> 12);
    for _ in 0..2 {
        let (quotient, rest, divisor) = match (places, exponent) {
            (0..=PLACES_MAX, -127..=0) => {
                let product = significand * *POWERS.get(places as usize)?;
                let divisor = 1u128 << -exponent;
                (product >> -exponent, product & (divisor - 1), divisor)
            }
            (-14..=-1, 0..=74) => {
                let (product, divisor) = (significand << exponent, *POWERS.get(-places as usize)?);
                (product / divisor, product % divisor, divisor)
            }
            _ => return None,
        };
        if quotient < LEAST {
            places += 1;
            continue;
        }
        if quotient >= 10 * LEAST {
            places -= 1;
            continue;
        }
        let half = divisor / 2;
        let is_up = divisor > 1 && (rest > half || rest == half && quotient % 2 == 1);
        let digits = i128::try_from(quotient + u128::from(is_up)).ok()?;
        let digits = digits * 10i128.pow((-places).max(0) as u32);
        let digits = if number < 0.0 { -digits } else { digits };
        return Decimal::try_from_i128_with_scale(digits, places.max(0) as u32).ok();
    }
    None
}

/// By squaring: at most 128 multiplications.
fn whole_power(mut base: Decimal, mut exponent: u64) -> Option<Decimal> {
    let mut result = Decimal::ONE;
    loop {
        if exponent % 2 == 1 {
            result = result.checked_mul(base)?;
        }
        exponent /= 2;
        if exponent == 0 {
            return Some(result);
        }
        base = base.checked_mul(base)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_root_begins_with_the_nearest_binary_number() {
        let base: Decimal = "199.99999999999999999999999999".parse().unwrap();
        let root = of_decimals(Arithmetic::Power, base, Decimal::new(5, 1)).unwrap().unwrap();
        assert_eq!(root.normalize().to_string(), "14.142135623731");
    }

    #[test]
    fn results_are_rounded_where_operands_are_no_decimals() {
        use Arithmetic::{Add, Divide, Multiply, Power, Remainder, Subtract};
        let tiny = "1.1102230246251565e-16";
        for (a, op, b, result) in [
            (tiny, Add, "1", Ok(Some("1.0000000000000001110223024625"))),
            (tiny, Multiply, "1e10", Ok(Some("0.0000011102230246251565"))),
            (tiny, Divide, tiny, Ok(Some("1"))),
            ("1e29", Subtract, "1e29", Ok(Some("0"))),
            ("1e29", Divide, "3", Ok(Some("33333333333333333333333333333"))),
            ("1e29", Divide, "1", Err(TooLarge)),
            ("1e29", Divide, "0.0", Ok(None)),
            ("1e400", Remainder, "7", Ok(Some("4"))),
            ("1e400", Remainder, "0", Ok(None)),
            ("1e29", Power, "1", Err(TooLarge)),
            (tiny, Power, "2", Ok(Some("0"))),
            ("1e2000", Subtract, "1e2000", Err(TooLarge)),
            ("1e-2000", Add, "1", Err(TooLarge)),
            ("5e-29", Add, "1e-60", Ok(Some("0.0000000000000000000000000001"))),
        ] {
            let given = calculate(op, &Number::Stored(a), &Number::Stored(b));
            let given = given.map(|given| given.map(|decimal| Number::Decimal(decimal).text().into_owned()));
            assert_eq!(given, result.map(|result| result.map(str::to_owned)), "{a} {op:?} {b}");
        }
    }

    #[test]
    fn what_has_no_result_is_not_too_large() {
        let decimal = Decimal::from;
        assert_eq!(of_decimals(Arithmetic::Divide, decimal(1), decimal(0)), Ok(None));
        assert_eq!(of_decimals(Arithmetic::Power, decimal(0), decimal(-1)), Ok(None));
        assert_eq!(of_decimals(Arithmetic::Power, decimal(-2), Decimal::new(5, 1)), Ok(None));
        assert_eq!(of_decimals(Arithmetic::Power, decimal(10), decimal(29)), Err(TooLarge));
        assert_eq!(of_decimals(Arithmetic::Multiply, Decimal::MAX, decimal(2)), Err(TooLarge));
    }

    fn decimal() -> impl Strategy<Value = Decimal> {
        ((-1i128 << 95)..(1i128 << 95), 0u32..=28, 0u32..=95)
            .prop_map(|(mantissa, scale, shift)| Decimal::from_i128_with_scale(mantissa >> shift, scale))
    }

    /// Numbers of all sizes, and such as lie next to powers of ten or half way between two of fifteen digits.
    fn binary() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-20f64..30.0, any::<bool>())
                .prop_map(|(power, sign)| 10f64.powf(power) * if sign { 1.0 } else { -1.0 }),
            (-9i32..29, -2i64..3).prop_map(|(power, off)| {
                f64::from_bits((10f64.powi(power).to_bits() as i64 + off) as u64)
            }),
            (1i64 << 40..1 << 53, -3i32..11).prop_map(|(number, shift)| number as f64 / 2f64.powi(shift)),
            (10i64.pow(14)..10i64.pow(15)).prop_map(|number| number as f64 + 0.5),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn a_root_is_a_power(number in binary(), shift in 0u32..2) {
            let number = number.abs() * f64::from(1 + shift);
            if let Some(root) = root(number) {
                prop_assert_eq!(root, f64::powf(number, 0.5));
            }
        }

        #[test]
        fn roots_next_to_whole_ones_are_powers(root in 1u64 << 24..1 << 27, off in -2i64..3) {
            let square = f64::from_bits(((root * root) as f64).to_bits().wrapping_add_signed(off));
            if let Some(root) = super::root(square) {
                prop_assert_eq!(root, f64::powf(square, 0.5));
            }
        }

        #[test]
        fn fifteen_digits_are_those_of_the_text(number in binary()) {
            if let Some(digits) = fifteen_digits(number) {
                prop_assert_eq!(Ok(digits), Decimal::from_scientific(&format!("{number:.14e}")));
            }
        }
    }

    proptest! {
        #[test]
        fn a_remainder_is_smaller_than_the_divisor_and_has_the_sign_of_the_dividend(a in decimal(), b in decimal()) {
            let Some(rest) = of_decimals(Arithmetic::Remainder, a, b).unwrap() else {
                prop_assert!(b.is_zero());
                return Ok(());
            };
            prop_assert!(rest.abs() < b.abs());
            prop_assert!(rest.is_zero() || rest.is_sign_negative() == a.is_sign_negative());
            // The same of whole numbers, where that is easily told.
            if a.scale() == b.scale() {
                prop_assert_eq!(rest.mantissa(), a.mantissa() % b.mantissa());
            }
        }

        #[test]
        fn a_whole_power_is_a_product(base in -30i64..30, scale in 0u32..3, exponent in 0u32..6) {
            let base = Decimal::new(base, scale);
            let product = (0..exponent).fold(Decimal::ONE, |product, _| product * base);
            prop_assert_eq!(of_decimals(Arithmetic::Power, base, exponent.into()), Ok(Some(product)));
        }
    }
}
