//! `benchtool ingest --keep-ids`

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tamias::{Import, LINE_ID_BYTES};

use crate::chunks::{Chunks, Waited};
use crate::cli::IngestArgs;
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::failure::Failure;
use crate::source::Source;
use crate::splitter::Splitter;
use crate::units::printable;
use crate::{output, signals};

/// How often it looks for Ctrl-C while it waits for input.
const PATIENCE: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &IngestArgs) -> Result<(), Failure> {
    let sources = Source::all(&args.files)?;
    let store = super::open(&args.store, args.sealing.options())?;
    let folder = printable(&args.store.display().to_string()).into_owned();
    let mut import =
        store.import().map_err(|error| Failure::Usage(format!("the store {folder}: {error}")))?;
    signals::catch()?;
    let again = format!("; not all is stored: delete {folder}, and begin again");
    for source in sources {
        read(source, &mut import, &again)?;
    }
    let events = import.finish().map_err(|error| Failure::Io(format!("{error}{again}")))?;
    output::write_line(&mut output::stdout(), &format!("stored: {events}, with the ids that they had"))
}

/// Takes all lines of a source.
fn read(source: Source, import: &mut Import<'_>, again: &str) -> Result<(), Failure> {
    let name = source.name();
    let mut chunks = Chunks::read(source.reader(Arc::<AtomicU64>::default()));
    let mut splitter = Splitter::new(LINE_BYTES_MAX + LINE_ID_BYTES);
    let mut entry = |entry: Entry<'_>| {
        let refused = |why: &dyn std::fmt::Display| {
            Failure::Input(format!("{name}, {} {}: {why}{again}", entry.unit, entry.number))
        };
        match entry.event() {
            None => Ok(()),
            Some(Content::Bytes(bytes)) => import.push(bytes).map_err(|error| refused(&error)),
            Some(Content::TooLong { bytes }) => {
                Err(refused(&format!("it has {bytes} bytes, more than 16 MiB")))
            }
        }
    };
    loop {
        if signals::requested() {
            return Err(Failure::Interrupted(format!("interrupted in {name}{again}")));
        }
        match chunks.next(PATIENCE) {
            Ok(Waited::Chunk(chunk)) => splitter.feed(&chunk, &mut entry)?,
            Ok(Waited::Nothing) => {}
            Ok(Waited::End) => {
                return match splitter.finish(&mut entry)? {
                    true => Ok(()),
                    false => Err(Failure::Input(format!("{name}: the JSON array has no end{again}"))),
                };
            }
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
            {
                return Err(Failure::Input(format!("{name}: {error}{again}")));
            }
            Err(error) => return Err(Failure::file(Path::new(&name), &error)),
        }
    }
}
