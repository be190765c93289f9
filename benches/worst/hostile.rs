//! Events made to defeat the short cuts of a query, and the names by which the queries ask for them.

use std::fmt::Write;
use tamias::EventFormat;
use tamias_benches::{Set, real};

/// About so many bytes for each set.
const SET_BYTES: usize = 5 << 20;
/// Sets whose events take long for their bytes.
const SMALL_SET_BYTES: usize = 1 << 20;

/// What the queries ask for: keys, and values that some events have for them.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub(crate) number: &'static str,
    pub(crate) text: &'static str,
    pub(crate) user: &'static str,
    pub(crate) word: &'static str,
    pub(crate) note: &'static str,
    pub(crate) nested: &'static str,
    /// A part of some texts, the beginning of some, a user, a word and the beginning of some nested values.
    pub(crate) literal: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) known_user: &'static str,
    pub(crate) known_word: &'static str,
    pub(crate) nested_prefix: &'static str,
}

/// Events, and how to ask for them.
pub(crate) struct Hostile {
    pub(crate) events: Set,
    pub(crate) format: EventFormat,
    pub(crate) names: Names,
}

const MADE_UP: Names = Names {
    number: "Elapsed",
    text: "Message",
    user: "User",
    word: "Application",
    note: "Note",
    nested: "Actor.Address.City",
    literal: "/api/customers",
    prefix: "GET /api/c",
    known_user: "user-17",
    known_word: "Shop.Web",
    nested_prefix: "Ber",
};

