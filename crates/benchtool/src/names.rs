//! Whether events have their level and their message where queries look for them, or under the keys of other logs.

use tamias_json::validate::minify_object;
use tamias_json::{Document, Map, Value};

use crate::cli::IngestArgs;
use crate::output::{LEVELS, MESSAGES, at, is_level};

/// What some events were seen to have.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Whether one has a level, a message or a template as CLEF has it.
    is_clef: bool,
    level: Option<Place>,
    message: Option<Place>,
    events: u64,
    /// Whether one has the key of --level-key, or a level as CLEF has it; and so for messages.
    have_named: [bool; 2],
    /// Whether one has the key of --level-key as a path only; and so for messages.
    have_paths: [bool; 2],
    /// Whether one has a message of bytes, as journald writes what is no plain text.
    pub(crate) has_bytes: bool,
    /// The key of messages of which one is a JSON object, as Docker and CloudWatch keep the lines of programs.
    pub(crate) json_in: Option<&'static str>,
    /// Whether all begin with an id as `export --ids` writes it, if there are any.
    have_ids: Option<bool>,
}

/// The key of messages that journald writes.
pub(crate) const JOURNALD: &str = "MESSAGE";

/// Where events have their level or their message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    key: &'static str,
    /// Whether it lies in an object; then the options of `ingest` do not reach it.
    is_nested: bool,
}

/// A key as queries write it, without the built-ins.
pub(crate) fn path(key: &str) -> String {
    match key.strip_prefix('@') {
        Some(_) if key != MESSAGES[0] => format!("@Properties['{key}']"),
        _ => key.to_owned(),
    }
}

impl Names {
    /// Looks at an event, of which the options name these keys; what is none is passed over. Takes time linear in its length.
    pub(crate) fn look(&mut self, document: &[u8], named: [Option<&str>; 2]) {
        let mut minified = Vec::new();
        if minify_object(document, &Default::default(), &mut minified).is_err() {
            return;
        }
        let Ok(document) = Document::scan_trusted(&minified) else { return };
        let event = document.root();
        self.is_clef |= ["@l", "@m", "@mt"].iter().any(|key| event.get(key).is_some());
        self.events += 1;
        let clef = [&["@l"][..], &["@m", "@mt"]];
        for ((have, named), clef) in self.have_named.iter_mut().zip(named).zip(clef) {
            *have |= named.into_iter().chain(clef.iter().copied()).any(|key| event.get(key).is_some());
        }
        let event = &event;
        for (has, named) in self.have_paths.iter_mut().zip(named) {
            *has |= named.is_some_and(|named| event.get(named).is_none() && has_path(event, named));
        }
        let first = |keys: &[&'static str], is_meant: &dyn Fn(&str, &Value<'_>) -> bool| {
            let key = *keys.iter().find(|key| at(event, key).is_some_and(|value| is_meant(key, &value)))?;
            Some(Place { key, is_nested: event.get(key).is_none() })
        };
        let is_level = |key: &str, value: &Value<'_>| is_level(event, key, value);
        self.level = self.level.or_else(|| first(&LEVELS[1..], &is_level));
        self.message = self.message.or_else(|| first(&MESSAGES[1..], &|_, value| value.as_str().is_some()));
        self.has_bytes |= matches!(event.get(JOURNALD), Some(Value::Array(_)));
        let is_json = |key: &&&str| event.get(key).is_some_and(|value| holds_json(&value));
        self.json_in = self.json_in.or_else(|| MESSAGES.iter().find(is_json).copied());
        let id = minified.strip_prefix(b"{\"@Id\":\"").and_then(|rest| rest.split_first_chunk::<33>());
        let has_id =
            id.is_some_and(|([hex @ .., end], _)| *end == b'"' && hex.iter().all(u8::is_ascii_hexdigit));
        self.have_ids = Some(self.have_ids.unwrap_or(true) && has_id);
    }

    /// Where levels and messages seem to be that queries do not find; an empty text if that is nowhere, or they find them.
    fn elsewhere(&self) -> [Option<(&'static str, Place)>; 2] {
        let found = |name: &'static str, place: Option<Place>| {
            place.filter(|_| !self.is_clef).map(|place| (name, place))
        };
        [found("level", self.level), found("message", self.message)]
    }

