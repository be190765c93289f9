//! Arithmetic over whole columns: exact, on mantissas of one scale.

use super::evaluate::Evaluator;
use super::quotient::Against;
use crate::ast::Arithmetic;
use crate::calendar::TICKS_PER_MILLISECOND;
use crate::chunk::{DecimalValues, Decimals, Digits, Mantissas, Quotient, few_digits_of, short_quotient};
use crate::column_block::{PathColumn, TextNumbers};
use crate::expr::{Computed, Expr, binary_power, of_decimals};
use crate::functions::ScalarFunction;
use crate::value::{self, Number, Value, nearest, nearest_of};
use rust_decimal::{Decimal, RoundingStrategy};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// The numbers that an expression comes to.
pub(super) enum Reckoned {
    /// Of all rows.
    Constant { value: i64, scale: u8 },
    /// Those of the rows that have one.
    Numbers(Arc<Mantissas>),
    /// The same where one has more digits than a mantissa.
    Decimals(Arc<Decimals>),
}

/// No mantissa has more digits behind the point.
const SCALE_MAX: u8 = 15;

/// `Round` takes no more places.
const PLACES_MAX: u8 = Decimal::MAX_SCALE as u8;

impl Reckoned {
    /// The numbers of rows, if they are mantissas.
    pub(super) fn numbers(&self) -> Option<&Arc<Mantissas>> {
        match self {
            Reckoned::Constant { .. } | Reckoned::Decimals(_) => None,
            Reckoned::Numbers(numbers) => Some(numbers),
        }
    }

    /// The same, if they are decimals.
    pub(super) fn as_decimals(&self) -> Option<&Decimals> {
        match self {
            Reckoned::Constant { .. } | Reckoned::Numbers(_) => None,
            Reckoned::Decimals(decimals) => Some(decimals),
        }
    }

    /// The rows that have a number, the inner one none for all; none of a constant.
    pub(super) fn rows(&self) -> Option<Option<&[u32]>> {
        match self {
            Reckoned::Constant { .. } => None,
            Reckoned::Numbers(numbers) => Some(numbers.rows.as_deref()),
            Reckoned::Decimals(decimals) => Some(decimals.rows.as_deref()),
        }
    }

    /// Numbers that were computed.
    pub(super) fn computed(rows: Option<Vec<u32>>, values: Vec<i64>, scale: u8) -> Reckoned {
        let spelled = if scale == 0 { Digits::InFull } else { Digits::Shortest };
        Reckoned::Numbers(Arc::new(Mantissas { rows, values, scale, spelled }))
    }

    fn decimals_of(rows: Option<Vec<u32>>, values: Vec<Decimal>) -> Reckoned {
        Reckoned::Decimals(Arc::new(Decimals { rows, values: DecimalValues::Decimals(values) }))
    }

    /// The mantissas and their scale; none of decimals.
    fn mantissas(&self) -> Option<(Operand<'_, i64>, u8)> {
        match self {
            Reckoned::Constant { value, scale } => Some((Operand::Constant(*value), *scale)),
            Reckoned::Numbers(numbers) => Some((
                Operand::Column(numbers.rows.as_deref(), Cow::Borrowed(&numbers.values)),
                numbers.scale,
            )),
            Reckoned::Decimals(_) => None,
        }
    }

