//! `benchtool search`

use tamias::{Parameters, RunOptions, Statement};

use crate::cli::SearchArgs;
use crate::commands::query;
use crate::failure::Failure;
use crate::output::{LATEST_ROWS, Which};
use crate::screen::Screen;
use crate::tell::tell;

pub(crate) fn run(args: &SearchArgs) -> Result<(), Failure> {
    let mut parameters = Parameters::new();
    query::set_zone(&mut parameters, &args.period.time_zone)?;
    let condition = query::condition(args.condition.as_deref(), &parameters)?;
    let screen = Screen::of_stdout();
    // On a terminal no more than somebody can look at; one more tells whether there are others. Who says how many knows.
    let most = args.events.map(|events| (events, events));
    let most = most.or(screen.is_terminal().then_some((LATEST_ROWS, LATEST_ROWS + 1)));
    let (which, order) = match most {
        Some((most, limit)) => (Which::Reversed(most), format!("order by time desc limit {limit}")),
        None => (Which::All, String::new()),
    };
    let found = found(args, &mut parameters);
    let text = format!("select * from stream where {found} and {condition} {order}");
    let statement = query::within(&Statement::parse(&text)?, &args.period)?;
    let query = statement.bind(&parameters)?;
    // No other query comes for which what is decoded might be kept.
    let store = super::to_ask(&args.store)?.with_column_cache(0);
    let options = RunOptions { threads: query::processors(), ..RunOptions::default() };
    let mut rows = store.run_with(&query, options)?;
    let written = query::show(&mut rows, &query, which, &args.period.time_zone, &args.showing, screen)?;
    let condition = args.condition.as_deref().unwrap_or_default();
    query::tell_warnings(&query::warnings(&rows, &store, condition, &query)?);
    query::tell_none(&written, &screen, &args.period, &store.info()?);
    let is_none = written.rows == 0 && screen.is_terminal();
    if is_none && !args.ignore_case && args.text.chars().any(char::is_alphabetic) {
        tell!("upper and lower case were told apart; add -i to ignore case");
    }
    // Somebody who looks for a number means those that are no text, too.
    if !args.all && (is_none || is_number(&args.text)) {
        tell!("numbers and messages made from a template were not searched; add --all to search them too");
    }
    Ok(())
}

/// The condition that an event mentions the text.
fn found(args: &SearchArgs, parameters: &mut Parameters) -> String {
    parameters.set_text("text", &args.text);
    let ci = if args.ignore_case { " ci" } else { "" };
    let mut found = format!("HasText($text){ci}");
    if !args.text.is_empty() && args.text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Nobody means the digits of the time, half of which no log shows.
        found = format!("({found} and (not Contains(@Data['@t'], $text) or {ELSEWHERE}))");
    }
    if args.all {
        found = format!("({found} or Contains(@Message, $text){ci}");
        if is_number(&args.text) && parameters.set_json("number", &args.text).is_ok() {
            found.push_str(" or @Properties[?] = $number");
        }
        found.push(')');
    }
    found
}

/// That the text is in something else than the time.
const ELSEWHERE: &str = "Contains(ToJson({..@Data, '@t': Undefined()}), $text)";

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok() && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}
