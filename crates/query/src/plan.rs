//! What a query does, step by step: what the planner makes, the optimizer rewrites and the executor runs.

use crate::ast::Explain;
use crate::expr::{Certain, Expr, Printed};
use crate::pushdown::{Asked, Pushdown, Slots};
use crate::source::Direction;
use crate::value::Kind;
use std::ops::RangeInclusive;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) explain: Option<Explain>,
    pub(crate) columns: Vec<String>,
    pub(crate) input: Input,
    pub(crate) filter: Option<Expr>,
    pub(crate) output: Output,
    pub(crate) limit: Option<u64>,
    /// What the condition says about blocks; none where no event is read, and before the plan is optimized.
    pub(crate) pushdown: Option<Arc<Pushdown>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// One row from no event.
    Nothing,
    Events(Events),
}

#[derive(Clone, Debug)]
pub(crate) struct Events {
    pub(crate) direction: Direction,
    /// The keys of a document's top level that the query reads: the slots.
    pub(crate) names: Vec<Box<str>>,
    /// Whether the documents are looked into at all.
    pub(crate) reads_documents: bool,
    /// Whether more of them is read than the names: `@Properties`, or a message to be rendered.
    pub(crate) reads_whole: bool,
    /// So many of them are read before `where`, the others for hits only.
    pub(crate) filter_names: usize,
    /// Each makes a row of each element of an array, which becomes the next local.
    pub(crate) unnest: Vec<Expr>,
    /// The names of those locals.
    pub(crate) unnest_names: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Output {
    /// A row for each hit, in time order unless sorted.
    Rows { cells: Vec<Expr>, sort: Vec<Sort> },
    /// A row for each group of hits.
    Groups(Box<Grouping>),
}

#[derive(Clone, Debug)]
pub(crate) struct Sort {
    pub(crate) column: usize,
    pub(crate) ci: bool,
    pub(crate) descending: bool,
}

/// Keys, then aggregates, are the slots of what comes after grouping.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    pub(crate) keys: Vec<Key>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) having: Option<Expr>,
    /// The columns after the keys.
    pub(crate) cells: Vec<Expr>,
    pub(crate) sort: Vec<Sort>,
}

#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// The beginning of the interval, of so many ticks, that the event falls into.
    Time(u64),
    Expr {
        expr: Expr,
        ci: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub(crate) function: Function,
    /// What is aggregated; true for `count(*)`.
    pub(crate) argument: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Function {
    Count,
    CountDistinct,
    Sum,
    Min,
    Max,
    Mean,
    Percentile { p: f64, error: f64 },
    First,
    Last,
    Any,
    All,
    Distinct,
    Top(usize),
    Bottom(usize),
}

impl Plan {
    /// Of what kind each column's values are, where that is certain.
    pub(crate) fn column_kinds(&self) -> Vec<Certain> {
        match &self.output {
            Output::Rows { cells, .. } => cells.iter().map(|cell| cell.kind(&[])).collect(),
            Output::Groups(grouping) => {
                let keys = grouping.keys.iter().map(|key| match key {
                    Key::Time(_) => Some(Kind::Number),
                    Key::Expr { expr, .. } => expr.kind(&[]),
                });
                let aggregates = grouping.aggregates.iter().map(Aggregate::kind);
                let groups: Vec<Certain> = keys.chain(aggregates).collect();
                let cells = grouping.cells.iter().map(|cell| cell.kind(&groups));
                groups.iter().take(grouping.keys.len()).copied().chain(cells).collect()
            }
        }
    }

    /// Whether no event can pass.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.filter, Some(Expr::Constant(value)) if !value.is_true())
    }

    /// The instants outside of which no event passes; perhaps more than those.
    pub(crate) fn instants(&self) -> RangeInclusive<u64> {
        self.pushdown.as_ref().map_or(u64::MIN..=u64::MAX, |pushdown| pushdown.period.clone())
    }

    /// Analyses what can be pushed down.
    pub(crate) fn push_down(&mut self) {
        let Input::Events(events) = &self.input else { return };
        self.pushdown = Some(Arc::new(Pushdown::new(Asked {
            filter: self.filter.as_ref(),
            names: &events.names,
            slots: Slots { condition: events.filter_names, output: self.output.slots() },
            unnested: events.unnest.len(),
            reads_whole: events.reads_whole,
        })));
    }
}

impl Output {
    /// The slots that rows, or groups, are made of.
    fn slots(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        match self {
            Output::Rows { cells, .. } => cells.iter().for_each(|cell| collect_slots(cell, &mut slots)),
            Output::Groups(grouping) => {
                for key in &grouping.keys {
                    if let Key::Expr { expr, .. } = key {
                        collect_slots(expr, &mut slots);
                    }
                }
                for aggregate in &grouping.aggregates {
                    collect_slots(&aggregate.argument, &mut slots);
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

fn collect_slots(expr: &Expr, slots: &mut Vec<usize>) {
    match expr {
        Expr::Slot(slot) => slots.push(*slot),
        Expr::BuiltIn(computed) => slots.extend(computed.slots()),
        other => other.children().into_iter().for_each(|child| collect_slots(child, slots)),
    }
}

impl Aggregate {
    /// Of what kind its values are, where that is certain.
    fn kind(&self) -> Certain {
        match self.function {
            Function::Count
            | Function::CountDistinct
            | Function::Sum
            | Function::Min
            | Function::Max
            | Function::Mean
            | Function::Percentile { .. } => Some(Kind::Number),
            Function::Any | Function::All => Some(Kind::Boolean),
            Function::First
            | Function::Last
            | Function::Distinct
            | Function::Top(_)
            | Function::Bottom(_) => self.argument.kind(&[]),
        }
    }

    /// The aggregate as the language writes it.
    pub(crate) fn text(&self, slots: &[String], locals: &[String]) -> String {
        let argument = Printed { expr: &self.argument, slots, locals };
        match self.function {
            Function::Count if matches!(self.argument, Expr::Constant(_)) => "count(*)".to_owned(),
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
    }
}

impl Function {
    /// Whether the aggregate takes values of this kind, or passes over them.
    pub(crate) fn takes(self, kind: Kind) -> bool {
        match self {
            Function::Count => !matches!(kind, Kind::Undefined | Kind::Null),
            Function::Sum | Function::Min | Function::Max | Function::Mean | Function::Percentile { .. } => {
                kind == Kind::Number
            }
            _ => kind != Kind::Undefined,
        }
    }

    /// Whether a value that comes again makes no difference, but where it comes first.
    pub(crate) fn is_distinct(self) -> bool {
        matches!(self, Function::Distinct | Function::CountDistinct)
    }

    /// Whether the aggregate gives several rows.
    pub(crate) fn has_rows(self) -> bool {
        matches!(self, Function::Distinct | Function::Top(_) | Function::Bottom(_))
    }
}
