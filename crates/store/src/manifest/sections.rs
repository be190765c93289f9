//! The manifest as it is written: sections, each with a name, so that later versions have room for what they need.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{
    BackupMark, LogEntry, Manifest, ManifestFault, Renumbered, Section, SegmentEntry, SourceMark, Sources,
};
use super::deletion::{decode_deleted, decode_erasing, encode_deleted, encode_erasing, fit};
use super::upkeep::{
    HISTORY_BYTES, decode_history, decode_settings, decode_traffic, encode_history, encode_settings,
    encode_traffic,
};
use crate::format::{
    ALIGNMENT, Fields, NUMBER_MAX, SOURCE_NAME_BYTES_MAX, SOURCE_NOTE_BYTES_MAX, Trailer, encode_key,
};
use crate::history::HISTORY_ENTRIES_MAX;
use crate::settings::Settings;

/// Who does not know a section with this flag must not use the store. One without it is kept as it is.
const REQUIRED: u32 = 1;

const COUNTERS: [u8; 8] = *b"counters";
const LOGS: [u8; 8] = *b"logs\0\0\0\0";
const SEGMENTS: [u8; 8] = *b"segments";
const SOURCES: [u8; 8] = *b"sources\0";
const LOST: [u8; 8] = *b"lost\0\0\0\0";
const RETIRED: [u8; 8] = *b"retired\0";
/// Only there where a segment has blocks in columns: who does not know them must not use the store. Columns of the first version may be among them, and of the second.
const COLUMNS: [u8; 8] = *b"columns2";
/// The same where all of them are of the first version: only programs of before write it.
const COLUMNS_1: [u8; 8] = *b"columns\0";

/// Only there where events are deleted that a segment still holds: who does not know that must not use the store.
const DELETED: [u8; 8] = *b"deleted\0";
/// What is deleted and may still be in files that are no longer live: of use to `repair`, and for the receipt.
const ERASING: [u8; 8] = *b"erasing\0";

/// All but `traffic` are only there where they say something. Who does not know them keeps them as they are.
const SETTINGS: [u8; 8] = *b"settings";
const HISTORY: [u8; 8] = *b"history\0";
const TRAFFIC: [u8; 8] = *b"traffic\0";
const LINE: [u8; 8] = *b"line\0\0\0\0";
const BACKUP: [u8; 8] = *b"backup\0\0";
const BEYOND: [u8; 8] = *b"beyond\0\0";
const RENUMBERED: [u8; 8] = *b"renumber";

/// Bytes of a log's entry.
const LOG_BYTES: usize = 24;
/// Bytes of a segment's entry.
const SEGMENT_BYTES: usize = 104;
/// Bytes of an entry for a segment with blocks in columns.
const COLUMNS_BYTES: usize = 16;
/// At least so many bytes has an entry for a file of which events have other numbers.
const RENUMBERED_BYTES: usize = 40;
/// Bytes of a run of such numbers.
const RUN_BYTES: usize = 24;

/// Appends all sections.
pub(super) fn encode(manifest: &Manifest, out: &mut Vec<u8>) {
    put(out, COUNTERS, REQUIRED, |out| {
        out.extend_from_slice(&manifest.next_file.to_le_bytes());
        out.extend_from_slice(&manifest.next_arrival.to_le_bytes());
    });
    put(out, LOGS, REQUIRED, |out| manifest.logs.iter().for_each(|log| encode_log(log, out)));
    put(out, SEGMENTS, REQUIRED, |out| {
        manifest.segments.iter().for_each(|segment| encode_segment(segment, out));
    });
    put(out, SOURCES, REQUIRED, |out| encode_sources(&manifest.sources, out));
    put(out, LOST, REQUIRED, |out| out.extend_from_slice(&manifest.sources_lost_before.to_le_bytes()));
    put(out, RETIRED, REQUIRED, |out| encode_names(&manifest.retired, out));
    let columns = || manifest.segments.iter().filter(|segment| segment.column_blocks > 0);
    if columns().next().is_some() {
        put(out, COLUMNS, REQUIRED, |out| columns().for_each(|segment| encode_columns(segment, out)));
    }
    if !manifest.deleted.is_empty() {
        put(out, DELETED, REQUIRED, |out| encode_deleted(&manifest.deleted, out));
    }
    if let Some(erasing) = &manifest.erasing {
        put(out, ERASING, REQUIRED, |out| encode_erasing(erasing, out));
    }
    // What a newer program has laid out otherwise stays; but settings are those that were made last.
    let is_unknown = |name| manifest.unknown.iter().any(|section| section.name == name);
    let has_settings = manifest.settings != Settings::default();
    if has_settings {
        put(out, SETTINGS, 0, |out| encode_settings(&manifest.settings, out));
    }
    if !manifest.history.is_empty() && !is_unknown(HISTORY) {
        put(out, HISTORY, 0, |out| encode_history(manifest, out));
    }
    if !is_unknown(TRAFFIC) {
        put(out, TRAFFIC, 0, |out| encode_traffic(&manifest.traffic, out));
    }
    if manifest.line != 0 {
        put(out, LINE, 0, |out| out.extend_from_slice(&manifest.line.to_le_bytes()));
    }
    if let Some(BackupMark { line, number, time }) = manifest.backup {
        let fields = [line, number, time];
        put(out, BACKUP, 0, |out| {
            fields.iter().for_each(|field| out.extend_from_slice(&field.to_le_bytes()))
        });
    }
    if !manifest.beyond.is_empty() {
        put(out, BEYOND, 0, |out| encode_names(&manifest.beyond, out));
    }
    if !manifest.renumbered.is_empty() {
        put(out, RENUMBERED, 0, |out| {
            manifest.renumbered.iter().for_each(|file| encode_renumbered(file, out))
        });
    }
    for section in manifest.unknown.iter().filter(|section| section.name != SETTINGS || !has_settings) {
        put(out, section.name, section.flags, |out| out.extend_from_slice(&section.bytes));
    }
}

