//! Square roots of many numbers together: the digits that a power with the exponent 0.5 has, in a loop without branches that the compiler turns into vectors.

use super::reckoned::{Reckoned, SCALE_MAX};
use crate::expr::binary_power;
use crate::value::{BINARY_POWERS, WHOLE_POWERS, nearest, nearest_of};
use rust_decimal::Decimal;
use tamias_simd::{Isa, Task, Vector};

/// So many roots are taken together.
const TOGETHER: usize = 64;

/// A root has so many digits.
const DIGITS: usize = 15;

/// The places of the least roots that are told.
const PLACES_MAX: usize = DIGITS + 2;

/// So many times roots that are told have a place less.
const STEPS: usize = 10;

/// The least roots that have so many places. Of those below one the binary numbers next to them are greater, so that no root lies between.
const ENDS: [f64; PLACES_MAX] =
    [1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1e0, 1e-1, 1e-2];

/// Lesser roots have more bits behind the point than whole numbers have room for.
const LEAST: f64 = 1.0 / 256.0;

/// Greater ones have fewer places than are told.
const END: f64 = 1e8;

/// So many zeros behind them leave room in a mantissa.
const SPARE: i64 = 3;

/// The bits of a binary number's fraction.
const FRACTION_BITS: i64 = 52;

/// The exponent of a binary number whose significand is a whole number of this size.
const BIAS: i64 = 1023 + FRACTION_BITS;

/// Added to a number, it leaves the whole one next to it at the end.
const NEAR: f64 = (3u64 << (FRACTION_BITS - 1)) as f64;

/// The roots of numbers, by the rows that have one; none of a constant.
pub(super) fn roots(of: &Reckoned) -> Option<Reckoned> {
    match of {
        Reckoned::Constant { .. } => None,
        Reckoned::Numbers(numbers) => {
            let scale = numbers.scale.into();
            let base = |value: &i64| {
                nearest(*value, scale).unwrap_or_else(|| nearest_of(Decimal::new(*value, scale)))
            };
            of_bases(numbers.rows.as_deref(), numbers.values.iter().map(base))
        }
        Reckoned::Decimals(decimals) => {
            let values = decimals.values.all();
            of_bases(decimals.rows.as_deref(), values.into_iter().map(nearest_of))
        }
    }
}

fn of_bases(rows: Option<&[u32]>, mut bases: impl ExactSizeIterator<Item = f64>) -> Option<Reckoned> {
    let count = bases.len();
    let (mut digits, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
    // The places of those that have none.
    let mut without = Vec::new();
    let (mut some, mut told) = ([0.0; TOGETHER], Told::default());
    while digits.len() < count {
        let start = digits.len();
        let end = count.min(start + TOGETHER);
        some.iter_mut().zip(bases.by_ref().take(end - start)).for_each(|(place, base)| *place = base);
        Isa::best().run(Take { bases: &some, told: &mut told });
        digits.extend(told.digits.iter().take(end - start));
        places.extend(told.places.iter().take(end - start));
        for (place, base) in (start..end).zip(&some) {
            if told.are_told.get(place - start) == Some(&true) {
                continue;
            }
            let root = binary_power(*base, 0.5).ok()?;
            if root.is_none() {
                without.push(place);
            }
            let root = root.unwrap_or_default();
            *digits.get_mut(place)? = i64::try_from(root.mantissa()).ok()?;
            *places.get_mut(place)? = root.scale().into();
        }
    }
    let mut rows = rows.map(<[u32]>::to_vec);
    if !without.is_empty() {
        let mut all = rows.unwrap_or_else(|| (0..count as u32).collect());
        remove(&mut all, &without);
        remove(&mut digits, &without);
        remove(&mut places, &without);
        rows = Some(all);
    }
    Some(reckoned(rows, digits, &places))
}

/// Takes out what stands at some places, which are in order.
fn remove<T>(of: &mut Vec<T>, places: &[usize]) {
    let (mut places, mut place) = (places.iter().peekable(), 0..);
    of.retain(|_| place.next().is_none_or(|place| places.next_if_eq(&&place).is_none()));
}

/// Numbers of at most fifteen digits, or the power of ten behind these, each with its places: as mantissas where these have room for all.
fn reckoned(rows: Option<Vec<u32>>, mut digits: Vec<i64>, places: &[i64]) -> Reckoned {
    let most = places.iter().copied().max().unwrap_or(0);
    let fits = digits.iter().zip(places).all(|(digits, places)| *digits == 0 || most - places <= SPARE);
    if fits && let Some(scale) = u8::try_from(most).ok().filter(|scale| *scale <= SCALE_MAX) {
        // Of a zero it makes no difference.
        let raise = |places: &i64| WHOLE_POWERS.get((most - places) as usize).copied().unwrap_or(1);
        digits.iter_mut().zip(places).for_each(|(digits, places)| *digits *= raise(places));
        return Reckoned::computed(rows, digits, scale);
    }
    let decimals = digits.iter().zip(places).map(|(digits, places)| Decimal::new(*digits, *places as u32));
    Reckoned::decimals_of(rows, decimals.collect())
}

/// The digits and the places of some roots, and whether these are they.
struct Told {
    digits: [i64; TOGETHER],
    places: [i64; TOGETHER],
    are_told: [bool; TOGETHER],
}

impl Default for Told {
    fn default() -> Told {
        Told { digits: [0; TOGETHER], places: [0; TOGETHER], are_told: [false; TOGETHER] }
    }
}

struct Take<'t> {
    bases: &'t [f64; TOGETHER],
    told: &'t mut Told,
}

