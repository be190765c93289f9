//! Expressions over the columns of a block: once for each entry of a dictionary where they depend on one path, compared as numbers without
//! text, or else row by row.

use super::compile::{is_has, needs_event, reads_document, slots_of};
use super::of_array::StandIn;
use super::of_block::BlockColumns;
use super::one_of::{any_element, any_of};
use super::range::{Among, Range};
use super::row_documents::RowDocuments;
use crate::ast::Comparison;
use crate::chunk::{DecimalValues, Decimals, ESTIMATE_ERROR, Order};
use crate::column_block::{Coded, ColumnError, MixedColumn, Path, PathColumn, Use};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Event, Expr, Scope, Spare, holds};
use crate::stored::Times;
use crate::value::{Kind, Number, Value, nearest_of};
use rust_decimal::Decimal;
use std::cell::RefCell;
use std::sync::Arc;
use tamias_json::{Offsets, Value as Stored};
use tamias_shred::Numbers;

/// The columns of a block that were asked for, and what else expressions see.
pub(super) struct Evaluator<'b> {
    pub(super) block: &'b BlockColumns<'b>,
    pub(super) paths: &'b [Path],
    /// For each slot: those of paths come first, then those of the elements that are unnested, then those of arrays.
    pub(super) columns: Vec<Option<Arc<PathColumn>>>,
    /// The first slot that stands for no path and no element.
    pub(super) first_stand_in: usize,
    /// What the slots from there on stand for.
    pub(super) stand_ins: Vec<StandIn>,
    /// The slots whose texts were searched without their columns.
    pub(super) searched: Vec<usize>,
    pub(super) times: Times<'b>,
    pub(super) control: &'b Control,
    /// Whether it makes no difference which event has what, so that values are taken as they are stored.
    pub(super) in_any_order: bool,
    /// The slots of paths of which nothing is asked but whether something stands there.
    pub(super) presence: Vec<usize>,
    /// The slots of paths whose values are told apart as keys, and nothing else.
    pub(super) keys: &'b [usize],
    /// Whether what in an expression can be made a column is one: there is no more to be had.
    pub(super) is_flat: bool,
    /// For each row its event in the block; none where rows are the events.
    pub(super) origins: Option<Arc<[u32]>>,
    /// The documents that were put together last.
    pub(super) kept: RefCell<Option<Arc<RowDocuments>>>,
    /// Why documents, or columns that no name stands for, could not be read.
    pub(super) broken: RefCell<Option<ColumnError>>,
}

/// Where one row in so many is asked about, whole columns are reckoned with.
pub(super) const CALCULATED_SHARE: usize = 16;

/// HEURISTIC: an expression takes so many times as long, evaluated for a row, as it is told of an entry among others.
pub(super) const ENTRIES_SHARE: usize = 2;

/// One row in so many, or fewer, are few.
pub(super) const FEW_SHARE: usize = 2;

/// A column is made of so many at most: each takes memory for all rows.
pub(super) const PARTS_MAX: usize = 64;

/// Fewer entries are evaluated one by one.
const ENTRIES_MIN: usize = 64;

/// For each row of a block whether it counts.
pub(super) type Mask = Vec<bool>;

/// How many rows pass.
pub(super) fn count(passes: Option<&[bool]>) -> usize {
    passes.unwrap_or_default().iter().filter(|passes| **passes).count()
}

/// The rows that pass, of which the first one has a number.
pub(super) fn rows_of(passes: &[bool], first: u32) -> Vec<u32> {
    /// So that each place is known to lie within the list.
    const ROWS: usize = 64;
    let mut rows = Vec::with_capacity(count(Some(passes)));
    for (first, passes) in (first..).step_by(ROWS).zip(passes.chunks(ROWS)) {
        let (mut passing, mut count) = ([0; ROWS], 0);
        for (row, passes) in (first..).zip(passes) {
            // Which pass is not to be guessed: each is written, and overwritten if it does not.
            passing[count % ROWS] = row;
            count += usize::from(*passes);
        }
        rows.extend_from_slice(passing.get(..count).unwrap_or_default());
    }
    rows
}

