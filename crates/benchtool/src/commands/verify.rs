//! `benchtool verify`

use tamias::{Damage, Store};

use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&args.store)?;
    let damage = store.verify()?;
    let info = store.info()?;
    let mut out = output::stdout();
    if damage.is_empty() {
        let sealed = info.segments.iter().filter(|segment| segment.file.is_some()).count();
        return output::write_line(&mut out, &format!("sound: {} events in {sealed} segments", info.events));
    }
    let told = damage.iter().try_for_each(|part| output::write_line(&mut out, &part.to_string()));
    output::unless_closed(told)?;
    Err(Failure::Damage(lost(&damage)))
}

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
