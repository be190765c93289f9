//! What a query says, before names mean anything.
//!
//! Two of these are equal if they say the same: blanks, comments, needless parentheses and the case of keywords do not count.

mod expr;
mod item;
mod operator;
mod print;
mod print_select;
mod select;
#[cfg(test)]
mod tests;

pub(crate) use expr::{Arguments, Name, Node, ParsedExpr};
pub(crate) use item::{ArrayItem, ObjectMember};
pub(crate) use operator::{Arithmetic, Comparison, Quantifier};
pub(crate) use select::{Explain, GroupItem, OrderBy, OrderItem, Select, SelectItem, Unnest};
