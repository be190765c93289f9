//! What expressions make of texts, which is kept once it is asked for again.

use crate::agree::agree_in_turn;
use crate::memory::{Event, Memory};

/// Events with texts that repeat, that hardly do, that spell numbers, stand beside others and are missing; some of which cannot be told by their bytes.
fn events() -> Memory {
    let event = |n: u64| {
        let name = match n % 13 {
            0 => "null".to_owned(),
            1 => "7".to_owned(),
            2 => r#""\ud800 Zoë""#.to_owned(),
            3 => r#""""#.to_owned(),
            4 => r#"["a"]"#.to_owned(),
            _ => format!(r#""Host-{}.Example\u00e9.com""#, n * 7 % 90),
        };
        let reference =
            if n % 19 == 9 { String::new() } else { format!(r#","of":{{"ref":"P/{}"}}"#, n % 700) };
        let dotted = if n % 200 == 77 { r#","of.ref":"P/dotted""# } else { "" };
        let document = format!(
            r#"{{"n":{n},"name":{name},"id":"{:x}","kind":"k{}"{reference}{dotted}}}"#,
            (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            n % 5
        );
        Event { instant: n, arrival: n, document }
    };
    let events: Vec<Event> = (0..3_000).map(event).collect();
    Memory::blocks(&[&[&events[..1_400]], &[&events[1_400..]]])
}

const MADE: [&str; 12] = [
    "ToLower(name)",
    "Substring(of.ref, 2)",
    "ToNumber(Substring(of.ref, 2))",
    "Replace(name, /^Host-([0-9]+).*$/, '$1')",
    "Replace(name, '.', '')",
    "Length(Replace(name, '.', ''))",
    "Concat(kind, ' ', of.ref)",
    "Concat(id, of.ref)",
    "Substring(id, 0, 3)",
    "if Has(of.ref) then Substring(of.ref, 0, 3) else ToUpper(name)",
    "Coalesce(Substring(of.ref, 4), name, n)",
    "IndexOfMatch(name, /[0-9]\\./)",
];

#[test]
fn what_is_kept_of_expressions_is_what_is_made_event_by_event() {
    let memory = events();
    for made in MADE {
        let asked = [
            format!("select count(*) as c from stream group by {made} as g"),
            format!("select count(distinct({made})) as c, min(n) as least from stream group by kind"),
            format!(
                "select count(*) as c, max({made}) as m from stream where n % 2 = 0 group by {made} as g, kind"
            ),
            format!("select sum({made} * 2) as s, min({made}) as least from stream where n % 500 = 3"),
            format!("select count(*) as c from stream where {made} <> name and {made} >= 30"),
            format!("select n, {made} as v from stream where {made} is not null order by v desc, n limit 9"),
            format!("select first({made}) as f from stream group by {made} ci as g"),
        ];
        let twice: Vec<&str> = asked.iter().chain(&asked).map(String::as_str).collect();
        agree_in_turn(&memory, &twice);
    }
}

#[test]
fn expressions_that_are_spelled_nearly_alike_are_kept_apart() {
    let of_all = |asked: &[&str]| {
        let asked: Vec<String> = asked
            .iter()
            .map(|made| format!("select count(*) as c from stream group by {made} as g"))
            .collect();
        let times: Vec<&str> = (0..4).flat_map(|_| asked.iter().map(String::as_str)).collect();
        agree_in_turn(&events(), &times);
    };
    of_all(&[
        "Substring(of.ref, 2)",
        "Substring(of.ref, 2, 1)",
        "Substring(@Data['of.ref'], 2)",
        "Substring(name, 2)",
        "Substring(id, 2)",
    ]);
    of_all(&[
        "Replace(name, '1', '')",
        "Replace(name, /1/, '')",
        "Replace(name, 1, '')",
        "Replace(name, 'o', '') ci",
    ]);
    of_all(&["Replace(name, /O/, '$0')", "Replace(name, /O/, '$0') ci", "Replace(name, /o/, '$0')"]);
    of_all(&[
        "Concat(kind, 'n')",
        "Concat(kind, n)",
        "Concat(kind, '''', 'n')",
        "Concat(kind, ''', ''', 'n')",
    ]);
    of_all(&["Concat(kind, Now() - Now())", "Concat(kind, ToString(@Timestamp))", "Concat(kind, @Level)"]);
    // A reader found that constants were taken for paths.
    of_all(&[
        "Coalesce(ToLower(name), kind)",
        "Coalesce(ToLower(name), [['kind']])",
        "Coalesce(ToLower(name), 'kind')",
    ]);
    of_all(&["if ToLower(name) = kind then 1 else 0", "if ToLower(name) = [['kind']] then 1 else 0"]);
}
