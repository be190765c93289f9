//! AST → plan: names get their meaning, and every clause its step.

mod aggregate;
mod call;
mod expr;
mod grouped;
mod habits;
mod resolve;
mod wildcard;

pub(crate) use aggregate::names as aggregate_names;

use crate::ast::{self, GroupItem, Name, Node, OrderBy, SelectItem};
use crate::builtin::BuiltIn;
use crate::error::{Flaw, WITHOUT_STREAM};
use crate::expr::{Computed, Expr};
use crate::parameters::Parameters;
use crate::plan::{Events, Grouping, Input, Key, Output, Plan, Sort};
use crate::source::Direction;
use crate::span::Span;
use crate::value::Value;
use crate::zone::{Intervals, Zone};
use resolve::{Grouped, Local, Resolver};

/// The most columns a query may have.
const COLUMNS_MAX: usize = 1000;

/// How many `lateral unnest` a query may have: each is a loop within the one before.
const UNNESTS_MAX: usize = 16;

pub(crate) fn plan(query: &ast::Select, text: &str, parameters: &Parameters) -> Result<Plan, Flaw> {
    let mut planner = Planner { text, resolver: Resolver::new(text, parameters, query.from.is_some()) };
    planner.query(query)
}

/// Resolves an expression that stands alone: the expression, and the names of its slots.
pub(crate) fn plan_expression(
    expr: &ast::ParsedExpr,
    text: &str,
    parameters: &Parameters,
) -> Result<(Expr, Vec<Box<str>>), Flaw> {
    let mut resolver = Resolver::new(text, parameters, true);
    let expr = resolver.expr(expr)?;
    Ok((expr, resolver.names))
}

struct Planner<'q> {
    text: &'q str,
    resolver: Resolver<'q>,
}

/// A column before it is planned.
struct Named<'q> {
    name: String,
    alias: Option<&'q Name>,
    /// Its expression as it is printed, by which it is recognised where it is repeated with other blanks.
    printed: Option<String>,
    is_instant: bool,
}

impl<'q> Planner<'q> {
    fn query(&mut self, query: &'q ast::Select) -> Result<Plan, Flaw> {
        for (count, what) in [
            (query.columns.len() + query.groups.len(), "columns"),
            (query.order.len(), "items in `order by`"),
        ] {
            if count > COLUMNS_MAX {
                let message = format!("the query has more than {COLUMNS_MAX} {what}, the limit");
                return Err(Flaw::new(Span::default(), message));
            }
        }
        let unnest = self.unnest(query)?;
        let filter = match &query.filter {
            Some(filter) => {
                self.needs_stream(query, "where", filter.span)?;
                self.forbid_aggregates(filter, "where")?;
                Some(self.resolver.expr(filter)?)
            }
            None => None,
        };
        let condition_reads_whole = std::mem::take(&mut self.resolver.uses_document);
        let filter_names = if filter.is_some() || !unnest.is_empty() { self.resolver.names.len() } else { 0 };
        let is_grouped = is_grouped(query);
        if let (Some(having), false) = (&query.having, is_grouped) {
            return Err(Flaw::new(having.span, "`having` chooses among groups, and this query has none")
                .hint("write the condition after `where`"));
        }
        let mut direction = Direction::Ascending;
        let (columns, output) = if is_grouped {
            self.grouped(query)?
        } else {
            let (columns, output, descending) = self.plain(query)?;
            if descending {
                direction = Direction::Descending;
            }
            (columns, output)
        };
        let input = match query.from {
            Some(_) => {
                let names = std::mem::take(&mut self.resolver.names);
                let unnested = query.from.iter().flatten();
                let unnest_names = unnested.map(|unnest| unnest.name.text.clone()).collect();
                let output_reads_whole = self.resolver.uses_document;
                let reads_documents = condition_reads_whole || output_reads_whole || !names.is_empty();
                Input::Events(Events {
                    direction,
                    names,
                    reads_documents,
                    condition_reads_whole,
                    output_reads_whole,
                    filter_names,
                    flat_names: self.resolver.flat_names,
                    unnest,
                    unnest_names,
                    event_filter: None,
                })
            }
            None => Input::Nothing,
        };
        Ok(Plan {
            explain: query.explain,
            columns,
            input,
            filter,
            output,
            limit: query.limit,
            warnings: std::mem::take(&mut self.resolver.warnings),
            pushdown: None,
        })
    }

