//! The values of objects as rows of their own, from the columns of their members: no object is put together.

use super::evaluate::Evaluator;
use super::texts::unquoted;
use crate::column_block::{Coded, Path, PathColumn};
use crate::dictionary::Dictionary;
use crate::elements::each_element;
use crate::error::ExecError;
use crate::expr::Expr;
use std::collections::HashMap;
use std::sync::Arc;
use tamias_shred::{Digits, Numbers};

/// Of a block with more elements, documents are looked at one by one.
pub(super) const ELEMENTS_MAX: usize = 1 << 17;

/// After so many rows it is asked whether to go on.
pub(super) const CHECKED_ROWS: usize = 1024;

/// HEURISTIC: of objects with more keys in a block, as those have whose keys are data, each member's column would have few values.
const MEMBERS_MAX: usize = 16;

/// HEURISTIC: fewer objects had better be put together.
const ROWS_MIN: usize = 1024;

/// Objects all of whose members have columns: of numbers, or of other values that are spelled in one way.
pub(super) struct ObjectsOfMembers {
    /// Of each event which list of members its object has.
    lists: Arc<PathColumn>,
    /// For each of these lists the members by number, in the order of the document.
    of_list: Vec<Vec<usize>>,
    members: Vec<Arc<PathColumn>>,
}

impl Evaluator<'_> {
    /// The objects whose values an expression asks for, if it does nothing else, and the columns of members tell all of these.
    pub(super) fn objects_of_members(&self, collection: &Expr) -> Option<ObjectsOfMembers> {
        let Expr::Call { function, arguments, ci: false } = collection else { return None };
        let ("Values", [of], None) = (function.name, arguments.as_slice(), &self.origins) else {
            return None;
        };
        let (path, keys) = self.object(of)?;
        // Others are spelled as functions spell them.
        if keys.len() > MEMBERS_MAX || keys.iter().any(|key| key.contains('\\')) {
            return None;
        }
        // Where something cannot be read, that is found again with the documents.
        let block = self.block.stored().filter(|block| block.len() >= ROWS_MIN)?;
        let lists = block.object_keys(&path).ok()??;
        let of_list = members_of_lists(&keys, &lists.coded()?.dictionary)?;
        let member = |key| {
            let path: Path = path.iter().chain(std::iter::once(key)).cloned().collect();
            let column = block.at(&path).ok()?;
            let is_plain = match &*column {
                PathColumn::Numbers(_) => true,
                PathColumn::Mixed(column) => is_spelled_alike(&column.others.values.dictionary),
                other => is_spelled_alike(&other.coded()?.dictionary),
            };
            is_plain.then_some(column)
        };
        Some(ObjectsOfMembers { members: keys.iter().map(member).collect::<Option<_>>()?, lists, of_list })
    }

    /// The values of objects in some rows, in ascending order, and the row of each; none where they are many, or mantissas have no room for them.
    pub(super) fn values_of(
        &self,
        ObjectsOfMembers { lists, of_list, members }: &ObjectsOfMembers,
        rows: &[u32],
    ) -> Result<Option<(Vec<u32>, PathColumn)>, ExecError> {
        let Some(coded) = lists.coded() else { return Ok(None) };
        let list = |row: u32| of_list.get(coded.code(row as usize) as usize).map_or(&[][..], Vec::as_slice);
        let count: usize = rows.iter().map(|row| list(*row).len()).sum();
        if count > ELEMENTS_MAX {
            return Ok(None);
        }
        let mut origins = Vec::with_capacity(count);
        let Some(mut gathered) = Gathered::of(members, count) else { return Ok(None) };
        for (nth, row) in rows.iter().enumerate() {
            for member in list(*row) {
                origins.push(*row);
                if gathered.add(*member, *row).is_none() {
                    return Ok(None);
                }
            }
            if nth.is_multiple_of(CHECKED_ROWS) {
                self.check()?;
            }
        }
        Ok(Some((origins, gathered.into_column())))
    }
}

/// For each list of keys the numbers of these, in the order of the list.
fn members_of_lists(keys: &[Box<str>], lists: &Dictionary) -> Option<Vec<Vec<usize>>> {
    let numbers: HashMap<&[u8], usize> = keys.iter().map(|key| key.as_bytes()).zip(0..).collect();
    let members = |list: u32| {
        let (mut members, mut are_known) = (Vec::new(), true);
        each_element(lists.get(list), |key| {
            let number = unquoted(key).and_then(|key| numbers.get(key));
            are_known &= number.is_some();
            members.extend(number);
        });
        are_known.then_some(members)
    };
    (0..lists.len() as u32).map(members).collect()
}

