//! Regular expressions, compiled once, matched against strings as they are stored where that is the same.

use super::pieces::{Groups, Pieces, Told};
use crate::value::Text;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::literal::{ExtractKind, Extractor, Literal};
use regex_syntax::hir::{Hir, HirKind, Look};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use tamias_json::Str;

/// A regular expression.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: String,
    ci: bool,
    regex: Regex,
    /// The pattern is nothing but this text, which needs no escapes in JSON.
    literal: Option<Box<Finder<'static>>>,
    /// The pattern is nothing but this text.
    text: Option<Box<str>>,
    anchored: Option<AnchoredText>,
    /// Found when it is first asked for: many patterns never are.
    needed: OnceLock<Needed>,
    /// The pattern as a sequence of pieces, if it is one. Made when matches are first replaced.
    pieces: OnceLock<Option<Box<Pieces>>>,
}

/// What strings need to match a pattern: tells where to look for them among many.
#[derive(Clone, Debug)]
pub(crate) enum Needed {
    /// Nothing that is known: any string may match.
    Nothing,
    /// This text in their stored bytes.
    Text(Box<Finder<'static>>),
    /// One of some texts.
    AnyOf(Box<Regex>),
}

impl Needed {
    /// Whether a string of these stored bytes has it.
    pub(crate) fn is_in(&self, stored: &[u8]) -> bool {
        match self {
            Needed::Nothing => true,
            Needed::Text(finder) => finder.find(stored).is_some(),
            Needed::AnyOf(any) => any.is_match(stored),
        }
    }
}

/// HEURISTIC: where matches begin or end with texts of so many bytes, these stand in few strings.
const SURE_BYTES: usize = 3;

/// A plain text, and where it has to stand.
#[derive(Clone, Debug)]
struct AnchoredText {
    text: Box<str>,
    at_start: bool,
    at_end: bool,
}

/// What a pattern asks for that is a plain text in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchored<'p> {
    /// The string begins with it: `/^api/`.
    Start(&'p str),
    /// It ends with it: `/exe$/`.
    End(&'p str),
    /// It is nothing else: `/^GET$/`.
    Whole(&'p str),
}

impl Pattern {
    /// Compiles `source` to match anywhere, or the whole text only. Refuses what takes more than `bytes_max` bytes when compiled.
    pub(crate) fn new(source: &str, ci: bool, whole: bool, bytes_max: usize) -> Result<Pattern, String> {
        let bounded = if whole { format!(r"\A(?:{source})\z") } else { source.to_owned() };
        // The source has to be a regular expression of its own: `a)(b` must not become one.
        let hir = regex_syntax::parse(source).map_err(|error| reason(&error))?;
        let build = |text: &str| RegexBuilder::new(text).case_insensitive(ci).size_limit(bytes_max).build();
        let regex = match build(&bounded) {
            // It ends with a comment, which a line feed ends.
            Err(regex::Error::Syntax(_)) if whole => build(&format!("\\A(?:{source}\n)\\z")),
            built => built,
        };
        let regex = regex.map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => format!("it takes more than {limit} bytes when compiled"),
            other => other.to_string(),
        })?;
        let text = if ci || whole { None } else { text_of(&hir) };
        let plain = text.filter(|text| is_plain(text));
        let literal = plain.map(|text| Box::new(Finder::new(text).into_owned()));
        let text = text.map(Into::into);
        let anchored = if ci || whole { None } else { anchored(&hir) };
        let source = source.to_owned();
        let pieces = if whole { OnceLock::from(None) } else { OnceLock::new() };
        Ok(Pattern { source, ci, regex, literal, text, anchored, needed: OnceLock::new(), pieces })
    }

    /// The pattern as a literal of the language.
    pub(crate) fn literal_text(&self) -> String {
        format!("/{}/", self.source.replace('/', "\\/"))
    }

    pub(crate) fn ci(&self) -> bool {
        self.ci
    }

    /// Whether both match the same.
    pub(super) fn is_same(&self, other: &Pattern) -> bool {
        (&self.source, self.ci) == (&other.source, other.ci)
    }

    /// Whether the pattern is a plain text that is searched for as it is stored.
    pub(crate) fn is_literal(&self) -> bool {
        self.literal.is_some()
    }

    /// The pattern's plain text, if it is nothing else: strings that match have it in their stored bytes.
    pub(crate) fn literal_bytes(&self) -> Option<&[u8]> {
        self.literal.as_ref().map(|finder| finder.needle())
    }

    /// The pattern's text, if it is nothing else, whether strings spell it with escapes or without.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The pattern's plain text and its place, if it is nothing else.
    pub(crate) fn anchored(&self) -> Option<Anchored<'_>> {
        let AnchoredText { text, at_start, at_end } = self.anchored.as_ref()?;
        Some(match (at_start, at_end) {
            (true, true) => Anchored::Whole(text),
            (true, false) => Anchored::Start(text),
            (false, _) => Anchored::End(text),
        })
    }

