//! What is right, and means something else than in other languages: warned of where it is written.

use super::resolve::Resolver;
use crate::Instant;
use crate::ast::{Arguments, Comparison, Node, ParsedExpr};
use crate::builtin::BuiltIn;
use crate::expr::{property, quoted};
use crate::span::Span;
use crate::time::{part_names, part_of};
use crate::value::upper;
use crate::warning::{UnixUnit, Warning};
use icu_casemap::CaseMapper;

/// Nobody reads more warnings of one query.
const WARNINGS_MAX: usize = 20;

/// A longer part of a query is not repeated.
const TEXT_MAX: usize = 1000;

/// What an expression means, and what to write instead.
type Habit = Option<(String, String)>;

/// A comparison as it is written.
#[derive(Clone, Copy)]
struct Written<'q> {
    op: Comparison,
    left: &'q ParsedExpr,
    right: &'q ParsedExpr,
    ci: bool,
    /// The text of the left operand, of the right one, and of all behind the left one.
    first: &'q str,
    second: &'q str,
    rest: &'q str,
}

impl Resolver<'_> {
    /// Warns of an expression that probably means something else than was meant.
    pub(super) fn warn_of_habits(&mut self, expr: &ParsedExpr) {
        let text = expr.span.text(self.text);
        if text.is_empty() || text.len() > TEXT_MAX || self.warnings.len() >= WARNINGS_MAX {
            return;
        }
        let habit = match &expr.node {
            Node::Compare { op, left, right, ci } => {
                let (first, second) = (left.span.text(self.text), right.span.text(self.text));
                // Not up to the end of the whole, which may be a parenthesis.
                let behind = Span::new(left.span.end, right.span.end).text(self.text);
                let rest = &format!("{behind}{}", if *ci { " ci" } else { "" });
                let written = Written { op: *op, left, right, ci: *ci, first, second, rest };
                let habit = self.of_operands(written).or_else(|| self.of_instant(written));
                let habit = habit.or_else(|| of_pattern(written)).or_else(|| of_letters(written));
                let habit = habit.or_else(|| of_signs(written)).or_else(|| of_backslashes(right));
                let habit = habit.or_else(|| of_escape(right, |regex| format!("IsMatch({first}, {regex})")));
                return self.warn(&format!("{first}{rest}"), habit);
            }
            Node::And(terms) => return self.warn_of_terms("and", terms),
            Node::Or(terms) => return self.warn_of_terms("or", terms),
            Node::Arithmetic(_, _, operand) => of_duration(operand),
            Node::Call { name, arguments: Arguments::List(list), .. } => {
                let function = name.text.to_ascii_lowercase();
                match list.as_slice() {
                    [argument] => of_call(&function, argument, argument.span.text(self.text)),
                    [first, others @ ..] => of_constants(&function, first.span.text(self.text), others),
                    [] => None,
                }
            }
            Node::Element(of, index) => of_index(of.span.text(self.text), index),
            _ => None,
        };
        self.warn(text, habit);
    }

    fn warn(&mut self, text: &str, habit: Habit) {
        let Some((meaning, remedy)) = habit else { return };
        let warning = Warning::Habit { text: text.to_owned(), meaning, remedy };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// A constant between conditions, as in `x = 1 or 2`.
    fn warn_of_terms(&mut self, operator: &str, terms: &[ParsedExpr]) {
        let is_constant = |term: &&ParsedExpr| {
            matches!(
                term.node,
                Node::Text(_) | Node::Number(_) | Node::Hex(_) | Node::Duration(_) | Node::Array(_)
            )
        };
        let Some(term) = terms.iter().find(is_constant) else { return };
        let meaning = format!("beside `{operator}` is no condition, and counts as false");
        let remedy = "write a comparison on each side, or `x in ['a', 'b']`".to_owned();
        self.warn(term.span.text(self.text), Some((meaning, remedy)));
    }

    /// What the operands of a comparison are: all that is written before the operator, or less.
    fn of_operands(&self, written: Written<'_>) -> Habit {
        use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
        let Written { op, left, right, first, second, rest, .. } = written;
        let is_bare = !first.starts_with('(');
        let is_order = matches!(op, Less | LessOrEqual | Greater | GreaterOrEqual);
        let text = |expr: &ParsedExpr| expr.span.text(self.text).to_owned();
        Some(match (&left.node, &right.node) {
            (Node::Not(_), Node::Bool(_)) => return None,
            (Node::Not(of), _) if is_bare => {
                (format!("is read as `({first}){rest}`"), format!("write `not ({}{rest})`", text(of)))
            }
            (Node::Compare { right: middle, .. }, _) if is_bare && is_order => (
                "compares a condition with a value, which is undefined".to_owned(),
                format!("write `{first} and {}{rest}`", text(middle)),
            ),
            (Node::BuiltIn(BuiltIn::Level), Node::Text(_)) if is_order => (
                "compares levels as texts, by their letters".to_owned(),
                "name them, as in `@Level in ['Error', 'Fatal']`".to_owned(),
            ),
            (_, Node::Text(_)) if matches!(op, Comparison::In | Comparison::NotIn) => (
                "is undefined, as there is no array on the right".to_owned(),
                format!("write `{first} {} [{second}]`", op.sign()),
            ),
            _ => return None,
        })
    }

    /// Instants, which are numbers of ticks, compared with something else.
    fn of_instant(&self, written: Written<'_>) -> Habit {
        let Written { op, left, right, first, second, rest, .. } = written;
        let number = match (&left.node, &right.node) {
            (_, Node::Number(number)) if self.is_instant(left) => number,
            (Node::Number(number), _) if self.is_instant(right) => number,
            _ if !self.is_instant(left) => return None,
            (_, Node::Text(day)) if op == Comparison::Equal && is_day(day) => {
                let remedy = format!(
                    "for the whole day write `{first} >= {second} and {first} < '…'` with the day after it"
                );
                return Some(("is true at midnight only".to_owned(), remedy));
            }
            _ if matches!(op, Comparison::Like | Comparison::NotLike) => {
                let as_text = format!("`ToIsoString({first}) {}`", rest.trim());
                // Copied into a delete, any other day would take what was not meant.
                let day = if let Node::Text(text) = &right.node { day_of(text) } else { None };
                let range = format!("{first} >= '{}' and {first} < '…'", day.unwrap_or("…"));
                let range = if op == Comparison::Like { range } else { format!("not ({range})") };
                let remedy = match day {
                    Some(_) => format!("write `{range}` with the day after it, or {as_text}"),
                    None => format!("write `{range}`, or {as_text}"),
                };
                return Some(("is undefined, as an instant is a number".to_owned(), remedy));
            }
            _ => return None,
        };
        let value = number.parse::<f64>().ok()?;
        // The greatest instants, as that which .NET has for never, would be nanoseconds of the years from 2065 on.
        if (3e18..=Instant::MAX.ticks() as f64).contains(&value) {
            return None;
        }
        UnixUnit::of((value, value))?;
        let meant = Instant::from_unix_text(number).ok()?;
        let meaning = format!("compares an instant with {number} ticks, not with a Unix time");
        Some((meaning, format!("write '{meant}'")))
    }
}