    fn unnest(&mut self, query: &'q ast::Select) -> Result<Vec<Expr>, Flaw> {
        let mut collections = Vec::new();
        for unnest in query.from.iter().flatten() {
            if collections.len() == UNNESTS_MAX {
                return Err(Flaw::new(
                    unnest.name.span,
                    format!("the query has more than {UNNESTS_MAX} `lateral unnest`, the limit"),
                ));
            }
            self.forbid_aggregates(&unnest.collection, "unnest")?;
            let collection = self.resolver.expr(&unnest.collection)?;
            let levels = self.resolver.levels_of(&collection, unnest.collection.span)?;
            self.resolver.locals.push(Local { name: unnest.name.text.clone(), levels, is_instant: false });
            collections.push(collection);
        }
        Ok(collections)
    }

    fn needs_stream(&self, query: &ast::Select, clause: &str, span: Span) -> Result<(), Flaw> {
        match query.from {
            Some(_) => Ok(()),
            None => Err(Flaw::new(span, format!("`{clause}` needs events, and this query reads none"))
                .hint(WITHOUT_STREAM)),
        }
    }

    fn forbid_aggregates(&self, expr: &ast::ParsedExpr, clause: &str) -> Result<(), Flaw> {
        match aggregate::find(expr) {
            Some(call) => {
                let message = format!(
                    "`{}` is an aggregate, which has no value in `{clause}`",
                    call.span.text(self.text)
                );
                let flaw = Flaw::new(call.span, message);
                Err(if clause == "where" { flaw.hint("use `having` for conditions on groups") } else { flaw })
            }
            None => Ok(()),
        }
    }

    /// A row for each event.
    fn plain(&mut self, query: &'q ast::Select) -> Result<(Vec<String>, Output, bool), Flaw> {
        let mut named = Vec::new();
        let mut cells = Vec::new();
        for column in &query.columns {
            match column {
                SelectItem::All(span) => {
                    self.needs_stream(query, "*", *span)?;
                    self.resolver.uses_document = true;
                    for (name, computed) in [
                        ("@Timestamp", Computed::Timestamp),
                        ("@Id", Computed::Id),
                        ("@Data", Computed::Data),
                    ] {
                        named.push(Named {
                            name: name.to_owned(),
                            alias: None,
                            printed: None,
                            is_instant: false,
                        });
                        cells.push(Expr::BuiltIn(computed));
                    }
                }
                SelectItem::Expr { expr, alias } => {
                    cells.push(self.resolver.expr(expr)?);
                    named.push(self.named(expr, alias.as_ref()));
                }
            }
        }
        if let [order] = query.order.as_slice()
            && matches!(order.by, OrderBy::Time)
        {
            self.needs_stream(query, "order by", order.span)?;
            return Ok((unique(named), Output::Rows { cells, sort: Vec::new() }, order.descending));
        }
        let mut sort = Vec::new();
        for order in &query.order {
            self.needs_stream(query, "order by", order.span)?;
            let column = match &order.by {
                OrderBy::Time => {
                    return Err(Flaw::new(
                        order.span,
                        "`time` cannot be combined with other columns in `order by`",
                    )
                    .hint("select @Timestamp and order by that"));
                }
                OrderBy::Expr(expr) => self.ordered_column(expr, &named)?,
            };
            sort.push(Sort { column, ci: order.ci, descending: order.descending });
        }
        Ok((unique(named), Output::Rows { cells, sort }, false))
    }

