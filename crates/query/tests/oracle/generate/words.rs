//! What texts, numbers, keys and patterns are made of: the words that events and queries have in common, so that they meet.

pub(crate) const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "-1", "1.0", "2.50", "0.1", "200", "201", "1e2", "100", "12.5", "-0", "0.5", "1.5",
    "7", "10",
];

pub(crate) const HUGE_NUMBERS: &[&str] = &[
    "79228162514264337593543950334",
    "79228162514264337593543950335",
    "79228162514264337593543950336",
    "-79228162514264337593543950335",
    "0.1000000000000000000000000001",
    "0.10000000000000000000000000001",
    "7.9228162514264337593543950335",
    "1e28",
    "1e29",
    "1e-28",
    "1e-29",
    "1e400",
    "-1E+400",
    "100e398",
    "0.000000000000000000000000000000000001",
    "638525841612345678",
    "9007199254740993",
    "18446744073709551616",
    "0e999",
    "1.1102230246251565e-16",
    "7e28",
    "1.7976931348623157e308",
    "5e-324",
    "-12345678901234567890123456789012345.6789",
    "9e999",
    "1e1000",
    "-1e-1000",
    "1e-1001",
    "200.00000000000000000000000000000000000000000",
];

pub(crate) const TEXTS: &[&str] = &[
    "007",
    "-010",
    "00.50",
    "00",
    "",
    "a",
    "A",
    "b",
    "ab",
    "aB",
    "abc",
    "é",
    "É",
    "ß",
    "SS",
    "ss",
    "ὀδυσσεύσ!",
    "ὈΔΥΣΣΕΎΣ!",
    "ὀδυσσεύς!",
    "%",
    "a%",
    "_",
    "a_b",
    "axb",
    "1",
    "1.0",
    "-12.5",
    "1e2",
    "0x1F",
    "null",
    "true",
    "line\nbreak",
    "quo\"te",
    "back\\slash",
    "\u{1}",
    "😀x",
    "ǆ",
    "ǅ",
    "Ǆ",
    "ᾳ",
    "ᾼ",
    "ŉ",
    "İ",
    "K",
    "k",
    "\u{fffd}",
    "2024-05-29T10:56:01Z",
    "2024-05-29 10:56:01.5+02:00",
    "2023-02-29",
    "1.02:03:04.5",
    "00:01",
    "[1,2]",
    "{\"a\":1}",
    "/api/customers",
    "GET /api/customers/7",
    "year",
    "it's",
];

pub(crate) const LONE: &[&str] = &["\"\\ud800\"", "\"x\\udfffy\"", "\"\\ud83dA\""];

pub(crate) const MEMBERS: &[&str] = &["a", "b", "A", "x", "odd name", "", "q\"k", "é", "É"];

pub(crate) const TEMPLATES: &[&str] = &[
    "",
    "plain",
    "{a} of {b}",
    "{@o} and {$tags}",
    "[{b,6}] [{b,-6}]",
    "{{a}} {missing} {odd name} {",
    "{a:000} {b:x}",
    "{0} }} } {é} {Größe}",
    "{@t} {n,3:0.0}",
    "{o.a} {Actor.b.x,9} {a.} {.a} {a:} {a,} {p.x:0} {b:{a}}",
];

pub(crate) const INSTANTS: &[&str] = &[
    "2024-05-29T10:56:00Z",
    "2024-05-29T10:56:00.1234567Z",
    "2024-05-29T12:56:00+02:00",
    "2024-05-29 10:56",
    "soon",
    "0001-01-01",
    "9999-12-31T23:59:59.9999999Z",
    "2024-02-29T00:00:00",
];

pub(crate) const NUMBER_LITERALS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "200",
    "1.0",
    "0.5",
    "2.50",
    "12.5",
    "100",
    "0.1",
    "10",
    "7",
    "28",
    "79228162514264337593543950335",
    "79228162514264337593543950336",
    "0.10000000000000000000000000001",
    "0.1000000000000000000000000001",
];

pub(crate) const SPELLED: &[(&str, &str)] = &[
    ("0xFF", "255"),
    ("0x0", "0"),
    ("200ms", "2000000"),
    ("1d2h3m4s5ms6us7ns", "937840050060.07"),
    ("1h", "36000000000"),
    ("1ns", "0.01"),
];

pub(crate) const PATTERNS: &[&str] = &[
    "%", "a%", "%b", "%a%", "_", "__", "a_b", "a__b", "%%", "a%%", "", "%ß%", "ὀδ%", "_b%", "%_", "%%%",
    "abc", "É", "ǆ%", "/api/%",
];

pub(crate) const REGEXES: &[&str] = &[
    "a",
    "a|b",
    "ab*",
    ".*",
    ".",
    "^$",
    "[a-c]+",
    r"\d+",
    "/api/customers",
    "É",
    "(a)(b)?",
    r"\w",
    "ß",
    r"[^\x00-\x7F]",
    "",
    "k",
];

pub(crate) const WITHS: &[&str] = &["", "<$0>", "$1-", "${1}x", "$$", "c"];

/// Built-ins that are texts mostly.
pub(crate) const TEXT_BUILT_INS: &[&str] = &[
    "@Message",
    "@m",
    "@MessageTemplate",
    "@mt",
    "@Level",
    "@l",
    "@EventType",
    "@i",
    "@Exception",
    "@x",
    "@Id",
];

/// Built-ins that may be anything.
pub(crate) const OTHER_BUILT_INS: &[&str] = &[
    "@TraceId",
    "@tr",
    "@SpanId",
    "@sp",
    "@ParentId",
    "@ps",
    "@SpanKind",
    "@sk",
    "@Scope",
    "@sc",
    "@Resource",
    "@ra",
];

/// Keys that only `@Properties['…']` can name, and some others.
pub(crate) const ODD_PROPERTIES: &[&str] =
    &["null", "odd name", "@x", "@@t", "@version", "@", "new\nline", "@t", "0", "a", "o"];
