//! `benchtool verify`

use tamias::{Contradiction, Damage, Options, ReadMode, Store};

use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &VerifyArgs) -> Result<(), Failure> {
    // Where a file is damaged, a map of it may end the process.
    let options = Options { read_mode: ReadMode::Plain, ..Options::default() };
    let store = Store::open_read_only_with(&args.store, options)?;
    let damage = store.verify()?;
    let contradictions = if args.deep { store.verify_deep()? } else { Vec::new() };
    let info = store.info()?;
    let mut out = output::stdout();
    if damage.is_empty() && contradictions.is_empty() {
        let sealed = info.segments.iter().filter(|segment| segment.file.is_some()).count();
        let deep = if args.deep { ", documents and summaries checked" } else { "" };
        let line = format!("sound: {} events in {sealed} segments{deep}", info.events);
        return output::write_line(&mut out, &line);
    }
    let lines = damage.iter().map(Damage::to_string);
    let mut lines = lines.chain(contradictions.iter().map(Contradiction::to_string));
    output::unless_closed(lines.try_for_each(|line| output::write_line(&mut out, &line)))?;
    let mut failures = Vec::new();
    if !damage.is_empty() {
        failures.push(lost(&damage));
    }
    match contradictions.len() {
        0 => {}
        1 => failures.push(format!("1 block was {CONTRADICTORY}")),
        blocks => failures.push(format!("{blocks} blocks were {CONTRADICTORY}")),
    }
    Err(Failure::Damage(failures.join("; ")))
}

const CONTRADICTORY: &str =
    "written wrongly: queries may answer wrongly there; `query --plain` asks the documents alone";

/// How much is lost, in a sentence.
fn lost(damage: &[Damage]) -> String {
    let parts = match damage.len() {
        1 => "1 part of the store is damaged".to_owned(),
        parts => format!("{parts} parts of the store are damaged"),
    };
    format!(
        "{parts}: {} lost; `query --on-damage skip` answers from the rest, `repair` takes out what is damaged",
        events_lost(damage)
    )
}

/// `3 events and an unknown number of others are`
pub(crate) fn events_lost<'a>(damage: impl IntoIterator<Item = &'a Damage>) -> String {
    let (mut events, mut unknown) = (0u64, false);
    for part in damage {
        events = events.saturating_add(part.events().unwrap_or(0));
        unknown |= part.events().is_none();
    }
    match (events, unknown) {
        (0, true) => "an unknown number of events is".to_owned(),
        (events, true) => format!("{events} events and an unknown number of others are"),
        (1, false) => "1 event is".to_owned(),
        (events, false) => format!("{events} events are"),
    }
}
