//! A block in columns: the condition over whole columns, then the values of the rows that pass.

mod arithmetic;
mod arrays;
mod beginning;
mod best;
mod by_beginning;
mod calculate;
mod characters;
mod choice;
mod chosen;
mod clock;
mod compile;
mod computed;
mod cut;
mod documents;
mod evaluate;
mod event_ids;
mod found;
mod in_json;
mod in_pieces;
mod join;
mod literal;
mod made;
mod made_again;
mod mapped;
mod members;
mod messages;
mod of_array;
mod of_block;
mod of_members;
mod of_numbers;
mod one_case;
mod one_of;
mod quotient;
mod range;
mod readings;
mod reckoned;
mod rendering;
mod replaced;
mod roots;
mod rounded;
mod row_documents;
mod some_rows;
mod spots;
mod standing;
mod text_columns;
mod texts;
mod to_number;
mod two_texts;
mod types;
mod unnest;
mod values;
mod whole;
mod wide;

pub(crate) use compile::ColumnPlan;
pub(crate) use found::Found;
pub(super) use members::spelled;
pub(crate) use of_block::BlockColumns;
use of_block::Read;
pub(crate) use text_columns::TextColumns;

use super::block_scan::{BlockScan, Part, Position, Run};
use crate::chunk::{Columns, DecimalValues, Decimals, EventRows, Form, Order};
use crate::column_block::{Coded, ColumnError, PathColumn};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Computed, Expr};
use crate::outputs::Output;
use crate::source::Direction;
use crate::stats::{Stats, Technique};
use crate::value::Value;
use compile::{Unnest, Wanted, makes_texts, reads_document, slots_of};
use computed::{FewNumbers, Texts};
use evaluate::{CALCULATED_SHARE, Evaluator, Mask, and, count, rows_of};
use found::{Passing, Values};
use reckoned::Reckoned;
use some_rows::texts_of_rows;
use standing::Standing;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use whole::{gather, gather_decimals, set_column};

/// A scan of a block in columns.
pub(crate) struct ColumnScan<'s> {
    plan: Arc<ColumnPlan>,
    standing: Standing<'s>,
    found: Arc<Found>,
    position: Position,
    control: &'s Control,
    /// What was read for it, and is not counted yet.
    read: Read,
}

