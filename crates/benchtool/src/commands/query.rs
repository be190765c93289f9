//! `benchtool query`

use std::ffi::OsStr;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;

use clap::ValueEnum;
use comfy_table::{ContentArrangement, Table, presets};
use jiff::Timestamp;
use tamias::{
    Expression, Info, Instant, Kind, KindCounts, KindReport, LeftOut, Parameters, Query, Rows, RunOptions,
    Statement, Store, Warning,
};

use crate::cli::{Format, OnDamage, Parameter, Period, QueryArgs, Showing};
use crate::failure::Failure;
use crate::foreign::quoted;
use crate::instants::{Shown, Zone};
use crate::misread::Misread;
use crate::names::Names;
use crate::nested::{self, PATIENCE, after};
use crate::output::{self, LATEST_ROWS, Latest, Look, Which, Written};
use crate::output_file::OutputFile;
use crate::pager::{Finished, Out};
use crate::program;
use crate::screen::Screen;
use crate::signals::{self, Cancels};
use crate::tell::{self, tell};
use crate::units::{counted, printable_line};

pub(crate) fn run(args: &QueryArgs) -> Result<(), Failure> {
    let given = match args.query.as_str() {
        "-" => read_query()?,
        text => text.to_owned(),
    };
    let text = given.trim_end();
    let text = text.strip_suffix(';').unwrap_or(text);
    // As for other commands, `-` is the standard output.
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let screen = if output.is_some() { Screen::FILE } else { Screen::of_stdout() };
    let mut parameters = parameters(&args.params);
    set_zone(&mut parameters, &args.period.time_zone)?;
    let bound = asked(text, args, &screen).and_then(|(statement, which)| {
        let query = statement.bind(&parameters)?;
        check_used(&args.params, &query)?;
        Ok((query, which))
    });
    // A shell replaces `$id` in double quotes, mostly by nothing.
    let told = |error: String| {
        let is_taken = !args.params.is_empty() && !text.contains('$');
        let hint = if is_taken { IN_SINGLE_QUOTES } else { "" };
        format!("{error}{hint}")
    };
    let (query, which) = bound.map_err(|failure| match failure {
        Failure::Query(error) => Failure::Query(told(error)),
        Failure::Usage(error) => Failure::Usage(told(error)),
        other => other,
    })?;
    args.showing.format.map(file_format).transpose()?;
    let store = super::read_once(&args.store, &args.reading)?;
    let analyze = match query.is_explain() {
        Some(false) => return output::write_line(&mut output::stdout(), query.explain().trim_end()),
        Some(true) => true,
        None => false,
    };
    let mut options =
        RunOptions { count_kinds: args.stats, measure: analyze, plain: args.plain, ..RunOptions::default() };
    options.deadline = args.deadline.and_then(|time| std::time::Instant::now().checked_add(time));
    options.memory_bytes = args.memory.unwrap_or(options.memory_bytes);
    options.threads = args.threads.unwrap_or_else(processors);
    let snapshot = store.snapshot()?;
    let (mut rows, left_out) = match args.on_damage {
        OnDamage::Fail => (snapshot.run(&query, options), LeftOut::default()),
        OnDamage::Skip => snapshot.run_past_damage(&query, options),
    };
    let written = if analyze {
        while rows.next_row()?.is_some() {}
        output::write_line(&mut output::stdout(), rows.analysis().trim_end())?;
        Written { rows: rows.stats().rows, ..Written::default() }
    } else if let Some(path) = output {
        write_file(&mut rows, &query, which, &args.showing, &args.period.time_zone, path, &args.store)?
    } else {
        let shown = show(&mut rows, &query, which, &args.period.time_zone, &args.showing, screen);
        // A chart of no numbers may have come of what is warned of.
        if let Err(Failure::Query(_)) = &shown {
            tell_warnings(&warnings(&rows, &store, text, &query)?);
        }
        shown?
    };
    if let Some(report) = rows.kinds() {
        tell!("{}", kind_table(&report));
    }
    for damage in left_out.damage() {
        tell::left_out(damage);
    }
    tell_warnings(&warnings(&rows, &store, text, &query)?);
    tell_none(&written, &screen, &args.period, &snapshot.info());
    if let Some(id) = written.next_page {
        tell!("next page: --after {id}");
    }
    if written.rows == 0 && args.exit_status { Err(Failure::NoRows) } else { Ok(()) }
}

