//! The one value of an event that an expression depends on.

use crate::expr::{Computed, Expr};
use crate::statistics::{Key, Statistics};

/// A value of an event: a key, and the keys on the way from there into objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPath {
    pub(crate) slot: usize,
    pub(super) inside: Vec<Box<str>>,
}

impl KeyPath {
    /// The value that an expression reads, if it does nothing else.
    pub(super) fn of(expr: &Expr) -> Option<KeyPath> {
        match expr {
            Expr::Slot(slot) => Some(KeyPath { slot: *slot, inside: Vec::new() }),
            Expr::Member(of, key) => {
                let mut path = KeyPath::of(of)?;
                path.inside.push(key.clone());
                Some(path)
            }
            _ => None,
        }
    }

    /// What statistics tell of it, where the slots stand for these keys.
    pub(crate) fn key<'b>(&self, statistics: &Statistics<'b>, names: &[Box<str>]) -> Key<'b> {
        let Some(name) = names.get(self.slot) else { return Key::Unknown };
        let inside = self.inside.iter().map(|key| &**key);
        statistics.path(&[&**name].into_iter().chain(inside).collect::<Vec<_>>())
    }
}

/// The value that an expression depends on, if it depends on nothing else of its event; the inner one none where it is
/// constant. What is known to be in no event is not counted.
pub(crate) fn only_path(expr: &Expr, is_absent: &impl Fn(&KeyPath) -> bool) -> Option<Option<KeyPath>> {
    if let Expr::BuiltIn(Computed::Level { level: slot } | Computed::Start { start: slot }) = expr {
        return only_path(&Expr::Slot(*slot), is_absent);
    }
    if let Some(path) = KeyPath::of(expr) {
        return Some(Some(path).filter(|path| !is_absent(path)));
    }
    if matches!(expr, Expr::BuiltIn(_) | Expr::Group(_)) {
        return None;
    }
    let mut only = None;
    for child in expr.children() {
        only = only_of(only, only_path(child, is_absent)?)?;
    }
    Some(only)
}

/// The value that an expression is, and nothing is made of; the inner one none where no event has it. Of the readings of a dotted path, what is known to
/// be in no event is none.
pub(crate) fn bare_path(expr: &Expr, is_absent: &impl Fn(&KeyPath) -> bool) -> Option<Option<KeyPath>> {
    match expr {
        Expr::Path(readings) if readings.iter().all(|reading| KeyPath::of(reading).is_some()) => {
            only_path(expr, is_absent)
        }
        other => KeyPath::of(other).map(|path| Some(path).filter(|path| !is_absent(path))),
    }
}

/// What depends on two values depends on what they have in common of their paths; the outer one none where that is nothing.
pub(crate) fn only_of(one: Option<KeyPath>, other: Option<KeyPath>) -> Option<Option<KeyPath>> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            let keys = one.inside.iter().zip(&other.inside);
            let common = keys.take_while(|(one, other)| one == other).count();
            one.inside.truncate(common);
            (one.slot == other.slot).then_some(Some(one))
        }
        (one, other) => Some(one.or(other)),
    }
}

/// Tells of a path whether no event has it.
pub(crate) fn is_absent(statistics: &Statistics<'_>, names: &[Box<str>]) -> impl Fn(&KeyPath) -> bool {
    |path| matches!(path.key(statistics, names), Key::Absent)
}
