//! `percentile(x, p, error)`: the number that at least `p` percent of all do not exceed; and `median(x, error)`, the one in the middle.
//! A value of the data where they are few, else within a relative error.

use super::ranked::{Packed, Ranked};
use super::state::{
    Accumulators, Aggregate, Groups, Known, Parameter, States, few_in_any_spelling, grow_states,
};
use crate::chunk::{Chunk, Column, DecimalValues, Decimals, FewDigits, Order, scalar_of};
use crate::expr::Certain;
use crate::value::{Kind, Long, Number, TooLarge, Value};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percentile {
    p: f64,
    error: f64,
}

/// Of two numbers in the middle their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Median {
    error: f64,
}

/// What may be asked for.
const ERRORS: std::ops::RangeInclusive<f64> = 0.0001..=0.5;
const ERROR: Parameter = Parameter { what: "a relative error", default: Some(0.01) };

fn check_error(error: f64, place: usize) -> Result<(), (usize, String)> {
    match ERRORS.contains(&error) {
        true => Ok(()),
        false => Err((place, format!("a relative error is between {} and {}", ERRORS.start(), ERRORS.end()))),
    }
}

impl Aggregate for Percentile {
    const NAME: &'static str = "percentile";
    const PARAMETERS: &'static [Parameter] = &[Parameter { what: "a percentile", default: None }, ERROR];
    const TAKES_REPEATED: bool = false;
    const DEPENDS_ON_ORDER: bool = false;
    type State = Rankings;

    fn with_constants(constants: &[f64]) -> Result<Percentile, (usize, String)> {
        let [p, error] = *constants else {
            return Err((0, "a percentile and a relative error are wanted".to_owned()));
        };
        if !(0.0..=100.0).contains(&p) {
            return Err((0, "a percentile is between 0 and 100".to_owned()));
        }
        check_error(error, 1)?;
        Ok(Percentile { p, error })
    }

    fn constants(self) -> Vec<String> {
        let error = Some(self.error).filter(|error| Some(*error) != ERROR.default);
        [Some(self.p), error].into_iter().flatten().map(|constant| constant.to_string()).collect()
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind == Kind::Number
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        by.has_no_number()
    }

    fn state(self) -> Rankings {
        Rankings::new(self.error)
    }

    fn shares_state_with(self, other: Percentile) -> bool {
        self.error == other.error
    }

    fn finish(self, state: &Rankings, group: u32) -> Value<'_> {
        let ranked = state.groups.get(group as usize);
        Value::from_option(ranked.and_then(|ranked| ranked.percentile(self.p)))
    }
}

impl Aggregate for Median {
    const NAME: &'static str = "median";
    const PARAMETERS: &'static [Parameter] = &[ERROR];
    const TAKES_REPEATED: bool = false;
    const DEPENDS_ON_ORDER: bool = false;
    type State = Rankings;

    fn with_constants(constants: &[f64]) -> Result<Median, (usize, String)> {
        let [error] = *constants else {
            return Err((0, "a relative error is wanted".to_owned()));
        };
        check_error(error, 0)?;
        Ok(Median { error })
    }

    fn constants(self) -> Vec<String> {
        let error = Some(self.error).filter(|error| Some(*error) != ERROR.default);
        error.iter().map(f64::to_string).collect()
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind == Kind::Number
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        by.has_no_number()
    }

    fn state(self) -> Rankings {
        Rankings::new(self.error)
    }
}

pub(crate) struct Rankings {
    error: f64,
    groups: States<Ranked>,
    sorting: Sorting,
    scratch: Vec<Packed>,
    few: Vec<FewDigits>,
    /// How many medians would be of too many digits.
    too_long: AtomicU64,
}

/// Lesser numbers are not told by their estimates.
const ESTIMATED_MIN: f64 = 1e-9;

impl Rankings {
    fn new(error: f64) -> Rankings {
        let (groups, scratch, few) = (States::default(), Vec::new(), Vec::new());
        Rankings { error, groups, sorting: Sorting::default(), scratch, few, too_long: AtomicU64::new(0) }
    }
}

impl Rankings {
    /// Takes in numbers of few digits.
    fn add_few(&mut self, groups: Groups<'_>, few: &[FewDigits]) -> usize {
        let mut grown = 0;
        let Rankings { groups: ranked, sorting, scratch, error, .. } = self;
        scratch.clear();
        let mut add = |group: u32, numbers: &[Packed]| {
            grown += ranked.get_mut(group as usize).map_or(0, |ranked| ranked.add_few(numbers, *error));
        };
        match groups {
            Groups::One(group) => {
                scratch.extend(few.iter().map(Packed::new));
                add(group, scratch);
            }
            // Many numbers are taken in faster together.
            Groups::Each(_) => sorting.sort(groups, few, scratch, add),
        }
        grown
    }