    /// The numbers as significands of 64 bits, each with its scale; none of others.
    fn shorts(&self) -> Option<Operand<'_, (i64, u8)>> {
        Some(match self {
            Reckoned::Constant { value, scale } => Operand::Constant((*value, *scale)),
            Reckoned::Numbers(numbers) => {
                let values = numbers.values.iter().map(|value| (*value, numbers.scale)).collect();
                Operand::Column(numbers.rows.as_deref(), Cow::Owned(values))
            }
            Reckoned::Decimals(decimals) => {
                let DecimalValues::Stored(stored) = &decimals.values else { return None };
                let values = stored.significands.iter().copied().zip(stored.scales.iter().copied());
                Operand::Column(decimals.rows.as_deref(), Cow::Owned(values.collect()))
            }
        })
    }

    /// The same as decimals: without zeros at their ends, or as they are.
    fn decimals(&self, are_plain: bool) -> Operand<'_, Decimal> {
        let decimal = |value: i64, scale: u8| match are_plain {
            true => plain(value, scale),
            false => Decimal::new(value, scale.into()),
        };
        match self {
            Reckoned::Constant { value, scale } => Operand::Constant(decimal(*value, *scale)),
            Reckoned::Numbers(numbers) => {
                let values = numbers.values.iter().map(|value| decimal(*value, numbers.scale)).collect();
                Operand::Column(numbers.rows.as_deref(), Cow::Owned(values))
            }
            Reckoned::Decimals(decimals) => {
                let values = match &decimals.values {
                    DecimalValues::Decimals(values) => Cow::Borrowed(values.as_slice()),
                    others @ (DecimalValues::Quotients(_) | DecimalValues::Stored(_)) => {
                        Cow::Owned(others.each().collect())
                    }
                };
                Operand::Column(decimals.rows.as_deref(), values)
            }
        }
    }
}

impl TextNumbers {
    fn reckoned(&self) -> Reckoned {
        Reckoned::Decimals(self.decimals.clone())
    }
}

/// One of the two that are reckoned with.
enum Operand<'o, V: Clone> {
    Constant(V),
    /// The values of the rows that have one, which are all where no rows are named.
    Column(Option<&'o [u32]>, Cow<'o, [V]>),
}

/// What an operation gives for the rows that have something.
struct Together<T> {
    rows: Option<Vec<u32>>,
    values: Vec<T>,
}

impl<V: Copy> Operand<'_, V> {
    /// What two come to, row by row; the inner one none where a row has nothing then. None where it fails for a row, or both are constants.
    fn with<T>(
        &self,
        other: &Operand<'_, V>,
        mut of: impl FnMut(V, V) -> Option<Option<T>>,
    ) -> Option<Together<T>> {
        match (self, other) {
            (Operand::Constant(_), Operand::Constant(_)) => None,
            (Operand::Column(rows, values), Operand::Constant(constant)) => {
                Together::of_rows(*rows, values.iter().map(|value| of(*value, *constant)))
            }
            (Operand::Constant(constant), Operand::Column(rows, values)) => {
                Together::of_rows(*rows, values.iter().map(|value| of(*constant, *value)))
            }
            (Operand::Column(rows, left), Operand::Column(others, right)) if rows == others => {
                let values = left.iter().zip(&**right).map(|(left, right)| of(*left, *right));
                Together::of_rows(*rows, values)
            }
            (Operand::Column(rows, left), Operand::Column(others, right)) => {
                let (mut with_one, mut values) = (Vec::new(), Vec::new());
                for (row, left, right) in both((*rows, left), (*others, right)) {
                    if let Some(value) = of(left, right)? {
                        with_one.push(row);
                        values.push(value);
                    }
                }
                Some(Together { rows: Some(with_one), values })
            }
        }
    }
}

impl<T> Together<T> {
    /// What comes of the values of rows, each of which may have nothing.
    fn of_rows(
        rows: Option<&[u32]>,
        results: impl ExactSizeIterator<Item = Option<Option<T>>>,
    ) -> Option<Together<T>> {
        let count = results.len();
        let mut values = Vec::with_capacity(count);
        // The places of those that are left out.
        let mut without = Vec::new();
        for (place, result) in results.enumerate() {
            match result? {
                Some(value) => values.push(value),
                None => without.push(place),
            }
        }
        if without.is_empty() {
            return Some(Together { rows: rows.map(<[u32]>::to_vec), values });
        }
        let mut without = without.into_iter().peekable();
        let is_with = |place: &usize| without.next_if_eq(place).is_none();
        let row = |place: usize| rows.map_or(Some(place as u32), |rows| rows.get(place).copied());
        Some(Together { rows: Some((0..count).filter(is_with).filter_map(row).collect()), values })
    }
}

