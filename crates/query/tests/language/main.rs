//! The rules of the language, one after another in the order in which its specification states them, each with examples.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod check;
mod expressions;
mod functions;
#[path = "../memory/mod.rs"]
mod memory;
mod names;
mod queries;
mod values;