    /// Texts of which a string needs one to match, as they stand in its stored bytes; none if there may be others.
    pub(crate) fn required(&self) -> Vec<Box<[u8]>> {
        let (false, Ok(hir)) = (self.ci, regex_syntax::parse(&self.source)) else { return Vec::new() };
        let ends =
            [ExtractKind::Prefix, ExtractKind::Suffix].into_iter().find_map(|kind| texts_at(kind, &hir));
        let mut within = Vec::new();
        texts_within(&hir, &mut within);
        let longest = within.into_iter().max_by_key(|text| text.len()).unwrap_or_default();
        let shortest = ends.iter().flatten().map(|text| text.len()).min().unwrap_or_default();
        match longest.len() > shortest && shortest < SURE_BYTES {
            true => vec![longest.as_bytes().into()],
            false => ends.unwrap_or_default(),
        }
    }

    /// The same pattern, of which it is known that each string that matches has a text in its stored bytes.
    pub(super) fn that_needs(self, text: &str) -> Pattern {
        let needed = Needed::Text(Box::new(Finder::new(text).into_owned()));
        Pattern { needed: OnceLock::from(needed), ..self }
    }

    /// What a string needs to match.
    pub(crate) fn needed(&self) -> &Needed {
        self.needed.get_or_init(|| match self.required().as_slice() {
            [] => Needed::Nothing,
            [text] => Needed::Text(Box::new(Finder::new(text).into_owned())),
            texts => {
                let texts =
                    texts.iter().filter_map(|text| Some(regex::escape(std::str::from_utf8(text).ok()?)));
                let any = Regex::new(&texts.collect::<Vec<_>>().join("|"));
                any.map_or(Needed::Nothing, |any| Needed::AnyOf(Box::new(any)))
            }
        })
    }

