//! The rows of groups that are complete.

use super::group_values::GroupValues;
use super::shown::{Group, GroupKeys};
use super::sort::Sorter;
use super::sorted::SortedRows;
use super::states::States;
use super::threads::{NAME, lock};
use crate::aggregate::Accumulators;
use crate::allocated::Pages;
use crate::chunk::{CellText, Chunk, Columns};
use crate::control::Control;
use crate::error::ExecError;
use crate::expr::{Expr, Scope};
use crate::interrupt::Meter;
use crate::key_table::TOGETHER;
use crate::keys::Keys;
use crate::memory::Holding;
use crate::outputs::check_row;
use crate::plan::{Grouping, Plan};
use crate::value::Value;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

/// The rows of groups.
pub(crate) enum Finished {
    Sorted(SortedRows),
    Made(Box<GroupRows>),
}

/// Groups that take in no more events.
pub(super) struct ClosedGroups {
    pub(super) groups: Pages<Group>,
    /// The numbers of those that may have rows, in the order of these; none where all do in their own order.
    pub(super) order: Option<Vec<u32>>,
    pub(super) states: States,
    pub(super) tables: GroupKeys,
    pub(super) holding: Holding,
}

/// The number of the group whose row is the so-many-th.
fn number_of(order: Option<&[u32]>, nth: usize) -> Option<u32> {
    order.map_or(Some(nth as u32), |order| order.get(nth).copied())
}

impl ClosedGroups {
    /// The rows as they are sorted, and as many as are wanted.
    pub(super) fn sort(
        mut self,
        grouping: &Grouping,
        plan: &Plan,
        control: &Control,
    ) -> Result<SortedRows, ExecError> {
        let gives_rows = grouping.aggregates.iter().position(|of| of.function.gives_rows());
        let mut sorter = Sorter::new(&grouping.sort, plan.limit, plan.columns.len());
        let sorted_by = grouping.sorted_by();
        let asked = grouping.asked_by(grouping.having.as_ref());
        let mut meter = Meter::new(&control.interrupt);
        let ClosedGroups { groups, order, states, tables, .. } = &self;
        let mut values = GroupValues::of(grouping);
        let count = self.count();
        sorter.pass_over((groups.len() - count) as u64);
        for nth in 0..count {
            meter.step()?;
            let number = number_of(order.as_deref(), nth).unwrap_or_default();
            let Some(group) = groups.get(number as usize) else { continue };
            values.begin();
            let is_asked_first = !control.watch.looks_at_answers() && gives_rows.is_none();
            if is_asked_first {
                // Most groups do not pass `having`, or are told by the values that they are sorted by where few are wanted.
                asked.iter().for_each(|at| values.make(*at, number, group, states, tables));
                if grouping.having.is_some() && !grouping.passes(&mut scope_of(&values.values, control))? {
                    continue;
                }
                let is_passed_over =
                    passes_over(&mut sorter, &sorted_by, &mut values, control, |values, at| {
                        values.make(at, number, group, states, tables);
                    })?;
                if is_passed_over {
                    continue;
                }
            }
            values.make_all(number, group, states, tables);
            let GroupValues { keys, values, .. } = &values;
            let keys = *keys;
            control.watch.look_at_answer(values.get(keys..).unwrap_or_default());
            let Some(several) = gives_rows.and_then(|at| states.several(at)) else {
                if is_asked_first || grouping.passes(&mut scope_of(values, control))? {
                    take_row(grouping, keys, values, &mut sorter, control)?;
                }
                continue;
            };
            for value in several.rows(number) {
                meter.step()?;
                let mut values = values.clone();
                if let Some(place) = gives_rows.and_then(|at| values.get_mut(keys + at)) {
                    *place = value;
                }
                if grouping.passes(&mut scope_of(&values, control))? {
                    take_row(grouping, keys, &values, &mut sorter, control)?;
                }
            }
        }
        self.tell_too_long(control);
        control.profile.held.store(sorter.taken(), Relaxed);
        drop(values);
        let rows = sorter.finish(control);
        control.budget.release(&mut self.holding);
        rows
    }

