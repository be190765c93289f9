//! Text → tokens, one at a time: only the parser knows where a `/` begins a regular expression.

use crate::error::Flaw;
use crate::span::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A keyword, a function or a property: names are told apart by where they stand.
    Name,
    /// `@Name`.
    BuiltIn,
    /// `$name`.
    Parameter,
    /// `12`, `12.5`.
    Number,
    /// `0xFF`.
    Hex,
    /// `1d2h3m4s5ms6us7ns`.
    Duration,
    /// `'text'`, with `''` for a quote.
    Text,
    Symbol(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// Longest first.
const SYMBOLS: [&str; 23] = [
    "<>", "<=", ">=", "..", "<", ">", "=", "+", "-", "*", "/", "%", "^", "(", ")", "[", "]", "{", "}", ",",
    ":", ".", "|",
];

/// What people write who know another language, and what to write here.
const FOREIGN: [(&str, &str); 10] = [
    ("==", "to compare two values, write `=`"),
    ("!=", "write `<>`"),
    ("=~", "write `IsMatch(x, /…/)`"),
    ("~", "write `IsMatch(x, /…/)`, or `x = /…/` for the whole text"),
    ("&&", "write `and`"),
    ("||", "write `or`, or `Concat(a, b)` to join strings"),
    ("!", "write `not`"),
    (";", "leave it out, a text holds one query"),
    ("`", "names are not quoted, and odd ones are written @Properties['odd name']"),
    ("?", "`?` stands in brackets only, as in `Tags[?] = 'a'`"),
];

#[derive(Clone)]
pub(crate) struct Lexer<'q> {
    query: &'q str,
    position: usize,
}

impl<'q> Lexer<'q> {
    pub(crate) fn new(query: &'q str) -> Lexer<'q> {
        Lexer { query, position: 0 }
    }

    fn rest(&self) -> &'q str {
        self.query.get(self.position..).unwrap_or_default()
    }

    /// The next token; at the end of the text `TokenKind::End`, again and again.
    pub(crate) fn next(&mut self) -> Result<Token, Flaw> {
        self.skip_blanks();
        let rest = self.rest();
        let start = self.position;
        let Some(first) = rest.chars().next() else {
            return Ok(Token { kind: TokenKind::End, span: Span::new(start, start) });
        };
        let (kind, length) = if is_name_start(first) {
            (TokenKind::Name, name_length(rest))
        } else if first.is_ascii_digit() {
            number(rest, start)?
        } else {
            match first {
                '\'' => (TokenKind::Text, text_length(rest, start)?),
                '@' | '$' => {
                    let length = name_length(&rest[1..]);
                    if length == 0 {
                        let what = if first == '@' {
                            "a built-in, as in @Level"
                        } else {
                            "a parameter, as in $name"
                        };
                        return Err(Flaw::new(
                            Span::new(start, start + 1),
                            format!("`{first}` without a name"),
                        )
                        .expected(what));
                    }
                    (if first == '@' { TokenKind::BuiltIn } else { TokenKind::Parameter }, length + 1)
                }
                '"' => return Err(double_quoted(rest, start)),
                _ => symbol(rest, start)?,
            }
        };
        self.position += length;
        Ok(Token { kind, span: Span::new(start, self.position) })
    }

    /// Reads the regular expression that begins with the `/` at `start`: its text, and the token's place.
    pub(crate) fn regex(&mut self, start: usize) -> Result<(String, Span), Flaw> {
        self.position = start + 1;
        let mut pattern = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '/' => {
                    self.position += at + 1;
                    return Ok((pattern, Span::new(start, self.position)));
                }
                '\n' => break,
                '\\' => match characters.next() {
                    Some((_, '/')) => pattern.push('/'),
                    Some((_, escaped)) => pattern.extend(['\\', escaped]),
                    None => break,
                },
                other => pattern.push(other),
            }
        }
        Err(Flaw::new(Span::new(start, start + 1), "this regular expression does not end on its line")
            .hint("it ends with `/`; a `/` inside is written `\\/`"))
    }

    /// Whether `?` or `*` and a closing bracket come next: then it is a wildcard, and is taken.
    pub(crate) fn wildcard(&mut self, start: usize) -> Option<(char, Span)> {
        let mut ahead = self.clone();
        ahead.position = start;
        ahead.skip_blanks();
        let sign = ahead.rest().chars().next().filter(|c| matches!(c, '?' | '*'))?;
        ahead.position += 1;
        ahead.skip_blanks();
        ahead.rest().starts_with(']').then(|| {
            ahead.position += 1;
            self.position = ahead.position;
            (sign, Span::new(start, ahead.position))
        })
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.position += rest.len() - trimmed.len();
            if !trimmed.starts_with("--") {
                return;
            }
            self.position += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }
}

