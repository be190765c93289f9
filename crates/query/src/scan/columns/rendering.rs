//! What messages are rendered from: the properties that their templates name, from columns. Whole documents are not put together for that.

use super::compile::Messages;
use super::evaluate::{Evaluator, stored};
use super::row_documents::RowDocuments;
use crate::column_block::PathColumn;
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::template::names;
use crate::value::Value;
use std::collections::{BTreeSet, HashSet};
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
        let names = match self.column(template) {
            Some(column) => names_of(column, rows)?,
            None => BTreeSet::new(),
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
        for row in rows {
            bytes.push(b'{');
            for (name, column) in names.iter().zip(&columns) {
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

/// The names that the templates of some rows have in their holes, and of such with points what stands before the first; none where they are many.
fn names_of(templates: &PathColumn, rows: &[u32]) -> Option<BTreeSet<String>> {
    let (mut known, mut all) = (HashSet::new(), BTreeSet::new());
    let mut offsets = Offsets::new();
    for row in rows {
        let json = templates.json(*row as usize);
        if !known.insert(json) {
            continue;
        }
        let Some(Value::Text(text)) = stored(json, &mut offsets).map(Value::stored) else { continue };
        for name in names(&text.text()) {
            all.extend(name.split_once('.').map(|(first, _)| first.to_owned()));
            all.insert(name.to_owned());
        }
        if all.len() > NAMES_MAX {
            return None;
        }
    }
    Some(all)
}
