//! Random queries over random events.

use crate::ast::{By, Column, Comparison, Expr, Group, Item, Order, Pair, Query};
use crate::value::quote;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// An event before it has its place: how far it stands behind the event before, its document, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) gap: u64,
    pub(crate) json: String,
    /// Orders the arrival numbers.
    pub(crate) arrival: u16,
    /// Which block of its group the event goes to.
    pub(crate) block: u8,
    /// Whether a group of blocks ends here, if the time allows it.
    pub(crate) ends_group: bool,
}

fn weighted<T: std::fmt::Debug + 'static>(choices: Vec<(u32, BoxedStrategy<T>)>) -> BoxedStrategy<T> {
    Union::new_weighted(choices).boxed()
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(choices: &'static [T]) -> BoxedStrategy<T> {
    select(choices).boxed()
}

fn coin() -> BoxedStrategy<bool> {
    any::<bool>().boxed()
}

// Events.

const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "-1", "1.0", "2.50", "0.1", "200", "201", "1e2", "100", "12.5", "-0", "0.5", "1.5",
    "7", "10",
];

const HUGE_NUMBERS: &[&str] = &[
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
    "200.00000000000000000000000000000000000000000",
];

const TEXTS: &[&str] = &[
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

const LONE: &[&str] = &["\"\\ud800\"", "\"x\\udfffy\"", "\"\\ud83dA\""];

fn scalar() -> BoxedStrategy<String> {
    weighted(vec![
        (1, Just("null".to_owned()).boxed()),
        (1, Just("true".to_owned()).boxed()),
        (1, Just("false".to_owned()).boxed()),
        (5, one_of(NUMBERS).prop_map(str::to_owned).boxed()),
        (1, one_of(HUGE_NUMBERS).prop_map(str::to_owned).boxed()),
        (5, one_of(TEXTS).prop_map(quote).boxed()),
        (1, one_of(LONE).prop_map(str::to_owned).boxed()),
    ])
}

fn json(depth: u32) -> BoxedStrategy<String> {
    if depth == 0 {
        return scalar();
    }
    weighted(vec![(3, scalar()), (1, array(depth)), (1, object(depth))])
}

fn array(depth: u32) -> BoxedStrategy<String> {
    let numbers = one_of(NUMBERS).prop_map(str::to_owned).boxed();
    let texts = one_of(TEXTS).prop_map(quote).boxed();
    let elements = weighted(vec![
        (1, vec(numbers, 0..4).boxed()),
        (1, vec(texts, 0..4).boxed()),
        (1, vec(json(depth - 1), 0..4).boxed()),
        (1, vec(object(depth), 0..3).boxed()),
    ]);
    elements.prop_map(|elements| format!("[{}]", elements.join(","))).boxed()
}

const MEMBERS: &[&str] = &["a", "b", "A", "x", "odd name", "", "q\"k", "é", "É"];

fn object(depth: u32) -> BoxedStrategy<String> {
    let member = (one_of(MEMBERS), json(depth - 1));
    vec(member, 0..4)
        .prop_map(|members| {
            let members: Vec<String> =
                members.into_iter().map(|(key, value)| format!("{}:{value}", quote(key))).collect();
            format!("{{{}}}", members.join(","))
        })
        .boxed()
}

const TEMPLATES: &[&str] = &[
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

const INSTANTS: &[&str] = &[
    "2024-05-29T10:56:00Z",
    "2024-05-29T10:56:00.1234567Z",
    "2024-05-29T12:56:00+02:00",
    "2024-05-29 10:56",
    "soon",
    "0001-01-01",
    "9999-12-31T23:59:59.9999999Z",
    "2024-02-29T00:00:00",
];

fn member() -> BoxedStrategy<(String, String)> {
    fn keyed(
        weight: u32,
        keys: &'static [&'static str],
        value: BoxedStrategy<String>,
    ) -> (u32, BoxedStrategy<(String, String)>) {
        (weight, (one_of(keys).prop_map(str::to_owned), value).boxed())
    }
    let number = weighted(vec![
        (12, one_of(NUMBERS).prop_map(str::to_owned).boxed()),
        (2, one_of(HUGE_NUMBERS).prop_map(str::to_owned).boxed()),
        (2, scalar()),
    ]);
    let text = weighted(vec![(12, one_of(TEXTS).prop_map(quote).boxed()), (2, scalar())]);
    let instant = weighted(vec![(6, one_of(INSTANTS).prop_map(quote).boxed()), (1, scalar())]);
    weighted(vec![
        keyed(6, &["a", "n", "Elapsed", "Größe"], number),
        keyed(6, &["b", "s", "Message"], text),
        keyed(
            2,
            &["f"],
            weighted(vec![(3, one_of(&["true", "false"]).prop_map(str::to_owned).boxed()), (1, scalar())]),
        ),
        keyed(
            3,
            &["c", "d", "null", "time", "@@x", "@@@t", "@version", "@", "odd name", "new\nline", "0"],
            json(2),
        ),
        keyed(4, &["o", "Actor", "p"], object(2)),
        keyed(4, &["tags", "list", "p"], array(2)),
        keyed(3, &["@mt"], one_of(TEMPLATES).prop_map(quote).boxed()),
        keyed(1, &["@m", "@l", "@x", "@i", "@tr", "@sp", "@ps", "@sk", "@sc", "@ra"], json(1)),
        keyed(
            1,
            &["@r"],
            vec(one_of(TEXTS).prop_map(quote), 0..3).prop_map(|r| format!("[{}]", r.join(","))).boxed(),
        ),
        keyed(1, &["@r", "@mt", "@t"], scalar()),
        keyed(2, &["@st", "when"], instant),
    ])
}

const TICK: u64 = 1;
const SECOND: u64 = 10_000_000;
const HOUR: u64 = 3600 * SECOND;

/// Gives documents their places in time and in blocks.
pub(crate) fn placed(json: BoxedStrategy<String>) -> BoxedStrategy<Draft> {
    let gap = select(&[0, 0, TICK, SECOND / 2, SECOND, 90 * SECOND, HOUR, 30 * HOUR][..]);
    (gap, json, any::<u16>(), 0..3u8, prop::bool::weighted(0.3))
        .prop_map(|(gap, json, arrival, block, ends_group)| Draft { gap, json, arrival, block, ends_group })
        .boxed()
}

pub(crate) fn event() -> BoxedStrategy<Draft> {
    let document = vec(member(), 0..9).prop_map(|members| {
        let members: Vec<String> =
            members.into_iter().map(|(key, value)| format!("{}:{value}", quote(&key))).collect();
        format!("{{{}}}", members.join(","))
    });
    placed(document.boxed())
}

// Expressions.

/// Expressions of a depth, by the kind of value that they mostly have.
#[derive(Clone)]
pub(crate) struct Exprs {
    number: BoxedStrategy<Expr>,
    text: BoxedStrategy<Expr>,
    boolean: BoxedStrategy<Expr>,
    array: BoxedStrategy<Expr>,
    object: BoxedStrategy<Expr>,
    pub(crate) any: BoxedStrategy<Expr>,
}

fn name(name: &str) -> Expr {
    Expr::Name(name.to_owned())
}

fn names(names: &'static [&'static str]) -> BoxedStrategy<Expr> {
    one_of(names).prop_map(name).boxed()
}

