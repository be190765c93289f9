//! `let`: a value that is as well computed where it is used takes the place of its name.
//!
//! What is left without locals is evaluated over columns and can be sought in an index, as what is written without `let`.

use super::tree::Expr;

/// HEURISTIC: most expressions that are added for one name, whose value is then computed for each of its uses.
const ADDED_MAX: usize = 48;

/// HEURISTIC: the same where a value is only read, which costs as much as to read the local.
const READ_ADDED_MAX: usize = 1024;

/// Most values of one `let` that are looked for in each other.
const VALUES_MAX: usize = 64;

/// How deep an expression may get by this: it is walked by functions that call themselves.
const DEPTH_MAX: usize = 128;

/// `let` with the values whose locals begin at `depth`, which its body uses: without those that can stand where they are used.
pub(crate) fn bind(values: Vec<Expr>, mut body: Expr, depth: usize) -> Expr {
    if values.len() > VALUES_MAX {
        return Expr::Let(values, Box::new(body));
    }
    let mut bound: Vec<Expr> = Vec::new();
    let mut values = values.into_iter();
    while let Some(value) = values.next() {
        let local = depth + bound.len();
        let users = || values.as_slice().iter().chain([&body]);
        let uses = users().map(|user| uses(user, local, false)).fold(Uses::default(), Uses::and);
        let is_too_deep = || depth_of(&value) + users().map(depth_of).max().unwrap_or(0) > DEPTH_MAX;
        if !can_stand_for_its_name(&value, uses) || is_too_deep() {
            bound.push(value);
            continue;
        }
        values.as_mut_slice().iter_mut().chain([&mut body]).for_each(|user| replace(user, local, &value));
    }
    if bound.is_empty() { body } else { Expr::Let(bound, Box::new(body)) }
}

/// How often a local is used.
#[derive(Default)]
struct Uses {
    times: usize,
    /// Whether it is used for each element of an array.
    is_repeated: bool,
}

impl Uses {
    fn and(self, other: Uses) -> Uses {
        Uses { times: self.times + other.times, is_repeated: self.is_repeated || other.is_repeated }
    }
}

fn uses(expr: &Expr, local: usize, is_repeated: bool) -> Uses {
    if let Expr::Local(used) = expr {
        let times = usize::from(*used == local);
        return Uses { times, is_repeated: is_repeated && times > 0 };
    }
    if let Expr::Quantified { collection, body, .. } = expr {
        return uses(collection, local, is_repeated).and(uses(body, local, true));
    }
    expr.children().into_iter().map(|child| uses(child, local, is_repeated)).fold(Uses::default(), Uses::and)
}

fn depth_of(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(depth_of).max().unwrap_or(0)
}

fn can_stand_for_its_name(value: &Expr, uses: Uses) -> bool {
    if !value.is_alike_anywhere() {
        return false;
    }
    let is_read = match value {
        Expr::Constant(_) | Expr::Slot(_) | Expr::Group(_) | Expr::Local(_) => true,
        Expr::Path(_) | Expr::Member(..) => true,
        // A message may be rendered, and all properties be gathered.
        _ => false,
    };
    let added = uses.times.saturating_sub(1) * value.count();
    if is_read { added <= READ_ADDED_MAX } else { added <= ADDED_MAX && !uses.is_repeated }
}

