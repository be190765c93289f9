//! The forms that an expression may have, made of random parts.

use super::choose::{coin, one_of, weighted};
use super::words::{INSTANTS, MEMBERS, NUMBER_LITERALS, PATTERNS, REGEXES, SPELLED, TEXTS};
use crate::ast::{Comparison, Expr, Item};
use proptest::prelude::*;

pub(crate) fn name(name: &str) -> Expr {
    Expr::Name(name.to_owned())
}

pub(crate) fn names(names: &'static [&'static str]) -> BoxedStrategy<Expr> {
    one_of(names).prop_map(name).boxed()
}

pub(crate) fn built_ins(names: &'static [&'static str]) -> BoxedStrategy<Expr> {
    one_of(names).prop_map(Expr::BuiltIn).boxed()
}

pub(crate) fn member_of(of: BoxedStrategy<Expr>, members: &'static [&'static str]) -> BoxedStrategy<Expr> {
    (of, one_of(members)).prop_map(|(of, member)| Expr::Member(Box::new(of), member.to_owned())).boxed()
}

pub(crate) fn element_of(of: BoxedStrategy<Expr>, index: BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (of, index).prop_map(|(of, index)| Expr::Element(Box::new(of), Box::new(index))).boxed()
}

pub(crate) fn call1(names: &'static [&'static str], a: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (one_of(names), a.clone()).prop_map(|(name, a)| Expr::Call(name, vec![a], false)).boxed()
}

pub(crate) fn call2(
    names: &'static [&'static str],
    ci: bool,
    a: &BoxedStrategy<Expr>,
    b: &BoxedStrategy<Expr>,
) -> BoxedStrategy<Expr> {
    (one_of(names), a.clone(), b.clone(), coin())
        .prop_map(move |(name, a, b, with_ci)| Expr::Call(name, vec![a, b], ci && with_ci))
        .boxed()
}

pub(crate) fn call3(
    name: &'static str,
    ci: bool,
    arguments: [&BoxedStrategy<Expr>; 3],
) -> BoxedStrategy<Expr> {
    let [a, b, c] = arguments.map(Clone::clone);
    (a, b, c, coin())
        .prop_map(move |(a, b, c, with_ci)| Expr::Call(name, vec![a, b, c], ci && with_ci))
        .boxed()
}

pub(crate) fn literal() -> BoxedStrategy<Expr> {
    weighted(vec![
        (8, one_of(NUMBER_LITERALS).prop_map(Expr::Number).boxed()),
        (1, one_of(SPELLED).prop_map(|(text, worth)| Expr::Spelled(text, worth)).boxed()),
    ])
}

pub(crate) fn text_literal() -> BoxedStrategy<Expr> {
    one_of(TEXTS).prop_map(|text| Expr::Text(text.to_owned())).boxed()
}

/// A path with wildcards in it, over properties, and a comparison around it.
pub(crate) fn wildcard_comparison(operand: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
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

pub(crate) const ORDERINGS: &[Comparison] = &[
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

pub(crate) fn compare(a: &BoxedStrategy<Expr>, b: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (one_of(ORDERINGS), a.clone(), b.clone(), coin())
        .prop_map(|(op, a, b, ci)| Expr::Compare(op, Box::new(a), Box::new(b), ci))
        .boxed()
}

/// An instant compared with texts of which most tell one.
pub(crate) fn told_instants(events: bool) -> BoxedStrategy<Expr> {
    let text = || one_of(INSTANTS).prop_map(|text| Expr::Text(text.to_owned())).boxed();
    let computed = text().prop_map(|text| Expr::Call("DateTime", vec![text], false)).boxed();
    let of = match events {
        true => weighted(vec![(3, built_ins(&["@Timestamp", "@t", "@Start", "@st"])), (1, computed)]),
        false => computed,
    };
    let item = if events { weighted(vec![(4, text()), (1, names(&["when", "a"]))]) } else { text() };
    let items = proptest::collection::vec(item, 0..7);
    let texts = items.prop_map(|items| Expr::Array(items.into_iter().map(Item::One).collect())).boxed();
    weighted(vec![(2, compare(&of, &text())), (1, compare(&text(), &of)), (1, within(&of, &texts))])
}

pub(crate) fn within(a: &BoxedStrategy<Expr>, b: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (one_of(&[Comparison::In, Comparison::NotIn]), a.clone(), b.clone(), coin())
        .prop_map(|(op, a, b, ci)| Expr::Compare(op, Box::new(a), Box::new(b), ci))
        .boxed()
}

pub(crate) fn conditional(
    condition: &BoxedStrategy<Expr>,
    then: &BoxedStrategy<Expr>,
) -> BoxedStrategy<Expr> {
    (condition.clone(), then.clone(), then.clone())
        .prop_map(|(a, b, c)| Expr::If(Box::new(a), Box::new(b), Box::new(c)))
        .boxed()
}

pub(crate) fn coalesce(a: &BoxedStrategy<Expr>, b: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (a.clone(), b.clone()).prop_map(|(a, b)| Expr::Call("Coalesce", vec![a, b], false)).boxed()
}

pub(crate) fn instants(events: bool, number: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    match events {
        true => weighted(vec![(3, built_ins(&["@Timestamp", "@st"])), (1, number.clone())]),
        false => {
            let parsed = one_of(INSTANTS)
                .prop_map(|text| Expr::Call("DateTime", vec![Expr::Text(text.to_owned())], false));
            weighted(vec![(3, parsed.boxed()), (1, number.clone())])
        }
    }
}

pub(crate) fn regex_call(function: &'static str, text: &BoxedStrategy<Expr>) -> BoxedStrategy<Expr> {
    (text.clone(), one_of(REGEXES), coin(), coin())
        .prop_map(move |(text, regex, literal, ci)| {
            let regex = if literal { Expr::Regex(regex) } else { Expr::Text(regex.to_owned()) };
            Expr::Call(function, vec![text, regex], ci)
        })
        .boxed()
}
