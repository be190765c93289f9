//! A plan as text: a tree with a step a line, what comes last standing first; and what its steps did.

use crate::expr::{Expr, Printed, property};
use crate::plan::{Grouping, Input, Key, Output, Plan, Sort};
use crate::profile::{Profile, StepTimes};
use crate::source::Direction;
use crate::stats::Stats;
use std::fmt::{self, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tree(f, steps(self).into_iter().map(|step| step.text))
    }
}

fn write_tree(f: &mut impl Write, steps: impl Iterator<Item = String>) -> fmt::Result {
    for (depth, step) in steps.enumerate() {
        match depth {
            0 => writeln!(f, "{step}")?,
            _ => writeln!(f, "{}└ {step}", "  ".repeat(depth - 1))?,
        }
    }
    Ok(())
}

/// What kind of step it is, for what is counted of it.
#[derive(Clone, Copy)]
enum Kind {
    Limit,
    Sort,
    Project,
    ProjectGroups,
    Having,
    Group,
    Filter,
    /// Of the innermost collection, and of one around it.
    Unnest,
    OuterUnnest,
    Scan,
    Pushdown,
}

struct Step {
    kind: Kind,
    text: String,
}

/// The tree with what each step has counted and taken, and all counts below it.
pub(crate) fn analysis(plan: &Plan, stats: &Stats, profile: &Profile) -> String {
    let times = profile.times.as_ref().map(|times| times.steps(stats.hits));
    let mut text = String::new();
    let steps = steps(plan).into_iter().map(|step| {
        let mut notes = counted(step.kind, plan, stats, profile);
        notes.extend(times.as_ref().and_then(|times| taken(step.kind, plan, times)));
        if notes.is_empty() { step.text } else { format!("{} [{}]", step.text, notes.join("; ")) }
    });
    // Writing to a string does not fail.
    let _ = write_tree(&mut text, steps);
    let Stats { events, bytes, blocks, blocks_skipped, events_skipped, hits, rows, technique, .. } = stats;
    let Stats { blocks_answered, events_answered, column_bytes, .. } = stats;
    let _ = writeln!(
        text,
        "events: {events} read, {events_skipped} skipped; blocks: {blocks} read, {blocks_skipped} skipped"
    );
    if *blocks_answered > 0 {
        let _ = writeln!(
            text,
            "answered by statistics, without reading: {} in {}",
            count(*events_answered, "event"),
            count(*blocks_answered, "block")
        );
    }
    if let Some(technique) = technique {
        let _ = writeln!(text, "hits found by: {technique}");
    }
    let columns = profile.column_names();
    if !columns.is_empty() {
        let _ =
            writeln!(text, "columns: {}; {} read of them", columns.join(", "), count(*column_bytes, "byte"));
    }
    if let Some(StepTimes { source, all, .. }) = &times {
        let _ = writeln!(
            text,
            "time: {}{}, of which reading and checking blocks {}; `about` is reckoned from every 16th",
            shown(*all),
            if profile.has_others.load(Relaxed) { " of all threads together" } else { "" },
            shown(*source)
        );
    }
    let _ = writeln!(text, "bytes: {bytes}, hits: {hits}, rows: {rows}");
    text
}

/// What a step has counted.
fn counted(kind: Kind, plan: &Plan, stats: &Stats, profile: &Profile) -> Vec<String> {
    let unnests = matches!(&plan.input, Input::Events(events) if !events.unnest.is_empty());
    let tested = if unnests { count(stats.elements, "element") } else { count(stats.events, "event") };
    let held = profile.held.load(Relaxed);
    let groups = profile.groups.load(Relaxed);
    let has_sort = match &plan.output {
        Output::Rows { sort, .. } => !sort.is_empty(),
        Output::Groups(_) => true,
    };
    let notes = match kind {
        Kind::Limit if has_sort => format!("{} in, {} out", count(held, "row"), stats.rows),
        Kind::Limit => format!("{} out", count(stats.rows, "row")),
        Kind::Sort | Kind::ProjectGroups => count(held, "row"),
        Kind::Project => match plan.input {
            Input::Events(_) => count(stats.hits, "row"),
            Input::Nothing => return Vec::new(),
        },
        Kind::Having => format!("{} in, {} out", count(groups, "group"), held),
        Kind::Group => format!("{} in, {} out", count(stats.hits, "hit"), count(groups, "group")),
        Kind::Filter => format!("{tested} in, {} out", stats.hits),
        Kind::Unnest => {
            format!("{} in, {} out", count(stats.events, "event"), count(stats.elements, "element"))
        }
        Kind::OuterUnnest => return Vec::new(),
        Kind::Pushdown => format!("{} skipped", count(stats.blocks_skipped, "block")),
        Kind::Scan => format!("{} of {} out", count(stats.events, "event"), count(stats.blocks, "block")),
    };
    vec![notes]
}

