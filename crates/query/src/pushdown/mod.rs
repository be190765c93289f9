//! What a condition says about a block before and while it is read, from one analysis with one logic.
//!
//! A [`Pushdown`] is made once, when a plan is prepared, and shared by all threads:
//!
//! - the *period* outside of which no event passes, so that a source need not give blocks of other times;
//! - the *condition*, taken apart, of which a [`Pruner`] finds the possible [outcomes](outcomes::Outcomes) over what a block
//!   says of itself: whether none, all or some of its events pass;
//! - the *prefilter*, with which a [`Finder`] searches the bytes of a block for keys and values of the condition, and tells each event
//!   yes, no or maybe;
//! - the *slots* that are read of each event, and those that are read of hits only.
//!
//! What a thread learns and allocates on the way is its pruner's and its finder's, and never changes what is shared.
//!
//! # Contract
//! Never a false no: an event that is passed over fails the condition. Never a false yes either: an event that is told to pass is taken
//! without being evaluated. A needless maybe costs time only: such an event is evaluated as if nothing were known. So whoever adds a
//! form of condition may always begin with [`Opaque`](condition::Form::Opaque).

mod analysis;
mod classes;
mod condition;
mod finder;
mod key;
mod key_path;
mod outcomes;
mod paths;
mod period;
mod prepared;
mod print;
mod probe;
mod pruner;
mod unlisted;
mod window;

#[cfg(test)]
mod tests;

pub(crate) use classes::{Class, Scalar, classes};
pub(crate) use finder::{FIRST_WINDOW_EVENTS, Finder, window};
pub(crate) use key_path::{KeyPath, bare_path, is_absent, only_of, only_path};
pub(crate) use prepared::{Asked, Pushdown, Slots};
pub(crate) use pruner::{Pruner, Settled, Verdict};
