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
//! Two things differ from the paper. No buckets are ever collapsed: those of a whole binary64 are few enough (1% of error: 72,000 for
//! each sign, of 8 bytes), and only the pages of them are held that something fell into. And the first [`EXACT_MAX`] values are kept as
//! they are, so that small groups, which are many, are small and exact.

/// So many values are kept exactly.
pub(super) const EXACT_MAX: usize = 64;

/// What [`Sketch::percentile`] promises is kept in spite of rounding in the logarithms, which is below 10^-12 of a value.
const ROUNDING_SLACK: f64 = 1e-6;

/// So many values are taken in together.
const TOGETHER: usize = 64;

/// A summary of numbers that tells their percentiles.
///
/// What it answers depends on the values alone, not on their order, nor on how they were spread over merged sketches.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    scale: Scale,
    count: u64,
    least: f64,
    greatest: f64,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    /// At most [`EXACT_MAX`], in the order in which they came.
    Exact(Vec<f64>),
    /// How many values fell into each bucket of their magnitudes.
    Counted { negative: Counts, zero: u64, positive: Counts },
}

impl Sketch {
    /// A sketch whose answers deviate from the true ones by at most `error` of those, 0.0001 to 0.5; an error outside that
    /// is taken as the nearest in it.
    pub(super) fn new(error: f64) -> Sketch {
        Sketch {
            scale: Scale::new(error.clamp(0.0001, 0.5) * (1.0 - ROUNDING_SLACK)),
            count: 0,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            values: Values::Exact(Vec::new()),
        }
    }

    /// Takes `value` in: by how many bytes the sketch grew, nearly. NaN counts for nothing, an infinity as the greatest or
    /// least finite number.
    #[inline]
    pub(super) fn add(&mut self, value: f64) -> usize {
        if value.is_nan() {
            return 0;
        }
        // Adding 0 makes a negative zero positive.
        let value = value.clamp(f64::MIN, f64::MAX) + 0.0;
        self.count += 1;
        // Which is rare.
        if value < self.least {
            self.least = value;
        }
        if value > self.greatest {
            self.greatest = value;
        }
        match self.values {
            Values::Counted { .. } => self.values.count_in(self.scale, value),
            Values::Exact(_) => self.keep(value),
        }
    }

    /// Takes several values in, which is quicker than one by one: by how many bytes the sketch grew, nearly.
    pub(super) fn add_all(&mut self, values: &[f64]) -> usize {
        values.chunks(TOGETHER).map(|values| self.add_few(values)).sum()
    }

    /// At most [`TOGETHER`].
    fn add_few(&mut self, values: &[f64]) -> usize {
        let (mut least, mut greatest, mut are_positive) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for &value in values {
            least = if value < least { value } else { least };
            greatest = if value > greatest { value } else { greatest };
            are_positive &= value >= f64::MIN_POSITIVE;
        }
        let Values::Counted { positive, .. } = &mut self.values else {
            return values.iter().map(|value| self.add(*value)).sum();
        };
        if !are_positive || greatest > f64::MAX {
            return values.iter().map(|value| self.add(*value)).sum();
        }
        self.count += values.len() as u64;
        self.least = self.least.min(least);
        self.greatest = self.greatest.max(greatest);
        // All buckets are known before the first is counted in: else the processor, which cannot tell yet whether the next value has
        // the same bucket, waits for each.
        let mut buckets = [0; TOGETHER];
        for (bucket, value) in buckets.iter_mut().zip(values) {
            *bucket = self.scale.bucket(*value);
        }
        buckets.iter().zip(values).map(|(bucket, _)| positive.add(*bucket, 1)).sum()
    }

    /// Keeps a value as it is, as long as they are few.
    #[cold]
    fn keep(&mut self, value: f64) -> usize {
        let bytes = self.heap_bytes();
        match &mut self.values {
            Values::Exact(values) if values.len() < EXACT_MAX => values.push(value),
            values => {
                values.spill(self.scale);
                values.count_in(self.scale, value);
            }
        }
        self.heap_bytes().saturating_sub(bytes)
    }