fn is_name_start(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn is_name_part(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn name_length(text: &str) -> usize {
    if !text.starts_with(is_name_start) {
        return 0;
    }
    text.find(|c| !is_name_part(c)).unwrap_or(text.len())
}

/// Whether the text is a name and nothing else; a keyword is one, too.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

fn text_length(text: &str, start: usize) -> Result<usize, Flaw> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(quote) = memchr::memchr(b'\'', bytes.get(at..).unwrap_or_default()) {
        at += quote + 1;
        if bytes.get(at) != Some(&b'\'') {
            return Ok(at);
        }
        at += 1;
    }
    Err(Flaw::new(Span::new(start, start + 1), "this text has no closing quote")
        .hint("a quote inside a text is written twice: 'it''s'"))
}

fn double_quoted(text: &str, start: usize) -> Flaw {
    let inside = text[1..].split('"').next().unwrap_or_default();
    let length = if inside.len() + 1 < text.len() { inside.len() + 2 } else { 1 };
    let flaw = Flaw::new(Span::new(start, start + length), "double quotes are not used here");
    match inside.chars().count() {
        1..=40 if !inside.contains('\n') => flaw.hint(format!(
            "write a text as '{}', an odd name as @Properties['{}']",
            inside.replace('\'', "''"),
            inside
        )),
        _ => flaw.hint("write a text in single quotes, an odd name as @Properties['odd name']"),
    }
}

fn symbol(text: &str, start: usize) -> Result<(TokenKind, usize), Flaw> {
    // `||` is a lambda without parameters where an operand may begin, so it is left to the parser.
    if let Some((sign, advice)) = FOREIGN.iter().find(|(sign, _)| *sign != "||" && text.starts_with(sign)) {
        let message = format!("`{sign}` is not an operator of this language");
        return Err(Flaw::new(Span::new(start, start + sign.len()), message).hint(*advice));
    }
    match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
        Some(symbol) => Ok((TokenKind::Symbol(symbol), symbol.len())),
        None => {
            let character = text.chars().next().unwrap_or(' ');
            let shown = character.escape_debug();
            Err(Flaw::new(
                Span::new(start, start + character.len_utf8()),
                format!("`{shown}` has no meaning here"),
            ))
        }
    }
}

pub(crate) fn foreign_advice(sign: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(foreign, _)| *foreign == sign).map(|(_, advice)| *advice)
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn number(text: &str, start: usize) -> Result<(TokenKind, usize), Flaw> {
    let word = text.find(|c: char| !is_name_part(c)).unwrap_or(text.len());
    if text.starts_with("0x") || text.starts_with("0X") {
        let valid = word > 2 && text[2..word].bytes().all(|b| b.is_ascii_hexdigit());
        return if valid {
            Ok((TokenKind::Hex, word))
        } else {
            Err(Flaw::new(Span::new(start, start + word), "this is not a hexadecimal number")
                .expected("digits 0 to 9 and a to f"))
        };
    }
    let mut length = digits(text);
    if length < word {
        if text[..word].bytes().all(|b| b.is_ascii_digit() || b.is_ascii_alphabetic())
            && duration(&text[..word]).is_some()
        {
            return Ok((TokenKind::Duration, word));
        }
        let flaw = Flaw::new(
            Span::new(start, start + word),
            format!("`{}` is neither a number nor a duration", &text[..word]),
        );
        return Err(flaw.hint(if text[length..].starts_with(['e', 'E']) {
            "write a number without an exponent"
        } else {
            "a duration is written as in 1d2h3m4s5ms6us7ns, larger units first; a name does not begin with a digit"
        }));
    }
    let fraction = text[length..].strip_prefix('.').map_or(0, digits);
    if fraction > 0 {
        length += 1 + fraction;
        let tail = name_length(&text[length..]);
        if tail > 0 {
            let whole = &text[..length + tail];
            return Err(Flaw::new(
                Span::new(start, start + whole.len()),
                format!("`{whole}` is not a number"),
            )
            .hint("a duration is written in whole numbers, as in 1s500ms; a number has no exponent"));
        }
    }
    Ok((TokenKind::Number, length))
}

