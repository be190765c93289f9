//! `Tags[?] = 'a'` and `Tags[*] = 'a'`: the comparison around a wildcard becomes a quantifier over the elements.

use super::aggregate;
use crate::ast::{Node, ParsedExpr, Quantifier};

/// Functions whose answer is a comparison's.
const COMPARING: [&str; 5] = ["Contains", "StartsWith", "EndsWith", "IsMatch", "match"];

/// Whether a wildcard inside makes this expression hold for some, or for all, elements.
pub(super) fn is_comparison(expr: &ParsedExpr) -> bool {
    match &expr.node {
        Node::Compare { .. } | Node::IsNull(..) => true,
        Node::Call { name, .. } => COMPARING.iter().any(|known| name.text.eq_ignore_ascii_case(known)),
        _ => false,
    }
}

/// Takes the first wildcard out of a comparison: its quantifier, the collection, and the comparison with `placeholder` in
/// the wildcard's place.
pub(super) fn take(
    comparison: &ParsedExpr,
    placeholder: &str,
) -> Option<(Quantifier, ParsedExpr, ParsedExpr)> {
    let mut body = comparison.clone();
    let (quantifier, collection) =
        body.children_mut().into_iter().find_map(|child| replace(child, placeholder))?;
    Some((quantifier, collection, body))
}

fn replace(expr: &mut ParsedExpr, placeholder: &str) -> Option<(Quantifier, ParsedExpr)> {
    let is_aggregate = matches!(&expr.node, Node::Call { name, .. } if aggregate::is_name(&name.text));
    if is_comparison(expr) || is_aggregate || matches!(expr.node, Node::Lambda(..)) {
        return None;
    }
    // The collection may have a wildcard of its own, which comes first.
    if let Some(found) = expr.children_mut().into_iter().find_map(|child| replace(child, placeholder)) {
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
