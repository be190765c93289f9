//! Columns of stored values, from where a search has found them: nothing is evaluated.

use super::buffers::Buffers;
use crate::chunk::{CellText, Columns, FewDigits, Form, Numbers};
use crate::expr::Expr;
use crate::outputs::Output;
use crate::pushdown::Finder;
use crate::value::Value;
use tamias_json::search::{Documents, Span};

/// How an output comes from stored values without being evaluated, for some events of a window.
enum Direct {
    Nothing,
    Values(usize),
    /// The same, and something else for events that have none.
    ValuesOr(usize, &'static str),
    Numbers(usize),
    /// How many characters the strings of a slot have.
    Lengths(usize),
}

fn form_of(output: &Output, finder: &Finder, indices: &[u32]) -> Option<Direct> {
    let slot = |expr: &Expr| match expr {
        Expr::Slot(slot) => Some(*slot),
        Expr::Path(readings) => finder.only_reading(readings, indices),
        _ => None,
    };
    match (output.form, &output.expr) {
        (Form::Nothing, _) => Some(Direct::Nothing),
        (Form::Numbers, Expr::Call { function, arguments, .. }) if function.name == "Length" => {
            match arguments.as_slice() {
                [of] => slot(of).map(Direct::Lengths),
                _ => None,
            }
        }
        (Form::Values | Form::Keys, Expr::BuiltIn(computed)) => {
            computed.stored().map(|(slot, missing)| Direct::ValuesOr(slot, missing))
        }
        (Form::Values | Form::Keys, of) => slot(of).map(Direct::Values),
        (Form::Numbers, of) => slot(of).map(Direct::Numbers),
    }
}

/// Whether an output takes nothing but stored values of these events, and so of some of them.
pub(super) fn is_direct(output: &Output, finder: &Finder, indices: &[u32]) -> bool {
    form_of(output, finder, indices).is_some()
}

/// Gives a column the values of the rows from the `first` on, if it takes nothing but stored values.
pub(super) fn push_direct(
    finder: &Finder,
    documents: Documents<'_>,
    buffers: &mut Buffers,
    first: usize,
    column: usize,
    output: &Output,
    columns: &mut Columns,
) {
    let Buffers { indices, few, others, .. } = buffers;
    match form_of(output, finder, indices) {
        None | Some(Direct::Nothing) => {}
        Some(Direct::Values(slot)) => {
            let values = finder.values(slot);
            let place = |index: &u32| values.get(*index as usize).copied().unwrap_or(Span::Absent);
            columns.push_places(column, indices.iter().map(place));
        }
        Some(Direct::ValuesOr(slot, missing)) => {
            let values = finder.values(slot);
            let place = |index: &u32| values.get(*index as usize).copied().unwrap_or(Span::Absent);
            columns.push_places_or(column, indices.iter().map(place), missing.as_bytes());
        }
        Some(Direct::Numbers(slot)) => {
            finder.numbers(slot, documents, indices, few, others);
            if let Some(numbers) = columns.numbers_mut(column) {
                let place = |at: u32| indices.get(at as usize).and_then(|index| finder.place(slot, *index));
                push_numbers(place, documents.bytes(), few, others, first, numbers);
            }
        }
        Some(Direct::Lengths(slot)) => {
            finder.lengths(slot, documents, indices, few, others);
            let bytes = documents.bytes();
            for at in &*others {
                let place = indices.get(*at as usize).and_then(|index| finder.place(slot, *index));
                let text = place.and_then(|(start, end)| bytes.get(start as usize..end as usize));
                if let Some(Value::Text(text)) = text.map(crate::chunk::value_of) {
                    few.push(FewDigits { significand: text.characters() as i64, scale: 0, at: *at });
                }
            }
            if let Some(numbers) = columns.numbers_mut(column) {
                numbers.few.extend(few.iter().map(|few| at_row(few, first)));
            }
        }
    }
}

fn at_row(few: &FewDigits, first: usize) -> FewDigits {
    FewDigits { at: first as u32 + few.at, ..*few }
}

/// Adds the numbers, strings and Booleans of some events, of which the values stand at their places, from the `first` row on.
fn push_numbers(
    place: impl Fn(u32) -> Option<(u32, u32)>,
    bytes: &[u8],
    few: &mut Vec<FewDigits>,
    others: &[u32],
    first: usize,
    numbers: &mut Numbers,
) {
    if others.is_empty() && first == 0 && numbers.few.is_empty() && few.iter().all(|few| few.significand != 0)
    {
        std::mem::swap(&mut numbers.few, few);
        return;
    }
    let begins_with = |at: u32, wanted: fn(&u8) -> bool| {
        place(at).and_then(|(start, _)| bytes.get(start as usize)).is_some_and(wanted)
    };
    let is_negative_zero =
        |few: &&FewDigits| few.significand == 0 && begins_with(few.at, |byte| *byte == b'-');
    let other = |at: u32| place(at).map(|(start, end)| (first as u32 + at, CellText::Block { start, end }));
    numbers.others.extend(few.iter().filter(is_negative_zero).filter_map(|few| other(few.at)));
    let is_scalar = |at: &&u32| !begins_with(**at, |byte| matches!(byte, b'n' | b'[' | b'{'));
    numbers.others.extend(others.iter().filter(is_scalar).filter_map(|at| other(*at)));
    let plain = few.iter().filter(|few| !is_negative_zero(few));
    numbers.few.extend(plain.map(|few| at_row(few, first)));
}
