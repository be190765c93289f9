//! Queries on several threads: the same rows, counts and errors as on one, and an early end when nothing more is wanted.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod memory;

use memory::{Event, Memory, MemoryBlock};
use proptest::collection::vec;
use proptest::prelude::*;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tamias_query::{Block, Documents, ExecError, Query, Rows, RunOptions, Source, SourceError, Stats, Times};

fn on(threads: usize) -> RunOptions {
    RunOptions { threads: NonZeroUsize::new(threads).unwrap(), ..RunOptions::default() }
}

/// What [`memory::read`] gives, without what each thread decides for itself: whether searching is worth it.
fn read(rows: Rows) -> (Vec<String>, Option<String>, Stats) {
    let (lines, failure, mut stats) = memory::read(rows);
    stats.technique = None;
    (lines, failure, stats)
}

/// What has to come out the same; of those in the second list also every count.
const SHORT: [&str; 7] = [
    "select n from stream limit 7",
    "select n, x from stream lateral unnest(list) as x limit 40",
    "select n from stream order by time desc limit 30",
    "select app from stream where n > 5 limit 1",
    "select top(x, 5) from stream lateral unnest(list) as x",
    "select distinct(app) from stream limit 2",
    "select count(*) from stream group by app limit 2",
];
const WHOLE: [&str; 25] = [
    "select n from stream",
    "select n, app, list from stream order by time desc",
    "select n from stream where n > 20",
    "select n, Concat(app, '!') as more from stream where app <> 'a' order by time desc",
    "select n from stream where Length(app) = 1 and n < 60",
    "select x, n from stream lateral unnest(list) as x",
    "select x, y from stream lateral unnest(list) as x lateral unnest(list) as y where x <> y order by time desc",
    "select n, app from stream order by app, n desc",
    "select n, app from stream order by app desc limit 9",
    "select count(*) from stream",
    "select count(n), sum(n), min(n), max(n), mean(n), percentile(n, 90) from stream",
    "select first(n), last(n), first(list), last(app) from stream where n > 10",
    "select count(*), first(n), last(n) from stream group by app",
    "select count(*) from stream group by app, n % 3",
    "select count(*), sum(n) from stream group by time(1us), app",
    "select any(n > 90), all(n > 1), count(distinct(n)) from stream group by app ci",
    "select distinct(app) from stream",
    "select distinct(x) from stream lateral unnest(list) as x",
    "select bottom(n, 11) from stream",
    "select bottom(x, 9) from stream lateral unnest(list) as x group by app",
    "select count(*) from stream lateral unnest(list) as x group by x",
    "select count(*) as c, max(n) as m from stream group by app having c > 1 order by m desc",
    "select min(num), max(num) from stream group by app order by app",
    "select n from stream where missing = 1",
    "select sum(missing), min(missing), first(missing) from stream",
];

/// An event: the gap to the one before, its arrival, which of three blocks it is in, whether its group ends, its content.
type Draft = (u64, u16, usize, bool, (u8, usize, Vec<u8>));

fn draft() -> impl Strategy<Value = Draft> {
    let content = (0..100u8, 0..5usize, vec(0..9u8, 0..4));
    (0..4u64, any::<u16>(), 0..3usize, prop::bool::weighted(0.15), content)
}

