//! Columns as they are kept where memory is short: the same values in as few bytes each as the greatest of them takes.
//!
//! What is evaluated has eight bytes a number and four a row, so that one loop serves all columns. Most numbers take two or four bytes, and most codes
//! one. To widen them again costs a fraction of what decoding them costs.

use super::coded::{Coded, held_by_digits};
use super::path_column::{PathColumn, known_coded};
use crate::chunk::OwnTimes;
use crate::dictionary::{Dictionary, NumberedTexts};
use std::sync::Arc;
use tamias_shred::{Arrivals, Digits, Numbers};
use tamias_simd::numbers::{append_above, range};

/// A column in few bytes.
#[derive(Debug)]
pub(super) enum Compact {
    /// For each row its entry; without codes each has its own.
    Coded { codes: Option<Narrow>, dictionary: Arc<Dictionary> },
    /// The same where the entries are keys only: their texts stand in a table of keys.
    Keys { codes: Option<Narrow>, texts: NumberedTexts },
    /// Numbers of a block of so many rows.
    Numbers { numbers: CompactNumbers, rows: usize },
}

/// Numbers in few bytes.
#[derive(Debug)]
pub(super) struct CompactNumbers {
    rows: Option<Narrow>,
    /// How much greater than `least` each is.
    values: Narrow,
    least: i64,
    scale: u8,
    spelled: Digits,
}

/// Instants and arrival numbers in few bytes.
#[derive(Debug)]
pub(super) struct CompactTimes {
    first: u64,
    /// How much later than the one before each instant is.
    steps: Narrow,
    /// How many instants there are.
    count: usize,
    arrivals: Arrivals<NarrowArrivals>,
}

/// How much greater than the least of them each arrival number is.
#[derive(Debug)]
struct NarrowArrivals {
    above: Narrow,
    least: u64,
}

/// Whole numbers in as few bytes each as the greatest of them takes.
#[derive(Debug)]
pub(super) enum Narrow {
    One(Box<[u8]>),
    Two(Box<[u16]>),
    /// The low bytes first.
    Three(Box<[[u8; 3]]>),
    Four(Box<[u32]>),
}

