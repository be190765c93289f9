//! Rows of one block as columns: what a scan finds, and what operators take.

mod cell;
mod column;
mod decimals;
mod long;
mod magnitudes;
mod orders;
mod parts;
mod quotient;
mod quotients;
mod sides;
mod split;
mod stored;
mod units;
mod wide;

use cell::{cell, own, within};

pub(crate) use cell::{CellText, few_digits_of, mantissa_of, scalar_of, value_of};
pub(crate) use column::{Column, Digits, Entries, FewDigits, Form, Mantissas, Numbers, each_spelled, is_few};
pub(crate) use decimals::{Chain, DecimalValues, Decimals, Factor};
pub(crate) use stored::StoredNumbers;

pub(crate) use long::{product, quotient};
pub(crate) use magnitudes::ChainOp;
pub(crate) use orders::{BlockOrders, EventRows, Orders, OwnTimes};
pub(crate) use quotient::{ESTIMATE_ERROR, Quotient, short_quotient};
pub(crate) use quotients::{Quotients, Terms};
pub(crate) use split::Split;
pub(crate) use units::{SUMMED_MAX, Units, units_of};
pub(crate) use wide::Wide;

use crate::dictionary::Dictionary;
pub(crate) use crate::stored::Order;
use crate::value::Value;
use std::sync::Arc;
use tamias_json::Value as Stored;
use tamias_json::search::Span;

/// Columns of equal length, with the text of what was computed. It may outlive the scan, and cross threads.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    orders: Orders,
    /// Rows of which no more is known than that they are there.
    unordered: usize,
    text: Vec<u8>,
    dictionaries: Vec<Arc<Dictionary>>,
    /// Allocations of codes, to be used again.
    spare: Vec<Vec<u32>>,
    /// Bytes of the documents that cells stand for, where each was evaluated by itself: an event that gives many rows may repeat a large value
    /// in all of them.
    repeated: usize,
}

/// The columns together with the documents that they point into.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'c> {
    documents: &'c [u8],
    columns: &'c Columns,
}

/// So many rows are found at most before they are handed on; a window of events that are searched together may give more.
const ROWS_MAX: usize = 1024;
/// So many bytes of computed text.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// What the rows of a single event may take in memory before they are handed on.
const BYTES_MAX: usize = 16 << 20;

impl Columns {
    /// Empty columns of these forms.
    pub(crate) fn new(forms: impl Iterator<Item = Form>) -> Columns {
        Columns { columns: forms.map(Column::new).collect(), ..Columns::default() }
    }

    /// So many empty columns of values.
    pub(crate) fn of_values(columns: usize) -> Columns {
        Columns::new(std::iter::repeat_n(Form::Values, columns))
    }

    pub(crate) fn clear(&mut self) {
        self.orders.clear();
        self.unordered = 0;
        self.text.clear();
        self.dictionaries.clear();
        self.repeated = 0;
        for column in &mut self.columns {
            self.spare.extend(column.clear());
        }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.orders.len() + self.unordered
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Adds rows whose places in time make no difference.
    pub(crate) fn count_rows(&mut self, rows: usize) {
        self.unordered += rows;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= ROWS_MAX || self.has_much_text()
    }

    /// Whether they are full for their text, whatever their rows.
    pub(crate) fn has_much_text(&self) -> bool {
        self.text.len().saturating_add(self.repeated) >= TEXT_BYTES_MAX
    }

    /// Whether they take so much memory that not even the event in hand is gone on with.
    pub(crate) fn is_overfull(&self) -> bool {
        self.bytes().saturating_add(self.repeated) >= BYTES_MAX
    }

    /// What its rows take in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let row = size_of::<Order>() + self.columns.len() * size_of::<CellText>();
        self.len().saturating_mul(row).saturating_add(self.text.len())
    }

