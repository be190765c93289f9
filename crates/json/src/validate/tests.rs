//! The strict check against other readers of JSON.

use super::*;
use proptest::prelude::*;
use serde_json::Value;

/// Minifies with every kernel, and asserts that they agree.
fn minify_with_limits(input: &[u8], limits: &Limits, object: bool) -> Result<Vec<u8>, ValidateError> {
    let mut results: Vec<_> = Isa::available()
        .into_iter()
        .map(|isa| {
            let mut out = b"before".to_vec();
            let result = minify(isa, input, limits, object, &mut out);
            let out = out.strip_prefix(b"before").expect("what was there stays").to_vec();
            assert!(result.is_ok() || out.is_empty(), "an error leaves nothing behind");
            (isa, result.map(|()| out))
        })
        .collect();
    let (_, first) = results.remove(0);
    for (isa, result) in results {
        assert_eq!(result, first, "{isa:?} on {}", input.escape_ascii());
    }
    first
}

fn value(input: &str) -> Result<String, ValidateError> {
    minify_with_limits(input.as_bytes(), &Limits::default(), false).map(|out| String::from_utf8(out).unwrap())
}

fn reason(input: &[u8]) -> (usize, Reason) {
    let error = minify_with_limits(input, &Limits::default(), false)
        .expect_err(&format!("accepted {}", input.escape_ascii()));
    (error.offset, error.reason)
}

#[test]
fn what_is_minified_and_normalised_stays_byte_for_byte() {
    let accepted = [
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "\"\"",
        "0",
        "-0",
        "-0.0",
        "0e1",
        "0E+1",
        "1e-2",
        "1.5E2",
        "123456789012345678901234567890.123456789012345678901234567890e12",
        "1e1000000000",
        "1e-1000000000",
        "1e0000000000000000000001",
        "[[[[[]]]]]",
        "{\"\":{\"\":{\"\":\"\"}}}",
        "[0,-1,{\"a\":[null,true,false]},\"x\"]",
        "{\"a\":1,\"a\":2}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\"",
        "\"\\u0000\\u0001\\u0007\\u000b\\u000e\\u001f\"",
        "\"/\u{7f}\u{80}é\u{2028}\u{feff}\u{ffff}😀\u{10ffff}\"",
        "\"\\ud800\"",
        "\"\\udbff\\ud800x\\udc00\\udfff\"",
        "{\"@t\":\"2024-05-29T10:56:01Z\",\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":[[],{}]}",
    ];
    for text in accepted {
        assert_eq!(value(text).as_deref(), Ok(text));
    }
}

#[test]
fn white_space_between_tokens_goes_and_within_strings_stays() {
    for (input, output) in [
        (" \t\r\n{ \t\r\n} \t\r\n", "{}"),
        ("[ ]", "[]"),
        ("[ 1 , 2 ]", "[1,2]"),
        (
            "{ \"a b\" : \"c  d\" , \"e\" : [ 1.0 , -2e5 , true , null ] }\n",
            "{\"a b\":\"c  d\",\"e\":[1.0,-2e5,true,null]}",
        ),
        ("\n\n12\n", "12"),
        ("\t\"\"\t", "\"\""),
    ] {
        assert_eq!(value(input).as_deref(), Ok(output));
    }
}

