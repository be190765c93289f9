//! Conditions on the texts of a column, told from the bytes of its dictionary as far as these tell.

use super::characters::end_in_escape;
use super::evaluate::{Evaluator, Mask, count};
use crate::ast::Comparison;
use crate::column_block::{Coded, PathColumn};
use crate::dictionary::{Dictionary, is_plain};
use crate::error::ExecError;
use crate::expr::{Anchored, Expr, Like, LikeForm, Needed, Pattern, holds};
use crate::interrupt::{Meter, STEP_UNITS};
use crate::value::{Value, json};
use memchr::memmem;
use tamias_json::Isa;
use tamias_json::search::Needle;
use tamias_shred::{Holds, TextPieces, Wanted, Within};

/// What strings are asked for. The bytes are those that strings are stored with, which have one spelling each.
pub(super) enum Sought<'e> {
    Contains(Box<memmem::Finder<'e>>),
    /// What is looked at further if it has a text of ASCII in it, in any case.
    Core(Box<Needle>),
    /// What is looked at further if it has a character beyond ASCII, or an escape.
    Foreign,
    /// A text of ASCII in any case; and what is found wherever that is, also where other characters stand for its letters.
    Folded(Box<Needle>, Option<Box<Needle>>),
    /// With the quote before them.
    Prefix(Vec<u8>),
    /// With the quote behind them.
    Suffix(Vec<u8>),
    /// With the quote before them, these in their order, and with the quote behind them.
    Pieces(Vec<u8>, Vec<memmem::Finder<'e>>, Vec<u8>),
    /// One of these, with their quotes.
    AnyOf(Vec<Vec<u8>>),
    /// A text of ASCII in any case, with the quotes that stand beside it.
    AnyCase(Place, Vec<u8>),
    /// Those that compare so with a text.
    Ordered(Comparison, Vec<u8>),
    /// What is looked at further if it has what a pattern needs.
    Needed(&'e Needed),
}

/// Where a text stands in a string.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Start,
    End,
    Whole,
}

impl Place {
    /// Whether a stored string has a text of ASCII without escapes there, in any case; none where its bytes do not tell.
    fn has(self, string: &[u8], text: &[u8]) -> Option<bool> {
        // An escape stands for no character of the text, and where one string ends the other has no quote.
        let tell = |(byte, wanted): (&u8, &u8)| match byte {
            byte if !byte.is_ascii() => Some(if other_letter(string).is_some() { None } else { Some(false) }),
            byte if !byte.eq_ignore_ascii_case(wanted) => Some(Some(false)),
            _ => None,
        };
        let told = match self {
            Place::Start | Place::Whole => string.iter().zip(text).find_map(tell),
            Place::End => string.iter().rev().zip(text.iter().rev()).find_map(tell),
        };
        told.unwrap_or_else(|| match (self, string.len().checked_sub(text.len())) {
            // There is none.
            (_, None) => Some(false),
            (Place::Start, Some(_)) => Some(true),
            (Place::Whole, Some(longer)) => Some(longer == 0),
            (Place::End, Some(at)) => is_its_own(string, at).then_some(true),
        })
    }
}

/// Where a character beyond ASCII begins that is a letter of ASCII in the other case: İ, ı, ſ or the sign of Kelvin (Unicode, `UnicodeData.txt`: simple mappings).
pub(super) fn other_letter(bytes: &[u8]) -> Option<usize> {
    memchr::memchr3_iter(0xc4, 0xc5, 0xe2, bytes).find(|at| {
        let character = bytes.get(*at..).unwrap_or_default();
        ["İ", "ı", "ſ", "\u{212a}"].iter().any(|other| character.starts_with(other.as_bytes()))
    })
}

/// A string as it is stored; none where it may be stored as what is no text and reads as this.
pub(super) fn spelled(text: &str) -> Option<Vec<u8>> {
    json(&Value::from(text)).filter(|_| !text.contains(char::REPLACEMENT_CHARACTER))
}

/// Longer texts are searched in strings that are put together: where one may begin in a piece and end in another is looked for at each of its bytes.
const PART_BYTES_MAX: usize = 256;

/// A text that stands in all strings that are sought.
pub(super) struct Part<'s> {
    /// How it is looked for.
    pub(super) wanted: Wanted<'s>,
    find: Find<'s>,
    /// Whether all strings are sought in which it stands.
    is_all: bool,
}

