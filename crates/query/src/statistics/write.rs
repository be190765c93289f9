//! A block's documents → its statistics.

use super::collect::Keys;
use super::facts::{Facts, Tally};
use super::filter;
use super::layout::{HEADER_BYTES, KEYS_MAX, NAME_BYTES_MAX, VERSION, flags, key_flags};
use super::list::Entry;
use std::borrow::Cow;
use std::ops::Range;

/// Statistics take at most one part in this many of the documents' bytes, or [`BYTES_ALWAYS`].
const SHARE: usize = 40;
/// The size in bytes that statistics may always take: a small block has as many keys as a large one.
const BYTES_ALWAYS: usize = 2048;
/// The same, of what is told of nested paths.
const PATHS_SHARE: usize = 400;
const PATHS_BYTES_ALWAYS: usize = 512;

/// Appends the statistics of a block to `out`: `documents` are its documents, each followed by a line feed at its offset in `ends`.
///
/// Takes time linear in the bytes, and appends at most a fortieth of them, or 2 KiB if the documents are few. Appends
/// nothing if they are not minified JSON objects.
pub fn collect_statistics(documents: &[u8], ends: &[u32], out: &mut Vec<u8>) {
    let Some(mut keys) = Keys::of(documents, ends) else { return };
    let flat = std::mem::take(&mut keys.flat);
    let (has_others, is_nested) = (keys.has_others, keys.is_nested);
    let noted = keys.into_facts().map(|(name, elsewhere, facts)| Noted {
        name: Cow::Borrowed(name),
        elsewhere,
        facts,
    });
    let keys = Listing { noted: noted.collect(), has_others };
    write(ends.len() as u32, (keys, is_nested), None, &flat, documents.len(), out);
}

/// What was found of a key or path.
pub(super) struct Noted<'d> {
    pub(super) name: Cow<'d, [u8]>,
    /// The events in which the bytes `"name":` are found in other places than as this key; none where that may be any.
    pub(super) elsewhere: Option<Vec<u32>>,
    pub(super) facts: Box<Facts<'d>>,
}

/// Keys, or nested paths.
pub(super) struct Listing<'d> {
    pub(super) noted: Vec<Noted<'d>>,
    /// There are others.
    pub(super) has_others: bool,
}

/// What will be written of a key. Its bytes lie in a buffer of all.
struct Record<'d> {
    name: Cow<'d, [u8]>,
    facts: Box<Facts<'d>>,
    flags: u8,
    head: Range<usize>,
    /// In the order in which they are written: each with its flag, which says whether it is.
    parts: [(u8, Range<usize>); 5],
}

/// Records, and how many bytes are left to tell more of them.
struct Chosen<'d> {
    records: Vec<Record<'d>>,
    is_incomplete: bool,
    left: usize,
}

