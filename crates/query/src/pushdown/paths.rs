//! Conditions on dotted paths, which are one of several keys of an event: a condition for those that have a key, another for the rest.

use crate::expr::{Expr, fold};
use crate::value::Value;

/// A condition taken apart by whether an event has a key.
pub(super) struct Split {
    pub(super) slot: usize,
    /// What it is for events that have the key; none where that is no simpler.
    pub(super) there: Option<Expr>,
    /// What it is for the others.
    pub(super) missing: Expr,
}

/// Most readings of the paths of a condition that is taken apart: each may double the parts.
const READINGS_MAX: usize = 8;

/// Takes a condition on a path apart by the key that the path begins with; none where there is no path in it.
///
/// Only a condition that is true, false or undefined, and nothing else: the parts are told apart by their truth.
pub(super) fn split(expr: &Expr) -> Option<Split> {
    if !has_readings(expr) {
        return None;
    }
    let first = first_reading(expr)?;
    let slot = key(first)?;
    let mut there = match first {
        Expr::Slot(_) => Some(expr.clone()),
        _ => None,
    };
    there.iter_mut().for_each(|expr| rewrite(expr, &|readings| settle(readings, slot)));
    let mut missing = expr.clone();
    rewrite(&mut missing, &|readings| readings.retain(|reading| key(reading) != Some(slot)));
    // What compares a path that no event is left to have is constant.
    Some(Split { slot, there, missing: fold(missing) })
}

/// Whether it compares paths of several readings, and few enough.
pub(super) fn has_readings(expr: &Expr) -> bool {
    expr.is_comparison() && (1..=READINGS_MAX).contains(&count(expr))
}

/// How many readings all paths have.
fn count(expr: &Expr) -> usize {
    match expr {
        Expr::Path(readings) => readings.len(),
        other => other.children().into_iter().map(count).sum(),
    }
}

/// The first reading of the first path.
fn first_reading(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Path(readings) => readings.first(),
        other => other.children().into_iter().find_map(first_reading),
    }
}

/// The slot that a reading begins with.
pub(crate) fn key(reading: &Expr) -> Option<usize> {
    match reading {
        Expr::Slot(slot) => Some(*slot),
        Expr::Member(of, _) => key(of),
        _ => None,
    }
}

/// A path that begins with the key itself is that key's value.
fn settle(readings: &mut Vec<Expr>, slot: usize) {
    if matches!(readings.first(), Some(Expr::Slot(first)) if *first == slot) {
        readings.truncate(1);
    }
}

/// Changes the readings of all paths; a path of one reading is that, and one of none is undefined.
fn rewrite(expr: &mut Expr, change: &impl Fn(&mut Vec<Expr>)) {
    if let Expr::Path(readings) = expr {
        change(readings);
        if readings.is_empty() {
            *expr = Expr::Constant(Value::Undefined);
        } else if readings.len() == 1
            && let Some(only) = readings.pop()
        {
            *expr = only;
        }
        return;
    }
    expr.children_mut().into_iter().for_each(|child| rewrite(child, change));
}
