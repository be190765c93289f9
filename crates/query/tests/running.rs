//! A running query: cancelled, out of time, out of memory, over damaged events, dropped half-way.

mod memory;

use memory::{Event, Memory};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tamias_query::{
    Block, Documents, ExecError, OwnedRow, Query, RowBatch, RunOptions, Source, SourceError, Times,
    TypedColumn, TypedValue,
};

fn numbered(events: u64) -> Memory {
    let event =
        |n: u64| Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"text":"number {n}"}}"#) };
    let events: Vec<Event> = (0..events).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(100).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

/// Yields what another source does, and counts the groups.
struct Counted(Box<dyn Source>, Arc<AtomicUsize>);

impl Source for Counted {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.next_group()
    }
}

#[test]
fn a_limit_stops_the_reading() {
    for query in ["select n from stream limit 150", "select n from stream order by time desc limit 150"] {
        let query = Query::prepare(query).unwrap();
        let read = Arc::new(AtomicUsize::new(0));
        let source = Counted(numbered(10_000).source(query.direction()), read.clone());
        let mut rows = query.run(Box::new(source));
        assert_eq!(rows.by_ref().map(Result::unwrap).count(), 150);
        assert_eq!(read.load(Ordering::Relaxed), 2);
        assert!(rows.stats().events <= 200);
        assert_eq!((rows.stats().rows, rows.stats().blocks), (150, 2));
    }
}

/// Of groups that are sorted by what is computed of them, most are not made in full where few are wanted.
#[test]
fn the_first_of_many_groups_are_those_that_all_begin_with() {
    let memory = numbered(10_000);
    let rows = |query: &str| {
        let query = Query::prepare(query).unwrap();
        let rows = query.run(memory.source(query.direction()));
        rows.map(|row| format!("{:?}", row.unwrap())).collect::<Vec<_>>()
    };
    for query in [
        "select sum(n) % 97 as r from stream group by text order by r",
        "select sum(n) % 97 / 7 as r, count(*) as c from stream group by text order by r desc, c, text",
        "select count(*) as c, sum(n) as s from stream group by text order by c desc",
        "select count(*) as c, sum(n) * -1 as s from stream group by n, text order by c, s",
        "select sum(n) % 97 as r, sum(n) / 0 as u from stream group by n having r > 50 order by u, r desc, n",
    ] {
        let all = rows(query);
        let first = rows(&format!("{query} limit 9"));
        assert!(all.len() > 1000 && all.starts_with(&first) && first.len() == 9, "{query}");
    }
}

