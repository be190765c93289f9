//! A block as columns: which of its events pass, and what an operator asks of those. Nothing above a scan knows how it finds them.

mod block_scan;
mod buffers;
mod direct;
mod event;
mod parts;
mod text;
mod worker;

pub(crate) use block_scan::{BlockScan, Part, Position, Run};
pub(crate) use text::TextScan;
pub(crate) use worker::{Pruned, Worker};
