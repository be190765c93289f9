//! Queries of which it is known what they need not read.

use crate::agree::{agree, agree_in_turn};
use crate::memory::{Event, Memory};
use tamias_query::{Query, RunOptions};

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
        ("select Id from stream where @Arrived >= 150 and @Arrived < 250", 2),
        ("select Id from stream where @Arrived = 150.5", 1),
        ("select Id from stream where 990 < @Arrived", 1),
        ("select Id from stream where @Arrived in [150, 151, 950, 'x']", 2),
        ("select Id from stream where @Timestamp in [150, 151, 950]", 2),
        ("select Id from stream where @Id = '000000000000009600000000000000096'", 0),
        ("select Id from stream where @Id = '00000000000000960000000000000096'", 1),
        (
            "select Id from stream where @Id in ['00000000000000960000000000000096', 'x', '00000000000003b600000000000003b6']",
            2,
        ),
        ("select Id from stream where '0000000000000384' < @Id", 1),
        ("select Id from stream where @Id < '000000000000000a'", 1),
        ("select Id from stream where not (@Id >= '000000000000000A')", 1),
        ("select Id from stream where @Id > 'g' or @Id < ''", 0),
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
        "select sum(Half), mean(Half), max(Absent), sum(Absent), count(Absent), count(Id) from stream",
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
        "select min(Level), max(Level), median(Level), stddev(Level) from stream",
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
        "select min(Id) from stream",
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

