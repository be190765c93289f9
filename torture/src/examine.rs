//! The process that looks at a store: it reads, verifies or repairs, and tells what it has seen. A store that kills it kills nobody else.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use tamias_store::io::{Directory, Disk};
use tamias_store::{
    Backup, Damage, Direction, Options, ReadMode, Reader, Removed, Repair, Request, Retention, Snapshot,
};

use crate::batch;
use crate::child;
use crate::columns;
use crate::plant::{Plant, Unreadable};
use crate::report::{Part, Report, Row};
use crate::writer::{self, Waits};

/// What is done with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Task {
    /// It is read, forwards and backwards, and verified.
    Read,
    /// It is opened for writing, read and verified.
    Open,
    /// It is repaired.
    Repair,
    /// Its oldest segment is removed, without opening it for more.
    Remove,
    /// It is backed up.
    Backup,
    /// It is restored.
    Restore,
    /// Whoever writes to it is asked to seal and to compact.
    Ask,
}

/// What an examining process is started with.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// What is done.
    #[arg(value_enum)]
    pub(crate) task: Task,
    /// The store's folder.
    pub(crate) folder: PathBuf,
    /// Reads block by block, not through maps.
    #[arg(long)]
    pub(crate) plain: bool,
    /// A fault on the way to the medium.
    #[arg(long, value_enum)]
    pub(crate) plant: Option<Plant>,
    /// A stretch that cannot be read, FILE:START:END.
    #[arg(long)]
    pub(crate) unreadable: Vec<Unreadable>,
    /// Where the backup goes, or is restored to.
    #[arg(long)]
    pub(crate) to: Option<PathBuf>,
    /// Waits, with the store open and its first block read, for a line on the standard input.
    #[arg(long)]
    pub(crate) pause: bool,
}

impl Arguments {
    fn options(&self) -> Options {
        let read_mode = if self.plain { ReadMode::Plain } else { Options::default().read_mode };
        // Nothing happens of itself while it looks.
        Options { read_mode, background: false, ..writer::options(Waits::Sync) }
    }

    fn directory(&self) -> Arc<dyn Directory> {
        let mut directory: Arc<dyn Directory> = Arc::new(Disk::new(&self.folder));
        if !self.unreadable.is_empty() {
            directory = Unreadable::over(directory, &self.unreadable);
        }
        match self.plant {
            Some(plant) => plant.over(directory),
            None => directory,
        }
    }

    /// Whether the store is reached through its own way to the disk only.
    fn is_direct(&self) -> bool {
        self.plant.is_none() && self.unreadable.is_empty()
    }
}

fn part(damage: &Damage) -> Part {
    Part {
        file: damage.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        start: damage.bytes.start,
        end: damage.bytes.end,
        events: damage.events,
        keys: damage.keys.map(|(first, last)| ((first.instant, first.arrival), (last.instant, last.arrival))),
        found: damage.found.to_string(),
    }
}

/// Reads everything that can be read, and verifies.
pub(crate) fn look(snapshot: &Snapshot, pause: bool, report: &mut Report) -> Result<(), String> {
    let mut groups = snapshot.groups(0..=u64::MAX, Direction::Ascending).skip_damaged();
    let mut first = true;
    for group in groups.by_ref() {
        for block in group.map_err(|error| error.to_string())? {
            for index in 0..block.len() {
                let event = block.key(index).and_then(|key| Ok((key, block.document(index)?)));
                match event {
                    Ok((Some(key), Some(document))) => report.rows.push(Row {
                        arrival: key.arrival,
                        instant: key.instant,
                        document: document.to_vec(),
                    }),
                    Ok(_) => return Err("a block lacks an event".into()),
                    Err(tamias_store::ReadError::Damaged(damage)) => {
                        report.left_out.push(part(&damage));
                        break;
                    }
                    Err(error) => return Err(error.to_string()),
                }
            }
        }
        if pause && std::mem::take(&mut first) {
            println!("note\tpaused");
            let _ = std::io::stdout().flush();
            let _ = std::io::stdin().lock().read_line(&mut String::new());
        }
    }
    report.left_out.extend(groups.left_out().iter().map(part));
    report.stopped = backwards(snapshot, report)?;
    report.rows.sort();
    let verified = snapshot.verify().map_err(|error| format!("verify: {error}"))?;
    report.verified.extend(verified.iter().map(part));
    Ok(())
}

