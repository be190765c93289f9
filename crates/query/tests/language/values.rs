//! Rules of values: what equals what, what is before what, and what numbers, strings and instants are.

use crate::check::check;

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
fn results_of_arithmetic_are_decimals_and_operands_any_numbers_of_a_thousand_places() {
    check(
        r#"
        huge + 0 → undefined
        huge - huge → 0
        huge / 2 → 61728394506172839450617283945
        Round(huge) → undefined
        Round(ToNumber('-4999999999999999999999999999999e-31')) → 0
        Round(ToNumber('-50000000000000000000000000000001e-32')) → -1
        big * 0 → 0
        big + 1 → undefined
        -huge → undefined
        79228162514264337593543950335 + 0 → 79228162514264337593543950335
        79228162514264337593543950336 + 0 → undefined
        0.0000000000000000000000000001 + 0 → 0.0000000000000000000000000001
        0.00000000000000000000000000001 + 0 → 0
        -ToNumber('1e-29') → 0
        ToNumber('1e-1001') + 1 → undefined
        ToNumber('1e999') / ToNumber('1e999') → 1
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
