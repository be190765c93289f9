//! What expressions of numbers come to: one for all rows, or one for each that has it.

use crate::chunk::{DecimalValues, Decimals, Digits, Factor, Mantissas, Quotient};
use rust_decimal::Decimal;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use tamias_simd::numbers::{has_zero, range};

/// The numbers that an expression comes to.
pub(super) enum Reckoned {
    /// Of all rows.
    Constant { value: i64, scale: u8 },
    /// Those of the rows that have one.
    Numbers(Arc<Mantissas>),
    /// The same where one has more digits than a mantissa.
    Decimals(Arc<Decimals>),
}

/// No mantissa has more digits behind the point.
pub(super) const SCALE_MAX: u8 = 15;

impl Reckoned {
    /// The numbers of rows, if they are mantissas.
    pub(super) fn numbers(&self) -> Option<&Arc<Mantissas>> {
        match self {
            Reckoned::Constant { .. } | Reckoned::Decimals(_) => None,
            Reckoned::Numbers(numbers) => Some(numbers),
        }
    }

    /// The same, if they are decimals.
    pub(super) fn as_decimals(&self) -> Option<&Decimals> {
        match self {
            Reckoned::Constant { .. } | Reckoned::Numbers(_) => None,
            Reckoned::Decimals(decimals) => Some(decimals),
        }
    }

    /// The rows that have a number, the inner one none for all; none of a constant.
    pub(super) fn rows(&self) -> Option<Option<&[u32]>> {
        match self {
            Reckoned::Constant { .. } => None,
            Reckoned::Numbers(numbers) => Some(numbers.rows.as_deref()),
            Reckoned::Decimals(decimals) => Some(decimals.rows.as_deref()),
        }
    }

    /// Whether a row has a number.
    pub(super) fn has_one(&self, row: u32) -> bool {
        match self.rows() {
            None | Some(None) => true,
            Some(Some(rows)) => rows.binary_search(&row).is_ok(),
        }
    }

    /// How many rows have a number; one for a constant.
    pub(super) fn len(&self) -> usize {
        match self {
            Reckoned::Constant { .. } => 1,
            Reckoned::Numbers(numbers) => numbers.values.len(),
            Reckoned::Decimals(decimals) => decimals.values.len(),
        }
    }

    /// Whether the number at a place is zero.
    pub(super) fn is_zero(&self, place: usize) -> bool {
        match self {
            Reckoned::Constant { value, .. } => *value == 0,
            Reckoned::Numbers(numbers) => numbers.values.get(place) == Some(&0),
            Reckoned::Decimals(decimals) => decimals.values.is_zero(place),
        }
    }

    /// Whether one of the numbers is zero.
    pub(super) fn has_zero(&self) -> bool {
        match self {
            Reckoned::Numbers(numbers) => has_zero(&numbers.values),
            Reckoned::Constant { .. } | Reckoned::Decimals(_) => {
                (0..self.len()).any(|place| self.is_zero(place))
            }
        }
    }

    /// Numbers that were computed.
    pub(super) fn computed(rows: Option<Vec<u32>>, values: Vec<i64>, scale: u8) -> Reckoned {
        let spelled = if scale == 0 { Digits::InFull } else { Digits::Shortest };
        Reckoned::Numbers(Arc::new(Mantissas { rows, values, scale, spelled }))
    }

    /// Quotients of whole numbers that all come to such, as mantissas; none of others.
    pub(super) fn whole_quotients(decimals: &Decimals) -> Option<Mantissas> {
        let DecimalValues::Quotients(quotients) = &decimals.values else { return None };
        let values = quotients.made(Quotient::whole)?;
        Some(Mantissas { rows: decimals.rows.clone(), values, ..Mantissas::default() })
    }

    pub(super) fn decimals_of(rows: Option<Vec<u32>>, values: Vec<Decimal>) -> Reckoned {
        Reckoned::Decimals(Arc::new(Decimals { rows, values: DecimalValues::Decimals(values) }))
    }

    /// The mantissas and their scale; none of decimals.
    pub(super) fn mantissas(&self) -> Option<(Operand<'_, i64>, u8)> {
        match self {
            Reckoned::Constant { value, scale } => Some((Operand::Constant(*value), *scale)),
            Reckoned::Numbers(numbers) => Some((
                Operand::Column(numbers.rows.as_deref(), Cow::Borrowed(&numbers.values)),
                numbers.scale,
            )),
            Reckoned::Decimals(_) => None,
        }
    }

