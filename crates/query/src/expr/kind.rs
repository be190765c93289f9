//! Of what kind an expression's values are, as far as that is certain beforehand.

use super::computed::Computed;
use super::tree::Expr;
use crate::value::Kind;

/// Of a value of this kind, or of none: `null` and undefined may come in its place. None where nothing is certain.
pub(crate) type Certain = Option<Kind>;

/// What two expressions have in common of which one gives the value.
fn either(a: Certain, b: Certain) -> Certain {
    match (a?, b?) {
        (Kind::Undefined, other) | (other, Kind::Undefined) => Some(other),
        (Kind::Null, other) | (other, Kind::Null) => Some(other),
        (a, b) => (a == b).then_some(a),
    }
}

impl Expr {
    /// Of what kind the values are. `groups` tells it of keys and aggregates, behind a grouping.
    pub(crate) fn kind(&self, groups: &[Certain]) -> Certain {
        match self {
            Expr::Constant(value) => Some(value.kind()),
            Expr::Group(group) => groups.get(*group).copied().flatten(),
            Expr::BuiltIn(computed) => match computed {
                Computed::Timestamp
                | Computed::Start { .. }
                | Computed::Elapsed { .. }
                | Computed::Arrived => Some(Kind::Number),
                Computed::Id => Some(Kind::String),
                Computed::Properties | Computed::Data => Some(Kind::Object),
                // An event may store anything under these names.
                Computed::Level { .. } | Computed::Message { .. } | Computed::EventType { .. } => None,
            },
            Expr::Slot(_) | Expr::Local(_) | Expr::Path(_) | Expr::Member(..) | Expr::Element(..) => None,
            Expr::Negate(_) | Expr::Arithmetic(..) | Expr::IndexOfMatch { .. } => Some(Kind::Number),
            Expr::Not(_)
            | Expr::IsNull(..)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Compare { .. }
            | Expr::CompareNumber { .. }
            | Expr::In { .. }
            | Expr::InSet { .. }
            | Expr::Like { .. }
            | Expr::MatchWhole { .. }
            | Expr::Match { .. }
            | Expr::Quantified { .. } => Some(Kind::Boolean),
            Expr::ReplaceMatch { .. } | Expr::Concat(_) => Some(Kind::String),
            Expr::Call { function, .. } => function.gives,
            Expr::Coalesce(list) => {
                list.iter().map(|expr| expr.kind(groups)).fold(Some(Kind::Undefined), either)
            }
            Expr::Array(_) => Some(Kind::Array),
            Expr::Object(_) => Some(Kind::Object),
            Expr::If(parts) => either(parts.1.kind(groups), parts.2.kind(groups)),
            Expr::Let(_, body) => body.kind(groups),
        }
    }
}
