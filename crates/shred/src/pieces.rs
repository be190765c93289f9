//! Texts by template, taken apart: the literals, and the values between them. How long texts are and whether something stands in them is asked of
//! the pieces, so that few texts are put together or none.

use crate::encoding::strings::Texts;
use crate::error::{DecodeError, malformed};
use crate::output::{Output, Sink};
use crate::spans::Spans;

/// The texts at a path, by template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPieces {
    /// For each row the code of its shape.
    pub(crate) codes: Vec<u16>,
    /// By the codes of shapes.
    pub(crate) ways: Vec<Way>,
    /// The column of the texts comes last; templates refer to those before their own.
    pub(crate) columns: Vec<PlacedColumn>,
    /// The most bytes that all texts may have.
    pub(crate) bytes_max: usize,
}

/// What events of a shape have of the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// How far they move on in each.
    pub(crate) moves: Vec<(u32, u32)>,
    /// Which of the texts that they have is that at the path.
    pub(crate) text: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacedColumn {
    Values(Spans<'static>),
    Templates(PlacedTemplates),
}

impl PlacedColumn {
    /// How many values it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            PlacedColumn::Values(values) => values.len(),
            PlacedColumn::Templates(templates) => templates.texts.len(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedTemplates {
    pub(crate) templates: Vec<PlacedTemplate>,
    /// For each text the number of its template, and how many texts before it have the same.
    pub(crate) texts: Vec<(u32, u32)>,
}

/// Literals and holes in turn, and a literal at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedTemplate {
    /// All literals, one after another, and bytes behind them.
    pub(crate) literals: Vec<u8>,
    /// Where the literal before a hole ends, and what fills the hole.
    pub(crate) pieces: Vec<(usize, PlacedHole)>,
    /// Where the last literal ends.
    pub(crate) end: usize,
    /// How many texts have it.
    pub(crate) uses: usize,
}

/// What fills a hole of a template in each of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlacedHole {
    Own(Spans<'static>),
    /// The first value that the event has of the other column of this number.
    Other(usize),
}

pub(crate) const MISSING_VALUE: DecodeError = malformed("fewer values than its shapes need");
pub(crate) const TOO_MANY_HOLES: DecodeError = malformed("templates of too many holes");

impl PlacedTemplate {
    /// The literal before each hole, and the last one.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.pieces.iter().map(|(end, _)| *end).chain([self.end]);
        ends.scan(0, |start, end| self.literals.get(std::mem::replace(start, end)..end))
    }
}

impl TextPieces {
    /// How many rows there are, those without a text included.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Whether a row has a text.
    pub fn has(&self, row: usize) -> bool {
        let way = self.codes.get(row).and_then(|code| self.ways.get(usize::from(*code)));
        way.is_some_and(|way| way.text.is_some())
    }

    /// What it takes in memory, in bytes.
    pub fn held_bytes(&self) -> usize {
        let of_column = |column: &PlacedColumn| match column {
            PlacedColumn::Values(values) => values.held_bytes(),
            PlacedColumn::Templates(PlacedTemplates { templates, texts }) => {
                let of_template = |template: &PlacedTemplate| {
                    let own = template.pieces.iter().map(|(_, hole)| match hole {
                        PlacedHole::Own(values) => values.held_bytes(),
                        PlacedHole::Other(_) => 0,
                    });
                    let pieces = size_of::<(usize, PlacedHole)>() * template.pieces.capacity();
                    let itself = size_of::<PlacedTemplate>() + template.literals.capacity();
                    itself + pieces + own.sum::<usize>()
                };
                size_of::<(u32, u32)>() * texts.capacity() + templates.iter().map(of_template).sum::<usize>()
            }
        };
        let of_way = |way: &Way| size_of::<Way>() + size_of::<(u32, u32)>() * way.moves.capacity();
        size_of::<u16>() * self.codes.capacity()
            + self.ways.iter().map(of_way).sum::<usize>()
            + self.columns.iter().map(of_column).sum::<usize>()
    }

    /// The text of each row, or of some in any order, as JSON; empty where there is none. Takes time linear in the rows, and in the texts that are made,
    /// and memory linear in these.
    ///
    /// # Errors
    /// If they are longer than the documents.
    pub fn texts(&self, rows: Option<&[u32]>) -> Result<Texts<'static>, DecodeError> {
        if let Some(rows) = rows
            && !rows.is_sorted()
        {
            return self.texts_in_order_of(rows);
        }
        let count = rows.map_or(self.len(), <[u32]>::len);
        let mut ends = Vec::with_capacity(count);
        let mut writer = Writer::of(self);
        let mut out = Output::new(self.bytes_max);
        let mut wanted = rows.map(|rows| rows.iter().copied().peekable());
        for (row, code) in (0u32..).zip(&self.codes) {
            if ends.len() == count {
                break;
            }
            let way = self.ways.get(usize::from(*code)).ok_or(MISSING_VALUE)?;
            let times = match &mut wanted {
                None => 1,
                Some(wanted) => std::iter::from_fn(|| wanted.next_if_eq(&row)).count(),
            };
            for _ in 0..times {
                if let Some(nth) = way.text {
                    writer.write_json(nth, &mut out)?;
                }
                ends.push(out.len() as u32);
                if ends.len() == SAMPLE {
                    out.make_room(out.len() / SAMPLE * count / 8 * 9);
                }
            }
            writer.move_on(way)?;
        }
        // Rows that there are not have none.
        ends.resize(count, out.len() as u32);
        let mut bytes = out.into_bytes();
        bytes.shrink_to_fit();
        Ok(Texts::of_parts(ends, bytes))
    }

    /// Calls for each row, in their order, with what puts texts together at its event, and with which of that event's texts the row has.
    #[inline(always)]
    pub(crate) fn each_text<'p>(
        &'p self,
        mut call: impl FnMut(&mut Writer<'p>, Option<u32>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut writer = Writer::of(self);
        for code in &self.codes {
            let way = self.ways.get(usize::from(*code)).ok_or(MISSING_VALUE)?;
            call(&mut writer, way.text)?;
            writer.move_on(way)?;
        }
        Ok(())
    }

    /// The texts of rows that are not in ascending order.
    fn texts_in_order_of(&self, rows: &[u32]) -> Result<Texts<'static>, DecodeError> {
        let mut ascending = rows.to_vec();
        ascending.sort_unstable();
        ascending.dedup();
        let texts = self.texts(Some(&ascending))?;
        let text = |row: &u32| texts.get(ascending.partition_point(|other| other < row)).unwrap_or_default();
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            bytes.extend_from_slice(text(row));
            ends.push(u32::try_from(bytes.len()).map_err(|_| TOO_LONG)?);
        }
        Ok(Texts::of_parts(ends, bytes))
    }
}

