//! What the store needs to know about blocks: statistics, which come from the query engine, and columns, which come from `shred`.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tamias_query::SplitStatistics;
use tamias_shred::{
    Arrivals, EVENTS_MAX, Encoder, Event, EventTimes, Frames, GROUP_BYTES_MAX, Group, GroupReader, Leftover,
};
use tamias_store::{
    BlockTexts, Codec, DecodeError, Documents, NamedPart, OwnedDocuments, OwnedTimes, Parts, ReadError,
    Stray, Times,
};

/// The part that describes the content of the frames.
pub(crate) const DIRECTORY: &str = "directory";

/// The statistics but for their filter.
pub(crate) const STATISTICS: &str = tamias_store::STATISTICS_PART;

/// The filter of the statistics: most of them, and seldom asked.
pub(crate) const FILTER: &str = "summary.filter";

/// The beginning of the names of frames.
const FRAME: &str = "frame.";

/// The name of the part that holds a frame.
pub(crate) fn frame_name(frame: u32) -> String {
    format!("{FRAME}{frame}")
}

/// The number of the frame that a part of this name holds.
pub(crate) fn frame_of(part: &str) -> Option<u32> {
    part.strip_prefix(FRAME)?.parse().ok()
}

/// A segment is made by two threads; each reuses an encoder with its memory: about twice the bytes of a group, 64 MiB at most.
const ENCODERS_KEPT: usize = 2;

/// A block in columns is one group: its directory, and its frames, are the parts.
#[derive(Default)]
pub(crate) struct ShreddedBlocks {
    /// Those that no thread uses now, at most [`ENCODERS_KEPT`].
    encoders: Mutex<Vec<Encoder>>,
}

impl ShreddedBlocks {
    fn encoders(&self) -> MutexGuard<'_, Vec<Encoder>> {
        self.encoders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Codec for ShreddedBlocks {
    fn makes_columns(&self) -> bool {
        true
    }

    fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
        tamias_query::collect_statistics(documents, ends, statistics);
    }

    fn events_max(&self) -> usize {
        EVENTS_MAX
    }

    fn document_bytes_max(&self) -> usize {
        GROUP_BYTES_MAX
    }

    fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
        let event = |index| {
            let (key, document) = (times.key(index)?, documents.get(index)?);
            Some(Event { instant: key.instant, arrival: key.arrival, document })
        };
        let events: Vec<Event<'_>> = (0..documents.len()).map(event).collect::<Option<_>>()?;
        let kept = self.encoders().pop();
        let mut encoder = kept.map_or_else(Encoder::new, Ok).ok()?;
        let mut statistics = Vec::new();
        let encoded = encoder.encode_surveyed(&events, &mut |survey| {
            statistics.clear();
            match survey {
                Some(survey) => {
                    tamias_query::collect_surveyed_statistics(survey, documents.bytes.len(), &mut statistics);
                }
                None => {
                    let ends: Vec<u32> = documents.ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
                    self.collect(documents.bytes, &ends, &mut statistics);
                }
            }
        });
        let mut encoders = self.encoders();
        if encoders.len() < ENCODERS_KEPT {
            encoders.push(encoder);
        }
        drop(encoders);
        // A block that cannot be encoded and proved stays text.
        let encoded = encoded.ok()?;
        let frames = (0..).zip(encoded.frames);
        let frames = frames.map(|(number, bytes)| NamedPart { name: frame_name(number), bytes });
        let directory = NamedPart { name: DIRECTORY.to_owned(), bytes: encoded.directory };
        let SplitStatistics { statistics, filter } = tamias_query::split_statistics(statistics);
        let statistics = NamedPart { name: STATISTICS.to_owned(), bytes: statistics };
        let filter = NamedPart { name: FILTER.to_owned(), bytes: filter };
        let filter = Some(filter).filter(|filter| !filter.bytes.is_empty());
        Some([directory].into_iter().chain(frames).chain(filter).chain([statistics]).collect())
    }

    fn is_read_first(&self, part: &str) -> bool {
        part == DIRECTORY
    }

    fn times(&self, parts: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
        decode(parts, |reader| {
            let EventTimes { instants, arrivals } = reader.times()?;
            Ok(OwnedTimes { arrivals: listed(arrivals.lent(), instants.len()), instants })
        })
    }

    fn documents(&self, parts: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
        decode(parts, |reader| {
            let decoded = reader.documents()?;
            let mut documents = OwnedDocuments::default();
            documents.bytes.reserve_exact(decoded.bytes().len() + decoded.len());
            documents.ends.reserve_exact(decoded.len());
            decoded.iter().for_each(|document| documents.push(document));
            Ok(documents)
        })
    }

    fn whole_documents(&self, parts: &dyn Parts) -> Result<Vec<Option<Vec<u8>>>, DecodeError> {
        let group = open(parts)?;
        let frames = PartFrames::new(parts, group.frames());
        let whole = group.read(&frames).whole_documents();
        match frames.failure.take() {
            // Documents are left out because of damaged parts only.
            None | Some(ReadError::Damaged(_)) => whole.map_err(malformed),
            Some(failure) => Err(failure.into()),
        }
    }

    fn holds(&self, parts: &dyn Parts, part: &str) -> Vec<String> {
        let frame = frame_of(part);
        let directory = frame.and_then(|_| parts.part(DIRECTORY).ok().flatten());
        let group = directory.and_then(|directory| Group::open(&directory).ok());
        let (Some(frame), Some(group)) = (frame, group) else { return Vec::new() };
        let times = group.has_times_in(frame).then(|| "the times of the events".to_owned());
        let shapes = group.has_shapes_in(frame).then(|| "which keys the events have".to_owned());
        let whole = group.has_whole_documents_in(frame).then(|| "documents that are kept as text".to_owned());
        times.into_iter().chain(shapes).chain(whole).chain(group.paths_in(frame)).collect()
    }

    fn texts(
        &self,
        columns: Option<&dyn Parts>,
        documents: Documents<'_>,
        statistics: &[u8],
    ) -> Result<BlockTexts, DecodeError> {
        let mut texts = BlockTexts::default();
        if let Some(parts) = columns {
            let found = decode(parts, |reader| reader.leftovers(documents.bytes))?;
            texts.texts += found.texts as u64;
            texts.stray = found.first.map(|Leftover { frame, what }| Stray {
                part: frame.map_or(DIRECTORY.to_owned(), frame_name),
                what: what.to_owned(),
            });
        }
        let filter = columns.map(|parts| parts.part(FILTER)).transpose()?.flatten().unwrap_or_default();
        let told = tamias_query::join_statistics(statistics, &filter).and_then(|statistics| {
            tamias_query::statistics_texts(documents.bytes, documents.ends, &statistics).ok()
        });
        // What is wrong with statistics may say what was to be forgotten.
        match told {
            Some(found) => texts.texts += found,
            None => {
                let (part, what) = (STATISTICS.to_owned(), "its statistics tell something".to_owned());
                texts.stray.get_or_insert(Stray { part, what });
            }
        }
        Ok(texts)
    }

    fn unknown_part<'n>(&self, parts: &dyn Parts, names: &[&'n str]) -> Result<Option<&'n str>, DecodeError> {
        let frames = open(parts)?.frames();
        let own: HashSet<String> = (0..frames as u32).map(frame_name).collect();
        Ok(names.iter().copied().find(|name| ![DIRECTORY, FILTER].contains(name) && !own.contains(*name)))
    }

    fn document(&self, parts: &dyn Parts, index: usize) -> Result<Option<Vec<u8>>, DecodeError> {
        decode(parts, |reader| reader.document(index).map(Some))
    }
}

/// The arrival numbers of so many events, listed.
pub(crate) fn listed(arrivals: Arrivals<&[[u8; 8]]>, events: usize) -> Vec<[u8; 8]> {
    arrivals.of(0..events).map(u64::to_le_bytes).collect()
}

/// Opens the group that a block is.
fn open(parts: &dyn Parts) -> Result<Group, DecodeError> {
    let directory = parts.part(DIRECTORY)?.ok_or(DecodeError::Malformed("it lacks a directory"))?;
    let group = Group::open(&directory).map_err(malformed)?;
    fits(group.events(), group.document_bytes(), parts).map_err(DecodeError::Malformed)?;
    Ok(group)
}

