//! Numbers that are reckoned for some rows of a block, by way of all of them or of those alone.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Tickets with times as texts, some of which are missing, no times, or no texts.
fn tickets() -> Memory {
    let event = |n: u64| {
        let time =
            |n: u64| format!(r#""2026-03-{:02}T{:02}:{:02}:00Z""#, n % 28 + 1, n * 7 % 24, n * 13 % 60);
        let opened = match n % 19 {
            0 => "null".to_owned(),
            1 => r#""soon""#.to_owned(),
            2 => format!("{n}"),
            _ => time(n * 11 % 700),
        };
        let closed = if n % 9 == 4 { format!(r#","closed":{}"#, time(n * 5)) } else { String::new() };
        let milliseconds = n * 7919 % 90_000;
        let document =
            format!(r#"{{"n":{n},"opened":{opened}{closed},"ms":{milliseconds},"took":"PT{}S"}}"#, n % 90);
        Event { instant: n * 10_000_000, arrival: n, document }
    };
    let events: Vec<Event> = (0..6_000).map(event).collect();
    Memory::blocks(&[&[&events[..1_500]], &[&events[1_500..]]])
}

#[test]
fn times_and_rounded_numbers_of_few_rows_are_those_of_events() {
    let memory = tickets();
    for expr in [
        "TotalMilliseconds(DateTime(closed) - DateTime(opened)) / 3600000",
        "DateTime(closed) - @Timestamp",
        "TotalMilliseconds(DateTime(opened) - @Timestamp)",
        "TotalMilliseconds(TimeSpan(took)) / 7",
        "Round(ms / 1000, 1)",
        "Round(ms / n, 2) * 2",
        "Round((@Timestamp - DateTime(closed)) / 5m)",
        "(@Timestamp - DateTime('1970-01-01')) / 1s - ms",
        "DateTime('1970-01-01') + ms * 1ms",
        "@Timestamp - DateTime(Concat(Substring(opened, 0, 4), '-', Substring(opened, 5, 2), '-', Substring(opened, 8, 2)))",
        "DateTime(Replace(closed, 'T', ' ')) - @Timestamp",
        "TotalMilliseconds(TimeSpan(Concat('0', Substring(took, 2, 1), ':00:0', ToString(n % 7))))",
        "Substring(ToIsoString(DateTime('1970-01-01') + if n % 4 = 0 then ms else null * 1s), 11, 2)",
        "ToIsoString(DateTime(closed) + ms * 1ms)",
        "ToIsoString(DateTime(opened) - 9999999999999 * 1h)",
        "9223372036854775807 - n",
        "-9223372036854775808 + ms",
        "n + 638000000000000000.5",
        "12345678901234567890 - n",
        "(ms - ms % 1000) / 1000",
        "ms / 7 * 7",
        "n * 6 / 3",
        "if ms > 4000 then Round(ms / 1000) else DateTime(closed) - DateTime(opened)",
    ] {
        for rows in
            ["", " where n % 3 = 1", " where n % 40 = 7", " where n > 5980", " where closed is not null"]
        {
            agree(&memory, &format!("select mean({expr}), max({expr}), count({expr}) from stream{rows}"));
            agree(
                &memory,
                &format!(
                    "select count(*) as n from stream{rows} group by {expr} as k order by n desc, k limit 20"
                ),
            );
        }
        agree(
            &memory,
            &format!("select n, {expr} as value from stream where n % 50 = 7 order by value limit 20"),
        );
    }
}

#[test]
fn what_is_asked_of_two_texts_of_a_row_is_told_as_of_events() {
    let memory = tickets();
    for condition in [
        "Substring(opened, 0, 10) = Substring(closed, 0, 10)",
        "Substring(opened, 0, 7) <> Substring(closed, 0, 7)",
        "Substring(opened, 8, 2) = ToLower(Substring(took, 2, 2))",
        "opened <> Concat(Substring(closed, 0, 19), 'Z')",
        "Contains(opened, Substring(closed, 4, 4)) and n % 2 = 0",
        "Contains(closed, Substring(took, 2, 1)) and StartsWith(opened, Substring(closed, 0, 7)) and ms > 9000",
    ] {
        for others in ["", " and n % 3 = 1", " and n % 200 = 7", " or n < 50"] {
            agree(&memory, &format!("select count(*), first(n) from stream where {condition}{others}"));
        }
        agree(&memory, &format!("select count(*) from stream where not ({condition})"));
    }
}
