//! What is asked of arrays, told from the columns of their elements: the length, the element at a place, whether the condition holds for some elements
//! or for every one, and what elements that have rows of their own have inside. The arrays may be those of elements of others.
//!
//! It is told block by block. Where a block's columns can tell it, a slot stands in its place; elsewhere the arrays are values like others.

use super::compile::{ColumnPlan, Unnest, slots_of};
use super::evaluate::Evaluator;
use super::of_array::{Asked, InJson, OfArray, Place, StandIn};
use super::spots::{Bound, Position};
use super::unnest::REPEATED_CELLS_MAX;
use super::whole::gather_some;
use crate::ast::Quantifier;
use crate::column_block::{Array, ArrayColumn, Coded, ColumnBlock, ColumnError, Path, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use std::sync::Arc;
use tamias_shred::Numbers;

/// Of a block no more rows than these are made of arrays that stand beside each other: each takes some bytes for every array, which are not counted.
const UNNESTED_ROWS_MAX: usize = 1 << 20;

impl Evaluator<'_> {
    /// The plan with slots in place of what this block's columns tell of arrays.
    pub(super) fn resolved(&mut self, plan: &ColumnPlan) -> ColumnPlan {
        let (mut plan, asked) =
            self.with_rows_of_elements(plan).unwrap_or_else(|| self.with_slots(plan.clone(), &[]));
        self.stand_ins.extend(asked.into_iter().map(|of| StandIn::OfArray(Box::new(of))));
        self.columns.resize(self.first_stand_in + self.stand_ins.len(), None);
        plan.exprs_mut().for_each(|expr| self.take_lengths(expr));
        plan.exprs_mut().for_each(|expr| self.take_json(expr));
        plan.collections_mut().for_each(|collection| self.take_json(collection));
        // Messages are made of paths that no slot asks for.
        if plan.messages.is_none() {
            let mut conditions = Vec::new();
            for stand_in in &self.stand_ins {
                if let StandIn::OfArray(of) = stand_in {
                    of.asked.conditions(&mut conditions);
                }
            }
            self.presence = plan.presence_beside(conditions.into_iter());
        }
        plan
    }

    /// The same where the elements of all collections have columns.
    fn with_rows_of_elements(&self, plan: &ColumnPlan) -> Option<(ColumnPlan, Vec<OfArray>)> {
        let Some(Unnest::Values(collection)) = &plan.unnest else { return None };
        let (mut levels, mut bound): (_, Vec<Bound>) = (Vec::new(), Vec::new());
        for (nth, collection) in std::iter::once(collection).chain(&plan.within).enumerate() {
            let (level, array) = self.arrays_of_rows(collection, &bound)?;
            levels.push(level);
            bound.push((self.paths.len() + nth, array));
        }
        let (mut plan, asked) = self.with_slots(plan.clone(), &bound);
        let elements = self.paths.len()..self.paths.len() + bound.len();
        if plan.exprs().flat_map(slots_of).any(|slot| elements.contains(&slot)) {
            return None;
        }
        let arrays = levels.into_iter().zip(bound).map(|(level, (_, array))| (level, array));
        plan.unnest = Some(Unnest::Elements(arrays.collect()));
        plan.within = Vec::new();
        Some((plan, asked))
    }

    /// The same with slots for what is asked of events, and of the elements that are the values of some slots.
    fn with_slots(&self, mut plan: ColumnPlan, bound: &[Bound]) -> (ColumnPlan, Vec<OfArray>) {
        let mut asked = Vec::new();
        let mut place = |of: OfArray| Some(self.first_stand_in + of.place_in(&mut asked));
        if let Some(Unnest::Values(collection)) = &mut plan.unnest {
            self.take_asked(collection, bound, Position::VALUE, &mut place);
        }
        for filter in plan.event_filter.iter_mut().chain(&mut plan.filter) {
            self.take_asked(filter, bound, Position::CONDITION, &mut place);
        }
        for output in &mut plan.outputs {
            self.take_asked(&mut output.expr, bound, Position::VALUE, &mut place);
        }
        (plan, asked)
    }

    /// The slot of what stands for no path.
    pub(super) fn stand_in(&mut self, stands_for: StandIn, column: Option<Arc<PathColumn>>) -> usize {
        self.stand_ins.push(stands_for);
        self.columns.push(column);
        self.columns.len() - 1
    }

    /// Puts slots in place of how long texts are, where that is known.
    fn take_lengths(&mut self, expr: &mut Expr) {
        if let Some((path, lengths)) = self.known_lengths(expr) {
            let column = Arc::new(PathColumn::of_numbers(lengths, self.block.len()));
            *expr = Expr::Slot(self.stand_in(StandIn::Lengths(path), Some(column)));
            return;
        }
        expr.children_mut().into_iter().for_each(|child| self.take_lengths(child));
    }

    /// The path of texts of which an expression asks how long they are, where that was counted for this block.
    fn known_lengths(&self, expr: &Expr) -> Option<(Path, Arc<Numbers>)> {
        let path = self.path_measured(expr)?;
        Some((path.clone(), self.block.stored()?.known_lengths(path)?))
    }

    /// The path of texts of which an expression asks how long they are.
    fn path_measured(&self, expr: &Expr) -> Option<&'_ Path> {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "Length" => match arguments.as_slice()
            {
                [Expr::Slot(slot)] => self.paths.get(*slot),
                _ => None,
            },
            _ => None,
        }
    }

    /// An expression with slots in place of how long texts are that come in pieces, which are not kept for that; none where it asks for something else of them.
    pub(super) fn measured(&mut self, expr: &Expr) -> Result<Option<Expr>, ColumnError> {
        if !self.measures_pieces(expr) {
            return Ok(None);
        }
        let mut measured = expr.clone();
        self.measure(&mut measured)?;
        Ok(Some(measured))
    }

    fn measure(&mut self, expr: &mut Expr) -> Result<(), ColumnError> {
        let Some(path) = self.path_measured(expr) else {
            return expr.children_mut().into_iter().try_for_each(|child| self.measure(child));
        };
        let Some(block) = self.block.stored().filter(|block| !block.has(path)) else { return Ok(()) };
        if let Some(lengths) = block.lengths(path)? {
            let column = Arc::new(PathColumn::of_numbers(lengths, block.len()));
            let path = path.clone();
            *expr = Expr::Slot(self.stand_in(StandIn::Lengths(path), Some(column)));
        }
        Ok(())
    }

    /// What a slot stands for, if that is something of events.
    pub(super) fn of_events(&self, slot: usize) -> Option<&StandIn> {
        let stand_in = self.stand_ins.get(slot.checked_sub(self.first_stand_in)?)?;
        match stand_in {
            StandIn::OfArray(of) => (of.level == 0).then_some(stand_in),
            StandIn::InJson(_) | StandIn::Messages(_) => Some(stand_in),
            StandIn::Lengths(_) | StandIn::Made(_) => None,
        }
    }

    /// Whether a slot stands for something of events beside paths.
    pub(super) fn is_of_events(&self, slot: usize) -> bool {
        self.of_events(slot).is_some()
    }

    /// Whether an expression asks for messages that have to be rendered.
    pub(super) fn reads_messages(&self, expr: &Expr) -> bool {
        let is_message = |slot: usize| matches!(self.of_events(slot), Some(StandIn::Messages(_)));
        slots_of(expr).into_iter().any(is_message)
    }

    /// Whether what a slot stands for, which is no path, is told at once: messages are where all of them were rendered before, JSON where it was read, and all else is.
    pub(super) fn is_told_at_once(&self, slot: usize) -> bool {
        match (self.of_events(slot), self.block.stored()) {
            (Some(StandIn::Messages(messages)), Some(block)) => {
                let path = self.paths.get(messages.template);
                path.is_some_and(|path| block.known_messages(path).is_some())
            }
            (Some(StandIn::InJson(of)), Some(block)) => of.is_told(block),
            _ => true,
        }
    }

    /// The column of such a slot, for some rows at least; none where columns cannot tell it after all.
    pub(super) fn column_of_events(
        &mut self,
        slot: usize,
        rows: Option<&[u32]>,
    ) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        let Some(block) = self.block.stored() else { return Ok(None) };
        match self.of_events(slot).cloned() {
            Some(StandIn::OfArray(of)) => self.column_asked(block, &of.asked, None),
            Some(StandIn::InJson(of)) => self.column_in_json(block, &of, rows),
            Some(StandIn::Messages(messages)) => self.messages(messages, rows),
            Some(StandIn::Lengths(_) | StandIn::Made(_)) | None => Ok(None),
        }
    }

    /// What is asked of each row of some, which are events or elements of these.
    fn column_asked(
        &mut self,
        block: &ColumnBlock,
        asked: &Asked,
        events: Option<&[u32]>,
    ) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        Ok(match asked {
            Asked::Value { of, below } => {
                Some(block.in_elements(of, below)?).filter(|column| !matches!(**column, PathColumn::Unknown))
            }
            Asked::Length(array) => {
                let lengths = block.arrays(array)?.lengths.clone();
                Some(Arc::new(PathColumn::of_numbers(lengths, array.at.rows)))
            }
            Asked::Nth { array, place, then } => {
                let of = block.arrays(array)?;
                let events = events.map(|events| composed(&of.origins, events));
                let Some(column) =
                    self.column_asked(block, then, Some(events.as_deref().unwrap_or(&of.origins)))?
                else {
                    return Ok(None);
                };
                let (at, places): (Vec<u32>, Vec<u32>) = of.at_place(*place).unzip();
                column.spread(&places, &at, array.at.rows).map(Arc::new)
            }
            Asked::Quantified { array, quantifier, condition, of_rows } => {
                let of = block.arrays(array)?;
                let origins = match events {
                    None => of.origins.clone(),
                    Some(events) => composed(&of.origins, events),
                };
                let Some(mask) = self.mask_of_elements(block, condition, of_rows, origins)? else {
                    return Ok(None);
                };
                Some(Arc::new(of.folded(&mask, *quantifier, array.at.rows)))
            }
            Asked::OfMembers(of) => self.folded_members(block, of)?,
            Asked::Keys(path) => block.object_keys(path)?,
        })
    }

    /// Of each element whether a condition holds, by the row that has it.
    fn mask_of_elements(
        &mut self,
        block: &ColumnBlock,
        condition: &Expr,
        of_rows: &[OfArray],
        origins: Arc<[u32]>,
    ) -> Result<Option<Vec<bool>>, ColumnError> {
        let slots = slots_of(condition);
        if (slots.len() + of_rows.len()).saturating_mul(origins.len()) > REPEATED_CELLS_MAX {
            return Ok(None);
        }
        let mut columns = vec![None; self.paths.len()];
        for slot in slots {
            if slot >= columns.len() {
                continue;
            }
            if !self.load(&Expr::Slot(slot))? {
                return Ok(None);
            }
            let gathered = self.column(slot).map(|column| Arc::new(column.gathered(&origins)));
            if let Some(column) = columns.get_mut(slot) {
                *column = gathered;
            }
        }
        for OfArray { level, asked } in of_rows {
            let column = match level {
                0 => self.column_asked(block, asked, None)?.map(|column| Arc::new(column.gathered(&origins))),
                _ => self.column_asked(block, asked, Some(&origins))?,
            };
            match column {
                None => return Ok(None),
                column => columns.push(column),
            }
        }
        let elements = self.of_elements(columns, origins);
        // Why it fails is found again where documents are looked at one by one.
        let Ok(mask) = elements.test(condition, None) else { return Ok(None) };
        match elements.take_broken() {
            Some(error) => Err(error),
            None => Ok(Some(mask)),
        }
    }

    /// Gives each element of arrays that columns tell a row of its own, as [`Unnest::Elements`] has them: which rows are those of some events. None where
    /// columns do not tell it after all.
    pub(super) fn unnest_columns(
        &mut self,
        arrays: &[(usize, Array)],
        events: std::ops::Range<usize>,
    ) -> Result<Option<std::ops::Range<usize>>, ColumnError> {
        let Some(block) = self.block.stored() else { return Ok(None) };
        let mut levels: Vec<Level> = Vec::new();
        let mut of_levels = Vec::new();
        for (nth, (parent, array)) in arrays.iter().enumerate() {
            let of = block.arrays(array)?;
            if !add_level(&mut levels, *parent, &of) {
                return Ok(None);
            }
            let level = nth + 1;
            let events_of = levels.last().map(|level| level.events.clone());
            for (number, asked) in self.asked_of(level) {
                match self.column_asked(block, &asked, events_of.as_deref())? {
                    None => return Ok(None),
                    Some(column) => of_levels.push((number, level, column)),
                }
            }
        }
        let Some(of_events) = events_of_rows(&levels) else { return Ok(None) };
        let is_gathered = |level: usize| levels.get(level - 1).is_some_and(|level| level.elements.is_some());
        let gathered = of_levels.iter().filter(|(_, level, _)| is_gathered(*level)).count();
        if gathered.saturating_mul(of_events.len()) > REPEATED_CELLS_MAX
            || self.is_too_much_repeated(&of_events)
        {
            return Ok(None);
        }
        self.repeat(&of_events);
        for (number, level, column) in of_levels {
            let elements = levels.get(level - 1).and_then(|level| level.elements.as_deref());
            let column = elements.map_or(column.clone(), |elements| self.repeated(&column, elements));
            if let Some(place) = self.columns.get_mut(self.first_stand_in + number) {
                *place = Some(column);
            }
        }
        let row = |event: usize| of_events.partition_point(|origin| (*origin as usize) < event);
        let rows = row(events.start)..row(events.end);
        self.origins = Some(of_events);
        Ok(Some(rows))
    }

    /// What is asked of the elements of a level, by the number of what stands for it.
    fn asked_of(&self, level: usize) -> Vec<(usize, Asked)> {
        let asked = |(number, stand_in): (usize, &StandIn)| match stand_in {
            StandIn::OfArray(of) if of.level == level => Some((number, of.asked.clone())),
            StandIn::OfArray(_)
            | StandIn::Lengths(_)
            | StandIn::InJson(_)
            | StandIn::Made(_)
            | StandIn::Messages(_) => None,
        };
        self.stand_ins.iter().enumerate().filter_map(asked).collect()
    }

    /// What slots stand for beside paths, as paths are written.
    pub(super) fn stand_in_names(&self) -> impl Iterator<Item = String> {
        let mut names = Vec::new();
        for stand_in in &self.stand_ins {
            match stand_in {
                StandIn::OfArray(of) => of.asked.names(&mut names),
                StandIn::Lengths(path) | StandIn::InJson(InJson { texts: path, .. }) => {
                    names.push(path.join("."))
                }
                StandIn::Made(paths) => names.extend(paths.iter().map(|path| path.join("."))),
                // What it is made of has names of its own.
                StandIn::Messages(_) => {}
            }
        }
        names.into_iter()
    }
}

