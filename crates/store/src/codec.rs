//! The interface to the code that understands documents: the store itself does not interpret them.

use crate::error::ReadError;
use crate::format::{Key, part};

/// The instants and arrival numbers of the events of a block, little-endian, in ascending order of their [keys](crate::Key).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times<'a> {
    /// The instant of each event in ticks.
    pub instants: &'a [[u8; 8]],
    /// The arrival number of each event.
    pub arrivals: &'a [[u8; 8]],
}

impl Times<'_> {
    /// The key of the event at an index; `None` beyond the last.
    pub fn key(&self, index: usize) -> Option<Key> {
        let instant = u64::from_le_bytes(*self.instants.get(index)?);
        let arrival = u64::from_le_bytes(*self.arrivals.get(index)?);
        Some(Key { instant, arrival })
    }

    /// The number of keys at the beginning for which `like` is true, if it is false for all others. By binary search.
    pub fn partition_point(&self, like: impl Fn(Key) -> bool) -> usize {
        let (mut low, mut high) = (0, self.instants.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle).is_some_and(&like) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Owned [`Times`], which are decoded on demand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedTimes {
    /// The instant of each event in ticks.
    pub instants: Vec<[u8; 8]>,
    /// The arrival number of each event.
    pub arrivals: Vec<[u8; 8]>,
}

impl OwnedTimes {
    /// Borrows them.
    pub fn lent(&self) -> Times<'_> {
        Times { instants: &self.instants, arrivals: &self.arrivals }
    }
}

/// The documents of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Documents<'a> {
    /// The documents one after another, each ended by a line feed.
    pub bytes: &'a [u8],
    /// For each event the offset of that line feed: a little-endian `u32`.
    pub ends: &'a [[u8; 4]],
}

impl<'a> Documents<'a> {
    /// The number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The document at an index, without its line feed; `None` beyond the last.
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        let start = match index.checked_sub(1) {
            Some(previous) => u32::from_le_bytes(*self.ends.get(previous)?) as usize + 1,
            None => 0,
        };
        self.bytes.get(start..u32::from_le_bytes(*self.ends.get(index)?) as usize)
    }
}

/// Owned [`Documents`], which are decoded on demand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedDocuments {
    /// The documents one after another, each ended by a line feed.
    pub bytes: Vec<u8>,
    /// For each event the offset of that line feed: a little-endian `u32`.
    pub ends: Vec<[u8; 4]>,
}

impl OwnedDocuments {
    /// Appends a document, given without its line feed. All together must stay below 4 GiB.
    pub fn push(&mut self, document: &[u8]) {
        self.bytes.extend_from_slice(document);
        self.ends.push((self.bytes.len() as u32).to_le_bytes());
        self.bytes.push(b'\n');
    }

    /// Borrows them.
    pub fn lent(&self) -> Documents<'_> {
        Documents { bytes: &self.bytes, ends: &self.ends }
    }
}

/// The name of the part that holds the statistics of a block. Parts of a block in columns whose names begin with it and a full stop are statistics too: of a damaged one nothing is lost
/// but time, and they stand apart from what is read of most blocks.
pub const STATISTICS_PART: &str = part::STATISTICS;

/// A part of a block in columns. The store adds a checksum, and finds the part by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    /// Its name, at most 255 bytes, unique in the block; `documents` and `keys` are reserved for the store, and [`STATISTICS_PART`] for statistics.
    pub name: String,
    /// Its content, less than 4 GiB.
    pub bytes: Vec<u8>,
}

/// The identity of a block within this process, for as long as its segment exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The number of the opening of the store that it belongs to. If another store, or an earlier state of this one, is found in the folder, that counts as another opening.
    pub opening: u64,
    /// The number of its segment, which no other file of the store ever has; or, for events that are not sealed, the number of their run, which is unique in
    /// this process.
    pub segment: u64,
    /// Its index in the segment, from 0; [`UNSEALED`](BlockId::UNSEALED) for a run.
    pub block: u32,
}

impl BlockId {
    /// Greater than the index of any block of a segment.
    pub const UNSEALED: u32 = u32::MAX;
}

/// Access to the parts of a block in columns, for a [`Codec`].
pub trait Parts {
    /// The identity of the block, for caches of decoded data.
    fn id(&self) -> BlockId;

    /// The number of events, at least one.
    fn events(&self) -> usize;