/// All sets: the real ones that are at hand, and the made-up ones.
pub(crate) fn sets() -> Vec<Hostile> {
    let win_opth = Names {
        number: "event_id",
        text: "message",
        user: "record_number",
        word: "task",
        note: "user",
        nested: "event_data.SubjectUserName",
        literal: "Logon ID",
        prefix: "An account",
        known_user: "7766743",
        known_word: "Logon",
        nested_prefix: "HFDC",
    };
    let cloudtrail = Names {
        number: "eventVersion",
        text: "userAgent",
        user: "sourceIPAddress",
        word: "eventName",
        note: "errorCode",
        nested: "userIdentity.userName",
        literal: "Terraform",
        prefix: "APN/1.0",
        known_user: "192.168.10.20",
        known_word: "GetBucketAcl",
        nested_prefix: "bert",
    };
    let mut sets = Vec::new();
    for (name, time, names) in [("win_opth", "@timestamp", win_opth), ("cloudtrail", "eventTime", cloudtrail)]
    {
        let format = EventFormat::time_key(time);
        sets.extend(real(name).map(|events| Hostile { events, format, names }));
    }
    sets.extend(made_up());
    sets
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn made_up() -> Vec<Hostile> {
    let nested = |number| format!("{},{}", members(number), actor(number));
    let mut sets = vec![
        each("key orders all different", |number| {
            let mut all =
                [MEMBERS.map(|member| member(number)), FILLERS.map(|name| filler(name, number))].concat();
            for place in (1..all.len()).rev() {
                all.swap(place, below(number ^ (place as u64) << 32, place as u64 + 1) as usize);
            }
            format!("{{{}}}", all.join(","))
        }),
        each("each key nested before the real one", |number| {
            format!(r#"{{"Context":{{{}}},{}}}"#, nested(number + 1), nested(number))
        }),
        each("each key nested 20 deep before the real one", |number| {
            let (open, close) = (r#"{"Inner":"#.repeat(20), "}".repeat(20));
            format!(r#"{{"Context":{open}{{{}}}{close},{}}}"#, nested(number + 1), nested(number))
        }),
        each("each key nested behind the real one", |number| {
            format!(r#"{{{},"Context":{{{}}}}}"#, nested(number), nested(number + 1))
        }),
        each("each key as a value", |number| {
            let values = r#""Kind":"Elapsed","Names":["Message","User","Elapsed","Application","Note"]"#;
            format!(r#"{{{values},{}}}"#, members(number))
        }),
        each("each key at the end of another", |number| {
            let others = KEYS.map(|key| format!(r#""x\"{key}":{}"#, below(number, 1000)));
            format!("{{{},{}}}", others.join(","), members(number))
        }),
        each("every second event nested", |number| match number % 2 {
            0 => format!("{{{}}}", members(number)),
            _ => format!(r#"{{"Context":{{{}}},{}}}"#, nested(number + 1), nested(number)),
        }),
        each("each key repeated", |number| format!("{{{},{}}}", members(number + 1), members(number))),
        each("each key in one event of a thousand", |number| match number % 1000 {
            500 => format!("{{{}}}", members(number)),
            _ => format!("{{{}}}", FILLERS.map(|name| filler(name, number)).join(",")),
        }),
        each("values that are objects and arrays", |number| {
            let keys = KEYS.map(|key| format!(r#""{key}":[{{"Of":"{key}","Is":{number}}}]"#));
            format!("{{{}}}", keys.join(","))
        }),
        each("every string escaped", |number| {
            format!("{{{}}}", nested(number).replace(":\"", ":\"\\\\\\\"\\n").replace(" took ", "\\ttook\\n"))
        }),
        each("one event of four with objects for values", |number| match number % 4 {
            0 => {
                let keys = KEYS.map(|key| format!(r#""{key}":{{"Of":"{key}","Is":{number}}}"#));
                format!("{{{}}}", keys.join(","))
            }
            _ => format!("{{{}}}", members(number)),
        }),
        each("texts of 1.5 kB", |number| {
            let text = "There is more to say, and it is said. ".repeat(40);
            format!("{{{}}}", members(number).replace(" took ", &format!(" {text} took ")))
        }),
        each("each key nested four times around texts of 1 kB", |number| {
            let text = "There is more to say, and it is said. ".repeat(14);
            let [one, two, three, four] = [1, 2, 3, 4].map(|more| members(number + more));
            format!(
                r#"{{"A":{{{one}}},"B":{{{two}}},"Text":"{text}",{},"C":{{{three}}},"More":"{text}","D":{{{four}}}}}"#,
                nested(number)
            )
        }),
        each("a nested text of 1.5 kB before each key", |number| {
            let text = "There is more to say, and it is said. ".repeat(40);
            format!(r#"{{"Context":{{"Text":"{text}"}},{}}}"#, nested(number))
        }),
        each("texts of 10 kB", |number| {
            let text = "There is more to say, and it is said. ".repeat(270);
            format!("{{{}}}", members(number).replace(" took ", &format!(" {text} took ")))
        }),
        each("texts of the keys' letters", |number| {
            let text = r#"\"Elapsed\":\"User\",\"Message\":Application"#.repeat(4);
            format!("{{{}}}", members(number).replace(" took ", &format!(" {text} took ")))
        }),
        each("texts of the keys' letters, later on", |number| {
            let text = if number < 8_000 { "" } else { "lapsed Application sage User Note" };
            format!("{{{}}}", members(number).replace(" took ", &format!(" {} took ", text.repeat(6))))
        }),
        each("a hundred keys that begin alike", |number| {
            let mut event = "{".to_owned();
            for other in 0..20 {
                for key in KEYS {
                    let _ = write!(event, r#""{key}{other}":{},"#, below(number, 1000));
                }
            }
            event + &members(number) + "}"
        }),
        each("numbers that take an exact comparison", |number| {
            let elapsed = ["900.00000000000000000000001", "9.0000e2", "899.99999999999999999", "1e3", "-0.0"];
            format!(
                "{{{}}}",
                members_with(number, elapsed[below(number, 5) as usize], TEXTS[number as usize % 4])
            )
        }),
        each("every second event a hit", |number| {
            let (elapsed, text) = if number % 2 == 0 { ("950", TEXTS[0]) } else { ("50", TEXTS[1]) };
            format!("{{{}}}", members_with(number, elapsed, text))
        }),
        each("hits at random", |number| {
            let (elapsed, text) = if below(number, 2) == 0 { ("950.5", TEXTS[0]) } else { ("50", TEXTS[1]) };
            format!("{{{}}}", members_with(number, elapsed, text))
        }),
        each("every event a hit", |number| format!("{{{}}}", members_with(number, "950", TEXTS[0]))),
        each("one event of a thousand a hit", |number| {
            let (elapsed, text) = if number % 1000 == 500 { ("950", TEXTS[0]) } else { ("50", TEXTS[1]) };
            format!("{{{}}}", members_with(number, elapsed, text))
        }),
        each("the literal in every event, under another key", |number| {
            format!(
                r#"{{"Path":"GET /api/customers/7","By":"user-17",{}}}"#,
                members_with(number, "950", TEXTS[1])
            )
        }),
        each("the literal 10,000 times in one event of a hundred", |number| {
            let text = if number % 100 == 99 { "/api/customers".repeat(10_000) } else { String::new() };
            format!("{{{}}}", members(number).replace(" took ", &format!(" {text} took ")))
        }),
        each("each key 2,000 times in one event of a hundred", |number| {
            format!("{{{}{}}}", many(if number % 100 == 99 { 2_000 } else { 0 }, members), members(number))
        }),
        each("each key 60 times in every event", |number| {
            format!("{{{}{}}}", many(60, |inner| members(number * 60 + inner)), members(number))
        }),
        each("events of 1 MB", |number| format!("{{{}{}}}", many(7_000, nested), nested(number))),
        each_of(SMALL_SET_BYTES, "events of 7 bytes", |number| match number % 3 {
            0 => format!(r#"{{"a":{}}}"#, below(number, 10)),
            1 => format!(r#"{{"a":"{}"}}"#, below(number, 10)),
            _ => format!(r#"{{"b":{}}}"#, below(number, 10)),
        }),
        each_of(SMALL_SET_BYTES, "events of the keys alone", |number| {
            format!(r#"{{"Elapsed":{},"User":"","Note":null}}"#, below(number, 1000))
        }),
        a_million_objects(1_000_000),
    ];
    for set in &mut sets {
        if set.events.name == "events of 7 bytes" {
            set.names = Names {
                number: "a",
                text: "a",
                user: "a",
                word: "a",
                note: "b",
                nested: "a.b",
                literal: "5",
                prefix: "5",
                known_user: "5",
                known_word: "5",
                nested_prefix: "5",
            };
        }
    }
    sets
}

/// Sets of which time shall grow as bytes do: each for a size, which is 1, 2 or 4.
pub(crate) fn growing(size: usize) -> Vec<Hostile> {
    let once = |name: &str, event: String| {
        let mut events = Set::new(name);
        events.push(event.as_bytes());
        Hostile { events, format: EventFormat::clef().now_without_time(), names: MADE_UP }
    };
    let nested = |number| format!("{},{}", members(number), actor(number));
    let repeated: Vec<String> = (0..8_000 * size as u64).map(nested).collect();
    vec![
        // The same ones in each block, so that each says the same of itself.
        each_of(size << 20, "nested events", |number| {
            let number = number % 1000;
            format!(r#"{{"Context":{{{}}},{}}}"#, nested(number + 1), nested(number))
        }),
        once("one event, an array of events", format!("{{{}{}}}", many(8_000 * size, nested), nested(1))),
        once("one event, each key again and again", format!("{{{}}}", repeated.join(","))),
        once(
            "one event, a literal again and again",
            format!("{{{}}}", members(1).replace(" took ", &"/api/customers".repeat(80_000 * size))),
        ),
        once(
            "one event, an escaped text",
            format!("{{{}}}", members(1).replace(" took ", &"\\\"Elapsed\\\":".repeat(80_000 * size))),
        ),
        a_million_objects(250_000 * size),
    ]
}

/// One event with an array of objects that each hold a key, and others around it.
fn a_million_objects(objects: usize) -> Hostile {
    let mut set =
        each_of(100_000, "one event, a million objects", |number| format!("{{{}}}", members(number)));
    let array = vec![r#"{"Elapsed":1}"#; objects].join(",");
    set.events.push(format!(r#"{{"Objects":[{array}],{}}}"#, members(0)).as_bytes());
    set
}

/// An array member of so many objects, and a comma; nothing for none.
fn many(objects: usize, members: impl Fn(u64) -> String) -> String {
    match objects {
        0 => String::new(),
        _ => {
            let objects: Vec<String> =
                (0..objects as u64).map(|number| format!("{{{}}}", members(number))).collect();
            format!(r#""Objects":[{}],"#, objects.join(","))
        }
    }
}

fn each(name: &str, event: impl Fn(u64) -> String) -> Hostile {
    each_of(SET_BYTES, name, event)
}

fn each_of(bytes: usize, name: &str, event: impl Fn(u64) -> String) -> Hostile {
    let mut events = Set::new(name);
    let mut number = 0;
    while events.bytes.len() < bytes {
        events.push(event(number).as_bytes());
        number += 1;
    }
    Hostile { events, format: EventFormat::clef().now_without_time(), names: MADE_UP }
}

const KEYS: [&str; 5] = ["Message", "User", "Elapsed", "Application", "Note"];
const FILLERS: [&str; 5] = ["Machine", "Region", "Build", "Session", "Cause"];
const TEXTS: [&str; 4] = ["GET /api/customers/", "GET /api/orders/", "POST /api/invoices/", "Login of "];
const MEMBERS: [fn(u64) -> String; 5] = [
    |number| text(number, TEXTS[below(number, 4) as usize]),
    |number| format!(r#""User":"user-{}""#, below(number, 10_000)),
    |number| format!(r#""Elapsed":{}.{}"#, below(number, 1000), below(number, 9)),
    |number| {
        format!(r#""Application":"{}""#, ["Shop.Web", "Shop.Api", "Shop.Jobs"][below(number, 3) as usize])
    },
    |number| match number % 4 {
        0 => r#""Note":null"#.to_owned(),
        1 => r#""Note":"seen twice""#.to_owned(),
        other => format!(r#""Remark":{other}"#),
    },
];

/// The members of an event, by its number: texts, numbers and names that differ from one to the next.
fn members(number: u64) -> String {
    MEMBERS.map(|member| member(number)).join(",")
}

/// The same, of a time and a text that are told.
fn members_with(number: u64, elapsed: &str, kind: &str) -> String {
    let [_, user, _, application, note] = MEMBERS.map(|member| member(number));
    format!(r#"{},{user},"Elapsed":{elapsed},{application},{note}"#, text(number, kind))
}

fn text(number: u64, kind: &str) -> String {
    format!(r#""Message":"{kind}{} took {} ms""#, below(number, 100_000), below(number, 1000))
}

fn actor(number: u64) -> String {
    let city = ["Berlin", "Bern", "Córdoba", "Oslo"][below(number, 4) as usize];
    format!(r#""Actor":{{"Name":"user-{}","Address":{{"City":"{city}"}}}}"#, below(number, 1000))
}

fn filler(name: &str, number: u64) -> String {
    format!(r#""{name}":"{:x}""#, below(number, 1 << 40))
}

/// A number below `bound` that follows from another one in no evident way: SplitMix64's mixing function.
fn below(number: u64, bound: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % bound
}
