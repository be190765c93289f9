//! Which scan a block gets: of its columns where they can tell what is asked, else of its documents.

use super::block_scan::{BlockScan, Part, Position, Run};
use super::columns::{BlockColumns, ColumnPlan, ColumnScan, TextColumns, spelled};
use super::text::TextScan;
use super::worker::Worker;
use crate::column_block::ColumnError;
use crate::error::ExecError;
use crate::plan::Output;
use crate::source::Block;
use crate::statistics::Statistics;
use crate::stored::Documents;

/// A scan of a part of a block from a position on; none if its events are to be left out.
pub(crate) fn open<'s>(
    run: Run<'s>,
    worker: &'s mut Worker,
    block: &'s dyn Block,
    part: &Part,
    statistics: Option<&Statistics<'_>>,
    position: Position,
) -> Result<Option<Box<dyn BlockScan + 's>>, ExecError> {
    // The plan goes along with the worker, which a scan of documents needs as a whole.
    if let Some(plan) = worker.columns.clone()
        && let Some(columns) = columns_of(block, &plan, &position)?
    {
        match ColumnScan::new(plan, run, (&columns, block.range().0), part, position.clone())? {
            Ok(Some(scan)) => return Ok(Some(Box::new(scan))),
            Ok(None) => {}
            // Documents that the query goes past are none, so that this is why it fails.
            Err(ColumnError::Read(error)) if columns.is_text() => return Err(ExecError::Source(error)),
            Err(error) => {
                block.leave_out(error).map_err(ExecError::Source)?;
                return Ok(None);
            }
        }
    }
    let partial = partial(run, block)?;
    let scan = TextScan::new(run, worker, block, partial, part, statistics, position)?;
    Ok(scan.map(|scan| Box::new(scan) as Box<dyn BlockScan + 's>))
}

/// The columns of a block: stored ones, or, if queries before have asked for the same, those of its text.
fn columns_of<'s>(
    block: &'s dyn Block,
    plan: &ColumnPlan,
    position: &Position,
) -> Result<Option<BlockColumns<'s>>, ExecError> {
    if let Some(columns) = block.columns().map_err(ExecError::Source)? {
        return Ok(Some(BlockColumns::Stored(columns)));
    }
    // A scan of documents goes on as one, and so does one of columns, whatever is kept by then.
    let goes_on = position.found.is_some();
    if !goes_on && !position.is_start() {
        return Ok(None);
    }
    let kept = block.places().filter(|kept| goes_on || plan.is_told_by_text(kept));
    let Some(kept) = kept else { return Ok(None) };
    let Some(times) = block.times().map_err(ExecError::Source)? else { return Ok(None) };
    let is_whole = times.instants.len() == block.len() && times.arrivals.are_of(block.len());
    Ok(is_whole.then(|| BlockColumns::Text(TextColumns::new(block, times, kept))))
}

/// Documents of a block in columns that have no more than the keys that groups are made of; none where all of them are to be put together.
fn partial<'s>(run: Run<'s>, block: &'s dyn Block) -> Result<Option<Documents<'s>>, ExecError> {
    // Rows point into whole documents.
    let Output::Groups(_) = &run.plan.output else { return Ok(None) };
    if run.events.reads_whole() || !run.events.reads_documents || run.control.options.plain {
        return Ok(None);
    }
    // A document may spell that as a lone surrogate.
    if run.events.names.iter().any(|name| name.contains('\u{FFFD}')) {
        return Ok(None);
    }
    let Some(columns) = block.columns().map_err(ExecError::Source)? else { return Ok(None) };
    let keys: Vec<Box<str>> = run.events.names.iter().map(|name| spelled(name)).collect();
    // What is damaged may be found whole, or is told, when all is read.
    Ok(columns.partial(&keys).ok().flatten())
}
