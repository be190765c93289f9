//! Single events: their ids, their neighbours, and reading all events page by page.

use std::fmt;
use std::str::FromStr;

use tamias_query::Instant;
use tamias_store::{Block, Direction, Key, Times};

use crate::blocks::StoredColumns;
use crate::column_cache::{Turn, points_max};
use crate::damage::instant;
use crate::{ReadError, Snapshot, Store};

/// The permanent id of an event: its instant and its arrival number. Ids sort in the order of query results.
///
/// Its text is the value of `@Id` in queries: 32 hexadecimal digits, the ticks of the instant and then the arrival number.
///
/// ```
/// use tamias::{EventId, Instant};
///
/// let id: EventId = "08dc7fc93a25fc000000000000000007".parse()?;
/// assert_eq!(id.arrival(), 7);
/// assert_eq!(id, EventId::new(id.instant(), 7));
/// assert_eq!(id.to_string(), "08dc7fc93a25fc000000000000000007");
/// # Ok::<(), tamias::IdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Key);

impl EventId {
    /// The id of the event with this instant and this arrival number.
    pub fn new(instant: Instant, arrival: u64) -> EventId {
        EventId(Key { instant: instant.ticks(), arrival })
    }

    /// When the event happened.
    pub fn instant(self) -> Instant {
        instant(self.0.instant)
    }

    pub(crate) fn key(self) -> Key {
        self.0
    }

    /// The event's arrival number, `@Arrived` in queries.
    pub fn arrival(self) -> u64 {
        self.0.arrival
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0.instant, self.0.arrival)
    }
}

/// The error for text that is not an [`EventId`], or not a [`Continuation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IdError(&'static str);

impl FromStr for EventId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<EventId, IdError> {
        let number = |digits: Option<&str>| {
            let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            u64::from_str_radix(digits, 16).ok()
        };
        let key = (text.len() == 32)
            .then(|| Some(Key { instant: number(text.get(..16))?, arrival: number(text.get(16..))? }))
            .flatten()
            .ok_or(IdError("an event's id has 32 hexadecimal digits"))?;
        // Queries cannot represent a later time.
        match Instant::from_ticks(key.instant) {
            Some(_) => Ok(EventId(key)),
            None => Err(IdError("an event's id begins with its time, and this one's is after the year 9999")),
        }
    }
}

/// An event as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its id.
    pub id: EventId,
    /// The event as minified JSON.
    pub json: String,
}

/// Where a page begins, and in which direction it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the earliest event, going on towards the latest.
    Earliest,
    /// At the latest event, going back.
    Latest,
    /// Where another page ended, in the same direction.
    Continue(Continuation),
}

/// The position where a page ended. It can be saved as text and used at any time: the next page begins with the event that then
/// follows in the order of ids, whatever was appended, compacted or removed meanwhile.
///
/// The format of the text may change in later versions, which will still accept older texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    direction: Direction,
    from: Key,
}

impl Continuation {
    /// Goes on with the events that come after this one, which need not exist.
    pub fn after(id: EventId) -> Continuation {
        Continuation { direction: Direction::Ascending, from: id.0 }
    }

    /// Goes on with the events that come before this one, which need not exist, the nearest first.
    pub fn before(id: EventId) -> Continuation {
        Continuation { direction: Direction::Descending, from: id.0 }
    }
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Ascending => 'a',
            Direction::Descending => 'b',
        };
        write!(f, "{direction}{}", EventId(self.from))
    }
}

impl FromStr for Continuation {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Continuation, IdError> {
        let continuation = match text.split_at_checked(1) {
            Some(("a", id)) => id.parse().map(Continuation::after),
            Some(("b", id)) => id.parse().map(Continuation::before),
            _ => Err(IdError("")),
        };
        continuation.map_err(|_| IdError("this is no continuation that a page of events gave"))
    }
}

/// A page of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The events, in order of time and arrival, or in reverse order if the page goes back.
    pub events: Vec<StoredEvent>,
    /// Where the next page begins; `None` if no event follows now. To poll for later events, keep
    /// [`Continuation::after`] of the last event.
    pub next: Option<Continuation>,
}

