//! Texts that are cut, joined and compared, as people ask of what servers write.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Replies of mail servers, with what they say in several spellings.
fn replies() -> Memory {
    let event = |n: u64| {
        let code = match n % 23 {
            0 => "\"250\"".to_owned(),
            1 => "null".to_owned(),
            2 => "250.0".to_owned(),
            _ => (250 + n * 7 % 300).to_string(),
        };
        let text = match n % 6 {
            0 => format!("{} 2.0.0 OK id={n}", 250 + n * 7 % 300),
            1 => format!("421 [198.51.{}.7] \\\"later\\\" ms={}", n % 9, n % 40),
            2 => format!("250 queued ms={n} ms={}", n % 40),
            3 => format!("zoé said 5\\u00300{} [10.x] [10.{}.1]", n % 3, n % 11),
            4 => format!("ab\\\"c{}", n * 7919 % 1009),
            _ => format!("ab{}", n * 7919 % 1009),
        };
        let zone = match n % 9 {
            0 => String::new(),
            1 => "\"zone\":7,".to_owned(),
            n => format!(
                "\"zone\":\"{}\",",
                ["Europe/Berlin", "America/New_York", "Asia/Kolkata"][n as usize % 3]
            ),
        };
        let reply = if n.is_multiple_of(37) { String::new() } else { format!(r#""reply":"{text}","#) };
        let document = format!(
            r#"{{{reply}{zone}"code":{code},"host":"web-{:02}","thread":{},"to":"u{}@d{}.example","url":"<https://em{}.example/u/{n}>, <x>","n":{n},"id":"<{:x}@m>"}}"#,
            n % 11,
            n * 31 % 87,
            n % 300,
            n % 5,
            n % 7,
            n * 2_654_435_761 % 100_003,
        );
        Event { instant: 638_000_000_000_000_000 + n * 1_234_567_891, arrival: n, document }
    };
    let events: Vec<Event> = (0..4000).map(event).collect();
    Memory::blocks(&[&[&events[..2300]], &[&events[2300..]]])
}

#[test]
fn groups_of_patterns_replace_texts() {
    let memory = replies();
    let withs = ["$1", "<$1>", "${1}x$0", "$2$1", "plain"];
    let patterns = [
        r"^.*ms=([0-9]+)$",
        r"^(\d+) .*$",
        r"^<https:\/\/([^\/]+)\/.*$",
        r"ms=(\d+)",
        r"^.*\[(\d+)\..*$",
        r"^(\w+)\s(.+?) .*$",
        r"(a|b)+",
        r"^.*=",
    ];
    for (n, pattern) in patterns.iter().enumerate() {
        for (m, path) in ["reply", "url"].iter().enumerate() {
            let with = withs[(n + m) % withs.len()];
            let cut = format!("Replace({path}, /{pattern}/, '{with}')");
            agree(&memory, &format!("select count(*), min(n) from stream group by {cut} as cut"));
        }
    }
}

#[test]
fn parts_of_texts_are_told_by_how_they_begin() {
    let memory = replies();
    for part in [
        "0, 3",
        "2, 40",
        "0, IndexOf(reply, ' ')",
        "1, IndexOf(reply, 'o') + 2",
        "3, IndexOf(reply, '0') - 5",
        "300, 1",
        "0, 0",
        "4, 4294967000",
        "0, IndexOf(reply, 'no')",
    ] {
        agree(
            &memory,
            &format!("select count(*), min(n) from stream group by Substring(reply, {part}) as part"),
        );
    }
}

#[test]
fn texts_are_joined_of_what_is_computed() {
    let memory = replies();
    for text in [
        "select count(*) from stream group by Concat(host, ':', ToString(thread))",
        "select count(distinct(Concat(host, ':', ToString(thread)))) from stream group by time(1h), host",
        "select count(distinct(Concat(host, '/', Substring(to, IndexOf(to, '@') + 1)))) from stream group by time(1h)",
        "select sum(n) from stream group by Concat(to, '>', ToString(code), Concat(':', ToString(n % 7))) as conn",
        "select count(*) from stream group by Concat(Concat(Concat(host, ToString(code)), zone), ToUpper(to))",
        "select count(*) from stream where Concat(Substring(reply, 0, 3), '-', ToString(thread)) = '421-30' or n < 7",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn texts_that_are_made_of_numbers_are_compared() {
    let memory = replies();
    for text in [
        "select count(*) from stream where Substring(reply, 0, 3) <> ToString(code)",
        "select count(*), sum(n) from stream where Substring(reply, 0, 3) = ToString(code)",
        "select count(*) from stream where ToString(thread) = Substring(ToString(n), 1)",
        "select count(*) from stream where ToString(n % 90) <> ToString(thread) and n > 40",
        "select count(*) from stream where ToHexString(n) = Substring(id, 1, 3) or Concat(host, to) = ToString(code)",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn a_zone_of_each_event_tells_its_clock() {
    let memory = replies();
    for text in [
        "select count(*) from stream group by DatePart(@Timestamp, 'weekday', OffsetIn(zone, @Timestamp)) as d, DatePart(@Timestamp, 'hour', OffsetIn(zone, @Timestamp)) as h",
        "select sum(OffsetIn(zone, @Timestamp)), count(OffsetIn(zone, @Timestamp)) from stream group by host",
        "select max(TimeOfDay(@Timestamp, OffsetIn(zone, @Timestamp))) from stream where TimeOfDay(@Timestamp, OffsetIn(zone, @Timestamp)) < 9h",
        "select count(*) from stream group by OffsetIn(host, @Timestamp)",
        "select count(*) from stream group by DatePart(@Timestamp + thread * 1h, 'hour', OffsetIn(zone, @Timestamp))",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn the_least_and_greatest_texts_are_told_by_how_they_begin() {
    let memory = replies();
    for key in
        ["", " group by host", " group by to", " group by host, thread", " group by id", " group by n % 900"]
    {
        agree(
            &memory,
            &format!("select min(reply), max(reply), min(id), max(url), max(to) from stream{key}"),
        );
        agree(
            &memory,
            &format!("select max(reply) as z, min(code) as c, first(n) from stream where n % 3 = 1{key}"),
        );
    }
}

#[test]
fn what_let_names_is_worth_the_same() {
    let memory = replies();
    for text in [
        "select count(*) from stream group by let |at: IndexOf(to, '@'), domain: Substring(to, at + 1)| if domain = 'd1.example' then host else domain",
        "select count(*) from stream where let |h: host, t: thread| h = 'web-03' and t > 20 and Some([t, n], |x| x > t)",
        "select sum(let |x: n * 2, y: x + thread| x * y - x) from stream group by let |z: zone| z",
        "select let |y: sum(n), k: count(*)| y / k - let |y: 7| y + k as m from stream group by let |h: host| h as h order by m limit 9",
        "select let |d: {n, of: [thread, 2]}, t: d.of[0]| t + d.n as s from stream where let |z: zone| z is null limit 30",
        "select count(*) from stream where let |a: n, b: let |a: thread, c: a + 1| c * a| b > a and Every([1, 2], |a| a < b)",
    ] {
        agree(&memory, text);
    }
}
