//! `benchtool shell`

use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};
use tamias::{Parameters, Rows, RunOptions, Statement, Store};

use crate::cli::{Format, Period, ShellArgs, Showing};
use crate::completion::{State, Words, is_ended, is_ended_in, is_open};
use crate::failure::Failure;
use crate::instants::Zone;
use crate::output::Written;
use crate::screen::Screen;
use crate::signals::{self, Cancels};
use crate::tell::{self, tell};
use crate::units::counted;
use crate::{commands, output, units};

pub(crate) fn run(args: &ShellArgs) -> Result<(), Failure> {
    let store = super::to_ask(&args.store)?;
    signals::catch_for_queries()?;
    let is_for_people = io::stdin().is_terminal();
    let mut shell = Shell {
        store,
        folder: args.store.clone(),
        period: args.period.clone(),
        showing: args.showing.clone(),
        once: None,
        is_timed: is_for_people,
    };
    if is_for_people { shell.converse() } else { shell.read(io::stdin().lock()) }
}

struct Shell {
    store: Store,
    folder: PathBuf,
    period: Period,
    showing: Showing,
    /// Where the rows of the next query go, instead of the standard output.
    once: Option<PathBuf>,
    /// Whether it is told how long a query took, and what it read.
    is_timed: bool,
}

/// What came of a piece of input.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

const PROMPT: &str = "tamias> ";
const CONTINUATION: &str = "     …> ";

const HELP: &str = "\
Enter runs a complete query. An incomplete one continues at …>; a semicolon or an empty line ends it.
Tab completes keywords and keys. Ctrl-C cancels a running query, or abandons an incomplete one.
  .schema          list the keys of events, with their types (also .keys)
  .mode FORMAT     set the output format: table, log, vertical, chart, ndjson,
                   json, csv, raw, markdown, or auto (also .format)
  .once FILE       write the rows of the next query to a file
  .timer on|off    show how long each query took, and how much it read
  .zone ZONE       set the time zone of queries and of times in the output
  .help            show this help
  .exit            quit (also Ctrl-D)
Commands work at …> as well; the incomplete query can be continued after them.";