fn stored(drafts: &[Draft]) -> Memory {
    let mut memory = Memory::default();
    let mut group: [Vec<Event>; 3] = [const { Vec::new() }; 3];
    let mut instant = 100;
    let mut last = None;
    for (index, (gap, arrival, block, ends_group, (n, app, list))) in drafts.iter().enumerate() {
        instant += gap;
        // An instant is never in two groups.
        if last.is_some_and(|(ends, at)| ends && at < instant) {
            let filled = std::mem::take(&mut group).into_iter().filter(|events| !events.is_empty());
            memory.groups.push(filled.map(|events| Arc::new(MemoryBlock::new(&events))).collect());
        }
        last = Some((*ends_group, instant));
        let app = ["a", "b", "B", "c", "dd"][*app];
        // Equal numbers, spelt otherwise.
        let num = if n % 2 == 0 { format!("{}", n / 10) } else { format!("{}.0", n / 10) };
        let document = format!(r#"{{"n":{n},"app":"{app}","num":{num},"list":{list:?}}}"#);
        let arrival = u64::from(*arrival) << 16 | index as u64;
        group[*block].push(Event { instant, arrival, document });
    }
    let filled = group.into_iter().filter(|events| !events.is_empty());
    memory.groups.push(filled.map(|events| Arc::new(MemoryBlock::new(&events))).collect());
    memory
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_and_counts_are_those_of_one_thread(drafts in vec(draft(), 0..120)) {
        let memory = stored(&drafts);
        for text in SHORT.iter().chain(&WHOLE) {
            let query = Query::prepare(text).unwrap();
            let run = |threads| read(query.run_with(memory.source(query.direction()), on(threads)));
            let (rows, failure, stats) = run(1);
            prop_assert_eq!(&failure, &None);
            for threads in [2, 3] {
                let (again, failure, counted) = run(threads);
                prop_assert_eq!(&failure, &None);
                prop_assert_eq!(&again, &rows, "{} on {} threads", text, threads);
                if WHOLE.contains(text) {
                    prop_assert_eq!(counted, stats, "{} on {} threads", text, threads);
                }
            }
        }
    }
}

fn numbered(blocks: u64) -> Memory {
    let event =
        |n: u64| Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"text":"number {n}"}}"#) };
    let events: Vec<Event> = (0..blocks * 100).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(100).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

/// Rows of which a few, or a single one, are more than is copied together.
#[test]
fn long_rows_are_those_of_one_thread() {
    let text =
        |n: u64| ["short", "long, "][usize::from(n % 7 == 3)].repeat([1, 60_000][usize::from(n % 7 == 3)]);
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"n":{n},"text":"{} {n}","none":null}}"#, text(n)),
    };
    let events: Vec<Event> = (0..400).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(20).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    let memory = Memory::blocks(&groups);
    for text in [
        "select n, text, missing, none, text from stream",
        "select @Data, text, @Data from stream order by time desc",
        "select n, Concat(text, '!'), text from stream where n % 7 = 3 or n % 2 = 0",
    ] {
        let query = Query::prepare(text).unwrap();
        let run = |threads| read(query.run_with(memory.source(query.direction()), on(threads)));
        let expected = run(1);
        for threads in [2, 3, 5] {
            let made = run(threads);
            assert!(made == expected, "{text} on {threads} threads");
        }
    }
}

/// Whether no thread has a block any more.
fn is_released(memory: &Memory) -> bool {
    memory.groups.iter().flatten().all(|block| Arc::strong_count(block) == 1)
}

/// Counts the groups that are read.
struct Counted(Box<dyn Source>, Arc<AtomicUsize>);

impl Source for Counted {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        self.1.fetch_add(1, Relaxed);
        self.0.next_group()
    }
}

#[test]
fn a_limit_reads_few_blocks_ahead() {
    let memory = numbered(500);
    for (limit, most) in [(1, 1), (100, 1), (101, 3), (250, 5), (1000, 20)] {
        for order in ["", " order by time desc"] {
            let query = Query::prepare(&format!("select n from stream{order} limit {limit}")).unwrap();
            let groups = Arc::new(AtomicUsize::new(0));
            let source = Counted(memory.source(query.direction()), groups.clone());
            let (rows, failure, _) = read(query.run_with(Box::new(source), on(2)));
            assert_eq!((rows.len(), failure), (limit, None));
            assert!(groups.load(Relaxed) <= most, "{} groups for {limit}{order}", groups.load(Relaxed));
        }
    }
}

#[test]
fn rows_that_are_not_asked_for_are_not_made() {
    let memory = numbered(500);
    let groups = Arc::new(AtomicUsize::new(0));
    let query = Query::prepare("select n from stream").unwrap();
    let source = Counted(memory.source(query.direction()), groups.clone());
    let mut rows = query.run_with(Box::new(source), on(3));
    for _ in 0..2000 {
        assert!(rows.next_row().unwrap().is_some());
    }
    // Twenty blocks, and four for each thread.
    assert!(groups.load(Relaxed) <= 33, "{} groups", groups.load(Relaxed));
    drop(rows);
    memory_is_released(&memory);
}

fn memory_is_released(memory: &Memory) {
    assert!(is_released(memory), "a thread goes on without its query");
}

