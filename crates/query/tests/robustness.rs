//! Any text and any bytes: no panic, no hang.

mod memory;

use memory::Memory;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tamias_query::{Block, Documents, Query, RunOptions, Source, SourceError, Statement, Times};

/// Pieces of the language; strung together at random they often are a query.
const PIECES: [&str; 96] = [
    "select",
    "from",
    "stream",
    "where",
    "group by",
    "having",
    "order by",
    "limit",
    "lateral unnest(",
    "as",
    "explain",
    "analyze",
    "and",
    "or",
    "not",
    "like",
    "in",
    "is null",
    "is not null",
    "ci",
    "if",
    "then",
    "else",
    "let",
    "|x: 1|",
    "|x|",
    "true",
    "false",
    "null",
    "time",
    "time(1h)",
    "asc",
    "desc",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "..",
    ":",
    "|",
    "[?]",
    "[*]",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "a",
    "b",
    "Elapsed",
    "Message",
    "x",
    "@Level",
    "@t",
    "@Properties",
    "@Data",
    "@m",
    "$p",
    "1",
    "0",
    "12.5",
    "0xFF",
    "79228162514264337593543950335",
    "0.0000000000000000000000000001",
    "1d2h",
    "'text'",
    "'%a_'",
    "''",
    "/a+/",
    "/",
    "'",
    "\"",
    "--",
    "\n",
    "count(*)",
    "sum(",
    "percentile(",
    "distinct(",
    "Length(",
    "Concat(",
    "Substring(",
    "Some(Tags, ",
    "ToJson(",
    "FromJson(",
    "Replace(",
];

/// One block of whatever bytes.
struct Bytes {
    documents: Vec<u8>,
    ends: Vec<[u8; 4]>,
    numbers: Vec<[u8; 8]>,
}

impl Block for Bytes {
    fn len(&self) -> usize {
        self.numbers.len()
    }
    fn range(&self) -> ((u64, u64), (u64, u64)) {
        Times { instants: &self.numbers, arrivals: tamias_query::Arrivals::Each(&self.numbers) }.range()
    }
    fn times(&self) -> Result<Option<Times<'_>>, SourceError> {
        Ok(Some(Times { instants: &self.numbers, arrivals: tamias_query::Arrivals::Each(&self.numbers) }))
    }
    fn documents(&self) -> Result<Option<Documents<'_>>, SourceError> {
        Ok(Some(Documents { bytes: &self.documents, ends: &self.ends }))
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

/// Prepares the text, and if it is a query runs it over these events.
fn run(text: &str, source: impl FnOnce(&Query) -> Box<dyn Source>) {
    if let Ok(statement) = Statement::parse(text) {
        let printed = statement.to_string();
        assert_eq!(Statement::parse(&printed).ok(), Some(statement), "{printed}");
    }
    let query = match Query::prepare(text) {
        Ok(query) => query,
        Err(error) => {
            assert!(error.line() >= 1 && error.column() >= 1 && !error.to_string().is_empty());
            return;
        }
    };
    query.explain();
    let deadline = Some(Instant::now() + Duration::from_secs(1));
    let mut rows = query.run_with(source(&query), RunOptions { deadline, ..RunOptions::default() });
    let mut out = Vec::new();
    while let Ok(Some(row)) = rows.next_row() {
        out.clear();
        row.write_ndjson(&mut out);
        assert_eq!(row.len(), query.columns().len());
    }
}

fn events() -> Memory {
    let nasty = tamias_testdata::nasty_documents();
    let texts: Vec<String> =
        nasty.into_iter().filter_map(|document| String::from_utf8(document).ok()).collect();
    let few: Vec<&str> = texts.iter().map(String::as_str).filter(|text| text.len() < 2_000).collect();
    Memory::new(&few)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        run(&text, |_| Box::new(Once(None)));
        let _ = tamias_query::eval(&text, "{}");
    }

    #[test]
    fn any_tokens(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..20), expression: bool) {
        thread_local! { static EVENTS: Memory = events(); }
        let pieces = pieces.join(" ");
        let text = if expression { format!("select {pieces} from stream") } else { pieces.clone() };
        EVENTS.with(|events| run(&text, |query| events.source(query.direction())));
        let _ = tamias_query::eval(&pieces, r#"{"a":{"b":[1,"x"]},"Tags":["a",null],"Elapsed":1e400}"#);
    }

    #[test]
    fn any_bytes(
        documents in proptest::collection::vec(prop_oneof![
            proptest::sample::select(&b"{}[]\",:\\tfn0-1e.\na\xff"[..]),
            any::<u8>(),
        ], 0..200),
        ends in proptest::collection::vec(0u32..220, 0..6),
        numbers in proptest::collection::vec(any::<u64>(), 0..6),
        query in 0usize..8,
    ) {
        let text = [
            "select a, a.b, a[0], @Message, @Level, @EventType from stream",
            "select * from stream",
            "select @Properties, Keys(@Properties), ToJson(@Data), @Elapsed from stream order by time desc",
            "select count(*), sum(a), distinct_count from stream",
            "select count(*), sum(a), first(@Data), percentile(a, 50) from stream group by a, time(1d)",
            "select a from stream where a > 200 or IsMatch(a, 'b') or a like '%b%' or a[?] = 1 or @Data = {a: 1}",
            "select x, ToIsoString(@t), DatePart(@t, 'year') from stream lateral unnest(a) as x where x <> a",
            "select distinct(@Data) from stream",
        ][query];
        let block = Bytes {
            documents,
            ends: ends.into_iter().map(u32::to_le_bytes).collect(),
            numbers: numbers.into_iter().map(u64::to_le_bytes).collect(),
        };
        run(text, |_| Box::new(Once(Some(Arc::new(block)))));
    }
}

