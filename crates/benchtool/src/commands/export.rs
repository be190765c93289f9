//! `benchtool export`

use std::io::Write;

use tamias::{Parameters, RunOptions, Statement};

use crate::cli::ExportArgs;
use crate::commands::query;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let mut parameters = Parameters::new();
    query::set_zone(&mut parameters, &args.time_zone)?;
    let condition = query::condition(args.condition.as_deref(), &parameters)?;
    let text = format!("select @Data from stream where {condition}");
    let asked = Statement::parse(&text)?.bind(&parameters)?;
    let store = super::read(&args.store, &args.reading)?;
    let options = RunOptions { threads: query::processors(), ..RunOptions::default() };
    let mut rows = store.run_with(&asked, options)?;
    let mut out = output::stdout();
    let mut write = || {
        while let Some(row) = rows.next_row()? {
            let document = row.get(0).and_then(|cell| cell.json()).unwrap_or_default();
            let written = out.write_all(document).and_then(|()| out.write_all(b"\n"));
            written.map_err(|error| Failure::output(&error))?;
        }
        out.flush().map_err(|error| Failure::output(&error))
    };
    write()
}
