//! `benchtool remove`

use std::path::Path;
use std::time::SystemTime;

use tamias::{Info, Instant, Options, Removed, Reply, Request, Retention, Store};

use crate::cli::RemoveArgs;
use crate::commands::{asked, existing};
use crate::failure::Failure;
use crate::tell::tell;
use crate::units::counted;
use crate::{instants, output};

pub(crate) fn run(args: &RemoveArgs) -> Result<(), Failure> {
    let before = match (&args.before, &args.older_than) {
        (Some(text), _) => {
            Some(instants::Zone::parse("UTC").and_then(|zone| zone.read(text)).map_err(Failure::Usage)?)
        }
        (None, Some(text)) => Some(ago(instants::duration(text).map_err(Failure::Usage)?)?),
        (None, None) => None,
    };
    let retention = Retention { before, file_bytes_max: args.max_bytes };
    let line = match args.dry_run {
        true => {
            let store = Store::open_read_only(&args.store)?;
            let info = store.info()?;
            if args.max_bytes.is_some() && unsealed(&info).is_some() {
                tell!(
                    "note: some events are not sealed yet. How large they will be is unknown, so more may go"
                );
            }
            let removed = store.plan_removal(retention)?;
            if before.is_none() && removed.events == info.events && info.events > 0 {
                tell!(
                    "note: the latest file goes too, as it is larger by itself; `settings --max-bytes` would keep it"
                );
            }
            planned(removed, &info, before)
        }
        false => {
            let removed = remove(&args.store, retention)?;
            let left = Store::open_read_only(&args.store)?.info()?.events;
            removal("removed", &removed, 0, left + removed.events)
        }
    };
    output::write_line(&mut output::stdout(), &line)
}

/// What would go.
pub(super) fn planned(removed: Removed, info: &Info, before: Option<Instant>) -> String {
    let (removed, unsealed) = with_unsealed(removed, info, before);
    removal("would be removed", &removed, unsealed, info.events)
}

/// What would go: files, and what becomes one before anything is removed, if all of it is before this instant; and how many events that has.
pub(super) fn with_unsealed(mut removed: Removed, info: &Info, before: Option<Instant>) -> (Removed, u64) {
    let old = unsealed(info).filter(|(_, (_, last))| before.is_some_and(|before| *last < before));
    let events = old.map_or(0, |(events, _)| events);
    removed.events += events;
    removed.time_range = joined(removed.time_range, old.map(|(_, range)| range));
    (removed, events)
}

/// How many events are not sealed yet, and the first and the last instant of these.
pub(crate) fn unsealed(info: &Info) -> Option<(u64, (Instant, Instant))> {
    let unsealed = info.segments.iter().filter(|segment| segment.file.is_none() && segment.events > 0);
    unsealed.fold(None, |sum, segment| {
        let (events, range) = sum.unzip();
        Some((events.unwrap_or(0) + segment.events, joined(range, Some(segment.time_range))?))
    })
}

fn joined(one: Option<(Instant, Instant)>, other: Option<(Instant, Instant)>) -> Option<(Instant, Instant)> {
    match (one, other) {
        (Some((first, last)), Some((a, b))) => Some((first.min(a), last.max(b))),
        (one, other) => one.or(other),
    }
}

/// What goes, of so many events, and how many stay.
fn removal(what: &str, removed: &Removed, unsealed: u64, events: u64) -> String {
    let range = removed.time_range.map_or(String::new(), |(first, last)| format!(", from {first} to {last}"));
    let unsealed = if unsealed > 0 { format!(" ({unsealed} not sealed yet)") } else { String::new() };
    format!(
        "{what}: {} of {} bytes, {}{unsealed}{range}; {} left",
        counted(removed.files.len() as u64, "file"),
        removed.file_bytes,
        counted(removed.events, "event"),
        counted(events.saturating_sub(removed.events), "event")
    )
}

/// Removes what need not be kept, or lets the process do it that writes. Events that are not sealed yet count as well.
fn remove(folder: &Path, retention: Retention) -> Result<Removed, Failure> {
    if let Some(Reply::Removed(removed)) = asked(folder, Request::Remove(retention))? {
        return Ok(removed);
    }
    let sealed = existing(folder, Options::default()).and_then(|store| {
        store.seal()?;
        Ok(store)
    });
    match sealed {
        Ok(store) => Ok(store.remove(retention, false)?),
        // Removing needs no room, and makes some.
        Err(Failure::NoRoom(error)) => {
            tell!("warning: {error}; events that are not sealed yet stay for now");
            Ok(Store::remove_from(folder, retention, false)?)
        }
        Err(failure) => Err(failure),
    }
}

/// The instant so many ticks ago; the first of all if there is none.
pub(super) fn ago(ticks: u64) -> Result<Instant, Failure> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let milliseconds = since_1970.map_or(0, |since| since.as_millis());
    let now = Instant::from_unix_text(&milliseconds.to_string());
    let now = now.map_err(|error| Failure::Io(format!("this machine's clock is {error}")))?;
    Ok(Instant::from_ticks(now.ticks().saturating_sub(ticks)).unwrap_or(now))
}