#[test]
fn a_cancelled_query_ends_on_all_threads() {
    let memory = numbered(500);
    for text in
        ["select n from stream", "select n from stream order by n", "select count(*) from stream group by n"]
    {
        let query = Query::prepare(text).unwrap();
        let mut rows = query.run_with(memory.source(query.direction()), on(3));
        if text == "select n from stream" {
            assert!((0..1500).all(|_| rows.next_row().unwrap().is_some()));
        }
        rows.cancel_handle().cancel();
        let last = loop {
            match rows.next_row() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("{text} was not cancelled"),
                Err(error) => break error,
            }
        };
        assert!(matches!(last, ExecError::Cancelled), "{text}: {last}");
        assert!(rows.next_row().unwrap().is_none());
        memory_is_released(&memory);
    }
}

#[test]
fn a_deadline_ends_all_threads() {
    let digits = "[0,1,2,3,4,5,6,7,8,9]";
    let slow = format!("{}true{}", format!("Every({digits}, |x| ").repeat(12), ")".repeat(12));
    for text in [
        format!("select n from stream where n < 150 or {slow}"),
        format!("select count(*) from stream where n < 150 or {slow}"),
    ] {
        let query = Query::prepare(&text).unwrap();
        let deadline = Some(Instant::now() + Duration::from_millis(50));
        let started = Instant::now();
        let options = RunOptions { deadline, ..on(2) };
        let (_, failure, _) = read(query.run_with(numbered(20).source(query.direction()), options));
        assert!(failure.unwrap().contains("deadline"));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

/// Dropped while other threads are at slow blocks, rows do not wait for those to be done.
#[test]
fn dropped_rows_end_their_threads() {
    let digits = "[0,1,2,3,4,5,6,7,8,9]";
    let slow = format!("{}true{}", format!("Every({digits}, |x| ").repeat(12), ")".repeat(12));
    let query = Query::prepare(&format!("select n from stream where n < 500 or {slow}")).unwrap();
    let memory = numbered(20);
    let mut rows = query.run_with(memory.source(query.direction()), on(2));
    // With the fifth block opened, a later one is handed out.
    assert!((0..401).all(|_| rows.next_row().unwrap().is_some()));
    std::thread::sleep(Duration::from_millis(20));
    let started = Instant::now();
    drop(rows);
    assert!(started.elapsed() < Duration::from_secs(5));
    memory_is_released(&memory);
}

/// The threads end when all rows are held; the query does not.
#[test]
fn sorted_rows_outlive_the_threads_that_made_them() {
    let memory = numbered(60);
    let query = Query::prepare("select n, text from stream order by text desc").unwrap();
    let run = |threads| read(query.run_with(memory.source(query.direction()), on(threads)));
    let (rows, failure, _) = run(1);
    assert_eq!((rows.len(), failure), (6000, None));
    for threads in [2, 3] {
        let again = run(threads);
        assert!(again.0 == rows && again.1.is_none(), "{threads} threads: {:?}", again.1);
    }
}

/// What goes wrong with a block.
#[derive(Clone, Copy)]
enum Wrong {
    Unreadable,
    Panic,
}

/// A block that goes wrong when its documents are read, after a while.
struct Bad(Arc<dyn Block>, Wrong);

impl Block for Bad {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        self.0.range()
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        self.0.times()
    }
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        match self.1 {
            Wrong::Unreadable => Err(format!("bad at {}", self.range().0.0).into()),
            Wrong::Panic => std::panic::resume_unwind(Box::new("a panic")),
        }
    }
    fn statistics(&self) -> Option<&[u8]> {
        None
    }
}

/// Makes some blocks bad, by the number of their group, and may fail itself at a later one.
struct Spoilt {
    of: Box<dyn Source>,
    group: usize,
    bad: &'static [usize],
    wrong: Wrong,
    end: usize,
}

impl Source for Spoilt {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        let number = self.group;
        self.group += 1;
        if number == self.end {
            return Err("the disk is gone".into());
        }
        let group = self.of.next_group()?;
        let spoil = |block| match self.bad.contains(&number) {
            true => Arc::new(Bad(block, self.wrong)) as Arc<dyn Block>,
            false => block,
        };
        Ok(group.map(|blocks| blocks.into_iter().map(spoil).collect()))
    }
}

