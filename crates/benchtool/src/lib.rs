//! The command line of Tamias, a program of two names: `tamias`, and `benchtool` for those who measure with it. Its commands are in
//! `cli`, what they do in `commands`.
//!
//! Data goes to standard output, everything else to standard error. The exit codes are in `failure`.

// `tell!` and `output` write where these panic.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod anchor;
mod budget;
mod chunks;
mod cli;
#[cfg(feature = "columnar")]
mod columnar;
mod commands;
mod completion;
mod elements;
mod entries;
mod failure;
mod following;
mod foreign;
mod instants;
mod json_object;
mod lines;
mod measure;
mod measured;
mod mended;
mod misread;
mod names;
mod nested;
mod origin;
mod output;
mod output_file;
mod pager;
mod program;
mod progress;
mod recipes;
mod refusals;
mod rejected;
mod rejects;
mod remedies;
mod sampled;
mod screen;
mod signals;
mod source;
mod splitter;
mod start;
mod tell;
mod time_key;
mod units;
mod wrap;
mod writer;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::cli::{Cli, Color, Command};
use crate::failure::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the program with the arguments of the process, and tells its exit code.
pub fn main() -> ExitCode {
    signals::survive_file_size_limit();
    // Whoever asks how help is asked for gets it.
    let is_asked = |(at, word): &(usize, OsString)| *at == 2 && (word == "--help" || word == "-h");
    let is_help = env::args_os().nth(1).is_some_and(|word| word == "help");
    let words = env::args_os().enumerate().filter(|word| !(is_help && is_asked(word))).map(|(_, word)| word);
    let matches = cli::command(program::name()).try_get_matches_from(words);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(help) => return show(&help),
    };
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let done = match cli.command {
        Command::Generate(args) => commands::generate::run(&args),
        Command::Ingest(args) => commands::ingest::run(&args),
        Command::Query(args) => commands::query::run(&args),
        Command::Shell(args) => commands::shell::run(&args),
        Command::Tail(args) => commands::tail::run(&args),
        Command::Search(args) => commands::search::run(&args),
        Command::Get(args) => commands::get::run(&args),
        Command::Around(args) => commands::around::run(&args),
        Command::Keys(args) => commands::keys::run(&args),
        Command::Eval(args) => commands::eval::run(&args),
        Command::Info(args) => commands::info::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Repair(args) => commands::repair::run(&args),
        Command::Seal(args) => commands::seal::run(&args),
        Command::Compact(args) => commands::compact::run(&args),
        Command::Remove(args) => commands::remove::run(&args),
        Command::Delete(args) => commands::delete::run(&args),
        Command::Receipts(args) => commands::receipts::run(&args),
        Command::Scrub(args) => commands::scrub::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::MergeStores(args) => commands::merge_stores::run(&args),
        Command::Settings(args) => commands::settings::run(&args),
        Command::Backup(args) => commands::backup::run(&args),
        Command::Restore(args) => commands::backup::restore(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Shred(args) => commands::shred::run(&args),
        Command::GenerateCompletions(args) => commands::help_files::completions(&args),
        Command::GenerateMan(args) => commands::help_files::man(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => end(&failure),
    }
}

/// Shows what was asked for, help or the version, or what is wrong with the command line.
fn show(help: &clap::Error) -> ExitCode {
    if help.use_stderr() {
        // What cannot be told there is in the exit code.
        let _ = help.print();
        return Failure::Usage(help.to_string()).exit_code();
    }
    match help.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => end(&Failure::output(&error)),
    }
}

fn end(failure: &Failure) -> ExitCode {
    if !matches!(failure, Failure::ClosedPipe | Failure::NoRows) {
        tell::failure(failure);
    }
    failure.exit_code()
}
