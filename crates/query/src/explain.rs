//! A plan as text: a tree with a step a line, what comes last standing first.

use crate::expr::{Expr, Printed, property};
use crate::plan::{Function, Grouping, Input, Key, Output, Plan, Sort};
use crate::source::Direction;
use std::fmt;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in steps(self).iter().enumerate() {
            match depth {
                0 => writeln!(f, "{step}")?,
                _ => writeln!(f, "{}└ {step}", "  ".repeat(depth - 1))?,
            }
        }
        Ok(())
    }
}

/// The steps, the last one first.
fn steps(plan: &Plan) -> Vec<String> {
    let slots: Vec<String> = match &plan.input {
        Input::Events(events) => events.names.iter().map(|name| property(name)).collect(),
        Input::Nothing => Vec::new(),
    };
    let mut steps = Vec::new();
    if let Some(limit) = plan.limit {
        steps.push(format!("limit to {limit}"));
    }
    match &plan.output {
        Output::Rows { cells, sort } => {
            steps.extend(sorted(sort, &plan.columns));
            steps.push(format!("project {}", list(cells, &slots)));
        }
        Output::Groups(grouping) => grouped(grouping, &plan.columns, &slots, &mut steps),
    }
    if let Some(filter) = &plan.filter {
        steps.push(format!("filter {}", Printed { expr: filter, slots: &slots }));
    }
    let Input::Events(events) = &plan.input else {
        return steps;
    };
    for collection in events.unnest.iter().rev() {
        steps.push(format!("unnest {}", Printed { expr: collection, slots: &slots }));
    }
    let direction = match events.direction {
        Direction::Ascending => "ascending",
        Direction::Descending => "descending",
    };
    let (first, then) = slots.split_at(events.filter_names.min(slots.len()));
    let keys = |names: &[String]| if names.is_empty() { "no key".to_owned() } else { names.join(", ") };
    if !events.reads_documents {
        steps.push(format!("walk the stream, time {direction}, without looking into documents"));
        return steps;
    }
    let mut scan = format!("scan the stream, time {direction}: read {} of each event", keys(first));
    if !then.is_empty() {
        scan.push_str(&format!(", {} of each hit", keys(then)));
    }
    steps.push(scan);
    steps
}

fn list(exprs: &[Expr], slots: &[String]) -> String {
    exprs.iter().map(|expr| Printed { expr, slots }.to_string()).collect::<Vec<_>>().join(", ")
}

fn sorted(sort: &[Sort], columns: &[String]) -> Option<String> {
    let items: Vec<String> = sort
        .iter()
        .map(|item| {
            let column = columns.get(item.column).map_or("?", String::as_str);
            let direction = if item.descending { "descending" } else { "ascending" };
            format!("{column}{} {direction}", if item.ci { " ci" } else { "" })
        })
        .collect();
    (!items.is_empty()).then(|| format!("sort by {}", items.join(", ")))
}

fn grouped(grouping: &Grouping, columns: &[String], slots: &[String], steps: &mut Vec<String>) {
    let keys: Vec<String> = grouping
        .keys
        .iter()
        .map(|key| match key {
            Key::Time(interval) => format!("time in intervals of {interval} ticks"),
            Key::Expr { expr, ci } => format!("{}{}", Printed { expr, slots }, if *ci { " ci" } else { "" }),
        })
        .collect();
    let aggregates: Vec<String> = grouping
        .aggregates
        .iter()
        .map(|aggregate| {
            let argument = Printed { expr: &aggregate.argument, slots };
            match aggregate.function {
                Function::Count if matches!(aggregate.argument, Expr::Constant(_)) => "count(*)".to_owned(),
                Function::Count => format!("count({argument})"),
                Function::CountDistinct => format!("count(distinct({argument}))"),
                Function::Sum => format!("sum({argument})"),
                Function::Min => format!("min({argument})"),
                Function::Max => format!("max({argument})"),
                Function::Mean => format!("mean({argument})"),
                Function::Percentile { p, error } => format!("percentile({argument}, {p}, {error})"),
                Function::First => format!("first({argument})"),
                Function::Last => format!("last({argument})"),
                Function::Any => format!("any({argument})"),
                Function::All => format!("all({argument})"),
                Function::Distinct => format!("distinct({argument})"),
                Function::Top(count) => format!("top({argument}, {count})"),
                Function::Bottom(count) => format!("bottom({argument}, {count})"),
            }
        })
        .collect();
    let behind: Vec<String> =
        columns.iter().take(keys.len()).cloned().chain(aggregates.iter().cloned()).collect();
    steps.extend(sorted(&grouping.sort, columns));
    steps.push(format!("project {}", list(&grouping.cells, &behind)));
    if let Some(having) = &grouping.having {
        steps.push(format!("having {}", Printed { expr: having, slots: &behind }));
    }
    let by = if keys.is_empty() { String::new() } else { format!(" by {}", keys.join(", ")) };
    steps.push(format!("group{by}: {}", aggregates.join(", ")));
}
