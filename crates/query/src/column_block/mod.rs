//! A block that is stored in columns: what stands at a path, decoded when it is asked for first and kept.

mod array;
mod array_column;
mod coded;
mod coded_numbers;
mod compact;
mod decoded;
mod documents;
mod in_json;
mod kept;
mod kept_columns;
mod made;
mod of_texts;
mod path_column;
mod paths;
mod piece_column;

pub(crate) use array::Array;
pub(crate) use array_column::ArrayColumn;
pub(crate) use coded::{Coded, TextNumbers};
use decoded::{Beside, OfShapes};
pub use decoded::{DecodedColumns, OwnDocuments};
use kept::lock;
pub(crate) use kept::{Path, Use};
pub(crate) use kept_columns::KeptColumns;
pub(crate) use path_column::{MixedColumn, PathColumn};
pub(crate) use piece_column::PieceColumn;

use crate::chunk::OwnTimes;
use crate::dictionary::Dictionary;
use crate::stored::{Documents, SourceError, Times};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use tamias_shred::{
    AtArrays, AtObjects, AtPath, AtRows, DecodeError, EventTimes, Frames, Group, GroupReader, Holds, Numbers,
    ShapeCodes, TextPath, Wanted,
};
use thiserror::Error;

/// Reads the frames of a group.
pub trait ReadFrame: Send + Sync {
    /// The stored bytes of a frame.
    ///
    /// # Errors
    /// Whatever keeps them from being read.
    fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError>;

    /// Whether what stands at a path has to be waited for, and was not asked for ahead: its frames had better be asked for together before they are read one after another.
    fn has_to_wait(&self, _path: &[Box<str>]) -> bool {
        false
    }

    /// Asks for frames that will be read, in ascending order. A hint.
    fn expect(&self, _frames: &[u32]) {}

    /// Whether these are the times of the block, as far as whoever stores it knows them.
    fn times_fit(&self, _times: Times<'_>) -> bool {
        true
    }

    /// Whether these may be its documents, as far as whoever stores it knows them.
    fn documents_fit(&self, _documents: Documents<'_>) -> bool {
        true
    }
}

/// Why a column cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// A frame cannot be read.
    #[error(transparent)]
    Read(SourceError),
    /// What was read is not what was written.
    #[error("{0}")]
    Decode(#[from] DecodeError),
}

/// A block in columns: what was decoded of it, and where the rest comes from.
pub struct ColumnBlock {
    decoded: Arc<DecodedColumns>,
    /// In whose turn this is.
    turn: u64,
    source: Box<dyn ReadFrame>,
    /// Places of events that are deleted, in order.
    deleted: Vec<Range<u32>>,
    /// Documents that are not kept with what was decoded.
    documents: OnceLock<OwnDocuments>,
    /// Parts of the documents, and the keys that they have.
    partial: OnceLock<(Vec<Box<str>>, OwnDocuments)>,
    /// The bytes of frames that were read through this handle.
    read_bytes: AtomicU64,
    /// What the last reader has read of shapes.
    codes: Mutex<ShapeCodes>,
}

/// What becomes of the frames that are read.
enum FramesRead {
    /// They are kept with what was decoded, as more will be read of them.
    Kept,
    /// Those that are of one column are there for one reader: what is made of them is kept itself. By number.
    Lent(Vec<OnceLock<Vec<u8>>>),
}

/// Frames for a reader: those that are there, or else they are read.
struct Reading<'r> {
    block: &'r ColumnBlock,
    frames: FramesRead,
    failure: Mutex<Option<SourceError>>,
}

impl Reading<'_> {
    fn read(&self, frame: u32) -> Option<Vec<u8>> {
        let failed = |error| {
            lock(&self.failure).get_or_insert(error);
        };
        let bytes = self.block.source.frame(frame).map_err(failed).ok()?;
        self.block.read_bytes.fetch_add(bytes.len() as u64, Relaxed);
        Some(bytes)
    }
}

