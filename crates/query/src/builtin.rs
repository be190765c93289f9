//! The built-in names of an event, `@Level` and its kin.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BuiltIn {
    Timestamp,
    Message,
    MessageTemplate,
    Level,
    Exception,
    EventType,
    Start,
    TraceId,
    SpanId,
    ParentId,
    SpanKind,
    Scope,
    Resource,
    Renderings,
    Elapsed,
    Id,
    Arrived,
    Properties,
    Data,
}

use BuiltIn::*;

/// Each with its names, and the key under which an event stores it.
const TABLE: [(BuiltIn, &str, Option<&str>); 19] = [
    (Timestamp, "@Timestamp", Some("@t")),
    (Message, "@Message", Some("@m")),
    (MessageTemplate, "@MessageTemplate", Some("@mt")),
    (Level, "@Level", Some("@l")),
    (Exception, "@Exception", Some("@x")),
    (EventType, "@EventType", Some("@i")),
    (Start, "@Start", Some("@st")),
    (TraceId, "@TraceId", Some("@tr")),
    (SpanId, "@SpanId", Some("@sp")),
    (ParentId, "@ParentId", Some("@ps")),
    (SpanKind, "@SpanKind", Some("@sk")),
    (Scope, "@Scope", Some("@sc")),
    (Resource, "@Resource", Some("@ra")),
    (Renderings, "@r", Some("@r")),
    (Elapsed, "@Elapsed", None),
    (Id, "@Id", None),
    (Arrived, "@Arrived", None),
    (Properties, "@Properties", None),
    (Data, "@Data", None),
];

impl BuiltIn {
    /// The built-in called `name`, with its `@`.
    pub(crate) fn named(name: &str) -> Option<BuiltIn> {
        TABLE.iter().find(|(_, long, key)| *long == name || *key == Some(name)).map(|(which, ..)| *which)
    }

    /// Every name, the long ones first.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|(_, long, _)| *long).chain(TABLE.iter().filter_map(|(.., key)| *key))
    }

    /// The key under which an event stores it, if it is stored.
    pub(crate) fn key(self) -> Option<&'static str> {
        TABLE.iter().find(|(which, ..)| *which == self).and_then(|(.., key)| *key)
    }

    fn name(self) -> &'static str {
        TABLE.iter().find(|(which, ..)| *which == self).map_or("", |(_, name, _)| name)
    }
}

impl fmt::Display for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of the user property that is stored under `key`; none where the key is a built-in's.
///
/// A property whose name begins with `@` is stored with it doubled.
pub(crate) fn property_name(key: &str) -> Option<&str> {
    match key.strip_prefix('@') {
        None => Some(key),
        Some(doubled) if doubled.starts_with('@') => Some(doubled),
        Some(_) if TABLE.iter().any(|(.., short)| *short == Some(key)) => None,
        Some(_) => Some(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_with_an_at_sign() {
        assert_eq!(property_name("Elapsed"), Some("Elapsed"));
        assert_eq!(property_name("@@x"), Some("@x"));
        assert_eq!(property_name("@@@x"), Some("@@x"));
        assert_eq!(property_name("@version"), Some("@version"));
        assert_eq!(property_name("@mt"), None);
        assert_eq!(property_name("@"), Some("@"));
    }

    #[test]
    fn long_and_short_names() {
        assert_eq!(BuiltIn::named("@l"), Some(Level));
        assert_eq!(BuiltIn::named("@Level"), Some(Level));
        assert_eq!(BuiltIn::named("@level"), None);
        assert_eq!(Level.key(), Some("@l"));
    }
}
