//! The rules of the language, one after another in the order in which its specification states them, each with examples.

#![expect(clippy::unwrap_used, reason = "tests stop where something is wrong")]

mod memory;

use memory::{Event, Memory};
use tamias_query::{Parameters, Query, Statement};

/// The event whose properties the expressions name.
const EVENT: &str = r#"{
    "a": 1, "b": "text", "f": true, "n": null, "half": 0.5, "kept": 1.0, "big": 1e400, "huge": 123456789012345678901234567890,
    "tags": ["x", "Y"], "none": [], "o": {"k": 1, "odd name": 2, "K": 3}, "twice": 1, "twice": {"a": 1, "b": 2, "a": 3},
    "time": "noon", "Length": 7, "lone": "\ud800", "@@at": "own", "@version": "1", "tick": -0
}"#;

/// Checks `expression → value` lines, the value as JSON or `undefined`.
#[track_caller]
fn check(table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (expression, expected) = line.rsplit_once(" → ").unwrap();
        let found = match tamias_query::eval(expression, EVENT) {
            Ok(value) => value.unwrap_or("undefined".to_owned()),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(found, expected, "{expression}");
    }
}

/// Checks a query over the events of [`store`]: the rows as JSON, separated by blanks.
#[track_caller]
fn rows(query: &str, expected: &str) {
    let found = store().query(query);
    assert_eq!(found.lines().collect::<Vec<_>>().join(" "), expected, "{query}");
}

/// Checks that a query is refused, and that the error says `part`.
#[track_caller]
fn refused(query: &str, part: &str) {
    let found = store().query(query);
    assert!(found.starts_with("line ") && found.contains(part), "{query}: {found}");
}

const HOUR: u64 = 36_000_000_000;

