//! Rules of queries: rows, their columns and order, groups and aggregates, errors, parameters.

use crate::check::{refused, rows, store};
use crate::memory::Memory;
use tamias_query::{Parameters, Query, Statement};

#[test]
fn rows_come_in_the_order_of_time_then_of_arrival() {
    rows("select n from stream", r#"{"n":1} {"n":2} {"n":3} {"n":4} {"n":5} {"n":6}"#);
    rows("select n from stream order by time desc", r#"{"n":6} {"n":5} {"n":4} {"n":3} {"n":2} {"n":1}"#);
    rows("select n from stream order by time desc limit 2", r#"{"n":6} {"n":5}"#);
    rows("select n from stream limit 0", "");
}

#[test]
fn columns_are_named_by_alias_or_source_text_and_once() {
    rows("select 1 +  1, 'a' as b", r#"{"1 +  1":2,"b":"a"}"#);
    rows("select n, n, n as m from stream limit 1", r#"{"n":1,"n (2)":1,"m":1}"#);
    rows("select 'a' = 'A' ci", r#"{"'a' = 'A' ci":true}"#);
    rows(
        "select * from stream limit 1",
        r#"{"@Timestamp":180000000000,"@Id":"00000029e8d608000000000000000004","@Data":{"n":1,"g":"a","v":1.0,"list":[1,2]}}"#,
    );
}

#[test]
fn without_from_there_is_one_row_of_no_event() {
    rows("select 1 as one, undefined() as u", r#"{"one":1}"#);
    refused("select a", "from stream");
}

#[test]
fn unnest_gives_a_row_for_each_element() {
    rows(
        "select n, x from stream lateral unnest(list) as x",
        r#"{"n":1,"x":1} {"n":1,"x":2} {"n":2,"x":"x"}"#,
    );
    rows(
        "select x, y from stream lateral unnest(list) as x lateral unnest([x, x]) as y limit 2",
        r#"{"x":1,"y":1} {"x":1,"y":1}"#,
    );
}

#[test]
fn aggregates_over_everything_give_one_row() {
    rows("select count(*) as c from stream", r#"{"c":6}"#);
    rows("select count(g) as g, count(v) as v, count(x) as x from stream", r#"{"g":4,"v":5,"x":0}"#);
    rows(
        "select sum(v) as s, min(v) as i, max(v) as a, mean(v) as m from stream",
        r#"{"s":1.5,"i":-3,"a":2.5,"m":0.375}"#,
    );
    rows("select first(g) as f, last(g) as l from stream", r#"{"f":"a","l":"a"}"#);
    rows("select any(f) as y, all(f) as z from stream", r#"{"y":true,"z":true}"#);
    rows("select count(distinct(g)) as c from stream", r#"{"c":4}"#);
    rows(
        "select sum(x) as s, count(x) as c, any(x) as y, all(x) as z, min(x) as i, max(x) as a, mean(x) as m, first(x) as f, last(x) as l, percentile(x, 50) as p from stream",
        r#"{"s":0,"c":0,"y":false,"z":true}"#,
    );
    rows("select count(*) as c from stream where n > 100", r#"{"c":0}"#);
    rows("select percentile(n, 100) as p, percentile(n, 0) as q from stream", r#"{"p":6,"q":1}"#);
}

#[test]
fn min_and_max_are_those_of_the_numbers_or_else_of_strings_and_booleans() {
    rows("select min(g) as i, max(g) as a from stream", r#"{"i":"A","a":"b"}"#);
    rows("select min(f) as i, max(f) as a from stream", r#"{"i":true,"a":true}"#);
    rows("select min([g]) as i, max(null) as a from stream", "{}");
    rows(
        "select min(if n = 1 then true else g) as i, max(if n = 1 then true else g) as a from stream",
        r#"{"i":true,"a":"b"}"#,
    );
    rows(
        "select min(if n = 4 then n else g) as i, max(if n = 4 then n else g) as a from stream",
        r#"{"i":4,"a":4}"#,
    );
}

#[test]
fn medians_are_means_of_two_and_deviations_those_of_a_sample() {
    rows(
        "select median(n) as m, variance(n) as v, Round(stddev(n), 6) as s from stream",
        r#"{"m":3.5,"v":3.5,"s":1.870829}"#,
    );
    rows("select median(n) as m, variance(n) as v, stddev(n) as s from stream where n = 3", r#"{"m":3}"#);
    refused("select median(n, 2) from stream", "a relative error is between");
}

#[test]
fn three_aggregates_give_rows_and_stand_alone() {
    rows(
        "select distinct(v) from stream",
        r#"{"distinct(v)":1.0} {"distinct(v)":2.5} {"distinct(v)":"text"} {"distinct(v)":null} {"distinct(v)":-3}"#,
    );
    rows("select top(n, 2) from stream", r#"{"top(n, 2)":1} {"top(n, 2)":2}"#);
    rows("select bottom(n, 2) from stream", r#"{"bottom(n, 2)":5} {"bottom(n, 2)":6}"#);
    refused("select distinct(n), count(*) from stream", "must be the only column");
}

#[test]
fn a_column_beside_an_aggregate_is_aggregate_or_constant() {
    rows("select count(*) + 1 as c, 'x' as x from stream", r#"{"c":7,"x":"x"}"#);
    refused("select count(*), n from stream", "neither an aggregate nor a constant");
}

#[test]
fn group_keys_come_first_and_groups_in_the_order_of_their_first_event() {
    rows(
        "select count(*) as c from stream group by g",
        r#"{"g":"a","c":2} {"g":"b","c":1} {"g":"A","c":1} {"c":1} {"g":null,"c":1}"#,
    );
    rows(
        "select count(*) as c from stream group by g ci as k",
        r#"{"k":"a","c":3} {"k":"b","c":1} {"c":1} {"k":null,"c":1}"#,
    );
    rows("select count(*) as c from stream group by v having c > 1", r#"{"v":1.0,"c":2}"#);
    rows(
        "select max(n) as m from stream group by g having m >= 4 order by m desc",
        r#"{"g":"a","m":6} {"g":null,"m":5} {"m":4}"#,
    );
    rows("select count(*) as c from stream group by g, v limit 1", r#"{"g":"a","v":1.0,"c":1}"#);
}

#[test]
fn intervals_are_aligned_to_tick_zero_and_come_in_time_order() {
    rows(
        "select count(*) as c from stream group by time(2h)",
        r#"{"time":144000000000,"c":3} {"time":216000000000,"c":1} {"time":288000000000,"c":2}"#,
    );
    rows(
        "select count(*) as c from stream group by time(2h) order by time desc limit 1",
        r#"{"time":288000000000,"c":2}"#,
    );
    rows("select interval() as i from stream group by time(1d)", r#"{"time":0,"i":864000000000}"#);
}

#[test]
fn order_by_names_columns_and_orders_mixed_types() {
    rows(
        "select n, v from stream order by v, n desc limit 3",
        r#"{"n":5,"v":null} {"n":6,"v":-3} {"n":4,"v":1}"#,
    );
    rows(
        "select n, g from stream order by g ci desc, n limit 4",
        r#"{"n":2,"g":"b"} {"n":1,"g":"a"} {"n":3,"g":"A"} {"n":6,"g":"a"}"#,
    );
    rows("select n * 2 from stream order by n * 2 desc limit 1", r#"{"n * 2":12}"#);
    let mixed = "select x from stream lateral unnest([{b: 1}, {a: 2}, [2], [1, 5], [1], 'b', 'a', 2, 1, true, false, null]) as x \
                 where n = 1 order by x";
    let order = [
        "null",
        "false",
        "true",
        "1",
        "2",
        "\"a\"",
        "\"b\"",
        "[1]",
        "[1,5]",
        "[2]",
        "{\"a\":2}",
        "{\"b\":1}",
    ];
    rows(mixed, &order.map(|value| format!("{{\"x\":{value}}}")).join(" "));
    refused("select n from stream order by v", "column");
}

#[test]
fn errors_name_the_place_and_suggest() {
    refused("select n from stream where @Foo = 1", "@Foo");
    refused("select @Tiemstamp from stream", "@Timestamp");
    refused("select Lenght(g) from stream", "Length");
    refused("select n\nfrom stream where", "line 2");
    refused("select n from stream where n == 1", "^^");
}

/// A prepared query takes other values for its parameters, also where they are compiled into it.
#[test]
fn queries_are_bound_again() {
    let events = Memory::new(&[r#"{"a":"ab","n":1}"#, r#"{"a":"b","n":2}"#]);
    let statement = Statement::parse(
        "select a, $p as p from stream where a like $p and n < $most or IsMatch(a, $p) limit 5",
    )
    .unwrap();
    assert_eq!(statement.parameters(), ["p", "most"]);
    let mut parameters = Parameters::new();
    parameters.set_text("p", "a%");
    let unbound = statement.bind(&parameters).unwrap_err();
    assert!(unbound.to_string().contains("the parameter `$most` has no value"), "{unbound}");
    parameters.set_json("most", "9").unwrap();
    parameters.set_text("another", "is not looked at");
    let query = statement.bind(&parameters).unwrap();
    let rows = |query: &Query| -> Vec<String> {
        query.run(events.source(query.direction())).map(|row| format!("{:?}", row.unwrap())).collect()
    };
    assert_eq!(rows(&query), [r#"["ab", "a%"]"#]);
    parameters.set_text("p", "%b");
    let again = query.bind(&parameters).unwrap();
    assert_eq!(rows(&again), [r#"["ab", "%b"]"#, r#"["b", "%b"]"#]);
    assert_eq!(rows(&query), [r#"["ab", "a%"]"#], "the first is as it was");
    parameters.set_json("p", "1").unwrap();
    let error = query.bind(&parameters).unwrap_err();
    assert_eq!((error.line(), error.column()), (1, 44), "{error}");
}

/// The names of `lateral unnest` belong to events: behind a grouping they are keys or nothing, and other names count without them.
#[test]
fn behind_a_grouping_unnested_names_are_keys_or_refused() {
    let from = "from stream lateral unnest(list) as e";
    rows(
        &format!("select count(*) as c {from} group by e having e = 'x' or e = 2"),
        r#"{"e":2,"c":1} {"e":"x","c":1}"#,
    );
    refused(&format!("select e, count(*) {from}"), "`e` has many values in a group");
    rows(&format!("select let |y: count(*)| y + y as d {from}"), r#"{"d":6}"#);
    rows(&format!("select let |y: 1| sum(if e > 1 then e else 0) + y as d {from}"), r#"{"d":3}"#);
    rows(
        &format!("select count(*) as c {from} group by n having Some([1, 2], |k| k = n)"),
        r#"{"n":1,"c":2} {"n":2,"c":1}"#,
    );
}

/// What an aggregate takes in is computed from events, which have no part in the names around it.
#[test]
fn an_aggregate_knows_no_names_around_it() {
    refused("select let |x: 2| sum(x) as s from stream", "`x` has no value inside an aggregate");
    refused("select let |x: {y: 2}| sum(x.y) as s from stream", "`x` has no value inside an aggregate");
    rows("select let |x: 2| sum(let |x: n| x) + x as s from stream", r#"{"s":23}"#);
}

/// The text of a group key means the key only where its names are not bound to something else.
#[test]
fn a_bound_name_is_no_group_key() {
    rows("select count(*) as c from stream group by g.k having Some([{k: 1}], |g| g.k = 1)", r#"{"c":6}"#);
    rows(
        "select let |n: 10| n + 1 as m from stream group by n + 1 having n + 1 = 3",
        r#"{"n + 1":3,"m":11}"#,
    );
}

/// What aggregates choose of instants, keys and locals are instants by their names too.
#[test]
fn names_of_instants_are_compared_with_dates() {
    for text in [
        "select count(*) as c, max(@Timestamp) as last from stream group by g having last < '0001-01-02' and max(@t) < '0001-01-02'",
        "select count(*) as c from stream group by time(1d) having time < '0001-01-02'",
        "select count(*) as c from stream group by @Timestamp as t having t < '0001-01-01T05:00:00.5Z'",
        "select let |t: @Timestamp| t < '0001-01-02' as c from stream limit 1",
        // Its own name goes before that of a key.
        "select max('0001-01-01T05') as time, count(*) as c from stream group by time(1d) having time >= '0001-01-01'",
    ] {
        let rows = store().query(text);
        assert!(rows.contains("\"c\":") && !rows.contains("false"), "{text}: {rows}");
    }
}

/// Blanks within texts were evened out where a repeated expression was looked for.
#[test]
fn expressions_that_differ_in_the_blanks_of_a_text_are_two() {
    rows(
        "select count(*) as c from stream lateral unnest(['a b', 'a  b']) as s group by s, s = 'a b' as k having s = 'a  b'",
        r#"{"s":"a  b","k":false,"c":6}"#,
    );
    rows(
        "select s, s  =  'a b' as b, s = 'a  b' as d from stream lateral unnest(['a b', 'a  b']) as s order by s = 'a  b' desc limit 1",
        r#"{"s":"a  b","b":false,"d":true}"#,
    );
}

/// An alias that binds names keeps them, whatever is bound around it where `having` names it.
#[test]
fn an_alias_in_having_keeps_its_own_names() {
    rows(
        "select let |y: count(*)| y + y as d from stream having let |z: 10| d > z and d < 15",
        r#"{"d":12}"#,
    );
    rows("select let |y: count(*)| y + y as d from stream having let |z: 100| d > z", "");
    rows(
        "select Some([count(*)], |v| v = 6) as six from stream having Some([1], |k| six)",
        r#"{"six":true}"#,
    );
}

/// A pattern that is no constant is refused as such.
#[test]
fn a_local_is_no_constant_pattern() {
    refused("select let |p: 'a'| IsMatch(first(g), p) as m from stream", "a literal /…/ or a constant text");
    refused("select count(*) from stream having sum(list[?]) > 1", "a wildcard is used in a comparison");
}
