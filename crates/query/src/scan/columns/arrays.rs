//! What is asked of arrays, told from the columns of their elements: the length, the element at a place, whether the condition holds for some elements
//! or for every one, and what elements that have rows of their own have inside.
//!
//! It is told block by block. Where a block's columns can tell it, a slot stands in its place; elsewhere the arrays are values like others.

use super::compile::{ColumnPlan, Unnest, bind_element, reads_document, slots_of, spelled};
use super::evaluate::Evaluator;
use super::of_array::{Array, Asked, OfArray, StandIn};
use super::unnest::REPEATED_CELLS_MAX;
use super::whole::gather_some;
use crate::ast::Quantifier;
use crate::column_block::{ArrayColumn, Coded, ColumnError, Path, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::{Expr, Set};
use crate::value::Value;
use rust_decimal::Decimal;
use std::sync::Arc;
use tamias_shred::{AtArrays, Numbers};

/// Of a block with more elements, arrays are values like others.
const ELEMENTS_MAX: usize = 1 << 20;

impl Evaluator<'_> {
    /// The plan with slots in place of what this block's columns tell of arrays.
    pub(super) fn resolved(&mut self, plan: &ColumnPlan) -> ColumnPlan {
        let mut plan = plan.clone();
        if let Some(Unnest::Values(collection)) = &plan.unnest
            && plan.within.is_empty()
            && let Some(array) = self.array(collection)
            && let Some(below) = self.members(&array, plan.exprs())
        {
            let element = self.paths.len();
            let slots: Vec<usize> = below
                .iter()
                .map(|path| {
                    self.stand_for(OfArray { array: array.clone(), asked: Asked::Each(path.clone()) })
                })
                .collect();
            plan.exprs_mut().for_each(|expr| bind_members(expr, element, &below, &slots));
            plan.unnest = Some(Unnest::Elements(array));
        }
        plan.exprs_mut().for_each(|expr| self.resolve(expr, true));
        plan
    }

    /// A new slot.
    fn stand_for(&mut self, of: OfArray) -> usize {
        self.stand_in(StandIn::OfArray(of), None)
    }

    fn stand_in(&mut self, stands_for: StandIn, column: Option<Arc<PathColumn>>) -> usize {
        self.stand_ins.push(stands_for);
        self.columns.push(column);
        self.columns.len() - 1
    }

    /// Puts slots in place of what is asked of arrays, and of how long texts are where that is known. Beneath a lambda or `let`, locals are not those of a single lambda.
    fn resolve(&mut self, expr: &mut Expr, is_outermost: bool) {
        if let Some(of) = self.asked(expr, is_outermost) {
            *expr = Expr::Slot(self.stand_for(of));
            return;
        }
        if let Some((path, lengths)) = self.known_lengths(expr) {
            let column = Arc::new(PathColumn::of_numbers(lengths, self.block.len()));
            *expr = Expr::Slot(self.stand_in(StandIn::Lengths(path), Some(column)));
            return;
        }
        let is_outermost = is_outermost && !matches!(expr, Expr::Let(..) | Expr::Quantified { .. });
        expr.children_mut().into_iter().for_each(|child| self.resolve(child, is_outermost));
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

    fn asked(&self, expr: &Expr, is_outermost: bool) -> Option<OfArray> {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "Length" => {
                let array = self.array(arguments.first()?).filter(|array| !array.at.has_texts)?;
                Some(OfArray { array, asked: Asked::Length })
            }
            Expr::Quantified { quantifier, collection, body } if is_outermost && !reads_document(body) => {
                self.quantified(*quantifier, collection, (**body).clone())
            }
            Expr::In { left, right, negated, ci } => {
                let Expr::Constant(value) = &**left else { return None };
                if value.is_undefined() {
                    return None;
                }
                let set = Arc::new(Set::new(vec![value.clone()], *ci));
                let quantifier = if *negated { Quantifier::All } else { Quantifier::Any };
                let equals = Expr::InSet { left: Box::new(Expr::Local(0)), set, negated: *negated };
                self.quantified(quantifier, right, equals)
            }
            _ => {
                let mut below = Vec::new();
                let (of, index) = nth(expr, &mut below)?;
                let array = self.array(of)?;
                let place = index.decimal().filter(|n| n.is_integer() && *n >= Decimal::ZERO)?;
                let place = u32::try_from(place.abs()).ok()?;
                let keys: Vec<&str> = below.iter().map(AsRef::as_ref).collect();
                let is_told = self.block.stored()?.tells_elements(array.at, &keys);
                is_told.then(|| OfArray { array, asked: Asked::Nth { place, below: below.into() } })
            }
        }
    }

    /// Whether a condition holds for an element of an array, or for each.
    fn quantified(&self, quantifier: Quantifier, collection: &Expr, mut condition: Expr) -> Option<OfArray> {
        let array = self.array(collection).filter(|array| !array.at.has_objects)?;
        let element = self.paths.len();
        // The element of a collection that is unnested has that slot, or others.
        if slots_of(&condition).iter().any(|slot| *slot >= element) {
            return None;
        }
        bind_element(&mut condition, element);
        let below = self.members(&array, [&condition].into_iter())?;
        let slots: Vec<usize> = (element..element + below.len()).collect();
        bind_members(&mut condition, element, &below, &slots);
        Some(OfArray { array, asked: Asked::Quantified { quantifier, condition, below } })
    }

    /// The arrays at the path that an expression comes down to in this block, where columns tell their elements.
    fn array(&self, expr: &Expr) -> Option<Array> {
        let block = self.block.stored()?;
        let readings = match expr {
            Expr::Path(readings) => readings.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut only = None;
        for reading in readings {
            let Expr::Slot(slot) = reading else { return None };
            let path = self.paths.get(*slot)?;
            match block.arrays_at(path) {
                AtArrays::Nothing => {}
                AtArrays::Arrays(at) if only.is_none() && at.elements <= ELEMENTS_MAX => {
                    only = Some(Array { path: path.clone(), at });
                }
                AtArrays::Arrays(_) | AtArrays::Unknown => return None,
            }
        }
        only
    }

    /// The paths at which expressions read elements, which are the slot behind those of all paths; none where columns do not tell one.
    fn members<'e>(&self, of: &Array, exprs: impl Iterator<Item = &'e Expr>) -> Option<Vec<Path>> {
        let mut found = Vec::new();
        for expr in exprs {
            collect_members(expr, self.paths.len(), &mut found)?;
        }
        let block = self.block.stored()?;
        let is_told = |path: &Path| {
            let keys: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
            block.tells_elements(of.at, &keys)
        };
        found.iter().all(is_told).then_some(found)
    }

    /// The first slot that stands for no path.
    fn first_stand_in(&self) -> usize {
        self.columns.len() - self.stand_ins.len()
    }

    /// What a slot stands for, if that is asked of arrays.
    fn of_array(&self, slot: usize) -> Option<&OfArray> {
        match self.stand_ins.get(slot.checked_sub(self.first_stand_in())?)? {
            StandIn::OfArray(of) => Some(of),
            StandIn::Lengths(_) => None,
        }
    }

    /// Whether a slot stands for what is asked of the arrays of events.
    pub(super) fn is_of_array(&self, slot: usize) -> bool {
        self.of_array(slot).is_some_and(|of| !matches!(of.asked, Asked::Each(_)))
    }

    /// The column of such a slot; none where columns cannot tell it after all.
    pub(super) fn column_of_array(&mut self, slot: usize) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        let Some(OfArray { array, asked }) = self.of_array(slot).cloned() else { return Ok(None) };
        let Some(block) = self.block.stored() else { return Ok(None) };
        let of = block.arrays(&array.path, array.at)?;
        Ok(match asked {
            Asked::Each(_) => None,
            Asked::Length => Some(Arc::new(PathColumn::of_numbers(of.lengths.clone(), block.len()))),
            Asked::Nth { place, below } => {
                let column = block.in_elements(&array.path, array.at, &below)?;
                let (at, places): (Vec<u32>, Vec<u32>) = of.at_place(place).unzip();
                column.spread(&places, &at, block.len()).map(Arc::new)
            }
            Asked::Quantified { quantifier, condition, below } => {
                let slots = slots_of(&condition);
                if (slots.len() + below.len()).saturating_mul(of.origins.len()) > REPEATED_CELLS_MAX {
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
                    let gathered = self.column(slot).map(|column| Arc::new(column.gathered(&of.origins)));
                    if let Some(column) = columns.get_mut(slot) {
                        *column = gathered;
                    }
                }
                for below in &below {
                    let column = block.in_elements(&array.path, array.at, below)?;
                    if matches!(*column, PathColumn::Unknown) {
                        return Ok(None);
                    }
                    columns.push(Some(column));
                }
                let elements = self.of_elements(columns, of.origins.clone());
                // Why it fails is found again where documents are looked at one by one.
                let Ok(mask) = elements.test(&condition, None) else { return Ok(None) };
                if let Some(error) = elements.take_broken() {
                    return Err(error);
                }
                Some(Arc::new(of.folded(&mask, quantifier, block.len())))
            }
        })
    }

    /// Gives each element of an array that columns tell a row of its own: which rows are those of some events. None where columns do not tell it after all.
    pub(super) fn unnest_columns(
        &mut self,
        array: &Array,
        events: std::ops::Range<usize>,
    ) -> Result<Option<std::ops::Range<usize>>, ColumnError> {
        let Some(block) = self.block.stored() else { return Ok(None) };
        let of = block.arrays(&array.path, array.at)?;
        if self.is_too_much_repeated(&of.origins) {
            return Ok(None);
        }
        self.repeat(&of.origins);
        let first = self.first_stand_in();
        for (number, stand_in) in self.stand_ins.iter().enumerate() {
            let StandIn::OfArray(OfArray { asked: Asked::Each(below), .. }) = stand_in else { continue };
            let column = block.in_elements(&array.path, array.at, below)?;
            if matches!(*column, PathColumn::Unknown) {
                return Ok(None);
            }
            if let Some(place) = self.columns.get_mut(first + number) {
                *place = Some(column);
            }
        }
        self.origins = Some(of.origins.clone());
        let row = |event: usize| of.origins.partition_point(|origin| (*origin as usize) < event);
        Ok(Some(row(events.start)..row(events.end)))
    }

    /// What slots stand for beside paths, as paths are written.
    pub(super) fn stand_in_names(&self) -> impl Iterator<Item = String> {
        self.stand_ins.iter().flat_map(|stand_in| {
            let OfArray { array, asked } = match stand_in {
                StandIn::OfArray(of) => of,
                StandIn::Lengths(path) => return vec![path.join(".")],
            };
            let below: &[Path] = match asked {
                Asked::Length => &[],
                Asked::Nth { below, .. } | Asked::Each(below) => std::slice::from_ref(below),
                Asked::Quantified { below, .. } => below,
            };
            let path = array.path.join(".");
            let in_elements = move |below: &Path| {
                let keys = [
                    &[format!("{path}[]")][..],
                    &below.iter().map(|key| key.to_string()).collect::<Vec<_>>(),
                ];
                keys.concat().join(".")
            };
            let length = below.is_empty().then(|| format!("{}[]", array.path.join(".")));
            length.into_iter().chain(below.iter().map(in_elements)).collect::<Vec<_>>()
        })
    }
}

