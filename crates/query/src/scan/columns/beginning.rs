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
    let first = plan.outputs.get(output).and_then(|output| evaluator.numbers(&output.expr));
    let Some(numbers) = first.filter(|_| are_stored && rows.len() > limit) else { return };
    let passing = Passing::Some(std::mem::take(rows));
    let numbers = gather(numbers, &passing, evaluator.rows());
    let Passing::Some(passing) = passing else { return };
    // What has no number comes before all numbers.
    let missing = passing.len() - numbers.values.len();
    let before = if descending { 0 } else { missing };
    let wanted = limit.saturating_sub(before);
    let mut places: Vec<i64> = numbers.values.clone();
    let last = match wanted.checked_sub(1) {
        Some(place) if place < places.len() => Some(*match descending {
            true => places.select_nth_unstable_by(place, |a, b| b.cmp(a)).1,
            false => places.select_nth_unstable(place).1,
        }),
        Some(_) | None => None,
    };
    let keeps_numbers = |value: i64| match (last, descending) {
        (Some(last), true) => value >= last,
        (Some(last), false) => value <= last,
        (None, _) => wanted > 0,
    };
    let keeps_missing = !descending || last.is_none();
    let with_one = numbers.rows.as_deref();
    let mut next = 0;
    for (nth, row) in (0..).zip(&passing) {
        let has_one = with_one.is_none_or(|rows| rows.get(next) == Some(&nth));
        let value = numbers.values.get(next).filter(|_| has_one);
        next += usize::from(has_one);
        if value.map_or(keeps_missing, |value| keeps_numbers(*value)) {
            rows.push(*row);
        }
    }
}