/// Finds a text in others.
enum Find<'s> {
    Exact(memmem::Finder<'s>),
    AnyCase(Needle),
}

impl Part<'_> {
    /// Of each row whether its text may have it.
    pub(super) fn search(&self, pieces: &TextPieces) -> Vec<Holds> {
        pieces.search(self.wanted, |text| self.is_in(text))
    }

    /// Whether a text is to be looked at of which the pieces tell so much.
    pub(super) fn leaves_open(&self, holds: Holds) -> bool {
        match holds {
            Holds::Untold => true,
            Holds::Yes => !self.is_all,
            Holds::No | Holds::Nothing => false,
        }
    }

    /// The rows whose texts are to be looked at.
    pub(super) fn open_rows(&self, found: &[Holds]) -> Vec<u32> {
        (0..).zip(found).filter(|(_, holds)| self.leaves_open(**holds)).map(|(row, _)| row).collect()
    }

    /// Whether it stands in a text or a part of one, as far as their own bytes tell.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.find.is_in(text)
    }

    /// Whether a text that is sought may lie in some bytes.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        self.is_in(bytes) || self.wanted.has_others && !is_plain(bytes)
    }
}

impl Find<'_> {
    fn is_in(&self, text: &[u8]) -> bool {
        match self {
            Find::Exact(finder) => finder.find(text).is_some(),
            Find::AnyCase(needle) => needle.first_in(Isa::best(), text).is_some(),
        }
    }
}

/// What follows the quote at the start of a string, or of a part of one.
fn opened(part: &[u8]) -> &[u8] {
    part.strip_prefix(b"\"").unwrap_or(part)
}

/// What comes before the quote at the end.
fn closed(part: &[u8]) -> &[u8] {
    part.strip_suffix(b"\"").unwrap_or(part)
}

/// More constants than these are looked up one by one.
const CONSTANTS_MAX: usize = 16;

