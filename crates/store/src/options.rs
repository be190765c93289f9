//! How a store behaves.

use std::time::Duration;

use crate::codec::Codec;
use crate::error::OpenError;
use crate::format::DOCUMENT_BYTES_MAX;
use crate::settings::Settings;

/// How a store behaves. The format does not depend on it: a store can be opened with other options each time. Only the
/// [settings](Options::settings) live in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes of documents in a block of text, 1 to 1 GiB; 1 MiB unless set. A block in columns holds eight times as many, if its codec takes
    /// them. A longer event gets a block of its own.
    pub block_bytes: usize,
    /// Bytes of documents in a segment, 1 to 1 TiB; 64 MiB unless set. The memtable is sealed when it has as many; until then it is kept in memory as well.
    pub segment_bytes: usize,
    /// What segments consist of that are written from now on; columns unless set, as far as the program has a codec for them. Those that are there are read either way.
    pub segments: Layout,
    /// Longest event, 1 to 1 GiB; 16 MiB unless set.
    pub event_bytes_max: usize,
    /// Most bytes of events in a batch, line feeds included, 2 to 4 GiB − 2; 256 MiB unless set.
    pub batch_bytes_max: usize,
    /// How old the first event of the memtable may get before the memtable is sealed; 5 minutes unless set. Until then it is in memory, is read from the log again
    /// at opening and by each other process, and has no statistics; more often would make more small segments. Less than a sixty-fourth of a segment, or than 1 MiB, waits 288 times as
    /// long, a day unless set.
    pub seal_age: Duration,
    /// Whether a thread of the store's own seals and compacts, so that no append waits for it; it does unless set. Otherwise the append
    /// that finds the memtable large or old enough seals it, and nothing is compacted but by [`compact`](crate::Store::compact).
    pub background: bool,
    /// What an append waits for.
    pub durability: Durability,
    /// How sealed segments are read.
    pub read_mode: ReadMode,
    /// What the store shall keep to by itself from now on; what it has been told before, unless set. It counts where the store is opened for writing.
    pub settings: Option<Settings>,
    /// Whether a thread of the store's own [scrubs](crate::Store::scrub) it in the background, and at how many bytes a second at most; none unless set. It begins a round a
    /// week after the last one began, and what it finds is counted in [`Housekeeping::scrub`](crate::Housekeeping::scrub).
    pub scrub: Option<u64>,
    /// Most segments kept open with [`ReadMode::Plain`], 1 to 65,536; 256 unless set. Beside them each reading thread may have one file open,
    /// the writer nine (two locks, a log, files in the making), and each older state of the store that a snapshot
    /// holds is one. A mapped segment is no open file; up to 16,384 stay mapped.
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

/// What the blocks of a segment consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Documents, one after another.
    Text,
    /// Columns, as far as the [codec](crate::Codec) makes any of a block: small on disk, and little is read of them. Encoding takes the processor
    /// many times as long as writing text does.
    Columns,
}

/// What an append waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The events are on the medium: they survive a loss of power. Appends from several threads share a flush.
    Sync,
    /// The events are with the operating system: they survive the end of this process. A crash of the system or a loss of power can
    /// lose those of about this long before it, the latest ones, in whole batches.
    Interval(Duration),
    /// As `Interval`, but flushed only when the memtable is sealed or the store is closed: all that came since can be lost.
    None,
}

/// How sealed segments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// Mapped into memory, without copying. Nobody else may alter or cut the files meanwhile: a cut ends the process.
    Map,
    /// Read block by block. What is done to the files shows as damage, nothing worse. The blocks of a group are in memory together.
    Plain,
}

/// How much flushing there was since the store was opened.
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
