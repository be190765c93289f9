//! What an aggregate is, and the state that it has for each group.

use crate::allocated::{Pages, vec_bytes};
use crate::chunk::{
    Chunk, Column, DecimalValues, FewDigits, Mantissas, Numbers, Order, each_spelled, value_of,
};
use crate::expr::Certain;
use crate::statistics::{Extreme, Sum};
use crate::value::{Kind, Number, Value, write_json};
use std::fmt::Debug;

/// A constant that an aggregate takes after its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    /// What it is, for who gives something else.
    pub(crate) what: &'static str,
    /// What it is where it is not given.
    pub(crate) default: Option<f64>,
}

/// An aggregate, with its constants.
pub(crate) trait Aggregate: Copy + Debug + PartialEq {
    /// In lower case.
    const NAME: &'static str;
    const PARAMETERS: &'static [Parameter] = &[];
    /// Whether it gives several rows.
    const GIVES_ROWS: bool = false;
    /// Whether events with a value that came before matter no more than by their number.
    const TAKES_REPEATED: bool;
    /// Whether it makes a difference when the events happened.
    const DEPENDS_ON_ORDER: bool;
    type State: Accumulators;

    /// The aggregate with these constants, one for each parameter; or the place of one that it cannot have, and why.
    fn with_constants(constants: &[f64]) -> Result<Self, (usize, String)>;

    /// The constants, to be shown.
    fn constants(self) -> Vec<String> {
        Vec::new()
    }

    /// The aggregate as the language writes it.
    fn text(self, argument: &str) -> String {
        let constants = self.constants();
        let arguments: Vec<&str> =
            std::iter::once(argument).chain(constants.iter().map(String::as_str)).collect();
        format!("{}({})", Self::NAME, arguments.join(", "))
    }

    /// Of what kind its values are, where that is certain.
    fn kind(self, argument: Certain) -> Certain;

    /// Whether it takes values of this kind, or passes over them.
    fn takes(self, kind: Kind) -> bool;

    /// Whether what is known of an argument's values in a block is all that it needs of them.
    fn is_answered(self, by: &Known<'_>) -> bool;

    fn state(self) -> Self::State;

    /// Whether its state tells another one of the same argument too.
    fn shares_state_with(self, _other: Self) -> bool {
        false
    }

    /// The value of a group, of a state that may be shared.
    fn finish(self, state: &Self::State, group: u32) -> Value<'_> {
        state.finish(group)
    }
}

/// The states of an aggregate for all groups of a thread, by the numbers of the groups.
///
/// Any split of the same values over several of them, in any order, merges to equal results. Wherever memory grows, the number of bytes is
/// given back, about.
pub(crate) trait Accumulators: Send + Sync {
    /// Makes room for so many groups.
    fn grow(&mut self, groups: usize) -> usize;

    /// Takes in the rows of a chunk, of which the column has the argument's values.
    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        each(groups, column, chunk, value_of, |group, value, order| {
            grown += self.add(group, value, order, 1);
        });
        grown
    }

    /// Takes in a value that so many events have, the first of them at a place in time. For several of them
    /// [`TAKES_REPEATED`](Aggregate::TAKES_REPEATED) holds.
    fn add(&mut self, group: u32, value: Value<'_>, order: Order, times: u64) -> usize;

    /// Takes in all events of a block by what is known of them, for which [`is_answered`](Aggregate::is_answered) holds.
    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize;

    /// Whether it makes a difference for a group when the events of a block happened, of which this is known, and that none is earlier than that place in time.
    /// Asked where [`DEPENDS_ON_ORDER`](Aggregate::DEPENDS_ON_ORDER) holds.
    fn needs_orders(&self, _group: u32, _of: &Known<'_>, _earliest: Order) -> bool {
        true
    }

    /// Takes in the states of other events, whose groups are called otherwise there: `group_of` has the number here of each.
    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize
    where
        Self: Sized;

    /// Takes in the states of groups that follow so many, and are so many then with these.
    fn append(&mut self, other: Self, groups: usize, all: usize) -> usize
    where
        Self: Sized,
    {
        let numbers: Vec<u32> = (groups as u32..all as u32).collect();
        self.grow(all) + self.merge(other, &numbers)
    }

    /// Takes in the state of the one group there is, which has no value in common with this one. Nothing is added any more.
    fn join(&mut self, other: Self) -> usize
    where
        Self: Sized,
    {
        self.merge(other, &[0])
    }

    /// Whether no event that comes later in time can change the first `wanted` values of the one group there is.
    fn is_settled(&self, _wanted: usize) -> bool {
        false
    }

    /// The value of a group. It is asked for once.
    fn finish(&self, group: u32) -> Value<'_>;

    /// The value of a group where that is a whole number; none where it may be another one.
    fn whole(&self, _group: u32) -> Option<u64> {
        None
    }

    /// A binary number near to the value of a group, within half of [`ESTIMATE_ERROR`](crate::chunk::ESTIMATE_ERROR) of it; less than any number where the group has none.
    /// None where that is not told.
    fn estimate(&self, _group: u32) -> Option<f64> {
        None
    }

    /// How many numbers were of too many digits to be reckoned with.
    fn too_long(&self) -> u64 {
        0
    }

    /// The values of a group, in time order, of an aggregate that gives several rows.
    fn rows(&self, _group: u32) -> Box<dyn Iterator<Item = Value<'static>> + '_> {
        Box::new(std::iter::empty())
    }
}

