//! Numbers for which mantissas of one scale have no room, made where their digits are needed.

use super::long::{SIGNIFICAND_END, product, quotient};
use super::magnitudes::{ChainOp, Magnitudes};
use super::parts::{Parts, Shorts, TOGETHER};
use super::quotient::{DECIMAL_END, short_quotient};
use super::quotients::Quotients;
use super::sides::{behind_shorts, with_parts, with_shorts};
use super::stored::StoredNumbers;
use super::units::{EachUnits, Units, each_units, units_of};
use super::wide::Wide;
use crate::value::{BINARY_POWERS, Number, Value, WHOLE_POWERS, estimate, estimate_of};
use rust_decimal::Decimal;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, OnceLock};
use tamias_shred::Numbers as Mantissas;

/// Numbers of many scales by their rows: computed ones, or such as are stored.
#[derive(Debug)]
pub(crate) struct Decimals {
    /// The rows that have one; none where all have.
    pub(crate) rows: Option<Vec<u32>>,
    pub(crate) values: DecimalValues,
}

/// Numbers, or what they are computed of.
#[derive(Clone, Debug)]
pub(crate) enum DecimalValues {
    Decimals(Vec<Decimal>),
    Quotients(Quotients),
    Chain(Chain),
    Stored(StoredNumbers),
    Wide(Wide),
}

impl Decimals {
    /// What they take in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        let rows = self.rows.as_ref().map_or(0, |rows| rows.len() * size_of::<u32>());
        rows + self.values.bytes()
    }

    /// The numbers with their rows.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, Decimal)> {
        self.rows().zip(self.values.each())
    }

    /// What there is of each number, with its row: in a loop of its own, as an iterator that knows both kinds of rows takes longer.
    pub(crate) fn for_each<T>(&self, values: impl Iterator<Item = T>, mut each: impl FnMut(usize, T)) {
        match &self.rows {
            None => values.enumerate().for_each(|(row, value)| each(row, value)),
            Some(rows) => rows.iter().zip(values).for_each(|(row, value)| each(*row as usize, value)),
        }
    }

    /// The rows that have a number.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        let all = if self.rows.is_none() { 0..self.values.len() } else { 0..0 };
        all.chain(self.rows.iter().flatten().map(|row| *row as usize))
    }

    /// The row of the number at a place.
    pub(crate) fn row_at(&self, place: usize) -> Option<usize> {
        match &self.rows {
            None => Some(place),
            Some(rows) => rows.get(place).map(|row| *row as usize),
        }
    }
}

impl DecimalValues {
    pub(crate) fn len(&self) -> usize {
        match self {
            DecimalValues::Decimals(decimals) => decimals.len(),
            DecimalValues::Quotients(quotients) => quotients.len(),
            DecimalValues::Chain(chain) => chain.count,
            DecimalValues::Stored(stored) => stored.significands.len(),
            DecimalValues::Wide(wide) => wide.len(),
        }
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = Decimal> {
        (0..self.len()).map(|place| self.decimal(place).unwrap_or_default())
    }

    /// All of them. Those of a chain are made side by side, so that no step waits for what the one before has just written.
    pub(crate) fn all(&self) -> Vec<Decimal> {
        match self {
            DecimalValues::Chain(chain) => chain.all(),
            DecimalValues::Decimals(_)
            | DecimalValues::Quotients(_)
            | DecimalValues::Stored(_)
            | DecimalValues::Wide(_) => self.each().collect(),
        }
    }

    /// The number at a place, a stored one as it is spelled.
    pub(crate) fn value(&self, place: usize) -> Value<'_> {
        match self {
            DecimalValues::Stored(stored) => stored.value(place),
            DecimalValues::Decimals(_)
            | DecimalValues::Quotients(_)
            | DecimalValues::Chain(_)
            | DecimalValues::Wide(_) => {
                let decimal = self.decimal(place);
                decimal.map_or(Value::Undefined, |decimal| Value::Number(Number::Decimal(decimal)))
            }
        }
    }