/// Two groups of blocks. In time order, which is neither that of arrival nor that of the blocks, n counts from 1.
fn store() -> Memory {
    let event = |hours: u64, ticks: u64, arrival: u64, document: &str| Event {
        instant: hours * HOUR + ticks,
        arrival,
        document: document.to_owned(),
    };
    Memory::blocks(&[
        &[
            &[
                event(5, 0, 4, r#"{"n":1,"g":"a","v":1.0,"list":[1,2]}"#),
                event(5, 9, 3, r#"{"n":3,"g":"A","v":"text","list":[]}"#),
                event(6, 0, 0, r#"{"n":4,"v":1,"list":{"k":1}}"#),
            ],
            &[event(5, 9, 1, r#"{"n":2,"g":"b","v":2.5,"list":["x"]}"#)],
        ],
        &[&[
            event(9, 1, 2, r#"{"n":5,"g":null,"v":null,"f":true}"#),
            event(9, 2, 5, r#"{"n":6,"g":"a","v":-3}"#),
        ]],
    ])
}

// Values.

#[test]
fn nothing_is_coerced() {
    check(
        r#"
        '1' + 1 → undefined
        'a' + 'b' → undefined
        Length(a) → undefined
        ToUpper(a) → undefined
        if 1 then 'yes' else 'no' → "no"
        true + 1 → undefined
        -b → undefined
        a[0] → undefined
        b.k → undefined
        tags['x'] → undefined
        o[0] → undefined
        "#,
    );
}

#[test]
fn undefined_poisons() {
    check(
        r#"
        missing → undefined
        missing = 1 → undefined
        missing <> 1 → undefined
        missing = missing → undefined
        missing < 1 → undefined
        missing in [1] → undefined
        1 in missing → undefined
        missing + 1 → undefined
        -missing → undefined
        Length(missing) → undefined
        Concat('a', missing) → undefined
        missing like '%' → undefined
        missing not like '%' → undefined
        missing.of.it[0] → undefined
        "#,
    );
}

#[test]
fn null_is_an_ordinary_value() {
    check(
        r#"
        null = null → true
        n = null → true
        null <> null → false
        null = false → false
        null < 0 → undefined
        null <= null → undefined
        null + 1 → undefined
        null in [1, null] → true
        "#,
    );
}

#[test]
fn orders_are_of_two_numbers_or_two_strings() {
    check(
        r#"
        1 < 2 → true
        2 <= 2 → true
        'a' < 'b' → true
        'b' >= 'a' → true
        1 < '2' → undefined
        false < true → undefined
        [1] < [2] → undefined
        {} < {} → undefined
        "#,
    );
}

#[test]
fn values_of_two_types_are_not_equal() {
    check(
        r#"
        1 = '1' → false
        1 <> '1' → true
        true = 1 → false
        [1] = 1 → false
        {} = [] → false
        'null' = null → false
        "#,
    );
}

#[test]
fn numbers_are_decimals_and_comparing_never_rounds() {
    check(
        r#"
        79228162514264337593543950334 + 1 → 79228162514264337593543950335
        0.1 + 0.2 → 0.3
        half = 0.5 → true
        kept = 1 → true
        half * 2 = kept → true
        huge = 123456789012345678901234567890 → true
        huge < 123456789012345678901234567891 → true
        huge > 123456789012345678901234567889.9999999999999999999999 → true
        big > huge → true
        big = big → true
        ToNumber('1e2') = 100 → true
        tick = 0 → true
        "#,
    );
}

#[test]
fn an_operand_of_arithmetic_is_exactly_representable() {
    check(
        r#"
        huge + 0 → undefined
        huge - huge → undefined
        big * 0 → undefined
        -huge → undefined
        79228162514264337593543950335 + 0 → 79228162514264337593543950335
        79228162514264337593543950336 + 0 → undefined
        0.0000000000000000000000000001 + 0 → 0.0000000000000000000000000001
        0.00000000000000000000000000001 + 0 → undefined
        1.00000000000000000000000000000000000000000 + 0 → 1
        ToNumber('10000000000000000000000000000000000e-34') + 0 → 1
        "#,
    );
}

#[test]
fn arithmetic_overflows_to_undefined_and_rounds_half_to_even() {
    check(
        r#"
        79228162514264337593543950335 + 1 → undefined
        79228162514264337593543950335 * 2 → undefined
        79228162514264337593543950334 + 0.5 → 79228162514264337593543950334
        79228162514264337593543950333 + 0.5 → 79228162514264337593543950334
        1 / 3 → 0.3333333333333333333333333333
        2 / 3 → 0.6666666666666666666666666667
        0.0000000000000000000000000001 * 0.5 → 0
        0.0000000000000000000000000003 * 0.5 → 0.0000000000000000000000000002
        "#,
    );
}

#[test]
fn work_is_bounded() {
    check(
        r#"
        2 ^ 1000000000 → undefined
        1 ^ 1000000000 → 1
        0.5 ^ 1000000000 → 0
        "#,
    );
}

#[test]
fn a_stored_number_keeps_its_text_and_a_computed_one_has_a_plain_one() {
    check(
        r#"
        kept → 1.0
        [kept] → [1.0]
        big → 1e400
        kept + 0 → 1
        kept * 2.50 → 2.5
        1.50 → 1.5
        -0 → 0
        tick → -0
        tick + 0 → 0
        100 * 100 * 100 → 1000000
        "#,
    );
}

#[test]
fn instants_and_durations_are_ticks() {
    check(
        r#"
        DateTime('0001-01-01T00:00:00Z') → 0
        DateTime('2024-05-29T10:56:01Z') → 638525769610000000
        200ms → 2000000
        1d2h3m4s5ms6us7ns → 937840050060.07
        1h = 60m → true
        1ns → 0.01
        DateTime('2024-05-29T10:56:01Z') > '2024' → undefined
        DateTime('2024-05-29') + 10h = DateTime('2024-05-29T10:00:00Z') → true
        "#,
    );
}

#[test]
fn strings_compare_by_scalar_and_with_ci_by_simple_upper_case() {
    check(
        r#"
        'a' = 'A' → false
        'Z' < 'a' → true
        '～' < '😀' → true
        'a' = 'A' ci → true
        'Z' < 'a' ci → false
        'ὈΔΥΣΣΕΎΣ!' = 'ὀδυσσεύσ!' ci → true
        'tschüß' = 'TSCHÜSS' ci → false
        'ς' = 'σ' ci → true
        'ǆ' = 'ǅ' ci → true
        'ᾳ' = 'ᾼ' ci → true
        'ŉ' = 'ʼN' ci → false
        ['a', {k: 'b'}] = ['A', {k: 'B'}] ci → true
        {k: 1} = {K: 1} ci → false
        'A' in ['a'] ci → true
        'ABC' like 'a%' ci → true
        'ABC' = /a.c/ ci → true
        "#,
    );
}

#[test]
fn ci_belongs_to_the_call_before_it_if_that_takes_it() {
    check(
        r#"
        Contains(b, 'EX') ci → true
        'EX' = Substring('ex', 0) ci → true
        1 = IndexOf('ab', 'B') ci → true
        true = Contains('a', 'A') ci → true
        Contains('a', 'A') = false → true
        "#,
    );
}

#[test]
fn stored_strings_are_read_with_their_escapes() {
    check(
        r#"
        lone = '�' → true
        Length(lone) → 1
        lone → "\ud800"
        Concat(lone, '!') → "�!"
        "#,
    );
}

#[test]
fn arrays_and_objects_compare_structurally() {
    check(
        r#"
        [1, 2] = [1.0, 2] → true
        [1, 2] = [2, 1] → false
        {a: 1, b: 2} = {b: 2, a: 1} → true
        {a: 1} = {a: 1, b: 2} → false
        {a: {b: [1]}} = {a: {b: [1.0]}} → true
        [1, missing, 2] → [1,2]
        {a: 1, b: missing} → {"a":1}
        {a: 1, a: 2} → {"a":2}
        {a: 1, a: missing} → {}
        {missing} → {}
        "#,
    );
}

#[test]
fn of_a_key_that_is_stored_twice_the_last_counts() {
    check(
        r#"
        twice.a → 3
        twice = {a: 3, b: 2} → true
        Keys(twice) = ['b', 'a'] or Keys(twice) = ['a', 'b'] → true
        Values(twice)[?] = 1 → false
        "#,
    );
}

// Expressions.

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

// Names.

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

// Functions.

#[test]
fn functions_of_strings() {
    check(
        r#"
        Concat('a', 'b', 'c') → "abc"
        Concat('a', 1) → undefined
        Contains('abc', 'b') → true
        Contains('abc', '') → true
        StartsWith('abc', 'ab') → true
        EndsWith('abc', 'BC') ci → true
        IndexOf('äöü', 'ü') → 2
        IndexOf('abc', 'x') → -1
        LastIndexOf('abab', 'ab') → 2
        IsMatch('abc', /b/) → true
        IsMatch('abc', '^b') → false
        match('abc', 'B') ci → true
        IndexOfMatch('äb1', /[0-9]/) → 2
        Replace('aXa', 'x', '-') ci → "a-a"
        Replace('a.a', '.', '$1') → "a$1a"
        Replace('ab', /(a)(b)/, '$2$1') → "ba"
        Replace('ab', /(a)(b)/, '$$') → "$"
        Replace('é', //, '-') → "-é-"
        Substring('äöü', 1) → "öü"
        Substring('äöü', 1, 1) → "ö"
        Substring('äöü', 1, undefined()) → "öü"
        Length('😀') → 1
        ToUpper('ß') → "ß"
        ToLower('ÄB') → "äb"
        "#,
    );
}

#[test]
fn functions_of_any_value() {
    check(
        r#"
        Coalesce(missing, null, 1, 2) → 1
        Coalesce(missing, null) → null
        Coalesce(null, missing) → undefined
        Coalesce() → undefined
        Has(n) → true
        Has(missing) → false
        Has(undefined()) → false
        TypeOf({}) → "object"
        TypeOf([]) → "array"
        TypeOf('') → "string"
        TypeOf(1) → "number"
        TypeOf(true) → "boolean"
        TypeOf(null) → "null"
        TypeOf(missing) → "undefined"
        ElementAt(tags, 1) → "Y"
        ElementAt(o, 'ODD NAME') → undefined
        ElementAt(o, 'ODD NAME') ci → 2
        Keys(o) → ["k","odd name","K"]
        Values(o) → [1,2,3]
        Keys(tags) → undefined
        Length(tags) → 2
        FromJson('[1, {"a": null}]') → [1,{"a":null}]
        FromJson('[1,') → undefined
        ToJson({a: [1, 'x']}) → "{\"a\":[1,\"x\"]}"
        ToString(kept) → "1.0"
        ToString(true) → "true"
        ToString(null) → undefined
        ToString(tags) → undefined
        ToNumber('-12.50') → -12.5
        ToNumber('x') → undefined
        Round(2.5) → 3
        Round(-2.5) → -3
        Round(2.345, 2) → 2.35
        Round(2.5, undefined()) → 3
        ToHexString(255) → "0xff"
        ToHexString(-0) → "0x0"
        "#,
    );
}

#[test]
fn functions_of_time() {
    check(
        r#"
        DateTime('2024-02-30') → undefined
        DateTime('2024-05-29 12:56:01.5+02:00') = DateTime('2024-05-29T10:56:01.5Z') → true
        ToIsoString(DateTime('2024-05-29T10:56:01.1234567Z')) → "2024-05-29T10:56:01.1234567Z"
        ToIsoString(DateTime('9999-12-31T23:59:59.9999999Z') + 1us) → undefined
        DatePart(DateTime('2024-02-29'), 'day') → 29
        DatePart(DateTime('2024-02-29T23:00:00Z'), 'day', 2h) → 1
        DatePart(DateTime('2024-02-29'), 'weekday') → 4
        TimeOfDay(DateTime('2024-05-29T10:00:00Z')) = 10h → true
        OffsetIn('Europe/Berlin', DateTime('2024-07-01')) = 2h → true
        TimeSpan('1.02:03:04.5') = 1d2h3m4s500ms → true
        TotalMilliseconds(1s) → 1000
        Now() > DateTime('2024-01-01') → true
        "#,
    );
}

// Queries.

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
fn three_aggregates_give_rows_and_stand_alone() {
    rows(
        "select distinct(v) from stream",
        r#"{"distinct(v)":1.0} {"distinct(v)":2.5} {"distinct(v)":"text"} {"distinct(v)":null} {"distinct(v)":-3}"#,
    );
    rows("select top(n, 2) from stream", r#"{"top(n, 2)":1} {"top(n, 2)":2}"#);
    rows("select bottom(n, 2) from stream", r#"{"bottom(n, 2)":5} {"bottom(n, 2)":6}"#);
    refused("select distinct(n), count(*) from stream", "alone");
}

#[test]
fn a_column_beside_an_aggregate_is_aggregate_or_constant() {
    rows("select count(*) + 1 as c, 'x' as x from stream", r#"{"c":7,"x":"x"}"#);
    refused("select count(*), n from stream", "neither aggregate nor constant");
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
