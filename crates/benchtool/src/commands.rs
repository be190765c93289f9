//! The commands, a module each.

pub(crate) mod around;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod compact;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod get;
pub(crate) mod help_files;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod ingest;
pub(crate) mod keys;
pub(crate) mod merge_stores;
pub(crate) mod query;
pub(crate) mod receipts;
pub(crate) mod remove;
pub(crate) mod repair;
pub(crate) mod scrub;
pub(crate) mod seal;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod shell;
pub(crate) mod shred;
pub(crate) mod tail;
pub(crate) mod verify;

use std::path::Path;
use std::time::Duration;

use tamias::{OpenError, Options, Reply, Request, RequestProgress, Store};

use crate::cli::{ReadMode, Reading};
use crate::failure::Failure;
use crate::progress;
use crate::tell::tell;
use crate::units::{self, printable};

/// Opens a store for writing, and makes none.
fn existing(folder: &Path, options: Options) -> Result<Store, Failure> {
    if !folder.is_dir() {
        return Err(OpenError::Missing { folder: folder.to_owned() }.into());
    }
    // An empty folder is no store either.
    drop(Store::open_read_only(folder)?);
    open(folder, options)
}

/// How long a process that writes may take to begin with what it is asked for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks the process that writes to a store, if there is one, and waits until it has done it.
fn asked(folder: &Path, request: Request) -> Result<Option<Reply>, Failure> {
    let bar = progress::spinner("");
    let reply = Store::ask(folder, request, PATIENCE, |progress| {
        bar.set_message(match progress {
            RequestProgress::Waiting => "waiting for the writing process".to_owned(),
            RequestProgress::Running { of: 0, .. } => "the writing process is working on it".to_owned(),
            RequestProgress::Running { done, of } => {
                let (done, of) = (units::bytes(done), units::bytes(of));
                format!("the writing process is working on it: {done} of {of} of events")
            }
        });
        bar.tick();
    });
    bar.finish_and_clear();
    Ok(reply?)
}

/// Opens a store for reading, in this way.
fn read(folder: &Path, reading: &Reading) -> Result<Store, Failure> {
    let store = read_quietly(folder, reading)?;
    warn_of_unnamed(&store)?;
    Ok(store)
}

/// The same, without a word about what is wrong with the store but does not hinder.
fn read_quietly(folder: &Path, reading: &Reading) -> Result<Store, Failure> {
    let read_mode = match reading.read_mode {
        ReadMode::Map => tamias::ReadMode::Map,
        ReadMode::Plain => tamias::ReadMode::Plain,
    };
    let options = Options { read_mode, ..Options::default() };
    Store::open_read_only_with(folder, options).map_err(Failure::asking)
}

/// Opens a store for somebody who asks it something.
fn to_ask(folder: &Path) -> Result<Store, Failure> {
    Store::open_read_only(folder).map_err(Failure::asking)
}

/// The same as [`read`] for a single query: what it decodes is kept for no other, so that a block takes the memory of the one before.
fn read_once(folder: &Path, reading: &Reading) -> Result<Store, Failure> {
    Ok(read(folder, reading)?.with_column_cache(0))
}

/// Opens a store for writing, and tells what a crash has left behind.
fn open(folder: &Path, options: Options) -> Result<Store, Failure> {
    let store = Store::open_with(folder, options)?;
    for leftover in store.leftovers() {
        tell!("note: {leftover}");
    }
    warn_of_unnamed(&store)?;
    Ok(store)
}

/// Warns where files that the manifest does not name hold events: answers may lack them.
fn warn_of_unnamed(store: &Store) -> Result<(), Failure> {
    let unnamed = store.unnamed()?;
    if let Some(receipt) = unnamed.iter().find(|file| file.kind == tamias::UnnamedKind::Receipt) {
        tell!(
            "warning: {} knows of later events than the store's list of files: an older list was put back, and events may be missing",
            printable(&receipt.file.display().to_string())
        );
    }
    let mut files = unnamed.iter().filter(|file| file.kind == tamias::UnnamedKind::Events);
    if let Some(file) = files.next() {
        let more = match files.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        tell!(
            "warning: {}{more} holds events of this store but is not in its list of files, because a newer list was \
             lost; `repair` adds what is missing",
            printable(&file.file.display().to_string())
        );
    }
    Ok(())
}
