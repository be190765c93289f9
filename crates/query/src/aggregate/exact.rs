//! Sums that never round before the end, so that the order of the events does not matter.

use crate::value::Number;
use rust_decimal::Decimal;

/// The greatest scale of a decimal.
const SCALE_MAX: u32 = 28;

/// A sum of decimals, kept apart by their scale.
#[derive(Default)]
pub(super) struct ExactSum {
    /// The sum of the significands of each scale, from 0 on.
    parts: Vec<i128>,
    count: u64,
    /// A number was added that no decimal holds: then there is no sum either.
    is_inexact: bool,
}

impl ExactSum {
    pub(super) fn add(&mut self, number: &Number<'_>) {
        if let Some((significand, scale)) = number.few_digits() {
            return self.add_few(significand, scale);
        }
        self.count += 1;
        match number.decimal() {
            Some(decimal) => self.add_part(decimal.scale(), decimal.mantissa()),
            None => self.is_inexact = true,
        }
    }

    /// Adds a number by its significand and its scale, that from 0 to 28.
    #[inline]
    pub(super) fn add_few(&mut self, significand: i64, scale: u32) {
        self.count += 1;
        self.add_part(scale, significand.into());
    }

    /// Adds so many numbers at once, whose sums are told by scale, from 0 to 28.
    pub(super) fn add_parts(&mut self, count: u64, parts: impl Iterator<Item = (u32, i128)>) {
        self.count += count;
        parts.for_each(|(scale, significand)| self.add_part(scale, significand));
    }

    #[inline]
    fn add_part(&mut self, scale: u32, significand: i128) {
        let scale = scale as usize;
        if scale >= self.parts.len() {
            self.parts.resize(scale + 1, 0);
        }
        if let Some(sum) = self.parts.get_mut(scale) {
            // 96 bits leave room for 2^31 additions of the largest; what is beyond has no sum in any case.
            match sum.checked_add(significand) {
                Some(total) => *sum = total,
                None => self.is_inexact = true,
            }
        }
    }

    /// Adds what another sum has added.
    pub(super) fn merge(&mut self, other: &ExactSum) {
        self.is_inexact |= other.is_inexact;
        self.add_parts(other.count, (0..).zip(other.parts.iter().copied()));
    }

    /// How many numbers were added.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The sum, rounded half to even to the digits available; none if it is too large.
    pub(super) fn total(&self) -> Option<Decimal> {
        if self.is_inexact {
            return None;
        }
        let mut wide = Wide::default();
        for (scale, significand) in (0..=SCALE_MAX).zip(&self.parts) {
            wide.add(*significand, SCALE_MAX - scale);
        }
        wide.decimal(SCALE_MAX)
    }
}

/// A 256-bit number in sign and magnitude, the lowest limb first: 2^127 × 10^28 × 29 fits.
#[derive(Default)]
struct Wide {
    is_negative: bool,
    limbs: [u64; 4],
}

impl Wide {
    /// Adds `significand` × 10^`power`.
    fn add(&mut self, significand: i128, power: u32) {
        let size = significand.unsigned_abs();
        let mut term = [size as u64, (size >> 64) as u64, 0, 0];
        for _ in 0..power {
            let mut carry = 0u128;
            for limb in &mut term {
                carry += u128::from(*limb) * 10;
                *limb = carry as u64;
                carry >>= 64;
            }
        }
        if self.is_negative == (significand < 0) {
            let mut carry = false;
            for (limb, term) in self.limbs.iter_mut().zip(term) {
                (*limb, carry) = limb.carrying_add(term, carry);
            }
            return;
        }
        let is_larger = term.iter().rev().gt(self.limbs.iter().rev());
        let (larger, smaller) = if is_larger { (term, self.limbs) } else { (self.limbs, term) };
        let mut borrow = false;
        for (limb, (larger, smaller)) in self.limbs.iter_mut().zip(larger.into_iter().zip(smaller)) {
            (*limb, borrow) = larger.borrowing_sub(smaller, borrow);
        }
        if is_larger {
            self.is_negative = significand < 0;
        }
    }

    /// Divides by ten: the remainder.
    fn shift(&mut self) -> u64 {
        let mut remainder = 0u128;
        for limb in self.limbs.iter_mut().rev() {
            let dividend = remainder << 64 | u128::from(*limb);
            *limb = (dividend / 10) as u64;
            remainder = dividend % 10;
        }
        remainder as u64
    }

    /// The number divided by 10^`scale`.
    fn decimal(mut self, mut scale: u32) -> Option<Decimal> {
        let (mut last, mut is_beyond) = (0, false);
        // Rounding up may need a digit more once.
        loop {
            let [low, high, ..] = self.limbs;
            let fits = high < 1 << 32 && self.limbs[2] == 0 && self.limbs[3] == 0;
            if fits {
                let size = u128::from(high) << 64 | u128::from(low);
                let up = last > 5 || last == 5 && (is_beyond || size % 2 == 1);
                let rounded = size + u128::from(up);
                if rounded < 1 << 96 {
                    let signed = i128::try_from(rounded).ok()?;
                    let signed = if self.is_negative { -signed } else { signed };
                    return Decimal::try_from_i128_with_scale(signed, scale).ok();
                }
            }
            scale = scale.checked_sub(1)?;
            is_beyond |= last != 0;
            last = self.shift();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(numbers: &[&str]) -> Option<String> {
        let mut sum = ExactSum::default();
        for number in numbers {
            sum.add(&Number::Stored(number));
        }
        sum.total().map(|total| Number::Decimal(total).text().into_owned())
    }

    #[test]
    fn sums() {
        assert_eq!(sum(&[]).unwrap(), "0");
        assert_eq!(sum(&["0.1", "0.2", "1e2"]).unwrap(), "100.3");
        assert_eq!(sum(&["79228162514264337593543950335", "1"]), None);
        assert_eq!(
            sum(&["79228162514264337593543950335", "1", "-2"]).unwrap(),
            "79228162514264337593543950334"
        );
        assert_eq!(sum(&["79228162514264337593543950334", "0.5"]).unwrap(), "79228162514264337593543950334");
        assert_eq!(sum(&["79228162514264337593543950333", "0.5"]).unwrap(), "79228162514264337593543950334");
        assert_eq!(sum(&["7922816251426433759354395033.5", "0.06"]).unwrap(), "7922816251426433759354395034");
        assert_eq!(sum(&["1e30", "1"]), None);
        assert_eq!(sum(&["1", "-1", "-0.5"]).unwrap(), "-0.5");
    }

    proptest! {
        #[test]
        fn small_sums_are_those_of_decimals(numbers in proptest::collection::vec((-1_000_000_000i64..1_000_000_000, 0u32..10), 0..30)) {
            let mut exact = ExactSum::default();
            let mut plain = Decimal::ZERO;
            for (significand, scale) in numbers {
                let decimal = Decimal::new(significand, scale);
                exact.add(&Number::Decimal(decimal));
                plain += decimal;
            }
            prop_assert_eq!(exact.total(), Some(plain));
            let mut doubled = ExactSum::default();
            doubled.merge(&exact);
            doubled.merge(&exact);
            prop_assert_eq!(doubled.total(), Some(plain + plain));
            prop_assert_eq!(doubled.count(), 2 * exact.count());
        }
    }
}
