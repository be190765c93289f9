//! Numbers of more digits than a decimal holds, exact.

use super::number::Number;
use num_bigint::{BigInt, Sign};
use rust_decimal::Decimal;
use std::sync::LazyLock;

/// The maximum distance of a digit from the decimal point, on either side, in numbers used for arithmetic. All digits of a binary64 are within it.
pub const PLACES_MAX: u32 = 1000;

/// The maximum number of decimal places of a decimal, and the bits of its significand.
const DECIMAL_PLACES_MAX: i64 = 28;
const DECIMAL_BITS: u64 = 96;

/// A number as `significand` / 10^`places`: `places` is negative if it ends with zeros before the point.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Long {
    significand: BigInt,
    places: i64,
}

/// A number is too large for a decimal, or has digits more than [`PLACES_MAX`] places from the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TooLarge;

/// How a number exactly between its neighbours is rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Midpoint {
    ToEven,
    AwayFromZero,
}

impl Long {
    pub(crate) fn new(significand: i128, places: u32) -> Long {
        Long { significand: significand.into(), places: places.into() }
    }

    /// The number.
    ///
    /// # Errors
    /// If it has digits more than [`PLACES_MAX`] places from the point.
    pub(crate) fn of(number: &Number<'_>) -> Result<Long, TooLarge> {
        Long::within(number).ok_or(TooLarge)
    }

    fn within(number: &Number<'_>) -> Option<Long> {
        let mut canonical = Vec::new();
        number.canonical(&mut canonical);
        let text = std::str::from_utf8(&canonical).ok()?;
        let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
        let power: i64 = power.parse().ok()?;
        let most = i64::from(PLACES_MAX);
        let length = digits.trim_start_matches('-').len() as i64;
        if power < -most || power.saturating_add(length) > most {
            return None;
        }
        let significand: BigInt = digits.parse().ok()?;
        Some(Long { significand, places: -power })
    }

    /// The number in the spelling of computed ones.
    pub(crate) fn number(&self) -> Number<'static> {
        let short = i128::try_from(&self.significand);
        if let (Ok(significand), 0..=DECIMAL_PLACES_MAX) = (&short, self.places)
            && let Ok(decimal) = Decimal::try_from_i128_with_scale(*significand, self.places as u32)
        {
            return Number::Decimal(decimal);
        }
        // That of 128 bits is written in less time.
        let digits = short.map_or_else(|_| self.significand.to_string(), |short| short.to_string());
        Number::of_digits(&digits, -self.places)
    }

    /// The nearest decimal, midpoints to the even digit.
    ///
    /// # Errors
    /// If it is larger than decimals are.
    pub(crate) fn decimal(&self) -> Result<Decimal, TooLarge> {
        let (own, _, _) = self.aligned(&Long::default());
        let own = Long { significand: own, places: self.places.max(0) };
        let mut places = own.places.min(DECIMAL_PLACES_MAX);
        while places >= 0 {
            let rounded = own.rounded(places, Midpoint::ToEven);
            if let Ok(significand) = i128::try_from(&rounded.significand)
                && let Ok(decimal) = Decimal::try_from_i128_with_scale(significand, places as u32)
            {
                return Ok(decimal);
            }
            // A digit takes less than four bits.
            let over = rounded.significand.bits().saturating_sub(DECIMAL_BITS) as i64;
            places -= (over / 4).max(1);
        }
        Err(TooLarge)
    }

    /// The number rounded to so many places, if it has more.
    pub(crate) fn rounded(&self, places: i64, midpoint: Midpoint) -> Long {
        if places >= self.places {
            return self.clone();
        }
        Long { significand: divide(&self.significand, &ten_to(self.places - places), midpoint), places }
    }

    /// The number rounded to so many digits, if it has more, midpoints to the even one.
    pub(crate) fn rounded_to_digits(&self, digits: u32) -> Long {
        self.rounded(self.places - length(&self.significand) + i64::from(digits), Midpoint::ToEven)
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Long>() + self.significand.bits() as usize / 8
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.significand.sign() == Sign::NoSign
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.significand.sign() == Sign::Minus
    }

    /// How many digits it has behind the point, zeros at their end among them; fewer than none as zeros before the point are left out.
    pub(crate) fn places(&self) -> i64 {
        self.places
    }

    /// The significands of both numbers with as many places.
    fn aligned(&self, other: &Long) -> (BigInt, BigInt, i64) {
        let places = self.places.max(other.places);
        let raised = |number: &Long| match places - number.places {
            0 => number.significand.clone(),
            more => &number.significand * ten_to(more),
        };
        (raised(self), raised(other), places)
    }

    pub(crate) fn plus(&self, other: &Long) -> Long {
        let (a, b, places) = self.aligned(other);
        Long { significand: a + b, places }
    }

    pub(crate) fn minus(&self, other: &Long) -> Long {
        let (a, b, places) = self.aligned(other);
        Long { significand: a - b, places }
    }

    pub(crate) fn times(&self, other: &Long) -> Long {
        Long { significand: &self.significand * &other.significand, places: self.places + other.places }
    }

    /// What is left of a division to a whole number, with the sign of this one; none for a divisor of zero.
    pub(crate) fn remainder(&self, divisor: &Long) -> Option<Long> {
        let (a, b, places) = self.aligned(divisor);
        (b.sign() != Sign::NoSign).then(|| Long { significand: a % b, places })
    }

    /// The quotient to at least so many places, and behind them a digit that is no zero if it goes on: so that rounding it to fewer is
    /// rounding the quotient itself. None for a divisor of zero.
    pub(crate) fn over(&self, divisor: &Long, places: i64) -> Option<Long> {
        if divisor.is_zero() {
            return None;
        }
        let raised = (places + divisor.places - self.places).max(0);
        let dividend = &self.significand * ten_to(raised);
        let quotient = &dividend / &divisor.significand;
        let is_exact = &quotient * &divisor.significand == dividend;
        let places = self.places + raised - divisor.places;
        Some(
            Long { significand: quotient, places }
                .and_goes_on(!is_exact, self.is_negative() != divisor.is_negative()),
        )
    }

    /// The square root of the quotient by a positive number to at least so many digits, as [`over`](Self::over) gives a quotient; none of a negative number.
    pub(crate) fn root_of_share(&self, divisor: &Long, digits: u32) -> Option<Long> {
        if self.is_negative() || divisor.is_zero() || divisor.is_negative() {
            return None;
        }
        let wanted = 2 * i64::from(digits) + length(&divisor.significand) - length(&self.significand);
        let raised = wanted.max(0) + 1;
        // Of an even number of places half are those of the root.
        let raised = raised + (self.places + raised - divisor.places).rem_euclid(2);
        let dividend = self.significand.magnitude() * ten_to(raised).magnitude();
        let square = &dividend / divisor.significand.magnitude();
        let root = square.sqrt();
        let is_exact = &root * &root == square && square * divisor.significand.magnitude() == dividend;
        let places = (self.places + raised - divisor.places) / 2;
        Some(Long { significand: root.into(), places }.and_goes_on(!is_exact, false))
    }

    /// A digit more, which is no zero, where digits were left out.
    fn and_goes_on(self, goes_on: bool, is_negative: bool) -> Long {
        if !goes_on {
            return self;
        }
        let last = BigInt::from(if is_negative { -1 } else { 1 });
        Long { significand: self.significand * BigInt::from(10) + last, places: self.places + 1 }
    }
}

