//! What can be said of a query's instants from its text alone: which columns hold some, and the same query for some of them.

use crate::Instant;
use crate::ast::{Arguments, Comparison, GroupItem, Node, ParsedExpr, Select, SelectItem};
use crate::builtin::BuiltIn;
use crate::span::Span;

/// The query with the condition `@Timestamp >= from and @Timestamp < to` added, where it reads events.
pub(crate) fn between(query: &Select, from: Option<Instant>, to: Option<Instant>) -> Select {
    let mut query = query.clone();
    if query.from.is_none() {
        return query;
    }
    let bound = |op, instant: Option<Instant>| instant.map(|instant| compare(op, instant));
    let bounds = bound(Comparison::GreaterOrEqual, from).into_iter().chain(bound(Comparison::Less, to));
    let mut terms = match query.filter.take() {
        Some(ParsedExpr { node: Node::And(terms), .. }) => terms,
        filter => filter.into_iter().collect(),
    };
    terms.extend(bounds);
    query.filter = match terms.len() {
        0 | 1 => terms.pop(),
        _ => {
            let depth = terms.iter().map(|term| term.depth).max().unwrap_or(0) + 1;
            Some(ParsedExpr { node: Node::And(terms), span: Span::default(), depth })
        }
    };
    query
}

fn compare(op: Comparison, instant: Instant) -> ParsedExpr {
    let leaf = |node| Box::new(ParsedExpr { node, span: Span::default(), depth: 1 });
    let left = leaf(Node::BuiltIn(BuiltIn::Timestamp));
    let right = leaf(Node::Number(instant.ticks().to_string()));
    ParsedExpr { node: Node::Compare { op, left, right, ci: false }, span: Span::default(), depth: 2 }
}

/// For each column whether its numbers are instants.
pub(crate) fn columns(query: &Select) -> Vec<bool> {
    let group = |group: &GroupItem| match group {
        GroupItem::Time { .. } => true,
        GroupItem::Expr { expr, .. } => is_instant(expr),
    };
    let columns = query.columns.iter().flat_map(|column| match column {
        SelectItem::All(_) => vec![true, false, false],
        SelectItem::Expr { expr, .. } => vec![is_instant(expr)],
    });
    query.groups.iter().map(group).chain(columns).collect()
}

/// Whether an expression, by what is written, is an instant wherever it has a value.
pub(crate) fn is_instant(expr: &ParsedExpr) -> bool {
    match &expr.node {
        Node::BuiltIn(BuiltIn::Timestamp | BuiltIn::Start) => true,
        Node::If(_, one, other) => is_instant(one) && is_instant(other),
        Node::Call { name, arguments: Arguments::List(arguments), .. } => {
            let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(&name.text));
            is_one_of(&["DateTime", "Now"])
                || (is_one_of(&["min", "max", "first", "last", "distinct", "top", "bottom"])
                    && arguments.first().is_some_and(is_instant))
                || (is_one_of(&["Coalesce"]) && arguments.iter().all(is_instant))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;
    use crate::parser::parse_query;
    use crate::{optimizer, planner};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_query_for_a_period_reads_as_it_prints_and_finds_no_other_events(
            condition in prop::sample::select(vec![
                "", "a = 1", "a = 1 or b = 2", "a = 1 and (b = 2 or c = 3)", "not a = 1", "if a then b else c", "a = 'x' ci",
                "@Timestamp > 5 and Some(a, |x| x = 1)", "(a and b) and c",
            ]),
            from in proptest::option::of(0..1000u64),
            to in proptest::option::of(0..1000u64),
        ) {
            let clause = if condition.is_empty() { "" } else { " where " };
            let text = format!("select a from stream{clause}{condition}");
            let query = parse_query(&text).unwrap();
            let [first, last] = [from, to].map(|ticks| ticks.and_then(Instant::from_ticks));
            let narrowed = between(&query, first, last);
            prop_assert_eq!(&parse_query(&narrowed.to_string()).unwrap(), &narrowed);
            prop_assert!(from.is_some() || to.is_some() || narrowed == query);
            let plan = optimizer::optimize(planner::plan(&narrowed, &text, &Parameters::new()).unwrap());
            let instants = plan.instants();
            let is_within = *instants.start() >= from.unwrap_or(0) && *instants.end() <= to.unwrap_or(u64::MAX);
            prop_assert!(instants.is_empty() || is_within, "{:?}", instants);
        }
    }
}