    /// What its allocations take. They do not become large.
    pub(crate) fn held_bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|of| size_of::<Column>() + of.held_bytes()).sum();
        columns + self.orders.held_bytes() + self.text.capacity()
    }

    /// Gives back what its allocations have to spare.
    pub(crate) fn shrink(&mut self) {
        self.orders.shrink();
        self.text.shrink_to_fit();
        for column in &mut self.columns {
            if let Column::Values(cells) = column {
                cells.shrink_to_fit();
            }
        }
    }

    /// Bytes of computed text.
    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Empty columns of the same forms, with room for as many rows.
    pub(crate) fn successor(&self) -> Columns {
        Columns {
            columns: self.columns.iter().map(Column::successor).collect(),
            orders: Orders::Each(Vec::with_capacity(self.len())),
            ..Columns::default()
        }
    }

    pub(crate) fn order(&self, row: usize) -> Option<Order> {
        self.orders.get(row)
    }

    /// Begins a row, the number of which it gives; each column is then given its value.
    pub(crate) fn begin_row(&mut self, order: Order) -> usize {
        self.orders.push(order);
        self.orders.len() - 1
    }

    /// Gives a column its next value, that of a row. `documents` are those of the block.
    pub(crate) fn push(&mut self, column: usize, row: usize, value: &Value<'_>, documents: &[u8]) {
        let Columns { columns, text, .. } = self;
        let row = row as u32;
        match columns.get_mut(column) {
            None
            | Some(
                Column::Nothing
                | Column::Entries(_)
                | Column::Mantissas(_)
                | Column::Keys(_)
                | Column::Decimals(_),
            ) => {}
            Some(Column::Values(cells)) => cells.push(cell(value, documents, text)),
            Some(Column::Numbers(numbers)) => {
                let few = match value {
                    Value::Number(number) => few_digits_of(number),
                    Value::Bool(_) | Value::Text(_) => None,
                    Value::Undefined | Value::Null | Value::Array(_) | Value::Object(_) => return,
                };
                match few {
                    Some((significand, scale)) => {
                        numbers.few.push(FewDigits { significand, scale, at: row });
                    }
                    None => numbers.others.push((row, cell(value, documents, text))),
                }
            }
        }
    }

    /// Gives a column of values its next one by its JSON text, which is empty for undefined.
    #[inline]
    pub(crate) fn push_text(&mut self, column: usize, json: &[u8]) {
        if let Some(Column::Values(cells)) = self.columns.get_mut(column) {
            cells.push(if json.is_empty() { CellText::Undefined } else { own(&mut self.text, json) });
        }
    }

    /// The last value of a column of values.
    #[inline]
    pub(crate) fn last_cell(&self, column: usize) -> Option<CellText> {
        match self.columns.get(column)? {
            Column::Values(cells) => cells.last().copied(),
            _ => None,
        }
    }

    /// Gives a column of values one that these columns have already.
    #[inline]
    pub(crate) fn push_again(&mut self, column: usize, cell: CellText) {
        if let CellText::Own { start, end } = cell {
            self.repeated += (end - start) as usize;
        }
        if let Some(Column::Values(cells)) = self.columns.get_mut(column) {
            cells.push(cell);
        }
    }

    /// The same of a whole number.
    #[inline]
    pub(crate) fn push_whole(&mut self, column: usize, whole: u64) {
        let (mut digits, mut rest, mut first) = ([0; 20], whole, 20);
        for (at, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (rest % 10) as u8;
            (first, rest) = (at, rest / 10);
            if rest == 0 {
                break;
            }
        }
        self.push_text(column, digits.get(first..).unwrap_or_default());
    }

    /// Gives a column its next value, the stored one of a key.
    #[inline]
    pub(crate) fn push_stored(
        &mut self,
        column: usize,
        row: usize,
        value: Option<Stored<'_>>,
        documents: &[u8],
    ) {
        if let Some(Column::Values(cells)) = self.columns.get_mut(column)
            && let Some(place) =
                value.map_or(Some(CellText::Undefined), |value| within(documents, value.raw()))
        {
            self.repeated += value.map_or(0, |value| value.raw().len());
            return cells.push(place);
        }
        self.push(column, row, &Value::maybe(value), documents);
    }

    /// Adds rows of events at these places in time; each column is then given its values.
    pub(crate) fn begin_rows(&mut self, orders: impl Iterator<Item = Order>) {
        self.orders.extend(orders);
    }

    /// Begins columns with rows that are events of a block.
    pub(crate) fn begin_block(&mut self, events: BlockOrders, rows: EventRows) {
        self.orders = Orders::OfBlock { events, rows };
    }

    /// Gives a column the values of the rows that were begun, from where they stand.
    pub(crate) fn push_places(&mut self, column: usize, places: impl Iterator<Item = Span>) {
        if let Some(Column::Values(cells)) = self.columns.get_mut(column) {
            cells.extend(places.map(|place| match place {
                Span::Value(start, end) => CellText::Block { start, end },
                Span::Absent | Span::Unsure => CellText::Undefined,
            }));
        }
    }

    /// The same, with another value, as JSON text, for those that have none.
    pub(crate) fn push_places_or(
        &mut self,
        column: usize,
        places: impl Iterator<Item = Span>,
        missing: &[u8],
    ) {
        let missing = own(&mut self.text, missing);
        if let Some(Column::Values(cells)) = self.columns.get_mut(column) {
            cells.extend(places.map(|place| match place {
                Span::Value(start, end) => CellText::Block { start, end },
                Span::Absent | Span::Unsure => missing,
            }));
        }
    }

    /// A column's cells, also where it has had entries of one dictionary.
    fn cells_mut(&mut self, column: usize) -> Option<&mut Vec<CellText>> {
        let Columns { columns, dictionaries, .. } = self;
        let column = columns.get_mut(column)?;
        if let Column::Entries(entries) = column {
            let dictionary = dictionaries.len() as u32;
            dictionaries.push(entries.dictionary.clone());
            let cells = entries.codes.iter().map(|code| CellText::Entry { dictionary, code: *code });
            *column = Column::Values(cells.collect());
        }
        match column {
            Column::Values(cells) => Some(cells),
            Column::Nothing
            | Column::Entries(_)
            | Column::Numbers(_)
            | Column::Mantissas(_)
            | Column::Keys(_)
            | Column::Decimals(_) => None,
        }
    }

    /// Takes a dictionary in, by the number of which cells name it.
    pub(crate) fn share(&mut self, dictionary: Arc<Dictionary>) -> u32 {
        self.dictionaries.push(dictionary);
        (self.dictionaries.len() - 1) as u32
    }

    /// Gives a column the values of the rows that were begun, as entries of a dictionary.
    pub(crate) fn push_entries(
        &mut self,
        column: usize,
        dictionary: &Arc<Dictionary>,
        codes: impl Iterator<Item = u32>,
    ) {
        if let Some(Column::Values(cells)) = self.columns.get(column)
            && cells.is_empty()
        {
            let (form, mut own) = (Form::Values, self.codes());
            own.extend(codes);
            let entries = Entries { form, dictionary: dictionary.clone(), codes: own };
            return self.set(column, Column::Entries(entries));
        }
        let dictionary = self.share(dictionary.clone());
        if let Some(cells) = self.cells_mut(column) {
            cells.extend(codes.map(|code| CellText::Entry { dictionary, code }));
        }
    }

    /// Gives a column of values so many that are undefined.
    pub(crate) fn push_undefined(&mut self, column: usize, rows: usize) {
        if let Some(cells) = self.cells_mut(column) {
            cells.extend(std::iter::repeat_n(CellText::Undefined, rows));
        }
    }

    /// An empty list for codes.
    pub(crate) fn codes(&mut self) -> Vec<u32> {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives all rows that were begun the values of a column.
    pub(crate) fn set(&mut self, column: usize, values: Column) {
        if let Some(place) = self.columns.get_mut(column) {
            *place = values;
        }
    }

    /// The lists of a column of numbers, for the rows from the `first` on to be added.
    pub(crate) fn numbers_mut(&mut self, column: usize) -> Option<&mut Numbers> {
        match self.columns.get_mut(column)? {
            Column::Numbers(numbers) => Some(numbers),
            Column::Nothing
            | Column::Values(_)
            | Column::Entries(_)
            | Column::Mantissas(_)
            | Column::Keys(_)
            | Column::Decimals(_) => None,
        }
    }

    /// Copies what its rows have of the documents. Who is given rows that another processor has made then reads on in one place,
    /// where it would fetch each cell anew. Nothing is copied, and false returned, where that is much.
    pub(crate) fn gather(&mut self, documents: &[u8]) -> bool {
        let Columns { columns, text, .. } = self;
        let cells = columns.iter().flat_map(|column| match column {
            Column::Values(cells) => cells.as_slice(),
            Column::Nothing
            | Column::Entries(_)
            | Column::Numbers(_)
            | Column::Mantissas(_)
            | Column::Keys(_)
            | Column::Decimals(_) => &[],
        });
        let bytes: usize = cells
            .map(|cell| match cell {
                CellText::Block { start, end } => end.saturating_sub(*start) as usize,
                CellText::Undefined | CellText::Own { .. } | CellText::Entry { .. } => 0,
            })
            .sum();
        if text.len().saturating_add(bytes) > TEXT_BYTES_MAX {
            return false;
        }
        text.reserve_exact(bytes);
        for row in 0..self.orders.len() {
            for column in &mut *columns {
                let Column::Values(cells) = column else { continue };
                if let Some(cell) = cells.get_mut(row)
                    && let CellText::Block { start, end } = *cell
                {
                    *cell = own(text, documents.get(start as usize..end as usize).unwrap_or_default());
                }
            }
        }
        true
    }

    /// Adds a row of another's columns of values, copying its text.
    pub(crate) fn push_row(&mut self, from: &Chunk<'_>, row: usize) {
        self.orders.push(from.columns.order(row).unwrap_or_default());
        for (nth, column) in self.columns.iter_mut().enumerate() {
            if let Column::Values(cells) = column {
                let json = from.json_at(nth, row);
                cells.push(if json.is_empty() { CellText::Undefined } else { own(&mut self.text, json) });
            }
        }
    }
}

