//! What was decoded of a block in columns, kept for queries to come.

use super::array_column::ArrayColumn;
use super::compact::CompactTimes;
use super::kept::{Columns, Kept, Path, Turns, Use, keep, known, lock, path_bytes, some_of};
use super::path_column::PathColumn;
use super::paths::{Lengths, Paths};
use crate::chunk::OwnTimes;
use crate::dictionary::Dictionary;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use tamias_shred::{AtArrays, AtObjects, Group, Numbers, Texts};

/// The path of arrays in events, then that of arrays in their elements, and so on.
pub(super) type Way = Box<[Path]>;

/// What may be known of a path of events beside its column.
#[derive(Clone, Copy)]
pub(super) enum Beside {
    /// Its numbers, where it makes no difference which event has which.
    InAnyOrder,
    /// Whether something stands there.
    Presence,
    /// Which keys objects have.
    ObjectKeys,
    /// Of the path of templates, the messages that were rendered.
    Messages,
}

/// A question that the shapes of documents answer: where there are many shapes, that takes longer than what is asked of kept columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OfShapes {
    /// Whether the values at a path are texts in pieces.
    IsInPieces(Path),
    /// Whether what has something at the first path has something at the other one.
    ComesWith(Path, Path),
    /// Whether columns tell what stands at a path of elements.
    TellsElements(Way, Path),
}

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
/// and in whose turn it was used last, so that a cache can keep some pieces without the others. Turns are the numbers of queries. Where memory is short,
/// columns and times are kept in fewer bytes, and are made anew from these in the next turn.
pub struct DecodedColumns {
    pub(super) group: Arc<Group>,
    /// The frames that were read.
    frames: Vec<Piece<Vec<u8>>>,
    paths: Paths,
    /// What was made for some rows only.
    partly: Paths,
    /// Numbers as they are stored, where it made no difference which event has which.
    in_any_order: Paths,
    /// Whether something stands at a path, where nothing else was asked of it.
    presence: Paths,
    /// Which keys objects have.
    object_keys: Paths,
    /// Messages that were rendered, by the path of their templates.
    messages: Paths,
    arrays: Columns<Way, ArrayColumn>,
    /// What shapes tell of arrays: where there are many shapes, that takes longer than what is asked of short arrays.
    arrays_at: Columns<Way, AtArrays>,
    /// The same of objects.
    objects_at: Columns<Path, AtObjects>,
    /// What else shapes were asked for by queries.
    answers: Columns<OfShapes, bool>,
    /// What stands at paths of elements, by the way to their arrays and their own.
    in_elements: Columns<(Way, Path), PathColumn>,
    /// What stands in the JSON of texts, by their path and the path in it.
    in_json: Columns<(Path, Path), PathColumn>,
    /// The paths of texts of which some were read as JSON.
    json_asked_for: Mutex<HashSet<Path>>,
    /// What expressions make of texts, by how they and their paths are spelled, as if that were a key.
    made: Paths,
    /// Whether memory was short once.
    is_short: bool,
    /// The expressions that many rows were asked for.
    made_asked_for: Mutex<HashMap<Path, MadeAsked>>,
    times: Piece<OwnTimes>,
    compact_times: Piece<CompactTimes>,
    /// All of them, once they were asked for more than once.
    documents: Piece<OwnDocuments>,
    were_documents_asked_for: AtomicBool,
    /// Single ones, by their rows.
    single_documents: Columns<u32, Vec<u8>>,
    /// The paths whose texts were searched without being kept.
    searched: Mutex<HashMap<Path, Searched>>,
    /// What it takes in memory without any piece, in bytes.
    own_bytes: usize,
}

/// An expression that many rows were asked for.
#[derive(Clone, Copy)]
struct MadeAsked {
    /// In whose turn that was last.
    last: u64,
    /// So many queries more do without: what was kept had no room, or too few rows were asked.
    without: u8,
}

/// HEURISTIC: where memory is short, what comes again after more queries than these is gone by then.
const SOON_TURNS: u64 = 8;

/// HEURISTIC: so many queries make a column for themselves once there was no room for what was kept, which displaced something else, or it was not worth it.
pub(super) const TURNS_WITHOUT: u8 = 15;

/// What became of texts that were searched without being kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Searched {
    /// The turn in which they were searched so, and how often.
    turn: u64,
    times: usize,
    /// Whether they were kept since, and there was no room for them.
    kept_in_vain: bool,
}

