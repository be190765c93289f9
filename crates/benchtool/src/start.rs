//! Where the reading of a source begins: by what the store knows of it, under this name or an earlier one.

use std::sync::Arc;

use tamias::Store;

use crate::anchor::{self, Anchor};
use crate::cli::IngestArgs;
use crate::failure::Failure;
use crate::instants::Zone;
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
    /// Why nothing of it is read: it has changed since it was read.
    pub(crate) refused: Option<String>,
}

/// Where the reading of a source begins.
pub(crate) fn of(args: &IngestArgs, store: &Store, source: &Source) -> Result<Start, Failure> {
    let mut options = format!("{:?}", (&args.time_key, &args.time_format, args.now));
    options += args.time_zone.as_ref().map_or("", Zone::name);
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
        let is_older = |other: &String| {
            other != name && !origin::is_of_rejects(other) && origin::path_of(other) == origin::path_of(name)
        };
        if !args.again && mended.is_empty() && store.source_names()?.iter().any(is_older) {
            return Err(Failure::Input(format!(
                "{}: an earlier version has read it, or another file was there; which of its lines are stored is unknown. Copy those that are \
                 not into a new file, or use --again to store all of them",
                source.name()
            )));
        }
        return Ok(Start { mended: Some(mended), ..beginning });
    }
    let Some(known) = known(store, source, name)? else { return Ok(beginning) };
    match (args.again, known.holds) {
        // What was rejected of the file before stays where it was saved.
        (true, holds) => Ok(Start { is_other: !holds, ..beginning }),
        (false, false) => Ok(Start {
            refused: Some(format!(
                "{} has changed since it was read up to byte {}, so that nobody knows what of it is stored; nothing of it was stored now. \
                 Use --again with this file alone to store all of it once more",
                source.name(),
                known.position
            )),
            is_other: true,
            ..beginning
        }),
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
    let look = |name: String, is_own: bool| -> Result<Option<Known>, Failure> {
        let Some(position) = store.source_position(&name)? else { return Ok(None) };
        let note = store.source_note(&name)?;
        let anchor = Anchor::split(&note).0;
        // What cannot be read is taken for its own, since whoever reads on will tell. Of another name only what was seen counts.
        let holds = (is_own || anchor.is_some())
            && anchor::holds(source.reader(Arc::default()), position, anchor, is_own);
        Ok(Some(Known { name, position, note, holds }))
    };
    let own = look(name.to_owned(), true)?;
    if own.as_ref().is_some_and(|own| own.holds) {
        return Ok(own);
    }
    let mut others = Vec::new();
    for other in store.source_names()?.into_iter().filter(|other| origin::begins_alike(name, other)) {
        others.extend(store.source_position(&other)?.map(|position| (position, other)));
    }
    // The first that holds is the latest: each look reads the source.
    others.sort_unstable_by(|one, other| other.cmp(one));
    for (_, other) in others {
        if let Some(found) = look(other, false)?.filter(|found| found.holds) {
            // `app.log.1.gz` beside `app.log.1` is that one packed; elsewhere it is another log.
            let is_beside = origin::path_of(name).starts_with(origin::path_of(&found.name));
            return Ok(if is_beside || !is_there(&found) { Some(found) } else { own });
        }
    }
    Ok(own)
}

/// Whether the file of this name is still where it was, as it was: then one that begins like it is a copy, or another log.
fn is_there(known: &Known) -> bool {
    let there = Source::all(&[origin::path_of(&known.name).into()]).unwrap_or_default();
    let anchor = Anchor::split(&known.note).0;
    there.iter().any(|file| {
        file.origin() == Some(known.name.as_str())
            && anchor::holds(file.reader(Arc::default()), known.position, anchor, true)
    })
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
