//! Where expressions lead to in the arrays and objects of a block, and what they ask there: of events, of elements that have rows of their own, or of those that a condition
//! is asked of.

use super::compile::{bind_element, reads_document, slots_of};
use super::evaluate::Evaluator;
use super::members::spelled;
use super::of_array::{Asked, OfArray, OfMembers, Place};
use crate::ast::{Arithmetic, Comparison, Quantifier};
use crate::column_block::{Array, Path};
use crate::expr::{Expr, Set};
use crate::value::Value;
use rust_decimal::Decimal;
use std::sync::Arc;
use tamias_shred::{AtArrays, AtObjects};

/// Of a block with more elements, arrays are values like others.
const ELEMENTS_MAX: usize = 1 << 20;

/// HEURISTIC: of objects with more members, members are values like others: for each of them a condition is asked of all events.
const MEMBERS_MAX: usize = 64;

/// The slot of the element that a condition is asked of, while that is taken apart. No column has it.
const ELEMENT: usize = usize::MAX;

/// Arrays whose elements are the value of a slot.
pub(super) type Bound = (usize, Array);

/// A path of an event, or of an element.
struct Spot {
    /// Whose it is: 0 an event's, else that of an element of these bound arrays, from 1.
    level: usize,
    /// The arrays on the way whose element at a place it is, outermost first.
    steps: Vec<(Array, Place)>,
    /// The arrays in whose elements the path is; none where it is one of events.
    of: Option<Array>,
    below: Vec<Box<str>>,
}

impl Spot {
    /// What is asked of a row, where something is asked at this spot.
    fn asks(self, asked: Asked) -> OfArray {
        let nth = |then, (array, place)| Asked::Nth { array, place, then: Box::new(then) };
        OfArray { level: self.level, asked: self.steps.into_iter().rev().fold(asked, nth) }
    }
}

/// Where an expression stands in another one.
#[derive(Clone, Copy)]
pub(super) struct Position {
    /// Beneath a lambda or `let`, locals are not those of a single lambda.
    is_outermost: bool,
    /// Whether it matters no more than whether it is true.
    is_condition: bool,
}

impl Position {
    pub(super) const CONDITION: Position = Position { is_outermost: true, is_condition: true };
    pub(super) const VALUE: Position = Position { is_outermost: true, is_condition: false };

    /// That of what stands directly inside an expression.
    fn within(self, expr: &Expr) -> Position {
        Position {
            is_outermost: self.is_outermost && !matches!(expr, Expr::Let(..) | Expr::Quantified { .. }),
            is_condition: self.is_condition && matches!(expr, Expr::And(_) | Expr::Or(_) | Expr::Not(_)),
        }
    }
}

