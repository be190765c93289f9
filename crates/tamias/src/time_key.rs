//! Which key holds the time of events, told from some of them.

use std::collections::BTreeMap;

use tamias_json::{Map, Offsets, Value};
use tamias_query::Instant;

use crate::TimeFormat;

/// Keys that hold the time in logs of all sorts; of two that as many events have, the first counts. HEURISTIC: CLEF's own, then what
/// other programs in wide use write.
const USUAL: [&str; 18] = [
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
];

/// Other ways to write a time with a day, in logs in wide use; of those that fit all values of a key the first is suggested. None is
/// read unless it is asked for: 05/06/2024 has two meanings. HEURISTIC.
const WRITTEN: [&str; 9] = [
    // Spark.
    "%y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M:%S%.f",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%d/%m/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    // ctime.
    "%a %b %e %H:%M:%S %Y",
];

/// So many other keys are told apart.
const OTHERS_MAX: usize = 100;

/// A number is taken for a time if it lies between these, in whatever unit: most numbers are something else.
const PLAUSIBLE: [&str; 2] = ["1990-01-01T00:00:00Z", "2100-01-01T00:00:00Z"];

/// Looks at events, and tells under which key their time is.
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
    written: [TimeFormat; WRITTEN.len()],
    events: u64,
    /// Of each of the usual keys, how many events have a time there.
    usual: [u64; USUAL.len()],
    /// Other keys, and paths of two, that held a time.
    others: BTreeMap<String, TimeCandidate>,
    /// The first key of the first event that holds a list of objects.
    list: Option<String>,
    offsets: Offsets,
}

/// A key that may be meant as the time of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeCandidate {
    /// The key, or a path like `event.created`.
    pub key: String,
    /// The first value seen there, as JSON.
    pub example: String,
    /// The [`TimeFormat`] that reads it, if it is not the one that was looked for.
    pub format: Option<&'static str>,
    events: u64,
    /// Those of the ways to write a time that fit all values, a bit each; all where the format that was looked for does.
    fits: u32,
}

impl TimeKeys {
    /// Looks for times that are written so.
    pub fn new(format: TimeFormat) -> TimeKeys {
        let others = BTreeMap::new();
        let written = WRITTEN.map(|pattern| pattern.parse().unwrap_or_default());
        TimeKeys {
            format,
            written,
            events: 0,
            usual: [0; USUAL.len()],
            others,
            list: None,
            offsets: Offsets::new(),
        }
    }

    /// Looks at an event; what is not a JSON object is passed over. Takes time linear in its length.
    pub fn look(&mut self, document: &[u8]) {
        let mut minified = Vec::new();
        if tamias_json::validate::minify_object(document, &Default::default(), &mut minified).is_err() {
            return;
        }
        let TimeKeys { format, written, events, usual, others, list, offsets } = self;
        let Ok(event) = offsets.scan_trusted(&minified) else { return };
        if *events == 0 {
            let mut lists = event.entries().filter(|(_, value)| is_list_of_objects(value));
            *list = lists.next().map(|(key, _)| key.text().into_owned());
        }
        *events += 1;
        for (key, count) in USUAL.iter().zip(usual) {
            *count += u64::from(event.get(key).is_some_and(|value| is_time(value, format)));
        }
        note(&event, "", format, written, others);
    }

    /// How many events it looked at.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The key under which most events have a time, of those that logs usually have it under; none if no event has one there.
    pub fn best(&self) -> Option<&'static str> {
        let most = self.usual.iter().copied().max().filter(|most| *most > 0)?;
        USUAL.iter().zip(self.usual).find(|(_, count)| *count == most).map(|(key, _)| *key)
    }

    /// All keys that held a time, those of most events first.
    pub fn candidates(&self) -> Vec<&TimeCandidate> {
        let mut candidates: Vec<&TimeCandidate> = self.others.values().collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.events));
        candidates
    }

    /// The key of a list of objects in the first event: the events may be there, one level down.
    pub fn list(&self) -> Option<&str> {
        self.list.as_deref()
    }
}