/// So often a query searches texts without keeping them: each search reads their pieces anew.
///
/// HEURISTIC: to read and keep them takes as long as three or four searches of rare texts.
const SEARCHES_MAX: usize = 4;

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
        let used = self.used.load(Relaxed);
        Turns { made: self.made.load(Relaxed), used, read: used }
    }

    /// The piece if it is to be kept, or else none.
    fn kept_if(&self, is_kept: impl Fn(Turns) -> bool) -> Piece<T> {
        let turns = self.turns();
        match self.value.get().filter(|_| is_kept(turns)) {
            None => Piece::default(),
            Some(value) => {
                let Turns { made, used, .. } = turns;
                Piece { value: OnceLock::from(value.clone()), made: made.into(), used: used.into() }
            }
        }
    }
}

/// So many expressions are noted: a program may ask for others without end.
const MADE_MAX: usize = 64;

impl OwnDocuments {
    fn held_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

impl DecodedColumns {
    pub(super) fn new(group: Group) -> DecodedColumns {
        let places = group.frames() * size_of::<Piece<Vec<u8>>>();
        DecodedColumns {
            own_bytes: size_of::<DecodedColumns>() + group.held_bytes() + places,
            frames: (0..group.frames()).map(|_| Piece::default()).collect(),
            group: Arc::new(group),
            paths: Paths::default(),
            partly: Paths::default(),
            in_any_order: Paths::default(),
            presence: Paths::default(),
            object_keys: Paths::default(),
            messages: Paths::default(),
            arrays: Columns::default(),
            arrays_at: Columns::default(),
            objects_at: Columns::default(),
            answers: Columns::default(),
            in_elements: Columns::default(),
            in_json: Columns::default(),
            json_asked_for: Mutex::default(),
            made: Paths::default(),
            is_short: false,
            made_asked_for: Mutex::default(),
            times: Piece::default(),
            compact_times: Piece::default(),
            documents: Piece::default(),
            were_documents_asked_for: AtomicBool::new(false),
            single_documents: Columns::default(),
            searched: Mutex::default(),
        }
    }

    /// A frame, which is read if it is not there; none if there is no such frame, or it cannot be read.
    pub(super) fn frame(
        &self,
        frame: u32,
        turn: u64,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<&[u8]> {
        if let Some(bytes) = self.known_frame(frame, turn) {
            return Some(bytes);
        }
        Some(self.frames.get(frame as usize)?.set(read()?, turn))
    }

    /// A frame that is there already.
    pub(super) fn known_frame(&self, frame: u32, turn: u64) -> Option<&[u8]> {
        Some(self.frames.get(frame as usize)?.get(turn)?)
    }

    pub(super) fn times(&self, turn: u64) -> Option<&Arc<OwnTimes>> {
        let widened = || Some(self.times.set(self.compact_times.get(turn)?.widened(), turn));
        self.times.get(turn).or_else(widened)
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

    /// A document that was put together by itself.
    pub(super) fn single_document(&self, row: u32, turn: u64) -> Option<Arc<Vec<u8>>> {
        known(&self.single_documents, &row, turn)
    }

    /// Keeps one.
    pub(super) fn keep_single_document(&self, row: u32, document: Vec<u8>, turn: u64) -> Arc<Vec<u8>> {
        keep(&self.single_documents, row, Arc::new(document), Turns::new(turn, Use::Values))
    }

    /// Takes note that all documents are asked for: whether they were before.
    pub fn documents_are_asked_for(&self) -> bool {
        self.were_documents_asked_for.swap(true, Relaxed)
    }

    /// The column of a path.
    pub(super) fn column(&self, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        self.paths.get(path, turn)
    }

    /// The same for some use.
    pub(super) fn column_for(&self, usage: Use, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        self.paths.get_for(usage, path, turn)
    }

    /// How many characters the texts at a path have, if that was counted for all rows.
    pub(super) fn lengths(&self, path: &[Box<str>], turn: u64) -> Option<Arc<Numbers>> {
        self.paths.lengths(path, turn)
    }

    /// Keeps how many characters the texts at a path have.
    pub(super) fn keep_lengths(&self, path: &Path, lengths: Numbers, turn: u64) -> Arc<Numbers> {
        let lengths = Arc::new(Lengths::Wide(Arc::new(lengths)));
        keep(&self.paths.lengths, path.clone(), lengths, Turns::new(turn, Use::Values)).widened()
    }

    /// Begins a search of texts at a path without keeping them, where that is wanted: the first time, and each time once they were kept in vain. A query may
    /// search them for several things.
    pub(super) fn begin_search_in_passing(&self, path: &Path, turn: u64) -> bool {
        match lock(&self.searched).entry(path.clone()) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                if known.turn != turn && known.kept_in_vain {
                    (known.turn, known.times) = (turn, 0);
                }
                let is_wanted = known.turn == turn && turn > 0 && known.times < SEARCHES_MAX;
                known.times += usize::from(is_wanted);
                is_wanted
            }
            Entry::Vacant(new) => {
                new.insert(Searched { turn, times: 1, kept_in_vain: false });
                true
            }
        }
    }

