//! Faults planted on the way from the store to the medium, each of which some attack must find.

mod directory;
mod forge;
mod unreadable;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use tamias_store::io::Directory;
use tamias_store::{Options, Reader};

use crate::columns;

pub(crate) use unreadable::Unreadable;

/// A mistake that a store, or the system below it, could make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plant {
    /// Flushes of the folder are skipped.
    NoFolderFlush,
    /// Flushes of files are skipped.
    NoFileFlush,
    /// A flush is answered before it is done.
    LateFlush,
    /// Renaming copies, and the new name is there before its bytes are.
    TornRename,
    /// Manifests are written under their final name.
    ManifestInPlace,
    /// Segments that no manifest names are deleted before opening.
    UnnamedDeleted,
    /// All files of unfinished names are deleted before opening.
    UnfinishedDeleted,
    /// Removed segments are deleted before the manifest that retires them.
    EarlyRemoval,
    /// A write is reported whole though its end is missing, now and then.
    ShortWrite,
    /// A write alters a bit, now and then.
    FlippedBit,
    /// The listing of the folder lacks the newest manifest, now and then.
    ListingBehind,
    /// Every lock is granted.
    FreeLock,
    /// Nobody looks whether the lock still is the writer's own.
    LockUnwatched,
    /// What was written of a refused batch is not cut off.
    NoCut,
    /// A full disk is not reported.
    FullUnreported,
    /// Files are not removed, though it is said so.
    NoRemoval,
    /// What cannot be read is read as zeros.
    ZerosForErrors,
    /// Links are followed, and what they point to is emptied.
    LinksFollowed,
    /// Files are created for everybody to read.
    WideModes,
    /// A manifest lacks a segment, now and then.
    EntryLost,
    /// A manifest lacks the marks of what is deleted, now and then.
    MarksLost,
    /// The first document of a block is the one of the block that was read before it.
    StaleBlock,
    /// A program that has started appends once more what was appended last.
    BatchTwice,
    /// An arrival number is told that another event has, now and then.
    NumberReused,
    /// It is said that all is erased, before anything is.
    EarlyReceipt,
}

impl Plant {
    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// What it is, in a sentence.
    pub(crate) fn about(self) -> String {
        let help = self.to_possible_value().and_then(|value| Some(value.get_help()?.to_string()));
        help.unwrap_or_default()
    }

    /// The attacks that should find it, the best first.
    pub(crate) fn found_by(self) -> &'static [&'static str] {
        match self {
            Plant::NoFolderFlush | Plant::NoFileFlush => &["power", "shutdown", "soak"],
            Plant::LateFlush => &["power", "shutdown"],
            Plant::TornRename | Plant::ManifestInPlace | Plant::EarlyRemoval | Plant::UnfinishedDeleted => {
                &["kill"]
            }
            Plant::ShortWrite | Plant::FlippedBit | Plant::ListingBehind => &["kill", "soak"],
            Plant::EntryLost | Plant::MarksLost | Plant::EarlyReceipt => &["soak", "delete"],
            Plant::StaleBlock | Plant::BatchTwice | Plant::NumberReused => &["soak"],
            Plant::UnnamedDeleted => &["stale"],
            Plant::FreeLock | Plant::LockUnwatched => &["writers"],
            Plant::NoCut | Plant::FullUnreported | Plant::NoRemoval => &["limit", "full"],
            Plant::ZerosForErrors => &["sectors"],
            Plant::LinksFollowed | Plant::WideModes => &["linked"],
        }
    }

    /// The folder with the fault in it.
    pub(crate) fn over(self, directory: Arc<dyn Directory>) -> Arc<dyn Directory> {
        directory::planted(self, directory)
    }

    /// What the fault does before a store is opened.
    pub(crate) fn before_opening(self, folder: &Path) {
        let ending = match self {
            Plant::UnnamedDeleted => "segment",
            Plant::UnfinishedDeleted => "tmp",
            _ => return,
        };
        let Ok(snapshot) = Reader::open(folder, Options::default(), columns::codec(None))
            .and_then(|reader| reader.snapshot())
        else {
            return;
        };
        let named: Vec<PathBuf> = snapshot.segments().into_iter().filter_map(|info| info.file).collect();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|found| found == ending) && !named.contains(&path) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// Segments that are about to be removed.
static DOOMED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Hears which segments are about to be removed: the fault that removes them too early must know.
pub(crate) fn announce(files: &[PathBuf]) {
    DOOMED.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(files);
}

/// Which segments are about to be removed, told once.
fn doomed() -> Vec<PathBuf> {
    std::mem::take(&mut DOOMED.lock().unwrap_or_else(PoisonError::into_inner))
}
