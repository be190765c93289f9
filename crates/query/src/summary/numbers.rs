//! The numbers of a key: their range and their exact sum.

use super::list::List;
use crate::value::Number;
use std::cmp::Ordering;

pub(super) struct Numbers<'d> {
    pub(super) count: u32,
    /// None once there are too many distinct ones.
    pub(super) list: Option<List<'d>>,
    pub(super) range: Option<(Extreme<'d>, Extreme<'d>)>,
    /// By scale, the sum of the significands; none once a number is beyond the decimals.
    pub(super) sum: Option<Vec<(u32, i128)>>,
}

/// The first of the least, or of the greatest numbers.
#[derive(Clone, Copy)]
pub(super) struct Extreme<'d> {
    pub(super) text: &'d str,
    pub(super) event: u32,
    /// Where it has few digits: significand and scale.
    digits: Option<(i64, u32)>,
}

impl<'d> Numbers<'d> {
    pub(super) fn new() -> Numbers<'d> {
        Numbers { count: 0, list: Some(List::new()), range: None, sum: Some(Vec::new()) }
    }

    #[inline]
    pub(super) fn add(&mut self, text: &'d str, event: u32) {
        self.count += 1;
        if let Some(list) = &mut self.list
            && !list.add(text.as_bytes(), event)
        {
            self.list = None;
        }
        let digits = Number::Stored(text).few_digits();
        let new = Extreme { text, event, digits };
        match &mut self.range {
            None => self.range = Some((new, new)),
            Some((least, greatest)) => {
                if new.compare(least).is_lt() {
                    *least = new;
                } else if new.compare(greatest).is_gt() {
                    *greatest = new;
                }
            }
        }
        self.add_to_sum(text, digits);
    }

    #[inline]
    fn add_to_sum(&mut self, text: &str, digits: Option<(i64, u32)>) {
        let Some(parts) = &mut self.sum else { return };
        let exact = || Number::Stored(text).decimal().map(|decimal| (decimal.mantissa(), decimal.scale()));
        let number = digits.map(|(significand, scale)| (i128::from(significand), scale)).or_else(exact);
        let Some((significand, scale)) = number else {
            self.sum = None;
            return;
        };
        match parts.iter_mut().find(|(known, _)| *known == scale) {
            // A block holds too few events for 96 bits each to overflow.
            Some((_, sum)) => *sum = sum.saturating_add(significand),
            None => parts.push((scale, significand)),
        }
    }
}

impl Extreme<'_> {
    #[inline]
    fn compare(&self, other: &Extreme<'_>) -> Ordering {
        match (self.digits, other.digits) {
            (Some((a, scale)), Some((b, other))) if scale == other => a.cmp(&b),
            (Some((a, a_scale)), Some((b, b_scale))) => {
                // At most 18 digits, moved by at most 18 places.
                let moved = |significand: i64, places: u32| i128::from(significand) * 10i128.pow(places);
                moved(a, b_scale.saturating_sub(a_scale)).cmp(&moved(b, a_scale.saturating_sub(b_scale)))
            }
            _ => tamias_json::number::compare(self.text, other.text),
        }
    }
}
