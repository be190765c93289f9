//! The words of the language, for completion and syntax highlighting.

use crate::builtin::BuiltIn;
use crate::{functions, planner};

/// The role of a word in the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Word {
    /// A keyword such as `select`; not case-sensitive.
    Keyword,
    /// A scalar function; not case-sensitive.
    Function,
    /// An aggregate function; not case-sensitive.
    Aggregate,
    /// A built-in property, whose name begins with `@`.
    BuiltIn,
}

const KEYWORDS: [&str; 34] = [
    "all", "analyze", "and", "any", "as", "asc", "by", "ci", "desc", "else", "every", "explain", "false",
    "from", "group", "having", "if", "in", "is", "lateral", "let", "like", "limit", "not", "null", "or",
    "order", "select", "stream", "then", "time", "true", "unnest", "where",
];

/// Every word of the language with its role; words with two roles are listed twice.
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