/// Whether a group with these numbers of events and document bytes fits the block. Later code allocates by these figures without another
/// check.
pub(crate) fn fits(events: usize, document_bytes: usize, block: &dyn Parts) -> Result<(), &'static str> {
    if events != block.events() {
        return Err("it has not as many events as the index tells");
    }
    // Each document has its line feed.
    if document_bytes + events != block.document_bytes() {
        return Err("its documents are not as long as the index tells");
    }
    Ok(())
}

/// Reads with `read` from the group that a block is.
fn decode<T>(
    parts: &dyn Parts,
    read: impl FnOnce(&mut GroupReader<'_>) -> Result<T, tamias_shred::DecodeError>,
) -> Result<T, DecodeError> {
    let group = open(parts)?;
    let frames = PartFrames::new(parts, group.frames());
    let result = read(&mut group.read(&frames));
    match frames.failure.take() {
        Some(failure) => Err(failure.into()),
        None => result.map_err(malformed),
    }
}

fn malformed(error: tamias_shred::DecodeError) -> DecodeError {
    DecodeError::Malformed(found(error))
}

/// What is wrong with a block, in a word.
pub(crate) fn found(error: tamias_shred::DecodeError) -> &'static str {
    use tamias_shred::DecodeError as Fault;
    match error {
        Fault::DirectoryChecksum => "its directory is none",
        Fault::FrameChecksum { .. } => "a frame is not the one that its directory tells",
        Fault::MissingFrame { .. } => "it lacks a frame",
        Fault::Malformed { what } => what,
        _ => "it has fewer documents than the index tells",
    }
}

/// The frames of a block, each read on demand.
struct PartFrames<'p> {
    parts: &'p dyn Parts,
    frames: Vec<OnceCell<Option<Vec<u8>>>>,
    /// Why a frame is missing.
    failure: RefCell<Option<ReadError>>,
}

impl<'p> PartFrames<'p> {
    fn new(parts: &'p dyn Parts, frames: usize) -> PartFrames<'p> {
        let frames = (0..frames).map(|_| OnceCell::new()).collect();
        PartFrames { parts, frames, failure: RefCell::default() }
    }
}

impl Frames for PartFrames<'_> {
    fn frame(&self, frame: u32) -> Option<&[u8]> {
        let read = || match self.parts.part(&frame_name(frame)) {
            Ok(bytes) => bytes,
            Err(failure) => {
                self.failure.replace(Some(failure));
                None
            }
        };
        self.frames.get(frame as usize)?.get_or_init(read).as_deref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    use super::*;
    use tamias_store::{BlockId, DeleteError, Event, Key, Layout, Options, ReceiptCheck, Store, StrayText};

    /// A program that leaves in a block what its events do not have: nothing, an entry of a dictionary, or a text in the statistics.
    struct Leaky {
        codec: ShreddedBlocks,
        leaves: AtomicU8,
    }

    const NOTHING: u8 = 0;
    const IN_COLUMNS: u8 = 1;
    const IN_STATISTICS: u8 = 2;
    /// A part of a name that this program does not know.
    const IN_A_PART: u8 = 4;
    /// It leaves nothing, and tells that each event was a tick later.
    const LATER: u8 = 3;

    impl Codec for Leaky {
        fn makes_columns(&self) -> bool {
            true
        }

        fn collect(&self, documents: &[u8], ends: &[u32], statistics: &mut Vec<u8>) {
            if self.leaves.load(Relaxed) == IN_STATISTICS {
                let documents = String::from_utf8_lossy(documents).replace("bob", "eve");
                return self.codec.collect(documents.as_bytes(), ends, statistics);
            }
            self.codec.collect(documents, ends, statistics);
        }

        fn encode(&self, times: Times<'_>, documents: Documents<'_>) -> Option<Vec<NamedPart>> {
            let later = |instant: &[u8; 8]| (u64::from_le_bytes(*instant) + 1).to_le_bytes();
            let instants: Vec<[u8; 8]> = times.instants.iter().map(later).collect();
            let times = match self.leaves.load(Relaxed) {
                LATER => Times { instants: &instants, ..times },
                _ => times,
            };
            let mut parts = self.codec.encode(times, documents)?;
            if self.leaves.load(Relaxed) == IN_COLUMNS {
                parts[0].bytes = tamias_shred::forge::forgotten(&parts[0].bytes).unwrap();
            }
            if self.leaves.load(Relaxed) == IN_STATISTICS {
                let others = String::from_utf8_lossy(documents.bytes).replace("bob", "eve");
                let others = self.codec.encode(times, Documents { bytes: others.as_bytes(), ..documents })?;
                parts.retain(|part| part.name != STATISTICS);
                parts.extend(others.into_iter().filter(|part| part.name == STATISTICS));
            }
            if self.leaves.load(Relaxed) == IN_A_PART {
                parts.push(NamedPart { name: "later".to_owned(), bytes: b"eve".to_vec() });
            }
            Some(parts)
        }

        fn times(&self, block: &dyn Parts) -> Result<OwnedTimes, DecodeError> {
            self.codec.times(block)
        }

        fn documents(&self, block: &dyn Parts) -> Result<OwnedDocuments, DecodeError> {
            self.codec.documents(block)
        }

        fn texts(
            &self,
            columns: Option<&dyn Parts>,
            documents: Documents<'_>,
            statistics: &[u8],
        ) -> Result<BlockTexts, DecodeError> {
            self.codec.texts(columns, documents, statistics)
        }

        fn unknown_part<'n>(
            &self,
            parts: &dyn Parts,
            names: &[&'n str],
        ) -> Result<Option<&'n str>, DecodeError> {
            self.codec.unknown_part(parts, names)
        }
    }