impl Store {
    /// The event with this id; `None` if it does not exist or was removed. Reads the blocks that hold events of its instant.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let store = tamias::Store::open(folder.path())?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z","n":1}"#])?;
    /// let row = store.query("select @Id from stream")?.next().expect("a row")?;
    /// let id = row.get(0).and_then(|cell| cell.text().map(|text| text.parse())).expect("a string")?;
    /// let event = store.get(id)?.expect("it was stored just now");
    /// assert_eq!(event.json, r#"{"@t":"2024-05-29T10:56:01Z","n":1}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read, or is damaged there.
    pub fn get(&self, id: EventId) -> Result<Option<StoredEvent>, ReadError> {
        self.snapshot()?.get(id)
    }

    /// The event with this id and its neighbours, in order of time and arrival: at most `before` events before it and `after` events after it.
    /// Neighbours are returned even if the event itself does not exist. Reads only the blocks that hold them.
    ///
    /// # Errors
    /// If the store cannot be read, or is damaged there.
    pub fn around(&self, id: EventId, before: usize, after: usize) -> Result<Vec<StoredEvent>, ReadError> {
        self.snapshot()?.around(id, before, after)
    }

    /// At most `events_max` events in the order of their ids, and at least one if there is one. Reading page after page returns each event once
    /// that was stored when the first page was read and was not removed since. Events stored meanwhile are returned
    /// if they come after the current position.
    ///
    /// ```
    /// use tamias::Start;
    /// # let folder = tempfile::tempdir()?;
    /// # let store = tamias::Store::open(folder.path())?;
    /// store.append([1, 2, 3].map(|n| format!(r#"{{"@t":"2024-05-29T10:56:0{n}Z"}}"#)))?;
    /// let page = store.page(Start::Latest, 2)?;
    /// assert!(page.events[0].id > page.events[1].id);
    /// let next = page.next.expect("there is a third").to_string(); // to be kept, or sent
    /// let page = store.page(Start::Continue(next.parse()?), 2)?;
    /// assert_eq!((page.events.len(), page.next), (1, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store cannot be read, or is damaged there.
    pub fn page(&self, start: Start, events_max: usize) -> Result<Page, ReadError> {
        self.snapshot()?.page(start, events_max)
    }
}