/// `=` with a pattern, `like` without one, and `=` with a regular expression of plain letters.
fn of_pattern(written: Written<'_>) -> Habit {
    use Comparison::{Equal, Like, NotEqual, NotLike};
    let Written { op, right, ci, first, second, .. } = written;
    Some(match (op, &right.node) {
        (Equal | NotEqual, Node::Regex(source)) if is_plain(source) => {
            let not = if op == Equal { "" } else { "not " };
            let remedy = format!("write `{not}IsMatch({first}, {second})` for a part of it");
            ("compares the whole text".to_owned(), remedy)
        }
        (Equal | NotEqual, Node::Text(text)) if looks_like_pattern(text) => {
            let like = if op == Equal { Like } else { NotLike };
            let meaning = "compares the whole text, in which the sign stands for itself";
            (meaning.to_owned(), format!("write `{first} {} {}`", like.sign(), as_pattern(text)))
        }
        (Like | NotLike, Node::Text(text)) if !text.is_empty() && !text.contains(['%', '_']) => {
            let like = format!("write `{first} {}", op.sign());
            match text.contains('*') {
                true => (
                    "has no `%`, and `*` stands for itself".to_owned(),
                    format!("{like} {}`", as_pattern(text)),
                ),
                // In any case of its letters a whole text may well be meant.
                false if ci => return None,
                false => (
                    "has no `%`, so it compares the whole text".to_owned(),
                    format!("{like} {}` for a part of it", quoted(&format!("%{text}%"))),
                ),
            }
        }
        _ => return None,
    })
}

