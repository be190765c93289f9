//! Numbers of a group in their order: all of them where they are few, else a sketch.

use super::sketch::{NEAR, Sketch, TOGETHER};
use crate::chunk::FewDigits;
use crate::value::{Number, compare_few, nearest};
use rust_decimal::Decimal;
use std::cmp::Ordering;

/// So many numbers of a group are kept, and ranked by their true values. Whether a group has more does not depend on how its numbers came.
pub(super) const EXACT_MAX: usize = 4096;

/// A number of at most 17 digits in eight bytes: its significand, below 2^58, times 32, and its scale, below 32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Packed(i64);

impl Packed {
    const SCALE_BITS: u32 = 5;
    const SCALES: i64 = 1 << Self::SCALE_BITS;

    /// Whether there is room for a number.
    #[inline]
    pub(super) fn has_room_for(few: &FewDigits) -> bool {
        few.significand.checked_mul(Self::SCALES).is_some() && few.scale <= Decimal::MAX_SCALE
    }

    /// A number that there is room for.
    #[inline]
    pub(super) fn new(few: &FewDigits) -> Packed {
        Packed(few.significand << Self::SCALE_BITS | (i64::from(few.scale) & (Self::SCALES - 1)))
    }

    #[inline]
    fn digits(self) -> (i64, u32) {
        (self.0 >> Self::SCALE_BITS, (self.0 & (Self::SCALES - 1)) as u32)
    }

    /// The nearest binary64.
    #[inline]
    fn nearest(self) -> f64 {
        #[cold]
        fn by_text(significand: i64, scale: u32) -> f64 {
            Number::few(significand, scale).to_f64()
        }
        let (significand, scale) = self.digits();
        nearest(significand, scale).unwrap_or_else(|| by_text(significand, scale))
    }
}

/// A number.
#[derive(Clone, Debug)]
enum Sample<'n> {
    Few(Packed),
    Other(Number<'n>),
}

impl Sample<'_> {
    /// The order of true values.
    fn compare(&self, other: &Sample<'_>) -> Ordering {
        match (self, other) {
            (Sample::Few(a), Sample::Few(b)) => compare_few(a.digits(), b.digits()),
            (a, b) => a.number().compare(&b.number()),
        }
    }

    fn number(&self) -> Number<'_> {
        match self {
            Sample::Few(few) => {
                let (significand, scale) = few.digits();
                Number::few(significand, scale)
            }
            Sample::Other(number) => number.clone(),
        }
    }

    fn nearest(&self) -> f64 {
        match self {
            Sample::Few(few) => few.nearest(),
            Sample::Other(number) => number.to_f64(),
        }
    }

    fn into_static(self) -> Sample<'static> {
        match self {
            Sample::Few(few) => Sample::Few(few),
            Sample::Other(number) => Sample::Other(number.into_static()),
        }
    }
}

/// The numbers of a group.
#[derive(Clone, Debug)]
pub(super) enum Ranked {
    /// At most [`EXACT_MAX`], in the order in which they came.
    Exact {
        few: Vec<Packed>,
        others: Vec<Number<'static>>,
        /// What the others take, about.
        others_bytes: usize,
    },
    /// More.
    Counted(Box<Counted>),
}