/// Appends a section: name, flags, how many bytes there are of it, these, and zeros.
fn put(out: &mut Vec<u8>, name: [u8; 8], flags: u32, body: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&name);
    out.extend_from_slice(&flags.to_le_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 4]);
    let begin = out.len();
    body(out);
    let length = ((out.len() - begin) as u32).to_le_bytes();
    if let Some(place) = out.get_mut(length_at..begin) {
        place.copy_from_slice(&length);
    }
    out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
}

/// Reads all sections.
pub(super) fn decode(mut manifest: Manifest, body: &[u8]) -> Result<Manifest, ManifestFault> {
    let mut at = Fields(body);
    let mut seen = BTreeSet::new();
    let mut columns = Vec::new();
    while !at.0.is_empty() {
        let (name, flags, bytes) = take_section(&mut at).ok_or(ManifestFault::Damaged)?;
        // Those that are known stand there once each.
        if !seen.insert(name) {
            return Err(ManifestFault::Damaged);
        }
        match take_known(&mut manifest, &mut columns, name, bytes) {
            Some(true) => {}
            None => return Err(ManifestFault::Damaged),
            Some(false) if flags & REQUIRED != 0 => {
                let name = String::from_utf8_lossy(&name);
                return Err(ManifestFault::Section(name.trim_end_matches('\0').escape_debug().to_string()));
            }
            Some(false) => manifest.unknown.push(Section { name, flags, bytes: bytes.to_vec() }),
        }
    }
    if !count_columns(&mut manifest.segments, &columns) || !fit(&manifest.deleted, &manifest.segments) {
        return Err(ManifestFault::Damaged);
    }
    let complete = [COUNTERS, LOGS, SEGMENTS, SOURCES].iter().all(|name| seen.contains(name));
    if complete { Ok(manifest) } else { Err(ManifestFault::Damaged) }
}

fn take_section<'a>(at: &mut Fields<'a>) -> Option<([u8; 8], u32, &'a [u8])> {
    let (name, flags, length) = (at.take()?, at.u32()?, at.u32()? as usize);
    let bytes = at.bytes(length)?;
    let zeros = at.bytes(length.next_multiple_of(ALIGNMENT as usize) - length)?;
    zeros.iter().all(|byte| *byte == 0).then_some((name, flags, bytes))
}

/// Takes a section in; false if its name is not known, and nothing if it is malformed.
fn take_known(
    manifest: &mut Manifest,
    columns: &mut Vec<(u64, u32)>,
    name: [u8; 8],
    bytes: &[u8],
) -> Option<bool> {
    let mut at = Fields(bytes);
    match name {
        COUNTERS => (manifest.next_file, manifest.next_arrival) = (at.u64()?, at.u64()?),
        LOGS => manifest.logs = take_entries(&mut at, LOG_BYTES, decode_log)?,
        SEGMENTS => manifest.segments = take_entries(&mut at, SEGMENT_BYTES, decode_segment)?,
        SOURCES => {
            manifest.sources = decode_sources(bytes)?;
            at = Fields(&[]);
        }
        LOST => manifest.sources_lost_before = at.u64()?,
        RETIRED => manifest.retired = take_names(&mut at)?,
        // There is one or the other.
        COLUMNS | COLUMNS_1 if !columns.is_empty() => return None,
        COLUMNS | COLUMNS_1 => *columns = take_entries(&mut at, COLUMNS_BYTES, decode_columns)?,
        DELETED => manifest.deleted = decode_deleted(&mut at)?,
        ERASING => manifest.erasing = Some(decode_erasing(&mut at)?),
        BEYOND => manifest.beyond = take_names(&mut at)?,
        RENUMBERED => manifest.renumbered = take_entries(&mut at, RENUMBERED_BYTES, decode_renumbered)?,
        LINE => manifest.line = at.u64()?,
        BACKUP => {
            let (line, number, time) = (at.u64()?, at.u64()?, at.u64()?);
            manifest.backup = Some(BackupMark { line, number, time });
        }
        SETTINGS | HISTORY | TRAFFIC => return Some(take_upkeep(manifest, name, at).is_some()),
        _ => return Some(false),
    }
    at.0.is_empty().then_some(true)
}

