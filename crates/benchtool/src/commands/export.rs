//! `benchtool export`

use std::io::Write;

use tamias::{EventId, Parameters, RunOptions, Statement, push_line};

use crate::cli::ExportArgs;
use crate::commands::query;
use crate::failure::Failure;
use crate::output::{self, Written};
use crate::screen::Screen;
use crate::units::printable;

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let mut parameters = Parameters::new();
    query::set_zone(&mut parameters, &args.period.time_zone)?;
    let condition = query::condition(args.condition.as_deref(), &parameters)?;
    let columns = if args.ids { "@Data, @Id" } else { "@Data" };
    let text = format!("select {columns} from stream where {condition}");
    let asked = query::within(&Statement::parse(&text)?, &args.period)?.bind(&parameters)?;
    let store = super::read_once(&args.store, &args.reading)?;
    let options = RunOptions { threads: query::processors(), ..RunOptions::default() };
    let mut rows = store.run_with(&asked, options)?;
    let mut out = output::stdout();
    // In a JSON string a character means the same when it is spelt out.
    let is_terminal = Screen::of_stdout().is_terminal();
    let mut line = Vec::new();
    let mut write = || {
        while let Some(row) = rows.next_row()? {
            let mut document = row.get(0).and_then(|cell| cell.json()).unwrap_or_default();
            let id: Option<EventId> = match args.ids {
                true => row.get(1).and_then(|cell| cell.text()?.parse().ok()),
                false => None,
            };
            if let Some(id) = id {
                line.clear();
                push_line(id, document, &mut line);
                document = &line;
            }
            let safe;
            if is_terminal {
                safe = printable(&String::from_utf8_lossy(document)).into_owned();
                document = safe.as_bytes();
            }
            let written = out.write_all(document).and_then(|()| out.write_all(b"\n"));
            written.map_err(|error| Failure::output(&error))?;
        }
        out.flush().map_err(|error| Failure::output(&error))
    };
    write()?;
    let condition = args.condition.as_deref().unwrap_or_default();
    query::tell_warnings(&query::warnings(&rows, &store, condition, &asked)?);
    query::tell_search(args.condition.as_deref(), &rows, &args.store);
    let written = Written { rows: rows.stats().rows, ..Written::default() };
    query::tell_none(&written, &Screen::of_stdout(), &args.period, &store.info()?);
    Ok(())
}
