//! `benchtool shell`

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};
use tamias::{Parameters, Rows, RunOptions, Statement, Store};

use crate::cli::{Format, Period, ShellArgs};
use crate::completion::{Words, is_ended};
use crate::failure::Failure;
use crate::instants::{Shown, Zone};
use crate::signals::{self, Cancels};
use crate::tell::{self, tell};
use crate::{commands, output, units};

pub(crate) fn run(args: &ShellArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&args.store)?;
    signals::catch_for_queries()?;
    let usual = if io::stdout().is_terminal() { Format::Table } else { Format::Ndjson };
    let mut shell = Shell {
        store,
        period: args.period.clone(),
        format: args.format.unwrap_or(usual),
        is_for_people: io::stdin().is_terminal(),
    };
    if shell.is_for_people { shell.converse() } else { shell.read(io::stdin().lock()) }
}

struct Shell {
    store: Store,
    period: Period,
    format: Format,
    /// Whether somebody types, who is told how long things took, and who goes on after an error.
    is_for_people: bool,
}

/// What came of a piece of input.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

const HELP: &str = "\
A query ends with a semicolon or an empty line. Tab completes words and keys, Ctrl-C cancels a running query.
  .keys            the keys that events have
  .format FORMAT   table, ndjson, json, csv, raw or markdown
  .zone ZONE       the time zone of instants in tables
  .help            this
  .exit            leave; Ctrl-D as well";

impl Shell {
    /// Reads queries from a terminal.
    fn converse(&mut self) -> Result<(), Failure> {
        let broken = |error: ReadlineError| Failure::Io(format!("the terminal: {error}"));
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .auto_add_history(true)
            // The prompt is no data, so it is kept out of the standard output.
            .behavior(Behavior::PreferTerm)
            .build();
        let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(broken)?;
        editor.set_helper(Some(Assistant { words: Words::of(&self.store)? }));
        let history = history_file();
        if let Some(file) = &history {
            // There may be none yet.
            let _ = editor.load_history(file);
        }
        tell!("{} events. End a query with a semicolon; .help tells more.", self.store.info()?.events);
        loop {
            let text = match editor.readline("tamias> ") {
                Ok(text) => text,
                Err(ReadlineError::Interrupted) => {
                    tell!("(Ctrl-D leaves)");
                    continue;
                }
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(broken(error)),
            };
            if let Some(file) = &history {
                // Without it this conversation goes on all the same.
                let folder = file.parent().map(std::fs::create_dir_all);
                let _ = folder.map(|_| editor.append_history(file));
            }
            match self.answer(&text) {
                Ok(Next::GoOn) => {}
                Ok(Next::Leave) => break,
                Err(Failure::ClosedPipe) => return Err(Failure::ClosedPipe),
                Err(failure) => tell::failure(&failure),
            }
        }
        Ok(())
    }

    /// Reads queries from something else. The first failure ends it.
    fn read(&mut self, mut input: impl BufRead) -> Result<(), Failure> {
        let mut text = String::new();
        loop {
            let read = input.by_ref().take(LINE_BYTES_MAX).read_line(&mut text);
            let is_end = read.map_err(|error| Failure::Io(format!("standard input: {error}")))? == 0;
            let query = text.trim_end_matches('\n');
            // A line feed of its own makes an empty line.
            let is_ended = is_end || is_ended(query) || (query.len() + 1 < text.len());
            if is_ended || text.len() as u64 > LINE_BYTES_MAX {
                if self.answer(&text)? == Next::Leave {
                    return Ok(());
                }
                text.clear();
            }
            if is_end {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, text: &str) -> Result<Next, Failure> {
        let text = text.trim();
        let text = text.strip_suffix(';').unwrap_or(text).trim_end();
        let (command, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = argument.trim();
        match command {
            "" => {}
            ".exit" | ".quit" | "exit" | "quit" if argument.is_empty() => return Ok(Next::Leave),
            ".help" => tell!("{HELP}"),
            ".keys" => commands::keys::show(&self.store)?,
            ".format" => {
                self.format = Format::from_str(argument, true).map_err(|_| {
                    let names: Vec<String> = Format::value_variants()
                        .iter()
                        .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
                        .collect();
                    Failure::Usage(format!("'{argument}' is no format: {}", names.join(", ")))
                })?;
            }
            ".zone" => self.period.time_zone = Zone::parse(argument).map_err(Failure::Usage)?,
            _ if command.starts_with('.') => {
                return Err(Failure::Usage(format!("there is no {command}; .help tells what there is")));
            }
            _ => self.query(text)?,
        }
        Ok(Next::GoOn)
    }

    fn query(&self, text: &str) -> Result<(), Failure> {
        let started = Instant::now();
        let statement = commands::query::within(&Statement::parse(text)?, &self.period)?;
        let mut parameters = Parameters::new();
        commands::query::set_zone(&mut parameters, &self.period.time_zone)?;
        let query = statement.bind(&parameters)?;
        let mut out = output::stdout();
        let is_analyzed = match query.is_explain() {
            Some(false) => return output::write_line(&mut out, query.explain().trim_end()),
            Some(true) => true,
            None => false,
        };
        let threads = commands::query::processors();
        let options = RunOptions { threads, measure: is_analyzed, ..RunOptions::default() };
        let mut rows = self.store.run_with(&query, options)?;
        let cancels = Cancels::query(&rows.cancel_handle())?;
        let written = if is_analyzed {
            read_all(&mut rows).and_then(|()| output::write_line(&mut out, rows.analysis().trim_end()))
        } else {
            let shown = Shown::new(&query, &self.period.time_zone);
            output::write_rows(&mut rows, self.format, &shown, &mut out).map(drop)
        };
        drop(cancels);
        written?;
        commands::query::tell_warnings(&rows);
        if self.is_for_people {
            let stats = rows.stats();
            let (rows, time) = (stats.rows, units::duration(started.elapsed()));
            tell!("{rows} {} in {time}", if rows == 1 { "row" } else { "rows" });
        }
        Ok(())
    }
}

fn read_all(rows: &mut Rows) -> Result<(), Failure> {
    while rows.next_row()?.is_some() {}
    Ok(())
}

/// More than a query may have: what is longer is told by the parser.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Where what was typed is kept, as the XDG rules have it.
fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("tamias").join("history"))
}

/// What helps to type.
struct Assistant {
    words: Words,
}

impl Helper for Assistant {}
impl Highlighter for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, text: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.words.complete(text, at))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_ended(context.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}
