//! Where the time of a source's events is, told from the first of them; or that it holds none.

use std::path::Path;

use tamias::{Batch, EventFormat, Rejection, TimeCandidate, TimeFormat, TimeKeys};

use crate::cli::{IngestArgs, OnInvalid};
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::names::Names;
use crate::recipes::Foreign;
use crate::refusals::Refusal;
use crate::remedies::{conversions, day, remedy};
use crate::splitter::Splitter;
use crate::units::printable;

/// Where the compact log event format has it.
pub(crate) const CLEF: &str = "@t";

/// So many events are looked at.
const EVENTS_MAX: u64 = 100;

/// No more than this is held before it is looked at.
const HELD_MAX: usize = 1 << 20;

/// The beginning of a source, held until it tells.
#[derive(Debug)]
pub(crate) struct Beginning(Option<Looking>);

/// Looks at a source, from its first byte on.
#[derive(Debug)]
struct Looking {
    splitter: Splitter,
    keys: TimeKeys,
    /// What came so far instead of events.
    others: u64,
    names: Names,
    given: Option<Given>,
    held: Vec<u8>,
    /// Whether bytes without an event were handed on: what is held is not the beginning any more.
    is_later: bool,
}

/// The key that --time-key names, of a source of which nothing is stored: it may be misspelt.
#[derive(Debug)]
struct Given {
    format: EventFormat,
    /// Where an event is tried.
    batch: Batch,
    is_there: bool,
}

impl Given {
    fn look(&mut self, event: &[u8]) {
        // What is wrong otherwise is told of each line.
        self.is_there |= !matches!(self.batch.push(event, &self.format), Err(Rejection::NoTime { .. }));
        self.batch.clear();
    }
}

/// What the beginning of a source tells: bytes to be taken now.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Where the time of their events is, and of all that follow, if that was found just now.
    pub(crate) key: Option<String>,
    /// What whoever stores them may want to know.
    pub(crate) hints: Vec<String>,
    pub(crate) bytes: Vec<u8>,
}

impl Beginning {
    /// Looks for times of this format. `is_new` tells that nothing of the source is stored: if no event has the time key, it is misspelt.
    pub(crate) fn new(args: &IngestArgs, format: &TimeFormat, is_new: bool) -> Beginning {
        // Who wants each invalid line gets each.
        let is_known = args.time_key.is_some() && wants_each(args);
        Beginning((!is_known).then(|| Looking {
            splitter: Splitter::new(LINE_BYTES_MAX),
            keys: TimeKeys::new(format.clone()),
            others: 0,
            names: Names::default(),
            given: args.time_key.as_deref().filter(|_| is_new).map(|keys| Given {
                format: EventFormat::time_keys(keys),
                batch: Batch::new(),
                is_there: false,
            }),
            held: Vec::new(),
            is_later: false,
        }))
    }

    /// Takes the next bytes of a source.
    pub(crate) fn take(&mut self, source: &str, chunk: Vec<u8>, args: &IngestArgs) -> Result<Told, Refusal> {
        let Some(looking) = &mut self.0 else { return Ok(Told { bytes: chunk, ..Told::default() }) };
        let Looking { splitter, keys, others, names, given, held, .. } = looking;
        held.extend_from_slice(&chunk);
        // Once it has seen enough it stops where it is, and that is the last look.
        let named = [args.level_key.as_deref(), args.message_key.as_deref()];
        let _ = splitter.feed(&chunk, |entry| look(&entry, keys, others, names, given, named));
        let is_full = held.len() >= HELD_MAX;
        let is_known = match given {
            Some(given) => given.is_there,
            None => args.time_key.is_some() || keys.best().is_some(),
        };
        match keys.events() {
            // Events may follow what comes before them, and a few long entries tell nothing.
            0 if is_full && *others >= EVENTS_MAX => looking.hand_on(source, args, Foreign::likely),
            0 if is_full => looking.hand_on(source, args, Foreign::known),
            0 => Ok(Told::default()),
            events if is_full || is_known || events >= EVENTS_MAX => self.tell(source, args),
            _ => Ok(Told::default()),
        }
    }

