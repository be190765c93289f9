//! The trust boundary: text becomes a checked, minified event with an instant, or is refused with a reason.

use memchr::memchr2;
use memchr::memmem::Finder;
use tamias_json::validate::{Limits, ValidateError, minify_object};
use tamias_json::{Map, Offsets, Value};
use tamias_query::Instant;
use tamias_store::Event;

use crate::{TimeError, TimeFormat};

/// What an event has to look like to be taken in: where its time, level and message stand, and how large it may be.
///
/// CLEF, the compact log event format, has the time in `@t`. Any other JSON object is as welcome, its time in a key
/// of its own:
///
/// ```
/// use tamias::{Batch, EventFormat};
///
/// let mut batch = Batch::new();
/// batch.push(br#"{"@t":"2024-05-29T10:56:01Z","@mt":"Hello, {User}","User":"alice"}"#, &EventFormat::clef())?;
/// batch.push(br#"{"eventTime": 1700000000, "eventName": "PutObject"}"#, &EventFormat::time_key("eventTime"))?;
/// assert_eq!(batch.len(), 2);
/// # Ok::<(), tamias::Rejection>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventFormat {
    /// Where the time may be, the first that is there counts.
    time_keys: Vec<TimeKey>,
    /// The first key as it is stored, with its colon; none where it might be stored in more than one spelling.
    stored_key: Option<Finder<'static>>,
    time_format: TimeFormat,
    is_now_without_time: bool,
    /// Keys of other people's, and CLEF's own for the same.
    renames: Vec<(String, &'static str)>,
    limits: Limits,
}

impl EventFormat {
    /// Events whose time is in `@t`, as CLEF has it.
    pub fn clef() -> EventFormat {
        EventFormat::time_key("@t")
    }

    /// Events whose time is in the top-level key `key`: ISO 8601 text with `T` or a space, UTC where it names no
    /// offset, or a Unix time ([`Instant::from_unix_text`] tells the units).
    pub fn time_key(key: impl Into<String>) -> EventFormat {
        EventFormat::with_keys(vec![TimeKey { name: key.into(), path: Vec::new() }])
    }

    /// Events whose time is in the first of several keys that is there and not null, `timestamp,time`. A name with points is that of a key, or else
    /// a path: `event.created` is the member `created` of `event`, where no key is called so.
    ///
    /// ```
    /// use tamias::{Batch, EventFormat};
    ///
    /// let format = EventFormat::time_keys("event.created,@timestamp");
    /// let mut batch = Batch::new();
    /// batch.push(br#"{"@timestamp":"2024-05-29T10:56:01Z"}"#, &format)?;
    /// batch.push(br#"{"event":{"created":"2024-05-29T10:56:01Z"}}"#, &format)?;
    /// # Ok::<(), tamias::Rejection>(())
    /// ```
    pub fn time_keys(keys: &str) -> EventFormat {
        let key = |name: &str| TimeKey {
            name: name.to_owned(),
            path: name.split('.').map(str::to_owned).filter(|_| name.contains('.')).collect(),
        };
        EventFormat::with_keys(keys.split(',').map(key).collect())
    }