    /// Whether it matches a string of these bytes, in which nothing is escaped.
    pub(crate) fn is_match_unescaped(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    pub(crate) fn is_match(&self, text: &Text<'_>) -> bool {
        match (text, &self.literal) {
            (Text::Stored(text), Some(finder)) => contains_stored(finder, *text),
            (text, _) => self.regex.is_match(&bytes(text)),
        }
    }

    /// The first match: the text before it, in Unicode scalars.
    pub(crate) fn index_of(&self, text: &str) -> Option<usize> {
        let found = self.regex.find(text.as_bytes())?;
        Some(text.get(..found.start())?.chars().count())
    }

    /// Each match replaced. None where the result would be longer than `limit_bytes`, or `charge` refuses what is searched for a match: that may
    /// be all that is left, to find a short one.
    pub(crate) fn replace(
        &self,
        text: &str,
        replacement: &Replacement,
        limit_bytes: usize,
        charge: &mut dyn FnMut(usize) -> bool,
    ) -> Option<String> {
        let mut out = Vec::with_capacity(text.len());
        self.replace_into(text, replacement, limit_bytes, charge, &mut out)?;
        String::from_utf8(out).ok()
    }

    /// The same, appended to `out`. Something may have been appended where there is no result.
    pub(crate) fn replace_into(
        &self,
        text: &str,
        replacement: &Replacement,
        limit_bytes: usize,
        charge: &mut dyn FnMut(usize) -> bool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let bytes = text.as_bytes();
        let mut replaced = Replaced { text, from: 0, begin: out.len(), out, limit_bytes, charge };
        let pieces = self.pieces.get_or_init(|| Pieces::of(&self.source, self.ci).map(Box::new));
        let has_groups = replacement.plain().is_none();
        if let Some(pieces) = pieces.as_deref().filter(|pieces| has_groups || pieces.are_quick()) {
            let mut groups = Groups::default();
            let (mut from, mut budget) = (Some(0), Pieces::budget(text));
            while let Some(begins) = from
                && self.find_by_pieces((pieces, has_groups), text, begins, &mut groups, &mut budget)
            {
                // Only where matches can begin anywhere there can be more of them.
                from = (!pieces.is_at_start()).then_some(groups[0].end);
                let of_group = |group: &Group| {
                    let number = match group {
                        Group::Number(number) => Some(*number),
                        Group::Name(name) => pieces.named(name),
                    };
                    bytes.get(groups.get(number?)?.clone())
                };
                replaced.put(groups[0].clone(), |out| replacement.write(out, of_group))?;
            }
        } else if let Some(with) = replacement.plain() {
            for found in self.regex.find_iter(bytes) {
                replaced.put(found.range(), |out| out.extend_from_slice(with))?;
            }
        } else {
            for captures in self.regex.captures_iter(bytes) {
                let of_group = |group: &Group| {
                    let found = match group {
                        Group::Number(number) => captures.get(*number),
                        Group::Name(name) => captures.name(name),
                    };
                    found.map(|found| found.as_bytes())
                };
                replaced.put(captures.get(0)?.range(), |out| replacement.write(out, of_group))?;
            }
        }
        replaced.finish()
    }

    /// Finds the next match of a sequence of pieces, with its groups if it `has_groups` that are asked for: whether there is one.
    fn find_by_pieces(
        &self,
        (pieces, has_groups): (&Pieces, bool),
        text: &str,
        from: usize,
        groups: &mut Groups,
        budget: &mut usize,
    ) -> bool {
        match pieces.find(text, from, groups, budget) {
            Told::Match => true,
            Told::NoMatch => false,
            Told::Unknown if !has_groups => {
                let found = self.regex.find_at(text.as_bytes(), from);
                groups[0] = found.map(|found| found.range()).unwrap_or_default();
                found.is_some()
            }
            Told::Unknown => {
                let Some(captures) = self.regex.captures_at(text.as_bytes(), from) else { return false };
                for (group, found) in groups.iter_mut().zip(captures.iter()) {
                    *group = found.map(|found| found.range()).unwrap_or_default();
                }
                true
            }
        }
    }
}

/// A text in which matches are replaced one after the other.
struct Replaced<'r> {
    text: &'r str,
    /// What stands before is told.
    from: usize,
    out: &'r mut Vec<u8>,
    /// Where it begins in `out`.
    begin: usize,
    limit_bytes: usize,
    charge: &'r mut dyn FnMut(usize) -> bool,
}

impl Replaced<'_> {
    /// Something in the place of a match; none if it becomes too long or takes too long.
    fn put(&mut self, place: Range<usize>, write: impl FnOnce(&mut Vec<u8>)) -> Option<()> {
        // All that is left may have been searched for it.
        if !(self.charge)(self.text.len() - self.from) {
            return None;
        }
        // Bytes are searched, so an empty match may stand within a character.
        if !self.text.is_char_boundary(place.start) {
            return Some(());
        }
        self.out.extend_from_slice(self.text.as_bytes().get(self.from..place.start)?);
        write(self.out);
        self.from = place.end;
        (self.out.len() - self.begin <= self.limit_bytes).then_some(())
    }

    fn finish(self) -> Option<()> {
        self.out.extend_from_slice(self.text.as_bytes().get(self.from..)?);
        (self.out.len() - self.begin <= self.limit_bytes).then_some(())
    }
}

