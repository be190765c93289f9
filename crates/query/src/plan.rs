//! What a query does, step by step: what the planner makes, the optimizer rewrites and the executor runs.

use crate::aggregate::Function;
use crate::ast::Explain;
use crate::expr::{Certain, Expr, Printed};
use crate::pushdown::{Asked, Pushdown, Slots};
use crate::source::Direction;
use crate::value::Kind;
use crate::warning::Warning;
use crate::zone::Intervals;
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
    /// What its text alone may mislead about.
    pub(crate) warnings: Vec<Warning>,
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
    /// Whether the condition, or what is unnested, reads more of them than the names: `@Properties`, or a message to be rendered.
    pub(crate) condition_reads_whole: bool,
    /// Whether rows or groups do.
    pub(crate) output_reads_whole: bool,
    /// So many of them are read before `where`, the others for hits only.
    pub(crate) filter_names: usize,
    /// So many of the names are other readings of dotted paths: few events have them beside the first.
    pub(crate) flat_names: usize,
    /// Each makes a row of each element of an array, which becomes the next local.
    pub(crate) unnest: Vec<Expr>,
    /// The names of those locals.
    pub(crate) unnest_names: Vec<String>,
    /// What the condition asks of events, where something is unnested, before it is: of events for which it does not hold nothing is. The condition has it too, and is
    /// what counts. None before the plan is optimized.
    pub(crate) event_filter: Option<Box<Expr>>,
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
    /// The beginning of the interval that the event falls into.
    Time(Intervals),
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

impl Events {
    /// Whether more of documents is read than the names.
    pub(crate) fn reads_whole(&self) -> bool {
        self.condition_reads_whole || self.output_reads_whole
    }
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
                let aggregates = grouping.aggregates.iter();
                let aggregates = aggregates.map(|of| of.function.kind(of.argument.kind(&[])));
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
            flat_names: events.flat_names,
            slots: Slots { condition: events.filter_names, output: self.output.slots() },
            unnested: events.unnest.len(),
            reads_whole: events.reads_whole(),
        })));
    }
}

impl Output {
    /// What rows, or groups, are made of.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Output::Rows { cells, .. } => cells.iter().collect(),
            Output::Groups(grouping) => {
                let keys = grouping.keys.iter().filter_map(|key| match key {
                    Key::Expr { expr, .. } => Some(expr),
                    _ => None,
                });
                keys.chain(grouping.aggregates.iter().map(|aggregate| &aggregate.argument)).collect()
            }
        }
    }

    /// The slots of these.
    fn slots(&self) -> Vec<usize> {
        let mut slots = Vec::new();
        self.exprs().into_iter().for_each(|expr| collect_slots(expr, &mut slots));
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

pub(crate) fn collect_slots(expr: &Expr, slots: &mut Vec<usize>) {
    match expr {
        Expr::Slot(slot) => slots.push(*slot),
        Expr::BuiltIn(computed) => slots.extend(computed.slots()),
        other => other.children().into_iter().for_each(|child| collect_slots(child, slots)),
    }
}

impl Aggregate {
    /// The aggregate as the language writes it.
    pub(crate) fn text(&self, slots: &[String], locals: &[String]) -> String {
        match self.argument {
            Expr::Constant(_) if self.function == Function::COUNT => "count(*)".to_owned(),
            _ => self.function.text(&Printed { expr: &self.argument, slots, locals }.to_string()),
        }
    }
}
