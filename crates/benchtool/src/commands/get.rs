//! `benchtool get`

use tamias::{Cell, StoredEvent};

use crate::cli::{Format, GetArgs, Showing};
use crate::failure::Failure;
use crate::instants::{Shown, Zone};
use crate::output::Look;
use crate::pager::Out;
use crate::screen::Screen;

pub(crate) fn run(args: &GetArgs) -> Result<(), Failure> {
    let store = super::to_ask(&args.store)?;
    match store.get(args.id)? {
        Some(event) => show(&[event], Format::Vertical, &args.time_zone, &args.showing),
        None => Err(Failure::Input(format!("there is no event {}; it may have been removed", args.id))),
    }
}

/// Shows events as a query for `*` would.
pub(super) fn show(
    events: &[StoredEvent],
    on_terminal: Format,
    zone: &Zone,
    showing: &Showing,
) -> Result<(), Failure> {
    let screen = Screen::of_stdout();
    let usual = if screen.is_terminal() { on_terminal } else { Format::Ndjson };
    let shown = Shown::of_columns(vec![true, false, false], zone, showing.ticks);
    let look = Look { format: showing.format.unwrap_or(usual), shown: &shown, screen };
    let mut out = Out::open(&screen, !showing.paging.no_pager);
    let written = write(events, look, &mut out);
    out.finish(written).map(drop)
}

fn write(events: &[StoredEvent], look: Look<'_>, out: &mut Out) -> Result<(), Failure> {
    let columns = ["@Timestamp", "@Id", "@Data"].map(str::to_owned);
    let mut writer = look.writer(&columns, out)?;
    for event in events {
        let time = event.id.instant().ticks().to_string();
        let id = format!("\"{}\"", event.id);
        let cells = [time.as_bytes(), id.as_bytes(), event.json.as_bytes()].map(Cell::of_json);
        writer.row(&cells)?;
    }
    writer.end()
}
