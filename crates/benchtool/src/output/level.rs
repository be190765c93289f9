//! Levels by their names, and by their numbers in the scales in wide use.

use tamias_json::{Map, Value};

use super::row::json_text;

/// The keys under which logs of all sorts have a level; the first that is there counts. HEURISTIC: CLEF first, then what the logging
/// libraries in wide use write.
pub(crate) const LEVELS: [&str; 21] = [
    "@l",
    "level",
    "Level",
    "severity",
    "Severity",
    "lvl",
    "log.level",
    "levelname",
    // Of Monolog, whose `level` is a number.
    "level_name",
    // Of hclog.
    "@level",
    "PRIORITY",
    // Of PostgreSQL, of PowerShell, of Falco, and of events sent to Splunk.
    "error_severity",
    "LevelDisplayName",
    "priority",
    "event.severity",
    // Of OpenTelemetry, of Python, and of Application Insights.
    "SeverityText",
    "severityText",
    SEVERITY_NUMBER,
    SEVERITY_NUMBER_JSON,
    PYTHON_NUMBER,
    INSIGHTS_NUMBER,
];
const SEVERITY_NUMBER: &str = "SeverityNumber";
const SEVERITY_NUMBER_JSON: &str = "severityNumber";
const PYTHON_NUMBER: &str = "levelno";
const INSIGHTS_NUMBER: &str = "severityLevel";

/// The value of a key; of `fields.message` also that of a key in an object.
pub(crate) fn at<'e>(event: &Map<'e>, key: &str) -> Option<Value<'e>> {
    let nested = || {
        let (object, key) = key.split_once('.')?;
        match event.get(object)? {
            Value::Map(object) => object.get(key),
            _ => None,
        }
    };
    event.get(key).or_else(nested)
}

/// The colour of what is least.
pub(super) const DIM: &str = "\x1b[2m";

/// A word that is no level to us takes no more columns than this.
pub(super) const WORD_COLUMNS_MAX: usize = 8;

/// What an event tells of its level.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    Known(Level),
    /// What nobody here knows, as it is.
    Word(String),
}

/// The level of an event, and the key that tells it. What CLEF calls a level is one, whatever its name; under the other keys a
/// known one, or else a word that is as short as levels are. In CLEF an event without a level is an information.
pub(super) fn level_of(event: &Map<'_>) -> Option<(&'static str, Told)> {
    let told = |key: &'static str| Some((key, at(event, key)?));
    let known = LEVELS.iter().find_map(|key| {
        let (key, value) = told(key)?;
        match Level::told(event, key, &value) {
            Some(level) => Some((key, Told::Known(level))),
            None => (key == LEVELS[0]).then(|| (key, Told::Word(json_text(value.raw()).into_owned()))),
        }
    });
    let is_word = |text: &str| {
        (1..=WORD_COLUMNS_MAX).contains(&text.chars().count()) && text.chars().all(char::is_alphabetic)
    };
    known
        .or_else(|| {
            let mut words = LEVELS.iter().filter_map(|key| {
                let (key, value) = told(key)?;
                Some((key, value.as_str()?.text().into_owned()))
            });
            words.find(|(_, word)| is_word(word)).map(|(key, word)| (key, Told::Word(word)))
        })
        .or_else(|| {
            let has_none = || LEVELS.iter().all(|key| at(event, key).is_none());
            let is_usual = event.get("@t").is_some() && has_none();
            is_usual.then_some((LEVELS[0], Told::Known(Level::Info)))
        })
}

/// Whether the value of an event's key is the name of a level, or its number in a scale in wide use.
pub(crate) fn is_level(event: &Map<'_>, key: &str, value: &Value<'_>) -> bool {
    Level::told(event, key, value).is_some()
}

/// What the numbers of levels mean.
#[derive(Clone, Copy, Debug)]
enum Scale {
    /// Up to 7 that of syslog, from 10 that of pino and bunyan, from 5000 that of Logback.
    Usual,
    /// Of events that Windows logs.
    Windows,
    Python,
    OpenTelemetry,
    Insights,
}

/// What events of Windows have beside their level.
const OF_WINDOWS: [&str; 5] = ["Channel", "ProviderGuid", "EventID", "Keywords", "ProviderName"];

impl Scale {
    fn of(event: &Map<'_>, key: &str) -> Scale {
        match key {
            SEVERITY_NUMBER | SEVERITY_NUMBER_JSON => Scale::OpenTelemetry,
            PYTHON_NUMBER => Scale::Python,
            INSIGHTS_NUMBER => Scale::Insights,
            "@l" | "Level" | "level" if OF_WINDOWS.iter().any(|key| event.get(key).is_some()) => {
                Scale::Windows
            }
            _ => Scale::Usual,
        }
    }