fn of_three([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}

impl Narrow {
    /// None where one of the numbers takes more than four bytes.
    fn of(numbers: impl Iterator<Item = u64> + Clone) -> Option<Narrow> {
        let greatest = u32::try_from(numbers.clone().max().unwrap_or_default()).ok()?;
        Some(match greatest {
            0..=0xff => Narrow::One(numbers.map(|number| number as u8).collect()),
            0x100..=0xffff => Narrow::Two(numbers.map(|number| number as u16).collect()),
            0x1_0000..=0xff_ffff => Narrow::Three(
                numbers
                    .map(|number| {
                        let [low, middle, high, ..] = number.to_le_bytes();
                        [low, middle, high]
                    })
                    .collect(),
            ),
            0x100_0000.. => Narrow::Four(numbers.map(|number| number as u32).collect()),
        })
    }

    /// What each number comes to.
    fn widened<T>(&self, wide: impl FnMut(u32) -> T) -> Vec<T> {
        let mut all = Vec::new();
        self.widen_onto(&mut all, wide);
        all
    }

    /// Appends what each number comes to.
    fn widen_onto<T>(&self, out: &mut Vec<T>, mut wide: impl FnMut(u32) -> T) {
        // What is taken by value stays in registers: the loops are not always inlined here.
        match self {
            Narrow::One(numbers) => out.extend(numbers.iter().map(move |number| wide((*number).into()))),
            Narrow::Two(numbers) => out.extend(numbers.iter().map(move |number| wide((*number).into()))),
            Narrow::Three(numbers) => out.extend(numbers.iter().map(move |number| wide(of_three(*number)))),
            Narrow::Four(numbers) => out.extend(numbers.iter().map(move |number| wide(*number))),
        }
    }

    /// Numbers that are so much above a base.
    fn above(&self, base: i64) -> Vec<i64> {
        let mut all = Vec::new();
        match self {
            Narrow::One(numbers) => append_above(base, numbers, &mut all),
            Narrow::Two(numbers) => append_above(base, numbers, &mut all),
            Narrow::Three(numbers) => {
                all.extend(numbers.iter().map(|number| base.wrapping_add(of_three(*number).into())));
            }
            Narrow::Four(numbers) => append_above(base, numbers, &mut all),
        }
        all
    }

    fn held_bytes(&self) -> usize {
        match self {
            Narrow::One(numbers) => numbers.len(),
            Narrow::Two(numbers) => 2 * numbers.len(),
            Narrow::Three(numbers) => 3 * numbers.len(),
            Narrow::Four(numbers) => 4 * numbers.len(),
        }
    }
}

impl CompactNumbers {
    /// None where the numbers lie too far apart.
    pub(super) fn of(numbers: &Numbers) -> Option<CompactNumbers> {
        let Numbers { rows, values, scale, spelled } = numbers;
        let least = range(values).map_or(0, |(least, _)| least);
        // Both wrap alike: the difference is right as an unsigned number.
        let values = Narrow::of(values.iter().map(|value| value.wrapping_sub(least) as u64))?;
        let rows = match rows {
            None => None,
            Some(rows) => Some(Narrow::of(rows.iter().map(|row| u64::from(*row)))?),
        };
        Some(CompactNumbers { rows, values, least, scale: *scale, spelled: spelled.clone() })
    }

    pub(super) fn widened(&self) -> Numbers {
        Numbers {
            rows: self.rows.as_ref().map(|rows| rows.widened(|row| row)),
            values: self.values.above(self.least),
            scale: self.scale,
            spelled: self.spelled.clone(),
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        let rows = self.rows.as_ref().map_or(0, Narrow::held_bytes);
        rows + self.values.held_bytes() + held_by_digits(&self.spelled)
    }
}

impl Compact {
    /// The same values in fewer bytes; none where that takes no fewer, as of texts that are all distinct.
    pub(super) fn of(column: &PathColumn) -> Option<Compact> {
        let compact = match column {
            PathColumn::Numbers(column) => {
                Compact::Numbers { numbers: CompactNumbers::of(&column.numbers)?, rows: column.rows() }
            }
            other => {
                let (codes, dictionary) = Compact::of_coded(known_coded(other)?)?;
                let own = dictionary.without_table().map(Arc::new);
                Compact::Coded { codes, dictionary: own.unwrap_or_else(|| dictionary.clone()) }
            }
        };
        Some(compact).filter(|compact| compact.held_bytes() < column.held_bytes())
    }

    fn of_coded(coded: &Coded) -> Option<(Option<Narrow>, &Arc<Dictionary>)> {
        let codes = match coded.codes() {
            None => None,
            Some(codes) => Some(Narrow::of(codes.iter().map(|code| u64::from(*code)))?),
        };
        Some((codes, &coded.dictionary))
    }

    /// The same values as keys, whose texts a table of keys has; none where no table has them.
    pub(super) fn of_keys(column: &PathColumn) -> Option<Compact> {
        let coded = known_coded(column)?;
        let texts = coded.dictionary.numbered()?;
        let (codes, _) = Compact::of_coded(coded)?;
        Some(Compact::Keys { codes, texts })
    }

    /// Whether the texts stand in a table of keys.
    pub(super) fn are_keys(&self) -> bool {
        matches!(self, Compact::Keys { .. })
    }

    /// Whether its texts stood in a table of keys that is given up.
    pub(super) fn is_left_in_table(&self) -> bool {
        matches!(self, Compact::Keys { texts, .. } if texts.are_left_in_table())
    }

    /// Whether keys are here with all that is known of them in a column.
    pub(super) fn are_keys_of(&self, column: &PathColumn) -> bool {
        let are_shared_out = || known_coded(column).is_some_and(|coded| coded.dictionary.has_shares());
        matches!(self, Compact::Keys { texts, .. } if texts.has_shares() || !are_shared_out())
    }

    /// The column as it is evaluated; none where its texts stand elsewhere.
    pub(super) fn widened(&self) -> Option<PathColumn> {
        match self {
            Compact::Coded { codes, dictionary } => Some(coded(codes, dictionary.clone())),
            Compact::Keys { .. } => None,
            Compact::Numbers { numbers, rows } => Some(PathColumn::of_numbers(numbers.widened(), *rows)),
        }
    }

    /// The same as keys, whose texts are spelled once they are asked for; none where the table that has them is given up.
    pub(super) fn widened_keys(&self) -> Option<PathColumn> {
        match self {
            Compact::Keys { codes, texts } => Some(coded(codes, Arc::new(texts.dictionary()?))),
            other => other.widened(),
        }
    }

    /// What it takes in memory, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Compact::Coded { codes, dictionary } => {
                codes.as_ref().map_or(0, Narrow::held_bytes) + dictionary.held_bytes()
            }
            Compact::Keys { codes, texts } => {
                codes.as_ref().map_or(0, Narrow::held_bytes) + texts.held_bytes()
            }
            Compact::Numbers { numbers, .. } => numbers.held_bytes(),
        }
    }
}