impl Frames for Reading<'_> {
    fn frame(&self, frame: u32) -> Option<&[u8]> {
        let ColumnBlock { decoded, turn, .. } = self.block;
        let lent = match &self.frames {
            FramesRead::Lent(lent) if decoded.group.is_of_one(frame) => lent.get(frame as usize)?,
            FramesRead::Lent(_) | FramesRead::Kept => {
                return decoded.frame(frame, *turn, || self.read(frame));
            }
        };
        if let Some(bytes) = decoded.known_frame(frame, *turn).or_else(|| lent.get().map(Vec::as_slice)) {
            return Some(bytes);
        }
        let bytes = self.read(frame)?;
        Some(lent.get_or_init(|| bytes))
    }
}

const TIMES_DIFFER: &str = "its times are not those that the index tells";
const DOCUMENTS_DIFFER: &str = "its documents are not those that the index tells";

/// What shapes tell of each event, as a column.
fn column_of(told: tamias_shred::Coded<'static>) -> Arc<PathColumn> {
    Arc::new(PathColumn::Coded(Coded::new(Some(told.codes), Arc::new(told.entries.into()))))
}

/// The keys of a path.
fn keys_of(path: &[Box<str>]) -> Vec<&str> {
    path.iter().map(AsRef::as_ref).collect()
}

impl ColumnBlock {
    /// A block by its directory, which is read at once, and its frames, which are read when they are needed. Takes time and memory linear in the
    /// directory.
    ///
    /// # Errors
    /// If the directory is not what was written.
    pub fn open(directory: &[u8], frames: Box<dyn ReadFrame>) -> Result<ColumnBlock, DecodeError> {
        let group = Group::open(directory)?;
        Ok(ColumnBlock::sharing(Arc::new(DecodedColumns::new(group)), frames))
    }

    /// The same block again, with what was decoded of it before.
    pub fn sharing(decoded: Arc<DecodedColumns>, frames: Box<dyn ReadFrame>) -> ColumnBlock {
        let (documents, partial) = (OnceLock::new(), OnceLock::new());
        let (deleted, read_bytes) = (Vec::new(), AtomicU64::new(0));
        let codes = Mutex::default();
        ColumnBlock { decoded, turn: 0, source: frames, deleted, documents, partial, read_bytes, codes }
    }

    /// The same without the events at some places, which are in order: queries pass over them. What is asked of it here is told of all events.
    pub fn without(self, deleted: Vec<Range<u32>>) -> ColumnBlock {
        ColumnBlock { deleted, ..self }
    }

    /// Where events of a range are that is counted without the deleted ones.
    pub(crate) fn places(&self, events: Range<usize>) -> Range<usize> {
        let (first, last) = (events.start, events.end.max(1) - 1);
        if events.is_empty() || self.deleted.is_empty() {
            return events;
        }
        self.place(first)..self.place(last) + 1
    }

    /// Where the event is that so many come before, not counting the deleted ones.
    fn place(&self, before: usize) -> usize {
        let mut place = before;
        for deleted in &self.deleted {
            if deleted.start as usize > place {
                break;
            }
            place += deleted.len();
        }
        place
    }

    /// The places in a range where events are deleted.
    pub(crate) fn deleted_in(&self, events: &Range<usize>) -> &[Range<u32>] {
        let first = self.deleted.partition_point(|deleted| deleted.end as usize <= events.start);
        let end = self.deleted.partition_point(|deleted| (deleted.start as usize) < events.end);
        self.deleted.get(first..end).unwrap_or_default()
    }

    /// The same for the query of this number: what it decodes and uses is known by it.
    pub fn in_turn(self, turn: u64) -> ColumnBlock {
        ColumnBlock { turn, ..self }
    }

    /// The bytes that were read since this was asked last, as they are stored.
    pub(crate) fn take_read_bytes(&self) -> u64 {
        self.read_bytes.swap(0, Relaxed)
    }

    /// What was decoded, to be shared.
    pub fn decoded(&self) -> &Arc<DecodedColumns> {
        &self.decoded
    }