impl Evaluator<'_> {
    /// What an expression comes to that reckons with columns of numbers, instants and constants, for all rows of the block; none where it does
    /// something else, or a result has more digits than a mantissa.
    pub(super) fn reckoned(&self, expr: &Expr) -> Option<Reckoned> {
        match expr {
            Expr::Constant(Value::Number(number)) => {
                let (value, scale) = few_digits_of(number)?;
                Some(Reckoned::Constant { value, scale: u8::try_from(scale).ok()? })
            }
            Expr::Negate(of) => {
                let zero = Reckoned::Constant { value: 0, scale: 0 };
                calculate(Arithmetic::Subtract, &zero, &self.operand(of)?)
            }
            Expr::Arithmetic(op, left, right) => calculate(*op, &self.operand(left)?, &self.operand(right)?),
            Expr::BuiltIn(Computed::Timestamp) => Some(Reckoned::Numbers(Arc::new(self.instants()))),
            Expr::If(_) | Expr::Coalesce(_) => match &*self.chosen_number(expr)? {
                PathColumn::Numbers(column) => Some(Reckoned::Numbers(column.numbers.clone())),
                PathColumn::Nothing
                | PathColumn::Coded(_)
                | PathColumn::Mixed(_)
                | PathColumn::Pieces(_)
                | PathColumn::Unknown => None,
            },
            Expr::Call { function, arguments, .. } => match self.numbers(expr) {
                Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                None => self.reckoned_call(function, arguments).or_else(|| self.mapped_numbers(expr)),
            },
            other => match self.mixed(other) {
                Some(column) => Some(Reckoned::Numbers(column.numbers.clone())),
                None => match self.numbers(other) {
                    Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                    None => self.read_decimals(other).filter(|read| read.are_all).map(|read| read.reckoned()),
                },
            },
        }
    }

    /// The same of an expression that is reckoned with: of a path what else it has beside numbers makes no difference.
    pub(super) fn operand(&self, expr: &Expr) -> Option<Reckoned> {
        self.reckoned(expr).or_else(|| Some(self.read_decimals(expr)?.reckoned()))
    }

    /// The numbers among the texts of a path, where mantissas of one scale have no room for them.
    fn read_decimals(&self, expr: &Expr) -> Option<&TextNumbers> {
        match &**self.as_column(expr)?? {
            PathColumn::Coded(coded) => coded.numbers(),
            _ => None,
        }
    }

    /// The same where rows without a number have nothing, or null.
    pub(super) fn numbers_or_null(&self, expr: &Expr) -> Option<Reckoned> {
        self.read_decimals(expr).filter(|read| read.are_null).map(TextNumbers::reckoned)
    }

    fn reckoned_call(&self, function: &ScalarFunction, arguments: &[Expr]) -> Option<Reckoned> {
        match (function.name, arguments) {
            ("Round", [of]) => rounded(&self.operand(of)?, 0),
            ("Round", [of, places]) => match self.reckoned(places)? {
                Reckoned::Constant { value, scale: 0 } => {
                    let places = u8::try_from(value).ok().filter(|places| *places <= PLACES_MAX)?;
                    rounded(&self.operand(of)?, places)
                }
                _ => None,
            },
            ("TotalMilliseconds", [of]) => {
                let ticks = Reckoned::Constant { value: TICKS_PER_MILLISECOND as i64, scale: 0 };
                calculate(Arithmetic::Divide, &self.operand(of)?, &ticks)
            }
            ("DateTime", [of]) => Some(Reckoned::Numbers(self.as_column(of)??.texts()?.instants()?.clone())),
            ("TimeSpan", [of]) => Some(Reckoned::Numbers(self.as_column(of)??.texts()?.durations()?.clone())),
            ("DatePart" | "TimeOfDay", _) => self.read_clock(function.name, arguments),
            ("ToNumber", [of]) => match self.numbers(of) {
                Some(numbers) => Some(Reckoned::Numbers(numbers.clone())),
                None => self.read_numbers(of),
            },
            _ => None,
        }
    }

    /// How two expressions compare, by the rows that have both: their difference, or a number of its sign.
    pub(super) fn difference(&self, left: &Expr, right: &Expr) -> Option<Reckoned> {
        let (left, right) = (self.reckoned(left)?, self.reckoned(right)?);
        if let Some(difference) = of_mantissas(Arithmetic::Subtract, &left, &right) {
            return difference.numbers().is_some().then_some(difference);
        }
        let order = |left: Decimal, right: Decimal| Some(Some(left.cmp(&right) as i64));
        let Together { rows, values } = left.decimals(false).with(&right.decimals(false), order)?;
        Some(Reckoned::computed(rows, values, 0))
    }

    /// How the quotients of an expression that divides two others compare with a number, by the rows that have one: less or greater than zero as
    /// they are less or greater. None for another expression, or where it takes the quotients to tell.
    pub(super) fn orders_of_quotients(&self, expr: &Expr, number: &Number<'_>) -> Option<Mantissas> {
        let Expr::Arithmetic(Arithmetic::Divide, dividend, divisor) = expr else { return None };
        let (dividend, divisor) = (self.reckoned(dividend)?, self.reckoned(divisor)?);
        let ((dividend, scale), (divisor, other)) = (dividend.mantissas()?, divisor.mantissas()?);
        let against = Against::of(number, (dividend.longest(), scale), (divisor.longest(), other))?;
        let order = |dividend, divisor| Some(against.compare(dividend, divisor).map(|order| order as i64));
        let Together { rows, values } = dividend.with(&divisor, order)?;
        Some(Mantissas { rows, values, ..Mantissas::default() })
    }
}

