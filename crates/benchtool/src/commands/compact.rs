//! `benchtool compact`

use crate::cli::CompactArgs;
use crate::commands::existing;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &CompactArgs) -> Result<(), Failure> {
    let store = existing(&args.store, args.sealing.options())?;
    store.seal()?;
    let before = store.info()?.segments.len();
    store.compact()?;
    let info = store.info()?;
    let line = format!("compacted: {before} files became {}, {} events", info.segments.len(), info.events);
    output::write_line(&mut output::stdout(), &line)
}
