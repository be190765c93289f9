//! What a query's author reads who made a mistake: the message, the place, what was expected, what may have been meant.

use tamias_query::{EXPRESSION_DEPTH_MAX, QUERY_BYTES_MAX, Query};

/// The texts and their errors, one after another.
fn errors(queries: &[&str]) -> String {
    let shown = queries.iter().map(|query| match Query::prepare(query) {
        Ok(_) => panic!("this is a query: {query}"),
        Err(error) => format!("{error}\n"),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Compares with the golden file that has the name of the test.
#[track_caller]
fn snapshot(name: &str, shown: String) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => true }, { insta::assert_snapshot!(name, shown) });
}

#[test]
fn malformed_texts() {
    snapshot(
        "malformed_texts",
        errors(&[
            "",
            "   -- nothing but a comment",
            "selct Message from stream",
            "update stream set a = 1",
            "select",
            "select from stream",
            "select a, from stream",
            "select a b from stream",
            "select a form stream",
            "select a from",
            "select a from stream were b = 1",
            "select a from stream where",
            "select a from stream where b =",
            "select a from stream where b = 1 and",
            "select a from stream where (b = 1",
            "select a from stream where b = 1)",
            "select a from stream where not",
            "select a from stream group by",
            "select a from stream group a",
            "select a from stream order a",
            "select a from stream limit",
            "select a from stream limit ten",
            "select a from stream limit -1",
            "select a from stream limit 1.5",
            "select a from stream limit 99999999999999999999",
            "select a from stream limit 1 where b",
            "select a from stream where b where c",
            "select a as from stream",
            "select a as 'b' from stream",
            "select a as limit from stream",
            "select Limit from stream",
            "select a from stream where Limit > 5",
            "select a from stream where limit 5",
            "select a.b. from stream",
            "select a.'b' from stream",
            "select a[ from stream",
            "select a[1 from stream",
            "select a[] from stream",
            "select [1, 2 from stream",
            "select {a: } from stream",
            "select {1: 2} from stream",
            "select {a: 1 b: 2} from stream",
            "select f( from stream",
            "select Length(a from stream",
            "select Length(a, ) from stream",
            "select if a then b from stream",
            "select if a from stream",
            "select let |x: 1 x from stream",
            "select let x: 1 from stream",
            "select |x| x from stream",
            "select 'text from stream",
            "select /text from stream",
            "select a from stream where b = /(/",
            "select a from stream where b = /a)(b/",
            "select 12abc from stream",
            "select 1e5 from stream",
            "select 1.5s from stream",
            "select 1m1h from stream",
            "select 0x from stream",
            "select 0xGG from stream",
            "select 0x1000000000000000000000000 from stream",
            "select @ from stream",
            "select $ from stream",
            "select # from stream",
            "select a\n  from stream\n where\tb > > 1",
            "select 'ü', ä ö from stream",
            "select a from stream; select b from stream",
            "select a from stream explain",
        ]),
    );
}

#[test]
fn habits_of_other_languages() {
    snapshot(
        "habits_of_other_languages",
        errors(&[
            "select a from stream where b == 1",
            "select a from stream where b != 1",
            "select a from stream where b = \"text\"",
            "select \"odd name\" from stream",
            "select a from stream where b && c",
            "select a || b from stream",
            "select a from stream where !b",
            "select `a` from stream",
            "select * from events",
            "select a from stream as s",
            "select count(*) from stream group by time(1d) as day",
            "select a from stream where b is missing",
            "select a from stream where b is undefined",
            "select a from stream where b is true",
            "select a from stream where b between 1 and 2",
            "select a from stream where b not between 1 and 2",
            "select a from stream where b in (1, 2)",
            "select a from stream where b ilike 'x'",
            "select a from stream where b contains 'x'",
            "select a from stream where b like 'x' escape '!'",
            "select a from stream where b like /x/",
            "select distinct a from stream",
            "select top 10 a from stream",
            "select a from stream limit 10 offset 20",
            "select a from stream join other",
            "select a from stream union select b from stream",
            "select (select a from stream) from stream",
            "select case when a then b end from stream",
            "select count() from stream",
            "select avg(a) from stream",
            "select len(a) from stream",
            "select cast(a) from stream",
            "select cast(a as int) from stream",
            "select count(distinct k) from stream",
            "select a from stream order by a nulls last",
            "select a from stream order by a desc nulls first",
            "select a /* c */ from stream",
            "select /* c */ a from stream",
            "select @timestamp from stream",
            "select Exists(a) from stream",
            "select a from stream where sum(b) > 1",
            "select order from stream",
            "select a from stream where Group = 1",
        ]),
    );
}

