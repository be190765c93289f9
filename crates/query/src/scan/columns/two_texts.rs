//! Conditions on two texts of each row, of columns or computed of them, told from their bytes.

use super::compile::slots_of;
use super::evaluate::{Evaluator, Mask, count};
use super::reckoned::Reckoned;
use super::texts::{compares, unquoted};
use crate::ast::Comparison;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::{characters, has_needed_escapes_only};
use crate::error::ExecError;
use crate::expr::{Expr, holds};
use crate::value::{Kind, Value};
use foldhash::fast::RandomState;
use memchr::memmem::{self, Finder};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// HEURISTIC: where the entries of two columns are one to so many rows, they are looked up in one another.
const LOOKED_UP_SHARE: usize = 8;

/// HEURISTIC: to tell their order, those of one column are sorted first, where they are one to so many rows.
const RANKED_SHARE: usize = 64;

/// Stands for a value that is missing.
const MISSING: u32 = 0;

/// Combinations of what columns have are evaluated, each once, where they are one to so many rows at most. HEURISTIC: that takes five times as long as to compare the bytes of
/// two texts.
const COMBINED_SHARE: usize = 32;

/// After so many rows it is asked whether to go on.
const CHECKED_ROWS: usize = 1024;

/// What is asked of a text and another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Starts,
    Ends,
    Contains,
}

impl Asked {
    /// Both are spelled as strings have them, and each character is in one way.
    fn holds(self, text: &[u8], part: &[u8]) -> bool {
        match self {
            Asked::Starts => text.starts_with(part),
            Asked::Ends => {
                let place = text.len().saturating_sub(part.len());
                text.ends_with(part) && character_from(text, 0, place) == place
            }
            Asked::Contains => place_in(text, |text| place_of(part, text)).is_some(),
        }
    }
}

/// Where the first character of a string begins that is not before a place; another one begins at `at`, before it.
fn character_from(text: &[u8], mut at: usize, place: usize) -> usize {
    while let Some(escape) = text.get(at..place).and_then(|before| memchr::memchr(b'\\', before)) {
        at += escape + if text.get(at + escape + 1) == Some(&b'u') { r"\u0000".len() } else { r"\n".len() };
    }
    at.max(place)
}

/// Where something first stands in a string so that a character begins there; `find` tells where it stands first in some bytes. Takes time linear in the string.
fn place_in(text: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
    let (mut from, mut character) = (0, 0);
    while let Some(found) = text.get(from..).and_then(&find) {
        let place = from + found;
        character = character_from(text, character, place);
        if character == place {
            return Some(place);
        }
        from = character;
    }
    None
}

/// A text is looked for where its first byte is, at so many places at most: to prepare a search for it takes as long.
const PLACES_MAX: usize = 8;

/// Where a text first has another one in it, which is looked for in this one only.
fn place_of(part: &[u8], text: &[u8]) -> Option<usize> {
    let Some(first) = part.first() else { return Some(0) };
    let mut from = 0;
    for _ in 0..PLACES_MAX {
        let rest = text.get(from..)?;
        let place = memchr::memchr(*first, rest)?;
        if rest.get(place..)?.starts_with(part) {
            return Some(from + place);
        }
        from += place + 1;
    }
    memmem::find(text.get(from..)?, part).map(|place| from + place)
}

/// The texts of one side of a condition, as they are compared.
struct Side {
    column: Arc<PathColumn>,
    /// Whether letters are compared in one case: of texts of plain ASCII alone that is told by their bytes.
    in_one_case: bool,
}

impl Side {
    fn coded(&self) -> Option<&Coded> {
        self.column.texts()
    }

    /// A text as strings spell it, if its bytes tell how it compares.
    fn text<'t>(&self, json: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        let text = unquoted(json).filter(|text| has_needed_escapes_only(text))?;
        match self.in_one_case {
            false => Some(Cow::Borrowed(text)),
            true => text.is_ascii().then(|| Cow::Owned(text.to_ascii_lowercase())),
        }
    }
}

/// The texts that are looked for in others.
struct Parts<'c> {
    side: &'c Side,
    coded: &'c Coded,
    asked: Asked,
    /// What finds each entry, where enough rows share them that making it is paid for. None for an entry whose bytes do not tell how it compares.
    finders: Vec<Option<Finder<'c>>>,
}

