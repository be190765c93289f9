//! Chains of quotients many at once: each step is one of whole numbers, and what rounding it to the digits of a decimal has changed is carried along as a
//! binary number. A loop without branches that the compiler turns into vectors.

use super::quotient::Quotient;
use super::units::{DIGITS, Lacking, ONE_APART, Parts, TOGETHER, binary, magnitude, signed};
use crate::value::{BINARY_POWERS, WHOLE_POWERS};
use tamias_simd::{Isa, Task, Vector};

/// Numerators and denominators are below this. It is a little less than 2^62, as products are held against it that are rounded.
const END: f64 = 4.6e18;

/// Where what rounding has left of a number lies so near to a midpoint, a binary number does not tell which way it is rounded.
const UNCERTAIN: f64 = 1e-6;

/// More units of the last place that were rounded away leave a binary number less certain than that.
const ERROR_MAX: f64 = 1e6;

/// Some decimals, each of which comes to `(numerator / denominator) * 10^power`, and what its rounding has added.
pub(super) struct Fractions {
    pub(super) numerators: [i64; TOGETHER],
    /// None is below one.
    pub(super) denominators: [i64; TOGETHER],
    pub(super) power: i32,
    /// Whether all of them, as they are before they are rounded, come to whole units of 10^-28.
    are_units: bool,
    /// In units of 10^-28.
    errors: [f64; TOGETHER],
    /// Those that are not are any numbers.
    pub(super) are_told: [bool; TOGETHER],
}

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainOp {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Default for Fractions {
    fn default() -> Fractions {
        Fractions {
            numerators: [0; TOGETHER],
            denominators: [1; TOGETHER],
            power: 0,
            are_units: false,
            errors: [0.0; TOGETHER],
            are_told: [false; TOGETHER],
        }
    }
}

impl Fractions {
    /// Makes them some whole numbers times a power of ten.
    pub(super) fn set(&mut self, numbers: &[i64], power: i32) {
        (self.power, self.are_units) = (power, power >= 0);
        self.denominators = [1; TOGETHER];
        self.errors = [0.0; TOGETHER];
        for ((numerator, is_told), number) in self.numerators.iter_mut().zip(&mut self.are_told).zip(numbers)
        {
            *is_told = number.unsigned_abs() < END as u64;
            *numerator = if *is_told { *number } else { 0 };
        }
    }

    /// Makes them quotients, rounded; none where these have several powers of ten.
    pub(super) fn set_quotients(&mut self, quotients: &[Quotient]) -> Option<()> {
        let (_, _, power) = quotients.first()?.parts();
        (self.power, self.are_units) = (power.into(), false);
        self.errors = [0.0; TOGETHER];
        let places = self.numerators.iter_mut().zip(&mut self.denominators).zip(&mut self.are_told);
        let mut are_of_one = true;
        for (((numerator, denominator), is_told), quotient) in places.zip(quotients) {
            let (dividend, divisor, own) = quotient.parts();
            are_of_one &= own == power;
            *is_told = dividend.unsigned_abs().max(divisor.unsigned_abs()) < END as u64;
            let (dividend, divisor) = if *is_told { (dividend, divisor) } else { (0, 1) };
            *numerator = signed(dividend, divisor >> (i64::BITS - 1));
            *denominator = magnitude(divisor);
        }
        are_of_one.then_some(())?;
        self.round(&mut Parts::default())
    }

    /// Makes them what they and others come to, not rounded yet; none where their powers of ten are too far apart.
    pub(super) fn combine(&mut self, op: ChainOp, right: &Fractions) -> Option<()> {
        let apart = |power: i32| WHOLE_POWERS.get(usize::try_from(power).ok()?).copied();
        let binary = [binary_power(self.power)?, binary_power(right.power)?];
        let (power, raise, are_units) = match op {
            // One side is a whole number then.
            ChainOp::Multiply => (self.power + right.power, [1, 1], self.are_units | right.are_units),
            ChainOp::Divide => (self.power - right.power, [1, 1], false),
            ChainOp::Add | ChainOp::Subtract => {
                let power = self.power.min(right.power);
                (power, [apart(self.power - power)?, apart(right.power - power)?], true)
            }
        };
        Isa::best().run(Combine { op, raise, binary, left: self, right });
        (self.power, self.are_units) = (power, are_units);
        Some(())
    }

    /// Rounds them as decimals are: what they come to then. None where their power of ten is too great.
    pub(super) fn round(&mut self, parts: &mut Parts) -> Option<()> {
        let raise = |power: i32| WHOLE_POWERS.get(usize::try_from(power.max(0)).ok()?).copied();
        let raise = [raise(self.power)?, raise(-self.power)?];
        let are_units = std::mem::take(&mut self.are_units);
        Isa::best().run(Round { raise, are_units, fractions: self, parts });
        Some(())
    }
}

fn binary_power(power: i32) -> Option<f64> {
    let binary = *BINARY_POWERS.get(power.unsigned_abs() as usize)?;
    Some(if power < 0 { 1.0 / binary } else { binary })
}

struct Combine<'f> {
    op: ChainOp,
    /// By what the numerators are multiplied before.
    raise: [i64; 2],
    /// The powers of ten of both.
    binary: [f64; 2],
    left: &'f mut Fractions,
    right: &'f Fractions,
}

