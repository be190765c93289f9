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
    /// What queries have decoded, for those to come.
    cache: Arc<ColumnCache>,
}

#[derive(Clone, Debug)]
pub(crate) enum Access {
    Writer(tamias_store::Store),
    Reader(Arc<tamias_store::Reader>),
}

/// What queries decode of segments in columns, and where they have found keys in text that they ask for again, is kept up to this size, unless [another is set](Store::with_column_cache): 256 MiB. It counts
/// in a query's [budget of memory](RunOptions::memory_bytes), and gives way where the query needs that for itself.
pub const COLUMN_CACHE_BYTES: usize = 256 << 20;

/// A batch of so many bytes is written straight into sealed segments: writing it into the log first would write it twice.
const BULK_BYTES_MIN: usize = 32 << 20;

/// What an append has stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// How many events.
    pub events: u64,
    /// The arrival number of the first; the others follow it.
    pub first_arrival: u64,
}

impl Store {
    /// Opens the store in the folder `path` for reading and writing, and makes it where there is none. What a crash left
    /// behind is put in order first.
    ///
    /// # Errors
    /// Where another process writes to it, the folder cannot be read or written, or is no store of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        Store::open_with(path, Options::default())
    }

    /// [Opens](Store::open) a store that behaves otherwise than usual: how durable what it acknowledges is, how it reads, how
    /// large its parts may be. The files do not depend on it: each time a store may be opened with other options.
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
    /// As [`open`](Store::open), and where an option lies outside its range.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Store, OpenError> {
        let store = tamias_store::Store::open(path.as_ref(), options, Arc::new(ShreddedBlocks::default()))?;
        Ok(Store::of(Access::Writer(store)))
    }

    /// Opens the store in the folder `path`, which must exist, for reading only, also beside a process that writes. Each
    /// query sees the events that are stored when it starts.
    ///
    /// # Errors
    /// Where there is no store, or it cannot be read.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        Store::open_read_only_with(path, Options::default())
    }

    /// [Opens](Store::open_read_only) a store for reading only, with other options than the usual ones.
    ///
    /// # Errors
    /// As [`open_read_only`](Store::open_read_only), and where an option lies outside its range.
    pub fn open_read_only_with(path: impl AsRef<Path>, options: Options) -> Result<Store, OpenError> {
        let reader = tamias_store::Reader::open(path.as_ref(), options, Arc::new(ShreddedBlocks::default()))?;
        Ok(Store::of(Access::Reader(Arc::new(reader))))
    }

    fn of(access: Access) -> Store {
        Store { access, cache: Arc::new(ColumnCache::new(COLUMN_CACHE_BYTES)) }
    }

    /// The store with room for so many bytes of what queries have decoded of columns, and found in text (eight bytes for each event and key): those to
    /// come need not do it again. It holds for this handle and those that are cloned from it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let store = tamias::Store::open(folder.path())?.with_column_cache(64 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_column_cache(self, bytes_max: usize) -> Store {
        Store { cache: Arc::new(ColumnCache::new(bytes_max)), ..self }
    }

    /// Stores events in the compact log event format (CLEF): JSON objects with their time in `@t`. All of them or none;
    /// once it returns they are on disk, unless
    /// the store was opened with another [durability](crate::Durability). The order in which they come is kept among events of one instant.
    ///
    /// # Errors
    /// Where one of them is no event, the store is open for reading only, or it cannot be written.
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

    /// Stores the events of a batch, all or none, and empties it. Once it returns they are on disk.
    ///
    /// # Errors
    /// Where the store is open for reading only, or it cannot be written; the batch then keeps its events.
    pub fn append_batch(&self, batch: &mut Batch) -> Result<Appended, AppendError> {
        self.append_with(batch, None)
    }

    /// Stores a batch as [`append_batch`](Store::append_batch) does, and with it where its source stood behind it: both or
    /// neither, whatever happens to the process or the power. A program that goes on at the [`source_position`] after a crash
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
    /// As for [`append_batch`](Store::append_batch), and where the source's name is empty or longer than 4096 bytes, or its note longer than 32 KiB.
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

    /// Where a source stood with the last batch [stored from it](Store::append_batch_from); `None` where no batch named it.
    /// A store open for reading only looks at what the writer has stored by now.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn source_position(&self, name: &str) -> Result<Option<u64>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.source_position(name)),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.source_position(name))
            }
        }
    }

    /// The [note](SourcePosition::note) that the last batch stored from a source has left; empty where there is none.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn source_note(&self, name: &str) -> Result<Arc<[u8]>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.source_note(name)),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.source_note(name))
            }
        }
    }

    /// The names of all sources that batches were [stored from](Store::append_batch_from), in order: to recognise one that has another name
    /// now. Takes time linear in their number.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn source_names(&self) -> Result<Vec<String>, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.source_names()),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.source_names())
            }
        }
    }

    /// Whether it was lost where this source stood: the list of the store's files was lost, or an older one was put in its place, and events of
    /// the source may be stored of which nothing tells. Who goes on at [`source_position`](Store::source_position) may store
    /// some twice. It ends with the next batch that names the source.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn is_source_lost(&self, name: &str) -> Result<bool, OpenError> {
        match &self.access {
            Access::Writer(store) => Ok(store.is_source_lost(name)),
            Access::Reader(reader) => {
                reader.snapshot()?;
                Ok(reader.is_source_lost(name))
            }
        }
    }

    /// Takes all positions of sources for right from now on, those that were [lost](Store::is_source_lost) included: for whoever has
    /// looked, and would not be asked for each source.
    ///
    /// # Errors
    /// Where the store is open for reading only, or it cannot be written.
    pub fn accept_source_positions(&self) -> Result<(), AppendError> {
        self.writer()?.accept_source_positions().map_err(AppendError::of_sealing)
    }

    /// What opening the store for writing found behind the ends of its logs, and set aside; none for a store that is open for reading only.
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

    /// Moves all events that are still in the log into a sealed file, which is read faster. The store does this itself
    /// whenever enough have come together.
    ///
    /// # Errors
    /// Where the store is open for reading only, or it cannot be written.
    pub fn seal(&self) -> Result<(), AppendError> {
        self.writer()?.seal().map_err(AppendError::of_sealing)
    }

    /// Makes everything durable that was appended before, where the [durability](crate::Durability) asks for less than that.
    ///
    /// # Errors
    /// Where the store is open for reading only, or it cannot be written.
    pub fn flush(&self) -> Result<(), AppendError> {
        self.writer()?.flush().map_err(AppendError::of_sealing)
    }

    /// Runs a query over the events that are stored now. Rows are made as they are asked for.
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
    /// Where the query is malformed, with the place, or the store cannot be read.
    pub fn query(&self, text: &str) -> Result<Rows, StartError> {
        Ok(self.run(&Query::prepare(text)?)?)
    }

    /// Runs a query that was [prepared](Query::prepare) before.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn run(&self, query: &Query) -> Result<Rows, OpenError> {
        self.run_with(query, RunOptions::default())
    }

    /// Runs a prepared query with a deadline, or other bounds than the usual ones.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn run_with(&self, query: &Query, options: RunOptions) -> Result<Rows, OpenError> {
        Ok(self.snapshot()?.run(query, options))
    }

    /// Runs a prepared query that leaves damaged parts of the store out, where [`run`](Store::run) would fail on them. What
    /// was left out is listed beside the rows: an answer without it may be wrong.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn run_past_damage(&self, query: &Query, options: RunOptions) -> Result<(Rows, LeftOut), OpenError> {
        Ok(self.snapshot()?.run_past_damage(query, options))
    }

    /// What the store holds now.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn info(&self) -> Result<Info, OpenError> {
        Ok(self.snapshot()?.info())
    }

    /// The events that are stored now, for several queries that are to see the same ones, whatever is appended or removed
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
    /// Where the store cannot be read. One that is open for reading and writing always can.
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

