//! `sum(x)` and `mean(x)`: of all numbers, never rounded before the end. Other values do not count.

use super::exact::ExactSum;
use super::state::{
    Accumulators, Aggregate, Groups, Known, States, append_states, each_other, grow_states, rows_of,
};
use crate::chunk::{
    Chunk, Column, DecimalValues, Decimals, FewDigits, Mantissas, Order, SUMMED_MAX, Units, Wide, scalar_of,
    units_of,
};
use crate::expr::Certain;
use crate::value::{Kind, Number, TooLarge, Value};
use rust_decimal::Decimal;

/// What is made of a sum: itself, or its share of the count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Total<const MEAN: bool>;

pub(crate) type Sum = Total<false>;
pub(crate) type Mean = Total<true>;

/// Whether the sum of the numbers is told, or there are none.
fn is_sum_known(by: &Known<'_>) -> bool {
    match by {
        Known::Constant { .. } => false,
        Known::Absent => true,
        Known::Values { numbers, sum, .. } => *numbers == 0 || sum.is_some(),
    }
}

impl<const MEAN: bool> Aggregate for Total<MEAN> {
    const NAME: &'static str = if MEAN { "mean" } else { "sum" };
    const TAKES_REPEATED: bool = false;
    const DEPENDS_ON_ORDER: bool = false;
    type State = Sums<MEAN>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(Total)
    }

    fn kind(self, _: Certain) -> Certain {
        Some(Kind::Number)
    }

    fn takes(self, kind: Kind) -> bool {
        kind == Kind::Number
    }

    fn is_answered(self, by: &Known<'_>) -> bool {
        is_sum_known(by)
    }

    fn state(self) -> Sums<MEAN> {
        Sums {
            groups: States::default(),
            part: Vec::new(),
            quotients: Vec::new(),
            small: Vec::new(),
            scaled: Vec::new(),
        }
    }
}

/// Adds a number of a group: by how many bytes the sum grew.
fn add(sum: &mut ExactSum, number: &Number<'_>) -> usize {
    match sum.add(number) {
        Ok(grown) => {
            sum.count_more(1);
            grown
        }
        Err(TooLarge) => sum.note_too_long(1),
    }
}

/// Adds what so many quotients come to, in parts of fourteen digits.
fn add_quotients_of(sum: &mut ExactSum, parts @ [whole, first, second]: [i64; 3], count: u64) -> usize {
    sum.count_more(count);
    match units_of(parts) {
        Some(units) => sum.add_part(Decimal::MAX_SCALE, units),
        None => {
            let behind = units_of([0, first, second]).unwrap_or_default();
            sum.add_part(0, whole.into()) + sum.add_part(Decimal::MAX_SCALE, behind)
        }
    }
}

#[inline]
fn add_few(sum: &mut ExactSum, few: &FewDigits) -> usize {
    sum.count_more(1);
    sum.add_part(few.scale, few.significand.into())
}

pub(crate) struct Sums<const MEAN: bool> {
    /// Of each group the sum and the count. Of those that have numbers with too many digits there is no sum.
    groups: States<ExactSum>,
    /// For each group what a column's mantissas come to, and how many they are: zeros between columns.
    part: Vec<(i128, u64)>,
    /// The same of quotients.
    quotients: Vec<QuotientSum>,
    /// The same of few groups and small numbers: rows that follow one another are added up apart, so that none waits for the one before.
    small: Vec<[(i64, u64); LANES]>,
    /// The same of numbers of many scales.
    scaled: Vec<Scaled>,
}

/// What the significands of some numbers come to, by their scales.
#[derive(Clone, Default)]
struct Scaled {
    sums: [i128; SCALES],
    count: u64,
}

/// So many scales a decimal may have.
const SCALES: usize = Decimal::MAX_SCALE as usize + 1;

const LANES: usize = 4;
/// So many groups are few.
const FEW: usize = 256;

