//! The hits of a group of blocks, merged by (instant, arrival).

use super::project::Cursor;
use super::scan::{Run, Worker};
use super::stats::Stats;
use crate::error::ExecError;
use crate::row::Row;
use crate::source::{Direction, Source};

pub(super) struct Merge {
    width: usize,
    /// The blocks of the present group that have rows left. Few: blocks rarely overlap.
    cursors: Vec<Cursor>,
    /// The cursor whose row is the present one.
    current: Option<usize>,
    /// That row's number in its batch.
    row: usize,
}

impl Merge {
    pub(super) fn new(width: usize) -> Merge {
        Merge { width, cursors: Vec::new(), current: None, row: 0 }
    }

    /// Goes on to the next row: whether there is one. At most `wanted` rows will be asked for.
    pub(super) fn advance(
        &mut self,
        run: Run<'_>,
        wanted: u64,
        source: &mut dyn Source,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<bool, ExecError> {
        // The cursor that gave the last row may have to be filled again; the others have a row waiting.
        if let Some(cursor) = self.current.take() {
            self.refill(cursor, run, wanted, worker, stats)?;
        }
        while self.cursors.is_empty() {
            let Some(blocks) = source.next_group().map_err(ExecError::Source)? else {
                return Ok(false);
            };
            stats.blocks += blocks.len() as u64;
            self.cursors = blocks.into_iter().map(|block| Cursor::new(block, self.width)).collect();
            for cursor in (0..self.cursors.len()).rev() {
                self.refill(cursor, run, wanted, worker, stats)?;
            }
        }
        let orders = self.cursors.iter().map(|cursor| cursor.batch.order(cursor.at)).enumerate();
        let first = match run.events.direction {
            Direction::Ascending => orders.min_by_key(|(_, order)| *order),
            Direction::Descending => orders.max_by_key(|(_, order)| *order),
        };
        let Some((current, _)) = first else {
            return Ok(false);
        };
        if let Some(cursor) = self.cursors.get_mut(current) {
            self.row = cursor.at;
            cursor.at += 1;
        }
        self.current = Some(current);
        Ok(true)
    }

    fn refill(
        &mut self,
        cursor: usize,
        run: Run<'_>,
        wanted: u64,
        worker: &mut Worker,
        stats: &mut Stats,
    ) -> Result<(), ExecError> {
        let Some(filled) = self.cursors.get_mut(cursor) else {
            return Ok(());
        };
        if !filled.fill(run, wanted, worker, stats)? {
            self.cursors.swap_remove(cursor);
        }
        Ok(())
    }

    /// The present row.
    pub(super) fn row<'r>(&'r self, columns: &'r [String]) -> Option<Row<'r>> {
        self.cursors.get(self.current?)?.batch.row(columns, self.row)
    }
}