    fn with_keys(time_keys: Vec<TimeKey>) -> EventFormat {
        EventFormat {
            stored_key: time_keys.first().and_then(|key| stored_key(&key.name)),
            time_keys,
            time_format: TimeFormat::default(),
            is_now_without_time: false,
            renames: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// How the time is written; by itself ISO 8601 text and Unix times are known.
    pub fn time_format(mut self, format: TimeFormat) -> EventFormat {
        self.time_format = format;
        self
    }

    /// Events without the time's key get the time at which they are pushed. It is not written into the document. One whose
    /// time cannot be read is refused all the same.
    pub fn now_without_time(mut self) -> EventFormat {
        self.is_now_without_time = true;
        self
    }

    /// The top-level key `key` is an event's level: it is stored under CLEF's `@l` instead, and asked for as `@Level`. The
    /// value, and the member's place in the document, stay as they are; so does an event that has an `@l` already.
    ///
    /// ```
    /// use tamias::{Batch, EventFormat, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// let format = EventFormat::time_key("ts").level_key("severity").message_key("msg");
    /// let mut batch = Batch::new();
    /// batch.push(br#"{"ts":1700000000,"severity":"warn","msg":"low on acorns"}"#, &format)?;
    /// store.append_batch(&mut batch)?;
    /// let row = store.query("select @Data, @Level, @Message from stream")?.next().transpose()?;
    /// let json = row.as_ref().and_then(|row| row.get(0)?.json());
    /// assert_eq!(json, Some(&br#"{"ts":1700000000,"@l":"warn","@m":"low on acorns"}"#[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn level_key(self, key: impl Into<String>) -> EventFormat {
        self.rename(key.into(), "@l")
    }

    /// The top-level key `key` is an event's message: it is stored under CLEF's `@m` instead, and asked for as `@Message`,
    /// as [`level_key`](EventFormat::level_key) does it.
    pub fn message_key(self, key: impl Into<String>) -> EventFormat {
        self.rename(key.into(), "@m")
    }

    fn rename(mut self, from: String, to: &'static str) -> EventFormat {
        self.renames.retain(|(_, known)| *known != to);
        self.renames.push((from, to));
        self
    }

    /// How much of a checked document has to be read for its time, where that is a string and stands first, as it does in most
    /// events: the beginning and the first member.
    fn first_member(&self, document: &[u8]) -> Option<usize> {
        let stored_key = self.stored_key.as_ref().filter(|_| self.renames.is_empty())?;
        let text = document.strip_prefix(b"{")?.strip_prefix(stored_key.needle())?.strip_prefix(b"\"")?;
        let end = memchr2(b'"', b'\\', text).filter(|&end| text.get(end) == Some(&b'"'))?;
        let length = document.len() - text.len() + end + 1;
        // Of a key that comes twice the last counts.
        stored_key.find(document.get(length..)?).is_none().then_some(length)
    }

    /// The longest event that is taken, in bytes as it comes in; 16 MiB unless set, and never more.
    pub fn event_bytes_max(mut self, bytes: usize) -> EventFormat {
        self.limits.bytes_max = bytes.min(Limits::default().bytes_max);
        self
    }
}

/// Where a time is.
#[derive(Clone, Debug)]
struct TimeKey {
    name: String,
    /// The same taken for a path, where it can be one.
    path: Vec<String>,
}

impl TimeKey {
    fn find<'d>(&self, map: &Map<'d>) -> Option<Value<'d>> {
        map.get(&self.name).or_else(|| {
            let (first, inner) = self.path.split_first()?;
            inner.iter().try_fold(map.get(first)?, |value, key| value.as_map()?.get(key))
        })
    }
}

impl Default for EventFormat {
    fn default() -> EventFormat {
        EventFormat::clef()
    }
}

/// Checked events, ready to be [appended](crate::Store::append_batch) as a whole.
///
/// A batch keeps its memory when it is emptied, so that one serves for a whole file.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    documents: Vec<u8>,
    /// Of each event: where its document ends, and when it happened.
    events: Vec<(usize, Instant)>,
    offsets: Offsets,
    /// A document of the time alone.
    first: Vec<u8>,
}

impl Batch {
    /// A batch of no events.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// A batch with room for documents of so many bytes: one that grows to tens of megabytes by itself is copied some times on the way.
    pub fn with_capacity(document_bytes: usize) -> Batch {
        Batch { documents: Vec::with_capacity(document_bytes), ..Batch::default() }
    }

    /// Checks one JSON document, minifies it and adds it to the batch. Takes time linear in its length.
    ///
    /// # Errors
    /// [`Rejection`] tells what is wrong and where; the batch is as it was before.
    pub fn push(&mut self, document: &[u8], format: &EventFormat) -> Result<(), Rejection> {
        let start = self.documents.len();
        minify_object(document, &format.limits, &mut self.documents)?;
        match self.finish(start, format) {
            Ok(instant) => {
                self.events.push((self.documents.len(), instant));
                Ok(())
            }
            Err(rejection) => {
                self.documents.truncate(start);
                Err(rejection)
            }
        }
    }

