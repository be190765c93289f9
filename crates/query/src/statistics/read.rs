//! The bytes of statistics → what is known of a block.

use super::filter;
use super::hash::hash;
use super::layout::{APART_VERSION, FILTERED_BYTES_MAX, HEADER_BYTES, STEP, VERSION, flags, key_flags};
use crate::source::Block;
use std::borrow::Cow;
use std::cmp::Ordering;
use tamias_json::write_json_string;

/// What is known of a block's documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statistics<'b> {
    bytes: &'b [u8],
    flags: u8,
    events: u32,
    /// Whether events are among these that were deleted since.
    tell_deleted: bool,
    /// Per key listed, in order of their names, where its record begins.
    offsets: &'b [[u8; 4]],
    filter_bytes: usize,
    filter: Entries<'b>,
    flat: &'b [u8],
}

/// Where the bits of the filter are.
#[derive(Clone, Copy)]
enum Entries<'b> {
    Here(&'b [u8]),
    /// To be read of the block once they are asked for: so many bytes.
    Of(&'b dyn Block, usize),
    /// Out of reach.
    Unknown,
}

/// What is known of a key of the top level, or of a nested path.
#[expect(clippy::large_enum_variant, reason = "what is known of one key is read at once, and never stored")]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key<'b> {
    /// No event of the block has it.
    Absent,
    /// Nothing.
    Unknown,
    Present(KeyFacts<'b>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyFacts<'b> {
    /// How many events of the block have the key.
    pub(crate) events: u32,
    /// The bytes `"key":` occur nowhere in the block but as this key, once in each of those events: not nested, not in a text,
    /// not behind a backslash.
    pub(crate) is_simple: bool,
    /// None where an event has the key more than once.
    pub(crate) values: Option<Values<'b>>,
}

/// The values of a key, one an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'b> {
    /// Events that do not have the key.
    pub(crate) missing: Tally,
    pub(crate) null: Tally,
    pub(crate) falsehood: Tally,
    pub(crate) truth: Tally,
    pub(crate) maps: u32,
    pub(crate) arrays: u32,
    pub(crate) strings: u32,
    pub(crate) numbers: u32,
    /// All distinct strings as they are stored, without their quotes.
    pub(crate) listed_strings: Option<Listed<'b>>,
    /// All distinct spellings of numbers.
    pub(crate) listed_numbers: Option<Listed<'b>>,
    /// The least and the greatest number.
    pub(crate) range: Option<(Extreme<'b>, Extreme<'b>)>,
    pub(crate) sum: Option<Sum<'b>>,
    filter: Option<Filter<'b>>,
    /// The events in which the bytes `"key":` occur elsewhere too, if it is told.
    pub(crate) elsewhere: Option<Elsewhere<'b>>,
}

/// How many events have a value, and the number of the first in the block if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) count: u32,
    pub(crate) first: u32,
}

/// The least or the greatest number, in the spelling of the first event that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extreme<'b> {
    pub(crate) text: &'b str,
    pub(crate) event: u32,
}

/// Distinct values, each with the events that have it, in the order in which they first came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'b>(Bytes<'b>);

/// The exact sum of the numbers: by scale, the sum of the significands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum<'b>(Bytes<'b>);

/// Events, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Elsewhere<'b> {
    /// How far each is from the one before.
    events: Bytes<'b>,
    before: u32,
}

#[derive(Clone, Copy, Debug)]
struct Filter<'b> {
    entries: Entries<'b>,
    seed: u64,
}

impl Entries<'_> {
    /// Whether an entry may be there; false where it surely is not.
    fn may_contain(self, hash: u64) -> bool {
        match self {
            Entries::Here(bytes) => filter::may_contain(bytes, hash),
            Entries::Of(block, bytes) => block
                .filter()
                .filter(|filter| filter.len() == bytes)
                .is_none_or(|filter| filter::may_contain(filter, hash)),
            Entries::Unknown => true,
        }
    }

    /// How many bytes of the statistics they are.
    fn bytes_here(self) -> usize {
        match self {
            Entries::Here(bytes) => bytes.len(),
            Entries::Of(..) | Entries::Unknown => 0,
        }
    }
}

impl std::fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entries").field(&self.bytes_here()).finish()
    }
}

/// The largest scale of a decimal.
const SCALE_MAX: u32 = 28;

