//! Numbers by dictionary: each is spelled once, where equal ones are found.

use super::coded::{CLOSE_SHARE, Coded, PROBE, are_few};
use crate::dictionary::Dictionary;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tamias_shred::{Digits, Numbers};
use tamias_simd::numbers::range;

impl Coded {
    /// The texts of numbers. Entry 0 is that of rows that have none.
    pub(super) fn of_numbers(numbers: &Numbers, rows: usize) -> Coded {
        if let Some(coded) = Coded::of_close_numbers(numbers, rows) {
            return coded;
        }
        let (mut bytes, mut ends) = (Vec::new(), vec![0u32]);
        let mut codes = vec![0u32; rows];
        let mut known: Option<HashMap<(i64, u8), u32, foldhash::fast::RandomState>> =
            Some(HashMap::default());
        let mut last = (None, 0);
        for place in 0..numbers.values.len() {
            let row =
                numbers.rows.as_ref().map_or(place, |rows| rows.get(place).map_or(0, |row| *row as usize));
            let next = ends.len() as u32;
            let number = own(numbers, place);
            let code = match (&mut known, number) {
                // Equal ones often follow one another, as days do.
                (Some(_), Some(_)) if last.0 == number => last.1,
                (Some(known), Some(number)) => *known.entry(number).or_insert(next),
                (None, _) | (_, None) => next,
            };
            last = (number, code);
            if code == next {
                numbers.write(place, &mut bytes);
                ends.push(bytes.len() as u32);
            }
            if let Some(place) = codes.get_mut(row) {
                *place = code;
            }
            if place == PROBE && ends.len() > PROBE / 2 {
                known = None;
            }
        }
        Coded::new(Some(codes), Arc::new(Dictionary::new(bytes, ends)))
    }

    /// The same of numbers that lie close together and of which equal ones are spelled alike: each has a place of its own.
    fn of_close_numbers(numbers: &Numbers, rows: usize) -> Option<Coded> {
        let (least, span) = close(numbers)?;
        let mut known = vec![0u32; span + 1];
        let (mut bytes, mut ends) = (Vec::new(), vec![0u32]);
        let mut code = |place: usize, value: i64| {
            let Some(known) = known.get_mut((value - least) as usize) else { return 0 };
            if *known == 0 {
                numbers.write(place, &mut bytes);
                *known = ends.len() as u32;
                ends.push(bytes.len() as u32);
            }
            *known
        };
        let values = numbers.values.iter().copied().enumerate();
        let codes = match &numbers.rows {
            None => values.map(|(place, value)| code(place, value)).collect(),
            Some(with_one) => {
                let mut codes = vec![0u32; rows];
                for ((place, value), row) in values.zip(with_one) {
                    if let Some(of_row) = codes.get_mut(*row as usize) {
                        *of_row = code(place, value);
                    }
                }
                codes
            }
        };
        Some(Coded::new(Some(codes), Arc::new(Dictionary::new(bytes, ends))))
    }

    /// Whether the texts of numbers may be so few that what is asked of rows had better be asked of them. To spell numbers takes ten times as long.
    pub(super) fn numbers_may_repeat(numbers: &Numbers, rows: usize) -> bool {
        // Entry 0 is that of rows that have none.
        if are_few(numbers.values.len() + 1, rows) {
            return true;
        }
        if let Some((least, span)) = close(numbers) {
            let mut known = vec![false; span + 1];
            for value in &numbers.values {
                if let Some(known) = known.get_mut((value - least) as usize) {
                    *known = true;
                }
            }
            return are_few(known.iter().filter(|known| **known).count() + 1, rows);
        }
        let probe = (0..=PROBE).filter_map(|place| own(numbers, place));
        let distinct: HashSet<(i64, u8), foldhash::fast::RandomState> = probe.collect();
        distinct.len() < PROBE / 2
    }
}

/// What tells the number at a place from others that are spelled otherwise.
fn own(numbers: &Numbers, place: usize) -> Option<(i64, u8)> {
    match numbers.spelled {
        Digits::Each(_) => numbers.get(place),
        // Those of one mantissa are spelled alike.
        Digits::InFull | Digits::Shortest => Some((*numbers.values.get(place)?, numbers.scale)),
    }
}

/// The least number, and how far the greatest is from it, where numbers lie close together and equal ones are spelled alike.
fn close(numbers: &Numbers) -> Option<(i64, usize)> {
    let (least, greatest) = range(&numbers.values)?;
    let span = usize::try_from(greatest.checked_sub(least)?).ok()?;
    let is_close = !matches!(numbers.spelled, Digits::Each(_)) && span <= CLOSE_SHARE * numbers.values.len();
    is_close.then_some((least, span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_told_without_spelling_numbers_is_what_they_come_to(
            (range, gap) in (1..3000i64, prop_oneof![Just(1i64), Just(1_000_003)]), count in 0..3000usize, spread in 1..4u32,
        ) {
            let value = |place: i64| (place.wrapping_mul(7_919) ^ (place >> 3)).rem_euclid(range) * gap;
            let numbers = Numbers {
                rows: (spread > 1).then(|| (0..count as u32).map(|place| place * spread).collect()),
                values: (0..count as i64).map(value).collect(),
                ..Numbers::default()
            };
            let rows = count * spread as usize;
            let repeats = Coded::of_numbers(&numbers, rows).repeats();
            prop_assert!(Coded::numbers_may_repeat(&numbers, rows) || !repeats);
        }
    }

    #[test]
    fn numbers_that_do_not_repeat_are_told_by_a_few() {
        let numbers = |gap: i64, range: i64| Numbers {
            values: (0..16_384).map(|place| place % range * gap).collect(),
            ..Numbers::default()
        };
        for (gap, range, may_repeat) in
            [(1, 100, true), (1, 9_000, false), (1_000_003, 100, true), (1_000_003, 9_000, false)]
        {
            assert_eq!(Coded::numbers_may_repeat(&numbers(gap, range), 16_384), may_repeat, "{gap} {range}");
        }
    }
}