impl<'c> Chunk<'c> {
    #[inline]
    pub(crate) fn new(columns: &'c Columns, documents: &'c [u8]) -> Chunk<'c> {
        Chunk { documents, columns }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The documents that its cells may stand in.
    pub(crate) fn documents(&self) -> &'c [u8] {
        self.documents
    }

    /// The number of columns.
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.columns.columns.len()
    }

    pub(crate) fn column(&self, column: usize) -> &'c Column {
        self.columns.columns.get(column).unwrap_or(&Column::Nothing)
    }

    /// The places in time of its rows.
    pub(crate) fn orders(&self) -> &'c Orders {
        &self.columns.orders
    }

    #[inline]
    pub(crate) fn order(&self, row: usize) -> Order {
        self.columns.orders.get(row).unwrap_or_default()
    }

    /// The JSON text of a cell; empty for undefined.
    #[inline]
    pub(crate) fn json(&self, cell: CellText) -> &'c [u8] {
        let (text, start, end): (&'c [u8], u32, u32) = match cell {
            CellText::Undefined => return &[],
            CellText::Block { start, end } => (self.documents, start, end),
            CellText::Own { start, end } => (&self.columns.text, start, end),
            CellText::Entry { dictionary, code } => {
                let dictionary = self.columns.dictionaries.get(dictionary as usize);
                return dictionary.map_or(&[], |dictionary| dictionary.get(code));
            }
        };
        text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The JSON text of a row's value in a column of values; empty for undefined.
    #[inline]
    pub(crate) fn json_at(&self, column: usize, row: usize) -> &'c [u8] {
        match self.column(column) {
            Column::Values(cells) => cells.get(row).map_or(&[], |cell| self.json(*cell)),
            Column::Entries(entries) => entries.json(row),
            Column::Nothing
            | Column::Numbers(_)
            | Column::Mantissas(_)
            | Column::Keys(_)
            | Column::Decimals(_) => &[],
        }
    }

    /// A row's value in a column of values or keys.
    pub(crate) fn own_value_at(&self, column: usize, row: usize) -> Value<'static> {
        let mut json = Vec::new();
        match self.column(column) {
            Column::Keys(numbers) => numbers.write(row, &mut json),
            _ => json.extend_from_slice(self.json_at(column, row)),
        }
        value_of(&json).into_static()
    }

    /// The value of a cell.
    #[inline]
    pub(crate) fn value(&self, cell: CellText) -> Value<'c> {
        value_of(self.json(cell))
    }
}