/// What a step has taken; what goes on together stands at the first of the steps.
fn taken(kind: Kind, plan: &Plan, times: &StepTimes) -> Option<String> {
    let unnests = matches!(&plan.input, Input::Events(events) if !events.unnest.is_empty());
    match kind {
        Kind::Scan => {
            let with = match (unnests, plan.filter.is_some()) {
                (true, true) => " with unnest and filter",
                (true, false) => " with unnest",
                (false, true) => " with filter",
                (false, false) => "",
            };
            Some(format!("{}{with}", shown(times.scan)))
        }
        Kind::Project | Kind::Group => Some(format!("about {}", shown(times.output))),
        Kind::Sort if matches!(plan.output, Output::Rows { .. }) => Some(shown(times.held)),
        Kind::ProjectGroups => Some(format!("{} with having and sort", shown(times.held))),
        _ => None,
    }
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn shown(time: Duration) -> String {
    let nanoseconds = time.as_nanos() as f64;
    match time.as_nanos() {
        0..1_000 => format!("{nanoseconds:.0} ns"),
        1_000..1_000_000 => format!("{:.1} µs", nanoseconds / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanoseconds / 1e6),
        _ => format!("{:.2} s", nanoseconds / 1e9),
    }
}

/// The names that an expression's numbers stand for.
#[derive(Clone, Copy)]
struct Names<'p> {
    slots: &'p [String],
    locals: &'p [String],
}

impl<'p> Names<'p> {
    fn print(self, expr: &'p Expr) -> String {
        Printed { expr, slots: self.slots, locals: self.locals }.to_string()
    }

    fn list(self, exprs: &'p [Expr]) -> String {
        exprs.iter().map(|expr| self.print(expr)).collect::<Vec<_>>().join(", ")
    }
}

/// The steps, the last one first.
fn steps(plan: &Plan) -> Vec<Step> {
    let (slots, locals): (Vec<String>, &[String]) = match &plan.input {
        Input::Events(events) => {
            (events.names.iter().map(|name| property(name)).collect(), &events.unnest_names)
        }
        Input::Nothing => (Vec::new(), &[]),
    };
    let names = Names { slots: &slots, locals };
    let mut steps = Vec::new();
    let step = |kind, text| Step { kind, text };
    if let Some(limit) = plan.limit {
        steps.push(step(Kind::Limit, format!("limit to {limit}")));
    }
    match &plan.output {
        Output::Rows { cells, sort } => {
            steps.extend(sorted(sort, &plan.columns));
            steps.push(step(Kind::Project, format!("project {}", names.list(cells))));
        }
        Output::Groups(grouping) => grouped(grouping, &plan.columns, names, &mut steps),
    }
    if let Some(filter) = &plan.filter {
        steps.push(step(Kind::Filter, format!("filter {}", names.print(filter))));
    }
    let Input::Events(events) = &plan.input else {
        return steps;
    };
    for (index, collection) in events.unnest.iter().enumerate().rev() {
        let kind = if index + 1 == events.unnest.len() { Kind::Unnest } else { Kind::OuterUnnest };
        steps.push(step(kind, format!("unnest {}", names.print(collection))));
    }
    let direction = match events.direction {
        Direction::Ascending => "ascending",
        Direction::Descending => "descending",
    };
    let (first, then) = slots.split_at(events.filter_names.min(slots.len()));
    let keys = |names: &[String]| if names.is_empty() { "no key".to_owned() } else { names.join(", ") };
    if !events.reads_documents {
        let text = format!("walk the stream, time {direction}, without looking into documents");
        steps.push(step(Kind::Scan, text));
        steps.extend(pushed_down(plan));
        return steps;
    }
    let mut scan = format!("scan the stream, time {direction}: read {} of each event", keys(first));
    if !then.is_empty() {
        scan.push_str(&format!(", {} of each hit", keys(then)));
    }
    steps.push(step(Kind::Scan, scan));
    steps.extend(pushed_down(plan));
    steps
}

/// What spares events, or their scanning.
fn pushed_down(plan: &Plan) -> Option<Step> {
    let pushdown = plan.pushdown.as_ref()?.to_string();
    (!pushdown.is_empty()).then(|| Step { kind: Kind::Pushdown, text: format!("pushdown: {pushdown}") })
}

fn sorted(sort: &[Sort], columns: &[String]) -> Option<Step> {
    let items: Vec<String> = sort
        .iter()
        .map(|item| {
            let column = columns.get(item.column).map_or("?", String::as_str);
            let direction = if item.descending { "descending" } else { "ascending" };
            format!("{column}{} {direction}", if item.ci { " ci" } else { "" })
        })
        .collect();
    (!items.is_empty()).then(|| Step { kind: Kind::Sort, text: format!("sort by {}", items.join(", ")) })
}

fn grouped(grouping: &Grouping, columns: &[String], names: Names<'_>, steps: &mut Vec<Step>) {
    let keys: Vec<String> = grouping
        .keys
        .iter()
        .map(|key| match key {
            Key::Time(intervals) => {
                let zone = intervals.zone().map_or_else(String::new, |zone| format!(" in {}", zone.name()));
                format!("time in intervals of {} ticks{zone}", intervals.ticks())
            }
            Key::Expr { expr, ci } => format!("{}{}", names.print(expr), if *ci { " ci" } else { "" }),
        })
        .collect();
    let aggregates: Vec<String> =
        grouping.aggregates.iter().map(|aggregate| aggregate.text(names.slots, names.locals)).collect();
    let behind: Vec<String> =
        columns.iter().take(keys.len()).cloned().chain(aggregates.iter().cloned()).collect();
    let behind = Names { slots: &behind, locals: &[] };
    let mut push = |kind, text| steps.push(Step { kind, text });
    if let Some(Step { kind, text }) = sorted(&grouping.sort, columns) {
        push(kind, text);
    }
    push(Kind::ProjectGroups, format!("project {}", behind.list(&grouping.cells)));
    if let Some(having) = &grouping.having {
        push(Kind::Having, format!("having {}", behind.print(having)));
    }
    let by = if keys.is_empty() { String::new() } else { format!(" by {}", keys.join(", ")) };
    push(Kind::Group, format!("group{by}: {}", aggregates.join(", ")));
}
