//! Deleting events by a condition, and erasing what was deleted.

use std::path::{Path, PathBuf};

use tamias_query::{ExecError, Expression, Parameters, Query, QueryError, RunOptions, Statement};
use tamias_store::{Deleted, Erased, OpenError, Receipt, ReceiptCheck};

use crate::{EventId, ReadError, Store};

/// How many events are deleted at a time.
const ROUND: usize = 100_000;

/// Once this many events are deleted, they are erased before more are deleted: until then the manifest lists each of them.
const UNERASED_MAX: u64 = 1_000_000;

/// Why events were not deleted, or not erased.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeleteError {
    /// The condition is malformed; the message shows the place.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The condition could not be evaluated.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The store cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store was opened with [`Store::open_read_only`].
    #[error("the store is open for reading only")]
    ReadOnly,
    /// Something of the store could not be read. Nothing of this round was deleted.
    #[error("{0}; repair the store, then try again")]
    Read(Box<ReadError>),
    /// The store could not delete or erase them.
    #[error(transparent)]
    Store(tamias_store::DeleteError),
}

impl From<tamias_store::DeleteError> for DeleteError {
    fn from(error: tamias_store::DeleteError) -> DeleteError {
        match error {
            // Damage is shown with its times here, and not with ticks.
            tamias_store::DeleteError::Read(error) => DeleteError::Read(Box::new(ReadError::of_store(error))),
            error => DeleteError::Store(error),
        }
    }
}

/// Deletes the events that `matching` returns, at most `round` at a time, until it returns none. For programs that have another process delete and
/// erase; in one process use [`Store::delete`]. Calls `erase` whenever a million events are deleted and not erased, before it deletes more. Events that
/// are found twice in a row and could not be deleted are counted as missed.
///
/// ```
/// use tamias::{Deleted, delete_in_rounds};
///
/// let events = std::cell::RefCell::new(vec![1, 2, 3, 4, 5]);
/// let matching = |most| Ok(events.borrow().iter().copied().take(most).collect());
/// let delete = |found: &[i32]| {
///     events.borrow_mut().retain(|event| !found.contains(event));
///     Ok(Deleted { events: found.len() as u64, missed: 0 })
/// };
/// assert_eq!(delete_in_rounds::<_, std::io::Error>(2, matching, delete, || Ok(()))?.events, 5);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The first error that one of the functions returns. Events deleted before that stay deleted.
pub fn delete_in_rounds<Id: PartialEq, E>(
    round: usize,
    mut matching: impl FnMut(usize) -> Result<Vec<Id>, E>,
    mut delete: impl FnMut(&[Id]) -> Result<Deleted, E>,
    mut erase: impl FnMut() -> Result<(), E>,
) -> Result<Deleted, E> {
    let (mut all, mut unerased, mut left) = (Deleted::default(), 0, Vec::new());
    loop {
        let ids = matching(round)?;
        let is_last = ids.len() < round;
        let Deleted { events, missed } = delete(&ids)?;
        all.events += events;
        unerased += events;
        if is_last && missed == 0 {
            return Ok(all);
        }
        if events == 0 {
            // Somebody else has deleted them, or they lie where nothing can be deleted, and were found again.
            if left == ids {
                return Ok(Deleted { missed, ..all });
            }
            left = ids;
        }
        if unerased >= UNERASED_MAX {
            erase()?;
            unerased = 0;
        }
    }
}

