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

/// The beginning of a source, held until it tells.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    held: Vec<u8>,
    is_known: bool,
}

/// What the beginning of a source tells.
pub(crate) enum Told {
    /// Nothing yet: more has to come.
    Nothing,
    /// These bytes are to be taken as before.
    Same(Vec<u8>),
    /// The time is under this key, in these bytes and in those that follow.
    Key(&'static str, Vec<u8>),
}

impl Beginning {
    /// Of a source whose events have their time where it is known.
    pub(crate) fn known() -> Beginning {
        Beginning { held: Vec::new(), is_known: true }
    }

    /// Takes the next bytes of a source.
    pub(crate) fn take(&mut self, source: &str, chunk: Vec<u8>, args: &IngestArgs) -> Result<Told, Failure> {
        if self.is_known {
            return Ok(Told::Same(chunk));
        }
        self.held.extend_from_slice(&chunk);
        let has_line = self.held.contains(&b'\n') || self.held.len() >= HELD_MAX;
        if !has_line && look(&self.held, args).events() == 0 {
            return Ok(Told::Nothing);
        }
        self.tell(source, args)
    }

    /// What is held when the source has ended, or rests.
    pub(crate) fn tell(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Failure> {
        let held = std::mem::take(&mut self.held);
        let keys = look(&held, args);
        // What is no event is told one by one; the first that is one counts.
        if self.is_known || keys.events() == 0 {
            return Ok(Told::Same(held));
        }
        self.is_known = true;
        match keys.best() {
            Some(key) => Ok(Told::Key(key, held)),
            None if args.now => Ok(Told::Key(CLEF, held)),
            None => Err(Failure::Input(unknown(source, &keys))),
        }
    }
}

/// Looks at the events that some bytes begin with.
fn look(bytes: &[u8], args: &IngestArgs) -> TimeKeys {
    let mut keys = TimeKeys::new(args.time_format.clone());
    let mut each = |entry: Entry<'_>| {
        if let Some(Content::Bytes(bytes)) = entry.event() {
            keys.look(bytes);
        }
        // Enough is enough.
        if keys.events() < EVENTS_MAX { Ok(()) } else { Err(()) }
    };
    let mut splitter = Splitter::new(LINE_BYTES_MAX);
    let _ = splitter.feed(bytes, &mut each).and_then(|()| splitter.finish(&mut each).map(drop));
    keys
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
