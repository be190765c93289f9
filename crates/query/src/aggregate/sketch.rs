//! Percentiles with a bounded relative error, in bounded memory.
//!
//! This is DDSketch (Masson, Rim, Lee: *DDSketch: a fast and fully-mergeable quantile sketch with relative-error
//! guarantees*, PVLDB 12(12), 2019, <https://arxiv.org/abs/1908.10693>). A value falls into a bucket by its logarithm, and the
//! bounds of a bucket are no farther from each other than `(1 + error) / (1 - error)`, so that one value stands for all of a bucket
//! within the error, and a percentile is found by counting through the buckets in order.
//!
//! As in its authors' own libraries the logarithm is not computed but interpolated between the powers of two: it costs some
//! multiplications, and one bucket more in a hundred.
//!
//! Two things differ from the paper. No buckets are ever collapsed: those of a whole binary64 are few enough (1% of error: 140,000 for
//! each sign, of 8 bytes), and only the pages of them are held that something fell into. And numbers that are no normal binary64 fall
//! into buckets by their first digits and their power of ten.

use crate::value::Number;
use std::collections::BTreeMap;

/// What is promised is kept in spite of rounding in the logarithms, which is below 10^-12 of a value.
const ROUNDING_SLACK: f64 = 1e-6;

/// So many values are taken in together.
pub(super) const TOGETHER: usize = 64;

/// A number is near to another one if they differ by no more than this share of it.
pub(super) const NEAR: f64 = 4e-15;

/// How many numbers fell into each bucket: a summary of them.
///
/// It depends on the numbers alone, not on their order, nor on how they were spread over merged sketches.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    scale: Scale,
    negative: Side,
    zero: u64,
    positive: Side,
}

/// The numbers of one sign, by their magnitudes.
#[derive(Clone, Debug, Default)]
struct Side {
    /// Those that are no normal binary64.
    far: BTreeMap<Far, u64>,
    counts: Counts,
}

/// The magnitude of a number by the power of ten of its first digit, and its first digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Far {
    power: i64,
    digits: u32,
}

/// What a bucket of far numbers takes, about.
const FAR_BYTES: usize = 2 * size_of::<(Far, u64)>();

/// The value that stands for a bucket: so much, times a power of ten.
type Middle = (f64, i64);

impl Sketch {
    /// A sketch that tells numbers with an error of at most `error` of each, 0.0001 to 0.5; an error outside that is taken as the nearest
    /// in it.
    pub(super) fn new(error: f64) -> Sketch {
        Sketch {
            scale: Scale::new(error.clamp(0.0001, 0.5)),
            negative: Side::default(),
            zero: 0,
            positive: Side::default(),
        }
    }

    /// Counts a number, of which this is the nearest binary64: by how many bytes the sketch grew, nearly.
    pub(super) fn add(&mut self, number: &Number<'_>, nearest: f64) -> usize {
        if nearest.is_normal() {
            return self.add_normal(nearest);
        }
        let Some((is_negative, far)) = Far::of(number) else {
            self.zero += 1;
            return 0;
        };
        let side = if is_negative { &mut self.negative } else { &mut self.positive };
        let before = side.far.len();
        *side.far.entry(far).or_default() += 1;
        (side.far.len() - before) * FAR_BYTES
    }

    /// Counts a normal number, or zero, as [`add`](Self::add) does.
    #[inline]
    pub(super) fn add_normal(&mut self, value: f64) -> usize {
        if value == 0.0 {
            self.zero += 1;
            return 0;
        }
        let side = if value < 0.0 { &mut self.negative } else { &mut self.positive };
        side.counts.add(self.scale.bucket(value.abs()), 1)
    }

    /// Counts a number that this one is within [`NEAR`] of, as [`add`](Self::add) does; none where it takes the number itself to tell its bucket.
    #[inline]
    pub(super) fn add_near(&mut self, value: f64) -> Option<usize> {
        let side = if value < 0.0 { &mut self.negative } else { &mut self.positive };
        let bucket = self.scale.bucket_of_near(Some(value.abs()).filter(|size| size.is_normal())?)?;
        Some(side.counts.add(bucket, 1))
    }

    /// Counts at most [`TOGETHER`] positive, normal numbers, which is quicker than one by one.
    pub(super) fn add_positive(&mut self, values: &[f64]) -> usize {
        // All buckets are known before the first is counted in: else the processor, which cannot tell yet whether the next value has
        // the same bucket, waits for each.
        let mut buckets = [0; TOGETHER];
        for (bucket, value) in buckets.iter_mut().zip(values) {
            *bucket = self.scale.bucket(*value);
        }
        buckets.iter().zip(values).map(|(bucket, _)| self.positive.counts.add(*bucket, 1)).sum()
    }