/// A number of [`Fractions`]: its numerator, its denominator and its error.
type Fraction = (i64, i64, f64);

/// What comes of two of them: how great the parts of its error are, and whether it has room.
type Combined = (Fraction, f64, bool);

impl Task for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Combine { op, raise, binary, left, right } = self;
        match op {
            ChainOp::Multiply => each(left, right, |left, right| multiplied(left, right, binary)),
            ChainOp::Divide => each(left, right, |left, right| divided(left, right, binary)),
            ChainOp::Add => each(left, right, |left, right| added(left, right, raise)),
            ChainOp::Subtract => {
                let negative = |(numerator, denominator, error): Fraction| {
                    (numerator.wrapping_neg(), denominator, -error)
                };
                each(left, right, |left, right| added(left, negative(right), raise));
            }
        }
    }
}

#[inline(always)]
fn each(left: &mut Fractions, right: &Fractions, of: impl Fn(Fraction, Fraction) -> Combined) {
    for place in 0..TOGETHER {
        let side = |of: &Fractions| (of.numerators[place], of.denominators[place], of.errors[place]);
        let ((numerator, denominator, error), greatest, fits) = of(side(left), side(right));
        // Two errors that are equal as binary numbers need not be so.
        let is_sure = (error != 0.0) | (greatest == 0.0) | (numerator == 0);
        let is_told = fits & is_sure & left.are_told[place] & right.are_told[place] & (greatest < ERROR_MAX);
        // Any numbers will do in place of what is not told, but not such as have no room in the next step.
        left.numerators[place] = if is_told { numerator } else { 0 };
        left.denominators[place] = if is_told { denominator } else { 1 };
        left.errors[place] = if is_told { error } else { 0.0 };
        left.are_told[place] = is_told;
    }
}

#[inline(always)]
fn multiplied(left: Fraction, right: Fraction, powers: [f64; 2]) -> Combined {
    let ((a, b, error), (c, d, other)) = (left, right);
    let [wide_a, wide_b, wide_c, wide_d] = [wide_signed(a), wide(b), wide_signed(c), wide(d)];
    let [error, other] = [error * powers[1] * wide_c / wide_d, other * powers[0] * wide_a / wide_b];
    let fits = ((wide_a * wide_c).abs() < END) & (wide_b * wide_d < END);
    ((a.wrapping_mul(c), b.wrapping_mul(d), error + other), error.abs() + other.abs(), fits)
}

