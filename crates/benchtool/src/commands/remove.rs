//! `benchtool remove`

use std::time::SystemTime;

use tamias::{Instant, Options, Retention, Store};

use crate::cli::RemoveArgs;
use crate::commands::existing;
use crate::failure::Failure;
use crate::tell::tell;
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
    // Events that are not sealed yet count as well.
    let sealed = existing(&args.store, Options::default()).and_then(|store| {
        if !args.dry_run {
            store.seal()?;
        }
        Ok(store)
    });
    let (removed, left) = match sealed {
        Ok(store) => {
            let removed = store.remove(retention, args.dry_run)?;
            (removed, store.info()?.events)
        }
        // Removing needs no room, and makes some.
        Err(Failure::NoRoom(error)) => {
            tell!("warning: {error}; events that are not sealed yet stay for now");
            let removed = Store::remove_from(&args.store, retention, args.dry_run)?;
            (removed, Store::open_read_only(&args.store)?.info()?.events)
        }
        Err(failure) => return Err(failure),
    };
    let what = if args.dry_run { "would be removed" } else { "removed" };
    let range = removed.time_range.map_or(String::new(), |(first, last)| format!(", from {first} to {last}"));
    let line = format!(
        "{what}: {} files of {} bytes, {} events{range}; {} events stay",
        removed.files.len(),
        removed.file_bytes,
        removed.events,
        left - if args.dry_run { removed.events } else { 0 }
    );
    output::write_line(&mut output::stdout(), &line)
}

/// The instant so many ticks ago; the first of all if there is none.
fn ago(ticks: u64) -> Result<Instant, Failure> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let milliseconds = since_1970.map_or(0, |since| since.as_millis());
    let now = Instant::from_unix_text(&milliseconds.to_string());
    let now = now.map_err(|error| Failure::Io(format!("this machine's clock is {error}")))?;
    Ok(Instant::from_ticks(now.ticks().saturating_sub(ticks)).unwrap_or(now))
}