#[test]
fn strings_take_their_one_spelling() {
    for (input, output) in [
        (r"\/", "/"),
        (r"\u002f", "/"),
        (r"\u0022\u005C", r#"\"\\"#),
        (r"\u0008\u0009\u000A\u000c\u000D", r"\b\t\n\f\r"),
        (r"\u0000\u001F\u000B", r"\u0000\u001f\u000b"),
        (r"\u007f\u0080", "\u{7f}\u{80}"),
        (r"\u0041\u00e9\u20AC\uFFFF", "Aé€\u{ffff}"),
        (r"\ud83d\ude00", "😀"),
        (r"\uD83D\uDE00", "😀"),
        (r"\uDBFF\uDFFF", "\u{10ffff}"),
        (r"\uD83D", r"\ud83d"),
        (r"\uDE00\uD83D", r"\ude00\ud83d"),
        (r"\uD83D\uD83D\uDE00", r"\ud83d😀"),
        (r"\uD83D\u0041", r"\ud83dA"),
        (r"\uD83D\n", r"\ud83d\n"),
        (r"\uD83D\\uDE00", r"\ud83d\\uDE00"),
    ] {
        assert_eq!(value(&format!("\"{input}\"")).as_deref(), Ok(&*format!("\"{output}\"")), "{input}");
        let (key, key_out) = (format!("{{\"{input}\" : 1}}"), format!("{{\"{output}\":1}}"));
        assert_eq!(value(&key).as_deref(), Ok(&*key_out), "{input}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_is_rejected_names_the_byte_and_the_reason() {
    use Reason::*;
    let rejected: &[(&[u8], usize, Reason)] = &[
        // The end.
        (b"", 0, UnexpectedEnd),
        (b" \n", 2, UnexpectedEnd),
        (b"{", 1, UnexpectedEnd),
        (b"[", 1, UnexpectedEnd),
        (b"[1", 2, UnexpectedEnd),
        (b"[1,", 3, UnexpectedEnd),
        (b"{\"a\"", 4, UnexpectedEnd),
        (b"{\"a\":", 5, UnexpectedEnd),
        (b"{\"a\":1", 6, UnexpectedEnd),
        (b"{\"a\":1,", 7, UnexpectedEnd),
        (b"\"", 1, UnexpectedEnd),
        (b"\"a", 2, UnexpectedEnd),
        (b"\"\\", 2, UnexpectedEnd),
        (b"\"\\u", 3, UnexpectedEnd),
        (b"\"\\u12", 5, UnexpectedEnd),
        (b"\"\\u1234", 7, UnexpectedEnd),
        (b"tru", 3, UnexpectedEnd),
        (b"-", 1, UnexpectedEnd),
        (b"1.", 2, UnexpectedEnd),
        (b"1e", 2, UnexpectedEnd),
        (b"1e+", 3, UnexpectedEnd),
        // Something after it.
        (b"{} x", 3, TrailingBytes),
        (b"{\"a\":4} 2", 8, TrailingBytes),
        (b"1 2", 2, TrailingBytes),
        (b"[]]", 2, TrailingBytes),
        (b"{},", 2, TrailingBytes),
        (b"1\0", 1, TrailingBytes),
        (b"\"a\"b", 3, TrailingBytes),
        (b"0x1", 1, TrailingBytes),
        (b"truer", 4, TrailingBytes),
        // Values.
        (b"\xef\xbb\xbf{}", 0, ExpectedValue),
        (b"\0", 0, ExpectedValue),
        (b"]", 0, ExpectedValue),
        (b",", 0, ExpectedValue),
        (b"[,1]", 1, ExpectedValue),
        (b"[1,]", 3, ExpectedValue),
        (b"[1,,2]", 3, ExpectedValue),
        (b"{\"a\":}", 5, ExpectedValue),
        (b"{\"a\":,}", 5, ExpectedValue),
        (b"True", 0, ExpectedValue),
        (b"nul1", 3, ExpectedValue),
        (b"fals\0", 4, ExpectedValue),
        (b"NaN", 0, ExpectedValue),
        (b"nan", 1, ExpectedValue),
        (b"Infinity", 0, ExpectedValue),
        (b"+1", 0, ExpectedValue),
        (b".5", 0, ExpectedValue),
        (b"'a'", 0, ExpectedValue),
        (b"/**/1", 0, ExpectedValue),
        (b"[1,//\n2]", 3, ExpectedValue),
        (b"\x0c1", 0, ExpectedValue),
        (b"\xc2\xa01", 0, ExpectedValue),
        // Containers.
        (b"{:42e10}", 1, ExpectedKey),
        (b"{a:1}", 1, ExpectedKey),
        (b"{1:1}", 1, ExpectedKey),
        (b"{,}", 1, ExpectedKey),
        (b"{\"a\":1,}", 7, ExpectedKey),
        (b"{[]:1}", 1, ExpectedKey),
        (b"{]", 1, ExpectedKey),
        (b"{\"a\"],42}", 4, ExpectedColon),
        (b"{\"a\" 1}", 5, ExpectedColon),
        (b"{\"a\",1}", 4, ExpectedColon),
        (b"{\"a\"}", 4, ExpectedColon),
        (b"{\"a\"\0:1}", 4, ExpectedColon),
        (b"{\"a\":1 \"b\":2}", 7, ExpectedCommaOrBrace),
        (b"{\"a\":1]", 6, ExpectedCommaOrBrace),
        (b"{\"a\":1:2}", 6, ExpectedCommaOrBrace),
        (b"[1 2]", 3, ExpectedCommaOrBracket),
        (b"[1}", 2, ExpectedCommaOrBracket),
        (b"[\"a\":1]", 4, ExpectedCommaOrBracket),
        (b"[\"a\"\"b\"]", 4, ExpectedCommaOrBracket),
        (b"[{]}", 2, ExpectedKey),
        (b"[1\x0b]", 2, ExpectedCommaOrBracket),
        // Strings.
        (b"\"\n\"", 1, ControlCharacter),
        (b"\"a\0b\"", 2, ControlCharacter),
        (b"\"a\x1f\"", 2, ControlCharacter),
        (b"{\"a\tb\":1}", 3, ControlCharacter),
        (b"\"\\x\"", 2, InvalidEscape),
        (b"\"\\'\"", 2, InvalidEscape),
        (b"\"\\0\"", 2, InvalidEscape),
        (b"\"\\U0041\"", 2, InvalidEscape),
        (b"\"\\\n\"", 2, InvalidEscape),
        (b"\"\\u004g\"", 6, InvalidEscape),
        (b"\"\\u+041\"", 3, InvalidEscape),
        (b"\"\\u 041\"", 3, InvalidEscape),
        (b"{\"a\":\"\\\\\\u\\\\\"}", 10, InvalidEscape),
        (b"\"\\ud83d\\u12\"", 11, InvalidEscape),
        // Numbers.
        (b"01", 1, LeadingZero),
        (b"-01", 2, LeadingZero),
        (b"00", 1, LeadingZero),
        (b"[-00000000000000000]", 3, LeadingZero),
        (b"-a", 1, ExpectedDigit),
        (b"--1", 1, ExpectedDigit),
        (b"-.5", 1, ExpectedDigit),
        (b"[1.]", 3, ExpectedDigit),
        (b"1.e5", 2, ExpectedDigit),
        (b"1.-5", 2, ExpectedDigit),
        (b"[1e]", 3, ExpectedDigit),
        (b"1e5.5", 3, TrailingBytes),
        (b"[1e+]", 4, ExpectedDigit),
        (b"1e+-2", 3, ExpectedDigit),
        (b"1.2.3", 3, TrailingBytes),
        (b"1_000", 1, TrailingBytes),
        (b"1e1000000001", 2, ExponentTooLarge),
        (b"0e-99999999999999999999", 3, ExponentTooLarge),
        // UTF-8.
        (b"\"\x80\"", 1, NotUtf8),
        (b"\"a\xff\"", 2, NotUtf8),
        (b"\"\xc0\xaf\"", 1, NotUtf8),
        (b"\"\xe0\x80\xaf\"", 1, NotUtf8),
        (b"\"\xed\xa0\x80\"", 1, NotUtf8),
        (b"\"\xf4\x90\x80\x80\"", 1, NotUtf8),
        (b"\"\xf0\x9f\x98", 1, NotUtf8),
        (b"{\"a\xe9\":1}", 3, NotUtf8),
    ];
    for &(input, offset, expected) in rejected {
        assert_eq!(reason(input), (offset, expected), "{}", input.escape_ascii());
    }
}

#[test]
fn the_root_must_be_an_object_where_one_is_asked_for() {
    let object = |input: &str| minify_with_limits(input.as_bytes(), &Limits::default(), true);
    assert_eq!(object(" {\"a\": 1} "), Ok(b"{\"a\":1}".to_vec()));
    for input in ["[{}]", "1", "null", "\"{}\"", "x"] {
        let error = object(&format!(" {input}")).unwrap_err();
        assert_eq!(error, ValidateError { offset: 1, reason: Reason::ExpectedObject });
    }
    assert_eq!(object("  ").unwrap_err(), ValidateError { offset: 2, reason: Reason::UnexpectedEnd });
}

#[test]
fn depth_is_limited_exactly_and_costs_no_stack() {
    for depth_max in [1, 2, 63, 64, 65, 128, 129, 1000, 1_000_000] {
        let limits = Limits { depth_max, ..Limits::default() };
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let of_depth = |depth: usize| {
                let inner = if open == "[" { "" } else { "1" };
                format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
            };
            let most = of_depth(depth_max);
            assert_eq!(minify_with_limits(most.as_bytes(), &limits, false), Ok(most.into_bytes()));
            let error = minify_with_limits(of_depth(depth_max + 1).as_bytes(), &limits, false).unwrap_err();
            let reason = Reason::TooDeep { depth_max };
            assert_eq!(error, ValidateError { offset: open.len() * depth_max, reason });
        }
    }
}

#[test]
fn containers_of_both_kinds_close_in_the_order_in_which_they_opened() {
    // Deep enough for the bits of the open containers to fill several words, in no regular pattern.
    let kinds: Vec<bool> = (0..500u64).map(|n| (n * n * 2_654_435_761) >> 7 & 1 == 1).collect();
    let open: String = kinds.iter().map(|&object| if object { "{\"k\":" } else { "[" }).collect();
    let close = |kinds: &[bool]| -> String {
        kinds.iter().rev().map(|&object| if object { '}' } else { ']' }).collect()
    };
    let good = format!("{open}0{}", close(&kinds));
    assert_eq!(value(&good).as_deref(), Ok(&*good));
    for wrong in 0..kinds.len() {
        let mut kinds = kinds.clone();
        kinds[wrong] ^= true;
        let bad = format!("{open}0{}", close(&kinds));
        let at = open.len() + 1 + (kinds.len() - 1 - wrong);
        let expected =
            if kinds[wrong] { Reason::ExpectedCommaOrBracket } else { Reason::ExpectedCommaOrBrace };
        assert_eq!(reason(bad.as_bytes()), (at, expected));
    }
}

#[test]
fn the_scanner_reads_what_the_limits_let_in() {
    let limits = Limits::default();
    assert!(limits.depth_max <= crate::DEPTH_MAX && limits.bytes_max <= crate::BYTES_MAX);
    let deepest =
        [b"{\"a\":".repeat(limits.depth_max), b"1".to_vec(), b"}".repeat(limits.depth_max)].concat();
    let out = minify_with_limits(&deepest, &limits, true).unwrap();
    assert!(crate::Document::scan_trusted(&out).is_ok());
}

#[test]
fn length_is_limited_exactly() {
    let limits = Limits { bytes_max: 5, ..Limits::default() };
    assert_eq!(minify_with_limits(b"[1,2]", &limits, false), Ok(b"[1,2]".to_vec()));
    let error = minify_with_limits(b"[1,2] ", &limits, false).unwrap_err();
    assert_eq!(error, ValidateError { offset: 5, reason: Reason::TooLong { bytes_max: 5 } });
}

#[test]
fn a_string_may_end_and_an_escape_stand_anywhere_in_a_vector() {
    for before in 0..140 {
        let plain = "x".repeat(before);
        for (escape, spelled) in
            [("", ""), ("\\n", "\\n"), ("\\\\", "\\\\"), ("\\\"", "\\\""), ("\\u0041", "A"), ("é", "é")]
        {
            let (input, output) = (format!("[\"{plain}{escape}\",1]"), format!("[\"{plain}{spelled}\",1]"));
            assert_eq!(value(&input).as_deref(), Ok(&*output));
        }
        assert_eq!(reason(format!("\"{plain}\n\"").as_bytes()), (before + 1, Reason::ControlCharacter));
        assert_eq!(reason(format!("\"{plain}\\x\"").as_bytes()), (before + 2, Reason::InvalidEscape));
        assert_eq!(reason(format!("\"{plain}\\").as_bytes()), (before + 2, Reason::UnexpectedEnd));
        let digits = "1".repeat(before + 1);
        assert_eq!(
            value(&format!("[{digits}.{digits}e-5]")).as_deref(),
            Ok(&*format!("[{digits}.{digits}e-5]"))
        );
        assert_eq!(reason(format!("[{digits}x]").as_bytes()), (before + 2, Reason::ExpectedCommaOrBracket));
    }
}

#[test]
fn every_kernel_marks_the_same_bytes() {
    for byte in 0..=255u8 {
        for other in [b'a', b'"', 0xff, 0x21, 0x1f, 0x80] {
            for place in 0..64 {
                let mut input = [other; 64];
                input[place] = byte;
                // As a string: most are errors, and all kernels must give the same.
                let _ = minify_with_limits(&[b"\"", &input[..], b"\""].concat(), &Limits::default(), false);
            }
        }
    }
}

#[test]
fn nasty_documents_pass_and_broken_ones_do_not() {
    for document in tamias_testdata::nasty_documents().iter().chain(&tamias_testdata::spaced_documents()) {
        let out = minify_with_limits(document, &Limits::default(), true)
            .unwrap_or_else(|error| panic!("{error}: {}", document.escape_ascii()));
        assert_eq!(minify_with_limits(&out, &Limits::default(), true).as_ref(), Ok(&out));
        if let Ok(value) = serde_json::from_slice::<Value>(document) {
            assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), value);
        }
    }
    for document in tamias_testdata::broken_documents() {
        assert!(
            minify_with_limits(&document, &Limits::default(), true).is_err(),
            "{}",
            document.escape_ascii()
        );
    }
}

