//! Groups by several keys: each value by the number that it has among those of its key, and a group by the numbers of its values. So a value is looked at
//! once for each dictionary that has it, and rows are told by numbers.

use crate::chunk::{Chunk, Column, value_of};
use crate::dictionary::Dictionary;
use crate::key_numbers::KeptKeys;
use crate::key_table::{Found, Pairs, Spelling, TOGETHER};
use crate::keys::{KeyTexts, Keys, Taken};
use crate::outputs::KeyColumn;
use crate::value::Value;
use crate::zone::Intervals;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The keys of groups, and the combinations of their values that are groups.
#[derive(Default)]
pub(super) struct SeveralKeys {
    keys: Vec<KeyValues>,
    /// For each key but the first its value's number with that of those before it, which is a pair itself behind the second key: the last pair is the group.
    pairs: Vec<Pairs>,
    /// For each key the numbers of the values of a chunk's rows.
    columns: Vec<Vec<u32>>,
    /// The rows of a chunk that begin a group.
    new: Vec<u32>,
    /// For each combination of values one more than its group, 0 where it was not met in a chunk. Used where there are few combinations.
    few: Vec<u32>,
    /// For each row of a chunk its combination, by its place in that.
    places: Vec<u32>,
    placed: Placed,
    interval: OfInterval,
}

/// The groups of combinations of values, each at the place of its combination.
#[derive(Default)]
struct Placed {
    /// How many values of each key there is room for.
    rooms: Vec<usize>,
    /// One more than the group; 0 where it is not known.
    groups: Vec<u32>,
}

/// The groups of an interval of time, each at the place of the combination of its other values. Rows come in the order of time as a rule: what an interval has is new where
/// the interval is, and need not be looked up among all groups.
#[derive(Default)]
struct OfInterval {
    /// The number of the interval, of which all groups are known here; none where other rows came since.
    number: Option<u32>,
    /// How many values of each other key there is room for.
    rooms: Vec<usize>,
    /// For each other key the pairs, by the place of its value and those of the keys before it: in which turn each was met, and its number.
    pairs: Vec<Vec<(u32, u32)>>,
    /// How many intervals have had their turn.
    turn: u32,
}

impl OfInterval {
    /// Makes room for so many values of each other key: whether there is.
    fn have_room(&mut self, lengths: impl Iterator<Item = usize> + Clone) -> bool {
        let is_known = self.rooms.len() == lengths.clone().count();
        if is_known && lengths.clone().zip(&self.rooms).all(|(length, room)| length <= *room) {
            return true;
        }
        *self = OfInterval::default();
        let rooms: Vec<usize> = lengths.map(usize::next_power_of_two).collect();
        let sizes = rooms.iter().scan(1usize, |size, room| {
            *size = size.saturating_mul(*room);
            Some(*size)
        });
        let sizes: Vec<usize> = sizes.collect();
        let is_room = sizes.iter().all(|size| *size <= FEW);
        if is_room {
            self.pairs = sizes.iter().map(|size| vec![(0, 0); *size]).collect();
            self.rooms = rooms;
        }
        is_room
    }

    /// The turn of an interval, of which no group is known yet.
    fn begin(&mut self, number: u32) {
        self.number = Some(number);
        self.turn = self.turn.wrapping_add(1);
        if self.turn == 0 {
            self.pairs.iter_mut().for_each(|pairs| pairs.fill((0, 0)));
            self.turn = 1;
        }
    }
}

/// The place of each row's combination, by the numbers of its values and how many values of each key there is room for: key by key, which takes less than row by row.
fn places_of(columns: &[Vec<u32>], rooms: impl Iterator<Item = usize>, rows: usize, places: &mut Vec<u32>) {
    places.clear();
    places.resize(rows, 0);
    for (numbers, room) in columns.iter().zip(rooms) {
        let room = room as u32;
        places.iter_mut().zip(numbers).for_each(|(place, number)| *place = *place * room + number);
    }
}