    /// Bytes of its documents, line feeds included.
    fn document_bytes(&self) -> usize;

    /// Reads and verifies a part; `None` if the block has none of that name. It is not cached.
    ///
    /// # Errors
    /// If it is damaged, or the operating system reports an error.
    fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError>;
}

/// The result of checking the texts that a block holds in addition to its documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockTexts {
    /// The number of texts checked.
    pub texts: u64,
    /// The first text that no document has.
    pub stray: Option<Stray>,
}

/// A text in a block that none of its documents has. The text itself is not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The part of the block.
    pub part: String,
    /// The kind of text.
    pub what: String,
}

/// Makes the statistics of blocks, and encodes them as columns.
///
/// `()` does neither: its blocks are text without statistics, and it cannot read blocks in columns.
pub trait Codec: Send + Sync {
    /// Appends the statistics of a block, which the store keeps and does not interpret. `documents` are the documents, each ended by a line
    /// feed; `ends` are the offsets of these line feeds. Statistics of more than 16 MiB are dropped.
    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>);

    /// Whether this codec makes columns at all. If not, all new blocks are text, whatever [`Options`](crate::Options) say.
    fn makes_columns(&self) -> bool {
        false
    }

    /// The maximum number of events of a block in columns, at least one.
    fn events_max(&self) -> usize {
        usize::MAX
    }

    /// The maximum size in bytes of the documents of a block in columns, line feeds included. A longer document gets a block of its own.
    fn document_bytes_max(&self) -> usize {
        usize::MAX
    }

    /// Encodes a block as parts; `None` to keep it as text. The store does not check that they can be decoded. Without statistics among them,
    /// these are [collected](Codec::collect) from the documents.
    fn encode(&self, _times: Times<'_>, _documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        None
    }

    /// Whether a part of a block in columns is read before others are chosen: those of all blocks of a segment stand side by side, next to the statistics.
    fn is_read_first(&self, _part: &str) -> bool {
        false
    }

    /// Decodes the times of a block that [`encode`](Codec::encode) made, reading only the parts needed.
    ///
    /// # Errors
    /// If a part cannot be read, or is not one that `encode` wrote. The store checks that the times fit the block.
    fn times(&self, _block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        Err(DecodeError::Unknown)
    }

    /// Decodes the documents of a block.
    ///
    /// # Errors
    /// As for [`times`](Codec::times).
    fn documents(&self, _block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        Err(DecodeError::Unknown)
    }

    /// Decodes the intact documents of a block with damaged parts: for each event its document, without its line feed,
    /// or `None`. Used by repair only. A codec that cannot do this returns an empty list.
    ///
    /// # Errors
    /// As for [`times`](Codec::times), if no document can be decoded.
    fn whole_documents(&self, _block: &dyn Parts) -> Result<Vec<Option<Vec<u8>>>, DecodeError> {
        Ok(Vec::new())
    }

    /// The names of a part's content, for messages about damage. Must not read the part itself.
    fn holds(&self, _block: &dyn Parts, _part: &str) -> Vec<String> {
        Vec::new()
    }

    /// Checks the texts that a block holds in addition to its documents, in its parts if it is in columns, and in its statistics: each must occur in a
    /// document. A bug might otherwise leave texts of erased events there. A codec without such texts has nothing to check.
    ///
    /// # Errors
    /// As for [`times`](Codec::times).
    fn texts(
        &self,
        _columns: Option<&dyn Parts>,
        _documents: Documents<'_>,
        _statistics: &[u8],
    ) -> Result<BlockTexts, DecodeError> {
        Ok(BlockTexts::default())
    }

    /// The first of these names of parts of a block in columns that the codec does not know: [`texts`](Codec::texts) does not look into such a part, so that nobody knows what it holds. By
    /// default all are known.
    ///
    /// # Errors
    /// As for [`times`](Codec::times).
    fn unknown_part<'n>(
        &self,
        _block: &dyn Parts,
        _names: &[&'n str],
    ) -> Result<Option<&'n str>, DecodeError> {
        Ok(None)
    }

    /// Decodes one document, without its line feed; `None` beyond the last. For codecs that need not decode all of them.
    ///
    /// # Errors
    /// As for [`times`](Codec::times).
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
    /// The parts are intact, but not in the codec's format.
    #[error("{0}")]
    Malformed(&'static str),
    /// This program has no codec for it.
    #[error("this program does not know its columns")]
    Unknown,
}