    /// Binary numbers near to them, within [`ESTIMATE_ERROR`](super::quotient::ESTIMATE_ERROR) of each.
    pub(crate) fn estimates(&self) -> Vec<f64> {
        match self {
            DecimalValues::Decimals(decimals) => decimals.iter().map(|value| estimate_of(*value)).collect(),
            DecimalValues::Quotients(quotients) => quotients.estimates(),
            DecimalValues::Chain(chain) => chain.estimates().clone(),
            DecimalValues::Stored(stored) => {
                stored.each().map(|(significand, scale)| estimate(significand, scale)).collect()
            }
            DecimalValues::Wide(wide) => wide.estimates(),
        }
    }

    /// The number at a place.
    pub(crate) fn decimal(&self, place: usize) -> Option<Decimal> {
        match self {
            DecimalValues::Decimals(decimals) => decimals.get(place).copied(),
            DecimalValues::Quotients(quotients) => quotients.get(place).map(|quotient| quotient.decimal()),
            DecimalValues::Chain(chain) => chain.decimal(place),
            DecimalValues::Stored(stored) => {
                let (significand, scale) = stored.number(place)?;
                Some(Decimal::new(significand, scale))
            }
            DecimalValues::Wide(wide) => wide.decimal(place),
        }
    }

    /// Whether each of them, if it is stored, is spelled as computed ones are.
    pub(crate) fn are_plain(&self) -> bool {
        match self {
            DecimalValues::Stored(stored) => {
                (0..stored.significands.len()).all(|place| stored.is_plain(place))
            }
            DecimalValues::Decimals(_)
            | DecimalValues::Quotients(_)
            | DecimalValues::Chain(_)
            | DecimalValues::Wide(_) => true,
        }
    }

    /// Whether the number at a place is zero; where it is told by its estimate, it is none of those that a decimal has no room for.
    pub(crate) fn is_zero(&self, place: usize) -> bool {
        match self {
            DecimalValues::Decimals(decimals) => decimals.get(place).is_some_and(Decimal::is_zero),
            DecimalValues::Quotients(quotients) => quotients.get(place).is_some_and(|of| of.is_zero()),
            DecimalValues::Chain(chain) => chain.estimates().get(place) == Some(&0.0),
            DecimalValues::Stored(stored) => stored.significands.get(place) == Some(&0),
            DecimalValues::Wide(wide) => wide.significands().get(place) == Some(&0),
        }
    }

    /// Calls `act` for some of them after the others, by their places, with what they come to times 10^28: with their sums, where these suffice. Only quotients and
    /// chains are told in this way, if it is worth while.
    pub(crate) fn each_units(&self, are_sums: bool, act: impl FnMut(Range<usize>, Units<'_>)) -> Option<()> {
        match self {
            DecimalValues::Quotients(quotients) => quotients.each_units(are_sums, act),
            DecimalValues::Chain(chain) => chain.each_units(are_sums, act)?,
            DecimalValues::Decimals(_) | DecimalValues::Stored(_) | DecimalValues::Wide(_) => return None,
        }
        Some(())
    }

    /// Sets parts to some of them; none where they are not told in this way.
    fn set(&self, places: Range<usize>, parts: &mut Parts) -> Option<()> {
        match self {
            DecimalValues::Quotients(quotients) => quotients.set(places, parts),
            DecimalValues::Chain(chain) => chain.set(places, parts),
            DecimalValues::Decimals(_) | DecimalValues::Stored(_) | DecimalValues::Wide(_) => None,
        }
    }

    /// Those at some places, each of which there is.
    pub(crate) fn at(&self, places: &[u32]) -> DecimalValues {
        match self {
            DecimalValues::Decimals(decimals) => DecimalValues::Decimals(some(decimals, places)),
            DecimalValues::Quotients(quotients) => DecimalValues::Quotients(quotients.at(places)),
            DecimalValues::Chain(chain) => DecimalValues::Chain(chain.at(places)),
            DecimalValues::Stored(stored) => DecimalValues::Stored(StoredNumbers {
                significands: some(&stored.significands, places),
                scales: some(&stored.scales, places),
                codes: some(&stored.codes, places),
                dictionary: stored.dictionary.clone(),
            }),
            DecimalValues::Wide(wide) => DecimalValues::Wide(wide.at(places)),
        }
    }

    /// What they take in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            DecimalValues::Decimals(decimals) => size_of_val(decimals.as_slice()),
            DecimalValues::Quotients(quotients) => quotients.bytes(),
            DecimalValues::Chain(chain) => {
                chain.count * size_of::<f64>() + chain.left.bytes() + chain.right.bytes()
            }
            // The dictionary is that of a column.
            DecimalValues::Stored(stored) => {
                stored.significands.len() * (size_of::<i64>() + size_of::<u8>() + size_of::<u32>())
            }
            DecimalValues::Wide(wide) => wide.bytes(),
        }
    }
}

