//! Numbers against decimals of any length.

use super::*;
use crate::Isa;
use crate::search::{Documents, FewDigits, Span};
use proptest::prelude::*;

fn check(a: &str, b: &str, expected: Ordering) {
    assert_eq!(compare(a, b), expected, "{a} and {b}");
    assert_eq!(compare(b, a), expected.reverse(), "{b} and {a}");
    assert_eq!(Bound::new(b).compare(a.as_bytes()), expected, "{a} and the bound {b}");
    assert_eq!(Bound::new(a).compare(b.as_bytes()), expected.reverse(), "{b} and the bound {a}");
}

#[test]
fn each_of_a_rising_list_is_less_than_all_after_it_and_equal_to_its_other_spellings() {
    let rising: &[&[&str]] = &[
        &["-1e1000000000", "-10e999999999", "-0.1e1000000001"],
        &["-1e999999999"],
        &["-123456789012345678901234567890.5"],
        &["-18446744073709551616", "-18446744073709551616.0"],
        &["-9999999999999999"],
        &["-200.5", "-2005e-1"],
        &["-200", "-2e2", "-200.00"],
        &["-199.9999999999999999999999"],
        &["-1", "-1.0"],
        &["-1e-5", "-0.00001"],
        &["-1e-1000000000"],
        &["0", "-0", "0.0", "-0.000", "0e5", "0e-5", "-0E1000000000", "0.00000000000000000000000000"],
        &["1e-1000000000", "0.1e-999999999"],
        &["1e-20", "0.00000000000000000001"],
        &["0.000000000000001", "1e-15"],
        &["0.1", "0.10", "1e-1", "0.1000000000000000000000"],
        &["0.10000000000000000000000000000000000001"],
        &["0.3"],
        &["0.30000000000000004"],
        &["1", "1.0", "1e0", "10e-1", "0.01e2", "1.000000000000000"],
        &["1.000000000000001"],
        &["1.00000000000001"],
        &["9", "9.0"],
        &["10", "1e1", "10.0"],
        &["99.99"],
        &["100", "1e2", "1E+2", "100.0", "0.1e3"],
        &["199.9999999999999999999"],
        &["200"],
        &["200.0000000000000000001"],
        &["999", "999.0"],
        &["1000"],
        &["9999999"],
        &["12345678"],
        &["12345678.9"],
        &["99999999"],
        &["100000000", "1e8"],
        &["9007199254740992"],
        &["9007199254740993", "9007199254740993.0"],
        &["9999999999999999"],
        &["10000000000000000", "1e16"],
        &["18446744073709551615"],
        &["18446744073709551616"],
        &["100000000000000000000", "1e20"],
        &["1e999999999"],
        &["1e1000000000", "10e999999999"],
    ];
    for (rank, spellings) in rising.iter().enumerate() {
        for (other_rank, others) in rising.iter().enumerate() {
            for a in *spellings {
                for b in *others {
                    check(a, b, rank.cmp(&other_rank));
                }
            }
        }
    }
}

#[test]
fn decimals_are_exact_or_none() {
    for (text, expected) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.000e-99999", "0"),
        ("1.0", "1"),
        ("1.50", "1.5"),
        ("1e2", "100"),
        ("-12.50e+3", "-12500"),
        ("120e-1", "12"),
        ("0.1", "0.1"),
        ("79228162514264337593543950335", "79228162514264337593543950335"),
        ("-79228162514264337593543950335", "-79228162514264337593543950335"),
        ("7922816251426433759354395033500000e-5", "79228162514264337593543950335"),
        ("7.9228162514264337593543950335", "7.9228162514264337593543950335"),
        ("1e28", "10000000000000000000000000000"),
        ("1e-28", "0.0000000000000000000000000001"),
        ("0.00000000000000000000000000010", "0.0000000000000000000000000001"),
    ] {
        assert_eq!(to_decimal(text).unwrap_or_else(|| panic!("{text}")).to_string(), expected);
    }
    for text in [
        "79228162514264337593543950336",
        "1e29",
        "1e-29",
        "7.92281625142643375935439503350001",
        "123456789012345678901234567890",
        "1e1000000000",
        "1e-1000000000",
        "1e99999999999999999999",
    ] {
        assert_eq!(to_decimal(text), None, "{text}");
    }
}

