//! Random queries.

use super::choose::{coin, one_of, weighted};
use super::events::{HOUR, SECOND};
use super::exprs::Exprs;
use super::forms::{ORDERINGS, literal, name, names};
use crate::ast::{By, Column, Expr, Group, Order, Query};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

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

const INTERVALS: &[(&str, u64, u64)] = &[
    ("1s", SECOND, 0),
    ("90s", 90 * SECOND, 0),
    ("1h", HOUR, 0),
    ("1d", 24 * HOUR, 0),
    ("500ms", SECOND / 2, 0),
    ("7d", 168 * HOUR, 0),
    ("1d, 'Asia/Kathmandu'", 24 * HOUR, 5 * HOUR + 45 * 60 * SECOND),
    ("6h, 'asia/kathmandu'", 6 * HOUR, 5 * HOUR + 45 * 60 * SECOND),
    ("7d, 'Asia/Kathmandu'", 168 * HOUR, 5 * HOUR + 45 * 60 * SECOND),
    // What does not divide a day is counted from tick 0 in any zone.
    ("7h, 'Asia/Kathmandu'", 7 * HOUR, 0),
];

/// Aggregates, over all events or over groups of them.
pub(crate) fn grouped_query() -> BoxedStrategy<Query> {
    let exprs = Exprs::new(1, true);
    let aggregate = aggregate(&exprs);
    let combined = (one_of(&['+', '-', '/', '*']), aggregate.clone(), aggregate.clone())
        .prop_map(|(op, a, b)| Expr::Arithmetic(op, Box::new(a), Box::new(b)));
    let column = weighted(vec![(6, aggregate.clone()), (2, combined.boxed()), (1, percentile(&exprs))]);
    let filter = option::weighted(0.4, exprs.boolean.clone());
    let compared = weighted(vec![(2, names(&["k1", "k2", "g"])), (1, aggregate)]);
    let having = option::weighted(
        0.3,
        (one_of(ORDERINGS), compared, literal())
            .prop_map(|(op, left, literal)| Expr::Compare(op, Box::new(left), Box::new(literal), false)),
    );
    let unnest = option::weighted(0.15, exprs.array.clone());
    let order = vec((any::<prop::sample::Index>(), coin(), direction()), 0..3);
    (columns(&column), (filter, unnest), vec(group(&exprs), 0..3), having, order, limit(), coin())
        .prop_map(|(columns, (filter, unnest), mut groups, having, by_columns, limit, names_keys)| {
            told_apart(&mut groups);
            let unnest = unnest.map(|collection| (collection, "x".to_owned())).into_iter().collect();
            let mut query = Query { from: Some(unnest), filter, groups, limit, ..query(columns) };
            if names_keys {
                name_keys(&mut query);
            }
            for (index, ci, descending) in by_columns {
                let index = index.index(query.groups.len() + query.columns.len());
                query.order.extend(order_by(&query, index, ci, descending));
            }
            query.having = having.filter(|having| has_what_it_compares(&query, having));
            query
        })
        .boxed()
}

fn aggregate(exprs: &Exprs) -> BoxedStrategy<Expr> {
    let deeper = Exprs::new(2, true);
    let over = |names: &'static [&'static str], of: &BoxedStrategy<Expr>| {
        (one_of(names), of.clone()).prop_map(|(name, of)| Expr::Aggregate(name, vec![of])).boxed()
    };
    weighted(vec![
        (2, Just(Expr::Aggregate("count", Vec::new())).boxed()),
        (4, over(&["sum", "mean"], &exprs.number)),
        (2, over(&["min", "max"], &exprs.number)),
        (1, over(&["min", "max"], &exprs.any)),
        (1, over(&["variance", "stddev"], &exprs.number)),
        (2, over(&["count", "first", "last"], &exprs.any)),
        (2, over(&["any", "all"], &exprs.boolean)),
        (1, over(&["any", "all", "sum", "min", "count"], &deeper.any)),
        (1, exprs.any.clone().prop_map(|of| Expr::CountDistinct(Box::new(of))).boxed()),
    ])
}

fn percentile(exprs: &Exprs) -> BoxedStrategy<Expr> {
    let p = one_of(&["0", "50", "90", "99.9", "100"]);
    (exprs.number.clone(), option::weighted(0.7, p), option::of(one_of(&["0.01", "0.1", "0.001"])))
        .prop_map(|(of, p, error)| {
            let name = if p.is_some() { "percentile" } else { "median" };
            let arguments = [of].into_iter().chain(p.into_iter().chain(error).map(Expr::Number)).collect();
            Expr::Aggregate(name, arguments)
        })
        .boxed()
}

fn group(exprs: &Exprs) -> BoxedStrategy<Group> {
    let key = weighted(vec![
        (3, exprs.number.clone()),
        (3, exprs.text.clone()),
        (2, exprs.any.clone()),
        (1, exprs.boolean.clone()),
    ]);
    weighted(vec![
        (1, one_of(INTERVALS).prop_map(|(text, ticks, ahead)| Group::Time(text, ticks, ahead)).boxed()),
        (
            4,
            (key, coin(), coin())
                .prop_map(|(expr, ci, named)| Group::Expr { expr, ci, alias: named.then(|| "g".to_owned()) })
                .boxed(),
        ),
    ])
}

/// Leaves one interval at most, and gives each key an alias of its own.
fn told_apart(groups: &mut Vec<Group>) {
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
}

/// Whether a key is called `g`.
fn has_key(query: &Query) -> bool {
    query.groups.iter().any(|group| matches!(group, Group::Expr { alias: Some(alias), .. } if alias == "g"))
}

/// Adds columns that name a key, or the length of the intervals.
fn name_keys(query: &mut Query) {
    let count = || Box::new(Expr::Aggregate("count", Vec::new()));
    if has_key(query) {
        query.columns.push(Column::Expr(Expr::Arithmetic('+', count(), Box::new(name("g"))), None));
    }
    if query.groups.iter().any(|group| matches!(group, Group::Time(..))) {
        let interval = Box::new(Expr::Aggregate("interval", Vec::new()));
        query.columns.push(Column::Expr(Expr::Arithmetic('/', count(), interval), None));
    }
}

/// An order by a column of the row, group keys counted first; none by what is not exact.
fn order_by(query: &Query, index: usize, ci: bool, descending: Option<bool>) -> Option<Order> {
    let named = match query.groups.get(index) {
        Some(Group::Time(..)) => return Some(Order { by: By::Time, ci: false, descending }),
        Some(Group::Expr { alias, .. }) => alias.is_some(),
        None => match &query.columns[index - query.groups.len()] {
            Column::Expr(Expr::Aggregate("percentile" | "median", _), _) | Column::Star => return None,
            Column::Expr(_, alias) => alias.is_some(),
        },
    };
    Some(Order { by: By::Column(index), ci: ci && named, descending })
}

/// Whether what a `having` names is there, and exact.
fn has_what_it_compares(query: &Query, having: &Expr) -> bool {
    let Expr::Compare(_, left, ..) = having else { return false };
    let Expr::Name(wanted) = &**left else { return true };
    (wanted == "g" && has_key(query))
        || query.columns.iter().any(|column| {
            matches!(column, Column::Expr(expr, Some(alias))
                if alias == wanted && !matches!(expr, Expr::Aggregate("percentile" | "median", _)))
        })
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
