//! What a source is that is not JSON in UTF-8, and how to convert it.

use std::path::Path;

use crate::program;
use crate::recipes::{Foreign, TIMED, packed};
use crate::refusals::Refusal;
use crate::source::unpacker;

/// How other formats begin; no text does.
const MAGIC: [(&[u8], Foreign); 5] = [
    (b"\xfd7zXZ\0", packed("packed with xz", "xz -dc")),
    (b"BZh", packed("packed with bzip2", "bzip2 -dc")),
    (b"\x04\x22\x4d\x18", packed("packed with lz4", "lz4 -dc")),
    (b"PK\x03\x04", packed("a zip archive", UNZIP)),
    (b"PAR1", packed("a Parquet file", "pqrs cat --json")),
];

/// What takes the files out of a zip archive.
const UNZIP: &str = "unzip -p";

/// What a tar archive has after the name and the figures of its first file.
const TAR: (usize, &[u8], Foreign) = (257, b"ustar", packed("a tar archive", "tar -xOf"));

/// What makes UTF-8 of text that was written on Windows or in Latin-1. It leaves out the few bytes that mean nothing there, and does not
/// stop at them.
pub(crate) const FROM_LATIN1: &str = "iconv -c -f WINDOWS-1252 -t UTF-8";

const LATIN1: Foreign = Foreign {
    what: "not UTF-8",
    command: FROM_LATIN1,
    loses: " (if it was written on Windows or in Latin-1)",
    options: "",
};
const UTF16: Foreign = packed("UTF-16, not UTF-8", "iconv -f UTF-16 -t UTF-8");
const INDENTED: Foreign = packed("JSON with several lines per event", "jq -c .");
/// Tables by what is between their fields.
const TABLES: [(char, Foreign); 3] = [
    (',', packed("CSV, not JSON", "mlr --icsv --ojsonl cat")),
    (';', packed("CSV with semicolons, not JSON", "mlr --icsv --ifs ';' --ojsonl cat")),
    ('\t', packed("TSV, not JSON", "mlr --itsv --ojsonl cat")),
];
const SEQUENCE: Foreign = packed("a JSON text sequence (RFC 7464)", "jq --seq -r tojson");
const JOINED: Foreign = packed("JSON with several events on a line", "jq -c .");
const COMMAS: Foreign = packed("JSON with a comma behind each event", "sed 's/,[[:space:]]*$//'");

const TEXT: Foreign = Foreign {
    what: "text, not JSON",
    command: "jq -cR '{\"@m\": .}'",
    loses: " (the events get the current time, those in the lines are not read)",
    options: " --now",
};

const BINARY: Foreign = packed("binary, not JSON", "");

impl Foreign {
    /// What begins so and has lines of events between those of something else.
    pub(crate) fn around_events(bytes: &[u8]) -> Option<Foreign> {
        let (at, magic, tar) = TAR;
        // The name of its first file is filled up with zeros; no text has one.
        let is_tar = |name: &[u8], rest: &[u8]| name.contains(&0) && rest.starts_with(magic);
        bytes.split_at_checked(at).is_some_and(|(name, rest)| is_tar(name, rest)).then_some(tar)
    }

    /// What begins so and has no line that is an event; none if it is nothing known.
    pub(crate) fn known(bytes: &[u8]) -> Option<Foreign> {
        if let Some(tar) = Foreign::around_events(bytes) {
            return Some(tar);
        }
        if let Some((_, packed)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Some(*packed);
        }
        // A byte order mark, or a character of ASCII and half a character.
        if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..])
        {
            return Some(UTF16);
        }
        if bytes.starts_with(b"\x1e") {
            return Some(SEQUENCE);
        }
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
        let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
        if first.starts_with('{') {
            let is_inside = second.starts_with([' ', '\t']) && second.trim_start().starts_with('"');
            return match () {
                () if is_inside => Some(INDENTED),
                () if first.contains("}{") => Some(JOINED),
                () if first.trim_end().ends_with("},") => Some(COMMAS),
                () => None,
            };
        }
        let table = TABLES.into_iter().find(|(comma, _)| {
            first.contains(*comma)
                && first.split(*comma).all(is_name)
                && second.matches(*comma).count() >= first.matches(*comma).count()
        });
        table.map(|(_, foreign)| foreign)
    }

    /// What has many lines, none of which is an event; none if it may be broken JSON.
    pub(crate) fn likely(bytes: &[u8]) -> Option<Foreign> {
        let is_text = match std::str::from_utf8(bytes) {
            Ok(text) => !text.contains('\0'),
            // The last character may be cut.
            Err(error) => error.error_len().is_none(),
        };
        // Broken or very long JSON is told line by line.
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start();
        let is_json = text.starts_with(b"{") || begins_array(text);
        // The last line may be cut.
        let mut lines =
            bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).peekable();
        let is_latin1 = lines.peek().is_some() && lines.all(|line| std::str::from_utf8(line).is_err());
        let timed = || {
            let text = String::from_utf8_lossy(text);
            let names_fields = |line: &str| line.starts_with("#Fields: ") || line.starts_with("#separator ");
            let is_header = |line: &&str| line.starts_with('#') && !names_fields(line);
            let first = text.lines().find(|line| !is_header(line))?;
            let is_like = |form: &str| regex::Regex::new(form).is_ok_and(|form| form.is_match(first));
            TIMED.iter().find(|(form, _)| is_like(form)).map(|(_, foreign)| *foreign)
        };
        let likely = || match (is_json, is_text) {
            (true, false) if is_latin1 && !bytes.contains(&0) => Some(LATIN1),
            (true, _) => None,
            (false, true) => Some(timed().unwrap_or(TEXT)),
            (false, false) => bytes.contains(&0).then_some(BINARY),
        };
        Foreign::known(bytes).or_else(likely)
    }

    /// Why nothing of the source of this name is stored.
    pub(crate) fn refusal(self, source: &str, store: &Path) -> Refusal {
        Refusal { reason: self.what.to_owned(), text: self.explain(source, store) }
    }

    /// What the source of this name is, and how to store it.
    fn explain(self, source: &str, store: &Path) -> String {
        let Foreign { what, command, loses, options } = self;
        if command.is_empty() {
            return format!("{source} is {what}; nothing of it was stored");
        }
        let command = stored_from(&of_source(command, source), store, options);
        format!("{source} is {what}; nothing of it was stored. Convert it, for example{loses}:{command}")
    }
}

