//! Merging several stores into one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tamias_query::{ExecError, OwnedRow, Query, QueryError, Rows, RunOptions};
use tamias_store::{Event, OpenError};

use crate::Store;
use crate::gathered::Gathered;

/// Why stores were not merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A store cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The events of a store cannot be read.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The query that reads the events failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The destination store is not empty.
    #[error("it has {events} events already; give a new folder")]
    NotEmpty {
        /// The number of events in it.
        events: u64,
    },
    /// The store was opened with [`Store::open_read_only`].
    #[error("the store is open for reading only")]
    ReadOnly,
    /// The events could not be stored.
    #[error(transparent)]
    Append(#[from] tamias_store::AppendError),
}

/// The events of a store in their order.
struct Source {
    rows: Rows,
}

impl Source {
    fn next(&mut self) -> Result<Option<(u64, OwnedRow)>, MergeError> {
        let Some(row) = self.rows.next().transpose()? else { return Ok(None) };
        let ticks = row.get(0).and_then(|cell| std::str::from_utf8(cell.json()?).ok()?.parse().ok());
        Ok(Some((ticks.unwrap_or(0), row)))
    }
}

impl Store {
    /// Copies all events of other stores into this one, in the order of their instants; for equal instants, in the order of the stores. Events keep their
    /// instants and their documents, byte for byte, but get new arrival numbers and so new ids. This store must be empty. All events come to it
    /// at once, when the last one is read: an interruption, or an error, leaves it empty, and the merge can be run again. Returns the number of events. `progress` is called with the number of events so far.
    ///
    /// ```
    /// use tamias::Store;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = |name: &str| folder.path().join(name);
    /// let (one, other) = (Store::open(path("one"))?, Store::open(path("other"))?);
    /// one.append([r#"{"@t":"2024-05-29T10:56:01Z"}"#, r#"{"@t":"2024-05-29T10:56:03Z"}"#])?;
    /// other.append([r#"{"@t":"2024-05-29T10:56:02Z"}"#])?;
    /// let both = Store::open(path("both"))?;
    /// assert_eq!(both.merge(&[one, other], |_| ())?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If another store cannot be read or is damaged, or if this one has events, is open for reading only, or cannot be written.
    pub fn merge(&self, stores: &[Store], mut progress: impl FnMut(u64)) -> Result<u64, MergeError> {
        let writer = self.writer().map_err(|_| MergeError::ReadOnly)?;
        let events = self.info()?.events;
        if events > 0 {
            return Err(MergeError::NotEmpty { events });
        }
        let query = Query::prepare("select @Timestamp, @Data from stream")?;
        let mut sources = Vec::new();
        for store in stores {
            sources.push(Source { rows: store.run_with(&query, RunOptions::default())? });
        }
        let mut next = BinaryHeap::new();
        let mut rows: Vec<Option<OwnedRow>> = sources.iter().map(|_| None).collect();
        let mut fetch = |number: usize, rows: &mut [Option<OwnedRow>]| {
            let found = sources.get_mut(number).map_or(Ok(None), Source::next)?;
            Ok::<_, MergeError>(found.map(|(ticks, row)| {
                if let Some(place) = rows.get_mut(number) {
                    *place = Some(row);
                }
                Reverse((ticks, number))
            }))
        };
        for number in 0..rows.len() {
            next.extend(fetch(number, &mut rows)?);
        }
        let (mut gathered, mut pieces, mut stored) = (Gathered::new(), writer.append_in_pieces(), 0);
        loop {
            let first = next.pop();
            if gathered.are_enough() || first.is_none() {
                let events: Vec<Event<'_>> =
                    gathered.iter().map(|(instant, bytes)| Event { instant, bytes }).collect();
                pieces.push(&events)?;
                stored += events.len() as u64;
                progress(stored);
                gathered.clear();
            }
            let Some(Reverse((instant, number))) = first else {
                pieces.finish()?;
                return Ok(stored);
            };
            let row = rows.get_mut(number).and_then(Option::take);
            if let Some(document) = row.as_ref().and_then(|row| row.get(1)?.json()) {
                gathered.push(instant, |documents| {
                    documents.extend_from_slice(document);
                    Ok::<_, MergeError>(())
                })?;
            }
            next.extend(fetch(number, &mut rows)?);
        }
    }
}
