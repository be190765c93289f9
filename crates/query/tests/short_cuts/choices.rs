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

/// Prices, some spelled with zeros at their end, and some that are missing or no numbers.
fn prices() -> Memory {
    let event = |n: u64| {
        let price = match n % 17 {
            0 => String::new(),
            1 => r#","price":null"#.to_owned(),
            2 if n < 1_000 => r#","price":"12.5""#.to_owned(),
            3 if n < 1_000 => r#","price":1.5e1"#.to_owned(),
            rest if rest % 4 == 0 => format!(r#","price":{}.{}0"#, n * 31 % 90, n % 10),
            _ => format!(r#","price":{}.{:02}"#, n * 7 % 50, n * 13 % 100),
        };
        let currency = ["EUR", "NOK", "PLN", "DKK"][n as usize * 7 % 11 % 4];
        let quantity = n * 5 % 8;
        let document = format!(r#"{{"n":{n},"currency":"{currency}","quantity":{quantity}{price}}}"#);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..5_000).map(event).collect();
    Memory::blocks(&[&[&events[..1_000]], &[&events[1_000..]]])
}

#[test]
fn numbers_by_a_choice_are_those_of_events_however_they_are_spelled() {
    let memory = prices();
    for expr in [
        "if currency = 'NOK' then price / 11.7 else if currency = 'PLN' then price / 4.25 else price",
        "if currency = 'NOK' then price else 1.50",
        "if price > 20 then price / quantity else undefined()",
        "if quantity = 3 then null else price / 3",
        "if quantity = 3 then 'none' else price * 1.10",
        "if currency in ['EUR', 'DKK'] then price * quantity else price / 7",
        "Coalesce(price, quantity / 3)",
        "Coalesce(if quantity = 2 then price / 3 else price, 2.50)",
        "(if currency = 'NOK' then price / 11.7 else price) * quantity",
    ] {
        for rows in ["", " where n % 3 = 1", " where currency = 'NOK'", " where n % 200 = 7"] {
            agree(&memory, &format!("select sum({expr}), mean({expr}) from stream{rows}"));
            agree(
                &memory,
                &format!("select sum({expr}), min({expr}), max({expr}) from stream{rows} group by currency"),
            );
        }
        agree(&memory, &format!("select count(distinct({expr})), percentile({expr}, 50) from stream"));
        agree(
            &memory,
            &format!("select n, {expr} as value from stream where n < 1200 order by value desc limit 9"),
        );
    }
}

#[test]
fn what_is_asked_of_texts_that_rows_share_is_told_of_all_entries_as_of_events() {
    let memory = signs();
    for condition in [
        "IndexOf(sign, '-') > 1",
        "IndexOf(sign, 'N') <> 0",
        "Length(sign) - IndexOf(sign, '-') >= 4",
        "IndexOf(sign, '1') < LastIndexOf(sign, '1')",
        "IndexOf(sign, 'n') / 3 > 1.5",
        "StartsWith(sign, ToUpper(Substring(sign, 0, 2)))",
        "EndsWith(sign, ToLower(Substring(sign, 2))) and n > 9",
        "Contains(sign, Substring(sign, 1, 1))",
        "Substring(sign, IndexOf(sign, '-') + 1) > '5'",
        "Replace(sign, /[0-9]+/, '#') = 'F-#n'",
        "ToNumber(Substring(sign, IndexOf(sign, '-') + 1, 2)) > 50",
        "TypeOf(IndexOf(sign, 'a')) = 'undefined'",
    ] {
        agree(&memory, &format!("select count(*), first(n) from stream where {condition}"));
        agree(&memory, &format!("select count(*) from stream where not ({condition}) or n < 50"));
        agree(&memory, &format!("select count(*) from stream group by {condition}"));
    }
    for number in [
        "IndexOf(sign, '-')",
        "LastIndexOf(sign, '1') + 1",
        "Length(Substring(sign, 1)) - IndexOf(sign, '7')",
    ] {
        for rows in ["", " where n % 3 = 1", " where n % 100 = 7"] {
            agree(
                &memory,
                &format!("select sum({number}), max({number}), count({number}) from stream{rows}"),
            );
            agree(
                &memory,
                &format!("select mean({number} * seats), min({number}) from stream{rows} group by seats % 3"),
            );
        }
    }
}

#[test]
fn a_choice_of_numbers_keeps_how_documents_spell_them() {
    for document in [r#"{"n":1e2,"o":1}"#, r#"{"n":100.0,"o":2.50}"#, r#"{"n":-0,"o":1E1}"#] {
        let memory = Memory::new(&[document]);
        for choice in [
            "Coalesce(n)",
            "Coalesce(n, o)",
            "Coalesce(x, n, o)",
            "if o > 0 then n else o",
            "if o < 0 then n else o",
        ] {
            agree(&memory, &format!("select {choice} as chosen from stream"));
            agree(&memory, &format!("select count(*) from stream group by {choice}"));
            agree(&memory, &format!("select distinct({choice}) from stream"));
            agree(&memory, &format!("select sum({choice}) from stream"));
        }
    }
}