/// The command that stores what another one writes, on a line of its own, which is never wrapped.
pub(crate) fn stored_from(command: &str, store: &Path, options: &str) -> String {
    let store = quoted(&store.display().to_string());
    format!("\n  {command} | {} ingest {store} -{options}", program::name())
}

/// Whether an array may begin here: behind the bracket is an element of one, and not a word or a time, as in `[2026-11-23 10:00:00]`
/// and `[    0.000000] Linux version`.
fn begins_array(text: &[u8]) -> bool {
    const ARRAY: &str = r#"^\[\s*($|[\[{"\]]|(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?)(\s*(,|$)|\s*\][ \t]*(\r?\n|$|[,\]])))"#;
    regex::bytes::Regex::new(ARRAY).is_ok_and(|array| array.is_match(text))
}

/// Whether a field may be the name of a column.
fn is_name(field: &str) -> bool {
    let name = field.trim().trim_matches('"');
    let fits = |character: char| character.is_alphanumeric() || " _-.@/()".contains(character);
    !name.is_empty() && name.chars().all(fits) && name.chars().any(char::is_alphabetic)
}

/// A command that reads a source, as it is copied. What `ingest` unpacks by itself is packed for others.
pub(crate) fn of_source(command: &str, source: &str) -> String {
    let file = file_of(source);
    // It takes the standard input only where it is told so.
    let dash = if command == TAR.2.command { " -" } else { "" };
    match unpacker(Path::new(source)) {
        // It reads no pipe, and `funzip` takes the first file out of one.
        Some(unpacker) if command == UNZIP => format!("{unpacker} {file} | funzip"),
        Some(unpacker) => format!("{unpacker} {file} | {command}{dash}"),
        None => format!("{command} {file}"),
    }
}

/// A source as a command to copy names it.
pub(crate) fn file_of(source: &str) -> String {
    if Path::new(source).exists() { quoted(source) } else { "FILE".to_owned() }
}

/// A name as a shell reads it.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_known_by_how_they_begin() {
        for (bytes, kind) in [
            (&b"\xfd7zXZ\0\0\x04"[..], Some("packed with xz")),
            (b"BZh91AY", Some("packed with bzip2")),
            (b"PK\x03\x04\x14", Some("a zip archive")),
            (b"\xff\xfe{\0\"\0", Some(UTF16.what)),
            (b"{\0\"\0", Some(UTF16.what)),
            (b"\0{\0\"", Some(UTF16.what)),
            (b"{\n  \"a\": 1\n}\n", Some(INDENTED.what)),
            (b"\xef\xbb\xbf{\r\n  \"a\": 1\r\n}\r\n", Some(INDENTED.what)),
            (b"PAR1\x15\x04", Some("a Parquet file")),
            (b"time,level,text\n2024-05-29,INFO,\"a, b\"\n", Some("CSV, not JSON")),
            (b"\"time\";\"user name\"\n1;2\n", Some("CSV with semicolons, not JSON")),
            (b"time\tlevel\n1\t2\n", Some("TSV, not JSON")),
            // Broken JSON, text, and what is too short to tell.
            (b"{\"a\":1,\n{\"a\":2,\n", None),
            (
                b"Nov 22 10:00:00 web sshd[1]: closed, again\nNov 22 10:00:01 web sshd[1]: closed, again\n",
                None,
            ),
            (b"time,level\n", None),
            (b"1,2\n3,4\n", None),
            (b"", None),
        ] {
            assert_eq!(Foreign::known(bytes).map(|foreign| foreign.what), kind, "{:?}", bytes.escape_ascii());
        }
        assert_eq!(Foreign::likely("one\nzwö".as_bytes()), Some(TEXT));
        assert_eq!(Foreign::likely(&"one\nzwö".as_bytes()[..7]), Some(TEXT));
        assert_eq!(Foreign::likely(b"\x93NUMPY\x01\0v\0"), Some(BINARY));
        assert_eq!(Foreign::likely(b"{\"a\":\"caf\xe9\"}\n{\"a\":\"\xfc\"}\n{\"a"), Some(LATIN1));
        for array in ["[", "[]", "[{\"a\"", "[ [1", "[1, 2", "[1.5e3", "[1]\n[2]\n", "[\n  true,"] {
            assert_eq!(Foreign::likely(array.as_bytes()), None, "{array}");
        }
        for text in [
            "[Mon Nov 23",
            "[2026-11-23 10:00:00] local.ERROR: x",
            "[    0.000000] Linux version",
            "[core:error]",
            "[1] x",
        ] {
            assert!(Foreign::likely(text.as_bytes()).is_some(), "{text}");
        }
        for other in [&b"caf\xe9\n"[..], b"{\"a\":\n{\"b\":\n", b" [1,\n2,\n"] {
            assert_eq!(Foreign::likely(other), None, "{:?}", other.escape_ascii());
        }
    }

    #[test]
    fn names_are_quoted_for_a_shell() {
        for (name, text) in [("a/b-1.log", "a/b-1.log"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(name), text);
        }
    }
}
