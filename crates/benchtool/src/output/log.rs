//! Events a line each: time, level, source, message, and the keys that the message does not tell.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;

use tamias::{Cell, Expression, Instant, Kind, Parameters};
use tamias_json::{Document, Map, Value};
use unicode_width::UnicodeWidthStr;

use super::level::{DIM, LEVELS, Told, WORD_COLUMNS_MAX, at, level_of};
use super::row::{Look, RowWriter, flush, json_text, write};
use super::text::{json_string, write_object};
use crate::failure::Failure;
use crate::units::{fit, printable_line};
use crate::wrap::wrap;

/// The keys under which logs of all sorts have where an event comes from, and below them its message, in the order of
/// [`LEVELS`].
const SOURCES: [&str; 12] = [
    "SourceContext",
    "Application",
    "logger",
    "Logger",
    "service",
    "Service",
    "component",
    "Component",
    "target",
    "SYSLOG_IDENTIFIER",
    "_COMM",
    "ProviderName",
];
pub(crate) const MESSAGES: [&str; 21] = [
    "@m",
    "message",
    "Message",
    "msg",
    "MESSAGE",
    "@message",
    // Of Serilog's own JSON, and of GELF.
    "RenderedMessage",
    "short_message",
    "text",
    "log",
    "Content",
    // Of tracing-subscriber.
    "fields.message",
    "event.message",
    // Of OpenTelemetry, of Google Cloud, and of structlog.
    "Body",
    "jsonPayload.message",
    "textPayload",
    "event",
    "body",
    // Of Okta, of Falco, and of Splunk.
    "displayMessage",
    "output",
    "_raw",
];

/// Keys of CLEF that a line has already, or that tell people nothing.
const HIDDEN: [&str; 4] = ["@t", "@mt", "@i", "@r"];

/// On a terminal a value takes no more columns than this; other formats show it whole.
const VALUE_COLUMNS_MAX: usize = 100;
/// On a terminal no more lines of a message are shown.
const MESSAGE_LINES_MAX: usize = 10;
/// Even on a narrow one, and behind a long name, it may take as many.
const VALUE_COLUMNS_MIN: usize = 20;

/// How far the rest of a line is indented that is longer than the terminal is wide.
const CONTINUED: usize = 4;

const PLAIN: &str = "\x1b[0m";

/// Rows as the lines of a log.
pub(super) struct LogRows<'a> {
    look: Look<'a>,
    names: Vec<Vec<u8>>,
    /// The columns of the event's time and of the event.
    time: Option<usize>,
    data: Option<usize>,
    /// What renders a message from its template.
    message: Option<Expression>,
    out: &'a mut dyn Write,
}

impl<'a> LogRows<'a> {
    pub(super) fn new(columns: &[String], look: Look<'a>, out: &'a mut dyn Write) -> Self {
        let column = |name: &str| columns.iter().position(|column| column == name);
        LogRows {
            look,
            names: columns.iter().map(|name| json_string(name)).collect(),
            time: column("@Timestamp"),
            data: column("@Data"),
            message: Expression::prepare("@Message", &Parameters::new()).ok(),
            out,
        }
    }

