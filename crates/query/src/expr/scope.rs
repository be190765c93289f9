//! What an expression sees while it is evaluated: the event, its slots, the locals.

use crate::error::ExecError;
use crate::interrupt::{Failure, Interrupt};
use crate::value::{TooLarge, VALUE_BYTES_MAX, Value};
use rust_decimal::Decimal;
use std::sync::atomic::Ordering::Relaxed;
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
    /// Whom to ask whether to go on, in long loops, and to tell what was too large.
    pub(crate) interrupt: Option<&'a Interrupt>,
    /// The steps that loops have taken.
    steps: u32,
}

/// The values of a plan's names in an event, of few names without an allocation.
enum Slots<'a> {
    Few([Option<stored::Value<'a>>; FEW]),
    Many(Vec<Option<stored::Value<'a>>>),
}

const FEW: usize = 4;

/// So many steps are taken before it is asked whether to go on.
const STEPS_UNCHECKED: u32 = 1024;

/// The allocations of a scope, kept from one event to the next.
#[derive(Default)]
pub(crate) struct Spare {
    slots: Vec<Option<stored::Value<'static>>>,
    locals: Vec<Value<'static>>,
}

impl<'a> Scope<'a> {
    /// A scope with no event.
    #[inline(always)]
    pub(crate) fn new(now: u64) -> Scope<'a> {
        Scope {
            event: None,
            slots: Slots::Few([None; FEW]),
            groups: &[],
            locals: Vec::new(),
            now,
            failure: None,
            interrupt: None,
            steps: 0,
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
        let mut scope = Scope::new(now);
        scope.event = Some(event);
        scope.interrupt = interrupt;
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

    /// A step of a loop: whether to go on.
    #[inline]
    pub(crate) fn goes_on(&mut self) -> bool {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_UNCHECKED) {
            self.failure = self.failure.or(self.interrupt.and_then(|interrupt| interrupt.check().err()));
        }
        self.failure.is_none()
    }

    /// A computed number. One that is too large is undefined, and counted.
    pub(super) fn computed(&self, number: Result<Option<Decimal>, TooLarge>) -> Value<'a> {
        if let (Err(TooLarge), Some(interrupt)) = (number, self.interrupt) {
            interrupt.too_large.fetch_add(1, Relaxed);
        }
        Value::from_option(number.ok().flatten())
    }

    /// The value that `by` made, unless it is too large to be one.
    pub(crate) fn limit(&mut self, value: Value<'a>, by: &'static str) -> Value<'a> {
        if value.weight() <= VALUE_BYTES_MAX { value } else { self.too_large(by) }
    }

    pub(crate) fn too_large(&mut self, by: &'static str) -> Value<'a> {
        self.failure = Some(Failure::ValueTooLarge(by));
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
