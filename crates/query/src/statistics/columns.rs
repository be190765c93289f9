//! A block's columns → its statistics, nested paths included.
//!
//! A column whose texts repeat has each distinct one once, so that it is looked at and hashed once; and numbers are parsed already.

#[cfg(test)]
mod tests;

use super::facts::{Facts, Tally};
use super::layout::{KEYS_MAX, NAME_BYTES_MAX, name_of};
use super::list::List;
use super::numbers::Numbers;
use super::strings::Strings;
use super::write::{Listing, Noted, write};
use std::cmp::Reverse;
use tamias_shred::{Survey, Surveyed, SurveyedColumn, SurveyedPath, Tallied};

/// Appends the statistics of a block to `out`, made from what its documents of so many bytes have at each path.
///
/// They tell of nested paths too, but not of those into arrays. Takes time linear in the values. Appends at most a fortieth of the bytes, and a
/// four-hundredth for nested paths; or 2 KiB and 512 bytes, if the documents are few.
pub fn collect_surveyed_statistics(survey: &Survey<'_>, document_bytes: usize, out: &mut Vec<u8>) {
    let mut flat = vec![0u8; survey.len().div_ceil(8)];
    for (event, is_flat) in survey.flat().into_iter().enumerate() {
        if let Some(bits) = flat.get_mut(event / 8) {
            *bits |= u8::from(is_flat) << (event % 8);
        }
    }
    let (keys, paths) = survey.paths().into_iter().partition(|path| path.is_key);
    let (keys, paths) = (listing(survey, keys), listing(survey, paths));
    let has_inside = |key: &Noted<'_>| key.facts.is_repeated || key.facts.maps + key.facts.arrays > 0;
    let is_nested = keys.has_others || keys.noted.iter().any(has_inside);
    write(survey.len() as u32, (keys, is_nested), Some(paths), &flat, document_bytes, out);
}

/// What is told of some paths: of those that most events have, where they are too many.
fn listing<'d>(survey: &Survey<'d>, mut paths: Vec<SurveyedPath>) -> Listing<'d> {
    let all = paths.len();
    paths.retain(|path| path.bytes <= NAME_BYTES_MAX);
    paths.sort_by_key(|path| Reverse(path.events));
    paths.truncate(KEYS_MAX);
    let noted = paths.iter().map(|path| noted(survey, path)).collect();
    Listing { noted, has_others: paths.len() < all }
}

fn noted<'d>(survey: &Survey<'d>, path: &SurveyedPath) -> Noted<'d> {
    let name = name_of(&survey.keys(path));
    let mut facts = Box::new(Facts::new(&name));
    facts.events = path.events;
    match survey.values(path) {
        None => facts.is_repeated = true,
        Some(values) => facts.survey(&values),
    }
    Noted { name, elsewhere: None, facts }
}

impl From<Tallied> for Tally {
    fn from(Tallied { count, first }: Tallied) -> Tally {
        Tally { count, first }
    }
}

impl<'d> Facts<'d> {
    /// Takes in all values of a path.
    fn survey(&mut self, values: &Surveyed<'d>) {
        self.first_missing = (values.missing.count > 0).then_some(values.missing.first);
        self.maps = values.objects.count;
        self.arrays = values.arrays.count;
        self.null = values.null.into();
        self.falsehood = values.falsehood.into();
        self.truth = values.truth.into();
        if let Some(texts) = &values.texts {
            self.strings.survey(texts);
        }
        self.numbers.survey([&values.whole, &values.fractions, &values.long].map(Option::as_ref));
    }
}

impl<'d> Strings<'d> {
    /// Takes in all strings of a path.
    fn survey(&mut self, texts: &SurveyedColumn<'d>) {
        self.count = texts.len() as u32;
        let Some(mut list) = self.list.take() else { return };
        let bytes = texts.bytes();
        let is_listed = match texts.codes() {
            None => (0..texts.len()).all(|index| {
                let range = texts.range(index);
                list.add(bytes, range.start, range.end, texts.event(index))
            }),
            Some(codes) => {
                let are_few = texts.entries().all(|text| list.add(text, 0, text.len(), 0));
                if are_few {
                    count(codes, texts, &mut list);
                }
                are_few
            }
        };
        if is_listed {
            self.list = Some(list);
        } else if self.end_list(&list) {
            self.hashes.reserve(texts.entries().len());
            texts.entries().for_each(|text| self.keep(text));
        }
    }
}

/// Counts the values of each entry of a list.
fn count(codes: &[i64], texts: &SurveyedColumn<'_>, list: &mut List<'_>) {
    list.entries.iter_mut().for_each(|entry| entry.count = 0);
    for (index, code) in codes.iter().enumerate() {
        if let Some(entry) = list.entries.get_mut(*code as usize) {
            if entry.count == 0 {
                entry.first = texts.event(index);
            }
            entry.count += 1;
        }
    }
}

/// Each value of some columns, as its column and its place in that, in the order of the events.
fn merged<'c, 'd>(
    columns: [Option<&'c SurveyedColumn<'d>>; 3],
) -> impl Iterator<Item = (&'c SurveyedColumn<'d>, usize)> {
    let mut next = [0; 3];
    std::iter::from_fn(move || {
        let heads = columns.iter().zip(&next).enumerate().filter_map(|(number, (column, index))| {
            let column = column.filter(|column| *index < column.len())?;
            Some((column.event(*index), number, column, *index))
        });
        let (_, number, column, index) = heads.min_by_key(|(event, ..)| *event)?;
        next[number] += 1;
        Some((column, index))
    })
}

impl<'d> Numbers<'d> {
    /// Takes in all numbers of a path: whole ones, those with a fraction, and others.
    fn survey(&mut self, columns: [Option<&SurveyedColumn<'d>>; 3]) {
        self.count = columns.iter().flatten().map(|column| column.len() as u32).sum();
        let mut list = List::new();
        let mut add = |column: &SurveyedColumn<'d>, index: usize| {
            let range = column.range(index);
            list.add(column.bytes(), range.start, range.end, column.event(index))
        };
        let is_listed = match columns {
            [Some(only), None, None] => (0..only.len()).all(|index| add(only, index)),
            several => merged(several).all(|(column, index)| add(column, index)),
        };
        if is_listed {
            self.list = Some(list);
            return;
        }
        self.list = None;
        let [whole, fractions, long] = columns;
        if let Some(whole) = whole {
            self.add_significands(whole, |_| 0);
        }
        if let Some(fractions) = fractions {
            let scales = fractions.scales();
            self.add_significands(fractions, |index| scales.get(index).copied().unwrap_or_default().into());
        }
        if let Some(long) = long {
            for index in 0..long.len() {
                self.add_other(long.bytes().get(long.range(index)).unwrap_or_default(), long.event(index), 1);
            }
        }
    }

    fn add_significands(&mut self, column: &SurveyedColumn<'d>, scale_of: impl Fn(usize) -> u32) {
        let bytes = column.bytes();
        for (index, significand) in column.significands().iter().enumerate() {
            let text = || bytes.get(column.range(index)).unwrap_or_default();
            self.add_significand(*significand, scale_of(index), 1, text, || column.event(index));
        }
    }
}
