//! Expressions: precedence climbing over operands.

use super::habits::foreign_comment;
use super::tokens::{EXPRESSION_DEPTH_MAX, Parser, too_deep};
use crate::ast::{
    Arguments, Arithmetic, ArrayItem, Comparison, Name, Node, ObjectMember, ParsedExpr, Quantifier,
};
use crate::builtin::BuiltIn;
use crate::error::{Flaw, closest, longer};
use crate::functions;
use crate::lexer::{TokenKind, duration};
use crate::span::Span;
use rust_decimal::Decimal;

/// A binary operator; the variants stand in the order of their binding.
#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Compare(Comparison),
    Arithmetic(Arithmetic),
}

impl Operator {
    fn binding(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Compare(_) => 3,
            Operator::Arithmetic(Arithmetic::Add | Arithmetic::Subtract) => 4,
            Operator::Arithmetic(Arithmetic::Power) => 6,
            Operator::Arithmetic(_) => 5,
        }
    }
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<ParsedExpr, Flaw> {
        self.nested(|parser| parser.binary(1))
    }

    /// Reads operands joined by operators that bind at least as tightly as `least`. All of them group to the left.
    fn binary(&mut self, least: u8) -> Result<ParsedExpr, Flaw> {
        let mut left = self.operand()?;
        while let Some(operator) = self.operator()?.filter(|operator| operator.binding() >= least) {
            self.advance()?;
            if matches!(operator, Operator::Compare(Comparison::NotLike | Comparison::NotIn)) {
                self.advance()?;
            }
            let right = self.binary(operator.binding() + 1)?;
            let mut span = left.span.to(right.span);
            let node = match operator {
                Operator::Or | Operator::And => {
                    left = self.terms(left, right, operator)?;
                    continue;
                }
                Operator::Arithmetic(op) => Node::Arithmetic(op, Box::new(left), Box::new(right)),
                Operator::Compare(op) => {
                    let modifier = self.take_keyword("ci")?;
                    span = modifier.map_or(span, |modifier| span.to(modifier));
                    Node::Compare { op, left: Box::new(left), right: Box::new(right), ci: modifier.is_some() }
                }
            };
            left = make(node, span)?;
        }
        Ok(left)
    }

    /// `a and b and c` is one node however many terms it has.
    fn terms(&mut self, left: ParsedExpr, right: ParsedExpr, operator: Operator) -> Result<ParsedExpr, Flaw> {
        let mut terms = vec![left, right];
        while self.operator()?.is_some_and(|next| next.binding() == operator.binding()) {
            self.advance()?;
            terms.push(self.binary(operator.binding() + 1)?);
        }
        let span = terms.iter().fold(terms[0].span, |span, term| span.to(term.span));
        make(if matches!(operator, Operator::Or) { Node::Or(terms) } else { Node::And(terms) }, span)
    }

    /// The operator that comes next, not taken yet.
    fn operator(&self) -> Result<Option<Operator>, Flaw> {
        use {Arithmetic::*, Comparison::*};
        Ok(Some(match self.token.kind {
            TokenKind::Symbol("=") => Operator::Compare(Equal),
            TokenKind::Symbol("<>") => Operator::Compare(NotEqual),
            TokenKind::Symbol("<") => Operator::Compare(Less),
            TokenKind::Symbol("<=") => Operator::Compare(LessOrEqual),
            TokenKind::Symbol(">") => Operator::Compare(Greater),
            TokenKind::Symbol(">=") => Operator::Compare(GreaterOrEqual),
            TokenKind::Symbol("+") => Operator::Arithmetic(Add),
            TokenKind::Symbol("-") => Operator::Arithmetic(Subtract),
            TokenKind::Symbol("*") => Operator::Arithmetic(Multiply),
            TokenKind::Symbol("/") => Operator::Arithmetic(Divide),
            TokenKind::Symbol("%") => Operator::Arithmetic(Remainder),
            TokenKind::Symbol("^") => Operator::Arithmetic(Power),
            TokenKind::Name => match self.text().to_ascii_lowercase().as_str() {
                "or" => Operator::Or,
                "and" => Operator::And,
                "like" => Operator::Compare(Like),
                "in" => Operator::Compare(In),
                "not" => {
                    let next = self.lexer.clone().next()?;
                    match next.span.text(self.query).to_ascii_lowercase().as_str() {
                        "like" => Operator::Compare(NotLike),
                        "in" => Operator::Compare(NotIn),
                        _ => {
                            return Err(
                                Flaw::new(next.span, "`not` between two operands").expected("`like` or `in`")
                            );
                        }
                    }
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    fn operand(&mut self) -> Result<ParsedExpr, Flaw> {
        let start = self.token.span;
        let mut operand = if self.at_symbol("-") || self.at_keyword("not") {
            let negate = self.at_symbol("-");
            self.advance()?;
            let inner = Box::new(self.nested(Self::operand)?);
            let span = start.to(inner.span);
            make(if negate { Node::Negate(inner) } else { Node::Not(inner) }, span)?
        } else {
            self.path()?
        };
        if self.take_keyword("is")?.is_some() {
            let negated = self.take_keyword("not")?.is_some();
            if !self.at_keyword("null") {
                return Err(self.unexpected_is());
            }
            let span = start.to(self.advance()?);
            operand = make(Node::IsNull(Box::new(operand), negated), span)?;
        }
        Ok(operand)
    }

    fn path(&mut self) -> Result<ParsedExpr, Flaw> {
        let mut path = self.factor()?;
        loop {
            let start = path.span;
            if self.take_symbol(".")? {
                if self.token.kind != TokenKind::Name {
                    return Err(self
                        .unexpected("a member's name")
                        .hint("odd names are written in brackets: A['odd name']"));
                }
                let name = self.text().to_owned();
                let span = start.to(self.advance()?);
                path = make(Node::Member(Box::new(path), name), span)?;
            } else if self.at_symbol("[") {
                if let Some((sign, bracket)) = self.lexer.wildcard(self.token.span.end) {
                    let quantifier = if sign == '?' { Quantifier::Any } else { Quantifier::All };
                    path = make(Node::Wildcard(Box::new(path), quantifier), start.to(bracket))?;
                    self.taken = bracket.end;
                    self.token = self.lexer.next()?;
                    continue;
                }
                self.advance()?;
                let index = self.expr()?;
                let span = start.to(self.symbol("]")?);
                path = make(Node::Element(Box::new(path), Box::new(index)), span)?;
            } else {
                return Ok(path);
            }
        }
    }

    fn factor(&mut self) -> Result<ParsedExpr, Flaw> {
        let span = self.token.span;
        let text = self.text();
        let node = match self.token.kind {
            TokenKind::Number => Node::Number(plain_number(text)),
            TokenKind::Hex => match u128::from_str_radix(&text[2..], 16).ok().filter(|&n| n < 1 << 96) {
                Some(number) => Node::Hex(number),
                None => return Err(Flaw::new(span, "a hexadecimal number has at most 24 digits")),
            },
            TokenKind::Duration => {
                let ticks = duration(text)
                    .and_then(|ns| Decimal::try_from_i128_with_scale(i128::try_from(ns).ok()?, 2).ok());
                match ticks {
                    Some(ticks) => Node::Duration(ticks.normalize()),
                    None => return Err(Flaw::new(span, "this duration is too long")),
                }
            }
            TokenKind::Text => Node::Text(unquote(text)),
            TokenKind::BuiltIn => match BuiltIn::named(text) {
                Some(built_in) => Node::BuiltIn(built_in),
                None => return Err(unknown_builtin(span, text)),
            },
            TokenKind::Parameter => Node::Parameter(text[1..].to_owned()),
            TokenKind::Name => return self.named(),
            TokenKind::Symbol("/")
                if self.query.get(span.start..).is_some_and(|rest| rest.starts_with("/*")) =>
            {
                return Err(foreign_comment(Span::new(span.start, span.start + 2)));
            }
            TokenKind::Symbol("/") => {
                let (pattern, span) = self.lexer.regex(span.start)?;
                self.taken = span.end;
                self.token = self.lexer.next()?;
                return make(Node::Regex(pattern), span);
            }
            TokenKind::Symbol("(") => {
                self.advance()?;
                let mut inner = self.expr()?;
                if !self.at_symbol(")") {
                    return Err(self.unexpected_in_parentheses(span));
                }
                inner.span = span.to(self.advance()?);
                return Ok(inner);
            }
            TokenKind::Symbol("[") => return self.array(),
            TokenKind::Symbol("{") => return self.object(),
            TokenKind::Symbol("|") => return self.lambda(),
            _ => return Err(self.unexpected_operand()),
        };
        self.advance()?;
        make(node, span)
    }

    /// A keyword literal, a call, `if`, `let`, or a property.
    fn named(&mut self) -> Result<ParsedExpr, Flaw> {
        let span = self.token.span;
        let text = self.text();
        let node = match text.to_ascii_lowercase().as_str() {
            "null" => Node::Null,
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            "if" => return self.conditional(),
            "let" => return self.binding(),
            "case" if !self.followed_by("(") && self.case_follows() => {
                return Err(self.unexpected("an expression").hint("write `if x then a else b`"));
            }
            _ if Self::is_reserved(text) => return Err(self.unexpected_operand()),
            _ if self.followed_by("(") => return self.call(),
            _ => Node::Name(text.to_owned()),
        };
        self.advance()?;
        make(node, span)
    }

    fn case_follows(&self) -> bool {
        let next = self.lexer.clone().next();
        matches!(next, Ok(token) if token.kind == TokenKind::Name && token.span.text(self.query).eq_ignore_ascii_case("when"))
    }

    fn conditional(&mut self) -> Result<ParsedExpr, Flaw> {
        let start = self.advance()?;
        let condition = self.expr()?;
        self.keyword("then")?;
        let then = self.expr()?;
        self.keyword("else")?;
        let otherwise = self.expr()?;
        let span = start.to(otherwise.span);
        make(Node::If(Box::new(condition), Box::new(then), Box::new(otherwise)), span)
    }

    fn binding(&mut self) -> Result<ParsedExpr, Flaw> {
        let start = self.advance()?;
        self.symbol("|")?;
        let bindings = self.list(|parser| {
            let name = parser.name("a name")?;
            parser.symbol(":")?;
            Ok((name, parser.expr()?))
        })?;
        self.symbol("|")?;
        let body = self.expr()?;
        let span = start.to(body.span);
        make(Node::Let(bindings, Box::new(body)), span)
    }

    fn lambda(&mut self) -> Result<ParsedExpr, Flaw> {
        let start = self.symbol("|")?;
        let names =
            if self.at_symbol("|") { Vec::new() } else { self.list(|parser| parser.name("a name or `|`"))? };
        self.symbol("|")?;
        let body = self.expr()?;
        let span = start.to(body.span);
        make(Node::Lambda(names, Box::new(body)), span)
    }

    fn call(&mut self) -> Result<ParsedExpr, Flaw> {
        let name = Name { text: self.text().to_owned(), span: self.advance()? };
        let open = self.symbol("(")?;
        let arguments = if self.at_symbol("*") {
            self.advance()?;
            Arguments::Star
        } else if self.at_symbol(")") {
            Arguments::List(Vec::new())
        } else {
            Arguments::List(self.list(Self::expr)?)
        };
        if self.token.kind == TokenKind::End {
            return Err(Flaw::new(open, "this `(` is never closed").expected("`)`"));
        }
        let (end, ci) = self.end_of_call(&name.text, &arguments)?;
        let span = name.span.to(end);
        make(Node::Call { name, arguments, ci }, span)
    }

    /// Takes the `)` of a call, and a `ci` before or behind it, which mean the same: where the call ends, and whether `ci` was there.
    fn end_of_call(&mut self, name: &str, arguments: &Arguments) -> Result<(Span, bool), Flaw> {
        let takes_ci = functions::named(name).is_some_and(|function| function.takes_ci);
        let is_inside = takes_ci && self.at_keyword("ci") && self.followed_by(")");
        if is_inside {
            self.advance()?;
        }
        if !self.at_symbol(")") {
            return Err(self.unexpected_argument(name, arguments));
        }
        let end = self.advance()?;
        match takes_ci && !is_inside && self.at_keyword("ci") {
            true => Ok((self.advance()?, true)),
            false => Ok((end, is_inside)),
        }
    }

    fn array(&mut self) -> Result<ParsedExpr, Flaw> {
        let start = self.advance()?;
        let mut items = Vec::new();
        while !self.at_symbol("]") {
            items.push(if self.take_symbol("..")? {
                ArrayItem::Spread(self.expr()?)
            } else {
                ArrayItem::One(self.expr()?)
            });
            if !self.take_symbol(",")? {
                break;
            }
        }
        if !self.at_symbol("]") {
            return Err(self.unexpected("an operator, `,` or `]`"));
        }
        let span = start.to(self.advance()?);
        make(Node::Array(items), span)
    }

    fn object(&mut self) -> Result<ParsedExpr, Flaw> {
        let start = self.advance()?;
        let mut members = Vec::new();
        while !self.at_symbol("}") {
            members.push(self.member()?);
            if !self.take_symbol(",")? {
                break;
            }
        }
        if !self.at_symbol("}") {
            return Err(self.unexpected("an operator, `,` or `}`"));
        }
        let span = start.to(self.advance()?);
        make(Node::Object(members), span)
    }

    fn member(&mut self) -> Result<ObjectMember<ParsedExpr>, Flaw> {
        let span = self.token.span;
        let text = self.text();
        match self.token.kind {
            TokenKind::Symbol("..") => {
                self.advance()?;
                Ok(ObjectMember::Spread(self.expr()?))
            }
            TokenKind::Text => {
                self.advance()?;
                self.symbol(":")?;
                Ok(ObjectMember::Named(unquote(text).into(), self.expr()?))
            }
            TokenKind::Name => {
                self.advance()?;
                if self.take_symbol(":")? {
                    return Ok(ObjectMember::Named(text.into(), self.expr()?));
                }
                Ok(ObjectMember::Named(text.into(), make(Node::Name(text.to_owned()), span)?))
            }
            TokenKind::BuiltIn => match BuiltIn::named(text) {
                Some(built_in) => {
                    self.advance()?;
                    Ok(ObjectMember::Named(text.into(), make(Node::BuiltIn(built_in), span)?))
                }
                None => Err(unknown_builtin(span, text)),
            },
            _ => Err(self.unexpected("a member: `name: value`, `'odd name': value`, `name` or `..object`")),
        }
    }
}

fn unknown_builtin(span: Span, text: &str) -> Flaw {
    let flaw = Flaw::new(span, format!("there is no built-in called `{text}`"));
    let names: Vec<&str> = BuiltIn::names().collect();
    let property = format!("a property of that name is @Properties['{text}']");
    match closest(text, names.iter().copied()).or_else(|| longer(text, &names)) {
        Some(name) => flaw.hint(format!("did you mean `{name}`? {property}")),
        None => flaw.hint(property),
    }
}

/// Builds a node, unless it nests too deep.
fn make(node: Node, span: Span) -> Result<ParsedExpr, Flaw> {
    let mut expr = ParsedExpr { node, span, depth: 0 };
    expr.depth = 1 + expr.children().iter().map(|child| child.depth).max().unwrap_or(0);
    if expr.depth > EXPRESSION_DEPTH_MAX { Err(too_deep(span)) } else { Ok(expr) }
}

fn unquote(text: &str) -> String {
    text.get(1..text.len() - 1).unwrap_or_default().replace("''", "'")
}

/// A number literal as JSON writes it: no leading zeros, and no trailing ones behind the point.
fn plain_number(text: &str) -> String {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    let text = text.trim_start_matches('0');
    if text.is_empty() || text.starts_with('.') { format!("0{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_needless_zeros() {
        for (text, plain) in
            [("007", "7"), ("0", "0"), ("1.50", "1.5"), ("0.10", "0.1"), ("00.0", "0"), ("100", "100")]
        {
            assert_eq!(plain_number(text), plain);
        }
    }
}