impl Operand<'_, i64> {
    /// The greatest of the numbers without their signs.
    fn longest(&self) -> u64 {
        match self {
            Operand::Constant(value) => value.unsigned_abs(),
            Operand::Column(_, values) => values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0),
        }
    }
}

/// The number that a mantissa and a scale stand for, without zeros at the end of its fraction. The general routine takes half as long again.
fn plain(mut mantissa: i64, scale: u8) -> Decimal {
    let mut scale = u32::from(scale);
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    Decimal::new(mantissa, scale)
}

/// What an operation comes to; none where a result is too long for any number.
fn calculate(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let Some(reckoned) = of_mantissas(op, left, right) {
        return Some(reckoned);
    }
    if let (Arithmetic::Power, Reckoned::Constant { value: 2, scale: 0 }) = (op, right) {
        return calculate(Arithmetic::Multiply, left, left);
    }
    if op == Arithmetic::Divide
        && let Some(Together { rows, values }) = of_quotients(left, right)
    {
        return Some(Reckoned::Decimals(Arc::new(Decimals {
            rows,
            values: DecimalValues::Quotients(values),
        })));
    }
    if op == Arithmetic::Power
        && let Some(Together { rows, values }) = of_powers(left, right)
    {
        return Some(Reckoned::decimals_of(rows, values));
    }
    let together = match shortly(op, right) {
        Some((shortly, factor)) if let (Some(left), Some(right)) = (left.shorts(), right.shorts()) => {
            let of = |left: (i64, u8), right: (i64, u8)| match short(shortly, left, factor.unwrap_or(right)) {
                Some(result) => Some(Some(result)),
                None => {
                    let [left, right] = [left, right].map(|(value, scale)| plain(value, scale));
                    of_decimals(op, left, right).ok()
                }
            };
            left.with(&right, of)
        }
        Some((shortly, factor)) => {
            let of = |left, right| match short_of(shortly, left, factor, right) {
                Some(result) => Some(Some(result)),
                None => long_of(op, value::plain(left), value::plain(right)),
            };
            left.decimals(false).with(&right.decimals(false), of)
        }
        None => {
            let of = |left, right| long_of(op, left, right);
            left.decimals(true).with(&right.decimals(true), of)
        }
    };
    let Together { rows, values } = together?;
    Some(Reckoned::decimals_of(rows, values))
}

/// The operation that may be done by [`short`], and what its second operand is instead of the given one.
fn shortly(op: Arithmetic, right: &Reckoned) -> Option<(Arithmetic, Option<(i64, u8)>)> {
    match (op, right) {
        (Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply, _) => Some((op, None)),
        (Arithmetic::Divide, Reckoned::Constant { value, scale }) => {
            Some((Arithmetic::Multiply, Some(reciprocal(*value, *scale)?)))
        }
        _ => None,
    }
}

