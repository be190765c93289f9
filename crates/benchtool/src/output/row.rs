//! What all formats share: how rows are shown, and what writes them.

use std::borrow::Cow;
use std::io::Write;

use tamias::Cell;

use crate::cli::Format;
use crate::failure::Failure;
use crate::instants::Shown;
use crate::screen::Screen;

/// Takes rows one after another, and writes them.
pub(crate) trait RowWriter {
    /// Takes a row. It may be written later.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure>;

    /// Writes what is still to be written.
    fn end(&mut self) -> Result<(), Failure>;
}

/// How rows are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) format: Format,
    pub(crate) shown: &'a Shown,
    pub(crate) screen: Screen,
}

/// A string's text without quotes, everything else as JSON; nothing for undefined.
fn cell_text<'r>(cell: Cell<'r>) -> Cow<'r, str> {
    cell.text().unwrap_or_else(|| String::from_utf8_lossy(cell.json().unwrap_or_default()))
}

/// The cell as people want to read it: an instant as a time.
pub(super) fn shown_text<'r>(cell: Cell<'r>, column: usize, shown: &Shown) -> Cow<'r, str> {
    let instant = cell.json().and_then(|json| shown.text(column, json));
    instant.map_or_else(|| cell_text(cell), Cow::Owned)
}

/// The text of a JSON value: of a string what it says.
pub(super) fn json_text(json: &[u8]) -> Cow<'_, str> {
    cell_text(Cell::of_json(json))
}

/// Writes, and says what was wrong.
pub(super) fn write(out: &mut dyn Write, text: &[u8]) -> Result<(), Failure> {
    out.write_all(text).map_err(|error| Failure::output(&error))
}

pub(super) fn flush(out: &mut dyn Write) -> Result<(), Failure> {
    out.flush().map_err(|error| Failure::output(&error))
}
