//! `min(x)` and `max(x)`: the least and the greatest number, in the spelling of the first event that has it; where there is no number,
//! the least and the greatest of the strings and Booleans, in the order of rows.

use super::best::{Bests, Held};
use super::state::{Accumulators, Aggregate, Groups, Known, few_of, rows_of, seen_places};
use crate::chunk::{
    Chunk, Column, DecimalValues, Decimals, ESTIMATE_ERROR, Entries, FewDigits, Mantissas, Order,
    StoredNumbers, scalar_of, value_of,
};
use crate::expr::Certain;
use crate::value::{Kind, Number, Value, beginning_of, compare_few};
use rust_decimal::Decimal;
use std::cmp::Ordering;
use tamias_simd::numbers::range;

/// The value at one end of their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extreme<const LEAST: bool>;

pub(crate) type Min = Extreme<true>;
pub(crate) type Max = Extreme<false>;

impl<const LEAST: bool> Aggregate for Extreme<LEAST> {
    const NAME: &'static str = if LEAST { "min" } else { "max" };
    const TAKES_REPEATED: bool = true;
    const DEPENDS_ON_ORDER: bool = true;
    type State = Extremes<LEAST>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(Extreme)
    }

    fn kind(self, argument: Certain) -> Certain {
        argument.map(|kind| if self.takes(kind) { kind } else { Kind::Undefined })
    }

    fn takes(self, kind: Kind) -> bool {
        matches!(kind, Kind::Boolean | Kind::Number | Kind::String)
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        match by {
            Known::Constant { .. } => false,
            Known::Absent => true,
            // Where there are numbers, nothing else counts.
            Known::Values { numbers: 1.., range, .. } => range.is_some(),
            Known::Values { numbers: 0, count, .. } => *count == 0 || by.has_each(),
        }
    }

    fn state(self) -> Extremes<LEAST> {
        Extremes { best: Bests::default(), scratch: Vec::new() }
    }
}

/// A string without escapes. Its first bytes, with zeros behind a shorter one, tell most of them apart without looking at the rest: where they differ, the strings
/// stand to one another as they do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Plain<'t> {
    beginning: u64,
    text: &'t [u8],
}

impl<'t> Plain<'t> {
    #[inline]
    fn of(text: &'t [u8]) -> Plain<'t> {
        Plain { beginning: beginning_of(text), text }
    }

    /// How another text stands to this one, as far as the bytes before the first escape in it tell.
    fn compare_beginning(&self, other: &[u8]) -> Option<Ordering> {
        let both = other.len().min(self.text.len());
        let (own, other) = (self.text.get(..both)?, other.get(..both)?);
        Some(other.cmp(own)).filter(|order| order.is_ne())
    }
}

pub(crate) struct Extremes<const LEAST: bool> {
    best: Bests,
    scratch: Vec<FewDigits>,
}

/// Of so many groups each has a place of its own while a column is looked at.
const PLACES_MAX: usize = 4096;

/// Groups are few where they have so many rows each.
const ROWS_A_GROUP: usize = 4;

impl<const LEAST: bool> Extremes<LEAST> {
    /// How a better value stands to the best.
    const WANTED: Ordering = if LEAST { Ordering::Less } else { Ordering::Greater };

    /// Whether a value of an event is better than the best of a group, or equal and earlier.
    fn is_best(&self, group: u32, value: &Held<'_>, order: Order) -> bool {
        // Most texts are told from the best by how they begin, which stands beside the group.
        if let Held::Value(Value::Text(text)) = value
            && let Some(best) = self.best.beginning(group)
            && let Some(own) = text.beginning()
            && own != best
        {
            return own.cmp(&best) == Self::WANTED;
        }
        self.best.get(group).is_none_or(|(best, first)| {
            if value.is_number() != best.is_number() {
                return value.is_number();
            }
            match value.compare(&best) {
                Ordering::Equal => order < first,
                unequal => unequal == Self::WANTED,
            }
        })
    }