const IN_SINGLE_QUOTES: &str =
    "\nIn a shell, put a query with `$` into single quotes; between double quotes the shell replaces it.";

/// The query that is run, and which of its rows are written.
fn asked(text: &str, args: &QueryArgs, screen: &Screen) -> Result<(Statement, Which), Failure> {
    if text.trim().is_empty() {
        return Err(Failure::Query("the query is empty".to_owned()));
    }
    let statement = within(&Statement::parse(text)?, &args.period)?;
    let Some(limit) = args.limit else { return Ok(latest(statement, screen)) };
    let after = args.after.map(|id| id.to_string());
    match statement.page(after.as_deref(), limit.saturating_add(1)) {
        // One more tells whether there is another page.
        Some(page) => Ok((page, Which::Page(limit))),
        None => Err(Failure::Usage(
            "--limit needs a query without a `limit` that gives one row per event in order of time"
                .to_owned(),
        )),
    }
}

/// On a terminal the latest rows of a query that does not say which.
pub(crate) fn latest(statement: Statement, screen: &Screen) -> (Statement, Which) {
    match statement.latest(LATEST_ROWS + 1).filter(|_| screen.is_terminal()) {
        Some(latest) => (latest, Which::Reversed(LATEST_ROWS)),
        None => (statement, Which::All),
    }
}

/// Writes rows to the standard output.
pub(crate) fn show(
    rows: &mut Rows,
    query: &Query,
    which: Which,
    zone: &Zone,
    showing: &Showing,
    screen: Screen,
) -> Result<Written, Failure> {
    let usual = if screen.is_terminal() { output::usual_format(rows.columns()) } else { Format::Ndjson };
    let shown = Shown::new(query, zone, showing.ticks);
    let look = Look { format: showing.format.unwrap_or(usual), shown: &shown, screen };
    // Sorting and grouping give nothing before they have read all.
    let mut out = Out::open(&screen, !showing.paging.no_pager)
        .at_end(matches!(which, Which::Reversed(_)))
        .during("running the query");
    // Ctrl-C ends the query, and leaves the terminal to the pager.
    let cancels = screen.is_terminal().then(|| {
        signals::catch_for_queries()?;
        Cancels::query(&rows.cancel_handle())
    });
    let cancels = cancels.transpose()?;
    let mut left_out = None;
    let written = match which {
        Which::Reversed(most) => Latest::read(rows, most).and_then(|latest| {
            left_out = latest.has_more.then(|| {
                let most = counted(most, "row");
                format!("showing only the latest {most}; add a condition, a limit or --since to see others")
            });
            // Through a pager it is on the first screen, too: what is told behind the rows comes when the pager has ended.
            if let Some(left_out) = left_out.as_ref().filter(|_| out.may_page()) {
                output::write_line(&mut out, left_out)?;
            }
            latest.write(look, &mut out)
        }),
        Which::All | Which::Page(_) => look.write_rows(rows, which, &mut out),
    };
    let Finished { done, paged } = out.finish(written)?;
    drop(cancels);
    if let Some(left_out) = left_out {
        tell!("{left_out}");
    }
    // Who has seen enough has seen rows.
    let shown = match which {
        Which::Reversed(most) | Which::Page(most) => rows.stats().rows.min(most),
        Which::All => rows.stats().rows,
    };
    let written = done.unwrap_or_else(|| Written { rows: shown, ..Written::default() });
    Ok(Written { paged, ..written })
}

