//! Random queries over random events, in blocks whose statistics have something to say, right or wrong.

use crate::agree::agree;
use crate::memory::{Event, Memory, MemoryBlock};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;
use tamias_query::{Block, Query};

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec!["a", "b", "Error", "error", "", "x\\\"a\\\":1", "ab", "\\ud800", "\\ufffd", "ß", "line\\n", "%", "%a_"])
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
        select(vec![
            "null",
            "true",
            "false",
            "[]",
            "[1,\"a\"]",
            "{}",
            "{\"a\":1}",
            "{\"x\":{\"b\":\"a\"}}",
            "{\"x\":{\"b\":\"Error\",\"b\":\"a\"}}"
        ])
        .prop_map(str::to_owned)
    ];
    // Numbers that repeat little, with some of what else people's programs write in their place.
    let numbers_mostly = prop_oneof![
        12 => (-500i32..2500, 0u32..4).prop_map(|(n, digits)| format!("{}.{:0>1$}", n, digits as usize + 1)),
        2 => Just("null".to_owned()),
        1 => select(vec!["5.2e-05", "1e2", "2.015E2", "1.50e-1", "1e0"]).prop_map(str::to_owned),
        1 => select(vec!["true", "\"n/a\"", "\"200\"", "1234567890123456.5"]).prop_map(str::to_owned),
    ];
    // Arrays of objects, with elements that are something else.
    let scalar = || prop_oneof![3 => numbers(), 2 => quoted(), 1 => select(vec!["null", "true", "{}"]).prop_map(str::to_owned)];
    let element = prop_oneof![
        6 => (scalar(), scalar()).prop_map(|(x, b)| format!("{{\"x\":{x},\"b\":{b}}}")),
        2 => scalar().prop_map(|x| format!("{{\"x\":{x}}}")),
        1 => (scalar(), scalar()).prop_map(|(x, b)| format!("{{\"x\":{x},\"x\":{{\"b\":{b}}}}}")),
        1 => scalar(),
        1 => select(vec!["[]", "[1,[2]]", "{\"x\":[{\"b\":1}]}"]).prop_map(str::to_owned),
    ];
    let objects =
        prop::collection::vec(element, 0..4).prop_map(|elements| format!("[{}]", elements.join(",")));
    let plain =
        prop::collection::vec(-50i32..250, 0..4).prop_map(|numbers| format!("{numbers:?}").replace(' ', ""));
    let arrays_mostly = prop_oneof![
        12 => objects.clone(),
        1 => select(vec!["null", "\"a\"", "{\"x\":1}", "7", "[]"]).prop_map(str::to_owned),
    ];
    let few = |of: BoxedStrategy<String>| prop::collection::vec(of, 1..4);
    let many = |of: BoxedStrategy<String>| prop::collection::vec(of, 60);
    prop_oneof![
        few(quoted().boxed()),
        many(quoted().boxed()),
        few(numbers().boxed()),
        many(numbers().boxed()),
        few(mixed.boxed()),
        many(numbers_mostly.boxed()),
        many(objects.boxed()),
        many(plain.boxed()),
        many(arrays_mostly.boxed()),
        (0u32..2).prop_map(|truth| vec![(truth == 1).to_string()]),
        Just(vec!["null".to_owned()]),
    ]
}

const KEYS: [&str; 8] = ["a", "b", "Elapsed", "@l", ",a", "x\\\"a", "a.x", "p.q"];

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
                members.insert(
                    0,
                    r#""nested":{"a":"id-001","a":1,"Elapsed":[{"b":"line","b":"a"}]}"#.to_owned(),
                );
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
        "p.q",
        "a.x.b",
        "a['x']",
        "a[0]",
        "b[1].x",
        "a[0].x.b",
        "nested.Elapsed[0].b",
    ])
    .prop_map(str::to_owned)
}

fn comparison() -> impl Strategy<Value = &'static str> {
    select(vec!["=", "<>", "<", "<=", ">", ">="])
}

