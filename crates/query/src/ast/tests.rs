//! What is printed, and that it reads as what it was printed from.

use crate::parser::{parse_expression, parse_query};

/// Prints an expression, and reads it again.
#[track_caller]
fn check(text: &str, printed: &str) {
    let expr = parse_expression(text).unwrap_or_else(|flaw| panic!("{}", flaw.locate(text)));
    assert_eq!(expr.to_string(), printed);
    let again = parse_expression(printed).unwrap_or_else(|flaw| panic!("{}", flaw.locate(printed)));
    assert_eq!(again, expr, "{printed}");
}

#[track_caller]
fn check_query(text: &str, printed: &str) {
    let query = parse_query(text).unwrap_or_else(|flaw| panic!("{}", flaw.locate(text)));
    assert_eq!(query.to_string(), printed);
    let again = parse_query(printed).unwrap_or_else(|flaw| panic!("{}", flaw.locate(printed)));
    assert_eq!(again, query, "{printed}");
}

#[test]
fn literals() {
    check("NULL", "null");
    check(
        "[True,FALSE , 007.50,0xfF,'it''s',/a\\/b\\\\\\/[\\]]/]",
        "[true, false, 7.5, 0xFF, 'it''s', /a\\/b\\\\\\/[\\]]/]",
    );
    check("90m", "1h30m");
    check("0s + 1ns + 1d2h3m4s5ms6us7ns", "0ns + 1ns + 1d2h3m4s5ms6us7ns");
    check("0xffffffffffffffffffffffff", "0xFFFFFFFFFFFFFFFFFFFFFFFF");
    check("$p", "$p");
    check("//", "//");
}

#[test]
fn operators_have_the_parentheses_they_need() {
    check("((a))", "a");
    check("a+b*c^d", "a + b * c ^ d");
    check("((a+b)*c)^d", "((a + b) * c) ^ d");
    check("(a-b)-(c-d)", "a - b - (c - d)");
    check("- - a", "- -a");
    check("-(a)^-b", "-a ^ -b");
    check("-(a ^ b)", "-(a ^ b)");
    check("not(a)is null", "not a is null");
    check("(not a) is null", "(not a) is null");
    check("- a is null is not null", "(-a is null) is not null");
    check("(a is null) is null", "(a is null) is null");
    check("a and (b or c) and (d and e)", "a and (b or c) and (d and e)");
    check("a or b and c or (d or e)", "a or b and c or (d or e)");
    check("not (a = b)", "not (a = b)");
    check("(a = b) = (c = d)", "a = b = (c = d)");
    check("a NOT  LIKE 'x' and b not in [..c,1]", "a not like 'x' and b not in [..c, 1]");
}

#[test]
fn paths_and_objects() {
    check("a . b [ 0 ] ['c'] [ ? ].d[*]", "a.b[0]['c'][?].d[*]");
    check("(a + b).c", "(a + b).c");
    check("(-a).c", "(-a).c");
    check("1.a", "1.a");
    check(
        "{a, 'b': b, @l, '@l': @Level, 'odd name': 1, c: d, ..e, null, 'null': null}",
        "{a, b, @l, @l, 'odd name': 1, c: d, ..e, null, null: null}",
    );
}

#[test]
fn open_ends() {
    check("if a then b else c + 1", "if a then b else c + 1");
    check("(if a then b else c) + 1", "(if a then b else c) + 1");
    check("1 + (if a then b else c)", "1 + if a then b else c");
    check("-(let |a: 1, b: |x| x| a).b", "-(let |a: 1, b: |x| x| a).b");
    check("Some(a, | | true) and Every(b, |x,y| x = y)", "Some(a, || true) and Every(b, |x, y| x = y)");
    check("if if a then b else c then d else e", "if if a then b else c then d else e");
}

#[test]
fn ci_belongs_to_whom_it_belonged() {
    check("a = b CI = c", "a = b ci = c");
    check("a = StartsWith(b, c) ci", "a = StartsWith(b, c) ci");
    check("a = (StartsWith(b, c)) ci", "a = (StartsWith(b, c)) ci");
    check("a = StartsWith(b, c) ci ci", "a = StartsWith(b, c) ci ci");
    check("a = (1 + (IndexOf(b, c))) ci", "a = (1 + IndexOf(b, c)) ci");
    check("a = (if b then c else d) ci", "a = if b then c else d ci");
    check("a = (if b then c else (d = e)) ci", "a = (if b then c else d = e) ci");
    check("a = Length(b) ci", "a = Length(b) ci");
    check_query(
        "select a from stream group by (a = b) ci, a = b ci, (a = b ci) ci as c order by (a = b) ci desc, a ci asc",
        "select a from stream group by (a = b) ci, a = b ci, a = b ci ci as c order by (a = b) ci desc, a ci",
    );
}

#[test]
fn many_of_them_in_one_another_take_no_time() {
    let text = "a = (StartsWith(".repeat(25) + "a" + &", b)) ci".repeat(25);
    check(&text, &text);
}

#[test]
fn queries() {
    check_query("explain  analyze select 1", "explain analyze select 1");
    check_query(
        "EXPLAIN select *, a as b, count ( * ) FROM stream lateral unnest(a)as x lateral unnest(x) as y -- c\nwhere x>0 limit 010",
        "explain select *, a as b, count(*) from stream lateral unnest(a) as x lateral unnest(x) as y where x > 0 limit 10",
    );
    check_query(
        "select sum(a) from stream group by time(100ms), (time(1h)), time.a having sum(a) > 1 order by TIME desc",
        "select sum(a) from stream group by time(100ms), (time(1h)), time.a having sum(a) > 1 order by time desc",
    );
    check_query(
        "select time from stream order by (time), time.x, -time",
        "select time from stream order by (time), time.x, -time",
    );
}
