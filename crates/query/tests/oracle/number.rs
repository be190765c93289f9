//! Numbers by schoolbook arithmetic on decimal digits: slow, exact, and rounded only where the language says so.

use std::cmp::Ordering;

/// A number: its text, and what that text is worth, ± 0.DIGITS × 10^point, without leading or trailing zeros.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    text: String,
    negative: bool,
    /// Each from 0 to 9; empty for zero.
    digits: Vec<u8>,
    /// Where the decimal point stands, counted from before the first digit.
    point: i64,
}

/// All digits of numbers that are reckoned with stand within so many places of the point.
const PLACES_MAX: i64 = 1000;

/// Means and deviations that do not end have so many digits.
const DIGITS: usize = 28;

/// The most digits behind the point that a decimal holds.
const SCALE_MAX: i64 = 28;

/// 2^96, the first significand that a decimal does not hold.
const SIGNIFICAND_END: &str = "79228162514264337593543950336";

fn digits_of(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| byte - b'0').collect()
}

impl Number {
    /// A JSON number, which keeps its text.
    pub(crate) fn stored(text: &str) -> Number {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (significand, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (integer, fraction) = significand.split_once('.').unwrap_or((significand, ""));
        let exponent: i64 = exponent.parse().unwrap();
        let digits = digits_of(&format!("{integer}{fraction}"));
        Number { text: text.to_owned(), ..Number::new(negative, digits, integer.len() as i64 + exponent) }
    }

    /// ± 0.DIGITS × 10^point as a computed number, whose text has no exponent and no needless zeros.
    pub(crate) fn new(negative: bool, mut digits: Vec<u8>, mut point: i64) -> Number {
        let leading = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..leading);
        point -= leading as i64;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            return Number { text: "0".to_owned(), negative: false, digits, point: 0 };
        }
        let mut number = Number { text: String::new(), negative, digits, point };
        if (-1000..1000).contains(&point) {
            number.text = number.plain();
        }
        number
    }

    pub(crate) fn integer(number: i64) -> Number {
        let digits = digits_of(&number.unsigned_abs().to_string());
        let point = digits.len() as i64;
        Number::new(number < 0, digits, point)
    }

    /// A literal of the language: a number of no stored event, so it prints as computed ones do.
    pub(crate) fn literal(text: &str) -> Number {
        let stored = Number::stored(text);
        Number::new(stored.negative, stored.digits, stored.point)
    }

    fn plain(&self) -> String {
        let all: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let sign = if self.negative { "-" } else { "" };
        let length = self.digits.len() as i64;
        if self.point <= 0 {
            format!("{sign}0.{}{all}", "0".repeat(self.point.unsigned_abs() as usize))
        } else if self.point >= length {
            format!("{sign}{all}{}", "0".repeat((self.point - length) as usize))
        } else {
            let (whole, fraction) = all.split_at(self.point as usize);
            format!("{sign}{whole}.{fraction}")
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative && !self.is_zero()
    }

    /// How many digits stand behind the point.
    fn scale(&self) -> i64 {
        (self.digits.len() as i64 - self.point).max(0)
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.scale() == 0
    }

    /// The mathematical order.
    pub(crate) fn compare(&self, other: &Number) -> Ordering {
        match (self.is_negative(), other.is_negative()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
        }
    }

    fn magnitude(&self, other: &Number) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
        }
    }

    /// The number if it is reckoned with: an operand of arithmetic.
    fn reckoned(&self) -> Option<&Number> {
        (self.point <= PLACES_MAX && self.digits.len() as i64 - self.point <= PLACES_MAX).then_some(self)
    }

    /// The number in the spelling of computed ones: with an exponent only where no decimal holds it, and its digits do not reach to the
    /// point.
    pub(crate) fn computed(&self) -> Number {
        let length = self.digits.len() as i64;
        let mut number = self.clone();
        number.text = if self.is_zero() {
            "0".to_owned()
        } else if self.is_exact() || (1..=length).contains(&self.point) {
            self.plain()
        } else {
            let all: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
            let (first, rest) = all.split_at(1);
            let sign = if self.negative { "-" } else { "" };
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{dot}{rest}e{}", self.point - 1)
        };
        number
    }

    /// The number if a decimal holds it exactly.
    fn exact(&self) -> Option<&Number> {
        let fits = self.scale() <= SCALE_MAX
            && (self.is_zero() || self.point + self.scale() <= 29)
            && compare_whole(&self.scaled(self.scale()), &digits_of(SIGNIFICAND_END)) == Ordering::Less;
        fits.then_some(self)
    }

    /// Whether a decimal holds the number exactly.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact().is_some()
    }

    /// The whole number that is `10^scale` times this one, which has no more digits behind the point.
    fn scaled(&self, scale: i64) -> Vec<u8> {
        if self.is_zero() {
            return Vec::new();
        }
        let mut digits = self.digits.clone();
        let zeros = self.point + scale - digits.len() as i64;
        assert!((0..6000).contains(&zeros), "{self:?} times 10^{scale}");
        digits.extend(std::iter::repeat_n(0, zeros as usize));
        digits
    }

    /// The nearest number that a decimal holds, half to even at the last of the digits available; none on overflow.
    /// `sticky` says that something smaller than all the digits is missing at their end.
    fn rounded(self, sticky: bool) -> Option<Number> {
        for scale in (0..=SCALE_MAX).rev() {
            let keep = self.point + scale;
            if keep > 29 {
                continue;
            }
            let keep = usize::try_from(keep.max(0)).unwrap();
            let shift = if self.point + scale < 0 { (self.point + scale).unsigned_abs() as usize } else { 0 };
            let mut all = vec![0; shift];
            all.extend(&self.digits);
            let mut kept = all.get(..keep).map_or_else(
                || {
                    let mut padded = all.clone();
                    padded.resize(keep, 0);
                    padded
                },
                <[u8]>::to_vec,
            );
            let dropped = all.get(keep..).unwrap_or_default();
            let up = match dropped.first() {
                None | Some(0..5) => false,
                Some(5) => {
                    let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
                    sticky || odd || dropped[1..].iter().any(|&digit| digit != 0)
                }
                Some(_) => true,
            };
            if up {
                kept = add_whole(&kept, &[1]);
            }
            if compare_whole(&kept, &digits_of(SIGNIFICAND_END)) == Ordering::Less {
                let point = kept.len() as i64 - scale;
                return Some(Number::new(self.negative, kept, point));
            }
        }
        None
    }

    pub(crate) fn negate(&self) -> Option<Number> {
        let this = self.reckoned()?;
        Number::new(!this.is_negative(), this.digits.clone(), this.point).rounded(false)
    }

    pub(crate) fn add(&self, other: &Number) -> Option<Number> {
        self.reckoned()?.add_unrounded(other.reckoned()?).rounded(false)
    }

    pub(crate) fn subtract(&self, other: &Number) -> Option<Number> {
        let other = other.reckoned()?;
        self.add(&Number::new(!other.is_negative(), other.digits.clone(), other.point))
    }

    fn add_unrounded(&self, other: &Number) -> Number {
        let scale = self.scale().max(other.scale());
        let (a, b) = (self.scaled(scale), other.scaled(scale));
        let whole = |negative, digits: Vec<u8>| {
            let point = digits.len() as i64 - scale;
            Number::new(negative, digits, point)
        };
        if self.is_negative() == other.is_negative() {
            return whole(self.is_negative(), add_whole(&a, &b));
        }
        match compare_whole(&a, &b) {
            Ordering::Less => whole(other.is_negative(), subtract_whole(&b, &a)),
            _ => whole(self.is_negative(), subtract_whole(&a, &b)),
        }
    }

    pub(crate) fn multiply(&self, other: &Number) -> Option<Number> {
        self.reckoned()?.multiply_unrounded(other.reckoned()?).rounded(false)
    }

    fn multiply_unrounded(&self, other: &Number) -> Number {
        let scale = self.scale() + other.scale();
        let digits = multiply_whole(&self.scaled(self.scale()), &other.scaled(other.scale()));
        let point = digits.len() as i64 - scale;
        Number::new(self.is_negative() != other.is_negative(), digits, point)
    }

    pub(crate) fn divide(&self, other: &Number) -> Option<Number> {
        let (a, b) = (self.reckoned()?, other.reckoned()?);
        if b.is_zero() {
            return None;
        }
        let scale = a.scale().max(b.scale());
        // Thirty more digits than a decimal holds, and whether anything is left.
        let extra = SCALE_MAX + 30;
        let (quotient, rest) = divide_whole(&a.scaled(scale + extra), &b.scaled(scale));
        let point = quotient.len() as i64 - extra;
        Number::new(a.is_negative() != b.is_negative(), quotient, point).rounded(!rest.is_empty())
    }

    /// What is left of a division to a whole number; it has the sign of the dividend.
    pub(crate) fn remainder(&self, other: &Number) -> Option<Number> {
        let (a, b) = (self.reckoned()?, other.reckoned()?);
        if b.is_zero() {
            return None;
        }
        let scale = a.scale().max(b.scale());
        let (_, rest) = divide_whole(&a.scaled(scale), &b.scaled(scale));
        let point = rest.len() as i64 - scale;
        Number::new(a.is_negative(), rest, point).rounded(false)
    }

    pub(crate) fn power(&self, exponent: &Number) -> Option<Number> {
        let decimal = |number: &Number| number.reckoned()?.clone().rounded(false);
        let (base, exponent) = (&decimal(self)?, &decimal(exponent)?);
        if exponent.is_integer() && !exponent.is_negative() {
            let one = Number::integer(1);
            if base.is_zero() || base.compare(&one) == Ordering::Equal {
                return Some(if exponent.is_zero() { one } else { base.clone() });
            }
            let times = exponent.to_index()?;
            if times > 200 {
                // The generator's bases come to nothing or overflow long before.
                return if base.point <= 0 { Some(Number::integer(0)) } else { None };
            }
            let mut result = one;
            for _ in 0..times {
                result = result.multiply_unrounded(base);
            }
            return result.rounded(false);
        }
        let (base, exponent): (f64, f64) = (base.text().parse().unwrap(), exponent.text().parse().unwrap());
        let power = base.powf(exponent);
        if !power.is_finite() {
            return None;
        }
        Number::stored(&format!("{power:.14e}")).rounded(false)
    }

    /// Midpoints go away from zero.
    pub(crate) fn round(&self, places: usize) -> Option<Number> {
        let this = self.reckoned()?;
        let keep = this.point + places as i64;
        if keep >= this.digits.len() as i64 {
            return Number::new(this.negative, this.digits.clone(), this.point).rounded(false);
        }
        if keep < 0 {
            return Some(Number::integer(0));
        }
        let keep = keep as usize;
        let mut kept = this.digits[..keep].to_vec();
        if this.digits[keep] >= 5 {
            kept = add_whole(&kept, &[1]);
        }
        let point = kept.len() as i64 - places as i64;
        Number::new(this.negative, kept, point).rounded(false)
    }

    pub(crate) fn to_index(&self) -> Option<usize> {
        if self.is_negative() || !self.is_integer() || self.point > 18 {
            return None;
        }
        self.scaled(0).iter().try_fold(0usize, |sum, &digit| Some(sum * 10 + usize::from(digit)))
    }

    /// The sum of all; none where one is not reckoned with.
    fn sum_unrounded<'a>(numbers: impl IntoIterator<Item = &'a Number>) -> Option<Number> {
        let mut sum = Number::integer(0);
        for number in numbers {
            sum = sum.add_unrounded(number.reckoned()?);
        }
        Some(sum)
    }

    /// The exact sum of all; none where one is not reckoned with.
    pub(crate) fn sum<'a>(numbers: impl IntoIterator<Item = &'a Number>) -> Option<Number> {
        Some(Number::sum_unrounded(numbers)?.computed())
    }

    /// The quotient with many digits, and whether there are others behind them.
    fn over(&self, divisor: &Number) -> (Number, bool) {
        let (scale, extra) = (self.scale().max(divisor.scale()), self.scale() + 150);
        let (quotient, rest) = divide_whole(&self.scaled(scale + extra), &divisor.scaled(scale));
        let point = quotient.len() as i64 - extra;
        (Number::new(self.is_negative() != divisor.is_negative(), quotient, point), !rest.is_empty())
    }

    /// The nearest number of so many digits, midpoints to the even one.
    fn of_digits(&self, count: usize, sticky: bool) -> Number {
        if self.digits.len() <= count {
            return self.clone();
        }
        let (kept, dropped) = self.digits.split_at(count);
        let is_up = match (dropped[0], dropped.len() > 1 || sticky) {
            (5, false) => kept[count - 1] % 2 == 1,
            (first, _) => first >= 5,
        };
        let point = self.point - count as i64;
        let kept = if is_up { add_whole(kept, &[1]) } else { kept.to_vec() };
        let point = point + kept.len() as i64;
        Number::new(self.negative, kept, point)
    }

    /// The mean: exact if it ends, else rounded; none of no numbers, or where one is not reckoned with.
    pub(crate) fn mean(numbers: &[Number]) -> Option<Number> {
        if numbers.is_empty() {
            return None;
        }
        let (mean, goes_on) = Number::sum_unrounded(numbers)?.over(&Number::integer(numbers.len() as i64));
        Some(if goes_on { mean.of_digits(DIGITS, true) } else { mean }.computed())
    }

    /// The variance of a sample, or its root; none of fewer than two numbers, or where one is not reckoned with.
    pub(crate) fn spread(numbers: &[Number], is_root: bool) -> Option<Number> {
        let sum = Number::sum_unrounded(numbers)?;
        let squares: Vec<Number> = numbers.iter().map(|number| number.multiply_unrounded(number)).collect();
        let squares = squares.iter().fold(Number::integer(0), |sum, square| sum.add_unrounded(square));
        let n = Number::integer(numbers.len() as i64);
        let pairs = n.multiply_unrounded(&Number::integer(numbers.len() as i64 - 1));
        if numbers.len() < 2 {
            return None;
        }
        let mut square = sum.multiply_unrounded(&sum);
        square.negative = true;
        let (variance, goes_on) = n.multiply_unrounded(&squares).add_unrounded(&square).over(&pairs);
        if !is_root {
            return Some(variance.of_digits(DIGITS, goes_on).computed());
        }
        if variance.is_zero() {
            return Some(variance.computed());
        }
        // As a whole number of at least eighty digits, with an even number of places.
        let places = variance.scale() + 80 + variance.scale() % 2;
        let whole = variance.scaled(places);
        let root = root_of_whole(&whole);
        let is_exact = compare_whole(&multiply_whole(&root, &root), &whole) == Ordering::Equal;
        let point = root.len() as i64 - places / 2;
        Some(Number::new(false, root, point).of_digits(DIGITS, goes_on || !is_exact).computed())
    }

    /// The number in the middle of two; none where one is not reckoned with.
    pub(crate) fn middle(&self, other: &Number) -> Option<Number> {
        if self.compare(other) == Ordering::Equal {
            return Some(self.computed());
        }
        let sum = self.reckoned()?.add_unrounded(other.reckoned()?);
        Some(sum.multiply_unrounded(&Number::stored("0.5")).computed())
    }

    /// Whether the number lies between two others, or so close to them by relative error.
    pub(crate) fn is_near(&self, low: &Number, high: &Number, error: &str) -> bool {
        let widened = |bound: &Number, is_up: bool| {
            let mut allowance = bound.multiply_unrounded(&Number::stored(error));
            allowance.negative = !is_up;
            bound.add_unrounded(&allowance)
        };
        self.compare(&widened(low, false)) != Ordering::Less
            && self.compare(&widened(high, true)) != Ordering::Greater
    }

    /// The place among so many, from 1, up to which at least so many percent of them stand.
    pub(crate) fn rank_of(percent: &str, count: usize) -> usize {
        let place = Number::stored(percent).multiply_unrounded(&Number::integer(count as i64));
        let place = place.multiply_unrounded(&Number::stored("0.01"));
        let whole = place.digits.get(..place.point.clamp(0, place.digits.len() as i64) as usize).unwrap();
        let whole = Number::new(false, whole.to_vec(), place.point.max(0)).to_index().unwrap();
        (whole + usize::from(!place.is_integer())).clamp(1, count)
    }
}

