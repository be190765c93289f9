//! A block in columns: the condition over whole columns, then the values of the rows that pass.

mod compile;
mod evaluate;
mod found;
mod range;

pub(crate) use compile::ColumnPlan;
pub(crate) use found::Found;

use super::block_scan::{BlockScan, Part, Position, Run};
use crate::chunk::{Columns, Form};
use crate::column_block::{Coded, ColumnBlock, ColumnError, NumberColumn, PathColumn};
use crate::control::Control;
use crate::dictionary::Dictionary;
use crate::error::ExecError;
use crate::outputs::{Output, check_row};
use crate::source::Direction;
use crate::stats::{Stats, Technique};
use crate::stored::Times;
use crate::value::{Value, write_json};
use evaluate::{Evaluator, Mask};
use found::Values;
use std::sync::Arc;

/// A scan of a block in columns.
pub(crate) struct ColumnScan<'s> {
    plan: Arc<ColumnPlan>,
    times: Times<'s>,
    found: Arc<Found>,
    position: Position,
    control: &'s Control,
}

impl<'s> ColumnScan<'s> {
    /// A scan of a part of a block from a position on; none where columns cannot tell what is asked.
    pub(crate) fn new(
        plan: Arc<ColumnPlan>,
        run: Run<'s>,
        block: &'s ColumnBlock,
        part: &Part,
        position: Position,
    ) -> Told<Option<ColumnScan<'s>>> {
        let control = run.control;
        let times = match block.times() {
            Ok(times) => times,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(found) = position.found.clone() {
            return Ok(Ok(Some(ColumnScan { plan, times, found, position, control })));
        }
        let mut evaluator = Evaluator::new(block, &plan.paths, times, control);
        let found = find(&plan, run.events.direction, &mut evaluator, part)?;
        drop(evaluator);
        Ok(found.map(|found| {
            let found = Arc::new(found?);
            let position = Position { found: Some(found.clone()), ..position };
            Some(ColumnScan { plan, times, found, position, control })
        }))
    }
}

type Told<T> = Result<Result<T, ColumnError>, ExecError>;

/// The rows that pass, and what is asked of them.
fn find(
    plan: &ColumnPlan,
    direction: Direction,
    evaluator: &mut Evaluator<'_>,
    part: &Part,
) -> Told<Option<Found>> {
    let filter = plan.filter.as_ref().filter(|_| !part.settled.all);
    for expr in filter.into_iter().chain(plan.outputs.iter().map(|output| &output.expr)) {
        match evaluator.load(expr) {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(None)),
            Err(error) => return Ok(Err(error)),
        }
    }
    let mask: Option<Mask> = match filter {
        Some(filter) => Some(evaluator.test(filter, None)?),
        None => None,
    };
    let passes =
        |row: &u32| mask.as_ref().is_none_or(|mask| mask.get(*row as usize).copied().unwrap_or_default());
    let all = part.events.start as u32..part.events.end as u32;
    let mut rows: Vec<u32> = all.filter(passes).collect();
    if direction == Direction::Descending {
        rows.reverse();
    }
    let mut outputs = Vec::with_capacity(plan.outputs.len());
    for output in &plan.outputs {
        outputs.push(values(output, evaluator, &rows)?);
    }
    Ok(Ok(Some(Found { rows, outputs, events: part.events.len() })))
}

/// The values of an output for some rows.
fn values(output: &Output, evaluator: &Evaluator<'_>, rows: &[u32]) -> Result<Values, ExecError> {
    if output.form == Form::Nothing {
        return Ok(Values::Nothing);
    }
    match evaluator.as_column(&output.expr) {
        Some(Some(column)) => return Ok(Values::Path(column.clone())),
        Some(None) => return Ok(Values::Undefined),
        None => {}
    }
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut too_large = None;
    let mut add = |row: usize, value: Value<'_>| {
        let before = bytes.len();
        write_json(&value, &mut bytes);
        ends.push(bytes.len() as u32);
        if too_large.is_none() {
            too_large = check_row(bytes.len() - before, Some(evaluator.arrival(row))).err();
        }
    };
    if let Some((slot, coded)) = evaluator.entries(&output.expr)
        && coded.dictionary.len() <= rows.len()
    {
        evaluator.each_entry(&output.expr, slot, coded, |_, value| add(0, value))?;
        let Some(of) = evaluator.column(slot).cloned() else { return Ok(Values::Undefined) };
        return match too_large {
            None => Ok(Values::Entries { of, values: Arc::new(Dictionary::new(bytes, ends)) }),
            Some(error) => Err(error),
        };
    }
    evaluator.each(&output.expr, rows.iter().map(|row| *row as usize), add)?;
    match too_large {
        None => Ok(Values::Rows(Arc::new(Dictionary::new(bytes, ends)))),
        Some(error) => Err(error),
    }
}

/// So many rows are given at once.
const ROWS_MAX: usize = 4096;