/// A constant text of what is stored.
fn quoted() -> impl Strategy<Value = String> {
    texts().prop_map(|text| {
        format!(
            "'{}'",
            text.replace("\\\"", "\"")
                .replace("\\ud800", "\u{FFFD}")
                .replace("\\ufffd", "\u{FFFD}")
                .replace("\\n", "\n")
        )
    })
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        quoted(),
        numbers().prop_filter("the language has no exponents", |n| !n.contains('e')),
        select(vec!["null", "true", "false", "[]", "{}", "undefined()"]).prop_map(str::to_owned),
    ]
}

fn term() -> impl Strategy<Value = String> {
    let ci = select(vec!["", "", " ci"]);
    prop_oneof![
        4 => (path(), comparison(), literal(), ci.clone()).prop_map(|(k, op, v, ci)| format!("{k} {op} {v}{ci}")),
        1 => (literal(), comparison(), path()).prop_map(|(v, op, k)| format!("{v} {op} {k}")),
        2 => path().prop_map(|k| format!("{k} is null")),
        2 => path().prop_map(|k| format!("{k} is not null")),
        2 => path().prop_map(|k| format!("Has({k})")),
        1 => (path(), literal(), literal()).prop_map(|(k, v, w)| format!("{k} in [{v}, {w}]")),
        1 => (path(), literal()).prop_map(|(k, v)| format!("{k} not in [{v}] ci")),
        1 => (path(), prop::collection::vec(literal(), 0..90), select(vec!["in", "not in"]), ci.clone())
            .prop_map(|(k, values, op, ci)| format!("{k} {op} [{}]{ci}", values.join(", "))),
        1 => (path(), prop::collection::vec((literal(), any::<bool>()), 5..9), ci.clone()).prop_map(|(k, values, ci)| {
            let term = |(v, is_first): &(String, bool)| if *is_first { format!("{v} = {k}{ci}") } else { format!("{k} = {v}{ci}") };
            format!("({})", values.iter().map(term).collect::<Vec<_>>().join(" or "))
        }),
        1 => (path(), select(vec!["a%", "%0%", "ERR%", "_", "id-1__", "", "id%1%", "%o%g %", "a%b", "%\"%:%", "l%o%n%e%\n", "%E%r"]), select(vec!["", " ci"]))
            .prop_map(|(k, p, ci)| format!("{k} like '{p}'{ci}")),
        1 => (path(), select(vec!["a", "id-0", "^E", "\\d"])).prop_map(|(k, p)| format!("match({k}, '{p}')")),
        1 => path().prop_map(|k| format!("{k} <> /id-.*/")),
        2 => (quoted(), select(vec!["", " ci"])).prop_map(|(text, ci)| format!("HasText({text}){ci}")),
        1 => (select(vec!["rro", "d-0", "ine", "RROR", "true", "800"]), select(vec!["", " ci"]))
            .prop_map(|(text, ci)| format!("HasText('{text}'){ci}")),
        1 => path().prop_map(|k| k),
        1 => (select(vec!["StartsWith", "EndsWith", "Contains"]), path(), quoted(), ci.clone())
            .prop_map(|(function, k, text, ci)| format!("{function}({k}, {text}){ci}")),
        1 => (path(), comparison(), path(), literal()).prop_map(|(k, op, l, v)| format!("Coalesce({k}, {l}) {op} {v}")),
        1 => (comparison(), 0u64..25).prop_map(|(op, n)| format!("DatePart(@Timestamp * 1000000000, 'hour') {op} {n}")),
        1 => path().prop_map(|k| format!("Length({k}) > 1")),
        2 => (select(vec!["a", "b", "nested.Elapsed"]), select(vec!["[?]", "[*]", "[?].x", "[*].b", "[?].x.b"]), comparison(), literal(), ci.clone())
            .prop_map(|(k, of, op, v, ci)| format!("{k}{of} {op} {v}{ci}")),
        2 => (literal(), select(vec!["in", "not in"]), select(vec!["a", "b", "nested.Elapsed", "b.x"]), ci.clone())
            .prop_map(|(v, op, k, ci)| format!("{v} {op} {k}{ci}")),
        2 => (select(vec!["Some", "Every"]), select(vec!["a", "b", "nested.Elapsed"]), comparison(), literal(), select(vec![
            "i.x is null", "i is not null and Elapsed > 7", "Length(i.x) > 1", "Length(b) > Length(a)", "i.x[?] = 1", "i.b like '%a%'",
            "Some(a, |j| j.x = i.x)", "not Has(i.b)", "i['x'] + 1 > @Arrived", "Has(i)",
        ])).prop_map(|(which, k, op, v, c)| format!("{which}({k}, |i| i.x {op} {v} or {c})")),
        1 => (path(), path()).prop_map(|(k, l)| format!("{k} = {l}")),
        1 => (comparison(), 0u64..3, 0u64..30).prop_map(|(op, group, at)| format!("@Timestamp {op} {}", group * 1000 + at)),
        1 => (comparison(), 0u64..3, 0u64..30, 0u64..60).prop_map(|(op, group, at, arrival)| {
            format!("@Id {op} '{:016x}{arrival:016x}'", group * 1000 + at)
        }),
        1 => (comparison(), 0u64..200).prop_map(|(op, arrival)| format!("@Arrived {op} {arrival}")),
        1 => (path(), numbers()).prop_filter("the language has no exponents", |(_, n)| !n.contains('e'))
            .prop_map(|(k, n)| format!("{k} + 1 > {n}")),
        1 => (path(), path(), comparison(), numbers())
            .prop_filter("the language has no exponents", |(_, _, _, n)| !n.contains('e'))
            .prop_map(|(k, l, op, n)| format!("{k} / {l} {op} {n}")),
    ]
}

