//! Choices between numbers of which some have many scales.

use super::evaluate::Mask;
use crate::chunk::{DecimalValues, Decimals, Mantissas, Quotient};
use crate::value::WHOLE_POWERS;
use rust_decimal::Decimal;

/// The numbers that some rows get.
#[derive(Clone, Copy)]
pub(super) enum Side<'s> {
    Nothing,
    Constant(i64, u8),
    Numbers(&'s Mantissas),
    Decimals(&'s Decimals),
}

impl<'s> Side<'s> {
    fn places(self) -> Places<'s> {
        match self {
            Side::Nothing => Places { rows: Some(&[]), next: 0 },
            Side::Constant(..) => Places { rows: None, next: 0 },
            Side::Numbers(numbers) => Places { rows: numbers.rows.as_deref(), next: 0 },
            Side::Decimals(decimals) => Places { rows: decimals.rows.as_deref(), next: 0 },
        }
    }

    fn are_quotients(self) -> bool {
        match self {
            Side::Nothing | Side::Constant(..) | Side::Numbers(_) => true,
            Side::Decimals(decimals) => matches!(decimals.values, DecimalValues::Quotients(_)),
        }
    }

    /// The number at a place as a quotient.
    fn quotient(self, place: usize) -> Option<Quotient> {
        let over = |value, scale: u8| Quotient::of(value, *WHOLE_POWERS.get(usize::from(scale))?);
        match self {
            Side::Nothing => None,
            Side::Constant(value, scale) => over(value, scale),
            Side::Numbers(numbers) => over(*numbers.values.get(place)?, numbers.scale),
            Side::Decimals(decimals) => match &decimals.values {
                DecimalValues::Quotients(quotients) => quotients.get(place),
                DecimalValues::Decimals(_)
                | DecimalValues::Chain(_)
                | DecimalValues::Stored(_)
                | DecimalValues::Wide(_) => None,
            },
        }
    }

    fn decimal(self, place: usize) -> Option<Decimal> {
        match self {
            Side::Nothing => None,
            Side::Constant(value, scale) => Some(Decimal::new(value, scale.into())),
            Side::Numbers(numbers) => Some(Decimal::new(*numbers.values.get(place)?, numbers.scale.into())),
            Side::Decimals(decimals) => decimals.values.decimal(place),
        }
    }
}

/// Where the numbers of rows stand, which are asked about in ascending order.
struct Places<'s> {
    /// None where all have one.
    rows: Option<&'s [u32]>,
    next: usize,
}

impl Places<'_> {
    /// The place of a row's number.
    fn of(&mut self, row: usize) -> Option<usize> {
        let Some(rows) = self.rows else { return Some(row) };
        while rows.get(self.next).is_some_and(|own| (*own as usize) < row) {
            self.next += 1;
        }
        (rows.get(self.next).map(|own| *own as usize) == Some(row)).then_some(self.next)
    }
}

/// Those of one side for rows that are marked, and those of the other for the others.
pub(super) fn choose(mask: &Mask, then: Side<'_>, otherwise: Side<'_>) -> Decimals {
    if then.are_quotients() && otherwise.are_quotients() {
        let (rows, values) = chosen(mask, [then, otherwise], Side::quotient);
        return Decimals { rows, values: DecimalValues::Quotients(values.into_iter().collect()) };
    }
    let (rows, values) = chosen(mask, [then, otherwise], Side::decimal);
    Decimals { rows, values: DecimalValues::Decimals(values) }
}

fn chosen<'s, V>(
    mask: &Mask,
    [then, otherwise]: [Side<'s>; 2],
    value: impl Fn(Side<'s>, usize) -> Option<V>,
) -> (Option<Vec<u32>>, Vec<V>) {
    let (mut rows, mut values) = (Vec::with_capacity(mask.len()), Vec::with_capacity(mask.len()));
    let (mut then_places, mut other_places) = (then.places(), otherwise.places());
    for (row, is_then) in mask.iter().enumerate() {
        let (side, places) = match is_then {
            true => (then, &mut then_places),
            false => (otherwise, &mut other_places),
        };
        if let Some(value) = places.of(row).and_then(|place| value(side, place)) {
            rows.push(row as u32);
            values.push(value);
        }
    }
    ((rows.len() < mask.len()).then_some(rows), values)
}

/// Of each row whether it has one of these.
pub(super) fn has_number(decimals: &Decimals, rows: usize) -> Mask {
    let mut mask = vec![decimals.rows.is_none(); rows];
    for row in decimals.rows.iter().flatten() {
        if let Some(mask) = mask.get_mut(*row as usize) {
            *mask = true;
        }
    }
    mask
}