/// The replacement of a regular expression: `$1` or `${1}` for a group, `${name}` for a named one, `$$` for a dollar sign, which
/// also stands for itself before anything else.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Group(Group),
}

#[derive(Clone, Debug)]
enum Group {
    Number(usize),
    Name(String),
}

impl Replacement {
    pub(crate) fn new(text: &str) -> Replacement {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            plain.push_str(before);
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = after.split_at(digits);
            let braced = after.strip_prefix('{').and_then(|name| name.split_once('}'));
            if let Some((group, behind)) = braced.or((!number.is_empty()).then_some((number, behind))) {
                parts.push(Part::Text(std::mem::take(&mut plain)));
                parts.push(Part::Group(Group::new(group)));
                rest = behind;
            } else {
                plain.push('$');
                rest = after.strip_prefix('$').unwrap_or(after);
            }
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Replacement { source: text.to_owned(), parts }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// What it is, if it has no groups.
    pub(crate) fn plain(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(b""),
            [Part::Text(text)] => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The texts between the groups.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Group(_) => None,
        })
    }

    /// Writes it, with what the groups are. One that is not there is empty.
    fn write<'t>(&self, out: &mut Vec<u8>, of_group: impl Fn(&Group) -> Option<&'t [u8]>) {
        for part in &self.parts {
            out.extend_from_slice(match part {
                Part::Text(text) => text.as_bytes(),
                Part::Group(group) => of_group(group).unwrap_or_default(),
            });
        }
    }
}

impl Group {
    fn new(text: &str) -> Group {
        text.parse().map_or_else(|_| Group::Name(text.to_owned()), Group::Number)
    }
}

fn reason(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "it cannot be read".to_owned(),
    }
}

/// The text that a pattern is, if it is one.
fn text_of(hir: &Hir) -> Option<&str> {
    let HirKind::Literal(literal) = hir.kind() else { return None };
    std::str::from_utf8(&literal.0).ok()
}

/// A plain text between the start and the end of all text, or one of them.
fn anchored(hir: &Hir) -> Option<AnchoredText> {
    let HirKind::Concat(parts) = hir.kind() else { return None };
    let is_look = |part: Option<&Hir>, look| part.is_some_and(|part| *part.kind() == HirKind::Look(look));
    let at_start = is_look(parts.first(), Look::Start);
    let at_end = is_look(parts.last(), Look::End);
    let [only] = parts.get(usize::from(at_start)..parts.len() - usize::from(at_end))? else { return None };
    let HirKind::Literal(literal) = only.kind() else { return None };
    let text = std::str::from_utf8(&literal.0).ok().filter(|text| is_plain(text))?;
    (at_start || at_end).then(|| AnchoredText { text: text.into(), at_start, at_end })
}

/// Texts of which each match begins or ends with one, as far as strings have them in their stored bytes; none if there may be others.
fn texts_at(kind: ExtractKind, hir: &Hir) -> Option<Vec<Box<[u8]>>> {
    let found = Extractor::new().kind(kind).extract(hir);
    let of = |literal: &Literal| {
        let text = plain_part(std::str::from_utf8(literal.as_bytes()).ok()?);
        (!text.is_empty()).then(|| text.as_bytes().into())
    };
    let texts: Vec<_> = found.literals()?.iter().map(of).collect::<Option<_>>()?;
    (!texts.is_empty()).then_some(texts)
}

