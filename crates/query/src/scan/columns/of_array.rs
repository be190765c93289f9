//! What slots stand for that a block has for what is asked of arrays.

use super::messages::Messages;
use crate::ast::Quantifier;
use crate::column_block::{Array, ColumnBlock, Path};
use crate::expr::Expr;
use crate::functions::FROM_JSON;

/// What a slot stands for that a block has for what is asked of arrays.
#[derive(Clone, Debug)]
pub(super) struct OfArray {
    /// Whose column it is: 0 of events, 1 of the elements of the first collection that is unnested, and so on.
    pub(super) level: usize,
    pub(super) asked: Asked,
}

/// What a slot stands for beside a path.
#[derive(Clone, Debug)]
pub(super) enum StandIn {
    OfArray(Box<OfArray>),
    /// How long the texts at a path are.
    Lengths(Path),
    /// What stands in the JSON that texts spell.
    InJson(InJson),
    /// What an expression makes of what stands at paths.
    Made(Vec<Path>),
    /// Messages, of which one has to be rendered at least.
    Messages(Messages),
}

/// A path in the JSON that the texts at a path of events spell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InJson {
    pub(super) texts: Path,
    pub(super) below: Path,
}

impl InJson {
    /// Whether it was read before.
    pub(super) fn is_told(&self, block: &ColumnBlock) -> bool {
        block.has_in_json(&self.texts, &self.below)
    }
}

/// What is asked of arrays: of those that events have, or elements of others.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// What each element has at a path, where elements are the rows.
    Value { of: Array, below: Path },
    /// How many elements there are.
    Length(Array),
    /// What is asked of the element at a place.
    Nth { array: Array, place: Place, then: Box<Asked> },
    /// Whether a condition holds for some element, or for every one. What it asks of elements, at level 1, and of the arrays of events is in the slots behind those
    /// of paths.
    Quantified { array: Array, quantifier: Quantifier, condition: Expr, of_rows: Vec<OfArray> },
    /// The same of the members of objects.
    OfMembers(OfMembers),
    /// Which keys the objects at a path of events have.
    Keys(Path),
}

/// The place of an element in its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// So many come before it.
    FromStart(u32),
    /// It is the last of so many.
    FromEnd(u32),
}

impl Place {
    /// How many elements of an array of so many come before it; none where the array is shorter.
    pub(super) fn within(self, length: u32) -> Option<u32> {
        match self {
            Place::FromStart(before) => (before < length).then_some(before),
            Place::FromEnd(count) => length.checked_sub(count),
        }
    }
}

/// Whether a condition holds for some member of the objects at a path of events, or for every one.
#[derive(Clone, Debug)]
pub(super) struct OfMembers {
    pub(super) object: Path,
    pub(super) members: Vec<Path>,
    pub(super) quantifier: Quantifier,
    /// What it asks of a member's value is in the slots behind those of paths.
    pub(super) condition: Expr,
    /// The paths below the value that these slots are for.
    pub(super) below: Vec<Path>,
}

impl Asked {
    /// Whether both are surely the same.
    fn is_same(&self, other: &Asked) -> bool {
        match (self, other) {
            (Asked::Value { of, below }, Asked::Value { of: other, below: others }) => {
                of == other && below == others
            }
            (Asked::Length(array), Asked::Length(other)) => array == other,
            (
                Asked::Nth { array, place, then },
                Asked::Nth { array: other, place: other_place, then: other_then },
            ) => array == other && place == other_place && then.is_same(other_then),
            (Asked::Keys(path), Asked::Keys(other)) => path == other,
            _ => false,
        }
    }

    /// The conditions in it, which may ask something of events, too.
    pub(super) fn conditions<'a>(&'a self, conditions: &mut Vec<&'a Expr>) {
        match self {
            Asked::Value { .. } | Asked::Length(_) | Asked::Keys(_) => {}
            Asked::Nth { then, .. } => then.conditions(conditions),
            Asked::Quantified { condition, of_rows, .. } => {
                conditions.push(condition);
                of_rows.iter().for_each(|of| of.asked.conditions(conditions));
            }
            Asked::OfMembers(of) => conditions.push(&of.condition),
        }
    }

    /// What is read for it, as paths are written.
    pub(super) fn names(&self, names: &mut Vec<String>) {
        match self {
            Asked::Value { of, below } => names.push(of.name_of(below)),
            Asked::Length(array) => names.push(array.name_of(&[])),
            Asked::Nth { then, .. } => then.names(names),
            Asked::Quantified { of_rows, .. } => of_rows.iter().for_each(|of| of.asked.names(names)),
            Asked::OfMembers(of) => names.push(of.object.join(".")),
            Asked::Keys(path) => names.push(path.join(".")),
        }
    }
}

impl OfArray {
    /// Its place in a list, to which it is added where it is not in it.
    pub(super) fn place_in(self, list: &mut Vec<OfArray>) -> usize {
        let is_own = |known: &OfArray| known.level == self.level && known.asked.is_same(&self.asked);
        list.iter().position(is_own).unwrap_or_else(|| {
            list.push(self);
            list.len() - 1
        })
    }
}

/// Whether an expression asks something of arrays that columns may tell, how long texts are, which keys objects have, or what stands in the JSON of texts.
pub(super) fn asks_of_arrays(expr: &Expr) -> bool {
    match expr {
        Expr::Quantified { .. } | Expr::Element(..) | Expr::In { .. } => true,
        Expr::Call { function, .. } if matches!(function.name, "Length" | "Keys" | FROM_JSON) => true,
        other => other.children().into_iter().any(asks_of_arrays),
    }
}