/// The values of a key.
struct KeyValues {
    values: Keys,
    /// Whether a value came in another spelling too.
    has_others: bool,
    /// The interval of the last row and its number, of a key of time.
    interval: (Range<u64>, u32),
    /// The dictionary that values came from last, and for each of its entries the number, or [`UNKNOWN`].
    texts: KeyTexts,
    entries: Vec<u32>,
    scratch: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

/// Up to so many combinations have a place each in a chunk: about as many as it has rows.
const FEW: usize = 1 << 14;

/// Up to so many have one from chunk to chunk, and no more than so many for each row of a chunk: what lies close together takes a step to find, and the places have to be
/// cleared once.
const PLACED_MAX: usize = 1 << 18;
const PLACED_A_ROW: usize = 16;

/// HEURISTIC: where intervals of time have fewer rows than so many, most groups are new.
const ROWS_OF_SHORT: usize = 128;

impl SeveralKeys {
    /// No groups yet; for each key there may be keys that outlive the query.
    pub(super) fn new(keys: &[KeyColumn], kept: &[Option<Arc<KeptKeys>>]) -> SeveralKeys {
        let kept = kept.iter().cloned().chain(std::iter::repeat(None));
        SeveralKeys {
            keys: keys.iter().zip(kept).map(|(key, kept)| KeyValues::new(key.keys(kept))).collect(),
            pairs: keys.iter().skip(1).map(|_| Pairs::default()).collect(),
            ..SeveralKeys::default()
        }
    }

    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Adds the group of each row of a chunk. `meet` is told of the rows of groups that may be their first: of those of new groups alone, if all `are_later` than the first
    /// of every other one.
    pub(super) fn find_rows(
        &mut self,
        chunk: &Chunk<'_>,
        keys: &[KeyColumn],
        is_sorted: bool,
        are_later: bool,
        groups: &mut Vec<u32>,
        meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let mut columns = std::mem::take(&mut self.columns);
        columns.resize_with(self.keys.len(), Vec::new);
        let known = self.keys.first().map_or(0, |key| key.values.len()) as u32;
        for ((key, values), numbers) in keys.iter().zip(&mut self.keys).zip(&mut columns) {
            numbers.clear();
            match key {
                KeyColumn::Time(intervals) => values.find_times(chunk, intervals, is_sorted, numbers),
                KeyColumn::Value { column, .. } => {
                    numbers.resize(chunk.len(), 0);
                    values.find_column(chunk, *column, numbers);
                }
            }
        }
        let combinations = self.combinations().filter(|combinations| *combinations <= FEW && is_sorted);
        let by_time = matches!(keys.first(), Some(KeyColumn::Time(_))) && is_sorted && are_later;
        let intervals = self.keys.first().map_or(0, |key| key.values.len()).saturating_sub(known as usize);
        let are_short = by_time && intervals * ROWS_OF_SHORT > chunk.len();
        let have_places = are_later && !are_short && self.have_places(chunk.len());
        if by_time && !have_places {
            let lengths = self.keys.iter().skip(1).map(|key| key.values.len());
            if self.interval.have_room(lengths) {
                self.find_by_interval(&columns, known, groups, meet);
                self.columns = columns;
                return;
            }
        }
        self.interval.number = None;
        match combinations {
            _ if have_places => self.find_placed(&columns, chunk.len(), groups, meet),
            None => self.find_pairs(&columns, are_later, groups, meet),
            Some(combinations) => self.find_few(&columns, chunk.len(), combinations, groups, meet),
        }
        self.columns = columns;
    }