const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A duration literal in nanoseconds: whole numbers with units, larger units first, each unit once.
pub(crate) fn duration(text: &str) -> Option<u128> {
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total = 0u128;
    while !rest.is_empty() {
        let (count, after) = rest.split_at(digits(rest));
        let unit_length = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, after) = after.split_at(unit_length);
        let (_, nanoseconds) = units.find(|(name, _)| *name == unit)?;
        total = total
            .checked_add(count.parse::<u64>().ok().map(u128::from)?.checked_mul(u128::from(*nanoseconds))?)?;
        rest = after;
    }
    Some(total)
}

/// So many nanoseconds as a duration literal, in as few units as there are.
pub(crate) fn duration_literal(nanoseconds: u128) -> String {
    let mut rest = nanoseconds;
    let mut literal = String::new();
    for (unit, size) in UNITS {
        let count = rest / u128::from(size);
        rest %= u128::from(size);
        if count > 0 || (unit == "ns" && literal.is_empty()) {
            literal.push_str(&format!("{count}{unit}"));
        }
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(query: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(query);
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next().unwrap();
            if token.kind == TokenKind::End {
                return tokens;
            }
            tokens.push((token.kind, token.span.text(query)));
        }
    }

    #[test]
    fn tokens_of_every_kind() {
        assert_eq!(
            kinds("a.Größe[1..2]-- comment\n@t $p 12.5 0xfF 1d2h 'it''s' <= <>"),
            [
                (TokenKind::Name, "a"),
                (TokenKind::Symbol("."), "."),
                (TokenKind::Name, "Größe"),
                (TokenKind::Symbol("["), "["),
                (TokenKind::Number, "1"),
                (TokenKind::Symbol(".."), ".."),
                (TokenKind::Number, "2"),
                (TokenKind::Symbol("]"), "]"),
                (TokenKind::BuiltIn, "@t"),
                (TokenKind::Parameter, "$p"),
                (TokenKind::Number, "12.5"),
                (TokenKind::Hex, "0xfF"),
                (TokenKind::Duration, "1d2h"),
                (TokenKind::Text, "'it''s'"),
                (TokenKind::Symbol("<="), "<="),
                (TokenKind::Symbol("<>"), "<>"),
            ]
        );
    }

    #[test]
    fn durations() {
        assert_eq!(duration("1d2h3m4s5ms6us7ns"), Some(93_784_005_006_007));
        assert_eq!(duration("90m"), Some(5_400_000_000_000));
        assert_eq!(duration("1m1m"), None);
        assert_eq!(duration("1m1h"), None);
        assert_eq!(duration("99999999999999999999d"), None);
    }

    #[test]
    fn a_regex_keeps_its_escapes_and_drops_that_of_the_slash() {
        let mut lexer = Lexer::new(r"/\/api\/[\w'/x");
        assert_eq!(lexer.regex(0).unwrap(), (r"/api/[\w'".to_owned(), Span::new(0, 13)));
    }

    proptest! {
        #[test]
        fn a_duration_reads_as_it_is_written(nanoseconds: u64) {
            prop_assert_eq!(duration(&duration_literal(nanoseconds.into())), Some(nanoseconds.into()));
        }

        #[test]
        fn any_text_ends(text in "\\PC{0,20}") {
            let mut lexer = Lexer::new(&text);
            let mut end = 0;
            while let Ok(token) = lexer.next() {
                if token.kind == TokenKind::End {
                    prop_assert_eq!(token.span, Span::new(text.len(), text.len()));
                    break;
                }
                prop_assert!(token.span.start >= end && token.span.end > token.span.start);
                prop_assert!(!token.span.text(&text).is_empty());
                end = token.span.end;
            }
        }
    }
}