    /// The numbers as significands of 64 bits, each with its scale; none of others.
    pub(super) fn shorts(&self) -> Option<Operand<'_, (i64, u8)>> {
        Some(match self {
            Reckoned::Constant { value, scale } => Operand::Constant((*value, *scale)),
            Reckoned::Numbers(numbers) => {
                let values = numbers.values.iter().map(|value| (*value, numbers.scale)).collect();
                Operand::Column(numbers.rows.as_deref(), Cow::Owned(values))
            }
            Reckoned::Decimals(decimals) => {
                let DecimalValues::Stored(stored) = &decimals.values else { return None };
                let values = stored.significands.iter().copied().zip(stored.scales.iter().copied());
                Operand::Column(decimals.rows.as_deref(), Cow::Owned(values.collect()))
            }
        })
    }

    /// The numbers as a side of a chain.
    pub(super) fn factor(&self) -> Factor {
        match self {
            Reckoned::Constant { value, scale } => Factor::Constant(Decimal::new(*value, (*scale).into())),
            Reckoned::Numbers(numbers) => Factor::Numbers(numbers.clone()),
            Reckoned::Decimals(decimals) => Factor::Decimals(decimals.clone()),
        }
    }

    /// The same as decimals: without zeros at their ends, or as they are.
    pub(super) fn decimals(&self, are_plain: bool) -> Operand<'_, Decimal> {
        let decimal = |value: i64, scale: u8| match are_plain {
            true => plain(value, scale),
            false => Decimal::new(value, scale.into()),
        };
        match self {
            Reckoned::Constant { value, scale } => Operand::Constant(decimal(*value, *scale)),
            Reckoned::Numbers(numbers) => {
                let values = numbers.values.iter().map(|value| decimal(*value, numbers.scale)).collect();
                Operand::Column(numbers.rows.as_deref(), Cow::Owned(values))
            }
            Reckoned::Decimals(decimals) => {
                let values = match &decimals.values {
                    DecimalValues::Decimals(values) => Cow::Borrowed(values.as_slice()),
                    others @ (DecimalValues::Quotients(_)
                    | DecimalValues::Chain(_)
                    | DecimalValues::Stored(_)
                    | DecimalValues::Wide(_)) => Cow::Owned(others.each().collect()),
                };
                Operand::Column(decimals.rows.as_deref(), values)
            }
        }
    }
}
/// One of the two that are reckoned with.
pub(super) enum Operand<'o, V: Clone> {
    Constant(V),
    /// The values of the rows that have one, which are all where no rows are named.
    Column(Option<&'o [u32]>, Cow<'o, [V]>),
}

/// What an operation gives for the rows that have something.
pub(super) struct Together<T> {
    pub(super) rows: Option<Vec<u32>>,
    pub(super) values: Vec<T>,
}

impl<V: Copy> Operand<'_, V> {
    /// What two come to, row by row; the inner one none where a row has nothing then. None where it fails for a row, or both are constants.
    pub(super) fn with<T>(
        &self,
        other: &Operand<'_, V>,
        mut of: impl FnMut(V, V) -> Option<Option<T>>,
    ) -> Option<Together<T>> {
        match (self, other) {
            (Operand::Constant(_), Operand::Constant(_)) => None,
            (Operand::Column(rows, values), Operand::Constant(constant)) => {
                Together::of_rows(*rows, values.iter().map(|value| of(*value, *constant)))
            }
            (Operand::Constant(constant), Operand::Column(rows, values)) => {
                Together::of_rows(*rows, values.iter().map(|value| of(*constant, *value)))
            }
            (Operand::Column(rows, left), Operand::Column(others, right)) if rows == others => {
                let values = left.iter().zip(&**right).map(|(left, right)| of(*left, *right));
                Together::of_rows(*rows, values)
            }
            (Operand::Column(rows, left), Operand::Column(others, right)) => {
                let (mut with_one, mut values) = (Vec::new(), Vec::new());
                for (row, left, right) in both((*rows, left), (*others, right)) {
                    if let Some(value) = of(left, right)? {
                        with_one.push(row);
                        values.push(value);
                    }
                }
                Some(Together { rows: Some(with_one), values })
            }
        }
    }
}

