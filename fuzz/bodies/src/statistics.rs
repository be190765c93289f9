//! Any bytes as statistics of a block.

use crate::evaluate::{Events, rows};
use std::sync::{Arc, OnceLock};
use tamias_query::Query;

/// Any bytes in place of a block's statistics: queries that ask them end, without a panic, whatever they answer. Where the check against the
/// documents finds nothing false, they answer as without.
pub fn statistics(input: &[u8]) {
    static QUERIES: OnceLock<Vec<Query>> = OnceLock::new();
    let queries = QUERIES.get_or_init(|| {
        let prepared = |text: &&str| Query::prepare(text).expect("a query");
        TEXTS.iter().map(prepared).collect()
    });
    let mut events = Events::new(&DOCUMENTS);
    events.statistics = input.to_vec();
    let is_true = events.has_true_statistics();
    let events = Arc::new(events);
    for query in queries {
        let answer = rows(query, &events, false);
        if is_true {
            assert_eq!(answer, rows(query, &events, true), "statistics that pass the check mislead");
        }
    }
}

/// The corpus has the statistics of these.
const DOCUMENTS: [&str; 3] =
    [r#"{"a":1,"b":"x","c":{"a":2}}"#, r#"{"a":2.50,"b":"y","d":null}"#, r#"{"a":-3e2,"e":true}"#];

const TEXTS: [&str; 8] = [
    "select a, b from stream where a > 1",
    "select b from stream where b = 'x' or d is not null",
    "select count(*) from stream where not (b in ['x', 'z']) and e",
    "select sum(a), min(a), max(a), mean(a), count(b), count(f) from stream",
    "select count(*), max(a) from stream group by a",
    "select distinct(b) from stream where b like '%x%'",
    "select count(distinct(e)), any(e), first(d) from stream",
    "select count(*) from stream where a <> 2.5 group by b ci",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_has_the_statistics() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/statistics/whole");
        assert_eq!(Events::new(&DOCUMENTS).statistics, std::fs::read(file).expect("a corpus"));
    }
}
