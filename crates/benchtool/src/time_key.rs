//! Where the time of a source's events is, told from the first of them; or that it holds none.

use std::path::Path;

use tamias::{Batch, EventFormat, Rejection, TimeCandidate, TimeFormat, TimeKeys};

use crate::cli::{IngestArgs, OnInvalid};
use crate::entries::{Content, Entry, LINE_BYTES_MAX};
use crate::foreign::{Foreign, of_source, quoted, stored_from};
use crate::names::{JOURNALD, Names};
use crate::output::json_string;
use crate::refusals::Refusal;
use crate::splitter::Splitter;
use crate::units::printable;

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
            given: args.time_key.as_deref().filter(|_| is_new && !args.now).map(|keys| Given {
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
        if looking.names.has_bytes {
            let what = format!(
                "the `{JOURNALD}` of some events is an array of bytes; to store them as text, ingest the file into a new store"
            );
            let program =
                format!("{UTF8} if .{JOURNALD} | type == \"array\" then .{JOURNALD} |= utf8 else . end");
            hints.push(convert(&what, &program, source, Path::new("NEW_STORE")));
        }
        if let Some(future) = looking.keys.future().filter(|_| args.time_key.is_none()) {
            hints.push(format!(
                "its first events are all in the future, from {future} on; check --time-format"
            ));
        }
        let found = looking.keys.best().or_else(|| looking.keys.only());
        hints.extend(
            without_zone(args.time_key.as_deref().or(found), &looking.keys)
                .filter(|_| args.time_zone.is_none()),
        );
        let key = match (&args.time_key, found) {
            (Some(given), _)
                if looking.given.is_some_and(|given| !given.is_there)
                    && !looking.keys.candidates().is_empty() =>
            {
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
        "{source}: no time in `{}` in {events}, nothing of it was stored; {remedy}; --rejects FILE stores the events that have it",
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

/// What to do about a source whose time was not found.
fn remedy(source: &str, keys: &TimeKeys, store: &Path) -> String {
    let candidates = keys.candidates();
    let named: Vec<String> =
        candidates.iter().take(NAMED_MAX).map(|candidate| format!("`{}`", candidate.key)).collect();
    if let Some(joined) = joined(source, keys, store).or_else(|| epoch_second(source, keys, store)) {
        return joined;
    }
    match (candidates.as_slice(), keys.list()) {
        ([], Some(list)) => {
            let what = format!("`{}` holds a list; if these are the events, use", printable(list));
            // A batch is no event that could have the time of now.
            let what = match keys.is_list_all() {
                true => what,
                false => format!(
                    "name the key of the time with --time-key, or use --now to store the events with the current time; {what}"
                ),
            };
            let program = match list {
                "resourceLogs" => OTLP.to_owned(),
                list => format!("{}[]", member(list)),
            };
            convert(&what, &program, source, store)
        }
        ([], _) => {
            "name the key with --time-key (and its format with --time-format, unless it is ISO 8601 or a Unix time), or use \
             --now to store the events with the current time"
                .to_owned()
        }
        ([one, ..], _) if !one.readings.is_empty() => with_format(one),
        ([_], _) => format!("{} looks like a time; name it with --time-key", named.join("")),
        _ => format!("these look like times: {}; name one with --time-key", named.join(", ")),
    }
}

/// What makes text of bytes; `implode` takes each for a character. What is not UTF-8 becomes the character for that.
const UTF8: &str = concat!(
    "def utf8: reduce (.[], null) as $b ({chars: [], code: 0, left: 0}; ",
    "if .left > 0 and $b and $b >= 128 and $b < 192 ",
    "then .code = .code * 64 + $b - 128 | .left -= 1 | if .left == 0 then .chars += [.code] else . end ",
    "else (if .left > 0 then .chars += [65533] | .left = 0 else . end) | if $b == null then . ",
    "elif $b < 128 then .chars += [$b] elif $b < 192 or $b > 247 then .chars += [65533] ",
    "elif $b < 224 then .code = $b - 192 | .left = 1 elif $b < 240 then .code = $b - 224 | .left = 2 ",
    "else .code = $b - 240 | .left = 3 end end) ",
    "| .chars | map(if . > 1114111 or . > 55295 and . < 57344 then 65533 else . end) | implode;"
);

/// What makes events of the batches of OpenTelemetry, where they lie deeper, and the resource beside them.
const OTLP: &str = ".resourceLogs[] | .resource as $r | .scopeLogs[].logRecords[] + {resource: $r}";

/// What to do about events whose day and time of day are in two keys.
fn joined(source: &str, keys: &TimeKeys, store: &Path) -> Option<String> {
    let (day, clock) = (day(keys)?, keys.clock()?);
    let program = format!(".timestamp = {} + \"T\" + {}", member(day), member(clock));
    let what = format!("the time is in two keys, `{}` and `{}`; join them", printable(day), printable(clock));
    Some(convert(&what, &program, source, store))
}

/// What to do about events whose time is an object of seconds and nanoseconds, as Log4j 2 writes it.
fn epoch_second(source: &str, keys: &TimeKeys, store: &Path) -> Option<String> {
    let candidates = keys.candidates();
    let path = candidates.iter().find_map(|candidate| candidate.key.strip_suffix(".epochSecond"))?;
    let object: String = path.split('.').map(member).collect();
    let program = format!(
        ".timestamp = ({object} | (.epochSecond | todate | rtrimstr(\"Z\")) + \".\" + \"000000000\\(.nanoOfSecond // 0)\"[-9:] + \"Z\")"
    );
    let what =
        format!("the time is in two keys of `{}`, seconds and nanoseconds; join them", printable(path));
    Some(convert(&what, &program, source, store))
}

/// The key that holds a day alone, where no other key holds a time.
fn day(keys: &TimeKeys) -> Option<&str> {
    let candidates = keys.candidates();
    let [one] = candidates.as_slice() else { return None };
    matches!(one.readings.as_slice(), [(DAY, _)]).then_some(one.key.as_str())
}

/// The format of a day alone.
const DAY: &str = "%Y-%m-%d";

/// What jq is to make of a source.
fn convert(what: &str, jq: &str, source: &str, store: &Path) -> String {
    let command = of_source(&format!("jq -c {}", quoted(jq)), source);
    format!("{what}{}", stored_from(&command, store, ""))
}

/// A member of an object, in the language of jq.
fn member(key: &str) -> String {
    if is_plain(key) { format!(".{key}") } else { format!(".[{}]", json_string(key)) }
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

/// The options that read a key whose times are written in an unusual way.
fn with_format(candidate: &TimeCandidate) -> String {
    let TimeCandidate { key, example, readings, .. } = candidate;
    let example = printable(example);
    // On lines of their own, which are never wrapped, so that they can be copied.
    let option = |format: &str| format!("\n  --time-key {} --time-format {}", quoted(key), quoted(format));
    match readings.as_slice() {
        [(format, _)] => format!("`{key}` looks like a time ({example}); use{}", option(format)),
        readings => {
            let options = readings.iter().map(|(format, time)| format!("{}  # {time}", option(format)));
            format!(
                "`{key}` looks like a time, but {example} has several meanings; use one of{}",
                options.collect::<String>()
            )
        }
    }
}

/// So much of a text that is no time is shown.
const EXAMPLE_CHARS_MAX: usize = 60;

/// Whether a key needs no quotes.
fn is_plain(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
