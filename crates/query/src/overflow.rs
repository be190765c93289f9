//! What a query could not tell since numbers were too large.

use crate::control::Control;
use crate::expr::property;
use crate::plan::{Input, Output, Plan};
use crate::warning::Warning;
use std::sync::atomic::Ordering::Relaxed;

/// What has been too large so far.
pub(crate) fn overflows(plan: &Plan, control: &Control) -> Vec<Warning> {
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
            overflows.extend((count > 0).then(|| Warning::TooManyDigits { aggregate: text(), count }));
        }
    }
    let count = control.interrupt.too_large.load(Relaxed);
    overflows.extend((count > 0).then_some(Warning::Overflow { count }));
    overflows
}
