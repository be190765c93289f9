//! The places in the shop's programs that write events.

mod back;
mod front;

use crate::template::Template;

/// All places, in the order in which the random numbers count them.
pub(crate) fn templates() -> impl Iterator<Item = &'static Template> {
    front::FRONT.iter().chain(back::BACK)
}