/// One late event may join many blocks to a group; only those are read whose events come next.
#[test]
fn a_limit_reads_few_of_many_blocks_that_overlap() {
    let event =
        |instant: u64, arrival: u64| Event { instant, arrival, document: format!(r#"{{"n":{arrival}}}"#) };
    let blocks: Vec<Vec<Event>> =
        (0..50).map(|block| (0..100).map(|n| event(block * 100 + n, block * 100 + n)).collect()).collect();
    let late = vec![event(0, 90_000), event(5_000, 90_001)];
    let group: Vec<&[Event]> = blocks.iter().chain([&late]).map(Vec::as_slice).collect();
    let memory = Memory::blocks(&[&group]);
    for (query, first) in [
        ("select n from stream limit 3", "[0] [90000] [1]"),
        ("select n from stream order by time desc limit 3", "[90001] [4999] [4998]"),
    ] {
        let query = Query::prepare(query).unwrap();
        let mut rows = query.run(memory.source(query.direction()));
        let found: Vec<String> = rows.by_ref().map(|row| format!("{:?}", row.unwrap())).collect();
        assert_eq!(found.join(" "), first);
        assert!(rows.stats().blocks == 2 && rows.stats().events <= 6, "{:?}", rows.stats());
    }
}

#[test]
fn a_cancelled_query_ends() {
    let query = Query::prepare("select n from stream").unwrap();
    let mut rows = query.run(numbered(10_000).source(query.direction()));
    assert!(rows.next().unwrap().is_ok());
    let handle = rows.cancel_handle();
    std::thread::spawn(move || handle.cancel()).join().unwrap();
    let last = rows.by_ref().last().unwrap();
    assert!(matches!(last, Err(ExecError::Cancelled)));
    assert!(rows.next().is_none());
}

#[test]
fn a_deadline_ends_a_query_within_its_expressions() {
    let digits = "[0,1,2,3,4,5,6,7,8,9]";
    let nested = format!("select {}true from stream", format!("Every({digits}, |x| ").repeat(12) + "")
        .replace("true from", &format!("true{} from", ")".repeat(12)));
    let query = Query::prepare(&nested).unwrap();
    let deadline = Some(Instant::now() + Duration::from_millis(50));
    let options = RunOptions { deadline, ..RunOptions::default() };
    let started = Instant::now();
    let mut rows = query.run_with(numbered(10).source(query.direction()), options);
    assert!(matches!(rows.next(), Some(Err(ExecError::DeadlineExceeded))));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_query_holds_no_more_than_its_memory() {
    let options = RunOptions { memory_bytes: 100_000, ..RunOptions::default() };
    for query in [
        "select count(*) from stream group by n",
        "select distinct(text) from stream",
        "select count(distinct(text)) from stream",
        "select bottom(n, 5000) from stream",
        "select n, text from stream order by text",
    ] {
        let query = Query::prepare(query).unwrap();
        let mut rows = query.run_with(numbered(10_000).source(query.direction()), options.clone());
        let error = rows.next().unwrap().unwrap_err();
        assert!(
            matches!(error, ExecError::MemoryExceeded { limit_bytes: 100_000, .. }),
            "{query:?}: {error}"
        );
        assert!(rows.next().is_none());
    }
    // With a limit few rows are held.
    let query = Query::prepare("select n, text from stream order by text desc limit 3").unwrap();
    let rows = query.run_with(
        numbered(10_000).source(query.direction()),
        RunOptions { memory_bytes: 2_000_000, ..options },
    );
    let last: Vec<OwnedRow> = rows.map(Result::unwrap).collect();
    assert_eq!(
        format!("{last:?}"),
        r#"[[9999, "number 9999"], [9998, "number 9998"], [9997, "number 9997"]]"#
    );
}

#[test]
fn values_do_not_grow_without_bound() {
    let doubled = |first: &str, next: &dyn Fn(usize) -> String| {
        let names: Vec<String> = (1..64).map(|n| format!("x{n}: {}", next(n - 1))).collect();
        format!("select let |x0: {first}, {}| x63 from stream", names.join(", "))
    };
    for query in [
        doubled("text", &|n| format!("Concat(x{n}, x{n})")),
        doubled("text", &|n| format!("Replace(x{n}, 'n', x{n})")),
        doubled("[text]", &|n| format!("[..x{n}, ..x{n}]")),
        doubled("[text]", &|n| format!("[x{n}, x{n}]")),
        doubled("{a: text}", &|n| format!("{{a: x{n}, b: x{n}}}")),
    ] {
        let query = Query::prepare(&query).unwrap();
        let mut rows = query.run(numbered(1).source(query.direction()));
        let Some(Err(error)) = rows.next() else { panic!("{query:?} has a row") };
        let ExecError::ValueTooLarge { by, arrival, .. } = error else { panic!("{query:?}: {error}") };
        assert!(
            query.text().contains(by.trim_end_matches(['…', ']', '}'])) && arrival == Some(0),
            "{query:?}"
        );
        assert!(error.to_string().contains(" over the event with arrival number 0, the limit"), "{error}");
    }
}

struct Broken;

impl Source for Broken {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Err("the disk is gone".into())
    }
}

#[test]
fn a_source_that_fails_ends_the_query() {
    for query in ["select n from stream", "select count(*) from stream", "select n from stream order by n"] {
        let mut rows = Query::prepare(query).unwrap().run(Box::new(Broken));
        assert_eq!(
            rows.next().unwrap().unwrap_err().to_string(),
            "the events cannot be read: the disk is gone"
        );
        assert!(rows.next().is_none());
    }
}

/// A block of bytes that are no documents.
struct Damaged(Vec<u8>, u32);

impl Block for Damaged {
    fn len(&self) -> usize {
        1
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        ((0, 7), (0, 7))
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times {
            instants: &[[0; 8]],
            arrivals: tamias_query::Arrivals::Each(&[[7, 0, 0, 0, 0, 0, 0, 0]]),
        }))
    }
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        Ok(Some(Documents {
            bytes: &self.0,
            ends: std::slice::from_ref(match self.1 {
                1 => &[255, 255, 255, 255],
                _ => &[3, 0, 0, 0],
            }),
        }))
    }
    fn statistics(&self) -> Option<&[u8]> {
        None
    }
}

