//! What statistics, times and searching spare never changes an answer: random and directed queries, run both ways.

mod memory;

use memory::{Event, Memory, MemoryBlock};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;
use tamias_query::{Block, Query, RunOptions, Stats};

/// Runs a query both ways: what was counted on the way with short cuts.
fn agree(memory: &Memory, text: &str) -> Stats {
    let query = Query::prepare(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (plain, stats) = memory.run(&query, RunOptions { plain: true, ..RunOptions::default() });
    assert_eq!((stats.blocks_skipped, stats.blocks_answered), (0, 0), "the plain way skips nothing");
    let (short, stats) = memory.run(&query, RunOptions::default());
    assert_eq!(short, plain, "{text}");
    stats
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec!["a", "b", "Error", "error", "", "x\\\"a\\\":1", "ab", "\\ud800", "\\ufffd", "ß", "line\\n"])
            .prop_map(str::to_owned),
        2 => (0u32..200).prop_map(|n| format!("id-{n:03}")),
        1 => (0usize..3).prop_map(|n| "long ".repeat(20 + n)),
    ]
}

fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "0",
            "-0",
            "1",
            "1.0",
            "1e0",
            "2e2",
            "200",
            "200.0",
            "201.5e-3",
            "1999e-3",
            "-1.50",
            "1e30",
            "1e-30",
            "200.00000000000000000001",
            "79228162514264337593543950335",
            "1234567890123456",
            "12345678901234567",
            "0.1234567890123456",
            "-0.0",
            "65535",
            "65536"
        ])
        .prop_map(str::to_owned),
        (-50i32..250).prop_map(|n| n.to_string()),
        (-500i32..2500).prop_map(|n| format!("{}.{}", n / 10, n.unsigned_abs() % 10)),
    ]
}

/// Values of a key in one block: of one kind mostly, so that there is something to conclude.
fn values() -> impl Strategy<Value = Vec<String>> {
    let quoted = || texts().prop_map(|text| format!("\"{text}\""));
    let mixed = prop_oneof![
        quoted(),
        numbers(),
        select(vec!["null", "true", "false", "[]", "[1,\"a\"]", "{}", "{\"a\":1}", "{\"x\":{\"b\":\"a\"}}"])
            .prop_map(str::to_owned)
    ];
    let few = |of: BoxedStrategy<String>| prop::collection::vec(of, 1..4);
    let many = |of: BoxedStrategy<String>| prop::collection::vec(of, 60);
    prop_oneof![
        few(quoted().boxed()),
        many(quoted().boxed()),
        few(numbers().boxed()),
        many(numbers().boxed()),
        few(mixed.boxed()),
        (0u32..2).prop_map(|truth| vec![(truth == 1).to_string()]),
        Just(vec!["null".to_owned()]),
    ]
}

const KEYS: [&str; 6] = ["a", "b", "Elapsed", "@l", ",a", "x\\\"a"];

/// A block: for each key its values and how many events in eight have it, and events that choose among them.
fn block(instants: std::ops::Range<u64>) -> impl Strategy<Value = Vec<(u64, String)>> {
    let keys = prop::collection::vec((values(), select(vec![0u8, 0, 1, 4, 7, 8, 8, 8])), KEYS.len());
    let events = prop::collection::vec(
        (instants, prop::collection::vec((any::<u8>(), any::<u8>()), KEYS.len()), 0u8..20),
        1..70,
    );
    (keys, events).prop_map(|(keys, events)| {
        let event = |(instant, choices, odd): (u64, Vec<(u8, u8)>, u8)| {
            let mut members: Vec<String> = Vec::new();
            for (number, ((values, share), (has, which))) in keys.iter().zip(choices).enumerate() {
                if has % 8 < *share {
                    let value = &values[usize::from(which) % values.len()];
                    members.push(format!("\"{}\":{value}", KEYS[number]));
                    // Now and then a key comes twice.
                    if odd == 0 && which % 4 == 0 {
                        members.push(format!("\"{}\":{}", KEYS[number], values[0]));
                    }
                }
            }
            if odd == 1 {
                members.insert(0, r#""nested":{"a":1,"Elapsed":[{"b":"a"}]}"#.to_owned());
            }
            (instant, format!("{{{}}}", members.join(",")))
        };
        events.into_iter().map(event).collect()
    })
}

/// Groups of blocks that overlap in time.
fn store() -> impl Strategy<Value = Memory> {
    let group = |number: u64| prop::collection::vec(block(number * 1000..number * 1000 + 30), 1..3);
    (group(0), group(1), group(2)).prop_map(|(a, b, c)| {
        let mut arrival = 0;
        let mut made = |group: Vec<Vec<(u64, String)>>| -> Vec<Vec<Event>> {
            let mut event = |(instant, document)| {
                arrival += 1;
                Event { instant, arrival, document }
            };
            group.into_iter().map(|block| block.into_iter().map(&mut event).collect()).collect()
        };
        let groups: Vec<Vec<Vec<Event>>> = vec![made(a), made(b), made(c)];
        let blocks: Vec<Vec<&[Event]>> =
            groups.iter().map(|group| group.iter().map(Vec::as_slice).collect()).collect();
        Memory::blocks(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
    })
}

fn path() -> impl Strategy<Value = String> {
    select(vec![
        "a",
        "b",
        "Elapsed",
        "@l",
        "absent",
        "@Level",
        "@Properties[',a']",
        "@Properties['x\"a']",
        "a.x",
        "nested.a",
    ])
    .prop_map(str::to_owned)
}

fn comparison() -> impl Strategy<Value = &'static str> {
    select(vec!["=", "<>", "<", "<=", ">", ">="])
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        texts().prop_map(|text| format!(
            "'{}'",
            text.replace("\\\"", "\"")
                .replace("\\ud800", "\u{FFFD}")
                .replace("\\ufffd", "\u{FFFD}")
                .replace("\\n", "\n")
        )),
        numbers().prop_filter("the language has no exponents", |n| !n.contains('e')),
        select(vec!["null", "true", "false", "[]", "{}", "undefined()"]).prop_map(str::to_owned),
    ]
}

