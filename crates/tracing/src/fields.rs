//! Fields of spans and events as the members of a JSON object.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};

use tamias_json::write_json_string;
use tracing::field::{Field, Visit};

/// Names and values; a value is JSON text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Sets a field to a text.
    pub(crate) fn set_text(&mut self, name: &str, text: &str) {
        let mut json = Vec::new();
        write_json_string(text, &mut json);
        self.0.insert(name.to_owned(), String::from_utf8_lossy(&json).into_owned());
    }

    /// Takes those of another; they replace fields of the same names.
    pub(crate) fn extend(&mut self, others: &Fields) {
        self.0.extend(others.0.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// The same as fields of a span: their `message` is no event's.
    pub(crate) fn of_span(&mut self) {
        if let Some(message) = self.0.remove("@m") {
            self.0.insert("message".to_owned(), message);
        }
    }

    /// The JSON object of these fields.
    pub(crate) fn object(&self) -> String {
        let mut object = Vec::from(b"{");
        for (name, value) in &self.0 {
            if object.len() > 1 {
                object.push(b',');
            }
            write_json_string(name, &mut object);
            object.push(b':');
            object.extend_from_slice(value.as_bytes());
        }
        object.push(b'}');
        String::from_utf8_lossy(&object).into_owned()
    }

    fn set(&mut self, field: &Field, json: String) {
        self.0.insert(name(field), json);
    }
}

/// The name under which a field is stored: the message where CLEF has it, and a name that begins with `@` as CLEF has that.
fn name(field: &Field) -> String {
    match field.name() {
        "message" => "@m".to_owned(),
        name if name.starts_with('@') => format!("@{name}"),
        // What the standard library calls a raw identifier: a field of that name without the prefix.
        name => name.strip_prefix("r#").unwrap_or(name).to_owned(),
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        // A value whose `Debug` fails has the text that it wrote until then.
        let _ = write!(text, "{value:?}");
        self.set_text(&name(field), &text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set_text(&name(field), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.to_string());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.to_string());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.to_string());
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.set(field, value.to_string());
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.set(field, value.to_string());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        match value.is_finite() {
            true => self.set(field, format!("{value:?}")),
            // JSON has no such number.
            false => self.set_text(&name(field), &value.to_string()),
        }
    }

    fn record_error(&mut self, field: &Field, error: &(dyn std::error::Error + 'static)) {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            let _ = write!(text, ": {error}");
            source = error.source();
        }
        self.set_text(&name(field), &text);
    }
}