    /// What is held when the source rests: what is no event waits for none, and with --now or --time-key events do not wait for others,
    /// which may have a time.
    pub(crate) fn rest(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Refusal> {
        match &mut self.0 {
            Some(looking) if looking.keys.events() == 0 => {
                looking.hand_on(source, args, Foreign::around_events)
            }
            Some(looking) if args.now || args.time_key.is_some() => {
                looking.given = None;
                self.tell(source, args)
            }
            _ => Ok(Told::default()),
        }
    }

    /// What is held when the source has ended; whether it is whole.
    pub(crate) fn end(&mut self, source: &str, args: &IngestArgs, is_whole: bool) -> Result<Told, Refusal> {
        let Some(looking) = &mut self.0 else { return Ok(Told::default()) };
        let Looking { splitter, keys, others, names, given, .. } = looking;
        // The last line may have no line feed.
        let named = [args.level_key.as_deref(), args.message_key.as_deref()];
        let _ = splitter.finish(|entry| look(&entry, keys, others, names, given, named));
        match looking.keys.events() {
            // Of what was cut, a few lines tell nothing.
            0 if looking.others >= EVENTS_MAX || is_whole && looking.others > 0 => {
                looking.hand_on(source, args, Foreign::likely)
            }
            0 => looking.hand_on(source, args, Foreign::known),
            _ => self.tell(source, args),
        }
    }

    /// Ends the look at a source that has events.
    fn tell(&mut self, source: &str, args: &IngestArgs) -> Result<Told, Refusal> {
        let Some(mut looking) = self.0.take() else { return Ok(Told::default()) };
        let Told { bytes, .. } = looking.hand_on(source, args, Foreign::around_events)?;
        let mut hints = looking.names.hints(args);
        if let Some(future) = looking.keys.future().filter(|_| args.time_key.is_none()) {
            hints.push(format!(
                "its first events are all in the future, from {future} on; check --time-format"
            ));
        }
        let found = looking.keys.best().or_else(|| looking.keys.only());
        hints.extend(conversions(&looking.names, found, source));
        hints.extend(
            without_zone(args.time_key.as_deref().or(found), &looking.keys)
                .filter(|_| args.time_zone.is_none()),
        );
        // With --now only a usual key tells that events have their time, and under another name.
        let is_elsewhere = match args.now {
            true => looking.keys.best().is_some(),
            false => !looking.keys.candidates().is_empty(),
        };
        let key = match (&args.time_key, found) {
            (Some(given), _) if looking.given.is_some_and(|given| !given.is_there) && is_elsewhere => {
                return Err(misspelt(source, given, &looking.keys, &args.store));
            }
            (Some(_), _) => None,
            (None, Some(key)) => Some(key.to_owned()),
            // Few events have a time there, but those keep it.
            (None, None) if args.now => Some(looking.keys.most().map_or(CLEF, |(key, _)| key).to_owned()),
            (None, None) => return Err(unknown(source, &looking.keys, &args.store)),
        };
        Ok(Told { key, hints, bytes })
    }
}

impl Looking {
    /// What is held, unless the source begins as something else than JSON does.
    fn hand_on(
        &mut self,
        source: &str,
        args: &IngestArgs,
        foreign: fn(&[u8]) -> Option<Foreign>,
    ) -> Result<Told, Refusal> {
        let is_beginning = !self.is_later;
        self.is_later |= !self.held.is_empty();
        if is_beginning
            && !wants_each(args)
            && let Some(foreign) = foreign(&self.held)
        {
            return Err(foreign.refusal(source, &args.store));
        }
        self.others = 0;
        Ok(Told { bytes: std::mem::take(&mut self.held), ..Told::default() })
    }
}

/// Whether invalid lines are to be told or kept one by one, whatever the source is.
fn wants_each(args: &IngestArgs) -> bool {
    args.rejects.is_some() || args.on_invalid == OnInvalid::Fail
}

/// Looks at what may be an event, until enough were seen.
fn look(
    entry: &Entry<'_>,
    keys: &mut TimeKeys,
    others: &mut u64,
    names: &mut Names,
    given: &mut Option<Given>,
    named: [Option<&str>; 2],
) -> Result<(), ()> {
    let before = keys.events();
    match entry.event() {
        Some(Content::Bytes(bytes)) => {
            keys.look(bytes);
            names.look(bytes, named);
            given.iter_mut().for_each(|given| given.look(bytes));
        }
        Some(Content::TooLong { .. }) => {}
        None => return Ok(()),
    }
    *others += u64::from(keys.events() == before);
    if keys.events() < EVENTS_MAX { Ok(()) } else { Err(()) }
}

/// That times under these keys name no zone, if so.
fn without_zone(time_keys: Option<&str>, keys: &TimeKeys) -> Option<String> {
    let candidates = keys.candidates();
    let is_meant = |candidate: &&&TimeCandidate| {
        candidate.is_without_zone
            && time_keys.is_some_and(|keys| keys.split(',').any(|key| key == candidate.key))
    };
    let key = &candidates.iter().find(is_meant)?.key;
    Some(format!(
        "the times in `{key}` name no time zone and are taken as UTC; if that is wrong, ingest into a new store with --time-zone, \
         such as --time-zone local"
    ))
}

/// That no event has the key that --time-key names, and which are there.
fn misspelt(source: &str, given: &str, keys: &TimeKeys, store: &Path) -> Refusal {
    let (events, remedy) = (events(keys), remedy(source, keys, store));
    let text = format!(
        "{source}: no time in `{}` in {events}, nothing of it was stored (--rejects FILE stores the events that have it); {remedy}",
        printable(given)
    );
    Refusal { reason: reason(keys), text }
}

/// What other sources of the same remedy have in common with this one.
fn reason(keys: &TimeKeys) -> String {
    let formats = |candidate: &TimeCandidate| -> Vec<&str> {
        candidate.readings.iter().map(|(format, _)| *format).collect()
    };
    let candidates = keys.candidates();
    let mut found: Vec<_> = candidates.iter().map(|candidate| (&candidate.key, formats(candidate))).collect();
    found.sort_unstable();
    format!("{found:?}, {:?}, {}, {:?}", keys.list(), keys.is_list_all(), keys.clock())
}

/// The events that were looked at.
fn events(keys: &TimeKeys) -> String {
    match keys.events() {
        1 => "the first event".to_owned(),
        events => format!("the first {events} events"),
    }
}

/// That no event has a time, and what to do.
fn unknown(source: &str, keys: &TimeKeys, store: &Path) -> Refusal {
    let (events, remedy) = (events(keys), remedy(source, keys, store));
    let found = match (keys.most(), keys.unread()) {
        (None, Some((key, _))) if keys.clock() == Some(key) && day(keys).is_some() => String::new(),
        (Some((key, 1)), _) => format!(" (only one has a time in `{key}`)"),
        (Some((key, few)), _) => format!(" (only {few} have a time in `{key}`)"),
        (None, Some((key, text))) => {
            let (text, cut) = match text.char_indices().nth(EXAMPLE_CHARS_MAX) {
                Some((end, _)) => (&text[..end], "…"),
                None => (text, ""),
            };
            format!(" (`{key}` is {}{cut}, which is no known form of a time)", printable(text))
        }
        (None, None) => String::new(),
    };
    let others = match keys.most() {
        Some(_) => {
            "; several keys, separated by commas, are tried in order, and --now stores events without a time"
        }
        None => "",
    };
    let text =
        format!("{source}: no usual time key in {events}{found}, nothing of it was stored{others}; {remedy}");
    Refusal { reason: reason(keys), text }
}

/// So much of a text that is no time is shown.
const EXAMPLE_CHARS_MAX: usize = 60;
