//! A block in columns: the condition over whole columns, then the values of the rows that pass.

mod compile;
mod evaluate;
mod found;
mod range;

pub(crate) use compile::ColumnPlan;
pub(crate) use found::Found;

use super::block_scan::{BlockScan, Part, Position, Run};
use crate::chunk::{Columns, Form};
use crate::column_block::{Coded, ColumnBlock, ColumnError, PathColumn};
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
use std::ops::Range;
use std::sync::Arc;
use tamias_shred::Numbers;

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
    let mut rows = passing(mask.as_ref(), part.events.clone());
    if direction == Direction::Descending {
        rows.reverse();
    }
    let mut outputs = Vec::with_capacity(plan.outputs.len());
    for output in &plan.outputs {
        outputs.push(values(output, evaluator, &rows)?);
    }
    Ok(Ok(Some(Found { rows, outputs, events: part.events.len() })))
}

/// The rows of a range that pass.
fn passing(mask: Option<&Mask>, events: Range<usize>) -> Vec<u32> {
    let all = events.start as u32..events.end as u32;
    let Some(mask) = mask else { return all.collect() };
    // Which pass is not to be guessed: each is written, and overwritten if it does not.
    let mut rows = vec![0u32; all.len() + 1];
    let mut count = 0;
    for (row, passes) in all.zip(mask.get(events).unwrap_or_default()) {
        if let Some(place) = rows.get_mut(count) {
            *place = row;
        }
        count += usize::from(*passes);
    }
    rows.truncate(count);
    rows
}

/// The values of an output for some rows.
fn values(output: &Output, evaluator: &Evaluator<'_>, rows: &[u32]) -> Result<Values, ExecError> {
    match output.form {
        Form::Nothing => return Ok(Values::Nothing),
        Form::Numbers => {
            if let Some(column) = evaluator.measured(&output.expr) {
                return Ok(Values::Lengths(column));
            }
        }
        Form::Values => {}
    }
    match evaluator.as_column(&output.expr) {
        Some(Some(column)) => return Ok(Values::Path(column.clone())),
        Some(None) => return Ok(Values::Undefined),
        None => {}
    }
    if let Some((slot, coded)) = evaluator.entries(&output.expr)
        && coded.dictionary.len() <= rows.len()
        && let Some(of) = evaluator.column(slot)
    {
        let mut made = Made::default();
        let evaluated = evaluator.each_entry(&output.expr, slot, coded, |_, value| made.add(0, &value));
        // Where one fails, it may be that of a row that does not pass.
        if evaluated.is_ok() && made.too_large.is_none() {
            return Ok(Values::Entries { of: of.clone(), values: made.into_dictionary() });
        }
    }
    let mut made = Made::default();
    let all = rows.iter().map(|row| *row as usize);
    evaluator.each(&output.expr, all, |row, value| made.add(evaluator.arrival(row), &value))?;
    match made.too_large.take() {
        None => Ok(Values::Rows(made.into_dictionary())),
        Some(error) => Err(error),
    }
}

/// Values that were computed.
#[derive(Default)]
struct Made {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// The first that is larger than a row may be.
    too_large: Option<ExecError>,
}

impl Made {
    fn add(&mut self, arrival: u64, value: &Value<'_>) {
        let before = self.bytes.len();
        write_json(value, &mut self.bytes);
        self.ends.push(self.bytes.len() as u32);
        if self.too_large.is_none() {
            self.too_large = check_row(self.bytes.len() - before, Some(arrival)).err();
        }
    }

    fn into_dictionary(self) -> Arc<Dictionary> {
        Arc::new(Dictionary::new(self.bytes, self.ends))
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
        let only_counts = self.plan.only_counts && columns.only_counts();
        if only_counts {
            columns.count_rows(count);
        }
        self.control.profile.hits(count as u64, || {
            if only_counts {
                return;
            }
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
        // What is measured is a number.
        Values::Nothing | Values::Lengths(_) => {}
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
        Values::Lengths(path) => {
            if let Some(coded) = path.coded()
                && let Some(lengths) = coded.lengths()
            {
                push_stored_numbers(lengths, || coded, rows, begun, column, columns);
            }
        }
        Values::Path(path) => match &**path {
            PathColumn::Numbers(stored) => {
                push_stored_numbers(&stored.numbers, || stored.coded(), rows, begun, column, columns);
            }
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

/// Numbers of a column. Those of many digits are entries of its dictionary.
fn push_stored_numbers<'n>(
    numbers: &Numbers,
    longer: impl Fn() -> &'n Coded,
    rows: &[u32],
    begun: usize,
    column: usize,
    columns: &mut Columns,
) {
    let (Some(first), Some(last)) = (rows.first().copied(), rows.last().copied()) else { return };
    let mut shared = None;
    let mut push = |at: usize, place: usize, row: u32| {
        if let Some((significand, scale)) = numbers.get(place)
            && !columns.push_few(column, begun + at, significand, scale.into())
        {
            let coded = longer();
            let dictionary = *shared.get_or_insert_with(|| columns.share(coded.dictionary.clone()));
            columns.push_entry(column, begun + at, dictionary, coded.code(row as usize));
        }
    };
    let Some(of) = &numbers.rows else {
        rows.iter().enumerate().for_each(|(at, row)| push(at, *row as usize, *row));
        return;
    };
    // Where all rows of a range are wanted, those that have a number tell their places.
    if last.checked_sub(first).is_some_and(|distance| distance as usize + 1 == rows.len()) {
        let start = of.partition_point(|row| *row < first);
        let within = of.get(start..).unwrap_or_default().iter().take_while(|row| **row <= last);
        within.enumerate().for_each(|(nth, row)| push((row - first) as usize, start + nth, *row));
        return;
    }
    // Most queries go forward, so that the place of the next row is not far behind that of the last.
    let is_ascending = first <= last;
    let mut next = of.partition_point(|row| *row < first.min(last));
    for (at, row) in rows.iter().enumerate() {
        let place = if is_ascending {
            while of.get(next).is_some_and(|other| other < row) {
                next += 1;
            }
            (of.get(next) == Some(row)).then_some(next)
        } else {
            of.binary_search(row).ok()
        };
        if let Some(place) = place {
            push(at, place, *row);
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
