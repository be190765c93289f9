//! Patterns of `like`, compiled once.

use super::pattern::{Pattern, bytes, is_plain};
use crate::value::{Text, upper};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;

/// A pattern of `like`.
#[derive(Clone, Debug)]
pub(crate) struct Like {
    source: String,
    ci: bool,
    matcher: LikeMatcher,
    /// Of `ci` and a text of ASCII anywhere: that text.
    folded: Option<Box<str>>,
    /// Of `ci`, or where a single character may be any: what stands, in some case of its letters, in the stored bytes of each string that matches.
    core: Option<Box<str>>,
    /// Of `ci`: whether each string that matches has a character beyond ASCII.
    is_foreign: bool,
}

/// What a pattern of `like` asks for, where that can be searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LikeForm<'p> {
    /// The string is this text.
    Exact(&'p str),
    /// It begins with it.
    Prefix(&'p str),
    /// It ends with it.
    Suffix(&'p str),
    /// It has it in it.
    Contains(&'p str),
    /// It begins with the first of these, ends with the last, and has those between in their order. The first and the last may be empty.
    Pieces(&'p [String]),
    /// It matches this pattern.
    Matched(&'p Pattern),
    /// Anything else.
    Other,
}

#[derive(Clone, Debug)]
enum LikeMatcher {
    Exact(String),
    Prefix(String),
    Suffix(String),
    Contains(String, Box<Finder<'static>>),
    Pieces(Vec<String>, Regex),
    Matched(Box<Pattern>),
    Other(Regex),
}

impl Like {
    pub(crate) fn new(source: &str, ci: bool) -> Result<Like, String> {
        // Under `ci` both sides are upper-cased first, so the pattern itself is never folded.
        let parts = match ci {
            true => parse(&source.chars().map(upper).collect::<String>()),
            false => parse(source),
        };
        Like::of_parts(source, &parts, ci)
    }

    /// The same of parts whose texts are in upper case if it makes no difference.
    fn of_parts(source: &str, parts: &[LikePart], ci: bool) -> Result<Like, String> {
        let matcher = match parts {
            [] => LikeMatcher::Exact(String::new()),
            [LikePart::Text(text)] => LikeMatcher::Exact(text.clone()),
            [LikePart::Text(text), LikePart::Run] => LikeMatcher::Prefix(text.clone()),
            [LikePart::Run, LikePart::Text(text)] => LikeMatcher::Suffix(text.clone()),
            [LikePart::Run, LikePart::Text(text), LikePart::Run] => {
                LikeMatcher::Contains(text.clone(), Box::new(Finder::new(text).into_owned()))
            }
            parts => match pieces(parts) {
                Some(pieces) => LikeMatcher::Pieces(pieces, compiled(parts)?),
                None if ci => LikeMatcher::Other(compiled(parts)?),
                None => LikeMatcher::Matched(Box::new(pattern(parts)?)),
            },
        };
        let folded = match &matcher {
            LikeMatcher::Contains(text, _) if ci && text.is_ascii() && is_plain(text) => {
                Some(text.as_str().into())
            }
            _ => None,
        };
        let texts = parts.iter().filter_map(|part| match part {
            LikePart::Text(text) => Some(core_of(text)),
            LikePart::One | LikePart::Run => None,
        });
        // What is searched for as it is needs no text that is looked at first.
        let is_looked_at = match &matcher {
            LikeMatcher::Contains(text, _) => ci || !is_plain(text),
            LikeMatcher::Matched(_) | LikeMatcher::Other(_) => true,
            _ => ci,
        };
        let core = texts.max_by_key(|core| core.len()).filter(|_| is_looked_at);
        let core = core.filter(|core| !core.is_empty()).map(Box::from);
        // No character of ASCII is another one's upper case beyond it.
        let is_beyond_ascii = |part: &LikePart| matches!(part, LikePart::Text(text) if !text.is_ascii());
        let is_foreign = ci && parts.iter().any(is_beyond_ascii);
        Ok(Like { source: source.to_owned(), ci, matcher, folded, core, is_foreign })
    }

    /// That a text has another in it, whatever the case of letters; none where that is empty or the pattern is too long.
    pub(crate) fn containing(text: &str) -> Option<Like> {
        if text.is_empty() {
            return None;
        }
        // A text that begins with `%` has no pattern: the run before it would be taken for a part of it.
        let parts = [LikePart::Run, LikePart::Text(text.chars().map(upper).collect()), LikePart::Run];
        Like::of_parts(text, &parts, true).ok()
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn ci(&self) -> bool {
        self.ci
    }

    /// What finds the pattern's text where strings of ASCII are stored, if it is asked for in any case.
    pub(crate) fn folded(&self) -> Option<&str> {
        self.folded.as_deref()
    }

    /// What is to be found in the stored bytes of every string that matches, in some case of its letters, where more has to be looked at.
    pub(crate) fn core(&self) -> Option<&str> {
        self.core.as_deref()
    }

    /// What is to be searched for.
    pub(crate) fn form(&self) -> LikeForm<'_> {
        if self.ci { LikeForm::Other } else { self.form_in_any_case() }
    }

    /// The same without regard to whether the case of letters makes a difference.
    pub(crate) fn form_in_any_case(&self) -> LikeForm<'_> {
        match &self.matcher {
            LikeMatcher::Exact(text) => LikeForm::Exact(text),
            LikeMatcher::Prefix(text) => LikeForm::Prefix(text),
            LikeMatcher::Suffix(text) => LikeForm::Suffix(text),
            LikeMatcher::Contains(text, _) => LikeForm::Contains(text),
            LikeMatcher::Pieces(pieces, _) => LikeForm::Pieces(pieces),
            LikeMatcher::Matched(pattern) => LikeForm::Matched(pattern),
            LikeMatcher::Other(_) => LikeForm::Other,
        }
    }

    /// Whether each text that matches has a character beyond ASCII.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    pub(crate) fn is_match(&self, text: &Text<'_>) -> bool {
        let mut text = bytes(text);
        if self.ci {
            if self.is_foreign && text.is_ascii() {
                return false;
            }
            text = Cow::Owned(in_upper_case(&text));
        }
        match &self.matcher {
            LikeMatcher::Exact(exact) => *text == *exact.as_bytes(),
            LikeMatcher::Prefix(prefix) => text.starts_with(prefix.as_bytes()),
            LikeMatcher::Suffix(suffix) => text.ends_with(suffix.as_bytes()),
            LikeMatcher::Contains(_, finder) => finder.find(&text).is_some(),
            LikeMatcher::Matched(pattern) => pattern.is_match_unescaped(&text),
            LikeMatcher::Pieces(_, regex) | LikeMatcher::Other(regex) => regex.is_match(&text),
        }
    }
}

/// The most bytes that a pattern takes when compiled.
const COMPILED_BYTES_MAX: usize = 10 << 20;

/// Parts of a pattern as a regular expression, which matches somewhere in a text.
fn regex_of<'p>(parts: impl IntoIterator<Item = &'p LikePart>) -> String {
    let of = |part: &LikePart| match part {
        LikePart::Text(text) => regex::escape(text),
        LikePart::One => ".".into(),
        LikePart::Run => ".*".into(),
    };
    parts.into_iter().map(of).collect()
}

/// The regular expression of whole texts.
fn compiled(parts: &[LikePart]) -> Result<Regex, String> {
    let regex = format!(r"(?s)\A{}\z", regex_of(parts));
    RegexBuilder::new(&regex).size_limit(COMPILED_BYTES_MAX).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("this pattern takes more than {limit} bytes when compiled, the limit")
        }
        error => format!("this pattern cannot be compiled: {error}"),
    })
}