#[inline(always)]
fn divided(left: Fraction, right: Fraction, powers: [f64; 2]) -> Combined {
    let ((a, b, error), (c, d, other)) = (left, right);
    let [wide_a, wide_b, wide_c, wide_d] = [wide_signed(a), wide(b), wide_signed(c), wide(d)];
    let (inverse, sign) = (wide_d / wide_c / powers[1], c >> (i64::BITS - 1));
    // What the error of the divisor changes of it, which makes a second error with itself: it had better be small.
    let change = other * inverse;
    let [error, other] = [error * inverse, change * (wide_a / wide_b * powers[0]) * inverse];
    let is_small = change.abs() < ERROR_MAX * ERROR_MAX;
    let fits = ((wide_a * wide_d).abs() < END) & ((wide_b * wide_c).abs() < END) & (c != 0) & is_small;
    let fraction = (signed(a.wrapping_mul(d), sign), b.wrapping_mul(magnitude(c)), error - other);
    (fraction, error.abs() + other.abs(), fits)
}

#[inline(always)]
fn added(left: Fraction, right: Fraction, raise: [i64; 2]) -> Combined {
    let ((a, b, error), (c, d, other)) = (left, right);
    let [wide_a, wide_b, wide_c, wide_d] = [wide_signed(a), wide(b), wide_signed(c), wide(d)];
    let [wide_left, wide_right] = [raise[0] as f64 * wide_a, raise[1] as f64 * wide_c];
    let (a, c) = (a.wrapping_mul(raise[0]), c.wrapping_mul(raise[1]));
    // Quotients by the same numbers are no rare thing.
    let is_same = b == d;
    let numerator =
        if is_same { a.wrapping_add(c) } else { a.wrapping_mul(d).wrapping_add(c.wrapping_mul(b)) };
    let denominator = if is_same { b } else { b.wrapping_mul(d) };
    let [by_d, by_b] = if is_same { [1.0, 1.0] } else { [wide_d, wide_b] };
    let fits = ((wide_left * by_d).abs() + (wide_right * by_b).abs() < END) & (wide_b * by_d < END);
    ((numerator, denominator, error + other), error.abs() + other.abs(), fits)
}

struct Round<'f> {
    /// By what numerators and denominators are multiplied.
    raise: [i64; 2],
    are_units: bool,
    fractions: &'f mut Fractions,
    parts: &'f mut Parts,
}

impl Task for Round<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Round { raise, are_units, fractions, parts } = self;
        for place in 0..TOGETHER {
            let (numerator, denominator) = (fractions.numerators[place], fractions.denominators[place]);
            let rounded = round((numerator, denominator, fractions.errors[place]), raise, are_units);
            let is_told = rounded.is_told & fractions.are_told[place];
            parts.wholes[place] = rounded.whole;
            parts.firsts[place] = rounded.first;
            parts.seconds[place] = rounded.second;
            parts.are_told[place] = is_told;
            fractions.errors[place] = if is_told { rounded.error } else { 0.0 };
            fractions.are_told[place] = is_told;
        }
    }
}

struct Rounded {
    whole: i64,
    first: i64,
    second: i64,
    error: f64,
    is_told: bool,
}

