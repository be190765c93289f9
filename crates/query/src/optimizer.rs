//! Plan → plan, the same answers for less work: the rules of expressions, and what can be searched for.

use crate::expr::{Expr, RULES, Rule, rewrite};
use crate::plan::{Input, Key, Output, Plan};

pub(crate) fn optimize(mut plan: Plan) -> Plan {
    for (_, rule) in RULES {
        apply(&mut plan, rule);
    }
    if matches!(&plan.filter, Some(Expr::Constant(value)) if value.is_true()) {
        plan.filter = None;
    }
    if let Input::Events(events) = &mut plan.input
        && !events.unnest.is_empty()
    {
        events.event_filter =
            plan.filter.as_ref().and_then(|filter| filter.split_for_events().0).map(Box::new);
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
            "select Coalesce(a, 'none'), Concat(b, '-', c), let |x: a + 1, now: Now()| x * x < now, Every(b, |v| v is not null) from stream",
            "select distinct(Application) from stream where @Timestamp >= DateTime('2024-05-29T10:56:01Z') and false",
            "select Now() - 1d < @t from stream where Replace(a, /b+/, '$0') = 'c' and IndexOfMatch(a, 'd') > 1d",
        ];
        let shown: Vec<String> = queries.iter().map(|query| plans(query)).collect();
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(shown.join("\n")) });
    }
}