/// Texts that each match has in it, as far as strings have them in their stored bytes.
fn texts_within<'h>(hir: &'h Hir, texts: &mut Vec<&'h str>) {
    match hir.kind() {
        HirKind::Literal(literal) => texts.extend(std::str::from_utf8(&literal.0).ok().map(plain_part)),
        HirKind::Concat(parts) => parts.iter().for_each(|part| texts_within(part, texts)),
        HirKind::Capture(capture) => texts_within(&capture.sub, texts),
        HirKind::Repetition(repetition) if repetition.min > 0 => texts_within(&repetition.sub, texts),
        HirKind::Empty
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Alternation(_) => {}
    }
}

/// The longest part of a text that strings have in their stored bytes where they have the text.
fn plain_part(text: &str) -> &str {
    text.split(|c| !is_plain_character(c)).max_by_key(|part| part.len()).unwrap_or_default()
}

/// Whether a string with this text in it has it in its stored bytes, unbroken by an escape: only quotes, backslashes,
/// controls and lone surrogates, which read as U+FFFD, are stored as escapes.
pub(crate) fn is_plain(text: &str) -> bool {
    text.chars().all(is_plain_character)
}

fn is_plain_character(c: char) -> bool {
    c >= ' ' && !matches!(c, '"' | '\\' | '\u{FFFD}')
}

/// Whether the finder's plain text is in `text`. Where it is not in the bytes, it is not there. Where it is, it may be part
/// of an escape, the `n` of `\n`.
fn contains_stored(finder: &Finder<'_>, text: Str<'_>) -> bool {
    finder.find(text.raw()).is_some()
        && (!text.has_escapes() || finder.find(text.text().as_bytes()).is_some())
}

/// The bytes of the text, borrowed where nothing in it is escaped.
pub(super) fn bytes<'t>(text: &'t Text<'_>) -> Cow<'t, [u8]> {
    match text {
        Text::Stored(text) if !text.has_escapes() => Cow::Borrowed(text.raw()),
        text => match text.text() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements() {
        let replaced = |text: &str, with: &str| {
            let pattern = Pattern::new("(b)(?<c>c)?", false, false, 1 << 20).unwrap();
            pattern.replace(text, &Replacement::new(with), 1000, &mut |_| true).unwrap()
        };
        assert_eq!(replaced("abcd", "[$0]"), "a[bc]d");
        assert_eq!(replaced("abcd", "$1x"), "abxd");
        assert_eq!(replaced("abcd", "${1}x$2"), "abxcd");
        assert_eq!(replaced("abcd", "${c}"), "acd");
        assert_eq!(replaced("abd", "<$2>"), "a<>d");
        assert_eq!(replaced("abd", "$9"), "ad");
        assert_eq!(replaced("abd", "$$1 $x $ ${"), "a$1 $x $ ${d");
    }

    #[test]
    fn a_whole_match_keeps_its_alternatives_together() {
        let pattern = Pattern::new("a|b", false, true, 1 << 20).unwrap();
        assert!(pattern.is_match(&Text::Borrowed("a")));
        assert!(!pattern.is_match(&Text::Borrowed("ab")));
        assert!(Pattern::new("a)(b", false, true, 1 << 20).is_err());
    }

    #[test]
    fn a_whole_match_may_end_with_a_comment() {
        let pattern = Pattern::new("(?x) a b # both", false, true, 1 << 20).unwrap();
        assert!(pattern.is_match(&Text::Borrowed("ab")));
        assert!(!pattern.is_match(&Text::Borrowed("abc")));
    }

    /// To find each `a` all of the text is searched for a `b`.
    #[test]
    fn replacing_counts_what_is_searched_for_each_match() {
        let pattern = Pattern::new("a*?b|a", false, false, 1 << 20).unwrap();
        let mut charged = 0;
        let mut charge = |units: usize| {
            charged += units;
            charged < 5000
        };
        assert_eq!(pattern.replace(&"a".repeat(1000), &Replacement::new("x"), 10_000, &mut charge), None);
        assert_eq!(charged, 5000 + 985);
    }
}