    /// A row for each group.
    fn grouped(&mut self, query: &'q ast::Select) -> Result<(Vec<String>, Output), Flaw> {
        let mut named = Vec::new();
        let mut keys = Vec::new();
        let mut time = None;
        for group in &query.groups {
            match group {
                GroupItem::Time { interval, zone, span } => {
                    self.needs_stream(query, "group by", *span)?;
                    if time.replace((keys.len(), *interval)).is_some() {
                        return Err(Flaw::new(*span, "`time` can be used only once in `group by`"));
                    }
                    let zone = zone.as_ref().map(|zone| self.zone(zone)).transpose()?;
                    let zone = zone.unwrap_or_else(|| self.resolver.parameters.zone().cloned());
                    keys.push(Key::Time(Intervals::new(*interval, zone)));
                    named.push(Named {
                        name: "time".to_owned(),
                        alias: None,
                        printed: None,
                        is_instant: true,
                    });
                }
                GroupItem::Expr { expr, ci, alias } => {
                    self.needs_stream(query, "group by", expr.span)?;
                    self.forbid_aggregates(expr, "group by")?;
                    keys.push(Key::Expr { expr: self.resolver.expr(expr)?, ci: *ci });
                    named.push(self.named(expr, alias.as_ref()));
                }
            }
        }
        let group_names = named.iter().map(|key| key.names()).collect();
        // An event of a group has these names; the group has not.
        let unnested = std::mem::take(&mut self.resolver.locals);
        let interval = time.map(|(_, interval)| interval);
        let instants = named.iter().filter(|key| key.is_instant).flat_map(Named::names).collect();
        self.resolver.grouped = Some(Grouped::new(group_names, interval, unnested, instants));
        let mut cells = Vec::new();
        for column in &query.columns {
            let (expr, alias) = match column {
                SelectItem::All(span) => {
                    return Err(Flaw::new(*span, "`*` cannot be combined with aggregates or groups")
                        .hint("`last(@Data)` gives one event of each group"));
                }
                SelectItem::Expr { expr, alias } => (expr, alias.as_ref()),
            };
            if let Some(from) = query.from.is_none().then(|| aggregate::find(expr)).flatten() {
                self.needs_stream(query, from.span.text(self.text), from.span)?;
            }
            cells.push(self.resolver.column(expr)?);
            named.push(self.named(expr, alias));
        }
        self.check_alone(query)?;
        // Of two columns with one alias it means the first.
        let aliases = named.iter().skip(keys.len()).zip(&cells).rev();
        let aliases =
            aliases.filter_map(|(column, cell)| Some((column.alias?.text.clone(), cell.clone()))).collect();
        let instants = named.iter().skip(keys.len()).rev();
        let instants = instants.filter_map(|column| Some((column.alias?.text.clone(), column.is_instant)));
        let instants = instants.collect();
        self.resolver.allow_keys(aliases, instants);
        let having = match &query.having {
            Some(having) => Some(self.resolver.expr(having)?),
            None => None,
        };
        let mut sort = Vec::new();
        for order in &query.order {
            let column = match &order.by {
                // Groups without intervals have no other time than a column that is called so.
                OrderBy::Time => {
                    match time.map(|(column, _)| column).or_else(|| column_named(&named, "time")) {
                        Some(column) => column,
                        None => {
                            return Err(Flaw::new(order.span, "these groups have no time to be ordered by")
                                .hint(
                                    "group by `time(1h)`, or select `min(@Timestamp) as t` and order by that",
                                ));
                        }
                    }
                }
                OrderBy::Expr(expr) => self.ordered_column(expr, &named)?,
            };
            sort.push(Sort { column, ci: order.ci, descending: order.descending });
        }
        let aggregates = self.resolver.grouped.take().map(|grouped| grouped.aggregates).unwrap_or_default();
        Ok((unique(named), Output::Groups(Box::new(Grouping { keys, aggregates, having, cells, sort }))))
    }