#[test]
fn the_first_error_is_told_after_the_rows_before_it() {
    let memory = numbered(60);
    for text in [
        "select n from stream",
        "select sum(n), count(*) from stream group by n",
        "select n from stream order by n",
    ] {
        for (bad, end) in [(&[30, 31, 33][..], 100), (&[1], 2), (&[], 40), (&[39], 40), (&[0], 1), (&[], 0)] {
            let query = Query::prepare(text).unwrap();
            let run = |threads| {
                let of = memory.source(query.direction());
                let source = Spoilt { of, group: 0, bad, wrong: Wrong::Unreadable, end };
                let (rows, failure, _) = read(query.run_with(Box::new(source), on(threads)));
                (rows, failure.unwrap())
            };
            let expected = run(1);
            for _ in 0..5 {
                assert_eq!(run(2), expected, "{text}");
                assert_eq!(run(3), expected, "{text}");
            }
        }
    }
}

/// A panic comes from a source of the caller's; it ends the query where the caller sees it.
#[test]
fn a_panic_on_another_thread_is_the_callers() {
    let memory = numbered(60);
    for text in [
        "select n from stream",
        "select sum(n), count(*) from stream group by n",
        "select n from stream order by n",
    ] {
        for threads in [1, 2, 3] {
            let query = Query::prepare(text).unwrap();
            let of = memory.source(query.direction());
            let source = Spoilt { of, group: 0, bad: &[20, 21, 22], wrong: Wrong::Panic, end: 100 };
            let rows = query.run_with(Box::new(source), on(threads));
            let panic = catch_unwind(AssertUnwindSafe(|| read(rows).0.len())).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"a panic"));
            memory_is_released(&memory);
        }
    }
}

/// The threads share one budget.
#[test]
fn groups_of_all_threads_together_stay_within_memory() {
    let memory = numbered(100);
    for text in [
        "select count(*) from stream group by n",
        "select distinct(text) from stream",
        "select count(distinct(text)) from stream",
        "select bottom(n, 5000) from stream",
        "select n, text from stream order by text",
    ] {
        let query = Query::prepare(text).unwrap();
        for threads in [1, 2, 3] {
            let options = RunOptions { memory_bytes: 100_000, ..on(threads) };
            let mut rows = query.run_with(memory.source(query.direction()), options);
            let error = rows.next_row().err().unwrap();
            assert!(
                matches!(error, ExecError::MemoryExceeded { limit_bytes: 100_000, .. }),
                "{text}: {error}"
            );
        }
    }
}

#[test]
fn rows_go_to_another_thread_in_the_middle() {
    let memory = numbered(60);
    let query = Query::prepare("select n from stream").unwrap();
    let mut rows = query.run_with(memory.source(query.direction()), on(2));
    assert!((0..1001).all(|_| rows.next_row().unwrap().is_some()));
    let left = std::thread::spawn(move || read(rows)).join().unwrap();
    assert_eq!((left.0.len(), left.0[0].as_str(), left.2.rows), (4999, "{\"n\":1001}\n", 6000));
}

/// More rows than fit in what is made ahead of one block.
#[test]
fn large_blocks_are_made_ahead_in_part() {
    let list: Vec<String> = (0..30_000).map(|n| n.to_string()).collect();
    let document = format!(r#"{{"list":[{}],"text":"{}"}}"#, list.join(","), "x".repeat(300));
    let blocks: Vec<Vec<Event>> = (0..6)
        .map(|n| {
            (0..2).map(|i| Event { instant: n, arrival: 2 * n + i, document: document.clone() }).collect()
        })
        .collect();
    let blocks: Vec<[&[Event]; 1]> = blocks.iter().map(|block| [block.as_slice()]).collect();
    let groups: Vec<&[&[Event]]> = blocks.iter().map(<[_; 1]>::as_slice).collect();
    let memory = Memory::blocks(&groups);
    let query =
        Query::prepare("select Concat(text, 'y') as long, x from stream lateral unnest(list) as x").unwrap();
    let run = |threads| {
        let mut rows = query.run_with(memory.source(query.direction()), on(threads));
        let (mut count, mut bytes) = (0, 0);
        while let Some(row) = rows.next_row().unwrap() {
            count += 1;
            bytes += row.cells().filter_map(|cell| cell.json()).map(<[u8]>::len).sum::<usize>();
        }
        (count, bytes, *rows.stats())
    };
    let expected = run(1);
    assert_eq!(expected.0, 360_000);
    assert_eq!(run(3), expected);
}
