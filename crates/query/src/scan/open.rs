//! Which scan a block gets: of its columns where they can tell what is asked, else of its documents.

use super::block_scan::{BlockScan, Part, Position, Run};
use super::columns::ColumnScan;
use super::text::TextScan;
use super::worker::Worker;
use crate::error::ExecError;
use crate::source::Block;
use crate::statistics::Statistics;

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
        && let Some(columns) = block.columns().map_err(ExecError::Source)?
    {
        match ColumnScan::new(plan, run, columns, part, position.clone())? {
            Ok(Some(scan)) => return Ok(Some(Box::new(scan))),
            Ok(None) => {}
            Err(error) => {
                block.leave_out(error).map_err(ExecError::Source)?;
                return Ok(None);
            }
        }
    }
    let scan = TextScan::new(run, worker, block, part, statistics, position)?;
    Ok(scan.map(|scan| Box::new(scan) as Box<dyn BlockScan + 's>))
}