/// An array and the constant place of one of its elements, where an expression is that or a member of it.
fn nth<'e>(
    expr: &'e Expr,
    below: &mut Vec<Box<str>>,
) -> Option<(&'e Expr, &'e crate::value::Number<'static>)> {
    match expr {
        Expr::Element(of, index) => match &**index {
            Expr::Constant(Value::Number(number)) => Some((of, number)),
            _ => None,
        },
        Expr::Member(of, name) => {
            let found = nth(of, below)?;
            below.push(key(name)?);
            Some(found)
        }
        _ => None,
    }
}

/// A key as documents spell it; none of a lone surrogate, which is read as another character.
fn key(name: &str) -> Option<Box<str>> {
    (!name.contains('\u{FFFD}')).then(|| spelled(name))
}

/// The path of a member of an element, or of a member of that, and so on; that of the element itself is empty.
fn member_path(expr: &Expr, element: usize) -> Option<Vec<&str>> {
    match expr {
        Expr::Slot(slot) => (*slot == element).then(Vec::new),
        Expr::Member(of, name) => {
            let mut path = member_path(of, element)?;
            path.push(name);
            Some(path)
        }
        _ => None,
    }
}

/// Adds the paths at which an expression reads elements; none where one has a key that documents spell otherwise.
fn collect_members(expr: &Expr, element: usize, found: &mut Vec<Path>) -> Option<()> {
    match member_path(expr, element) {
        Some(path) => {
            let path = path.into_iter().map(key).collect::<Option<Path>>()?;
            if !found.contains(&path) {
                found.push(path);
            }
        }
        None => {
            for child in expr.children() {
                collect_members(child, element, found)?;
            }
        }
    }
    Some(())
}

