//! Prepared queries and expressions: the library's face.

use crate::Instant;
use crate::ast::{self, Explain};
use crate::error::{ExecError, QueryError};
use crate::expr::{Event, Expr, Scope, Spare, apply_rules};
use crate::instants;
use crate::optimizer;
use crate::options::RunOptions;
use crate::parameters::Parameters;
use crate::parser::{parse_expression, parse_query};
use crate::plan::{Input, Plan};
use crate::planner;
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

/// A query that is read, but not yet prepared: its parameters have no values. Cheap to clone.
///
/// `Display` writes it in one spelling: keywords in lower case, single blanks, no needless parentheses, no comments. Two
/// are equal if they say the same, however they are spelt; what is read from the one spelling is equal to what was written.
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
    /// Reads a query.
    ///
    /// # Errors
    /// If the text is no query: the error tells the place, what was expected, and what may have been meant. What names and
    /// functions there are is asked when it is [bound](Statement::bind).
    pub fn parse(text: &str) -> Result<Statement, QueryError> {
        let syntax = parse_query(text).map_err(|flaw| flaw.locate(text))?;
        let mut parameters = Vec::new();
        let mut seen = HashSet::new();
        for expr in syntax.exprs() {
            collect_parameters(expr, &mut parameters, &mut seen);
        }
        Ok(Statement { text: text.into(), syntax: Arc::new(syntax), parameters: parameters.into() })
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the query's parameters, without their `$`, each once, in the order of the text.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The same query for the events from one instant on and before another: as if `@Timestamp >= from and @Timestamp < to`
    /// were added to its `where`. A query without `from stream` stays as it is, and so does the text that errors show.
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

    /// A page of the query's rows: at most so many, those that come behind the event with this `@Id` in the query's order. The last column is
    /// one more than the query's, the `@Id` of each row's event; that of the last row is where the next page begins.
    ///
    /// None for a query whose rows are not those of events in the order of time, and for one that has a limit of its own.
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

    /// The same query for at most so many rows, of the latest events, the last one first: for somebody who looks at a screen. None for a query
    /// that says itself which rows it gives, by a condition, groups, aggregates, an order or a limit, or reads no events.
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

    /// Prepares the query with these values for its parameters. Others than its own are not looked at.
    ///
    /// # Errors
    /// If a parameter has no value, a name or function does not exist, or a clause makes no sense where it stands.
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
    /// As the planner made it.
    planned: Arc<Plan>,
    /// As the optimizer left it.
    plan: Arc<Plan>,
}

impl Query {
    /// Prepares a query without parameters.
    ///
    /// # Errors
    /// If the text is no query: the error tells the place, what was expected, and what may have been meant.
    pub fn prepare(text: &str) -> Result<Query, QueryError> {
        Query::prepare_with(text, &Parameters::new())
    }

    /// Prepares a query whose `$names` have the values of `parameters`.
    ///
    /// # Errors
    /// As [`Query::prepare`], and if a parameter has no value.
    pub fn prepare_with(text: &str, parameters: &Parameters) -> Result<Query, QueryError> {
        Statement::parse(text)?.bind(parameters)
    }

    /// The same query with other values for its parameters. Its text is not read again.
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
    /// As [`Statement::bind`]: if a parameter has no value, or one that cannot stand where the parameter stands.
    pub fn bind(&self, parameters: &Parameters) -> Result<Query, QueryError> {
        self.statement.bind(parameters)
    }

    /// The names of the query's parameters, without their `$`.
    pub fn parameters(&self) -> &[String] {
        self.statement.parameters()
    }

    /// The same query without what the optimizer makes of it: the same rows, perhaps more slowly. To find out whether the
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

    /// Of what kind the values of each column are, where that is certain before any is read: a value is of that kind, or
    /// null, or undefined. None where it depends on the events, as it does for a stored property.
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

    /// For each column whether it is known to hold instants, [ticks](Instant::ticks) that people will want to read as a time:
    /// `@Timestamp`, the beginnings of `group by time(…)`, and what some functions make of an instant.
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

    /// The plan as text, a step a line.
    pub fn explain(&self) -> String {
        self.plan.to_string()
    }

    /// Whether the query begins with `explain`: then it asks for [`Query::explain`], or with `explain analyze` for that and what
    /// the running query counts, instead of its rows.
    pub fn is_explain(&self) -> Option<bool> {
        self.plan.explain.map(|explain| explain == Explain::Analyze)
    }

    /// Whether the query reads events. One without `from` does not: its source is never asked.
    pub fn needs_source(&self) -> bool {
        matches!(self.plan.input, Input::Events(_))
    }

    /// The order in which the query wants its events.
    pub fn direction(&self) -> Direction {
        match &self.plan.input {
            Input::Events(events) => events.direction,
            Input::Nothing => Direction::Ascending,
        }
    }

    /// The instants, in ticks, of the events that the query can find: a source may leave out all others.
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

    /// Runs the query with a deadline or a memory budget of its own.
    pub fn run_with(&self, source: Box<dyn Source>, options: RunOptions) -> Rows {
        Rows::new(self.plan.clone(), Some(source), options)
    }

    /// Runs a query over no events: all that one without `from` needs.
    pub fn run_scalar(&self) -> Rows {
        self.run(Box::new(NoEvents))
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Query").field(&self.text()).finish()
    }
}

/// A prepared expression, to be evaluated over single events.
#[derive(Clone)]
pub struct Expression {
    expr: Arc<Expr>,
    names: Arc<[Box<str>]>,
}

impl Expression {
    /// Prepares an expression.
    ///
    /// # Errors
    /// If the text is no expression, or a parameter has no value.
    pub fn prepare(text: &str, parameters: &Parameters) -> Result<Expression, QueryError> {
        let planned =
            parse_expression(text).and_then(|expr| planner::plan_expression(&expr, text, parameters));
        let (expr, names) = planned.map_err(|flaw| flaw.locate(text))?;
        Ok(Expression { expr: Arc::new(apply_rules(expr)), names: names.into() })
    }

    /// The value as JSON text; none for undefined.
    ///
    /// `event` is a JSON object, of which `@t` is the instant if it has one.
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

/// Evaluates an expression over an event: the value as JSON text, none for undefined.
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
/// If the text is no expression, the event no JSON object, or a limit is exceeded.
pub fn eval(expression: &str, event: &str) -> Result<Option<String>, EvalError> {
    Expression::prepare(expression, &Parameters::new())?.eval(event)
}

/// Why an expression has no answer.
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