#[test]
fn names_and_meanings() {
    snapshot(
        "names_and_meanings",
        errors(&[
            "select @Foo from stream",
            "select @Levle from stream",
            "select @Template from stream",
            "select {@Foo} from stream",
            "select Lenght(a) from stream",
            "select contain(a, 'x') from stream",
            "select quux(a) from stream",
            "select Length() from stream",
            "select Length(a, b) from stream",
            "select Substring(a) from stream",
            "select Concat() from stream",
            "select sum(*) from stream",
            "select sum(a, b) from stream",
            "select percentile(a) from stream",
            "select percentile(a, 101) from stream",
            "select percentile(a, b) from stream",
            "select percentile(a, 50, 0) from stream",
            "select top(a, 1.5) from stream",
            "select sum(max(a)) from stream",
            "select a, count(*) from stream",
            "select Length(a), count(*) from stream",
            "select @Level, count(*) from stream",
            "select *, count(*) from stream",
            "select a, count(*) from stream group by a",
            "select a from stream group by b",
            "select count(*) from stream group by count(*)",
            "select count(*) from stream group by time(5)",
            "select count(*) from stream group by time(0s)",
            "select count(*) from stream group by time(150ns)",
            "select count(*) from stream group by time(1h), time(1d)",
            "select interval() from stream",
            "select distinct(a), count(*) from stream",
            "select distinct(a) + 1 from stream",
            "select a from stream having a > 1",
            "select a from stream order by b",
            "select Elapsed as e from stream order by Elapse",
            "select a from stream order by time, a",
            "select count(*) from stream group by a order by time",
            "select $path from stream",
            "select Elapsed",
            "select count(*)",
            "select 1 where true",
            "select *",
            "select a from stream where IsMatch(a, b)",
            "select a from stream where IsMatch(a, '(')",
            "select a from stream where a like b",
            "select a from stream where a like 1",
            "select /a/ from stream",
            "select a from stream where a < /b/",
            "select Tags[?] from stream",
            "select Some(Tags, 1) from stream",
            "select Some(Tags, |a, b| a) from stream",
            "select Replace(a, /b/, c) from stream",
        ]),
    );
}

#[test]
fn limits_are_named() {
    let deep = EXPRESSION_DEPTH_MAX + 10;
    let long = "a".repeat(QUERY_BYTES_MAX);
    snapshot(
        "limits_are_named",
        errors(&[
            &format!("select {}1{}", "(".repeat(deep), ")".repeat(deep)),
            &format!("select {}1{}", "[".repeat(deep), "]".repeat(deep)),
            &format!("select {}true", "not ".repeat(deep)),
            &format!("select {}1", "- ".repeat(deep)),
            &format!("select 1{}", " + 1".repeat(deep)),
            &format!("select a{} from stream", ".b".repeat(deep)),
            &format!("select {}", "if true then ".repeat(deep)),
            &format!("select {long}"),
            &format!("select {} from stream", vec!["1"; 1001].join(", ")),
            &format!(
                "select 1 from stream where x in [{}]",
                (0..5000).map(|n| format!("k{n}")).collect::<Vec<_>>().join(",")
            ),
            &format!("select 1 from stream where [{}a[?]] = 1", "a[?], ".repeat(16)),
            &format!("select let |a: [1]{}| 1", ", a: [a]".repeat(200)),
            &format!(
                "select let |a: [1], a: let |b: [a]{}| b, a: let |b: [a]{0}| b| 1",
                ", b: [b]".repeat(100)
            ),
            &format!(
                "select 1 from stream{}",
                " lateral unnest([[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]) as a".repeat(9)
            ),
            &format!("select 1 from stream{}", " lateral unnest(a) as a".repeat(17)),
            &format!(
                "select Coalesce(count(*){}) as n from stream having {}",
                ", 1".repeat(1000),
                vec!["n"; 100].join(" or ")
            ),
            &format!("select 1 from stream where {}", vec!["IsMatch(a, /b/)"; 257].join(" or ")),
            &format!("select a from stream order by {}", vec!["a"; 1001].join(", ")),
        ]),
    );
}

/// A list of five thousand texts of some length.
#[test]
fn long_lists_are_prepared() {
    let list: Vec<String> = (0..5000).map(|n| format!("'/api/products/{n}/reviews'")).collect();
    let query = format!("select a from stream where b in [{}]", list.join(", "));
    assert!(query.len() > 100_000 && Query::prepare(&query).is_ok());
}

/// However long the chain: `and` and `or` are one level.
#[test]
fn many_terms_are_one_level() {
    for operator in ["and", "or"] {
        let query =
            format!("select a from stream where {}", vec!["b = 1"; 5000].join(&format!(" {operator} ")));
        assert!(Query::prepare(&query).is_ok());
    }
}