    fn level(self, number: u32) -> Option<Level> {
        Some(match (self, number) {
            (Scale::Windows, 0 | 4) => Level::Info,
            (Scale::Windows, 1) => Level::Fatal,
            (Scale::Windows, 2) => Level::Error,
            (Scale::Windows, 3) => Level::Warn,
            (Scale::Windows, 5) => Level::Trace,
            // A key of Windows may be somebody else's too.
            (Scale::Windows, 10..) => return Scale::Usual.level(number),
            (Scale::Python, 10) => Level::Debug,
            (Scale::Python, 20) => Level::Info,
            (Scale::Python, 30) => Level::Warn,
            (Scale::Python, 40) => Level::Error,
            (Scale::Python, 50) => Level::Fatal,
            (Scale::OpenTelemetry, 1..=4) => Level::Trace,
            (Scale::OpenTelemetry, 5..=8) => Level::Debug,
            (Scale::OpenTelemetry, 9..=12) => Level::Info,
            (Scale::OpenTelemetry, 13..=16) => Level::Warn,
            (Scale::OpenTelemetry, 17..=20) => Level::Error,
            (Scale::OpenTelemetry, 21..=24) => Level::Fatal,
            (Scale::Insights, 0) => Level::Trace,
            (Scale::Insights, 1) => Level::Info,
            (Scale::Insights, 2) => Level::Warn,
            (Scale::Insights, 3) => Level::Error,
            (Scale::Insights, 4) => Level::Fatal,
            (Scale::Usual, 0..=2 | 60) => Level::Fatal,
            (Scale::Usual, 3 | 50 | 40_000) => Level::Error,
            (Scale::Usual, 4 | 40 | 30_000) => Level::Warn,
            (Scale::Usual, 5 | 6 | 30 | 20_000) => Level::Info,
            (Scale::Usual, 7 | 20 | 10_000) => Level::Debug,
            (Scale::Usual, 10 | 5000) => Level::Trace,
            _ => return None,
        })
    }
}

/// How bad an event is, as all logs tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
}

/// How the names of levels begin, in lower case.
const NAMES: [(&str, Level); 18] = [
    ("trace", Level::Trace),
    ("trc", Level::Trace),
    ("verb", Level::Trace),
    ("vrb", Level::Trace),
    ("debug", Level::Debug),
    ("dbg", Level::Debug),
    ("info", Level::Info),
    ("inf", Level::Info),
    ("notice", Level::Info),
    ("warn", Level::Warn),
    ("wrn", Level::Warn),
    ("err", Level::Error),
    ("severe", Level::Error),
    ("fatal", Level::Fatal),
    ("ftl", Level::Fatal),
    ("crit", Level::Fatal),
    ("panic", Level::Fatal),
    // Of zap.
    ("dpanic", Level::Fatal),
];

impl Level {
    /// What the value of an event's key tells.
    fn told(event: &Map<'_>, key: &str, value: &Value<'_>) -> Option<Level> {
        let text = json_text(value.raw());
        match text.parse() {
            // Numbers of these are on anybody's scale.
            Ok(_) if matches!(key, "priority" | "event.severity") => None,
            Ok(number) => Scale::of(event, key).level(number),
            Err(_) => Level::named(&text),
        }
    }

    fn named(text: &str) -> Option<Level> {
        let lower =
            text.trim_matches(|letter: char| letter.is_ascii_punctuation() || letter == ' ').to_lowercase();
        match lower.as_str() {
            "alert" | "emerg" | "emergency" | "f" => Some(Level::Fatal),
            "e" => Some(Level::Error),
            "w" => Some(Level::Warn),
            "i" => Some(Level::Info),
            "d" => Some(Level::Debug),
            "t" | "v" => Some(Level::Trace),
            _ => NAMES.iter().find(|(name, _)| lower.starts_with(name)).map(|(_, level)| *level),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Level::Trace => "TRACE",
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
            Level::Fatal => "FATAL",
        }
    }

    pub(super) fn color(self) -> &'static str {
        match self {
            Level::Trace => DIM,
            Level::Debug => "\x1b[36m",
            Level::Info => "\x1b[32m",
            Level::Warn => "\x1b[1;33m",
            Level::Error => "\x1b[1;31m",
            Level::Fatal => "\x1b[1;37;41m",
        }
    }
}
