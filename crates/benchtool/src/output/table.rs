//! Rows as a table that fits the terminal.

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use tamias::{Cell, Instant, Kind};
use unicode_width::UnicodeWidthStr;

use super::row::{Look, RowWriter, flush, shown_text, write};
use super::vertical::VerticalRows;
use crate::failure::Failure;
use crate::units::{fit, printable_line};

/// A table is laid out so many rows at a time, so that it takes bounded memory however many rows there are.
const TABLE_ROWS: usize = 1000;

/// In a file a cell takes no more columns than this: what lays tables out counts them in 16 bits. Other formats show it whole.
const CELL_COLUMNS_MAX: usize = 30_000;

/// A column of text is not made narrower than this. HEURISTIC: less than that tells nothing.
const COLUMNS_MIN: usize = 8;

/// A table with more columns that are shortened tells less than a line for each key. HEURISTIC.
const CUT_MAX: usize = 5;

/// Rows as tables. On a terminal the widest columns are shortened; times and numbers stay whole. Rows that cannot fit so are
/// written a key a line.
pub(super) struct TableRows<'a> {
    look: Look<'a>,
    names: Vec<String>,
    /// The JSON texts of the rows that are not written yet.
    rows: Vec<Vec<Vec<u8>>>,
    written: usize,
    out: &'a mut dyn Write,
}

impl<'a> TableRows<'a> {
    pub(super) fn new(columns: &[String], look: Look<'a>, out: &'a mut dyn Write) -> Self {
        TableRows { look, names: columns.to_vec(), rows: Vec::new(), written: 0, out }
    }

    fn write_rows(&mut self) -> Result<(), Failure> {
        let rows = std::mem::take(&mut self.rows);
        let fields: Vec<Vec<Field>> = rows.iter().map(|row| self.fields(row)).collect();
        match table(&self.names, &fields, self.look.screen.columns()) {
            Some(table) => write(self.out, format!("{table}\n").as_bytes())?,
            None => {
                let mut vertical =
                    VerticalRows::continued(&self.names, self.look, self.written, &mut *self.out);
                for row in &rows {
                    vertical.row(&row.iter().map(|json| Cell::of_json(json)).collect::<Vec<_>>())?;
                }
                vertical.end()?;
            }
        }
        self.written += rows.len();
        Ok(())
    }

    fn fields(&self, row: &[Vec<u8>]) -> Vec<Field> {
        let field = |(column, json): (usize, &Vec<u8>)| {
            let cell = Cell::of_json(json);
            let text = shown_text(cell, column, self.look.shown);
            let is_name = self.names.get(column).is_some_and(|name| name == "@Id");
            match self.look.shown.is_instant(column) || is_name || is_time(cell, &text) {
                true => Field::whole(&text),
                false if cell.kind() == Kind::Number => Field::number(&text),
                false => Field::text(&text),
            }
        };
        row.iter().enumerate().map(field).collect()
    }
}

/// Whether a cell is text that is a time in ISO 8601, as other logs have it.
fn is_time(cell: Cell<'_>, text: &str) -> bool {
    let begins_as_year = text.starts_with(|first: char| first.is_ascii_digit());
    cell.kind() == Kind::String && begins_as_year && text.parse::<Instant>().is_ok()
}

impl RowWriter for TableRows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        self.rows.push(cells.iter().map(|cell| cell.json().unwrap_or_default().to_vec()).collect());
        if self.rows.len() == TABLE_ROWS { self.write_rows() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), Failure> {
        // The header alone says that there are no rows at all.
        if !self.rows.is_empty() || self.written == 0 {
            self.write_rows()?;
        }
        flush(self.out)
    }
}

/// What stands in a table, in one line.
pub(crate) struct Field {
    text: String,
    is_whole: bool,
    side: CellAlignment,
}

impl Field {
    /// A text that may be shortened.
    pub(crate) fn text(text: &str) -> Field {
        Field { text: printable_line(text).into_owned(), is_whole: false, side: CellAlignment::Left }
    }

    pub(super) fn as_text(&self) -> &str {
        &self.text
    }

    /// A text that may not: half of it would mislead.
    pub(crate) fn whole(text: &str) -> Field {
        Field { is_whole: true, ..Field::text(text) }
    }

