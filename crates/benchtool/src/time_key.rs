//! Where the time of a source's events is, told from the first of them.

use tamias::TimeKeys;

use crate::cli::IngestArgs;
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::failure::Failure;
use crate::splitter::Splitter;

/// Where the compact log event format has it.
pub(crate) const CLEF: &str = "@t";

/// So many events are looked at.
const EVENTS_MAX: u64 = 100;

/// No more than this is held before it is looked at.
const HELD_MAX: usize = 1 << 20;

/// So many keys that may be meant are named.
const NAMED_MAX: usize = 5;

/// The beginning of a source, looked at until it tells.
#[derive(Debug)]
pub(crate) struct Beginning(Option<Looking>);

/// Looks at the events of a source, from its first byte on.
#[derive(Debug)]
struct Looking {
    splitter: Splitter,
    keys: TimeKeys,
    /// The bytes from the chunk on in which the first event ends. What ends before is none, whatever the key.
    held: Vec<u8>,
}

/// What the beginning of a source tells: bytes to be taken now.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Where the time of their events is, and of all that follow, if that was found just now.
    pub(crate) key: Option<&'static str>,
    pub(crate) bytes: Vec<u8>,
}

impl Beginning {
    /// Of a source whose events have their time where it is known.
    pub(crate) fn known() -> Beginning {
        Beginning(None)
    }

    /// Of a source whose events are to be looked at.
    pub(crate) fn unknown(args: &IngestArgs) -> Beginning {
        let (splitter, keys) = (Splitter::new(LINE_BYTES_MAX), TimeKeys::new(args.time_format.clone()));
        Beginning(Some(Looking { splitter, keys, held: Vec::new() }))
    }

    /// Takes the next bytes of a source.
    pub(crate) fn take(&mut self, source: &str, chunk: Vec<u8>, args: &IngestArgs) -> Result<Told, Failure> {
        let Some(looking) = &mut self.0 else { return Ok(Told { key: None, bytes: chunk }) };
        // Once it has seen enough it stops where it is, and that is the last look.
        let _ = looking.splitter.feed(&chunk, |entry| look(&mut looking.keys, &entry));
        if looking.keys.events() == 0 {
            return Ok(Told { key: None, bytes: chunk });
        }
        looking.held.extend_from_slice(&chunk);
        let is_enough = looking.keys.best().is_some()
            || looking.keys.events() >= EVENTS_MAX
            || looking.held.len() >= HELD_MAX;
        if is_enough { self.tell(source, args) } else { Ok(Told::default()) }
    }

    /// What is held when the source rests: with --now events do not wait for others, which may have a time.
    pub(crate) fn rest(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Failure> {
        if args.now { self.tell(source, args) } else { Ok(Told::default()) }
    }

    /// What is held when the source has ended.
    pub(crate) fn end(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Failure> {
        if let Some(looking) = &mut self.0 {
            // The last line may have no line feed.
            let _ = looking.splitter.finish(|entry| look(&mut looking.keys, &entry));
        }
        self.tell(source, args)
    }

    fn tell(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Failure> {
        let Some(Looking { keys, held, .. }) = self.0.take_if(|looking| looking.keys.events() > 0) else {
            return Ok(Told::default());
        };
        match keys.best() {
            Some(key) => Ok(Told { key: Some(key), bytes: held }),
            None if args.now => Ok(Told { key: Some(CLEF), bytes: held }),
            None => Err(Failure::Input(unknown(source, &keys))),
        }
    }
}

/// Looks at an entry, and tells that so many are enough.
fn look(keys: &mut TimeKeys, entry: &Entry<'_>) -> Result<(), ()> {
    if let Some(Content::Bytes(bytes)) = entry.event() {
        keys.look(bytes);
    }
    if keys.events() < EVENTS_MAX { Ok(()) } else { Err(()) }
}

/// That no event has a time, and what to do.
fn unknown(source: &str, keys: &TimeKeys) -> String {
    let candidates: Vec<String> =
        keys.candidates().iter().take(NAMED_MAX).map(|key| format!("`{key}`")).collect();
    let remedy = match candidates.as_slice() {
        [] => "name the key with --time-key (and its format with --time-format, unless it is ISO 8601 or a Unix time), or use \
               --now to store the events with the current time"
            .to_owned(),
        [one] => format!("{one} looks like a time; name it with --time-key"),
        more => format!("these look like times: {}; name one with --time-key", more.join(", ")),
    };
    let events = match keys.events() {
        1 => "the first event".to_owned(),
        events => format!("the first {events} events"),
    };
    format!("{source}: no usual time key in {events}, nothing of it was stored; {remedy}")
}
