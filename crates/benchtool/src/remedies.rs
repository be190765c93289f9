//! What to do about a source whose time was not found.

use std::path::Path;
use std::str::FromStr;

use jiff::civil::DateTime;
use tamias::{TimeCandidate, TimeKeys};

use crate::foreign::{of_source, quoted, stored_from};
use crate::names::{JOURNALD, Names, path};
use crate::output::json_string;
use crate::units::printable;

/// So many keys that may be meant are named.
const NAMED_MAX: usize = 5;

/// What to do about a source of these keys; a command or options to copy stand at its end, on lines of their own.
pub(crate) fn remedy(source: &str, keys: &TimeKeys, store: &Path) -> String {
    let candidates = keys.candidates();
    if let Some(options) = abbreviated(keys) {
        return options;
    }
    let convertible = joined(source, keys, store).or_else(|| epoch_second(source, keys, store));
    if let Some(command) = convertible.or_else(|| date(source, keys, store)) {
        return command;
    }
    match (candidates.as_slice(), keys.list()) {
        ([], Some(list)) => {
            let what = format!("`{}` holds a list; if these are the events, use", printable(list));
            // A batch is no event that could have the time of now.
            let what = match keys.is_list_all() {
                true => what,
                false => format!(
                    "name the key of the time with --time-key, or use --now to store the events with the current time; {what}"
                ),
            };
            let program = match list {
                "resourceLogs" => OTLP_LOGS.to_owned(),
                "resourceSpans" => OTLP_SPANS.to_owned(),
                list => format!("{}[]", member(list)),
            };
            convert(&what, &program, source, store)
        }
        ([], _) => {
            "name the key with --time-key (and its format with --time-format, unless it is ISO 8601 or a Unix time), or use \
             --now to store the events with the current time"
                .to_owned()
        }
        ([one, ..], _) if !one.readings.is_empty() => with_format(one),
        (candidates, _) => by_name(candidates, keys.events()),
    }
}

/// The options that name a key which looks like a time, or several where no single one is in all of the events.
fn by_name(candidates: &[&TimeCandidate], events: u64) -> String {
    let readable = candidates.iter().filter(|candidate| candidate.readings.is_empty());
    let named: Vec<&str> = readable.take(NAMED_MAX).map(|candidate| candidate.key.as_str()).collect();
    let listed: Vec<String> = named.iter().map(|key| format!("`{}`", printable(key))).collect();
    let option = |keys: &str| format!("\n  --time-key {}", quoted(keys));
    let options: String = named.iter().map(|key| option(key)).collect();
    let is_in_all = candidates.first().is_some_and(|candidate| candidate.events == events);
    match named.as_slice() {
        [one] => format!("`{}` looks like a time; use{options}", printable(one)),
        several if is_in_all || several.iter().any(|key| key.contains(',')) => {
            format!("these look like times: {}; use one of{options}", listed.join(", "))
        }
        several => format!(
            "these look like times: {}; use one of them, or several, of which the first counts that an event has{}",
            listed.join(", "),
            option(&several.join(","))
        ),
    }
}

/// The options that read times whose zone is an abbreviation, as in `2024-05-29 10:56:01 CEST`: which zone that is, nobody can tell. And
/// those of times with the hours of half a day, as in `2024-05-29 10:56:01 PM`.
fn abbreviated(keys: &TimeKeys) -> Option<String> {
    let (key, text) = keys.unread()?;
    let (time, zone) = text.trim_matches('"').rsplit_once(' ')?;
    let is_zone = (2..=5).contains(&zone.len()) && zone.bytes().all(|byte| byte.is_ascii_uppercase());
    let at = DateTime::from_str(time).ok().filter(|_| time.contains(':'));
    let separator = if time.contains('T') { "T" } else { " " };
    if matches!(zone, "AM" | "PM") {
        let format = quoted(&format!("%Y-%m-%d{separator}%I:%M:%S%.f %p"));
        let is_read = at.is_some_and(|at| (1..=12).contains(&at.hour())) && time.matches(':').count() == 2;
        return is_read.then(|| {
            format!(
                "its hours are those of half a day; use\n  --time-key {} --time-format {format}",
                quoted(key)
            )
        });
    }
    let format = quoted(&format!("%Y-%m-%d{separator}%H:%M:%S%.f {zone}"));
    (is_zone && at.is_some()).then(|| {
        format!(
            "{zone} names no one zone; say which one it is, for example\n  --time-key {} --time-format {format} --time-zone Europe/Berlin",
            quoted(key)
        )
    })
}

