//! Writes the stores that freeze a version of the format: `cargo run -p tamias --example fixtures -- FOLDER text`, or `columns`, with the
//! repository's folder as the current one. Each has an identity of its own, so its bytes are others each time; those that are kept were
//! written once.

use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tamias::{Batch, EventFormat, Layout, Options, SourcePosition, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("give a folder to write into")?);
    let layout = match std::env::args().nth(2).as_deref() {
        Some("text") => Layout::Text,
        Some("columns") => Layout::Columns,
        _ => return Err("say what segments shall consist of: text or columns".into()),
    };
    let events = std::fs::read_to_string("store-fixtures/shop.clef")?;
    let lines: Vec<&str> = events.lines().collect();
    for name in ["clean", "corrupt"] {
        write(&folder.join(name), layout, &lines, None)?;
    }
    let closed = folder.join("closed");
    write(&closed, layout, &lines, Some(&folder.join("torn")))?;
    std::fs::remove_dir_all(closed)?;
    tear(&folder.join("torn"))?;
    corrupt(&folder.join("corrupt"), layout, &lines)?;
    Ok(())
}

/// Events that came in the wrong order and were merged, some sealed after them, some in the log, with the position of their source. A copy that
/// is made before the store is closed is as a killed process leaves it.
fn write(
    folder: &Path,
    segments: Layout,
    lines: &[&str],
    killed: Option<&Path>,
) -> Result<(), Box<dyn Error>> {
    // Blocks in columns hold eight times as much: so they have the same events as those of text.
    let block_bytes = match segments {
        Layout::Text => 4 << 10,
        Layout::Columns => 512,
    };
    let segment_bytes = 16 << 10;
    let options = Options { block_bytes, segment_bytes, segments, background: false, ..Options::default() };
    let store = Store::open_with(folder, options)?;
    let append = |range: Range<usize>| -> Result<(), Box<dyn Error>> {
        let mut batch = Batch::new();
        for line in lines.get(range.clone()).ok_or("there are 60 events")? {
            batch.push(line.as_bytes(), &EventFormat::clef())?;
        }
        let source = SourcePosition { name: "shop", position: range.end as u64, note: &[] };
        store.append_batch_from(&mut batch, source)?;
        Ok(())
    };
    append(20..40)?;
    store.seal()?;
    append(0..20)?;
    store.seal()?;
    store.compact()?;
    append(40..50)?;
    store.seal()?;
    append(50..53)?;
    append(53..56)?;
    append(56..60)?;
    if let Some(killed) = killed {
        std::fs::create_dir_all(killed)?;
        for entry in std::fs::read_dir(folder)? {
            let file = entry?.path();
            std::fs::copy(&file, killed.join(file.file_name().unwrap_or_default()))?;
        }
        strip(killed)?;
    }
    drop(store);
    strip(folder)
}

/// Removes what is no part of the format, and tells of the machine.
fn strip(folder: &Path) -> Result<(), Box<dyn Error>> {
    for name in ["writer", "lock", "spare"] {
        std::fs::remove_file(folder.join(name))?;
    }
    Ok(())
}

fn file(folder: &Path, extension: &str) -> Result<PathBuf, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    files.into_iter().next().ok_or_else(|| format!("no {extension} in {}", folder.display()).into())
}

/// As a loss of power may leave it: half of the last batch in the log, and a segment, a manifest and a log that were being written.
fn tear(folder: &Path) -> Result<(), Box<dyn Error>> {
    let log = std::fs::OpenOptions::new().write(true).open(file(folder, "log")?)?;
    log.set_len(log.metadata()?.len() - 700)?;
    let segment = std::fs::read(file(folder, "segment")?)?;
    let half = segment.get(..segment.len() / 2).unwrap_or_default();
    std::fs::write(folder.join("00000000000000f0.segment.tmp"), half)?;
    std::fs::write(folder.join("00000000000000f1.manifest.tmp"), [0; 100])?;
    std::fs::write(folder.join("00000000000000f2.log.tmp"), [0; 48])?;
    Ok(())
}

/// One bit of a document in a segment, or of a frame in one of columns, and one of the log, in the batch before the last.
fn corrupt(folder: &Path, layout: Layout, lines: &[&str]) -> Result<(), Box<dyn Error>> {
    flip(&file(folder, "log")?, place_of(lines.get(54)))?;
    match layout {
        Layout::Text => flip(&file(folder, "segment")?, place_of(lines.get(7))),
        // A frame in one of the blocks lies there, as the test knows.
        Layout::Columns => flip(&file(folder, "segment")?, |bytes| Some(bytes.len() / 2)),
    }
}

/// The middle of an event in the bytes of a file.
fn place_of(line: Option<&&str>) -> impl FnOnce(&[u8]) -> Option<usize> {
    let line = line.map_or(Vec::new(), |line| line.as_bytes().to_vec());
    move |bytes| bytes.windows(line.len()).position(|window| window == line).map(|at| at + line.len() / 2)
}

fn flip(file: &Path, place: impl FnOnce(&[u8]) -> Option<usize>) -> Result<(), Box<dyn Error>> {
    let mut bytes = std::fs::read(file)?;
    let at = place(&bytes).ok_or("the event is not there")?;
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1;
    }
    Ok(std::fs::write(file, bytes)?)
}