/// The exact result of an operation of two numbers of 64 bits, each with its scale, if a decimal holds it; none where it takes more to tell.
#[inline]
fn short(op: Arithmetic, (left, scale): (i64, u8), (right, other): (i64, u8)) -> Option<Decimal> {
    let (scale, other) = (u32::from(scale), u32::from(other));
    let raised = |number: i64, places: u32| {
        Some(i128::from(number) * i128::from(*value::WHOLE_POWERS.get(places as usize)?))
    };
    let (result, scale) = match op {
        Arithmetic::Multiply => (i128::from(left) * i128::from(right), scale + other),
        Arithmetic::Add | Arithmetic::Subtract => {
            let most = scale.max(other);
            let (left, right) = (raised(left, most - scale)?, raised(right, most - other)?);
            (if op == Arithmetic::Add { left + right } else { left - right }, most)
        }
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => return None,
    };
    let magnitude = result.unsigned_abs();
    let word = |nth: u32| (magnitude >> (32 * nth)) as u32;
    let fits = magnitude >> DECIMAL_BITS == 0 && scale <= Decimal::MAX_SCALE;
    fits.then(|| Decimal::from_parts(word(0), word(1), word(2), result < 0, scale))
}

/// The bits of a decimal's significand.
const DECIMAL_BITS: u32 = 96;

/// The same of two decimals, the second of which may be another.
fn short_of(op: Arithmetic, left: Decimal, factor: Option<(i64, u8)>, right: Decimal) -> Option<Decimal> {
    let parts = |number: Decimal| Some((i64::try_from(number.mantissa()).ok()?, number.scale() as u8));
    short(op, parts(left)?, factor.or_else(|| parts(right))?)
}

/// The result of an operation of two decimals without zeros at their ends, the inner one none of a division by zero; none where it is too long.
fn long_of(op: Arithmetic, left: Decimal, right: Decimal) -> Option<Option<Decimal>> {
    let quotient = if op == Arithmetic::Divide { short_quotient(left, right) } else { None };
    quotient.map(Some).or_else(|| of_decimals(op, left, right).ok())
}

/// The powers that are told by way of binary numbers; none of others, or where one is too great.
fn of_powers(left: &Reckoned, right: &Reckoned) -> Option<Together<Decimal>> {
    let Reckoned::Constant { value, scale } = right else { return None };
    let exponent = plain(*value, *scale);
    if exponent.scale() == 0 && *value >= 0 {
        return None;
    }
    let exponent = nearest_of(exponent);
    let power = |base: f64| binary_power(base, exponent).ok();
    match left {
        Reckoned::Constant { .. } => None,
        Reckoned::Numbers(numbers) => {
            let scale = numbers.scale;
            let base = |value: &i64| {
                nearest(*value, scale.into()).unwrap_or_else(|| nearest_of(plain(*value, scale)))
            };
            Together::of_rows(numbers.rows.as_deref(), numbers.values.iter().map(|value| power(base(value))))
        }
        Reckoned::Decimals(decimals) => {
            let values: Vec<Decimal> = decimals.values.each().collect();
            Together::of_rows(decimals.rows.as_deref(), values.iter().map(|value| power(nearest_of(*value))))
        }
    }
}

/// The quotients of numbers of 64 bits; none where there are others, or one may be too great.
fn of_quotients(left: &Reckoned, right: &Reckoned) -> Option<Together<Quotient>> {
    if let (Some((left, scale)), Some((right, other))) = (left.mantissas(), right.mantissas()) {
        let raise = |from: u8, to: u8| 10i64.checked_pow(to.saturating_sub(from).into());
        if let (Some(raise_left), Some(raise_right)) = (raise(scale, other), raise(other, scale)) {
            let of = |left: i64, right: i64| {
                Some(Quotient::of(left.checked_mul(raise_left)?, right.checked_mul(raise_right)?))
            };
            if let Some(together) = left.with(&right, of) {
                return Some(together);
            }
        }
    }
    left.shorts()?.with(&right.shorts()?, Quotient::of_scales)
}

