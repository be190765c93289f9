//! Files that a manifest names, under whichever of their names they are.

use std::io;
use std::sync::Arc;

use crate::io::{Directory, File, ask_again, is_unreadable};

/// What a file is called before it has its final name.
pub(crate) fn unfinished(name: &str) -> String {
    format!("{name}.tmp")
}

/// Opens a file that a manifest names, and asks again where the medium does not give it: a crash, or the writer at this moment, may have left it under its unfinished name.
pub(crate) fn open_named(directory: &dyn Directory, name: &str) -> io::Result<Arc<dyn File>> {
    let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    ask_again(is_unreadable, || match directory.open(name) {
        Err(error) if missing(&error) => match directory.open(&unfinished(name)) {
            // It may have been renamed in between.
            Err(error) if missing(&error) => directory.open(name),
            opened => opened,
        },
        opened => opened,
    })
}