/// What to do about times as Windows PowerShell writes them: milliseconds in a text. It writes an array.
fn date(source: &str, keys: &TimeKeys, store: &Path) -> Option<String> {
    let (key, _) = keys.unread().filter(|(_, text)| text.starts_with("\"/Date("))?;
    let key = member(key);
    let program = format!(
        "(arrays | .[]) // . | ({key} |= ((strings | capture(\"\\\\((?<ms>-?\\\\d+)\").ms | tonumber) // .))? // ."
    );
    Some(convert("convert it", &program, source, store))
}

/// What Elasticsearch and Splunk put around each event that they export.
const AROUND: [&str; 2] = ["_source", "result"];

/// How to store events otherwise than they are: with text for bytes, with keys for JSON in a text, and without what is around them.
pub(crate) fn conversions(names: &Names, time_key: Option<&str>, source: &str) -> Vec<String> {
    let convert = |what: &str, program: &str| {
        let what = format!("{what}, ingest the file into a new store");
        convert(&what, program, source, Path::new("NEW_STORE"))
    };
    let bytes = names.has_bytes.then(|| {
        let program =
            format!("{UTF8} if .{JOURNALD} | type == \"array\" then .{JOURNALD} |= utf8 else . end");
        convert(
            &format!("the `{JOURNALD}` of some events is an array of bytes; to store them as text"),
            &program,
        )
    });
    let json = names.json_in.map(|key| {
        let inner = member(key);
        // A time in the text is no better than that of the event.
        let outer = time_key.and_then(|key| key.split('.').next()).map(|key| {
            format!(" + ({{{}: {}}} | with_entries(select(.value)))", json_string(key), member(key))
        });
        let program = format!(
            "(({inner} | fromjson? | objects) as $inner | del({inner}) + $inner{}) // .",
            outer.unwrap_or_default()
        );
        let what = format!(
            "the `{key}` of some events is JSON, which queries read as FromJson({}).KEY; to store its keys as those of the event",
            path(key)
        );
        convert(&what, &program)
    });
    let objects = time_key.and_then(|key| key.split_once('.')).filter(|(object, _)| AROUND.contains(object));
    let around = objects.map(|(object, _)| {
        convert(&format!("the events are inside of `{object}`; to store them alone"), &member(object))
    });
    [bytes, json, around].into_iter().flatten().collect()
}

/// What makes text of bytes; `implode` takes each for a character. What is not UTF-8 becomes the character for that.
const UTF8: &str = concat!(
    "def utf8: reduce (.[], null) as $b ({chars: [], code: 0, left: 0}; ",
    "if .left > 0 and $b and $b >= 128 and $b < 192 ",
    "then .code = .code * 64 + $b - 128 | .left -= 1 | if .left == 0 then .chars += [.code] else . end ",
    "else (if .left > 0 then .chars += [65533] | .left = 0 else . end) | if $b == null then . ",
    "elif $b < 128 then .chars += [$b] elif $b < 192 or $b > 247 then .chars += [65533] ",
    "elif $b < 224 then .code = $b - 192 | .left = 1 elif $b < 240 then .code = $b - 224 | .left = 2 ",
    "else .code = $b - 240 | .left = 3 end end) ",
    "| .chars | map(if . > 1114111 or . > 55295 and . < 57344 then 65533 else . end) | implode;"
);