    /// The zone that a constant text names.
    fn zone(&mut self, expr: &ast::ParsedExpr) -> Result<Option<Zone>, Flaw> {
        let Some(Value::Text(name)) = self.resolver.constant(expr)? else {
            return Err(Flaw::new(expr.span, "a time zone is a constant text, as in 'Europe/Berlin'"));
        };
        let name = name.text();
        Zone::named(&name).ok_or_else(|| {
            Flaw::new(expr.span, format!("there is no time zone called `{name}`"))
                .hint("they have names as in 'Europe/Berlin', or are offsets as in '+02:00'")
        })
    }

    /// Aggregates that give several rows stand alone.
    fn check_alone(&self, query: &ast::Select) -> Result<(), Flaw> {
        for column in &query.columns {
            let SelectItem::Expr { expr, .. } = column else { continue };
            if let Some(call) = aggregate::find_rows(expr)
                && (query.columns.len() > 1 || !std::ptr::eq(call, expr))
            {
                let shown = call.span.text(self.text);
                return Err(Flaw::new(
                    call.span,
                    format!("`{shown}` gives several rows, so it must be the only column"),
                )
                .hint("`count(distinct(x))` counts without giving rows"));
            }
        }
        Ok(())
    }

    fn named(&self, expr: &'q ast::ParsedExpr, alias: Option<&'q Name>) -> Named<'q> {
        let name = alias.map_or_else(|| expr.span.text(self.text), |alias| &alias.text);
        Named {
            name: name.to_owned(),
            alias,
            printed: Some(expr.to_string()),
            is_instant: self.resolver.is_instant(expr),
        }
    }

    /// The column that an item of `order by` names by alias, or whose expression it repeats.
    fn ordered_column(&self, expr: &ast::ParsedExpr, named: &[Named<'_>]) -> Result<usize, Flaw> {
        let shown = expr.span.text(self.text);
        let by_alias = named.iter().position(|column| column.alias.is_some_and(|alias| alias.text == shown));
        let printed = expr.to_string();
        let by_text = || {
            named.iter().position(|column| column.name == shown || column.printed.as_ref() == Some(&printed))
        };
        by_alias.or_else(by_text).ok_or_else(|| {
            let hint = match &expr.node {
                Node::Number(_) => {
                    let first = named.first().map_or("x", |column| &column.name);
                    format!("columns are named and not numbered, as in `order by {first}`")
                }
                Node::BuiltIn(BuiltIn::Timestamp) => {
                    "write `order by time`; `order by time desc` gives the latest events first".to_owned()
                }
                _ => format!("select it as well, as in `{shown} as x`, and order by that"),
            };
            Flaw::new(
                expr.span,
                format!("`{shown}` is not a column of this query, and rows can only be ordered by columns"),
            )
            .hint(hint)
            .suggest(shown, named.iter().map(|column| column.name.as_str()))
        })
    }
}

fn column_named(named: &[Named<'_>], name: &str) -> Option<usize> {
    named.iter().position(|column| column.name == name)
}

impl Named<'_> {
    fn names(&self) -> Vec<String> {
        self.alias
            .map(|alias| alias.text.clone())
            .into_iter()
            .chain(self.printed.clone())
            .chain([self.name.clone()])
            .collect()
    }
}

/// Whether the rows of a query are groups: by what it names, or all events as one.
pub(crate) fn is_grouped(query: &ast::Select) -> bool {
    !query.groups.is_empty() || query.columns.iter().any(is_aggregate)
}

fn is_aggregate(column: &SelectItem) -> bool {
    matches!(column, SelectItem::Expr { expr, .. } if aggregate::find(expr).is_some())
}

/// The names of the columns; of two with one name the second is called `name (2)`.
fn unique(named: Vec<Named<'_>>) -> Vec<String> {
    let mut columns: Vec<String> = Vec::with_capacity(named.len());
    let mut taken = std::collections::HashSet::new();
    for Named { name, .. } in named {
        let mut unique = name.clone();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name} ({number})");
            number += 1;
        }
        columns.push(unique);
    }
    columns
}
