//! Rules of functions, with an example or more of each.

use crate::check::check;

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
        FromJson('{"a": {"b": [1, {"c d": "x"}]}}').a.b[1]['c d'] → "x"
        FromJson('{"a": {"b": [1, {"c d": "x"}]}}').a.b → [1,{"c d":"x"}]
        FromJson('{"a": 1, "a": 2, "b": 3}').a → 2
        FromJson('{"\u0061": 1}').a → 1
        FromJson(FromJson('{"a": "{\"b\": 3}"}').a).b → 3
        FromJson('[1, 2]')[1] → 2
        FromJson('[1, 2]').a → undefined
        FromJson('[1,').a → undefined
        FromJson(1).a → undefined
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