struct Once(Option<Arc<dyn Block>>);

impl Source for Once {
    fn next_group(&mut self) -> Result<Option<Vec<Arc<dyn Block>>>, SourceError> {
        Ok(self.0.take().map(|block| vec![block]))
    }
}

/// Only where it is scanned: a search passes over what it does not look for.
#[test]
fn a_malformed_event_is_named_by_who_scans_it() {
    for damaged in
        [Damaged(b"[1]\n".to_vec(), 0), Damaged(b"{}\n".to_vec(), 1), Damaged(b"xyz\n".to_vec(), 0)]
    {
        let query = Query::prepare("select a from stream").unwrap();
        let options = RunOptions { plain: true, ..RunOptions::default() };
        let mut rows = query.run_with(Box::new(Once(Some(Arc::new(damaged)))), options);
        let error = rows.next().unwrap().unwrap_err();
        assert!(error.to_string().starts_with("the event with arrival number 7 "), "{error}");
    }
}

#[test]
fn queries_and_rows_go_to_other_threads() {
    fn sent<T: Send>(value: T) -> T {
        value
    }
    fn shared<T: Sync>(value: T) -> T {
        value
    }
    let query = shared(sent(Query::prepare("select n from stream").unwrap()));
    let rows = sent(query.run(numbered(10).source(query.direction())));
    let rows: Vec<OwnedRow> = std::thread::spawn(move || rows.map(Result::unwrap).collect()).join().unwrap();
    assert_eq!(shared(sent(rows)).len(), 10);
}

/// Rows to be sorted count by their bytes: few large ones are held where few are wanted.
#[test]
fn a_limit_holds_no_more_rows_than_it_gives() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"n":{},"text":"{}"}}"#, n * 7 % 200, "x".repeat(100_000)),
    };
    let events: Vec<Event> = (0..200).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let options = RunOptions { memory_bytes: 1_000_000, ..RunOptions::default() };
    let run = |text: &str| {
        let query = Query::prepare(text).unwrap();
        query.run_with(memory.source(query.direction()), options.clone())
    };
    let rows: Vec<String> = run("select n, Length(text) as l, text from stream order by n desc limit 3")
        .map(|row| format!("{:?}", row.unwrap().get(0)))
        .collect();
    assert_eq!(rows, ["Some(199)", "Some(198)", "Some(197)"]);
    for (text, remedy) in [
        ("select n, text from stream order by n limit 20", "ask for fewer rows after `limit`"),
        ("select n, text from stream order by n", "add a `limit`"),
        ("select distinct([n, text]) from stream limit 1000", "group by something that has fewer values"),
        ("select count(*) as c from stream group by [n, text] order by c limit 1", "narrow it with `where`"),
    ] {
        let error = run(text).next().unwrap().unwrap_err();
        assert!(error.to_string().contains(remedy), "{text}: {error}");
    }
}