impl<'b> Statistics<'b> {
    /// What a block says of itself; none where it says nothing, or speaks of other events than it has.
    pub(crate) fn of(block: &'b dyn Block) -> Option<Statistics<'b>> {
        let statistics = block.statistics().and_then(Statistics::parse)?.with_filter_of(block);
        (statistics.events() as usize == block.len()).then_some(statistics)
    }

    /// The same, or what is known of its events together with others that were deleted: that tells which events cannot pass, and no values.
    pub(crate) fn with_deleted(block: &'b dyn Block) -> Option<Statistics<'b>> {
        let of_all = || {
            let statistics = block.statistics_with_deleted().and_then(Statistics::parse)?;
            Some(Statistics { tell_deleted: true, ..statistics.with_filter_of(block) })
        };
        Statistics::of(block).or_else(of_all)
    }

    /// The same with the filter of the block, if it is apart.
    fn with_filter_of(self, block: &'b dyn Block) -> Statistics<'b> {
        let filter = match self.filter {
            Entries::Unknown => Entries::Of(block, self.filter_bytes),
            filter => filter,
        };
        Statistics { filter, ..self }
    }

    /// Reads what [`collect_statistics`](super::collect_statistics) wrote, with the filter or without. None where that was another version, or something else.
    pub(crate) fn parse(bytes: &'b [u8]) -> Option<Statistics<'b>> {
        let (head, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [version, flags, keys @ .., e0, e1, e2, e3, f0, f1, f2, f3] = *head;
        let is_apart = version == APART_VERSION;
        if version != VERSION && !is_apart {
            return None;
        }
        let (offsets, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(keys)) * 4)?;
        let events = u32::from_le_bytes([e0, e1, e2, e3]);
        let (rest, flat) = rest.split_at_checked(rest.len().checked_sub(events.div_ceil(8) as usize)?)?;
        let filter_bytes = u32::from_le_bytes([f0, f1, f2, f3]) as usize;
        let filter = match is_apart {
            true => Entries::Unknown,
            false => Entries::Here(rest.get(rest.len().checked_sub(filter_bytes)?..)?),
        };
        Some(Statistics {
            bytes,
            flags,
            events,
            tell_deleted: false,
            offsets: offsets.as_chunks().0,
            filter_bytes,
            filter,
            flat,
        })
    }

    /// Whether they tell of deleted events too: then of no value of the others.
    pub(crate) fn tell_deleted(&self) -> bool {
        self.tell_deleted
    }

    /// How many events the block had when they were collected.
    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    /// Whether no document holds an object or array.
    pub(crate) fn never_nested(&self) -> bool {
        self.flags & flags::NESTED == 0
    }

    /// A bit for each event, the lowest of a byte first: whether it is flat. It holds no object, no key more than once, and no
    /// key with a backslash: whatever looks like a key of it is one, and there is no other of that name.
    pub(super) fn flat(&self) -> &'b [u8] {
        self.flat
    }

    /// In which events a key cannot be mistaken: appends a bit for each event, the lowest of a byte first.
    pub(crate) fn plain(&self, name: &str, plain: &mut Vec<u8>) {
        let elsewhere = match self.key(name) {
            Key::Present(KeyFacts { is_simple: true, .. }) => Elsewhere::default(),
            Key::Present(KeyFacts { values: Some(Values { elsewhere: Some(events), .. }), .. }) => events,
            _ => return plain.extend_from_slice(self.flat()),
        };
        let begin = plain.len();
        plain.resize(begin + (self.events as usize).div_ceil(8), u8::MAX);
        for event in elsewhere {
            if let Some(bits) = plain.get_mut(begin + event as usize / 8) {
                *bits &= !(1 << (event % 8));
            }
        }
    }

    /// What is known of a key, given as text. Takes time logarithmic in the number of keys.
    pub(crate) fn key(&self, name: &str) -> Key<'b> {
        match spelled(name) {
            Some(name) => self.find(&name, self.is_complete()),
            None => Key::Unknown,
        }
    }

    /// What is known of a path, given as the keys on the way to it: of its values, if it is reached through objects in all events that have it.
    pub(crate) fn path(&self, keys: &[&str]) -> Key<'b> {
        let of_first = match keys {
            [] => return Key::Unknown,
            [first, ..] => self.key(first),
        };
        if keys.len() == 1 {
            return of_first;
        }
        let holds_nothing = match of_first {
            Key::Absent => true,
            Key::Present(KeyFacts { values: Some(values), .. }) => values.maps == 0,
            Key::Present(_) | Key::Unknown => false,
        };
        if holds_nothing {
            return Key::Absent;
        }
        let spelled: Option<Vec<Cow<'_, [u8]>>> = keys.iter().map(|key| spelled(key)).collect();
        let Some(spelled) = spelled else { return Key::Unknown };
        self.find(&spelled.join(&STEP), self.has_all_paths())
    }

    /// What is known under a name. `is_complete`: what is not listed is in no event.
    fn find(&self, name: &[u8], is_complete: bool) -> Key<'b> {
        let (mut low, mut high) = (0, self.offsets.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((found, mut record)) = self.record(middle) else { return Key::Unknown };
            match found.cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return self.facts(found, &mut record).map_or(Key::Unknown, Key::Present),
            }
        }
        if is_complete { Key::Absent } else { Key::Unknown }
    }

    /// The names of the keys that are listed, without nested ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'b [u8]> {
        self.keys().flatten().map(|(name, _)| name).filter(|name| !name.contains(&STEP))
    }

    /// All keys and paths that are listed, in the order in which they are; none in place of one that cannot be read.
    pub(super) fn keys(&self) -> impl Iterator<Item = Option<(&'b [u8], KeyFacts<'b>)>> {
        (0..self.offsets.len()).map(|number| {
            let (name, mut record) = self.record(number)?;
            Some((name, self.facts(name, &mut record)?))
        })
    }

    /// Whether a key that is not listed is in no event.
    pub(super) fn is_complete(&self) -> bool {
        self.flags & flags::INCOMPLETE == 0
    }

    /// Whether nested paths were looked at.
    pub(super) fn has_paths(&self) -> bool {
        self.flags & flags::PATHS != 0
    }

    /// Whether the same is true of nested paths.
    pub(super) fn has_all_paths(&self) -> bool {
        self.flags & (flags::PATHS | flags::PATHS_INCOMPLETE) == flags::PATHS
    }

    /// Whether each byte between the offsets and the filter belongs to the record of one key, so that all of them can be told.
    pub(super) fn is_gapless(&self) -> bool {
        let mut offsets: Vec<u32> = self.offsets.iter().map(|offset| u32::from_le_bytes(*offset)).collect();
        offsets.sort_unstable();
        let mut end = HEADER_BYTES + self.offsets.as_flattened().len();
        for offset in offsets {
            if offset as usize != end {
                return false;
            }
            let Some(mut record) = self.bytes.get(end..).map(Bytes) else { return false };
            let facts = record.text().and_then(|name| self.facts(name, &mut record));
            if !facts.is_some_and(|facts| facts.values.is_none_or(Values::are_gapless)) {
                return false;
            }
            end = self.bytes.len() - record.0.len();
        }
        end + self.filter.bytes_here() + self.flat.len() == self.bytes.len()
    }

    /// The name of a key, and what follows it.
    fn record(&self, number: usize) -> Option<(&'b [u8], Bytes<'b>)> {
        let offset = u32::from_le_bytes(*self.offsets.get(number)?);
        let mut record = Bytes(self.bytes.get(offset as usize..)?);
        Some((record.text()?, record))
    }

    /// What a record tells behind the name; what follows the record is left.
    fn facts(&self, name: &[u8], record: &mut Bytes<'b>) -> Option<KeyFacts<'b>> {
        let flags = record.byte()?;
        let events = record.number()?;
        let values = match flags & key_flags::REPEATED {
            0 => Some(self.values(name, flags, events, record)?),
            _ => None,
        };
        Some(KeyFacts { events, is_simple: flags & key_flags::SIMPLE != 0, values })
    }

    fn values(&self, name: &[u8], flags: u8, events: u32, record: &mut Bytes<'b>) -> Option<Values<'b>> {
        let missing = self.events.checked_sub(events)?;
        let missing = Tally { count: missing, first: if missing > 0 { record.number()? } else { 0 } };
        let (maps, arrays) = (record.number()?, record.number()?);
        let (null, falsehood, truth) = (record.tally()?, record.tally()?, record.tally()?);
        let (strings, numbers) = (record.number()?, record.number()?);
        let mut part = |flag| match flags & flag {
            0 => Some(None),
            _ => Some(Some(Bytes(record.text()?))),
        };
        let listed_strings = part(key_flags::STRINGS)?.map(Listed);
        let listed_numbers = part(key_flags::NUMBERS)?.map(Listed);
        let range = match part(key_flags::RANGE)? {
            Some(mut range) => {
                let both = (range.extreme()?, range.extreme()?);
                range.0.is_empty().then_some(Some(both))?
            }
            None => None,
        };
        let sum = part(key_flags::SUM)?.map(Sum);
        let elsewhere = part(key_flags::ELSEWHERE)?.map(|events| Elsewhere { events, before: 0 });
        let filter =
            (flags & key_flags::FILTER != 0).then(|| Filter { entries: self.filter, seed: hash(0, name) });
        Some(Values {
            missing,
            null,
            falsehood,
            truth,
            maps,
            arrays,
            strings,
            numbers,
            // No list is needed to say that there are none.
            listed_strings: listed_strings.or((strings == 0).then_some(Listed(Bytes(&[])))),
            listed_numbers: listed_numbers.or((numbers == 0).then_some(Listed(Bytes(&[])))),
            range,
            sum: sum.or((numbers == 0).then_some(Sum(Bytes(&[])))),
            filter,
            elsewhere,
        })
    }
}

impl<'b> Values<'b> {
    /// Whether all that its lists consist of is what they list.
    fn are_gapless(self) -> bool {
        let Values { listed_strings, listed_numbers, sum, elsewhere, .. } = self;
        let listed = |mut list: Listed<'b>| {
            list.by_ref().for_each(drop);
            list.0.0.is_empty()
        };
        let summed = |mut sum: Sum<'b>| {
            sum.by_ref().for_each(drop);
            sum.0.0.is_empty()
        };
        let told = |mut events: Elsewhere<'b>| {
            events.by_ref().for_each(drop);
            events.events.0.is_empty()
        };
        listed_strings.is_none_or(listed)
            && listed_numbers.is_none_or(listed)
            && sum.is_none_or(summed)
            && elsewhere.is_none_or(told)
    }

    /// Whether the string may be among the values; false where it surely is not. It is told as it is stored, without its
    /// quotes, and must have one spelling ([`spelled`]).
    pub(crate) fn may_hold(&self, spelled: &[u8]) -> bool {
        match (self.listed_strings, self.filter) {
            (Some(mut listed), _) => listed.any(|(text, _)| text == spelled),
            (None, Some(Filter { entries, seed })) if spelled.len() <= FILTERED_BYTES_MAX => {
                entries.may_contain(hash(seed, spelled))
            }
            _ => true,
        }
    }
}

