//! Instants in a query's syntax: which columns hold instants, and the same query restricted to a period or a page.

use crate::Instant;
use crate::ast::{
    Arguments, Comparison, GroupItem, Node, OrderBy, OrderItem, ParsedExpr, Select, SelectItem,
};
use crate::builtin::BuiltIn;
use crate::span::Span;

/// The query with the condition `@Timestamp >= from and @Timestamp < to` added, if it reads events.
pub(crate) fn between(query: &Select, from: Option<Instant>, to: Option<Instant>) -> Select {
    let bound = |op, instant: Option<Instant>| {
        instant.map(|instant| compare(BuiltIn::Timestamp, op, Node::Number(instant.ticks().to_string())))
    };
    let bounds = bound(Comparison::GreaterOrEqual, from).into_iter().chain(bound(Comparison::Less, to));
    narrowed(query, bounds)
}

/// The query for at most `limit` rows after the event with this id, with the events' ids as an additional column; `None` if its rows
/// are not events in order of time.
pub(crate) fn page(query: &Select, after: Option<&str>, limit: u64) -> Option<Select> {
    let goes_back = match query.order.as_slice() {
        [] => false,
        [order] if order.by == OrderBy::Time => order.descending,
        _ => return None,
    };
    let is_unnested = query.from.as_ref().is_none_or(|unnests| !unnests.is_empty());
    if is_unnested || query.explain.is_some() || query.limit.is_some() {
        return None;
    }
    let op = if goes_back { Comparison::Less } else { Comparison::Greater };
    let mut page = narrowed(query, after.map(|id| compare(BuiltIn::Id, op, Node::Text(id.to_owned()))));
    let id = ParsedExpr { node: Node::BuiltIn(BuiltIn::Id), span: Span::default(), depth: 1 };
    page.columns.push(SelectItem::Expr { expr: id, alias: None });
    page.limit = Some(limit);
    Some(page)
}

/// The query with more conditions, if it reads events.
fn narrowed(query: &Select, conditions: impl IntoIterator<Item = ParsedExpr>) -> Select {
    let mut query = query.clone();
    if query.from.is_none() {
        return query;
    }
    let mut terms = match query.filter.take() {
        Some(ParsedExpr { node: Node::And(terms), .. }) => terms,
        filter => filter.into_iter().collect(),
    };
    terms.extend(conditions);
    query.filter = match terms.len() {
        0 | 1 => terms.pop(),
        _ => {
            let depth = terms.iter().map(|term| term.depth).max().unwrap_or(0) + 1;
            Some(ParsedExpr { node: Node::And(terms), span: Span::default(), depth })
        }
    };
    query
}

fn compare(what: BuiltIn, op: Comparison, with: Node) -> ParsedExpr {
    let leaf = |node| Box::new(ParsedExpr { node, span: Span::default(), depth: 1 });
    let (left, right) = (leaf(Node::BuiltIn(what)), leaf(with));
    ParsedExpr { node: Node::Compare { op, left, right, ci: false }, span: Span::default(), depth: 2 }
}

/// The query for its latest rows, the latest first; `None` if it has a condition, groups, an order or a limit of its own.
pub(crate) fn latest(query: &Select, limit: u64) -> Option<Select> {
    let Select { explain, columns: _, from, filter, groups, having, order, limit: own_limit } = query;
    let is_open = explain.is_none()
        && from.is_some()
        && filter.is_none()
        && groups.is_empty()
        && having.is_none()
        && order.is_empty()
        && own_limit.is_none();
    let by_time = OrderItem { by: OrderBy::Time, ci: false, descending: true, span: Span::default() };
    is_open.then(|| Select { order: vec![by_time], limit: Some(limit), ..query.clone() })
}

/// For each column, whether its numbers are instants.
pub(crate) fn columns(query: &Select) -> Vec<bool> {
    let group = |group: &GroupItem| match group {
        GroupItem::Time { .. } => true,
        GroupItem::Expr { expr, .. } => is_instant(expr, &|_| false),
    };
    let columns = query.columns.iter().flat_map(|column| match column {
        SelectItem::All(_) => vec![true, false, false],
        SelectItem::Expr { expr, .. } => vec![is_instant(expr, &|_| false)],
    });
    query.groups.iter().map(group).chain(columns).collect()
}

/// Whether an expression, judged by its syntax, is an instant wherever it has a value. `is_known` answers this for names.
pub(crate) fn is_instant(expr: &ParsedExpr, is_known: &dyn Fn(&str) -> bool) -> bool {
    let is_instant = |expr: &ParsedExpr| is_instant(expr, is_known);
    match &expr.node {
        Node::BuiltIn(BuiltIn::Timestamp | BuiltIn::Start) => true,
        Node::Name(name) => is_known(name),
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

    #[test]
    fn the_latest_rows_are_asked_for_where_nothing_says_which() {
        let of = |text: &str| latest(&parse_query(text).unwrap(), 7).map(|query| query.to_string());
        assert_eq!(
            of("select a, b from stream").as_deref(),
            Some("select a, b from stream order by time desc limit 7")
        );
        for said in [
            "select a from stream where b",
            "select a from stream limit 3",
            "select a from stream order by a",
            "select count(*) from stream group by a",
            "explain select a from stream",
            "select 1",
        ] {
            assert_eq!(of(said), None, "{said}");
        }
    }

    #[test]
    fn a_page_follows_the_order_of_its_query() {
        let of = |text: &str, after| page(&parse_query(text).unwrap(), after, 5).map(|page| page.to_string());
        assert_eq!(of("select a from stream", None).as_deref(), Some("select a, @Id from stream limit 5"));
        assert_eq!(
            of("select a from stream where b or c order by time desc", Some("0f")).as_deref(),
            Some("select a, @Id from stream where (b or c) and @Id < '0f' order by time desc limit 5")
        );
        for other in [
            "select a from stream order by a",
            "select a from stream limit 3",
            "select a from stream lateral unnest(b) as c",
            "select 1",
        ] {
            assert_eq!(of(other, None), None, "{other}");
        }
    }

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
