//! JSON texts that are put together.

use tamias::Instant;

use crate::output::json_string;

/// A JSON object, member by member.
pub(crate) struct JsonObject(String);

impl JsonObject {
    pub(crate) fn new() -> JsonObject {
        JsonObject("{".to_owned())
    }

    /// Adds a member whose value is this JSON text.
    pub(crate) fn with(mut self, name: &str, json: &str) -> JsonObject {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&json_string(name));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    pub(crate) fn numbers(self, members: &[(&str, u64)]) -> JsonObject {
        members.iter().fold(self, |object, (name, number)| object.with(name, &number.to_string()))
    }

    pub(crate) fn range(self, range: Option<(Instant, Instant)>) -> JsonObject {
        let time = |instant: Option<Instant>| or_null(instant, |instant| json_string(&instant.to_string()));
        self.with("first", &time(range.map(|(first, _)| first)))
            .with("last", &time(range.map(|(_, last)| last)))
    }

    pub(crate) fn done(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// An array of JSON texts.
pub(crate) fn json_array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// `null` where there is no value.
pub(crate) fn or_null<T>(value: Option<T>, json: impl FnOnce(T) -> String) -> String {
    value.map_or("null".to_owned(), json)
}