/// An expression that is computed: of numbers, instants, texts, conditions and choices.
fn computed() -> impl Strategy<Value = String> {
    let part =
        select(vec!["hour", "minute", "second", "weekday", "date", "time", "millisecond", "Year", "no part"]);
    let leaf = prop_oneof![
        4 => path(),
        1 => literal(),
        1 => Just("@Timestamp".to_owned()),
        1 => (path(), select(vec!["=", "<>", "<", ">="]), literal()).prop_map(|(k, op, v)| format!("({k} {op} {v})")),
        1 => (path(), select(vec!["a%", "%0%", "id-1__"])).prop_map(|(k, p)| format!("({k} like '{p}')")),
    ];
    leaf.prop_recursive(3, 10, 3, move |inner| {
        let two = || (inner.clone(), inner.clone());
        let constant = || select(vec!["1", "2", "4", "0.5", "3", "1000", "-8", "0", "1.0"]);
        prop_oneof![
            3 => (condition(), two()).prop_map(|(c, (a, b))| format!("(if {c} then {a} else {b})")),
            2 => two().prop_map(|(a, b)| format!("Coalesce({a}, {b})")),
            2 => (inner.clone(), select(vec!["+", "-", "*", "/", "%"]), constant())
                .prop_map(|(a, op, n)| format!("({a} {op} {n})")),
            1 => (two(), select(vec!["+", "-", "*", "/", "%"])).prop_map(|((a, b), op)| format!("({a} {op} {b})")),
            1 => inner.clone().prop_map(|a| format!("(-{a})")),
            1 => inner.clone().prop_map(|a| format!("TotalMilliseconds({a})")),
            2 => (inner.clone(), select(vec!["", ", 0", ", 1", ", 3", ", 40", ", -1"]))
                .prop_map(|(a, places)| format!("Round({a}{places})")),
            2 => (inner.clone(), part.clone(), select(vec!["", ", 2", ", -7", ", 37", ", undefined()"]))
                .prop_map(|(a, part, offset)| format!("DatePart({a}, '{part}'{offset})")),
            1 => (inner.clone(), select(vec!["", ", -1"])).prop_map(|(a, offset)| format!("TimeOfDay({a}{offset})")),
            1 => two().prop_map(|(a, b)| format!("Concat({a}, '/', {b})")),
            1 => two().prop_map(|(a, b)| format!("Concat(ToString({a}), {b})")),
            1 => inner.clone().prop_map(|a| format!("Length({a})")),
            1 => inner.clone().prop_map(|a| format!("Substring({a}, 0, 2)")),
            1 => inner.clone().prop_map(|a| format!("ToLower({a})")),
            1 => inner.clone().prop_map(|a| format!("ToNumber({a})")),
            1 => (inner.clone(), select(vec!["'id-', ''", "'a', '1'", "'r', 'R'"]))
                .prop_map(|(a, with)| format!("Replace({a}, {with})")),
            1 => two().prop_map(|(a, b)| format!("({a} = {b})")),
            1 => two().prop_map(|(a, b)| format!("({a} < {b})")),
            1 => inner.clone().prop_map(|a| format!("(not {a})")),
            1 => two().prop_map(|(a, b)| format!("({a} and {b})")),
            1 => inner.clone().prop_map(|a| format!("({a} is null)")),
            1 => inner.clone().prop_map(|a| format!("Has({a})")),
            1 => inner.clone().prop_map(|a| format!("StartsWith({a}, 'id-')")),
        ]
    })
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

/// What a row may be made of.
const ROWS: [&str; 10] = [
    "*, K as k",
    "@Data, @Id, K as k",
    "@Properties, K as k, @Message",
    "K, b",
    "*",
    "@Timestamp",
    "K, @Id",
    "@Data",
    "@Properties, K",
    "@Message",
];

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
        2 => select(ROWS.to_vec()).prop_map(|columns| (columns.to_owned(), String::new())),
        4 => select(aggregates.to_vec()).prop_map(|columns| (columns.to_owned(), String::new())),
        3 => (select(grouped_aggregates.to_vec()), select(grouped.to_vec()))
            .prop_map(|(columns, by)| (columns.to_owned(), format!(" group by {by}"))),
    ];
    let condition = prop::option::weighted(0.7, condition());
    let end = select(vec![
        "",
        "",
        "",
        " limit 3",
        " order by time desc limit 5",
        " order by k limit 1",
        " order by k desc limit 2",
        " order by k ci, @Id desc limit 3",
        " order by k desc ci limit 9",
    ]);
    let key = prop_oneof![2 => path(), 1 => computed()];
    // Now and then a row for each element of what may be an array.
    let unnest = select(vec![
        "",
        "",
        "",
        "",
        " lateral unnest(a) as b",
        " lateral unnest(b) as x",
        " lateral unnest(b) as a",
        " lateral unnest(a) as a",
    ]);
    (selected, key, unnest, condition, end).prop_map(|((columns, by), key, unnest, condition, end)| {
        let condition = condition.map(|condition| format!(" where {condition}")).unwrap_or_default();
        let is_row = by.is_empty() && ROWS.contains(&&*columns);
        let end = if is_row || end == " limit 3" { end } else { "" };
        format!("select {columns} from stream{unnest}{condition}{by}{end}").replace('K', &key)
    })
}

/// So many stores are made, each with some queries; `TAMIAS_SHORT_CUTS_STORES` asks for more.
fn config() -> ProptestConfig {
    let stores = std::env::var("TAMIAS_SHORT_CUTS_STORES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: stores.unwrap_or(1000), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_query_answers_the_same_both_ways(store in store(), queries in prop::collection::vec(query(), 8)) {
        for text in queries.iter().filter(|text| Query::prepare(text).is_ok()) {
            agree(&store, text);
        }
    }
}

proptest! {
    #![proptest_config(config())]

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
