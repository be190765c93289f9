//! The store as a program sees it: open, append, query.

use std::path::Path;
use std::sync::Arc;

use tamias_query::{Query, QueryError, Rows, RunOptions};
use tamias_store::{Leftover, OpenError, Options, SealError, SourcePosition, Unnamed};

use crate::codec::ShreddedBlocks;
use crate::column_cache::ColumnCache;
use crate::snapshot::Snapshot;
use crate::{Batch, EventFormat, Info, LeftOut, Rejection};

/// A store of events: a folder of plain files. A handle, cheap to clone, for any number of threads.
///
/// One process may write to a store at a time; any number may read it meanwhile.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) access: Access,
    /// Decoded columns, kept for later queries.
    cache: Arc<ColumnCache>,
}

#[derive(Clone, Debug)]
pub(crate) enum Access {
    Writer(tamias_store::Store),
    Reader(Arc<tamias_store::Reader>),
}

/// The default size limit of the cache that queries share: 256 MiB. It holds decoded columns, what was found in text, and the keys of groups.
/// [`with_column_cache`](Store::with_column_cache) sets another limit. The cache counts towards a query's
/// [memory limit](RunOptions::memory_bytes), and shrinks when the query needs the memory itself.
pub const COLUMN_CACHE_BYTES: usize = 256 << 20;

/// A batch of at least this many bytes is written straight into sealed segments: writing it to the log first would write it twice.
const BULK_BYTES_MIN: usize = 32 << 20;

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of events stored.
    pub events: u64,
    /// The arrival number of the first event; the others are numbered consecutively after it.
    pub first_arrival: u64,
}