    /// By how many bytes it grew, about.
    #[inline]
    fn take(&mut self, group: u32, value: Held<'_>, order: Order) -> usize {
        if self.is_best(group, &value, order) { self.best.set(group, value, order) } else { 0 }
    }

    /// Takes in numbers of one scale.
    fn take_column(&mut self, groups: Groups<'_>, numbers: &Mantissas, chunk: &Chunk<'_>) {
        let all = groups.count();
        if all * ROWS_A_GROUP > numbers.values.len() || !chunk.orders().is_sorted() {
            let rows = rows_of(numbers).enumerate();
            rows.for_each(|(place, row)| self.take_number(groups.of(row), (place, row), numbers, chunk));
            return;
        }
        let row_of = |place: usize| match &numbers.rows {
            None => Some(place),
            Some(rows) => rows.get(place).map(|row| *row as usize),
        };
        let groups_of_rows = match groups {
            Groups::One(group) => {
                let best =
                    range(&numbers.values).map(|(least, greatest)| if LEAST { least } else { greatest });
                let place = best.and_then(|best| numbers.values.iter().position(|value| *value == best));
                if let Some((place, row)) = place.and_then(|place| Some((place, row_of(place)?))) {
                    self.take_number(group, (place, row), numbers, chunk);
                }
                return;
            }
            Groups::Each(groups) => groups,
        };
        // Of few groups the first of the best of these rows is found by itself: each row may be better than all before, as instants are.
        let mut best = vec![(0i64, None); all];
        let mut look = |place: usize, group: u32, mantissa: i64| {
            if let Some((known, at)) = best.get_mut(group as usize)
                && (at.is_none() || mantissa.cmp(known) == Self::WANTED)
            {
                (*known, *at) = (mantissa, Some(place));
            }
        };
        let values = numbers.values.iter().enumerate();
        match &numbers.rows {
            None => groups_of_rows
                .iter()
                .zip(values)
                .for_each(|(group, (place, value))| look(place, *group, *value)),
            Some(rows) => rows.iter().zip(values).for_each(|(row, (place, value))| {
                look(place, groups.of(*row as usize), *value);
            }),
        }
        for (place, row) in best.into_iter().filter_map(|(_, at)| Some((at?, row_of(at?)?))) {
            self.take_number(groups.of(row), (place, row), numbers, chunk);
        }
    }

    /// Takes in the number of a row at its place among all: most are told from the best of their groups by their mantissas.
    #[inline]
    fn take_number(
        &mut self,
        group: u32,
        (place, row): (usize, usize),
        numbers: &Mantissas,
        chunk: &Chunk<'_>,
    ) {
        let Some(mantissa) = numbers.values.get(place) else { return };
        let known = self.best.compare(group, *mantissa, numbers.scale);
        if known == Some(Self::WANTED) {
            return;
        }
        let Some((significand, digits)) = numbers.get(place) else { return };
        let order = chunk.order(row);
        let is_better = known == Some(Self::WANTED.reverse());
        if is_better || self.is_best(group, &Held::Few(significand, digits.into()), order) {
            self.best.set_number(group, *mantissa, numbers.scale, digits, order);
        }
    }

    /// Takes in numbers that are stored as texts, of rows in the order of time: of each group the first of the best.
    fn take_stored(
        &mut self,
        groups: Groups<'_>,
        of: &Decimals,
        stored: &StoredNumbers,
        chunk: &Chunk<'_>,
    ) -> usize {
        #[derive(Clone, Copy)]
        struct Best {
            number: (i64, u32),
            place: usize,
            row: usize,
        }
        let mut best: Vec<Option<Best>> = vec![None; groups.count()];
        for (place, (row, number)) in of.rows().zip(stored.each()).enumerate() {
            if let Some(best) = best.get_mut(groups.place(groups.of(row)))
                && best.is_none_or(|best| compare_few(number, best.number) == Self::WANTED)
            {
                *best = Some(Best { number, place, row });
            }
        }
        let mut grown = 0;
        for Best { number: (significand, scale), place, row } in best.into_iter().flatten() {
            let (group, order) = (groups.of(row), chunk.order(row));
            let scale = scale as u8;
            if self.best.compare(group, significand, scale) == Some(Self::WANTED) {
                continue;
            }
            if stored.is_plain(place) {
                if self.is_best(group, &Held::Few(significand, scale.into()), order) {
                    self.best.set_number(group, significand, scale, scale, order);
                }
                continue;
            }
            grown += self.add(group, stored.value(place), order, 1);
        }
        grown
    }

