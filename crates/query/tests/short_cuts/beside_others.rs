//! Numbers beside texts, null, Booleans and what is missing: compared with one another, and their extremes.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Of `few` one value in fifty is no number, of `many` every third, and of `most` all but a few; `n` has numbers only, `long` some that are spelled otherwise.
fn readings() -> Memory {
    let other = |n: u64| ["\"fault\"", "null", "true", "{}", "\"7\"", "[7]"][(n % 6) as usize].to_owned();
    let number = |n: u64| match n % 7 {
        0 => format!("{}", n % 40),
        1 => format!("{}.50", n % 40),
        2 => format!("-{}.25", n % 9),
        3 => "7".to_owned(),
        _ => format!("{}.5", n % 30),
    };
    let member = |key: &str, is_other: bool, n: u64| match (is_other, n % 11) {
        (_, 10) => String::new(),
        (true, _) => format!(r#","{key}":{}"#, other(n / 3)),
        (false, _) => format!(r#","{key}":{}"#, number(n)),
    };
    let event = |n: u64| {
        let few = member("few", n % 50 == 7, n * 31);
        let many = member("many", n.is_multiple_of(3), n * 17);
        let most = member("most", n % 40 != 5, n * 13);
        let long = if n % 20 == 3 { "7.0e0".to_owned() } else { number(n * 5) };
        let document = format!(r#"{{"n":{},"long":{long},"g":"g{}"{few}{many}{most}}}"#, n * 7 % 33, n % 13);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..5_000).map(event).collect();
    Memory::blocks(&[&[&events[..2_500]], &[&events[2_500..]]])
}

#[test]
fn numbers_beside_others_compare_as_those_of_events_do() {
    let memory = readings();
    for (left, right) in [
        ("few", "n"),
        ("few", "n + 1.25"),
        ("few", "many"),
        ("many", "n - long"),
        ("long", "few"),
        ("most", "n"),
        ("many", "most"),
        ("n * 2", "few"),
        ("few", "if n > 9 then long else n"),
    ] {
        for op in ["=", "<>", "<", "<=", ">", ">="] {
            agree(&memory, &format!("select count(*) from stream where {left} {op} {right}"));
            agree(&memory, &format!("select count(*) from stream where not ({left} {op} {right}) or n = 3"));
            agree(
                &memory,
                &format!("select count(*) as c from stream group by if {left} {op} {right} then g else 'no'"),
            );
        }
    }
}

#[test]
fn extremes_of_numbers_beside_others_are_those_of_events() {
    let memory = readings();
    for of in ["few", "many", "most", "long"] {
        agree(&memory, &format!("select min({of}), max({of}) from stream"));
        agree(
            &memory,
            &format!("select min({of}), max({of}), mean({of}) from stream where n > 4 group by g"),
        );
        agree(
            &memory,
            &format!("select max({of}) - min({of}) as r from stream group by g, n order by r desc limit 9"),
        );
        agree(&memory, &format!("select first({of}), last({of}) from stream group by n, time(1m)"));
    }
}
