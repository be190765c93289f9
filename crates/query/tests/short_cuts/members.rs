//! Members of dotted paths, whose names are no identifiers: which of the readings of a path counts is told block by block.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Two blocks: in the first `a.b` is nested, in the second it is also a key of the event, or neither.
fn headers() -> Memory {
    let event = |n: u64| {
        let nested = match n % 7 {
            0 => "null".to_owned(),
            1 => format!(r#"{{"c-d":"{}"}}"#, n % 5),
            2 => format!(r#"{{"c-d":{n},"e f":[{n},"x",null]}}"#),
            3 => r#""text""#.to_owned(),
            4 => format!(r#"{{"e f":["y",{}],"in":{{"g-h":{n}}}}}"#, n % 3),
            _ => format!(r#"{{"c-d":null,"e f":"{n}"}}"#),
        };
        let document = match n {
            200.. if n.is_multiple_of(3) => {
                format!(r#"{{"n":{n},"a.b":{{"c-d":"own {}","e f":[{n}]}}}}"#, n % 4)
            }
            200.. if n % 3 == 1 => format!(r#"{{"n":{n},"a":{{"b":{nested}}},"a.b":{{"c-d":"other"}}}}"#),
            _ if n.is_multiple_of(13) => {
                format!(r#"{{"n":{n},"a":{{"b":{{"c-d":1,"c\u002dd":"{n}"}},"b":{nested}}}}}"#)
            }
            _ if n.is_multiple_of(11) => format!(r#"{{"n":{n}}}"#),
            _ => format!(r#"{{"n":{n},"a":{{"b":{nested}}}}}"#),
        };
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..400).map(event).collect();
    Memory::blocks(&[&[&events[..200]], &[&events[200..]]])
}

#[test]
fn members_of_dotted_paths_are_those_of_the_reading_that_has_a_value() {
    let memory = headers();
    for text in [
        "select n, a.b['c-d'], a.b['e f'] from stream",
        "select count(*), max(n), first(a.b['e f']) from stream group by a.b['c-d']",
        "select n from stream where a.b['c-d'] like '%1' or a.b['c-d'] > 100",
        "select n from stream where a.b['c-d'] is null",
        "select count(a.b['c-d']), count(distinct(a.b['c-d'])), sum(a.b['c-d']) from stream",
        "select n from stream where Has(a.b['c-d'])",
        "select count(*), min(x), max(x) from stream lateral unnest(a.b['e f']) as x group by x",
        "select n, x from stream lateral unnest(a.b['e f']) as x where x = 'y'",
        "select count(*) from stream where a.b['e f'][0] > 50 group by Length(a.b['e f'])",
        "select n from stream where a.b['e f'][?] = 'x'",
        "select sum(a.b['in']['g-h']), max(a.b.in['g-h']) from stream group by Substring(a.b['c-d'], 0, 3)",
        "select a.b['c-d'] as of, n from stream order by of desc, n limit 20",
        "select a.b, a.b['c-d'] from stream where a.b is not null or Has(a.b['e f'])",
        "select n from stream where Some(a.b['e f'], |x| x = a.b['c-d'])",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn members_of_paths_of_many_readings_and_of_many_members_are_those_of_events() {
    let memory = headers();
    let deep = |key: u32| format!("a.b.k{key}{}{}", ".c".repeat(40), "['c-d']".repeat(60));
    let columns: Vec<String> = (0..8).map(|key| format!("{} as x{key}", deep(key))).collect();
    agree(&memory, &format!("select n, a.b['c-d'], {} from stream", columns.join(", ")));
    let keys: Vec<String> = (0..600).map(|key| format!("a.b['c-d']['{key} x'] as x{key}")).collect();
    agree(&memory, &format!("select n, {}, a.b['in']['g-h'] from stream", keys.join(", ")));
}