impl Store {
    /// Opens the store in the folder `path` for reading and writing, and creates it if there is none. After a crash the store is
    /// recovered first.
    ///
    /// # Errors
    /// If another process is writing to the store, the folder cannot be read or written, or it is not a store of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        Store::open_with(path, Options::default())
    }

    /// [Opens](Store::open) a store with options other than the defaults, such as its durability, how it reads, and the maximum
    /// size of its parts. The options are not stored: a store may be opened with different ones each time.
    ///
    /// ```
    /// use tamias::{Durability, Options, Store};
    /// # let folder = tempfile::tempdir()?;
    /// let second = std::time::Duration::from_secs(1);
    /// let options = Options { durability: Durability::Interval(second), ..Options::default() };
    /// let store = Store::open_with(folder.path(), options)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`open`](Store::open), and if an option is out of range.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Store, OpenError> {
        let store = tamias_store::Store::open(path.as_ref(), options, Arc::new(ShreddedBlocks::default()))?;
        Ok(Store::of(Access::Writer(store)))
    }

    /// Opens the store in the folder `path`, which must exist, for reading only. Another process may be writing to it. Each
    /// query sees the events that are stored when it starts.
    ///
    /// # Errors
    /// If there is no store, or it cannot be read.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        Store::open_read_only_with(path, Options::default())
    }

    /// [Opens](Store::open_read_only) a store for reading only, with options other than the defaults.
    ///
    /// # Errors
    /// As for [`open_read_only`](Store::open_read_only), and if an option is out of range.
    pub fn open_read_only_with(path: impl AsRef<Path>, options: Options) -> Result<Store, OpenError> {
        let reader = tamias_store::Reader::open(path.as_ref(), options, Arc::new(ShreddedBlocks::default()))?;
        Ok(Store::of(Access::Reader(Arc::new(reader))))
    }

    fn of(access: Access) -> Store {
        Store { access, cache: Arc::new(ColumnCache::new(COLUMN_CACHE_BYTES)) }
    }

    /// Sets the size limit in bytes of the cache that later queries reuse: decoded columns, and of text what was found in it: columns of
    /// the paths that are asked for again, and the positions of keys (eight bytes for each event and key). Where the limit is reached, decoded columns are first
    /// kept in fewer bytes, which costs later queries a little time, and then those go that were used longest ago. More than a query's
    /// [memory limit](RunOptions::memory_bytes) is of no use to that query: raise both. It applies to the returned handle and its
    /// clones. The default is [`COLUMN_CACHE_BYTES`].
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let store = tamias::Store::open(folder.path())?.with_column_cache(64 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_column_cache(self, bytes_max: usize) -> Store {
        Store { cache: Arc::new(ColumnCache::new(bytes_max)), ..self }
    }

    /// Stores events in the compact log event format (CLEF): JSON objects with their time in `@t`. Either all of them are stored or none.
    /// When it returns, they are on disk, unless
    /// the store was opened with another [durability](crate::Durability). Events with the same time keep the order in which they were given.
    ///
    /// # Errors
    /// If one of them is not a valid event, the store is open for reading only, or it cannot be written.
    pub fn append<I>(&self, events: I) -> Result<Appended, AppendError>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let format = EventFormat::clef();
        let mut batch = Batch::new();
        for (index, event) in events.into_iter().enumerate() {
            batch
                .push(event.as_ref(), &format)
                .map_err(|rejection| AppendError::Rejected { index, rejection })?;
        }
        self.append_batch(&mut batch)
    }

    /// Stores the events of a batch, all or none, and empties the batch. When it returns, they are on disk.
    ///
    /// # Errors
    /// If the store is open for reading only, or cannot be written; the batch then keeps its events.
    pub fn append_batch(&self, batch: &mut Batch) -> Result<Appended, AppendError> {
        self.append_with(batch, None)
    }

    /// Stores a batch as [`append_batch`](Store::append_batch) does, and atomically with it the position that its source has
    /// reached: after a crash or power loss either both are stored or neither is. A program that continues at the [`source_position`] after a crash
    /// repeats nothing and loses nothing. The batch may be empty, to move the position only.
    ///
    /// ```
    /// use tamias::{Batch, EventFormat, SourcePosition, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// let lines = "{\"@t\":\"2024-05-29T10:56:01Z\"}\n{\"@t\":\"2024-05-29T10:56:02Z\"}\n";
    ///
    /// let mut batch = Batch::new();
    /// let mut position = store.source_position("app.log")?.unwrap_or(0);
    /// for line in lines[position as usize..].lines() {
    ///     batch.push(line.as_bytes(), &EventFormat::clef())?;
    ///     position += line.len() as u64 + 1;
    /// }
    /// store.append_batch_from(&mut batch, SourcePosition { name: "app.log", position, note: &[] })?;
    /// assert_eq!(store.source_position("app.log")?, Some(lines.len() as u64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`append_batch`](Store::append_batch), and if the source's name is empty or longer than 4096 bytes, or its note longer than 32 KiB.
    ///
    /// [`source_position`]: Store::source_position
    pub fn append_batch_from(
        &self,
        batch: &mut Batch,
        source: SourcePosition<'_>,
    ) -> Result<Appended, AppendError> {
        if source.name.is_empty() {
            return Err(AppendError::SourceUnnamed);
        }
        self.append_with(batch, Some(source))
    }

    fn append_with(
        &self,
        batch: &mut Batch,
        source: Option<SourcePosition<'_>>,
    ) -> Result<Appended, AppendError> {
        let store = self.writer()?;
        let events = batch.events();
        let arrivals = match batch.bytes() {
            0..BULK_BYTES_MIN => store.append_from(&events, source)?,
            _ => store.append_sealed(&events, source)?,
        };
        batch.clear();
        Ok(Appended { events: arrivals.end - arrivals.start, first_arrival: arrivals.start })
    }

    /// The position stored with the last batch [from this source](Store::append_batch_from); `None` if no batch named it.
    /// On a store that is open for reading only, this is what the writer has stored so far.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn source_position(&self, name: &str) -> Result<Option<u64>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.source_position(name)),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.source_position(name))
            }
        }
    }

    /// The [note](SourcePosition::note) stored with the last batch from this source; empty if there is none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn source_note(&self, name: &str) -> Result<Arc<[u8]>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.source_note(name)),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.source_note(name))
            }
        }
    }

    /// The names of all sources that batches were [stored from](Store::append_batch_from), sorted. Useful to recognise a source that
    /// was renamed. Takes time linear in their number.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn source_names(&self) -> Result<Vec<String>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.source_names()),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.source_names())
            }
        }
    }

    /// Whether the position of this source is uncertain. It is after the manifest (the list of the store's files) was lost, or replaced by an
    /// older one: the store may hold events from the source beyond its recorded position, and a program that continues at
    /// [`source_position`](Store::source_position) may store some events twice. The next batch that names the source clears this.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn is_source_lost(&self, name: &str) -> Result<bool, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.is_source_lost(name)),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.is_source_lost(name))
            }
        }
    }

    /// Accepts the recorded positions of all sources as correct, including those that were [lost](Store::is_source_lost). Call it once
    /// you have checked them.
    ///
    /// # Errors
    /// If the store is open for reading only, or it cannot be written.
    pub fn accept_source_positions(&self) -> Result<(), AppendError> {
        self.writer()?.accept_source_positions().map_err(AppendError::of_sealing)
    }

    /// Data that was found after the ends of the logs when the store was opened for writing, and set aside. Empty if the store is open for reading only.
    pub fn leftovers(&self) -> &[Leftover] {
        match &self.access {
            Access::Writer(store) => store.leftovers(),
            Access::Reader(_) => &[],
        }
    }

    pub(crate) fn unnamed_files(&self) -> Result<Vec<Unnamed>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.unnamed()?),
            Access::Reader(reader) => reader.unnamed(),
        }
    }

    /// How many bytes a batch should have at most now. Where [`Settings`](crate::Settings) bound the store, or the disk is small and the oldest events are to go when it is full, a smaller batch makes
    /// fewer of them go at once.
    ///
    /// # Errors
    /// If the store is open for reading only.
    pub fn batch_bytes_advised(&self) -> Result<usize, AppendError> {
        Ok(self.writer()?.batch_bytes_advised())
    }

    /// Moves all events that are still in the log into a sealed file, which is faster to read. The store does this by itself
    /// when the log is long enough.
    ///
    /// # Errors
    /// If the store is open for reading only, or it cannot be written.
    pub fn seal(&self) -> Result<(), AppendError> {
        self.writer()?.seal().map_err(AppendError::of_sealing)
    }

    /// Makes everything durable that was appended before. Only needed if the store was opened with a weaker [durability](crate::Durability) than the default.
    ///
    /// # Errors
    /// If the store is open for reading only, or it cannot be written.
    pub fn flush(&self) -> Result<(), AppendError> {
        self.writer()?.flush().map_err(AppendError::of_sealing)
    }

    /// Runs a query over the events that are stored now. Rows are computed as the iterator is advanced.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let store = tamias::Store::open(folder.path())?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z","Elapsed":12.5}"#])?;
    /// for row in store.query("select count(*), max(Elapsed) as Slowest from stream")? {
    ///     let row = row?; // owned: may be kept, and sent to another thread
    ///     println!("{row:?}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the query is malformed, with the place, or the store cannot be read.
    pub fn query(&self, text: &str) -> Result<Rows, StartError> {
        Ok(self.run(&Query::prepare(text)?)?)
    }

    /// Runs a query that was [prepared](Query::prepare) before.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn run(&self, query: &Query) -> Result<Rows, OpenError> {
        self.run_with(query, RunOptions::default())
    }

    /// Runs a prepared query with a deadline, or with limits other than the defaults.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn run_with(&self, query: &Query, options: RunOptions) -> Result<Rows, OpenError> {
        Ok(self.snapshot()?.run(query, options))
    }

    /// Runs a prepared query and skips damaged parts of the store, where [`run`](Store::run) would fail. The second result lists
    /// what was skipped: the answer may be wrong without it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn run_past_damage(&self, query: &Query, options: RunOptions) -> Result<(Rows, LeftOut), OpenError> {
        Ok(self.snapshot()?.run_past_damage(query, options))
    }

    /// What the store holds now: events, files and times.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn info(&self) -> Result<Info, OpenError> {
        Ok(self.snapshot()?.info())
    }

    /// A view of the events that are stored now. Queries on one snapshot all see the same events, whatever is appended or removed
    /// meanwhile. Cheap: nothing is read or copied.
    ///
    /// ```
    /// use tamias::{Query, RunOptions, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z","Elapsed":12.5}"#])?;
    /// let snapshot = store.snapshot()?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:02Z","Elapsed":40}"#])?;
    ///
    /// let slow = Query::prepare("select Elapsed from stream where Elapsed > 10")?;
    /// assert_eq!(snapshot.run(&slow, RunOptions::default()).count(), 1);
    /// assert_eq!(snapshot.info().events, 1);
    /// assert_eq!(store.snapshot()?.info().events, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read. This cannot happen on a store that is open for writing.
    pub fn snapshot(&self) -> Result<Snapshot, OpenError> {
        let events = match &self.access {
            Access::Writer(store) => store.snapshot(),
            Access::Reader(reader) => reader.snapshot()?,
        };
        Ok(Snapshot { events, cache: self.cache.clone() })
    }

    pub(crate) fn writer(&self) -> Result<&tamias_store::Store, AppendError> {
        match &self.access {
            Access::Writer(store) => Ok(store),
            Access::Reader(_) => Err(AppendError::ReadOnly),
        }
    }
}

