//! The first rows of an order by numbers: of a block no more of them are wanted than of all blocks together.

use super::compile::{Beginning, ColumnPlan};
use super::evaluate::Evaluator;
use super::found::Passing;
use super::whole::gather;

/// Leaves out those rows that so many others precede. They come in the block's order. All of them stay where the order is not that of a column of
/// numbers, or values are computed, which may fail.
pub(super) fn cut(plan: &ColumnPlan, evaluator: &Evaluator<'_>, rows: &mut Vec<u32>) {
    let Some(Beginning { output, descending, limit }) = plan.beginning else { return };
    let are_stored = plan.outputs.iter().all(|output| evaluator.as_column(&output.expr).is_some());
    let first = plan.outputs.get(output).map(|output| &output.expr);
    let mixed = first.and_then(|first| evaluator.mixed(first));
    let first = match mixed {
        Some(column) => Some(&column.numbers),
        None => first.and_then(|first| evaluator.numbers(first)),
    };
    // Rows with something else than a number stay, wherever the order has them.
    let others = mixed.map_or(&[][..], |column| column.others.rows.as_slice());
    let Some(numbers) = first.filter(|_| are_stored && rows.len() > limit) else { return };
    let passing = Passing::Some(std::mem::take(rows));
    let numbers = gather(numbers, &passing, evaluator.rows());
    let Passing::Some(passing) = passing else { return };
    // What has no number comes before all numbers.
    let missing = passing.len() - numbers.values.len();
    let before = if descending || !others.is_empty() { 0 } else { missing };
    let wanted = limit.saturating_sub(before);
    let last = wanted.checked_sub(1).and_then(|place| nth(&numbers.values, place, descending));
    let keeps_numbers = |value: i64| match (last, descending) {
        (Some(last), true) => value >= last,
        (Some(last), false) => value <= last,
        (None, _) => wanted > 0,
    };
    let keeps_missing = !descending || last.is_none();
    let keep = |nth: u32| passing.get(nth as usize).copied();
    let kept = (0..).zip(&numbers.values).filter(|(_, value)| keeps_numbers(**value));
    match numbers.rows.as_deref() {
        None => rows.extend(kept.filter_map(|(nth, _)| keep(nth))),
        Some(with_one) if !keeps_missing && others.is_empty() => {
            rows.extend(kept.filter_map(|(place, _): (u32, _)| keep(*with_one.get(place as usize)?)));
        }
        Some(with_one) => {
            let mut next = 0;
            for (nth, row) in (0..).zip(&passing) {
                let has_one = with_one.get(next) == Some(&nth);
                let value = numbers.values.get(next).filter(|_| has_one);
                next += usize::from(has_one);
                let keeps_other = || keeps_missing || others.binary_search(row).is_ok();
                if value.map_or_else(keeps_other, |value| keeps_numbers(*value)) {
                    rows.push(*row);
                }
            }
        }
    }
}

/// So many values are looked at before those are left out that are not wanted.
const TOGETHER: usize = 1024;

/// The value that so many others precede in an order; none where they are fewer.
fn nth(values: &[i64], place: usize, descending: bool) -> Option<i64> {
    // An order's other direction is that of the complements.
    let turned = |value: i64| if descending { !value } else { value };
    let mut first: Vec<i64> = Vec::new();
    let mut bound = i64::MAX;
    for some in values.chunks(TOGETHER) {
        first.extend(some.iter().map(|value| turned(*value)).filter(|value| *value <= bound));
        if first.len() > place.saturating_add(1).saturating_mul(2) {
            bound = *first.select_nth_unstable(place).1;
            first.truncate(place + 1);
        }
    }
    let last = (place < first.len()).then(|| *first.select_nth_unstable(place).1);
    last.map(turned)
}
