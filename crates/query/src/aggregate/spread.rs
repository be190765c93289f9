//! `variance(x)` and `stddev(x)`: of all numbers as a sample, never rounded before the end. Other values do not count.

use super::exact::{ExactSum, short_spread, spread};
use super::squares::Squares;
use super::state::{Accumulators, Aggregate, Groups, Known, States, few_of, grow_states, rows_of};
use crate::chunk::{Chunk, Column, Decimals, FewDigits, Mantissas, Order, Units, scalar_of};
use crate::expr::Certain;
use crate::value::{Kind, Long, Number, TooLarge, Value};
use rust_decimal::Decimal;

/// What is made of a variance: itself, or its root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread<const ROOT: bool>;

pub(crate) type Variance = Spread<false>;
pub(crate) type Deviation = Spread<true>;

impl<const ROOT: bool> Aggregate for Spread<ROOT> {
    const NAME: &'static str = if ROOT { "stddev" } else { "variance" };
    const TAKES_REPEATED: bool = false;
    const DEPENDS_ON_ORDER: bool = false;
    type State = Spreads<ROOT>;

    fn with_constants(_: &[f64]) -> Result<Self, (usize, String)> {
        Ok(Spread)
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

    fn state(self) -> Spreads<ROOT> {
        Spreads { groups: States::default(), scratch: Vec::new(), parts: Vec::new() }
    }
}

/// The numbers of a group.
#[derive(Default)]
struct Spreading {
    sum: ExactSum,
    squares: ExactSum,
    /// Those of quotients, of which there mostly are none.
    of_quotients: Option<Box<Squares>>,
    count: u64,
    /// How many have digits beyond those that are reckoned with: then there is no variance.
    too_long: u64,
}

impl Spreading {
    fn add(&mut self, number: &Number<'_>) -> Result<usize, TooLarge> {
        let grown = self.sum.add(number)? + self.squares.add_square(number)?;
        self.count += 1;
        Ok(grown)
    }

    /// Adds a number, times 10^28: by how many bytes the sums grew, nearly; none where it is too long.
    #[inline]
    fn add_units(&mut self, units: i128) -> Option<usize> {
        let (squares, taken) = self.squares_of_quotients();
        squares.add(units)?;
        self.count += 1;
        Some(taken + self.sum.add_part(Decimal::MAX_SCALE, units))
    }

    /// The squares of quotients, and how many bytes they take that are made here.
    #[inline]
    fn squares_of_quotients(&mut self) -> (&mut Squares, usize) {
        let taken = if self.of_quotients.is_none() { size_of::<Squares>() } else { 0 };
        (self.of_quotients.get_or_insert_default(), taken)
    }

    /// All squares.
    fn all_squares(&self) -> Long {
        let squares = self.squares.long();
        self.of_quotients.as_ref().map_or_else(|| squares.clone(), |others| squares.plus(&others.long()))
    }

    /// The variance, or its root; none of fewer than two numbers.
    fn spread(&self, is_root: bool) -> Option<Number<'static>> {
        let short = match &self.of_quotients {
            None => short_spread(self.count, &self.sum, &self.squares, is_root),
            Some(_) => None,
        };
        short.or_else(|| spread(self.count, &self.sum.long(), &self.all_squares(), is_root))
    }

    /// Adds what numbers of one scale come to, and their squares.
    fn add_part(&mut self, scale: u32, part: &Part) -> usize {
        self.count += part.count;
        self.sum.add_part(scale, part.sum) + self.squares.add_part(2 * scale, part.squares)
    }

    #[inline]
    fn add_few(&mut self, few: &FewDigits) -> usize {
        self.count += 1;
        let significand = i128::from(few.significand);
        self.sum.add_part(few.scale, significand)
            + self.squares.add_part(2 * few.scale, significand * significand)
    }
}

/// What the significands of some numbers come to.
#[derive(Clone, Default)]
struct Part {
    sum: i128,
    squares: i128,
    count: u64,
}

impl Part {
    /// Adds a number: what there was before, if there was no room for both.
    #[inline]
    fn add(&mut self, significand: i64) -> Option<Part> {
        let significand = i128::from(significand);
        let square = significand * significand;
        match self.squares.checked_add(square) {
            Some(squares) => {
                // Their sum is no larger than that of the squares.
                self.sum += significand;
                self.squares = squares;
                self.count += 1;
                None
            }
            None => Some(std::mem::replace(self, Part { sum: significand, squares: square, count: 1 })),
        }
    }
}

pub(crate) struct Spreads<const ROOT: bool> {
    groups: States<Spreading>,
    scratch: Vec<FewDigits>,
    /// For each group what a column's significands come to: zeros between columns.
    parts: Vec<Part>,
}