    /// The event of a row; where there is none, the row itself.
    fn event<'c>(&self, cells: &[Cell<'c>]) -> Cow<'c, [u8]> {
        let data = self.data.and_then(|data| cells.get(data)).filter(|data| data.kind() == Kind::Object);
        match data.and_then(|data| data.json()) {
            Some(json) => Cow::Borrowed(json),
            None => {
                let mut object = Vec::new();
                write_object(&self.names, cells, self.look.shown, &mut object);
                object.truncate(object.trim_ascii_end().len());
                Cow::Owned(object)
            }
        }
    }

    /// When the event happened, by the row or by the event itself.
    fn instant(&self, cells: &[Cell<'_>], event: &Map<'_>) -> Option<Instant> {
        let cell = self.time.and_then(|time| cells.get(time)).and_then(|cell| cell.json());
        match cell {
            Some(json) => std::str::from_utf8(json).ok()?.parse().ok().and_then(Instant::from_ticks),
            None => event.get("@t")?.as_str()?.text().parse().ok(),
        }
    }

    /// The key and the text of an event's message.
    fn message(&self, event: &Map<'_>) -> Option<(&'static str, String)> {
        if let (None, Some(_), Some(message)) = (event.get("@m"), event.get("@mt"), &self.message) {
            let json = message.eval(&String::from_utf8_lossy(event.raw())).ok()??;
            return Some(("@mt", json_text(json.as_bytes()).into_owned()));
        }
        let (key, text) = MESSAGES.iter().find_map(|key| Some((*key, at(event, key)?.as_str()?.text())))?;
        // Docker keeps the end of the line.
        Some((key, text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    fn line(&self, cells: &[Cell<'_>], event: &Map<'_>) -> String {
        let instant = self.instant(cells, event);
        let level = level_of(event);
        let source = SOURCES.iter().find_map(|key| Some((*key, event.get(key)?.as_str()?.text())));
        let message = self.message(event);
        let template =
            event.get("@mt").and_then(|template| template.as_str()).map(|template| template.text());
        let told_of = template.as_ref().map(|template| holes(template)).unwrap_or_default();

        let mut parts = Vec::new();
        if let Some(instant) = instant {
            parts.push(self.dim(&self.look.shown.log_text(instant)));
        }
        match &level {
            Some((_, Told::Known(level))) => {
                parts.push(self.colored(level.color(), &format!("{:<5}", level.name())))
            }
            Some((_, Told::Word(word))) => {
                parts.push(format!("{:<5}", fit(&printable_line(word), WORD_COLUMNS_MAX)))
            }
            None => {}
        }
        if let Some((_, source)) = &source {
            parts.push(self.dim(&printable_line(source)));
        }
        if let Some((_, message)) = &message {
            parts.push(self.shortened(&printable_line(message)));
        }
        let message_key = message.as_ref().map(|(key, _)| *key);
        // A word that is no level to us may be something else, unless CLEF says that it is one.
        let is_level = |key: &str, told: &Told| key == LEVELS[0] || matches!(told, Told::Known(_));
        let level_key = level.filter(|(key, told)| is_level(key, told)).map(|(key, _)| key);
        let used = [level_key, source.map(|(key, _)| key), message_key];
        let mut tell = |key: &str, value: &Value<'_>| {
            let text = json_text(value.raw());
            let is_told = HIDDEN.contains(&key)
                || used.contains(&Some(key))
                || told_of.contains(key)
                || message.as_ref().is_some_and(|(_, message)| *message == text)
                || MESSAGES.contains(&key)
                    && template.as_ref().is_some_and(|template| may_render(template, &text))
                || (instant.is_some() && is_time(&text, instant));
            if !is_told {
                let name = format!("{}=", printable_line(key));
                let value = self.value(&text, name.width());
                parts.push(format!("{}{value}", self.dim(&name)));
            }
        };
        for (key, value) in event.entries() {
            let key = key.text();
            let is_used_of = |used: &&str| used.strip_prefix(&*key).is_some_and(|rest| rest.starts_with('.'));
            match &value {
                // The rest of an object that the line has something of already.
                Value::Map(object) if used.iter().flatten().any(is_used_of) => {
                    for (inner, value) in object.entries() {
                        tell(&format!("{key}.{}", inner.text()), &value);
                    }
                }
                value => tell(&key, value),
            }
        }
        parts.join(" ")
    }

    /// A message as it is, or the beginning of one that would fill a screen.
    fn shortened(&self, message: &str) -> String {
        match self.look.screen.columns().map(|columns| fit(message, columns * MESSAGE_LINES_MAX)) {
            Some(Cow::Owned(cut)) => format!("{cut} (--format vertical shows all)"),
            Some(Cow::Borrowed(_)) | None => message.to_owned(),
        }
    }

    /// A value behind a name of so many columns.
    fn value(&self, text: &str, name_columns: usize) -> String {
        let text = printable_line(text);
        let text = match self.look.screen.columns() {
            Some(columns) => {
                // With its name and two quotes it fits a line.
                let room = columns.saturating_sub(CONTINUED + name_columns + 2);
                fit(&text, room.clamp(VALUE_COLUMNS_MIN, VALUE_COLUMNS_MAX))
            }
            None => text,
        };
        match text.is_empty() || (text.contains([' ', '"', '=']) && !text.starts_with(['{', '['])) {
            true => format!("\"{}\"", text.replace('"', "\\\"")),
            false => text.into_owned(),
        }
    }

    fn dim(&self, text: &str) -> String {
        self.colored(DIM, text)
    }

    fn colored(&self, color: &str, text: &str) -> String {
        if self.look.screen.has_color { format!("{color}{text}{PLAIN}") } else { text.to_owned() }
    }
}

impl RowWriter for LogRows<'_> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        let event = self.event(cells);
        let line = match Document::scan_trusted(&event) {
            Ok(document) => self.line(cells, &document.root()),
            // What is no object is shown as it is.
            Err(_) => printable_line(&String::from_utf8_lossy(&event)).into_owned(),
        };
        let line = match self.look.screen.columns() {
            Some(columns) => wrap(&line, columns, CONTINUED),
            None => line,
        };
        write(self.out, format!("{line}\n").as_bytes())
    }

    fn end(&mut self) -> Result<(), Failure> {
        flush(self.out)
    }
}

/// Whether a text is the time of the event, which the line begins with.
fn is_time(text: &str, instant: Option<Instant>) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    // Shorter ones are days or numbers, if anything.
    is_digit(text.as_bytes().first())
        && text.len() >= 10
        && (text.parse().ok() == instant || Instant::from_unix_text(text).ok() == instant)
}