impl Number<'_> {
    /// The nearest decimal, midpoints to the even digit.
    ///
    /// # Errors
    /// If it is larger than decimals are, or has digits more than [`PLACES_MAX`] places from the point.
    pub(crate) fn rounded(&self) -> Result<Decimal, TooLarge> {
        self.decimal().map_or_else(|| Long::of(self)?.decimal(), Ok)
    }
}

fn ten_to(power: i64) -> BigInt {
    static FIRST: LazyLock<Vec<BigInt>> =
        LazyLock::new(|| (0..KEPT_POWERS).map(|power| BigInt::from(10).pow(power)).collect());
    let power = u32::try_from(power).unwrap_or_default();
    FIRST.get(power as usize).cloned().unwrap_or_else(|| BigInt::from(10).pow(power))
}

/// So many powers of ten are kept, which are those that most numbers take.
const KEPT_POWERS: u32 = 128;

/// How many digits a whole number has; one for zero.
fn length(number: &BigInt) -> i64 {
    // A bit less than the logarithm of two, so that it is never more than the length; what is missing is added.
    let least = (number.bits().saturating_sub(1) as i64 * 30_102 / 100_000).max(0);
    let mut length = least.max(1);
    while number.magnitude() >= ten_to(length).magnitude() {
        length += 1;
    }
    length
}

