//! The logic of conditions over values that are not known one by one: sets of possible outcomes.

use crate::value::Value;
use std::ops::{BitOr, BitOrAssign};
use tamias_json::search::Match;

/// What a condition may come to, over some events: a set of true, false, undefined, and any other value.
///
/// The operations are those of the language, on sets: the outcomes of `and`, `or` and `not` are all that their terms' outcomes can
/// come to. A set with more in it than can happen is right, and says less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcomes(u8);

impl Outcomes {
    pub(super) const NONE: Outcomes = Outcomes(0);
    pub(super) const TRUE: Outcomes = Outcomes(1);
    pub(super) const FALSE: Outcomes = Outcomes(2);
    pub(super) const UNDEFINED: Outcomes = Outcomes(4);
    /// A value that is no Boolean.
    pub(super) const OTHER: Outcomes = Outcomes(8);
    pub(super) const BOTH: Outcomes = Outcomes(3);
    pub(super) const ANY: Outcomes = Outcomes(15);

    /// The outcome that a value is.
    pub(super) fn of(value: &Value<'_>) -> Outcomes {
        match value {
            Value::Bool(bool) => Outcomes::from(*bool),
            Value::Undefined => Outcomes::UNDEFINED,
            Value::Null | Value::Number(_) | Value::Text(_) | Value::Array(_) | Value::Object(_) => {
                Outcomes::OTHER
            }
        }
    }

    /// Whether any of the others is among them.
    pub(super) fn has(self, others: Outcomes) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether an event with such an outcome passes, which it does if the condition is true; none where that is not certain.
    pub(super) fn passes(self) -> Option<bool> {
        match self.has(Outcomes::TRUE) {
            false => Some(false),
            true => (self == Outcomes::TRUE).then_some(true),
        }
    }

    /// Of `not`: true becomes false, false and undefined become true, and another value undefined.
    pub(super) fn negated(self) -> Outcomes {
        let mut negated = Outcomes::NONE;
        for (from, to) in [
            (Outcomes::TRUE, Outcomes::FALSE),
            (Outcomes::FALSE | Outcomes::UNDEFINED, Outcomes::TRUE),
            (Outcomes::OTHER, Outcomes::UNDEFINED),
        ] {
            if self.has(from) {
                negated |= to;
            }
        }
        negated
    }

    /// Of `and`: each term is only asked whether it is true.
    pub(super) fn all(terms: impl Iterator<Item = Outcomes>) -> Outcomes {
        let (mut may, mut must) = (true, true);
        for term in terms {
            may &= term.has(Outcomes::TRUE);
            must &= term == Outcomes::TRUE;
        }
        Outcomes::possible(may, must)
    }

    /// Of `or`.
    pub(super) fn any(terms: impl Iterator<Item = Outcomes>) -> Outcomes {
        let (mut may, mut must) = (false, false);
        for term in terms {
            may |= term.has(Outcomes::TRUE);
            must |= term == Outcomes::TRUE;
        }
        Outcomes::possible(may, must)
    }

    fn possible(may: bool, must: bool) -> Outcomes {
        match (may, must) {
            (_, true) => Outcomes::TRUE,
            (true, false) => Outcomes::BOTH,
            (false, false) => Outcomes::FALSE,
        }
    }
}

impl From<bool> for Outcomes {
    fn from(bool: bool) -> Outcomes {
        if bool { Outcomes::TRUE } else { Outcomes::FALSE }
    }
}

/// What a search says of an event is a projection of its outcomes: on whether the event passes.
///
/// `min`, `max` and `!` of matches are the projections of `and`, `or` and `not`, as long as no term of a `not` can be a value that is no
/// Boolean: `not` makes that undefined, and neither of the two passes. No condition that is searched for has such values.
impl From<Outcomes> for Match {
    fn from(outcomes: Outcomes) -> Match {
        match outcomes.passes() {
            Some(true) => Match::Yes,
            Some(false) => Match::No,
            None => Match::Maybe,
        }
    }
}

/// All outcomes that an event may have of which a search has said so.
impl From<Match> for Outcomes {
    fn from(found: Match) -> Outcomes {
        match found {
            Match::Yes => Outcomes::TRUE,
            Match::Maybe => Outcomes::BOTH | Outcomes::UNDEFINED,
            Match::No => Outcomes::FALSE | Outcomes::UNDEFINED,
        }
    }
}

impl BitOr for Outcomes {
    type Output = Outcomes;

    fn bitor(self, other: Outcomes) -> Outcomes {
        Outcomes(self.0 | other.0)
    }
}

