//! What the store asks of the program above about blocks: it knows nothing of documents itself.

use crate::error::ReadError;
use crate::format::Key;

/// When the events of a block happened, and when they came: all are little-endian, and rise as [keys](crate::Key) do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times<'a> {
    /// Per event its instant in ticks.
    pub instants: &'a [[u8; 8]],
    /// Per event its arrival number.
    pub arrivals: &'a [[u8; 8]],
}

impl Times<'_> {
    /// The key of the event at a place; `None` beyond the last.
    pub fn key(&self, index: usize) -> Option<Key> {
        let instant = u64::from_le_bytes(*self.instants.get(index)?);
        let arrival = u64::from_le_bytes(*self.arrivals.get(index)?);
        Some(Key { instant, arrival })
    }

    /// How many keys at the beginning are like this, where those behind are not: by binary search.
    pub fn partition_point(&self, like: impl Fn(Key) -> bool) -> usize {
        let (mut low, mut high) = (0, self.instants.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle).is_some_and(&like) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// [`Times`] that are made when they are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedTimes {
    /// Per event its instant in ticks.
    pub instants: Vec<[u8; 8]>,
    /// Per event its arrival number.
    pub arrivals: Vec<[u8; 8]>,
}

impl OwnedTimes {
    /// The same, lent.
    pub fn lent(&self) -> Times<'_> {
        Times { instants: &self.instants, arrivals: &self.arrivals }
    }
}

/// The documents of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Documents<'a> {
    /// One after another, each ended by a line feed.
    pub bytes: &'a [u8],
    /// Per event the offset of that line feed: a little-endian `u32`.
    pub ends: &'a [[u8; 4]],
}

impl<'a> Documents<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A document by its place, without its line feed; `None` beyond the last.
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        let start = match index.checked_sub(1) {
            Some(previous) => u32::from_le_bytes(*self.ends.get(previous)?) as usize + 1,
            None => 0,
        };
        self.bytes.get(start..u32::from_le_bytes(*self.ends.get(index)?) as usize)
    }
}

/// [`Documents`] that are made when they are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedDocuments {
    /// One after another, each ended by a line feed.
    pub bytes: Vec<u8>,
    /// Per event the offset of that line feed: a little-endian `u32`.
    pub ends: Vec<[u8; 4]>,
}

impl OwnedDocuments {
    /// Appends a document, given without its line feed. All together stay below 4 GiB.
    pub fn push(&mut self, document: &[u8]) {
        self.bytes.extend_from_slice(document);
        self.ends.push((self.bytes.len() as u32).to_le_bytes());
        self.bytes.push(b'\n');
    }

    /// The same, lent.
    pub fn lent(&self) -> Documents<'_> {
        Documents { bytes: &self.bytes, ends: &self.ends }
    }
}

/// A stretch of bytes that a block in columns consists of: the store gives it a checksum, and gives it back by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    /// Its name, at most 255 bytes. Each block has a name once; `documents`, `keys` and `summary` are the store's own.
    pub name: String,
    /// What it holds, less than 4 GiB.
    pub bytes: Vec<u8>,
}

/// What names a block in this process, as long as its segment is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// Which opening of a store it came of. Where another store is found in the folder, or an earlier state of this one, that is another opening.
    pub opening: u64,
    /// The number of its segment. No other file of that store ever has it. Or that of a run of events that are not sealed, which no other run of
    /// this process has.
    pub segment: u64,
    /// Its place in the segment, from 0; [`UNSEALED`](BlockId::UNSEALED) for a run.
    pub block: u32,
}

impl BlockId {
    /// More blocks than a segment has.
    pub const UNSEALED: u32 = u32::MAX;
}

/// The parts of a block in columns, as a [`Codec`] gets at them.
pub trait Parts {
    /// What names the block: for a cache of what was decoded of it.
    fn id(&self) -> BlockId;

    /// How many events it has, at least one.
    fn events(&self) -> usize;

    /// Bytes of its documents, line feeds included.
    fn document_bytes(&self) -> usize;

    /// A part, read anew and verified; `None` if the block has none of that name. Nobody but the caller keeps it.
    ///
    /// # Errors
    /// Where it is not what was written, or the operating system refuses to read it.
    fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError>;
}

