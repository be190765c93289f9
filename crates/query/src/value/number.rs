//! Numbers: the text they are stored as, or a computed decimal.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use tamias_json::number;
use tamias_json::number::few_digits;

/// The significand and scale of a number of few digits, if they tell its text: a negative zero is told by that alone.
#[inline]
pub(crate) fn telling_digits(json: &[u8]) -> Option<(i64, u32)> {
    few_digits(json).filter(|(significand, _)| *significand != 0 || json.first() != Some(&b'-'))
}

/// A number. Its text stands as long as nothing is computed from it.
#[derive(Clone, Debug)]
pub(crate) enum Number<'a> {
    /// JSON text.
    Stored(&'a str),
    /// JSON text that outlives its document.
    Shared(Arc<str>),
    Decimal(Decimal),
}

/// The most digits of a decimal.
const DECIMAL_DIGITS_MAX: i64 = 29;

/// The powers of ten that decimals are divided by, as binary numbers, which hold most of them exactly.
pub(crate) const BINARY_POWERS: [f64; Decimal::MAX_SCALE as usize + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28,
];

/// The greatest power of ten that a binary64 holds exactly.
const EXACT_SCALE_MAX: u32 = 22;

/// A binary64 near to a number: conversion, power and division are off by 2^-53 each at most.
#[inline]
pub(crate) fn estimate(significand: i64, scale: u32) -> f64 {
    BINARY_POWERS.get(scale as usize).map_or(f64::NAN, |power| significand as f64 / power)
}

/// The same of a decimal: each of two halves of its significand is off by 2^-53 at most, and so is their sum.
#[inline]
pub(crate) fn estimate_of(decimal: Decimal) -> f64 {
    let significand = decimal.mantissa();
    match i64::try_from(significand) {
        Ok(short) => estimate(short, decimal.scale()),
        Err(_) => BINARY_POWERS.get(decimal.scale() as usize).map_or(f64::NAN, |power| {
            let (high, low) = ((significand >> 64) as i64 as f64, significand as u64 as f64);
            (high * 18_446_744_073_709_551_616.0 + low) / power
        }),
    }
}

/// The binary64 nearest to a number; none for what takes more work.
///
/// A significand and a power of ten that are both exact give the nearest by one division (Clinger 1990).
#[inline]
pub(crate) fn nearest(significand: i64, scale: u32) -> Option<f64> {
    if significand.unsigned_abs() < EXACT_END {
        return (scale <= EXACT_SCALE_MAX).then(|| estimate(significand, scale));
    }
    nearest_of_long(significand, scale)
}

/// A binary64 holds whole numbers below this exactly.
const EXACT_END: u64 = 1 << 53;

/// The same where the significand is not below [`EXACT_END`].
fn nearest_of_long(significand: i64, scale: u32) -> Option<f64> {
    const BITS: u32 = 64;
    let power = 10u64.pow((scale <= 18).then_some(scale)?);
    let (dividend, divisor) = (u128::from(significand.unsigned_abs()) << BITS, u128::from(power));
    // A power of less than 60 bits leaves at least 58 of 117: what is cut off behind them counts as one bit, which tells it from a tie.
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let magnitude = (quotient | u128::from(rest != 0)) as f64 / (1u128 << BITS) as f64;
    Some(if significand < 0 { -magnitude } else { magnitude })
}

/// The binary64 nearest to a decimal.
pub(crate) fn nearest_of(decimal: Decimal) -> f64 {
    let (significand, scale) = (decimal.mantissa(), decimal.scale());
    let short = i64::try_from(significand).ok().and_then(|short| nearest(short, scale));
    short.unwrap_or_else(|| nearest_of_any(significand, scale))
}

/// The same of any significand and scale that a decimal has.
fn nearest_of_any(significand: i128, scale: u32) -> f64 {
    let magnitude = significand.unsigned_abs();
    let shift = magnitude.leading_zeros();
    // A power of five of at most 66 bits leaves at least 62 of 128: what is cut off behind them counts as one bit, which tells it from a tie.
    let (dividend, divisor) = (magnitude.checked_shl(shift).unwrap_or(0), 5u128.pow(scale));
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let magnitude = (quotient | u128::from(rest != 0)) as f64 / 2f64.powi((shift + scale) as i32);
    if significand < 0 { -magnitude } else { magnitude }
}