impl Sought<'_> {
    /// Strings with these bytes in them.
    pub(super) fn contains(bytes: &[u8]) -> Sought<'_> {
        Sought::Contains(Box::new(memmem::Finder::new(bytes)))
    }

    /// Strings with a text in them.
    fn containing<'e>(text: &str) -> Option<Sought<'e>> {
        let spelled = spelled(text)?;
        Some(Sought::Contains(Box::new(memmem::Finder::new(unquoted(&spelled)?).into_owned())))
    }

    /// Strings that begin with a text.
    fn prefix<'e>(text: &str) -> Option<Sought<'e>> {
        let mut prefix = spelled(text)?;
        prefix.pop();
        Some(Sought::Prefix(prefix))
    }

    /// Strings that end with a text.
    fn suffix<'e>(text: &str) -> Option<Sought<'e>> {
        Some(Sought::Suffix(spelled(text)?.split_off(1)))
    }

    /// Strings that match a pattern whatever the case of letters, as far as that can be searched for.
    pub(super) fn in_any_case<'e>(pattern: &Like) -> Option<Sought<'e>> {
        let needle = |bytes: &[u8]| Needle::folded(bytes).map(Box::new);
        let core = pattern.core().and_then(|core| needle(core.as_bytes()));
        let folded = match pattern.form_in_any_case() {
            // No letter of an escape stands there in the other case.
            LikeForm::Contains(text) if pattern.ci() && text.is_ascii() => {
                spelled(text).and_then(|spelled| needle(unquoted(&spelled)?))
            }
            _ => None,
        };
        match (folded, core) {
            (Some(folded), core) => Some(Sought::Folded(folded, core)),
            (None, Some(core)) => Some(Sought::Core(core)),
            (None, None) => pattern.is_foreign().then_some(Sought::Foreign),
        }
    }

    /// Strings that have some texts in their order: the first at the start, the last at the end.
    fn pieces<'e>(pieces: &[String]) -> Option<Sought<'e>> {
        let texts = pieces.iter().map(|piece| spelled(piece)).collect::<Option<Vec<_>>>()?;
        let (last, texts) = texts.split_last()?;
        let (first, between) = texts.split_first()?;
        let between = between.iter().filter_map(|text| text.get(1..text.len() - 1));
        let between = between.map(|text| memmem::Finder::new(text).into_owned()).collect();
        Some(Sought::Pieces(first.strip_suffix(b"\"")?.to_vec(), between, last.strip_prefix(b"\"")?.to_vec()))
    }

    /// Strings with a text of ASCII in a place, in any case; none where other characters are sought, or escapes.
    pub(super) fn placed<'e>(place: Place, text: &str) -> Option<Sought<'e>> {
        let mut spelled = spelled(text).filter(|spelled| is_plain(spelled))?;
        if let Place::Start = place {
            spelled.pop();
        }
        let from = usize::from(matches!(place, Place::End));
        Some(Sought::AnyCase(place, spelled.split_off(from)))
    }

    /// Strings that match a pattern somewhere.
    fn matched(pattern: &Pattern) -> Option<Sought<'_>> {
        Some(match pattern.anchored() {
            None => match pattern.text().and_then(Sought::containing) {
                Some(sought) => sought,
                None => Sought::Needed(pattern.needed()),
            },
            Some(Anchored::Start(text)) => Sought::prefix(text)?,
            Some(Anchored::End(text)) => Sought::suffix(text)?,
            Some(Anchored::Whole(text)) => Sought::AnyOf(vec![spelled(text)?]),
        })
    }

    /// The expression whose strings a condition is about, what it asks for, and whether it asks for all others.
    pub(super) fn of(expr: &Expr) -> Option<(&Expr, Sought<'_>, bool)> {
        match expr {
            Expr::Match { left, pattern } => Some((left, Sought::matched(pattern)?, false)),
            Expr::MatchWhole { left, pattern, negated } => {
                Some((left, Sought::Needed(pattern.needed()), *negated))
            }
            Expr::Like { left, pattern, negated } => {
                let sought = match pattern.form() {
                    LikeForm::Contains(text) => Sought::containing(text)?,
                    LikeForm::Prefix(text) => Sought::prefix(text)?,
                    LikeForm::Suffix(text) => Sought::suffix(text)?,
                    LikeForm::Exact(text) => Sought::AnyOf(vec![spelled(text)?]),
                    LikeForm::Pieces(pieces) => Sought::pieces(pieces)?,
                    LikeForm::Matched(pattern) => Sought::Needed(pattern.needed()),
                    LikeForm::Other => {
                        let placed = match pattern.form_in_any_case() {
                            LikeForm::Prefix(text) => Sought::placed(Place::Start, text),
                            LikeForm::Suffix(text) => Sought::placed(Place::End, text),
                            LikeForm::Exact(text) => Sought::placed(Place::Whole, text),
                            LikeForm::Contains(_)
                            | LikeForm::Pieces(_)
                            | LikeForm::Matched(_)
                            | LikeForm::Other => None,
                        };
                        placed.or_else(|| Sought::in_any_case(pattern))?
                    }
                };
                Some((left, sought, *negated))
            }
            Expr::Compare { op: op @ (Comparison::Equal | Comparison::NotEqual), left, right, ci } => {
                let (of, constant) = match (&**left, &**right) {
                    (of, Expr::Constant(constant)) | (Expr::Constant(constant), of) => (of, constant),
                    _ => return None,
                };
                let sought = match (ci, constant) {
                    (true, Value::Text(text)) => Sought::placed(Place::Whole, &text.text())?,
                    (true, _) => return None,
                    (false, constant) => Sought::any_of(std::slice::from_ref(constant))?,
                };
                Some((of, sought, *op == Comparison::NotEqual))
            }
            Expr::Compare { op, left, right, ci: false } => {
                let (of, constant, op) = match (&**left, &**right) {
                    (of, Expr::Constant(constant)) => (of, constant, *op),
                    (Expr::Constant(constant), of) => (of, constant, op.flipped()),
                    _ => return None,
                };
                let Value::Text(text) = constant else { return None };
                Some((of, Sought::Ordered(op, text.text().into_owned().into_bytes()), false))
            }
            Expr::Call { function, arguments, ci } => {
                let [of, Expr::Constant(Value::Text(part))] = arguments.as_slice() else { return None };
                let part = part.text();
                if part.is_empty() || part.contains(char::REPLACEMENT_CHARACTER) {
                    return None;
                }
                let sought = match function.name {
                    "StartsWith" if *ci => Sought::placed(Place::Start, &part)?,
                    "EndsWith" if *ci => Sought::placed(Place::End, &part)?,
                    "Contains" if *ci => Sought::in_any_case(&Like::containing(&part)?)?,
                    _ if *ci => return None,
                    "StartsWith" => Sought::prefix(&part)?,
                    "EndsWith" => Sought::suffix(&part)?,
                    "Contains" => Sought::containing(&part)?,
                    _ => return None,
                };
                Some((of, sought, false))
            }
            Expr::InSet { left, set, negated } if !set.ci() => {
                Some((left, Sought::any_of(set.values())?, *negated))
            }
            _ => None,
        }
    }

    /// Constants, if they are a few strings.
    fn any_of<'e>(constants: &[Value<'_>]) -> Option<Sought<'e>> {
        let text = |constant: &Value<'_>| match constant {
            Value::Text(text) => spelled(&text.text()),
            Value::Undefined
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        };
        let texts = constants.iter().map(text).collect::<Option<Vec<_>>>()?;
        (texts.len() <= CONSTANTS_MAX).then_some(Sought::AnyOf(texts))
    }

    /// Marks the entries that may be what is sought: no other string is.
    pub(super) fn mark(&self, dictionary: &Dictionary, marks: &mut [bool]) {
        let isa = Isa::best();
        match self {
            Sought::Contains(finder) => dictionary.mark(marks, |bytes| finder.find(bytes)),
            Sought::Core(core) | Sought::Folded(_, Some(core)) => {
                dictionary.mark(marks, |bytes| core.first_in(isa, bytes));
            }
            Sought::Needed(needed) => match needed {
                Needed::Text(finder) if !stand_in_most(needed, dictionary) => {
                    dictionary.mark(marks, |bytes| finder.find(bytes));
                }
                Needed::AnyOf(any) if !stand_in_most(needed, dictionary) => {
                    dictionary.mark(marks, |bytes| any.find(bytes).map(|found| found.start()));
                }
                Needed::Nothing | Needed::Text(_) | Needed::AnyOf(_) => {
                    dictionary.mark_each(marks, |text| text.first() == Some(&b'"'));
                }
            },
            Sought::Foreign => dictionary.mark_unplain(marks),
            Sought::Folded(folded, None) => {
                dictionary.mark(marks, |bytes| folded.first_in(isa, bytes));
                dictionary.mark(marks, other_letter);
            }
            Sought::Prefix(prefix) => dictionary.mark_each(marks, |text| text.starts_with(prefix)),
            Sought::Suffix(suffix) => {
                dictionary.mark_each(marks, |text| text.len() > suffix.len() && text.ends_with(suffix));
            }
            Sought::Pieces(first, between, last) => {
                dictionary.mark_each(marks, |text| has_pieces(text, first, between, last));
            }
            Sought::AnyOf(texts) => {
                texts.iter().for_each(|text| dictionary.mark_each(marks, |other| other == text));
            }
            Sought::AnyCase(place, text) => {
                dictionary.mark_each(marks, |other| place.has(other, text) != Some(false));
            }
            Sought::Ordered(op, text) => {
                dictionary.mark_each(marks, |other| compares(*op, other, text));
                dictionary.mark_unplain(marks);
            }
        }
    }
}

