//! Choices between columns, and conditions as values.

use super::chosen::{Side, choose as choose_sides, has_number};
use super::computed::{BYTES_MAX, Texts};
use super::evaluate::{Evaluator, Mask, PARTS_MAX};
use super::reckoned::Reckoned;
use crate::chunk::{DecimalValues, Decimals, Digits, Mantissas};
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::Dictionary;
use crate::expr::Expr;
use crate::value::Value;
use std::borrow::Cow;
use std::sync::Arc;
use tamias_simd::numbers;

/// A choice may depend on a choice that depends on another, and no further: a condition is tried in several ways, and each of them would
/// try all ways of the conditions within it.
const CONDITIONS_MAX: usize = 3;

/// How many conditions of choices stand within each other.
fn conditions_within(expr: &Expr) -> usize {
    let children = expr.children().into_iter().enumerate();
    let is_choice = matches!(expr, Expr::If(_));
    // The condition comes first.
    children
        .map(|(nth, child)| conditions_within(child) + usize::from(is_choice && nth == 0))
        .max()
        .unwrap_or(0)
}

/// How the numbers of a choice are spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelled {
    /// As those that are chosen.
    AsChosen,
    /// In any way: they are reckoned with.
    Anyhow,
}

/// What some rows get.
enum Part {
    Undefined,
    Number(i64, u8),
    Column(Arc<PathColumn>),
    /// Numbers of many scales.
    Decimals(Arc<Decimals>),
}

impl Part {
    fn is_number(&self) -> bool {
        match self {
            Part::Number(..) => true,
            Part::Column(column) => matches!(**column, PathColumn::Numbers(_)),
            Part::Undefined | Part::Decimals(_) => false,
        }
    }

    fn is_undefined(&self) -> bool {
        match self {
            Part::Undefined => true,
            Part::Number(..) | Part::Decimals(_) => false,
            Part::Column(column) => matches!(**column, PathColumn::Nothing),
        }
    }

    /// Whether all its numbers are spelled without zeros at the end of their fractions.
    fn is_shortest(&self) -> bool {
        match self {
            Part::Undefined => true,
            Part::Number(value, scale) => *scale == 0 || value % 10 != 0,
            Part::Decimals(decimals) => decimals.values.are_plain(),
            Part::Column(column) => match &**column {
                PathColumn::Numbers(column) => match column.numbers.spelled {
                    Digits::Shortest => true,
                    Digits::InFull => column.numbers.scale == 0,
                    Digits::Each(_) => false,
                },
                PathColumn::Nothing
                | PathColumn::Coded(_)
                | PathColumn::Mixed(_)
                | PathColumn::Pieces(_)
                | PathColumn::Unknown => true,
            },
        }
    }

    /// Whether each row has a number.
    fn is_total(&self) -> bool {
        match self {
            Part::Number(..) => true,
            Part::Column(column) => {
                matches!(&**column, PathColumn::Numbers(column) if column.numbers.rows.is_none())
            }
            Part::Undefined | Part::Decimals(_) => false,
        }
    }

    /// Gives rows that are, or are not, marked its numbers, raised to another scale. The first part's numbers may stand at other rows as well.
    fn scatter(
        &self,
        mask: &Mask,
        marked: bool,
        raise: i64,
        is_first: bool,
        chosen: &mut ChosenNumbers,
    ) -> Option<()> {
        match self {
            // Decimals are not chosen as mantissas.
            Part::Undefined | Part::Decimals(_) => {}
            Part::Number(value, scale) => {
                let value = value.checked_mul(raise)?;
                match is_first {
                    true => chosen.values.fill(value),
                    false => numbers::replace_by(&mut chosen.values, mask, marked, value),
                }
                chosen.all_are_there(mask, marked);
                for (own, mask) in chosen.digits.iter_mut().flatten().zip(mask) {
                    *own = if *mask == marked { *scale } else { *own };
                }
            }
            Part::Column(column) => {
                let PathColumn::Numbers(column) = &**column else { return Some(()) };
                chosen.put_values(&column.numbers, mask, marked, raise)?;
                // As many as the choice has itself were put down for all rows.
                if raise != 1 || column.numbers.spelled != Digits::InFull {
                    chosen.put_digits(&column.numbers, mask, marked);
                }
            }
        }
        Some(())
    }

