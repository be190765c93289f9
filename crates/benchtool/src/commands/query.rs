//! `benchtool query`

use std::io::{self, IsTerminal, Read};
use std::num::NonZeroUsize;
use std::time::Instant;

use comfy_table::{ContentArrangement, Table, presets};
use tamias::{Kind, KindCounts, KindReport, LeftOut, Parameters, Query, Rows, RunOptions, Statement};

use crate::cli::{Format, OnDamage, Parameter, Period, QueryArgs};
use crate::failure::Failure;
use crate::instants::{Shown, Zone};
use crate::output;
use crate::output_file::OutputFile;
use crate::tell::tell;
use crate::units::{printable, printable_line};

pub(crate) fn run(args: &QueryArgs) -> Result<(), Failure> {
    let text = match args.query.as_str() {
        "-" => read_query()?,
        text => text.to_owned(),
    };
    let mut parameters = parameters(&args.params);
    set_zone(&mut parameters, &args.period.time_zone)?;
    let query = within(&Statement::parse(&text)?, &args.period)?.bind(&parameters)?;
    check_used(&args.params, &query)?;
    let store = super::read(&args.store, &args.reading)?;
    let mut out = output::stdout();
    let analyze = match query.is_explain() {
        Some(false) => return output::write_line(&mut out, query.explain().trim_end()),
        Some(true) => true,
        None => false,
    };
    let mut options =
        RunOptions { count_kinds: args.stats, measure: analyze, plain: args.plain, ..RunOptions::default() };
    options.deadline = args.deadline.and_then(|time| Instant::now().checked_add(time));
    options.memory_bytes = args.memory.unwrap_or(options.memory_bytes);
    options.threads = args.threads.unwrap_or_else(processors);
    let snapshot = store.snapshot()?;
    let run = || match args.on_damage {
        OnDamage::Fail => (snapshot.run(&query, options.clone()), LeftOut::default()),
        OnDamage::Skip => snapshot.run_past_damage(&query, options.clone()),
    };
    let (mut rows, left_out) = run();
    let count = if analyze {
        while rows.next_row()?.is_some() {}
        output::write_line(&mut out, rows.analysis().trim_end())?;
        rows.stats().rows
    } else {
        let is_table = args.output.is_none() && io::stdout().is_terminal();
        let format = args.format.unwrap_or(if is_table { Format::Table } else { Format::Ndjson });
        let shown = Shown::new(&query, &args.period.time_zone);
        match &args.output {
            None => output::write_rows(&mut rows, format, &shown, &mut out)?,
            Some(path) => {
                let mut file = OutputFile::create(path)?;
                let count = match file_format(format)? {
                    None => output::write_rows(&mut rows, format, &shown, &mut file)?,
                    // Of the same events: their values have the types that were seen.
                    Some(write) => write(&mut rows, &mut run().0, &query.instant_columns(), &mut file)?,
                };
                file.finish()?;
                count
            }
        }
    };
    if let Some(report) = rows.kinds() {
        tell!("{}", kind_table(&report));
    }
    tell_left_out(&left_out);
    tell_warnings(&rows);
    if count == 0 && args.exit_status { Err(Failure::NoRows) } else { Ok(()) }
}

/// Writes the rows of a query that is run twice, as columns that have types.
type WriteColumns = fn(&mut Rows, &mut Rows, &[bool], &mut OutputFile) -> Result<u64, Failure>;

/// How a file of columns is written; `None` for the formats that are text.
#[cfg(feature = "columnar")]
fn file_format(format: Format) -> Result<Option<WriteColumns>, Failure> {
    use crate::columnar::{Columns, FileFormat};
    Ok(match format {
        Format::Parquet => Some(|seen, rows, instants, file| {
            Columns::see(seen, instants)?.write(rows, FileFormat::Parquet, file)
        }),
        Format::Arrow => Some(|seen, rows, instants, file| {
            Columns::see(seen, instants)?.write(rows, FileFormat::Arrow, file)
        }),
        _ => None,
    })
}

#[cfg(not(feature = "columnar"))]
fn file_format(format: Format) -> Result<Option<WriteColumns>, Failure> {
    match format {
        Format::Parquet | Format::Arrow => Err(Failure::Usage(
            "this benchtool was built without parquet and arrow: \
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
    let Period { from, to, since, time_zone } = period;
    let read = |text: &Option<String>| match text {
        Some(text) => time_zone.read(text).map(Some).map_err(Failure::Usage),
        None => Ok(None),
    };
    let from = match since {
        Some(ticks) => tamias::Instant::from_ticks(tamias::Instant::now().ticks().saturating_sub(*ticks)),
        None => read(from)?,
    };
    Ok(statement.between(from, read(to)?))
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

/// Says what the rows do not cover.
fn tell_left_out(left_out: &LeftOut) {
    for damage in left_out.damage() {
        tell!("\x1b[1;33mleft out:\x1b[0m {}", printable(&damage.to_string()));
    }
}

/// Queries mean the same time zone as `--from` and `--to`.
pub(crate) fn set_zone(parameters: &mut Parameters, zone: &Zone) -> Result<(), Failure> {
    parameters.set_zone(&zone.name()).map(drop).map_err(|error| Failure::Usage(error.to_string()))
}

/// Beside the rows, never among them.
pub(crate) fn tell_warnings(rows: &Rows) {
    for warning in rows.warnings() {
        tell!("\x1b[1;33mwarning:\x1b[0m {}", printable(&warning.to_string()));
    }
}

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