/// The root of a whole number, digit by digit, its last one rounded down.
fn root_of_whole(square: &[u8]) -> Vec<u8> {
    let length = trim(square).len().div_ceil(2);
    let mut root = vec![0; length];
    for place in 0..length {
        for digit in (0..=9).rev() {
            root[place] = digit;
            if compare_whole(&multiply_whole(&root, &root), square) != Ordering::Greater {
                break;
            }
        }
    }
    root
}

fn trim(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().take_while(|&&digit| digit == 0).count()..]
}

fn compare_whole(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (trim(a), trim(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn add_whole(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut sum = Vec::new();
    let mut carry = 0;
    let (mut a, mut b) = (a.iter().rev(), b.iter().rev());
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() && carry == 0 {
            break;
        }
        let digit = x.unwrap_or(&0) + y.unwrap_or(&0) + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    sum.reverse();
    sum
}

/// `a - b`, which is not below zero.
fn subtract_whole(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut difference = Vec::new();
    let mut borrow = 0;
    let mut b = b.iter().rev();
    for &x in a.iter().rev() {
        let y = b.next().unwrap_or(&0) + borrow;
        borrow = u8::from(x < y);
        difference.push(x + 10 * borrow - y);
    }
    difference.reverse();
    trim(&difference).to_vec()
}

fn multiply_whole(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut product = vec![0u32; a.len() + b.len()];
    for (i, &x) in a.iter().rev().enumerate() {
        for (j, &y) in b.iter().rev().enumerate() {
            product[i + j] += u32::from(x) * u32::from(y);
        }
    }
    let mut carry = 0;
    let mut digits: Vec<u8> = Vec::new();
    for place in product {
        let digit = place + carry;
        digits.push((digit % 10) as u8);
        carry = digit / 10;
    }
    while carry > 0 {
        digits.push((carry % 10) as u8);
        carry /= 10;
    }
    digits.reverse();
    digits
}

/// The quotient of a long division, and the rest, without leading zeros.
fn divide_whole(a: &[u8], b: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut quotient = Vec::new();
    let mut rest: Vec<u8> = Vec::new();
    for &digit in a {
        rest.push(digit);
        rest = trim(&rest).to_vec();
        let mut times = 0;
        while compare_whole(&rest, b) != Ordering::Less {
            rest = subtract_whole(&rest, trim(b));
            times += 1;
        }
        quotient.push(times);
    }
    (quotient, rest)
}

#[test]
fn schoolbook_arithmetic() {
    let n = Number::stored;
    let text = |number: Option<Number>| number.map(|number| number.text().to_owned());
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(text(n("79228162514264337593543950334").add(&n("1"))), some("79228162514264337593543950335"));
    assert_eq!(text(n("79228162514264337593543950335").add(&n("1"))), None);
    assert_eq!(
        text(n("79228162514264337593543950334").add(&n("0.5"))),
        some("79228162514264337593543950334")
    );
    assert_eq!(
        text(n("79228162514264337593543950333").add(&n("0.5"))),
        some("79228162514264337593543950334")
    );
    assert_eq!(text(n("1").divide(&n("3"))), some("0.3333333333333333333333333333"));
    assert_eq!(text(n("2").divide(&n("3"))), some("0.6666666666666666666666666667"));
    assert_eq!(text(n("1e28").divide(&n("7"))), some("1428571428571428571428571428.6"));
    assert_eq!(text(n("-7.5").remainder(&n("2"))), some("-1.5"));
    assert_eq!(text(n("1e29").divide(&n("10"))), some("10000000000000000000000000000"));
    assert_eq!(text(n("1e-29").add(&n("1"))), some("1"));
    assert_eq!(text(n("1e1001").subtract(&n("1e1001"))), None);
    assert_eq!(text(Number::sum(&[n("1e29"), n("0.5")])), some("100000000000000000000000000000.5"));
    assert_eq!(text(Number::sum(&[n("1e300"), n("1e300")])), some("2e300"));
    assert_eq!(text(Number::mean(&[n("7e28"), n("7e28")])), some("70000000000000000000000000000"));
    assert_eq!(text(Number::mean(&[n("1"), n("1"), n("2")])), some("1.333333333333333333333333333"));
    let squares = ["2", "4", "4", "4", "5", "5", "7", "9"].map(n);
    assert_eq!(text(Number::spread(&squares, false)), some("4.571428571428571428571428571"));
    assert_eq!(text(Number::spread(&squares, true)), some("2.138089935299395077476427847"));
    assert_eq!(text(Number::spread(&["1", "2", "3"].map(n), true)), some("1"));
    assert_eq!(
        [("0", 7), ("50", 7), ("99.9", 1000), ("100", 7)].map(|(p, n)| Number::rank_of(p, n)),
        [1, 4, 999, 7]
    );
    assert_eq!(text(n("0.1").multiply(&n("1e-28"))), some("0"));
    assert_eq!(text(n("5e-1").multiply(&n("1e-28"))), some("0"));
    assert_eq!(text(n("1.5").multiply(&n("1e-28"))), some("0.0000000000000000000000000002"));
    assert_eq!(text(n("1e29").add(&n("1"))), None);
    assert_eq!(text(n("1e29").subtract(&n("1e29"))), some("0"));
    assert_eq!(text(n("1.5").power(&n("3"))), some("3.375"));
    assert_eq!(text(n("2").power(&n("0.5"))), some("1.4142135623731"));
    assert_eq!(text(n("2.5").round(0)), some("3"));
    assert_eq!(text(n("-0.05").round(1)), some("-0.1"));
    assert_eq!(text(n("9.996").round(2)), some("10"));
    assert_eq!(n("1e999999999").compare(&n("1e999999998")), Ordering::Greater);
    assert_eq!(n("-0.0").compare(&n("0e5")), Ordering::Equal);
    assert_eq!(n("1e2").compare(&n("100.0")), Ordering::Equal);
}
