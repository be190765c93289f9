//! The clauses of a query as text of the language.

use super::expr::Node;
use super::print::{Binding, Printer};
use super::select::{Explain, GroupItem, OrderBy, OrderItem, Select, SelectItem};
use crate::lexer::duration_literal;
use std::fmt::{self, Display};

impl Printer {
    fn select(&mut self, query: &Select) {
        match query.explain {
            None => {}
            Some(Explain::Plan) => self.text("explain "),
            Some(Explain::Analyze) => self.text("explain analyze "),
        }
        self.text("select ");
        self.list(&query.columns, |printer, column| match column {
            SelectItem::All(_) => printer.text('*'),
            SelectItem::Expr { expr, alias } => {
                printer.whole(expr);
                alias.iter().for_each(|alias| printer.text(format_args!(" as {}", alias.text)));
            }
        });
        for (index, unnest) in query.from.iter().flatten().enumerate() {
            self.text(if index > 0 { " lateral unnest(" } else { " from stream lateral unnest(" });
            self.whole(&unnest.collection);
            self.text(format_args!(") as {}", unnest.name.text));
        }
        self.text(if query.from.as_ref().is_some_and(Vec::is_empty) { " from stream" } else { "" });
        for (clause, condition) in [(" where ", &query.filter), (" having ", &query.having)] {
            if clause == " having " && !query.groups.is_empty() {
                self.text(" group by ");
                self.list(&query.groups, Printer::group_item);
            }
            if let Some(condition) = condition {
                self.text(clause);
                self.whole(condition);
            }
        }
        if !query.order.is_empty() {
            self.text(" order by ");
            self.list(&query.order, Printer::order_item);
        }
        query.limit.iter().for_each(|limit| self.text(format_args!(" limit {limit}")));
    }

    fn group_item(&mut self, group: &GroupItem) {
        match group {
            GroupItem::Time { interval, zone, .. } => {
                self.text(format_args!("time({}", duration_literal(u128::from(*interval) * 100)));
                zone.iter().for_each(|zone| {
                    self.text(", ");
                    self.whole(zone);
                });
                self.text(")");
            }
            GroupItem::Expr { expr, ci, alias } => {
                let start = self.out.len();
                if *ci {
                    self.before_ci(expr, Binding::Whole);
                } else {
                    self.whole(expr);
                }
                // A call of that name would be read as an interval.
                if self.out.get(start..).is_some_and(|text| begins_with(text, "time(")) {
                    self.enclose(start);
                }
                self.text(if *ci { " ci" } else { "" });
                alias.iter().for_each(|alias| self.text(format_args!(" as {}", alias.text)));
            }
        }
    }

    fn order_item(&mut self, order: &OrderItem) {
        match &order.by {
            OrderBy::Time => self.text("time"),
            OrderBy::Expr(expr) if matches!(&expr.node, Node::Name(name) if begins_with(name, "time") && name.len() == 4) =>
            {
                self.parentheses(expr);
            }
            OrderBy::Expr(expr) if order.ci => self.before_ci(expr, Binding::Whole),
            OrderBy::Expr(expr) => {
                self.whole(expr);
            }
        }
        self.text(if order.ci { " ci" } else { "" });
        self.text(if order.descending { " desc" } else { "" });
    }
}

fn begins_with(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

impl Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        printer.select(self);
        f.write_str(&printer.out)
    }
}