    /// How many groups may have rows.
    fn count(&self) -> usize {
        self.order.as_ref().map_or(self.groups.len(), Vec::len)
    }

    /// Makes the rows of some groups until a page is full.
    fn fill(
        &self,
        left: &mut Range<usize>,
        page: &mut Columns,
        grouping: &Grouping,
        control: &Control,
    ) -> Result<(), ExecError> {
        let mut meter = Meter::new(&control.interrupt);
        let ClosedGroups { groups, order, states, tables, .. } = self;
        let (asked, mut values) = (grouping.asked_by(grouping.having.as_ref()), GroupValues::of(grouping));
        let plain = grouping.plain_cells();
        let mut told = ToldKeys::of(grouping.keys.len());
        let mut ahead = Vec::with_capacity(TOGETHER);
        let mut are_ahead = left.start;
        while !page.is_full()
            && left.start < left.end
            && let Some(number) = number_of(order.as_deref(), left.start)
            && let Some(group) = groups.get(number as usize)
        {
            if left.start == are_ahead {
                ahead.clear();
                ahead.extend(left.clone().map_while(|nth| number_of(order.as_deref(), nth)).take(TOGETHER));
                tables.read_ahead(&ahead);
                are_ahead += TOGETHER;
            }
            left.start += 1;
            meter.step()?;
            if let Some(plain) = &plain
                && !control.watch.looks_at_answers()
            {
                let row = page.len();
                page.count_rows(1);
                let has_keys = !grouping.keys.is_empty();
                if has_keys
                    && !tables.each_number(number, group, |keys, number| told.push(page, row, keys, number))
                {
                    values.begin();
                    values.make_keys(number, group, tables);
                    let keys = (0..grouping.keys.len()).zip(&values.values);
                    keys.for_each(|(column, key)| page.push(column, row, key, &[]));
                }
                told.next_row();
                let mut bytes = 0;
                for (column, aggregate) in (grouping.keys.len()..).zip(plain) {
                    if let Some(whole) = states.whole(*aggregate, number) {
                        page.push_whole(column, whole);
                        continue;
                    }
                    let value = states.finish(*aggregate, number);
                    bytes += value.weight();
                    check_row(bytes, None)?;
                    page.push(column, row, &value, &[]);
                }
                continue;
            }
            values.begin();
            asked.iter().for_each(|at| values.make(*at, number, group, states, tables));
            if grouping.having.is_some() && !grouping.passes(&mut scope_of(&values.values, control))? {
                continue;
            }
            values.make_all(number, group, states, tables);
            let GroupValues { keys, values, .. } = &values;
            control.watch.look_at_answer(values.get(*keys..).unwrap_or_default());
            let row = page.len();
            page.count_rows(1);
            let mut scope = scope_of(values, control);
            grouping.each_cell(*keys, values, &mut scope, |column, value| {
                page.push(column, row, &value, &[]);
            })?;
        }
        Ok(())
    }

    /// Tells how many numbers had too many digits, which is known once all values are.
    fn tell_too_long(&self, control: &Control) {
        for (too_long, count) in self.states.too_long().zip(&control.profile.too_long) {
            count.store(too_long, Relaxed);
        }
    }
}

/// The rows of groups in their order, some pages of them at a time: what they show is not held beside the groups.
pub(crate) struct GroupRows {
    groups: ClosedGroups,
    /// How many groups have rows at most.
    all: usize,
    /// How many groups have had their rows made, or are waiting for that.
    done: usize,
    /// The rows that are made and not asked for yet, and the groups behind each of them that had no room.
    ahead: VecDeque<Page>,
    page: Columns,
    /// Allocations of pages, to be used again.
    spare: Vec<Columns>,
    /// How many pages are made together next.
    together: usize,
}