/// The same without the runs at both ends, where it matches anywhere.
fn pattern(parts: &[LikePart]) -> Result<Pattern, String> {
    let (start, parts) = match parts {
        [LikePart::Run, parts @ ..] => ("", parts),
        parts => (r"\A", parts),
    };
    let (end, parts) = match parts {
        [parts @ .., LikePart::Run] => ("", parts),
        parts => (r"\z", parts),
    };
    let source = format!("(?s){start}{}{end}", regex_of(parts));
    let pattern = Pattern::new(&source, false, false, COMPILED_BYTES_MAX)
        .map_err(|reason| compiled(parts).err().unwrap_or(reason))?;
    // A text that matches has all of these in it.
    let texts = parts.iter().filter_map(|part| match part {
        LikePart::Text(text) => Some(text.as_str()),
        LikePart::One | LikePart::Run => None,
    });
    let is_other = |character| !is_stored_as_it_reads(character);
    let longest = texts.flat_map(|text| text.split(is_other)).max_by_key(|text| text.len());
    Ok(match longest {
        Some(text) if text.len() > 1 => pattern.that_needs(text),
        _ => pattern,
    })
}

/// A text with each of its characters in upper case.
fn in_upper_case(text: &[u8]) -> Vec<u8> {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    String::from_utf8_lossy(text).chars().map(upper).collect::<String>().into_bytes()
}

/// The texts between runs, with those before the first and behind the last; none where a single character may be any.
fn pieces(parts: &[LikePart]) -> Option<Vec<String>> {
    let mut pieces = vec![String::new()];
    for part in parts {
        match (part, pieces.last_mut()) {
            (LikePart::Text(text), Some(last)) => last.push_str(text),
            (LikePart::Run, _) => pieces.push(String::new()),
            (LikePart::One, _) | (_, None) => return None,
        }
    }
    Some(pieces)
}

