//! Many decimals at once, as whole numbers of units of 10^-28 in three parts of fourteen digits. A part is a binary number that is whole, so that products and what is left
//! of divisions are exact by two of these. What operations come to is rounded as decimals are: loops without branches that the compiler turns into vectors.

use crate::value::BINARY_POWERS;
use rust_decimal::Decimal;
use tamias_simd::{Isa, Task, Vector};

/// So many numbers are reckoned with together.
pub(super) const TOGETHER: usize = 64;

/// The digits of a part.
pub(super) const DIGITS: usize = 14;

const BASE: f64 = BINARY_POWERS[DIGITS];

/// Added to a number below 2^51, and taken away again, it leaves the nearest whole one; in between, that stands in the last bits.
pub(super) const NEAR: f64 = (3u64 << 51) as f64;

/// No part of what is reckoned with is as great: products by it are told, divided by a part's end.
const FACTOR_END: f64 = (1u64 << 50) as f64;

/// Whole numbers below it are told by binary ones.
const WHOLE_END: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// An estimate that is as near to the end of what has room for so many digits does not tell on which side the number is.
const NEXT_TO_END: f64 = 1e-13;

/// Decimals with more digits before the point that they lack behind it are rare.
const MISSING_MAX: usize = 9;

/// Numbers below these leave room for 28 digits behind the point, for one less, and so on. Those beyond the last one are not told.
const ENDS: [f64; MISSING_MAX + 1] = {
    let mut ends = [0.0; MISSING_MAX + 1];
    let mut nth = 0;
    while nth < ends.len() {
        ends[nth] = (1u128 << 96) as f64 / BINARY_POWERS[Decimal::MAX_SCALE as usize - nth];
        nth += 1;
    }
    ends
};

/// A number of each.
pub(super) type Each = [f64; TOGETHER];

/// Some decimals, times 10^28: `(whole * 10^14 + first) * 10^14 + second`. Parts may be negative, and a little more than half of their base.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// No number where a decimal is not told; its other parts are any then.
    pub(super) wholes: Each,
    pub(super) firsts: Each,
    pub(super) seconds: Each,
    /// On which side of them lies what they are before they are rounded to that: 1 beyond, -1 below, 0 where it is the same.
    sides: Each,
}

/// A decimal in its parts.
type Part = [f64; 3];

/// Whole numbers times a power of ten.
pub(super) struct Shorts {
    /// No number where one is too great.
    pub(super) numbers: Each,
    /// So many digits of each stand after the point.
    pub(super) scale: u32,
}

impl Default for Parts {
    fn default() -> Parts {
        let [wholes, firsts, seconds, sides] = [[0.0; TOGETHER]; 4];
        Parts { wholes, firsts, seconds, sides }
    }
}

impl Default for Shorts {
    fn default() -> Shorts {
        Shorts { numbers: [1.0; TOGETHER], scale: 0 }
    }
}

impl Shorts {
    /// Makes the first of them whole numbers, each times another one.
    pub(super) fn set(&mut self, numbers: &[i64], raise: i64) {
        Isa::best().run(Set { shorts: self, numbers, raise });
    }

    /// None where it has too many digits after the point.
    fn power(&self) -> Option<f64> {
        (self.scale as usize <= DIGITS).then(|| BINARY_POWERS.get(self.scale as usize).copied())?
    }
}

impl Parts {
    /// Quotients of numbers of one scale. Those divided by zero are not told.
    pub(super) fn divide(&mut self, dividends: &Each, divisors: &Each) {
        Isa::best().run(Divide { dividends, divisors, parts: self });
    }

    /// The decimals that short numbers are; none where these have too many digits after the point.
    pub(super) fn widen(&mut self, shorts: &Shorts) -> Option<()> {
        Isa::best().run(Widen { shorts, power: shorts.power()?, parts: self });
        Some(())
    }

    /// Multiplies them; none where a factor has too many digits after the point.
    pub(super) fn multiply_by(&mut self, factors: &Shorts) -> Option<()> {
        Isa::best().run(MultiplyBy { parts: self, factors, power: factors.power()? });
        Some(())
    }

