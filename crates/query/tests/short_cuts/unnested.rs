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
