//! `benchtool generate-completions`, `benchtool generate-man`

use std::io;

use crate::cli::{CompletionsArgs, ManArgs, command};
use crate::failure::Failure;
use crate::{output, program};

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    let name = program::name();
    clap_complete::generate(args.shell, &mut command(name), name, &mut script);
    write(&script)
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command(program::name()))
            .render(&mut page)
            .map_err(|error| Failure::output(&error))?;
        return write(&page);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command(program::name()), folder))
        .map_err(|error| Failure::file(folder, &error))
}

fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = output::stdout();
    io::Write::write_all(&mut out, bytes)
        .and_then(|()| io::Write::flush(&mut out))
        .map_err(|error| Failure::output(&error))
}