    /// Divides them in the same way.
    pub(super) fn divide_by(&mut self, divisors: &Shorts) -> Option<()> {
        Isa::best().run(DivideBy { parts: self, divisors, power: divisors.power()? });
        Some(())
    }

    /// Adds others to them, each times one or minus one.
    pub(super) fn add(&mut self, others: &Parts, sign: f64) {
        Isa::best().run(Add { parts: self, others, sign });
    }

    /// Multiplies them by others.
    pub(super) fn multiply(&mut self, others: &Parts) {
        Isa::best().run(Multiply { parts: self, others });
    }

    /// Divides them by others.
    pub(super) fn divide_by_parts(&mut self, others: &Parts) {
        Isa::best().run(DivideByParts { parts: self, others });
    }

    /// Multiplies them by whole numbers, without digits left out.
    #[inline(always)]
    fn raise<V: Vector>(&mut self, by: &Each) {
        let Parts { wholes, firsts, seconds, sides } = self;
        let mut carries = [0.0; TOGETHER];
        for place in 0..TOGETHER {
            [carries[place], seconds[place]] = both::<V>(seconds[place], by[place]);
        }
        for place in 0..TOGETHER {
            let carry = carries[place];
            let (high, low) = product::<V>(firsts[place], by[place]);
            let upper = nearest((high + carry) * (1.0 / BASE));
            firsts[place] = left::<V>(high, upper, BASE) + low + carry;
            carries[place] = upper;
        }
        for place in 0..TOGETHER {
            let (raised, carry) = (wholes[place] * by[place], carries[place]);
            wholes[place] = if raised.abs() + carry.abs() < WHOLE_END { raised + carry } else { f64::NAN };
        }
        *sides = [0.0; TOGETHER];
    }

    /// Divides them by whole numbers, and leaves out digits for which there is no room.
    #[inline(always)]
    fn lower<V: Vector>(&mut self, by: &Each, inverses: &Each) {
        let Parts { wholes, firsts, seconds, sides } = self;
        let mut rests = [0.0; TOGETHER];
        for place in 0..TOGETHER {
            let digits = nearest(wholes[place] * inverses[place]);
            let rest = left::<V>(wholes[place], digits, by[place]);
            wholes[place] = digits;
            let next = next::<V>(rest, firsts[place], by[place], inverses[place]);
            (firsts[place], rests[place]) = next;
        }
        for place in 0..TOGETHER {
            let (digits, rest) = next::<V>(rests[place], seconds[place], by[place], inverses[place]);
            (seconds[place], sides[place]) = rounded(digits, rest, by[place]);
        }
        self.shorten();
    }

    /// Multiplies them by a power of ten, without digits left out: of each part the first digits go to the one before.
    #[inline(always)]
    fn raise_by_power(&mut self, power: f64) {
        let Parts { wholes, firsts, seconds, sides } = self;
        // What is left of a part then.
        let (unit, inverse) = (BASE / power, power / BASE);
        for place in 0..TOGETHER {
            let [from_first, from_second] =
                [nearest(firsts[place] * inverse), nearest(seconds[place] * inverse)];
            let raised = wholes[place] * power;
            let fits = raised.abs() + from_first.abs() < WHOLE_END;
            wholes[place] = if fits { raised + from_first } else { f64::NAN };
            firsts[place] = (firsts[place] - from_first * unit) * power + from_second;
            seconds[place] = (seconds[place] - from_second * unit) * power;
        }
        *sides = [0.0; TOGETHER];
    }

    #[inline(always)]
    fn put(&mut self, place: usize, [whole, first, second]: Part, side: f64) {
        (self.wholes[place], self.firsts[place]) = (whole, first);
        (self.seconds[place], self.sides[place]) = (second, side);
    }

    #[inline(always)]
    fn part(&self, place: usize) -> Part {
        [self.wholes[place], self.firsts[place], self.seconds[place]]
    }

    /// Leaves out digits of those that have others before the point, for which a decimal has no room then.
    #[inline(always)]
    fn shorten(&mut self) {
        // Most numbers are below a few thousand: a loop for these has less to do.
        const FEW: usize = 4;
        // What is rounded to less than a whole end is less than the end.
        if !reaches(&self.wholes, ENDS[0] as i64 as f64) {
            return;
        }
        match reaches(&self.wholes, ENDS[FEW] as i64 as f64) {
            false => self.shorten_by::<FEW>(),
            true => self.shorten_by::<{ ENDS.len() }>(),
        }
    }

