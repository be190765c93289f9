//! Numbers that texts spell, parts that patterns cut out of texts, how often a text stands in another one, and identifiers of events whose elements are rows.

use crate::agree::agree;
use crate::memory::{Event, Memory};

/// Orders, of which the prices are numbers or texts, the messages have line feeds and characters beyond ASCII, and some have levels.
fn orders() -> Memory {
    let event = |n: u64| {
        let price = match n % 11 {
            0 => format!("\"{}.{:02}0\"", n % 700, n % 100),
            1 => format!("{}.{}0", n % 700, n % 10),
            2 => format!("\"00{n}\""),
            3 => "null".to_owned(),
            4 => format!("\"{}\"", ["n/a", "", " 7", "1e3", "-0.50"][n as usize / 11 % 5]),
            _ => format!("{}.{}", n % 700, n % 9 + 1),
        };
        let id = 1_150_000_000_000_000_000 + n * 7_919_000_003;
        let who = ["tel. Änderung", "ok", "RFQ #7", "٣ٔ"][n as usize % 4];
        let fix = format!(
            "35=D|34={}|58={who}|52=20251103-11:{:02}:51.{}|10={:03}|",
            n * 3,
            n % 60,
            n % 997,
            n % 256
        );
        let text = match n % 5 {
            0 => format!(r"first {n}\nsecond\r\nthird \\n {who}"),
            1 => format!(r#"\"quoted\" {n} \u000a {who}"#),
            2 => String::new(),
            _ => format!("one line of {n}, {who}"),
        };
        let levels: Vec<String> =
            (0..n % 4).map(|level| format!("[{}.{level},{}]", n % 90, level * n)).collect();
        let asks =
            if n.is_multiple_of(3) { String::new() } else { format!(r#","asks":[{}]"#, levels.join(",")) };
        let document = format!(r#"{{"n":{n},"px":{price},"id":"{id}","fix":"{fix}","text":"{text}"{asks}}}"#);
        Event { instant: n / 3 * 10_000_000, arrival: n, document }
    };
    let events: Vec<Event> = (0..4_000).map(event).collect();
    Memory::blocks(&[&[&events[..1_200]], &[&events[1_200..]]])
}

const WHERE: [&str; 4] = ["", " where n % 3 = 1", " where n % 40 = 7", " where Has(asks)"];

#[test]
fn numbers_that_texts_spell_are_those_of_events() {
    let memory = orders();
    for expr in [
        "ToNumber(px)",
        "n * ToNumber(px)",
        "ToNumber(id)",
        "ToNumber(id) % 300",
        "(ToNumber(id) - 1150000000000000000) / 300",
        "ToNumber(Substring(id, 0, 17))",
        "ToNumber(Replace(fix, /^.*\\|34=(\\d+)\\|.*$/, '$1'))",
        "ToNumber(Replace(px, '.', ''))",
    ] {
        for rows in WHERE {
            agree(
                &memory,
                &format!("select mean({expr}), max({expr}), min({expr}), count({expr}) from stream{rows}"),
            );
            agree(
                &memory,
                &format!("select n, {expr} as value from stream{rows} order by value desc limit 30"),
            );
        }
        agree(
            &memory,
            &format!("select count(*) as n from stream group by {expr} as k order by n desc, k limit 20"),
        );
        agree(
            &memory,
            &format!("select count(*) as n from stream where {expr} > 100 group by TypeOf(px) as t"),
        );
    }
    for condition in [
        "TypeOf(px) = 'string'",
        "TypeOf(px) <> 'number'",
        "TypeOf(no) = 'undefined'",
        "TypeOf(asks) = 'array'",
    ] {
        agree(&memory, &format!("select count(*), sum(n) from stream where {condition}"));
    }
}

#[test]
fn parts_that_patterns_cut_out_are_those_of_events() {
    let memory = orders();
    for pattern in [
        r"/^.*\|34=(\d+)\|.*$/",
        r"/^.*\|52=\d+-\d\d:(\d\d):\d\d\.\d+\|.*$/",
        r"/^.*?58=([^|]*)\|.*$/",
        r"/^.*\|58=(\w+).*$/",
        r"/\|10=(\d)\d\d\|$/",
        r"/^(.{6}).*$/",
        r"/(\d{2})\|/",
        r"/^.*\|58=(tel|ok|RFQ)(.*\|10=(?:00)?)?.*$/",
        r"/(\d+)/",
    ] {
        for rows in WHERE {
            agree(
                &memory,
                &format!(
                    "select count(*) as c from stream{rows} group by Replace(fix, {pattern}, '<$1>') as k order by c desc, k limit 40"
                ),
            );
        }
    }
}

/// Replaced by nothing that was matched, the texts with escapes among them.
#[test]
fn what_patterns_match_is_replaced_as_in_events() {
    let memory = orders();
    for pattern in [r"/\d+/", r"/[a-z]+ /", r"/\n[\s\S]*$/", r#"/^".*" /"#, r"/ \d+(, \w+)?/", r"/^[^,]*$/"] {
        for rows in WHERE {
            let expr = format!("Replace(text, {pattern}, '#')");
            agree(&memory, &format!("select {expr}, Length({expr}) from stream{rows} limit 90"));
            agree(
                &memory,
                &format!("select count(distinct({expr})), min({expr}), max({expr}) from stream{rows}"),
            );
        }
    }
}

/// A quote and a line feed are spelled with escapes.
#[test]
fn texts_with_characters_that_are_escaped_are_found() {
    let memory = orders();
    for said in
        ["not HasText('second')", "not HasText('QUOTED') ci and n % 3 = 1", "not (HasText('7') or n < 90)"]
    {
        agree(&memory, &format!("select count(*), max(n) from stream where {said}"));
    }
    for condition in [
        r#"text like '%" 1%'"#,
        r#"text like '%\" 1%'"#,
        r#"text like '"quoted%d" 7%'"#,
        r#"text like '%"%' ci"#,
        r#"text like '%D" 7%' ci"#,
        r#"Contains(text, 'ED" 4') ci"#,
        r#"Contains(text, '"Q') ci"#,
        r#"not Contains(text, '"q') ci"#,
        r"Contains(text, '\N') ci",
        "ToUpper(text) like '%\nSECOND%'",
        "ToLower(text) not like '%t %\nsec%'",
        "Contains(ToUpper(text), '\r\nTH')",
        "text like 'FIRST 1%' ci",
        "text like '%TEL. änderung' ci",
        "text like '%RFQ #7' ci",
        "not EndsWith(text, 'K') ci",
        "StartsWith(text, 'One LINE of 3') ci",
        "ToLower(text) = 'one line of 3, ok'",
        "ToUpper(text) like 'ONE%'",
        "fix like '35=d|34=3%' ci",
        "EndsWith(fix, '|10=009|') ci",
        r#"not text like '%quoted" %'"#,
        r"IsMatch(text, /\nsec/)",
        r"IsMatch(text, /\\n/)",
        r#"IsMatch(text, /"QUOTED" 4/) ci"#,
        r#"IsMatch(text, /[qr]uoted" \d+/)"#,
        r"text = /(?s).*second.*Änd.*/",
        r"text = /.*quoted.*/",
        r"text = /.*line of (1|22)[0-9]*,.*/",
        r"text <> /.*one line.*/",
        r"IsMatch(fix, /^.*Änd(e|x).*$/)",
    ] {
        for rows in ["", " and n % 3 = 1", " and n % 40 = 7"] {
            agree(
                &memory,
                &format!("select count(*), min(n), max(text) from stream where {condition}{rows}"),
            );
        }
    }
}

#[test]
fn how_often_a_text_stands_in_another_one_is_what_events_tell() {
    let memory = orders();
    for part in [
        r"/\n/",
        r"/\r\n/",
        r#"/"/"#,
        r"/\\/",
        r"/[\n]/",
        "/ /",
        "/n/",
        "/one line/",
        "'n'",
        "' '",
        "'ä'",
        r"'\'",
        "'third'",
    ] {
        for with in ["''", "'--'", "'ü'"] {
            let longer = format!("Length(text) - Length(Replace(text, {part}, {with}))");
            for rows in WHERE {
                agree(
                    &memory,
                    &format!("select sum({longer}), max({longer}), mean({longer}) from stream{rows}"),
                );
            }
            agree(
                &memory,
                &format!("select count(*) as c from stream group by {longer} as k order by c desc, k"),
            );
            agree(
                &memory,
                &format!(
                    "select count(*) as c from stream where n % 9 = 0 group by Replace(text, {part}, {with}) as k order by c desc, k limit 30"
                ),
            );
        }
    }
}

#[test]
fn elements_are_grouped_by_what_identifies_their_events() {
    let memory = orders();
    for rows in ["", " where n % 7 = 2", " where l[1] > 900", " where n > 3990"] {
        for query in [
            "select sum(l[0] * l[1]) as v, count(*) as c from stream lateral unnest(asks) as l{rows} group by @Id order by v desc, @Id limit 20",
            "select sum(l[1]) as v from stream lateral unnest(asks) as l{rows} group by @Id, TypeOf(px) as t order by v desc, @Id limit 20",
            "select max(l[1]) as v, first(n) as n from stream lateral unnest(asks) as l{rows} group by n % 2 as odd, @Id having v > n order by @Id desc limit 20",
            "select count(distinct(@Id)) from stream lateral unnest(asks) as l{rows}",
            "select @Id, l[0] as p from stream lateral unnest(asks) as l{rows} limit 50",
            "select max(@Id), min(@Id) from stream lateral unnest(asks) as l{rows}",
        ] {
            agree(&memory, &query.replace("{rows}", rows));
        }
    }
    for query in [
        "select @Id, n from stream where n % 5 = 1",
        "select @Id from stream order by time desc limit 7",
        "select count(*) as c from stream group by @Id order by c desc, @Id limit 5",
        "select count(*) as c from stream group by Substring(@Id, 0, 16) as t order by c desc, t limit 5",
    ] {
        agree(&memory, query);
    }
}
