//! The numbers of a key: their range and their exact sum.

use super::list::List;
use crate::value::{Number, few_digits};
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
    pub(super) text: &'d [u8],
    pub(super) event: u32,
    /// Where it has few digits: significand and scale.
    digits: Option<(i64, u32)>,
    /// Then what these come to, within [`NEARLY`].
    value: f64,
}

impl<'d> Numbers<'d> {
    pub(super) fn new() -> Numbers<'d> {
        Numbers { count: 0, list: Some(List::new()), range: None, sum: Some(Vec::new()) }
    }

    #[inline]
    pub(super) fn add(&mut self, text: &'d [u8], event: u32) {
        self.count += 1;
        if let Some(list) = &mut self.list
            && !list.add(text, event)
        {
            self.list = None;
        }
        let digits = few_digits(text);
        let new = Extreme { text, event, digits, value: digits.map_or(0.0, nearly) };
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
    fn add_to_sum(&mut self, text: &[u8], digits: Option<(i64, u32)>) {
        let Some(parts) = &mut self.sum else { return };
        let exact = || {
            let decimal = Number::Stored(std::str::from_utf8(text).ok()?).decimal()?;
            Some((decimal.mantissa(), decimal.scale()))
        };
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
            (Some(a), Some(b)) => {
                let apart = (self.value.abs() + other.value.abs()) * NEARLY;
                match self.value - other.value {
                    difference if difference > apart => Ordering::Greater,
                    difference if difference < -apart => Ordering::Less,
                    _ => compare(a, b),
                }
            }
            _ => {
                let text = |text| std::str::from_utf8(text).unwrap_or_default();
                tamias_json::number::compare(text(self.text), text(other.text))
            }
        }
    }
}

/// More than the relative error of two roundings.
const NEARLY: f64 = 1e-15;

const POWERS: [f64; 19] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

#[inline]
fn nearly((significand, scale): (i64, u32)) -> f64 {
    significand as f64 / POWERS.get(scale as usize).copied().unwrap_or(f64::NAN)
}

#[cold]
fn compare((a, a_scale): (i64, u32), (b, b_scale): (i64, u32)) -> Ordering {
    // At most 18 digits, moved by at most 18 places.
    let moved = |significand: i64, places: u32| i128::from(significand) * 10i128.pow(places);
    moved(a, b_scale.saturating_sub(a_scale)).cmp(&moved(b, a_scale.saturating_sub(b_scale)))
}