/// Takes in a section that the store looks after itself with; nothing if a newer program has laid it out otherwise.
fn take_upkeep(manifest: &mut Manifest, name: [u8; 8], mut at: Fields<'_>) -> Option<()> {
    let (mut settings, mut history, mut traffic) = (None, None, None);
    match name {
        SETTINGS => settings = Some(decode_settings(&mut at)?),
        // More entries than any program writes would take for ever to join.
        HISTORY if at.0.len() > HISTORY_ENTRIES_MAX * HISTORY_BYTES => return None,
        HISTORY => history = Some(take_entries(&mut at, HISTORY_BYTES, decode_history)?),
        _ => traffic = Some(decode_traffic(&mut at)?),
    }
    if !at.0.is_empty() {
        return None;
    }
    manifest.settings = settings.unwrap_or(manifest.settings);
    manifest.traffic = traffic.unwrap_or(manifest.traffic);
    if let Some(history) = history {
        manifest.history = history;
    }
    Some(())
}

fn take_entries<T>(
    at: &mut Fields<'_>,
    entry_bytes: usize,
    decode: fn(&mut Fields<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let mut entries = Vec::with_capacity(at.0.len() / entry_bytes);
    while !at.0.is_empty() {
        entries.push(decode(at)?);
    }
    Some(entries)
}

fn encode_log(log: &LogEntry, out: &mut Vec<u8>) {
    out.extend_from_slice(&log.number.to_le_bytes());
    out.extend_from_slice(&log.length.to_le_bytes());
    out.extend_from_slice(&log.version.to_le_bytes());
    out.extend_from_slice(&u32::from(log.ended).to_le_bytes());
}

fn decode_log(at: &mut Fields<'_>) -> Option<LogEntry> {
    let (number, length, version) = (at.u64()?, at.u64()?, at.u32()?);
    let ended = match at.u32()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    Some(LogEntry { number, version, length, ended })
}

fn encode_segment(segment: &SegmentEntry, out: &mut Vec<u8>) {
    for field in [segment.number, segment.file_bytes, segment.events, segment.document_bytes] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    encode_key(segment.first, out);
    encode_key(segment.last, out);
    for field in [segment.arrivals.0, segment.arrivals.1, segment.index_bytes] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    for field in [segment.blocks, segment.index_checksum, segment.version, 0] {
        out.extend_from_slice(&field.to_le_bytes());
    }
}

fn decode_segment(at: &mut Fields<'_>) -> Option<SegmentEntry> {
    let (number, file_bytes, events, document_bytes) = (at.u64()?, at.u64()?, at.u64()?, at.u64()?);
    let (first, last) = (at.key()?, at.key()?);
    let (arrivals, index_bytes) = ((at.u64()?, at.u64()?), at.u64()?);
    let (blocks, index_checksum, version) = (at.u32()?, at.u32()?, at.u32()?);
    let trailer = Trailer {
        blocks,
        index_checksum,
        index_bytes,
        events,
        document_bytes,
        first,
        last,
        arrivals,
        // Its own section tells.
        column_blocks: 0,
    };
    (at.u32()? == 0).then_some(SegmentEntry::of(number, version, file_bytes, &trailer))
}

fn encode_columns(segment: &SegmentEntry, out: &mut Vec<u8>) {
    out.extend_from_slice(&segment.number.to_le_bytes());
    out.extend_from_slice(&segment.column_blocks.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
}

/// The number of a segment, and how many of its blocks are in columns.
fn decode_columns(at: &mut Fields<'_>) -> Option<(u64, u32)> {
    let entry = (at.u64()?, at.u32()?);
    (at.u32()? == 0).then_some(entry)
}

/// Notes how many blocks of these segments are in columns; false where a segment is not there, or has not so many.
fn count_columns(segments: &mut [SegmentEntry], columns: &[(u64, u32)]) -> bool {
    let columns: BTreeMap<u64, u32> = columns.iter().copied().collect();
    let mut counted = 0;
    for segment in segments {
        if let Some(blocks) = columns.get(&segment.number) {
            segment.column_blocks = *blocks;
            counted += usize::from(*blocks > 0 && *blocks <= segment.blocks);
        }
    }
    counted == columns.len()
}

fn encode_renumbered(renumbered: &Renumbered, out: &mut Vec<u8>) {
    out.extend_from_slice(&renumbered.file);
    out.extend_from_slice(&(renumbered.runs.len() as u64).to_le_bytes());
    for field in renumbered.runs.iter().flat_map(|(first, count, new)| [first, count, new]) {
        out.extend_from_slice(&field.to_le_bytes());
    }
}

fn decode_renumbered(at: &mut Fields<'_>) -> Option<Renumbered> {
    let (file, count) = (at.take()?, usize::try_from(at.u64()?).ok()?);
    let mut fields = Fields(at.bytes(count.checked_mul(RUN_BYTES)?)?);
    let runs = take_entries(&mut fields, RUN_BYTES, |at| Some((at.u64()?, at.u64()?, at.u64()?)))?;
    let is_sound = |(first, count, new): &(u64, u64, u64)| {
        [first, new].iter().all(|first| first.checked_add(*count).is_some_and(|end| end < NUMBER_MAX))
    };
    let in_order = || runs.is_sorted_by(|before, after| before.0 + before.1 <= after.0);
    (runs.iter().all(is_sound) && in_order()).then_some(Renumbered { file, runs })
}

/// Appends where sources stood: in a manifest, and in a segment.
pub(crate) fn encode_sources(sources: &Sources, out: &mut Vec<u8>) {
    sources.iter().for_each(|(name, mark)| encode_source(name, mark, &mark.note, out));
}

/// The same without their notes.
pub(crate) fn encode_positions(sources: &Sources, out: &mut Vec<u8>) {
    sources.iter().for_each(|(name, mark)| encode_source(name, mark, &[], out));
}

fn encode_source(name: &str, mark: &SourceMark, note: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&mark.position.to_le_bytes());
    out.extend_from_slice(&mark.next_arrival.to_le_bytes());
    out.extend_from_slice(&(name.len() as u16).to_le_bytes());
    out.extend_from_slice(&(note.len() as u16).to_le_bytes());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(note);
}

/// Reads where sources stood.
pub(crate) fn decode_sources(bytes: &[u8]) -> Option<Sources> {
    let mut at = Fields(bytes);
    let mut sources = Sources::new();
    while !at.0.is_empty() {
        let (name, mark) = take_source(&mut at)?;
        sources.insert(name, mark);
    }
    Some(sources)
}

/// Reads where one source stood.
pub(super) fn take_source(at: &mut Fields<'_>) -> Option<(String, SourceMark)> {
    let (position, next_arrival) = (at.u64()?, at.u64()?);
    let (name_bytes, note_bytes) = (at.u16()?.into(), at.u16()?.into());
    if note_bytes > SOURCE_NOTE_BYTES_MAX {
        return None;
    }
    let name = take_text(at, name_bytes)?;
    Some((name, SourceMark { position, next_arrival, note: at.bytes(note_bytes)?.into() }))
}

fn encode_names(names: &BTreeSet<String>, out: &mut Vec<u8>) {
    for name in names {
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
    }
}

fn take_names(at: &mut Fields<'_>) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    while !at.0.is_empty() {
        names.insert(take_name(at)?);
    }
    Some(names)
}