/// Signs of `like` that are doubled, as in other languages: `___` for any three characters, `%%` for any text.
fn of_signs(written: Written<'_>) -> Habit {
    let Written { op: op @ (Comparison::Like | Comparison::NotLike), right, ci, first, .. } = written else {
        return None;
    };
    let Node::Text(text) = &right.node else { return None };
    if text.len() > 1 && text.bytes().all(|byte| byte == b'%') {
        let meaning = "looks for a `%`, as `%%` is that sign itself".to_owned();
        return Some((meaning, format!("write `{first} {} '%'` for any text", op.sign())));
    }
    if !text.contains("___") {
        return None;
    }
    let meaning = "looks for a `_`, as `__` is that sign itself".to_owned();
    let (not, ci) = (if op == Comparison::Like { "" } else { "not " }, if ci { " ci" } else { "" });
    let inner = text.strip_prefix('%').and_then(|text| text.strip_suffix('%'));
    let remedy = match inner {
        Some(inner) => format!("write `{not}IsMatch({first}, /{}/){ci}`", any_characters(inner)),
        None => format!(
            "write `{first} {} /{}/{ci}`",
            if not.is_empty() { "=" } else { "<>" },
            any_characters(text)
        ),
    };
    Some((meaning, format!("{remedy} for any characters in their place")))
}

/// A pattern of `like` as a regular expression, where each `_` is any character.
fn any_characters(pattern: &str) -> String {
    let of = |character: char| match character {
        '_' => ".".to_owned(),
        '%' => ".*".to_owned(),
        '/' => r"\/".to_owned(),
        other => regex_syntax::escape(&other.to_string()),
    };
    pattern.chars().map(of).collect()
}

/// What `ToLower` gives, compared with text that is not in lower case.
fn of_letters(written: Written<'_>) -> Habit {
    use Comparison::{Equal, Like, NotEqual, NotLike};
    let Written { op: Equal | NotEqual | Like | NotLike, left, right, ci: false, .. } = written else {
        return None;
    };
    let (Node::Call { name, .. }, Node::Text(text)) = (&left.node, &right.node) else { return None };
    // Letter by letter, as the functions do it.
    let lower = |character| const { CaseMapper::new() }.simple_lowercase(character);
    let in_case: String = match name.text.to_ascii_lowercase().as_str() {
        "tolower" => text.chars().map(lower).collect(),
        "toupper" => text.chars().map(upper).collect(),
        _ => return None,
    };
    let meaning = format!("compares what {} gives with other letters", name.text);
    (in_case != *text).then(|| (meaning, format!("write {}", quoted(&in_case))))
}

/// A duration in quotes, as in `Now() - '1h'`.
fn of_duration(operand: &ParsedExpr) -> Habit {
    let Node::Text(text) = &operand.node else { return None };
    let is_duration = text.starts_with(|first: char| first.is_ascii_digit())
        && text.ends_with(['d', 'h', 'm', 's'])
        && text.chars().all(char::is_alphanumeric);
    let meaning = "is undefined, as a text is no duration".to_owned();
    is_duration.then(|| (meaning, format!("write {text} without quotes")))
}

/// `Has` asked of a text that was meant as a name, and aggregates of conditions, which do not count the events that meet them.
fn of_call(function: &str, argument: &ParsedExpr, text: &str) -> Habit {
    Some(match (function, &argument.node) {
        ("has", Node::Text(name)) => (
            "is true for every event, as it asks of a text".to_owned(),
            format!("write `Has({})`", property(name)),
        ),
        (
            "count" | "sum",
            Node::Compare { .. } | Node::And(_) | Node::Or(_) | Node::Not(_) | Node::IsNull(..),
        ) => (
            "does not count the events that meet the condition".to_owned(),
            format!("write `sum(if {text} then 1 else 0)`, or `count(*)` with `where {text}`"),
        ),
        _ => return None,
    })
}

