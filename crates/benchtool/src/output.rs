//! Rows on the standard output, in the format that is asked for.

mod chart;
mod level;
mod line_chart;
mod log;
mod row;
mod table;
mod text;
mod vertical;

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use tamias::{Cell, OwnedRow, Rows};

use crate::cli::Format;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::tell::tell;
use crate::units::printable;

use table::table;

pub(crate) use level::{LEVELS, at, is_level};
pub(crate) use log::MESSAGES;
pub(crate) use row::{Look, RowWriter};
pub(crate) use table::Field;

impl<'a> Look<'a> {
    /// What writes rows with columns of these names.
    pub(crate) fn writer(
        self,
        columns: &[String],
        out: &'a mut dyn Write,
    ) -> Result<Box<dyn RowWriter + 'a>, Failure> {
        let is_table = matches!(self.format, Format::Table | Format::Csv | Format::Markdown);
        if is_table && usual_format(columns) == Format::Log {
            tell!(
                "note: each event is one cell of these rows; `select Key, OtherKey` gives a column for each key"
            );
        }
        let form = match self.format {
            Format::Table => return Ok(Box::new(table::TableRows::new(columns, self, out))),
            Format::Log => return Ok(Box::new(log::LogRows::new(columns, self, out))),
            Format::Vertical => return Ok(Box::new(vertical::VerticalRows::new(columns, self, out))),
            Format::Chart => return Ok(Box::new(chart::ChartRows::new(columns, self, out))),
            Format::Ndjson => text::Form::Ndjson,
            Format::Json => text::Form::Json,
            Format::Csv => text::Form::Csv,
            Format::Raw => text::Form::Raw,
            Format::Markdown => text::Form::Markdown,
            Format::Parquet | Format::Arrow => {
                let text = "parquet and arrow are written to a file; name it with --output";
                return Err(Failure::Usage(text.to_owned()));
            }
        };
        Ok(Box::new(text::TextRows::new(form, columns, self, out)))
    }

    /// Writes all rows, of each all cells but the last few.
    pub(crate) fn write_rows(
        self,
        rows: &mut Rows,
        which: Which,
        out: &'a mut dyn Write,
    ) -> Result<Written, Failure> {
        if let Which::Reversed(most) = which {
            return Latest::read(rows, most)?.write(self, out);
        }
        let (hidden, most) = match which {
            Which::Page(most) => (1, most),
            Which::All | Which::Reversed(_) => (0, u64::MAX),
        };
        let columns = rows.columns().len().saturating_sub(hidden);
        let mut writer = self.writer(&rows.columns()[..columns], out)?;
        let mut written = Written::default();
        let mut last_id = None;
        while let Some(row) = rows.next_row()? {
            if written.rows == most {
                written.next_page = last_id;
                break;
            }
            written.rows += 1;
            writer.row(&row.cells().take(columns).collect::<Vec<Cell<'_>>>())?;
            last_id = row.get(columns).and_then(|id| id.text()).map(Cow::into_owned);
        }
        writer.end()?;
        Ok(written)
    }
}

/// Rows that came the latest first, all read, to be written in the opposite order.
pub(crate) struct Latest {
    columns: Vec<String>,
    rows: Vec<OwnedRow>,
    /// Whether there are earlier rows, which are not written.
    pub(crate) has_more: bool,
}

impl Latest {
    /// Reads so many rows, and whether there are more.
    pub(crate) fn read(rows: &mut Rows, most: u64) -> Result<Latest, Failure> {
        let mut latest = Latest { columns: rows.columns().to_vec(), rows: Vec::new(), has_more: false };
        while let Some(row) = rows.next_row()? {
            if latest.rows.len() as u64 == most {
                latest.has_more = true;
            } else {
                latest.rows.push(row.to_owned());
            }
        }
        Ok(latest)
    }

    /// Writes all of them.
    pub(crate) fn write(self, look: Look<'_>, out: &mut dyn Write) -> Result<Written, Failure> {
        let mut writer = look.writer(&self.columns, out)?;
        for row in self.rows.iter().rev() {
            writer.row(&row.cells().collect::<Vec<Cell<'_>>>())?;
        }
        writer.end()?;
        Ok(Written { rows: self.rows.len() as u64, ..Written::default() })
    }
}

/// So many rows are shown on a terminal of a query that does not say how many.
pub(crate) const LATEST_ROWS: u64 = 1000;

/// Which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// The first so many, in the opposite order: of rows that come the latest first.
    Reversed(u64),
    /// So many, without their last cell, which tells where the next page begins.
    Page(u64),
}

/// What became of the rows.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) rows: u64,
    /// How long a pager was waited for.
    pub(crate) paged: Duration,
    /// Where there is another page, what the event is called that it comes after.
    pub(crate) next_page: Option<String>,
}

/// The format of rows on a terminal where none is asked for: events as a log, everything else as a table.
pub(crate) fn usual_format(columns: &[String]) -> Format {
    match columns {
        [data] if data == "@Data" => Format::Log,
        [time, id, data] if time == "@Timestamp" && id == "@Id" && data == "@Data" => Format::Log,
        _ => Format::Table,
    }
}

/// A text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    String::from_utf8_lossy(&text::json_string(text)).into_owned()
}

/// A table that fits the terminal; where it cannot, its rows a key a line.
pub(crate) fn fitted(names: &[String], rows: &[Vec<Field>]) -> String {
    let columns = Screen::of_stdout().columns();
    match table(names, rows, columns) {
        Some(table) => table.to_string(),
        None => {
            let rows = rows.iter().enumerate().map(|(number, row)| {
                let lines =
                    names.iter().zip(row).map(|(name, field)| (name.clone(), field.as_text().to_owned()));
                vertical::block(number + 1, &lines.collect::<Vec<_>>(), columns)
            });
            rows.collect::<String>().trim_end().to_owned()
        }
    }
}

/// A line of text, at once. It may repeat data, and is made safe to look at where somebody does.
pub(crate) fn write_line(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    let text = if Screen::of_stdout().is_terminal() { printable(text) } else { Cow::Borrowed(text) };
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

/// What came of telling something whose exit code says more: a reader who has gone does not change that.
pub(crate) fn unless_closed(told: Result<(), Failure>) -> Result<(), Failure> {
    match told {
        Err(Failure::ClosedPipe) => Ok(()),
        told => told,
    }
}

/// Standard output, to be written in large pieces.
pub(crate) fn stdout() -> io::BufWriter<io::StdoutLock<'static>> {
    io::BufWriter::new(io::stdout().lock())
}