    /// The same where no more digits than that are left out. Those of which more had to be are not told.
    #[inline(always)]
    fn shorten_by<const MOST: usize>(&mut self) {
        let Parts { wholes, firsts, seconds, sides } = self;
        let (mut units, mut inverses) = ([1.0; TOGETHER], [1.0; TOGETHER]);
        for place in 0..TOGETHER {
            let estimate = (wholes[place] + firsts[place] * (1.0 / BASE)).abs();
            let (mut unit, mut inverse) = (1.0, 1.0);
            for fewer in 0..MOST {
                let is_over = estimate > ENDS[fewer];
                unit = if is_over { BINARY_POWERS[fewer + 1] } else { unit };
                inverse = if is_over { 1.0 / BINARY_POWERS[fewer + 1] } else { inverse };
            }
            // Of all that has room for as many digits the greatest comes to the same then, and the least to a tenth of it.
            let share = estimate * inverse * (1.0 / ENDS[0]);
            let is_least = ((share - 0.1).abs() < 0.1 * NEXT_TO_END) & (unit > 1.0);
            let is_told = (share < 1.0 - NEXT_TO_END) & !is_least & (unit <= BINARY_POWERS[MISSING_MAX]);
            (units[place], inverses[place]) = (unit, inverse);
            wholes[place] = if is_told { wholes[place] } else { f64::NAN };
        }
        for place in 0..TOGETHER {
            let (unit, side) = (units[place], sides[place]);
            let digits = nearest(seconds[place] * inverses[place]);
            let rest = seconds[place] - digits * unit;
            let is_up = (2.0 * rest.abs() == unit) & ((rest * side > 0.0) | ((side == 0.0) & is_odd(digits)));
            seconds[place] = (if is_up { digits + 1f64.copysign(rest) } else { digits }) * unit;
        }
    }
}

/// Whether one of some numbers without their signs is no less than that.
#[inline(always)]
fn reaches(numbers: &Each, least: f64) -> bool {
    let mut any = 0;
    for number in numbers {
        any |= u64::from(number.abs() >= least);
    }
    any != 0
}

struct Set<'s> {
    shorts: &'s mut Shorts,
    numbers: &'s [i64],
    raise: i64,
}

impl Task for Set<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Set { shorts, numbers, raise } = self;
        let raise = raise as f64;
        for (to, number) in shorts.numbers.iter_mut().zip(numbers) {
            let binary = f64::from_bits((*number as u64).wrapping_add(NEAR.to_bits())) - NEAR;
            let raised = binary * raise;
            let is_told = (number.wrapping_add(1 << 51) as u64) >> 52 == 0;
            *to = if is_told & (raised.abs() < WHOLE_END) { raised } else { f64::NAN };
        }
    }
}

/// One divided by some numbers, nearly.
#[inline(always)]
fn inverses(numbers: &Each) -> Each {
    let mut inverses = [0.0; TOGETHER];
    for place in 0..TOGETHER {
        inverses[place] = 1.0 / numbers[place];
    }
    inverses
}

/// The next fourteen digits of what is left of a division, with the part that follows it; and what is left then.
#[inline(always)]
fn next<V: Vector>(rest: f64, part: f64, by: f64, inverse: f64) -> (f64, f64) {
    let (high, low) = product::<V>(rest, BASE);
    let digits = nearest((high + part) * inverse);
    (digits, left::<V>(high, digits, by) + low + part)
}

struct Divide<'p> {
    dividends: &'p Each,
    divisors: &'p Each,
    parts: &'p mut Parts,
}

impl Task for Divide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Divide { dividends, divisors, parts } = self;
        parts.wholes = *dividends;
        parts.firsts = [0.0; TOGETHER];
        parts.seconds = [0.0; TOGETHER];
        parts.lower::<V>(divisors, &inverses(divisors));
    }
}