    /// Counts what `other` has counted. Both must have been made with the same error.
    pub(super) fn merge(&mut self, other: &Sketch) {
        debug_assert!(self.scale == other.scale, "sketches with different errors have different buckets");
        self.zero += other.zero;
        for (side, other) in [(&mut self.negative, &other.negative), (&mut self.positive, &other.positive)] {
            for (far, count) in &other.far {
                *side.far.entry(*far).or_default() += count;
            }
            for (bucket, count) in other.counts.rising() {
                side.counts.add(bucket, count);
            }
        }
    }

    /// The number at a place among all in their order, from 1, within the error and with no more digits than that leaves room for.
    pub(super) fn at(&self, rank: u64) -> Option<Number<'static>> {
        let below =
            self.negative.rising(self.scale).rev().map(|((value, power), count)| ((-value, power), count));
        let above = self.positive.rising(self.scale);
        let mut reached = 0;
        let mut rising = below.chain([((0.0, 0), self.zero)]).chain(above);
        let (middle, _) = rising.find(|(_, count)| {
            reached += count;
            reached >= rank
        })?;
        Some(self.scale.shown(middle))
    }

    /// Bytes on the heap, nearly.
    pub(super) fn heap_bytes(&self) -> usize {
        let sides = [&self.negative, &self.positive];
        sides.map(|side| side.counts.heap_bytes() + side.far.len() * FAR_BYTES).iter().sum()
    }
}

impl Side {
    /// The buckets that hold something, in their order.
    fn rising(&self, scale: Scale) -> impl DoubleEndedIterator<Item = (Middle, u64)> {
        // Between numbers that are too small for a binary64 and those that are too large.
        let one = Far { power: 0, digits: 0 };
        let middle = |(far, count): (&Far, &u64)| (far.middle(), *count);
        let counted = self.counts.rising().map(move |(bucket, count)| ((scale.value(bucket), 0), count));
        self.far.range(..one).map(middle).chain(counted).chain(self.far.range(one..).map(middle))
    }
}

impl Far {
    /// So many digits tell buckets apart.
    const DIGITS: usize = 6;

    /// The magnitude of a number, and whether it is negative; none of zero.
    fn of(number: &Number<'_>) -> Option<(bool, Far)> {
        let mut canonical = Vec::new();
        number.canonical(&mut canonical);
        let text = String::from_utf8(canonical).ok()?;
        let (digits, power) = text.split_once('e')?;
        let (is_negative, digits) = match digits.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, digits),
        };
        let power = power.parse::<i64>().ok()?.saturating_add(digits.len() as i64 - 1);
        let first = digits.get(..Self::DIGITS).unwrap_or(digits);
        let digits = format!("{first:0<width$}", width = Self::DIGITS).parse().ok()?;
        Some((is_negative, Far { power, digits }))
    }

    fn middle(&self) -> Middle {
        ((f64::from(self.digits) + 0.5) / 1e5, self.power)
    }
}

/// Which bucket a magnitude belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    /// Buckets for each doubling.
    buckets: f64,
    /// From a bucket's upper bound to the value that stands for it: a factor below 1.
    centre: f64,
    /// The digits that are shown of a value.
    digits: usize,
}

/// The logarithm to the base 2 of 1 + s is nearly `(CUBE * s + SQUARE) * s + LINE) * s`, for s from 0 to 1: exact at both ends, rising
/// everywhere, and nowhere less steep than `LINE` times the natural logarithm (at 0 and at two thirds just that).
const CUBE: f64 = 6.0 / 35.0;
const SQUARE: f64 = -3.0 / 5.0;
const LINE: f64 = 10.0 / 7.0;

/// Added to a number, it leaves no room for a fraction.
const ROUNDING: f64 = 1.5 * (1u64 << MANTISSA_BITS) as f64;

const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const MANTISSA: u64 = (1 << MANTISSA_BITS) - 1;

impl Scale {
    /// The scale by which a number is told with this relative error.
    ///
    /// About half of it comes of the buckets, and half of rounding to the digits that are shown.
    fn new(error: f64) -> Scale {
        let digits = (-error.log10()).ceil() + 1.0;
        let rounding = 0.5 * 10f64.powf(1.0 - digits);
        // (1 + error of buckets) * (1 + rounding) = 1 + error.
        let error = (error - rounding) / (1.0 + rounding) * (1.0 - ROUNDING_SLACK);
        let width = ((1.0 + error) / (1.0 - error)).ln();
        Scale { buckets: 1.0 / (width * LINE), centre: 1.0 - error, digits: digits as usize }
    }

