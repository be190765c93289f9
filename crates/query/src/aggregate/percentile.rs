//! `percentile(x, p, error)`: the number that at least `p` percent of all do not exceed, within a relative error.

use super::sketch::Sketch;
use super::state::{Accumulators, Aggregate, Groups, Known, Parameter, each_other};
use crate::chunk::{Chunk, Column, FewDigits, Order};
use crate::expr::Certain;
use crate::value::{Kind, Number, Value, nearest};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percentile {
    p: f64,
    error: f64,
}

/// What may be asked for.
const ERRORS: std::ops::RangeInclusive<f64> = 0.0001..=0.5;

impl Aggregate for Percentile {
    const NAME: &'static str = "percentile";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter { what: "a percentile", default: None },
        Parameter { what: "a relative error", default: Some(0.01) },
    ];
    const TAKES_REPEATED: bool = false;
    type State = Sketches;

    fn with_constants(constants: &[f64]) -> Result<Percentile, (usize, String)> {
        let [p, error] = *constants else {
            return Err((0, "a percentile and a relative error are wanted".to_owned()));
        };
        if !(0.0..=100.0).contains(&p) {
            return Err((0, "a percentile is between 0 and 100".to_owned()));
        }
        if !ERRORS.contains(&error) {
            return Err((1, format!("a relative error is between {} and {}", ERRORS.start(), ERRORS.end())));
        }
        Ok(Percentile { p, error })
    }

    fn constants(self) -> Vec<String> {
        vec![self.p.to_string(), self.error.to_string()]
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind == Kind::Number
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        match by {
            Known::Absent => true,
            Known::Constant { .. } => false,
            Known::Values { numbers, .. } => *numbers == 0,
        }
    }

    fn state(self) -> Sketches {
        Sketches { of: self, sketches: Vec::new(), sorting: Sorting::default(), scratch: Vec::new() }
    }
}

pub(crate) struct Sketches {
    of: Percentile,
    sketches: Vec<Sketch>,
    sorting: Sorting,
    scratch: Vec<f64>,
}

#[inline]
fn nearest_of(few: &FewDigits) -> f64 {
    #[cold]
    fn by_text(few: &FewDigits) -> f64 {
        Number::few(few.significand, few.scale).to_f64()
    }
    nearest(few.significand, few.scale).unwrap_or_else(|| by_text(few))
}

impl Sketches {
    fn take(&mut self, group: u32, number: &Number<'_>) -> usize {
        self.sketches.get_mut(group as usize).map_or(0, |sketch| sketch.add(number.to_f64()))
    }
}

impl Accumulators for Sketches {
    fn grow(&mut self, groups: usize) -> usize {
        let before = self.sketches.capacity();
        if groups > self.sketches.len() {
            self.sketches.resize(groups, Sketch::new(self.of.error));
        }
        (self.sketches.capacity() - before) * size_of::<Sketch>()
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        let mut grown = 0;
        let Column::Numbers(numbers) = column else {
            super::state::each(groups, column, chunk, |group, value, order| {
                grown += self.add(group, value, order, 1);
            });
            return grown;
        };
        let Sketches { sketches, sorting, scratch, .. } = self;
        scratch.clear();
        match groups {
            Groups::One(group) => {
                scratch.extend(numbers.few.iter().map(nearest_of));
                if let Some(sketch) = sketches.get_mut(group as usize) {
                    grown += sketch.add_all(scratch);
                }
            }
            // A sketch takes many numbers in faster together.
            Groups::Each(_) => sorting.sort(groups, &numbers.few, scratch, |group, numbers| {
                if let Some(sketch) = sketches.get_mut(group as usize) {
                    grown += sketch.add_all(numbers);
                }
            }),
        }
        each_other(groups, &numbers.others, chunk, |group, number, _| grown += self.take(group, &number));
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        match &value {
            Value::Number(number) => self.take(group, number),
            _ => 0,
        }
    }

    fn answer(&mut self, _: u32, _: &Known<'_>) -> usize {
        // There is no number.
        0
    }

    fn merge(&mut self, other: Sketches, group_of: &[u32]) -> usize {
        let mut grown = 0;
        for (group, other) in group_of.iter().zip(&other.sketches) {
            if let Some(sketch) = self.sketches.get_mut(*group as usize) {
                let before = sketch.heap_bytes();
                sketch.merge(other);
                grown += sketch.heap_bytes().saturating_sub(before);
            }
        }
        grown
    }

    fn finish(&mut self, group: u32) -> Value<'static> {
        let sketch = self.sketches.get(group as usize);
        Value::from_option(sketch.and_then(|sketch| sketch.percentile(self.of.p)).map(Number::from_f64))
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
        sorted: &mut Vec<f64>,
        mut each: impl FnMut(u32, &[f64]),
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
        sorted.resize(numbers.len(), 0.0);
        for few in numbers {
            if let Some(place) = places.get_mut(groups.of(few.at as usize) as usize) {
                if let Some(sorted) = sorted.get_mut(*place as usize) {
                    *sorted = nearest_of(few);
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