struct MultiplyBy<'p> {
    parts: &'p mut Parts,
    factors: &'p Shorts,
    power: f64,
}

impl Task for MultiplyBy<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let MultiplyBy { parts, factors, power } = self;
        parts.raise::<V>(&fitting(&factors.numbers));
        match factors.scale {
            0 => parts.shorten(),
            _ => parts.lower::<V>(&[power; TOGETHER], &[1.0 / power; TOGETHER]),
        }
    }
}

struct DivideBy<'p> {
    parts: &'p mut Parts,
    divisors: &'p Shorts,
    power: f64,
}

impl Task for DivideBy<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let DivideBy { parts, divisors, power } = self;
        if divisors.scale > 0 {
            parts.raise_by_power(power);
        }
        let divisors = fitting(&divisors.numbers);
        parts.lower::<V>(&divisors, &inverses(&divisors));
    }
}

/// Those of some numbers that parts can be multiplied and divided by; no number in place of others.
#[inline(always)]
fn fitting(numbers: &Each) -> Each {
    let mut fitting = [0.0; TOGETHER];
    for place in 0..TOGETHER {
        fitting[place] = if numbers[place].abs() < FACTOR_END { numbers[place] } else { f64::NAN };
    }
    fitting
}

struct Widen<'p> {
    shorts: &'p Shorts,
    power: f64,
    parts: &'p mut Parts,
}

impl Task for Widen<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Widen { shorts, power, parts } = self;
        for place in 0..TOGETHER {
            let number = shorts.numbers[place];
            let whole = nearest(number / power);
            let first = left::<V>(number, whole, power) * (BASE / power);
            parts.put(place, [whole, first, 0.0], 0.0);
        }
    }
}

struct Add<'p> {
    parts: &'p mut Parts,
    others: &'p Parts,
    sign: f64,
}

impl Task for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Add { parts, others, sign } = self;
        for place in 0..TOGETHER {
            let [whole, first, second] = others.part(place);
            let sum = sum(parts.part(place), [whole * sign, first * sign, second * sign]);
            parts.put(place, sum, 0.0);
        }
        parts.shorten();
    }
}

struct Multiply<'p> {
    parts: &'p mut Parts,
    others: &'p Parts,
}

impl Task for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Multiply { parts, others } = self;
        for place in 0..TOGETHER {
            let (part, side) = multiplied::<V>(parts.part(place), others.part(place));
            parts.put(place, part, side);
        }
        parts.shorten();
    }
}

struct DivideByParts<'p> {
    parts: &'p mut Parts,
    others: &'p Parts,
}

impl Task for DivideByParts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let DivideByParts { parts, others } = self;
        for place in 0..TOGETHER {
            let (part, side) = divided::<V>(parts.part(place), others.part(place));
            parts.put(place, part, side);
        }
        parts.shorten();
    }
}

/// The nearest whole number, of one below 2^51.
#[inline(always)]
fn nearest(number: f64) -> f64 {
    (number + NEAR) - NEAR
}

#[inline(always)]
fn is_odd(number: f64) -> bool {
    number - 2.0 * nearest(number * 0.5) != 0.0
}

/// The product of two whole numbers: as a binary number, and what that is less than it.
#[inline(always)]
fn product<V: Vector>(one: f64, other: f64) -> (f64, f64) {
    let product = one * other;
    if V::FUSES {
        return (product, one.mul_add(other, -product));
    }
    // By their halves, whose products are exact.
    let halves = |number: f64| {
        let near = number * ((1 << 27) + 1) as f64;
        let upper = near - (near - number);
        (upper, number - upper)
    };
    let ((upper, lower), (other_upper, other_lower)) = (halves(one), halves(other));
    let over = ((product - upper * other_upper) - lower * other_upper) - upper * other_lower;
    (product, lower * other_lower - over)
}

/// A number less a product. That has to be a whole number below 2^53.
#[inline(always)]
fn left<V: Vector>(of: f64, times: f64, by: f64) -> f64 {
    if V::FUSES {
        return (-times).mul_add(by, of);
    }
    let (product, rest) = product::<V>(times, by);
    (of - product) - rest
}