/// A stored value may nest as deep as ingest allows.
#[test]
fn deep_documents() {
    let depth = 900;
    let arrays = format!(r#"{{"a":{}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let objects = format!(r#"{{"a":{}1{}}}"#, r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let memory = Memory::new(&[&arrays, &objects, &arrays]);
    for (query, rows) in [
        ("select a from stream where a = a", 3),
        ("select distinct(a) from stream", 2),
        ("select first(a), last(@Data), min(a) from stream", 1),
        ("select count(*) from stream group by a", 2),
        ("select a, ToJson([a, {b: a}]), FromJson(ToJson(a)) = a as same from stream order by a", 3),
    ] {
        assert_eq!(memory.query(query).lines().count(), rows, "{query}");
    }
}

/// Raw bytes nest as deep as they like.
#[test]
fn bottomless_documents() {
    let deep = [br#"{"a":"#.to_vec(), b"[".repeat(200_000), b"]".repeat(200_000), b"}".to_vec()].concat();
    for text in [
        "select a from stream where a = a",
        "select distinct(a) from stream",
        "select [a, a[0]] as b from stream",
    ] {
        let block = Bytes {
            ends: vec![u32::try_from(deep.len()).unwrap().to_le_bytes()],
            numbers: vec![[0; 8]],
            documents: deep.clone(),
        };
        run(text, |_| Box::new(Once(Some(Arc::new(block)))));
    }
}

/// Work that only looks endless.
#[test]
fn bounded_work() {
    let started = Instant::now();
    for expression in [
        "2 ^ 1000000000",
        "1.0000000000000000001 ^ 79228162514264337593543950335",
        "(0 - 1.5) ^ 100000000000001",
        "0.5 ^ 1000000000 ",
        "IsMatch(Concat('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '!'), /(a*)*(a*)*b/)",
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' like '%a%a%a%a%a%a%a%a%a%a%a%ab'",
    ] {
        tamias_query::eval(expression, "{}").unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// Events of a few megabytes over which a deadline takes effect, although a single function reads them many times over.
#[test]
fn work_within_one_event_ends_at_the_deadline() {
    let members: String = (0..100_000).map(|n| format!(r#","k{n}":{n}"#)).collect();
    let template = format!(r#"{{"@mt":"{}","o":{{"x":1{members}}}{members}}}"#, "{o.y}{z}".repeat(300_000));
    let list =
        format!(r#"{{"x":"{}\t","list":["a"{}]}}"#, "a".repeat(4_000_000), r#","\ta""#.repeat(1_000_000));
    for (document, query) in
        [(&template, "select Length(@Message) from stream"), (&list, "select x in list from stream")]
    {
        let query = Query::prepare(query).unwrap();
        let memory = Memory::new(&[document]);
        let deadline = Some(Instant::now() + Duration::from_millis(50));
        let mut rows = query
            .run_with(memory.source(query.direction()), RunOptions { deadline, ..RunOptions::default() });
        // Either would take hours, were each step as long as the event.
        while let Ok(Some(_)) = rows.next_row() {}
    }
}

/// Preparing takes time and memory by the length of the text, whatever it says.
#[test]
fn long_queries_are_prepared_or_refused() {
    let many = |count: usize, each: &dyn Fn(usize) -> String, joint: &str| -> String {
        (0..count).map(each).collect::<Vec<_>>().join(joint)
    };
    for (query, is_sound) in [
        (
            format!(
                "select count(*) from stream having {}",
                many(30_000, &|n| format!("sum(a) = {n}"), " or ")
            ),
            true,
        ),
        (
            format!(
                "select count(*) from stream having {}",
                many(30_000, &|n| format!("sum({n}) = 1"), " or ")
            ),
            true,
        ),
        (format!("select 1 from stream where [{}] = 1", many(5_000, &|_| "a[?]".to_owned(), ",")), false),
        (format!("select let |a: [1]{}| 1", ",a:[a]".repeat(100_000)), false),
        (format!("select 1 from stream{}", " lateral unnest(a) as a".repeat(40_000)), false),
    ] {
        assert_eq!(Query::prepare(&query).is_ok(), is_sound, "{}", query.get(..60).unwrap_or(&query));
    }
    let parameters = format!("select {}", many(30_000, &|n| format!("$p{n}"), " or "));
    assert_eq!(Statement::parse(&parameters).unwrap().parameters().len(), 30_000);
}

/// A choice whose condition is a choice, and so on, over columns that cannot make one of it: the last number is too large.
#[test]
fn choices_within_conditions_take_linear_time() {
    let documents: Vec<String> =
        (0..200u64).map(|n| format!(r#"{{"Big":{}}}"#, 123_456_789_012_345_678 + n * 1_000_003)).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let memory = Memory::new(&documents).in_columns();
    for depth in [1, 2, 3, 4, 12, 40] {
        let nested = |inner: String, _| format!("if ({inner}) > 5 then Big else 0.000000000000001");
        let choice = (0..depth).fold("Big".to_owned(), nested);
        let found = memory.query(&format!("select count(*) as c from stream where ({choice}) > 5"));
        assert_eq!(found.trim(), r#"{"c":200}"#, "{depth}");
    }
}
