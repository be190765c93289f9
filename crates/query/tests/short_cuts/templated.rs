//! Messages that are stored by template: what is asked of them is told by their pieces.

use crate::agree::{agree, agree_in_turn};
use crate::memory::Memory;

/// Messages made of a path that is a template itself, of numbers, of names beyond ASCII and of quoted text.
fn messages() -> Memory {
    let document = |n: u32| {
        let path = format!("/shop/{}/items/{}", n * 7919 % 100, n * 31 % 977);
        let (ms, name) =
            (f64::from(n * 37 % 1000) / 10.0, ["Zürich", "Bern", "Kiel", "Straße"][n as usize / 5 % 4]);
        match n % 5 {
            0 => format!(r#"{{"n":{n},"Message":"User {n} left","User":{n}}}"#),
            1 => {
                format!(r#"{{"n":{n},"Path":"{path}","ms":{ms:.1},"Message":"GET {path} took {ms:.1} ms"}}"#)
            }
            2 => format!(r#"{{"n":{n},"City":"{name}","User":{n},"Message":"User {n} came from {name}"}}"#),
            3 => format!(
                r#"{{"n":{n},"Note":"line {n}\n\"{name}\"","Message":"Noted: line {n}\n\"{name}\""}}"#
            ),
            _ => format!(r#"{{"n":{n}}}"#),
        }
    };
    let documents: Vec<String> = (0..600).map(document).collect();
    Memory::new(&documents.iter().map(String::as_str).collect::<Vec<_>>())
}

const CONDITIONS: &[&str] = &[
    "match(Message, 'took')",
    "match(Message, '/items/')",
    "match(Message, 'T /shop/7')",
    "match(Message, '99')",
    "match(Message, '.5')",
    "match(Message, ' 4 ')",
    "match(Message, 'absent')",
    "match(Message, 'm')",
    "not match(Message, 'left')",
    "Message like '%ZÜRICH%' ci",
    "Message like '%KIEL%' ci",
    "Message like '%strasse%' ci",
    "Message like '%user 1%' ci",
    "Message like '%\"bern%' ci",
    "Message like '%nline%'",
    "Message like '%line 1%'",
    "Message not like '%user%' ci",
    "Message like 'User%'",
    "Message like 'GET /shop/_%'",
    "Message like '% ms'",
    "Message like 'User%from%n'",
    "Message like '%\n%'",
    "Message = 'User 5 left'",
    "Message = 'USER 5 LEFT' ci",
    "Message <> 'User 5 left'",
    "Message in ['User 5 left', 'User 10 left']",
    "StartsWith(Message, 'User 1')",
    "EndsWith(Message, 'Bern')",
    "EndsWith(Message, 'kiel') ci",
    "Contains(Message, 'came')",
    "Message > 'User 3'",
    "Length(Message) > 24",
    "Length(Message) = 12",
    "Message is null",
    "Message is not null",
    "Path = '/shop/19/items/31'",
    "match(Path, 'items') and not match(Path, '/1')",
    "n > 300 and match(Message, 'left')",
];

#[test]
fn what_is_asked_of_messages_is_told_by_their_pieces() {
    let memory = messages();
    for condition in CONDITIONS {
        agree(&memory, &format!("select n from stream where {condition}"));
        agree(
            &memory,
            &format!("select count(*), sum(Length(Message)), min(Message) from stream where {condition}"),
        );
    }
}

#[test]
fn what_was_asked_of_messages_before_makes_no_difference() {
    let memory = messages();
    let searches: Vec<String> =
        CONDITIONS.iter().map(|condition| format!("select n from stream where {condition}")).collect();
    let shown =
        CONDITIONS.iter().step_by(3).map(|condition| format!("select Message from stream where {condition}"));
    let others = [
        "select Message from stream where n < 20",
        "select Message from stream where n % 7 = 2",
        "select count(*) from stream group by Message having count(*) > 1",
        "select max(Length(Message)), count(distinct(Message)) from stream",
        "select ToUpper(Message) as u from stream where n < 9",
        "select Message + '!' as m from stream order by m limit 5",
        "select sum(Length(Message)), count(*) from stream where n > 400",
        "select Length(Message) + n as long from stream where n > 300 order by long desc limit 9",
        "select Message, Length(Message) as long, n as x from stream where n > 100 order by x desc limit 9",
    ];
    let texts: Vec<String> = searches.into_iter().chain(shown).chain(others.map(str::to_owned)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    agree_in_turn(&memory, &texts);
    agree_in_turn(&memory, &texts.iter().rev().copied().collect::<Vec<_>>());
}

/// Every other message shows a text of the next event, which consists of what that event has.
#[test]
fn what_is_asked_of_messages_that_show_the_next_event_is_told_by_what_that_has() {
    let job = |n: u32| format!("job-{}/run", 1000 + n * 7);
    let document = |n: u32| match n % 2 {
        0 => format!(
            r#"{{"n":{n},"Id":{},"Job":"{}","Message":"start {} now"}}"#,
            1000 + n * 7,
            job(n),
            job(n)
        ),
        _ => format!(r#"{{"n":{n},"Message":"start {} now"}}"#, job(n + 1)),
    };
    let documents: Vec<String> = (0..200).map(document).collect();
    let memory = Memory::new(&documents.iter().map(String::as_str).collect::<Vec<_>>());
    for condition in [
        "Message like '%1014%'",
        "Message not like '%1014%'",
        "match(Message, '-1014')",
        "match(Message, /[a-z]-1014/)",
        "ToLower(Message) like '%1014%'",
        "HasText('1014')",
        "Length(Message) = 22",
        "Length(Message) < 15",
        "Message like '%-1014%' or Job = 'x'",
    ] {
        let query = format!("select n, Length(Message) as length from stream where {condition}");
        agree(&memory, &query);
        agree_in_turn(&memory, &[query.as_str(); 3]);
        agree(&memory, &format!("select count(*), sum(Length(Message)) from stream where {condition}"));
    }
}

/// Of texts that do not repeat, those of some rows are gathered; of shared ones, and of those with characters beyond ASCII, too.
#[test]
fn numbers_are_cut_out_of_the_texts_of_some_rows() {
    let memory = messages();
    let numbers = [
        "ToNumber(Substring(Message, 5, IndexOf(Message, ' left') - 5))",
        "ToNumber(Substring(Message, IndexOf(Message, 'took ') + 5, Length(Message) - IndexOf(Message, 'took ') - 8))",
        "ToNumber(Substring(Note, 5, IndexOf(Note, '\n') - 5)) + n",
        "Round(ToNumber(Replace(Substring(Path, 6, 3), '/', '')) / 7, 2)",
        "ToNumber(Substring(City, 1)) + ToNumber(Substring(Message, 5, 3))",
        "ToNumber(Substring(User, 0, 1)) * User",
        "ToNumber(Message)",
    ];
    let some =
        ["n % 6 = 1", "n < 9", "n >= 400", "n % 2 = 0 and n < 500", "Contains(Message, 'took')", "ms > 50"];
    for number in numbers {
        for condition in some {
            let queries = [
                format!(
                    "select sum({number}), mean({number}), count({number}) from stream where {condition}"
                ),
                format!("select max({number}) from stream where {condition} group by n % 3 as k order by k"),
                format!("select sum({number}) from stream where {condition} and {number} > 20"),
            ];
            for query in &queries {
                agree(&memory, query);
            }
            agree_in_turn(&memory, &queries.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
