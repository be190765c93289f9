//! What the writer does for other processes that [ask](crate::request) for it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::format::REQUESTS_NAME;
use crate::io::{Directory, NameKind};
use crate::request::{
    Asked, PROGRESS, REPLY, REQUEST, RUNNING, Reply, Request, id, is_left, put_as, put_reply, read,
};
use crate::settings;
use crate::writer::Inner;

/// HEURISTIC: how often a writer looks for requests. A look is one call.
pub(crate) const REQUESTS_PAUSE: Duration = Duration::from_millis(250);

/// A request that was not taken in time is taken away so long after, if its asker has not done so: a minute, in ticks.
const FORGOTTEN_TICKS: u64 = 60 * 10_000_000;

impl Inner {
    /// The folder of requests, where somebody has made it.
    fn requests(&self) -> Option<Arc<dyn Directory>> {
        let there = matches!(self.directory.kind(REQUESTS_NAME), Ok(Some(NameKind::Folder)));
        there.then(|| self.directory.folder(REQUESTS_NAME).ok()).flatten()
    }

    /// Forgets what a writer before had taken or answered: whoever still waits for it asks again.
    pub(crate) fn forget_requests(&self) {
        let Some(requests) = self.requests() else { return };
        for name in requests.list().unwrap_or_default() {
            if [RUNNING, REPLY, PROGRESS].iter().any(|ending| name.ends_with(ending)) {
                let _ = requests.remove(&name);
            }
        }
    }

    /// Does what is asked for, one request after another. What goes wrong with their files is no harm to the store: the asker sees that there is no reply.
    pub(crate) fn serve_requests(&self, may_go_on: &dyn Fn() -> bool) {
        self.serve_those(&|_| true, may_go_on);
    }

    fn serve_those(&self, which: &dyn Fn(&Request) -> bool, may_go_on: &dyn Fn() -> bool) {
        let Some(requests) = self.requests() else { return };
        for name in requests.list().unwrap_or_default() {
            if let Some(stem) = name.strip_suffix(REQUEST).filter(|_| may_go_on()) {
                self.serve(&*requests, stem, which, may_go_on);
            }
        }
    }

    fn serve(
        &self,
        requests: &dyn Directory,
        stem: &str,
        which: &dyn Fn(&Request) -> bool,
        may_go_on: &dyn Fn() -> bool,
    ) {
        let (request, running) = (format!("{stem}{REQUEST}"), format!("{stem}{RUNNING}"));
        let Ok(bytes) = read(requests, stem, REQUEST) else { return };
        let store = self.environment.store;
        let Some(asked) = Asked::decode(&bytes).filter(|asked| asked.store == store) else {
            // It was put here whole, so it is nobody's.
            let _ = requests.remove(&request);
            return;
        };
        if asked.request.as_ref().is_some_and(|request| !which(request)) {
            return;
        }
        let now = settings::now();
        if asked.deadline < now {
            if asked.deadline.saturating_add(FORGOTTEN_TICKS) < now {
                let _ = requests.remove(&request);
            }
            return;
        }
        if is_left(requests, &request) {
            let _ = requests.remove(&request);
            return;
        }
        // Taken, unless it was withdrawn.
        if requests.rename(&request, &running).is_err() {
            return;
        }
        let reply = match asked.request {
            Some(request) => {
                let told = |done, of| tell_progress(requests, id(stem), done, of);
                self.carry_out(request, may_go_on, &told)
            }
            None => Err("it is of an older version, and does not know this request".to_owned()),
        };
        if let Some(reply) = reply.transpose() {
            let _ = put_reply(requests, id(stem), store, reply);
        }
        let _ = requests.remove(&running);
        let _ = requests.remove(&format!("{}{PROGRESS}", id(stem)));
    }

    /// Does it; nothing if the store is closed before it is done.
    fn carry_out(
        &self,
        request: Request,
        may_go_on: &dyn Fn() -> bool,
        told: &dyn Fn(u64, u64),
    ) -> Result<Option<Reply>, String> {
        // What rewrites segments may take hours. Others do not wait for it: it pauses before a block, where it holds nothing that they need.
        let looked = Cell::new(Instant::now());
        let may_go_on = &|| {
            // Who needs room waits for the files that are being read.
            if looked.get().elapsed() >= REQUESTS_PAUSE && self.reading.try_lock().is_ok() {
                self.serve_those(&Request::is_short, may_go_on);
                looked.set(Instant::now());
            }
            may_go_on()
        };
        let done = match request {
            Request::Seal => {
                told(0, self.lock().unsealed_bytes() as u64);
                self.seal().map(|()| Some(Reply::Done))
            }
            Request::Compact => self
                .seal()
                .and_then(|()| self.compact_all(may_go_on, told))
                .map(|is_done| is_done.then_some(Reply::Done)),
            Request::Remove(retention) => match self.seal() {
                // Removing needs no room, and makes some: what is not sealed yet stays for now.
                Err(error) if !error.is_lack_of_room() => Err(error),
                _ => self.remove(retention, false).map(|removed| Some(Reply::Removed(removed))),
            },
            Request::Settings(settings) => self.set_settings(settings).map(|()| Some(Reply::Done)),
            Request::Delete(keys) => {
                let deleted = self.delete(&keys).map_err(|error| error.to_string())?;
                return Ok(Some(Reply::Deleted(deleted)));
            }
            Request::Erase => {
                let erased = self.erase(may_go_on).map_err(|error| error.to_string())?;
                return Ok(may_go_on().then_some(Reply::Erased(erased)));
            }
        };
        done.map_err(|error| error.to_string())
    }
}

/// Tells the asker how far its request is. Nothing depends on it, so it may fail; on a full disk it is not told by the name of a file, which nobody would remove.
fn tell_progress(requests: &dyn Directory, id: &str, done: u64, of: u64) {
    let bytes = [done.to_le_bytes(), of.to_le_bytes()].concat();
    let _ = put_as(requests, id.to_owned(), PROGRESS, &bytes);
}