/// What a number comes to that is rounded as decimals are.
#[inline(always)]
fn round((numerator, denominator, error): Fraction, raise: [i64; 2], are_units: bool) -> Rounded {
    let sign = numerator >> (i64::BITS - 1);
    let (of, by) = (magnitude(numerator).wrapping_mul(raise[0]), denominator.wrapping_mul(raise[1]));
    let (wide_of, wide_by) =
        (wide(magnitude(numerator)) * raise[0] as f64, wide(denominator) * raise[1] as f64);
    let inverse = 1.0 / wide_by;
    let estimate = wide_of * inverse;
    let Lacking { power, missing, is_told } = Lacking::of(estimate);
    let is_told = is_told & (wide_of < END) & (wide_by < END);
    // All else is any number then.
    let (whole, rest) = left(of, by, estimate, 1);
    let (first, rest) = left(rest, by, wide(rest) * inverse * BINARY_POWERS[DIGITS], WHOLE_POWERS[DIGITS]);
    let (second, rest) = left(rest, by, wide(rest) * inverse * binary(power), power);
    // What follows the last digit, without what was rounded before, and with it.
    let (behind, unit) = (wide(rest) * inverse, binary(missing));
    let own = f64::from_bits(error.to_bits() ^ (sign as u64 & (1 << 63))) / unit;
    let exact = behind + own;
    // The nearest whole number, which is small.
    const NEAR: f64 = ONE_APART * 1.5;
    let nearest = |number: f64| {
        let near = number + NEAR;
        (near - NEAR, (near.to_bits() as i64).wrapping_sub(NEAR.to_bits() as i64))
    };
    let (up, near) = nearest(exact);
    let is_midpoint = (exact - up).abs() > 0.5 - UNCERTAIN;
    // As near to a midpoint as that, what comes to whole units is one.
    let (below, near_below) = nearest(exact - 0.5);
    let odd = second.wrapping_add(near_below) & 1;
    let is_own = is_midpoint & are_units;
    let (up, near) = if is_own { (below + binary(odd), near_below.wrapping_add(odd)) } else { (up, near) };
    let is_midpoint = is_midpoint & !are_units;
    // A number that was not rounded before tells itself which way it goes.
    let is_exact = error == 0.0;
    let twice = rest.wrapping_mul(2);
    let own_up = i64::from((twice > by) | ((twice == by) & (second & 1 == 1)));
    let (up, near) = if is_exact { (binary(own_up), own_up) } else { (up, near) };
    let changed = (up - behind) * unit;
    let is_sure = (is_exact | !is_midpoint) & ((changed != 0.0) | (rest == 0));
    let is_told = is_told & is_sure;
    let second = second.wrapping_add(near).wrapping_mul(missing);
    Rounded {
        whole: signed(whole, sign),
        first: signed(first, sign),
        second: signed(second, sign),
        error: f64::from_bits(changed.to_bits() ^ (sign as u64 & (1 << 63))),
        is_told,
    }
}

/// The binary number next to a whole one of at most 62 bits.
#[inline(always)]
fn wide(number: i64) -> f64 {
    const HALF: u32 = 32;
    let part = |part: u64| f64::from_bits(part | ONE_APART.to_bits()) - ONE_APART;
    let (upper, lower) = (number as u64 >> HALF, number as u64 & u64::from(u32::MAX));
    part(upper) * (1u64 << HALF) as f64 + part(lower)
}

#[inline(always)]
fn wide_signed(number: i64) -> f64 {
    let sign = number >> (i64::BITS - 1);
    f64::from_bits(wide(magnitude(number)).to_bits() | (sign as u64 & (1 << 63)))
}

/// The digits that a division has next, of a number times a power of ten, by what they are about; and what is left then.
#[inline(always)]
fn left(of: i64, divisor: i64, about: f64, power: i64) -> (i64, i64) {
    let guess = (about + ONE_APART).to_bits().wrapping_sub(ONE_APART.to_bits()) as i64;
    // The nearest whole number, about: it is one too many, or right, and what is left is told by its last 64 bits.
    let left = of.wrapping_mul(power).wrapping_sub(guess.wrapping_mul(divisor));
    let below = left >> (i64::BITS - 1);
    (guess.wrapping_add(below), left.wrapping_add(divisor & below))
}

#[cfg(test)]
mod tests {
    use super::super::units::Units;
    use super::super::units::each_of_parts;
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::Decimal;

    /// A number of a chain as decimals make it, and as fractions.
    #[derive(Clone, Debug)]
    enum Step {
        Number(i64, u32),
        Quotient(i64, i64),
        Both(ChainOp, Box<Step>, Box<Step>),
    }

    impl Step {
        fn decimal(&self) -> Option<Decimal> {
            match self {
                Step::Number(number, scale) => Some(Decimal::new(*number, *scale)),
                Step::Quotient(of, by) => Decimal::from(*of).checked_div(Decimal::from(*by)),
                Step::Both(op, left, right) => {
                    let (left, right) = (left.decimal()?, right.decimal()?);
                    match op {
                        ChainOp::Add => left.checked_add(right),
                        ChainOp::Subtract => left.checked_sub(right),
                        ChainOp::Multiply => left.checked_mul(right),
                        ChainOp::Divide => left.checked_div(right),
                    }
                }
            }
        }

