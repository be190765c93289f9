//! Queries over a few events: one check for each feature.

mod memory;

use memory::{Event, Memory};

const SHOP: [&str; 5] = [
    r#"{"@t":"2024-05-29T10:56:01Z","Message":"GET /api/customers/1","Elapsed":250,"App":"Shop","Actor":{"Name":"Ada"},"Tags":["a","b"]}"#,
    r#"{"@t":"2024-05-29T10:56:02Z","Message":"GET /api/\"orders\"","Elapsed":200.0,"App":"Shop","@l":"Error"}"#,
    r#"{"@t":"2024-05-29T10:56:03Z","Message":"tschüß","Elapsed":"300","App":"Mail"}"#,
    r#"{"@t":"2024-05-29T10:56:04Z","Message":null,"Elapsed":1e3,"App":"shop","Tags":[]}"#,
    r#"{"@t":"2024-05-29T10:56:05Z","Elapsed":200.00000000000000000001,"Elapsed":-1,"@@odd":1,"@version":"2"}"#,
];

#[track_caller]
fn check(query: &str, expected: &str) {
    let found = Memory::new(&SHOP).query(query);
    assert_eq!(found.trim_end(), expected.trim_end(), "{query}");
}

#[test]
fn select_and_where() {
    check(
        "select Message from stream where Elapsed > 200",
        "{\"Message\":\"GET /api/customers/1\"}\n{\"Message\":null}",
    );
    check(
        "select Message as m from stream where match(Message, '/api/customers')",
        r#"{"m":"GET /api/customers/1"}"#,
    );
    check("select Elapsed from stream where Elapsed = 200", r#"{"Elapsed":200.0}"#);
    check(
        "select Elapsed, Elapsed from stream where Elapsed = 100 * 10",
        r#"{"Elapsed":1e3,"Elapsed (2)":1e3}"#,
    );
    check("select Elapsed from stream where Message is null", "{\"Elapsed\":1e3}\n{\"Elapsed\":-1}");
    check("select App from stream where App = 'SHOP' ci and not (Elapsed < 300)", r#"{"App":"shop"}"#);
    check("select Actor.Name from stream where Has(Actor)", r#"{"Actor.Name":"Ada"}"#);
    check("select Tags[1] as t from stream limit 1", r#"{"t":"b"}"#);
    check("select App from stream where Tags[?] = 'b'", r#"{"App":"Shop"}"#);
    check("select App from stream where Tags[*] = 'b'", r#"{"App":"shop"}"#);
    check(
        "select @Properties['@odd'] as a, @Properties['@version'] as b from stream where Elapsed = -1",
        r#"{"a":1,"b":"2"}"#,
    );
    check("select @Level as l from stream limit 2", "{\"l\":\"Information\"}\n{\"l\":\"Error\"}");
}

#[test]
fn order_and_limit() {
    check("select @Arrived as n from stream order by time desc limit 2", "{\"n\":4}\n{\"n\":3}");
    check("select @Arrived as n from stream order by time limit 2", "{\"n\":0}\n{\"n\":1}");
    check(
        "select App, @Arrived as n from stream order by App ci, n desc limit 4",
        "{\"n\":4}\n{\"App\":\"Mail\",\"n\":2}\n{\"App\":\"shop\",\"n\":3}\n{\"App\":\"Shop\",\"n\":1}\n",
    );
    check("select 1 as one from stream limit 0", "");
}

#[test]
fn aggregates() {
    check("select count(*) from stream", r#"{"count(*)":5}"#);
    check(
        "select count(Message) as m, sum(Elapsed), min(Elapsed), max(Elapsed), mean(Elapsed) from stream",
        r#"{"m":3,"sum(Elapsed)":1449,"min(Elapsed)":-1,"max(Elapsed)":1e3,"mean(Elapsed)":362.25}"#,
    );
    check(
        "select count(*), sum(X), mean(X), any(X), all(X) from stream where false",
        r#"{"count(*)":0,"sum(X)":0,"any(X)":false,"all(X)":true}"#,
    );
    check(
        "select count(*) as n from stream group by App",
        "{\"App\":\"Shop\",\"n\":2}\n{\"App\":\"Mail\",\"n\":1}\n{\"App\":\"shop\",\"n\":1}\n{\"n\":1}\n",
    );
    check("select count(*) as n from stream group by App ci having n > 1", r#"{"App":"Shop","n":3}"#);
    check(
        "select distinct(App) from stream",
        "{\"distinct(App)\":\"Shop\"}\n{\"distinct(App)\":\"Mail\"}\n{\"distinct(App)\":\"shop\"}\n",
    );
    check(
        "select first(App), last(App), count(distinct(App)) as d from stream",
        r#"{"first(App)":"Shop","last(App)":"shop","d":3}"#,
    );
    check("select top(@Arrived, 2) as a from stream", "{\"a\":0}\n{\"a\":1}");
    check("select bottom(@Arrived, 2) as a from stream", "{\"a\":3}\n{\"a\":4}");
    check("select Round(sum(Elapsed) / count(*), 1) as r from stream", r#"{"r":289.8}"#);
}

/// A property may be called `time`.
#[test]
fn groups_by_a_property_called_time() {
    let memory = Memory::new(&[r#"{"time":"b"}"#, r#"{"time":"a"}"#, r#"{"time":"b"}"#]);
    let found = memory.query("select count(*) as n from stream group by time order by time");
    assert_eq!(found, "{\"time\":\"a\",\"n\":1}\n{\"time\":\"b\",\"n\":2}\n");
}

#[test]
fn unnest() {
    check(
        "select tag, App from stream lateral unnest(Tags) as tag where tag <> 'a'",
        r#"{"tag":"b","App":"Shop"}"#,
    );
}

#[test]
fn overlapping_blocks_are_merged() {
    let event =
        |instant: u64, arrival: u64| Event { instant, arrival, document: format!(r#"{{"n":{arrival}}}"#) };
    let memory = Memory::blocks(&[
        &[&[event(1, 5), event(3, 1), event(9, 7)], &[event(1, 2), event(3, 9), event(4, 0)]],
        &[&[event(10, 3)]],
    ]);
    let arrivals = |query: &str| memory.query(query).replace("{\"n\":", "").replace("}\n", " ");
    assert_eq!(arrivals("select n from stream"), "2 5 1 9 0 7 3 ");
    assert_eq!(arrivals("select n from stream order by time desc"), "3 7 0 9 1 5 2 ");
    assert_eq!(arrivals("select n from stream where n <> 5 order by time desc limit 3"), "3 7 0 ");
    assert_eq!(memory.query("select first(n) as a, last(n) as b from stream"), "{\"a\":2,\"b\":3}\n");
}

#[test]
fn scalar_queries() {
    check("select 1 + 2 * 3 as n, 'a', 1.50", r#"{"n":7,"'a'":"a","1.50":1.5}"#);
    check("select 79228162514264337593543950334 + 1 as n", r#"{"n":79228162514264337593543950335}"#);
    check("select 2 ^ 1000000000 as n", "{}");
}