    /// How many events it has.
    pub fn len(&self) -> usize {
        self.decoded.group.events()
    }

    /// Bytes of all documents together, without line feeds, as its directory tells.
    pub fn document_bytes(&self) -> usize {
        self.decoded.group.document_bytes()
    }

    /// Whether it has no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The instants and arrival numbers.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn times(&self) -> Result<Times<'_>, ColumnError> {
        Ok(self.own_times()?.times())
    }

    /// The same, to be shared.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn own_times(&self) -> Result<&Arc<OwnTimes>, ColumnError> {
        Ok(match self.decoded.times(self.turn) {
            Some(times) => times,
            None => {
                let EventTimes { instants, arrivals } = self.read_once(|reader| reader.times())?;
                let times = OwnTimes::new(instants, arrivals);
                // What looks for an instant counts on it.
                if !times.is_sorted() && !times.has_instants_in_order() {
                    return Err(
                        DecodeError::Malformed { what: "its events are not in the order of time" }.into()
                    );
                }
                if !self.source.times_fit(times.times()) {
                    return Err(DecodeError::Malformed { what: TIMES_DIFFER }.into());
                }
                self.decoded.keep_times(times, self.turn)
            }
        })
    }

    /// The keys of the documents' top level, as they spell them; none where a document has one twice, or is kept as text.
    pub(crate) fn keys(&self) -> Option<Vec<Box<str>>> {
        match &*self.objects_at(&[]) {
            AtObjects::Objects(keys) => Some(keys.clone()),
            AtObjects::Nothing => Some(Vec::new()),
            AtObjects::Unknown => None,
        }
    }

    /// Whether each event that has something at a path has something at another one.
    pub(crate) fn comes_with(&self, path: &Path, with: &Path) -> bool {
        let question = OfShapes::ComesWith(path.clone(), with.clone());
        self.decoded.answer(question, self.turn, |group| group.comes_with(&keys_of(path), &keys_of(with)))
    }

    /// The paths of the strings in which something may stand: it stands in no others. None where columns cannot tell.
    pub(crate) fn paths_with(
        &self,
        wanted: Wanted<'_>,
        find: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Vec<TextPath>>, ColumnError> {
        self.read(|reader| reader.paths_with(wanted, find))
    }

    /// What stands at a path of keys, as documents spell them.
    pub(crate) fn at(&self, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        self.at_for(Use::Values, path)
    }

    /// The same for some use.
    pub(crate) fn at_for(&self, usage: Use, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        if let Some(column) = self.known_for(usage, path) {
            return Ok(column);
        }
        self.expect(path);
        let at = self.read_once(|reader| reader.at(&keys_of(path)))?;
        Ok(self.keep(usage, path, at))
    }

    /// The same if it was decoded before.
    pub(crate) fn known_for(&self, usage: Use, path: &[Box<str>]) -> Option<Arc<PathColumn>> {
        self.decoded.column_for(usage, path, self.turn)
    }

    /// What stands at a path of keys, where it makes no difference which event has what: numbers come as they are stored, and the first events seem to have them.
    pub(crate) fn at_in_any_order(
        &self,
        usage: Use,
        path: &[Box<str>],
    ) -> Result<Arc<PathColumn>, ColumnError> {
        let known = self.known_for(usage, path);
        // That its values have no column does not say whether they are there.
        let known = known.filter(|column| !matches!(**column, PathColumn::Unknown));
        if let Some(column) = known.or_else(|| self.decoded.beside(Beside::InAnyOrder, path, self.turn)) {
            return Ok(column);
        }
        Ok(match self.read_once(|reader| reader.numbers_in_any_order(&keys_of(path)))? {
            Some(numbers) => {
                let column = PathColumn::of_numbers(numbers, self.len());
                self.decoded.keep_beside(Beside::InAnyOrder, path, Arc::new(column), self.turn)
            }
            None => self.at_for(usage, path)?,
        })
    }

    /// Whether something stands at a path of keys: its column, where that is there already, or else one with `true` in the place of all values but `null`.
    pub(crate) fn presence(&self, path: &[Box<str>]) -> Result<Arc<PathColumn>, ColumnError> {
        let known = self.decoded.column(path, self.turn);
        if let Some(column) = known.or_else(|| self.decoded.beside(Beside::Presence, path, self.turn)) {
            return Ok(column);
        }
        Ok(match self.read_once(|reader| reader.presence(&keys_of(path)))? {
            Some(told) => self.decoded.keep_beside(Beside::Presence, path, column_of(told), self.turn),
            None => self.at(path)?,
        })
    }

    /// Which keys the objects at a path have, as arrays of strings; none where columns cannot tell it.
    pub(crate) fn object_keys(&self, path: &[Box<str>]) -> Result<Option<Arc<PathColumn>>, ColumnError> {
        if let Some(known) = self.decoded.beside(Beside::ObjectKeys, path, self.turn) {
            return Ok(Some(known));
        }
        let told = self.read_once(|reader| reader.object_keys(&keys_of(path)))?;
        let keep = |told| self.decoded.keep_beside(Beside::ObjectKeys, path, column_of(told), self.turn);
        Ok(told.map(keep))
    }

    /// The messages of all events, if they were rendered before, by the path of their templates.
    pub(crate) fn known_messages(&self, templates: &Path) -> Option<Arc<PathColumn>> {
        self.decoded.beside(Beside::Messages, templates, self.turn)
    }

    /// Keeps the messages of all events.
    pub(crate) fn keep_messages(&self, templates: &Path, messages: Arc<PathColumn>) -> Arc<PathColumn> {
        self.decoded.keep_beside(Beside::Messages, templates, messages, self.turn)
    }

    /// Asks for what is read of a path together where it has to be waited for: of what was not foreseen a reader would wait for one frame after another.
    fn expect(&self, path: &[Box<str>]) {
        if self.source.has_to_wait(path) {
            self.source.expect(&self.decoded.group.frames_at(&keys_of(path)));
        }
    }

    /// The frames that are read for what stands at some paths, and for the times, in ascending order.
    pub(crate) fn frames_at(&self, paths: &[Path], and_times: bool) -> Vec<u32> {
        let group = &self.decoded.group;
        let mut frames: Vec<u32> = paths.iter().flat_map(|path| group.frames_at(&keys_of(path))).collect();
        if and_times {
            frames.extend(group.frames_of_times());
        }
        frames.sort_unstable();
        frames.dedup();
        frames
    }

    /// Whether that was decoded before, for all rows.
    pub(crate) fn has(&self, path: &[Box<str>]) -> bool {
        self.decoded.column(path, self.turn).is_some()
    }

    /// What stands at a path, where some rows are looked at, in ascending order; others may seem to have nothing. Texts are made for these rows alone, and for
    /// all once others are asked for.
    pub(crate) fn at_rows(&self, path: &[Box<str>], rows: &[u32]) -> Result<Arc<PathColumn>, ColumnError> {
        match self.decoded.partly(path, self.turn) {
            Some(known) if known.tells(rows) => return Ok(known),
            None if !self.has(path) => {}
            _ => return self.at(path),
        }
        self.expect(path);
        Ok(match self.read(|reader| reader.at_rows(&keys_of(path), rows))? {
            AtRows::All(at) => self.keep(Use::Values, path, at),
            AtRows::Some(texts) => self.decoded.keep_partly(path, texts, rows, self.turn),
        })
    }

    /// How many characters the texts at a path have, if that was counted before.
    pub(crate) fn known_lengths(&self, path: &[Box<str>]) -> Option<Arc<Numbers>> {
        self.decoded.lengths(path, self.turn)
    }

    /// How many characters the texts at a path have, if they come in pieces, which are not kept for that.
    pub(crate) fn lengths(&self, path: &Path) -> Result<Option<Arc<Numbers>>, ColumnError> {
        if let Some(known) = self.known_lengths(path) {
            return Ok(Some(known));
        }
        let Some(lengths) = self.read(|reader| reader.lengths_at(&keys_of(path)))? else {
            return Ok(None);
        };
        let counted = piece_column::numbers_of(&lengths, |rows| self.texts_at(path, rows))?;
        Ok(counted.map(|counted| self.decoded.keep_lengths(path, counted, self.turn)))
    }

    /// Begins a search of the texts at a path that are not kept for it, if they come in pieces: where that was done before they had better be.
    pub(crate) fn begin_search_in_passing(&self, path: &Path) -> bool {
        !self.has(path) && self.is_in_pieces(path) && self.decoded.begin_search_in_passing(path, self.turn)
    }

    /// Of each row whether something stands in its text, if these come in pieces, which are not kept for that.
    pub(crate) fn search(
        &self,
        path: &Path,
        wanted: Wanted<'_>,
        find: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Vec<Holds>>, ColumnError> {
        self.read(|reader| reader.search_at(&keys_of(path), wanted, find))
    }

    /// [Beginnings](tamias_shred::TextPieces::beginnings) of the texts at a path, if these come in pieces, which are not kept for that.
    pub(crate) fn beginnings(
        &self,
        path: &Path,
        tells: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Coded>, ColumnError> {
        let beginnings = self.read(|reader| reader.beginnings_at(&keys_of(path), tells))?;
        Ok(beginnings.map(|coded| Coded::new(Some(coded.codes), Arc::new(coded.entries.into()))))
    }

    /// The texts of some rows, in ascending order, which come in pieces.
    pub(crate) fn texts_at(&self, path: &Path, rows: &[u32]) -> Result<Dictionary, ColumnError> {
        Ok(match self.read(|reader| reader.at_rows(&keys_of(path), rows))? {
            AtRows::Some(texts) => texts.into(),
            AtRows::All(at) => {
                let column = PathColumn::new(at, self.len());
                Dictionary::of(rows.iter().map(|row| column.json(*row as usize)))
            }
        })
    }

    /// Whether the values at a path are texts in pieces, which tell how long these are.
    pub(crate) fn is_in_pieces(&self, path: &Path) -> bool {
        let question = OfShapes::IsInPieces(path.clone());
        self.decoded.answer(question, self.turn, |group| group.is_in_pieces(&keys_of(path)))
    }

    /// What shapes tell of the arrays at a path of events, or of the elements of other arrays.
    pub(crate) fn arrays_at(&self, of: Option<&Array>, path: &[Box<str>]) -> AtArrays {
        let group = &self.decoded.group;
        *self.decoded.arrays_at(Array::way_to(of, path), self.turn, || match of {
            None => group.arrays_at(&keys_of(path)),
            Some(of) => group.arrays_within(of.at, &keys_of(path)),
        })
    }

    /// What shapes tell of the objects at a path of events.
    pub(crate) fn objects_at(&self, path: &[Box<str>]) -> Arc<AtObjects> {
        self.decoded.objects_at(path, self.turn, || self.decoded.group.objects_at(&keys_of(path)))
    }

    /// Whether so many paths are looked for in its shapes more quickly than its documents are put together.
    pub(crate) fn may_look_for(&self, paths: usize) -> bool {
        self.decoded.group.shape_tokens().saturating_mul(paths) <= self.document_bytes()
    }

    /// Whether columns tell what stands at a path of elements.
    pub(crate) fn tells_elements(&self, of: &Array, path: &[Box<str>]) -> bool {
        let question = OfShapes::TellsElements(of.way.clone(), path.into());
        self.decoded.answer(question, self.turn, |group| group.tells_elements(of.at, &keys_of(path)))
    }

    /// Where the elements of arrays are.
    pub(crate) fn arrays(&self, of: &Array) -> Result<Arc<ArrayColumn>, ColumnError> {
        if let Some(known) = self.decoded.arrays(&of.way, self.turn) {
            return Ok(known);
        }
        let arrays = self.read_once(|reader| reader.arrays(of.at))?;
        Ok(self.decoded.keep_arrays(&of.way, ArrayColumn::new(arrays, of.at.rows), self.turn))
    }

    /// What stands at a path of elements: each is a row.
    pub(crate) fn in_elements(&self, of: &Array, below: &Path) -> Result<Arc<PathColumn>, ColumnError> {
        let place = (of.way.clone(), below.clone());
        if let Some(known) = self.decoded.in_elements(&place, self.turn) {
            return Ok(known);
        }
        let at = self.read_once(|reader| reader.at_elements(of.at, &keys_of(below)))?;
        Ok(self.decoded.keep_in_elements(place, PathColumn::new(at, of.at.elements), self.turn))
    }

    fn keep(&self, usage: Use, path: &[Box<str>], at: AtPath) -> Arc<PathColumn> {
        self.decoded.keep_column(usage, path, PathColumn::new(at, self.len()), self.turn)
    }

    /// Reads something of which more may be asked: the frames are kept.
    fn read<T>(
        &self,
        read: impl FnOnce(&mut GroupReader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, ColumnError> {
        self.read_with(FramesRead::Kept, read)
    }

    /// Reads something that is kept itself, or of which hardly more will be asked. To read frames again that are in the page cache takes less than to keep all of
    /// them in memory of their own: that has to be cleared first, where what the last block has left would serve this one.
    fn read_once<T>(
        &self,
        read: impl FnOnce(&mut GroupReader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, ColumnError> {
        let places = (0..self.decoded.group.frames()).map(|_| OnceLock::new());
        self.read_with(FramesRead::Lent(places.collect()), read)
    }

    fn read_with<T>(
        &self,
        frames: FramesRead,
        read: impl FnOnce(&mut GroupReader<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, ColumnError> {
        let frames = Reading { block: self, frames, failure: Mutex::default() };
        let codes = std::mem::take(&mut *lock(&self.codes));
        let mut reader = self.decoded.group.read(&frames).with_codes(codes);
        let result = read(&mut reader);
        *lock(&self.codes) = reader.into_codes();
        // A frame that could not be read is why the rest could not be decoded.
        result.map_err(|error| {
            lock(&frames.failure).take().map_or(ColumnError::Decode(error), ColumnError::Read)
        })
    }
}

impl std::fmt::Debug for ColumnBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnBlock").field("events", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tamias_shred::{Event, encode};

    impl ReadFrame for Vec<Vec<u8>> {
        fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError> {
            self.get(number as usize).cloned().ok_or_else(|| "no such frame".into())
        }
    }

    pub(super) fn block(events: usize) -> ColumnBlock {
        let documents: Vec<String> = (0..events).map(|n| format!(r#"{{"N":{n}}}"#)).collect();
        let documents = documents.iter().map(String::as_bytes);
        let events: Vec<Event<'_>> =
            documents.map(|document| Event { instant: 0, arrival: 0, document }).collect();
        let encoded = encode(&events).unwrap();
        ColumnBlock::open(&encoded.directory, Box::new(encoded.frames)).unwrap()
    }

    /// Frames of a medium that has to be waited for, and what was asked of it: frames that are expected, and single ones that are read.
    struct Slow(Vec<Vec<u8>>, Arc<Mutex<Vec<Vec<u32>>>>);

    impl ReadFrame for Slow {
        fn frame(&self, number: u32) -> Result<Vec<u8>, SourceError> {
            lock(&self.1).push(vec![number]);
            ReadFrame::frame(&self.0, number)
        }

        fn has_to_wait(&self, path: &[Box<str>]) -> bool {
            path == [Box::from("T")]
        }

        fn expect(&self, frames: &[u32]) {
            lock(&self.1).push(frames.to_vec());
        }
    }

    #[test]
    fn what_has_to_be_waited_for_is_asked_for_together_before_it_is_read() {
        let text = |n: u64| format!("{:x}", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let document = |n: u64| format!(r#"{{"N":{},"T":"{} {}"}}"#, n * n, text(n), text(n + 7_000));
        let documents: Vec<String> = (0..3_000).map(document).collect();
        let documents = documents.iter().map(String::as_bytes);
        let events: Vec<Event<'_>> =
            documents.map(|document| Event { instant: 0, arrival: 0, document }).collect();
        let encoded = encode(&events).unwrap();
        for rows in [None, Some([5, 70])] {
            let asked = Arc::default();
            let frames = Slow(encoded.frames.clone(), Arc::clone(&asked));
            let block = ColumnBlock::open(&encoded.directory, Box::new(frames)).unwrap();
            let path = [Box::from("T")];
            match rows {
                None => block.at(&path).unwrap(),
                Some(rows) => block.at_rows(&path, &rows).unwrap(),
            };
            let asked = lock(&asked);
            let (first, read) = asked.split_first().unwrap();
            assert!(first.len() > 1 && !read.is_empty(), "{asked:?}");
            assert!(read.iter().flatten().all(|frame| first.contains(frame)), "{asked:?}");
        }
    }

    #[test]
    fn a_path_of_long_keys_that_no_event_has_is_counted_by_its_length() {
        let block = block(3);
        let before = block.decoded().held_bytes();
        block.at(&["x".repeat(1_000_000).into()]).unwrap();
        let held = block.decoded().held_bytes() - before;
        assert!((1_000_000..1_001_000).contains(&held), "{held}");
    }

    /// Each of them would tell another what it is not asked for.
    #[test]
    fn numbers_in_any_order_are_kept_apart_from_those_of_events() {
        let documents = [r#"{"M":1}"#, r#"{"N":7}"#, r#"{"M":2}"#, r#"{"N":5,"M":3}"#].map(str::as_bytes);
        let events = documents.map(|document| Event { instant: 0, arrival: 0, document });
        let encoded = encode(&events).unwrap();
        let block = ColumnBlock::open(&encoded.directory, Box::new(encoded.frames)).unwrap();
        let path: Path = [Box::from("N")].into();
        let rows = |column: &PathColumn| match column {
            PathColumn::Numbers(column) => column.numbers.rows.clone(),
            other => panic!("{other:?} are numbers"),
        };
        let held = block.decoded().held_bytes();
        assert_eq!(rows(&block.at_in_any_order(Use::Values, &path).unwrap()), Some(vec![0, 1]));
        assert!(block.decoded().held_bytes() > held && !block.has(&path));
        assert_eq!(rows(&block.at(&path).unwrap()), Some(vec![1, 3]));
        // Those of events serve as well, once they are there.
        assert_eq!(rows(&block.at_in_any_order(Use::Values, &path).unwrap()), Some(vec![1, 3]));
    }

    #[test]
    fn texts_are_counted_without_being_kept_and_searched_so_again_once_they_were_kept_in_vain() {
        let documents: Vec<String> =
            (0..500).map(|n| format!(r#"{{"m":"order {n} was paid and sent","n":{n}}}"#)).collect();
        let documents = documents.iter().map(String::as_bytes);
        let events: Vec<Event<'_>> =
            documents.map(|document| Event { instant: 0, arrival: 0, document }).collect();
        let encoded = encode(&events).unwrap();
        let block = ColumnBlock::open(&encoded.directory, Box::new(encoded.frames)).unwrap().in_turn(1);
        let path: Path = [Box::from("m")].into();
        let held = block.decoded().held_bytes();
        let lengths = block.lengths(&path).unwrap().unwrap();
        assert_eq!((lengths.values[7], lengths.values[77]), (25, 26));
        assert!(block.decoded().held_bytes() > held && !block.has(&path));
        assert_eq!(block.decoded().compacted().lengths(&path, 1), Some(lengths));

        assert!(block.begin_search_in_passing(&path));
        let block = block.in_turn(2);
        assert!(!block.begin_search_in_passing(&path));
        block.at(&path).unwrap();
        let without = Arc::new(block.decoded().made_before(2));
        let block = ColumnBlock::sharing(without, Box::new(Vec::new())).in_turn(3);
        assert!(block.begin_search_in_passing(&path));
        assert!(block.in_turn(4).begin_search_in_passing(&path));
    }
}
