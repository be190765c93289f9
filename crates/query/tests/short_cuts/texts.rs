//! Texts that are looked for wherever strings are, messages, and patterns in any case.

use crate::agree::{agree, agree_in_turn};
use crate::memory::{Event, Memory};

/// Of most columns their bytes tell that a text stands nowhere in them; of the others it is looked for where it may be.
#[test]
fn a_text_is_found_wherever_a_string_has_it() {
    let event = |n: u64| {
        let (name, city) = (["Ada", "Eve", "Zoë"][n as usize % 3], ["Bern", "Oslo"][n as usize % 2]);
        let own = match n % 7 {
            0 => format!(r#""of":["{name}",["{city}",{{"deep":["x{n}"]}}]]"#),
            1 => format!(r#""of":{{"by":"{name} of {city}","to":null}}"#),
            2 => format!(r#""of":[{{"by":"{city}","n":{n}}},{{"by":[["{name}"]]}}]"#),
            3 => format!(r#""of":"{city} \"{name}\" \\d""#),
            4 => r#""of":[]"#.to_owned(),
            _ => format!(r#""of":{n}"#),
        };
        let document = format!(
            r#"{{"m":"order {n} of {name} was sent to {city} in {} ms","name":"{name}","n":{n},"id":"{:016x}","at":"2024-05-29T10:56:{:02}Z",{own}}}"#,
            n * 7 % 50,
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            n % 60,
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..300).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    let texts = "Ada|Zoë|ZOË|Eve of|of Oslo|x14|x15|deep|Bern|by|order 17|order 1|er 29|29 of E|to B|sent to Oslo in 4|n 4|7 ms|ms|\"|\\d|\\|s\" |\
        10:56:0|T10|-05-|56:7|0000|dead|1f|9e37|null|17|1|ö| |nowhere|tooslo|\u{212a}|\u{17f}ent";
    for text in texts.split('|') {
        for ci in ["", " ci"] {
            for rest in ["", " and n > 40", " and n < 3", " or name = 'Eve'"] {
                agree(&memory, &format!("select n from stream where HasText('{text}'){ci}{rest}"));
            }
        }
    }
}

/// Where every message is stored, it is a column like any other; an event that has a template alone needs its document.
#[test]
fn messages_that_are_stored_are_what_they_are_where_some_are_rendered() {
    let event = |n: u64, kind: u64| {
        let message =
            format!(r#""@m":"order {n} of {} failed: step {}""#, ["Ada", "Zoë"][n as usize % 2], n % 5);
        let own = match kind {
            0 => message,
            1 => format!(r#"{message},"@mt":"order {{n}} failed""#),
            2 => r#""@mt":"template {n} of {who}""#.to_owned(),
            3 => format!(r#""@m":{n}"#),
            _ => r#""x":1"#.to_owned(),
        };
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"who":"w{}",{own}}}"#, n % 3) }
    };
    let texts = [
        "select count(*) from stream where @m like '%failed%'",
        "select count(*) from stream where @Message like '%ZOË%' ci and n > 20",
        "select count(*) from stream where @m like '%order%3%' or @m is null",
        "select count(*) from stream where Length(@m) > 27 and Has(@m)",
        "select count(*), max(Length(@m)), first(@m), last(@m) from stream group by who",
        "select count(*) as c from stream group by Substring(@m, 0, 8) order by c desc limit 5",
        "select count(distinct(@m)), min(@m) from stream",
        "select @m from stream",
        "select @m, n from stream where n > 150 order by n desc limit 7",
        "select n, @m from stream order by @m limit 9",
        "select n from stream where @m = 'template 5 of w2' or @m = 7",
        "select @m, @Data from stream where n < 4",
        "select sum(n) from stream where match(@m, 'Ada') and HasText('step 3')",
    ];
    for kinds in [&[0][..], &[0, 4], &[0, 1], &[1, 3, 4], &[0, 2], &[0, 1, 2, 3, 4], &[4], &[2]] {
        let kind = |n: u64| kinds[n as usize % kinds.len()];
        let events: Vec<Event> = (0..200).map(|n| event(n, kind(n))).collect();
        let memory = Memory::blocks(&[&[&events]]);
        for text in texts {
            agree(&memory, text);
        }
    }
}

/// Other characters may stand for letters of a pattern, or become such in upper case.
#[test]
fn patterns_beyond_ascii_match_in_any_case() {
    let texts = [
        "Müller & Söhne",
        "MÜLLER & SÖHNE",
        "muller",
        "\u{212a}elvin",
        "\u{17f}traße",
        "ὈΔΥΣΣΕΎΣ!",
        "İpek",
        "ipek",
        "plain",
    ];
    let event = |n: u64| {
        let text = texts[n as usize % texts.len()];
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"t":"{text} {n}","u":"{text}"}}"#) }
    };
    let events: Vec<Event> = (0..300).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for pattern in [
        "%müller%",
        "%söhne 1%",
        "müller%",
        "%SÖHNE",
        "%kelvin%",
        "%stra_e%",
        "ὀδυσσεύσ!%",
        "%İPEK%",
        "ı%",
        "%ß%",
        "%ü%ö%",
        "%&_s%",
    ] {
        for key in ["t", "u"] {
            agree(&memory, &format!("select n from stream where {key} like '{pattern}' ci"));
            agree(&memory, &format!("select n from stream where {key} not like '{pattern}' ci and n > 50"));
        }
        let text = pattern.replace(['%', '_'], "");
        agree(
            &memory,
            &format!("select n from stream where Contains(t, '{text}') ci or EndsWith(u, '{text}') ci"),
        );
        agree(&memory, &format!("select n from stream where HasText('{text}') ci"));
        agree(&memory, &format!("select n from stream where t in ['{text} 1', 'PLAIN 10', '{text}'] ci"));
        agree(&memory, &format!("select n from stream where not (u in ['{text}', 'İPEK'] ci) and n > 20"));
        agree(&memory, &format!("select n from stream where t not in ['{text} 1', 'ipek 9'] ci and n > 280"));
    }
}

#[test]
fn a_text_that_begins_with_the_sign_of_a_run_is_sought_in_any_case() {
    let paths = ["/a%20b", "50% Done", "%A0", "%%", "plain", "a_b", "_B", "100%"];
    let event = |n: u64| {
        let path = paths[n as usize % paths.len()];
        let document = format!(r#"{{"n":{n},"path":"{path}","line":"{path} {n} of {path}"}}"#);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..400).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for (text, hits) in [("%", 250), ("%20B", 50), ("%%", 50), ("% d", 50), ("_b", 100), ("%b", 0)] {
        for condition in [format!("Contains(path, '{text}') ci"), format!("HasText('{text}') ci")] {
            let query = format!("select count(*) as hits from stream where {condition}");
            agree(&memory, &query);
            assert_eq!(memory.query(&query).trim_end(), format!(r#"{{"hits":{hits}}}"#), "{condition}");
            agree(&memory, &format!("select n from stream where not ({condition})"));
        }
        agree(&memory, &format!("select n from stream where Contains(line, '{text}') ci"));
    }
}

/// Names that hardly repeat, beside texts that have them in them; some are escaped, absent or no strings.
fn names() -> Memory {
    let event = |n: u64| {
        let mixed = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let name = match n % 23 {
            3 => format!("Zür\\\"ich-{mixed}"),
            5 => format!("sch\u{f6}n-b{mixed:x}"),
            7 => "\\ud800-b7".to_owned(),
            11 => format!("tab\\t{mixed}"),
            _ => format!("pod-{mixed:x}-b{}", mixed % 16),
        };
        let has = match n % 29 {
            4 => "17".to_owned(),
            9 => "null".to_owned(),
            13 => format!("[\"{name}\"]"),
            17 => "\"\"".to_owned(),
            _ => format!("\"{name}\""),
        };
        let uri = match n % 4 {
            0 => format!("/api/{name}"),
            1 => format!("{name}/log?b={mixed}"),
            2 => format!("/x/{name}/{}", n % 10),
            _ => format!("/none/{mixed}"),
        };
        let member = if n.is_multiple_of(31) { String::new() } else { format!(r#""name":{has},"#) };
        let document =
            format!(r#"{{{member}"uri":"{uri}","few":"{}"}}"#, ["b1", "pod-b2", "\\n"][(n % 3) as usize]);
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..2400).map(event).collect();
    Memory::blocks(&[&[&events[..1400]], &[&events[1400..]]])
}

#[test]
fn patterns_are_matched_with_texts_that_hardly_repeat() {
    let memory = names();
    for pattern in [
        "/-b[0-9]/",
        "/-b[0-9]$/",
        "/^pod-[a-f]/",
        "/[0-9]{9}/",
        "/(sch|Z).*n?-b/",
        "/\\t[0-9]/",
        "/\"ich/",
        "/./",
        "/x*/",
        "/^$/",
        "/b1|b7|pod-0|pod-1|pod-2|17/",
        "/\\x{fffd}/",
        "/POD-.*-B3/",
    ] {
        for query in [
            format!("select count(*), min(name), max(uri) from stream where match(name, {pattern})"),
            format!("select count(*) from stream where not match(name, {pattern}) and match(uri, {pattern})"),
            format!(
                "select uri from stream where match(name, {pattern}) ci or match(few, {pattern}) limit 40"
            ),
            format!("select count(*) from stream where match(Substring(name, 4), {pattern}) group by few"),
            format!("select count(*) from stream group by match(name, {pattern}), match(few, {pattern})"),
            format!(
                "select count(*) from stream where Length(uri) > 24 and match(Concat(few, name), {pattern})"
            ),
        ] {
            agree(&memory, &query);
        }
    }
}

#[test]
fn texts_of_two_columns_are_told_from_their_bytes() {
    let memory = names();
    for function in ["StartsWith", "EndsWith", "Contains"] {
        for query in [
            format!("select count(*), first(uri), last(uri) from stream where {function}(uri, name)"),
            format!("select count(*) from stream where not {function}(uri, name)"),
            format!("select count(*) from stream where {function}(name, few) or {function}(uri, few)"),
            format!("select count(*) from stream where {function}(uri, name) ci and few <> 'b1'"),
            format!("select count(*) from stream where few = 'b1' and {function}(uri, name)"),
            format!("select count(*) from stream group by {function}(uri, name), {function}(name, few)"),
            format!("select count(*) from stream where {function}(uri, ToUpper(name)) ci"),
            format!("select count(*) from stream where {function}(uri, ToLower(few))"),
            format!("select count(*) from stream where {function}(Concat(uri, few), few) ci"),
        ] {
            agree(&memory, &query);
        }
    }
    for op in ["=", "<>", "<", "<=", ">", ">="] {
        for condition in [
            format!("name {op} uri"),
            format!("name {op} few"),
            format!("few {op} Substring(name, 0, 3)"),
            format!("Has(few) and Substring(uri, 1) {op} ToUpper(name)"),
            format!("few = 'b1' and name {op} Substring(uri, 2, 5)"),
            format!("name {op} Substring(name, 0, 9)"),
            format!("not few {op} name"),
        ] {
            agree(&memory, &format!("select count(*), first(uri), max(name) from stream where {condition}"));
        }
    }
    agree(
        &memory,
        "select count(*) as n from stream group by Replace(uri, name, '*') as r order by n desc, r limit 9",
    );
}

/// Some letters beyond ASCII are letters of ASCII in the other case, and one text of two may have them.
#[test]
fn texts_of_two_columns_in_any_case_are_told_beyond_ascii() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: match n % 9 {
            0 => format!(r#"{{"t":"ks{n}"}}"#),
            1 => format!(r#"{{"t":null,"u":"K{n}"}}"#),
            _ => format!(
                r#"{{"t":"{}{n}","u":"{}"}}"#,
                ["\u{212a}S", "k\u{17f}", "KS", "\\u212as", "\u{130}"][(n % 5) as usize],
                ["k", "ks", "\u{212a}", "\u{17f}2", "", "s4", "i"][(n % 7) as usize]
            ),
        },
    };
    let events: Vec<Event> = (0..400).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for function in ["StartsWith", "EndsWith", "Contains"] {
        for arguments in ["t, u", "u, t", "t, Substring(u, 1)", "Concat(u, 's'), u", "ToUpper(t), u"] {
            agree(
                &memory,
                &format!("select count(*), sum(Length(t)) from stream where {function}({arguments}) ci"),
            );
            agree(
                &memory,
                &format!("select count(*), sum(Length(t)) from stream where {function}({arguments})"),
            );
        }
    }
}

/// Characters beyond ASCII become letters of ASCII in the other case: what is matched is not what is stored.
#[test]
fn patterns_for_texts_in_one_case_are_not_matched_with_them_as_they_are_stored() {
    let event = |n: u64| Event {
        instant: n,
        arrival: n,
        document: format!(
            r#"{{"t":"{}a{n}","u":"{}x{n}"}}"#,
            ["\u{17f}", "s"][(n % 2) as usize],
            ["\u{131}", "\u{212a}", "k", "i"][(n % 4) as usize]
        ),
    };
    let events: Vec<Event> = (0..1200).map(event).collect();
    let memory = Memory::blocks(&[&[&events]]);
    for query in [
        "select count(*) from stream where IsMatch(ToUpper(t), /SA/)",
        "select count(*), min(t) from stream where not IsMatch(ToUpper(t), 'SA')",
        "select sum(if IsMatch(ToUpper(t), /SA/) then 1 else 0) from stream",
        "select count(*), max(u) from stream where IsMatch(ToLower(u), /kx1/) or IsMatch(ToUpper(u), /IX2/)",
        "select count(*) from stream where IsMatch(ToUpper(u), /^[IK]X[0-3]/) and IsMatch(u, /[ik]x1?/) ci",
    ] {
        agree(&memory, query);
    }
}

/// Texts that have one case already, and nothing that is replaced, are those that are stored: beside them stand others that change, or are no texts.
#[test]
fn texts_that_functions_leave_as_they_are() {
    let others = [
        "",
        r#""t":"UPPER","#,
        r#""t":7,"#,
        r#""t":null,"#,
        r#""t":"a\\nb","#,
        r#""t":"\u212a","#,
        r#""t":"ö","#,
    ];
    for other in others {
        let event = |n: u64| {
            let t = match n {
                50 => other.to_owned(),
                n if n % 11 == 3 => String::new(),
                n => format!(r#""t":"user-{}@host","#, n % 120),
            };
            let document = format!(r#"{{{t}"m":"user {n} of host {} logged in","n":{n}}}"#, n % 7);
            Event { instant: n, arrival: n, document }
        };
        let events: Vec<Event> = (0..600).map(event).collect();
        let memory = Memory::blocks(&[&[&events]]);
        for of in [
            "ToLower(t)",
            "ToUpper(t)",
            "ToLower(m)",
            "Replace(t, 'x', 'y')",
            "Replace(t, 't\"\"u', 'y')",
            "Replace(ToLower(m), 'host 8', '')",
            "ToLower(Replace(t, 'user', 'USER'))",
        ] {
            let queries = [
                format!("select count(distinct({of})), min({of}), max({of}) from stream"),
                format!("select count(*) as c from stream group by {of} as k order by c desc, k limit 20"),
                format!("select {of} from stream where StartsWith({of}, 'user-1') and n < 90"),
                format!("select count(*) from stream where {of} = m or {of} = t"),
            ];
            for query in &queries {
                agree(&memory, query);
            }
            // They share kept keys with those that are stored.
            let [distinct, grouped, ..] = &queries;
            let stored =
                ["t", "m"].map(|path| format!("select count(distinct({path})), min({path}) from stream"));
            let [t, m] = &stored;
            agree_in_turn(
                &memory,
                &[distinct, t, distinct, grouped, m, grouped, t, distinct].map(String::as_str),
            );
        }
    }
}

/// What a pattern needs stands in all texts, in some or in none; what is compared may be no text, or spelled with escapes.
#[test]
fn patterns_are_matched_with_whole_texts() {
    let event = |n: u64| {
        let t = match n % 12 {
            0 => "null".to_owned(),
            1 => format!("{n}"),
            2 => format!(r#"["/v{n}"]"#),
            3 => return Event { instant: n, arrival: n, document: r#"{"u":"/v1/items/7"}"#.to_owned() },
            4 => format!(r#""/v2/items/{n}\"""#),
            5 => format!(r#""\/v2/items/{n}""#),
            6 => format!(r#""/v2/items/{n}ö""#),
            7 => r#""""#.to_owned(),
            _ => format!(r#""/v{}/items/{n}""#, n % 3),
        };
        let document = format!(r#"{{"t":{t},"u":"/v{}/items/{n}:{}"}}"#, n % 2, n % 90);
        Event { instant: n, arrival: n, document }
    };
    let conditions = [
        r"t = /\/v2\/items\/[0-9]+/",
        r"t <> /\/v2\/items\/[0-9]+/",
        r"t = /.*[0-9]/",
        r"t <> /.*[^a-f]/ and n is null",
        r"not t = /\/v1.*/",
        r"u = /\/v1.*:[0-9]/",
        r"u <> /\/v0.*:[0-9]{2}/",
        r"u = /\/V1\/ITEMS.*/ ci",
        r"ToUpper(t) = /\/V2.ITEMS.[0-9]+/",
        r"Substring(u, 3) <> /.items.[0-9]*:7/",
        r"IsMatch(u, /:[0-9]{2}$/)",
        r"IsMatch(u, /^[0-9]/)",
        r"not IsMatch(t, /^[\/0-9]/)",
    ];
    for count in [40, 1_500] {
        let events: Vec<Event> = (0..count).map(event).collect();
        let memory = Memory::blocks(&[&[&events]]);
        for condition in conditions {
            agree(&memory, &format!("select count(*), max(u) from stream where {condition}"));
            agree(&memory, &format!("select count(*) from stream group by {condition} as c order by c"));
        }
    }
}

/// Values of all types, the missing one among them, and columns of one type alone.
#[test]
fn types_are_told_without_values() {
    let values = ["null", "true", "1.50", r#""t""#, "[1]", r#"{"m":1}"#, "-3e2", "false", r#""7""#];
    let event = |n: u64| {
        let all = values[(n * n % 83 % 9) as usize];
        // A few values beside numbers, which do not repeat.
        let most = if n.is_multiple_of(10) { all.to_owned() } else { format!("{n}.25") };
        let document = match n % 7 {
            0 => format!(r#"{{"u":"text {n}"}}"#),
            1 => format!(r#"{{"a":{all},"o":{{"m":{most}}}}}"#),
            _ => format!(r#"{{"a":{all},"m":{most},"n":{n},"u":"text {n}","o.m":{n}}}"#),
        };
        Event { instant: n, arrival: n, document }
    };
    for count in [60, 1_800] {
        let events: Vec<Event> = (0..count).map(event).collect();
        let memory = Memory::blocks(&[&[&events]]);
        for path in ["a", "m", "n", "u", "o", "o.m", "none"] {
            for query in [
                format!("select count(*) from stream where TypeOf({path}) = 'number'"),
                format!("select count(*), max(n) from stream where TypeOf({path}) <> 'undefined' and n > 20"),
                format!("select count(*) from stream group by TypeOf({path}) as t order by t"),
                format!(
                    "select count(distinct(TypeOf({path}))), min(TypeOf({path})) from stream where n > 9"
                ),
                format!(
                    "select TypeOf({path}) from stream where TypeOf({path}) in ['null', 'object', 'string']"
                ),
                format!("select sum(if TypeOf({path}) = 'number' then {path} else 0) from stream"),
            ] {
                agree(&memory, &query);
            }
        }
    }
}

/// Where a part begins and how long it is comes of bytes where all texts are plain, and of characters where one is not: a separator may be nowhere, further on
/// than the first bytes, or at either end.
#[test]
fn parts_begin_and_end_where_separators_stand() {
    let text = |n: u64| match n % 11 {
        0 => String::new(),
        1 => "no separator".to_owned(),
        2 => ".begins".to_owned(),
        3 => "ends.".to_owned(),
        4 => "aaa.aa.a".to_owned(),
        5 => format!("{}.far", "x".repeat(n as usize % 40)),
        _ => format!("part{}.of {}.{n}", n % 5, n % 3),
    };
    let parts = [
        "Substring(t, 0, IndexOf(t, '.'))",
        "Substring(t, IndexOf(t, '.'))",
        "Substring(t, IndexOf(t, '.') + 1)",
        "Substring(t, 2 + IndexOf(t, '.') - 1, 3)",
        "Substring(t, LastIndexOf(t, '.') + 1)",
        "Substring(t, 0, LastIndexOf(t, 'aa'))",
        "Substring(t, IndexOf(t, 'aa'), Length(t) - 2)",
        "Substring(t, Length(t) - 3)",
        "Substring(t, IndexOf(t, ''), LastIndexOf(t, ''))",
        "Substring(t, IndexOf(t, '.') - IndexOf(t, 'a'), LastIndexOf(t, '.') - IndexOf(t, '.'))",
        "Substring(t, 9007199254740993 + Length(t))",
        "Substring(t, IndexOf(t, '.') + 9223372036854775807)",
        "IndexOf(t, '.') + LastIndexOf(t, 'a')",
    ];
    for beyond in ["", "ö", "\\n"] {
        let event = |at: u64| {
            let n = at % 700;
            let own = if n == 37 { beyond } else { "" };
            Event { instant: at, arrival: at, document: format!(r#"{{"n":{n},"t":"{own}{}"}}"#, text(n)) }
        };
        // Texts that hardly repeat, and some that do.
        for count in [400, 1_400] {
            let events: Vec<Event> = (0..count).map(event).collect();
            let memory = Memory::blocks(&[&[&events]]);
            for part in parts {
                agree(
                    &memory,
                    &format!("select count(*) as c from stream group by {part} as p order by c desc, p"),
                );
                agree(&memory, &format!("select {part} from stream where n % 3 = 0"));
                agree(&memory, &format!("select count(distinct({part})), max(ToNumber({part})) from stream"));
            }
        }
    }
}

/// Some texts have escapes, or characters beyond ASCII; some parts are empty, absent or no text, and few rows share theirs.
#[test]
fn what_is_replaced_may_stand_in_another_column() {
    let event = |n: u64| {
        let city = ["Bern", "Zürich", "", "a\\\"b", "\\n", "Oslo"][n as usize % 6];
        let part = ["\"Bern\"", "\"n\"", "\"\"", "\"o\"", "null", "7", "\"Oslo of\"", "\"\\n\"", "\"\\\"\""]
            [n as usize % 9];
        let own = if n.is_multiple_of(4) {
            String::new()
        } else {
            format!(r#","own":"{}","with":"é\t{}""#, n % 100, n % 3)
        };
        let document = format!(
            r#"{{"n":{n},"t":"{city} {n} of {city}{n}","city":"{city}","part":{part},"plain":"b{}"{own}}}"#,
            n % 3
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..1200).map(event).collect();
    let memory = Memory::blocks(&[&[&events[..700]], &[&events[700..]]]);
    for replaced in [
        "Replace(t, part, '-')",
        "Replace(t, city, '-')",
        "Replace(t, plain, 'x')",
        "Replace(t, own, with)",
        "Replace(t, own, '')",
        "Replace(t, 'o', with)",
        "Replace(t, own, n)",
        "Replace(ToUpper(t), own, plain)",
        "Replace('b0 b1 b2', plain, t)",
        "Replace(Replace(t, own, '1'), plain, '2')",
        "Replace(t, city, own) ci",
    ] {
        for text in [
            format!("select n, {replaced} as x from stream where n > 30 and n < 90"),
            format!("select count(*), max(Length({replaced})), min({replaced}) from stream group by n % 5"),
            format!("select count(*) from stream where {replaced} like '%1%' or {replaced} = 'Bern 6 of -'"),
            format!("select count(*) as c from stream group by {replaced} order by c desc limit 9"),
            format!("select count(distinct({replaced})) from stream"),
        ] {
            agree(&memory, &text);
        }
    }
}

/// Texts are told apart by their first bytes, where these differ.
#[test]
fn the_least_and_the_greatest_of_texts_that_begin_alike() {
    let texts = [
        "",
        "a",
        "ab",
        "same beg",
        "same begin",
        "same beginning",
        "same beh",
        "same be",
        "sam\u{f6} beg",
        "\u{7f}",
        "~~~~~~~~",
        "~~~~~~~~~",
    ];
    let event = |n: u64| {
        let text = texts[(n * 7 % 12) as usize];
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"t":"{text}","u":"{text}{n}"}}"#) }
    };
    for (from, to) in [(0, 1), (0, 2), (3, 9), (0, 300), (5, 205)] {
        let events: Vec<Event> = (from..to).map(event).collect();
        let memory = Memory::blocks(&[&[&events]]);
        for by in ["", " group by n % 2", " group by n % 50 order by n % 50"] {
            agree(&memory, &format!("select min(t), max(t), min(u), max(u) from stream{by}"));
        }
    }
}

/// Messages that are rendered show what columns have of the properties that templates name, whatever these are, and whatever their names.
#[test]
fn rendered_messages_show_the_properties_that_templates_name() {
    const TEMPLATES: [&str; 10] = [
        "Order {Id} of {Who} took {Took:0.0} ms",
        "{Who} {@Who} {$Who,8} [{Who,-8}]",
        "{Ship.City} {Ship} {Ship.Gone} {Flat.Name}",
        "{{Id}} {Gone} {odd name} {Größe}",
        "{Tags} {Note} {Paid} {Twice}",
        "nothing to show",
        "{Big}{Big} {Id,6} {Took:x} {Took:y}",
        "{Ship.City.Part} {Tags.0} {Who.Length}",
        "{at} {sign}",
        "",
    ];
    let document = |n: u64| {
        let template = TEMPLATES[(n * 7 % 10) as usize];
        let message = match n % 11 {
            0 => String::new(),
            1 => r#""@mt":17,"#.to_owned(),
            2 => format!(r#""@m":"stored {n}","@mt":"{template}","#),
            3 => format!(r#""@m":null,"@mt":"{template}","#),
            _ => format!(r#""@mt":"{template}","#),
        };
        let who = match n % 7 {
            0 => r#""A\"d\\a\n{Id}""#.to_owned(),
            1 => "null".to_owned(),
            2 => r#"{"Length":3}"#.to_owned(),
            _ => format!(r#""Zoë {}""#, n % 50),
        };
        let ship = match n % 5 {
            0 => r#""Ship":{"City":"Athens","Zip":[1,2]},"#,
            1 => r#""Ship":"by air","Ship.City":"Sparta","#,
            2 => r#""Ship":{"City":{"Part":1.50}},"#,
            _ => "",
        };
        let renderings = if n.is_multiple_of(3) { r#""@r":["12.5",7],"# } else { "" };
        let twice = if n.is_multiple_of(4) { r#""Twice":1,"Twice":"2","# } else { r#""Twice":[],"# };
        let tags = if n.is_multiple_of(2) { r#"["a","b\"c"]"# } else { "{}" };
        format!(
            r#"{{{message}{renderings}{ship}{twice}"Who":{who},"Id":{n},"Took":{}.50,"Tags":{tags},"Note":"","Paid":{},"Größe":1e2,"Big":12345678901234567890123,"Flat.Name":"f","@@at":"x","@@sign":2}}"#,
            n % 90,
            n.is_multiple_of(2),
        )
    };
    let events: Vec<Event> = (0..1200)
        .map(|n| Event {
            instant: 638_000_000_000_000_000 + n * 10_000_000,
            arrival: n,
            document: document(n),
        })
        .collect();
    let memory = Memory::blocks(&[&[&events[..500], &events[500..900]], &[&events[900..]]]);
    for text in [
        "select @Message from stream",
        "select @Message, Id from stream limit 3",
        "select @Message, Took from stream order by time desc limit 100",
        "select @Message, Took from stream order by Took desc limit 20",
        "select count(*) from stream group by @Message",
        "select count(*) from stream group by Substring(@Message, 3, 5)",
        "select count(*), count(distinct(@Message)), min(@Message) from stream group by Paid",
        "select count(*) from stream where @Message like '%Zoë 1%' or @Message like '%Athens%'",
        "select Id from stream where IsMatch(@Message, /[0-9]+ of .*1/) and Took > 40",
        "select @Message from stream where Took = 7.5",
        "select @Data from stream where Contains(@Message, 'by air')",
        "select Length(@Message), Length(@Data) from stream where @Message <> 'nothing to show'",
        "select @Message, ToJson(@Properties) from stream where Id < 40",
        "select t, @Message from stream lateral unnest(Tags) as t limit 50",
    ] {
        agree(&memory, text);
    }
}