/// The order of two numbers by their significands and scales.
#[inline]
pub(crate) fn compare_few((a, scale): (i64, u32), (b, other): (i64, u32)) -> Ordering {
    match scale.cmp(&other) {
        Ordering::Equal => a.cmp(&b),
        Ordering::Less => compare_raised(a, other - scale, b),
        Ordering::Greater => compare_raised(b, scale - other, a).reverse(),
    }
}

/// How a number times a power of ten compares with another number.
#[inline]
fn compare_raised(number: i64, power: u32, other: i64) -> Ordering {
    let raised = |power: &i64| (i128::from(number) * i128::from(*power)).cmp(&i128::from(other));
    // So many places more than any significand has leave nothing but its sign, unless it is zero.
    let told = WHOLE_POWERS.get(power as usize).map(raised);
    told.unwrap_or_else(|| if number == 0 { 0.cmp(&other) } else { number.cmp(&0) })
}

/// The powers of ten below 2^63.
pub(crate) const WHOLE_POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut nth = 1;
    while nth < powers.len() {
        powers[nth] = 10 * powers[nth - 1];
        nth += 1;
    }
    powers
};

impl Number<'_> {
    /// The number, if a decimal holds it exactly.
    pub(crate) fn decimal(&self) -> Option<Decimal> {
        match self {
            Number::Decimal(decimal) => Some(*decimal),
            Number::Stored(_) | Number::Shared(_) => match self.few_digits() {
                Some((significand, scale)) => Some(Decimal::new(significand, scale).normalize()),
                None => number::to_decimal(&self.text()),
            },
        }
    }

    /// A significand divided by so many tens, in the spelling of computed numbers: the needless zeros of a decimal go when it is written.
    pub(crate) fn of_significand(significand: i128, places: u32) -> Number<'static> {
        match Decimal::try_from_i128_with_scale(significand, places) {
            Ok(decimal) => Number::Decimal(decimal),
            Err(_) => Number::of_digits(&significand.to_string(), -i64::from(places)),
        }
    }

    /// The number that whole digits are, with their sign, times a power of ten, in the spelling of computed numbers: without needless
    /// zeros, and with an exponent only where a decimal does not hold it and its digits do not reach to the point.
    pub(super) fn of_digits(digits: &str, power: i64) -> Number<'static> {
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", digits),
        };
        let significant = digits.trim_end_matches('0');
        let length = significant.len() as i64;
        // The power of ten of the first digit.
        let power = power + digits.len() as i64 - 1;
        let (whole, exponent) = match power {
            0.. if power < length => (power + 1, String::new()),
            _ => (length.min(1), format!("e{power}")),
        };
        let text = match significant.split_at(usize::try_from(whole).unwrap_or_default()) {
            ("", _) => "0".to_owned(),
            (whole, "") => format!("{sign}{whole}{exponent}"),
            (whole, fraction) => format!("{sign}{whole}.{fraction}{exponent}"),
        };
        // A decimal has no more digits.
        let decimal = if length <= DECIMAL_DIGITS_MAX { number::to_decimal(&text) } else { None };
        decimal.map_or_else(|| Number::Shared(text.into()), Number::Decimal)
    }

    /// The number in the spelling of computed ones.
    pub(crate) fn computed(&self) -> Number<'static> {
        if let Some(decimal) = self.decimal() {
            return Number::Decimal(decimal);
        }
        let mut canonical = Vec::new();
        self.canonical(&mut canonical);
        let text = String::from_utf8(canonical).unwrap_or_default();
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        Number::of_digits(digits, power.parse().unwrap_or_default())
    }

    /// The nearest binary64; an infinity beyond the largest.
    pub(crate) fn to_f64(&self) -> f64 {
        match self {
            Number::Decimal(decimal) => decimal.to_f64().unwrap_or(f64::NAN),
            Number::Stored(_) | Number::Shared(_) => {
                let few = self.few_digits().and_then(|(significand, scale)| nearest(significand, scale));
                few.unwrap_or_else(|| self.text().parse().unwrap_or(f64::NAN))
            }
        }
    }

    /// The number of few digits that is spelled with this significand and so many of its digits behind the point.
    pub(crate) fn few(significand: i64, scale: u32) -> Number<'static> {
        // Without zeros at its end it is spelled as computed numbers are.
        if scale == 0 || significand % 10 != 0 {
            return Number::Decimal(Decimal::new(significand, scale));
        }
        // A decimal is written with all digits of its scale.
        Number::Shared(Decimal::new(significand, scale).to_string().into())
    }

    /// The text of a number that was not computed.
    fn as_text(&self) -> Option<&str> {
        match self {
            Number::Stored(text) => Some(text),
            Number::Shared(text) => Some(text),
            Number::Decimal(_) => None,
        }
    }

    /// The significand and scale of a number of few digits, not normalised; none for what takes more work.
    pub(crate) fn few_digits(&self) -> Option<(i64, u32)> {
        few_digits(self.as_text()?.as_bytes())
    }

    /// The number as JSON text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Number::Stored(text) => Cow::Borrowed(text),
            Number::Shared(text) => Cow::Borrowed(text),
            Number::Decimal(decimal) => Cow::Owned(plain(*decimal).to_string()),
        }
    }

    pub(crate) fn weight(&self) -> usize {
        match self {
            Number::Stored(text) => text.len(),
            Number::Shared(text) => text.len(),
            Number::Decimal(_) => 31,
        }
    }

    pub(crate) fn into_static(self) -> Number<'static> {
        match self {
            Number::Stored(text) => Number::Shared(text.into()),
            Number::Shared(text) => Number::Shared(text),
            Number::Decimal(decimal) => Number::Decimal(decimal),
        }
    }

    /// The mathematical order; nothing is rounded.
    pub(crate) fn compare(&self, other: &Number<'_>) -> Ordering {
        if let (Number::Decimal(a), Number::Decimal(b)) = (self, other) {
            return a.cmp(b);
        }
        if let (Some(a), Some(b)) = (self.few_digits(), other.few_digits()) {
            return compare_few(a, b);
        }
        if let (Some(a), Some(b)) = (self.as_text(), other.as_text()) {
            return number::compare(a, b);
        }
        match (self.decimal(), other.decimal()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => number::compare(&self.text(), &other.text()),
        }
    }

    /// The number in the one spelling that all equal numbers share: significant digits and a power of ten.
    pub(crate) fn canonical(&self, out: &mut Vec<u8>) {
        let text = self.text();
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, &*text),
        };
        let (significand, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = significand.split_once('.').unwrap_or((significand, ""));
        let from = out.len();
        if negative {
            out.push(b'-');
        }
        let digits_from = out.len();
        let leading = integer.bytes().chain(fraction.bytes()).skip_while(|&digit| digit == b'0');
        out.extend(leading);
        let mut power = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') {
            i64::MIN / 2
        } else {
            i64::MAX / 2
        });
        power = power.saturating_sub_unsigned(fraction.len() as u64);
        while out.len() > digits_from && out.last() == Some(&b'0') {
            out.pop();
            power += 1;
        }
        if out.len() == digits_from {
            out.truncate(from);
            out.push(b'0');
            return;
        }
        out.extend_from_slice(format!("e{power}").as_bytes());
    }
}

