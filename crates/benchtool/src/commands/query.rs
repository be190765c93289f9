//! `benchtool query`

use std::io::{self, IsTerminal};

use tamias::{Query, Store};

use crate::cli::{Format, QueryArgs};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &QueryArgs) -> Result<(), Failure> {
    let query = Query::prepare(&args.query)?;
    let store = Store::open_read_only(&args.store)?;
    let mut rows = store.run(&query)?;
    let usual = if io::stdout().is_terminal() { Format::Table } else { Format::Ndjson };
    let count = output::write_rows(&mut rows, args.format.unwrap_or(usual), &mut output::stdout())?;
    if count == 0 && args.exit_status { Err(Failure::NoRows) } else { Ok(()) }
}
