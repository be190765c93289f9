//! Messages that have to be rendered, as a column: from templates, and the columns of the properties that these name. Whole documents are not put together for that.

use super::compile::{ColumnPlan, reads_document};
use super::computed::{BYTES_MAX, Texts};
use super::evaluate::{Evaluator, stored};
use super::messages::{Messages, put_messages};
use super::of_array::StandIn;
use crate::column_block::{ColumnError, PathColumn};
use crate::elements::each_element;
use crate::expr::Expr;
use crate::template::{Hole, TemplatePart, parts};
use crate::value::{Text, VALUE_BYTES_MAX, Value, write_json};
use std::sync::Arc;
use tamias_json::Offsets;

/// Where templates name more properties, documents are put together: each column takes memory for every row.
const NAMES_MAX: usize = 64;

/// After so many rows it is asked whether to go on.
const CHECKED_ROWS: usize = 1024;

impl Evaluator<'_> {
    /// The plan with a slot in place of messages, where an expression asks for nothing else of documents.
    pub(super) fn with_rendered_messages(&mut self, plan: &ColumnPlan) -> ColumnPlan {
        let mut plan = plan.clone();
        let Some(messages) = plan.messages else { return plan };
        let slot = self.stand_in(StandIn::Messages(messages), None);
        let asks = |expr: &&mut Expr| Messages::only(expr).is_some();
        plan.exprs_mut().filter(asks).for_each(|expr| put_messages(expr, slot));
        plan.collections_mut().filter(asks).for_each(|expr| put_messages(expr, slot));
        plan.is_whole &= plan.outputs.iter().any(|output| reads_document(&output.expr));
        plan
    }

    /// The messages of some rows, in ascending order, or of all: stored ones, and others as they are rendered; none where they take much memory, or one cannot be
    /// rendered.
    pub(super) fn messages(
        &mut self,
        messages: Messages,
        rows: Option<&[u32]>,
    ) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        let (Some(block), Some(path)) = (self.block.stored(), self.paths.get(messages.template)) else {
            return Ok(None);
        };
        if let Some(known) = block.known_messages(path) {
            return Ok(Some(known));
        }
        for slot in messages.slots() {
            if !self.load_for(&Expr::Slot(slot), rows)? {
                return Ok(None);
            }
        }
        let all: Vec<u32>;
        let places = match rows {
            Some(rows) => rows,
            None => {
                all = (0..self.rows() as u32).collect();
                &all
            }
        };
        let made = match self.rendered(messages, places, rows.is_some())? {
            Some(made) => made,
            None => {
                let mut made = Texts::default();
                // Why it fails is found again where documents are looked at one by one.
                let told = self.each(&messages.expr(), places.iter().copied(), |_, value| made.add(&value));
                if told.is_err() {
                    return Ok(None);
                }
                made
            }
        };
        let Some(column) = made.into_column(places, self.rows()) else { return Ok(None) };
        Ok(Some(if rows.is_none() { block.keep_messages(path, column) } else { column }))
    }

    /// The messages of some rows from the columns of what their templates name; none where these are many, or columns do not tell it.
    fn rendered(
        &self,
        messages: Messages,
        rows: &[u32],
        are_some: bool,
    ) -> Result<Option<Texts>, ColumnError> {
        let templates = Templates::of(self.column(messages.template).map(AsRef::as_ref), rows);
        let Some(Prepared { pieces, names }) = Prepared::of(&templates) else { return Ok(None) };
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let path = [Box::from(name)];
            let column = match are_some && !self.block.has(&path) {
                true => self.block.at_rows(&path, rows)?,
                false => self.block.at(&path)?,
            };
            if matches!(*column, PathColumn::Unknown) {
                return Ok(None);
            }
            columns.push(column);
        }
        let mut row_of = Row {
            columns: &columns,
            renderings: self.column(messages.renderings).map(AsRef::as_ref),
            offsets: Offsets::new(),
            shown: Vec::new(),
        };
        let stored = self.column(messages.message);
        let mut made = Texts::default();
        for (nth, row) in rows.iter().enumerate() {
            if nth.is_multiple_of(CHECKED_ROWS) && self.check().is_err() {
                return Ok(None);
            }
            let message = stored.map_or(&[][..], |stored| stored.json(*row as usize));
            let pieces = templates.of_row.get(nth).and_then(|template| pieces.get(*template)?.as_deref());
            let is_told = made.add_told(|out| {
                let begin = out.len();
                match pieces {
                    Some(pieces) if message.is_empty() => row_of.render(*row, pieces, out),
                    _ => out.extend_from_slice(message),
                }
                out.len() - begin <= VALUE_BYTES_MAX.min(BYTES_MAX)
            });
            if !is_told {
                return Ok(None);
            }
        }
        // What could not be read on the way is empty: documents tell why.
        let is_whole = columns.iter().all(|column| match &**column {
            PathColumn::Pieces(column) => column.failure().is_none(),
            _ => true,
        });
        Ok(is_whole.then_some(made))
    }
}

/// The templates of some rows.
#[derive(Default)]
struct Templates {
    /// Each once; none of what is no text.
    texts: Vec<Option<String>>,
    /// For each row the place of its template.
    of_row: Vec<usize>,
}

impl Templates {
    fn of(column: Option<&PathColumn>, rows: &[u32]) -> Templates {
        let mut templates = Templates::default();
        let Some(coded) = column.and_then(PathColumn::coded) else { return templates };
        let mut places: Vec<Option<usize>> = vec![None; coded.dictionary.len()];
        let mut offsets = Offsets::new();
        for row in rows {
            let code = coded.code(*row as usize);
            let Some(place) = places.get_mut(code as usize) else {
                templates.of_row.push(usize::MAX);
                continue;
            };
            templates.of_row.push(*place.get_or_insert_with(|| {
                let template = stored(coded.dictionary.get(code), &mut offsets).map(Value::stored);
                templates.texts.push(match template {
                    Some(Value::Text(text)) => Some(text.text().into_owned()),
                    _ => None,
                });
                templates.texts.len() - 1
            }));
        }
        templates
    }
}