    /// Reads the instant of the document that begins at `start`, and gives its keys CLEF's names.
    fn finish(&mut self, start: usize, format: &EventFormat) -> Result<Instant, Rejection> {
        let document = &self.documents[start..];
        let missing = || Rejection::NoTime {
            key: format.time_keys.iter().map(|key| key.name.as_str()).collect::<Vec<&str>>().join(", "),
        };
        let document = match format.first_member(document) {
            Some(length) => {
                self.first.clear();
                self.first.extend_from_slice(&document[..length]);
                self.first.push(b'}');
                &self.first
            }
            None => document,
        };
        let map = self.offsets.scan_trusted(document).map_err(|_| missing())?;
        let is_there = |value: &Value<'_>| !matches!(value, Value::Null);
        let mut found =
            format.time_keys.iter().filter_map(|key| Some((key, key.find(&map).filter(is_there)?)));
        let instant = match found.next() {
            Some((key, value)) => read_time(&key.name, value, format)?,
            None if format.is_now_without_time => Instant::now(),
            None => return Err(missing()),
        };
        if let Some(renamed) = rename(&map, &format.renames) {
            if renamed.len() > format.limits.bytes_max.max(document.len()) {
                return Err(Rejection::TooLong { bytes: renamed.len(), most: format.limits.bytes_max });
            }
            self.documents.truncate(start);
            self.documents.extend_from_slice(&renamed);
        }
        Ok(instant)
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The bytes of all documents, minified.
    pub fn bytes(&self) -> usize {
        self.documents.len()
    }

    /// Removes all events, and keeps the memory for the next.
    pub fn clear(&mut self) {
        self.documents.clear();
        self.events.clear();
    }

    pub(crate) fn events(&self) -> Vec<Event<'_>> {
        let mut start = 0;
        let event = |&(end, instant): &(usize, Instant)| {
            let bytes = &self.documents[start..end];
            start = end;
            Event { instant: instant.ticks(), bytes }
        };
        self.events.iter().map(event).collect()
    }
}

fn stored_key(key: &str) -> Option<Finder<'static>> {
    let mut stored = Vec::new();
    tamias_json::write_json_string(key, &mut stored);
    stored.push(b':');
    // Lone surrogates read as U+FFFD.
    (!key.contains('\u{FFFD}')).then(|| Finder::new(&stored).into_owned())
}

fn read_time(key: &str, value: Value<'_>, format: &EventFormat) -> Result<Instant, Rejection> {
    format.time_format.read(value).map_err(|reason| {
        let text = match value {
            Value::String(text) => text.text(),
            other => String::from_utf8_lossy(other.raw()),
        };
        let text = match text.char_indices().nth(TIME_TEXT_CHARS_MAX) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text.into_owned(),
        };
        Rejection::BadTime { key: key.to_owned(), text, reason }
    })
}

/// The document with keys that have other names in CLEF; `None` where it has none of them, or CLEF's as well.
fn rename(map: &Map<'_>, renames: &[(String, &str)]) -> Option<Vec<u8>> {
    let renames: Vec<&(String, &str)> =
        renames.iter().filter(|(from, to)| map.get(from).is_some() && map.get(to).is_none()).collect();
    if renames.is_empty() {
        return None;
    }
    let mut document = Vec::with_capacity(map.raw().len() + 8);
    for (key, value) in map.entries() {
        document.push(if document.is_empty() { b'{' } else { b',' });
        match renames.iter().find(|(from, _)| *from == *key.text()) {
            // CLEF's names need no escapes.
            Some((_, to)) => {
                [&b"\""[..], to.as_bytes(), b"\""].iter().for_each(|part| document.extend_from_slice(part))
            }
            None => document.extend_from_slice(key.raw_quoted()),
        }
        document.push(b':');
        document.extend_from_slice(value.raw());
    }
    document.push(b'}');
    Some(document)
}

/// How much of a bad time's text a message repeats.
const TIME_TEXT_CHARS_MAX: usize = 40;

/// Why a document is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// It is not a JSON object in UTF-8, or exceeds a limit of size or depth.
    #[error(transparent)]
    Document(#[from] ValidateError),
    /// It has no time.
    #[error("the event has no time: no key '{key}', or its value is null")]
    NoTime {
        /// The key that was expected.
        key: String,
    },
    /// Its time cannot be read.
    #[error("the time in '{key}' is {reason}: {text}")]
    BadTime {
        /// The time's key.
        key: String,
        /// What stands there, cut after some 40 characters.
        text: String,
        /// What is wrong with it.
        reason: TimeError,
    },
    /// With CLEF's keys for its own it is longer than an event may be.
    #[error("with the keys of CLEF the event has {bytes} bytes, more than the {most} it may have")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        most: usize,
    },
}

impl Rejection {
    /// The byte within the document at which it went wrong; 0 where the whole of it is meant.
    pub fn offset(&self) -> usize {
        match self {
            Rejection::Document(error) => error.offset,
            _ => 0,
        }
    }
}
