//! `benchtool generate-completions`, `benchtool generate-man`

use std::io;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use crate::output;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "benchtool", &mut script);
    write(&script)
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|error| Failure::output(&error))?;
        return write(&page);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|error| Failure::file(folder, &error))
}

fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = output::stdout();
    io::Write::write_all(&mut out, bytes)
        .and_then(|()| io::Write::flush(&mut out))
        .map_err(|error| Failure::output(&error))
}