        fn set(&self, fractions: &mut Fractions, parts: &mut Parts) -> Option<()> {
            match self {
                Step::Number(number, scale) => fractions.set(&[*number; TOGETHER], -(*scale as i32)),
                Step::Quotient(of, by) => {
                    fractions.set_quotients(&[Quotient::of(*of, *by)?; TOGETHER])?;
                }
                Step::Both(op, left, right) => {
                    let mut other = Fractions::default();
                    left.set(fractions, parts)?;
                    right.set(&mut other, parts)?;
                    fractions.combine(*op, &other)?;
                    fractions.round(parts)?;
                }
            }
            Some(())
        }

        /// Times 10^28; none where fractions do not tell it.
        fn units(&self) -> Option<i128> {
            let mut told = None;
            let tell = |_, parts: &mut Parts| self.set(&mut Fractions::default(), parts).is_some();
            each_of_parts(1, false, tell, |_, units| {
                told = match units {
                    Units::Sum(sum) => Some(sum),
                    Units::Each(each) => each[0],
                };
            });
            told
        }
    }

    fn units_of(decimal: Decimal) -> i128 {
        decimal.mantissa() * 10i128.pow(Decimal::MAX_SCALE - decimal.scale())
    }

    /// Of numbers as they are measured, and of all lengths.
    fn step() -> impl Strategy<Value = Step> {
        let number = || {
            prop_oneof![
                4 => -100_000i64..100_000,
                2 => (-1000i64..1000, 0u32..6).prop_map(|(number, power)| number * 10i64.pow(power)),
                1 => (any::<i64>(), 0u32..64).prop_map(|(number, shift)| number >> shift),
                1 => (0u32..40, 0u32..10).prop_map(|(two, five)| (1i64 << two).saturating_mul(5i64.pow(five))),
            ]
        };
        let leaf = prop_oneof![
            (number(), number()).prop_map(|(of, by)| Step::Quotient(of, by)),
            (number(), 0u32..6).prop_map(|(number, scale)| Step::Number(number, scale)),
        ];
        let ops = [ChainOp::Add, ChainOp::Subtract, ChainOp::Multiply, ChainOp::Divide];
        leaf.prop_recursive(3, 8, 2, move |inner| {
            (prop::sample::select(ops.to_vec()), inner.clone(), inner)
                .prop_map(|(op, left, right)| Step::Both(op, Box::new(left), Box::new(right)))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 50_000, ..ProptestConfig::default() })]

        #[test]
        fn what_fractions_tell_is_what_decimals_come_to(step in step()) {
            if let (Step::Both(..), Some(units)) = (&step, step.units()) {
                let decimal = step.decimal();
                prop_assert_eq!(decimal.map(units_of), Some(units), "{:?}", decimal);
            }
        }

        /// As those of measured numbers.
        #[test]
        fn short_chains_are_told(a in 1i64..1_000_000, b in 1i64..100_000, c in 1i64..50_000, op in prop::sample::select(vec![ChainOp::Multiply, ChainOp::Divide, ChainOp::Add])) {
            let quotient = Step::Quotient(a, b);
            let step = Step::Both(op, Box::new(quotient), Box::new(Step::Number(2 * c + 1, 3)));
            let is_edge = step.decimal().is_some_and(|decimal| {
                decimal.mantissa().to_string().trim_start_matches('-').starts_with("79228162514264")
            });
            let is_long = step.decimal().is_some_and(|decimal| decimal.abs() > Decimal::from(792_000));
            // Products of few digits come to midpoints; what is divided by an odd number does not.
            prop_assert!(
                step.units().is_some() || is_edge || is_long || op == ChainOp::Multiply,
                "{:?}",
                step.decimal()
            );
        }
    }
}