    fn append(store: &Store, names: &[&str]) {
        let documents: Vec<String> =
            (0..200).map(|n| format!(r#"{{"User":"{}","Paid":true}}"#, names[n % names.len()])).collect();
        let events: Vec<Event<'_>> =
            documents.iter().map(|text| Event { instant: 7, bytes: text.as_bytes() }).collect();
        store.append_sealed(&events, None).unwrap();
    }

    /// A store of so many segments, whose program leaves something in the blocks that it makes.
    fn leaky(folder: &std::path::Path, segments: usize, leaves: u8) -> (Store, Arc<Leaky>) {
        let codec = Arc::new(Leaky { codec: ShreddedBlocks::default(), leaves: AtomicU8::new(leaves) });
        let options = Options { segments: Layout::Columns, background: false, ..Options::default() };
        let store = Store::open(folder, options, codec.clone()).unwrap();
        for _ in 0..segments {
            append(&store, if leaves == IN_COLUMNS { &["bob", "eve"] } else { &["bob"] });
        }
        (store, codec)
    }

    #[test]
    fn all_files_with_a_text_that_no_event_has_are_written_anew_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (store, codec) = leaky(folder.path(), 3, IN_COLUMNS);
        codec.leaves.store(NOTHING, Relaxed);
        append(&store, &["dan"]);
        store.delete(&[Key { instant: 7, arrival: 650 }]).unwrap();
        assert!(matches!(store.erase(), Err(DeleteError::Stray(_))));
        assert!(store.erase().unwrap().receipt.is_some(), "one call has mended three files");
    }

    #[test]
    fn a_file_with_such_a_text_that_a_reader_holds_keeps_the_receipt_back() {
        let folder = tempfile::tempdir().unwrap();
        let (store, codec) = leaky(folder.path(), 1, IN_STATISTICS);
        store.delete(&[Key { instant: 7, arrival: 3 }]).unwrap();
        // Written anew, it has such a text again: so it is younger than the deletion.
        assert!(matches!(store.erase(), Err(DeleteError::Stray(_))));
        let held = store.snapshot();
        codec.leaves.store(NOTHING, Relaxed);
        assert!(matches!(store.erase(), Err(DeleteError::Stray(_))));
        let erased = store.erase().unwrap();
        assert!(erased.receipt.is_none() && erased.held.len() == 1, "{erased:?}");
        drop(held);
        assert!(store.erase().unwrap().receipt.is_some());
    }

    #[test]
    fn no_receipt_is_given_while_a_file_holds_a_text_that_no_event_has() {
        for (leaves, layout, expected) in [
            (IN_COLUMNS, Layout::Columns, "frame."),
            (IN_STATISTICS, Layout::Columns, "summary"),
            (IN_STATISTICS, Layout::Text, "summary"),
            (IN_A_PART, Layout::Columns, "later"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let codec = Arc::new(Leaky { codec: ShreddedBlocks::default(), leaves: AtomicU8::new(NOTHING) });
            let options = Options { segments: layout, background: false, ..Options::default() };
            let store = Store::open(folder.path(), options, codec.clone()).unwrap();
            append(&store, &["dan", "may"]);
            codec.leaves.store(leaves, Relaxed);
            append(&store, if leaves == IN_COLUMNS { &["bob", "eve"] } else { &["bob"] });
            codec.leaves.store(NOTHING, Relaxed);
            store.delete(&[Key { instant: 7, arrival: 3 }]).unwrap();
            let Err(DeleteError::Stray(StrayText { file, block, part, what })) = store.erase() else {
                panic!("a receipt was given")
            };
            assert_eq!(file.file_name().unwrap(), "0000000000000002.segment");
            assert!(block == Some(0) && part.as_ref().unwrap().starts_with(expected), "{part:?}");
            assert!(!what.replace("event", "").contains("eve"), "{what}");
            assert!(tamias_store::Receipt::list(folder.path()).unwrap().is_empty());
            // The file was written anew meanwhile.
            let receipt = store.erase().unwrap().receipt.unwrap();
            assert_eq!((receipt.events, receipt.stays.events, receipt.blocks), (1, 399, 2));
            assert!(receipt.texts > 4);
            assert_eq!(store.snapshot().check_receipt(&receipt).unwrap(), ReceiptCheck::Holds);
            codec.leaves.store(leaves, Relaxed);
            append(&store, if leaves == IN_COLUMNS { &["bob", "eve"] } else { &["bob"] });
            let check = store.snapshot().check_receipt(&receipt).unwrap();
            assert!(matches!(check, ReceiptCheck::Stray(_)), "{check:?}");
        }
    }

    #[test]
    fn times_that_are_not_those_of_the_index_are_damage_to_queries_too() {
        let folder = tempfile::tempdir().unwrap();
        let codec = Arc::new(Leaky { codec: ShreddedBlocks::default(), leaves: AtomicU8::new(LATER) });
        let options = Options { segments: Layout::Columns, background: false, ..Options::default() };
        let store = Store::open(folder.path(), options, codec).unwrap();
        append(&store, &["dan", "may"]);
        drop(store);
        let store = crate::Store::open_read_only(folder.path()).unwrap();
        let rows = store.query("select User, @Timestamp from stream limit 3").unwrap();
        let told: Vec<String> =
            rows.map(|row| row.map_or_else(|error| error.to_string(), |_| String::new())).collect();
        assert!(matches!(&told[..], [error] if error.contains("its times are not those")), "{told:?}");
    }

    /// A block that is nothing but a directory.
    struct Bare {
        directory: Vec<u8>,
        document_bytes: usize,
    }

    impl Parts for Bare {
        fn id(&self) -> BlockId {
            BlockId { opening: 0, segment: 1, block: 0 }
        }

        fn events(&self) -> usize {
            1
        }

        fn document_bytes(&self) -> usize {
            self.document_bytes
        }

        fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ReadError> {
            Ok((name == DIRECTORY).then(|| self.directory.clone()))
        }
    }

    #[test]
    fn a_directory_that_tells_of_a_gigabyte_of_documents_is_none_of_a_small_block() {
        // How long it is; one event of 1 GiB, and a column `a` of 2^31 times the number 5.
        let unpacked = [
            0x2a, 0x01, 0x80, 0x80, 0x80, 0x80, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x61,
            0x01, 0x02, 0x02, 0x80, 0x80, 0x80, 0x80, 0x08, 0x04, 0x00, 0x02, 0x01, 0x00, 0x00, 0x01, 0x00,
            0x00, 0x00, 0x00, 0x01, 0x03, 0x00, 0x18, 0x0a, 0x01, 0x00, 0x00,
        ];
        let directory = tamias_shred::forge::directory(&unpacked, &[]).unwrap();
        assert_eq!(Group::open(&directory).unwrap().document_bytes(), 1 << 30, "it is well formed");
        let opened = |document_bytes| open(&Bare { directory: directory.clone(), document_bytes });
        assert!(matches!(opened(9), Err(DecodeError::Malformed(_))));
        assert!(opened((1 << 30) + 1).is_ok());
    }
}
