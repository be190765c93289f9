//! The rows of a chunk shared out to parts, each of which is a chunk of its own.

use super::cell::{CellText, own};
use super::{
    Chunk, Column, Columns, Decimals, Digits, Entries, EventRows, FewDigits, Mantissas, Numbers, Orders,
};
use std::sync::Arc;

/// Which rows of a chunk belong to which part.
#[derive(Default)]
pub(crate) struct Split {
    /// For each part its rows in their order.
    rows: Vec<Vec<u32>>,
    /// For each row its part, and its place there.
    places: Vec<(u8, u32)>,
}

impl Split {
    /// Shares rows out to so many parts, by the part of each.
    pub(crate) fn set(&mut self, parts: usize, rows: impl Iterator<Item = u8>) {
        self.rows.resize_with(parts, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.places.clear();
        for (row, part) in (0..).zip(rows) {
            let Some(of_part) = self.rows.get_mut(usize::from(part)) else { continue };
            self.places.push((part, of_part.len() as u32));
            of_part.push(row);
        }
    }

    /// The rows of a part.
    fn of(&self, part: u8) -> &[u32] {
        self.rows.get(usize::from(part)).map_or(&[], Vec::as_slice)
    }

    /// The place of a row in a part, if it belongs to that.
    #[inline]
    fn place(&self, part: u8, row: u32) -> Option<u32> {
        self.places.get(row as usize).filter(|(of, _)| *of == part).map(|(_, place)| *place)
    }

    /// Of the values that some rows have, or all: the places of those that rows of a part have, and these rows if not all have one.
    fn values(&self, part: u8, rows: Option<&[u32]>) -> (Vec<u32>, Option<Vec<u32>>) {
        let Some(rows) = rows else { return (self.of(part).to_vec(), None) };
        let places = (0..).zip(rows).filter_map(|(at, row)| Some((at, self.place(part, *row)?)));
        let (places, rows) = places.unzip();
        (places, Some(rows))
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
            Column::Mantissas(numbers) => {
                let (places, rows) = split.values(part, numbers.rows.as_deref());
                let spelled = match &numbers.spelled {
                    Digits::Each(digits) => Digits::Each(some(digits, &places).collect()),
                    alike @ (Digits::InFull | Digits::Shortest) => alike.clone(),
                };
                let values = some(&numbers.values, &places).collect();
                Column::Mantissas(Arc::new(Mantissas { rows, values, scale: numbers.scale, spelled }))
            }
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

/// The values at some places, each of which there is.
fn some<'v, T: Copy>(values: &'v [T], places: &'v [u32]) -> impl Iterator<Item = T> + 'v {
    places.iter().map(|place| values.get(*place as usize).copied()).map_while(|value| value)
}