/// So many rows are added together.
const TOGETHER: usize = 32;

/// Of so many groups each has a place of its own while a column is added up.
const PLACES_MAX: usize = 4096;

impl<const MEAN: bool> Sums<MEAN> {
    /// Adds numbers of one scale. Their mantissas are added up before they are added to the sums of that scale.
    fn add_column(&mut self, groups: Groups<'_>, numbers: &Mantissas) -> usize {
        let scale = u32::from(numbers.scale);
        match groups {
            Groups::One(group) => {
                let Some(summed) = self.groups.get_mut(group as usize) else { return 0 };
                summed.count_more(numbers.values.len() as u64);
                // So many numbers do not come to more than an i128 holds: there is no memory for them.
                let sum = numbers.values.iter().map(|mantissa| i128::from(*mantissa)).sum();
                if numbers.values.is_empty() { 0 } else { summed.add_part(scale, sum) }
            }
            Groups::Each(groups) if self.groups.len() <= FEW && is_small(&numbers.values) => {
                self.small.resize(self.groups.len(), [(0, 0); LANES]);
                match &numbers.rows {
                    None => add_small(&mut self.small, groups.iter().zip(&numbers.values)),
                    Some(rows) => {
                        let group = |row: &u32| groups.get(*row as usize).unwrap_or(&u32::MAX);
                        add_small(&mut self.small, rows.iter().map(group).zip(&numbers.values));
                    }
                }
                let mut grown = 0;
                for (summed, lanes) in self.groups.iter_mut().zip(&mut self.small) {
                    let lanes = std::mem::take(lanes);
                    let count: u64 = lanes.iter().map(|(_, count)| count).sum();
                    if count > 0 {
                        summed.count_more(count);
                        let sum = lanes.iter().map(|(sum, _)| i128::from(*sum)).sum();
                        grown += summed.add_part(scale, sum);
                    }
                }
                grown
            }
            Groups::Each(groups) if self.groups.len() <= PLACES_MAX => {
                self.part.resize(self.groups.len(), (0, 0));
                for (row, mantissa) in rows_of(numbers).zip(&numbers.values) {
                    let group = groups.get(row).map_or(usize::MAX, |group| *group as usize);
                    if let Some((sum, count)) = self.part.get_mut(group) {
                        *sum += i128::from(*mantissa);
                        *count += 1;
                    }
                }
                self.add_parts(scale)
            }
            Groups::Each(groups) => match &numbers.rows {
                None => self.add_many(numbers.scale, groups.iter().zip(&numbers.values)),
                Some(rows) => {
                    let group = |row: &u32| groups.get(*row as usize).unwrap_or(&u32::MAX);
                    self.add_many(numbers.scale, rows.iter().map(group).zip(&numbers.values))
                }
            },
        }
    }

    /// Adds numbers, each with a scale of its own. Those of few groups are added up apart for each scale, since which scale comes next is not to be guessed.
    fn add_scaled(
        &mut self,
        groups: Groups<'_>,
        of: &Decimals,
        numbers: impl Iterator<Item = (i128, u32)>,
    ) -> usize {
        let Sums { groups: all, scaled, .. } = self;
        let are_few = all.len() * SCALES <= of.values.len();
        scaled.resize(if are_few { all.len() } else { 0 }, Scaled::default());
        let mut grown = 0;
        of.for_each(numbers, |row, (significand, scale)| {
            let group = groups.of(row) as usize;
            if let Some(Scaled { sums, count }) = scaled.get_mut(group)
                && let Some(sum) = sums.get_mut(scale as usize)
            {
                // So many significands of 96 bits as rows have room in 128.
                *sum = sum.wrapping_add(significand);
                *count += 1;
            } else if let Some(summed) = all.get_mut(group) {
                summed.count_more(1);
                grown += summed.add_part(scale, significand);
            }
        });
        for (summed, of) in all.iter_mut().zip(scaled) {
            let Scaled { sums, count } = std::mem::take(of);
            summed.count_more(count);
            let sums = (0..).zip(sums).filter(|(_, sum)| *sum != 0);
            grown += sums.map(|(scale, sum)| summed.add_part(scale, sum)).sum::<usize>();
        }
        grown
    }