/// What an operation comes to in mantissas; none where it is of another kind, or a result is too long.
fn of_mantissas(op: Arithmetic, left: &Reckoned, right: &Reckoned) -> Option<Reckoned> {
    if let (Arithmetic::Divide, Reckoned::Constant { value, scale }) = (op, right) {
        let (value, scale) = reciprocal(*value, *scale)?;
        return of_mantissas(Arithmetic::Multiply, left, &Reckoned::Constant { value, scale });
    }
    if let (Arithmetic::Power, Reckoned::Numbers(numbers), Reckoned::Constant { value, scale: 0 }) =
        (op, left, right)
    {
        return power(numbers, *value);
    }
    let ((left, left_scale), (right, right_scale)) = (left.mantissas()?, right.mantissas()?);
    let (scale, [raise_left, raise_right]) = scales(op, left_scale, right_scale)?;
    if let (Operand::Column(rows, values), Operand::Constant(constant)) = (&left, &right)
        && let Some(line) = line(op, raise_left, constant.checked_mul(raise_right)?)
        && line.fits(values)
    {
        return Some(Reckoned::computed(rows.map(<[u32]>::to_vec), line.of(values), scale));
    }
    if let Some((rows, values)) = of_short(op, (&left, raise_left), (&right, raise_right)) {
        return Some(Reckoned::computed(rows.map(<[u32]>::to_vec), values, scale));
    }
    let of = |left: i64, right: i64| {
        let (left, right) = (left.checked_mul(raise_left)?, right.checked_mul(raise_right)?);
        match op {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => left.checked_mul(right),
            Arithmetic::Remainder => left.checked_rem(right),
            Arithmetic::Divide | Arithmetic::Power => None,
        }
    };
    let Together { rows, values } = left.with(&right, |left, right| of(left, right).map(Some))?;
    Some(Reckoned::computed(rows, values, scale))
}

/// The sums, differences or products of two columns that have the same rows, where no number is so long that a result could be too long.
fn of_short<'o>(
    op: Arithmetic,
    (left, raise_left): (&'o Operand<'_, i64>, i64),
    (right, raise_right): (&Operand<'_, i64>, i64),
) -> Option<(Option<&'o [u32]>, Vec<i64>)> {
    let (Operand::Column(rows, left_values), Operand::Column(others, right_values)) = (left, right) else {
        return None;
    };
    let raised = |operand: &Operand<'_, i64>, raise: i64| u128::from(operand.longest()) * raise as u128;
    let (longest_left, longest_right) = (raised(left, raise_left), raised(right, raise_right));
    let most = match op {
        Arithmetic::Add | Arithmetic::Subtract => longest_left.checked_add(longest_right)?,
        Arithmetic::Multiply => longest_left.checked_mul(longest_right)?,
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => return None,
    };
    if rows != others || most > i64::MAX as u128 {
        return None;
    }
    let both = left_values.iter().zip(&**right_values);
    let raised = both.map(|(left, right)| (left.wrapping_mul(raise_left), right.wrapping_mul(raise_right)));
    let values = match op {
        Arithmetic::Add => raised.map(|(left, right)| left.wrapping_add(right)).collect(),
        Arithmetic::Subtract => raised.map(|(left, right)| left.wrapping_sub(right)).collect(),
        _ => raised.map(|(left, right)| left.wrapping_mul(right)).collect(),
    };
    Some((*rows, values))
}

/// The powers of mantissas; none where one is too long.
fn power(of: &Mantissas, exponent: i64) -> Option<Reckoned> {
    let exponent = u8::try_from(exponent).ok().filter(|exponent| *exponent > 0)?;
    let scale = of.scale.checked_mul(exponent).filter(|scale| *scale <= SCALE_MAX)?;
    let values = of.values.iter().map(|value| value.checked_pow(exponent.into())).collect::<Option<_>>()?;
    Some(Reckoned::computed(of.rows.clone(), values, scale))
}

