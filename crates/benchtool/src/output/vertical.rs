//! Rows a key a line.

use std::io::Write;

use tamias::Cell;
use tamias_json::Document;
use unicode_width::UnicodeWidthStr;

use super::row::{Look, RowWriter, flush, json_text, shown_text, write};
use crate::failure::Failure;
use crate::units::{fit, printable, printable_line};
use crate::wrap::wrap;

/// How wide the names of keys are shown at most.
const NAME_COLUMNS_MAX: usize = 32;

/// Rows a key a line, an event's own keys among them.
pub(super) struct VerticalRows<'a> {
    look: Look<'a>,
    names: Vec<String>,
    written: usize,
    out: &'a mut dyn Write,
}

impl<'a> VerticalRows<'a> {
    pub(super) fn new(columns: &[String], look: Look<'a>, out: &'a mut dyn Write) -> Self {
        VerticalRows::continued(columns, look, 0, out)
    }

    /// Of which so many rows have been written before.
    pub(super) fn continued(
        columns: &[String],
        look: Look<'a>,
        written: usize,
        out: &'a mut dyn Write,
    ) -> Self {
        VerticalRows { look, names: columns.to_vec(), written, out }
    }

    /// The keys of a row with the texts of their values; of an event each key is one.
    fn lines(&self, cells: &[Cell<'_>]) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        for (column, (name, cell)) in self.names.iter().zip(cells).enumerate() {
            let Some(json) = cell.json() else { continue };
            match Document::scan_trusted(json) {
                Ok(event) if name == "@Data" => lines.extend(event.root().entries().map(|(key, value)| {
                    (printable_line(&key.text()).into_owned(), json_text(value.raw()).into_owned())
                })),
                _ => {
                    let text = shown_text(*cell, column, self.look.shown).into_owned();
                    lines.push((printable_line(name).into_owned(), text));
                }
            }
        }
        lines
    }
}

impl RowWriter for VerticalRows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        self.written += 1;
        let text = block(self.written, &self.lines(cells), self.look.screen.columns());
        write(self.out, text.as_bytes())
    }

    fn end(&mut self) -> Result<(), Failure> {
        flush(self.out)
    }
}

/// Texts are not broken where there is less room for them.
const ROOM_MIN: usize = 20;

/// A row, the texts behind the names of their keys, broken between words where they do not fit the terminal.
pub(super) fn block(number: usize, lines: &[(String, String)], columns: Option<usize>) -> String {
    let width = lines.iter().map(|(name, _)| name.width()).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let mut text = format!("── row {number} ──\n");
    for (name, value) in lines {
        let name = fit(name, width);
        let blanks = " ".repeat(width - name.width().min(width));
        let value = printable(value);
        let room =
            columns.and_then(|columns| columns.checked_sub(width + 2)).filter(|room| *room >= ROOM_MIN);
        // Stack traces keep their lines.
        let value = room
            .map_or(value.to_string(), |room| wrap(&value, room, 0))
            .replace('\n', &format!("\n{}", " ".repeat(width + 2)));
        text.push_str(&format!("{name}{blanks}  {value}\n"));
    }
    text
}