/// Keys that few events have: of two of them the one is looked for where the other is, unless there are others that have it alone.
#[test]
fn rare_keys_are_found_together_and_apart() {
    let rare = [
        // Each event that has one has both.
        [r#","A":1,"C":"x""#, r#","C":"y","A":2.50"#],
        // Some have one alone.
        [r#","A":1"#, r#","C":"y","A":2"#],
        [r#","A":1,"C":"x""#, r#","C":"z""#],
        [r#","A":1"#, r#","C":"z""#],
        // A key that is nested, in a text, null, or holds what is no scalar.
        [r#","o":{"A":5},"C":"x""#, r#","A":7,"C":"\"A\":5""#],
        [r#","A":null,"C":"x""#, r#","A":[1],"C":{"A":3}"#],
        // Repeated: statistics tell nothing of its values.
        [r#","A":1,"A":2,"C":"x""#, r#","A":3,"C":"y""#],
    ];
    for texts in rare {
        for step in [9, 40, 99] {
            let event = |n: u64| {
                let text = if n % step == step - 1 { texts[(n / step % 2) as usize] } else { "" };
                let document = format!(r#"{{"Id":"id-{n:06}","N":{n}{text}}}"#);
                Event { instant: n, arrival: n, document }
            };
            let events: Vec<Event> = (0..600).map(event).collect();
            let blocks: Vec<&[Event]> = events.chunks(200).collect();
            let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
            let memory = Memory::blocks(&groups);
            for query in [
                "select sum(A), count(*), count(A) from stream group by C",
                "select min(A), first(C), count(distinct(A)) from stream group by C ci",
                "select A, C from stream",
                "select C, A, B from stream order by time desc limit 450",
                "select sum(A) from stream where @Timestamp >= 150 and @Timestamp < 420 group by C",
            ] {
                agree(&memory, query);
            }
        }
    }
}

/// Events that came late: their numbers are in no order of time.
fn shuffled() -> Memory {
    let event =
        |n: u64| Event { instant: n / 3, arrival: n * 7919 % 600, document: format!(r#"{{"N":{n}}}"#) };
    let mut events: Vec<Event> = (0..600).map(event).collect();
    events.sort_by_key(|event| (event.instant, event.arrival));
    let blocks: Vec<&[Event]> = events.chunks(60).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

#[test]
fn events_are_found_by_number_and_identifier_whatever_the_order() {
    let memory = shuffled();
    let ids = [
        "0000000000000032",
        "00000000000000320000000000000000",
        "000000000000003200000000000000ff",
        "0000000000000033",
        "",
        "z",
        "00000000000000320000000000000100",
    ];
    for op in ["=", "<>", "<", "<=", ">", ">="] {
        for id in ids {
            agree(&memory, &format!("select N, @Id from stream where @Id {op} '{id}'"));
            agree(&memory, &format!("select N from stream where '{id}' {op} @Id or @Arrived {op} 17"));
            agree(
                &memory,
                &format!(
                    "select count(*) from stream where not (@Id {op} '{id}') and not (@Arrived {op} 300.5)"
                ),
            );
        }
        for number in ["-1", "0", "17", "599", "600", "18446744073709551615", "18446744073709551616", "0.5"] {
            agree(&memory, &format!("select N from stream where @Arrived {op} {number}"));
        }
    }
    for set in [
        "@Id in []",
        "@Id not in ['00000000000000320000000000000017', 5]",
        "@Arrived not in [1, 'x', 17.0]",
        "@Timestamp in ['2', 50, 51.0]",
        "@Arrived in ['x']",
    ] {
        agree(&memory, &format!("select N, @Id from stream where {set}"));
    }
}

/// Blocks of events with nested members, with keys that have points, and with both.
fn pointed() -> Memory {
    let event = |n: u64| {
        let (host, port) = (n % 7, n % 100);
        let document = match n / 100 {
            0 => format!(r#"{{"id":{{"host":"h{host}","port":{port}}},"N":{n}}}"#),
            1 => format!(r#"{{"id.host":"h{host}","id.port":{port},"N":{n}}}"#),
            _ if n.is_multiple_of(2) => format!(r#"{{"id":{{"host":"h{host}"}},"id.port":{port},"N":{n}}}"#),
            _ => format!(r#"{{"id":7,"id.host":"h{host}","id.port":"{port}"}}"#),
        };
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..300).map(event).collect();
    let blocks: Vec<&[Event]> = events.chunks(100).collect();
    let groups: Vec<&[&[Event]]> = blocks.chunks(1).collect();
    Memory::blocks(&groups)
}

#[test]
fn dotted_paths_are_found_nested_and_as_keys() {
    let memory = pointed();
    for query in [
        "select count(*) from stream group by id.host",
        "select count(*), sum(id.port), max(id.port), count(distinct(id.host)) from stream",
        "select id.host, id.port from stream where id.port > 90 order by time desc limit 30",
        "select N from stream where id.host in ['h1', 'h2'] and not (id.port < 50)",
        "select N from stream where id.host = 'h1' or id.port = id.host",
        "select N from stream where id.host is null",
        "select N from stream where Length(id.host) = 2 and id.host like 'h%' and id.port <> 5",
        "select count(*) from stream where id['host'] = 'h1'",
        "select count(*) from stream where @Properties['id.host'] = 'h1'",
        "select count(*) from stream where id.port.none = 1 or id.none.port = 2",
    ] {
        agree(&memory, query);
    }
}

#[test]
fn blocks_of_keys_with_points_are_pruned_and_answered_as_those_of_any_keys() {
    let memory = pointed();
    let stats = agree(&memory, "select N from stream where id.port = 777");
    assert_eq!(
        (stats.blocks, stats.blocks_skipped),
        (2, 1),
        "where `id` is missing, `id.port` is told by statistics"
    );
    let stats = agree(&memory, "select sum(id.port), count(id.host) from stream");
    assert_eq!(stats.blocks_answered, 1);
}

/// Blocks of columns give their rows in portions, which are merged with those of blocks of the same time.
#[test]
fn large_blocks_that_overlap_give_their_rows_in_order() {
    let event = |n: u64| Event {
        instant: n / 3,
        arrival: n,
        document: format!(
            r#"{{"n":{n},"id":"id-{}","kind":"{}","x":{}.5{}}}"#,
            n * 7919 % 10_007,
            ["a", "b", "c"][(n % 3) as usize],
            n % 50,
            if n.is_multiple_of(4) { r#","rare":"there"#.to_owned() + "\"" } else { String::new() }
        ),
    };
    let events: Vec<Event> = (0..12_000).map(event).collect();
    // Every block holds each third event of the whole time.
    let blocks: Vec<Vec<Event>> =
        (0..3).map(|nth| events.iter().skip(nth).step_by(3).cloned().collect()).collect();
    let blocks: Vec<&[Event]> = blocks.iter().map(Vec::as_slice).collect();
    let memory = Memory::blocks(&[&blocks]);
    for text in [
        "select n from stream",
        "select n, id, rare from stream where x > 20 limit 5000",
        "select id from stream where kind <> 'b' order by time desc limit 3001",
        "select n from stream where rare is not null order by time desc",
        "select n, Length(id) from stream where id like '%9%' limit 1500",
        "select count(*), sum(x), max(n) from stream group by kind",
        "select count(*) from stream where n in [1, 5, 7000, 11999] group by kind, rare",
        "select count(*) as c from stream group by id order by c desc limit 5",
        "select first(n), last(n), count(distinct(x)) from stream where Length(id) > 5 group by time(1s)",
        "select n, x from stream order by x desc, n limit 20",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn texts_of_the_rows_of_one_query_are_not_taken_for_those_of_another() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(
            r#"{{"n":{n},"to":"user {} at {n}"{},"list":[{n},"x"],"x":{}.5}}"#,
            n * 7919 % 1009,
            if n.is_multiple_of(3) { r#","note":"a \\u0007 b"#.to_owned() + "\"" } else { String::new() },
            n * 31 % 97,
        ),
    };
    let events: Vec<Event> = (0..2_000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..1_000]], &[&events[1_000..]]]);
    agree_in_turn(
        &memory,
        &[
            "select to, note, list from stream where x > 90",
            "select to, note, list from stream where x > 90",
            "select to from stream where x < 3 order by time desc",
            "select to, list, x from stream where x > 95 or n < 20",
            "select to from stream",
        ],
    );
    for text in [
        "select to, x from stream where x > 30 order by x desc limit 7",
        "select n, to, list from stream where n > 900 and n < 1100 order by n desc limit 300",
        "select count(*), sum(Length(to)), max(note) from stream where x > 80",
        "select count(*) from stream where to like '%9%' and x > 90 and list is not null",
        "select n from stream where match(to, '7') and not (to like '%1%') and n % 50 = 3",
        "select count(*) from stream where n < 0 group by to",
        "select count(*), first(to), mean(x) from stream where x > 1000",
        "select to from stream where n = 5 and to > 7",
    ] {
        agree(&memory, text);
    }
}

/// Texts that are brought to one case, patterns in their places, and whether something is there.
const IN_ONE_CASE: [&str; 13] = [
    "select count(*) from stream where ToLower(u) not like '%.js%' or ToLower(w) <> '1'",
    "select count(*) from stream where ToLower(u) like '%.JS%' or ToUpper(u) like '/api/%'",
    "select count(*) from stream where Contains(ToUpper(t), 'N') or StartsWith(ToLower(u), '/api/')",
    "select count(*) from stream where EndsWith(ToUpper(u), 'E-7') or match(ToLower(t), 'login')",
    "select count(*) from stream group by ToLower(w) <> 'a', ToLower(t) = '/login', ToLower(k) = 'k1'",
    "select count(*) from stream where ToLower(k) = 'k1' or ToUpper(k) like 'S%'",
    "select count(*) from stream where ToLower(k) like '%i%' or Contains(ToUpper(k), 'ST')",
    "select count(*) from stream where match(t, /^\\/log/) or match(u, /-[0-9]$/) or match(t, /^\\/Login$/)",
    "select count(*) from stream where match(t, /n$/) and not match(u, /^Gr/)",
    "select count(*) from stream where match(t, /^n$/) or match(u, /gin-[3-7]/) and n % 7 = 1",
    "select count(*) from stream where t not like '%n%' and u not like '%b\"%'",
    "select count(*) from stream where tags is not null or Has(tr) group by Has(t), w is null, Has(y.z)",
    "select count(*) from stream where t is null and not Has(y.z)",
];

/// What is computed of whole columns, or of the entries of dictionaries, is what is computed event by event.
#[test]
fn what_is_computed_of_columns_is_what_events_come_to() {
    const TEXTS: [&str; 9] =
        ["/login", "/Login", "/api/a.js", "Größe", "\\n", "a\\\"b", "", "/api/ß.JS", "\\ud800n"];
    let event = |n: u64| {
        let number = ["", r#","x":"#, r#","x":-"#][(n % 3) as usize];
        let number =
            if number.is_empty() { String::new() } else { format!("{number}{}.{}", n % 7, n * 3 % 10) };
        let text =
            if n.is_multiple_of(5) { "null".to_owned() } else { format!("\"{}\"", TEXTS[(n % 9) as usize]) };
        let document = format!(
            r#"{{"t":{text},"u":"{}-{n}","k":"{}","w":{},"tags":["a",{},"ß"],"y":{},"tr":"{:032x}"{number}}}"#,
            TEXTS[(n % 9) as usize],
            // Some letters beyond ASCII have others of it in the other case.
            ["K1", "k1", "İx", "ix", "ſt", "sT"][(n % 6) as usize],
            n % 13,
            n % 6,
            i64::MAX - n as i64,
            u128::from(n / 2) << 64 | 0xabcd,
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..3000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..2000]], &[&events[2000..]]]);
    for text in [
        "select count(*) from stream where ToLower(t) = '/login'",
        "select count(*) from stream where ToLower(u) like '%.js%'",
        "select count(*) from stream where ToUpper(t) <> 'GRÖSSE'",
        "select count(*) from stream where Substring(t, 1, 3) in ['log', 'api']",
        "select count(*), sum(w) from stream group by Substring(t, 1)",
        "select count(*) from stream group by Substring(u, 0, 4)",
        "select ToUpper(t), ToLower(u), Substring(t, 2, 2) from stream where w > 3",
        "select count(*) from stream where t like '%n'",
        "select count(*) from stream where t like '/api/%' or u like '%\"b-%'",
        "select count(*) from stream where t not like '/%'",
        "select count(*) from stream where t like '%ß.js' ci",
        "select count(*) from stream where t <> '/login' and not (u = '/login-0')",
        "select count(*) from stream where t not in ['/login', 'Größe', '']",
        "select count(*) from stream where t = '\u{FFFD}n'",
        "select sum(x * 2 + 1), mean(w - x), max(x * x), min(-x), count(w % 3) from stream",
        "select sum(y + y), max(y - 1), count(x / 2) from stream",
        "select count(*), first(x), last(w * 10) from stream group by w % 4",
        "select count(*) from stream group by x * 10, t",
        "select count(*) from stream where x * 2 > w - 3 or w % 2 = 1",
        "select count(*) from stream where x > w and x <> w % 3 and w % 0 = 0",
        "select percentile(x + 0.5, 50), stddev(w * 1.5), median(x) from stream group by w",
        "select w, x, u from stream order by x limit 7",
        "select w, x, u from stream order by x desc limit 1500",
        "select x, w from stream order by x limit 2999",
        "select u, x from stream where w < 4 order by x desc, u limit 3",
        "select u, w, x from stream order by w desc, x limit 40",
        "select count(distinct(tr)), count(distinct(t)), count(distinct(w)) from stream",
        "select count(distinct(tr)) from stream group by w",
        "select distinct(t) from stream",
        "select max(Length(t)), sum(Length(u)) from stream",
        "select count(*) as c from stream group by u order by c desc limit 4",
        "select count(*), sum(x) from stream lateral unnest(tags) as tag group by tag",
        "select count(*) from stream lateral unnest(tags) as tag where tag > 2 and t like '/%' group by w, time(1s)",
        "select tag, u from stream lateral unnest(tags) as tag where w = 3 limit 50",
        "select count(*), min(x), first(t), last(tag) from stream lateral unnest(tags) as tag where w <> 2 group by w",
        "select sum(tag * 2), count(distinct(tag)) from stream lateral unnest(tags) as tag",
        "select count(*) from stream lateral unnest(tags) as tag where let |y: tag| y = 'a' or w = y",
        "select count(*) from stream lateral unnest(missing) as tag group by tag",
        "select count(*) from stream lateral unnest(t) as tag",
        "select count(*), mean(Length(u)) as n from stream lateral unnest([t, u]) as text group by text having n > 3",
        "select count(*) from stream where t like '%LOGIN%' ci",
        "select count(*) from stream where u like '%js-1%' ci or t like '%ss%' ci",
        "select count(*) from stream where t not like '%öss%' ci and u not like '%LOG_n%' ci",
        "select count(*) from stream where t like '%api/A%' ci or t like '%N%' ci or u like '%b-12%' ci",
        "select count(*) from stream where match(t, 'a') or match(u, 'b-1')",
        "select count(*) as c, sum(w) as s from stream group by u order by c desc, s limit 4",
        "select count(*) as c from stream group by u having c > 0 order by c, u desc limit 4",
        "select count(*) as c, sum(w) * 2 as s from stream group by u order by s desc, u limit 5",
    ]
    .into_iter()
    .chain(IN_ONE_CASE)
    {
        agree(&memory, text);
    }
}

/// A letter that stands beyond ASCII may be one of it in upper case.
#[test]
fn a_text_in_any_case_is_found_where_letters_beyond_ascii_become_its_own() {
    const TEXTS: [&str; 10] = [
        "TIMEOUT",
        "tımeout",
        "time\\nout",
        "a ſession ends",
        "\\\\session",
        "session\\\\",
        "ſ",
        "ıss",
        "\\ud800out",
        "meout",
    ];
    let event = |n: u64| {
        let text = TEXTS[(n % 10) as usize];
        let elements =
            (0..n % 4).map(|of| format!("{{\"v\":[{of},\"{text}\"]}}")).collect::<Vec<_>>().join(",");
        let document =
            format!(r#"{{"t":"{text}","n":"{text} {n}","inner":{{"list":[{elements}]}},"k":{}}}"#, n % 3);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..600).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..500]], &[&events[500..]]]);
    for text in ["timeout", "session", "s", "is", "i", "nout", "out", "800", "n%out", "e_s"] {
        for form in ["%{}%", "{}%", "%{}", "{}"] {
            let pattern = form.replace("{}", text);
            for key in ["t", "n"] {
                agree(&memory, &format!("select count(*) from stream where {key} like '{pattern}' ci"));
                agree(&memory, &format!("select count(*) from stream where {key} not like '{pattern}' ci"));
            }
            agree(&memory, &format!("select count(*) from stream where n like '{pattern}'"));
        }
        for key in ["t", "n", "k"] {
            agree(&memory, &format!("select count(*) from stream where Contains({key}, '{text}') ci"));
            agree(&memory, &format!("select count(*) from stream where not Contains({key}, '{text}') ci"));
        }
    }
    for text in [
        "select count(*), first(n) from stream lateral unnest(inner.list) as it group by it.v[1]",
        "select count(*), sum(it.v[0]) from stream lateral unnest(inner.list) as it where it.v[1] like '%out' group by k",
        "select count(*) from stream lateral unnest(inner.list) as it where k = 1 and Some(it.v, |v| v = k)",
        "select count(*) from stream lateral unnest(inner.list) as it lateral unnest(it.v) as v group by v",
        "select count(*) from stream lateral unnest(inner) as it",
        "select first(k), count(*) from stream lateral unnest(inner.list) as it group by time(10us)",
    ] {
        agree(&memory, text);
    }
}

/// Five keys of 8,000 texts have more combinations than 64 bits count.
#[test]
fn groups_by_more_combinations_than_a_number_counts() {
    let event = |n: u64| {
        let keys = ["a", "b", "c", "d", "e"].map(|key| format!(r#""{key}":"{key}-{n}""#)).join(",");
        Event { instant: n, arrival: n, document: format!("{{{keys}}}") }
    };
    let events: Vec<Event> = (0..8000).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    agree(&memory, "select count(*) as n from stream group by a, b, c, d, e having n > 1");
    agree(&memory, "select count(*) from stream group by e, d, c, b, a, time(1us) limit 3");
}

/// What is computed for all rows of a block at once takes bounded memory, and does not fail for a row that a limit leaves out.
#[test]
fn large_values_are_computed_row_by_row() {
    let event = |n: u64| {
        let long = if n == 150 { "x".repeat(1 << 20) } else { format!("x{n}") };
        Event { instant: n, arrival: n, document: format!(r#"{{"a":"a{n}","long":"{long}"}}"#) }
    };
    let events: Vec<Event> = (0..200).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let (text, hundred) = ("y".repeat(300_000), "z".repeat(100));
    agree(&memory, &format!("select Concat(a, '{text}') from stream limit 3"));
    agree(&memory, &format!("select max(Length(Concat(a, '{text}'))) from stream"));
    // Of one of them it comes to a hundred megabytes.
    agree(&memory, &format!("select Replace(long, 'x', '{hundred}') from stream limit 2"));
    agree(
        &memory,
        &format!("select a from stream where Length(Replace(long, 'x', '{hundred}')) > 3 limit 2"),
    );
    agree(&memory, "select Substring(a, 0, 10000000000000000000), Substring(a, 1, 2) from stream");
}

#[test]
fn of_a_key_that_comes_twice_in_an_object_each_value_may_have_a_text() {
    let documents =
        [r#"{"x":{"k":"eve@x.org","k":"d"}}"#, r#"{"x":1}"#, r#"{"x":[{"k":"d","k":"Eve@x.org"}]}"#];
    let event = |(n, text): (u64, &str)| Event { instant: n, arrival: n, document: text.to_owned() };
    let events: Vec<Event> = (0..).zip(documents).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for (text, found) in
        [("HasText('eve@x.org')", 1), ("HasText('eve@x.org') ci", 2), ("HasText('d') and x <> 1", 2)]
    {
        agree(&memory, &format!("select count(*) from stream where {text}"));
        let query = Query::prepare(&format!("select x from stream where {text}")).unwrap();
        let (rows, _) = memory.in_columns().run(&query, RunOptions::default());
        assert_eq!(rows.lines().count(), found, "{text}: {rows}");
    }
}

#[test]
fn what_is_asked_of_nested_values_is_answered_by_statistics_of_columns() {
    let cities = ["Berlin", "Graz", "Oslo"];
    let event = |n: u64| {
        let document = match n % 5 {
            4 => r#"{"Actor":null}"#.to_owned(),
            _ => format!(
                r#"{{"Actor":{{"Age":{},"Address":{{"City":"{}"}}}}}}"#,
                20 + n % 7,
                cities[n as usize % 3]
            ),
        };
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..60).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for text in [
        "select count(*) from stream where Actor.Address.City = 'Berlin'",
        "select count(*) from stream where Actor.Address.City <> 'Berlin' ci and Actor.Address.City like '%o'",
        "select count(*) from stream where Actor.Age > 22 and not (Actor.Age >= 26)",
        "select count(*), first(Actor.Age) from stream group by Actor.Address.City",
        "select sum(Actor.Age), min(Actor.Age), max(Actor.Age), mean(Actor.Age) from stream",
        "select count(Actor.Address.City), count(distinct(Actor.Address.City)) from stream",
    ] {
        agree(&memory, text);
        let answered = memory.in_columns().run(&Query::prepare(text).unwrap(), RunOptions::default()).1;
        let is_of_one_value = !text.contains("first(Actor.Age)");
        assert_eq!(answered.blocks_answered, u64::from(is_of_one_value), "{text}");
    }
    for text in
        ["Actor.Address.City = 'Rome'", "Actor.Age < 20", "Actor.Address.Street = 'Ring'", "Actor.Age.x = 1"]
    {
        let text = format!("select @Data from stream where {text}");
        agree(&memory, &text);
        let skipped = memory.in_columns().run(&Query::prepare(&text).unwrap(), RunOptions::default()).1;
        assert_eq!(skipped.blocks_skipped, 1, "{text}");
    }
}

#[test]
fn keys_of_many_groups_are_shown_as_those_of_few() {
    let document = |n: u32| match n % 3 {
        0 => format!(r#"{{"a":{{"x":{n},"x":"{n}"}}}}"#),
        1 => format!(r#"{{"a":"\ud800 {n}"}}"#),
        _ => format!(r#"{{"a":[{{"x":{n},"x":"{n}"}}]}}"#),
    };
    let documents: Vec<String> = (0..300).map(document).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let memory = Memory::new(&documents);
    for of in [&memory, &memory.in_columns()] {
        // Groups that are sorted are shown by their values.
        let rows = of.query("select count(*) from stream group by a");
        let sorted = of.query("select count(*) as n from stream group by a order by n");
        assert_eq!(rows.replace("count(*)", "n"), sorted);
    }
}

/// Events without a level are of the level `Information`, whatever else is asked of them.
#[test]
fn a_level_that_no_event_has_is_not_told_by_values_of_another_key() {
    let event = |n: u64| {
        let message = if n.is_multiple_of(3) { String::new() } else { format!(r#","Message":"text {n}""#) };
        Event { instant: n, arrival: n, document: format!(r#"{{"Elapsed":{n}{message}}}"#) }
    };
    let events: Vec<Event> = (0..200).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for (condition, count) in [
        ("@Level = 'Information' and Elapsed > 100", 99),
        ("@Level in ['Information', 'Warning'] and Elapsed > 100", 99),
        ("@Level = 'Information' and Message is not null", 133),
        ("@Level <> 'Information' and Elapsed is not null", 0),
        ("@Level <> 'Information' and Message is not null", 0),
    ] {
        let text = format!("select count(*) as n from stream where {condition}");
        agree(&memory, &text);
        for memory in [&memory, &memory.in_columns()] {
            assert_eq!(memory.query(&text), format!("{{\"n\":{count}}}\n"), "{text}");
        }
    }
}

#[test]
fn ranges_and_filters_tell_of_nested_values_that_are_not_listed() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"o":{{"p":{n},"id":"id-{n}","q":{{"r":1}}}}}}"#),
    };
    let events: Vec<Event> = (0..200).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let stats = |text: &str| memory.in_columns().run(&Query::prepare(text).unwrap(), RunOptions::default()).1;
    for condition in ["o.p > 100000", "o.p in [-1, 1000]", "o.p.x = 1"] {
        let text = format!("select @Data from stream where {condition}");
        agree(&memory, &text);
        assert_eq!(stats(&text).blocks_skipped, 1, "{text}");
    }
    for condition in ["Has(o.p)", "o.p is not null", "o.q is not null", "o.p >= 0"] {
        let text = format!("select count(*) from stream where {condition}");
        agree(&memory, &text);
        assert_eq!(stats(&text).blocks_answered, 1, "{text}");
    }
    let ids = (0..50)
        .filter(|n| stats(&format!("select @Data from stream where o.id = 'no-{n}'")).blocks_skipped == 0);
    assert!(ids.count() < 5, "the filter rules out nearly all that are not there");
}

/// What is made of a group before it is known to have a row is no more than tells that.
#[test]
fn of_many_groups_those_that_pass_are_given_whole() {
    let memory = numbered();
    for (query, rows) in [
        (
            "select max(N) as m, count(*) as n from stream group by Half having n >= 2 order by m desc limit 2",
            "{\"Half\":499.5,\"m\":999,\"n\":2}\n{\"Half\":498.5,\"m\":997,\"n\":2}\n",
        ),
        (
            "select min(N) as a, max(N) as b from stream group by Half having b >= 997",
            "{\"Half\":498.5,\"a\":996,\"b\":997}\n{\"Half\":499.5,\"a\":998,\"b\":999}\n",
        ),
        (
            "select max(N) as m from stream group by Half having Half >= 499 and max(N) = m",
            "{\"Half\":499.5,\"m\":999}\n",
        ),
        (
            "select min(N) as a from stream group by Half, Level having max(N) > 995 order by a limit 1",
            "{\"Half\":498.5,\"Level\":\"Error\",\"a\":996}\n",
        ),
        ("select max(N) as m from stream group by Id having m > 5000 order by m limit 3", ""),
    ] {
        assert_eq!(memory.query(query), rows, "{query}");
    }
}
