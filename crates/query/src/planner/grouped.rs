//! Expressions behind a grouping: aggregates, group keys and aliases have values, events have none any more.

use super::aggregate;
use super::resolve::{Grouped, Local, Resolver};
use crate::ast::{Node, ParsedExpr};
use crate::error::Flaw;
use crate::expr::Expr;

/// How many expressions `having` may take over by naming columns.
const FROM_ALIASES_MAX: usize = 1 << 16;

/// Whether the expression names one of these locals.
fn mentions(expr: &ParsedExpr, locals: &[Local]) -> bool {
    let is_one = matches!(&expr.node, Node::Name(name) if Local::named(locals, name).is_some());
    !locals.is_empty() && (is_one || expr.children().into_iter().any(|child| mentions(child, locals)))
}

/// Whether the expression is a property of the event, or a path from one, which no name behind the grouping leads to.
fn is_of_event(grouped: &Grouped, locals: &[Local], expr: &ParsedExpr) -> bool {
    match &expr.node {
        _ if grouped.key(expr).is_some() => false,
        Node::BuiltIn(_) => true,
        Node::Name(name) => Local::named(locals, name).is_none() && !grouped.aliases.contains_key(name),
        Node::Member(of, _) | Node::Element(of, _) | Node::Wildcard(of, _) => {
            is_of_event(grouped, locals, of)
        }
        _ => false,
    }
}

impl Resolver<'_> {
    /// Whether the expression names a local.
    pub(super) fn mentions_local(&self, expr: &ParsedExpr) -> bool {
        mentions(expr, &self.locals)
    }

    /// What the expression means behind a grouping; none where that is as everywhere, or there is no grouping.
    pub(super) fn behind_grouping(&mut self, expr: &ParsedExpr) -> Result<Option<Expr>, Flaw> {
        let Some(grouped) = &mut self.grouped else {
            return Ok(None);
        };
        if let Node::Name(name) = &expr.node {
            if Local::named(&self.locals, name).is_some() {
                return Ok(None);
            }
            if let Some(aliased) = grouped.aliases.get(name) {
                grouped.from_aliases += aliased.count();
                if grouped.from_aliases > FROM_ALIASES_MAX {
                    return Err(Flaw::new(
                        expr.span,
                        format!(
                            "the columns that `having` names come to more than {FROM_ALIASES_MAX} expressions, the limit"
                        ),
                    ));
                }
                let mut taken = aliased.clone();
                // The locals within it come behind those that are around it here.
                taken.shift_locals(self.locals.len());
                return Ok(Some(taken));
            }
        }
        if let Some(key) = grouped.key(expr)
            && !matches!(expr.node, Node::Text(_) | Node::Number(_) | Node::Null | Node::Bool(_))
            && !mentions(expr, &self.locals)
        {
            return Ok(Some(Expr::Group(key)));
        }
        let keys = grouped.keys;
        let interval = grouped.interval;
        match &expr.node {
            Node::Call { name, .. } if name.text.eq_ignore_ascii_case("interval") => {
                aggregate::plan(self, expr)?;
                match interval {
                    Some(interval) => Ok(Some(Expr::constant(interval))),
                    None => Err(Flaw::new(
                        expr.span,
                        "`interval()` is the length of the groups' intervals, and there are none",
                    )
                    .hint("group by `time(1h)`")),
                }
            }
            Node::Call { name, .. } if aggregate::is_name(&name.text) => {
                let Some(planned) = aggregate::plan(self, expr)? else {
                    return Ok(None);
                };
                let Some(grouped) = &mut self.grouped else {
                    return Ok(None);
                };
                // What is asked for twice is aggregated once.
                let shown = format!("{planned:?}");
                let next = grouped.aggregates.len();
                let aggregate = *grouped.shown.entry(shown).or_insert(next);
                if aggregate == next {
                    grouped.aggregates.push(planned);
                }
                Ok(Some(Expr::Group(keys + aggregate)))
            }
            // The whole of a path, since that is what a group key would be.
            _ if is_of_event(grouped, &self.locals, expr) => {
                let shown = expr.span.text(self.text);
                Err(Flaw::new(
                    expr.span,
                    format!(
                        "`{shown}` has many values in a group: it is neither an aggregate nor a constant"
                    ),
                )
                .hint(format!("make it a group key, which is a column by itself: `group by {shown}`; or choose a value, as in `first({shown})`")))
            }
            _ => Ok(None),
        }
    }
}