/// The elements of unnested arrays, and the rows that came of them so far.
struct Level {
    /// For each element its event.
    events: Arc<[u32]>,
    /// For each row its element; none where each element has one row.
    elements: Option<Arc<[u32]>>,
}

/// For each row its event, once arrays were unnested.
fn events_of_rows(levels: &[Level]) -> Option<Arc<[u32]>> {
    let last = levels.last()?;
    Some(match &last.elements {
        None => last.events.clone(),
        Some(elements) => composed(elements, &last.events),
    })
}

/// Unnests the arrays that rows of a level have: false where there are too many rows then.
fn add_level(levels: &mut Vec<Level>, parent: usize, of: &ArrayColumn) -> bool {
    let own = parent.checked_sub(1).and_then(|parent| levels.get(parent));
    let events = own.map_or_else(|| of.origins.clone(), |own| composed(&of.origins, &own.events));
    let is_within = parent == levels.len() && own.is_none_or(|own| own.elements.is_none());
    // For each row that comes of it the row before, and the element.
    let (before, elements) = match is_within {
        true => (of.origins.clone(), None),
        false => {
            let begins = begins_of(&of.origins);
            let parent_of_rows = match own {
                Some(own) => own.elements.clone(),
                None => events_of_rows(levels),
            };
            let rows = levels.last().map_or(0, Level::rows);
            let (mut before, mut elements) = (Vec::new(), Vec::new());
            for row in 0..rows {
                let parent = parent_of_rows.as_ref().map_or(Some(row as u32), |of| of.get(row).copied());
                let Some(parent) = parent.map(|parent| parent as usize) else { continue };
                let (Some(begin), Some(end)) = (begins.get(parent), begins.get(parent + 1)) else { continue };
                before.extend(std::iter::repeat_n(row as u32, (end - begin) as usize));
                elements.extend(*begin..*end);
                if elements.len() > UNNESTED_ROWS_MAX {
                    return false;
                }
            }
            (before.into(), Some(elements.into()))
        }
    };
    for level in levels.iter_mut() {
        level.elements = Some(match &level.elements {
            None => before.clone(),
            Some(elements) => composed(&before, elements),
        });
    }
    levels.push(Level { events, elements });
    true
}