impl Shell {
    /// Reads queries from a terminal.
    fn converse(&mut self) -> Result<(), Failure> {
        let broken = |error: ReadlineError| Failure::Io(format!("the terminal: {error}"));
        let config = Config::builder()
            .completion_type(CompletionType::List)
            // The prompt is no data, so it is kept out of the standard output.
            .behavior(Behavior::PreferTerm)
            .build();
        let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(broken)?;
        // A store that is damaged is one to be looked into.
        let words = Words::of(&self.store).unwrap_or_else(|failure| {
            tell::warning(format!("keys are not completed: {failure}"));
            Words::new(std::iter::empty())
        });
        editor.set_helper(Some(Assistant { words }));
        let history = history_file(&self.folder);
        if let Some(file) = &history {
            // There may be none yet.
            let _ = editor.load_history(file);
        }
        let events = counted(self.store.info()?.events, "event");
        tell!("{events}. Enter runs a query; .help lists the commands.");
        let mut text = String::new();
        loop {
            let prompt = if text.is_empty() { PROMPT } else { CONTINUATION };
            let line = match editor.readline(prompt) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) if text.is_empty() => {
                    tell!("(press Ctrl-D to quit)");
                    continue;
                }
                Err(ReadlineError::Interrupted) => {
                    text.clear();
                    continue;
                }
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(broken(error)),
            };
            // A command does not become part of an incomplete query, which can be continued after it.
            let entered = if !text.is_empty() && is_command(&line) {
                line
            } else {
                text.push_str(&line);
                if !line.trim().is_empty() && is_unfinished(&text) {
                    text.push('\n');
                    continue;
                }
                std::mem::take(&mut text)
            };
            let entered = entered.trim();
            // Without a history this conversation goes on all the same.
            let _ = editor.add_history_entry(entered);
            if let Some(file) = &history {
                let folder = file.parent().map(std::fs::create_dir_all);
                let _ = folder.map(|_| editor.append_history(file));
            }
            match self.answer(entered) {
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
        let (mut text, mut state) = (String::new(), State::Plain);
        loop {
            let begin = text.len();
            let read = input.by_ref().take(LINE_BYTES_MAX).read_line(&mut text);
            let is_end = read.map_err(|error| Failure::Io(format!("standard input: {error}")))? == 0;
            let query = text.trim_end_matches('\n');
            // The lines before are not gone through again. A line feed may end a comment, but the query's end stands before it.
            let before = state.after(text.get(begin..query.len()).unwrap_or_default());
            state = state.after(&text[begin..]);
            // A line feed of its own makes an empty line.
            let is_ended = is_end || is_ended_in(query, before) || (query.len() + 1 < text.len());
            if is_ended || text.len() as u64 > LINE_BYTES_MAX {
                if self.answer(&text)? == Next::Leave {
                    return Ok(());
                }
                text.clear();
                state = State::Plain;
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// Answers what stands there, one query after another.
    fn answer(&mut self, mut text: &str) -> Result<Next, Failure> {
        while let Some((query, rest)) = first_query(text) {
            if !is_blank(query) {
                self.query(query.trim())?;
            }
            text = rest;
        }
        if is_blank(text) { Ok(Next::GoOn) } else { self.last(text) }
    }

    /// Answers a query, or does what a command asks for.
    fn last(&mut self, text: &str) -> Result<Next, Failure> {
        let text = text.trim();
        let text = text.strip_suffix(';').unwrap_or(text).trim_end();
        let (command, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let argument = argument.trim();
        match command {
            "" => {}
            ".exit" | ".quit" | "exit" | "quit" if argument.is_empty() => return Ok(Next::Leave),
            ".help" | "help" | "?" if argument.is_empty() => tell!("{HELP}"),
            ".keys" | ".schema" => commands::keys::show(&self.store)?,
            ".format" | ".mode" => self.showing.format = format(argument)?,
            ".once" if argument.is_empty() => return Err(Failure::Usage("write .once FILE".to_owned())),
            ".once" => self.once = Some(PathBuf::from(argument)),
            ".timer" => {
                self.is_timed = match argument {
                    "on" => true,
                    "off" => false,
                    _ => return Err(Failure::Usage("write .timer on, or .timer off".to_owned())),
                }
            }
            ".zone" => self.period.time_zone = Zone::parse(argument).map_err(Failure::Usage)?,
            _ if command.starts_with('.') => {
                return Err(Failure::Usage(format!("there is no {command}; .help lists the commands")));
            }
            _ => self.query(text)?,
        }
        Ok(Next::GoOn)
    }

    fn query(&mut self, text: &str) -> Result<(), Failure> {
        let started = Instant::now();
        let once = self.once.take();
        let screen = if once.is_some() { Screen::FILE } else { Screen::of_stdout() };
        let statement = commands::query::within(&Statement::parse(text)?, &self.period)?;
        let (statement, which) = commands::query::latest(statement, &screen);
        let zone = &self.period.time_zone;
        let mut parameters = Parameters::new();
        commands::query::set_zone(&mut parameters, zone)?;
        let query = statement.bind(&parameters)?;
        let is_analyzed = match query.is_explain() {
            Some(false) => return output::write_line(&mut output::stdout(), query.explain().trim_end()),
            Some(true) => true,
            None => false,
        };
        let threads = commands::query::processors();
        let options = RunOptions { threads, measure: is_analyzed, ..RunOptions::default() };
        let mut rows = self.store.run_with(&query, options)?;
        let written = if is_analyzed {
            let cancels = Cancels::query(&rows.cancel_handle())?;
            read_all(&mut rows)?;
            drop(cancels);
            output::write_line(&mut output::stdout(), rows.analysis().trim_end())?;
            Written { rows: rows.stats().rows, ..Written::default() }
        } else if let Some(path) = once {
            // The mode is that of the screen.
            let format = commands::query::format_named(&path).or(self.showing.format);
            let showing = Showing { format, ..self.showing.clone() };
            commands::query::write_file(&mut rows, &query, which, &showing, zone, &path, &self.folder)?
        } else {
            let shown = commands::query::show(&mut rows, &query, which, zone, &self.showing, screen);
            if let Err(Failure::Query(_)) = &shown {
                commands::query::tell_warnings(&commands::query::warnings(&rows, &self.store, text, &query)?);
            }
            shown?
        };
        let time = started.elapsed().saturating_sub(written.paged);
        commands::query::tell_warnings(&commands::query::warnings(&rows, &self.store, text, &query)?);
        if self.is_timed {
            let stats = rows.stats();
            let (time, read) = (units::duration(time), units::bytes(stats.bytes + stats.column_bytes));
            tell!("{} in {time}, {read} read", counted(written.rows, "row"));
        }
        Ok(())
    }
}

/// The format of this name; none for the usual one.
fn format(name: &str) -> Result<Option<Format>, Failure> {
    if name == "auto" {
        return Ok(None);
    }
    Format::from_str(name, true).map(Some).map_err(|_| {
        let values = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        Failure::Usage(format!("'{name}' is not a format: auto, {}", names.join(", ")))
    })
}

/// The commands of the shell.
const COMMANDS: [&str; 10] =
    [".schema", ".keys", ".mode", ".format", ".once", ".timer", ".zone", ".help", ".exit", ".quit"];

/// Whether a line of an incomplete query is a command: the name of one, with at most one argument. `.name` may also continue a path.
fn is_command(line: &str) -> bool {
    let mut words = line.trim().trim_end_matches(';').split_whitespace();
    words.next().is_some_and(|first| COMMANDS.contains(&first)) && words.count() <= 1
}

/// The first query of a text, and what follows its semicolon; none where there is no semicolon, or something is wrong before it. Only
/// who reads the language knows which semicolon is one, and not in a string, a comment or a regular expression.
fn first_query(text: &str) -> Option<(&str, &str)> {
    let end = match text.trim_start().starts_with('.') {
        true => return None,
        false => Statement::parse(text).err()?.span().start,
    };
    let (query, rest) = text.split_at_checked(end)?;
    Some((query, rest.strip_prefix(';')?))
}

/// Whether there is nothing but comments.
fn is_blank(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with("--"))
}

/// Whether a text is the beginning of a query, to which more has to come.
fn is_unfinished(mut text: &str) -> bool {
    if is_ended(text) {
        return false;
    }
    while let Some((_, rest)) = first_query(text) {
        text = rest;
    }
    if is_blank(text) {
        return false;
    }
    match Statement::parse(text) {
        // One that reads events still has to say so.
        Ok(statement) => statement.bind(&Parameters::new()).is_err_and(|error| error.is_without_stream()),
        Err(error) => is_open(text) || error.span().start >= text.trim_end().len(),
    }
}

fn read_all(rows: &mut Rows) -> Result<(), Failure> {
    while rows.next_row()?.is_some() {}
    Ok(())
}

/// More than a query may have: what is longer is told by the parser.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Where what was typed for a store is kept, as the XDG rules have it: by the store's name, and by its path.
fn history_file(store: &Path) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    let store = store.canonicalize().ok()?;
    let name = store.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = crc32fast::hash(store.as_os_str().as_encoded_bytes());
    Some(state.join("tamias").join(format!("history-{name}-{path:08x}")))
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

impl Validator for Assistant {}
