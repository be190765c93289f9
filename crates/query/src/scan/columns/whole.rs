//! What was found in a block, as the columns of one chunk.

use super::found::{Passing, Values};
use crate::chunk::{
    CellText, Column, Columns, Decimals, Digits, Entries, Form, Mantissas, Numbers, each_spelled, is_few,
};
use crate::column_block::{Coded, MixedColumn, PathColumn};
use crate::dictionary::Dictionary;
use std::sync::Arc;

/// Gives a column the values of all rows that pass.
pub(super) fn set_column(form: Form, values: &Values, rows: &Passing, column: usize, columns: &mut Columns) {
    let values = match form {
        Form::Nothing => return,
        Form::Keys if let Some(numbers) = numbers_of_keys(values, rows) => Column::Keys(numbers),
        Form::Values | Form::Keys => Column::Entries(entries(form, values, rows, columns)),
        Form::Numbers => match values {
            Values::Nothing | Values::Undefined => return,
            Values::Numbers(numbers) => Column::Mantissas(numbers.clone()),
            Values::Path(path) if let PathColumn::Mixed(column) = &**path => {
                Column::Numbers(mixed_numbers(column, rows, columns))
            }
            Values::Decimals(decimals) => Column::Decimals(decimals.clone()),
            Values::Path(_) | Values::Rows(_) => {
                let entries = entries(form, values, rows, columns);
                // What is asked of each value is then asked of each entry.
                if entries.dictionary.len() <= entries.codes.len() && !has_number(&entries.dictionary) {
                    return columns.set(column, Column::Entries(entries));
                }
                let Entries { dictionary, codes, .. } = entries;
                let number = columns.share(dictionary.clone());
                let mut numbers = Numbers::default();
                for (row, code) in (0..).zip(codes) {
                    numbers.push(row, dictionary.get(code), CellText::Entry { dictionary: number, code });
                }
                Column::Numbers(numbers)
            }
        },
    };
    columns.set(column, values);
}

/// The numbers of rows that pass, where keys are told apart by them.
fn numbers_of_keys(values: &Values, rows: &Passing) -> Option<Arc<Mantissas>> {
    let Values::Path(path) = values else { return None };
    let PathColumn::Numbers(column) = &**path else { return None };
    column.become_keys().then(|| gather(&column.numbers, rows, column.rows()))
}

