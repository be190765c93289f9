//! What a word that somebody has begun to type may become: words of the language, and the keys of the store.

use std::collections::BTreeSet;

use tamias::{RunOptions, Store, Word, vocabulary};

use crate::failure::Failure;
use crate::sampled;

/// The words that can be completed, each once, in order.
#[derive(Debug, Default)]
pub(crate) struct Words(BTreeSet<String>);

/// Keys are looked for in so many events from the beginning of the store, and in as many from its end.
const EVENTS_LOOKED_AT: usize = 500;

/// Keys so many levels deep are completed.
const DEPTH: usize = 3;

impl Words {
    /// The words of the language, and the keys of some of the store's events.
    pub(crate) fn of(store: &Store) -> Result<Words, Failure> {
        let keys = sampled::keys(store, "true", EVENTS_LOOKED_AT, DEPTH, &RunOptions::default())?;
        Ok(Words::new(sampled::spellings(&keys).map(|(path, _)| path)))
    }

    pub(crate) fn new(keys: impl Iterator<Item = String>) -> Words {
        let words = vocabulary().map(|(word, what)| match what {
            Word::Function | Word::Aggregate => format!("{word}("),
            _ => word.to_owned(),
        });
        Words(words.chain(keys).collect())
    }

    /// Where the word before this place of the text begins, and what it may become, whatever the case of its letters. Nothing
    /// within a string or a comment, where there are no words of the language.
    pub(crate) fn complete(&self, text: &str, at: usize) -> (usize, Vec<String>) {
        let before = text.get(..at).unwrap_or(text);
        let start = before
            .rfind(|c: char| !is_part(c))
            .map_or(0, |last| last + before[last..].chars().next().map_or(1, char::len_utf8));
        let begun = &before[start..];
        if begun.is_empty() || State::Plain.after(before) != State::Plain {
            return (at, Vec::new());
        }
        let lower = begun.to_lowercase();
        let fitting = self.0.iter().filter(|word| word.to_lowercase().starts_with(&lower)).cloned();
        (start, fitting.collect())
    }
}

/// Whether a character can stand in a word that is completed.
fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '@' | '.')
}

/// Whether the end of a text ends a query: a semicolon, or an empty line behind it. A line that begins with a point is a
/// command by itself.
pub(crate) fn is_ended(text: &str) -> bool {
    is_ended_in(text, State::Plain.after(text))
}

/// The same for a text whose end is known to stand there.
pub(crate) fn is_ended_in(text: &str, state: State) -> bool {
    let is_command = text.trim_start().starts_with('.') || matches!(text.trim(), "exit" | "quit");
    let has_empty_line =
        text.lines().last().is_some_and(|line| line.trim().is_empty()) || text.ends_with('\n');
    text.trim().is_empty()
        || is_command
        || has_empty_line
        || (text.trim_end().ends_with(';') && state == State::Plain)
}

/// Whether a text ends within a string, or within brackets that are not closed.
pub(crate) fn is_open(text: &str) -> bool {
    let mut depth = 0i64;
    let end = State::Plain.walk(text, |plain| {
        let brackets = |kinds: [char; 3]| plain.matches(kinds).count() as i64;
        depth += brackets(['(', '[', '{']) - brackets([')', ']', '}']);
    });
    end == State::String || depth > 0
}

/// Where the end of a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Plain,
    String,
    Comment,
}

impl State {
    /// Where the end of more text stands, of whole lines.
    pub(crate) fn after(self, text: &str) -> State {
        self.walk(text, |_| {})
    }

    /// Goes through a text once, hands on what is neither in a string nor in a comment, and tells where its end stands.
    fn walk<'t>(mut self, text: &'t str, mut plain: impl FnMut(&'t str)) -> State {
        let mut rest = text;
        loop {
            let found = match self {
                State::Plain => opening(rest.as_bytes()),
                State::String => memchr::memchr(b'\'', rest.as_bytes()).map(|at| (at, 1, State::Plain)),
                State::Comment => memchr::memchr(b'\n', rest.as_bytes()).map(|at| (at, 1, State::Plain)),
            };
            // All of it is ASCII where a state ends, so that no character is cut.
            let (here, length, next) = found.unwrap_or((rest.len(), 0, self));
            if self == State::Plain {
                plain(&rest[..here]);
            }
            if found.is_none() {
                return self;
            }
            rest = &rest[here + length..];
            self = next;
        }
    }
}

