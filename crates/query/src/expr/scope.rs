//! What an expression sees while it is evaluated: the event, its slots, the locals.

use crate::error::ExecError;
use crate::interrupt::{Failure, Interrupt, Meter, STEP_UNITS};
use crate::value::{TooLarge, VALUE_BYTES_MAX, Value};
use rust_decimal::Decimal;
use tamias_json::{self as stored, Map};

#[derive(Clone, Copy)]
pub(crate) struct Event<'a> {
    /// None where the plan reads nothing of it.
    pub(crate) document: Option<Map<'a>>,
    pub(crate) instant: u64,
    pub(crate) arrival: u64,
}

/// The surroundings of an evaluation. `'a` is the event's and the plan's life.
pub(crate) struct Scope<'a> {
    pub(crate) event: Option<Event<'a>>,
    slots: Slots<'a>,
    /// Behind a grouping: its keys and aggregates.
    pub(crate) groups: &'a [Value<'a>],
    pub(crate) locals: Vec<Value<'a>>,
    /// What `Now()` answers.
    pub(crate) now: u64,
    pub(crate) failure: Option<Failure>,
    meter: Meter<'a>,
}

/// The values of a plan's names in an event, of few names without an allocation.
enum Slots<'a> {
    Few([Option<stored::Value<'a>>; FEW]),
    Many(Vec<Option<stored::Value<'a>>>),
}

const FEW: usize = 4;

/// What is kept of a scope from one event to the next: its allocations, and how far its meter is.
#[derive(Default)]
pub(crate) struct Spare {
    units_left: usize,
    slots: Vec<Option<stored::Value<'static>>>,
    locals: Vec<Value<'static>>,
}

impl<'a> Scope<'a> {
    /// A scope with no event, where nobody waits.
    #[cfg(test)]
    pub(crate) fn new(now: u64) -> Scope<'a> {
        Scope::metered(now, Meter::unasked())
    }

    /// A scope with no event.
    #[inline(always)]
    pub(crate) fn metered(now: u64, meter: Meter<'a>) -> Scope<'a> {
        Scope {
            event: None,
            slots: Slots::Few([None; FEW]),
            groups: &[],
            locals: Vec::new(),
            now,
            failure: None,
            meter,
        }
    }

    /// A scope for an event, of which `names` are to be read.
    #[inline(always)]
    pub(crate) fn of(
        event: Event<'a>,
        names: &[Box<str>],
        now: u64,
        interrupt: Option<&'a Interrupt>,
        spare: &mut Spare,
    ) -> Scope<'a> {
        Scope::with_slots(event, names.len(), now, interrupt, spare)
    }

    /// A scope for an event, with so many slots.
    #[inline(always)]
    pub(crate) fn with_slots(
        event: Event<'a>,
        slots: usize,
        now: u64,
        interrupt: Option<&'a Interrupt>,
        spare: &mut Spare,
    ) -> Scope<'a> {
        let mut scope = Scope::metered(now, Meter::resumed(interrupt, spare.units_left));
        scope.event = Some(event);
        if slots > FEW {
            let mut places = recycle(std::mem::take(&mut spare.slots));
            places.resize(slots, None);
            scope.slots = Slots::Many(places);
        }
        if spare.locals.capacity() > 0 {
            scope.locals = recycle(std::mem::take(&mut spare.locals));
        }
        scope
    }

    /// Gives the allocations back.
    #[inline(always)]
    pub(crate) fn end(self, spare: &mut Spare) {
        spare.units_left = self.meter.left();
        if let Slots::Many(slots) = self.slots {
            spare.slots = recycle(slots);
        }
        if self.locals.capacity() > 0 {
            spare.locals = recycle(self.locals);
        }
    }

    #[inline]
    pub(crate) fn slot(&self, slot: usize) -> Option<stored::Value<'a>> {
        match &self.slots {
            Slots::Few(slots) => slots.get(slot).copied().flatten(),
            Slots::Many(slots) => slots.get(slot).copied().flatten(),
        }
    }

    /// Gives a slot its value.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, value: Option<stored::Value<'a>>) {
        let place = match &mut self.slots {
            Slots::Few(slots) => slots.get_mut(slot),
            Slots::Many(slots) => slots.get_mut(slot),
        };
        if let Some(place) = place {
            *place = value;
        }
    }

    /// Reads the values of `names` from the document into the slots from `from` on, all in one walk: the last of each name
    /// counts.
    #[inline]
    pub(crate) fn read(&mut self, names: &[Box<str>], from: usize) {
        let slots = match &mut self.slots {
            Slots::Few(slots) => slots.get_mut(from..),
            Slots::Many(slots) => slots.get_mut(from..),
        };
        let (Some(document), Some(slots)) = (self.event.and_then(|event| event.document), slots) else {
            return;
        };
        match (names, slots) {
            ([name], [slot, ..]) => *slot = document.get(name),
            (names, slots) => read_all(document, names, slots),
        }
    }

    /// Counts so many units of work: whether to go on.
    #[inline]
    pub(crate) fn charge(&mut self, units: usize) -> bool {
        if let Err(failure) = self.meter.charge(units) {
            self.failure = self.failure.or(Some(failure));
        }
        self.failure.is_none()
    }

    /// A computed number. One that is too large is undefined, and counted.
    pub(super) fn computed(&self, number: Result<Option<Decimal>, TooLarge>) -> Value<'a> {
        if let Err(TooLarge) = number {
            self.meter.note_too_large();
        }
        Value::from_option(number.ok().flatten())
    }

    /// Counts a step of a loop: whether to go on.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.charge(STEP_UNITS)
    }

    /// Counts the work of going over a value: whether to go on.
    #[inline]
    pub(crate) fn goes_over(&mut self, value: &Value<'_>) -> bool {
        self.charge(value.weight())
    }

    /// The value that `by` made, unless it is too large to be one. Counts the work of making it.
    pub(crate) fn limit(&mut self, value: Value<'a>, by: &'static str) -> Value<'a> {
        let weight = value.weight();
        if weight > VALUE_BYTES_MAX {
            return self.too_large(by);
        }
        if self.charge(weight) { value } else { Value::Undefined }
    }

    pub(crate) fn too_large(&mut self, by: &'static str) -> Value<'a> {
        self.failure = self.failure.or(Some(Failure::ValueTooLarge(by)));
        Value::Undefined
    }

    pub(crate) fn take_failure(&mut self) -> Result<(), ExecError> {
        let Some(failure) = self.failure.take() else { return Ok(()) };
        Err(match failure.into() {
            ExecError::ValueTooLarge { limit_bytes, by, .. } => {
                let arrival = self.event.map(|event| event.arrival);
                ExecError::ValueTooLarge { limit_bytes, by, arrival }
            }
            other => other,
        })
    }
}

fn read_all<'a>(document: Map<'a>, names: &[Box<str>], slots: &mut [Option<stored::Value<'a>>]) {
    if names.is_empty() {
        return;
    }
    for (key, value) in document.entries() {
        let raw = key.raw();
        let is_escaped = memchr::memchr(b'\\', raw).is_some();
        for (name, slot) in names.iter().zip(&mut *slots) {
            if raw == name.as_bytes() || (is_escaped && key.text() == **name) {
                *slot = Some(value);
            }
        }
    }
}

/// The vector emptied, for values of another life: collecting nothing in place keeps the allocation.
#[inline]
fn recycle<A, B>(mut values: Vec<A>) -> Vec<B> {
    values.clear();
    values.into_iter().map_while(|_| None).collect()
}
