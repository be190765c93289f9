//! What lies in a folder, byte for byte, and how it is altered.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tamias_store::io::Chance;

/// Names (with the folder within, as in `quarantine/x`) and contents of the regular files in a folder.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

/// Reads all regular files of a folder, and those in folders within it.
pub(crate) fn read(folder: &Path) -> io::Result<Contents> {
    let mut contents = Contents::new();
    gather(folder, "", &mut contents)?;
    Ok(contents)
}

fn gather(folder: &Path, prefix: &str, contents: &mut Contents) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            gather(&entry.path(), &format!("{name}/"), contents)?;
        } else if kind.is_file() {
            match std::fs::read(entry.path()) {
                Ok(bytes) => drop(contents.insert(name, bytes)),
                // A writer has removed or renamed it since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Writes files into a folder, which is created.
pub(crate) fn write(folder: &Path, contents: &Contents) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, bytes) in contents {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// The names with this ending, in order: the oldest first.
pub(crate) fn named<'c>(contents: &'c Contents, ending: &str) -> Vec<&'c String> {
    contents.keys().filter(|name| !name.contains('/') && name.ends_with(ending)).collect()
}

/// The names of manifests, logs and segments.
pub(crate) fn numbered(contents: &Contents) -> Vec<String> {
    let endings = [".manifest", ".log", ".segment"];
    endings.iter().flat_map(|ending| named(contents, ending)).cloned().collect()
}

/// One of them by chance; `None` if there is none.
pub(crate) fn pick<'n, T>(list: &'n [T], chance: &mut Chance) -> Option<&'n T> {
    if list.is_empty() { None } else { list.get(chance.below(list.len())) }
}

/// Alters bytes by chance: what was done, in words.
pub(crate) fn alter(bytes: &mut Vec<u8>, chance: &mut Chance) -> String {
    if bytes.is_empty() {
        bytes.push(0);
        return "a byte appended".into();
    }
    let at = chance.below(bytes.len());
    match chance.below(10) {
        0 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        1 => {
            let most = if chance.below(2) == 0 { 1 } else { 5000 };
            let more = 1 + chance.below(most);
            bytes.extend((0..more).map(|_| chance.below(256) as u8));
            format!("{more} bytes appended")
        }
        2 => {
            let (start, end) = (at / 4096 * 4096, (at / 4096 * 4096 + 4096).min(bytes.len()));
            bytes.get_mut(start..end).unwrap_or_default().fill(0);
            format!("bytes {start} to {end} zeroed")
        }
        3 => {
            let end = (at + 512).min(bytes.len());
            let random = bytes.get_mut(at..end).unwrap_or_default();
            random.iter_mut().for_each(|byte| *byte = chance.below(256) as u8);
            format!("bytes {at} to {end} random")
        }
        _ => {
            let bit = chance.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
            format!("bit {bit} of byte {at} flipped")
        }
    }
}

/// That nothing sound has gone: each file that was there before is there still, or in quarantine, with all its bytes. What differs is
/// passed to `excused`, which says whether it may.
pub(crate) fn missing(before: &Contents, after: &Contents, excused: impl Fn(&str) -> bool) -> Vec<String> {
    let kept = |name: &String, bytes: &Vec<u8>| {
        after.get(name) == Some(bytes)
            || after.iter().any(|(other, kept)| other.starts_with("quarantine/") && kept == bytes)
    };
    let gone = before.iter().filter(|(name, bytes)| !excused(name) && !kept(name, bytes));
    gone.map(|(name, _)| name.clone()).collect()
}
