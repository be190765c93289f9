//! What of texts by template need not be read for what is asked of them: it is told by their literals, or by how the values in their holes are stored.

use crate::asked::{Hole, Meets, Question};
use crate::encoding::simple::Simple;
use crate::error::DecodeError;
use crate::frame::FrameReader;
use crate::pieces::PlacedTemplate;
use crate::questions::{Characters, Search, is_numeric};

/// Tells what is not to be read: nothing, unless it says otherwise.
pub(crate) trait Spare {
    /// Whether literals alone tell all of the texts of a template, which are no pieces of others.
    fn is_told(&self, _: &PlacedTemplate) -> bool {
        false
    }

    /// How long values are that are not to be read, as what is asked is not in them: none where it may be.
    fn spares(&self, _: &Simple, _: &mut FrameReader<'_>) -> Result<Option<usize>, DecodeError> {
        Ok(None)
    }

    /// Whether literals have nothing of what is asked.
    fn are_idle(&self, _: &PlacedTemplate) -> bool {
        false
    }

    /// Whether a hole meets literals so that its values have to be looked at.
    fn meets(&self, _: &Hole<'_>) -> bool {
        true
    }
}

/// All is read.
pub(crate) struct Everything;

impl Spare for Everything {}

impl Spare for Characters {
    fn spares(&self, values: &Simple, _: &mut FrameReader<'_>) -> Result<Option<usize>, DecodeError> {
        let Simple::Positions(positions) = values else { return Ok(None) };
        Ok(is_plain(&positions.pattern.alphabet(), true).then(|| positions.pattern.length()))
    }

    fn meets(&self, _: &Hole<'_>) -> bool {
        false
    }
}

impl<F: Fn(&[u8]) -> bool> Spare for Search<'_, F> {
    fn is_told(&self, template: &PlacedTemplate) -> bool {
        self.of_outside(template).is_some()
    }

    fn spares(&self, values: &Simple, frames: &mut FrameReader<'_>) -> Result<Option<usize>, DecodeError> {
        let Search { wanted, find } = self;
        let consist_of =
            |alphabet: Vec<u8>| !wanted.may_consist_of(&alphabet) && is_plain(&alphabet, wanted.has_others);
        let mut are_not_in = |part| {
            let bytes = frames.part(part)?;
            Ok(!find(&bytes) && is_plain(&bytes, wanted.has_others))
        };
        let is_idle = match values {
            Simple::Strings(strings) => are_not_in(strings.bytes)?,
            Simple::Dictionary(dictionary) => are_not_in(dictionary.entries.bytes)?,
            Simple::Positions(positions) => consist_of(positions.pattern.alphabet()),
            Simple::Instants(instants) => consist_of(instants.alphabet()),
            Simple::Whole(_) | Simple::Fractions(_) | Simple::Difference(_) => {
                !wanted.text.iter().all(is_numeric)
            }
        };
        Ok(is_idle.then_some(0))
    }

    fn are_idle(&self, template: &PlacedTemplate) -> bool {
        self.of_literals(template) == 0
    }

    fn meets(&self, hole: &Hole<'_>) -> bool {
        !matches!(self.of_hole(hole), Meets::Nothing)
    }
}

/// Whether bytes have no escape, and are ASCII where that matters.
fn is_plain(bytes: &[u8], is_ascii: bool) -> bool {
    !bytes.contains(&b'\\') && (!is_ascii || bytes.is_ascii())
}