impl Store {
    /// Deletes the events that meet a condition, written as after `where` in a query. When it returns, no new query returns them; [`erase`](Store::erase)
    /// removes them from the files. If there are more than a million, the first ones are erased before the others are deleted. Snapshots taken before
    /// still see them. Events stored while this runs may be deleted too.
    ///
    /// ```
    /// use tamias::Store;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z","User":"eve"}"#, r#"{"@t":"2024-05-29T10:56:02Z","User":"bob"}"#])?;
    /// assert_eq!(store.delete("User = 'eve'")?.events, 1);
    /// let receipt = store.erase()?.receipt.expect("nobody else reads the files");
    /// assert_eq!((receipt.events, receipt.stays.events), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the condition is malformed, the store is open for reading only, a part that has to be read is damaged, or the store cannot be read or written.
    /// Events deleted before the error stay deleted.
    pub fn delete(&self, condition: &str) -> Result<Deleted, DeleteError> {
        let matching = |events_max| self.matching(condition, &Parameters::new(), events_max);
        delete_in_rounds(ROUND, matching, |ids| self.delete_events(ids), || self.erase().map(drop))
    }

    /// The ids of the events that meet a condition, written as after `where` in a query, up to a maximum number.
    ///
    /// # Errors
    /// If the condition is malformed, or the store is damaged or cannot be read.
    pub fn matching(
        &self,
        condition: &str,
        parameters: &Parameters,
        events_max: usize,
    ) -> Result<Vec<EventId>, DeleteError> {
        // Parsed by itself, so that nothing in it can become another clause of the query. It may end with a comment.
        Expression::prepare(condition, parameters)?;
        let text = format!("select @Id from stream where ({condition}\n) limit {events_max}");
        let query: Query = Statement::parse(&text)?.bind(parameters)?;
        let mut rows = self.run_with(&query, RunOptions::default())?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next_row()? {
            let id = row.get(0).and_then(|cell| cell.text()?.parse().ok());
            ids.extend::<Option<EventId>>(id);
        }
        Ok(ids)
    }

    /// Deletes these events, all of them or none, as [`delete`](Store::delete) does. At most a million events may be deleted and not yet erased.
    ///
    /// # Errors
    /// If the store is open for reading only, is damaged where one of the events is, or cannot be read or written.
    pub fn delete_events(&self, ids: &[EventId]) -> Result<Deleted, DeleteError> {
        let keys: Vec<tamias_store::Key> = ids.iter().map(|id| id.key()).collect();
        let store = self.writer().map_err(|_| DeleteError::ReadOnly)?;
        Ok(store.delete(&keys)?)
    }

    /// Removes deleted events from the files. Each file that holds any is rewritten without them, one file at a time, which needs free disk space for one
    /// file. Once no file holds a deleted event, the whole store is read and a [`Receipt`] is written. Call it again if it was interrupted, or if readers
    /// still hold files. Backups and the quarantine are not changed.
    ///
    /// # Errors
    /// If the store is open for reading only, is damaged, or cannot be read or written.
    pub fn erase(&self) -> Result<Erased, DeleteError> {
        self.erase_while(&|| true)
    }

    /// [Erases](Store::erase) until `may_go_on` returns false, which is asked before each block. There is no receipt then; the next call goes on where this
    /// one stopped.
    ///
    /// # Errors
    /// As for [`erase`](Store::erase).
    pub fn erase_while(&self, may_go_on: &dyn Fn() -> bool) -> Result<Erased, DeleteError> {
        Ok(self.writer().map_err(|_| DeleteError::ReadOnly)?.erase_while(may_go_on)?)
    }

    /// The receipts of the store in the folder `path`, the earliest first, each with its file; `None` for a damaged receipt.
    ///
    /// # Errors
    /// If there is no store, or it cannot be read.
    pub fn receipts(path: impl AsRef<Path>) -> Result<Vec<(PathBuf, Option<Receipt>)>, OpenError> {
        Receipt::list(path.as_ref())
    }

    /// Checks a receipt against the store: whether any of the erased events is there, and whether the remaining events are unchanged. Reads the whole
    /// store.
    ///
    /// # Errors
    /// If the store is damaged, or cannot be read.
    pub fn check_receipt(&self, receipt: &Receipt) -> Result<ReceiptCheck, ReadError> {
        self.snapshot()?.events.check_receipt(receipt).map_err(ReadError::of_store)
    }
}