impl<'s> ColumnScan<'s> {
    /// A scan of a part of a block, which begins at a place in time, from a position on; none where columns cannot tell what is asked.
    pub(crate) fn new(
        plan: Arc<ColumnPlan>,
        run: Run<'s>,
        (block, begin): (&BlockColumns<'s>, Order),
        part: &Part,
        position: Position,
    ) -> Told<Option<ColumnScan<'s>>> {
        let control = run.control;
        let standing = match Standing::of(block, begin, part.is_alone, plan.times) {
            Ok(standing) => standing,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(found) = position.found.clone() {
            return Ok(Ok(Some(ColumnScan {
                plan,
                standing,
                found,
                position,
                control,
                read: Read::default(),
            })));
        }
        let mut evaluator = Evaluator::new(block, &plan.paths, standing.times(), control);
        evaluator.presence = plan.presence.clone();
        evaluator.keys = &plan.keys;
        evaluator.make_room_within(plan.within.len());
        let found = find(&plan, run.events.direction, &mut evaluator, part)?;
        control.profile.columns(|| evaluator.names());
        drop(evaluator);
        let read = block.take_read();
        Ok(found.map(|found| {
            let found = Arc::new(found?);
            let position = Position { found: Some(found.clone()), ..position };
            Some(ColumnScan { plan, standing, found, position, control, read })
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
    let plan = &*in_block(plan, evaluator);
    let (event_filter, filter) = match part.settled.all {
        true => (None, None),
        false => (plan.event_filter.as_ref(), plan.filter.as_ref()),
    };
    let events = part.events.len();
    let places = evaluator.block.places(part.events.clone());
    let stay = evaluator.staying(&places);
    evaluator.in_any_order = plan.in_any_order && stay.is_none() && events == evaluator.block.len();
    let stay = match test(event_filter, stay, evaluator)? {
        Ok(Tested::Rows(mask)) => mask,
        Ok(Tested::Unknown) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    let (places, stay) = match unnested(plan, evaluator, places, stay)? {
        Ok(Some(rows)) => rows,
        Ok(None) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    let staying = || stay.as_ref().map_or(places.len(), |stay| count(stay.get(places.clone())));
    let elements = if plan.unnest.is_some() { staying() } else { 0 };
    let mask = match test(filter, stay, evaluator)? {
        Ok(Tested::Rows(mask)) => mask,
        Ok(Tested::Unknown) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    let mut rows = passing(plan.wants, mask.as_ref(), places);
    let hits = rows.len();
    if let Some(error) = evaluator.take_broken() {
        return Ok(Err(error));
    }
    let Loaded { plan, first_values } = match load_outputs(plan, direction, evaluator, &mut rows) {
        Ok(Some(loaded)) => loaded,
        Ok(None) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    let mut outputs = Vec::with_capacity(plan.outputs.len());
    let mut made_bytes = 0;
    for output in &plan.outputs {
        match values(output, evaluator, &rows, &mut made_bytes) {
            Ok(Some(_)) if made_bytes > MADE_BYTES_MAX => return Ok(Ok(None)),
            Ok(Some(values)) => outputs.push(values),
            Ok(None) | Err(ExecError::ValueTooLarge { .. }) => return Ok(Ok(None)),
            Err(error) => return Err(error),
        }
    }
    if let Some(error) = evaluator.take_broken() {
        return Ok(Err(error));
    }
    if let Some(beginning) = plan.beginning {
        // Now it is sure that these rows are given.
        plan.best.add(beginning, first_values);
    }
    Ok(Ok(Some(Found { rows, outputs, origins: evaluator.origins.clone(), events, elements, hits })))
}

/// The plan as a block answers it, by the messages, the readings of paths and the arrays that it has columns of.
fn in_block<'p>(plan: &'p ColumnPlan, evaluator: &mut Evaluator<'_>) -> Cow<'p, ColumnPlan> {
    let block = evaluator.block.stored();
    let are_stored = |(template, message)| block.is_some_and(|block| block.comes_with(template, message));
    let mut plan = Cow::Borrowed(plan);
    if plan.message_paths().is_some_and(are_stored) {
        plan = Cow::Owned(plan.with_stored_messages());
    }
    if plan.has_members {
        plan = Cow::Owned(evaluator.with_members(&plan));
    }
    if plan.asks_of_arrays {
        plan = Cow::Owned(evaluator.resolved(&plan));
    }
    if block.is_some() && plan.messages.is_some() {
        plan = Cow::Owned(evaluator.with_rendered_messages(&plan));
    }
    plan
}

/// Gives the elements of the events that stay rows of their own, where the plan unnests something: the places of the rows, and which of them stay. None where
/// columns cannot tell it.
fn unnested(
    plan: &ColumnPlan,
    evaluator: &mut Evaluator<'_>,
    events: Range<usize>,
    stay: Option<Mask>,
) -> Told<Option<(Range<usize>, Option<Mask>)>> {
    let Some(unnest) = &plan.unnest else { return Ok(Ok(Some((events, stay)))) };
    if stay.as_ref().is_some_and(|stay| !stay.get(events.clone()).unwrap_or_default().contains(&true)) {
        return Ok(Ok(Some((0..0, Some(Mask::new())))));
    }
    // Of rows that become elements it is not known yet which are wanted: what is asked of them is taken from their events.
    let few = stay.as_ref().map(|stay| rows_of(stay, 0)).filter(|rows| evaluator.are_few(rows.len()));
    let exprs = plan.filter.iter().chain(plan.outputs.iter().map(|output| &output.expr));
    let objects = match &few {
        Some(_) => None,
        None => plan.collection().and_then(|collection| evaluator.objects_of_members(collection)),
    };
    // These are not put together.
    let collection = plan.collection().filter(|_| objects.is_none());
    for expr in collection.into_iter().chain(&plan.within).chain(exprs) {
        evaluator.check()?;
        let rows = few.as_deref().filter(|_| !evaluator.has(expr));
        match evaluator.load_for(expr, rows) {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(None)),
            Err(error) => return Ok(Err(error)),
        }
    }
    match unnest {
        Unnest::Values(collection) => {
            let collections = std::iter::once(collection).chain(&plan.within);
            let rows = evaluator.unnest_all(collections, objects.as_ref(), events, stay.as_ref())?;
            Ok(Ok(rows.map(|rows| (rows, None))))
        }
        Unnest::Elements(arrays) => Ok(evaluator
            .unnest_columns(arrays, events)
            .map(|rows| rows.map(|rows| (rows, stay.map(|stay| evaluator.of_elements_of(&stay)))))),
    }
}

/// Which rows pass a condition.
enum Tested {
    /// Those of a mask, or all.
    Rows(Option<Mask>),
    /// Columns cannot tell it.
    Unknown,
}

/// The rows that pass a condition, if there is one. Nothing is asked of rows that do not `stay`.
fn test(filter: Option<&Expr>, stay: Option<Mask>, evaluator: &mut Evaluator<'_>) -> Told<Tested> {
    let Some(filter) = filter else { return Ok(Ok(Tested::Rows(stay))) };
    match test_terms(filter, stay, evaluator) {
        Ok(Ok(Some(mask))) => Ok(Ok(Tested::Rows(Some(mask)))),
        // It may be of a row that is not come to.
        Ok(Ok(None)) | Err(ExecError::ValueTooLarge { .. }) => Ok(Ok(Tested::Unknown)),
        Ok(Err(error)) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// The rows that pass a condition; none where columns cannot tell it. What searches texts comes last: they are made for the rows alone that pass all
/// else, if those are few.
fn test_terms(filter: &Expr, stay: Option<Mask>, evaluator: &mut Evaluator<'_>) -> Told<Option<Mask>> {
    let terms = match filter {
        Expr::And(terms) => terms.as_slice(),
        other => std::slice::from_ref(other),
    };
    let rank = |term: &&Expr| match term {
        term if reads_document(term) || evaluator.reads_messages(term) => 3,
        Expr::Match { .. } | Expr::MatchWhole { .. } | Expr::Like { .. } => 1,
        // Where each row has another text to be looked for.
        Expr::Call { arguments, .. } if matches!(arguments.as_slice(), [_, of] if !slots_of(of).is_empty()) => {
            2
        }
        term if makes_texts(term) || evaluator.reads_json(term) => 2,
        _ => 0,
    };
    let mut terms: Vec<&Expr> = terms.iter().collect();
    terms.sort_by_key(rank);
    let mut mask = stay;
    for term in terms {
        evaluator.check()?;
        let rows: Option<Vec<u32>> = match &mask {
            None => None,
            Some(mask) => match count(Some(mask)) {
                0 => break,
                count if !evaluator.are_few(count) || evaluator.has(term) => None,
                _ => Some(rows_of(mask, 0)),
            },
        };
        let made = match evaluator.with_made_operands(term, mask.as_ref()) {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        let term = &*made;
        let measured = match rows.as_deref() {
            Some(rows) if !evaluator.are_many(rows.len()) => Ok(None),
            None | Some(_) => evaluator.measured(term),
        };
        let measured = match measured {
            Ok(measured) => measured,
            Err(error) => return Ok(Err(error)),
        };
        let term = measured.as_ref().unwrap_or(term);
        let searched = match rows {
            None => evaluator.test_in_passing(term),
            Some(_) => Ok(None),
        };
        let passes = match searched {
            Ok(Some(passes)) => passes,
            Ok(None) => {
                match evaluator.load_for(term, rows.as_deref()) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Ok(None)),
                    Err(error) => return Ok(Err(error)),
                }
                match mask.as_ref().and_then(|mask| evaluator.test_some(term, mask)) {
                    Some(passes) => passes?,
                    None => evaluator.test(term, mask.as_ref())?,
                }
            }
            Err(error) => return Ok(Err(error)),
        };
        match &mut mask {
            None => mask = Some(passes),
            Some(mask) => and(mask, &passes),
        }
    }
    Ok(Ok(Some(mask.unwrap_or_else(|| vec![true; evaluator.rows()]))))
}

/// What is asked of rows, once that was read.
struct Loaded<'p> {
    plan: Cow<'p, ColumnPlan>,
    /// The values that they are sorted by, as far as these are known.
    first_values: Vec<Value<'static>>,
}

/// The plan, with slots in place of how long texts are where many rows are asked for that.
fn measured_outputs<'p>(
    plan: &'p ColumnPlan,
    evaluator: &mut Evaluator<'_>,
    rows: &Passing,
) -> Result<Cow<'p, ColumnPlan>, ColumnError> {
    let mut with_lengths = Cow::Borrowed(plan);
    let are_many = match rows {
        Passing::Some(rows) => evaluator.are_many(rows.len()),
        Passing::All(_) | Passing::Count(_) => true,
    };
    if plan.wants == Wanted::Rows || !are_many {
        return Ok(with_lengths);
    }
    for (nth, output) in plan.outputs.iter().enumerate() {
        if let Some(measured) = evaluator.measured(&output.expr)? {
            let mut outputs = with_lengths.to_mut().outputs.iter_mut();
            outputs.nth(nth).into_iter().for_each(|output| output.expr = measured.clone());
        }
    }
    Ok(with_lengths)
}

/// Reads what is asked of the rows that pass, and leaves those out that are not wanted; none where columns cannot tell it.
fn load_outputs<'p>(
    plan: &'p ColumnPlan,
    direction: Direction,
    evaluator: &mut Evaluator<'_>,
    rows: &mut Passing,
) -> Result<Option<Loaded<'p>>, ColumnError> {
    let made = evaluator.with_made_outputs(plan, rows)?;
    let plan = match measured_outputs(&made, evaluator, rows)? {
        Cow::Borrowed(_) => made,
        Cow::Owned(measured) => Cow::Owned(measured),
    };
    let outputs = plan.outputs.iter().enumerate();
    let mut first_values = Vec::new();
    let Passing::Some(rows) = rows else {
        return Ok(load(outputs, evaluator, None)?.then_some(Loaded { plan, first_values }));
    };
    let rows = Arc::make_mut(rows);
    if plan.wants == Wanted::Rows {
        if let Some(first) = plan.beginning {
            // Which rows come first is told without values that are no more than stored.
            let tells = |(nth, output): &(usize, &Output)| {
                *nth == first.output || !matches!(output.expr, Expr::Slot(_))
            };
            if !load(outputs.clone().filter(tells), evaluator, Some(rows))? {
                return Ok(None);
            }
            first_values = beginning::cut(&plan, evaluator, rows);
        }
        if let Some(most) = plan.rows_max {
            let left_out = rows.len().saturating_sub(most);
            match direction {
                Direction::Ascending => rows.truncate(most),
                Direction::Descending => drop(rows.drain(..left_out)),
            }
        }
        if plan.is_whole && !evaluator.are_few(rows.len()) {
            return Ok(None);
        }
    }
    let are_told = load(outputs, evaluator, Some(rows))?;
    if plan.wants == Wanted::Rows && direction == Direction::Descending {
        rows.reverse();
        // The elements of an event keep their order.
        if let Some(origins) = &evaluator.origins {
            let event = |row: &u32| origins.get(*row as usize);
            rows.chunk_by_mut(|row, next| event(row) == event(next)).for_each(<[u32]>::reverse);
        }
    }
    Ok(are_told.then_some(Loaded { plan, first_values }))
}

/// Reads what outputs are made of, for some rows: whether columns can tell it.
fn load<'o>(
    outputs: impl Iterator<Item = (usize, &'o Output)>,
    evaluator: &mut Evaluator<'_>,
    rows: Option<&[u32]>,
) -> Result<bool, ColumnError> {
    if rows.is_some_and(<[u32]>::is_empty) {
        return Ok(true);
    }
    let rows = rows.filter(|rows| evaluator.are_few(rows.len()));
    for (_, output) in outputs {
        let rows =
            rows.filter(|rows| !(evaluator.are_many(rows.len()) && evaluator.measures_pieces(&output.expr)));
        if !evaluator.load_for(&output.expr, rows)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The rows of a range that pass.
fn passing(wanted: Wanted, mask: Option<&Mask>, events: Range<usize>) -> Passing {
    let all = events.start as u32..events.end as u32;
    let passes = mask.map(|mask| mask.get(events).unwrap_or_default());
    match (wanted, passes) {
        (Wanted::Count, None) => Passing::Count(all.len()),
        (Wanted::Count, passes) => Passing::Count(count(passes)),
        (Wanted::Block, None) => Passing::All(all),
        (Wanted::Rows, None) => Passing::Some(Arc::new(all.collect())),
        (Wanted::Block | Wanted::Rows, Some(passes)) => Passing::Some(Arc::new(rows_of(passes, all.start))),
    }
}

/// What the outputs of a block may take together, in bytes. Of more, documents are looked at one by one.
const MADE_BYTES_MAX: usize = 64 << 20;

/// The values of an output for some rows; none where they take much memory. Counts the bytes of what is made for them.
fn values(
    output: &Output,
    evaluator: &Evaluator<'_>,
    rows: &Passing,
    made_bytes: &mut usize,
) -> Result<Option<Values>, ExecError> {
    if let (Expr::BuiltIn(Computed::Data), Form::Values | Form::Keys) = (&output.expr, output.form) {
        let places: Vec<u32> = rows.places().collect();
        let documents = evaluator.documents(&places).unwrap_or_default();
        *made_bytes += documents.held_bytes();
        return Ok(Some(Values::Rows(Arc::new(documents))));
    }
    if output.form == Form::Nothing {
        return Ok(Some(Values::Nothing));
    }
    if let (Expr::BuiltIn(Computed::Id), Form::Values | Form::Keys) = (&output.expr, output.form)
        && let Some(ids) = evaluator.event_ids(rows, made_bytes)
    {
        return Ok(Some(ids));
    }
    match evaluator.as_column(&output.expr) {
        Some(Some(column)) => {
            if let (Form::Values | Form::Keys, Passing::Some(places)) = (output.form, rows)
                && !evaluator.are_many(places.len())
                && let Some(texts) = column.texts_of(places)
            {
                *made_bytes += texts.held_bytes();
                return Ok(Some(Values::Rows(Arc::new(texts))));
            }
            let values = of_column(column.clone(), output.form, rows, evaluator.rows());
            if evaluator.are_keys(&output.expr) {
                column.will_be_keys();
            }
            return Ok(Some(values));
        }
        Some(None) => return Ok(Some(Values::Undefined)),
        None => {}
    }
    if let Some(inner) = evaluator.of_texts(&output.expr, rows)
        && let Some(values) = values_of_all(output, &inner, made_bytes)?
    {
        return Ok(Some(values));
    }
    if let Some(values) = reckoned_values(output, evaluator, rows) {
        *made_bytes += match &values {
            Values::Decimals(decimals) => decimals.values.bytes(),
            Values::Rows(texts) => texts.held_bytes(),
            Values::Nothing | Values::Undefined | Values::Path(_) | Values::Numbers(_) => 0,
        };
        return Ok(Some(values));
    }
    if evaluator.is_worthwhile(&output.expr, rows.len())
        && let Some(column) = evaluator.computed(&output.expr)
    {
        *made_bytes += column.held_bytes();
        return Ok(Some(of_column(column, output.form, rows, evaluator.rows())));
    }
    if output.form == Form::Numbers {
        let mut made = FewNumbers::default();
        evaluator.each(&output.expr, rows.places(), |_, value| made.add(&value))?;
        if let Some(numbers) = made.into_mantissas() {
            return Ok(Some(Values::Numbers(numbers)));
        }
    }
    let made = match evaluator.put_together(&output.expr, rows.places()) {
        Some(made) => made,
        None => {
            let mut made = Texts::default();
            if !evaluator.map_rows(&output.expr, rows, &mut made) {
                made = Texts::default();
                evaluator.each(&output.expr, rows.places(), |_, value| made.add(&value))?;
            }
            made
        }
    };
    let made = made.into_dictionary();
    *made_bytes += made.as_ref().map_or(0, |made| made.held_bytes());
    Ok(made.map(Values::Rows))
}

/// The values of an output for all rows of an evaluator that has no others, by their places among these.
fn values_of_all(
    output: &Output,
    evaluator: &Evaluator<'_>,
    made_bytes: &mut usize,
) -> Result<Option<Values>, ExecError> {
    let rows = evaluator.rows();
    let values = values(output, evaluator, &Passing::All(0..rows as u32), made_bytes)?;
    // What cannot be read is found again where all rows are asked.
    if evaluator.take_broken().is_some() {
        return Ok(None);
    }
    Ok(match values {
        Some(Values::Path(column)) => texts_of_rows(&column, rows).map(Values::Rows),
        other => other,
    })
}

/// The same of an expression that reckons: numbers where these are wanted, or else for a few rows what it comes to as texts. None of another one.
fn reckoned_values(output: &Output, evaluator: &Evaluator<'_>, rows: &Passing) -> Option<Values> {
    let Output { expr, form, are_summands } = output;
    match (expr, form) {
        (
            Expr::Arithmetic(..) | Expr::Negate(_) | Expr::Call { .. } | Expr::If(_) | Expr::Coalesce(_),
            Form::Numbers,
        ) => {}
        (_, Form::Values | Form::Keys) if !evaluator.are_many(rows.len()) => {
            return evaluator.texts_of_some(expr, rows).map(Values::Rows);
        }
        _ => return None,
    }
    let reckon = |evaluator: &Evaluator<'_>, expr: &Expr| match are_summands {
        true => evaluator.operand(expr),
        false => evaluator.reckoned(expr),
    };
    let (reckoned, of) = match evaluator.of_some(expr, rows) {
        Some((expr, some)) => (reckon(&some, &expr)?, rows.len()),
        None if !evaluator.are_many(rows.len()) || evaluator.is_dear(expr, || rows.len()) => return None,
        None => match evaluator.numbers_of_entries(rows, expr, |of_entries| reckon(of_entries, expr)) {
            Some(numbers) => return Some(Values::Numbers(numbers)),
            None => (reckon(evaluator, expr)?, evaluator.rows()),
        },
    };
    match reckoned {
        Reckoned::Constant { .. } => None,
        Reckoned::Numbers(numbers) => Some(Values::Numbers(gather(&numbers, rows, of))),
        Reckoned::Decimals(decimals) if rows.len() == of => Some(Values::Decimals(decimals)),
        Reckoned::Decimals(decimals) => Some(Values::Decimals(Arc::new(gather_decimals(&decimals, rows)))),
    }
}

/// The values of a column of so many rows; where numbers are wanted, of some rows as such if it has nothing else.
fn of_column(column: Arc<PathColumn>, form: Form, rows: &Passing, of: usize) -> Values {
    if form != Form::Numbers {
        // Texts that cannot be put together are told before rows are given.
        if let PathColumn::Pieces(pieces) = &*column {
            pieces.coded();
        }
        return Values::Path(column);
    }
    let numbers = match &*column {
        PathColumn::Nothing | PathColumn::Unknown => return Values::Undefined,
        PathColumn::Numbers(column) => Some(gather(&column.numbers, rows, of)),
        PathColumn::Mixed(column) if column.others.are_null => Some(gather(&column.numbers, rows, of)),
        // Texts are no numbers.
        PathColumn::Mixed(_) | PathColumn::Pieces(_) => None,
        PathColumn::Coded(coded) => match FewNumbers::of_entries(coded, rows) {
            Some(numbers) => Some(numbers),
            None => match stored_numbers(coded, rows, of) {
                Some(stored) => return Values::Decimals(stored),
                None => None,
            },
        },
    };
    numbers.map_or_else(|| Values::Path(column), Values::Numbers)
}

/// So many entries are looked at before all are.
const PROBED_ENTRIES: usize = 8;

/// The numbers of some rows of a column of so many, if they are short and it has nothing else that counts, and most entries are asked about.
fn stored_numbers(coded: &Coded, rows: &Passing, of: usize) -> Option<Arc<Decimals>> {
    // A column of strings begins with one, most likely.
    let mut entries = 0..coded.dictionary.len().min(PROBED_ENTRIES) as u32;
    let has_string = entries.any(|entry| coded.dictionary.get(entry).first() == Some(&b'"'));
    if has_string || rows.len() < coded.dictionary.len() / CALCULATED_SHARE {
        return None;
    }
    let numbers = coded.numbers().filter(|numbers| numbers.are_null)?;
    if !matches!(numbers.decimals.values, DecimalValues::Stored(_)) {
        return None;
    }
    if rows.len() == of {
        return Some(numbers.decimals.clone());
    }
    Some(Arc::new(gather_decimals(&numbers.decimals, rows)))
}

/// So many rows are given at once.
const ROWS_MAX: usize = 4096;

impl BlockScan for ColumnScan<'_> {
    fn next(&mut self, columns: &mut Columns, wanted: u64, stats: &mut Stats) -> Result<bool, ExecError> {
        self.control.check()?;
        stats.technique = Some(Technique::Columns);
        let Read { column_bytes, document_bytes } = std::mem::take(&mut self.read);
        stats.column_bytes += column_bytes;
        stats.bytes += document_bytes;
        if self.position.is_start() {
            stats.events += self.found.events as u64;
            stats.elements += self.found.elements as u64;
        }
        let first = self.position.rows;
        let left = self.found.rows.len() - first;
        let count = match self.plan.wants {
            Wanted::Count | Wanted::Block => left,
            Wanted::Rows => {
                let room = wanted.saturating_sub(columns.len() as u64);
                left.min(usize::try_from(room).unwrap_or(usize::MAX)).min(ROWS_MAX)
            }
        };
        // Those of which no row is wanted are hits all the same.
        let left_out = if first == 0 { self.found.hits - self.found.rows.len() } else { 0 };
        stats.hits += (count + left_out) as u64;
        self.control.profile.hits(count as u64, || match self.plan.wants {
            Wanted::Count => columns.count_rows(count),
            Wanted::Block => self.give_block(columns),
            Wanted::Rows => self.give_rows(count, columns),
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

impl ColumnScan<'_> {
    /// Gives all rows, as columns of their own forms.
    fn give_block(&self, columns: &mut Columns) {
        let rows = &self.found.rows;
        match (&self.standing, rows.events()) {
            (Standing::Anywhere, _) | (_, None) => columns.count_rows(rows.len()),
            (Standing::Shared(of_block), Some(events)) if self.found.origins.is_none() => {
                columns.begin_block(of_block.clone(), events);
            }
            (standing, Some(_)) => {
                columns.begin_rows(rows.places().map(|row| standing.order(self.found.event(row))));
            }
        }
        for (column, (values, output)) in self.found.outputs.iter().zip(&self.plan.outputs).enumerate() {
            set_column(output.form, values, rows, column, columns);
        }
    }

    /// Gives so many rows as cells.
    fn give_rows(&self, count: usize, columns: &mut Columns) {
        let first = self.position.rows;
        let rows = Arc::new(self.found.rows.portion(first, count));
        match &self.standing {
            Standing::Shared(of_block) if self.found.origins.is_none() && columns.len() == 0 => {
                columns.begin_block(of_block.clone(), EventRows::Some(rows.clone()));
            }
            standing => {
                columns.begin_rows(rows.iter().map(|row| standing.order(self.found.event(*row))));
            }
        }
        for (column, values) in self.found.outputs.iter().enumerate() {
            push_values(values, &rows, first, column, columns);
        }
    }
}

/// Gives a column the values of rows, of which the first is the so-many-th that passes.
fn push_values(values: &Values, rows: &[u32], first: usize, column: usize, columns: &mut Columns) {
    match values {
        // Rows are made of values.
        Values::Nothing | Values::Numbers(_) | Values::Decimals(_) => {}
        Values::Undefined => columns.push_undefined(column, rows.len()),
        Values::Path(path) => match path.coded() {
            None => columns.push_undefined(column, rows.len()),
            Some(coded) => {
                let codes = rows.iter().map(|row| coded.code(*row as usize));
                columns.push_entries(column, &coded.dictionary, codes);
            }
        },
        Values::Rows(values) => {
            columns.push_entries(column, values, first as u32..(first + rows.len()) as u32);
        }
    }
}