#[derive(Clone, Debug)]
pub(super) struct Counted {
    sketch: Sketch,
    count: u64,
    /// They are told exactly: the true ones, each with the binary64 that is nearest to it.
    least: (f64, Sample<'static>),
    greatest: (f64, Sample<'static>),
}

impl Default for Ranked {
    fn default() -> Ranked {
        Ranked::Exact { few: Vec::new(), others: Vec::new(), others_bytes: 0 }
    }
}

impl Ranked {
    /// Takes a number in: by how many bytes this grew, nearly. Should they be too many to keep all, a sketch with this error is made.
    pub(super) fn add(&mut self, number: Number<'_>, error: f64) -> usize {
        if let Some((significand, scale)) = number.few_digits() {
            return self.add_few(&[Packed::new(&FewDigits { significand, scale, at: 0 })], error);
        }
        // Going over all counts for their size is for the one time when they are made.
        if let Ranked::Counted(counted) = self {
            return counted.add(Sample::Other(number));
        }
        let before = self.heap_bytes();
        if let Some(counted) = self.counted(1, error) {
            counted.add(Sample::Other(number));
        } else if let Ranked::Exact { others, others_bytes, .. } = self {
            *others_bytes += number.weight() + size_of::<Number<'static>>();
            others.push(number.into_static());
        }
        self.heap_bytes().saturating_sub(before)
    }

    /// The same of a number that an estimate is within half of [`NEAR`] of. It is asked for only where that does not suffice.
    #[inline]
    pub(super) fn add_near(
        &mut self,
        estimate: f64,
        number: impl FnOnce() -> Number<'static>,
        error: f64,
    ) -> usize {
        let told = match self {
            Ranked::Counted(counted) => counted.add_near(estimate),
            Ranked::Exact { .. } => None,
        };
        told.unwrap_or_else(|| self.add(number(), error))
    }

    /// Takes numbers of few digits in, as [`add`](Self::add) does.
    pub(super) fn add_few(&mut self, numbers: &[Packed], error: f64) -> usize {
        numbers.chunks(TOGETHER).map(|numbers| self.add_together(numbers, error)).sum()
    }

    fn add_together(&mut self, numbers: &[Packed], error: f64) -> usize {
        match self {
            Ranked::Exact { few, others, .. } if few.len() + others.len() + numbers.len() <= EXACT_MAX => {
                let before = few.capacity();
                few.extend_from_slice(numbers);
                (few.capacity() - before) * size_of::<Packed>()
            }
            Ranked::Exact { .. } => {
                let before = self.heap_bytes();
                if let Some(counted) = self.counted(numbers.len(), error) {
                    counted.add_together(numbers);
                }
                self.heap_bytes().saturating_sub(before)
            }
            Ranked::Counted(counted) => counted.add_together(numbers),
        }
    }

    /// The counts that so many more numbers are to be added to; none where all are kept.
    fn counted(&mut self, more: usize, error: f64) -> Option<&mut Counted> {
        if let Ranked::Exact { few, others, .. } = self {
            if few.len() + others.len() + more <= EXACT_MAX {
                return None;
            }
            let (few, others) = (std::mem::take(few), std::mem::take(others));
            let mut counted = Box::new(Counted::new(error));
            few.chunks(TOGETHER).for_each(|few| _ = counted.add_together(few));
            others.into_iter().for_each(|number| _ = counted.add(Sample::Other(number)));
            *self = Ranked::Counted(counted);
        }
        match self {
            Ranked::Exact { .. } => None,
            Ranked::Counted(counted) => Some(counted),
        }
    }

    /// Takes in what `other` has taken in: by how many bytes this grew, nearly.
    pub(super) fn merge(&mut self, other: Ranked, error: f64) -> usize {
        let before = self.heap_bytes();
        match other {
            Ranked::Exact { few, others, .. } => {
                self.add_few(&few, error);
                others.into_iter().for_each(|number| _ = self.add(number, error));
            }
            Ranked::Counted(other) => {
                // So many that they are surely counted.
                if let Some(counted) = self.counted(EXACT_MAX + 1, error) {
                    counted.merge(*other);
                }
            }
        }
        self.heap_bytes().saturating_sub(before)
    }

    /// How many numbers there are.
    pub(super) fn count(&self) -> u64 {
        match self {
            Ranked::Exact { few, others, .. } => (few.len() + others.len()) as u64,
            Ranked::Counted(counted) => counted.count,
        }
    }

    /// The number at a place in their order, from 1: a true one if all are kept, and at both ends; else within the error.
    pub(super) fn at(&self, rank: u64) -> Option<Number<'static>> {
        match self {
            Ranked::Exact { few, others, .. } => {
                let few = few.iter().map(|few| Sample::Few(*few));
                let mut all: Vec<Sample<'_>> = few.chain(others.iter().cloned().map(Sample::Other)).collect();
                let at = usize::try_from(rank.checked_sub(1)?).ok().filter(|at| *at < all.len())?;
                let (_, sample, _) = all.select_nth_unstable_by(at, Sample::compare);
                Some(sample.number().computed())
            }
            Ranked::Counted(counted) => counted.at(rank),
        }
    }

    /// The smallest number that at least `p` percent of all do not exceed, `p` from 0 to 100: the nearest-rank definition. None without
    /// numbers.
    pub(super) fn percentile(&self, p: f64) -> Option<Number<'static>> {
        self.at(rank(p, self.count())?)
    }

