//! Random queries over random events.

mod choose;
mod events;
mod exprs;
mod forms;
mod queries;
mod words;

pub(crate) use events::{Draft, event, placed};
pub(crate) use queries::{grouped_query, plain_query, scalar_query, values_query};
