//! A block as columns: which of its events pass, and what an operator asks of those. Nothing above a scan knows how it finds them.

mod block_scan;
mod buffers;
mod columns;
mod direct;
mod event;
mod first_rows;
mod open;
mod parts;
mod text;
mod worker;

pub(crate) use block_scan::{Part, Position, Run};
pub(crate) use columns::ColumnPlan;
pub(crate) use open::open;
pub(crate) use worker::{Pruned, Worker};