/// What the last values take is counted as they come, also where larger ones take the place of small ones.
#[test]
fn the_last_values_may_be_the_largest() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"text":"{}"}}"#, "x".repeat(if n < 100 { 1 } else { 100_000 })),
    };
    let events: Vec<Event> = (0..300).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let run = |text: &str, memory_bytes| {
        let query = Query::prepare(text).unwrap();
        let options = RunOptions { memory_bytes, ..RunOptions::default() };
        query.run_with(memory.source(query.direction()), options).next().unwrap().map(|row| row.len())
    };
    let error = run("select bottom(text, 50) from stream", 1_000_000).unwrap_err();
    assert!(matches!(error, ExecError::MemoryExceeded { .. }), "{error}");
    assert_eq!(run("select bottom(text, 50) from stream", 20_000_000).unwrap(), 1);
    assert_eq!(run("select top(text, 50) from stream", 1_000_000).unwrap(), 1);
}

/// Equal rows stay in the order of time, and the first of them are those that a limit keeps.
#[test]
fn a_limit_keeps_the_rows_that_sorting_all_would_put_first() {
    let event =
        |n: u64| Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"k":{}}}"#, n * 7 % 5) };
    let events: Vec<Event> = (0..500).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for order in ["k", "k desc", "k, n desc", "n"] {
        let all = memory.query(&format!("select k, n from stream order by {order}"));
        for limit in [1, 2, 99, 100, 101, 499, 500, 1000] {
            let some = memory.query(&format!("select k, n from stream order by {order} limit {limit}"));
            let wanted: Vec<&str> = all.lines().take(limit).collect();
            assert_eq!(some.lines().collect::<Vec<_>>(), wanted, "{order} limit {limit}");
        }
    }
}

/// What is asked for is there before the last event is.
#[test]
fn a_limit_on_different_values_stops_the_reading() {
    for (text, found, groups) in [
        ("select distinct(n) from stream limit 150", 150, 2),
        ("select top(n, 250) from stream", 250, 3),
        ("select top(n, 250) from stream limit 10", 10, 1),
        ("select distinct(text) from stream limit 1", 1, 1),
    ] {
        let query = Query::prepare(text).unwrap();
        let read = Arc::new(AtomicUsize::new(0));
        let source = Counted(numbered(10_000).source(query.direction()), read.clone());
        assert_eq!(query.run(Box::new(source)).map(Result::unwrap).count(), found, "{text}");
        assert_eq!(read.load(Ordering::Relaxed), groups, "{text}");
    }
    // These need all events.
    let memory = numbered(1_000);
    assert_eq!(
        memory.query("select distinct(n) from stream order by distinct(n) desc limit 1"),
        "{\"distinct(n)\":999}\n"
    );
    assert_eq!(memory.query("select bottom(n, 1) from stream"), "{\"bottom(n, 1)\":999}\n");
}