/// So many texts tell how long the others are, about.
const SAMPLE: usize = 256;

const TOO_LONG: DecodeError = malformed("its documents are longer than it says");

/// Puts texts together, event by event.
pub(crate) struct Writer<'p> {
    columns: &'p [PlacedColumn],
    /// The first value that the event has of each column.
    cursors: Vec<u32>,
    /// How many holes may still be filled.
    steps: usize,
}

impl Writer<'_> {
    /// At the first event.
    pub(crate) fn of(pieces: &TextPieces) -> Writer<'_> {
        let TextPieces { columns, bytes_max, .. } = pieces;
        Writer { columns, cursors: vec![0; columns.len()], steps: *bytes_max }
    }

    /// The first value that the event has of each column.
    pub(crate) fn cursors(&self) -> &[u32] {
        &self.cursors
    }

    /// Where one of the texts that the event has stands in the last column.
    #[inline]
    pub(crate) fn place(&self, nth: u32) -> u32 {
        self.cursors.last().map_or(0, |first| first.saturating_add(nth))
    }

    /// Appends one of the texts that the event has, as JSON.
    #[inline]
    pub(crate) fn write_json(&mut self, nth: u32, out: &mut Output) -> Result<(), DecodeError> {
        out.push_byte(b'"')?;
        self.write(self.columns.len().saturating_sub(1), self.place(nth) as usize, out)?;
        out.push_byte(b'"')
    }

    /// Goes on to the next event.
    #[inline]
    pub(crate) fn move_on(&mut self, way: &Way) -> Result<(), DecodeError> {
        for (column, count) in &way.moves {
            let cursor = self.cursors.get_mut(*column as usize).ok_or(MISSING_VALUE)?;
            *cursor = cursor.saturating_add(*count);
        }
        Ok(())
    }

    /// Appends a text. It is no deeper in templates than a directory lets them be.
    fn write(&mut self, column: usize, place: usize, out: &mut Output) -> Result<(), DecodeError> {
        let columns = self.columns;
        let PlacedTemplates { templates, texts } = match columns.get(column).ok_or(MISSING_VALUE)? {
            PlacedColumn::Values(values) => return values.append(place, out),
            PlacedColumn::Templates(templates) => templates,
        };
        let (template, nth) = *texts.get(place).ok_or(MISSING_VALUE)?;
        let template = templates.get(template as usize).ok_or(MISSING_VALUE)?;
        self.steps = self.steps.checked_sub(template.pieces.len()).ok_or(TOO_MANY_HOLES)?;
        let mut start = 0;
        for (end, hole) in &template.pieces {
            out.push_range(&template.literals, start, *end)?;
            start = *end;
            match hole {
                PlacedHole::Own(values) => values.append(nth as usize, out)?,
                PlacedHole::Other(other) => {
                    let place = *self.cursors.get(*other).ok_or(MISSING_VALUE)?;
                    self.write(*other, place as usize, out)?;
                }
            }
        }
        out.push_range(&template.literals, start, template.end)
    }
}

#[cfg(test)]
mod tests {
    /// `texts` is asked about rows that are sorted by something else, too.
    #[test]
    fn texts_come_in_the_order_of_the_rows_that_are_asked_about() {
        let documents: Vec<String> = (0..500)
            .map(|n| match n % 7 {
                0 => format!(r#"{{"n":{n}}}"#),
                _ => format!(r#"{{"n":{n},"m":"order {n} of customer {} was paid and sent"}}"#, n % 13),
            })
            .collect();
        let events: Vec<crate::Event<'_>> = documents
            .iter()
            .map(|text| crate::Event { instant: 0, arrival: 0, document: text.as_bytes() })
            .collect();
        let encoded = crate::encode(&events).unwrap();
        let group = crate::Group::open(&encoded.directory).unwrap();
        let crate::AtPath::Pieces(pieces) = group.read(&encoded.frames).at(&["m"]).unwrap() else {
            panic!("texts by template");
        };
        let all = pieces.texts(None).unwrap();
        for rows in [vec![], vec![0], vec![3, 9, 9, 14], vec![499, 0, 7, 3, 3, 250], vec![5, 4, 1_000]] {
            let texts = pieces.texts(Some(&rows)).unwrap();
            let expected: Vec<&[u8]> =
                rows.iter().map(|row| all.get(*row as usize).unwrap_or_default()).collect();
            assert_eq!(texts.iter().collect::<Vec<_>>(), expected, "{rows:?}");
        }
    }
}
