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
    for part in &damage {
        output::write_line(&mut out, &part.to_string())?;
    }
    Err(Failure::Damage(lost(&damage)))
}

/// How much is lost, in a sentence.
fn lost(damage: &[Damage]) -> String {
    let events: u64 = damage.iter().filter_map(Damage::events).sum();
    let parts = match damage.len() {
        1 => "1 part of the store is damaged".to_owned(),
        parts => format!("{parts} parts of the store are damaged"),
    };
    let unknown = if damage.iter().any(|part| part.events().is_none()) {
        " and an unknown number of others"
    } else {
        ""
    };
    format!("{parts}: {events} events{unknown} are lost; `query --on-damage skip` answers from the rest")
}