/// What is reckoned with numbers that are quotients themselves, made where their digits are needed. None of them is too great.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    op: ChainOp,
    left: Factor,
    right: Factor,
    count: usize,
    /// Binary numbers next to them. Those of sums and differences, of which most may cancel out, are told by their digits, and so by need.
    estimates: OnceLock<Vec<f64>>,
    /// Between which bounds they are, where that is told by what they are made of.
    magnitudes: Option<Magnitudes>,
    /// How many roundings of binary64 each of these is off by, at most.
    roundings: u32,
    /// How many operations it takes to make one of them.
    steps: u32,
}

/// One side of a chain, a value for each of its places.
#[derive(Clone, Debug)]
pub(crate) enum Factor {
    Constant(Decimal),
    /// Their rows are not looked at.
    Numbers(Arc<Mantissas>),
    /// Nor are those of these.
    Decimals(Arc<Decimals>),
}

/// Numbers beyond these are not told by their estimates: lesser decimals have fewer digits, and greater ones might have no room.
const ESTIMATED: RangeInclusive<f64> = 1e-11..=1e27;

/// So many roundings leave an estimate within half of [`ESTIMATE_ERROR`](super::quotient::ESTIMATE_ERROR).
const ROUNDINGS_MAX: u32 = 17;

impl Factor {
    fn decimal(&self, place: usize) -> Option<Decimal> {
        match self {
            Factor::Constant(constant) => Some(*constant),
            Factor::Numbers(numbers) => Some(Decimal::new(*numbers.values.get(place)?, numbers.scale.into())),
            Factor::Decimals(decimals) => decimals.values.decimal(place),
        }
    }

    /// So many of them, which are all.
    fn all(&self, count: usize) -> Vec<Decimal> {
        match self {
            Factor::Constant(constant) => vec![*constant; count],
            Factor::Numbers(numbers) => {
                let scale = numbers.scale.into();
                numbers.values.iter().map(|value| Decimal::new(*value, scale)).collect()
            }
            Factor::Decimals(decimals) => decimals.values.all(),
        }
    }

    /// The factors at some places, each of which there is.
    pub(crate) fn at(&self, places: &[u32]) -> Factor {
        match self {
            Factor::Constant(constant) => Factor::Constant(*constant),
            Factor::Numbers(numbers) => {
                let values = some(&numbers.values, places);
                Factor::Numbers(Arc::new(Mantissas { values, scale: numbers.scale, ..Mantissas::default() }))
            }
            Factor::Decimals(decimals) => {
                Factor::Decimals(Arc::new(Decimals { rows: None, values: decimals.values.at(places) }))
            }
        }
    }

