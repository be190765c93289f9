//! Events, one after another: scanned, read, filtered, and handed on if they pass.

use super::stats::Stats;
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Event, Expr, Scope, Spare};
use crate::plan::{Events, Plan};
use crate::source::{Block, Direction};
use crate::value::Value;
use std::ops::ControlFlow;
use tamias_json::Offsets;

/// Takes the events that pass.
pub(super) trait Sink {
    /// `scope` has the event, its slots and its locals.
    fn hit<'a>(
        &mut self,
        plan: &'a Plan,
        scope: &mut Scope<'a>,
        documents: &'a [u8],
    ) -> Result<ControlFlow<()>, ExecError>;
}

/// Allocations that are used again for each event.
pub(super) struct Worker {
    offsets: Offsets,
    spare: Spare,
    now: u64,
}

/// What is run.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) plan: &'r Plan,
    pub(super) events: &'r Events,
    pub(super) control: &'r Control,
}

/// So many events are evaluated before it is asked whether the query shall go on.
const EVENTS_UNCHECKED: usize = 256;

/// The name of this way of finding hits.
const PLAIN: &str = "each event scanned and evaluated";

impl Worker {
    pub(super) fn new(now: u64) -> Worker {
        Worker { offsets: Offsets::new(), spare: Spare::default(), now }
    }

    /// Evaluates the events of a block in the plan's direction, from the `from`th on, until the sink has enough.
    ///
    /// Gives the number of the event to go on with.
    pub(super) fn scan(
        &mut self,
        run: Run<'_>,
        block: &dyn Block,
        from: usize,
        sink: &mut impl Sink,
        stats: &mut Stats,
    ) -> Result<usize, ExecError> {
        let Run { events, control, .. } = run;
        let count = event_count(block);
        let documents = match events.reads_documents {
            true => match block.documents().map_err(ExecError::Source)? {
                Some(documents) => documents,
                None => return Ok(count),
            },
            false => &[],
        };
        let (ends, instants, arrivals) = (block.ends(), block.instants(), block.arrivals());
        let filter_names = events.names.get(..events.filter_names).unwrap_or_default();
        let mut next = from;
        stats.technique = PLAIN;
        while next < count {
            if (next - from).is_multiple_of(EVENTS_UNCHECKED) {
                control.check()?;
            }
            let index = if events.direction == Direction::Ascending { next } else { count - 1 - next };
            next += 1;
            let number =
                |numbers: &[[u8; 8]]| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
            let (instant, arrival) = (number(instants), number(arrivals));
            let damaged = |reason: String| ExecError::Document { arrival, reason };
            let document = match events.reads_documents {
                true => {
                    let bytes = document(documents, ends, index)
                        .ok_or_else(|| damaged("its end lies outside its block".to_owned()))?;
                    stats.bytes += bytes.len() as u64;
                    Some(self.offsets.scan_trusted(bytes).map_err(|error| damaged(error.to_string()))?)
                }
                false => None,
            };
            stats.events += 1;

            let event = Event { document, instant, arrival };
            let mut scope = Scope::of(event, &events.names, self.now, Some(control), &mut self.spare);
            scope.read(filter_names, 0);
            let mut is_read = false;
            let flow = unnested(&events.unnest, run, &mut is_read, &mut scope, documents, sink, stats);
            scope.take_failure()?;
            scope.end(&mut self.spare);
            if flow?.is_break() {
                break;
            }
        }
        Ok(next)
    }
}

/// The document of an event, without its line feed.
fn document<'d>(documents: &'d [u8], ends: &[[u8; 4]], index: usize) -> Option<&'d [u8]> {
    let start = match index.checked_sub(1) {
        Some(before) => u32::from_le_bytes(*ends.get(before)?) as usize + 1,
        None => 0,
    };
    documents.get(start..u32::from_le_bytes(*ends.get(index)?) as usize)
}

/// How many events a block has: as many as are told of in full.
pub(super) fn event_count(block: &dyn Block) -> usize {
    block.ends().len().min(block.instants().len()).min(block.arrivals().len())
}

/// One row for each element of the collections still to be unnested; the event itself where there are none.
fn unnested<'a>(
    collections: &'a [Expr],
    run: Run<'a>,
    is_read: &mut bool,
    scope: &mut Scope<'a>,
    documents: &'a [u8],
    sink: &mut impl Sink,
    stats: &mut Stats,
) -> Result<ControlFlow<()>, ExecError> {
    if let Some((collection, others)) = collections.split_first() {
        if let Value::Array(array) = collection.eval(scope) {
            let depth = scope.locals.len();
            for element in array.iter() {
                scope.locals.push(element);
                stats.elements += u64::from(others.is_empty());
                let flow = unnested(others, run, is_read, scope, documents, sink, stats);
                scope.locals.truncate(depth);
                if flow?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        return Ok(ControlFlow::Continue(()));
    }
    if let Some(kinds) = &run.control.watch.kinds {
        kinds.tested(scope);
    }
    let passes = run.plan.filter.as_ref().is_none_or(|filter| filter.test(scope));
    if !passes || scope.failure.is_some() {
        return Ok(ControlFlow::Continue(()));
    }
    stats.hits += 1;
    if !*is_read {
        *is_read = true;
        scope.read(
            run.events.names.get(run.events.filter_names..).unwrap_or_default(),
            run.events.filter_names,
        );
    }
    if let Some(kinds) = &run.control.watch.kinds {
        kinds.passed(scope);
    }
    run.control.watch.hit(stats.hits, || sink.hit(run.plan, scope, documents))
}