/// Where the first string or comment begins, how long its beginning is, and which of the two.
fn opening(text: &[u8]) -> Option<(usize, usize, State)> {
    memchr::memchr2_iter(b'\'', b'-', text).find_map(|at| match (text[at], text.get(at + 1)) {
        (b'\'', _) => Some((at, 1, State::String)),
        (_, Some(b'-')) => Some((at, 2, State::Comment)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: (usize, &[&str])) {
        let keys = ["Elapsed", "Actor", "Actor.Name", "@Properties['a b']", "Łódź"];
        let words = Words::new(keys.into_iter().map(str::to_owned));
        let (start, found) = words.complete(text, text.len());
        assert_eq!(
            (start, found.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected.0, expected.1.to_vec())
        );
    }

    #[test]
    fn words_and_keys_are_completed() {
        check("sel", (0, &["select"]));
        check("select * from stream WHE", (21, &["where"]));
        check("select startsw", (7, &["StartsWith("]));
        check("select perc", (7, &["percentile("]));
        check("select count(ela", (13, &["Elapsed"]));
        check("select actor", (7, &["Actor", "Actor.Name"]));
        check("select Actor.n", (7, &["Actor.Name"]));
        check("select a=@prop", (9, &["@Properties", "@Properties['a b']"]));
        check("select łó", (7, &["Łódź"]));
        check("select ", (7, &[]));
        check("select xyz", (7, &[]));
        check("select a like 'sel", (18, &[]));
        check("select 'it''s' lim", (15, &["limit"]));
        check("-- sel", (6, &[]));
        check("-- 'tis\nsel", (8, &["select"]));
    }

    #[test]
    fn the_middle_of_a_text_is_completed_from_what_stands_before() {
        let words = Words::new(std::iter::empty());
        assert_eq!(words.complete("sel from stream", 3), (0, vec!["select".to_owned()]));
        assert_eq!(words.complete("sel", 99).1.len(), 1);
    }

    #[test]
    fn strings_and_brackets_are_open_until_they_are_closed() {
        for open in ["select 'a", "select (1", "select {a: [1, 2]", "select f(')'"] {
            assert!(is_open(open), "{open:?}");
        }
        for closed in ["select 1", "select (1)", "select '('", "select 1 -- (", "select 1)", "'it''s'"] {
            assert!(!is_open(closed), "{closed:?}");
        }
    }

    /// Each search for the end of a comment used to look for a string in all that follows.
    #[test]
    fn where_a_text_ends_is_told_piece_by_piece_as_in_whole() {
        let text = "a - b -- it's; \n'--' || 'c\nd'' ' -- e\n--;\n;-";
        for (at, _) in text.char_indices().filter(|(at, _)| text[..*at].ends_with('\n')) {
            let (first, rest) = text.split_at(at);
            assert_eq!(State::Plain.after(first).after(rest), State::Plain.after(text), "{at}");
        }
        let mut seen = String::new();
        State::Plain.walk(text, |plain| seen.push_str(plain));
        assert_eq!(seen, "a - b  ||  ;-");
    }

    #[test]
    fn queries_end_with_a_semicolon_or_an_empty_line() {
        for ended in [
            "",
            "  ",
            "select 1;",
            "select 1 ; ",
            "select\n1\n",
            "select 1\n  ",
            ".help",
            "exit",
            "select 'a;'';';",
        ] {
            assert!(is_ended(ended), "{ended:?}");
        }
        for open in ["select 1", "select 'a;", "select 1\nfrom stream", "select 1 -- not here;", "exit now"] {
            assert!(!is_ended(open), "{open:?}");
        }
    }
}