    fn scale(&self) -> u8 {
        match self {
            Part::Undefined | Part::Decimals(_) => 0,
            Part::Number(_, scale) => *scale,
            Part::Column(column) => match &**column {
                PathColumn::Numbers(column) => column.numbers.scale,
                PathColumn::Nothing
                | PathColumn::Coded(_)
                | PathColumn::Mixed(_)
                | PathColumn::Pieces(_)
                | PathColumn::Unknown => 0,
            },
        }
    }

    /// What the mantissas of a part are multiplied by to be of a scale.
    fn raise(&self, scale: u8) -> Option<i64> {
        10i64.checked_pow(scale.checked_sub(self.scale())?.into())
    }
}

/// The numbers that were chosen, by row.
struct ChosenNumbers {
    values: Vec<i64>,
    /// How many digits after the point each is spelled with; none where that is as few as it takes.
    digits: Option<Vec<u8>>,
    are_there: Vec<bool>,
}

impl ChosenNumbers {
    /// Notes that rows that are marked so have a number.
    fn all_are_there(&mut self, mask: &Mask, marked: bool) {
        self.are_there.iter_mut().zip(mask).for_each(|(is_there, mask)| *is_there |= *mask == marked);
    }

    /// Gives marked rows their numbers, raised to another scale. Which rows get one is not to be guessed: each is written, if only with what it has.
    fn put_values(&mut self, numbers: &Mantissas, mask: &Mask, marked: bool, raise: i64) -> Option<()> {
        let raised = match raise {
            1 => Cow::Borrowed(numbers.values.as_slice()),
            _ => numbers.values.iter().map(|value| value.checked_mul(raise)).collect::<Option<_>>()?,
        };
        let Some(rows) = &numbers.rows else {
            numbers::replace(&mut self.values, mask, marked, &raised);
            self.all_are_there(mask, marked);
            return Some(());
        };
        let ChosenNumbers { values, are_there, .. } = self;
        for (row, value) in rows.iter().zip(&*raised) {
            let row = *row as usize;
            if let (Some(own), Some(is_there), Some(mask)) =
                (values.get_mut(row), are_there.get_mut(row), mask.get(row))
            {
                let gets_one = *mask == marked;
                *own = if gets_one { *value } else { *own };
                *is_there |= gets_one;
            }
        }
        Some(())
    }

    /// The same of how many digits they are spelled with.
    fn put_digits(&mut self, numbers: &Mantissas, mask: &Mask, marked: bool) {
        let Some(digits) = &mut self.digits else { return };
        if let (Digits::Each(each), None) = (&numbers.spelled, &numbers.rows) {
            for ((own, mask), digits) in digits.iter_mut().zip(mask).zip(each) {
                *own = if *mask == marked { *digits } else { *own };
            }
            return;
        }
        for place in 0..numbers.values.len() {
            let row = match &numbers.rows {
                None => place,
                Some(rows) => rows.get(place).map_or(usize::MAX, |row| *row as usize),
            };
            let own = match &numbers.spelled {
                Digits::InFull => Some(numbers.scale),
                Digits::Each(each) => each.get(place).copied(),
                Digits::Shortest => numbers.get(place).map(|(_, scale)| scale),
            };
            if let (Some(mask), Some(place), Some(own)) = (mask.get(row), digits.get_mut(row), own) {
                *place = if *mask == marked { own } else { *place };
            }
        }
    }

    fn into_numbers(self, scale: u8) -> Mantissas {
        let ChosenNumbers { mut values, mut digits, are_there } = self;
        let mut rows = None;
        if are_there.contains(&false) {
            keep(&mut values, &are_there);
            digits.iter_mut().for_each(|digits| keep(digits, &are_there));
            let mut of: Vec<u32> = (0..are_there.len() as u32).collect();
            keep(&mut of, &are_there);
            rows = Some(of);
        }
        let spelled = match digits {
            Some(digits) => Digits::of(digits, scale),
            None if scale == 0 => Digits::InFull,
            None => Digits::Shortest,
        };
        Mantissas { rows, values, scale, spelled }
    }
}