    /// Takes in computed numbers, of rows in the order of time: of each group the first of the best.
    fn take_decimals(&mut self, groups: Groups<'_>, decimals: &Decimals, chunk: &Chunk<'_>) -> usize {
        let mut best: Vec<Option<(Decimal, usize)>> = vec![None; groups.count()];
        let mut meet = |place: usize, row: usize| {
            if let Some(decimal) = decimals.values.decimal(place)
                && let Some(best) = best.get_mut(groups.place(groups.of(row)))
                && best.is_none_or(|(best, _)| decimal.cmp(&best) == Self::WANTED)
            {
                *best = Some((decimal, row));
            }
        };
        match groups {
            Groups::One(_) => {
                let row = |place: usize| Some((place, decimals.row_at(place)?));
                Self::may_be_best_of_all(decimals).filter_map(row).for_each(|(place, row)| meet(place, row));
            }
            Groups::Each(_) => {
                let may_be_best = Self::may_be_best(groups, decimals);
                let all = decimals.rows().enumerate().zip(may_be_best);
                all.filter(|(_, may_be)| *may_be).for_each(|((place, row), _)| meet(place, row));
            }
        }
        let of_groups = best.into_iter().flatten();
        let held = |decimal| Held::Value(Value::Number(Number::Decimal(decimal)));
        of_groups.map(|(decimal, row)| self.take(groups.of(row), held(decimal), chunk.order(row))).sum()
    }

    /// Takes in computed numbers of many groups, of each of which a chunk has few: those are made that may be better than the best of their group, by their estimates.
    fn take_decimals_of_many(&mut self, groups: Groups<'_>, decimals: &Decimals, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        for (place, (row, estimate)) in decimals.rows().zip(Self::estimates(decimals)).enumerate() {
            let group = groups.of(row);
            let known = self.best.estimate(group);
            let known = if LEAST && known > f64::NEG_INFINITY { -known } else { known };
            if estimate < known - known.abs() * ESTIMATE_ERROR {
                continue;
            }
            let Some(decimal) = decimals.values.decimal(place) else { continue };
            let value = Held::Value(Value::Number(Number::Decimal(decimal)));
            grown += match estimate > known + known.abs() * ESTIMATE_ERROR {
                true => self.best.set(group, value, chunk.order(row)),
                false => self.take(group, value, chunk.order(row)),
            };
        }
        grown
    }

    /// An estimate of each number, the greater the better.
    fn estimates(of: &Decimals) -> Vec<f64> {
        let mut estimates = of.values.estimates();
        if LEAST {
            estimates.iter_mut().for_each(|estimate| *estimate = -*estimate);
        }
        estimates
    }

    /// The places of numbers that may be the best of all, by their estimates.
    fn may_be_best_of_all(of: &Decimals) -> impl Iterator<Item = usize> {
        let estimates = Self::estimates(of);
        let best = tamias_simd::numbers::greatest(&estimates);
        let bound = best - best.abs() * ESTIMATE_ERROR;
        (0..).zip(estimates).filter(move |(_, estimate)| *estimate >= bound).map(|(place, _)| place)
    }

    /// For each number whether it may be the best of its group, by its estimate: few have to be made.
    fn may_be_best(groups: Groups<'_>, of: &Decimals) -> Vec<bool> {
        let estimates = Self::estimates(of);
        let mut bounds = vec![f64::NEG_INFINITY; groups.count()];
        for (row, estimate) in of.rows().zip(&estimates) {
            if let Some(bound) = bounds.get_mut(groups.place(groups.of(row))) {
                *bound = bound.max(*estimate);
            }
        }
        bounds.iter_mut().for_each(|bound| *bound -= bound.abs() * ESTIMATE_ERROR);
        let bound =
            |row: usize| bounds.get(groups.place(groups.of(row))).copied().unwrap_or(f64::NEG_INFINITY);
        of.rows().zip(&estimates).map(|(row, estimate)| *estimate >= bound(row)).collect()
    }

