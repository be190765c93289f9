//! The sections of a manifest that a store looks after itself with: settings, history, traffic. A program that does not know them does no harm.

use super::content::Manifest;
use crate::format::Fields;
use crate::history::{Cause, HistoryEntry, Traffic};
use crate::settings::{Settings, WhenFull, duration, ticks};

pub(crate) fn encode_settings(settings: &Settings, out: &mut Vec<u8>) {
    let Settings { max_age, max_bytes, when_full } = *settings;
    for bound in [max_age.map(ticks), max_bytes] {
        out.extend_from_slice(&bound.map_or(u64::MAX, |bound| bound.min(u64::MAX - 1)).to_le_bytes());
    }
    let when_full: u64 = match when_full {
        WhenFull::Fail => 0,
        WhenFull::RemoveOldest => 1,
    };
    out.extend_from_slice(&when_full.to_le_bytes());
}

pub(crate) fn decode_settings(at: &mut Fields<'_>) -> Option<Settings> {
    let mut bound = || at.u64().map(|bound| (bound != u64::MAX).then_some(bound));
    let (max_age, max_bytes) = (bound()?.map(duration), bound()?);
    let when_full = match at.u64()? {
        0 => WhenFull::Fail,
        1 => WhenFull::RemoveOldest,
        _ => return None,
    };
    Some(Settings { max_age, max_bytes, when_full })
}

/// Bytes of an entry of the history.
pub(super) const HISTORY_BYTES: usize = 64;

pub(super) fn encode_history(manifest: &Manifest, out: &mut Vec<u8>) {
    for entry in &manifest.history {
        let cause: u32 = match entry.cause {
            Cause::Asked => 0,
            Cause::Age => 1,
            Cause::Size => 2,
            Cause::FullMedium => 3,
            Cause::Deleted => 4,
        };
        for field in [entry.began, entry.ended] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&cause.to_le_bytes());
        out.extend_from_slice(&entry.removals.to_le_bytes());
        let (first, last) = entry.instants;
        for field in [entry.segments, entry.file_bytes, entry.events, first, last] {
            out.extend_from_slice(&field.to_le_bytes());
        }
    }
}

pub(super) fn decode_history(at: &mut Fields<'_>) -> Option<HistoryEntry> {
    let (began, ended) = (at.u64()?, at.u64()?);
    let cause = match at.u32()? {
        0 => Cause::Asked,
        1 => Cause::Age,
        2 => Cause::Size,
        3 => Cause::FullMedium,
        4 => Cause::Deleted,
        _ => return None,
    };
    let removals = at.u32()?;
    let (segments, file_bytes, events) = (at.u64()?, at.u64()?, at.u64()?);
    let instants = (at.u64()?, at.u64()?);
    Some(HistoryEntry { began, ended, cause, removals, segments, file_bytes, events, instants })
}

pub(super) fn encode_traffic(traffic: &Traffic, out: &mut Vec<u8>) {
    let Traffic { appended, logs, sealed, rewritten, manifests } = *traffic;
    for field in [appended, logs, sealed, rewritten, manifests] {
        out.extend_from_slice(&field.to_le_bytes());
    }
}

pub(super) fn decode_traffic(at: &mut Fields<'_>) -> Option<Traffic> {
    let (appended, logs, sealed) = (at.u64()?, at.u64()?, at.u64()?);
    Some(Traffic { appended, logs, sealed, rewritten: at.u64()?, manifests: at.u64()? })
}
