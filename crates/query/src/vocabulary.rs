//! The words of the language, for those who complete or colour queries.

use crate::builtin::BuiltIn;
use crate::{functions, planner};

/// What a word of the language is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Word {
    /// `select`, `from`, in any case.
    Keyword,
    /// A function of values, in any case.
    Function,
    /// A function over events, in any case.
    Aggregate,
    /// A name that begins with `@`.
    BuiltIn,
}

const KEYWORDS: [&str; 34] = [
    "all", "analyze", "and", "any", "as", "asc", "by", "ci", "desc", "else", "every", "explain", "false",
    "from", "group", "having", "if", "in", "is", "lateral", "let", "like", "limit", "not", "null", "or",
    "order", "select", "stream", "then", "time", "true", "unnest", "where",
];

/// Every word of the language with what it is; words that are two things stand there twice.
///
/// ```
/// use tamias_query::{Word, vocabulary};
///
/// assert!(vocabulary().any(|word| word == ("select", Word::Keyword)));
/// assert!(vocabulary().any(|word| word == ("StartsWith", Word::Function)));
/// assert!(vocabulary().any(|word| word == ("@Timestamp", Word::BuiltIn)));
/// ```
pub fn vocabulary() -> impl Iterator<Item = (&'static str, Word)> {
    let keywords = KEYWORDS.into_iter().map(|word| (word, Word::Keyword));
    let functions = functions::names().map(|word| (word, Word::Function));
    let aggregates = planner::aggregate_names().map(|word| (word, Word::Aggregate));
    keywords.chain(functions).chain(aggregates).chain(BuiltIn::names().map(|word| (word, Word::BuiltIn)))
}
