//! Prepared queries and expressions: the public interface of this crate.

use crate::Instant;
use crate::ast::{self, Explain};
use crate::error::{ExecError, QueryError};
use crate::expr::{Event, Expr, Scope, Spare, apply_rules};
use crate::instants;
use crate::optimizer;
use crate::options::RunOptions;
use crate::parameters::Parameters;
use crate::parser::{parse_expression, parse_query};
use crate::plan::{Input, Key, Output, Plan};
use crate::planner;
use crate::profile::KindWatch;
use crate::rows::Rows;
use crate::source::{Direction, NoEvents, Source};
use crate::time;
use crate::value::{Kind, json};
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tamias_json::Offsets;
use tamias_json::validate::{Limits, ValidateError, minify_object};

/// A query that is parsed but not yet prepared: its parameters have no values. Cheap to clone.
///
/// `Display` writes it in canonical form: keywords in lower case, single spaces, no needless parentheses, no comments. Two
/// statements are equal if their canonical forms are. Parsing the canonical form gives an equal statement.
///
/// ```
/// use tamias_query::Statement;
/// let statement = Statement::parse("SELECT  count( * ) from stream  WHERE ((Elapsed) > $least) -- slow")?;
/// assert_eq!(statement.to_string(), "select count(*) from stream where Elapsed > $least");
/// assert_eq!(statement.parameters(), ["least"]);
/// # Ok::<(), tamias_query::QueryError>(())
/// ```
#[derive(Clone)]
pub struct Statement {
    text: Arc<str>,
    syntax: Arc<ast::Select>,
    parameters: Arc<[String]>,
}

impl Statement {
    /// Parses a query.
    ///
    /// # Errors
    /// If the text is not a valid query: the error has the place, what was expected, and a suggestion where possible. Names and
    /// functions are only checked by [`bind`](Statement::bind).
    pub fn parse(text: &str) -> Result<Statement, QueryError> {
        let syntax = parse_query(text).map_err(|flaw| flaw.locate(text))?;
        let mut parameters = Vec::new();
        let mut seen = HashSet::new();
        for expr in syntax.exprs() {
            collect_parameters(expr, &mut parameters, &mut seen);
        }
        Ok(Statement { text: text.into(), syntax: Arc::new(syntax), parameters: parameters.into() })
    }

    /// The original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the query's parameters, without their `$`, each once, in the order of the text.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The same query restricted to a period: as if `@Timestamp >= from and @Timestamp < to`
    /// were added to its `where`. A query without `from stream` is unchanged. Errors still show the original text.
    ///
    /// ```
    /// use tamias_query::Statement;
    /// let statement = Statement::parse("select count(*) from stream where a = 1 or b = 2")?;
    /// let may = statement.between(Some("2024-05-01T00:00:00Z".parse()?), Some("2024-06-01T00:00:00Z".parse()?));
    /// assert_eq!(
    ///     may.to_string(),
    ///     "select count(*) from stream where (a = 1 or b = 2) \
    ///      and @Timestamp >= 638501184000000000 and @Timestamp < 638527968000000000"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn between(&self, from: Option<Instant>, to: Option<Instant>) -> Statement {
        Statement { syntax: Arc::new(instants::between(&self.syntax, from, to)), ..self.clone() }
    }

    /// A page of the query's rows: at most `limit` rows, beginning after the event with the `@Id` `after` in the query's order. The `@Id` of each
    /// row's event is added as the last column; pass that of the last row to get the next page.
    ///
    /// `None` if the query's rows are not events in order of time, or if it has a limit of its own.
    ///
    /// ```
    /// use tamias_query::Statement;
    /// let statement = Statement::parse("select a from stream order by time desc")?;
    /// let page = statement.page(Some("08dc7fc93a25fc000000000000000007"), 20).map(|page| page.to_string());
    /// assert_eq!(
    ///     page.as_deref(),
    ///     Some("select a, @Id from stream where @Id < '08dc7fc93a25fc000000000000000007' order by time desc limit 20")
    /// );
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn page(&self, after: Option<&str>, limit: u64) -> Option<Statement> {
        if planner::is_grouped(&self.syntax) {
            return None;
        }
        let syntax = Arc::new(instants::page(&self.syntax, after, limit)?);
        Some(Statement { syntax, ..self.clone() })
    }

    /// The same query for the latest events only, at most `limit` rows, the latest first: for display on a screen. `None` for a query
    /// that has a condition, groups, aggregates, an order or a limit, or reads no events.
    ///
    /// ```
    /// use tamias_query::Statement;
    /// let all = Statement::parse("select a from stream")?;
    /// let latest = all.latest(1000).map(|latest| latest.to_string());
    /// assert_eq!(latest.as_deref(), Some("select a from stream order by time desc limit 1000"));
    /// assert!(Statement::parse("select a from stream limit 5")?.latest(1000).is_none());
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn latest(&self, limit: u64) -> Option<Statement> {
        if planner::is_grouped(&self.syntax) {
            return None;
        }
        let syntax = Arc::new(instants::latest(&self.syntax, limit)?);
        Some(Statement { syntax, ..self.clone() })
    }

    /// Prepares the query with these values for its parameters. Values of other names are ignored.
    ///
    /// # Errors
    /// If a parameter has no value, a name or function does not exist, or a clause is not allowed where it stands.
    pub fn bind(&self, parameters: &Parameters) -> Result<Query, QueryError> {
        let planned = planner::plan(&self.syntax, &self.text, parameters);
        let planned = planned.map_err(|flaw| flaw.locate(&self.text))?;
        let plan = Arc::new(optimizer::optimize(planned.clone()));
        Ok(Query { statement: self.clone(), planned: Arc::new(planned), plan })
    }
}