/// Rows of some groups.
struct Page {
    rows: Columns,
    /// Those of them that have no row yet.
    left: Range<usize>,
    made: Result<(), ExecError>,
}

/// The rows of so many groups are made by a thread at once.
const PAGE_GROUPS: usize = 1024;

/// Another thread is started for so many pages at least, since that takes about as long as one.
const HELPED: usize = 8;

/// So many pages are made together at most, which takes some milliseconds.
const TOGETHER_MAX: usize = 64;

impl GroupRows {
    /// The rows of these groups, or of so many: the first ones.
    pub(super) fn new(groups: ClosedGroups, limit: Option<u64>, width: usize) -> GroupRows {
        let all = groups.count();
        let all = limit.and_then(|limit| usize::try_from(limit).ok()).map_or(all, |limit| all.min(limit));
        let page = Columns::of_values(width);
        GroupRows { groups, all, done: 0, ahead: VecDeque::new(), page, spare: Vec::new(), together: 1 }
    }

    /// Makes the next rows: how many; none at the end.
    pub(crate) fn advance(&mut self, grouping: &Grouping, control: &Control) -> Result<usize, ExecError> {
        control.check()?;
        self.page.clear();
        while self.page.len() == 0 {
            if self.ahead.is_empty() && !self.make(grouping, control) {
                self.groups.tell_too_long(control);
                return Ok(0);
            }
            let Some(page) = self.ahead.front_mut() else { return Ok(0) };
            std::mem::swap(&mut self.page, &mut page.rows);
            std::mem::replace(&mut page.made, Ok(()))?;
            if page.left.is_empty() {
                self.spare.extend(self.ahead.pop_front().map(|page| page.rows));
            } else {
                // Its groups show so much that they take several pages.
                control.profile.held(|| page.make(&self.groups, grouping, control));
            }
        }
        control.profile.held.fetch_add(self.page.len() as u64, Relaxed);
        Ok(self.page.len())
    }

    /// The rows that were made last.
    #[inline]
    pub(crate) fn chunk(&self) -> Chunk<'_> {
        Chunk::new(&self.page, &[])
    }

    /// Makes the next pages, if there are groups left. Once some were asked for these are several, made by all threads: who stops early has not waited for many.
    fn make(&mut self, grouping: &Grouping, control: &Control) -> bool {
        let all = self.all;
        let (width, spare) = (self.page.width(), &mut self.spare);
        let ends = (self.done..all).step_by(PAGE_GROUPS).take(self.together);
        let pages = ends.map(|begin| Page {
            rows: spare.pop().unwrap_or_else(|| Columns::of_values(width)),
            left: begin..all.min(begin + PAGE_GROUPS),
            made: Ok(()),
        });
        let mut pages: Vec<Page> = pages.collect();
        let threads = control.options.threads.get();
        self.done = pages.last().map_or(all, |page| page.left.end);
        self.together = if threads > 1 { TOGETHER_MAX.min(2 * self.together) } else { 1 };
        // A thread that the system does not give is done without.
        let helpers = (threads - 1).min(pages.len() / HELPED);
        let (groups, left) = (&self.groups, Mutex::new(pages.iter_mut()));
        let next = || lock(&left).next();
        let fill = || {
            while let Some(page) = next() {
                page.make(groups, grouping, control);
            }
        };
        let help = || {
            let started = control.profile.start();
            fill();
            control.profile.took(started);
        };
        control.profile.held(|| {
            thread::scope(|scope| {
                let start = |_| thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, help).ok();
                let _helpers: Vec<_> = (0..helpers).map_while(start).collect();
                fill();
            });
        });
        if self.done == self.all {
            // Whoever wants no more rows than these does not ask again.
            self.groups.tell_too_long(control);
        }
        self.ahead.extend(pages);
        !self.ahead.is_empty()
    }
}

