//! `benchtool query`

use std::io::{self, IsTerminal};

use tamias::{Parameters, Query, Rows, Stats, Store};

use crate::cli::{Format, Parameter, QueryArgs};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &QueryArgs) -> Result<(), Failure> {
    let query = Query::prepare_with(&args.query, &parameters(&args.params))?;
    let store = Store::open_read_only(&args.store)?;
    let mut out = output::stdout();
    let analyze = match query.is_explain() {
        Some(false) => return output::write_line(&mut out, query.explain().trim_end()),
        Some(true) => true,
        None => false,
    };
    let mut rows = store.run(&query)?;
    if analyze {
        let Stats { events, bytes, blocks, hits, rows } = read_all(&mut rows)?;
        let plan = query.explain();
        let counts =
            format!("events: {events}, bytes: {bytes}, blocks: {blocks}, hits: {hits}, rows: {rows}");
        return output::write_line(&mut out, &format!("{}\n{counts}", plan.trim_end()));
    }
    let usual = if io::stdout().is_terminal() { Format::Table } else { Format::Ndjson };
    let count = output::write_rows(&mut rows, args.format.unwrap_or(usual), &mut out)?;
    if count == 0 && args.exit_status { Err(Failure::NoRows) } else { Ok(()) }
}

fn read_all(rows: &mut Rows) -> Result<Stats, Failure> {
    while rows.next_row()?.is_some() {}
    Ok(*rows.stats())
}

/// What reads as JSON is that, everything else is text.
fn parameters(given: &[Parameter]) -> Parameters {
    let mut parameters = Parameters::new();
    for Parameter { name, value } in given {
        if parameters.set_json(name, value).is_err() {
            parameters.set_text(name, value);
        }
    }
    parameters
}
