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

use tamias::{OpenError, Store};

use crate::failure::Failure;

/// Opens a store for writing, and makes none.
fn existing(folder: &Path) -> Result<Store, Failure> {
    if !folder.is_dir() {
        return Err(OpenError::Missing { folder: folder.to_owned() }.into());
    }
    // An empty folder is no store either.
    drop(Store::open_read_only(folder)?);
    Ok(Store::open(folder)?)
}