/// The groups of a chunk's rows.
#[derive(Clone, Copy)]
pub(crate) enum Groups<'g> {
    /// All are of one group.
    One(u32),
    Each(&'g [u32]),
}

impl Groups<'_> {
    /// So many places are enough for one of each group.
    pub(super) fn count(&self) -> usize {
        match self {
            Groups::One(_) => 1,
            // Several at a time, which `Iterator::max` is not.
            Groups::Each(groups) => {
                groups.iter().fold(0, |end, group| end.max(group.saturating_add(1))) as usize
            }
        }
    }

    /// The place of a group among them.
    #[inline]
    pub(super) fn place(&self, group: u32) -> usize {
        match self {
            Groups::One(_) => 0,
            Groups::Each(_) => group as usize,
        }
    }

    #[inline]
    pub(super) fn of(&self, row: usize) -> u32 {
        match self {
            Groups::One(group) => *group,
            Groups::Each(groups) => groups.get(row).copied().unwrap_or_default(),
        }
    }
}

/// Each row's value in a column, with its group and its place in time. Texts are read by [`value_of`], or by [`scalar_of`](crate::chunk::scalar_of) for an aggregate that takes no objects and arrays.
pub(super) fn each(
    groups: Groups<'_>,
    column: &Column,
    chunk: &Chunk<'_>,
    read: impl Fn(&[u8]) -> Value<'_>,
    mut act: impl FnMut(u32, Value<'_>, Order),
) {
    match column {
        Column::Nothing => {
            (0..chunk.len()).for_each(|row| act(groups.of(row), Value::Bool(true), chunk.order(row)));
        }
        Column::Values(cells) => {
            for (row, cell) in cells.iter().enumerate() {
                act(groups.of(row), read(chunk.json(*cell)), chunk.order(row));
            }
        }
        Column::Numbers(numbers) => {
            for few in &numbers.few {
                let row = few.at as usize;
                act(groups.of(row), Value::Number(Number::few(few.significand, few.scale)), chunk.order(row));
            }
            each_other(groups, &numbers.others, chunk, act);
        }
        Column::Entries(entries) => {
            for (row, code) in entries.codes.iter().enumerate() {
                act(groups.of(row), read(entries.dictionary.get(*code)), chunk.order(row));
            }
        }
        Column::Mantissas(numbers) | Column::Keys(numbers) => {
            for few in each_spelled(numbers) {
                let row = few.at as usize;
                act(groups.of(row), Value::Number(Number::few(few.significand, few.scale)), chunk.order(row));
            }
        }
        Column::Decimals(decimals) => match &decimals.values {
            DecimalValues::Stored(stored) => {
                for (place, row) in decimals.rows().enumerate() {
                    act(groups.of(row), stored.value(place), chunk.order(row));
                }
            }
            DecimalValues::Decimals(_)
            | DecimalValues::Quotients(_)
            | DecimalValues::Chain(_)
            | DecimalValues::Wide(_) => {
                for (row, decimal) in decimals.each() {
                    act(groups.of(row), Value::Number(Number::Decimal(decimal)), chunk.order(row));
                }
            }
        },
    }
}

/// The numbers of a column that have a significand and a scale: as they stand there, or spread into `scratch`. The others are given to `act`. None for a
/// column of another form.
pub(super) fn few_of<'n>(
    groups: Groups<'_>,
    column: &'n Column,
    chunk: &Chunk<'_>,
    scratch: &'n mut Vec<FewDigits>,
    act: impl FnMut(u32, Value<'_>, Order),
) -> Option<&'n [FewDigits]> {
    match column {
        Column::Numbers(Numbers { few, others }) => {
            each_other(groups, others, chunk, act);
            Some(few)
        }
        Column::Mantissas(numbers) | Column::Keys(numbers) => {
            scratch.clear();
            scratch.reserve(numbers.values.len());
            let rows = numbers.rows.as_deref();
            numbers.each_spelled(|place, significand, scale| {
                let at = rows.map_or(Some(place as u32), |rows| rows.get(place).copied());
                scratch.extend(at.map(|at| FewDigits { significand, scale: scale.into(), at }));
            });
            Some(scratch)
        }
        Column::Decimals(decimals) => {
            let DecimalValues::Stored(stored) = &decimals.values else { return None };
            let few = |(row, (significand, scale))| FewDigits { significand, scale, at: row as u32 };
            scratch.clear();
            scratch.extend(decimals.rows().zip(stored.each()).map(few));
            Some(scratch)
        }
        Column::Nothing | Column::Values(_) | Column::Entries(_) => None,
    }
}