/// Leaves rows out that do not pass.
pub(super) fn and(mask: &mut Mask, passes: &Mask) {
    mask.iter_mut().zip(passes).for_each(|(mask, passes)| *mask &= passes);
}

impl<'b> Evaluator<'b> {
    pub(super) fn new(
        block: &'b BlockColumns<'b>,
        paths: &'b [Path],
        times: Times<'b>,
        control: &'b Control,
    ) -> Evaluator<'b> {
        let columns = vec![None; paths.len() + 1];
        Evaluator {
            block,
            paths,
            first_stand_in: columns.len(),
            columns,
            stand_ins: Vec::new(),
            searched: Vec::new(),
            times,
            control,
            in_any_order: false,
            presence: Vec::new(),
            keys: &[],
            is_flat: false,
            origins: None,
            kept: RefCell::default(),
            broken: RefCell::default(),
        }
    }

    /// Makes room for the elements of so many collections within the one that is unnested.
    pub(super) fn make_room_within(&mut self, collections: usize) {
        self.columns.resize(self.columns.len() + collections, None);
        self.first_stand_in = self.columns.len();
    }

    /// The same with columns of parts of an expression behind its own.
    pub(super) fn with_columns(&self, columns: Vec<Option<Arc<PathColumn>>>) -> Evaluator<'b> {
        Evaluator { columns, is_flat: true, origins: self.origins.clone(), ..self.emptied() }
    }

    /// One with the same rows and other columns, of which nothing is made yet.
    pub(super) fn beside(&self, columns: Vec<Option<Arc<PathColumn>>>) -> Evaluator<'b> {
        Evaluator { columns, origins: self.origins.clone(), ..self.emptied() }
    }

    /// One whose rows are elements, by the event of each.
    pub(super) fn of_elements(
        &self,
        columns: Vec<Option<Arc<PathColumn>>>,
        origins: Arc<[u32]>,
    ) -> Evaluator<'b> {
        Evaluator { columns, origins: Some(origins), ..self.emptied() }
    }

    /// One whose rows are the entries of a path's texts, so that what depends on it alone is told of all entries together; none where they are too few for that, or no
    /// strings.
    pub(super) fn of_entries(&self, slot: usize, coded: &Coded) -> Option<Evaluator<'b>> {
        let entries = coded.dictionary.len();
        if entries < ENTRIES_MIN || coded.dictionary.firsts().flatten().next() != Some(b'"') {
            return None;
        }
        let mut columns = vec![None; self.columns.len()];
        *columns.get_mut(slot)? =
            Some(Arc::new(PathColumn::Coded(Coded::new(None, coded.dictionary.clone()))));
        // What depends on a path alone does not ask for an entry's event.
        let origins = vec![0; entries].into();
        Some(Evaluator { is_flat: self.is_flat, ..self.of_elements(columns, origins) })
    }

    /// One of the same block without columns.
    pub(super) fn emptied(&self) -> Evaluator<'b> {
        Evaluator::new(self.block, self.paths, self.times, self.control)
    }

    /// Of each event whether it stays, where events of a range are deleted.
    pub(super) fn staying(&self, events: &std::ops::Range<usize>) -> Option<Mask> {
        let deleted = self.block.deleted_in(events);
        if deleted.is_empty() {
            return None;
        }
        let mut stay = vec![true; self.block.len()];
        for places in deleted {
            let places = places.start as usize..places.end as usize;
            stay.get_mut(places).into_iter().flatten().for_each(|stays| *stays = false);
        }
        Some(stay)
    }

    /// Of each row whether its event is in a mask.
    pub(super) fn of_elements_of(&self, events: &Mask) -> Mask {
        (0..self.rows()).map(|row| events.get(self.origin(row)).copied().unwrap_or_default()).collect()
    }

    /// Decodes what an expression reads: whether columns can tell it.
    pub(super) fn load(&mut self, expr: &Expr) -> Result<bool, ColumnError> {
        self.load_for(expr, None)
    }

    /// The same for some rows, in ascending order: no others are looked at after that.
    pub(super) fn load_for(&mut self, expr: &Expr, rows: Option<&[u32]>) -> Result<bool, ColumnError> {
        for slot in slots_of(expr) {
            if self.columns.get(slot).is_some_and(Option::is_none) {
                let column = match self.paths.get(slot) {
                    Some(path) => self.column_at(slot, path, rows)?,
                    // Elements that have rows are there by then.
                    None if !self.is_of_events(slot) => continue,
                    None => match self.column_of_events(slot, rows)? {
                        Some(column) => column,
                        None => return Ok(false),
                    },
                };
                if let Some(place) = self.columns.get_mut(slot) {
                    *place = Some(column);
                }
            }
            if matches!(self.columns.get(slot), Some(Some(column)) if matches!(**column, PathColumn::Unknown))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What stands at the path of a slot, for some rows or all.
    fn column_at(
        &self,
        slot: usize,
        path: &Path,
        rows: Option<&[u32]>,
    ) -> Result<Arc<PathColumn>, ColumnError> {
        let usage = if self.keys.contains(&slot) { Use::Keys } else { Use::Values };
        match rows {
            _ if self.presence.contains(&slot) => self.block.presence(path),
            _ if self.in_any_order => self.block.at_in_any_order(usage, path),
            None => self.block.at_for(usage, path),
            Some(rows) => match self.block.known_keys(path).filter(|_| usage == Use::Keys) {
                Some(column) => Ok(column),
                None => self.block.at_rows(path, rows),
            },
        }
    }

    /// Whether the values of an expression are those of paths that are told apart as keys, and nothing else.
    pub(super) fn are_keys(&self, expr: &Expr) -> bool {
        slots_of(expr).iter().any(|slot| self.keys.contains(slot))
    }

    /// The paths of the columns that were loaded and have something, with dots between keys.
    pub(super) fn names(&self) -> Vec<String> {
        let is_read = |slot: &usize| self.column(*slot).is_some() || self.searched.contains(slot);
        let loaded = self.paths.iter().enumerate().filter(|(slot, _)| is_read(slot));
        let mut names: Vec<String> = loaded.map(|(_, path)| path.join(".")).collect();
        for name in self.stand_in_names() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Why something could not be read on the way: what was evaluated does not count then.
    pub(super) fn take_broken(&self) -> Option<ColumnError> {
        let failure = |column: &Arc<PathColumn>| match &**column {
            PathColumn::Pieces(column) => column.failure(),
            _ => None,
        };
        let mut failures = self.columns.iter().flatten().filter_map(failure);
        self.broken.take().or_else(|| failures.next().map(ColumnError::Decode))
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.origins.as_ref().map_or(self.block.len(), |origins| origins.len())
    }

    /// The event of a row.
    pub(super) fn origin(&self, row: usize) -> usize {
        match &self.origins {
            None => row,
            Some(origins) => origins.get(row).map_or(usize::MAX, |origin| *origin as usize),
        }
    }

    /// Whether so many rows had better be told from whole columns. HEURISTIC: a number of a column takes a few nanoseconds, an expression of a row a hundred.
    pub(super) fn are_many(&self, rows: usize) -> bool {
        rows >= self.rows() / CALCULATED_SHARE
    }

    /// Whether so many rows are so few that texts had better be made for them alone.
    pub(super) fn are_few(&self, rows: usize) -> bool {
        rows * FEW_SHARE <= self.rows()
    }

    /// Whether all that an expression reads was decoded before, for all rows.
    pub(super) fn has(&self, expr: &Expr) -> bool {
        let is_new = |slot: &usize| self.columns.get(*slot).is_some_and(Option::is_none);
        slots_of(expr).into_iter().filter(is_new).all(|slot| match self.paths.get(slot) {
            Some(path) => self.block.has(path),
            None => self.is_told_at_once(slot),
        })
    }

    /// Fails if the query is not to go on.
    pub(super) fn check(&self) -> Result<(), ExecError> {
        Ok(self.control.check()?)
    }

    /// The column of a path that was loaded, if any event has something there.
    pub(super) fn column(&self, slot: usize) -> Option<&Arc<PathColumn>> {
        let column = self.columns.get(slot)?.as_ref()?;
        (!matches!(**column, PathColumn::Nothing)).then_some(column)
    }

    /// The path that an expression comes down to, where it is nothing else: a slot, or a dotted path that has one reading in this block.
    /// The inner one is none where no event has it.
    pub(super) fn as_column(&self, expr: &Expr) -> Option<Option<&Arc<PathColumn>>> {
        match expr {
            Expr::Slot(slot) => Some(self.column(*slot)),
            Expr::Path(readings) => {
                let mut only = None;
                for reading in readings {
                    match (self.as_column(reading)?, only) {
                        (None, _) => {}
                        (column, None) => only = column,
                        (Some(_), Some(_)) => return None,
                    }
                }
                Some(only)
            }
            _ => None,
        }
    }

    /// The numbers that an expression comes down to: those of a column, or the lengths of its strings.
    pub(super) fn numbers(&self, expr: &Expr) -> Option<&Arc<Numbers>> {
        if let Some(PathColumn::Numbers(column)) = self.as_column(expr).flatten().map(AsRef::as_ref) {
            return Some(&column.numbers);
        }
        match &**self.measured_column(expr)? {
            PathColumn::Coded(coded) => Some(coded.lengths()),
            PathColumn::Mixed(column) => Some(column.coded().lengths()),
            PathColumn::Pieces(column) => column.lengths(),
            PathColumn::Numbers(_) | PathColumn::Nothing | PathColumn::Unknown => None,
        }
    }

    /// The column of a path that has other values beside numbers, where an expression comes down to it.
    pub(super) fn mixed(&self, expr: &Expr) -> Option<&MixedColumn> {
        match &**self.as_column(expr)?? {
            PathColumn::Mixed(column) => Some(column),
            _ => None,
        }
    }

    /// Whether an expression asks nothing of columns but how long texts are that come in pieces: these tell it for all rows sooner than some are put
    /// together.
    pub(super) fn measures_pieces(&self, expr: &Expr) -> bool {
        let mut slots = Vec::new();
        let is_new = |slot: &usize| self.columns.get(*slot).is_some_and(Option::is_none);
        measured_slots(expr, &mut slots)
            && slots.iter().filter(|slot| is_new(slot)).any(|slot| self.is_in_pieces(*slot))
    }

    pub(super) fn is_in_pieces(&self, slot: usize) -> bool {
        let path = self.paths.get(slot);
        path.zip(self.block.stored()).is_some_and(|(path, block)| block.is_in_pieces(path))
    }

    pub(super) fn measured_column(&self, expr: &Expr) -> Option<&Arc<PathColumn>> {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "Length" => match arguments.as_slice()
            {
                [of] => self.as_column(of)?,
                _ => None,
            },
            _ => None,
        }
    }

    /// The one path of this block that an expression depends on; the inner one none where it depends on nothing.
    pub(super) fn only(&self, expr: &Expr) -> Option<Option<usize>> {
        if needs_event(expr) {
            return None;
        }
        let mut only = None;
        for slot in slots_of(expr) {
            if self.column(slot).is_some() && only.replace(slot).is_some() {
                return None;
            }
        }
        Some(only)
    }

    /// The entries of the one path that an expression depends on, where that repeats them.
    pub(super) fn entries(&self, expr: &Expr) -> Option<(usize, &Coded)> {
        let slot = self.only(expr)??;
        Some((slot, self.column(slot)?.repeating()?))
    }

    /// Of each row whether an expression is true. Rows that are not `within` need not be told.
    pub(super) fn test(&self, expr: &Expr, within: Option<&Mask>) -> Result<Mask, ExecError> {
        self.control.check()?;
        match expr {
            Expr::And(terms) => {
                let mut mask: Option<Mask> = None;
                // Documents are put together for the rows that pass all else.
                let (whole, others): (Vec<&Expr>, Vec<&Expr>) =
                    terms.iter().partition(|term| reads_document(term));
                for term in others.into_iter().chain(whole) {
                    let passes = self.test(term, mask.as_ref().or(within))?;
                    match &mut mask {
                        None => mask = Some(passes),
                        Some(mask) => and(mask, &passes),
                    }
                }
                return Ok(mask.unwrap_or_else(|| vec![true; self.rows()]));
            }
            Expr::Or(terms) => {
                let mut mask = vec![false; self.rows()];
                for term in terms {
                    let left: Mask = match within {
                        Some(within) => {
                            within.iter().zip(&mask).map(|(within, mask)| *within && !mask).collect()
                        }
                        None => mask.iter().map(|mask| !mask).collect(),
                    };
                    let passes = self.test(term, Some(&left))?;
                    mask.iter_mut().zip(&passes).for_each(|(mask, passes)| *mask |= passes);
                }
                return Ok(mask);
            }
            Expr::InSet { left, set, negated: false }
                if self.as_column(left).flatten().is_some()
                    && let Some(any) = any_of(left, set) =>
            {
                return self.test(&any, within);
            }
            Expr::In { left, right, negated: false, ci } if let Some(any) = any_element(left, right, *ci) => {
                return self.test(&any, within);
            }
            Expr::Not(of) if is_true_or_false(of) => {
                let mut mask = self.test(of, within)?;
                mask.iter_mut().for_each(|mask| *mask = !*mask);
                return Ok(mask);
            }
            _ => {}
        }
        let is_dear = within.is_some_and(|within| self.is_dear(expr, || count(Some(within))));
        if !is_dear && let Some(mask) = self.test_type(expr).or_else(|| self.test_column(expr, within)) {
            return Ok(mask);
        }
        if let Ok(Some(mask)) = self.test_texts(expr, within) {
            return Ok(mask);
        }
        if let Some(mask) = self.test_two_texts(expr, within)? {
            return Ok(mask);
        }
        if let Some(mask) = self.test_said(expr, within)? {
            return Ok(mask);
        }
        if self.only(expr) == Some(None) {
            let mut passes = false;
            self.each(expr, [0], |_, value| passes = value.is_true())?;
            return Ok(vec![passes; self.rows()]);
        }
        if let Some((slot, coded)) = self.entries(expr) {
            // Where it fails, that may be of a row that another term has passed over.
            return self.test_entries(expr, slot, coded).or_else(|_| self.test_rows(expr, within));
        }
        if within.is_none_or(|within| self.are_many(count(Some(within)))) {
            if let Some(column) = self.by_combinations(expr)
                && let Some(coded) = column.coded()
            {
                let entries = 0..coded.dictionary.len() as u32;
                let passes: Vec<bool> = entries.map(|entry| coded.dictionary.get(entry) == b"true").collect();
                let pass = |code: &u32| passes.get(*code as usize).copied().unwrap_or_default();
                return Ok(coded.codes().unwrap_or_default().iter().map(pass).collect());
            }
            if let Some((expr, inner)) = self.flattened(expr).filter(|_| !reads_document(expr)) {
                return inner.test(&expr, within);
            }
        }
        self.test_rows(expr, within)
    }

    /// The same of a condition that is told by comparing the numbers of columns, or by what is missing; none where it is another one.
    fn test_column(&self, expr: &Expr, within: Option<&Mask>) -> Option<Mask> {
        match expr {
            Expr::CompareNumber { op, left, number, .. } => {
                if let Some(numbers) = self.numbers(left)
                    && let Some(range) = Range::of(*op, number, numbers.scale)
                {
                    return Some(compare(numbers, |all| range.test(all), self.rows()));
                }
                if let Some(column) = self.mixed(left) {
                    let range = Range::of(*op, number, column.numbers.scale)?;
                    let mask = compare(&column.numbers, |all| range.test(all), self.rows());
                    return self.with_others(expr, column, mask);
                }
                if let Some(orders) = self.orders_of_quotients(left, number)
                    && let Some(range) = Range::of(*op, &Number::Decimal(Decimal::ZERO), orders.scale)
                {
                    return Some(compare(&orders, |all| range.test(all), self.rows()));
                }
                let reckoned = match self.reckoned(left) {
                    Some(reckoned) => reckoned,
                    // Null is unequal to a number, and neither less nor greater.
                    None if *op != Comparison::NotEqual => self.numbers_or_null(left)?,
                    None => return None,
                };
                if let Some(decimals) = reckoned.as_decimals() {
                    return compare_decimals(decimals, *op, number, self.rows());
                }
                if let Some(numbers) = reckoned.numbers()
                    && let Some(range) = Range::of(*op, number, numbers.scale)
                {
                    return Some(compare(numbers, |all| range.test(all), self.rows()));
                }
            }
            Expr::InSet { left, set, negated } => {
                if let Some(column) = self.mixed(left) {
                    let among = Among::of(set.values(), column.numbers.scale)?;
                    let test = |all: &[i64]| among.test(all, *negated);
                    return self.with_others(expr, column, compare(&column.numbers, test, self.rows()));
                }
                if let Some(reckoned) = self.reckoned(left)
                    && let Some(numbers) = reckoned.numbers()
                    && let Some(among) = Among::of(set.values(), numbers.scale)
                {
                    return Some(compare(numbers, |all| among.test(all, *negated), self.rows()));
                }
            }
            Expr::Compare { op, left, right, ci: false } => {
                let of_numbers = self.compare_numbers(expr, *op, [left, right]);
                return of_numbers.or_else(|| self.compare_texts(*op, left, right, within));
            }
            Expr::IsNull(of, negated) => {
                if let Some(column) = self.as_column(of) {
                    return Some(self.nulls(column.map(AsRef::as_ref), *negated));
                }
            }
            Expr::Call { arguments, .. } if is_has(expr) => {
                if let Some(column) = self.as_column(arguments.first()?) {
                    return Some(self.by_type(column.map(AsRef::as_ref), |kind| kind != Kind::Undefined));
                }
            }
            _ => {}
        }
        None
    }

    /// What a comparison of the numbers of a column has told, with what it comes to for the other values.
    fn with_others(&self, expr: &Expr, column: &MixedColumn, mut mask: Mask) -> Option<Mask> {
        let others = &column.others;
        let slot = self.only(expr)??;
        let mut passes = vec![false; others.values.dictionary.len()];
        let entries = 0..passes.len() as u32;
        self.each_entry(expr, slot, &others.values, entries, |entry, value| {
            if let Some(passes) = passes.get_mut(entry) {
                *passes = value.is_true();
            }
        })
        .ok()?;
        others.put(&passes, &mut mask);
        Some(mask)
    }

    /// The same of a condition on the one path that has these entries, each of which is looked at once.
    fn test_entries(&self, expr: &Expr, slot: usize, coded: &Coded) -> Result<Mask, ExecError> {
        let passes = match self.of_entries(slot, coded) {
            Some(of_entries) => of_entries.test(expr, None)?,
            None => {
                let mut passes = vec![false; coded.dictionary.len()];
                let entries = 0..coded.dictionary.len() as u32;
                self.each_entry(expr, slot, coded, entries, |entry, value| {
                    if let Some(passes) = passes.get_mut(entry) {
                        *passes = value.is_true();
                    }
                })?;
                passes
            }
        };
        let pass = |code: &u32| passes.get(*code as usize).copied().unwrap_or_default();
        Ok(coded.codes().unwrap_or_default().iter().map(pass).collect())
    }

    /// The same, row by row.
    fn test_rows(&self, expr: &Expr, within: Option<&Mask>) -> Result<Mask, ExecError> {
        let mut mask = within.cloned().unwrap_or_else(|| vec![true; self.rows()]);
        let is_open = |row: &usize| mask.get(*row).copied().unwrap_or_default();
        let rows = (0..self.rows()).filter(is_open).map(|row| row as u32).collect::<Vec<u32>>();
        self.each(expr, rows, |row, value| {
            if let Some(mask) = mask.get_mut(row) {
                *mask = value.is_true();
            }
        })?;
        Ok(mask)
    }

    /// An expression's value for some entries of the one path that it depends on.
    pub(super) fn each_entry(
        &self,
        expr: &Expr,
        slot: usize,
        coded: &Coded,
        entries: impl IntoIterator<Item = u32>,
        mut act: impl FnMut(usize, Value<'_>),
    ) -> Result<(), ExecError> {
        let (mut offsets, mut spare) = (Offsets::new(), Spare::default());
        for entry in entries {
            let mut scope = self.scope((0, 0), &mut spare);
            scope.set(slot, stored(coded.dictionary.get(entry), &mut offsets));
            let value = expr.eval(&mut scope);
            scope.take_failure()?;
            act(entry as usize, value);
            scope.end(&mut spare);
        }
        Ok(())
    }

    /// An expression's value for each of some rows.
    pub(super) fn each(
        &self,
        expr: &Expr,
        rows: impl IntoIterator<Item = u32>,
        mut act: impl FnMut(usize, Value<'_>),
    ) -> Result<(), ExecError> {
        let slots = slots_of(expr);
        let columns: Vec<(usize, &PathColumn)> =
            slots.iter().filter_map(|slot| Some((*slot, &**self.column(*slot)?))).collect();
        let mut spare = Spare::default();
        let mut offsets: Vec<Offsets> = columns.iter().map(|_| Offsets::new()).collect();
        let rows: Vec<u32> = rows.into_iter().collect();
        let documents = reads_document(expr).then(|| self.kept_documents(&rows));
        let mut document_offsets = Offsets::new();
        for number in rows {
            let row = number as usize;
            let mut scope = self.scope(self.times.order(self.origin(row)), &mut spare);
            if let (Some(documents), Some(event)) = (&documents, &mut scope.event) {
                let Some(documents) = documents else { return Ok(()) };
                let scanned = document_offsets.scan_trusted(documents.get(number));
                event.document = Some(scanned.map_err(|error| ExecError::Document {
                    arrival: self.arrival(row),
                    reason: error.to_string(),
                })?);
            }
            for ((slot, column), offsets) in columns.iter().zip(&mut offsets) {
                scope.set(*slot, stored(column.json(row), offsets));
            }
            let value = expr.eval(&mut scope);
            scope.take_failure().map_err(|error| self.tell_arrival(error, row))?;
            act(row, value);
            scope.end(&mut spare);
        }
        Ok(())
    }

    /// The arrival number of a row's event; 0 where it cannot be read.
    pub(super) fn arrival(&self, row: usize) -> u64 {
        self.block.times().map_or(0, |times| times.order(self.origin(row)).1)
    }

    /// A failure over a row's event, whose place in time may not have been read.
    fn tell_arrival(&self, error: ExecError, row: usize) -> ExecError {
        match error {
            ExecError::ValueTooLarge { limit_bytes, by, arrival: Some(_) } => {
                ExecError::ValueTooLarge { limit_bytes, by, arrival: Some(self.arrival(row)) }
            }
            error => error,
        }
    }

    fn scope<'s>(&'s self, (instant, arrival): Order, spare: &mut Spare) -> Scope<'s> {
        let event = Event { document: None, instant, arrival };
        let Control { now, interrupt, .. } = self.control;
        Scope::with_slots(event, self.columns.len(), *now, Some(interrupt), spare)
    }
}

/// Whether an expression reads slots only for how long they are; these are added.
fn measured_slots(expr: &Expr, slots: &mut Vec<usize>) -> bool {
    match expr {
        Expr::Call { function, arguments, .. } if function.name == "Length" => {
            slots.extend(arguments.iter().flat_map(slots_of));
            matches!(arguments.as_slice(), [Expr::Slot(_)])
        }
        other if slots_of(other).is_empty() => true,
        Expr::Slot(_) | Expr::BuiltIn(_) => false,
        other => other.children().into_iter().all(|child| measured_slots(child, slots)),
    }
}

/// A value as it is stored, from its JSON text; none where there is none.
pub(super) fn stored<'s>(json: &'s [u8], offsets: &'s mut Offsets) -> Option<Stored<'s>> {
    match json.first()? {
        b'[' | b'{' => Stored::scan_trusted(json, offsets).ok(),
        _ => Some(Stored::of_scalar(json)),
    }
}

/// Whether an expression's value is true, false or undefined, and nothing else.
pub(super) fn is_true_or_false(expr: &Expr) -> bool {
    expr.is_comparison()
        || matches!(expr, Expr::And(_) | Expr::Or(_) | Expr::Not(_))
        || matches!(expr, Expr::Call { function, .. } if function.gives == Some(Kind::Boolean))
}

/// The rows that have a number, and it passes.
pub(super) fn compare(numbers: &Numbers, test: impl FnOnce(&[i64]) -> Mask, rows: usize) -> Mask {
    let mut passes = test(&numbers.values);
    let Some(of) = &numbers.rows else { return passes };
    // The first rows, and no others.
    if of.last().is_none_or(|last| *last as usize + 1 == of.len()) {
        passes.resize(rows, false);
        return passes;
    }
    let mut mask = vec![false; rows];
    for (row, passes) in of.iter().zip(passes) {
        if let Some(mask) = mask.get_mut(*row as usize) {
            *mask = passes;
        }
    }
    mask
}

/// The same of decimals that are compared with a number; none where that is too long.
fn compare_decimals(decimals: &Decimals, op: Comparison, number: &Number<'_>, rows: usize) -> Option<Mask> {
    let bound = number.decimal()?;
    // Most have a mantissa that is compared as one of its scale.
    let scales = 0..=Decimal::MAX_SCALE as u8;
    let ranges: Vec<Range> = scales.map(|scale| Range::of(op, number, scale)).collect::<Option<_>>()?;
    let passes = |value: Decimal| match (i64::try_from(value.mantissa()), ranges.get(value.scale() as usize))
    {
        (Ok(mantissa), Some(range)) => range.has(mantissa),
        _ => holds(op, value.cmp(&bound)),
    };
    let mut mask = vec![false; rows];
    let mut tell = |row: usize, passes: bool| {
        if let Some(mask) = mask.get_mut(row) {
            *mask = passes;
        }
    };
    match &decimals.values {
        DecimalValues::Stored(stored) => {
            for (row, (significand, scale)) in decimals.rows().zip(stored.each()) {
                tell(row, ranges.get(scale as usize).is_some_and(|range| range.has(significand)));
            }
        }
        DecimalValues::Decimals(_) => decimals.each().for_each(|(row, value)| tell(row, passes(value))),
        values @ (DecimalValues::Quotients(_) | DecimalValues::Chain(_) | DecimalValues::Wide(_)) => {
            let near = nearest_of(bound);
            let estimates = values.estimates();
            for (place, (row, estimate)) in decimals.rows().zip(estimates).enumerate() {
                // A decimal is rounded to 28 places, too.
                let slack = (estimate.abs() + near.abs()) * ESTIMATE_ERROR + 1e-27;
                let told = (estimate - near).abs() > slack;
                match told.then(|| estimate.partial_cmp(&near)).flatten() {
                    Some(order) => tell(row, holds(op, order)),
                    None => tell(row, values.decimal(place).is_some_and(&passes)),
                }
            }
        }
    }
    Some(mask)
}