/// The numbers of one part where a row is marked, and else those of the other, where one of them has many scales. None where there is something else, or a number is
/// spelled as no computed one is, if that makes a difference.
fn choose_decimals(mask: &Mask, then: &Part, otherwise: &Part, spelled: Spelled) -> Option<Part> {
    if spelled == Spelled::AsChosen && !(then.is_shortest() && otherwise.is_shortest()) {
        return None;
    }
    let decimals = choose_sides(mask, side(then)?, side(otherwise)?);
    Some(Part::Decimals(Arc::new(decimals)))
}

/// The numbers of a part; none of one that has something else.
fn side(part: &Part) -> Option<Side<'_>> {
    Some(match part {
        Part::Undefined => Side::Nothing,
        Part::Number(value, scale) => Side::Constant(*value, *scale),
        Part::Decimals(decimals) => Side::Decimals(decimals),
        Part::Column(column) => match &**column {
            PathColumn::Nothing => Side::Nothing,
            PathColumn::Numbers(column) => Side::Numbers(&column.numbers),
            PathColumn::Coded(_) | PathColumn::Mixed(_) | PathColumn::Pieces(_) | PathColumn::Unknown => {
                return None;
            }
        },
    })
}

/// Leaves out the values of rows that are not there.
fn keep<T: Copy>(values: &mut Vec<T>, are_there: &[bool]) {
    let mut kept = 0;
    for (row, is_there) in are_there.iter().enumerate() {
        // Written always, and kept where the row has one: a branch could not be foretold.
        if let Some(value) = values.get(row).copied()
            && let Some(place) = values.get_mut(kept)
        {
            *place = value;
        }
        kept += usize::from(*is_there);
    }
    values.truncate(kept);
}