/// A scan the other way round that leaves nothing out: the same rows, or what it stopped at.
fn backwards(snapshot: &Snapshot, report: &Report) -> Result<Option<String>, String> {
    let mut rows = Vec::new();
    for group in snapshot.groups(0..=u64::MAX, Direction::Descending) {
        let blocks = match group {
            Ok(blocks) => blocks,
            Err(error) => return Ok(Some(error.to_string())),
        };
        for block in blocks {
            for index in 0..block.len() {
                match (block.key(index), block.document(index)) {
                    (Ok(Some(key)), Ok(Some(document))) => rows.push((key.arrival, document.to_vec())),
                    (Err(error), _) | (_, Err(error)) => return Ok(Some(error.to_string())),
                    _ => return Err("a block lacks an event".into()),
                }
            }
        }
    }
    let forwards = report.rows.iter().map(|row| (row.arrival, row.document.clone()));
    let mut forwards: Vec<_> = forwards.collect();
    forwards.sort();
    rows.sort();
    // Damage may come between them, as when a file is cut meanwhile.
    if rows != forwards && report.left_out.is_empty() {
        return Err(format!("{} rows forwards, others backwards ({})", forwards.len(), rows.len()));
    }
    Ok(None)
}

fn sources(report: &mut Report, position: impl Fn(&str) -> Option<u64>, is_lost: impl Fn(&str) -> bool) {
    for number in 0..batch::SOURCES {
        let name = batch::source_name(number);
        if is_lost(&name) {
            report.lost_sources.push(name.clone());
        }
        if let Some(position) = position(&name) {
            report.sources.insert(name, position);
        }
    }
}

fn repair(arguments: &Arguments, options: &Options, report: &mut Report) -> Result<(), String> {
    let repaired = if arguments.is_direct() {
        Repair::run(&arguments.folder, options, columns::codec(arguments.plant), false, &mut |_, _| ())
    } else {
        Repair::run_on(arguments.directory(), options, columns::codec(arguments.plant), false, &mut |_, _| ())
    };
    let repaired = repaired.map_err(|error| error.to_string())?;
    for file in &repaired.files {
        let name = file.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        report.repaired.push((name, file.kept));
    }
    report.notes.push(format!("{} events after the repair", repaired.events));
    report.notes.extend(repaired.unnamed.iter().map(|file| format!("unnamed: {file:?}")));
    Ok(())
}

fn remove(arguments: &Arguments, report: &mut Report) -> Result<(), String> {
    // The oldest goes if the files have to have less than they have.
    let bytes: u64 = std::fs::read_dir(&arguments.folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "segment"))
        .filter_map(|path| Some(path.metadata().ok()?.len()))
        .sum();
    let retention = Retention { before: None, file_bytes_max: Some(bytes.saturating_sub(1)) };
    let removed = if arguments.is_direct() {
        Removed::from(&arguments.folder, retention, false)
    } else {
        Removed::from_on(arguments.directory(), retention, false)
    };
    let removed = removed.map_err(|error| error.to_string())?;
    report.removed = removed.events;
    Ok(())
}

fn examine(arguments: &Arguments, report: &mut Report) -> Result<(), String> {
    let options = arguments.options();
    match arguments.task {
        Task::Read => {
            let reader = if arguments.is_direct() {
                Reader::open(&arguments.folder, options, columns::codec(arguments.plant))
            } else {
                Reader::open_on(arguments.directory(), options, columns::codec(arguments.plant))
            };
            let reader = reader.map_err(|error| error.to_string())?;
            let snapshot = reader.snapshot().map_err(|error| error.to_string())?;
            look(&snapshot, arguments.pause, report)?;
            sources(report, |name| reader.source_position(name), |name| reader.is_source_lost(name));
            let unnamed = reader.unnamed().map_err(|error| error.to_string())?;
            report.notes.extend(unnamed.iter().map(|file| format!("unnamed: {file:?}")));
        }
        Task::Open => {
            let store = if arguments.is_direct() {
                tamias_store::Store::open(&arguments.folder, options, columns::codec(arguments.plant))
            } else {
                if let Some(plant) = arguments.plant {
                    plant.before_opening(&arguments.folder);
                }
                tamias_store::Store::open_on(arguments.directory(), options, columns::codec(arguments.plant))
            };
            let store = store.map_err(|error| error.to_string())?;
            look(&store.snapshot(), arguments.pause, report)?;
            sources(report, |name| store.source_position(name), |name| store.is_source_lost(name));
            report.notes.extend(store.leftovers().iter().map(ToString::to_string));
        }
        Task::Repair => repair(arguments, &options, report)?,
        Task::Remove => remove(arguments, report)?,
        Task::Backup | Task::Restore => {
            let (from, to) = (&arguments.folder, arguments.to.as_ref().ok_or("it lacks --to")?);
            let work = if arguments.task == Task::Backup { Backup::take } else { Backup::restore };
            let done = work(from, to, arguments.plain, &mut |_, _| ()).map_err(|error| error.to_string())?;
            report.notes.push(format!("{done:?}"));
        }
        Task::Ask => {
            for request in [Request::Seal, Request::Compact] {
                let reply = request.ask(&arguments.folder, child::LIMIT / 2, &mut |_| ());
                report.notes.push(format!("{:?}", reply.map_err(|error| error.to_string())?));
            }
        }
    }
    Ok(())
}

/// The examining process.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let mut report = Report::default();
    println!("note\tbegun");
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    report.error = examine(arguments, &mut report).err();
    print!("{}", report.print());
    std::io::stdout().flush().map_err(|error| error.to_string())
}