    /// Takes in decimals by their estimates, where these suffice.
    fn add_decimals(&mut self, groups: Groups<'_>, decimals: &Decimals) -> usize {
        let Rankings { groups: ranked, error, .. } = self;
        let (mut grown, mut place) = (0, 0);
        decimals.for_each(decimals.values.estimates().into_iter(), |row, estimate| {
            let number = || Number::Decimal(decimals.values.decimal(place).unwrap_or_default());
            // An estimate may be off by as much as the last place of a decimal, too.
            let estimate = if estimate.abs() < ESTIMATED_MIN { f64::NAN } else { estimate };
            if let Some(ranked) = ranked.get_mut(groups.of(row) as usize) {
                grown += ranked.add_near(estimate, number, *error);
            }
            place += 1;
        });
        grown
    }
}

/// The number in the middle, or the mean of the two that are; none without numbers.
fn median(of: &Ranked) -> Result<Option<Number<'static>>, TooLarge> {
    let count = of.count();
    let Some((low, high)) = of.at(count.div_ceil(2)).zip(of.at(count / 2 + 1)) else { return Ok(None) };
    if low.compare(&high).is_eq() {
        return Ok(Some(low));
    }
    let half = Long::new(5, 1);
    Ok(Some(Long::of(&low)?.plus(&Long::of(&high)?).times(&half).number()))
}

impl Accumulators for Rankings {
    fn grow(&mut self, groups: usize) -> usize {
        grow_states(&mut self.groups, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        if let Column::Decimals(decimals) = column
            && !matches!(decimals.values, DecimalValues::Stored(_))
        {
            return self.add_decimals(groups, decimals);
        }
        let mut scratch = std::mem::take(&mut self.few);
        let few = few_in_any_spelling(groups, column, chunk, &mut scratch, |group, value, order| {
            grown += self.add(group, value, order, 1);
        });
        match few {
            Some(few) if few.iter().all(Packed::has_room_for) => grown += self.add_few(groups, few),
            Some(few) => {
                let (short, long): (Vec<FewDigits>, Vec<FewDigits>) =
                    few.iter().copied().partition(Packed::has_room_for);
                grown += self.add_few(groups, &short);
                for FewDigits { significand, scale, at } in long {
                    let number = Value::Number(Number::few(significand, scale));
                    grown += self.add(groups.of(at as usize), number, chunk.order(at as usize), 1);
                }
            }
            None => super::state::each(groups, column, chunk, scalar_of, |group, value, order| {
                grown += self.add(group, value, order, 1);
            }),
        }
        self.few = scratch;
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        match (value, self.groups.get_mut(group as usize)) {
            (Value::Number(number), Some(ranked)) => ranked.add(number, self.error),
            _ => 0,
        }
    }

    fn answer(&mut self, _: u32, _: &Known<'_>) -> usize {
        // There is no number.
        0
    }

    fn merge(&mut self, other: Rankings, group_of: &[u32]) -> usize {
        let mut grown = 0;
        for (group, other) in group_of.iter().zip(other.groups) {
            if let Some(ranked) = self.groups.get_mut(*group as usize) {
                grown += ranked.merge(other, self.error);
            }
        }
        grown
    }

    /// The median.
    fn finish(&self, group: u32) -> Value<'_> {
        let Some(ranked) = self.groups.get(group as usize) else { return Value::Undefined };
        Value::from_option(median(ranked).unwrap_or_else(|TooLarge| {
            self.too_long.fetch_add(1, Relaxed);
            None
        }))
    }

    fn too_long(&self) -> u64 {
        self.too_long.load(Relaxed)
    }
}

/// Sorts numbers by their groups.
#[derive(Default)]
struct Sorting {
    /// Those groups, in the order in which they first come.
    present: Vec<u32>,
    /// How many numbers each of all groups has, then where the next one goes: 0 but for those that are present.
    places: Vec<u32>,
}

impl Sorting {
    /// Tells each group with its numbers. `sorted` is an allocation to use.
    fn sort(
        &mut self,
        groups: Groups<'_>,
        numbers: &[FewDigits],
        sorted: &mut Vec<Packed>,
        mut each: impl FnMut(u32, &[Packed]),
    ) {
        let Sorting { present, places } = self;
        for few in numbers {
            let group = groups.of(few.at as usize) as usize;
            if group >= places.len() {
                places.resize(group + 1, 0);
            }
            if let Some(count) = places.get_mut(group) {
                if *count == 0 {
                    present.push(group as u32);
                }
                *count += 1;
            }
        }
        let mut next = 0;
        for group in &*present {
            if let Some(place) = places.get_mut(*group as usize) {
                next += std::mem::replace(place, next);
            }
        }
        sorted.clear();
        sorted.resize(numbers.len(), Packed::default());
        for few in numbers {
            if let Some(place) = places.get_mut(groups.of(few.at as usize) as usize) {
                if let Some(sorted) = sorted.get_mut(*place as usize) {
                    *sorted = Packed::new(few);
                }
                *place += 1;
            }
        }
        let mut from = 0;
        for group in present.drain(..) {
            let end = places.get_mut(group as usize).map_or(0, std::mem::take) as usize;
            each(group, sorted.get(from..end).unwrap_or_default());
            from = end;
        }
    }
}