    /// Whether each combination of values has a place from chunk to chunk, of which the next one has so many rows. Where keys have outgrown their rooms, all groups
    /// get new places, twice as many or more.
    fn have_places(&mut self, rows: usize) -> bool {
        let rooms = &self.placed.rooms;
        let lengths = || self.keys.iter().map(|key| key.values.len());
        if rooms.len() == self.keys.len() && lengths().zip(rooms).all(|(length, room)| length <= *room) {
            return true;
        }
        let rooms: Vec<usize> = lengths().map(usize::next_power_of_two).collect();
        let size = rooms.iter().try_fold(1usize, |size, room| size.checked_mul(*room));
        let Some(size) = size.filter(|size| *size <= PLACED_MAX.min(PLACED_A_ROW * rows)) else {
            self.placed = Placed::default();
            return false;
        };
        let mut groups = vec![0; size];
        for group in 0..self.len() as u32 {
            let (mut place, mut of_keys) = (0, rooms.iter());
            self.each_key(group, &mut |_, number| {
                place = place * of_keys.next().copied().unwrap_or_default() + number as usize;
            });
            if let Some(at) = groups.get_mut(place) {
                *at = group + 1;
            }
        }
        self.placed = Placed { rooms, groups };
        true
    }

    /// The group of each row of a chunk, whose rows are later than the first of every group, where combinations have places from chunk to chunk.
    // Beside the others, which would be inlined, its loop takes a fifth longer.
    #[inline(never)]
    fn find_placed(
        &mut self,
        columns: &[Vec<u32>],
        rows: usize,
        groups: &mut Vec<u32>,
        mut meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let (mut placed, mut places) = (std::mem::take(&mut self.placed), std::mem::take(&mut self.places));
        places_of(columns, placed.rooms.iter().copied(), rows, &mut places);
        for (row, place) in places.iter().enumerate() {
            let Some(known) = placed.groups.get_mut(*place as usize) else { continue };
            if *known == 0 {
                let found = self.find_numbers(columns.iter().filter_map(|numbers| numbers.get(row)).copied());
                *known = found.number().saturating_add(1);
                meet(self, row, found);
            }
            groups.push(known.saturating_sub(1));
        }
        (self.placed, self.places) = (placed, places);
    }

    /// The same where so few combinations of values may be that each has a place.
    #[inline(never)]
    fn find_few(
        &mut self,
        columns: &[Vec<u32>],
        rows: usize,
        combinations: usize,
        groups: &mut Vec<u32>,
        mut meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let (mut few, mut places) = (std::mem::take(&mut self.few), std::mem::take(&mut self.places));
        few.clear();
        few.resize(combinations, 0);
        places_of(columns, self.keys.iter().map(|key| key.values.len()), rows, &mut places);
        for (row, place) in places.iter().enumerate() {
            if let Some(known @ 0) = few.get_mut(*place as usize) {
                let found = self.find_numbers(columns.iter().filter_map(|numbers| numbers.get(row)).copied());
                *known = found.number().saturating_add(1);
                meet(self, row, found);
            }
        }
        let group = |place: &u32| few.get(*place as usize).map_or(0, |known| known.saturating_sub(1));
        groups.extend(places.iter().map(group));
        (self.few, self.places) = (few, places);
    }