fn collect_parameters<'e>(expr: &'e ast::ParsedExpr, names: &mut Vec<String>, seen: &mut HashSet<&'e str>) {
    if let ast::Node::Parameter(name) = &expr.node
        && seen.insert(name)
    {
        names.push(name.clone());
    }
    expr.children().into_iter().for_each(|child| collect_parameters(child, names, seen));
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.syntax.fmt(f)
    }
}

impl PartialEq for Statement {
    fn eq(&self, other: &Statement) -> bool {
        self.syntax == other.syntax
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Statement").field(&self.text).finish()
    }
}

/// A prepared query. Cheap to clone; it can be run any number of times, from any thread.
#[derive(Clone)]
pub struct Query {
    statement: Statement,
    /// The plan before optimization.
    planned: Arc<Plan>,
    /// The optimized plan.
    plan: Arc<Plan>,
}

impl Query {
    /// Prepares a query without parameters.
    ///
    /// # Errors
    /// If the text is not a valid query: the error has the place, what was expected, and a suggestion where possible.
    pub fn prepare(text: &str) -> Result<Query, QueryError> {
        Query::prepare_with(text, &Parameters::new())
    }

    /// Prepares a query whose `$names` have the values of `parameters`.
    ///
    /// # Errors
    /// As for [`Query::prepare`], and if a parameter has no value.
    pub fn prepare_with(text: &str, parameters: &Parameters) -> Result<Query, QueryError> {
        Statement::parse(text)?.bind(parameters)
    }

    /// The same query with other values for its parameters. Its text is not parsed again.
    ///
    /// ```
    /// use tamias_query::{Parameters, Query};
    /// let mut parameters = Parameters::new();
    /// let query = Query::prepare_with("select $a + 1 as b", parameters.set_json("a", "1")?)?;
    /// let next = query.bind(parameters.set_json("a", "41")?)?;
    /// let row = next.run_scalar().next().transpose()?;
    /// assert_eq!(format!("{row:?}"), "Some([42])");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Statement::bind`]: if a parameter has no value, or one that is not allowed in its place.
    pub fn bind(&self, parameters: &Parameters) -> Result<Query, QueryError> {
        self.statement.bind(parameters)
    }

    /// The names of the query's parameters, without their `$`.
    pub fn parameters(&self) -> &[String] {
        self.statement.parameters()
    }

    /// The paths of the keys that the query reads, as the language writes them, sorted: `Actor.Name`. For elements of an array, such as
    /// `Items[?].Price`, it is the path of the array.
    ///
    /// ```
    /// use tamias_query::Query;
    ///
    /// let query = Query::prepare("select Actor.Name from stream where Status = 500")?;
    /// assert_eq!(query.paths(), ["Actor.Name", "Status"]);
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn paths(&self) -> Vec<String> {
        KindWatch::paths(&self.planned)
    }

