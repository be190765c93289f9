//! `benchtool compact`

use tamias::{Layout, Request, Store};

use crate::cli::CompactArgs;
use crate::commands::{asked, existing};
use crate::failure::Failure;
use crate::tell::tell;
use crate::units::counted;
use crate::{output, progress};

pub(crate) fn run(args: &CompactArgs) -> Result<(), Failure> {
    let options = args.sealing.options();
    let before = Store::open_read_only(&args.store)?.info()?.segments.len();
    if asked(&args.store, Request::Compact)?.is_none() {
        let store = existing(&args.store, options)?;
        store.seal()?;
        let bar = progress::bytes("compacting", Some(0));
        let compacted = store.compact_told(|done, of| {
            bar.set_length(of);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        compacted?;
    } else if options.segments == Layout::Columns {
        tell!("note: another process is writing to the store and decides the layout of its files");
    }
    let info = Store::open_read_only(&args.store)?.info()?;
    let line = format!(
        "compacted: {} became {}, {}",
        counted(before as u64, "file"),
        info.segments.len(),
        counted(info.events, "event")
    );
    output::write_line(&mut output::stdout(), &line)
}