impl<'c> Parts<'c> {
    /// Those of a column of texts, of which so many rows are asked.
    fn of(side: &'c Side, asked: Asked, rows: usize) -> Option<Parts<'c>> {
        let coded = side.coded()?;
        let entries = coded.dictionary.len();
        let are_shared = coded.codes().is_some() && entries * LOOKED_UP_SHARE <= rows;
        let of_entries = 0..if asked == Asked::Contains && are_shared { entries as u32 } else { 0 };
        let finders = of_entries.map(|entry| {
            Some(match side.text(coded.dictionary.get(entry))? {
                Cow::Borrowed(text) => Finder::new(text),
                Cow::Owned(text) => Finder::new(&text).into_owned(),
            })
        });
        Some(Parts { side, coded, asked, finders: finders.collect() })
    }

    fn json(&self, row: usize) -> &'c [u8] {
        self.coded.dictionary.get(self.coded.code(row))
    }

    /// Whether it holds of a text and the one of this row; none where its bytes do not tell that.
    fn hold(&self, text: &[u8], row: usize) -> Option<bool> {
        if self.asked == Asked::Contains {
            return Some(self.place(text, row)?.is_some());
        }
        let part = self.side.text(self.json(row))?;
        Some(self.asked.holds(text, &part))
    }

    /// Where a text first has the one of this row, in bytes; the outer one none where their bytes do not tell that.
    fn place(&self, text: &[u8], row: usize) -> Option<Option<usize>> {
        if let Some(finder) = self.finders.get(self.coded.code(row) as usize) {
            let finder = finder.as_ref()?;
            return Some(place_in(text, |text| finder.find(text)));
        }
        let part = self.side.text(self.json(row))?;
        Some(place_in(text, |text| place_of(&part, text)))
    }
}

/// Of which rows a condition on two texts is true, and of which false: of the others it is neither.
struct TwoTexts {
    holds: Mask,
    fails: Mask,
}

/// Whether the bytes of texts tell how values of two columns compare: equal ones are spelled alike, or the others are nothing but strings without escapes, whose bytes
/// are in the order of their characters.
fn are_told(op: Comparison, columns: [&Coded; 2]) -> bool {
    columns.into_iter().all(|coded| match op {
        Comparison::Equal | Comparison::NotEqual => coded.dictionary.has_one_spelling_each(),
        _ => op.orders() && coded.dictionary.has_strings_only() && !coded.dictionary.has_escapes(),
    })
}

/// Whether a value of each of two columns compares so, where their bytes tell it: nothing is true of what is missing.
fn compare(op: Comparison, left: &[u8], right: &[u8]) -> bool {
    if left.is_empty() || right.is_empty() {
        return false;
    }
    match op {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        _ => unquoted(right).is_some_and(|right| compares(op, left, right)),
    }
}