/// The column of codes that are widened again.
fn coded(codes: &Option<Narrow>, dictionary: Arc<Dictionary>) -> PathColumn {
    let codes = codes.as_ref().map(|codes| codes.widened(|code| code));
    PathColumn::Coded(Coded::new(codes, dictionary))
}

impl CompactTimes {
    /// None where two instants lie far apart, or arrival numbers do.
    pub(super) fn of(times: &OwnTimes) -> Option<CompactTimes> {
        let instants = || times.instants.iter().map(|instant| u64::from_le_bytes(*instant));
        let first = instants().next().unwrap_or_default();
        let steps = instants().zip(instants().skip(1)).map(|(before, after)| after.wrapping_sub(before));
        let arrivals = match times.arrivals {
            Arrivals::Counted(first) => Arrivals::Counted(first),
            Arrivals::Each(_) => {
                let arrivals = times.arrivals.of(0..times.instants.len());
                let least = arrivals.clone().min().unwrap_or_default();
                let above = Narrow::of(arrivals.map(|arrival| arrival - least))?;
                Arrivals::Each(NarrowArrivals { above, least })
            }
        };
        Some(CompactTimes { first, steps: Narrow::of(steps)?, count: times.instants.len(), arrivals })
    }

    /// The times as they are read.
    pub(super) fn widened(&self) -> OwnTimes {
        let arrivals = match &self.arrivals {
            Arrivals::Counted(first) => Arrivals::Counted(*first),
            Arrivals::Each(NarrowArrivals { above, least }) => {
                let least = *least;
                Arrivals::Each(above.widened(move |above| (least + u64::from(above)).to_le_bytes()))
            }
        };
        let mut instants = Vec::with_capacity(self.count);
        // There is no step where there are no instants.
        instants.extend((self.count > 0).then(|| self.first.to_le_bytes()));
        let mut instant = self.first;
        self.steps.widen_onto(&mut instants, move |step| {
            instant = instant.wrapping_add(step.into());
            instant.to_le_bytes()
        });
        OwnTimes::new(instants, arrivals)
    }