impl BitOrAssign for Outcomes {
    fn bitor_assign(&mut self, other: Outcomes) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, Scope};

    const SINGLE: [Outcomes; 4] = [Outcomes::TRUE, Outcomes::FALSE, Outcomes::UNDEFINED, Outcomes::OTHER];
    const MATCHES: [Match; 3] = [Match::No, Match::Maybe, Match::Yes];

    /// A value of which the set is made that has this outcome alone.
    fn value(outcome: Outcomes) -> Value<'static> {
        match outcome {
            Outcomes::TRUE => Value::Bool(true),
            Outcomes::FALSE => Value::Bool(false),
            Outcomes::UNDEFINED => Value::Undefined,
            _ => Value::Null,
        }
    }

    fn sets() -> impl Iterator<Item = Outcomes> {
        (0..16).map(Outcomes)
    }

    fn members(set: Outcomes) -> impl Iterator<Item = Outcomes> {
        SINGLE.into_iter().filter(move |outcome| set.has(*outcome))
    }

    /// What the evaluator makes of it.
    fn evaluated(expr: &Expr) -> Outcomes {
        Outcomes::of(&expr.eval(&mut Scope::new(0)))
    }

    fn constants(terms: [Outcomes; 2]) -> Vec<Expr> {
        terms.into_iter().map(|term| Expr::Constant(value(term))).collect()
    }

    #[test]
    fn the_outcomes_of_a_value_are_one() {
        for outcome in SINGLE {
            assert_eq!(Outcomes::of(&value(outcome)), outcome);
        }
    }

    #[test]
    fn operations_on_sets_give_exactly_what_the_evaluator_gives_of_their_members() {
        for a in sets() {
            let each = members(a).map(|a| evaluated(&Expr::Not(Box::new(Expr::Constant(value(a))))));
            assert_eq!(a.negated(), each.fold(Outcomes::NONE, BitOr::bitor), "not {a:?}");
            for b in sets().filter(|b| a != Outcomes::NONE && *b != Outcomes::NONE) {
                let pairs = || members(a).flat_map(move |a| members(b).map(move |b| [a, b]));
                let each = pairs().map(|pair| evaluated(&Expr::And(constants(pair))));
                assert_eq!(
                    Outcomes::all([a, b].into_iter()),
                    each.fold(Outcomes::NONE, BitOr::bitor),
                    "{a:?} and {b:?}"
                );
                let each = pairs().map(|pair| evaluated(&Expr::Or(constants(pair))));
                assert_eq!(
                    Outcomes::any([a, b].into_iter()),
                    each.fold(Outcomes::NONE, BitOr::bitor),
                    "{a:?} or {b:?}"
                );
            }
        }
    }

    #[test]
    fn an_event_passes_if_the_evaluator_finds_it_true() {
        for set in sets().filter(|set| *set != Outcomes::NONE) {
            let each = members(set).map(|member| Expr::Constant(value(member)).test(&mut Scope::new(0)));
            let passes: Vec<bool> = each.collect();
            let certain = [true, false].into_iter().find(|all| passes.iter().all(|passes| passes == all));
            assert_eq!(set.passes(), certain, "{set:?}");
        }
    }

    #[test]
    fn matches_are_the_projection_of_outcomes() {
        for found in MATCHES {
            assert_eq!(Match::from(Outcomes::from(found)), found);
            assert_eq!(Match::from(Outcomes::from(found).negated()), !found);
        }
        for a in sets() {
            // No match stands for a value that is no Boolean.
            if !a.has(Outcomes::OTHER) && a != Outcomes::NONE {
                assert_eq!(Match::from(a.negated()), !Match::from(a), "not {a:?}");
            }
            for b in sets() {
                let (x, y) = (Match::from(a), Match::from(b));
                assert_eq!(Match::from(Outcomes::all([a, b].into_iter())), x.min(y), "{a:?} and {b:?}");
                assert_eq!(Match::from(Outcomes::any([a, b].into_iter())), x.max(y), "{a:?} or {b:?}");
            }
        }
    }

    #[test]
    fn no_event_is_passed_over_that_could_pass() {
        for found in MATCHES {
            for outcome in members(Outcomes::from(found)) {
                let could = Expr::Constant(value(outcome)).test(&mut Scope::new(0));
                assert!(found != Match::No || !could, "{found:?} {outcome:?}");
                assert!(found != Match::Yes || could, "{found:?} {outcome:?}");
            }
        }
    }
}