    /// The value of a bucket with the digits that hold.
    fn shown(self, (value, power): Middle) -> Number<'static> {
        let rounded = format!("{value:.*e}", self.digits - 1);
        let (digits, own) = rounded.split_once('e').unwrap_or((&rounded, "0"));
        let power = power.saturating_add(own.parse().unwrap_or_default());
        Number::Shared(format!("{digits}e{power}").into()).computed()
    }

    /// The bucket of a positive, normal number: the whole number that is nearest to its place.
    #[inline]
    fn bucket(self, size: f64) -> i32 {
        // The sum has no bits for a fraction, and its lowest are those of the whole number.
        (self.place(size) + ROUNDING).to_bits() as i32
    }

    /// The bucket of all numbers that are within [`NEAR`] of one; none if they may have two.
    #[inline]
    fn bucket_of_near(self, size: f64) -> Option<i32> {
        let place = self.place(size);
        let rounded = place + ROUNDING;
        // Both what they differ by and what is rounded on the way to their places is far less.
        let is_told = (place - (rounded - ROUNDING)).abs() < 0.5 - 1e-6;
        is_told.then_some(rounded.to_bits() as i32)
    }

    #[inline]
    fn place(self, size: f64) -> f64 {
        let bits = size.to_bits();
        let exponent = (bits >> MANTISSA_BITS) as i32 - (f64::MAX_EXP - 1);
        let s = f64::from_bits(bits & MANTISSA | 1f64.to_bits()) - 1.0;
        (f64::from(exponent) + ((CUBE * s + SQUARE) * s + LINE) * s) * self.buckets
    }

    /// The value that stands for a bucket.
    fn value(self, bucket: i32) -> f64 {
        let upper = (f64::from(bucket) + 0.5) / self.buckets;
        let exponent = upper.floor();
        let wanted = upper - exponent;
        // Newton's method: the curve bends so little that each step doubles the digits.
        let s = (0..6).fold(wanted, |s, _| {
            let over = ((CUBE * s + SQUARE) * s + LINE) * s - wanted;
            s - over / ((3.0 * CUBE * s + 2.0 * SQUARE) * s + LINE)
        });
        // Of the bounds u/r and u, with r = (1 + e) / (1 - e), the value u * (1 - e) is at most e away, relatively, from both:
        // from the lower one by (1 + e) - 1, from the upper one by e. The bound itself may be too large for a number.
        (1.0 + s) * self.centre * 2.0 * (exponent - 1.0).exp2()
    }
}

const PAGE_BUCKETS: i32 = 64;
type Page = Box<[u64; PAGE_BUCKETS as usize]>;
const PAGE_BYTES: usize = size_of::<[u64; PAGE_BUCKETS as usize]>();

/// How many values each bucket has.
#[derive(Clone, Debug, Default)]
struct Counts {
    /// The number of the first page.
    first: i32,
    /// From the first page that is held to the last.
    pages: Vec<Option<Page>>,
}

/// So many pages are made room for below the least at most.
const SPARE_PAGES_MAX: usize = 1 << 16;

impl Counts {
    /// By how many bytes it grew, nearly.
    #[inline]
    fn add(&mut self, bucket: i32, count: u64) -> usize {
        let (page, at) = (bucket.div_euclid(PAGE_BUCKETS), bucket.rem_euclid(PAGE_BUCKETS) as usize);
        let held = usize::try_from(page - self.first).ok().and_then(|page| self.pages.get_mut(page));
        if let Some(Some(counts)) = held {
            counts[at] += count;
            return 0;
        }
        self.grow(page, at, count)
    }

    #[cold]
    fn grow(&mut self, page: i32, at: usize, count: u64) -> usize {
        let pages = self.pages.len();
        if self.pages.is_empty() {
            self.first = page;
        }
        if let Ok(missing @ 1..) = usize::try_from(self.first - page) {
            // As many again, so that numbers that fall move the pages seldom.
            let missing = missing.max(self.pages.len().min(SPARE_PAGES_MAX));
            self.first -= missing as i32;
            self.pages.splice(0..0, (0..missing).map(|_| None));
        }
        let place = usize::try_from(page - self.first).unwrap_or(0);
        if place >= self.pages.len() {
            self.pages.resize(place + 1, None);
        }
        let grown = (self.pages.len() - pages) * size_of::<Option<Page>>();
        let Some(held) = self.pages.get_mut(place) else { return grown };
        let mut counts = Box::new([0; PAGE_BUCKETS as usize]);
        counts[at] = count;
        *held = Some(counts);
        grown + PAGE_BYTES
    }

    /// The buckets that hold something, in their order.
    fn rising(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> {
        let pages = (self.first..self.first + self.pages.len() as i32).zip(&self.pages);
        pages.filter_map(|(page, counts)| Some((page, counts.as_deref()?))).flat_map(|(page, counts)| {
            let buckets = page * PAGE_BUCKETS..(page + 1) * PAGE_BUCKETS;
            buckets.zip(counts.iter().copied()).filter(|(_, count)| *count > 0)
        })
    }

    fn heap_bytes(&self) -> usize {
        let held = self.pages.iter().flatten().count();
        self.pages.len() * size_of::<Option<Page>>() + held * PAGE_BYTES
    }
}