/// Of so many groups each has a place of its own while a column is added up.
const PLACES_MAX: usize = 4096;

impl<const ROOT: bool> Spreads<ROOT> {
    /// Adds numbers of one scale. Their significands are added up before they are added to the sums of that scale.
    fn add_column(&mut self, groups: Groups<'_>, numbers: &Mantissas) -> usize {
        let scale = u32::from(numbers.scale);
        let Spreads { groups: all, parts, .. } = self;
        parts.resize(all.len(), Part::default());
        let mut grown = 0;
        for (row, significand) in rows_of(numbers).zip(&numbers.values) {
            let group = groups.of(row) as usize;
            if let Some(full) = parts.get_mut(group).and_then(|part| part.add(*significand)) {
                grown += all.get_mut(group).map_or(0, |of| of.add_part(scale, &full));
            }
        }
        for (of, part) in all.iter_mut().zip(parts) {
            let part = std::mem::take(part);
            if part.count > 0 {
                grown += of.add_part(scale, &part);
            }
        }
        grown
    }

    /// Adds quotients, and what is reckoned with them; none where they are told one by one.
    fn add_quotients(&mut self, groups: Groups<'_>, of: &Decimals) -> Option<usize> {
        let (mut grown, mut rows) = (0, of.rows());
        of.values.each_units(false, |places, units| {
            let Units::Each(each) = units else { return };
            for ((nth, place), row) in places.enumerate().zip(rows.by_ref()) {
                let group = groups.of(row);
                let told = each.units(nth).zip(self.groups.get_mut(group as usize));
                grown += told.and_then(|(units, of)| of.add_units(units)).unwrap_or_else(|| {
                    let number =
                        of.values.decimal(place).map(|decimal| Value::Number(Number::Decimal(decimal)));
                    self.add(group, Value::from_option(number), Order::default(), 1)
                });
            }
        })?;
        Some(grown)
    }
}

impl<const ROOT: bool> Accumulators for Spreads<ROOT> {
    fn grow(&mut self, groups: usize) -> usize {
        grow_states(&mut self.groups, groups)
    }

    fn update(&mut self, groups: Groups<'_>, column: &Column, chunk: &Chunk<'_>) -> usize {
        if let Column::Mantissas(numbers) = column
            && self.groups.len() <= PLACES_MAX
        {
            return self.add_column(groups, numbers);
        }
        if let Column::Decimals(decimals) = column
            && let Some(grown) = self.add_quotients(groups, decimals)
        {
            return grown;
        }
        let mut grown = 0;
        let mut scratch = std::mem::take(&mut self.scratch);
        let few = few_of(groups, column, chunk, &mut scratch, |group, value, order| {
            grown += self.add(group, value, order, 1);
        });
        match few {
            Some(few) => {
                for few in few {
                    if let Some(of) = self.groups.get_mut(groups.of(few.at as usize) as usize) {
                        grown += of.add_few(few);
                    }
                }
            }
            None => super::state::each(groups, column, chunk, scalar_of, |group, value, order| {
                grown += self.add(group, value, order, 1);
            }),
        }
        self.scratch = scratch;
        grown
    }

    fn add(&mut self, group: u32, value: Value<'_>, _: Order, _: u64) -> usize {
        let (Value::Number(number), Some(of)) = (&value, self.groups.get_mut(group as usize)) else {
            return 0;
        };
        of.add(number).unwrap_or_else(|TooLarge| {
            of.too_long += 1;
            0
        })
    }

    fn answer(&mut self, _: u32, _: &Known<'_>) -> usize {
        // There is no number.
        0
    }

    fn merge(&mut self, other: Self, group_of: &[u32]) -> usize {
        let mut grown = 0;
        for (group, other) in group_of.iter().zip(other.groups.iter()) {
            if let Some(of) = self.groups.get_mut(*group as usize) {
                grown += of.sum.merge(&other.sum) + of.squares.merge(&other.squares);
                if let Some(others) = &other.of_quotients {
                    let (squares, taken) = of.squares_of_quotients();
                    squares.merge(others);
                    grown += taken;
                }
                of.count += other.count;
                of.too_long += other.too_long;
            }
        }
        grown
    }

    fn finish(&self, group: u32) -> Value<'_> {
        let of = self.groups.get(group as usize).filter(|of| of.too_long == 0);
        Value::from_option(of.and_then(|of| of.spread(ROOT)))
    }

    fn too_long(&self) -> u64 {
        self.groups.iter().map(|of| of.too_long).sum()
    }
}