impl Snapshot {
    /// The event with this id, as [`Store::get`] returns it.
    ///
    /// # Errors
    /// If the store is damaged there, or cannot be read.
    pub fn get(&self, id: EventId) -> Result<Option<StoredEvent>, ReadError> {
        let turn = self.cache.turn(usize::MAX);
        for group in self.events.groups(id.0.instant..=id.0.instant, Direction::Ascending) {
            for block in group.map_err(ReadError::of_store)? {
                let events = Events::new(block, &turn);
                let times = events.times()?;
                let index = times.partition_point(|other| other < id.0);
                if times.key(index) == Some(id.0) {
                    return events.event(index, id.0).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// The event with this id and its neighbours, as [`Store::around`] returns them.
    ///
    /// # Errors
    /// If the store is damaged there, or cannot be read.
    pub fn around(&self, id: EventId, before: usize, after: usize) -> Result<Vec<StoredEvent>, ReadError> {
        let mut events = walk(self, Direction::Descending, Some(id.0), before)?;
        events.reverse();
        events.extend(self.get(id)?);
        events.extend(walk(self, Direction::Ascending, Some(id.0), after)?);
        Ok(events)
    }

    /// A page of events, as [`Store::page`] returns it. Reading page after page of one snapshot returns each of its events exactly once.
    ///
    /// # Errors
    /// If the store is damaged there, or cannot be read.
    pub fn page(&self, start: Start, events_max: usize) -> Result<Page, ReadError> {
        let (direction, from) = match start {
            Start::Earliest => (Direction::Ascending, None),
            Start::Latest => (Direction::Descending, None),
            Start::Continue(Continuation { direction, from }) => (direction, Some(from)),
        };
        let events_max = events_max.max(1);
        // One more shows whether there is another page.
        let mut events = walk(self, direction, from, events_max.saturating_add(1))?;
        let more = events.len() > events_max;
        events.truncate(events_max);
        let last = events.last().filter(|_| more);
        let next = last.map(|event| Continuation { direction, from: event.id.0 });
        Ok(Page { events, next })
    }
}

/// A block that single events are read from.
enum Events {
    Text(Block),
    Columns(Box<StoredColumns>),
}

impl Events {
    fn new(block: Block, turn: &Turn) -> Events {
        match block.columns().cloned() {
            None => Events::Text(block),
            Some(parts) => Events::Columns(Box::new(StoredColumns::new(block, parts, turn, None))),
        }
    }

    fn times(&self) -> Result<Times<'_>, ReadError> {
        match self {
            Events::Text(block) => block.times(),
            Events::Columns(block) => block.event_times(),
        }
        .map_err(ReadError::of_store)
    }

    /// Makes the documents of many events ready together.
    fn prepare(&self) -> Result<(), ReadError> {
        match self {
            Events::Text(_) => Ok(()),
            Events::Columns(block) => block.own_documents().map(|_| ()).map_err(ReadError::of_store),
        }
    }

    fn event(&self, index: usize, key: Key) -> Result<StoredEvent, ReadError> {
        let document = match self {
            Events::Text(block) => block.document(index).map(Option::unwrap_or_default),
            Events::Columns(block) => block.document(index),
        };
        let document = document.map_err(ReadError::of_store)?;
        Ok(StoredEvent { id: EventId(key), json: String::from_utf8_lossy(&document).into_owned() })
    }
}

/// The nearest events beyond a key, or from the beginning. Reads no more keys of each block than events are wanted.
fn walk(
    snapshot: &Snapshot,
    direction: Direction,
    from: Option<Key>,
    wanted: usize,
) -> Result<Vec<StoredEvent>, ReadError> {
    let mut found = Vec::new();
    if wanted == 0 {
        return Ok(found);
    }
    let instants = match (direction, from) {
        (_, None) => 0..=u64::MAX,
        (Direction::Ascending, Some(from)) => from.instant..=u64::MAX,
        (Direction::Descending, Some(from)) => 0..=from.instant,
    };
    let turn = snapshot.cache.turn(usize::MAX);
    for group in snapshot.events.groups(instants, direction) {
        let group = group.map_err(ReadError::of_store)?;
        let group: Vec<(usize, Events)> =
            group.into_iter().map(|block| (block.len(), Events::new(block, &turn))).collect();
        let mut nearest: Vec<(Key, usize, usize)> = Vec::new();
        for (number, (len, events)) in group.iter().enumerate() {
            let times = events.times()?;
            let places = match direction {
                Direction::Ascending => {
                    let start = from.map_or(0, |from| times.partition_point(|key| key <= from));
                    start..(*len).min(start.saturating_add(wanted - found.len()))
                }
                Direction::Descending => {
                    let end = from.map_or(*len, |from| times.partition_point(|key| key < from));
                    end.saturating_sub(wanted - found.len())..end
                }
            };
            nearest.extend(places.filter_map(|index| Some((times.key(index)?, number, index))));
        }
        match direction {
            Direction::Ascending => nearest.sort_unstable(),
            Direction::Descending => nearest.sort_unstable_by(|a, b| b.cmp(a)),
        }
        nearest.truncate(wanted - found.len());
        for (number, (len, events)) in group.iter().enumerate() {
            if nearest.iter().filter(|(_, other, _)| *other == number).count() > points_max(*len) {
                events.prepare()?;
            }
        }
        for (key, number, index) in nearest {
            if let Some((_, events)) = group.get(number) {
                found.push(events.event(index, key)?);
            }
        }
        if found.len() == wanted {
            break;
        }
    }
    Ok(found)
}