/// What makes events of the batches of OpenTelemetry, where they lie deeper: with the resource beside them, and attributes by name.
macro_rules! otlp {
    ($resources:literal, $groups:literal, $events:literal, $more:literal) => {
        concat!(
            "def flat: map(objects | {(.key | strings): (.value | objects | if .intValue then (.intValue | tonumber? // .) ",
            "else first(.[]) end)}) | add // {}; objects | ",
            $resources,
            "[]? | objects | .resource as $r | ",
            $groups,
            "[]? | objects | ",
            $events,
            "[]? | objects + {resource: $r} | ((.attributes, .resource.attributes?) | arrays) |= flat | ",
            $more
        )
    };
}
const OTLP_LOGS: &str =
    otlp!(".resourceLogs", ".scopeLogs", ".logRecords", "(.body | objects) |= (.stringValue // .)");
const OTLP_SPANS: &str = otlp!(".resourceSpans", ".scopeSpans", ".spans", ".time = .startTimeUnixNano");

/// What to do about events whose day and time of day are in two keys.
fn joined(source: &str, keys: &TimeKeys, store: &Path) -> Option<String> {
    let (day, clock) = (day(keys)?, keys.clock()?);
    let program = format!(".timestamp = {} + \"T\" + {}", member(day), member(clock));
    let what = format!("the time is in two keys, `{}` and `{}`; join them", printable(day), printable(clock));
    Some(convert(&what, &program, source, store))
}

/// What to do about events whose time is an object of seconds and nanoseconds, as Log4j 2 writes it.
fn epoch_second(source: &str, keys: &TimeKeys, store: &Path) -> Option<String> {
    let candidates = keys.candidates();
    let path = candidates.iter().find_map(|candidate| candidate.key.strip_suffix(".epochSecond"))?;
    let object: String = path.split('.').map(member).collect();
    let program = format!(
        "(.timestamp = ({object} | (.epochSecond | todate | rtrimstr(\"Z\")) + \".\" + \"000000000\\(.nanoOfSecond // 0)\"[-9:] + \"Z\"))? // ."
    );
    let what =
        format!("the time is in two keys of `{}`, seconds and nanoseconds; join them", printable(path));
    Some(convert(&what, &program, source, store))
}

/// The key that holds a day alone, where no other key holds a time.
pub(crate) fn day(keys: &TimeKeys) -> Option<&str> {
    let candidates = keys.candidates();
    let [one] = candidates.as_slice() else { return None };
    matches!(one.readings.as_slice(), [(DAY, _)]).then_some(one.key.as_str())
}

/// The format of a day alone.
const DAY: &str = "%Y-%m-%d";

/// What jq is to make of a source.
fn convert(what: &str, jq: &str, source: &str, store: &Path) -> String {
    let command = of_source(&format!("jq -c {}", quoted(jq)), source);
    format!("{what}{}", stored_from(&command, store, ""))
}

/// A member of an object, in the language of jq.
fn member(key: &str) -> String {
    if is_plain(key) { format!(".{key}") } else { format!(".[{}]", json_string(key)) }
}

/// The options that read a key whose times are written in an unusual way.
fn with_format(candidate: &TimeCandidate) -> String {
    let TimeCandidate { key, example, readings, .. } = candidate;
    let example = printable(example);
    // On lines of their own, which are never wrapped, so that they can be copied.
    let option = |format: &str| format!("\n  --time-key {} --time-format {}", quoted(key), quoted(format));
    match readings.as_slice() {
        [(format, _)] => format!("`{key}` looks like a time ({example}); use{}", option(format)),
        readings => {
            let options = readings.iter().map(|(format, time)| format!("{}  # {time}", option(format)));
            format!(
                "`{key}` looks like a time, but {example} has several meanings; use one of{}",
                options.collect::<String>()
            )
        }
    }
}

/// Whether a key needs no quotes.
fn is_plain(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}