/// Writes rows into the file of this name, which takes its place when it is whole. Ctrl-C ends the query, and nothing is left beside it.
pub(crate) fn write_file(
    rows: &mut Rows,
    query: &Query,
    which: Which,
    showing: &Showing,
    zone: &Zone,
    path: &Path,
    store: &Path,
) -> Result<Written, Failure> {
    let format = showing.format.map_or_else(|| format_of(path), Ok)?;
    let shown = Shown::new(query, zone, showing.ticks);
    signals::catch_for_queries()?;
    let cancels = Cancels::query(&rows.cancel_handle())?;
    let mut file = OutputFile::create(path, store)?;
    let written = match file_format(format)? {
        None => Look { format, shown: &shown, screen: Screen::FILE }.write_rows(rows, which, &mut file)?,
        Some(_) if matches!(which, Which::Page(_)) => {
            return Err(Failure::Usage("--limit cannot be used with parquet and arrow files".to_owned()));
        }
        Some(write) => {
            let rows = write(rows, &query.instant_columns(), &mut file)?;
            Written { rows, ..Written::default() }
        }
    };
    file.finish()?;
    drop(cancels);
    Ok(written)
}

/// The format that the extension of a file names.
pub(crate) fn format_named(path: &Path) -> Option<Format> {
    match path.extension().and_then(OsStr::to_str)? {
        "md" => Some(Format::Markdown),
        "jsonl" => Some(Format::Ndjson),
        extension => Format::from_str(extension, true).ok(),
    }
}

/// The format of a file by its name. A pipe or a device has none.
fn format_of(path: &Path) -> Result<Format, Failure> {
    let format = format_named(path);
    let is_special = || path.metadata().is_ok_and(|data| !data.is_file());
    format.or_else(|| is_special().then_some(Format::Ndjson)).ok_or_else(|| {
        let path = path.display();
        Failure::Usage(format!(
            "{path}: the extension selects no format; use --format csv, ndjson, json or another one (in the shell: .mode csv)"
        ))
    })
}

/// Writes the rows of a query as columns that have types.
type WriteColumns = fn(&mut Rows, &[bool], &mut OutputFile) -> Result<u64, Failure>;

/// How a file of columns is written; `None` for the formats that are text.
#[cfg(feature = "columnar")]
fn file_format(format: Format) -> Result<Option<WriteColumns>, Failure> {
    use crate::columnar::{self, FileFormat};
    Ok(match format {
        Format::Parquet => {
            Some(|rows, instants, file| columnar::write(rows, instants, FileFormat::Parquet, file))
        }
        Format::Arrow => {
            Some(|rows, instants, file| columnar::write(rows, instants, FileFormat::Arrow, file))
        }
        _ => None,
    })
}

#[cfg(not(feature = "columnar"))]
fn file_format(format: Format) -> Result<Option<WriteColumns>, Failure> {
    match format {
        Format::Parquet | Format::Arrow => Err(Failure::Usage(
            "this program was built without parquet and arrow: \
             cargo install --path crates/benchtool --features columnar"
                .to_owned(),
        )),
        _ => Ok(None),
    }
}

/// So many threads a query has that somebody waits for.
pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A parameter that the query does not have is a mistake, most likely a misspelt one.
fn check_used(given: &[Parameter], query: &Query) -> Result<(), Failure> {
    match given.iter().find(|parameter| !query.parameters().contains(&parameter.name)) {
        None => Ok(()),
        Some(Parameter { name, .. }) => {
            let there = match query.parameters() {
                [] => "it has no parameters".to_owned(),
                names => format!("its parameters are ${}", names.join(", $")),
            };
            Err(Failure::Usage(format!("--param {name}: there is no ${name} in the query; {there}")))
        }
    }
}

/// The kinds of values that the query met, as a table.
fn kind_table(report: &KindReport) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    let mut header = vec!["values of", "in", "all"];
    header.extend(KINDS.map(|(_, name)| name));
    header.push("passed over");
    table.set_header(header);
    let mut add = |of: &str, place: &str, counts: KindCounts, passed_over: String| {
        let kinds = KINDS.map(|(kind, _)| counts.of(kind).to_string());
        let row = [printable_line(of).into_owned(), place.to_owned(), counts.all().to_string()];
        table.add_row(row.into_iter().chain(kinds).chain([passed_over]));
    };
    for path in &report.paths {
        let place = if path.is_tested { "events tested" } else { "events that passed" };
        add(&path.path, place, path.counts, String::new());
    }
    for aggregate in &report.aggregates {
        let passed_over = aggregate.passed_over.to_string();
        add(&aggregate.aggregate, "events that passed", aggregate.counts, passed_over);
    }
    table
}

