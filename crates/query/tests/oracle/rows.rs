//! Queries, evaluated clause by clause over all events at once.

use crate::aggregates::{self, Ranked};
use crate::ast::{By, Column, Expr, Group, Query};
use crate::eval::{Event, Scope, eval, from};
use crate::number::Number;
use crate::value::Value;
use std::cmp::Ordering;

/// What a row must show in one column.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Exactly(Value),
    /// A number between two, or so close by relative error.
    Near {
        low: Number,
        high: Number,
        error: String,
    },
}

impl Cell {
    fn value(&self) -> &Value {
        match self {
            Cell::Exactly(value) => value,
            Cell::Near { .. } => panic!("nothing is ordered by an approximation"),
        }
    }

    pub(crate) fn admits(&self, shown: &Value) -> bool {
        match (self, shown) {
            (Cell::Exactly(value), shown) => value.same(shown),
            (Cell::Near { low, high, error }, Value::Number(shown)) => shown.is_near(low, high, error),
            (Cell::Near { .. }, _) => false,
        }
    }

    pub(crate) fn show(&self) -> String {
        match self {
            Cell::Exactly(value) => value.json(),
            Cell::Near { low, high, error } => {
                format!("{} to {}, give or take {error}", low.text(), high.text())
            }
        }
    }
}

/// The answer to a query: its rows, and over how many events or elements of events they tell.
pub(crate) struct Answer {
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) hits: usize,
}

