//! `benchtool seal`

use tamias::{Options, Request, Store};

use crate::cli::SealArgs;
use crate::commands::{asked, existing};
use crate::failure::Failure;
use crate::output;
use crate::units::counted;

pub(crate) fn run(args: &SealArgs) -> Result<(), Failure> {
    if asked(&args.store, Request::Seal)?.is_none() {
        existing(&args.store, Options::default())?.seal()?;
    }
    let info = Store::open_read_only(&args.store)?.info()?;
    let files = info.segments.iter().filter(|segment| segment.file.is_some()).count();
    output::write_line(
        &mut output::stdout(),
        &format!(
            "sealed; the store has {} in {}",
            counted(info.events, "event"),
            counted(files as u64, "file")
        ),
    )
}
