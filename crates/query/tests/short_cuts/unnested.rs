//! Collections that are computed, or of which a condition on their events leaves few: they are unnested for those events alone.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Objects whose keys come and go, arrays of them, and JSON in texts; in the third block an object has a key twice, and one has escapes in a key.
fn events() -> Memory {
    let event = |n: u64| {
        let flag = |key: &str, of: u64| {
            if n.is_multiple_of(of) { format!(r#""{key}":{},"#, n % of) } else { String::new() }
        };
        let flags = match n % 11 {
            0 => "null".to_owned(),
            1 => r#""none""#.to_owned(),
            2 => "[1]".to_owned(),
            _ if n > 440 && n.is_multiple_of(7) => format!(r#"{{"a":1,"a":{n},"b":2}}"#),
            _ if n > 440 && n.is_multiple_of(5) => format!(r#"{{"\u0061":1,"\n":{n}}}"#),
            _ => format!(
                r#"{{{}{}{}"n":{n},"größe":{{"in":{}}}}}"#,
                flag("a", 2),
                flag("b", 3),
                flag("c d", 5),
                n % 3
            ),
        };
        // In the first block all of them are objects.
        let flags = if n < 220 && n % 11 < 3 { "{}" } else { &flags };
        let log = match n % 4 {
            0 => format!(r#"{{\"tags\":[\"t{}\",{n},null],\"level\":\"l{}\"}}"#, n % 3, n % 2),
            1 => r#"{\"tags\":7}"#.to_owned(),
            2 => "no JSON".to_owned(),
            _ => r#"{\"tags\":[]}"#.to_owned(),
        };
        let items = (0..n % 4).map(|item| format!(r#"{{"id":{item},"of":{{"k{item}":{n}}}}}"#));
        let items = items.collect::<Vec<_>>().join(",");
        let document = format!(
            r#"{{"n":{n},"flags":{flags},"log":"{log}","items":[{items}],"kind":"k{}","csv":"a,{n},c{}"}}"#,
            n % 9,
            n % 2
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..660).map(event).collect();
    Memory::blocks(&[&[&events[..220], &events[220..440]], &[&events[440..]]])
}

#[test]
fn keys_of_objects_are_those_that_documents_have() {
    let memory = events();
    for text in [
        "select count(*) from stream lateral unnest(Keys(flags)) as k group by k",
        "select count(*), max(n) from stream group by Keys(flags)",
        "select n, Keys(flags) as k, Length(Keys(flags)) as l from stream order by time desc limit 300",
        "select sum(Length(Keys(flags))), count(Keys(flags)) from stream where n > 100",
        "select n from stream where Length(Keys(flags)) >= 3 and flags.b = 1",
        "select n from stream where 'a' in Keys(flags)",
        "select n, 'a' in Keys(flags) as i from stream where not ('a' in Keys(flags))",
        "select n from stream where Keys(flags)[?] like 'gr%' and Keys(flags)[0] = 'n'",
        "select n, Keys(flags.größe) from stream where Keys(flags['größe']) is not null",
        "select Keys(flags), Keys(nothing), Keys(log), Keys(items) from stream limit 50",
        "select count(*) from stream lateral unnest(items) as i lateral unnest(Keys(i.of)) as k group by k",
        "select n, k, i.id from stream lateral unnest(Keys(flags)) as k lateral unnest(items) as i where n > 600",
        "select count(*) from stream lateral unnest(Keys(flags)) as k where flags[k] = 1 group by k, kind",
        "select count(*) from stream lateral unnest(Keys(@Properties)) as k group by k",
        "select count(*) from stream where Every(Keys(flags), |k| k <> 'b') group by n % 3",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn conditions_on_events_are_asked_before_they_are_unnested() {
    let memory = events();
    for text in [
        "select n, i.id from stream lateral unnest(items) as i where kind = 'k3' and i.id > 0",
        "select n, i from stream lateral unnest(items) as i where kind = 'k3' and i.id > 0 order by time desc limit 7",
        "select count(*), sum(i.id) from stream lateral unnest(items) as i where n > 650 or kind = 'k1' group by i.id",
        "select count(*) from stream lateral unnest(items) as i where kind = 'none'",
        "select sum(i.id), first(n) from stream lateral unnest(items) as i where kind = 'none' group by kind",
        "select n from stream lateral unnest(items) as i where items[?].id = 2 and i.id = 1",
        "select n from stream lateral unnest(items) as i where Some(items, |x| x.id = i.id + 2)",
        "select count(*) from stream lateral unnest(items) as i where (kind = 'k3' or i.id = 1) and n % 5 = 0 group by kind",
        "select t, n from stream lateral unnest(FromJson(log).tags) as t where kind = 'k4'",
        "select count(*) from stream lateral unnest(FromJson(log).tags) as t group by t",
        "select t from stream lateral unnest(FromJson(log).tags) as t where t like 't%' and log like '%l1%' limit 9",
        "select count(*) from stream lateral unnest(Values(flags)) as v where flags.a is not null group by v",
        "select count(*) from stream lateral unnest([kind, n % 3, log]) as x where n > 5 and x <> 1 group by x limit 40",
        "select t, i.id from stream lateral unnest(FromJson(log).tags) as t lateral unnest(items) as i where kind = 'k2' and t <> i.id",
        "select i, t from stream lateral unnest(items) as i lateral unnest(FromJson(log).tags) as t where n % 7 = 1",
        "select count(*), count(distinct(@Timestamp)) from stream lateral unnest(items) as i where log like '%none%' or kind like '%5'",
        "select i.id, Length(log) from stream lateral unnest(items) as i where Length(log) > 12 and Contains(log, kind)",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn elements_are_those_of_events_that_pass_what_is_asked_of_these() {
    let memory = events();
    let of_kind = "select count(*) from stream lateral unnest(items) as i where kind = 'k3' and i.id = 1";
    let elements = agree(&memory, of_kind).elements;
    let all =
        agree(&memory, "select count(*) from stream lateral unnest(items) as i where i.id = 1").elements;
    assert_eq!((elements, all), (111, 990));
}

/// What is asked of events failed where no element came to it.
#[test]
fn what_no_element_comes_to_does_not_fail() {
    let event = |n: u64| {
        let document = format!(r#"{{"n":{n},"none":[],"some":["a"],"long":"{}"}}"#, "x".repeat(1 << 20));
        Event { instant: n, arrival: n, document }
    };
    let memory = Memory::blocks(&[&[&[event(0), event(1)]]]);
    let long = format!("Length(Replace(long, 'x', '{}')) > 5", "y".repeat(100));
    for text in [
        format!("select count(*) from stream lateral unnest(none) as x where {long}"),
        format!("select count(*) from stream lateral unnest(some) as x where x = 'b' and {long}"),
    ] {
        agree(&memory, &text);
    }
}

#[test]
fn arrays_and_objects_of_columns_are_those_of_events() {
    let memory = events();
    for text in [
        "select [kind, n, log] as a, {kind, n: n % 7, 'odd \"key\"': flags} as o from stream",
        "select count(*) from stream group by [kind, n % 3]",
        "select count(*), count(distinct([kind, items[0].id, nothing])) from stream group by {k: kind, i: items[0].id}",
        "select count(*) from stream lateral unnest([n, kind, items[0].id, null]) as x where x is not null group by x",
        "select {n, n: kind} as twice, {..flags, n} as spread, [..items, n] as more, [] as none, {} as empty from stream limit 300",
        "select {a: [n, {b: kind}], c: if n > 300 then 'late' else 1.50} as deep from stream where n % 50 = 3",
        "select [Round(n / 7, 2), n * 1.50, 'é\n\"'] as x from stream order by x limit 20",
        "select n from stream where [kind, n % 2] = ['k3', 1] or [n] in [[5], [7.0]]",
    ] {
        agree(&memory, text);
    }
}

/// Each of a row's parts was put together before it was told that they are too long.
#[test]
fn arrays_that_are_too_long_fail_as_those_of_events_do() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(r#"{{"n":{n},"long":"{}"}}"#, "x".repeat(2 << 20)),
    };
    let memory = Memory::blocks(&[&[&[event(0), event(1)]]]);
    let parts = ["long"; 40].join(", ");
    for text in
        [format!("select Length([{parts}]) as l from stream"), format!("select [{parts}] as a from stream")]
    {
        agree(&memory, &text);
    }
}

/// Objects whose members are numbers of several scales, or other values, in any order; in one block one has a key twice.
fn objects() -> Memory {
    let event = |n: u64| {
        let [a, b, c] = [
            format!(r#""a":{}.{}0"#, n % 50, n % 7),
            format!(r#""b":{n}"#),
            format!(r#""c":-0.{:03}"#, n % 999),
        ];
        let scores = match n % 6 {
            0 => format!("{{{a},{b}}}"),
            1 => format!("{{{c},{a},{b}}}"),
            2 => "{}".to_owned(),
            3 => format!("{{{b}}}"),
            4 => "7".to_owned(),
            _ if n == 4_499 => format!("{{{a},{a},{b}}}"),
            _ => format!("{{{b},{c}}}"),
        };
        let mixed = match n % 5 {
            0 => format!(r#"{{"x":{n},"y":"t{}","z":[1,{n}]}}"#, n % 40),
            1 => r#"{"y":null,"x":{"w":1}}"#.to_owned(),
            2 => format!(r#"{{"z":true,"x":"{n}","ü":1e2}}"#),
            3 => format!(r#"{{"key{}":{n}}}"#, n % 90),
            _ => "[1,2]".to_owned(),
        };
        // Objects of numbers alone, or nothing.
        let points = match n % 4 {
            0 => String::new(),
            1 => r#","p":{}"#.to_owned(),
            2 => format!(r#","p":{{{c},{a}}}"#),
            _ => format!(r#","p":{{{a},{b},{c}}}"#),
        };
        // Numbers, words and texts, none of which is spelled otherwise by functions.
        let times = match n % 7 {
            0 => format!(r#"{{"x":{n},"y":"t{}"}}"#, n % 40),
            1 => format!(r#"{{"_all":null,"x":{}.5,"y":"ü {n}"}}"#, n % 8),
            2 => format!(r#"{{"y":true,"x":null,"_all":{n}}}"#),
            3 => format!(r#"{{"y":"t{}","x":-{n}}}"#, n % 3),
            _ => "{}".to_owned(),
        };
        let document = format!(r#"{{"n":{n},"s":{scores},"of":{{"m":{mixed}}},"t":{times}{points}}}"#);
        Event { instant: n * 10_000_000, arrival: n, document }
    };
    let events: Vec<Event> = (0..4_500).map(event).collect();
    Memory::blocks(&[&[&events[..1_500]], &[&events[1_500..3_000]], &[&events[3_000..]]])
}

#[test]
fn values_of_objects_are_those_of_events() {
    let memory = objects();
    for rows in [
        "",
        " where n % 40 = 7",
        " where n % 3 = 1",
        " where n > 2990",
        " where v > 3",
        " where TypeOf(v) = 'string'",
        " where v = null or v = 7",
        " where not (v <> null)",
    ] {
        for of in ["s", "p", "t", "of.m", "of", "no"] {
            for query in [
                "select sum(v), count(*), max(v), min(v), count(v) from stream lateral unnest(Values({of})) as v{rows}",
                "select count(*) as c from stream lateral unnest(Values({of})) as v{rows} group by v order by c desc, v limit 40",
                "select n, v from stream lateral unnest(Values({of})) as v{rows} limit 300",
                "select v, n from stream lateral unnest(Values({of})) as v{rows} order by v desc limit 30",
                "select sum(v) as t from stream lateral unnest(Values({of})) as v{rows} group by @Id order by t desc, @Id limit 20",
                "select count(*), sum(n) from stream lateral unnest(Values({of})) as v lateral unnest(Keys({of})) as k{rows} group by k",
                "select count(*), sum(n) from stream lateral unnest(Values({of})) as v lateral unnest(v) as e{rows}",
            ] {
                agree(&memory, &query.replace("{rows}", rows).replace("{of}", of));
            }
        }
    }
}
