//! What a query could not tell since numbers were too large.

use crate::control::Control;
use crate::expr::property;
use crate::plan::{Input, Output, Plan};
use crate::value::PLACES_MAX;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;

/// Numbers that were too large for a query: what should have come of them is undefined. Shown as a line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overflow {
    /// The aggregate that met numbers of too many digits, as in `sum(Elapsed)`; none for arithmetic, results of which were larger than a
    /// decimal.
    pub aggregate: Option<String>,
    /// How many numbers, or results. A result that was asked for more than once may have been counted more than once.
    pub count: u64,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overflow { aggregate, count } = self;
        match aggregate {
            Some(aggregate) => write!(
                f,
                "`{aggregate}` is undefined where it met a number with digits more than {PLACES_MAX} places from the point ({count} in all)"
            ),
            None => write!(
                f,
                "arithmetic is undefined where its result is larger than a decimal ({count} in all)"
            ),
        }
    }
}

/// What has been too large so far.
pub(crate) fn overflows(plan: &Plan, control: &Control) -> Vec<Overflow> {
    let mut overflows = Vec::new();
    if let Output::Groups(grouping) = &plan.output {
        let (slots, locals): (Vec<String>, &[String]) = match &plan.input {
            Input::Nothing => (Vec::new(), &[]),
            Input::Events(events) => {
                (events.names.iter().map(|name| property(name)).collect(), &events.unnest_names)
            }
        };
        for (aggregate, count) in grouping.aggregates.iter().zip(&control.profile.too_long) {
            let (count, text) = (count.load(Relaxed), || aggregate.text(&slots, locals));
            overflows.extend((count > 0).then(|| Overflow { aggregate: Some(text()), count }));
        }
    }
    let count = control.interrupt.too_large.load(Relaxed);
    overflows.extend((count > 0).then_some(Overflow { aggregate: None, count }));
    overflows
}
