//! What will be read soon, so that a medium that serves many requests at once is asked for it before it is needed.

use std::ops::Range;
use std::sync::Arc;

use super::column_block::ColumnBlock;
use super::loaded::Loaded;

/// Parts this close are read together.
///
/// HEURISTIC: a request takes as long as so many bytes more of one that is made anyway, of a solid-state disk as of one that is reached by a network; and as much processor time.
const CLOSE_BYTES: u64 = 64 << 10;

/// No more is asked for together: the system might have to forget it before it is read.
const ASKED_BYTES_MAX: u64 = 16 << 20;

/// Parts of blocks in columns that will be read soon. They are asked for together, those that lie close in one request.
#[derive(Default)]
pub struct Expected {
    /// In the order in which they were added, each with where its parts lie.
    blocks: Vec<(Arc<Loaded>, Vec<Range<u64>>)>,
}

impl Expected {
    /// Adds the parts of a block whose names are wanted. Where its file cannot be opened nothing is added: reading will tell.
    pub fn add(&mut self, block: &ColumnBlock, is_wanted: &dyn Fn(&str) -> bool) {
        if let Ok(loaded) = block.loaded() {
            let places = loaded.places_of(block.number(), is_wanted);
            self.blocks.push((loaded, places));
        }
    }

    /// Tells the system. A hint.
    pub fn ask(self) {
        let mut blocks = self.blocks;
        let mut left = ASKED_BYTES_MAX;
        blocks.sort_by_key(|(loaded, _)| Arc::as_ptr(loaded));
        for blocks in blocks.chunk_by(|(one, _), (next, _)| Arc::ptr_eq(one, next)) {
            let Some(file) = blocks.first().and_then(|(loaded, _)| loaded.file()) else { continue };
            let ranges = blocks.iter().flat_map(|(_, places)| places.clone()).collect();
            for Range { start, end } in together(ranges) {
                let bytes = (end - start).min(left);
                left -= bytes;
                if bytes > 0 {
                    file.expect_read(start, bytes);
                }
            }
        }
    }
}

/// Ranges of a file, in order, those that lie close as one.
fn together(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut together: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match together.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(CLOSE_BYTES) => {
                last.end = last.end.max(range.end)
            }
            _ => together.push(range),
        }
    }
    together
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_close_is_asked_for_at_once() {
        let far = 2 * CLOSE_BYTES;
        assert_eq!(together(vec![]), []);
        assert_eq!(together(vec![far..far + 8, 30..40, 0..10, 5..8]), [0..40, far..far + 8]);
        let side_by_side =
            together(vec![0..10, 10 + CLOSE_BYTES..20 + CLOSE_BYTES, 21 + 2 * CLOSE_BYTES..far * 2]);
        assert_eq!(side_by_side, [0..20 + CLOSE_BYTES, 21 + 2 * CLOSE_BYTES..far * 2]);
    }
}
