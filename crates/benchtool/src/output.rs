//! Rows on standard output.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use tamias::{Cell, Kind, Row, Rows};

use crate::cli::Format;
use crate::failure::Failure;
use crate::instants::Shown;
use crate::units::printable_line;

/// Output is handed on whenever so many bytes have come together.
const OUTPUT_BYTES: usize = 64 << 10;

/// A table is laid out so many rows at a time, so that it takes bounded memory however many rows there are.
const TABLE_ROWS: usize = 1000;

/// A terminal that says it is narrower than this is taken for one of the usual width.
const TABLE_COLUMNS_MIN: u16 = 20;
const TABLE_COLUMNS_USUAL: u16 = 80;

/// Writes all rows, and tells how many there were.
pub(crate) fn write_rows(
    rows: &mut Rows,
    format: Format,
    shown: &Shown,
    out: &mut impl Write,
) -> Result<u64, Failure> {
    let columns = rows.columns().iter().map(|name| Cow::Borrowed(name.as_str()));
    let text = match format {
        Format::Table => return write_tables(rows, shown, out),
        Format::Ndjson => TextFormat { head: Vec::new(), between: b"", write_row: &write_object, tail: b"" },
        Format::Json => {
            TextFormat { head: b"[\n".to_vec(), between: b",", write_row: &write_object, tail: b"]\n" }
        }
        Format::Csv => {
            let mut head = Vec::new();
            write_csv(columns, &mut head);
            TextFormat {
                head,
                between: b"",
                write_row: &|row, out| write_csv(row.cells().map(cell_text), out),
                tail: b"",
            }
        }
        Format::Markdown => {
            let mut head = Vec::new();
            write_markdown(columns, &mut head);
            head.extend_from_slice("|---".repeat(rows.columns().len()).as_bytes());
            head.extend_from_slice(b"|\n");
            TextFormat {
                head,
                between: b"",
                write_row: &|row, out| write_markdown(shown_texts(row, shown), out),
                tail: b"",
            }
        }
        Format::Parquet | Format::Arrow => {
            return Err(Failure::Usage("parquet and arrow go into a file; name it with --output".to_owned()));
        }
        Format::Raw => TextFormat { head: Vec::new(), between: b"", write_row: &write_raw, tail: b"" },
    };
    text.write(rows, out)
}

/// A format that needs to know no more than the row in hand.
struct TextFormat<'a> {
    head: Vec<u8>,
    between: &'static [u8],
    /// Appends a row with its line feed.
    write_row: &'a dyn Fn(&Row<'_>, &mut Vec<u8>),
    tail: &'static [u8],
}

impl TextFormat<'_> {
    fn write(self, rows: &mut Rows, out: &mut impl Write) -> Result<u64, Failure> {
        let failed = |error: io::Error| Failure::output(&error);
        let mut text = self.head;
        let mut count = 0;
        while let Some(row) = rows.next_row()? {
            if count > 0 {
                text.extend_from_slice(self.between);
            }
            count += 1;
            (self.write_row)(&row, &mut text);
            if text.len() >= OUTPUT_BYTES {
                out.write_all(&text).map_err(failed)?;
                text.clear();
            }
        }
        text.extend_from_slice(self.tail);
        out.write_all(&text).and_then(|()| out.flush()).map_err(failed)?;
        Ok(count)
    }
}

/// A string's text without quotes, everything else as JSON; nothing for undefined.
pub(crate) fn cell_text<'r>(cell: Cell<'r>) -> Cow<'r, str> {
    cell.text().unwrap_or_else(|| String::from_utf8_lossy(cell.json().unwrap_or_default()))
}

/// The cells as people want to read them.
fn shown_texts<'r>(row: &Row<'r>, shown: &Shown) -> impl Iterator<Item = Cow<'r, str>> {
    row.cells().enumerate().map(|(column, cell)| {
        let instant = cell.json().and_then(|json| shown.text(column, json));
        instant.map_or_else(|| cell_text(cell), Cow::Owned)
    })
}

/// As RFC 4180 has it, with line feeds between the rows.
fn write_csv<'a>(fields: impl Iterator<Item = Cow<'a, str>>, out: &mut Vec<u8>) {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if field.contains(['"', ',', '\n', '\r']) {
            out.push(b'"');
            out.extend_from_slice(field.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        } else {
            out.extend_from_slice(field.as_bytes());
        }
    }
    out.push(b'\n');
}

fn write_markdown<'a>(fields: impl Iterator<Item = Cow<'a, str>>, out: &mut Vec<u8>) {
    for field in fields {
        out.extend_from_slice(b"| ");
        out.extend_from_slice(printable_line(&field).replace('|', "\\|").as_bytes());
        out.push(b' ');
    }
    out.extend_from_slice(b"|\n");
}

fn write_object(row: &Row<'_>, out: &mut Vec<u8>) {
    row.write_ndjson(out);
}

fn write_raw(row: &Row<'_>, out: &mut Vec<u8>) {
    if let Some(text) = row.cells().map(cell_text).next() {
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'\n');
}

fn write_tables(rows: &mut Rows, shown: &Shown, out: &mut impl Write) -> Result<u64, Failure> {
    let mut count = 0;
    loop {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        // Some terminals do not know how wide they are.
        if table.width().is_some_and(|width| width < TABLE_COLUMNS_MIN) {
            table.set_width(TABLE_COLUMNS_USUAL);
        }
        table.set_header(rows.columns().iter().map(|name| printable_line(name).into_owned()));
        let mut rows_here = 0;
        while rows_here < TABLE_ROWS {
            let Some(row) = rows.next_row()? else { break };
            table.add_row(shown_texts(&row, shown).zip(row.cells()).map(|(text, cell)| {
                let is_number = cell.kind() == Kind::Number;
                let side = if is_number { CellAlignment::Right } else { CellAlignment::Left };
                comfy_table::Cell::new(printable_line(&text)).set_alignment(side)
            }));
            rows_here += 1;
        }
        // The header alone says that there are no rows at all.
        if rows_here > 0 || count == 0 {
            writeln!(out, "{table}").map_err(|error| Failure::output(&error))?;
        }
        count += rows_here as u64;
        if rows_here < TABLE_ROWS {
            out.flush().map_err(|error| Failure::output(&error))?;
            return Ok(count);
        }
    }
}

/// A line of text, at once.
pub(crate) fn write_line(out: &mut impl Write, text: &str) -> Result<(), Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<'a>(texts: &'a [&'a str]) -> impl Iterator<Item = Cow<'a, str>> {
        texts.iter().map(|text| Cow::Borrowed(*text))
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let mut out = Vec::new();
        write_csv(fields(&["plain", "", "a,b", "say \"hi\"", "two\nlines", " space "]), &mut out);
        assert_eq!(text_of(out), "plain,,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\", space \n");
    }

    #[test]
    fn markdown_keeps_its_cells_whole() {
        let mut out = Vec::new();
        write_markdown(fields(&["a|b", "two\nlines", ""]), &mut out);
        assert_eq!(text_of(out), "| a\\|b | two\\nlines |  |\n");
    }

    fn text_of(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }
}
