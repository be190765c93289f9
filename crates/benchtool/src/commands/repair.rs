//! `benchtool repair`

use std::io::Write;

use tamias::{Repair, Store};

use crate::cli::RepairArgs;
use crate::commands::verify::events_lost;
use crate::failure::Failure;
use crate::{output, progress};

pub(crate) fn run(args: &RepairArgs) -> Result<(), Failure> {
    let bar = progress::bytes("reading", Some(0));
    let repair = Store::repair(&args.store, args.dry_run, |read, of| {
        bar.set_length(of);
        bar.set_position(read);
    });
    bar.finish_and_clear();
    let repair = repair?;
    if repair.files.is_empty() {
        let line = format!("sound: {} events, nothing to repair", repair.events);
        return output::write_line(&mut output::stdout(), &line);
    }
    let mut out = output::stdout();
    // What was repaired, or has to be, is in the exit code too.
    output::unless_closed(tell_files(&repair, args.dry_run, &mut out))?;
    let lost = events_lost(repair.files.iter().flat_map(|file| &file.damage));
    let files = match repair.files.len() {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    if args.dry_run {
        return Err(Failure::Damage(format!(
            "{files} of the store would be repaired: {lost} lost, {} stay; nothing was changed",
            repair.events
        )));
    }
    output::write_line(&mut out, &format!("repaired: {files}, {lost} lost, {} stay", repair.events))
}

/// Lists what is damaged, and what is kept of it.
fn tell_files(repair: &Repair, is_planned: bool, out: &mut impl Write) -> Result<(), Failure> {
    for file in &repair.files {
        for part in &file.damage {
            output::write_line(out, &part.to_string())?;
        }
        let (name, kept) = (file.file.display(), file.kept);
        let bytes = match (&file.quarantined, is_planned) {
            (Some(copy), false) => format!("its bytes are in {}", copy.display()),
            (Some(copy), true) => format!("its bytes would be kept in {}", copy.display()),
            (None, _) => "there is nothing of it to keep".to_owned(),
        };
        output::write_line(out, &format!("{name}: {kept} events kept, {bytes}"))?;
    }
    Ok(())
}
