//! `benchtool repair`

use std::io::Write;

use tamias::{Damage, LeftFile, Rebuilt, RegainedFile, Repair, Store};

use crate::cli::RepairArgs;
use crate::commands::settings;
use crate::commands::verify::{events_lost, is_any_lost};
use crate::failure::Failure;
use crate::units::counted;
use crate::{output, progress};

pub(crate) fn run(args: &RepairArgs) -> Result<(), Failure> {
    let bar = progress::bytes("reading", Some(0));
    let repair = Store::repair(&args.store, args.dry_run, |read, of| {
        bar.set_length(of);
        bar.set_position(read);
    });
    bar.finish_and_clear();
    let repair = repair?;
    let mut out = output::stdout();
    // What was repaired, or has to be, is in the exit code too.
    output::unless_closed(tell_files(&repair, args.dry_run, &mut out))?;
    if repair.rebuilt.is_some() && !args.dry_run {
        let settings = settings::text(&Store::open_read_only(&args.store)?.housekeeping()?.settings);
        let line =
            format!("a new list may lack the store's settings, which are now {settings}; see `settings`");
        output::unless_closed(output::write_line(&mut out, &line))?;
    }
    let mut gone = None;
    let line = if is_sound(&repair) {
        format!("sound: {} events, nothing to repair", repair.events)
    } else {
        let parts: Vec<Damage> = repair.unnamed.iter().flat_map(lost_parts).collect();
        let lost_parts = || repair.files.iter().flat_map(|file| &file.damage).chain(&parts);
        let back_from_others = repair.files.iter().map(|file| file.regained).sum();
        let lost = events_lost(lost_parts(), back_from_others);
        let files = counted((repair.files.len() + repair.unnamed.len()) as u64, "file");
        if args.dry_run {
            return Err(Failure::Damage(format!(
                "{files} of the store would be repaired: {lost} lost, {} stay; nothing was changed",
                repair.events
            )));
        }
        let regained: u64 = repair.unnamed.iter().map(|file| file.regained).sum();
        let back = match regained {
            0 => String::new(),
            events => {
                format!(" with damaged or missing ones, {events} came back from files that were not named")
            }
        };
        gone = is_any_lost(lost_parts(), back_from_others).then(|| lost.clone());
        format!("repaired: {files}, {lost} lost{back}, {} stay", repair.events)
    };
    match repair.left.len() as u64 {
        0 => {
            let told = output::write_line(&mut out, &line);
            let Some(gone) = gone else { return told };
            output::unless_closed(told)?;
            Err(Failure::Damage(format!(
                "the store is sound again, but {gone} lost; a backup may have what is missing"
            )))
        }
        left => {
            if !is_sound(&repair) {
                output::unless_closed(output::write_line(&mut out, &line))?;
            }
            let events = repair.events;
            let left = counted(left, "file");
            Err(Failure::Damage(format!(
                "{left} left unrepaired; events may be missing from the {events} that the store has"
            )))
        }
    }
}

/// Whether nothing was repaired, or would be.
fn is_sound(repair: &Repair) -> bool {
    repair.files.is_empty() && repair.unnamed.is_empty() && repair.rebuilt.is_none()
}

/// Lists what is damaged, and what is kept of it.
fn tell_files(repair: &Repair, is_planned: bool, out: &mut impl Write) -> Result<(), Failure> {
    for file in &repair.files {
        for part in &file.damage {
            output::write_line(out, &part.to_string())?;
        }
        let (name, kept) = (file.file.display(), file.kept);
        let bytes = match (&file.quarantined, is_planned) {
            (Some(copy), false) => {
                format!("its bytes are in {}; to undo this, move it back and repair again", copy.display())
            }
            (Some(copy), true) => format!("its bytes would be kept in {}", copy.display()),
            (None, _) => "there is nothing of it to keep".to_owned(),
        };
        let back = match file.regained {
            0 => String::new(),
            events => format!("{events} of those lost came back from other files, "),
        };
        output::write_line(out, &format!("{name}: {kept} events kept, {back}{bytes}"))?;
    }
    for file in &repair.unnamed {
        for part in lost_parts(file) {
            output::write_line(out, &part.to_string())?;
        }
        output::write_line(out, &unnamed_line(file, is_planned))?;
    }
    for LeftFile { file, reason } in &repair.left {
        output::write_line(out, &format!("left as it is: {}: {reason}", file.display()))?;
    }
    if let Some(why) = repair.rebuilt {
        let why = match why {
            Rebuilt::Missing => "was missing",
            Rebuilt::Damaged => "was damaged",
            Rebuilt::Stale => "was not the newest one there was",
        };
        let line = format!("the list of the store's files {why}: a new one is made from the files");
        output::write_line(out, &line)?;
    }
    if repair.erased_again > 0 {
        let would = if is_planned { "would be" } else { "are" };
        let events = counted(repair.erased_again, "event");
        let line = format!(
            "{events} erased before, and back with older files, {would} deleted again; `delete` without a condition erases them"
        );
        output::write_line(out, &line)?;
    }
    for name in &repair.lost_sources {
        let source = if name.is_empty() { "any other source" } else { name };
        let line = format!("unknown how much of {source} is stored: `ingest` needs --resume or --again");
        output::write_line(out, &line)?;
    }
    Ok(())
}

/// The damaged parts of a file that the list did not name.
fn lost_parts(file: &RegainedFile) -> impl Iterator<Item = Damage> {
    file.damage.iter().cloned()
}

/// A file that the list did not name, and what becomes of it.
fn unnamed_line(file: &RegainedFile, is_planned: bool) -> String {
    let RegainedFile { file, regained, renumbered, known, quarantined, is_foreign, .. } = file;
    let would = if is_planned { "would be" } else { "are" };
    if let (true, Some(kept)) = (is_foreign, quarantined) {
        let would = if is_planned { "would be" } else { "is" };
        return format!("{}: it is not this store's; it {would} in {}", file.display(), kept.display());
    }
    let line =
        format!("{}: it was not named, {regained} events of it {would} in the store again", file.display());
    let line = match renumbered {
        0 => line,
        events => format!("{line} ({events} with new ids, as other events have theirs)"),
    };
    match quarantined {
        None => line,
        Some(kept) => {
            format!("{line}, {known} others are there already; its bytes {would} in {}", kept.display())
        }
    }
}
