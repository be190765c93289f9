//! `benchtool settings`

use std::time::Duration;

use tamias::{
    Cause, HistoryEntry, Housekeeping, Instant, Options, Parameters, Request, Settings, Statement, Store,
    WhenFull,
};

use crate::cli::{self, SettingsArgs};
use crate::commands::remove::{ago, planned, unsealed, with_unsealed};
use crate::commands::{asked, existing, query};
use crate::failure::Failure;
use crate::output;
use crate::tell::{self, tell};
use crate::units::counted;

pub(crate) fn run(args: &SettingsArgs) -> Result<(), Failure> {
    let Housekeeping { settings: before, history, .. } =
        Store::open_read_only(&args.store)?.housekeeping()?;
    let when_full = args.when_full.map(|when_full| match when_full {
        cli::WhenFull::Fail => WhenFull::Fail,
        cli::WhenFull::RemoveOldest => WhenFull::RemoveOldest,
    });
    let settings = Settings {
        max_age: args.max_age.map_or(before.max_age, |bound| bound.0),
        max_bytes: args.max_bytes.map_or(before.max_bytes, |bound| bound.0),
        when_full: when_full.unwrap_or(before.when_full),
    };
    if args.dry_run {
        let store = Store::open_read_only(&args.store)?;
        let border = border(&settings)?;
        let planned = planned(store.plan_settings(settings)?, &store.info()?, border);
        let among_younger = among_younger(&store, &settings, border)?;
        return output::write_line(
            &mut output::stdout(),
            &format!("{planned}\n{among_younger}{}", text(&settings)),
        );
    }
    if settings != before {
        if !args.force {
            refuse_all(&Store::open_read_only(&args.store)?, before, settings)?;
        }
        if asked(&args.store, Request::Settings(settings))?.is_none() {
            // Opening may need the room that only these settings give.
            drop(existing(&args.store, Options { settings: Some(settings), ..Options::default() })?);
        }
        let now = Store::open_read_only(&args.store)?.housekeeping()?.history;
        let removed = removed_since(&history, &now);
        if removed > 0 {
            tell!("removed {} beyond these limits; see `info --history`", counted(removed, "event"));
        }
    }
    output::write_line(&mut output::stdout(), &text(&settings))
}

/// Refuses limits by which nothing would stay, unless those before say so too: most likely a unit is wrong, or the events are of long ago.
fn refuse_all(store: &Store, before: Settings, settings: Settings) -> Result<(), Failure> {
    let info = store.info()?;
    let stays = |settings: Settings| {
        let (goes, _) = with_unsealed(store.plan_settings(settings)?, &info, border(&settings)?);
        Ok::<bool, Failure>(goes.events < info.events)
    };
    if info.events == 0 || stays(settings)? || !stays(before)? {
        return Ok(());
    }
    let (removed, border) = (store.plan_settings(settings)?, border(&settings)?);
    Err(Failure::Usage(format!(
        "nothing was changed: by these limits all events would go at once ({}); widen them, or set them with --force",
        planned(removed, &info, border)
    )))
}

/// A line about the events that are too old and share a file with younger ones; empty if there are none.
fn among_younger(store: &Store, settings: &Settings, border: Option<Instant>) -> Result<String, Failure> {
    let (Some(border), Some(max_age)) = (border, settings.max_age) else { return Ok(String::new()) };
    let by_age = store.plan_settings(Settings { max_bytes: None, ..*settings })?;
    let (whole, _) = with_unsealed(by_age, &store.info()?, Some(border));
    let older = Statement::parse("select count(*) from stream")?.between(None, Some(border));
    let old = query::count(&mut store.run(&older.bind(&Parameters::new())?)?)?;
    Ok(match old.saturating_sub(whole.events) {
        0 => String::new(),
        events => format!(
            "older than {} as well: {} in files with younger ones; such a file is rewritten without them, at the latest when they exceed the \
             age by a sixteenth\n",
            age(max_age),
            counted(events, "event")
        ),
    })
}

/// How many events its limits have taken out of the store between two moments; not those that somebody removed or deleted.
fn removed_since(before: &[HistoryEntry], now: &[HistoryEntry]) -> u64 {
    let is_limit =
        |entry: &&HistoryEntry| matches!(entry.cause, Cause::Age | Cause::Size | Cause::FullMedium);
    let events =
        |history: &[HistoryEntry]| history.iter().filter(is_limit).map(|entry| entry.events).sum::<u64>();
    events(now).saturating_sub(events(before))
}

/// Events before this instant are too old by now.
fn border(settings: &Settings) -> Result<Option<Instant>, Failure> {
    let ticks = settings.max_age.map(|age| u64::try_from(age.as_nanos() / 100).unwrap_or(u64::MAX));
    ticks.map(ago).transpose()
}

/// Warns whoever has stored events that the store's settings take out of it, or will.
pub(crate) fn warn_of_limits(store: &Store, before: &Housekeeping) -> Result<(), Failure> {
    let Housekeeping { settings, history, .. } = store.housekeeping()?;
    let removed = removed_since(&before.history, &history);
    if removed > 0 {
        let (events, limits) = (counted(removed, "event"), text(&settings));
        tell::warning(format!("removed {events} beyond the store's limits ({limits}); see `info --history`"));
    }
    if let Some(border) = border(&settings)?
        && let Some((events, (first, last))) = unsealed(&store.info()?)
        && first < border
    {
        let some = if last < border { "" } else { "some of " };
        let (events, age) = (counted(events, "event"), settings.max_age.map_or_else(String::new, age));
        tell::warning(format!(
            "{some}{events} are older than the store's max-age of {age} and will be removed"
        ));
    }
    Ok(())
}

/// The settings as the command line has them.
pub(crate) fn text(settings: &Settings) -> String {
    let Settings { max_age, max_bytes, when_full } = *settings;
    let max_age = max_age.map_or("none".to_owned(), age);
    let max_bytes = max_bytes.map_or("none".to_owned(), size);
    let when_full = match when_full {
        WhenFull::Fail => "fail",
        WhenFull::RemoveOldest => "remove-oldest",
    };
    format!("max-age: {max_age}, max-bytes: {max_bytes}, when-full: {when_full}")
}

/// `20GB`, `512MiB`, `1234B`: the largest unit that needs no fraction.
fn size(bytes: u64) -> String {
    let units = [
        ("TB", 1e12 as u64),
        ("TiB", 1 << 40),
        ("GB", 1e9 as u64),
        ("GiB", 1 << 30),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
    ];
    let unit = units.iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or(format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// `90d`, `1d12h`, `30s250ms`.
fn age(age: Duration) -> String {
    let milliseconds = age.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
    let (mut rest, mut text) = (milliseconds, String::new());
    for (name, size) in units {
        if rest >= size {
            text.push_str(&format!("{}{name}", rest / size));
            rest %= size;
        }
    }
    if text.is_empty() { "0ms".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_they_are_written() {
        for text in ["20GB", "1500MB", "512MiB", "3GiB", "1TB", "2500B", "1B"] {
            assert_eq!(size(crate::budget::bytes(text).unwrap() as u64), text);
        }
        assert_eq!(size(0), "0B");
    }

    #[test]
    fn ages_are_shown_as_they_are_written() {
        for text in ["90d", "1d12h", "30s250ms", "15m"] {
            let ticks = crate::instants::duration(text).unwrap();
            assert_eq!(age(Duration::from_nanos(ticks * 100)), text);
        }
        assert_eq!(age(Duration::ZERO), "0ms");
    }
}