impl Sought<'_> {
    /// Whether a stored string that is marked is what is sought; none where its bytes do not tell.
    pub(super) fn is_in(&self, text: &[u8]) -> Option<bool> {
        match self {
            Sought::Contains(finder) => is_its_own(text, finder.find(text)?).then_some(true),
            Sought::Folded(folded, _) => match folded.first_in(Isa::best(), text) {
                Some(at) => is_its_own(text, at).then_some(true),
                None => other_letter(text).is_none().then_some(false),
            },
            Sought::Core(_) | Sought::Foreign | Sought::Needed(_) => None,
            // Whole characters are the same ones wherever they begin where one does.
            Sought::Prefix(_) | Sought::AnyOf(_) => Some(true),
            Sought::Suffix(suffix) => {
                Some(text.len().checked_sub(suffix.len()).is_some_and(|at| is_its_own(text, at)))
            }
            Sought::Pieces(..) => is_plain(text).then_some(true),
            Sought::AnyCase(place, part) => place.has(text, part),
            Sought::Ordered(op, than) => is_plain(text).then(|| compares(*op, text, than)),
        }
    }

    /// A text that stands in each string that is sought, as it is stored; none where there is none.
    pub(super) fn part(&self) -> Option<Part<'_>> {
        let exact = |text| {
            let wanted = Wanted { text, any_case: false, has_others: false, within: Within::Anywhere };
            Part { wanted, find: Find::Exact(memmem::Finder::new(text)), is_all: false }
        };
        let any_case =
            |text, has_others| Wanted { text, any_case: true, has_others, within: Within::Anywhere };
        let placed = |text, within| {
            let part = exact(text);
            Part { wanted: Wanted { within, ..part.wanted }, is_all: true, ..part }
        };
        let part = match self {
            Sought::Contains(finder) => Part { is_all: true, ..exact(finder.needle()) },
            Sought::Folded(folded, core) => {
                let sought = core.as_ref().unwrap_or(folded);
                let is_all = sought.bytes() == folded.bytes();
                // No other characters stand for the letters of a core.
                let wanted = any_case(sought.bytes(), core.is_none());
                Part { wanted, find: Find::AnyCase((**sought).clone()), is_all }
            }
            Sought::Core(core) => Part {
                wanted: any_case(core.bytes(), false),
                find: Find::AnyCase((**core).clone()),
                is_all: false,
            },
            Sought::Prefix(prefix) => placed(opened(prefix), Within::Start),
            Sought::Suffix(suffix) => placed(closed(suffix), Within::End),
            Sought::Pieces(first, between, last) => {
                let between = between.iter().map(memmem::Finder::needle);
                exact(between.chain([opened(first), closed(last)]).max_by_key(|text| text.len())?)
            }
            Sought::AnyOf(texts) => match texts.as_slice() {
                [text] => placed(opened(closed(text)), Within::Whole),
                _ => return None,
            },
            Sought::AnyCase(_, text) => {
                let text = opened(closed(text));
                Part {
                    wanted: any_case(text, true),
                    find: Find::AnyCase(Needle::folded(text)?),
                    is_all: false,
                }
            }
            Sought::Foreign => {
                // A byte that such a character may have; texts without one are told by having none.
                let byte = exact(b"\x80");
                Part { wanted: Wanted { has_others: true, ..byte.wanted }, ..byte }
            }
            Sought::Needed(Needed::Text(finder)) => exact(finder.needle()),
            Sought::Needed(Needed::Nothing | Needed::AnyOf(_)) | Sought::Ordered(..) => return None,
        };
        (1..=PART_BYTES_MAX).contains(&part.wanted.text.len()).then_some(part)
    }

    /// Whether the condition is undefined for what is no string.
    pub(super) fn asks_for_texts(&self, expr: &Expr) -> bool {
        match self {
            Sought::AnyOf(_) | Sought::AnyCase(..) => {
                !matches!(expr, Expr::Compare { .. } | Expr::InSet { .. })
            }
            Sought::Needed(_) => !matches!(expr, Expr::MatchWhole { .. }),
            Sought::Contains(_)
            | Sought::Core(_)
            | Sought::Foreign
            | Sought::Folded(..)
            | Sought::Prefix(_)
            | Sought::Suffix(_)
            | Sought::Pieces(..)
            | Sought::Ordered(..) => true,
        }
    }

    /// Whether all marked strings of ASCII without escapes are what is sought.
    fn is_told_by_marks(&self) -> bool {
        !matches!(self, Sought::Core(_) | Sought::Folded(_, Some(_)) | Sought::Needed(_))
    }
}

