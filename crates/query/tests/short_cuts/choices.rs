//! Texts that are made of others by a choice, or of numbers by way of fewer ones.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Signs of aircraft, some of which are missing or something else; the second block has none that is spelled with escapes.
fn signs() -> Memory {
    let event = |n: u64| {
        let sign = match (n % 13, n < 2_000) {
            (0, _) => return Event { instant: n, arrival: n, document: format!(r#"{{"n":{n}}}"#) },
            (1, true) => "null".to_owned(),
            (2, true) => format!("{n}"),
            (3, true) => r#""N\n""#.to_owned(),
            (4, true) => r#""\\n""#.to_owned(),
            (5, true) => r#""Nö-x""#.to_owned(),
            (6, true) => r#"["N1"]"#.to_owned(),
            (7, _) => format!(r#""N{}AB""#, n * 7 % 900),
            (8, _) => r#""""#.to_owned(),
            (9, _) => r#""N""#.to_owned(),
            (rest, _) => format!(r#""{}-{}n""#, ["F", "D", "HB"][rest as usize % 3], n * 31 % 977),
        };
        let seats = if n.is_multiple_of(29) { "null".to_owned() } else { format!("{}", n * 7919 % 2500) };
        let rate = format!("{}.{}", n * 31 % 700, n % 9 + 1);
        let document = format!(r#"{{"n":{n},"sign":{sign},"seats":{seats},"rate":{rate}}}"#);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..6_000).map(event).collect();
    Memory::blocks(&[&[&events[..2_000]], &[&events[2_000..]]])
}

#[test]
fn texts_by_a_choice_are_those_of_events() {
    let memory = signs();
    for expr in [
        "Substring(sign, 0, if StartsWith(sign, 'N') then 1 else 3)",
        "Substring(sign, if EndsWith(sign, 'n') then 1 else 0)",
        "if StartsWith(sign, 'N') then 'US' else Substring(sign, 0, IndexOf(sign, '-'))",
        "if EndsWith(sign, 'n') then ToLower(sign) else 'none'",
        "if StartsWith(sign, 'N') then 1 else 3",
        "if StartsWith(sign, 'N') then Length(sign) else LastIndexOf(sign, '-')",
        "if StartsWith(sign, '') then 'a' else sign",
        "Concat('x', if EndsWith(sign, 'B') then sign else ToUpper(sign))",
        "Replace(sign, '-', '') = sign",
        "ToNumber(if StartsWith(sign, 'N') then Substring(sign, 1, 2) else sign)",
    ] {
        agree(&memory, &format!("select count(*), first(n) from stream group by {expr}"));
        agree(&memory, &format!("select count(distinct({expr})), max({expr}) from stream where n > 70"));
    }
}

#[test]
fn texts_of_rounded_numbers_are_those_of_events() {
    let memory = signs();
    for expr in [
        "Concat('seats ', ToString(Round(seats / 1000)))",
        "Substring(ToString(seats * 2), 0, 1)",
        "Concat(ToString(Round(rate)), '/', ToString(seats % 3))",
        "Length(ToString(Round(rate / 7)))",
        "Concat(ToString(Round(rate / 100)), 'x')",
        "if Round(seats / 1000) = 1 then 'one' else ToString(seats)",
        "Coalesce(ToString(Round(seats / 500)), 'none')",
    ] {
        agree(&memory, &format!("select count(*), first(n) from stream group by {expr}"));
        agree(&memory, &format!("select count(*) from stream where {expr} > '1' or n < 9"));
    }
}