impl Evaluator<'_> {
    /// What a choice between numbers comes to: `if`, or `Coalesce`. None where there is something else to choose.
    pub(super) fn chosen_number(&self, expr: &Expr, spelled: Spelled) -> Option<Reckoned> {
        let part = |part: &Expr| match (expr, spelled) {
            (Expr::If(_), Spelled::Anyhow) => self.operand_part(part),
            // A value of another kind is chosen before the numbers behind it.
            _ => self.number_part(part, spelled),
        };
        let choose = |mask: &Mask, then: &Part, otherwise: &Part| {
            self.choose_numbers_of(mask, then, otherwise, spelled)
        };
        match self.chosen_of(expr, part, choose)? {
            Part::Decimals(decimals) => Some(Reckoned::Decimals(decimals)),
            Part::Column(column) => match &*column {
                PathColumn::Numbers(column) => Some(Reckoned::Numbers(column.numbers.clone())),
                PathColumn::Nothing
                | PathColumn::Coded(_)
                | PathColumn::Mixed(_)
                | PathColumn::Pieces(_)
                | PathColumn::Unknown => None,
            },
            Part::Undefined | Part::Number(..) => None,
        }
    }

    /// The column of a choice.
    pub(super) fn chosen(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        match self.chosen_number(expr, Spelled::AsChosen) {
            Some(Reckoned::Numbers(numbers)) => Some(Arc::new(PathColumn::of_numbers(numbers, self.rows()))),
            Some(Reckoned::Decimals(decimals)) => Texts::of_decimals(&decimals, self.rows()),
            Some(Reckoned::Constant { .. }) | None => {
                let choose = |mask: &Mask, then: &Part, otherwise: &Part| self.choose(mask, then, otherwise);
                match self.chosen_of(expr, |part| self.part(part), choose)? {
                    Part::Column(column) => Some(column),
                    Part::Decimals(decimals) => Texts::of_decimals(&decimals, self.rows()),
                    Part::Undefined | Part::Number(..) => None,
                }
            }
        }
    }

    fn chosen_of(
        &self,
        expr: &Expr,
        part: impl Fn(&Expr) -> Option<Part>,
        choose: impl Fn(&Mask, &Part, &Part) -> Option<Part>,
    ) -> Option<Part> {
        if conditions_within(expr) > CONDITIONS_MAX {
            return None;
        }
        match expr {
            Expr::If(parts) => {
                let (condition, then, otherwise) = &**parts;
                let parts = (part(then)?, part(otherwise)?);
                let mask = self.test(condition, None).ok()?;
                choose(&mask, &parts.0, &parts.1)
            }
            Expr::Coalesce(parts) if parts.len() <= PARTS_MAX => {
                let (last, others) = parts.split_last()?;
                let others =
                    others.iter().map(|other| self.numbers_beside_null(other).or_else(|| part(other)));
                let mut parts = others.collect::<Option<Vec<Part>>>()?;
                let mut chosen = part(last)?;
                while let Some(first) = parts.pop() {
                    let has_one = match &first {
                        Part::Undefined => vec![false; self.rows()],
                        Part::Number(..) => vec![true; self.rows()],
                        Part::Column(column) => self.nulls(Some(column), true),
                        Part::Decimals(decimals) => has_number(decimals, self.rows()),
                    };
                    chosen = choose(&has_one, &first, &chosen)?;
                }
                Some(chosen)
            }
            _ => None,
        }
    }

    /// The numbers of a path that has nothing else, or null, in other rows, as `Coalesce` takes them of all its values but the last.
    fn numbers_beside_null(&self, expr: &Expr) -> Option<Part> {
        let column = self.mixed(expr).filter(|column| column.others.are_null)?;
        Some(Part::Column(Arc::new(PathColumn::of_numbers(column.numbers.clone(), self.rows()))))
    }

    /// Whether an expression gives nothing.
    fn is_undefined(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Constant(Value::Undefined)) || matches!(self.as_column(expr), Some(None))
    }

    /// The numbers of a part that is reckoned with.
    fn operand_part(&self, expr: &Expr) -> Option<Part> {
        match self.is_undefined(expr) {
            true => Some(Part::Undefined),
            false => Some(self.part_of(self.operand(expr)?)),
        }
    }

    fn number_part(&self, expr: &Expr, spelled: Spelled) -> Option<Part> {
        if self.is_undefined(expr) {
            return Some(Part::Undefined);
        }
        // Its other values are chosen too.
        if self.mixed(expr).is_some() {
            return None;
        }
        match self.reckoned(expr)? {
            // Their spelling is told by other texts.
            Reckoned::Decimals(decimals)
                if self.as_column(expr).is_some()
                    && (!matches!(decimals.values, DecimalValues::Stored(_))
                        || spelled == Spelled::AsChosen && self.has_other_spellings(expr)) =>
            {
                None
            }
            // The same of those that are reckoned with as mantissas.
            Reckoned::Numbers(_) if spelled == Spelled::AsChosen && self.is_coded(expr) => None,
            reckoned => Some(self.part_of(reckoned)),
        }
    }

    /// Whether an expression is a path whose values are texts by dictionary.
    fn is_coded(&self, expr: &Expr) -> bool {
        matches!(self.as_column(expr).flatten().map(AsRef::as_ref), Some(PathColumn::Coded(_)))
    }

    /// Whether an expression is a path some of whose numbers are spelled with an exponent or with zeros at their end, or are a negative zero.
    fn has_other_spellings(&self, expr: &Expr) -> bool {
        let Some(PathColumn::Coded(coded)) = self.as_column(expr).flatten().map(AsRef::as_ref) else {
            return false;
        };
        let is_zero = |text: &[u8]| text.iter().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
        let is_other = |text: &[u8]| {
            text.first() == Some(&b'-') && is_zero(text)
                || text.last() == Some(&b'0') && text.contains(&b'.')
                || text.iter().any(|byte| byte.eq_ignore_ascii_case(&b'e'))
        };
        (0..coded.dictionary.len() as u32).any(|entry| is_other(coded.dictionary.get(entry)))
    }

    fn part_of(&self, reckoned: Reckoned) -> Part {
        match reckoned {
            Reckoned::Constant { value, scale } => Part::Number(value, scale),
            Reckoned::Numbers(numbers) => {
                Part::Column(Arc::new(PathColumn::of_numbers(numbers, self.rows())))
            }
            Reckoned::Decimals(decimals) => Part::Decimals(decimals),
        }
    }

    fn part(&self, expr: &Expr) -> Option<Part> {
        if let Some(number) = self.number_part(expr, Spelled::AsChosen) {
            return Some(number);
        }
        self.computed(expr).map(Part::Column)
    }

    /// The same where numbers alone are wanted: what it comes to with something else is not made.
    fn choose_numbers_of(
        &self,
        mask: &Mask,
        then: &Part,
        otherwise: &Part,
        spelled: Spelled,
    ) -> Option<Part> {
        match (then, otherwise) {
            (Part::Decimals(_), _) | (_, Part::Decimals(_)) => {
                choose_decimals(mask, then, otherwise, spelled)
            }
            _ => self.choose_column(mask, then, otherwise).map(Part::Column),
        }
    }

    /// What one part has where a row is marked, and else what the other has.
    fn choose(&self, mask: &Mask, then: &Part, otherwise: &Part) -> Option<Part> {
        let has_decimals = matches!((then, otherwise), (Part::Decimals(_), _) | (_, Part::Decimals(_)));
        match self.choose_numbers_of(mask, then, otherwise, Spelled::AsChosen) {
            None if has_decimals => self.choose_column(mask, then, otherwise).map(Part::Column),
            chosen => chosen,
        }
    }

    /// A column that has the value of one part where a row is marked, and else that of the other.
    fn choose_column(&self, mask: &Mask, then: &Part, otherwise: &Part) -> Option<Arc<PathColumn>> {
        let fits = |part: &Part| part.is_number() || part.is_undefined();
        if fits(then) && fits(otherwise) {
            return self.choose_numbers(mask, then, otherwise);
        }
        let (then, otherwise) = (self.coded_part(then)?, self.coded_part(otherwise)?);
        let (then, otherwise) = (then.coded()?, otherwise.coded()?);
        let dictionary = then.dictionary.followed_by(&otherwise.dictionary, BYTES_MAX)?;
        let behind = then.dictionary.len() as u32;
        let code = |(row, mask): (usize, &bool)| match mask {
            true => then.code(row),
            false => behind + otherwise.code(row),
        };
        let codes = mask.iter().enumerate().map(code).collect();
        Some(Arc::new(PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary)))))
    }

    fn choose_numbers(&self, mask: &Mask, then: &Part, otherwise: &Part) -> Option<Arc<PathColumn>> {
        let scale = then.scale().max(otherwise.scale());
        let rows = mask.len();
        let are_shortest = then.is_shortest() && otherwise.is_shortest();
        let digits = (!are_shortest).then(|| vec![scale; rows]);
        let mut chosen = ChosenNumbers { values: vec![0; rows], digits, are_there: vec![false; rows] };
        let mut sides = [(then, true), (otherwise, false)];
        if otherwise.is_total() {
            sides.reverse();
        }
        for (nth, (part, marked)) in sides.into_iter().enumerate() {
            part.scatter(mask, marked, part.raise(scale)?, nth == 0, &mut chosen)?;
        }
        Some(Arc::new(PathColumn::of_numbers(chosen.into_numbers(scale), self.rows())))
    }

    /// The same rows by dictionary.
    fn coded_part(&self, part: &Part) -> Option<Arc<PathColumn>> {
        match part {
            Part::Column(column) if column.coded().is_some() => Some(column.clone()),
            // Others are spelled as no computed number is.
            Part::Decimals(decimals) if decimals.values.are_plain() => {
                Texts::of_decimals(decimals, self.rows())
            }
            Part::Decimals(_) => None,
            Part::Undefined | Part::Column(_) => self.constant(&Value::Undefined),
            Part::Number(value, scale) => {
                self.constant(&Value::Number(crate::value::Number::few(*value, (*scale).into())))
            }
        }
    }

    /// A condition's values, by the rows for which it is true and those for which it is one at all.
    pub(super) fn truths(&self, mask: &Mask, is_told: impl Fn(usize) -> bool) -> Arc<PathColumn> {
        let code = |(row, mask): (usize, &bool)| match mask {
            true => 1,
            false => 2 * u32::from(is_told(row)),
        };
        let codes = mask.iter().enumerate().map(code).collect();
        let dictionary = Dictionary::new(b"truefalse".to_vec(), vec![0, 4, 9]);
        Arc::new(PathColumn::Coded(Coded::new(Some(codes), Arc::new(dictionary))))
    }
}
