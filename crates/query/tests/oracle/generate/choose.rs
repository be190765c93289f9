//! Choosing: by weight, out of a list, by tossing a coin.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

pub(crate) fn weighted<T: std::fmt::Debug + 'static>(
    choices: Vec<(u32, BoxedStrategy<T>)>,
) -> BoxedStrategy<T> {
    Union::new_weighted(choices).boxed()
}

pub(crate) fn one_of<T: Clone + std::fmt::Debug + 'static>(choices: &'static [T]) -> BoxedStrategy<T> {
    select(choices).boxed()
}

pub(crate) fn coin() -> BoxedStrategy<bool> {
    any::<bool>().boxed()
}
