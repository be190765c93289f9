//! Errors in a query, and errors while running it.

use crate::SourceError;
use crate::span::Span;
use std::fmt;

/// Why a query cannot be prepared: what is wrong, where, and what to write instead.
///
/// `Display` gives the message, the place, the line of the query and a caret under the place:
///
/// ```
/// let error = tamias_query::Query::prepare("select Elapsed from stream where Elapsed == 200").unwrap_err();
/// assert_eq!(error.to_string(), "\
/// line 1, column 42: `==` is not an operator of this language; to compare two values, write `=`
///   select Elapsed from stream where Elapsed == 200
///                                            ^^");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct QueryError(Box<Details>);

#[derive(Clone, PartialEq, Eq)]
struct Details {
    message: String,
    expected: Option<String>,
    hint: Option<String>,
    span: Span,
    line: usize,
    column: usize,
    source_line: String,
}

/// A finding of the lexer, the parser or the planner, before the place is worked out.
#[derive(Debug)]
pub(crate) struct Flaw {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) expected: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Flaw {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Flaw {
        Flaw { span, message: message.into(), expected: None, hint: None }
    }

    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Flaw {
        self.expected = Some(expected.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Flaw {
        self.hint = Some(hint.into());
        self
    }

    /// Names the entry of `known` that `name` is likely to mean, if there is one.
    pub(crate) fn suggest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Flaw {
        match closest(name, known) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    pub(crate) fn locate(self, query: &str) -> QueryError {
        let start = query.floor_char_boundary(self.span.start);
        let before = query.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_end = query[start..].find('\n').map_or(query.len(), |at| start + at);
        QueryError(Box::new(Details {
            message: self.message,
            expected: self.expected,
            hint: self.hint,
            span: self.span,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            source_line: query[line_start..line_end].trim_end_matches('\r').to_owned(),
        }))
    }
}

/// The remedy for a query that needs events but reads none.
pub(crate) const WITHOUT_STREAM: &str = "write `from stream` after the columns";

impl QueryError {
    /// What is wrong, in a sentence without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the grammar allows at the place, if known.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// A suggestion what to write instead, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Whether the query only lacks `from stream`: it uses properties of events without reading events.
    ///
    /// ```
    /// use tamias_query::Query;
    /// assert!(Query::prepare("select count(*)").unwrap_err().is_without_stream());
    /// assert!(!Query::prepare("select Nothing() from stream").unwrap_err().is_without_stream());
    /// ```
    pub fn is_without_stream(&self) -> bool {
        self.hint() == Some(WITHOUT_STREAM)
    }

    /// The place as a range of bytes of the query's text.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// The line of the place, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// The column of the place, in characters, from 1.
    pub fn column(&self) -> usize {
        self.0.column
    }
}

/// A longer line is shown in part: at most this many characters before the place, and at most `SHOWN_AFTER` after it.
const SHOWN_BEFORE: usize = 60;
const SHOWN_AFTER: usize = 40;

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details = &*self.0;
        write!(f, "line {}, column {}: {}", details.line, details.column, details.message)?;
        if let Some(expected) = &details.expected {
            write!(f, "; expected {expected}")?;
        }
        if let Some(hint) = &details.hint {
            write!(f, "; {hint}")?;
        }
        let at = details.column - 1;
        let width = details.span.end.saturating_sub(details.span.start);
        let shown_from = at.saturating_sub(SHOWN_BEFORE);
        let line = details.source_line.chars().skip(shown_from).take(at - shown_from + SHOWN_AFTER);
        let more = details.source_line.chars().count() > at + SHOWN_AFTER;
        let lead = if shown_from > 0 { "…" } else { "" };
        write!(f, "\n  {lead}{}{}\n  ", line.collect::<String>(), if more { "…" } else { "" })?;
        f.write_str(if shown_from > 0 { " " } else { "" })?;
        // Tabs are repeated, so that the caret stands under its place however wide they are.
        let mut rest = details.source_line.chars().skip(shown_from);
        for character in rest.by_ref().take(at - shown_from) {
            f.write_str(if character == '\t' { "\t" } else { " " })?;
        }
        let marked = rest.take(SHOWN_AFTER).scan(0, |bytes, character| {
            let inside = *bytes < width;
            *bytes += character.len_utf8();
            inside.then_some(())
        });
        f.write_str(&"^".repeat(marked.count().max(1)))
    }
}

impl fmt::Debug for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for QueryError {}

/// The known name that is a typing mistake or two away from `name`, or differs from it in case only: what was probably meant. `None` for names of fewer than three or
/// more than 40 characters. Takes time linear in the length of the known names.
///
/// ```
/// assert_eq!(tamias_query::closest("Elapsd", ["Elapsed", "Application"]), Some("Elapsed"));
/// assert_eq!(tamias_query::closest("Message", ["Elapsed", "Application"]), None);
/// ```
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if !(3..=40).contains(&length) {
        return None;
    }
    let allowed = (length / 3).clamp(1, 3);
    let wanted = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        // The same in another case is a mistake too, where case counts.
        .filter(|&(distance, candidate)| distance <= allowed && candidate != name)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The name that has `name` as its end, in any case, or else as its beginning: people remember a part of a long name.
pub(crate) fn longer<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let part = name.trim_start_matches('@').to_lowercase();
    let names = || known.iter().filter(|_| part.len() >= 3).map(|name| (*name, name.to_lowercase()));
    let ending = names().find(|(_, lower)| lower.ends_with(&part));
    ending
        .or_else(|| names().find(|(_, lower)| lower.trim_start_matches('@').starts_with(&part)))
        .map(|(name, _)| name)
}