/// One divided by a number, where that has an end.
fn reciprocal(value: i64, scale: u8) -> Option<(i64, u8)> {
    let (places, power) = (0..=SCALE_MAX)
        .map(|places| (places, 10i64.saturating_pow(places.into())))
        .find(|(_, power)| power.checked_rem(value) == Some(0))?;
    let digits = power.checked_div(value)?;
    match places.checked_sub(scale) {
        Some(places) => Some((digits, places)),
        None => Some((digits.checked_mul(10i64.checked_pow((scale - places).into())?)?, 0)),
    }
}

/// Numbers with so many digits behind the point at most, midpoints away from zero.
fn rounded(of: &Reckoned, places: u8) -> Option<Reckoned> {
    let numbers = match of {
        Reckoned::Constant { .. } => return None,
        Reckoned::Numbers(numbers) => numbers,
        Reckoned::Decimals(decimals) => return rounded_decimals(decimals, places),
    };
    let Some(digits) = numbers.scale.checked_sub(places).filter(|digits| *digits > 0) else {
        return Some(Reckoned::computed(numbers.rows.clone(), numbers.values.clone(), numbers.scale));
    };
    let unit = 10i64.checked_pow(digits.into())?;
    let round = |value: &i64| {
        let (whole, rest) = (value / unit, value % unit);
        // Twice the rest would be too long where a unit has nineteen digits; none has.
        whole + i64::from(2 * rest >= unit) - i64::from(2 * rest <= -unit)
    };
    let values = numbers.values.iter().map(round).collect();
    Some(Reckoned::computed(numbers.rows.clone(), values, places))
}

/// The same of decimals, as mantissas if they are short enough then.
fn rounded_decimals(decimals: &Decimals, places: u8) -> Option<Reckoned> {
    if let DecimalValues::Quotients(quotients) = &decimals.values
        && let Some(values) = quotients.iter().map(|quotient| quotient.rounded(places)).collect()
    {
        return Some(Reckoned::computed(decimals.rows.clone(), values, places));
    }
    let round = |value: Decimal| {
        let (significand, scale) = (value.mantissa(), value.scale());
        // To divide 64 bits is far quicker than 128.
        if let Ok(short) = i64::try_from(significand)
            && let Some(digits) = scale.checked_sub(places.into()).filter(|digits| (1..18).contains(digits))
            && let Some(unit) = value::WHOLE_POWERS.get(digits as usize)
        {
            let (whole, rest) = (short / unit, short % unit);
            return Some(i128::from(whole + i64::from(2 * rest >= *unit) - i64::from(2 * rest <= -unit)));
        }
        match scale.checked_sub(places.into()).map(|digits| 10i128.pow(digits)) {
            None => significand.checked_mul(10i128.checked_pow(u32::from(places) - scale)?),
            Some(unit) => {
                let (whole, rest) = (significand / unit, significand % unit);
                Some(
                    whole + i128::from(2 * rest >= unit && unit > 1)
                        - i128::from(2 * rest <= -unit && unit > 1),
                )
            }
        }
    };
    let mantissa = |value: Decimal| i64::try_from(round(value)?).ok();
    if places <= SCALE_MAX
        && let Some(values) = decimals.values.each().map(mantissa).collect()
    {
        return Some(Reckoned::computed(decimals.rows.clone(), values, places));
    }
    let strategy = RoundingStrategy::MidpointAwayFromZero;
    let values = decimals.values.each().map(|value| value.round_dp_with_strategy(places.into(), strategy));
    Some(Reckoned::decimals_of(decimals.rows.clone(), values.collect()))
}

/// `factor * x + summand`.
#[derive(Clone, Copy)]
struct Line {
    factor: i64,
    summand: i64,
}

/// What an operation with a constant does to mantissas that are raised before; none where it is another thing.
fn line(op: Arithmetic, raise: i64, constant: i64) -> Option<Line> {
    match op {
        Arithmetic::Add => Some(Line { factor: raise, summand: constant }),
        Arithmetic::Subtract => Some(Line { factor: raise, summand: constant.checked_neg()? }),
        Arithmetic::Multiply => Some(Line { factor: raise.checked_mul(constant)?, summand: 0 }),
        Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => None,
    }
}

