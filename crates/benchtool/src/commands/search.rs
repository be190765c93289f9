//! `benchtool search`

use tamias::{Parameters, RunOptions, Statement, Store};

use crate::cli::SearchArgs;
use crate::commands::query;
use crate::failure::Failure;
use crate::output::{LATEST_ROWS, Which};
use crate::screen::Screen;

pub(crate) fn run(args: &SearchArgs) -> Result<(), Failure> {
    let mut parameters = Parameters::new();
    query::set_zone(&mut parameters, &args.period.time_zone)?;
    let condition = query::condition(args.condition.as_deref(), &parameters)?;
    parameters.set_text("text", &args.text);
    let screen = Screen::of_stdout();
    // On a terminal no more than somebody can look at.
    let most = args.events.or(screen.is_terminal().then_some(LATEST_ROWS));
    let (which, order) = match most {
        Some(most) => (Which::Reversed(most), format!("order by time desc limit {}", most.saturating_add(1))),
        None => (Which::All, String::new()),
    };
    let ci = if args.ignore_case { " ci" } else { "" };
    let text = format!("select * from stream where HasText($text){ci} and {condition} {order}");
    let statement = query::within(&Statement::parse(&text)?, &args.period)?;
    let query = statement.bind(&parameters)?;
    let store = Store::open_read_only(&args.store)?;
    let options = RunOptions { threads: query::processors(), ..RunOptions::default() };
    let mut rows = store.run_with(&query, options)?;
    let written = query::show(&mut rows, &query, which, &args.period.time_zone, &args.showing, screen)?;
    query::tell_warnings(&rows);
    query::tell_none(&written, &screen);
    Ok(())
}