    /// Keeps the column of a path. Where another thread was first, its column counts.
    pub(super) fn keep_column(
        &self,
        usage: Use,
        path: &[Box<str>],
        column: PathColumn,
        turn: u64,
    ) -> Arc<PathColumn> {
        self.paths.keep_for(usage, path, Arc::new(column), turn)
    }

    /// What was made of a path for some rows.
    pub(super) fn partly(&self, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        self.partly.get(path, turn)
    }

    /// Keeps what was made of a path for some rows, unless something of it is kept: another query may keep other rows by now.
    pub(super) fn keep_partly(
        &self,
        path: &[Box<str>],
        texts: Texts<'_>,
        rows: &[u32],
        turn: u64,
    ) -> Arc<PathColumn> {
        let column = Arc::new(PathColumn::of_rows(Dictionary::from(texts), rows, self.group.events()));
        self.partly.keep(path, column.clone(), turn);
        column
    }

    /// What is known of a path beside its column.
    pub(super) fn beside(&self, what: Beside, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        self.paths_beside(what).get(path, turn)
    }

    /// Keeps that. Where another thread was first, its column counts.
    pub(super) fn keep_beside(
        &self,
        what: Beside,
        path: &[Box<str>],
        column: Arc<PathColumn>,
        turn: u64,
    ) -> Arc<PathColumn> {
        self.paths_beside(what).keep(path, column, turn)
    }

    fn paths_beside(&self, what: Beside) -> &Paths {
        match what {
            Beside::InAnyOrder => &self.in_any_order,
            Beside::Presence => &self.presence,
            Beside::ObjectKeys => &self.object_keys,
            Beside::Messages => &self.messages,
        }
    }

    /// The arrays that a way leads to.
    pub(super) fn arrays(&self, way: &Way, turn: u64) -> Option<Arc<ArrayColumn>> {
        known(&self.arrays, way, turn)
    }

    pub(super) fn keep_arrays(&self, way: &Way, arrays: ArrayColumn, turn: u64) -> Arc<ArrayColumn> {
        keep(&self.arrays, way.clone(), Arc::new(arrays), Turns::new(turn, Use::Values))
    }

    /// What shapes tell of the arrays that a way leads to.
    pub(super) fn arrays_at(&self, way: Way, turn: u64, tell: impl FnOnce() -> AtArrays) -> Arc<AtArrays> {
        let known = known(&self.arrays_at, &way, turn);
        known.unwrap_or_else(|| keep(&self.arrays_at, way, Arc::new(tell()), Turns::new(turn, Use::Values)))
    }

    /// What shapes tell of the objects at a path.
    pub(super) fn objects_at(
        &self,
        path: &[Box<str>],
        turn: u64,
        tell: impl FnOnce() -> AtObjects,
    ) -> Arc<AtObjects> {
        let known = known(&self.objects_at, path, turn);
        known.unwrap_or_else(|| {
            keep(&self.objects_at, path.into(), Arc::new(tell()), Turns::new(turn, Use::Values))
        })
    }

    /// What shapes answer to a question.
    pub(super) fn answer(&self, question: OfShapes, turn: u64, tell: impl FnOnce(&Group) -> bool) -> bool {
        let known = known(&self.answers, &question, turn);
        *known.unwrap_or_else(|| {
            keep(&self.answers, question, Arc::new(tell(&self.group)), Turns::new(turn, Use::Values))
        })
    }

    /// What stands at a path of elements, by the way to their arrays and their own.
    pub(super) fn in_elements(&self, place: &(Way, Path), turn: u64) -> Option<Arc<PathColumn>> {
        known(&self.in_elements, place, turn)
    }

    pub(super) fn keep_in_elements(
        &self,
        place: (Way, Path),
        column: PathColumn,
        turn: u64,
    ) -> Arc<PathColumn> {
        keep(&self.in_elements, place, Arc::new(column), Turns::new(turn, Use::Values))
    }