/// Where the elements of each row begin, and where those of the last one end, by the rows that they come from.
fn begins_of(origins: &[u32]) -> Vec<u32> {
    let mut begins = vec![0; origins.last().map_or(1, |last| *last as usize + 2)];
    for origin in origins {
        begins.get_mut(*origin as usize + 1).into_iter().for_each(|count| *count += 1);
    }
    let mut sum = 0;
    for begin in &mut begins {
        sum += *begin;
        *begin = sum;
    }
    begins
}

impl Level {
    /// How many rows there are.
    fn rows(&self) -> usize {
        self.elements.as_ref().map_or(self.events.len(), |elements| elements.len())
    }
}

/// For each element what its array's row comes from: an event, or an element of an outer array.
fn composed(origins: &[u32], events: &[u32]) -> Arc<[u32]> {
    origins.iter().map(|origin| events.get(*origin as usize).copied().unwrap_or(u32::MAX)).collect()
}

impl ArrayColumn {
    /// The rows, events or elements, that have an element at a place, and its number among all elements.
    fn at_place(&self, place: Place) -> impl Iterator<Item = (u32, u32)> {
        let mut next = 0;
        self.arrays().filter_map(move |(row, length)| {
            let first = next;
            next += length;
            Some((row, first + place.within(length)?))
        })
    }

