//! One event, evaluated by itself: the specification of everything that is quicker.

use super::block_scan::{Position, Run};
use crate::chunk::Columns;
use crate::error::ExecError;
use crate::expr::{Event, Expr, Scope};
use crate::outputs::{Output, check_row};
use crate::stats::Stats;
use crate::value::Value;
use std::ops::ControlFlow;

/// Where the rows of an event go.
pub(super) struct Emitter<'e> {
    pub(super) run: Run<'e>,
    /// The documents of the block.
    pub(super) documents: &'e [u8],
    pub(super) columns: &'e mut Columns,
    /// So many rows are wanted in the columns.
    pub(super) wanted: u64,
    pub(super) stats: &'e mut Stats,
    /// Of each collection that is unnested the element to go on with, as long as the event is not where it was left.
    resumed: &'e [usize],
    /// Of each collection the element that is evaluated.
    path: Vec<usize>,
    /// Whether the keys that are read of hits only have been read.
    is_read: bool,
}

impl<'e> Emitter<'e> {
    pub(super) fn new(
        run: Run<'e>,
        documents: &'e [u8],
        position: &'e Position,
        columns: &'e mut Columns,
        wanted: u64,
        stats: &'e mut Stats,
    ) -> Emitter<'e> {
        let resumed = position.within.as_slice();
        Emitter { run, documents, columns, wanted, stats, resumed, path: Vec::new(), is_read: false }
    }

    /// Adds the rows of the event of a scope: where to go on within it, if it has more.
    pub(super) fn event<'a>(&mut self, scope: &mut Scope<'a>) -> Result<Option<Vec<usize>>, ExecError>
    where
        'e: 'a,
    {
        let run = self.run;
        scope.read(run.events.names.get(..run.events.filter_names).unwrap_or_default(), 0);
        if let Some(filter) = &run.events.event_filter {
            let passes = filter.test(scope);
            match scope.take_failure() {
                // Whether that is come to, the whole condition tells for each element.
                Err(ExecError::ValueTooLarge { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) if !passes => return Ok(None),
                Ok(()) => {}
            }
        }
        let flow = self.unnested(&run.events.unnest, scope);
        scope.take_failure()?;
        Ok(match flow? {
            ControlFlow::Continue(()) => None,
            ControlFlow::Break(()) => Some(std::mem::take(&mut self.path)),
        })
    }

    /// A row for each element of the collections still to be unnested; for the event itself where there are none.
    fn unnested<'a>(
        &mut self,
        collections: &'e [Expr],
        scope: &mut Scope<'a>,
    ) -> Result<ControlFlow<()>, ExecError>
    where
        'e: 'a,
    {
        let Some((collection, others)) = collections.split_first() else { return self.row(scope) };
        let Value::Array(array) = collection.eval(scope) else { return Ok(ControlFlow::Continue(())) };
        let (depth, level) = (scope.locals.len(), self.path.len());
        let first = self.resumed.get(level).copied().unwrap_or(0);
        for (number, element) in array.iter().enumerate().skip(first) {
            if !scope.step() {
                break;
            }
            scope.locals.push(element);
            self.path.push(number);
            self.stats.elements += u64::from(others.is_empty());
            let flow = self.unnested(others, scope);
            scope.locals.truncate(depth);
            if flow?.is_break() {
                // Of the innermost collection the element is done; of the others it is gone on with.
                if others.is_empty()
                    && let Some(last) = self.path.last_mut()
                {
                    *last += 1;
                }
                return Ok(ControlFlow::Break(()));
            }
            self.path.truncate(level);
            // Behind the place where it was left, everything is new.
            self.resumed = &[];
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Adds a row if it passes: whether there is room for more of the event.
    fn row<'a>(&mut self, scope: &mut Scope<'a>) -> Result<ControlFlow<()>, ExecError>
    where
        'e: 'a,
    {
        let Run { plan, events, control, outputs } = self.run;
        if let Some(kinds) = &control.profile.kinds {
            kinds.tested(scope);
        }
        let passes = plan.filter.as_ref().is_none_or(|filter| filter.test(scope));
        if !passes || scope.failure.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        self.stats.hits += 1;
        if !self.is_read {
            self.is_read = true;
            scope.read(events.names.get(events.filter_names..).unwrap_or_default(), events.filter_names);
        }
        if let Some(kinds) = &control.profile.kinds {
            kinds.passed(scope);
        }
        control.profile.hit(self.stats.hits, || push_row(outputs, scope, self.columns, self.documents))?;
        // An event of many rows is not left for few of them, since it takes a while to come back.
        let is_full = self.columns.is_overfull() || self.columns.len() as u64 >= self.wanted;
        Ok(if is_full && !events.unnest.is_empty() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }
}

/// Adds a row with the values of the outputs.
fn push_row<'a>(
    outputs: &'a [Output],
    scope: &mut Scope<'a>,
    columns: &mut Columns,
    documents: &[u8],
) -> Result<(), ExecError> {
    let Some(Event { instant, arrival, .. }) = scope.event else { return Ok(()) };
    let before = columns.text_len();
    let row = columns.begin_row((instant, arrival));
    for (column, output) in outputs.iter().enumerate() {
        match &output.expr {
            Expr::Slot(slot) => columns.push_stored(column, row, scope.slot(*slot), documents),
            expr => {
                let value = expr.eval(scope);
                columns.push(column, row, &value, documents);
                check_row(columns.text_len() - before, Some(arrival))?;
                scope.charge(columns.text_len() - before);
            }
        }
    }
    Ok(())
}