    /// Adds quotients, and what is reckoned with them. Most have few digits before the point: those of a group are added up in units of the last place that a decimal
    /// has.
    fn add_quotients(&mut self, groups: Groups<'_>, of: &Decimals) -> usize {
        const SCALE: u32 = Decimal::MAX_SCALE;
        let are_few = self.groups.len() <= PLACES_MAX.max(of.values.len());
        self.quotients.resize(if are_few { self.groups.len() } else { 0 }, QuotientSum::default());
        let Sums { groups: all, quotients, .. } = self;
        let (mut grown, mut others, mut count) = (0, Others::of(&of.values), 0);
        let is_one = matches!(groups, Groups::One(_));
        let told = of.values.each_units(is_one, |places, units| match units {
            Units::Sum(sums) => {
                let group = groups.of(0) as usize;
                if let Some(summed) = all.get_mut(group) {
                    grown += add_quotients_of(summed, sums, places.len() as u64);
                }
            }
            Units::Each(each) => {
                count += places.len();
                if count > SUMMED_MAX {
                    grown += add_all_quotients(all, quotients);
                    count = places.len();
                }
                for (nth, place) in places.enumerate() {
                    let Some(row) = of.row_at(place) else { return };
                    let group = groups.of(row) as usize;
                    if let (Some(sum), Some(told)) = (quotients.get_mut(group), each.parts(nth)) {
                        sum.add(told);
                    } else if let Some(summed) = all.get_mut(group) {
                        let units = each.units(nth).or_else(|| others.units(place));
                        let (significand, scale) =
                            units.map_or_else(|| others.significand(place), |units| (units, SCALE));
                        summed.count_more(1);
                        grown += summed.add_part(scale, significand);
                    }
                }
            }
        });
        if told.is_none() {
            let all = of.values.all();
            return self.add_scaled(groups, of, all.iter().map(|value| (value.mantissa(), value.scale())));
        }
        grown + add_all_quotients(all, quotients)
    }

    /// Adds numbers of one scale that have more digits than mantissas.
    fn add_wide(&mut self, groups: Groups<'_>, of: &Decimals, wide: &Wide) -> usize {
        let scale = u32::from(wide.scale());
        let Sums { groups: all, part, .. } = self;
        let mut grown = 0;
        // So many significands of 96 bits as rows have room in 128.
        match groups {
            Groups::One(group) => {
                if let Some(summed) = all.get_mut(group as usize) {
                    summed.count_more(wide.significands().len() as u64);
                    grown += summed.add_part(scale, wide.significands().iter().sum());
                }
            }
            Groups::Each(_) if all.len() <= PLACES_MAX => {
                part.resize(all.len(), (0, 0));
                of.for_each(wide.significands().iter(), |row, significand| {
                    if let Some((sum, count)) = part.get_mut(groups.of(row) as usize) {
                        (*sum, *count) = (sum.wrapping_add(*significand), *count + 1);
                    }
                });
                grown += self.add_parts(scale);
            }
            Groups::Each(_) => of.for_each(wide.significands().iter(), |row, significand| {
                if let Some(summed) = all.get_mut(groups.of(row) as usize) {
                    summed.count_more(1);
                    grown += summed.add_part(scale, *significand);
                }
            }),
        }
        grown
    }

    /// Adds to the groups what their parts of a column have come to, in numbers of a scale.
    fn add_parts(&mut self, scale: u32) -> usize {
        let mut grown = 0;
        for (summed, part) in self.groups.iter_mut().zip(&mut self.part) {
            let (sum, count) = std::mem::take(part);
            if count > 0 {
                summed.count_more(count);
                grown += summed.add_part(scale, sum);
            }
        }
        grown
    }