    /// The same of rows in the order of time, which are later than the first of every group, interval by interval. So many intervals were known before.
    #[inline(never)]
    fn find_by_interval(
        &mut self,
        columns: &[Vec<u32>],
        known: u32,
        groups: &mut Vec<u32>,
        mut meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let [times, others @ ..] = columns else { return };
        let (mut new, mut of) = (std::mem::take(&mut self.new), std::mem::take(&mut self.interval));
        let (mut begin, mut begun) = (0, Vec::new());
        new.clear();
        for rows in times.chunk_by(|one, other| one == other) {
            let (all, number) = (begin..begin + rows.len(), rows.first().copied().unwrap_or_default());
            begin = all.end;
            if of.number != Some(number) && number < known {
                // Its first rows were told in another way.
                of.number = None;
                groups.extend_from_slice(rows);
                for (pairs, numbers) in self.pairs.iter_mut().zip(others) {
                    begun.clear();
                    let of_rows = groups.get_mut(all.clone()).unwrap_or_default();
                    pairs.find_all(of_rows, numbers.get(all.clone()).unwrap_or_default(), &mut begun);
                }
                new.extend(begun.iter().map(|row| all.start as u32 + row));
                continue;
            }
            if of.number != Some(number) {
                of.begin(number);
            }
            for row in all {
                let (mut place, mut group, mut is_new) = (0, number, false);
                let of_keys = of.pairs.iter_mut().zip(&of.rooms);
                for ((pairs, numbers), (met, room)) in self.pairs.iter_mut().zip(others).zip(of_keys) {
                    let number = numbers.get(row).copied().unwrap_or_default();
                    place = place * room + number as usize;
                    let Some(met) = met.get_mut(place) else { continue };
                    is_new = met.0 != of.turn;
                    if is_new {
                        *met = (of.turn, pairs.push(group, number));
                    }
                    group = met.1;
                }
                if is_new {
                    new.push(row as u32);
                }
                groups.push(group);
            }
        }
        (self.interval, self.new) = (of, Vec::new());
        for row in &new {
            let row = *row as usize;
            meet(self, row, Found::New(groups.get(row).copied().unwrap_or_default()));
        }
        self.new = new;
    }

    /// How many combinations of the values there may be.
    fn combinations(&self) -> Option<usize> {
        self.keys.iter().try_fold(1usize, |size, key| size.checked_mul(key.values.len()))
    }

    /// The group of each row, by the numbers of its values.
    fn find_pairs(
        &mut self,
        columns: &[Vec<u32>],
        are_later: bool,
        groups: &mut Vec<u32>,
        mut meet: impl FnMut(&SeveralKeys, usize, Found),
    ) {
        let mut new = std::mem::take(&mut self.new);
        let [first, others @ ..] = columns else { return };
        groups.extend_from_slice(first);
        for (pairs, numbers) in self.pairs.iter_mut().zip(others) {
            new.clear();
            pairs.find_all(groups, numbers, &mut new);
        }
        let mut begun = new.iter().map(|row| *row as usize).peekable();
        let group = |row: usize| groups.get(row).copied().unwrap_or_default();
        match are_later {
            true => begun.for_each(|row| meet(self, row, Found::New(group(row)))),
            false => (0..groups.len()).for_each(|row| {
                let is_new = begun.next_if_eq(&row).is_some();
                meet(self, row, if is_new { Found::New(group(row)) } else { Found::Known(group(row)) });
            }),
        }
        self.new = new;
    }

    /// The group of values by their numbers.
    fn find_numbers(&mut self, mut numbers: impl Iterator<Item = u32>) -> Found {
        let first = Found::Known(numbers.next().unwrap_or_default());
        let pairs = self.pairs.iter_mut().zip(numbers);
        pairs.fold(first, |found, (pairs, number)| pairs.find(found.number(), number))
    }

    /// The group of values as JSON text.
    pub(super) fn find<'j>(&mut self, values: impl Iterator<Item = &'j [u8]>) -> Found {
        self.interval.number = None;
        let numbers: Vec<u32> = self.keys.iter_mut().zip(values).map(|(key, json)| key.find(json)).collect();
        self.find_numbers(numbers.into_iter())
    }

    /// How many groups there are.
    fn len(&self) -> usize {
        self.pairs.last().map_or(0, Pairs::len)
    }

    /// The keys of a group one after the other, each with the number of its value.
    fn each_key<'s>(&'s self, group: u32, each: &mut impl FnMut(&'s KeyValues, u32)) {
        fn descend<'s>(
            keys: &'s [KeyValues],
            pairs: &[Pairs],
            number: u32,
            each: &mut impl FnMut(&'s KeyValues, u32),
        ) {
            match (pairs, keys) {
                ([before @ .., pairs], [others @ .., key]) => {
                    let (first, second) = pairs.get(number);
                    descend(others, before, first, each);
                    each(key, second);
                }
                ([], keys) => keys.iter().for_each(|key| each(key, number)),
                (_, []) => {}
            }
        }
        descend(&self.keys, &self.pairs, group, each);
    }