    /// Binary numbers next to so many of them; none where one is none that is told by that.
    fn estimates(&self, count: usize) -> Option<Vec<f64>> {
        let estimates = match self {
            Factor::Constant(constant) => vec![estimate_of(*constant); count],
            Factor::Numbers(numbers) => {
                let power = *BINARY_POWERS.get(usize::from(numbers.scale))?;
                numbers.values.iter().map(|value| *value as f64 / power).collect()
            }
            Factor::Decimals(decimals) => decimals.values.estimates(),
        };
        (estimates.len() == count && are_told(&estimates)).then_some(estimates)
    }

    /// Those at some places, where they are short; the outer one none where they are, and are not told in this way.
    fn shorts(&self, places: Range<usize>) -> Option<Option<Shorts>> {
        let mut shorts = Shorts::default();
        match self {
            Factor::Constant(constant) => {
                shorts.set(&[i64::try_from(constant.mantissa()).ok()?; TOGETHER], 1);
                shorts.scale = constant.scale();
            }
            Factor::Numbers(numbers) => {
                shorts.set(numbers.values.get(places)?, 1);
                shorts.scale = numbers.scale.into();
            }
            Factor::Decimals(_) => return Some(None),
        }
        Some(Some(shorts))
    }

    /// Sets parts to those at some places, where they are not short; none where they are not told in this way.
    fn set(&self, places: Range<usize>, parts: &mut Parts) -> Option<()> {
        match self {
            Factor::Decimals(decimals) => decimals.values.set(places, parts),
            Factor::Constant(_) | Factor::Numbers(_) => None,
        }
    }

    /// Between which bounds they are, and what is between these is told by estimates; none where that is not told.
    fn magnitudes(&self) -> Option<Magnitudes> {
        let magnitudes = match self {
            Factor::Constant(constant) => Some(Magnitudes::of_constant(estimate_of(*constant))),
            Factor::Numbers(numbers) => Magnitudes::of_numbers(numbers),
            Factor::Decimals(decimals) => match &decimals.values {
                DecimalValues::Quotients(quotients) => Magnitudes::of_quotients(quotients),
                DecimalValues::Chain(chain) => chain.magnitudes,
                DecimalValues::Decimals(_) | DecimalValues::Stored(_) | DecimalValues::Wide(_) => None,
            },
        };
        magnitudes.filter(|of| ESTIMATED.contains(&of.least) && ESTIMATED.contains(&of.greatest))
    }

    fn roundings(&self) -> u32 {
        match self {
            Factor::Constant(_) | Factor::Numbers(_) => 3,
            Factor::Decimals(decimals) => match &decimals.values {
                DecimalValues::Chain(chain) => chain.roundings,
                DecimalValues::Decimals(_)
                | DecimalValues::Quotients(_)
                | DecimalValues::Stored(_)
                | DecimalValues::Wide(_) => 5,
            },
        }
    }

    /// A number that is greater than all of them.
    fn end(&self) -> f64 {
        match self {
            Factor::Constant(constant) => estimate_of(constant.abs()) + 1.0,
            Factor::Numbers(_) => u64::MAX as f64,
            Factor::Decimals(decimals) => match &decimals.values {
                DecimalValues::Quotients(_) => DECIMAL_END / 2.0,
                DecimalValues::Chain(chain) => match chain.op {
                    ChainOp::Add | ChainOp::Subtract => chain.left.end() + chain.right.end(),
                    ChainOp::Multiply | ChainOp::Divide => 2.0 * ESTIMATED.end(),
                },
                others @ (DecimalValues::Decimals(_) | DecimalValues::Stored(_) | DecimalValues::Wide(_)) => {
                    2.0 * others.estimates().iter().fold(1.0, |end, estimate| estimate.abs().max(end))
                }
            },
        }
    }

    fn steps(&self) -> u32 {
        match self {
            Factor::Decimals(decimals) if let DecimalValues::Chain(chain) = &decimals.values => chain.steps,
            Factor::Constant(_) | Factor::Numbers(_) | Factor::Decimals(_) => 0,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Factor::Constant(_) => 0,
            Factor::Numbers(numbers) => size_of_val(numbers.values.as_slice()),
            Factor::Decimals(decimals) => decimals.values.bytes(),
        }
    }
}

