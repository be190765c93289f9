//! Conditions, choices, times and numbers that are computed of whole columns.

use crate::agree::{agree, agree_in_turn};
use crate::memory::{Event, Memory};

/// Some thousand events over some days, with keys of few values and of many, some absent or of several kinds. `m` is a number in most of them.
fn days() -> Memory {
    const CITIES: [&str; 6] = ["Bern", "Zürich", "", "a\\\"b", "Wil", "\\ud800"];
    let event = |n: u64| {
        let few = if n.is_multiple_of(3) {
            format!(r#""city":"{}","#, CITIES[(n / 3 % 6) as usize])
        } else {
            String::new()
        };
        let kinds = ["1", "1.0", "\"x\"", "null", "true", "[1]", "2.50", "1e2"][(n * 7 % 8) as usize];
        let number =
            if n.is_multiple_of(4) { String::new() } else { format!(r#""e":{}.{},"#, n * 37 % 900, n % 10) };
        let mixed = match n % 29 {
            3 | 4 => "null".to_owned(),
            7 => "5.2e-05".to_owned(),
            11 => "1.5E2".to_owned(),
            13 if n.is_multiple_of(2) => "\"n/a\"".to_owned(),
            14 if n > 3000 => "true".to_owned(),
            15 => "123456789012345.25".to_owned(),
            _ => format!("{}.{}", n * 7919 % 1000, n % 97),
        };
        let mixed = if n.is_multiple_of(31) { String::new() } else { format!(r#""m":{mixed},"#) };
        let document = format!(
            r#"{{{few}{number}{mixed}"user":"u{}","kind":{kinds},"path":"/p/{}/{n}","n":{},"at":{}}}"#,
            n * 13 % 17,
            CITIES[(n % 5) as usize],
            n as i64 % 7 - 3,
            if n.is_multiple_of(50) { "-5".to_owned() } else { (n * 777_777_777_777).to_string() },
        );
        Event { instant: 638_000_000_000_000_000 + n * 1_234_567_891, arrival: n, document }
    };
    let events: Vec<Event> = (0..4500).map(event).collect();
    Memory::blocks(&[&[&events[..2500]], &[&events[2500..]]])
}

#[test]
fn what_is_computed_of_columns_is_what_events_come_to() {
    let memory = days();
    for text in [
        "select count(*) from stream group by DatePart(@Timestamp, 'weekday')",
        "select count(*), max(e) from stream where e > 100 group by DatePart(@Timestamp, 'Hour', -7)",
        "select sum(DatePart(at, 'minute')), count(DatePart(at, 'year')), min(DatePart(at, 'date', 2)) from stream",
        "select count(*) from stream where DatePart(@Timestamp, 'hour') < 6 and n > 0",
        "select mean(TimeOfDay(@Timestamp)), max(TimeOfDay(at, 1)), max(DatePart(e, 'day')) from stream",
        "select count(*) from stream group by DatePart(@Timestamp, city)",
        "select count(*) from stream group by DatePart(@Timestamp, 'hour', OffsetIn('Europe/Athens', @Timestamp))",
        "select count(*) from stream group by DatePart(at, 'date', OffsetIn('America/New_York', at)), city",
        "select sum(TimeOfDay(at, OffsetIn('Asia/Kolkata', at))), max(OffsetIn('Europe/Paris', at)) from stream",
        "select count(OffsetIn('No/Where', at)), min(OffsetIn('Europe/Paris', @Timestamp + e * 1d)) from stream",
        "select count(*) from stream where TimeOfDay(@Timestamp) >= 9h and TimeOfDay(@Timestamp, 2) < 17h",
        "select sum(TimeOfDay(@Timestamp, -30h)), count(TimeOfDay(@Timestamp - 800000d)) from stream",
        "select count(*) from stream group by Concat('n ', ToString(n)), Concat(ToString(Round(e / 100)), ' %')",
        "select count(*) from stream group by @Timestamp - @Timestamp % 36000000000, user",
        "select count(*) from stream group by Substring(ToIsoString(@Timestamp), 0, 10), city",
        "select count(*) from stream group by Substring(ToIsoString(@Timestamp, 2h), 0, 7)",
        "select count(*) from stream group by Substring(ToIsoString(@Timestamp, -5h), 11, 2), Substring(ToIsoString(@Timestamp), 5, 11)",
        "select count(*), min(Substring(ToIsoString(@Timestamp), 8, 12)) from stream group by Concat('on ', Substring(ToIsoString(@Timestamp), 0, 10))",
        "select count(*) from stream group by Substring(ToIsoString(@Timestamp), 0, IndexOf(ToIsoString(@Timestamp), 'T'))",
        "select count(*) from stream group by IndexOf(ToIsoString(@Timestamp), ':'), Length(Substring(ToIsoString(at * 10000000), 0, 4))",
        "select count(*) from stream group by Substring(ToIsoString(@Timestamp), 20), Concat(ToIsoString(n), 'x')",
        "select sum(if e > 100 then 1 else 0), sum(if city = 'Bern' then e else undefined()) from stream group by user",
        "select count(*) from stream group by if e < 10 then 'fast' else if e < 100 then 'medium' else 'slow'",
        "select count(*) from stream group by if n > 0 then kind else city",
        "select count(*) from stream group by if city like 'Z%' then 1.0 else 1",
        "select first(if n > 1 then path else user), last(Coalesce(city, path)) from stream group by n",
        "select count(*), first(path) from stream group by Coalesce(city, kind, 'none')",
        "select sum(Coalesce(e, 0)), sum(Coalesce(e, n, 7) * 2) from stream group by user",
        "select count(*) from stream group by e > 500",
        "select ToHexString(n), ToHexString(at), ToHexString(e), ToString(m), ToString(e), ToString(kind) from stream",
        "select count(*), count(distinct(ToHexString(at))) from stream group by ToHexString(n), ToString(n * n)",
        "select count(distinct(Concat(user, ToString(at)))) from stream group by Concat('n', ToString(n))",
        "select count(*) from stream group by kind > 1",
        "select count(*) from stream group by e > n",
        "select count(*) from stream group by n in [1, 2], city in ['Bern', 'Wil'], city < 'C'",
        "select count(*) from stream group by city like 'B%' or not (n = 1)",
        "select any(e > 800), all(e > 0), count(e > 3), any(city = 'Wil'), all(kind) from stream group by user",
        "select count(*) from stream group by Round(e)",
        "select count(*), sum(Round(e / 100) * 100), sum(Round(-e, 1)), max(Round(e / 3, 2)) from stream group by Round(e / 100)",
        "select sum(e / 1000), sum(e / 8), min(e / -0.5), sum(n / 3), count(e / 0) from stream group by n",
        "select count(*) from stream where city is not null group by Concat(city, '/', user)",
        "select count(*) from stream group by Concat('\"', user, path)",
        "select count(distinct(Concat(user, '-', ToString(n)))) from stream",
        "select count(*) from stream where city <> user",
        "select count(*) from stream where Concat(city, user) = 'Bernu1' or city = kind",
        "select count(*) from stream where StartsWith(path, '/p/B') or EndsWith(path, '99') or Contains(city, '\"')",
        "select count(*) from stream where path > '/p/W' and path <= '/p/Z' and 'C' < city",
        "select count(*) from stream group by IndexOf(path, '/1'), IndexOf(city, 'r')",
        "select count(*) from stream group by Length(path)",
        "select count(*) from stream group by Substring(path, 0, 4), Substring(path, 3)",
        "select min(path), max(path), min(city), max(city), max(kind), min(user) from stream",
        "select max(path), min(city) from stream group by n",
        "select min(e), max(e), max(n), max(if n > 0 then 1.0 else 1) from stream group by user, n",
        "select count(*) from stream group by @EventType",
        "select first(path), last(path), last(city), first(city), first(kind), last(kind), last(e) from stream group by user",
        "select first(city), last(city), last(absent) from stream",
        "select percentile(e, 50), percentile(e, 95), median(e), percentile(n, 50), percentile(e, 99, 0.1) from stream group by user",
        "select mean(e), mean(n), mean(at), mean(e * e), mean(-e / 8) from stream group by user",
        "select count(*) from stream where @Properties['city'] = 'Bern' group by @Properties['kind'], @Data['user']",
        "select count(*) from stream lateral unnest(@Properties['kind']) as one group by one",
        "select count(*) from stream group by Substring(ToIsoString(@Timestamp, -7), 11, 2), ToIsoString(at)",
        "select Round(e / 10) as r, if n > 2 then city else user as c from stream where n > 1 order by r desc limit 30",
    ] {
        agree(&memory, text);
    }
}

/// Quotients that do not end, of columns and of constants, among other things that are computed.
#[test]
fn quotients_are_what_events_come_to() {
    let memory = days();
    let quotients = [
        "e / n",
        "n / e",
        "e / 3",
        "-7 / e",
        "7 / (e - 3)",
        "at / 7",
        "at / n",
        "(e + n) / (e - 1.5)",
        "e / n * 3",
        "e / 3 - n / 7",
        "-(e / 7)",
        "e / n / n",
        "e * e * e / 7",
        "Round(e / 7, 2)",
        "Round(e / n)",
        "Round(at / 7, 20)",
        "TotalMilliseconds(at - e)",
        "TotalMilliseconds(e / n)",
        "TotalMilliseconds(kind)",
        "kind / 3",
        "e / kind",
        "e % (n / 3)",
        "(e / 7) ^ 2",
        "if n > 0 then e / n else 0",
        "Coalesce(e / n, 1)",
        "(e - 3) / n * 100",
        "n / (e / 7)",
        "e / 7 / 1000 * n",
        "at / 7 / e",
        "Round(e / 7 * n / 3, 1)",
        "if e > 100 then e / 7 / n else n",
        "if n > 1 then m else e / n",
    ];
    for of in quotients {
        for text in [
            format!("select sum({of}), mean({of}), count({of}) from stream"),
            format!(
                "select min({of}), max({of}), percentile({of}, 50), stddev({of}) from stream group by user"
            ),
            format!(
                "select mean({of}), max({of}), first({of}), last({of}) from stream where n > 1 group by city"
            ),
            format!("select count(*) from stream where {of} > 3"),
            format!("select count(*) from stream where {of} <= 50.5 and n < 2"),
            format!("select count(*) from stream where {of} <> 100 group by {of} < 0.3333333333333333"),
            format!("select count(*) from stream where {of} = 33"),
            format!("select count(*) from stream where {of} > e - 3"),
            format!("select count(*) from stream where {of} = e / n group by {of} >= n / e"),
            format!("select count(*) from stream group by {of}"),
            format!("select count(distinct({of})), count({of}) from stream where {of} in [1, 0.5]"),
            format!("select n, {of} as q from stream where n > 2 order by q desc limit 7"),
        ] {
            agree(&memory, &text);
        }
    }
}

/// Events with numbers of seventeen digits, as binary numbers are written: `v` of one scale or nearly, `c` of many and with exponents, `o` with other values among
/// them, `w` with more digits than decimals have.
fn measured() -> Memory {
    let event = |n: u64| {
        // Not random, but as irregular.
        let share = |factor: u64| (n.wrapping_mul(factor) % 1_000_003) as f64 / 1_000_003.0;
        let v = 220.0 + 20.0 * share(777_767);
        let c = match n % 23 {
            0 => share(91) * 1e-6,
            1 => -16.0 * share(91),
            2 => 0.0,
            _ => 12.0 * share(7919) * share(91),
        };
        let o = match n % 19 {
            3 => "null".to_owned(),
            4 => "\"off\"".to_owned(),
            5 => "-0".to_owned(),
            6 => "1.5E2".to_owned(),
            7 => "12".to_owned(),
            _ => format!("{:e}", share(5_113) * 1e-4),
        };
        let absent = if n.is_multiple_of(11) { String::new() } else { format!(r#""c":{c:e},"#) };
        let w = if n == 3_000 { "1e-40".to_owned() } else { format!("{:e}", share(31) * 1e-7) };
        let document = format!(
            r#"{{"v":{v},{absent}"o":{o},"w":{w},"n":{},"dev":"d{}","big":{}}}"#,
            n as i64 % 9 - 4,
            n * 13 % 17,
            n * 987_654_321_987
        );
        Event { instant: 638_000_000_000_000_000 + n * 1_234_567, arrival: n, document }
    };
    let events: Vec<Event> = (0..4500).map(event).collect();
    Memory::blocks(&[&[&events[..2500]], &[&events[2500..]]])
}

#[test]
fn long_decimals_are_reckoned_with_as_events_are() {
    let memory = measured();
    let numbers = [
        "v * c",
        "c * c",
        "v * 1.8 + 32",
        "c * 1000000",
        "v - c",
        "c + o",
        "o * 3",
        "-o",
        "v * v * c",
        "(v + c) * (v - c)",
        "v * big",
        "c * big * big",
        "c / n",
        "v / c",
        "big / n",
        "n / big",
        "Round(c * 100, 3)",
        "Round(o, 5)",
        "w * 2",
        "c - c",
        "c ^ 2",
        "if n > 0 then v * c else 0",
        "Coalesce(o * 2, 1)",
    ];
    for of in numbers {
        for text in [
            format!("select sum({of}), mean({of}), count({of}), min({of}), max({of}) from stream"),
            format!(
                "select min({of}), max({of}), sum({of}), first({of}) from stream where n > 1 group by dev"
            ),
            format!("select count(*) from stream where {of} > 0.00001 group by {of} <= 3"),
            format!("select count(*) from stream where {of} <> 0 and {of} < v"),
            format!("select n, {of} as q from stream where n > 2 order by q desc limit 7"),
        ] {
            agree(&memory, &text);
        }
    }
    for of in ["v", "c", "o", "w"] {
        for text in [
            format!("select count(*) from stream where {of} < 0.00001"),
            format!("select count(*) from stream where {of} = 12 or {of} >= 230.5 group by {of} = 0"),
            format!("select count(*) from stream where {of} <> 12 group by {of} > c, c <= {of}"),
            format!("select min({of}), max({of}), sum({of}), percentile({of}, 95) from stream group by dev"),
            format!("select max({of}) - min({of}) from stream group by n"),
            format!("select count(*) from stream where {of} in [0, 12, 150]"),
            format!(
                "select median({of}), percentile({of}, 3, 0.2), stddev({of}), variance({of}) from stream"
            ),
            format!(
                "select median({of}), stddev({of}), variance({of}), count({of}) from stream group by dev"
            ),
            format!("select mean({of}), min({of}) from stream where n = 2 group by dev"),
            format!("select n, {of} from stream order by {of} desc limit 7"),
            format!("select dev, {of} as x from stream where n > 0 order by x, dev limit 9"),
            format!("select {of} from stream where n < 3 order by {of} limit 400"),
        ] {
            agree(&memory, &text);
        }
    }
}

/// Of the rows that pass a condition, which are few, some, or most.
#[test]
fn what_few_rows_come_to_is_what_their_events_do() {
    let memory = measured();
    let numbers = [
        "v * c",
        "c / v",
        "big / n",
        "-c",
        "o * 3 - 1",
        "Round(c * 100, 2) + n",
        "w * 2",
        "c - n / 8",
        "dev * 2",
        "absent - v",
        "(@Timestamp - big) / 7",
        "DateTime(dev) - v",
    ];
    for of in numbers {
        let text = |condition: &str| {
            format!(
                "select sum({of}), min({of}), max({of}), median({of}), stddev({of}), count({of}) from stream where {condition}"
            )
        };
        let conditions = ["big = 987654321987", "n = 3 and dev = 'd5'", "dev = 'd3'", "n > 1", "n > -4"];
        let texts: Vec<String> = conditions.iter().map(|condition| text(condition)).collect();
        texts.iter().for_each(|text| _ = agree(&memory, text));
        let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        texts.reverse();
        texts.push("select sum(v), sum(c), sum(o), sum(w), sum(n), sum(big) from stream");
        texts.extend_from_within(..5);
        agree_in_turn(&memory, &texts);
    }
}

/// Instants and durations that texts tell, and texts, numbers and other values that tell none.
#[test]
fn times_that_texts_tell_are_those_of_events() {
    const TICKS: [&str; 8] =
        ["0", "-0", "-1", "10000.0", "0.00005", "1e3", "\"10000\"", "79228162514264337593543950335"];
    let event = |n: u64| {
        let settled = match n % 13 {
            0 => "null".to_owned(),
            1 => "7".to_owned(),
            2 => r#""2024-02-30""#.to_owned(),
            3 if n > 1500 => r#""2024-05-2\u0039T10:56:01Z""#.to_owned(),
            _ => {
                format!(r#""2023-{:02}-{:02}T10:{:02}:01.{:03}Z""#, n % 12 + 1, n % 28 + 1, n % 60, n % 1000)
            }
        };
        let took = match n % 11 {
            0 => "null".to_owned(),
            1 => "12.5".to_owned(),
            2 => r#""24:00""#.to_owned(),
            3 => r#""-0:00""#.to_owned(),
            4 => r#""999999999.00:00""#.to_owned(),
            5 => r#""99999.23:59:59.9999999""#.to_owned(),
            6 if n > 1500 => r#""1:0\u0030""#.to_owned(),
            _ => format!(r#""-{}.{:02}:{:02}:{:02}.{}""#, n % 3, n % 24, n % 60, n % 59, n % 9),
        };
        let ticks = TICKS[(n % if n < 1500 { 6 } else { 8 }) as usize];
        let settled = if n.is_multiple_of(7) {
            String::new()
        } else {
            format!(r#""settled":{settled},"@st":{settled},"#)
        };
        let document = format!(
            r#"{{{settled}"took":{took},"ticks":{ticks},"ms":{},"kind":"k{}"}}"#,
            n * 37 % 1000,
            n % 5
        );
        Event { instant: 638_000_000_000_000_000 + n * 1_234_567_891, arrival: n, document }
    };
    let events: Vec<Event> = (0..3000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..700], &events[700..1500]], &[&events[1500..]]]);
    for of in [
        "TotalMilliseconds(DateTime(settled) - @Timestamp)",
        "DateTime(settled) + TimeSpan(took)",
        "TotalMilliseconds(TimeSpan(took))",
        "TimeSpan(took) / 1ms",
        "@Start",
        "@Elapsed",
        "TotalMilliseconds(@Elapsed)",
        "@Start - TimeSpan(took)",
        "TotalMilliseconds(ticks)",
        "TotalMilliseconds(ms) + TotalMilliseconds(-ticks)",
        "TotalMilliseconds(kind)",
        "TotalMilliseconds(took)",
        "TimeSpan(settled)",
        "TotalMilliseconds(1h)",
    ] {
        for text in [
            format!("select mean({of}), min({of}), max({of}), sum({of}), count({of}) from stream"),
            format!("select mean({of}), median({of}), last({of}) from stream group by kind"),
            format!("select count(*), sum({of}) from stream where {of} > 5 or {of} < -1d"),
            format!("select sum({of}), max({of}) from stream where ms > 900"),
            format!("select count(*) from stream group by {of}"),
            format!("select {of} as x, kind from stream where ms < 500 order by x limit 20"),
            format!("select {of} as x from stream where ms = 37"),
        ] {
            agree(&memory, &text);
        }
    }
}

/// Texts that are numbers: close and far apart, with zeros before them, of several lengths, and with others among them.
#[test]
fn texts_of_digits_are_those_of_events() {
    let event = |n: u64| {
        let few = n * 7919 % 601;
        let odd = match n % 50 {
            0 => "null".to_owned(),
            1 => "408001".to_owned(),
            2 => r#""4080\u0030\u0031""#.to_owned(),
            3 => r#""""#.to_owned(),
            _ => format!(r#""{:06}""#, 408_000 + few),
        };
        let zeros = if n.is_multiple_of(3) { String::new() } else { format!(r#""zeros":"{few:04}","#) };
        let far = if few == 7 { 999_999_999 } else { few };
        let document = format!(
            r#"{{{zeros}"bin":"{}","odd":{odd},"lengths":"{few}","far":"{far:09}","id":"{n:05}","s":{}}}"#,
            400_000 + few,
            n % 3
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..4500).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..2500]], &[&events[2500..]]]);
    for of in ["bin", "odd", "zeros", "lengths", "far", "id"] {
        for text in [
            format!("select count(*), first(s) from stream group by {of}"),
            format!("select count(*) as n, count(distinct({of})) as d from stream group by {of}, s"),
            format!(
                "select count(*) from stream where {of} = '408001' or {of} = '0001' or {of} in ['1', '00001']"
            ),
            format!("select count(*) from stream where {of} < '400100' and s = 1 group by {of}"),
            format!(
                "select sum(ToNumber({of})), min({of}), max({of}), last({of}) from stream where {of} like '%1'"
            ),
            format!("select {of}, s from stream where s = 2 order by {of} desc limit 30"),
        ] {
            agree(&memory, &text);
        }
    }
}

/// The first rows of an order by what is computed, which is estimated first: numbers that differ in their last digits only, and equal ones.
#[test]
fn rows_in_the_order_of_near_quotients_are_those_of_events() {
    let event = |n: u64| {
        let dividend = 10_000_000_000_000_000 + n * 7 % 40;
        let text = format!("1.{:016}", 1_000 + n * 11 % 9);
        let many = ["0.10", "1e-1", "0.1", "0.10000000000000000", "1.00000000000000001e-1"][(n % 5) as usize];
        let divisor = if n.is_multiple_of(13) { 0 } else { 3 + n % 2 * 3 };
        let document =
            format!(r#"{{"a":{dividend},"b":{divisor},"t":{text},"m":{many},"l":"{n}","tiny":{n}e-26}}"#);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..3000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..900], &events[900..1800]], &[&events[1800..]]]);
    for by in ["a / b", "b / a", "t", "m", "t - m", "t / 3", "tiny", "tiny / a", "m * t", "a * 2 - b"] {
        for direction in ["", " desc"] {
            for (limit, condition) in [(1, "b > 3"), (10, "a > 0"), (300, "b < 6"), (1000, "a > 0")] {
                let texts = [
                    format!(
                        "select l, {by} as x from stream where {condition} order by x{direction} limit {limit}"
                    ),
                    format!(
                        "select {by} as x, b from stream where {condition} order by x{direction}, b limit {limit}"
                    ),
                ];
                texts.iter().for_each(|text| _ = agree(&memory, text));
            }
        }
    }
}

/// Rows of the elements of collections, in either direction.
#[test]
fn elements_are_rows_in_the_order_of_their_events() {
    let lists = ["[1,2,3]", "[]", "[\"a\",null,\"b\"]", "null", "\"a\"", "[[1],{\"v\":2},7]", "[0.5]"];
    let event = |n: u64| {
        let list = lists[(n * 5 % 7) as usize];
        let list = if n.is_multiple_of(4) { String::new() } else { format!(r#","list":{list}"#) };
        Event { instant: n / 3, arrival: n, document: format!(r#"{{"n":{n},"w":{}{list}}}"#, n % 11) }
    };
    let events: Vec<Event> = (0..900).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..300], &events[200..600]], &[&events[600..]]]);
    for rows in ["x", "n, x", "x, w + 1 as v, @Id", "Length(x) as l, @Timestamp", "x.v as v"] {
        for condition in
            ["", "where w = 3", "where x > 1", "where x = 'a' and w < 9", "where x is null", "where Has(x)"]
        {
            for end in [
                "",
                "limit 5",
                "order by time desc",
                "order by time desc limit 20",
                "order by n limit 9",
                "order by n desc",
            ] {
                if end.contains("by n") && !rows.starts_with("n,") {
                    continue;
                }
                agree(
                    &memory,
                    &format!("select {rows} from stream lateral unnest(list) as x {condition} {end}"),
                );
            }
        }
    }
}

/// Numbers in texts, with what stands around them replaced or not.
#[test]
fn numbers_are_read_in_texts() {
    const TEXTS: [&str; 20] = [
        "\"12ms\"",
        "\"7\"",
        "\"-0\"",
        "\"0.50\"",
        "\" 3 \"",
        "\"1e3\"",
        "\"01\"",
        "\"-\"",
        "\"\"",
        "\"1.\"",
        "\".5\"",
        "\"12345678901234567.25\"",
        "\"a\\u0000b\"",
        "\"a-b-a\"",
        "4.20",
        "null",
        "true",
        "[1]",
        "\"é1\"",
        "\"aaa\"",
    ];
    let event = |n: u64| {
        let took = ["1.5ms", "20ms", "-3ms", "ms", "7"][(n * 3 % 5) as usize];
        let number = format!("\"{}.{:02}\"", n * 7 % 1000, n * 13 % 100);
        let mixed = TEXTS[(n * 11 % 20) as usize];
        let absent = if n.is_multiple_of(3) { String::new() } else { format!(r#","t":{number}"#) };
        let document = format!(r#"{{"took":"{n}{took}","mixed":{mixed},"w":{}{absent}}}"#, n % 6);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..2000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..1000]], &[&events[1000..]]]);
    for number in [
        "ToNumber(t)",
        "ToNumber(mixed)",
        "ToNumber(w)",
        "ToNumber(took)",
        "ToNumber(Replace(took, 'ms', ''))",
        "ToNumber(Replace(mixed, 'ms', ''))",
        "ToNumber(Substring(t, 0, 2))",
        "ToNumber(t) / w",
        "Length(Replace(mixed, 'a', 'bb'))",
    ] {
        for text in [
            format!(
                "select sum({number}), mean({number}), max({number}), min({number}), count({number}) from stream"
            ),
            format!(
                "select sum({number} * 2), percentile({number}, 50), first({number}) from stream where w > 1 group by w"
            ),
            format!("select count(*) from stream where {number} > 3.5"),
            format!("select count(*) from stream group by {number}"),
            format!("select {number} as x from stream where w = 2 limit 40"),
        ] {
            agree(&memory, &text);
        }
    }
    for replaced in [
        "Replace(mixed, 'a', 'bb')",
        "Replace(mixed, 'aa', '')",
        "Replace(mixed, '-', '\"')",
        "Replace(mixed, '0', 'é')",
        "Replace(mixed, 'é', '0')",
        "Replace(mixed, '', 'x')",
        "Replace(mixed, 'A', 'x') ci",
        "Replace(ToUpper(took), 'MS', Substring('sms', 1))",
        "Concat(Replace(took, 'ms', 's'), '!')",
        "Replace('abc', 'b', took)",
        "Replace(w, '1', '2')",
    ] {
        for text in [
            format!("select count(*) from stream where Contains({replaced}, 'b')"),
            format!("select count(*) from stream where {replaced} = '1s' or {replaced} like '%5s!'"),
            format!("select count(*), max({replaced}) from stream group by {replaced}"),
            format!("select {replaced} as x from stream where w < 2"),
        ] {
            agree(&memory, &text);
        }
    }
}

/// A few numbers with exponents among others, as some programs write short times: they are compared by what they come to, and shown as they stand.
#[test]
fn a_few_exponents_are_numbers_among_others() {
    let event = |n: u64| {
        let number = match n % 40 {
            7 => format!("{}.2e-05", n % 9 + 1),
            19 => format!("{}E3", n % 7),
            23 => "-0.0".to_owned(),
            _ => format!("{}.{:03}", n * 17 % 300, n * 29 % 1000),
        };
        let member = if n.is_multiple_of(5) { String::new() } else { format!(r#","d":{number}"#) };
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{},"w":{}{member}}}"#, n % 7, n % 3) }
    };
    let events: Vec<Event> = (0..3000).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..1500]], &[&events[1500..]]]);
    for text in [
        "select count(*) from stream where d > 60",
        "select count(*) from stream where d <= 0.00003 and w = 1",
        "select count(*) from stream where d <> 3000 group by n",
        "select count(*) from stream where d = 0.000052 or d in [2000, 0]",
        "select count(*) from stream where d > n and d < w * 100",
        "select sum(d), mean(d), min(d), max(d), percentile(d, 50) from stream group by w",
        "select sum(d * 2), max(d + 1), mean(n / d) from stream group by w",
        "select sum(-d), max(Round(d, 4)) from stream where d < 1",
        "select d, n from stream where d > 60 order by d desc limit 20",
        "select d, n from stream where n = 3 order by d limit 25",
        "select d from stream where d < 0.0001 or d > 1000",
        "select count(*) from stream group by d > 100, d + n",
        "select count(*), first(if n > 2 then d else 0) from stream group by Coalesce(d, 1)",
    ] {
        agree(&memory, text);
    }
}

/// `Has` tells null from nothing.
#[test]
fn what_is_there_may_be_null() {
    let memory = days();
    for text in [
        "select count(*) from stream where Has(city)",
        "select count(*) from stream where not Has(city) and n > 0",
        "select count(*), sum(e) from stream where Has(e) or Has(absent)",
        "select count(*) from stream where Has(kind) and kind is null",
        "select count(*) from stream group by Has(e), Has(city)",
        "select sum(if Has(e) then 1 else 0) from stream group by user",
        "select count(*) from stream where Has(ToNumber(path)) or Has(e + 1)",
        "select count(*) from stream where Has(kind.x) or Has(kind)",
        "select Has(city) as h from stream where n = 2 and (Has(e) or Has(city))",
    ] {
        agree(&memory, text);
    }
}

/// Functions of strings within one another, over texts with escapes, with characters beyond ASCII and with what is no character.
#[test]
fn parts_of_texts_are_what_events_come_to() {
    let memory = days();
    let texts = [
        "path",
        "city",
        "kind",
        "ToUpper(path)",
        "ToLower(city)",
        "Substring(path, 2)",
        "Concat(path, '/end')",
        "Concat('ü', city)",
        // What has nothing of an event may be cut by it.
        "'abcdefghij'",
    ];
    let numbers = [
        "0",
        "2",
        "-1",
        "1.5",
        "IndexOf(path, 'r')",
        "LastIndexOf(path, '/') + 1",
        "IndexOf(Substring(path, 3), '/') - 1",
        "LastIndexOf(city, 'b') - IndexOf(city, '')",
        // Undefined of short texts: a length that is undefined is left out.
        "IndexOf(Substring(path, 8), 'e')",
    ];
    // Of parts that repeat where their texts do not, the texts are evaluated whose bytes do not tell.
    for condition in [
        "Substring(path, 1, 2) > 'o'",
        "ToUpper(Substring(path, 3, 2)) like '%B%' ci",
        "Substring(path, 2, 3) in ['/Be', '/Z\u{fc}']",
    ] {
        agree(&memory, &format!("select n from stream where {condition}"));
    }
    for text in texts {
        for start in numbers {
            let part = |(at, length)| format!("Substring({text}, {start}, {length}) as l{at}");
            let parts = numbers.iter().enumerate().map(part).collect::<Vec<String>>().join(", ");
            agree(&memory, &format!("select Substring({text}, {start}) as p, {parts} from stream"));
        }
        agree(
            &memory,
            &format!(
                "select count(*) from stream where IndexOf({text}, '/1') + 1 > 3 group by LastIndexOf({text}, 'u')"
            ),
        );
    }
}

/// A column of texts was given to an aggregate of numbers, which then took nothing of the blocks behind it.
#[test]
fn blocks_of_documents_behind_blocks_of_columns_are_taken_in() {
    let event = |n: u64, document: String| Event { instant: n, arrival: n, document };
    let first: Vec<Event> =
        (0..200).map(|n| event(n, r#"{"M":"GET","Path":"/a","X":"x","B":true}"#.into())).collect();
    let second: Vec<Event> =
        (200..400).map(|n| event(n, format!(r#"{{"M":"GET","Path":"/z{n}","X":{n},"B":false}}"#))).collect();
    let memory = Memory::blocks(&[&[&first], &[&second]]);
    for text in [
        "select max(Path) as m, min(B), sum(X), mean(X), percentile(X, 50) from stream group by M",
        "select max(Path), max(X), min(X), min(B) from stream",
    ] {
        agree(&memory, text);
    }
}

/// Each level asked twice for the one inside; and numbers of combinations went beyond 64 bits.
#[test]
fn expressions_of_many_parts_come_to_an_end() {
    let events: Vec<Event> = (0..300)
        .map(|n| {
            let members: Vec<String> = (0..22).map(|p| format!(r#""P{p}":"v{}""#, (n + p) % 8)).collect();
            let document = format!(r#"{{"A":{},"E":{n}.5,{}}}"#, n % 3, members.join(","));
            Event { instant: n, arrival: n, document }
        })
        .collect();
    let memory = Memory::blocks(&[&[&events]]);
    let arms = |last: &str| {
        let arms: Vec<String> = (0..60).map(|n| format!("if A = {n} then 'a{n}' else ")).collect();
        format!("{}{last}", arms.concat())
    };
    let joined = |last: &str| format!("{}{last}{}", "Concat(ToUpper(P1), ".repeat(40), ")".repeat(40));
    let names: Vec<String> = (0..22).map(|p| format!("P{p}")).collect();
    let many = vec!["A + 1"; 500].join(", ");
    for text in [
        format!("select {} as v from stream", arms("@Id")),
        format!("select {} as v from stream", arms("ToString(E)")),
        format!("select count(*) from stream group by {}", arms("Replace(P1, 'v', 'w')")),
        format!("select {} as v from stream where {} = 'a1'", joined("@Id"), arms("@Id")),
        format!("select Concat({0}) as v from stream where Concat({0}) <> 'x'", names.join(", ")),
        format!("select [{many}] as v, Coalesce({many}) as c from stream"),
    ] {
        agree(&memory, &text);
    }
}

#[test]
fn numbers_beside_null_texts_and_exponents_are_what_they_are_in_events() {
    let memory = days();
    for text in [
        "select count(*) from stream where m > 500",
        "select count(*) from stream where m <> 27.27",
        "select count(*) from stream where not (m <= 150)",
        "select count(*) from stream where m = 0.000052 or m = 150 or m = null",
        "select count(*) from stream where m in [150, 0.000052, null, true]",
        "select count(*) from stream where m not in [150, 'n/a', 27.27]",
        "select count(*) from stream where m is null and n > 0",
        "select count(*) from stream where m is not null",
        "select count(*) from stream where Has(m) and m < e",
        "select count(*) from stream where m = m",
        "select count(*) from stream where m <> e and user <> 'u3'",
        "select count(*) from stream where m * 2 > 900 or m + e < 100",
        "select count(*) from stream where m = 'n/a' or m = true",
        "select count(*) from stream where m like 'n%' or Length(m) = 3 or HasText('n/a')",
        "select count(m), sum(m), mean(m), min(m), max(m), percentile(m, 95), first(m), last(m), any(m > 3) from stream",
        "select count(m), sum(m), mean(m), min(m), max(m), percentile(m, 95), first(m), last(m) from stream where n > 0 group by user",
        "select max(m), min(m) from stream where m < 400",
        "select max(m * 1.8 + 32), mean(-m), sum(Round(m, 1)), count(distinct(m)) from stream group by n",
        "select count(*) from stream group by m > 500",
        "select count(*) from stream group by m = e",
        "select count(*) from stream group by Round(m)",
        "select count(*) from stream group by TypeOf(m), n",
        "select count(*), sum(e) from stream group by m order by m",
        "select count(*) from stream group by Coalesce(m, 'none'), n",
        "select sum(Coalesce(m, 0)), max(if n > 0 then m else 0), first(if n > 0 then m else city) from stream group by user",
        "select m, user from stream order by m limit 20",
        "select m, user from stream order by m desc limit 20",
        "select m, user from stream where m > 100 order by m desc limit 30",
        "select m, user from stream where n > 0 order by m limit 400",
        "select m, e from stream where user = 'u3' and e > 800",
        "select @Data from stream where m > 990",
        "select m as x from stream where m is null or m < 1 limit 50",
        "select sum(v), max(v) from stream lateral unnest(kind) as v where m > 100 group by m > 500",
    ] {
        agree(&memory, text);
    }
}

/// Numbers that functions of texts and powers give, and choices between numbers that are spelled in several ways.
#[test]
fn numbers_that_are_computed_of_columns_are_those_of_events() {
    let event = |n: u64| {
        let name = match n % 11 {
            0 => "\"caf\u{e9}.example\"".to_owned(),
            1 => r#""a\\b.c""#.to_owned(),
            2 => n.to_string(),
            3 => "null".to_owned(),
            4 => r#"["a.b"]"#.to_owned(),
            _ => format!("\"host{}.{}.example\"", n * 7919 % 1000, n),
        };
        let number =
            if n.is_multiple_of(13) { String::new() } else { format!(r#","a":{}.{}0"#, n % 40, n % 3) };
        Event {
            instant: n,
            arrival: n,
            document: format!(r#"{{"n":{n},"name":{name},"w":{}{number}}}"#, n * 1_000_003),
        }
    };
    let events: Vec<Event> = (0..400).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for text in [
        "select count(*) from stream where IndexOf(name, '.') > 6",
        "select sum(IndexOf(name, '.') - 1), max(LastIndexOf(name, '.')) from stream",
        "select count(*) from stream group by Length(Substring(name, 2)) % 3",
        "select max(ToNumber(Substring(name, 4, IndexOf(name, '.') - 4))) from stream",
        "select Substring(name, 0, Length(name) - 2) from stream",
        "select sum(n ^ 2), max(a ^ 3), min(n ^ 0), sum(w ^ 4) from stream",
        "select count(*) from stream where a ^ 2 > 100 or n ^ 1 = 5",
        "select max(n - a), min(n - a), mean(n - a), max(n / a), min(n / a) from stream group by n % 3",
        "select if n > 100 then a else n from stream",
        "select if n > 100 then a - 1 else 0.50 from stream",
        "select sum(if a > 10 then a - 10 else 0), count(if a > 5 then n else undefined()) from stream group by n % 4",
        "select if n % 2 = 0 then n * 0.5 else a from stream",
        "select count(*) from stream group by if a > 20 then 1.5 else a * 2",
        "select Coalesce(a, 0.0, n), if n > 5 then 0.0 else n from stream",
        "select count(*) from stream where n % 4 = 1 or n % 4 = 2 or Length(name) = 3 or Length(name) = 4",
        "select min(name), max(name) from stream group by n % 5",
    ] {
        agree(&memory, text);
    }
}
