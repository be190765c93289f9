//! What expressions make of texts, by how they are spelled with their paths, which is kept once it is asked for again.

use super::ColumnBlock;
use super::kept::{Path, Use};
use super::path_column::PathColumn;
use std::sync::Arc;

impl ColumnBlock {
    /// What is kept of what an expression makes, for some use.
    pub(crate) fn made(&self, usage: Use, of: &Path) -> Option<Arc<PathColumn>> {
        self.decoded.made(usage, of, self.turn)
    }

    /// Takes note that many rows are asked for what an expression makes, of which nothing is kept: whether it had better be, as a query before asked for it, too.
    pub(crate) fn is_to_be_made(&self, of: &Path) -> bool {
        self.decoded.made_is_wanted(of, self.turn)
    }

    /// Takes note that too few rows are asked for what an expression makes.
    pub(crate) fn is_not_worth_making(&self, of: &Path) {
        self.decoded.do_without_made(of);
    }

    /// Keeps what an expression makes of all rows.
    pub(crate) fn keep_made(&self, usage: Use, of: &Path, column: Arc<PathColumn>) -> Arc<PathColumn> {
        self.decoded.keep_made(usage, of, column, self.turn)
    }
}

#[cfg(test)]
mod tests {
    use super::super::DecodedColumns;
    use super::super::tests::block;
    use super::*;

    #[test]
    fn what_is_asked_for_in_a_second_query_is_kept_and_seldom_made_where_there_is_no_room() {
        let mut block = block(10).in_turn(1);
        let of: Path = ["ToLower(0)".into()].into();
        assert!(!block.is_to_be_made(&of) && !block.is_to_be_made(&of), "the same query asks twice");
        block = block.in_turn(2);
        assert!(block.is_to_be_made(&of) && !block.is_to_be_made(&["ToLower(1)".into()].into()));
        block.keep_made(Use::Values, &of, Arc::new(PathColumn::Nothing));
        assert!(block.made(Use::Keys, &of).is_some());
        // It had no room.
        let mut left = block.decoded().made_before(2);
        assert!(left.held_bytes() < block.decoded().held_bytes() && left.made(Use::Values, &of, 3).is_none());
        let without = (3..100).take_while(|turn| !left.made_is_wanted(&of, *turn)).count();
        assert_eq!(without, usize::from(super::super::decoded::TURNS_WITHOUT));
        left = left.used_since(0);
        assert!(left.made_is_wanted(&of, 101));
    }

    #[test]
    fn where_memory_is_short_only_what_is_asked_for_again_soon_is_kept() {
        let block = block(10).in_turn(1);
        let of: Path = ["ToLower(0)".into()].into();
        let is_wanted = |decoded: &DecodedColumns, turn: u64| {
            assert!(!decoded.made_is_wanted(&of, 1));
            decoded.made_is_wanted(&of, turn)
        };
        let short = || block.decoded().compacted();
        assert!(is_wanted(&short(), 3) && !is_wanted(&short(), 100) && is_wanted(block.decoded(), 100));
        assert!(!short().used_since(0).made_is_wanted(&of, 1), "a query that began earlier");
    }

    #[test]
    fn expressions_without_end_take_no_memory() {
        let block = block(10).in_turn(1);
        let bytes = block.decoded().held_bytes();
        (0..1000).for_each(|n| assert!(!block.is_to_be_made(&[n.to_string().into()].into())));
        assert!(block.decoded().held_bytes() < bytes + 64 * 400);
        let block = block.in_turn(2);
        assert!(block.is_to_be_made(&["999".into()].into()), "the last ones are noted");
    }
}
