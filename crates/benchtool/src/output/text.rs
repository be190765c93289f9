//! Formats that are lines of text, a row or a few lines each: NDJSON, JSON, CSV, raw, Markdown.

use std::borrow::Cow;
use std::io::Write;

use tamias::Cell;
use tamias_json::write_json_string;

use super::row::{Look, RowWriter, flush, shown_text, write};
use crate::failure::Failure;
use crate::instants::Shown;
use crate::units::{printable, printable_line};

/// Output is handed on whenever so many bytes have come together.
const OUTPUT_BYTES: usize = 64 << 10;

/// Which of the formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Ndjson,
    Json,
    Csv,
    Raw,
    Markdown,
}

/// Rows as lines. A file or a pipe gets them exact; on a terminal control characters are spelt out.
pub(super) struct TextRows<'a> {
    form: Form,
    /// Of the columns, as JSON strings.
    names: Vec<Vec<u8>>,
    shown: &'a Shown,
    is_terminal: bool,
    text: Vec<u8>,
    has_rows: bool,
    out: &'a mut dyn Write,
}

impl<'a> TextRows<'a> {
    pub(super) fn new(form: Form, columns: &[String], look: Look<'a>, out: &'a mut dyn Write) -> Self {
        let names = columns.iter().map(|name| json_string(name)).collect();
        let mut text = Vec::new();
        let fields = columns.iter().map(|name| Cow::Borrowed(name.as_str()));
        match form {
            Form::Ndjson | Form::Raw => {}
            Form::Json => text.extend_from_slice(b"[\n"),
            Form::Csv => write_csv(fields, &mut text),
            Form::Markdown => {
                write_markdown(fields, &mut text);
                text.extend_from_slice("|---".repeat(columns.len()).as_bytes());
                text.extend_from_slice(b"|\n");
            }
        }
        let is_terminal = look.screen.is_terminal();
        TextRows { form, names, shown: look.shown, is_terminal, text, has_rows: false, out }
    }

    fn hand_on(&mut self) -> Result<(), Failure> {
        if self.is_terminal {
            write(self.out, printable(&String::from_utf8_lossy(&self.text)).as_bytes())?;
        } else {
            write(self.out, &self.text)?;
        }
        self.text.clear();
        Ok(())
    }
}

impl RowWriter for TextRows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        let TextRows { form, names, shown, text, .. } = self;
        let texts = cells.iter().enumerate().map(|(column, cell)| shown_text(*cell, column, shown));
        match form {
            Form::Ndjson => write_object(names, cells, shown, text),
            Form::Json => {
                if self.has_rows {
                    text.push(b',');
                }
                write_object(names, cells, shown, text);
            }
            Form::Csv => write_csv(texts, text),
            Form::Markdown => write_markdown(texts, text),
            Form::Raw => {
                if let Some(first) = texts.take(1).next() {
                    text.extend_from_slice(first.as_bytes());
                }
                text.push(b'\n');
            }
        }
        self.has_rows = true;
        if self.text.len() >= OUTPUT_BYTES { self.hand_on() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), Failure> {
        if self.form == Form::Json {
            self.text.extend_from_slice(b"]\n");
        }
        self.hand_on()?;
        flush(self.out)
    }
}

/// A text as a JSON string.
pub(super) fn json_string(text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + 2);
    write_json_string(text, &mut json);
    json
}

/// Appends a row as a JSON object and a line feed, without what is undefined.
pub(super) fn write_object(names: &[Vec<u8>], cells: &[Cell<'_>], shown: &Shown, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    for (column, (name, cell)) in names.iter().zip(cells).enumerate() {
        let Some(json) = cell.json() else { continue };
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        out.extend_from_slice(name);
        out.push(b':');
        match shown.text(column, json) {
            Some(instant) => write_json_string(&instant, out),
            None => out.extend_from_slice(json),
        }
    }
    out.extend_from_slice(b"}\n");
}

/// As RFC 4180 has it, with line feeds between the rows. A row of one empty field has quotes: readers pass over empty lines.
fn write_csv<'a>(fields: impl Iterator<Item = Cow<'a, str>>, out: &mut Vec<u8>) {
    let begin = out.len();
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
    if out.len() == begin {
        out.extend_from_slice(b"\"\"");
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
