//! What slots stand for that a block has for what is asked of arrays.

use crate::ast::Quantifier;
use crate::column_block::Path;
use crate::expr::Expr;
use tamias_shred::ArraysAt;

/// The arrays at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) path: Path,
    pub(super) at: ArraysAt,
}

/// What a slot stands for that a block has for what is asked of arrays.
#[derive(Clone, Debug)]
pub(super) struct OfArray {
    pub(super) array: Array,
    pub(super) asked: Asked,
}

/// What a slot stands for beside a path.
#[derive(Clone, Debug)]
pub(super) enum StandIn {
    OfArray(OfArray),
    /// How long the texts at a path are.
    Lengths(Path),
}

/// What is asked of arrays.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// How many elements there are.
    Length,
    /// What the element at a place has at a path.
    Nth { place: u32, below: Path },
    /// What each element has at a path, where elements have rows of their own.
    Each(Path),
    /// Whether a condition holds for some element, or for every one. The values that it takes from elements are in the slots behind those of paths.
    Quantified { quantifier: Quantifier, condition: Expr, below: Vec<Path> },
}

/// Whether an expression asks something of arrays that columns may tell, or how long texts are.
pub(super) fn asks_of_arrays(expr: &Expr) -> bool {
    match expr {
        Expr::Quantified { .. } | Expr::Element(..) | Expr::In { .. } => true,
        Expr::Call { function, .. } if function.name == "Length" => true,
        other => other.children().into_iter().any(asks_of_arrays),
    }
}
