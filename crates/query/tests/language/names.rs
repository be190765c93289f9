//! Rules of names: properties, what is built in, and identifiers of events.

use crate::check::{check, rows, store};

#[test]
fn properties_with_odd_names() {
    check(
        r#"
        @Properties['odd'] → undefined
        @Properties['@at'] → "own"
        @Properties['@version'] → "1"
        @Properties['@@at'] → undefined
        @Data['@@at'] → "own"
        @Properties.a → 1
        "#,
    );
}

#[test]
fn built_ins_and_what_stands_for_them() {
    let event =
        r#"{"@t":"2024-05-29T10:56:01Z","@mt":"{a} of {b}","a":1,"b":"two","@st":"2024-05-29T10:56:00Z"}"#;
    let is =
        |expression: &str| tamias_query::eval(expression, event).unwrap().unwrap_or("undefined".to_owned());
    for (expression, value) in [
        ("@t = DateTime('2024-05-29T10:56:01Z')", "true"),
        ("@Timestamp = @t", "true"),
        ("@Message", "\"1 of two\""),
        ("@m", "\"1 of two\""),
        ("@mt", "\"{a} of {b}\""),
        ("@Level", "\"Information\""),
        ("@l = 'Information'", "true"),
        ("@Exception", "undefined"),
        ("@Start", "638525769600000000"),
        ("@Elapsed", "10000000"),
        ("@TraceId is null", "true"),
        ("@Properties = {a: 1, b: 'two'}", "true"),
        ("@Data['@st']", "\"2024-05-29T10:56:00Z\""),
    ] {
        assert_eq!(is(expression), value, "{expression}");
    }
    let stored = r#"{"@m":"ready","@mt":"not used","@l":null,"@i":"abc"}"#;
    let is =
        |expression: &str| tamias_query::eval(expression, stored).unwrap().unwrap_or("undefined".to_owned());
    assert_eq!(is("@Message"), "\"ready\"");
    assert_eq!(is("@Level"), "null");
    assert_eq!(is("@EventType"), "\"abc\"");
    assert_eq!(is("@Elapsed"), "undefined");
    check(
        r#"
        @EventType → undefined
        @Message → undefined
        "#,
    );
}

#[test]
fn ids_are_unique_of_one_width_and_in_the_order_of_rows() {
    let found = store().query("select @Id as id from stream");
    let ids: Vec<&str> = found.lines().collect();
    assert_eq!(ids.len(), 6);
    assert!(ids.windows(2).all(|two| two[0] < two[1] && two[0].len() == two[1].len()), "{found}");
    rows("select @Arrived as n from stream limit 3", r#"{"n":4} {"n":1} {"n":3}"#);
}
