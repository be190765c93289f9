//! What a repair starts from.

use super::report::Rebuilt;
use crate::error::OpenError;
use crate::format::{FileKind, parse_unfinished};
use crate::inventory::{self, Found, list};
use crate::io::Directory;
use crate::manifest::Manifest;
use crate::retire;

/// What a repair starts from.
pub(super) struct Basis {
    pub(super) manifest: Manifest,
    pub(super) rebuilt: Option<Rebuilt>,
    /// The file by which the store was recognised.
    pub(super) known_by: String,
}

impl Basis {
    /// The manifest that counts, or an older one, or one that names nothing of the store whose files are here.
    pub(super) fn find(directory: &dyn Directory) -> Result<Basis, OpenError> {
        let names = list(directory)?;
        let found = Found::among(directory, &names)?;
        let chosen = match found.choose(directory, &names) {
            // The store is empty: the files of the other one go to quarantine.
            Err(OpenError::ForeignFiles { .. }) => found.whole.values().next(),
            chosen => chosen?,
        };
        if let Some(manifest) = chosen {
            let damaged = found.damaged_after(directory, &names, manifest)?;
            let rebuilt = damaged.map(|_| Rebuilt::Damaged);
            return Ok(Basis { manifest: manifest.clone(), rebuilt, known_by: manifest.name() });
        }
        let mut owner: Option<(&String, u128)> = None;
        for name in &names {
            let Some((kind, _)) = FileKind::parse(name).or_else(|| parse_unfinished(name)) else { continue };
            let Some(store) = retire::belongs(directory, name, kind)? else { continue };
            match owner {
                Some((first, other)) if other != store => {
                    let (file, other) = (directory.path(name), directory.path(first));
                    return Err(OpenError::TwoStores { file, other });
                }
                Some(_) => {}
                None => owner = Some((name, store)),
            }
        }
        let Some((known_by, store)) = owner else {
            // What an interrupted creation leaves behind is no store either.
            return Err(inventory::find_manifest(directory, false)
                .err()
                .unwrap_or_else(|| inventory::missing(directory)));
        };
        let rebuilt = if found.damaged.is_empty() { Rebuilt::Missing } else { Rebuilt::Damaged };
        Ok(Basis { manifest: Manifest::empty(store), rebuilt: Some(rebuilt), known_by: known_by.clone() })
    }
}