/// Puts the value in place of the local. The locals behind that one come one earlier.
fn replace(expr: &mut Expr, local: usize, value: &Expr) {
    match expr {
        Expr::Local(used) if *used == local => *expr = value.clone(),
        Expr::Local(used) if *used > local => *used -= 1,
        _ => expr.children_mut().into_iter().for_each(|child| replace(child, local, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{Arithmetic, ArrayItem, Comparison, Quantifier};
    use crate::expr::Scope;
    use crate::value::Value;
    use proptest::prelude::*;

    fn local(local: usize) -> Box<Expr> {
        Box::new(Expr::Local(local))
    }

    fn sum(left: Box<Expr>, right: Box<Expr>) -> Expr {
        Expr::Arithmetic(Arithmetic::Add, left, right)
    }

    fn is_let(expr: &Expr) -> bool {
        matches!(expr, Expr::Let(..))
    }

    #[test]
    fn what_grows_too_much_keeps_its_name() {
        // Each name is the sum of the one before with itself.
        let values = (0..40).map(|n| match n {
            0 => Expr::Slot(0),
            n => sum(local(n - 1), local(n - 1)),
        });
        let bound = bind(values.collect(), Expr::Local(39), 0);
        assert!(is_let(&bound));
        assert!(bound.count() < 40 * 2 * ADDED_MAX);
    }

    #[test]
    fn what_is_deep_keeps_its_name() {
        let values = (0..VALUES_MAX).map(|n| match n {
            0 => Expr::Slot(0),
            n => (0..20).fold(Expr::Local(n - 1), |of, _| Expr::Negate(Box::new(of))),
        });
        let bound = bind(values.collect(), Expr::Local(VALUES_MAX - 1), 0);
        assert!(is_let(&bound));
        assert!(depth_of(&bound) <= DEPTH_MAX);
    }

    #[test]
    fn what_is_read_for_each_element_is_computed_once() {
        let some = |body| Expr::Quantified {
            quantifier: Quantifier::Any,
            collection: Box::new(Expr::Slot(1)),
            body: Box::new(body),
        };
        let equal = |left, right| Expr::Compare { op: Comparison::Equal, left, right, ci: false };
        let body = || some(equal(local(0), local(1)));
        let computed = bind(vec![sum(Box::new(Expr::Slot(0)), Box::new(Expr::Slot(0)))], body(), 0);
        assert!(is_let(&computed));
        let read = bind(vec![Expr::Slot(0)], body(), 0);
        assert!(!is_let(&read));
    }

    /// An expression by a tape of choices, with so many locals around it.
    fn expr(tape: &mut impl Iterator<Item = u8>, locals: usize, depth: usize) -> Expr {
        let choice = if depth == 0 { 0 } else { tape.next().unwrap_or_default() % 8 };
        let mut inner = |locals| Box::new(expr(tape, locals, depth.saturating_sub(1)));
        match choice {
            0 | 1 => match tape.next().unwrap_or_default() as usize {
                which if which < 200 && locals > 0 => Expr::Local(which % locals),
                which => Expr::constant(rust_decimal::Decimal::from(which % 5)),
            },
            2 | 3 => sum(inner(locals), inner(locals)),
            4 | 5 => {
                let values = vec![*inner(locals), *inner(locals + 1)];
                Expr::Let(values, inner(locals + 2))
            }
            6 => Expr::Let(vec![*inner(locals)], inner(locals + 1)),
            _ => {
                let items = [inner(locals), inner(locals)];
                let collection = Expr::Array(items.map(|item| ArrayItem::One(*item)).into());
                let (left, right) = (inner(locals + 1), inner(locals + 1));
                let body = Expr::Compare { op: Comparison::Less, left, right, ci: false };
                let quantified = Expr::Quantified {
                    quantifier: Quantifier::Any,
                    collection: Box::new(collection),
                    body: Box::new(body),
                };
                Expr::If(Box::new((quantified, *inner(locals), *inner(locals))))
            }
        }
    }

    /// The same with each `let` bound, as the planner does it: what is inside first.
    fn bound(mut expr: Expr, locals: usize) -> Expr {
        let mut inside = locals;
        let adds = matches!(expr, Expr::Let(..) | Expr::Quantified { .. });
        for child in expr.children_mut() {
            let taken = std::mem::replace(child, Expr::Constant(Value::Undefined));
            *child = bound(taken, inside);
            inside += usize::from(adds);
        }
        match expr {
            Expr::Let(values, body) => bind(values, *body, locals),
            other => other,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]
        #[test]
        fn a_bound_expression_is_worth_the_same(tape in prop::collection::vec(any::<u8>(), 4..200)) {
            let written = expr(&mut tape.into_iter(), 0, 6);
            let bound = bound(written.clone(), 0);
            let (mut scope, mut of_bound) = (Scope::new(0), Scope::new(0));
            let told = format!("{:?}", written.eval(&mut scope));
            prop_assert_eq!(&told, &format!("{:?}", bound.eval(&mut of_bound)), "{:?} {:?}", written, bound);
        }
    }
}
