//! Which key holds the time of events, told from some of them.

use std::collections::BTreeMap;

use tamias_json::{Map, Offsets, Value};
use tamias_query::Instant;

use crate::TimeFormat;

/// Keys that hold the time in logs of all sorts; of two that as many events have, the first counts. HEURISTIC: CLEF's own, then what
/// other programs in wide use write.
const USUAL: [&str; 16] = [
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
    events: u64,
    /// Of each of the usual keys, how many events have a time there.
    usual: [u64; USUAL.len()],
    /// Other keys, and paths of two, that held a time.
    others: BTreeMap<String, u64>,
    offsets: Offsets,
}

impl TimeKeys {
    /// Looks for times that are written so.
    pub fn new(format: TimeFormat) -> TimeKeys {
        let others = BTreeMap::new();
        TimeKeys { format, events: 0, usual: [0; USUAL.len()], others, offsets: Offsets::new() }
    }

    /// Looks at an event; what is not a JSON object is passed over. Takes time linear in its length.
    pub fn look(&mut self, document: &[u8]) {
        let mut minified = Vec::new();
        if tamias_json::validate::minify_object(document, &Default::default(), &mut minified).is_err() {
            return;
        }
        let TimeKeys { format, events, usual, others, offsets } = self;
        let Ok(event) = offsets.scan_trusted(&minified) else { return };
        *events += 1;
        for (key, count) in USUAL.iter().zip(usual) {
            *count += u64::from(event.get(key).is_some_and(|value| is_time(value, format)));
        }
        note(&event, "", format, others);
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

    /// All keys that held a time, those of most events first: names of keys, and paths like `event.created`.
    pub fn candidates(&self) -> Vec<&str> {
        let mut candidates: Vec<(&str, u64)> =
            self.others.iter().map(|(path, count)| (path.as_str(), *count)).collect();
        candidates.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        candidates.into_iter().map(|(path, _)| path).collect()
    }
}

/// Counts the keys of an object that hold times, and those of the objects in it.
fn note(map: &Map<'_>, parent: &str, format: &TimeFormat, found: &mut BTreeMap<String, u64>) {
    for (key, value) in map.entries() {
        let path = format!("{parent}{}", key.text());
        match value {
            Value::Map(inner) if parent.is_empty() => note(&inner, &format!("{path}."), format, found),
            value if is_time(value, format) && (found.contains_key(&path) || found.len() < OTHERS_MAX) => {
                *found.entry(path).or_default() += 1;
            }
            _ => {}
        }
    }
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
        assert_eq!(keys.candidates(), ["event.created", "when"]);
    }
}