impl Evaluator<'_> {
    /// Of each row whether the values of two columns compare so; none where their bytes do not tell, or the few rows `within` are sooner evaluated.
    pub(super) fn compare_texts(
        &self,
        op: Comparison,
        left: &Expr,
        right: &Expr,
        within: Option<&Mask>,
    ) -> Option<Mask> {
        if op.orders() && within.is_some_and(|within| !self.are_many(count(Some(within)))) {
            return None;
        }
        // Where one side is no column, the texts of the other are not put together.
        let (left, right) = (self.as_column(left)??, self.as_column(right)??);
        self.compare_coded(op, left.texts()?, right.texts()?)
    }

    /// The same where the texts of one side or of both are made of columns.
    fn compare_made_texts(&self, expr: &Expr) -> Option<Mask> {
        let Expr::Compare { op, left, right, ci: false } = expr else { return None };
        if self.only(expr).is_some_and(|only| only.is_none()) || self.entries(expr).is_some() {
            return None;
        }
        let side = |of: &Expr| match self.as_column(of) {
            Some(column) => column.cloned(),
            None if of.kind(&[]) == Some(Kind::String) => self.computed(of),
            None => None,
        };
        let (left, right) = (side(left)?, side(right)?);
        self.compare_coded(*op, left.texts()?, right.texts()?)
    }

    fn compare_coded(&self, op: Comparison, left: &Coded, right: &Coded) -> Option<Mask> {
        if !are_told(op, [left, right]) {
            return None;
        }
        let numbers = if left.repeats() && right.repeats() { self.numbers_of(op, left, right) } else { None };
        let Some((left_numbers, right_numbers)) = numbers else {
            let passes = |row: usize| {
                let [left, right] = [left, right].map(|coded| coded.dictionary.get(coded.code(row)));
                compare(op, left, right)
            };
            return Some((0..self.rows()).map(passes).collect());
        };
        let number = |numbers: &[u32], code: u32| numbers.get(code as usize).copied().unwrap_or(MISSING);
        let passes = |(left, right): (&u32, &u32)| {
            let (left, right) = (number(&left_numbers, *left), number(&right_numbers, *right));
            left != MISSING && right != MISSING && holds(op, left.cmp(&right))
        };
        let codes = left.codes().unwrap_or_default().iter().zip(right.codes().unwrap_or_default());
        Some(codes.map(passes).collect())
    }

    /// The numbers of the entries of two columns, which compare as the values do; none where the entries are too many for so many rows.
    fn numbers_of(&self, op: Comparison, left: &Coded, right: &Coded) -> Option<(Vec<u32>, Vec<u32>)> {
        let [one, other] = [left, right].map(|coded| coded.dictionary.len());
        if one + other > self.rows() / LOOKED_UP_SHARE {
            return None;
        }
        if !op.orders() {
            let mut known: HashMap<&[u8], u32, RandomState> = HashMap::default();
            let mut number = |text| {
                let next = known.len() as u32 + 1;
                if text == b"" { MISSING } else { *known.entry(text).or_insert(next) }
            };
            let left = left.dictionary.texts().map(&mut number).collect();
            return Some((left, right.dictionary.texts().map(number).collect()));
        }
        // The fewer are sorted; of each entry it counts how many of them are less, and whether one is equal.
        let fewer = if one < other { left } else { right };
        if fewer.dictionary.len() > self.rows() / RANKED_SHARE {
            return None;
        }
        let mut sorted: Vec<&[u8]> = fewer.dictionary.texts().filter_map(unquoted).collect();
        sorted.sort_unstable();
        let number = |text: &[u8]| match unquoted(text).map(|text| sorted.binary_search(&text)) {
            None => MISSING,
            Some(Err(less)) => 2 * less as u32 + 1,
            Some(Ok(less)) => 2 * less as u32 + 2,
        };
        let numbers = |coded: &Coded| coded.dictionary.texts().map(number).collect();
        Some((numbers(left), numbers(right)))
    }

    /// Of each row whether one text begins or ends with another, has it anywhere, or is equal to it where one of them is made; none where
    /// something else is asked. Rows that are not `within` need not be told.
    pub(super) fn test_two_texts(
        &self,
        expr: &Expr,
        within: Option<&Mask>,
    ) -> Result<Option<Mask>, ExecError> {
        let rows = within.map_or(self.rows(), |within| count(Some(within)));
        if self.are_many(rows)
            && let Some(mask) = self.compare_made_texts(expr)
        {
            return Ok(Some(mask));
        }
        Ok(self.two_texts(expr, within)?.map(|told| told.holds))
    }

    /// The values of such a condition for all rows.
    pub(super) fn truths_of_two_texts(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let TwoTexts { holds, fails } = self.two_texts(expr, None).ok()??;
        Some(self.truths(&holds, |row| fails.get(row) == Some(&true)))
    }

    fn two_texts(&self, expr: &Expr, within: Option<&Mask>) -> Result<Option<TwoTexts>, ExecError> {
        let rows = within.map_or(self.rows(), |within| count(Some(within)));
        let asked = match expr {
            Expr::Call { function, .. } => match function.name {
                "StartsWith" => Asked::Starts,
                "EndsWith" => Asked::Ends,
                "Contains" => Asked::Contains,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if self.are_many(rows) && self.has_few_combinations(expr) {
            return Ok(None);
        }
        let Some((left, right)) = self.sides(expr, rows) else { return Ok(None) };
        let (Some(texts), Some(parts)) = (left.coded(), Parts::of(&right, asked, rows)) else {
            return Ok(None);
        };
        let (mut holds, mut fails) = (vec![false; self.rows()], vec![false; self.rows()]);
        let mut open = Vec::new();
        for (row, (holds, fails)) in holds.iter_mut().zip(&mut fails).enumerate() {
            if row.is_multiple_of(CHECKED_ROWS) {
                self.check()?;
            }
            if within.is_some_and(|within| within.get(row) != Some(&true)) {
                continue;
            }
            let json = texts.dictionary.get(texts.code(row));
            match left.text(json).and_then(|text| parts.hold(&text, row)) {
                Some(told) => (*holds, *fails) = (told, !told),
                // Nothing is told of what is no text.
                None if json.first() != Some(&b'"') || parts.json(row).first() != Some(&b'"') => {}
                None => open.push(row as u32),
            }
        }
        self.each(expr, open, |row, value| {
            if let (Some(holds), Some(fails), Value::Bool(told)) =
                (holds.get_mut(row), fails.get_mut(row), value)
            {
                (*holds, *fails) = (told, !told);
            }
        })?;
        Ok(Some(TwoTexts { holds, fails }))
    }

    /// Whether there are few combinations of what the columns have that an expression depends on.
    fn has_few_combinations(&self, expr: &Expr) -> bool {
        let columns = slots_of(expr).into_iter().filter_map(|slot| self.column(slot));
        let entries = columns.map(|column| Some(column.repeating()?.dictionary.len()));
        let combinations = entries.into_iter().try_fold(1usize, |all, entries| all.checked_mul(entries?));
        combinations.is_some_and(|combinations| combinations <= self.rows() / COMBINED_SHARE)
    }

    /// In which place one text of each row first has another one, counted in characters; none where something else is asked.
    pub(super) fn places_of_texts(&self, expr: &Expr) -> Option<Reckoned> {
        if self.has_few_combinations(expr) {
            return None;
        }
        let (left, right) = self.sides(expr, self.rows())?;
        let (texts, parts) = (left.coded()?, Parts::of(&right, Asked::Contains, self.rows())?);
        let (mut rows, mut places) = (Vec::with_capacity(self.rows()), Vec::with_capacity(self.rows()));
        for row in 0..self.rows() {
            if row.is_multiple_of(CHECKED_ROWS) {
                self.check().ok()?;
            }
            let json = texts.dictionary.get(texts.code(row));
            if json.first() != Some(&b'"') || parts.json(row).first() != Some(&b'"') {
                continue;
            }
            let text = left.text(json)?;
            let place = match parts.place(&text, row)? {
                Some(place) => characters(text.get(..place)?)? as i64,
                None => -1,
            };
            rows.push(row as u32);
            places.push(place);
        }
        let rows = (rows.len() < self.rows()).then_some(rows);
        Some(Reckoned::computed(rows, places, 0))
    }

    /// The columns of two texts, which functions may make of others, that a function takes, where so many rows are asked.
    fn sides(&self, expr: &Expr, rows: usize) -> Option<(Side, Side)> {
        let Expr::Call { arguments, ci, .. } = expr else { return None };
        let [left, right] = arguments.as_slice() else { return None };
        // What depends on one path is asked of its entries.
        if self.only(expr).is_some_and(|only| only.is_none()) || self.entries(expr).is_some() {
            return None;
        }
        let side = |of: &Expr| {
            let column = match self.as_column(of) {
                Some(column) => column?.clone(),
                None if self.are_many(rows) && !matches!(of, Expr::Constant(_)) => self.computed(of)?,
                None => return None,
            };
            column.texts().is_some().then_some(Side { column, in_one_case: *ci })
        };
        Some((side(left)?, side(right)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tamias_json::write_json_string;

    fn spelled(text: &str) -> Vec<u8> {
        let mut json = Vec::new();
        write_json_string(text, &mut json);
        unquoted(&json).unwrap().to_vec()
    }

    proptest! {
        #[test]
        fn spelled_texts_are_in_one_another_as_texts_are(
            text in "[nu01\"\\\\\n\u{1}é]{0,12}", part in "[nu01\"\\\\\n\u{1}é]{0,3}"
        ) {
            let (spelled_text, spelled_part) = (spelled(&text), spelled(&part));
            let holds = |asked: Asked| asked.holds(&spelled_text, &spelled_part);
            prop_assert_eq!(holds(Asked::Contains), text.contains(&part));
            prop_assert_eq!(holds(Asked::Starts), text.starts_with(&part));
            prop_assert_eq!(holds(Asked::Ends), text.ends_with(&part));
            let finder = Finder::new(&spelled_part);
            let place = place_in(&spelled_text, |text| finder.find(text));
            let before = place.and_then(|place| characters(&spelled_text[..place]));
            prop_assert_eq!(before, text.find(&part).map(|place| text[..place].chars().count()));
        }
    }
}
