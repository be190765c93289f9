//! The trust boundary: text becomes a checked, minified event with an instant, or is refused with a reason.

use memchr::memchr2;
use memchr::memmem::Finder;
use tamias_json::validate::{Limits, ValidateError, minify_object};
use tamias_json::{Map, Offsets, Value};
use tamias_query::Instant;
use tamias_store::Event;

use crate::{TimeError, TimeFormat};

/// The format of incoming events: which keys hold the time, level and message, and how large an event may be.
///
/// CLEF, the compact log event format, has the time in `@t`. Any other JSON object is accepted too, with its time in another
/// key:
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
    /// The keys that may hold the time; the first that exists is used.
    time_keys: Vec<TimeKey>,
    /// The first key as it is stored, with its colon; none where it might be stored in more than one spelling.
    stored_key: Option<Finder<'static>>,
    time_format: TimeFormat,
    is_now_without_time: bool,
    /// Keys of other formats, and the CLEF key that replaces each.
    renames: Vec<(String, &'static str)>,
    limits: Limits,
}

impl EventFormat {
    /// Events in CLEF, whose time is in `@t`.
    pub fn clef() -> EventFormat {
        EventFormat::time_key("@t")
    }

    /// Events whose time is in the top-level key `key`: ISO 8601 text with `T` or a space, UTC if it has no
    /// offset, or a Unix time (see [`Instant::from_unix_text`] for the units).
    pub fn time_key(key: impl Into<String>) -> EventFormat {
        EventFormat::with_keys(vec![TimeKey { name: key.into(), path: Vec::new() }])
    }

    /// Events whose time is in one of several keys, given as a comma-separated list such as `timestamp,time`. The first key that exists and is not
    /// null is used. A name with points may be a path: `event.created` is the member `created` of `event`, unless a key has that whole name.
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

    /// Sets how the time is written. By default ISO 8601 text and Unix times are recognised; see [`TimeFormat`].
    pub fn time_format(mut self, format: TimeFormat) -> EventFormat {
        self.time_format = format;
        self
    }

    /// Gives events without a time the current time when they are pushed. It is not written into the document. An event whose
    /// time cannot be read is still rejected.
    pub fn now_without_time(mut self) -> EventFormat {
        self.is_now_without_time = true;
        self
    }

    /// Stores the top-level key `key` as the event's level, under CLEF's key `@l`; queries read it as `@Level`. The
    /// value, and the member's position in the document, do not change. An event that already has an `@l` is stored as it is.
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

    /// Stores the top-level key `key` as the event's message, under CLEF's key `@m`; queries read it as `@Message`. Otherwise
    /// like [`level_key`](EventFormat::level_key).
    pub fn message_key(self, key: impl Into<String>) -> EventFormat {
        self.rename(key.into(), "@m")
    }

    fn rename(mut self, from: String, to: &'static str) -> EventFormat {
        self.renames.retain(|(_, known)| *known != to);
        self.renames.push((from, to));
        self
    }

    /// The time of a checked document where it stands first and is a string, as in most events: such a document is not scanned.
    fn first_time<'d>(&self, document: &'d [u8]) -> Option<&'d str> {
        let stored_key = self.stored_key.as_ref().filter(|_| self.renames.is_empty())?;
        let text = document.strip_prefix(b"{")?.strip_prefix(stored_key.needle())?.strip_prefix(b"\"")?;
        let end = memchr2(b'"', b'\\', text).filter(|&end| text.get(end) == Some(&b'"'))?;
        let (text, others) = text.split_at_checked(end)?;
        // If a key occurs twice, the last one is used.
        stored_key.find(others).is_none().then(|| std::str::from_utf8(text).ok())?
    }

    /// Sets the maximum size of an event in bytes, before it is minified. The default is 16 MiB, which is also the upper limit.
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
/// A batch keeps its memory when it is emptied, so one batch can be reused for a whole file.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    documents: Vec<u8>,
    /// For each event: where its document ends, and when it happened.
    events: Vec<(usize, Instant)>,
    offsets: Offsets,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// An empty batch with memory reserved for `document_bytes` bytes of documents. Avoids repeated copying as a batch grows to tens of megabytes.
    pub fn with_capacity(document_bytes: usize) -> Batch {
        Batch { documents: Vec::with_capacity(document_bytes), ..Batch::default() }
    }

    /// Checks one JSON document, minifies it and adds it to the batch. Takes time linear in its length.
    ///
    /// # Errors
    /// A [`Rejection`] that says what is wrong and where. The batch is then unchanged.
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

    /// Reads the instant of the document that begins at `start`, and renames its keys to those of CLEF.
    fn finish(&mut self, start: usize, format: &EventFormat) -> Result<Instant, Rejection> {
        let document = &self.documents[start..];
        // One that cannot be read is looked at again, to say what is wrong.
        if let Some(Ok(instant)) = format.first_time(document).map(|text| format.time_format.read_text(text))
        {
            return Ok(instant);
        }
        let missing = || Rejection::NoTime {
            key: format.time_keys.iter().map(|key| key.name.as_str()).collect::<Vec<&str>>().join(", "),
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

    /// The total size of all documents in bytes, minified.
    pub fn bytes(&self) -> usize {
        self.documents.len()
    }

    /// Removes all events, and keeps the memory for the next ones.
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

/// The document with keys renamed to those of CLEF; `None` if it has none of these keys, or already has those of CLEF.
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

/// How many characters of an unreadable time an error message shows.
const TIME_TEXT_CHARS_MAX: usize = 40;

/// Why a document was rejected as an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// It is not a JSON object in UTF-8, or exceeds a size or depth limit.
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
        /// The value, cut to about 40 characters.
        text: String,
        /// What is wrong with it.
        reason: TimeError,
    },
    /// After its keys were renamed to those of CLEF it is longer than an event may be.
    #[error("with the keys of CLEF the event has {bytes} bytes, more than the {most} it may have")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
        /// The limit in bytes.
        most: usize,
    },
}

impl Rejection {
    /// The byte offset of the error within the document; 0 if it concerns the whole document.
    pub fn offset(&self) -> usize {
        match self {
            Rejection::Document(error) => error.offset,
            _ => 0,
        }
    }
}
