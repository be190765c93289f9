//! Messages that are rendered from templates, as columns, beside what else is asked of events.

use crate::agree::{agree, agree_in_turn};
use crate::memory::{Event, Memory};

/// Events with templates of every kind: names with points, alignment, formats with and without renderings, holes without a value, escapes; some have a message of
/// their own, or no template that is text.
fn templated() -> Memory {
    const TEMPLATES: [&str; 9] = [
        "User {User} opened {Path} in {Elapsed:0.0} ms",
        "{User,12}|{Elapsed,-9}|{Path,3}",
        "{At.City} and {At.Zip,6} of {At}, not {At.None}",
        "{{literal}} \\\"{User}\\\" \\u0007 {Odd-name} {",
        "{@Items} {$Flag} {Big}",
        "plain, größer",
        "",
        "{A.B} {A.B.C}",
        "{Elapsed:0.0} {Elapsed:x} {User}",
    ];
    let event = |n: u64| {
        let mut members = vec![format!(r#""n":{n}"#)];
        match n % 19 {
            17 => members.push(r#""@mt":7"#.to_owned()),
            18 => {}
            _ => members.push(format!(r#""@mt":"{}""#, TEMPLATES[(n % 9) as usize])),
        }
        match n % 23 {
            5 => members.push(format!(r#""@m":"own {n}""#)),
            6 => members.push(r#""@m":null"#.to_owned()),
            7 => members.push(r#""@m":{"a":1}"#.to_owned()),
            _ => {}
        }
        match n % 5 {
            0 => members.push(format!(r#""@r":["{n}.0","  é\n"]"#)),
            1 => members.push(r#""@r":[7,"x"]"#.to_owned()),
            2 => members.push(r#""@r":"no array""#.to_owned()),
            _ => {}
        }
        match n % 7 {
            0 => members.push(r#""User":"Zo\u00eb \"x\"\n""#.to_owned()),
            1 => members.push(r#""User":"\ud800""#.to_owned()),
            2 => members.push(format!(r#""User":{n}.50"#)),
            3 => members.push(r#""User":null"#.to_owned()),
            4 => {}
            _ => members.push(format!(r#""User":"u{}""#, n % 40)),
        }
        if !n.is_multiple_of(6) {
            members.push(format!(r#""Elapsed":{}.25,"Path":"/p/{}""#, n * 7 % 300, n % 50));
        }
        match n % 4 {
            0 => members.push(format!(r#""At":{{"City":"Köln","Zip":{n}}},"A":{{"B":{{"C":[{n}]}}}}"#)),
            1 => members.push(r#""At":"text","A.B":"flat","Items":[1,"a\"b"]"#.to_owned()),
            2 => members.push(r#""At.City":true,"Items":{"k":"v"},"Flag":false"#.to_owned()),
            _ => members.push(r#""Big":12345678901234567890123,"Flag":1E3"#.to_owned()),
        }
        Event { instant: n, arrival: n, document: format!("{{{}}}", members.join(",")) }
    };
    let events: Vec<Event> = (0..720).map(event).collect();
    Memory::blocks(&[&[&events[..360]], &[&events[360..]]])
}

const QUERIES: [&str; 18] = [
    "select @Message, n from stream",
    "select @Message, Length(@Message) as l, ToUpper(@Message) as u from stream where n % 3 = 0",
    "select @Message from stream order by time desc limit 40",
    "select @Message, n from stream where n % 60 = 7",
    "select count(*) from stream group by @Message",
    "select count(distinct(@Message)), min(@Message), max(@Message), count(@Message) from stream",
    "select n from stream where @Message like 'User u%'",
    "select n from stream where @Message like '%é%' or Length(Items) = 2",
    "select n from stream where match(@Message, 'opened') and Elapsed > 100",
    "select n from stream where @Message = 'plain, größer'",
    "select n from stream where @Message is null or IsMatch(@Message, /[0-9]+ ms$/)",
    "select n, @Message from stream where Contains(@Message, Path) order by @Message limit 30",
    "select @Message, @Data from stream where @Message like '%köln%' ci limit 20",
    "select @Message, @Properties from stream where n < 30",
    "select i, @Message from stream lateral unnest(Items) as i where @Message like '%flat%' or n > 650",
    "select count(*) from stream where @Message like '%x%' group by Length(Items), Items[Length(Items) - 1]",
    "select sum(Length(@Message)) from stream where Has(@Message) group by @MessageTemplate",
    "select if @Message like '{{%' then @Message else @Level as m from stream limit 200",
];

#[test]
fn messages_of_columns_are_those_of_documents() {
    let memory = templated();
    for text in QUERIES {
        agree(&memory, text);
    }
}

#[test]
fn messages_that_were_kept_are_those_of_documents() {
    agree_in_turn(
        &templated(),
        &[
            "select @Message from stream where n % 60 = 7",
            "select count(*) from stream where @Message like '%u%'",
            "select @Message from stream limit 30",
            "select n, @Message from stream where @Message like '%ms' order by time desc limit 9",
            "select count(distinct(@Message)) from stream where n > 300",
        ],
    );
}

#[test]
fn many_properties_are_rendered_from_documents() {
    let event = |n: u64| {
        let names = (0..40).map(|name| n % 4 * 40 + name);
        let holes: String = names.clone().map(|name| format!("{{k{name}}} ")).collect();
        let members: Vec<String> = names.map(|name| format!(r#""k{name}":{}"#, n * name)).collect();
        Event {
            instant: n,
            arrival: n,
            document: format!(r#"{{"n":{n},"@mt":"{holes}",{}}}"#, members.join(",")),
        }
    };
    let memory = Memory::blocks(&[&[&(0..120).map(event).collect::<Vec<Event>>()]]);
    agree(&memory, "select @Message, n from stream");
    agree(&memory, "select count(*) from stream where @Message like '7 %' or Length(@Message) > 300");
    agree(&memory, "select @Message from stream where n = 77");
}