/// The distance of two words: characters changed, left out, added, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (i, a) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b_now) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(a != b_now)).min(last[j + 1] + 1).min(row[j] + 1);
            if j > 0 && previous == Some(b_now) && b[j - 1] == a {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
        previous = Some(a);
    }
    last[b.len()]
}

/// What a query has to hold in memory until it has read all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Held {
    /// Groups and their aggregates, including the distinct values of `distinct`.
    Groups,
    /// All rows, to sort them.
    Rows,
    /// The first rows in sorted order, as many as the query's limit.
    FirstRows,
}

impl Held {
    fn name(self) -> &'static str {
        match self {
            Held::Groups => "groups and values",
            Held::Rows | Held::FirstRows => "rows to be sorted",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Held::Groups => "narrow it with `where`, group by something that has fewer values",
            Held::Rows => "narrow it with `where`, select smaller columns, add a `limit`",
            Held::FirstRows => "ask for fewer rows after `limit`, select smaller columns",
        }
    }
}

fn of_event(arrival: Option<u64>) -> String {
    arrival.map_or_else(String::new, |arrival| format!(" over the event with arrival number {arrival}"))
}

/// Why a running query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The source of events failed.
    #[error("the events cannot be read: {0}")]
    Source(#[source] SourceError),
    /// A stored event is not a valid document. Events are checked when they are stored, so the store is damaged or was written by another program.
    #[error("the event with arrival number {arrival} is not a JSON object that can be read: {reason}")]
    Document {
        /// The event's arrival number.
        arrival: u64,
        /// What is wrong with its text.
        reason: String,
    },
    /// A computed value exceeds the limit of one value.
    #[error(
        "`{by}` made more than {limit_bytes} bytes{}, the limit of a computed value; build smaller strings, arrays or \
         objects in the query",
        of_event(*arrival)
    )]
    ValueTooLarge {
        /// The limit that was exceeded, in bytes of JSON text.
        limit_bytes: usize,
        /// What computed the value: the name of a function, `@Message`, `[…]`, `{…}`, or `select` for all cells of a row together.
        by: &'static str,
        /// The arrival number of the event for which it was computed, if there is one.
        arrival: Option<u64>,
    },
    /// The query needs more memory than its limit for grouping or sorting.
    #[error(
        "the query has to hold more than {limit_bytes} bytes of {} in memory; {}, or allow it more memory",
        held.name(),
        held.remedy()
    )]
    MemoryExceeded {
        /// The limit that was exceeded, in bytes.
        limit_bytes: usize,
        /// What needed the memory.
        held: Held,
    },
    /// The query was cancelled from another thread.
    #[error("the query was cancelled")]
    Cancelled,
    /// The deadline has passed.
    #[error(
        "the query did not end before its deadline; narrow it with `where` or a time range, or allow it more time"
    )]
    DeadlineExceeded,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_finds_small_mistakes_only() {
        let known = ["@Timestamp", "@Level", "@Exception"];
        assert_eq!(closest("@Levle", known), Some("@Level"));
        assert_eq!(closest("@timestmp", known), Some("@Timestamp"));
        assert_eq!(closest("@timestamp", known), Some("@Timestamp"));
        assert_eq!(closest("@Level", known), None);
        assert_eq!(closest("@Foo", known), None);
    }

    #[test]
    fn a_part_of_a_name_is_enough() {
        let known = ["@Timestamp", "@Message", "@MessageTemplate", "@TraceId"];
        assert_eq!(longer("@Template", &known), Some("@MessageTemplate"));
        assert_eq!(longer("@trace", &known), Some("@TraceId"));
        assert_eq!(longer("@time", &known), Some("@Timestamp"));
        assert_eq!(longer("@Foo", &known), None);
        assert_eq!(longer("@", &known), None);
    }

    #[test]
    fn the_caret_stands_under_its_place() {
        let query = "select\n\tÄrger, 'ü' + ! x";
        let at = query.find('!').unwrap();
        let error = Flaw::new(Span::new(at, at + 1), "what is this").locate(query);
        assert_eq!(
            error.to_string(),
            "line 2, column 15: what is this\n  \tÄrger, 'ü' + ! x\n  \t             ^"
        );
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let query = format!("{}!{}", "a".repeat(1000), "b".repeat(1000));
        let shown = Flaw::new(Span::new(1000, 1001), "x").locate(&query).to_string();
        assert!(shown.len() < 300, "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].chars().position(|c| c == '!'), lines[2].chars().position(|c| c == '^'));
    }
}
