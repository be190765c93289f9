//! The store at one moment, for several queries.

use std::path::PathBuf;
use std::sync::Arc;

use tamias_query::{Instant, Query, QueryError, Rows, RunOptions};
use tamias_store::Groups;

use crate::LeftOut;
use crate::column_cache::ColumnCache;
use crate::damage::instant;
use crate::source::SnapshotSource;

/// The events of a store at [one moment](crate::Store::snapshot): it sees whole batches only, and no later changes. Cheap
/// to clone, for any number of threads and queries.
///
/// A snapshot keeps all files that it may still read on disk, even those that are merged or removed meanwhile: drop it
/// when you no longer need it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) events: tamias_store::Snapshot,
    pub(crate) cache: Arc<ColumnCache>,
}

/// What a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The number of events.
    pub events: u64,
    /// The total size of the minified documents in bytes, without line feeds.
    pub bytes: u64,
    /// The instants of the first and the last event; `None` where there are no events.
    pub time_range: Option<(Instant, Instant)>,
    /// The files that hold the events, in the order in which they were sealed.
    pub segments: Vec<Segment>,
}

/// A file of events, or the events that are not sealed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The file; `None` for the events that are in the log only.
    pub file: Option<PathBuf>,
    /// The size in bytes of the file, or of the logs.
    pub file_bytes: u64,
    /// The number of events.
    pub events: u64,
    /// The total size of their documents in bytes, without line feeds.
    pub bytes: u64,
    /// The number of blocks. A block of text has about one megabyte, one in columns up to eight.
    pub blocks: u64,
    /// How many of the blocks are in columns.
    pub column_blocks: u64,
    /// The instants of the first and the last event.
    pub time_range: (Instant, Instant),
}

impl Snapshot {
    /// Runs a query. Rows are computed as the iterator is advanced.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let store = tamias::Store::open(folder.path())?;
    /// # store.append([r#"{"@t":"2024-05-29T10:56:01Z","Elapsed":12.5}"#])?;
    /// let snapshot = store.snapshot()?;
    /// let all = snapshot.query("select count(*) from stream")?;
    /// let slow = snapshot.query("select count(*) from stream where Elapsed > 200")?; // of the same events
    /// # assert_eq!((all.count(), slow.count()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the query is malformed, with the place.
    pub fn query(&self, text: &str) -> Result<Rows, QueryError> {
        Ok(self.run(&Query::prepare(text)?, RunOptions::default()))
    }

    /// Runs a query that was [prepared](Query::prepare) before.
    pub fn run(&self, query: &Query, options: RunOptions) -> Rows {
        query.run_with(Box::new(self.source(query, &options)), options)
    }

    /// Runs a prepared query and skips damaged parts of the store, where [`run`](Snapshot::run) would fail. The second result
    /// lists what was skipped: the answer may be wrong without it.
    pub fn run_past_damage(&self, query: &Query, options: RunOptions) -> (Rows, LeftOut) {
        let left_out = LeftOut::default();
        let source = self.source(query, &options).past_damage(left_out.clone());
        (query.run_with(Box::new(source), options), left_out)
    }

    /// What the snapshot holds. Takes time linear in the number of files, none of which is read.
    pub fn info(&self) -> Info {
        let segments = self.events.segments().into_iter().map(|segment| Segment {
            file: segment.file,
            file_bytes: segment.file_bytes,
            events: segment.events,
            bytes: segment.document_bytes,
            blocks: segment.blocks,
            column_blocks: segment.column_blocks,
            time_range: (instant(segment.instants.0), instant(segment.instants.1)),
        });
        Info {
            events: self.events.events(),
            bytes: self.events.document_bytes(),
            time_range: self.events.time_range().map(|(first, last)| (instant(first), instant(last))),
            segments: segments.collect(),
        }
    }

    fn source(&self, query: &Query, options: &RunOptions) -> SnapshotSource {
        SnapshotSource::whole(self.groups(query), self.cache.clone(), options.memory_bytes)
    }

    fn groups(&self, query: &Query) -> Groups {
        let direction = match query.direction() {
            tamias_query::Direction::Ascending => tamias_store::Direction::Ascending,
            tamias_query::Direction::Descending => tamias_store::Direction::Descending,
        };
        self.events.groups(query.instants(), direction)
    }
}
