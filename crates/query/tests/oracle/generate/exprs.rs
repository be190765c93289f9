//! Random expressions.

use super::choose::{coin, one_of, weighted};
use super::forms::*;
use super::words::{
    MEMBERS, ODD_PROPERTIES, OTHER_BUILT_INS, PATTERNS, REGEXES, SPELLED, TEXT_BUILT_INS, WITHS,
};
use crate::ast::{Expr, Item, Pair};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Expressions of a depth, by the kind of value that they mostly have.
#[derive(Clone)]
pub(crate) struct Exprs {
    pub(crate) number: BoxedStrategy<Expr>,
    pub(crate) text: BoxedStrategy<Expr>,
    pub(crate) boolean: BoxedStrategy<Expr>,
    pub(crate) array: BoxedStrategy<Expr>,
    pub(crate) object: BoxedStrategy<Expr>,
    pub(crate) any: BoxedStrategy<Expr>,
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
                (2, built_ins(TEXT_BUILT_INS)),
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
                (1, member_of(member_of(names(&["o", "Actor", "c"]), &["a", "b"]), &["b", "x"])),
                (1, member_of(properties, ODD_PROPERTIES)),
                (1, member_of(whole.clone(), &["a", "@t", "@mt", "@@x", "@l", "odd name", "@version"])),
                (1, element_of(whole, text_literal())),
                (1, built_ins(OTHER_BUILT_INS)),
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
            (1, told_instants(events)),
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