/// The same for who does not ask how numbers are spelled: with zeros at the end, where others of the column have more digits. To tell which those are takes a division or
/// several for each.
pub(super) fn few_in_any_spelling<'n>(
    groups: Groups<'_>,
    column: &'n Column,
    chunk: &Chunk<'_>,
    scratch: &'n mut Vec<FewDigits>,
    act: impl FnMut(u32, Value<'_>, Order),
) -> Option<&'n [FewDigits]> {
    let Column::Mantissas(numbers) = column else { return few_of(groups, column, chunk, scratch, act) };
    let (values, scale) = (numbers.values.iter(), u32::from(numbers.scale));
    let few = move |(at, significand): (u32, &i64)| FewDigits { significand: *significand, scale, at };
    scratch.clear();
    match &numbers.rows {
        None => scratch.extend((0..).zip(values).map(few)),
        Some(rows) => scratch.extend(rows.iter().copied().zip(values).map(few)),
    }
    Some(scratch)
}

/// The rows that numbers stand in, in their order.
pub(super) fn rows_of(numbers: &Mantissas) -> impl Iterator<Item = usize> {
    let all = if numbers.rows.is_none() { 0..numbers.values.len() } else { 0..0 };
    all.chain(numbers.rows.iter().flatten().map(|row| *row as usize))
}

/// Each row's value in a column as JSON text, which is empty for undefined, with its group and its place in time.
pub(super) fn each_json(
    groups: Groups<'_>,
    column: &Column,
    chunk: &Chunk<'_>,
    mut act: impl FnMut(u32, &[u8], Order),
) {
    if let Column::Values(cells) = column {
        for (row, cell) in cells.iter().enumerate() {
            act(groups.of(row), chunk.json(*cell), chunk.order(row));
        }
        return;
    }
    if let Column::Entries(entries) = column {
        for (row, code) in entries.codes.iter().enumerate() {
            act(groups.of(row), entries.dictionary.get(*code), chunk.order(row));
        }
        return;
    }
    let mut json = Vec::new();
    each(groups, column, chunk, value_of, |group, value, order| {
        json.clear();
        write_json(&value, &mut json);
        act(group, &json, order);
    });
}

/// The same, but of rows of one group that share an entry of a dictionary the first only, in the order of time.
pub(super) fn each_distinct(
    groups: Groups<'_>,
    column: &Column,
    chunk: &Chunk<'_>,
    seen: &mut Vec<bool>,
    mut act: impl FnMut(u32, &[u8], Order),
) {
    let Column::Entries(entries) = column else { return each_json(groups, column, chunk, act) };
    let places = seen_places(groups.count(), entries.dictionary.len());
    let Some(places) = places.filter(|_| chunk.orders().is_sorted()) else {
        return each_json(groups, column, chunk, act);
    };
    seen.clear();
    seen.resize(places, false);
    for (row, code) in entries.codes.iter().enumerate() {
        let seen = seen.get_mut(groups.place(groups.of(row)) * entries.dictionary.len() + *code as usize);
        if seen.is_some_and(|seen| !std::mem::replace(seen, true)) {
            act(groups.of(row), entries.dictionary.get(*code), chunk.order(row));
        }
    }
}