impl Page {
    /// Makes rows until it is full.
    fn make(&mut self, all: &ClosedGroups, grouping: &Grouping, control: &Control) {
        let mut left = self.left.clone();
        self.rows.clear();
        self.made = all.fill(&mut left, &mut self.rows, grouping, control);
        self.left = left;
    }
}

/// The keys that the last rows of a page show, to be told no more than once where they come again.
struct ToldKeys {
    /// For each column some numbers of keys, each in the place that it has to be in, and their cells.
    columns: Vec<[Option<(u32, CellText)>; TOLD]>,
    /// The column of the next one.
    column: usize,
}

/// So many are known of each column.
const TOLD: usize = 32;

impl ToldKeys {
    fn of(columns: usize) -> ToldKeys {
        // A single key comes no more than once.
        ToldKeys { columns: vec![[None; TOLD]; if columns > 1 { columns } else { 0 }], column: 0 }
    }

    /// Gives the next column of a page the key with a number.
    #[inline]
    fn push(&mut self, page: &mut Columns, row: usize, keys: &Keys, number: u32) {
        let column = self.column;
        self.column += 1;
        let mut known = self.columns.get_mut(column).and_then(|told| told.get_mut(number as usize % TOLD));
        if let Some(Some((of, cell))) = known
            && *of == number
        {
            return page.push_again(column, *cell);
        }
        let spelling = keys.first(number);
        match spelling.is_shown_as_it_is() {
            true => page.push_text(column, &spelling),
            false => page.push(column, row, &spelling.value(), &[]),
        }
        if let (Some(known), Some(cell)) = (&mut known, page.last_cell(column)) {
            **known = Some((number, cell));
        }
    }

    fn next_row(&mut self) {
        self.column = 0;
    }
}

/// Passes over a group whose row is not wanted any more, if it is none, by the values that rows are sorted by. Those behind the first are made only where that does not
/// tell it.
fn passes_over<'v>(
    sorter: &mut Sorter<'_>,
    sorted_by: &[SortedBy<'_>],
    values: &mut GroupValues<'v>,
    control: &Control,
    mut make: impl FnMut(&mut GroupValues<'v>, usize),
) -> Result<bool, ExecError> {
    if !sorter.may_pass_over() {
        return Ok(false);
    }
    if let Some(first) = sorted_by.first() {
        first.reads.iter().for_each(|at| make(values, *at));
        let told = first.tell(&values.values, control, |first| sorter.passes_over_first(first))?;
        if let Some(is_passed_over) = told {
            return Ok(is_passed_over);
        }
    }
    sorted_by.iter().skip(1).flat_map(|by| &by.reads).for_each(|at| make(values, *at));
    let of = sorted_by.iter().map(|by| by.value(&values.values, control));
    let of: Vec<Value<'_>> = of.collect::<Result<_, ExecError>>()?;
    Ok(sorter.passes_over(&of))
}

/// What rows are sorted by.
struct SortedBy<'g> {
    of: Of<'g>,
    /// The values of a group that it is told by.
    reads: Vec<usize>,
}

enum Of<'g> {
    /// A value of the group.
    Value(usize),
    /// What is computed of some.
    Cell(&'g Expr),
}

impl SortedBy<'_> {
    /// What is told of the value of a group, as [`value`](Self::value) has it.
    fn tell<T>(
        &self,
        values: &[Value<'_>],
        control: &Control,
        told: impl FnOnce(&Value<'_>) -> T,
    ) -> Result<T, ExecError> {
        match self.of {
            Of::Value(at) if let Some(value) = values.get(at) => Ok(told(value)),
            Of::Value(_) | Of::Cell(_) => self.value(values, control).map(|value| told(&value)),
        }
    }

    /// The value of a group, of which those that it is told by are made.
    fn value<'v>(&'v self, values: &'v [Value<'v>], control: &'v Control) -> Result<Value<'v>, ExecError> {
        match self.of {
            Of::Value(at) => Ok(values.get(at).map_or(Value::Undefined, Value::reborrow)),
            Of::Cell(cell) => {
                let mut scope = scope_of(values, control);
                let value = cell.eval(&mut scope);
                scope.take_failure()?;
                Ok(value)
            }
        }
    }
}