    /// Bytes on the heap, nearly.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Ranked::Exact { few, others_bytes, .. } => few.capacity() * size_of::<Packed>() + others_bytes,
            Ranked::Counted(counted) => size_of::<Counted>() + counted.sketch.heap_bytes(),
        }
    }
}

impl Counted {
    fn new(error: f64) -> Counted {
        let none = |end| (end, Sample::Few(Packed(0)));
        Counted {
            sketch: Sketch::new(error),
            count: 0,
            least: none(f64::INFINITY),
            greatest: none(f64::NEG_INFINITY),
        }
    }

    /// By how many bytes this grew, nearly.
    fn add(&mut self, sample: Sample<'_>) -> usize {
        let nearest = sample.nearest();
        let grown = self.sketch.add(&sample.number(), nearest);
        self.widen(nearest, || sample);
        grown
    }

    /// Counts a number that is near to this one, and surely neither the least nor the greatest; none where it takes the number itself to tell.
    #[inline]
    fn add_near(&mut self, estimate: f64) -> Option<usize> {
        let slack = estimate.abs() * NEAR;
        let is_between = self.least.0 < estimate - slack && estimate + slack < self.greatest.0;
        let grown = self.sketch.add_near(Some(estimate).filter(|_| is_between)?)?;
        self.count += 1;
        Some(grown)
    }

    /// Notes a number if it is the least or the greatest, and counts it.
    fn widen<'n>(&mut self, nearest: f64, sample: impl FnOnce() -> Sample<'n>) {
        let is_first = self.count == 0;
        self.count += 1;
        // Numbers with the same nearest binary64 may differ.
        if is_first || nearest <= self.least.0 || nearest >= self.greatest.0 {
            let sample = sample().into_static();
            if is_first || sample.compare(&self.least.1).is_lt() {
                self.least = (nearest, sample.clone());
            }
            if is_first || sample.compare(&self.greatest.1).is_gt() {
                self.greatest = (nearest, sample);
            }
        }
    }

    /// At most [`TOGETHER`].
    fn add_together(&mut self, numbers: &[Packed]) -> usize {
        let mut values = [0.0; TOGETHER];
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (value, number) in values.iter_mut().zip(numbers) {
            *value = number.nearest();
            least = if *value < least { *value } else { least };
            greatest = if *value > greatest { *value } else { greatest };
        }
        let values = values.get(..numbers.len()).unwrap_or_default();
        if least <= self.least.0 || greatest >= self.greatest.0 {
            let each = numbers.iter().zip(values);
            each.for_each(|(number, value)| self.widen(*value, || Sample::Few(*number)));
        } else {
            self.count += numbers.len() as u64;
        }
        if least > 0.0 {
            return self.sketch.add_positive(values);
        }
        values.iter().map(|value| self.sketch.add_normal(*value)).sum()
    }

    fn merge(&mut self, other: Counted) {
        self.sketch.merge(&other.sketch);
        let count = self.count + other.count;
        for (nearest, sample) in [other.least, other.greatest] {
            self.widen(nearest, || sample);
        }
        self.count = count;
    }

    fn at(&self, rank: u64) -> Option<Number<'static>> {
        let (least, greatest) = (self.least.1.number(), self.greatest.1.number());
        if rank <= 1 {
            return Some(least.computed());
        }
        if rank >= self.count {
            return Some(greatest.computed());
        }
        // The middle of a bucket may be beyond all that fell into it.
        let told = self.sketch.at(rank)?;
        Some(if told.compare(&least).is_lt() {
            least.computed()
        } else if told.compare(&greatest).is_gt() {
            greatest.computed()
        } else {
            told
        })
    }
}

/// The place of a percentile among `count` sorted values, from 1.
fn rank(p: f64, count: u64) -> Option<u64> {
    if count == 0 || p.is_nan() {
        return None;
    }
    let exact = p * count as f64 / 100.0;
    // A product such as 99.9 * 1000 may come out just above the whole number that it is.
    let near = exact.round();
    let rank = if (exact - near).abs() <= 1e-12 * exact.abs() { near } else { exact.ceil() };
    Some((rank as u64).clamp(1, count))
}

#[cfg(test)]
mod tests;
