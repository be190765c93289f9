//! Rules of expressions: operators, literals, paths and wildcards, conditions and local names.

use crate::check::{EVENT, check, rows};

#[test]
fn operators_bind_as_the_grammar_says_and_group_to_the_left() {
    check(
        r#"
        1 + 2 * 3 → 7
        2 * 3 ^ 2 → 18
        10 - 3 - 2 → 5
        2 ^ 3 ^ 2 → 64
        -2 ^ 2 → 4
        1 + 1 = 2 → true
        1 < 2 = true → true
        true or false and false → true
        not false and false → false
        not 1 = 1 → undefined
        not (1 = 1) → false
        not f = false → true
        not n is null → false
        (1 + 2) * 3 → 9
        7 - -1 → 8
        8 / 4 / 2 → 1
        "#,
    );
}

#[test]
fn literals_comments_and_cases() {
    check(
        r#"
        'it''s' → "it's"
        '' → ""
        12.50 → 12.5
        0xFF → 255
        TRUE → true
        NULL → null
        tOuPPER('a') → "A"
        IF TRUE THEN 1 ELSE 2 → 1
        "#,
    );
    assert_eq!(tamias_query::eval("1 + -- a comment\n 2", EVENT).unwrap().as_deref(), Some("3"));
}

#[test]
fn a_slash_begins_a_regular_expression_only_where_an_operand_may() {
    check(
        r#"
        6 / 2 / 3 → 1
        b = /te.t/ → true
        (6) / (2) → 3
        "#,
    );
}

#[test]
fn function_names_and_time_are_names_of_properties_too() {
    check(
        r#"
        Length → 7
        time → "noon"
        Length(b) + Length → 11
        "#,
    );
    rows("select n from stream order by time desc limit 1", r#"{"n":6}"#);
    rows("select n, time.x from stream where n = 1 order by time.x", r#"{"n":1}"#);
    rows("select n, time[0] from stream where n = 1 order by time[0], n", r#"{"n":1}"#);
    rows(
        "select n, time is null as t from stream where n < 3 order by time is null, n desc",
        r#"{"n":2,"t":true} {"n":1,"t":true}"#,
    );
}

#[test]
fn and_or_are_always_boolean() {
    check(
        r#"
        true and true → true
        missing and true → false
        true and missing → false
        1 and true → false
        null or false → false
        missing or true → true
        'true' or false → false
        missing or missing → false
        "#,
    );
}

#[test]
fn not_is_true_of_undefined() {
    check(
        r#"
        not true → false
        not false → true
        not missing → true
        not (missing > 1) → true
        not null → undefined
        not 1 → undefined
        not not missing → false
        "#,
    );
}

#[test]
fn only_true_passes() {
    rows("select n from stream where v", "");
    rows("select n from stream where f", r#"{"n":5}"#);
    rows("select n from stream where v > 1", r#"{"n":2}"#);
    rows("select n from stream where not (v > 1)", r#"{"n":1} {"n":3} {"n":4} {"n":5} {"n":6}"#);
    check(
        r#"
        if f then 1 else 2 → 1
        if missing then 1 else 2 → 2
        if 'true' then 1 else 2 → 2
        if a = 1 then if f then 'x' else 'y' else 'z' → "x"
        "#,
    );
}

#[test]
fn is_null_is_of_null_and_undefined_and_always_boolean() {
    check(
        r#"
        n is null → true
        missing is null → true
        a is null → false
        a is not null → true
        missing is not null → false
        "#,
    );
}

#[test]
fn division_by_zero_and_powers() {
    check(
        r#"
        1 / 0 → undefined
        1 % 0 → undefined
        0 / 0 → undefined
        -7 % 3 → -1
        7 % -3 → 1
        7.5 % 2 → 1.5
        79228162514264337593543950335 % 0.1000000000000000000000000001 → 0.0718374857356624064560497443
        2 ^ 10 → 1024
        1.5 ^ 2 → 2.25
        0 ^ 0 → 1
        2 ^ 0.5 → 1.4142135623731
        5 ^ 1.5 → 11.1803398874989
        2 ^ -1 → 0.5
        0 ^ -1 → undefined
        (-8) ^ 0.5 → undefined
        10 ^ -20 → 0.00000000000000000001
        "#,
    );
}

#[test]
fn a_regular_expression_behind_equals_matches_the_whole() {
    check(
        r#"
        b = /text/ → true
        b = /tex/ → false
        b <> /tex/ → true
        b = /a|text/ → true
        b = /TEXT/ → false
        b = /TEXT/ ci → true
        '/a/' = /\/a\// → true
        missing = /a/ → undefined
        "#,
    );
}

#[test]
fn like_has_two_signs() {
    check(
        r#"
        b like 't%' → true
        b like '%ex%' → true
        b like 't__t' → false
        b like '_ext' → true
        'a_b' like 'a__b' → true
        'axb' like 'a__b' → false
        '10%' like '10%%' → true
        '100' like '10%%' → false
        '' like '%' → true
        b not like 'x%' → true
        a like '1' → undefined
        "#,
    );
}

#[test]
fn wildcards_make_a_comparison_hold_for_some_or_for_all() {
    check(
        r#"
        tags[?] = 'x' → true
        tags[*] = 'x' → false
        tags[*] <> 'z' → true
        none[?] = 1 → false
        none[*] = 1 → true
        o[?] = 2 → true
        o[*] > 0 → true
        'Y' = tags[?] → true
        tags[?] like 'y' ci → true
        tags[?] in ['x'] → true
        [[1, 2], [3]][?][*] > 2 → true
        [{a: 1}, {a: 2}][?].a = 2 → true
        a[?] = 1 → undefined
        missing[*] = 1 → undefined
        "#,
    );
}

#[test]
fn elements_and_members() {
    check(
        r#"
        tags[0] → "x"
        tags[1.0] → "Y"
        tags[2] → undefined
        tags[-1] → undefined
        tags[-0] → "x"
        tags[tick] → "x"
        tags[0.5] → undefined
        o.k → 1
        o['odd name'] → 2
        o['missing'] → undefined
        o[Concat('odd', ' name')] → 2
        [1, 2, 3][1] → 2
        {a: 1}.a → 1
        "#,
    );
}

#[test]
fn spreads_let_and_lambdas() {
    check(
        r#"
        [0, ..tags, 1] → [0,"x","Y",1]
        [..none] → []
        {..o, k: 9} = {k: 9, 'odd name': 2, K: 3} → true
        {k: 9, ..o}.k → 1
        {b, f} → {"b":"text","f":true}
        let |x: 2| x * x → 4
        let |a: 5| a → 5
        let |x: a, y: 2| x + y → 3
        Some(tags, |t| t = 'x') → true
        Every(tags, |t| t = 'x') → false
        Some(none, |t| true) → false
        Every(none, |t| false) → true
        Some(o, |v| v = 3) → true
        Every([[1], [2]], |x| Some(x, |y| y > 0)) → true
        Some(a, |x| true) → undefined
        "#,
    );
}
