//! Numbers of many digits and of many scales, some of them beside null: what columns make of them; and collections within collections.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Some blocks of events. `t` is mostly a number that a mantissa of its column's scale has no room for, `ns` one of nineteen digits, `d` null in some events.
fn readings() -> Memory {
    let event = |n: u64| {
        let t = match n % 17 {
            3 => "null".to_owned(),
            5 => "-0.0012345678901234567".to_owned(),
            7 => format!("{}e-7", n % 9 + 1),
            9 => format!("{}.50", n % 50),
            11 => "1234567890123456.75".to_owned(),
            _ => format!("{}.{:015}", n * 37 % 90, n * 7_919_123_456_789 % 1_000_000_000_000_000),
        };
        let d = match n % 5 {
            0 => "null".to_owned(),
            1 => "-0.0".to_owned(),
            rest => format!("{}", n * 13 % 200 + rest),
        };
        let inner: Vec<String> = (0..n % 4)
            .map(|of| match of {
                0 => format!("[{n},\"a,]\\\"{}\",[{of}]]", n % 3),
                1 => "[]".to_owned(),
                2 => format!("[{},null,{{\"k\":[1,2]}}]", n % 7),
                _ => "\"no array\"".to_owned(),
            })
            .collect();
        let of = |divisor: u64| (n * 1_000_003 % 977, n % divisor);
        let ((a, b), (_, c)) = (of(13), of(5));
        let document = format!(
            r#"{{"n":{n},"t":{t},"d":{d},"ns":{},"a":{a},"b":{b},"c":{c}.{b}5,"user":"u{}","pos":[{}.25,{d}],"list":[{}],"m":"x{}y_{}%"}}"#,
            1_772_366_400_123_456_789u64 + n * 1_000_000_007,
            n % 11,
            n * 3 % 100,
            inner.join(","),
            n % 23,
            n % 4,
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..2600).map(event).collect();
    Memory::blocks(&[&[&events[..1200]], &[&events[1200..2500]], &[&events[2500..]]])
}

#[test]
fn quotients_are_those_of_events() {
    let memory = readings();
    for text in [
        "select mean(a / b), sum(a / b), max(a / b), min(a / b) from stream",
        "select mean(a / b), sum(b / a), max(a / c), min(c / a) from stream group by user",
        "select mean(a / b) as m from stream group by a order by m desc limit 20",
        "select mean(t / d), sum(d / t), max(t / c), min(c / t) from stream",
        "select mean(t / d), sum(a / t), max(ns / t), min(t / ns) from stream group by user",
        "select sum(ns / 7), mean(ns / a), max(-a / b) from stream where n > 40 group by b",
        "select count(*) from stream group by Round(a / b), Round(a / 60, 2)",
        "select count(*) from stream group by Round(t / b, 3)",
        "select count(*) from stream group by Round(t / 10) * 10",
        "select count(*) from stream where a / b > 30 or t / b < 0.1 or Round(a / c, 1) = 2.5",
        "select n, a / b as q from stream order by q desc limit 15",
        "select n, t / b as q from stream order by q limit 15",
        "select mean(a / (b + 1) / 3), sum((a + b) / (a - b)), stddev(a / b) from stream",
        "select stddev(a / b), variance(b / a), stddev(a / c - 5), variance(a / b / c) from stream group by user",
        "select sum(a / b - 20), mean(a / b + b / a), sum(a / b - a / b), mean(7 - a / c) from stream group by user",
        "select sum((a / b) ^ 2), mean((a / b) ^ 2 - c / a), sum(((a / b) ^ 2 + 1) ^ 2), mean(a / (b / c)) from stream",
        "select sum(a / b * 100), mean(a / b * c * 0.01), sum(a * (1 + b / c)), mean(t * (1 + b / c)) from stream",
        "select sum(a / b * 4 / 3 + 1), mean((a / b + 1) / (c / b - 2)), sum(ns / b / 3), sum(d / b - t) from stream",
        "select max(a / b - 20), min(a / b - a / c), percentile(a / b - 20, 30), count(distinct(a / b - 1)) from stream",
        "select count(*) from stream where a / b - 20 > 0 or a / c + b / c < 9",
        "select n, a / b - 20 as q from stream order by q limit 15",
        "select sum(a / b) as s, mean(a / b / c), min(a / b), max(b / a * 7.5) from stream group by n order by s desc limit 30",
        "select mean(a / b * c), sum((a - b) / a * 100), sum((1 + b / c) * a) from stream group by n % 900 limit 30",
        "select sum(7 - a / b), mean(100 / (a / b)), sum(2.5 / (1 + a / b)), sum(a / 0.007 / b) from stream group by user",
        "select sum(ns / b / c), mean(ns / a * 1000), sum(ns / (a / b)), max(t / b / c) from stream group by b",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn numbers_of_many_digits_are_those_of_events() {
    let memory = readings();
    for text in [
        "select sum(t), mean(t), min(t), max(t), count(t), count(distinct(t)) from stream",
        "select sum(t), mean(t), min(t), max(t), first(t), last(t), percentile(t, 50) from stream group by user",
        "select max(t) - min(t) as s from stream group by user order by s desc limit 4",
        "select sum(t * 1.8 + 32), max(t * 1.8 + 32), min(t * a), max(t * t), mean(t * t) from stream group by user",
        "select count(*) from stream where t > 35",
        "select count(*) from stream where t <> 35",
        "select count(*) from stream where t <= 0 or a > 900 or t = 1234567890123456.75",
        "select count(*) from stream where not (t > 35)",
        "select count(*) from stream group by t > 35",
        "select n, t from stream order by t limit 25",
        "select n, t from stream order by t desc limit 25",
        "select n, t from stream where t is not null order by t limit 25",
        "select n, t * 3 as x from stream order by x desc limit 25",
        "select n, t * t as x from stream where n > 20 order by x limit 25",
        "select count(distinct(ns)), min(ns), max(ns), sum(ns) from stream",
        "select sum(ns % 1000), max(ns - 1), min(ns + a) from stream group by user",
        "select count(*) from stream group by ns % 7",
        "select ns from stream order by ns desc limit 5",
        "select count(*) from stream where ns > 1772366400123456789 and ns in [1772366405123456824]",
        "select count(*) from stream group by ns order by ns limit 3",
        "select sum((a ^ 2 + b ^ 2) ^ 0.5), max(t ^ 0.5), min(a ^ -1), max(d ^ 1.5) from stream",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn choices_of_numbers_and_null_are_those_of_events() {
    let memory = readings();
    for text in [
        "select sum(if n > 9 then d else 0), max(if n > 9 then d * 2 else d), min(if d > 3 then a else d) from stream",
        "select mean(if b > 3 then d else t), first(if b > 3 then d else a), count(if b > 3 then d else a) from stream group by user",
        "select sum(Coalesce(d, 1)), max(Coalesce(if b > 3 then d else null, a)) from stream group by user",
        "select count(*) from stream where (if b > 3 then d else a) <> 5",
        "select count(*) from stream group by if b > 3 then d else null",
        "select sum((if b > 3 then d else 1) + 1), count(*) from stream where (if b > 3 then d else 1) < 90",
        "select min(pos[0]), max(pos[1]), mean(pos[0] * pos[1]), count(pos[1]) from stream group by user",
        "select count(*) from stream group by Round(pos[0] / 10), Round(pos[1] / 10)",
        "select count(*), sum(pos[1]) from stream where pos[1] is null or pos[0] > 50 group by pos[1]",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn collections_within_collections_are_those_of_events() {
    let memory = readings();
    for text in [
        "select count(*), sum(x) from stream lateral unnest(list) as r lateral unnest(r) as x",
        "select count(*) as c, max(Length(r)), sum(Length(r)) from stream lateral unnest(list) as r group by TypeOf(r)",
        "select count(*) from stream lateral unnest(list) as r lateral unnest(r) as x where x > 3 and b < 9 group by user",
        "select n, r, x from stream lateral unnest(list) as r lateral unnest(r) as x where n > 7 limit 40",
        "select n, x from stream lateral unnest(list) as r lateral unnest(r) as x order by time desc limit 40",
        "select x, k, user from stream lateral unnest(list) as r lateral unnest(r) as x lateral unnest(x.k) as k limit 30",
        "select count(*), sum(y) from stream lateral unnest(pos) as x lateral unnest(pos) as y group by x",
        "select count(*) from stream lateral unnest(list) as r lateral unnest([r, n]) as x group by TypeOf(x)",
        "select count(*) from stream lateral unnest(list) as r lateral unnest(r.no) as x",
        "select sum(v), max(v), min(v) from stream lateral unnest(pos) as v group by user",
    ] {
        agree(&memory, text);
    }
}

#[test]
fn patterns_with_any_character_are_those_of_events() {
    let memory = readings();
    for pattern in ["x_y%", "%y__%", "x1_y%", "%_y__2%", "x%_y___%%", "_1%", "%1_y%2_", "%S_I%"] {
        agree(&memory, &format!("select count(*) from stream where m like '{pattern}'"));
        agree(&memory, &format!("select count(*) from stream where m not like '{pattern}'"));
        agree(&memory, &format!("select count(*) from stream group by m like '{pattern}'"));
    }
}

/// Each quotient has room for its digits, and their sum has not in 128 bits.
#[test]
fn great_quotients_are_added_up_as_those_of_events() {
    let event = |n: u64| {
        let (of, by) = (700_000_000_000_000 + n * 999_999_937, n % 7 * 10_000 + 99_991);
        let document = format!(r#"{{"n":{n},"of":{of},"by":{by},"c":{}.5,"user":"u{}"}}"#, n % 9, n % 3);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..3000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..1500]], &[&events[1500..]]]);
    for text in [
        "select sum(of / by), mean(of / by), max(of / by), stddev(of / by) from stream",
        "select sum(of / by), mean(0 - of / by), variance(of / by) from stream group by user",
        "select sum(of / by / 3), mean(of / by * 0.37), sum(of / by - c) from stream",
        "select sum(of / by / c), mean(of / by * c), sum(of / (by / c)) from stream group by user",
        "select sum(of / by) as s from stream group by n % 1000 order by s desc limit 9",
    ] {
        agree(&memory, text);
    }
}

/// More quotients than have room in parts are added up in turns. Only elements of arrays are so many in one block.
#[test]
fn sums_of_more_quotients_than_parts_have_room_for() {
    let elements = |event: u64| {
        let element = |n: u64| {
            let (a, b) = (900_000_000 - (event * 7 + n) % 1_000, n % 97 + 1);
            format!(r#"{{"a":{a},"b":{b},"k":{}}}"#, n % 3)
        };
        (0..14_000).map(element).collect::<Vec<_>>().join(",")
    };
    let event = |n: u64| Event { instant: n, arrival: n, document: format!(r#"{{"L":[{}]}}"#, elements(n)) };
    let events: Vec<Event> = (0..5).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for by in ["", " group by e.k"] {
        agree(
            &memory,
            &format!("select sum(e.a / e.b), mean(e.a / e.b / 7) from stream lateral unnest(L) as e{by}"),
        );
    }
}
