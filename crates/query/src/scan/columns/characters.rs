//! Stored strings by their characters, without their quotes: an escape is one character, and so are several bytes beyond ASCII.
//!
//! Texts that are looked for have no escapes, but where they are replaced; characters beyond ASCII are never found within an escape. What is made of a string is spelled as strings
//! are, since all of its escapes are needed ones.

use crate::dictionary::{characters, is_plain};
use crate::value::{lower, upper};
use memchr::{memchr, memchr_iter, memmem};

/// The bytes of a text do not tell what becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Untold;

/// How strings are spelled, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// All are ASCII without escapes, so that bytes are characters.
    Plain,
    Any,
}

impl Spelling {
    /// How one of these strings is spelled: most are plain where a few are not.
    #[inline]
    pub(super) fn of_one(self, text: &[u8]) -> Spelling {
        match self {
            Spelling::Any if !is_plain(text) => Spelling::Any,
            Spelling::Any | Spelling::Plain => Spelling::Plain,
        }
    }
}

/// Whether every escape in a string is a needed one.
pub(super) fn has_needed_escapes_only(text: &[u8], spelling: Spelling) -> bool {
    spelling == Spelling::Plain || crate::dictionary::has_needed_escapes_only(text)
}

/// Whether bytes of a stored string that begin where a character does end within an escape.
pub(super) fn end_in_escape(bytes: &[u8]) -> bool {
    /// The longest escape.
    const ESCAPE_BYTES: usize = r"\u0000".len();
    let last = bytes.get(bytes.len().saturating_sub(ESCAPE_BYTES - 1)..).unwrap_or_default();
    last.contains(&b'\\')
        && (1..ESCAPE_BYTES).any(|back| {
            let Some((before, escape)) =
                bytes.len().checked_sub(back).and_then(|at| bytes.split_at_checked(at))
            else {
                return false;
            };
            let is_short = escape.get(1).is_some_and(|kind| *kind != b'u');
            // A backslash behind another one may be what that stands before.
            escape.first() == Some(&b'\\')
                && (back == 1 || !is_short)
                && before.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2)
        })
}

/// How many bytes the escape takes that some text begins with.
fn escape_bytes(text: &[u8]) -> Result<usize, Untold> {
    crate::dictionary::escape_bytes(text).ok_or(Untold)
}

/// How many characters a text has. Takes linear time.
pub(super) fn count(text: &[u8], spelling: Spelling) -> Result<usize, Untold> {
    if spelling == Spelling::Plain {
        return Ok(text.len());
    }
    characters(text).ok_or(Untold)
}

/// Where a character stands by its number; none beyond the end, which has a place of its own. Takes time linear in that number.
pub(super) fn place(text: &[u8], number: usize, spelling: Spelling) -> Result<Option<usize>, Untold> {
    if spelling == Spelling::Plain {
        return Ok((number <= text.len()).then_some(number));
    }
    if text.get(..number).is_some_and(is_plain) {
        return Ok(Some(number));
    }
    let mut at = 0;
    for _ in 0..number {
        let rest = text.get(at..).unwrap_or_default();
        at += match rest {
            [] => return Ok(None),
            [b'\\', ..] => escape_bytes(rest)?,
            [_, rest @ ..] => 1 + rest.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count(),
        };
    }
    Ok(Some(at))
}