impl BlockScan for ColumnScan<'_> {
    fn next(&mut self, columns: &mut Columns, wanted: u64, stats: &mut Stats) -> Result<bool, ExecError> {
        self.control.check()?;
        stats.technique = Some(Technique::Columns);
        if self.position.is_start() {
            stats.events += self.found.events as u64;
        }
        let room = usize::try_from(wanted.saturating_sub(columns.len() as u64)).unwrap_or(usize::MAX);
        let first = self.position.rows;
        let count = (self.found.rows.len() - first).min(room).min(ROWS_MAX);
        let rows = self.found.rows.get(first..first + count).unwrap_or_default();
        stats.hits += count as u64;
        self.control.profile.hits(count as u64, || {
            let begun = columns.len();
            columns.begin_rows(rows.iter().map(|row| self.times.order(*row as usize)));
            for (column, (values, output)) in self.found.outputs.iter().zip(&self.plan.outputs).enumerate() {
                match output.form {
                    Form::Nothing => {}
                    Form::Values => push_values(values, rows, first, column, columns),
                    Form::Numbers => push_numbers(values, rows, (first, begun), column, columns),
                }
            }
        });
        self.position.rows += count;
        let is_done = self.position.rows == self.found.rows.len();
        self.position.events = if is_done { self.found.events } else { self.position.events.max(1) };
        Ok(!is_done)
    }

    fn position(&self) -> Position {
        self.position.clone()
    }

    fn documents(&self) -> Option<&[u8]> {
        None
    }
}

/// Gives a column the values of rows, of which the first is the so-many-th that passes.
fn push_values(values: &Values, rows: &[u32], first: usize, column: usize, columns: &mut Columns) {
    match values {
        Values::Nothing => {}
        Values::Undefined => columns.push_undefined(column, rows.len()),
        Values::Path(path) => match path.coded() {
            None => columns.push_undefined(column, rows.len()),
            Some(coded) => push_coded(coded, &coded.dictionary, rows, column, columns),
        },
        Values::Entries { of, values } => match of.coded() {
            None => columns.push_undefined(column, rows.len()),
            Some(coded) => push_coded(coded, values, rows, column, columns),
        },
        Values::Rows(values) => {
            let dictionary = columns.share(values.clone());
            columns.push_entries(column, dictionary, first as u32..(first + rows.len()) as u32);
        }
    }
}

fn push_coded(
    coded: &Coded,
    dictionary: &Arc<Dictionary>,
    rows: &[u32],
    column: usize,
    columns: &mut Columns,
) {
    let dictionary = columns.share(dictionary.clone());
    columns.push_entries(column, dictionary, rows.iter().map(|row| coded.code(*row as usize)));
}

/// The same of values that are numbers, with the lengths of strings.
fn push_numbers(
    values: &Values,
    rows: &[u32],
    (first, begun): (usize, usize),
    column: usize,
    columns: &mut Columns,
) {
    match values {
        Values::Nothing | Values::Undefined => {}
        Values::Path(path) => match &**path {
            PathColumn::Numbers(numbers) => push_stored_numbers(numbers, rows, begun, column, columns),
            PathColumn::Coded(coded) => {
                let codes = rows.iter().map(|row| coded.code(*row as usize));
                push_entries(&coded.dictionary, codes, begun, column, columns);
            }
            PathColumn::Nothing | PathColumn::Unknown => {}
        },
        Values::Entries { of, values } => {
            if let Some(coded) = of.coded() {
                let codes = rows.iter().map(|row| coded.code(*row as usize));
                push_entries(values, codes, begun, column, columns);
            }
        }
        Values::Rows(values) => {
            let codes = first as u32..(first + rows.len()) as u32;
            push_entries(values, codes, begun, column, columns);
        }
    }
}

/// Numbers as they are stored in a column.
fn push_stored_numbers(
    stored: &NumberColumn,
    rows: &[u32],
    begun: usize,
    column: usize,
    columns: &mut Columns,
) {
    let numbers = &stored.numbers;
    let mut shared = None;
    // Most queries go forward, so that the place of the next row is not far behind that of the last.
    let mut next = 0;
    let mut place_of = |row: u32| match &numbers.rows {
        None => Some(row as usize),
        Some(of) => {
            if next > 0 && of.get(next - 1).is_some_and(|before| *before >= row) {
                return of.binary_search(&row).ok();
            }
            while of.get(next).is_some_and(|other| *other < row) {
                next += 1;
            }
            (of.get(next) == Some(&row)).then_some(next)
        }
    };
    for (at, row) in rows.iter().enumerate() {
        let Some(place) = place_of(*row) else { continue };
        if let Some((significand, scale)) = numbers.get(place)
            && !columns.push_few(column, begun + at, significand, scale.into())
        {
            let coded = stored.coded();
            let dictionary = *shared.get_or_insert_with(|| columns.share(coded.dictionary.clone()));
            columns.push_entry(column, begun + at, dictionary, coded.code(*row as usize));
        }
    }
}

/// The numbers, strings and Booleans among entries of a dictionary.
fn push_entries(
    dictionary: &Arc<Dictionary>,
    codes: impl Iterator<Item = u32>,
    begun: usize,
    column: usize,
    columns: &mut Columns,
) {
    let shared = columns.share(dictionary.clone());
    for (at, code) in codes.enumerate() {
        columns.push_entry(column, begun + at, shared, code);
    }
}