    /// What stands at a path in the JSON of the texts at another one.
    pub(super) fn in_json(&self, texts: &Path, below: &Path, turn: u64) -> Option<Arc<PathColumn>> {
        known(&self.in_json, &(texts.clone(), below.clone()), turn)
    }

    pub(super) fn keep_in_json(
        &self,
        texts: &Path,
        below: &Path,
        column: Arc<PathColumn>,
        turn: u64,
    ) -> Arc<PathColumn> {
        keep(&self.in_json, (texts.clone(), below.clone()), column, Turns::new(turn, Use::Values))
    }

    /// Takes note that some of the texts at a path are read as JSON: whether they were before.
    pub(super) fn json_is_asked_for(&self, texts: &Path) -> bool {
        !lock(&self.json_asked_for).insert(texts.clone())
    }

    /// What an expression makes of texts, for some use, by how it is spelled.
    pub(super) fn made(&self, usage: Use, of: &Path, turn: u64) -> Option<Arc<PathColumn>> {
        self.made.get_for(usage, of, turn)
    }

    /// Takes note that many rows are asked for what an expression makes, and it is not there: whether they were in a turn before, so that it had better be kept. What was
    /// asked for longest ago is forgotten first.
    pub(super) fn made_is_wanted(&self, of: &Path, turn: u64) -> bool {
        let mut asked_for = lock(&self.made_asked_for);
        if let Some(MadeAsked { last, without }) = asked_for.get_mut(of) {
            // Queries may run at once.
            let since = turn.saturating_sub(*last);
            *last = turn.max(*last);
            let is_again = since > 0;
            let is_soon = !self.is_short || since <= SOON_TURNS;
            let is_wanted = is_again && is_soon && *without == 0;
            *without = without.saturating_sub(u8::from(is_again));
            return is_wanted;
        }
        if asked_for.len() >= MADE_MAX
            && let Some(oldest) =
                asked_for.iter().min_by_key(|(_, asked)| asked.last).map(|(of, _)| of.clone())
        {
            asked_for.remove(&oldest);
        }
        asked_for.insert(of.clone(), MadeAsked { last: turn, without: 0 });
        false
    }

    /// Takes note that what an expression makes had better not be kept for now.
    pub(super) fn do_without_made(&self, of: &Path) {
        if let Some(asked) = lock(&self.made_asked_for).get_mut(of) {
            asked.without = TURNS_WITHOUT;
        }
    }

    /// Keeps what an expression makes. Where another thread was first, its column counts.
    pub(super) fn keep_made(
        &self,
        usage: Use,
        of: &Path,
        column: Arc<PathColumn>,
        turn: u64,
    ) -> Arc<PathColumn> {
        // If it is not there the next time, it had no room.
        self.do_without_made(of);
        self.made.keep_for(usage, of, column, turn)
    }

