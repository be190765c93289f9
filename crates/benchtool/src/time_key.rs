//! Where the time of a source's events is, told from the first of them; or that it holds none.

use std::path::Path;

use tamias::{TimeCandidate, TimeKeys};

use crate::cli::{IngestArgs, OnInvalid};
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::failure::Failure;
use crate::foreign::Foreign;
use crate::program;
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
#[derive(Debug)]
pub(crate) struct Beginning {
    held: Vec<u8>,
    splitter: Splitter,
    keys: TimeKeys,
    /// What came so far instead of events.
    others: u64,
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
    pub(crate) fn new(args: &IngestArgs) -> Beginning {
        Beginning {
            held: Vec::new(),
            splitter: Splitter::new(LINE_BYTES_MAX),
            keys: TimeKeys::new(args.time_format.clone()),
            others: 0,
            // Who wants each invalid line gets each.
            is_known: args.time_key.is_some() && wants_each(args),
        }
    }

    /// Takes the next bytes of a source.
    pub(crate) fn take(&mut self, source: &str, chunk: Vec<u8>, args: &IngestArgs) -> Result<Told, Failure> {
        if self.is_known {
            return Ok(Told::Same(chunk));
        }
        let Beginning { held, splitter, keys, others, .. } = self;
        held.extend_from_slice(&chunk);
        // Enough is enough.
        let _ = splitter.feed(&chunk, |entry| look(&entry, keys, others));
        if keys.events() == 0 && *others < EVENTS_MAX && held.len() < HELD_MAX {
            return Ok(Told::Nothing);
        }
        self.tell(source, args, Foreign::likely)
    }

    /// What is held when the source has ended.
    pub(crate) fn end(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Failure> {
        let Beginning { splitter, keys, others, .. } = self;
        let _ = splitter.finish(|entry| look(&entry, keys, others));
        // A few lines are told one by one.
        self.tell(source, args, Foreign::known)
    }

    fn tell(
        &mut self,
        source: &str,
        args: &IngestArgs,
        foreign: fn(&[u8]) -> Option<Foreign>,
    ) -> Result<Told, Failure> {
        let held = std::mem::take(&mut self.held);
        if self.is_known {
            return Ok(Told::Same(held));
        }
        self.is_known = true;
        let has_events = self.keys.events() > 0;
        let foreign =
            Foreign::around_events(&held).or_else(|| if has_events { None } else { foreign(&held) });
        match (foreign.filter(|_| !wants_each(args)), self.keys.best()) {
            (Some(foreign), _) => Err(Failure::Input(foreign.explain(source, &args.store))),
            _ if !has_events || args.time_key.is_some() => Ok(Told::Same(held)),
            (None, Some(key)) => Ok(Told::Key(key, held)),
            (None, None) if args.now => Ok(Told::Key(CLEF, held)),
            (None, None) => Err(Failure::Input(unknown(source, &self.keys, &args.store))),
        }
    }
}

/// Whether invalid lines are to be told or kept one by one, whatever the source is.
fn wants_each(args: &IngestArgs) -> bool {
    args.rejects.is_some() || args.on_invalid == OnInvalid::Fail
}

/// Looks at what may be an event, until enough were seen.
fn look(entry: &Entry<'_>, keys: &mut TimeKeys, others: &mut u64) -> Result<(), ()> {
    let before = keys.events();
    match entry.event() {
        Some(Content::Bytes(bytes)) => keys.look(bytes),
        Some(Content::TooLong { .. }) => {}
        None => return Ok(()),
    }
    *others += u64::from(keys.events() == before);
    if keys.events() < EVENTS_MAX { Ok(()) } else { Err(()) }
}

/// That no event has a time, and what to do.
fn unknown(source: &str, keys: &TimeKeys, store: &Path) -> String {
    let candidates = keys.candidates();
    let named: Vec<String> =
        candidates.iter().take(NAMED_MAX).map(|candidate| format!("`{}`", candidate.key)).collect();
    let remedy = match (candidates.as_slice(), keys.list()) {
        ([], Some(list)) if keys.events() == 1 && is_plain(list) => {
            let program = program::name();
            format!(
                "`{list}` holds a list; if these are the events, use\n  jq -c '.{list}[]' {source} | {program} ingest {} -",
                store.display()
            )
        }
        ([], _) => {
            "name the key with --time-key (and its format with --time-format, unless it is ISO 8601 or a Unix time), or use \
             --now to store the events with the current time"
                .to_owned()
        }
        ([one, ..], _) if let Some(format) = one.format => {
            let TimeCandidate { key, example, .. } = one;
            // On a line of its own, which is never wrapped, so that it can be copied.
            format!("`{key}` looks like a time ({example}); use\n  --time-key {key} --time-format '{format}'")
        }
        ([_], _) => format!("{} looks like a time; name it with --time-key", named.join("")),
        _ => format!("these look like times: {}; name one with --time-key", named.join(", ")),
    };
    let events = match keys.events() {
        1 => "the first event".to_owned(),
        events => format!("the first {events} events"),
    };
    format!("{source}: no usual time key in {events}, nothing of it was stored; {remedy}")
}

/// Whether a key needs no quotes.
fn is_plain(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
