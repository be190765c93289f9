//! Detecting which key holds the time of events, from a sample of them.

use std::collections::BTreeMap;

use tamias_json::{Map, Offsets, Value};
use tamias_query::Instant;

use crate::TimeFormat;

/// Keys that commonly hold the time in logs; if two occur in equally many events, the first is preferred. HEURISTIC: CLEF's own, then those that
/// widely used programs write.
const USUAL: [&str; 20] = [
    "@t",
    "@timestamp",
    "timestamp",
    "Timestamp",
    "time",
    "ts",
    "eventTime",
    "created_at",
    "createdAt",
    "__REALTIME_TIMESTAMP",
    "datetime",
    "Time",
    "TimeCreated",
    "TimeGenerated",
    "EventTime",
    "date",
    // nginx.
    "time_local",
    "time_iso8601",
    // OpenTelemetry: when it happened, and when it was seen.
    "timeUnixNano",
    "observedTimeUnixNano",
];

/// Other ways to write a time with a day, in logs in wide use. Those that fit all values of a key are suggested. None is
/// read unless it is asked for: 05/06/2024 has two meanings. HEURISTIC.
const WRITTEN: [&str; 13] = [
    // Spark.
    "%y/%m/%d %H:%M:%S",
    // A fraction may be missing.
    "%Y/%m/%d %H:%M:%S%.f",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    // ctime.
    "%a %b %e %H:%M:%S %Y",
    // A day alone: another key may hold the time of day.
    DAY,
    // .NET.
    "ticks",
];

const DAY: &str = "%Y-%m-%d";
/// The zone that is farthest from UTC.
const ELSEWHERE: &str = "+14:00";
const DAY_CHARS: usize = 10;

/// Parts of names that keys of times have. HEURISTIC.
const TIMELY: [&str; 5] = ["time", "date", "stamp", "created", "when"];

/// The maximum number of other keys that are counted.
const OTHERS_MAX: usize = 100;

/// The maximum number of names in the path of a time: those of Windows.
const NAMES_MAX: usize = 5;

/// Where events of Windows have their time when their XML became JSON. What they tell of may hold other times.
const OF_WINDOWS: [&str; 2] =
    ["Event.System.TimeCreated.SystemTime", "Event.System.TimeCreated.#attributes.SystemTime"];

/// A number is taken for a time if it lies between these, in whatever unit: most numbers are something else.
const PLAUSIBLE: [&str; 2] = ["1990-01-01T00:00:00Z", "2100-01-01T00:00:00Z"];

/// Looks at a sample of events, and detects which key holds their time.
///
/// ```
/// use tamias::{EventFormat, TimeFormat, TimeKeys};
///
/// let mut keys = TimeKeys::new(TimeFormat::default());
/// keys.look(br#"{"level":"info","ts":1700000000.25,"msg":"started"}"#);
/// keys.look(br#"{"level":"info","ts":1700000001.5,"msg":"ready"}"#);
/// assert_eq!(keys.best(), Some("ts"));
/// let format = EventFormat::time_keys("ts");
/// # let _ = format;
/// ```
#[derive(Debug)]
pub struct TimeKeys {
    format: TimeFormat,
    /// The same in another time zone: what it reads as another instant names no zone.
    elsewhere: TimeFormat,
    written: [TimeFormat; WRITTEN.len()],
    events: u64,
    /// For each usual key, the number of events that have a time there.
    usual: [u64; USUAL.len()],
    /// For each usual key, the earliest time seen there.
    earliest: [Option<Instant>; USUAL.len()],
    /// Keys and paths that held a time.
    others: BTreeMap<String, TimeCandidate>,
    /// The first usual key with a text that is not a time, and the text as JSON.
    unread: Option<(&'static str, String)>,
    /// The first key of the first event that holds a list of objects, as long as each event has such a list there.
    list: Option<String>,
    /// The key of the first event that holds a time of day alone.
    clock: Option<String>,
    /// The first event has one key only.
    is_list_all: bool,
    offsets: Offsets,
}

/// A key that may be meant as the time of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeCandidate {
    /// The key, or a path like `event.created`.
    pub key: String,
    /// The first value seen there, as JSON.
    pub example: String,
    /// The [`TimeFormat`]s that can read all values seen there, and the instant that the example is in each. Empty if the expected format
    /// can read them.
    pub readings: Vec<(&'static str, Instant)>,
    /// Whether the expected format reads a value there, and takes it for a time of its zone, as it names none.
    pub is_without_zone: bool,
    /// In how many of the events there is a time.
    pub events: u64,
}

impl TimeKeys {
    /// Looks for times in this format.
    pub fn new(format: TimeFormat) -> TimeKeys {
        let others = BTreeMap::new();
        let written = WRITTEN.map(|pattern| pattern.parse().unwrap_or_default());
        let elsewhere = format.clone().time_zone(ELSEWHERE).unwrap_or_default();
        TimeKeys {
            format,
            elsewhere,
            written,
            events: 0,
            usual: [0; USUAL.len()],
            earliest: [None; USUAL.len()],
            others,
            unread: None,
            list: None,
            is_list_all: false,
            clock: None,
            offsets: Offsets::new(),
        }
    }