    /// What it takes in memory, in bytes, about.
    pub fn held_bytes(&self) -> usize {
        let mut bytes = self.own_bytes + self.group.made_bytes();
        bytes += lock(&self.searched).keys().map(|path| path_bytes(path)).sum::<usize>();
        bytes += lock(&self.json_asked_for).iter().map(|path| path_bytes(path)).sum::<usize>();
        bytes += lock(&self.made_asked_for).keys().map(|of| path_bytes(of)).sum::<usize>();
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

    /// The same pieces without frames, where that is possible in fewer bytes. They are evaluated as before, once they are widened again. Takes time linear in what is
    /// not in few bytes yet.
    pub fn compacted(&self) -> DecodedColumns {
        // What was decoded of frames stays, and what was not is read again.
        let frames = self.frames.iter().map(|_| Piece::default()).collect();
        let paths = self.by_path().map(Paths::compacted);
        let mut all = DecodedColumns { is_short: true, ..self.with(paths, frames, &|_| true) };
        let Turns { made, used, .. } = all.times.turns();
        let Some(times) = all.times.value.get() else { return all };
        if all.compact_times.value.get().is_none() {
            let Some(compact) = CompactTimes::of(times) else { return all };
            all.compact_times.set(compact, made);
        }
        all.compact_times.get(used);
        all.times = Piece::default();
        all
    }

    /// The columns of events' paths, by what they have of these.
    fn by_path(&self) -> [&Paths; 7] {
        let DecodedColumns { paths, partly, in_any_order, presence, object_keys, messages, made, .. } = self;
        [paths, partly, in_any_order, presence, object_keys, messages, made]
    }

    fn each_piece(&self, act: &mut dyn FnMut(Turns, usize)) {
        for frame in &self.frames {
            if let Some(bytes) = frame.value.get() {
                act(frame.turns(), bytes.capacity());
            }
        }
        self.by_path().iter().for_each(|paths| paths.each_piece(act));
        let way_bytes = |way: &Way| way.iter().map(|path| path_bytes(path)).sum::<usize>();
        for (way, Kept { column, turns }) in &*lock(&self.arrays) {
            act(*turns, column.held_bytes() + way_bytes(way));
        }
        for (way, Kept { turns, .. }) in &*lock(&self.arrays_at) {
            act(*turns, way_bytes(way));
        }
        for (path, Kept { column, turns }) in &*lock(&self.objects_at) {
            act(*turns, path_bytes(path) + bytes_of(column));
        }
        for (question, Kept { turns, .. }) in &*lock(&self.answers) {
            act(
                *turns,
                match question {
                    OfShapes::IsInPieces(path) => path_bytes(path),
                    OfShapes::ComesWith(path, with) => path_bytes(path) + path_bytes(with),
                    OfShapes::TellsElements(way, path) => way_bytes(way) + path_bytes(path),
                },
            );
        }
        for ((way, path), Kept { column, turns }) in &*lock(&self.in_elements) {
            act(*turns, column.held_bytes() + way_bytes(way) + path_bytes(path));
        }
        for ((texts, below), Kept { column, turns }) in &*lock(&self.in_json) {
            act(*turns, column.held_bytes() + path_bytes(texts) + path_bytes(below));
        }
        if let Some(times) = self.times.value.get() {
            act(self.times.turns(), times.held_bytes());
        }
        if let Some(times) = self.compact_times.value.get() {
            act(self.compact_times.turns(), times.held_bytes());
        }
        if let Some(documents) = self.documents.value.get() {
            act(self.documents.turns(), documents.held_bytes());
        }
        for Kept { column: document, turns } in lock(&self.single_documents).values() {
            act(*turns, document.capacity() + path_bytes(&[]));
        }
    }

    fn kept_if(&self, is_kept: &dyn Fn(Turns) -> bool) -> DecodedColumns {
        let frames = self.frames.iter().map(|frame| frame.kept_if(is_kept)).collect();
        let paths = self.by_path().map(|paths| paths.kept_if(is_kept));
        self.with(paths, frames, is_kept)
    }

    /// The same with other frames and columns of paths, and of the other pieces those that are to be kept.
    fn with(
        &self,
        [paths, partly, in_any_order, presence, object_keys, messages, made]: [Paths; 7],
        frames: Vec<Piece<Vec<u8>>>,
        is_kept: &dyn Fn(Turns) -> bool,
    ) -> DecodedColumns {
        let mut searched = lock(&self.searched).clone();
        for (path, kept) in &mut searched {
            let is_there =
                |of: &Paths| lock(&of.wide).contains_key(path) || lock(&of.compact).contains_key(path);
            if is_there(&self.paths) && !is_there(&paths) {
                kept.kept_in_vain = true;
            }
        }
        DecodedColumns {
            group: self.group.clone(),
            searched: Mutex::new(searched),
            frames,
            paths,
            partly,
            in_any_order,
            presence,
            object_keys,
            messages,
            arrays: some_of(&self.arrays, is_kept),
            arrays_at: some_of(&self.arrays_at, is_kept),
            objects_at: some_of(&self.objects_at, is_kept),
            answers: some_of(&self.answers, is_kept),
            in_elements: some_of(&self.in_elements, is_kept),
            in_json: some_of(&self.in_json, is_kept),
            json_asked_for: Mutex::new(lock(&self.json_asked_for).clone()),
            made,
            is_short: self.is_short,
            made_asked_for: Mutex::new(lock(&self.made_asked_for).clone()),
            times: self.times.kept_if(is_kept),
            compact_times: self.compact_times.kept_if(is_kept),
            documents: self.documents.kept_if(is_kept),
            were_documents_asked_for: AtomicBool::new(self.were_documents_asked_for.load(Relaxed)),
            single_documents: some_of(&self.single_documents, is_kept),
            own_bytes: self.own_bytes,
        }
    }
}

/// What the keys of objects take in memory, in bytes.
fn bytes_of(objects: &AtObjects) -> usize {
    match objects {
        AtObjects::Objects(keys) => keys.iter().map(|key| size_of::<Box<str>>() + key.len()).sum(),
        AtObjects::Nothing | AtObjects::Unknown => 0,
    }
}

impl std::fmt::Debug for DecodedColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecodedColumns").field("held_bytes", &self.held_bytes()).finish_non_exhaustive()
    }
}
