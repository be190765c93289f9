//! What messages are rendered from: the properties that their templates name, from columns. Whole documents are not put together for that.

use super::compile::Messages;
use super::evaluate::{Evaluator, stored};
use super::row_documents::RowDocuments;
use crate::column_block::PathColumn;
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::template::names;
use crate::value::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tamias_json::Offsets;

/// Where templates name more properties, documents are put together: each column takes memory for every row.
const NAMES_MAX: usize = 64;

/// So many bytes are made for some rows at most.
const BYTES_MAX: usize = 256 << 20;

impl Evaluator<'_> {
    /// Documents of some rows, in ascending order, with the properties alone that their messages show; none where columns do not tell these, or an
    /// expression asks for more of a document.
    pub(super) fn documents_of_messages(&self, expr: &Expr, rows: &[u32]) -> Option<RowDocuments> {
        if self.origins.is_some() || !rows.is_sorted() {
            return None;
        }
        let Messages { template, .. } = Messages::only(expr)?;
        let Named { names, of_template, of_row } = match self.column(template) {
            Some(column) => Named::of(column, rows)?,
            None => Named::default(),
        };
        let are_few = self.are_few(rows.len());
        let column = |name: &str| {
            let path = [Box::from(name)];
            let column = match are_few && !self.block.has(&path) {
                true => self.block.at_rows(&path, rows).ok()?,
                false => self.block.at(&path).ok()?,
            };
            (!matches!(*column, PathColumn::Unknown)).then_some(column)
        };
        let columns = names.iter().map(|name| column(name)).collect::<Option<Vec<Arc<PathColumn>>>>()?;
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(rows.len()));
        for (nth, row) in rows.iter().enumerate() {
            bytes.push(b'{');
            let template = of_row.get(nth).and_then(|template| of_template.get(*template));
            let named = template.into_iter().flatten().copied();
            for (name, column) in named.filter_map(|name| names.get(name).zip(columns.get(name))) {
                let json = column.json(*row as usize);
                if json.is_empty() {
                    continue;
                }
                if bytes.last() != Some(&b'{') {
                    bytes.push(b',');
                }
                // A name has no character that strings spell otherwise.
                bytes.push(b'"');
                bytes.extend_from_slice(name.as_bytes());
                bytes.extend_from_slice(b"\":");
                bytes.extend_from_slice(json);
            }
            bytes.push(b'}');
            if bytes.len() > BYTES_MAX {
                return None;
            }
            ends.push(bytes.len() as u32);
        }
        // What could not be read on the way is empty: documents tell why.
        let is_whole = columns.iter().all(|column| match &**column {
            PathColumn::Pieces(column) => column.failure().is_none(),
            _ => true,
        });
        is_whole.then(|| RowDocuments::new(rows.to_vec(), Dictionary::new(bytes, ends)))
    }
}

/// What the templates of some rows name.
#[derive(Default)]
struct Named {
    /// Each name once; of one with points also what stands before the first.
    names: Vec<String>,
    /// For each template the places of those that it names.
    of_template: Vec<BTreeSet<usize>>,
    /// For each row the place of its template.
    of_row: Vec<usize>,
}

impl Named {
    /// None where the names are many.
    fn of(templates: &PathColumn, rows: &[u32]) -> Option<Named> {
        let (mut named, mut known) = (Named::default(), HashMap::new());
        let mut offsets = Offsets::new();
        for row in rows {
            let json = templates.json(*row as usize);
            let place = *known.entry(json).or_insert(named.of_template.len());
            if place == named.of_template.len() {
                let template = stored(json, &mut offsets).map(Value::stored);
                named.add(template.as_ref());
                if named.names.len() > NAMES_MAX {
                    return None;
                }
            }
            named.of_row.push(place);
        }
        Some(named)
    }

    fn add(&mut self, template: Option<&Value<'_>>) {
        let mut places = BTreeSet::new();
        if let Some(Value::Text(text)) = template {
            for name in names(&text.text()) {
                let first = name.split_once('.').map(|(first, _)| first);
                places.extend(first.into_iter().chain([name]).map(|name| self.place(name)));
            }
        }
        self.of_template.push(places);
    }

    fn place(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }
}
