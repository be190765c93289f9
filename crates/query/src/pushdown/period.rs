//! The instants outside of which no event passes.

use super::condition::{Condition, Form, INSTANTS, Time};
use super::outcomes::Outcomes;
use crate::ast::Comparison;
use std::ops::{Range, RangeInclusive};

/// The instants outside of which a condition is not true; perhaps more than those. Empty if it is never true.
pub(super) fn of(condition: &Condition) -> RangeInclusive<u64> {
    let Range { start, end } = reach(condition).passing;
    match (u64::try_from(start), end.checked_sub(1).map(u64::try_from)) {
        (Ok(start), Some(Ok(end))) if start <= end => start..=end,
        _ => RangeInclusive::new(1, 0),
    }
}

/// Outside of the one range of instants a condition is never true, outside of the other it is never anything else.
#[derive(Clone, Debug)]
struct Reach {
    passing: Range<u128>,
    failing: Range<u128>,
}

const ALL: Range<u128> = 0..INSTANTS;
const NO: Range<u128> = 0..0;

fn reach(condition: &Condition) -> Reach {
    match &condition.form {
        Form::And(terms) => terms.iter().map(reach).fold(Reach { passing: ALL, failing: NO }, |a, b| Reach {
            passing: both(a.passing, b.passing),
            failing: either(a.failing, b.failing),
        }),
        Form::Or(terms) => terms.iter().map(reach).fold(Reach { passing: NO, failing: ALL }, |a, b| Reach {
            passing: either(a.passing, b.passing),
            failing: both(a.failing, b.failing),
        }),
        // What is opaque may be neither true nor made true by `not`, but of that both ranges are whole.
        Form::Not(of) => {
            let Reach { passing, failing } = reach(of);
            Reach { passing: failing, failing: passing }
        }
        Form::Constant(outcomes) => {
            let all_if = |is_possible| if is_possible { ALL } else { NO };
            let others = Outcomes::FALSE | Outcomes::UNDEFINED | Outcomes::OTHER;
            Reach { passing: all_if(outcomes.has(Outcomes::TRUE)), failing: all_if(outcomes.has(others)) }
        }
        Form::Time(time) => time.reach(),
        Form::Sought(_) | Form::Opaque => Reach { passing: ALL, failing: ALL },
    }
}

impl Time {
    fn reach(&self) -> Reach {
        let (less, equal, greater) = (0..self.from, self.from..self.after, self.after..INSTANTS);
        let (up_to, from_on) = (0..self.after, self.from..INSTANTS);
        let others = either(less.clone(), greater.clone());
        match self.op {
            Comparison::Equal => Reach { passing: equal, failing: others },
            Comparison::NotEqual => Reach { passing: others, failing: equal },
            Comparison::Less => Reach { passing: less, failing: from_on },
            Comparison::LessOrEqual => Reach { passing: up_to, failing: greater },
            Comparison::Greater => Reach { passing: greater, failing: up_to },
            Comparison::GreaterOrEqual => Reach { passing: from_on, failing: less },
            Comparison::Like | Comparison::NotLike | Comparison::In | Comparison::NotIn => {
                Reach { passing: ALL, failing: ALL }
            }
        }
    }
}

/// The instants of both.
fn both(a: Range<u128>, b: Range<u128>) -> Range<u128> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// The least range with the instants of either.
fn either(a: Range<u128>, b: Range<u128>) -> Range<u128> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => a.start.min(b.start)..a.end.max(b.end),
    }
}
