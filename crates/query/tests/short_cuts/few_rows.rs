//! Numbers that are reckoned for some rows of a block, by way of all of them or of those alone.

use crate::agree::{agree, agree_in_turn};
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
        "opened < closed",
        "Has(closed) and took >= Substring(closed, 8)",
        "Substring(took, 2) <= Substring(closed, 8, 3)",
        "closed > Concat(Substring(took, 2, 0), '2026-03-1', Substring(closed, 9))",
        "Contains(opened, Substring(closed, 4, 4)) and n % 2 = 0",
        "Contains(closed, Substring(took, 2, 1)) and StartsWith(opened, Substring(closed, 0, 7)) and ms > 9000",
    ] {
        for others in ["", " and n % 3 = 1", " and n % 200 = 7", " or n < 50"] {
            agree(&memory, &format!("select count(*), first(n) from stream where {condition}{others}"));
        }
        agree(&memory, &format!("select count(*) from stream where not ({condition})"));
    }
}

/// Lines of several programs, nearly all of which differ.
fn lines() -> Memory {
    let event = |n: u64| {
        let line = match n % 12 {
            0 => {
                format!(r#""[UFW] SRC=10.0.{}.{} DPT={} TTL={} ""#, n % 9, n % 250, n * 7 % 999, n * 31 % 255)
            }
            1 => format!(
                r#""2026-03-{:02} 10:{:02}:{:02}.{n:03} LOG:  done in {}.{} ms""#,
                n % 28 + 1,
                n % 60,
                n % 59,
                n,
                n % 10
            ),
            2 => format!(r#""größe {n}\n\tat org.Main({n})""#),
            3 => "null".to_owned(),
            4 => format!("{n}"),
            5 => format!(r#"["{n}"]"#),
            _ => format!(
                r#""GET /items/{n}?page={} by {}""#,
                n % 7,
                if n.is_multiple_of(2) { "Ann" } else { "ann" }
            ),
        };
        let program = ["ufw", "postgres", "java"].get(n as usize % 12).unwrap_or(&"nginx");
        let line = if n % 31 == 7 { String::new() } else { format!(r#","m":{line}"#) };
        let document = format!(r#"{{"n":{n},"p":"{program}"{line}}}"#);
        Event { instant: n * 10_000_000, arrival: n, document }
    };
    let events: Vec<Event> = (0..3_000).map(event).collect();
    Memory::blocks(&[&[&events[..1_000]], &[&events[1_000..]]])
}

#[test]
fn texts_that_few_rows_have_made_of_theirs_are_those_of_events() {
    let memory = lines();
    let makes = [
        r"ToNumber(Replace(m, /^.* TTL=(\d+) .*$/, '$1'))",
        r"Replace(m, /^.* DPT=(\d+) .*$/, '$1')",
        "DateTime(Substring(m, 0, 19)) - @Timestamp",
        "ToLower(m)",
        "Concat(p, ' ', Substring(m, 4, 6))",
        "Substring(m, IndexOf(m, 'by') + 3)",
        "Length(Replace(m, ' ', '')) + n",
        "Length(m) * 2 - n",
        "Length(m) - Length(Replace(m, 'a', ''))",
        "ToNumber(Replace(p, 'java', '61')) + n",
        "if StartsWith(m, 'GET') then ToUpper(Substring(m, 0, 9)) else n",
        "FromJson(Concat('[', Substring(m, 11, 2), ']'))[0]",
    ];
    for condition in [
        "p = 'ufw'",
        "p = 'postgres'",
        "n % 9 = 4",
        "m like '[UFW%'",
        "Contains(m, '7') and p = 'java'",
        "n < 6",
    ] {
        for made in makes {
            agree_in_turn(
                &memory,
                &[
                    "select count(*) from stream where Length(m) > 10",
                    &format!("select count(*) from stream where {condition} and {made} is not null"),
                    &format!("select n from stream where {condition} and {made} > 60"),
                    &format!("select n from stream where {condition} and not ({made} = 'get /items')"),
                    &format!("select n, {made} as made from stream where {condition}"),
                    &format!("select sum({made}), max({made}), count({made}) from stream where {condition}"),
                    &format!(
                        "select count(*) as c from stream where {condition} group by {made} order by c desc limit 9"
                    ),
                    &format!("select count(distinct({made})) from stream where {condition} group by p"),
                    &format!(
                        "select n, {made} as made from stream where {condition} order by made desc limit 5"
                    ),
                ],
            );
        }
    }
}