impl Columns {
    /// Takes the rows of a part of a chunk, instead of those that it has.
    pub(crate) fn set_part(&mut self, chunk: &Chunk<'_>, split: &Split, part: u8) {
        self.clear();
        let Chunk { columns: from, .. } = chunk;
        let rows = split.of(part);
        self.dictionaries.clone_from(&from.dictionaries);
        match &from.orders {
            Orders::Each(orders) if orders.is_empty() => self.unordered = rows.len(),
            Orders::Each(orders) => self.begin_rows(some(orders, rows)),
            Orders::OfBlock { events, rows: of_block } => {
                let events_of = rows.iter().map(|row| of_block.event(*row as usize) as u32).collect();
                self.begin_block(events.clone(), EventRows::Some(Arc::new(events_of)));
            }
        }
        self.columns.resize_with(from.columns.len(), || Column::Nothing);
        for (nth, column) in from.columns.iter().enumerate() {
            let column = self.part_of(chunk, column, split, part);
            self.set(nth, column);
        }
    }

    /// The values of a part's rows.
    fn part_of(&mut self, chunk: &Chunk<'_>, column: &Column, split: &Split, part: u8) -> Column {
        let rows = split.of(part);
        match column {
            Column::Nothing => Column::Nothing,
            Column::Values(cells) => {
                Column::Values(some(cells, rows).map(|cell| self.cell_of(chunk, cell)).collect())
            }
            Column::Entries(Entries { form, dictionary, codes: of_all }) => {
                let mut codes = self.codes();
                codes.extend(some(of_all, rows));
                Column::Entries(Entries { form: *form, dictionary: dictionary.clone(), codes })
            }
            Column::Numbers(Numbers { few, others }) => {
                let few =
                    few.iter().filter_map(|few| Some(FewDigits { at: split.place(part, few.at)?, ..*few }));
                let others = others.iter().filter_map(|(row, cell)| Some((split.place(part, *row)?, *cell)));
                Column::Numbers(Numbers {
                    few: few.collect(),
                    others: others.map(|(row, cell)| (row, self.cell_of(chunk, cell))).collect(),
                })
            }
            Column::Mantissas(numbers) => Column::Mantissas(Arc::new(mantissas_of(numbers, split, part))),
            Column::Keys(numbers) => Column::Keys(Arc::new(mantissas_of(numbers, split, part))),
            Column::Decimals(decimals) => {
                let (places, rows) = split.values(part, decimals.rows.as_deref());
                Column::Decimals(Arc::new(Decimals { rows, values: decimals.values.at(&places) }))
            }
        }
    }

    /// A cell of another chunk as one of these, which have that one's dictionaries.
    fn cell_of(&mut self, chunk: &Chunk<'_>, cell: CellText) -> CellText {
        match cell {
            CellText::Own { .. } => own(&mut self.text, chunk.json(cell)),
            CellText::Undefined | CellText::Block { .. } | CellText::Entry { .. } => cell,
        }
    }
}

/// The numbers of a part's rows.
fn mantissas_of(numbers: &Mantissas, split: &Split, part: u8) -> Mantissas {
    let (places, rows) = split.values(part, numbers.rows.as_deref());
    let spelled = match &numbers.spelled {
        Digits::Each(digits) => Digits::Each(some(digits, &places).collect()),
        alike @ (Digits::InFull | Digits::Shortest) => alike.clone(),
    };
    let values = some(&numbers.values, &places).collect();
    Mantissas { rows, values, scale: numbers.scale, spelled }
}

/// The values at some places, each of which there is.
fn some<'v, T: Copy>(values: &'v [T], places: &'v [u32]) -> impl Iterator<Item = T> + 'v {
    places.iter().map(|place| values.get(*place as usize).copied()).map_while(|value| value)
}

#[cfg(test)]
mod tests;
