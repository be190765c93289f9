//! Requests to the process that is writing to a store.

use std::path::Path;
use std::time::Duration;

use tamias_store::{Deleted, Erased, RequestError, RequestProgress, Settings};

use crate::{EventId, Removed, Retention, Store};

/// A request to the process that is writing to a store. Each variant calls the method it names.
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

/// The reply of the process that is writing to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The request is done; there is nothing more to report.
    Done,
    /// What was removed.
    Removed(Removed),
    /// What was deleted.
    Deleted(Deleted),
    /// What was erased.
    Erased(Erased),
}

impl Store {
    /// Sends a request to the process that is writing to the store in the folder `path`, and waits until it is done. Returns `None` if no process is
    /// writing: the caller can then open the store and do it. The request is withdrawn if it is not accepted within `patience`. If the
    /// writing process ends meanwhile, nothing is left half done; the result is `None`, or the reply of the next writing process.
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
    /// If there is no store, the writing process does not accept the request or cannot do it, or the folder cannot be written.
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
