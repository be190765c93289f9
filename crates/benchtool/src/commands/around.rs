//! `benchtool around`

use crate::cli::{AroundArgs, Format};
use crate::failure::Failure;

pub(crate) fn run(args: &AroundArgs) -> Result<(), Failure> {
    let store = super::to_ask(&args.store)?;
    let events = store.around(args.id, args.before, args.after)?;
    super::get::show(&events, Format::Log, &args.time_zone, &args.showing)
}
