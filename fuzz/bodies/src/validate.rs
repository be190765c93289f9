//! Any bytes as what comes in.

use crate::reference;
use serde::de::IgnoredAny;
use serde_json::Value;
use tamias_json::Isa;
use tamias_json::validate::{Limits, Reason, ValidateError, minify_object, minify_value, minify_value_with};

/// The trust boundary against `serde_json`: what it accepts and rejects, and every value.
///
/// Known differences, each taken into account below: our limits on length, depth and exponents, which a body of its
/// own cannot ask `serde_json` about. Without building a value that has none; with one, it stops at depth 128, and
/// refuses numbers such as 1e999 and lone surrogates: there the plain reference stands in.
pub fn validate(input: &[u8]) {
    let limits = Limits { bytes_max: 1 << 20, depth_max: 200 };
    let mut out = b"before".to_vec();
    match minify_value(input, &limits, &mut out) {
        Ok(()) => accepted(input, out.strip_prefix(b"before").expect("output is appended"), &limits),
        Err(error) => {
            assert_eq!(out, b"before", "an error leaves the output as it was");
            rejected(input, error, &limits);
        }
    }
    every_kernel(input, &limits);
    object_at_the_root(input, &limits);
}

fn every_kernel(input: &[u8], limits: &Limits) {
    let mut expected = Vec::new();
    let result = minify_value(input, limits, &mut expected);
    for isa in Isa::available() {
        let mut out = Vec::new();
        assert_eq!(minify_value_with(input, limits, isa, &mut out), result, "{}", isa.name());
        assert_eq!(out, expected, "{}", isa.name());
    }
}

fn accepted(input: &[u8], out: &[u8], limits: &Limits) {
    assert!(reference::is_json(input), "accepted what is no JSON");
    assert_eq!(out, reference::minified(input), "not the one minified form");
    assert!(out.len() <= input.len(), "minifying makes nothing longer");

    let mut again = Vec::new();
    minify_value(out, limits, &mut again).expect("minified text is valid");
    assert_eq!(out, again, "minifying twice changes nothing");

    if let Ok(value) = serde_json::from_slice::<Value>(input) {
        let minified = serde_json::from_slice::<Value>(out).expect("minified text is valid");
        assert_eq!(value, minified, "minifying keeps the value");
    }
}

fn rejected(input: &[u8], error: ValidateError, limits: &Limits) {
    let ValidateError { offset, reason } = error;
    assert!(offset <= input.len(), "the place lies within the input");
    assert!(!error.to_string().is_empty());
    let before = &input[..offset];
    match reason {
        Reason::TooLong { bytes_max } => assert_eq!((offset, input.len() > offset), (bytes_max, true)),
        // Nothing was wrong so far: text that goes on could be valid.
        Reason::TooDeep { .. } => {
            assert!(begins_json(before));
            assert!(input.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() > limits.depth_max);
        }
        Reason::ExponentTooLarge => {
            assert!(begins_json(before));
            assert!(matches!(before.last(), Some(b'e' | b'E' | b'+' | b'-')));
            let digits = input[offset..].iter().take_while(|byte| byte.is_ascii_digit());
            let significant: Vec<u8> = digits.copied().skip_while(|&digit| digit == b'0').collect();
            assert!((significant.len(), &significant[..]) > (10, b"1000000000"));
        }
        Reason::NotUtf8 => {
            let valid = std::str::from_utf8(input).expect_err("UTF-8 was called none").valid_up_to();
            assert_eq!(offset, valid);
        }
        Reason::UnexpectedEnd => {
            assert_eq!(offset, input.len());
            assert!(!reference::is_json(input));
            assert!(begins_json(input));
        }
        Reason::InvalidEscape => {
            assert!(!reference::is_json(input));
            assert!(begins_json(before));
        }
        _ => {
            assert!(!reference::is_json(input), "rejected valid JSON: {reason}");
            assert!(begins_json(before));
            // And this is the byte that cannot be.
            assert!(!begins_json(&input[..=offset]), "{reason} at {offset}, where nothing is wrong yet");
        }
    }
}

/// Whether valid JSON can begin so.
fn begins_json(start: &[u8]) -> bool {
    let parses = |text: &[u8]| match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    };
    // Of a number that lacks a digit at the end of the text, `serde_json` does not say that the text ends too early.
    parses(start)
        || matches!(start.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E')) && parses(&[start, b"0"].concat())
}

fn object_at_the_root(input: &[u8], limits: &Limits) {
    let (mut any, mut object) = (Vec::new(), Vec::new());
    let first = input.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    let any_result = minify_value(input, limits, &mut any);
    let object_result = minify_object(input, limits, &mut object);
    match first {
        Some(at) if input[at] != b'{' => {
            let error = object_result.expect_err("no object");
            assert!(object.is_empty());
            match error.reason {
                Reason::ExpectedObject => assert_eq!(error.offset, at),
                _ => assert_eq!(any_result, Err(error)),
            }
        }
        _ => assert_eq!((object_result, object), (any_result, any)),
    }
}
