//! The values of objects as rows of their own, from the columns of their members where these are numbers: no object is put together.

use super::evaluate::Evaluator;
use super::texts::unquoted;
use crate::column_block::{Path, PathColumn};
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

/// Objects all of whose members are numbers.
pub(super) struct ObjectsOfNumbers {
    /// Of each event which list of members its object has.
    lists: Arc<PathColumn>,
    /// For each of these lists the members by number, in the order of the document.
    of_list: Vec<Vec<usize>>,
    members: Vec<Arc<Numbers>>,
}

impl Evaluator<'_> {
    /// The objects whose values an expression asks for, if it does nothing else, and all of these are numbers that the columns of members tell.
    pub(super) fn objects_of_numbers(&self, collection: &Expr) -> Option<ObjectsOfNumbers> {
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
        let numbers = |key| {
            let path: Path = path.iter().chain(std::iter::once(key)).cloned().collect();
            match &*block.at(&path).ok()? {
                PathColumn::Numbers(column) => Some(column.numbers.clone()),
                _ => None,
            }
        };
        Some(ObjectsOfNumbers { members: keys.iter().map(numbers).collect::<Option<_>>()?, lists, of_list })
    }

    /// The values of objects in some rows, in ascending order, and the row of each; none where they are many, or mantissas have no room for them.
    pub(super) fn values_of(
        &self,
        ObjectsOfNumbers { lists, of_list, members }: &ObjectsOfNumbers,
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
        let column = PathColumn::of_numbers(gathered.numbers(), count);
        Ok(Some((origins, column)))
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

/// Numbers of several columns, one after another.
struct Gathered<'c> {
    columns: Vec<Cursor<'c>>,
    scale: u8,
    values: Vec<i64>,
    digits: Vec<u8>,
}

/// A column of numbers, and how far it was read.
struct Cursor<'c> {
    numbers: &'c Numbers,
    next: usize,
    /// What its mantissas are multiplied by.
    power: i64,
}

impl<'c> Gathered<'c> {
    /// Nothing yet, of so many numbers; none where mantissas of one scale may have no room.
    fn of(members: &'c [Arc<Numbers>], count: usize) -> Option<Gathered<'c>> {
        let scale = members.iter().map(|numbers| numbers.scale).max()?;
        let cursor = |numbers: &'c Arc<Numbers>| {
            let power = 10i64.checked_pow((scale - numbers.scale).into())?;
            Some(Cursor { numbers, next: 0, power })
        };
        let columns = members.iter().map(cursor).collect::<Option<_>>()?;
        Some(Gathered {
            columns,
            scale,
            values: Vec::with_capacity(count),
            digits: Vec::with_capacity(count),
        })
    }

    /// Adds the number of a member in a row that has one. Rows come in ascending order.
    fn add(&mut self, member: usize, row: u32) -> Option<()> {
        let Cursor { numbers, next, power } = self.columns.get_mut(member)?;
        let place = match &numbers.rows {
            None => row as usize,
            Some(rows) => {
                while *rows.get(*next)? < row {
                    *next += 1;
                }
                *next
            }
        };
        let mantissa = *numbers.values.get(place)?;
        self.values.push(mantissa.checked_mul(*power)?);
        self.digits.push(numbers.digits(place)?);
        Some(())
    }

    fn numbers(self) -> Numbers {
        let spelled = Digits::of(self.digits, self.scale);
        Numbers { rows: None, values: self.values, scale: self.scale, spelled }
    }
}