/// The kinds in the order of the table's columns.
const KINDS: [(Kind, &str); 7] = [
    (Kind::Number, "numbers"),
    (Kind::String, "strings"),
    (Kind::Boolean, "Booleans"),
    (Kind::Null, "null"),
    (Kind::Undefined, "missing"),
    (Kind::Array, "arrays"),
    (Kind::Object, "objects"),
];

/// The query for the events of a period.
pub(crate) fn within(statement: &Statement, period: &Period) -> Result<Statement, Failure> {
    let (from, to) = bounds(period)?;
    Ok(statement.between(from, to))
}

/// The instants that a period begins and ends at.
fn bounds(period: &Period) -> Result<(Option<Instant>, Option<Instant>), Failure> {
    let Period { from, to, since, time_zone } = period;
    let now = Timestamp::now();
    let named = |option: &'static str| move |error: String| Failure::Usage(format!("{option}: {error}"));
    let moment = |text: &String| time_zone.moment(text, now);
    let from = match since {
        Some(since) => Some(time_zone.since(since, now).map_err(named("--since"))?),
        None => from.as_ref().map(moment).transpose().map_err(named("--from"))?,
    };
    let to = to.as_ref().map(moment).transpose().map_err(named("--to"))?;
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(Failure::Usage(format!("the period ends, at {to}, before it begins, at {from}")));
    }
    Ok((from, to))
}

/// The text of a condition that was given by itself, to be part of a query; a place in its errors is one in this text.
pub(crate) fn condition(text: Option<&str>, parameters: &Parameters) -> Result<String, Failure> {
    let Some(text) = text else { return Ok("true".to_owned()) };
    if begins_with_where(text) {
        let error = "a condition stands here without `where`: leave that word out, as in 'Elapsed > 200'";
        return Err(Failure::Query(error.to_owned()));
    }
    Expression::prepare(text, parameters)?;
    // It may end with a comment.
    Ok(format!("({text}\n)"))
}

/// Whether a condition begins with the keyword; `where = 'here'` means a key of that name, and the parser tells how that is written.
fn begins_with_where(text: &str) -> bool {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let next = rest.split_whitespace().next().unwrap_or_default();
    let is_operator =
        next.starts_with(['=', '<', '>', '.', '[', '+', '*', '%']) || ["-", "/"].contains(&next);
    let is_word = ["in", "is", "like", "and", "or"].iter().any(|word| next.eq_ignore_ascii_case(word));
    word.eq_ignore_ascii_case("where") && !is_operator && !is_word
}

/// Reads the query from the standard input, no more of it than a query may have and a little.
fn read_query() -> Result<String, Failure> {
    let mut text = Vec::new();
    let read = io::stdin().lock().take(QUERY_BYTES_READ).read_to_end(&mut text);
    read.map_err(|error| Failure::Io(format!("standard input: {error}")))?;
    String::from_utf8(text)
        .map_err(|_| Failure::Query("the query on the standard input is not UTF-8".to_owned()))
}

/// More than a query may have: what is longer is told by the parser.
const QUERY_BYTES_READ: u64 = 1 << 20;

/// Queries mean the same time zone as `--from` and `--to`.
pub(crate) fn set_zone(parameters: &mut Parameters, zone: &Zone) -> Result<(), Failure> {
    parameters.set_zone(zone.name()).map(drop).map_err(|error| Failure::Usage(error.to_string()))
}

/// Somebody who looks at nothing should know that there is nothing, and where there is something.
pub(crate) fn tell_none(written: &Written, screen: &Screen, period: &Period, info: &Info) {
    let is_bounded = period.from.is_some() || period.to.is_some() || period.since.is_some();
    let shown = |instant: Instant| period.time_zone.text(instant.ticks()).unwrap_or_default();
    if written.rows > 0 || !screen.is_terminal() {
        // A row may be the count of no events.
        if let (Some((_, last)), Ok((Some(from), _))) = (info.time_range, bounds(period))
            && from > last
        {
            tell!("note: the period begins after the latest event, which is of {}", shown(last));
        }
        return;
    }
    match info.time_range.filter(|_| is_bounded) {
        Some((first, last)) => {
            tell!("no rows; the events of the store are from {} to {}", shown(first), shown(last));
        }
        None => tell!("no rows"),
    }
}