impl Grouping {
    /// What the rows of groups are sorted by.
    fn sorted_by(&self) -> Vec<SortedBy<'_>> {
        let by = |column: usize| {
            let cell = column.checked_sub(self.keys.len()).and_then(|cell| self.cells.get(cell));
            match cell {
                None => SortedBy { of: Of::Value(column), reads: vec![column] },
                Some(Expr::Group(value)) => SortedBy { of: Of::Value(*value), reads: vec![*value] },
                Some(cell) => SortedBy { of: Of::Cell(cell), reads: self.asked_by(Some(cell)) },
            }
        };
        self.sort.iter().map(|sort| by(sort.column)).collect()
    }

    /// The aggregates that the cells behind the keys are, each another one, where all groups have rows and no cell is computed.
    fn plain_cells(&self) -> Option<Vec<usize>> {
        let aggregate = |cell: &Expr| match cell {
            Expr::Group(value) => value.checked_sub(self.keys.len()),
            _ => None,
        };
        let plain: Vec<usize> = self.cells.iter().map(aggregate).collect::<Option<_>>()?;
        // The value of each is asked for once.
        let is_repeated = (0..).zip(&plain).any(|(at, one)| plain.iter().take(at).any(|other| other == one));
        (self.having.is_none() && !is_repeated).then_some(plain)
    }

    /// The values that an expression reads.
    fn asked_by(&self, of: Option<&Expr>) -> Vec<usize> {
        fn mark(expr: &Expr, are_asked: &mut [bool]) {
            if let Expr::Group(value) = expr
                && let Some(is_asked) = are_asked.get_mut(*value)
            {
                *is_asked = true;
            }
            expr.children().into_iter().for_each(|child| mark(child, are_asked));
        }
        let mut are_asked = vec![false; self.keys.len() + self.aggregates.len()];
        of.into_iter().for_each(|expr| mark(expr, &mut are_asked));
        (0..).zip(are_asked).filter(|(_, is_asked)| *is_asked).map(|(value, _)| value).collect()
    }

    /// Whether a group passes `having`.
    fn passes<'g>(&'g self, scope: &mut Scope<'g>) -> Result<bool, ExecError> {
        let Some(having) = &self.having else { return Ok(true) };
        let passes = having.test(scope);
        scope.take_failure()?;
        Ok(passes)
    }

    /// Gives the cells of a group's row one after the other, with their columns.
    fn each_cell<'g>(
        &'g self,
        keys: usize,
        values: &'g [Value<'g>],
        scope: &mut Scope<'g>,
        mut give: impl FnMut(usize, Value<'g>),
    ) -> Result<(), ExecError> {
        values.iter().take(keys).enumerate().for_each(|(column, key)| give(column, key.reborrow()));
        let mut bytes = 0;
        for (column, cell) in (keys..).zip(&self.cells) {
            let value = cell.eval(scope);
            scope.take_failure()?;
            bytes += value.weight();
            check_row(bytes, None)?;
            give(column, value);
        }
        Ok(())
    }
}

/// What a group's row is evaluated with.
fn scope_of<'v>(values: &'v [Value<'v>], control: &'v Control) -> Scope<'v> {
    let mut scope = Scope::metered(control.now, Meter::new(&control.interrupt));
    scope.groups = values;
    scope
}

/// Takes in the row of a group that passes `having`, unless there are enough that come before.
fn take_row(
    grouping: &Grouping,
    keys: usize,
    values: &[Value<'_>],
    sorter: &mut Sorter<'_>,
    control: &Control,
) -> Result<(), ExecError> {
    let mut scope = scope_of(values, control);
    let mut row = Vec::with_capacity(keys + grouping.cells.len());
    grouping.each_cell(keys, values, &mut scope, |_, value| row.push(value))?;
    sorter.take_values(&row, control)
}