fn is_stored_as_it_reads(character: char) -> bool {
    is_plain(character.encode_utf8(&mut [0; 4]))
}

/// The longest part of a text in upper case that no character beyond ASCII becomes, and that is stored as it reads.
fn core_of(text: &str) -> &str {
    let is_other = |character: char| {
        !is_stored_as_it_reads(character) || !character.is_ascii() || matches!(character, 'I' | 'S')
    };
    text.split(is_other).max_by_key(|part| part.len()).unwrap_or_default()
}

enum LikePart {
    Text(String),
    One,
    Run,
}

/// `%` is any run, `_` any one character, each doubled stands for itself.
fn parse(pattern: &str) -> Vec<LikePart> {
    let mut parts = Vec::new();
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let literal = !matches!(character, '%' | '_') || characters.next_if_eq(&character).is_some();
        match (literal, character, parts.last_mut()) {
            (true, _, Some(LikePart::Text(text))) => text.push(character),
            (true, _, _) => parts.push(LikePart::Text(character.into())),
            (false, '_', _) => parts.push(LikePart::One),
            (false, _, Some(LikePart::Run)) => {}
            (false, _, _) => parts.push(LikePart::Run),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn like(text: &str, pattern: &str) -> bool {
        Like::new(pattern, false).unwrap().is_match(&Text::Borrowed(text))
    }

    #[test]
    fn like_patterns() {
        assert!(
            like("abc", "a%")
                && like("abc", "%c")
                && like("abc", "%b%")
                && like("abc", "abc")
                && like("abc", "a_c")
        );
        assert!(like("", "%") && like("", "") && !like("a", "") && !like("abc", "b%") && !like("abc", "a_"));
        assert!(
            like("%abc", "%%%") && like("100%", "100%%") && !like("1000", "100%%") && like("a_b", "a__b")
        );
        assert!(!like("axb", "a__b") && like("a\nb", "a%b") && like("äöü", "ä_ü") && like("aXbXc", "a%b%c"));
        assert!(like("%%", "%%%%") && !like("%", "%%%%") && !like("100%", "%%%"));
        assert!(Like::new("%Σ", true).unwrap().is_match(&Text::Borrowed("ὀδυσσεύς")));
        assert!(!Like::new("TSCHÜSS", true).unwrap().is_match(&Text::Borrowed("tschüß")));
    }

    #[test]
    fn of_all_characters_beyond_ascii_two_become_letters_of_it() {
        let become_ascii = |character: &char| !character.is_ascii() && upper(*character).is_ascii();
        let all: Vec<char> = ('\0'..=char::MAX).filter(become_ascii).collect();
        assert_eq!(all.iter().map(|character| upper(*character)).collect::<String>(), "IS");
        assert_eq!(
            [core_of("TIMEOUT"), core_of("ISSI"), core_of("Ä\"BC"), core_of("")],
            ["MEOUT", "", "BC", ""]
        );
    }

    /// What a pattern means, tried character by character.
    fn holds(text: &[char], pattern: &[char]) -> bool {
        match pattern {
            [sign @ ('%' | '_'), next, rest @ ..] if sign == next => {
                text.split_first().is_some_and(|(first, text)| first == sign && holds(text, rest))
            }
            ['%', rest @ ..] => (0..=text.len()).any(|at| holds(&text[at..], rest)),
            ['_', rest @ ..] => text.split_first().is_some_and(|(_, text)| holds(text, rest)),
            [literal, rest @ ..] => {
                text.split_first().is_some_and(|(first, text)| first == literal && holds(text, rest))
            }
            [] => text.is_empty(),
        }
    }

    #[test]
    fn a_text_that_begins_with_a_percent_sign_is_found_in_any_case() {
        let has = |text: &str, part: &str| Like::containing(part).unwrap().is_match(&Text::Borrowed(text));
        assert!(has("50% done", "%") && has("a%20B", "%20b") && has("%%", "%%") && has("a_b", "_B"));
        assert!(!has("50", "%") && !has("%a20b", "%20b") && !has("%", "%%") && !has("ab", "_"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn a_pattern_means_what_it_says_character_by_character(text in "[abAä%_\n.]{0,6}", pattern in "[aä.%_]{0,5}", ci: bool) {
            let folded = |text: &str| -> Vec<char> {
                text.chars().map(|character| if ci { upper(character) } else { character }).collect()
            };
            let like = Like::new(&pattern, ci).unwrap();
            prop_assert_eq!(like.is_match(&Text::Borrowed(&text)), holds(&folded(&text), &folded(&pattern)));
        }
    }
}