/// A whole number of up to 106 bits in two: so many times the base, and what is left, which is about half of it at most.
#[inline(always)]
fn split<V: Vector>((high, low): (f64, f64)) -> [f64; 2] {
    let upper = nearest(high * (1.0 / BASE));
    [upper, left::<V>(high, upper, BASE) + low]
}

/// The product of two whole numbers in the same way.
#[inline(always)]
fn both<V: Vector>(one: f64, other: f64) -> [f64; 2] {
    split::<V>(product::<V>(one, other))
}

/// The sum of two decimals.
#[inline(always)]
fn sum(one: Part, other: Part) -> Part {
    let [whole, first, second] = [one[0] + other[0], one[1] + other[1], one[2] + other[2]];
    carried([whole, first, second])
}

/// The same number, with parts of no more than half of their base.
#[inline(always)]
fn carried([whole, first, second]: Part) -> Part {
    let carry = nearest(second * (1.0 / BASE));
    let (first, second) = (first + carry, second - carry * BASE);
    let carry = nearest(first * (1.0 / BASE));
    [whole + carry, first - carry * BASE, second]
}

/// A number and what is left of its division, as the nearest whole number, midpoints to the even one; and on which side of that it lies.
#[inline(always)]
fn rounded(number: f64, rest: f64, by: f64) -> (f64, f64) {
    let direction = 1f64.copysign(rest) * 1f64.copysign(by);
    let (twice, by) = (2.0 * rest.abs(), by.abs());
    let is_up = (twice > by) | ((twice == by) & is_odd(number));
    let side = if is_up { -direction } else { direction };
    (if is_up { number + direction } else { number }, if rest == 0.0 { 0.0 } else { side })
}

/// The product of two decimals, from the products of their parts.
#[inline(always)]
fn multiplied<V: Vector>([a, b, c]: Part, [d, e, f]: Part) -> (Part, f64) {
    let (af, bf, cf) = (both::<V>(a, f), both::<V>(b, f), both::<V>(c, f));
    let (ae, be, ce) = (both::<V>(a, e), both::<V>(b, e), both::<V>(c, e));
    let (bd, cd, ad) = (both::<V>(b, d), both::<V>(c, d), a * d);
    // The place that nothing is carried from has no more to say than on which side of zero it is.
    let last = cf[1];
    let behind = cf[0] + bf[1] + ce[1];
    let second = bf[0] + ce[0] + af[1] + be[1] + cd[1];
    let first = af[0] + be[0] + cd[0] + ae[1] + bd[1];
    let whole = ae[0] + bd[0];
    let is_told = ad.abs() + whole.abs() + 2.0 < WHOLE_END;
    let carry = nearest(behind * (1.0 / BASE));
    let (second, behind) = (second + carry, behind - carry * BASE);
    let [whole, first, second] = carried([ad + whole, first, second]);
    let half = if last == 0.0 { 0.0 } else { 0.5f64.copysign(last) };
    let (second, side) = rounded(second, behind + half, BASE);
    ([if is_told { whole } else { f64::NAN }, first, second], side)
}

/// The quotient of two decimals: as others are divided, with what is left in parts.
#[inline(always)]
fn divided<V: Vector>(of: Part, by: Part) -> (Part, f64) {
    let by = carried(by);
    let inverse = 1.0 / about(by);
    let whole = nearest(about(of) * inverse);
    let rest = less::<V>([0.0, of[0], of[1], of[2]], whole, by);
    let first = nearest(about(rest) * inverse * BASE);
    let rest = less::<V>([rest[0], rest[1], rest[2], 0.0], first, by);
    let second = nearest(about(rest) * inverse * BASE);
    let rest = less::<V>([rest[0], rest[1], rest[2], 0.0], second, by);
    // Twice what is left less the divisor, both without their signs, tells which way it is rounded.
    let [rest_sign, by_sign] = [sign(rest), sign(by)];
    let (twice, once) = (2.0 * rest_sign, -by_sign);
    let more =
        sum([rest[0] * twice, rest[1] * twice, rest[2] * twice], [by[0] * once, by[1] * once, by[2] * once]);
    let (second, side) = rounded(second, rest_sign * (1.0 + sign(more) * 0.5), 2.0 * by_sign);
    ([whole, first, second], side)
}