/// So many texts are looked at to tell whether what a pattern needs stands in most of them.
const PROBE: usize = 64;

/// HEURISTIC: where it stands in more of them, looking for it in all texts spares less than it takes.
const MOST_SHARE: (usize, usize) = (3, 4);

/// Whether what a pattern needs stands in most texts.
fn stand_in_most(needed: &Needed, dictionary: &Dictionary) -> bool {
    let step = dictionary.len().div_ceil(PROBE).max(1);
    let probed = (0..dictionary.len() as u32).step_by(step);
    let (mut all, mut with) = (0, 0);
    for entry in probed {
        all += 1;
        with += usize::from(needed.is_in(dictionary.get(entry)));
    }
    let (most, of) = MOST_SHARE;
    with * of > all * most
}

/// What stands between the quotes of a string.
pub(super) fn unquoted(json: &[u8]) -> Option<&[u8]> {
    json.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The text of a stored string in which nothing is escaped; none of another value.
pub(super) fn unescaped(json: &[u8]) -> Option<&[u8]> {
    unquoted(json).filter(|text| memchr::memchr(b'\\', text).is_none())
}

/// Whether a stored string begins with a text, ends with another, and has some in their order between.
fn has_pieces(string: &[u8], first: &[u8], between: &[memmem::Finder<'_>], last: &[u8]) -> bool {
    let rest = string.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    let found = between.iter().try_fold(rest, |rest, finder| {
        let rest = rest?;
        Some(finder.find(rest).map(|at| rest.get(at + finder.needle().len()..).unwrap_or_default()))
    });
    found.flatten().is_some()
}

/// How a string without escapes compares with a text.
pub(super) fn compares(op: Comparison, string: &[u8], text: &[u8]) -> bool {
    unquoted(string).is_some_and(|string| holds(op, string.cmp(text)))
}

/// Whether what stands at a place of a stored string is no part of an escape.
fn is_its_own(text: &[u8], at: usize) -> bool {
    text.get(..at).is_some_and(|before| !end_in_escape(before))
}

/// Of each row the mark of its entry.
fn of_rows(coded: &Coded, marks: Vec<bool>) -> Mask {
    match coded.codes() {
        None => marks,
        Some(codes) => {
            codes.iter().map(|code| marks.get(*code as usize).copied().unwrap_or_default()).collect()
        }
    }
}

impl Evaluator<'_> {
    /// Of each row whether a condition on the strings of one column is true; none where it is another one, or rows had better be looked at one by one. Rows that are
    /// not `within` need not be told.
    pub(super) fn test_texts(&self, expr: &Expr, within: Option<&Mask>) -> Result<Option<Mask>, ExecError> {
        let Some((left, sought, negated)) = Sought::in_one_case(expr).or_else(|| Sought::of(expr)) else {
            return Ok(None);
        };
        let count = within.map(|within| count(Some(within)));
        if matches!(sought, Sought::Needed(_)) && count.is_some_and(|count| !self.are_many(count)) {
            return Ok(None);
        }
        let column = self.as_column(left).flatten().cloned().or_else(|| self.mapped(left));
        let (Some(column), Some(Some(slot))) = (column, self.only(expr)) else { return Ok(None) };
        let coded = match &*column {
            PathColumn::Coded(coded) => coded,
            PathColumn::Mixed(column) => column.coded(),
            PathColumn::Pieces(column) => match self.test_pieces(expr, (slot, column), &sought, negated)? {
                Some(mask) => return Ok(Some(mask)),
                None => column.coded(),
            },
            PathColumn::Numbers(_) | PathColumn::Nothing | PathColumn::Unknown => return Ok(None),
        };
        let mut marks = vec![false; coded.dictionary.len()];
        let mut open = sought.tell(&coded.dictionary, &mut marks, negated);
        if let (Some(within), None) = (within, coded.codes()) {
            open.retain(|row| within.get(*row as usize) == Some(&true));
        }
        self.match_unescaped(expr, &sought, &coded.dictionary, &mut open, &mut marks)?;
        // What is evaluated are the stored values.
        let Some(stored) = self.column(slot).and_then(|column| column.coded()) else { return Ok(None) };
        self.evaluate_open(expr, (slot, stored), &open, &mut marks)?;
        Ok(Some(of_rows(coded, marks)))
    }

    /// Of each row whether a condition on its text is true.
    pub(super) fn test_coded(
        &self,
        expr: &Expr,
        (slot, coded): (usize, &Coded),
        sought: &Sought<'_>,
        negated: bool,
    ) -> Result<Mask, ExecError> {
        let mut marks = vec![false; coded.dictionary.len()];
        let open = sought.tell(&coded.dictionary, &mut marks, negated);
        self.evaluate_open(expr, (slot, coded), &open, &mut marks)?;
        Ok(of_rows(coded, marks))
    }

    /// Matches a pattern with the strings among the open ones in which nothing is escaped: the others stay open. The dictionary has what the pattern is matched with, unless
    /// something else is sought, as in texts of another case. Where the condition is `negated`, the strings pass that do not match.
    fn match_unescaped(
        &self,
        expr: &Expr,
        sought: &Sought<'_>,
        dictionary: &Dictionary,
        open: &mut Vec<u32>,
        passes: &mut [bool],
    ) -> Result<(), ExecError> {
        let (pattern, negated) = match (expr, sought) {
            (Expr::Match { pattern, .. }, Sought::Needed(_)) => (pattern, false),
            (Expr::MatchWhole { pattern, negated, .. }, Sought::Needed(_)) => (pattern, *negated),
            (Expr::Like { pattern, negated, .. }, Sought::Needed(_)) => match pattern.form() {
                LikeForm::Matched(pattern) => (pattern, *negated),
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        // Where no text has an escape, none is looked for in each.
        let text_of = if dictionary.has_escapes() { unescaped } else { unquoted };
        let mut meter = Meter::new(&self.control.interrupt);
        let mut ends = Ok(());
        open.retain(|entry| {
            let Some(text) = text_of(dictionary.get(*entry)).filter(|_| ends.is_ok()) else { return true };
            ends = meter.charge(STEP_UNITS + text.len());
            if let Some(passes) = passes.get_mut(*entry as usize) {
                *passes = pattern.is_match_unescaped(text) != negated;
            }
            false
        });
        Ok(ends?)
    }

    /// Evaluates a condition for some entries. Those that are missing are evaluated once.
    pub(super) fn evaluate_open(
        &self,
        expr: &Expr,
        (slot, coded): (usize, &Coded),
        open: &[u32],
        passes: &mut [bool],
    ) -> Result<(), ExecError> {
        let is_missing = |entry: &u32| coded.dictionary.get(*entry).is_empty();
        let missing = open.iter().copied().find(is_missing);
        let values = open.iter().copied().filter(|entry| !is_missing(entry)).chain(missing);
        self.each_entry(expr, slot, coded, values, |entry, value| {
            if let Some(passes) = passes.get_mut(entry) {
                *passes = value.is_true();
            }
        })?;
        if missing.is_some_and(|missing| passes.get(missing as usize) == Some(&true)) {
            for entry in open.iter().filter(|entry| is_missing(entry)) {
                if let Some(passes) = passes.get_mut(*entry as usize) {
                    *passes = true;
                }
            }
        }
        Ok(())
    }
}

impl Sought<'_> {
    /// Marks the entries that pass, as far as their bytes tell: the entries of which they do not.
    pub(super) fn tell(&self, dictionary: &Dictionary, marks: &mut [bool], negated: bool) -> Vec<u32> {
        match self {
            Sought::Contains(finder) => {
                let is_string = |entry: u32| dictionary.get(entry).first() == Some(&b'"');
                let mut open = Vec::new();
                // Where strings pass in which nothing is found, so may what is no string; else nothing is asked of the others.
                if negated {
                    for (entry, mark) in (0..).zip(marks.iter_mut()) {
                        *mark = is_string(entry);
                        if !*mark {
                            open.push(entry);
                        }
                    }
                }
                dictionary.each_found(
                    |bytes| finder.find(bytes),
                    |entry, before| {
                        let Some(mark) = marks.get_mut(entry) else { return };
                        match is_string(entry as u32) {
                            true if !end_in_escape(before) => *mark = !negated,
                            // It may stand there once more.
                            true => {
                                *mark = false;
                                open.push(entry as u32);
                            }
                            false if negated => {}
                            false => open.push(entry as u32),
                        }
                    },
                );
                open
            }
            _ => {
                self.mark(dictionary, marks);
                self.settle(dictionary, marks, negated)
            }
        }
    }

    /// Makes of the marks of entries whether they pass, as far as they tell: the entries of which they do not.
    fn settle(&self, dictionary: &Dictionary, marks: &mut [bool], negated: bool) -> Vec<u32> {
        let mut open = Vec::new();
        let are_told = self.is_told_by_marks() && dictionary.is_plain();
        for (entry, mark) in (0..).zip(marks) {
            // What is not marked, or no string, passes only where others than such strings are wanted.
            if !*mark && !negated {
                continue;
            }
            let text = dictionary.get(entry);
            let is_in = match text.first() {
                Some(b'"') if !*mark || are_told => Some(*mark),
                Some(b'"') => self.is_in(text),
                Some(_) | None => None,
            };
            *mark = is_in.is_some_and(|is_in| is_in != negated);
            if is_in.is_none() {
                open.push(entry);
            }
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{lower, upper};

    #[test]
    fn all_letters_of_ascii_in_the_other_case_are_known() {
        for character in ('\u{80}'..=char::MAX).filter(|c| upper(*c).is_ascii() || lower(*c).is_ascii()) {
            let text = format!("ä{character}");
            assert_eq!(other_letter(text.as_bytes()), Some("ä".len()), "{character}");
        }
        assert_eq!(other_letter("äķōŝ… and nothing else".as_bytes()), None);
    }
}
