//! What was decoded of a block in columns, kept for queries to come.

use super::array_column::ArrayColumn;
use super::coded::held_by_numbers;
use super::compact::{Compact, CompactNumbers, CompactTimes};
use super::path_column::{PathColumn, known_coded};
use crate::chunk::OwnTimes;
use crate::dictionary::Dictionary;
use std::borrow::Borrow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tamias_shred::{AtArrays, AtObjects, Group, Numbers, Texts};

/// Keys, as documents spell them.
pub(crate) type Path = Box<[Box<str>]>;

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

/// Columns by their paths.
type Columns<P, C> = Mutex<HashMap<P, Kept<C>>>;

/// Columns by their paths, as they are evaluated, and in few bytes. A column may be there in both ways.
#[derive(Default)]
struct Paths {
    wide: Columns<Path, PathColumn>,
    compact: Columns<Path, Compact>,
    /// How many characters texts have, where these are not there themselves.
    lengths: Columns<Path, Lengths>,
}

/// How many characters texts have, as they are reckoned with or in few bytes.
enum Lengths {
    Wide(Arc<Numbers>),
    Compact(CompactNumbers),
}

impl Lengths {
    fn held_bytes(&self) -> usize {
        match self {
            Lengths::Wide(numbers) => held_by_numbers(numbers),
            Lengths::Compact(numbers) => numbers.held_bytes(),
        }
    }

    fn widened(&self) -> Arc<Numbers> {
        match self {
            Lengths::Wide(numbers) => numbers.clone(),
            Lengths::Compact(numbers) => Arc::new(numbers.widened()),
        }
    }
}

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
    /// When it was used last for more than keys, which are told apart and no more.
    read: u64,
}

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Values,
    /// Values are told apart, and few of them are spelled.
    Keys,
}

impl Turns {
    /// Of what is made in a turn.
    fn new(turn: u64, usage: Use) -> Turns {
        let mut turns = Turns { made: turn, used: 0, read: 0 };
        turns.use_for(usage, turn);
        turns
    }

    /// Takes note of a turn in which it is used.
    fn use_in(&mut self, turn: u64) {
        self.use_for(Use::Values, turn);
    }

    /// The same of what it is used for.
    fn use_for(&mut self, usage: Use, turn: u64) {
        self.used = self.used.max(turn);
        if usage == Use::Values {
            self.read = self.read.max(turn);
        }
    }

    /// Takes note of when something that is the same was used.
    fn join(&mut self, other: Turns) {
        self.used = self.used.max(other.used);
        self.read = self.read.max(other.read);
    }

    /// Whether it was used for keys only in the turn in which it was used last.
    fn are_of_keys(&self) -> bool {
        self.read < self.used
    }
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

impl Paths {
    fn get(&self, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        self.get_for(Use::Values, path, turn)
    }

    /// The same for some use: keys may have their texts elsewhere.
    fn get_for(&self, usage: Use, path: &[Box<str>], turn: u64) -> Option<Arc<PathColumn>> {
        let wide = lock(&self.wide).get_mut(path).map(|kept| {
            kept.turns.use_for(usage, turn);
            kept.column.clone()
        });
        wide.or_else(|| {
            let widened = {
                let mut compact = lock(&self.compact);
                let kept = compact.get_mut(path)?;
                let column = kept.column.clone();
                if usage == Use::Keys || !column.are_keys() {
                    kept.turns.use_for(usage, turn);
                }
                drop(compact);
                match usage {
                    Use::Values => column.widened()?,
                    Use::Keys => column.widened_keys()?,
                }
            };
            Some(self.keep_for(usage, path, Arc::new(widened), turn))
        })
    }

    /// Where another thread was first, its column counts.
    fn keep(&self, path: &[Box<str>], column: Arc<PathColumn>, turn: u64) -> Arc<PathColumn> {
        self.keep_for(Use::Values, path, column, turn)
    }

    fn keep_for(&self, usage: Use, path: &[Box<str>], column: Arc<PathColumn>, turn: u64) -> Arc<PathColumn> {
        keep(&self.wide, path.into(), column, Turns::new(turn, usage))
    }

    fn each_piece(&self, act: &mut dyn FnMut(Turns, usize)) {
        for (path, Kept { column, turns }) in &*lock(&self.wide) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
        for (path, Kept { column, turns }) in &*lock(&self.compact) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
        for (path, Kept { column, turns }) in &*lock(&self.lengths) {
            act(*turns, column.held_bytes() + path_bytes(path));
        }
    }