/// A decimal without trailing zeros, and without the sign of a zero.
pub(crate) fn plain(decimal: Decimal) -> Decimal {
    let significand = decimal.mantissa().unsigned_abs();
    // Ten divides 2^64 - 6.
    let last = (significand as u64 % 10 + 6 * ((significand >> 64) as u64 % 10)) % 10;
    match (significand, last) {
        (0, _) => Decimal::ZERO,
        (_, 0) => decimal.normalize(),
        (_, _) => decimal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_digits_compare_as_the_numbers_do() {
        let texts = [
            "-2",
            "-1.50",
            "-1.5",
            "-0",
            "0.000",
            "0.00000000000001",
            "1",
            "1.0",
            "1.01",
            "9999999999999999",
        ];
        for a in texts {
            for b in texts {
                let [x, y] = [a, b].map(|text| few_digits(text.as_bytes()).unwrap());
                assert_eq!(compare_few(x, y), number::compare(a, b), "{a} and {b}");
            }
        }
    }

    #[test]
    fn computed_numbers_compare_with_constants_as_their_texts_do() {
        let computed =
            ["0", "-0", "1", "1.50", "-2", "0.0000000000000000000000000001", "79228162514264337593543950335"];
        let constants = [
            "0",
            "-0.0",
            "1",
            "1.5",
            "15e-1",
            "-2.00",
            "1e-28",
            "1e-400",
            "-1e400",
            "79228162514264337593543950335.5",
        ];
        for decimal in computed {
            let number = Number::Decimal(decimal.parse().unwrap());
            for constant in constants {
                let of_texts = tamias_json::number::Bound::new(constant).compare(number.text().as_bytes());
                assert_eq!(number.compare(&Number::Stored(constant)), of_texts, "{decimal} and {constant}");
            }
        }
    }

    #[test]
    fn few_digits_are_the_nearest_binary_number() {
        for text in [
            "0",
            "-0",
            "0.1",
            "-12.375",
            "9007199254740991",
            "9007199254740993",
            "0.000000000000001",
            "122.4163",
            "1e5",
            "12345678.90123456",
        ] {
            assert_eq!(Number::Stored(text).to_f64(), text.parse::<f64>().unwrap(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn the_nearest_binary_number_is_that_of_the_text(number: i64, shift in 0u32..64, scale in 0u32..23) {
            let significand = number >> shift;
            if let Some(nearest) = nearest(significand, scale) {
                let text = Decimal::new(significand, scale).to_string();
                prop_assert_eq!(nearest, text.parse::<f64>().unwrap(), "{}", text);
            }
        }

        #[test]
        fn the_nearest_binary_number_of_a_decimal_is_that_of_its_text(
            significand in -1i128 << 95..1 << 95, shift in 0u32..96, scale in 0u32..29,
        ) {
            let decimal = Decimal::from_i128_with_scale(significand >> shift, scale);
            prop_assert_eq!(nearest_of(decimal), decimal.to_string().parse::<f64>().unwrap(), "{}", decimal);
        }

        /// Half way between two binary numbers, and a little beside that.
        #[test]
        fn ties_go_to_the_even_binary_number(bits in 1i64 << 52..1 << 53, shift in 1u32..10, off in -1i64..2) {
            let significand = (((bits << 1) | 1) << shift) + off;
            for scale in [0, 1, 18] {
                let text = Decimal::new(significand, scale).to_string();
                prop_assert_eq!(nearest(significand, scale), Some(text.parse::<f64>().unwrap()), "{}", text);
            }
        }

        #[test]
        fn significands_compare_as_decimals_do(
            a: i64, b: i64, shifts in (0u32..64, 0u32..64), scales in (0u32..29, 0u32..29),
        ) {
            let (a, b) = (a >> shifts.0, b >> shifts.1);
            let expected = Decimal::new(a, scales.0).cmp(&Decimal::new(b, scales.1));
            prop_assert_eq!(compare_few((a, scales.0), (b, scales.1)), expected);
        }
    }

    #[test]
    fn any_number_has_a_nearest_binary_one() {
        for text in ["0.1", "-12", "1e300", "123456789012345678", "12345678901234567890", "1e-400"] {
            assert_eq!(Number::Stored(text).to_f64(), text.parse::<f64>().unwrap());
        }
        assert_eq!(Number::Decimal(Decimal::new(-125, 1)).to_f64(), -12.5);
    }

    #[test]
    fn computed_numbers_have_one_spelling() {
        for (stored, computed) in [
            ("1.50", "1.5"),
            ("-0", "0"),
            ("1E400", "1e400"),
            ("-10.0e-401", "-1e-400"),
            ("79228162514264337593543950336.50", "79228162514264337593543950336.5"),
        ] {
            assert_eq!(Number::Stored(stored).computed().text(), computed);
        }
    }

    #[test]
    fn equal_numbers_share_their_canonical_spelling() {
        let canonical = |text| {
            let mut out = Vec::new();
            Number::Stored(text).canonical(&mut out);
            String::from_utf8(out).unwrap()
        };
        for group in [
            &["1", "1.0", "1e0", "10E-1", "0.1e1"][..],
            &["0", "-0", "0.000", "-0.0e5"],
            &["1e400", "10e399", "0.1e401"],
            &["-12.5", "-125e-1", "-12.50"],
        ] {
            assert!(group.iter().all(|text| canonical(text) == canonical(group[0])), "{group:?}");
        }
        assert_ne!(canonical("1"), canonical("-1"));
        assert_ne!(canonical("1"), canonical("10"));
        assert_eq!(Number::Decimal(Decimal::new(100, 2)).text(), "1");
    }
}
