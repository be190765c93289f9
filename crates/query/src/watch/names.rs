//! Names of keys that were probably meant.

use crate::expr::property;

/// The name of a key as people write it: a flat key with points as a path.
pub(super) fn as_written(name: &str) -> String {
    let is_name = |part: &str| property(part) == part;
    if name.contains('.') && name.split('.').all(is_name) { name.to_owned() } else { property(name) }
}

/// The built-in that a key of this name is in other logs.
pub(super) fn built_in(name: &str) -> Option<&'static str> {
    let known = [
        ("@Timestamp", &["timestamp", "time", "ts", "date"][..]),
        ("@Level", &["level", "severity", "loglevel"]),
        ("@Message", &["message", "msg"]),
        ("@Exception", &["exception", "error", "stacktrace"]),
        ("@TraceId", &["traceid", "trace_id"]),
        ("@SpanId", &["spanid", "span_id"]),
        ("@Id", &["id"]),
        ("Now()", &["now"]),
    ];
    let found = known.iter().find(|(_, names)| names.iter().any(|known| name.eq_ignore_ascii_case(known)));
    found.map(|(built_in, _)| *built_in)
}