fn term() -> impl Strategy<Value = String> {
    let ci = select(vec!["", "", " ci"]);
    prop_oneof![
        4 => (path(), comparison(), literal(), ci).prop_map(|(k, op, v, ci)| format!("{k} {op} {v}{ci}")),
        1 => (literal(), comparison(), path()).prop_map(|(v, op, k)| format!("{v} {op} {k}")),
        2 => path().prop_map(|k| format!("{k} is null")),
        2 => path().prop_map(|k| format!("{k} is not null")),
        1 => (path(), literal(), literal()).prop_map(|(k, v, w)| format!("{k} in [{v}, {w}]")),
        1 => (path(), literal()).prop_map(|(k, v)| format!("{k} not in [{v}] ci")),
        1 => (path(), select(vec!["a%", "%0%", "ERR%", "_", "id-1__", ""]), select(vec!["", " ci"]))
            .prop_map(|(k, p, ci)| format!("{k} like '{p}'{ci}")),
        1 => (path(), select(vec!["a", "id-0", "^E", "\\d"])).prop_map(|(k, p)| format!("match({k}, '{p}')")),
        1 => path().prop_map(|k| format!("{k} <> /id-.*/")),
        1 => path().prop_map(|k| k),
        1 => path().prop_map(|k| format!("Length({k}) > 1")),
        1 => (path(), path()).prop_map(|(k, l)| format!("{k} = {l}")),
        1 => (comparison(), 0u64..3, 0u64..30).prop_map(|(op, group, at)| format!("@Timestamp {op} {}", group * 1000 + at)),
        1 => (path(), numbers()).prop_filter("the language has no exponents", |(_, n)| !n.contains('e'))
            .prop_map(|(k, n)| format!("{k} + 1 > {n}")),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    term().prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|c| format!("not ({c})")),
            (inner.clone(), inner.clone()).prop_map(|(c, d)| format!("({c}) and ({d})")),
            (inner.clone(), inner).prop_map(|(c, d)| format!("({c}) or ({d})")),
        ]
    })
}

