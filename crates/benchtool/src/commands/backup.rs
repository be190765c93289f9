//! `benchtool backup` and `benchtool restore`

use tamias::{Backup, BackupError, Store};

use crate::cli::{BackupArgs, RestoreArgs};
use crate::failure::Failure;
use crate::output_file::check_outside;
use crate::units::counted;
use crate::{output, progress};

pub(crate) fn run(args: &BackupArgs) -> Result<(), Failure> {
    super::warn_of_unnamed(&Store::open_read_only(&args.store)?)?;
    check_outside(&args.destination, &args.store)?;
    let done = with_bar("copying", |tell| Store::backup(&args.store, &args.destination, args.copy, tell))?;
    let line = format!("backed up: {}", figures(&done));
    output::write_line(&mut output::stdout(), &line)?;
    whole(&done, "the backup")
}

/// Names what could not be copied. All else was.
fn whole(backup: &Backup, copy: &str) -> Result<(), Failure> {
    if backup.damage.is_empty() {
        return Ok(());
    }
    let mut out = output::stdout();
    backup.damage.iter().try_for_each(|damage| output::write_line(&mut out, &format!("{damage:#}")))?;
    let parts = counted(backup.damage.len() as u64, "part");
    Err(Failure::Damage(format!(
        "{parts} of the files could not be read, and {copy} lacks them; it has everything else. `verify` of it names the events that are lost, \
         `repair` removes what is damaged"
    )))
}

pub(crate) fn restore(args: &RestoreArgs) -> Result<(), Failure> {
    check_outside(&args.store, &args.backup)?;
    let done = with_bar("copying", |tell| Store::restore(&args.backup, &args.store, args.copy, tell))?;
    let events = Store::open_read_only(&args.store)?.info()?.events;
    let line = format!("restored: {}; {}", counted(events, "event"), figures(&done));
    output::write_line(&mut output::stdout(), &line)?;
    whole(&done, "the restored store")
}

fn with_bar(
    what: &str,
    work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<Backup, BackupError>,
) -> Result<Backup, BackupError> {
    let bar = progress::bytes(what, Some(0));
    let done = work(&mut |copied, of| {
        bar.set_length(of);
        bar.set_position(copied);
    });
    bar.finish_and_clear();
    done
}

fn figures(backup: &Backup) -> String {
    let Backup { kept, linked, copied, copied_bytes, sealed_events: _, damage: _ } = backup;
    format!(
        "{} copied, {linked} linked, {kept} already there; {copied_bytes} bytes copied",
        counted(*copied, "file")
    )
}
