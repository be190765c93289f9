//! Functions of strings over a dictionary: a text that reads as it is stored, as far as they look at it, gives another such text, or a place in it,
//! without an evaluation.

use super::characters::{self, Case, Spelling, Untold, has_needed_escapes_only};
use super::computed::{BYTES_MAX, Texts};
use super::cut::{Cut, Place};
use super::evaluate::{Evaluator, PARTS_MAX};
use super::found::Passing;
use super::reckoned::Reckoned;
use super::texts::{spelled, unquoted};
use crate::ast::Arithmetic;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::{Dictionary, has_escapes, is_plain};
use crate::expr::{Expr, Needed, Pattern, Replacement};
use crate::value::{Number, Value, write_json};
use memchr::memmem;
use std::borrow::Cow;
use std::sync::Arc;
use tamias_json::unescape::unescape;
use tamias_json::write_escaped;

/// What functions of strings make of one text.
pub(super) enum Mapping<'e> {
    Text(TextOf<'e>),
    Number(NumberOf<'e>),
}

/// A text that comes of the one that is stored.
pub(super) enum TextOf<'e> {
    Stored,
    /// As strings spell it.
    Constant(Vec<u8>),
    Cased(Case, Box<TextOf<'e>>),
    Part {
        of: Box<TextOf<'e>>,
        start: NumberOf<'e>,
        length: Option<NumberOf<'e>>,
    },
    Joined(Vec<TextOf<'e>>),
    Chosen(Box<Choice<TextOf<'e>>>),
    /// With another text wherever one stands.
    Replaced {
        of: Box<TextOf<'e>>,
        finder: Box<memmem::Finder<'e>>,
        with: Vec<u8>,
    },
    /// With something else wherever a pattern matches.
    Matched {
        of: Box<TextOf<'e>>,
        pattern: &'e Pattern,
        with: &'e Replacement,
    },
}

/// A whole number that comes of it.
pub(super) enum NumberOf<'e> {
    Constant(i64),
    IndexOf { text: Box<TextOf<'e>>, finder: Box<memmem::Finder<'e>> },
    LastIndexOf { text: Box<TextOf<'e>>, finder: Box<memmem::FinderRev<'e>> },
    Length(Box<TextOf<'e>>),
    Sum(Box<(NumberOf<'e>, NumberOf<'e>)>),
    Difference(Box<(NumberOf<'e>, NumberOf<'e>)>),
    Chosen(Box<Choice<NumberOf<'e>>>),
}

/// One of two, by what the stored text begins or ends with: the second one where there is no text.
pub(super) struct Choice<T> {
    test: Test,
    then: T,
    otherwise: T,
}

impl<T> Choice<T> {
    /// What is chosen from a condition and two expressions; `of` tells what these come to.
    fn of<'e>(
        (condition, then, otherwise): &'e (Expr, Expr, Expr),
        is_stored: &impl Fn(&Expr) -> bool,
        of: impl Fn(&'e Expr) -> Option<T>,
    ) -> Option<Box<Choice<T>>> {
        let test = Test::of(condition, is_stored)?;
        Some(Box::new(Choice { test, then: of(then)?, otherwise: of(otherwise)? }))
    }

    fn chosen(&self, stored: &[u8], spelling: Spelling) -> &T {
        if self.test.holds(stored, spelling) { &self.then } else { &self.otherwise }
    }
}

/// Whether the stored text begins or ends with another one of plain ASCII.
enum Test {
    Starts(Vec<u8>),
    Ends(Vec<u8>),
}

impl Test {
    fn of(expr: &Expr, is_stored: &impl Fn(&Expr) -> bool) -> Option<Test> {
        let Expr::Call { function, arguments, ci: false } = expr else { return None };
        let [of, Expr::Constant(Value::Text(part))] = arguments.as_slice() else { return None };
        let part = plain(&part.text()).filter(|_| is_stored(of))?;
        match function.name {
            "StartsWith" => Some(Test::Starts(part)),
            "EndsWith" => Some(Test::Ends(part)),
            _ => None,
        }
    }

    fn holds(&self, stored: &[u8], spelling: Spelling) -> bool {
        match self {
            Test::Starts(part) => stored.starts_with(part),
            Test::Ends(part) => {
                let is_escape = |before| spelling == Spelling::Any && characters::end_in_escape(before);
                stored.strip_suffix(part.as_slice()).is_some_and(|before| !is_escape(before))
            }
        }
    }
}

/// Longer texts are left to the evaluation, which knows how long values may be.
pub(super) const TEXT_BYTES_MAX: usize = 1 << 16;

/// The same of texts with escapes in which patterns are replaced.
const ESCAPED_BYTES_MAX: usize = 1 << 12;

/// For so many bytes, and so many times those of a text, a pattern is looked for in it. What takes more is left to the evaluation, which knows how long a query may take.
const SEARCHED_MIN: usize = 1 << 12;
const SEARCHED_TIMES: usize = 64;

/// What a text comes to; the inner one none for undefined. Bytes are as strings spell them, without quotes.
pub(super) type Told<T> = Result<Option<T>, Untold>;

/// A constant as strings spell it, without quotes, escapes among them; none where that is not ASCII.
fn spelled_in_ascii(text: &str) -> Option<Vec<u8>> {
    let spelled = spelled(text)?;
    unquoted(&spelled).filter(|text| text.is_ascii()).map(<[u8]>::to_vec)
}

/// A constant as strings spell it, without quotes; none where that is not ASCII without escapes.
fn plain(text: &str) -> Option<Vec<u8>> {
    let spelled = spelled(text)?;
    unquoted(&spelled).filter(|text| is_plain(text)).map(<[u8]>::to_vec)
}

impl<'e> TextOf<'e> {
    /// The texts that an expression makes of those of the column that `is_stored`.
    pub(super) fn of(expr: &'e Expr, is_stored: &impl Fn(&Expr) -> bool) -> Option<TextOf<'e>> {
        let text = |expr: &'e Expr| TextOf::of(expr, is_stored).map(Box::new);
        match expr {
            stored if is_stored(stored) => Some(TextOf::Stored),
            Expr::Constant(Value::Text(text)) => Some(TextOf::Constant(plain(&text.text())?)),
            Expr::If(parts) => {
                let choice = Choice::of(parts, is_stored, |expr| TextOf::of(expr, is_stored))?;
                // Where there is no text, nothing may come of it.
                choice.otherwise.is_of_stored().then_some(TextOf::Chosen(choice))
            }
            Expr::Concat(parts) => Some(TextOf::Joined(
                parts.iter().map(|part| TextOf::of(part, is_stored)).collect::<Option<_>>()?,
            )),
            Expr::Call { function, arguments, ci: false } => match (function.name, arguments.as_slice()) {
                (name, [of]) => Some(TextOf::Cased(Case::of(name)?, text(of)?)),
                ("Replace", [of, Expr::Constant(Value::Text(part)), Expr::Constant(Value::Text(with))]) => {
                    TextOf::replaced(text(of)?, &part.text(), &with.text())
                }
                ("Substring", [of, start, rest @ ..]) => {
                    let length = match rest {
                        [] => None,
                        [length, ..] => Some(NumberOf::of(length, is_stored)?),
                    };
                    let part = TextOf::Part { of: text(of)?, start: NumberOf::of(start, is_stored)?, length };
                    // Of what is missing nothing comes, if not for a length that is left out then.
                    part.is_of_stored().then_some(part)
                }
                _ => None,
            },
            Expr::ReplaceMatch { left, pattern, replacement } => {
                let of = text(left)?;
                let with = replacement.plain().and_then(|with| std::str::from_utf8(with).ok());
                if let (Some(part), Some(with)) = (pattern.text(), with) {
                    return TextOf::replaced(of, part, with);
                }
                let are_plain = replacement.texts().all(|text| plain(text).is_some());
                are_plain.then_some(TextOf::Matched { of, pattern, with: replacement })
            }
            _ => None,
        }
    }

    /// A text with another one of plain ASCII wherever one of ASCII stands.
    fn replaced(of: Box<TextOf<'e>>, part: &str, with: &str) -> Option<TextOf<'e>> {
        // An empty part is nowhere.
        let part = Some(spelled_in_ascii(part)?).filter(|part| !part.is_empty())?;
        let finder = Box::new(memmem::Finder::new(&part).into_owned());
        Some(TextOf::Replaced { of, finder, with: plain(with)? })
    }

    /// By how many characters it is longer than the stored text, of one in which another text is put wherever one stands; none of others.
    fn longer_by(&self, stored: &[u8], spelling: Spelling) -> Told<i64> {
        let TextOf::Replaced { of, finder, with } = self else { return Ok(None) };
        if !of.is_stored() {
            return Ok(None);
        }
        let times = characters::occurrences(stored, finder, spelling)?;
        let [added, gone] =
            [with.as_slice(), finder.needle()].map(|text| characters::count(text, Spelling::Any));
        // So long a text may be too long a value.
        if stored.len().saturating_add(times.saturating_mul(with.len())) > TEXT_BYTES_MAX {
            return Err(Untold);
        }
        Ok(Some(times as i64 * (added? as i64 - gone? as i64)))
    }

    /// Whether nothing comes of nothing.
    fn is_of_stored(&self) -> bool {
        match self {
            TextOf::Stored => true,
            TextOf::Constant(_) => false,
            TextOf::Cased(_, of) | TextOf::Replaced { of, .. } | TextOf::Matched { of, .. } => {
                of.is_of_stored()
            }
            TextOf::Part { of, start, .. } => of.is_of_stored() || start.is_of_stored(),
            TextOf::Joined(parts) => parts.iter().any(TextOf::is_of_stored),
            TextOf::Chosen(choice) => choice.otherwise.is_of_stored(),
        }
    }

    /// The same over texts that are spelled so.
    pub(super) fn over(&self, spelling: Spelling) -> Over<'_> {
        Over { text: self, spelling, cut: self.cut() }
    }

    /// A part of the stored text, if it is one, and the bytes of a plain text tell it.
    fn cut(&self) -> Option<Cut<'_>> {
        let TextOf::Part { of, start, length } = self else { return None };
        let length = match length {
            None => None,
            Some(length) => Some(length.place()?),
        };
        of.is_stored().then_some(Cut { start: start.place()?, length })
    }

    /// Whether plain texts stay as they are.
    fn leaves_all(&self, plain: &Dictionary) -> bool {
        match self {
            TextOf::Stored => true,
            TextOf::Cased(case, of) => of.leaves_all(plain) && !plain.has_byte(|byte| case.changes(byte)),
            TextOf::Replaced { of, finder, .. } => of.leaves_all(plain) && !plain.has(finder),
            TextOf::Constant(_)
            | TextOf::Part { .. }
            | TextOf::Joined(_)
            | TextOf::Chosen(_)
            | TextOf::Matched { .. } => false,
        }
    }

    /// Whether different texts may well come to the same: a part of them is left out.
    fn leaves_out(&self) -> bool {
        match self {
            TextOf::Stored | TextOf::Constant(_) => false,
            TextOf::Part { .. } | TextOf::Replaced { .. } | TextOf::Chosen(_) | TextOf::Matched { .. } => {
                true
            }
            TextOf::Cased(_, of) => of.leaves_out(),
            TextOf::Joined(parts) => parts.iter().all(|part| part.leaves_out() || !part.is_of_stored()),
        }
    }

    /// Whether it is what is stored.
    pub(super) fn is_stored(&self) -> bool {
        matches!(self, TextOf::Stored)
    }

    /// What a stored text comes to, which has no quotes.
    fn tell<'t>(&'t self, stored: &'t [u8], spelling: Spelling) -> Told<Cow<'t, [u8]>> {
        Ok(Some(match self {
            TextOf::Stored => Cow::Borrowed(stored),
            TextOf::Constant(text) => Cow::Borrowed(text),
            TextOf::Part { of, start, length } => {
                let Some(text) = of.tell(stored, spelling)? else { return Ok(None) };
                let Some(start) = start.tell(stored, spelling)? else { return Ok(None) };
                // A length that is undefined is none.
                let length =
                    length.as_ref().map(|length| length.tell(stored, spelling)).transpose()?.flatten();
                return part(text, start, length, spelling);
            }
            TextOf::Chosen(choice) => return choice.chosen(stored, spelling).tell(stored, spelling),
            TextOf::Cased(..) | TextOf::Joined(_) | TextOf::Replaced { .. } | TextOf::Matched { .. } => {
                let mut made = Vec::with_capacity(stored.len());
                return Ok(self.append(stored, spelling, &mut made)?.map(|()| Cow::Owned(made)));
            }
        }))
    }

    /// Appends what a stored text comes to. Something may have been appended where nothing is told.
    fn append(&self, stored: &[u8], spelling: Spelling, out: &mut Vec<u8>) -> Told<()> {
        match self {
            TextOf::Cased(case, of) => {
                let Some(text) = of.tell(stored, spelling)? else { return Ok(None) };
                case.append(&text, spelling, out)?;
            }
            TextOf::Joined(parts) => {
                let begin = out.len();
                for part in parts {
                    let behind = out.len();
                    if part.append(stored, spelling, out)?.is_none() {
                        return Ok(None);
                    }
                    let added = out.get(behind..).unwrap_or_default();
                    // An escape may stand for what is no character, and is another one where it is joined.
                    if !has_needed_escapes_only(added, spelling) || out.len() - begin > TEXT_BYTES_MAX {
                        return Err(Untold);
                    }
                }
            }
            TextOf::Replaced { of, finder, with } => {
                let Some(text) = of.tell(stored, spelling)? else { return Ok(None) };
                characters::replace(&text, finder, with, TEXT_BYTES_MAX, spelling, out)?;
            }
            TextOf::Matched { of, pattern, with } => {
                let Some(text) = of.tell(stored, spelling)? else { return Ok(None) };
                append_replaced(&text, (pattern, with), out)?;
            }
            TextOf::Stored | TextOf::Constant(_) | TextOf::Part { .. } | TextOf::Chosen(_) => {
                let Some(text) = self.tell(stored, spelling)? else { return Ok(None) };
                out.extend_from_slice(&text);
            }
        }
        Ok(Some(()))
    }
}

/// A text, as strings spell it, with something else wherever a pattern matches.
fn append_replaced(
    text: &[u8],
    (pattern, with): (&Pattern, &Replacement),
    out: &mut Vec<u8>,
) -> Result<(), Untold> {
    let is_escaped = has_escapes(text);
    // Of a long one, to read it, to spell it again and to count its characters takes longer than to evaluate it.
    let bytes_max = if is_escaped { ESCAPED_BYTES_MAX } else { TEXT_BYTES_MAX };
    if text.len() > bytes_max {
        return Err(Untold);
    }
    let is_nowhere = matches!(pattern.needed(), Needed::Text(needed) if needed.find(text).is_none());
    if is_nowhere && (!is_escaped || characters::has_needed_escapes_only(text, Spelling::Any)) {
        out.extend_from_slice(text);
        return Ok(());
    }
    let mut left = SEARCHED_MIN + SEARCHED_TIMES * text.len();
    let mut charge = |bytes: usize| {
        left = left.saturating_sub(bytes);
        left > 0
    };
    if is_escaped {
        let made = pattern.replace(&unescape(text), with, TEXT_BYTES_MAX, &mut charge).ok_or(Untold)?;
        write_escaped(&made, out);
        return Ok(());
    }
    let (text, begin) = (std::str::from_utf8(text).map_err(|_| Untold)?, out.len());
    pattern.replace_into(text, with, TEXT_BYTES_MAX, &mut charge, out).ok_or(Untold)?;
    // A pattern may match a part of a character.
    let is_text = out.get(begin..).is_some_and(|made| std::str::from_utf8(made).is_ok());
    is_text.then_some(()).ok_or(Untold)
}

/// `Substring`. What lies behind a part does not matter.
fn part(text: Cow<'_, [u8]>, start: i64, length: Option<i64>, spelling: Spelling) -> Told<Cow<'_, [u8]>> {
    let (Ok(start), Ok(length)) = (usize::try_from(start), length.map(usize::try_from).transpose()) else {
        return Ok(None);
    };
    let Some(start) = characters::place(&text, start, spelling)? else { return Ok(None) };
    let behind = text.get(start..).unwrap_or_default();
    let end = match length {
        Some(length) => {
            characters::place(behind, length, spelling)?.map_or(text.len(), |length| start + length)
        }
        None if has_needed_escapes_only(behind, spelling) => text.len(),
        None => return Err(Untold),
    };
    Ok(Some(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(start..end).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(start..end).unwrap_or_default().to_vec()),
    }))
}

impl<'e> NumberOf<'e> {
    fn of(expr: &'e Expr, is_stored: &impl Fn(&Expr) -> bool) -> Option<NumberOf<'e>> {
        match expr {
            Expr::Constant(Value::Number(number)) => number.text().parse().ok().map(NumberOf::Constant),
            Expr::If(parts) => {
                let choice = Choice::of(parts, is_stored, |expr| NumberOf::of(expr, is_stored))?;
                Some(NumberOf::Chosen(choice))
            }
            Expr::Arithmetic(op, left, right) => {
                let pair =
                    || Some(Box::new((NumberOf::of(left, is_stored)?, NumberOf::of(right, is_stored)?)));
                match op {
                    Arithmetic::Add => Some(NumberOf::Sum(pair()?)),
                    Arithmetic::Subtract => Some(NumberOf::Difference(pair()?)),
                    Arithmetic::Multiply | Arithmetic::Divide | Arithmetic::Remainder | Arithmetic::Power => {
                        None
                    }
                }
            }
            Expr::Call { function, arguments, ci: false } => {
                if let ("Length", [of]) = (function.name, arguments.as_slice()) {
                    return Some(NumberOf::Length(Box::new(TextOf::of(of, is_stored)?)));
                }
                let [text, Expr::Constant(Value::Text(part))] = arguments.as_slice() else { return None };
                let part = plain(&part.text())?;
                let text = || TextOf::of(text, is_stored).map(Box::new);
                match function.name {
                    "IndexOf" => {
                        let finder = Box::new(memmem::Finder::new(&part).into_owned());
                        Some(NumberOf::IndexOf { text: text()?, finder })
                    }
                    "LastIndexOf" => {
                        let finder = Box::new(memmem::FinderRev::new(&part).into_owned());
                        Some(NumberOf::LastIndexOf { text: text()?, finder })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The number as one that any plain text tells, if it is.
    fn place(&self) -> Option<Place<'_>> {
        match self {
            NumberOf::Constant(number) => Place::constant(*number),
            NumberOf::IndexOf { text, finder } => text.is_stored().then(|| Place::of_first(finder)),
            NumberOf::LastIndexOf { text, finder } => text.is_stored().then_some(Place::LastText(finder)),
            NumberOf::Length(text) => text.is_stored().then_some(Place::Length),
            NumberOf::Sum(of) => Some(of.0.place()?.sum(of.1.place()?)),
            NumberOf::Difference(of) => Some(of.0.place()?.difference(of.1.place()?)),
            NumberOf::Chosen(_) => None,
        }
    }

    fn is_of_stored(&self) -> bool {
        match self {
            NumberOf::Constant(_) => false,
            NumberOf::IndexOf { text, .. } | NumberOf::LastIndexOf { text, .. } | NumberOf::Length(text) => {
                text.is_of_stored()
            }
            NumberOf::Sum(of) | NumberOf::Difference(of) => of.0.is_of_stored() || of.1.is_of_stored(),
            NumberOf::Chosen(choice) => choice.otherwise.is_of_stored(),
        }
    }

    fn tell(&self, stored: &[u8], spelling: Spelling) -> Told<i64> {
        let place = |text: &[u8], at: Option<usize>| match at {
            // What stands for another character has a backslash: it is nowhere else either.
            None => Ok(Some(-1)),
            Some(at) => Ok(Some(characters::count(text.get(..at).unwrap_or_default(), spelling)? as i64)),
        };
        let both = |of: &(NumberOf<'e>, NumberOf<'e>), reckon: fn(i64, i64) -> Option<i64>| match of
            .0
            .tell(stored, spelling)?
            .zip(of.1.tell(stored, spelling)?)
        {
            None => Ok(None),
            Some((left, right)) => reckon(left, right).map(Some).ok_or(Untold),
        };
        match self {
            NumberOf::Constant(number) => Ok(Some(*number)),
            NumberOf::IndexOf { text, finder } => match text.tell(stored, spelling)? {
                None => Ok(None),
                Some(text) => place(&text, characters::find(&text, finder, spelling)),
            },
            NumberOf::LastIndexOf { text, finder } => match text.tell(stored, spelling)? {
                None => Ok(None),
                Some(text) => place(&text, characters::find_last(&text, finder, spelling)),
            },
            NumberOf::Length(text) => match text.longer_by(stored, spelling)? {
                Some(longer) => Ok(Some(characters::count(stored, spelling)? as i64 + longer)),
                None => Ok(match text.tell(stored, spelling)? {
                    None => None,
                    Some(text) => Some(characters::count(&text, spelling)? as i64),
                }),
            },
            // How often a text stands in another one is asked so.
            NumberOf::Difference(of)
                if let (NumberOf::Length(text), NumberOf::Length(other)) = &**of
                    && text.is_stored()
                    && let Some(longer) = other.longer_by(stored, spelling)? =>
            {
                Ok(Some(-longer))
            }
            NumberOf::Sum(of) => both(of, i64::checked_add),
            NumberOf::Difference(of) => both(of, i64::checked_sub),
            NumberOf::Chosen(choice) => choice.chosen(stored, spelling).tell(stored, spelling),
        }
    }
}

impl<'e> Mapping<'e> {
    pub(super) fn of(expr: &'e Expr, is_stored: impl Fn(&Expr) -> bool) -> Option<Mapping<'e>> {
        if expr.count() > PARTS_MAX || is_stored(expr) || matches!(expr, Expr::Constant(_)) {
            return None;
        }
        // Rows without a text are not asked: nothing comes of them.
        let number = NumberOf::of(expr, &is_stored).filter(NumberOf::is_of_stored).map(Mapping::Number);
        let text = || TextOf::of(expr, &is_stored).filter(TextOf::is_of_stored).map(Mapping::Text);
        number.or_else(text)
    }

    /// Whether it makes of all values of a dictionary what they are: these are known better, and have kept what was asked of them before.
    fn leaves_all(&self, dictionary: &Dictionary) -> bool {
        let Mapping::Text(text) = self else { return false };
        dictionary.is_plain() && text.leaves_all(dictionary) && dictionary.has_strings_only()
    }

    /// Whether different texts may well come to the same.
    fn leaves_out(&self) -> bool {
        match self {
            Mapping::Text(text) => text.leaves_out(),
            Mapping::Number(_) => true,
        }
    }

    /// The same over texts that are spelled so.
    pub(super) fn over(&self, spelling: Spelling) -> Writer<'_> {
        match self {
            Mapping::Text(of) => Writer::Text(of.over(spelling)),
            Mapping::Number(of) => Writer::Number(of, spelling),
        }
    }
}

/// What functions of strings make of texts that are spelled in one way.
pub(super) enum Writer<'m> {
    Text(Over<'m>),
    Number(&'m NumberOf<'m>, Spelling),
}

impl Writer<'_> {
    /// Appends what becomes of a text, with its quotes; nothing for undefined, or where its bytes do not tell.
    pub(super) fn write(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Untold> {
        match self {
            Writer::Text(of) => {
                let begin = out.len();
                out.push(b'"');
                let told = of.append(text, out);
                match told {
                    Ok(Some(())) => out.push(b'"'),
                    Ok(None) | Err(Untold) => out.truncate(begin),
                }
                told?;
            }
            Writer::Number(of, spelling) => {
                if let Some(number) = of.tell(text, spelling.of_one(text))? {
                    write_json(&Value::Number(Number::Decimal(number.into())), out);
                }
            }
        }
        Ok(())
    }
}

/// A text that comes of those that are spelled in one way.
pub(super) struct Over<'m> {
    text: &'m TextOf<'m>,
    spelling: Spelling,
    /// The same of a plain text, where it is a part of it.
    cut: Option<Cut<'m>>,
}

impl Over<'_> {
    /// A part of a text that is told by how it begins, whatever is behind that.
    #[inline]
    fn part_of_beginning<'t>(&self, stored: &'t [u8]) -> Option<Option<&'t [u8]>> {
        let cut = self.cut.as_ref().filter(|_| self.spelling == Spelling::Any)?;
        cut.part_of_beginning(stored)
    }

    /// What a stored text comes to, which has no quotes.
    #[inline]
    pub(super) fn tell<'t>(&'t self, stored: &'t [u8]) -> Told<Cow<'t, [u8]>> {
        if let Some(part) = self.part_of_beginning(stored) {
            return Ok(part.map(Cow::Borrowed));
        }
        match (&self.cut, self.spelling.of_one(stored)) {
            (Some(cut), Spelling::Plain) => Ok(cut.part(stored).map(Cow::Borrowed)),
            (_, spelling) => self.text.tell(stored, spelling),
        }
    }

    /// Appends what a stored text comes to. Something may have been appended where nothing is told.
    #[inline]
    fn append(&self, stored: &[u8], out: &mut Vec<u8>) -> Told<()> {
        if let Some(part) = self.part_of_beginning(stored) {
            return Ok(part.map(|part| out.extend_from_slice(part)));
        }
        match (&self.cut, self.spelling.of_one(stored)) {
            (Some(cut), Spelling::Plain) => Ok(cut.part(stored).map(|part| out.extend_from_slice(part))),
            (_, spelling) => self.text.append(stored, spelling, out),
        }
    }
}

/// After so many entries it is asked whether to go on.
pub(super) const CHECKED_ENTRIES: u32 = 1024;

impl Dictionary {
    /// How its texts are spelled.
    pub(super) fn spelling(&self) -> Spelling {
        if self.is_plain() { Spelling::Plain } else { Spelling::Any }
    }
}

impl Evaluator<'_> {
    /// Whether an expression makes texts of those of a column without being evaluated.
    pub(super) fn is_mapped(&self, expr: &Expr) -> bool {
        self.mapping(expr).is_some()
    }

    fn mapping<'e>(&self, expr: &'e Expr) -> Option<Mapping<'e>> {
        Mapping::of(expr, |leaf| self.as_column(leaf).flatten().is_some())
    }

    /// The column that functions of strings make of one of texts, entry by entry; none for another expression, or where one fails for an entry, which
    /// may be that of a row that does not pass.
    pub(super) fn mapped(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let mapping = self.mapping(expr)?;
        let slot = self.only(expr)??;
        let column = self.column(slot)?;
        let coded = column.texts()?;
        if mapping.leaves_all(&coded.dictionary) {
            return Some(column.clone());
        }
        let made = self.mapped_entries(expr, &mapping, (slot, coded))?;
        Some(Arc::new(PathColumn::Coded(Coded::mapped(coded, made))))
    }

    /// The same, where parts of texts that do not repeat, and do so themselves, have entries that rows share.
    pub(super) fn mapped_and_shared(&self, expr: &Expr) -> Option<Arc<PathColumn>> {
        let mapping = self.mapping(expr)?;
        let slot = self.only(expr)??;
        let column = self.column(slot)?;
        let beginnings = match &**column {
            PathColumn::Pieces(column) => column.beginnings(|beginning| mapping.is_told_by(beginning)),
            _ => None,
        };
        let coded = match &beginnings {
            Some(beginnings) => beginnings,
            None => {
                let coded = column.texts()?;
                if mapping.leaves_all(&coded.dictionary) {
                    return Some(column.clone());
                }
                coded
            }
        };
        let made = self.mapped_entries(expr, &mapping, (slot, coded))?;
        // Texts that are different as they are stored would be looked up in vain.
        let may_repeat = coded.codes().is_none() || mapping.leaves_out();
        let made =
            if may_repeat { Coded::mapped_and_shared(coded, made) } else { Coded::mapped(coded, made) };
        Some(Arc::new(PathColumn::Coded(made)))
    }

    /// Adds what functions of strings make of the texts of some rows; false for another expression, or where bytes do not tell it.
    pub(super) fn map_rows(&self, expr: &Expr, rows: &Passing, made: &mut Texts) -> bool {
        let Some(mapping) = self.mapping(expr) else { return false };
        let column = self.only(expr).flatten().and_then(|slot| self.column(slot));
        let Some(coded) = column.and_then(|column| column.texts()) else { return false };
        let writer = mapping.over(coded.dictionary.spelling());
        rows.places().all(|row| {
            let json = coded.dictionary.get(coded.code(row as usize));
            made.add_told(|out| match json {
                [] => true,
                json => unquoted(json).is_some_and(|text| writer.write(text, out).is_ok()),
            })
        })
    }

    /// The numbers that functions of strings make of a column of texts, each of which has its own; none where texts are shared by rows, which numbers
    /// are not, or where bytes do not tell one.
    pub(super) fn mapped_numbers(&self, expr: &Expr) -> Option<Reckoned> {
        let Mapping::Number(number) = self.mapping(expr)? else { return None };
        let column = self.column(self.only(expr)??)?;
        let have_beginnings = match &**column {
            PathColumn::Pieces(column) => {
                column.have_beginnings(|beginning| number.told_by(beginning).is_some())
            }
            _ => false,
        };
        if have_beginnings || !number.is_of_stored() {
            return None;
        }
        let coded = column.texts().filter(|coded| coded.codes().is_none())?;
        let spelling = coded.dictionary.spelling();
        let (mut rows, mut values) = (Vec::new(), Vec::with_capacity(coded.dictionary.len()));
        for row in 0..coded.dictionary.len() as u32 {
            if row.is_multiple_of(CHECKED_ENTRIES) && self.check().is_err() {
                return None;
            }
            let told = match coded.dictionary.get(row) {
                [] => None,
                json => {
                    let text = unquoted(json)?;
                    number.tell(text, spelling.of_one(text)).ok()?
                }
            };
            if let Some(value) = told {
                rows.push(row);
                values.push(value);
            }
        }
        let rows = (rows.len() != coded.dictionary.len()).then_some(rows);
        Some(Reckoned::computed(rows, values, 0))
    }

    /// What functions of strings make of each entry.
    fn mapped_entries(
        &self,
        expr: &Expr,
        mapping: &Mapping<'_>,
        (slot, coded): (usize, &Coded),
    ) -> Option<Dictionary> {
        let dictionary = &coded.dictionary;
        let writer = mapping.over(dictionary.spelling());
        let (mut bytes, mut ends) =
            (Vec::with_capacity(dictionary.text_bytes()), Vec::with_capacity(dictionary.len()));
        let mut others = Vec::new();
        for entry in 0..dictionary.len() as u32 {
            if bytes.len() > BYTES_MAX || (entry.is_multiple_of(CHECKED_ENTRIES) && self.check().is_err()) {
                return None;
            }
            let is_told = match dictionary.get(entry) {
                [] => true,
                json => unquoted(json).is_some_and(|text| writer.write(text, &mut bytes).is_ok()),
            };
            if !is_told {
                others.push(entry);
            }
            ends.push(u32::try_from(bytes.len()).ok()?);
        }
        bytes.shrink_to_fit();
        let mut made = Dictionary::new(bytes, ends);
        if !others.is_empty() {
            made = self.and_evaluated(expr, (slot, coded), &others, &made)?;
        }
        Some(made)
    }

    /// The same with the values of entries that are evaluated, in whose places nothing stands.
    fn and_evaluated(
        &self,
        expr: &Expr,
        (slot, coded): (usize, &Coded),
        others: &[u32],
        made: &Dictionary,
    ) -> Option<Dictionary> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(made.len()));
        let mut add_up_to = |end: usize, bytes: &mut Vec<u8>| {
            for entry in ends.len()..end {
                bytes.extend_from_slice(made.get(entry as u32));
                ends.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
            }
        };
        let evaluated = self.each_entry(expr, slot, coded, others.iter().copied(), |entry, value| {
            if bytes.len() <= BYTES_MAX {
                add_up_to(entry, &mut bytes);
                write_json(&value, &mut bytes);
                add_up_to(entry + 1, &mut bytes);
            }
        });
        evaluated.ok()?;
        if bytes.len() > BYTES_MAX {
            return None;
        }
        add_up_to(made.len(), &mut bytes);
        u32::try_from(bytes.len()).ok()?;
        Some(Dictionary::new(bytes, ends))
    }
}