/// Puts slots in place of what is read at some paths of elements.
fn bind_members(expr: &mut Expr, element: usize, below: &[Path], slots: &[usize]) {
    let path = member_path(expr, element).map(|path| path.into_iter().map(spelled).collect::<Path>());
    match path {
        Some(path) => {
            let slot = below.iter().position(|known| *known == path).and_then(|place| slots.get(place));
            if let Some(slot) = slot {
                *expr = Expr::Slot(*slot);
            }
        }
        None => expr.children_mut().into_iter().for_each(|child| bind_members(child, element, below, slots)),
    }
}

impl ArrayColumn {
    /// The events that have an element at a place, and its number among all elements.
    fn at_place(&self, place: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut next = 0;
        self.arrays().filter_map(move |(row, length)| {
            let first = next;
            next += length;
            (place < length).then_some((row, first + place))
        })
    }

    /// Of each event whether some of its elements pass, or every one does; undefined where it has no array.
    fn folded(&self, mask: &[bool], quantifier: Quantifier, rows: usize) -> PathColumn {
        const UNDEFINED: u32 = 0;
        let mut codes = vec![UNDEFINED; rows];
        let mut rest = mask;
        for (row, length) in self.arrays() {
            let (own, others) = rest.split_at(rest.len().min(length as usize));
            rest = others;
            let passes = match quantifier {
                Quantifier::Any => own.contains(&true),
                Quantifier::All => !own.contains(&false),
            };
            if let Some(code) = codes.get_mut(row as usize) {
                *code = 1 + u32::from(passes);
            }
        }
        let dictionary = Dictionary::new(b"falsetrue".to_vec(), vec![0, 5, 9]);
        PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary)))
    }
}

impl PathColumn {
    /// The values of some elements in the rows of their events, of so many; both in ascending order. None where columns do not tell them.
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