/// One of some numbers as a decimal; none where it is not told.
fn decimal_of(each: &EachUnits, nth: usize) -> Option<Decimal> {
    const HALF: u32 = Decimal::MAX_SCALE / 2;
    let parts @ [whole, first, second] = each.parts(nth)?;
    if second == 0 {
        // Quotients that end soon are no rare thing, and products of few digits take less time.
        let digits = i128::from(whole) * i128::from(*WHOLE_POWERS.get(HALF as usize)?) + i128::from(first);
        return Some(Decimal::from_i128_with_scale(digits, HALF));
    }
    let (mut units, mut scale) = (units_of(parts)?, Decimal::MAX_SCALE);
    while units.unsigned_abs() >= SIGNIFICAND_END {
        // More digits than there is room for are zeros.
        (units, scale) = (units / 10, scale.checked_sub(1)?);
    }
    Some(Decimal::from_i128_with_scale(units, scale))
}

/// Binary numbers next to so many products or quotients; none where one of their sides is none that is told by that.
fn linked_estimates(op: ChainOp, left: &Factor, right: &Factor, count: usize) -> Option<Vec<f64>> {
    let (mut estimates, others) = (left.estimates(count)?, right.estimates(count)?);
    let both = estimates.iter_mut().zip(&others);
    if op == ChainOp::Multiply {
        both.for_each(|(estimate, other)| *estimate *= other);
    } else {
        both.for_each(|(estimate, other)| *estimate /= other);
    }
    Some(estimates)
}

fn are_told(estimates: &[f64]) -> bool {
    estimates
        .iter()
        .fold(true, |all, estimate| all & (*estimate == 0.0 || ESTIMATED.contains(&estimate.abs())))
}

fn some<T: Copy>(of: &[T], places: &[u32]) -> Vec<T> {
    places.iter().filter_map(|place| of.get(*place as usize).copied()).collect()
}

/// A side that stands on both sides, as that of a square, takes its steps twice: chains of more are not worth while.
const STEPS_MAX: u32 = 16;

/// The roundings of a binary number that digits tell.
const ROUNDINGS_OF_DIGITS: u32 = 5;

impl Chain {
    /// What so many numbers come to that are reckoned with; none where that takes more to tell, or one is divided by zero.
    pub(crate) fn of(op: ChainOp, left: Factor, right: Factor, count: usize) -> Option<Chain> {
        let roundings = left.roundings() + right.roundings() + 1;
        let steps = left.steps() + right.steps() + 1;
        if steps > STEPS_MAX {
            return None;
        }
        let both = left.magnitudes().zip(right.magnitudes());
        let magnitudes = both.and_then(|(left, right)| left.and(op, right));
        let chain = |left, right, estimates, roundings| Chain {
            op,
            left,
            right,
            count,
            estimates,
            magnitudes,
            roundings,
            steps,
        };
        if matches!(op, ChainOp::Add | ChainOp::Subtract) {
            let is_none_too_great = left.end() + right.end() <= DECIMAL_END;
            return is_none_too_great.then(|| chain(left, right, OnceLock::new(), ROUNDINGS_OF_DIGITS));
        }
        if roundings > ROUNDINGS_MAX {
            return None;
        }
        if magnitudes.is_some_and(|of| ESTIMATED.contains(&of.least) && ESTIMATED.contains(&of.greatest)) {
            return Some(chain(left, right, OnceLock::new(), roundings));
        }
        let estimates = linked_estimates(op, &left, &right, count)?;
        // Nothing divided by zero is told.
        are_told(&estimates).then(|| chain(left, right, OnceLock::from(estimates), roundings))
    }