    /// Takes in entries of a dictionary, of rows in the order of time. Of each group strings without escapes are compared as they are stored, and
    /// the first of the best is taken in; so is each other value. None where groups are too many to have a place each, unless it is remembered which entries they
    /// have met.
    fn take_entries(&mut self, groups: Groups<'_>, entries: &Entries, chunk: &Chunk<'_>) -> Option<usize> {
        let all = groups.count();
        // Entries that are met again are not compared again, where there is room to remember them.
        let places = seen_places(all, entries.dictionary.len());
        let mut seen = match places {
            Some(places) => vec![false; places],
            None if all <= PLACES_MAX => Vec::new(),
            None => return None,
        };
        let are_plain = entries.dictionary.is_plain();
        let mut best: Vec<Option<(Plain<'_>, usize)>> = vec![None; all];
        let mut grown = 0;
        for (row, code) in entries.codes.iter().enumerate() {
            let group = groups.of(row);
            let at = groups.place(group);
            let seen = seen.get_mut(at * entries.dictionary.len() + *code as usize);
            if seen.is_some_and(|seen| std::mem::replace(seen, true)) {
                continue;
            }
            let json = entries.dictionary.get(*code);
            let is_text = json.first() == Some(&b'"');
            let escape = if is_text && !are_plain { memchr::memchr(b'\\', json) } else { None };
            if is_text && escape.is_none() {
                // The closing quote is less than most characters, and would count as one.
                let text = Plain::of(json.get(1..json.len() - 1).unwrap_or_default());
                if let Some(best) = best.get_mut(at)
                    && best.is_none_or(|(best, _)| text.cmp(&best) == Self::WANTED)
                {
                    *best = Some((text, row));
                }
            } else if !json.is_empty() {
                // A text is not read where what is before the first escape tells that it is not the best.
                if let Some(before) = escape.and_then(|escape| json.get(1..escape))
                    && let Some(Some((best, _))) = best.get(at)
                    && best.compare_beginning(before) == Some(Self::WANTED.reverse())
                {
                    continue;
                }
                grown += self.add(group, scalar_of(json), chunk.order(row), 1);
            }
        }
        for (_, row) in best.into_iter().flatten() {
            grown += self.add(groups.of(row), value_of(entries.json(row)), chunk.order(row), 1);
        }
        Some(grown)
    }

    /// Takes in numbers of few digits.
    fn take_few(&mut self, groups: Groups<'_>, numbers: &[FewDigits], chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        match groups {
            Groups::One(group) => {
                // Of equal ones the first counts.
                let best = numbers.iter().reduce(|best, next| {
                    let [a, b] = [next, best].map(|few| (few.significand, few.scale));
                    let order = |few: &FewDigits| chunk.order(few.at as usize);
                    match compare_few(a, b) {
                        Ordering::Equal if order(next) < order(best) => next,
                        unequal if unequal == Self::WANTED => next,
                        _ => best,
                    }
                });
                if let Some(few) = best {
                    let order = chunk.order(few.at as usize);
                    grown += self.take(group, Held::Few(few.significand, few.scale), order);
                }
            }
            Groups::Each(_) => {
                for FewDigits { at, significand, scale } in numbers {
                    let (row, group) = (*at as usize, groups.of(*at as usize));
                    // Most are told from the best of their groups without looking at their events.
                    let known = u8::try_from(*scale).ok();
                    let known = known.and_then(|scale| self.best.compare(group, *significand, scale));
                    if known != Some(Self::WANTED) {
                        grown += self.take(group, Held::Few(*significand, *scale), chunk.order(row));
                    }
                }
            }
        }
        grown
    }
}

