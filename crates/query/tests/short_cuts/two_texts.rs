//! What is asked of two texts of each event: what is false, what is undefined, and in which place one stands in the other.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Events with two texts, one of which mostly stands in the other; others have something else there, or nothing, and some escapes that bytes do not tell.
fn events() -> Memory {
    let event = |n: u64| {
        let part = match n % 11 {
            0 => "null".to_owned(),
            1 => "7".to_owned(),
            2 => r#""""#.to_owned(),
            3 => r#""\u006e""#.to_owned(),
            4 => r#""É\n""#.to_owned(),
            _ => format!(r#""s{}""#, n * 7 % 40),
        };
        let text = match n % 13 {
            0 => "null".to_owned(),
            1 => r#"["s7"]"#.to_owned(),
            2 => r#""\ud800 s7""#.to_owned(),
            3 => format!(r#""{} \n é\"s{} s1""#, n, n * 7 % 40),
            _ => format!(r#""S{}-é-s{}-{n}""#, n * 7 % 40, n * 7 % 40),
        };
        let part = if n % 17 == 5 { String::new() } else { format!(r#","part":{part}"#) };
        let text = if n % 19 == 6 { String::new() } else { format!(r#","text":{text}"#) };
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"kind":"s{}"{part}{text}}}"#, n % 40) }
    };
    let events: Vec<Event> = (0..1_500).map(event).collect();
    Memory::blocks(&[&[&events[..700]], &[&events[700..]]])
}

#[test]
fn conditions_on_two_texts_are_true_false_or_undefined_as_event_by_event() {
    let memory = events();
    for asked in [
        "Contains(text, part)",
        "StartsWith(text, part)",
        "EndsWith(text, part)",
        "Contains(text, part) ci",
        "StartsWith(text, part) ci",
        "StartsWith(text, Substring(part, 1))",
        "EndsWith(text, Concat('-', ToString(n)))",
        "Contains(part, kind)",
    ] {
        for condition in [
            asked.to_owned(),
            format!("not {asked}"),
            format!("not not {asked}"),
            format!("{asked} = false"),
            format!("{asked} is null"),
            format!("n % 7 = 0 and not {asked}"),
            format!("n % 300 = 0 and not {asked}"),
            format!("not ({asked} and kind = 's7')"),
            format!("if {asked} then n < 400 else n % 2 = 0"),
        ] {
            agree(&memory, &format!("select count(*) as c, sum(n) as s from stream where {condition}"));
        }
        agree(&memory, &format!("select count(*) as c from stream group by {asked} as g"));
        agree(&memory, &format!("select any({asked}) as a, all({asked}) as b from stream group by kind"));
        agree(&memory, &format!("select n, {asked} as v from stream where n % 3 = 1"));
    }
}

#[test]
fn places_of_texts_in_one_another_are_counted_as_event_by_event() {
    let memory = events();
    for asked in [
        "IndexOf(text, part)",
        "IndexOf(text, part) ci",
        "IndexOf(text, kind)",
        "IndexOf(text, Substring(part, 1))",
    ] {
        agree(
            &memory,
            &format!("select sum({asked}) as s, min({asked}) as m, count({asked}) as c from stream"),
        );
        agree(&memory, &format!("select count(*) as c from stream where {asked} > 5"));
        agree(&memory, &format!("select count(*) as c from stream where {asked} < IndexOf(text, '-')"));
        agree(&memory, &format!("select count(*) as c from stream group by {asked} as g"));
        agree(&memory, &format!("select n, {asked} as v from stream where n % 3 = 1"));
    }
}

#[test]
fn what_is_in_an_array_that_is_written_out_is_what_is_equal_to_an_element() {
    let memory = events();
    for asked in [
        "part in [kind, text]",
        "part in [kind, text] ci",
        "part in [text, null, n]",
        "part in [Substring(text, 0, 3), kind] ci",
        "text in [['s7'], part]",
        "n in [Length(text), Length(part)]",
        "part in [..[kind], text]",
        "part not in [kind, text]",
    ] {
        for condition in [asked.to_owned(), format!("not ({asked})"), format!("n % 5 = 0 and {asked}")] {
            agree(&memory, &format!("select count(*) as c, sum(n) as s from stream where {condition}"));
        }
        agree(&memory, &format!("select count(*) as c from stream group by {asked} as g"));
    }
}