/// Counts the keys of an object that hold times, and those of the objects in it.
fn note(
    map: &Map<'_>,
    parent: &str,
    format: &TimeFormat,
    written: &[TimeFormat; WRITTEN.len()],
    found: &mut BTreeMap<String, TimeCandidate>,
) {
    for (key, value) in map.entries() {
        let path = format!("{parent}{}", key.text());
        if let (Value::Map(inner), true) = (&value, parent.is_empty()) {
            note(inner, &format!("{path}."), format, written, found);
            continue;
        }
        let fits = match value {
            value if is_time(value, format) => u32::MAX,
            Value::String(text) if text.text().contains(':') => {
                let fits = written.iter().enumerate().filter(|(_, pattern)| pattern.read(value).is_ok());
                fits.fold(0, |fits, (number, _)| fits | 1 << number)
            }
            _ => 0,
        };
        if fits == 0 || (found.len() >= OTHERS_MAX && !found.contains_key(&path)) {
            continue;
        }
        let candidate = found.entry(path.clone()).or_insert_with(|| {
            let example = String::from_utf8_lossy(value.raw()).into_owned();
            TimeCandidate { key: path, example, format: None, events: 0, fits }
        });
        candidate.fits &= fits;
        candidate.events += 1;
        let first = WRITTEN.iter().enumerate().find(|(number, _)| candidate.fits >> number & 1 == 1);
        candidate.format = first.map(|(_, pattern)| *pattern).filter(|_| candidate.fits != u32::MAX);
    }
}

/// Whether a value is a list that begins with an object.
fn is_list_of_objects(value: &Value<'_>) -> bool {
    let Value::Array(array) = value else { return false };
    matches!(array.get(0), Some(Value::Map(_)))
}

/// Whether a value can be meant as a time.
fn is_time(value: Value<'_>, format: &TimeFormat) -> bool {
    let plausible = PLAUSIBLE.map(|day| day.parse::<Instant>().ok());
    let Ok(instant) = format.read(value) else { return false };
    match value {
        Value::Number(_) => plausible[0] <= Some(instant) && Some(instant) <= plausible[1],
        _ => true,
    }
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
            (candidates[1].example.as_str(), candidates[1].format),
            ("\"2024-05-29T10:56:01Z\"", None)
        );
    }

    #[test]
    fn other_ways_to_write_a_time_are_suggested() {
        for (times, format) in [
            (["23/11/26 10:00:00", "23/11/27 10:00:00"], "%y/%m/%d %H:%M:%S"),
            (["05/06/2024 10:00:00", "05/29/2024 10:00:00"], "%m/%d/%Y %H:%M:%S"),
            (["05/06/2024 10:00:00", "29/05/2024 10:00:00"], "%d/%m/%Y %H:%M:%S"),
            (["29.05.2024 10:00:00", "30.05.2024 10:00:00"], "%d.%m.%Y %H:%M:%S"),
            (["Wed May 29 10:56:01 2024", "Thu May 30 10:56:01 2024"], "%a %b %e %H:%M:%S %Y"),
        ] {
            let events = times.map(|time| format!(r#"{{"ts":"{time}","text":"12:30: lunch"}}"#));
            let keys = look(&events.each_ref().map(String::as_str));
            let found: Vec<_> = keys.candidates().iter().map(|one| (one.key.as_str(), one.format)).collect();
            assert_eq!(found, [("ts", Some(format))]);
            // What is suggested reads it.
            let format = TimeKeys::new(format.parse().unwrap());
            let keys = events.iter().fold(format, |mut keys, event| {
                keys.look(event.as_bytes());
                keys
            });
            assert_eq!(keys.best(), Some("ts"));
        }
    }

    #[test]
    fn a_list_of_objects_may_hold_the_events() {
        assert_eq!(look(&[r#"{"Tags":["a"],"Records":[{"a":1}]}"#]).list(), Some("Records"));
        assert_eq!(look(&[r#"{"Tags":["a"],"Records":[]}"#, r#"{"Records":[{}]}"#]).list(), None);
    }
}