impl Evaluator<'_> {
    /// Puts slots in place of what is asked of arrays.
    pub(super) fn take_asked(
        &self,
        expr: &mut Expr,
        bound: &[Bound],
        at: Position,
        place: &mut dyn FnMut(OfArray) -> Option<usize>,
    ) {
        if let Some(of) = self.asked(expr, bound, at)
            && let Some(slot) = place(of)
        {
            *expr = Expr::Slot(slot);
            return;
        }
        let within = at.within(expr);
        for child in expr.children_mut() {
            self.take_asked(child, bound, within, place);
        }
    }

    fn asked(&self, expr: &Expr, bound: &[Bound], at: Position) -> Option<OfArray> {
        match expr {
            Expr::Call { function, arguments, .. } if function.name == "Length" => {
                let (spot, array) = self.array(arguments.first()?, bound)?;
                (!array.at.has_texts).then(|| spot.asks(Asked::Length(array)))
            }
            Expr::Call { function, arguments, .. } if function.name == "Keys" => {
                let (path, keys) = self.object(arguments.first()?)?;
                // Others are spelled as functions spell them.
                let are_plain = keys.iter().all(|key| !key.contains('\\'));
                are_plain.then_some(OfArray { level: 0, asked: Asked::Keys(path) })
            }
            Expr::Quantified { quantifier, collection, body } if at.is_outermost && !reads_document(body) => {
                let of_array = self.quantified(*quantifier, collection, (**body).clone(), bound);
                of_array.or_else(|| self.of_members(*quantifier, collection, (**body).clone()))
            }
            // What is undefined is in no array: that this is undefined then, and not false, makes no difference to a condition.
            Expr::In { left, right, negated: false, ci } if at.is_condition && is_place(left) => {
                let (left, right_of) = (Box::new(Expr::Local(0)), left.clone());
                let equals = Expr::Compare { op: Comparison::Equal, left, right: right_of, ci: *ci };
                self.quantified(Quantifier::Any, right, equals, bound)
            }
            Expr::In { left, right, negated, ci } => {
                let Expr::Constant(value) = &**left else { return None };
                if value.is_undefined() {
                    return None;
                }
                let set = Arc::new(Set::new(vec![value.clone()], *ci));
                let quantifier = if *negated { Quantifier::All } else { Quantifier::Any };
                let equals = Expr::InSet { left: Box::new(Expr::Local(0)), set, negated: *negated };
                self.quantified(quantifier, right, equals, bound)
            }
            Expr::Slot(_) | Expr::Member(..) | Expr::Element(..) => {
                let spot = self.spot(expr, bound)?;
                let of = spot.of.clone()?;
                let below: Path = spot.below.clone().into();
                let is_told = self.block.stored()?.tells_elements(&of, &below);
                is_told.then(|| spot.asks(Asked::Value { of, below }))
            }
            _ => None,
        }
    }

    /// Whether a condition holds for an element of an array, or for each.
    fn quantified(
        &self,
        quantifier: Quantifier,
        collection: &Expr,
        mut condition: Expr,
        bound: &[Bound],
    ) -> Option<OfArray> {
        let (spot, array) = self.array(collection, bound)?;
        // An element of another array has that slot, or others.
        let of_paths = self.paths.len();
        if array.at.has_objects || slots_of(&condition).iter().any(|slot| *slot >= of_paths) {
            return None;
        }
        bind_element(&mut condition, ELEMENT);
        let mut of_rows = Vec::new();
        self.take_asked(&mut condition, &[(ELEMENT, array.clone())], Position::CONDITION, &mut |of| {
            Some(of_paths + of.place_in(&mut of_rows))
        });
        if slots_of(&condition).contains(&ELEMENT) {
            return None;
        }
        Some(spot.asks(Asked::Quantified { array, quantifier, condition, of_rows }))
    }

    /// The same for a member of an object, or for each.
    fn of_members(&self, quantifier: Quantifier, collection: &Expr, mut condition: Expr) -> Option<OfArray> {
        let (object, keys) = self.object(collection)?;
        // Where members come and go, most events have a shape of their own.
        if keys.len() > MEMBERS_MAX || !self.block.stored()?.may_look_for(keys.len()) {
            return None;
        }
        let members = keys.iter().map(|key| object.iter().chain([key]).cloned().collect()).collect();
        let of_paths = self.paths.len();
        if slots_of(&condition).iter().any(|slot| *slot >= of_paths) {
            return None;
        }
        bind_element(&mut condition, ELEMENT);
        let mut below = Vec::new();
        take_below(&mut condition, of_paths, &mut below);
        if slots_of(&condition).contains(&ELEMENT) {
            return None;
        }
        let of = OfMembers { object, members, quantifier, condition, below };
        Some(OfArray { level: 0, asked: Asked::OfMembers(of) })
    }

    /// The path of the objects that an expression comes down to in this block, where it comes down to nothing else, and the keys of their members.
    pub(super) fn object(&self, expr: &Expr) -> Option<(Path, Vec<Box<str>>)> {
        let block = self.block.stored()?;
        let readings = match expr {
            Expr::Path(readings) => readings.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut only = None;
        for reading in readings {
            let spot = self.spot(reading, &[]).filter(|spot| spot.of.is_none())?;
            match &*block.objects_at(&spot.below) {
                AtObjects::Nothing => {}
                AtObjects::Objects(keys) if only.is_none() => {
                    only = Some((spot.below.clone().into(), keys.clone()));
                }
                AtObjects::Objects(_) | AtObjects::Unknown => return None,
            }
        }
        only
    }

    /// The arrays of each row of a level that an expression comes down to in this block: the level, and they.
    pub(super) fn arrays_of_rows(&self, expr: &Expr, bound: &[Bound]) -> Option<(usize, Array)> {
        let (spot, array) = self.array(expr, bound)?;
        spot.steps.is_empty().then_some((spot.level, array))
    }

    /// The arrays at the spot that an expression comes down to in this block, where columns tell their elements.
    fn array(&self, expr: &Expr, bound: &[Bound]) -> Option<(Spot, Array)> {
        let block = self.block.stored()?;
        let readings = match expr {
            Expr::Path(readings) => readings.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut only = None;
        for reading in readings {
            let spot = self.spot(reading, bound)?;
            match block.arrays_at(spot.of.as_ref(), &spot.below) {
                AtArrays::Nothing => {}
                AtArrays::Arrays(at) if only.is_none() && at.elements <= ELEMENTS_MAX => {
                    let array = Array::within(spot.of.as_ref(), &spot.below, at);
                    only = Some((spot, array));
                }
                AtArrays::Arrays(_) | AtArrays::Unknown => return None,
            }
        }
        only
    }

    /// The spot that an expression comes down to; none where it has a key that documents spell otherwise.
    fn spot(&self, expr: &Expr, bound: &[Bound]) -> Option<Spot> {
        match expr {
            Expr::Slot(slot) => {
                if let Some(path) = self.paths.get(*slot) {
                    return Some(Spot { level: 0, steps: Vec::new(), of: None, below: path.to_vec() });
                }
                let level = bound.iter().position(|(own, _)| own == slot)?;
                let of = bound.get(level).map(|(_, array)| array.clone());
                Some(Spot { level: level + 1, steps: Vec::new(), of, below: Vec::new() })
            }
            Expr::Member(of, name) => {
                let mut spot = self.spot(of, bound)?;
                spot.below.push(key(name)?);
                Some(spot)
            }
            Expr::Element(of, index) => {
                let place = place(of, index)?;
                let (mut spot, array) = self.array(of, bound)?;
                spot.steps.push((array.clone(), place));
                Some(Spot { of: Some(array), below: Vec::new(), ..spot })
            }
            _ => None,
        }
    }
}

/// The place of the element of an array with an index: a constant, or how much less than its length.
fn place(of: &Expr, index: &Expr) -> Option<Place> {
    match index {
        Expr::Constant(index) => Some(Place::FromStart(whole(index)?)),
        Expr::Arithmetic(Arithmetic::Subtract, length, less) => {
            let (Expr::Call { function, arguments, .. }, Expr::Constant(less)) = (&**length, &**less) else {
                return None;
            };
            let is_its_own =
                function.name == "Length" && arguments.first().is_some_and(|own| own.is_same(of));
            Some(Place::FromEnd(whole(less).filter(|less| is_its_own && *less > 0)?))
        }
        _ => None,
    }
}

/// A constant that is a whole number from zero on.
fn whole(value: &Value<'_>) -> Option<u32> {
    let Value::Number(number) = value else { return None };
    let number = number.decimal().filter(|n| n.is_integer() && *n >= Decimal::ZERO)?;
    u32::try_from(number.abs()).ok()
}

/// Whether an expression is what an event has at a path.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Slot(_) | Expr::Path(_) => true,
        Expr::Member(of, _) => is_place(of),
        _ => false,
    }
}

/// Puts slots behind those of paths in place of what is asked of the value in the slot of the element.
fn take_below(expr: &mut Expr, of_paths: usize, below: &mut Vec<Path>) {
    if let Some(path) = path_of_element(expr) {
        let place = below.iter().position(|known| **known == *path).unwrap_or_else(|| {
            below.push(path.into());
            below.len() - 1
        });
        *expr = Expr::Slot(of_paths + place);
        return;
    }
    expr.children_mut().into_iter().for_each(|child| take_below(child, of_paths, below));
}

/// The path of an expression below the value in the slot of the element.
fn path_of_element(expr: &Expr) -> Option<Vec<Box<str>>> {
    match expr {
        Expr::Slot(ELEMENT) => Some(Vec::new()),
        Expr::Member(of, name) => {
            let mut path = path_of_element(of)?;
            path.push(key(name)?);
            Some(path)
        }
        _ => None,
    }
}

/// A key as documents spell it; none of a lone surrogate, which is read as another character.
fn key(name: &str) -> Option<Box<str>> {
    (!name.contains('\u{FFFD}')).then(|| spelled(name))
}
