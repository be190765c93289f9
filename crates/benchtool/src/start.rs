//! Where the reading of a source begins: by what the store knows of it, under this name or an earlier one.

use std::sync::Arc;

use tamias::Store;

use crate::anchor::{self, Anchor};
use crate::cli::IngestArgs;
use crate::failure::Failure;
use crate::mended::Mended;
use crate::origin;
use crate::rejected::Rejected;
use crate::source::Source;
use crate::tell::tell;

/// Where the reading of a source begins.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// `None` where nothing of it was stored before.
    pub(crate) position: Option<u64>,
    /// What lies before it, if that is known.
    pub(crate) anchor: Option<Anchor>,
    /// What earlier runs have rejected before it.
    pub(crate) rejected: Rejected,
    /// The name under which the store knows it, if it had another one.
    pub(crate) before: Option<String>,
    /// Of a file of rejected lines, which of them are stored.
    pub(crate) mended: Option<Mended>,
    /// Whether another file is in its place than was read before: what was rejected of that one is not read again.
    pub(crate) is_other: bool,
}

/// Where the reading of a source begins.
pub(crate) fn of(args: &IngestArgs, store: &Store, source: &Source) -> Result<Start, Failure> {
    let options = format!("{:?}", (&args.time_key, &args.time_format, args.now));
    let options = crc32fast::hash(options.as_bytes());
    let rejected = Rejected::new(&[], options, false);
    let beginning = Start { rejected, ..Start::default() };
    let Some(name) = source.origin() else { return Ok(beginning) };
    if !args.again && store.is_source_lost(name)? {
        return Err(lost(source, store.source_position(name)?));
    }
    if origin::is_of_rejects(name) {
        let mended = match args.again {
            true => Mended::default(),
            false => Mended::read(|number| {
                store.source_note(&Mended::name(name, number)).map(|note| note.to_vec())
            })?,
        };
        return Ok(Start { mended: Some(mended), ..beginning });
    }
    let Some(known) = known(store, source, name)? else { return Ok(beginning) };
    match (args.again, known.holds) {
        // What was rejected of the file before stays where it was saved.
        (true, holds) => Ok(Start { is_other: !holds, ..beginning }),
        (false, false) => Err(Failure::Input(format!(
            "{} has changed since it was read up to byte {}, so that nobody knows what of it is stored; nothing was stored now. Use --again to \
             store all of it once more",
            source.name(),
            known.position
        ))),
        (false, true) => {
            let (anchor, rejected) = Anchor::split(&known.note);
            let rejected = Rejected::new(rejected, options, args.rejects.is_some());
            let before = (known.name != name).then_some(known.name);
            if let Some(before) = &before {
                let (now, before, position) = (source.name(), origin::path_of(before), known.position);
                tell!("{now}: begins like {before}, which is stored up to byte {position}, and continues it");
            }
            Ok(Start { position: Some(known.position), anchor, rejected, before, ..Start::default() })
        }
    }
}

/// What the store knows of a source.
struct Known {
    name: String,
    position: u64,
    note: Arc<[u8]>,
    /// Whether the source has what was read of it.
    holds: bool,
}

/// What the store knows of a source, under its own name or, if it was moved or packed since, as logs are that rotate, under its earlier one.
fn known(store: &Store, source: &Source, name: &str) -> Result<Option<Known>, Failure> {
    let look = |name: String| -> Result<Option<Known>, Failure> {
        let Some(position) = store.source_position(&name)? else { return Ok(None) };
        let note = store.source_note(&name)?;
        let holds = anchor::holds(source.reader(Arc::default()), position, Anchor::split(&note).0);
        Ok(Some(Known { name, position, note, holds }))
    };
    if let Some(known) = look(name.to_owned())? {
        return Ok(Some(known));
    }
    let mut latest: Option<Known> = None;
    for other in store.source_names()?.into_iter().filter(|other| origin::begins_alike(name, other)) {
        let found = look(other)?.filter(|found| found.holds);
        let is_later = |found: &Known| latest.as_ref().is_none_or(|latest| latest.position < found.position);
        if let Some(found) = found.filter(is_later) {
            latest = Some(found);
        }
    }
    Ok(latest)
}

/// That nobody knows how much of a source is stored.
fn lost(source: &Source, position: Option<u64>) -> Failure {
    let known = match position {
        Some(position) => format!("what comes after byte {position}"),
        None => "all of it".to_owned(),
    };
    Failure::Input(format!(
        "{}: unknown how much of it is stored, because a list of the store's files was lost; `repair` may find out. Use --resume to \
         store {known}, or --again to store all of it; some events may then be stored twice",
        source.name()
    ))
}