/// The one spelling that a string has where it is stored, without its quotes; none for U+FFFD, which lone surrogates read as.
pub(crate) fn spelled(text: &str) -> Option<Cow<'_, [u8]>> {
    if text.contains('\u{FFFD}') {
        return None;
    }
    if !text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    let mut quoted = Vec::new();
    write_json_string(text, &mut quoted);
    let spelled = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some(Cow::Owned(spelled.to_vec()))
}

impl<'b> Iterator for Listed<'b> {
    type Item = (&'b [u8], Tally);

    fn next(&mut self) -> Option<(&'b [u8], Tally)> {
        let text = self.0.text()?;
        Some((text, Tally { count: self.0.number()?, first: self.0.number()? }))
    }
}

impl Iterator for Sum<'_> {
    /// A scale, from 0 to 28, and a sum of significands.
    type Item = (u32, i128);

    fn next(&mut self) -> Option<(u32, i128)> {
        let scale = self.0.number().filter(|scale| *scale <= SCALE_MAX)?;
        let folded = self.0.wide()?;
        Some((scale, (folded >> 1) as i128 ^ -((folded & 1) as i128)))
    }
}

impl Iterator for Elsewhere<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.before = self.before.checked_add(self.events.number()?)?;
        Some(self.before)
    }
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// Seven bits a byte, the lowest first.
    fn wide(&mut self) -> Option<u128> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    #[inline]
    fn number(&mut self) -> Option<u32> {
        match self.0 {
            [byte @ 0..0x80, rest @ ..] => {
                self.0 = rest;
                Some(u32::from(*byte))
            }
            _ => self.wide()?.try_into().ok(),
        }
    }

    #[inline]
    fn text(&mut self) -> Option<&'b [u8]> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn tally(&mut self) -> Option<Tally> {
        let count = self.number()?;
        Some(Tally { count, first: if count > 0 { self.number()? } else { 0 } })
    }

    fn extreme(&mut self) -> Option<Extreme<'b>> {
        let text = std::str::from_utf8(self.text()?).ok()?;
        Some(Extreme { text, event: self.number()? })
    }
}
