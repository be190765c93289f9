//! The instants outside of which no event passes.

use super::condition::{Compared, Condition, END, Form, Head, Place};
use super::outcomes::Outcomes;
use crate::ast::Comparison;
use std::ops::{Range, RangeInclusive};

/// The places outside of which a condition is not true; perhaps more than those. Empty if it is never true.
pub(super) fn of(condition: &Condition) -> Range<Place> {
    reach(condition).passing
}

/// The instants of some places.
pub(super) fn instants(places: &Range<Place>) -> RangeInclusive<u64> {
    // Of the last instant there may be no arrival number among them.
    let last = if places.end.1 > 0 { Some(places.end.0) } else { places.end.0.checked_sub(1) };
    match (u64::try_from(places.start.0), last.map(u64::try_from)) {
        (Ok(start), Some(Ok(end))) if !places.is_empty() => start..=end,
        _ => RangeInclusive::new(1, 0),
    }
}

/// Outside of the one range of places a condition is never true, outside of the other it is never anything else.
#[derive(Clone, Debug)]
struct Reach {
    passing: Range<Place>,
    failing: Range<Place>,
}

/// All places.
pub(super) const ALL: Range<Place> = (0, 0)..END;
const NO: Range<Place> = (0, 0)..(0, 0);

fn reach(condition: &Condition) -> Reach {
    match &condition.form {
        Form::And(terms) => terms.iter().map(reach).fold(Reach { passing: ALL, failing: NO }, |a, b| Reach {
            passing: both(a.passing, b.passing),
            failing: either(a.failing, b.failing),
        }),
        Form::Or(terms) => any_of(terms.iter().map(reach)),
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
        Form::Head(Head::Place, any) => any_of(any.iter().map(Compared::reach)),
        Form::Head(Head::Arrival, _) | Form::Sought(_) | Form::Opaque => Reach { passing: ALL, failing: ALL },
    }
}

/// Of `or`.
fn any_of(terms: impl Iterator<Item = Reach>) -> Reach {
    terms.fold(Reach { passing: NO, failing: ALL }, |a, b| Reach {
        passing: either(a.passing, b.passing),
        failing: both(a.failing, b.failing),
    })
}

impl Compared {
    fn reach(&self) -> Reach {
        let (less, equal, greater) = ((0, 0)..self.from, self.from..self.after, self.after..END);
        let (up_to, from_on) = ((0, 0)..self.after, self.from..END);
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

/// The places of both.
fn both(a: Range<Place>, b: Range<Place>) -> Range<Place> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// The least range with the places of either.
fn either(a: Range<Place>, b: Range<Place>) -> Range<Place> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => a.start.min(b.start)..a.end.max(b.end),
    }
}
