//! A query run both ways.

use crate::memory::Memory;
use std::num::NonZeroUsize;
use tamias_query::{Query, RunOptions, Stats};

/// Runs a query both ways, and over columns: what was counted on the way with short cuts.
pub(crate) fn agree(memory: &Memory, text: &str) -> Stats {
    let query = Query::prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (plain, stats) = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() });
    assert_eq!((stats.blocks_skipped, stats.blocks_answered), (0, 0), "the plain way skips nothing");
    let (short, stats) = memory.run(&query, RunOptions::default());
    assert_eq!(short, plain, "{text}");
    let in_columns = memory.in_columns();
    for time in 1..=3 {
        let (columns, _) = in_columns.in_turn(time).run(&query, RunOptions::default());
        assert_eq!(columns, plain, "{text}, in columns, time {time}");
    }
    let (beside_deleted, _) = memory.beside_deleted().run(&query, RunOptions::default());
    assert_eq!(beside_deleted, plain, "{text}, in columns that have deleted events");
    let kept = memory.kept();
    for time in 1..=3 {
        let (again, _) = kept.run(&query, RunOptions::default());
        assert_eq!(again, plain, "{text}, over text, time {time}");
    }
    let threads = NonZeroUsize::MIN.saturating_add(1);
    let (half, _) = memory.half_in_columns().run(&query, RunOptions { threads, ..RunOptions::default() });
    assert_eq!(half, plain, "{text}, half in columns, on two threads");
    stats
}

/// Runs queries one after another over the same columns, and over the same text, which keep what was decoded or found for those before.
pub(crate) fn agree_in_turn(memory: &Memory, texts: &[&str]) {
    let (columns, kept) = (memory.in_columns(), memory.kept());
    for (text, turn) in texts.iter().zip(1..) {
        let query = Query::prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (plain, _) = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() });
        let in_turn = columns.in_turn(turn);
        assert_eq!(in_turn.run(&query, RunOptions::default()).0, plain, "{text}, after others");
        for time in 1..=3 {
            let (again, _) = kept.run(&query, RunOptions::default());
            assert_eq!(again, plain, "{text}, over text, after others, time {time}");
        }
    }
}
