//! Checks beyond checksums: that each document is valid, and that statistics agree with their documents.

use std::fmt;
use std::path::{Path, PathBuf};

use tamias_json::validate::{Limits, minify_object};
use tamias_query::{Instant, check_statistics, join_statistics, knows_statistics};
use tamias_store::{Block, Direction, Parts, Times};

use crate::codec::FILTER;
use crate::damage::instant;
use crate::{EventId, ReadError, Store};

/// A block whose checksums are right but whose content is wrong: its statistics contradict its documents, or a
/// document is not valid. Queries may return wrong results there. The cause is a bug in the program that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    file: Option<PathBuf>,
    events: u64,
    time_range: (Instant, Instant),
    what: String,
}

impl Contradiction {
    /// The file that holds the block; `None` for events that are in the log only.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The number of events in the block.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The instants of the block's first and last event.
    pub fn time_range(&self) -> (Instant, Instant) {
        self.time_range
    }

    /// A description of what is wrong.
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contradiction { file, events, time_range: (first, last), what } = self;
        match file {
            None => f.write_str("the log")?,
            Some(file) => write!(f, "{}", file.display())?,
        }
        let events = if *events == 1 { "1 event".to_owned() } else { format!("{events} events") };
        write!(f, ", block of {events} from {first} to {last}: {what}")
    }
}

impl Store {
    /// Reads the whole store and checks its content rather than its checksums: that each document is
    /// minified JSON, as the store writes it, and that each block's statistics agree with its documents. Parts that
    /// [`verify`](Store::verify) reports as damaged are skipped. Takes many times as long as `verify`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let store = tamias::Store::open(folder.path())?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z","Elapsed":12.5}"#])?;
    /// store.seal()?;
    /// assert!(store.verify()?.is_empty() && store.verify_deep()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be opened, or the operating system reports an error while it is read.
    pub fn verify_deep(&self) -> Result<Vec<Contradiction>, ReadError> {
        let snapshot = self.snapshot()?.events;
        let mut found = Vec::new();
        for group in snapshot.groups(0..=u64::MAX, Direction::Ascending).skip_damaged() {
            for block in group.map_err(ReadError::of_store)? {
                let what = match contradiction(&block) {
                    Err(tamias_store::ReadError::Damaged(_)) => continue,
                    what => what.map_err(ReadError::of_store)?,
                };
                let times = block.times().map_err(ReadError::of_store)?;
                found.extend(what.and_then(|what| placed(&block, times, what)));
            }
        }
        Ok(found)
    }
}

/// The first thing that is wrong with a block.
fn contradiction(block: &Block) -> Result<Option<String>, tamias_store::ReadError> {
    let limits = Limits { bytes_max: usize::MAX, ..Limits::default() };
    let mut minified = Vec::new();
    let (times, documents) = (block.times()?, block.documents()?);
    for index in 0..block.len() {
        let document = documents.get(index).unwrap_or_default();
        minified.clear();
        let what = match minify_object(document, &limits, &mut minified) {
            Err(error) => error.to_string(),
            Ok(()) if minified != document => "it is not minified".to_owned(),
            Ok(()) => continue,
        };
        let id = times.key(index).map(|key| EventId::new(instant(key.instant), key.arrival));
        let id = id.map_or(String::new(), |id| id.to_string());
        return Ok(Some(format!("the document of event {id} is none that the store takes: {what}")));
    }
    // Of those of a later version nothing is known.
    let Some(statistics) = block.statistics().filter(|statistics| knows_statistics(statistics)) else {
        return Ok(None);
    };
    // One that is damaged is not relied on.
    let filter = match block.columns().map(|parts| parts.part(FILTER)) {
        Some(Ok(filter)) => filter,
        None | Some(Err(tamias_store::ReadError::Damaged(_))) => None,
        Some(Err(error)) => return Err(error),
    };
    let joined =
        filter.map_or_else(|| Some(statistics.to_vec()), |filter| join_statistics(statistics, &filter));
    let Some(joined) = joined else {
        return Ok(Some(
            "its statistics are false: their filter is not the one that they tell of".to_owned(),
        ));
    };
    let checked = check_statistics(documents.bytes, documents.ends, &joined);
    Ok(checked.err().map(|error| format!("its statistics are false: {error}")))
}

/// Adds where the block is.
fn placed(block: &Block, times: Times<'_>, what: String) -> Option<Contradiction> {
    let (first, last) = (times.key(0)?.instant, times.key(block.len() - 1)?.instant);
    let time_range = (instant(first), instant(last));
    Some(Contradiction { file: block.file(), events: block.len() as u64, time_range, what })
}
