//! The proof of a group: what was written, read again, is what was taken apart.
//!
//! Documents are the literals of their shapes and their values, one after another: taking them apart compares each of their bytes. Texts with
//! templates are likewise their template's literals, other values and what holes hold: learning compares them. So what is left to prove is
//! that all of these come back from the bytes that were written. It is done a column at a time, which is quicker than to put documents together,
//! where the values of all columns are taken in turn.

use crate::choose::Parts;
use crate::column::{Column, Encoding, Ready};
use crate::dissect::Dissection;
use crate::encode::{Event, Written};
use crate::encoding::templates::{Hole, Template};
use crate::error::DecodeError;
use crate::group::{Group, GroupReader};

/// Whether a reader gets back from what was written all that was taken apart.
pub(crate) fn holds(written: &Written<'_>, dissection: &Dissection<'_>, events: &[Event<'_>]) -> bool {
    dissection.faulty.is_empty() && compare(written, dissection, events).unwrap_or(false)
}

fn compare(
    written: &Written<'_>,
    dissection: &Dissection<'_>,
    events: &[Event<'_>],
) -> Result<bool, DecodeError> {
    let group = Group::open(&written.encoded.directory)?;
    let mut reader = group.read(&written.encoded.frames);
    let times = reader.instants()?.iter().eq(events.iter().map(|event| &event.instant))
        && reader.arrivals()?.iter().eq(events.iter().map(|event| &event.arrival));
    Ok(times
        && has_shapes(&group, written, dissection)
        && has_lists(&mut reader, dissection)?
        && has_values(&mut reader, dissection, &written.parts)?
        && fills_few_holes(&mut reader, events)?)
}

/// Whether the directory came back, and is that of the shapes and columns of the documents.
fn has_shapes(group: &Group, written: &Written<'_>, dissection: &Dissection<'_>) -> bool {
    let (read, written) = (group.directory(), &written.directory);
    let literals: usize = dissection.shapes.iter().map(|shape| shape.literals.bytes.len()).sum();
    let columns =
        dissection.columns.iter().map(|column| (column.path, column.kind, column.values.texts.len()));
    literals <= read.bytes
        && (read.events, read.bytes) == (written.events, written.bytes)
        && read.columns == written.columns
        && read.lists == written.lists
        && read.columns.iter().map(|column| (column.path, column.kind, column.count)).eq(columns)
        && read.lists.iter().map(|list| list.path).eq(dissection.lists.iter().map(|list| list.path))
        && read.shapes.iter().eq(dissection.shapes.iter().map(|shape| &shape.tokens))
        && read.paths.is_same(&dissection.paths)
}

/// Whether the lengths of arrays, and the shapes of all values, came back.
fn has_lists(reader: &mut GroupReader<'_>, dissection: &Dissection<'_>) -> Result<bool, DecodeError> {
    for (number, list) in dissection.lists.iter().enumerate() {
        let lengths = reader.lengths(number)?;
        let codes = reader.codes(number)?;
        let same = lengths == list.lengths
            && codes.iter().map(|code| i64::from(*code)).eq(list.codes.iter().copied())
            && reader.group.shapes_of(number) == list.shapes;
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the values of all columns came back.
fn has_values(
    reader: &mut GroupReader<'_>,
    dissection: &Dissection<'_>,
    parts: &[Option<Parts>],
) -> Result<bool, DecodeError> {
    // As much as a reader makes for all documents.
    let mut left = 2 * reader.group.document_bytes();
    for (number, (column, parts)) in dissection.columns.iter().zip(parts).enumerate() {
        let same = match (reader.column(number)?.ready(&mut left)?, parts) {
            (Ready::Texts(spans), None) => spans.are(&column.values.texts),
            (Ready::Templated(templated), Some(Parts { codes, held })) => templated.are(codes, held),
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a reader fills as many holes as it takes to put the documents together. Where that is not plain, as texts show texts that show
/// texts, it is tried.
fn fills_few_holes(reader: &mut GroupReader<'_>, events: &[Event<'_>]) -> Result<bool, DecodeError> {
    let directory = reader.group.directory();
    if holes(&directory.columns) <= directory.bytes {
        return Ok(true);
    }
    Ok(reader.documents()?.iter().eq(events.iter().map(|event| event.document)))
}

/// How many holes are filled at most to put together all values of all columns.
fn holes(columns: &[Column]) -> usize {
    // The most that a value of each column takes.
    let mut most = Vec::with_capacity(columns.len());
    let mut sum = 0usize;
    for column in columns {
        let Encoding::Templates(templates) = &column.encoding else {
            most.push(0);
            continue;
        };
        let of = |template: &Template| {
            let inner = template.pieces.iter().map(|(_, hole)| match hole {
                Hole::Own(_) => 0,
                Hole::Reference(other) => most.get(*other as usize).copied().unwrap_or(usize::MAX),
            });
            inner.fold(template.pieces.len(), usize::saturating_add)
        };
        let each = templates.templates.iter().map(|template| template.uses.saturating_mul(of(template)));
        sum = each.fold(sum, usize::saturating_add);
        let largest = templates.templates.iter().map(of).max().unwrap_or(0);
        most.push(largest);
    }
    sum
}
