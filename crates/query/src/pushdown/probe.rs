//! Expressions evaluated over one value in place of an event.

use super::classes::Class;
use super::key_path::KeyPath;
use crate::expr::{Event, Scope, Spare};
use crate::interrupt::Interrupt;
use std::sync::Arc;
use tamias_json::Offsets;

/// A document of one value, to evaluate expressions over.
pub(crate) struct Probe {
    document: Vec<u8>,
    offsets: Offsets,
    spare: Spare,
    now: u64,
    interrupt: Arc<Interrupt>,
}

impl Probe {
    pub(super) fn new(now: u64, interrupt: Arc<Interrupt>) -> Probe {
        Probe { document: Vec::new(), offsets: Offsets::new(), spare: Spare::default(), now, interrupt }
    }

    /// Calls `act` with an event that has the value of a class at a path, and nothing else; none where it is not known.
    pub(crate) fn with<'a, T>(
        &'a mut self,
        class: &Class<'_>,
        path: &KeyPath,
        names: &[Box<str>],
        (instant, arrival): (u64, u64),
        act: impl FnOnce(&mut Scope<'a>) -> T,
    ) -> Option<T> {
        if !class.write(names.get(path.slot)?, &path.inside, &mut self.document) {
            return None;
        }
        let document = self.offsets.scan_trusted(&self.document).ok()?;
        let event = Event { document: Some(document), instant, arrival };
        let mut scope = Scope::of(event, names, self.now, Some(&self.interrupt), &mut self.spare);
        scope.read(names, 0);
        let result = act(&mut scope);
        scope.end(&mut self.spare);
        Some(result)
    }
}