/// Whether a text that is looked for may be found where only an escape stands: what begins with another byte is not.
fn may_look_so(needle: &[u8]) -> bool {
    needle.first().is_none_or(|byte| byte.is_ascii_hexdigit() || br#"\"/bfnrtu"#.contains(byte))
}

/// Where a text is found first, beside what only looks so within escapes. Takes linear time.
pub(super) fn find(text: &[u8], finder: &memmem::Finder<'_>, spelling: Spelling) -> Option<usize> {
    if spelling == Spelling::Plain || !may_look_so(finder.needle()) {
        return finder.find(text);
    }
    let mut from = 0;
    loop {
        let at = from + finder.find(text.get(from..)?)?;
        if !text.get(..at).is_some_and(end_in_escape) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// The same of where it is found last.
pub(super) fn find_last(text: &[u8], finder: &memmem::FinderRev<'_>, spelling: Spelling) -> Option<usize> {
    if spelling == Spelling::Plain || !may_look_so(finder.needle()) {
        return finder.rfind(text);
    }
    let mut end = text.len();
    loop {
        let at = finder.rfind(text.get(..end)?)?;
        if !text.get(..at).is_some_and(end_in_escape) {
            return Some(at);
        }
        end = (at + finder.needle().len()).checked_sub(1)?;
    }
}

/// How often a text stands in another one, where each begins behind the one before. Takes linear time.
pub(super) fn occurrences(
    text: &[u8],
    finder: &memmem::Finder<'_>,
    spelling: Spelling,
) -> Result<usize, Untold> {
    if may_be_spelled_otherwise(text, finder) {
        return Err(Untold);
    }
    if let [byte] = finder.needle()
        && (spelling == Spelling::Plain || !may_look_so(finder.needle()))
    {
        return Ok(memchr_iter(*byte, text).count());
    }
    let (mut rest, mut times) = (text, 0);
    while let Some(at) = find(rest, finder, spelling) {
        rest = rest.get(at + finder.needle().len()..).unwrap_or_default();
        times += 1;
    }
    Ok(times)
}

/// Whether what is looked for may stand in a text as an escape by its number.
fn may_be_spelled_otherwise(text: &[u8], finder: &memmem::Finder<'_>) -> bool {
    finder.needle().contains(&b'\\') && memmem::find(text, br"\u00").is_some()
}

/// Appends a text with another one wherever one stands, as long as it has no more bytes than so many.
pub(super) fn replace(
    text: &[u8],
    finder: &memmem::Finder<'_>,
    with: &[u8],
    bytes_max: usize,
    spelling: Spelling,
    out: &mut Vec<u8>,
) -> Result<(), Untold> {
    if !has_needed_escapes_only(text, spelling) || may_be_spelled_otherwise(text, finder) {
        return Err(Untold);
    }
    let begin = out.len();
    let mut rest = text;
    while let Some(at) = find(rest, finder, spelling) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(with);
        rest = rest.get(at + finder.needle().len()..).unwrap_or_default();
        if out.len() - begin > bytes_max {
            return Err(Untold);
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Which case letters are brought to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Case {
    Lower,
    Upper,
}

impl Case {
    /// The case that a function brings texts to.
    pub(super) fn of(function: &str) -> Option<Case> {
        match function {
            "ToLower" => Some(Case::Lower),
            "ToUpper" => Some(Case::Upper),
            _ => None,
        }
    }

    /// Whether a letter of ASCII is another one in this case.
    #[inline]
    pub(super) fn changes(self, byte: u8) -> bool {
        match self {
            Case::Lower => byte.is_ascii_uppercase(),
            Case::Upper => byte.is_ascii_lowercase(),
        }
    }

    /// Appends a text with its letters in this case.
    pub(super) fn append(self, text: &[u8], spelling: Spelling, out: &mut Vec<u8>) -> Result<(), Untold> {
        if spelling == Spelling::Plain {
            self.append_ascii(text, out);
            return Ok(());
        }
        if !has_needed_escapes_only(text, spelling) {
            return Err(Untold);
        }
        let mut rest = text;
        while let Some(at) = memchr(b'\\', rest) {
            let (before, escaped) = rest.split_at(at);
            self.append_unescaped(before, out)?;
            let (escape, behind) = escaped.split_at_checked(escape_bytes(escaped)?).ok_or(Untold)?;
            out.extend_from_slice(escape);
            rest = behind;
        }
        self.append_unescaped(rest, out)
    }

    fn append_ascii(self, text: &[u8], out: &mut Vec<u8>) {
        let first = out.len();
        out.extend_from_slice(text);
        let added = out.get_mut(first..).unwrap_or_default();
        match self {
            Case::Lower => added.make_ascii_lowercase(),
            Case::Upper => added.make_ascii_uppercase(),
        }
    }

    /// The same of one without escapes: no letter has a case that needs one.
    fn append_unescaped(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Untold> {
        if text.is_ascii() {
            self.append_ascii(text, out);
            return Ok(());
        }
        let characters = std::str::from_utf8(text).map_err(|_| Untold)?.chars();
        let cased = characters.map(match self {
            Case::Lower => lower,
            Case::Upper => upper,
        });
        let mut buffer = [0; 4];
        cased.for_each(|character| out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Value, json};
    use proptest::prelude::*;

    /// As strings are stored, without quotes.
    fn spelled(text: &str) -> Vec<u8> {
        let json = json(&Value::from(text)).unwrap();
        json[1..json.len() - 1].to_vec()
    }

    fn in_case(case: Case, stored: &[u8], spelling: Spelling) -> Result<Vec<u8>, Untold> {
        let mut out = Vec::new();
        case.append(stored, spelling, &mut out).map(|()| out)
    }

    proptest! {
        #[test]
        fn parts_with_escapes_are_replaced_as_in_the_text_that_is_read(
            text in "[nu0a\n\r\\\\\"\u{1}ä]{0,14}", part in "[nu0\n\\\\\"]{1,2}", with in "[x\"\n]{0,2}",
        ) {
            let [stored, wanted, put] = [&text, &part, &with].map(|text| spelled(text));
            let mut out = Vec::new();
            let told = replace(&stored, &memmem::Finder::new(&wanted), &put, 1000, Spelling::Any, &mut out);
            match told {
                Ok(()) => {
                    prop_assert_eq!(out, spelled(&text.replace(&part, &with)));
                    let times = occurrences(&stored, &memmem::Finder::new(&wanted), Spelling::Any);
                    prop_assert_eq!(times, Ok(text.matches(&part).count()));
                }
                Err(Untold) => {
                    let has_escapes = part.contains(['\n', '\\', '"']);
                    let is_numbered = text.contains('\u{1}');
                    prop_assert!(is_numbered && has_escapes);
                }
            }
        }

        #[test]
        fn characters_are_counted_and_found_as_in_the_text_that_is_read(
            text in "[nub0ſK\n\r\\\\\"\u{1}\u{1f}ä😀]{0,12}", part in "[nub01]{1,2}", with in "[x]{0,2}", number in 0usize..14,
        ) {
            let stored = spelled(&text);
            prop_assert_eq!(count(&stored, Spelling::Any), Ok(text.chars().count()));
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let before = ends.get(number).map(|end| spelled(&text[..*end]).len());
            prop_assert_eq!(place(&stored, number, Spelling::Any), Ok(before));
            let at = |at: Option<usize>| at.map(|at| spelled(&text[..at]).len());
            prop_assert_eq!(find(&stored, &memmem::Finder::new(&part), Spelling::Any), at(text.find(&part)));
            prop_assert_eq!(find_last(&stored, &memmem::FinderRev::new(&part), Spelling::Any), at(text.rfind(&part)));
            let mut out = b"before ".to_vec();
            replace(&stored, &memmem::Finder::new(&part), with.as_bytes(), 1000, Spelling::Any, &mut out).unwrap();
            prop_assert_eq!(&out[7..], spelled(&text.replace(&part, &with)));
            let cased = |case: fn(char) -> char| spelled(&text.chars().map(case).collect::<String>());
            prop_assert_eq!(in_case(Case::Lower, &stored, Spelling::Any), Ok(cased(lower)));
            prop_assert_eq!(in_case(Case::Upper, &stored, Spelling::Any), Ok(cased(upper)));
        }

        #[test]
        fn plain_texts_are_asked_for_their_bytes(
            text in "[nub0K]{0,12}", part in "[nub01]{1,2}", with in "[x]{0,2}", number in 0usize..14,
        ) {
            let stored = text.as_bytes();
            let [plain, any] = [Spelling::Plain, Spelling::Any];
            prop_assert_eq!(count(stored, plain), count(stored, any));
            prop_assert_eq!(place(stored, number, plain), place(stored, number, any));
            let (finder, last) = (memmem::Finder::new(&part), memmem::FinderRev::new(&part));
            prop_assert_eq!(find(stored, &finder, plain), find(stored, &finder, any));
            prop_assert_eq!(find_last(stored, &last, plain), find_last(stored, &last, any));
            let replaced = |spelling| {
                let mut out = Vec::new();
                replace(stored, &finder, with.as_bytes(), 1000, spelling, &mut out).map(|()| out)
            };
            prop_assert_eq!(replaced(plain), replaced(any));
            for case in [Case::Lower, Case::Upper] {
                prop_assert_eq!(in_case(case, stored, plain), in_case(case, stored, any));
            }
        }

        #[test]
        fn whether_bytes_end_in_an_escape_is_told_of_each_of_them(text in "[nu0\n\\\\\"\u{1}ä]{0,8}") {
            let stored = spelled(&text);
            let starts: Vec<usize> =
                text.char_indices().map(|(at, _)| spelled(&text[..at]).len()).chain([stored.len()]).collect();
            for end in 0..=stored.len() {
                // What lies within a character beyond ASCII lies in no escape.
                let is_start = starts.contains(&end) || stored.get(end).is_some_and(|byte| *byte >= 0x80);
                prop_assert_eq!(end_in_escape(&stored[..end]), !is_start, "{} of {}", end, stored.escape_ascii());
            }
        }

        #[test]
        fn any_bytes_are_counted_without_a_panic(bytes in proptest::collection::vec(prop_oneof![Just(b'\\'), any::<u8>()], 0..12)) {
            let _ = (count(&bytes, Spelling::Any), place(&bytes, 3, Spelling::Any), end_in_escape(&bytes));
            let _ = (find(&bytes, &memmem::Finder::new("a"), Spelling::Any), find_last(&bytes, &memmem::FinderRev::new(""), Spelling::Any));
            let _ = [Case::Lower, Case::Upper].map(|case| in_case(case, &bytes, Spelling::Any));
        }
    }

    #[test]
    fn half_of_a_surrogate_pair_tells_nothing() {
        let text = br"a\ud83d";
        assert_eq!(count(text, Spelling::Any), Err(Untold));
        assert_eq!(
            (place(text, 1, Spelling::Any), place(text, 2, Spelling::Any)),
            (Ok(Some(1)), Err(Untold))
        );
        assert_eq!(in_case(Case::Lower, text, Spelling::Any), Err(Untold));
    }
}