    /// A number, which stands on the right.
    pub(crate) fn number(text: &str) -> Field {
        Field { side: CellAlignment::Right, ..Field::whole(text) }
    }
}

/// Rows as a table in at most so many columns of a terminal; none if they cannot fit.
pub(crate) fn table(names: &[String], rows: &[Vec<Field>], columns: Option<usize>) -> Option<Table> {
    let names: Vec<Field> = names.iter().map(|name| Field::text(name)).collect();
    let (mut natural, mut least) = (vec![0; names.len()], vec![0; names.len()]);
    for row in std::iter::once(&names).chain(rows) {
        for (field, (natural, least)) in row.iter().zip(natural.iter_mut().zip(&mut least)) {
            let width = field.text.width();
            *natural = width.max(*natural);
            *least = (if field.is_whole { width } else { width.min(COLUMNS_MIN) }).max(*least);
        }
    }
    let widths = match columns {
        // A line before each column, a blank on either side of its text, and a line behind the last.
        Some(columns) => {
            let widths = shortened(&natural, &least, columns.checked_sub(3 * natural.len() + 1)?)?;
            let cut = widths.iter().zip(&natural).filter(|(width, natural)| width < natural).count();
            (cut <= CUT_MAX).then_some(widths)?
        }
        None => natural.into_iter().map(|width: usize| width.min(CELL_COLUMNS_MAX)).collect(),
    };
    let fitted = |row: &[Field]| -> Vec<comfy_table::Cell> {
        let fields = row.iter().zip(&widths);
        let cell = |(field, width): (&Field, &usize)| {
            comfy_table::Cell::new(fit(&field.text, *width)).set_alignment(field.side)
        };
        fields.map(cell).collect()
    };
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(fitted(&names));
    rows.iter().for_each(|row| {
        table.add_row(fitted(row));
    });
    Some(table)
}

/// Widths that take no more room together, the widest made narrower first, and none less than its least.
fn shortened(natural: &[usize], least: &[usize], room: usize) -> Option<Vec<usize>> {
    if least.iter().sum::<usize>() > room {
        return None;
    }
    let at_most = |most: usize| -> Vec<usize> {
        natural.iter().zip(least).map(|(natural, least)| (*natural).min(most.max(*least))).collect()
    };
    let fits = |most: usize| at_most(most).iter().sum::<usize>() <= room;
    // No column is wider than all of the room, and with no room each has its least.
    let mut fitting = 0..natural.iter().copied().max().unwrap_or(0).min(room) + 1;
    while fitting.len() > 1 {
        let middle = fitting.start + fitting.len() / 2;
        if fits(middle) {
            fitting.start = middle;
        } else {
            fitting.end = middle;
        }
    }
    let mut widths = at_most(fitting.start);
    // What is left goes to the first that can take it.
    let mut left = room - widths.iter().sum::<usize>();
    for (width, natural) in widths.iter_mut().zip(natural) {
        let more = left.min(natural - *width).min(1);
        (*width, left) = (*width + more, left - more);
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cell of more than 65,535 columns used to become two rows.
    #[test]
    fn a_row_is_one_line_however_long_its_cells_are() {
        let names = ["a".to_owned(), "b".to_owned()];
        let rows = vec![vec![Field::text(&"x".repeat(70_000)), Field::number(&"1".repeat(70_000))]];
        let table = table(&names, &rows, None).unwrap().to_string();
        assert_eq!(table.lines().count(), 5, "its frame, its header and its row");
    }

    #[test]
    fn the_widest_columns_give_way() {
        assert_eq!(shortened(&[20, 5, 60], &[20, 5, 10], 70), Some(vec![20, 5, 45]));
        assert_eq!(shortened(&[40, 5, 60], &[10, 5, 10], 66), Some(vec![31, 5, 30]));
        assert_eq!(shortened(&[4, 5, 6], &[4, 5, 6], 70), Some(vec![4, 5, 6]));
        assert_eq!(shortened(&[20, 30], &[20, 30], 49), None);
        assert_eq!(shortened(&[20, 30], &[20, 10], 30), Some(vec![20, 10]));
    }
}