/// The texts that a block holds beside its documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockTexts {
    /// How many were looked at.
    pub texts: u64,
    /// The first that no document has.
    pub stray: Option<Stray>,
}

/// A text in a block that none of its documents has. What it says is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The part of the block.
    pub part: String,
    /// What it is there.
    pub what: String,
}

/// What the program above knows of documents: what to note of a block, and how to take it apart into columns.
///
/// `()` knows nothing: its blocks are text without statistics, and of a block in columns it reads no event.
pub trait Codec: Send + Sync {
    /// Appends the statistics of a block, which the store keeps and does not look into. `documents` are the documents, each ended by a line
    /// feed; `ends` are the offsets of these line feeds. They have at most 16 MiB: of longer ones nothing is kept.
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>);

    /// The statistics of a block in columns as they are kept: there a few bytes are a larger share of all than beside text.
    fn pack(&self, statistics: Vec<u8>) -> Vec<u8> {
        statistics
    }

    /// Whether it takes blocks apart into columns at all. If not they are text, whatever [`Options`](crate::Options) say.
    fn makes_columns(&self) -> bool {
        false
    }

    /// The most events of a block in columns, at least one.
    fn events_max(&self) -> usize {
        usize::MAX
    }

    /// The most bytes of documents of a block in columns, line feeds included. A longer document has a block to itself.
    fn document_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// The parts that a block shall consist of from now on; `None` to keep it as text. The store does not prove that they can be decoded.
    fn encode(&self, _times: Times<'_>, _documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        None
    }

    /// The times of a block that [`encode`](Codec::encode) took apart, from the parts that it needs for them.
    ///
    /// # Errors
    /// Where a part cannot be read, or is none that `encode` wrote. What fits to the block otherwise is for the store to check.
    fn times(&self, _block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        Err(DecodeError::Unknown)
    }

    /// Its documents.
    ///
    /// # Errors
    /// As [`times`](Codec::times) has them.
    fn documents(&self, _block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        Err(DecodeError::Unknown)
    }

    /// The documents of a block some of whose parts are damaged, as far as they are whole: for each event its document, without its line feed,
    /// or none. Asked for by repair only. A codec that tells of no event gives nothing.
    ///
    /// # Errors
    /// As [`times`](Codec::times) has them, where not even a part of them can be told.
    fn whole_documents(&self, _block: &dyn Parts) -> Result<Vec<Option<Vec<u8>>>, DecodeError> {
        Ok(Vec::new())
    }

    /// What a part holds, in names for whoever hears that it is damaged. Asked for no other reason; the part itself is not to be read.
    fn holds(&self, _block: &dyn Parts, _part: &str) -> Vec<String> {
        Vec::new()
    }

    /// Looks for texts that a block holds beside its documents, and that none of these has, as a mistake of the program might have left them of events that are
    /// erased: in its parts, where it is in columns, and in its statistics. A codec that keeps no texts beside documents has none to look at.
    ///
    /// # Errors
    /// As [`times`](Codec::times) has them.
    fn texts(
        &self,
        _columns: Option<&dyn Parts>,
        _documents: Documents<'_>,
        _statistics: &[u8],
    ) -> Result<BlockTexts, DecodeError> {
        Ok(BlockTexts::default())
    }

    /// One document, without its line feed; `None` beyond the last. For codecs that can do with less than all of them.
    ///
    /// # Errors
    /// As [`times`](Codec::times) has them.
    fn document(&self, block: &dyn Parts, index: usize) -> Result<Option<Vec<u8>>, DecodeError> {
        Ok(self.documents(block)?.lent().get(index).map(<[u8]>::to_vec))
    }
}

impl Codec for () {
    fn collect(&self, _: &[u8], _: &[u32], _: &mut Vec<u8>) {}
}

/// Why a block in columns could not be decoded.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DecodeError {
    /// A part of it could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The parts are those that were written, and none that the codec writes.
    #[error("{0}")]
    Malformed(&'static str),
    /// This program has no codec for it.
    #[error("this program does not know its columns")]
    Unknown,
}
