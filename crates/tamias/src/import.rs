//! Events as lines with their ids, and a store made from such lines.

use tamias_json::validate::{Limits, ValidateError, minify_object};
use tamias_store::Key;

use crate::gathered::Gathered;
use crate::{EventId, IdError, Store};

/// The beginning of a line with an id.
const ID: &[u8] = b"{\"@Id\":\"";

/// The number of digits of an id.
const ID_DIGITS: usize = 32;

/// The maximum number of bytes by which a line with an id is longer than its document.
pub const LINE_ID_BYTES: usize = ID.len() + ID_DIGITS + 2;

/// Why events were not imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The store was opened with [`Store::open_read_only`].
    #[error("the store is open for reading only")]
    ReadOnly,
    /// The line does not begin with an id.
    #[error("it does not begin with an id, as the lines of `export --ids` do: {{\"@Id\":\"…")]
    NoId,
    /// The line begins with an invalid id.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The document is not valid.
    #[error(transparent)]
    Document(#[from] ValidateError),
    /// The store has, or had, events, or cannot store the new ones.
    #[error(transparent)]
    Store(#[from] tamias_store::ImportError),
}

/// Appends an event to `line` in the form that [`Import::push`] reads: its document with its id as an additional first member, `@Id`. Appends no line feed.
///
/// ```
/// let id = "08dc7fc93a25fc000000000000000007".parse()?;
/// let mut line = Vec::new();
/// tamias::push_line(id, br#"{"User":"eve"}"#, &mut line);
/// assert_eq!(line, br#"{"@Id":"08dc7fc93a25fc000000000000000007","User":"eve"}"#);
/// # Ok::<(), tamias::IdError>(())
/// ```
pub fn push_line(id: EventId, document: &[u8], line: &mut Vec<u8>) {
    line.extend_from_slice(ID);
    line.extend_from_slice(id.to_string().as_bytes());
    line.push(b'"');
    match document.strip_prefix(b"{") {
        Some(b"}") | None => line.push(b'}'),
        Some(members) => {
            line.push(b',');
            line.extend_from_slice(members);
        }
    }
}

/// Splits a line into its id and its document.
fn parts(line: &[u8]) -> Result<(EventId, Vec<u8>), ImportError> {
    let (id, members) = members(line).ok_or(ImportError::NoId)?;
    Ok((id.parse()?, [b"{", members].concat()))
}

/// The text in the place of the id, and the members after it with the closing brace.
fn members(line: &[u8]) -> Option<(&str, &[u8])> {
    let (digits, rest) = line.trim_ascii().strip_prefix(ID)?.split_at_checked(ID_DIGITS)?;
    let members = match rest.strip_prefix(b"\"")? {
        b"}" => b"}",
        rest => rest.strip_prefix(b",")?,
    };
    Some((std::str::from_utf8(digits).ok()?, members))
}

/// An import of lines with ids, which recreates the store that they come from: see [`Store::import`].
#[derive(Debug)]
pub struct Import<'s> {
    inner: tamias_store::Import<'s>,
    gathered: Gathered<Key>,
    stored: u64,
}

impl Store {
    /// Begins an import of events that keep the ids they have in another store: the same instants and arrival numbers. This store must never have had an
    /// event. Events appended later get arrival numbers that are 2^40 higher, so that the two stores never give the same id to different events.
    ///
    /// ```
    /// use tamias::{Store, push_line};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = |name: &str| folder.path().join(name);
    /// let store = Store::open(path("logs"))?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z"}"#])?;
    /// let equal = Store::open(path("equal"))?;
    /// let mut import = equal.import()?;
    /// for event in store.page(tamias::Start::Earliest, 100)?.events {
    ///     let mut line = Vec::new();
    ///     push_line(event.id, event.json.as_bytes(), &mut line);
    ///     import.push(&line)?;
    /// }
    /// assert_eq!(import.finish()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the store has, or had, events, or is open for reading only.
    pub fn import(&self) -> Result<Import<'_>, ImportError> {
        let inner = self.writer().map_err(|_| ImportError::ReadOnly)?.import()?;
        Ok(Import { inner, gathered: Gathered::new(), stored: 0 })
    }
}

impl Import<'_> {
    /// Adds the next line, with or without its line feed. Lines may come in any order. They are stored some tens of megabytes at a time.
    ///
    /// # Errors
    /// If the line is malformed, an id occurs twice, or earlier lines cannot be stored. The import cannot continue then: begin again with another
    /// folder.
    pub fn push(&mut self, line: &[u8]) -> Result<(), ImportError> {
        let (id, document) = parts(line)?;
        self.gathered.push(id.key(), |documents| minify_object(&document, &Limits::default(), documents))?;
        if self.gathered.are_enough() { self.store() } else { Ok(()) }
    }

    /// Stores the remaining events, and returns the number of events in the store.
    ///
    /// # Errors
    /// As for [`push`](Import::push).
    pub fn finish(mut self) -> Result<u64, ImportError> {
        self.store()?;
        Ok(self.stored)
    }

    fn store(&mut self) -> Result<(), ImportError> {
        let events: Vec<(Key, &[u8])> = self.gathered.iter().collect();
        self.inner.append(&events)?;
        self.stored += events.len() as u64;
        self.gathered.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instant;

    #[test]
    fn a_line_is_the_document_and_its_id() {
        let id: EventId = "08dc7fc93a25fc000000000000000007".parse().unwrap();
        for document in ["{}", r#"{"a":1}"#, r#"{"@Id":"another","@Id":2}"#, r#"{"":{}}"#] {
            let mut line = Vec::new();
            push_line(id, document.as_bytes(), &mut line);
            assert!(line.len() <= document.len() + LINE_ID_BYTES);
            let (found, parts) = parts(&line).unwrap();
            assert_eq!((found, parts.as_slice()), (id, document.as_bytes()));
        }
        for wrong in [
            "",
            "{}",
            r#"{"a":1}"#,
            r#"{"@Id":"7"}"#,
            r#"{"@Id":"08dc7fc93a25fc000000000000000007"#,
            r#"{"@Id":"08dc7fc93a25fc000000000000000007""#,
            r#"{"@Id":"08dc7fc93a25fc000000000000000007"  }"#,
            r#"{"@Id":"08dc7fc93a25fc00000000000000000€"}"#,
        ] {
            assert!(parts(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    /// Such events used to be stored, and queries gave -1 for their times.
    #[test]
    fn no_event_is_after_the_year_9999() {
        let last = EventId::new(Instant::MAX, 7).to_string();
        let line = |id: &str| format!("{{\"@Id\":\"{id}\"}}").into_bytes();
        assert!(parts(&line(&last)).is_ok());
        for beyond in ["2bca2875f4374000", "8000000000000000", "ffffffffffffffff"] {
            let id = format!("{beyond}{}", &last[16..]);
            assert!(id.parse::<EventId>().is_err(), "{id}");
            let refused = parts(&line(&id)).unwrap_err();
            assert!(refused.to_string().contains("9999"), "{refused}");
        }
    }
}