/// A binary number near to one, times the base.
#[inline(always)]
fn about([whole, first, second]: Part) -> f64 {
    whole * BASE + first + second * (1.0 / BASE)
}

/// The sign of a number whose parts are less than their base; zero of zero.
#[inline(always)]
fn sign([whole, first, second]: Part) -> f64 {
    let first = if first == 0.0 { second } else { first };
    let telling = if whole == 0.0 { first } else { whole };
    if telling == 0.0 { 0.0 } else { 1f64.copysign(telling) }
}

/// A number in four parts less so many times a divisor. That has to be about as great as the divisor.
#[inline(always)]
fn less<V: Vector>(of: [f64; 4], times: f64, by: Part) -> Part {
    let [high, low] = both::<V>(times, by[0]);
    let [first_high, first_low] = both::<V>(times, by[1]);
    let [second_high, second_low] = both::<V>(times, by[2]);
    let whole = (of[0] - high) * BASE + (of[1] - low - first_high);
    carried([whole, of[2] - first_low - second_high, of[3] - second_low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As vectors of each kind of CPU have it.
    fn by_each(act: impl Fn(Isa) -> Parts) -> Result<(), TestCaseError> {
        let bits = |parts: &Parts| {
            let told = |place: usize| {
                (!parts.wholes[place].is_nan()).then(|| parts.part(place).map(|part| part as i64))
            };
            (0..TOGETHER).map(told).collect::<Vec<_>>()
        };
        let best = bits(&act(Isa::best()));
        for isa in Isa::available() {
            prop_assert_eq!(bits(&act(isa)), best.clone(), "{:?}", isa);
        }
        Ok(())
    }

    fn numbers() -> impl Strategy<Value = Vec<i64>> {
        let number = prop_oneof![
            -1_000_000i64..1_000_000,
            (any::<i64>(), 10u32..60).prop_map(|(of, shift)| of >> shift)
        ];
        prop::collection::vec(number, TOGETHER)
    }

    proptest! {
        #[test]
        fn parts_are_the_same_by_vectors_of_each_kind(a in numbers(), b in numbers(), c in numbers(), scale in 0u32..5) {
            let shorts = |numbers: &[i64], scale| {
                let mut shorts = Shorts { scale, ..Shorts::default() };
                shorts.set(numbers, 1);
                shorts
            };
            let (dividends, divisors, factors) = (shorts(&a, 0).numbers, shorts(&b, 0).numbers, shorts(&c, scale));
            let power = factors.power().unwrap();
            let quotients = |isa: Isa| {
                let mut parts = Parts::default();
                isa.run(Divide { dividends: &dividends, divisors: &divisors, parts: &mut parts });
                parts
            };
            by_each(quotients)?;
            let of = |act: &dyn Fn(Isa, &mut Parts, &Parts)| {
                by_each(|isa| {
                    let (mut parts, others) = (quotients(isa), quotients(isa));
                    act(isa, &mut parts, &others);
                    parts
                })
            };
            of(&|isa, parts, _| isa.run(MultiplyBy { parts, factors: &factors, power }))?;
            of(&|isa, parts, _| isa.run(DivideBy { parts, divisors: &factors, power }))?;
            of(&|isa, parts, others| isa.run(Add { parts, others, sign: 1.0 }))?;
            of(&|isa, parts, others| isa.run(Multiply { parts, others }))?;
            of(&|isa, parts, others| isa.run(DivideByParts { parts, others }))?;
        }

        #[test]
        fn products_of_two_halves_are_exact(one in -(1i64 << 52)..1 << 52, other in -(1i64 << 52)..1 << 52) {
            struct Product(f64, f64);
            impl Task for Product {
                type Output = (f64, f64);

                #[inline(always)]
                fn run<V: Vector>(self, _: V) -> (f64, f64) {
                    product::<V>(self.0, self.1)
                }
            }
            for isa in Isa::available() {
                let (high, low) = isa.run(Product(one as f64, other as f64));
                prop_assert_eq!(high as i128 + low as i128, i128::from(one) * i128::from(other), "{:?}", isa);
            }
        }
    }
}