impl<T> Together<T> {
    /// What comes of the values of rows, each of which may have nothing.
    pub(super) fn of_rows(
        rows: Option<&[u32]>,
        results: impl ExactSizeIterator<Item = Option<Option<T>>>,
    ) -> Option<Together<T>> {
        let count = results.len();
        let mut values = Vec::with_capacity(count);
        // The places of those that are left out.
        let mut without = Vec::new();
        for (place, result) in results.enumerate() {
            match result? {
                Some(value) => values.push(value),
                None => without.push(place),
            }
        }
        if without.is_empty() {
            return Some(Together { rows: rows.map(<[u32]>::to_vec), values });
        }
        let mut without = without.into_iter().peekable();
        let is_with = |place: &usize| without.next_if_eq(place).is_none();
        let row = |place: usize| rows.map_or(Some(place as u32), |rows| rows.get(place).copied());
        Some(Together { rows: Some((0..count).filter(is_with).filter_map(row).collect()), values })
    }
}
/// The greatest of some numbers without their signs.
pub(super) fn longest(values: &[i64]) -> u64 {
    let (least, greatest) = range(values).unwrap_or_default();
    least.unsigned_abs().max(greatest.unsigned_abs())
}

impl Operand<'_, i64> {
    /// The greatest of the numbers without their signs.
    pub(super) fn longest(&self) -> u64 {
        match self {
            Operand::Constant(value) => value.unsigned_abs(),
            Operand::Column(_, values) => longest(values),
        }
    }
}
/// The number that a mantissa and a scale stand for, without zeros at the end of its fraction. The general routine takes half as long again.
pub(super) fn plain(mut mantissa: i64, scale: u8) -> Decimal {
    let mut scale = u32::from(scale);
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    Decimal::new(mantissa, scale)
}
/// The values of the rows that have one in both columns.
pub(super) fn both<'o, V: Copy>(
    (left_rows, left): (Option<&'o [u32]>, &'o [V]),
    (right_rows, right): (Option<&'o [u32]>, &'o [V]),
) -> impl Iterator<Item = (u32, V, V)> {
    let row = |rows: Option<&[u32]>, values: &[V], place: usize| match rows {
        None => (place < values.len()).then_some(place as u32),
        Some(rows) => rows.get(place).copied(),
    };
    let (mut a, mut b) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let (of_left, of_right) = (row(left_rows, left, a)?, row(right_rows, right, b)?);
            match of_left.cmp(&of_right) {
                Ordering::Less => a += 1,
                Ordering::Greater => b += 1,
                Ordering::Equal => {
                    let both = (of_left, *left.get(a)?, *right.get(b)?);
                    (a, b) = (a + 1, b + 1);
                    return Some(both);
                }
            }
        }
    })
}

/// The values at some places, each of which there is.
pub(super) fn some<T: Copy>(of: &[T], places: &[u32]) -> Vec<T> {
    places.iter().filter_map(|place| of.get(*place as usize).copied()).collect()
}

/// Some places of a side; none where they are all.
pub(super) type Places = Option<Vec<u32>>;

/// The rows that have both sides, and their places among those of each; none where they are all of these.
pub(super) fn shared(left: Option<&[u32]>, right: Option<&[u32]>) -> (Option<Vec<u32>>, [Places; 2]) {
    match (left, right) {
        (left, right) if left == right => (left.map(<[u32]>::to_vec), [None, None]),
        (Some(rows), None) => (Some(rows.to_vec()), [None, Some(rows.to_vec())]),
        (None, Some(rows)) => (Some(rows.to_vec()), [Some(rows.to_vec()), None]),
        (left, right) => {
            let places =
                |rows: Option<&[u32]>| (0..rows.map_or(0, <[u32]>::len) as u32).collect::<Vec<u32>>();
            let (of_left, of_right) = (places(left), places(right));
            let (mut rows, mut places) = (Vec::new(), [Vec::new(), Vec::new()]);
            for (row, one, other) in both((left, &of_left), (right, &of_right)) {
                rows.push(row);
                places.iter_mut().zip([one, other]).for_each(|(places, place)| places.push(place));
            }
            (Some(rows), places.map(Some))
        }
    }
}

/// One divided by a number, where that has an end.
pub(super) fn reciprocal(value: i64, scale: u8) -> Option<(i64, u8)> {
    let (places, power) = (0..=SCALE_MAX)
        .map(|places| (places, 10i64.saturating_pow(places.into())))
        .find(|(_, power)| power.checked_rem(value) == Some(0))?;
    let digits = power.checked_div(value)?;
    match places.checked_sub(scale) {
        Some(places) => Some((digits, places)),
        None => Some((digits.checked_mul(10i64.checked_pow((scale - places).into())?)?, 0)),
    }
}
