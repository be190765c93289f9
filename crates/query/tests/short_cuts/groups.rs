//! Groups: in the order of their first events, whatever is known of these; cut to a limit; by several keys.

use crate::agree::agree;
use crate::memory::{Event, Memory};
use std::num::NonZeroUsize;
use tamias_query::{Query, RunOptions};

/// Blocks of a few values whose greatest and least come again, spelled in several ways: each by itself in time, or together.
fn equal_ends(are_apart: bool) -> Memory {
    let event = |n: u64| {
        let end = [["9", "1", "9.0"], ["9.00", "1.0", "5"], ["1.00", "9.0", "1"]][(n / 3 % 3) as usize]
            [(n % 3) as usize];
        let key = ["a", "A", "b"][(n * 5 % 3) as usize];
        let instant = if are_apart { n } else { n % 3 * 100 + n / 3 };
        Event { instant, arrival: n, document: format!(r#"{{"end":{end},"key":"{key}"}}"#) }
    };
    let mut events: Vec<Event> = (0..30).map(event).collect();
    events.sort_by_key(|event| (event.instant, event.arrival));
    let blocks: Vec<&[Event]> = events.chunks(3).collect();
    match are_apart {
        true => Memory::blocks(&blocks.chunks(1).collect::<Vec<_>>()),
        false => {
            let halves: [Vec<Event>; 2] =
                [0, 1].map(|half| events.iter().filter(|event| event.arrival % 2 == half).cloned().collect());
            Memory::blocks(&[&[halves[0].as_slice(), halves[1].as_slice()]])
        }
    }
}

#[test]
fn of_equal_ends_of_blocks_the_first_counts_though_times_are_not_read() {
    for are_apart in [true, false] {
        let memory = equal_ends(are_apart);
        for query in [
            "select min(end), max(end) from stream",
            "select min(end), max(end), first(end) from stream where key is not null",
            "select count(*), min(key) from stream group by key ci",
            "select count(*) from stream group by end",
            "select count(*), first(key), last(key) from stream group by key ci",
            "select max(end) from stream where end = 9",
        ] {
            agree(&memory, query);
        }
    }
}

/// Many groups in ten blocks.
fn many() -> Memory {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(
            r#"{{"Id":"id-{:06}","N":{n},"Level":"{}","Half":{}.5,"Block":{}}}"#,
            n % 700,
            if n.is_multiple_of(3) { "Error" } else { "Information" },
            n / 2,
            n / 100,
        ),
    };
    let events: Vec<Event> = (0..1000).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(100).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

#[test]
fn groups_are_cut_to_a_limit_without_the_others() {
    let memory = many();
    for query in [
        "select count(*), max(Half) from stream group by Id limit 3",
        "select count(*) from stream group by Id, Level limit 7",
        "select count(*) as n, min(Id) from stream group by Level, Block having n > 10 limit 4",
        "select count(*) from stream group by Id limit 0",
        "select min(Id), max(Level) from stream group by Block limit 2",
        "select sum(N) + 1 as s from stream group by Block, Half limit 300",
        "select count(*) from stream group by Level, Block, N % 7 limit 2000",
    ] {
        agree(&memory, query);
    }
}

#[test]
fn pairs_of_keys_that_become_more_from_block_to_block_keep_their_groups() {
    let event = |n: u64| Event {
        instant: n / 2,
        arrival: n,
        document: format!(
            r#"{{"a":"a{}","b":{},"c":{},"v":{n}}}"#,
            n * n % (n / 40 + 2),
            n % (n / 150 + 1),
            if n.is_multiple_of(11) { "null" } else { "1.50" },
        ),
    };
    let events: Vec<Event> = (0..3000).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(400).collect();
    let apart: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    for memory in [Memory::blocks(&apart), Memory::blocks(&[blocks.as_slice()])] {
        for query in [
            "select count(*), sum(v) from stream group by a, b",
            "select count(*), first(v), sum(c) from stream group by a, b, c",
            "select sum(Coalesce(c, 0)), count(c), sum(Coalesce(c, b, 7)) from stream group by b, c",
            "select count(*) from stream where v > 700 group by b, a",
            "select max(v) as m from stream group by a, b order by m desc limit 5",
        ] {
            agree(&memory, query);
        }
    }
}

/// Blocks in which nearly each event has a key of its own, and then many of few keys, which statistics answer: these are more than a thread may have of its own.
#[test]
fn groups_that_statistics_answer_are_not_lost_beside_those_in_parts() {
    let event = |n: u64| {
        let key = match n {
            ..24_000 => format!("user-{:06}", n % 6_000),
            _ => format!("{:0>40}", (n - 24_000) / 200 * 40 + n % 40),
        };
        Event { instant: n, arrival: n, document: format!(r#"{{"id":"{key}","pad":"{:x<900}"}}"#, n) }
    };
    let events: Vec<Event> = (0..48_000).map(event).collect();
    let (first, rest) = events.split_at(24_000);
    let blocks: Vec<&[Event]> = first.chunks(6_000).chain(rest.chunks(200)).collect();
    let memory = Memory::blocks(&blocks.chunks(1).collect::<Vec<_>>()).in_columns();
    for text in [
        "select count(*) as n from stream group by id",
        "select max(id) as m, count(*) as n from stream group by id",
        "select count(distinct(id)) as d from stream",
    ] {
        let query = Query::prepare(text).unwrap();
        let plain = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() }).0;
        for (threads, memory_bytes) in
            [(1, 256 << 20), (2, 12 << 20), (2, 24 << 20), (3, 12 << 20), (2, 256 << 20)]
        {
            let threads = NonZeroUsize::new(threads).unwrap();
            let (found, stats) =
                memory.run(&query, RunOptions { threads, memory_bytes, ..RunOptions::default() });
            assert!(stats.blocks_answered > 50, "{text}: {stats:?}");
            assert!(found == plain, "{text}, {threads} threads, {memory_bytes} bytes");
        }
    }
}

/// Values that nearly all differ are shared out among threads; some rows have none, and equal ones may be spelled in several ways.
#[test]
fn values_that_differ_are_counted_by_threads_together_as_by_one() {
    let event = |n: u64| {
        let id = n * 7 % 18_000;
        let members = match n % 9 {
            0 => String::new(),
            1 => r#","id":null,"key":null"#.to_owned(),
            2 => format!(r#","id":"\u0030{:031x}","key":{id}.50,"path":"p{id}""#, id),
            3 => format!(r#","id":"{id:032x}","key":"{id}""#),
            _ => format!(r#","id":"{id:032x}","key":{id}.5,"path":"p{}""#, id % 9_000),
        };
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{n}{members}}}"#) }
    };
    let events: Vec<Event> = (0..30_000).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(3_000).collect();
    let memory = Memory::blocks(&blocks.chunks(1).collect::<Vec<_>>()).in_columns();
    for text in [
        "select count(distinct(id)) as d from stream",
        "select count(distinct(key)) as d from stream",
        "select count(distinct(n)) as d from stream where n % 3 = 1",
        "select count(distinct(Concat(path, '-', id))) as d from stream",
        "select count(distinct(id)) as d, count(distinct(path)) as p, sum(n) from stream",
        "select count(distinct(@Id)) as d from stream",
    ] {
        let query = Query::prepare(text).unwrap();
        let plain = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() }).0;
        for threads in [1, 2, 3] {
            // The later ones may have numbers that the first ones gave.
            for time in 0..3 {
                let threads = NonZeroUsize::new(threads).unwrap();
                let found = memory.run(&query, RunOptions { threads, ..RunOptions::default() }).0;
                assert!(found == plain, "{text}, {threads} threads, time {time}: {found:?} {plain:?}");
            }
        }
    }
}

/// Groups of short intervals: most are new where their interval is. Blocks begin in the middle of intervals, some overlap, some values come late, some keys are absent
/// or spelled in several ways.
#[test]
fn groups_of_short_intervals_are_those_of_all_rows() {
    let event = |n: u64| {
        let kind = match n {
            0..3_000 => n % 3,
            3_000..6_000 => n % 7,
            _ => n % 40,
        };
        let code = match n % 11 {
            0 => String::new(),
            1 => format!(r#","code":{}.0"#, n % 5),
            2 => r#","code":null"#.to_owned(),
            _ => format!(r#","code":{}"#, n % 5),
        };
        let (step, city) =
            (10_000_000 * (7 + n % 5), ["Bern", "Z\\u00fcrich", "Zürich"][(n / 4 % 3) as usize]);
        Event {
            instant: 638_000_000_000_000_000 + n * step / 3 + n / 1_000 * 20_000_000_000,
            arrival: n,
            document: format!(r#"{{"n":{n},"kind":"k{kind}","city":"{city}"{code}}}"#),
        }
    };
    let mut events: Vec<Event> = (0..9_000).map(event).collect();
    events.sort_by_key(|event| (event.instant, event.arrival));
    let blocks: Vec<&[Event]> = events.chunks(1_300).collect();
    let half = |half: u64| events.iter().filter(|event| event.arrival % 2 == half).cloned().collect();
    let halves: [Vec<Event>; 2] = [half(0), half(1)];
    let mut groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    let later: Vec<Event> = (9_000..12_000).map(event).collect();
    let (even, odd): (Vec<Event>, Vec<Event>) = later.into_iter().partition(|event| event.arrival % 2 == 0);
    let overlapping: [&[Event]; 2] = [&even, &odd];
    groups.push(&overlapping);
    let both: [&[Event]; 2] = [&halves[0], &halves[1]];
    for memory in [Memory::blocks(&groups), Memory::blocks(&[&both])] {
        for query in [
            "select count(*), first(n), last(n) from stream group by time(1m), kind, city",
            "select count(*), sum(n) from stream group by time(10s), code",
            "select count(*) from stream group by time(10s), kind, code, city having count(*) > 1",
            "select count(*) as c from stream group by time(1m), city, kind order by c desc, city, kind limit 20",
            "select count(*) from stream where n % 3 = 1 group by time(30s), kind, city order by time desc",
            "select max(n) from stream group by city, time(1m), kind",
            "select count(*), max(city) from stream group by time(1m), city, kind limit 50",
        ] {
            agree(&memory, query);
            let query = Query::prepare(query).unwrap_or_else(|error| panic!("{error}"));
            let memory = memory.in_columns();
            let plain = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() }).0;
            for threads in [1, 3] {
                let threads = NonZeroUsize::new(threads).unwrap();
                let found = memory.run(&query, RunOptions { threads, ..RunOptions::default() }).0;
                assert!(found == plain, "{threads} threads");
            }
        }
    }
}
