//! What an expression sees while it is evaluated: the event, its slots, the locals.

use crate::error::ExecError;
use crate::value::{VALUE_BYTES_MAX, Value};
use tamias_json::Map;

#[derive(Clone, Copy)]
pub(crate) struct Event<'a> {
    pub(crate) document: Map<'a>,
    pub(crate) instant: u64,
    pub(crate) arrival: u64,
}

/// What stops a query in the middle of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    ValueTooLarge,
}

impl From<Failure> for ExecError {
    fn from(failure: Failure) -> ExecError {
        match failure {
            Failure::ValueTooLarge => ExecError::ValueTooLarge { limit_bytes: VALUE_BYTES_MAX },
        }
    }
}

/// The surroundings of an evaluation. `'a` is the event's and the plan's life.
pub(crate) struct Scope<'a> {
    pub(crate) event: Option<Event<'a>>,
    pub(crate) slots: Vec<Value<'a>>,
    pub(crate) locals: Vec<Value<'a>>,
    /// What `Now()` answers.
    pub(crate) now: u64,
    pub(crate) failure: Option<Failure>,
}

impl<'a> Scope<'a> {
    /// A scope with no event.
    pub(crate) fn new(now: u64) -> Scope<'a> {
        Scope { event: None, slots: Vec::new(), locals: Vec::new(), now, failure: None }
    }

    /// A scope for another event, in the same allocations.
    pub(crate) fn recycle<'b>(self) -> Scope<'b> {
        Scope {
            event: None,
            slots: recycle(self.slots),
            locals: recycle(self.locals),
            now: self.now,
            failure: self.failure,
        }
    }

    pub(crate) fn slot(&self, slot: usize) -> Value<'a> {
        self.slots.get(slot).cloned().unwrap_or(Value::Undefined)
    }

    /// Reads the values of `names` from the document, all in one walk: the last of each name counts.
    ///
    /// The slots from `from` on are replaced.
    pub(crate) fn read(&mut self, names: &[Box<str>], from: usize) {
        self.slots.truncate(from);
        self.slots.resize(names.len(), Value::Undefined);
        let (Some(event), Some(names), Some(slots)) =
            (self.event, names.get(from..), self.slots.get_mut(from..))
        else {
            return;
        };
        if let ([name], [slot]) = (names, &mut *slots) {
            *slot = Value::maybe(event.document.get(name));
            return;
        }
        if names.is_empty() {
            return;
        }
        for (key, value) in event.document.entries() {
            let raw = key.raw();
            for (name, slot) in names.iter().zip(&mut *slots) {
                if raw == name.as_bytes() || (key.has_escapes() && key.text() == **name) {
                    *slot = Value::stored(value);
                }
            }
        }
    }

    /// The value, unless it is too large to be one.
    pub(crate) fn limit(&mut self, value: Value<'a>) -> Value<'a> {
        if value.weight() <= VALUE_BYTES_MAX {
            return value;
        }
        self.failure = Some(Failure::ValueTooLarge);
        Value::Undefined
    }

    pub(crate) fn too_large(&mut self) -> Value<'a> {
        self.failure = Some(Failure::ValueTooLarge);
        Value::Undefined
    }

    pub(crate) fn take_failure(&mut self) -> Result<(), ExecError> {
        self.failure.take().map_or(Ok(()), |failure| Err(failure.into()))
    }
}

/// The vector emptied, for values of another life: collecting nothing in place keeps the allocation.
fn recycle<'b>(mut values: Vec<Value<'_>>) -> Vec<Value<'b>> {
    values.clear();
    values.into_iter().map(|_| Value::Undefined).collect()
}
