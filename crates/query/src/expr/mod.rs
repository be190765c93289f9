//! Resolved expressions: every name is a slot of the event or a local, every pattern compiled.

mod arithmetic;
mod bindings;
mod computed;
mod eval;
mod kind;
mod like;
mod pattern;
mod pieces;
mod print;
mod rules;
mod scope;
mod set;
mod tree;

pub(crate) use arithmetic::{binary_power, of_decimals};
pub(crate) use bindings::bind;
pub(crate) use computed::{Computed, DEFAULT_LEVEL, write_event_id};
pub(crate) use eval::{holds, unlike};
pub(crate) use kind::Certain;
pub(crate) use like::{Like, LikeForm};
pub(crate) use pattern::{Anchored, Needed, Pattern, Replacement, is_plain};
pub(crate) use print::{Printed, property, quoted};
pub(crate) use rules::{RULES, Rule, apply_rules, fold, rewrite};
pub(crate) use scope::{Event, Scope, Spare};
pub(crate) use set::Set;
pub(crate) use tree::Expr;
