//! `benchtool tail`

use std::time::Duration;

use tamias::{Cell, Parameters, RunOptions, Snapshot, Statement, Store};

use crate::cli::{Format, Period, TailArgs};
use crate::commands::query;
use crate::failure::Failure;
use crate::following::Following;
use crate::instants::Shown;
use crate::output::{Look, RowWriter, Which};
use crate::pager::{Finished, Out};
use crate::screen::Screen;
use crate::signals;

/// How often the store is asked for new events.
const PERIOD: Duration = Duration::from_secs(1);

/// How often it looks for Ctrl-C meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &TailArgs) -> Result<(), Failure> {
    let mut parameters = Parameters::new();
    query::set_zone(&mut parameters, &args.period.time_zone)?;
    let condition = query::condition(args.condition.as_deref(), &parameters)?;
    let format = format(args)?;
    let store = super::to_ask(&args.store)?;
    let latest = format!("select * from stream where {condition} order by time desc limit {}", args.events);
    let latest = query::within(&Statement::parse(&latest)?, &args.period)?.bind(&parameters)?;
    let screen = Screen::of_stdout();
    let shown = Shown::new(&latest, &args.period.time_zone, args.showing.ticks);
    let look = Look { format, shown: &shown, screen };
    let mut out = Out::open(&screen, !args.showing.paging.no_pager && !args.follow).at_end(true);
    let snapshot = store.snapshot()?;
    let mut rows = snapshot.run(&latest, options());
    let written = look.write_rows(&mut rows, Which::Reversed(u64::MAX), &mut out);
    let condition_text = args.condition.as_deref().unwrap_or_default();
    query::tell_warnings(&query::warnings(&rows, &store, condition_text, &latest)?);
    query::tell_search(args.condition.as_deref(), &rows, &args.store);
    if !args.follow {
        let Finished { done, .. } = out.finish(written)?;
        done.iter().for_each(|written| query::tell_none(written, &screen, &args.period, &snapshot.info()));
        return Ok(());
    }
    written?;
    signals::catch()?;
    let mut writer = look.writer(latest.columns(), &mut out)?;
    follow(&store, &snapshot, &condition, &parameters, &args.period, &mut *writer)
}

/// On a terminal a log; what follows has to be a format that can go on.
fn format(args: &TailArgs) -> Result<Format, Failure> {
    let usual = if Screen::of_stdout().is_terminal() { Format::Log } else { Format::Ndjson };
    let format = args.showing.format.unwrap_or(usual);
    match format {
        Format::Log | Format::Ndjson | Format::Raw | Format::Vertical => Ok(format),
        _ if !args.follow => Ok(format),
        _ => Err(Failure::Usage("--follow needs the format log, ndjson, raw or vertical".to_owned())),
    }
}

fn options() -> RunOptions {
    RunOptions { threads: query::processors(), ..RunOptions::default() }
}

/// Writes events as they are stored, each once, until Ctrl-C.
fn follow(
    store: &Store,
    first: &Snapshot,
    condition: &str,
    parameters: &Parameters,
    period: &Period,
    writer: &mut dyn RowWriter,
) -> Result<(), Failure> {
    let mut following = Following::behind(first, &options())?;
    loop {
        for _ in 0..PERIOD.as_millis() / PATIENCE.as_millis() {
            if signals::requested() {
                return Ok(());
            }
            std::thread::sleep(PATIENCE);
        }
        let snapshot = store.snapshot()?;
        let new = following.condition();
        if !following.advance(&snapshot, &options())? {
            continue;
        }
        let text = format!("select * from stream where {new} and {condition}");
        let query = query::within(&Statement::parse(&text)?, period)?.bind(parameters)?;
        let mut rows = snapshot.run(&query, options());
        while let Some(row) = rows.next_row()? {
            writer.row(&row.cells().collect::<Vec<Cell<'_>>>())?;
        }
        writer.end()?;
    }
}