    /// Reads what tells the values of some groups, [`TOGETHER`] at most, as [`Keys::read_ahead`] does.
    pub(super) fn read_ahead(&self, groups: &[u32]) {
        let mut numbers: Vec<u32> = groups.to_vec();
        for (key, pairs) in self.keys.iter().skip(1).zip(&self.pairs).rev() {
            let values: Vec<u32> = numbers.iter().map(|number| pairs.get(*number).1).collect();
            key.values.read_ahead(&values);
            numbers.iter_mut().for_each(|number| *number = pairs.get(*number).0);
        }
        self.keys.iter().take(1).for_each(|key| key.values.read_ahead(&numbers));
    }

    /// The values of a group one after the other, each by the keys that have it and its number among them.
    pub(super) fn each_number<'s>(&'s self, group: u32, each: &mut impl FnMut(&'s Keys, u32)) {
        self.each_key(group, &mut |key, number| each(&key.values, number));
    }

    /// The values of a group one after the other, each in its first spelling.
    pub(super) fn each_value<'s>(&'s self, group: u32, each: &mut impl FnMut(Spelling<'s>)) {
        self.each_key(group, &mut |key, number| each(key.values.first(number)));
    }

    /// Whether a value came in several spellings.
    fn has_others(&self) -> bool {
        self.keys.iter().any(|key| key.has_others)
    }

    /// Whether these, as far as they are told, are the values of a group in their first spellings.
    pub(super) fn are_first<J: Deref<Target = [u8]>>(
        &self,
        group: u32,
        values: impl Iterator<Item = Option<J>>,
    ) -> bool {
        if !self.has_others() {
            return true;
        }
        let (mut are_first, mut values) = (true, values);
        self.each_key(group, &mut |key, number| {
            let is_told = |json: Option<J>| json.is_none_or(|json| key.values.is_told(number, &json));
            are_first &= values.next().is_none_or(is_told);
        });
        are_first
    }