    /// How many characters the texts of a path have, if that was counted.
    fn lengths(&self, path: &[Box<str>], turn: u64) -> Option<Arc<Numbers>> {
        let of_wide = |kept: &mut Kept<PathColumn>| {
            let lengths = kept.column.known_lengths()?.clone();
            kept.turns.use_in(turn);
            Some(lengths)
        };
        let counted = lock(&self.wide).get_mut(path).and_then(of_wide);
        counted.or_else(|| Some(known(&self.lengths, path, turn)?.widened()))
    }

    fn kept_if(&self, is_kept: &dyn Fn(Turns) -> bool) -> Paths {
        Paths {
            wide: some_of(&self.wide, is_kept),
            compact: some_of(&self.compact, is_kept),
            lengths: some_of(&self.lengths, is_kept),
        }
    }

    /// Each column in one way: in few bytes where that is possible. Of texts by template whose lengths alone were asked for the lengths are kept.
    fn compacted(&self) -> Paths {
        let all = self.kept_if(&|_| true);
        let (mut compact, mut lengths) = (lock(&all.compact), lock(&all.lengths));
        for kept in lengths.values_mut() {
            if let Lengths::Wide(wide) = &*kept.column
                && let Some(of_lengths) = CompactNumbers::of(wide)
            {
                kept.column = Arc::new(Lengths::Compact(of_lengths));
            }
        }
        lock(&all.wide).retain(|path, Kept { column, turns }| {
            let counted = column.known_lengths().and_then(|counted| CompactNumbers::of(counted));
            let are_counted = counted.is_some();
            if let Some(counted) = counted {
                let kept = || Kept { column: Arc::new(Lengths::Compact(counted)), turns: *turns };
                lengths.entry(path.clone()).or_insert_with(kept).turns.join(*turns);
            }
            // What spells its texts by a table keeps that from being freed once it is given up.
            let is_in_table = known_coded(column).is_some_and(|coded| coded.dictionary.is_in_table());
            if known_coded(column).is_some_and(|coded| coded.dictionary.is_left_in_table()) {
                compact.remove(path);
                return false;
            }
            // Keys without texts are of no use where texts were asked for since.
            let is_of_use = |known: &Compact| match turns.are_of_keys() {
                true => !known.is_left_in_table(),
                false => !known.are_keys(),
            };
            if let Some(known) = compact.get_mut(path).filter(|known| is_of_use(&known.column)) {
                known.turns.join(*turns);
                if turns.are_of_keys()
                    && !known.column.are_keys_of(column)
                    && let Some(keys) = Compact::of_keys(column)
                {
                    known.column = Arc::new(keys);
                }
                return false;
            }
            let keys = if turns.are_of_keys() { Compact::of_keys(column) } else { None };
            match keys.or_else(|| Compact::of(column)) {
                Some(of_column) => {
                    compact.insert(path.clone(), Kept { column: Arc::new(of_column), turns: *turns });
                    false
                }
                None => {
                    compact.remove(path);
                    !is_in_table && (!are_counted || !matches!(**column, PathColumn::Pieces(_)))
                }
            }
        });
        drop((compact, lengths));
        all
    }
}

impl OwnDocuments {
    fn held_bytes(&self) -> usize {
        self.bytes.capacity() + 4 * self.ends.capacity()
    }
}

/// What a path takes beside what its column holds: its place in a map with the column, and its keys, each with how long it is.
pub(super) fn path_bytes(path: &[Box<str>]) -> usize {
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

    /// What it takes in memory, in bytes, about.
    pub fn held_bytes(&self) -> usize {
        let mut bytes =
            self.own_bytes + lock(&self.searched).keys().map(|path| path_bytes(path)).sum::<usize>();
        bytes += lock(&self.json_asked_for).iter().map(|path| path_bytes(path)).sum::<usize>();
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
        let mut all = self.with(paths, frames, &|_| true);
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
    fn by_path(&self) -> [&Paths; 6] {
        let DecodedColumns { paths, partly, in_any_order, presence, object_keys, messages, .. } = self;
        [paths, partly, in_any_order, presence, object_keys, messages]
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
        [paths, partly, in_any_order, presence, object_keys, messages]: [Paths; 6],
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

/// A column that is kept.
fn known<P, C, Q>(columns: &Columns<P, C>, path: &Q, turn: u64) -> Option<Arc<C>>
where
    P: Borrow<Q> + Eq + Hash,
    Q: Eq + Hash + ?Sized,
{
    lock(columns).get_mut(path).map(|kept| {
        kept.turns.use_in(turn);
        kept.column.clone()
    })
}

/// Keeps a column. Where another thread was first, its column counts.
fn keep<P: Eq + Hash, C>(columns: &Columns<P, C>, path: P, column: Arc<C>, turns: Turns) -> Arc<C> {
    let kept = || Kept { column, turns };
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
