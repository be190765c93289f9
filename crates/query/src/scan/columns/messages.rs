//! Messages of events in expressions.

use crate::expr::{Computed, Expr};

/// What messages are told by, which are rendered of an event that has none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Messages {
    /// The slots of what is stored, and of what else one is made of.
    pub(super) message: usize,
    pub(super) template: usize,
    pub(super) renderings: usize,
}

impl Messages {
    /// Those of an expression that looks into documents for nothing else.
    pub(super) fn only(expr: &Expr) -> Option<Messages> {
        Messages::of(expr).filter(|_| !reads_more_than_messages(expr))
    }

    /// Those of an expression.
    pub(super) fn of(expr: &Expr) -> Option<Messages> {
        match expr {
            Expr::BuiltIn(Computed::Message { message, template, renderings }) => {
                Some(Messages { message: *message, template: *template, renderings: *renderings })
            }
            other => other.children().into_iter().find_map(Messages::of),
        }
    }

    pub(super) fn slots(self) -> [usize; 3] {
        [self.message, self.template, self.renderings]
    }

    pub(super) fn expr(self) -> Expr {
        let Messages { message, template, renderings } = self;
        Expr::BuiltIn(Computed::Message { message, template, renderings })
    }
}

/// Puts a slot in the place of messages.
pub(super) fn put_messages(expr: &mut Expr, slot: usize) {
    match expr {
        Expr::BuiltIn(Computed::Message { .. }) => *expr = Expr::Slot(slot),
        other => other.children_mut().into_iter().for_each(|child| put_messages(child, slot)),
    }
}

/// Whether an expression looks into the document for more than messages.
pub(super) fn reads_more_than_messages(expr: &Expr) -> bool {
    match expr {
        Expr::BuiltIn(Computed::Data | Computed::Properties) => true,
        other => other.children().into_iter().any(reads_more_than_messages),
    }
}