/// The answer to a query over events, which come in time order.
pub(crate) fn answer(query: &Query, events: &[Event]) -> Answer {
    let mut scopes = match query.from {
        None => vec![Scope { event: None, locals: Vec::new(), rows: None }],
        Some(_) => events
            .iter()
            .map(|event| Scope { event: Some(event), locals: Vec::new(), rows: None })
            .collect::<Vec<_>>(),
    };
    if query.order.first().is_some_and(|order| matches!(order.by, By::Time) && order.descending == Some(true))
        && query.groups.is_empty()
    {
        scopes.reverse();
    }
    for (collection, name) in query.from.iter().flatten() {
        scopes = scopes
            .iter()
            .flat_map(|scope| {
                // What is no array has no elements, and so no rows.
                let elements = match eval(collection, scope) {
                    Value::Array(elements) => elements,
                    _ => Vec::new(),
                };
                elements.into_iter().map(|element| scope.with(name, element)).collect::<Vec<_>>()
            })
            .collect();
    }
    if let Some(filter) = &query.filter {
        scopes.retain(|scope| eval(filter, scope).is_true());
    }
    let mut rows = if query.groups.is_empty() && !query.columns.iter().any(is_aggregate) {
        scopes
            .iter()
            .map(|scope| query.columns.iter().flat_map(|column| plain(column, scope)).collect())
            .collect()
    } else {
        grouped(query, &scopes)
    };
    rows.sort_by(|a, b| {
        for order in &query.order {
            let ordering = match order.by {
                By::Column(column) => a[column].value().order(b[column].value(), order.ci),
                By::Time => match query.groups.iter().position(|group| matches!(group, Group::Time(..))) {
                    Some(column) => a[column].value().order(b[column].value(), false),
                    // Plain rows are in time order already, or in its reverse.
                    None => Ordering::Equal,
                },
            };
            let ordering = if order.descending == Some(true) { ordering.reverse() } else { ordering };
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        Ordering::Equal
    });
    rows.truncate(query.limit.unwrap_or(usize::MAX));
    Answer { rows, hits: scopes.len() }
}

/// The alias of each column, group keys first.
fn aliases(query: &Query) -> Vec<Option<String>> {
    let groups = query.groups.iter().map(|group| match group {
        Group::Time(..) => None,
        Group::Expr { alias, .. } => alias.clone(),
    });
    let columns = query.columns.iter().map(|column| match column {
        Column::Star => None,
        Column::Expr(_, alias) => alias.clone(),
    });
    groups.chain(columns).collect()
}

fn is_aggregate(column: &Column) -> bool {
    fn contains(expr: &mut Expr) -> bool {
        matches!(expr, Expr::Aggregate(..) | Expr::CountDistinct(_))
            || expr.children_mut().into_iter().any(contains)
    }
    match column {
        Column::Star => false,
        Column::Expr(expr, _) => contains(&mut expr.clone()),
    }
}

fn plain(column: &Column, scope: &Scope<'_>) -> Vec<Cell> {
    match column {
        Column::Star => {
            let event = scope.event.unwrap();
            let instant = Value::integer(event.instant.try_into().unwrap());
            [instant, Value::Text(event.id()), event.data()].map(Cell::Exactly).into()
        }
        Column::Expr(expr, _) => vec![Cell::Exactly(eval(expr, scope))],
    }
}

fn grouped(query: &Query, scopes: &[Scope<'_>]) -> Vec<Vec<Cell>> {
    let mut groups: Vec<(Vec<Value>, Vec<Scope<'_>>)> = Vec::new();
    for scope in scopes {
        let keys: Vec<Value> = query
            .groups
            .iter()
            .map(|group| match group {
                Group::Time(_, ticks, ahead) => {
                    let shown = scope.event.unwrap().instant + ahead;
                    Value::integer((shown - shown % ticks - ahead).try_into().unwrap())
                }
                Group::Expr { expr, .. } => eval(expr, scope),
            })
            .collect();
        let same = |known: &[Value]| {
            known.iter().zip(&keys).zip(&query.groups).all(|((known, key), group)| {
                let ci = matches!(group, Group::Expr { ci: true, .. });
                known.order(key, ci) == Ordering::Equal
            })
        };
        match groups.iter_mut().find(|(known, _)| same(known)) {
            Some((_, members)) => members.push(scope.clone()),
            None => groups.push((keys, vec![scope.clone()])),
        }
    }
    if query.groups.is_empty() {
        groups = vec![(Vec::new(), scopes.to_vec())];
    }
    if let Some(column) = query.groups.iter().position(|group| matches!(group, Group::Time(..))) {
        groups.sort_by(|(a, _), (b, _)| a[column].order(&b[column], false));
    }
    if let ([], [Column::Expr(Expr::Aggregate(name @ ("distinct" | "top" | "bottom"), arguments), _)]) =
        (query.groups.as_slice(), query.columns.as_slice())
    {
        let (_, members) = &groups[0];
        let values = match arguments.as_slice() {
            [argument] => aggregates::distinct(argument, members),
            [argument, count] => {
                let scope = Scope { event: None, locals: Vec::new(), rows: None };
                let Value::Number(count) = eval(count, &scope) else { panic!("a count is a number") };
                aggregates::ends(argument, *name == "top", count.to_index().unwrap(), members)
            }
            _ => unreachable!(),
        };
        return values.into_iter().map(|value| vec![Cell::Exactly(value)]).collect();
    }
    let mut rows = Vec::new();
    for (keys, members) in &groups {
        let scope = behind_grouping(query, keys, members);
        let cells = query.columns.iter().map(|column| {
            let Column::Expr(expr, _) = column else { panic!("no `*` beside aggregates") };
            aggregated(expr, &scope)
        });
        let row: Vec<Cell> = keys.iter().cloned().map(Cell::Exactly).chain(cells).collect();
        if query.having.as_ref().is_none_or(|having| passes(having, query, &row, scope)) {
            rows.push(row);
        }
    }
    rows
}

/// What can be named behind a grouping: the keys, by alias, or by name where they are one.
fn behind_grouping<'e>(query: &Query, keys: &[Value], members: &'e [Scope<'e>]) -> Scope<'e> {
    let mut scope = Scope { event: None, locals: Vec::new(), rows: Some(members) };
    for (group, key) in query.groups.iter().zip(keys) {
        match group {
            Group::Time(_, ticks, _) => {
                scope = scope.with("interval()", Value::integer((*ticks).try_into().unwrap()));
            }
            Group::Expr { expr, alias, .. } => {
                scope = scope.with(&alias.clone().unwrap_or(expr.print()), key.clone());
            }
        }
    }
    scope
}

/// `having` names the aliases of columns, too.
fn passes(having: &Expr, query: &Query, row: &[Cell], mut scope: Scope<'_>) -> bool {
    for (name, cell) in aliases(query).into_iter().zip(row) {
        if let (Some(name), Cell::Exactly(value)) = (name, cell) {
            scope = scope.with(&name, value.clone());
        }
    }
    eval(having, &scope).is_true()
}

fn aggregated(expr: &Expr, scope: &Scope<'_>) -> Cell {
    let (Expr::Aggregate(name @ ("percentile" | "median"), arguments), Some(members)) = (expr, scope.rows)
    else {
        return Cell::Exactly(eval(expr, scope));
    };
    let constant = |index: usize, default: &str| match arguments.get(index).map(|expr| eval(expr, scope)) {
        Some(Value::Number(number)) => number.text().to_owned(),
        _ => default.to_owned(),
    };
    let (ranked, error) = match *name {
        "median" => (aggregates::median(&arguments[0], members), constant(1, "0.01")),
        _ => (aggregates::percentile(&arguments[0], &constant(1, "50"), members), constant(2, "0.01")),
    };
    match ranked {
        None => Cell::Exactly(Value::Undefined),
        Some(Ranked { low, high, is_exact: true }) => Cell::Exactly(from(low.middle(&high))),
        Some(Ranked { low, high, is_exact: false }) => Cell::Near { low, high, error },
    }
}
