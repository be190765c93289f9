//! Expressions behind a grouping: aggregates, group keys and aliases have values, events have none any more.

use super::aggregate;
use super::resolve::Resolver;
use crate::ast::{Node, ParsedExpr};
use crate::error::Flaw;
use crate::expr::Expr;

impl Resolver<'_> {
    /// What the expression means behind a grouping; none where that is as everywhere, or there is no grouping.
    pub(super) fn behind_grouping(&mut self, expr: &ParsedExpr) -> Result<Option<Expr>, Flaw> {
        let Some(grouped) = &self.grouped else {
            return Ok(None);
        };
        if let Node::Name(name) = &expr.node {
            if self.locals.contains(name) {
                return Ok(None);
            }
            if let Some((_, aliased)) = grouped.aliases.iter().find(|(alias, _)| alias == name) {
                return Ok(Some(aliased.clone()));
            }
        }
        if let Some(key) = grouped.key(expr.span.text(self.text))
            && !matches!(expr.node, Node::Text(_) | Node::Number(_) | Node::Null | Node::Bool(_))
        {
            return Ok(Some(Expr::Group(key)));
        }
        let keys = grouped.keys.len();
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
                let aggregate = match grouped.shown.iter().position(|known| *known == shown) {
                    Some(known) => known,
                    None => {
                        grouped.shown.push(shown);
                        grouped.aggregates.push(planned);
                        grouped.aggregates.len() - 1
                    }
                };
                Ok(Some(Expr::Group(keys + aggregate)))
            }
            Node::Name(_) | Node::BuiltIn(_) => {
                let shown = expr.span.text(self.text);
                Err(Flaw::new(
                    expr.span,
                    format!(
                        "`{shown}` has many values in a group: it is neither an aggregate nor a constant"
                    ),
                )
                .hint(format!("add it to `group by`, or choose a value, as in `first({shown})`")))
            }
            _ => Ok(None),
        }
    }
}
