//! `benchtool query`

use std::io::{self, IsTerminal, Read};

use tamias::{LeftOut, Parameters, Query, Rows, RunOptions, Stats, Store};

use crate::cli::{Format, OnDamage, Parameter, QueryArgs};
use crate::failure::Failure;
use crate::output;
use crate::units::printable;

pub(crate) fn run(args: &QueryArgs) -> Result<(), Failure> {
    let text = match args.query.as_str() {
        "-" => read_query()?,
        text => text.to_owned(),
    };
    let query = Query::prepare_with(&text, &parameters(&args.params))?;
    let store = Store::open_read_only(&args.store)?;
    let mut out = output::stdout();
    let analyze = match query.is_explain() {
        Some(false) => return output::write_line(&mut out, query.explain().trim_end()),
        Some(true) => true,
        None => false,
    };
    let options = RunOptions::default();
    let (mut rows, left_out) = match args.on_damage {
        OnDamage::Fail => (store.run_with(&query, options)?, LeftOut::default()),
        OnDamage::Skip => store.run_past_damage(&query, options)?,
    };
    if analyze {
        let Stats { events, bytes, blocks, hits, rows, .. } = read_all(&mut rows)?;
        let plan = query.explain();
        let counts =
            format!("events: {events}, bytes: {bytes}, blocks: {blocks}, hits: {hits}, rows: {rows}");
        output::write_line(&mut out, &format!("{}\n{counts}", plan.trim_end()))?;
        tell_left_out(&left_out);
        return Ok(());
    }
    let usual = if io::stdout().is_terminal() { Format::Table } else { Format::Ndjson };
    let count = output::write_rows(&mut rows, args.format.unwrap_or(usual), &mut out)?;
    tell_left_out(&left_out);
    if count == 0 && args.exit_status { Err(Failure::NoRows) } else { Ok(()) }
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
        anstream::eprintln!("\x1b[1;33mleft out:\x1b[0m {}", printable(&damage.to_string()));
    }
}

fn read_all(rows: &mut Rows) -> Result<Stats, Failure> {
    while rows.next_row()?.is_some() {}
    Ok(*rows.stats())
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
