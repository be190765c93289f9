//! Many numbers at once in units of the last place that a decimal has, for sums.

use super::parts::{DIGITS, Each, NEAR, Parts, TOGETHER};
use crate::value::WHOLE_POWERS;
use std::ops::Range;
use tamias_simd::{Isa, Task, Vector};

const HALF: i128 = WHOLE_POWERS[DIGITS] as i128;

/// What the numbers at some places come to, times 10^28.
pub(crate) enum Units<'u> {
    /// All of them together, in parts of fourteen digits.
    Sum([i64; 3]),
    /// One after the other.
    Each(&'u EachUnits),
}

/// So many numbers in parts may be added up: no part is greater than 10^14.
pub(crate) const SUMMED_MAX: usize = 1 << 16;

/// Some numbers in parts of fourteen digits, of which [`SUMMED_MAX`] have room for their sums.
pub(crate) struct EachUnits {
    wholes: [i64; TOGETHER],
    firsts: [i64; TOGETHER],
    seconds: [i64; TOGETHER],
}

/// Stands for a number that it takes more to tell.
const UNTOLD: i64 = i64::MIN;

impl EachUnits {
    /// The parts of a number; none where it takes more to tell.
    #[inline]
    pub(crate) fn parts(&self, nth: usize) -> Option<[i64; 3]> {
        let whole = self.wholes.get(nth).copied().filter(|whole| *whole != UNTOLD)?;
        Some([whole, *self.firsts.get(nth)?, *self.seconds.get(nth)?])
    }

    /// A number; none where it takes more to tell.
    #[inline]
    pub(crate) fn units(&self, nth: usize) -> Option<i128> {
        self.parts(nth).and_then(units_of)
    }
}

/// The number that parts, or sums of them, come to; none where that is too long.
#[inline]
pub(crate) fn units_of([whole, first, second]: [i64; 3]) -> Option<i128> {
    /// So many times 10^28 have room beside the other parts.
    const WHOLE_END: u64 = 10_000_000_000;
    let units = || (i128::from(whole) * HALF + i128::from(first)) * HALF + i128::from(second);
    (whole.unsigned_abs() < WHOLE_END).then(units)
}

/// Calls `act` for so many numbers, some after the others, by their places, with what they come to: with their sums, where these suffice. `tell` sets parts to those at
/// some places, where they can be told.
pub(super) fn each_units(
    count: usize,
    are_sums: bool,
    mut tell: impl FnMut(Range<usize>, &mut Parts) -> Option<()>,
    mut act: impl FnMut(Range<usize>, Units<'_>),
) {
    let [wholes, firsts, seconds] = [[UNTOLD; TOGETHER]; 3];
    let mut each = EachUnits { wholes, firsts, seconds };
    let (isa, mut parts) = (Isa::best(), Parts::default());
    for start in (0..count).step_by(TOGETHER) {
        let places = start..count.min(start + TOGETHER);
        let are_told = tell(places.clone(), &mut parts).is_some();
        if are_sums
            && are_told
            && let Some(sums) = isa.run(Sum { parts: &parts, count: places.len() })
        {
            act(places, Units::Sum(sums));
            continue;
        }
        match are_told {
            true => isa.run(Tell { parts: &parts, each: &mut each }),
            false => each.wholes = [UNTOLD; TOGETHER],
        }
        act(places, Units::Each(&each));
    }
}

/// Adds up the parts of the first of some numbers; none where one of these is not told.
struct Sum<'p> {
    parts: &'p Parts,
    count: usize,
}

impl Task for Sum<'_> {
    type Output = Option<[i64; 3]>;

    #[inline(always)]
    fn run<V: Vector>(self, _: V) -> Option<[i64; 3]> {
        let Sum { parts, count } = self;
        let (whole, first, second) =
            (sum(&parts.wholes, count), sum(&parts.firsts, count), sum(&parts.seconds, count));
        (!whole.is_nan()).then_some([whole as i64, first as i64, second as i64])
    }
}

/// So few whole numbers below 2^47 that their sum is exact: the first of some.
#[inline(always)]
fn sum(numbers: &Each, count: usize) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    if count < TOGETHER {
        return numbers.iter().take(count).sum();
    }
    for start in (0..TOGETHER).step_by(LANES) {
        for lane in 0..LANES {
            sums[lane] += numbers[start + lane];
        }
    }
    sums.iter().sum()
}

struct Tell<'p> {
    parts: &'p Parts,
    each: &'p mut EachUnits,
}

impl Task for Tell<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, _: V) {
        let Tell { parts, each } = self;
        for place in 0..TOGETHER {
            let whole = parts.wholes[place];
            each.wholes[place] = if whole.is_nan() { UNTOLD } else { whole_of(whole) };
            each.firsts[place] = whole_of(parts.firsts[place]);
            each.seconds[place] = whole_of(parts.seconds[place]);
        }
    }
}

/// A whole number below 2^51 by the last bits of a greater one.
#[inline(always)]
fn whole_of(number: f64) -> i64 {
    (number + NEAR).to_bits().wrapping_sub(NEAR.to_bits()) as i64
}
