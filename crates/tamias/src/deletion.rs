//! Deleting events by a condition, and erasing what was deleted.

use std::path::{Path, PathBuf};

use tamias_query::{ExecError, Expression, Parameters, Query, QueryError, RunOptions, Statement};
use tamias_store::{Deleted, Erased, OpenError, Receipt, ReceiptCheck};

use crate::{EventId, ReadError, Store};

/// So many events are deleted at a time.
const ROUND: usize = 100_000;

/// So many deleted events lead to erasing before more are deleted: the list of the store's files tells each of them meanwhile.
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
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] tamias_store::DeleteError),
}

/// Deletes what `matching` finds, at most `round` events at a time, until it finds no more: for programs that let another process delete and erase, as
/// [`Store::delete`] does by itself. Once a million events are deleted and not erased, they are erased before more are deleted. What is found and not deleted, twice
/// in a row, is told as missed.
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
/// The first one that any of these gives. What was deleted before stays so.
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
            // Somebody else has deleted them, or they lie where nothing can be deleted, and are met again.
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
    /// Deletes the events that meet a condition, as behind `where` in a query. When this returns they are gone from all answers; [`erase`](Store::erase) takes
    /// them out of the files. Of more than a million the first ones are erased on the way. Snapshots that were taken before still have them; what is stored
    /// meanwhile may be deleted as well.
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
    /// Where the condition is malformed, the store is open for reading only or damaged where it matters, or cannot be read or written. What was deleted before
    /// stays so.
    pub fn delete(&self, condition: &str) -> Result<Deleted, DeleteError> {
        let matching = |events_max| self.matching(condition, &Parameters::new(), events_max);
        delete_in_rounds(ROUND, matching, |ids| self.delete_events(ids), || self.erase().map(drop))
    }

    /// The events that meet a condition, as behind `where` in a query: so many at most.
    ///
    /// # Errors
    /// Where the condition is malformed, or the store damaged or unreadable.
    pub fn matching(
        &self,
        condition: &str,
        parameters: &Parameters,
        events_max: usize,
    ) -> Result<Vec<EventId>, DeleteError> {
        // By itself, so that nothing in it can be taken for more of the query. It may end with a comment.
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

    /// Deletes these events, all of them or none, as [`delete`](Store::delete) does: a million at most, until they are erased.
    ///
    /// # Errors
    /// Where the store is open for reading only, is damaged where one of them is, or cannot be read or written.
    pub fn delete_events(&self, ids: &[EventId]) -> Result<Deleted, DeleteError> {
        let keys: Vec<tamias_store::Key> = ids.iter().map(|id| id.key()).collect();
        let store = self.writer().map_err(|_| DeleteError::ReadOnly)?;
        Ok(store.delete(&keys)?)
    }

    /// Takes deleted events out of the files: each file that holds any is written anew without them, one after another, which takes room for one file
    /// at a time. Once no file holds one, the whole store is read and a [`Receipt`] written. To be called again where it was interrupted, or where readers
    /// hold files. It reaches neither backups nor the quarantine.
    ///
    /// # Errors
    /// Where the store is open for reading only, is damaged, or cannot be read or written.
    pub fn erase(&self) -> Result<Erased, DeleteError> {
        Ok(self.writer().map_err(|_| DeleteError::ReadOnly)?.erase()?)
    }

    /// The receipts of the store in the folder `path`, the earliest first, each with its file; nothing in the place of one that is damaged.
    ///
    /// # Errors
    /// Where there is no store, or it cannot be read.
    pub fn receipts(path: impl AsRef<Path>) -> Result<Vec<(PathBuf, Option<Receipt>)>, OpenError> {
        Receipt::list(path.as_ref())
    }

    /// What has become of a receipt: whether one of the events that it tells of is there, and whether those that stayed are what they were. Reads the whole
    /// store.
    ///
    /// # Errors
    /// Where the store is damaged, or cannot be read.
    pub fn check_receipt(&self, receipt: &Receipt) -> Result<ReceiptCheck, ReadError> {
        self.snapshot()?.events.check_receipt(receipt).map_err(ReadError::of_store)
    }
}
