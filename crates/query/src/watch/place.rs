//! Where the values stand that a query watches.

use super::block::{InText, Known, Look};
use crate::expr::Expr;

/// A path of keys, by each of the ways in which it may be read: `a.b` is the member `b` of `a`, or a key with a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    readings: Vec<Vec<Box<str>>>,
}

impl Place {
    /// A key of the top level.
    pub(super) fn key(name: impl Into<Box<str>>) -> Place {
        Place { readings: vec![vec![name.into()]] }
    }

    /// What an expression reads, where it does nothing else and the slots stand for these keys.
    pub(super) fn of(expr: &Expr, names: &[Box<str>]) -> Option<Place> {
        let readings = match expr {
            Expr::Path(readings) => readings.as_slice(),
            other => std::slice::from_ref(other),
        };
        let readings = readings.iter().map(|reading| keys_of(reading, names)).collect::<Option<_>>()?;
        Some(Place { readings })
    }

    /// What is known of the values in a block, and if it is asked for, what texts are like; none where nothing is known.
    pub(super) fn known(&self, block: &impl Look, reads_texts: bool) -> Option<Known> {
        let mut all = Known::default();
        let mut texts: Option<InText> = None;
        for keys in self.in_block(block) {
            let known = block.known(keys, reads_texts)?;
            all.add(known);
            match (&mut texts, known.in_text) {
                (_, None) if known.texts => return Some(all),
                (_, None) => {}
                (Some(texts), Some(others)) => texts.add(others),
                (None, others) => texts = others,
            }
        }
        Some(Known { in_text: texts, ..all })
    }

    /// The least and the greatest number among the values in a block; none where that is not known, or there is none.
    pub(super) fn range(&self, block: &impl Look) -> Option<(f64, f64)> {
        let is_there = |keys: &&[Box<str>]| block.known(keys, false).is_none_or(|known| known.is_there);
        let mut readings = self.in_block(block).filter(is_there);
        match (readings.next(), readings.next()) {
            (Some(only), None) => block.range(only),
            _ => None,
        }
    }

    /// Gives each text among the values in a block, and the keys that it stands at: whether those are all.
    pub(super) fn texts(&self, block: &impl Look, each: &mut dyn FnMut(&[Box<str>], &str)) -> bool {
        self.in_block(block).all(|keys| block.texts(keys, &mut |text| each(keys, text)))
    }

    /// The readings without those that lead into a key of which it is known that it has no objects in a block.
    fn in_block(&self, block: &impl Look) -> impl Iterator<Item = &[Box<str>]> {
        let may_be_there = |keys: &&[Box<str>]| match keys {
            [first, _, ..] => {
                block.known(std::slice::from_ref(first), false).is_none_or(|known| known.objects)
            }
            _ => true,
        };
        self.readings.iter().map(Vec::as_slice).filter(may_be_there)
    }
}

/// The keys that lead to a value, the first of which is that of a slot.
fn keys_of(expr: &Expr, names: &[Box<str>]) -> Option<Vec<Box<str>>> {
    match expr {
        Expr::Slot(slot) => Some(vec![names.get(*slot)?.clone()]),
        Expr::Member(of, key) => {
            let mut keys = keys_of(of, names)?;
            keys.push(key.clone());
            Some(keys)
        }
        _ => None,
    }
}