    /// Looks at an event; anything but a JSON object is ignored. Takes time linear in its length.
    pub fn look(&mut self, document: &[u8]) {
        let mut minified = Vec::new();
        if tamias_json::validate::minify_object(document, &Default::default(), &mut minified).is_err() {
            return;
        }
        let TimeKeys {
            format,
            elsewhere,
            written,
            events,
            usual,
            earliest,
            others,
            unread,
            list,
            is_list_all,
            clock,
            offsets,
        } = self;
        let Ok(event) = offsets.scan_trusted(&minified) else { return };
        if *events == 0 {
            let first = |is_meant: fn(&str, &Value<'_>) -> bool| {
                let mut meant = event.entries().map(|(key, value)| (key.text().into_owned(), value));
                meant.find(|(key, value)| is_meant(key, value)).map(|(key, _)| key)
            };
            *list = first(|_, value| is_list_of_objects(value));
            *is_list_all = event.entries().count() == 1;
            // Under another name it may be how long something took.
            *clock = first(|key, value| key.to_lowercase().contains("time") && is_time_of_day(value));
        }
        let may_be_list = |key: &String| {
            event.get(key).is_some_and(|list| is_list_of_objects(&list) || is_empty_list(&list))
        };
        *list = list.take().filter(may_be_list);
        *events += 1;
        for ((key, count), earliest) in USUAL.iter().zip(usual).zip(earliest) {
            let Some(value) = event.get(key) else { continue };
            match time(value, format) {
                Some(instant) => {
                    *count += 1;
                    *earliest = Some(earliest.map_or(instant, |known| known.min(instant)));
                }
                None if unread.is_none() && matches!(value, Value::String(_)) => {
                    *unread = Some((key, String::from_utf8_lossy(value.raw()).into_owned()));
                }
                None => {}
            }
        }
        Noting { format, elsewhere, written, found: others, latest: tomorrow() }.note(&event, "", 1);
    }

    /// The number of events looked at.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Of the usual keys, the one under which most events have a time; `None` if fewer than half of the events have one there.
    pub fn best(&self) -> Option<&'static str> {
        self.most().filter(|(_, count)| count.saturating_mul(2) >= self.events).map(|(key, _)| key)
    }

    /// The key or path of the time if at least half of the events have a time there and no event has one elsewhere, or if events of Windows
    /// have it there. `None` if it may be
    /// something else: a number whose key is not named like a time.
    pub fn only(&self) -> Option<&str> {
        let mut candidates = self.others.values();
        let of_windows = OF_WINDOWS.iter().find_map(|key| self.others.get(*key));
        let one = match (of_windows, candidates.next(), candidates.next()) {
            (Some(one), ..) | (None, Some(one), None) => one,
            _ => return None,
        };
        let name = one.key.to_lowercase();
        // Digits alone may be a telephone number.
        let text = one
            .example
            .strip_prefix('"')
            .filter(|text| text.bytes().any(|byte| !b"0123456789.\"".contains(&byte)));
        let is_time = text.is_some() || TIMELY.iter().any(|part| name.contains(part));
        let is_usual = one.events.saturating_mul(2) >= self.events;
        (one.readings.is_empty() && is_time && is_usual).then_some(one.key.as_str())
    }

    /// Of the usual keys, the one under which most events have a time, and the number of these events; `None` if no event has a time under a usual key.
    pub fn most(&self) -> Option<(&'static str, u64)> {
        let most = self.usual.iter().copied().max().filter(|most| *most > 0)?;
        USUAL.iter().zip(self.usual).find(|(_, count)| *count == most).map(|(key, count)| (*key, count))
    }

