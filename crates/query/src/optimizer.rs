//! Plan → plan, the same answers for less work: an ordered list of rules.

use crate::ast::Comparison;
use crate::expr::{Expr, Item, Member, Scope};
use crate::plan::{Input, Key, Output, Plan};
use crate::value::Value;
use tamias_json::number::Bound;

/// A rule rewrites one expression, whose parts it has rewritten already.
type Rule = fn(Expr) -> Expr;

pub(crate) const RULES: [(&str, Rule); 3] =
    [("constant folding", fold_constant), ("logic", simplify_logic), ("number bounds", prepare_bound)];

/// The largest value that is computed ahead, in bytes: more is better made where it is used.
const FOLDED_BYTES_MAX: usize = 64 * 1024;

pub(crate) fn optimize(mut plan: Plan) -> Plan {
    for (_, rule) in RULES {
        apply(&mut plan, rule);
    }
    if matches!(&plan.filter, Some(Expr::Constant(value)) if value.is_true()) {
        plan.filter = None;
    }
    plan.push_down();
    plan
}

fn apply(plan: &mut Plan, rule: Rule) {
    if let Input::Events(events) = &mut plan.input {
        events.unnest.iter_mut().for_each(|expr| rewrite(expr, rule));
    }
    plan.filter.iter_mut().for_each(|expr| rewrite(expr, rule));
    match &mut plan.output {
        Output::Rows { cells, .. } => cells.iter_mut().for_each(|expr| rewrite(expr, rule)),
        Output::Groups(grouping) => {
            for key in &mut grouping.keys {
                if let Key::Expr { expr, .. } = key {
                    rewrite(expr, rule);
                }
            }
            let arguments = grouping.aggregates.iter_mut().map(|aggregate| &mut aggregate.argument);
            arguments
                .chain(&mut grouping.having)
                .chain(&mut grouping.cells)
                .for_each(|expr| rewrite(expr, rule));
        }
    }
}

/// Applies every rule to an expression that stands alone.
pub(crate) fn optimize_expression(mut expr: Expr) -> Expr {
    for (_, rule) in RULES {
        rewrite(&mut expr, rule);
    }
    expr
}

/// Computes what is constant.
pub(crate) fn fold(mut expr: Expr) -> Expr {
    rewrite(&mut expr, fold_constant);
    expr
}

fn rewrite(expr: &mut Expr, rule: Rule) {
    for child in expr.children_mut() {
        rewrite(child, rule);
    }
    let taken = std::mem::replace(expr, Expr::Constant(Value::Undefined));
    *expr = rule(taken);
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(_))
}

fn fold_constant(expr: Expr) -> Expr {
    let foldable = match &expr {
        Expr::Member(of, _) | Expr::Negate(of) | Expr::Not(of) | Expr::IsNull(of, _) => is_constant(of),
        Expr::Element(a, b)
        | Expr::Arithmetic(_, a, b)
        | Expr::Compare { left: a, right: b, .. }
        | Expr::In { left: a, right: b, .. } => is_constant(a) && is_constant(b),
        Expr::Like { left, .. }
        | Expr::MatchWhole { left, .. }
        | Expr::Match { left, .. }
        | Expr::IndexOfMatch { left, .. }
        | Expr::ReplaceMatch { left, .. }
        | Expr::CompareNumber { left, .. } => is_constant(left),
        Expr::Call { function, arguments, .. } => function.is_pure && arguments.iter().all(is_constant),
        Expr::And(list) | Expr::Or(list) | Expr::Concat(list) | Expr::Coalesce(list) => {
            list.iter().all(is_constant)
        }
        Expr::Array(items) => items.iter().all(|(Item::One(e) | Item::Spread(e))| is_constant(e)),
        Expr::Object(members) => {
            members.iter().all(|(Member::Named(_, e) | Member::Spread(e))| is_constant(e))
        }
        Expr::If(parts) => is_constant(&parts.0),
        _ => false,
    };
    if !foldable {
        return expr;
    }
    if let Expr::If(parts) = expr {
        let (condition, then, otherwise) = *parts;
        return if matches!(condition, Expr::Constant(Value::Bool(true))) { then } else { otherwise };
    }
    let mut scope = Scope::new(0);
    let value = expr.eval(&mut scope);
    if scope.failure.is_some() || value.weight() > FOLDED_BYTES_MAX {
        return expr;
    }
    let value = value.into_static();
    Expr::Constant(value)
}