/// An event may have more properties than can be gone through in bounded memory.
#[test]
fn properties_beyond_the_limit_are_an_error() {
    let event = |members: usize, keys: usize| {
        let members: Vec<String> = (0..members).map(|n| format!(r#""{}":1"#, n % keys)).collect();
        format!("{{{}}}", members.join(","))
    };
    // No more than an event may have in bytes.
    let (many, too_many) = (event(100_000, 100_000), event(2_200_000, 100));
    let query = |document: &str, text: &str| {
        let query = Query::prepare(text).unwrap();
        let memory = Memory::new(&[document]);
        query.run(memory.source(query.direction())).next().unwrap().map(|row| format!("{row:?}"))
    };
    let length = "select Length(Keys(@Properties)) from stream";
    assert_eq!(query(&many, length).unwrap(), "[100000]");
    let error = query(&too_many, length).unwrap_err().to_string();
    assert!(error.starts_with("`@Properties` made more than 67108864 bytes"), "{error}");
    assert_eq!(
        query(&too_many, "select @Properties['42'] as x, Has(@Data['42']) from stream").unwrap(),
        "[1, true]"
    );
}

/// Rows are made some thousand at a time; an event may have more elements than that.
#[test]
fn every_element_of_a_long_list_is_a_row() {
    let list =
        |from: u64, count: u64| (from..from + count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let event = |n: u64, count: u64| Event {
        instant: n / 2,
        arrival: n,
        document: format!(r#"{{"n":{n},"list":[{}],"pair":[1,2]}}"#, list(n * 1_000_000, count)),
    };
    // Two blocks that overlap, with events of all lengths.
    let lengths = [5000, 0, 1, 1023, 1024, 1025, 3, 2500, 1500];
    let events: Vec<Event> = (0..).zip(lengths).map(|(n, count)| event(n, count)).collect();
    let (even, odd): (Vec<Event>, Vec<Event>) = events.into_iter().partition(|event| event.arrival % 2 == 0);
    let memory = Memory::blocks(&[&[&even, &odd]]);
    let run = |text: &str| {
        let query = Query::prepare(text).unwrap();
        let mut rows = query.run(memory.source(query.direction()));
        let found: Vec<String> = rows.by_ref().map(|row| format!("{:?}", row.unwrap())).collect();
        (found, *rows.stats())
    };
    let of = |lengths: &mut dyn Iterator<Item = (u64, u64)>| -> Vec<String> {
        let all = lengths.flat_map(|(n, count)| (0..count).map(move |i| format!("[{}]", n * 1_000_000 + i)));
        all.collect()
    };
    let all = (0..).zip(lengths);
    let (found, stats) = run("select x from stream lateral unnest(list) as x");
    assert_eq!(found, of(&mut all.clone()));
    assert_eq!((stats.events, stats.elements, stats.hits, stats.rows), (9, 12_076, 12_076, 12_076));
    let (found, _) = run("select x from stream lateral unnest(list) as x order by time desc");
    assert_eq!(found, of(&mut all.clone().collect::<Vec<_>>().into_iter().rev()));
    let (found, stats) =
        run("select x, p from stream lateral unnest(list) as x lateral unnest(pair) as p where p = 2");
    assert_eq!((found.len(), stats.events, stats.elements, stats.hits), (12_076, 9, 24_152, 12_076));
    let (found, stats) = run("select x from stream lateral unnest(list) as x limit 1500");
    assert_eq!(found, of(&mut all.clone())[..1500]);
    assert_eq!((stats.events, stats.hits), (1, 1500));
    assert_eq!(run("select count(*) from stream lateral unnest(list) as x").0, ["[12076]"]);
}

/// A row is text beside the others of its batch, which a single event must not make as large as it likes.
#[test]
fn a_million_elements_stay_within_bounds() {
    let list = vec!["1"; 1_000_000].join(",");
    let document = format!(r#"{{"list":[{list}],"text":"{}"}}"#, "x".repeat(500));
    let memory = Memory::new(&[&document]);
    let query =
        Query::prepare("select Concat(text, 'y') as long, x from stream lateral unnest(list) as x").unwrap();
    let mut rows = query.run(memory.source(query.direction()));
    let (mut count, mut bytes) = (0, 0);
    while let Some(row) = rows.next_row().unwrap() {
        bytes += row.get(0).and_then(|cell| cell.json()).map_or(0, <[u8]>::len);
        count += 1;
    }
    assert_eq!((count, bytes), (1_000_000, 503_000_000));
    let options = RunOptions { memory_bytes: 1 << 20, ..RunOptions::default() };
    for text in [
        "select Concat(text, 'y') as long from stream lateral unnest(list) as x order by long",
        "select list as l from stream lateral unnest(list) as x order by l",
        "select distinct([list, x]) from stream lateral unnest(list) as x",
        "select top(list, 10) from stream lateral unnest(list) as x",
        "select count(*) from stream lateral unnest(list) as x group by list",
    ] {
        let query = Query::prepare(text).unwrap();
        let mut rows = query.run_with(memory.source(query.direction()), options.clone());
        assert!(matches!(rows.next(), Some(Err(ExecError::MemoryExceeded { .. }))), "{text}");
    }
    for text in [
        "select count(*), sum(x), first(x) from stream lateral unnest(list) as x group by x",
        "select distinct(x) from stream lateral unnest(list) as x",
        "select x from stream lateral unnest(list) as x order by x limit 3",
    ] {
        let query = Query::prepare(text).unwrap();
        let rows = query.run_with(memory.source(query.direction()), options.clone());
        assert!(rows.map(Result::unwrap).count() <= 3, "{text}");
    }
}

#[test]
fn what_was_too_large_is_told_beside_the_rows() {
    let numbers = ["1", "1e1000", "2", "1e28", "-1e-1001", "text", "1e29"];
    let event = |(n, number): (usize, &&str)| {
        let document =
            if *number == "text" { r#"{"n":"text"}"#.to_owned() } else { format!(r#"{{"n":{number}}}"#) };
        Event { instant: n as u64, arrival: n as u64, document }
    };
    let events: Vec<Event> = numbers.iter().enumerate().map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(2).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    let memory = Memory::blocks(&groups);
    for (text, told) in [
        (
            "select sum(n) as s, mean(n), max(n), percentile(n, 50) from stream",
            &[
                "`sum(n)` is undefined where it met a number with digits more than 1000 places from the point (2 in all)",
                "`mean(n)` is undefined where it met a number with digits more than 1000 places from the point (2 in all)",
            ][..],
        ),
        (
            "select n * 10 from stream",
            &[
                "arithmetic is undefined where a result is larger than a decimal, or an operand has digits more than 1000 places from the point (at least 4 times)",
            ],
        ),
        (
            "select Round(n) from stream",
            &[
                "arithmetic is undefined where a result is larger than a decimal, or an operand has digits more than 1000 places from the point (at least 3 times)",
            ],
        ),
        (
            "select max(n) / 1 from stream",
            &[
                "arithmetic is undefined where a result is larger than a decimal, or an operand has digits more than 1000 places from the point (at least once)",
            ],
        ),
        ("select 1 / 0, n / 0, n % 0 from stream where n < 3 and n > 0", &[]),
        ("select sum(n) from stream where n < 3 and n > 0", &[]),
    ] {
        for threads in [1, 3] {
            let query = Query::prepare(text).unwrap();
            let threads = std::num::NonZeroUsize::new(threads).unwrap();
            let options = RunOptions { threads, ..RunOptions::default() };
            let mut rows = query.run_with(memory.source(query.direction()), options);
            rows.by_ref().for_each(|row| _ = row.unwrap());
            let warnings: Vec<String> = rows.warnings().iter().map(ToString::to_string).collect();
            assert_eq!(warnings, told, "{text}");
        }
    }
}

#[test]
fn batches_have_all_rows_in_order_and_end_early_for_their_texts() {
    let text = "x".repeat(1 << 20);
    let documents: Vec<String> = (0..40).map(|n| format!(r#"{{"n":{n},"t":"{text}"}}"#)).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let memory = Memory::new(&documents);
    for (query, rows_max, lengths) in [
        ("select n from stream", 15, vec![15, 15, 10]),
        ("select n, t from stream", 100, vec![16, 16, 8]),
        ("select n from stream limit 3", 100, vec![3]),
        ("select n from stream where n > 100", 100, vec![]),
    ] {
        let query = Query::prepare(query).unwrap();
        for memory in [&memory, &memory.in_columns()] {
            let mut rows = query.run(memory.source(query.direction()));
            let mut batch = RowBatch::new();
            let (mut found, mut next) = (Vec::new(), 0);
            while rows.next_batch(rows_max, &mut batch).unwrap() {
                found.push(batch.len());
                for value in batch.columns()[0].values() {
                    assert_eq!(value, TypedValue::Number { mantissa: next, scale: 0 });
                    next += 1;
                }
            }
            assert_eq!(found, lengths);
            assert!(batch.is_empty() && batch.columns().iter().all(TypedColumn::is_empty));
        }
    }
}