    /// The earliest time under the [best](TimeKeys::best) key, if even that is more than a day in the future.
    pub fn future(&self) -> Option<Instant> {
        let best = self.best()?;
        let earliest = USUAL.iter().zip(self.earliest).find(|(key, _)| **key == best)?.1?;
        (Some(earliest) > tomorrow()).then_some(earliest)
    }

    /// A usual key with a text that is not a time in any known format, and that text as JSON.
    pub fn unread(&self) -> Option<(&'static str, &str)> {
        let (key, text) = self.unread.as_ref()?;
        (!self.others.contains_key(*key)).then_some((*key, text.as_str()))
    }

    /// All keys that held a time, the most frequent first.
    pub fn candidates(&self) -> Vec<&TimeCandidate> {
        let mut candidates: Vec<&TimeCandidate> = self.others.values().collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.events));
        candidates
    }

    /// The key of a list of objects in each event: the events may be there, one level down.
    pub fn list(&self) -> Option<&str> {
        self.list.as_deref()
    }

    /// Whether the first event has nothing beside its list: then it is a batch of events.
    pub fn is_list_all(&self) -> bool {
        self.list.is_some() && self.is_list_all
    }

    /// The key of the first event that holds a time of day alone, `20:01:02`: another one may hold the day.
    pub fn clock(&self) -> Option<&str> {
        self.clock.as_deref()
    }
}

/// Counts keys that hold times.
struct Noting<'k> {
    format: &'k TimeFormat,
    elsewhere: &'k TimeFormat,
    written: &'k [TimeFormat; WRITTEN.len()],
    found: &'k mut BTreeMap<String, TimeCandidate>,
    /// A reading that lies after this instant is ignored.
    latest: Option<Instant>,
}

impl Noting<'_> {
    /// Counts the keys of an object and of the objects in it.
    fn note(&mut self, map: &Map<'_>, parent: &str, names: usize) {
        for (key, value) in map.entries() {
            let path = format!("{parent}{}", key.text());
            if let (Value::Map(inner), true) = (&value, names < NAMES_MAX) {
                self.note(inner, &format!("{path}."), names + 1);
                continue;
            }
            let read = time(value, self.format);
            let is_read = read.is_some();
            let is_without_zone = is_read && self.elsewhere.read(value).ok() != read;
            let readings = if is_read { Vec::new() } else { self.readings(value) };
            let is_time = is_read || !readings.is_empty();
            if !is_time || (self.found.len() >= OTHERS_MAX && !self.found.contains_key(&path)) {
                continue;
            }
            match self.found.get_mut(&path) {
                // A format that reads only some of the values is not a reading of the key.
                Some(candidate) => {
                    candidate
                        .readings
                        .retain(|(known, _)| readings.iter().any(|(format, _)| format == known));
                    candidate.is_without_zone |= is_without_zone;
                    candidate.events += 1;
                }
                None => {
                    let example = String::from_utf8_lossy(value.raw()).into_owned();
                    let candidate =
                        TimeCandidate { key: path.clone(), example, readings, is_without_zone, events: 1 };
                    self.found.insert(path, candidate);
                }
            }
        }
    }

    /// The other ways to write a time that fit a value, and the times that it would be.
    fn readings(&self, value: Value<'_>) -> Vec<(&'static str, Instant)> {
        let may_be_time = match value {
            Value::String(text) => {
                let text = text.text();
                text.contains(':') || matches!(text.len(), TICKS_DIGITS | DAY_CHARS)
            }
            Value::Number(number) => number.text().len() == TICKS_DIGITS,
            _ => false,
        };
        let earliest = PLAUSIBLE[0].parse::<Instant>().ok();
        let read = WRITTEN.iter().zip(self.written).filter(|_| may_be_time);
        let read = read.filter_map(|(name, format)| Some((*name, format.read(value).ok()?)));
        read.filter(|(_, instant)| earliest <= Some(*instant) && Some(*instant) <= self.latest).collect()
    }
}

/// The number of digits of a time in ticks in these centuries.
const TICKS_DIGITS: usize = 18;

/// No log has later times: clocks that are fast, and zones that were not written, are within a day.
fn tomorrow() -> Option<Instant> {
    Instant::from_ticks(Instant::now().ticks().saturating_add(DAY_TICKS))
}

const DAY_TICKS: u64 = 24 * 3600 * 10_000_000;

/// Whether a value is a list that begins with an object.
fn is_list_of_objects(value: &Value<'_>) -> bool {
    let Value::Array(array) = value else { return false };
    matches!(array.get(0), Some(Value::Map(_)))
}