    /// What whoever stores these events may want to know before it is done.
    pub(crate) fn hints(&self, args: &IngestArgs) -> Vec<String> {
        let mut hints = Vec::new();
        let elsewhere = self.elsewhere();
        for (name, Place { key, .. }) in elsewhere.into_iter().flatten().filter(|(_, place)| place.is_nested)
        {
            hints.push(format!("{name}s seem to be in `{key}`, as queries name it"));
        }
        let flat = |found: Option<(&'static str, Place)>| {
            found.filter(|(_, place)| !place.is_nested).map(|(name, place)| (name, place.key))
        };
        let [level, message] = elsewhere.map(flat);
        for ((((option, key), have), has_path), meant) in
            [("--level-key", &args.level_key), ("--message-key", &args.message_key)]
                .into_iter()
                .zip(self.have_named)
                .zip(self.have_paths)
                .zip([level, message])
        {
            if let (Some(key), false, true) = (key, have, has_path) {
                hints.push(format!(
                    "{option} {key}: only a top-level key can be renamed, so nothing was; queries find it as {key}"
                ));
            } else if let (Some(key), false) = (key, have) {
                let meant = meant.map_or(String::new(), |(_, meant)| format!("; did you mean `{meant}`?"));
                let events = match self.events {
                    1 => "the first event does not have".to_owned(),
                    events => format!("none of the first {events} events has"),
                };
                hints.push(format!("{option} {key}: {events} `{key}`{meant}"));
            }
        }
        let found =
            [level.filter(|_| args.level_key.is_none()), message.filter(|_| args.message_key.is_none())];
        let found: Vec<(&str, &str)> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            let places: Vec<String> =
                found.iter().map(|(name, key)| format!("{name}s seem to be in `{key}`")).collect();
            let options: Vec<String> =
                found.iter().map(|(name, key)| format!("--{name}-key {key}")).collect();
            let (places, options) = (places.join(", "), options.join(" "));
            hints.push(format!(
                "{places}; with {options} queries find them as {}. Options apply to new lines only: to have them for these events, \
                 ingest the file into a new store",
                builtins(&found)
            ));
        }
        if self.have_ids == Some(true) {
            let hint = "each line begins with an `@Id`, as `export --ids` writes it; --keep-ids restores the ids in a new store";
            hints.push(hint.to_owned());
        }
        hints
    }

    /// What may mislead in a query that names the level, or the message, of a store whose first events were looked at.
    pub(crate) fn warnings(&self, query: &str) -> [Option<String>; 2] {
        let [level, message] = self.elsewhere();
        let named = |builtin: &str| query.contains(builtin);
        let option = |(name, Place { key, is_nested }): (&str, Place), builtin: &str| match is_nested {
            true => String::new(),
            false => format!(" (`ingest --{name}-key {key}` into a new store makes it {builtin})"),
        };
        let level = level.filter(|_| named("@Level")).map(|level| {
            format!(
                "the store's first events have no `@l`, so that @Level is 'Information'; did you mean `{}`?{}",
                path(level.1.key),
                option(level, "@Level")
            )
        });
        let message = message.filter(|_| named("@Message")).map(|message| {
            format!(
                "the store's first events have neither `@m` nor `@mt`, so that @Message is undefined; did you mean `{}`?{}",
                path(message.1.key),
                option(message, "@Message")
            )
        });
        [level, message]
    }
}

/// Whether a value is the text of a JSON object.
fn holds_json(value: &Value<'_>) -> bool {
    let text = value.as_str().map(|text| text.text());
    text.is_some_and(|text| {
        text.starts_with('{') && minify_object(text.as_bytes(), &Default::default(), &mut Vec::new()).is_ok()
    })
}

/// Whether a member of a member has this path.
fn has_path(event: &Map<'_>, path: &str) -> bool {
    let mut names = path.split('.');
    let first = names.next().and_then(|first| event.get(first));
    names.try_fold(first, |value, name| Some(value?.as_map()?.get(name))).flatten().is_some()
}

fn builtins(found: &[(&str, &str)]) -> String {
    let names = found.iter().map(|(name, _)| if *name == "level" { "@Level" } else { "@Message" });
    names.collect::<Vec<&str>>().join(" and ")
}
