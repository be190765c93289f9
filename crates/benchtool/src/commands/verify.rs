//! `benchtool verify`

use tamias::{Contradiction, Damage, Options, ReadMode, Store, Unnamed, UnnamedKind};

use crate::cli::VerifyArgs;
use crate::failure::{DAMAGE_REMEDIES, Failure};
use crate::units::counted;
use crate::{output, progress};

pub(crate) fn run(args: &VerifyArgs) -> Result<(), Failure> {
    // Where a file is damaged, a map of it may end the process.
    let options = Options { read_mode: ReadMode::Plain, ..Options::default() };
    let store = Store::open_read_only_with(&args.store, options)?;
    let damage = progress::during("checking", || store.verify())?;
    let contradictions = match args.deep {
        true => progress::during("checking documents and statistics", || store.verify_deep())?,
        false => Vec::new(),
    };
    let unnamed = store.unnamed()?;
    let info = store.info()?;
    let mut out = output::stdout();
    // What was found is in the exit code, whether anybody hears of it or not.
    let told = unnamed.iter().try_for_each(|file| output::write_line(&mut out, &unnamed_line(file)));
    let missed = unnamed.iter().filter(|file| file.kind == UnnamedKind::Events).count();
    let has = |kind| unnamed.iter().any(|file| file.kind == kind);
    let mut failures = Vec::new();
    match missed {
        0 => {}
        1 => failures.push(format!("1 file holds {MISSED}")),
        files => failures.push(format!("{files} files hold {MISSED}")),
    }
    if has(UnnamedKind::Receipt) {
        failures.push(BEHIND.to_owned());
    }
    if has(UnnamedKind::UnreadableReceipt) {
        failures.push(UNREAD.to_owned());
    }
    if !damage.is_empty() {
        failures.push(lost(&damage));
    }
    match contradictions.len() {
        0 => {}
        1 => failures.push(format!("1 block was {CONTRADICTORY}")),
        blocks => failures.push(format!("{blocks} blocks were {CONTRADICTORY}")),
    }
    if failures.is_empty() {
        let sealed = info.segments.iter().filter(|segment| segment.file.is_some()).count();
        let deep = if args.deep { ", documents and statistics checked" } else { "" };
        let line = format!(
            "sound: {} in {}{deep}",
            counted(info.events, "event"),
            counted(sealed as u64, "segment")
        );
        return told.and_then(|()| output::write_line(&mut out, &line));
    }
    let lines = damage.iter().map(|damage| format!("{damage:#}"));
    let mut lines = lines.chain(contradictions.iter().map(Contradiction::to_string));
    let told = told.and_then(|()| lines.try_for_each(|line| output::write_line(&mut out, &line)));
    output::unless_closed(told)?;
    Err(Failure::Damage(failures.join("; ")))
}

const MISSED: &str = "events that the store's list of files does not name, because a newer list was lost; `repair` adds what is missing";

const BEHIND: &str = "the store's list of files is older than a receipt, so events may be missing; put the newer list back if you have it, `repair` otherwise";

const UNREAD: &str = "what was erased is not known, and until it is `repair` takes in no file that the store's list does not name; make the receipt readable, or put it \
                      back from a backup or another copy of the store";

/// A file in the folder that is none of the store's now.
fn unnamed_line(file: &Unnamed) -> String {
    if file.kind == UnnamedKind::Receipt {
        return format!(
            "ahead: {} knows of later events than the store's list of files",
            file.file.display()
        );
    }
    if file.kind == UnnamedKind::UnreadableReceipt {
        return format!("unreadable: {} is damaged, or cannot be read", file.file.display());
    }
    let what = match file.kind {
        UnnamedKind::Events => "holds events of this store, which a newer list of its files must have named",
        UnnamedKind::Manifest => "is a list of the store's files that does not count",
        UnnamedKind::Unfinished => "was being written when its process ended, or is being written now",
        UnnamedKind::Foreign => "belongs to another store",
        UnnamedKind::Unreadable => "does not begin like a file of a store",
        UnnamedKind::Retired => {
            "is no longer needed; it is removed when no process reads it any more, at the latest when the store is next opened for writing"
        }
        UnnamedKind::Irregular => "is not a regular file and is never opened",
        _ => "is not one of the store's files",
    };
    format!("not named: {} ({} bytes) {what}", file.file.display(), file.bytes)
}

const CONTRADICTORY: &str =
    "written wrongly: queries may answer wrongly there; `query --plain` reads only the documents";

/// How much is lost, in a sentence.
pub(super) fn lost(damage: &[Damage]) -> String {
    let parts = match damage.len() {
        1 => "1 part of the store is damaged".to_owned(),
        parts => format!("{parts} parts of the store are damaged"),
    };
    format!("{parts}: {} lost; {DAMAGE_REMEDIES}", events_lost(damage, 0))
}

/// How many events are lost in these parts but for those that are back, and whether there are more of which nobody knows how many.
fn count_lost<'a>(damage: impl IntoIterator<Item = &'a Damage>, back: u64) -> (u64, bool) {
    let (mut events, mut unknown) = (0u64, false);
    for part in damage {
        events = events.saturating_add(part.events().unwrap_or(0));
        unknown |= part.events().is_none();
    }
    (events.saturating_sub(back), unknown)
}

/// Whether any event is lost, or may be.
pub(crate) fn is_any_lost<'a>(damage: impl IntoIterator<Item = &'a Damage>, back: u64) -> bool {
    count_lost(damage, back) != (0, false)
}

/// `3 events and an unknown number of others are`
pub(crate) fn events_lost<'a>(damage: impl IntoIterator<Item = &'a Damage>, back: u64) -> String {
    match count_lost(damage, back) {
        (0, true) => "an unknown number of events is".to_owned(),
        (events, true) => format!("{events} events and an unknown number of others are"),
        (1, false) => "1 event is".to_owned(),
        (events, false) => format!("{events} events are"),
    }
}
