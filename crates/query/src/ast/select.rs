//! The clauses of a query.

use super::expr::{Name, ParsedExpr};
use crate::span::Span;

/// A query as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Select {
    pub(crate) explain: Option<Explain>,
    pub(crate) columns: Vec<SelectItem>,
    /// The unnested collections after `from stream`; none without `from`.
    pub(crate) from: Option<Vec<Unnest>>,
    pub(crate) filter: Option<ParsedExpr>,
    pub(crate) groups: Vec<GroupItem>,
    pub(crate) having: Option<ParsedExpr>,
    pub(crate) order: Vec<OrderItem>,
    pub(crate) limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Explain {
    Plan,
    Analyze,
}

#[derive(Clone, Debug)]
pub(crate) enum SelectItem {
    All(Span),
    Expr { expr: ParsedExpr, alias: Option<Name> },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unnest {
    pub(crate) collection: ParsedExpr,
    pub(crate) name: Name,
}

#[derive(Clone, Debug)]
pub(crate) enum GroupItem {
    /// `time(duration)` or `time(duration, zone)`, the duration in ticks.
    Time {
        interval: u64,
        zone: Option<ParsedExpr>,
        span: Span,
    },
    Expr {
        expr: ParsedExpr,
        ci: bool,
        alias: Option<Name>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct OrderItem {
    pub(crate) by: OrderBy,
    pub(crate) ci: bool,
    pub(crate) descending: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OrderBy {
    Time,
    Expr(ParsedExpr),
}

impl Select {
    /// The expressions of the clauses, in the order of the text.
    pub(crate) fn exprs(&self) -> Vec<&ParsedExpr> {
        let columns = self.columns.iter().filter_map(|column| match column {
            SelectItem::All(_) => None,
            SelectItem::Expr { expr, .. } => Some(expr),
        });
        let groups = self.groups.iter().filter_map(|group| match group {
            GroupItem::Time { zone, .. } => zone.as_ref(),
            GroupItem::Expr { expr, .. } => Some(expr),
        });
        let order = self.order.iter().filter_map(|order| match &order.by {
            OrderBy::Time => None,
            OrderBy::Expr(expr) => Some(expr),
        });
        let unnests = self.from.iter().flatten().map(|unnest| &unnest.collection);
        columns.chain(unnests).chain(&self.filter).chain(groups).chain(&self.having).chain(order).collect()
    }
}

// Places are no part of what is said.

impl PartialEq for SelectItem {
    fn eq(&self, other: &SelectItem) -> bool {
        match (self, other) {
            (SelectItem::All(_), SelectItem::All(_)) => true,
            (SelectItem::Expr { expr: a, alias: a_alias }, SelectItem::Expr { expr: b, alias: b_alias }) => {
                a == b && a_alias == b_alias
            }
            _ => false,
        }
    }
}

impl PartialEq for GroupItem {
    fn eq(&self, other: &GroupItem) -> bool {
        match (self, other) {
            (
                GroupItem::Time { interval: a, zone: a_zone, .. },
                GroupItem::Time { interval: b, zone: b_zone, .. },
            ) => a == b && a_zone == b_zone,
            (
                GroupItem::Expr { expr: a, ci: a_ci, alias: a_alias },
                GroupItem::Expr { expr: b, ci: b_ci, alias: b_alias },
            ) => a == b && a_ci == b_ci && a_alias == b_alias,
            _ => false,
        }
    }
}

impl PartialEq for OrderItem {
    fn eq(&self, other: &OrderItem) -> bool {
        self.by == other.by && self.ci == other.ci && self.descending == other.descending
    }
}
