//! The tool as its users meet it: a process with arguments, input, output and an exit code.

#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it must be")]

mod bench;
mod broken_output;
mod cookbook;
mod damage;
mod eval;
mod export;
mod fixtures;
mod foreign;
mod generate;
mod ingest;
mod interruption;
mod keys;
mod limits;
mod looking;
mod lost;
#[cfg(unix)]
mod on_terminal;
mod order;
mod output_file;
mod period;
mod query;
mod real;
mod recipes;
mod rejected;
mod resume;
#[cfg(unix)]
mod screens;
mod shell;
mod shred;
#[cfg(unix)]
mod terminal;
mod time_key;
mod tool;
#[cfg(unix)]
mod tour;
mod upkeep;
mod warnings;