fn is_empty_list(value: &Value<'_>) -> bool {
    let Value::Array(array) = value else { return false };
    array.get(0).is_none()
}

/// Whether a value is a time without a day: `20:01:02`, also with a fraction.
fn is_time_of_day(value: &Value<'_>) -> bool {
    let Value::String(text) = value else { return false };
    let text = text.text();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let below = |limit: u8, part: &str| {
        part.len() == 2 && is_digits(part) && part.parse::<u8>().is_ok_and(|part| part < limit)
    };
    let parts: Vec<&str> = whole.split(':').collect();
    // A leap second is the 60th.
    matches!(*parts, [hour, minute, second] if below(24, hour) && below(60, minute) && below(61, second))
        && is_digits(fraction)
}

/// The time that a value can be meant as.
fn time(value: Value<'_>, format: &TimeFormat) -> Option<Instant> {
    let instant = format.read(value).ok()?;
    let [first, last] = PLAUSIBLE.map(|day| day.parse::<Instant>().ok());
    let is_plausible = first <= Some(instant) && Some(instant) <= last;
    (is_plausible || !matches!(value, Value::Number(_))).then_some(instant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(events: &[&str]) -> TimeKeys {
        let mut keys = TimeKeys::new(TimeFormat::default());
        events.iter().for_each(|event| keys.look(event.as_bytes()));
        keys
    }

    #[test]
    fn the_usual_keys_are_known() {
        for (event, key) in [
            (r#"{"@t":"2024-05-29T10:56:01Z","time":3}"#, "@t"),
            (r#"{"time":3,"ts":1716980161.5}"#, "ts"),
            (r#"{"@timestamp":"2024-05-29T10:56:01.123Z","timestamp":"29/May/2024"}"#, "@timestamp"),
            (r#"{"__REALTIME_TIMESTAMP":"1716980161123456","MESSAGE":"hi"}"#, "__REALTIME_TIMESTAMP"),
            (r#"{"time":1716980161123}"#, "time"),
            (r#"{"time_local":"29/May/2024:10:56:01 +0200","status":"200"}"#, "time_local"),
            (r#"{"date":"Wed, 29 May 2024 10:56:01 GMT","from":"Ada"}"#, "date"),
        ] {
            assert_eq!(look(&[event]).best(), Some(key), "{event}");
        }
        // What most events have counts for more than what comes first.
        let mixed = [r#"{"@t":"2024-05-29T10:56:01Z","ts":1716980161}"#, r#"{"ts":1716980162}"#];
        assert_eq!(look(&mixed).best(), Some("ts"));
    }

    #[test]
    fn others_are_candidates_only() {
        let keys = look(&[
            r#"{"when":"2024-05-29T10:56:01Z","event":{"created":"2024-05-29T10:56:01Z"},"n":12}"#,
            r#"{"event":{"created":"2024-05-30T10:56:01Z"}}"#,
            "no event",
        ]);
        assert_eq!((keys.best(), keys.events()), (None, 2));
        let candidates = keys.candidates();
        assert_eq!(candidates.iter().map(|one| &one.key).collect::<Vec<_>>(), ["event.created", "when"]);
        assert_eq!(
            (candidates[1].example.as_str(), candidates[1].readings.as_slice()),
            ("\"2024-05-29T10:56:01Z\"", &[][..])
        );
    }

    #[test]
    fn the_only_time_is_taken() {
        for (event, key) in [
            (r#"{"event":{"created":"2024-05-29T10:56:01Z"},"n":1716980161}"#, None),
            (r#"{"event":{"created":"2024-05-29T10:56:01Z"},"n":12}"#, Some("event.created")),
            (r#"{"t":{"$date":"2024-05-29T10:56:01Z"}}"#, Some("t.$date")),
            (r#"{"asctime":"2024-05-29 10:56:01 UTC"}"#, Some("asctime")),
            (r#"{"timeUnixNano":"1716980161123456789"}"#, Some("timeUnixNano")),
            (r#"{"_time":1716980161}"#, Some("_time")),
            (r#"{"size":1716980161}"#, None),
            (r#"{"day":"2024-05-29"}"#, None),
            // Digits alone may be a telephone number, or what is printed under a bar code.
            (r#"{"phone":"9876543210"}"#, None),
            (r#"{"ean":"4006381333931"}"#, None),
        ] {
            assert_eq!(look(&[event]).only(), key, "{event}");
        }
        assert_eq!(look(&[r#"{"asctime":"2024-05-29T10:56:01Z"}"#, "{}", "{}"]).only(), None);
    }

    #[test]
    fn times_of_common_programs_are_read() {
        for time in [
            "2024-05-29 10:56:01 UTC",
            "2024-05-29 10:56:01.5 UTC",
            "2024-05-29 12:56:01 +0200",
            "[29/May/2024:12:56:01 +0200]",
        ] {
            assert_eq!(look(&[&format!(r#"{{"ts":"{time}"}}"#)]).best(), Some("ts"), "{time}");
        }
        for none in ["2024-05-29 10:56:01 +02:00 UTC", "2024-05-29 25:56:01 UTC", "[2024", " UTC"] {
            assert_eq!(look(&[&format!(r#"{{"ts":"{none}"}}"#)]).best(), None, "{none}");
        }
        let day = look(&[r#"{"ts":"2024-05-29"}"#]);
        assert_eq!((day.best(), day.candidates()[0].readings[0].0), (None, "%Y-%m-%d"));
    }

    #[test]
    fn other_ways_to_write_a_time_are_suggested() {
        let (both, short) =
            (["%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S"], ["%m/%d/%y %H:%M:%S", "%d/%m/%y %H:%M:%S"]);
        for (times, formats) in [
            (["23/11/30 10:00:00", "23/11/16 10:00:00"], &["%y/%m/%d %H:%M:%S"][..]),
            (["2024/05/29 10:00:00", "2024/05/29 10:00:00.25"], &["%Y/%m/%d %H:%M:%S%.f"]),
            (["05/06/2024 10:00:00", "05/29/2024 10:00:00"], &both[..1]),
            (["05/06/2024 10:00:00", "29/05/2024 10:00:00"], &both[1..]),
            // Which is first is told only by a day after the 12th; this used to be taken for the first of both.
            (["01/03/2024 10:00:00", "12/03/2024 10:00:00"], &both),
            // The year used to be 24, or the day.
            (["05/29/24 10:00:00", "05/30/24 10:00:00"], &short[..1]),
            (["29/05/24 10:00:00", "13/05/24 10:00:00"], &short[1..]),
            (["29.05.2024 10:00:00", "30.05.2024 10:00:00"], &["%d.%m.%Y %H:%M:%S"]),
            (["01.03.24 10:00:00", "12.04.24 10:00:00"], &["%d.%m.%y %H:%M:%S"]),
            (["Wed May 29 10:56:01 2024", "Thu May 30 10:56:01 2024"], &["%a %b %e %H:%M:%S %Y"]),
            (["638525625610000000", "638525625620000000"], &["ticks"]),
        ] {
            let events = times.map(|time| format!(r#"{{"ts":"{time}","text":"12:30: lunch"}}"#));
            let keys = look(&events.each_ref().map(String::as_str));
            let [candidate] = keys.candidates()[..] else { panic!("{times:?}: {keys:?}") };
            let found: Vec<&str> = candidate.readings.iter().map(|(format, _)| *format).collect();
            // Two digits may be a year that is yet to come, until it has.
            let found: Vec<&str> = found.into_iter().filter(|format| !is_guess(times[0], format)).collect();
            assert_eq!((candidate.key.as_str(), found.as_slice()), ("ts", formats), "{times:?}");
            // What is suggested reads it.
            for format in formats {
                let format = TimeKeys::new(format.parse().unwrap());
                let keys = events.iter().fold(format, |mut keys, event| {
                    keys.look(event.as_bytes());
                    keys
                });
                assert_eq!(keys.best(), Some("ts"));
            }
        }
    }

    /// Whether a day is taken for a year that lies in the future now.
    fn is_guess(time: &str, format: &str) -> bool {
        matches!((time, format), ("23/11/30 10:00:00", "%d/%m/%y %H:%M:%S"))
            || matches!(&time[..8], "29/05/24") && format.starts_with("%y")
    }

    #[test]
    fn what_an_ambiguous_time_would_be_is_told() {
        let keys = look(&[r#"{"time":"01/03/2024 10:00:00"}"#]);
        let [candidate] = keys.candidates()[..] else { panic!("{keys:?}") };
        let readings: Vec<String> =
            candidate.readings.iter().map(|(format, time)| format!("{format}: {time}")).collect();
        assert_eq!(
            readings,
            ["%m/%d/%Y %H:%M:%S: 2024-01-03T10:00:00Z", "%d/%m/%Y %H:%M:%S: 2024-03-01T10:00:00Z"]
        );
    }

    #[test]
    fn a_key_that_few_events_have_is_not_the_best() {
        let mut events = vec![r#"{"Event":"a"}"#; 5];
        events.extend([r#"{"Timestamp":1716980161123}"#; 4]);
        let keys = look(&events);
        assert_eq!((keys.best(), keys.most()), (None, Some(("Timestamp", 4))));
        events.push(r#"{"Timestamp":1716980161124}"#);
        assert_eq!(look(&events).best(), Some("Timestamp"));
    }

    /// A time in ticks was taken for nanoseconds, and stored as one of 1990.
    #[test]
    fn ticks_are_no_unix_time() {
        let event = r#"{"Timestamp":639310000000000000}"#;
        let keys = look(&[event]);
        assert_eq!((keys.best(), keys.candidates()[0].readings[0].0), (None, "ticks"));
    }

    #[test]
    fn a_usual_key_that_is_not_read_is_told_of() {
        let keys = look(&[r#"{"time":"Nov 22 09:00:00","a":{"b":{"c":{"d":"2024-05-29T10:56:01Z"}}}}"#]);
        assert_eq!(keys.unread(), Some(("time", "\"Nov 22 09:00:00\"")));
        assert_eq!(keys.candidates()[0].key, "a.b.c.d");
        assert_eq!(look(&[r#"{"time":"29.05.2024 10:00:00"}"#]).unread(), None);
    }

    #[test]
    fn times_of_the_future_are_told_of() {
        let future = |event: &str| look(&[event]).future().map(|instant| instant.to_string());
        assert_eq!(future(r#"{"ts":"2962-01-01T00:00:00Z"}"#).as_deref(), Some("2962-01-01T00:00:00Z"));
        assert_eq!(future(r#"{"ts":"1995-01-01T00:00:00Z"}"#), None);
    }

    #[test]
    fn times_that_name_no_zone_are_told_from_others() {
        for (event, is_without) in [
            (r#"{"t":"2024-05-29T10:56:01"}"#, true),
            (r#"{"t":"2024-05-29 10:56:01,123"}"#, true),
            (r#"{"t":"2024-05-29 10:56:01 "}"#, true),
            (r#"{"t":"29/May/2024:10:56:01.5"}"#, true),
            (r#"{"t":"29/May/2024:10:56:01 +0200"}"#, false),
            (r#"{"t":"2024-05-29T10:56:01Z"}"#, false),
            (r#"{"t":"2024-05-29 10:56:01 UTC"}"#, false),
            (r#"{"t":1716980161}"#, false),
        ] {
            assert_eq!(look(&[event]).candidates()[0].is_without_zone, is_without, "{event}");
        }
    }

    #[test]
    fn a_day_and_a_time_of_day_in_two_keys_are_found() {
        let keys = look(&[r#"{"n":1,"date":"2026-11-23","time":"20:01:02"}"#]);
        assert_eq!((keys.best(), keys.only(), keys.clock()), (None, None, Some("time")));
        assert_eq!(keys.candidates()[0].key, "date");
    }

    /// An address and how long something took were to be joined with the date.
    #[test]
    fn what_only_looks_like_a_time_of_day_is_none() {
        for (pair, clock) in [
            (r#""took":"00:00:12""#, None),
            (r#""ip":"::1""#, None),
            (r#""time":"::1""#, None),
            (r#""time":"20:61:02""#, None),
            (r#""time":"20:01:02.""#, None),
            (r#""took":"00:00:12","logTime":"20:01:02.123""#, Some("logTime")),
        ] {
            let keys = look(&[&format!(r#"{{"date":"2026-11-23",{pair}}}"#)]);
            assert_eq!(keys.clock(), clock, "{pair}");
        }
    }

    #[test]
    fn a_list_of_objects_may_hold_the_events() {
        assert_eq!(look(&[r#"{"Records":[{"a":1}]}"#, r#"{"Records":[]}"#]).list(), Some("Records"));
        assert_eq!(look(&[r#"{"Records":[{"a":1}]}"#, r#"{"a":1}"#]).list(), None);
        assert!(look(&[r#"{"Records":[{"a":1}]}"#]).is_list_all());
        assert!(!look(&[r#"{"Records":[{"a":1}],"b":1}"#]).is_list_all());
        assert_eq!(look(&[r#"{"Tags":["a"],"Records":[{"a":1}]}"#]).list(), Some("Records"));
        assert_eq!(look(&[r#"{"Tags":["a"],"Records":[]}"#, r#"{"Records":[{}]}"#]).list(), None);
    }
}
