//! `benchtool info`

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use tamias::Store;

use crate::cli::InfoArgs;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &InfoArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&args.store)?;
    super::warn_of_unnamed(&store)?;
    let info = store.info()?;
    let range = info.time_range.map_or("none".to_owned(), |(first, last)| format!("{first} to {last}"));
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "file",
        "bytes",
        "events",
        "value data (bytes)",
        "blocks",
        "in columns",
        "first",
        "last",
    ]);
    for column in 1..=5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let (mut file_bytes, mut column_bytes) = (0, 0);
    for segment in &info.segments {
        let (first, last) = segment.time_range;
        let name = segment.file.as_ref().and_then(|file| file.file_name());
        file_bytes += segment.file_bytes;
        if segment.column_blocks > 0 {
            column_bytes += segment.file_bytes;
        }
        table.add_row([
            name.map_or("(not sealed yet)".into(), |name| name.to_string_lossy().into_owned()),
            segment.file_bytes.to_string(),
            segment.events.to_string(),
            segment.bytes.to_string(),
            segment.blocks.to_string(),
            segment.column_blocks.to_string(),
            first.to_string(),
            last.to_string(),
        ]);
    }
    let mut out = output::stdout();
    write!(
        out,
        "store: \"{}\"\nevents (count): {}\nvalue data (bytes): {}\nfiles (bytes): {file_bytes}, those with columns: {column_bytes}\ntimestamp range: {range}\n\n{table}\n",
        args.store.display(),
        info.events,
        info.bytes,
    )
    .and_then(|()| out.flush())
    .map_err(|error| Failure::output(&error))
}