#[test]
fn a_bound_agrees_at_every_length_and_place_of_the_point() {
    let digits = "1234567890123456789";
    for length in 1..=digits.len() {
        for point in 0..length {
            let number = match point {
                0 => digits[..length].to_owned(),
                _ => format!("{}.{}", &digits[..point], &digits[point..length]),
            };
            for bound in [
                "0",
                "1",
                "12345678",
                "1.2345678",
                "123456789.012345678",
                "1234567890123456789",
                "-5",
                &number,
            ] {
                for number in [&number, &format!("-{number}")] {
                    assert_eq!(
                        Bound::new(bound).compare(number.as_bytes()),
                        compare(number, bound),
                        "{number} {bound}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_no_number_is_safe() {
    let texts = [
        "",
        "-",
        ".",
        "e",
        "1.",
        ".5",
        "1e",
        "--1",
        "1.2.3",
        "12a4",
        "a",
        "1-2",
        "NaN",
        "\u{e9}1234567",
        "1234567.",
    ];
    for a in texts {
        for b in texts {
            assert_eq!(compare(a, b), compare(b, a).reverse());
            assert_eq!(Bound::new(b).compare(a.as_bytes()), compare(a, b), "{a} {b}");
        }
        let _ = to_decimal(a);
    }
    assert_eq!(Bound::new("1").compare(b"\xff\xfe"), Ordering::Less);
}

#[test]
fn a_long_number_takes_linear_time() {
    let digits = "7".repeat(1 << 20);
    let (a, b) = (format!("{digits}e1000000000"), format!("0.{digits}8e1001048576"));
    check(&a, &b, Ordering::Less);
    check(&a, &a, Ordering::Equal);
    assert_eq!(to_decimal(&a), None);
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?",
        "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,17})?",
        "-?(0|[1-9][0-9]{0,30})(\\.0{0,30}[0-9]{1,3}0{0,5})?([eE][+-]?[0-3]?[0-9])?",
        "-?[1-9]([eE][+-]?1?[0-9]{1,9})",
    ]
}

proptest! {
    #[test]
    fn any_two_numbers_compare_as_decimals_where_they_are_such(a in number(), b in number()) {
        let order = compare(&a, &b);
        prop_assert_eq!(compare(&b, &a), order.reverse());
        prop_assert_eq!(Bound::new(&b).compare(a.as_bytes()), order);
        if let (Some(a), Some(b)) = (to_decimal(&a), to_decimal(&b)) {
            prop_assert_eq!(order, a.cmp(&b));
        }
        let (near_a, near_b) = (a.parse::<f64>().unwrap(), b.parse::<f64>().unwrap());
        if near_a < near_b {
            prop_assert_eq!(order, Ordering::Less);
        }
    }

    #[test]
    fn another_spelling_compares_equal(number in number(), zeros in 0usize..4) {
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((&number, "0"));
        let exponent: i64 = exponent.parse().unwrap();
        let point = if mantissa.contains('.') { "" } else { "." };
        let padded = format!("{mantissa}{point}{}e{exponent}", "0".repeat(zeros + 1));
        check(&padded, &number, Ordering::Equal);
        prop_assert_eq!(to_decimal(&padded), to_decimal(&number));
    }

    #[test]
    fn any_text_is_safe(a: String, b in "[-+.eE0-9]{0,40}") {
        prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        prop_assert_eq!(Bound::new(&b).compare(a.as_bytes()), compare(&a, &b));
        let _ = to_decimal(&b);
    }
}

/// The number's few digits, by all kernels alike.
fn few_digits_at(bytes: &[u8], start: usize, end: usize) -> Option<(i64, u32)> {
    let few = super::few_digits_at(bytes, start, end);
    if let Some((start, end)) = u32::try_from(start).ok().zip(u32::try_from(end).ok()) {
        let ends = [(bytes.len() as u32).to_le_bytes()];
        let documents = Documents::new(bytes, &ends).unwrap();
        let (mut numbers, mut others) = (Vec::new(), Vec::new());
        for isa in Isa::available() {
            documents.numbers(
                isa,
                &[Span::Absent, Span::Value(start, end)],
                &[1, 0],
                &mut numbers,
                &mut others,
            );
            let expected = few.map(|(significand, scale)| FewDigits { significand, scale, at: 0 });
            assert_eq!(numbers, Vec::from_iter(expected), "{}", isa.name());
            assert_eq!(others, if few.is_none() { vec![0] } else { vec![] }, "{}", isa.name());
        }
    }
    few
}

#[test]
fn few_digits_are_taken_as_they_stand() {
    for (text, expected) in [
        ("0", Some((0, 0))),
        ("-0", Some((0, 0))),
        ("7", Some((7, 0))),
        ("-7", Some((-7, 0))),
        ("1.50", Some((150, 2))),
        ("-0.001", Some((-1, 3))),
        ("122.4163", Some((1_224_163, 4))),
        ("12345678", Some((12_345_678, 0))),
        ("1234567890123456", Some((1_234_567_890_123_456, 0))),
        ("-9999999999999999", Some((-9_999_999_999_999_999, 0))),
        ("0.12345678901234", Some((12_345_678_901_234, 14))),
        ("123456789012.345", Some((123_456_789_012_345, 3))),
        ("12345678.9012345", Some((123_456_789_012_345, 7))),
        ("12345678901234567", None),
        ("1e2", None),
        ("1E+2", None),
        ("1.5e3", None),
        ("--1", None),
        ("1.2.3", None),
        ("1/3", None),
        ("1:3", None),
        ("", None),
        ("-", None),
        ("\"12\"", None),
        ("null", None),
        ("+", None),
    ] {
        assert_eq!(few_digits(text.as_bytes()), expected, "{text}");
        // The same wherever it stands, whatever stands before it.
        for before in ["", "1", "9.9", "\"Elapsed\":", "123456789012345678901234567890"] {
            let bytes = format!("{before}{text},1");
            let (start, end) = (before.len(), before.len() + text.len());
            assert_eq!(few_digits_at(bytes.as_bytes(), start, end), expected, "{bytes}");
        }
    }
    assert_eq!(few_digits_at(b"12", 1, 3), None, "past the end");
    assert_eq!(few_digits_at(b"12", 2, 1), None, "the end before the start");
    assert_eq!(few_digits_at(b"12", 5, 6), None, "outside");
    assert_eq!(few_digits_at(b"-", 0, 1), None);
}

proptest! {
    #[test]
    fn few_digits_are_the_number(significand in -9_999_999_999_999_999i64..10_000_000_000_000_000, scale in 0usize..15, digits in 1u32..17) {
        let significand = significand / 10i64.pow(16 - digits);
        let magnitude = format!("{:01$}", significand.unsigned_abs(), scale + 1);
        let (integer, fraction) = magnitude.split_at(magnitude.len() - scale);
        let sign = if significand < 0 { "-" } else { "" };
        let text = if scale == 0 { format!("{sign}{integer}") } else { format!("{sign}{integer}.{fraction}") };
        let is_short = text.trim_start_matches('-').len() <= 16;
        let expected = is_short.then_some((significand, scale as u32));
        prop_assert_eq!(few_digits(text.as_bytes()), expected, "{}", text);
        prop_assert_eq!(few_digits_at(format!("xxxxxxxxxxxxxxxx{text}").as_bytes(), 16, 16 + text.len()), expected);
    }

    #[test]
    fn any_bytes_have_few_digits_or_none(
        bytes in prop::collection::vec(prop_oneof![12 => b'0'..=b'9', 1 => b'-'..=b'.', 1 => any::<u8>()], 0..40),
        start in 0usize..50,
        length in 0usize..20,
    ) {
        let end = start + length;
        if let Some((significand, scale)) = few_digits_at(&bytes, start, end) {
            prop_assert!(significand.unsigned_abs() < 10u64.pow(16) && scale < 16);
            let text = std::str::from_utf8(&bytes[start..end]).unwrap();
            prop_assert_eq!(to_decimal(text), Some(Decimal::new(significand, scale).normalize()));
        }
    }
}