/// Writes what is told of a block of so many events: of its keys, with whether a document holds an object or array; and of nested paths,
/// if they were looked at.
pub(super) fn write(
    events: u32,
    (keys, is_nested): (Listing<'_>, bool),
    paths: Option<Listing<'_>>,
    flat: &[u8],
    document_bytes: usize,
    out: &mut Vec<u8>,
) {
    let mut block_flags = if is_nested { flags::NESTED } else { 0 };
    let budget = (document_bytes / SHARE).max(BYTES_ALWAYS);
    let mut buffer = Vec::with_capacity(budget);
    let fixed = HEADER_BYTES + flat.len();
    let mut keys = Chosen::of(keys, events, budget.saturating_sub(fixed), &mut buffer);
    block_flags |= if keys.is_incomplete { flags::INCOMPLETE } else { 0 };
    let mut filter = Filter::default();
    filter.choose(&mut keys);
    let mut records = keys.records;
    if let Some(paths) = paths {
        let budget = (document_bytes / PATHS_SHARE).max(PATHS_BYTES_ALWAYS);
        let mut paths = Chosen::of(paths, events, budget, &mut buffer);
        block_flags |= flags::PATHS | if paths.is_incomplete { flags::PATHS_INCOMPLETE } else { 0 };
        filter.choose(&mut paths);
        records.append(&mut paths.records);
    }
    let filter = filter.bytes(&records);
    records.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let begin = out.len();
    out.extend_from_slice(&[VERSION, block_flags]);
    out.extend_from_slice(&(records.len() as u16).to_le_bytes());
    out.extend_from_slice(&events.to_le_bytes());
    out.extend_from_slice(&(filter.len() as u32).to_le_bytes());
    let offsets = out.len();
    out.resize(offsets + OFFSET_BYTES * records.len(), 0);
    let written = |range: &Range<usize>| buffer.get(range.clone()).unwrap_or_default();
    for (number, record) in records.iter().enumerate() {
        let place = (out.len() - begin) as u32;
        if let Some(offset) =
            out.get_mut(offsets + OFFSET_BYTES * number..).and_then(|rest| rest.first_chunk_mut())
        {
            *offset = place.to_le_bytes();
        }
        put_text(&record.name, out);
        out.push(record.flags);
        out.extend_from_slice(written(&record.head));
        for (flag, part) in &record.parts {
            if record.flags & flag != 0 {
                put_text(written(part), out);
            }
        }
    }
    out.extend_from_slice(&filter);
    out.extend_from_slice(flat);
}

/// HEURISTIC: of what keys leave, the filter may have this part before lists do.
const FILTER_SHARE: usize = 2;

/// Each key's place is told by so many bytes.
const OFFSET_BYTES: usize = 4;
/// At most: the length of the name, and the flags.
const NAME_HEAD_BYTES: usize = 3;
/// At most: the length of a part. Of a part longer than 2 MiB there is none.
const LENGTH_BYTES: usize = 3;

impl<'d> Chosen<'d> {
    /// Those that there is room for in so many bytes.
    fn of(listing: Listing<'d>, events: u32, budget: usize, buffer: &mut Vec<u8>) -> Chosen<'d> {
        let Listing { noted, has_others } = listing;
        let mut records: Vec<Record<'_>> =
            noted.into_iter().map(|noted| Record::new(noted, events, buffer)).collect();
        // Where there is no room for all, the keys that most events have are those that count.
        records
            .sort_unstable_by(|a, b| b.facts.events.cmp(&a.facts.events).then_with(|| a.name.cmp(&b.name)));
        let all = records.len();
        records.retain(|record| record.name.len() <= NAME_BYTES_MAX);
        records.truncate(KEYS_MAX);
        let mut bytes = 0;
        let mut left = budget;
        let fitting = records.iter().take_while(|record| {
            bytes += OFFSET_BYTES + record.head.len() + record.name.len() + NAME_HEAD_BYTES;
            left = budget.saturating_sub(bytes);
            bytes <= budget
        });
        records.truncate(fitting.count());
        let is_incomplete = has_others || records.len() < all;
        Chosen { records, is_incomplete, left }
    }
}

/// What is in the filter.
#[derive(Default)]
struct Filter {
    entries: usize,
}

impl Filter {
    /// Chooses what is told of records beside their heads, in lists and in the filter.
    fn choose(&mut self, chosen: &mut Chosen<'_>) {
        let Chosen { records, left, .. } = chosen;
        // Identifiers shall not be without a filter for the sake of the longest lists.
        let reserved = *left / FILTER_SHARE;
        *left -= reserved;
        choose_parts(records, left);
        *left += reserved;
        *left = left.saturating_sub(self.add(records, *left));
        choose_parts(records, left);
    }
}

impl<'d> Record<'d> {
    fn new(noted: Noted<'d>, events: u32, out: &mut Vec<u8>) -> Record<'d> {
        let Noted { name, elsewhere, mut facts } = noted;
        let begin = out.len();
        put(facts.events.into(), out);
        if facts.is_repeated {
            let head = begin..out.len();
            return Record { name, facts, flags: key_flags::REPEATED, head, parts: Default::default() };
        }
        if facts.events < events {
            put(facts.first_missing.unwrap_or(facts.next).into(), out);
        }
        put(facts.maps.into(), out);
        put(facts.arrays.into(), out);
        for Tally { count, first } in [facts.null, facts.falsehood, facts.truth] {
            put(count.into(), out);
            if count > 0 {
                put(first.into(), out);
            }
        }
        put(facts.strings.count.into(), out);
        put(facts.numbers.count.into(), out);
        let head = begin..out.len();

        let mut parts = [const { (0, 0..0) }; 5];
        let [strings, numbers, range, sum, others] = &mut parts;
        if let (Some(list), 1..) = (&facts.strings.list, facts.strings.count) {
            *strings = (key_flags::STRINGS, listed(&list.entries, out));
        }
        facts.numbers.finish();
        if facts.numbers.count > 0 {
            if let Some(list) = &facts.numbers.list {
                *numbers = (key_flags::NUMBERS, listed(&list.entries, out));
            }
            let begin = out.len();
            if let Some((least, greatest)) = facts.numbers.range() {
                for extreme in [least, greatest] {
                    put_text(extreme.text, out);
                    put(extreme.event.into(), out);
                }
                *range = (key_flags::RANGE, begin..out.len());
            }
            let begin = out.len();
            if let Some(scales) = facts.numbers.sums() {
                for (scale, significand) in scales {
                    put(scale.into(), out);
                    put_wide((significand << 1 ^ significand >> 127) as u128, out);
                }
                *sum = (key_flags::SUM, begin..out.len());
            }
        }
        let flags = if elsewhere.as_ref().is_some_and(Vec::is_empty) { key_flags::SIMPLE } else { 0 };
        if let Some(events @ [_, ..]) = elsewhere.as_deref() {
            let begin = out.len();
            let mut before = 0;
            for event in events {
                put((event - before).into(), out);
                before = *event;
            }
            *others = (key_flags::ELSEWHERE, begin..out.len());
        }
        Record { name, facts, flags, head, parts }
    }
}

/// Sets the flags of as many further parts as there is room for, the small ones first.
fn choose_parts(records: &mut [Record<'_>], left: &mut usize) {
    let mut parts: Vec<(usize, usize, u8)> = Vec::new();
    for (number, record) in records.iter().enumerate() {
        let wanted = record.parts.iter().filter(|(flag, _)| flag & !record.flags != 0);
        parts.extend(wanted.map(|(flag, part)| (part.len(), number, *flag)));
    }
    parts.sort_unstable();
    for (bytes, number, flag) in parts {
        let Some(after) = left.checked_sub(bytes + LENGTH_BYTES) else { return };
        *left = after;
        if let Some(record) = records.get_mut(number) {
            record.flags |= flag;
        }
    }
}

impl Filter {
    /// Adds the strings of as many keys as there is room for: those of short strings first, which are more often asked for than prose. Gives how
    /// many bytes that takes.
    fn add(&mut self, records: &mut [Record<'_>], left: usize) -> usize {
        let before = filter::bytes_for(self.entries);
        let mut keys: Vec<(usize, usize)> = Vec::new();
        for (number, record) in records.iter().enumerate() {
            let strings = &record.facts.strings;
            if strings.list.is_none() && strings.is_wanted && record.flags & key_flags::REPEATED == 0 {
                keys.push((strings.bytes / strings.hashes.len().max(1), number));
            }
        }
        keys.sort_unstable();
        for (_, number) in keys {
            if let Some(record) = records.get_mut(number) {
                let entries = self.entries + record.facts.strings.hashes.len();
                if filter::bytes_for(entries) <= before + left {
                    self.entries = entries;
                    record.flags |= key_flags::FILTER;
                }
            }
        }
        filter::bytes_for(self.entries) - before
    }

    /// The filter of all strings that were added.
    fn bytes(&self, records: &[Record<'_>]) -> Vec<u8> {
        let mut bytes = vec![0; filter::bytes_for(self.entries)];
        let chosen = records.iter().filter(|record| record.flags & key_flags::FILTER != 0);
        for hash in chosen.flat_map(|record| &record.facts.strings.hashes) {
            filter::insert(&mut bytes, *hash);
        }
        bytes
    }
}

fn listed(entries: &[Entry<'_>], out: &mut Vec<u8>) -> Range<usize> {
    let begin = out.len();
    for entry in entries {
        put_text(entry.text.bytes, out);
        put(entry.count.into(), out);
        put(entry.first.into(), out);
    }
    begin..out.len()
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    put(text.len() as u64, out);
    out.extend_from_slice(text);
}

/// Seven bits a byte, the lowest first; the high bit says that more follow.
fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The same of a number of more bits.
fn put_wide(mut number: u128, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
