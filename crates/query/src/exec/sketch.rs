//! Percentiles with a bounded relative error, in bounded memory, from values in any order.
//!
//! The sketch is DDSketch's: values are counted in buckets whose bounds grow by γ = (1 + e) / (1 - e), so that the middle of
//! a bucket is within the relative error e of each value in it.

use crate::value::Number;
use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};
use std::collections::BTreeMap;

pub(super) struct Sketch {
    p: f64,
    gamma_log: f64,
    gamma: f64,
    positive: BTreeMap<i32, u64>,
    negative: BTreeMap<i32, u64>,
    zeros: u64,
    /// The extremes are exact.
    least: Option<Decimal>,
    greatest: Option<Decimal>,
}

/// What a bucket costs, about.
const BUCKET_BYTES: usize = 32;

impl Sketch {
    pub(super) fn new(p: f64, error: f64) -> Sketch {
        let gamma = (1.0 + error) / (1.0 - error);
        Sketch {
            p,
            gamma_log: gamma.ln(),
            gamma,
            positive: BTreeMap::new(),
            negative: BTreeMap::new(),
            zeros: 0,
            least: None,
            greatest: None,
        }
    }

    /// By how many bytes the sketch grew. Numbers that no decimal holds are passed over.
    pub(super) fn add(&mut self, number: &Number<'_>) -> usize {
        let Some(decimal) = number.decimal() else {
            return 0;
        };
        self.least = Some(self.least.map_or(decimal, |least| least.min(decimal)));
        self.greatest = Some(self.greatest.map_or(decimal, |greatest| greatest.max(decimal)));
        let value = decimal.to_f64().unwrap_or(0.0);
        if value == 0.0 {
            self.zeros += 1;
            return 0;
        }
        let bucket = (value.abs().ln() / self.gamma_log).ceil() as i32;
        let buckets = if value > 0.0 { &mut self.positive } else { &mut self.negative };
        let count = buckets.entry(bucket).or_insert(0);
        *count += 1;
        if *count == 1 { BUCKET_BYTES } else { 0 }
    }

    /// The value below or at which p percent of the values lie: that of rank ⌈p/100 × n⌉, from 1.
    pub(super) fn value(&self) -> Option<Decimal> {
        let (least, greatest) = (self.least?, self.greatest?);
        let count: u64 =
            self.zeros + self.positive.values().sum::<u64>() + self.negative.values().sum::<u64>();
        let rank = ((self.p / 100.0 * count as f64).ceil() as u64).clamp(1, count);
        if rank == 1 {
            return Some(least);
        }
        if rank == count {
            return Some(greatest);
        }
        let middle = |bucket: i32| 2.0 * self.gamma.powi(bucket) / (self.gamma + 1.0);
        let negative = self.negative.iter().rev().map(|(&bucket, &count)| (-middle(bucket), count));
        let positive = self.positive.iter().map(|(&bucket, &count)| (middle(bucket), count));
        let mut below = 0;
        for (value, count) in negative.chain([(0.0, self.zeros)]).chain(positive) {
            below += count;
            if below >= rank {
                return Decimal::from_f64(value)?.round_sf(15).map(|value| value.clamp(least, greatest));
            }
        }
        Some(greatest)
    }
}
