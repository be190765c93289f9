//! What was decoded of a block in columns, kept for queries to come.

use super::array_column::ArrayColumn;
use super::path_column::PathColumn;
use crate::chunk::OwnTimes;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tamias_shred::{Group, Texts};

/// Keys, as documents spell them.
pub(crate) type Path = Box<[Box<str>]>;

/// Documents put together, as a block of text has them.
#[derive(Debug, Default)]
pub struct OwnDocuments {
    /// The documents, each followed by a line feed.
    pub bytes: Vec<u8>,
    /// For each event the offset just past its document, as a little-endian `u32`.
    pub ends: Vec<[u8; 4]>,
}

/// What was decoded of a block in columns. Queries that read the block one after another, or at once, may share it.
///
/// It consists of pieces: a frame that was read, the column of a path, the times, the documents. Of each piece it is known in whose turn it was made,
/// and in whose turn it was used last, so that a cache can keep some pieces without the others. Turns are the numbers of queries.
pub struct DecodedColumns {
    pub(super) group: Arc<Group>,
    /// The frames that were read.
    frames: Vec<Piece<Vec<u8>>>,
    paths: Columns<Path, PathColumn>,
    /// What was made for some rows only.
    partly: Columns<Path, PathColumn>,
    arrays: Columns<Path, ArrayColumn>,
    /// What stands at paths of elements, by the paths of their arrays and their own.
    in_elements: Columns<(Path, Path), PathColumn>,
    times: Piece<OwnTimes>,
    /// All of them, once they were asked for more than once.
    documents: Piece<OwnDocuments>,
    were_documents_asked_for: AtomicBool,
    /// What it takes in memory without any piece, in bytes.
    own_bytes: usize,
}

/// Columns by their paths.
type Columns<P, C> = Mutex<HashMap<P, Kept<C>>>;

/// The column of a path.
struct Kept<C> {
    column: Arc<C>,
    turns: Turns,
}

/// When a piece was made, and when it was used last.
#[derive(Clone, Copy)]
struct Turns {
    made: u64,
    used: u64,
}

/// A piece that is made at most once.
struct Piece<T> {
    value: OnceLock<Arc<T>>,
    made: AtomicU64,
    used: AtomicU64,
}

impl<T> Default for Piece<T> {
    fn default() -> Piece<T> {
        Piece { value: OnceLock::new(), made: AtomicU64::new(0), used: AtomicU64::new(0) }
    }
}

impl<T> Piece<T> {
    fn get(&self, turn: u64) -> Option<&Arc<T>> {
        let value = self.value.get()?;
        self.used.fetch_max(turn, Relaxed);
        Some(value)
    }

    /// Where another thread was first, its value counts.
    fn set(&self, value: T, turn: u64) -> &Arc<T> {
        let value = self.value.get_or_init(|| {
            self.made.store(turn, Relaxed);
            Arc::new(value)
        });
        self.used.fetch_max(turn, Relaxed);
        value
    }

    fn turns(&self) -> Turns {
        Turns { made: self.made.load(Relaxed), used: self.used.load(Relaxed) }
    }

    /// The piece if it is to be kept, or else none.
    fn kept_if(&self, is_kept: impl Fn(Turns) -> bool) -> Piece<T> {
        let turns = self.turns();
        match self.value.get().filter(|_| is_kept(turns)) {
            None => Piece::default(),
            Some(value) => {
                let Turns { made, used } = turns;
                Piece { value: OnceLock::from(value.clone()), made: made.into(), used: used.into() }
            }
        }
    }
}

impl OwnDocuments {
    fn held_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

/// What a path takes beside what its column holds: its place in a map with the column, and its keys, each with how long it is.
fn path_bytes(path: &[Box<str>]) -> usize {
    const PLACE_BYTES: usize = 256;
    PLACE_BYTES + path.iter().map(|key| size_of::<Box<str>>() + key.len()).sum::<usize>()
}

impl DecodedColumns {
    pub(super) fn new(group: Group) -> DecodedColumns {
        let places = group.frames() * size_of::<Piece<Vec<u8>>>();
        DecodedColumns {
            own_bytes: size_of::<DecodedColumns>() + group.held_bytes() + places,
            frames: (0..group.frames()).map(|_| Piece::default()).collect(),
            group: Arc::new(group),
            paths: Columns::default(),
            partly: Columns::default(),
            arrays: Columns::default(),
            in_elements: Columns::default(),
            times: Piece::default(),
            documents: Piece::default(),
            were_documents_asked_for: AtomicBool::new(false),
        }
    }

