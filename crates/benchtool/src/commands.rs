//! The commands, a module each.

pub(crate) mod bench;
pub(crate) mod compact;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod generate;
pub(crate) mod help_files;
pub(crate) mod info;
pub(crate) mod ingest;
pub(crate) mod keys;
pub(crate) mod query;
pub(crate) mod remove;
pub(crate) mod repair;
pub(crate) mod shell;
pub(crate) mod shred;
pub(crate) mod verify;

use std::path::Path;

use tamias::{OpenError, Options, Store};

use crate::cli::{ReadMode, Reading};
use crate::failure::Failure;
use crate::tell::tell;

/// Opens a store for writing, and makes none.
fn existing(folder: &Path) -> Result<Store, Failure> {
    if !folder.is_dir() {
        return Err(OpenError::Missing { folder: folder.to_owned() }.into());
    }
    // An empty folder is no store either.
    drop(Store::open_read_only(folder)?);
    open(folder)
}

/// Opens a store for reading, in this way.
fn read(folder: &Path, reading: &Reading) -> Result<Store, Failure> {
    let read_mode = match reading.read_mode {
        ReadMode::Map => tamias::ReadMode::Map,
        ReadMode::Plain => tamias::ReadMode::Plain,
    };
    Ok(Store::open_read_only_with(folder, Options { read_mode, ..Options::default() })?)
}

/// Opens a store for writing, and tells what a crash has left behind.
fn open(folder: &Path) -> Result<Store, Failure> {
    let store = Store::open(folder)?;
    for leftover in store.leftovers() {
        tell!("note: {leftover}");
    }
    let events = |file: &tamias::Unnamed| file.kind == tamias::UnnamedKind::Events;
    if let Some(file) = store.unnamed()?.iter().find(|file| events(file)) {
        tell!(
            "warning: {} holds events of this store, and the list of its files does not name it: a newer list was \
             lost; `repair` takes in what is missing",
            file.file.display()
        );
    }
    Ok(store)
}