fn take_name(at: &mut Fields<'_>) -> Option<String> {
    let length = at.u32()? as usize;
    take_text(at, length)
}

fn take_text(at: &mut Fields<'_>, length: usize) -> Option<String> {
    if length > SOURCE_NAME_BYTES_MAX {
        return None;
    }
    std::str::from_utf8(at.bytes(length)?).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Cause, HistoryEntry};

    /// A million of them took hours to join, with the writer's lock held.
    #[test]
    fn a_history_of_more_entries_than_are_written_is_kept_unread() {
        let (began, instants) = (1, (0, 0));
        let entry = HistoryEntry {
            began,
            ended: 2,
            cause: Cause::Age,
            removals: 1,
            segments: 1,
            file_bytes: 5,
            events: 6,
            instants,
        };
        for (entries, known, unknown) in
            [(HISTORY_ENTRIES_MAX, HISTORY_ENTRIES_MAX, 0), (HISTORY_ENTRIES_MAX + 1, 0, 1)]
        {
            let manifest = Manifest { history: vec![entry; entries], ..Manifest::empty(7) };
            let bytes = manifest.encode();
            let read = Manifest::decode(0, &bytes).unwrap();
            assert_eq!((read.history.len(), read.unknown.len()), (known, unknown));
            assert!(Manifest::decode(0, &read.encode()).is_ok());
            assert_eq!(read.encode().len(), bytes.len());
        }
    }
}