    /// The paths of the keys that the query reads in the elements of arrays, sorted, with `[?]` for each element, however the query names
    /// it: by its number, as any or all of them, in `Some` and `Every`, or unnested.
    ///
    /// ```
    /// use tamias_query::Query;
    ///
    /// let query = Query::prepare("select Items[0].Sku from stream where Items[?].Price > 3")?;
    /// assert_eq!(query.element_paths(), ["Items[?].Price", "Items[?].Sku"]);
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn element_paths(&self) -> Vec<String> {
        KindWatch::element_paths(&self.planned)
    }

    /// The same query without optimization: the same rows, perhaps more slowly. Use it to find out whether the
    /// optimizer is at fault.
    pub fn unoptimized(&self) -> Query {
        Query { plan: self.planned.clone(), ..self.clone() }
    }

    /// The text of the query.
    pub fn text(&self) -> &str {
        self.statement.text()
    }

    /// The names of the columns, known before the first row.
    pub fn columns(&self) -> &[String] {
        &self.plan.columns
    }

    /// The kind of the values of each column, where it is certain before any is read: each value is of that kind,
    /// null or undefined. `None` where it depends on the events, as for a stored property.
    ///
    /// ```
    /// use tamias_query::{Kind, Query};
    /// let query = Query::prepare("select Path, Elapsed > 200 as slow, ToUpper(@Level) from stream")?;
    /// assert_eq!(query.column_kinds(), [None, Some(Kind::Boolean), Some(Kind::String)]);
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn column_kinds(&self) -> Vec<Option<Kind>> {
        self.plan.column_kinds()
    }

    /// For each column, whether it is known to hold instants, as [ticks](Instant::ticks) that should be displayed as times:
    /// `@Timestamp`, the start times of `group by time(…)`, and the results of some functions of instants.
    ///
    /// ```
    /// use tamias_query::Query;
    /// let query = Query::prepare("select max(@Timestamp) as latest, count(*) from stream group by time(1h)")?;
    /// assert_eq!(query.columns(), ["time", "latest", "count(*)"]);
    /// assert_eq!(query.instant_columns(), [true, true, false]);
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn instant_columns(&self) -> Vec<bool> {
        instants::columns(&self.statement.syntax)
    }

    /// The length in ticks of the intervals of `group by time(…)`; none if the query has no such groups.
    ///
    /// ```
    /// use tamias_query::Query;
    /// let query = Query::prepare("select count(*) from stream group by time(1ms)")?;
    /// assert_eq!(query.interval(), Some(10_000));
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn interval(&self) -> Option<u64> {
        let Output::Groups(grouping) = &self.plan.output else { return None };
        grouping.keys.iter().find_map(|key| match key {
            Key::Time(intervals) => Some(intervals.ticks()),
            Key::Expr { .. } => None,
        })
    }

    /// Whether groups that have events may be missing in the rows: because of `having` or `limit`.
    pub fn leaves_out_groups(&self) -> bool {
        self.plan.limit.is_some()
            || matches!(&self.plan.output, Output::Groups(grouping) if grouping.having.is_some())
    }

    /// The plan as text, one step per line.
    pub fn explain(&self) -> String {
        self.plan.to_string()
    }

    /// Whether the query begins with `explain`: `None` if not, `Some(false)` for `explain`, `Some(true)` for `explain analyze`. Show
    /// [`Query::explain`] instead of the rows, or for `explain analyze` [`Rows::analysis`] after running the query.
    pub fn is_explain(&self) -> Option<bool> {
        self.plan.explain.map(|explain| explain == Explain::Analyze)
    }

    /// Whether the query reads events. A query without `from` does not, and never uses its source.
    pub fn needs_source(&self) -> bool {
        matches!(self.plan.input, Input::Events(_))
    }

    /// The order in which the query reads events.
    pub fn direction(&self) -> Direction {
        match &self.plan.input {
            Input::Events(events) => events.direction,
            Input::Nothing => Direction::Ascending,
        }
    }

