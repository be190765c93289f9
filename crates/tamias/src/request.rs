//! Asking the process that writes to a store.

use std::path::Path;
use std::time::Duration;

use tamias_store::{Deleted, Erased, RequestError, RequestProgress, Settings};

use crate::{EventId, Removed, Retention, Store};

/// What is asked of the process that writes to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// [`Store::seal`].
    Seal,
    /// [`Store::compact`], after sealing.
    Compact,
    /// [`Store::remove`], after sealing.
    Remove(Retention),
    /// [`Store::set_settings`].
    Settings(Settings),
    /// [`Store::delete_events`], of at most [`DELETED_MAX`](crate::DELETED_MAX) events.
    Delete(Vec<EventId>),
    /// [`Store::erase`].
    Erase,
}

/// What the process that writes has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// What it was asked for.
    Done,
    /// It has removed this.
    Removed(Removed),
    /// It has deleted this.
    Deleted(Deleted),
    /// It has erased so far.
    Erased(Erased),
}

impl Store {
    /// Asks the process that writes to the store in the folder `path` to do something, and waits until it has done it. `None` if no process writes to
    /// it: then the caller may open the store and do it. The request is withdrawn if it is not taken within `patience`. Where that process ends in the middle nothing is
    /// half done, and the answer is `None` as well, or that of the next one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamias::{Reply, Request, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::open(folder.path())?;
    /// store.append([r#"{"@t":"2024-05-29T10:56:01Z"}"#])?;
    /// // In another process:
    /// let reply = Store::ask(folder.path(), Request::Seal, Duration::from_secs(30), |_progress| ())?;
    /// assert_eq!(reply, Some(Reply::Done));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where there is no store, the writer does not take the request or cannot do it, and where the folder cannot be written.
    pub fn ask(
        path: impl AsRef<Path>,
        request: Request,
        patience: Duration,
        mut progress: impl FnMut(RequestProgress),
    ) -> Result<Option<Reply>, RequestError> {
        let request = match request {
            Request::Seal => tamias_store::Request::Seal,
            Request::Compact => tamias_store::Request::Compact,
            Request::Remove(retention) => tamias_store::Request::Remove(retention.of_store()),
            Request::Settings(settings) => tamias_store::Request::Settings(settings),
            Request::Delete(ids) => {
                tamias_store::Request::Delete(ids.into_iter().map(EventId::key).collect())
            }
            Request::Erase => tamias_store::Request::Erase,
        };
        let reply = request.ask(path.as_ref(), patience, &mut progress)?;
        Ok(reply.map(|reply| match reply {
            tamias_store::Reply::Done => Reply::Done,
            tamias_store::Reply::Deleted(deleted) => Reply::Deleted(deleted),
            tamias_store::Reply::Erased(erased) => Reply::Erased(erased),
            tamias_store::Reply::Removed(removed) => Reply::Removed(Removed::of_store(removed)),
        }))
    }
}
