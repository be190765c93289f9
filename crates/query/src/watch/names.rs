//! Names of keys that were probably meant.

use crate::expr::property;

/// The name of a key as people write it: a flat key with points as a path.
pub(super) fn as_written(name: &str) -> String {
    let is_name = |part: &str| property(part) == part;
    if name.contains('.') && name.split('.').all(is_name) { name.to_owned() } else { property(name) }
}

/// The built-in that a key of this name is in other logs, if events have it.
pub(super) fn built_in(name: &str, is_there: impl Fn(&str) -> bool) -> Option<&'static str> {
    let known = [
        ("@Timestamp", &["timestamp", "time", "ts", "date"][..], &[][..]),
        ("@Level", &["level", "severity", "loglevel"], &["@l"]),
        ("@Message", &["message", "msg"], &["@m", "@mt"]),
        ("@Exception", &["exception", "error", "stacktrace"], &["@x"]),
        ("@TraceId", &["traceid", "trace_id"], &["@tr"]),
        ("@SpanId", &["spanid", "span_id"], &["@sp"]),
        ("@Id", &["id"], &[]),
        ("Now()", &["now"], &[]),
    ];
    let (built_in, _, keys) =
        known.iter().find(|(_, names, _)| names.iter().any(|known| name.eq_ignore_ascii_case(known)))?;
    (keys.is_empty() || keys.iter().any(|key| is_there(key))).then_some(*built_in)
}