    /// The period that the query is restricted to, in ticks: a source may leave out all events outside of it.
    ///
    /// ```
    /// use tamias_query::Query;
    /// let query = Query::prepare("select a from stream where @Timestamp >= DateTime('2024-05-29') and b = 1")?;
    /// assert_eq!(query.instants(), 638525376000000000..=u64::MAX);
    /// # Ok::<(), tamias_query::QueryError>(())
    /// ```
    pub fn instants(&self) -> RangeInclusive<u64> {
        self.plan.instants()
    }

    /// Runs the query over the events of a source.
    pub fn run(&self, source: Box<dyn Source>) -> Rows {
        self.run_with(source, RunOptions::default())
    }

    /// Runs the query with options, such as a deadline or a memory limit.
    pub fn run_with(&self, source: Box<dyn Source>, options: RunOptions) -> Rows {
        Rows::new(self.plan.clone(), Some(source), options)
    }

    /// Runs the query over no events, which is enough for a query without `from`.
    pub fn run_scalar(&self) -> Rows {
        self.run(Box::new(NoEvents))
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Query").field(&self.text()).finish()
    }
}

/// A prepared expression, to be evaluated for single events.
#[derive(Clone)]
pub struct Expression {
    expr: Arc<Expr>,
    names: Arc<[Box<str>]>,
}

impl Expression {
    /// Prepares an expression.
    ///
    /// # Errors
    /// If the text is not a valid expression, or a parameter has no value.
    pub fn prepare(text: &str, parameters: &Parameters) -> Result<Expression, QueryError> {
        let planned =
            parse_expression(text).and_then(|expr| planner::plan_expression(&expr, text, parameters));
        let (expr, names) = planned.map_err(|flaw| flaw.locate(text))?;
        Ok(Expression { expr: Arc::new(apply_rules(expr)), names: names.into() })
    }

    /// Evaluates the expression for an event: the value as JSON text, `None` for undefined.
    ///
    /// `event` is a JSON object; its instant is read from `@t`, if it has one.
    ///
    /// # Errors
    /// If the event is not a JSON object, or a limit of the evaluation is exceeded.
    pub fn eval(&self, event: &str) -> Result<Option<String>, EvalError> {
        let mut minified = Vec::new();
        minify_object(event.as_bytes(), &Limits::default(), &mut minified)?;
        let mut offsets = Offsets::new();
        let document = offsets
            .scan_trusted(&minified)
            .map_err(|error| ExecError::Document { arrival: 0, reason: error.to_string() })?;
        let written = document.get("@t").and_then(|t| t.as_str());
        let instant = written.and_then(|t| time::parse_instant(&t.text())).unwrap_or(0);
        let event = Event { document: Some(document), instant, arrival: 0 };
        let mut scope = Scope::of(event, &self.names, time::now(), None, &mut Spare::default());
        scope.read(&self.names, 0);
        let value = self.expr.eval(&mut scope);
        scope.take_failure()?;
        Ok(json(&value).map(|json| String::from_utf8_lossy(&json).into_owned()))
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Expression")
    }
}

/// Prepares an expression and evaluates it for an event: the value as JSON text, `None` for undefined.
///
/// ```
/// use tamias_query::eval;
/// let event = r#"{"Elapsed": 1.50, "Tags": ["a", "b"]}"#;
/// assert_eq!(eval("Elapsed * 2", event)?.as_deref(), Some("3"));
/// assert_eq!(eval("Tags[?] = 'B' ci", event)?.as_deref(), Some("true"));
/// assert_eq!(eval("Missing + 1", event)?, None);
/// # Ok::<(), tamias_query::EvalError>(())
/// ```
///
/// # Errors
/// If the text is not a valid expression, the event is not a JSON object, or a limit is exceeded.
pub fn eval(expression: &str, event: &str) -> Result<Option<String>, EvalError> {
    Expression::prepare(expression, &Parameters::new())?.eval(event)
}

/// Why an expression could not be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The expression cannot be prepared.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The event is not a JSON object.
    #[error("the event is not a JSON object: {0}")]
    Event(#[from] ValidateError),
    /// The evaluation exceeds a limit.
    #[error(transparent)]
    Exec(#[from] ExecError),
}