    /// Adds numbers of a scale to the sums of many groups. These are read for some rows together first, so that the processor waits for memory once for several
    /// of them.
    fn add_many<'n>(&mut self, scale: u8, mut numbers: impl Iterator<Item = (&'n u32, &'n i64)>) -> usize {
        let (mut some, mut count, mut grown) = ([(0, 0); TOGETHER], TOGETHER, 0);
        while count == TOGETHER {
            count = 0;
            for (place, (group, number)) in some.iter_mut().zip(numbers.by_ref()) {
                *place = (*group, *number);
                count += 1;
            }
            let some = some.get(..count).unwrap_or_default();
            let takes =
                |group: u32| self.groups.get(group as usize).is_some_and(|summed| summed.takes(scale));
            let all_take = some.iter().fold(true, |all, (group, _)| all & takes(*group));
            for (group, number) in some {
                let Some(summed) = self.groups.get_mut(*group as usize) else { continue };
                summed.count_more(1);
                match all_take {
                    true => summed.add_taken(scale, *number),
                    false => grown += summed.add_part(scale.into(), (*number).into()),
                }
            }
        }
        grown
    }
}

/// What quotients of a group come to, in parts of fourteen digits, and how many they are.
#[derive(Clone, Copy, Default)]
struct QuotientSum {
    parts: [i64; 3],
    count: u64,
}

impl QuotientSum {
    #[inline]
    fn add(&mut self, parts: [i64; 3]) {
        for (sum, part) in self.parts.iter_mut().zip(parts) {
            *sum = sum.wrapping_add(part);
        }
        self.count += 1;
    }
}

/// Adds what quotients come to to the sums of their groups.
fn add_all_quotients(groups: &mut States<ExactSum>, quotients: &mut [QuotientSum]) -> usize {
    let mut grown = 0;
    for (summed, quotients) in groups.iter_mut().zip(quotients) {
        let QuotientSum { parts, count } = std::mem::take(quotients);
        if count > 0 {
            grown += add_quotients_of(summed, parts, count);
        }
    }
    grown
}

/// Those of some numbers that are not told many at once.
struct Others<'d> {
    values: &'d DecimalValues,
    count: usize,
    /// All numbers, once many were asked for.
    all: Option<Vec<Decimal>>,
}

/// Of a share like this all are made.
const MANY: usize = 8;

impl<'d> Others<'d> {
    fn of(values: &'d DecimalValues) -> Others<'d> {
        Others { values, count: 0, all: None }
    }

    /// A quotient times 10^28, where it is not too long.
    fn units(&self, place: usize) -> Option<i128> {
        match self.values {
            DecimalValues::Quotients(quotients) => quotients.get(place)?.units(),
            DecimalValues::Decimals(_)
            | DecimalValues::Chain(_)
            | DecimalValues::Stored(_)
            | DecimalValues::Wide(_) => None,
        }
    }

    fn significand(&mut self, place: usize) -> (i128, u32) {
        self.count += 1;
        if self.all.is_none() && self.count > self.values.len() / MANY {
            self.all = Some(self.values.all());
        }
        let decimal = match &self.all {
            Some(all) => all.get(place).copied(),
            None => self.values.decimal(place),
        };
        decimal.map_or((0, 0), |decimal| (decimal.mantissa(), decimal.scale()))
    }
}

/// Whether no sum of some numbers is too long for their own type.
fn is_small(values: &[i64]) -> bool {
    let greatest = values.iter().fold(0, |greatest, value| value.unsigned_abs().max(greatest));
    u128::from(greatest) * values.len() as u128 <= i64::MAX as u128
}

/// Adds numbers to the sums of their groups.
fn add_small<'n>(sums: &mut [[(i64, u64); LANES]], mut numbers: impl Iterator<Item = (&'n u32, &'n i64)>) {
    loop {
        for lane in 0..LANES {
            let Some((group, number)) = numbers.next() else { return };
            if let Some((sum, count)) = sums.get_mut(*group as usize).and_then(|lanes| lanes.get_mut(lane)) {
                *sum += *number;
                *count += 1;
            }
        }
    }
}