/// Why events were not stored. None of the batch is, unless [that is unknown](AppendError::is_unknown).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// One of them is no event.
    #[error("event {index} of the batch (from 0): {rejection}")]
    Rejected {
        /// Its place in the batch, from 0.
        index: usize,
        /// What is wrong with it.
        rejection: Rejection,
    },
    /// A source needs a name: its position would not be found again.
    #[error("the source of the batch has no name")]
    SourceUnnamed,
    /// The store was opened with [`Store::open_read_only`].
    #[error("the store is open for reading only")]
    ReadOnly,
    /// The store refused, or could not write.
    #[error(transparent)]
    Store(#[from] tamias_store::AppendError),
}

impl AppendError {
    pub(crate) fn of_sealing(error: SealError) -> AppendError {
        AppendError::Store(error.into())
    }

    /// Whether the medium, or what this user may take of it, is full: [`Store::remove`] makes room.
    pub fn is_lack_of_room(&self) -> bool {
        matches!(self, AppendError::Store(tamias_store::AppendError::Failure(failure)) if failure.is_lack_of_room())
    }

    /// Whether the batch may be stored all the same: it may have been written before the store failed, as where a disk fails in flushing. Whether it is shows when the
    /// store is opened again; whoever appends it again without a look may have its events twice. Where a source's position was given with it, that position tells.
    pub fn is_unknown(&self) -> bool {
        matches!(self, AppendError::Store(error) if error.is_unknown())
    }
}

/// Why a query did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Its text is malformed; the message shows the place.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] OpenError),
}