    /// Takes in what `other` has taken in. Both must have been made with the same error.
    pub(super) fn merge(&mut self, other: &Sketch) {
        debug_assert!(self.scale == other.scale, "sketches with different errors have different buckets");
        self.values.merge(&other.values, self.scale);
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The smallest value that at least `p` percent of all values do not exceed, `p` from 0 to 100, within the sketch's error:
    /// the nearest-rank definition, so the answer stands for one of the values and lies between the least and the greatest.
    /// None without values.
    ///
    /// Magnitudes below 10^-307 or so, those of subnormal numbers, are taken as zero.
    pub(super) fn percentile(&self, p: f64) -> Option<f64> {
        let rank = rank(p, self.count)?;
        if rank == 1 {
            return Some(self.least);
        }
        if rank == self.count {
            return Some(self.greatest);
        }
        let value = match &self.values {
            Values::Exact(values) => {
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                return usize::try_from(rank - 1).ok().and_then(|at| sorted.get(at).copied());
            }
            Values::Counted { negative, zero, positive } => {
                let value = |bucket| self.scale.value(bucket);
                let below = negative.rising().rev().map(|(bucket, count)| (-value(bucket), count));
                let above = positive.rising().map(|(bucket, count)| (value(bucket), count));
                let mut reached = 0;
                let mut rising = below.chain([(0.0, *zero)]).chain(above);
                rising.find(|(_, count)| {
                    reached += count;
                    reached >= rank
                })?
            }
        };
        Some(value.0.clamp(self.least, self.greatest))
    }

    /// Bytes on the heap, nearly.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.values {
            Values::Exact(values) => values.capacity() * size_of::<f64>(),
            Values::Counted { negative, positive, .. } => negative.heap_bytes() + positive.heap_bytes(),
        }
    }
}

impl Values {
    /// From exact values to counts.
    fn spill(&mut self, scale: Scale) {
        if let Values::Exact(values) = self {
            let values = std::mem::take(values);
            let none = || Counts { first: 0, pages: Vec::new() };
            *self = Values::Counted { negative: none(), zero: 0, positive: none() };
            for value in values {
                self.count_in(scale, value);
            }
        }
    }

    /// Counts a finite value: by how many bytes the counts grew.
    #[inline]
    fn count_in(&mut self, scale: Scale, value: f64) -> usize {
        let Values::Counted { negative, zero, positive } = self else { return 0 };
        let size = value.abs();
        if size < f64::MIN_POSITIVE {
            *zero += 1;
            return 0;
        }
        let counts = if value < 0.0 { negative } else { positive };
        counts.add(scale.bucket(size), 1)
    }

    fn merge(&mut self, other: &Values, scale: Scale) {
        if let (Values::Exact(values), Values::Exact(others)) = (&mut *self, other)
            && values.len() + others.len() <= EXACT_MAX
        {
            values.extend_from_slice(others);
            return;
        }
        self.spill(scale);
        match (self, other) {
            (own, Values::Exact(others)) => {
                for value in others {
                    own.count_in(scale, *value);
                }
            }
            (
                Values::Counted { negative, zero, positive },
                Values::Counted { negative: less, zero: zeros, positive: more },
            ) => {
                *zero += zeros;
                for (own, other) in [(negative, less), (positive, more)] {
                    for (bucket, count) in other.rising() {
                        own.add(bucket, count);
                    }
                }
            }
            (Values::Exact(_), _) => {}
        }
    }
}

/// Which bucket a magnitude belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    /// Buckets for each doubling.
    buckets: f64,
    /// From a bucket's upper bound to the value that stands for it: a factor below 1.
    centre: f64,
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
    /// The scale whose buckets have a value each that is at most `error` away from all of the bucket, relatively.
    fn new(error: f64) -> Scale {
        let width = ((1.0 + error) / (1.0 - error)).ln();
        Scale { buckets: 1.0 / (width * LINE), centre: 1.0 - error }
    }

    /// The bucket of a positive, normal number: the whole number that is nearest to its place.
    #[inline]
    fn bucket(self, size: f64) -> i32 {
        let bits = size.to_bits();
        let exponent = (bits >> MANTISSA_BITS) as i32 - (f64::MAX_EXP - 1);
        let s = f64::from_bits(bits & MANTISSA | 1f64.to_bits()) - 1.0;
        let place = (f64::from(exponent) + ((CUBE * s + SQUARE) * s + LINE) * s) * self.buckets;
        // The sum has no bits for a fraction, and its lowest are those of the whole number.
        (place + ROUNDING).to_bits() as i32
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
#[derive(Clone, Debug)]
struct Counts {
    /// The number of the first page.
    first: i32,
    /// From the first page that is held to the last.
    pages: Vec<Option<Page>>,
}

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
            self.first = page;
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
