//! What stands at a path by dictionary: constants, texts that are few, and whole numbers that lie close together.

use crate::column::{ColumnValues, Written};
use crate::encoding::dictionary::Coded;
use crate::encoding::simple::{Simple, Values};
use crate::encoding::strings::Texts;
use crate::error::{DecodeError, NO_COLUMN};
use crate::group::GroupReader;
use crate::number::{self, Plain};
use crate::shape::Leaf;
use crate::sites::{Site, Sites};
use std::ops::Range;

/// A dictionary may have so many entries for each of its values; what has more is given as text.
const ENTRIES_SHARE: usize = 2;

impl GroupReader<'_> {
    /// The values by dictionary, if they are constants, texts that are few, and whole numbers that are few.
    pub(crate) fn coded(&mut self, sites: &Sites) -> Result<Option<Coded<'static>>, DecodeError> {
        let group = self.group;
        let is_coded = |site: &Site| {
            matches!(site.leaf, Some(Leaf::True | Leaf::False | Leaf::Null | Leaf::Text | Leaf::Whole))
        };
        if !sites.iter().all(is_coded) {
            return Ok(None);
        }
        let columns = sites.columns();
        for column in &columns {
            let info = group.directory().columns.get(*column as usize).ok_or(NO_COLUMN)?;
            match &info.encoding {
                Written::Simple(Simple::Dictionary(dictionary))
                    if dictionary.size * ENTRIES_SHARE <= sites.rows => {}
                Written::Simple(Simple::Whole(_) | Simple::Difference(_)) if info.kind == Leaf::Whole => {}
                _ => return Ok(None),
            }
        }
        // Those that no event has would be taken for values of the column.
        let is_there = |leaf: &Option<Leaf>| leaf.is_none() || sites.iter().any(|site| site.leaf == *leaf);
        let constants: Vec<_> = CONSTANTS.into_iter().filter(|(leaf, _)| is_there(leaf)).collect();
        let constant =
            |leaf| constants.iter().position(|(of, _)| *of == Some(leaf)).map(|place| place as u32);
        let Some(strides) = self.strides(sites, &columns, constants.len(), constant)? else {
            return Ok(None);
        };
        let mut entries = Entries::default();
        constants.iter().for_each(|(_, text)| entries.push(&[text.as_bytes()]));
        // Every code: the constants', of which the first stands for what is missing, then those of the columns.
        let mut codes: Vec<u32> = (0..constants.len() as u32).collect();
        for column in columns {
            match self.values_for(&strides, column)? {
                ColumnValues::Simple(Values::Coded(coded)) => {
                    let before = entries.ends.len() as u32;
                    coded.entries.iter().for_each(|text| entries.push(&[b"\"", text, b"\""]));
                    codes.extend(coded.codes.iter().map(|code| code + before));
                }
                ColumnValues::Simple(Values::Whole(numbers)) => {
                    if !entries.add_numbers(&numbers, sites.rows / ENTRIES_SHARE, &mut codes) {
                        return Ok(None);
                    }
                }
                _ => return Ok(None),
            }
        }
        let codes = codes.as_slice();
        let code = move |place: u32| codes.get(place as usize).copied().unwrap_or_default();
        let is_one = |places: Range<usize>| match codes.get(places) {
            // Some at once without a branch, since mostly all are the same.
            Some([first, others @ ..]) => others
                .chunks(SAME_TOGETHER)
                .all(|others| others.iter().fold(true, |same, other| same & (other == first))),
            Some([]) | None => true,
        };
        let codes = strides.all(self.codes(sites.list)?, code, is_one)?;
        Ok(Some(Coded { entries: Texts::of_parts(entries.ends, entries.bytes), codes }))
    }
}

/// So many codes are looked at together for another one.
const SAME_TOGETHER: usize = 128;

/// What stands in no column, as JSON text: what is missing, and the constants.
const CONSTANTS: [(Option<Leaf>, &str); 4] =
    [(None, ""), (Some(Leaf::True), "true"), (Some(Leaf::False), "false"), (Some(Leaf::Null), "null")];

/// The entries of a dictionary.
#[derive(Default)]
struct Entries {
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Entries {
    fn push(&mut self, pieces: &[&[u8]]) {
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
        self.ends.push(self.bytes.len() as u32);
    }

    /// Adds whole numbers, and appends the code of each: whether they lie so close that there are no more than `most`.
    fn add_numbers(&mut self, numbers: &[i64], most: usize, codes: &mut Vec<u32>) -> bool {
        let Some((least, largest)) = tamias_simd::numbers::range(numbers) else { return true };
        let span = largest.checked_sub(least).and_then(|span| usize::try_from(span).ok());
        let Some(span) = span.filter(|span| *span < most) else { return false };
        const UNKNOWN: u32 = u32::MAX;
        let mut known = vec![UNKNOWN; span + 1];
        let mut buffer: number::Buffer = [0; _];
        for number in numbers {
            let Some(code) = known.get_mut((number - least) as usize) else { return false };
            if *code == UNKNOWN {
                *code = self.ends.len() as u32;
                let (from, to) = number::spell(Plain { mantissa: *number, scale: 0 }, &mut buffer);
                self.push(&[buffer.get(from..to).unwrap_or_default()]);
            }
            codes.push(*code);
        }
        true
    }
}