impl<const MEAN: bool> Accumulators for Sums<MEAN> {
    fn grow(&mut self, groups: usize) -> usize {
        grow_states(&mut self.groups, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        if let Column::Mantissas(numbers) = column {
            return self.add_column(groups, numbers);
        }
        if let Column::Decimals(decimals) = column {
            return match &decimals.values {
                DecimalValues::Stored(stored) => {
                    let each = stored.each().map(|(significand, scale)| (significand.into(), scale));
                    self.add_scaled(groups, decimals, each)
                }
                DecimalValues::Decimals(each) => {
                    let each = each.iter().map(|decimal| (decimal.mantissa(), decimal.scale()));
                    self.add_scaled(groups, decimals, each)
                }
                DecimalValues::Wide(wide) => self.add_wide(groups, decimals, wide),
                DecimalValues::Quotients(_) | DecimalValues::Chain(_) => self.add_quotients(groups, decimals),
            };
        }
        let mut grown = 0;
        let Column::Numbers(numbers) = column else {
            super::state::each(groups, column, chunk, scalar_of, |group, value, order| {
                grown += self.add(group, value, order, 1);
            });
            return grown;
        };
        match groups {
            Groups::One(group) => {
                if let Some(summed) = self.groups.get_mut(group as usize) {
                    grown += numbers.few.iter().map(|few| add_few(summed, few)).sum::<usize>();
                }
            }
            Groups::Each(groups) => {
                for few in &numbers.few {
                    let group = groups.get(few.at as usize);
                    if let Some(summed) = group.and_then(|group| self.groups.get_mut(*group as usize)) {
                        grown += add_few(summed, few);
                    }
                }
            }
        }
        each_other(groups, &numbers.others, chunk, |group, value, order| {
            grown += self.add(group, value, order, 1);
        });
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        match (&value, self.groups.get_mut(group as usize)) {
            (Value::Number(number), Some(summed)) => add(summed, number),
            _ => 0,
        }
    }

    fn answer(&mut self, group: u32, by: &Known<'_>) -> usize {
        let Known::Values { numbers, sum: Some(parts), .. } = by else { return 0 };
        let Some(summed) = self.groups.get_mut(group as usize) else { return 0 };
        summed.count_more(*numbers);
        parts.map(|(scale, significand)| summed.add_part(scale, significand)).sum()
    }

    fn merge(&mut self, other: Sums<MEAN>, group_of: &[u32]) -> usize {
        let mut grown = 0;
        for (group, other) in group_of.iter().zip(other.groups.iter()) {
            if let Some(summed) = self.groups.get_mut(*group as usize) {
                grown += summed.merge(other);
            }
        }
        grown
    }

    fn append(&mut self, other: Sums<MEAN>, _: usize, _: usize) -> usize {
        append_states(&mut self.groups, other.groups)
    }

    fn finish(&self, group: u32) -> Value<'_> {
        let summed = self.groups.get(group as usize).filter(|summed| summed.too_long() == 0);
        Value::from_option(summed.and_then(|summed| match MEAN {
            true => summed.mean(),
            false => Some(summed.number()),
        }))
    }

    fn estimate(&self, group: u32) -> Option<f64> {
        let summed = self.groups.get(group as usize).filter(|summed| summed.too_long() == 0)?;
        let sum = summed.estimate()?;
        Some(match (MEAN, summed.count()) {
            (false, _) => sum,
            (true, 0) => f64::NEG_INFINITY,
            (true, count) => sum / count as f64,
        })
    }

    fn too_long(&self) -> u64 {
        self.groups.iter().map(ExactSum::too_long).sum()
    }
}