fn built_ins(names: &'static [&'static str]) -> BoxedStrategy<Expr> {
    one_of(names).prop_map(Expr::BuiltIn).boxed()
}

fn member_of(of: BoxedStrategy<Expr>, members: &'static [&'static str]) -> BoxedStrategy<Expr> {
    (of, one_of(members)).prop_map(|(of, member)| Expr::Member(Box::new(of), member.to_owned())).boxed()
}

fn element_of(of: BoxedStrategy<Expr>, index: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (of, index).prop_map(|(of, index)| Expr::Element(Box::new(of), Box::new(index))).boxed()
}

fn call1(names: &'static [&'static str], a: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (one_of(names), a.clone()).prop_map(|(name, a)| Expr::Call(name, vec![a], false)).boxed()
}

fn call2(
    names: &'static [&'static str],
    ci: bool,
    a: &BoxedStrategy<Expr>,
    b: &BoxedStrategy<Expr>,
) -> BoxedStrategy<Expr> {
    (one_of(names), a.clone(), b.clone(), coin())
        .prop_map(move |(name, a, b, with_ci)| Expr::Call(name, vec![a, b], ci && with_ci))
        .boxed()
}

fn call3(name: &'static str, ci: bool, arguments: [&BoxedStrategy<Expr>; 3]) -> BoxedStrategy<Expr> {
    let [a, b, c] = arguments.map(Clone::clone);
    (a, b, c, coin())
        .prop_map(move |(a, b, c, with_ci)| Expr::Call(name, vec![a, b, c], ci && with_ci))
        .boxed()
}