    /// Takes in the groups of others, as long as `each` does not fail, which is told of each of these.
    pub(super) fn try_merge<E>(
        &mut self,
        other: &SeveralKeys,
        mut each: impl FnMut(Taken<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.interval.number = None;
        let mut here = Here::of(other);
        let (mut numbers, mut seconds, mut new) = (Vec::new(), Vec::new(), Vec::new());
        let (Some(of_other), Some(last)) = (other.pairs.last(), other.pairs.len().checked_sub(1)) else {
            return Ok(());
        };
        // Values are looked up as groups come to them, so that `each` may end it between.
        let all = 0..other.len() as u32;
        for begin in all.clone().step_by(TOGETHER) {
            for list in [&mut numbers, &mut seconds, &mut new] {
                list.clear();
            }
            let some = begin..all.end.min(begin + TOGETHER as u32);
            for (first, second) in some.clone().map(|there| of_other.get(there)) {
                numbers.push(self.number_here(other, last, first, &mut here));
                seconds.push(self.value_here(other, last + 1, second, &mut here));
            }
            if let Some(pairs) = self.pairs.last_mut() {
                pairs.find_all(&mut numbers, &seconds, &mut new);
            }
            for (there, (at, number)) in some.zip((0..).zip(&numbers)) {
                let found = if new.contains(&at) { Found::New(*number) } else { Found::Known(*number) };
                let is_alike = !self.has_others() || {
                    let mut values = Vec::new();
                    other.each_value(there, &mut |value| values.push(Some(value)));
                    self.are_first(*number, values.into_iter())
                };
                each(Taken { there, found, is_alike, bytes: &|| self.bytes() })?;
            }
        }
        Ok(())
    }

    /// The number here of the values of others' first keys, of which so many come before the last one.
    fn number_here(&mut self, other: &SeveralKeys, before: usize, number: u32, here: &mut Here) -> u32 {
        let Some(below) = before.checked_sub(1) else { return self.value_here(other, 0, number, here) };
        if let Some(known) = known_here(&here.pairs, below, number) {
            return known;
        }
        let (first, second) = other.pairs.get(below).map_or((0, 0), |pairs| pairs.get(number));
        let first = self.number_here(other, below, first, here);
        let second = self.value_here(other, before, second, here);
        let found = self.pairs.get_mut(below).map_or(0, |pairs| pairs.find(first, second).number());
        learn_here(&mut here.pairs, below, number, found);
        found
    }

    /// The number here of a value of others' key.
    fn value_here(&mut self, other: &SeveralKeys, key: usize, number: u32, here: &mut Here) -> u32 {
        if let Some(known) = known_here(&here.values, key, number) {
            return known;
        }
        let (Some(own), Some(others)) = (self.keys.get_mut(key), other.keys.get(key)) else { return 0 };
        let met = own.values.find_of(&others.values, number);
        let found = met.found.number();
        if !met.is_told {
            own.note(found, &others.values.first(number));
        }
        learn_here(&mut here.values, key, number, found);
        found
    }

    /// Forgets how groups are found: their values are all that is asked for from now on.
    pub(super) fn close(&mut self) {
        self.placed = Placed::default();
        self.interval = OfInterval::default();
        self.pairs.iter_mut().for_each(Pairs::close);
        self.keys.iter_mut().for_each(|key| key.values.close());
    }

    /// What it holds once it is closed, in bytes.
    pub(super) fn closed_bytes(&self) -> usize {
        self.pairs.iter().map(Pairs::closed_bytes).sum::<usize>()
            + self.keys.iter().map(|key| key.values.closed_bytes()).sum::<usize>()
    }

    /// What it holds, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of_interval: usize = self.interval.pairs.iter().map(|pairs| size_of_val(pairs.as_slice())).sum();
        size_of_val(self.placed.groups.as_slice())
            + of_interval
            + self.pairs.iter().map(Pairs::bytes).sum::<usize>()
            + self.keys.iter().map(|key| key.values.bytes()).sum::<usize>()
    }
}

/// The numbers here of what others have numbers for, or [`UNKNOWN`].
struct Here {
    /// Of the values of each key.
    values: Vec<Vec<u32>>,
    /// Of the pairs of all keys but the last.
    pairs: Vec<Vec<u32>>,
}

impl Here {
    fn of(other: &SeveralKeys) -> Here {
        let unknown = |len: usize| vec![UNKNOWN; len];
        let others = other.pairs.len().saturating_sub(1);
        Here {
            values: other.keys.iter().map(|key| unknown(key.values.len())).collect(),
            pairs: other.pairs.iter().take(others).map(|pairs| unknown(pairs.len())).collect(),
        }
    }
}

fn known_here(here: &[Vec<u32>], of: usize, number: u32) -> Option<u32> {
    here.get(of)?.get(number as usize).copied().filter(|known| *known != UNKNOWN)
}

fn learn_here(here: &mut [Vec<u32>], of: usize, number: u32, found: u32) {
    if let Some(place) = here.get_mut(of).and_then(|here| here.get_mut(number as usize)) {
        *place = found;
    }
}

