//! `@Id` as a column: what identifies an event is spelled once, however many rows of elements it has.

use super::evaluate::Evaluator;
use super::found::{Passing, Values};
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::write_event_id;
use std::sync::Arc;

impl Evaluator<'_> {
    /// The identifiers of the events of rows that pass, whose bytes are counted; none where times cannot be read.
    pub(super) fn event_ids(&self, rows: &Passing, made_bytes: &mut usize) -> Option<Values> {
        let times = self.block.times().ok()?;
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut add = |event: usize| {
            let (instant, arrival) = times.order(event);
            bytes.push(b'"');
            write_event_id(instant, arrival, &mut bytes);
            bytes.push(b'"');
            ends.push(bytes.len() as u32);
        };
        if self.origins.is_none() {
            rows.places().for_each(|row| add(row as usize));
            *made_bytes += bytes.len();
            return Some(Values::Rows(Arc::new(Dictionary::new(bytes, ends))));
        }
        let (mut codes, mut last, mut count) = (vec![0; self.rows()], usize::MAX, 0u32);
        for row in rows.places() {
            let event = self.origin(row as usize);
            // Rows of an event follow one another.
            if event != last {
                last = event;
                add(event);
                count += 1;
            }
            if let Some(code) = codes.get_mut(row as usize) {
                *code = count - 1;
            }
        }
        *made_bytes += bytes.len();
        let coded = Coded::new(Some(codes), Arc::new(Dictionary::new(bytes, ends)));
        Some(Values::Path(Arc::new(PathColumn::Coded(coded))))
    }
}
