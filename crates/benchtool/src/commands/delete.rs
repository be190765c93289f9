//! `benchtool delete`

use tamias::{
    DELETED_MAX, Deleted, Erased, EventId, Options, Parameters, Reply, Request, Statement, Store,
    delete_in_rounds,
};

use crate::cli::DeleteArgs;
use crate::commands::receipts::text;
use crate::commands::{asked, existing, query};
use crate::failure::Failure;
use crate::tell::tell;
use crate::units::{counted, printable};
use crate::{output, progress, screen, signals};

pub(crate) fn run(args: &DeleteArgs) -> Result<(), Failure> {
    let mut parameters = Parameters::new();
    query::set_zone(&mut parameters, &args.time_zone)?;
    let line = |line: &str| output::write_line(&mut output::stdout(), line);
    // Whether anybody hears of it makes no difference to what is done.
    let mut told = Ok(());
    let mut nothing = "erased: nothing was left to erase";
    if let Some(condition) = &args.condition {
        query::condition(Some(condition), &parameters)?;
        let (found, warnings) = count(args, condition, &parameters)?;
        query::tell_warnings(&warnings);
        if args.dry_run {
            return line(&format!("would be deleted: {}", counted(found, "event")));
        }
        // `CustomerID is null` is true of every event where the key is `CustomerId`.
        if found > 0 && !warnings.is_empty() && !args.force {
            return Err(Failure::Usage(format!(
                "nothing was deleted: {} would go by a condition of which there are warnings; correct it, or delete them with --force",
                counted(found, "event")
            )));
        }
        let Deleted { events, missed } = delete(args, condition, &parameters)?;
        if events == 0 && missed == 0 {
            nothing = "no event meets the condition";
        }
        told = line(&format!("deleted: {}", counted(events, "event")));
        if events > 0 && screen::Screen::of_stdout().is_terminal() {
            tell!("no query returns them any more; erasing them from the files, which may take a while");
        }
        if missed > 0 {
            let found = format!(
                "{missed} events lie in a damaged log, and stay: repair the store, then delete again"
            );
            return Err(Failure::Damage(found));
        }
    }
    let Erased { receipt, held, damaged, unreadable } = erase(args)?;
    if let Some(receipt) = &receipt {
        return told.and_then(|()| line(&format!("erased: {}", text(receipt))));
    }
    if signals::requested() {
        return Err(Failure::Interrupted(
            "interrupted before all files were rewritten: no query returns the deleted events, but some are still in files, and queries are slow there; \
             run this again without --where to finish"
                .to_owned(),
        ));
    }
    let names = |files: &[std::path::PathBuf]| {
        let names = files.iter().map(|file| printable(&file.display().to_string()).into_owned());
        names.collect::<Vec<_>>().join(", ")
    };
    if !damaged.is_empty() {
        let found =
            format!("not erased yet: {} is damaged; repair the store, then run this again", names(&damaged));
        return Err(Failure::Damage(found));
    }
    if !unreadable.is_empty() {
        let found = format!(
            "not erased yet: nobody can tell whose {} is; move it out of the folder, then run this again without --where",
            names(&unreadable)
        );
        return Err(Failure::Damage(found));
    }
    if !held.is_empty() {
        let found = "not erased yet: another process reads, or nothing names, ";
        let remedy = "; run this again without --where when it has ended, or after `repair`";
        return Err(Failure::Io(format!("{found}{}{remedy}", names(&held))));
    }
    told.and_then(|()| line(nothing))
}

/// How many events meet the condition, and what may mislead about it.
fn count(args: &DeleteArgs, condition: &str, parameters: &Parameters) -> Result<(u64, Vec<String>), Failure> {
    let text = format!("select count(*) from stream where ({condition}\n)");
    let counting = Statement::parse(&text)?.bind(parameters)?;
    let store = Store::open_read_only(&args.store)?;
    let mut rows = store.run(&counting)?;
    let found = query::count(&mut rows)?;
    let warnings = query::warnings(&rows, &store, condition, &counting)?;
    Ok((found, warnings))
}

/// Deletes what meets the condition, some at a time, or lets the process do it that writes.
fn delete(args: &DeleteArgs, condition: &str, parameters: &Parameters) -> Result<Deleted, Failure> {
    let matching =
        |events_max| Ok(Store::open_read_only(&args.store)?.matching(condition, parameters, events_max)?);
    let delete = |ids: &[EventId]| {
        if ids.is_empty() {
            return Ok(Deleted::default());
        }
        match asked(&args.store, Request::Delete(ids.to_vec()))? {
            Some(Reply::Deleted(deleted)) => Ok(deleted),
            _ => {
                let store = existing(&args.store, quiet(args))?;
                // A round is all or nothing.
                signals::catch()?;
                let deleted = store.delete_events(ids)?;
                match signals::requested() {
                    false => Ok(deleted),
                    true => Err(Failure::Interrupted(
                        "interrupted before all events were deleted; run the same command again".to_owned(),
                    )),
                }
            }
        }
    };
    delete_in_rounds(DELETED_MAX, matching, delete, || erase(args).map(drop))
}

fn erase(args: &DeleteArgs) -> Result<Erased, Failure> {
    match asked(&args.store, Request::Erase)? {
        Some(Reply::Erased(erased)) => Ok(erased),
        _ => {
            let store = existing(&args.store, quiet(args))?;
            signals::catch()?;
            // Each block may be read, written and checked; fewer where not all files have deleted events.
            let blocks: u64 = store.info()?.segments.iter().map(|segment| segment.blocks).sum();
            let share = progress::Share::new("erasing from files, then checking all of them", 3 * blocks);
            let may_go_on = || {
                share.step();
                !signals::requested()
            };
            Ok(store.erase_while(&may_go_on)?)
        }
    }
}

/// Nothing but what is asked for.
fn quiet(args: &DeleteArgs) -> Options {
    Options { background: false, ..args.sealing.options() }
}