fn query() -> impl Strategy<Value = String> {
    let aggregates = [
        "count(*)",
        "count(K)",
        "sum(K)",
        "min(K)",
        "max(K)",
        "mean(K)",
        "first(K)",
        "last(K)",
        "any(K)",
        "all(K)",
        "count(distinct(K))",
        "sum(K) as s, min(K) as l, max(K) as g, mean(K) as m, count(*) as n",
        "count(Length(K))",
        "max(Length(K))",
        "distinct(K)",
        "top(K, 3)",
        "percentile(K, 50)",
    ];
    let grouped_aggregates = [
        "count(*)",
        "count(*) as n, max(K)",
        "count(K), first(K)",
        "sum(K)",
        "min(b), max(b), mean(b), percentile(b, 50)",
        "count(distinct(b))",
        "sum(Length(b)), max(Length(b))",
        "distinct(b)",
        "any(b), all(b), last(b)",
    ];
    let grouped =
        ["K", "K ci", "@Level", "Length(K)", "K, b", "time(10us)", "K, time(10us)", "K = 'a'", "TypeOf(K)"];
    let selected = prop_oneof![
        2 => select(vec!["K, b", "*", "@Timestamp", "K, @Id"]).prop_map(|columns| (columns.to_owned(), String::new())),
        4 => select(aggregates.to_vec()).prop_map(|columns| (columns.to_owned(), String::new())),
        3 => (select(grouped_aggregates.to_vec()), select(grouped.to_vec()))
            .prop_map(|(columns, by)| (columns.to_owned(), format!(" group by {by}"))),
    ];
    let condition = prop::option::weighted(0.7, condition());
    let end = select(vec!["", "", "", " limit 3", " order by time desc limit 5"]);
    (selected, path(), condition, end).prop_map(|((columns, by), key, condition, end)| {
        let condition = condition.map(|condition| format!(" where {condition}")).unwrap_or_default();
        let is_row = by.is_empty() && ["K, b", "*", "@Timestamp", "K, @Id"].contains(&&*columns);
        let end = if is_row || end == " limit 3" { end } else { "" };
        format!("select {columns} from stream{condition}{by}{end}").replace('K', &key)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_query_answers_the_same_both_ways(store in store(), queries in prop::collection::vec(query(), 8)) {
        for text in queries.iter().filter(|text| Query::prepare(text).is_ok()) {
            agree(&store, text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever statistics were made into: if they pass the check, no query is led astray by them.
    #[test]
    fn what_passes_the_check_answers_the_same_both_ways(
        store in store(),
        alterations in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![any::<u8>(), (0..8).prop_map(|bit| 1u8 << bit)]),
            1..3,
        ),
        other in any::<prop::sample::Index>(),
        queries in prop::collection::vec(query(), 4),
    ) {
        let blocks: Vec<_> = store.groups.iter().flatten().cloned().collect();
        let exchanged = other.get(&blocks).clone();
        let altered = |block: &Arc<MemoryBlock>| {
            let by_bytes = |statistics: &mut Vec<u8>| {
                for (at, bits) in &alterations {
                    let at = at.index(statistics.len());
                    statistics[at] ^= bits;
                }
            };
            let by_another = |statistics: &mut Vec<u8>| exchanged.statistics().unwrap().clone_into(statistics);
            let passing = block.with_statistics(by_bytes).or_else(|| block.with_statistics(by_another));
            passing.map_or_else(|| Arc::clone(block), Arc::new)
        };
        let groups = store.groups.iter().map(|group| group.iter().map(altered).collect()).collect();
        let store = Memory { groups };
        for text in queries.iter().filter(|text| Query::prepare(text).is_ok()) {
            agree(&store, text);
        }
    }
}

/// Ten blocks of 100 events, in time order.
fn numbered() -> Memory {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(
            r#"{{"Id":"id-{n:06}","N":{n},"Level":"{}","Half":{}.5,"Block":{}{}}}"#,
            if n.is_multiple_of(3) { "Error" } else { "Information" },
            n / 2,
            n / 100,
            if (500..600).contains(&n) { r#","Rare":null"# } else { "" },
        ),
    };
    let events: Vec<Event> = (0..1000).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(100).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

#[test]
fn blocks_without_hits_are_not_read() {
    let memory = numbered();
    for (query, read) in [
        ("select Id from stream where Absent = 1", 0),
        ("select Id from stream where Absent is not null", 0),
        ("select Id from stream where not (Absent is null)", 0),
        ("select Id from stream where Absent <> 'x' or Absent > 7", 0),
        ("select Id from stream where N > 950", 1),
        ("select Id from stream where N > 950 and Level = 'Error'", 1),
        ("select Id from stream where N = 250 or N = 750.0", 2),
        ("select Id from stream where N in [250, -5]", 1),
        ("select Id from stream where N < 0", 0),
        ("select Id from stream where Half > 10000", 0),
        ("select Id from stream where Level = 'Warning'", 0),
        ("select Id from stream where Level = 'ERROR'", 0),
        ("select Id from stream where Level like 'W%' ci", 0),
        ("select Id from stream where match(Level, 'Warn')", 0),
        ("select Id from stream where Level in ['Warning', 'Fatal']", 0),
        ("select Id from stream where Block = 3", 1),
        ("select Id from stream where Rare is not null", 0),
        ("select Id from stream where Rare = null", 1),
        ("select Id from stream where Id = 5", 0),
        ("select Id from stream where Id > 5", 0),
        ("select Id from stream where Id is null", 0),
        ("select Id from stream where @Timestamp >= 150 and @Timestamp < 250", 2),
        ("select Id from stream where @Timestamp = 150", 1),
        ("select Id from stream where @Timestamp > 5000", 0),
        ("select Id from stream where @Timestamp < 10 or N = 999", 2),
        ("select Id from stream where not (N >= 100)", 1),
    ] {
        let stats = agree(&memory, query);
        assert_eq!((stats.blocks, stats.blocks_skipped), (read, 10 - read), "{query}");
    }
    // Of identifiers a few blocks may be read for nothing.
    let stats = agree(&memory, "select N from stream where Id = 'id-000123'");
    assert!((1..=2).contains(&stats.blocks), "{stats:?}");
}

#[test]
fn events_outside_of_a_time_range_are_not_read() {
    let memory = numbered();
    for (query, read) in [
        ("select Id from stream where @Timestamp >= 150 and @Timestamp < 250", 100),
        ("select Id from stream where @Timestamp >= 150 and @Timestamp < 250 order by time desc", 100),
        ("select count(Id) from stream where @Timestamp >= 150 and @Timestamp <= 160", 11),
        ("select Id from stream where @Timestamp > 998.5", 1),
    ] {
        let stats = agree(&memory, query);
        assert!(stats.events <= read + 1, "{query}: {stats:?}");
        assert!(stats.events_skipped >= 1000 - read - 1, "{query}: {stats:?}");
    }
}

#[test]
fn statistics_answer() {
    let memory = numbered();
    for query in [
        "select count(*) from stream",
        "select count(*) from stream where Id is not null",
        "select count(*) from stream where N is null",
        "select count(Id) from stream where Id is not null",
        "select count(*) from stream where Level = 'Error'",
        "select count(*) from stream where Level like 'inf%' ci",
        "select count(*) from stream where not (Level = 'Error')",
        "select count(*) from stream where N >= 0",
        "select count(N), sum(N), min(N), max(N), mean(N) from stream",
        "select sum(Half), mean(Half), max(Absent), sum(Absent), count(Absent), min(Id) from stream",
        "select sum(Half) from stream where N < 100000 and Absent is null",
        "select count(*) from stream group by Level",
        "select count(*) as n from stream group by Level ci order by n desc",
        "select count(*) from stream group by ToUpper(Level)",
        "select count(*) from stream group by Absent",
        "select count(*), max(Block), first(Block) from stream group by Block",
        "select count(*) from stream where Level <> 'Error' group by Level",
        "select count(Rare), count(*) from stream group by Rare",
        "select distinct(Level) from stream",
        "select count(distinct(Block)) from stream",
        "select any(Absent), all(Level) from stream",
        "select count(*) from stream group by time(7us)",
        "select count(*) as n, count(null) as none from stream where Absent is null group by time(1d)",
        "select first(Level), first(Rare) from stream",
    ] {
        let stats = agree(&memory, query);
        assert_eq!((stats.blocks, stats.bytes), (0, 0), "{query} reads documents");
        assert_eq!(stats.blocks_answered + stats.blocks_skipped, 10, "{query}");
    }
    for query in [
        "select last(Level) from stream",
        "select count(*) from stream group by Level, Block",
        "select count(*) from stream group by N",
        "select sum(N) from stream where Level = 'Error'",
        "select percentile(N, 50) from stream",
        "select count(N) from stream group by time(7us)",
        "select count(*) from stream where Id like '%9' group by time(7us)",
        "select count(*) from stream where Id like '%9'",
    ] {
        assert_eq!(agree(&memory, query).blocks, 10, "{query} has to read");
    }
}

#[test]
fn nasty_events_answer_the_same_both_ways() {
    let documents: Vec<String> = tamias_testdata::nasty_documents()
        .into_iter()
        .filter_map(|document| String::from_utf8(document).ok())
        .collect();
    let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
    for size in [1, 3, 20, 1000] {
        let event = |(at, document): (u64, &&str)| Event {
            instant: at,
            arrival: at,
            document: (*document).to_owned(),
        };
        let events: Vec<Event> = (0..).zip(&texts).map(event).collect();
        let blocks: Vec<&[Event]> = events.chunks(size).collect();
        let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
        let memory = Memory::blocks(&groups);
        for condition in [
            "Elapsed > 200",
            "Elapsed = 200",
            "Elapsed <> 201",
            "Elapsed = '201'",
            "not (Elapsed > 200)",
            "Elapsed is null",
            "Elapsed is not null",
            "Message = 'm'",
            "Message <> 'm'",
            "Message = '\u{FFFD}'",
            "Message = '/api/customers'",
            "a.Elapsed = 201",
            "@Properties['\u{FFFD}'] = 3",
            "@Properties[',Elapsed'] = 1",
            "@Properties['Elapsed\"'] = 3",
            "@Properties['x\\'] is not null",
            "@Level is null",
            "@Level = 'Warning'",
            "Elapsed in [201, null]",
            "b",
        ] {
            for select in
                ["*", "count(*)", "count(Elapsed), sum(Elapsed), min(Elapsed), max(Elapsed), mean(Elapsed)"]
            {
                agree(&memory, &format!("select {select} from stream where {condition}"));
            }
            agree(&memory, &format!("select count(*) from stream where {condition} group by Elapsed"));
        }
        for key in ["Elapsed", "Message", "a", "b", "@Properties['']", "@Level"] {
            agree(&memory, &format!("select count(*) from stream group by {key}"));
            agree(
                &memory,
                &format!("select sum({key}), min({key}), max({key}), count({key}), mean({key}) from stream"),
            );
            agree(&memory, &format!("select distinct({key}) from stream"));
        }
    }
}

/// Values that look alike and are not, or do not and are.
const SPELLINGS: [&str; 40] = [
    "0",
    "-0",
    "0.0",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "\"1\"",
    "\"1.0\"",
    "200",
    "200.0",
    "2e2",
    "\"200\"",
    "-200",
    "-200.00",
    "65535",
    "65536",
    "65535.0",
    "123456789012.345",
    "1234567890123456",
    "1234567890123456.0",
    "12345678901234567",
    "9007199254740993",
    "0.1",
    "0.10",
    "0.12345678901234567890",
    "1e400",
    "10e399",
    "-1e-400",
    "79228162514264337593543950335",
    "null",
    "true",
    "false",
    "\"\"",
    "\"true\"",
    "\"a\\\"b\"",
    "\"\\\\\"",
    "\"\\u0001\"",
    "[1]",
    "{\"V\":1}",
];

/// Events with each of the spellings several times and in several orders, some without any, in blocks that overlap: the block that
/// comes first has the later events.
fn spelled(rounds: u64) -> Memory {
    let mut events = Vec::new();
    for round in 0..rounds {
        for at in 0..43u64 {
            // 43 is a prime: each step goes through all.
            let value = SPELLINGS.get((at * (round % 42 + 1) % 43) as usize);
            let value = value.map(|value| format!("\"V\":{value},")).unwrap_or_default();
            let arrival = round * 43 + at;
            let document = format!("{{{value}\"Of\":\"{}\",\"N\":{}}}", arrival % 3, arrival % 100);
            events.push(Event { instant: arrival / 2, arrival, document });
        }
    }
    let (even, odd): (Vec<Event>, Vec<Event>) = events.into_iter().partition(|event| event.arrival % 2 == 0);
    Memory::blocks(&[&[&odd, &even]])
}

#[test]
fn values_taken_together_are_those_of_each_event() {
    let aggregates = [
        "count(*), count(V)",
        "sum(V), mean(V)",
        "min(V), max(V)",
        "percentile(V, 0), percentile(V, 20), percentile(V, 50, 0.0001), percentile(V, 95), percentile(V, 100)",
        "count(distinct(V))",
        "distinct(V)",
        "first(V), last(V), any(V), all(V)",
        "sum(Length(V)), min(Length(V)), count(Length(V))",
        "top(V, 5)",
        "bottom(V, 5)",
        "percentile(N, 33), sum(N), min(N), max(N)",
    ];
    let groups = [
        "",
        " group by V, Of",
        " group by Of ci, V ci",
        " group by time(7us), V, Of",
        " group by V",
        " group by V ci",
        " group by Of",
        " group by time(7us)",
        " group by time(1us)",
    ];
    for (rounds, conditions) in
        [(1, &["", " where Of <> '1'"][..]), (20, &["", " where N > 3", " where V > 0"])]
    {
        let memory = spelled(rounds);
        for condition in conditions {
            for group in groups {
                for aggregates in aggregates {
                    agree(&memory, &format!("select {aggregates} from stream{condition}{group}"));
                }
            }
        }
    }
}

/// More combinations than are remembered, and some of them again.
#[test]
fn groups_of_very_many_keys_are_told_apart() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"A":{},"B":"b{}"}}"#, n % 66_000, n % 7),
    };
    let events: Vec<Event> = (0..69_000).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for query in [
        "select count(*), max(A) from stream group by A, B",
        "select count(*) from stream group by B, A",
        "select count(*) as n from stream group by A having n > 1 limit 5",
    ] {
        agree(&memory, query);
    }
}