/// Constants for which a function is undefined, whatever else it is given; `first` is the text of its first argument.
fn of_constants(function: &str, first: &str, others: &[ParsedExpr]) -> Habit {
    let [second, rest @ ..] = others else { return None };
    Some(match (function, &second.node) {
        ("datepart", Node::Text(part)) if part_of(part).is_none() => {
            let parts: Vec<&str> = part_names().collect();
            (
                "is undefined, as times have no such part".to_owned(),
                format!("the parts are {}", parts.join(", ")),
            )
        }
        ("round", _) => {
            let zeros = "0".repeat(below_zero(second).filter(|places| *places <= 28)? as usize);
            (
                "is undefined, as places are counted from zero on".to_owned(),
                format!("write `Round({first} / 1{zeros}) * 1{zeros}`"),
            )
        }
        ("substring", _) => {
            let back = below_zero(second)?;
            (
                "is undefined, as places are counted from the start".to_owned(),
                format!("write `Substring({first}, Length({first}) - {back})`"),
            )
        }
        ("contains", Node::Text(_)) => {
            return of_escape(second, |regex| format!("IsMatch({first}, {regex})"));
        }
        ("indexof", Node::Text(_)) => {
            return of_escape(second, |regex| format!("IndexOfMatch({first}, {regex})"));
        }
        ("replace", Node::Text(_)) => {
            return of_escape(second, |regex| format!("Replace({first}, {regex}, …)"));
        }
        ("replace", Node::Regex(_)) => {
            let [Node::Text(with)] = rest.iter().map(|with| &with.node).collect::<Vec<_>>()[..] else {
                return None;
            };
            let group = with.split('\\').skip(1).find_map(|behind| behind.chars().next())?;
            if !group.is_ascii_digit() {
                return None;
            }
            (format!("puts `\\{group}` there as it is written"), format!("write `${group}` for a group"))
        }
        _ => return None,
    })
}

/// An index that counts from the end, as in `Tags[-1]`.
fn of_index(of: &str, index: &ParsedExpr) -> Habit {
    let back = below_zero(index)?;
    let meaning = "is undefined, as elements are counted from zero on".to_owned();
    Some((meaning, format!("write `{of}[Length({of}) - {back}]`")))
}

/// How much less than zero a whole number is that is written so.
fn below_zero(expr: &ParsedExpr) -> Option<u64> {
    let Node::Negate(of) = &expr.node else { return None };
    let Node::Number(number) = &of.node else { return None };
    number.parse().ok().filter(|number| *number > 0)
}

/// A backslash that is written twice, as other languages want it. Names of shares on a network begin with two.
fn of_backslashes(right: &ParsedExpr) -> Habit {
    let Node::Text(text) = &right.node else { return None };
    let inner = text.trim_start_matches(['%', '\\']);
    let meaning = "looks for two backslashes, as they are not doubled in quotes".to_owned();
    let meant = || {
        let (beginning, _) = text.split_at(text.len() - inner.len());
        quoted(&format!("{beginning}{}", inner.replace(r"\\", r"\")))
    };
    inner.contains(r"\\").then(|| (meaning, format!("write {}", meant())))
}

/// The end of a line, or a tab, as other languages write it in quotes. Longer texts may be paths, as `C:\new` is.
fn of_escape(expr: &ParsedExpr, with: impl Fn(String) -> String) -> Habit {
    let Node::Text(text) = &expr.node else { return None };
    let escape = text.trim_matches('%');
    let meaning = "looks for a backslash and a letter, as there are no escapes in quotes".to_owned();
    let is_meant = matches!(escape, r"\n" | r"\r" | r"\r\n" | r"\t");
    is_meant.then(|| (meaning, format!("write `{}`", with(format!("/{escape}/")))))
}

/// Whether a text is a day alone.
fn is_day(text: &str) -> bool {
    text.len() == "2024-05-29".len() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// The day that a pattern of `like` stands for, as in `2024-05-29%`.
fn day_of(pattern: &str) -> Option<&str> {
    let day = pattern.trim_end_matches(['%', 'T', ' ']);
    is_day(day).then_some(day)
}

/// Whether a regular expression is nothing but letters, which nobody would compare whole with one.
fn is_plain(source: &str) -> bool {
    source.chars().all(|sign| sign.is_alphanumeric() || " _-:,'\"".contains(sign))
}

/// Whether a text begins or ends with a sign that stands for any others in a pattern. `100%` does not.
fn looks_like_pattern(text: &str) -> bool {
    let inner = text.trim_matches(['%', '*']);
    inner.len() < text.len() && inner.chars().any(char::is_alphabetic) && !inner.contains('*')
}

/// The text as the pattern of `like` that it probably is.
fn as_pattern(text: &str) -> String {
    quoted(&text.replace('_', "__").replace('*', "%"))
}