impl Line {
    /// Whether no result is too long.
    fn fits(self, values: &[i64]) -> bool {
        let greatest = values.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0);
        let product = i128::from(self.factor.unsigned_abs()) * i128::from(greatest);
        product + i128::from(self.summand.unsigned_abs()) <= i128::from(i64::MAX)
    }

    /// The results, where all of them fit.
    fn of(self, values: &[i64]) -> Vec<i64> {
        let Line { factor, summand } = self;
        if factor == 1 {
            return values.iter().map(|value| value.wrapping_add(summand)).collect();
        }
        values.iter().map(|value| value.wrapping_mul(factor).wrapping_add(summand)).collect()
    }
}

/// The scale of a result, and what mantissas are multiplied by before.
fn scales(op: Arithmetic, left: u8, right: u8) -> Option<(u8, [i64; 2])> {
    let (scale, powers) = match op {
        Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Remainder => {
            let scale = left.max(right);
            (scale, [scale - left, scale - right])
        }
        Arithmetic::Multiply => (left.checked_add(right)?, [0, 0]),
        Arithmetic::Divide | Arithmetic::Power => return None,
    };
    let [left, right] = powers.map(|power| 10i64.checked_pow(power.into()));
    (scale <= SCALE_MAX).then_some((scale, [left?, right?]))
}

/// The values of the rows that have one in both columns.
fn both<'o, V: Copy>(
    (left_rows, left): (Option<&'o [u32]>, &'o [V]),
    (right_rows, right): (Option<&'o [u32]>, &'o [V]),
) -> impl Iterator<Item = (u32, V, V)> {
    let row = |rows: Option<&[u32]>, values: &[V], place: usize| match rows {
        None => (place < values.len()).then_some(place as u32),
        Some(rows) => rows.get(place).copied(),
    };
    let (mut a, mut b) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            let (of_left, of_right) = (row(left_rows, left, a)?, row(right_rows, right, b)?);
            match of_left.cmp(&of_right) {
                Ordering::Less => a += 1,
                Ordering::Greater => b += 1,
                Ordering::Equal => {
                    let both = (of_left, *left.get(a)?, *right.get(b)?);
                    (a, b) = (a + 1, b + 1);
                    return Some(both);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_results_are_those_of_decimals(
            left: i64, right: i64, shifts in (0u32..64, 0u32..64), scales in (0u32..29, 0u32..29),
        ) {
            let left = Decimal::new(left >> shifts.0, scales.0);
            let right = Decimal::new(right >> shifts.1, scales.1);
            for op in [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply] {
                if let Some(result) = short_of(op, left, None, right) {
                    let expected = of_decimals(op, value::plain(left), value::plain(right));
                    prop_assert_eq!(expected, Ok(Some(result)), "{} {:?} {}", left, op, right);
                }
            }
        }

        #[test]
        fn short_quotients_are_those_of_decimals(
            left: i64, right: i32, shifts in (0u32..64, 0u32..31), scales in (0u8..19, 0u8..10),
        ) {
            let left = Decimal::new(left >> shifts.0, scales.0.into());
            let right = Reckoned::Constant { value: i64::from(right >> shifts.1), scale: scales.1 };
            let (Some((op, Some(factor))), Operand::Constant(divisor)) =
                (shortly(Arithmetic::Divide, &right), right.decimals(true))
            else {
                return Ok(());
            };
            if let Some(result) = short_of(op, left, Some(factor), divisor) {
                prop_assert_eq!(of_decimals(Arithmetic::Divide, value::plain(left), divisor), Ok(Some(result)));
            }
        }

        #[test]
        fn a_plain_number_has_no_zeros_at_the_end(mantissa: i64, power in 0u32..19, scale in 0u8..19) {
            let mantissa = mantissa / 10i64.pow(power) * 10i64.pow(power);
            let normal = Decimal::new(mantissa, scale.into()).normalize();
            let plain = plain(mantissa, scale);
            prop_assert_eq!((plain.mantissa(), plain.scale()), (normal.mantissa(), normal.scale()));
        }
    }
}
