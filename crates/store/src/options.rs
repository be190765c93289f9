//! Options for opening a store.

use std::time::Duration;

use crate::codec::Codec;
use crate::error::OpenError;
use crate::format::DOCUMENT_BYTES_MAX;
use crate::settings::Settings;

/// Options for opening a store. The format does not depend on them: a store can be opened with other options each time. Only the
/// [settings](Options::settings) are saved in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Size of a block of text in bytes of documents, 1 to 1 GiB; default 1 MiB. A block in columns holds eight times as many, if its codec allows
    /// it. A longer event gets a block of its own.
    pub block_bytes: usize,
    /// Size of a segment in bytes of documents, 1 to 1 TiB; default 64 MiB. The memtable is sealed at this size; until then its events are also kept in memory. Segments are smaller where the
    /// [settings](Settings) leave room for less than 16 of them.
    pub segment_bytes: usize,
    /// Layout of new segments; default columns, if the program has a codec for them. Existing segments of either layout can always be read.
    pub segments: Layout,
    /// Maximum size of an event in bytes, 1 to 1 GiB; default 16 MiB.
    pub event_bytes_max: usize,
    /// Maximum size of a batch in bytes of events, line feeds included, 2 to 4 GiB − 2; default 256 MiB.
    pub batch_bytes_max: usize,
    /// Maximum age of the first event in the memtable before the memtable is sealed; default 5 minutes. Until then its events are kept in memory, are read from the log
    /// again at opening and by each other process, and have no statistics; a shorter age makes more small segments. A memtable of less than a sixty-fourth of a segment, or than
    /// 1 MiB, waits 288 times as long: a day by default.
    pub seal_age: Duration,
    /// Whether a background thread seals and compacts, so that appends need not wait; default true. If false, the append
    /// that finds the memtable large or old enough seals it, and only [`compact`](crate::Store::compact) compacts.
    pub background: bool,
    /// What an append waits for.
    pub durability: Durability,
    /// How sealed segments are read.
    pub read_mode: ReadMode,
    /// New retention settings, saved in the store when it is opened for writing; default none, which keeps the saved ones.
    pub settings: Option<Settings>,
    /// Maximum rate in bytes per second at which a background thread [scrubs](crate::Store::scrub) the store; default none, which does not scrub. A round begins a
    /// week after the last one began. The results are counted in [`Housekeeping::scrub`](crate::Housekeeping::scrub).
    pub scrub: Option<u64>,
    /// Maximum number of segments kept open with [`ReadMode::Plain`], 1 to 65,536; default 256. In addition, each reading thread may have one file open,
    /// the writer nine (two locks, a log, unfinished files), and each older state of the store that a snapshot
    /// holds one. A mapped segment does not count as an open file; up to 16,384 stay mapped.
    pub open_files_max: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            block_bytes: 1 << 20,
            segment_bytes: 64 << 20,
            segments: Layout::Columns,
            event_bytes_max: 16 << 20,
            batch_bytes_max: 256 << 20,
            seal_age: Duration::from_secs(300),
            background: true,
            durability: Durability::Sync,
            read_mode: ReadMode::Map,
            settings: None,
            scrub: None,
            open_files_max: 256,
        }
    }
}

impl Options {
    /// Bytes of documents in a block in columns. HEURISTIC: more documents have more in common, and a query opens each of its blocks.
    pub(crate) fn column_block_bytes(&self) -> usize {
        self.block_bytes.saturating_mul(8).min(DOCUMENT_BYTES_MAX)
    }

    /// Bytes of documents for which a segment is made without being asked for. HEURISTIC: smaller ones are written anew more often than they are worth, and a log of
    /// that size is read in some milliseconds.
    pub(crate) fn least_sealed_bytes(&self) -> usize {
        (self.segment_bytes / 64).min(1 << 20)
    }

    /// The same, as far as the codec has what they ask for.
    pub(crate) fn with(self, codec: &dyn Codec) -> Options {
        let segments = if codec.makes_columns() { self.segments } else { Layout::Text };
        Options { segments, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let ranges = [
            ("block_bytes", self.block_bytes, 1, 1 << 30),
            ("segment_bytes", self.segment_bytes, 1, usize::try_from(1u64 << 40).unwrap_or(usize::MAX)),
            ("event_bytes_max", self.event_bytes_max, 1, 1 << 30),
            ("batch_bytes_max", self.batch_bytes_max, 2, DOCUMENT_BYTES_MAX),
            ("open_files_max", self.open_files_max, 1, 1 << 16),
        ];
        for (name, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(OpenError::Option { name, value, least, most });
            }
        }
        Ok(())
    }
}

/// The layout of the blocks of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Documents, one after another.
    Text,
    /// Columns, for each block that the [codec](crate::Codec) can encode: smaller on disk, and queries read only the columns they need. Encoding takes
    /// many times as much processor time as writing text.
    Columns,
}

/// What an append waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The events are flushed to disk: they survive a loss of power. Appends from several threads share a flush.
    Sync,
    /// The events are written to the operating system, and flushed at this interval: they survive the end of this process. A crash of the system or a
    /// loss of power can lose the latest ones, of about this interval, in whole batches.
    Interval(Duration),
    /// As `Interval`, but flushed only when the memtable is sealed or the store is closed: all events since then can be lost.
    None,
}

/// How sealed segments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// Mapped into memory, without copying. No other program may change or truncate the files meanwhile: truncating one crashes the process.
    Map,
    /// Read block by block. Changes to the files by other programs are reported as damage, without a crash. The blocks of a group are in memory together.
    Plain,
}

/// Counts and times of flushes since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlushStats {
    /// Flushes of the log on behalf of appends.
    pub log_flushes: u64,
    /// Time spent in them.
    pub log_time: Duration,
    /// Segments written.
    pub segments: u64,
    /// Time spent on writing and publishing segments, flushes included.
    pub segment_time: Duration,
    /// Of that, the time spent on flushing their contents.
    pub segment_flush_time: Duration,
}

impl FlushStats {
    pub(crate) fn add(&mut self, more: &FlushStats) {
        self.log_flushes += more.log_flushes;
        self.log_time += more.log_time;
        self.segments += more.segments;
        self.segment_time += more.segment_time;
        self.segment_flush_time += more.segment_flush_time;
    }
}