    /// What it takes in memory, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        let arrivals = match &self.arrivals {
            Arrivals::Counted(_) => 0,
            Arrivals::Each(NarrowArrivals { above, .. }) => above.held_bytes(),
        };
        self.steps.held_bytes() + arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = (Numbers, usize)> {
        let value =
            prop_oneof![0..200i64, -40_000..20_000i64, any::<i32>().prop_map(i64::from), any::<i64>()];
        let values = prop_oneof![vec(0..200i64, 1..50), vec(value, 1..50)];
        (values, 0..10u32, any::<bool>(), 0..9u8).prop_map(|(values, gap, have_all, scale)| {
            let rows: Vec<u32> = (0..values.len() as u32).map(|place| place * (gap + 1)).collect();
            let events = rows.last().map_or(0, |last| *last as usize + 1);
            let digits = values.iter().map(|value| (value.unsigned_abs() % 5) as u8).collect();
            let rows = (!have_all && gap > 0).then_some(rows);
            let events = if rows.is_some() { events } else { values.len() };
            (Numbers { rows, values, scale, spelled: Digits::of(digits, scale) }, events)
        })
    }

    proptest! {
        #[test]
        fn numbers_come_back_as_they_were((numbers, rows) in numbers()) {
            let column = PathColumn::of_numbers(numbers.clone(), rows);
            if let Some(compact) = Compact::of(&column) {
                let Some(PathColumn::Numbers(widened)) = compact.widened() else { panic!("{compact:?}") };
                prop_assert_eq!(&*widened.numbers, &numbers);
                prop_assert_eq!(widened.rows(), rows);
                prop_assert!(compact.held_bytes() * 2 <= column.held_bytes() + numbers.values.len());
            } else {
                let span = numbers.values.iter().max().unwrap().checked_sub(*numbers.values.iter().min().unwrap());
                prop_assert!(span.is_none_or(|span| span > i64::from(u32::MAX)));
            }
        }

        #[test]
        fn times_come_back_as_they_were(
            first in any::<u32>(), steps in vec(prop_oneof![0..100u64, 0..1u64 << 33], 0..50), least in any::<u32>(), counts: bool
        ) {
            let mut instant = u64::from(first);
            let instants: Vec<[u8; 8]> = steps.iter().map(|step| { instant += step; instant.to_le_bytes() }).collect();
            let arrivals = match counts {
                true => Arrivals::Counted(least.into()),
                false => Arrivals::Each(steps.iter().map(|step| (u64::from(least) + step % 1000).to_le_bytes()).collect()),
            };
            let times = OwnTimes::new(instants, arrivals);
            if let Some(compact) = CompactTimes::of(&times) {
                let widened = compact.widened();
                prop_assert_eq!(widened.instants, times.instants);
                prop_assert_eq!(widened.arrivals, times.arrivals);
            } else {
                prop_assert!(steps.iter().any(|step| *step > u64::from(u32::MAX)));
            }
        }
    }

    #[test]
    fn codes_come_back_as_they_were_in_as_few_bytes_as_they_take() {
        for (entries, bytes) in
            [(1u32, Some(1)), (256, Some(1)), (257, Some(2)), (65_536, Some(2)), (65_537, Some(3))]
        {
            let codes: Vec<u32> = (0..100_000).map(|row| row % entries).collect();
            let dictionary = Arc::new(Dictionary::new(vec![b'7'; entries as usize], (1..=entries).collect()));
            let compact =
                Compact::of(&PathColumn::Coded(Coded::new(Some(codes.clone()), dictionary.clone())));
            let held = compact
                .as_ref()
                .map(|compact| (compact.held_bytes() - dictionary.held_bytes()) / codes.len());
            assert_eq!(held, bytes, "{entries}");
            if let Some(compact) = compact {
                assert_eq!(compact.widened().unwrap().coded().unwrap().codes(), Some(&*codes));
            }
        }
    }

    #[test]
    fn what_takes_no_less_stays_as_it_is() {
        let each_its_own = Coded::new(None, Arc::new(Dictionary::new(vec![b'7'; 10], (1..=10).collect())));
        assert!(Compact::of(&PathColumn::Coded(each_its_own)).is_none());
        assert!(Compact::of(&PathColumn::Nothing).is_none());
        let apart = Numbers { values: vec![i64::MIN, i64::MAX], ..Numbers::default() };
        assert!(Compact::of(&PathColumn::of_numbers(apart, 2)).is_none());
    }
}