/// Whether a text may be what a template with formats renders to: it has all that stands between the holes.
fn may_render(template: &str, text: &str) -> bool {
    let has_format = |hole: &str| hole.split_once('}').is_some_and(|(hole, _)| hole.contains([':', ',']));
    if template.contains("{{") || !template.split('{').skip(1).any(has_format) {
        return false;
    }
    let between = template.split('{').map(|part| part.split_once('}').map_or(part, |(_, behind)| behind));
    // Nearly anything would do else.
    if !between.clone().any(|part| part.contains(char::is_alphabetic)) {
        return false;
    }
    let mut rest = Some(text);
    for (number, part) in between.enumerate() {
        rest = rest.and_then(|rest| match number {
            0 => rest.strip_prefix(part),
            _ => rest.find(part).and_then(|at| rest.get(at + part.len()..)),
        });
    }
    let end = template.rsplit('}').next().unwrap_or_default();
    rest.is_some() && text.ends_with(end)
}

/// The keys that a template of a message has holes for: `{Key}`, `{@Key}`, `{Key:format}` or `{Key,width}`.
fn holes(template: &str) -> HashSet<&str> {
    let name = |hole| {
        let hole: &str = hole;
        let hole = hole.strip_prefix(['@', '$']).unwrap_or(hole);
        hole.find(['}', ':', ',']).map(|end| &hole[..end])
    };
    template.split('{').skip(1).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Format;
    use crate::instants::{Shown, Zone};
    use crate::screen::Screen;

    #[track_caller]
    fn check(event: &str, expected: &str) {
        let shown = Shown::of_columns(vec![false], &Zone::parse("+02:00").unwrap(), false);
        let look = Look { format: Format::Log, shown: &shown, screen: Screen::terminal(80) };
        let mut out = Vec::new();
        let mut log = LogRows::new(&["@Data".to_owned()], look, &mut out);
        log.row(&[Cell::of_json(event.as_bytes())]).unwrap();
        drop(log);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn the_holes_of_a_template_name_keys() {
        let found = holes("{A} {@B:0.0} {$C,7} {D {E} F} {{G}} {");
        assert_eq!(found, HashSet::from(["A", "B", "C", "E", "G"]));
    }

    #[test]
    fn a_line_tells_each_thing_once() {
        check(
            r#"{"@t":"2024-05-29T10:56:01.5Z","@mt":"Hi {User}, {Count}","User":"al","Count":7,"Rest":{"a":1}}"#,
            r#"2024-05-29T12:56:01.500+02:00 INFO  Hi al, 7 Rest={"a":1}"#,
        );
        check(
            r#"{"@t":"2024-05-29T10:56:01Z","@l":"Warning","SourceContext":"Shop","@m":"low","N":"a b","E":""}"#,
            r#"2024-05-29T12:56:01.000+02:00 WARN  Shop low N="a b" E="""#,
        );
        check(r#"{"ts":1,"severity":"crit","msg":"gone"}"#, "FATAL gone ts=1");
        check(r#"{"PRIORITY":"4","MESSAGE":"odd"}"#, "WARN  odd");
        check(r#"{"a":"x","@l":"Custom"}"#, "Custom a=x");
        check(r#"{"log":"of a line\n","stream":"stdout"}"#, "of a line stream=stdout");
    }

    /// Any number was one of syslog, and what was not known was an information.
    #[test]
    fn levels_are_told_by_what_wrote_them() {
        for (event, level) in [
            (r#""Channel":"System","Level":2"#, "ERROR Channel=System"),
            (r#""EventID":7,"@l":"1""#, "FATAL EventID=7"),
            (r#""ProviderGuid":"x","Level":0"#, "INFO  ProviderGuid=x"),
            (r#""Level":2"#, "FATAL"),
            (r#""levelno":40"#, "ERROR"),
            (r#""level":40"#, "WARN "),
            (r#""level":40000"#, "ERROR"),
            (r#""SeverityNumber":17"#, "ERROR"),
            (r#""severityLevel":2"#, "WARN "),
            (r#""level":"E""#, "ERROR"),
            (r#""level":"W""#, "WARN "),
            (r#""level":"[ERROR]""#, "ERROR"),
            (r#""level":"dpanic""#, "FATAL"),
            (r#""level":"Fehler""#, "Fehler level=Fehler"),
            (r#""level":50,"Channel":"web""#, "ERROR Channel=web"),
            (r#""level":"Metadata!""#, "level=Metadata!"),
            (r#""level":400"#, "level=400"),
            (r#""a":1"#, "INFO  a=1"),
        ] {
            check(
                &format!(r#"{{"@t":"2024-05-29T10:56:01Z",{event}}}"#),
                &format!("2024-05-29T12:56:01.000+02:00 {level}"),
            );
        }
    }

    /// A message that only formats a number otherwise than it is here was told a second time.
    #[test]
    fn a_rendered_message_is_told_once() {
        check(
            r#"{"@t":"2024-05-29T10:56:01Z","@mt":"Took {Elapsed:0.0000} ms","Elapsed":1.5,"Message":"Took 1.5000 ms"}"#,
            "2024-05-29T12:56:01.000+02:00 INFO  Took 1.5 ms",
        );
        for (template, text, is_it) in [
            ("Took {Elapsed:0.0} ms", "Took 2.0 ms", true),
            ("Took {Elapsed:0.0} ms", "Took 2.0 s", false),
            ("{A} took {B,5:0}", "x took 1", true),
            ("Took {Elapsed} ms", "Took 2.0 ms", false),
            ("no hole", "no hole", false),
            ("{A:l} {B:l}", "any words", false),
        ] {
            assert_eq!(may_render(template, text), is_it, "{template} {text}");
        }
    }

    /// The level of an audit, or what a customer pays for, stood where the level of a log stands, and its value was hidden.
    #[test]
    fn a_level_is_one_by_its_value() {
        check(r#"{"level":"RequestResponse","verb":"get"}"#, "level=RequestResponse verb=get");
        check(r#"{"level":400,"level_name":"ERROR","message":"x"}"#, "ERROR x level=400");
        check(r#"{"@level":"warn","@message":"hc","a":1}"#, "WARN  hc a=1");
        check(r#"{"level":{"a":1},"severity":"INFO"}"#, r#"INFO  level={"a":1}"#);
    }

    #[test]
    fn a_line_is_one_line_and_commands_nothing() {
        check(
            "{\"@l\":\"\\u001b[2J\",\"msg\":\"two\\nlines \\u001b[31m\u{202e}\",\"k\u{9b}\":\"\\u0007\"}",
            "\\u001b[… two\\nlines \\u001b[31m\\u202e k\\u009b=\\u0007",
        );
    }
}
