//! The trust boundary: text becomes a checked, minified event with an instant, or is refused with a reason.

use tamias_json::validate::{Limits, ValidateError, minify_object};
use tamias_json::{Offsets, Value};
use tamias_query::{Instant, InstantError};
use tamias_store::Event;

/// What an event has to look like to be taken in: where its time stands, and how large it may be.
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
    time_key: String,
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
        EventFormat { time_key: key.into(), limits: Limits::default() }
    }

    /// The longest event that is taken, in bytes as it comes in; 16 MiB unless set, and never more.
    pub fn event_bytes_max(mut self, bytes: usize) -> EventFormat {
        self.limits.bytes_max = bytes.min(Limits::default().bytes_max);
        self
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
}

impl Batch {
    /// A batch of no events.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Checks one JSON document, minifies it and adds it to the batch. Takes time linear in its length.
    ///
    /// # Errors
    /// [`Rejection`] tells what is wrong and where; the batch is as it was before.
    pub fn push(&mut self, document: &[u8], format: &EventFormat) -> Result<(), Rejection> {
        let start = self.documents.len();
        minify_object(document, &format.limits, &mut self.documents)?;
        match instant_of(&self.documents[start..], &mut self.offsets, &format.time_key) {
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

/// The instant in the key `time_key` of a document that has been checked.
fn instant_of(document: &[u8], offsets: &mut Offsets, time_key: &str) -> Result<Instant, Rejection> {
    let missing = || Rejection::NoTime { key: time_key.to_owned() };
    let bad = |text: &str, reason| {
        let text = match text.char_indices().nth(TIME_TEXT_CHARS_MAX) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text.to_owned(),
        };
        Rejection::BadTime { key: time_key.to_owned(), text, reason }
    };
    let map = offsets.scan_trusted(document).map_err(|_| missing())?;
    match map.get(time_key) {
        None => Err(missing()),
        Some(Value::String(text)) => {
            let text = text.text();
            text.parse().map_err(|reason| bad(&text, reason))
        }
        Some(Value::Number(number)) => {
            Instant::from_unix_text(number.text()).map_err(|reason| bad(number.text(), reason))
        }
        Some(other) => Err(bad(&String::from_utf8_lossy(other.raw()), InstantError::Text)),
    }
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
    #[error("the event has no time: no key '{key}'")]
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
        reason: InstantError,
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