/// Drops terms that decide nothing, and what follows a term that decides everything.
fn simplify_logic(expr: Expr) -> Expr {
    let (terms, is_and) = match expr {
        Expr::And(terms) => (terms, true),
        Expr::Or(terms) => (terms, false),
        other => return other,
    };
    let mut kept = Vec::with_capacity(terms.len());
    for term in terms {
        match (&term, is_and) {
            (Expr::Constant(value), _) if value.is_true() != is_and => return Expr::constant(!is_and),
            (Expr::Constant(_), _) => {}
            // Terms are asked for their truth, and that is all that a chain of one term tells of it.
            (Expr::And(inner), is_and) | (Expr::Or(inner), is_and)
                if inner.len() == 1 || matches!(term, Expr::And(_)) == is_and =>
            {
                if let Expr::And(inner) | Expr::Or(inner) = term {
                    kept.extend(inner);
                }
            }
            _ => kept.push(term),
        }
    }
    match (kept.is_empty(), is_and) {
        (true, _) => Expr::constant(is_and),
        (false, true) => Expr::And(kept),
        (false, false) => Expr::Or(kept),
    }
}

/// Prepares the constants that numbers are compared with.
fn prepare_bound(expr: Expr) -> Expr {
    let Expr::Compare { op, left, right, ci } = expr else {
        return expr;
    };
    match (*left, *right) {
        (Expr::Constant(Value::Number(number)), right) if !is_constant(&right) => Expr::CompareNumber {
            op: flip(op),
            left: Box::new(right),
            bound: Box::new(Bound::new(&number.text())),
            number,
        },
        (left, Expr::Constant(Value::Number(number))) => Expr::CompareNumber {
            op,
            left: Box::new(left),
            bound: Box::new(Bound::new(&number.text())),
            number,
        },
        (left, right) => Expr::Compare { op, left: Box::new(left), right: Box::new(right), ci },
    }
}

fn flip(op: Comparison) -> Comparison {
    match op {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        symmetric => symmetric,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;
    use crate::parser::parse_query;
    use crate::planner;
    use std::fmt::Write;

    /// The plan of a query, and what each rule makes of it.
    fn plans(text: &str) -> String {
        let query = parse_query(text).unwrap();
        let mut plan = planner::plan(&query, text, &Parameters::new()).unwrap();
        let mut shown = format!("{text}\n{plan}");
        for (name, rule) in RULES {
            let before = plan.to_string();
            apply(&mut plan, rule);
            if plan.to_string() != before {
                write!(shown, "after {name}:\n{plan}").unwrap();
            }
        }
        shown
    }

    #[test]
    fn plans_after_each_rule() {
        let queries = [
            "select Message from stream where Elapsed > 200",
            "select Message from stream where match(Message, '/api/customers')",
            "select Message as m, Elapsed / 1000 from stream where Elapsed > 60 * 60 and true and @Level = 'Error' limit 10",
            "select * from stream where 200 <= Elapsed and Elapsed <> -0.50 order by time desc limit 100",
            "select 1 + 2, if 1 < 2 then ToUpper('a') else 'b', Length('äöü'), Undefined() = 1",
            "select a from stream where (b = 1 or false) and (c like 'x%' or not (d in [1, 2 + 3])) and (e = /[a-z]+/ ci)",
            "select Tag from stream lateral unnest(Tags) as Tag where Tag <> 'x' and Other[?].Name = 'ci' ci",
            "select count(*) as n, Round(sum(Elapsed) / count(*), 1) from stream group by Application ci, time(1h) \
             having n > 5 + 5 order by time, n desc limit 3",
            "select a.b['c d'].e, @Properties['@x'], @Properties.f as f, @Data.g, {a, @l, 'k': [1, ..b]} from stream order by f",
            "select Coalesce(a, 'none'), Concat(b, '-', c), let |x: a + 1| x * x, Every(b, |v| v is not null) from stream",
            "select distinct(Application) from stream where @Timestamp >= DateTime('2024-05-29T10:56:01Z') and false",
            "select Now() - 1d < @t from stream where Replace(a, /b+/, '$0') = 'c' and IndexOfMatch(a, 'd') > 1d",
        ];
        let shown: Vec<String> = queries.iter().map(|query| plans(query)).collect();
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown.join("\n")) });
    }
}