    /// Of each row whether some of its elements pass, or every one does; undefined where it has no array.
    fn folded(&self, mask: &[bool], quantifier: Quantifier, rows: usize) -> PathColumn {
        let mut passes = vec![None; rows];
        let mut rest = mask;
        for (row, length) in self.arrays() {
            let (own, others) = rest.split_at(rest.len().min(length as usize));
            rest = others;
            let own_passes = match quantifier {
                Quantifier::Any => own.contains(&true),
                Quantifier::All => !own.contains(&false),
            };
            passes.get_mut(row as usize).into_iter().for_each(|passes| *passes = Some(own_passes));
        }
        of_truths(passes)
    }
}

/// A column of what is true, false or undefined.
pub(super) fn of_truths(truths: impl IntoIterator<Item = Option<bool>>) -> PathColumn {
    let codes = truths.into_iter().map(|truth| truth.map_or(0, |truth| 1 + u32::from(truth))).collect();
    let dictionary = Dictionary::new(b"falsetrue".to_vec(), vec![0, 5, 9]);
    PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary)))
}

impl PathColumn {
    /// The values of some elements in the rows that have them, of so many; both in ascending order. None where columns do not tell them.
    fn spread(&self, elements: &[u32], at: &[u32], rows: usize) -> Option<PathColumn> {
        Some(match self {
            PathColumn::Nothing => PathColumn::Nothing,
            PathColumn::Unknown => return None,
            PathColumn::Numbers(column) => {
                PathColumn::of_numbers(spread_numbers(&column.numbers, elements, at, rows), rows)
            }
            PathColumn::Mixed(column) => {
                let numbers = spread_numbers(&column.numbers, elements, at, rows);
                let of = at.iter().copied().zip(elements.iter().copied());
                PathColumn::Mixed(column.spread(of, numbers, rows))
            }
            PathColumn::Coded(_) | PathColumn::Pieces(_) => {
                let coded = self.coded()?;
                let undefined = coded.dictionary.len() as u32;
                let mut codes = vec![undefined; rows];
                for (row, element) in at.iter().zip(elements) {
                    if let Some(code) = codes.get_mut(*row as usize) {
                        *code = coded.code(*element as usize);
                    }
                }
                if coded.dictionary.len() > rows {
                    // There is no entry for undefined, so that its text is empty.
                    let texts = Dictionary::of(codes.iter().map(|code| coded.dictionary.get(*code)));
                    return Some(PathColumn::Coded(Coded::of_texts(texts)));
                }
                let none = Dictionary::new(Vec::new(), vec![0]);
                let dictionary = coded.dictionary.followed_by(&none, u32::MAX as usize)?;
                PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary)))
            }
        })
    }
}

/// The same of numbers.
fn spread_numbers(numbers: &Numbers, elements: &[u32], at: &[u32], rows: usize) -> Numbers {
    let mut spread = gather_some(numbers, elements.iter().copied(), elements.len());
    spread.rows = match spread.rows {
        None => (at.len() != rows).then(|| at.to_vec()),
        Some(some) => Some(some.iter().filter_map(|place| at.get(*place as usize).copied()).collect()),
    };
    spread
}