/// The numbers of rows that pass, and what else of them counts.
fn mixed_numbers(column: &MixedColumn, rows: &Passing, columns: &mut Columns) -> Numbers {
    let others = &column.others;
    let mut numbers = Numbers::default();
    let mut codes = Vec::new();
    let mut next = 0;
    for (nth, row) in (0..).zip(rows.places()) {
        while others.rows.get(next).is_some_and(|other| *other < row) {
            next += 1;
        }
        if others.rows.get(next) == Some(&row) {
            codes.push((nth, others.values.code(next)));
        }
    }
    let mut next = 0;
    let (mut long, mut bytes, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    let gathered = gather_some(&column.numbers, rows.places(), rows.len());
    for (place, number) in each_spelled(&gathered).enumerate() {
        while codes.get(next).is_some_and(|(nth, _)| *nth < number.at) {
            next += 1;
        }
        if codes.get(next).is_some_and(|(nth, _)| *nth == number.at) {
            continue;
        }
        if is_few(&number) {
            numbers.few.push(number);
        } else {
            gathered.write(place, &mut bytes);
            long.push((number.at, ends.len() as u32));
            ends.push(bytes.len() as u32);
        }
    }
    for (dictionary, codes) in
        [(others.values.dictionary.clone(), codes), (Arc::new(Dictionary::new(bytes, ends)), long)]
    {
        let number = columns.share(dictionary.clone());
        for (row, code) in codes {
            numbers.push(row, dictionary.get(code), CellText::Entry { dictionary: number, code });
        }
    }
    numbers
}

fn has_number(dictionary: &Dictionary) -> bool {
    dictionary.firsts().any(|first| matches!(first, Some(b'-' | b'0'..=b'9')))
}

fn entries(form: Form, values: &Values, rows: &Passing, columns: &mut Columns) -> Entries {
    let mut codes = columns.codes();
    let dictionary = match values {
        Values::Path(path) => path.coded().map(|coded| {
            extend_codes(&mut codes, coded, rows);
            coded.dictionary.clone()
        }),
        Values::Rows(values) => {
            codes.extend(0..rows.len() as u32);
            Some(values.clone())
        }
        // Numbers are asked for as such only.
        Values::Nothing | Values::Numbers(_) | Values::Decimals(_) | Values::Undefined => None,
    };
    let dictionary = dictionary.unwrap_or_else(|| {
        codes.resize(rows.len(), 0);
        Arc::new(Dictionary::new(Vec::new(), vec![0]))
    });
    Entries { form, dictionary, codes }
}

fn extend_codes(codes: &mut Vec<u32>, coded: &Coded, rows: &Passing) {
    match (coded.codes(), rows) {
        (Some(of), Passing::All(all)) => {
            codes.extend_from_slice(of.get(all.start as usize..all.end as usize).unwrap_or_default());
        }
        (_, rows) => codes.extend(rows.places().map(|row| coded.code(row as usize))),
    }
}

/// The numbers of some rows of a block of so many, by their places among those rows, which come in the block's order.
pub(super) fn gather(numbers: &Arc<Mantissas>, rows: &Passing, of: usize) -> Arc<Mantissas> {
    if rows.len() == of {
        return numbers.clone();
    }
    Arc::new(gather_some(numbers, rows.places(), rows.len()))
}

/// The numbers of so many rows of a block, by their places among those rows, which come in the block's order; some may come more than once.
pub(super) fn gather_some(numbers: &Mantissas, rows: impl Iterator<Item = u32>, count: usize) -> Mantissas {
    let (places, at) = places_of(numbers.rows.as_deref(), rows, count);
    at_places(numbers, &places, at)
}

/// The same of decimals.
pub(super) fn gather_decimals(decimals: &Decimals, rows: &Passing) -> Decimals {
    if let (Some(with_one), Passing::Some(rows)) = (&decimals.rows, rows)
        && *with_one == **rows
    {
        // As it is where rows pass whose divisor is not zero.
        return Decimals { rows: None, values: decimals.values.clone() };
    }
    let (places, rows) = places_of(decimals.rows.as_deref(), rows.places(), rows.len());
    Decimals { rows, values: decimals.values.at(&places) }
}

/// Where one row in so many is asked about, or fewer, each is searched for by itself.
const SEARCHED_SHARE: usize = 64;

/// Where the values of so many rows stand in a list that has one for each of `with_one`, or for every row; and which of the rows have one, unless all do.
fn places_of(
    with_one: Option<&[u32]>,
    rows: impl Iterator<Item = u32>,
    count: usize,
) -> (Vec<u32>, Option<Vec<u32>>) {
    let Some(with_one) = with_one else { return (rows.collect(), None) };
    if count < with_one.len() / SEARCHED_SHARE {
        let place = |row: &u32| with_one.binary_search(row).ok();
        let found = (0..).zip(rows).filter_map(|(nth, row)| Some((place(&row)? as u32, nth)));
        let (places, at): (Vec<u32>, Vec<u32>) = found.unzip();
        let at = (places.len() != count).then_some(at);
        return (places, at);
    }
    let mut place_of = vec![u32::MAX; with_one.last().map_or(0, |last| *last as usize + 1)];
    for (place, row) in (0..).zip(with_one) {
        if let Some(place_of) = place_of.get_mut(*row as usize) {
            *place_of = place;
        }
    }
    // Written always, and kept where the row has a number: a branch could not be foretold.
    let (mut places, mut at, mut found) = (vec![0; count], vec![0; count], 0);
    for (nth, row) in (0..).zip(rows) {
        let place = place_of.get(row as usize).copied().unwrap_or(u32::MAX);
        if let (Some(places), Some(at)) = (places.get_mut(found), at.get_mut(found)) {
            (*places, *at) = (place, nth);
        }
        found += usize::from(place != u32::MAX);
    }
    places.truncate(found);
    at.truncate(found);
    (places, (found != count).then_some(at))
}

/// The numbers at some places, each of which there is, for rows.
pub(super) fn at_places(numbers: &Mantissas, places: &[u32], rows: Option<Vec<u32>>) -> Mantissas {
    let value = |place: &u32| numbers.values.get(*place as usize).copied().unwrap_or_default();
    let spelled = match &numbers.spelled {
        Digits::Each(digits) => {
            let digits = |place: &u32| digits.get(*place as usize).copied().unwrap_or_default();
            Digits::Each(places.iter().map(digits).collect())
        }
        alike => alike.clone(),
    };
    Mantissas { rows, values: places.iter().map(value).collect(), scale: numbers.scale, spelled }
}
