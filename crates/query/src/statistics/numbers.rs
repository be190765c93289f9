//! The numbers of a key: their range and their exact sum.

use super::list::List;
use super::occurrence::Occurrence;
use crate::value::Number;
use tamias_json::number::{few_digits, few_digits_at};

pub(super) struct Numbers<'d> {
    pub(super) count: u32,
    /// None once there are too many distinct ones.
    pub(super) list: Option<List<'d>>,
    /// From then on, by scale, what those of few digits come to.
    scales: Vec<Scale<'d>>,
    /// The range of those with more.
    others: Option<Range<'d>>,
    /// A number is beyond the decimals.
    is_without_sum: bool,
}

/// The first of the least, or of the greatest numbers, as it is spelt, and its event.
#[derive(Clone, Copy)]
pub(super) struct Extreme<'d> {
    pub(super) text: &'d [u8],
    pub(super) event: u32,
}

/// The least and the greatest.
pub(super) type Range<'d> = (Extreme<'d>, Extreme<'d>);

/// Numbers with as many places behind the point: they compare and add as their significands do.
struct Scale<'d> {
    has_sum: bool,
    sum: i128,
    /// Those of few digits have less than the bounds that it begins with.
    least: i64,
    greatest: i64,
    range: Range<'d>,
}

impl Scale<'_> {
    fn new() -> Self {
        let none = Extreme { text: &[], event: 0 };
        Scale { has_sum: false, sum: 0, least: i64::MAX, greatest: i64::MIN, range: (none, none) }
    }
}

impl<'d> Numbers<'d> {
    pub(super) fn new() -> Numbers<'d> {
        Numbers { count: 0, list: Some(List::new()), scales: Vec::new(), others: None, is_without_sum: false }
    }

    /// Takes in those of the values that come before the first that is no number; gives how many they are.
    pub(super) fn add(&mut self, documents: &'d [u8], occurrences: &[Occurrence]) -> usize {
        let is_number = |occurrence: &&Occurrence| {
            matches!(documents.get(occurrence.start as usize), Some(b'-' | b'0'..=b'9'))
        };
        let mut count = 0;
        if let Some(list) = &mut self.list {
            for Occurrence { start, end, event } in occurrences.iter().take_while(is_number) {
                if !list.add(documents, *start as usize, *end as usize, *event) {
                    self.add_listed();
                    self.list = None;
                    break;
                }
                count += 1;
            }
        }
        if self.list.is_none() {
            for Occurrence { start, end, event } in occurrences.iter().skip(count).take_while(is_number) {
                let (start, end) = (*start as usize, *end as usize);
                let text = documents.get(start..end).unwrap_or_default();
                self.add_to_sum(text, *event, 1, few_digits_at(documents, start, end));
                count += 1;
            }
        }
        self.count += count as u32;
        count
    }

    fn add_listed(&mut self) {
        let Some(list) = self.list.take() else { return };
        for entry in &list.entries {
            let text = entry.text.bytes;
            self.add_to_sum(text, entry.first, entry.count, few_digits(text));
        }
        self.list = Some(list);
    }

    #[inline(always)]
    fn add_to_sum(&mut self, text: &'d [u8], event: u32, count: u32, digits: Option<(i64, u32)>) {
        match digits {
            Some((significand, scale)) => self.add_significand(significand, scale, count, || text, || event),
            None => self.add_other(text, event, count),
        }
    }

    /// Takes in a number of few digits, as often as it comes. How it is spelled, and in which event, is asked of extremes alone.
    #[inline(always)]
    pub(super) fn add_significand(
        &mut self,
        significand: i64,
        scale: u32,
        count: u32,
        text: impl Fn() -> &'d [u8],
        event: impl Fn() -> u32,
    ) {
        let scale = self.scale(scale);
        scale.has_sum = true;
        scale.sum += i128::from(significand) * i128::from(count);
        if significand < scale.least {
            scale.least = significand;
            scale.range.0 = Extreme { text: text(), event: event() };
        }
        if significand > scale.greatest {
            scale.greatest = significand;
            scale.range.1 = Extreme { text: text(), event: event() };
        }
    }

    #[inline(always)]
    fn scale(&mut self, scale: u32) -> &mut Scale<'d> {
        let scale = scale as usize;
        if scale >= self.scales.len() {
            self.scales.resize_with(scale + 1, Scale::new);
        }
        &mut self.scales[scale]
    }

    /// Takes in a number of many digits, or with an exponent.
    #[inline(never)]
    pub(super) fn add_other(&mut self, text: &'d [u8], event: u32, count: u32) {
        let new = Extreme { text, event };
        match &mut self.others {
            None => self.others = Some((new, new)),
            Some((least, greatest)) => {
                if new.compare(least).is_lt() {
                    *least = new;
                } else if new.compare(greatest).is_gt() {
                    *greatest = new;
                }
            }
        }
        if self.is_without_sum {
            return;
        }
        let decimal = std::str::from_utf8(text).ok().and_then(|text| Number::Stored(text).decimal());
        match decimal {
            None => self.is_without_sum = true,
            Some(decimal) => {
                let scale = self.scale(decimal.scale());
                scale.has_sum = true;
                // A block holds too few events for 96 bits each to overflow.
                scale.sum = scale.sum.saturating_add(decimal.mantissa().saturating_mul(count.into()));
            }
        }
    }

    /// To be called when all are taken in, before range and sums are asked for.
    pub(super) fn finish(&mut self) {
        self.add_listed();
    }

    /// The first of the least and the first of the greatest numbers, if there are any.
    pub(super) fn range(&self) -> Option<Range<'d>> {
        let few = self.scales.iter().filter(|scale| scale.least != i64::MAX).map(|scale| scale.range);
        few.chain(self.others).reduce(|(least, greatest), (low, high)| {
            let before = |a: Extreme<'d>, b: Extreme<'d>| a.event < b.event;
            let order = low.compare(&least);
            let is_less = order.is_lt() || order.is_eq() && before(low, least);
            let order = high.compare(&greatest);
            let is_greater = order.is_gt() || order.is_eq() && before(high, greatest);
            (if is_less { low } else { least }, if is_greater { high } else { greatest })
        })
    }

    /// The sum of all numbers, as scales and sums of significands; none if one is beyond the decimals.
    pub(super) fn sums(&self) -> Option<impl Iterator<Item = (u32, i128)>> {
        let scales = (0..).zip(&self.scales).filter(|(_, scale)| scale.has_sum);
        (!self.is_without_sum).then(|| scales.map(|(number, scale)| (number, scale.sum)))
    }
}

impl Extreme<'_> {
    fn compare(&self, other: &Extreme<'_>) -> std::cmp::Ordering {
        let text = |text| std::str::from_utf8(text).unwrap_or_default();
        tamias_json::number::compare(text(self.text), text(other.text))
    }
}