/// What may mislead about the rows of a query that has run, which somebody wrote as this text.
pub(crate) fn warnings(
    rows: &Rows,
    store: &Store,
    text: &str,
    query: &Query,
) -> Result<Vec<String>, Failure> {
    let mut found = rows.warnings();
    let [level, message] = name_warnings(store, text)?;
    let is_unknown = found.iter().any(|warning| matches!(warning, Warning::UnknownKey { .. }));
    let misread = if is_unknown { Misread::of(store, text, after(PATIENCE)) } else { Vec::new() };
    let parts: Vec<&str> = misread.iter().flat_map(Misread::parts).collect();
    // It is told where the level and the message are instead; and `search --all` asks for the message by itself.
    let is_about_message = message.is_none() && text.to_ascii_lowercase().contains("@m");
    found.retain(|warning| match warning {
        Warning::NoLevels => level.is_none(),
        Warning::UnknownBuiltIn { built_in, .. } if built_in == "@Message" => is_about_message,
        Warning::UnknownKey { key, .. } | Warning::NeverNumber { key, .. } => !parts.contains(&key.as_str()),
        _ => true,
    });
    let mut warnings: Vec<String> = found.iter().map(ToString::to_string).collect();
    warnings.extend(misread.iter().map(Misread::warning));
    warnings.extend(level.into_iter().chain(message));
    warnings.extend(nested::warnings(store, query, &parts));
    Ok(warnings)
}

/// Whoever gives a single word as a condition, and no event has a key of that name, may look for a text.
pub(crate) fn tell_search(condition: Option<&str>, rows: &Rows, store: &Path) {
    let Some(word) = condition.map(str::trim) else { return };
    let is_word = |key: &String| key == word;
    if rows.warnings().iter().any(|told| matches!(told, Warning::UnknownKey { key, .. } if is_word(key))) {
        let store = quoted(&store.display().to_string());
        tell!("to look for the text: {} search {store} {}", program::name(), quoted(word));
    }
}

/// The number that is the only row.
pub(crate) fn count(rows: &mut Rows) -> Result<u64, Failure> {
    let mut number = None;
    while let Some(row) = rows.next_row()? {
        number = row.get(0).and_then(|cell| std::str::from_utf8(cell.json()?).ok()?.parse().ok());
    }
    Ok(number.unwrap_or(0))
}

/// Beside the rows, never among them.
pub(crate) fn tell_warnings(warnings: &[String]) {
    warnings.iter().for_each(tell::warning);
}

/// What to say where a query names the level or the message, and the events have them under other keys.
fn name_warnings(store: &Store, query: &str) -> Result<[Option<String>; 2], Failure> {
    if !query.contains("@Level") && !query.contains("@Message") {
        return Ok([None, None]);
    }
    let first = format!("select @Data from stream limit {EVENTS_LOOKED_AT}");
    let first = Statement::parse(&first)?.bind(&Parameters::new())?;
    let mut rows = store.run_with(&first, RunOptions::default())?;
    let mut names = Names::default();
    // Damage is told by the query itself, where it meets it.
    while let Ok(Some(row)) = rows.next_row() {
        names.look(row.get(0).and_then(|cell| cell.json()).unwrap_or_default(), [None; 2]);
    }
    Ok(names.warnings(query))
}

/// So many events tell which keys a log has.
const EVENTS_LOOKED_AT: u64 = 20;

/// What reads as JSON is that, everything else is text.
pub(crate) fn parameters(given: &[Parameter]) -> Parameters {
    let mut parameters = Parameters::new();
    for Parameter { name, value } in given {
        if parameters.set_json(name, value).is_err() {
            parameters.set_text(name, value);
        }
    }
    parameters
}
