//! `Tags[?] = 'a'` and `Tags[*] = 'a'`: the comparison around a wildcard becomes a quantifier over the elements.

use crate::ast::{Arguments, Expr, Item, Member, Node, Quantifier};

/// Functions whose answer is a comparison's.
const COMPARING: [&str; 5] = ["Contains", "StartsWith", "EndsWith", "IsMatch", "match"];

/// Whether a wildcard inside makes this expression hold for some, or for all, elements.
pub(super) fn is_comparison(expr: &Expr) -> bool {
    match &expr.node {
        Node::Compare { .. } | Node::IsNull(..) => true,
        Node::Call { name, .. } => COMPARING.iter().any(|known| name.text.eq_ignore_ascii_case(known)),
        _ => false,
    }
}

/// Takes the first wildcard out of a comparison: its quantifier, the collection, and the comparison with `placeholder` in
/// the wildcard's place.
pub(super) fn take(comparison: &Expr, placeholder: &str) -> Option<(Quantifier, Expr, Expr)> {
    let mut body = comparison.clone();
    let (quantifier, collection) =
        children(&mut body).into_iter().find_map(|child| replace(child, placeholder))?;
    Some((quantifier, collection, body))
}

fn replace(expr: &mut Expr, placeholder: &str) -> Option<(Quantifier, Expr)> {
    if is_comparison(expr) || matches!(expr.node, Node::Lambda(..)) {
        return None;
    }
    // The collection may have a wildcard of its own, which comes first.
    if let Some(found) = children(expr).into_iter().find_map(|child| replace(child, placeholder)) {
        return Some(found);
    }
    let Node::Wildcard(_, quantifier) = expr.node else {
        return None;
    };
    match std::mem::replace(&mut expr.node, Node::Name(placeholder.to_owned())) {
        Node::Wildcard(collection, _) => Some((quantifier, *collection)),
        _ => None,
    }
}

fn children(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.node {
        Node::Null
        | Node::Bool(_)
        | Node::Number(_)
        | Node::Duration(_)
        | Node::Hex(_)
        | Node::Text(_)
        | Node::Regex(_)
        | Node::Parameter(_)
        | Node::Name(_)
        | Node::BuiltIn(_)
        | Node::Call { arguments: Arguments::Star, .. } => Vec::new(),
        Node::Member(of, _)
        | Node::Wildcard(of, _)
        | Node::Negate(of)
        | Node::Not(of)
        | Node::IsNull(of, _)
        | Node::Lambda(_, of) => vec![of],
        Node::Element(a, b) | Node::Arithmetic(_, a, b) | Node::Compare { left: a, right: b, .. } => {
            vec![a, b]
        }
        Node::And(terms) | Node::Or(terms) => terms.iter_mut().collect(),
        Node::Call { arguments: Arguments::List(list), .. } => list.iter_mut().collect(),
        Node::Array(items) => items.iter_mut().map(|(Item::One(e) | Item::Spread(e))| e).collect(),
        Node::Object(members) => {
            members.iter_mut().map(|(Member::Named(_, e) | Member::Spread(e))| e).collect()
        }
        Node::If(a, b, c) => vec![a, b, c],
        Node::Let(bindings, body) => bindings.iter_mut().map(|(_, e)| e).chain([&mut **body]).collect(),
    }
}