    /// A frame, which is read if it is not there; none if there is no such frame, or it cannot be read.
    pub(super) fn frame(
        &self,
        frame: u32,
        turn: u64,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<&[u8]> {
        let place = self.frames.get(frame as usize)?;
        if let Some(bytes) = place.get(turn) {
            return Some(bytes);
        }
        Some(place.set(read()?, turn))
    }

    pub(super) fn times(&self, turn: u64) -> Option<&Arc<OwnTimes>> {
        self.times.get(turn)
    }

    pub(super) fn keep_times(&self, times: OwnTimes, turn: u64) -> &Arc<OwnTimes> {
        self.times.set(times, turn)
    }

    pub(super) fn documents(&self, turn: u64) -> Option<&OwnDocuments> {
        self.documents.get(turn).map(|documents| &**documents)
    }

    pub(super) fn keep_documents(&self, documents: OwnDocuments, turn: u64) -> &OwnDocuments {
        self.documents.set(documents, turn)
    }

    /// Takes note that all documents are asked for: whether they were before.
    pub fn documents_are_asked_for(&self) -> bool {
        self.were_documents_asked_for.swap(true, Relaxed)
    }

    /// The column of a path.
    pub(super) fn column(&self, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        known(&self.paths, path, turn)
    }

    /// Keeps the column of a path. Where another thread was first, its column counts.
    pub(super) fn keep_column(&self, path: &[Box<str>], column: PathColumn, turn: u64) -> Arc<PathColumn> {
        keep(&self.paths, path.into(), Arc::new(column), turn)
    }

    /// What was made of a path for some rows.
    pub(super) fn partly(&self, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        known(&self.partly, path, turn)
    }

    /// Keeps what was made of a path for some rows, unless something of it is kept: another query may keep other rows by now.
    pub(super) fn keep_partly(
        &self,
        path: &[Box<str>],
        texts: Texts<'_>,
        rows: &[u32],
        turn: u64,
    ) -> Arc<PathColumn> {
        let column = Arc::new(PathColumn::of_rows(texts, rows, self.group.events()));
        keep(&self.partly, path.into(), column.clone(), turn);
        column
    }

    /// The arrays at a path.
    pub(super) fn arrays(&self, path: &Path, turn: u64) -> Option<Arc<ArrayColumn>> {
        known(&self.arrays, path, turn)
    }

    pub(super) fn keep_arrays(&self, path: &Path, arrays: ArrayColumn, turn: u64) -> Arc<ArrayColumn> {
        keep(&self.arrays, path.clone(), Arc::new(arrays), turn)
    }

    /// What stands at a path of elements, by the path of their arrays and their own.
    pub(super) fn in_elements(&self, place: &(Path, Path), turn: u64) -> Option<Arc<PathColumn>> {
        known(&self.in_elements, place, turn)
    }

    pub(super) fn keep_in_elements(
        &self,
        place: (Path, Path),
        column: PathColumn,
        turn: u64,
    ) -> Arc<PathColumn> {
        keep(&self.in_elements, place, Arc::new(column), turn)
    }

    /// What it takes in memory, in bytes, about.
    pub fn held_bytes(&self) -> usize {
        let mut bytes = self.own_bytes;
        self.each_piece(&mut |_, piece| bytes += piece);
        bytes
    }

    /// Goes through all pieces: in which turn each was used last, and what it takes in memory, in bytes.
    pub fn pieces(&self, mut act: impl FnMut(u64, usize)) {
        self.each_piece(&mut |turns, bytes| act(turns.used, bytes));
    }

    /// The pieces that were used in this turn or later, without the others.
    pub fn used_since(&self, turn: u64) -> DecodedColumns {
        self.kept_if(&|turns| turns.used >= turn)
    }

    /// The pieces that were made before this turn, without the others.
    pub fn made_before(&self, turn: u64) -> DecodedColumns {
        self.kept_if(&|turns| turns.made < turn)
    }

    fn each_piece(&self, act: &mut dyn FnMut(Turns, usize)) {
        for frame in &self.frames {
            if let Some(bytes) = frame.value.get() {
                act(frame.turns(), bytes.capacity());
            }
        }
        for columns in [&self.paths, &self.partly] {
            for (path, Kept { column, turns }) in &*lock(columns) {
                act(*turns, column.held_bytes() + path_bytes(path));
            }
        }
        for (path, Kept { column, turns }) in &*lock(&self.arrays) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
        for ((array, path), Kept { column, turns }) in &*lock(&self.in_elements) {
            act(*turns, column.held_bytes() + path_bytes(array) + path_bytes(path));
        }
        if let Some(times) = self.times.value.get() {
            act(self.times.turns(), 16 * times.instants.len());
        }
        if let Some(documents) = self.documents.value.get() {
            act(self.documents.turns(), documents.held_bytes());
        }
    }

    fn kept_if(&self, is_kept: &dyn Fn(Turns) -> bool) -> DecodedColumns {
        DecodedColumns {
            group: self.group.clone(),
            frames: self.frames.iter().map(|frame| frame.kept_if(is_kept)).collect(),
            paths: some_of(&self.paths, is_kept),
            partly: some_of(&self.partly, is_kept),
            arrays: some_of(&self.arrays, is_kept),
            in_elements: some_of(&self.in_elements, is_kept),
            times: self.times.kept_if(is_kept),
            documents: self.documents.kept_if(is_kept),
            were_documents_asked_for: AtomicBool::new(self.were_documents_asked_for.load(Relaxed)),
            own_bytes: self.own_bytes,
        }
    }
}

/// A column that is kept.
fn known<P, C, Q>(columns: &Columns<P, C>, path: &Q, turn: u64) -> Option<Arc<C>>
where
    P: Borrow<Q> + Eq + Hash,
    Q: Eq + Hash + ?Sized,
{
    lock(columns).get_mut(path).map(|kept| {
        kept.turns.used = kept.turns.used.max(turn);
        kept.column.clone()
    })
}

/// Keeps a column. Where another thread was first, its column counts.
fn keep<P: Eq + Hash, C>(columns: &Columns<P, C>, path: P, column: Arc<C>, turn: u64) -> Arc<C> {
    let kept = || Kept { column, turns: Turns { made: turn, used: turn } };
    lock(columns).entry(path).or_insert_with(kept).column.clone()
}

/// The columns that are to be kept.
fn some_of<P: Clone + Eq + Hash, C>(
    columns: &Columns<P, C>,
    is_kept: &dyn Fn(Turns) -> bool,
) -> Columns<P, C> {
    let columns = lock(columns);
    let kept = columns.iter().filter(|(_, kept)| is_kept(kept.turns));
    let each = kept
        .map(|(path, Kept { column, turns })| (path.clone(), Kept { column: column.clone(), turns: *turns }));
    Mutex::new(each.collect())
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is locked is never half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for DecodedColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecodedColumns").field("held_bytes", &self.held_bytes()).finish_non_exhaustive()
    }
}