/// Templates that were read.
struct Prepared<'t> {
    /// The pieces of each; none of what is no text.
    pieces: Vec<Option<Vec<Piece<'t>>>>,
    /// The properties that they name, each once; of a name with points also what stands before the first.
    names: Vec<&'t str>,
}

enum Piece<'t> {
    /// Text as strings spell it.
    Text(Vec<u8>),
    Hole {
        hole: Hole<'t>,
        /// The place of its property among all names.
        property: usize,
        /// Of a name with points the place of what stands before the first, and the names of members behind it.
        within: Option<(usize, Vec<&'t str>)>,
        /// The hole as it is written, as strings spell it.
        source: Vec<u8>,
    },
}

impl<'t> Prepared<'t> {
    /// None where the names are many.
    fn of(templates: &'t Templates) -> Option<Prepared<'t>> {
        let mut prepared = Prepared { pieces: Vec::with_capacity(templates.texts.len()), names: Vec::new() };
        for text in &templates.texts {
            let pieces = text.as_ref().map(|text| parts(text).map(|part| prepared.piece(part)).collect());
            if prepared.names.len() > NAMES_MAX {
                return None;
            }
            prepared.pieces.push(pieces);
        }
        Some(prepared)
    }

    fn piece(&mut self, part: TemplatePart<'t>) -> Piece<'t> {
        match part {
            TemplatePart::Text(text) => Piece::Text(spelled(text)),
            TemplatePart::Hole(hole) => {
                let within = hole
                    .name
                    .split_once('.')
                    .map(|(first, rest)| (self.place(first), rest.split('.').collect()));
                let (property, source) = (self.place(hole.name), spelled(hole.source));
                Piece::Hole { hole, property, within, source }
            }
        }
    }

    fn place(&mut self, name: &'t str) -> usize {
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

/// What the messages of rows are rendered from.
struct Row<'c> {
    /// What stands at each name.
    columns: &'c [Arc<PathColumn>],
    renderings: Option<&'c PathColumn>,
    offsets: Offsets,
    /// What a hole shows.
    shown: Vec<u8>,
}

impl Row<'_> {
    /// Appends a row's message as a string. It is what [`crate::template::render`] makes of the document.
    fn render(&mut self, row: u32, pieces: &[Piece<'_>], out: &mut Vec<u8>) {
        let has_formats =
            pieces.iter().any(|piece| matches!(piece, Piece::Hole { hole, .. } if hole.has_format));
        let mut renderings: Vec<&[u8]> = Vec::new();
        if let Some(column) = self.renderings.filter(|_| has_formats) {
            each_element(column.json(row as usize), |element| renderings.push(element));
        }
        let mut renderings = renderings.into_iter();
        out.push(b'"');
        for piece in pieces {
            let (hole, property, within, source) = match piece {
                Piece::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Piece::Hole { hole, property, within, source } => (hole, *property, within, source),
            };
            let rendering = if hole.has_format { renderings.next() } else { None };
            // It has its alignment already.
            if let Some(text @ [b'"', ..]) = rendering {
                self.show(text, out);
                continue;
            }
            let column = self.columns.get(property);
            if let Some(PathColumn::Numbers(numbers)) = column.map(AsRef::as_ref)
                && hole.width == 0
                && numbers.write(row, out)
            {
                continue;
            }
            let json = column.map_or(&[][..], |column| column.json(row as usize));
            match json {
                [] => match within {
                    Some((first, members)) => {
                        let first = self.columns.get(*first);
                        let json = first.map_or(&[][..], |column| column.json(row as usize));
                        self.show_aligned(json, members, hole, out);
                    }
                    None if hole.width == 0 => out.extend_from_slice(source),
                    None => self.show_aligned(&[], &[], hole, out),
                },
                json if hole.width == 0 => self.show(json, out),
                json => self.show_aligned(json, &[], hole, out),
            }
        }
        out.push(b'"');
    }

    /// Appends a value of a document: a string as it is, anything else as JSON.
    fn show(&mut self, json: &[u8], out: &mut Vec<u8>) {
        match json {
            [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
                out.extend_from_slice(inner);
            }
            [b'"', ..] => {
                let text = stored(json, &mut self.offsets).map(Value::stored);
                if let Some(Value::Text(text)) = text {
                    spell(&text.text(), out);
                }
            }
            [b'{' | b'[', ..] => spell(&String::from_utf8_lossy(json), out),
            scalar => out.extend_from_slice(scalar),
        }
    }

    /// Appends what a hole shows of a value, or of what members lead to in it, with blanks beside it.
    fn show_aligned(&mut self, json: &[u8], members: &[&str], hole: &Hole<'_>, out: &mut Vec<u8>) {
        let value = stored(json, &mut self.offsets).map_or(Value::Undefined, Value::stored);
        let value = members.iter().fold(value, |value, name| value.member(name));
        self.shown.clear();
        hole.show(&value, &mut self.shown);
        spell(&String::from_utf8_lossy(&self.shown), out);
    }
}

/// Text as strings spell it, without quotes.
fn spelled(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    spell(text, &mut out);
    out
}

/// Appends text as strings spell it, without quotes.
fn spell(text: &str, out: &mut Vec<u8>) {
    let begin = out.len();
    write_json(&Value::Text(Text::Borrowed(text)), out);
    out.pop();
    if begin < out.len() {
        out.remove(begin);
    }
}