/// How many places there are for each entry of each group; none where these are too many.
pub(super) fn seen_places(groups: usize, entries: usize) -> Option<usize> {
    groups.checked_mul(entries).filter(|places| *places <= SEEN_MAX)
}

/// So many groups times entries are looked over at most, which is a few times as many as a chunk has rows.
const SEEN_MAX: usize = 1 << 16;

/// The numbers of a column that are not of few digits, and its strings and Booleans.
pub(super) fn each_other<'c>(
    groups: Groups<'_>,
    others: &[(u32, crate::chunk::CellText)],
    chunk: &Chunk<'c>,
    mut act: impl FnMut(u32, Value<'c>, Order),
) {
    for (row, cell) in others {
        let row = *row as usize;
        act(groups.of(row), chunk.value(*cell), chunk.order(row));
    }
}

/// What is known of an argument's values in all events of a block.
pub(crate) enum Known<'b> {
    /// The same value in all, so many.
    Constant { counts: bool, events: u64 },
    /// No event has one.
    Absent,
    /// As its statistics tell.
    Values {
        /// How many are neither missing nor null.
        count: u64,
        /// How many are numbers, and the exact sum, the least and the greatest of them, where that is told.
        numbers: u64,
        sum: Option<Sum<'b>>,
        range: Option<(Extreme<'b>, Extreme<'b>)>,
        /// Its distinct values.
        each: Box<dyn EachValue + 'b>,
        /// The places in time of the events that have the least and the greatest number; none where they make no difference.
        range_orders: Option<(Order, Order)>,
    },
}

/// The distinct values of an argument in a block.
pub(crate) trait EachValue {
    /// Whether all of them are told.
    fn are_told(&self) -> bool;

    /// Each of them, with the place in time of the first event that has it.
    fn for_each(&self, act: &mut dyn FnMut(Value<'_>, Order));
}

impl Known<'_> {
    /// Whether each distinct value is known.
    pub(super) fn has_each(&self) -> bool {
        match self {
            Known::Constant { .. } => false,
            Known::Absent => true,
            Known::Values { each, .. } => each.are_told(),
        }
    }

    /// Whether there surely is no number among them.
    pub(super) fn has_no_number(&self) -> bool {
        match self {
            Known::Constant { .. } => false,
            Known::Absent => true,
            Known::Values { numbers, .. } => *numbers == 0,
        }
    }

    /// Each distinct value, if they are known.
    pub(super) fn for_each(&self, mut act: impl FnMut(Value<'_>, Order)) {
        if let Known::Values { each, .. } = self {
            each.for_each(&mut act);
        }
    }
}

/// The most that something ever took, in bytes, which may come and go: it has grown when it takes more.
#[derive(Default)]
pub(super) struct Most(usize);

impl Most {
    /// By how much it has grown if it takes so many bytes now.
    pub(super) fn grown(&mut self, bytes: usize) -> usize {
        let grown = bytes.saturating_sub(self.0);
        self.0 += grown;
        grown
    }
}

/// Makes a list of states of a few bytes each as long as there are groups: by how many bytes it grew.
pub(super) fn grow<T: Default>(states: &mut Vec<T>, groups: usize) -> usize {
    let before = vec_bytes(states);
    if groups > states.len() {
        states.resize_with(groups, T::default);
    }
    vec_bytes(states) - before
}

/// States of more bytes than a counter has, by group: to copy those of very many groups as their list grows would take much time and, for a while, three times the memory. Those
/// of the first groups stand in one list, where a state is found without a look into that of pages.
pub(super) type States<T> = Pages<T, FIRST_STATES>;

/// So many states take some megabytes.
const FIRST_STATES: usize = 1 << 18;

/// The same of states in pages.
pub(super) fn grow_states<T: Default>(states: &mut States<T>, groups: usize) -> usize {
    let before = states.bytes();
    states.lengthen(groups);
    states.bytes() - before
}

/// Takes in the states of groups that follow these: by how many bytes they grew.
pub(super) fn append_states<T>(states: &mut States<T>, others: States<T>) -> usize {
    let before = states.bytes();
    others.into_iter().for_each(|state| states.push(state));
    states.bytes() - before
}
