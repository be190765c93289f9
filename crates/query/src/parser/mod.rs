//! Tokens → AST, by recursive descent. A query has one reading: nothing is guessed, and every error has a place.

mod clauses;
mod expr;
mod habits;
mod tokens;

pub use tokens::{EXPRESSION_DEPTH_MAX, QUERY_BYTES_MAX};

use crate::ast::{ParsedExpr, Select};
use crate::error::Flaw;
use tokens::Parser;

pub(crate) fn parse_query(text: &str) -> Result<Select, Flaw> {
    let mut parser = Parser::new(text)?;
    let query = parser.query()?;
    parser.end("the end of the query")?;
    Ok(query)
}

/// Parses an expression that stands alone.
pub(crate) fn parse_expression(text: &str) -> Result<ParsedExpr, Flaw> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expr()?;
    parser.end("an operator or the end of the expression")?;
    Ok(expr)
}
