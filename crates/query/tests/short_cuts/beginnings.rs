//! Functions of texts that the literals at the start of their templates tell, and how long texts in pieces are.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Messages of some templates, of which some begin with what differs, have escapes or other characters at their start, or are missing.
fn messages() -> Memory {
    let event = |n: u64| {
        let message = match n % 9 {
            0 => String::new(),
            1 => format!(r#""m":"{n} orders came","#),
            2 => format!(r#""m":"Gr\"ün {n} was left","#),
            3 => r#""m":"GET / is up","#.to_owned(),
            4 => format!(r#""m":"Zürich {n} is told","#),
            5 | 6 => format!(r#""m":"GET /orders/{n} took {} ms","#, n * 37 % 900),
            _ => format!(r#""m":"POST /items/{} was sent to {n}","#, n * 7919 % 1_000),
        };
        let document = format!(r#"{{{message}"n":{n},"user":"u{}"}}"#, n % 5);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..4500).map(event).collect();
    Memory::blocks(&[&[&events[..2500]], &[&events[2500..]]])
}

#[test]
fn what_beginnings_tell_of_texts_is_what_whole_texts_come_to() {
    let memory = messages();
    for of in [
        "Substring(m, 0, 3)",
        "Substring(m, 0, 0)",
        "Substring(m, 1, 4)",
        "Substring(m, 3, 2)",
        "Substring(m, 40, 2)",
        "Substring(m, -1, 2)",
        "Substring(m, 0, -1)",
        "ToUpper(Substring(m, 0, 4))",
        "Replace(Substring(m, 0, 5), 'T', 'p')",
        "Concat('a', Substring(m, 0, 2))",
        "Concat(Substring(m, 0, 2), user)",
        "IndexOf(m, '/')",
        "IndexOf(m, '/') + 1",
        "IndexOf(m, '')",
        "IndexOf(m, 'rü')",
        "LastIndexOf(m, '/')",
        "Substring(m, 0, IndexOf(m, '/'))",
        "Substring(m, IndexOf(m, ' '), 2)",
        "Substring(m, 0, IndexOf(Concat(Substring(m, 1), '/'), '/') + 1)",
        "Length(m)",
        "Length(Substring(m, 0, 3))",
        "Substring(Concat('日本語', m), 0, 2)",
        "IndexOf(Concat('grün ', m), 'G')",
    ] {
        for query in [
            format!("select count(*), min(n) from stream group by {of}"),
            format!("select count(distinct({of})) from stream where user <> 'u3'"),
            format!("select {of} from stream where n % 100 = 5"),
            format!("select count(*) from stream where {of} = 'GET'"),
            format!("select max({of}), first({of}) from stream group by user"),
        ] {
            agree(&memory, &query);
        }
    }
}
