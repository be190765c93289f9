//! What stands in the JSON of texts, which is read once for all that is asked of it.

use crate::agree::agree_in_turn;
use crate::memory::{Event, Memory};

/// Events whose `ctx` mostly spells an object, which some write with spaces, escapes or a key twice; others have something else there.
fn contexts() -> Memory {
    let event = |n: u64| {
        let screen = ["Cart", "Home", "Zürich", "a\\\"b", ""][(n * 7 % 5) as usize];
        let ms = ["12", "1e2", "100.0", "-0", "null", "\\\"12\\\""][(n * 11 % 6) as usize];
        let ctx = match n % 17 {
            0 => "null".to_owned(),
            1 => "7".to_owned(),
            2 => r#""{\"screen\": \"broken\"""#.to_owned(),
            3 => r#""[{\"screen\":\"in an array\"},2]""#.to_owned(),
            4 => r#""\"Cart\"""#.to_owned(),
            5 => r#""{\"screen\":\"first\",\"screen\":\"\\ud800\"}""#.to_owned(),
            6 => r#"{"screen":"no text","ms":1}"#.to_owned(),
            7 => r#""{\"ab\":{\"bucket\":\"none\"},\"tags\":[]}""#.to_owned(),
            _ => format!(
                r#""{{ \"screen\" : \"{}\", \"ms\":{ms}, \"ab\":{{\"bucket\":{}}}, \"tags\":[\"t{}\",{}] }}""#,
                screen.replace('\\', "\\\\").replace('"', "\\\""),
                n * 31 % 1000,
                n % 5,
                n % 3
            ),
        };
        let ctx = if n % 19 == 9 { String::new() } else { format!(r#","ctx":{ctx}"#) };
        Event { instant: n, arrival: n, document: format!(r#"{{"n":{n},"kind":"k{}"{ctx}}}"#, n % 23) }
    };
    let events: Vec<Event> = (0..3_000).map(event).collect();
    Memory::blocks(&[&[&events[..1_400]], &[&events[1_400..]]])
}

#[test]
fn what_stands_in_the_json_of_texts_is_what_is_read_event_by_event() {
    let memory = contexts();
    let made = [
        "FromJson(ctx).screen",
        "FromJson(ctx).ms",
        "FromJson(ctx).ab.bucket",
        "FromJson(ctx).tags[0]",
        "FromJson(ctx)[0].screen",
        "FromJson(ctx)",
        "FromJson(ctx).ms * 2 + FromJson(ctx).ab.bucket",
        "Coalesce(FromJson(ctx).none, FromJson(ctx).screen, n)",
        "if FromJson(ctx).ab.bucket > 500 then FromJson(ctx).screen else Length(FromJson(ctx).tags)",
    ];
    for condition in ["kind = 'k3'", "n % 2 = 0", "n >= 0", "FromJson(ctx).screen = 'Cart' and n > 40"] {
        for of in made {
            agree_in_turn(
                &memory,
                &[
                    // Few rows come first, then others, and all of them.
                    &format!("select n, {of} as v from stream where kind = 'k5'"),
                    &format!("select n, {of} as v from stream where {condition}"),
                    &format!(
                        "select count({of}), sum({of}), max({of}), min({of}) from stream where {condition}"
                    ),
                    &format!("select count(*) as c from stream where {condition} group by {of} as v"),
                    &format!("select count(*) from stream where {condition} and {of} is not null"),
                    &format!("select count(*) from stream where {condition} and Has({of}) and {of} <> 12"),
                    &format!("select n, {of} as v from stream where {condition} order by v desc limit 7"),
                    &format!("select count(distinct({of})) from stream group by kind"),
                ],
            );
        }
    }
}

#[test]
fn what_stands_in_the_json_of_texts_is_unnested_as_events_have_it() {
    agree_in_turn(
        &contexts(),
        &[
            "select t, FromJson(ctx).screen as s from stream lateral unnest(FromJson(ctx).tags) as t where n % 30 = 4",
            "select count(*) as c from stream lateral unnest(FromJson(ctx).tags) as t group by t",
            "select count(*) as c from stream lateral unnest(FromJson(ctx)) as e group by e.screen",
            "select max(FromJson(ctx).ms) as m from stream lateral unnest(FromJson(ctx).tags) as t where FromJson(ctx).ab.bucket > 10 group by t",
            "select count(*) from stream where Some(FromJson(ctx).tags, |t| t = FromJson(ctx).none or t = 't3')",
        ],
    );
}