/// The quotient as a whole number, rounded; of a positive divisor.
fn divide(dividend: &BigInt, divisor: &BigInt, midpoint: Midpoint) -> BigInt {
    let quotient = dividend / divisor;
    let twice = (dividend - &quotient * divisor) * BigInt::from(2);
    let is_away = match twice.magnitude().cmp(divisor.magnitude()) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => match midpoint {
            Midpoint::AwayFromZero => true,
            Midpoint::ToEven => quotient.bit(0),
        },
    };
    match (is_away, dividend.sign()) {
        (false, _) => quotient,
        (true, Sign::Minus) => quotient - BigInt::from(1),
        (true, Sign::NoSign | Sign::Plus) => quotient + BigInt::from(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn long(text: &str) -> Long {
        Long::of(&Number::Stored(text)).unwrap()
    }

    fn text(long: &Long) -> String {
        long.number().text().into_owned()
    }

    #[test]
    fn computed_numbers_have_an_exponent_only_beyond_decimals_and_their_digits() {
        for (stored, shown) in [
            ("1e28", "10000000000000000000000000000"),
            ("1e29", "1e29"),
            ("-12345678901234567890123456789012345.50", "-12345678901234567890123456789012345.5"),
            ("1.1102230246251565e-16", "1.1102230246251565e-16"),
            ("100E-3", "0.1"),
            ("-0e9", "0"),
            ("1.50e999", "1.5e999"),
        ] {
            assert_eq!(text(&long(stored)), shown);
        }
    }

    #[test]
    fn digits_are_within_the_stated_places() {
        for stored in ["9e999", "1e-1000", "0e5000", "1.5e-999"] {
            assert!(Long::of(&Number::Stored(stored)).is_ok(), "{stored}");
        }
        for stored in ["1e1000", "1e-1001", "1.5e-1000", "1e99999999999999999999"] {
            assert!(Long::of(&Number::Stored(stored)).is_err(), "{stored}");
        }
    }

    #[test]
    fn decimals_are_the_nearest() {
        let decimal = |stored| long(stored).decimal().ok().map(|decimal| decimal.normalize().to_string());
        for (stored, nearest) in [
            ("79228162514264337593543950335", Some("79228162514264337593543950335")),
            ("79228162514264337593543950335.4", Some("79228162514264337593543950335")),
            ("79228162514264337593543950335.5", None),
            ("79228162514264337593543950334.5", Some("79228162514264337593543950334")),
            ("1.1102230246251565e-16", Some("0.0000000000000001110223024625")),
            ("-5e-29", Some("0")),
            ("-15e-29", Some("-0.0000000000000000000000000002")),
            ("1e29", None),
            ("1e900", None),
            ("1e-900", Some("0")),
            ("7.92281625142643375935439503355", Some("7.922816251426433759354395034")),
        ] {
            assert_eq!(decimal(stored).as_deref(), nearest, "{stored}");
        }
    }

    #[test]
    fn a_length_is_that_of_the_digits() {
        for power in 0..400 {
            let ten = ten_to(power);
            for number in [&ten - BigInt::from(1), ten.clone(), -&ten, &ten * BigInt::from(2)] {
                assert_eq!(length(&number), number.magnitude().to_string().len() as i64, "{number}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_root_of_a_share_is_that_of_the_quotient(
            dividend in prop_oneof![any::<i128>(), (0i128..100_000).prop_map(|root| root * root), 0i128..100],
            divisor in prop_oneof![1i128..1_000, (1i128..1_000_000).prop_map(|n| n * (n - 1) + 1), 1i128..1 << 100],
            places in (0u32..40, 0u32..9),
        ) {
            let dividend = Long::new(dividend.checked_abs().unwrap_or_default(), places.0);
            let divisor = Long::new(divisor, places.1);
            let quotient = dividend.over(&divisor, 150).unwrap();
            let own = dividend.root_of_share(&divisor, 28).unwrap();
            let plain = quotient.root_of_share(&Long::new(1, 0), 60).unwrap();
            prop_assert_eq!(text(&own.rounded_to_digits(28)), text(&plain.rounded_to_digits(28)));
        }
    }

    #[test]
    fn quotients_and_roots_go_on_behind_their_places() {
        assert_eq!(text(&long("1").over(&long("3"), 2).unwrap()), "0.331");
        assert_eq!(text(&long("-1").over(&long("3"), 2).unwrap()), "-0.331");
        assert_eq!(text(&long("1").over(&long("8"), 2).unwrap().rounded(2, Midpoint::ToEven)), "0.12");
        assert_eq!(text(&long("1e-500").over(&long("1e-400"), 2).unwrap()), "1e-100");
        assert_eq!(long("1").over(&long("0.0"), 2), None);
        let root =
            |of, by, digits| Some(long(of).root_of_share(&long(by), digits)?.rounded_to_digits(digits));
        assert_eq!(text(&root("2", "1", 3).unwrap()), "1.41");
        assert_eq!(text(&root("1", "4", 3).unwrap()), "0.5");
        assert_eq!(text(&root("2.5", "1", 10).unwrap()), "1.58113883");
        assert_eq!(text(&root("0", "0.07", 10).unwrap()), "0");
        assert_eq!(root("-1", "1", 3), None);
        assert_eq!(root("1", "0", 3), None);
    }
}
