//! Names of keys that were probably meant.

use crate::builtin::BuiltIn;
use crate::expr::property;
use std::collections::BTreeSet;

/// The name of a key as people write it: a flat key with points as a path.
pub(super) fn as_written(name: &str) -> String {
    let is_name = |part: &str| property(part) == part;
    if name.contains('.') && name.split('.').all(is_name) { name.to_owned() } else { property(name) }
}

/// What other logs call the built-ins, in lower case and without what joins words, and the keys that tell that events have them.
/// HEURISTIC: CLEF, OpenTelemetry, the Elastic common schema and the loggers in wide use; the first that is there is meant.
const NAMES: [(&str, &[&str], &[&str]); 11] = [
    ("@Timestamp", &["timestamp", "time", "ts", "date"], &[]),
    ("@Level", &["level", "severity", "severitytext", "loglevel"], &["@l"]),
    ("@Message", &["message", "msg", "body"], &["@m", "@mt"]),
    (
        "@Exception",
        &["exception", "error", "err", "stacktrace", "stack", "excinfo", "errorstacktrace"],
        &["@x"],
    ),
    ("@TraceId", &["traceid", "oteltraceid", "ddtraceid", "trace"], &["@tr"]),
    ("@SpanId", &["spanid", "otelspanid", "ddspanid", "span"], &["@sp"]),
    ("@ParentId", &["parentid", "parentspanid"], &["@ps"]),
    ("@EventType", &["eventtype", "eventid"], &["@i"]),
    ("@Resource", &["resource"], &["@ra"]),
    ("@Id", &["id"], &[]),
    ("Now()", &["now"], &[]),
];

/// A name in lower case, without what joins its words.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// The built-in that a key of this name is in other logs, if events have it.
pub(super) fn built_in(name: &str, is_there: impl Fn(&str) -> bool) -> Option<&'static str> {
    let name = plain(name);
    let (built_in, _, keys) = NAMES.iter().find(|(_, names, _)| names.contains(&&*name))?;
    (keys.is_empty() || keys.iter().any(|key| is_there(key))).then_some(*built_in)
}

/// The key under which other logs have what a built-in is, if it is among these.
pub(super) fn meant(of: BuiltIn, known: &BTreeSet<String>) -> Option<String> {
    let long = of.to_string();
    let (_, names, _) = NAMES.iter().find(|(built_in, ..)| *built_in == long)?;
    let key = names.iter().find_map(|name| known.iter().find(|key| plain(key) == *name))?;
    Some(as_written(key))
}