#[test]
fn generated_events_are_minified_already() {
    let mut generator = tamias_testdata::Generator::new(7, 300);
    let mut line = Vec::new();
    while generator.write_next(&mut line) {
        let event = line.strip_suffix(b"\n").unwrap();
        assert_eq!(minify_with_limits(event, &Limits::default(), true).as_deref(), Ok(event));
        line.clear();
    }
}

/// JSON texts with white space and escapes in all their spellings, and the minified text that they must become.
fn spelled() -> impl Strategy<Value = (String, String)> {
    let white = "[ \t\r\n]{0,3}";
    let piece = prop_oneof![
        "[a-z /é€😀\u{7f}]{0,40}".prop_map(|text| (text.clone(), text)),
        any::<char>()
            .prop_map(|c| {
                let mut units = [0; 2];
                let escaped =
                    c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}")).collect();
                let mut written = Vec::new();
                crate::write_json_string(c.encode_utf8(&mut [0; 4]), &mut written);
                (escaped, String::from_utf8(written).unwrap().trim_matches('"').to_owned())
            })
            .prop_filter("a quote is trimmed away", |(escaped, _)| escaped != "\\u0022"),
        prop::sample::select(vec![
            ("\\/", "/"),
            ("\\\"", "\\\""),
            ("\\\\", "\\\\"),
            ("\\n", "\\n"),
            ("\\uDEAD ", "\\udead ")
        ])
        .prop_map(|(a, b)| (a.to_owned(), b.to_owned())),
    ];
    let string = prop::collection::vec(piece, 0..6).prop_map(|pieces| {
        let (a, b): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
        (format!("\"{}\"", a.concat()), format!("\"{}\"", b.concat()))
    });
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,8})?".prop_map(|n| (n.clone(), n));
    let word = prop::sample::select(vec!["true", "false", "null"]).prop_map(|w| (w.to_owned(), w.to_owned()));
    let leaf = prop_oneof![string.clone(), number, word];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let spaced =
            (white, inner, white).prop_map(|(before, (a, b), after)| (format!("{before}{a}{after}"), b));
        let member = (white, string.clone(), white, spaced.clone())
            .prop_map(|(w1, (ka, kb), w2, (va, vb))| (format!("{w1}{ka}{w2}:{va}"), format!("{kb}:{vb}")));
        let join = |open: char, close: char| {
            move |(items, white): (Vec<(String, String)>, String)| {
                let (a, b): (Vec<_>, Vec<_>) = items.into_iter().unzip();
                let inside = if a.is_empty() { white } else { a.join(",") };
                (format!("{open}{inside}{close}"), format!("{open}{}{close}", b.join(",")))
            }
        };
        prop_oneof![
            (prop::collection::vec(spaced, 0..6), white).prop_map(join('[', ']')),
            (prop::collection::vec(member, 0..6), white).prop_map(join('{', '}')),
        ]
    })
}

proptest! {
    #[test]
    fn any_spelling_of_a_document_becomes_its_one_spelling((input, output) in spelled()) {
        prop_assert_eq!(value(&input), Ok(output.clone()));
        prop_assert_eq!(value(&output), Ok(output.clone()));
        if let Ok(parsed) = serde_json::from_str::<Value>(&input) {
            prop_assert_eq!(serde_json::from_str::<Value>(&output).unwrap(), parsed);
        }
    }

    #[test]
    fn a_changed_byte_is_judged_as_serde_json_does((input, _) in spelled(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut input = input.into_bytes();
        let at = at.index(input.len());
        input[at] = byte;
        let result = minify_with_limits(&input, &Limits::default(), false);
        if !matches!(result, Err(ValidateError { reason: Reason::ExponentTooLarge, .. })) {
            let oracle = std::str::from_utf8(&input).is_ok()
                && serde_json::from_slice::<serde::de::IgnoredAny>(&input).is_ok();
            prop_assert_eq!(result.is_ok(), oracle);
        }
    }

    #[test]
    fn any_bytes_are_safe(input: Vec<u8>) {
        if let Err(error) = minify_with_limits(&input, &Limits::default(), false) {
            prop_assert!(error.offset <= input.len());
        }
    }
}