/// Why events were not stored. No event of the batch was stored, unless [that is unknown](AppendError::is_unknown).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// One of them is not a valid event.
    #[error("event {index} of the batch (from 0): {rejection}")]
    Rejected {
        /// Its place in the batch, from 0.
        index: usize,
        /// What is wrong with it.
        rejection: Rejection,
    },
    /// The source's name is empty, so that its position could not be found again.
    #[error("the source of the batch has no name")]
    SourceUnnamed,
    /// The store was opened with [`Store::open_read_only`].
    #[error("the store is open for reading only")]
    ReadOnly,
    /// The store refused the batch, or could not write it.
    #[error(transparent)]
    Store(#[from] tamias_store::AppendError),
}

impl AppendError {
    pub(crate) fn of_sealing(error: SealError) -> AppendError {
        AppendError::Store(error.into())
    }

    /// Whether the disk is full, or the user's quota is used up. [`Store::remove`] frees space.
    pub fn is_lack_of_room(&self) -> bool {
        matches!(self, AppendError::Store(tamias_store::AppendError::Failure(failure)) if failure.is_lack_of_room())
    }

    /// Whether the batch may have been stored despite the error, for instance because the disk failed while it was flushed. Open the
    /// store again to find out: appending the batch again without checking may store its events twice. If the batch was stored with a
    /// source position, compare that with [`Store::source_position`].
    pub fn is_unknown(&self) -> bool {
        matches!(self, AppendError::Store(error) if error.is_unknown())
    }
}

/// Why a query did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The query is malformed; the message shows the place.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] OpenError),
}
