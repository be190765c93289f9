//! `benchtool keys`

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};

use tamias::{Key, Keys, Kind, RunOptions, Statement, Store};

use crate::cli::{KeysArgs, KeysFormat};
use crate::failure::Failure;
use crate::output::Field;
use crate::pager::Out;
use crate::screen::Screen;
use crate::tell::tell;
use crate::units::percent;
use crate::{output, progress, sampled, signals};

/// How often it looks for Ctrl-C.
const EVENTS_BETWEEN_LOOKS: u64 = 1000;

pub(crate) fn run(args: &KeysArgs) -> Result<(), Failure> {
    let store = super::read_once(&args.store, &args.reading)?;
    let statement = crate::commands::query::within(&Statement::parse(ALL)?, &args.period)?;
    let query = statement.bind(&tamias::Parameters::new())?;
    signals::catch()?;
    let of_all = store.info()?.events;
    let bar = progress::events("reading", of_all);
    let mut keys = Keys::new(args.depth.get() as usize);
    let (every, limit) = (args.every.get(), args.limit.unwrap_or(u64::MAX));
    let mut rows = store.run_with(&query, RunOptions::default())?;
    let (mut read, mut end) = (0, End::All);
    while let Some(row) = rows.next_row()? {
        if keys.documents() >= limit {
            end = End::Limit;
            break;
        }
        if read % every == 0 {
            keys.add(row.get(0).and_then(|cell| cell.json()).unwrap_or_default());
        }
        read += 1;
        if read % EVENTS_BETWEEN_LOOKS == 0 {
            bar.set_position(read);
            if signals::requested() {
                end = End::Interrupted;
                break;
            }
        }
    }
    bar.finish_and_clear();

    let format = args.format.unwrap_or(match io::stdout().is_terminal() {
        true => KeysFormat::Table,
        false => KeysFormat::Ndjson,
    });
    let text = match format {
        KeysFormat::Table => table(&keys),
        KeysFormat::Ndjson => objects(&keys),
    };
    if !text.is_empty() {
        let mut out = Out::open(&Screen::of_stdout(), !args.paging.no_pager);
        let written = output::write_line(&mut out, &text);
        out.finish(written)?;
    }
    tell(&keys, read, of_all, every, end);
    match end {
        End::Interrupted => {
            Err(Failure::Interrupted("interrupted; the keys are those found so far".to_owned()))
        }
        End::All | End::Limit => Ok(()),
    }
}

/// Shows the keys of a store's first events, for somebody who is about to ask.
pub(crate) fn show(store: &Store) -> Result<(), Failure> {
    let query = Statement::parse(ALL)?.bind(&tamias::Parameters::new())?;
    let mut keys = Keys::new(SHOWN_DEPTH);
    let mut rows = store.run_with(&query, RunOptions::default())?;
    let mut end = End::All;
    while let Some(row) = rows.next_row()? {
        if keys.documents() >= SHOWN_EVENTS {
            end = End::Limit;
            break;
        }
        keys.add(row.get(0).and_then(|cell| cell.json()).unwrap_or_default());
    }
    let text = if io::stdout().is_terminal() { table(&keys) } else { objects(&keys) };
    if !text.is_empty() {
        output::write_line(&mut output::stdout(), &text)?;
    }
    tell(&keys, keys.documents(), store.info()?.events, 1, end);
    Ok(())
}

/// What `show` looks at.
const SHOWN_EVENTS: u64 = 10_000;
const SHOWN_DEPTH: usize = 3;

const ALL: &str = "select @Data from stream";

/// What ended the reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    All,
    Limit,
    Interrupted,
}

/// Says how far the answer reaches.
fn tell(keys: &Keys, read: u64, of_all: u64, every: u64, end: End) {
    let documents = keys.documents();
    if of_all == 0 {
        return tell!("the store has no events");
    }
    let events = if documents == 1 { "event" } else { "events" };
    let which = match (every, end) {
        (1, End::All) if documents == of_all => "all of them".to_owned(),
        (1, End::All) => format!("all of that period; the store has {of_all}"),
        (1, _) => format!("the first of {of_all} in the store; keys that only other events have are missing"),
        _ => format!("one in {every} of {read}; keys that only other events have are missing"),
    };
    tell!("read {documents} {events}: {which}");
    if keys.left_out() > 0 {
        tell!("not shown: {} values, because there are too many keys or they are too long", keys.left_out());
    }
}

fn table(keys: &Keys) -> String {
    let names = ["key", "values", "of events", "kinds", "examples"].map(str::to_owned);
    let paths: BTreeSet<String> = keys.found().map(|key| key.path()).collect();
    // A flat key with points is shown as people write it, unless that is another key.
    let shown = |path: String| sampled::dotted(&path).filter(|name| !paths.contains(name)).unwrap_or(path);
    let rows: Vec<Vec<Field>> = keys.found().map(|key| fields(keys, &key, &shown(key.path()))).collect();
    output::fitted(&names, &rows)
}

fn fields(keys: &Keys, key: &Key<'_>, path: &str) -> Vec<Field> {
    let kinds: Vec<String> = match key.kinds().collect::<Vec<_>>()[..] {
        [(kind, _)] => vec![name(kind).to_owned()],
        ref kinds => kinds.iter().map(|(kind, count)| format!("{} {count}", name(*kind))).collect(),
    };
    // Of an array's elements there are more than events.
    let share = if path.contains("[?]") { String::new() } else { percent(key.values(), keys.documents()) };
    vec![
        // What is shown of it is what people copy.
        Field::whole(path),
        Field::number(&key.values().to_string()),
        Field::number(&share),
        Field::text(&kinds.join(", ")),
        Field::text(&key.examples().join("  ")),
    ]
}

/// A line for each key.
fn objects(keys: &Keys) -> String {
    keys.found().map(|key| object(&key)).collect::<Vec<String>>().join("\n")
}

/// A key as a JSON object.
fn object(key: &Key<'_>) -> String {
    let kinds: Vec<String> = key.kinds().map(|(kind, count)| format!("\"{}\":{count}", name(kind))).collect();
    let examples: Vec<String> = key.examples().iter().map(|example| output::json_string(example)).collect();
    format!(
        "{{\"key\":{},\"values\":{},\"kinds\":{{{}}},\"examples\":[{}]}}",
        output::json_string(&key.path()),
        key.values(),
        kinds.join(","),
        examples.join(",")
    )
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Boolean => "boolean",
        Kind::Null => "null",
        Kind::Object => "object",
        Kind::Array => "array",
        _ => "undefined",
    }
}