    fn estimates(&self) -> &Vec<f64> {
        self.estimates.get_or_init(|| {
            if matches!(self.op, ChainOp::Multiply | ChainOp::Divide)
                && let Some(estimates) = linked_estimates(self.op, &self.left, &self.right, self.count)
            {
                return estimates;
            }
            const UNITS: f64 = BINARY_POWERS[Decimal::MAX_SCALE as usize];
            let mut estimates = Vec::with_capacity(self.count);
            let told = self.each_units(false, |places, units| {
                let Units::Each(each) = units else { return };
                estimates.extend(places.enumerate().map(|(nth, place)| {
                    let other = || self.decimal(place).map_or(0.0, estimate_of);
                    each.units(nth).map_or_else(other, |units| units as f64 / UNITS)
                }));
            });
            told.map_or_else(|| self.all().into_iter().map(estimate_of).collect(), |()| estimates)
        })
    }

    fn decimal(&self, place: usize) -> Option<Decimal> {
        self.link(self.left.decimal(place)?, self.right.decimal(place)?)
    }

    fn all(&self) -> Vec<Decimal> {
        let mut all = Vec::with_capacity(self.count);
        let told = self.each_units(false, |places, units| {
            let Units::Each(each) = units else { return };
            all.extend(places.enumerate().map(|(nth, place)| {
                decimal_of(each, nth).or_else(|| self.decimal(place)).unwrap_or_default()
            }));
        });
        told.map_or_else(|| self.linked(), |()| all)
    }

    /// The same where parts do not tell most of them. Each step is made for all before the next one.
    fn linked(&self) -> Vec<Decimal> {
        let (left, right) = (self.left.all(self.count), self.right.all(self.count));
        left.iter().zip(&right).map(|(left, right)| self.link(*left, *right).unwrap_or_default()).collect()
    }

    fn link(&self, left: Decimal, right: Decimal) -> Option<Decimal> {
        match self.op {
            ChainOp::Add => left.checked_add(right),
            ChainOp::Subtract => left.checked_sub(right),
            ChainOp::Multiply => product(left, right).or_else(|| left.checked_mul(right)),
            ChainOp::Divide => short_quotient(left, right)
                .or_else(|| quotient(left, right))
                .or_else(|| left.checked_div(right)),
        }
    }

    /// Sets parts to those at some places; none where they are not told in this way.
    fn set(&self, places: Range<usize>, parts: &mut Parts) -> Option<()> {
        let Chain { op, left, right, .. } = self;
        match (left.shorts(places.clone())?, right.shorts(places.clone())?) {
            (None, Some(shorts)) => {
                left.set(places, parts)?;
                with_shorts(*op, parts, &shorts)
            }
            (Some(shorts), _) => {
                right.set(places, parts)?;
                behind_shorts(*op, &shorts, parts)
            }
            (None, None) => {
                let mut others = Parts::default();
                left.set(places.clone(), parts)?;
                right.set(places, &mut others)?;
                with_parts(*op, parts, &others);
                Some(())
            }
        }
    }

    fn each_units(&self, are_sums: bool, act: impl FnMut(Range<usize>, Units<'_>)) -> Option<()> {
        // The first of them show whether nearly all are told.
        let (first, mut parts) = (0..self.count.min(TOGETHER), Parts::default());
        self.set(first.clone(), &mut parts)?;
        let told = parts.wholes.iter().take(first.len()).filter(|whole| !whole.is_nan()).count();
        (told >= first.len() - first.len() / 8).then_some(())?;
        each_units(self.count, are_sums, |places, parts| self.set(places, parts), act);
        Some(())
    }

    fn at(&self, places: &[u32]) -> Chain {
        let (left, right) = (self.left.at(places), self.right.at(places));
        let estimates = self.estimates.get().map(|estimates| OnceLock::from(some(estimates, places)));
        Chain { left, right, count: places.len(), estimates: estimates.unwrap_or_default(), ..*self }
    }
}