impl KeyValues {
    fn new(values: Keys) -> KeyValues {
        KeyValues {
            values,
            has_others: false,
            interval: (0..0, 0),
            texts: KeyTexts::default(),
            entries: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// The number of a value as JSON text.
    fn find(&mut self, json: &[u8]) -> u32 {
        let number = self.values.find(json).found.number();
        self.note(number, json);
        number
    }

    /// Takes note of a spelling in which a value comes.
    fn note(&mut self, number: u32, json: &[u8]) {
        self.has_others = self.has_others || !self.values.is_told(number, json);
    }

    /// The number of each row's interval. Most rows come in the order of time, so that those of an interval stand together.
    fn find_times(
        &mut self,
        chunk: &Chunk<'_>,
        intervals: &Intervals,
        is_sorted: bool,
        numbers: &mut Vec<u32>,
    ) {
        let orders = chunk.orders();
        while let Some((instant, _)) = orders.get(numbers.len()) {
            if !self.interval.0.contains(&instant) {
                let interval = intervals.around(instant);
                self.interval = (interval.clone(), self.find_instant(interval.start));
            }
            let (interval, number) = &self.interval;
            let next =
                orders.first_without(numbers.len() + 1, is_sorted, |order| interval.contains(&order.0));
            numbers.resize(next, *number);
        }
    }

    /// An instant has one spelling.
    fn find_instant(&mut self, instant: u64) -> u32 {
        self.values.find_instant(instant).found.number()
    }

    /// The number of each row's value in a column.
    fn find_column(&mut self, chunk: &Chunk<'_>, column: usize, places: &mut [u32]) {
        match chunk.column(column) {
            Column::Entries(entries) => {
                if !self.texts.is_of(&entries.dictionary) {
                    self.look_up(&entries.dictionary, entries.codes.len());
                }
                for (place, code) in places.iter_mut().zip(&entries.codes) {
                    *place = match self.entries.get(*code as usize) {
                        Some(known) if *known != UNKNOWN => *known,
                        _ => self.find_entry(*code, entries.dictionary.get(*code)),
                    };
                }
            }
            Column::Values(cells) => {
                let mut known = std::mem::take(&mut self.scratch);
                self.values.look_texts_ahead(cells.iter().map(|cell| chunk.json(*cell)), &mut known);
                for ((place, cell), known) in places.iter_mut().zip(cells).zip(&known) {
                    *place = known.checked_sub(1).unwrap_or_else(|| self.find(chunk.json(*cell)));
                }
                self.scratch = known;
            }
            Column::Nothing
            | Column::Numbers(_)
            | Column::Mantissas(_)
            | Column::Keys(_)
            | Column::Decimals(_) => {
                let missing = self.find(&[]);
                places.fill(missing);
            }
        }
    }

    /// The number of an entry of which it is not known yet.
    fn find_entry(&mut self, code: u32, json: &[u8]) -> u32 {
        let mut number = 0;
        self.values.find_entries(&self.texts, std::iter::once(code), |met| number = met.found.number());
        if let Some(entry) = self.entries.get_mut(code as usize) {
            *entry = number;
        }
        if !self.values.are_all_told(&self.texts) {
            self.note(number, json);
        }
        number
    }

    /// Takes a dictionary up, of which so many rows have entries now: all are looked up at once if they are not many more.
    fn look_up(&mut self, dictionary: &Arc<Dictionary>, rows: usize) {
        self.texts = self.values.texts_of(dictionary);
        // A number tells the key in whatever spelling.
        self.has_others |= self.texts.are_numbered() && !self.values.are_all_told(&self.texts);
        self.entries.clear();
        if dictionary.len() / 4 <= rows {
            self.values.look_ahead(&self.texts, &mut self.entries);
            self.entries.iter_mut().for_each(|known| *known = known.wrapping_sub(1));
        }
        self.entries.resize(dictionary.len(), UNKNOWN);
    }
}

/// The values of a row's keys as JSON text, a time as the beginning of its interval.
pub(super) fn values_of_row(chunk: &Chunk<'_>, keys: &[KeyColumn], row: usize) -> Box<[Value<'static>]> {
    let values = keys.iter().map(|key| match key {
        KeyColumn::Time(intervals) => Value::from(intervals.around(chunk.order(row).0).start),
        KeyColumn::Value { column, .. } => value_of(chunk.json_at(*column, row)).into_static(),
    });
    values.collect()
}