const NUMBER_LITERALS: &[&str] = &[
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

const SPELLED: &[(&str, &str)] = &[
    ("0xFF", "255"),
    ("0x0", "0"),
    ("200ms", "2000000"),
    ("1d2h3m4s5ms6us7ns", "937840050060.07"),
    ("1h", "36000000000"),
    ("1ns", "0.01"),
];

fn literal() -> BoxedStrategy<Expr> {
    weighted(vec![
        (8, one_of(NUMBER_LITERALS).prop_map(Expr::Number).boxed()),
        (1, one_of(SPELLED).prop_map(|(text, worth)| Expr::Spelled(text, worth)).boxed()),
    ])
}

fn text_literal() -> BoxedStrategy<Expr> {
    one_of(TEXTS).prop_map(|text| Expr::Text(text.to_owned())).boxed()
}

const PATTERNS: &[&str] = &[
    "%", "a%", "%b", "%a%", "_", "__", "a_b", "a__b", "%%", "a%%", "", "%ß%", "ὀδ%", "_b%", "%_", "%%%",
    "abc", "É", "ǆ%", "/api/%",
];

const REGEXES: &[&str] = &[
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

const WITHS: &[&str] = &["", "<$0>", "$1-", "${1}x", "$$", "c"];

/// A path with wildcards in it, over properties, and a comparison around it.
fn wildcard_comparison(operand: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    let wild = |of: BoxedStrategy<Expr>| {
        (of, coin()).prop_map(|(of, any)| Expr::Wildcard(Box::new(of), any)).boxed()
    };
    let once = wild(names(&["tags", "list", "o", "c", "a", "p"]));
    let twice = wild(weighted(vec![(1, once.clone()), (1, member_of(once.clone(), MEMBERS))]));
    let path = weighted(vec![
        (3, once.clone()),
        (1, member_of(once.clone(), MEMBERS)),
        (1, twice),
        (1, element_of(once.clone(), literal())),
        (1, (once, literal()).prop_map(|(a, b)| Expr::Arithmetic('+', Box::new(a), Box::new(b))).boxed()),
    ]);
    let pattern = (path.clone(), one_of(PATTERNS), coin(), coin());
    let regex = (path.clone(), one_of(REGEXES), coin(), coin());
    weighted(vec![
        (2, compare(&path, operand)),
        (1, compare(operand, &path)),
        (1, compare(&path, &path)),
        (1, pattern.prop_map(|(of, p, not, ci)| Expr::Like(Box::new(of), p.to_owned(), not, ci)).boxed()),
        (1, regex.prop_map(|(of, r, not, ci)| Expr::Matches(Box::new(of), r, not, ci)).boxed()),
        (1, (path.clone(), coin()).prop_map(|(of, is)| Expr::IsNull(Box::new(of), is)).boxed()),
        (1, call2(&["Contains", "StartsWith", "EndsWith"], true, &path, &text_literal())),
    ])
}

const ORDERINGS: &[Comparison] = &[
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

fn compare(a: &BoxedStrategy<Expr>, b: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (one_of(ORDERINGS), a.clone(), b.clone(), coin())
        .prop_map(|(op, a, b, ci)| Expr::Compare(op, Box::new(a), Box::new(b), ci))
        .boxed()
}

fn within(a: &BoxedStrategy<Expr>, b: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (one_of(&[Comparison::In, Comparison::NotIn]), a.clone(), b.clone(), coin())
        .prop_map(|(op, a, b, ci)| Expr::Compare(op, Box::new(a), Box::new(b), ci))
        .boxed()
}

fn conditional(condition: &BoxedStrategy<Expr>, then: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (condition.clone(), then.clone(), then.clone())
        .prop_map(|(a, b, c)| Expr::If(Box::new(a), Box::new(b), Box::new(c)))
        .boxed()
}

fn coalesce(a: &BoxedStrategy<Expr>, b: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (a.clone(), b.clone()).prop_map(|(a, b)| Expr::Call("Coalesce", vec![a, b], false)).boxed()
}

impl Exprs {
    /// `events` tells whether there is an event whose properties and built-ins can be named.
    pub(crate) fn new(depth: u32, events: bool) -> Exprs {
        let mut exprs = if events { Exprs::of_events() } else { Exprs::of_literals() };
        for _ in 0..depth {
            exprs = exprs.deeper(events);
        }
        exprs
    }

    fn of_literals() -> Exprs {
        let number = literal();
        let text = text_literal();
        let boolean = coin().prop_map(Expr::Bool).boxed();
        let array = vec(weighted(vec![(1, number.clone()), (1, text.clone())]), 0..3)
            .prop_map(|items| Expr::Array(items.into_iter().map(Item::One).collect()))
            .boxed();
        let object = (one_of(MEMBERS), number.clone())
            .prop_map(|(key, value)| Expr::Object(vec![Pair::Named(key.to_owned(), value)]))
            .boxed();
        Exprs { number, text, boolean, array, object, any: Just(Expr::Null).boxed() }.complete()
    }

    fn of_events() -> Exprs {
        let literals = Exprs::of_literals();
        let objects = names(&["o", "Actor", "p"]);
        let arrays = names(&["tags", "list", "p"]);
        let properties = Just(Expr::BuiltIn("@Properties")).boxed();
        let properties_of = |keys: &'static [&'static str]| member_of(properties.clone(), keys);
        let whole = built_ins(&["@Properties", "@Data"]);
        Exprs {
            number: weighted(vec![
                (6, names(&["a", "n", "Elapsed", "Größe"])),
                (2, member_of(objects.clone(), &["a", "x"])),
                (2, element_of(arrays.clone(), literal())),
                (1, built_ins(&["@Timestamp", "@t", "@Arrived", "@Elapsed", "@Start", "@st"])),
                (5, literals.number),
            ]),
            text: weighted(vec![
                (6, names(&["b", "s", "Message"])),
                (2, member_of(objects.clone(), &["b", "A"])),
                (2, element_of(arrays.clone(), literal())),
                (
                    2,
                    built_ins(&[
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
                    ]),
                ),
                (1, names(&["when"])),
                (5, literals.text),
            ]),
            boolean: weighted(vec![(3, names(&["f"])), (1, literals.boolean)]),
            array: weighted(vec![
                (4, arrays.clone()),
                (1, Just(Expr::BuiltIn("@r")).boxed()),
                (1, literals.array),
            ]),
            object: weighted(vec![(4, objects.clone()), (1, whole.clone()), (1, literals.object)]),
            any: weighted(vec![
                (3, names(&["c", "d", "time", "missing", "x", "y"])),
                (1, member_of(names(&["a", "b", "c", "tags"]), MEMBERS)),
                (1, member_of(objects, MEMBERS)),
                (
                    1,
                    properties_of(&[
                        "null",
                        "odd name",
                        "@x",
                        "@@t",
                        "@version",
                        "@",
                        "new\nline",
                        "@t",
                        "0",
                        "a",
                        "o",
                    ]),
                ),
                (1, member_of(whole.clone(), &["a", "@t", "@mt", "@@x", "@l", "odd name", "@version"])),
                (1, element_of(whole, text_literal())),
                (
                    1,
                    built_ins(&[
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
                    ]),
                ),
                (1, Just(Expr::Null).boxed()),
            ]),
        }
        .complete()
    }

    /// Lets every kind be any other once in a while.
    fn complete(self) -> Exprs {
        let any = weighted(vec![
            (4, self.any.clone()),
            (2, self.number.clone()),
            (2, self.text.clone()),
            (1, self.boolean.clone()),
            (2, self.array.clone()),
            (2, self.object.clone()),
        ]);
        let mixed = |kind: BoxedStrategy<Expr>| weighted(vec![(12, kind), (1, any.clone())]);
        Exprs {
            number: mixed(self.number),
            text: mixed(self.text),
            boolean: mixed(self.boolean),
            array: mixed(self.array),
            object: mixed(self.object),
            any,
        }
    }

    fn deeper(&self, events: bool) -> Exprs {
        Exprs {
            number: self.numbers(events),
            text: self.texts(events),
            boolean: self.booleans(events),
            array: self.arrays(),
            object: self.objects(events),
            any: self.anything(),
        }
        .complete()
    }

    fn numbers(&self, events: bool) -> BoxedStrategy<Expr> {
        let Exprs { number, text, boolean, array, any, .. } = self;
        let operators = one_of(&['+', '+', '-', '-', '*', '/', '%']);
        // A power rounds once here and at every step elsewhere: bases and exponents keep to those that are exact.
        let bases = one_of(&["0", "1", "2", "3", "10", "1.5", "0.5", "12", "0.1"]).prop_map(Expr::Number);
        let exponents = one_of(&["0", "1", "2", "3", "5", "20", "1000000000"]).prop_map(Expr::Number);
        let roots = one_of(&["0.5", "1.5", "0.25"]).prop_map(Expr::Number);
        let places = one_of(&["0", "1", "2", "28", "29", "1.5"]).prop_map(Expr::Number);
        let parts =
            one_of(&["year", "Month", "day", "hour", "minute", "second", "weekday", "yearday", "era"]);
        let instants = instants(events, number);
        let offsets = weighted(vec![
            (2, one_of(SPELLED).prop_map(|(text, worth)| Expr::Spelled(text, worth)).boxed()),
            (1, number.clone()),
            (1, any.clone()),
        ]);
        weighted(vec![
            (3, number.clone()),
            (
                8,
                (operators, number.clone(), number.clone())
                    .prop_map(|(op, a, b)| Expr::Arithmetic(op, Box::new(a), Box::new(b)))
                    .boxed(),
            ),
            (
                1,
                (bases, exponents).prop_map(|(a, b)| Expr::Arithmetic('^', Box::new(a), Box::new(b))).boxed(),
            ),
            (
                1,
                (number.clone(), roots)
                    .prop_map(|(a, b)| Expr::Arithmetic('^', Box::new(a), Box::new(b)))
                    .boxed(),
            ),
            (1, number.clone().prop_map(|of| Expr::Negate(Box::new(of))).boxed()),
            (1, call1(&["Length"], array)),
            (1, call1(&["Length", "ToNumber", "TimeSpan", "DateTime"], text)),
            (2, call2(&["IndexOf", "LastIndexOf"], true, text, text)),
            (1, regex_call("IndexOfMatch", text)),
            (1, call1(&["Round", "TotalMilliseconds"], number)),
            (1, (number.clone(), places).prop_map(|(a, b)| Expr::Call("Round", vec![a, b], false)).boxed()),
            (
                1,
                (instants.clone(), parts, option::of(offsets.clone()))
                    .prop_map(|(instant, part, offset)| {
                        let part = Expr::Text(part.to_owned());
                        Expr::Call("DatePart", [instant, part].into_iter().chain(offset).collect(), false)
                    })
                    .boxed(),
            ),
            (
                1,
                (instants, option::of(offsets))
                    .prop_map(|(instant, offset)| {
                        Expr::Call("TimeOfDay", [instant].into_iter().chain(offset).collect(), false)
                    })
                    .boxed(),
            ),
            (1, conditional(boolean, number)),
            (1, coalesce(any, number)),
        ])
    }

    fn texts(&self, events: bool) -> BoxedStrategy<Expr> {
        let Exprs { number, text, boolean, any, .. } = self;
        let small = one_of(&["0", "1", "2", "3", "10", "1.5"]).prop_map(Expr::Number);
        let starts = weighted(vec![(3, small.boxed()), (1, number.clone())]);
        let counts = weighted(vec![(3, starts.clone()), (1, any.clone())]);
        let withs = one_of(WITHS);
        // Whether ToJson shows a lone surrogate as it is stored is left open: what is computed has none.
        let folded = call1(&["ToUpper"], text);
        let computed = weighted(vec![
            (1, folded.clone()),
            (1, call1(&["Round"], number)),
            (1, vec(folded.prop_map(Item::One), 0..3).prop_map(Expr::Array).boxed()),
        ]);
        weighted(vec![
            (3, text.clone()),
            (1, vec(text.clone(), 1..4).prop_map(|parts| Expr::Call("Concat", parts, false)).boxed()),
            (2, call1(&["ToUpper", "ToLower", "ToString"], text)),
            (1, call1(&["ToString", "ToHexString", "ToTimeString"], number)),
            (1, call1(&["ToString"], boolean)),
            (1, call1(&["TypeOf"], any)),
            (1, call2(&["Substring"], false, text, &starts)),
            (1, call3("Substring", false, [text, &starts, &counts])),
            (1, call3("Replace", true, [text, text, text])),
            (
                1,
                (text.clone(), one_of(REGEXES), withs, coin())
                    .prop_map(|(text, regex, with, ci)| {
                        Expr::Call("Replace", vec![text, Expr::Regex(regex), Expr::Text(with.to_owned())], ci)
                    })
                    .boxed(),
            ),
            (1, call1(&["ToIsoString"], &instants(events, number))),
            (1, call1(&["ToJson"], &computed)),
            (1, conditional(boolean, text)),
            (1, coalesce(any, text)),
        ])
    }

    fn booleans(&self, events: bool) -> BoxedStrategy<Expr> {
        let Exprs { number, text, boolean, array, object, any } = self;
        let like = (text.clone(), one_of(PATTERNS), coin(), coin());
        let regex = (text.clone(), one_of(REGEXES), coin(), coin());
        let collections = weighted(vec![(3, array.clone()), (1, object.clone()), (1, any.clone())]);
        let element: &[&str] = if events { &["x", "a", "y"] } else { &["x"] };
        let element = one_of(element);
        let bodies = weighted(vec![
            (1, compare(&Just(name("x")).boxed(), any)),
            (1, compare(&Just(name("x")).boxed(), number)),
            (2, boolean.clone()),
        ]);
        let mut choices = vec![
            (2, boolean.clone()),
            (2, vec(boolean.clone(), 2..4).prop_map(Expr::And).boxed()),
            (2, vec(boolean.clone(), 2..4).prop_map(Expr::Or).boxed()),
            (2, boolean.clone().prop_map(|of| Expr::Not(Box::new(of))).boxed()),
            (2, (any.clone(), coin()).prop_map(|(of, is)| Expr::IsNull(Box::new(of), is)).boxed()),
            (4, compare(number, number)),
            (4, compare(text, text)),
            (2, compare(any, any)),
            (1, compare(array, array)),
            (1, compare(object, object)),
            (1, within(any, array)),
            (1, within(text, array)),
            (3, like.prop_map(|(of, p, not, ci)| Expr::Like(Box::new(of), p.to_owned(), not, ci)).boxed()),
            (2, regex.prop_map(|(of, r, not, ci)| Expr::Matches(Box::new(of), r, not, ci)).boxed()),
            (2, call2(&["Contains", "StartsWith", "EndsWith"], true, text, text)),
            (1, regex_call("IsMatch", text)),
            (1, regex_call("match", text)),
            (1, call1(&["Has"], any)),
            (
                2,
                (coin(), collections, element, bodies)
                    .prop_map(|(some, of, name, body)| {
                        Expr::Quantified(some, Box::new(of), name.to_owned(), Box::new(body))
                    })
                    .boxed(),
            ),
            (1, conditional(boolean, boolean)),
        ];
        if events {
            choices.push((2, wildcard_comparison(&weighted(vec![(1, number.clone()), (1, text.clone())]))));
        }
        weighted(choices)
    }

    fn arrays(&self) -> BoxedStrategy<Expr> {
        let Exprs { boolean, array, object, any, .. } = self;
        let item = weighted(vec![
            (4, any.clone().prop_map(Item::One).boxed()),
            (1, array.clone().prop_map(Item::Spread).boxed()),
        ]);
        weighted(vec![
            (2, array.clone()),
            (3, vec(item, 0..4).prop_map(Expr::Array).boxed()),
            (1, call1(&["Keys", "Values"], object)),
            (1, conditional(boolean, array)),
        ])
    }

    fn objects(&self, events: bool) -> BoxedStrategy<Expr> {
        let Exprs { object, any, .. } = self;
        let mut pairs = vec![
            (
                4,
                (one_of(MEMBERS), any.clone())
                    .prop_map(|(key, value)| Pair::Named(key.to_owned(), value))
                    .boxed(),
            ),
            (1, object.clone().prop_map(Pair::Spread).boxed()),
        ];
        if events {
            let same = weighted(vec![
                (1, names(&["a", "b", "missing", "o"])),
                (1, built_ins(&["@l", "@Level", "@x"])),
            ]);
            pairs.push((1, same.prop_map(Pair::Same).boxed()));
        }
        weighted(vec![(2, object.clone()), (2, vec(weighted(pairs), 0..4).prop_map(Expr::Object).boxed())])
    }

    fn anything(&self) -> BoxedStrategy<Expr> {
        let Exprs { number, text, boolean, array, object, any } = self;
        let keys = weighted(vec![(1, number.clone()), (1, text.clone()), (1, any.clone())]);
        let things = weighted(vec![(2, array.clone()), (2, object.clone()), (1, any.clone())]);
        let bindings = vec((one_of(&["x", "y", "a"]).prop_map(str::to_owned), any.clone()), 1..3);
        weighted(vec![
            (2, any.clone()),
            (2, element_of(things.clone(), keys.clone())),
            (1, member_of(things.clone(), MEMBERS)),
            (1, call2(&["ElementAt"], true, &things, &keys)),
            (1, conditional(boolean, any)),
            (1, vec(any.clone(), 1..4).prop_map(|list| Expr::Call("Coalesce", list, false)).boxed()),
            (1, Just(Expr::Call("Undefined", Vec::new(), false)).boxed()),
            (1, text.clone().prop_map(|text| Expr::Call("FromJson", vec![text], false)).boxed()),
            (
                1,
                any.clone()
                    .prop_map(|of| Expr::Call("FromJson", vec![Expr::Call("ToJson", vec![of], false)], false))
                    .boxed(),
            ),
            (
                1,
                (bindings, any.clone())
                    .prop_map(|(bindings, body)| Expr::Let(bindings, Box::new(body)))
                    .boxed(),
            ),
        ])
    }
}

fn instants(events: bool, number: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    match events {
        true => weighted(vec![(3, built_ins(&["@Timestamp", "@st"])), (1, number.clone())]),
        false => {
            let parsed = one_of(INSTANTS)
                .prop_map(|text| Expr::Call("DateTime", vec![Expr::Text(text.to_owned())], false));
            weighted(vec![(3, parsed.boxed()), (1, number.clone())])
        }
    }
}

fn regex_call(function: &'static str, text: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (text.clone(), one_of(REGEXES), coin(), coin())
        .prop_map(move |(text, regex, literal, ci)| {
            let regex = if literal { Expr::Regex(regex) } else { Expr::Text(regex.to_owned()) };
            Expr::Call(function, vec![text, regex], ci)
        })
        .boxed()
}

// Queries.

const ALIASES: [&str; 4] = ["k1", "k2", "K3", "größe"];

fn query(columns: Vec<Column>) -> Query {
    Query {
        columns,
        from: Some(Vec::new()),
        filter: None,
        groups: Vec::new(),
        having: None,
        order: Vec::new(),
        limit: None,
    }
}

/// Columns with an alias or without one.
fn columns(expr: &BoxedStrategy<Expr>) -> BoxedStrategy<Vec<Column>> {
    vec((expr.clone(), coin()), 1..4)
        .prop_map(|columns| {
            let columns = columns.into_iter().zip(ALIASES);
            columns
                .map(|((expr, named), alias)| Column::Expr(expr, named.then(|| alias.to_owned())))
                .collect()
        })
        .boxed()
}

fn limit() -> BoxedStrategy<Option<usize>> {
    weighted(vec![(2, Just(None).boxed()), (1, (0..6usize).prop_map(Some).boxed())])
}

fn direction() -> BoxedStrategy<Option<bool>> {
    one_of(&[None, Some(true), Some(false)])
}

/// Without events.
pub(crate) fn scalar_query() -> BoxedStrategy<Query> {
    columns(&Exprs::new(3, false).any).prop_map(|columns| Query { from: None, ..query(columns) }).boxed()
}

/// A row for each event.
pub(crate) fn plain_query() -> BoxedStrategy<Query> {
    let exprs = Exprs::new(2, true);
    let deeper = Exprs::new(3, true);
    let star = Just(vec![Column::Star]).boxed();
    let columns = weighted(vec![(12, columns(&exprs.any)), (1, columns(&deeper.any)), (1, star)]);
    let filter =
        option::weighted(0.6, weighted(vec![(4, exprs.boolean.clone()), (1, deeper.boolean.clone())]));
    let collection = weighted(vec![(3, exprs.array.clone()), (1, exprs.any.clone())]);
    let unnest = option::weighted(0.15, vec((collection, one_of(&["x", "a"])), 1..3));
    let order = vec((any::<prop::sample::Index>(), coin(), direction()), 0..3);
    (
        columns,
        filter,
        unnest,
        weighted(vec![(2, Just(None).boxed()), (1, direction().prop_map(Some).boxed())]),
        order,
        limit(),
    )
        .prop_map(|(columns, filter, unnest, by_time, by_columns, limit)| {
            let mut order = Vec::new();
            if let Some(descending) = by_time {
                order.push(Order { by: By::Time, ci: false, descending });
            } else {
                for (index, ci, descending) in by_columns {
                    let index = index.index(columns.len());
                    // Behind an expression a `ci` might be that of its last call.
                    let named = matches!(&columns[index], Column::Expr(_, Some(_)));
                    // `time` alone means the time of events, whatever the columns are called.
                    let is_time =
                        matches!(&columns[index], Column::Expr(Expr::Name(name), None) if name == "time");
                    if !matches!(columns[index], Column::Star) && !is_time {
                        order.push(Order { by: By::Column(index), ci: ci && named, descending });
                    }
                }
            }
            let unnest = unnest.into_iter().flatten().map(|(collection, name)| (collection, name.to_owned()));
            Query { from: Some(unnest.collect()), filter, order, limit, ..query(columns) }
        })
        .boxed()
}

const INTERVALS: &[(&str, u64)] = &[
    ("1s", SECOND),
    ("90s", 90 * SECOND),
    ("1h", HOUR),
    ("1d", 24 * HOUR),
    ("500ms", SECOND / 2),
    ("7d", 168 * HOUR),
];

/// Aggregates, over all events or over groups of them.
pub(crate) fn grouped_query() -> BoxedStrategy<Query> {
    let exprs = Exprs::new(1, true);
    let deeper = Exprs::new(2, true);
    let over = |names: &'static [&'static str], of: &BoxedStrategy<Expr>| {
        (one_of(names), of.clone()).prop_map(|(name, of)| Expr::Aggregate(name, vec![of])).boxed()
    };
    let aggregate = weighted(vec![
        (2, Just(Expr::Aggregate("count", Vec::new())).boxed()),
        (4, over(&["sum", "mean"], &exprs.number)),
        (2, over(&["min", "max"], &exprs.number)),
        (2, over(&["count", "first", "last"], &exprs.any)),
        (2, over(&["any", "all"], &exprs.boolean)),
        (1, over(&["any", "all", "sum", "min", "count"], &deeper.any)),
        (1, exprs.any.clone().prop_map(|of| Expr::CountDistinct(Box::new(of))).boxed()),
    ]);
    let combined = (one_of(&['+', '-', '/', '*']), aggregate.clone(), aggregate.clone())
        .prop_map(|(op, a, b)| Expr::Arithmetic(op, Box::new(a), Box::new(b)));
    let p = one_of(&["0", "50", "90", "99.9", "100"]);
    let percentile = (exprs.number.clone(), p, option::of(one_of(&["0.01", "0.1", "0.001"])))
        .prop_map(|(of, p, error)| {
            let arguments = [of, Expr::Number(p)].into_iter().chain(error.map(Expr::Number)).collect();
            Expr::Aggregate("percentile", arguments)
        })
        .boxed();
    let column = weighted(vec![(6, aggregate.clone()), (2, combined.boxed()), (1, percentile)]);
    let key = weighted(vec![
        (3, exprs.number.clone()),
        (3, exprs.text.clone()),
        (2, exprs.any.clone()),
        (1, exprs.boolean.clone()),
    ]);
    let group = weighted(vec![
        (1, one_of(INTERVALS).prop_map(|(text, ticks)| Group::Time(text, ticks)).boxed()),
        (
            4,
            (key, coin(), coin())
                .prop_map(|(expr, ci, named)| Group::Expr { expr, ci, alias: named.then(|| "g".to_owned()) })
                .boxed(),
        ),
    ]);
    let filter = option::weighted(0.4, exprs.boolean.clone());
    let compared = weighted(vec![(2, names(&["k1", "k2", "g"])), (1, aggregate.clone())]);
    let having = option::weighted(
        0.3,
        (one_of(ORDERINGS), compared, literal())
            .prop_map(|(op, left, literal)| Expr::Compare(op, Box::new(left), Box::new(literal), false)),
    );
    let unnest = option::weighted(0.15, exprs.array.clone());
    let order = vec((any::<prop::sample::Index>(), coin(), direction()), 0..3);
    (columns(&column), (filter, unnest), vec(group, 0..3), having, order, limit(), coin())
        .prop_map(|(columns, (filter, unnest), mut groups, having, by_columns, limit, names_keys)| {
            let mut times = 0;
            let mut keys = 0;
            groups.retain_mut(|group| match group {
                Group::Time(..) => {
                    times += 1;
                    times == 1
                }
                Group::Expr { alias, .. } => {
                    keys += 1;
                    if let Some(alias) = alias {
                        *alias = if keys == 1 { "g".to_owned() } else { format!("g{keys}") };
                    }
                    true
                }
            });
            let unnest = unnest.map(|collection| (collection, "x".to_owned())).into_iter().collect();
            let mut query = Query { from: Some(unnest), filter, groups, limit, ..query(columns) };
            let has_key = query
                .groups
                .iter()
                .any(|group| matches!(group, Group::Expr { alias: Some(alias), .. } if alias == "g"));
            // Columns that name a key, or the length of the intervals.
            let count = || Box::new(Expr::Aggregate("count", Vec::new()));
            if names_keys && has_key {
                query.columns.push(Column::Expr(Expr::Arithmetic('+', count(), Box::new(name("g"))), None));
            }
            if names_keys && times > 0 {
                let interval = Box::new(Expr::Aggregate("interval", Vec::new()));
                query.columns.push(Column::Expr(Expr::Arithmetic('/', count(), interval), None));
            }
            let mut order = Vec::new();
            for (index, ci, descending) in by_columns {
                let index = index.index(query.groups.len() + query.columns.len());
                let (exact, named) = match (query.groups.get(index), index.checked_sub(query.groups.len())) {
                    (Some(Group::Time(..)), _) => (true, false),
                    (Some(Group::Expr { alias, .. }), _) => (true, alias.is_some()),
                    (None, Some(column)) => match &query.columns[column] {
                        Column::Expr(Expr::Aggregate("percentile", _), _) | Column::Star => (false, false),
                        Column::Expr(_, alias) => (true, alias.is_some()),
                    },
                    (None, None) => (false, false),
                };
                let by_time = matches!(query.groups.get(index), Some(Group::Time(..)));
                if exact {
                    let by = if by_time { By::Time } else { By::Column(index) };
                    order.push(Order { by, ci: ci && named, descending });
                }
            }
            query.order = order;
            // `having` names what there is.
            query.having = having.filter(|having| {
                let Expr::Compare(_, left, ..) = having else { return false };
                let Expr::Name(wanted) = &**left else { return true };
                (wanted == "g" && has_key)
                    || query.columns.iter().any(|column| {
                        matches!(column, Column::Expr(expr, Some(alias))
                            if alias == wanted && !matches!(expr, Expr::Aggregate("percentile", _)))
                    })
            });
            query
        })
        .boxed()
}

/// The aggregates that give several rows.
pub(crate) fn values_query() -> BoxedStrategy<Query> {
    let exprs = Exprs::new(1, true);
    let counts = one_of(&["0", "1", "3", "100"]);
    let aggregate = weighted(vec![
        (2, exprs.any.clone().prop_map(|of| Expr::Aggregate("distinct", vec![of])).boxed()),
        (
            1,
            (one_of(&["top", "bottom"]), exprs.any.clone(), counts)
                .prop_map(|(name, of, count)| Expr::Aggregate(name, vec![of, Expr::Number(count)]))
                .boxed(),
        ),
    ]);
    (aggregate, option::weighted(0.4, exprs.boolean.clone()), limit())
        .prop_map(|(aggregate, filter, limit)| Query {
            filter,
            limit,
            ..query(vec![Column::Expr(aggregate, None)])
        })
        .boxed()
}