impl Task for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Take { bases, told: Told { digits, places, are_told } } = self;
        let all = digits.iter_mut().zip(places).zip(are_told).zip(bases);
        for (((digits, places), is_told), base) in all {
            (*digits, *places, *is_told) = take(*base);
        }
    }
}

/// The digits and the places of a root, and whether these are they: any numbers where not.
///
/// A power is off by a little more than half of the last bit at most, and so is it the root that the processor takes wherever that does not lie almost half way between
/// two binary numbers. Where it does, both may have the same digits.
#[inline(always)]
fn take(of: f64) -> (i64, i64, bool) {
    let root = of.sqrt();
    let (significand, exponent) = parts(of);
    let (short, half) = parts(root);
    let is_told = (LEAST..END).contains(&root);
    let (exponent, half) = if is_told { (exponent - BIAS, half - BIAS) } else { (0, 0) };
    // What the square of the nearest is off by, in units of its last bit: its last 64 bits tell it.
    let rest = (significand << (exponent - 2 * half)).wrapping_sub(short.wrapping_mul(short));
    let is_nearest = magnitude(rest).wrapping_mul(10) < 9 * short;
    let (mut places, mut power, mut wide) =
        (PLACES_MAX as i64, WHOLE_POWERS[PLACES_MAX], BINARY_POWERS[PLACES_MAX]);
    for nth in 0..STEPS {
        let fewer = PLACES_MAX - 1 - nth;
        let is_over = root >= ENDS[fewer];
        places = if is_over { fewer as i64 } else { places };
        power = if is_over { WHOLE_POWERS[fewer] } else { power };
        wide = if is_over { BINARY_POWERS[fewer] } else { wide };
    }
    let near = (root * wide + NEAR).to_bits().wrapping_sub(NEAR.to_bits()) as i64;
    // What that leaves, in units of the last bit again: of one whole there are so many.
    let unit = 1i64 << -half;
    let left = short.wrapping_mul(power).wrapping_sub(near.wrapping_mul(unit));
    let (twice, is_odd) = (magnitude(left).wrapping_mul(2), near & 1 == 1);
    let is_off = (twice > unit) | ((twice == unit) & is_odd);
    let digits = near.wrapping_add(if is_off { (left >> (i64::BITS - 1)) | 1 } else { 0 });
    // Those of the numbers next to it are the same.
    let is_alike = magnitude(twice.wrapping_sub(unit)) > 2 * power;
    (digits, places, is_told & (is_nearest | is_alike))
}

/// The significand and the exponent of a binary number that is not negative.
#[inline(always)]
fn parts(number: f64) -> (i64, i64) {
    let bits = number.to_bits() as i64;
    ((bits & ((1 << FRACTION_BITS) - 1)) | 1 << FRACTION_BITS, bits >> FRACTION_BITS)
}

#[inline(always)]
fn magnitude(number: i64) -> i64 {
    let sign = number >> (i64::BITS - 1);
    (number ^ sign).wrapping_sub(sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of all sizes; squares of short ones, and numbers next to them.
    fn base() -> impl Strategy<Value = f64> {
        let next = |number: f64, off: i64| f64::from_bits(number.to_bits().wrapping_add_signed(off));
        prop_oneof![
            (-20f64..30.0).prop_map(|power| 10f64.powf(power)),
            (0i64..1_000_000_000, 0u32..8).prop_map(|(number, scale)| nearest(number, scale).unwrap()),
            (0u64..1 << 26, -2i64..3).prop_map(move |(root, off)| next((root * root) as f64, off)),
            (-6i32..16, -2i64..3).prop_map(move |(power, off)| next(10f64.powi(power), off)),
            prop::sample::select(vec![0.0, -1.0, 1.0, f64::MIN_POSITIVE, LEAST * LEAST, END * END]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn roots_are_powers(bases in prop::collection::vec(base(), 1..200)) {
            let plain: Vec<(u32, Decimal)> = (0..)
                .zip(&bases)
                .filter_map(|(row, base)| Some((row, binary_power(*base, 0.5).unwrap()?)))
                .collect();
            let told: Vec<(u32, Decimal)> = match of_bases(None, bases.iter().copied()).unwrap() {
                Reckoned::Numbers(numbers) => {
                    let rows = numbers.rows.clone().unwrap_or((0..bases.len() as u32).collect());
                    let value = |value: &i64| Decimal::new(*value, numbers.scale.into());
                    rows.into_iter().zip(numbers.values.iter().map(value)).collect()
                }
                Reckoned::Decimals(decimals) => decimals.each().map(|(row, value)| (row as u32, value)).collect(),
                Reckoned::Constant { .. } => Vec::new(),
            };
            prop_assert_eq!(told, plain);
        }

        /// Whatever the CPU.
        #[test]
        fn most_roots_of_measured_numbers_are_told(first in 1i64..10_000_000, scale in 0u32..4) {
            let bases = std::array::from_fn(|place| nearest(first + place as i64, scale).unwrap());
            for isa in Isa::available() {
                let mut told = Told::default();
                isa.run(Take { bases: &bases, told: &mut told });
                prop_assert!(told.are_told.iter().filter(|is_told| **is_told).count() > TOGETHER / 2);
            }
        }
    }
}
