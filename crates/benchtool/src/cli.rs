//! The command line: every command with its arguments and help.

mod asking;
mod keeping;
mod looking;
mod measuring;
mod shared;
mod storing;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, StyledStr, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub(crate) use asking::{EvalArgs, KeysArgs, KeysFormat, QueryArgs, ShellArgs};
pub(crate) use keeping::{
    BackupArgs, CompactArgs, DeleteArgs, ExportArgs, InfoArgs, InfoFormat, MergeStoresArgs, ReceiptsArgs,
    RemoveArgs, RepairArgs, RestoreArgs, ScrubArgs, SealArgs, SettingsArgs, VerifyArgs, WhenFull,
};
pub(crate) use looking::{AroundArgs, GetArgs, SearchArgs, TailArgs};
pub(crate) use measuring::{BenchArgs, Clock, DemoArgs, FromWhere, ShredArgs};
pub(crate) use shared::{Format, OnDamage, Parameter, Period, ReadMode, Reading, Segments, Showing};
pub(crate) use storing::{BATCH_BYTES, GenerateArgs, IngestArgs, OnInvalid};

const AFTER: &str = "\
First steps, with a generated log:
  benchtool generate --events 100000 | benchtool ingest logs -
  benchtool keys logs --depth 1
  benchtool tail logs
  benchtool query logs \"select Message, Elapsed from stream where Elapsed > 900 limit 5\"
  benchtool shell logs

See `benchtool COMMAND --help` for examples of each command.

Exit codes:
    0  success
    1  no rows (query --exit-status only)
    2  wrong command line
    3  malformed query, or it exceeded its time or memory limit
    4  some input was rejected or is invalid
    5  a file or folder could not be found, read or written
    6  stored data is damaged
  130  interrupted with Ctrl-C";

/// Store structured log events in a folder, and query them.
///
/// An event is a JSON object with a time. A store is a folder; `ingest` creates it.
/// Data goes to standard output, everything else to standard error.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour; `auto` means on terminals, unless the environment variable NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// The command line of the program under this name. What its help is written with is `benchtool`.
pub(crate) fn command(program: &'static str) -> clap::Command {
    let command = renamed(Cli::command().name(program), program);
    WITHOUT_FILES.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| {
            command.mut_arg("format", |format| format.value_parser(text_format()))
        })
    })
}

/// The commands that write rows to standard output only, and not in formats of files.
const WITHOUT_FILES: [&str; 5] = ["shell", "tail", "search", "get", "around"];

fn text_format() -> impl TypedValueParser<Value = Format> {
    let is_text = |format: &&Format| !matches!(format, Format::Parquet | Format::Arrow);
    let formats = Format::value_variants().iter().filter(is_text);
    PossibleValuesParser::new(formats.filter_map(ValueEnum::to_possible_value))
        .try_map(|name| Format::from_str(&name, false))
}

fn renamed(command: clap::Command, program: &'static str) -> clap::Command {
    type Set = fn(clap::Command, StyledStr) -> clap::Command;
    let text = |text: Option<&StyledStr>| {
        text.map(|text| StyledStr::from(text.to_string().replace("benchtool", program)))
    };
    let texts: [(Option<StyledStr>, Set); 4] = [
        (text(command.get_about()), |command, text| command.about(text)),
        (text(command.get_long_about()), |command, text| command.long_about(text)),
        (text(command.get_after_help()), |command, text| command.after_help(text)),
        (text(command.get_after_long_help()), |command, text| command.after_long_help(text)),
    ];
    let command = texts.into_iter().fold(command, |command, (text, set)| match text {
        Some(text) => set(command, text),
        None => command,
    });
    command.mut_subcommands(|command| renamed(command, program))
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Generate(GenerateArgs),
    Ingest(IngestArgs),
    Query(QueryArgs),
    Shell(ShellArgs),
    Tail(TailArgs),
    Search(SearchArgs),
    Get(GetArgs),
    Around(AroundArgs),
    Keys(KeysArgs),
    Eval(EvalArgs),
    Info(InfoArgs),
    Verify(VerifyArgs),
    Scrub(ScrubArgs),
    Repair(RepairArgs),
    Seal(SealArgs),
    Compact(CompactArgs),
    Remove(RemoveArgs),
    Delete(DeleteArgs),
    Receipts(ReceiptsArgs),
    Settings(SettingsArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Export(ExportArgs),
    MergeStores(MergeStoresArgs),
    Bench(BenchArgs),
    Demo(DemoArgs),
    Shred(ShredArgs),
    GenerateCompletions(CompletionsArgs),
    GenerateMan(ManArgs),
}

/// Write a completion script for a shell to standard output
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool generate-completions bash > ~/.local/share/bash-completion/completions/benchtool
  benchtool generate-completions fish > ~/.config/fish/completions/benchtool.fish")]
pub(crate) struct CompletionsArgs {
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual page to standard output, or a page for each command into a folder
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  benchtool generate-man | man -l -
  benchtool generate-man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command("tamias").debug_assert();
    }
}