/// Whether values are spelled as functions spell them: words, and strings without escapes.
fn is_spelled_alike(values: &Dictionary) -> bool {
    let are_words = || values.firsts().all(|first| matches!(first, None | Some(b'"' | b'n' | b't' | b'f')));
    are_words() && !values.has_escapes()
}

/// Values of several columns, one after another.
struct Gathered<'c> {
    columns: Vec<Cursor<'c>>,
    scale: u8,
    values: Vec<i64>,
    digits: Vec<u8>,
    /// The places of those that are no numbers, in ascending order.
    others: Vec<u32>,
    texts: Vec<u8>,
    ends: Vec<u32>,
}

/// A column, and how far its numbers were read.
struct Cursor<'c> {
    column: &'c PathColumn,
    numbers: Option<&'c Numbers>,
    next: usize,
    /// What its mantissas are multiplied by.
    power: i64,
}

impl<'c> Gathered<'c> {
    /// Nothing yet, of so many values; none where mantissas of one scale may have no room.
    fn of(members: &'c [Arc<PathColumn>], count: usize) -> Option<Gathered<'c>> {
        let scale = members.iter().filter_map(|column| numbers_of(column)).map(|numbers| numbers.scale).max();
        let scale = scale.unwrap_or_default();
        let cursor = |column: &'c Arc<PathColumn>| {
            let numbers = numbers_of(column);
            let own = numbers.map_or(scale, |numbers| numbers.scale);
            let power = 10i64.checked_pow((scale - own).into())?;
            Some(Cursor { column, numbers, next: 0, power })
        };
        let columns = members.iter().map(cursor).collect::<Option<_>>()?;
        Some(Gathered {
            columns,
            scale,
            values: Vec::with_capacity(count),
            digits: Vec::with_capacity(count),
            others: Vec::new(),
            texts: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// Adds the value of a member in a row that has one. Rows come in ascending order.
    fn add(&mut self, member: usize, row: u32) -> Option<()> {
        let cursor = self.columns.get_mut(member)?;
        let Some(place) = cursor.place(row) else { return self.add_text(member, row) };
        let Cursor { numbers, power, .. } = cursor;
        let mantissa = numbers.and_then(|numbers| numbers.values.get(place))?;
        self.values.push(mantissa.checked_mul(*power)?);
        self.digits.push(numbers.and_then(|numbers| numbers.digits(place))?);
        Some(())
    }

    /// The same of a value that is no number.
    fn add_text(&mut self, member: usize, row: u32) -> Option<()> {
        let text = self.columns.get(member)?.column.json(row as usize);
        if text.is_empty() {
            return None;
        }
        self.others.push((self.values.len() + self.others.len()) as u32);
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len() as u32);
        Some(())
    }

    fn into_column(self) -> PathColumn {
        let Gathered { scale, values, digits, others, texts, ends, .. } = self;
        let count = values.len() + others.len();
        let texts = Dictionary::new(texts, ends);
        if values.is_empty() {
            return PathColumn::Coded(Coded::of_texts(texts));
        }
        let spelled = Digits::of(digits, scale);
        if others.is_empty() {
            return PathColumn::of_numbers(Numbers { rows: None, values, scale, spelled }, count);
        }
        let mut next = others.iter().copied().peekable();
        let is_number = |place: &u32| next.next_if_eq(place).is_none();
        let rows = Some((0..count as u32).filter(is_number).collect());
        PathColumn::of_mixed(Numbers { rows, values, scale, spelled }, others, texts, count)
    }
}

impl Cursor<'_> {
    /// Where the number of a row stands, if it has one. Rows come in ascending order.
    fn place(&mut self, row: u32) -> Option<usize> {
        let Some(rows) = &self.numbers?.rows else { return Some(row as usize) };
        while rows.get(self.next).is_some_and(|with_one| *with_one < row) {
            self.next += 1;
        }
        (rows.get(self.next) == Some(&row)).then_some(self.next)
    }
}

/// The values of a column that are numbers.
fn numbers_of(column: &PathColumn) -> Option<&Numbers> {
    match column {
        PathColumn::Numbers(column) => Some(&column.numbers),
        PathColumn::Mixed(column) => Some(&column.numbers),
        PathColumn::Nothing | PathColumn::Coded(_) | PathColumn::Pieces(_) | PathColumn::Unknown => None,
    }
}
