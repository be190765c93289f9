//! Very many keys, whose groups several threads have in parts.

use crate::memory::{Event, Memory};
use std::num::NonZeroUsize;
use tamias_query::{Query, RunOptions};

/// So many events are enough to tell that keys are very many.
const OF_BLOCK: u64 = 4200;
const BLOCKS: u64 = 9;

/// Blocks of events, the last ones first, of which every other one overlaps the one before.
fn in_blocks(document: impl Fn(u64) -> String) -> Memory {
    let event = |at: u64| Event { instant: at / 2 + at / OF_BLOCK % 2, arrival: at, document: document(at) };
    let block = |block: u64| (block * OF_BLOCK..(block + 1) * OF_BLOCK).map(event).collect::<Vec<_>>();
    let blocks: Vec<Vec<Event>> = (0..BLOCKS).rev().map(block).collect();
    let mut memory = Memory::default();
    for pair in blocks.chunks(2) {
        let pair: Vec<&[Event]> = pair.iter().map(Vec::as_slice).collect();
        memory.groups.extend(Memory::blocks(&[&pair]).groups);
    }
    memory
}

/// Asks for the same rows on so many threads, one after the other, of columns and where every other block is text.
fn agree_on_threads(memory: &Memory, texts: &[&str], threads: &[usize]) {
    let (columns, half) = (memory.in_columns(), memory.half_in_columns());
    for text in texts {
        let query = Query::prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let plain = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() }).0;
        for threads in threads {
            let threads = NonZeroUsize::new(*threads).unwrap_or(NonZeroUsize::MIN);
            for (of, memory) in [("columns", &columns), ("half in columns", &half)] {
                let (rows, _) = memory.run(&query, RunOptions { threads, ..RunOptions::default() });
                assert!(rows == plain, "{text}, {of}, on {threads} threads");
            }
        }
    }
}

/// Some of twenty thousand keys in each block, those of each in an order of their own, of texts and numbers in several spellings.
fn of_many_keys() -> Memory {
    let document = |at: u64| {
        let key = at * 7919 % 20_011;
        let spelled = match key % 7 {
            0 => format!("\"\\u006bey-{key}\""),
            1 if at.is_multiple_of(2) => format!("{key}.0"),
            1 => format!("{key}"),
            2 if at.is_multiple_of(3) => format!("\"k\\u0065y-{key}\""),
            3 => format!("\"a key that is too long to be packed, number {key}\""),
            4 if key.is_multiple_of(3) => format!("[{key}]"),
            _ => format!("\"key-{key}\""),
        };
        format!(
            "{{\"K\":{spelled},\"L\":\"{}\",\"N\":{}.{},\"T\":\"text {}\",\"M\":{}}}",
            at % 3,
            at % 1000,
            at % 7,
            at % 50,
            if at.is_multiple_of(11) { "\"none\"".to_owned() } else { (at % 90).to_string() },
        )
    };
    in_blocks(document)
}

#[test]
fn very_many_groups_are_the_same_on_several_threads() {
    let texts = [
        "select count(*) from stream group by K",
        "select sum(N), mean(M), min(N), max(T) from stream group by K",
        "select first(T), last(N), any(M > 80), count(distinct(L)) from stream where N > 3 group by K",
        "select count(*) as n, percentile(N, 50) from stream group by K having n > 2 order by n desc, K limit 40",
        "select sum(N / 7) as s, median(M) from stream group by K order by s desc, K limit 25",
        "select sum(N / 7) as s, median(M) from stream group by L, K order by s desc limit 25",
        "select count(*) as n from stream group by K order by n desc limit 10",
        "select distinct(L) from stream group by K limit 50",
        "select max(N) from stream group by K ci",
        "select count(distinct(K)), count(*) from stream group by L",
    ];
    agree_on_threads(&of_many_keys(), &texts, &[1, 2, 3]);
}

/// Numbers as keys, each block with those of one spelling: whole, with zeros behind the point, or with other digits there. Where `others` is true some events of the last block but one have texts, or null.
fn of_number_keys(others: bool) -> Memory {
    let document = |at: u64| {
        let (key, block) = (at * 7919 % 20_011, at / OF_BLOCK);
        let spelled = match block % 4 {
            _ if others && block == 1 && at.is_multiple_of(5) => "\"none\"".to_owned(),
            _ if others && block == 1 && at.is_multiple_of(7) => "null".to_owned(),
            0 | 1 => format!("{key}"),
            2 => format!("{key}.0"),
            _ => format!("{key}.{}", 25 + at % 2 * 25),
        };
        format!("{{\"K\":{spelled},\"L\":\"{}\",\"N\":{}.5}}", at % 3, at % 1000)
    };
    in_blocks(document)
}

#[test]
fn numbers_as_keys_are_the_same_however_often_they_are_asked_for() {
    let texts = [
        "select count(*) from stream group by K",
        "select sum(N), min(N), first(L), count(distinct(K)) from stream where N > 3 group by K",
        "select count(*) as n from stream where N = 7.5 or N > 700 group by K order by n desc, K limit 40",
        "select mean(N) as m from stream group by K / 3 order by m desc limit 25",
        "select count(distinct(K)) from stream",
        "select count(distinct(K)), count(*) from stream group by L",
        "select count(distinct(K * 2)), count(*) from stream group by L",
        "select count(*) from stream group by L, K",
    ];
    for others in [false, true] {
        agree_on_threads(&of_number_keys(others), &texts, &[1, 2, 1, 3, 2]);
    }
}