impl<const LEAST: bool> Accumulators for Extremes<LEAST> {
    fn grow(&mut self, groups: usize) -> usize {
        self.best.grow(groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        if let Column::Mantissas(numbers) = column {
            self.take_column(groups, numbers, chunk);
            return 0;
        }
        if let Column::Decimals(decimals) = column
            && self.best.len() <= PLACES_MAX
            && chunk.orders().is_sorted()
        {
            return match &decimals.values {
                DecimalValues::Stored(stored) => self.take_stored(groups, decimals, stored, chunk),
                DecimalValues::Decimals(_)
                | DecimalValues::Quotients(_)
                | DecimalValues::Chain(_)
                | DecimalValues::Wide(_) => self.take_decimals(groups, decimals, chunk),
            };
        }
        if let Column::Decimals(decimals) = column
            && !matches!(decimals.values, DecimalValues::Stored(_))
        {
            return self.take_decimals_of_many(groups, decimals, chunk);
        }
        if let Column::Entries(entries) = column
            && chunk.orders().is_sorted()
            && let Some(grown) = self.take_entries(groups, entries, chunk)
        {
            return grown;
        }
        let mut grown = 0;
        let mut scratch = std::mem::take(&mut self.scratch);
        let few = match column {
            // It is the spelling of the best that counts.
            Column::Decimals(_) => None,
            _ => few_of(groups, column, chunk, &mut scratch, |group, value, order| {
                grown += self.take(group, Held::Value(value), order);
            }),
        };
        match few {
            Some(few) => grown += self.take_few(groups, few, chunk),
            None => super::state::each(groups, column, chunk, scalar_of, |group, value, order| {
                grown += self.add(group, value, order, 1);
            }),
        }
        self.scratch = scratch;
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, order: Order, _: u64) -> usize {
        match value {
            Value::Bool(_) | Value::Number(_) | Value::Text(_) => self.take(group, Held::Value(value), order),
            Value::Undefined | Value::Null | Value::Array(_) | Value::Object(_) => 0,
        }
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let mut grown = 0;
        match by {
            Known::Constant { .. } | Known::Absent => {}
            // Of a number that is not better than what is known, nor equal and earlier.
            Known::Values { range: Some(_), range_orders: None, .. } => {}
            Known::Values { range: Some((least, greatest)), range_orders: Some((first, last)), .. } => {
                let (extreme, order) = if LEAST { (least, *first) } else { (greatest, *last) };
                grown += self.add(group, Value::Number(Number::Stored(extreme.text)), order, 1);
            }
            Known::Values { range: None, .. } => {
                by.for_each(|value, order| grown += self.add(group, value, order, 1));
            }
        }
        grown
    }

    fn needs_orders(&self, group: u32, of: &Known<'_>, earliest: Order) -> bool {
        let ((best, first), extreme) = match (self.best.get(group), of) {
            (_, Known::Absent) => return false,
            (Some(best), Known::Values { range: Some((least, greatest)), .. }) => {
                (best, if LEAST { least } else { greatest })
            }
            _ => return true,
        };
        let value = Held::Value(Value::Number(Number::Stored(extreme.text)));
        // Of equal values the earliest stays.
        match value.compare(&best) {
            _ if !best.is_number() => true,
            Ordering::Equal => earliest < first,
            unequal => unequal == Self::WANTED,
        }
    }

    fn merge(&mut self, mut other: Self, group_of: &[u32]) -> usize {
        let mut grown = 0;
        for (own, group) in (0..).zip(group_of) {
            if let Some((value, order)) = other.best.take(own) {
                grown += self.take(*group, value, order);
            }
        }
        grown
    }

    fn estimate(&self, group: u32) -> Option<f64> {
        Some(self.best.estimate(group)).filter(|estimate| !estimate.is_nan())
    }

    fn finish(&self, group: u32) -> Value<'_> {
        match self.best.get(group) {
            None => Value::Undefined,
            Some((Held::Few(significand, scale), _)) => Value::Number(Number::few(significand, scale)),
            Some((Held::Value(value), _)) => value,
        }
    }
}
