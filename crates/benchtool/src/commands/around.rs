//! `benchtool around`

use tamias::Store;

use crate::cli::{AroundArgs, Format};
use crate::failure::Failure;

pub(crate) fn run(args: &AroundArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&args.store).map_err(Failure::asking)?;
    let events = store.around(args.id, args.before, args.after)?;
    super::get::show(&events, Format::Log, &args.time_zone, &args.showing)
}
